//! Limits slopes: what is steeper slides down to the critical slope.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::drainage::Drainage;
use super::grid::NEIGHBOURS;
use super::source::Source;
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// Lowers points until no edge is steeper than the critical slope, of which `critical_slope` is the tangent. Where the detail
/// of the source is left, edges may also be as steep as in the source. `drainage` has the edges. Slides end at the level of
/// the sea. The border keeps its heights if all of it is the outlet; other outlets may slide.
///
/// A point ends above the neighbour that it slides down to, so there are no new pits, and the heights do not depend on the
/// order in which points are visited.
pub(super) fn limit_slopes(
    heights: &mut Heightfield,
    drainage: &Drainage,
    source: &Source,
    critical_slope: f32,
    progress: &Progress,
) -> Result<(), Cancelled> {
    let grid = heights.grid();
    let limit = SlopeLimit { grid, drainage, source, critical_slope };
    let steep_in_row = |r: usize| {
        let heights = heights.heights();
        let is_steep = |point: &usize| {
            limit.neighbours(*point, heights[*point]).any(|(neighbour, limit_m)| heights[neighbour] > limit_m)
        };
        let points = (r * grid.width()..(r + 1) * grid.width()).filter(is_steep);
        progress.check().map(|()| points.collect::<Vec<usize>>())
    };
    let steep = (0..grid.height()).into_par_iter().with_min_len(8).map(steep_in_row);
    let mut pending: VecDeque<usize> = steep.collect::<Result<Vec<_>, Cancelled>>()?.into_iter().flatten().collect();
    let heights = heights.heights_mut();
    let mut visits = 0_usize;
    while let Some(point) = pending.pop_front() {
        for (neighbour, limit_m) in limit.neighbours(point, heights[point]) {
            if heights[neighbour] > limit_m {
                heights[neighbour] = limit_m;
                pending.push_back(neighbour);
            }
        }
        visits += 1;
        if visits.is_multiple_of(1 << 12) {
            progress.check()?;
        }
    }
    Ok(())
}

/// The limits of [`limit_slopes`].
struct SlopeLimit<'a> {
    grid: Grid,
    drainage: &'a Drainage,
    source: &'a Source,
    critical_slope: f32,
}

