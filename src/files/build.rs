//! Building: the one way from a recipe to files, for the command line and for the editor.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::atomic::{self, Staged};
use super::error::FileError;
use super::heightmap::{self, Format, RawLayout, Samples};
use super::memory::require_memory;
use super::sidecar::{Description, sidecar_path};
use super::swatches;
use super::texture;
use crate::engine::parameters::{Band, FileName};
use crate::engine::texture::{height_range_m, paint_once};
use crate::engine::{Grid, Heightfield, Inputs, Monitor, Recipe, heightfield::Extent, stack};

/// What to build, and where it goes.
#[derive(Clone, Debug)]
pub struct Order {
    /// The name of the recipe, for sidecars.
    pub name: String,
    /// What decides the land and its texture.
    pub recipe: Recipe,
    /// The samples of the heightmaps, and of the land that the texture is painted on.
    pub grid: Grid,
    /// How many iterations of the timeline are done; `None`: all.
    pub position: Option<u32>,
    /// The contents of the files that the recipe names.
    pub inputs: Inputs,
    /// The heightmaps to write, each with a sidecar.
    pub heightmaps: Vec<HeightmapOrder>,
    /// The texture to write.
    pub texture: Option<TextureOrder>,
    /// Whether files that are there already may be replaced.
    pub overwrite: bool,
}

/// A heightmap to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeightmapOrder {
    /// Where it goes; the ending chooses the format.
    pub path: PathBuf,
    /// The layout of a headerless file; `None`: the usual one of its ending.
    pub raw: Option<RawLayout>,
}

/// A texture to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureOrder {
    /// Where it goes; the ending chooses the format.
    pub path: PathBuf,
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
}

/// The size of a texture with `longer` pixels along its longer side; the other side follows the world's proportions.
pub fn texture_size(extent: Extent, longer: usize) -> [usize; 2] {
    // Pixels are areas: the cells of a grid, one less than its samples.
    let grid = Grid::fitted(extent, longer + 1);
    [grid.width() - 1, grid.height() - 1]
}

/// Decodes what a recipe draws on: heightmaps by the endings of their names, pictures by their contents. Names that are
/// not among the files are left out; steps and types that use them do without.
pub fn load_inputs(recipe: &Recipe, files: &BTreeMap<FileName, Arc<Vec<u8>>>) -> Result<Inputs, FileError> {
    let mut inputs = Inputs::default();
    for name in recipe.heightmaps() {
        if let Some(bytes) = files.get(&name) {
            let reading = heightmap::decode(Path::new(&name.0), bytes, None)?;
            inputs.rasters.insert(name, Arc::new(reading.raster));
        }
    }
    for name in recipe.pictures() {
        if name.ships() {
            let swatch = swatches::shipped(&name)?;
            inputs.swatches.insert(name, swatch);
        } else if let Some(bytes) = files.get(&FileName(name.0.clone())) {
            let swatch = swatches::decode(&name.0, bytes)?;
            inputs.swatches.insert(name, swatch);
        }
    }
    Ok(inputs)
}

/// The shares of the work, by rough measurement: evaluating, painting, and writing make up the rest.
const EVALUATING: f32 = 0.6;
const PAINTING: f32 = 0.15;

/// Builds everything that is ordered and returns the files written, sidecars included.
///
/// What can be checked is checked before anything is computed. All files are completed on the disk before the first
/// of them gets its name: on an error or a cancellation none is left, but for files that have replaced older ones
/// before another one could not get its name.
pub fn build(order: &Order, monitor: &Monitor) -> Result<Vec<PathBuf>, FileError> {
    check(order)?;
    let staged = stage_all(order, monitor)?;
    monitor.check()?;
    let written = atomic::commit_all(staged)?;
    monitor.report(1.0);
    Ok(written)
}

/// Bytes that the order takes at its greatest.
pub fn memory_needed(order: &Order) -> u64 {
    let map = 4 * order.grid.samples() as u64;
    let inputs: u64 = order.inputs.bytes();
    // Painted pixels have four bytes; formats that are not written row by row need a copy with three.
    let picture =
        order.texture.as_ref().map_or(0, |texture| (texture.size[0] as u64).saturating_mul(texture.size[1] as u64));
    let evaluating = (map as f64 * stack::peak_maps(&order.recipe, order.grid)).ceil() as u64;
    let painting = map.saturating_add(picture.saturating_mul(7));
    inputs.saturating_add(evaluating.max(painting))
}

