//! `upthrust play`: measures a level and checks its rules.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::arguments::PlayOptions;
use super::error::CliError;
use super::output::{print_error, print_line, print_lines};
use super::values::Size;
use super::{interrupt, source};
use crate::engine::Progress;
use crate::engine::cast::ToInteger;
use crate::engine::image::Image;
use crate::engine::lakes::water_depths;
use crate::engine::level::{Level, MarkerKind};
use crate::engine::play::{
    Gap, Island, MeasuredTerrain, Measures, PlayMap, Report, Rule, Verdict, memory_bytes, obstacle_bytes, obstacles,
};
use crate::engine::stack::evaluate;
use crate::files::export::check_paths;
use crate::files::formats::image;
use crate::files::io::atomic;
use crate::files::io::folders::NewFolders;

/// Measures a level and prints the results.
pub fn run(options: &PlayOptions) -> Result<(), CliError> {
    let progress = interrupt::progress();
    let source = &options.source.source;
    let file = source::load(source, &options.source.changes)?;
    let project = &file.project;
    let mut level = project.level.clone();
    level.rules.extend(options.require.iter().cloned());
    let grid = options.size.unwrap_or(Size::longer(file.settings.export.samples)).grid(project.recipe.world.extent());
    let bytes = memory_bytes(&level, &Rule::readable(&level), grid) + obstacle_bytes(&project.recipe, grid);
    let inputs = source::inputs(&source.to_string(), project, grid, bytes)?;
    let paths: Vec<(PlayMap, PathBuf)> = options.maps.iter().flat_map(|folder| map_paths(folder, &level)).collect();
    let mut folders = NewFolders::default();
    if let Some(folder) = &options.maps {
        folders.make(folder).map_err(|error| CliError::Folder(folder.clone(), error.to_string()))?;
        check_paths(paths.iter().map(|(_, path)| path), options.force)?;
    }
    // Mistakes in rules are found before anything is computed.
    source::rules(source, &level, level.rules.iter())?;
    let terrain = evaluate(&project.recipe, grid, None, &inputs, &progress)?;
    let water_m = water_depths(&project.recipe, project.water.water_m, &terrain);
    let obstacles = obstacles(&project.recipe, &terrain, &inputs, &progress)?;
    let measured = MeasuredTerrain { terrain: &terrain, water_m: water_m.as_deref(), obstacles: obstacles.as_ref() };
    let measures = Measures::new(measured, &level, &progress);
    let report = Report::of(&measures)?;
    let written = write_maps(&measures, &paths, options.force, &progress)?;
    folders.keep();
    let judged = Size::longer(file.settings.export.samples).grid(grid.extent());
    if judged.samples() > grid.samples() {
        let [width, height] = [judged.width(), judged.height()];
        print_error(&format!(
            "note: these are estimates; the level is judged at its export size, {width} × {height} samples"
        ));
    }
    if options.json {
        print_line(&format!("{:#}", to_json(&report, &measures)))?;
    } else {
        let files = written.iter().map(|path| format!("wrote {}", path.display()));
        print_lines(to_text(&report, &measures).into_iter().chain(files))?;
    }
    let verdicts = report.verdicts.iter().flatten();
    match verdicts.filter(|verdict| !verdict.holds).count() {
        0 => Ok(()),
        failed => Err(CliError::FailedRules(failed, report.verdicts.len())),
    }
}

