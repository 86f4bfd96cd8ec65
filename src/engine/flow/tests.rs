use super::depressions::FLOOR_SLOPE;
use super::*;
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::progress::Progress;
use crate::random::Stream;

const STEEPEST: RoutingOptions = RoutingOptions { outlets: Outlets::Border, sea_m: None };

/// A grid with columns 2 m and rows 3 m apart.
fn grid(width: usize, height: usize) -> Grid {
    Grid::new(Extent { width_m: 2.0 * (width - 1) as f64, depth_m: 3.0 * (height - 1) as f64 }, width, height)
}

pub(super) fn terrain(rows: &[&[f32]]) -> Heightfield {
    Heightfield::from_fn(grid(rows[0].len(), rows.len()), |c, r| rows[r][c])
}

/// A mesh with columns 20 m and rows 30 m apart.
pub(super) fn mesh(width: usize, height: usize) -> Mesh {
    let extent = Extent { width_m: 20.0 * (width - 1) as f64, depth_m: 30.0 * (height - 1) as f64 };
    Mesh::new(Grid::new(extent, width, height), 1, 1.0, &Progress::new()).expect("not cancelled")
}

fn routed(options: RoutingOptions, terrain: &Heightfield) -> Drainage {
    let mut drainage = Drainage::new(&Mesh::regular(terrain.grid()), options, &Progress::new()).expect("not cancelled");
    drainage.route(terrain, &Progress::new()).expect("not cancelled");
    drainage
}

/// Whether flow ends at each sample, row by row.
fn ends_of(drainage: &Drainage) -> Vec<bool> {
    let mut is_end = vec![false; drainage.unpadded(|_| false).len()];
    drainage.mark_ends(&mut is_end);
    is_end
}

/// Drainage areas in cells.
fn areas(drainage: &Drainage) -> Vec<f32> {
    let areas = drainage.areas_m2(&Progress::new()).expect("not cancelled");
    areas.into_iter().map(|area| area / drainage.cell_m2() as f32).collect()
}

#[test]
fn a_tilted_plane_drains_in_rows() {
    let plane = Heightfield::from_fn(grid(5, 3), |c, _| c as f32);
    let drainage = routed(RoutingOptions { outlets: Outlets::West, ..STEEPEST }, &plane);
    assert_eq!(drainage.receivers(), [0, 0, 1, 2, 3, 5, 5, 6, 7, 8, 10, 10, 11, 12, 13]);
    assert_eq!(areas(&drainage)[..5], [5.0, 4.0, 3.0, 2.0, 1.0]);
    assert!(drainage.lakes_m().iter().all(|depth| *depth == 0.0));
}

#[test]
fn the_steepest_descent_is_measured_per_metre() {
    // 4 m over 2 m eastward, 5 m over 3 m southward, 7 m over √13 m diagonally: slopes of 2, 1.67 and 1.94.
    let rows: [&[f32]; 4] = [&[9.0; 4], &[9.0, 9.0, 5.0, 9.0], &[9.0, 4.0, 2.0, 9.0], &[9.0; 4]];
    let drainage = routed(RoutingOptions { sea_m: Some(2.0), ..STEEPEST }, &terrain(&rows));
    assert_eq!(drainage.receivers()[5], 6);
    assert_eq!(drainage.receivers()[6], 10);
}

#[test]
fn a_cone_drains_in_all_directions() {
    let cone = Heightfield::from_fn(grid(33, 33), |c, r| {
        let (x, z) = (2.0 * (c as f32 - 16.0), 3.0 * (r as f32 - 16.0));
        -(x * x + z * z).sqrt()
    });
    let drainage = routed(STEEPEST, &cone);
    let (areas, ends) = (areas(&drainage), ends_of(&drainage));
    let shed: f32 = areas.iter().zip(&ends).filter(|(_, ends)| **ends).map(|(area, _)| area).sum();
    assert_eq!(shed, 33.0 * 33.0);
    assert_eq!(areas[16 * 33 + 16], 1.0);
    let receivers = drainage.receivers();
    let radius = |sample: usize| -cone.heights()[sample];
    assert!((0..33 * 33).all(|sample| ends[sample] || radius(receivers[sample] as usize) > radius(sample)));
}

