//! Random variations of a recipe: the same steps with slightly different parameters.

use super::parameters::{Band, Group, Kind, Parameter, Range, Scale, Value, Values, group_values};
use super::random::Rng;
use super::recipe::Recipe;

use crate::cast::{ToFloat, ToInteger};

/// The name under which a parameter of a step is locked. It contains the step's seed, so it remains valid when the
/// stack is reordered.
pub fn lock_name(step_seed: u32, key: &str) -> String {
    format!("{step_seed} {key}")
}

/// Whether [`mutated`] can change the values of a parameter.
pub fn can_mutate(parameter: &Parameter) -> bool {
    match parameter.kind {
        Kind::Integer | Kind::Number | Kind::Boolean | Kind::Choice(_) | Kind::Band | Kind::Group(_) => {
            !parameter.is_fixed
        }
        Kind::Text
        | Kind::File
        | Kind::Texture
        | Kind::Colour
        | Kind::Limits
        | Kind::Weighted
        | Kind::Point
        | Kind::Matrix
        | Kind::List(_) => false,
    }
}

/// Random numbers in [0, 1) for one parameter. Every parameter draws them, changed or not, so that locking a parameter
/// does not affect the others.
type Randoms = [f64; 4];

/// The probability that a choice or a switch changes at full strength.
const SWITCH_PROBABILITY: f64 = 0.25;

/// A variation of a recipe: the same steps in the same world, with numbers moved along their sliders and some choices
/// changed.
///
/// `strength` is the largest move of a number as a fraction of its slider, three standard deviations; at 0 nothing
/// changes. Parameters whose [name](lock_name) satisfies `is_locked` keep their values, and so do disabled steps, groups and
/// parameters that [cannot be mutated](can_mutate), such as lists, files and texts.
pub fn mutated(recipe: &Recipe, strength: f64, is_locked: &dyn Fn(&str) -> bool, rng: &mut Rng) -> Recipe {
    let mut mutant = recipe.clone();
    let placements = mutant.placements();
    let placed = mutant.stack.iter_mut().zip(placements);
    for (step, placement) in placed.filter(|(step, _)| !step.is_group()) {
        let seed = step.settings.seed;
        let is_locked = |key: &str| is_locked(&lock_name(seed, key));
        let mut after = group_values(step.operation.group());
        mutate_table(step.operation.group().table(), &mut after, strength, &is_locked, rng);
        if !step.settings.enabled || !placement.is_in_enabled {
            continue;
        }
        let group: &mut dyn Group = step.operation.group_mut();
        for (key, value) in after.iter() {
            // A value that is invalid in combination with the others is not applied.
            let _ = group.set(key, value);
        }
    }
    mutant
}

fn mutate_table(
    table: &[Parameter],
    values: &mut Values,
    strength: f64,
    is_locked: &dyn Fn(&str) -> bool,
    rng: &mut Rng,
) {
    for parameter in table {
        let randoms: Randoms = std::array::from_fn(|_| rng.unit());
        let is_kept = is_locked(parameter.key) || !can_mutate(parameter) || !parameter.applies(values);
        let Some(value) = values.get_mut(parameter.key) else { continue };
        if let (Kind::Group(inner), Value::Group(inside)) = (parameter.kind, &mut *value) {
            // Locking a group locks all its parameters.
            mutate_table(inner(), inside, if is_kept { 0.0 } else { strength }, &|_| false, rng);
        } else if !is_kept {
            *value = mutated_value(parameter, value, strength, randoms);
        }
    }
}

fn mutated_value(parameter: &Parameter, value: &Value, strength: f64, randoms: Randoms) -> Value {
    let Parameter { slider, scale, hard, .. } = parameter;
    // The sum of three uniform numbers, scaled to −1 … 1, approximates a normal distribution with a standard deviation
    // of a third.
    let shift = strength * ((randoms[0] + randoms[1] + randoms[2]) / 1.5 - 1.0);
    let is_switched = randoms[3] < strength * SWITCH_PROBABILITY;
    let shifted =
        |number: f64, shift: f64| shift_along_slider(*slider, *scale, number, shift).clamp(hard.low, hard.high);
    match (parameter.kind, value) {
        (_, Value::Number(number)) => Value::Number(shifted(*number, shift)),
        (_, Value::Integer(number)) => Value::Integer(shifted(f64::from(*number), shift).round().to_u32()),
        (_, Value::Boolean(is_on)) => Value::Boolean(*is_on != is_switched),
        (Kind::Choice(choices), Value::Choice(key)) if is_switched => {
            let others: Vec<&str> = choices.iter().map(|choice| choice.key).filter(|other| other != key).collect();
            let at = (randoms[0] * others.len().to_f64()).to_usize();
            Value::Choice(others.get(at).unwrap_or(key))
        }
        (_, Value::Band(Band { min, max })) => {
            let (low, high) = (shifted(*min, shift), shifted(*max, strength * (2.0 * randoms[3] - 1.0)));
            Value::Band(Band { min: low.min(high), max: low.max(high) })
        }
        _ => value.clone(),
    }
}

