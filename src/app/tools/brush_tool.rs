//! The brush: a press or a drag on a view adds a stroke, which sculpts the terrain or paints the mask of a step or a
//! terrain type.
//!
//! Shift smooths, Ctrl swaps raising and lowering or painting and erasing, Alt picks the height to which the brush
//! flattens. The brackets change the radius.

use egui::{Align2, Event, Id, Key, Modifiers, Pos2, Stroke as Line, Ui, Vec2};

use super::brush_stroke::BrushStroke;
use super::context::{Selected, ToolContext, rounded_place};
use super::parameter_fields::fields_ui;
use super::tool_view::{ToolView, draw_circle, draw_line, pressed_at};
use crate::app::commands::Command;
use crate::app::views::overlay::note;
use crate::app::widgets::theme::colours;
use crate::engine::parameters::{List, Value};
use crate::engine::recipe::Recipe;
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::strokes::{Brush, simplified};

/// The radius of the first brush, as a share of the world's shorter side, and its height, as a share of the radius.
const RADIUS: f64 = 0.03;
const HEIGHT: f64 = 0.2;

/// The distance between points of a stroke while it is drawn, as a share of the radius.
const SPACING: f64 = 0.04;

/// The factor by which a bracket changes the radius.
const RADIUS_FACTOR: f64 = 1.2;

/// The state of a brush. It is not part of the document.
#[derive(Debug)]
pub(super) struct BrushTool<S> {
    /// The next stroke, without its points; `None` before the brush is used in a world.
    next: Option<S>,
    /// Whether the height to flatten to was picked. Otherwise it is that of the terrain where a stroke begins.
    has_height: bool,
    /// Whether the first stroke of a terrain type confines it to where it is painted.
    pub(super) only_there: bool,
    drawn: Option<DrawnStroke<S>>,
    /// The pressure of the pen that draws, from 0 to 1, if the system reports it.
    force: Option<f64>,
}

/// A stroke that is being drawn.
#[derive(Debug)]
struct DrawnStroke<S> {
    stroke: S,
    owner: MaskOwner,
    /// Its place in the list of strokes.
    index: usize,
    /// The view on which it is drawn.
    view: Id,
    /// The recipe and the selected step without the stroke.
    before: (Recipe, usize),
}

impl<S> Default for BrushTool<S> {
    fn default() -> Self {
        Self { next: None, has_height: false, only_there: false, drawn: None, force: None }
    }
}

impl<S: BrushStroke> BrushTool<S> {
    /// Ends the stroke that is being drawn.
    pub(super) fn reset(&mut self) {
        self.drawn = None;
    }

