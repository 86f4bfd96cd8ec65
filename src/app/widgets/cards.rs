//! Lists of cards that are selected, switched, renamed, duplicated, deleted and reordered.

use egui::{
    Align, CursorIcon, DragAndDrop, Frame, Id, Layout, Margin, Rect, Response, Role, Sense, Stroke, TextureId, Ui,
    UiBuilder, Vec2, WidgetInfo,
};
use egui_material_icons::icons::{
    ICON_CONTENT_COPY, ICON_DELETE, ICON_DRAG_INDICATOR, ICON_KEYBOARD_ARROW_DOWN, ICON_KEYBOARD_ARROW_RIGHT,
    ICON_VISIBILITY, ICON_VISIBILITY_OFF,
};

use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{icon_button, note_ui, solo_button};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::parameters::Colour;

/// The width of the handle at the left of a card, points.
const HANDLE_WIDTH: f32 = 10.0;

/// How far a card is indented for each card that holds it, points.
const INDENT: f32 = 14.0;

/// How far a card may be dragged sideways out of its list and still be dropped there, points.
const DROP_MARGIN: f32 = 80.0;

/// The distance from the visible end of a list at which a dragged card scrolls it, and the step per frame, points.
const SCROLL_MARGIN: f32 = 16.0;
const SCROLL_STEP: f32 = 6.0;

/// What a card of a list shows.
pub(crate) struct Card<'a> {
    pub(crate) name: &'a str,
    pub(crate) enabled: &'a mut bool,
    /// A colour to choose, before the name.
    pub(crate) colour: Option<&'a mut Colour>,
    /// A thumbnail after the colour; `Some(None)` leaves room for one that is not ready.
    pub(crate) thumbnail: Option<Option<TextureId>>,
    /// Whether it is the only one that is shown, if that can be chosen.
    pub(crate) solo: Option<bool>,
    pub(crate) selected: bool,
    /// Small text at the right of a card that is not selected.
    pub(crate) note: String,
    /// What the note says.
    pub(crate) note_doc: &'static str,
    pub(crate) doc: &'a str,
    /// Actions of the context menu besides those that every card has.
    pub(crate) actions: &'a [CardAction],
    /// Progress from 0 to 1, shown as a bar until it is complete.
    pub(crate) progress: Option<f32>,
    /// Whether the cards in it are listed, if it holds others.
    pub(crate) open: Option<bool>,
}

/// A card in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CardRow {
    /// The index of its item.
    pub(crate) index: usize,
    /// The number of cards that hold it.
    pub(crate) depth: usize,
    /// Whether cards can be dropped into it, below it in the list.
    pub(crate) is_open: bool,
}

impl CardRow {
    /// A card that neither is in others nor holds any.
    pub(crate) fn single(index: usize) -> Self {
        Self { index, depth: 0, is_open: false }
    }
}

/// Where a dragged card is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DropPlace {
    /// The index of the item whose row it gets, among the rows without depth.
    pub(crate) to: usize,
    /// The index of the item in the row below.
    pub(crate) below: Option<usize>,
    pub(crate) depth: usize,
}

/// What the user does with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CardAction {
    Select,
    /// Selects the cards up to this one, too.
    SelectTo,
    Delete,
    Duplicate,
    Solo,
    Rename,
    ShowUpToHere,
    MoveUp,
    MoveDown,
    /// Lists the cards in it, or no longer.
    Fold,
    Group,
    Ungroup,
    Drop(DropPlace),
}

impl CardAction {
    /// The name in menus.
    fn text(self) -> &'static str {
        match self {
            Self::Select => "Select",
            Self::SelectTo => "Select up to here",
            Self::Delete => "Delete",
            Self::Duplicate => "Duplicate",
            Self::Solo => "Show only this",
            Self::Rename => "Rename",
            Self::ShowUpToHere => "Move the playhead to the end of this step",
            Self::MoveUp => "Move up",
            Self::MoveDown => "Move down",
            Self::Fold => "Fold or unfold",
            Self::Group => "Group",
            Self::Ungroup => "Ungroup",
            Self::Drop(_) => "Move",
        }
    }
}

