//! An overlay that shows how long frames and previews take.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Align2, Area, Context, Frame, RichText, Vec2};

use crate::app::widgets::theme::colours;
use crate::worker::{Preview, PreviewRequest};

/// The latest measurements.
#[derive(Debug, Default)]
pub(crate) struct FrameTimings {
    is_shown: bool,
    /// When the current frame began.
    began: Option<Instant>,
    /// The editor's own time in the last frame, and in the slowest since the overlay was opened.
    own: Duration,
    slowest: Duration,
    /// The last request to the worker, and its time.
    requested: Option<(Arc<PreviewRequest>, Instant)>,
    /// The time from the last request to its full-quality preview, and the computing time of the preview.
    last: Option<[Duration; 2]>,
}

impl FrameTimings {
    pub(crate) fn toggle(&mut self) {
        self.is_shown = !self.is_shown;
        self.slowest = Duration::ZERO;
    }

    pub(crate) fn frame_begins(&mut self) {
        self.began = Some(Instant::now());
    }

    pub(crate) fn frame_ends(&mut self) {
        self.own = self.began.take().map(|began| began.elapsed()).unwrap_or_default();
        self.slowest = self.slowest.max(self.own);
    }

    /// Records a request to the worker.
    pub(crate) fn requested(&mut self, request: Arc<PreviewRequest>) {
        self.requested = Some((request, Instant::now()));
    }

    /// Records a preview that was cached and took no time.
    pub(crate) fn shown_at_once(&mut self) {
        self.requested = None;
        self.last = Some([Duration::ZERO; 2]);
    }

    /// Records the arrival of a preview, if it is the full-quality one of the last request.
    pub(crate) fn came(&mut self, preview: &Preview) {
        let expected = self.requested.take_if(|(request, _)| !preview.coarse && Arc::ptr_eq(request, &preview.request));
        if let Some((_, requested)) = expected {
            self.last = Some([requested.elapsed(), preview.elapsed]);
        }
    }

    /// Draws the overlay if it is on.
    ///
    /// `frame_s`: the time of the interface thread for the last frame without vertical sync, seconds: the editor's own
    /// work and the submission to the GPU.
    pub(crate) fn ui(&self, ctx: &Context, frame_s: Option<f32>) {
        if !self.is_shown {
            return;
        }
        let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
        let mut lines = vec![
            format!("frame        {:>7.1} ms", f64::from(frame_s.unwrap_or_default()) * 1e3),
            format!("  editor     {:>7.1} ms", milliseconds(self.own)),
            format!("    slowest  {:>7.1} ms", milliseconds(self.slowest)),
        ];
        if let Some([answered, computed]) = self.last {
            lines.push(format!("preview      {:>7.1} ms", milliseconds(answered)));
            lines.push(format!("  computing  {:>7.1} ms", milliseconds(computed)));
        }
        // Centred over the views, where they have no buttons or scale bars.
        Area::new(egui::Id::unique("timings"))
            .anchor(Align2::CENTER_TOP, Vec2::new(0.0, 56.0))
            .interactable(false)
            .show(ctx, |ui| {
                Frame::popup(ui.style()).show(ui, |ui| {
                    for line in lines {
                        ui.label(RichText::new(line).monospace().color(colours(ui).weak));
                    }
                });
            });
    }
}
