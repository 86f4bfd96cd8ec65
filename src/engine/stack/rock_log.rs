//! The rock of a stack's terrain, step by step.

use std::sync::Arc;

use super::below_groups::BelowGroups;
use crate::blending::shares;
use crate::groups::Placement;
use crate::heightfield::{Grid, Heightfield};
use crate::mask::MaskReferences;
use crate::operations::{EvalContext, Role, TerrainOnGrid};
use crate::progress::Cancelled;
use crate::recipe::Blend;
use crate::rock::{Rock, RockEffect};
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
    /// The output of the operation, before blending; of a group, that of its members.
    pub own: &'a Heightfield,
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
        let Some(changed) = changed else {
            self.rock = below;
            return Ok(());
        };
        self.rock = if changed.step.settings.blend == Blend::Multiply {
            let mut rock = below;
            rock.cut_and_fill(&rise_m(changed.after, changed.context)?, changed.context.progress)?;
            rock
        } else {
            let own = match of_members {
                Some(members) => members,
                None => own_rock(changed, &below, &self.undisturbed)?,
            };
            joined(changed, &own, below)?
        };
        Ok(())
    }
}

/// The rock of an operation's output before blending: a generator makes it from nothing, a modifier from that below.
fn own_rock(changed: &ChangedTerrain, below: &Rock, undisturbed: &Rock) -> Result<Rock, Cancelled> {
    let ChangedTerrain { step: Step { operation, .. }, context, until, own, .. } = changed;
    let progress = context.progress;
    let is_modifier = operation.role() == Role::Modifier;
    let mut rock = if is_modifier { below.clone() } else { undisturbed.clone() };
    let surface_m = if is_modifier { rise_m(own, context)? } else { own.copied(progress)? };
    if let Some(change) = operation.rock_change(context, *until, changed.below_on, &rock.sediment_m)? {
        let filled_m =
            surface_m.combined(&change.displacement_m, |surface, displaced| surface - displaced, progress)?;
        rock.cut_and_fill(&filled_m, progress)?;
        rock.displace(&change.displacement_m, progress)?;
        if let Some(refilled_m) = change.refilled_m {
            rock.cut_and_fill(&refilled_m, progress)?;
        }
        return Ok(rock);
    }
    match operation.rock_effect() {
        RockEffect::Displace => rock.displace(&surface_m, progress)?,
        // What a modifier makes of flat terrain, such as a base level, is rock in its place.
        RockEffect::CutAndFill if is_modifier && context.below.is_none() => {}
        RockEffect::CutAndFill => rock.cut_and_fill(&surface_m, progress)?,
        RockEffect::InPlace => {}
        RockEffect::Rearrange => {
            for map in [&mut rock.displacement_m, &mut rock.sediment_m] {
                let rearranged = operation.evaluate(&EvalContext { below: Some(map), ..**context }, *until, None)?;
                *map = Arc::new(rearranged);
            }
        }
    }
    Ok(rock)
}

/// The rock of an operation or group joined with that below, as [`blend`](crate::blending::blend) joins their heights, but
/// for those that are multiplied.
fn joined(changed: &ChangedTerrain, own: &Rock, mut below: Rock) -> Result<Rock, Cancelled> {
    let ChangedTerrain { step: Step { settings, .. }, context, references, own: own_terrain, .. } = changed;
    let progress = context.progress;
    let mut shares = shares(context, settings, references)?;
    let is_chosen: Option<fn(f32) -> bool> = match settings.blend {
        Blend::Maximum | Blend::SmoothMaximum => Some(|rise_m| rise_m > 0.0),
        Blend::Minimum | Blend::SmoothMinimum => Some(|rise_m| rise_m < 0.0),
        _ => None,
    };
    if let Some(is_chosen) = is_chosen {
        let chosen = |share: f32, rise_m: f32| if is_chosen(rise_m) { share } else { 0.0 };
        shares.combine(&rise_m(own_terrain, context)?, chosen, progress)?;
    }
    let change = |own: &Heightfield, below: &Heightfield| {
        let change = own.copied(progress)?;
        let change = match settings.blend {
            Blend::Add => change,
            Blend::Subtract => change.combined(own, |_, own| -own, progress)?,
            _ => change.combined(below, |own, below| own - below, progress)?,
        };
        change.combined(&shares, |change, share| change * share, progress)
    };
    let displaced_m = change(&own.displacement_m, &below.displacement_m)?;
    let filled_m = change(&own.sediment_m, &below.sediment_m)?;
    below.displace(&displaced_m, progress)?;
    below.cut_and_fill(&filled_m, progress)?;
    Ok(below)
}

