//! Controls for numbers: a slider with a field, and what can be typed there.

use egui::{Align, Color32, DragValue, Layout, Response, Sense, Slider, SliderClamping, Ui, Vec2};

use super::context::{ParameterContext, ParameterState};
use crate::app::widgets::typed_number::{FieldText, Quantity};
use crate::engine::cast::ToInteger;
use crate::engine::parameters::{Kind, Parameter, Range, Scale, Value, fraction_of, percent_of};

/// The width of the column of numbers, points. Fields with longer numbers are wider.
const NUMBER_WIDTH: f32 = 68.0;

/// The space beside the text of a field, with its border, points.
const FIELD_PADDING: f32 = 5.0;

/// The end of a slider from which on its parameter is a coordinate on Earth, metres.
const MIN_COORDINATE_SLIDER: f64 = 1e6;

/// The narrowest slider beside a field, points. Where the field leaves less, the slider is above it.
const MIN_SLIDER_WIDTH: f32 = 40.0;

/// The most characters of a unit that fit into the column of numbers.
const MAX_UNIT_CHARS: usize = 7;

/// A slider and a field for a number.
pub(super) fn number_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    if parameter.is_percent {
        return percent_ui(ui, parameter, value, label, context);
    }
    let before = value.as_number().unwrap_or(parameter.slider.low);
    let mut number = before;
    // The numbers of the slider fit too, so that its width does not change while it is dragged.
    let numbers = [parameter.slider.low, parameter.slider.high, before];
    let width = numbers.map(|number| field_width(ui, parameter, number)).into_iter().fold(NUMBER_WIDTH, f32::max);
    let rest = ui.available_width() - width - ui.spacing().item_spacing.x;
    let is_beside = rest >= MIN_SLIDER_WIDTH;
    let slider_width = if is_beside { rest } else { ui.available_width() };
    let mut controls = |ui: &mut Ui| {
        ui.spacing_mut().slider_width = slider_width;
        let slider = Slider::new(&mut number, parameter.slider.low..=parameter.slider.high)
            .clamping(SliderClamping::Never)
            .logarithmic(parameter.scale == Scale::Logarithmic)
            .max_decimals(decimals(parameter))
            .show_value(false);
        // A slider that shows a value beyond its range must not change it, so only the user's changes count.
        if ui.add(slider).labelled_by(label.id).changed() {
            set_number(parameter, value, number);
        }
        let mut number = value.as_number().unwrap_or(before);
        let field = number_field(ui, parameter, &mut number, width, context.state).labelled_by(label.id);
        context.state.take_focus(&field);
        if field.changed() {
            set_number(parameter, value, number);
        }
    };
    if is_beside {
        controls(ui);
    } else {
        ui.with_layout(Layout::top_down(Align::Max), controls);
    }
    false
}

/// The same for a fraction that is shown in percent.
fn percent_ui(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    label: &Response,
    context: &mut ParameterContext,
) -> bool {
    let before = Value::Number(percent_of(value.as_number().unwrap_or(parameter.slider.low)));
    let mut percent = before.clone();
    let wants_file = number_ui(ui, &parameter.in_percent(), &mut percent, label, context);
    if let Some(changed) = percent.as_number().filter(|_| percent != before) {
        set_number(parameter, value, fraction_of(changed));
    }
    wants_file
}

fn set_number(parameter: &Parameter, value: &mut Value, number: f64) {
    let number = number.clamp(parameter.hard.low, parameter.hard.high);
    *value = match parameter.kind {
        Kind::Integer => Value::Integer(number.round().to_u32()),
        _ => Value::Number(number),
    };
}

/// The width of a field that shows all of a number.
pub(super) fn field_width(ui: &Ui, parameter: &Parameter, number: f64) -> f32 {
    text_width(ui, parameter, number, decimals_for(parameter, number)) + 2.0 * FIELD_PADDING
}

/// The width of the text of a number, rounded to at most so many decimals, as egui writes it.
fn text_width(ui: &Ui, parameter: &Parameter, number: f64, max_decimals: usize) -> f32 {
    let precision = f64::from(ui.input(|input| input.aim_radius())) / speed(parameter);
    let useful = libm::log10(precision).ceil().clamp(0.0, 15.0).to_usize();
    let least = if is_coordinate(parameter) { max_decimals } else { 0 };
    let style = ui.style();
    let formatted =
        || style.number_formatter.format(number, useful.clamp(least, max_decimals)..=max_decimals) + &suffix(parameter);
    let text = parameter.open_limit(number).map_or_else(formatted, String::from);
    let font = style.drag_value_text_style.resolve(style);
    ui.painter().layout_no_wrap(text, font, Color32::PLACEHOLDER).size().x
}

/// The change of a number when its field is dragged by a point.
fn speed(parameter: &Parameter) -> f64 {
    (parameter.slider.high - parameter.slider.low) / 400.0
}

