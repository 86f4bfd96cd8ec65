//! Names for edits: "Faults: Count 200 → 340".

use std::fmt::Display;
use std::ops::Range;

use crate::engine::Place;
use crate::engine::light::Light;
use crate::engine::parameters::{
    Group, Items, Kind, Parameter, Value, Values, group_values, kind_label, short_number, uncapitalised,
};
use crate::engine::recipe::{Recipe, Step};
use crate::engine::texture::TextureRecipe;
use crate::project::Project;

/// What an edit changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The path in the document, the same for all edits of the same parameter.
    pub(crate) place: String,
    /// The edit in words.
    pub(crate) name: String,
}

/// A changed value in words.
fn changed(label: &str, old: impl Display, new: impl Display) -> String {
    format!("{label} {old} → {new}")
}

/// The first difference between two projects; `None` if at most their imported files differ.
pub(crate) fn describe(before: &Project, after: &Project) -> Option<Change> {
    let change = |place: &str, name: String| Some(Change { place: place.into(), name });
    if before.name != after.name {
        return change("name", format!("Name \"{}\"", after.name));
    }
    if before.description != after.description {
        return change("description", "Description".into());
    }
    if let Some(found) = describe_recipe(&before.recipe, &after.recipe) {
        return Some(found);
    }
    if let Some(found) = describe_group("level", "", &before.level, &after.level) {
        return Some(found);
    }
    let place = |project: &Project| Place { origin: project.origin.clone() };
    describe_group("view", "", &before.water, &after.water)
        .or_else(|| describe_group("place", "", &place(before), &place(after)))
}

fn describe_recipe(before: &Recipe, after: &Recipe) -> Option<Change> {
    if before.seed != after.seed {
        return Some(Change { place: "seed".into(), name: changed("Seed", before.seed, after.seed) });
    }
    describe_group("world", "", &before.world, &after.world)
        .or_else(|| describe_stack(before, after))
        .or_else(|| describe_masks(before, after))
        .or_else(|| describe_texture(&before.texture, &after.texture))
        .or_else(|| describe_light(&before.light, &after.light))
        .or_else(|| describe_items("scatter", "layer", &before.scatter, &after.scatter, |layer| &layer.name))
}

/// The azimuth and the altitude of the sun count as one parameter: a drag over the compass changes both in turn, and is
/// one edit.
fn describe_light(before: &Light, after: &Light) -> Option<Change> {
    let change = describe_group("light", "", before, after)?;
    let is_turned = before.azimuth_deg != after.azimuth_deg;
    let is_raised = before.altitude_deg != after.altitude_deg;
    let name = if is_turned && is_raised {
        let words = |light: &Light| {
            format!("{}° and {}° high", short_number(light.azimuth_deg), short_number(light.altitude_deg))
        };
        changed("Sun", words(before), words(after))
    } else {
        change.name
    };
    let place = if is_turned || is_raised { "light.sun".into() } else { change.place };
    Some(Change { place, name })
}

fn describe_stack(before: &Recipe, after: &Recipe) -> Option<Change> {
    let (old, new) = (&before.stack, &after.stack);
    if old == new {
        return None;
    }
    let first = old.iter().zip(new).position(|(a, b)| a != b).unwrap_or(old.len().min(new.len()));
    let name = match new.len().cmp(&old.len()) {
        std::cmp::Ordering::Greater => format!("Add {}", new[first].title()),
        std::cmp::Ordering::Less => format!("Delete {}", old[first].title()),
        std::cmp::Ordering::Equal => {
            let (a, b) = (&old[first], &new[first]);
            let label = a.title();
            let place = format!("stack.{first}");
            let others_equal = old[first + 1..] == new[first + 1..];
            if !others_equal || a.operation.key() != b.operation.key() || a.depth != b.depth {
                "Reorder steps".to_string()
            } else {
                return describe_group(&place, label, &a.settings, &b.settings)
                    .or_else(|| describe_group(&place, label, a.operation.group(), b.operation.group()));
            }
        }
    };
    Some(Change { place: "stack".into(), name })
}

/// What differs in a step, or in the project as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepDifferences {
    /// The title of the step; empty for the project.
    pub(crate) step: String,
    /// Each changed parameter in words.
    pub(crate) words: Vec<String>,
}