/// The maps of a level with the files that they are written to.
fn map_paths(folder: &Path, level: &Level) -> Vec<(PlayMap, PathBuf)> {
    let of_all = [PlayMap::Walkable, PlayMap::Clearance, PlayMap::Exposure, PlayMap::Territory];
    let has_teams = level.markers.iter().any(|marker| marker.kind == MarkerKind::Spawn && !marker.team.is_empty());
    let of_all = of_all.into_iter().filter(|map| *map != PlayMap::Territory || has_teams);
    let of_markers = (0..level.markers.len()).flat_map(|marker| [PlayMap::Reach(marker), PlayMap::Viewshed(marker)]);
    let name = |map: &PlayMap| match map {
        PlayMap::Walkable => "walkable.png".into(),
        PlayMap::Clearance => "clearance.png".into(),
        PlayMap::Exposure => "exposure.png".into(),
        PlayMap::Territory => "territory.png".into(),
        // Markers may have the same name, or one that no file can have.
        PlayMap::Reach(marker) => format!("reach_{marker}.png"),
        PlayMap::Viewshed(marker) => format!("viewshed_{marker}.png"),
    };
    of_all.chain(of_markers).map(|map| (map, folder.join(name(&map)))).collect()
}

/// Writes maps: the colours over the heights in grey.
fn write_maps(
    measures: &Measures,
    paths: &[(PlayMap, PathBuf)],
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<PathBuf>, CliError> {
    let mut staged = Vec::with_capacity(paths.len());
    let relief = Image::greyscale(measures.terrain());
    for (map, path) in paths {
        let mut image = relief.clone();
        for (pixel, over) in image.pixels.iter_mut().zip(map.overlay(measures)?.pixels) {
            let share = f32::from(over[3]) / 255.0;
            for (own, over) in pixel.iter_mut().zip(&over[..3]) {
                *own = (f32::from(*own) * (1.0 - share) + f32::from(*over) * share).round().to_u8();
            }
        }
        staged.push(atomic::stage(path, overwrite, |writer| image::write(writer, path, &image, progress))?);
    }
    Ok(atomic::commit_all(staged)?)
}

fn to_json(report: &Report, measures: &Measures) -> Value {
    let level = measures.level();
    let number = |number: f64| if number.is_finite() { json!(number) } else { Value::Null };
    let markers = level.markers.iter().zip(&report.markers).map(|(marker, found)| {
        json!({
            "name": marker.name,
            "kind": marker.kind.key(),
            "team": marker.team,
            "at_m": [marker.at_m.x_m, marker.at_m.z_m],
            "height_m": found.height_m,
            "stands": found.stands,
            "reachable": found.reachable,
            "seen": found.seen,
            "farthest_seen_m": found.farthest_m,
            "exposure": found.exposure,
        })
    });
    let routes = report.routes.iter().map(|found| {
        json!({
            "from": level.markers[found.from].name,
            "to": level.markers[found.to].name,
            "markers": [found.from, found.to],
            "time_s": found.route.map(|[seconds, _]| seconds),
            "length_m": found.route.map(|[_, metres]| metres),
            "choke_m": found.choke_m.map(|(width_m, _)| number(width_m)),
            "choke_at_m": found.choke_m.map(|(_, at_m)| at_m),
            "sees": found.sees,
        })
    });
    let fairness = report.fairness.iter().map(|row| {
        let values = row.values.iter().map(|value| number(*value)).collect::<Vec<_>>();
        json!({"aspect": row.aspect.key(), "values": values, "ratio": number(row.ratio)})
    });
    let agents = measures.agents().iter().zip(&report.walkable);
    let verdicts = report.verdicts.iter().flatten();
    json!({
        "width": measures.terrain().grid().width(),
        "height": measures.terrain().grid().height(),
        "agents": agents.map(|(agent, share)| json!({"name": agent.name, "walkable": share})).collect::<Vec<_>>(),
        "markers": markers.collect::<Vec<_>>(),
        "ways": routes.collect::<Vec<_>>(),
        "teams": report.teams,
        "fairness": fairness.collect::<Vec<_>>(),
        "islands": report
            .islands
            .iter()
            .map(|Island { area_m2, at_m, gap }| json!({"area_m2": area_m2, "at_m": at_m, "gap": gap.map(gap_json)}))
            .collect::<Vec<_>>(),
        "rules": verdicts.map(verdict_json).collect::<Vec<_>>(),
    })
}

fn gap_json(Gap { from_m, to_m, length_m, rise_m }: Gap) -> Value {
    json!({"from_m": from_m, "to_m": to_m, "length_m": length_m, "rise_m": rise_m})
}

/// A verdict as JSON.
pub(super) fn verdict_json(verdict: &Verdict) -> Value {
    let Verdict { rule, holds, found, reason, place_m, .. } = verdict;
    json!({"rule": rule, "holds": holds, "found": found, "reason": reason, "at_m": place_m})
}

fn to_text(report: &Report, measures: &Measures) -> Vec<String> {
    let level = measures.level();
    let name = |marker: usize| level.markers[marker].name.as_str();
    let agents = measures.agents().iter().zip(&report.walkable);
    let mut lines: Vec<String> =
        agents.map(|(agent, share)| format!("walkable for {}: {:.1} %", agent.name, 100.0 * share)).collect();
    for (marker, found) in level.markers.iter().zip(&report.markers) {
        let team = if marker.team.is_empty() { String::new() } else { format!(" of {}", marker.team) };
        let place = format!("{:.0} m east, {:.0} m south", marker.at_m.x_m, marker.at_m.z_m);
        lines.push(format!(
            "{} \"{}\"{team} at {place}, height {:.1} m",
            marker.kind.key(),
            marker.name,
            found.height_m
        ));
        lines.push(if found.stands {
            format!(
                "  reaches {:.1} % of the walkable area; visible from {:.1} % of it; \
                 sees {:.1} % of the map, up to {:.0} m away",
                100.0 * found.reachable,
                100.0 * found.exposure,
                100.0 * found.seen,
                found.farthest_m
            )
        } else {
            format!("  {} cannot stand here; move the marker to a flatter or drier place", measures.agents()[0].name)
        });
    }
    for found in &report.routes {
        let route = match found.route {
            Some([seconds, metres]) => format!("{seconds:.1} s, {metres:.0} m"),
            None => "no route".into(),
        };
        let choke = match found.choke_m {
            Some((width_m, [x_m, z_m])) if width_m.is_finite() => {
                format!("; choke point {width_m:.1} m wide at {x_m:.0} m east, {z_m:.0} m south")
            }
            _ => String::new(),
        };
        let sees = if found.sees { "; visible" } else { "" };
        lines.push(format!("\"{}\" to \"{}\": {route}{choke}{sees}", name(found.from), name(found.to)));
    }
    for row in &report.fairness {
        let values = report.teams.iter().zip(&row.values);
        let values: Vec<String> = values.map(|(team, value)| format!("{team} {}", row.aspect.text(*value))).collect();
        let ratio = row.ratio_text();
        lines.push(format!("fairness of {:<9} {ratio} ({})", row.aspect.key(), values.join(", ")));
    }
    if let Some(largest) = report.islands.first() {
        let [x_m, z_m] = largest.at_m;
        lines.push(format!(
            "{} unreachable areas; the largest is {:.2} ha, at {x_m:.0} m east, {z_m:.0} m south",
            report.island_count,
            largest.area_m2 / 1e4
        ));
        if let Some(gap) = &largest.gap {
            let [x_m, z_m] = gap.from_m;
            let (level, rise_m) = if gap.rise_m < 0.0 { ("below", -gap.rise_m) } else { ("above", gap.rise_m) };
            lines.push(format!(
                "  it is {:.0} m from the reachable area and {rise_m:.1} m {level} it, \
                 at {x_m:.0} m east, {z_m:.0} m south",
                gap.length_m
            ));
        }
    }
    lines.extend(report.verdicts.iter().flatten().map(verdict_text));
    lines
}

/// A verdict as a line: what was expected, what was found, and where.
pub(super) fn verdict_text(verdict: &Verdict) -> String {
    let place = verdict.place_m.filter(|_| !verdict.holds);
    let place = place.map_or(String::new(), |[x_m, z_m]| format!(", at {x_m:.0} m east, {z_m:.0} m south"));
    let holds = if verdict.holds { "ok" } else { "FAILED" };
    format!("{holds:<6} {}: found {}{place}", verdict.rule, verdict.found_and_why())
}
