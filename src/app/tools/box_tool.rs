//! A tool for items that lie in boxes, such as pads and stamps: it adds them, and handles move, resize and turn them.

use egui::{Align2, Color32, Key, Modifiers, PointerButton, Pos2, Stroke, Ui, Vec2};

use super::box_handles::{Handle, TurnedBox, move_handle};
use super::context::{ToolContext, rounded_place, step_on_top, target_step};
use super::parameter_fields::fields_ui;
use super::tool_view::{ToolView, draw_line, pressed_at};
use crate::app::commands::Command;
use crate::app::views::overlay::note;
use crate::app::widgets::theme::colours;
use crate::engine::heightfield::Extent;
use crate::engine::operations::AnyOperation;
use crate::engine::parameters::{List, Parameters, Point};
use crate::engine::recipe::{Recipe, Step};

/// The distance within which the pointer grabs a handle, points.
const REACH: f32 = 9.0;

/// An item of a step's list that lies in a box.
pub(super) trait BoxItem: Parameters + 'static {
    /// What it is called in the tool bar.
    const NAME: &'static str;
    /// The keys of the parameters in the tool bar.
    const SHOWN: &'static [&'static str];
    /// What happens with the first item while no step can take it.
    const NEW_PLACE: &'static str;

    /// The items of a step of their kind.
    fn items(operation: &AnyOperation) -> Option<&List<Self>>;
    fn items_mut(operation: &mut AnyOperation) -> Option<&mut List<Self>>;

    /// A step without items.
    fn new_step() -> Step;

    /// The item like this one that a press at `from` and a drag to a place add to a world of this size, if any.
    fn drawn(&self, world: Extent, from: Point, to_m: [f64; 2], snaps: bool) -> Option<Self>;

    fn turned_box(&self) -> TurnedBox;

    /// The point from which the place is measured where it is grabbed.
    fn middle(&self) -> [f64; 2] {
        let Point { x_m, z_m } = self.turned_box().centre_m;
        [x_m, z_m]
    }

    /// The outline, closed.
    fn outline(&self) -> Vec<[f64; 2]> {
        self.turned_box().outline()
    }

    fn contains(&self, place_m: [f64; 2]) -> bool {
        self.turned_box().contains(place_m)
    }

    /// The handles and where they are.
    fn handles(&self) -> Vec<(Handle, [f64; 2])> {
        self.turned_box().handles()
    }

    /// Moves a handle to a place.
    fn move_handle(&mut self, handle: Handle, place_m: [f64; 2], snaps: bool) {
        let from = self.turned_box();
        move_handle(self, from, handle, place_m, snaps);
    }

    /// Completes an item whose parameters were changed in the tool bar.
    fn complete(&mut self) {}

    /// What the views say about the selected item.
    fn summary(&self) -> String;
}

/// The indices of an item: its step and its place in the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ItemIndex {
    step: usize,
    item: usize,
}

/// The state of the tool. It is not part of the document.
#[derive(Debug, Default)]
pub(super) struct BoxTool<T> {
    /// What a new item is like.
    template: T,
    selected: Option<ItemIndex>,
    dragged: Option<Drag>,
}

#[derive(Debug)]
struct Drag {
    what: Dragged,
    /// What Escape restores.
    before: (Recipe, usize, Option<ItemIndex>),
}

#[derive(Clone, Copy, Debug)]
enum Dragged {
    Handle(Handle),
    /// A new item, which begins there.
    New(Point),
}

impl<T: BoxItem> BoxTool<T> {
    /// Ends drags and clears the selection; the template stays.
    pub(super) fn reset(&mut self) {
        *self = Self { template: self.template.clone(), ..Self::default() };
    }

    /// Ends a drag, because the document was changed elsewhere.
    pub(super) fn document_changed(&mut self) {
        self.dragged = None;
    }

    /// What a new item is like.
    pub(super) fn template(&self) -> &T {
        &self.template
    }

    /// Changes what a new item is like, and clears the selection so that the tool bar shows it.
    pub(super) fn set_template(&mut self, template: T) {
        (self.template, self.selected, self.dragged) = (template, None, None);
    }

    /// The step and the place in it of the selected item.
    pub(super) fn selected(&self) -> Option<(usize, usize)> {
        self.selected.map(|ItemIndex { step, item }| (step, item))
    }

