//! What is painted over the 3-D view: the crosshair's pin, the compass, and the place of the hint.

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, Vec2};

use crate::app::views::scene::picker::Picker;
use crate::app::widgets::theme::Colours;

/// The upper left corner of a hint of that size at the bottom of the pane: between the scale bar and the camera
/// presets, or above both, beside the legend if there is one and where the hint hides little of the terrain; `None`
/// where there is no space for it.
pub(super) fn hint_position(pane: Rect, bar: Rect, legend: Option<Rect>, presets: Rect, size: Vec2) -> Option<Pos2> {
    const GAP: f32 = 8.0;
    let is_large = pane.width() > 600.0 && pane.height() > 240.0;
    // Below the controls at the top.
    let free = pane.shrink(GAP).with_min_y(pane.top() + 40.0);
    let above = free.with_max_y(bar.top().min(presets.top()) - GAP);
    let between = free.with_min_x(bar.right() + GAP).with_max_x(presets.left() - GAP);
    let above = legend.map_or(above, |legend| above.with_min_x(legend.right() + GAP));
    let fits = |free: &Rect| free.width() >= size.x && free.height() >= size.y;
    let found = [Some(between), Some(above).filter(|_| is_large)].into_iter().flatten().find(fits)?;
    Some(Align2::CENTER_BOTTOM.align_size_within_rect(size, found).min)
}

/// Paints a compass needle for a camera that looks in a direction.
pub(super) fn paint_compass(painter: &Painter, centre: Pos2, azimuth: f32, colours: &Colours) {
    painter.circle_filled(centre, 18.0, colours.text_background);
    let north = Vec2::new(-libm::sinf(azimuth), -libm::cosf(azimuth));
    let across = north.rot90();
    for (sign, colour) in [(1.0, colours.accent_text), (-1.0, colours.weak)] {
        let points = vec![
            centre + north * 9.0 * sign - north * 2.0,
            centre - across * 4.0 - north * 2.0,
            centre + across * 4.0 - north * 2.0,
        ];
        painter.add(egui::Shape::convex_polygon(points, colour, Stroke::NONE));
    }
    painter.text(centre + north * 13.0, Align2::CENTER_CENTER, "N", FontId::proportional(9.0), colours.text);
}

/// Paints the crosshair at a point of the terrain: a ring under the pointer, a pin where the pointer is on another
/// view. It is fainter where the terrain hides it.
pub(super) fn paint_crosshair(painter: &Painter, picker: &Picker, foot: glam::Vec3, accent: Color32, is_hovered: bool) {
    let Some(at) = picker.pos(foot) else { return };
    let opacity = if picker.hides(foot) { 0.35 } else { 1.0 };
    let (accent, dark) = (accent.gamma_multiply(opacity), Color32::from_black_alpha(150).gamma_multiply(opacity));
    if is_hovered {
        painter.circle_stroke(at, 4.5, Stroke::new(2.5, dark));
        painter.circle_stroke(at, 4.5, Stroke::new(1.25, accent));
        return;
    }
    let head = at - Vec2::new(0.0, 26.0);
    painter.line_segment([at, head], Stroke::new(3.0, dark));
    painter.line_segment([at, head], Stroke::new(1.5, accent));
    painter.circle(head, 5.0, accent, Stroke::new(1.0, dark));
    painter.circle_filled(at, 1.5, dark);
}
