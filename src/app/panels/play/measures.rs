//! The metrics of a level: routes, fairness and unreachable areas.

use egui::{Button, Grid, Label, RichText, ScrollArea, Sense, Ui};

use crate::app::widgets::heading;
use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::theme::colours;
use crate::engine::level::Level;
use crate::engine::play::{Aspect, Island, OBSTACLE_REACH_M, Report, RouteReport};

/// The most unreachable areas that are listed.
const MAX_SHOWN: usize = 5;

/// Times from here on are in minutes, seconds.
const MAX_SECONDS: f64 = 600.0;

/// Times that differ by less than this share are shown as one.
const SAME_TIME: f64 = 0.02;

/// Draws all metrics; returns the place that the user wants to see. `route` is the pair of markers whose route is
/// drawn, `rows` the heights of the list of routes.
pub(super) fn report_ui(
    ui: &mut Ui,
    report: &Report,
    level: &Level,
    route: &mut Option<[usize; 2]>,
    rows: &mut RowHeights,
) -> Option<[f64; 2]> {
    let mut response = None;
    if level.markers.is_empty() {
        ui.weak("Place spawns and objectives with the marker tool (M) to measure routes, visibility and fairness.");
    }
    heading(ui, "Walkable area");
    for (agent, share) in level.agents.iter().zip(&report.walkable) {
        let doc = format!("Where {} can stand depends on its limits; see Agents below", agent.name);
        ui.label(format!("{}: {:.1} % of the map", agent.name, 100.0 * share)).on_hover_text(doc);
    }
    let stuck = level.markers.iter().zip(&report.markers).filter(|(_, found)| !found.stands);
    for (marker, _) in stuck {
        let text = format!("{} is not on walkable terrain; move it to a flatter or drier place", marker.name);
        ui.label(RichText::new(text).color(colours(ui).error));
    }
    if !report.routes.is_empty() {
        response = routes_ui(ui, report, level, route, rows).or(response);
    }
    if !report.fairness.is_empty() {
        fairness_ui(ui, report);
    }
    islands_ui(ui, report).or(response)
}

/// The unreachable areas, each with its narrowest barrier. A click on one shows it.
fn islands_ui(ui: &mut Ui, report: &Report) -> Option<[f64; 2]> {
    if report.islands.is_empty() {
        return None;
    }
    heading(ui, "Unreachable areas");
    let mut response = None;
    for Island { area_m2, at_m, gap } in report.islands.iter().take(MAX_SHOWN) {
        let barrier = gap.as_ref().map_or(String::new(), |gap| {
            let (level, rise_m) = if gap.rise_m < 0.0 { ("below", -gap.rise_m) } else { ("above", gap.rise_m) };
            format!(", {:.0} m from reachable terrain, {rise_m:.0} m {level} it", gap.length_m)
        });
        let area = if *area_m2 < 1000.0 { format!("{area_m2:.0} m²") } else { format!("{:.1} ha", area_m2 / 1e4) };
        let text = format!("{area}{barrier}");
        let label = ui.add(Label::new(text).sense(Sense::CLICK));
        let doc = "Its size, and where it is from the nearest reachable area. Click to show the narrowest barrier";
        let label = label.on_hover_text(doc);
        if label.clicked() {
            response = Some(gap.as_ref().map_or(*at_m, |gap| gap.from_m));
        }
    }
    if report.island_count > MAX_SHOWN {
        ui.weak(format!("and {} smaller ones", report.island_count - MAX_SHOWN));
    }
    response
}

/// The routes between every two places. A click on one draws it.
fn routes_ui(
    ui: &mut Ui,
    report: &Report,
    level: &Level,
    route: &mut Option<[usize; 2]>,
    rows: &mut RowHeights,
) -> Option<[f64; 2]> {
    heading(ui, "Routes");
    let mut response = None;
    let name = |marker: usize| level.markers.get(marker).map_or("", |marker| marker.name.as_str());
    let back = |found: &RouteReport| report.route(found.to, found.from).filter(|back| takes_as_long(found, back));
    let listed = report.routes.iter().filter(|found| found.from < found.to || back(found).is_none());
    let listed: Vec<&RouteReport> = listed.collect();
    rows.rows_ui(ui, listed.len(), |ui, row| {
        let found = listed[row];
        let between = if back(found).is_some() { "\u{2013}" } else { "to" };
        let text = format!("{} {between} {}", name(found.from), name(found.to));
        let pair = [found.from, found.to];
        let drawn = ui.push_id(pair, |ui| route_ui(ui, found, &text, *route == Some(pair)));
        let (is_clicked, place_m) = drawn.inner;
        if is_clicked {
            *route = if *route == Some(pair) { None } else { Some(pair) };
        }
        response = place_m.or(response);
        drawn.response.rect
    });
    response
}

