//! The carriageway of a road or the bed of a river, with its banks, laid into the terrain.

use super::banks::UpperLimit;
use super::stations::Stations;
use super::terrain_map::{Block, TerrainMap};
use crate::curve::{Nearest, Polyline};
use crate::heightfield::mix;
use crate::progress::{Cancelled, Progress};

/// The highest place where banks from two stretches of a path meet in a wall, because they are too close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// Metres east and south of the map's north-west corner.
    pub at_m: [f64; 2],
    /// The height that banks would have to bridge there, metres.
    pub height_m: f64,
}

/// What laying a carriageway moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Earthworks {
    /// The volume that is taken away, m³.
    pub cut_m3: f64,
    /// The volume that is added, m³.
    pub fill_m3: f64,
    /// The highest wall.
    pub wall: Option<Wall>,
}

impl Earthworks {
    fn with(self, other: Self) -> Self {
        let height_m = |wall: Option<Wall>| wall.map_or(0.0, |wall| wall.height_m);
        let wall = if height_m(other.wall) > height_m(self.wall) { other.wall } else { self.wall };
        Self { cut_m3: self.cut_m3 + other.cut_m3, fill_m3: self.fill_m3 + other.fill_m3, wall }
    }
}

/// The width of the verge on each side of a road, as a share of the road's width. A verge is level with the carriageway.
///
/// One cell inside the edge of a road four cells wide, bilinear interpolation reads samples up to (√2 − 1) cells beyond
/// the edge. Without a verge these are on the bank, which tilts the road there by up to tan(bank)·0.5 %. With a verge of a
/// quarter of a cell it is at most tan(bank)·0.03 %.
const VERGE: f64 = 1.0 / 16.0;

/// How far from the nearest point of its middle line the height of a road is taken at most, as a share of a piece.
const MAX_STEP: f64 = 2.0;

/// A carriageway that is level across, or the bed of a river.
pub(super) struct Carriageway {
    line: Polyline,
    halves_m: Vec<f64>,
    heights: Vec<f64>,
    tangents: Vec<[f64; 2]>,
    /// How deep the bed is in the middle; 0 for a road.
    depth_m: f64,
    widest_m: f64,
    highest: f64,
    /// The limits U and, for the heights upside down, −L.
    limits: [UpperLimit; 2],
}

/// The elements that matter in a block.
#[derive(Default)]
struct Near {
    pieces: Vec<usize>,
    limits: [Vec<usize>; 2],
}

impl Carriageway {
    /// A road with these heights at its stations, verges on both sides, and banks with this tangent.
    pub fn of_road(stations: &Stations, heights: Vec<f64>, slope: f64) -> Self {
        Self::new(stations, stations.halves_with_verges(VERGE), heights, slope, 0.0)
    }

    /// The bed of a river with these heights of its water at its stations, and banks with this tangent.
    pub fn of_river(stations: &Stations, heights: Vec<f64>, slope: f64, depth_m: f64) -> Self {
        Self::new(stations, stations.halves_m.clone(), heights, slope, depth_m)
    }

    fn new(stations: &Stations, halves_m: Vec<f64>, heights: Vec<f64>, slope: f64, depth_m: f64) -> Self {
        let line = Polyline::new(&stations.points, stations.is_closed);
        let limit = |heights: &[f64]| UpperLimit::new(&line.pieces, line.is_closed, &halves_m, heights, slope);
        let upside_down: Vec<f64> = heights.iter().map(|height| -height).collect();
        let limits = [limit(&heights), limit(&upside_down)];
        let widest_m = halves_m.iter().copied().fold(0.0, f64::max);
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tangents = stations.tangents.clone();
        Self { line, halves_m, heights, tangents, depth_m, widest_m, highest, limits }
    }

