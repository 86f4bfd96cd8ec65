//! The stream-power law of river erosion, solved implicitly on one grid.
//!
//! ∂h/∂t = U − K·Aᵐ·Sⁿ + G·Ē + D·∇²h, with the uplift rate U, the drainage area A, the slope S towards the receiver, the
//! mean net erosion Ē of that area, and the diffusivity D of soil creep (A. D. Howard, "A detachment-limited model of drainage basin evolution", Water Resources
//! Research 30, 1994; for mountain ranges G. Cordonnier et al., "Large scale terrain generation from tectonic uplift
//! and fluvial erosion", Computer Graphics Forum 35, 2016).
//!
//! A step is implicit in the slope and therefore stable at any length (J. Braun and S. D. Willett, Geomorphology
//! 180–181, 2013). The samples are visited upstream, so the receiver's new height is known, and the height x above it
//! solves x + F·xⁿ = h + U·Δt − h_receiver with F = K·Δt·Aᵐ/Δsⁿ: directly for n = 1, otherwise by Newton's method.
//! `flow` routes the water, also out of depressions; where the receiver is higher (under a lake) nothing is eroded.
//! Soil creep follows in a separate step (`Creep`).
//!
//! Deposition (P. Davy and D. Lague, "Fluvial erosion/transport equation of landscape evolution models revisited",
//! Journal of Geophysical Research 114, 2009) depends on the erosion upstream. As in X. P. Yuan et al., "A new efficient
//! method to solve the stream power law model taking into account sediment deposition", Journal of Geophysical
//! Research: Earth Surface 124, 2019, the equation is solved again with the erosion that the first solution gives.
//! With the net erosion E = U − ∂h/∂t and its mean Ē upstream, the equation is (1 + G)·E = K·Aᵐ·Sⁿ − G·(Ē − E), whose
//! last term is 0 in the first solution and vanishes at a steady state.
//!
//! Slopes are limited to a critical one: as in non-linear creep, whose flux tends to infinity there (J. J. Roering,
//! J. W. Kirchner and W. E. Dietrich, "Evidence for nonlinear, diffusive sediment transport on hillslopes and
//! implications for landscape morphology", Water Resources Research 35, 1999), slopes become straight and crests sharp.
//!
//! On slopes too short for a stream to form, landslides and rills keep the gradient roughly constant. The solver
//! therefore uses A + ℓ² instead of A, with the hillslope length ℓ. Without it, slopes would steepen with the
//! resolution.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::flow::{Creep, Drainage, GridSampler, Mesh, RoutingOptions};
use crate::engine::heightfield::{Heightfield, MAX_HEIGHT_M};
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
    /// The tangent of the steepest slope that stands.
    pub critical_slope: Option<f64>,
    /// G, the dimensionless coefficient of deposition.
    pub deposition: f64,
}

/// Erodes terrain at the points of a mesh, step by step. Its maps have the one-sample frame of [`Drainage`].
#[derive(Debug)]
pub(super) struct StreamPowerSolver {
    law: StreamPowerLaw,
    years: f64,
    cell_m2: f64,
    /// K·Δt·(A + ℓ²)ᵐ/(1 + G), indexed by the drainage area in samples.
    area_factors: Vec<f32>,
    /// The tangent of the steepest slope that stands; infinite if all do.
    critical_slope: f32,
    mesh: Mesh,
    creep: Option<(Creep, GridSampler)>,
    pub(super) drainage: Drainage,
    /// The heights after uplift, before erosion, metres.
    uplifted_m: Vec<f32>,
    /// The drainage area of each sample, in samples.
    areas: Vec<AtomicU32>,
    /// The new heights as bits: atomics, because threads write along the rivers.
    eroded: Vec<AtomicU32>,
    /// The net erosion of all samples that drain through each in a step, metres, as bits; empty without deposition.
    sediment: Vec<AtomicU32>,
}

impl StreamPowerSolver {
    /// Peak memory in heightfields.
    pub const MAPS: f64 = Drainage::MAPS + 3.0;

    /// A solver whose steps take `years` each.
    pub fn new(
        mesh: Mesh,
        routing: RoutingOptions,
        law: StreamPowerLaw,
        years: f64,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let grid = mesh.grid();
        let drainage = Drainage::new(&mesh, routing, progress)?;
        let framed = drainage.padded_samples();
        let creep = match Creep::new(law.creep_m2, years, [grid.spacing_x_m(), grid.spacing_z_m()]) {
            Some(creep) => Some((creep, GridSampler::new(&mesh, grid, progress)?)),
            None => None,
        };
        let mut solver = Self {
            law,
            years,
            cell_m2: drainage.cell_m2(),
            area_factors: Vec::new(),
            critical_slope: law.critical_slope.map_or(f32::INFINITY, ToFloat::to_f32),
            mesh,
            creep,
            uplifted_m: vec![0.0; framed],
            areas: bytemuck::zeroed_vec(framed),
            eroded: bytemuck::zeroed_vec(framed),
            sediment: bytemuck::zeroed_vec(if law.deposition > 0.0 { framed } else { 0 }),
            drainage,
        };
        let tabulated = TABULATED_AREAS.min(grid.samples() + 1).to_u32();
        solver.area_factors = (0..tabulated).map(|area| solver.area_factor(area)).collect();
        Ok(solver)
    }

