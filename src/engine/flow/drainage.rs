//! The flow direction of every sample.

use rayon::prelude::*;

use super::basins::{Basins, FlowDirections, PaddedTerrain};
use super::edges::Edges;
use super::grid::{DonorOffsets, END, NEIGHBOURS, PADDING, TieBreaks, filled_vec};
use super::mesh::Mesh;
use super::options::{Outlets, RoutingOptions};
use crate::cast::ToInteger;
use crate::heightfield::{Grid, Heightfield, copy_heights};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// The drainage of a terrain: flow directions and basins. Can be reused for other terrains on the same mesh.
///
/// The maps are padded by one sample around the terrain, so that every sample has eight neighbours. Unless stated
/// otherwise, sample indices refer to the padded maps.
#[derive(Debug)]
pub(crate) struct Drainage {
    grid: Grid,
    pub(super) options: RoutingOptions,
    /// The distances to the neighbours in samples.
    pub(super) steps: [isize; 8],
    pub(super) donor_offsets: DonorOffsets,
    edges: Edges,
    ties: TieBreaks,
    /// With +∞ in the padding.
    heights: Vec<f32>,
    /// The direction to the receiver, [`END`] or [`PADDING`].
    directions: Vec<u8>,
    /// One bit per neighbour: whether it drains to the sample.
    pub(super) donors: Vec<u8>,
    /// The samples at which flow ends, in row-major order.
    pub(super) ends: Vec<u32>,
    /// The only samples outside the sea at which flow ends, as a padded map; `None`: the outlets of the options.
    fixed_ends: Option<Vec<bool>>,
    /// The samples at the bottom of the basins that had no outlet.
    pub(super) pits: Vec<u32>,
    pub(super) basins: Basins,
}

impl Drainage {
    /// The peak memory in maps of f32: heights, areas, basins, the lengths of edges and, for terrain full of pits,
    /// their passes.
    pub const MAPS: f64 = 10.0;

    /// Allocates the maps; call [`Self::route`] next.
    pub fn new(mesh: &Mesh, options: RoutingOptions, progress: &Progress) -> Result<Self, Cancelled> {
        let grid = mesh.grid();
        let stride = grid.width() + 2;
        let samples = stride * (grid.height() + 2);
        let steps = NEIGHBOURS.map(|[east, south]| south * stride.cast_signed() + east);
        Ok(Self {
            grid,
            options,
            steps,
            donor_offsets: DonorOffsets::new(steps),
            edges: Edges::new(mesh, progress)?,
            ties: TieBreaks::new(grid),
            heights: filled_vec(samples, || f32::INFINITY, progress)?,
            directions: filled_vec(samples, || PADDING, progress)?,
            donors: vec![0; samples],
            ends: Vec::new(),
            fixed_ends: None,
            pits: Vec::new(),
            basins: Basins::default(),
        })
    }

    /// Lets flow on a regular grid run, on average, in the direction of steepest descent of the surface rather than
    /// along the rows, columns and diagonals.
    pub fn on_facets(mut self) -> Self {
        self.edges = self.edges.into_facets();
        self
    }

    /// Sets the only samples outside the sea at which flow ends, as row-major indices, unless it ends at the whole border.
    /// It also ends where a part of a grid is cut out of the world.
    pub fn set_ends(&mut self, samples: &[u32]) {
        if self.options.outlets == Outlets::Border {
            return;
        }
        let (width, stride) = (self.grid.width(), self.stride());
        let mut is_end = vec![false; self.padded_samples()];
        for sample in samples.iter().map(|sample| *sample as usize) {
            is_end[(sample / width + 1) * stride + sample % width + 1] = true;
        }
        for sample in self.border().map(|sample| sample as usize) {
            is_end[sample] |= self.grid.is_at_cut(sample % stride - 1, sample / stride - 1);
        }
        self.fixed_ends = Some(is_end);
    }

    /// The samples per row of the padded maps.
    pub fn stride(&self) -> usize {
        self.grid.width() + 2
    }

    /// The index of a sample of the terrain in the padded maps.
    #[inline(always)]
    pub(super) fn padded(&self, c: usize, r: usize) -> usize {
        (r + 1) * self.stride() + c + 1
    }

    /// The samples of the padded maps.
    pub fn padded_samples(&self) -> usize {
        self.heights.len()
    }

    /// The reciprocal of the distance to the neighbour in a direction, per metre.
    #[inline(always)]
    pub fn reciprocal_length(&self, sample: usize, direction: usize) -> f32 {
        self.edges.reciprocal_length(sample, direction)
    }

