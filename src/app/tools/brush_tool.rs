//! The brush: a press or a drag on a view adds a stroke to a step that sculpts the terrain.
//!
//! Shift smooths, Ctrl swaps raising and lowering, Alt picks the height to which the brush flattens. The brackets change
//! the radius.

use egui::{Align2, Key, Modifiers, PointerButton, Stroke as Line, Ui, Vec2};

use super::parameter_fields::fields_ui;
use super::tool_view::{ToolView, draw_circle, draw_line};
use super::{ToolContext, known_step, rounded_place, step_on_top};
use crate::app::commands::Command;
use crate::app::views::overlay::note;
use crate::app::widgets::theme::colours;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::sculpt::{Mode, Sculpt, Stroke};
use crate::engine::parameters::{Group, List, Point, Value};
use crate::engine::recipe::{Recipe, Step};
use crate::engine::strokes::{Brush, simplified};

/// The radius of the first brush, as a share of the world's shorter side, and its height, as a share of the radius.
const RADIUS: f64 = 0.03;
const HEIGHT: f64 = 0.2;

/// The distance between points of a stroke while it is drawn, as a share of the radius.
const SPACING: f64 = 0.04;

/// The factor by which a bracket changes the radius.
const RADIUS_FACTOR: f64 = 1.2;

/// The parameters in the tool bar, of which only those that the mode uses are shown. The last one, the height to flatten
/// to, is shown once it was picked.
const SHOWN: [&str; 7] = ["mode", "radius_m", "hardness", "strength_m", "strength", "wavelength_m", "height_m"];

/// The state of the brush. It is not part of the document.
#[derive(Debug, Default)]
pub(crate) struct BrushTool {
    /// The next stroke, without its points; `None` before the brush is used in a world.
    brush: Option<Stroke>,
    /// Whether the height to flatten to was picked. Otherwise it is that of the terrain where a stroke begins.
    has_height: bool,
    drawn: Option<DrawnStroke>,
}

/// A stroke that is being drawn.
#[derive(Debug)]
struct DrawnStroke {
    stroke: Stroke,
    step: usize,
    /// The view on which it is drawn.
    view: egui::Id,
    /// The recipe and the selected step without the stroke.
    before: (Recipe, usize),
}

impl BrushTool {
    /// Ends the stroke that is being drawn.
    pub(super) fn reset(&mut self) {
        self.drawn = None;
    }

