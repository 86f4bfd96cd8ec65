//! When the youngest faults glow: while the playhead moves or is held, and a little longer.

use std::sync::Arc;
use std::time::Duration;

use crate::scene::{GlowingFault, youngest_faults};
use crate::worker::PreviewRequest;

/// How long the lines glow after the playhead has come to rest, and how long they take to fade, seconds.
const HOLD: f64 = 0.6;
const FADE: f64 = 0.6;

/// The youngest faults of the land that is shown.
pub(crate) struct Glow {
    /// Whether the user wants to see them.
    pub(crate) is_on: bool,
    lines: Vec<GlowingFault>,
    seen: Option<Arc<PreviewRequest>>,
    /// Whether the user holds the playhead.
    is_held: bool,
    /// When the playhead moved or was held last.
    moved_at: f64,
}

impl Default for Glow {
    fn default() -> Self {
        Self { is_on: true, lines: Vec::new(), seen: None, is_held: false, moved_at: f64::MIN }
    }
}

impl Glow {
    /// Another land is shown.
    pub(crate) fn show(&mut self, request: &Arc<PreviewRequest>, now: f64) {
        let before = self.seen.replace(request.clone());
        if before.is_some_and(|before| before.position != request.position) {
            self.moved_at = now;
        }
        self.lines = youngest_faults(&request.recipe, request.position);
    }

    /// The playhead is held, or no longer. As long as it is, nothing changes and no frame is asked for.
    pub(crate) fn hold(&mut self, is_held: bool, ctx: &egui::Context) {
        if self.is_held || is_held {
            self.moved_at = ctx.input(|input| input.time);
        }
        if self.is_held != is_held {
            self.is_held = is_held;
            ctx.request_repaint();
        }
    }

    /// The lines as strong as they glow now; asks for a frame when they will have changed.
    pub(crate) fn lines(&self, ctx: &egui::Context) -> Vec<GlowingFault> {
        let age = if self.is_held { 0.0 } else { ctx.input(|input| input.time) - self.moved_at };
        let left = (1.0 - (age - HOLD).max(0.0) / FADE) as f32;
        if !self.is_on || left <= 0.0 || self.lines.is_empty() {
            return Vec::new();
        }
        if !self.is_held {
            ctx.request_repaint_after(Duration::from_secs_f64((HOLD - age).max(0.0)));
        }
        self.lines.iter().map(|line| GlowingFault { strength: line.strength * left, ..*line }).collect()
    }
}
