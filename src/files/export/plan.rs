//! The plan of an export: an order, and every file that it writes. Made once, before anything is computed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::order::Order;
use super::overview::OverviewOrder;
use super::part::part_of_tile;
use super::tiles::{PlannedMaps, TileFile};
use super::{frames, georeference, heightmap, maps, mesh, rivers, scatter, texture, weights};
use crate::engine::heightfield::GridPart;
use crate::engine::parameters::Band;
use crate::engine::{Grid, Progress};
use crate::files::formats::sidecar::sidecar_path;
use crate::files::import::InputFiles;
use crate::files::io::atomic;
use crate::files::io::error::FileError;
use crate::files::io::folders::folder_of;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Heights.
    Heightmap,
    /// The properties of a heightmap.
    Sidecar,
    /// Colours.
    Texture,
    /// Weights of terrain types.
    Weights,
    /// An analysis map, or rivers.
    Map,
    /// Scattered instances, or a map of their density.
    Scatter,
    /// A mesh, or its material or texture.
    Mesh,
    /// The place of a map on Earth.
    Georeference,
    /// A frame of the uplift, or the animation.
    Frame,
    /// The description of the export for programs.
    Manifest,
    /// A script that imports the export, or its README.
    Helper,
}

/// A file that an order will write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// The path.
    pub path: PathBuf,
    /// The kind of the file.
    pub kind: FileKind,
    /// Samples or pixels from west to east and from north to south; `None` for files without either.
    pub size: Option<[usize; 2]>,
    /// The maximum length: the uncompressed samples or pixels. `None` if it is unknown.
    pub max_bytes: Option<u64>,
}

impl PlannedFile {
    /// A file of `size` with this many bytes per sample or pixel.
    fn uncompressed(file: &TileFile, kind: FileKind, each: Option<u64>) -> Self {
        let size = file.region.size;
        let [width, height] = size.map(|side| side as u64);
        let max_bytes = each.map(|each| width * height * each + height * each + OVERHEAD_BYTES);
        Self { path: file.path.clone(), kind, size: Some(size), max_bytes }
    }

    /// Several of these.
    fn all(files: &[TileFile], kind: FileKind, each: Option<u64>) -> impl Iterator<Item = Self> + '_ {
        files.iter().map(move |file| Self::uncompressed(file, kind, each))
    }
}

/// The length of headers, of the overhead of data that does not compress, and of a sidecar.
const OVERHEAD_BYTES: u64 = 4096;

/// The maximum length of an entry of a manifest.
const ENTRY_BYTES: u64 = 1024;

/// An order and the files that it writes, each of which can have its format and size.
#[derive(Clone, Debug)]
pub struct Plan {
    order: Order,
    files: Vec<PlannedFile>,
    /// The files of each heightmap, without sidecars.
    pub(super) heightmaps: Vec<Vec<TileFile>>,
    pub(super) texture: Vec<TileFile>,
    /// The files of each map of weights.
    pub(super) weights: Vec<Vec<TileFile>>,
    /// The files of each analysis map.
    pub(super) maps: Vec<Vec<TileFile>>,
    /// The files of each density map.
    pub(super) densities: Vec<Vec<TileFile>>,
    /// The files beside maps with their place on Earth, and their contents.
    pub(super) georeference: BTreeMap<PathBuf, String>,
    /// The iterations of the frames.
    pub(super) frame_positions: Vec<u32>,
    /// The samples that are evaluated for the only tile; `None`: all.
    pub(super) part: Option<Result<GridPart, &'static str>>,
    /// The overview from which maps that depend on distant terrain follow, if it is needed.
    pub(super) overview: Option<OverviewOrder>,
    /// The range of the complete terrain, if a single tile is written and the cache has it.
    pub(super) cached_range_m: Option<Band>,
}

