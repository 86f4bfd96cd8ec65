//! The texture recipe: terrain types with their limits and colours.

use std::collections::BTreeSet;

use crate::heightfield::Heightfield;
use crate::mask::Mask;
use crate::parameters::{Band, Colour, Limits, List, Spec, TextureName, choices, parameters};
use crate::progress::{Cancelled, Progress};

choices! {
    /// The unit of elevation limits.
    pub enum Unit {
        /// Percent of the height range: one recipe suits every terrain.
        Percent = "percent", "Percent of the range";
        /// Metres.
        Metres = "metres", "Metres";
    }
}

choices! {
    /// Whether slope falloffs are measured in degrees or by the cosine of the slope.
    pub enum SlopeMode {
        /// Degrees.
        Degrees = "degrees", "Degrees";
        /// The cosine of the slope, with a falloff measured as a sine: as flipCode's article of 2001 has it.
        Classic = "classic", "Cosine (classic)";
    }
}

choices! {
    /// How a terrain type combines with the others.
    pub enum TypeBlend {
        /// Takes its share of the surface.
        Normal = "normal", "Normal";
        /// Lies over the other types: with its full weight it hides them, as painted snow does. Of several, later ones in
        /// the list lie over earlier ones.
        Cover = "cover", "Over the others";
        /// Multiplies the colour below; takes no share of the surface.
        Multiply = "multiply", "Multiply";
        /// Darkens dark colours below and brightens bright ones; takes no share of the surface.
        Overlay = "overlay", "Overlay";
        /// Takes the surface where the relief of its texture is the highest: sand fills the gaps between stones. Where
        /// pixels are too large to show stones, the weights alone decide.
        Height = "height", "Height blend";
    }
}

impl TypeBlend {
    /// Whether a type with this blend takes a share of the surface; the others modify the colour below.
    pub fn covers(self) -> bool {
        match self {
            Self::Normal | Self::Height | Self::Cover => true,
            Self::Multiply | Self::Overlay => false,
        }
    }
}

/// Elevations below and above all terrain, for types without a lower or an upper limit.
const LOWEST_M: f64 = -10_000.0;
const HIGHEST_M: f64 = 10_000.0;

/// Level terrain has no range; its types are spread over this one.
const MIN_RANGE_M: f64 = 1.0;

parameters! {
    /// Settings shared by all terrain types.
    pub struct TextureSettings {
        /// The unit of elevation limits. New projects use metres; older files that do not name a unit are in percent.
        unit: Unit = Unit::Percent, Spec::new("Elevations in");
        /// Whether slope falloffs are measured in degrees or by the cosine of the slope.
        slope_mode: SlopeMode = SlopeMode::Degrees, Spec::new("Slopes in");
        /// The climate or season to show: types of other sets are left out. All: all sets together.
        active_set: Option<String> = None, Spec::new("Climate set").none("All");
        /// The terrain type used where no other one applies; none: the one whose limits are nearest.
        fallback: Option<String> = None, Spec::new("Uncovered terrain").none("Nearest type");
    }
}

