//! Recipes beside a recipe: what its steps do, moved a little this way and that.

use super::parameters::{Band, Group, Kind, Parameter, Range, Scale, Value, Values, group_values};
use super::random::Draw;
use super::recipe::Recipe;

/// How a parameter of a step is named among those that stay: by the step's seed, which stays with it wherever it goes.
pub fn lock_name(step_seed: u32, key: &str) -> String {
    format!("{step_seed} {key}")
}

/// Whether values of that parameter are ever moved.
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

/// Random numbers in [0, 1) for one parameter: always as many, so that one that stays changes nothing of the others.
type Luck = [f64; 4];

/// The chance that a choice or a switch is thrown at full strength.
const THROWN: f64 = 0.25;

/// A recipe of the same steps in the same world, whose numbers lie elsewhere on their sliders and whose choices are
/// now and then others. `strength` is the share of its slider by which a number moves at the most, a third of that as
/// the standard deviation; at 0 nothing changes. Parameters whose [name](lock_name) `is_locked` knows stay as they are,
/// as do lists, files, texts, what is switched off and what [cannot move](can_move).
pub fn mutated(recipe: &Recipe, strength: f64, is_locked: &dyn Fn(&str) -> bool, draw: &mut Draw) -> Recipe {
    let mut mutant = recipe.clone();
    for step in &mut mutant.stack {
        let seed = step.settings.seed;
        let is_locked = |key: &str| is_locked(&lock_name(seed, key));
        let mut after = group_values(step.operation.group());
        vary_table(step.operation.group().table(), &mut after, strength, &is_locked, draw);
        if !step.settings.enabled {
            continue;
        }
        let group: &mut dyn Group = step.operation.group_mut();
        for (key, value) in after.iter() {
            // What does not go together with the rest stays as it was.
            let _ = group.set(key, value);
        }
    }
    mutant
}

fn vary_table(
    table: &[Parameter],
    values: &mut Values,
    strength: f64,
    is_locked: &dyn Fn(&str) -> bool,
    draw: &mut Draw,
) {
    for parameter in table {
        let luck: Luck = std::array::from_fn(|_| draw.unit());
        let stays = is_locked(parameter.key) || !can_mutate(parameter) || !parameter.applies(values);
        let Some(value) = values.get_mut(parameter.key) else { continue };
        if let (Kind::Group(inner), Value::Group(inside)) = (parameter.kind, &mut *value) {
            // A group is locked as a whole.
            vary_table(inner(), inside, if stays { 0.0 } else { strength }, &|_| false, draw);
        } else if !stays {
            *value = varied(parameter, value, strength, luck);
        }
    }
}

/// The value of a parameter, moved.
fn varied(parameter: &Parameter, value: &Value, strength: f64, luck: Luck) -> Value {
    let Parameter { slider, scale, hard, .. } = parameter;
    // The sum of three uniform numbers is a bell that ends: from −1 to 1.
    let by = strength * ((luck[0] + luck[1] + luck[2]) / 1.5 - 1.0);
    let is_thrown = luck[3] < strength * THROWN;
    let place = |number: f64, by: f64| moved(*slider, *scale, number, by).clamp(hard.low, hard.high);
    match (parameter.kind, value) {
        (_, Value::Number(number)) => Value::Number(place(*number, by)),
        (_, Value::Integer(number)) => Value::Integer(place(f64::from(*number), by).round() as u32),
        (_, Value::Boolean(is_on)) => Value::Boolean(*is_on != is_thrown),
        (Kind::Choice(choices), Value::Choice(key)) if is_thrown => {
            let others: Vec<&str> = choices.iter().map(|choice| choice.key).filter(|other| other != key).collect();
            let at = (luck[0] * others.len() as f64) as usize;
            Value::Choice(others.get(at).unwrap_or(key))
        }
        (_, Value::Band(Band { min, max })) => {
            let (low, high) = (place(*min, by), place(*max, strength * (2.0 * luck[3] - 1.0)));
            Value::Band(Band { min: low.min(high), max: low.max(high) })
        }
        _ => value.clone(),
    }
}

/// A number moved along its slider, which reaches as far as the number itself, by a share of it; from the ends it comes
/// back. It keeps four digits: nobody can tell more apart, and everybody can read them.
fn moved(slider: Range, scale: Scale, number: f64, by: f64) -> f64 {
    let (low, high) = (slider.low.min(number), slider.high.max(number));
    let is_logarithmic = scale == Scale::Logarithmic && low > 0.0;
    let [to, from]: [fn(f64) -> f64; 2] = if is_logarithmic { [libm::log, libm::exp] } else { [|x| x, |x| x] };
    let (low, high) = (to(low), to(high));
    if by == 0.0 || high <= low {
        return number;
    }
    let share = (to(number) - low) / (high - low) + by;
    let share = if share > 1.0 { 2.0 - share } else { share.abs() }.clamp(0.0, 1.0);
    let found = from(low + share * (high - low));
    let digits = 3.0 - libm::floor(libm::log10(found.abs().max(1e-9)));
    let power = libm::pow(10.0, digits);
    (found * power).round() / power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::AnyOperation;
    use crate::engine::random::Stream;

    /// Every operation once, each with a seed of its own.
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
    fn at_no_strength_nothing_changes_and_at_any_all_stays_valid() {
        assert_eq!(mutant(0.0, &|_| false, 1), all());
        for round in 0..60 {
            let found = mutant(1.0, &|_| false, round);
            assert_eq!(Recipe::from_json(&found.to_json()).as_ref(), Ok(&found), "round {round}");
            assert_eq!((found.seed, &found.world, &found.texture), (all().seed, &all().world, &all().texture));
        }
    }

    #[test]
    fn numbers_move_within_their_strength_and_choices_are_thrown_now_and_then() {
        let slider = Range { low: 10.0, high: 1000.0 };
        assert_eq!(moved(slider, Scale::Linear, 505.0, 0.25), 752.5);
        assert_eq!(moved(slider, Scale::Logarithmic, 100.0, 0.25), 316.2, "a quarter of two decades: √10");
        assert_eq!(moved(slider, Scale::Linear, 1000.0, 0.25), 752.5, "back from the end");
        assert_eq!(moved(slider, Scale::Linear, 4000.0, -1.0), 10.0, "the slider reaches to the number");
        let thrown = (0..400).filter(|round| {
            let found = mutant(0.4, &|_| false, *round);
            let choice = |recipe: &Recipe| recipe.stack[0].operation.group().get("profile");
            choice(&found) != choice(&all())
        });
        let count = thrown.count();
        assert!((20..65).contains(&count), "{count} of 400 at a chance of a tenth");
    }

    #[test]
    fn sea_levels_and_the_grids_on_which_steps_work_are_no_matter_of_taste() {
        let is_fixed = |key: &str| key == "sea_m" || key == "reference_samples";
        let mut recipe = all();
        for step in &mut recipe.stack {
            // A sea where there is none yet could be moved too.
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
    fn what_is_locked_stays_and_changes_nothing_else() {
        let faults = &all().stack[0];
        let lock = lock_name(faults.settings.seed, "zone_m");
        let (free, held) = (mutant(0.5, &|_| false, 3), mutant(0.5, &|name| name == lock, 3));
        let of = |recipe: &Recipe| group_values(recipe.stack[0].operation.group());
        let (mut free, held) = (of(&free), of(&held));
        assert_ne!(free.get("zone_m"), held.get("zone_m"));
        *free.get_mut("zone_m").expect("a zone") = faults.operation.group().get("zone_m").expect("a zone");
        assert_eq!(free, held);
    }
}
