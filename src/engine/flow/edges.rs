//! The lengths of the edges between neighbouring points, and the directions of steepest descent.

use std::sync::Arc;

use super::grid::{END, NEIGHBOURS, tie_break};
use super::mesh::Mesh;
use crate::cast::{ToFloat, ToInteger};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// For each direction: the map that has the edge (see [`Mesh::reciprocal_lengths`]), and the sample in it as columns
/// and rows from the point.
const PLACES: [(usize, [isize; 2]); 8] =
    [(1, [0, -1]), (3, [0, -1]), (0, [0, 0]), (2, [0, 0]), (1, [0, 0]), (3, [-1, 0]), (0, [-1, 0]), (2, [-1, -1])];

/// The directions east, south-east, south and south-west, in which every edge is found at one of its ends.
pub(super) const FORWARD: [u8; 4] = [2, 3, 4, 5];

/// The reciprocal lengths of the edges of a mesh, per metre.
#[derive(Debug)]
pub(super) enum Edges {
    /// Eight neighbours at equal distances everywhere: a regular grid.
    Regular([f32; 8]),
    /// As [`Self::Regular`], but on average, flow takes the direction of steepest descent of the surface, which may be
    /// between two neighbours.
    Facets([f32; 8]),
    /// Maps padded by one sample, with 0 where there is no edge.
    Irregular {
        maps: Arc<[Vec<f32>; 4]>,
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

    /// Routes by facets ([`Self::Facets`]) on a regular grid; irregular meshes are unchanged.
    pub fn into_facets(self) -> Self {
        match self {
            Self::Regular(reciprocals) => Self::Facets(reciprocals),
            other => other,
        }
    }

    /// The reciprocal length of an edge; 0 if there is none in that direction.
    #[inline(always)]
    pub fn reciprocal_length(&self, sample: usize, direction: usize) -> f32 {
        match self {
            Self::Regular(reciprocals) | Self::Facets(reciprocals) => reciprocals[direction],
            Self::Irregular { maps, steps } => maps[PLACES[direction].0][sample.wrapping_add_signed(steps[direction])],
        }
    }

    /// Whether there is an edge in a direction.
    pub fn has(&self, sample: usize, direction: usize) -> bool {
        self.reciprocal_length(sample, direction) > 0.0
    }

    /// The reciprocal lengths of the edges in a direction from the samples of a row that begins at `first`; empty if they
    /// are all equal.
    fn row(&self, first: usize, direction: usize) -> &[f32] {
        match self {
            Self::Regular(_) | Self::Facets(_) => &[],
            Self::Irregular { maps, steps } => {
                &maps[PLACES[direction].0][first.wrapping_add_signed(steps[direction])..]
            }
        }
    }

    /// The reciprocal lengths of the edges in the directions of a row that begins at sample `first`; 0 where flow ends.
    pub fn reciprocal_lengths(&self, first: usize, directions: &[u8]) -> impl Iterator<Item = f32> {
        let rows: [&[f32]; 8] = std::array::from_fn(|k| self.row(first, k));
        directions.iter().copied().map(usize::from).enumerate().map(move |(c, direction)| match self {
            Self::Regular(reciprocals) | Self::Facets(reciprocals) => {
                reciprocals.get(direction).copied().unwrap_or(0.0)
            }
            Self::Irregular { .. } => rows.get(direction).map_or(0.0, |row| row[c]),
        })
    }

    /// Sets one bit for each of the [`FORWARD`] edges from the samples of a row that lead to another basin than theirs and
    /// not to `none`. The row begins at sample `first`; the basins of this row and the next one begin one column before.
    pub fn find_crossed(&self, first: usize, basins: [&[u32]; 2], none: u32, crossed: &mut [u32]) {
        let rows = FORWARD.map(|direction| self.row(first, usize::from(direction)));
        match self {
            Self::Regular(_) | Self::Facets(_) => simd(
                #[inline(always)]
                || find_crossed(basins, none, |_, _| true, crossed),
            ),
            Self::Irregular { .. } => simd(
                #[inline(always)]
                || {
                    let rows = rows.map(|row| &row[..crossed.len()]);
                    find_crossed(basins, none, |k, c| rows[k][c] > 0.0, crossed);
                },
            ),
        }
    }

    /// Finds the directions of steepest descent of a row that begins at sample `first`, which has this number in the full
    /// grid: the first of equally steep
    /// edges, or one beside the descent of the surface.
    pub fn find_steepest(
        &self,
        first: usize,
        number: usize,
        here: &[f32],
        neighbours: &[&[f32]; 8],
        directions: &mut [u8],
    ) {
        match self {
            Self::Regular(reciprocals) => simd(
                #[inline(always)]
                || find_steepest(here, neighbours, |k, _| reciprocals[k], directions),
            ),
            Self::Facets(reciprocals) => simd(
                #[inline(always)]
                || find_steepest_facets(number, here, neighbours, reciprocals, directions),
            ),
            Self::Irregular { .. } => {
                let rows: [&[f32]; 8] = std::array::from_fn(|k| self.row(first, k));
                simd(
                    #[inline(always)]
                    || {
                        // The lengths must be known here for the loop to be vectorized.
                        let rows = rows.map(|row| &row[..directions.len()]);
                        find_steepest(here, neighbours, |k, c| rows[k][c], directions);
                    },
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
    for (c, direction) in directions.iter_mut().enumerate() {
        *direction = steepest_edge(c, here, &neighbours, &reciprocal).1.to_u8();
    }
}

/// See [`Edges::find_crossed`]; `has` gets the number of the edge and that of the sample.
#[inline(always)]
fn find_crossed([here, below]: [&[u32]; 2], none: u32, has: impl Fn(usize, usize) -> bool, crossed: &mut [u32]) {
    let width = crossed.len();
    let (own, east) = (&here[1..][..width], &here[2..][..width]);
    let [west_below, south, east_below] = [&below[..width], &below[1..][..width], &below[2..][..width]];
    for c in 0..width {
        let bit = |k: usize, other: u32| u32::from((other != own[c]) & (other != none) & has(k, c)) << k;
        crossed[c] = bit(0, east[c]) | bit(1, east_below[c]) | bit(2, south[c]) | bit(3, west_below[c]);
    }
}

/// The slope and the direction of the steepest edge from sample c of a row; 0 and [`END`] without a descent.
#[inline(always)]
fn steepest_edge(
    c: usize,
    here: &[f32],
    neighbours: &[&[f32]; 8],
    reciprocal: impl Fn(usize, usize) -> f32,
) -> (f32, u32) {
    let (mut steepest, mut direction) = (0.0, u32::from(END));
    for (k, neighbour) in neighbours.iter().enumerate() {
        let slope = (here[c] - neighbour[c]) * reciprocal(k, c);
        let is_steeper = slope > steepest;
        steepest = if is_steeper { slope } else { steepest };
        direction = if is_steeper { k.to_u32() } else { direction };
    }
    (steepest, direction)
}

/// Finds the directions of a row that begins at a sample with this number in the full grid, so that on average they are those of steepest descent.
/// Single paths on even slopes are irregular, which does not matter for maps of water; erosion would roughen them
/// further, so it runs on an irregular mesh instead.
///
/// The surface around a sample consists of eight triangular facets, each between neighbours in a cardinal and a diagonal
/// direction (D. G. Tarboton, "A new method for the determination of flow directions and upslope areas in grid digital
/// elevation models", Water Resources Research 33, 1997). Where the steepest descent runs within a facet, one of its two
/// neighbours is drawn, so that the mean of the steps has the direction of the descent (randomness in place of the
/// eight directions: J. Fairfield and P. Leymarie, "Drainage networks from grid digital elevation models", Water
/// Resources Research 27, 1991). Both neighbours are lower than the sample.
#[inline(always)]
fn find_steepest_facets(
    number: usize,
    here: &[f32],
    neighbours: &[&[f32]; 8],
    reciprocals: &[f32; 8],
    directions: &mut [u8],
) {
    /// The bits of a pseudorandom number that fit the mantissa of an f32.
    const BITS: u32 = 24;
    let width = directions.len();
    let (here, neighbours) = (&here[..width], neighbours.map(|row| &row[..width]));
    for c in 0..width {
        let random = (tie_break(number + c) >> (u32::BITS - BITS)).to_f32() / (1_u32 << BITS).to_f32();
        let (slope, mut direction) = steepest_edge(c, here, &neighbours, |k, _| reciprocals[k]);
        let mut steepest = slope * slope;
        for cardinal in [0, 2, 4, 6] {
            let per_m = [reciprocals[cardinal], reciprocals[cardinal ^ 2]];
            let along = (here[c] - neighbours[cardinal][c]) * per_m[0];
            for diagonal in [cardinal + 1, (cardinal + 7) % 8] {
                let across = (neighbours[cardinal][c] - neighbours[diagonal][c]) * per_m[1];
                let squared = along * along + across * across;
                // The share of steps to the diagonal neighbour: 1 where the descent runs along the diagonal.
                let [rise, run] = [across * per_m[1], along * per_m[0]];
                let is_steeper = (across > 0.0) & (rise < run) & (squared > steepest);
                steepest = if is_steeper { squared } else { steepest };
                let drawn = if random * run < rise { diagonal } else { cardinal };
                direction = if is_steeper { drawn.to_u32() } else { direction };
            }
        }
        directions[c] = direction.to_u8();
    }
}
