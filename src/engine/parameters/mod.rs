//! The parameters of operations and settings.
//!
//! The `parameters!` macro declares a struct together with its table: key, label, unit, kind, hard range, slider range,
//! scale, default and doc sentence of every field. The editor's sliders, `--set`, the `operations` listing, the checks
//! of project files and the property tests all use that table, so a parameter is declared nowhere else.
//!
//! Code that does not know a struct's type reads and writes its fields as typed [`Value`]s through [`Group`]. JSON is
//! used only where values enter and leave the program: see [`set_from_json`] and [`group_to_json`].

mod error;
mod group;
mod json;
mod lengths;
mod list;
mod macros;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod types;
mod value;
mod words;

pub use self::error::{ParameterError, Problem, nearest_name, not_a_list, not_an_object};
pub use self::group::{Field, Group, Parameters, find_parameter, group_values};
pub use self::json::{field_from_json, group_from_json, group_to_json, set_from_json, table_to_json};
pub use self::lengths::scale_lengths;
pub use self::list::List;
pub use self::macros::{choices, parameters};
pub use self::schema::{object_schema, table_to_schema};
pub use self::table::{Choice, Kind, Parameter, Scale, Spec, fraction_of, kind_label, percent_of};
pub(crate) use self::types::MAX_COORDINATE_M;
pub use self::types::{Band, Colour, FileName, Limits, Matrix, Point, Range, TextureName, Weighted};
pub use self::value::{Items, Value, Values};
pub use self::words::{grouped, ordinal, short_number, uncapitalised};
