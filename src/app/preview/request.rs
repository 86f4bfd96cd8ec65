//! What the worker is asked for, and how the pictures relate to the document.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::Context;

use crate::app::App;
use crate::app::commands::menus::bytes_of_preview;
use crate::app::views::Freshness;
use crate::files::memory::require_memory;
use crate::worker::{Preview, PreviewRequest};

/// How long a picture may be out of date before the views say so: shorter waits would only flicker.
const NOTICEABLE: Duration = Duration::from_millis(120);

impl App {
    /// Asks the worker for the picture of what the document says now.
    pub(crate) fn request(&mut self, ctx: &Context) {
        let project = self.document.project();
        if !Arc::ptr_eq(&self.recipe.0, project) {
            let recipe = if self.recipe.0.recipe == project.recipe {
                self.recipe.1.clone()
            } else {
                Arc::new(project.recipe.clone())
            };
            self.recipe = (project.clone(), recipe);
        }
        let total = self.recipe.1.iterations();
        self.playback.fit(total);
        // The picture of the playhead is there, whether it has just come or was there before it was asked to play. A
        // coarse one is enough while it moves.
        let is_seen = |shown: &Preview| shown.request.position == self.playback.position(total);
        if self.shown.as_ref().is_some_and(is_seen) {
            self.playback.advance(self.recipe.0.view.iterations_per_frame, total);
        }
        let request = PreviewRequest {
            recipe: self.recipe.1.clone(),
            files: self.recipe.0.files.clone(),
            samples: self.preview_samples(),
            position: self.playback.position(total),
            map: self.maps.aspect.view(&self.recipe.0.view),
            shown: self.texture_panel.view(&self.recipe.1.texture.types),
            animated: self.playback.is_playing()
                && self.shown.as_ref().is_some_and(|shown| shown.request.recipe == self.recipe.1),
        };
        let (request, other) = self.sides(request);
        if !self.wanted.as_ref().is_some_and(|wanted| wanted.same_output(&request)) {
            if self.change_sides(ctx, &request) {
                self.previewer.cancel();
                self.timings.at_hand();
            } else {
                self.timings.asked(self.previewer.request(request.clone()));
            }
            self.wanted = Some(request);
            self.failed = false;
            self.forget_asking_for_other();
        }
        let current = match (&self.shown, &self.wanted) {
            (Some(shown), Some(wanted)) if self.playback.is_playing() => {
                let position = wanted.position;
                wanted.same_output(&PreviewRequest { position, ..(*shown.request).clone() })
            }
            (Some(shown), Some(wanted)) => !shown.coarse && wanted.same_output(&shown.request),
            (None, _) | (_, None) => false,
        };
        if current {
            self.outdated_since = None;
            if let Some(other) = other {
                self.request_other(other);
            }
        } else {
            self.outdated_since.get_or_insert_with(Instant::now);
        }
    }

    /// The samples along the longer side of what is shown.
    fn preview_samples(&self) -> usize {
        self.export_samples.unwrap_or(self.recipe.0.view.preview_samples) as usize
    }

    /// The samples along the longer side of what is exported, if there is memory to show them.
    pub(crate) fn fitting_export(&mut self) -> Option<u32> {
        let grid = self.export.grid(self.document.project());
        let samples = u32::try_from(grid.width().max(grid.height())).ok()?;
        match bytes_of_preview(samples).map_or(Ok(()), require_memory) {
            Ok(()) => Some(samples),
            Err(error) => {
                self.show_error(format!("The views cannot show {samples} samples along a side: {error}"));
                None
            }
        }
    }

    /// Where the views show the samples of exports, they go with them.
    pub(crate) fn follow_export(&mut self) {
        let Some(samples) = self.export_samples else { return };
        let grid = self.export.grid(self.document.project());
        if samples as usize != grid.width().max(grid.height()) {
            self.export_samples = self.fitting_export();
        }
    }

    /// Asks for the measures that are looked at, of the land that is shown.
    pub(crate) fn ask_measures(&mut self) {
        if let Some(shown) = &self.shown {
            let limit_deg = self.document.project().view.walkable_deg;
            self.analysis.ask(&self.settings.unfolded, limit_deg, shown, !self.playback.is_playing());
        }
    }

    /// How the pictures relate to the document. While it plays, each picture belongs to the iteration that the timeline
    /// shows, so the next iteration alone makes none out of date.
    pub(crate) fn freshness(&self) -> Freshness {
        if self.failed {
            return Freshness::Failed;
        }
        if self.outdated_since.is_none_or(|since| since.elapsed() < NOTICEABLE) {
            return Freshness::Current;
        }
        self.previewer.fraction().map_or(Freshness::Outdated, Freshness::Renewing)
    }
}
