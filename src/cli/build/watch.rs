//! `--watch`: builds again whenever the project or a file that it reads is saved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::once::{Requested, build, print_report};
use crate::cli::arguments::{BuildOptions, Changes};
use crate::cli::error::CliError;
use crate::cli::interrupt;
use crate::cli::output::print_error;
use crate::cli::values::Source;
use crate::engine::Progress;
use crate::engine::parameters::FileName;
use crate::engine::stack::Evaluator;
use crate::files::formats::heightmap::paths_beside;
use crate::files::formats::sidecar::sidecar_path;
use crate::files::io::folders::folder_of;
use crate::project::ProjectFile;

/// The time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(50);

/// The files that a build reads, with their modification times and lengths.
#[derive(Clone, PartialEq)]
struct SourceFiles {
    files: Vec<PathBuf>,
    stamps: Vec<Option<(SystemTime, u64)>>,
}

impl SourceFiles {
    /// The project and the files in its folder that it reads, as they are now.
    fn new(project: &Path, changes: &Changes) -> Self {
        loop {
            let before = stamp(project);
            let inputs = inputs(project, changes).into_iter().map(|name| folder_of(project).join(name.0));
            let files: Vec<PathBuf> =
                std::iter::once(project.to_path_buf()).chain(inputs.flat_map(with_beside)).collect();
            let stamps: Vec<_> = files.iter().map(|file| stamp(file)).collect();
            // Otherwise the project may read other files now.
            if stamps.first() == Some(&before) {
                return Self { files, stamps };
            }
            thread::sleep(INTERVAL);
        }
    }

    /// Whether a file has changed since the last call; a missing one is about to be replaced.
    fn has_changed(&mut self) -> bool {
        let before = std::mem::take(&mut self.stamps);
        self.stamps = self.files.iter().map(|file| stamp(file)).collect();
        self.stamps != before
    }

    /// Waits until a file has changed, and then until none changes any more: some programs write a file in pieces.
    fn wait(&mut self, has_changed: bool) {
        while !has_changed && !self.has_changed() {
            thread::sleep(INTERVAL);
        }
        thread::sleep(INTERVAL);
        while self.has_changed() {
            thread::sleep(INTERVAL);
        }
    }
}

/// The files that a project reads; none if it cannot be read itself, which the build reports.
fn inputs(project: &Path, changes: &Changes) -> BTreeSet<FileName> {
    let Ok(mut file) = ProjectFile::read(project) else { return BTreeSet::new() };
    for assignment in &changes.set {
        // The build reports what is wrong.
        let _ = file.set(assignment);
    }
    file.project.recipe.files().into_iter().collect()
}

/// A file with those beside it that say how to read it.
fn with_beside(file: PathBuf) -> impl Iterator<Item = PathBuf> {
    let (sidecar, header, places) = (sidecar_path(&file), file.with_extension("hdr"), paths_beside(&file));
    [file, sidecar, header].into_iter().chain(places)
}

fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Builds now and after every change, until the process is interrupted. Only the first build can fail: later, the user
/// corrects the project and saves it again.
pub(super) fn run(source: &Source, options: &BuildOptions, requested: &Requested) -> Result<(), CliError> {
    let Source::File(project) = source else {
        return Err(CliError::Usage("--watch needs a project file, because presets do not change".into()));
    };
    interrupt::exit_quietly();
    // Without --force, later builds replace only what the first one wrote.
    let mut wrote = BTreeSet::new();
    // Keeps the results of steps that a later change leaves alone.
    let mut evaluator = Evaluator::new();
    let mut is_first = true;
    loop {
        let was_first = std::mem::take(&mut is_first);
        // Before anything is read, so that no change is missed.
        let mut watched = SourceFiles::new(project, &options.changes);
        let progress = Progress::new();
        let (built, has_changed) = thread::scope(|scope| {
            let building = scope.spawn(|| {
                let wrote = Some(&wrote).filter(|_| !was_first && !options.force);
                build(source, options, requested, wrote, &mut evaluator, &progress)
            });
            let mut has_changed = false;
            while !building.is_finished() {
                // The build belongs to an older version of the project.
                if watched.has_changed() {
                    has_changed = true;
                    progress.cancel();
                }
                thread::sleep(INTERVAL / 10);
            }
            (building.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), has_changed)
        });
        match built {
            Ok(report) => {
                wrote.append(&mut report.all_files());
                print_report(&report, options.progress)?;
                let files = report.files.len() + report.unchanged.len();
                print_error(&format!(
                    "built in {:.2} s, {} of {files} files changed; watching {} (Ctrl+C ends)",
                    report.took.as_secs_f64(),
                    report.files.len(),
                    project.display()
                ));
            }
            Err(_) if has_changed => {}
            Err(error) if was_first => return Err(error),
            Err(error) => print_error(&format!("error: {error}")),
        }
        watched.wait(has_changed);
    }
}
