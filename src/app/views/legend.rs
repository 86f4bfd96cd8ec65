//! Legends of the maps, drawn above the scale bar.

use egui::{Color32, FontId, Painter, Rect, Ui, Vec2};

use crate::app::views::overlay::text_background;
use crate::app::widgets::theme::colours;
use crate::engine::cast::ToFloat;
use crate::engine::ramp::Ramp;

/// The width of the colour bar, points, and the number of its colours.
const WIDTH: f32 = 132.0;
const STRIPS: usize = 66;

/// The height of a line of a legend without a bar, points.
const LINE: f32 = 16.0;

/// The smallest distance from the top of a pane to its scale bar at which a legend fits below the controls, points.
pub(crate) const MIN_HEIGHT: f32 = 96.0;

/// Labels of heights, each with its position as a share of the colour bar.
pub(crate) fn heights([low_m, high_m]: [f32; 2]) -> Vec<(f32, String)> {
    let metres = |share: f32| format!("{:.0}", low_m + share * (high_m - low_m)).replace('-', "\u{2212}");
    [0.0, 0.5, 1.0].map(|share| (share, metres(share))).into()
}

/// Labels of angles for a colour bar that ends at 45°.
pub(crate) fn angles() -> Vec<(f32, String)> {
    [0.0, 15.0, 30.0, 45.0].map(|degrees| (degrees / 45.0, format!("{degrees:.0}"))).into()
}

fn place_over(bar: Rect, size: Vec2) -> Rect {
    Rect::from_min_size(bar.left_top() - Vec2::new(0.0, 4.0 + size.y), size)
}

/// Draws a colour ramp with a title and labels above the scale bar; returns its rectangle.
pub(crate) fn ramp_legend(
    ui: &Ui,
    painter: &Painter,
    bar: Rect,
    title: &str,
    ramp: &Ramp,
    numbers: Vec<(f32, String)>,
) -> Rect {
    let colours = colours(ui);
    let place = place_over(bar, Vec2::new(WIDTH + 24.0, 52.0));
    text_background(painter, place, &colours);
    let text = |text: String| painter.layout_no_wrap(text, FontId::proportional(11.0), colours.text);
    let strip = Rect::from_min_size(place.min + Vec2::new(12.0, 21.0), Vec2::new(WIDTH, 8.0));
    painter.galley(place.min + Vec2::new(12.0, 3.0), text(title.into()), colours.text);
    let [low, high] = ramp.ends();
    let step = WIDTH / STRIPS.to_f32();
    for i in 0..STRIPS {
        let [red, green, blue] = ramp.colour(low + (high - low) * (i.to_f32() + 0.5) / STRIPS.to_f32());
        let at = Rect::from_min_size(strip.min + Vec2::new(i.to_f32() * step, 0.0), Vec2::new(step + 0.25, 8.0));
        painter.rect_filled(at, 0.0, Color32::from_rgb(red, green, blue));
    }
    for (share, number) in numbers {
        let galley = text(number);
        let middle = strip.left() + share * WIDTH;
        let left = (middle - 0.5 * galley.size().x).clamp(place.left() + 6.0, place.right() - 6.0 - galley.size().x);
        painter.vline(middle, strip.bottom()..=strip.bottom() + 3.0, (1.0, colours.text));
        painter.galley(egui::pos2(left, strip.bottom() + 4.0), galley, colours.text);
    }
    place
}

/// Draws lines of text, each after its colour if it has one, above the scale bar.
pub(crate) fn list_legend(ui: &Ui, painter: &Painter, bar: Rect, lines: &[(Option<[u8; 3]>, String)]) {
    let colours = colours(ui);
    let galleys: Vec<_> = lines
        .iter()
        .map(|(_, text)| painter.layout_no_wrap(text.clone(), FontId::proportional(11.0), colours.text))
        .collect();
    let indent = |colour: Option<[u8; 3]>| if colour.is_some() { 16.0 } else { 0.0 };
    let widths = galleys.iter().zip(lines).map(|(galley, (colour, _))| galley.size().x + indent(*colour));
    let width = widths.fold(0.0, f32::max);
    let place = place_over(bar, Vec2::new(width + 16.0, LINE * lines.len().to_f32() + 6.0));
    text_background(painter, place, &colours);
    for (i, (galley, (colour, _))) in galleys.into_iter().zip(lines).enumerate() {
        let at = place.min + Vec2::new(8.0, 4.0 + LINE * i.to_f32());
        if let Some([red, green, blue]) = colour {
            let swatch = Rect::from_min_size(at + Vec2::new(0.0, 3.0), Vec2::splat(9.0));
            painter.rect_filled(swatch, 2.0, Color32::from_rgb(*red, *green, *blue));
        }
        painter.galley(at + Vec2::new(indent(*colour), 0.0), galley, colours.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ramp::SLOPE;

    #[test]
    fn labels_are_placed_at_their_colours() {
        let texts = |numbers: Vec<(f32, String)>| {
            numbers.into_iter().map(|(at, text)| format!("{at:.2} {text}")).collect::<Vec<_>>()
        };
        assert_eq!(texts(heights([-120.0, 880.0])), ["0.00 \u{2212}120", "0.50 380", "1.00 880"]);
        assert_eq!(texts(angles()), ["0.00 0", "0.33 15", "0.67 30", "1.00 45"]);
        assert_eq!(SLOPE.ends(), [0.0, 45.0], "the bar ends at the last label");
    }
}
