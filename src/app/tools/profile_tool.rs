//! The line on the maps along which the analysis panel plots a profile. It is not part of the document.

use egui::{Align2, Color32, PointerButton, Pos2, Stroke, Ui};
use egui_plot::{Line, PlotPoints, VLine};

use crate::app::views::map_transform::MapTransform;
use crate::app::views::overlay::{length, note};
use crate::app::widgets::plot::{as_length, plot};
use crate::app::widgets::theme::colours;
use crate::engine::cast::ToFloat;
use crate::engine::{Extent, Heightfield};

/// The distance within which the pointer grabs an end, and the radius of a drawn end, points.
const REACH: f32 = 10.0;
const RADIUS: f32 = 5.0;

/// The number of heights along the line.
const HEIGHTS: usize = 257;

/// The largest distance of the crosshair from the line, as a share of the line's length, at which the profile marks it.
const MAX_DISTANCE: f64 = 0.04;

/// The profile line and the state of its drag.
#[derive(Debug, Default)]
pub(crate) struct ProfileTool {
    /// The ends, metres east and south; `None`: from west to east through the centre of the world.
    ends_m: Option<[[f64; 2]; 2]>,
    /// Whether the next drag on a map draws a new line.
    pub(crate) is_drawing: bool,
    /// Whether the pointer hovers over an end.
    is_near: bool,
    /// The index of the end that is dragged.
    dragged: Option<usize>,
    /// The position on the terrain of the pointer in the plot, metres east and south.
    pub(crate) pointed_m: Option<[f64; 2]>,
}

impl ProfileTool {
    /// Whether the tool uses drags on the maps.
    pub(crate) fn wants_drags(&self) -> bool {
        self.is_drawing || self.is_near || self.dragged.is_some()
    }

    /// Whether a line was drawn or is about to be drawn.
    pub(crate) fn can_be_removed(&self) -> bool {
        self.is_drawing || self.ends_m.is_some()
    }

    /// Restores the default line.
    pub(crate) fn remove(&mut self) {
        *self = Self::default();
    }

    /// The ends of the line, clamped to a world of that size, metres.
    pub(crate) fn ends_m(&self, extent: Extent) -> [[f64; 2]; 2] {
        let middle_m = 0.5 * extent.depth_m;
        let ends = self.ends_m.unwrap_or([[0.0, middle_m], [extent.width_m, middle_m]]);
        ends.map(|end| within(end, extent))
    }

    /// Handles the pointer on one map and draws the line there.
    pub(crate) fn ui(&mut self, ui: &Ui, transform: &MapTransform, extent: Extent) {
        let pointer = transform.response.hover_pos();
        let near = |at: Pos2, ends: [[f64; 2]; 2]| {
            let distances = ends.map(|end| transform.pos(end).distance(at));
            let nearer = usize::from(distances[1] < distances[0]);
            (distances[nearer] <= REACH).then_some(nearer)
        };
        let mut ends = self.ends_m(extent);
        if transform.response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|input| input.pointer.press_origin())
        {
            if self.is_drawing {
                let place = within(transform.place_m(origin), extent);
                (ends, self.dragged, self.is_drawing) = ([place; 2], Some(1), false);
                self.ends_m = Some(ends);
            } else {
                self.dragged = near(origin, ends);
            }
        }
        if let Some(end) = self.dragged
            && let Some(pointer) = transform.response.interact_pointer_pos()
        {
            ends[end] = within(transform.place_m(pointer), extent);
            self.ends_m = Some(ends);
        }
        if transform.response.drag_stopped() {
            self.dragged = None;
        }
        // This runs for both maps; only the one under the pointer decides.
        if let Some(at) = pointer {
            self.is_near = near(at, ends).is_some();
        }
        self.draw(ui, transform, ends);
    }

    fn draw(&self, ui: &Ui, transform: &MapTransform, ends: [[f64; 2]; 2]) {
        let (painter, colours) = (&transform.painter, colours(ui));
        let [from, to] = ends.map(|end| transform.pos(end));
        painter.line_segment([from, to], Stroke::new(3.0, Color32::from_black_alpha(130)));
        painter.line_segment([from, to], Stroke::new(1.5, Color32::from_white_alpha(230)));
        for (i, at) in [from, to].into_iter().enumerate() {
            let fill = if self.dragged == Some(i) { colours.accent } else { Color32::WHITE };
            painter.circle(at, RADIUS, fill, Stroke::new(1.5, Color32::from_black_alpha(170)));
        }
        if self.dragged.is_some() {
            note(ui, painter, Align2::LEFT_TOP, to + egui::Vec2::splat(10.0), &length(distance(ends[0], ends[1])));
        }
        if self.is_drawing {
            let at = transform.response.rect.center_top() + egui::Vec2::new(0.0, 40.0);
            note(ui, painter, Align2::CENTER_TOP, at, "Drag on a map to draw the profile line");
        }
    }

    /// Plots the heights along the line, and marks the crosshair if it is close to the line.
    pub(crate) fn plot_ui(&mut self, ui: &mut Ui, terrain: &Heightfield, crosshair_m: Option<[f64; 2]>) {
        let ends = self.ends_m(terrain.grid().extent());
        let length_m = distance(ends[0], ends[1]);
        let places = (0..HEIGHTS).map(|i| i.to_f64() / (HEIGHTS - 1).to_f64());
        let points: Vec<[f64; 2]> = places
            .map(|share| {
                let [x_m, z_m] = at_share(ends, share);
                [share * length_m, f64::from(terrain.height_at(x_m, z_m))]
            })
            .collect();
        let [start_m, end_m] = ends.map(|[x_m, z_m]| f64::from(terrain.height_at(x_m, z_m)));
        let mark_m = crosshair_m.and_then(|place| share_along(ends, place)).map(|share| share * length_m);
        let colours = colours(ui);
        let shown = plot("Terrain profile", 112.0, as_length, true);
        let response = shown.show(ui, |plot| {
            let line = Line::new("Height", PlotPoints::from(points)).color(colours.text).width(1.25);
            plot.line(line.allow_hover(false));
            if let Some(mark_m) = mark_m {
                plot.vline(VLine::new("Crosshair", mark_m).color(colours.accent).width(1.0).allow_hover(false));
            }
        });
        let text = "The length of the line, how much higher or lower it ends than it begins, and its mean grade";
        ui.weak(length_and_rise(length_m, end_m - start_m)).on_hover_text(text);
        let name = "Terrain profile";
        response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, name));
        self.pointed_m = response.response.hover_pos().filter(|_| length_m > 0.0).map(|at| {
            let along_m = response.transform.value_from_position(at).x;
            at_share(ends, (along_m / length_m).clamp(0.0, 1.0))
        });
    }
}

