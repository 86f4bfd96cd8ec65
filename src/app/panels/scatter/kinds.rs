//! The kinds of layers that can be added.

use crate::engine::mask::{Mask, MaskSource};
use crate::engine::parameters::{Band, Colour, List};
use crate::engine::scatter::{ScatterLayer, Shape};

/// A kind of layer, such as conifers.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    /// Other words by which it is found.
    pub(crate) words: &'static str,
    shape: Shape,
    colour: [u8; 3],
    /// Spacing, radius and height, metres.
    sizes_m: [f64; 3],
    /// The slopes on which instances are placed, degrees.
    slope_deg: [f64; 2],
    align: f64,
    sink_m: f64,
    blocks: bool,
    sight_m: f64,
}

/// The kinds that can be added.
pub(crate) const KINDS: [Kind; 5] = [
    Kind {
        name: "Conifers",
        doc: "On slopes up to 35°; they block agents and lines of sight",
        words: "trees forest vegetation foliage pine spruce",
        shape: Shape::Cone,
        colour: [0x2f, 0x55, 0x33],
        sizes_m: [6.0, 2.0, 12.0],
        slope_deg: [0.0, 35.0],
        align: 0.0,
        sink_m: 0.3,
        blocks: true,
        sight_m: 12.0,
    },
    Kind {
        name: "Broadleaf trees",
        doc: "On slopes up to 25°; they block agents and lines of sight",
        words: "forest wood vegetation foliage oak beech",
        shape: Shape::Ball,
        colour: [0x57, 0x7a, 0x35],
        sizes_m: [10.0, 3.5, 9.0],
        slope_deg: [0.0, 25.0],
        align: 0.0,
        sink_m: 0.3,
        blocks: true,
        sight_m: 9.0,
    },
    Kind {
        name: "Bushes",
        doc: "On slopes up to 40°; agents walk through them",
        words: "shrubs undergrowth vegetation foliage",
        shape: Shape::Ball,
        colour: [0x6b, 0x7d, 0x3c],
        sizes_m: [3.0, 0.8, 1.2],
        slope_deg: [0.0, 40.0],
        align: 0.3,
        sink_m: 0.1,
        blocks: false,
        sight_m: 0.0,
    },
    Kind {
        name: "Rocks",
        doc: "On slopes of more than 20°; they block agents",
        words: "boulders stones props objects",
        shape: Shape::Box,
        colour: [0x80, 0x7b, 0x72],
        sizes_m: [12.0, 1.2, 1.6],
        slope_deg: [20.0, 90.0],
        align: 0.8,
        sink_m: 0.5,
        blocks: true,
        sight_m: 0.0,
    },
    Kind {
        name: "Fence posts",
        doc: "Upright and evenly spread; agents walk around them",
        words: "barrier props objects",
        shape: Shape::Pillar,
        colour: [0x8a, 0x6a, 0x48],
        sizes_m: [20.0, 0.2, 2.0],
        slope_deg: [0.0, 45.0],
        align: 0.0,
        sink_m: 0.2,
        blocks: true,
        sight_m: 0.0,
    },
];

/// The falloff of the slope limits, degrees.
const FEATHER_DEG: f64 = 5.0;

impl Kind {
    /// A layer of the kind.
    pub(crate) fn layer(&self) -> ScatterLayer {
        let [spacing_m, radius_m, height_m] = self.sizes_m;
        let [min, max] = self.slope_deg;
        let mask = Mask {
            source: MaskSource::Slope,
            slope_deg: Band { min, max },
            feather_deg: FEATHER_DEG,
            ..Mask::default()
        };
        let mask: List<Mask> = vec![mask].into();
        ScatterLayer {
            name: self.name.into(),
            spacing_m,
            radius_m,
            height_m,
            mask,
            align: self.align,
            sink_m: self.sink_m,
            shape: self.shape,
            colour: Colour(self.colour),
            blocks: self.blocks,
            sight_m: self.sight_m,
            ..ScatterLayer::default()
        }
    }
}
