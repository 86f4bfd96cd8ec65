//! The parameters of masks.

use std::collections::BTreeMap;

use super::painting::PaintedStroke;
use super::polygon::POINTS;
use super::shapes::{MaskShapes, PathsOf};
use crate::flow::Water;
use crate::heightfield::Grid;
use crate::parameters::{Band, FileName, List, Point, Spec, choices, parameters};
use crate::reach::Reach;

choices! {
    /// The property that a mask depends on.
    pub enum MaskSource {
        /// The height of the terrain below.
        Elevation = "elevation", "Elevation";
        /// The slope of the terrain below.
        Slope = "slope", "Slope";
        /// The distance from the border of the map: from no effect at the border to the full one at a given distance.
        Border = "border", "Distance from border";
        /// The brightness of an imported image, stretched over the world.
        Image = "image", "Image";
        /// The drainage area on the terrain below: its rivers.
        Rivers = "rivers", "Rivers";
        /// The lakes that fill the depressions of the terrain below.
        Lakes = "lakes", "Lakes";
        /// The wetness of the terrain below, from its drainage area and slope.
        Wetness = "wetness", "Wetness";
        /// The valley floors of the terrain below, on which rivers deposit sediment.
        Sediment = "sediment", "Valley floors";
        /// The hollows and ridges of the terrain below.
        Curvature = "curvature", "Curvature";
        /// The inside of a polygon.
        Polygon = "polygon", "Polygon";
        /// Random patches, to break up borders.
        Noise = "noise", "Noise";
        /// Strokes of a brush.
        Painted = "painted", "Painted";
        /// The carriageway of roads, the bed of rivers or the area of other paths: of the steps below, or of all steps
        /// for terrain types and scatter.
        Path = "path", "Paths";
        /// Building pads: of the steps below, or of all steps for terrain types and scatter.
        Pad = "pad", "Pads";
        /// A mask of the project that is shared by its name.
        Named = "named", "Named mask";
    }
}

choices! {
    /// How a source is combined with those before it.
    pub enum Combine {
        /// The product of both: where both have an effect.
        Multiply = "multiply", "Multiply";
        /// The sum of both.
        Add = "add", "Add";
        /// The sources before minus this one.
        Subtract = "subtract", "Subtract";
        /// The lower of both.
        Intersect = "intersect", "Intersect";
        /// The higher of both.
        Union = "union", "Union";
    }
}

