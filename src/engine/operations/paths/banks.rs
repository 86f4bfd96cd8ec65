//! The banks beside a carriageway: how high and how low the terrain may be.
//!
//! With the tangent T of the banks' angle, the highest terrain at a point p is U(p) = min over all points q of the
//! carriageway of P(q) + T·|p − q|; the lowest is L(p) = max of P(q) − T·|p − q|, which is −U for the heights −P.
//!
//! The carriageway consists of the strips along its straight pieces, of wedges on the outer sides of corners, and of
//! half discs at open ends. Grades below T make the minimum lie on the border, so U is the minimum over the edges of the
//! strips, where it has a closed form (for a straight edge with heights that rise by γ per metre, the best point of an
//! infinite edge lies e·γ/√(T² − γ²) behind the perpendicular from p, which has the length e), and over the arcs of
//! wedges and discs. It is exact wherever a strip does not reach into others. On the inner side of a bend, strips
//! overlap, and a point of the overlap counts with the heights of all its strips, not only of the nearest one: these
//! differ by at most the grade times the length of curve along which the strips overlap.

use crate::curve::{Bounds, Piece, distance_m};

/// The elements whose bounds are tested before them.
const GROUP: usize = 64;

/// Selections of elements are more generous than they need to be by this height, which is far above rounding errors.
const MARGIN_M: f64 = 0.01;

/// Stands for an infinite length.
const FAR_M: f64 = 1e9;

/// A strip, with the wedge or the half disc at its start. The last element of an open carriageway is a half disc alone.
struct Element {
    piece: Piece,
    /// The direction of the piece before; 0 at an open end.
    before: [f64; 2],
    halves_m: [f64; 2],
    heights: [f64; 2],
    /// The direction of the right edge in coordinates along the piece and away from it, and its length.
    edge: [f64; 2],
    edge_m: f64,
    /// The rise of the heights along the edge in metres per metre, and the offset of the best point for e = 1.
    rise: f64,
    offset: f64,
}

impl Element {
    fn new(piece: Piece, before: [f64; 2], halves_m: [f64; 2], heights: [f64; 2], slope: f64) -> Self {
        let widening_m = halves_m[1] - halves_m[0];
        let edge_m = libm::hypot(piece.length_m, widening_m);
        let per_m = |length: f64| if edge_m > 0.0 { length / edge_m } else { 0.0 };
        let (edge, rise) = ([per_m(piece.length_m), per_m(widening_m)], per_m(heights[1] - heights[0]));
        let rest = slope * slope - rise * rise;
        let offset = if rest > 0.0 { (rise / rest.sqrt()).clamp(-FAR_M, FAR_M) } else { FAR_M.copysign(rise) };
        Self { piece, before, halves_m, heights, edge, edge_m, rise, offset }
    }

    /// The least height over the points of the element's border.
    #[inline(always)]
    fn limit(&self, [px, pz]: [f64; 2], slope: f64) -> f64 {
        let [x, z] = [px - self.piece.start_m[0], pz - self.piece.start_m[1]];
        let [ax, az] = self.piece.along;
        let along_m = x * ax + z * az;
        let out_m = (z * ax - x * az).abs() - self.halves_m[0];
        let mut limit = f64::INFINITY;
        if self.edge_m > 0.0 {
            let [run, widening] = self.edge;
            let at_m = along_m * run + out_m * widening;
            let away_m = (out_m * run - along_m * widening).abs();
            let best_m = (at_m - away_m * self.offset).clamp(0.0, self.edge_m);
            let behind_m = at_m - best_m;
            limit = self.heights[0] + self.rise * best_m + slope * (behind_m * behind_m + away_m * away_m).sqrt();
        }
        if along_m <= 0.0 && x * self.before[0] + z * self.before[1] >= 0.0 {
            let away_m = ((x * x + z * z).sqrt() - self.halves_m[0]).max(0.0);
            limit = limit.min(self.heights[0] + slope * away_m);
        }
        limit
    }

    fn lowest(&self) -> f64 {
        self.heights[0].min(self.heights[1])
    }

    fn widest_m(&self) -> f64 {
        self.halves_m[0].max(self.halves_m[1])
    }
}

