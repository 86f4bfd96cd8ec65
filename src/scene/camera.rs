//! The camera: what orbits, what is seen, and where a point of the land lies on the screen.
//!
//! Everything is in scene units: the longer side of the world is 1, the middle of the land lies at the origin, x runs
//! east, y up, z south. Heights are exaggerated already.

use egui::{Pos2, Rect, Vec2};

use crate::engine::{Extent, Heightfield};

pub(crate) type Vec3 = [f32; 3];

pub(crate) fn plus(a: Vec3, b: Vec3, times: f32) -> Vec3 {
    std::array::from_fn(|i| a[i] + b[i] * times)
}

pub(crate) fn dot(a: Vec3, b: Vec3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

/// How long the lens is: the screen's shorter half, seen at this distance, fills it. 3.4 is an angle of 33°, so that
/// the block looks like a model on a table, without bent edges.
const FOCAL: f32 = 3.4;

/// The steepest and the flattest look, radians downward: never from below.
const PITCHES: [f32; 2] = [0.02, std::f32::consts::FRAC_PI_2];

/// The nearest and the farthest look.
const DISTANCES: [f32; 2] = [0.004, 12.0];

/// How far ahead something may be dragged along the ground.
const FARTHEST_PAN: f32 = 12.0;

/// The nearest depth that a perspective shows, as a share of the distance; no more than a length before the pivot and as
/// much behind it is shown in any projection, which is far beyond every land.
const NEAR: f32 = 0.02;
const DEPTHS: f32 = 20.0;

/// How much of a parallel projection is left behind by a drag of a point that turns the camera.
const BENT: f32 = 0.012;

/// The longest of 1, 2, 5 · 10ⁿ that is at most `limit`.
pub(crate) fn round_length(limit: f32) -> f32 {
    let power = libm::exp10f(libm::log10f(limit).floor());
    [5.0, 2.0, 1.0].into_iter().map(|digit| digit * power).find(|length| *length <= limit).unwrap_or(power)
}

/// How far below the lowest point the block is cut, scene units.
const PLINTH: f32 = 0.035;

/// From metres to scene units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SceneScale {
    pub(crate) extent: Extent,
    pub(crate) exaggeration: f32,
}

impl SceneScale {
    /// Metres in a scene unit.
    pub(crate) fn unit_m(&self) -> f32 {
        self.extent.width_m.max(self.extent.depth_m) as f32
    }

    /// Half the sides of the land, eastward and southward.
    pub(crate) fn half(&self) -> [f32; 2] {
        [self.extent.width_m, self.extent.depth_m].map(|side| 0.5 * side as f32 / self.unit_m())
    }

    pub(crate) fn y(&self, height_m: f32) -> f32 {
        height_m * self.exaggeration / self.unit_m()
    }

    /// Where the block begins and where it ends, of land between those heights in metres.
    pub(crate) fn block(&self, range_m: [f32; 2]) -> [f32; 2] {
        let [low, high] = range_m.map(|height| self.y(height));
        [low - PLINTH, high]
    }

    /// A place of the world in metres, and a height.
    pub(crate) fn point(&self, [x_m, z_m]: [f64; 2], height_m: f32) -> Vec3 {
        let [half_x, half_z] = self.half();
        [x_m as f32 / self.unit_m() - half_x, self.y(height_m), z_m as f32 / self.unit_m() - half_z]
    }

    /// The place of the world under a point, metres.
    pub(crate) fn place_m(&self, point: Vec3) -> [f64; 2] {
        let [half_x, half_z] = self.half();
        [point[0] + half_x, point[2] + half_z].map(|share| f64::from(share * self.unit_m()))
    }

    /// How high the land is under a point; `None` beside the land.
    pub(crate) fn ground(&self, terrain: &Heightfield, point: Vec3) -> Option<f32> {
        let [half_x, half_z] = self.half();
        let [x_m, z_m] = self.place_m(point);
        let inside = point[0].abs() <= half_x && point[2].abs() <= half_z;
        inside.then(|| self.y(terrain.height_at(x_m, z_m)))
    }
}

/// The corners of a box around the origin in x and z and from `low` to `high`.
fn corners(half: [f32; 2], [low, high]: [f32; 2]) -> impl Iterator<Item = Vec3> {
    (0..8).map(move |i| {
        let side = |bit: i32, from: f32, to: f32| if i & bit == 0 { from } else { to };
        [side(1, -half[0], half[0]), side(2, low, high), side(4, -half[1], half[1])]
    })
}