    /// Handles the pointer on one view and draws the items there.
    pub(super) fn ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        self.selected = self.selected.filter(|index| item_at::<T>(context.recipe, *index).is_some());
        let response = view.response();
        let snaps = ui.input(|input| input.modifiers.shift);
        let pointer = response.interact_pointer_pos().or(response.hover_pos());
        let place = pointer.and_then(|at| view.place_m(at));
        let mut command = None;
        if let Some(at) = pressed_at(ui, response)
            && let Some(place_m) = view.place_m(at)
        {
            self.press(context, view, at, place_m);
            command = (!context.is_at_end).then_some(Command::ToEnd);
        }
        if response.dragged_by(PointerButton::Primary)
            && let Some(place_m) = place
        {
            self.drag(context, place_m, snaps);
        }
        if !ui.input(|input| input.pointer.primary_down()) {
            self.dragged = None;
        }
        self.draw(ui, view, context, pointer.filter(|_| response.hovered()));
        command
    }

    /// Grabs a handle or an item, or begins a new item.
    fn press(&mut self, context: &mut ToolContext, view: &dyn ToolView, at: Pos2, place_m: [f64; 2]) {
        let before = (context.recipe.clone(), *context.selected_step, self.selected);
        let hit = self.hit(context.recipe, view, at, place_m);
        self.selected = hit.map(|(index, _)| index);
        if let Some(index) = self.selected {
            *context.selected_step = index.step;
        }
        let from = rounded_place(place_m);
        let what = hit.map_or(Dragged::New(from), |(_, handle)| Dragged::Handle(handle));
        self.dragged = Some(Drag { what, before });
        if hit.is_none() {
            self.draw_new(context, from, place_m, false);
        }
    }

    /// Continues a drag to a place.
    fn drag(&mut self, context: &mut ToolContext, place_m: [f64; 2], snaps: bool) {
        match self.dragged.as_ref().map(|drag| drag.what) {
            Some(Dragged::New(from)) => self.draw_new(context, from, place_m, snaps),
            Some(Dragged::Handle(handle)) => {
                let Some(index) = self.selected else { return };
                let Some(mut item) = item_at::<T>(context.recipe, index).cloned() else { return };
                item.move_handle(handle, place_m, snaps);
                replace(context.recipe, index, item);
            }
            None => {}
        }
    }

    /// Adds an item that begins at a place, or changes the one that the drag added.
    fn draw_new(&mut self, context: &mut ToolContext, from: Point, to_m: [f64; 2], snaps: bool) {
        let Some(item) = self.template.drawn(context.recipe.world.extent(), from, to_m, snaps) else { return };
        match self.selected {
            Some(index) => replace(context.recipe, index, item),
            None => self.add(context, item),
        }
    }

    /// Adds an item and selects it.
    fn add(&mut self, context: &mut ToolContext, item: T) {
        let step = step_on_top(context.recipe, *context.selected_step, is_kind::<T>, T::new_step);
        let Some(items) = items_mut::<T>(context.recipe, step) else { return };
        items.push(item);
        self.selected = Some(ItemIndex { step, item: items.len() - 1 });
        *context.selected_step = step;
    }

    /// Adds an item like the template at a place, as a click does.
    pub(super) fn place(&mut self, context: &mut ToolContext, place_m: [f64; 2]) {
        (self.selected, self.dragged) = (None, None);
        self.draw_new(context, rounded_place(place_m), place_m, false);
    }

    /// Handles keys: Delete removes the selected item; Escape cancels a drag or clears the selection. Returns whether
    /// Escape, if it `escapes`, did either.
    pub(super) fn keys(&mut self, ui: &Ui, recipe: &mut Recipe, selected_step: &mut usize, escapes: bool) -> bool {
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if let Some(index) = self.selected
            && (pressed(Key::Delete) || pressed(Key::Backspace))
        {
            if let Some(items) = items_mut::<T>(recipe, index.step).filter(|items| index.item < items.len()) {
                items.remove(index.item);
            }
            (self.selected, self.dragged) = (None, None);
        }
        if !escapes {
            return false;
        }
        match self.dragged.take() {
            Some(Drag { before, .. }) => {
                (*recipe, *selected_step, self.selected) = before;
                true
            }
            None => self.selected.take().is_some(),
        }
    }

    /// Draws the parameters of the selected item, or of the next one, in the tool bar.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, recipe: &mut Recipe, message: &mut Option<String>) {
        let Some(index) = self.selected else {
            let owner = format!("New {}", T::NAME.to_lowercase());
            ui.weak(&owner);
            fields_ui(ui, &owner, &mut self.template, T::SHOWN, message);
            return;
        };
        let Some(mut item) = item_at::<T>(recipe, index).cloned() else { return };
        fields_ui(ui, T::NAME, &mut item, T::SHOWN, message);
        item.complete();
        replace(recipe, index, item);
    }

    /// The item under the pointer and its part. The handles of the selected item have priority, and later items over
    /// earlier ones, on which they lie.
    fn hit(&self, recipe: &Recipe, view: &dyn ToolView, at: Pos2, place_m: [f64; 2]) -> Option<(ItemIndex, Handle)> {
        let distance = |to_m: [f64; 2]| view.pos(to_m).map_or(f32::INFINITY, |to| to.distance(at));
        if let Some(index) = self.selected
            && let Some(item) = item_at::<T>(recipe, index)
        {
            // The handles of a small item overlap; it can still be moved by its middle.
            let reach = if item.contains(place_m) { REACH.min(distance(item.middle())) } else { REACH };
            let handles = item.handles().into_iter().map(|(handle, handle_m)| (handle, distance(handle_m)));
            let nearest = handles.min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((handle, _)) = nearest.filter(|(_, distance)| *distance <= reach) {
                return Some((index, handle));
            }
        }
        let (index, item) = enabled_items::<T>(recipe).filter(|(_, item)| item.contains(place_m)).last()?;
        let middle = item.middle();
        Some((index, Handle::Inside([place_m[0] - middle[0], place_m[1] - middle[1]])))
    }

    fn draw(&self, ui: &Ui, view: &dyn ToolView, context: &ToolContext, pointer: Option<Pos2>) {
        let colour = colours(ui).accent;
        let recipe = &*context.recipe;
        for (index, item) in enabled_items::<T>(recipe) {
            let is_selected = self.selected == Some(index);
            let (width, strength) = if is_selected { (2.5, 1.0) } else { (1.5, 0.75) };
            draw_line(view, item.outline().into_iter(), Stroke::new(width, colour.gamma_multiply(strength)));
            if !is_selected {
                continue;
            }
            let handles: Vec<Pos2> = item.handles().into_iter().filter_map(|(_, at_m)| view.pos(at_m)).collect();
            let middle = view.pos(item.middle());
            let reach = handles.iter().filter_map(|handle| Some(handle.distance(middle?))).fold(0.0, f32::max);
            // A small item stays visible between its handles.
            let usual = (HANDLE_SHARE * reach).clamp(MIN_HANDLE, MAX_HANDLE);
            for handle in handles {
                let is_near = pointer.is_some_and(|at| handle.distance(at) <= REACH);
                let radius = if is_near { usual + 1.5 } else { usual };
                view.painter().circle(handle, radius, colour, Stroke::new(0.4 * usual, Color32::WHITE));
            }
            if view.response().contains_pointer() {
                say(ui, view, &format!("{} {}: {}", T::NAME, index.item + 1, item.summary()));
            }
        }
        if let Some(at) = pointer
            && self.dragged.is_none()
            && let Some(place_m) = view.place_m(at)
            && self.hit(recipe, view, at, place_m).is_none()
        {
            self.draw_next(ui, view, context, place_m);
        }
    }

    /// Draws what a click at a place would add, and says where it would go.
    pub(super) fn draw_next(&self, ui: &Ui, view: &dyn ToolView, context: &ToolContext, place_m: [f64; 2]) {
        let world = context.recipe.world.extent();
        if let Some(item) = self.template.drawn(world, rounded_place(place_m), place_m, false) {
            let stroke = Stroke::new(1.0, colours(ui).accent.gamma_multiply(0.75));
            draw_line(view, item.outline().into_iter(), stroke);
        }
        let has_place = target_step(context.recipe, *context.selected_step, is_kind::<T>).is_some();
        if !has_place && self.selected.is_none() {
            say(ui, view, T::NEW_PLACE);
        }
    }
}