    /// The reciprocals of the distances from the samples of a row of the terrain to their receivers, per metre; 0 where flow
    /// ends.
    pub fn reciprocal_lengths(&self, row: usize) -> impl Iterator<Item = f32> {
        let first = (row + 1) * self.stride() + 1;
        self.edges.reciprocal_lengths(first, &self.directions[first..first + self.grid.width()])
    }

    /// The receiver of a sample, as direction and sample index; `None` where flow ends.
    #[inline(always)]
    pub fn receiver(&self, sample: usize) -> Option<(usize, usize)> {
        let direction = usize::from(self.directions[sample]);
        self.steps.get(direction).map(|step| (direction, sample.wrapping_add_signed(*step)))
    }

    /// Routes the flow over a terrain on the grid.
    pub fn route(&mut self, terrain: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        self.copy_heights(terrain, progress)?;
        self.pits = self.find_directions(progress)?;
        self.find_donors(progress)?;
        let (steps, stride) = (self.steps, self.stride());
        let (heights, edges, donor_offsets, ties) = (&self.heights, &self.edges, &self.donor_offsets, self.ties);
        let terrain = PaddedTerrain { steps, donor_offsets, stride, heights, edges, ties };
        let mut flow = FlowDirections { directions: &mut self.directions, donors: &mut self.donors };
        self.basins.drain(&terrain, &mut flow, &self.pits, progress)
    }

    fn copy_heights(&mut self, terrain: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (stride, width) = (self.stride(), self.grid.width());
        let rows = self.heights.par_chunks_exact_mut(stride).skip(1).zip(terrain.heights().par_chunks_exact(width));
        rows.with_min_len(16).try_for_each(|(padded, row)| {
            padded[1..=width].copy_from_slice(row);
            progress.check()
        })
    }

    /// Finds the direction of steepest descent of every sample, or [`END`]; returns the pits.
    fn find_directions(&mut self, progress: &Progress) -> Result<Vec<u32>, Cancelled> {
        let (width, height, stride) = (self.grid.width(), self.grid.height(), self.stride());
        let outlets = OutletRule { grid: self.grid, options: self.options, fixed: self.fixed_ends.as_deref() };
        let (heights, steps, edges, ties) = (&self.heights, self.steps, &self.edges, self.ties);
        let rows = self.directions.par_chunks_exact_mut(stride).enumerate().skip(1).take(height).with_min_len(8);
        let of_row = |(r, directions): (usize, &mut [u8])| {
            let first = r * stride + 1;
            let row = |step: isize| &heights[first.wrapping_add_signed(step)..][..width];
            let (here, neighbours, directions) = (row(0), steps.map(row), &mut directions[1..=width]);
            edges.find_steepest(first, ties.number(first), here, &neighbours, directions);
            let [mut ends, mut flats] = [const { Vec::new() }; 2];
            for (c, (direction, &height)) in directions.iter_mut().zip(here).enumerate() {
                let is_lowest = *direction == END;
                if outlets.is_end(first + c, [c, r - 1], height) || is_lowest && outlets.is_open_side([c, r - 1]) {
                    *direction = END;
                    ends.push((first + c).to_u32());
                } else if is_lowest {
                    flats.push((first + c).to_u32());
                }
            }
            progress.check().map(|()| [ends, flats])
        };
        let of_rows: Vec<[Vec<u32>; 2]> = rows.map(of_row).collect::<Result<_, Cancelled>>()?;
        self.ends.clear();
        self.ends.extend(of_rows.iter().flat_map(|[ends, _]| ends));
        let directions_on_flats = |[_, flats]: &[Vec<u32>; 2]| -> Result<Vec<u8>, Cancelled> {
            progress.check().map(|()| flats.iter().map(|&flat| self.direction_on_flat(flat)).collect())
        };
        let directions: Vec<Vec<u8>> = of_rows.par_iter().map(directions_on_flats).collect::<Result<_, Cancelled>>()?;
        let mut pits = Vec::new();
        for ([_, flats], directions) in of_rows.iter().zip(directions) {
            for (&flat, direction) in flats.iter().zip(directions) {
                self.directions[flat as usize] = direction;
                if direction == END {
                    pits.push(flat);
                }
            }
            progress.check()?;
        }
        Ok(self.without_ends(pits))
    }

