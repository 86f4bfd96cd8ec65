//! What the colours of a coat mean.

use egui::{Color32, FontId, Painter, Rect, Ui, Vec2};

use crate::app::theme::colours;
use crate::app::views::plate;
use crate::scene::Coat;

/// The width of the bar, and how many colours it shows, points.
const WIDTH: f32 = 132.0;
const STRIPS: usize = 66;

/// The numbers under a legend, each with the share of the bar at which it stands.
pub(super) fn numbers(coat: Coat, [low_m, high_m]: [f32; 2]) -> Vec<(f32, String)> {
    match coat {
        Coat::Elevation => {
            let metres = |share: f32| format!("{:.0}", low_m + share * (high_m - low_m)).replace('-', "\u{2212}");
            [0.0, 0.5, 1.0].map(|share| (share, metres(share))).into()
        }
        Coat::Slope => [0.0, 15.0, 30.0, 45.0].map(|degrees| (degrees / 45.0, format!("{degrees:.0}"))).into(),
        Coat::Texture | Coat::Clay | Coat::Wireframe => Vec::new(),
    }
}

/// Draws the legend of a coat that shows a number over the scale bar.
pub(super) fn legend(ui: &Ui, painter: &Painter, bar: Rect, coat: Coat, range_m: [f32; 2]) {
    let Some(ramp) = coat.ramp() else { return };
    let unit = match coat {
        Coat::Slope => "°",
        Coat::Elevation | Coat::Texture | Coat::Clay | Coat::Wireframe => "m",
    };
    let colours = colours(ui);
    let size = Vec2::new(WIDTH + 24.0, 52.0);
    let place = Rect::from_min_size(bar.left_top() - Vec2::new(0.0, 4.0 + size.y), size);
    plate(painter, place, &colours);
    let text = |text: String| painter.layout_no_wrap(text, FontId::proportional(11.0), colours.text);
    let strip = Rect::from_min_size(place.min + Vec2::new(12.0, 21.0), Vec2::new(WIDTH, 8.0));
    painter.galley(place.min + Vec2::new(12.0, 3.0), text(format!("{}, {unit}", coat.text())), colours.text);
    let [low, high] = ramp.ends();
    let step = WIDTH / STRIPS as f32;
    for i in 0..STRIPS {
        let [red, green, blue] = ramp.colour(low + (high - low) * (i as f32 + 0.5) / STRIPS as f32);
        let at = Rect::from_min_size(strip.min + Vec2::new(i as f32 * step, 0.0), Vec2::new(step + 0.25, 8.0));
        painter.rect_filled(at, 0.0, Color32::from_rgb(red, green, blue));
    }
    for (share, number) in numbers(coat, range_m) {
        let galley = text(number);
        let middle = strip.left() + share * WIDTH;
        let left = (middle - 0.5 * galley.size().x).clamp(place.left() + 6.0, place.right() - 6.0 - galley.size().x);
        painter.vline(middle, strip.bottom()..=strip.bottom() + 3.0, (1.0, colours.text));
        painter.galley(egui::pos2(left, strip.bottom() + 4.0), galley, colours.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_their_colours_do() {
        let said = |coat, range| numbers(coat, range).into_iter().map(|(at, text)| format!("{at:.2} {text}")).collect();
        let elevation: Vec<String> = said(Coat::Elevation, [-120.0, 880.0]);
        assert_eq!(elevation, ["0.00 \u{2212}120", "0.50 380", "1.00 880"]);
        let slope: Vec<String> = said(Coat::Slope, [-120.0, 880.0]);
        assert_eq!(slope, ["0.00 0", "0.33 15", "0.67 30", "1.00 45"]);
        let ends = Coat::Slope.ramp().map(|ramp| ramp.ends());
        assert_eq!(ends, Some([0.0, 45.0]), "the bar ends where the numbers do");
    }
}
