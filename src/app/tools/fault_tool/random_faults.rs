//! The random faults near the pointer, one of which a click makes editable by hand.

use egui::Pos2;

use crate::app::tools::fault_tool::handles::distance_to_segment;
use crate::app::views::map_transform::MapTransform;
use crate::engine::fault::Fault;
use crate::engine::operations::{AnyOperation, FaultSequence};
use crate::engine::recipe::Recipe;
use crate::scene::fault_line_ends;

/// The most faults of a step that are searched, and the most of all steps that are kept.
const MAX_SEARCHED: u32 = 2000;
const MAX_KEPT: usize = 400;

/// Random faults within this distance of the pointer are shown, points, and how many at most.
pub(super) const SHOWN_WITHIN: f32 = 48.0;
const MAX_SHOWN: usize = 5;

/// A random fault that can be edited.
#[derive(Clone, Copy, Debug)]
pub(super) struct RandomFault {
    pub(super) step: usize,
    /// Its number in the step, counted from 1.
    pub(super) number: u32,
    pub(super) fault: Fault,
    /// Where its line crosses the edges of the terrain, metres.
    pub(super) ends_m: [[f64; 2]; 2],
}

impl RandomFault {
    /// The fault in words: its number, its step and its displacement.
    pub(super) fn description(&self, recipe: &Recipe) -> String {
        let title = recipe.stack.get(self.step).map_or("", |step| step.title());
        format!("fault {} of {title}, ±{:.0} m", self.number, self.fault.displacement_m.abs())
    }
}

/// The strongest random faults of a recipe up to an iteration, cached.
#[derive(Debug, Default)]
pub(super) struct RandomFaults {
    found: Option<(Recipe, u32, Vec<RandomFault>)>,
}

impl RandomFaults {
    /// The strongest random faults, the strongest first.
    pub(super) fn all(&mut self, recipe: &Recipe, iteration: u32) -> &[RandomFault] {
        let known = self.found.take().filter(|(known, at, _)| *at == iteration && known == recipe);
        let found = known.map_or_else(|| strongest(recipe, iteration), |(_, _, found)| found);
        // The recipe of this frame shares its lists with that of the next, so that comparing them takes no time.
        &self.found.insert((recipe.clone(), iteration, found)).2
    }

    /// The strongest random faults near the pointer, the nearest first, each with its distance in points.
    pub(super) fn near(
        &mut self,
        recipe: &Recipe,
        iteration: u32,
        transform: &MapTransform,
        pointer: Pos2,
    ) -> Vec<(f32, RandomFault)> {
        let found = self.all(recipe, iteration).iter();
        let near = found.filter_map(|found| {
            let [from, to] = found.ends_m.map(|end| transform.pos(end));
            let distance = distance_to_segment(pointer, from, to);
            (distance <= SHOWN_WITHIN).then_some((distance, *found))
        });
        let mut near: Vec<(f32, RandomFault)> = near.take(MAX_SHOWN).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near
    }
}

/// The strongest random faults after that many iterations of the timeline, the strongest first.
///
/// Of a step with many faults only the first are searched: displacements decrease, unless sizes are random.
pub(super) fn strongest(recipe: &Recipe, iteration: u32) -> Vec<RandomFault> {
    let extent = recipe.world.extent();
    let mut all = Vec::new();
    for (step, (source, done)) in recipe.stack.iter().zip(recipe.step_positions(iteration)).enumerate() {
        let AnyOperation::Faults(random) = &source.operation else { continue };
        if let Some(FaultSequence::Lines(lines)) = source.operation.faults(extent, source.stream(recipe.seed)) {
            let numbered = (1..=done.min(MAX_SEARCHED)).zip(lines).filter(|(_, fault)| fault.displacement_m != 0.0);
            let numbered = numbered.filter(|(number, _)| random.own.iter().all(|own| own.i != *number));
            all.extend(numbered.filter_map(|(number, fault)| {
                fault_line_ends(&fault, extent).map(|ends_m| RandomFault { step, number, fault, ends_m })
            }));
        }
    }
    all.sort_by(|a, b| b.fault.displacement_m.abs().total_cmp(&a.fault.displacement_m.abs()));
    all.truncate(MAX_KEPT);
    all
}