/// From how far a camera that looks that way has to look at its pivot to see what lies at an offset from it, with a
/// margin.
fn needed(offset: Vec3, projection: &ViewProjection) -> f32 {
    const ROOM: f32 = 0.94;
    let across = dot(offset, projection.right).abs().max(dot(offset, projection.up).abs());
    across / ROOM - projection.lens[0] * dot(offset, projection.forward)
}

/// How high an offset from the pivot lies on the screen, from that distance.
fn rise(offset: Vec3, projection: &ViewProjection, distance: f32) -> f32 {
    dot(offset, projection.up) / (distance + projection.lens[0] * dot(offset, projection.forward))
}

/// An orbit around a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Camera {
    pub(crate) pivot: Vec3,
    /// The compass direction of the look, radians clockwise from north.
    pub(crate) azimuth: f32,
    /// How steeply it looks down, radians.
    pub(crate) pitch: f32,
    pub(crate) distance: f32,
    /// How far the lens has gone from a perspective, 0, to a parallel projection, 1. What is as deep in the picture as
    /// the pivot is as large in all of them.
    pub(crate) flat: f32,
}

impl Default for Camera {
    /// From the south-west: maps are lit from the north-west, and light from the side brings out the relief.
    fn default() -> Self {
        Self { pivot: [0.0; 3], azimuth: 0.55, pitch: 0.5, distance: 4.0, flat: 0.0 }
    }
}

impl Camera {
    /// Right and forward along the ground, and forward into the picture.
    fn directions(&self) -> [Vec3; 3] {
        let [(sin, cos), (down, level)] = [self.azimuth, self.pitch].map(libm::sincosf);
        [[cos, 0.0, sin], [sin, 0.0, -cos], [sin * level, -down, -cos * level]]
    }

    /// What this camera sees on a screen of that proportion (width to height); `floor` gives the lowest that it may
    /// stand at a point.
    pub(crate) fn projection(&self, aspect: f32, floor: impl Fn(Vec3) -> f32) -> ViewProjection {
        let [right, _, forward] = self.directions();
        let up = [
            right[1] * forward[2] - right[2] * forward[1],
            right[2] * forward[0] - right[0] * forward[2],
            right[0] * forward[1] - right[1] * forward[0],
        ];
        let share = self.flat * self.flat * (3.0 - 2.0 * self.flat);
        let mut eye = plus(self.pivot, forward, -self.distance);
        // In a parallel projection nobody stands there.
        eye[1] += (floor(eye) - eye[1]).max(0.0) * (1.0 - share);
        let focal = FOCAL * aspect.min(1.0);
        // Where all is divided by a small share of the distance.
        let near = self.distance * (NEAR - share) / (1.0 - share);
        ViewProjection {
            eye,
            right: right.map(|part| part * focal / aspect),
            up: up.map(|part| part * focal),
            forward,
            lens: [1.0 - share, share * self.distance],
            depths: [near.max(self.distance - DEPTHS), self.distance + DEPTHS],
        }
    }

    /// Frames a box of that many scene units around the origin in x and z and from `low` to `high`, seen from where it
    /// looks now.
    pub(crate) fn frame(&mut self, half: [f32; 2], [low, high]: [f32; 2], aspect: f32) {
        self.pivot = [0.0, 0.5 * (low + high), 0.0];
        for _ in 0..4 {
            let projection = self.projection(aspect, |_| f32::NEG_INFINITY);
            let corners = || corners(half, [low, high]).map(|corner| plus(corner, self.pivot, -1.0));
            let distance = corners().map(|offset| needed(offset, &projection)).fold(DISTANCES[0], f32::max);
            // As much room above as below.
            let heights = corners().map(|offset| rise(offset, &projection, distance));
            let [least, most] = heights.fold([f32::MAX, f32::MIN], |[a, b], y| [a.min(y), b.max(y)]);
            let shift = 0.5 * (least + most) * distance / dot(projection.up, projection.up);
            self.pivot = plus(self.pivot, projection.up, shift);
            self.distance = distance.min(DISTANCES[1]);
        }
    }

