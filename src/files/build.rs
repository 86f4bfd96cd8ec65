//! Building: the one way from a recipe to files, for the command line and for the editor.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::atomic::{self, Staged};
use super::error::FileError;
use super::heightmap::{self, Format, RawLayout, Samples};
use super::inputs::{DecodedFiles, InputFiles};
use super::maps::{MapOrder, WeightsOrder};
use super::memory::require_memory;
use super::sidecar::{Description, sidecar_path};
use super::texture;
use crate::engine::light::Light;
use crate::engine::parameters::Band;
use crate::engine::texture::{Needs, Part, Points, Scene, Surroundings, height_range_m, paint};
use crate::engine::{Grid, Heightfield, Inputs, Monitor, Picture, Recipe, heightfield::Extent, stack};

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
    /// The contents of the files that the recipe names, as far as the order draws on them: [`Self::load_inputs`].
    pub inputs: Inputs,
    /// The heightmaps to write, each with a sidecar.
    pub heightmaps: Vec<HeightmapOrder>,
    /// The texture to write.
    pub texture: Option<TextureOrder>,
    /// The weights of the terrain types to write.
    pub weights: Option<WeightsOrder>,
    /// The pictures of what the land is like to write.
    pub maps: Vec<MapOrder>,
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
    /// Pixels from west to east and from north to south, of every patch where there are some.
    pub size: [usize; 2],
    /// Into how many files it goes; `None`: one.
    pub patches: Option<Patches>,
}

/// A texture in columns and rows of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patches {
    /// Patches from west to east.
    pub columns: usize,
    /// Patches from north to south.
    pub rows: usize,
    /// Whether every patch is the whole land, turned over in odd columns and rows, so that equal borders meet and the
    /// land goes on for ever; otherwise they are the parts of one large picture.
    pub mirror: bool,
}

impl Patches {
    /// The most patches along a side: all files are kept open until the last of them is complete.
    pub const MOST: usize = 16;

    fn all(self) -> impl Iterator<Item = [usize; 2]> {
        (0..self.rows).flat_map(move |row| (0..self.columns).map(move |column| [column, row]))
    }
}

impl TextureOrder {
    /// The files that are written: the patch in column 2 of row 0 of ground.png is ground_x2_y0.png.
    pub fn paths(&self) -> Vec<PathBuf> {
        let Some(patches) = self.patches else {
            return vec![self.path.clone()];
        };
        let part = |part: Option<&OsStr>| part.map(OsStr::to_os_string).unwrap_or_default();
        let named = |[column, row]: [usize; 2]| {
            let mut name = part(self.path.file_stem());
            name.push(format!("_x{column}_y{row}."));
            name.push(part(self.path.extension()));
            self.path.with_file_name(name)
        };
        patches.all().map(named).collect()
    }
}

/// The size of a texture with `longer` pixels along its longer side; the other side follows the world's proportions.
pub fn texture_size(extent: Extent, longer: usize) -> [usize; 2] {
    // Pixels are areas: the cells of a grid, one less than its samples.
    let grid = Grid::fitted(extent, longer + 1);
    [grid.width() - 1, grid.height() - 1]
}

/// Decodes all that a recipe draws on, once; whoever goes on with changing recipes keeps a [`DecodedFiles`].
pub fn load_inputs(recipe: &Recipe, files: &InputFiles) -> Result<Inputs, FileError> {
    DecodedFiles::default().inputs(recipe, files, &Monitor::new())
}

/// The share of the work that evaluating is, by rough measurement; painting and writing make up the rest.
const EVALUATING: f32 = 0.6;

/// How much more than a heightmap the others take, by rough measurement.
const SURROUNDINGS_UNITS: usize = 1;
const TEXTURE_UNITS: usize = 2;
const WEIGHTS_UNITS: usize = 4;
const MAP_UNITS: usize = 1;

/// Goes through the progress of what follows the evaluation, file by file.
struct Stretches {
    next: f32,
    per_unit: f32,
}

impl Stretches {
    /// All files: units are what writing a heightmap takes, by rough measurement.
    fn of(order: &Order) -> Self {
        let textures = order.texture.as_ref().map_or(0, |texture| texture.paths().len());
        let painted = if order.is_painted() { SURROUNDINGS_UNITS } else { 0 };
        let weights = if order.weights.is_some() { WEIGHTS_UNITS } else { 0 };
        let units =
            order.heightmaps.len() + painted + TEXTURE_UNITS * textures + weights + order.maps.len() * MAP_UNITS;
        Self { next: EVALUATING, per_unit: (1.0 - EVALUATING) / units.max(1) as f32 }
    }

