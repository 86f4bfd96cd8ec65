//! Turns the options of a build into an order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::arguments::{BuildOptions, DepthOption, NormalsY, WeightsAt};
use crate::cli::error::CliError;
use crate::cli::values::{Range, Size, Source, TextureSize, TileCounts};
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::parameters::nearest_name;
use crate::engine::texture::{AnalysisMap, Points};
use crate::engine::{Progress, Recipe};
use crate::files::export::{
    BitDepth, CacheFolder, FramesOrder, HeightmapOrder, MapOrder, MeshDetail, MeshOrder, Order, RiversOrder,
    ScatterAxes, ScatterOrder, TextureOrder, WeightsLayout, WeightsOrder,
};
use crate::files::formats::heightmap::Encoding;
use crate::files::targets::{self, Target};
use crate::project::{ProjectFile, TERRAIN_VERSION};

/// The order for a build.
pub fn order(source: &Source, file: ProjectFile, options: &BuildOptions) -> Result<Order, CliError> {
    let ProjectFile { project, settings, .. } = file;
    let project = Arc::unwrap_or_clone(project);
    let used = project.recipe.files();
    let files = project.files.into_iter().filter(|(name, _)| used.contains(name)).collect();
    let extent = project.recipe.world.extent();
    let target = options.target.as_deref().map(target_of).transpose()?;
    target.map_or(Ok(()), |target| check_options(target, options))?;
    let counts = options.tiles.map_or([1; 2], TileCounts::counts);
    let size_option = options.size.unwrap_or(Size::longer(settings.export.samples));
    let grid = match (target, size_option.longer_side()) {
        (Some(target), Some(longer)) if options.size.is_some() => target.grid(extent, longer, counts),
        (Some(target), Some(longer)) => target.grid(extent, target.nearest(extent, longer, counts), counts),
        (_, None) | (None, _) => size_option.grid(extent),
    };
    target.map_or(Ok(()), |target| target.check(grid, counts)).map_err(CliError::Usage)?;
    let fixed_size = target.and_then(|target| Some((target, target.fixed_texture_size(grid, counts)?)));
    let size = match fixed_size {
        Some((target, size)) => check_texture_size(target, options, extent, size).map(|()| size)?,
        None => texture_size(options, target, settings.export.texture_pixels, extent, counts),
    };
    let tiles = options.tiles.map(|counts| counts.tiles(options.tile));
    // A target names its own files; without one, the output folder has a heightmap and a texture.
    let default_folder = options.output.as_deref().filter(|_| target.is_none());
    let mut order = Order {
        position: options.iterations,
        sea_m: project.water.water_m.map(|water_m| water_m.to_f32()),
        markers: project.level.markers.to_vec(),
        origin: project.origin.clone(),
        tiles: tiles.transpose().map_err(CliError::Usage)?,
        range_m: options.range.map(|Range(band)| band),
        overwrite: options.force,
        keeps_unchanged: options.watch,
        ..requested_files(options, default_folder, size, Order::new(project.name, project.recipe, grid))
    };
    if let Some(target) = target {
        let Some(folder) = &options.output else {
            let problem = "--for writes several files; name a folder for them with -o DIR";
            return Err(CliError::Usage(problem.into()));
        };
        target.add_to(&mut order, folder, size);
    }
    let loaded = order.load_inputs(&files, &Progress::new());
    loaded.map_err(|error| CliError::FileOf(source.to_string(), error))?;
    if let Some(root) = &options.cache {
        let folder = CacheFolder::new(root, TERRAIN_VERSION, &order);
        order.cache = Some(Arc::new(folder.map_err(|error| CliError::Folder(root.clone(), error.to_string()))?));
    }
    Ok(order)
}

/// The order with the files that the options request.
fn requested_files(options: &BuildOptions, folder: Option<&Path>, size: [usize; 2], order: Order) -> Order {
    let depth = match options.depth {
        DepthOption::Eight => BitDepth::Eight,
        DepthOption::Sixteen => BitDepth::Sixteen,
    };
    let path_or_default =
        |path: &Option<PathBuf>, name: &str| path.clone().or_else(|| folder.map(|folder| folder.join(name)));
    let encoding = Encoding { integers: depth == BitDepth::Sixteen, ..Encoding::default() };
    let heightmap = path_or_default(&options.heightmap, "height.png");
    let texture = path_or_default(&options.texture, "texture.png");
    let patches = options.patches.map(|counts| counts.patches(options.mirror));
    let has_frames = options.frames.is_some() || options.animation.is_some();
    Order {
        heightmaps: heightmap.map(|path| HeightmapOrder { path, encoding }).into_iter().collect(),
        texture: texture.map(|path| TextureOrder { patches, ..TextureOrder::new(path, size) }),
        weights: weights(options, size, depth),
        maps: maps(options, size, depth),
        rivers: options
            .river_lines
            .clone()
            .map(|path| RiversOrder { path, min_area_m2: options.river_area.map(|area_km2| area_km2 * 1e6) }),
        scatter: scatter(options, folder, &order.recipe, size),
        mesh: mesh(options, size),
        frames: has_frames.then(|| FramesOrder {
            folder: options.frames.clone(),
            animation: options.animation.clone(),
            every: options.every,
            size,
        }),
        ..order
    }
}

