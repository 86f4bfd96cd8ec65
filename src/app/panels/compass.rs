//! The position of the sun on a compass: the direction is its azimuth, the centre is the zenith and the rim the
//! horizon.

use egui::{Align2, FontId, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo};

use crate::app::widgets::arrow_keys;
use crate::app::widgets::theme::colours;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::light::Light;

/// The height of the control and the radius of the horizon, points.
const SIZE: f32 = 112.0;
const RADIUS: f32 = 42.0;

/// The step of an arrow key, degrees.
const KEY_DEG: f64 = 5.0;

/// The distance from the centre within which the azimuth is undefined, points.
const ZENITH: f32 = 2.0;

/// The offset of the sun from the centre of a compass of that radius, east and south.
fn offset(azimuth_deg: f64, altitude_deg: f64, radius: f32) -> Vec2 {
    let distance = radius * (1.0 - altitude_deg.to_f32() / 90.0).clamp(0.0, 1.0);
    let azimuth = azimuth_deg.to_f32().to_radians();
    distance * Vec2::new(libm::sinf(azimuth), -libm::cosf(azimuth))
}

/// The azimuth and altitude at an offset in whole degrees; no azimuth at the zenith.
fn angles(offset: Vec2, radius: f32) -> (Option<f64>, f64) {
    let distance = offset.length();
    let altitude = (90.0 * (1.0 - distance / radius)).clamp(0.0, 90.0).round();
    let azimuth = libm::atan2f(offset.x, -offset.y).to_degrees().rem_euclid(360.0).round() % 360.0;
    ((distance > ZENITH).then_some(f64::from(azimuth)), f64::from(altitude))
}

/// The name of a compass direction.
fn direction(azimuth_deg: f64) -> &'static str {
    const NAMES: [&str; 8] = ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"];
    let eighth = (azimuth_deg.rem_euclid(360.0) / 45.0).round().to_usize();
    NAMES[eighth % NAMES.len()]
}

/// Draws the compass and its numbers; the sun follows the pointer.
pub(crate) fn compass_ui(ui: &mut Ui, light: &mut Light) {
    ui.horizontal(|ui| {
        let (rect, mut response) = ui.allocate_exact_size(Vec2::splat(SIZE), Sense::click_and_drag());
        let middle = rect.center();
        if let Some(pointer) = response.interact_pointer_pos()
            && (response.dragged() || response.clicked())
        {
            let (azimuth, altitude) = angles(pointer - middle, RADIUS);
            light.azimuth_deg = azimuth.unwrap_or(light.azimuth_deg);
            light.altitude_deg = altitude;
            response.mark_changed();
        }
        // Right turns the sun clockwise, up raises it.
        let arrows = arrow_keys(ui, &response);
        if arrows != Vec2::ZERO {
            light.azimuth_deg = (light.azimuth_deg + KEY_DEG * f64::from(arrows.x)).rem_euclid(360.0);
            light.altitude_deg = (light.altitude_deg - KEY_DEG * f64::from(arrows.y)).clamp(0.0, 90.0);
            response.mark_changed();
        }
        let colours = colours(ui);
        let painter = ui.painter();
        painter.circle(middle, RADIUS, colours.sunken, Stroke::new(1.0, colours.line));
        for share in [1.0 / 3.0, 2.0 / 3.0] {
            painter.circle_stroke(middle, share * RADIUS, Stroke::new(1.0, colours.line));
        }
        for (name, towards) in [("N", Vec2::UP), ("E", Vec2::RIGHT), ("S", Vec2::DOWN), ("W", Vec2::LEFT)] {
            let colour = if name == "N" { colours.text } else { colours.weak };
            painter.line_segment([middle + (RADIUS - 4.0) * towards, middle + RADIUS * towards], (1.0, colours.weak));
            painter.text(
                middle + (RADIUS + 8.0) * towards,
                Align2::CENTER_CENTER,
                name,
                FontId::proportional(11.0),
                colour,
            );
        }
        let sun = middle + offset(light.azimuth_deg, light.altitude_deg, RADIUS);
        painter.line_segment([middle, sun], (1.0, colours.weak));
        let active = response.hovered() || response.dragged();
        painter.circle(sun, if active { 7.0 } else { 6.0 }, colours.accent, Stroke::new(2.0, colours.sunken));
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Compass of the sun"));
        if !response.is_pointer_button_down_on() {
            response.on_hover_text(
                "Drag the sun or move it with the arrow keys. The rim is the horizon, the centre the zenith.",
            );
        }
        ui.add_space(8.0);
        ui.vertical(|ui| {
            ui.add_space(SIZE / 2.0 - 40.0);
            ui.label(egui::RichText::new(format!("{:.0}°", light.azimuth_deg.rem_euclid(360.0))).size(15.0));
            ui.weak(format!("from the {}", direction(light.azimuth_deg)));
            ui.add_space(4.0);
            ui.label(egui::RichText::new(format!("{:.0}°", light.altitude_deg)).size(15.0));
            ui.weak("above the horizon");
        });
    });
}