/// The length of a line, the rise from its start to its end, and its mean grade in words.
fn length_and_rise(length_m: f64, rise_m: f64) -> String {
    let side = if rise_m < 0.0 { "lower" } else { "higher" };
    let grade = if length_m > 0.0 { 100.0 * rise_m.abs() / length_m } else { 0.0 };
    // Small rises have a decimal.
    let digits = if rise_m.abs() < 10.0 { 1 } else { 0 };
    format!("Length {}, end {:.digits$} m {side} ({grade:.1} %)", length(length_m), rise_m.abs())
}

fn within([x_m, z_m]: [f64; 2], extent: Extent) -> [f64; 2] {
    [x_m.clamp(0.0, extent.width_m), z_m.clamp(0.0, extent.depth_m)]
}

fn distance(from: [f64; 2], to: [f64; 2]) -> f64 {
    libm::hypot(to[0] - from[0], to[1] - from[1])
}

fn at_share([from, to]: [[f64; 2]; 2], share: f64) -> [f64; 2] {
    [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * share)
}

/// The position along the line of a point close to it, as a share of the line's length.
fn share_along([from, to]: [[f64; 2]; 2], place: [f64; 2]) -> Option<f64> {
    let length_m = distance(from, to);
    if length_m <= 0.0 {
        return None;
    }
    let along = [0, 1].map(|axis| (to[axis] - from[axis]) / length_m);
    let off = [0, 1].map(|axis| place[axis] - from[axis]);
    let share = (off[0] * along[0] + off[1] * along[1]) / length_m;
    let away_m = (off[0] * along[1] - off[1] * along[0]).abs();
    ((0.0..=1.0).contains(&share) && away_m <= MAX_DISTANCE * length_m).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_close_to_the_line_is_projected_onto_it() {
        let line = [[100.0, 100.0], [400.0, 500.0]];
        let close = |found: Option<f64>, share: f64| found.is_some_and(|found| (found - share).abs() < 1e-9);
        assert!(close(share_along(line, [100.0, 100.0]), 0.0) && close(share_along(line, [250.0, 300.0]), 0.5));
        // 5 m off the line at three quarters of its length.
        assert!(close(share_along(line, [325.0 - 4.0, 400.0 + 3.0]), 0.75));
        assert_eq!([share_along(line, [325.0 - 40.0, 400.0 + 30.0]), share_along(line, [40.0, 20.0])], [None; 2]);
        assert_eq!(share_along([[5.0; 2]; 2], [5.0; 2]), None);
    }

    #[test]
    fn lines_tell_their_length_rise_and_grade() {
        assert_eq!(length_and_rise(30.0, 1.4), "Length 30 m, end 1.4 m higher (4.7 %)");
        assert_eq!(length_and_rise(12_340.0, -272.4), "Length 12.34 km, end 272 m lower (2.2 %)");
        assert_eq!(length_and_rise(0.0, 0.0), "Length 0 m, end 0.0 m higher (0.0 %)");
    }

    #[test]
    fn the_line_is_clamped_to_the_world() {
        let small = Extent { width_m: 100.0, depth_m: 60.0 };
        let tool = ProfileTool { ends_m: Some([[-5.0, 20.0], [400.0, 90.0]]), ..Default::default() };
        assert_eq!(tool.ends_m(small), [[0.0, 20.0], [100.0, 60.0]]);
        assert_eq!(ProfileTool::default().ends_m(small), [[0.0, 30.0], [100.0, 30.0]]);
    }
}
