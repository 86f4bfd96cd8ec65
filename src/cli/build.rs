//! `upthrust build`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::arguments::{BuildOptions, DepthOption, NormalsY, ProgressKind, WeightsAt};
use super::error::CliError;
use super::size::{Pixels, Range, Size};
use super::{interrupt, print, progress, source};
use crate::engine::Monitor;
use crate::engine::texture::{Chart, Points, TerrainType, TextureRecipe, TextureSettings};
use crate::files::build::{HeightmapOrder, Order, TextureOrder, build};
use crate::files::heightmap::Encoding;
use crate::files::maps::{Depth, MapOrder, WeightsOrder};
use crate::files::mesh::{Detail, MeshOrder};
use crate::files::tiles::TileNames;
use crate::project::Project;

/// The most vertices of a mesh where nothing is said: what other programs open without a pause.
const MESH_VERTICES: u32 = 1_000_000;

/// Evaluates a recipe and writes files.
pub fn run(options: &BuildOptions) -> Result<(), CliError> {
    let asks_for_maps = options.weights.is_some() || !options.charts.0.is_empty() || options.mesh.is_some();
    let asks_for_texture = options.output.is_some() || options.texture.is_some();
    if !asks_for_texture && options.heightmap.is_none() && !asks_for_maps {
        let problem = "nothing to write is asked for; name a folder with -o DIR, or a file with --heightmap FILE, \
                       --texture FILE or one of the maps";
        return Err(CliError::Usage(problem.into()));
    }
    if options.patches.is_some() && !asks_for_texture {
        let problem = "--patches are of a texture, and none is asked for; name one with --texture FILE";
        return Err(CliError::Usage(problem.into()));
    }
    let order = order(source::open(&options.source)?, options)?;
    if order.is_painted() {
        warnings(&order.recipe.texture).iter().for_each(|warning| print::complain(warning));
    }
    let monitor = interrupt::monitor();
    let mut folders = NewFolders::default();
    [&options.output, &options.weights].into_iter().flatten().try_for_each(|folder| folders.make(folder))?;
    let work = || progress::show_while(options.progress, &monitor, || build(&order, &monitor));
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

fn order(project: Project, options: &BuildOptions) -> Result<Order, CliError> {
    let used = project.recipe.files();
    let files = project.files.into_iter().filter(|(name, _)| used.contains(name)).collect();
    let extent = project.recipe.world.extent();
    let path_of = |own: &Option<PathBuf>, name: &str| {
        own.clone().or_else(|| options.output.as_ref().map(|folder| folder.join(name)))
    };
    let heightmap = path_of(&options.heightmap, "height.png");
    let pixels = options.texture_size.unwrap_or(Pixels::longer(project.export.texture_pixels));
    let texture = path_of(&options.texture, "texture.png");
    let size = pixels.size(extent);
    let depth = match options.depth {
        DepthOption::Eight => Depth::Eight,
        DepthOption::Sixteen => Depth::Sixteen,
    };
    let points = match options.weights_at {
        WeightsAt::Pixels => Points::Pixels(size),
        WeightsAt::Samples => Points::Samples,
    };
    let turned = |chart: Chart| match (chart, options.normals_y) {
        (Chart::Normals, NormalsY::Down) => Chart::NormalsSouth,
        (chart, _) => chart,
    };
    let charts = options.charts.0.iter().map(|(chart, path)| (turned(*chart), path));
    let patches = options.patches.map(|counts| counts.patches(options.mirror));
    let tiles = options.tiles.map(|counts| counts.tiles(options.tile, TileNames::FromNorthWest));
    let detail = match (options.mesh_vertices, options.mesh_error) {
        (_, Some(error_m)) => Detail::ErrorM(error_m),
        (vertices, None) => Detail::Vertices(vertices.unwrap_or(MESH_VERTICES) as usize),
    };
    let worn = Some(size).filter(|_| !options.mesh_bare);
    let encoding = Encoding { integers: depth == Depth::Sixteen, ..Encoding::default() };
    let grid = options.size.unwrap_or(Size::longer(project.export.samples)).grid(extent);
    let mut order = Order {
        position: options.iterations,
        heightmaps: heightmap.map(|path| HeightmapOrder { path, encoding }).into_iter().collect(),
        texture: texture.map(|path| TextureOrder { patches, ..TextureOrder::new(path, size) }),
        weights: options.weights.clone().map(|folder| WeightsOrder { folder, points, depth }),
        maps: charts.map(|(chart, path)| MapOrder { path: path.clone(), chart, size, depth }).collect(),
        mesh: options.mesh.clone().map(|path| MeshOrder { path, detail, texture: worn }),
        tiles: tiles.transpose().map_err(CliError::Usage)?,
        range_m: options.range.map(|Range(band)| band),
        overwrite: options.force,
        ..Order::new(project.name, project.recipe, grid)
    };
    let loaded = order.load_inputs(&files, &Monitor::new());
    loaded.map_err(|error| CliError::FileOf(options.source.source.clone(), error))?;
    Ok(order)
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

/// Folders that are made for the output, and removed again if nothing comes to lie in them.
#[derive(Default)]
struct NewFolders {
    /// The folders that were not there before, innermost first.
    made: Vec<PathBuf>,
}

impl NewFolders {
    fn make(&mut self, path: &Path) -> Result<(), CliError> {
        let missing = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let missing = missing.take_while(|folder| !folder.exists()).map(Path::to_path_buf);
        // What is made now may lie in what was made before.
        self.made.splice(0..0, missing.collect::<Vec<_>>());
        std::fs::create_dir_all(path).map_err(|error| CliError::Folder(path.to_path_buf(), error.to_string()))
    }

    fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.made {
            // Fails where something lies in it, and then it stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
