//! Three short hints for the first start, one after another, each dismissed for good.

use egui::{Area, Context, Frame, Order, Pos2, Rect, RichText, Stroke, Vec2};

use super::App;
use super::theme::colours;
use super::widgets::main_button;

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
        name: "presets",
        beside: Beside::Menu,
        text: "File > Presets has landscapes to begin with, each with its picture.",
    },
];

/// The width of a hint and its distance from what it points at, points.
const WIDTH: f32 = 272.0;
const GAP: f32 = 12.0;

/// Where the panels stand that hints point at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) menu: Rect,
    pub(super) stack: Rect,
    pub(super) timeline: Rect,
}

impl Default for Places {
    fn default() -> Self {
        Self { menu: Rect::NOTHING, stack: Rect::NOTHING, timeline: Rect::NOTHING }
    }
}

impl Places {
    /// The corner of a hint of that height, and the point at which it points.
    fn of(&self, beside: Beside, height: f32) -> (Pos2, Pos2) {
        match beside {
            Beside::Timeline => {
                // Beside the left panel, of which it hides nothing.
                let tip = Pos2::new(self.stack.right() + 36.0, self.timeline.top());
                (tip + Vec2::new(-24.0, -GAP - height), tip)
            }
            Beside::Stack => {
                let tip = Pos2::new(self.stack.right(), self.stack.top() + 0.5 * self.stack.height());
                (tip + Vec2::new(GAP, -0.5 * height), tip)
            }
            Beside::Menu => {
                let tip = Pos2::new(self.menu.left() + 24.0, self.menu.bottom());
                (tip + Vec2::new(-16.0, GAP), tip)
            }
        }
    }
}

impl App {
    /// Shows the first hint that was not dismissed. Where nothing can be kept there are none: they would come back.
    pub(super) fn hints_ui(&mut self, ctx: &Context, places: &Places) {
        let seen = &mut self.settings.hints_seen;
        let Some((number, hint)) = HINTS.iter().enumerate().find(|(_, hint)| !seen.contains(hint.name)) else { return };
        if self.folders.config.is_none() || self.modal.is_some() || self.saving.is_some() || self.picker.is_open() {
            return;
        }
        let id = egui::Id::unique("hint").with(hint.name);
        let height = ctx.data(|data| data.get_temp::<f32>(id)).unwrap_or(72.0);
        let (corner, tip) = places.of(hint.beside, height);
        let shown = Area::new(id).order(Order::Foreground).fixed_pos(corner).constrain(true).show(ctx, |ui| {
            let colours = colours(ui);
            let frame = Frame::popup(ui.style()).stroke(Stroke::new(1.0, colours.accent)).inner_margin(10.0);
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
