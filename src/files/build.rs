//! Building: the one way from a recipe to files, for the command line and for the editor.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::atomic::{self, StagedFile};
use super::error::FileError;
use super::frames::FramesOrder;
use super::heightmap::{self, Encoding, Format, Rows, Samples, grid_of};
use super::inputs::{DecodedFiles, InputFiles};
use super::maps::{MapOrder, WeightsOrder};
use super::memory::require_memory;
use super::mesh::MeshOrder;
use super::rivers::RiversOrder;
use super::sidecar::{SidecarContents, sidecar_path};
use super::targets::{ImportFacts, Target};
use super::texture;
use super::tiles::{Region, TileNaming, TileRegion, Tiles};
use crate::engine::flow::Water;
use crate::engine::light::Light;
use crate::engine::parameters::Band;
use crate::engine::texture::{
    MAX_PREPARED_BYTES, PaintInput, PixelRegion, Points, RequiredMaps, SurfaceMaps, height_range_m, paint,
};
use crate::engine::{Grid, Heightfield, Inputs, Progress, Recipe, heightfield::Extent, stack};

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
    /// The rivers to write as lines.
    pub rivers: Option<RiversOrder>,
    /// The level of the sea in which rivers end, metres; the steps of the import say where it lies.
    pub sea_m: Option<f32>,
    /// The mesh to write.
    pub mesh: Option<MeshOrder>,
    /// The pictures of the uplift to write.
    pub frames: Option<FramesOrder>,
    /// The tiles that all maps are cut into; `None`: each is one file. Meshes and pictures of the
    /// uplift are never cut.
    pub tiles: Option<Tiles>,
    /// The heights that the whole numbers of heightmaps span; `None`: the world's fixed range, else the land's own.
    /// What the land is painted by is the world's.
    pub range_m: Option<Band>,
    /// The program that the heightmaps are made for: their sidecars say what to do there.
    pub target: Option<&'static Target>,
    /// Whether files that are there already may be replaced.
    pub overwrite: bool,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Heights.
    Heightmap,
    /// What is to be known of a heightmap.
    Sidecar,
    /// Colours.
    Texture,
    /// The weights of terrain types.
    Weights,
    /// What the land is like.
    Map,
    /// Triangles, or what lies beside them.
    Mesh,
    /// The land on its way.
    Frame,
}

/// A file that an order will write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it goes.
    pub path: PathBuf,
    /// What it holds.
    pub kind: FileKind,
    /// Samples or pixels from west to east and from north to south; `None`: it has none.
    pub size: Option<[usize; 2]>,
}

/// A heightmap to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeightmapOrder {
    /// Where it goes; the ending chooses the format.
    pub path: PathBuf,
    /// What is chosen beside the format.
    pub encoding: Encoding,
}

impl HeightmapOrder {
    /// A heightmap in the usual form of its format.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), encoding: Encoding::default() }
    }

    /// The parts into which it is cut.
    fn pieces(&self, grid: Grid, tiles: Option<Tiles>) -> Result<Vec<TileRegion>, FileError> {
        let size = [grid.width(), grid.height()];
        Tiles::of_samples(tiles, size).map_err(|possible| impossible(&self.path, size, possible))
    }
}

fn impossible(path: &Path, size: [usize; 2], possible: String) -> FileError {
    FileError::Size { path: path.to_path_buf(), size: size.map(|side| side as u64), possible }
}

/// What came of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// The files written, sidecars included.
    pub files: Vec<PathBuf>,
    /// What the user should know of how they were made.
    pub notes: Vec<String>,
    /// What to do in the target's program: [`Order::import_steps`] with the heights of the land.
    pub steps: Vec<String>,
}

/// A texture to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureOrder {
    /// Where it goes; the ending chooses the format.
    pub path: PathBuf,
    /// Pixels from west to east and from north to south, of every patch where there are some.
    pub size: [usize; 2],
    /// Into how many files it goes; `None`: one, or as many as there are tiles.
    pub patches: Option<Patches>,
    /// What an alpha channel of a PNG says throughout; `None`: there is none.
    pub alpha: Option<u8>,
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
    /// The most patches along a side.
    pub const MAX_PER_SIDE: usize = 16;

    fn tiles(self) -> Tiles {
        Tiles { counts: [self.columns, self.rows], only: None, names: TileNaming::FromNorthWest }
    }
}

/// The files of a texture: the pixels of the whole, and the part of them that goes into each file.
type Pictures = ([usize; 2], Vec<(PathBuf, TileRegion)>);

impl TextureOrder {
    /// A texture in one file.
    pub fn new(path: impl Into<PathBuf>, size: [usize; 2]) -> Self {
        Self { path: path.into(), size, patches: None, alpha: None }
    }