/// How much higher a terrain is than that below the step, metres.
fn rise_m(terrain: &Heightfield, context: &EvalContext) -> Result<Heightfield, Cancelled> {
    let terrain = terrain.copied(context.progress)?;
    match context.below {
        Some(below) => terrain.combined(below, |terrain, below| terrain - below, context.progress),
        None => Ok(terrain),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{evaluate, evaluate_with_rock};
    use super::*;
    use crate::heightfield::Extent;
    use crate::inputs::{Inputs, Raster, SampleScale};
    use crate::mask::{Mask, MaskSource};
    use crate::operations::AnyOperation;
    use crate::operations::bsp_faults::BspFaults;
    use crate::operations::clamp::Clamp;
    use crate::operations::faults::Faults;
    use crate::operations::fluvial_erosion::{FluvialErosion, UpliftBy};
    use crate::operations::group::{Start, StepGroup};
    use crate::operations::heightmap::Heightmap;
    use crate::operations::symmetry::Symmetry;
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
        let (terrain, rock) = evaluate_with_rock(recipe, grid, None, inputs, None, &progress).expect("not cancelled");
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
            let uplift: Vec<f32> = samples.iter().zip(&plain).map(|(eroded, plain)| eroded[1] - plain[1]).collect();
            // 10 steps of 20,000 years; the outlets, which are not uplifted, are beyond the border.
            let [low, high] = range(uplift.iter().copied());
            assert!((195.0..200.1).contains(&high), "{low} to {high} m");
            assert!(if uplift_by == UpliftBy::Uniform { low > 199.9 } else { low < 20.0 }, "{low} to {high} m");
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

    #[test]
    fn where_a_step_is_higher_its_rock_counts() {
        let scree = ThermalErosion { count: 5, repose_deg: 10.0, ..Default::default() };
        let below = samples(&recipe(vec![step(faults()), step(scree.clone())]), 257);
        let mut other = step(Faults { displacement_m: 20.0, ..faults() });
        other.settings.blend = Blend::Maximum;
        let joined = samples(&recipe(vec![step(faults()), step(scree), other]), 257);
        let is_below = |(joined, below): &(&[f32; 4], &[f32; 4])| joined[0] == below[0];
        let (kept, replaced): (Vec<_>, Vec<_>) = joined.iter().zip(&below).partition(is_below);
        assert!(kept.len() > 1000 && replaced.len() > 1000);
        assert!(kept.iter().all(|(joined, below)| joined == below));
        // The other faults have no sediment.
        assert!(replaced.iter().all(|(joined, _)| (joined[1] - joined[0]).abs() < 1e-3 && joined[2].abs() < 1e-3));
    }

    #[test]
    fn a_mask_limits_what_happens_to_the_rock() {
        let scree = ThermalErosion { count: 5, repose_deg: 10.0, ..Default::default() };
        let everywhere = samples(&recipe(vec![step(faults()), step(scree.clone())]), 257);
        let mut masked = step(scree);
        masked.settings.mask = vec![Mask { source: MaskSource::Elevation, ..Default::default() }].into();
        let found = samples(&recipe(vec![step(faults()), masked]), 257);
        // Where the mask has no effect, there is no sediment; elsewhere at most as much as without the mask.
        let plain = samples(&recipe(vec![step(faults())]), 257);
        let untouched = found.iter().zip(&plain).filter(|(found, plain)| found[0] == plain[0]);
        assert!(untouched.clone().count() > 1000 && untouched.clone().all(|(found, _)| found[2] < 1e-3));
        assert!(found.iter().zip(&everywhere).all(|(found, all)| found[2] <= all[2] + 1e-3));
        assert!(found.iter().any(|found| found[2] > 1.0));
    }

    #[test]
    fn symmetric_terrain_has_symmetric_rock() {
        let scree = ThermalErosion { count: 5, repose_deg: 10.0, ..Default::default() };
        let samples = samples(&recipe(vec![step(faults()), step(scree), step(Symmetry::default())]), 257);
        let at = |c: usize, r: usize| samples[r * 257 + c];
        let is_same = |image: fn(usize, usize) -> (usize, usize)| {
            let places = (0..257).flat_map(|r| (0..257).map(move |c| (c, r)));
            places
                .map(|(c, r)| (at(c, r), image(c, r)))
                .all(|(own, (c, r))| (0..3).all(|map| (own[map] - at(c, r)[map]).abs() < 1e-2))
        };
        assert!(is_same(|c, r| (256 - c, r)) || is_same(|c, r| (c, 256 - r)) || is_same(|c, r| (256 - c, 256 - r)));
        assert!(samples.iter().any(|sample| sample[2] > 1.0));
    }

    #[test]
    fn nothing_is_displaced_below_the_sea() {
        let erosion = FluvialErosion {
            uplift_by: UpliftBy::Uniform,
            sea_m: Some(0.0),
            erodibility: 0.0,
            creep: 0.0,
            critical_slope_deg: None,
            ..Default::default()
        };
        let plain = samples(&recipe(vec![step(faults())]), 257);
        let samples = samples(&recipe(vec![step(faults()), step(erosion)]), 257);
        let deep = samples.iter().zip(&plain).filter(|(_, plain)| plain[0] < -40.0);
        assert!(deep.clone().count() > 100);
        assert!(deep.clone().all(|(eroded, plain)| (eroded[1] - plain[1]).abs() < 1e-2 && eroded[2] < 1e-2));
    }
}
