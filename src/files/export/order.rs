//! The order of an export: what to build and where to write it. Plain data; the plan and the files are derived from it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::import_guide::ImportGuide;
use super::tiles::Tiles;
use crate::engine::hash::Hash;
use crate::engine::heightfield::Extent;
use crate::engine::level::Marker;
use crate::engine::light::Light;
use crate::engine::parameters::Band;
use crate::engine::reach::Reach;
use crate::engine::result_cache::{ResultCache, ResultKey};
use crate::engine::stack::overview::{has_no_lakes, has_rock_in_parts, overview_grid};
use crate::engine::texture::{AnalysisMap, Points, RequiredMaps, TerrainType};
use crate::engine::{Grid, Inputs, Origin, Progress, Recipe};
use crate::files::formats::heightmap::Encoding;
use crate::files::formats::mesh::{MeshDetail, MeshFormat};
use crate::files::formats::png::BitDepth;
use crate::files::formats::scatter::ScatterAxes;
use crate::files::import::{DecodedFiles, InputFiles};
use crate::files::io::error::FileError;
use crate::files::io::folders::folder_of;

/// What to build, and where to write it.
#[derive(Clone, Debug)]
pub struct Order {
    /// The name of the recipe, for sidecars.
    pub name: String,
    /// The terrain and its texture.
    pub recipe: Recipe,
    /// The grid of the heightmaps, and of the heights that the texture is painted on.
    pub grid: Grid,
    /// The number of iterations of the timeline; `None`: all.
    pub position: Option<u32>,
    /// The decoded input files of the recipe that the order needs; see [`Self::load_inputs`].
    pub inputs: Inputs,
    /// The cache that later builds can share, if there is one.
    pub cache: Option<Arc<dyn ResultCache>>,
    /// The heightmaps to write, each with a sidecar.
    pub heightmaps: Vec<HeightmapOrder>,
    /// The texture to write.
    pub texture: Option<TextureOrder>,
    /// The weights of the terrain types to write.
    pub weights: Option<WeightsOrder>,
    /// The analysis maps to write.
    pub maps: Vec<MapOrder>,
    /// The rivers to write as lines.
    pub rivers: Option<RiversOrder>,
    /// The scattered instances to write.
    pub scatter: Option<ScatterOrder>,
    /// The sea level, at which rivers end; the import steps mention it.
    pub sea_m: Option<f32>,
    /// The places of the level, which the manifest lists.
    pub markers: Vec<Marker>,
    /// Where the world lies on Earth; maps contain it, or have it beside them.
    pub origin: Option<Origin>,
    /// The mesh to write.
    pub mesh: Option<MeshOrder>,
    /// The frames of the uplift to write.
    pub frames: Option<FramesOrder>,
    /// The tiles that all maps are split into; `None`: each is one file. Meshes and frames are never split.
    pub tiles: Option<Tiles>,
    /// The heights that the integers of heightmaps span; `None`: the fixed range of the world, or else the range of the
    /// terrain. Painting always uses the world's range.
    pub range_m: Option<Band>,
    /// The target program; sidecars contain its import steps.
    pub target: Option<&'static dyn ImportGuide>,
    /// The manifest to write, with the import helper of the target beside it.
    pub manifest: Option<ManifestOrder>,
    /// Whether existing files may be replaced.
    pub overwrite: bool,
    /// The files that may be replaced if it is a repeated export; `None`: any, as far as `overwrite` allows it.
    pub replaceable: Option<BTreeSet<PathBuf>>,
    /// Whether files that would not change are left alone, so that programs that watch them do not load them again.
    pub keeps_unchanged: bool,
}

/// A manifest to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestOrder {
    /// The path.
    pub path: PathBuf,
    /// The outputs of the target, which it lists if they are ordered: the paths of maps, as in the order, and the folder of
    /// weights. All are in the folder of the manifest.
    pub outputs: BTreeSet<PathBuf>,
}

/// A heightmap to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeightmapOrder {
    /// The path; its extension selects the format.
    pub path: PathBuf,
    /// The options of the format.
    pub encoding: Encoding,
}