    /// The picture has another proportion than before: what lay in its middle stays there, and what is seen of the land
    /// around it stays as large against the picture as it was against the one in which such a box was framed.
    pub(crate) fn refit(&mut self, half: [f32; 2], heights: [f32; 2], [before, now]: [f32; 2]) {
        let framed = |aspect| {
            let mut camera = *self;
            camera.frame(half, heights, aspect);
            camera.distance
        };
        self.distance = (self.distance * framed(now) / framed(before)).clamp(DISTANCES[0], DISTANCES[1]);
    }

    /// Frames such a box from as far away as it takes for all of it to be seen at every azimuth, with the pivot over its
    /// centre, so that it neither leaves the picture nor comes and goes while the camera turns.
    pub(crate) fn frame_turning(&mut self, half: [f32; 2], [low, high]: [f32; 2], aspect: f32) {
        const TURNS: usize = 360;
        self.pivot = [0.0, 0.5 * (low + high), 0.0];
        for _ in 0..6 {
            let (pivot, here) = (self.pivot, *self);
            let seen = || {
                (0..TURNS).flat_map(move |i| {
                    let azimuth = i as f32 / TURNS as f32 * std::f32::consts::TAU;
                    let projection = Self { azimuth, ..here }.projection(aspect, |_| f32::NEG_INFINITY);
                    corners(half, [low, high]).map(move |corner| (plus(corner, pivot, -1.0), projection))
                })
            };
            self.distance = seen().map(|(offset, projection)| needed(offset, &projection)).fold(DISTANCES[0], f32::max);
            let height = |(offset, projection): (Vec3, ViewProjection)| rise(offset, &projection, self.distance);
            let [least, most] = seen().map(height).fold([f32::MAX, f32::MIN], |[a, b], y| [a.min(y), b.max(y)]);
            // As much room above as below, as far as the pivot's height alone gives it.
            let up = self.projection(aspect, |_| f32::NEG_INFINITY).up;
            self.pivot[1] += 0.5 * (least + most) * self.distance * up[1] / dot(up, up);
        }
        let here = *self;
        let farthest = (0..TURNS).flat_map(|i| {
            let azimuth = i as f32 / TURNS as f32 * std::f32::consts::TAU;
            let projection = Self { azimuth, ..here }.projection(aspect, |_| f32::NEG_INFINITY);
            corners(half, [low, high]).map(move |corner| needed(plus(corner, here.pivot, -1.0), &projection))
        });
        self.distance = farthest.fold(DISTANCES[0], f32::max);
    }

    /// Turns around the pivot by a drag of that many points. A parallel projection, which is for looks along the axes,
    /// becomes a perspective by and by.
    pub(crate) fn orbit(&mut self, drag: Vec2) {
        self.azimuth += drag.x * 0.006;
        self.pitch = (self.pitch + drag.y * 0.006).clamp(PITCHES[0], PITCHES[1]);
        self.flat = (self.flat - drag.length() * BENT).max(0.0);
    }

    /// Moves, so that the point `grabbed` under a ray comes under another one: along the ground, and in a parallel
    /// projection, which may look along the ground, along the picture.
    pub(crate) fn pan(&mut self, grabbed: Vec3, ray: Ray) {
        if self.flat == 1.0 {
            let [.., forward] = self.directions();
            let met = ray.at(dot(plus(grabbed, ray.from, -1.0), forward));
            self.pivot = plus(self.pivot, plus(grabbed, met, -1.0), 1.0);
        } else {
            // Where the ray meets the level of what is grabbed; towards the horizon nowhere near.
            let depth = (grabbed[1] - ray.from[1]) / ray.way[1];
            if !(depth > ray.near && depth < FARTHEST_PAN) {
                return;
            }
            let met = ray.at(depth);
            let way: Vec3 = std::array::from_fn(|i| if i == 1 { 0.0 } else { grabbed[i] - met[i] });
            self.pivot = plus(self.pivot, way, 1.0);
        }
        self.keep_near();
    }

    /// Puts the pivot straight ahead at the depth of a point, without moving: what is done then is done at its scale.
    pub(crate) fn attend(&mut self, projection: &ViewProjection, point: Vec3) {
        let distance = projection.divisor(point);
        if distance > DISTANCES[0] && distance < DISTANCES[1] {
            self.pivot = plus(projection.eye, projection.forward, projection.depth(point));
            self.distance = distance;
        }
    }

    /// Flies along the ground, `way` to the right and ahead, each from −1 to 1, for a time.
    pub(crate) fn fly(&mut self, way: Vec2, seconds: f32) {
        let [right, ahead, _] = self.directions();
        let length = self.distance * 0.9 * seconds;
        self.pivot = plus(plus(self.pivot, right, way.x * length), ahead, way.y * length);
        self.keep_near();
    }

