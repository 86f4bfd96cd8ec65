//! Three short hints for the first start, one after another, each dismissed for good.

use egui::{Area, Context, Frame, Order, Pos2, Rect, RichText, Stroke, Vec2};

use crate::app::App;
use crate::app::widgets::main_button;
use crate::app::widgets::theme::colours;

/// What a hint points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Timeline,
    Stack,
    Menu,
}

/// A hint: the name under which it is remembered, where it stands, what it says.
struct Hint {
    name: &'static str,
    beside: Beside,
    text: &'static str,
}

/// The hint of the presets: whoever has begun with another project needs it no more.
pub(crate) const PRESETS: &str = "presets";

const HINTS: [Hint; 3] = [
    Hint {
        name: "timeline",
        beside: Beside::Timeline,
        text: "Space plays and pauses the uplift. Drag along the timeline to go through it, both ways.",
    },
    Hint {
        name: "stack",
        beside: Beside::Stack,
        text: "Every slider works while the land rises. Ctrl+Z takes back anything, one by one.",
    },
    Hint {
        name: PRESETS,
        beside: Beside::Menu,
        text: "File > Presets has landscapes to begin with, each with its picture.",
    },
];

/// The width of what a hint holds, the room around it, its distance from what it points at, and from the edge of the
/// left panel, points.
const WIDTH: f32 = 272.0;
const ROOM: f32 = 10.0;
const GAP: f32 = 12.0;
const MARGIN: f32 = 4.0;

/// Where the panels stand that hints point at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HintAnchors {
    pub(crate) menu: Rect,
    pub(crate) stack: Rect,
    pub(crate) timeline: Rect,
}

impl Default for HintAnchors {
    fn default() -> Self {
        Self { menu: Rect::NOTHING, stack: Rect::NOTHING, timeline: Rect::NOTHING }
    }
}

impl HintAnchors {
    /// The corner of a hint of that height, and the point at which it points: over the left panel, so that the land is
    /// seen; where there is none, at the left edge.
    fn of(&self, beside: Beside, height: f32) -> (Pos2, Pos2) {
        let left = self.stack.left() + MARGIN;
        let foot = Pos2::new(left, self.timeline.top() - GAP - height);
        match beside {
            Beside::Timeline => (foot, Pos2::new(left + 24.0, self.timeline.top())),
            // At the foot too, below the sliders of which it speaks.
            Beside::Stack => (foot, foot + Vec2::new(24.0, -GAP)),
            Beside::Menu => {
                let tip = Pos2::new(self.menu.left() + 24.0, self.menu.bottom());
                (Pos2::new(left, tip.y + GAP), tip)
            }
        }
    }
}

impl App {
    /// Shows the first hint that was not dismissed. Where nothing can be kept there are none: they would come back.
    pub(crate) fn hints_ui(&mut self, ctx: &Context, places: &HintAnchors) {
        let seen = &mut self.settings.hints_seen;
        let Some((number, hint)) = HINTS.iter().enumerate().find(|(_, hint)| !seen.contains(hint.name)) else { return };
        if self.services.folders.config.is_none()
            || self.ui.modal.is_some()
            || self.ui.saving.is_some()
            || self.ui.operation_picker.is_open()
        {
            return;
        }
        let id = egui::Id::unique("hint").with(hint.name);
        let height = ctx.data(|data| data.get_temp::<f32>(id)).unwrap_or(72.0);
        let (corner, tip) = places.of(hint.beside, height);
        let shown = Area::new(id).order(Order::Foreground).fixed_pos(corner).constrain(true).show(ctx, |ui| {
            let colours = colours(ui);
            let frame = Frame::popup(ui.style()).stroke(Stroke::new(1.0, colours.accent)).inner_margin(ROOM);
            frame.show(ui, |ui| {
                ui.set_width(WIDTH);
                ui.label(hint.text);
                ui.add_space(4.0);
                let count = RichText::new(format!("{} of {}", number + 1, HINTS.len())).size(11.0).color(colours.weak);
                egui::Sides::new()
                    .show(
                        ui,
                        |ui| ui.label(count),
                        |ui| [main_button(ui, "Got it", true).clicked(), ui.button("No more hints").clicked()],
                    )
                    .1
            })
        });
        let rect = shown.response.rect;
        ctx.data_mut(|data| data.insert_temp(id, rect.height()));
        let painter = ctx.layer_painter(shown.response.layer_id);
        let accent = ctx.style_of(ctx.theme()).visuals.selection.bg_fill;
        painter.line_segment([rect.clamp(tip), tip], Stroke::new(1.0, accent));
        painter.circle_filled(tip, 3.0, accent);
        let [got_it, no_more] = shown.inner.inner;
        if got_it {
            seen.insert(hint.name.into());
        }
        if no_more {
            seen.extend(HINTS.iter().map(|hint| hint.name.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_lie_over_the_left_panel_or_at_the_left_edge() {
        let rect = |x: [f32; 2], y: [f32; 2]| Rect::from_min_max(Pos2::new(x[0], y[0]), Pos2::new(x[1], y[1]));
        // The usual window, and the smallest one without its panels.
        for (width, height, panel) in [(1280.0, 800.0, 304.0), (640.0, 360.0, 0.0)] {
            let menu = rect([0.0, width], [0.0, 24.0]);
            let timeline = rect([0.0, width], [height - 64.0, height - 26.0]);
            let places = HintAnchors { menu, stack: rect([0.0, panel], [24.0, height - 64.0]), timeline };
            // Of two maps side by side, one at the most is hidden.
            let edge = if panel > 0.0 { panel } else { 0.5 * width };
            for hint in &HINTS {
                let (corner, tip) = places.of(hint.beside, 96.0);
                let hidden = Rect::from_min_size(corner, Vec2::new(WIDTH + 2.0 * ROOM, 96.0));
                assert!(hidden.left() >= 0.0 && hidden.right() <= edge, "{} at {hidden:?}", hint.name);
                assert!(hidden.top() >= menu.bottom() && hidden.bottom() <= timeline.top(), "{}", hint.name);
                assert!(!hidden.contains(tip) && tip.x < hidden.right(), "{}", hint.name);
            }
        }
    }
}
