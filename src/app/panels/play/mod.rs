//! The play panel: what a terrain means for the level that is played on it.

mod measures;
mod rules;
mod seeds;
mod suggestions;

use std::sync::Arc;
use std::time::Duration;

use egui::{Align, CollapsingHeader, Color32, ColorImage, ComboBox, Ui};

use self::measures::report_ui;
use self::rules::RuleEditor;
pub(crate) use self::seeds::SeedPanel;
use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{ListUi, list_value};
use crate::engine::Heightfield;
use crate::engine::level::{Level, Marker, MarkerKind};
use crate::engine::parameters::List;
use crate::engine::play::{Obstacles, PlayMap, Scale};
use crate::worker::{DrawnMap, JobError, PlayMeasurer, PlayRequest, PlayResult, Preview, Wake};

/// The time for which outdated metrics are shown in full, so that they do not flicker, seconds.
const FADE_DELAY_S: f64 = 0.25;

/// The parameters of the level that have a tool or controls of their own.
const WITH_TOOLS: [&str; 2] = ["markers", "rules"];

/// The state of the panel. None of it is part of the document.
pub(crate) struct PlayPanel {
    measurer: PlayMeasurer,
    is_open: bool,
    /// Whether to scroll to the panel once it is unfolded.
    scroll_to: bool,
    /// The overlay on the maps.
    map: Option<PlayMap>,
    requested: Option<PlayRequest>,
    /// Whether the obstacles are still being computed.
    awaits_obstacles: bool,
    /// The terrain that is shown.
    shown: Option<Arc<Heightfield>>,
    /// The markers, by whose names those of the map and of the route are found again in a list that has changed.
    markers: List<Marker>,
    /// The last metrics, while the next ones are being computed.
    measured: Option<PlayResult>,
    error: Option<String>,
    /// The overlay as it was drawn last.
    drawn: Option<Drawn>,
    /// The markers whose route is drawn.
    route: Option<[usize; 2]>,
    route_rows: RowHeights,
    /// When the metrics stopped matching the terrain and the level, seconds.
    outdated_since: Option<f64>,
    rules: RuleEditor,
}

/// An overlay on the maps.
struct Drawn {
    request: Arc<PlayRequest>,
    map: Arc<DrawnMap>,
    image: Arc<ColorImage>,
}

/// What the panel shows and edits.
pub(crate) struct PlayContext<'a> {
    pub(crate) level: &'a mut Level,
    pub(crate) is_playing: bool,
    /// Whether the terrain that is shown is that of the end of the timeline.
    pub(crate) is_at_end: bool,
    /// Samples along the longer side of exports, at which rules are checked.
    pub(crate) export_samples: usize,
}