/// All differences of the seed and of the parameters of steps between two recipes with the same steps.
pub(crate) fn differences(before: &Recipe, after: &Recipe) -> Vec<StepDifferences> {
    let seed = (before.seed != after.seed).then(|| changed("Seed", before.seed, after.seed));
    let of_project = StepDifferences { step: String::new(), words: seed.into_iter().collect() };
    let of_step = |(before, after): (&Step, &Step)| {
        let (old, new) = (before.operation.group(), after.operation.group());
        let mut words = Vec::new();
        add_differences("", old.table(), &group_values(old), &group_values(new), &mut words);
        StepDifferences { step: before.title().into(), words }
    };
    let of_steps = before.stack.iter().zip(&after.stack).map(of_step);
    [of_project].into_iter().chain(of_steps).filter(|found| !found.words.is_empty()).collect()
}

/// Adds every parameter that differs, in words; `owner` is written before those of a group inside the group.
fn add_differences(owner: &str, table: &[Parameter], old: &Values, new: &Values, words: &mut Vec<String>) {
    for parameter in table {
        let (Some(old), Some(new)) = (old.get(parameter.key), new.get(parameter.key)) else { continue };
        match (parameter.kind, old, new) {
            _ if old == new => {}
            (Kind::Group(inner), Value::Group(old), Value::Group(new)) => {
                add_differences(&format!("{owner}{}: ", parameter.label), inner(), old, new, words);
            }
            _ => words.push(format!("{owner}{}", describe_value(parameter, old, new).1)),
        }
    }
}

fn describe_masks(before: &Recipe, after: &Recipe) -> Option<Change> {
    let names = before.masks.keys().chain(after.masks.keys());
    let mut changed = names.filter(|name| before.masks.get(*name) != after.masks.get(*name));
    changed.next().map(|name| Change { place: format!("masks.{name}"), name: format!("Mask {name}") })
}

fn describe_texture(before: &TextureRecipe, after: &TextureRecipe) -> Option<Change> {
    if before.settings.unit != after.settings.unit {
        // The elevations of the types change with the unit.
        return describe_group("texture", "", &before.settings, &after.settings);
    }
    let (old, new) = (&before.types, &after.types);
    if old == new {
        return describe_group("texture", "", &before.settings, &after.settings);
    }
    describe_items("texture.types", "type", old, new, |terrain_type| &terrain_type.name)
}

/// What differs in a list of things of a kind that have names.
fn describe_items<T: Group + PartialEq>(
    place: &str,
    kind: &str,
    old: &[T],
    new: &[T],
    name: fn(&T) -> &str,
) -> Option<Change> {
    if old == new {
        return None;
    }
    let first = old.iter().zip(new).position(|(a, b)| a != b).unwrap_or(old.len().min(new.len()));
    let of_list = |name: String| Some(Change { place: place.into(), name });
    match new.len().cmp(&old.len()) {
        std::cmp::Ordering::Greater => of_list(format!("Add {kind} {}", name(&new[first]))),
        std::cmp::Ordering::Less => of_list(format!("Delete {kind} {}", name(&old[first]))),
        std::cmp::Ordering::Equal if old[first + 1..] != new[first + 1..] => of_list(format!("Reorder {kind}s")),
        std::cmp::Ordering::Equal => {
            describe_group(&format!("{place}.{first}"), name(&old[first]), &old[first], &new[first])
        }
    }
}

/// The first parameter that differs; `owner` is written before the label unless it is empty.
fn describe_group(place: &str, owner: &str, before: &dyn Group, after: &dyn Group) -> Option<Change> {
    before.table().iter().find_map(|parameter| {
        let (old, new) = (before.get(parameter.key)?, after.get(parameter.key)?);
        (old != new).then(|| {
            let (path, words) = describe_value(parameter, &old, &new);
            let name = if owner.is_empty() { words } else { format!("{owner}: {words}") };
            Change { place: format!("{place}.{path}"), name }
        })
    })
}

/// The path relative to the parameter's owner, and the change in words; of a group that is on before and after, the
/// first parameter that differs.
fn describe_value(parameter: &Parameter, old: &Value, new: &Value) -> (String, String) {
    match (parameter.kind, old, new) {
        (Kind::Group(table), Value::Group(old), Value::Group(new)) => {
            if let Some((path, words)) = describe_values(table(), old, new) {
                return (format!("{}.{path}", parameter.key), format!("{}: {words}", parameter.label));
            }
        }
        (Kind::List(item_kind), Value::List(old), Value::List(new)) => {
            return describe_list(parameter, *item_kind, old, new);
        }
        _ => {}
    }
    let words = match (parameter.value_in_words(old), parameter.value_in_words(new)) {
        (Some(old), Some(new)) => changed(parameter.label, old, new),
        _ => parameter.label.to_string(),
    };
    (parameter.key.into(), words)
}

