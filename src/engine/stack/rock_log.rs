//! The rock of a stack's terrain, step by step.

use std::sync::Arc;

use super::below_groups::BelowGroups;
use crate::blending::blend;
use crate::groups::Placement;
use crate::heightfield::{Grid, Heightfield};
use crate::mask::MaskReferences;
use crate::operations::{EvalContext, Role, TerrainOnGrid};
use crate::progress::Cancelled;
use crate::recipe::{Blend, StepSettings};
use crate::rock::{Rock, RockChange, RockEffect};
use crate::step::Step;

/// The rock after the steps so far.
#[derive(Debug)]
pub(super) struct RockLog {
    rock: Rock,
    undisturbed: Rock,
    below_groups: BelowGroups<Rock>,
}

/// A step that changed the terrain.
pub(super) struct ChangedTerrain<'a> {
    pub step: &'a Step,
    pub context: &'a EvalContext<'a>,
    pub until: u32,
    /// The terrain below the step on other grids.
    pub below_on: &'a TerrainOnGrid<'a>,
    pub references: &'a MaskReferences<'a>,
    /// The terrain after the step.
    pub after: &'a Heightfield,
}

impl RockLog {
    pub fn new(grid: Grid) -> Self {
        let undisturbed = Rock::undisturbed(grid);
        Self { rock: undisturbed.clone(), undisturbed, below_groups: BelowGroups::default() }
    }

    /// The rock after the last step.
    pub fn into_rock(self) -> Rock {
        self.rock
    }

    /// Notes step `i`, which `changed` the terrain (`None`: it has no effect).
    pub fn note(
        &mut self,
        placements: &[Placement],
        i: usize,
        changed: Option<&ChangedTerrain>,
    ) -> Result<(), Cancelled> {
        // Maps that nothing else holds are changed in place.
        let rock = std::mem::replace(&mut self.rock, self.undisturbed.clone());
        let (below, of_members) = self.below_groups.visit(placements, i, rock, self.undisturbed.clone());
        self.rock = match (changed, of_members) {
            (None, _) => below,
            (Some(group), Some(members)) => joined(group, &members, below)?,
            (Some(step), None) => after(step, below)?,
        };
        Ok(())
    }
}

/// The rock after a step.
fn after(changed: &ChangedTerrain, below: Rock) -> Result<Rock, Cancelled> {
    let ChangedTerrain { step: Step { operation, settings, .. }, context, until, .. } = changed;
    let progress = context.progress;
    let is_modifier = operation.role() == Role::Modifier;
    let adds = match settings.blend {
        Blend::Replace | Blend::Multiply => is_modifier,
        Blend::Add | Blend::Subtract | Blend::Maximum | Blend::Minimum => true,
        Blend::SmoothMaximum | Blend::SmoothMinimum => true,
    };
    let mut rock = below;
    let surface_m = surface_change(changed)?;
    let own = operation.rock_change(context, *until, changed.below_on, &rock.sediment_m)?;
    match (own, operation.rock_effect()) {
        (Some(RockChange { displacement_m, refilled_m }), _) if is_share(settings, is_modifier) => {
            let displaced_m = share(changed, displacement_m)?;
            rock.cut_and_fill(
                &surface_m.combined(&displaced_m, |all, displaced| all - displaced, progress)?,
                progress,
            )?;
            rock.displace(&displaced_m, progress)?;
            if let Some(refilled_m) = refilled_m {
                rock.cut_and_fill(&share(changed, refilled_m)?, progress)?;
            }
        }
        (None, RockEffect::Displace) if adds => rock.displace(&surface_m, progress)?,
        (None, _) if context.below.is_none() => {}
        _ => rock.cut_and_fill(&surface_m, progress)?,
    }
    Ok(rock)
}

/// Whether the terrain after a step is that below it plus a share of what the operation changes.
fn is_share(settings: &StepSettings, is_modifier: bool) -> bool {
    match settings.blend {
        Blend::Add | Blend::Subtract => true,
        Blend::Replace => is_modifier,
        _ => false,
    }
}

/// The rock after a group.
fn joined(group: &ChangedTerrain, members: &Rock, mut below: Rock) -> Result<Rock, Cancelled> {
    let progress = group.context.progress;
    let settings = &group.step.settings;
    if !is_share(settings, true) {
        below.cut_and_fill(&surface_change(group)?, progress)?;
        return Ok(below);
    }
    let change = |of_members: &Arc<Heightfield>, of_below: &Arc<Heightfield>| {
        let of_members = of_members.copied(progress)?;
        let change = match settings.blend {
            Blend::Replace => of_members.combined(of_below, |members, below| members - below, progress)?,
            _ => of_members,
        };
        share(group, change)
    };
    let displaced_m = change(&members.displacement_m, &below.displacement_m)?;
    let filled_m = change(&members.sediment_m, &below.sediment_m)?;
    below.displace(&displaced_m, progress)?;
    below.cut_and_fill(&filled_m, progress)?;
    Ok(below)
}