impl HeightmapOrder {
    /// A heightmap in the usual form of its format.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), encoding: Encoding::default() }
    }
}

/// A texture to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureOrder {
    /// The path; its extension selects the format.
    pub path: PathBuf,
    /// Pixels from west to east and from north to south, of each patch if there are patches.
    pub size: [usize; 2],
    /// The files that the texture is split into; `None`: one file, or one per tile.
    pub patches: Option<Patches>,
    /// The constant value of the alpha channel of a PNG; `None`: no alpha channel.
    pub alpha: Option<u8>,
}

impl TextureOrder {
    /// A texture in one file.
    pub fn new(path: impl Into<PathBuf>, size: [usize; 2]) -> Self {
        Self { path: path.into(), size, patches: None, alpha: None }
    }
}

/// A texture in columns and rows of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patches {
    /// Patches from west to east.
    pub columns: usize,
    /// Patches from north to south.
    pub rows: usize,
    /// Whether every patch shows the entire terrain, mirrored in odd columns and rows so that borders match and the
    /// pattern can be repeated. Otherwise the patches are the parts of one large image.
    pub mirror: bool,
}

impl Patches {
    /// The maximum number of patches along a side.
    pub const MAX_PER_SIDE: usize = 16;

    pub(super) fn tiles(self) -> Tiles {
        Tiles::new([self.columns, self.rows])
    }
}

/// The weights of the terrain types to write: a map for each active type, and packs of four maps with 8 bits per
/// channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsOrder {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The points at which the weights are computed.
    pub points: Points,
    /// Bits per channel of the maps of single types.
    pub depth: BitDepth,
    /// The files that the weights are written to.
    pub layout: WeightsLayout,
    /// The end of the names of the maps of single types, before the extension.
    pub suffix: &'static str,
    /// The number of covering types that the program distinguishes; the packs add the weights of the others to the types
    /// with the nearest colours.
    pub max_types: Option<usize>,
}

/// The files that weights are written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightsLayout {
    /// A map for each active type, and packs of four covering types.
    #[default]
    MapsAndPacks,
    /// A map for each covering type.
    Maps,
    /// Packs of four covering types.
    Packs,
    /// The numbers of the two strongest types and their blend, in the bits of Terrain3D's control map. Only at samples.
    Control,
    /// The strongest type, as the colour of a Roblox material.
    Materials,
}

impl WeightsLayout {
    /// The maps in a pack: red, green, blue, alpha.
    pub(super) const PER_PACK: usize = 4;

    /// The names of the files, for lists.
    pub fn file_names(self) -> &'static str {
        match self {
            Self::MapsAndPacks => "weight_NN_NAME.png, weights_RGBA_N.png",
            Self::Maps => "weight_NN_NAME.png",
            Self::Packs => "weights_RGBA_N.png",
            Self::Control => "control.exr",
            Self::Materials => "materials.png",
        }
    }

    /// Whether the type has its own map.
    pub(super) fn has_map(self, terrain_type: &TerrainType) -> bool {
        match self {
            Self::MapsAndPacks => true,
            Self::Maps => terrain_type.covers(),
            Self::Packs | Self::Control | Self::Materials => false,
        }
    }

    pub(super) fn has_packs(self) -> bool {
        matches!(self, Self::MapsAndPacks | Self::Packs)
    }
}

/// An analysis map to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapOrder {
    /// The path; its extension is .png.
    pub path: PathBuf,
    /// The map.
    pub analysis_map: AnalysisMap,
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
    /// Bits per channel.
    pub depth: BitDepth,
}

/// The rivers to write.
#[derive(Clone, Debug, PartialEq)]
pub struct RiversOrder {
    /// The path; its extension is .json.
    pub path: PathBuf,
    /// The lowest catchment area of a river, m²; `None`: a thousandth of the world.
    pub min_area_m2: Option<f64>,
}

