//! How quick the editor is, in figures over the views, for whoever asks.

use std::time::{Duration, Instant};

use egui::{Align2, Area, Context, Frame, RichText, Vec2};

use super::theme::colours;
use crate::worker::Preview;

/// What was measured last.
#[derive(Debug, Default)]
pub(super) struct Timings {
    is_shown: bool,
    /// When the worker was asked last.
    asked: Option<Instant>,
    /// From asking to the pictures in full, and what of it was computing.
    last: Option<[Duration; 2]>,
}

impl Timings {
    pub(super) fn toggle(&mut self) {
        self.is_shown = !self.is_shown;
    }

    /// The worker is asked for other pictures.
    pub(super) fn asked(&mut self) {
        self.asked = Some(Instant::now());
    }

    /// Pictures came; `is_newest` says whether they are those that were asked for last.
    pub(super) fn came(&mut self, preview: &Preview, is_newest: bool) {
        if !preview.coarse && is_newest {
            self.last = self.asked.take().map(|asked| [asked.elapsed(), preview.elapsed]).or(self.last);
        }
    }

    /// `frame_s`: what the interface thread worked for the last frame, in seconds, without waiting for the screen.
    pub(super) fn ui(&self, ctx: &Context, frame_s: Option<f32>) {
        if !self.is_shown {
            return;
        }
        let milliseconds = |duration: Duration| duration.as_secs_f64() * 1e3;
        let mut lines = vec![format!("frame        {:>7.1} ms", f64::from(frame_s.unwrap_or_default()) * 1e3)];
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