    /// Comes nearer by a factor, so that the point stays where it is on the screen.
    pub(crate) fn zoom(&mut self, factor: f32, towards: Vec3) {
        let distance = (self.distance / factor).clamp(DISTANCES[0], DISTANCES[1]);
        let share = distance / self.distance;
        self.pivot = std::array::from_fn(|i| towards[i] + (self.pivot[i] - towards[i]) * share);
        self.distance = distance;
        self.keep_near();
    }

    /// Holds the pivot within reach of the land.
    fn keep_near(&mut self) {
        for (part, limit) in self.pivot.iter_mut().zip([1.0, 2.0, 1.0]) {
            *part = part.clamp(-limit, limit);
        }
    }

    /// Between two cameras, the shorter way round.
    pub(crate) fn between(from: &Self, to: &Self, t: f32) -> Self {
        let t = t * t * (3.0 - 2.0 * t);
        let turn = std::f32::consts::TAU;
        let way = (to.azimuth - from.azimuth + 0.5 * turn).rem_euclid(turn) - 0.5 * turn;
        Self {
            pivot: std::array::from_fn(|i| mix(from.pivot[i], to.pivot[i], t)),
            azimuth: from.azimuth + way * t,
            pitch: mix(from.pitch, to.pitch, t),
            distance: from.distance * libm::powf(to.distance / from.distance, t),
            flat: mix(from.flat, to.flat, t),
        }
    }
}

/// A line into the picture: a point of it lies at `from + depth · way`, from the depth `near` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub(crate) from: Vec3,
    /// As long as it takes for the depth to be that of the picture.
    pub(crate) way: Vec3,
    pub(crate) near: f32,
}

impl Ray {
    pub(crate) fn at(&self, depth: f32) -> Vec3 {
        plus(self.from, self.way, depth)
    }
}

/// Where the eye stands and which way it looks: the projection, on the processor and in the shaders alike. A point d
/// from the eye lies at (d·right, d·up) / (lens₀ d·forward + lens₁) on a screen from −1 to 1.
///
/// In a perspective lens₀ is 1 and lens₁ 0, in a parallel projection 0 and the distance of the pivot. What lies between
/// is the perspective of an eye that stands farther back, with a longer lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ViewProjection {
    pub(crate) eye: Vec3,
    /// The unit vector times the focal length, over the proportion.
    pub(crate) right: Vec3,
    /// The unit vector times the focal length.
    pub(crate) up: Vec3,
    pub(crate) forward: Vec3,
    pub(crate) lens: [f32; 2],
    /// The nearest and the farthest depth that is shown.
    pub(crate) depths: [f32; 2],
}

impl ViewProjection {
    /// How deep in the picture a point lies.
    pub(crate) fn depth(&self, point: Vec3) -> f32 {
        dot(plus(point, self.eye, -1.0), self.forward)
    }

    /// What the place of a point on the screen is divided by: the distance at which a perspective shows things as large.
    pub(crate) fn divisor(&self, point: Vec3) -> f32 {
        self.lens[0] * self.depth(point) + self.lens[1]
    }

    /// What is added to depths, and what they are multiplied by before, to be depths of the card, from 1 for the nearest
    /// to 0, times the divisor.
    pub(crate) fn card_depth(&self) -> [f32; 2] {
        let [near, far] = self.depths;
        let scale = (self.lens[0] * near + self.lens[1]) / (far - near);
        [scale * far, -scale]
    }

    /// Where an eye would stand that has this very sight as its perspective, and what distances from there are
    /// multiplied by to be like divisors. A parallel projection has it as far away as numbers allow.
    pub(crate) fn stand(&self) -> (Vec3, f32) {
        let share = self.lens[0].max(1e-3);
        (plus(self.eye, self.forward, -self.lens[1] / share), share)
    }

    /// Where a point lies on the pane; `None` behind the eye.
    pub(crate) fn project(&self, point: Vec3, pane: Rect) -> Option<Pos2> {
        let offset = plus(point, self.eye, -1.0);
        let at = Vec2::new(dot(offset, self.right), -dot(offset, self.up)) / self.divisor(point);
        (self.depth(point) > self.depths[0]).then(|| pane.center() + at * pane.size() * 0.5)
    }

