//! Trees of binary space partition, prepared to cut the rows of a grid.

use std::ops::Range;

use super::fault_sequence::{Segment, Tree};
use crate::cast::ToInteger;
use crate::fault::to_units;
use crate::heightfield::Grid;

/// A node prepared for one grid.
#[derive(Clone, Copy, Debug)]
struct GridNode {
    point_m: [f64; 2],
    right: [f64; 2],
    /// Converts the part of the distance that is constant along a row into the column of the line.
    columns_per_unit: f64,
    point_column: f64,
}

impl GridNode {
    fn new(segment: &Segment, grid: &Grid) -> Self {
        let (right, spacing) = (segment.right_m(), grid.spacing_x_m());
        Self {
            point_m: segment.from_m,
            right,
            columns_per_unit: -1.0 / (right[0] * spacing),
            point_column: (segment.from_m[0] - grid.x_m(0)) / spacing,
        }
    }

    /// The first column of a span that is east of the line. If the line is parallel to the row or beyond the span, the
    /// entire span is on one side.
    ///
    /// The column is estimated with rounding and then checked with the side test itself, so the result depends only on
    /// the position of the sample and agrees between grids.
    fn column(&self, z: f64, xs: &[f64], span: &Range<usize>) -> usize {
        let across = (z - self.point_m[1]) * self.right[1];
        let is_east = |x: f64| ((x - self.point_m[0]) * self.right[0] + across >= 0.0) == self.right_is_east();
        // Adding one and truncating gives the ceiling except for exact hits; negative values and NaN become 0.
        let guess = (across * self.columns_per_unit + self.point_column + 1.0).to_usize().clamp(span.start, span.end);
        let west_is_west = guess == span.start || !is_east(xs[guess - 1]);
        let east_is_east = guess == span.end || is_east(xs[guess]);
        if west_is_west && east_is_east {
            guess
        } else {
            span.start + xs[span.clone()].partition_point(|&x| !is_east(x))
        }
    }

    fn right_is_east(&self) -> bool {
        self.right[0] > 0.0
    }
}

/// A tree prepared for one grid.
#[derive(Debug)]
pub(super) struct GridTree {
    cuts: Vec<GridNode>,
    root_units: i64,
}

impl GridTree {
    /// Prepares a tree.
    pub fn new(tree: &Tree, grid: &Grid) -> Self {
        Self {
            cuts: tree.nodes.iter().map(|segment| GridNode::new(segment, grid)).collect(),
            root_units: to_units(tree.displacement_m),
        }
    }

    /// Cuts a row into spans of equal uplift, in units: at most one per leaf.
    pub fn row(&self, z: f64, xs: &[f64], lifted: &mut impl FnMut(Range<usize>, i64)) {
        self.cut(0, 0..xs.len(), [0, self.root_units], z, xs, lifted);
    }

    /// `[lift, amplitude]`: the sum over the ancestors, and what the node adds to its right side.
    fn cut(
        &self,
        node: usize,
        span: Range<usize>,
        [lift, amplitude]: [i64; 2],
        z: f64,
        xs: &[f64],
        lifted: &mut impl FnMut(Range<usize>, i64),
    ) {
        let Some(cut) = self.cuts.get(node) else {
            lifted(span, lift);
            return;
        };
        let column = cut.column(z, xs, &span);
        let (west, east) = (span.start..column, column..span.end);
        let (left, right) = if cut.right_is_east() { (west, east) } else { (east, west) };
        if !left.is_empty() {
            self.cut(2 * node + 1, left, [lift - amplitude, amplitude / 2], z, xs, lifted);
        }
        if !right.is_empty() {
            self.cut(2 * node + 2, right, [lift + amplitude, amplitude / 2], z, xs, lifted);
        }
    }
}
