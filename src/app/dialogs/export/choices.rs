//! The choices of the export dialog, and the order that they make.

use std::path::{Path, PathBuf};

use crate::engine::cast::ToFloat;
use crate::engine::{Extent, Grid};
use crate::files::export::{HeightmapOrder, Order, ScatterOrder, TextureOrder, TileEdges, Tiles, texture_size};
use crate::files::targets::{Sizes, Target};
use crate::project::{ExportSettings, Project};

/// The format of the heightmap of an export without a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeightmapFormat {
    Png16,
    Raw16,
    Raw32,
}

impl HeightmapFormat {
    pub(super) const ALL: [Self; 3] = [Self::Png16, Self::Raw16, Self::Raw32];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Png16 => "PNG, 16-bit grey (.png)",
            Self::Raw16 => "RAW, 16-bit (.r16)",
            Self::Raw32 => "RAW, 32-bit float metres (.r32)",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Png16 => "png",
            Self::Raw16 => "r16",
            Self::Raw32 => "r32",
        }
    }
}

/// The choices of the dialog.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choices {
    /// The program; `None`: plain files.
    pub(super) target: Option<&'static Target>,
    /// The heightmap of an export without a target.
    pub(super) heightmap: Option<HeightmapFormat>,
    /// Whether an export without a target has a texture.
    pub(super) texture: bool,
    /// Columns and rows of tiles.
    pub(super) tiles: [usize; 2],
    /// The folder; `None`: the suggested one.
    pub(super) folder: Option<String>,
    /// The start of the names of the folder and of plain files.
    pub(super) stem: String,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            target: None,
            heightmap: Some(HeightmapFormat::Png16),
            texture: true,
            tiles: [1; 2],
            folder: None,
            stem: String::new(),
        }
    }
}

impl Choices {
    /// Whether the program supports tiles.
    pub(super) fn supports_tiles(&self) -> bool {
        !self.target.is_some_and(|target| matches!(target.sizes, Sizes::Exactly(_)))
    }

    /// Columns and rows of tiles; one of each if the program does not support tiles.
    pub(super) fn counts(&self) -> [usize; 2] {
        if self.supports_tiles() { self.tiles } else { [1; 2] }
    }

    /// The supported number of samples along the longer side that is nearest to `samples`.
    pub(super) fn longer(&self, extent: Extent, samples: usize) -> usize {
        let counts = self.counts();
        let max = counts[0].max(counts[1]);
        let in_steps = || (samples.saturating_sub(1) / max).max(1) * max + 1;
        self.target.map_or_else(in_steps, |target| target.nearest(extent, samples, counts))
    }

    /// The number of samples and the tiles with which the program shows the world in its proportions; `None` if it does
    /// already.
    pub(super) fn undistorted(&self, extent: Extent, settings: &ExportSettings) -> Option<(usize, [usize; 2])> {
        self.target?.undistorted(extent, settings.samples as usize, self.counts())
    }

    /// The samples of a tile from west to east and from north to south.
    pub(super) fn tile_size(&self, extent: Extent, settings: &ExportSettings) -> [usize; 2] {
        let (grid, counts) = (self.grid(extent, settings), self.counts());
        let edges = self.target.map_or(TileEdges::Shared, |target| target.tile_edges);
        let size = [grid.width(), grid.height()];
        [0, 1].map(|axis| edges.tile_side(size[axis], counts[axis]))
    }

    /// The grid of the export.
    pub(super) fn grid(&self, extent: Extent, settings: &ExportSettings) -> Grid {
        let longer = self.longer(extent, settings.samples as usize);
        self.target.map_or_else(|| Grid::fitted(extent, longer), |to| to.grid(extent, longer, self.counts()))
    }

    /// The pixels of the texture, of all its tiles together.
    pub(super) fn texture_size(&self, extent: Extent, settings: &ExportSettings) -> [usize; 2] {
        let (longer, counts) = (settings.texture_pixels as usize, self.counts());
        match self.target {
            Some(target) => target.texture_size(extent, longer, counts),
            // Every tile has the same number of pixels.
            None => {
                let size = texture_size(extent, longer);
                [0, 1].map(|axis| size[axis].div_ceil(counts[axis]) * counts[axis])
            }
        }
    }

    /// The folder, or the suggested one: next to the project, or in the user's home.
    pub(super) fn folder(&self, project_path: Option<&Path>) -> String {
        self.folder.clone().unwrap_or_else(|| {
            let sibling = project_path.and_then(Path::parent).map(Path::to_path_buf);
            let folder = sibling.or_else(std::env::home_dir).unwrap_or_else(|| PathBuf::from("."));
            let key = self.target.map_or(String::new(), |target| format!("-{}", target.key));
            folder.join(format!("{}{key}", self.stem)).display().to_string()
        })
    }

    /// The order; the error says why it is not possible.
    pub(super) fn order(&self, project: &Project, settings: &ExportSettings, folder: &Path) -> Result<Order, String> {
        if folder.as_os_str().is_empty() {
            return Err("Type or choose a folder.".into());
        }
        let Project { name, recipe, .. } = project;
        let (extent, counts) = (recipe.world.extent(), self.counts());
        let pixels = self.texture_size(extent, settings);
        let grid = self.grid(extent, settings);
        let tiles = Tiles::new(counts);
        let mut order = Order {
            tiles: Some(tiles).filter(|_| counts != [1; 2]),
            sea_m: project.water.water_m.map(|water_m| water_m.to_f32()),
            markers: project.level.markers.to_vec(),
            origin: project.origin.clone(),
            ..Order::new(name.clone(), recipe.clone(), grid)
        };
        match self.target {
            Some(target) => {
                target.check(grid, counts)?;
                target.add_to(&mut order, folder, pixels);
            }
            None if self.heightmap.is_none() && !self.texture => {
                return Err("Choose a heightmap or the texture.".into());
            }
            None => {
                let stem = &self.stem;
                let heightmap = self.heightmap.map(|format| folder.join(format!("{stem}.{}", format.extension())));
                let suffix = if heightmap.is_some() { "_texture" } else { "" };
                order.heightmaps = heightmap.into_iter().map(HeightmapOrder::new).collect();
                let texture = self.texture.then(|| folder.join(format!("{stem}{suffix}.png")));
                order.texture = texture.map(|path| TextureOrder::new(path, pixels));
                if order.recipe.is_scattered() {
                    let files = vec![folder.join(format!("{stem}_scatter.csv"))];
                    order.scatter = Some(ScatterOrder { files, ..ScatterOrder::default() });
                }
            }
        }
        Ok(order)
    }
}
