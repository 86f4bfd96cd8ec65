//! Names for edits: "Faults: Count 200 to 340".

use serde_json::Value;

use crate::engine::light::Light;
use crate::engine::parameters::{Group, Kind, Parameter, choice_key};
use crate::engine::recipe::Recipe;
use crate::engine::texture::TextureRecipe;
use crate::project::Project;

/// What an edit changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The place in the document, the same for all edits of the same parameter.
    pub(crate) place: String,
    /// The edit in words.
    pub(crate) name: String,
}

/// What differs between two projects; `None` if at most their imported files do.
pub(crate) fn describe(before: &Project, after: &Project) -> Option<Change> {
    let change = |place: &str, name: String| Some(Change { place: place.into(), name });
    if before.name != after.name {
        return change("name", format!("Name \"{}\"", after.name));
    }
    if before.description != after.description {
        return change("description", "Description".into());
    }
    if let Some(found) = in_recipe(&before.recipe, &after.recipe) {
        return Some(found);
    }
    in_group("view", "", &before.water, &after.water)
}

fn in_recipe(before: &Recipe, after: &Recipe) -> Option<Change> {
    if before.seed != after.seed {
        return Some(Change { place: "seed".into(), name: format!("Seed {} to {}", before.seed, after.seed) });
    }
    in_group("world", "", &before.world, &after.world)
        .or_else(|| in_stack(before, after))
        .or_else(|| in_texture(&before.texture, &after.texture))
        .or_else(|| in_light(&before.light, &after.light))
}

/// The sun has one place: a drag over the compass changes now its direction, now its height, and is one edit.
fn in_light(before: &Light, after: &Light) -> Option<Change> {
    let change = in_group("light", "", before, after)?;
    let place = |light: &Light| (light.azimuth_deg, light.altitude_deg);
    let ((azimuth, altitude), (to_azimuth, to_altitude)) = (place(before), place(after));
    let turned = azimuth != to_azimuth;
    let raised = altitude != to_altitude;
    let name = if turned && raised {
        let written = |azimuth, altitude| format!("{}° and {}° high", short(azimuth), short(altitude));
        format!("Sun {} to {}", written(azimuth, altitude), written(to_azimuth, to_altitude))
    } else {
        change.name
    };
    let place = if turned || raised { "light.sun".into() } else { change.place };
    Some(Change { place, name })
}

fn in_stack(before: &Recipe, after: &Recipe) -> Option<Change> {
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
            if !others_equal || a.operation.key() != b.operation.key() {
                "Reorder steps".to_string()
            } else {
                return in_group(&place, label, &a.settings, &b.settings)
                    .or_else(|| in_group(&place, label, a.operation.group(), b.operation.group()));
            }
        }
    };
    Some(Change { place: "stack".into(), name })
}

fn in_texture(before: &TextureRecipe, after: &TextureRecipe) -> Option<Change> {
    if before.settings.unit != after.settings.unit {
        // The elevations of the types go with it.
        return in_group("texture", "", &before.settings, &after.settings);
    }
    let (old, new) = (&before.types, &after.types);
    let first = old.iter().zip(new).position(|(a, b)| a != b).unwrap_or(old.len().min(new.len()));
    let of_list = |name: String| Some(Change { place: "texture.types".into(), name });
    match new.len().cmp(&old.len()) {
        std::cmp::Ordering::Greater => of_list(format!("Add type {}", new[first].name)),
        std::cmp::Ordering::Less => of_list(format!("Delete type {}", old[first].name)),
        std::cmp::Ordering::Equal if old == new => in_group("texture", "", &before.settings, &after.settings),
        std::cmp::Ordering::Equal if old[first + 1..] != new[first + 1..] => of_list("Reorder types".into()),
        std::cmp::Ordering::Equal => {
            in_group(&format!("texture.types.{first}"), &old[first].name, &old[first], &new[first])
        }
    }
}

/// The first parameter that differs; `owner` stands before the label unless it is empty.
fn in_group(place: &str, owner: &str, before: &dyn Group, after: &dyn Group) -> Option<Change> {
    before.table().iter().find_map(|parameter| {
        let (old, new) = (before.get(parameter.key)?, after.get(parameter.key)?);
        (old != new).then(|| {
            let (path, words) = in_value(parameter, &old, &new);
            let name = if owner.is_empty() { words } else { format!("{owner}: {words}") };
            Change { place: format!("{place}.{path}"), name }
        })
    })
}

/// The path below the parameter's owner, and the change in words; goes into groups that were on before and after.
fn in_value(parameter: &Parameter, old: &Value, new: &Value) -> (String, String) {
    if let (Kind::Group(table), Value::Object(a), Value::Object(b)) = (parameter.kind, old, new) {
        let inner = table().iter().find(|inner| a.get(inner.key) != b.get(inner.key));
        if let Some(inner) = inner {
            let [a, b] = [a, b].map(|object| object.get(inner.key).unwrap_or(&Value::Null));
            let (path, words) = in_value(inner, a, b);
            return (format!("{}.{path}", parameter.key), format!("{}: {words}", parameter.label));
        }
    }
    if let (Kind::List(of), Value::Array(a), Value::Array(b)) = (parameter.kind, old, new) {
        return in_list(parameter, *of, a, b);
    }
    let words = match (written(parameter, old), written(parameter, new)) {
        (Some(old), Some(new)) => format!("{} {old} to {new}", parameter.label),
        _ => parameter.label.to_string(),
    };
    (parameter.key.into(), words)
}

