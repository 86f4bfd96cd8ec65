//! The view projection: from scene units to the screen and back, and picking.

use glam::{Vec2, Vec3};

use super::scale::SceneScale;
use crate::engine::Heightfield;
use crate::engine::cast::{ToFloat, ToInteger};

/// A ray into the image: `origin + depth · direction` for depths from `near` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub(crate) origin: Vec3,
    /// Scaled so that the ray's parameter is the depth in the image.
    pub(crate) direction: Vec3,
    pub(crate) near: f32,
}

impl Ray {
    pub(crate) fn at(&self, depth: f32) -> Vec3 {
        self.origin + self.direction * depth
    }
}

/// The view projection of a camera, the same on the CPU and in the shaders.
///
/// A point at offset d from the eye has the screen coordinates (d·right, d·up) / (w₀ d·forward + w₁), from −1 to 1, x
/// to the right and y up. A perspective has w = (1, 0), an orthographic projection w = (0, distance of the pivot).
/// Values in between are the perspective of an eye farther back with a longer focal length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewProjection {
    pub(crate) eye: Vec3,
    /// The unit vector to the right, times the focal length, divided by the aspect ratio.
    pub(crate) right: Vec3,
    /// The unit vector up, times the focal length.
    pub(crate) up: Vec3,
    /// The unit vector into the image.
    pub(crate) forward: Vec3,
    pub(crate) w: [f32; 2],
    /// The near and the far plane.
    pub(crate) depth_range: [f32; 2],
}

impl ViewProjection {
    /// The depth of a point in the image.
    pub(crate) fn depth(&self, point: Vec3) -> f32 {
        (point - self.eye).dot(self.forward)
    }

    /// The divisor of a point's offset on the screen: the distance at which a perspective shows things at the same
    /// size.
    pub(crate) fn divisor(&self, point: Vec3) -> f32 {
        self.w[0] * self.depth(point) + self.w[1]
    }

    /// The offset and the factor that turn a depth into a clip-space z: 1 · divisor at the near plane, 0 at the far
    /// one.
    pub(crate) fn clip_depth(&self) -> [f32; 2] {
        let [near, far] = self.depth_range;
        let scale = (self.w[0] * near + self.w[1]) / (far - near);
        [scale * far, -scale]
    }

    /// The eye of the pure perspective that shows the same image, and the factor that turns distances from it into
    /// divisors. For an orthographic projection it is as far away as the precision allows.
    pub(crate) fn perspective_eye(&self) -> (Vec3, f32) {
        let share = self.w[0].max(1e-3);
        (self.eye + self.forward * (-self.w[1] / share), share)
    }

    /// The screen coordinates of a point; `None` in front of the near plane.
    pub(crate) fn project(&self, point: Vec3) -> Option<Vec2> {
        let offset = point - self.eye;
        let at = Vec2::new(offset.dot(self.right), offset.dot(self.up)) / self.divisor(point);
        (self.depth(point) > self.depth_range[0]).then_some(at)
    }

    /// The ray into the image through screen coordinates.
    pub(crate) fn ray(&self, at: Vec2) -> Ray {
        let across = (self.right * at.x) / self.right.dot(self.right);
        let across = across + self.up * (at.y / self.up.dot(self.up));
        let (origin, direction) = (self.eye + across * self.w[1], self.forward + across * self.w[0]);
        Ray { origin, direction, near: self.depth_range[0] }
    }

    /// The ray into the image through a point.
    fn ray_to(&self, point: Vec3) -> Ray {
        let offset = (point - self.eye) * self.w[0];
        let direction = (offset + self.forward * self.w[1]) / self.divisor(point);
        Ray { origin: point + direction * -self.depth(point), direction, near: self.depth_range[0] }
    }

    /// Whether the terrain hides a point on its surface.
    pub(crate) fn hides(&self, point: Vec3, scale: &SceneScale, terrain: &Heightfield, top: f32) -> bool {
        let hit = self.pick(self.ray_to(point), scale, terrain, top);
        hit.is_some_and(|hit| self.depth(hit) < self.depth(point) - 0.015 * self.divisor(point) - 0.002)
    }

    /// The first point of the terrain that a ray hits; `None` where it misses. `top` is the y of the highest point.
    pub(crate) fn pick(&self, ray: Ray, scale: &SceneScale, terrain: &Heightfield, top: f32) -> Option<Vec3> {
        let (origin, direction) = (ray.at(ray.near), ray.direction);
        let [begin, end] = self.interval_above(origin, direction, scale.half_size(), top)?;
        let height_above = |t: f32| {
            let point = origin + direction * t;
            point.y - scale.surface_y(terrain, point).unwrap_or(f32::MIN)
        };
        let length = (direction.x * direction.x + direction.z * direction.z).sqrt();
        // Steps of half a sample, but no more than a few thousand.
        let samples = terrain.grid().width().max(terrain.grid().height()).to_f32();
        let inside = |t: f32| t.clamp(begin * (1.0 + 1e-6) + 1e-7, end * (1.0 - 1e-6));
        let steps = ((end - begin).min(4.0 / length.max(1e-6)) * length * samples * 2.0).clamp(16.0, 4096.0);
        let last = end.min(begin + 4.0 / length.max(1e-6));
        let step = (last - begin) / steps;
        let mut before = inside(begin);
        if height_above(before) < 0.0 {
            // The ray enters through a side of the block, below the surface.
            return None;
        }
        for i in 1..=steps.to_usize() {
            let mut at = inside(begin + step * i.to_f32());
            if height_above(at) <= 0.0 {
                for _ in 0..24 {
                    let middle = 0.5 * (before + at);
                    if height_above(middle) > 0.0 { before = middle } else { at = middle }
                }
                return Some(origin + direction * at);
            }
            before = at;
        }
        None
    }

    /// The part of a ray that is over the terrain and below its highest point.
    fn interval_above(&self, origin: Vec3, direction: Vec3, [half_x, half_z]: [f32; 2], top: f32) -> Option<[f32; 2]> {
        let mut interval = [0.0, self.depth_range[1] - self.depth_range[0]];
        let slabs = [(0, -half_x, half_x), (1, f32::MIN, top.max(origin.y)), (2, -half_z, half_z)];
        for (axis, low, high) in slabs {
            if direction[axis].abs() < 1e-9 {
                if origin[axis] < low || origin[axis] > high {
                    return None;
                }
            } else {
                let ends = [low, high].map(|limit| (limit - origin[axis]) / direction[axis]);
                interval = [interval[0].max(ends[0].min(ends[1])), interval[1].min(ends[0].max(ends[1]))];
            }
        }
        (interval[0] < interval[1]).then_some(interval)
    }
}
