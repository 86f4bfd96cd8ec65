//! `upthrust faults`: the lines, or the trees of lines, that a step draws.

use std::iter;

use serde_json::{Value, json};

use super::arguments::FaultsOptions;
use super::error::CliError;
use super::{print, source};
use crate::engine::Recipe;
use crate::engine::fault::Fault;
use crate::engine::operations::{FaultSequence, PlacedFault, Segment, Tree};

/// Prints the fault lines of a step as JSON, one a line.
pub fn run(options: &FaultsOptions) -> Result<(), CliError> {
    let file = source::open(&options.source.source, &options.source.changes)?;
    let recipe = &file.project.recipe;
    let (step, faults) = drawn(&recipe, options.step).map_err(|problem| {
        let source = &options.source.source;
        match options.step {
            Some(_) => CliError::Usage(format!("{source}: {problem}")),
            None => CliError::NoFaults(source.clone(), problem),
        }
    })?;
    let extent = recipe.world.extent();
    let head = format!("{{\"world_m\": {}, \"step\": {step}, \"faults\": [", json!([extent.width_m, extent.depth_m]));
    let rows: Box<dyn Iterator<Item = Value>> = match faults {
        FaultSequence::Lines(lines) => Box::new((1..).zip(lines).map(|(i, fault)| line_row(i, &fault))),
        FaultSequence::Placed(lines) => Box::new(lines.into_iter().map(|placed| placed_row(&placed))),
        FaultSequence::Trees(trees) => Box::new((1..).zip(trees).map(|(i, tree)| tree_row(i, &tree))),
    };
    // Each is drawn when it is printed: nobody who stops listening waits for the rest.
    let mut rows = rows.peekable();
    let rows = iter::from_fn(move || {
        let row = rows.next()?;
        let comma = if rows.peek().is_some() { "," } else { "" };
        Some(format!("{row}{comma}"))
    });
    print::say_all(iter::once(head).chain(rows).chain(iter::once("]}".into())));
    Ok(())
}

fn line_row(i: u32, fault: &Fault) -> Value {
    json!({
        "i": i,
        "point_m": fault.point_m,
        "normal": fault.normal,
        "displacement_m": fault.displacement_m,
        "profile": fault.profile.key(),
        "width_m": fault.zone_m,
    })
}

/// A line that ends has its length and its reach beside what every line has.
fn placed_row(placed: &PlacedFault) -> Value {
    let mut row = line_row(placed.at, &placed.fault);
    if let Some(ends) = placed.ends {
        row["length_m"] = ends.length_m.into();
        row["reach_m"] = ends.reach_m.into();
    }
    row
}

fn tree_row(i: u32, tree: &Tree) -> Value {
    let node = |(at, segment): (usize, &Segment)| {
        let [left, right] = tree.children(at);
        json!({"from_m": segment.from_m, "to_m": segment.to_m, "left": left, "right": right})
    };
    let nodes: Vec<Value> = tree.nodes.iter().enumerate().map(node).collect();
    json!({"i": i, "nodes": nodes, "displacement_m": tree.displacement_m})
}

/// The step that is asked for, or the first one that draws faults, and its faults.
fn drawn(recipe: &Recipe, asked: Option<usize>) -> Result<(usize, FaultSequence<'_>), String> {
    let by_step = |index: usize| {
        let step = recipe.stack.get(index)?;
        step.operation.faults(recipe.world.extent(), step.stream(recipe.seed)).map(|faults| (index, faults))
    };
    match asked {
        None => (0..recipe.stack.len()).find_map(by_step).ok_or_else(|| "none of its steps draws faults".into()),
        Some(index) => by_step(index).ok_or_else(|| {
            let with_faults: Vec<String> = (0..recipe.stack.len())
                .filter(|&index| by_step(index).is_some())
                .map(|index| index.to_string())
                .collect();
            let advice = match with_faults.as_slice() {
                [] => "none of its steps does".into(),
                steps => format!("steps that do: {}", steps.join(", ")),
            };
            match recipe.stack.get(index) {
                Some(step) => format!("step {index} ({}) draws no faults; {advice}", step.operation.key()),
                None => format!("there is no step {index}, so it draws no faults; {advice}"),
            }
        }),
    }
}
