//! `upthrust build`.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::arguments::{BuildOptions, DepthOption, NormalsY, ProgressKind, WeightsAt};
use super::error::CliError;
use super::size::{Pixels, Range, Size, TileCounts};
use super::{interrupt, print, progress, render, source};
use crate::engine::Progress;
use crate::engine::parameters::nearest_name;
use crate::engine::texture::{AnalysisMap, Points, TerrainType, TextureRecipe, TextureSettings};
use crate::files::atomic::{self, NewFolders};
use crate::files::build::{BuildReport, HeightmapOrder, Order, TextureOrder, check_paths, stage};
use crate::files::frames::FramesOrder;
use crate::files::heightmap::Encoding;
use crate::files::maps::{BitDepth, MapOrder, WeightsLayout, WeightsOrder};
use crate::files::mesh::{MeshDetail, MeshOrder};
use crate::files::rivers::RiversOrder;
use crate::files::targets::{self, Target};
use crate::files::tiles::TileNaming;
use crate::project::ProjectFile;

/// Evaluates a recipe and writes files.
pub fn run(options: &BuildOptions) -> Result<(), CliError> {
    if options.target.as_deref() == Some("list") {
        print::say_all(targets::ALL.iter().map(|target| target.line()));
        return Ok(());
    }
    let asks_for_maps = options.weights.is_some() || !options.charts.0.is_empty() || options.mesh.is_some();
    let asks_for_maps = asks_for_maps || options.river_lines.is_some();
    let asks_for_texture = options.output.is_some() || options.texture.is_some();
    let asks_for_frames = options.frames.is_some() || options.animation.is_some();
    let asks_for_files = asks_for_texture || options.heightmap.is_some() || asks_for_maps || asks_for_frames;
    if !asks_for_files && options.render.is_none() {
        let problem = "nothing to write is asked for; name a folder with -o DIR, or a file with --heightmap FILE, \
                       --texture FILE, --render FILE or one of the maps";
        return Err(CliError::Usage(problem.into()));
    }
    if options.patches.is_some() && options.target.is_some() {
        return Err(CliError::Usage("--patches are of a texture alone; for a target cut it with --tiles".into()));
    }
    if options.patches.is_some() && !asks_for_texture {
        let problem = "--patches are of a texture, and none is asked for; name one with --texture FILE";
        return Err(CliError::Usage(problem.into()));
    }
    let source = options
        .source
        .as_deref()
        .ok_or_else(|| CliError::Usage("nothing to build is named; name a project file, or preset:NAME".into()))?;
    let each = variants(options);
    let jobs: Vec<Job> = each.iter().map(|options| Job::new(source, options)).collect::<Result<_, _>>()?;
    jobs.first().into_iter().for_each(|job| warn(&job.order));
    let progress = interrupt::progress();
    let mut folders = NewFolders::default();
    let mut make =
        |path: &PathBuf| folders.make(path).map_err(|error| CliError::Folder(path.clone(), error.to_string()));
    for BuildOptions { output, weights, frames, .. } in &each {
        [output, weights, frames].into_iter().flatten().try_for_each(&mut make)?;
    }
    // All builds are looked through before the first begins, and the pictures in 3-D with them.
    let mut paths: Vec<PathBuf> = Vec::new();
    for (job, options) in jobs.iter().zip(&each) {
        paths.extend(job.order.plan()?.into_iter().map(|planned| planned.path));
        paths.extend(render::paths(options));
    }
    check_paths(paths, options.force)?;
    let build_all = || build_all(&jobs, asks_for_files, &progress);
    let work = || progress::show_while(options.progress, &progress, build_all);
    let built = match options.threads {
        None => work(),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build();
            pool.map_err(|error| CliError::Threads(error.to_string()))?.install(work)
        }
    }?;
    folders.keep();
    if options.patches.is_some() && asks_for_maps {
        let warning = "warning: --patches cut the texture alone; weights and maps are written as one file each, of the \
                       whole land and in the size of a patch";
        print::complain(warning);
    }
    if options.progress == ProgressKind::Json {
        let files: Vec<_> = built.files.iter().map(|path| path.to_string_lossy()).collect();
        print::say(&json!({"done": true, "files": files, "notes": built.notes}).to_string());
    } else {
        built.notes.iter().for_each(|note| print::complain(&format!("note: {note}")));
        print::say_all(built.files.iter().map(|path| format!("wrote {}", path.display())));
    }
    Ok(())
}