/// The scattered instances to write, of all enabled layers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScatterOrder {
    /// The paths; their extensions select the formats.
    pub files: Vec<PathBuf>,
    /// The axes of tables.
    pub axes: ScatterAxes,
    /// The folder of the density maps, if they are written.
    pub densities: Option<PathBuf>,
    /// Pixels of the density maps, from west to east and from north to south.
    pub size: [usize; 2],
}

/// A mesh to write.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshOrder {
    /// The path; its extension selects the format.
    pub path: PathBuf,
    /// The level of detail.
    pub detail: MeshDetail,
    /// Pixels of the mesh's texture, from west to east and from north to south; `None`: no texture. STL never has one.
    pub texture: Option<[usize; 2]>,
}

impl MeshOrder {
    /// The size of the texture to paint, if there is one.
    pub(super) fn painted_size(&self) -> Option<[usize; 2]> {
        self.texture.filter(|_| MeshFormat::from_path(&self.path) != Ok(MeshFormat::Stl))
    }
}

/// The frames of an uplift to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramesOrder {
    /// The folder of the PNG frames, frame_00000.png and so on.
    pub folder: Option<PathBuf>,
    /// The animation; its extension is .gif.
    pub animation: Option<PathBuf>,
    /// Iterations from one frame to the next, at least 1.
    pub every: u32,
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
}

impl Order {
    /// Creates an order for the complete timeline of a recipe, without any outputs yet.
    pub fn new(name: impl Into<String>, recipe: Recipe, grid: Grid) -> Self {
        Self {
            name: name.into(),
            recipe,
            grid,
            markers: Vec::new(),
            position: None,
            inputs: Inputs::default(),
            cache: None,
            heightmaps: Vec::new(),
            texture: None,
            weights: None,
            maps: Vec::new(),
            rivers: None,
            scatter: None,
            sea_m: None,
            origin: None,
            mesh: None,
            frames: None,
            tiles: None,
            range_m: None,
            target: None,
            manifest: None,
            overwrite: false,
            replaceable: None,
            keeps_unchanged: false,
        }
    }

    /// Decodes the input files that the order needs. Textures of materials are skipped unless terrain types are painted
    /// or weighted, because they take time and memory.
    pub fn load_inputs(&mut self, files: &InputFiles, progress: &Progress) -> Result<(), FileError> {
        let mut needed = self.recipe.clone();
        if self.scatter.is_none() {
            needed.scatter.clear();
        }
        let is_on_types = needed.scatter.iter().any(|layer| layer.enabled && !layer.types.is_empty());
        if !self.needs_painting() && !is_on_types {
            needed.texture.types.clear();
        }
        self.inputs = complete_inputs(&needed, files, progress)?;
        Ok(())
    }

    /// The files of the target's import helper, beside the manifest: their paths and contents.
    pub(super) fn helper_files(&self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        let folder = self.manifest.as_ref().map(|manifest| folder_of(&manifest.path).to_path_buf());
        let files = self.target.map_or(&[][..], |target| target.helper());
        folder.into_iter().flat_map(move |folder| files.iter().map(move |file| (folder.join(file.path), file.contents)))
    }

    /// An error if this is a repeated export that would replace a file that the first one did not write.
    pub fn check_replaceable<P: AsRef<Path>>(&self, mut paths: impl Iterator<Item = P>) -> Result<(), FileError> {
        let Some(replaceable) = &self.replaceable else { return Ok(()) };
        let is_foreign = |path: &P| !replaceable.contains(path.as_ref()) && path.as_ref().symlink_metadata().is_ok();
        paths.find(is_foreign).map_or(Ok(()), |path| Err(FileError::Exists(path.as_ref().to_path_buf())))
    }

    /// Whether a map needs the rock below the terrain.
    pub fn needs_rock(&self) -> bool {
        self.maps.iter().any(|map| map.analysis_map.needs_rock())
    }

    /// Whether maps of the rock need the complete terrain.
    pub(super) fn needs_complete_rock(&self) -> bool {
        self.needs_rock() && !has_rock_in_parts(&self.recipe, self.grid)
    }