/// What the user did with a card that was drawn.
pub(crate) struct CardResponse {
    pub(crate) action: Option<CardAction>,
    /// The part of the card that can be dragged.
    header: Response,
}

impl Card<'_> {
    /// Draws the card, with `body` below its row.
    pub(crate) fn ui(self, ui: &mut Ui, body: impl FnOnce(&mut Ui)) -> CardResponse {
        let colours = colours(ui);
        let fill = if self.selected { colours.hovered } else { colours.raised };
        let stroke = if self.selected { colours.accent } else { colours.raised };
        let frame =
            Frame::new().fill(fill).stroke((1.0, stroke)).corner_radius(4.0).inner_margin(Margin::symmetric(4, 1));
        let progress = self.progress;
        let shown = frame.show(ui, |ui| {
            let response = ui.horizontal(|ui| self.row_ui(ui)).inner;
            body(ui);
            response
        });
        if let Some(progress) = progress.filter(|progress| *progress < 1.0) {
            let (left, right) = (shown.response.rect.left() + 4.0, shown.response.rect.right() - 4.0);
            let y = shown.response.rect.bottom() - 1.0;
            ui.painter().hline(left..=right, y, Stroke::new(1.5, colours.line));
            ui.painter().hline(left..=left + (right - left) * progress, y, Stroke::new(1.5, colours.accent));
        }
        shown.inner
    }

    fn row_ui(mut self, ui: &mut Ui) -> CardResponse {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.spacing_mut().button_padding.x = 2.0;
        let handle = handle_ui(ui);
        let folded = self.open.is_some_and(|open| {
            let (icon, verb) =
                if open { (ICON_KEYBOARD_ARROW_DOWN, "Fold") } else { (ICON_KEYBOARD_ARROW_RIGHT, "Unfold") };
            icon_button(ui, icon, &format!("{verb} {}", self.name)).clicked()
        });
        let (icon, verb) = if *self.enabled { (ICON_VISIBILITY, "Disable") } else { (ICON_VISIBILITY_OFF, "Enable") };
        if icon_button(ui, icon, &format!("{verb} {}", self.name)).clicked() {
            *self.enabled = !*self.enabled;
        }
        if let Some(Colour(srgb)) = self.colour.as_deref_mut() {
            ui.spacing_mut().interact_size.x = 24.0;
            let button = ui.color_edit_button_srgb(srgb).on_hover_text("Colour");
            button.widget_info(|| WidgetInfo::labeled(Role::ColorWell, true, format!("Colour of {}", self.name)));
        }
        if let Some(thumbnail) = self.thumbnail {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(18.0), Sense::hover());
            if let Some(texture) = thumbnail {
                egui::Image::new((texture, rect.size())).corner_radius(2.0).paint_at(ui, rect);
            }
        }
        // From right to left, so that the name gets the remaining width and is truncated if it is too long.
        let right = Layout::right_to_left(Align::Center);
        let (clicked, name) = ui.with_layout(right, |ui| (self.buttons_ui(ui), self.name_ui(ui))).inner;
        let CardResponse { action, header } = name;
        let header = header | handle.on_hover_cursor(CursorIcon::Grab);
        CardResponse { action: action.or(clicked).or(folded.then_some(CardAction::Fold)), header }
    }

    /// The buttons at the right of the card.
    fn buttons_ui(&self, ui: &mut Ui) -> Option<CardAction> {
        let mut action = None;
        if self.selected {
            ui.spacing_mut().item_spacing.x = 0.0;
            for (icon, found) in [(ICON_DELETE, CardAction::Delete), (ICON_CONTENT_COPY, CardAction::Duplicate)] {
                if icon_button(ui, icon, &format!("{} {}", found.text(), self.name)).clicked() {
                    action = Some(found);
                }
            }
        } else {
            let note = note_ui(ui, &self.note);
            let note = if self.note.is_empty() { note } else { note.on_hover_text(self.note_doc) };
            if note.clicked() {
                action = Some(CardAction::Select);
            }
        }
        if let Some(alone) = self.solo {
            let verb = if alone { "Show all types, not only" } else { "Show only" };
            if solo_button(ui, alone, &format!("{verb} {}", self.name)).clicked() {
                action = Some(CardAction::Solo);
            }
        }
        action
    }

    /// The name, which selects and drags the card and has its context menu.
    fn name_ui(&mut self, ui: &mut Ui) -> CardResponse {
        let mut action = None;
        let colour = if *self.enabled { colours(ui).text } else { colours(ui).weak };
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let text = egui::RichText::new(self.name).color(colour);
        let mut inside = ui.new_child(UiBuilder::new().max_rect(rect).layout(Layout::left_to_right(Align::Center)));
        inside.add(egui::Label::new(text).truncate().selectable(false));
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, self.selected, self.name));
        if response.clicked() {
            let extends = ui.input(|input| input.modifiers.shift || input.modifiers.command);
            action = Some(if extends { CardAction::SelectTo } else { CardAction::Select });
        }
        if response.double_clicked() && self.actions.contains(&CardAction::Rename) {
            action = Some(CardAction::Rename);
        }
        response.context_menu(|ui| {
            let verb = if *self.enabled { "Disable" } else { "Enable" };
            if ui.button(verb).clicked() {
                *self.enabled = !*self.enabled;
            }
            for found in self.actions.iter().chain(&[CardAction::Duplicate, CardAction::Delete]) {
                if ui.button(found.text()).clicked() {
                    action = Some(*found);
                }
            }
            ui.separator();
            for found in [CardAction::MoveUp, CardAction::MoveDown] {
                if ui.button(found.text()).clicked() {
                    action = Some(found);
                }
            }
        });
        let header = if self.doc.is_empty() { response } else { response.on_hover_text(self.doc) };
        CardResponse { action, header }
    }
}