/// The options of each build: one, or one for each of several seeds and sizes, with a folder of its own.
fn variants(options: &BuildOptions) -> Vec<BuildOptions> {
    let (seeds, sizes) = (&options.seeds, &options.sizes);
    let each = |count: usize| if count == 0 { vec![None] } else { (0..count).map(Some).collect::<Vec<_>>() };
    if seeds.is_empty() && sizes.is_empty() {
        return vec![options.clone()];
    }
    let of = |(seed, size): (Option<usize>, Option<usize>)| {
        let mut variant = options.clone();
        let mut name = Vec::new();
        if let Some(&seed) = seed.and_then(|at| seeds.get(at)) {
            variant.changes.seed = Some(seed);
            name.push(format!("seed_{seed}"));
        }
        if let Some(&size) = size.and_then(|at| sizes.get(at)) {
            variant.size = Some(size);
            name.push(format!("size_{size}"));
        }
        let folder = options.output.clone().unwrap_or_default().join(name.join("_"));
        let BuildOptions { heightmap, texture, weights, mesh, frames, animation, render, charts, river_lines, .. } =
            &mut variant;
        // What is named lies there too, unless its path is a whole one.
        let named = [heightmap, texture, weights, mesh, frames, animation, render, river_lines].into_iter().flatten();
        named.chain(charts.0.iter_mut().map(|(_, path)| path)).for_each(|path| *path = folder.join(&path));
        variant.output = Some(folder);
        variant
    };
    let sizes = each(sizes.len());
    each(seeds.len()).into_iter().flat_map(|seed| sizes.iter().map(move |size| (seed, *size))).map(of).collect()
}

/// One of several builds.
struct Job<'a> {
    order: Order,
    /// What it was asked for by, and the project, where it is looked at in 3-D.
    looked_at: Option<(&'a BuildOptions, ProjectFile)>,
}

impl<'a> Job<'a> {
    fn new(source: &str, options: &'a BuildOptions) -> Result<Self, CliError> {
        let file = source::open(source, &options.changes)?;
        let looked_at = options.render.is_some().then(|| (options, file.clone()));
        Ok(Self { order: order(source, file, options)?, looked_at })
    }

    fn build(&self, asks_for_files: bool, progress: &Progress) -> Result<BuildReport, CliError> {
        let mut drawn = Vec::new();
        if let Some((options, file)) = &self.looked_at {
            drawn = progress.stage(0.0..0.5, || render::stage(file, options, progress))?;
        }
        let (mut staged, mut built) = Default::default();
        if asks_for_files {
            let begun = if self.looked_at.is_some() { 0.5 } else { 0.0 };
            (staged, built) = progress.stage(begun..1.0, || stage(&self.order, progress))?;
        }
        progress.check()?;
        staged.extend(drawn);
        built.files = atomic::commit_all(staged)?;
        progress.report(1.0);
        Ok(built)
    }
}

/// Does the jobs one after another.
fn build_all(jobs: &[Job], asks_for_files: bool, progress: &Progress) -> Result<BuildReport, CliError> {
    let mut all = BuildReport::default();
    let share = |at: usize| at as f32 / jobs.len() as f32;
    for (at, job) in jobs.iter().enumerate() {
        let BuildReport { files, notes, .. } =
            progress.stage(share(at)..share(at + 1), || job.build(asks_for_files, progress))?;
        all.files.extend(files);
        all.notes.extend(notes);
    }
    Ok(all)
}

/// Says what does not suit, as far as it is known before anything is computed.
fn warn(order: &Order) {
    for warning in order.target.map(|target| target.warnings(order)).unwrap_or_default() {
        print::complain(&format!("warning: {warning}"));
    }
    if order.needs_painting() {
        warnings(&order.recipe.texture).iter().for_each(|warning| print::complain(warning));
    }
}