    /// The files that are written: the patch in column 2 of row 0 of ground.png is ground_x2_y0.png.
    pub fn paths(&self, tiles: Option<Tiles>) -> Result<Vec<PathBuf>, FileError> {
        Ok(self.pictures(tiles)?.1.into_iter().map(|(path, _)| path).collect())
    }

    fn pictures(&self, tiles: Option<Tiles>) -> Result<Pictures, FileError> {
        let (tiles, whole) = match self.patches {
            Some(patches) => (Some(patches.tiles()), [patches.columns * self.size[0], patches.rows * self.size[1]]),
            None => (tiles, self.size),
        };
        let pieces = Tiles::of_pixels(tiles, whole).map_err(|possible| impossible(&self.path, whole, possible))?;
        let named = |piece: TileRegion| (Tiles::path(tiles, &self.path, piece.tile), piece);
        Ok((whole, pieces.into_iter().map(named).collect()))
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
    DecodedFiles::default().inputs(recipe, files, &Progress::new())
}

/// The share of the work that evaluating is, by rough measurement; painting and writing make up the rest.
const EVALUATING: f32 = 0.6;

/// How much more than a heightmap the others take, by rough measurement.
const SURROUNDINGS_UNITS: usize = 1;
const TEXTURE_UNITS: usize = 2;
const WEIGHTS_UNITS: usize = 4;
const MAP_UNITS: usize = 1;
const RIVERS_UNITS: usize = 1;
const MESH_UNITS: usize = 4;
const FRAME_UNITS: usize = 1;

/// Goes through the progress of what follows the evaluation, file by file.
struct Stretches {
    next: f32,
    per_unit: f32,
}

impl Stretches {
    /// All files: units are what writing a heightmap takes, by rough measurement.
    fn of(order: &Order) -> Self {
        let paths = |texture: &TextureOrder| texture.paths(order.tiles).map_or(0, |paths| paths.len());
        let textures = order.texture.as_ref().map_or(0, paths);
        let painted = if order.needs_painting() { SURROUNDINGS_UNITS } else { 0 };
        let weights = if order.weights.is_some() { WEIGHTS_UNITS } else { 0 };
        let mesh = if order.mesh.is_some() { MESH_UNITS } else { 0 };
        let maps = order.heightmaps.len() + order.maps.len() * MAP_UNITS;
        let frames = order.frames.as_ref().map_or(0, |frames| FRAME_UNITS * frames.positions(order).len());
        let rivers = if order.rivers.is_some() { RIVERS_UNITS } else { 0 };
        let units = maps + rivers + painted + TEXTURE_UNITS * textures + weights + mesh + frames;
        Self { next: EVALUATING, per_unit: (1.0 - EVALUATING) / units.max(1) as f32 }
    }

