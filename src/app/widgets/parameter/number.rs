//! Controls for numbers: a slider with a field, and what can be typed there.

use std::cell::RefCell;

use egui::{Color32, DragValue, Layout, Response, Sense, Slider, SliderClamping, Ui, Vec2};

use super::context::{ParameterContext, ParameterState};
use crate::engine::cast::ToInteger;
use crate::engine::parameters::{Kind, Parameter, Range, Scale, Value, fraction_of, percent_of};

/// The width of the column of numbers, points. Fields with longer numbers are wider.
const NUMBER_WIDTH: f32 = 68.0;

/// The space beside the text of a field, with its border, points.
const FIELD_PADDING: f32 = 5.0;

/// The end of a slider from which on its parameter is a coordinate on Earth, metres.
const MIN_COORDINATE_SLIDER: f64 = 1e6;

/// The narrowest slider, points. Beside a field that leaves less there is none.
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
    if rest >= MIN_SLIDER_WIDTH {
        ui.spacing_mut().slider_width = rest;
        let slider = Slider::new(&mut number, parameter.slider.low..=parameter.slider.high)
            .clamping(SliderClamping::Never)
            .logarithmic(parameter.scale == Scale::Logarithmic)
            .max_decimals(decimals(parameter))
            .show_value(false);
        // A slider that shows a value beyond its range must not change it, so only the user's changes count.
        if ui.add(slider).labelled_by(label.id).changed() {
            set_number(parameter, value, number);
        }
    }
    let mut number = value.as_number().unwrap_or(before);
    let field = number_field(ui, parameter, &mut number, width, context.state).labelled_by(label.id);
    context.state.take_focus(&field);
    if field.changed() {
        set_number(parameter, value, number);
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
    let (shown, message) = (RefCell::new(String::new()), RefCell::new(None));
    let formatter = ui.style().number_formatter.clone();
    let format = |number: f64, decimals| {
        let text = parameter.open_limit(number).map_or_else(|| formatter.format(number, decimals), String::from);
        shown.borrow_mut().clone_from(&text);
        text
    };
    let parse = |text: &str| {
        // The field was left without typing: the text may be rounded, so keep the number.
        if *text == *shown.borrow() {
            return Some(before);
        }
        let typed = valid_number(parameter, text);
        *message.borrow_mut() = typed.as_ref().err().cloned();
        typed.ok().or(Some(before))
    };
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
    if let Some(message) = message.into_inner() {
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

/// The unit of a parameter as it follows a number in a message.
pub(super) fn unit_text(parameter: &Parameter) -> String {
    if matches!(parameter.unit, "" | "°") { parameter.unit.into() } else { format!(" {}", parameter.unit) }
}

/// A typed number within the hard range, or why it does not count.
pub(crate) fn valid_number(parameter: &Parameter, text: &str) -> Result<f64, String> {
    let Range { low, high } = parameter.hard;
    let limits = format!("{} must be from {low} to {high}{}", parameter.label, unit_text(parameter));
    match typed_number(parameter, text) {
        Some(typed) if (low..=high).contains(&typed) => Ok(typed),
        Some(_) => Err(limits),
        None => Err(format!("\u{201c}{text}\u{201d} is not a number; {limits}")),
    }
}

/// Parses a number as typed into a field: with or without its unit, in kilometres where the unit is metres, with or
/// without commas between thousands, or with a decimal comma where it cannot be mistaken for one of those.
fn typed_number(parameter: &Parameter, text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.replace('−', "-");
    let (number, factor) = match text.strip_suffix("km") {
        Some(number) if parameter.unit == "m" => (number, 1000.0),
        _ => (text.strip_suffix(parameter.unit).unwrap_or(&text), 1.0),
    };
    let is_whole = matches!(parameter.kind, Kind::Integer);
    let number = match number.split_once(',') {
        None => number.into(),
        Some(_) if is_grouped(number) && (is_whole || number.contains('.')) => number.replace(',', ""),
        Some((_, decimals)) if !is_whole && decimals.len() != 3 => number.replace(',', "."),
        Some(_) => return None,
    };
    calculated(&number).map(|number| factor * number).filter(|number| !number.is_nan())
}

/// The value of a number, or of sums and products of numbers: "10*3", "1024 - 2*8".
fn calculated(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    // What is calculated last is split first: the last sum, or else the last product. A sign is no operator.
    let split_at = |operators: [char; 2]| {
        let is_operator = |at: usize, c: char| {
            let before = text[..at].chars().next_back();
            operators.contains(&c) && before.is_some_and(|before| before.is_ascii_digit() || before == '.')
        };
        text.char_indices().rfind(|(at, c)| is_operator(*at, *c))
    };
    let (at, operator) = split_at(['+', '-']).or_else(|| split_at(['*', '/']))?;
    let (left, right) = (calculated(&text[..at])?, calculated(&text[at + operator.len_utf8()..])?);
    let value = match operator {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ => left / right,
    };
    value.is_finite().then_some(value)
}

/// Whether the commas separate thousands.
fn is_grouped(number: &str) -> bool {
    let whole = number.split('.').next().unwrap_or(number);
    whole.split(',').skip(1).all(|group| group.len() == 3) && number.matches(',').count() == whole.matches(',').count()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn sums_and_products_are_calculated() {
        for (text, value) in [
            ("10*3", Some(30.0)),
            ("1024-2*8", Some(1008.0)),
            ("8/2/2", Some(2.0)),
            ("-3+5", Some(2.0)),
            ("2*-4", Some(-8.0)),
            ("1e-3*2", Some(0.002)),
            ("5-3-1", Some(1.0)),
            ("3+", None),
            ("*3", None),
            ("1/0", None),
            ("a+1", None),
        ] {
            assert_eq!(calculated(text), value, "{text}");
        }
    }
    use crate::engine::mask::Mask;
    use crate::engine::parameters::Parameters;

    #[test]
    fn coordinates_have_as_many_decimals_as_they_need() {
        let northing = crate::engine::Origin::parameters().iter().find(|parameter| parameter.key == "northing_m");
        let northing = northing.expect("a parameter");
        let cases = [(4_649_778.0, 0), (4_649_778.5, 1), (-4_649_778.1, 1), (4_649_778.25, 2), (1.0 / 3.0, 2)];
        assert_eq!(cases.map(|(number, _)| decimals_for(northing, number)), cases.map(|(_, decimals)| decimals));
    }

    #[test]
    fn numbers_are_typed_with_or_without_their_unit() {
        let typed = |kind: Kind, unit: &'static str, text: &str| {
            typed_number(&Parameter { kind, unit, ..Mask::parameters()[0].clone() }, text)
        };
        let cases = [
            ("5", 5.0),
            (" 1250.5 m", 1250.5),
            ("1,5", 1.5),
            ("1,250.5", 1250.5),
            ("2.5 km", 2500.0),
            ("−4", -4.0),
            ("1e9", 1e9),
        ];
        for (text, number) in cases {
            assert_eq!(typed(Kind::Number, "m", text), Some(number), "{text}");
        }
        assert_eq!(typed(Kind::Number, "°", "40 °"), Some(40.0));
        assert_eq!(typed(Kind::Integer, "", "10,000"), Some(10_000.0));
        // Ambiguous, or not a number.
        for text in ["1,250", "1.250,5", "12,34,567", "", "abc", "NaN", "5 e", "5 %", "1.2.3", "2 k"] {
            assert_eq!(typed(Kind::Number, "m", text), None, "{text}");
        }
        assert_eq!(typed(Kind::Integer, "", "1,5"), None);
        assert_eq!(typed(Kind::Number, "°", "5 km"), None);
    }
}