    /// The line into the picture under a point of the pane.
    pub(crate) fn ray(&self, at: Pos2, pane: Rect) -> Ray {
        let share = (at - pane.center()) / (pane.size() * 0.5);
        let across = self.right.map(|part| part * share.x / dot(self.right, self.right));
        let across = plus(across, self.up, -share.y / dot(self.up, self.up));
        let (from, way) = (plus(self.eye, across, self.lens[1]), plus(self.forward, across, self.lens[0]));
        Ray { from, way, near: self.depths[0] }
    }

    /// The line into the picture on which a point lies.
    fn ray_to(&self, point: Vec3) -> Ray {
        let offset = plus(point, self.eye, -1.0).map(|part| part * self.lens[0]);
        let way = plus(offset, self.forward, self.lens[1]).map(|part| part / self.divisor(point));
        Ray { from: plus(point, way, -self.depth(point)), way, near: self.depths[0] }
    }

    /// Whether the land hides a point of it.
    pub(crate) fn hides(&self, point: Vec3, measure: &SceneScale, terrain: &Heightfield, high: f32) -> bool {
        let hit = self.pick(self.ray_to(point), measure, terrain, high);
        hit.is_some_and(|hit| self.depth(hit) < self.depth(point) - 0.015 * self.divisor(point) - 0.002)
    }