    /// Handles the pointer on one view and draws the brush there.
    pub(super) fn ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        let response = view.response();
        let mut command = None;
        let place = response.interact_pointer_pos().or(response.hover_pos()).and_then(|at| view.place_m(at));
        let modifiers = ui.input(|input| input.modifiers);
        let is_down = ui.input(|input| input.pointer.primary_down());
        if !is_down {
            self.force = None;
        }
        // In a slow frame the pointer has been in several places.
        let moves = ui.input(|input| moves(&input.events, &mut self.force));
        if let Some(place_m) = pressed_at(ui, response).and_then(|at| view.place_m(at)) {
            if modifiers.alt {
                self.pick_height(context, place_m);
            } else {
                let added = self.begin(context, response.id, place_m, modifiers);
                command = added.or((!context.is_at_end).then_some(Command::ToEnd));
            }
        }
        if self.drawn.as_ref().is_some_and(|drawn| drawn.view == response.id) {
            let places = moves.into_iter().filter_map(|(at, force)| Some((view.place_m(at)?, force)));
            self.extend(context.recipe, places.collect());
        }
        if !is_down {
            self.finish(context.recipe);
        }
        self.draw(ui, view, context, place.filter(|_| response.contains_pointer() || self.drawn.is_some()));
        command
    }

    /// Begins a stroke; returns the command that selects a terrain type that it added.
    fn begin(
        &mut self,
        context: &mut ToolContext,
        view: Id,
        place_m: [f64; 2],
        modifiers: Modifiers,
    ) -> Option<Command> {
        let before = (context.recipe.clone(), *context.selected_step);
        let mut stroke = self.next(context.recipe).clone();
        let height_m = height_m(context, place_m).filter(|_| !self.has_height);
        stroke.adapt(modifiers, height_m);
        stroke.points_m_mut().push(rounded_place(place_m));
        *stroke.pressure_mut() = self.force.map(|force| vec![force].into());
        let selected = Selected { only_there: self.only_there, ..context.selected() };
        let owner = stroke.prepare(context.recipe, selected)?;
        let strokes = S::strokes_mut(context.recipe, owner)?;
        let index = strokes.len();
        // Strokes that roughen have bumps of their own.
        set(&mut stroke, "seed", u32::try_from(index).unwrap_or_default());
        strokes.push(stroke.clone());
        if let MaskOwner::Step(step) = owner {
            *context.selected_step = step;
        }
        self.drawn = Some(DrawnStroke { stroke, owner, index, view, before });
        match owner {
            MaskOwner::Type(i) if selected.last != Some(owner) => Some(Command::SelectType(i)),
            MaskOwner::Type(_) | MaskOwner::Step(_) | MaskOwner::Layer(_) | MaskOwner::Named(_) => None,
        }
    }

    /// Continues the stroke to places with the pressure there, those that are far enough from each other.
    fn extend(&mut self, recipe: &mut Recipe, places: Vec<([f64; 2], Option<f64>)>) {
        let Some(DrawnStroke { stroke, .. }) = &self.drawn else { return };
        let far_m = SPACING * stroke.brush().radius_m;
        let mut last = stroke.points_m().last().copied();
        let mut added = Vec::new();
        for ([x_m, z_m], force) in places {
            if !last.is_some_and(|last| libm::hypot(x_m - last.x_m, z_m - last.z_m) < far_m) {
                last = Some(rounded_place([x_m, z_m]));
                added.extend(last.map(|point| (point, force.unwrap_or(1.0))));
            }
        }
        if added.is_empty() {
            return;
        }
        self.change(recipe, |stroke| {
            for (point, force) in added {
                stroke.points_m_mut().push(point);
                if let Some(pressure) = stroke.pressure_mut() {
                    pressure.push(force);
                }
            }
        });
    }

    /// Changes the stroke that is being drawn. If it is not in the document any more, it is not drawn any more either.
    fn change(&mut self, recipe: &mut Recipe, change: impl FnOnce(&mut S)) {
        let Some(DrawnStroke { stroke, owner, index, .. }) = &mut self.drawn else { return };
        if S::strokes(recipe, *owner).and_then(|strokes| strokes.get(*index)) != Some(stroke) {
            self.drawn = None;
            return;
        }
        change(stroke);
        if let Some(known) = S::strokes_mut(recipe, *owner).and_then(|strokes| strokes.get_mut(*index)) {
            *known = stroke.clone();
        }
    }

    /// Ends the stroke and stores no more points than its shape needs.
    fn finish(&mut self, recipe: &mut Recipe) {
        self.change(recipe, |stroke| {
            let known = stroke.pressure_mut().clone();
            let known = known.as_ref().map(|pressure| pressure.as_slice());
            let (points, pressure) = simplified(stroke.points_m(), known, stroke.brush());
            *stroke.points_m_mut() = points.into();
            *stroke.pressure_mut() = pressure.map(List::from);
        });
        self.drawn = None;
    }

    fn pick_height(&mut self, context: &ToolContext, place_m: [f64; 2]) {
        if let Some(height_m) = height_m(context, place_m) {
            self.has_height = self.next(context.recipe).pick_height(height_m);
        }
    }

    /// Handles keys. Returns whether Escape, if it `escapes`, cancelled a stroke.
    pub(super) fn keys(&mut self, ui: &Ui, recipe: &mut Recipe, selected_step: &mut usize, escapes: bool) -> bool {
        for (key, factor) in [(Key::OpenBracket, 1.0 / RADIUS_FACTOR), (Key::CloseBracket, RADIUS_FACTOR)] {
            if ui.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                let next = self.next(recipe);
                let radius_m = next.brush().radius_m * factor;
                // Two significant digits.
                set(next, "radius_m", format!("{radius_m:.1e}").parse::<f64>().unwrap_or(radius_m));
            }
        }
        if escapes && let Some(drawn) = self.drawn.take() {
            (*recipe, *selected_step) = drawn.before;
            return true;
        }
        false
    }

    /// Draws the parameters of the brush in the tool bar.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, recipe: &Recipe, message: &mut Option<String>) {
        let is_picked = self.has_height;
        let next = self.next(recipe);
        let shown: Vec<&str> = S::SHOWN.iter().copied().filter(|key| is_picked || *key != "height_m").collect();
        fields_ui(ui, S::NAME, next, &shown, message);
        if next.uses_height() {
            if !is_picked {
                ui.weak("to the height where the stroke begins; Alt+click picks another");
                self.has_height = ui.button("Type a height").clicked();
            } else if ui
                .button("Use start height")
                .on_hover_text("Flatten to the height where each stroke begins")
                .clicked()
            {
                self.has_height = false;
            }
        }
    }

    /// The next stroke, which fits the world at first.
    fn next(&mut self, recipe: &Recipe) -> &mut S {
        self.next.get_or_insert_with(|| {
            let side_m = recipe.world.width_m.min(recipe.world.depth_m);
            let mut next = S::default();
            let rounded = |m: f64| if m >= 20.0 { (m / 10.0).round() * 10.0 } else { m };
            set(&mut next, "radius_m", rounded(RADIUS * side_m));
            set(&mut next, "strength_m", rounded(HEIGHT * RADIUS * side_m));
            next
        })
    }

    fn draw(&mut self, ui: &Ui, view: &dyn ToolView, context: &ToolContext, place: Option<[f64; 2]>) {
        let colour = colours(ui).accent;
        if let Some(DrawnStroke { stroke, .. }) = &self.drawn {
            draw_line(view, stroke.points_m().iter().map(|at| [at.x_m, at.z_m]), Line::new(1.0, colour));
        }
        let Some(place_m) = place else { return };
        let Brush { radius_m, hardness } = self.next(context.recipe).brush();
        draw_circle(view, place_m, radius_m, Line::new(1.5, colour));
        if hardness > 0.0 && hardness < 1.0 {
            draw_circle(view, place_m, hardness * radius_m, Line::new(1.0, colour.gamma_multiply(0.5)));
        }
        if self.drawn.is_none() && S::target(context.recipe, context.selected()).is_none() {
            let at = view.response().rect.min + Vec2::new(8.0, 36.0);
            note(ui, view.painter(), Align2::LEFT_TOP, at, S::NEW_PLACE);
        }
    }
}