    /// Does work that takes so many units.
    fn within<T>(&mut self, units: usize, monitor: &Monitor, work: impl FnOnce() -> T) -> T {
        let until = (self.next + self.per_unit * units as f32).min(1.0);
        let done = monitor.within(self.next..until, work);
        self.next = until;
        done
    }
}

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

/// Bytes that threads work in, and that the allocator holds back, by measurement.
const WORKING_BYTES: u64 = 8 << 20;

/// Bytes that the order takes at its greatest, beside what the program takes by itself. What goes by the course of a
/// coast, and not by the size of the land alone, is counted as it usually is.
pub fn memory_needed(order: &Order) -> u64 {
    let land = 4 * order.grid.samples() as u64;
    let maps = |count: f64| (land as f64 * count).ceil() as u64;
    let evaluating = maps(stack::peak_maps(&order.recipe, order.grid));
    let heightmaps = order.heightmaps.iter().map(|heightmap| heightmap::bytes_written(&heightmap.path, order.grid));
    let [found, looking] = match order.is_painted() {
        true => Needs::of(&order.recipe.texture, order.baked_light()).maps_held().map(maps),
        false => [0; 2],
    };
    let texture = order.texture.as_ref().map_or(0, |TextureOrder { path, size, patches }| {
        let bytes = match patches {
            Some(Patches { mirror: true, .. }) => texture::bytes_turned_over,
            Some(Patches { mirror: false, .. }) | None => texture::bytes_painted,
        };
        bytes(path, *size)
    });
    let weights = order.weights.as_ref().map_or(0, |weights| weights.bytes(&order.recipe.texture, order.grid));
    let charts = order.maps.iter().map(|map| map.bytes(maps(map.chart.maps_held())));
    let beside_land = heightmaps.chain(charts).max().unwrap_or(0);
    let beside_land = beside_land.max(looking).max(found.saturating_add(texture.max(weights)));
    let needed = evaluating.max(land.saturating_add(beside_land));
    needed.saturating_add(order.inputs.bytes()).saturating_add(WORKING_BYTES)
}

impl Order {
    /// Decodes from the files of the project what the order draws on. Pictures of ground are left out where no terrain
    /// type is painted or weighed: they take time and memory that nothing would come of.
    pub fn load_inputs(&mut self, files: &InputFiles, monitor: &Monitor) -> Result<(), FileError> {
        let mut drawn_on = self.recipe.clone();
        if !self.is_painted() {
            drawn_on.texture.types.clear();
        }
        self.inputs = DecodedFiles::default().inputs(&drawn_on, files, monitor)?;
        Ok(())
    }

    /// Whether terrain types are weighed.
    fn is_painted(&self) -> bool {
        self.texture.is_some() || self.weights.is_some()
    }

    /// The light that comes into the texture, if one is ordered and light comes into it.
    fn baked_light(&self) -> Option<&Light> {
        Some(&self.recipe.light).filter(|light| light.bake && self.texture.is_some())
    }
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
    if let Some(texture) = &order.texture {
        texture::check_size(&texture.path, texture.size)?;
        texture.paths().iter().try_for_each(|path| check_target(path))?;
    }
    if let Some(weights) = &order.weights {
        weights.check(&order.recipe.texture, order.grid)?.iter().try_for_each(|path| check_target(path))?;
    }
    for map in &order.maps {
        map.check()?;
        check_target(&map.path)?;
    }
    require_memory(memory_needed(order))
}

