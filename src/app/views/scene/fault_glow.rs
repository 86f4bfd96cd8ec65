//! When the most recent faults glow: while the playhead moves or is held, and shortly after.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::cast::ToFloat;
use crate::scene::{GlowingFault, recent_faults};
use crate::worker::PreviewRequest;

/// How long the lines glow after the playhead has stopped, and how long they take to fade, seconds.
const HOLD_S: f64 = 0.6;
const FADE_S: f64 = 0.6;

/// The most recent faults of the shown terrain.
pub(super) struct FaultGlow {
    /// Whether the user wants to see them.
    pub(super) is_on: bool,
    lines: Vec<GlowingFault>,
    request: Option<Arc<PreviewRequest>>,
    /// Whether the user holds the playhead.
    is_held: bool,
    /// When the playhead moved or was held last, seconds.
    moved_at: f64,
}

impl Default for FaultGlow {
    fn default() -> Self {
        Self { is_on: true, lines: Vec::new(), request: None, is_held: false, moved_at: f64::MIN }
    }
}

impl FaultGlow {
    /// Takes the request of the preview that is shown from now on.
    pub(super) fn show(&mut self, request: &Arc<PreviewRequest>, now: f64) {
        let before = self.request.replace(request.clone());
        if before.is_some_and(|before| before.position != request.position) {
            self.moved_at = now;
        }
        self.lines = recent_faults(&request.recipe, request.position);
    }

    /// Sets whether the user holds the playhead. While it is held the lines do not fade, so no repaint is needed.
    pub(super) fn hold(&mut self, is_held: bool, ctx: &egui::Context) {
        if self.is_held || is_held {
            self.moved_at = ctx.input(|input| input.time);
        }
        if self.is_held != is_held {
            self.is_held = is_held;
            ctx.request_repaint();
        }
    }

    /// The lines with their current strength; requests a repaint for when it changes.
    pub(super) fn lines(&self, ctx: &egui::Context) -> Vec<GlowingFault> {
        let age = if self.is_held { 0.0 } else { ctx.input(|input| input.time) - self.moved_at };
        let opacity = (1.0 - (age - HOLD_S).max(0.0) / FADE_S).to_f32();
        if !self.is_on || opacity <= 0.0 || self.lines.is_empty() {
            return Vec::new();
        }
        if !self.is_held {
            ctx.request_repaint_after(Duration::from_secs_f64((HOLD_S - age).max(0.0)));
        }
        self.lines.iter().map(|line| GlowingFault { strength: line.strength * opacity, ..*line }).collect()
    }
}
