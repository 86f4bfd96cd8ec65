//! Controls for parameters, built from their tables.

mod choice;
mod context;
mod label;
mod list;
mod number;
mod range;
mod row;
mod table;
mod texture;

pub(crate) use self::choice::name_ui;
pub(crate) use self::context::{Locks, ParameterContext, ParameterState, SliderOverride, TextureChoices};
pub(crate) use self::number::valid_number;
#[cfg(test)]
pub(crate) use self::row::initial_value;
pub(crate) use self::table::group_ui;
pub(crate) use self::texture::{texture_tiles_ui, texture_title};