/// The first difference between the values of two groups.
fn describe_values(table: &[Parameter], old: &Values, new: &Values) -> Option<(String, String)> {
    table.iter().find_map(|parameter| {
        let (old, new) = (old.get(parameter.key)?, new.get(parameter.key)?);
        (old != new).then(|| describe_value(parameter, old, new))
    })
}

/// The item of a list that was added, removed or changed.
fn describe_list(parameter: &Parameter, item_kind: Kind, old: &Items, new: &Items) -> (String, String) {
    let [Range { start: first, .. }, _] = old.difference(new);
    let added = new.len().saturating_sub(old.len());
    if added > 1 {
        return (parameter.key.into(), format!("Add {added} {}", uncapitalised(parameter.label)));
    }
    let item = if new.len() < old.len() { old.get(first) } else { new.get(first) };
    let item = item
        .and_then(|item| name_of(item_kind, &item))
        .unwrap_or_else(|| format!("{} {}", parameter.item_label(), first + 1));
    match new.len().cmp(&old.len()) {
        std::cmp::Ordering::Greater => {
            let kind = new.get(first).and_then(|item| kind_of(item_kind, &item));
            let kind = kind.map_or(String::new(), |kind| format!(" ({kind})"));
            (parameter.key.into(), format!("Add {item}{kind}"))
        }
        std::cmp::Ordering::Less => (parameter.key.into(), format!("Remove {item}")),
        std::cmp::Ordering::Equal => {
            let place = format!("{}.{first}", parameter.key);
            let (Kind::Group(table), Some(Value::Group(old)), Some(Value::Group(new))) =
                (item_kind, old.get(first), new.get(first))
            else {
                return (place, item);
            };
            match describe_values(table(), &old, &new) {
                Some((path, words)) => (format!("{place}.{path}"), format!("{item}: {words}")),
                None => (place, item),
            }
        }
    }
}

/// The name of an item, if it has one.
fn name_of(item_kind: Kind, item: &Value) -> Option<String> {
    let (Kind::Group(table), Value::Group(values)) = (item_kind, item) else { return None };
    let parameter = table().iter().find(|parameter| parameter.key == "name" && !parameter.is_mask_name)?;
    values.get(parameter.key)?.as_text().filter(|name| !name.is_empty()).map(String::from)
}

/// The most kinds that share a length or height for it to be named with them.
const MAX_SHARING: usize = 3;

