//! The state of the native window, and what the next window takes over from it.

use std::cell::RefCell;
use std::mem::Discriminant;
use std::rc::Rc;
use std::sync::Arc;

use egui::Context;

use crate::app::dialogs::modal::Modal;
use crate::app::document::Document;
use crate::app::event_order::EventOrder;
use crate::app::preview::playback::Playback;
use crate::app::tasks::autosave::Autosave;
use crate::app::tasks::settings::Settings;
use crate::app::views::View;
use crate::app::views::map_transform::MapViewport;
use crate::app::views::scene::SceneViewState;
use crate::worker::{Exporter, Wake};

/// A function that wakes the interface from another thread.
pub(crate) fn wake_of(ctx: &Context) -> Wake {
    let ctx = ctx.clone();
    Arc::new(move || ctx.request_repaint())
}

/// What the next window takes over from one that cannot continue.
pub(crate) struct WindowSnapshot {
    /// Why it cannot, and what was lost.
    pub(crate) reason: String,
    pub(crate) document: Document,
    pub(crate) playback: Playback,
    /// `None` where a running export could not be kept.
    pub(crate) exporter: Option<Exporter>,
    pub(crate) selected_step: usize,
    pub(crate) settings: Settings,
    pub(crate) autosave: Option<Autosave>,
    pub(crate) tree: egui_tiles::Tree<View>,
    pub(crate) viewport: MapViewport,
    pub(crate) view_state: SceneViewState,
    pub(crate) maximised: Option<View>,
}

/// Where a window leaves its snapshot for the next one.
pub(crate) type WindowSnapshotSlot = Rc<RefCell<Option<WindowSnapshot>>>;

/// Which window is open in front of the panels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OpenWindow {
    pub(crate) modal: Option<Discriminant<Modal>>,
    pub(crate) is_saving: bool,
    pub(crate) has_file_browser: bool,
    /// Whether a file dialog of the desktop is open or expected.
    pub(crate) is_waiting: bool,
    pub(crate) has_picker: bool,
}

/// The state of the native window.
#[derive(Default)]
pub(crate) struct WindowState {
    /// How many of the first frames are still to be drawn: see [`App::wait_for_first_frames`](super::App). Software drawing
    /// needs all cores for them, or the window opens later. The window is shown after the first and painted by the second.
    pub(crate) first_frames: u8,
    /// Where the snapshot goes when this window cannot continue; the program opens another window with it.
    pub(crate) snapshot: WindowSnapshotSlot,
    /// Whether the snapshot was taken.
    pub(crate) is_detached: bool,
    /// Whether the window is asked to close again, after the fields were left so that what was being typed is in the
    /// document.
    pub(crate) repeats_close: bool,
    /// The title the window has now.
    pub(crate) title: String,
    /// The keys and clicks that wait for the next frame.
    pub(crate) event_order: EventOrder,
    /// Whether a text field had the focus at the end of the last frame.
    pub(crate) was_editing: bool,
    /// Whether Escape has ended the editing of a field in this frame or the last one, and means nothing else.
    pub(crate) ends_editing: bool,
    /// Whether Escape is repeated in the next frame.
    pub(crate) repeats_escape: bool,
    /// The window in front of the panels that was open at the end of the last frame.
    pub(crate) drawn: OpenWindow,
}