/// The handle by which a card is dragged.
fn handle_ui(ui: &mut Ui) -> Response {
    let size = Vec2::new(HANDLE_WIDTH, ui.spacing().interact_size.y);
    let (rect, handle) = ui.allocate_exact_size(size, Sense::DRAG);
    let is_active = handle.hovered() || handle.dragged();
    let colour = if is_active { colours(ui).text } else { colours(ui).weak.gamma_multiply(0.6) };
    let dots = ICON_DRAG_INDICATOR.rich_text().size(14.0).color(colour);
    let middle = Rect::from_center_size(rect.center(), Vec2::splat(14.0));
    ui.new_child(UiBuilder::new().max_rect(middle)).add(egui::Label::new(dots).selectable(false));
    handle
}

/// The card that is being dragged.
#[derive(Clone, Copy, Debug)]
struct DraggedCard {
    list: Id,
    index: usize,
    /// Where it was pressed, from the left.
    pressed_x: f32,
}

/// Draws the cards of these rows from top to bottom, and returns the action on one of them. A card is dragged by its
/// handle or its name, sideways into and out of the cards that hold others; a line shows where it would be dropped, and
/// Escape cancels.
pub(crate) fn cards_ui(
    ui: &mut Ui,
    rows: &[CardRow],
    heights: &mut RowHeights,
    mut card_ui: impl FnMut(&mut Ui, usize) -> CardResponse,
) -> Option<(usize, CardAction)> {
    let list = ui.scope_id().with("cards");
    let dragged = DragAndDrop::payload::<DraggedCard>(ui.ctx()).filter(|dragged| dragged.list == list);
    let (dragged, pressed_x) =
        (dragged.as_ref().map(|dragged| dragged.index), dragged.map(|dragged| dragged.pressed_x));
    let (mut action, mut drag_started) = (None, false);
    let drawn = heights.rows_ui(ui, rows.len(), |ui, at| {
        let CardRow { index, depth, .. } = rows[at];
        let mut place = ui.available_rect_before_wrap();
        place.min.x += INDENT * depth.to_f32();
        let builder = UiBuilder::new().max_rect(place).id_salt(index);
        let shown = ui.scope_builder(builder, |ui| {
            if dragged == Some(index) {
                ui.multiply_opacity(0.4);
            }
            card_ui(ui, index)
        });
        drag_started |= shown.inner.header.drag_started();
        action = action.or(shown.inner.action.map(|found| (index, found)));
        shown.response.rect
    });
    // The card under the press: in a slow frame the pointer may already be over another one.
    let origin = ui.input(|input| input.pointer.press_origin()).filter(|_| drag_started);
    if let Some(origin) = origin
        && let Some((at, _)) = drawn.iter().find(|(_, rect)| rect.contains(origin))
    {
        DragAndDrop::set_payload(ui.ctx(), DraggedCard { list, index: rows[*at].index, pressed_x: origin.x });
    }
    action.or_else(|| {
        let from = rows.iter().position(|row| dragged == Some(row.index))?;
        let (place, dropped) = drop_target_ui(ui, &drawn, rows, from, pressed_x?)?;
        dropped.then(|| (rows[from].index, CardAction::Drop(place)))
    })
}

