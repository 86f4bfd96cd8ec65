//! Scaling the lengths among the values of a struct.

use super::table::{Kind, Parameter};
use super::types::{Band, Limits, Point, Weighted};
use super::value::{Value, Values};

/// Multiplies every number in metres by `factor`, in groups and lists too, and clamps it to its hard range; also metres
/// per year, and square metres by the square of the factor.
pub fn scale_lengths(table: &[Parameter], values: &mut Values, factor: f64) {
    for parameter in table {
        if let Some(value) = values.get_mut(parameter.key) {
            scale_value(parameter, parameter.kind, value, factor);
        }
    }
}

fn scale_value(parameter: &Parameter, kind: Kind, value: &mut Value, factor: f64) {
    let scale = |number: &mut f64| {
        let factor = match parameter.unit {
            "m" | "mm/year" => factor,
            "m²/year" => factor * factor,
            _ => return,
        };
        *number = three_digits(*number * factor).clamp(parameter.hard.low, parameter.hard.high);
    };
    match (kind, value) {
        (_, Value::Number(number)) => scale(number),
        (_, Value::Band(Band { min, max })) => [min, max].into_iter().for_each(scale),
        (_, Value::Limits(Limits { min, max, release })) => [min, max, release].into_iter().for_each(scale),
        (_, Value::Point(Point { x_m, z_m })) => [x_m, z_m].into_iter().for_each(scale),
        (_, Value::Weighted(Weighted { value, weight: _ })) => scale(value),
        (Kind::List(of), Value::List(items)) => {
            let scaled = items.iter().map(|mut item| {
                scale_value(parameter, *of, &mut item, factor);
                item
            });
            *items = scaled.collect::<Vec<_>>().into();
        }
        (Kind::Group(table), Value::Group(values)) => scale_lengths(table(), values, factor),
        // Whole numbers are counts, and the numbers of a matrix are weights.
        _ => {}
    }
}

/// Rounds to three significant digits, so that a scaled value is easy to read.
fn three_digits(number: f64) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let step = libm::pow(10.0, libm::log10(number.abs()).floor() - 2.0);
    // Divide where the step is small: 12 / 100 is 0.12, but 12 · 0.01 is not.
    if step < 1.0 { (number / step).round() / (1.0 / step).round() } else { (number / step).round() * step }
}
