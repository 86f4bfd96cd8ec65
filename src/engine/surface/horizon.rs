//! The horizon in a compass direction.

use super::sweep::{Sweep, SweepBuffers};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// The tangent of the horizon's elevation angle at every sample, in a compass direction in degrees clockwise from
/// north. The world is surrounded by level terrain far below, so no horizon is below 0.
pub fn horizon(terrain: &Heightfield, azimuth_deg: f64, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let mut horizons = Heightfield::flat(terrain.grid());
    let copy = |_, tangents: &[f32], row: &mut [f32]| row.copy_from_slice(tangents);
    let sweep = Sweep::new(terrain.grid(), azimuth_deg);
    sweep.for_each_row(terrain, &mut SweepBuffers::default(), &mut horizons, progress, copy)?;
    Ok(horizons)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bumpy, difference, same_at_one_and_seven_threads, world};
    use super::*;
    use crate::heightfield::Grid;
    use crate::surface::angles::azimuth_vector;

    fn horizons(terrain: &Heightfield, azimuth_deg: f64) -> Heightfield {
        horizon(terrain, azimuth_deg, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn level_terrain_and_slopes_match_values_computed_by_hand() {
        let grid = Grid::new(world(600.0, 400.0), 61, 21);
        let level = Heightfield::from_fn(grid, |_, _| 7.0);
        // It rises by 0.5 m per metre eastward.
        let slope = Heightfield::from_fn(grid, |c, _| c as f32 * 5.0);
        for azimuth_deg in [0.0, 33.0, 90.0, 151.0, 180.0, 225.0, 270.0, -45.0] {
            assert!(horizons(&level, azimuth_deg).heights().iter().all(|&tangent| tangent == 0.0));
            let expected = (0.5 * azimuth_vector(azimuth_deg)[0]).max(0.0) as f32;
            let found = horizons(&slope, azimuth_deg);
            // Near the eastern border there may be nothing ahead.
            for (c, r) in (2..19).flat_map(|r| (0..58).map(move |c| (c, r))) {
                assert!((found[(c, r)] - expected).abs() < 1e-5, "{azimuth_deg}° at {c}, {r}: {}", found[(c, r)]);
            }
        }
    }

    #[test]
    fn the_horizon_is_the_top_of_a_wall() {
        // A wall 40 m high in column 30, samples 10 m apart.
        let grid = Grid::new(world(600.0, 400.0), 61, 41);
        let wall = Heightfield::from_fn(grid, |c, _| if c == 30 { 40.0 } else { 0.0 });
        let (eastward, westward) = (horizons(&wall, 90.0), horizons(&wall, 270.0));
        for (c, r) in (0..41).flat_map(|r| (0..61).map(move |c| (c, r))) {
            let there = |distance: usize| if distance == 0 { 0.0 } else { 4.0 / distance as f32 };
            let expected = [there(30_usize.saturating_sub(c)), there(c.saturating_sub(30))];
            assert!((eastward[(c, r)] - expected[0]).abs() < 1e-6 && (westward[(c, r)] - expected[1]).abs() < 1e-6);
        }
        // At 45° the distance to the wall is √2 times as long.
        let slanting = horizons(&wall, 45.0);
        assert!((slanting[(20, 35)] - 0.4 / 2.0_f32.sqrt()).abs() < 1e-6);
        // Northward the wall is not in view.
        assert_eq!(horizons(&wall, 0.0)[(29, 20)], 0.0);
    }

    #[test]
    fn the_rim_of_a_pit_and_the_top_of_a_cone() {
        let grid = Grid::new(world(1000.0, 1000.0), 101, 201);
        let from_middle = |c: usize, r: usize| {
            let (x, z) = (grid.x_m(c) - 500.0, grid.z_m(r) - 500.0);
            (x * x + z * z).sqrt()
        };
        // 60 m deep within 300 m; from its middle the rim is at 60/300 in every direction.
        let pit = Heightfield::from_fn(grid, |c, r| if from_middle(c, r) < 300.0 { -60.0 } else { 0.0 });
        let cone = Heightfield::from_fn(grid, |c, r| 200.0 - 0.3 * from_middle(c, r) as f32);
        for step in 0..24 {
            let azimuth_deg = 15.0 * f64::from(step);
            let rim = horizons(&pit, azimuth_deg)[(50, 100)];
            assert!((rim - 0.2).abs() < 0.01, "{azimuth_deg}°: {rim}");
            let on_cone = horizons(&cone, azimuth_deg);
            assert!(on_cone[(50, 100)] < 1e-3, "{azimuth_deg}°: {}", on_cone[(50, 100)]);
            // From the opposite flank the top is at the slope of the cone.
            let [east, south] = azimuth_vector(azimuth_deg);
            let at = |m: f64, spacing: f64| ((500.0 - 300.0 * m) / spacing).round() as usize;
            let (c, r) = (at(east, 10.0), at(south, 5.0));
            assert!((on_cone[(c, r)] - 0.3).abs() < 2e-3, "{azimuth_deg}° at {c}, {r}: {}", on_cone[(c, r)]);
        }
    }

    /// The horizon by marching along the ray: points at every crossing of the axis to which the ray is nearer.
    fn marched(terrain: &Heightfield, azimuth_deg: f64, c: usize, r: usize, parts: f64) -> f32 {
        let grid = terrain.grid();
        let [east, south] = azimuth_vector(azimuth_deg);
        let (x, z) = (grid.x_m(c), grid.z_m(r));
        let step_m = (grid.spacing_x_m() / east.abs()).min(grid.spacing_z_m() / south.abs()) / parts;
        let mut steepest = 0.0_f32;
        for n in 1.. {
            let distance = step_m * f64::from(n);
            let (x, z) = (x + distance * east, z + distance * south);
            // A last step that ends on the border may miss it by rounding.
            let inside = |m: f64, side_m: f64| m > -1e-6 * side_m && m < side_m * (1.0 + 1e-6);
            if !inside(x, grid.extent().width_m) || !inside(z, grid.extent().depth_m) {
                return steepest;
            }
            steepest = steepest.max((terrain.height_at(x, z) - terrain[(c, r)]) / distance as f32);
        }
        steepest
    }

    #[test]
    fn lines_through_samples_equal_the_march_and_others_are_close() {
        // Spacings of 10 m and 20 m: lines of two rows per column, or one, or half a row, pass through samples only.
        let grid = Grid::new(world(1200.0, 1280.0), 121, 65);
        let terrain = bumpy(grid);
        for azimuth_deg in [0.0, 90.0, 180.0, 270.0, 26.565_051_177_077_99, 206.565_051_177_077_99] {
            let found = horizons(&terrain, azimuth_deg);
            for (c, r) in (0..65).step_by(3).flat_map(|r| (0..121).step_by(3).map(move |c| (c, r))) {
                let expected = marched(&terrain, azimuth_deg, c, r, 1.0);
                assert!((found[(c, r)] - expected).abs() < 2e-5, "{azimuth_deg}° at {c}, {r}: {expected}");
            }
        }
        // Between samples the march passes points that the lines do not: fewer on a finer grid. The border is left out,
        // because the ray leaves it at once while one of the two lines is still on the map.
        let terrain = bumpy(Grid::new(grid.extent(), 481, 257));
        for azimuth_deg in [3.0, 40.0, 77.0, 118.0, 199.0, 236.0, 283.0, 341.0] {
            let found = horizons(&terrain, azimuth_deg);
            let (mut squares, mut all) = (0.0, 0.0);
            for (c, r) in (2..256).step_by(12).flat_map(|r| (2..480).step_by(12).map(move |c| (c, r))) {
                let expected = marched(&terrain, azimuth_deg, c, r, 4.0);
                squares += (found[(c, r)] - expected) * (found[(c, r)] - expected);
                all += expected * expected;
            }
            assert!(squares < 1e-3 * all, "{azimuth_deg}°: {}", squares / all);
        }
    }

    #[test]
    fn resolution_barely_changes_the_horizon() {
        for azimuth_deg in [90.0, 17.0, 200.0, 305.0] {
            let on = |side: usize| horizons(&bumpy(Grid::new(world(900.0, 500.0), side, side)), azimuth_deg);
            let (small, large) = (on(257), on(1025));
            let (off, [_, highest]) = (difference(&small, &large), large.min_max());
            assert!(off < 0.02 * f64::from(highest), "{azimuth_deg}°: {off}");
        }
    }

    #[test]
    fn horizons_are_finite_on_any_grid_at_any_azimuth() {
        for (width_m, depth_m, width, height) in
            [(1.0, 1.0, 2, 2), (1e6, 1.0, 257, 2), (1.0, 1e6, 3, 40), (1e6, 1e6, 33, 17)]
        {
            let grid = Grid::new(world(width_m, depth_m), width, height);
            let terrain = Heightfield::from_fn(grid, |c, r| if (c * 7 + r * 13) % 5 < 2 { 1e9 } else { -1e9 });
            for azimuth_deg in (-360..=360).step_by(9) {
                let found = horizons(&terrain, f64::from(azimuth_deg));
                assert!(found.heights().iter().all(|tangent| tangent.is_finite() && *tangent >= 0.0));
            }
        }
    }

    #[test]
    fn results_do_not_depend_on_threads_and_can_be_cancelled() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| horizon(&terrain, 67.0, progress));
    }
}
