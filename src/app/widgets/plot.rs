//! Small plots for panels.

use egui::{Sense, Vec2};
use egui_plot::{AxisHints, GridMark, Plot};

use crate::app::views::overlay::length;
use crate::engine::cast::ToFloat;
use crate::scene::scale::round_length;

/// The most marks of an axis.
const MAX_MARKS: u32 = 64;

/// The most steps between the marks of an axis across and of one up, whose numbers then have room.
const MAX_STEPS_X: f64 = 4.5;
const MAX_STEPS_Y: f64 = 4.0;

/// A plot without interaction, with numbers formatted by `x_text` below it and, if it has heights, numbers at its left.
pub(crate) fn plot<'a>(
    name: &'static str,
    height: f32,
    x_text: impl Fn(f64) -> String + 'a,
    has_heights: bool,
) -> Plot<'a> {
    // In the narrowest panel, marks are farther apart than where egui begins to fade their numbers.
    let across = AxisHints::new_x().formatter(move |mark, _| x_text(mark.value)).label_spacing(24.0..=36.0);
    let up = AxisHints::new_y().min_thickness(30.0).label_spacing(12.0..=18.0);
    Plot::new(name)
        .height(height)
        .show_axes([true, has_heights])
        .custom_x_axes(vec![across])
        .custom_y_axes(vec![up])
        .x_grid_spacer(|input| inner_marks(input.bounds, round_step(input.bounds, MAX_STEPS_X)))
        .y_grid_spacer(|input| marks(input.bounds, round_step(input.bounds, MAX_STEPS_Y)))
        .show_grid(false)
        .show_background(false)
        .sense(Sense::hover())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_x(false)
        .show_y(false)
        .label_formatter(|_| None)
        .set_margin_fraction(Vec2::new(0.0, 0.05))
}

/// The smallest round step that an axis has at most so many of.
fn round_step((from, to): (f64, f64), most: f64) -> f64 {
    let least = ((to - from).clamp(1e-3, 1e9) / most).to_f32();
    let below = round_length(least);
    // Round steps are at most 2.5 times apart.
    f64::from(if below < least { round_length(2.6 * below) } else { below })
}

/// Marks at the multiples of a step.
fn marks((from, to): (f64, f64), step_size: f64) -> Vec<GridMark> {
    let first = (from / step_size).ceil();
    let value = |i: u32| (first + f64::from(i)) * step_size;
    (0..MAX_MARKS).map(value).take_while(|value| *value <= to).map(|value| GridMark { value, step_size }).collect()
}

/// Marks at the multiples of a step, except those so near the end that their text would not fit.
pub(crate) fn inner_marks((from, to): (f64, f64), step_size: f64) -> Vec<GridMark> {
    marks((from, to - 0.05 * (to - from)), step_size)
}

/// Marks at 1, 2 and 5 times the powers of ten, on an axis of decimal logarithms.
pub(crate) fn logarithmic_marks((from, to): (f64, f64)) -> Vec<GridMark> {
    let first = from.floor();
    let of_power = |i: u32| [1.0, 2.0, 5.0].map(|digit| first + f64::from(i) + libm::log10(digit));
    let is_inside = |value: &f64| (from..=to - 0.05 * (to - from)).contains(value);
    let values = (0..MAX_MARKS / 3).flat_map(of_power).filter(is_inside);
    values.map(|value| GridMark { value, step_size: 0.3 }).collect()
}

/// A length below an axis.
pub(crate) fn as_length(metres: f64) -> String {
    if metres > 0.0 && metres < 1.0 { format!("{metres:.2} m") } else { length(metres) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_marks() {
        let at = |marks: Vec<GridMark>| marks.into_iter().map(|mark| mark.value.round()).collect::<Vec<_>>();
        let round = |bounds, most| at(marks(bounds, round_step(bounds, most)));
        assert_eq!(round((0.0, 8192.0), MAX_STEPS_X), [0.0, 2000.0, 4000.0, 6000.0, 8000.0]);
        assert_eq!(round((-393.0, 1074.0), MAX_STEPS_Y), [0.0, 500.0, 1000.0]);
        // Whatever the length, the numbers are neither so many that they fade nor none.
        for tenths in 1..5000 {
            let span = 0.37 * f64::from(tenths);
            let steps = span / round_step((0.0, span), MAX_STEPS_X);
            assert!((MAX_STEPS_X / 2.5001..=1.0001 * MAX_STEPS_X).contains(&steps), "{span}: {steps}");
        }
        assert_eq!(round((0.0, 4096.0), MAX_STEPS_X), [0.0, 1000.0, 2000.0, 3000.0, 4000.0]);
        assert_eq!(at(inner_marks((0.0, 90.0), 15.0)), [0.0, 15.0, 30.0, 45.0, 60.0, 75.0]);
        let lengths = logarithmic_marks((libm::log10(70.0), libm::log10(2100.0)));
        let metres = lengths.into_iter().map(|mark| libm::pow(10.0, mark.value).round()).collect::<Vec<_>>();
        assert_eq!(metres, [100.0, 200.0, 500.0, 1000.0]);
        // Level terrain must not get endless marks.
        assert!(marks((7.0, 7.0), round_step((7.0, 7.0), 2.5)).len() <= 1);
        assert_eq!(marks((0.0, 1e9), 1.0).len(), MAX_MARKS as usize);
    }
}
