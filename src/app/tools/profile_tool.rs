//! A line over the land whose profile the measures show. It is no part of the document.

use egui::{Align2, Color32, PointerButton, Pos2, Stroke, Ui};
use egui_plot::{Line, PlotPoints, VLine};

use crate::app::views::map_transform::MapTransform;
use crate::app::views::overlay::note;
use crate::app::widgets::plot::{as_length, plot};
use crate::app::widgets::theme::colours;
use crate::engine::{Extent, Heightfield};

/// How near the pointer takes hold of an end, points, and how large ends are drawn.
const REACH: f32 = 10.0;
const RADIUS: f32 = 5.0;

/// Heights along the line.
const HEIGHTS: usize = 257;

/// A crosshair that is no farther from the line than this share of its length is shown in the profile.
const BESIDE: f64 = 0.04;

/// The line and what is done to it.
#[derive(Debug, Default)]
pub(crate) struct ProfileTool {
    /// Metres east and south; `None`: from west to east through the middle of the world.
    ends_m: Option<[[f64; 2]; 2]>,
    /// Whether the next drag on a map draws a new line.
    pub(crate) is_drawing: bool,
    /// Whether the pointer is on an end.
    is_near: bool,
    held: Option<usize>,
    /// The place on the land, metres east and south, that the pointer is on in the plot.
    pub(crate) pointed_m: Option<[f64; 2]>,
}

impl ProfileTool {
    /// Whether drags on the maps are for the line.
    pub(crate) fn is_at_work(&self) -> bool {
        self.is_drawing || self.is_near || self.held.is_some()
    }

    /// Whether a line was drawn, or is about to be.
    pub(crate) fn can_be_removed(&self) -> bool {
        self.is_drawing || self.ends_m.is_some()
    }

    /// Leaves the line where it was to begin with.
    pub(crate) fn remove(&mut self) {
        *self = Self::default();
    }

    /// The ends of the line in a world of that size.
    pub(crate) fn ends_m(&self, extent: Extent) -> [[f64; 2]; 2] {
        let middle_m = 0.5 * extent.depth_m;
        let ends = self.ends_m.unwrap_or([[0.0, middle_m], [extent.width_m, middle_m]]);
        ends.map(|end| within(end, extent))
    }

    /// Draws the line on one map, and follows the pointer there.
    pub(crate) fn ui(&mut self, ui: &Ui, transform: &MapTransform, extent: Extent) {
        let pointer = transform.response.hover_pos();
        let near = |at: Pos2, ends: [[f64; 2]; 2]| {
            let away = ends.map(|end| transform.pos(end).distance(at));
            let nearer = usize::from(away[1] < away[0]);
            (away[nearer] <= REACH).then_some(nearer)
        };
        let mut ends = self.ends_m(extent);
        if transform.response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|input| input.pointer.press_origin())
        {
            if self.is_drawing {
                let place = within(transform.place_m(origin), extent);
                (ends, self.held, self.is_drawing) = ([place; 2], Some(1), false);
                self.ends_m = Some(ends);
            } else {
                self.held = near(origin, ends);
            }
        }
        if let Some(end) = self.held
            && let Some(pointer) = transform.response.interact_pointer_pos()
        {
            ends[end] = within(transform.place_m(pointer), extent);
            self.ends_m = Some(ends);
        }
        if transform.response.drag_stopped() {
            self.held = None;
        }
        // Both maps say it, one after another: the one under the pointer decides.
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
            let fill = if self.held == Some(i) { colours.accent } else { Color32::WHITE };
            painter.circle(at, RADIUS, fill, Stroke::new(1.5, Color32::from_black_alpha(170)));
        }
        if self.is_drawing {
            let at = transform.response.rect.center_top() + egui::Vec2::new(0.0, 40.0);
            note(ui, painter, Align2::CENTER_TOP, at, "Drag a line across a map");
        }
    }

    /// Draws the profile of the land along the line, with the crosshair where it is beside the line.
    pub(crate) fn plot_ui(&mut self, ui: &mut Ui, terrain: &Heightfield, crosshair_m: Option<[f64; 2]>) {
        let ends = self.ends_m(terrain.grid().extent());
        let length_m = distance(ends[0], ends[1]);
        let places = (0..HEIGHTS).map(|i| i as f64 / (HEIGHTS - 1) as f64);
        let points: Vec<[f64; 2]> = places
            .map(|share| {
                let [x_m, z_m] = at_share(ends, share);
                [share * length_m, f64::from(terrain.height_at(x_m, z_m))]
            })
            .collect();
        let mark_m = crosshair_m.and_then(|place| beside(ends, place)).map(|share| share * length_m);
        let colours = colours(ui);
        let shown = plot("Profile of the land", 112.0, as_length, true);
        let response = shown.show(ui, |plot| {
            let line = Line::new("Height", PlotPoints::from(points)).color(colours.text).width(1.25);
            plot.line(line.allow_hover(false));
            if let Some(mark_m) = mark_m {
                plot.vline(VLine::new("Crosshair", mark_m).color(colours.accent).width(1.0).allow_hover(false));
            }
        });
        let name = "Profile of the land";
        response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, name));
        self.pointed_m = response.response.hover_pos().filter(|_| length_m > 0.0).map(|at| {
            let along_m = response.transform.value_from_position(at).x;
            at_share(ends, (along_m / length_m).clamp(0.0, 1.0))
        });
    }
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

/// How far along the line a place lies, as a share, if it lies beside it.
fn beside([from, to]: [[f64; 2]; 2], place: [f64; 2]) -> Option<f64> {
    let length_m = distance(from, to);
    if length_m <= 0.0 {
        return None;
    }
    let along = [0, 1].map(|axis| (to[axis] - from[axis]) / length_m);
    let off = [0, 1].map(|axis| place[axis] - from[axis]);
    let share = (off[0] * along[0] + off[1] * along[1]) / length_m;
    let away_m = (off[0] * along[1] - off[1] * along[0]).abs();
    ((0.0..=1.0).contains(&share) && away_m <= BESIDE * length_m).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_beside_the_line_is_found_on_it() {
        let line = [[100.0, 100.0], [400.0, 500.0]];
        let close = |found: Option<f64>, share: f64| found.is_some_and(|found| (found - share).abs() < 1e-9);
        assert!(close(beside(line, [100.0, 100.0]), 0.0) && close(beside(line, [250.0, 300.0]), 0.5));
        // 5 m off to the side at three fourths of the way.
        assert!(close(beside(line, [325.0 - 4.0, 400.0 + 3.0]), 0.75));
        assert_eq!([beside(line, [325.0 - 40.0, 400.0 + 30.0]), beside(line, [40.0, 20.0])], [None; 2]);
        assert_eq!(beside([[5.0; 2]; 2], [5.0; 2]), None);
    }

    #[test]
    fn the_line_stays_in_the_world() {
        let small = Extent { width_m: 100.0, depth_m: 60.0 };
        let tool = ProfileTool { ends_m: Some([[-5.0, 20.0], [400.0, 90.0]]), ..Default::default() };
        assert_eq!(tool.ends_m(small), [[0.0, 20.0], [100.0, 60.0]]);
        assert_eq!(ProfileTool::default().ends_m(small), [[0.0, 30.0], [100.0, 30.0]]);
    }
}
