//! Where the maps lie on the screen.

use egui::{Painter, Pos2, Rect, Response, Vec2};

use crate::engine::cast::ToFloat;

/// The pan and zoom that all maps share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapViewport {
    /// The point in the middle of a pane, as shares of the world eastward and southward.
    pub(crate) centre: Vec2,
    /// 1 shows the whole world.
    pub(crate) zoom: f32,
}

impl Default for MapViewport {
    fn default() -> Self {
        Self { centre: Vec2::splat(0.5), zoom: 1.0 }
    }
}

impl MapViewport {
    /// Zooms by a factor and keeps the point under the pointer in place; `offset` is the pointer's distance from the
    /// middle of the pane in shares of the world at zoom 1.
    pub(crate) fn zoom_by(&mut self, factor: f32, offset: Vec2) {
        let zoom = (self.zoom * factor).clamp(0.5, 64.0);
        self.centre += offset * (1.0 / self.zoom - 1.0 / zoom);
        self.zoom = zoom;
    }
}

/// The placement of one map on the screen, for what is drawn over it and for tools.
pub(crate) struct MapTransform {
    /// The pointer's interaction with the pane.
    pub(crate) response: Response,
    /// Draws on the pane alone.
    pub(crate) painter: Painter,
    /// Points per metre.
    pub(crate) pixels_per_m: f32,
    /// The background of the scale bar.
    pub(crate) bar: Rect,
    /// The north-west corner of the world.
    pub(crate) corner: Pos2,
}

impl MapTransform {
    /// The world position below a point of the screen, in metres east and south.
    pub(crate) fn place_m(&self, at: Pos2) -> [f64; 2] {
        let from_corner = (at - self.corner) / self.pixels_per_m;
        [from_corner.x, from_corner.y].map(f64::from)
    }

    /// The point of the screen that shows a world position.
    pub(crate) fn pos(&self, [x_m, z_m]: [f64; 2]) -> Pos2 {
        self.corner + Vec2::new(x_m.to_f32(), z_m.to_f32()) * self.pixels_per_m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let mut viewport = MapViewport::default();
        let offset = Vec2::new(0.2, -0.3);
        let under = |viewport: &MapViewport| viewport.centre + offset / viewport.zoom;
        let before = under(&viewport);
        for factor in [1.5, 2.0, 0.7, 1.1] {
            viewport.zoom_by(factor, offset);
            assert!((under(&viewport) - before).length() < 1e-5);
        }
    }
}