/// Shows where the card at position `from` would be dropped among the cards that are drawn; returns that place and
/// whether it is dropped there in this frame; `None` where it would stay, also far outside the list.
fn drop_target_ui(
    ui: &Ui,
    drawn: &[(usize, Rect)],
    rows: &[CardRow],
    from: usize,
    pressed_x: f32,
) -> Option<(DropPlace, bool)> {
    let (pointer, dropped) = ui.input(|input| (input.pointer.latest_pos(), input.pointer.any_released()));
    let (first, top_card) = drawn.first()?;
    let left = top_card.left() - INDENT * rows[*first].depth.to_f32();
    let across = egui::Rangef::new(left, top_card.right());
    let pointer = pointer.filter(|pointer| across.expand(DROP_MARGIN).contains(pointer.x))?;
    let visible = ui.clip_rect().y_range();
    if !dropped && (pointer.y < visible.min + SCROLL_MARGIN || pointer.y > visible.max - SCROLL_MARGIN) {
        let step = if pointer.y > visible.center() { -SCROLL_STEP } else { SCROLL_STEP };
        ui.scroll_with_delta_animation(Vec2::new(0.0, step), egui::style::ScrollAnimation::none());
        ui.ctx().request_repaint();
    }
    let gap = gap_at(drawn, pointer.y);
    // How many levels to the right the pointer was dragged.
    let sideways = ((pointer.x - pressed_x) / INDENT).round().to_i64();
    let place = place_in_gap(rows, from, first + gap, sideways)?;
    let across = egui::Rangef::new(left + INDENT * place.depth.to_f32(), across.max);
    let half = 0.5 * ui.spacing().item_spacing.y;
    let y = match gap.checked_sub(1) {
        Some(above) => drawn[above].1.bottom() + half,
        None => top_card.top() - half,
    };
    // The first gap may be clipped by a fraction of a point.
    let y = y.clamp(visible.min + 1.0, (visible.max - 1.0).max(visible.min + 1.0));
    let accent = colours(ui).accent;
    ui.painter().hline(across, y, Stroke::new(2.0, accent));
    for x in [across.min + 1.0, across.max - 1.0] {
        ui.painter().circle_filled(egui::pos2(x, y), 3.0, accent);
    }
    Some((place, dropped))
}

/// The gap between the drawn cards that is nearest to `y`: 0 is above the first of them.
fn gap_at(drawn: &[(usize, Rect)], y: f32) -> usize {
    drawn.iter().filter(|(_, rect)| rect.center().y < y).count()
}

