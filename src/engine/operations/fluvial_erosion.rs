//! Rivers that wear land down while it rises: the stream-power law.
//!
//! ∂h/∂t = U − K·Aᵐ·Sⁿ + D·∇²h, with the uplift U, the area A that drains through a place, the slope S towards the place
//! that it drains to, and the creep D of the soil (A. D. Howard, "A detachment-limited model of drainage basin evolution",
//! Water Resources Research 30, 1994; for whole ranges G. Cordonnier et al., "Large scale terrain generation from
//! tectonic uplift and fluvial erosion", Computer Graphics Forum 35, 2016).
//!
//! A step is implicit in the slope and so stable at any length (J. Braun and S. D. Willett, Geomorphology 180–181, 2013):
//! walking upstream the height x above the receiver, which is known already, follows from x + F·xⁿ = h + U·Δt − h_receiver
//! with F = K·Δt·Aᵐ/Δsⁿ; for n = 1 directly, else by Newton's method from a side from which it falls onto the root.
//! The water is led by `flow`, out of every hollow too; where the receiver is higher (under a lake) nothing is worn.
//! Then the soil creeps (`Creep`).
//!
//! On slopes too short for a stream to gather, landslides and small rills do the work, and slopes are about as steep
//! everywhere. So A is taken as A + ℓ² with the length ℓ of slopes: without it, slopes would be the steeper the closer
//! the samples are.
//!
//! Where water divides lie depends on the smallest differences. So all steps are worked on a reference grid of the
//! world. On finer grids what they did to the land is laid over the land as it lies there, and then a few steps are
//! worked there, level by level, with an uplift under which the coarser land would stay as it is: they find the way of
//! the water between the coarse samples and cut the small valleys.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::{Keyframe, Operation, Role, EvalContext};
use crate::engine::flow::{RoutingOptions, Creep, Drainage, Outlets, numbers};
use crate::engine::heightfield::{Grid, MAX_HEIGHT_M, Heightfield};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::parameters::{Spec, choices, parameters};

choices! {
    /// Where the land rises while rivers wear it down.
    pub enum UpliftBy {
        /// Everywhere alike.
        Uniform = "uniform", "Everywhere";
        /// The more the higher the land below lies, and not at all where it is lowest.
        Height = "height", "By the height below";
    }
}

