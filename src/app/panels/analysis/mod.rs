//! The analysis panel: statistics of the terrain in sections that fold. Those that take long are computed by the
//! analysis thread, and only while their section is unfolded.

mod charts;

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Align, Button, CollapsingHeader, Ui};

pub(crate) use self::charts::UNCOVERED_DOC;
use self::charts::{heights_ui, landforms_ui, slopes_ui, spectrum_ui};
use crate::app::tools::profile_tool::ProfileTool;
use crate::app::widgets::heading;
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::project::ViewSettings;
use crate::worker::{Analyser, AnalysisRequest, AnalysisResult, JobError, Preview, Wake};

/// How long results may be outdated before they fade, seconds: fading after shorter delays would only flicker.
const FADE_DELAY_S: f64 = 0.25;

/// The view settings that do not belong to the slopes.
const OTHER_ROWS: [&str; 4] = ["preview_samples", "iterations_per_frame", "mirror", "locked"];

/// A section of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Heights,
    Slopes,
    Profile,
    Landforms,
    Spectrum,
}

impl Section {
    pub(crate) const ALL: [Self; 5] = [Self::Heights, Self::Slopes, Self::Profile, Self::Landforms, Self::Spectrum];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Heights => "Heights",
            Self::Slopes => "Slopes",
            Self::Profile => "Profile",
            Self::Landforms => "Landforms",
            Self::Spectrum => "Spectrum",
        }
    }

    pub(crate) fn doc(self) -> &'static str {
        match self {
            Self::Heights => "The distribution of heights",
            Self::Slopes => "The distribution of slopes, and how much of the terrain is walkable",
            Self::Profile => "The heights along a line across the terrain",
            Self::Landforms => "The shares of landforms, compared with real mountain ranges",
            Self::Spectrum => "The strength of the relief at each wavelength",
        }
    }
}

/// The state of the analysis panel. None of it is part of the document.
pub(crate) struct AnalysisPanel {
    analyser: Analyser,
    /// The last request to the analysis thread.
    requested: Option<AnalysisRequest>,
    result: Option<AnalysisResult>,
    error: Option<String>,
    /// The section to scroll to once it is unfolded.
    scroll_to: Option<Section>,
    /// When the results stopped matching the displayed terrain, seconds.
    outdated_since: Option<f64>,
    /// Whether the heights are shown as a hypsometric curve and not as a histogram.
    shows_curve: bool,
}

/// What the panel shows and edits.
pub(crate) struct AnalysisContext<'a> {
    /// The titles of the unfolded sections.
    pub(crate) unfolded: &'a mut BTreeSet<String>,
    pub(crate) view: &'a mut ViewSettings,
    pub(crate) profile: &'a mut ProfileTool,
    pub(crate) shown: Option<&'a Preview>,
    pub(crate) is_playing: bool,
    /// The position of the pointer on the terrain, metres east and south.
    pub(crate) crosshair_m: Option<[f64; 2]>,
}