    /// Does work that takes so many units.
    fn stage<T>(&mut self, units: usize, progress: &Progress, work: impl FnOnce() -> T) -> T {
        let until = (self.next + self.per_unit * units as f32).min(1.0);
        let done = progress.stage(self.next..until, work);
        self.next = until;
        done
    }
}

/// Builds everything that is ordered.
///
/// What can be checked is checked before anything is computed. All files are completed on the disk before the first
/// of them gets its name: on an error or a cancellation none is left, but for files that have replaced older ones
/// before another one could not get its name.
pub fn build(order: &Order, progress: &Progress) -> Result<BuildReport, FileError> {
    let (staged, mut built) = stage(order, progress)?;
    progress.check()?;
    built.files = atomic::commit_all(staged)?;
    progress.report(1.0);
    Ok(built)
}

/// Builds everything that is ordered, whole on the disk but without its names yet, and what there is to know of it.
/// Whoever has other files beside names all of them together.
pub fn stage(order: &Order, progress: &Progress) -> Result<(Vec<StagedFile>, BuildReport), FileError> {
    check(order)?;
    let mut built = BuildReport::default();
    let staged = stage_all(order, &mut built, progress)?;
    Ok((staged, built))
}

impl Order {
    /// The only tile, where it can be computed by itself: nothing but heights is asked for, no step looks beyond a
    /// sample, and the range that whole numbers span does not follow from the whole land.
    fn lone_tile(&self) -> Option<TileRegion> {
        let only = self.tiles.is_some_and(|tiles| tiles.only.is_some());
        let span_known = self.range_m.or(self.recipe.world.height_range_m).is_some();
        let in_metres = |heightmap: &HeightmapOrder| {
            let format = Format::from_path(&heightmap.path).ok();
            format.is_some_and(|format| matches!(format.samples(heightmap.encoding), Samples::Metres { .. }))
        };
        let heights_alone =
            !self.needs_painting() && self.maps.is_empty() && self.rivers.is_none() && self.mesh.is_none();
        let known = span_known || self.heightmaps.iter().all(in_metres);
        let can = only && heights_alone && known && stack::is_pointwise(&self.recipe, self.grid);
        let pieces = self.heightmaps.first().filter(|_| can)?.pieces(self.grid, self.tiles).ok()?;
        pieces.into_iter().next()
    }
}

/// Bytes that threads work in, and that the allocator holds back, by measurement.
const WORKING_BYTES: u64 = 8 << 20;

/// Bytes that the order takes at its greatest, beside what the program takes by itself. What goes by the course of a
/// coast, and not by the size of the land alone, is counted as it usually is.
pub fn memory_needed(order: &Order) -> u64 {
    let grid = order.lone_tile().map_or(order.grid, |TileRegion { cut, .. }| order.grid.part(cut.first, cut.size));
    let terrain = 4 * grid.samples() as u64;
    let maps = |count: f64| (terrain as f64 * count).ceil() as u64;
    let evaluating = maps(stack::peak_maps(&order.recipe, grid));
    let heightmaps = order.heightmaps.iter().map(|heightmap| heightmap::bytes_written(&heightmap.path, order.grid));
    let [found, looking] = match order.needs_painting() {
        true => RequiredMaps::of(&order.recipe.texture, order.baked_light()).map_counts().map(maps),
        false => [0; 2],
    };
    let texture = order.texture.as_ref().map_or(0, |texture| {
        let TextureOrder { path, size, patches, .. } = texture;
        match patches {
            Some(Patches { mirror: true, .. }) => texture::bytes_turned_over(path, *size),
            Some(Patches { mirror: false, .. }) | None => {
                // Painted one after another, all of one size.
                let first = texture.pictures(order.tiles).ok().and_then(|(_, pictures)| pictures.into_iter().next());
                texture::bytes_painted(path, first.map_or(*size, |(_, piece)| piece.cut.size))
            }
        }
    });
    let weights = order.weights.as_ref().map_or(0, |weights| weights.bytes(&order.recipe.texture, order.grid));
    let charts = order.maps.iter().map(|map| map.bytes(maps(map.analysis_map.extra_maps())));
    // The lines themselves are few beside the maps that they are found on.
    let rivers = order.rivers.as_ref().map(|_| maps(Water::MAPS + 1.0));
    let beside_land = heightmaps.chain(charts).chain(rivers).max().unwrap_or(0);
    let mesh = order.mesh.as_ref().map_or(0, |mesh| mesh.bytes(order.grid));
    let frames = order.frames.as_ref().map_or(0, |frames| frames.bytes(&order.recipe, order.grid));
    let painted = found.saturating_add(texture.max(weights).max(mesh));
    let beside_land = beside_land.max(frames).max(looking).max(painted);
    let ready = if order.inputs.swatches.is_empty() { 0 } else { MAX_PREPARED_BYTES };
    let needed = evaluating.max(terrain.saturating_add(beside_land).saturating_add(ready));
    needed.saturating_add(order.inputs.bytes()).saturating_add(WORKING_BYTES)
}

impl Order {
    /// An order of the whole timeline of a recipe that writes nothing yet.
    pub fn new(name: impl Into<String>, recipe: Recipe, grid: Grid) -> Self {
        Self {
            name: name.into(),
            recipe,
            grid,
            position: None,
            inputs: Inputs::default(),
            heightmaps: Vec::new(),
            texture: None,
            weights: None,
            maps: Vec::new(),
            rivers: None,
            sea_m: None,
            mesh: None,
            frames: None,
            tiles: None,
            range_m: None,
            target: None,
            overwrite: false,
        }
    }

    /// Decodes from the files of the project what the order draws on. Pictures of ground are left out where no terrain
    /// type is painted or weighed: they take time and memory that nothing would come of.
    pub fn load_inputs(&mut self, files: &InputFiles, progress: &Progress) -> Result<(), FileError> {
        let mut drawn_on = self.recipe.clone();
        if !self.needs_painting() {
            drawn_on.texture.types.clear();
        }
        self.inputs = DecodedFiles::default().inputs(&drawn_on, files, progress)?;
        Ok(())
    }

    /// Whether terrain types are weighed.
    pub fn needs_painting(&self) -> bool {
        self.has_texture() || self.weights.is_some()
    }

    /// Whether colours are painted.
    fn has_texture(&self) -> bool {
        self.texture.is_some()
            || self.frames.is_some()
            || self.mesh.as_ref().is_some_and(|mesh| mesh.painted().is_some())
    }