impl Plan {
    /// Plans an order; an error if a file cannot have its format or size, or if the recipe does not fit the grid.
    pub fn new(order: Order) -> Result<Self, FileError> {
        order.recipe.check(order.grid).map_err(|error| FileError::Recipe(error.to_string()))?;
        let mut files = Vec::new();
        let file = |path: PathBuf, kind, size, max_bytes| PlannedFile { path, kind, size, max_bytes };
        let (grid, tiles) = (order.grid, order.tiles);
        let mut heightmaps = Vec::new();
        for heightmap in &order.heightmaps {
            let planned = heightmap::plan(heightmap, grid, tiles)?;
            let each = heightmap::sample_bytes(heightmap);
            for tile in &planned {
                files.push(PlannedFile::uncompressed(tile, FileKind::Heightmap, each));
                files.push(file(sidecar_path(&tile.path), FileKind::Sidecar, None, Some(OVERHEAD_BYTES)));
            }
            heightmaps.push(planned);
        }
        let texture = order.texture.as_ref().map_or(Ok(Vec::new()), |texture| texture::plan(texture, tiles))?;
        let each = 3 + u64::from(order.texture.as_ref().is_some_and(|texture| texture.alpha.is_some()));
        files.extend(PlannedFile::all(&texture, FileKind::Texture, Some(each)));
        let weights = match &order.weights {
            Some(weights) => weights::plan(weights, &order.recipe.texture, grid, tiles)?,
            None => Vec::new(),
        };
        if let Some(order_of_weights) = &order.weights {
            let each = weights::pixel_bytes(order_of_weights, &order.recipe.texture, weights.len());
            for (tiles, each) in weights.iter().zip(each) {
                files.extend(PlannedFile::all(tiles, FileKind::Weights, Some(each)));
            }
        }
        if let Some(mesh) = &order.mesh {
            let planned = mesh::plan(mesh, grid)?.into_iter();
            files.extend(planned.map(|(path, max_bytes)| file(path, FileKind::Mesh, None, max_bytes)));
        }
        let frame_positions = order.frames.as_ref().map_or(Vec::new(), |frames| frames::positions(frames, &order));
        if let Some(frames) = &order.frames {
            let paths = frames::plan(frames, frame_positions.len())?;
            files.extend(paths.into_iter().map(|path| file(path, FileKind::Frame, Some(frames.size), None)));
        }
        let maps = order.maps.iter().map(|map| maps::plan(map, tiles)).collect::<Result<Vec<_>, _>>()?;
        for (map, tiles) in order.maps.iter().zip(&maps) {
            files.extend(PlannedFile::all(tiles, FileKind::Map, Some(maps::pixel_bytes(map))));
        }
        if let Some(rivers) = &order.rivers {
            rivers::check(rivers)?;
            files.push(file(rivers.path.clone(), FileKind::Map, None, None));
        }
        let mut densities = Vec::new();
        if let Some(scatter) = &order.scatter {
            densities = scatter::plan(scatter, &order.recipe, tiles)?;
            let max_bytes = Some(scatter::max_bytes(&order.recipe));
            files.extend(scatter.files.iter().map(|path| file(path.clone(), FileKind::Scatter, None, max_bytes)));
            files.extend(densities.iter().flat_map(|tiles| PlannedFile::all(tiles, FileKind::Scatter, Some(1))));
        }
        let planned = PlannedMaps { heightmaps: &heightmaps, texture: &texture, weights: &weights, maps: &maps };
        let georeference = georeference::plan(&order, &planned);
        let of_length =
            |path: PathBuf, kind: FileKind, contents: &str| file(path, kind, None, Some(contents.len() as u64));
        files.extend(georeference.iter().map(|(path, text)| of_length(path.clone(), FileKind::Georeference, text)));
        if let Some(manifest) = &order.manifest {
            files.extend(order.helper_files().map(|(path, contents)| of_length(path, FileKind::Helper, contents)));
            let listed = files.len() + order.recipe.texture.active().count();
            let max_bytes = OVERHEAD_BYTES * 2 + ENTRY_BYTES * listed as u64;
            files.push(file(manifest.path.clone(), FileKind::Manifest, None, Some(max_bytes)));
        }
        let is_single = order.tiles.is_some_and(|tiles| tiles.only.is_some());
        let cached_range_m = if is_single { order.cached_range_m() } else { None };
        let part = is_single.then(|| part_of_tile(&order, &planned, cached_range_m));
        Ok(Self {
            overview: OverviewOrder::of(&order),
            order,
            files,
            heightmaps,
            texture,
            weights,
            maps,
            densities,
            georeference,
            frame_positions,
            part,
            cached_range_m,
        })
    }

    /// The order.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// The files that will be written.
    pub fn files(&self) -> &[PlannedFile] {
        &self.files
    }

    /// The maximum total length of all files whose length is known.
    pub fn max_bytes(&self) -> u64 {
        self.files.iter().filter_map(|file| file.max_bytes).sum()
    }

    /// The paths of the files that will be written.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|file| file.path.as_path())
    }

    /// The folders of the import helper, which need not exist.
    pub fn helper_folders(&self) -> impl Iterator<Item = &Path> {
        let files = self.files.iter().filter(|file| file.kind == FileKind::Helper);
        files.map(|file| folder_of(&file.path))
    }

    /// Makes this the repetition of an export that wrote these files: it replaces them, but no others, and leaves those
    /// alone that would not change.
    pub fn repeat(&mut self, written: BTreeSet<PathBuf>) {
        self.order.overwrite = true;
        self.order.replaceable = Some(written);
        self.order.keeps_unchanged = true;
    }

    /// The fraction of the time after which new files are compared with those that they replace; 1 if they are not.
    pub fn comparing_starts_at(&self) -> f32 {
        if self.order.keeps_unchanged { 0.98 } else { 1.0 }
    }

    /// Checks that every file can be written, and that none is replaced that may not be.
    pub(super) fn check_paths(&self) -> Result<(), FileError> {
        self.order.check_replaceable(self.paths())?;
        check_paths(self.paths(), self.order.overwrite)
    }

    /// Sets whether existing files may be replaced.
    pub fn set_overwrite(&mut self, overwrite: bool) {
        self.order.overwrite = overwrite;
    }

    /// Decodes the input files that the order needs.
    pub fn load_inputs(&mut self, files: &InputFiles, progress: &Progress) -> Result<(), FileError> {
        self.order.load_inputs(files, progress)
    }

    /// The grid that is evaluated: that of the order, or the part that the only tile needs.
    pub(super) fn evaluated_grid(&self) -> Grid {
        let grid = self.order.grid;
        match self.part {
            Some(Ok(GridPart { first, size })) => grid.part(first, size),
            _ => grid,
        }
    }
}

/// Checks that files can be written to all these paths, and that no two of them are the same file.
pub fn check_paths<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, overwrite: bool) -> Result<(), FileError> {
    let mut names = BTreeSet::new();
    for path in paths {
        let path = path.as_ref();
        atomic::check_writable(path, overwrite)?;
        // One file can be spelled in several ways: a.png, ./a.png, b/../a.png.
        let folder = folder_of(path).canonicalize().map_err(|error| FileError::writing(path, &error))?;
        if !names.insert((folder, path.file_name().map(OsStr::to_os_string))) {
            return Err(FileError::DuplicatePath(path.to_path_buf()));
        }
    }
    Ok(())
}
