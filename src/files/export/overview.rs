//! What of an order is computed from the overview of its terrain.

use super::order::Order;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::flow::RegionalWater;
use crate::engine::stack::overview::{drains_in_parts, evaluate_overview, overview_grid, route_overview};
use crate::engine::stack::{can_evaluate_parts, memory};
use crate::engine::texture::Reach;
use crate::engine::{Cancelled, Grid, Heightfield, Progress};

/// Whether an overview is needed, and for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverviewOrder {
    /// The grid of the overview.
    pub grid: Grid,
    /// Whether drainage areas follow from it.
    pub has_water: bool,
}

/// The overview of a terrain, and what follows from it.
#[derive(Debug)]
pub(super) struct Overview {
    pub terrain: Heightfield,
    /// The drainage areas of the samples of the evaluated terrain, m².
    pub areas_m2: Option<Vec<f32>>,
}

impl OverviewOrder {
    /// The overview that an order needs, also if only a part of its terrain is evaluated.
    pub fn of(order: &Order) -> Option<Self> {
        let grid = overview_grid(order.grid);
        // The lines of rivers follow from the complete terrain, and maps of rivers agree with them.
        let has_water = order.has_maps(Reach::Drainage)
            && order.rivers.is_none()
            && drains_in_parts(&order.recipe, order.grid, order.position);
        let is_needed = has_water || order.uses_overview();
        (is_needed && grid != order.grid && can_evaluate_parts(&order.recipe, order.grid))
            .then_some(Self { grid, has_water })
    }

    /// The bytes of the overview, and those that computing it and its water takes at most.
    pub fn bytes(self, order: &Order) -> [u64; 2] {
        let maps = |count: f64| (4.0 * self.grid.samples().to_f64() * count).ceil().to_u64();
        let evaluating = maps(memory::peak_maps(&order.recipe, self.grid));
        if !self.has_water {
            return [maps(1.0), evaluating];
        }
        let windows = RegionalWater::window_bytes(self.grid, order.grid);
        [maps(1.0), evaluating.max(maps(1.0 + RegionalWater::MAPS)).max(maps(4.0).saturating_add(windows))]
    }

    /// Evaluates the overview of some heights, or reads it from the cache of the order.
    pub fn evaluate(self, order: &Order, heights: &Heightfield, progress: &Progress) -> Result<Overview, Cancelled> {
        let Order { recipe, position, inputs, cache, .. } = order;
        let terrain = progress
            .stage(0.0..0.3, || evaluate_overview(recipe, self.grid, *position, inputs, cache.as_deref(), progress))?;
        let areas_m2 = || {
            let routing = || route_overview(&terrain, order.sea_m, *position, cache.as_deref(), progress);
            let water = progress.stage(0.3..0.4, routing)?;
            progress.stage(0.4..1.0, || water.areas_m2(heights, progress))
        };
        let areas_m2 = self.has_water.then(areas_m2).transpose()?;
        Ok(Overview { terrain, areas_m2 })
    }
}