fn stage_all(order: &Order, monitor: &Monitor) -> Result<Vec<Staged>, FileError> {
    let evaluation = || stack::evaluate(&order.recipe, order.grid, order.position, &order.inputs, monitor);
    let land = monitor.within(0.0..EVALUATING, evaluation)?;
    let fixed_m = order.recipe.world.height_range_m;
    let own_m = height_range_m(&land, None, monitor)?;
    let mut staged = Vec::new();
    let mut stretches = Stretches::of(order);

    for heightmap in &order.heightmaps {
        let recipe = Some((order.recipe.seed, order.name.as_str()));
        let description = Description { recipe, ..describe(heightmap, order.grid, own_m, fixed_m)? };
        let writing = || stage_heightmap(&land, &description, order.overwrite, monitor);
        staged.extend(stretches.within(1, monitor, writing)?);
    }

    if order.is_painted() {
        let recipe = &order.recipe.texture;
        let looking = || Surroundings::of(&land, Needs::of(recipe, order.baked_light()), monitor);
        let surroundings = &stretches.within(SURROUNDINGS_UNITS, monitor, looking)?;
        let fixed_range_m = Some(fixed_m.unwrap_or(own_m));
        let scene = Scene { land: &land, surroundings, recipe, fixed_range_m, inputs: &order.inputs };
        if let Some(texture) = &order.texture {
            stage_texture(texture, scene, order, &mut staged, &mut stretches, monitor)?;
        }
        if let Some(weights) = &order.weights {
            let writing = || weights.stage(scene, order.overwrite, monitor);
            staged.extend(stretches.within(WEIGHTS_UNITS, monitor, writing)?);
        }
    }

    for map in &order.maps {
        staged.push(stretches.within(MAP_UNITS, monitor, || map.stage(&land, order.overwrite, monitor))?);
    }
    Ok(staged)
}