/// What is asked for.
fn order(source: &str, file: ProjectFile, options: &BuildOptions) -> Result<Order, CliError> {
    let ProjectFile { project, settings } = file;
    let project = Arc::unwrap_or_clone(project);
    let used = project.recipe.files();
    let files = project.files.into_iter().filter(|(name, _)| used.contains(name)).collect();
    let extent = project.recipe.world.extent();
    let target = options.target.as_deref().map(target_of).transpose()?;
    target.map_or(Ok(()), |target| check_options(target, options))?;
    let counts = options.tiles.map_or([1; 2], TileCounts::counts);
    let path_of = |own: &Option<PathBuf>, name: &str| {
        let default = || options.output.as_ref().filter(|_| target.is_none()).map(|folder| folder.join(name));
        own.clone().or_else(default)
    };
    let heightmap = path_of(&options.heightmap, "height.png");
    let pixels = options.texture_size.unwrap_or(Pixels::longer(settings.export.texture_pixels));
    let texture = path_of(&options.texture, "texture.png");
    // Tiles of pixels lie side by side: what was not asked for suits their counts.
    let whole = |side: usize, count: usize| ((side + count / 2) / count).max(1) * count;
    let size = match (pixels.size(extent), options.texture_size) {
        ([width, height], None) => [whole(width, counts[0]), whole(height, counts[1])],
        (size, Some(_)) => size,
    };
    let depth = match options.depth {
        DepthOption::Eight => BitDepth::Eight,
        DepthOption::Sixteen => BitDepth::Sixteen,
    };
    let points = match options.weights_at {
        WeightsAt::Pixels => Points::Pixels(size),
        WeightsAt::Samples => Points::Samples,
    };
    let turned = |analysis_map: AnalysisMap| match (analysis_map, options.normals_y) {
        (AnalysisMap::Normals, NormalsY::Down) => AnalysisMap::NormalsSouth,
        (analysis_map, _) => analysis_map,
    };
    let charts = options.charts.0.iter().map(|(analysis_map, path)| (turned(*analysis_map), path));
    let patches = options.patches.map(|counts| counts.patches(options.mirror));
    let tiles = options.tiles.map(|counts| counts.tiles(options.tile, TileNaming::FromNorthWest));
    let detail = match (options.mesh_vertices, options.mesh_error) {
        (_, Some(error_m)) => MeshDetail::ErrorM(error_m),
        (vertices, None) => MeshDetail::Vertices(vertices.map_or(MeshDetail::DEFAULT_VERTICES, |count| count as usize)),
    };
    let worn = Some(size).filter(|_| !options.mesh_bare);
    let shows = options.frames.is_some() || options.animation.is_some();
    let encoding = Encoding { integers: depth == BitDepth::Sixteen, ..Encoding::default() };
    let size_asked = options.size.unwrap_or(Size::longer(settings.export.samples));
    let grid = match (target, size_asked.longer_side()) {
        (Some(target), Some(longer)) if options.size.is_some() => target.grid(extent, longer, counts),
        (Some(target), Some(longer)) => target.grid(extent, target.nearest(extent, longer, counts), counts),
        (_, None) | (None, _) => size_asked.grid(extent),
    };
    target.map_or(Ok(()), |target| target.check(grid, counts)).map_err(CliError::Usage)?;
    let mut order = Order {
        position: options.iterations,
        heightmaps: heightmap.map(|path| HeightmapOrder { path, encoding }).into_iter().collect(),
        texture: texture.map(|path| TextureOrder { patches, ..TextureOrder::new(path, size) }),
        weights: options.weights.clone().map(|folder| WeightsOrder {
            folder,
            points,
            depth,
            layout: WeightsLayout::MapsAndPacks,
        }),
        maps: charts.map(|(analysis_map, path)| MapOrder { path: path.clone(), analysis_map, size, depth }).collect(),
        rivers: options
            .river_lines
            .clone()
            .map(|path| RiversOrder { path, least_m2: options.river_area.map(|area_km2| area_km2 * 1e6) }),
        sea_m: project.water.water_m.map(|water_m| water_m as f32),
        mesh: options.mesh.clone().map(|path| MeshOrder { path, detail, texture: worn }),
        frames: shows.then(|| FramesOrder {
            folder: options.frames.clone(),
            animation: options.animation.clone(),
            every: options.every,
            size,
        }),
        tiles: tiles.transpose().map_err(CliError::Usage)?,
        range_m: options.range.map(|Range(band)| band),
        overwrite: options.force,
        ..Order::new(project.name, project.recipe, grid)
    };
    if let Some(target) = target {
        let Some(folder) = &options.output else {
            let problem = "--for writes more than one file; name a folder for them with -o DIR";
            return Err(CliError::Usage(problem.into()));
        };
        target.order(&mut order, folder, size);
    }
    let loaded = order.load_inputs(&files, &Progress::new());
    loaded.map_err(|error| CliError::FileOf(source.to_string(), error))?;
    Ok(order)
}

/// Whether nothing is asked for that the target has to have its own way.
fn check_options(target: &Target, options: &BuildOptions) -> Result<(), CliError> {
    if let Some(band) = target.range_m.filter(|_| options.range.is_some()) {
        return Err(CliError::Usage(format!(
            "--range: {} has heights from {} to {} m and no others; leave --range away",
            target.label, band.min, band.max
        )));
    }
    if options.weights.is_some() && target.weights.is_some() {
        return Err(CliError::Usage(format!(
            "--weights: --for {} writes the weights as {} takes them, into the folder of -o; leave --weights away",
            target.key, target.label
        )));
    }
    Ok(())
}

/// The target of that name.
fn target_of(key: &str) -> Result<&'static Target, CliError> {
    targets::from_key(key).ok_or_else(|| {
        let nearest = nearest_name(key, targets::ALL.iter().map(|target| target.key));
        let advice = nearest.map_or(String::new(), |nearest| format!("; did you mean {nearest}?"));
        CliError::Usage(format!("--for {key}: there is no such target{advice} \"--for list\" lists all"))
    })
}

/// What is said of names in a texture that nothing bears. Types come and go while a land is made, so the texture is
/// painted all the same; but whoever has mistyped a name must hear of it.
fn warnings(texture: &TextureRecipe) -> Vec<String> {
    let TextureSettings { active_set, fallback, .. } = &texture.settings;
    let set = active_set.iter().filter(|set| !texture.sets().contains(&set.as_str())).map(|set| {
        format!(
            "warning: recipe.texture.active_set: no terrain type belongs to the set \"{set}\"; only those that belong \
             to every set take part"
        )
    });
    // Of several of that name the first one is meant.
    let fills = |name: &str| texture.active().find(|ground| ground.name == name).is_some_and(TerrainType::covers);
    let fallback = fallback.iter().filter(|name| !fills(name)).map(|name| {
        format!(
            "warning: recipe.texture.fallback: no terrain type that takes part and covers ground is called \"{name}\"; \
             the nearest type takes its place"
        )
    });
    set.chain(fallback).collect()
}
