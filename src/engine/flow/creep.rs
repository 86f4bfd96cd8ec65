//! Soil that creeps down hillslopes: linear diffusion, ∂h/∂t = D·∇²h.
//!
//! A step is two implicit steps, one along rows and one along columns (N. N. Yanenko, "The method of fractional steps",
//! 1971: locally one-dimensional, first order in time). Each makes every height a mean of heights around it, so that it
//! is stable at any length of step and makes no new peaks and pits. Nothing crosses the border; where rivers end the
//! heights are held.
//!
//! Along a line, with p = D·Δt/Δx² towards either neighbour (0 where there is none, or where the height is held),
//! (1 + p + p)·y = x + p·y₋ + p·y₊ is solved by elimination (Thomas), written as
//! z = x + g/(1 + g)·(z₋ − x) with g = p·s₋ and s = (1 + g)/(1 + g + p), and then y = z + (1 − s)·(y₊ − z):
//! level land stays level to the bit.

use rayon::prelude::*;

use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::simd;
use crate::engine::strips::{STRIP, strips};

/// Rows that go through the vector lanes side by side.
const BLOCK: usize = 16;

/// A step of diffusion on one grid.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Creep {
    /// D·Δt/Δx² along rows and along columns.
    shares: [f32; 2],
}

impl Creep {
    /// D in m²/year over some years, at a spacing in metres along rows and columns; `None` if nothing moves.
    pub fn new(diffusion_m2: f64, years: f64, spacing_m: [f64; 2]) -> Option<Self> {
        let shares = spacing_m.map(|spacing_m| (diffusion_m2 * years / (spacing_m * spacing_m)).min(1e12) as f32);
        shares.iter().any(|share| *share > 0.0).then_some(Self { shares })
    }

    /// Lets the land creep; samples for which `holds` is true keep their heights.
    pub fn step(&self, terrain: &mut Heightfield, holds: &[bool], progress: &Progress) -> Result<(), Cancelled> {
        let [along_x, along_z] = self.shares;
        let width = terrain.grid().width();
        let blocks = terrain.heights_mut().par_chunks_mut(BLOCK * width).zip(holds.par_chunks(BLOCK * width));
        blocks.try_for_each_init(<[Vec<[f32; BLOCK]>; 3]>::default, |[lanes, shares, rests], (rows, holds)| {
            lanes.clear();
            lanes.resize(width, [0.0; BLOCK]);
            shares.clear();
            shares.resize(width, [0.0; BLOCK]);
            rests.resize(width, [0.0; BLOCK]);
            for (lane, (row, holds)) in rows.chunks_exact(width).zip(holds.chunks_exact(width)).enumerate() {
                for (((lanes, shares), &x), &holds) in lanes.iter_mut().zip(shares.iter_mut()).zip(row).zip(holds) {
                    lanes[lane] = x;
                    shares[lane] = if holds { 0.0 } else { along_x };
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
                    let holds = &holds[r * width + s * STRIP..][..lanes];
                    shares.extend(holds.iter().map(|holds| if *holds { 0.0 } else { along_z }));
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

/// Lines of heights side by side, one place of all of them after another.
struct Line<'a> {
    heights: &'a mut [f32],
    /// p, 0 where a height is held.
    shares: &'a [f32],
    /// At most [`STRIP`].
    lanes: usize,
}

impl Line<'_> {
    /// `rests` is space for 1 − s.
    #[inline(always)]
    fn solve(&mut self, rests: &mut [f32]) {
        let lanes = self.lanes;
        let count = self.heights.len().checked_div(lanes).unwrap_or(0);
        let mut stays = [0.0; STRIP];
        let stays = &mut stays[..lanes];
        for i in 0..count {
            let (before, here) = self.heights.split_at_mut(i * lanes);
            let here = &mut here[..lanes];
            // What stands in front of the first place pulls with nothing, because s is 0 there.
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