parameters! {
    /// A surface material and the limits within which it appears.
    pub struct TerrainType {
        /// The name, which is also part of the names of weight maps.
        name: String = "Ground".into(), Spec::new("Name");
        /// The colour, in sRGB.
        colour: Colour = Colour([0x8a, 0x84, 0x76]), Spec::new("Colour");
        /// A tileable texture of the material, shipped or imported. None: the colour alone.
        texture: Option<TextureName> = None, Spec::new("Texture");
        /// The width of one repeat of the texture.
        repeat_m: f64 = 96.0, Spec::number("Repeat", 0.1, 100_000.0).slider(2.0, 1000.0).unit("m").logarithmic();
        /// How strongly the texture takes on the type's colour: at 0 it keeps its own; at 1 its average is the
        /// type's.
        tint: f64 = 1.0, Spec::number("Tint", 0.0, 1.0);
        /// The elevations at which the type appears.
        elevation: Band = Band { min: 0.0, max: 100.0 },
            Spec::number("Elevation", -100_000.0, 100_000.0).slider(0.0, 100.0);
        /// The width of the fade above and below its elevations; 0 is a sharp edge.
        elevation_release: f64 = 10.0, Spec::number("Elevation falloff", 0.0, 100_000.0).slider(0.0, 50.0);
        /// The slopes on which the type appears: 0° is level, 90° vertical.
        slope_deg: Band = Band { min: 0.0, max: 90.0 }, Spec::number("Slope", 0.0, 90.0).unit("°");
        /// The width of the fade on gentler and steeper slopes; 0 is a sharp edge.
        slope_release_deg: f64 = 10.0, Spec::number("Slope falloff", 0.0, 90.0).slider(0.0, 45.0).unit("°");
        /// How far its elevations shift up on slopes facing the aspect direction, and down on those facing away: snow
        /// reaches lower on the shady side.
        skew: f64 = 0.0, Spec::number("Aspect shift", -100_000.0, 100_000.0).slider(-50.0, 50.0);
        /// The compass direction of the slopes on which the elevations shift up, clockwise from north; usually that of
        /// the sun at noon.
        skew_azimuth_deg: f64 = 180.0, Spec::number("Aspect direction", -360.0, 360.0).slider(0.0, 360.0).unit("°");
        /// The humidity at which it appears, from 0 (dry ridges) to 1 (wet hollows), and the width of the fade. Off:
        /// any.
        humidity: Option<Limits> = None, Spec::number("Humidity", 0.0, 1.0).none("any");
        // Project files call it `shadow`; everywhere else it is shade.
        /// The shade in which it appears, from 0 (sun all day) to 1 (shade all day), and the width of the fade; the sun
        /// moves as in spring and autumn at 45° north. Off: any.
        shadow: Option<Limits> = None, Spec::number("Shade", 0.0, 1.0).none("any");
        /// Where the type appears within these limits: by strokes of a brush, a polygon, an image and more, and by several
        /// of these together. Empty: everywhere.
        mask: List<Mask> = List::default(), Spec::new("Mask").unwrapped().sparse();
        /// How the type combines with the others.
        blend: TypeBlend = TypeBlend::Normal, Spec::new("Blend");
        /// The climate or season that it belongs to. All: every set.
        set: String = String::new(), Spec::new("Climate set").none("All");
        /// Whether the type is used.
        enabled: bool = true, Spec::new("Enabled");
    }
}

/// How the terrain is painted.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureRecipe {
    /// Settings shared by all types.
    pub settings: TextureSettings,
    /// The types, in list order.
    pub types: List<TerrainType>,
}

impl TerrainType {
    /// Whether the type belongs to the active set.
    pub fn belongs_to(&self, active_set: Option<&String>) -> bool {
        self.set.is_empty() || active_set.is_none_or(|active| *active == self.set)
    }

    /// Whether the type is enabled and belongs to the active set.
    pub fn is_active(&self, active_set: Option<&String>) -> bool {
        self.enabled && self.belongs_to(active_set)
    }

    /// Whether the type takes a share of the surface; the others modify the colour below.
    pub fn covers(&self) -> bool {
        self.blend.covers()
    }

    /// A type of the same look that appears at any elevation and on any slope.
    pub fn without_limits(&self) -> Self {
        let Self { name, colour, texture, repeat_m, tint, set, .. } = self.clone();
        let elevation = Band { min: LOWEST_M, max: HIGHEST_M };
        Self { name, colour, texture, repeat_m, tint, set, elevation, ..Self::default() }
    }
}

impl TextureRecipe {
    /// The active types.
    pub fn active(&self) -> impl Iterator<Item = &TerrainType> + Clone {
        self.types.iter().filter(|terrain_type| terrain_type.is_active(self.settings.active_set.as_ref()))
    }

    /// Whether an active type of that name takes a share of the surface.
    pub fn has_covering(&self, name: &str) -> bool {
        self.active().any(|terrain_type| terrain_type.name == name && terrain_type.covers())
    }

    /// The index among the active types of the type at `index` in the list; `None` if it is not active.
    pub fn active_index(&self, index: usize) -> Option<usize> {
        let is_active = |terrain_type: &TerrainType| terrain_type.is_active(self.settings.active_set.as_ref());
        is_active(self.types.get(index)?)
            .then(|| self.types[..index].iter().filter(|terrain_type| is_active(terrain_type)).count())
    }

