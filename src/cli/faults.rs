//! `upthrust faults`: the lines that a step draws.

use std::iter;

use serde_json::json;

use super::arguments::FaultsOptions;
use super::error::CliError;
use super::{print, source};
use crate::engine::Recipe;
use crate::engine::fault::Fault;
use crate::engine::parameters::Field;

/// Prints the fault lines of a step as JSON, one a line.
pub fn run(options: &FaultsOptions) -> Result<(), CliError> {
    let recipe = source::open(&options.source)?.recipe;
    let (step, faults) = lines(&recipe, options.step).map_err(|problem| {
        let source = &options.source.source;
        match options.step {
            Some(_) => CliError::Usage(format!("{source}: {problem}")),
            None => CliError::NoFaults(source.clone(), problem),
        }
    })?;
    let extent = recipe.world.extent();
    let head = format!("{{\"world_m\": {}, \"step\": {step}, \"faults\": [", json!([extent.width_m, extent.depth_m]));
    let rows = faults.iter().enumerate().map(|(index, fault)| {
        let row = json!({
            "i": index + 1,
            "point_m": fault.point_m,
            "normal": fault.normal,
            "displacement_m": fault.displacement_m,
            "profile": fault.profile.to_value(),
            "width_m": fault.zone_m,
        });
        let comma = if index + 1 < faults.len() { "," } else { "" };
        format!("{row}{comma}")
    });
    print::say_all(iter::once(head).chain(rows).chain(iter::once("]}".into())));
    Ok(())
}

/// The step that is asked for, or the first one that draws faults, and its faults.
fn lines(recipe: &Recipe, asked: Option<usize>) -> Result<(usize, Vec<Fault>), String> {
    let drawn = |index: usize| {
        let step = recipe.stack.get(index)?;
        step.operation.faults(recipe.world.extent(), step.stream(recipe.seed)).map(|faults| (index, faults))
    };
    match asked {
        None => (0..recipe.stack.len()).find_map(drawn).ok_or_else(|| "none of its steps draws faults".into()),
        Some(index) => drawn(index).ok_or_else(|| {
            let with_faults: Vec<String> = (0..recipe.stack.len())
                .filter(|&index| drawn(index).is_some())
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
