//! The stream-power law of river erosion, solved implicitly on one grid.
//!
//! ∂h/∂t = U − K·Aᵐ·Sⁿ + D·∇²h, with the uplift rate U, the drainage area A, the slope S towards the receiver, and the
//! diffusivity D of soil creep (A. D. Howard, "A detachment-limited model of drainage basin evolution", Water Resources
//! Research 30, 1994; for mountain ranges G. Cordonnier et al., "Large scale terrain generation from tectonic uplift
//! and fluvial erosion", Computer Graphics Forum 35, 2016).
//!
//! A step is implicit in the slope and therefore stable at any length (J. Braun and S. D. Willett, Geomorphology
//! 180–181, 2013). The samples are visited upstream, so the receiver's new height is known, and the height x above it
//! solves x + F·xⁿ = h + U·Δt − h_receiver with F = K·Δt·Aᵐ/Δsⁿ: directly for n = 1, otherwise by Newton's method.
//! `flow` routes the water, also out of depressions; where the receiver is higher (under a lake) nothing is eroded.
//! Soil creep follows in a separate step (`Creep`).
//!
//! On slopes too short for a stream to form, landslides and rills keep the gradient roughly constant. The solver
//! therefore uses A + ℓ² instead of A, with the hillslope length ℓ. Without it, slopes would steepen with the
//! resolution.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::flow::{Creep, Drainage, RoutingOptions, filled_vec};
use crate::engine::heightfield::{Grid, Heightfield, MAX_HEIGHT_M};
use crate::engine::progress::{Cancelled, Progress};

/// Area factors are tabulated up to this many samples; larger areas are rare.
const TABULATED_AREAS: usize = 1 << 13;

/// The coefficients of the stream-power law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StreamPowerLaw {
    /// K, 1/year for m = ½, otherwise m^(1 − 2m)/year.
    pub erodibility: f64,
    /// m.
    pub area_exponent: f64,
    /// n.
    pub slope_exponent: f64,
    /// ℓ.
    pub hillslope_m: f64,
    /// D, m²/year.
    pub creep_m2: f64,
}

/// Erodes terrain on one grid, step by step. Its maps have the one-sample frame of [`Drainage`].
#[derive(Debug)]
pub(super) struct StreamPowerSolver {
    law: StreamPowerLaw,
    years: f64,
    cell_m2: f64,
    /// K·Δt·(A + ℓ²)ᵐ, indexed by the drainage area in samples.
    area_factors: Vec<f32>,
    /// Δs⁻ⁿ towards each neighbour.
    length_factors: [f32; 8],
    creep: Option<Creep>,
    pub(super) drainage: Drainage,
    /// The heights after uplift, before erosion, metres.
    uplifted_m: Vec<f32>,
    /// The drainage area of each sample, in samples.
    areas: Vec<AtomicU32>,
    /// The new heights as bits: atomics, because threads write along the rivers.
    eroded: Vec<AtomicU32>,
}

impl StreamPowerSolver {
    /// Peak memory in heightfields.
    pub const MAPS: f64 = Drainage::MAPS + 3.0;

    /// A solver whose steps take `years` each.
    pub fn new(
        grid: Grid,
        routing: RoutingOptions,
        law: StreamPowerLaw,
        years: f64,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let drainage = Drainage::new(grid, routing, progress)?;
        let framed = drainage.padded_samples();
        let zero = || AtomicU32::new(0);
        let length_factor = |length_m: f32| libm::pow(f64::from(length_m), -law.slope_exponent).to_f32();
        let mut solver = Self {
            law,
            years,
            cell_m2: drainage.cell_m2(),
            area_factors: Vec::new(),
            length_factors: drainage.lengths_m().map(length_factor),
            creep: Creep::new(law.creep_m2, years, [grid.spacing_x_m(), grid.spacing_z_m()]),
            uplifted_m: vec![0.0; framed],
            areas: filled_vec(framed, zero, progress)?,
            eroded: filled_vec(framed, zero, progress)?,
            drainage,
        };
        let tabulated = TABULATED_AREAS.min(grid.samples() + 1).to_u32();
        solver.area_factors = (0..tabulated).map(|area| solver.area_factor(area)).collect();
        Ok(solver)
    }

    /// K·Δt·(A + ℓ²)ᵐ for an area in samples.
    fn area_factor(&self, area: u32) -> f32 {
        let StreamPowerLaw { erodibility, area_exponent, hillslope_m, .. } = self.law;
        let area_m2 = f64::from(area) * self.cell_m2 + hillslope_m * hillslope_m;
        let power = if area_exponent == 0.5 { area_m2.sqrt() } else { libm::pow(area_m2, area_exponent) };
        (erodibility * self.years * power).to_f32()
    }

