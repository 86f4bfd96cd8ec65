//! Erosion between faults: wind after every fault, rivers after every few.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, TerrainOnGrid};
use super::recursive_filter::{PreparedFilter, RecursiveFilter, filter_grid};
use super::river_rock::RiverRock;
use super::stream_power::{StreamPowerLaw, StreamPowerSolver};
use super::stream_power_refinement::{StreamPowerRefinement, coarser};
use crate::cast::ToFloat;
use crate::flow::{GridSampler, Mesh, Outlets, RoutingOptions, WideGrid};
use crate::heightfield::{Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;
use crate::rock::RockChange;

parameters! {
    /// Rivers that cut valleys while the faults accumulate, so that the terrain grows together with its valleys. The
    /// whole terrain rises by the average amount that the rivers remove.
    pub struct FaultRivers {
        /// Number of faults between two river steps; of BSP faults, the number of trees.
        every: u32 = 5, Spec::number("Every N faults", 1.0, 10_000.0).slider(1.0, 100.0).logarithmic();
        /// Duration of a river step. Longer steps erode more of the faults.
        years: f64 = 2000.0,
            Spec::number("Duration", 1.0, 10_000_000.0).slider(100.0, 100_000.0).unit("years").logarithmic();
        /// How easily the rock erodes. Higher values let valleys reach inland faster.
        erodibility: f64 = 10.0,
            Spec::number("Erodibility", 0.0, 10_000.0).slider(0.1, 100.0).unit("/Myr").logarithmic();
        /// How much the erodibility varies from place to place. At 0 the rock is the same everywhere, and valleys are
        /// evenly spaced. Higher values give valleys of different widths, and hard ridges between them.
        erodibility_variation: f64 = 0.0, Spec::number("Erodibility variation", 0.0, 3.0).slider(0.0, 1.0);
        /// How strongly erosion grows with the drainage area: m of the stream power law. Low values make all valleys
        /// alike; high values make flat trunk valleys with steep heads. Valleys that drain 1 km² erode alike with any
        /// value.
        area_exponent: f64 = 0.5, Spec::number("Area exponent", 0.0, 1.0).slider(0.3, 0.7);
        /// Length of the slopes above the first streams. Short hillslopes make many gullies; long ones make broad
        /// flanks between few valleys.
        hillslope_m: f64 = 40.0,
            Spec::number("Hillslope length", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// Diffusivity of the soil. Creep rounds off ridges and valley edges, and keeps small channels from forming.
        creep: f64 = 0.0015, Spec::number("Soil creep", 0.0, 1000.0).slider(0.0, 0.05).unit("m²/year");
        /// How readily eroded material settles downstream. At 0 rivers carry all of it away. Higher values fill
        /// valleys and make fans where rivers leave the mountains.
        deposition: f64 = 0.0, Spec::number("Deposition", 0.0, 10.0).slider(0.0, 2.0);
        /// Slope at which hillsides slide. Off: slopes of any steepness stand.
        critical_slope_deg: Option<f64> = Some(38.0),
            Spec::number("Critical slope", 1.0, 89.0).slider(20.0, 60.0).unit("°").none("unlimited");
    }
}

/// The samples along the longer side of the grid on which rivers run between faults.
const REFERENCE_SAMPLES: usize = 257;

impl FaultRivers {
    fn law(&self) -> StreamPowerLaw {
        /// With any exponent, erosion is as strong as with ½ where this area drains, so that the exponent changes the
        /// shape of the valleys rather than the amount of erosion.
        const AREA_M2: f64 = 1e6;
        let scale = libm::pow(AREA_M2, 0.5 - self.area_exponent);
        StreamPowerLaw {
            erodibility: self.erodibility * 1e-6 * scale,
            area_exponent: self.area_exponent,
            slope_exponent: 1.0,
            hillslope_m: self.hillslope_m,
            creep_m2: self.creep,
            erodibility_variation: self.erodibility_variation,
            critical_slope: self.critical_slope_deg.map(|degrees| libm::tan(degrees.to_radians())),
            deposition: self.deposition,
        }
    }

    /// The number of faults between two river steps.
    fn interval(&self) -> u32 {
        self.every.max(1)
    }

    fn solver(&self, mesh: Mesh, stream: Stream, progress: &Progress) -> Result<StreamPowerSolver, Cancelled> {
        StreamPowerSolver::new(mesh, ROUTING, self.law(), self.years, stream, progress)
    }
}

/// Rivers between faults leave the mesh at the lowest points of its border.
const ROUTING: RoutingOptions = RoutingOptions { outlets: Outlets::Hollows, sea_m: None };

/// The erosion settings of a fault operation.
#[derive(Clone, Copy)]
pub(super) struct FaultErosion<'a> {
    /// A filter that runs after every fault.
    pub wind: Option<&'a RecursiveFilter>,
    /// Rivers that run every few faults.
    pub rivers: Option<&'a FaultRivers>,
    /// The height below which no fault lowers the terrain, metres.
    pub floor_m: Option<f64>,
}

impl FaultErosion<'_> {
    /// Whether wind or rivers erode the terrain between the faults.
    pub fn is_active(self) -> bool {
        self.wind.is_some() || self.rivers.is_some()
    }

    /// See [`Operation::working_grid`](super::Operation::working_grid).
    pub fn working_grid(self, grid: Grid) -> Grid {
        if self.rivers.is_some() {
            return Grid::fitted(grid.extent(), REFERENCE_SAMPLES);
        }
        self.wind.map_or(grid, |wind| filter_grid(grid, wind.reference_samples))
    }

    /// Whether every fault needs the heights at the samples of the grid.
    fn needs_heights(self) -> bool {
        self.wind.is_some() || self.floor_m.is_some()
    }

    /// See [`Operation::has_own_points`](super::Operation::has_own_points).
    pub fn has_own_points(self) -> bool {
        self.rivers.is_some()
    }

    /// See [`Operation::upsamples_parts`](super::Operation::upsamples_parts).
    pub fn upsamples_parts(self, grid: Grid) -> bool {
        self.rivers.is_some() && StreamPowerRefinement::has_parts(self.working_grid(grid), grid)
    }

    /// See [`Operation::drained_above_m`](super::Operation::drained_above_m).
    pub fn drained_above_m(self, until: u32) -> Option<f64> {
        self.rivers.filter(|rivers| until >= rivers.interval()).map(|_| f64::NEG_INFINITY)
    }

    /// See [`Operation::keyframe_interval`](super::Operation::keyframe_interval).
    pub fn keyframe_interval(self) -> u32 {
        match self.rivers {
            Some(rivers) if !self.needs_heights() => rivers.interval(),
            _ => 1,
        }
    }

    /// See [`Operation::preview_grid`](super::Operation::preview_grid).
    pub fn preview_grid(self, grid: Grid) -> Grid {
        coarser(grid, self.working_grid(grid))
    }

    /// See [`Operation::peak_maps`](super::Operation::peak_maps).
    pub fn peak_maps(self, grid: Grid) -> f64 {
        // With the sums of two groups of faults and what continues one of them beyond the border, or the buffers of a
        // sampler and those that continue a fault.
        let of_rivers =
            if self.rivers.is_some() { StreamPowerSolver::MAPS + GridSampler::MAPS + WideGrid::MAPS } else { 0.0 };
        self.wide(grid).ratio() * (2.0 + self.wind.map_or(0.0, RecursiveFilter::extra_maps) + of_rivers)
    }

    /// The samples of the working grid, with those beyond the border that rivers need.
    fn wide(self, grid: Grid) -> WideGrid {
        if self.rivers.is_some() { WideGrid::with_default_margin(grid) } else { WideGrid::new(grid, 0) }
    }

    /// Evaluates a fault operation: `add_fault` adds the fault of an iteration, then the erosion runs.
    pub fn evaluate(
        self,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        add_fault: impl Fn(u32, &mut Heightfield) -> Result<(), Cancelled> + Sync,
    ) -> Result<Heightfield, Cancelled> {
        self.evaluate_with_rock(context, until, resume, None, add_fault)
    }

    /// [`Self::evaluate`], which also notes what the rivers do to the rock.
    fn evaluate_with_rock(
        self,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        rock: Option<&mut RiverRock>,
        add_fault: impl Fn(u32, &mut Heightfield) -> Result<(), Cancelled> + Sync,
    ) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let wide = self.wide(grid);
        let (done, mut terrain) = match resume {
            Some(keyframe) => (keyframe.iteration, keyframe.terrain.copied(progress)?),
            None => (0, Heightfield::flat(wide.grid())),
        };
        let mut wind: Option<PreparedFilter> = self.wind.map(|wind| wind.prepared(grid));
        let Some(rivers) = self.rivers else {
            let counter = progress.counter((until - done) as usize);
            for i in done + 1..=until {
                add_fault(i, &mut terrain)?;
                if let Some(wind) = &mut wind {
                    wind.pass(&mut terrain, progress)?;
                }
                counter.add_one()?;
            }
            return Ok(terrain);
        };
        let mesh = wide.reference_mesh(1.0, progress)?;
        // Most frames of an uplift continue a keyframe without reaching the next river step; they need no solver.
        let has_steps = until / rivers.interval() > done / rivers.interval();
        let solver = has_steps.then(|| rivers.solver(mesh.clone(), context.stream, progress)).transpose()?;
        let mut with_rivers =
            FaultsWithRivers { erosion: self, rivers, wide, mesh, solver, rock, done, until, progress };
        if !self.needs_heights() {
            with_rivers.evaluate_in_groups(&mut terrain, add_fault)?;
        } else {
            with_rivers.evaluate_one_by_one(&mut terrain, wind.as_mut(), add_fault)?;
        }
        Ok(terrain)
    }

    /// See [`Operation::rock_change`](super::Operation::rock_change). `uneroded` returns the sum of the faults alone on any
    /// grid.
    pub fn rock_change(
        self,
        context: &EvalContext,
        until: u32,
        sediment_m: &Heightfield,
        uneroded: &TerrainOnGrid,
        add_fault: impl Fn(u32, &mut Heightfield) -> Result<(), Cancelled> + Sync,
    ) -> Result<Option<RockChange>, Cancelled> {
        if !self.is_active() {
            return Ok(None);
        }
        let displacement_m = uneroded(context.grid)?;
        if self.rivers.is_none() {
            return Ok(Some(RockChange { displacement_m, refilled_m: None }));
        }
        let grid = self.working_grid(context.grid);
        let wide = self.wide(grid);
        let mesh = wide.reference_mesh(1.0, context.progress)?;
        let mut rock = RiverRock::new(wide, &mesh, sediment_m, context.progress)?;
        let on_reference = EvalContext { grid, below: None, ..*context };
        self.evaluate_with_rock(&on_reference, until, None, Some(&mut rock), add_fault)?;
        rock.into_change(&mesh, displacement_m, context).map(Some)
    }

    /// Brings terrain eroded by `until` faults to the context's grid. `uneroded` returns the sum of the faults alone,
    /// which provides the detail of a finer grid where wind has not smoothed it.
    pub fn upsample(
        self,
        terrain: &Heightfield,
        context: &EvalContext,
        until: u32,
        uneroded: &TerrainOnGrid,
    ) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let Some(rivers) = self.rivers else { return terrain.resampled(grid, progress) };
        let steps = until / rivers.interval();
        if steps == 0 {
            if self.wind.is_none() {
                return uneroded(grid);
            }
            let wide = WideGrid::from_grid(terrain.grid(), grid.extent());
            return wide.reference_mesh(1.0, progress)?.sampled(terrain.heights(), grid, progress);
        }
        let flat: &TerrainOnGrid = &|grid| Ok(Heightfield::flat(grid));
        let below = if self.wind.is_none() { uneroded } else { flat };
        let refinement = StreamPowerRefinement {
            terrain,
            randomness: 1.0,
            routing: ROUTING,
            law: rivers.law(),
            years: rivers.years * f64::from(steps),
            below,
            uplift_m: None,
            is_coarse: context.is_coarse,
            cache: context.cache,
        };
        refinement.on_grid(grid, progress)
    }
}

