//! The measures of a level: ways, fairness, places.

use egui::{Button, Grid, Label, RichText, Sense, Ui};

use crate::app::widgets::heading;
use crate::app::widgets::theme::colours;
use crate::engine::level::Level;
use crate::engine::play::{Aspect, Fairness, Report, WayReport};

/// Times that differ by less than this share are shown as one.
const SAME_TIME: f64 = 0.02;

/// Draws all measures; returns the place that the user wants to see. `way` is the pair of markers whose way is drawn.
pub(super) fn report_ui(ui: &mut Ui, report: &Report, level: &Level, way: &mut Option<[usize; 2]>) -> Option<[f64; 2]> {
    let mut response = None;
    if level.markers.is_empty() {
        ui.weak("Put down spawns and objectives with the marker tool (M) to measure ways, sight and fairness.");
    }
    for (agent, share) in level.agents.iter().zip(&report.walkable) {
        ui.label(format!("Walkable for {}: {:.1} %", agent.name, 100.0 * share));
    }
    let stuck = level.markers.iter().zip(&report.markers).filter(|(_, found)| !found.stands);
    for (marker, _) in stuck {
        let text = format!("{} is where nobody can stand; move it to flatter, drier ground", marker.name);
        ui.label(RichText::new(text).color(colours(ui).error));
    }
    if !report.ways.is_empty() {
        response = ways_ui(ui, report, level, way).or(response);
    }
    if !report.fairness.is_empty() {
        fairness_ui(ui, report);
    }
    if let Some(island) = report.islands.first() {
        let text = format!("{} areas nobody reaches, up to {:.1} ha", report.island_count, island.area_m2 / 1e4);
        let label = ui.add(Label::new(text).sense(Sense::CLICK)).on_hover_text("Click to see the largest one");
        if label.clicked() {
            response = Some(island.at_m);
        }
    }
    response
}

/// The ways between every two places. A click on one draws it.
fn ways_ui(ui: &mut Ui, report: &Report, level: &Level, way: &mut Option<[usize; 2]>) -> Option<[f64; 2]> {
    heading(ui, "Ways");
    let mut response = None;
    let name = |marker: usize| level.markers.get(marker).map_or("", |marker| marker.name.as_str());
    for found in &report.ways {
        let back = report.ways.iter().find(|back| [back.from, back.to] == [found.to, found.from]);
        let is_same = back.is_some_and(|back| takes_as_long(found, back));
        if is_same && found.from > found.to {
            continue;
        }
        let between = if is_same { "\u{2013}" } else { "to" };
        let pair = [found.from, found.to];
        let text = format!("{} {between} {}", name(found.from), name(found.to));
        let button = Button::selectable(*way == Some(pair), text).truncate();
        if ui.add(button).on_hover_text("Click to draw the fastest way on the maps").clicked() {
            *way = if *way == Some(pair) { None } else { Some(pair) };
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(8.0);
            let text = |text: String| RichText::new(text).size(11.0).color(colours(ui).weak);
            let (time, sight, narrow) = (text(time_text(found)), text(sight_text(found).into()), found.choke_m);
            let narrow = narrow.filter(|(width_m, _)| width_m.is_finite());
            let narrow = narrow.map(|(width_m, place_m)| (text(format!(" · {width_m:.0} m wide")), place_m));
            ui.label(time).on_hover_text("The fastest way of the first agent, and its length over the ground");
            if let Some((width, place_m)) = narrow {
                let doc = "The narrowest place of the widest way; click to see where";
                if ui.add(Label::new(width).sense(Sense::CLICK)).on_hover_text(doc).clicked() {
                    response = Some(place_m);
                }
            }
            ui.label(sight);
        });
    }
    response
}

fn time_text(found: &WayReport) -> String {
    found.way.map_or("no way".into(), |[seconds, metres]| format!("{seconds:.1} s · {metres:.0} m"))
}

fn sight_text(found: &WayReport) -> &'static str {
    if found.sees { " · in sight" } else { " · out of sight" }
}

/// Whether a way takes as long as the way back.
fn takes_as_long(there: &WayReport, back: &WayReport) -> bool {
    match (there.way, back.way) {
        (Some([there, _]), Some([back, _])) => (there - back).abs() <= SAME_TIME * there.max(back),
        (there, back) => there.is_none() && back.is_none(),
    }
}

/// The aspects of fairness with the values of all teams.
fn fairness_ui(ui: &mut Ui, report: &Report) {
    heading(ui, "Fairness");
    Grid::new("fairness").num_columns(report.teams.len() + 2).striped(true).spacing([6.0, 2.0]).show(ui, |ui| {
        ui.weak("Team");
        report.teams.iter().for_each(|team| drop(ui.strong(team)));
        ui.weak("Ratio").on_hover_text("The least divided by the greatest: 1 is fair. Of heights, the difference");
        ui.end_row();
        for row in &report.fairness {
            let (title, doc) = aspect_text(row.aspect);
            ui.label(title).on_hover_text(doc);
            row.values.iter().for_each(|value| drop(ui.label(value_text(row.aspect, *value))));
            ui.strong(ratio_text(row));
            ui.end_row();
        }
    });
}

fn aspect_text(aspect: Aspect) -> (&'static str, &'static str) {
    match aspect {
        Aspect::Territory => ("Territory", "The share of the ground that the team reaches first"),
        Aspect::Time => ("Objectives", "The mean time to the objectives"),
        Aspect::Exposure => ("Exposure", "The share of the walkable ground from which the team's spawns are seen"),
        Aspect::Flat => ("Flat ground", "The ground up to 5\u{b0} steep that the team reaches first, hectares"),
        Aspect::Height => {
            ("Height", "The height of the team's spawns over the mean of the map, and how far apart the teams are")
        }
    }
}

fn value_text(aspect: Aspect, value: f64) -> String {
    match aspect {
        Aspect::Territory | Aspect::Exposure => format!("{:.1} %", 100.0 * value),
        Aspect::Time if value.is_infinite() => "no way".into(),
        Aspect::Time => format!("{value:.1} s"),
        Aspect::Flat => format!("{:.1} ha", value / 1e4),
        Aspect::Height => format!("{value:+.1} m"),
    }
}

fn ratio_text(row: &Fairness) -> String {
    if row.aspect == Aspect::Height { format!("{:.1} m", row.ratio) } else { format!("{:.2}", row.ratio) }
}
