//! Small objects that are scattered on a surface: strokes (blades, needles, twigs), leaves and stones.

use std::f32::consts::{PI, TAU};

use upthrust::engine::random::Rng;

use super::noise::{Place, hash, mix, unit_pair};
use super::surface::{Colour, Object, blend, scaled};

/// A straight, thin piece with a round cross section. Blades consist of several.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    /// The start and the end.
    pub ends: [Place; 2],
    /// Half the width at both ends, in tile sides.
    pub radii: [f32; 2],
    /// The height of its axis at both ends.
    pub heights: [f32; 2],
    /// Its colour at both ends.
    pub colours: [Colour; 2],
    /// How much lighter the left side is than the right: blades are folded along the middle.
    pub fold: f32,
}

impl Object for Stroke {
    fn bounds(&self) -> [f32; 4] {
        let [[ax, ay], [bx, by]] = self.ends;
        let radius = self.radii[0].max(self.radii[1]);
        [ax.min(bx) - radius, ay.min(by) - radius, ax.max(bx) + radius, ay.max(by) + radius]
    }

    fn at(&self, [x, y]: Place) -> Option<(f32, Colour)> {
        let [[ax, ay], [bx, by]] = self.ends;
        let (along_x, along_y) = (bx - ax, by - ay);
        let square = (along_x * along_x + along_y * along_y).max(1e-12);
        let t = (((x - ax) * along_x + (y - ay) * along_y) / square).clamp(0.0, 1.0);
        let (dx, dy) = (x - ax - t * along_x, y - ay - t * along_y);
        let radius = mix(self.radii[0], self.radii[1], t);
        let aside = (dx * dx + dy * dy) / (radius * radius).max(1e-12);
        if aside > 1.0 {
            return None;
        }
        let left = if dx * along_y > dy * along_x { 1.0 } else { -1.0 };
        let colour = blend(self.colours[0], self.colours[1], t);
        let height = mix(self.heights[0], self.heights[1], t) + 0.7 * radius * (1.0 - aside);
        Some((height, scaled(colour, 1.0 + self.fold * left)))
    }
}

/// A bent stroke that tapers: root, direction, length, bend.
#[derive(Clone, Copy, Debug)]
pub struct Blade {
    /// The start.
    pub root: Place,
    /// Its direction at the root, in radians.
    pub angle: f32,
    /// The change of direction up to the tip, in radians.
    pub bend: f32,
    /// Its length, in tile sides.
    pub length: f32,
    /// Half the largest width.
    pub radius: f32,
    /// The heights of root, crown and tip.
    pub heights: [f32; 3],
    /// The colours of root, middle and tip.
    pub colours: [Colour; 3],
    /// How much lighter the left side is than the right.
    pub fold: f32,
    /// The width at the tip as a share of the largest width.
    pub tip: f32,
}

impl Blade {
    /// Adds the strokes of the blade.
    pub fn draw(&self, strokes: &mut Vec<Stroke>) {
        const PIECES: usize = 5;
        let mut place = self.root;
        let share = |i: usize| i as f32 / PIECES as f32;
        let height = |t: f32| {
            let [root, crown, tip] = self.heights;
            let (low, high) = (1.0 - t, t);
            // A parabola through root, crown and tip.
            root * low * (1.0 - 2.0 * t) + 4.0 * crown * low * high + tip * t * (2.0 * t - 1.0)
        };
        let radius = |t: f32| {
            let full = if t < 0.35 { mix(0.65, 1.0, t / 0.35) } else { mix(1.0, self.tip, (t - 0.35) / 0.65) };
            self.radius * full
        };
        let colour = |t: f32| super::surface::ramp(&self.colours, t);
        for i in 0..PIECES {
            let (t, next) = (share(i), share(i + 1));
            let angle = self.angle + self.bend * t * t;
            let step = self.length / PIECES as f32;
            let end = [place[0] + step * libm::cosf(angle), place[1] + step * libm::sinf(angle)];
            strokes.push(Stroke {
                ends: [place, end],
                radii: [radius(t), radius(next)],
                heights: [height(t), height(next)],
                colours: [colour(t), colour(next)],
                fold: self.fold,
            });
            place = end;
        }
    }
}

/// A fallen or growing leaf, pointed at both ends.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// The centre.
    pub middle: Place,
    /// The cosine and the sine of the direction.
    pub direction: [f32; 2],
    /// Half the length and half the width.
    pub half: [f32; 2],
    /// The height of its midrib.
    pub height: f32,
    /// The height of the edges above the midrib; below it if negative.
    pub curl: f32,
    /// The height of the tip above the centre.
    pub tilt: f32,
    /// Its colour.
    pub colour: Colour,
    /// How much lighter the veins are; darker if negative.
    pub veins: f32,
    /// The depth of the teeth of the edge, 0 to 1.
    pub teeth: f32,
    /// Random bits for blotches.
    pub bits: u32,
}

impl Object for Leaf {
    fn bounds(&self) -> [f32; 4] {
        let [x, y] = self.middle;
        let reach = self.half[0].max(self.half[1]);
        [x - reach, y - reach, x + reach, y + reach]
    }