    /// The height of a road at a point whose nearest point on its middle line is known.
    ///
    /// Level lines across the road are normal to the curve, which turns evenly, and not to the pieces of its polyline:
    /// these would tilt the road beside every corner by the grade times half the angle.
    #[inline(always)]
    fn road_height(&self, point: [f64; 2], nearest: &Nearest) -> f64 {
        let own = nearest.value(&self.heights);
        let (first, piece) = (nearest.piece, self.line.pieces[nearest.piece]);
        let [before, after] = [self.tangents[first], self.tangents[first + 1]];
        let along = [0, 1].map(|axis| mix(before[axis], after[axis], nearest.share));
        let away_m = [0, 1].map(|axis| point[axis] - mix(piece.start_m[axis], piece.end_m[axis], nearest.share));
        let ahead_m = away_m[0] * along[0] + away_m[1] * along[1];
        let is_end = !self.line.is_closed
            && ((first == 0 && nearest.share == 0.0 && ahead_m < 0.0)
                || (first + 1 == self.line.pieces.len() && nearest.share == 1.0 && ahead_m > 0.0));
        if is_end || piece.length_m <= 0.0 {
            return own;
        }
        // The share of the piece at which the point is straight across: one step of Newton's method. On the inner side of a
        // bend the road advances by less than the curve, until the normals meet; there, and where the curve turns back on
        // itself, the step is limited.
        let run_m = piece.length_m * (piece.along[0] * along[0] + piece.along[1] * along[1]);
        let turn_m = away_m[0] * (after[0] - before[0]) + away_m[1] * (after[1] - before[1]);
        let share = (ahead_m / (run_m - turn_m).max(0.25 * piece.length_m)).clamp(-MAX_STEP, MAX_STEP);
        own + share * (self.heights[first + 1] - self.heights[first])
    }

    /// The height at a point of the terrain, and the height of the wall there.
    #[inline(always)]
    fn height_at<I: Iterator<Item = usize>>(
        &self,
        point: [f64; 2],
        height: f64,
        pieces: I,
        [upper, lower]: [I; 2],
    ) -> (f64, f64) {
        if let Some(nearest) = self.line.nearest_of(point, pieces) {
            let half_m = nearest.value(&self.halves_m);
            let squared_m2 = half_m * half_m;
            if nearest.squared_m2 <= squared_m2 {
                if self.depth_m <= 0.0 {
                    return (self.road_height(point, &nearest), 0.0);
                }
                // A parabola, whose edges are at the height of the water.
                let bed = nearest.value(&self.heights) - self.depth_m * (1.0 - nearest.squared_m2 / squared_m2);
                return (bed, 0.0);
            }
        }
        let most = self.limits[0].at(point, upper);
        let least = -self.limits[1].at(point, lower);
        if least > most { (0.5 * (least + most), least - most) } else { (height.max(least).min(most), 0.0) }
    }

    /// What matters in a block; `None` if the carriageway and its banks leave the block as it is.
    fn near(&self, block: &Block) -> Option<Near> {
        let (centre, radius_m) = block.disc();
        let [low, high] = block.range();
        let [most, least] =
            [self.limits[0].lower_bound(centre, radius_m), -self.limits[1].lower_bound(centre, radius_m)];
        // The bed is below the water, which the limits do not know.
        if least <= low && most >= high.max(if self.depth_m > 0.0 { self.highest } else { high }) {
            return None;
        }
        let mut near = Near::default();
        self.line.find_nearest(centre, radius_m, self.widest_m, &mut near.pieces);
        for (limit, found) in self.limits.iter().zip(&mut near.limits) {
            limit.find(centre, radius_m, found);
        }
        Some(near)
    }

