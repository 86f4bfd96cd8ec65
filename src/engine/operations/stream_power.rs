//! The stream-power law of river erosion, solved implicitly on one grid.
//!
//! ∂h/∂t = U − K·Aᵐ·Sⁿ + G·Ē + D·∇²h, with the uplift rate U, the drainage area A, the slope S towards the receiver, the
//! mean net erosion Ē of that area, and the diffusivity D of soil creep (A. D. Howard, "A detachment-limited model of
//! drainage basin evolution", Water Resources Research 30, 1994; for mountain ranges G. Cordonnier et al., "Large scale
//! terrain generation from tectonic uplift and fluvial erosion", Computer Graphics Forum 35, 2016).
//!
//! A step is implicit in the slope and therefore stable at any length (J. Braun and S. D. Willett, Geomorphology
//! 180–181, 2013). The samples are visited upstream, so the receiver's new height is known, and the height x above it
//! solves x + F·xⁿ = h + U·Δt − h_receiver with F = K·Δt·Aᵐ/Δsⁿ: directly for n = 1, otherwise by Newton's method.
//! `flow` routes the water, also out of depressions. Before each step, rivers cut down the outlets of depressions and fill
//! their floors. The step then shapes the cuts like other valleys; cuts made after the last step would be trenches. This
//! is instantaneous, and what is cut or filled does not take part in the balance of sediment.
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

use super::rock_variation::erodibility_factors;
use crate::cast::{ToFloat, ToInteger};
use crate::flow::{Creep, Drainage, FlowOrder, FlowPart, GridSampler, Mesh, PLAIN_SLOPE, RoutingOptions};
use crate::heightfield::{Heightfield, MAX_HEIGHT_M};
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;

/// The solver's own vectors in maps of f32: inputs 2, bits of heights 1, factors of the erodibility 1, fixed samples ¼, and
/// up to twice the equations (3), eroded heights (1) and sediment (1), of which parts keep places for the largest step.
const OWN_MAPS: f64 = 14.25;
/// Area factors are tabulated up to this many samples; larger areas are rare. Some solvers take one step only,
/// the part of one after the last faults.
const TABULATED_AREAS: usize = 1 << 11;

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
    /// The standard deviation of the logarithm of the erodibility from place to place.
    pub erodibility_variation: f64,
    /// The tangent of the steepest slope that stands.
    pub critical_slope: Option<f64>,
    /// G, the dimensionless coefficient of deposition.
    pub deposition: f64,
}

/// Erodes terrain at the points of a mesh, step by step.
#[derive(Debug)]
pub(super) struct StreamPowerSolver {
    law: StreamPowerLaw,
    years: f64,
    cell_m2: f64,
    /// K·Δt·(A + ℓ²)ᵐ/(1 + G), indexed by the drainage area in samples.
    area_factors: Vec<f32>,
    /// The factor of the erodibility of each point, padded; `None` if it is the same everywhere.
    erodibility_factors: Option<Vec<f32>>,
    /// The tangent of the steepest slope that stands; infinite if all do.
    critical_slope: f32,
    mesh: Mesh,
    creep: Option<(Creep, GridSampler)>,
    /// Whether the height of each sample is fixed during creep, because flow ends there.
    is_fixed: Vec<bool>,
    pub(super) drainage: Drainage,
    /// What the maps say of each sample, padded like those of the drainage.
    inputs: Vec<SampleInputs>,
    order: FlowOrder,
    trunk: PartSolution,
    branches: Vec<PartSolution>,
    /// The bits of the new heights of all samples, metres, padded. Threads write them at scattered places.
    eroded_bits: Vec<AtomicU32>,
}

/// The solution of a step for the samples of a part of the order, in this order.
#[derive(Debug, Default)]
struct PartSolution {
    /// What each sample contributes to the equation.
    equations: Vec<Equation>,
    /// The new heights, metres.
    eroded_m: Vec<f32>,
    /// The net erosion of all samples that drain through each in a step, metres. Empty without deposition.
    sediment_m: Vec<f32>,
}

/// A sample, and the edge to its receiver.
#[derive(Clone, Copy, Debug, Default)]
struct SampleInputs {
    /// The height after uplift, before erosion, metres.
    uplifted_m: f32,
    /// The reciprocal of the length, per metre; 0 where flow ends.
    per_m: f32,
}