/// What is known of several elements without looking at each.
struct GroupBounds {
    bounds: Bounds,
    lowest: f64,
    widest_m: f64,
}

/// The upper limit U of the terrain beside a carriageway.
pub(super) struct UpperLimit {
    elements: Vec<Element>,
    groups: Vec<GroupBounds>,
    slope: f64,
}

impl UpperLimit {
    /// The limit for a carriageway along the pieces, with half its width and its height at every point of them.
    pub fn new(pieces: &[Piece], is_closed: bool, halves_m: &[f64], heights: &[f64], slope: f64) -> Self {
        let first = pieces.last().filter(|_| is_closed).map_or([0.0; 2], |last| last.along);
        let all_before = std::iter::once(first).chain(pieces.iter().map(|piece| piece.along));
        let element = |(i, (piece, before)): (usize, (&Piece, [f64; 2]))| {
            Element::new(*piece, before, [halves_m[i], halves_m[i + 1]], [heights[i], heights[i + 1]], slope)
        };
        let mut elements: Vec<Element> = pieces.iter().zip(all_before).enumerate().map(element).collect();
        if let (Some(last), false) = (pieces.last(), is_closed) {
            let end = Piece::new(last.end_m, last.end_m);
            let at_end = |values: &[f64]| [values.last().copied().unwrap_or_default(); 2];
            elements.push(Element::new(end, last.along, at_end(halves_m), at_end(heights), slope));
        }
        let group = |elements: &[Element]| GroupBounds {
            bounds: Bounds::of(elements.iter().flat_map(|element| [element.piece.start_m, element.piece.end_m])),
            lowest: elements.iter().map(Element::lowest).fold(f64::INFINITY, f64::min),
            widest_m: elements.iter().map(Element::widest_m).fold(0.0, f64::max),
        };
        let groups = elements.chunks(GROUP).map(group).collect();
        Self { elements, groups, slope }
    }

    /// At most the lowest limit within `radius_m` of a centre.
    pub fn lower_bound(&self, centre: [f64; 2], radius_m: f64) -> f64 {
        self.groups.iter().map(|group| self.group_bound(group, centre, radius_m)).fold(f64::INFINITY, f64::min)
    }

    fn group_bound(&self, group: &GroupBounds, centre: [f64; 2], radius_m: f64) -> f64 {
        let away_m = group.bounds.distance_m(centre) - radius_m - group.widest_m;
        group.lowest + self.slope * away_m.max(0.0) - MARGIN_M
    }

    /// Finds the elements that can have the least limit at a point within `radius_m` of a centre.
    pub fn find(&self, centre: [f64; 2], radius_m: f64, found: &mut Vec<usize>) {
        found.clear();
        let at_most = |element: &Element| {
            let far_m = distance_m(centre, element.piece.start_m) + radius_m + element.halves_m[0];
            element.heights[0] + self.slope * far_m
        };
        let mut least = self.elements.chunks(GROUP).map(|group| at_most(&group[0])).fold(f64::INFINITY, f64::min);
        let mut near = Vec::new();
        for (i, (group, elements)) in self.groups.iter().zip(self.elements.chunks(GROUP)).enumerate() {
            if self.group_bound(group, centre, radius_m) > least {
                continue;
            }
            for (k, element) in elements.iter().enumerate() {
                let (squared_m2, _) = element.piece.nearest(centre);
                let away_m = squared_m2.sqrt() - radius_m - element.widest_m();
                near.push((element.lowest() + self.slope * away_m.max(0.0) - MARGIN_M, i * GROUP + k));
                least = least.min(at_most(element));
            }
        }
        found.extend(near.into_iter().filter(|(lower, _)| *lower <= least).map(|(_, i)| i));
    }

    /// The least limit of some elements at a point.
    #[inline(always)]
    pub fn at(&self, point: [f64; 2], elements: impl Iterator<Item = usize>) -> f64 {
        elements.map(|i| self.elements[i].limit(point, self.slope)).fold(f64::INFINITY, f64::min)
    }

    /// The number of elements.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.elements.len()
    }
}
