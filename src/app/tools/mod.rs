//! Tools that edit or measure on the maps.

pub(crate) mod fault_tool;
pub(crate) mod profile_tool;