    /// Advances the terrain by one step: uplift by `uplift_m`, row by row (`None`: no uplift), erosion and soil creep.
    pub fn step(
        &mut self,
        terrain: &mut Heightfield,
        uplift_m: Option<&[f32]>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        self.drainage.route(terrain, progress)?;
        self.uplift(terrain, uplift_m, progress)?;
        self.drainage.visit_upstream(&self.areas, |samples| self.erode(samples), progress)?;
        let (width, eroded) = (terrain.grid().width(), &self.eroded);
        let rows = terrain.heights_mut().par_chunks_exact_mut(width).zip(self.drainage.inside()).with_min_len(16);
        rows.try_for_each(|(row, places)| {
            for (height, eroded) in row.iter_mut().zip(&eroded[places]) {
                *height = f32::from_bits(eroded.load(Relaxed)).min(MAX_HEIGHT_M);
            }
            progress.check()
        })?;
        match &self.creep {
            Some(creep) => creep.step(terrain, &self.drainage.ends(), progress),
            None => Ok(()),
        }
    }

    /// Sets the uplifted heights.
    fn uplift(
        &mut self,
        terrain: &Heightfield,
        uplift_m: Option<&[f32]>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let (width, stride) = (terrain.grid().width(), self.drainage.stride());
        let rows = self.uplifted_m.par_chunks_exact_mut(stride).skip(1).zip(terrain.heights().par_chunks_exact(width));
        rows.enumerate().with_min_len(16).try_for_each(|(r, (uplifted_m, row))| {
            let uplifted_m = &mut uplifted_m[1..=width];
            uplifted_m.copy_from_slice(row);
            if let Some(uplift_m) = uplift_m {
                uplifted_m.iter_mut().zip(&uplift_m[r * width..]).for_each(|(height, uplift)| *height += uplift);
            }
            progress.check()
        })
    }

    /// Sets the eroded heights of samples whose receivers are already done.
    fn erode(&self, samples: &[u32]) {
        let sea_m = self.drainage.sea_m();
        let is_linear = self.law.slope_exponent == 1.0;
        for sample in samples.iter().map(|sample| *sample as usize) {
            let uplifted_m = self.uplifted_m[sample];
            let height_m = match self.drainage.receiver(sample) {
                // An outlet is neither uplifted nor eroded.
                None => self.drainage.height_m(sample),
                Some((direction, receiver)) => {
                    // Rivers do not cut below the sea that they flow into.
                    let base_m = f32::from_bits(self.eroded[receiver].load(Relaxed)).max(sea_m);
                    let drop_m = uplifted_m - base_m;
                    if drop_m > 0.0 {
                        let area = self.areas[sample].load(Relaxed);
                        let area_factor = self.area_factors.get(area as usize).copied();
                        let factor =
                            area_factor.unwrap_or_else(|| self.area_factor(area)) * self.length_factors[direction];
                        let rest_m =
                            if is_linear { drop_m / (1.0 + factor) } else { self.remaining_drop_m(drop_m, factor) };
                        base_m + rest_m
                    } else {
                        uplifted_m
                    }
                }
            };
            self.eroded[sample].store(height_m.to_bits(), Relaxed);
        }
    }

    /// The drop that remains of d after a step: the root x of x + F·xⁿ = d.
    fn remaining_drop_m(&self, drop_m: f32, factor: f32) -> f32 {
        root(f64::from(drop_m), f64::from(factor), self.law.slope_exponent).to_f32()
    }
}

/// The root x of x + f·xⁿ = d, for d > 0 and f ≥ 0.
///
/// For n > 1 the left side is convex and increasing, so Newton's method approaches the root from above without
/// overshooting; for n < 1 the same holds in y = xⁿ. Both terms are positive, so the root is below d and (d/f)^(1/n).
fn root(d: f64, f: f64, n: f64) -> f64 {
    // y^p + f·y^q = d, where one of p and q is 1 and the other is greater.
    let (p, q) = if n >= 1.0 { (1.0, n) } else { (1.0 / n, 1.0) };
    let mut y = libm::pow(d, 1.0 / p);
    if f > 0.0 {
        y = y.min(libm::pow(d / f, 1.0 / q));
    }
    for _ in 0..100 {
        let (first, second) = (libm::pow(y, p), f * libm::pow(y, q));
        let next = y - y * (first + second - d) / (p * first + q * second);
        let has_converged = next >= y * (1.0 - 1e-9);
        y = next.clamp(0.0, y);
        if has_converged || y == 0.0 {
            break;
        }
    }
    libm::pow(y, p).min(d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_drops_solve_the_equation() {
        for n in [0.2, 0.5, 0.9, 1.0, 1.3, 2.0, 4.0] {
            for f in [0.0, 1e-30, 1e-6, 0.1, 1.0, 30.0, 1e9, 1e30] {
                for d in [1e-20, 1e-6, 0.3, 1.0, 700.0, 1e9] {
                    let x = root(d, f, n);
                    let sum = x + f * libm::pow(x, n);
                    assert!((0.0..=d).contains(&x) && (sum - d).abs() <= 1e-6 * d, "n {n}, f {f}, d {d}: {x}, {sum}");
                }
            }
        }
    }
}