parameters! {
    /// Lets rivers cut valleys into the land while it rises: ridges and spurs stay, and every hollow finds its way out.
    pub struct FluvialErosion {
        /// How many steps of time the rivers work, one an iteration: a few cut gullies, many make a range all of valleys.
        count: u32 = 50, Spec::number("Steps", 0.0, 10_000.0).slider(1.0, 200.0).logarithmic();
        /// How long a step lasts: the longer, the more is worn from one to the next.
        years: f64 = 20_000.0,
            Spec::number("Years in a step", 1.0, 10_000_000.0).slider(1000.0, 250_000.0).unit("years").logarithmic();
        /// How easily rock is worn: the greater, the faster valleys reach inland, and the lower the land becomes.
        erodibility: f64 = 10.0, Spec::number("Erodibility", 0.0, 10_000.0).slider(0.1, 100.0).unit("/Myr").logarithmic();
        /// How fast the land rises meanwhile: without any it is worn away, with more it becomes higher and steeper.
        uplift_mm: f64 = 0.6, Spec::number("Uplift", 0.0, 1000.0).slider(0.0, 10.0).unit("mm/year");
        /// Where the land rises.
        uplift_by: UpliftBy = UpliftBy::Height, Spec::new("Uplift where");
        /// How much more a great river wears than a small one: at small exponents all valleys are alike, at great ones
        /// trunk valleys are flat and their heads steep.
        area_exponent: f64 = 0.5, Spec::number("Area exponent m", 0.0, 1.0).slider(0.3, 0.7);
        /// How much more a steep river wears than a gentle one: above 1 valleys have steep heads, below 1 long steep
        /// stretches.
        slope_exponent: f64 = 1.0, Spec::number("Slope exponent n", 0.2, 4.0).slider(0.5, 2.0);
        /// How long slopes are before water gathers into streams: short ones make land full of gullies, long ones broad
        /// flanks between few valleys.
        hillslope_m: f64 = 40.0, Spec::number("Hillslopes", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// How fast soil creeps downhill: it rounds off ridges and the edges of valleys.
        creep: f64 = 0.0015, Spec::number("Soil creep", 0.0, 1000.0).slider(0.0, 0.02).unit("m²/year");
        /// How much the ways of rivers stray: at 0 they run straight down even slopes, in the eight directions of the grid.
        stray: f64 = 1.0, Spec::number("Stray", 0.0, 1.0);
        /// Where rivers leave the world.
        outlets: Outlets = Outlets::Hollows, Spec::new("Outlets");
        /// The level of a sea in which rivers end: land under it neither rises nor is worn; empty: there is none.
        sea_m: Option<f64> = None,
            Spec::number("Sea level", -100_000.0, 100_000.0).slider(-1000.0, 1000.0).unit("m").fixed();
        /// How many samples the longer side of the grid has on which the rivers are laid out, at every size of map; finer
        /// maps add the small valleys to them.
        reference_samples: u32 = 257,
            Spec::number("Reference samples", 17.0, 513.0).slider(65.0, 513.0).logarithmic().fixed();
    }
}

parameters! {
    /// Rivers that cut valleys while the faults go on, so that the land grows with its valleys; what they take, the land as
    /// a whole rises again.
    pub struct FaultRivers {
        /// After how many faults the rivers have their turn.
        every: u32 = 5, Spec::number("Every", 1.0, 10_000.0).slider(1.0, 100.0).unit("faults").logarithmic();
        /// How long they work each time: the longer, the more of the faults is worn away.
        years: f64 = 2000.0,
            Spec::number("Years", 1.0, 10_000_000.0).slider(100.0, 100_000.0).unit("years").logarithmic();
        /// How easily rock is worn: the greater, the faster valleys reach inland.
        erodibility: f64 = 10.0, Spec::number("Erodibility", 0.0, 10_000.0).slider(0.1, 100.0).unit("/Myr").logarithmic();
        /// How long slopes are before water gathers into streams: short ones make land full of gullies, long ones broad
        /// flanks between few valleys.
        hillslope_m: f64 = 40.0, Spec::number("Hillslopes", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// How fast soil creeps downhill: it rounds off ridges and the edges of valleys.
        creep: f64 = 0.0015, Spec::number("Soil creep", 0.0, 1000.0).slider(0.0, 0.02).unit("m²/year");
    }
}

impl FaultRivers {
    /// The rivers on a grid.
    fn rivers(&self, grid: Grid, progress: &Progress) -> Result<Rivers, Cancelled> {
        let law = StreamPowerLaw {
            erodibility: self.erodibility * 1e-6,
            area_exponent: 0.5,
            slope_exponent: 1.0,
            hillslope_m: self.hillslope_m,
            creep_m2: self.creep,
        };
        let course = RoutingOptions { outlets: Outlets::Hollows, sea_m: None, stray: 1.0 };
        Rivers::new(grid, course, law, self.years, progress)
    }

    /// The rivers on a grid, to be told of every fault.
    pub(super) fn on(&self, grid: Grid, progress: &Progress) -> Result<PeriodicRivers, Cancelled> {
        Ok(PeriodicRivers { rivers: self.rivers(grid, progress)?, every: self.every })
    }

    /// Land of so many faults on another grid. `unworn` is the land of the faults alone on any grid, where it is known:
    /// what lies between the samples of a coarser grid is taken from it.
    pub(super) fn carry(
        &self,
        terrain: &Heightfield,
        context: &EvalContext,
        until: u32,
        unworn: Option<&(dyn Fn(Grid) -> Result<Heightfield, Cancelled> + Sync)>,
    ) -> Result<Heightfield, Cancelled> {
        let steps = until / self.every.max(1);
        if steps == 0 {
            return unworn.map_or_else(|| terrain.resampled(context.grid, context.progress), |unworn| unworn(context.grid));
        }
        let below = unworn.unwrap_or(&|grid| Ok(Heightfield::flat(grid)));
        let rise_m = |below: &Heightfield| Ok(vec![0.0; below.grid().samples()]);
        let rivers = |grid: Grid| self.rivers(grid, context.progress);
        Refinement { terrain, steps, below, rise_m: &rise_m, rivers: &rivers }.carry(context.grid, context.progress)
    }

    /// The grid on which faults with rivers work.
    pub(super) fn working_grid(grid: Grid) -> Grid {
        Grid::fitted(grid.extent(), FAULT_SAMPLES)
    }

    /// The same for a sketch.
    pub(super) fn preview_grid(grid: Grid) -> Grid {
        coarser(grid, Self::working_grid(grid))
    }
}

/// Rivers that have their turn every few faults.
#[derive(Debug)]
pub(super) struct PeriodicRivers {
    rivers: Rivers,
    every: u32,
}

impl PeriodicRivers {
    /// What the rivers do after fault i: nothing, unless it is their turn.
    ///
    /// The land as a whole, outlets and all, rises by what they take from it on the average, so that its mean height stays
    /// what the faults made it: otherwise it would sink for ever, because every fault lowers as much land as it lifts and
    /// rivers only take. The crust does much the same when it is relieved of a load, by about 0.8 of it (A. B. Watts,
    /// "Isostasy and Flexure of the Lithosphere", 2001); here it is all of it, by convention.
    pub fn after(&mut self, i: u32, terrain: &mut Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        if !i.is_multiple_of(self.every) {
            return Ok(());
        }
        let before_m = mean_m(terrain);
        self.rivers.step(terrain, None, progress)?;
        let rebound_m = (before_m - mean_m(terrain)) as f32;
        terrain.heights_mut().par_iter_mut().with_min_len(1 << 13).for_each(|height| *height += rebound_m);
        Ok(())
    }
}

/// The mean height of a land; the rows are added up in their order, whatever the number of threads.
fn mean_m(terrain: &Heightfield) -> f64 {
    let rows = terrain.heights().par_chunks_exact(terrain.grid().width()).with_min_len(32);
    let sums: Vec<f64> = rows.map(|row| row.iter().map(|&height| f64::from(height)).sum()).collect();
    sums.iter().sum::<f64>() / terrain.grid().samples() as f64
}

/// The samples along the longer side of the grid on which rivers run between faults.
const FAULT_SAMPLES: usize = 257;
/// The factors of so many areas are looked up, in samples; larger ones are few.
const KNOWN_AREAS: usize = 1 << 13;
/// Steps that are worked on each finer grid.
const FINE_STEPS: u32 = 3;
/// The samples along the longer side up to which finer grids have steps of their own.
const FINEST: usize = 4097;

/// The law by which rivers wear the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StreamPowerLaw {
    /// K, 1/year for m = ½, else m^(1 − 2m)/year.
    pub erodibility: f64,
    /// m and n.
    pub area_exponent: f64,
    pub slope_exponent: f64,
    /// ℓ.
    pub hillslope_m: f64,
    /// D, m²/year.
    pub creep_m2: f64,
}

/// Rivers on one grid, with all that they need for a step of some years.
#[derive(Debug)]
pub(super) struct Rivers {
    law: StreamPowerLaw,
    years: f64,
    cell_m2: f64,
    /// K·Δt·(A + ℓ²)ᵐ by the samples of the area.
    known: Vec<f32>,
    /// Δs⁻ⁿ towards each neighbour.
    falls: [f32; 8],
    creep: Option<Creep>,
    drainage: Drainage,
    /// Where the ground would rise to without rivers, metres.
    tops: Vec<f32>,
    /// The samples that drain through each.
    areas: Vec<AtomicU32>,
    /// The new heights, as bits: threads write them wherever their rivers run.
    worn: Vec<AtomicU32>,
}

impl Rivers {
    /// Maps of heights that are held.
    pub const MAPS: f64 = Drainage::MAPS + 3.0;

    pub fn new(grid: Grid, course: RoutingOptions, law: StreamPowerLaw, years: f64, progress: &Progress) -> Result<Self, Cancelled> {
        let drainage = Drainage::new(grid, course, progress)?;
        let framed = drainage.framed_samples();
        let zero = || AtomicU32::new(0);
        let mut rivers = Self {
            law,
            years,
            cell_m2: drainage.cell_m2(),
            known: Vec::new(),
            falls: drainage.lengths_m().map(|length_m| libm::pow(f64::from(length_m), -law.slope_exponent) as f32),
            creep: Creep::new(law.creep_m2, years, [grid.spacing_x_m(), grid.spacing_z_m()]),
            tops: vec![0.0; framed],
            areas: numbers(framed, zero, progress)?,
            worn: numbers(framed, zero, progress)?,
            drainage,
        };
        rivers.known = (0..KNOWN_AREAS.min(grid.samples() + 1) as u32).map(|area| rivers.factor(area)).collect();
        Ok(rivers)
    }

    /// K·Δt·(A + ℓ²)ᵐ for an area in samples.
    fn factor(&self, area: u32) -> f32 {
        let StreamPowerLaw { erodibility, area_exponent, hillslope_m, .. } = self.law;
        let area_m2 = f64::from(area) * self.cell_m2 + hillslope_m * hillslope_m;
        let power = if area_exponent == 0.5 { area_m2.sqrt() } else { libm::pow(area_m2, area_exponent) };
        (erodibility * self.years * power) as f32
    }

    /// Lets the rivers work for the years of a step, and the soil creep. `rise_m` says how far each sample rises, row by
    /// row; `None`: nothing rises.
    pub fn step(&mut self, terrain: &mut Heightfield, rise_m: Option<&[f32]>, progress: &Progress) -> Result<(), Cancelled> {
        self.drainage.route(terrain, progress)?;
        let (width, stride) = (terrain.grid().width(), self.drainage.stride());
        let rows = self.tops.par_chunks_exact_mut(stride).skip(1).zip(terrain.heights().par_chunks_exact(width));
        rows.enumerate().with_min_len(16).try_for_each(|(r, (tops, row))| {
            let tops = &mut tops[1..=width];
            tops.copy_from_slice(row);
            if let Some(rise_m) = rise_m {
                tops.iter_mut().zip(&rise_m[r * width..]).for_each(|(top, rise)| *top += rise);
            }
            progress.check()
        })?;
        let (drainage, tops, worn, areas) = (&self.drainage, &self.tops, &self.worn, &self.areas);
        let sea_m = drainage.sea_m();
        let is_linear = self.law.slope_exponent == 1.0;
        let wear = |samples: &[u32]| {
            for sample in samples.iter().map(|sample| *sample as usize) {
                let top_m = tops[sample];
                let height_m = match drainage.receiver(sample) {
                    // Rivers end here: neither raised nor worn.
                    None => drainage.height_m(sample),
                    Some((way, receiver)) => {
                        // No river cuts below the sea that it runs into.
                        let floor_m = f32::from_bits(worn[receiver].load(Relaxed)).max(sea_m);
                        let drop_m = top_m - floor_m;
                        if drop_m > 0.0 {
                            let area = areas[sample].load(Relaxed);
                            let known = self.known.get(area as usize);
                            let factor = known.copied().unwrap_or_else(|| self.factor(area)) * self.falls[way];
                            let rest_m = if is_linear { drop_m / (1.0 + factor) } else { self.rest_m(drop_m, factor) };
                            floor_m + rest_m
                        } else {
                            top_m
                        }
                    }
                };
                worn[sample].store(height_m.to_bits(), Relaxed);
            }
        };
        drainage.visit_upstream(areas, wear, progress)?;
        let rows = terrain.heights_mut().par_chunks_exact_mut(width).zip(drainage.inside()).with_min_len(16);
        rows.try_for_each(|(row, places)| {
            for (height, worn) in row.iter_mut().zip(&worn[places]) {
                *height = f32::from_bits(worn.load(Relaxed)).min(MAX_HEIGHT_M);
            }
            progress.check()
        })?;
        match &self.creep {
            Some(creep) => creep.step(terrain, &drainage.ends(), progress),
            None => Ok(()),
        }
    }

    /// What is left of a drop d after a step: the root x of x + F·xⁿ = d.
    fn rest_m(&self, drop_m: f32, factor: f32) -> f32 {
        root(f64::from(drop_m), f64::from(factor), self.law.slope_exponent) as f32
    }
}

/// The root x of x + f·xⁿ = d, for d > 0 and f ≥ 0.
///
/// For n > 1 the left side is convex and rising, so that Newton's method falls onto the root from above without ever
/// passing it; for n < 1 the same holds in y = xⁿ. Both terms being positive, the root lies below d and (d/f)^(1/n).
fn root(d: f64, f: f64, n: f64) -> f64 {
    // y^p + f·y^q = d, where one of p and q is 1 and the other one greater.
    let (p, q) = if n >= 1.0 { (1.0, n) } else { (1.0 / n, 1.0) };
    let mut y = libm::pow(d, 1.0 / p);
    if f > 0.0 {
        y = y.min(libm::pow(d / f, 1.0 / q));
    }
    for _ in 0..100 {
        let (first, second) = (libm::pow(y, p), f * libm::pow(y, q));
        let next = y - y * (first + second - d) / (p * first + q * second);
        let is_there = next >= y * (1.0 - 1e-9);
        y = next.clamp(0.0, y);
        if is_there || y == 0.0 {
            break;
        }
    }
    libm::pow(y, p).min(d)
}

impl FluvialErosion {
    fn law(&self) -> StreamPowerLaw {
        StreamPowerLaw {
            erodibility: self.erodibility * 1e-6,
            area_exponent: self.area_exponent,
            slope_exponent: self.slope_exponent,
            hillslope_m: self.hillslope_m,
            creep_m2: self.creep,
        }
    }

    fn rivers(&self, grid: Grid, progress: &Progress) -> Result<Rivers, Cancelled> {
        let sea_m = self.sea_m.map(|sea_m| sea_m as f32);
        let course = RoutingOptions { outlets: self.outlets, sea_m, stray: self.stray as f32 };
        Rivers::new(grid, course, self.law(), self.years, progress)
    }

    /// How far each sample rises in a step, metres.
    fn rise_m(&self, grid: Grid, below: Option<&Heightfield>, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let step_m = (self.uplift_mm * 1e-3 * self.years) as f32;
        match (self.uplift_by, below) {
            (UpliftBy::Height, Some(below)) => {
                let [lowest, high] = below.min_max_cancellable(progress)?;
                let low = self.sea_m.map_or(lowest, |sea_m| lowest.max(sea_m as f32)).min(high);
                let range = high - low;
                let share = |height: f32| if range > 0.0 { ((height - low) / range).max(0.0) } else { 1.0 };
                Ok(below.heights().par_iter().with_min_len(1 << 14).map(|&height| step_m * share(height)).collect())
            }
            (UpliftBy::Uniform, _) | (UpliftBy::Height, None) => Ok(vec![step_m; grid.samples()]),
        }
    }
}

impl Operation for FluvialErosion {
    const KEY: &'static str = "fluvial_erosion";
    const LABEL: &'static str = "Fluvial erosion";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        true
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        Grid::fitted(grid.extent(), self.reference_samples as usize)
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        coarser(grid, self.working_grid(grid))
    }

    fn peak_maps(&self, _grid: Grid) -> f64 {
        3.0 + Rivers::MAPS
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (done, mut terrain) = match resume {
            Some(keyframe) => (keyframe.iteration, keyframe.terrain.copied(context.progress)?),
            None => (0, context.heights_below()?),
        };
        let counter = context.progress.counter((until - done) as usize);
        let rise_m = self.rise_m(context.grid, context.below, context.progress)?;
        let mut rivers = self.rivers(context.grid, context.progress)?;
        for _ in done..until {
            rivers.step(&mut terrain, Some(&rise_m), context.progress)?;
            counter.add_one()?;
        }
        Ok(terrain)
    }

    fn upsample_peak_maps(&self, _grid: Grid) -> f64 {
        Refinement::MAPS
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        let below = |grid: Grid| match context.below {
            Some(below) if below.grid() == grid => below.copied(context.progress),
            Some(below) => below.resampled(grid, context.progress),
            None => Ok(Heightfield::flat(grid)),
        };
        if until == 0 {
            return below(context.grid);
        }
        let rise_m = |below: &Heightfield| self.rise_m(below.grid(), Some(below), context.progress);
        let rivers = |grid: Grid| self.rivers(grid, context.progress);
        Refinement { terrain, steps: until, below: &below, rise_m: &rise_m, rivers: &rivers }.carry(context.grid, context.progress)
    }
}