/// A texture, or each of its patches, complete but without names. Patches are painted one after another, so that they
/// take no more memory than one of them.
fn stage_texture(
    texture: &TextureOrder,
    scene: Scene,
    order: &Order,
    staged: &mut Vec<Staged>,
    stretches: &mut Stretches,
    monitor: &Monitor,
) -> Result<(), FileError> {
    let size = texture.size;
    let paint = |points: Points| paint(scene, order.baked_light(), points, monitor).map(|painting| painting.picture);
    let write = |path: &Path, picture: &Picture| {
        atomic::stage(path, order.overwrite, |writer| texture::write(writer, path, picture, monitor))
    };
    // A picture that begins at pixel (west, north) of the whole one, some of its rows at a time.
    let one = |path: &Path, whole: [usize; 2], [west, north]: [usize; 2]| {
        let rows = |rows: Range<usize>| {
            paint(Points::Part(Part { whole, first: [west, north + rows.start], size: [size[0], rows.len()] }))
        };
        atomic::stage(path, order.overwrite, |writer| texture::write_painted(writer, path, size, rows, monitor))
    };
    let paths = texture.paths();
    match texture.patches {
        None => {
            for path in &paths {
                staged.push(stretches.within(TEXTURE_UNITS, monitor, || one(path, size, [0, 0]))?);
            }
        }
        Some(patches) if patches.mirror => {
            // The same picture for all of them, turned over where the column or the row is odd.
            let mut picture = None;
            for ([column, row], path) in patches.all().zip(&paths) {
                staged.push(stretches.within(TEXTURE_UNITS, monitor, || {
                    let painted = match picture.take() {
                        Some(painted) => painted,
                        None => monitor.within(0.0..0.5, || paint(Points::Pixels(size)))?,
                    };
                    let turned = painted.turned_over([column % 2 == 1, row % 2 == 1], monitor)?;
                    picture = Some(painted);
                    monitor.within(0.5..1.0, || write(path, &turned))
                })?);
            }
        }
        Some(patches) => {
            let whole = [patches.columns * size[0], patches.rows * size[1]];
            for ([column, row], path) in patches.all().zip(&paths) {
                let first = [column * size[0], row * size[1]];
                staged.push(stretches.within(TEXTURE_UNITS, monitor, || one(path, whole, first))?);
            }
        }
    }
    Ok(())
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
    let description = describe(order, grid, height_range_m(land, None, monitor)?, Some(range_m))?;
    let staged = stage_heightmap(land, &description, overwrite, monitor)?;
    monitor.check()?;
    atomic::commit_all(staged.into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::parameters::{FileName, PictureName};
    use crate::engine::texture::Chart;
    use crate::files::maps::Depth;

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
            texture: Some(TextureOrder { path: path("t.png"), size: [16, 16], patches: None }),
            weights: None,
            maps: Vec::new(),
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
    fn a_picture_in_strips_is_the_picture_painted_as_a_whole() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        // Three strips and a part of one.
        let size = [900, 10_000];
        order.heightmaps.clear();
        order.texture = Some(TextureOrder { path: folder.path().join("t.png"), size, patches: None });
        let monitor = Monitor::new();
        build(&order, &monitor).expect("built");
        let land = stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &monitor).expect("not cancelled");
        let (surroundings, recipe, inputs) = (&Surroundings::default(), &order.recipe.texture, &order.inputs);
        let scene = Scene { land: &land, surroundings, recipe, fixed_range_m: None, inputs };
        let whole = paint(scene, None, Points::Pixels(size), &monitor).expect("not cancelled").picture;
        let found = image::open(folder.path().join("t.png")).expect("readable").into_rgb8();
        assert_eq!(found.dimensions(), (900, 10_000));
        assert!(found.pixels().zip(&whole.pixels).all(|(found, painted)| found.0 == painted[..3]));
    }

    #[test]
    fn the_memory_asked_for_is_that_of_the_largest_part() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        order.grid = Grid::fitted(order.recipe.world.extent(), 4097);
        // As many rows are compressed together as there are threads for.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let maps = |order: &Order| pool.install(|| memory_needed(order)) as f64 / (4 * order.grid.samples()) as f64;
        let texture = |name: &str| {
            let path = folder.path().join(name);
            Some(TextureOrder { path, size: [4096; 2], patches: None })
        };
        order.texture = None;
        let bare = maps(&order);
        assert!((1.0..1.3).contains(&bare), "one map and some rows: {bare}");
        order.texture = texture("t.png");
        let painted = maps(&order);
        assert!((bare..1.5).contains(&painted), "one map and a strip: {painted}");
        order.texture = texture("t.jpg");
        let painted = maps(&order);
        assert!((2.8..2.9).contains(&painted), "one map, four bytes a pixel, and three: {painted}");
        let mirrored = |name: &str| {
            let patches = Some(Patches { columns: 2, rows: 1, mirror: true });
            texture(name).map(|texture| TextureOrder { patches, ..texture })
        };
        order.texture = mirrored("t.jpg");
        let painted = maps(&order);
        assert!((3.8..3.9).contains(&painted), "one map, twice four bytes a pixel, and three: {painted}");
        order.texture = mirrored("t.png");
        let painted = maps(&order);
        assert!((3.1..3.4).contains(&painted), "one map, twice four bytes a pixel, and some rows: {painted}");
        order.texture = None;
        order.recipe.stack.push(order.recipe.stack[0].clone());
        let added = maps(&order);
        assert!((2.0..2.2).contains(&added), "the land below and the land that is added: {added}");
    }

    #[test]
    fn pictures_of_ground_are_decoded_only_where_types_are_painted_or_weighed() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        let ground = "ground.png";
        order.recipe.texture.types[0].texture = Some(PictureName(ground.into()));
        let broken: InputFiles = [(FileName(ground.into()), Arc::default())].into();
        let load = |order: &mut Order| order.load_inputs(&broken, &Monitor::new());
        assert!(load(&mut order).is_err(), "painted");
        order.texture = None;
        assert_eq!(load(&mut order), Ok(()), "neither");
        assert!(order.inputs.swatches.is_empty());
        order.weights =
            Some(WeightsOrder { folder: folder.path().into(), points: Points::Samples, depth: Depth::Eight });
        assert!(load(&mut order).is_err(), "weighed");
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
        let texture = |name: &str, size| TextureOrder { path: folder.path().join(name), size, patches: None };
        check(&|order| order.texture = Some(texture("t.r16", [8, 8])), ".jpg");
        check(&|order| order.texture = Some(texture("t.png", [0, 8])), "0 × 8");
        let map = |name: &str| MapOrder {
            path: folder.path().join(name),
            chart: Chart::Slope,
            size: [8, 8],
            depth: Depth::Eight,
        };
        check(&|order| order.maps = vec![map("m.jpg")], "known are .png");
        check(&|order| order.maps = vec![map("m.png"), map("m.png")], "two of the files");
        check(&|order| order.maps = vec![map("old.png")], "there already");
        let weights = |name: &str| {
            let folder = folder.path().join(name);
            Some(WeightsOrder { folder, points: Points::Samples, depth: Depth::Eight })
        };
        check(&|order| order.weights = weights("none"), "there is no folder");
        let no_types = |order: &mut Order| {
            order.weights = weights("");
            order.recipe.texture.types.clear();
        };
        check(&no_types, "no terrain type takes part");
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
}