    /// The light that comes into the texture, if one is ordered and light comes into it.
    fn baked_light(&self) -> Option<&Light> {
        Some(&self.recipe.light).filter(|light| light.bake && self.has_texture())
    }
}

impl Order {
    /// The files that will be written, before anything is computed; an error where one of them cannot be of that format
    /// or size.
    pub fn plan(&self) -> Result<Vec<PlannedFile>, FileError> {
        let tiles = self.tiles;
        let mut plan = Vec::new();
        let mut add =
            |path: PathBuf, kind: FileKind, size: Option<[usize; 2]>| plan.push(PlannedFile { path, kind, size });
        for heightmap in &self.heightmaps {
            // An ending that nobody knows is worse than a size.
            heightmap::format_of(&heightmap.path, heightmap.encoding.raw)?;
            for TileRegion { tile, cut } in heightmap.pieces(self.grid, tiles)? {
                let path = Tiles::path(tiles, &heightmap.path, tile);
                heightmap::check_size(&path, cut.size, heightmap.encoding.raw)?;
                add(path.clone(), FileKind::Heightmap, Some(cut.size));
                add(sidecar_path(&path), FileKind::Sidecar, None);
            }
        }
        if let Some(texture) = &self.texture {
            for (path, piece) in texture.pictures(tiles)?.1 {
                texture::check_size(&path, piece.cut.size)?;
                add(path, FileKind::Texture, Some(piece.cut.size));
            }
        }
        if let Some(weights) = &self.weights {
            let files = weights.check(&self.recipe.texture, self.grid, tiles)?;
            files.into_iter().for_each(|(path, size)| add(path, FileKind::Weights, Some(size)));
        }
        if let Some(mesh) = &self.mesh {
            mesh.check(self.grid)?.into_iter().for_each(|path| add(path, FileKind::Mesh, None));
        }
        if let Some(frames) = &self.frames {
            frames.check(self)?.into_iter().for_each(|path| add(path, FileKind::Frame, Some(frames.size)));
        }
        for map in &self.maps {
            map.check(tiles)?.into_iter().for_each(|(path, size)| add(path, FileKind::Map, Some(size)));
        }
        if let Some(rivers) = &self.rivers {
            rivers.check()?;
            add(rivers.path.clone(), FileKind::Map, None);
        }
        Ok(plan)
    }

    /// The heights that whole numbers span, where the land has these.
    fn span_m(&self, own_m: Band) -> Band {
        self.range_m.or(self.recipe.world.height_range_m).unwrap_or(own_m)
    }

    /// What to do in the target's program with a heightmap of that grid, whose range may be known about.
    fn steps(&self, path: &Path, grid: Grid, range_m: Band, is_about: bool) -> Vec<String> {
        let Some(target) = self.target else {
            return Vec::new();
        };
        let covering = self.recipe.texture.active().filter(|ground| ground.covers() && self.weights.is_some());
        let layers: Vec<String> = covering.map(|ground| ground.name.clone()).collect();
        let file = &path.file_name().unwrap_or_default().to_string_lossy();
        let tiles = self.tiles.map(|tiles| tiles.counts).filter(|counts| *counts != [1, 1]);
        let water_m = self.sea_m.map(f64::from);
        target.steps(&ImportFacts { file, grid, range_m, is_about, water_m, tiles, layers: &layers })
    }

    /// What to do in the target's program with the heightmaps of a land of these heights, metres; of each the first
    /// tile stands for all.
    pub fn import_steps(&self, own_m: Band) -> Vec<String> {
        self.steps_of_all(own_m, false)
    }

    /// The same where these are the heights of a preview; what follows from them is said to be about right.
    pub fn estimated_import_steps(&self, own_m: Band) -> Vec<String> {
        self.steps_of_all(own_m, true)
    }

