//! Lists of cards: what stands on a card, and how cards are put in another order.

use egui::{
    Align, DragAndDrop, Frame, Id, Layout, Margin, Rect, Response, Role, Sense, Stroke, Ui, UiBuilder, Vec2, WidgetInfo,
};
use egui_material_icons::icons::{
    ICON_CONTENT_COPY, ICON_DELETE, ICON_DRAG_INDICATOR, ICON_VISIBILITY, ICON_VISIBILITY_OFF,
};

use crate::app::widgets::theme::colours;
use crate::app::widgets::{icon_button, note_ui, solo_button};
use crate::engine::parameters::Colour;

/// The width of the handle at the left of a card, points.
const HANDLE: f32 = 10.0;

/// How far beside its list a card may be dragged and still lands in it, points.
const REACH: f32 = 80.0;

/// How near the end of what is seen of a list a dragged card makes it scroll, and how far each frame, points.
const SCROLL_MARGIN: f32 = 16.0;
const SCROLL_STEP: f32 = 6.0;

/// What a card of a list shows and does.
pub(crate) struct Card<'a> {
    pub(crate) name: &'a str,
    pub(crate) enabled: &'a mut bool,
    /// A colour to choose, before the name.
    pub(crate) colour: Option<&'a mut Colour>,
    /// A small picture behind the colour; its place is kept as long as it is not there.
    pub(crate) picture: Option<Option<egui::TextureId>>,
    /// Whether it is the only one that is shown, if it can be.
    pub(crate) solo: Option<bool>,
    pub(crate) selected: bool,
    /// Small print at the right of a card that is not selected.
    pub(crate) note: String,
    pub(crate) doc: &'a str,
    /// What can be done with it beside what can be done with every card.
    pub(crate) more: &'a [CardAction],
    /// How far it has come, from 0 to 1, if that is to be seen.
    pub(crate) progress: Option<f32>,
}

/// What the user does with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CardAction {
    Select,
    Delete,
    Duplicate,
    Solo,
    Rename,
    SeekToStep,
    /// It is to have that place in the list.
    MoveTo(usize),
}

impl CardAction {
    /// The name in menus.
    fn text(self) -> &'static str {
        match self {
            Self::Select => "Select",
            Self::Delete => "Delete",
            Self::Duplicate => "Duplicate",
            Self::Solo => "Show only this",
            Self::Rename => "Rename",
            Self::SeekToStep => "Show the land up to here",
            Self::MoveTo(_) => "Move",
        }
    }
}

/// A card that was drawn.
pub(crate) struct CardResponse {
    pub(crate) deed: Option<CardAction>,
    /// How far down the list it is to go.
    down: Option<isize>,
    /// What the card is taken by.
    header: Response,
}