/// The radius of a handle as a share of the distance of the farthest one from the middle, and its limits, points.
const HANDLE_SHARE: f32 = 0.2;
const MIN_HANDLE: f32 = 2.0;
const MAX_HANDLE: f32 = 5.0;

/// Shows a text in the corner of a view.
fn say(ui: &Ui, view: &dyn ToolView, text: &str) {
    let at = view.response().rect.min + Vec2::new(8.0, 36.0);
    note(ui, view.painter(), Align2::LEFT_TOP, at, text);
}

fn is_kind<T: BoxItem>(step: &Step) -> bool {
    T::items(&step.operation).is_some()
}

/// The items of enabled steps.
fn enabled_items<T: BoxItem>(recipe: &Recipe) -> impl Iterator<Item = (ItemIndex, &T)> {
    recipe.active_steps().flat_map(|(step, found)| {
        let items = T::items(&found.operation).map_or(&[][..], |items| items.as_slice());
        items.iter().enumerate().map(move |(item, found)| (ItemIndex { step, item }, found))
    })
}

fn items_mut<T: BoxItem>(recipe: &mut Recipe, step: usize) -> Option<&mut List<T>> {
    T::items_mut(&mut recipe.stack.get_mut(step)?.operation)
}

fn item_at<T: BoxItem>(recipe: &Recipe, index: ItemIndex) -> Option<&T> {
    T::items(&recipe.stack.get(index.step)?.operation)?.get(index.item)
}

/// Replaces an item. An item that is the same leaves the list alone, which is shared with the document.
fn replace<T: BoxItem>(recipe: &mut Recipe, index: ItemIndex, item: T) {
    if item_at(recipe, index).is_some_and(|known: &T| *known != item)
        && let Some(items) = items_mut::<T>(recipe, index.step)
    {
        items[index.item] = item;
    }
}
