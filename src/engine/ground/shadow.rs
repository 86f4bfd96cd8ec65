//! The shadows that the land casts under one sun.
//!
//! A place sees the part of the sun's disc that stands above the [horizon](super::horizon()) towards the sun. With x the
//! height of the disc's centre above the horizon in radii of the disc, the part of it above a straight horizon is
//! ½ + (x·√(1 − x²) + arcsin x)/π, the area of a circular segment.

use std::f64::consts::FRAC_PI_2;

use super::horizon::{Space, Sweep};
use crate::engine::heightfield::Heightfield;
use crate::engine::monitor::{Cancelled, Monitor};

/// A sun and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Its compass direction, clockwise from north.
    pub azimuth_deg: f64,
    /// The height of its centre above level ground.
    pub altitude_deg: f64,
    /// Its apparent diameter; 0 gives shadows with sharp edges.
    pub size_deg: f64,
}

impl Sun {
    /// The apparent diameter of the true sun.
    pub const TRUE_SIZE_DEG: f64 = 0.53;
}

/// The share of the sun that every place sees, from 0 in full shadow to 1 in the light, on the grid of the land. That a
/// face is turned away from the sun is found here too: it stands in its own way.
pub fn shadow(land: &Heightfield, sun: Sun, monitor: &Monitor) -> Result<Heightfield, Cancelled> {
    let disc = Disc::new(sun);
    let mut shares = Heightfield::flat(land.grid());
    let sweep = Sweep::new(land.grid(), sun.azimuth_deg);
    sweep.look(land, &mut Space::default(), &mut shares, monitor, |_, tangents, row| {
        row.iter_mut().zip(tangents).for_each(|(share, &tangent)| *share = disc.share_above(tangent));
    })?;
    Ok(shares)
}

/// The disc of the sun against the horizon.
#[derive(Debug)]
struct Disc {
    altitude: f32,
    radius: f32,
    /// The tangents of the lower and the upper limb: most places see all of the sun or nothing, without a further look.
    limbs: [f32; 2],
}

impl Disc {
    fn new(sun: Sun) -> Self {
        let (altitude, radius) = (sun.altitude_deg.to_radians(), 0.5 * sun.size_deg.to_radians());
        // Nothing on the map is as high as the zenith.
        let tangent = |angle: f64| if angle >= FRAC_PI_2 { f32::INFINITY } else { libm::tan(angle) as f32 };
        let limbs = [altitude - radius, altitude + radius].map(tangent);
        Self { altitude: altitude as f32, radius: radius as f32, limbs }
    }

    fn share_above(&self, horizon: f32) -> f32 {
        let [lower, upper] = self.limbs;
        if horizon <= lower {
            return 1.0;
        }
        if horizon >= upper {
            return 0.0;
        }
        let x = ((self.altitude - libm::atanf(horizon)) / self.radius).clamp(-1.0, 1.0);
        0.5 + (x * (1.0 - x * x).sqrt() + libm::asinf(x)) * std::f32::consts::FRAC_1_PI
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bumpy, same_at_one_and_seven_threads, world};
    use super::*;
    use crate::engine::heightfield::Grid;

    fn sun(azimuth_deg: f64, altitude_deg: f64, size_deg: f64) -> Sun {
        Sun { azimuth_deg, altitude_deg, size_deg }
    }

    fn cast(land: &Heightfield, sun: Sun) -> Heightfield {
        shadow(land, sun, &Monitor::new()).expect("not cancelled")
    }

    #[test]
    fn parts_of_the_disc_by_hand() {
        let disc = Disc::new(sun(0.0, 45.0, 10.0));
        let above = |altitude_deg: f32| disc.share_above(libm::tanf(altitude_deg.to_radians()));
        assert_eq!(above(39.9), 1.0);
        assert_eq!(above(50.1), 0.0);
        assert!((above(45.0) - 0.5).abs() < 1e-5);
        // The horizon half a radius below the centre: ½ + (¼·√3 + π/6)/π = 2/3 + √3/(4π).
        assert!((above(42.5) - (2.0 / 3.0 + 3.0_f32.sqrt() / (4.0 * std::f32::consts::PI))).abs() < 1e-4);
        assert!((above(47.5) + above(42.5) - 1.0).abs() < 1e-4);
        // The sun half set behind level ground, and a sun in the zenith.
        assert!((Disc::new(sun(0.0, 0.0, 0.53)).share_above(0.0) - 0.5).abs() < 1e-6);
        assert_eq!(Disc::new(sun(0.0, 90.0, 0.53)).share_above(100.0), 1.0);
        assert_eq!(Disc::new(sun(0.0, 90.0, 0.0)).share_above(1e12), 1.0);
    }

    #[test]
    fn a_wall_throws_a_shadow_as_long_as_its_height_asks() {
        // A wall 100 m high in column 20, samples 10 m apart: at 45° its shadow is 100 m long, at 26.6° 200 m.
        let grid = Grid::new(world(600.0, 300.0), 61, 31);
        let wall = Heightfield::from_fn(grid, |c, _| if c == 20 { 100.0 } else { 0.0 });
        for (altitude_deg, samples) in [(45.1, 10), (26.6, 20), (89.0, 0)] {
            let shares = cast(&wall, sun(270.0, altitude_deg, 0.0));
            for c in 0..61 {
                let expected = if c > 20 && c < 20 + samples.max(1) { 0.0 } else { 1.0 };
                assert_eq!(shares[(c, 15)], expected, "{altitude_deg}° at {c}");
            }
        }
        // A large sun softens the edge and leaves its middle where it is.
        let soft = cast(&wall, sun(270.0, 45.0, 8.0));
        assert!((soft[(30, 15)] - 0.5).abs() < 1e-4 && soft[(28, 15)] < 0.1 && soft[(32, 15)] > 0.9);
        assert!((21..40).all(|c| soft[(c, 15)] <= soft[(c + 1, 15)]));
    }

    #[test]
    fn level_land_has_no_shadow_and_a_steep_back_is_its_own() {
        let grid = Grid::new(world(600.0, 300.0), 61, 31);
        assert!(cast(&Heightfield::flat(grid), sun(120.0, 1.0, 0.53)).heights().iter().all(|&share| share == 1.0));
        // A ridge whose faces stand at 45°: the sun in the west at 40° does not reach the eastern one.
        let ridge = Heightfield::from_fn(grid, |c, _| -10.0 * c.abs_diff(30) as f32);
        let shares = cast(&ridge, sun(270.0, 40.0, 0.53));
        assert!((0..=30).all(|c| shares[(c, 9)] == 1.0) && (31..61).all(|c| shares[(c, 9)] == 0.0));
    }

    #[test]
    fn one_thread_and_seven_make_the_same_bytes_and_a_cancelled_shadow_ends() {
        let land = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|monitor| shadow(&land, sun(301.0, 20.0, Sun::TRUE_SIZE_DEG), monitor));
    }
}