/// A number shifted along its slider by a fraction of the slider's length, reflected at the ends. The slider is
/// extended to a number outside it. The result is rounded to four significant digits, to be readable.
fn shift_along_slider(slider: Range, scale: Scale, number: f64, shift: f64) -> f64 {
    let (low, high) = (slider.low.min(number), slider.high.max(number));
    let is_logarithmic = scale == Scale::Logarithmic && low > 0.0;
    let [to, from]: [fn(f64) -> f64; 2] = if is_logarithmic { [libm::log, libm::exp] } else { [|x| x, |x| x] };
    let (low, high) = (to(low), to(high));
    if shift == 0.0 || high <= low {
        return number;
    }
    let share = (to(number) - low) / (high - low) + shift;
    let share = if share > 1.0 { 2.0 - share } else { share.abs() }.clamp(0.0, 1.0);
    let result = from(low + share * (high - low));
    let digits = 3.0 - libm::floor(libm::log10(result.abs().max(1e-9)));
    let power = libm::pow(10.0, digits);
    (result * power).round() / power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::AnyOperation;
    use crate::random::Stream;
    use crate::recipe::Step;

    /// Every operation once, with different seeds.
    fn all() -> Recipe {
        let step = |(i, operation): (usize, AnyOperation)| {
            let mut step = Step::new(operation);
            step.settings.seed = i as u32;
            step
        };
        Recipe { stack: AnyOperation::all().into_iter().enumerate().map(step).collect(), ..Default::default() }
    }

    fn mutant(strength: f64, is_locked: &dyn Fn(&str) -> bool, round: u64) -> Recipe {
        mutated(&all(), strength, is_locked, &mut Stream::new(7, 7).at(round))
    }

    #[test]
    fn variations_are_valid_and_at_strength_0_equal_to_the_recipe() {
        assert_eq!(mutant(0.0, &|_| false, 1), all());
        for round in 0..60 {
            let found = mutant(1.0, &|_| false, round);
            assert_eq!(Recipe::from_json(&found.to_json()).as_ref(), Ok(&found), "round {round}");
            assert_eq!((found.seed, &found.world, &found.texture), (all().seed, &all().world, &all().texture));
        }
    }

    #[test]
    fn numbers_shift_by_their_strength_and_some_choices_change() {
        let slider = Range { low: 10.0, high: 1000.0 };
        assert_eq!(shift_along_slider(slider, Scale::Linear, 505.0, 0.25), 752.5);
        assert_eq!(
            shift_along_slider(slider, Scale::Logarithmic, 100.0, 0.25),
            316.2,
            "a quarter of two decades is a factor of √10"
        );
        assert_eq!(shift_along_slider(slider, Scale::Linear, 1000.0, 0.25), 752.5, "reflected at the end");
        assert_eq!(
            shift_along_slider(slider, Scale::Linear, 4000.0, -1.0),
            10.0,
            "the slider is extended to the number"
        );
        let changed = (0..400).filter(|round| {
            let found = mutant(0.4, &|_| false, *round);
            let choice = |recipe: &Recipe| recipe.stack[0].operation.group().get("profile");
            choice(&found) != choice(&all())
        });
        let count = changed.count();
        assert!((20..65).contains(&count), "{count} of 400 at a chance of a tenth");
    }

    #[test]
    fn sea_levels_and_reference_grids_never_change() {
        let is_fixed = |key: &str| key == "sea_m" || key == "reference_samples";
        let mut recipe = all();
        for step in &mut recipe.stack {
            // Give every step that can have a sea one.
            let _ = step.operation.group_mut().set("sea_m", &Value::Number(120.0));
        }
        let fixed = |recipe: &Recipe| -> Vec<(&'static str, Value)> {
            let of = |step: &Step| group_values(step.operation.group());
            recipe.stack.iter().flat_map(of).filter(|(key, _)| is_fixed(key)).collect()
        };
        assert!(fixed(&recipe).len() > 8, "{:?}", fixed(&recipe));
        for round in 0..40 {
            let found = mutated(&recipe, 1.0, &|_| false, &mut Stream::new(7, 7).at(round));
            assert_eq!(fixed(&found), fixed(&recipe), "round {round}");
        }
    }

    #[test]
    fn a_locked_parameter_keeps_its_value_without_affecting_others() {
        let faults = &all().stack[0];
        let lock = lock_name(faults.settings.seed, "zone_m");
        let (free, locked) = (mutant(0.5, &|_| false, 3), mutant(0.5, &|name| name == lock, 3));
        let of = |recipe: &Recipe| group_values(recipe.stack[0].operation.group());
        let (mut free, locked) = (of(&free), of(&locked));
        assert_ne!(free.get("zone_m"), locked.get("zone_m"));
        *free.get_mut("zone_m").expect("a zone") = faults.operation.group().get("zone_m").expect("a zone");
        assert_eq!(free, locked);
    }
}
