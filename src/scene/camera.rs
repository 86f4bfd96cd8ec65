//! The camera: orbiting, panning, zooming, and framing the terrain.

use glam::{Vec2, Vec3};

use super::projection::{Ray, ViewProjection};
use super::scale::SceneScale;
use crate::engine::Heightfield;
use crate::engine::cast::ToFloat;

/// The focal length: half the shorter side of the screen covers 1 / 3.4 of the distance. That is a view angle of 33°,
/// at which the block looks like a model on a table.
pub(super) const FOCAL_LENGTH: f32 = 3.4;

/// The range of the pitch, radians downward: never from below.
const PITCH_RANGE: [f32; 2] = [0.02, std::f32::consts::FRAC_PI_2];

/// The range of the distance to the pivot.
const DISTANCE_RANGE: [f32; 2] = [0.004, 12.0];

/// The maximum distance of a terrain point that can be dragged.
const MAX_PAN_DEPTH: f32 = 12.0;

/// The near plane of a perspective as a share of the distance. Any projection shows at most `DEPTH_REACH` in front of
/// the pivot and the same behind it, which is far beyond any terrain.
const NEAR: f32 = 0.02;
const DEPTH_REACH: f32 = 20.0;

/// How much of an orthographic projection is lost for each point of an orbiting drag.
const ORTHOGRAPHIC_LOSS: f32 = 0.012;

fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// The corners of a box centred on the origin in x and z, from `low` to `high` in y.
pub(super) fn box_corners(half: [f32; 2], [low, high]: [f32; 2]) -> impl Iterator<Item = Vec3> {
    (0..8).map(move |i| {
        let side = |bit: i32, from: f32, to: f32| if i & bit == 0 { from } else { to };
        Vec3::new(side(1, -half[0], half[0]), side(2, low, high), side(4, -half[1], half[1]))
    })
}

/// The smallest distance to the pivot from which a point at an offset from it is on the screen, with a margin.
fn required_distance(offset: Vec3, projection: &ViewProjection) -> f32 {
    const FILLED: f32 = 0.94;
    let across = offset.dot(projection.right).abs().max(offset.dot(projection.up).abs());
    across / FILLED - projection.w[0] * offset.dot(projection.forward)
}

/// The y on the screen of an offset from the pivot, from a distance.
fn screen_y(offset: Vec3, projection: &ViewProjection, distance: f32) -> f32 {
    offset.dot(projection.up) / (distance + projection.w[0] * offset.dot(projection.forward))
}

/// An orbit around a pivot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Camera {
    pub(crate) pivot: Vec3,
    /// The compass direction of the view, radians clockwise from north.
    pub(crate) azimuth: f32,
    /// How steeply the camera looks down, radians.
    pub(crate) pitch: f32,
    /// The distance to the pivot.
    pub(crate) distance: f32,
    /// From a perspective, 0, to an orthographic projection, 1. Things at the depth of the pivot have the same size in
    /// all of them.
    pub(crate) orthographic: f32,
}

impl Default for Camera {
    /// From the south-west: maps are lit from the north-west, and light from the side brings out the relief.
    fn default() -> Self {
        Self { pivot: Vec3::ZERO, azimuth: 0.55, pitch: 0.5, distance: 4.0, orthographic: 0.0 }
    }
}

impl Camera {
    /// The directions right and forward horizontally, and forward into the image.
    fn directions(&self) -> [Vec3; 3] {
        let [(sin, cos), (down, level)] = [self.azimuth, self.pitch].map(libm::sincosf);
        [Vec3::new(cos, 0.0, sin), Vec3::new(sin, 0.0, -cos), Vec3::new(sin * level, -down, -cos * level)]
    }