/// The kind of an item, such as the mode of a stroke, with its width if it has one ("road, 24 m wide"), or else a height that
/// few kinds have: "raise 12 m".
fn kind_of(item_kind: Kind, item: &Value) -> Option<String> {
    let (Kind::Group(table), Value::Group(values)) = (item_kind, item) else { return None };
    let kind = uncapitalised(kind_label(table(), values)?);
    let width = table().iter().find(|parameter| parameter.key == "width_m");
    let width = width.and_then(|parameter| parameter.value_in_words(values.get(parameter.key)?));
    if let Some(width) = width {
        return Some(format!("{kind}, {width} wide"));
    }
    let amount = table().iter().find_map(|parameter| {
        let is_own = parameter.when.is_some_and(|(_, kinds)| kinds.len() <= MAX_SHARING) && parameter.applies(values);
        let value = values.get(parameter.key).filter(|_| is_own && parameter.unit == "m")?;
        matches!(value, Value::Number(_)).then(|| parameter.value_in_words(value)).flatten()
    });
    Some(amount.map_or(kind.clone(), |amount| format!("{kind} {amount}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::AnyOperation;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::paths::{Path, PathKind, Paths};
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::operations::sculpt::{Mode, Sculpt, Stroke};
    use crate::engine::parameters::List;
    use crate::project::ProjectFile;

    fn project() -> Project {
        let mut project = Project::default();
        project.recipe.stack = vec![Step::new(Faults::default()), Step::new(RecursiveFilter::default())];
        project
    }

    #[track_caller]
    fn check(assignment: &str, place: &str, name: &str) {
        let (before, mut after) = (project(), ProjectFile::new(project()));
        after.set(assignment).expect(assignment);
        let change = describe(&before, &after.project).expect("a change");
        assert_eq!((change.place.as_str(), change.name.as_str()), (place, name));
    }

    #[test]
    fn edits_are_named_by_label_and_value() {
        check("stack.0.count=340", "stack.0.count", "Faults: Count 1000 → 340");
        check("stack.0.strike_deg=12.5", "stack.0.strike_deg", "Faults: Strike 0° → 12.5°");
        check(
            "stack.0.line=two_points",
            "stack.0.line",
            "Faults: Line placement evenly over the map → through two points",
        );
        check("stack.0.wind.k=0.5", "stack.0.wind", "Faults: Progressive smoothing off → on");
        check("stack.1.enabled=false", "stack.1.enabled", "Directional smoothing: Enabled on → off");
        check("world.width_m=512", "world.width_m", "Width 4096 m → 512 m");
        check("texture.types.0.slope_deg=[0, 30]", "texture.types.0.slope_deg", "Meadow: Slope 0–22° → 0–30°");
        check("light.azimuth_deg=90", "light.sun", "Sun azimuth 315° → 90°");
        check("texture.fallback=\"Rock\"", "texture.fallback", "Uncovered terrain nearest type → Rock");
        check("light.ambient=0.5", "light.ambient", "Ambient light 0.35 → 0.5");
    }

    #[test]
    fn all_differences_of_a_variation_are_in_words() {
        let (before, mut after) = (project(), ProjectFile::new(project()));
        for assignment in ["seed=7", "stack.0.count=340", "stack.0.strike_deg=12.5", "stack.1.k=0.25"] {
            after.set(assignment).expect(assignment);
        }
        let found = differences(&before.recipe, &after.project.recipe);
        let words: Vec<(&str, String)> =
            found.iter().map(|found| (found.step.as_str(), found.words.join(", "))).collect();
        let expected = [("", "Seed 1994 → 7"), ("Faults", "Count 1000 → 340, Strike 0° → 12.5°")];
        assert_eq!(words[..2], expected.map(|(step, words)| (step, words.to_string())));
        assert!(words[2].0 == "Directional smoothing" && words[2].1.ends_with("→ 0.25"), "{words:?}");
        assert_eq!(differences(&before.recipe, &before.recipe), []);
        let windy = |k: f64| {
            let mut file = ProjectFile::new(project());
            file.set(&format!("stack.0.wind.k={k}")).expect("a strength");
            file.project.recipe.clone()
        };
        assert_eq!(differences(&windy(0.2), &windy(0.3))[0].words, ["Progressive smoothing: Smoothing 0.2 → 0.3"]);
    }

    #[test]
    fn steps_added_deleted_and_moved() {
        let before = project();
        let name = |change: &dyn Fn(&mut Vec<Step>)| {
            let mut after = before.clone();
            change(&mut after.recipe.stack);
            describe(&before, &after).map(|change| change.name)
        };
        assert_eq!(name(&|stack| stack.push(Step::new(Faults::default()))).as_deref(), Some("Add Faults"));
        assert_eq!(name(&|stack| drop(stack.remove(1))).as_deref(), Some("Delete Directional smoothing"));
        assert_eq!(name(&|stack| stack.swap(0, 1)).as_deref(), Some("Reorder steps"));
        assert_eq!(name(&|_| {}), None);
    }

    #[test]
    fn new_paths_are_named_by_their_kind_and_width() {
        let mut before = project();
        before.recipe.stack = vec![Step::new(Paths::default())];
        let mut after = before.clone();
        let AnyOperation::Paths(paths) = &mut after.recipe.stack[0].operation else { unreachable!("paths") };
        paths.paths = vec![Path::of_kind(PathKind::River)].into();
        let AnyOperation::Paths(paths) = &mut before.recipe.stack[0].operation else { unreachable!("paths") };
        paths.paths = List::default();
        assert_eq!(describe(&before, &after).expect("a change").name, "Paths: Add Path 1 (river, 12 m wide)");
    }

    #[test]
    fn new_strokes_are_named_by_their_mode() {
        let before = project();
        let mut after = before.clone();
        after.recipe.stack = vec![Step::new(Sculpt::default())];
        let mut later = after.clone();
        let AnyOperation::Sculpt(sculpt) = &mut later.recipe.stack[0].operation else { unreachable!("sculpt") };
        sculpt.strokes.push(Stroke { mode: Mode::Lower, ..Stroke::default() });
        assert_eq!(describe(&after, &later).expect("a change").name, "Sculpt: Add Stroke 1 (lower 5 m)");
    }
}
