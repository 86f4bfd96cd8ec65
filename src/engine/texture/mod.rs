//! Painting the land by height, slope, exposure, humidity and shade.
//!
//! After "Generating Terrain Textures", flipCode, 31 May 2001: each terrain type has a weight at each point, the
//! product of a factor for each of these that it has limits of, and the colour is the weighted mean. Types can also join
//! by the relief of their textures, and multiply or overlay what is there. Blending is done in linear light.

mod analysis_map;
mod cover;
mod mosaic;
mod paint;
mod points;
mod surface_maps;
mod swatch;
mod view;
mod weigh;

use super::heightfield::Heightfield;
use super::parameters::{Band, Colour, Limits, Spec, TextureName, choices, parameters};
use super::progress::{Cancelled, Progress};

pub use analysis_map::{AnalysisMap, MIN_RIVER_CATCHMENT_SHARE, analysis_map};
pub use paint::{
    MAX_PREPARED_BYTES, PaintCache, PaintInput, PaintedTexture, Weights, paint, paint_once, type_at, weigh,
};
pub use points::{PixelRegion, Points};
pub use surface_maps::{RequiredMaps, SurfaceMapCache, SurfaceMaps};
pub use swatch::Swatch;
pub use view::{TextureView, UNCOVERED_COLOUR, view};
pub(super) use weigh::factor;
pub use weigh::{CoverageDiagram, CoverageRow};

choices! {
    /// What elevations are measured in.
    pub enum Unit {
        /// Percent of the height range: the same paint for every land.
        Percent = "percent", "Percent of the range";
        /// Metres.
        Metres = "metres", "Metres";
    }
}

choices! {
    /// What slopes and their fades are measured in.
    pub enum SlopeMode {
        /// Degrees, as the sliders say.
        Degrees = "degrees", "Degrees";
        /// The cosine of the slope with the sine of the release as the width of the fade, as in the source of 2001.
        Classic = "classic", "Cosine (classic)";
    }
}

choices! {
    /// How a terrain type joins the others.
    pub enum TypeBlend {
        /// Covers its share of the ground.
        Normal = "normal", "Normal";
        /// Multiplies the colour of the ground that is there; covers none itself.
        Multiply = "multiply", "Multiply";
        /// Darkens dark and brightens bright ground that is there; covers none itself.
        Overlay = "overlay", "Overlay";
        /// Covers the ground where the relief of the textures stands highest: sand lies between the stones, and where
        /// pixels are too large to show stones, the weights alone decide.
        Height = "height", "By relief";
    }
}

impl TypeBlend {
    /// Whether a type that joins so covers ground of its own; one that multiplies or overlays changes what is there.
    pub fn covers(self) -> bool {
        match self {
            Self::Normal | Self::Height => true,
            Self::Multiply | Self::Overlay => false,
        }
    }
}

parameters! {
    /// How all terrain types work together.
    pub struct TextureSettings {
        /// What elevations are measured in.
        unit: Unit = Unit::Percent, Spec::new("Elevations in");
        /// How slopes fade.
        slope_mode: SlopeMode = SlopeMode::Degrees, Spec::new("Slopes in");
        /// The climate or season that is shown: types of other sets take no part; empty: all sets together.
        active_set: Option<String> = None, Spec::new("Set");
        /// The terrain type that lies where no other does; empty: the one that is nearest to its limits.
        fallback: Option<String> = None, Spec::new("Fallback");
    }
}

parameters! {
    /// A kind of ground and where it lies.
    pub struct TerrainType {
        /// The name, as weight maps carry it.
        name: String = "Ground".into(), Spec::new("Name");
        /// The colour, in sRGB.
        colour: Colour = Colour([0x8a, 0x84, 0x76]), Spec::new("Colour");
        /// A tileable picture of the ground, one of those that ship or one of your own; empty: the colour alone.
        texture: Option<TextureName> = None, Spec::new("Texture");
        /// How wide one repeat of the texture lies on the land.
        repeat_m: f64 = 96.0, Spec::number("Repeat", 0.1, 100_000.0).slider(2.0, 1000.0).unit("m").logarithmic();
        /// How far the texture takes on the type's colour: 0 leaves it as it is, 1 gives its mean that colour.
        tint: f64 = 1.0, Spec::number("Tint", 0.0, 1.0);
        /// Between which elevations it lies.
        elevation: Band = Band { min: 0.0, max: 100.0 },
            Spec::number("Elevation", -100_000.0, 100_000.0).slider(0.0, 100.0);
        /// How far it fades out above and below its elevations; 0 is a sharp edge.
        elevation_release: f64 = 10.0, Spec::number("Elevation release", 0.0, 100_000.0).slider(0.0, 50.0);
        /// On which slopes it lies: 0° is flat, 90° a wall.
        slope_deg: Band = Band { min: 0.0, max: 90.0 }, Spec::number("Slope", 0.0, 90.0).unit("°");
        /// How far it fades out on gentler and steeper slopes; 0 is a sharp edge.
        slope_release_deg: f64 = 10.0, Spec::number("Slope release", 0.0, 90.0).slider(0.0, 45.0).unit("°");
        /// How far its elevations shift up on faces turned to the skew azimuth, and down on those turned away: snow
        /// lies lower on the shady side.
        skew: f64 = 0.0, Spec::number("Skew", -100_000.0, 100_000.0).slider(-50.0, 50.0);
        /// The compass direction of the skew, clockwise from north; usually where the sun stands at noon.
        skew_azimuth_deg: f64 = 180.0, Spec::number("Skew azimuth", -360.0, 360.0).slider(0.0, 360.0).unit("°");
        /// On which wetness it lies, from 0, a dry crest, to 1, a wet hollow, and how far it fades; empty: on any.
        humidity: Option<Limits> = None, Spec::number("Humidity", 0.0, 1.0);
        /// In how much shade it lies, from 0, sun all day, to 1, shade all day, and how far it fades; the day is that of
        /// the equinox at 45° north; empty: in any.
        shadow: Option<Limits> = None, Spec::number("Shadow", 0.0, 1.0);
        /// How the type joins the others.
        blend: TypeBlend = TypeBlend::Normal, Spec::new("Blend");
        /// The climate or season that it belongs to; empty: to all of them.
        set: String = String::new(), Spec::new("Set");
        /// Whether the type takes part.
        enabled: bool = true, Spec::new("Enabled");
    }
}