#[test]
fn a_pit_drains_over_its_lowest_pass() {
    let bowl = terrain(&[
        &[9.0, 9.0, 9.0, 9.0, 9.0],
        &[9.0, 4.0, 3.0, 4.0, 9.0],
        &[9.0, 3.0, 1.0, 7.0, 5.0],
        &[9.0, 4.0, 3.0, 4.0, 9.0],
        &[9.0, 9.0, 9.0, 9.0, 9.0],
    ]);
    let drainage = routed(STEEPEST, &bowl);
    // Over (3, 1) or (3, 3), at 4 m, to the border at 5 m: the level of the lake is 5 m.
    let lakes = drainage.lakes_m();
    assert_eq!(lakes[5..10], [0.0, 1.0, 2.0, 1.0, 0.0]);
    assert_eq!(lakes[10..15], [0.0, 2.0, 4.0, 0.0, 0.0]);
    // All samples inside drain there, through the lake.
    assert_eq!(areas(&drainage)[14], 10.0);
    let receivers = drainage.receivers();
    assert!(receivers[12] == 8 || receivers[12] == 18, "{receivers:?}");
    assert_eq!(receivers[receivers[12] as usize], 14);
}

#[test]
fn a_valley_collects_the_water_of_its_sides() {
    // Two slopes with a valley between them that falls southward.
    let valley = Heightfield::from_fn(grid(9, 12), |c, r| 50.0 * c.abs_diff(4) as f32 - r as f32);
    let drainage = routed(RoutingOptions { outlets: Outlets::South, ..STEEPEST }, &valley);
    let areas = areas(&drainage);
    assert!((0..11).all(|r| areas[r * 9 + 4] == 9.0 * (r + 1) as f32), "{areas:?}");
    // The valley leaves through the lowest point of the south side.
    assert_eq!(areas[11 * 9..], [1.0, 2.0, 3.0, 4.0, 108.0, 4.0, 3.0, 2.0, 1.0]);
}

#[test]
fn a_lake_that_drains_into_a_lake_is_at_least_as_high() {
    let row = [9.0, 1.0, 6.0, 2.0, 5.0, 0.0];
    let walls = [9.0; 6];
    let drainage = routed(RoutingOptions { outlets: Outlets::East, ..STEEPEST }, &terrain(&[&walls, &row, &walls]));
    assert_eq!(drainage.lakes_m()[6..12], [0.0, 5.0, 0.0, 3.0, 0.0, 0.0]);
    assert_eq!(areas(&drainage)[10..12], [13.0, 18.0]);
}

#[test]
fn flat_terrain_drains_in_branches() {
    let flat = Heightfield::flat(grid(65, 65));
    let drainage = routed(RoutingOptions { outlets: Outlets::West, ..STEEPEST }, &flat);
    let (areas, ends) = (areas(&drainage), ends_of(&drainage));
    let shed: f32 = areas.iter().zip(&ends).filter(|(_, ends)| **ends).map(|(area, _)| area).sum();
    assert_eq!(shed, 65.0 * 65.0);
    assert!(drainage.lakes_m().iter().all(|depth| *depth == 0.0));
    // Straight rows would drain 65 samples each.
    assert!(areas.iter().copied().fold(0.0, f32::max) > 260.0);
}

#[test]
fn without_hollows_at_the_border_flow_ends_at_its_lowest_sample() {
    // All samples of the border are higher than one inside.
    let bowl = terrain(&[&[9.0; 4], &[9.0, 1.0, 5.0, 8.0], &[9.0, 6.0, 2.0, 9.0], &[9.0, 9.0, 7.0, 9.0]]);
    for (outlets, lowest) in [(Outlets::Hollows, 14), (Outlets::East, 7), (Outlets::South, 14)] {
        let drainage = routed(RoutingOptions { outlets, ..STEEPEST }, &bowl);
        assert_eq!(areas(&drainage)[lowest], 16.0, "{outlets:?}");
        assert_eq!(ends_of(&drainage).iter().filter(|ends| **ends).count(), 1, "{outlets:?}");
    }
}