    /// Handles the pointer on one view and draws the brush there.
    pub(super) fn ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        let response = view.response();
        let mut command = None;
        let place = response.interact_pointer_pos().or(response.hover_pos()).and_then(|at| view.place_m(at));
        let (is_pressed, modifiers) =
            ui.input(|input| (input.pointer.button_pressed(PointerButton::Primary), input.modifiers));
        if let Some(place_m) = place {
            if is_pressed && response.contains_pointer() && response.is_pointer_button_down_on() {
                if modifiers.alt {
                    self.pick_height(context, place_m);
                } else {
                    self.begin(context, response.id, place_m, modifiers);
                    command = (!context.is_at_end).then_some(Command::ToEnd);
                }
            } else if self.drawn.as_ref().is_some_and(|drawn| drawn.view == response.id) {
                self.extend(context.recipe, place_m);
            }
        }
        self.draw(ui, view, context, place.filter(|_| response.contains_pointer() || self.drawn.is_some()));
        command
    }

    /// Begins a stroke.
    fn begin(&mut self, context: &mut ToolContext, view: egui::Id, place_m: [f64; 2], modifiers: Modifiers) {
        let before = (context.recipe.clone(), *context.selected_step);
        let mut stroke = self.brush(context.recipe).clone();
        stroke.mode = match stroke.mode {
            _ if modifiers.shift => Mode::Smooth,
            Mode::Raise if modifiers.command => Mode::Lower,
            Mode::Lower if modifiers.command => Mode::Raise,
            mode => mode,
        };
        if stroke.mode == Mode::Flatten && !self.has_height {
            let [x_m, z_m] = place_m;
            let height_m = context.terrain.map_or(0.0, |terrain| f64::from(terrain.height_at(x_m, z_m)));
            set(&mut stroke, "height_m", (10.0 * height_m).round() / 10.0);
        }
        let step = step_for_strokes(context.recipe, *context.selected_step);
        if let Some(strokes) = strokes_mut(context.recipe, step) {
            stroke.seed = u32::try_from(strokes.len()).unwrap_or(0);
            strokes.push(stroke.clone());
            *context.selected_step = step;
            self.drawn = Some(DrawnStroke { stroke, step, view, before });
            self.extend(context.recipe, place_m);
        }
    }

    /// Continues the stroke to a place, if that is far enough from its last point.
    fn extend(&mut self, recipe: &mut Recipe, [x_m, z_m]: [f64; 2]) {
        let Some(DrawnStroke { stroke, step, .. }) = &mut self.drawn else { return };
        let far_m = SPACING * stroke.radius_m;
        let is_near = |last: &Point| libm::hypot(x_m - last.x_m, z_m - last.z_m) < far_m;
        if !stroke.points_m.last().is_some_and(is_near) {
            stroke.points_m.push(rounded_place([x_m, z_m]));
        }
        replace_last(recipe, *step, stroke);
    }

    /// Ends the stroke and stores no more points than its shape needs.
    fn finish(&mut self, recipe: &mut Recipe) {
        let Some(DrawnStroke { mut stroke, step, .. }) = self.drawn.take() else { return };
        let brush = Brush { radius_m: stroke.radius_m, hardness: stroke.hardness };
        stroke.points_m = simplified(&stroke.points_m, None, brush).0.into();
        replace_last(recipe, step, &stroke);
    }

    fn pick_height(&mut self, context: &ToolContext, [x_m, z_m]: [f64; 2]) {
        let Some(terrain) = context.terrain else { return };
        let height_m = f64::from(terrain.height_at(x_m, z_m));
        let brush = self.brush(context.recipe);
        set(brush, "height_m", (10.0 * height_m).round() / 10.0);
        brush.mode = Mode::Flatten;
        self.has_height = true;
    }

    /// Handles keys, and the release of the button. Returns whether Escape, if it `escapes`, cancelled a stroke.
    pub(super) fn keys(&mut self, ui: &Ui, recipe: &mut Recipe, selected_step: &mut usize, escapes: bool) -> bool {
        for (key, factor) in [(Key::OpenBracket, 1.0 / RADIUS_FACTOR), (Key::CloseBracket, RADIUS_FACTOR)] {
            if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                let brush = self.brush(recipe);
                let radius_m = brush.radius_m * factor;
                // Two significant digits.
                set(brush, "radius_m", format!("{radius_m:.1e}").parse().unwrap_or(radius_m));
            }
        }
        if escapes && let Some(drawn) = self.drawn.take() {
            (*recipe, *selected_step) = drawn.before;
            return true;
        }
        if !ui.input(|input| input.pointer.primary_down()) {
            self.finish(recipe);
        }
        false
    }

    /// Draws the parameters of the brush in the tool bar.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, recipe: &Recipe) {
        let is_picked = self.has_height;
        let brush = self.brush(recipe);
        fields_ui(ui, "Brush", brush, if is_picked { &SHOWN } else { &SHOWN[..SHOWN.len() - 1] });
        let mode = brush.mode;
        if mode == Mode::Flatten {
            if is_picked {
                if ui.button("Reset").on_hover_text("Flatten to the height where each stroke begins").clicked() {
                    self.has_height = false;
                }
            } else {
                ui.weak("to where the stroke begins; Alt+click picks a height");
            }
        }
    }

    /// The next stroke, which fits the world at first.
    fn brush(&mut self, recipe: &Recipe) -> &mut Stroke {
        self.brush.get_or_insert_with(|| {
            let side_m = recipe.world.width_m.min(recipe.world.depth_m);
            let mut brush = Stroke::default();
            let rounded = |m: f64| if m >= 20.0 { (m / 10.0).round() * 10.0 } else { m };
            set(&mut brush, "radius_m", rounded(RADIUS * side_m));
            set(&mut brush, "strength_m", rounded(HEIGHT * RADIUS * side_m));
            brush
        })
    }

    fn draw(&mut self, ui: &Ui, view: &dyn ToolView, context: &ToolContext, place: Option<[f64; 2]>) {
        let colour = colours(ui).accent;
        if let Some(DrawnStroke { stroke, .. }) = &self.drawn {
            draw_line(view, stroke.points_m.iter().map(|at| [at.x_m, at.z_m]), Line::new(1.0, colour));
        }
        let Some(place_m) = place else { return };
        let Stroke { radius_m, hardness, .. } = *self.brush(context.recipe);
        draw_circle(view, place_m, radius_m, Line::new(1.5, colour));
        if hardness > 0.0 && hardness < 1.0 {
            draw_circle(view, place_m, hardness * radius_m, Line::new(1.0, colour.gamma_multiply(0.5)));
        }
        let is_new = self.drawn.is_none() && known_step(context.recipe, *context.selected_step, is_sculpt).is_none();
        if is_new {
            let at = view.response().rect.min + Vec2::new(8.0, 36.0);
            note(ui, view.painter(), Align2::LEFT_TOP, at, "The first stroke adds a Sculpt step on top");
        }
    }
}