    fn steps_of_all(&self, own_m: Band, is_about: bool) -> Vec<String> {
        let is_fixed = self.range_m.or(self.recipe.world.height_range_m).is_some();
        let mut all = Vec::new();
        for HeightmapOrder { path, encoding } in &self.heightmaps {
            let pieces = Tiles::of_samples(self.tiles, [self.grid.width(), self.grid.height()]);
            let (Ok(format), Some(TileRegion { tile, cut })) =
                (Format::from_path(path), pieces.ok().and_then(|pieces| pieces.into_iter().next()))
            else {
                continue;
            };
            let (range_m, is_about) = match format.samples(*encoding) {
                Samples::Metres { .. } => (own_m, is_about),
                Samples::Integers { .. } => (self.span_m(own_m), is_about && !is_fixed),
            };
            let steps = self.steps(&Tiles::path(self.tiles, path, tile), grid_of(self.grid, cut), range_m, is_about);
            steps.into_iter().for_each(|step| {
                if !all.contains(&step) {
                    all.push(step);
                }
            });
        }
        all
    }
}

fn check(order: &Order) -> Result<(), FileError> {
    check_paths(order.plan()?.into_iter().map(|planned| planned.path), order.overwrite)?;
    require_memory(memory_needed(order))
}

/// Whether files can be written to all these paths, and no two of them are one.
pub fn check_paths(paths: impl IntoIterator<Item = PathBuf>, overwrite: bool) -> Result<(), FileError> {
    let mut names = BTreeSet::new();
    for path in paths {
        atomic::check_writable(&path, overwrite)?;
        // One file has many spellings: a.png, ./a.png, b/../a.png.
        let folder = atomic::folder_of(&path).canonicalize().map_err(|error| FileError::writing(&path, &error))?;
        if !names.insert((folder, path.file_name().map(OsStr::to_os_string))) {
            return Err(FileError::DuplicatePath(path));
        }
    }
    Ok(())
}

fn stage_all(order: &Order, built: &mut BuildReport, progress: &Progress) -> Result<Vec<StagedFile>, FileError> {
    let BuildReport { notes, steps, .. } = built;
    let lone = order.lone_tile();
    let grid = lone.map_or(order.grid, |TileRegion { cut, .. }| order.grid.part(cut.first, cut.size));
    let evaluation = || stack::evaluate(&order.recipe, grid, order.position, &order.inputs, progress);
    let terrain = progress.stage(0.0..EVALUATING, evaluation)?;
    let fixed_m = order.recipe.world.height_range_m;
    let own_m = height_range_m(&terrain, None, progress)?;
    let mut staged = Vec::new();
    let mut stretches = Stretches::of(order);

    let span_m = order.span_m(own_m);
    *steps = order.import_steps(own_m);
    for heightmap in &order.heightmaps {
        let recipe = Some((order.recipe.seed, order.name.as_str()));
        let pieces = heightmap.pieces(order.grid, order.tiles)?;
        let share = |at: usize| at as f32 / pieces.len() as f32;
        stretches.stage(1, progress, || {
            for (at, TileRegion { tile, cut }) in pieces.iter().enumerate() {
                let path = &Tiles::path(order.tiles, &heightmap.path, *tile);
                let there = if lone.is_some() { Region::whole(cut.size) } else { *cut };
                let rows = Rows::of(&terrain, there, heightmap.encoding.row_order);
                let grid = grid_of(order.grid, *cut);
                let description = describe(path, heightmap.encoding, grid, rows, span_m)?;
                let steps = order.steps(path, description.grid, description.range_m, false);
                if description.cut_off {
                    notes.push(format!("{}: heights outside its range were cut off", path.display()));
                }
                let description = SidecarContents { recipe, steps: &steps, ..description };
                let writing = || stage_heightmap(rows, &description, order.overwrite, progress);
                staged.extend(progress.stage(share(at)..share(at + 1), writing)?);
            }
            Ok::<_, FileError>(())
        })?;
    }
    if let Some(Tiles { only: Some([column, row]), .. }) = order.tiles {
        notes.push(match lone {
            Some(_) => format!("tile {column},{row} alone was computed"),
            None => format!("the whole land was computed, and tile {column},{row} cut from it"),
        });
    }

    let recipe = &order.recipe.texture;
    let surface_maps = &match order.needs_painting() {
        true => {
            let looking = || SurfaceMaps::of(&terrain, RequiredMaps::of(recipe, order.baked_light()), progress);
            stretches.stage(SURROUNDINGS_UNITS, progress, looking)?
        }
        false => SurfaceMaps::default(),
    };
    let fixed_range_m = Some(fixed_m.unwrap_or(own_m));
    let input = PaintInput { terrain: &terrain, surface_maps, recipe, fixed_range_m, inputs: &order.inputs };
    if let Some(texture) = &order.texture {
        stage_texture(texture, input, order, &mut staged, &mut stretches, progress)?;
    }
    if let Some(weights) = &order.weights {
        let writing = || weights.stage(input, order.tiles, order.overwrite, progress);
        staged.extend(stretches.stage(WEIGHTS_UNITS, progress, writing)?);
    }
    if let Some(mesh) = &order.mesh {
        let strip = |whole: [usize; 2], rows: Range<usize>| {
            let part = PixelRegion { full_size: whole, origin: [0, rows.start], size: [whole[0], rows.len()] };
            paint(input, order.baked_light(), Points::PixelRegion(part), progress).map(|painted| painted.image)
        };
        let writing = || mesh.stage(&terrain, &strip, order.overwrite, progress);
        let (files, note) = stretches.stage(MESH_UNITS, progress, writing)?;
        staged.extend(files);
        notes.push(note);
    }
    if let Some(frames) = &order.frames {
        let units = FRAME_UNITS * frames.positions(order).len();
        staged.extend(stretches.stage(units, progress, || frames.stage(order, progress))?);
    }

    for map in &order.maps {
        let writing = || map.stage(&terrain, order.sea_m, order.tiles, order.overwrite, progress);
        staged.extend(stretches.stage(MAP_UNITS, progress, writing)?);
    }
    if let Some(rivers) = &order.rivers {
        let writing = || rivers.stage(&terrain, order.sea_m, order.overwrite, progress);
        staged.push(stretches.stage(RIVERS_UNITS, progress, writing)?);
    }
    Ok(staged)
}

/// A texture, or each of its patches, complete but without names. Patches are painted one after another, so that they
/// take no more memory than one of them.
fn stage_texture(
    texture: &TextureOrder,
    input: PaintInput,
    order: &Order,
    staged: &mut Vec<StagedFile>,
    stretches: &mut Stretches,
    progress: &Progress,
) -> Result<(), FileError> {
    let paint = |points: Points| paint(input, order.baked_light(), points, progress).map(|painted| painted.image);
    let (whole, pictures) = texture.pictures(order.tiles)?;
    if texture.patches.is_some_and(|patches| patches.mirror) {
        // The same picture for all of them, turned over where the column or the row is odd.
        let mut picture = None;
        for (path, piece) in &pictures {
            let [column, row] = piece.tile.unwrap_or_default();
            staged.push(stretches.stage(TEXTURE_UNITS, progress, || {
                let painted = match picture.take() {
                    Some(painted) => painted,
                    None => progress.stage(0.0..0.5, || paint(Points::Pixels(texture.size)))?,
                };
                let turned = painted.flipped([column % 2 == 1, row % 2 == 1], progress)?;
                picture = Some(painted);
                progress.stage(0.5..1.0, || {
                    atomic::stage(path, order.overwrite, |writer| texture::write(writer, path, &turned, progress))
                })
            })?);
        }
        return Ok(());
    }
    for (path, TileRegion { cut: Region { first: [west, north], size }, .. }) in &pictures {
        let rows = |rows: Range<usize>| {
            paint(Points::PixelRegion(PixelRegion {
                full_size: whole,
                origin: [*west, north + rows.start],
                size: [size[0], rows.len()],
            }))
        };
        let staging = || {
            atomic::stage(path, order.overwrite, |writer| {
                texture::paint_and_write(writer, path, *size, texture.alpha, rows, progress)
            })
        };
        staged.push(stretches.stage(TEXTURE_UNITS, progress, staging)?);
    }
    Ok(())
}

/// What is said of a heightmap of these rows of a land. Metres are written as they are; integers span `span_m`, and
/// what lies outside is cut off.
fn describe<'a>(
    path: &'a Path,
    encoding: Encoding,
    grid: Grid,
    rows: Rows,
    span_m: Band,
) -> Result<SidecarContents<'a>, FileError> {
    let own_m = rows.range_m();
    let range_m = match Format::from_path(path)?.samples(encoding) {
        Samples::Metres { .. } => own_m,
        Samples::Integers { .. } => span_m,
    };
    let cut_off = own_m.min < range_m.min || own_m.max > range_m.max;
    Ok(SidecarContents { path, encoding, grid, range_m, cut_off, recipe: None, steps: &[] })
}