    /// The sets that types belong to, without repeats, in order of first use.
    pub fn sets(&self) -> Vec<&str> {
        let mut known = BTreeSet::new();
        let sets = self.types.iter().map(|terrain_type| terrain_type.set.as_str());
        sets.filter(|set| !set.is_empty() && known.insert(*set)).collect()
    }

    /// Sand, grass, woods and rock by elevation in metres and slope, for terrain from the sea up to about 300 m: the types
    /// of a new project. Snow is deliberately missing: such terrain seldom has any, and the flat top of a low coast would
    /// be white.
    pub fn starter() -> Self {
        Self::starter_over(Band { min: -12.0, max: 288.0 })
    }

    /// The types of [`starter`](Self::starter), spread over a range of heights. The lowest and the highest have no end, so
    /// that terrain which grows beyond the range is covered too.
    pub fn starter_over(range_m: Band) -> Self {
        // Metres are rounded as finely as the range needs.
        let percent_m = (range_m.max - range_m.min).max(MIN_RANGE_M) / 100.0;
        let per_metre = if percent_m >= 1.0 { 1.0 } else { 100.0 };
        let round = |metres: f64| (metres * per_metre).round() / per_metre;
        let limit = |percent: f64| match percent {
            0.0 => LOWEST_M,
            100.0 => HIGHEST_M,
            _ => round(range_m.min + percent * percent_m),
        };
        let terrain_type = |name: &str, colour, [low, high]: [f64; 2], [flat, steep]: [f64; 2]| TerrainType {
            name: name.into(),
            colour: Colour(colour),
            elevation: Band { min: limit(low), max: limit(high) },
            elevation_release: round(10.0 * percent_m),
            slope_deg: Band { min: flat, max: steep },
            ..Default::default()
        };
        // Surfaces that look level: plateaus, basins and sea floors, but not every level spot of terrain below 0 m.
        let plateau = terrain_type("Plateau", [0x85, 0x8a, 0x5e], [50.0, 100.0], [0.0, 1.5]);
        let sand = terrain_type("Sand", [0xc2, 0xad, 0x84], [0.0, 4.0], [0.0, 1.0]);
        Self {
            settings: TextureSettings { unit: Unit::Metres, ..Default::default() },
            types: vec![
                terrain_type("Meadow", [0x6f, 0x7f, 0x46], [0.0, 45.0], [0.0, 22.0]),
                terrain_type("Forest", [0x3f, 0x52, 0x33], [0.0, 55.0], [8.0, 32.0]),
                terrain_type("Rock", [0x7d, 0x75, 0x6b], [0.0, 100.0], [36.0, 90.0]),
                terrain_type("Scree", [0x9a, 0x91, 0x84], [58.0, 80.0], [0.0, 36.0]),
                terrain_type("Pale rock", [0xcd, 0xc7, 0xb9], [84.0, 100.0], [8.0, 40.0]),
                TerrainType { elevation_release: round(4.0 * percent_m), slope_release_deg: 1.5, ..sand },
                TerrainType { slope_release_deg: 2.5, ..plateau },
            ]
            .into(),
        }
    }
}

impl Default for TextureRecipe {
    fn default() -> Self {
        Self::starter()
    }
}

/// The height range that percentages refer to: the project's fixed one if set, else the terrain's own.
pub fn height_range_m(terrain: &Heightfield, fixed: Option<Band>, progress: &Progress) -> Result<Band, Cancelled> {
    let own =
        || terrain.min_max_cancellable(progress).map(|[low, high]| Band { min: f64::from(low), max: f64::from(high) });
    fixed.map_or_else(own, Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_of_the_active_set_are_active() {
        let of = |set: &str| TerrainType { name: set.into(), set: set.into(), ..Default::default() };
        let types = vec![of("summer"), of("winter"), of("")].into();
        let mut recipe = TextureRecipe { settings: TextureSettings::default(), types };
        let names =
            |recipe: &TextureRecipe| recipe.active().map(|terrain_type| terrain_type.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&recipe), ["summer", "winter", ""]);
        recipe.settings.active_set = Some("winter".into());
        assert_eq!(names(&recipe), ["winter", ""]);
        assert_eq!(recipe.sets(), ["summer", "winter"]);
    }
}
