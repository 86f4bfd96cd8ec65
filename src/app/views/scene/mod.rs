//! The 3-D view: the terrain as a block, lit by the recipe's sun.
//!
//! It is drawn by `crate::scene` into an image of its own, and only when something has changed. Of its state only the
//! water level is part of the document.

mod controls;
mod fault_glow;
mod gpu;
mod navigation;
mod overlay;
pub(crate) mod pane;
mod picker;
pub(crate) mod render_dialog;
pub(crate) mod render_task;
#[cfg(test)]
mod tests;
mod tint;

pub(crate) use self::navigation::CameraPreset;
pub(crate) use self::pane::{SceneContext, ScenePane, SceneViewState};
pub(crate) use self::render_dialog::{RenderDialog, RenderDialogResponse};
pub(crate) use self::render_task::{RenderOutcome, RenderTask};
