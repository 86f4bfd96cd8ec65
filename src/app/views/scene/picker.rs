//! Converts between positions on the pane and points of the scene.

use egui::{Painter, Pos2, Rect, Response, Vec2};

use crate::app::tools::tool_view::ToolView;
use crate::engine::Heightfield;
use crate::scene::camera::CameraBounds;
use crate::scene::projection::{Ray, ViewProjection};
use crate::scene::scale::SceneScale;

/// The scene as it is projected onto the pane.
pub(super) struct Picker<'a> {
    pub(super) projection: ViewProjection,
    pub(super) pane: Rect,
    pub(super) bounds: CameraBounds,
    pub(super) terrain: &'a Heightfield,
    /// The highest point, scene units.
    pub(super) top: f32,
}

impl Picker<'_> {
    /// Where a point is on the pane; `None` behind the camera.
    pub(super) fn pos(&self, point: glam::Vec3) -> Option<Pos2> {
        let at = self.projection.project(point)?;
        Some(self.pane.center() + Vec2::new(at.x, -at.y) * self.pane.size() * 0.5)
    }

    /// The ray under a place on the pane.
    pub(super) fn ray(&self, at: Pos2) -> Ray {
        let share = (at - self.pane.center()) / (self.pane.size() * 0.5);
        self.projection.ray(glam::Vec2::new(share.x, -share.y))
    }

    /// The point of the terrain under a place on the pane.
    pub(super) fn terrain_at(&self, at: Pos2) -> Option<glam::Vec3> {
        self.projection.pick(self.ray(at), &self.bounds.scale, self.terrain, self.top)
    }

    /// Whether the terrain hides a point on its surface.
    pub(super) fn hides(&self, point: glam::Vec3) -> bool {
        self.projection.hides(point, &self.bounds.scale, self.terrain, self.top)
    }
}

/// The 3-D view for tools.
pub(super) struct SceneTransform<'a> {
    pub(super) response: Response,
    pub(super) painter: Painter,
    pub(super) picker: &'a Picker<'a>,
    pub(super) scale: SceneScale,
    pub(super) terrain: &'a Heightfield,
}

impl ToolView for SceneTransform<'_> {
    fn response(&self) -> &Response {
        &self.response
    }

    fn painter(&self) -> &Painter {
        &self.painter
    }

    fn place_m(&self, at: Pos2) -> Option<[f64; 2]> {
        self.picker.terrain_at(at).map(|point| self.scale.place_m(point))
    }

    fn pos(&self, [x_m, z_m]: [f64; 2]) -> Option<Pos2> {
        let point = self.scale.point([x_m, z_m], self.terrain.height_at(x_m, z_m));
        self.picker.pos(point).filter(|_| !self.picker.hides(point))
    }
}