/// One route: returns whether the user clicked it, and the place that the user wants to see.
fn route_ui(ui: &mut Ui, found: &RouteReport, title: &str, is_drawn: bool) -> (bool, Option<[f64; 2]>) {
    let mut response = None;
    let button = ui.add(Button::selectable(is_drawn, title).truncate());
    let is_clicked = button.on_hover_text("Click to draw the fastest route on the maps").clicked();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(8.0);
        let weak = colours(ui).weak;
        let text = |text: String| RichText::new(text).size(11.0).color(weak);
        let doc = "The fastest route of the first agent, and its length over the terrain";
        ui.label(text(time_text(found))).on_hover_text(doc);
        if let Some((width_m, place_m)) = found.choke_m.filter(|(width_m, _)| width_m.is_finite()) {
            let width = Label::new(text(format!(" · choke point {width_m:.0} m wide"))).sense(Sense::CLICK);
            if ui
                .add(width)
                .on_hover_text(format!(
                    "The narrowest point of the widest route, which need not be the fastest; click to show it. Gaps \
                     between scattered obstacles count where they are at most {:.0} m wide",
                    2.0 * OBSTACLE_REACH_M
                ))
                .clicked()
            {
                response = Some(place_m);
            }
        }
        ui.label(text(visibility_text(found).into()));
    });
    (is_clicked, response)
}

fn time_text(found: &RouteReport) -> String {
    found.route.map_or("no route".into(), |[seconds, metres]| {
        let time = if seconds < MAX_SECONDS { format!("{seconds:.1} s") } else { format!("{:.1} min", seconds / 60.0) };
        format!("{time} · {metres:.0} m")
    })
}

fn visibility_text(found: &RouteReport) -> &'static str {
    if found.sees { " · in sight" } else { " · not in sight" }
}

/// Whether a route takes as long as the route back.
fn takes_as_long(there: &RouteReport, back: &RouteReport) -> bool {
    match (there.route, back.route) {
        (Some([there, _]), Some([back, _])) => (there - back).abs() <= SAME_TIME * there.max(back),
        (there, back) => there.is_none() && back.is_none(),
    }
}

/// The aspects of fairness with the values of all teams.
fn fairness_ui(ui: &mut Ui, report: &Report) {
    heading(ui, "Fairness");
    let table = Grid::new("fairness").num_columns(report.teams.len() + 2).striped(true).spacing([6.0, 2.0]);
    // That of many teams scrolls instead of widening the panel.
    ScrollArea::horizontal().id_salt("fairness").show(ui, |ui| {
        table.show(ui, |ui| {
            let doc = "The smallest value divided by the largest: 1 is fair. For heights, how far apart they are: 0 m is fair";
            ui.weak("Team");
            // Before the teams, so that it is in view with any number of them.
            ui.weak("Balance").on_hover_text(doc);
            report.teams.iter().for_each(|team| drop(ui.strong(team)));
            ui.end_row();
            for row in &report.fairness {
                let (title, doc) = aspect_text(row.aspect);
                ui.label(title).on_hover_text(doc);
                ui.strong(row.ratio_text());
                row.values.iter().for_each(|value| drop(ui.label(row.aspect.text(*value))));
                ui.end_row();
            }
        })
    });
}

fn aspect_text(aspect: Aspect) -> (&'static str, &'static str) {
    match aspect {
        Aspect::Territory => ("Territory", "The share of the walkable area that the team reaches first"),
        Aspect::Time => ("To objectives", "The mean time to the objectives"),
        Aspect::Exposure => ("Exposure", "The share of the walkable area from which the team's spawns are visible"),
        Aspect::Flat => ("Flat terrain", "The area up to 5\u{b0} steep that the team reaches first"),
        Aspect::Height => (
            "Above mean",
            "The height of the team's spawns relative to the mean height of the map; the balance is the difference in \
             height between the teams",
        ),
    }
}