/// Land worn by rivers on one grid, to be carried to another one.
pub(super) struct Refinement<'a> {
    /// The worn land.
    pub terrain: &'a Heightfield,
    /// How many steps it has been worn.
    pub steps: u32,
    /// What it was before, on any grid.
    pub below: &'a (dyn Fn(Grid) -> Result<Heightfield, Cancelled> + Sync),
    /// How far each sample rises in a step, on the grid of the land that it was before, metres.
    pub rise_m: &'a (dyn Fn(&Heightfield) -> Result<Vec<f32>, Cancelled> + Sync),
    /// The rivers on a grid.
    pub rivers: &'a (dyn Fn(Grid) -> Result<Rivers, Cancelled> + Sync),
}

impl Refinement<'_> {
    /// Maps of heights that are held on the finer grid.
    pub const MAPS: f64 = 4.0 + Rivers::MAPS;

    /// The land on another grid: resampled to a coarser one; on the way to a finer one what was worn is laid over the
    /// land that was there before, and worn a few steps more.
    pub fn carry(&self, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let from = self.terrain.grid();
        if to.width() <= from.width() && to.height() <= from.height() {
            return self.terrain.resampled(to, progress);
        }
        let below = progress.stage(0.0..0.05, || (self.below)(from))?;
        let rise_m = self.settled_rise_m(&below, progress)?;
        let mut worn = self.terrain.copied(progress)?.joined(&below, |terrain, below| terrain - below, progress)?;
        let grids = finer_grids(from, to);
        // A grid takes four times as long as the one before.
        let total: f32 = (0..grids.len()).map(|i| (1 << (2 * i)) as f32).sum();
        let mut begun = 0.1;
        for (i, &grid) in grids.iter().enumerate() {
            let ended = if grid == to { 1.0 } else { begun + 0.9 * (1 << (2 * i)) as f32 / total };
            worn = progress.stage(begun..ended, || {
                let below = progress.stage(0.0..0.1, || (self.below)(grid))?;
                let terrain = progress.stage(0.1..0.2, || worn.resampled(grid, progress))?;
                let mut terrain = terrain.joined(&below, |worn, below| worn + below, progress)?;
                if grid.width().max(grid.height()) <= FINEST {
                    let rise_m = progress.stage(0.2..0.3, || rise_m.resampled(grid, progress))?;
                    let mut rivers = (self.rivers)(grid)?;
                    let steps = self.steps.min(FINE_STEPS);
                    for step in 0..steps {
                        rivers.step(&mut terrain, Some(rise_m.heights()), progress)?;
                        progress.report(0.3 + 0.7 * (step + 1) as f32 / steps as f32);
                    }
                }
                if grid == to { Ok(terrain) } else { terrain.joined(&below, |terrain, below| terrain - below, progress) }
            })?;
            begun = ended;
        }
        Ok(worn)
    }

    /// The rise of a step less what the step changes: under it the land stays as it is.
    fn settled_rise_m(&self, below: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let grid = self.terrain.grid();
        let rise_m = (self.rise_m)(below)?;
        let mut changed = self.terrain.copied(progress)?;
        (self.rivers)(grid)?.step(&mut changed, Some(&rise_m), progress)?;
        let mut settled = changed.joined(self.terrain, |changed, terrain| terrain - changed, progress)?;
        settled.heights_mut().iter_mut().zip(rise_m).for_each(|(settled, rise)| *settled += rise);
        Ok(settled)
    }
}