/// Where the pointer has been according to some events, with the pressure there, since a button was pressed and until one
/// was released. `force` is the pressure that was reported last.
fn moves(events: &[Event], force: &mut Option<f64>) -> Vec<(Pos2, Option<f64>)> {
    let mut moves = Vec::new();
    for event in events {
        *force = reported_force(event).or(*force);
        match event {
            Event::PointerMoved(at) => moves.push((*at, *force)),
            Event::PointerButton { pressed: true, .. } => moves.clear(),
            Event::PointerButton { pressed: false, .. } => break,
            _ => {}
        }
    }
    moves
}

/// The pressure that an event reports, in whole thousandths.
fn reported_force(event: &Event) -> Option<f64> {
    match event {
        Event::Touch { force: Some(force), .. } => {
            Some((1000.0 * f64::from(*force)).round().clamp(0.0, 1000.0) / 1000.0)
        }
        _ => None,
    }
}

/// The height of the terrain that is shown at a place.
fn height_m(context: &ToolContext, [x_m, z_m]: [f64; 2]) -> Option<f64> {
    context.terrain.map(|terrain| f64::from(terrain.height_at(x_m, z_m)))
}

/// Sets a parameter; one that the stroke lacks, or a value outside the hard range, is ignored.
fn set(stroke: &mut impl BrushStroke, key: &str, value: impl Into<Value>) {
    let _ = stroke.set(key, &value.into());
}