impl Card<'_> {
    /// Draws the card, and `below` it what belongs to it.
    pub(crate) fn ui(self, ui: &mut Ui, below: impl FnOnce(&mut Ui)) -> CardResponse {
        let colours = colours(ui);
        let fill = if self.selected { colours.hovered } else { colours.raised };
        let stroke = if self.selected { colours.accent } else { colours.raised };
        let frame =
            Frame::new().fill(fill).stroke((1.0, stroke)).corner_radius(4.0).inner_margin(Margin::symmetric(4, 1));
        let progress = self.progress;
        let shown = frame.show(ui, |ui| {
            let drawn = ui.horizontal(|ui| self.row_ui(ui)).inner;
            below(ui);
            drawn
        });
        if let Some(progress) = progress.filter(|progress| *progress < 1.0) {
            let (left, right) = (shown.response.rect.left() + 4.0, shown.response.rect.right() - 4.0);
            let y = shown.response.rect.bottom() - 1.0;
            ui.painter().hline(left..=right, y, Stroke::new(1.5, colours.line));
            ui.painter().hline(left..=left + (right - left) * progress, y, Stroke::new(1.5, colours.accent));
        }
        shown.inner
    }

    fn row_ui(self, ui: &mut Ui) -> CardResponse {
        let Self { name, enabled, colour, picture, solo, selected, note, doc, more, progress: _ } = self;
        let (mut deed, mut down) = (None, None);
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.spacing_mut().button_padding.x = 2.0;
        let height = ui.spacing().interact_size.y;
        let (rect, handle) = ui.allocate_exact_size(Vec2::new(HANDLE, height), Sense::DRAG);
        let lit =
            if handle.hovered() || handle.dragged() { colours(ui).text } else { colours(ui).weak.gamma_multiply(0.6) };
        let dots = ICON_DRAG_INDICATOR.rich_text().size(14.0).color(lit);
        let middle = Rect::from_center_size(rect.center(), Vec2::splat(14.0));
        ui.new_child(UiBuilder::new().max_rect(middle)).add(egui::Label::new(dots).selectable(false));
        let (icon, verb) = if *enabled { (ICON_VISIBILITY, "Switch off") } else { (ICON_VISIBILITY_OFF, "Switch on") };
        if icon_button(ui, icon, &format!("{verb} {name}")).clicked() {
            *enabled = !*enabled;
        }
        if let Some(Colour(srgb)) = colour {
            ui.spacing_mut().interact_size.x = 24.0;
            let button = ui.color_edit_button_srgb(srgb).on_hover_text("Colour");
            button.widget_info(|| WidgetInfo::labeled(Role::ColorWell, true, format!("Colour of {name}")));
        }
        if let Some(texture) = picture {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(18.0), Sense::hover());
            if let Some(texture) = texture {
                egui::Image::new((texture, rect.size())).corner_radius(2.0).paint_at(ui, rect);
            }
        }
        // From the right, so that the name gets what is left and is cut where it is too long.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if selected {
                ui.spacing_mut().item_spacing.x = 0.0;
                for (icon, found, verb) in [
                    (ICON_DELETE, CardAction::Delete, "Delete"),
                    (ICON_CONTENT_COPY, CardAction::Duplicate, "Duplicate"),
                ] {
                    if icon_button(ui, icon, &format!("{verb} {name}")).clicked() {
                        deed = Some(found);
                    }
                }
            } else {
                note_ui(ui, &note);
            }
            if let Some(alone) = solo {
                let verb = if alone { "Show all types, not only" } else { "Show only" };
                if solo_button(ui, alone, &format!("{verb} {name}")).clicked() {
                    deed = Some(CardAction::Solo);
                }
            }
            let colour = if *enabled { colours(ui).text } else { colours(ui).weak };
            let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
            let text = egui::RichText::new(name).color(colour);
            let mut inside = ui.new_child(UiBuilder::new().max_rect(rect).layout(Layout::left_to_right(Align::Center)));
            inside.add(egui::Label::new(text).truncate().selectable(false));
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, name));
            if response.clicked() {
                deed = Some(CardAction::Select);
            }
            if response.double_clicked() && more.contains(&CardAction::Rename) {
                deed = Some(CardAction::Rename);
            }
            response.context_menu(|ui| {
                if ui.button(verb).clicked() {
                    *enabled = !*enabled;
                }
                for found in more.iter().chain(&[CardAction::Duplicate, CardAction::Delete]) {
                    if ui.button(found.text()).clicked() {
                        deed = Some(*found);
                    }
                }
                ui.separator();
                for (name, by) in [("Move up", -1), ("Move down", 1)] {
                    if ui.button(name).clicked() {
                        down = Some(by);
                    }
                }
            });
            let header = if doc.is_empty() { response } else { response.on_hover_text(doc) };
            CardResponse { deed, down, header: header | handle.on_hover_cursor(egui::CursorIcon::Grab) }
        })
        .inner
    }
}

/// A card on its way to another place in its list.
#[derive(Clone, Copy, Debug)]
struct Carried {
    list: Id,
    place: usize,
}

/// Draws the cards of a list, whose places in the document come from the top, and returns what is done to one of them.
/// A card is dragged by its handle or its name; a line shows where it would land, and Escape leaves it where it was.
pub(crate) fn cards_ui(
    ui: &mut Ui,
    places: &[usize],
    mut card_ui: impl FnMut(&mut Ui, usize) -> CardResponse,
) -> Option<(usize, CardAction)> {
    let list = ui.scope_id().with("cards");
    let carried = DragAndDrop::payload::<Carried>(ui.ctx()).filter(|carried| carried.list == list);
    let carried = carried.map(|carried| carried.place);
    let (mut deed, mut taken) = (None, false);
    let mut rects = Vec::with_capacity(places.len());
    for (at, &place) in places.iter().enumerate() {
        let shown = ui.push_id(place, |ui| {
            if carried == Some(place) {
                ui.multiply_opacity(0.4);
            }
            card_ui(ui, place)
        });
        taken |= shown.inner.header.drag_started();
        let beside = shown.inner.down.and_then(|by| places.get(at.checked_add_signed(by)?));
        let found = shown.inner.deed.or(beside.map(|to| CardAction::MoveTo(*to)));
        deed = deed.or(found.map(|found| (place, found)));
        rects.push(shown.response.rect);
    }
    // The card under the press: in a slow frame the pointer is over another one by now.
    let origin = ui.input(|input| input.pointer.press_origin()).filter(|_| taken);
    if let Some(at) = origin.and_then(|origin| rects.iter().position(|rect| rect.contains(origin))) {
        DragAndDrop::set_payload(ui.ctx(), Carried { list, place: places[at] });
    }
    deed.or_else(|| {
        let from = places.iter().position(|place| carried == Some(*place))?;
        let (to, dropped) = carried_ui(ui, &rects, from)?;
        dropped.then(|| (places[from], CardAction::MoveTo(places[to])))
    })
}