/// How much a step raised the surface, metres.
fn surface_change(changed: &ChangedTerrain) -> Result<Heightfield, Cancelled> {
    let progress = changed.context.progress;
    let after = changed.after.copied(progress)?;
    match changed.context.below {
        Some(below) => after.combined(below, |after, below| after - below, progress),
        None => Ok(after),
    }
}

/// The share of a change that the step's strength and mask let through, with the sign of its blend.
fn share(changed: &ChangedTerrain, change_m: Heightfield) -> Result<Heightfield, Cancelled> {
    let ChangedTerrain { step: Step { settings, .. }, context, references, .. } = changed;
    let blend_by = if settings.blend == Blend::Subtract { Blend::Subtract } else { Blend::Add };
    let settings = StepSettings { blend: blend_by, ..settings.clone() };
    let after = Arc::unwrap_or_clone(blend(context, Arc::new(change_m), &settings, references)?);
    match context.below {
        Some(below) => after.combined(below, |after, below| after - below, context.progress),
        None => Ok(after),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{evaluate, evaluate_with_rock};
    use super::*;
    use crate::heightfield::Extent;
    use crate::inputs::{Inputs, Raster, SampleScale};
    use crate::operations::AnyOperation;
    use crate::operations::bsp_faults::BspFaults;
    use crate::operations::clamp::Clamp;
    use crate::operations::faults::Faults;
    use crate::operations::fluvial_erosion::{FluvialErosion, UpliftBy};
    use crate::operations::group::{Start, StepGroup};
    use crate::operations::heightmap::Heightmap;
    use crate::operations::thermal_erosion::ThermalErosion;
    use crate::operations::{FaultRivers, recursive_filter::RecursiveFilter};
    use crate::parameters::FileName;
    use crate::progress::Progress;
    use crate::recipe::Recipe;

    const EXTENT: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };

    fn recipe(steps: Vec<Step>) -> Recipe {
        let mut recipe = Recipe { seed: 3, stack: steps, ..Default::default() };
        (recipe.world.width_m, recipe.world.depth_m) = (EXTENT.width_m, EXTENT.depth_m);
        (0..).zip(&mut recipe.stack).for_each(|(i, step)| step.settings.seed = i);
        recipe
    }

    fn step(operation: impl Into<AnyOperation>) -> Step {
        Step::new(operation.into())
    }

    fn faults() -> Faults {
        Faults { count: 60, displacement_m: 30.0, ..Default::default() }
    }

    fn evaluated_with(recipe: &Recipe, side: usize, inputs: &Inputs) -> (Arc<Heightfield>, Rock) {
        let (grid, progress) = (Grid::new(EXTENT, side, side), Progress::new());
        let (terrain, rock) = evaluate_with_rock(recipe, grid, None, inputs, &progress).expect("not cancelled");
        assert_eq!(*terrain, evaluate(recipe, grid, None, inputs, &progress).expect("not cancelled"));
        (terrain, rock)
    }

    /// The heights, and for every sample the height, the displacement, the sediment and how much rock was worn away.
    fn samples(recipe: &Recipe, side: usize) -> Vec<[f32; 4]> {
        let (terrain, rock) = evaluated_with(recipe, side, &Inputs::default());
        let maps = terrain.heights().iter().zip(rock.displacement_m.heights()).zip(rock.sediment_m.heights());
        maps.map(|((height, displacement), sediment)| {
            [*height, *displacement, *sediment, displacement + sediment - height]
        })
        .collect()
    }

    /// The smallest and the largest of some values.
    fn range(values: impl Iterator<Item = f32>) -> [f32; 2] {
        values.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], value| [low.min(value), high.max(value)])
    }

    #[test]
    fn faults_displace_all_that_they_raise() {
        for sample in
            samples(&recipe(vec![step(faults()), step(BspFaults { count: 3, wind: None, ..Default::default() })]), 65)
        {
            assert!((sample[0] - sample[1]).abs() < 1e-3 && sample[2] < 1e-3, "{sample:?}");
        }
        let mut half = step(faults());
        half.settings.strength = 0.5;
        let whole = samples(&recipe(vec![step(faults())]), 65);
        let halved = samples(&recipe(vec![half]), 65);
        assert!(whole.iter().zip(&halved).all(|(whole, half)| (0.5 * whole[1] - half[1]).abs() < 1e-3));
    }

    #[test]
    fn scree_is_worn_rock() {
        let cliffs = Faults { profile: crate::fault::Profile::Step, ..faults() };
        for side in [257, 400] {
            let samples = samples(&recipe(vec![step(cliffs.clone()), step(ThermalErosion::default())]), side);
            let total = |map: usize| samples.iter().map(|sample| f64::from(sample[map])).sum::<f64>();
            let [low, high] = range(samples.iter().map(|sample| sample[3]));
            assert!(low > -1e-3 && high > 1.0, "{low} to {high} m at {side}");
            assert!(total(2) > 100.0 && (total(2) / total(3) - 1.0).abs() < 1e-3, "{} of {}", total(2), total(3));
        }
    }

    #[test]
    fn rivers_between_faults_wear_what_the_faults_and_the_rebound_raise() {
        let rivers = FaultRivers { years: 20_000.0, deposition: 1.0, ..Default::default() };
        for wind in [None, Some(RecursiveFilter::default())] {
            let eroded = Faults { rivers: Some(rivers.clone()), wind, ..faults() };
            for side in [257, 300] {
                let plain = samples(&recipe(vec![step(faults())]), side);
                let samples = samples(&recipe(vec![step(eroded.clone())]), side);
                let rebound = samples.iter().zip(&plain).map(|(eroded, plain)| eroded[1] - plain[1]);
                let [low, high] = range(rebound);
                assert!(low > 1.0 && high - low < 1e-3, "a rebound of {low} to {high} m");
                let [least, most] = range(samples.iter().map(|sample| sample[3]));
                assert!(least > -1e-3 && most > 5.0, "{least} to {most} m worn");
                let [least, most] = range(samples.iter().map(|sample| sample[2]));
                assert!(least == 0.0 && most > 0.5, "{least} to {most} m of sediment");
            }
        }
    }

    #[test]
    fn uplift_displaces_the_rock_and_erosion_wears_it() {
        let erosion = |uplift_by| FluvialErosion { count: 10, uplift_mm: 1.0, uplift_by, ..Default::default() };
        let plain = samples(&recipe(vec![step(faults())]), 257);
        for uplift_by in [UpliftBy::Uniform, UpliftBy::Height] {
            let samples = samples(&recipe(vec![step(faults()), step(erosion(uplift_by))]), 257);
            let uplift = range(samples.iter().zip(&plain).map(|(eroded, plain)| eroded[1] - plain[1]));
            // 10 steps of 20,000 years.
            let expected = if uplift_by == UpliftBy::Uniform { [200.0; 2] } else { [0.0, 200.0] };
            assert!(uplift.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 2.0), "{uplift:?}");
            let [least, most] = range(samples.iter().map(|sample| sample[3]));
            assert!(least > -1e-3 && most > 20.0, "{least} to {most} m worn");
        }
    }

    #[test]
    fn what_rivers_cut_and_fill_again_is_sediment() {
        // Erosion that only cuts, then one that fills: the sum of the changes is less than what was cut.
        let young = FluvialErosion { count: 8, years: 40_000.0, uplift_mm: 0.0, deposition: 2.0, ..Default::default() };
        let samples = samples(&recipe(vec![step(faults()), step(young)]), 257);
        let beyond_net = samples
            .iter()
            .filter(|[height, displacement, sediment, _]| *sediment > (height - displacement).max(0.0) + 0.01);
        assert!(beyond_net.count() > 100);
    }

    #[test]
    fn what_is_at_the_bottom_is_rock_in_its_place() {
        let base = || step(Clamp { low_m: Some(500.0), ..Default::default() });
        assert!(samples(&recipe(vec![base()]), 33).iter().all(|sample| *sample == [500.0, 0.0, 0.0, -500.0]));
        // On other terrain, a clamp fills.
        let filled = samples(&recipe(vec![base(), step(Clamp { low_m: Some(520.0), ..Default::default() })]), 33);
        assert!(filled.iter().all(|sample| *sample == [520.0, 0.0, 20.0, -500.0]));
    }

    #[test]
    fn imported_land_is_rock_in_its_place() {
        let samples = vec![0.0, 10.0, 20.0, 30.0];
        let raster = Raster { width: 2, height: 2, samples, scale: SampleScale::Metres };
        let file = FileName("a.png".into());
        let inputs = Inputs { rasters: [(file.clone(), Arc::new(raster))].into(), ..Default::default() };
        let (terrain, rock) =
            evaluated_with(&recipe(vec![step(Heightmap { file, ..Default::default() })]), 33, &inputs);
        assert!(terrain.min_max()[1] > 1.0);
        assert_eq!(rock, Rock::undisturbed(Grid::new(EXTENT, 33, 33)));
    }

    #[test]
    fn groups_have_the_rock_of_their_members() {
        let erosion = ThermalErosion { count: 5, repose_deg: 10.0, ..Default::default() };
        let member = |operation: AnyOperation| Step { depth: 1, ..Step::new(operation) };
        let members = || vec![member(faults().into()), member(erosion.clone().into())];
        let expected = samples(&recipe(members().into_iter().map(|step| Step { depth: 0, ..step }).collect()), 257);
        for (on, blend) in [(Start::Flat, Blend::Add), (Start::Below, Blend::Replace)] {
            let mut group = step(StepGroup { on });
            group.settings.blend = blend;
            let mut steps = members();
            steps.push(group);
            for (found, expected) in samples(&recipe(steps.clone()), 257).iter().zip(&expected) {
                assert!(
                    found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3),
                    "{found:?}, not {expected:?}, {on:?}"
                );
            }
            // A group that is off leaves none.
            steps[2].settings.enabled = false;
            assert!(samples(&recipe(steps), 257).iter().all(|sample| *sample == [0.0; 4]));
        }
    }
}