/// The place of the card at position `from` after it is dropped into a gap, `sideways` levels to the right of where it
/// was; `None` if it stays where it is.
fn place_in_gap(rows: &[CardRow], from: usize, gap: usize, sideways: i64) -> Option<DropPlace> {
    let own = rows[from];
    let members = rows[from + 1..].iter().take_while(|row| row.depth > own.depth).count();
    let end = from + members + 1;
    let is_same = (from..=end).contains(&gap);
    let (above, below) = if is_same { (from.checked_sub(1), end) } else { (gap.checked_sub(1), gap) };
    let (above, below) = (above.map(|at| rows[at]), rows.get(below));
    let least = below.map_or(0, |row| row.depth);
    let most = above.map_or(0, |row| row.depth + usize::from(row.is_open)).max(least);
    let is_empty = above.is_some_and(|row| row.is_open && least <= row.depth);
    // A card that holds none yet takes those that are dropped below it.
    let wanted =
        if is_empty && sideways >= 0 { most } else { usize::try_from(own.depth.to_i64() + sideways).unwrap_or(0) };
    let depth = wanted.clamp(least, most);
    let to = rows[if is_same {
        from
    } else if gap > from {
        gap - 1
    } else {
        gap
    }]
    .index;
    let is_moved = !is_same || depth != own.depth && !(is_empty && sideways == 0);
    is_moved.then_some(DropPlace { to, below: below.map(|row| row.index), depth })
}

/// The new index of the item at `at` after the item at `from` was moved to `to`.
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
    fn cards_are_dropped_into_the_gap_under_the_pointer() {
        let rect = |i| Rect::from_min_size(egui::pos2(0.0, 20.0 * i as f32), Vec2::new(50.0, 16.0));
        let drawn: Vec<(usize, Rect)> = (0..3).map(|i| (i, rect(i))).collect();
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
            let place = place_in_gap(&[0, 1, 2].map(CardRow::single), from, gap_at(&drawn, y), 0);
            assert_eq!(place.map(|place| place.to), expected, "{from} at {y}");
        }
    }

    #[test]
    fn cards_are_dropped_into_and_out_of_others() {
        let row = |index, depth, is_open| CardRow { index, depth, is_open };
        // From top to bottom: a card, one that holds two, an empty one, a card.
        let rows =
            [row(5, 0, false), row(4, 0, true), row(3, 1, false), row(2, 1, false), row(1, 0, true), row(0, 0, false)];
        let place =
            |from, gap, sideways| place_in_gap(&rows, from, gap, sideways).map(|place| (place.below, place.depth));
        assert_eq!(place(0, 2, 0), Some((Some(3), 1)), "only in it, directly below");
        assert_eq!(place(0, 3, 0), Some((Some(2), 1)));
        assert_eq!(
            (place(0, 4, 0), place(0, 4, 1)),
            (Some((Some(1), 0)), Some((Some(1), 1))),
            "below it, or at its end"
        );
        assert_eq!((place(0, 5, 0), place(0, 5, -1)), (Some((Some(0), 1)), Some((Some(0), 0))), "the empty one");
        assert_eq!((place(0, 6, 0), place(0, 6, 3)), (Some((None, 0)), Some((None, 0))));
        assert_eq!((place(3, 4, 0), place(3, 4, -1)), (None, Some((Some(1), 0))), "out of it at the same place");
        assert_eq!((place(2, 0, 0), place(2, 4, 0)), (Some((Some(5), 0)), Some((Some(1), 1))));
        assert_eq!((place(1, 3, 0), place(1, 5, 0), place(1, 0, 0)), (None, Some((Some(0), 1)), Some((Some(5), 0))));
        assert_eq!(place(5, 5, 0), None, "where it was, although the card above is empty");
    }

    #[test]
    fn indices_follow_a_move() {
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