/// The one of two grids of a world that has fewer samples.
fn coarser(a: Grid, b: Grid) -> Grid {
    if a.samples() < b.samples() { a } else { b }
}

/// The grids from one to another that is finer, each with about twice the samples of the one before.
fn finer_grids(from: Grid, to: Grid) -> Vec<Grid> {
    let mut grids = Vec::new();
    let mut longer = from.width().max(from.height());
    while 2 * longer - 1 < to.width().max(to.height()) {
        longer = 2 * longer - 1;
        grids.push(Grid::fitted(to.extent(), longer));
    }
    grids.push(to);
    grids
}

#[cfg(test)]
mod tests {
    use super::super::testing::{raised, shaped};
    use super::*;
    use crate::engine::heightfield::Extent;
    use crate::engine::inputs::Inputs;
    use crate::engine::operations::faults::Faults;
    use crate::engine::random::Stream;

    fn square(side: usize, side_m: f64) -> Grid {
        Grid::new(Extent { width_m: side_m, depth_m: side_m }, side, side)
    }

    /// Rivers of the plain law, without slopes of a least length, creep or stray.
    fn plain(area_exponent: f64, slope_exponent: f64) -> FluvialErosion {
        FluvialErosion {
            area_exponent,
            slope_exponent,
            uplift_mm: 1.0,
            uplift_by: UpliftBy::Uniform,
            hillslope_m: 0.0,
            creep: 0.0,
            stray: 0.0,
            outlets: Outlets::Border,
            ..Default::default()
        }
    }

