//! The faults that an operation creates, for drawing and listing.

use crate::fault::{Fault, to_units};
use crate::rounding::smoothstep;

/// The faults of an operation, in the order of its iterations.
pub enum FaultSequence<'a> {
    /// Straight faults across the whole map, one per iteration.
    Lines(Box<dyn Iterator<Item = Fault> + 'a>),
    /// Trees of faults, one per iteration.
    Trees(Box<dyn Iterator<Item = Tree> + 'a>),
    /// Faults placed by hand.
    Placed(Vec<PlacedFault>),
}

impl FaultSequence<'_> {
    /// The straight faults across the whole map; empty for the other kinds.
    pub fn into_lines(self) -> Vec<Fault> {
        match self {
            Self::Lines(lines) => lines.collect(),
            Self::Trees(_) | Self::Placed(_) => Vec::new(),
        }
    }
}

/// The line of one node of a [`Tree`]. The side to the right of the direction from `from_m` to `to_m`, seen with north
/// on top, goes up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// The start, metres east and south of the north-west corner.
    pub from_m: [f64; 2],
    /// The end, metres east and south of the north-west corner.
    pub to_m: [f64; 2],
}

impl Segment {
    /// A normal that points to the right and has the length of the segment.
    pub(super) fn right_m(&self) -> [f64; 2] {
        [self.from_m[1] - self.to_m[1], self.to_m[0] - self.from_m[0]]
    }
}

/// The faults of one iteration: a complete binary tree. Node n has the children 2n + 1 (left) and 2n + 2 (right).
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The nodes, root first, level by level.
    pub nodes: Vec<Segment>,
    /// How far the root lifts its right side, metres; every level moves half as far as the one above. All these
    /// displacements are multiples of the displacement grid.
    pub displacement_m: f64,
}

impl Tree {
    /// The left and the right child of a node, if it has any.
    pub fn children(&self, node: usize) -> [Option<usize>; 2] {
        [2 * node + 1, 2 * node + 2].map(|child| (child < self.nodes.len()).then_some(child))
    }
}

/// A fault placed by hand: a line with optional ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedFault {
    /// The iteration of the step in which the fault appears, from 1 on.
    pub at: u32,
    /// The line without its ends; its point is the start of the line.
    pub fault: Fault,
    /// The ends; `None` for a fault across the whole map.
    pub ends: Option<Ends>,
}

/// The ends of a placed fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// The length over which the fault has its full displacement, metres.
    pub length_m: f64,
    /// How far beyond either end the fault fades out, metres.
    pub reach_m: f64,
}

impl Ends {
    /// The fraction of the displacement at a distance along the line from its start, in metres.
    fn share(&self, along_m: f64) -> f64 {
        let beyond_m = (-along_m).max(along_m - self.length_m);
        if beyond_m <= 0.0 {
            return 1.0;
        }
        if beyond_m >= self.reach_m {
            return 0.0;
        }
        smoothstep(1.0 - beyond_m / self.reach_m)
    }
}

impl PlacedFault {
    /// The distance of a point along the line from its start, metres.
    fn along_m(&self, x_m: f64, z_m: f64) -> f64 {
        let ([nx, nz], [px, pz]) = (self.fault.normal, self.fault.point_m);
        (x_m - px) * nz - (z_m - pz) * nx
    }

    /// The uplift at a point, metres.
    pub fn uplift_m(&self, x_m: f64, z_m: f64) -> f64 {
        let share = self.ends.map_or(1.0, |ends| ends.share(self.along_m(x_m, z_m)));
        self.fault.uplift_m(x_m, z_m) * share
    }

    /// Adds the uplift of a row's samples, in units of the displacement grid.
    pub(super) fn add_row(&self, z_m: f64, xs: &[f64], sums: &mut [i64]) {
        let (mut first, mut last) = (0, xs.len());
        if let Some(ends) = self.ends {
            // The fault has no effect beyond its reach: only the columns within it are visited.
            let rising = self.fault.normal[1] > 0.0;
            let is_before = |x: f64| self.along_m(x, z_m) < -ends.reach_m;
            let is_within = |x: f64| self.along_m(x, z_m) <= ends.length_m + ends.reach_m;
            (first, last) = if rising {
                (xs.partition_point(|&x| is_before(x)), xs.partition_point(|&x| is_within(x)))
            } else {
                (xs.partition_point(|&x| !is_within(x)), xs.partition_point(|&x| !is_before(x)))
            };
        }
        if first < last {
            for (sum, &x) in sums[first..last].iter_mut().zip(&xs[first..last]) {
                *sum += to_units(self.uplift_m(x, z_m));
            }
        }
    }
}
