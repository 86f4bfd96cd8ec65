//! Every parameter has complete and consistent metadata.

use upthrust::engine::fault::Profile;
use upthrust::engine::light::Light;
use upthrust::engine::mask::Mask;
use upthrust::engine::operations::AnyOperation;
use upthrust::engine::operations::bsp_faults::BspFaults;
use upthrust::engine::operations::circles::Circles;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::parameters::{Choice, Kind, Parameter, Parameters, Scale, Value, group_values};
use upthrust::engine::recipe::{StepSettings, World};
use upthrust::engine::texture::{TerrainType, TextureSettings};

/// A table of parameters and its path.
type Table = (String, &'static [Parameter]);

/// The table and the tables of its groups, recursively.
fn with_groups((path, table): Table) -> Vec<Table> {
    fn group(kind: Kind) -> Option<&'static [Parameter]> {
        match kind {
            Kind::Group(table) => Some(table()),
            Kind::List(item_kind) => group(*item_kind),
            _ => None,
        }
    }
    let within = |parameter: &'static Parameter| {
        group(parameter.kind).map_or(Vec::new(), |table| with_groups((format!("{path}.{}", parameter.key), table)))
    };
    let below: Vec<Table> = table.iter().flat_map(within).collect();
    [vec![(path.clone(), table)], below].concat()
}

fn tables_of_operations() -> Vec<Table> {
    AnyOperation::all().iter().flat_map(|operation| with_groups((operation.key().into(), operation.table()))).collect()
}

fn all_tables() -> Vec<Table> {
    let others = [
        ("world", World::parameters()),
        ("step", StepSettings::parameters()),
        ("texture", TextureSettings::parameters()),
        ("terrain type", TerrainType::parameters()),
        ("light", Light::parameters()),
    ];
    let others = others.into_iter().flat_map(|(path, table)| with_groups((path.into(), table)));
    tables_of_operations().into_iter().chain(others).collect()
}

/// The problems of all rows, a line each.
fn wrong(tables: Vec<Table>, problems: impl Fn(&Parameter, &[Parameter]) -> Vec<String>) -> Vec<String> {
    let row = |path: &str, table: &'static [Parameter], parameter: &'static Parameter| {
        let lines = problems(parameter, table).into_iter();
        lines.map(|problem| format!("{path}.{}: {problem}", parameter.key)).collect::<Vec<String>>()
    };
    let rows = |(path, table): Table| -> Vec<String> {
        table.iter().flat_map(|parameter| row(&path, table, parameter)).collect()
    };
    tables.into_iter().flat_map(rows).collect()
}

fn check(tables: Vec<Table>, problems: impl Fn(&Parameter, &[Parameter]) -> Vec<String>) {
    let wrong = wrong(tables, problems);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The problems whose condition holds.
fn found<const N: usize>(problems: [(bool, String); N]) -> Vec<String> {
    problems.into_iter().filter(|(holds, _)| *holds).map(|(_, problem)| problem).collect()
}

fn is_sentence(text: &str) -> bool {
    text.starts_with(|first: char| first.is_uppercase() || first.is_numeric()) && text.ends_with('.')
}

fn choices(kind: Kind) -> &'static [Choice] {
    match kind {
        Kind::Choice(choices) => choices,
        _ => &[],
    }
}

/// The numbers in a value that have sliders.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Integer(_) | Value::Number(_) => value.as_number().into_iter().collect(),
        Value::Band(band) => vec![band.min, band.max],
        Value::Point(point) => vec![point.x_m, point.z_m],
        Value::Matrix(matrix) => matrix.numbers().to_vec(),
        Value::Weighted(weighted) => vec![weighted.value],
        Value::List(items) => items.iter().flat_map(|item| numbers(&item)).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn operations_parameters_and_choices_have_docs() {
    for operation in AnyOperation::all() {
        assert!(is_sentence(operation.doc()), "{}: {}", operation.key(), operation.doc());
        assert!(!operation.label().is_empty(), "{}", operation.key());
    }
    check(all_tables(), |parameter, _| {
        let bare = choices(parameter.kind).iter().filter(|choice| !is_sentence(choice.doc) || choice.label.is_empty());
        found([
            (!is_sentence(parameter.doc), format!("not a sentence: \"{}\"", parameter.doc)),
            (parameter.label.is_empty(), "no label".into()),
            (bare.clone().next().is_some(), format!("choices without a sentence or label: {bare:?}")),
        ])
    });
}