fn check(order: &Order) -> Result<(), FileError> {
    let mut names = BTreeSet::new();
    let mut check_target = |path: &Path| {
        atomic::check_target(path, order.overwrite)?;
        // One file has many spellings: a.png, ./a.png, b/../a.png.
        let folder = atomic::folder_of(path).canonicalize().map_err(|error| FileError::writing(path, &error))?;
        let once = names.insert((folder, path.file_name().map(OsStr::to_os_string)));
        if once { Ok(()) } else { Err(FileError::Twice(path.to_path_buf())) }
    };
    for HeightmapOrder { path, raw } in &order.heightmaps {
        heightmap::check_size(path, [order.grid.width(), order.grid.height()], *raw)?;
        check_target(path)?;
        check_target(&sidecar_path(path))?;
    }
    if let Some(TextureOrder { path, size }) = &order.texture {
        texture::check_size(path, *size)?;
        check_target(path)?;
    }
    require_memory(memory_needed(order))
}

fn stage_all(order: &Order, monitor: &Monitor) -> Result<Vec<Staged>, FileError> {
    let evaluation = || stack::evaluate(&order.recipe, order.grid, order.position, &order.inputs, monitor);
    let land = monitor.within(0.0..EVALUATING, evaluation)?;
    let fixed_m = order.recipe.world.height_range_m;
    let own_m = height_range_m(&land, None);
    let mut staged = Vec::new();

    let painted_from = match (&order.texture, order.heightmaps.is_empty()) {
        (None, _) => 1.0,
        (Some(_), true) => EVALUATING,
        (Some(_), false) => 0.5 * (EVALUATING + 1.0),
    };
    let count = order.heightmaps.len() as f32;
    let written_at = |i: usize| EVALUATING + i as f32 / count * (painted_from - EVALUATING);
    for (i, heightmap) in order.heightmaps.iter().enumerate() {
        let recipe = Some((order.recipe.seed, order.name.as_str()));
        let description = Description { recipe, ..describe(heightmap, order.grid, own_m, fixed_m)? };
        let writing = || stage_heightmap(&land, &description, order.overwrite, monitor);
        staged.extend(monitor.within(written_at(i)..written_at(i + 1), writing)?);
    }

    if let Some(TextureOrder { path, size }) = &order.texture {
        let light = order.recipe.light.bake.then_some(&order.recipe.light);
        let painted_until = painted_from + PAINTING;
        let painting = || paint_once(&land, &order.recipe.texture, fixed_m, &order.inputs, light, *size, monitor);
        let painting = monitor.within(painted_from..painted_until, painting)?;
        staged.push(monitor.within(painted_until..1.0, || {
            atomic::stage(path, order.overwrite, |writer| texture::write(writer, path, &painting.picture, monitor))
        })?);
    }
    Ok(staged)
}

/// What is said of a heightmap of land with the range `own_m`. Metres are written as they are; integers span
/// `fixed_m`, or the land's own range, and what lies outside is cut off.
fn describe(
    order: &HeightmapOrder,
    grid: Grid,
    own_m: Band,
    fixed_m: Option<Band>,
) -> Result<Description<'_>, FileError> {
    let HeightmapOrder { path, raw } = order;
    let range_m = match Format::from_path(path)?.samples(*raw) {
        Samples::Metres { .. } => own_m,
        Samples::Integers { .. } => fixed_m.unwrap_or(own_m),
    };
    let cut_off = own_m.min < range_m.min || own_m.max > range_m.max;
    Ok(Description { path, raw: *raw, grid, range_m, cut_off, recipe: None })
}

/// A heightmap and its sidecar, complete but without their names.
fn stage_heightmap(
    land: &Heightfield,
    description: &Description,
    overwrite: bool,
    monitor: &Monitor,
) -> Result<[Staged; 2], FileError> {
    let Description { path, raw, range_m, .. } = *description;
    let map = atomic::stage(path, overwrite, |writer| heightmap::write(writer, path, land, range_m, raw, monitor))?;
    let sidecar = atomic::stage(&sidecar_path(path), overwrite, |writer| description.write(writer))?;
    Ok([map, sidecar])
}

