//! Controls for several numbers: bands, limits, places and matrices.

use egui::{Label, Response, RichText, Ui};

use super::context::{ParameterContext, ParameterState};
use super::label::label_ui;
use super::number::{field_width, number_field};
use crate::app::widgets::band_slider::band_slider;
use crate::app::widgets::theme::colours;
use crate::app::widgets::typed_number::unit_text;
use crate::engine::cast::ToFloat;
use crate::engine::parameters::{Band, Limits, Matrix, Parameter, Point, Value};

/// Half of the available width, for two fields next to each other.
pub(super) fn half_width(ui: &Ui) -> f32 {
    0.5 * (ui.available_width() - ui.spacing().item_spacing.x)
}

/// A slider with two handles above two fields.
fn band_control(ui: &mut Ui, parameter: &Parameter, band: &mut [f64; 2], label: &Response, state: &mut ParameterState) {
    band_slider(ui, band, parameter.slider, &mut state.band_slider).labelled_by(label.id);
    let [low, high] = band;
    ui.horizontal(|ui| pair_ui(ui, parameter, [(low, "From"), (high, "To")], label, state));
}

/// Two fields with their tooltips, next to each other or, if they are too long for that, one below the other.
fn pair_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    fields: [(&mut f64, &str); 2],
    label: &Response,
    state: &mut ParameterState,
) {
    let half = half_width(ui);
    let fits = fields.iter().all(|(number, _)| field_width(ui, parameter, **number) <= half);
    let width = if fits { half } else { ui.available_width() };
    let fields_ui = |ui: &mut Ui| {
        for (number, doc) in fields {
            number_field(ui, parameter, number, width, state).labelled_by(label.id).on_hover_text(doc);
        }
    };
    if fits { fields_ui(ui) } else { drop(ui.vertical(fields_ui)) }
}

pub(super) fn band_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    let Value::Band(Band { min, max }) = value else { return false };
    let before = [*min, *max];
    let mut band = before;
    ui.vertical(|ui| band_control(ui, parameter, &mut band, label, context.state));
    if band != before {
        let band = ordered(parameter, before, band, context.state);
        [*min, *max] = band.map(|limit| limit.clamp(parameter.hard.low, parameter.hard.high));
    }
    false
}

pub(super) fn limits_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    let Value::Limits(Limits { min, max, release }) = value else { return false };
    let before = [*min, *max];
    let mut band = before;
    ui.vertical(|ui| {
        band_control(ui, parameter, &mut band, label, context.state);
        ui.horizontal(|ui| {
            let width = half_width(ui);
            let height = ui.spacing().interact_size.y;
            let fade = ui.add_sized([width, height], Label::new(RichText::new("falloff").color(colours(ui).weak)));
            let field = number_field(ui, parameter, release, width, context.state);
            field.labelled_by(fade.id).on_hover_text("Width of the fade outside the limits");
        });
    });
    [*min, *max] = ordered(parameter, before, band, context.state);
    *release = release.max(0.0);
    false
}

/// A band after one limit was moved: a limit that crosses the other one pushes it along, with a message.
fn ordered(parameter: &Parameter, before: [f64; 2], [low, high]: [f64; 2], state: &mut ParameterState) -> [f64; 2] {
    if low <= high {
        return [low, high];
    }
    let (moved, other) = if low == before[0] { (high, "lower") } else { (low, "upper") };
    let unit = unit_text(parameter.unit);
    state.say(format!(
        "{}: the {other} limit was moved to {moved}{unit} too, so that the limits do not cross",
        parameter.label
    ));
    [moved; 2]
}

pub(super) fn point_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    let Value::Point(Point { x_m, z_m }) = value else { return false };
    let fields = [(x_m, "East of the west border"), (z_m, "South of the north border")];
    pair_ui(ui, parameter, fields, label, context.state);
    false
}

/// The choice of the side, and the numbers as they are on the map.
pub(super) fn matrix_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, context: &mut ParameterContext) -> bool {
    let label = ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, value, context);
        if let Value::Matrix(matrix) = value {
            for side in Matrix::SIDES {
                let is_current = matrix.side() == side;
                if ui.selectable_label(is_current, format!("{side} × {side}")).clicked() && !is_current {
                    *matrix = matrix.resized(side);
                }
            }
        }
        label
    });
    let Value::Matrix(matrix) = value else { return false };
    let (gap, side) = (2.0, matrix.side());
    let width = (ui.available_width() - gap * (side - 1).to_f32()) / side.to_f32();
    for row in matrix.numbers_mut().chunks_exact_mut(side) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for number in row {
                number_field(ui, parameter, number, width, context.state).labelled_by(label.inner.id);
            }
        });
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::mask::Mask;
    use crate::engine::parameters::Parameters;

    #[test]
    fn a_moved_limit_pushes_the_other_one_with_a_message() {
        let parameter = Parameter { unit: "m", ..Mask::parameters()[0].clone() };
        let label = parameter.label;
        let lower = format!("{label}: the lower limit was moved to 0.1 m too, so that the limits do not cross");
        let upper = format!("{label}: the upper limit was moved to 0.7 m too, so that the limits do not cross");
        for (before, band, expected, message) in [
            ([0.2, 0.6], [0.2, 0.5], [0.2, 0.5], None),
            ([0.2, 0.6], [0.2, 0.1], [0.1, 0.1], Some(&*lower)),
            ([0.2, 0.6], [0.7, 0.6], [0.7, 0.7], Some(&*upper)),
        ] {
            let mut state = ParameterState::default();
            assert_eq!(ordered(&parameter, before, band, &mut state), expected, "{before:?} to {band:?}");
            assert_eq!(state.take_message().as_deref(), message, "{before:?} to {band:?}");
        }
    }
}
