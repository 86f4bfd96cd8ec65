//! A group of steps, which is joined with the terrain below as a whole.
//!
//! What is in a group is decided by the stack (see `groups`); its result is the terrain after its last member, which
//! the evaluator passes on.

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::heightfield::Heightfield;
use crate::parameters::{Spec, choices, parameters};
use crate::progress::Cancelled;

choices! {
    /// Where a group begins.
    pub enum Start {
        /// The members change the terrain below the group.
        Below = "below", "The terrain below";
        /// The members make a piece of terrain by themselves, which the blend of the group joins with the terrain below.
        Flat = "flat", "Flat terrain";
    }
}

parameters! {
    /// Holds other steps. Its blend, strength and mask act on all of them together, so a piece of terrain can be built
    /// on its own and then blended in.
    pub struct StepGroup {
        /// What the group's first step acts on. A group that starts from flat terrain is usually blended by Add or
        /// Maximum, or through a mask.
        on: Start = Start::Below, Spec::new("Starts from");
    }
}

impl Operation for StepGroup {
    const KEY: &'static str = "group";
    const LABEL: &'static str = "Group";
    const WORDS: &'static str = "folder layers collect combine together piece";

    fn is_pointwise(&self) -> bool {
        true
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    /// A group without members changes nothing.
    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        context.heights_below()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::{ToFloat, ToInteger};
    use crate::heightfield::{Extent, Grid};
    use crate::inputs::Inputs;
    use crate::mask::{Mask, MaskSource};
    use crate::operations::faults::Faults;
    use crate::operations::gaussian_blur::GaussianBlur;
    use crate::operations::levels::Levels;
    use crate::progress::Progress;
    use crate::random::Stream;
    use crate::recipe::{Blend, Recipe};
    use crate::stack::{Evaluator, evaluate};
    use crate::step::Step;

    fn grid() -> Grid {
        Grid::new(Extent { width_m: 1000.0, depth_m: 800.0 }, 41, 33)
    }

    fn faults(count: u32, seed: u32, depth: usize) -> Step {
        let mut step = Step::new(Faults { count, ..Default::default() });
        (step.settings.seed, step.depth) = (seed, depth);
        step
    }

    fn blur(depth: usize) -> Step {
        Step { depth, ..Step::new(GaussianBlur { radius_m: 90.0, ..Default::default() }) }
    }

    fn group(on: Start, blend: Blend, depth: usize) -> Step {
        let mut step = Step { depth, ..Step::new(StepGroup { on }) };
        step.settings.blend = blend;
        step
    }

    fn recipe(stack: Vec<Step>) -> Recipe {
        Recipe { stack, ..Default::default() }
    }

    fn terrain(recipe: &Recipe, position: Option<u32>) -> Heightfield {
        evaluate(recipe, grid(), position, &Inputs::default(), &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn a_group_on_the_terrain_below_changes_nothing_by_itself() {
        let loose = recipe(vec![faults(20, 1, 0), faults(30, 2, 0), blur(0), faults(5, 3, 0)]);
        let expected = terrain(&loose, None);
        let mut grouped = loose.clone();
        grouped.stack[1].depth = 1;
        grouped.stack[2].depth = 1;
        grouped.stack.insert(3, group(Start::Below, Blend::Replace, 0));
        assert_eq!(terrain(&grouped, None), expected);
        // Also while the uplift plays, with members that act at once and others that have iterations.
        for position in [0, 10, 20, 21, 40, 50, 53] {
            assert_eq!(terrain(&grouped, Some(position)), terrain(&loose, Some(position)), "at {position}");
        }
        grouped.stack[3].settings.enabled = false;
        assert_eq!(terrain(&grouped, None), terrain(&recipe(vec![faults(20, 1, 0), faults(5, 3, 0)]), None));
    }

    #[test]
    fn a_group_on_flat_terrain_is_a_piece_by_itself() {
        let (base, piece) = (recipe(vec![faults(20, 1, 0)]), recipe(vec![faults(30, 2, 0), blur(0)]));
        let (below, own) = (terrain(&base, None), terrain(&piece, None));
        let mut joined =
            recipe(vec![faults(20, 1, 0), faults(30, 2, 1), blur(1), group(Start::Flat, Blend::Maximum, 0)]);
        let check = |joined: &Recipe, expected: &dyn Fn(f32, f32) -> f32| {
            let found = terrain(joined, None);
            for (i, height) in found.heights().iter().enumerate() {
                assert_eq!(*height, expected(below.heights()[i], own.heights()[i]));
            }
        };
        check(&joined, &f32::max);
        joined.stack[3].settings.strength = 0.5;
        check(&joined, &|below, own| below + 0.5 * (below.max(own) - below));
        joined.stack[3].settings.blend = Blend::Add;
        joined.stack[3].settings.strength = 1.0;
        check(&joined, &|below, own| below + own);
        // Before any member has begun, the group is not there.
        joined.stack[3].settings.blend = Blend::Replace;
        assert_eq!(terrain(&joined, Some(20)), below);
        assert_eq!(terrain(&joined, Some(50)), own);
        assert_eq!(joined.iterations(), 50);
        joined.stack[3].settings.enabled = false;
        assert_eq!((terrain(&joined, None), joined.iterations()), (below.clone(), 20));
        // A group without members.
        let empty = recipe(vec![faults(20, 1, 0), group(Start::Flat, Blend::Replace, 0)]);
        assert_eq!(terrain(&empty, None), below);
    }

    #[test]
    fn the_mask_of_a_group_reads_the_terrain_below_it() {
        let mask = Mask { source: MaskSource::Slope, ..Mask::default() };
        let mut alone = recipe(vec![faults(40, 1, 0), Step::new(Levels::default())]);
        alone.stack[1].settings.mask = vec![mask.clone()].into();
        let mut grouped = alone.clone();
        grouped.stack[1].settings.mask = Vec::new().into();
        grouped.stack[1].depth = 1;
        let mut outer = group(Start::Below, Blend::Replace, 0);
        outer.settings.mask = vec![mask].into();
        grouped.stack.push(outer);
        assert_eq!(terrain(&grouped, None), terrain(&alone, None));
    }

    #[test]
    fn cached_results_of_random_stacks_with_groups_equal_uncached_ones() {
        let mut rng = Stream::new(5, 9).at(0);
        let mut edited = recipe((0..9).map(|i| faults(4 + i, i, 0)).collect());
        let mut evaluator = Evaluator::new().with_max_bytes(9 * 41 * 33 * 4);
        for edit in 0..400 {
            let mut random = |max: usize| rng.between(0.0, max.to_f64()).to_usize().min(max - 1);
            let [at, value, kind] = [9, 6, 7].map(&mut random);
            let step = &mut edited.stack[at];
            match kind {
                0 => step.settings.enabled ^= true,
                1 => step.depth = value % 4,
                2 => *step = Step { depth: step.depth, ..faults(2 + value.to_u32(), value.to_u32(), 0) },
                3 => *step = Step { depth: step.depth, ..blur(0) },
                4 => *step = Step { depth: step.depth, ..group(Start::Below, Blend::Replace, 0) },
                5 => *step = Step { depth: step.depth, ..group(Start::Flat, Blend::Add, 0) },
                _ => step.settings.strength = 0.2 * value.to_f64(),
            }
            let position = (random(3) == 0).then(|| random(40).to_u32());
            let found = evaluator.evaluate(&edited, grid(), position, &Inputs::default(), &Progress::new());
            let found = found.expect("not cancelled");
            assert_eq!(*found, terrain(&edited, position), "edit {edit}: {:?}", edited.placements());
        }
    }
}