    /// The projection for a screen of an aspect ratio (width to height). `floor` returns the lowest y that the eye may
    /// have at a point.
    pub(crate) fn projection(&self, aspect: f32, floor: impl Fn(Vec3) -> f32) -> ViewProjection {
        let [right, _, forward] = self.directions();
        let up = right.cross(forward);
        let share = self.orthographic * self.orthographic * (3.0 - 2.0 * self.orthographic);
        let mut eye = self.pivot + forward * -self.distance;
        // An orthographic projection has no eye that could be below the terrain.
        eye.y += (floor(eye) - eye.y).max(0.0) * (1.0 - share);
        let focal = FOCAL_LENGTH * aspect.min(1.0);
        // The depth at which the divisor is NEAR · distance.
        let near = self.distance * (NEAR - share) / (1.0 - share);
        ViewProjection {
            eye,
            right: right * focal / aspect,
            up: up * focal,
            forward,
            w: [1.0 - share, share * self.distance],
            depth_range: [near.max(self.distance - DEPTH_REACH), self.distance + DEPTH_REACH],
        }
    }

    /// The projection without a floor.
    fn unbounded(&self, aspect: f32) -> ViewProjection {
        self.projection(aspect, |_| f32::NEG_INFINITY)
    }

    /// Moves so that a box centred on the origin in x and z, from `low` to `high` in y, fills the screen, without
    /// turning.
    pub(crate) fn frame(&mut self, half: [f32; 2], [low, high]: [f32; 2], aspect: f32) {
        self.pivot = Vec3::new(0.0, 0.5 * (low + high), 0.0);
        for _ in 0..4 {
            let projection = self.unbounded(aspect);
            let corners = || box_corners(half, [low, high]).map(|corner| corner - self.pivot);
            let distance =
                corners().map(|offset| required_distance(offset, &projection)).fold(DISTANCE_RANGE[0], f32::max);
            // Equal margins above and below.
            let heights = corners().map(|offset| screen_y(offset, &projection, distance));
            let [lowest, highest] = heights.fold([f32::MAX, f32::MIN], |[a, b], y| [a.min(y), b.max(y)]);
            let shift = 0.5 * (lowest + highest) * distance / projection.up.dot(projection.up);
            self.pivot += projection.up * shift;
            self.distance = distance.min(DISTANCE_RANGE[1]);
        }
    }

    /// Adapts to another aspect ratio: the centre of the image stays, and the terrain keeps its size relative to the
    /// image in which a box would be framed.
    pub(crate) fn adapt_to_aspect(&mut self, half: [f32; 2], block: [f32; 2], [before, now]: [f32; 2]) {
        let framed = |aspect| {
            let mut camera = *self;
            camera.frame(half, block, aspect);
            camera.distance
        };
        self.distance = (self.distance * framed(now) / framed(before)).clamp(DISTANCE_RANGE[0], DISTANCE_RANGE[1]);
    }

    /// Frames such a box so that all of it stays on the screen at every azimuth. The pivot is above the centre of the
    /// box, so the distance is the same for the entire turntable.
    pub(crate) fn frame_turntable(&mut self, half: [f32; 2], [low, high]: [f32; 2], aspect: f32) {
        const TURNS: usize = 360;
        let corners_all_around = |camera: Self| {
            (0..TURNS).flat_map(move |i| {
                let azimuth = i.to_f32() / TURNS.to_f32() * std::f32::consts::TAU;
                let projection = Self { azimuth, ..camera }.unbounded(aspect);
                box_corners(half, [low, high]).map(move |corner| (corner - camera.pivot, projection))
            })
        };
        let required = |camera: Self| {
            let distances =
                corners_all_around(camera).map(|(offset, projection)| required_distance(offset, &projection));
            distances.fold(DISTANCE_RANGE[0], f32::max)
        };
        self.pivot = Vec3::new(0.0, 0.5 * (low + high), 0.0);
        for _ in 0..6 {
            let camera = *self;
            self.distance = required(camera);
            let heights =
                corners_all_around(camera).map(|(offset, projection)| screen_y(offset, &projection, self.distance));
            let [lowest, highest] = heights.fold([f32::MAX, f32::MIN], |[a, b], y| [a.min(y), b.max(y)]);
            // Equal margins above and below, as far as the height of the pivot can provide them.
            let up = self.unbounded(aspect).up;
            self.pivot.y += 0.5 * (lowest + highest) * self.distance * up.y / up.dot(up);
        }
        self.distance = required(*self);
    }