/// A heightmap and its sidecar, complete but without their names.
fn stage_heightmap(
    rows: Rows,
    description: &SidecarContents,
    overwrite: bool,
    progress: &Progress,
) -> Result<[StagedFile; 2], FileError> {
    let SidecarContents { path, encoding, range_m, .. } = *description;
    let map =
        atomic::stage(path, overwrite, |writer| heightmap::write(writer, path, rows, range_m, encoding, progress))?;
    let sidecar = atomic::stage(&sidecar_path(path), overwrite, |writer| description.write(writer))?;
    Ok([map, sidecar])
}

/// Writes one heightmap with its sidecar, integers spanning `range_m`: what converting from format to format needs.
pub fn write_heightmap(
    terrain: &Heightfield,
    order: &HeightmapOrder,
    range_m: Band,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<PathBuf>, FileError> {
    let HeightmapOrder { path, encoding } = order;
    let grid = terrain.grid();
    heightmap::check_size(path, [grid.width(), grid.height()], encoding.raw)?;
    atomic::check_writable(path, overwrite)?;
    atomic::check_writable(&sidecar_path(path), overwrite)?;
    let rows = Rows::of(terrain, Region::whole([grid.width(), grid.height()]), encoding.row_order);
    let description = describe(path, *encoding, grid, rows, range_m)?;
    let staged = stage_heightmap(rows, &description, overwrite, progress)?;
    progress.check()?;
    atomic::commit_all(staged.into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::parameters::{FileName, TextureName};
    use crate::engine::texture::AnalysisMap;
    use crate::files::maps::{BitDepth, WeightsLayout};

    fn order(folder: &Path) -> Order {
        let stack = vec![Step::new(Faults { count: 30, ..Default::default() })];
        let recipe = Recipe { stack, ..Default::default() };
        let path = |name: &str| folder.join(name);
        let grid = Grid::fitted(recipe.world.extent(), 33);
        Order {
            heightmaps: ["h.png", "h.r32"].map(|name| HeightmapOrder::new(path(name))).into(),
            texture: Some(TextureOrder::new(path("t.png"), [16, 16])),
            ..Order::new("Test", recipe, grid)
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
        let progress = Progress::new();
        let built = build(&order, &progress).expect("built");
        assert_eq!((built.files.len(), built.notes.len()), (5, 0));
        assert_eq!(names(folder.path()), ["h.png", "h.png.json", "h.r32", "h.r32.json", "t.png"]);
        assert!((progress.fraction() - 1.0).abs() < 1e-6, "{}", progress.fraction());

        let terrain =
            stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &progress).expect("not cancelled");
        let metres = |name: &str| heightmap::read(&folder.path().join(name), None).expect("readable").into_metres(None);
        assert_eq!(metres("h.r32"), terrain.heights());
        let [low, high] = terrain.min_max();
        let half_step = (high - low) / 65_535.0 * 0.501;
        assert!(metres("h.png").iter().zip(terrain.heights()).all(|(a, b)| (a - b).abs() <= half_step));
    }

    #[test]
    fn a_picture_in_strips_is_the_picture_painted_as_a_whole() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        // Three strips and a part of one.
        let size = [900, 10_000];
        order.heightmaps.clear();
        order.texture = Some(TextureOrder::new(folder.path().join("t.png"), size));
        let progress = Progress::new();
        build(&order, &progress).expect("built");
        let terrain =
            stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &progress).expect("not cancelled");
        let (surface_maps, recipe, inputs) = (&SurfaceMaps::default(), &order.recipe.texture, &order.inputs);
        let input = PaintInput { terrain: &terrain, surface_maps, recipe, fixed_range_m: None, inputs };
        let whole = paint(input, None, Points::Pixels(size), &progress).expect("not cancelled").image;
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
        let texture = |name: &str| Some(TextureOrder::new(folder.path().join(name), [4096; 2]));
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
        order.recipe.texture.types[0].texture = Some(TextureName(ground.into()));
        let broken: InputFiles = [(FileName(ground.into()), Arc::default())].into();
        let load = |order: &mut Order| order.load_inputs(&broken, &Progress::new());
        assert!(load(&mut order).is_err(), "painted");
        order.texture = None;
        assert_eq!(load(&mut order), Ok(()), "neither");
        assert!(order.inputs.swatches.is_empty());
        order.weights = Some(WeightsOrder {
            folder: folder.path().into(),
            points: Points::Samples,
            depth: BitDepth::Eight,
            layout: WeightsLayout::MapsAndPacks,
        });
        assert!(load(&mut order).is_err(), "weighed");
    }

    #[test]
    fn a_cancelled_build_leaves_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        let progress = Progress::new();
        progress.cancel();
        assert_eq!(build(&order(folder.path()), &progress), Err(FileError::Cancelled));
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn nothing_is_computed_for_what_cannot_be_written() {
        let folder = tempfile::tempdir().expect("folder");
        let check = |change: &dyn Fn(&mut Order), message: &str| {
            let mut order = order(folder.path());
            change(&mut order);
            // Cancelled beforehand: whoever gets as far as computing says so.
            let progress = Progress::new();
            progress.cancel();
            let error = build(&order, &progress).expect_err("must be refused").to_string();
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
        check(&to("h.hgt"), "no format with this ending");
        check(&to("h.png"), "two of the files");
        check(&to("./h.png"), "two of the files");
        std::fs::create_dir(folder.path().join("sub")).expect("made");
        check(&to("sub/../h.png"), "two of the files");
        std::fs::remove_dir(folder.path().join("sub")).expect("removed");
        check(&to("old.png"), "there already");
        check(&to("none/h.png"), "there is no folder");
        let texture = |name: &str, size| TextureOrder::new(folder.path().join(name), size);
        check(&|order| order.texture = Some(texture("t.r16", [8, 8])), ".jpg");
        check(&|order| order.texture = Some(texture("t.png", [0, 8])), "0 × 8");
        let map = |name: &str| MapOrder {
            path: folder.path().join(name),
            analysis_map: AnalysisMap::Slope,
            size: [8, 8],
            depth: BitDepth::Eight,
        };
        check(&|order| order.maps = vec![map("m.jpg")], "known are .png");
        check(&|order| order.maps = vec![map("m.png"), map("m.png")], "two of the files");
        check(&|order| order.maps = vec![map("old.png")], "there already");
        let weights = |name: &str| {
            let folder = folder.path().join(name);
            Some(WeightsOrder {
                folder,
                points: Points::Samples,
                depth: BitDepth::Eight,
                layout: WeightsLayout::MapsAndPacks,
            })
        };
        check(&|order| order.weights = weights("none"), "there is no folder");
        let no_types = |order: &mut Order| {
            order.weights = weights("");
            order.recipe.texture.types.clear();
        };
        check(&no_types, "no terrain type takes part");
        check(&|order| order.heightmaps[1].encoding.raw = "f32be,9x9".parse().ok(), "33 × 33");
        check(&to("old.png/h.png"), "there is no folder");
    }

    #[test]
    fn a_fixed_range_is_kept_and_what_is_cut_off_is_said() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        order.recipe.world.height_range_m = Some(Band { min: 0.0, max: 1.0 });
        build(&order, &Progress::new()).expect("built");
        let text = std::fs::read_to_string(folder.path().join("h.png.json")).expect("there");
        assert!(text.contains("\"max_m\": 1.0") && text.contains("cut off"), "{text}");
    }

    #[test]
    fn integers_span_the_range_that_is_ordered_and_floats_do_not() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        (order.texture, order.range_m) = (None, Some(Band { min: -5000.0, max: 5000.0 }));
        build(&order, &Progress::new()).expect("built");
        let read = |name: &str| heightmap::read(&folder.path().join(name), None).expect("readable");
        assert_eq!(read("h.png").range_m(), Some(Band { min: -5000.0, max: 5000.0 }));
        let sidecar = read("h.r32").sidecar.expect("there");
        assert!(sidecar.range_m.min > -5000.0 && sidecar.range_m.max < 5000.0, "{sidecar:?}");
        let [png, floats] = ["h.png", "h.r32"].map(|name| read(name).into_metres(None));
        assert!(png.iter().zip(&floats).all(|(a, b)| (a - b).abs() <= 10_000.0 / 65_535.0 * 0.501));
    }

    #[test]
    fn tiles_are_cuts_of_the_whole_with_one_range_and_shared_edges() {
        let folder = tempfile::tempdir().expect("folder");
        let mut order = order(folder.path());
        order.heightmaps[0].encoding.row_order = heightmap::RowOrder::SouthFirst;
        let whole = stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &Progress::new()).expect("land");
        order.texture = None;
        order.tiles = Some(Tiles { counts: [2, 4], only: None, names: TileNaming::FromNorthWest });
        let built = build(&order, &Progress::new()).expect("built");
        assert_eq!(built.files.len(), 2 * 2 * 8);
        let read = |name: &str| heightmap::read(&folder.path().join(name), None).expect(name);
        let range_m = Some(Band { min: f64::from(whole.min_max()[0]), max: f64::from(whole.min_max()[1]) });
        for [column, row] in (0..4).flat_map(|row| [[0, row], [1, row]]) {
            let floats = read(&format!("h_x{column}_y{row}.r32"));
            assert_eq!((floats.raster.width, floats.raster.height), (17, 9));
            let whole = |c: usize, r: usize| whole[(16 * column + c, 8 * row + r)];
            let mut samples = floats.raster.samples.iter().enumerate();
            assert!(samples.all(|(at, height)| *height == whole(at % 17, at / 17)));
            let name = format!("h_x{column}_y{row}.png");
            let metres = read(&name);
            assert_eq!(metres.range_m(), range_m, "one for all of them");
            assert_eq!(metres.sidecar.map(|sidecar| sidecar.spacing_m), Some([128.0, 128.0]));
            let bytes = std::fs::read(folder.path().join(&name)).expect("there");
            // Whoever does not know of the sidecar finds the southern row first.
            let flipped = heightmap::decode(Path::new(&name), &bytes, None).expect("readable").into_metres(range_m);
            let metres = metres.into_metres(None);
            let step = (range_m.map_or(0.0, |range| range.max - range.min) / 65_535.0) as f32;
            for at in 0..17 * 9 {
                assert!((metres[at] - whole(at % 17, at / 17)).abs() <= 0.501 * step);
                assert!((flipped[at] - whole(at % 17, 8 - at / 17)).abs() <= 0.501 * step);
            }
        }
        let all = |name: &str| std::fs::read(folder.path().join(name)).expect("there");
        let files = ["h_x1_y2.png", "h_x1_y2.png.json", "h_x1_y2.r32", "h_x1_y2.r32.json"];
        let before = files.map(all);
        order.tiles = order.tiles.map(|tiles| Tiles { only: Some([1, 2]), ..tiles });
        order.overwrite = true;
        let alone = build(&order, &Progress::new()).expect("built");
        assert_eq!(alone.files.len(), 4);
        assert!(alone.notes[0].starts_with("the whole land was computed"), "its range is wanted");
        assert_eq!(files.map(all), before);
        let metres = |order: &mut Order| drop(order.heightmaps.remove(0));
        metres(&mut order);
        let computed = build(&order, &Progress::new()).expect("built");
        assert_eq!(computed.notes, ["tile 1,2 alone was computed"]);
        assert_eq!(files.map(all)[2..], before[2..]);
        order.tiles = order.tiles.map(|tiles| Tiles { counts: [3, 1], only: None, ..tiles });
        let refused = build(&order, &Progress::new()).expect_err("32 is no multiple of 3").to_string();
        assert!(refused.contains("the nearest is 30 or 33"), "{refused}");
    }

    #[test]
    fn textures_follow_the_proportions() {
        assert_eq!(texture_size(Extent { width_m: 3000.0, depth_m: 1000.0 }, 300), [300, 100]);
        assert_eq!(texture_size(Extent { width_m: 1.0, depth_m: 1e6 }, 300), [1, 300]);
    }
}
