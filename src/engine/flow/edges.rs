//! The lengths of the edges between neighbouring points, and the steepest descent along them.

use super::grid::{END, NEIGHBOURS};
use super::mesh::Mesh;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::simd;

/// For each direction: the map that has the edge (see [`Mesh::reciprocal_lengths`]), and the sample in it as columns
/// and rows from the point.
const PLACES: [(usize, [isize; 2]); 8] =
    [(1, [0, -1]), (3, [0, -1]), (0, [0, 0]), (2, [0, 0]), (1, [0, 0]), (3, [-1, 0]), (0, [-1, 0]), (2, [-1, -1])];

/// The reciprocal lengths of the edges of a mesh, per metre.
#[derive(Debug)]
pub(super) enum Edges {
    /// Eight neighbours at equal distances everywhere: a regular grid.
    Regular([f32; 8]),
    /// Maps padded by one sample, with 0 where there is no edge.
    Irregular {
        maps: [Vec<f32>; 4],
        /// [`PLACES`] as index differences.
        steps: [isize; 8],
    },
}

impl Edges {
    pub fn new(mesh: &Mesh, progress: &Progress) -> Result<Self, Cancelled> {
        let grid = mesh.grid();
        if mesh.is_regular() {
            let (x_m, z_m) = (grid.spacing_x_m(), grid.spacing_z_m());
            let length_m = |[east, south]: [isize; 2]| libm::hypot(east.to_f64() * x_m, south.to_f64() * z_m).to_f32();
            return Ok(Self::Regular(NEIGHBOURS.map(|step| length_m(step).recip())));
        }
        let stride = (grid.width() + 2).cast_signed();
        let steps = PLACES.map(|(_, [east, south])| south * stride + east);
        Ok(Self::Irregular { maps: mesh.reciprocal_lengths(progress)?, steps })
    }

    /// The reciprocal length of an edge; 0 if there is none in that direction.
    #[inline(always)]
    pub fn reciprocal_length(&self, sample: usize, direction: usize) -> f32 {
        match self {
            Self::Regular(reciprocals) => reciprocals[direction],
            Self::Irregular { maps, steps } => maps[PLACES[direction].0][sample.wrapping_add_signed(steps[direction])],
        }
    }

    /// Whether there is an edge in a direction.
    pub fn has(&self, sample: usize, direction: usize) -> bool {
        self.reciprocal_length(sample, direction) > 0.0
    }

    /// Finds the directions of steepest descent of a row that begins at sample `first`; the first of equally steep
    /// ones.
    pub fn find_steepest(&self, first: usize, here: &[f32], neighbours: &[&[f32]; 8], directions: &mut [u8]) {
        match self {
            Self::Regular(reciprocals) => simd(
                #[inline(always)]
                || find_steepest(here, neighbours, |k, _| reciprocals[k], directions),
            ),
            Self::Irregular { maps, steps } => {
                let width = directions.len();
                let rows: [&[f32]; 8] =
                    std::array::from_fn(|k| &maps[PLACES[k].0][first.wrapping_add_signed(steps[k])..][..width]);
                simd(
                    #[inline(always)]
                    || find_steepest(here, neighbours, |k, c| rows[k][c], directions),
                );
            }
        }
    }
}

#[inline(always)]
fn find_steepest(
    here: &[f32],
    neighbours: &[&[f32]; 8],
    reciprocal: impl Fn(usize, usize) -> f32,
    directions: &mut [u8],
) {
    let width = directions.len();
    let (here, neighbours) = (&here[..width], neighbours.map(|row| &row[..width]));
    for c in 0..width {
        let (mut steepest, mut direction) = (0.0, u32::from(END));
        for (k, neighbour) in neighbours.iter().enumerate() {
            let slope = (here[c] - neighbour[c]) * reciprocal(k, c);
            let is_steeper = slope > steepest;
            steepest = if is_steeper { slope } else { steepest };
            direction = if is_steeper { k.to_u32() } else { direction };
        }
        directions[c] = direction.to_u8();
    }
}