    /// Turns around the pivot by a drag in points. An orthographic projection, which is meant for views along the axes,
    /// gradually becomes a perspective.
    pub(crate) fn orbit(&mut self, drag: Vec2) {
        self.azimuth += drag.x * 0.006;
        self.pitch = (self.pitch + drag.y * 0.006).clamp(PITCH_RANGE[0], PITCH_RANGE[1]);
        self.orthographic = (self.orthographic - drag.length() * ORTHOGRAPHIC_LOSS).max(0.0);
    }

    /// Moves the camera so that a ray passes through the grabbed point: horizontally, or parallel to the image in an
    /// orthographic projection, which may look horizontally.
    pub(crate) fn pan(&mut self, grabbed: Vec3, ray: Ray) {
        if self.orthographic == 1.0 {
            let [.., forward] = self.directions();
            let met = ray.at((grabbed - ray.origin).dot(forward));
            self.pivot += grabbed - met;
        } else {
            // Where the ray reaches the height of the grabbed point; near the horizon that is too far away.
            let depth = (grabbed.y - ray.origin.y) / ray.direction.y;
            if !(depth > ray.near && depth < MAX_PAN_DEPTH) {
                return;
            }
            let met = ray.at(depth);
            self.pivot += (grabbed - met).with_y(0.0);
        }
        self.clamp_pivot();
    }

    /// Moves the pivot to the depth of a point, without changing the image: the next movement has the scale of that
    /// point.
    pub(crate) fn focus_on(&mut self, projection: &ViewProjection, point: Vec3) {
        let distance = projection.divisor(point);
        if distance > DISTANCE_RANGE[0] && distance < DISTANCE_RANGE[1] {
            self.pivot = projection.eye + projection.forward * projection.depth(point);
            self.distance = distance;
        }
    }

    /// Moves horizontally for a time; `steering` is to the right and ahead, each from −1 to 1.
    pub(crate) fn fly(&mut self, steering: Vec2, seconds: f32) {
        let [right, ahead, _] = self.directions();
        let length = self.distance * 0.9 * seconds;
        self.pivot = self.pivot + right * (steering.x * length) + ahead * (steering.y * length);
        self.clamp_pivot();
    }

    /// Zooms by a factor, keeping a point at its place on the screen.
    pub(crate) fn zoom(&mut self, factor: f32, towards: Vec3) {
        let distance = (self.distance / factor).clamp(DISTANCE_RANGE[0], DISTANCE_RANGE[1]);
        let share = distance / self.distance;
        self.pivot = towards + (self.pivot - towards) * share;
        self.distance = distance;
        self.clamp_pivot();
    }

    /// Keeps the pivot near the terrain.
    fn clamp_pivot(&mut self) {
        const LIMIT: Vec3 = Vec3::new(1.0, 2.0, 1.0);
        self.pivot = self.pivot.clamp(-LIMIT, LIMIT);
    }

    /// Interpolates between two cameras, turning the shorter way around. At 1, the result is exactly the second.
    pub(crate) fn interpolate(from: &Self, to: &Self, t: f32) -> Self {
        if t >= 1.0 {
            return *to;
        }
        let t = t * t * (3.0 - 2.0 * t);
        let circle = std::f32::consts::TAU;
        let turn = (to.azimuth - from.azimuth + 0.5 * circle).rem_euclid(circle) - 0.5 * circle;
        Self {
            pivot: from.pivot + (to.pivot - from.pivot) * t,
            azimuth: from.azimuth + turn * t,
            pitch: mix(from.pitch, to.pitch, t),
            distance: from.distance * libm::powf(to.distance / from.distance, t),
            orthographic: mix(from.orthographic, to.orthographic, t),
        }
    }
}

/// The surfaces that the camera must stay above, scene units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CameraBounds {
    pub(crate) scale: SceneScale,
    /// The bottom of the block.
    pub(crate) bottom: f32,
    pub(crate) water: Option<f32>,
}

impl CameraBounds {
    /// The projection of a camera that is kept above the terrain, the water and the ground plane.
    pub(crate) fn projection(&self, camera: &Camera, terrain: &Heightfield, aspect: f32) -> ViewProjection {
        let floor = |eye: Vec3| {
            let surface = self.scale.surface_y(terrain, eye);
            surface.map_or(self.bottom, |surface| surface.max(self.water.unwrap_or(f32::MIN))) + 0.004
        };
        camera.projection(aspect, floor)
    }
}