/// What a sample contributes to the equation of a step. Only the height has a meaning where flow ends.
#[derive(Clone, Copy, Debug, Default)]
struct Equation {
    /// The height after uplift, before erosion, metres.
    uplifted_m: f32,
    /// F.
    factor: f32,
    /// The drop to the receiver at the steepest slope that stands, metres.
    max_drop_m: f32,
}

impl PartSolution {
    /// Sets the sediment to none.
    fn begin_sediment(&mut self) {
        self.sediment_m.clear();
        self.sediment_m.resize(self.eroded_m.len(), 0.0);
    }

    /// Adds the net erosion of all samples of the part and what drains to them.
    fn add_sediment(&mut self, part: &FlowPart) {
        let Self { equations, eroded_m, sediment_m } = self;
        let with_own = |at: usize, upstream_m: f32| net_erosion_m(&equations[at], eroded_m[at]) + upstream_m;
        part.accumulate_downstream(sediment_m, with_own, add_sediment);
    }
}

/// The net erosion of a sample in a step, metres.
#[inline(always)]
fn net_erosion_m(equation: &Equation, eroded_m: f32) -> f32 {
    equation.uplifted_m - eroded_m
}

/// Where more settles than arrives, nothing is carried on.
#[inline(always)]
fn add_sediment(upstream_m: f32, donor_m: f32) -> f32 {
    upstream_m + donor_m.max(0.0)
}

impl StreamPowerSolver {
    /// Peak memory in heightfields.
    pub const MAPS: f64 = Drainage::MAPS + FlowOrder::MAPS + OWN_MAPS + GridSampler::MAPS;

    /// A solver whose steps take `years` each. `stream` decides where the rock is hard.
    pub fn new(
        mesh: Mesh,
        routing: RoutingOptions,
        law: StreamPowerLaw,
        years: f64,
        stream: Stream,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let grid = mesh.grid();
        let drainage = Drainage::new(&mesh, routing, progress)?;
        let creep = match Creep::new(law.creep_m2, years, [grid.spacing_x_m(), grid.spacing_z_m()]) {
            Some(creep) => Some((creep, GridSampler::new(&mesh, progress)?)),
            None => None,
        };
        let sigma = Some(law.erodibility_variation).filter(|sigma| *sigma > 0.0);
        let erodibility_factors = |sigma: f64| {
            let factors = erodibility_factors(&mesh, sigma, stream, progress)?;
            let mut padded = vec![1.0; drainage.padded_samples()];
            let rows = padded.chunks_exact_mut(drainage.stride()).skip(1).zip(factors.chunks_exact(grid.width()));
            rows.for_each(|(padded, row)| padded[1..=grid.width()].copy_from_slice(row));
            Ok(padded)
        };
        let erodibility_factors = sigma.map(erodibility_factors).transpose()?;
        let mut solver = Self {
            law,
            years,
            cell_m2: drainage.cell_m2(),
            area_factors: Vec::new(),
            erodibility_factors,
            critical_slope: law.critical_slope.map_or(f32::INFINITY, ToFloat::to_f32),
            mesh,
            creep,
            is_fixed: vec![false; grid.samples()],
            inputs: vec![SampleInputs::default(); drainage.padded_samples()],
            order: FlowOrder::default(),
            trunk: PartSolution::default(),
            branches: Vec::new(),
            eroded_bits: bytemuck::zeroed_vec(drainage.padded_samples()),
            drainage,
        };
        let tabulated = TABULATED_AREAS.min(grid.samples() + 1).to_u32();
        solver.area_factors = (0..tabulated).map(|area| solver.area_factor(area)).collect();
        Ok(solver)
    }

    /// The mesh at whose points the heights are.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// K·Δt·(A + ℓ²)ᵐ/(1 + G) for an area in samples.
    fn area_factor(&self, area: u32) -> f32 {
        let StreamPowerLaw { erodibility, area_exponent, hillslope_m, deposition, .. } = self.law;
        let area_m2 = f64::from(area) * self.cell_m2 + hillslope_m * hillslope_m;
        let power = if area_exponent == 0.5 { area_m2.sqrt() } else { libm::pow(area_m2, area_exponent) };
        (erodibility * self.years * power / (1.0 + deposition)).to_f32()
    }