    /// The point of the land on which a ray falls; `None` where it passes by.
    pub(crate) fn pick(&self, ray: Ray, measure: &SceneScale, terrain: &Heightfield, high: f32) -> Option<Vec3> {
        let [half_x, half_z] = measure.half();
        let (from, way) = (ray.at(ray.near), ray.way);
        // The stretch of the ray over the land and below its highest point, counted from where it begins.
        let mut stretch = [0.0, self.depths[1] - self.depths[0]];
        let slabs = [(0, -half_x, half_x), (1, f32::MIN, high.max(from[1])), (2, -half_z, half_z)];
        for (axis, low, high) in slabs {
            if way[axis].abs() < 1e-9 {
                if from[axis] < low || from[axis] > high {
                    return None;
                }
            } else {
                let ends = [low, high].map(|limit| (limit - from[axis]) / way[axis]);
                stretch = [stretch[0].max(ends[0].min(ends[1])), stretch[1].min(ends[0].max(ends[1]))];
            }
        }
        if stretch[0] >= stretch[1] {
            return None;
        }
        let above = |t: f32| {
            let point = plus(from, way, t);
            point[1] - measure.ground(terrain, point).unwrap_or(f32::MIN)
        };
        let length = (way[0] * way[0] + way[2] * way[2]).sqrt();
        // Half a sample at a time, but no more than a few thousand looks.
        let samples = terrain.grid().width().max(terrain.grid().height()) as f32;
        let inside = |t: f32| t.clamp(stretch[0] * (1.0 + 1e-6) + 1e-7, stretch[1] * (1.0 - 1e-6));
        let looks =
            ((stretch[1] - stretch[0]).min(4.0 / length.max(1e-6)) * length * samples * 2.0).clamp(16.0, 4096.0);
        let end = stretch[1].min(stretch[0] + 4.0 / length.max(1e-6));
        let step = (end - stretch[0]) / looks;
        let mut before = inside(stretch[0]);
        if above(before) < 0.0 {
            // Through a side of the block: the land begins above it.
            return None;
        }
        for i in 1..=looks as usize {
            let mut at = inside(stretch[0] + step * i as f32);
            if above(at) <= 0.0 {
                for _ in 0..24 {
                    let middle = 0.5 * (before + at);
                    if above(middle) > 0.0 { before = middle } else { at = middle }
                }
                return Some(plus(from, way, at));
            }
            before = at;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Grid;

    const WORLD: Extent = Extent { width_m: 2000.0, depth_m: 1000.0 };
    const PANE: Rect = Rect { min: Pos2::new(10.0, 20.0), max: Pos2::new(410.0, 320.0) };

    fn measure() -> SceneScale {
        SceneScale { extent: WORLD, exaggeration: 2.0 }
    }

    fn projection(camera: &Camera) -> ViewProjection {
        camera.projection(PANE.aspect_ratio(), |_| f32::MIN)
    }

    #[test]
    fn lengths_are_round() {
        assert_eq!([0.3, 7.9, 99.0, 1500.0].map(round_length), [0.2, 5.0, 50.0, 1000.0]);
    }

    #[test]
    fn places_survive_the_way_into_the_scene_and_back() {
        let point = measure().point([500.0, 250.0], 100.0);
        assert_eq!(point, [-0.25, 0.1, -0.125]);
        assert_eq!(measure().place_m(point), [500.0, 250.0]);
    }

    #[test]
    fn the_pivot_lies_in_the_middle_and_east_to_the_right_of_a_look_to_the_north() {
        let camera = Camera { pivot: [0.1, 0.2, -0.1], azimuth: 0.0, pitch: 0.4, distance: 2.0, flat: 0.0 };
        let middle = projection(&camera).project(camera.pivot, PANE).expect("in front");
        assert!((middle - PANE.center()).length() < 1e-3, "{middle}");
        let east = projection(&camera).project(plus(camera.pivot, [1.0, 0.0, 0.0], 0.1), PANE).expect("in front");
        // Half the height is 1 / FOCAL of the distance.
        assert!((east - middle - Vec2::new(0.1 / 2.0 * FOCAL * 150.0, 0.0)).length() < 1e-3, "{east}");
        let higher = projection(&camera).project(plus(camera.pivot, [0.0, 1.0, 0.0], 0.1), PANE).expect("in front");
        assert!(higher.y < middle.y && (higher.x - middle.x).abs() < 1e-3);
        assert_eq!(
            projection(&camera).project(plus(projection(&camera).eye, projection(&camera).forward, -1.0), PANE),
            None
        );
    }

    #[test]
    fn what_is_picked_projects_to_where_it_was_picked() {
        let grid = Grid::new(WORLD, 101, 51);
        let hills = Heightfield::from_fn(grid, |c, r| {
            60.0 * libm::sinf(c as f32 * 0.2) * libm::cosf(r as f32 * 0.3) + c as f32
        });
        let high = measure().y(hills.min_max()[1]);
        let oblique = Camera { azimuth: 0.6, pitch: 0.5, distance: 1.4, ..Default::default() };
        let above = Camera { pitch: std::f32::consts::FRAC_PI_2, flat: 1.0, ..oblique };
        let cameras = [oblique, Camera { flat: 0.5, ..oblique }, Camera { flat: 1.0, ..oblique }, above];
        let sights = cameras.map(|camera| projection(&camera));
        let places = [PANE.center(), Pos2::new(170.0, 190.0), Pos2::new(260.0, 150.0)];
        for (projection, at) in sights.iter().flat_map(|projection| places.map(|at| (projection, at))) {
            let point = projection.pick(projection.ray(at, PANE), &measure(), &hills, high).expect("land");
            let ground = measure().ground(&hills, point).expect("on the land");
            assert!((point[1] - ground).abs() < 1e-4, "{point:?} over {ground}");
            let back = projection.project(point, PANE).expect("in front");
            assert!((back - at).length() < 0.1, "{at} came back as {back}");
            assert!(!projection.hides(point, &measure(), &hills, high), "what is picked is seen");
        }
        let beside = sights[0].ray(Pos2::new(12.0, 22.0), PANE);
        assert_eq!(sights[0].pick(beside, &measure(), &hills, high), None);
    }

    #[test]
    fn a_parallel_projection_shows_the_land_to_scale_whatever_its_height() {
        // From above, north up: half the height of the pane, 150 points, is the distance over the focal length.
        let above =
            Camera { pitch: std::f32::consts::FRAC_PI_2, azimuth: 0.0, distance: 1.7, flat: 1.0, ..Default::default() };
        let scale = 150.0 * FOCAL / 1.7;
        for height in [-0.3, 0.0, 0.4] {
            let at = projection(&above).project([0.2, height, -0.1], PANE).expect("shown");
            let expected = PANE.center() + Vec2::new(0.2, -0.1) * scale;
            assert!((at - expected).length() < 0.02, "{at} and not {expected}");
        }
        // In perspective what is higher is nearer: 0.4 of 1.7.
        let at = projection(&Camera { flat: 0.0, ..above }).project([0.2, 0.4, -0.1], PANE).expect("shown");
        let expected = PANE.center() + Vec2::new(0.2, -0.1) * scale * 1.7 / 1.3;
        assert!((at - expected).length() < 0.02, "{at} and not {expected}");
        // From the side, what is farther away is no smaller; what is at the pivot is as large in every projection.
        let side = Camera { pitch: 0.0, azimuth: 0.0, distance: 1.7, flat: 1.0, ..Default::default() };
        for depth in [-0.5, 0.0, 0.5] {
            let at = projection(&side).project([0.2, 0.1, depth], PANE).expect("shown");
            assert!((at - PANE.center() - Vec2::new(0.2, -0.1) * scale).length() < 0.02, "{at}");
        }
        for flat in [0.0, 0.3, 0.7, 1.0] {
            let at = projection(&Camera { flat, ..side }).project([0.2, 0.1, 0.0], PANE).expect("shown");
            assert!((at - PANE.center() - Vec2::new(0.2, -0.1) * scale).length() < 0.02, "{at}");
        }
    }

    #[test]
    fn depths_go_from_one_at_the_nearest_to_nought_at_the_farthest_in_every_projection() {
        for flat in [0.0, 0.4, 0.9, 1.0] {
            let projection = projection(&Camera { flat, ..Default::default() });
            let [scale, slope] = projection.card_depth();
            let [near, far] = projection.depths;
            let card = |depth: f32| (scale + slope * depth) / (projection.lens[0] * depth + projection.lens[1]);
            assert!((card(near) - 1.0).abs() < 1e-4 && card(far).abs() < 1e-4, "{flat}");
            assert!(card(2.0) > card(3.0) && card(3.0) > card(3.001), "{flat}");
        }
    }

    #[test]
    fn a_long_lens_sees_what_an_eye_farther_back_sees() {
        let projection = projection(&Camera { flat: 0.6, azimuth: 0.7, ..Default::default() });
        let (eye, share) = projection.stand();
        for point in [[0.2, 0.1, -0.3], [-0.4, 0.0, 0.4]] {
            let offset = plus(point, eye, -1.0);
            let seen = [projection.right, projection.up]
                .map(|axis| dot(offset, axis) / (share * dot(offset, projection.forward)));
            let at = PANE.center() + Vec2::new(seen[0], -seen[1]) * PANE.size() * 0.5;
            assert!((projection.project(point, PANE).expect("shown") - at).length() < 0.02);
        }
    }

    #[test]
    fn turning_leaves_a_parallel_projection_by_and_by() {
        let mut camera = Camera { flat: 1.0, ..Default::default() };
        let mut flats = vec![camera.flat];
        for _ in 0..40 {
            camera.orbit(Vec2::new(4.0, 0.0));
            flats.push(camera.flat);
        }
        assert!(flats.windows(2).all(|pair| pair[0] - pair[1] < 0.06) && flats.is_sorted_by(|a, b| a >= b));
        assert_eq!(camera.flat, 0.0);
    }

    #[test]
    fn a_pane_of_another_proportion_keeps_what_lies_in_its_middle_and_how_large_it_is() {
        let (half, block) = (measure().half(), [0.0, 0.15]);
        for (start, pivot) in
            [(Camera::default(), [0.0, 0.1, 0.0]), (Camera { distance: 0.3, ..Default::default() }, [0.2; 3])]
        {
            let mut camera = Camera { pivot, ..start };
            camera.refit(half, block, [1.6, 0.8]);
            assert_eq!(camera.pivot, pivot);
            let framed = |camera: &Camera, aspect| {
                let mut framed = *camera;
                framed.frame(half, block, aspect);
                camera.distance / framed.distance
            };
            let (before, after) = (framed(&Camera { pivot, ..start }, 1.6), framed(&camera, 0.8));
            assert!((before / after - 1.0).abs() < 0.01, "{before} and {after} of the framing distance");
            camera.refit(half, block, [0.8, 1.6]);
            assert!((camera.distance / start.distance - 1.0).abs() < 0.01, "and back: {}", camera.distance);
        }
    }

    #[test]
    fn what_is_framed_fits_from_every_side() {
        for (azimuth, pitch, flat) in
            [(0.0, 0.3, 0.0), (0.8, 0.5, 0.0), (2.0, 1.57, 1.0), (4.0, 0.02, 0.0), (0.8, 0.5, 0.5)]
        {
            let mut camera = Camera { azimuth, pitch, flat, ..Default::default() };
            camera.frame(measure().half(), [0.0, 0.15], PANE.aspect_ratio());
            let mut reach: f32 = 0.0;
            for corner in [[-0.5, 0.0, -0.25], [0.5, 0.15, -0.25], [0.5, 0.0, 0.25], [-0.5, 0.15, 0.25]] {
                let at = projection(&camera).project(corner, PANE).expect("in front");
                assert!(PANE.contains(at), "{corner:?} lies at {at}");
                let share = (at - PANE.center()) / (PANE.size() * 0.5);
                reach = reach.max(share.x.abs().max(share.y.abs()));
            }
            assert!(reach > 0.75, "{reach} of the pane");
        }
    }

    #[test]
    fn what_is_grabbed_stays_under_the_pointer() {
        for flat in [0.0, 0.5, 1.0] {
            check_grabbed(Camera { azimuth: 0.7, flat, ..Default::default() });
        }
    }

    fn check_grabbed(mut camera: Camera) {
        let grabbed = [0.2, 0.05, -0.3];
        let before = projection(&camera);
        camera.attend(&before, grabbed);
        let attending = projection(&camera);
        for point in [[0.1, 0.0, 0.2], [-0.3, 0.1, -0.4]] {
            let [at, was] = [&attending, &before].map(|projection| projection.project(point, PANE).expect("in front"));
            assert!((at - was).length() < 0.01, "nothing has moved");
        }
        assert!((camera.distance - before.divisor(grabbed)).abs() < 1e-5, "its scale is that of the point");
        let from = attending.project(grabbed, PANE).expect("in front");
        let to = from + Vec2::new(40.0, -25.0);
        camera.pan(grabbed, attending.ray(to, PANE));
        let found = projection(&camera).project(grabbed, PANE).expect("in front");
        assert!((found - to).length() < 0.1, "{found} for {to}");
        let at_horizon = camera;
        if camera.flat < 1.0 {
            camera.pan(grabbed, Ray { way: [1.0, 1e-9, 0.0], ..attending.ray(to, PANE) });
            assert_eq!(camera, at_horizon, "the horizon drags nothing away");
        }
    }

    #[test]
    fn a_turntable_shows_the_whole_block_at_every_turn() {
        for (half, aspect) in
            [([0.5, 0.5], 1.6), ([0.5, 0.5], 16.0 / 9.0), ([0.5, 0.25], 1.6), ([0.5, 0.25], 16.0 / 9.0)]
        {
            for pitch in [0.02, 0.5, 1.57] {
                let (block, mut camera) = ([-0.04, 0.3], Camera { pitch, pivot: [0.3; 3], ..Default::default() });
                camera.frame_turning(half, block, aspect);
                assert_eq!([camera.pivot[0], camera.pivot[2]], [0.0; 2]);
                let pane = Rect::from_min_size(Pos2::ZERO, Vec2::new(100.0 * aspect, 100.0));
                let mut reach: f32 = 0.0;
                for turn in 0..97 {
                    let azimuth = camera.azimuth + turn as f32 / 97.0 * std::f32::consts::TAU;
                    let projection = Camera { azimuth, ..camera }.projection(aspect, |_| f32::MIN);
                    for corner in corners(half, block) {
                        let at = projection.project(corner, pane).expect("in front");
                        assert!(pane.contains(at), "{corner:?} lies at {at} at turn {turn}");
                        let share = (at - pane.center()) / (pane.size() * 0.5);
                        reach = reach.max(share.x.abs().max(share.y.abs()));
                    }
                }
                assert!(reach > 0.9, "{reach} of the picture");
            }
        }
    }

    #[test]
    fn zooming_keeps_the_point_under_the_pointer() {
        let point = [0.2, 0.05, -0.1];
        for (flat, factor) in [0.0, 0.4, 1.0].into_iter().flat_map(|flat| [1.3, 2.0, 0.8].map(|factor| (flat, factor)))
        {
            let mut camera = Camera { azimuth: 0.7, flat, ..Default::default() };
            let before = projection(&camera).project(point, PANE).expect("in front");
            camera.zoom(factor, point);
            let after = projection(&camera).project(point, PANE).expect("in front");
            assert!((after - before).length() < 0.05, "{before} went to {after}");
        }
    }

    #[test]
    fn a_flight_goes_the_shorter_way_round() {
        let from = Camera { azimuth: 6.0, ..Default::default() };
        let to = Camera { azimuth: 0.2, ..Default::default() };
        let way = Camera::between(&from, &to, 0.5).azimuth;
        assert!((way - 6.2416).abs() < 1e-3, "{way}");
        assert_eq!(Camera::between(&from, &to, 0.0), from);
    }
}