    /// Turns pits where flow may leave the terrain into ends, and returns the remaining ones. Without any end, flow ends
    /// at the lowest sample where it may.
    fn without_ends(&mut self, pits: Vec<u32>) -> Vec<u32> {
        let (grid, options, stride) = (self.grid, self.options, self.stride());
        let is_open = |sample: u32| {
            let sample = sample as usize;
            options.is_open(grid, sample % stride - 1, sample / stride - 1)
        };
        let (open, mut pits): (Vec<u32>, Vec<u32>) = match self.fixed_ends {
            Some(_) => (Vec::new(), pits),
            None => pits.into_iter().partition(|pit| is_open(*pit)),
        };
        if !open.is_empty() {
            self.ends.extend(open);
            // Merges two sorted runs.
            self.ends.sort();
        }
        if self.ends.is_empty() {
            let order = |a: &u32, b: &u32| {
                let height = |sample: u32| self.heights[sample as usize];
                height(*a).total_cmp(&height(*b)).then(self.ties.of(*a as usize).cmp(&self.ties.of(*b as usize)))
            };
            let at_border = self.border().filter(|sample| is_open(*sample));
            if let Some(lowest) = at_border.min_by(order) {
                self.directions[lowest as usize] = END;
                pits.retain(|pit| *pit != lowest);
                self.ends.push(lowest);
            }
        }
        pits
    }

    /// The samples of the border.
    fn border(&self) -> impl Iterator<Item = u32> {
        let (width, height, stride) = (self.grid.width(), self.grid.height(), self.stride());
        let row = move |r: usize| (0..width).map(move |c| (r + 1) * stride + c + 1);
        let inner_rows =
            (1..height.saturating_sub(1)).flat_map(move |r| [0, width - 1].map(|c| (r + 1) * stride + c + 1));
        row(0).chain(row(height - 1)).chain(inner_rows).map(ToInteger::to_u32)
    }

    /// The direction of a sample without a lower neighbour: to a neighbour of equal height that has a direction, or
    /// else to the one with the lowest tie break, if that is lower than the sample's own; otherwise [`END`].
    fn direction_on_flat(&self, flat: u32) -> u8 {
        let flat = flat as usize;
        let (mut lowest, mut found) = ((true, self.ties.of(flat)), END);
        for (direction, step) in (0..).zip(self.steps) {
            let neighbour = flat.wrapping_add_signed(step);
            if self.heights[neighbour] == self.heights[flat] && self.edges.has(flat, usize::from(direction)) {
                // Samples on flats have no direction yet.
                let is_flat = self.directions[neighbour] == END && !self.is_end(neighbour);
                if (is_flat, self.ties.of(neighbour)) < lowest {
                    (lowest, found) = ((is_flat, self.ties.of(neighbour)), direction);
                }
            }
        }
        found
    }

    /// Whether flow ends at a sample regardless of its neighbours.
    fn is_end(&self, sample: usize) -> bool {
        let outlets = OutletRule { grid: self.grid, options: self.options, fixed: self.fixed_ends.as_deref() };
        let (c, r) = (sample % self.stride() - 1, sample / self.stride() - 1);
        outlets.is_end(sample, [c, r], self.heights[sample])
    }

    fn find_donors(&mut self, progress: &Progress) -> Result<(), Cancelled> {
        let (stride, height, width) = (self.stride(), self.grid.height(), self.grid.width());
        let (directions, steps) = (&self.directions, self.steps);
        let rows = self.donors.par_chunks_exact_mut(stride).enumerate().skip(1).take(height).with_min_len(8);
        rows.try_for_each(|(r, donors)| {
            let neighbours = steps.map(|step| &directions[(r * stride + 1).wrapping_add_signed(step)..][..width]);
            simd(
                #[inline(always)]
                || find_donors(&neighbours, &mut donors[1..=width]),
            );
            progress.check()
        })
    }

    /// The samples at which flow ends, in row-major order.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Whether outlets can be cut down. They keep their heights if the whole border is the outlet.
    pub(super) fn has_falling_outlets(&self) -> bool {
        self.options.outlets != Outlets::Border
    }

    /// The level of the sea in metres; −∞ without a sea.
    pub fn sea_m(&self) -> f32 {
        self.options.sea_level_m()
    }

    /// The height of a sample in metres.
    #[inline(always)]
    pub fn height_m(&self, sample: usize) -> f32 {
        self.heights[sample]
    }

    /// The row-major index in the terrain of a sample of the padded maps.
    #[inline(always)]
    pub fn row_major(&self, sample: usize) -> usize {
        let (c, r) = (sample % self.stride() - 1, sample / self.stride() - 1);
        r * self.grid.width() + c
    }

    /// A copy of the routed heights, padded by one sample.
    pub(super) fn padded_heights(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let mut heights = vec![0.0; self.heights.len()];
        copy_heights(&mut heights, &self.heights, progress)?;
        Ok(heights)
    }

