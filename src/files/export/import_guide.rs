//! The interface between an export and its target program.

use std::fmt;

use crate::engine::Grid;
use crate::engine::parameters::Band;
use crate::engine::texture::TextureRecipe;
use crate::files::formats::numbers::decimal;

/// The figures in the import steps of a heightmap.
#[derive(Clone, Debug)]
pub struct ImportFacts<'a> {
    /// The name of the heightmap's file.
    pub file: &'a str,
    /// The grid of that file.
    pub grid: Grid,
    /// The heights of the smallest and of the largest value, or the lowest and the highest height.
    pub range_m: Band,
    /// Whether the range is that of a preview, which may differ a little from that of the export.
    pub is_estimate: bool,
    /// The water level, if there is water.
    pub water_m: Option<f64>,
    /// Columns and rows of tiles, if there is more than one.
    pub tiles: Option<[usize; 2]>,
    /// The names of the terrain types that have weights, in order.
    pub layers: &'a [String],
}

impl ImportFacts<'_> {
    /// Metres from the smallest to the largest value.
    pub fn span_m(&self) -> f64 {
        self.range_m.max - self.range_m.min
    }

    /// A number that depends on the height range, with at most `places` decimal places. An estimate is marked as such
    /// and has fewer places.
    pub fn range_number(&self, number: f64, places: usize) -> String {
        if self.is_estimate {
            format!("about {}", decimal(number, places.saturating_sub(3)))
        } else {
            decimal(number, places)
        }
    }

    /// The numbered terrain types, as a list.
    pub fn numbered_layers(&self) -> String {
        self.layers.iter().enumerate().map(|(at, name)| format!("{at} {name}")).collect::<Vec<_>>().join(", ")
    }
}

/// A file of an import helper: a script, or its README.
#[derive(Clone, Copy, Debug)]
pub struct HelperFile {
    /// The path in the folder of the export.
    pub path: &'static str,
    /// The text.
    pub contents: &'static str,
}

/// How a target program imports an export.
pub trait ImportGuide: fmt::Debug + Send + Sync {
    /// The name of the target on the command line.
    fn key(&self) -> &'static str;

    /// The script that imports the export into the program; empty: there is none.
    fn helper(&self) -> &'static [HelperFile];

    /// The import steps, with the numbers to type.
    fn import_steps(&self, facts: &ImportFacts) -> Vec<String>;

    /// How to use the files of scattered instances.
    fn scatter_step(&self) -> String;

    /// The number of terrain types that the program takes, if it is small.
    fn max_layers(&self) -> Option<usize>;

    /// What the program does not support about a grid and a texture.
    fn warnings(&self, grid: Grid, texture: &TextureRecipe) -> Vec<String>;
}