    /// The land after as many steps of as many years as it takes to change no more.
    fn fixed(erosion: &FluvialErosion, terrain: &Heightfield, steps: u32, years: f64) -> Heightfield {
        raised(&FluvialErosion { years, ..erosion.clone() }, terrain.grid(), Some(terrain), steps)
    }

    fn rough(grid: Grid, height_m: f64) -> Heightfield {
        let mut draw = Stream::new(8, 1).at(0);
        Heightfield::from_fn(grid, |_, _| (height_m * draw.unit()) as f32)
    }

    /// The exponent and the level of the line of slopes over areas of all samples that drain `least_m2` or more.
    fn slopes_over_areas(erosion: &FluvialErosion, terrain: &Heightfield, least_m2: f32) -> [f64; 2] {
        let progress = Progress::new();
        let mut rivers = erosion.rivers(terrain.grid(), &Progress::new()).expect("not cancelled");
        rivers.drainage.route(terrain, &progress).expect("not cancelled");
        let areas = rivers.drainage.areas_m2(&progress).expect("not cancelled");
        let width = terrain.grid().width();
        let mut points = Vec::new();
        for (sample, &receiver) in rivers.drainage.receivers().iter().enumerate() {
            let receiver = receiver as usize;
            if receiver != sample && areas[sample] >= least_m2 {
                let [east, south] = [receiver % width, receiver / width]
                    .iter()
                    .zip([sample % width, sample / width])
                    .map(|(&a, b)| a.abs_diff(b) as f64)
                    .collect::<Vec<f64>>()[..]
                else {
                    unreachable!("two of them")
                };
                let run_m = libm::hypot(east * terrain.grid().spacing_x_m(), south * terrain.grid().spacing_z_m());
                let drop_m = f64::from(terrain.heights()[sample]) - f64::from(terrain.heights()[receiver]);
                points.push([libm::log(f64::from(areas[sample])), libm::log(drop_m / run_m)]);
            }
        }
        let count = points.len() as f64;
        let [mean_x, mean_y] = [0, 1].map(|i| points.iter().map(|point| point[i]).sum::<f64>() / count);
        let slope = points.iter().map(|[x, y]| (x - mean_x) * (y - mean_y)).sum::<f64>()
            / points.iter().map(|[x, _]| (x - mean_x) * (x - mean_x)).sum::<f64>();
        [slope, libm::exp(mean_y - slope * mean_x)]
    }