#[test]
fn lengths_and_angles_have_units() {
    check(all_tables(), |parameter, _| {
        let unit = match parameter.key.rsplit_once('_') {
            Some((_, "m")) => "m",
            Some((_, "deg")) => "°",
            _ => return Vec::new(),
        };
        found([(parameter.unit != unit, format!("its unit is \"{}\", not \"{unit}\"", parameter.unit))])
    });
}

#[test]
fn sliders_are_within_hard_ranges_and_defaults_within_sliders() {
    check(tables_of_operations(), |parameter, _| {
        let Parameter { hard, slider, .. } = parameter;
        let ranges = [hard.low <= slider.low, slider.low < slider.high, slider.high <= hard.high];
        let defaults = numbers(&parameter.default);
        let logarithmic = parameter.scale == Scale::Logarithmic;
        found([
            (ranges.contains(&false), format!("the slider {slider:?} is not within {hard:?}")),
            (logarithmic && slider.low <= 0.0, format!("a logarithmic slider cannot start at {}", slider.low)),
            (
                !defaults.iter().all(|default| slider.contains(*default)),
                format!("the default {defaults:?} is not on {slider:?}"),
            ),
        ])
    });
}

#[test]
fn keys_are_unique_and_conditions_can_hold() {
    let of_steps: Vec<&str> = StepSettings::parameters().iter().map(|parameter| parameter.key).collect();
    for operation in AnyOperation::all() {
        // The parameters of an operation and of its step share one JSON object.
        let shared = operation.table().iter().find(|row| of_steps.contains(&row.key) || row.key == "operation");
        assert!(shared.is_none(), "{}: {shared:?}", operation.key());
    }
    check(all_tables(), |parameter, table| {
        let same = table.iter().filter(|row| row.key == parameter.key).count();
        let snake =
            parameter.key.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
        let can_hold = [parameter.when, parameter.both_sides].into_iter().flatten().all(|(key, values)| {
            table.iter().find(|row| row.key == key).is_some_and(|row| match row.kind {
                Kind::Choice(choices) => values.iter().all(|value| choices.iter().any(|choice| choice.key == *value)),
                _ => values.iter().all(|value| ["true", "false"].contains(value)),
            })
        });
        let known = choices(parameter.kind).iter().any(|choice| Value::Choice(choice.key) == parameter.default);
        found([
            (same > 1, "the key is not unique".into()),
            (!snake, "the key is not in snake case".into()),
            (!can_hold, format!("a condition can never hold: {:?}, {:?}", parameter.when, parameter.both_sides)),
            (!choices(parameter.kind).is_empty() && !known, "its default is not one of its choices".into()),
        ])
    });
}

#[test]
fn the_throw_is_twice_the_displacement_where_one_side_rises_and_the_other_sinks() {
    let throw = |operation: AnyOperation| {
        let values = group_values(operation.group());
        let throws = operation.table().iter().filter_map(|parameter| parameter.throw(&values)).collect::<Vec<f64>>();
        throws.first().copied()
    };
    let faults = |profile| Faults { displacement_m: 400.0, profile, ..Faults::default() };
    assert_eq!(throw(faults(Profile::Smooth).into()), Some(800.0));
    assert_eq!(throw(faults(Profile::Cosine).into()), None, "a ridge");
    assert_eq!(throw(BspFaults { displacement_m: 15.0, ..BspFaults::default() }.into()), Some(30.0));
    assert_eq!(throw(Circles::default().into()), None, "a hill only rises");
}

#[test]
fn tables_of_groups_are_found() {
    let paths: Vec<String> = all_tables().into_iter().map(|(path, _)| path).collect();
    for path in ["faults", "faults.wind", "bsp_faults.wind", "step.mask", "light"] {
        assert!(paths.iter().any(|found| found == path), "{path} is not among {paths:?}");
    }
    assert_eq!(
        Mask::parameters().len(),
        all_tables().iter().find(|(path, _)| path == "step.mask").expect("masks").1.len()
    );
}
