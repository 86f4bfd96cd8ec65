//! What the worker is asked for, and how the pictures relate to the document.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::Context;

use crate::app::App;
use crate::app::commands::menus::bytes_of_preview;
use crate::app::views::Freshness;
use crate::files::io::memory::require_memory;
use crate::worker::{Preview, PreviewRequest};

/// How long a picture may be out of date before the views say so: shorter waits would only flicker.
const NOTICEABLE: Duration = Duration::from_millis(120);

impl App {
    /// Asks the worker for the picture of what the document says now.
    pub(crate) fn request(&mut self, ctx: &Context) {
        let project = self.document.project();
        if !Arc::ptr_eq(&self.ui.preview.recipe.0, project) {
            let recipe = if self.ui.preview.recipe.0.recipe == project.recipe {
                self.ui.preview.recipe.1.clone()
            } else {
                Arc::new(project.recipe.clone())
            };
            self.ui.preview.recipe = (project.clone(), recipe);
        }
        let total = self.ui.preview.recipe.1.iterations();
        self.ui.playback.fit(total);
        // The picture of the playhead is there, whether it has just come or was there before it was asked to play. A
        // coarse one is enough while it moves.
        let is_seen = |shown: &Preview| shown.request.position == self.ui.playback.position(total);
        if self.ui.preview.shown.as_ref().is_some_and(is_seen) {
            self.ui.playback.advance(self.document.settings().view.iterations_per_frame, total);
        }
        let request = PreviewRequest {
            recipe: self.ui.preview.recipe.1.clone(),
            files: self.ui.preview.recipe.0.files.clone(),
            samples: self.preview_samples(),
            position: self.ui.playback.position(total),
            map_view: self.ui.maps.aspect.view(&self.document.settings().view, &self.ui.preview.recipe.0.water),
            texture_view: self.ui.texture_panel.view(&self.ui.preview.recipe.1.texture.types),
            is_animated: self.ui.playback.is_playing()
                && self.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.recipe == self.ui.preview.recipe.1),
        };
        let (request, other) = self.sides(request);
        if !self.ui.preview.wanted.as_ref().is_some_and(|wanted| wanted.same_output(&request)) {
            if self.change_sides(ctx, &request) {
                self.services.previewer.cancel();
                self.ui.timings.at_hand();
            } else {
                self.ui.timings.asked(self.services.previewer.request(request.clone()));
            }
            self.ui.preview.wanted = Some(request);
            self.ui.preview.failed = false;
            self.forget_asking_for_other();
        }
        let current = match (&self.ui.preview.shown, &self.ui.preview.wanted) {
            (Some(shown), Some(wanted)) if self.ui.playback.is_playing() => {
                let position = wanted.position;
                wanted.same_output(&PreviewRequest { position, ..(*shown.request).clone() })
            }
            (Some(shown), Some(wanted)) => !shown.coarse && wanted.same_output(&shown.request),
            (None, _) | (_, None) => false,
        };
        if current {
            self.ui.preview.outdated_since = None;
            if let Some(other) = other {
                self.request_other(other);
            }
        } else {
            self.ui.preview.outdated_since.get_or_insert_with(Instant::now);
        }
    }

    /// The samples along the longer side of what is shown.
    fn preview_samples(&self) -> usize {
        self.ui.preview.export_samples.unwrap_or(self.document.settings().view.preview_samples) as usize
    }

    /// The samples along the longer side of what is exported, if there is memory to show them.
    pub(crate) fn fitting_export(&mut self) -> Option<u32> {
        let extent = self.document.project().recipe.world.extent();
        let grid = self.ui.export.grid(extent, &self.document.settings().export);
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
        let Some(samples) = self.ui.preview.export_samples else { return };
        let extent = self.document.project().recipe.world.extent();
        let grid = self.ui.export.grid(extent, &self.document.settings().export);
        if samples as usize != grid.width().max(grid.height()) {
            self.ui.preview.export_samples = self.fitting_export();
        }
    }

    /// Asks for the measures that are looked at, of the land that is shown.
    pub(crate) fn ask_measures(&mut self) {
        if let Some(shown) = &self.ui.preview.shown {
            let limit_deg = self.document.settings().view.walkable_deg;
            self.ui.analysis.request(&self.settings.unfolded, limit_deg, shown, !self.ui.playback.is_playing());
        }
    }

    /// How the pictures relate to the document. While it plays, each picture belongs to the iteration that the timeline
    /// shows, so the next iteration alone makes none out of date.
    pub(crate) fn freshness(&self) -> Freshness {
        if self.ui.preview.failed {
            return Freshness::Failed;
        }
        if self.ui.preview.outdated_since.is_none_or(|since| since.elapsed() < NOTICEABLE) {
            return Freshness::Current;
        }
        self.services.previewer.fraction().map_or(Freshness::Outdated, Freshness::Renewing)
    }
}
