//! `upthrust faults`: prints the faults of a step as JSON.

use std::iter;

use serde_json::{Value, json};

use super::arguments::FaultsOptions;
use super::error::CliError;
use super::output::print_lines;
use super::source;
use crate::engine::Recipe;
use crate::engine::fault::Fault;
use crate::engine::operations::{FaultSequence, PlacedFault, Segment, Tree};

/// Prints the faults of a step as JSON, one per line.
pub fn run(options: &FaultsOptions) -> Result<(), CliError> {
    let file = source::load(&options.source.source, &options.source.changes)?;
    let recipe = &file.project.recipe;
    let (step, faults) = faults_of_step(recipe, options.step).map_err(|problem| {
        let source = &options.source.source;
        match options.step {
            Some(_) => CliError::Usage(format!("{source}: {problem}")),
            None => CliError::NoFaults(source.to_string(), problem),
        }
    })?;
    let extent = recipe.world.extent();
    let head = format!("{{\"world_m\": {}, \"step\": {step}, \"faults\": [", json!([extent.width_m, extent.depth_m]));
    let rows: Box<dyn Iterator<Item = Value>> = match faults {
        FaultSequence::Lines(lines) => Box::new((1..).zip(lines).map(|(i, fault)| line_row(i, &fault))),
        FaultSequence::Placed(lines) => Box::new(lines.into_iter().map(|placed| placed_row(&placed))),
        FaultSequence::Trees(trees) => Box::new((1..).zip(trees).map(|(i, tree)| tree_row(i, &tree))),
    };
    // Computed one at a time, so that a closed pipe stops the computation too.
    let mut rows = rows.peekable();
    let rows = iter::from_fn(move || {
        let row = rows.next()?;
        let comma = if rows.peek().is_some() { "," } else { "" };
        Some(format!("{row}{comma}"))
    });
    print_lines(iter::once(head).chain(rows).chain(iter::once("]}".into())))
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

/// A row of a drawn fault: lines with ends also have a length and a reach.
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

/// The requested step, or the first one with faults, and its faults. The error is a message.
fn faults_of_step(recipe: &Recipe, requested: Option<usize>) -> Result<(usize, FaultSequence<'_>), String> {
    let by_step = |index: usize| {
        let step = recipe.stack.get(index)?;
        step.operation.faults(recipe.world.extent(), step.stream(recipe.seed)).map(|faults| (index, faults))
    };
    match requested {
        None => (0..recipe.stack.len()).find_map(by_step).ok_or_else(|| "none of its steps generates faults".into()),
        Some(index) => by_step(index).ok_or_else(|| {
            let with_faults: Vec<String> = (0..recipe.stack.len())
                .filter(|&index| by_step(index).is_some())
                .map(|index| index.to_string())
                .collect();
            let hint = match with_faults.as_slice() {
                [] => "no step of this stack does".into(),
                steps => format!("steps with faults: {}", steps.join(", ")),
            };
            match recipe.stack.get(index) {
                Some(step) => format!("step {index} ({}) has no faults; {hint}", step.operation.key()),
                None => format!("there is no step {index}; {hint}"),
            }
        }),
    }
}