/// The radius of the compass on a map, points.
const SMALL_RADIUS: f32 = 14.0;

/// Draws a small compass in the lower right corner of a map; the sun follows the pointer. Only the panel's compass can
/// be focused.
pub(crate) fn sun_ui(ui: &mut Ui, pane: Rect, map: &str, light: &mut Light) {
    let middle = pane.right_bottom() - Vec2::splat(12.0 + SMALL_RADIUS);
    let dial = Rect::from_center_size(middle, Vec2::splat(2.0 * SMALL_RADIUS + 8.0));
    let response = ui.interact(dial, ui.scope_id().with("sun"), Sense::CLICK | Sense::DRAG);
    if let Some(pointer) = response.interact_pointer_pos()
        && (response.dragged() || response.clicked())
    {
        let (azimuth, altitude) = angles(pointer - middle, SMALL_RADIUS);
        light.azimuth_deg = azimuth.unwrap_or(light.azimuth_deg);
        light.altitude_deg = altitude;
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("Sun over the {}", map.to_lowercase())));
    let colours = colours(ui);
    let painter = ui.painter().with_clip_rect(pane);
    painter.circle(middle, SMALL_RADIUS + 4.0, colours.text_background, Stroke::NONE);
    painter.circle_stroke(middle, SMALL_RADIUS, Stroke::new(1.0, colours.weak));
    let sun = middle + offset(light.azimuth_deg, light.altitude_deg, SMALL_RADIUS);
    let colour = if response.hovered() || response.dragged() { colours.accent } else { colours.text };
    painter.circle_filled(sun, 3.5, colour);
    for ray in 0..8_u8 {
        let way = Vec2::angled(f32::from(ray) * std::f32::consts::FRAC_PI_4);
        painter.line_segment([sun + 5.0 * way, sun + 7.0 * way], (1.0, colour));
    }
    if !response.is_pointer_button_down_on() {
        response.on_hover_text("Drag the sun. The rim is the horizon, the centre the zenith.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_angles_are_inverse() {
        for azimuth in [0.0, 45.0, 90.0, 181.0, 270.0, 359.0] {
            for altitude in [0.0, 10.0, 45.0, 80.0] {
                assert_eq!(angles(offset(azimuth, altitude, 42.0), 42.0), (Some(azimuth), altitude));
            }
        }
        assert_eq!(angles(Vec2::ZERO, 42.0), (None, 90.0));
        assert_eq!(angles(Vec2::new(0.0, -400.0), 42.0), (Some(0.0), 0.0), "beyond the rim the sun is on the horizon");
    }

    #[test]
    fn directions_are_named() {
        let names = [0.0, 350.0, 46.0, 135.0, -90.0].map(direction);
        assert_eq!(names, ["north", "north", "north-east", "south-east", "west"]);
    }
}
