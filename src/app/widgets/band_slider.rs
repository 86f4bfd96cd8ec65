//! A slider with two handles.

use egui::{Color32, Id, Rect, Response, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2};

use crate::app::widgets::arrow_keys;
use crate::app::widgets::theme::colours;
use crate::engine::cast::ToFloat;
use crate::engine::parameters::Range;

/// The radius of a handle, points.
const RADIUS: f32 = 6.0;

/// The handle that is being dragged, by its slider and its index.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BandSliderState {
    dragged: Option<(Id, usize)>,
}

/// Draws the slider and moves the handle that is dragged. The left and right arrow keys move the lower end, up and down
/// the upper one.
pub(crate) fn band_slider(ui: &mut Ui, band: &mut [f64; 2], range: Range, state: &mut BandSliderState) -> Response {
    let height = ui.spacing().interact_size.y * 0.8;
    let (rect, mut response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), height), Sense::click_and_drag());
    let rail = rect.shrink2(Vec2::new(RADIUS, 0.0));
    let before = *band;
    drag_handle(&response, rail, band, range, state);
    move_by_keys(ui, &response, band, range);
    if *band != before {
        response.mark_changed();
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, "Range"));
    paint(ui, &response, rail, band.map(|value| x_of(rail, range, value)));
    response
}

fn span(range: Range) -> f64 {
    (range.high - range.low).max(f64::MIN_POSITIVE)
}

fn x_of(rail: Rect, range: Range, value: f64) -> f32 {
    rail.left() + rail.width() * ((value - range.low) / span(range)).clamp(0.0, 1.0).to_f32()
}

fn drag_handle(response: &Response, rail: Rect, band: &mut [f64; 2], range: Range, state: &mut BandSliderState) {
    let Some(pointer) = response.interact_pointer_pos().filter(|_| response.dragged() || response.clicked()) else {
        return;
    };
    let nearest = || {
        let [low, high] = band.map(|value| (x_of(rail, range, value) - pointer.x).abs());
        // Where both ends coincide, the side of the pointer decides.
        usize::from(high < low || (high == low && pointer.x > x_of(rail, range, band[1])))
    };
    let dragged = state.dragged.filter(|(id, _)| *id == response.id && !response.drag_started() && !response.clicked());
    let which = dragged.map_or_else(nearest, |(_, which)| which);
    state.dragged = Some((response.id, which));
    let share = f64::from((pointer.x - rail.left()) / rail.width()).clamp(0.0, 1.0);
    let span = span(range);
    let step = if span > 20.0 { 1.0 } else { 0.01 };
    set_end(band, which, ((range.low + share * span) / step).round() * step);
}

fn move_by_keys(ui: &Ui, response: &Response, band: &mut [f64; 2], range: Range) {
    let arrows = arrow_keys(ui, response);
    for (which, by) in [(0, arrows.x), (1, -arrows.y)] {
        if by != 0.0 {
            let (low, high) = (range.low.min(band[which]), range.high.max(band[which]));
            set_end(band, which, (band[which] + f64::from(by) * span(range) / 100.0).clamp(low, high));
        }
    }
}

/// Moves one end, but not past the other one.
fn set_end(band: &mut [f64; 2], which: usize, value: f64) {
    band[which] = if which == 0 { value.min(band[1]) } else { value.max(band[0]) };
}

fn paint(ui: &Ui, response: &Response, rail: Rect, [low, high]: [f32; 2]) {
    let (colours, visuals) = (colours(ui), ui.style().interact(response));
    let middle = rail.center().y;
    let half = 0.5 * ui.spacing().slider_rail_height;
    let bar = |from: f32, to: f32, colour: Color32| {
        ui.painter().rect_filled(Rect::from_x_y_ranges(from..=to, middle - half..=middle + half), 2.0, colour);
    };
    bar(rail.left(), rail.right(), colours.line);
    bar(low, high, colours.accent);
    for x in [low, high] {
        let stroke = Stroke::new(1.0, visuals.fg_stroke.color);
        ui.painter().circle(pos2(x, middle), RADIUS, visuals.bg_fill, stroke);
    }
}