parameters! {
    /// Where a step has an effect: one source of its mask.
    pub struct Mask {
        /// How this mask is combined with those above it. The first one has none above it.
        combine: Combine = Combine::Multiply, Spec::new("Combine").sparse();
        /// The property that the mask depends on.
        source: MaskSource = MaskSource::Elevation, Spec::new("Based on");
        /// The elevations with the full effect; for a step, those of the terrain before it.
        elevation_m: Band = Band { min: -100_000.0, max: 100_000.0 },
            Spec::number("Elevation", -100_000.0, 100_000.0).slider(-1000.0, 3000.0).unit("m")
                .when("source", &["elevation"]);
        /// The width of the fade at the edge of the effect: a difference in height for elevations, a distance on the map
        /// otherwise. For an image, the width over which it is blurred. Off: 100 m for elevations, 0 m otherwise.
        feather_m: Option<f64> = None,
            Spec::number("Falloff", 0.0, 100_000.0).slider(0.0, 1000.0).unit("m").none("automatic")
                .when("source", &["elevation", "polygon", "path", "pad", "image"]);
        /// The slopes with the full effect; for a step, those of the terrain before it.
        slope_deg: Band = Band { min: 0.0, max: 30.0 },
            Spec::number("Slope", 0.0, 90.0).unit("°").when("source", &["slope"]);
        /// The angle over which the effect fades out on gentler and steeper slopes.
        feather_deg: f64 = 10.0,
            Spec::number("Falloff", 0.0, 90.0).slider(0.0, 45.0).unit("°").when("source", &["slope"]);
        /// The distance from the border of the map at which the effect is full; it fades out to the border.
        border_m: f64 = 500.0,
            Spec::number("Distance", 0.0, 1_000_000.0).slider(1.0, 4000.0).unit("m").logarithmic()
                .when("source", &["border"]);
        /// The image: the effect is full where it is white, and none where it is black.
        file: FileName = FileName::default(), Spec::new("Image").when("source", &["image"]);
        /// The drainage area at which the effect is full; it fades out down to a quarter of that.
        drained_km2: f64 = 1.0,
            Spec::number("Drainage area", 1e-6, 1e6).slider(0.01, 100.0).unit("km²").logarithmic().when("source", &["rivers"]);
        /// The depth of a lake at which the effect is full; it fades out to the shore.
        lake_m: f64 = 1.0,
            Spec::number("Depth", 0.001, 10_000.0).slider(0.1, 50.0).unit("m").logarithmic().when("source", &["lakes"]);
        /// The topographic wetness index at which the effect is full: crests have 3 or 4, wet valleys 12 and more.
        wetness: Band = Band { min: 9.0, max: 40.0 },
            Spec::number("Wetness", -10.0, 40.0).slider(0.0, 20.0).when("source", &["wetness"]);
        /// The difference in the index over which the effect fades out to drier and wetter terrain.
        feather_wetness: f64 = 2.0,
            Spec::number("Falloff", 0.0, 40.0).slider(0.0, 8.0).when("source", &["wetness"]);
        /// The valley floor index at which the effect is full: slopes have less than 0.5, small valley floors 1 or 2,
        /// wide plains up to 4.
        sediment: Band = Band { min: 1.5, max: 4.0 },
            Spec::number("Valley floor index", 0.0, 4.0).when("source", &["sediment"]);
        /// The difference in the index over which the effect fades out to less and more sediment.
        feather_sediment: f64 = 0.5,
            Spec::number("Falloff", 0.0, 4.0).slider(0.0, 2.0).when("source", &["sediment"]);
        /// The curvatures at which the effect is full: positive in hollows, negative on ridges. A bowl with a radius of
        /// 500 m has a curvature of 2 per km.
        curvature: Band = Band { min: 1.0, max: 100_000.0 },
            Spec::number("Curvature", -100_000.0, 100_000.0).slider(-20.0, 20.0).unit("/km").sparse()
                .when("source", &["curvature"]);
        /// The difference in curvature over which the effect fades out.
        feather_curvature: f64 = 1.0,
            Spec::number("Falloff", 0.0, 100_000.0).slider(0.0, 10.0).unit("/km").sparse().when("source", &["curvature"]);
        /// The size of the hollows and ridges.
        scale_m: f64 = 100.0,
            Spec::number("Scale", 0.0, 100_000.0).slider(1.0, 2000.0).unit("m").logarithmic().sparse()
                .when("source", &["curvature"]);
        /// The kind of paths.
        paths: PathsOf = PathsOf::Roads, Spec::new("Paths").sparse().when("source", &["path"]);
        /// The corners of the polygon. Where it crosses itself, parts inside twice count as outside.
        points_m: List<Point> = List::default(), POINTS.sparse().when("source", &["polygon"]);
        /// The size of the largest patches.
        wavelength_m: f64 = 200.0,
            Spec::number("Wavelength", 0.1, 1_000_000.0).slider(5.0, 5000.0).unit("m").logarithmic().sparse()
                .when("source", &["noise"]);
        /// The noise, from -1 to 1, at which the effect is half: higher values make smaller patches.
        threshold: f64 = 0.0, Spec::number("Threshold", -1.0, 1.0).sparse().when("source", &["noise"]);
        /// How sharp the borders of the patches are.
        contrast: f64 = 4.0,
            Spec::number("Contrast", 0.0, 1000.0).slider(0.5, 50.0).logarithmic().sparse().when("source", &["noise"]);
        /// Selects the random numbers of the noise, together with the project's seed.
        seed: u32 = 0,
            Spec::number("Noise seed", 0.0, 4_294_967_295.0).slider(0.0, 100.0).sparse().when("source", &["noise"]);
        /// The name of the mask. Named masks cannot refer to others.
        name: String = String::new(), Spec::new("Name").mask_name().sparse().when("source", &["named"]);
        /// The weight where nothing is painted: 0 is no effect, 1 is the full effect.
        ground: f64 = 0.0, Spec::number("Unpainted", 0.0, 1.0).sparse().when("source", &["painted"]);
        /// The strokes of the brush, in the order in which they are painted.
        strokes: List<PaintedStroke> = List::default(), Spec::new("Strokes").sparse().when("source", &["painted"]);
        /// Inverts the mask.
        invert: bool = false, Spec::new("Invert");
        /// How strong this part of the mask is: 0 is no effect, 1 is the full effect.
        strength: f64 = 1.0, Spec::number("Strength", 0.0, 1.0).sparse();
    }
}

