//! Soil creep on hillslopes: linear diffusion, ∂h/∂t = D·∇²h.
//!
//! A step consists of two implicit steps, along rows and then along columns (N. N. Yanenko, "The method of fractional
//! steps", 1971: locally one-dimensional, first order in time). Each new height is a weighted mean of the old ones, so
//! steps of any length are stable and create no extrema. There is no flux across the border; heights where flow ends
//! are fixed.
//!
//! Along a line, with p = D·Δt/Δx² towards either neighbour (0 where there is none or the height is fixed),
//! (1 + p + p)·y = x + p·y₋ + p·y₊ is solved by elimination (Thomas), written as z = x + g/(1 + g)·(z₋ − x) with
//! g = p·s₋ and s = (1 + g)/(1 + g + p), followed by y = z + (1 − s)·(y₊ − z). This form keeps level terrain exactly
//! level.

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;
use crate::strips::{STRIP, strips};

/// Rows that are solved together, in vector lanes.
const BLOCK: usize = 16;

/// A step of diffusion on a grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Creep {
    /// D·Δt/Δx² along rows and along columns.
    shares: [f32; 2],
}

impl Creep {
    /// A diffusivity D in m²/year over some years, for the spacing of samples along rows and columns in metres; `None`
    /// if the diffusion is 0.
    pub fn new(diffusion_m2: f64, years: f64, spacing_m: [f64; 2]) -> Option<Self> {
        let shares = spacing_m.map(|spacing_m| (diffusion_m2 * years / (spacing_m * spacing_m)).min(1e12).to_f32());
        shares.iter().any(|share| *share > 0.0).then_some(Self { shares })
    }

    /// Diffuses the heights, except those for which `is_fixed` is true.
    pub fn step(&self, terrain: &mut Heightfield, is_fixed: &[bool], progress: &Progress) -> Result<(), Cancelled> {
        let [along_x, along_z] = self.shares;
        let width = terrain.grid().width();
        let blocks = terrain.heights_mut().par_chunks_mut(BLOCK * width).zip(is_fixed.par_chunks(BLOCK * width));
        blocks.try_for_each_init(<[Vec<[f32; BLOCK]>; 3]>::default, |[lanes, shares, rests], (rows, is_fixed)| {
            lanes.clear();
            lanes.resize(width, [0.0; BLOCK]);
            shares.clear();
            shares.resize(width, [0.0; BLOCK]);
            rests.resize(width, [0.0; BLOCK]);
            for (lane, (row, is_fixed)) in rows.chunks_exact(width).zip(is_fixed.chunks_exact(width)).enumerate() {
                for (((lanes, shares), &x), &is_fixed) in lanes.iter_mut().zip(shares.iter_mut()).zip(row).zip(is_fixed)
                {
                    lanes[lane] = x;
                    shares[lane] = if is_fixed { 0.0 } else { along_x };
                }
            }
            simd(
                #[inline(always)]
                || {
                    let mut lines =
                        Line { heights: lanes.as_flattened_mut(), shares: shares.as_flattened(), lanes: BLOCK };
                    lines.solve(rests.as_flattened_mut());
                },
            );
            for (lane, row) in rows.chunks_exact_mut(width).enumerate() {
                row.iter_mut().zip(&*lanes).for_each(|(x, lanes)| *x = lanes[lane]);
            }
            progress.check()
        })?;
        let strips = strips(terrain.heights_mut(), width, progress)?;
        strips.into_par_iter().enumerate().try_for_each_init(
            <[Vec<f32>; 3]>::default,
            |[heights, shares, rests], (s, mut strip)| {
                heights.clear();
                shares.clear();
                let lanes = strip.first().map_or(0, |piece| piece.len());
                for (r, piece) in strip.iter().enumerate() {
                    heights.extend_from_slice(piece);
                    let is_fixed = &is_fixed[r * width + s * STRIP..][..lanes];
                    shares.extend(is_fixed.iter().map(|is_fixed| if *is_fixed { 0.0 } else { along_z }));
                }
                rests.resize(heights.len(), 0.0);
                progress.check()?;
                simd(
                    #[inline(always)]
                    || Line { heights, shares, lanes }.solve(rests),
                );
                for (piece, heights) in strip.iter_mut().zip(heights.chunks_exact(lanes.max(1))) {
                    piece.copy_from_slice(heights);
                }
                progress.check()
            },
        )
    }
}

/// Lines of heights that are solved together: the first heights of all lines, then the second ones and so on.
struct Line<'a> {
    heights: &'a mut [f32],
    /// p, which is 0 for fixed heights.
    shares: &'a [f32],
    /// At most [`STRIP`].
    lanes: usize,
}

impl Line<'_> {
    /// Solves the lines in place; `rests` is a buffer for 1 − s.
    #[inline(always)]
    fn solve(&mut self, rests: &mut [f32]) {
        let lanes = self.lanes;
        let count = self.heights.len().checked_div(lanes).unwrap_or(0);
        let mut stays = [0.0; STRIP];
        let stays = &mut stays[..lanes];
        for i in 0..count {
            let (before, here) = self.heights.split_at_mut(i * lanes);
            let here = &mut here[..lanes];
            // The values for the first height do not matter, because s is 0 there.
            let before = if i == 0 { self.shares } else { &before[(i - 1) * lanes..] };
            let (before, shares) = (&before[..lanes], &self.shares[i * lanes..][..lanes]);
            let rests = &mut rests[i * lanes..][..lanes];
            let has_next = if i + 1 < count { 1.0 } else { 0.0 };
            for l in 0..lanes {
                let pull = shares[l] * stays[l];
                let next = shares[l] * has_next;
                let whole = 1.0 / (1.0 + pull + next);
                here[l] += pull / (1.0 + pull) * (before[l] - here[l]);
                stays[l] = (1.0 + pull) * whole;
                rests[l] = next * whole;
            }
        }
        for i in (1..count).rev() {
            let (here, after) = self.heights.split_at_mut(i * lanes);
            let (here, after) = (&mut here[(i - 1) * lanes..], &after[..lanes]);
            let rests = &rests[(i - 1) * lanes..][..lanes];
            for l in 0..lanes {
                here[l] += rests[l] * (after[l] - here[l]);
            }
        }
    }
}