/// Faults with a river step after every few. Faults work at the samples of the world and are continued beyond its border,
/// wind at the samples of the wide grid, and rivers at the points of the mesh.
struct FaultsWithRivers<'a> {
    erosion: FaultErosion<'a>,
    rivers: &'a FaultRivers,
    wide: WideGrid,
    /// The points of the wide grid.
    mesh: Mesh,
    /// `None` if no river step follows.
    solver: Option<StreamPowerSolver>,
    /// Where to note what the steps do to the rock.
    rock: Option<&'a mut RiverRock>,
    /// The faults that the terrain has already.
    done: u32,
    until: u32,
    progress: &'a Progress,
}

impl FaultsWithRivers<'_> {
    /// For faults that do not depend on the heights: those up to the next river step are summed during the previous one.
    fn evaluate_in_groups(
        &mut self,
        terrain: &mut Heightfield,
        add_fault: impl Fn(u32, &mut Heightfield) -> Result<(), Cancelled> + Sync,
    ) -> Result<(), Cancelled> {
        let (every, until, progress) = (self.rivers.interval(), self.until, self.progress);
        if self.done >= until {
            return Ok(());
        }
        // Faults and river steps count alike.
        let counter = progress.counter(2 * (until - self.done) as usize);
        let last_of_group = |first: u32| first.div_ceil(every).saturating_mul(every).min(until);
        let sum_of_group = |first: u32, mut sum: Heightfield| {
            sum.heights_mut().fill(0.0);
            for i in first..=last_of_group(first) {
                add_fault(i, &mut sum)?;
                counter.add_one()?;
            }
            Ok(sum)
        };
        let mut first = self.done + 1;
        let [sum, mut spare] = [(); 2].map(|()| Heightfield::flat(self.wide.world()));
        // Threads of the pool wait for each other for less time than one outside it waits for them.
        let mut sum = rayon::scope(|_| sum_of_group(first, sum))?;
        while first <= until {
            let last = last_of_group(first);
            let (mesh, wide) = (&self.mesh, self.wide);
            let solver = self.solver.as_mut().filter(|_| last.is_multiple_of(every));
            let rock = self.rock.as_deref_mut();
            let erode = || {
                mesh.add_map(terrain, &wide.extended(&sum, terrain.grid(), progress)?, None, progress)?;
                if let Some(solver) = solver {
                    erode_with_rebound(solver, wide, terrain, rock, progress)?;
                }
                (first..=last).try_for_each(|_| counter.add_one())
            };
            let (eroded, next) = rayon::join(erode, || sum_of_group(last + 1, spare));
            eroded?;
            spare = std::mem::replace(&mut sum, next?);
            first = last + 1;
        }
        Ok(())
    }

    /// For faults that depend on the heights, or have wind after each.
    fn evaluate_one_by_one(
        &mut self,
        terrain: &mut Heightfield,
        mut wind: Option<&mut PreparedFilter>,
        add_fault: impl Fn(u32, &mut Heightfield) -> Result<(), Cancelled>,
    ) -> Result<(), Cancelled> {
        let progress = self.progress;
        let mut sampler = GridSampler::new(&self.mesh, progress)?;
        let counter = progress.counter((self.until - self.done) as usize);
        for i in self.done + 1..=self.until {
            let change = |samples: &mut Heightfield| {
                self.wide.change(samples, |world| add_fault(i, world), progress)?;
                if let Some(floor_m) = self.erosion.floor_m {
                    // What the floor keeps from sinking depends on the heights, which differ beyond the border.
                    let floor_m = floor_m.to_f32();
                    samples.heights_mut().iter_mut().for_each(|height| *height = height.max(floor_m));
                }
                wind.as_mut().map_or(Ok(()), |wind| wind.pass(samples, progress))
            };
            sampler.change(terrain, None, change, progress)?;
            if let Some(solver) = self.solver.as_mut().filter(|_| i.is_multiple_of(self.rivers.interval())) {
                erode_with_rebound(solver, self.wide, terrain, self.rock.as_deref_mut(), progress)?;
            }
            counter.add_one()?;
        }
        Ok(())
    }
}

