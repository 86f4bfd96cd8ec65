//! Tools that edit or measure on the views.

mod box_handles;
mod box_tool;
mod brush_stroke;
mod brush_tool;
pub(crate) mod context;
pub(crate) mod fault_tool;
mod marker_tool;
mod mask_overlay;
mod pad_tool;
mod parameter_fields;
mod path_tool;
pub(crate) mod profile_tool;
mod stamp_tool;
pub(crate) mod tool;
pub(crate) mod tool_bar;
pub(crate) mod tool_view;