    /// Lays the carriageway into the terrain.
    pub fn lay(&self, land: &mut TerrainMap, progress: &Progress) -> Result<Earthworks, Cancelled> {
        let blocks = land.map_blocks(progress, |block| {
            let mut works = Earthworks::default();
            let Some(near) = self.near(block) else { return works };
            let [upper, lower] = &near.limits;
            let mut changed = Vec::new();
            block.update(|point, height| {
                let limits = [upper.iter().copied(), lower.iter().copied()];
                let (laid, wall_m) = self.height_at(point, height, near.pieces.iter().copied(), limits);
                changed.push((point, laid - height, wall_m));
                laid
            });
            for (point, change_m, height_m) in changed {
                let volume_m3 = change_m * block.area_m2(point);
                works.fill_m3 += volume_m3.max(0.0);
                works.cut_m3 += (-volume_m3).max(0.0);
                if height_m > works.wall.map_or(0.0, |wall| wall.height_m) {
                    works.wall = Some(Wall { at_m: point, height_m });
                }
            }
            works
        })?;
        Ok(blocks.into_iter().fold(Earthworks::default(), Earthworks::with))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{land, path};
    use super::*;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::operations::testing::rough_terrain;
    use crate::random::Stream;

    /// A winding carriageway with random heights, which bends back on itself.
    fn carriageway(is_closed: bool, depth_m: f64) -> Carriageway {
        let nodes = [[100.0, 100.0], [400.0, 150.0], [380.0, 250.0], [120.0, 300.0], [160.0, 420.0], [480.0, 400.0]];
        let mut road = path(super::super::path::PathKind::Road, &nodes);
        (road.closed, road.width_m) = (is_closed, 20.0);
        road.nodes[2].width_m = Some(40.0);
        let stations = Stations::along(&road.curve());
        let mut rng = Stream::new(1, 1).at(1);
        let mut heights: Vec<f64> = stations.points.iter().map(|_| rng.between(400.0, 600.0)).collect();
        if let (true, Some(last)) = (is_closed, heights.len().checked_sub(1)) {
            heights[last] = heights[0];
        }
        stations.limit_grade(&mut heights, &[], 0.2);
        let halves_m = stations.halves_m.clone();
        Carriageway::new(&stations, halves_m, heights, 0.7, depth_m)
    }

    #[test]
    fn blocks_give_what_all_pieces_give() {
        let terrain = rough_terrain(Grid::new(Extent { width_m: 600.0, depth_m: 500.0 }, 97, 81));
        for (is_closed, depth_m) in [(false, 0.0), (true, 0.0), (false, 4.0)] {
            let road = carriageway(is_closed, depth_m);
            let (mut blocks, mut plain) = (land(&terrain), land(&terrain));
            road.lay(&mut blocks, &Progress::new()).expect("not cancelled");
            let all = || 0..road.limits[0].count();
            let whole = |block: &mut Block| {
                block
                    .update(|point, height| road.height_at(point, height, 0..road.line.pieces.len(), [all(), all()]).0);
            };
            plain.map_blocks(&Progress::new(), whole).expect("not cancelled");
            let [blocks, plain] =
                [blocks, plain].map(|land| land.heightfield(&Progress::new()).expect("not cancelled"));
            assert!(blocks == plain && blocks != terrain);
        }
    }

    /// The closed forms against the definition of U, with the carriageway as points every half metre.
    #[test]
    fn banks_are_the_envelope_of_the_cones_over_the_carriageway() {
        let road = carriageway(false, 0.0);
        let mut points = Vec::new();
        for (c, r) in (0..1200).flat_map(|c| (0..1000).map(move |r| (c, r))) {
            let point = [0.5 * f64::from(c), 0.5 * f64::from(r)];
            let nearest = road.line.nearest_of(point, 0..road.line.pieces.len()).expect("pieces");
            let half_m = nearest.value(&road.halves_m);
            if nearest.squared_m2 <= half_m * half_m {
                points.push((point, nearest.value(&road.heights)));
            }
        }
        let mut rng = Stream::new(4, 4).at(1);
        for _ in 0..300 {
            let at = [rng.between(0.0, 600.0), rng.between(0.0, 500.0)];
            let nearest = road.line.nearest_of(at, 0..road.line.pieces.len()).expect("pieces");
            if nearest.squared_m2.sqrt() <= nearest.value(&road.halves_m) {
                continue;
            }
            let cone = |(point, height): &([f64; 2], f64)| height + 0.7 * crate::curve::distance_m(at, *point);
            let sampled = points.iter().map(cone).fold(f64::INFINITY, f64::min);
            let found = road.limits[0].at(at, 0..road.limits[0].count());
            assert!((-0.1..0.6).contains(&(sampled - found)), "{at:?}: {found}, sampled {sampled}");
        }
    }

    #[test]
    fn a_level_road_moves_what_its_cross_section_says() {
        let grid = Grid::new(Extent { width_m: 400.0, depth_m: 400.0 }, 401, 401);
        let terrain = Heightfield::from_fn(grid, |_, _| 10.0);
        let road = path(super::super::path::PathKind::Road, &[[-100.0, 200.0], [500.0, 200.0]]);
        let stations = Stations::along(&road.curve());
        let heights = vec![4.0; stations.points.len()];
        let mut land = land(&terrain);
        let works = Carriageway::of_road(&stations, heights, 0.5).lay(&mut land, &Progress::new()).expect("done");
        // 24 m and two verges of 1.5 m wide, 6 m deep, banks 12 m wide on each side: (27 + 12)·6 m² over 400 m.
        assert!((works.cut_m3 - 93_600.0).abs() < 0.01 * 93_600.0, "{works:?}");
        assert_eq!((works.fill_m3, works.wall), (0.0, None));
        let built = land.heightfield(&Progress::new()).expect("not cancelled");
        let profile: Vec<f32> = [200, 213, 214, 220, 225, 226].map(|r| built[(200, r)]).to_vec();
        assert_eq!(profile, [4.0, 4.0, 4.25, 7.25, 9.75, 10.0]);
    }
}
