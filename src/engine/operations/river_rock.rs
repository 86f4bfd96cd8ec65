//! What river steps do to the rock at the points of their mesh.

use super::operation::EvalContext;
use crate::flow::{Drainage, Mesh, WideGrid};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::rock::RockChange;

/// The displacement and the sediment of the points, step by step.
#[derive(Debug)]
pub(super) struct RiverRock {
    /// How far uplift and rebound have raised each point, metres.
    raised_m: Heightfield,
    /// The thickness of the sediment, metres.
    sediment_m: Heightfield,
    /// The sediment at the start plus what was filled and less what was cut since, metres.
    net_m: Heightfield,
    /// Whether each point is fixed, because flow ends there.
    is_fixed: Vec<bool>,
}

impl RiverRock {
    /// Before the first step, with the sediment on the terrain below the operation.
    pub fn new(wide: WideGrid, mesh: &Mesh, sediment_m: &Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        let mut sediment_m = wide.at_points(mesh, &sediment_m.resampled(wide.world(), progress)?, progress)?;
        // Reflected beyond the border, it can be less than none.
        sediment_m.heights_mut().iter_mut().for_each(|sediment_m| *sediment_m = sediment_m.max(0.0));
        Ok(Self {
            raised_m: Heightfield::flat(mesh.grid()),
            net_m: sediment_m.copied(progress)?,
            sediment_m,
            is_fixed: vec![false; mesh.grid().samples()],
        })
    }

    /// Notes a step: the heights before it, the uplift during it, and the heights after it. Points where flow ends are not
    /// uplifted.
    pub fn note(&mut self, before_m: &Heightfield, uplift_m: &[f32], after_m: &Heightfield, drainage: &Drainage) {
        drainage.mark_ends(&mut self.is_fixed);
        let points = self.sediment_m.heights_mut().iter_mut().zip(self.net_m.heights_mut());
        let points = points.zip(self.raised_m.heights_mut()).zip(&self.is_fixed);
        let heights = before_m.heights().iter().zip(after_m.heights()).zip(uplift_m);
        for ((((sediment_m, net_m), raised_m), is_fixed), ((before_m, after_m), uplift_m)) in points.zip(heights) {
            let uplift_m = if *is_fixed { 0.0 } else { *uplift_m };
            *raised_m += uplift_m;
            fill(sediment_m, net_m, after_m - before_m - uplift_m);
        }
    }

    /// Notes by how much a step without uplift raised each point, metres; negative where it eroded.
    pub fn note_filling(&mut self, filled_m: &Heightfield) {
        let points = self.sediment_m.heights_mut().iter_mut().zip(self.net_m.heights_mut());
        points.zip(filled_m.heights()).for_each(|((sediment_m, net_m), filled_m)| fill(sediment_m, net_m, *filled_m));
    }

    /// Notes that all points rose, also those that are fixed.
    pub fn note_rebound(&mut self, rebound_m: f32) {
        self.raised_m.heights_mut().iter_mut().for_each(|raised_m| *raised_m += rebound_m);
    }

    /// By how much the surface has changed at each point, metres.
    #[cfg(test)]
    pub fn change_m(&self) -> Heightfield {
        let sum = |net_m: f32, raised_m: f32| net_m + raised_m;
        self.net_m.clone().combined(&self.raised_m, sum, &Progress::new()).expect("not cancelled")
    }

    /// The change of the rock on the context's grid, of which `displacement_m` is what was not noted here.
    pub fn into_change(
        self,
        mesh: &Mesh,
        mut displacement_m: Heightfield,
        context: &EvalContext,
    ) -> Result<RockChange, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let raised_m = mesh.sampled(self.raised_m.heights(), grid, progress)?;
        displacement_m.combine(&raised_m, |displacement_m, raised_m| displacement_m + raised_m, progress)?;
        // Cutting and filling the net change at once would leave this much less.
        let refilled = |sediment_m: f32, net_m: f32| sediment_m - net_m.max(0.0);
        let refilled_m = self.sediment_m.combined(&self.net_m, refilled, progress)?;
        let refilled_m = mesh.sampled(refilled_m.heights(), grid, progress)?;
        Ok(RockChange { displacement_m, refilled_m: Some(refilled_m) })
    }
}

/// Adds sediment to a point, or removes it; what lies below is rock.
fn fill(sediment_m: &mut f32, net_m: &mut f32, filled_m: f32) {
    *net_m += filled_m;
    *sediment_m = (*sediment_m + filled_m).max(0.0);
}
