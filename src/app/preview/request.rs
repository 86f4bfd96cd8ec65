//! The preview on the screen, the one the worker was asked for, and how they relate to the document.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::document::Document;
use crate::app::preview::compare::Compare;
use crate::app::preview::frame_timings::FrameTimings;
use crate::app::preview::playback::Playback;
use crate::engine::Recipe;
use crate::engine::map_view::MapView;
use crate::engine::texture::TextureView;
use crate::project::Project;
use crate::worker::{Preview, PreviewRequest, Previewer};

/// How long a preview may be out of date before the views say so. Shorter waits would only flicker.
const NOTICEABLE: Duration = Duration::from_millis(120);

/// Whether the views are up to date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PreviewStatus {
    /// They show the current parameters.
    Current,
    /// They are being updated; the fraction done.
    Updating(f32),
    /// The update was cancelled.
    Cancelled,
    /// The update failed.
    Failed,
}

impl PreviewStatus {
    pub(crate) fn text(self) -> String {
        match self {
            Self::Current => "Up to date".into(),
            Self::Updating(fraction) => format!("Updating… {:.0} %", fraction * 100.0),
            Self::Cancelled => "Out of date: cancelled".into(),
            Self::Failed => "Update failed: see the message below".into(),
        }
    }
}

/// The preview on the screen and the one the worker was asked for.
pub(crate) struct PreviewState {
    /// The preview on the screen.
    pub(crate) shown: Option<Preview>,
    pub(crate) compare: Compare,
    /// The export's samples along the longer side, while the views show that size.
    pub(crate) export_samples: Option<u32>,
    /// The last request to the worker for what is on the screen.
    wanted: Option<PreviewRequest>,
    /// Since when the preview on the screen has been out of date.
    outdated_since: Option<Instant>,
    /// Whether the last request failed.
    failed: bool,
    /// Whether `shown` has changed since the views last took it.
    is_new: bool,
    /// The recipe of `project`, cloned only when it changes, to be shared with the worker.
    recipe: Arc<Recipe>,
    project: Arc<Project>,
}

/// What a request depends on beside the document.
pub(crate) struct RequestContext<'a> {
    pub(crate) document: &'a Document,
    pub(crate) map_view: MapView,
    pub(crate) texture_view: TextureView,
    /// The step whose parameters are shown.
    pub(crate) selected_step: usize,
    /// Whether the maps are split between the states before and after the last edit.
    pub(crate) is_split: bool,
    pub(crate) playback: &'a mut Playback,
    pub(crate) previewer: &'a Previewer,
    pub(crate) timings: &'a mut FrameTimings,
}

impl PreviewState {
    pub(crate) fn new(document: &Document) -> Self {
        let project = document.project().clone();
        Self {
            shown: None,
            compare: Compare::default(),
            export_samples: None,
            wanted: None,
            outdated_since: None,
            failed: false,
            is_new: false,
            recipe: Arc::new(project.recipe.clone()),
            project,
        }
    }

    /// The document's recipe, as shared with the worker.
    pub(crate) fn recipe(&self) -> &Arc<Recipe> {
        &self.recipe
    }

    /// Requests a preview of the current document, unless it is on the screen or already requested; moves the
    /// playhead on once its preview is on the screen.
    pub(crate) fn update(&mut self, context: RequestContext) {
        let RequestContext { document, map_view, texture_view, selected_step, is_split, playback, previewer, timings } =
            context;
        let mut active = document.project().recipe.active_steps();
        let reported_step =
            active.find(|(i, step)| *i == selected_step && step.operation.has_reports()).map(|(i, _)| i);
        self.follow(document.project());
        let total = document.timeline().total();
        let view = &document.settings().view;
        playback.fit(total);
        // A coarse preview of the playhead is enough while it moves.
        if self.shown.as_ref().is_some_and(|shown| shown.request.position == playback.position(total)) {
            playback.advance(view.iterations_per_frame, total);
        }
        let request = PreviewRequest {
            recipe: self.recipe.clone(),
            files: self.project.files.clone(),
            samples: self.export_samples.unwrap_or(view.preview_samples) as usize,
            position: playback.position(total),
            map_view,
            texture_view,
            reported_step,
            is_animated: playback.is_playing()
                && self.shown.as_ref().is_some_and(|shown| shown.request.recipe == self.recipe),
        };
        let (request, other) = self.compare.sides(document, is_split, request);
        if !self.wanted.as_ref().is_some_and(|wanted| wanted.same_output(&request)) {
            if self.is_shown(&request) {
                previewer.cancel();
            } else if let Some(kept) = self.compare.swap(&request, &mut self.shown) {
                self.show(kept);
                previewer.cancel();
                timings.shown_at_once();
            } else {
                timings.requested(previewer.request(request.clone()));
            }
            self.compare.reset_request();
            self.wanted = Some(request);
            self.failed = false;
        }
        if self.is_current(playback.is_playing()) {
            self.outdated_since = None;
            // While the uplift plays, every iteration would be computed twice.
            if let Some(other) = other.filter(|_| is_split && !playback.is_playing()) {
                self.compare.request_other(other, previewer);
            }
        } else {
            self.outdated_since.get_or_insert_with(Instant::now);
        }
    }

