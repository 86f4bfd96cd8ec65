//! Three short hints for the first start, one after another, each dismissed for good.

use std::collections::BTreeSet;

use egui::{Area, Context, Frame, Id, Order, Pos2, Rect, RichText, Stroke, Vec2};

use crate::app::widgets::main_button;
use crate::app::widgets::theme::colours;

/// The part of the window that a hint points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Timeline,
    Stack,
    Menu,
}

struct Hint {
    /// The name under which its dismissal is saved.
    name: &'static str,
    anchor: Anchor,
    text: &'static str,
}

/// The name of the hint about the presets, which is dismissed when the user opens another project.
pub(crate) const PRESETS: &str = "presets";

const HINTS: [Hint; 3] = [
    Hint {
        name: "timeline",
        anchor: Anchor::Timeline,
        text: "Space plays and pauses the uplift. Drag along the timeline to seek in both directions.",
    },
    Hint {
        name: "stack",
        anchor: Anchor::Stack,
        text: "You can move every slider while the terrain rises. Ctrl+Z undoes each edit.",
    },
    Hint {
        name: PRESETS,
        anchor: Anchor::Menu,
        text: "File > Presets has finished landscapes to start from, each with a thumbnail.",
    },
];

/// The width of a hint's contents, its margin, its distance from its anchor, and from the edge of the left panel,
/// points.
const WIDTH: f32 = 272.0;
const MARGIN: f32 = 10.0;
const GAP: f32 = 12.0;
const PANEL_MARGIN: f32 = 4.0;

/// The height of a hint before it was drawn for the first time, points.
const FIRST_HEIGHT: f32 = 72.0;

/// The rectangles of the panels that hints point at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HintAnchors {
    pub(crate) menu: Rect,
    pub(crate) stack: Rect,
    pub(crate) timeline: Rect,
}

impl HintAnchors {
    /// The corner of a hint of that height and the tip of its pointer: over the left panel, so that the views stay
    /// visible, or at the left edge if the panel is hidden.
    fn place(&self, anchor: Anchor, height: f32) -> (Pos2, Pos2) {
        let left = self.stack.left() + PANEL_MARGIN;
        let bottom = Pos2::new(left, self.timeline.top() - GAP - height);
        match anchor {
            Anchor::Timeline => (bottom, Pos2::new(left + 24.0, self.timeline.top())),
            // At the bottom of the panel too, below the sliders.
            Anchor::Stack => (bottom, bottom + Vec2::new(24.0, -GAP)),
            Anchor::Menu => {
                let tip = Pos2::new(self.menu.left() + 24.0, self.menu.bottom());
                (Pos2::new(left, tip.y + GAP), tip)
            }
        }
    }
}

/// The height of the hint in the frame before, by the hint's name.
#[derive(Default)]
pub(crate) struct HintState {
    height: Option<(&'static str, f32)>,
}

impl HintState {
    /// Draws the first hint that is not among the dismissed ones, and adds it to them if the user dismisses it.
    pub(crate) fn ui(&mut self, ctx: &Context, anchors: &HintAnchors, dismissed: &mut BTreeSet<String>) {
        let first = HINTS.iter().enumerate().find(|(_, hint)| !dismissed.contains(hint.name));
        let Some((index, hint)) = first else { return };
        let known = self.height.filter(|(name, _)| *name == hint.name);
        let (corner, tip) = anchors.place(hint.anchor, known.map_or(FIRST_HEIGHT, |(_, height)| height));
        let area = Area::new(Id::unique("hint").with(hint.name)).order(Order::Foreground).fixed_pos(corner);
        let shown = area.constrain(true).show(ctx, |ui| {
            let colours = colours(ui);
            let frame = Frame::popup(ui.style()).stroke(Stroke::new(1.0, colours.accent)).inner_margin(MARGIN);
            let contents = |ui: &mut egui::Ui| {
                ui.set_width(WIDTH);
                ui.label(hint.text);
                ui.add_space(4.0);
                let count = RichText::new(format!("{} of {}", index + 1, HINTS.len())).size(11.0).color(colours.weak);
                let (_, buttons) = egui::Sides::new().show(
                    ui,
                    |ui| ui.label(count),
                    |ui| [main_button(ui, "Got it", true).clicked(), ui.button("No more hints").clicked()],
                );
                buttons
            };
            frame.show(ui, contents).inner
        });
        let rect = shown.response.rect;
        self.height = Some((hint.name, rect.height()));
        let painter = ctx.layer_painter(shown.response.layer_id);
        let accent = ctx.style_of(ctx.theme()).visuals.selection.bg_fill;
        painter.line_segment([rect.clamp(tip), tip], Stroke::new(1.0, accent));
        painter.circle_filled(tip, 3.0, accent);
        let [got_it, no_more] = shown.inner;
        if got_it {
            dismissed.insert(hint.name.into());
        }
        if no_more {
            dismissed.extend(HINTS.iter().map(|hint| hint.name.to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_over_the_left_panel_or_at_the_left_edge() {
        let rect = |x: [f32; 2], y: [f32; 2]| Rect::from_min_max(Pos2::new(x[0], y[0]), Pos2::new(x[1], y[1]));
        // The default window, and the smallest one without its panels.
        for (width, height, panel) in [(1280.0, 800.0, 304.0), (640.0, 360.0, 0.0)] {
            let menu = rect([0.0, width], [0.0, 24.0]);
            let timeline = rect([0.0, width], [height - 64.0, height - 26.0]);
            let anchors = HintAnchors { menu, stack: rect([0.0, panel], [24.0, height - 64.0]), timeline };
            // Of two maps next to each other, at most one is covered.
            let edge = if panel > 0.0 { panel } else { 0.5 * width };
            for hint in &HINTS {
                let (corner, tip) = anchors.place(hint.anchor, 96.0);
                let covered = Rect::from_min_size(corner, Vec2::new(WIDTH + 2.0 * MARGIN, 96.0));
                assert!(covered.left() >= 0.0 && covered.right() <= edge, "{} at {covered:?}", hint.name);
                assert!(covered.top() >= menu.bottom() && covered.bottom() <= timeline.top(), "{}", hint.name);
                assert!(!covered.contains(tip) && tip.x < covered.right(), "{}", hint.name);
            }
        }
    }
}