/// Terrains of many kinds: rough, terraced, with plateaus and nested basins.
pub(super) fn terrains() -> Vec<Heightfield> {
    let mut terrains = Vec::new();
    for seed in 0..12 {
        let mut rng = Stream::new(seed, 0).at(0);
        let grid = grid(7 + 9 * seed as usize, 5 + 8 * (seed % 5) as usize);
        let rough = Heightfield::from_fn(grid, |_, _| rng.unit() as f32);
        terrains.push(Heightfield::from_fn(grid, |c, r| (rough[(c, r)] * 4.0).floor()));
        terrains.push(Heightfield::from_fn(grid, |c, r| {
            let (x, z) = (c as f32 / 5.0, r as f32 / 7.0);
            20.0 * libm::sinf(x) * libm::cosf(z) + rough[(c, r)]
        }));
        terrains.push(rough);
    }
    terrains
}

fn all_options() -> Vec<RoutingOptions> {
    let of = |outlets: &Outlets| [None, Some(0.3)].map(|sea_m| RoutingOptions { outlets: *outlets, sea_m });
    Outlets::ALL.iter().flat_map(of).collect()
}

#[test]
fn lakes_and_areas_match_the_reference() {
    for terrain in terrains() {
        for options in all_options() {
            let drainage = routed(options, &terrain);
            let (ends, receivers) = (ends_of(&drainage), drainage.receivers());
            let levels = reference::filled(&terrain, &ends);
            let depths: Vec<f32> = levels.iter().zip(terrain.heights()).map(|(level, height)| level - height).collect();
            assert_eq!(drainage.lakes_m(), depths, "{options:?}");
            let counted: Vec<f32> = reference::areas(&receivers).into_iter().map(|area| area as f32).collect();
            assert_eq!(areas(&drainage), counted, "{options:?}");
            for (sample, &receiver) in receivers.iter().enumerate() {
                assert!(levels[receiver as usize] <= levels[sample], "up from {sample} to {receiver}: {options:?}");
                assert_eq!(ends[sample], receiver as usize == sample, "{options:?}");
            }
            let shed: f32 = counted.iter().zip(&ends).filter(|(_, ends)| **ends).map(|(area, _)| area).sum();
            assert_eq!(shed, counted.len() as f32, "{options:?}");
        }
    }
}

#[test]
fn water_fills_lakes_to_their_passes_and_runs_down_all_slopes() {
    for terrain in terrains() {
        let drainage = routed(RoutingOptions { outlets: Outlets::South, ..STEEPEST }, &terrain);
        let water = Water::on(&terrain, Outlets::South, None, &Progress::new()).expect("not cancelled");
        assert_eq!(water.lakes_m, drainage.lakes_m());
        let areas = reference::areas(&water.receivers);
        assert_eq!(water.areas_m2, areas.into_iter().map(|area| 6.0 * area as f32).collect::<Vec<f32>>());
        let heights = terrain.heights();
        let levels = reference::filled(&terrain, &ends_of(&drainage));
        let falls = |(sample, receiver): (usize, &u32)| levels[*receiver as usize] <= levels[sample];
        assert!(water.receivers.iter().enumerate().all(falls));
        // Outside lakes, wherever a neighbour is lower, the receiver is.
        for (sample, &receiver) in drainage.receivers().iter().enumerate().filter(|(i, _)| water.lakes_m[*i] == 0.0) {
            let is_lower = |receiver: u32| heights[receiver as usize] < heights[sample];
            assert_eq!(is_lower(water.receivers[sample]), is_lower(receiver));
        }
    }
}