    /// Advances the terrain by one step: removes its depressions and widens the cuts, uplifts it by `uplift_m`, row by row
    /// (`None`: not at all), erodes it, and lets soil creep.
    pub fn step(
        &mut self,
        terrain: &mut Heightfield,
        uplift_m: Option<&[f32]>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        self.drainage.route(terrain, progress)?;
        self.order.update(&self.drainage, progress)?;
        self.drainage.remove_depressions(terrain, PLAIN_SLOPE, progress)?;
        self.drainage.widen_cuts(terrain, PLAIN_SLOPE, progress)?;
        self.prepare(terrain, uplift_m, progress)?;
        self.erode(progress)?;
        self.drainage.copy_inside(terrain, |at| f32::from_bits(self.eroded_bits[at].load(Relaxed)), progress)?;
        match &mut self.creep {
            Some((creep, sampler)) => {
                self.drainage.mark_ends(&mut self.is_fixed);
                let diffuse = |samples: &mut Heightfield| creep.step(samples, &self.is_fixed, progress);
                sampler.change(terrain, Some(&self.is_fixed), diffuse, progress)
            }
            None => Ok(()),
        }
    }

    /// Sets the inputs, row by row, where the maps are read in sequence.
    fn prepare(
        &mut self,
        terrain: &Heightfield,
        uplift_m: Option<&[f32]>,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        let drainage = &self.drainage;
        let (stride, width) = (drainage.stride(), self.mesh.grid().width());
        let rows = self.inputs.par_chunks_exact_mut(stride).enumerate().skip(1).take(self.mesh.grid().height());
        rows.with_min_len(8).try_for_each(|(r, row)| {
            let lengths = drainage.reciprocal_lengths(r - 1);
            let heights = terrain.row(r - 1);
            for (((c, inputs), per_m), height_m) in row[1..=width].iter_mut().enumerate().zip(lengths).zip(heights) {
                // Where flow ends, nothing is uplifted.
                let uplift_m = uplift_m.filter(|_| per_m > 0.0).map_or(0.0, |uplift_m| uplift_m[(r - 1) * width + c]);
                *inputs = SampleInputs { uplifted_m: height_m + uplift_m, per_m };
            }
            progress.check()
        })
    }

    /// Sets the eroded heights.
    fn erode(&mut self, progress: &Progress) -> Result<(), Cancelled> {
        // A cancelled step loses only buffers.
        let (mut trunk, mut branches) = (std::mem::take(&mut self.trunk), std::mem::take(&mut self.branches));
        branches.resize_with(self.order.branches().len(), PartSolution::default);
        let in_branches = |branches: &mut [PartSolution], work: &(dyn Fn(&FlowPart, &mut PartSolution) + Sync)| {
            let parts = branches.par_iter_mut().zip(self.order.branches()).with_max_len(1);
            parts.try_for_each(|(values, part)| {
                work(part, values);
                progress.check()
            })
        };
        let ((), prepared) = rayon::join(
            || {
                self.set_equations(self.order.trunk(), &mut trunk);
                self.erode_trunk(&mut trunk);
            },
            || in_branches(&mut branches, &|part, values| self.set_equations(part, values)),
        );
        prepared?;
        let has_deposition = self.law.deposition > 0.0;
        in_branches(&mut branches, &|part, values| {
            self.erode_once(part, values, |receiver| Some(trunk.eroded_m[receiver]));
            if has_deposition {
                values.begin_sediment();
                values.add_sediment(part);
            } else {
                self.keep(part, values);
            }
        })?;
        if has_deposition {
            trunk.begin_sediment();
            for (part, values) in self.order.branches().iter().zip(&branches).rev() {
                part.combine_roots(&values.sediment_m, &mut trunk.sediment_m, add_sediment);
            }
            trunk.add_sediment(self.order.trunk());
            self.erode_again(self.order.trunk(), &mut trunk, |_| None);
            in_branches(&mut branches, &|part, values| {
                self.erode_again(part, values, |receiver| Some(trunk.eroded_m[receiver]));
                self.keep(part, values);
            })?;
        }
        self.keep(self.order.trunk(), &trunk);
        (self.trunk, self.branches) = (trunk, branches);
        Ok(())
    }