    #[test]
    fn steady_land_has_the_slopes_of_the_law() {
        for (side, [m, n]) in [(257, [0.5, 1.0]), (513, [0.5, 1.0]), (129, [0.4, 1.0]), (129, [0.6, 1.5]), (129, [0.4, 0.7])] {
            let erosion = plain(m, n);
            let terrain = fixed(&erosion, &rough(square(side, 20_000.0), 1.0), 60, 400_000.0);
            let [exponent, level] = slopes_over_areas(&erosion, &terrain, 0.0);
            // U/K in m^2m.
            let expected = libm::pow(1e-3 / 1e-5, 1.0 / n);
            println!("{side}², m {m}, n {n}: exponent {exponent:.4}, level {level:.2} of {expected:.2}");
            assert!((exponent + m / n).abs() <= 0.03 * m / n, "{exponent} for m/n = {}", m / n);
            assert!((level - expected).abs() <= 0.05 * expected, "{level}, not {expected}");
        }
    }

    #[test]
    fn a_long_profile_is_the_one_of_the_equation() {
        // Rows side by side down to the west: A = (L − x)·Δz, so h = U/K·Δz^−½·2·(√L − √(L − x)).
        let grid = Grid::new(Extent { width_m: 10_000.0, depth_m: 20.0 }, 1001, 3);
        let erosion = FluvialErosion { outlets: Outlets::West, ..plain(0.5, 1.0) };
        let terrain = fixed(&erosion, &Heightfield::from_fn(grid, |c, _| c as f32), 20, 1e7);
        let (length_m, across_m) = (10_005.0_f64, grid.spacing_z_m());
        let expected = |x: f64| 100.0 / across_m.sqrt() * 2.0 * (length_m.sqrt() - (length_m - x).sqrt());
        let highest = expected(10_000.0);
        for c in 0..1001 {
            let (found, expected) = (f64::from(terrain[(c, 1)]), expected(grid.x_m(c)));
            assert!((found - expected).abs() < 0.01 * highest, "{found}, not {expected}, at column {c}");
        }
    }