impl PlayPanel {
    pub(crate) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            measurer: PlayMeasurer::start(wake)?,
            is_open: false,
            scroll_to: false,
            map: None,
            requested: None,
            awaits_obstacles: false,
            shown: None,
            markers: List::default(),
            measured: None,
            error: None,
            drawn: None,
            route: None,
            route_rows: RowHeights::default(),
            outdated_since: None,
            rules: RuleEditor::default(),
        })
    }

    /// Unfolds the panel and scrolls to it.
    pub(crate) fn show(&mut self) {
        (self.is_open, self.scroll_to) = (true, true);
    }

    /// The metrics so far.
    #[cfg(test)]
    pub(crate) fn found(&self) -> Option<&PlayResult> {
        self.measured.as_ref()
    }

    /// Shows an overlay on the maps, or none.
    pub(crate) fn show_map(&mut self, map: Option<PlayMap>) {
        self.map = map;
    }

    /// Takes the metrics from the thread, and requests those that are visible, but only while the terrain does not
    /// change in every frame.
    pub(crate) fn request(
        &mut self,
        level: &Level,
        water_m: Option<f64>,
        obstacles: Option<Option<Arc<Obstacles>>>,
        shown: &Preview,
        at_rest: bool,
    ) {
        match self.measurer.take() {
            Some(Ok(result)) => self.take(result),
            Some(Err(JobError::Failed(error) | JobError::Panicked(error))) => self.error = Some(error),
            Some(Err(JobError::Cancelled)) | None => {}
        }
        self.follow_markers(level);
        self.shown = Some(shown.terrain.clone());
        if self.map.is_none() {
            self.drawn = None;
        }
        if !self.is_open && self.map.is_none() {
            (self.requested, self.measured) = (None, None);
            return;
        }
        self.awaits_obstacles = obstacles.is_none();
        let Some(obstacles) = obstacles else { return };
        let request = PlayRequest {
            terrain: shown.terrain.clone(),
            recipe: shown.request.recipe.clone(),
            water_m,
            obstacles,
            level: level.clone(),
            map: self.map,
            report: self.is_open,
        };
        let is_new = self.requested.as_ref().is_none_or(|requested| !requested.is_same(&request));
        if is_new && at_rest && !shown.coarse {
            self.measurer.request(request.clone());
            self.requested = Some(request);
        }
    }

    /// Keeps the map and the route on their markers when others are added or removed; without their marker, there is
    /// none.
    fn follow_markers(&mut self, level: &Level) {
        if level.markers.shares_with(&self.markers) {
            return;
        }
        let before = std::mem::replace(&mut self.markers, level.markers.clone());
        // A list of the same length has markers that were renamed or moved.
        let place = |marker: usize| match before.get(marker) {
            Some(known) if before.len() != level.markers.len() => {
                level.markers.iter().position(|other| other.name == known.name)
            }
            _ => Some(marker),
        };
        self.map = self.map.and_then(|map| match map {
            PlayMap::Reach(marker) => place(marker).map(PlayMap::Reach),
            PlayMap::Viewshed(marker) => place(marker).map(PlayMap::Viewshed),
            PlayMap::Walkable | PlayMap::Clearance | PlayMap::Exposure | PlayMap::Territory => Some(map),
        });
        self.route = self.route.and_then(|[from, to]| Some([place(from)?, place(to)?]));
    }

    /// Takes new metrics; those that they lack remain.
    fn take(&mut self, result: PlayResult) {
        self.error = None;
        if let Some(map) = &result.map {
            let pixels = map.overlay.pixels.iter();
            let pixels = pixels.map(|[r, g, b, a]| Color32::from_rgba_unmultiplied(*r, *g, *b, *a)).collect();
            let image = Arc::new(ColorImage::new(map.size, pixels));
            self.drawn = Some(Drawn { request: result.request.clone(), map: map.clone(), image });
        }
        if result.report.is_some() {
            self.measured = Some(result);
        }
    }

    /// The overlay on the maps.
    pub(crate) fn overlay(&self) -> Option<Arc<ColorImage>> {
        let drawn = self.drawn.as_ref().filter(|drawn| Some(drawn.map.map) == self.map)?;
        Some(drawn.image.clone())
    }

    /// The places along the route that is drawn, metres east and south.
    pub(crate) fn route_m(&self) -> &[[f64; 2]] {
        let report = self.measured.as_ref().and_then(|measured| measured.report.as_ref());
        let route = self.route.filter(|_| self.is_open).zip(report);
        let found = route.and_then(|([from, to], report)| report.route(from, to));
        found.map_or(&[], |found| &found.line_m)
    }

    /// What the colours of the overlay mean, and whether they are being updated.
    pub(crate) fn legend(&self, level: &Level) -> Option<String> {
        let map = self.map?;
        let drawn = self.drawn.as_ref().filter(|drawn| drawn.map.map == map);
        let mut text = title(map, level);
        if let Some(Scale { greatest, band, unit }) = drawn.and_then(|drawn| drawn.map.overlay.scale) {
            text += &match band {
                Some(band) => format!(": bands of {band} {unit}, up to {greatest:.0} {unit}"),
                None => format!(": yellow {} to blue {} {unit}", ends(map, greatest)[0], ends(map, greatest)[1]),
            };
        }
        if !drawn.is_some_and(|drawn| self.is_current(&drawn.request)) {
            text += " (updating…)";
        }
        Some(text)
    }

    /// Whether that is what was requested last, of the terrain that is shown.
    fn is_current(&self, request: &PlayRequest) -> bool {
        !self.awaits_obstacles
            && self.requested.as_ref().is_some_and(|requested| requested.is_same(request))
            && self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &request.terrain))
    }

    /// Draws the panel; returns the place that the user wants to see, metres east and south.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        context: &mut PlayContext,
        seeds: &mut SeedPanel,
        parameters: &mut ParameterState,
    ) -> Option<[f64; 2]> {
        let now = ui.input(|input| input.time);
        let is_current = self.measured.as_ref().is_some_and(|measured| self.is_current(&measured.request));
        self.outdated_since = if is_current { None } else { self.outdated_since.or(Some(now)) };
        let header = CollapsingHeader::new("Playability").id_salt("play").open(Some(self.is_open));
        let shown = header.show(ui, |ui| self.body_ui(ui, context, seeds, parameters, now));
        if shown.header_response.clicked() {
            self.is_open = !self.is_open;
            self.scroll_to = self.is_open;
        }
        let tooltip = "Where players can go and how fast, what they see, and whether the level is fair";
        let response = shown.header_response.on_hover_text(tooltip);
        // The body has its full height only after a few frames, and once there is something in it.
        let is_filled = self.error.is_some() || self.measured.is_some();
        if self.scroll_to && shown.openness >= 1.0 && is_filled {
            response.scroll_to_me(Some(Align::TOP));
            self.scroll_to = false;
        }
        shown.body_returned.flatten()
    }

    fn body_ui(
        &mut self,
        ui: &mut Ui,
        context: &mut PlayContext,
        seeds: &mut SeedPanel,
        parameters: &mut ParameterState,
        now: f64,
    ) -> Option<[f64; 2]> {
        self.map_choice_ui(ui, context.level);
        ui.add_space(4.0);
        let mut response = None;
        if let Some(error) = &self.error {
            ui.label(egui::RichText::new(format!("The level could not be measured: {error}")).color(colours(ui).error));
        }
        let is_outdated = self.outdated_since.is_some_and(|since| now - since > FADE_DELAY_S);
        if self.outdated_since.is_some() && !is_outdated {
            ui.ctx().request_repaint_after(Duration::from_secs_f64(FADE_DELAY_S));
        }
        let report = self.measured.as_ref().and_then(|measured| measured.report.clone());
        let verdicts = report.as_ref().map_or(&[][..], |report| &report.verdicts);
        response = self.rules.ui(ui, context.level, verdicts, is_outdated).or(response);
        let is_known = report.is_some() && self.outdated_since.is_none() && self.error.is_none() && context.is_at_end;
        seeds.ui(ui, context.level, is_known.then_some(verdicts));
        ui.add_space(4.0);
        match report {
            Some(report) if report.markers.len() == context.level.markers.len() => {
                ui.scope(|ui| {
                    if is_outdated {
                        ui.set_opacity(0.5);
                    }
                    response = report_ui(ui, &report, context.level, &mut self.route, &mut self.route_rows)
                        .or(response.take());
                });
                if is_outdated && context.is_playing {
                    ui.weak("Updates when playback stops");
                } else if !context.is_at_end {
                    ui.label(
                        "Measured before the end of the timeline: go to the end (End) to judge the finished terrain.",
                    );
                } else if self.measured.as_ref().is_some_and(|measured| measured.is_coarse) {
                    ui.weak("Estimated on fewer samples; refining…");
                } else if self.shown.as_ref().is_some_and(|shown| longer_side(shown) < context.export_samples) {
                    let [shown, exported] = [self.shown.as_ref().map_or(0, longer_side), context.export_samples];
                    ui.weak(format!(
                        "Measured on the preview, {shown} samples wide; exports are {exported} wide and may differ."
                    ));
                }
            }
            Some(_) | None => {
                ui.weak(if context.is_playing { "Measuring starts when playback stops" } else { "Measuring…" });
            }
        }
        ui.add_space(4.0);
        let mut of_level = ParameterContext::new(parameters);
        ui.push_id("level", |ui| group_ui(ui, context.level, &WITH_TOOLS, &mut of_level));
        response
    }

    /// The choice of the overlay on the maps.
    fn map_choice_ui(&mut self, ui: &mut Ui, level: &Level) {
        ui.horizontal(|ui| {
            let label = ui.label("Overlay").on_hover_text("What the maps show of the level");
            let chosen = self.map.map_or("None".into(), |map| title(map, level));
            let list = ComboBox::from_id_salt("map of play")
                .width(ui.available_width() - 8.0)
                .selected_text(chosen)
                .truncate();
            let shown = list.list_ui(ui, |ui| {
                list_value(ui, &mut self.map, None, "None");
                for map in maps(level) {
                    list_value(ui, &mut self.map, Some(map), title(map, level)).on_hover_text(doc(map));
                }
            });
            shown.response.labelled_by(label.id);
        });
    }
}