/// Shows where the card `from` the top would land, and returns that place and whether it is let go there; `None` where
/// it would stay, as it does far beside the list.
fn carried_ui(ui: &Ui, rects: &[Rect], from: usize) -> Option<(usize, bool)> {
    let (pointer, dropped) = ui.input(|input| (input.pointer.latest_pos(), input.pointer.any_released()));
    let across = rects.get(from)?.x_range();
    let pointer = pointer.filter(|pointer| across.expand(REACH).contains(pointer.x))?;
    let seen = ui.clip_rect().y_range();
    if !dropped && (pointer.y < seen.min + SCROLL_MARGIN || pointer.y > seen.max - SCROLL_MARGIN) {
        let step = if pointer.y > seen.center() { -SCROLL_STEP } else { SCROLL_STEP };
        ui.scroll_with_delta_animation(Vec2::new(0.0, step), egui::style::ScrollAnimation::none());
        ui.ctx().request_repaint();
    }
    let gap = gap_at(rects, pointer.y);
    let to = place_in_gap(from, gap)?;
    let half = 0.5 * ui.spacing().item_spacing.y;
    let y = match gap.checked_sub(1) {
        Some(above) => rects[above].bottom() + half,
        None => rects[0].top() - half,
    };
    // The first gap may be out of sight by a hair.
    let y = y.clamp(seen.min + 1.0, (seen.max - 1.0).max(seen.min + 1.0));
    let accent = colours(ui).accent;
    ui.painter().hline(across, y, Stroke::new(2.0, accent));
    for x in [across.min + 1.0, across.max - 1.0] {
        ui.painter().circle_filled(egui::pos2(x, y), 3.0, accent);
    }
    Some((to, dropped))
}

/// The gap between cards that is nearest to a height: 0 is above the first of them.
fn gap_at(rects: &[Rect], y: f32) -> usize {
    rects.iter().filter(|rect| rect.center().y < y).count()
}

/// The place of the card `from` once it stands in that gap; `None` if it is where it was.
fn place_in_gap(from: usize, gap: usize) -> Option<usize> {
    let to = if gap > from { gap - 1 } else { gap };
    (to != from).then_some(to)
}

/// The place of what was at `at` once what was at `from` has been put to `to`.
pub(crate) fn index_after_move(at: usize, from: usize, to: usize) -> usize {
    if at == from {
        to
    } else if (from..=to).contains(&at) {
        at - 1
    } else if (to..=from).contains(&at) {
        at + 1
    } else {
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_land_in_the_gap_under_the_pointer_and_the_others_make_room() {
        let rects: Vec<Rect> =
            (0..3).map(|i| Rect::from_min_size(egui::pos2(0.0, 20.0 * i as f32), Vec2::new(50.0, 16.0))).collect();
        for (from, y, expected) in [
            (0, -30.0, None),
            (0, 25.0, None),
            (0, 30.0, Some(1)),
            (0, 90.0, Some(2)),
            (1, 20.0, None),
            (1, 5.0, Some(0)),
            (2, 5.0, Some(0)),
            (2, 20.0, Some(1)),
        ] {
            assert_eq!(place_in_gap(from, gap_at(&rects, y)), expected, "{from} at {y}");
        }
    }

    #[test]
    fn places_follow_a_move() {
        for (from, to) in [(0, 3), (3, 0), (1, 2), (2, 1), (2, 2)] {
            let mut list = vec![0, 1, 2, 3, 4];
            let moved = list.remove(from);
            list.insert(to, moved);
            for at in 0..5 {
                assert_eq!(list[index_after_move(at, from, to)], at, "{from} to {to}");
            }
        }
    }
}