    /// Updates `recipe` if the document's recipe has changed.
    fn follow(&mut self, project: &Arc<Project>) {
        if Arc::ptr_eq(&self.project, project) {
            return;
        }
        if self.project.recipe != project.recipe {
            self.recipe = Arc::new(project.recipe.clone());
        }
        self.project = project.clone();
    }

    /// Whether the screen shows all of what a request asks for.
    fn is_shown(&self, request: &PreviewRequest) -> bool {
        self.shown.as_ref().is_some_and(|shown| !shown.coarse && shown.request.same_output(request))
    }

    /// Whether the screen shows what was requested last. During playback, each preview belongs to the iteration that
    /// the timeline shows, so a request for the next iteration alone does not make it out of date.
    fn is_current(&self, is_playing: bool) -> bool {
        let (Some(shown), Some(wanted)) = (&self.shown, &self.wanted) else { return false };
        if is_playing {
            let position = wanted.position;
            return wanted.same_output(&PreviewRequest { position, ..(*shown.request).clone() });
        }
        self.is_shown(wanted)
    }

    /// Takes a preview from the worker.
    pub(crate) fn receive(&mut self, preview: Preview, document: &Document) {
        self.failed = false;
        let is_wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.same_output(&preview.request));
        let Some(preview) = self.compare.receive_other(preview, is_wanted) else { return };
        // A job that finished although it was cancelled must not replace what was requested since and is shown already.
        if !is_wanted && self.wanted.as_ref().is_some_and(|wanted| self.is_shown(wanted)) {
            return;
        }
        if preview.coarse && self.shown.as_ref().is_some_and(|shown| is_finer(shown, &preview)) {
            return;
        }
        self.compare.keep(self.shown.take(), document);
        self.show(preview);
    }

    fn show(&mut self, preview: Preview) {
        self.shown = Some(preview);
        self.is_new = true;
    }

    /// Records that the worker could not compute what was requested.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Records that the user cancelled the computation.
    pub(crate) fn cancel(&mut self) {
        self.compare.cancel();
    }

    /// Lets the next update request the preview again, after it was cancelled.
    pub(crate) fn request_again(&mut self) {
        self.wanted = None;
    }

    /// The preview on the screen, if it has changed since this was last called.
    pub(crate) fn take_new(&mut self) -> Option<&Preview> {
        std::mem::take(&mut self.is_new).then_some(self.shown.as_ref()).flatten()
    }

    /// How the views relate to the document; `progress` is that of the worker.
    pub(crate) fn status(&self, progress: Option<f32>) -> PreviewStatus {
        if self.failed {
            return PreviewStatus::Failed;
        }
        if self.outdated_since.is_none_or(|since| since.elapsed() < NOTICEABLE) {
            return PreviewStatus::Current;
        }
        progress.map_or(PreviewStatus::Cancelled, PreviewStatus::Updating)
    }

    /// The last request for what is on the screen.
    #[cfg(test)]
    pub(crate) fn requested(&self) -> Option<&PreviewRequest> {
        self.wanted.as_ref()
    }

    /// Whether the last request failed.
    #[cfg(test)]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }
}

/// Whether a preview shows the same as another one with more samples, so that only the size was changed.
fn is_finer(shown: &Preview, other: &Preview) -> bool {
    let samples = other.request.samples;
    let is_same = other.request.same_output(&PreviewRequest { samples, ..(*shown.request).clone() });
    is_same && shown.terrain.grid().samples() > other.terrain.grid().samples()
}