impl SlopeLimit<'_> {
    /// The neighbours of a point at a height that may slide, and the largest height of each, metres. Points are row-major
    /// indices.
    fn neighbours(&self, point: usize, height_m: f32) -> impl Iterator<Item = (usize, f32)> {
        let (width, height) = (self.grid.width(), self.grid.height());
        let (c, r) = (point % width, point / width);
        let base_m = height_m.max(self.drainage.sea_m());
        let padded = self.drainage.padded(c, r);
        NEIGHBOURS.iter().enumerate().filter_map(move |(direction, [east, south])| {
            let (c, r) = (c.checked_add_signed(*east)?, r.checked_add_signed(*south)?);
            if c >= width || r >= height || self.drainage.options.is_end(self.grid, c, r, f32::INFINITY) {
                return None;
            }
            let per_m = self.drainage.reciprocal_length(padded, direction);
            let neighbour = r * width + c;
            (per_m > 0.0).then(|| (neighbour, base_m + self.rise_m(neighbour, point, per_m)))
        })
    }

    /// The most that a point may be above a neighbour, metres.
    fn rise_m(&self, point: usize, neighbour: usize, per_m: f32) -> f32 {
        let critical_m = self.critical_slope / per_m;
        let source = self.source.heights.heights();
        let left = self.source.left.heights()[point];
        critical_m + left * (source[point] - source[neighbour] - critical_m).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Mesh;
    use super::super::options::{Outlets, RoutingOptions};
    use super::*;
    use crate::heightfield::Extent;
    use crate::random::Stream;

    fn limited(
        mesh: &Mesh,
        heights: &Heightfield,
        source: &Source,
        routing: RoutingOptions,
        critical_slope: f32,
    ) -> Heightfield {
        let progress = Progress::new();
        let drainage = Drainage::new(mesh, routing, &progress).expect("not cancelled");
        let mut limited = heights.copied(&progress).expect("not cancelled");
        limit_slopes(&mut limited, &drainage, source, critical_slope, &progress).expect("not cancelled");
        limited
    }

    const HOLLOWS: RoutingOptions = RoutingOptions { outlets: Outlets::Hollows, sea_m: None };

    #[test]
    fn the_edge_of_a_plateau_slides_in_all_directions() {
        let grid = Grid::new(Extent { width_m: 80.0, depth_m: 80.0 }, 9, 9);
        let plateau = Heightfield::from_fn(grid, |c, r| if c < 2 || r < 2 { 0.0 } else { 30.0 });
        let source = |left: f32| Source {
            heights: plateau.copied(&Progress::new()).expect("not cancelled"),
            left: Heightfield::from_fn(grid, |_, _| left),
        };
        let limited = |source: &Source, outlets: Outlets| {
            limited(&Mesh::regular(grid), &plateau, source, RoutingOptions { outlets, sea_m: None }, 0.75)
        };
        // 7.5 m a spacing: the distance to the foot is the smaller one of those in rows and columns.
        let expected = Heightfield::from_fn(grid, |c, r| (7.5 * c.min(r).saturating_sub(1) as f32).min(30.0));
        assert_eq!(limited(&source(0.0), Outlets::Hollows), expected);
        // Half of the slope of the source is left: 18.75 m at the edge.
        let half = limited(&source(0.5), Outlets::Hollows);
        assert_eq!([half[(2, 8)], half[(3, 8)], half[(4, 8)]], [18.75, 26.25, 30.0]);
        // A uniform source has no slope that could be left.
        let flat = Source { heights: Heightfield::flat(grid), left: source(1.0).left };
        assert_eq!(limited(&flat, Outlets::Hollows), expected);
        assert_eq!(limited(&source(1.0), Outlets::Hollows), plateau);
        let border = limited(&source(0.0), Outlets::Border);
        assert_eq!([border[(2, 8)], border[(2, 7)], border[(3, 8)]], [30.0, 7.5, 30.0], "the border keeps its heights");
    }

    #[test]
    fn coasts_slide_to_the_level_of_the_sea_in_any_order() {
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 20.0 }, 5, 3);
        let row = [-100.0, 50.0, 80.0, 3.0, -120.0];
        let flat = || Source { heights: Heightfield::flat(grid), left: Heightfield::flat(grid) };
        let routing = RoutingOptions { sea_m: Some(0.0), ..HOLLOWS };
        let limited = |row: [f32; 5]| {
            let coast = Heightfield::from_fn(grid, |c, _| row[c]);
            limited(&Mesh::regular(grid), &coast, &flat(), routing, 0.75).row(1).to_vec()
        };
        assert_eq!(limited(row), [-100.0, 7.5, 10.5, 3.0, -120.0]);
        let reversed = std::array::from_fn(|c| row[4 - c]);
        assert_eq!(limited(reversed), [-120.0, 3.0, 10.5, 7.5, -100.0]);
    }

    #[test]
    fn lowered_points_are_above_a_neighbour_and_below_the_limit_of_all() {
        let progress = Progress::new();
        let grid = Grid::new(Extent { width_m: 390.0, depth_m: 310.0 }, 40, 32);
        let mesh = Mesh::new(grid, 0, 1.0, &progress).expect("not cancelled");
        let mut rng = Stream::new(7, 0).at(0);
        let rough = Heightfield::from_fn(grid, |c, _| (60.0 * rng.unit()) as f32 + 4.0 * c as f32);
        let flat = Source { heights: Heightfield::flat(grid), left: Heightfield::flat(grid) };
        let after = limited(&mesh, &rough, &flat, HOLLOWS, 0.75);
        let drainage = Drainage::new(&mesh, HOLLOWS, &progress).expect("not cancelled");
        let limit = SlopeLimit { grid, drainage: &drainage, source: &flat, critical_slope: 0.75 };
        let (before, after) = (rough.heights(), after.heights());
        for point in 0..grid.samples() {
            for (neighbour, limit_m) in limit.neighbours(point, after[point]) {
                assert!(after[neighbour] <= limit_m, "{point}, {neighbour}");
            }
            let mut neighbours = limit.neighbours(point, after[point]);
            let is_above_one = neighbours.any(|(neighbour, _)| after[neighbour] < after[point]);
            assert!(after[point] == before[point] || after[point] < before[point] && is_above_one, "{point}");
        }
        assert!(before.iter().zip(after).filter(|(before, after)| before != after).count() > 300);
    }
}
