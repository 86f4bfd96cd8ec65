//! How quick the editor is, in figures over the views, for whoever asks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Align2, Area, Context, Frame, RichText, Vec2};

use crate::app::widgets::theme::colours;
use crate::worker::{Preview, PreviewRequest};

/// What was measured last.
#[derive(Debug, Default)]
pub(crate) struct FrameTimings {
    is_shown: bool,
    /// When the present frame began.
    began: Option<Instant>,
    /// What the editor did itself in the last frame, and in the slowest since the times were asked for.
    own: Duration,
    slowest: Duration,
    /// What the worker was asked for last, and when.
    asked: Option<(Arc<PreviewRequest>, Instant)>,
    /// From asking to the pictures in full, and what of it was computing.
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

    /// The worker is asked for other pictures.
    pub(crate) fn requested(&mut self, request: Arc<PreviewRequest>) {
        self.asked = Some((request, Instant::now()));
    }

    /// The other pictures are at hand: nothing is computed, and nobody waits.
    pub(crate) fn shown_at_once(&mut self) {
        self.asked = None;
        self.last = Some([Duration::ZERO; 2]);
    }

    /// Pictures came: counted are those in full that were asked for last.
    pub(crate) fn came(&mut self, preview: &Preview) {
        let awaited = self.asked.take_if(|(request, _)| !preview.coarse && Arc::ptr_eq(request, &preview.request));
        if let Some((_, asked)) = awaited {
            self.last = Some([asked.elapsed(), preview.elapsed]);
        }
    }

    /// `frame_s`: what the interface thread took for the last frame, in seconds, without waiting for the screen: the
    /// editor's own work, and handing what it drew to the graphics card.
    pub(crate) fn ui(&self, ctx: &Context, frame_s: Option<f32>) {
        if !self.is_shown {
            return;
        }
        let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
        let mut lines = vec![
            format!("frame        {:>7.1} ms", f64::from(frame_s.unwrap_or_default()) * 1e3),
            format!("  own work   {:>7.1} ms", milliseconds(self.own)),
            format!("    slowest  {:>7.1} ms", milliseconds(self.slowest)),
        ];
        if let Some([answered, computed]) = self.last {
            lines.push(format!("last pictures{:>7.1} ms", milliseconds(answered)));
            lines.push(format!("  computing  {:>7.1} ms", milliseconds(computed)));
        }
        // Over the middle of the views, where none of their buttons and scales are.
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