    fn at(&self, [x, y]: Place) -> Option<(f32, Colour)> {
        let [cos, sin] = self.direction;
        let (dx, dy) = (x - self.middle[0], y - self.middle[1]);
        let u = (dx * cos + dy * sin) / self.half[0];
        let v = (dy * cos - dx * sin) / self.half[1];
        if u.abs() >= 1.0 {
            return None;
        }
        // Widest slightly behind the centre; the teeth point forward.
        let outline = (1.0 - u * u) * (1.0 - 0.3 * u);
        let saw = 7.0 * u + 2.0 * v.abs();
        let outline = outline * (1.0 - self.teeth * (saw - saw.floor()));
        let across = v.abs();
        if across >= outline {
            return None;
        }
        let [phase, stain] = unit_pair(self.bits);
        let rib = if across < 0.07 * (1.2 - u) { 1.0 } else { 0.0 };
        let side_vein = 6.0 * (u - 0.55 * across) + phase;
        let side_vein = side_vein - side_vein.floor();
        let vein = if side_vein < 0.14 { 0.45 } else { 0.0 };
        let blotch = 0.18 * libm::sinf(5.0 * u + TAU * stain) * libm::sinf(4.0 * v + TAU * phase);
        let edge = 1.0 - 0.22 * (across / outline) * (across / outline);
        let lit = (1.0 + self.veins * f32::max(rib, vein) + blotch) * edge;
        let height = self.height + self.curl * v * v + self.tilt * u;
        Some((height, scaled(self.colour, lit)))
    }
}

/// A broken stone: a convex polygon with flat faces rising from its edges.
#[derive(Clone, Copy, Debug)]
pub struct Stone {
    /// The centre.
    pub middle: Place,
    /// About half the width.
    pub radius: f32,
    /// The height at the edge.
    pub height: f32,
    /// The height above the edge as a share of the radius.
    pub rise: f32,
    /// Its colour.
    pub colour: Colour,
    edges: [Edge; EDGES],
    top: [f32; 3],
}

const EDGES: usize = 8;

/// A side of a stone: outward direction, distance from the centre, steepness of the face and lightness.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    outward: [f32; 2],
    away: f32,
    steepness: f32,
    light: f32,
}

impl Stone {
    /// A stone of random shape.
    pub fn new(rng: &mut Rng, middle: Place, radius: f32, height: f32, colour: Colour) -> Self {
        let turn = unit(rng) * TAU;
        let stretch = 0.62 + 0.38 * unit(rng);
        let (cos, sin) = (libm::cosf(turn), libm::sinf(turn));
        let mut edges = [Edge::default(); EDGES];
        for (i, edge) in edges.iter_mut().enumerate() {
            let angle = TAU * (i as f32 + 0.75 * unit(rng)) / EDGES as f32;
            let (along, aside) = (libm::cosf(angle), libm::sinf(angle));
            // The support function of an ellipse, with some sides cut deeper.
            let away = (along * along + stretch * stretch * aside * aside).sqrt() * between(rng, 0.72, 1.0);
            edge.outward = [along * cos - aside * sin, along * sin + aside * cos];
            edge.away = away;
            edge.steepness = between(rng, 0.7, 2.6);
            edge.light = between(rng, 0.9, 1.1);
        }
        let top = [between(rng, -0.35, 0.35), between(rng, -0.35, 0.35), between(rng, 0.3, 0.75)];
        Self { middle, radius, height, rise: 1.0, colour, edges, top }
    }
}

impl Object for Stone {
    fn bounds(&self) -> [f32; 4] {
        // At a sharp corner the outline reaches beyond the distances of both edges.
        let [x, y] = self.middle;
        let reach = 1.25 * self.radius;
        [x - reach, y - reach, x + reach, y + reach]
    }

    fn at(&self, [x, y]: Place) -> Option<(f32, Colour)> {
        let (dx, dy) = ((x - self.middle[0]) / self.radius, (y - self.middle[1]) / self.radius);
        let mut height = self.top[2] + self.top[0] * dx + self.top[1] * dy;
        let mut light = 1.0;
        for edge in &self.edges {
            let inside = edge.away - edge.outward[0] * dx - edge.outward[1] * dy;
            if inside <= 0.0 {
                return None;
            }
            let face = edge.steepness * inside;
            if face < height {
                (height, light) = (face, edge.light);
            }
        }
        Some((self.height + self.rise * self.radius * height, scaled(self.colour, light)))
    }
}

/// A random position on the tile.
pub fn anywhere(rng: &mut Rng) -> Place {
    [unit(rng), unit(rng)]
}

/// Uniform in [0, 1).
pub fn unit(rng: &mut Rng) -> f32 {
    (rng.unit() as f32).min(1.0 - f32::EPSILON)
}

/// Uniform from `low` to `high`.
pub fn between(rng: &mut Rng, low: f32, high: f32) -> f32 {
    mix(low, high, unit(rng))
}

/// A random direction in radians.
pub fn any_angle(rng: &mut Rng) -> f32 {
    between(rng, -PI, PI)
}

/// Random bits for an object.
pub fn bits(rng: &mut Rng) -> u32 {
    hash((rng.unit() * 4_294_967_295.0) as u32, 5, 6)
}