    /// K·Δt·(A + ℓ²)ᵐ/(1 + G) for an area in samples.
    fn area_factor(&self, area: u32) -> f32 {
        let StreamPowerLaw { erodibility, area_exponent, hillslope_m, deposition, .. } = self.law;
        let area_m2 = f64::from(area) * self.cell_m2 + hillslope_m * hillslope_m;
        let power = if area_exponent == 0.5 { area_m2.sqrt() } else { libm::pow(area_m2, area_exponent) };
        (erodibility * self.years * power / (1.0 + deposition)).to_f32()
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
        self.erode(progress)?;
        let (width, eroded) = (terrain.grid().width(), &self.eroded);
        let rows = terrain.heights_mut().par_chunks_exact_mut(width).zip(self.drainage.inside()).with_min_len(16);
        rows.try_for_each(|(row, places)| {
            for (height, eroded) in row.iter_mut().zip(&eroded[places]) {
                *height = f32::from_bits(eroded.load(Relaxed)).min(MAX_HEIGHT_M);
            }
            progress.check()
        })?;
        match &self.creep {
            Some((creep, _)) if self.mesh.is_regular() => creep.step(terrain, &self.drainage.ends(), progress),
            Some((creep, sampler)) => {
                // Diffusion works along rows and columns: on the heights at the samples of the grid.
                let before = sampler.sample(terrain.heights(), progress)?;
                let mut after = before.copied(progress)?;
                let is_fixed = self.drainage.ends();
                creep.step(&mut after, &is_fixed, progress)?;
                let change = after.combined(&before, |after, before| after - before, progress)?;
                self.mesh.add_map(terrain, &change, |sample| !is_fixed[sample], progress)
            }
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

    /// Sets the drainage areas and the eroded heights.
    fn erode(&self, progress: &Progress) -> Result<(), Cancelled> {
        let drainage = &self.drainage;
        let load = |map: &[AtomicU32], sample: usize| f32::from_bits(map[sample].load(Relaxed));
        if drainage.has_falling_outlets() && drainage.has_pits() {
            // The lowest height upstream of each sample, which the outlets need.
            let visit = |sample: usize| {
                let upstream =
                    drainage.donors(sample).map(|donor| (self.areas[donor].load(Relaxed), load(&self.eroded, donor)));
                let own = (1, drainage.height_m(sample));
                let (area, lowest_m) = upstream.fold(own, |sum, donor| (sum.0 + donor.0, sum.1.min(donor.1)));
                self.areas[sample].store(area, Relaxed);
                self.eroded[sample].store(lowest_m.to_bits(), Relaxed);
            };
            drainage.visit_downstream(visit, progress)?;
        } else {
            drainage.accumulate(&self.areas, progress)?;
        }
        let is_end = |sample: usize| drainage.receiver(sample).is_none();
        let erode = |sample: usize| {
            if is_end(sample) {
                self.erode_outlet(sample);
            } else {
                self.erode_sample(sample, 0.0);
            }
        };
        drainage.visit_upstream(erode, progress)?;
        if self.sediment.is_empty() {
            return Ok(());
        }
        // The deposit is G times the mean net erosion upstream. The solution so far assumes that this is the net
        // erosion of the sample itself, which holds at a steady state; the second one corrects the difference.
        let net_m = |sample: usize| self.uplifted_m[sample] - load(&self.eroded, sample);
        let add_sediment = |sample: usize| {
            // Where more settles than arrives, nothing is carried on.
            let upstream: f32 = drainage.donors(sample).map(|donor| load(&self.sediment, donor).max(0.0)).sum();
            self.sediment[sample].store((net_m(sample) + upstream).to_bits(), Relaxed);
        };
        drainage.visit_downstream(add_sediment, progress)?;
        let share = (self.law.deposition / (1.0 + self.law.deposition)).to_f32();
        let erode_again = |sample: usize| {
            if !is_end(sample) {
                let mean_m = load(&self.sediment, sample).max(0.0) / self.areas[sample].load(Relaxed).to_f32();
                self.erode_sample(sample, share * (mean_m - net_m(sample)));
            }
        };
        drainage.visit_upstream(erode_again, progress)
    }

    /// Sets the eroded height of an outlet, which is neither uplifted nor eroded. Unless the border keeps its heights,
    /// it is cut down until the terrain behind it can drain, as by the river beyond the border.
    fn erode_outlet(&self, end: usize) {
        let mut end_m = self.drainage.height_m(end);
        if self.drainage.has_falling_outlets() && self.drainage.has_pits() {
            let lowest_m = f32::from_bits(self.eroded[end].load(Relaxed));
            end_m = end_m.min(lowest_m.max(self.drainage.sea_m()));
        }
        self.eroded[end].store(end_m.to_bits(), Relaxed);
    }

    /// Sets the eroded height of a sample whose receiver is already done. `deposit_m` corrects the deposit for a net
    /// erosion upstream that differs from that of the sample.
    fn erode_sample(&self, sample: usize, deposit_m: f32) {
        let Some((direction, receiver)) = self.drainage.receiver(sample) else { return };
        let start_m = self.uplifted_m[sample] + deposit_m;
        // Rivers do not cut below the sea that they flow into.
        let base_m = f32::from_bits(self.eroded[receiver].load(Relaxed)).max(self.drainage.sea_m());
        let drop_m = start_m - base_m;
        let height_m = if drop_m > 0.0 {
            let area = self.areas[sample].load(Relaxed);
            let area_factor = self.area_factors.get(area as usize).copied();
            let area_factor = area_factor.unwrap_or_else(|| self.area_factor(area));
            let per_m = self.drainage.reciprocal_length(sample, direction);
            let rest_m = if self.law.slope_exponent == 1.0 {
                drop_m / (1.0 + area_factor * per_m)
            } else {
                let length_factor = libm::powf(per_m, self.law.slope_exponent.to_f32());
                self.remaining_drop_m(drop_m, area_factor * length_factor)
            };
            // Steeper slopes slide at once.
            base_m + rest_m.min(self.critical_slope / per_m)
        } else {
            start_m
        };
        self.eroded[sample].store(height_m.to_bits(), Relaxed);
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