#[test]
fn water_runs_down_planes_of_any_azimuth() {
    for degrees in (0..360).step_by(5) {
        let (sin, cos) = libm::sincos(f64::from(degrees).to_radians());
        let plane = Heightfield::from_fn(grid(65, 65), |c, r| -(2.0 * c as f64 * cos + 3.0 * r as f64 * sin) as f32);
        let water = Water::on(&plane, Outlets::Border, None, &Progress::new()).expect("not cancelled");
        let [mut east_m, mut south_m] = [0.0; 2];
        for (sample, receiver) in water.receivers.iter().map(|receiver| *receiver as usize).enumerate() {
            east_m += 2.0 * ((receiver % 65) as f64 - (sample % 65) as f64);
            south_m += 3.0 * ((receiver / 65) as f64 - (sample / 65) as f64);
        }
        // The steepest of eight neighbours is up to 28° off the descent.
        let error = libm::atan2(cos * south_m - sin * east_m, cos * east_m + sin * south_m).to_degrees();
        assert!(error.abs() < 1.0, "{degrees}°: {error}° off the descent");
    }
}

#[test]
fn lakes_of_a_mesh_have_the_levels_of_their_lowest_passes() {
    // On a mesh, water flows along its edges only. Levels by repeated relaxation over all edges.
    for terrain in terrains() {
        let grid = terrain.grid();
        let mesh = Mesh::new(grid, 0, 1.0, &Progress::new()).expect("not cancelled");
        let mut drainage = Drainage::new(&mesh, STEEPEST, &Progress::new()).expect("not cancelled");
        drainage.route(&terrain, &Progress::new()).expect("not cancelled");
        let (ends, stride) = (ends_of(&drainage), drainage.stride());
        let mut levels: Vec<f32> = ends
            .iter()
            .zip(terrain.heights())
            .map(|(end, height)| if *end { *height } else { f32::INFINITY })
            .collect();
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for (c, r) in (0..grid.width()).flat_map(|c| (0..grid.height()).map(move |r| (c, r))) {
                for (direction, [east, south]) in super::grid::NEIGHBOURS.into_iter().enumerate() {
                    let (to_c, to_r) = (c.wrapping_add_signed(east), r.wrapping_add_signed(south));
                    if to_c >= grid.width() || to_r >= grid.height() {
                        continue;
                    }
                    if drainage.reciprocal_length((r + 1) * stride + c + 1, direction) > 0.0 {
                        let level = levels[to_r * grid.width() + to_c].max(terrain[(c, r)]);
                        if level < levels[r * grid.width() + c] {
                            levels[r * grid.width() + c] = level;
                            has_changed = true;
                        }
                    }
                }
            }
        }
        let depths: Vec<f32> = levels.iter().zip(terrain.heights()).map(|(level, height)| level - height).collect();
        assert_eq!(drainage.lakes_m(), depths);
    }
}

#[test]
fn a_drainage_can_be_reused() {
    let terrains = terrains();
    let [_, first, second, ..] = &terrains[..] else { unreachable!("36 of them") };
    let mut drainage = routed(STEEPEST, first);
    drainage.route(second, &Progress::new()).expect("not cancelled");
    assert_eq!(drainage.receivers(), routed(STEEPEST, second).receivers());
    assert_eq!(drainage.lakes_m(), routed(STEEPEST, second).lakes_m());
}

#[test]
fn the_number_of_threads_does_not_matter() {
    for terrain in terrains() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let mut drained = terrain.copied(&Progress::new()).expect("not cancelled");
                let drainage = routed(STEEPEST, &terrain);
                drainage.remove_depressions(&mut drained, FLOOR_SLOPE, &Progress::new()).expect("not cancelled");
                let water = Water::on(&terrain, Outlets::Hollows, None, &Progress::new()).expect("not cancelled");
                (drainage.receivers(), drained, water)
            })
        };
        assert_eq!(on(1), on(5));
    }
}