/// A field for a number, which is rounded so that it fits into the width. A typed number that is not valid, or outside
/// the hard range, leaves it as it was and sets a message.
pub(super) fn number_field(
    ui: &mut Ui,
    parameter: &Parameter,
    number: &mut f64,
    width: f32,
    state: &mut ParameterState,
) -> Response {
    let before = *number;
    let text = FieldText::default();
    let formatter = ui.style().number_formatter.clone();
    let format = |number: f64, decimals| {
        text.shown(parameter.open_limit(number).map_or_else(|| formatter.format(number, decimals), String::from))
    };
    let parse = |typed: &str| text.parsed(typed, |typed| valid_number(parameter, typed));
    let fits = |decimals: &usize| text_width(ui, parameter, before, *decimals) + 2.0 * FIELD_PADDING <= width;
    let decimals = (0..=decimals_for(parameter, before)).rev().find(fits).unwrap_or(0);
    let field = DragValue::new(number)
        .range(parameter.hard.low..=parameter.hard.high)
        .speed(speed(parameter))
        .min_decimals(if is_coordinate(parameter) { decimals } else { 0 })
        .max_decimals(decimals)
        .suffix(if parameter.open_limit(before).is_some() { String::new() } else { suffix(parameter) })
        .custom_formatter(format)
        .custom_parser(parse)
        .update_while_editing(false);
    // In a fixed rectangle, so that a number in a narrow panel is clipped and does not widen it.
    let (rect, _) = ui.allocate_exact_size(Vec2::new(width, ui.spacing().interact_size.y), Sense::hover());
    let layout = Layout::centered_and_justified(egui::Direction::LeftToRight);
    let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(rect).layout(layout));
    inside.shrink_clip_rect(rect);
    inside.spacing_mut().button_padding.x = FIELD_PADDING - 1.0;
    let response = inside.add(field);
    // A drag begins at the end of the slider.
    if parameter.open_limit(before).is_some() && response.dragged() && *number != before {
        *number = number.clamp(parameter.slider.low, parameter.slider.high);
    }
    if let Some(message) = text.refused() {
        state.message = Some(message);
    }
    response
}

/// The number of decimals that suits the slider.
fn decimals(parameter: &Parameter) -> usize {
    let span = parameter.slider.high - parameter.slider.low;
    match (parameter.kind, parameter.scale) {
        (Kind::Integer, _) => 0,
        (_, Scale::Logarithmic) if parameter.slider.low < 1.0 => 2,
        _ if span > 1000.0 => 0,
        _ if span > 20.0 => 1,
        _ => 3,
    }
}

/// Whether a parameter is a coordinate on Earth.
fn is_coordinate(parameter: &Parameter) -> bool {
    matches!(parameter.kind, Kind::Number) && parameter.slider.high >= MIN_COORDINATE_SLIDER
}

/// The number of decimals of a field, with at least two for a small number and for a coordinate.
fn decimals_for(parameter: &Parameter, number: f64) -> usize {
    if is_coordinate(parameter) {
        // egui leaves decimals out that are small in comparison, whatever they are.
        let is_whole = |number: f64| (number - number.round()).abs() < 1e-4;
        return [number, 10.0 * number].into_iter().position(is_whole).unwrap_or(2);
    }
    let magnitude = number.abs();
    let least = match parameter.kind {
        Kind::Integer => 0,
        // Two digits of a very small number, or three where two would round it.
        _ if magnitude > 0.0 && magnitude < 0.1 => {
            let two = (1.0 - libm::floor(libm::log10(magnitude))).min(8.0);
            let scaled = magnitude * libm::pow(10.0, two);
            two.to_usize() + usize::from((scaled - scaled.round()).abs() > 1e-6)
        }
        _ if magnitude < 10.0 => 2,
        // The slider gives whole numbers, but others can be typed.
        _ => usize::from((number - number.round()).abs() > 1e-6),
    };
    decimals(parameter).max(least)
}

fn suffix(parameter: &Parameter) -> String {
    match parameter.unit {
        "°" => "°".into(),
        // Longer units do not fit into the column; the tooltip names them.
        unit if unit.is_empty() || unit.chars().count() > MAX_UNIT_CHARS => String::new(),
        unit => format!(" {unit}"),
    }
}

/// A typed number within the hard range, or why it does not count.
pub(crate) fn valid_number(parameter: &Parameter, text: &str) -> Result<f64, String> {
    let Range { low, high } = parameter.hard;
    let (label, unit) = (parameter.label, parameter.unit);
    Quantity { label, unit, limits: [low, high], is_whole: matches!(parameter.kind, Kind::Integer) }.valid(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::mask::Mask;
    use crate::engine::parameters::Parameters;

    #[test]
    fn a_limit_beyond_all_terrain_is_open() {
        let find = |key: &str| Mask::parameters().iter().find(|parameter| parameter.key == key).expect("a parameter");
        let (elevation, slope) = (find("elevation_m"), find("slope_deg"));
        let Value::Band(band) = elevation.default else { panic!("no band") };
        let found = [band.min, band.max, 1200.0].map(|metres| elevation.open_limit(metres));
        assert_eq!(found, [Some("lowest"), Some("highest"), None]);
        assert_eq!([0.0, 90.0].map(|degrees| slope.open_limit(degrees)), [None; 2], "no surface is steeper");
    }

    #[test]
    fn coordinates_have_as_many_decimals_as_they_need() {
        let northing = crate::engine::Origin::parameters().iter().find(|parameter| parameter.key == "northing_m");
        let northing = northing.expect("a parameter");
        let cases = [(4_649_778.0, 0), (4_649_778.5, 1), (-4_649_778.1, 1), (4_649_778.25, 2), (1.0 / 3.0, 2)];
        assert_eq!(cases.map(|(number, _)| decimals_for(northing, number)), cases.map(|(_, decimals)| decimals));
    }
}
