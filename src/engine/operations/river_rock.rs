//! What river steps do to the rock at the points of their mesh.

use super::operation::EvalContext;
use crate::cast::ToFloat;
use crate::flow::Mesh;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::rock::RockChange;

/// The displacement and the sediment of the points, step by step.
#[derive(Debug)]
pub(super) struct RiverRock {
    /// By how much the rivers' steps have raised all points, metres.
    pub rebound_m: f64,
    /// The thickness of the sediment, metres.
    sediment_m: Heightfield,
    /// The sediment at the start plus what was filled and less what was cut since, metres.
    net_m: Heightfield,
}

impl RiverRock {
    /// Before the first step, with the sediment on the terrain below the operation.
    pub fn new(mesh: &Mesh, sediment_m: &Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        let sediment_m = mesh.at_points(&sediment_m.resampled(mesh.grid(), progress)?, progress)?;
        Ok(Self { rebound_m: 0.0, net_m: sediment_m.copied(progress)?, sediment_m })
    }

    /// Notes a step: the heights before it, the uplift during it (`None`: none), and the heights after it.
    pub fn note(&mut self, before_m: &Heightfield, uplift_m: Option<&[f32]>, after_m: &Heightfield) {
        let points = self.sediment_m.heights_mut().iter_mut().zip(self.net_m.heights_mut());
        let heights = before_m.heights().iter().zip(after_m.heights());
        for (i, ((sediment_m, net_m), (before_m, after_m))) in points.zip(heights).enumerate() {
            let filled_m = after_m - before_m - uplift_m.map_or(0.0, |uplift_m| uplift_m[i]);
            *net_m += filled_m;
            *sediment_m = (*sediment_m + filled_m).max(0.0);
        }
    }

    /// The change of the rock on the context's grid, given the displacement without the rebound.
    pub fn into_change(
        self,
        mesh: &Mesh,
        mut displacement_m: Heightfield,
        context: &EvalContext,
    ) -> Result<RockChange, Cancelled> {
        let progress = context.progress;
        let rebound_m = self.rebound_m.to_f32();
        displacement_m.heights_mut().iter_mut().for_each(|height| *height += rebound_m);
        // Cutting and filling the net change at once would leave this much less.
        let refilled = |sediment_m: f32, net_m: f32| sediment_m - net_m.max(0.0);
        let refilled_m = self.sediment_m.combined(&self.net_m, refilled, progress)?;
        let refilled_m = mesh.sampled(refilled_m.heights(), context.grid, progress)?;
        Ok(RockChange { displacement_m, refilled_m: Some(refilled_m) })
    }
}