/// Computes a river step, then raises the whole terrain, outlets included, by the mean height that was eroded in the world,
/// or lowers it if more was filled.
///
/// Without the rebound the terrain would sink forever, because faults lift as much as they lower and rivers only
/// remove. The crust does much the same when relieved of a load, by about 0.8 of it (A. B. Watts, "Isostasy and Flexure
/// of the Lithosphere", 2001); here the rebound is complete, by convention.
fn erode_with_rebound(
    solver: &mut StreamPowerSolver,
    wide: WideGrid,
    terrain: &mut Heightfield,
    rock: Option<&mut RiverRock>,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let before = rock.is_some().then(|| terrain.copied(progress)).transpose()?;
    let before_m = mean_m(wide, terrain);
    solver.step(terrain, None, progress)?;
    let rebound_m = (before_m - mean_m(wide, terrain)).to_f32();
    if let (Some(rock), Some(before)) = (rock, before) {
        rock.note(&before, None, terrain, &solver.drainage);
        rock.note_rebound(rebound_m);
    }
    terrain.heights_mut().par_iter_mut().with_min_len(1 << 13).for_each(|height| *height += rebound_m);
    Ok(())
}

/// The mean height in the world. Rows are added in order, so it does not depend on the number of threads.
fn mean_m(wide: WideGrid, terrain: &Heightfield) -> f64 {
    let rows: Vec<&[f32]> = wide.rows_of_world(terrain.heights()).collect();
    let sum = |row: &[f32]| row.iter().map(|&height| f64::from(height)).sum();
    let sums: Vec<f64> = rows.into_par_iter().with_min_len(32).map(sum).collect();
    sums.iter().sum::<f64>() / wide.world().samples().to_f64()
}