impl AnalysisPanel {
    pub(crate) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            analyser: Analyser::start(wake)?,
            requested: None,
            result: None,
            error: None,
            scroll_to: None,
            outdated_since: None,
            shows_curve: false,
        })
    }

    /// Unfolds a section and scrolls to it.
    pub(crate) fn reveal(&mut self, section: Section, unfolded: &mut BTreeSet<String>) {
        unfolded.insert(section.title().into());
        self.scroll_to = Some(section);
    }

    /// The results so far.
    #[cfg(test)]
    pub(crate) fn found(&self) -> Option<&AnalysisResult> {
        self.result.as_ref()
    }

    /// Takes the results from the analysis thread, and requests those of the unfolded sections, but only while the
    /// terrain does not change in every frame.
    pub(crate) fn request(&mut self, unfolded: &BTreeSet<String>, limit_deg: f64, shown: &Preview, at_rest: bool) {
        match self.analyser.take() {
            Some(Ok(result)) => (self.result, self.error) = (Some(result), None),
            Some(Err(JobError::Failed(error) | JobError::Panicked(error))) => self.error = Some(error),
            Some(Err(JobError::Cancelled)) | None => {}
        }
        let is_unfolded = |section: Section| unfolded.contains(section.title());
        let request = AnalysisRequest {
            terrain: shown.terrain.clone(),
            walkable_deg: is_unfolded(Section::Slopes).then_some(limit_deg),
            spectrum: is_unfolded(Section::Spectrum),
            landforms: is_unfolded(Section::Landforms),
        };
        let is_empty = request.walkable_deg.is_none() && !request.spectrum && !request.landforms;
        let is_new = self.requested.as_ref().is_none_or(|requested| !requested.is_same(&request));
        if is_new && !is_empty && at_rest && !shown.coarse {
            self.analyser.request(request.clone());
            self.requested = Some(request);
        }
    }

    /// Draws the sections.
    pub(crate) fn ui(&mut self, ui: &mut Ui, context: &mut AnalysisContext, parameters: &mut ParameterState) {
        heading(ui, "Analysis");
        let Some(shown) = context.shown else { return };
        let is_current = self.result.as_ref().is_none_or(|result| Arc::ptr_eq(&result.terrain, &shown.terrain));
        let now = ui.input(|input| input.time);
        self.outdated_since = if is_current { None } else { self.outdated_since.or(Some(now)) };
        for section in Section::ALL {
            let is_open = context.unfolded.contains(section.title());
            let header = CollapsingHeader::new(section.title()).id_salt(section.title()).open(Some(is_open));
            let body = header.show(ui, |ui| match section {
                Section::Heights => heights_ui(ui, shown, &mut self.shows_curve),
                Section::Profile => profile_ui(ui, context, shown),
                Section::Slopes | Section::Landforms | Section::Spectrum => {
                    self.result_ui(ui, section, context, parameters, now);
                }
            });
            let response = body.header_response.on_hover_text(section.doc());
            if response.clicked() && !context.unfolded.remove(section.title()) {
                context.unfolded.insert(section.title().into());
            }
            // The body has its full height only after a few frames.
            if self.scroll_to == Some(section) && body.openness >= 1.0 {
                response.scroll_to_me(Some(Align::TOP));
                self.scroll_to = None;
            }
        }
    }

    /// A section with a result of the analysis thread, faded while it is outdated.
    fn result_ui(
        &self,
        ui: &mut Ui,
        section: Section,
        context: &mut AnalysisContext,
        parameters: &mut ParameterState,
        now: f64,
    ) {
        if let Some(error) = &self.error {
            ui.weak(format!("The terrain could not be analysed: {error}"));
            return;
        }
        let is_outdated = self.outdated_since.is_some_and(|since| now - since > FADE_DELAY_S);
        ui.scope(|ui| {
            if is_outdated {
                ui.set_opacity(0.5);
            }
            if !self.chart_ui(ui, section, context) {
                ui.weak(if context.is_playing { "The analysis starts when playback stops" } else { "Analysing…" });
            }
            if section == Section::Slopes {
                group_ui(ui, context.view, &OTHER_ROWS, &mut ParameterContext::new(parameters));
            }
        });
        if is_outdated && context.is_playing {
            ui.weak("Updates when playback stops");
        }
    }

    /// The chart of a section; returns whether its result is known.
    fn chart_ui(&self, ui: &mut Ui, section: Section, context: &mut AnalysisContext) -> bool {
        match (&self.result, section) {
            (Some(AnalysisResult { slopes: Some(slopes), .. }), Section::Slopes) => {
                slopes_ui(ui, slopes, &mut context.view.walkable_deg);
            }
            (Some(AnalysisResult { forms: Some(forms), .. }), Section::Landforms) => landforms_ui(ui, forms),
            (Some(AnalysisResult { spectrum: Some(spectrum), .. }), Section::Spectrum) => spectrum_ui(ui, spectrum),
            _ => return false,
        }
        true
    }
}

fn profile_ui(ui: &mut Ui, context: &mut AnalysisContext, shown: &Preview) {
    context.profile.plot_ui(ui, &shown.terrain, context.crosshair_m);
    let button = Button::selectable(context.profile.is_drawing, "Draw another line").frame_when_inactive(true);
    let tooltip = "The next drag on a map draws the line; its ends can then be dragged";
    if ui.add(button).on_hover_text(tooltip).clicked() {
        context.profile.is_drawing ^= true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hidden_settings_exist() {
        let view = ViewSettings::default();
        assert!(OTHER_ROWS.iter().all(|key| crate::engine::parameters::Group::get(&view, key).is_some()));
    }
}
