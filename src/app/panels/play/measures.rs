//! The measures of a level: ways, fairness, places.

use egui::{Button, Grid, Label, RichText, Sense, Ui};

use crate::app::widgets::heading;
use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::theme::colours;
use crate::engine::level::Level;
use crate::engine::play::{Aspect, Island, Report, WayReport};

/// The most areas that nobody reaches that are listed.
const MAX_SHOWN: usize = 5;

/// Times that differ by less than this share are shown as one.
const SAME_TIME: f64 = 0.02;

/// Draws all measures; returns the place that the user wants to see. `way` is the pair of markers whose
/// way is drawn, `rows` the heights of the list of ways.
pub(super) fn report_ui(
    ui: &mut Ui,
    report: &Report,
    level: &Level,
    way: &mut Option<[usize; 2]>,
    rows: &mut RowHeights,
) -> Option<[f64; 2]> {
    let mut response = None;
    if level.markers.is_empty() {
        ui.weak("Put down spawns and objectives with the marker tool (M) to measure ways, sight and fairness.");
    }
    for (agent, share) in level.agents.iter().zip(&report.walkable) {
        ui.label(format!("Walkable for {}: {:.1} %", agent.name, 100.0 * share));
    }
    let stuck = level.markers.iter().zip(&report.markers).filter(|(_, found)| !found.stands);
    for (marker, _) in stuck {
        let text = format!("{} is where nobody can stand; move it to flatter, drier ground on the map", marker.name);
        ui.label(RichText::new(text).color(colours(ui).error));
    }
    if !report.ways.is_empty() {
        response = ways_ui(ui, report, level, way, rows).or(response);
    }
    if !report.fairness.is_empty() {
        fairness_ui(ui, report);
    }
    islands_ui(ui, report).or(response)
}

/// The areas that nobody reaches, each with the barrier that keeps it apart. A click on one shows it.
fn islands_ui(ui: &mut Ui, report: &Report) -> Option<[f64; 2]> {
    if report.islands.is_empty() {
        return None;
    }
    heading(ui, "Areas nobody reaches");
    let mut response = None;
    for Island { area_m2, at_m, gap } in report.islands.iter().take(MAX_SHOWN) {
        let barrier = gap.as_ref().map_or(String::new(), |gap| {
            let (level, rise_m) = if gap.rise_m < 0.0 { ("down", -gap.rise_m) } else { ("up", gap.rise_m) };
            format!(", {:.0} m away and {rise_m:.0} m {level}", gap.length_m)
        });
        let area = if *area_m2 < 1000.0 { format!("{area_m2:.0} m²") } else { format!("{:.1} ha", area_m2 / 1e4) };
        let text = format!("{area}{barrier}");
        let label = ui.add(Label::new(text).sense(Sense::CLICK));
        let label = label
            .on_hover_text("Size, and how far it is from ground that is reached. Click to show the narrowest place");
        if label.clicked() {
            response = Some(gap.as_ref().map_or(*at_m, |gap| gap.from_m));
        }
    }
    if report.island_count > MAX_SHOWN {
        ui.weak(format!("and {} smaller ones", report.island_count - MAX_SHOWN));
    }
    response
}

/// The ways between every two places. A click on one draws it.
fn ways_ui(
    ui: &mut Ui,
    report: &Report,
    level: &Level,
    way: &mut Option<[usize; 2]>,
    rows: &mut RowHeights,
) -> Option<[f64; 2]> {
    heading(ui, "Ways");
    let mut response = None;
    let name = |marker: usize| level.markers.get(marker).map_or("", |marker| marker.name.as_str());
    let back = |found: &WayReport| report.way(found.to, found.from).filter(|back| takes_as_long(found, back));
    let listed = report.ways.iter().filter(|found| found.from < found.to || back(found).is_none());
    let listed: Vec<&WayReport> = listed.collect();
    rows.rows_ui(ui, listed.len(), |ui, row| {
        let found = listed[row];
        let between = if back(found).is_some() { "\u{2013}" } else { "to" };
        let text = format!("{} {between} {}", name(found.from), name(found.to));
        let pair = [found.from, found.to];
        let drawn = ui.push_id(pair, |ui| way_ui(ui, found, &text, *way == Some(pair)));
        let (is_clicked, place_m) = drawn.inner;
        if is_clicked {
            *way = if *way == Some(pair) { None } else { Some(pair) };
        }
        response = place_m.or(response);
        drawn.response.rect
    });
    response
}

/// One way: returns whether the user clicked it, and the place that the user wants to see.
fn way_ui(ui: &mut Ui, found: &WayReport, title: &str, is_drawn: bool) -> (bool, Option<[f64; 2]>) {
    let mut response = None;
    let button = ui.add(Button::selectable(is_drawn, title).truncate());
    let is_clicked = button.on_hover_text("Click to draw the fastest way on the maps").clicked();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(8.0);
        let weak = colours(ui).weak;
        let text = |text: String| RichText::new(text).size(11.0).color(weak);
        let doc = "The fastest way of the first agent, and its length over the ground";
        ui.label(text(time_text(found))).on_hover_text(doc);
        if let Some((width_m, place_m)) = found.choke_m.filter(|(width_m, _)| width_m.is_finite()) {
            let width = Label::new(text(format!(" · {width_m:.0} m wide"))).sense(Sense::CLICK);
            if ui.add(width).on_hover_text("The narrowest place of the widest way; click to see where").clicked() {
                response = Some(place_m);
            }
        }
        ui.label(text(sight_text(found).into()));
    });
    (is_clicked, response)
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
            row.values.iter().for_each(|value| drop(ui.label(row.aspect.text(*value))));
            ui.strong(row.ratio_text());
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
