//! Modal windows.

use egui::{
    Align2, Area, Context, Frame, Id, Key, LayerId, Modal, ModalResponse, Modifiers, Order, Rect, Response, Ui, Vec2,
};

/// A modal window with a margin.
pub(crate) fn modal(name: &'static str, ctx: &Context) -> ModalWindow {
    let style = ctx.style_of(ctx.theme());
    ModalWindow::new(Modal::new(Id::unique(name)).frame(Frame::popup(&style).inner_margin(16.0)))
}

/// A modal window. Compared with egui's, its lists and menus are always in front of it, and Escape first ends the editing
/// of a field, unless [`Self::close_while_editing`] says otherwise.
pub(crate) struct ModalWindow {
    modal: Modal,
    closes_on_outside_click: bool,
    keeps_top: bool,
    escape_ends_editing: bool,
}

impl ModalWindow {
    /// A window that a click outside closes.
    pub(crate) fn new(modal: Modal) -> Self {
        Self { modal, closes_on_outside_click: true, keeps_top: false, escape_ends_editing: true }
    }

    /// A click outside does not close the window, so that it does not discard what was set in it.
    pub(crate) fn stay_on_outside_click(self) -> Self {
        Self { closes_on_outside_click: false, ..self }
    }

    /// The upper edge stays where it is when the contents become higher or lower.
    pub(crate) fn keep_top(self) -> Self {
        Self { keeps_top: true, ..self }
    }

    /// Escape closes the window even while a field is edited, because its fields apply only with a button.
    pub(crate) fn close_while_editing(self) -> Self {
        Self { escape_ends_editing: false, ..self }
    }

    /// Draws the window.
    pub(crate) fn show<T>(self, ctx: &Context, content: impl FnOnce(&mut Ui) -> T) -> ModalWindowResponse<T> {
        let Self { modal, closes_on_outside_click, keeps_top, escape_ends_editing } = self;
        let layer = modal.area.layer();
        let area = if keeps_top { kept_at_top(ctx, modal.area, layer.id) } else { modal.area };
        let modal = Modal { area, ..modal }.show(ctx, content);
        if keeps_top {
            keep_place(ctx, layer.id, modal.response.rect);
        }
        raise_popups(ctx, layer);
        let is_editing = ctx.text_edit_focused();
        let editing = layer.id.with("editing");
        let [last, before]: [bool; 2] = ctx.data_mut(|data| {
            let known: &mut [bool; 2] = data.get_temp_mut_or_default(editing);
            let [last, _] = *known;
            std::mem::replace(known, [is_editing, last])
        });
        let ModalResponse { response, backdrop_response, inner, is_top_modal, any_popup_open } = modal;
        ModalWindowResponse {
            inner,
            is_left: closes_on_outside_click && backdrop_response.clicked(),
            takes_escape: is_top_modal && !any_popup_open,
            ended_editing: escape_ends_editing && (last || before) && !is_editing,
            response,
        }
    }
}

/// The response of a modal window.
pub(crate) struct ModalWindowResponse<T> {
    /// What the contents returned.
    pub(crate) inner: T,
    response: Response,
    is_left: bool,
    takes_escape: bool,
    /// Whether a field was edited in one of the last two frames, and no field is any more: Escape that has ended the
    /// editing is repeated in the second one.
    ended_editing: bool,
}

impl<T> ModalWindowResponse<T> {
    /// Whether the user closes the window, with Escape or with a click outside.
    pub(crate) fn should_close(&self) -> bool {
        let ctx = &self.response.ctx;
        // Only the window that Escape is meant for takes the key.
        let escapes = || ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) && !self.ended_editing;
        self.is_left || self.response.should_close() || (self.takes_escape && escapes())
    }
}

/// The modal windows that were drawn, in their order, each with the last frame in which it was.
type DrawnWindows = Vec<(LayerId, u64)>;

/// Puts lists and menus above the window. egui raises a popup when it opens, but not above a window that is raised in the
/// same frame, as the window is that was pressed to open the popup. Of several windows the one that was drawn last is
/// above the others, and lists and menus belong to it.
fn raise_popups(ctx: &Context, window: LayerId) {
    let frame = ctx.cumulative_frame_nr();
    let (windows, is_top) = ctx.data_mut(|data| {
        let windows: &mut DrawnWindows = data.get_temp_mut_or_default(Id::unique("modal windows"));
        let top = windows.iter().rfind(|(_, drawn)| *drawn + 1 == frame).map(|(top, _)| *top);
        windows.retain(|(known, drawn)| *known != window && *drawn + 1 >= frame);
        windows.push((window, frame));
        (windows.clone(), top.is_none_or(|top| top == window))
    });
    if !is_top {
        return;
    }
    ctx.memory_mut(|memory| {
        let areas = memory.areas_mut();
        let is_popup =
            |layer: &LayerId| layer.order == Order::Foreground && windows.iter().all(|(window, _)| window != layer);
        let popups: Vec<LayerId> = areas.visible_layer_ids().into_iter().filter(is_popup).collect();
        popups.into_iter().for_each(|popup| areas.set_sublayer(window, popup));
    });
}

/// Where a window was in the last frames.
#[derive(Clone, Copy, Debug)]
struct Place {
    frame: u64,
    /// The window that contains it.
    screen: Rect,
    /// The upper edge; `None` in the first frame, which only measures the contents.
    top: Option<f32>,
}

fn place_id(window: Id) -> Id {
    window.with("place")
}

/// An area at the upper edge that the window had in the last frame, if it was shown then.
fn kept_at_top(ctx: &Context, area: Area, window: Id) -> Area {
    let (frame, screen) = (ctx.cumulative_frame_nr(), ctx.content_rect());
    let place = ctx.data(|data| data.get_temp::<Place>(place_id(window)));
    let place = place.filter(|place| place.frame + 1 >= frame && place.screen == screen);
    match place.and_then(|place| place.top) {
        Some(top) => area.anchor(Align2::CENTER_TOP, Vec2::new(0.0, top - screen.top())),
        None => area,
    }
}

/// Remembers where the window is.
fn keep_place(ctx: &Context, window: Id, rect: Rect) {
    let (frame, screen) = (ctx.cumulative_frame_nr(), ctx.content_rect());
    ctx.data_mut(|data| {
        let before = data.get_temp::<Place>(place_id(window));
        let before = before.filter(|place| place.frame + 1 >= frame && place.screen == screen);
        let top = before.map(|before| before.top.unwrap_or(rect.top()));
        data.insert_temp(place_id(window), Place { frame, screen, top });
    });
}