    /// Sets what the samples of a part contribute to the equation.
    fn set_equations(&self, part: &FlowPart, values: &mut PartSolution) {
        let equation = |(&sample, &area): (&u32, &u32)| {
            let SampleInputs { uplifted_m, per_m } = self.inputs[sample as usize];
            let area_factor = self.area_factors.get(area as usize).copied();
            let area_factor = area_factor.unwrap_or_else(|| self.area_factor(area));
            let length_factor = if self.law.slope_exponent == 1.0 {
                per_m
            } else {
                libm::powf(per_m, self.law.slope_exponent.to_f32())
            };
            Equation { uplifted_m, factor: area_factor * length_factor, max_drop_m: self.critical_slope / per_m }
        };
        values.equations.clear();
        values.equations.extend(part.samples().iter().zip(part.areas()).map(equation));
        if let Some(factors) = &self.erodibility_factors {
            let samples = values.equations.iter_mut().zip(part.samples());
            samples.for_each(|(equation, sample)| equation.factor *= factors[*sample as usize]);
        }
        values.eroded_m.resize(part.samples().len(), 0.0);
    }

    /// Sets the eroded heights of the trunk.
    fn erode_trunk(&self, trunk: &mut PartSolution) {
        // Outlets are not eroded; with the depressions they have been cut down already.
        let outlets = 0..self.drainage.ends().len();
        for (outlet_m, equation) in trunk.eroded_m[outlets.clone()].iter_mut().zip(&trunk.equations[outlets]) {
            *outlet_m = equation.uplifted_m;
        }
        self.erode_once(self.order.trunk(), trunk, |_| None);
    }

    /// Solves the equations of a part without regard to the sediment that arrives.
    fn erode_once(&self, part: &FlowPart, values: &mut PartSolution, of_receiver: impl Fn(usize) -> Option<f32>) {
        let PartSolution { equations, eroded_m, .. } = values;
        part.propagate_upstream(eroded_m, of_receiver, |at, _, base_m| self.solve(&equations[at], base_m, 0.0));
    }

    /// Solves the equations of a part again with the sediment that the first solution gives.
    ///
    /// The deposit is G times the mean net erosion upstream. The first solution assumes that this is the net erosion of the
    /// sample itself, which holds at a steady state; the second one corrects the difference.
    fn erode_again(&self, part: &FlowPart, values: &mut PartSolution, of_receiver: impl Fn(usize) -> Option<f32>) {
        let PartSolution { equations, eroded_m, sediment_m } = values;
        let share = (self.law.deposition / (1.0 + self.law.deposition)).to_f32();
        part.propagate_upstream(eroded_m, of_receiver, |at, own_m, base_m| {
            let mean_m = sediment_m[at].max(0.0) / part.areas()[at].to_f32();
            self.solve(&equations[at], base_m, share * (mean_m - net_erosion_m(&equations[at], own_m)))
        });
    }

    /// Keeps the eroded heights of a part for the terrain.
    fn keep(&self, part: &FlowPart, values: &PartSolution) {
        for (&sample, &eroded_m) in part.samples().iter().zip(&values.eroded_m) {
            self.eroded_bits[sample as usize].store(eroded_m.min(MAX_HEIGHT_M).to_bits(), Relaxed);
        }
    }

    /// The eroded height of a sample above a receiver at `base_m`. `deposit_m` corrects the deposit for a net erosion
    /// upstream that differs from that of the sample.
    #[inline(always)]
    fn solve(&self, equation: &Equation, base_m: f32, deposit_m: f32) -> f32 {
        let start_m = equation.uplifted_m + deposit_m;
        // Rivers do not cut below the sea that they flow into.
        let base_m = base_m.max(self.drainage.sea_m());
        let drop_m = start_m - base_m;
        if drop_m > 0.0 {
            let rest_m = if self.law.slope_exponent == 1.0 {
                drop_m / (1.0 + equation.factor)
            } else {
                self.remaining_drop_m(drop_m, equation.factor)
            };
            // Steeper slopes slide at once.
            base_m + rest_m.min(equation.max_drop_m)
        } else {
            // The receiver was uplifted more, or filled.
            start_m
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