/// The masks of a recipe by name.
pub type NamedMasks = BTreeMap<String, List<Mask>>;

/// The parts of a recipe that masks refer to.
#[derive(Clone, Debug)]
pub struct MaskReferences<'a> {
    /// The masks by name.
    pub named: &'a NamedMasks,
    /// The paths and pads.
    pub shapes: MaskShapes<'a>,
}

impl MaskReferences<'_> {
    /// For masks that refer to nothing.
    pub fn none() -> Self {
        static NONE: NamedMasks = NamedMasks::new();
        Self { named: &NONE, shapes: MaskShapes::default() }
    }
}

impl Mask {
    /// Whether the weight of a sample depends only on its position and height, so that parts of a grid can be evaluated
    /// independently. Named masks have to be asked themselves.
    pub fn is_pointwise(&self) -> bool {
        match self.source {
            MaskSource::Image => self.feather_m.is_none_or(|feather_m| feather_m == 0.0),
            MaskSource::Elevation
            | MaskSource::Border
            | MaskSource::Polygon
            | MaskSource::Noise
            | MaskSource::Painted
            | MaskSource::Path
            | MaskSource::Pad
            | MaskSource::Named => true,
            MaskSource::Slope
            | MaskSource::Rivers
            | MaskSource::Lakes
            | MaskSource::Wetness
            | MaskSource::Sediment
            | MaskSource::Curvature => false,
        }
    }

    /// What the weight at a place depends on, with an overview on this grid. Named masks have to be asked themselves.
    pub fn reach(&self, overview: Grid) -> Reach {
        match self.source {
            MaskSource::Curvature if self.scale_m < 2.0 * overview.spacing_x_m().max(overview.spacing_z_m()) => {
                Reach::Complete
            }
            MaskSource::Curvature | MaskSource::Sediment => Reach::Overview,
            MaskSource::Rivers | MaskSource::Wetness => Reach::Drainage,
            MaskSource::Lakes => Reach::Depressions,
            MaskSource::Image if !self.is_pointwise() => Reach::Complete,
            MaskSource::Image
            | MaskSource::Elevation
            | MaskSource::Slope
            | MaskSource::Border
            | MaskSource::Polygon
            | MaskSource::Noise
            | MaskSource::Painted
            | MaskSource::Path
            | MaskSource::Pad
            | MaskSource::Named => Reach::Surroundings,
        }
    }

    /// The peak memory of the mask while its step is blended, in maps of f32. Named masks have to be asked themselves.
    pub fn peak_maps(&self) -> f64 {
        match self.source {
            _ if self.is_pointwise() => 0.0,
            MaskSource::Rivers | MaskSource::Lakes | MaskSource::Wetness => Water::MAPS,
            MaskSource::Sediment => 1.0,
            MaskSource::Curvature | MaskSource::Image => 2.0,
            _ => 0.0,
        }
    }

    /// The key of the parameter that the mask needs and does not have, and what is missing. Without it, the weight is 0.
    pub fn missing(
        &self,
        named: &NamedMasks,
        has_file: &dyn Fn(&FileName) -> bool,
    ) -> Option<(&'static str, &'static str)> {
        let of_named = |masks: &List<Self>| {
            masks.iter().find_map(|mask| match mask.source {
                MaskSource::Named => Some(("name", "named masks cannot refer to other ones; use another source there")),
                _ => mask.missing(named, has_file).map(|(_, what)| ("name", what)),
            })
        };
        match self.source {
            MaskSource::Named if self.name.is_empty() => Some(("name", "no mask is chosen; choose one")),
            MaskSource::Named => {
                named.get(&self.name).map_or(Some(("name", "there is no mask with that name")), of_named)
            }
            MaskSource::Image if !has_file(&self.file) => Some(("file", "the mask has no image; choose one")),
            MaskSource::Polygon if self.points_m.len() < 3 => {
                Some(("points_m", "the polygon of the mask has fewer than three corners; add some"))
            }
            _ => None,
        }
    }
}