/// Writes one heightmap with its sidecar, integers spanning `range_m`: what converting from format to format needs.
pub fn write_heightmap(
    land: &Heightfield,
    order: &HeightmapOrder,
    range_m: Band,
    overwrite: bool,
    monitor: &Monitor,
) -> Result<Vec<PathBuf>, FileError> {
    let HeightmapOrder { path, raw } = order;
    let grid = land.grid();
    heightmap::check_size(path, [grid.width(), grid.height()], *raw)?;
    atomic::check_target(path, overwrite)?;
    atomic::check_target(&sidecar_path(path), overwrite)?;
    let description = describe(order, grid, height_range_m(land, None), Some(range_m))?;
    let staged = stage_heightmap(land, &description, overwrite, monitor)?;
    monitor.check()?;
    atomic::commit_all(staged.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::heightmap::Heightmap;

    fn order(folder: &Path) -> Order {
        let stack = vec![Step::new(Faults { count: 30, ..Default::default() })];
        let recipe = Recipe { stack, ..Default::default() };
        let path = |name: &str| folder.join(name);
        Order {
            name: "Test".into(),
            grid: Grid::fitted(recipe.world.extent(), 33),
            recipe,
            position: None,
            inputs: Inputs::default(),
            heightmaps: ["h.png", "h.r32"].map(|name| HeightmapOrder { path: path(name), raw: None }).into(),
            texture: Some(TextureOrder { path: path("t.png"), size: [16, 16] }),
            overwrite: false,
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn everything_ordered_is_written_and_metres_come_back() {
        let folder = tempfile::tempdir().expect("folder");
        let order = order(folder.path());
        let monitor = Monitor::new();
        let written = build(&order, &monitor).expect("built");
        assert_eq!(written.len(), 5);
        assert_eq!(names(folder.path()), ["h.png", "h.png.json", "h.r32", "h.r32.json", "t.png"]);
        assert!((monitor.progress() - 1.0).abs() < 1e-6, "{}", monitor.progress());

        let land = stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &monitor).expect("not cancelled");
        let metres = |name: &str| heightmap::read(&folder.path().join(name), None).expect("readable").into_metres(None);
        assert_eq!(metres("h.r32"), land.heights());
        let [low, high] = land.min_max();
        let half_step = (high - low) / 65_535.0 * 0.501;
        assert!(metres("h.png").iter().zip(land.heights()).all(|(a, b)| (a - b).abs() <= half_step));
    }

    #[test]
    fn a_cancelled_build_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let monitor = Monitor::new();
        monitor.cancel();
        assert_eq!(build(&order(folder.path()), &monitor), Err(FileError::Cancelled));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn nothing_is_computed_for_what_cannot_be_written() {
        let folder = tempfile::tempdir().expect("folder");
        let check = |change: &dyn Fn(&mut Order), message: &str| {
            let mut order = order(folder.path());
            change(&mut order);
            // Cancelled beforehand: whoever gets as far as computing says so.
            let monitor = Monitor::new();
            monitor.cancel();
            let error = build(&order, &monitor).expect_err("must be refused").to_string();
            assert!(error.contains(message), "{error}");
            assert!(
                names(folder.path()).iter().all(|name| ["old.png", "sub"].contains(&name.as_str())),
                "{:?}",
                names(folder.path())
            );
        };
        std::fs::write(folder.path().join("old.png"), "").expect("written");
        let to = |name: &'static str| {
            move |order: &mut Order| order.heightmaps[1].path = order.heightmaps[1].path.with_file_name(name)
        };
        check(&to("h.exr"), "no format with this ending");
        check(&to("h.png"), "two of the files");
        check(&to("./h.png"), "two of the files");
        std::fs::create_dir(folder.path().join("sub")).expect("made");
        check(&to("sub/../h.png"), "two of the files");
        std::fs::remove_dir(folder.path().join("sub")).expect("removed");
        check(&to("old.png"), "there already");
        check(&to("none/h.png"), "there is no folder");
        check(&|order| order.texture = Some(TextureOrder { path: folder.path().join("t.r16"), size: [8, 8] }), ".jpg");
        check(&|order| order.texture = Some(TextureOrder { path: folder.path().join("t.png"), size: [0, 8] }), "0 × 8");
        check(&|order| order.heightmaps[1].raw = "f32be,9x9".parse().ok(), "33 × 33");
        check(&to("old.png/h.png"), "there is no folder");
    }

    #[test]
    fn a_fixed_range_is_kept_and_what_is_cut_off_is_said() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        order.recipe.world.height_range_m = Some(Band { min: 0.0, max: 1.0 });
        build(&order, &Monitor::new()).expect("built");
        let text = std::fs::read_to_string(folder.path().join("h.png.json")).expect("there");
        assert!(text.contains("\"max_m\": 1.0") && text.contains("cut off"), "{text}");
    }

    #[test]
    fn textures_follow_the_proportions() {
        assert_eq!(texture_size(Extent { width_m: 3000.0, depth_m: 1000.0 }, 300), [300, 100]);
        assert_eq!(texture_size(Extent { width_m: 1.0, depth_m: 1e6 }, 300), [1, 300]);
    }

    fn with_heightmap(name: &FileName) -> Recipe {
        let step = Step::new(Heightmap { file: name.clone(), ..Default::default() });
        Recipe { stack: vec![step], ..Default::default() }
    }

    #[test]
    fn imported_files_are_decoded_by_their_names() {
        let bytes: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|height| height.to_le_bytes()).collect();
        let name = FileName("a.r32".into());
        let recipe = with_heightmap(&name);
        let inputs = load_inputs(&recipe, &[(name.clone(), Arc::new(bytes))].into()).expect("readable");
        assert_eq!(inputs.get(&name).map(|raster| raster.samples.clone()), Some(vec![1.0, 2.0, 3.0, 4.0]));
        let name = FileName("a.png".into());
        let files = [(name.clone(), Arc::new(vec![]))].into();
        let error = load_inputs(&with_heightmap(&name), &files).expect_err("empty");
        assert!(error.to_string().starts_with("a.png: "), "{error}");
    }
}