    /// Whether there is an analysis map with this reach.
    pub(super) fn has_maps(&self, reach: Reach) -> bool {
        self.maps.iter().any(|map| map.analysis_map.reach() == reach)
    }

    /// Whether a terrain type is painted or weighted whose mask has this reach.
    pub(super) fn has_type_masks(&self, reach: Reach) -> bool {
        self.needs_painting() && self.recipe.has_type_masks(reach, overview_grid(self.grid))
    }

    /// Whether rivers have drained the terrain, so that it has no lakes above a sea at this level, metres.
    pub(super) fn has_no_lakes(&self, sea_m: Option<f32>) -> bool {
        has_no_lakes(&self.recipe, self.grid, self.position, sea_m)
    }

    /// Whether something follows from an overview of the terrain if there is one.
    pub(super) fn uses_overview(&self) -> bool {
        self.has_maps(Reach::Overview)
            || self.has_type_masks(Reach::Overview)
            || self.needs_painting() && RequiredMaps::of(&self.recipe.texture, self.baked_light()).uses_overview()
    }

    /// Whether terrain types are painted or weighted.
    pub fn needs_painting(&self) -> bool {
        self.has_texture() || self.weights.is_some()
    }

    /// Whether colours are painted.
    fn has_texture(&self) -> bool {
        self.texture.is_some()
            || self.frames.is_some()
            || self.mesh.as_ref().is_some_and(|mesh| mesh.painted_size().is_some())
    }

    /// The light that is baked into the texture, if there is a texture and baking is on.
    pub(super) fn baked_light(&self) -> Option<&Light> {
        Some(&self.recipe.light).filter(|light| light.bake && self.has_texture())
    }

    /// The range of the complete terrain, if it is in the cache.
    pub(super) fn cached_range_m(&self) -> Option<Band> {
        let bytes = self.cache.as_ref()?.get(&self.range_key())?;
        let (min, max) = (bytes.first_chunk()?, bytes.last_chunk()?);
        (bytes.len() == 16).then(|| Band { min: f64::from_le_bytes(*min), max: f64::from_le_bytes(*max) })
    }

    /// Stores the range of the complete terrain in the cache, for later builds of single tiles.
    pub(super) fn cache_range_m(&self, Band { min, max }: Band) {
        if let Some(cache) = &self.cache {
            cache.put(&self.range_key(), &[min.to_le_bytes(), max.to_le_bytes()].concat());
        }
    }

    fn range_key(&self) -> ResultKey {
        ResultKey { kind: "range", hash: Hash::new().with(&self.grid) }
    }

    /// The fixed range of heights, if there is one.
    pub fn fixed_range_m(&self) -> Option<Band> {
        self.range_m.or(self.recipe.world.height_range_m)
    }
}

/// Decodes all input files of a recipe. To decode again after the recipe has changed, keep a [`DecodedFiles`].
pub fn load_inputs(recipe: &Recipe, files: &InputFiles) -> Result<Inputs, FileError> {
    complete_inputs(recipe, files, &Progress::new())
}

/// The inputs of a recipe; an error if the mask of a step lacks its image, or a stamp its file.
fn complete_inputs(recipe: &Recipe, files: &InputFiles, progress: &Progress) -> Result<Inputs, FileError> {
    let inputs = DecodedFiles::default().inputs(recipe, files, progress)?;
    recipe.check_inputs(&inputs).map_err(|error| FileError::Recipe(error.to_string()))?;
    Ok(inputs)
}

/// The size of a texture with `longer` pixels along its longer side, in the world's proportions.
pub fn texture_size(extent: Extent, longer: usize) -> [usize; 2] {
    // Pixels are areas, like the cells of a grid: one fewer than samples.
    let grid = Grid::fitted(extent, longer + 1);
    [grid.width() - 1, grid.height() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_have_the_worlds_proportions() {
        assert_eq!(texture_size(Extent { width_m: 3000.0, depth_m: 1000.0 }, 300), [300, 100]);
        assert_eq!(texture_size(Extent { width_m: 1.0, depth_m: 1e6 }, 300), [1, 300]);
    }
}
