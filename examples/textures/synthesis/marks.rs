//! What is strewn over the ground: strokes (blades, needles, twigs), leaves and stones, each a few numbers.

use std::f32::consts::{PI, TAU};

use upthrust::engine::random::Draw;

use super::noise::{Place, hash, mix, unit_pair};
use super::surface::{Colour, Mark, blend, scaled};

/// A straight piece of something long and thin, round in section. Blades are rows of them.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    /// Where it begins and ends.
    pub ends: [Place; 2],
    /// Half its width at both ends, in tile sides.
    pub radii: [f32; 2],
    /// The height of its axis at both ends.
    pub heights: [f32; 2],
    /// Its colour at both ends.
    pub colours: [Colour; 2],
    /// How much lighter its left side is than its right: a blade folds along its middle.
    pub fold: f32,
}

impl Mark for Stroke {
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
    /// Where it begins.
    pub root: Place,
    /// Its direction at the root, in radians.
    pub angle: f32,
    /// By how much it turns on the way to its tip, in radians.
    pub bend: f32,
    /// Its length, in tile sides.
    pub length: f32,
    /// Half its width where it is widest.
    pub radius: f32,
    /// The heights of root, crown and tip.
    pub heights: [f32; 3],
    /// The colours of root, middle and tip.
    pub colours: [Colour; 3],
    /// How much lighter its left side is than its right.
    pub fold: f32,
    /// Its width at the tip as a share of the widest.
    pub tip: f32,
}

impl Blade {
    /// Adds its strokes.
    pub fn draw(&self, strokes: &mut Vec<Stroke>) {
        const PIECES: usize = 5;
        let mut place = self.root;
        let share = |i: usize| i as f32 / PIECES as f32;
        let height = |t: f32| {
            let [root, crown, tip] = self.heights;
            let (low, high) = (1.0 - t, t);
            // A parabola through the three.
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
    /// Its middle.
    pub middle: Place,
    /// The cosine and the sine of its direction.
    pub direction: [f32; 2],
    /// Half its length and half its width.
    pub half: [f32; 2],
    /// The height of its midrib.
    pub height: f32,
    /// By how much its edges stand above the midrib; below it when negative.
    pub curl: f32,
    /// By how much its tip stands above its middle.
    pub tilt: f32,
    /// Its colour.
    pub colour: Colour,
    /// How much lighter the veins are; darker when negative.
    pub veins: f32,
    /// How deep its edge is toothed, 0 to 1.
    pub teeth: f32,
    /// Random bits for blotches.
    pub bits: u32,
}

impl Mark for Leaf {
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
        // Widest a little behind the middle; the teeth point forward.
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

/// A broken stone: a convex outline of straight edges, and flat faces that rise from them.
#[derive(Clone, Copy, Debug)]
pub struct Stone {
    /// Its middle.
    pub middle: Place,
    /// About half its width.
    pub radius: f32,
    /// The height at its edge.
    pub height: f32,
    /// How high it stands above its edge, as a share of its radius.
    pub rise: f32,
    /// Its colour.
    pub colour: Colour,
    edges: [Edge; EDGES],
    top: [f32; 3],
}

const EDGES: usize = 8;

/// The side of a stone: outward direction, distance from the middle, steepness of the face above it, lightness.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    outward: [f32; 2],
    away: f32,
    steepness: f32,
    light: f32,
}

impl Stone {
    /// A stone of random shape.
    pub fn new(draw: &mut Draw, middle: Place, radius: f32, height: f32, colour: Colour) -> Self {
        let turn = unit(draw) * TAU;
        let stretch = 0.62 + 0.38 * unit(draw);
        let (cos, sin) = (libm::cosf(turn), libm::sinf(turn));
        let mut edges = [Edge::default(); EDGES];
        for (i, edge) in edges.iter_mut().enumerate() {
            let angle = TAU * (i as f32 + 0.75 * unit(draw)) / EDGES as f32;
            let (along, aside) = (libm::cosf(angle), libm::sinf(angle));
            // The support of an ellipse in this direction, cut deeper here and there.
            let away = (along * along + stretch * stretch * aside * aside).sqrt() * between(draw, 0.72, 1.0);
            edge.outward = [along * cos - aside * sin, along * sin + aside * cos];
            edge.away = away;
            edge.steepness = between(draw, 0.7, 2.6);
            edge.light = between(draw, 0.9, 1.1);
        }
        let top = [between(draw, -0.35, 0.35), between(draw, -0.35, 0.35), between(draw, 0.3, 0.75)];
        Self { middle, radius, height, rise: 1.0, colour, edges, top }
    }
}

impl Mark for Stone {
    fn bounds(&self) -> [f32; 4] {
        // Where two edges meet at a sharp angle the outline reaches beyond both.
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

/// A random place on the tile.
pub fn anywhere(draw: &mut Draw) -> Place {
    [unit(draw), unit(draw)]
}

/// Uniform in [0, 1).
pub fn unit(draw: &mut Draw) -> f32 {
    (draw.unit() as f32).min(1.0 - f32::EPSILON)
}

/// Uniform from `low` to `high`.
pub fn between(draw: &mut Draw, low: f32, high: f32) -> f32 {
    mix(low, high, unit(draw))
}

/// A random direction in radians.
pub fn any_angle(draw: &mut Draw) -> f32 {
    between(draw, -PI, PI)
}

/// Fresh bits for a mark.
pub fn bits(draw: &mut Draw) -> u32 {
    hash((draw.unit() * 4_294_967_295.0) as u32, 5, 6)
}