/// Sets a parameter; a value outside the hard range is ignored.
fn set(stroke: &mut Stroke, key: &str, value: impl Into<Value>) {
    let _ = stroke.set(key, &value.into());
}

fn strokes_mut(recipe: &mut Recipe, step: usize) -> Option<&mut List<Stroke>> {
    match &mut recipe.stack.get_mut(step)?.operation {
        AnyOperation::Sculpt(Sculpt { strokes }) => Some(strokes),
        _ => None,
    }
}

/// Replaces the last stroke of a step. A stroke that is the same leaves the list alone, which is shared with the
/// document.
fn replace_last(recipe: &mut Recipe, step: usize, stroke: &Stroke) {
    let Some(AnyOperation::Sculpt(Sculpt { strokes })) = recipe.stack.get(step).map(|step| &step.operation) else {
        return;
    };
    if strokes.last() != Some(stroke)
        && let Some(last) = strokes_mut(recipe, step).and_then(|strokes| strokes.last_mut())
    {
        *last = stroke.clone();
    }
}

fn is_sculpt(step: &Step) -> bool {
    matches!(step.operation, AnyOperation::Sculpt(_))
}

/// The index of the step that receives new strokes, see [`step_on_top`].
fn step_for_strokes(recipe: &mut Recipe, selected: usize) -> usize {
    step_on_top(recipe, selected, is_sculpt, || Step::new(Sculpt::default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;

    #[test]
    fn strokes_go_into_the_selected_step_or_the_topmost_one_or_a_new_one() {
        let (sculpt, other) = (|| Step::new(Sculpt::default()), || Step::new(Faults::default()));
        let mut recipe = Recipe { stack: vec![other(), sculpt(), other(), sculpt()], ..Default::default() };
        assert_eq!([0, 1, 3].map(|selected| step_for_strokes(&mut recipe, selected)), [3, 1, 3]);
        recipe.stack.pop();
        recipe.stack[1].settings.enabled = false;
        assert_eq!(step_for_strokes(&mut recipe, 1), 1);
        assert!(recipe.stack[1].settings.enabled);
        assert_eq!((step_for_strokes(&mut recipe, 0), recipe.stack.len()), (3, 4), "strokes go on top");
    }
}