/// How the land is painted.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureRecipe {
    /// How all types work together.
    pub settings: TextureSettings,
    /// The types, in the order in which they are listed.
    pub types: Vec<TerrainType>,
}

impl TerrainType {
    /// Whether the type is one of those that are shown while that set is the active one.
    pub fn belongs_to(&self, active_set: Option<&String>) -> bool {
        self.set.is_empty() || active_set.is_none_or(|active| *active == self.set)
    }

    /// Whether the type takes part while that set is the active one.
    pub fn is_active(&self, active_set: Option<&String>) -> bool {
        self.enabled && self.belongs_to(active_set)
    }
}

impl TextureRecipe {
    /// The types that take part.
    pub fn active(&self) -> impl Iterator<Item = &TerrainType> + Clone {
        self.types.iter().filter(|ground| ground.is_active(self.settings.active_set.as_ref()))
    }

    /// The place of the type at `at` among those that take part; `None` if it does not.
    pub fn active_index(&self, at: usize) -> Option<usize> {
        let is_active = |ground: &TerrainType| ground.is_active(self.settings.active_set.as_ref());
        is_active(self.types.get(at)?).then(|| self.types[..at].iter().filter(|ground| is_active(ground)).count())
    }

    /// The sets that types belong to, each once, in the order in which they come.
    pub fn sets(&self) -> Vec<&str> {
        let mut sets: Vec<&str> = Vec::new();
        for ground in &self.types {
            if !ground.set.is_empty() && !sets.contains(&ground.set.as_str()) {
                sets.push(&ground.set);
            }
        }
        sets
    }

    /// Sand, grass, woods and rock by elevation in percent and slope: what land wears until somebody paints it. There is
    /// no snow: a share of the land's own range is no climate, and the level top of a low coast would wear it.
    pub fn starter() -> Self {
        let ground = |name: &str, colour, [low, high]: [f64; 2], [flat, steep]: [f64; 2]| TerrainType {
            name: name.into(),
            colour: Colour(colour),
            elevation: Band { min: low, max: high },
            slope_deg: Band { min: flat, max: steep },
            ..Default::default()
        };
        // Ground that is level to the eye: basins, sea floors, plateaus.
        let level =
            |ground: TerrainType, release| TerrainType { elevation_release: release, slope_release_deg: 2.5, ..ground };
        Self {
            settings: TextureSettings::default(),
            types: vec![
                ground("Meadow", [0x6f, 0x7f, 0x46], [8.0, 45.0], [0.0, 22.0]),
                ground("Forest", [0x3f, 0x52, 0x33], [12.0, 55.0], [8.0, 32.0]),
                ground("Rock", [0x7d, 0x75, 0x6b], [0.0, 100.0], [36.0, 90.0]),
                ground("Scree", [0x9a, 0x91, 0x84], [58.0, 80.0], [0.0, 36.0]),
                ground("Pale rock", [0xcd, 0xc7, 0xb9], [84.0, 100.0], [8.0, 40.0]),
                level(ground("Sand", [0xc2, 0xad, 0x84], [0.0, 4.0], [0.0, 2.0]), 4.0),
                level(ground("Plateau", [0x85, 0x8a, 0x5e], [50.0, 100.0], [0.0, 1.5]), 10.0),
            ],
        }
    }
}

impl Default for TextureRecipe {
    fn default() -> Self {
        Self::starter()
    }
}

/// The land's height range: the project's fixed one where it is set, else the land's own.
pub fn height_range_m(terrain: &Heightfield, fixed: Option<Band>, progress: &Progress) -> Result<Band, Cancelled> {
    let own =
        || terrain.min_max_cancellable(progress).map(|[low, high]| Band { min: f64::from(low), max: f64::from(high) });
    fixed.map_or_else(own, Ok)
}