    #[test]
    fn creep_alone_makes_a_parabola() {
        // D·h″ = −U from the held west to the east, where nothing crosses the border half a spacing beyond.
        let grid = Grid::new(Extent { width_m: 1000.0, depth_m: 20.0 }, 101, 3);
        let erosion =
            FluvialErosion { erodibility: 0.0, creep: 0.5, outlets: Outlets::West, ..plain(0.5, 1.0) };
        let terrain = fixed(&erosion, &Heightfield::from_fn(grid, |c, _| c as f32), 60, 1e6);
        for c in 0..101 {
            let x = grid.x_m(c);
            let expected = 1e-3 / 0.5 * (1005.0 * x - 0.5 * x * x);
            let found = f64::from(terrain[(c, 1)]);
            assert!((found - expected).abs() < 0.002 * 1000.0, "{found}, not {expected}, at column {c}");
        }
    }

    #[test]
    fn level_land_creeps_nowhere_and_no_step_is_too_long() {
        let erosion = FluvialErosion { erodibility: 0.0, uplift_mm: 0.0, creep: 1000.0, ..plain(0.5, 1.0) };
        let level = Heightfield::from_fn(square(33, 10.0), |_, _| 1234.567);
        assert_eq!(fixed(&erosion, &level, 3, 1e7), level);
        let rough = rough(square(33, 10.0), 1000.0);
        for years in [1.0, 1e4, 1e7] {
            let terrain = fixed(&erosion, &rough, 2, years);
            let ([low, high], [lowest, highest]) = (terrain.min_max(), rough.min_max());
            assert!(low >= lowest && high <= highest, "{low} … {high} after steps of {years} years");
        }
    }

