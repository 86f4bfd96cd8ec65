//! One build of everything that the options request.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::job::Job;
use super::{variants, warnings};
use crate::cli::arguments::{BuildOptions, ProgressKind};
use crate::cli::error::CliError;
use crate::cli::output::{print_error, print_line, print_lines};
use crate::cli::progress::run_with_progress;
use crate::cli::render;
use crate::cli::values::Source;
use crate::engine::Progress;
use crate::engine::cast::ToFloat;
use crate::engine::stack::Evaluator;
use crate::files::export::{BuildReport, check_paths};
use crate::files::io::folders::NewFolders;

/// Builds everything once. A build that repeats another one replaces only the files that that one `wrote`.
pub(super) fn build(
    source: &Source,
    options: &BuildOptions,
    requested: &Requested,
    wrote: Option<&BTreeSet<PathBuf>>,
    evaluator: &mut Evaluator,
    progress: &Progress,
) -> Result<BuildReport, CliError> {
    let variants = variants::variants(options);
    let mut jobs: Vec<Job> = variants.iter().map(|options| Job::new(source, options)).collect::<Result<_, _>>()?;
    jobs.iter_mut().for_each(|job| wrote.into_iter().for_each(|wrote| job.plan.repeat(wrote.clone())));
    jobs.first().into_iter().for_each(|job| warnings::print(job.plan.order()));
    let folders = make_folders(&variants, &jobs)?;
    check_all_paths(&jobs, &variants, options.force || wrote.is_some())?;
    let mut build_jobs = || build_all(&jobs, requested.files(), evaluator, progress);
    let mut build = || run_with_progress(options.progress, progress, &mut build_jobs);
    let report = match options.threads {
        None => build(),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build();
            pool.map_err(|error| CliError::Threads(error.to_string()))?.install(build)
        }
    }?;
    folders.keep();
    if options.patches.is_some() && requested.maps {
        print_error(
            "warning: --patches applies to the texture only; weights and maps are written as single files of the full \
             terrain, in the size of a patch",
        );
    }
    Ok(report)
}

/// The kinds of output that the options request.
pub(super) struct Requested {
    texture: bool,
    heightmap: bool,
    maps: bool,
    frames: bool,
}

impl Requested {
    pub(super) fn new(options: &BuildOptions) -> Self {
        Self {
            texture: options.output.is_some() || options.texture.is_some(),
            heightmap: options.heightmap.is_some(),
            maps: options.weights.is_some()
                || !options.maps.0.is_empty()
                || options.mesh.is_some()
                || options.river_lines.is_some()
                || !options.scatter.is_empty()
                || options.scatter_density.is_some(),
            frames: options.frames.is_some() || options.animation.is_some(),
        }
    }

    /// Whether any file besides 3-D renders is requested.
    fn files(&self) -> bool {
        self.texture || self.heightmap || self.maps || self.frames
    }

    pub(super) fn check(&self, options: &BuildOptions) -> Result<(), CliError> {
        let problem = if !self.files() && options.render.is_none() {
            "no output is requested; name a folder with -o DIR, or a file with --heightmap FILE, --texture FILE, \
             --render FILE or one of the map options"
        } else if options.patches.is_some() && options.target.is_some() {
            "--patches cannot be combined with --for; cut the maps of a target with --tiles"
        } else if options.patches.is_some() && !self.texture {
            "--patches cuts a texture, but none is requested; name one with --texture FILE"
        } else {
            return Ok(());
        };
        Err(CliError::Usage(problem.into()))
    }
}

/// Creates the folders named by options, and those of import helpers. They are removed again unless the build succeeds.
fn make_folders(variants: &[BuildOptions], jobs: &[Job]) -> Result<NewFolders, CliError> {
    let mut folders = NewFolders::default();
    let mut make =
        |path: &PathBuf| folders.make(path).map_err(|error| CliError::Folder(path.clone(), error.to_string()));
    for BuildOptions { output, weights, frames, scatter_density, .. } in variants {
        [output, weights, frames, scatter_density].into_iter().flatten().try_for_each(&mut make)?;
    }
    jobs.iter().flat_map(|job| job.plan.helper_folders()).try_for_each(|folder| make(&folder.to_path_buf()))?;
    Ok(folders)
}

/// Checks the paths of all builds, renders included, before the first build begins.
fn check_all_paths(jobs: &[Job], variants: &[BuildOptions], overwrite: bool) -> Result<(), CliError> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for (job, options) in jobs.iter().zip(variants) {
        paths.extend(job.plan.paths().map(Path::to_path_buf));
        paths.extend(render::paths(options));
    }
    Ok(check_paths(paths, overwrite)?)
}

/// Runs the jobs one after another.
fn build_all(
    jobs: &[Job],
    writes_files: bool,
    evaluator: &mut Evaluator,
    progress: &Progress,
) -> Result<BuildReport, CliError> {
    let mut all = BuildReport::default();
    let share = |i: usize| i.to_f32() / jobs.len().to_f32();
    for (i, job) in jobs.iter().enumerate() {
        let BuildReport { files, notes, unchanged, took, .. } =
            progress.stage(share(i)..share(i + 1), || job.run(writes_files, evaluator, progress))?;
        all.files.extend(files);
        all.unchanged.extend(unchanged);
        all.took += took;
        all.notes.extend(notes);
    }
    Ok(all)
}

/// Prints the notes and the written files.
pub(super) fn print_report(report: &BuildReport, progress: ProgressKind) -> Result<(), CliError> {
    if progress == ProgressKind::Json {
        let files: Vec<_> = report.files.iter().map(|path| path.to_string_lossy()).collect();
        print_line(&json!({"done": true, "files": files, "notes": report.notes}).to_string())
    } else {
        report.notes.iter().for_each(|note| print_error(&format!("note: {note}")));
        print_lines(report.files.iter().map(|path| format!("wrote {}", path.display())))
    }
}