/// The overlays that can be shown on the maps.
pub(crate) fn maps(level: &Level) -> Vec<PlayMap> {
    let mut maps = vec![PlayMap::Walkable, PlayMap::Clearance, PlayMap::Exposure];
    if level.markers.iter().any(|marker| marker.kind == MarkerKind::Spawn && !marker.team.is_empty()) {
        maps.push(PlayMap::Territory);
    }
    maps.extend((0..level.markers.len()).map(PlayMap::Reach));
    maps.extend((0..level.markers.len()).map(PlayMap::Viewshed));
    maps
}

fn longer_side(terrain: &Arc<Heightfield>) -> usize {
    terrain.grid().width().max(terrain.grid().height())
}

/// The title of an overlay, with the name of its marker.
pub(crate) fn title(map: PlayMap, level: &Level) -> String {
    let name = |marker: usize| level.markers.get(marker).map_or("", |marker| marker.name.as_str());
    match map {
        PlayMap::Walkable => "Walkable area".into(),
        PlayMap::Clearance => "Route width".into(),
        PlayMap::Exposure => "Exposure".into(),
        PlayMap::Territory => "Territory of the teams".into(),
        PlayMap::Reach(marker) => format!("Time from {}", name(marker)),
        PlayMap::Viewshed(marker) => format!("Visible from {}", name(marker)),
    }
}

/// What an overlay shows.
pub(crate) fn doc(map: PlayMap) -> &'static str {
    match map {
        PlayMap::Walkable => "Where the first agent can stand",
        PlayMap::Clearance => "Twice the distance to the nearest place where the first agent cannot go",
        PlayMap::Exposure => "The share of the walkable area from which each place is visible",
        PlayMap::Territory => "Which team gets there first; stronger colours mean a larger lead",
        PlayMap::Reach(_) => "Travel time of the first agent from there",
        PlayMap::Viewshed(_) => "Where a head 1.7 m above the terrain is visible from there",
    }
}

/// The numbers of yellow and of blue.
fn ends(map: PlayMap, greatest: f64) -> [String; 2] {
    let [few, many] = [String::from("0"), format!("{greatest:.0}")];
    match map {
        // What is visible from many places is bright.
        PlayMap::Exposure => [many, few],
        _ => [few, many],
    }
}
