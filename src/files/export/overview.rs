//! What of an order is computed from the overview of its terrain.

use std::ops::Range;
use std::sync::Arc;

use super::order::Order;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::flow::RegionalWater;
use crate::engine::reach::Reach;
use crate::engine::rock::RockRanges;
use crate::engine::stack::overview::{
    drains_in_parts, evaluate_overview, evaluate_rock_ranges, overview_grid, route_overview,
};
use crate::engine::stack::{can_evaluate_parts, memory};
use crate::engine::{Cancelled, Grid, Heightfield, Progress};

/// Whether an overview is needed, and for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct OverviewOrder {
    /// The grid of the overview.
    pub grid: Grid,
    /// Whether the drainage areas of analysis maps follow from it.
    pub has_water: bool,
    /// Whether those of masks follow from it.
    pub has_mask_water: bool,
    /// Whether the ranges of the rock follow from it.
    pub has_rock: bool,
}

/// The overview of a terrain, and what follows from it.
#[derive(Debug)]
pub(super) struct Overview {
    pub terrain: Heightfield,
    /// The drainage areas of the samples of the evaluated terrain, m², for analysis maps.
    pub areas_m2: Option<Arc<Vec<f32>>>,
    /// The same for masks, for which rivers do not end in the sea.
    pub mask_areas_m2: Option<Arc<Vec<f32>>>,
    /// The ranges of the rock.
    pub rock_ranges: Option<RockRanges>,
}

impl OverviewOrder {
    /// The overview that an order needs, also if only a part of its terrain is evaluated.
    pub fn of(order: &Order) -> Option<Self> {
        let grid = overview_grid(order.grid);
        let is_drained = || drains_in_parts(&order.recipe, order.grid, order.position);
        // The lines of rivers follow from the complete terrain, and maps of rivers agree with them.
        let has_water = order.has_maps(Reach::Drainage) && order.rivers.is_none() && is_drained();
        let has_mask_water = order.has_type_masks(Reach::Drainage) && is_drained();
        let masks_have_no_lakes = order.has_type_masks(Reach::Depressions) && order.has_no_lakes(None);
        let is_needed = has_water || has_mask_water || masks_have_no_lakes || order.uses_overview();
        (is_needed && grid != order.grid && can_evaluate_parts(&order.recipe, order.grid)).then(|| Self {
            grid,
            has_water,
            has_mask_water,
            has_rock: order.needs_rock() && !order.needs_complete_rock(),
        })
    }

    /// How many maps of drainage areas there are at once.
    pub fn area_maps(self, order: &Order) -> f64 {
        let count = u8::from(self.has_water) + u8::from(self.has_mask_water) - u8::from(self.shares_areas(order));
        f64::from(count)
    }

    /// Whether analysis maps and masks have the same drainage areas.
    fn shares_areas(self, order: &Order) -> bool {
        self.has_water && self.has_mask_water && order.sea_m.is_none()
    }

    /// The bytes of the overview, and those that computing it and its water takes at most.
    pub fn bytes(self, order: &Order) -> [u64; 2] {
        let maps = |count: f64| (4.0 * self.grid.samples().to_f64() * count).ceil().to_u64();
        // The ranges of the rock are evaluated beside the terrain of the overview.
        let rock = if self.has_rock { 1.0 + memory::rock_maps(&order.recipe)[0] } else { 0.0 };
        let evaluating = maps(memory::peak_maps(&order.recipe, self.grid) + rock);
        let kept = maps(1.0);
        // Curvature at the scale of a mask takes two more.
        let masking = if order.has_type_masks(Reach::Overview) { maps(2.0) } else { 0 };
        if !self.has_water && !self.has_mask_water {
            return [kept + masking, evaluating];
        }
        let windows = RegionalWater::window_bytes(self.grid, order.grid);
        [kept + masking, evaluating.max(maps(1.0 + RegionalWater::MAPS)).max(maps(4.0).saturating_add(windows))]
    }

    /// Evaluates the overview of some heights, or reads it from the cache of the order.
    pub fn evaluate(self, order: &Order, heights: &Heightfield, progress: &Progress) -> Result<Overview, Cancelled> {
        let Order { recipe, position, inputs, cache, .. } = order;
        let terrain = progress
            .stage(0.0..0.3, || evaluate_overview(recipe, self.grid, *position, inputs, cache.as_deref(), progress))?;
        let areas_m2 = |sea_m: Option<f32>, stage: Range<f32>| {
            progress.stage(stage, || {
                let routing = || route_overview(&terrain, sea_m, *position, cache.as_deref(), progress);
                let water = progress.stage(0.0..0.2, routing)?;
                progress.stage(0.2..1.0, || water.areas_m2(heights, progress)).map(Arc::new)
            })
        };
        let mask_areas_m2 = self.has_mask_water.then(|| areas_m2(None, 0.3..0.6)).transpose()?;
        let areas_m2 = match &mask_areas_m2 {
            Some(known) if self.shares_areas(order) => Some(known.clone()),
            _ => self.has_water.then(|| areas_m2(order.sea_m, 0.6..0.8)).transpose()?,
        };
        let ranges = || evaluate_rock_ranges(recipe, self.grid, *position, inputs, cache.as_deref(), progress);
        let rock_ranges = self.has_rock.then(|| progress.stage(0.8..1.0, ranges)).transpose()?;
        Ok(Overview { terrain, areas_m2, mask_areas_m2, rock_ranges })
    }
}