    #[test]
    fn drops_that_are_left_solve_the_equation() {
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

    #[test]
    fn land_under_the_sea_stays_as_it_is_and_rivers_end_there() {
        let grid = square(65, 4000.0);
        let below = raised(&Faults { count: 200, ..Default::default() }, grid, None, 200);
        let [low, high] = below.min_max();
        let sea_m = f64::from(low + 0.4 * (high - low)).round();
        let erosion = FluvialErosion { sea_m: Some(sea_m), creep: 0.0, ..Default::default() };
        let terrain = raised(&erosion, grid, Some(&below), 10);
        let mut worn = 0;
        for (height, below) in terrain.heights().iter().zip(below.heights()) {
            if f64::from(*below) <= sea_m {
                assert_eq!(height, below);
            } else {
                worn += usize::from(height < below);
                assert!(f64::from(*height) >= sea_m);
            }
        }
        assert!(worn > 1000, "{worn}");
    }

    #[test]
    fn from_a_keyframe_the_same_bytes() {
        let grid = square(65, 4000.0);
        let below = raised(&Faults { count: 100, ..Default::default() }, grid, None, 100);
        let erosion = FluvialErosion::default();
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { grid, below: Some(&below), stream: Stream::new(1, 1), inputs: &inputs, progress: &progress };
        let at = |until, resume| erosion.evaluate(&context, until, resume).expect("not cancelled");
        let seven = at(7, None);
        assert_eq!(at(12, Some(Keyframe { iteration: 7, terrain: &seven })), at(12, None));
        assert_eq!(at(0, None), below);
    }

    /// The default range on a grid, as the evaluator makes it.
    fn range(side: usize) -> Heightfield {
        let grid = square(side, 8192.0);
        let ground = Faults { displacement_m: 40.0, decay_to_m: 2.0, zone_m: 240.0, ..Default::default() };
        let below = raised(&ground, grid, None, 1000);
        let erosion = FluvialErosion { uplift_mm: 1.2, hillslope_m: 80.0, creep: 0.006, ..Default::default() };
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let there = erosion.working_grid(grid);
        let below_there = below.resampled(there, &progress).expect("not cancelled");
        let worn = raised(&erosion, there, Some(&below_there), erosion.count);
        let context = EvalContext { grid, below: Some(&below), stream: Stream::new(1, 1), inputs: &inputs, progress: &progress };
        erosion.upsample(&worn, &context, erosion.count).expect("not cancelled")
    }

    /// The samples through which a hundredth of the world drains.
    fn rivers_of(terrain: &Heightfield) -> Vec<[f64; 2]> {
        let grid = terrain.grid();
        let progress = Progress::new();
        let mut rivers = FluvialErosion::default().rivers(grid, &progress).expect("not cancelled");
        rivers.drainage.route(terrain, &progress).expect("not cancelled");
        let areas = rivers.drainage.areas_m2(&progress).expect("not cancelled");
        let least_m2 = (0.01 * grid.extent().width_m * grid.extent().depth_m) as f32;
        (0..grid.samples())
            .filter(|sample| areas[*sample] >= least_m2)
            .map(|sample| [grid.x_m(sample % grid.width()), grid.z_m(sample / grid.width())])
            .collect()
    }

    #[test]
    fn small_and_large_maps_show_the_same_range_and_the_same_rivers() {
        let [small, large] = [257, 1025].map(range);
        let squares: f64 = (0..257 * 257)
            .map(|i| f64::from(small[(i % 257, i / 257)] - large[(4 * (i % 257), 4 * (i / 257))]))
            .map(|difference| difference * difference)
            .sum();
        let [low, high] = large.min_max();
        let rms = (squares / (257.0 * 257.0)).sqrt() / f64::from(high - low);
        let [of_small, of_large] = [&small, &large].map(rivers_of);
        let within_m = 2.0 * small.grid().spacing_x_m();
        let overlap = |of: &[[f64; 2]], others: &[[f64; 2]]| {
            let near = |at: &&[f64; 2]| others.iter().any(|other| (0..2).all(|i| (at[i] - other[i]).abs() <= within_m));
            of.iter().filter(near).count() as f64 / of.len() as f64
        };
        let overlaps = [overlap(&of_small, &of_large), overlap(&of_large, &of_small)];
        println!("RMS {:.2} % of the range, rivers meet {overlaps:.2?}", 100.0 * rms);
        assert!(rms <= 0.04, "{rms}");
        assert!(overlaps.iter().all(|overlap| *overlap >= 0.7), "{overlaps:?}");
    }

    #[test]
    fn rivers_cut_hollows_through() {
        // A bowl whose rim is 50 m above its floor: after some steps its water leaves along the ground.
        let bowl = Heightfield::from_fn(square(33, 1000.0), |c, r| {
            let (x, z) = (c as f32 - 16.0, r as f32 - 16.0);
            let away = (x * x + z * z).sqrt();
            100.0 - 50.0 * ((away - 10.0) / 5.0).abs().min(1.0)
        });
        let erosion = FluvialErosion { uplift_mm: 0.0, ..plain(0.5, 1.0) };
        let lake = |terrain: &Heightfield| {
            let mut rivers = erosion.rivers(terrain.grid(), &Progress::new()).expect("not cancelled");
            rivers.drainage.route(terrain, &Progress::new()).expect("not cancelled");
            rivers.drainage.lakes_m().into_iter().fold(0.0, f32::max)
        };
        assert!(lake(&bowl) > 40.0);
        assert!(lake(&raised(&erosion, bowl.grid(), Some(&bowl), 20)) < 1.0);
        assert_eq!(shaped(&erosion, &bowl), bowl, "without a step nothing happens");
    }

    /// Not a mark: prints what each part of a step takes.
    #[test]
    #[ignore = "takes the time"]
    fn times_of_a_step() {
        for side in [257, 1025] {
            let grid = square(side, 4096.0);
            let mut terrain = raised(&Faults::default(), grid, None, 1000);
            let erosion = FluvialErosion::default();
            let progress = Progress::new();
            let mut rivers = erosion.rivers(grid, &progress).expect("not cancelled");
            let rise_m = erosion.rise_m(grid, Some(&terrain), &progress).expect("not cancelled");
            for turn in 0..4 {
                let begun = std::time::Instant::now();
                let parts = rivers.drainage.route_timed(&terrain);
                rivers.drainage.visit_upstream(&rivers.areas, |_| (), &progress).expect("not cancelled");
                let walked = begun.elapsed();
                let holds = rivers.drainage.ends();
                let begun = std::time::Instant::now();
                if let Some(creep) = &rivers.creep {
                    creep.step(&mut terrain.clone(), &holds, &progress).expect("not cancelled");
                }
                let crept = begun.elapsed();
                let begun = std::time::Instant::now();
                rivers.step(&mut terrain, Some(&rise_m), &progress).expect("not cancelled");
                println!("{side}², step {turn}: {:.1?}, route {parts:.1?}, {walked:.1?} with walk, creep {crept:.1?}", begun.elapsed());
            }
        }
    }
}
