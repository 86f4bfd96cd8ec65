//! Erosion between faults: wind after every fault, rivers after every few.

use std::ops::RangeInclusive;

use super::operation::EvalContext;
use super::recursive_filter::{RecursiveFilter, filter_grid};
use super::stream_power::{StreamPowerLaw, StreamPowerSolver};
use super::stream_power_refinement::{StreamPowerRefinement, coarser};
use crate::flow::{FinerPoints, GridSampler, Mesh, Outlets, RoutingOptions, WideGrid};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;

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
    pub(super) fn law(&self) -> StreamPowerLaw {
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
    pub(super) fn interval(&self) -> u32 {
        self.every.max(1)
    }

    /// A solver for `part` of a step, from 0 to 1.
    pub(super) fn solver(
        &self,
        mesh: Mesh,
        part: f64,
        stream: Stream,
        progress: &Progress,
    ) -> Result<StreamPowerSolver, Cancelled> {
        StreamPowerSolver::new(mesh, ROUTING, self.law(), part * self.years, stream, progress)
    }
}

/// Rivers between faults leave the mesh at the lowest points of its border.
pub(super) const ROUTING: RoutingOptions = RoutingOptions { outlets: Outlets::Hollows, sea_m: None };

/// The faults of an operation, which do not depend on the erosion between them.
pub(super) trait FaultSource: Sync {
    /// Adds a fault, of which the first is 1, to terrain on any grid of the context's world.
    fn add_to(&self, terrain: &mut Heightfield, fault: u32, context: &EvalContext) -> Result<(), Cancelled>;

    /// A range of faults alone, on the context's grid.
    fn sum(&self, faults: RangeInclusive<u32>, context: &EvalContext) -> Result<Heightfield, Cancelled>;
}

/// The erosion between the faults of an operation.
#[derive(Clone, Copy)]
pub(super) struct FaultErosion<'a> {
    pub faults: &'a dyn FaultSource,
    /// The number of all faults.
    pub count: u32,
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
            return reference_grid(grid.extent(), REFERENCE_SAMPLES);
        }
        self.wind.map_or(grid, |wind| filter_grid(grid, wind.reference_samples))
    }

    /// Whether every fault needs the heights at the samples of the grid.
    pub fn needs_heights(self) -> bool {
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
        (self.steps(until) > 0.0).then_some(f64::NEG_INFINITY)
    }

    /// The number of river steps; the last one can be a part of one.
    pub fn steps(self, until: u32) -> f64 {
        let Some(rivers) = self.rivers else { return 0.0 };
        let steps = f64::from(until) / f64::from(rivers.interval());
        if self.needs_heights() { steps.floor() } else { steps }
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
        let reference = self.working_grid(grid);
        match self.rivers {
            Some(_) => coarser(reference_grid(grid.extent(), grid.width().max(grid.height())), reference),
            None => coarser(grid, reference),
        }
    }

    /// See [`Operation::peak_maps`](super::Operation::peak_maps).
    pub fn peak_maps(self, grid: Grid) -> f64 {
        // With the sums of two groups of faults and what continues one of them beyond the border, or the buffers of a
        // sampler and those that continue a fault. Coarse meshes take a quarter of the memory.
        let of_rivers = if self.rivers.is_some() {
            StreamPowerSolver::MAPS + GridSampler::MAPS + WideGrid::MAPS + FinerPoints::MAPS
        } else {
            0.0
        };
        self.wide(grid).ratio() * (2.0 + self.wind.map_or(0.0, RecursiveFilter::extra_maps) + of_rivers)
    }

    /// The samples of the working grid, with those beyond the border that rivers need.
    pub fn wide(self, grid: Grid) -> WideGrid {
        if self.rivers.is_none() {
            return WideGrid::new(grid, 0);
        }
        // Even, so that a mesh with half the resolution has it too.
        WideGrid::new(grid, WideGrid::with_default_margin(grid).margin().next_multiple_of(2))
    }
}

/// A grid on which rivers run between faults, with about so many samples along the longer side. The cells along both sides
/// are even in number, so that there is a grid with half the resolution.
fn reference_grid(extent: Extent, samples: usize) -> Grid {
    WideGrid::new(Grid::fitted(extent, samples / 2 + 1), 0).at_level(1).world()
}