/// The pixels of the texture. A default size is one that the target streams, or rounded to a multiple of the tile counts,
/// because tiles of pixels do not overlap.
fn texture_size(
    options: &BuildOptions,
    target: Option<&Target>,
    default_pixels: u32,
    extent: Extent,
    counts: [usize; 2],
) -> [usize; 2] {
    let multiple = |side: usize, count: usize| ((side + count / 2) / count).max(1) * count;
    match (options.texture_size, target.filter(|target| target.streams_textures)) {
        (Some(size), _) => size.size(extent),
        (None, Some(target)) => target.texture_size(extent, default_pixels as usize, counts),
        (None, None) => {
            let [width, height] = TextureSize::longer(default_pixels).size(extent);
            [multiple(width, counts[0]), multiple(height, counts[1])]
        }
    }
}

fn weights(options: &BuildOptions, size: [usize; 2], depth: BitDepth) -> Option<WeightsOrder> {
    let points = match options.weights_at {
        WeightsAt::Pixels => Points::Pixels(size),
        WeightsAt::Samples => Points::Samples,
    };
    let layout = WeightsLayout::MapsAndPacks;
    options.weights.clone().map(|folder| WeightsOrder { folder, points, depth, layout, suffix: "", max_types: None })
}

fn maps(options: &BuildOptions, size: [usize; 2], depth: BitDepth) -> Vec<MapOrder> {
    let map = |(map, path): &(AnalysisMap, PathBuf)| {
        let analysis_map = match (*map, options.normals_y) {
            (AnalysisMap::Normals, NormalsY::Down) => AnalysisMap::NormalsSouth,
            (map, _) => map,
        };
        MapOrder { path: path.clone(), analysis_map, size, depth }
    };
    options.maps.0.iter().map(map).collect()
}

/// What is scattered, in the named files or else in that of the output folder.
fn scatter(options: &BuildOptions, folder: Option<&Path>, recipe: &Recipe, size: [usize; 2]) -> Option<ScatterOrder> {
    let BuildOptions { scatter, scatter_density, .. } = options;
    let is_scattered = options.tile.is_none() && recipe.is_scattered();
    let default = folder.filter(|_| is_scattered && scatter.is_empty()).map(|folder| folder.join("scatter.csv"));
    let files: Vec<PathBuf> = scatter.iter().cloned().chain(default).collect();
    let is_ordered = !files.is_empty() || scatter_density.is_some();
    let order = || ScatterOrder { files, axes: ScatterAxes::default(), densities: scatter_density.clone(), size };
    is_ordered.then(order)
}

fn mesh(options: &BuildOptions, size: [usize; 2]) -> Option<MeshOrder> {
    let detail = match (options.mesh_vertices, options.mesh_error) {
        (_, Some(error_m)) => MeshDetail::ErrorM(error_m),
        (vertices, None) => MeshDetail::Vertices(vertices.map_or(MeshDetail::DEFAULT_VERTICES, |count| count as usize)),
    };
    let texture = Some(size).filter(|_| !options.mesh_bare);
    options.mesh.clone().map(|path| MeshOrder { path, detail, texture })
}

/// Rejects options for settings that the target determines.
fn check_options(target: &Target, options: &BuildOptions) -> Result<(), CliError> {
    if let Some(band) = target.range_m.filter(|_| options.range.is_some()) {
        return Err(CliError::Usage(format!(
            "--range: {} always uses heights from {} to {} m; omit --range",
            target.label, band.min, band.max
        )));
    }
    if options.weights.is_some() && target.weights.is_some() {
        return Err(CliError::Usage(format!(
            "--weights: --for {} already writes the weights as {} requires them, into the folder of -o; omit --weights",
            target.key, target.label
        )));
    }
    Ok(())
}

/// Rejects a size of the texture other than the only one that the target supports.
fn check_texture_size(
    target: &Target,
    options: &BuildOptions,
    extent: Extent,
    [width, height]: [usize; 2],
) -> Result<(), CliError> {
    match options.texture_size.map(|size| size.size(extent)) {
        Some([columns, rows]) if [columns, rows] != [width, height] => Err(CliError::Usage(format!(
            "--texture-size: {} needs a pixel for each sample of the heightmap, {width} × {height}, not {columns} × {rows}; \
             omit --texture-size, or change --size",
            target.label
        ))),
        Some(_) | None => Ok(()),
    }
}

/// The target with a key.
pub(super) fn target_of(key: &str) -> Result<&'static Target, CliError> {
    targets::from_key(key).ok_or_else(|| {
        let nearest = nearest_name(key, targets::ALL.iter().map(|target| target.key));
        let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean {nearest}?"));
        CliError::Usage(format!("--for {key}: there is no such target{hint} \"--for list\" lists all"))
    })
}
