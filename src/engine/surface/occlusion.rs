//! Ambient occlusion: the share of the sky that each sample sees.
//!
//! J. Dozier and J. Frew, "Rapid Calculation of Terrain Parameters for Radiation Modeling from Digital Elevation Data",
//! IEEE Transactions on Geoscience and Remote Sensing 28, 1990, equation 7: a slope S with aspect A under a uniformly
//! bright sky, whose horizon in direction φ is H below the zenith, receives the share
//!
//! V = 1/2π · ∫ cos S · sin² H + sin S · cos(φ − A) · (H − sin H · cos H) dφ
//!
//! of the light that open level terrain receives. The sky is weighted by the cosine of its angle to the normal: an open
//! slope has (1 + cos S)/2.

use std::f32::consts::FRAC_PI_2;

use super::angles::fast_atan;
use super::reference::at_reference;
use super::views::{View, sum_of_views};
use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// The number of directions in which the horizon is found.
const DIRECTIONS: usize = 16;

/// The share of the sky's light that each of the samples `to` receives: 1 on open level terrain, less on slopes and
/// in hollows. It varies slowly and is computed on at most 513 samples along the longer side.
pub fn occlusion(terrain: &Heightfield, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
    at_reference(terrain, to, progress, |terrain| {
        let azimuths_deg = (0..DIRECTIONS).map(|number| 360.0 / DIRECTIONS.to_f64() * number.to_f64());
        let mut shares = sum_of_views(terrain, azimuths_deg, progress, |_, view| sky(view))?;
        shares.heights_mut().iter_mut().for_each(|share| *share = (*share / DIRECTIONS.to_f32()).clamp(0.0, 1.0));
        Ok(shares)
    })
}

/// The integrand in one direction. With t the tangent of the horizon above the horizontal, sin² H = 1/(1 + t²),
/// sin H · cos H = t/(1 + t²) and H = π/2 − arctan t; with g the gradient, cos S = 1/√(1 + g²) and
/// sin S · cos(φ − A) = −g·d/√(1 + g²).
fn sky(View { gradient: [east, south], rise, horizon }: View) -> f32 {
    let per_secant = 1.0 / (1.0 + horizon * horizon);
    let cosine = 1.0 / (1.0 + east * east + south * south).sqrt();
    cosine * (per_secant - rise * (FRAC_PI_2 - fast_atan(horizon) - horizon * per_secant))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        assert_shares_on_extreme_terrain, bumpy, difference, same_at_one_and_seven_threads, world,
    };
    use super::*;
    use crate::surface::angles::azimuth_vector;

    fn occluded(terrain: &Heightfield) -> Heightfield {
        occlusion(terrain, terrain.grid(), &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn level_terrain_sees_the_entire_sky_and_a_slope_part_of_it() {
        let grid = Grid::new(world(800.0, 400.0), 81, 41);
        let shares = occluded(&Heightfield::from_fn(grid, |_, _| -3.0));
        assert!(shares.heights().iter().all(|share| (share - 1.0).abs() < 1e-5));
        for rise in [0.2, 0.5, 1.0] {
            let share = occluded(&Heightfield::from_fn(grid, |c, _| rise * 10.0 * c as f32))[(30, 20)];
            let expected = 0.5 * (1.0 + 1.0 / (1.0 + rise * rise).sqrt());
            assert!((share - expected).abs() < 3e-3, "{rise}: {share}, not {expected}");
        }
    }

    #[test]
    fn the_middle_of_a_pit_sees_the_sky_above_its_rim() {
        // The horizon is at 45° all around, which leaves sin² 45° of the light. The plain outside receives all of it.
        let grid = Grid::new(world(1000.0, 1000.0), 201, 201);
        let pit = Heightfield::from_fn(grid, |c, r| {
            let (x, z) = (grid.x_m(c) - 500.0, grid.z_m(r) - 500.0);
            if x * x + z * z < 200.0 * 200.0 { -200.0 } else { 0.0 }
        });
        let shares = occluded(&pit);
        assert!((shares[(100, 100)] - 0.5).abs() < 0.015, "{}", shares[(100, 100)]);
        assert!((shares[(10, 100)] - 1.0).abs() < 1e-5);
    }

    /// The integral over the sky in small steps of azimuth and zenith angle, marching along every ray.
    fn integrated(terrain: &Heightfield, c: usize, r: usize) -> f64 {
        let grid = terrain.grid();
        let [east, south] = terrain.gradient(c, r).map(f64::from);
        let length = (1.0 + east * east + south * south).sqrt();
        let mut light = 0.0;
        for a in 0..90 {
            let [to_east, to_south] = azimuth_vector(4.0 * f64::from(a));
            let mut horizon = 0.0_f64;
            for n in 1.. {
                let distance = 4.0 * f64::from(n);
                let (x, z) = (grid.x_m(c) + distance * to_east, grid.z_m(r) + distance * to_south);
                if x < 0.0 || z < 0.0 || x > grid.extent().width_m || z > grid.extent().depth_m {
                    break;
                }
                horizon = horizon.max(f64::from(terrain.height_at(x, z) - terrain[(c, r)]) / distance);
            }
            let step = std::f64::consts::FRAC_PI_2 / 90.0;
            for b in 0..90 {
                let zenith = (f64::from(b) + 0.5) * step;
                let (sine, cosine) = (libm::sin(zenith), libm::cos(zenith));
                let cosine_to_normal = (cosine - sine * (east * to_east + south * to_south)) / length;
                if cosine > horizon * sine && cosine_to_normal > 0.0 {
                    light += cosine_to_normal * sine * step / 90.0 * 2.0;
                }
            }
        }
        light
    }

    #[test]
    fn occlusion_equals_the_integral() {
        let terrain = bumpy(Grid::new(world(1000.0, 700.0), 101, 71));
        let shares = occluded(&terrain);
        let mut min = 1.0_f32;
        for (c, r) in (0..71).step_by(7).flat_map(|r| (0..101).step_by(9).map(move |c| (c, r))) {
            let (found, expected) = (shares[(c, r)], integrated(&terrain, c, r));
            assert!((f64::from(found) - expected).abs() < 0.02, "{c}, {r}: {found}, not {expected}");
            min = min.min(found);
        }
        assert!(min < 0.85, "{min}: some samples must see less");
    }

    #[test]
    fn resolution_barely_changes_occlusion() {
        let on = |side: usize| occluded(&bumpy(Grid::fitted(world(4096.0, 2000.0), side)));
        let off = difference(&on(257), &on(1025));
        assert!(off < 0.005, "{off}");
    }

    #[test]
    fn shares_are_from_0_to_1_on_any_terrain() {
        assert_shares_on_extreme_terrain(occluded);
    }

    #[test]
    fn results_do_not_depend_on_threads_and_can_be_cancelled() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| occlusion(&terrain, terrain.grid(), progress));
    }
}