/// The same in a list: which item came, went or changed.
fn in_list(parameter: &Parameter, of: Kind, old: &[Value], new: &[Value]) -> (String, String) {
    let first = old.iter().zip(new).position(|(a, b)| a != b).unwrap_or(old.len().min(new.len()));
    let item = format!("{} {}", parameter.label, first + 1);
    match new.len().cmp(&old.len()) {
        std::cmp::Ordering::Greater => (parameter.key.into(), format!("Add {item}")),
        std::cmp::Ordering::Less => (parameter.key.into(), format!("Remove {item}")),
        std::cmp::Ordering::Equal => {
            let place = format!("{}.{first}", parameter.key);
            let Some((a, b)) = old.get(first).zip(new.get(first)) else { return (place, item) };
            match (of, a, b) {
                (Kind::Group(table), Value::Object(_), Value::Object(_)) => {
                    let group = Parameter { kind: Kind::Group(table), ..parameter.clone() };
                    let (path, words) = in_value(&group, a, b);
                    let inside = path.strip_prefix(parameter.key).unwrap_or_default();
                    let words = words.strip_prefix(parameter.label).unwrap_or(&words);
                    (format!("{place}{inside}"), format!("{item}{words}"))
                }
                _ => (place, item),
            }
        }
    }
}

/// A value as a person would write it, if it is short enough for a name.
fn written(parameter: &Parameter, value: &Value) -> Option<String> {
    let unit = match parameter.unit {
        "" => String::new(),
        "°" => "°".into(),
        unit => format!(" {unit}"),
    };
    Some(match (parameter.kind, value) {
        (Kind::Group(_), Value::Null) => "off".into(),
        (Kind::Group(_), _) => "on".into(),
        // As the controls of their own have it.
        (_, Value::Null) if parameter.key == "active_set" => "all".into(),
        (_, Value::Null) if parameter.key == "fallback" => "nearest type".into(),
        (_, Value::Null) => "none".into(),
        (_, Value::Bool(on)) => if *on { "on" } else { "off" }.into(),
        (Kind::Choice(choices), value) => {
            let key = choice_key(value);
            choices.iter().find(|choice| choice.key == key).map_or(key, |choice| choice.label.to_lowercase())
        }
        (_, Value::Number(number)) => format!("{}{unit}", short(number.as_f64()?)),
        (Kind::Band, Value::Array(limits)) => {
            let [low, high] = [0, 1].map(|i| limits.get(i).and_then(Value::as_f64).map(short));
            format!("{}–{}{unit}", low?, high?)
        }
        (_, Value::String(text)) if text.is_empty() => "none".into(),
        (_, Value::String(text)) => text.clone(),
        _ => return None,
    })
}

/// A number with at most four significant places after the point, without trailing zeros.
fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
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
    fn parameters_by_label_and_value() {
        check("stack.0.count=340", "stack.0.count", "Faults: Count 1000 to 340");
        check("stack.0.strike_deg=12.5", "stack.0.strike_deg", "Faults: Strike 0° to 12.5°");
        check("stack.0.line=two_points", "stack.0.line", "Faults: Line even (normal form) to through two points");
        check("stack.0.wind.k=0.5", "stack.0.wind", "Faults: Wind erosion off to on");
        check("stack.1.enabled=false", "stack.1.enabled", "Recursive filter: Enabled on to off");
        check("world.width_m=512", "world.width_m", "Width 4096 m to 512 m");
        check("texture.types.0.slope_deg=[0, 30]", "texture.types.0.slope_deg", "Meadow: Slope 0–22° to 0–30°");
        check("light.azimuth_deg=90", "light.sun", "Sun azimuth 315° to 90°");
        check("texture.fallback=\"Rock\"", "texture.fallback", "Fallback nearest type to Rock");
        check("light.ambient=0.5", "light.ambient", "Ambient light 0.35 to 0.5");
    }

    #[test]
    fn steps_that_come_go_and_move() {
        let before = project();
        let name = |change: &dyn Fn(&mut Vec<Step>)| {
            let mut after = before.clone();
            change(&mut after.recipe.stack);
            describe(&before, &after).map(|change| change.name)
        };
        assert_eq!(name(&|stack| stack.push(Step::new(Faults::default()))).as_deref(), Some("Add Faults"));
        assert_eq!(name(&|stack| drop(stack.remove(1))).as_deref(), Some("Delete Recursive filter"));
        assert_eq!(name(&|stack| stack.swap(0, 1)).as_deref(), Some("Reorder steps"));
        assert_eq!(name(&|_| {}), None);
    }
}
