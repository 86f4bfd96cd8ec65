//! Rivers: a bed with banks, whose water falls from the first node to the last.

use super::carriageway::Carriageway;
use super::path::{Path, PathCurve};
use super::road::{PathReport, points, tangent, tightest_radius};
use super::stations::Stations;
use super::terrain_map::TerrainMap;
use crate::cast::{ToFloat, ToInteger};
use crate::curve::distance_m;
use crate::flow::{Outlets, Water};
use crate::progress::{Cancelled, Progress};

/// Builds a river.
pub(super) fn apply(path: &Path, land: &mut TerrainMap, progress: &Progress) -> Result<PathReport, Cancelled> {
    let mut curve = path.curve();
    if path.grow {
        progress.stage(0.0..0.7, || grow(&mut curve, land, progress))?;
    }
    let stations = Stations::along(&curve);
    let held = path.held(&curve.lengths_m);
    let mut water = stations.smoothed(land, path.smooth_m);
    stations.let_fall(&mut water, &held, path.fall);
    let bed = Carriageway::of_river(&stations, water.clone(), tangent(path.bank_deg), path.depth_m);
    let along = points(&stations, &water, land, 0.0);
    let start = if path.grow { 0.7 } else { 0.0 };
    let works = progress.stage(start..1.0, || bed.lay(land, progress))?;
    let report = PathReport::new(&stations, &water, works);
    Ok(PathReport { tightest_radius: tightest_radius(&curve.points, false), points: along, ..report })
}

/// Widens the river with the square root of the area A(s) that drains to it, as many times as at the first node:
/// hydraulic geometry (Leopold and Maddock, 1953), with discharge in proportion to the area.
fn grow(curve: &mut PathCurve, land: &TerrainMap, progress: &Progress) -> Result<(), Cancelled> {
    let terrain = land.heightfield(progress)?;
    let grid = land.grid();
    let water = Water::on(&terrain, Outlets::Border, None, progress)?;
    let spacing_m = [grid.spacing_x_m(), grid.spacing_z_m()];
    let mut areas_m2 = Vec::with_capacity(curve.points.len());
    let mut largest: f64 = 0.0;
    for (point, half_m) in curve.points.iter().zip(&curve.halves_m) {
        progress.check()?;
        // The drawn river may miss the valley floor of the grid by a cell or two.
        let reach_m = half_m.max(2.0 * spacing_m[0].max(spacing_m[1]));
        let near = |i: usize, samples: usize| {
            let [low, high] = [-reach_m, reach_m].map(|by_m| (point[i] + by_m) / spacing_m[i]);
            low.ceil().max(0.0).to_usize()..(high.floor() + 1.0).clamp(0.0, samples.to_f64()).to_usize()
        };
        for r in near(1, grid.height()) {
            for c in near(0, grid.width()) {
                if distance_m(*point, [grid.x_m(c), grid.z_m(r)]) <= reach_m {
                    largest = largest.max(f64::from(water.areas_m2[r * grid.width() + c]));
                }
            }
        }
        areas_m2.push(largest);
    }
    // A river that starts outside the map has no area there: its first area is the first one that it has.
    let Some(first_m2) = areas_m2.iter().copied().find(|area_m2| *area_m2 > 0.0) else { return Ok(()) };
    for (half_m, area_m2) in curve.halves_m.iter_mut().zip(areas_m2) {
        *half_m *= (area_m2 / first_m2).max(1.0).sqrt();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::path::PathKind;
    use super::super::testing::{land, path, paths, with_context};
    use super::*;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::operations::testing::modified;

    const WORLD: Extent = Extent { width_m: 1000.0, depth_m: 1000.0 };

    #[test]
    fn the_bed_is_a_parabola_below_the_water() {
        let level = Heightfield::from_fn(Grid::new(WORLD, 1001, 1001), |_, _| 50.0);
        let mut river = path(PathKind::River, &[[-100.0, 500.0], [1100.0, 500.0]]);
        (river.width_m, river.depth_m, river.fall, river.bank_deg) = (20.0, 4.0, 0.0, 45.0);
        let built = modified(&paths([river.clone()]), &level);
        let profile = [500, 505, 508, 510, 511, 520].map(|r| built[(500, r)]);
        assert_eq!(profile, [46.0, 47.0, 48.56, 50.0, 50.0, 50.0]);
        // Water that enters 10 m lower: the banks rise at 45°.
        river.nodes[0].height_m = Some(40.0);
        let built = modified(&paths([river]), &level);
        let profile = [500, 510, 511, 515, 519, 520, 521].map(|r| built[(500, r)]);
        assert_eq!(profile, [36.0, 40.0, 41.0, 45.0, 49.0, 50.0, 50.0]);
    }

    #[test]
    fn water_falls_over_rough_terrain() {
        let rough = Heightfield::from_fn(Grid::new(WORLD, 257, 257), |c, r| ((c * 37 + r * 91) % 50) as f32);
        let river = Path { fall: 0.002, ..path(PathKind::River, &[[50.0, 100.0], [500.0, 600.0], [900.0, 300.0]]) };
        let built = land(&modified(&paths([river.clone()]), &rough));
        let curve = river.curve();
        let along: Vec<f64> = curve.points.iter().map(|point| built.height_at(*point)).collect();
        // Samples are up to 4 m from the middle of the bed, where it is 0.4 m higher.
        let most_m = river.depth_m * (4.0_f64 * 4.0) / (12.0 * 12.0);
        assert!(along.windows(2).all(|pair| pair[1] <= pair[0] + most_m), "{along:?}");
    }

    #[test]
    fn rivers_grow_with_the_area_that_drains_to_them() {
        // A valley to the south that collects water from both sides.
        let grid = Grid::new(WORLD, 101, 101);
        let valley = Heightfield::from_fn(grid, |c, r| 200.0 - r as f32 + 2.0 * (c as f32 - 50.0).abs());
        let river = Path { grow: true, ..path(PathKind::River, &[[500.0, 200.0], [500.0, 950.0]]) };
        let mut curve = river.curve();
        grow(&mut curve, &land(&valley), &Progress::new()).expect("not cancelled");
        assert_eq!(curve.halves_m[0], 12.0);
        assert!(curve.halves_m.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(*curve.halves_m.last().expect("points") > 20.0, "{:?}", curve.halves_m.last());
        let reports = with_context(&valley, |context| paths([river]).path_reports(context)).expect("not cancelled");
        assert!(reports[0].as_ref().expect("a river").earthworks.cut_m3 > 0.0);
    }
}