    /// Copies heights to the terrain; `height_m` gets the index of each sample in the padded maps.
    pub fn copy_inside(
        &self,
        terrain: &mut Heightfield,
        height_m: impl Fn(usize) -> f32 + Sync,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let width = self.grid.width();
        terrain.heights_mut().par_chunks_exact_mut(width).zip(self.inside()).try_for_each(|(row, samples)| {
            for (height, sample) in row.iter_mut().zip(samples) {
                *height = height_m(sample);
            }
            progress.check()
        })
    }

    /// The rows of the terrain, as ranges of samples.
    pub fn inside(&self) -> impl IndexedParallelIterator<Item = std::ops::Range<usize>> {
        let (stride, width) = (self.stride(), self.grid.width());
        (1..self.grid.height() + 1).into_par_iter().map(move |r| r * stride + 1..r * stride + 1 + width)
    }

    /// A row-major map of the terrain without the padding: `number` gets the index of each sample.
    pub(super) fn unpadded<T: Copy + Default + Send>(&self, number: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut map = vec![T::default(); self.grid.samples()];
        let rows = map.par_chunks_exact_mut(self.grid.width()).zip(self.inside()).with_min_len(16);
        rows.for_each(|(row, samples)| row.iter_mut().zip(samples).for_each(|(value, sample)| *value = number(sample)));
        map
    }

    /// The depth of the lakes when all are full, in metres, as a row-major map of the terrain.
    pub fn lakes_m(&self) -> Vec<f32> {
        self.unpadded(|at| (self.basins.level_m(at) - self.heights[at]).max(0.0))
    }

    /// Sets whether flow ends at each sample, as a row-major map of the terrain.
    pub fn mark_ends(&self, is_end: &mut [bool]) {
        is_end.fill(false);
        self.ends.iter().for_each(|end| is_end[self.row_major(*end as usize)] = true);
    }

    /// The area of a cell, m².
    pub fn cell_m2(&self) -> f64 {
        self.grid.spacing_x_m() * self.grid.spacing_z_m()
    }

    /// The receivers of all samples, as row-major indices in the terrain; where flow ends, the sample itself.
    pub fn receivers(&self) -> Vec<u32> {
        let width = self.grid.width();
        let mut receivers = vec![0; self.grid.samples()];
        let rows = receivers.par_chunks_exact_mut(width).zip(self.inside()).enumerate().with_min_len(16);
        rows.for_each(|(r, (row, samples))| {
            for (sample, (receiver, at)) in (r * width..).zip(row.iter_mut().zip(samples)) {
                *receiver = self.receiver_row_major(at, sample).to_u32();
            }
        });
        receivers
    }

    /// The row-major index of the receiver of a sample, given its index in the padded maps and the row-major one; where
    /// flow ends, the sample itself.
    #[inline(always)]
    pub(super) fn receiver_row_major(&self, at: usize, sample: usize) -> usize {
        let [east, south] = NEIGHBOURS.get(usize::from(self.directions[at])).copied().unwrap_or_default();
        sample.wrapping_add_signed(south * self.grid.width().cast_signed() + east)
    }
}

/// Where flow ends regardless of the neighbours.
#[derive(Clone, Copy)]
struct OutletRule<'a> {
    grid: Grid,
    options: RoutingOptions,
    fixed: Option<&'a [bool]>,
}

impl OutletRule<'_> {
    /// Whether flow ends at a sample of the padded maps.
    fn is_end(self, sample: usize, [c, r]: [usize; 2], height: f32) -> bool {
        match self.fixed {
            Some(fixed) => fixed[sample] || self.options.sea_m.is_some_and(|sea_m| height <= sea_m),
            None => self.options.is_end(self.grid, c, r, height),
        }
    }

    /// Whether flow ends at a sample if no neighbour is lower, on flats as well: it is at the side of the outlets.
    fn is_open_side(self, [c, r]: [usize; 2]) -> bool {
        self.fixed.is_none() && self.options.outlets != Outlets::Hollows && self.options.is_open(self.grid, c, r)
    }
}

/// Finds the neighbours that drain to the samples of a row.
#[inline(always)]
fn find_donors(neighbours: &[&[u8]; 8], donors: &mut [u8]) {
    let width = donors.len();
    let neighbours = neighbours.map(|row| &row[..width]);
    for c in 0..width {
        let mut bits = 0;
        for k in 0..8_u8 {
            bits |= u8::from(neighbours[usize::from(k)][c] == k ^ 4) << k;
        }
        donors[c] = bits;
    }
}
