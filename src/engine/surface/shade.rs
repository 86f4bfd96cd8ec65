//! The share of the day in shadow.
//!
//! The day is that of the equinox at 45° north, when the sun rises due east and sets due west. At hour angle ω after
//! noon and latitude φ its altitude α is given by sin α = cos φ · cos ω, and its direction has the components −sin ω to
//! the east and sin φ · cos ω to the south (declination 0 in J. Meeus, "Astronomical Algorithms", 1998, chapter 13).
//!
//! The day is divided into 13 intervals. During an interval the sun climbs or sinks past the horizon found at its
//! middle, and the lit share of the interval is linear between its lowest and its highest sun, so that 13 positions do
//! not cast 13 visible edges. A slope shades itself where n·L ≤ 0, with n the normal and L the direction to the sun;
//! n·L is taken at both ends of the interval and varies linearly between them.

use std::f64::consts::PI;

use super::angles::fast_atan;
use super::reference::at_reference;
use super::views::{View, sum_of_views};
use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

const LATITUDE_DEG: f64 = 45.0;
const POSITIONS: usize = 13;
/// Around noon the altitude barely changes while the sun passes the ridges: it is assumed to change by at least this
/// much in each interval.
const MIN_CLIMB_DEG: f64 = 6.0;

/// An interval of the day.
#[derive(Clone, Copy, Debug)]
struct DayInterval {
    azimuth_deg: f64,
    /// The altitude in the middle of the climb, radians.
    altitude: f32,
    /// The change of altitude, radians.
    climb: f32,
    /// The directions to the sun at both ends of the interval: east, up, south.
    ends: [[f32; 3]; 2],
    /// Its share of the day, weighted by the sine of the altitude like the sunlight on level terrain.
    weight: f32,
}

impl DayInterval {
    /// The share of the interval in which the sun shines.
    fn lit(&self, view: View) -> f32 {
        let above_horizon = ((self.altitude - fast_atan(view.horizon)) / self.climb + 0.5).clamp(0.0, 1.0);
        // In units of the normal's length: only the signs and the ratio matter.
        let [first, last] = self.ends.map(|[east, up, south]| up - view.gradient[0] * east - view.gradient[1] * south);
        let total = first.abs() + last.abs();
        let facing = if total > 0.0 { (first.max(0.0) + last.max(0.0)) / total } else { 1.0 };
        above_horizon.min(facing)
    }
}

fn day() -> [DayInterval; POSITIONS] {
    let latitude = LATITUDE_DEG.to_radians();
    let sine_at = |hour_angle: f64| libm::cos(latitude) * libm::cos(hour_angle);
    let width = PI / POSITIONS.to_f64();
    let middle = |i: usize| (i.to_f64() + 0.5) * width - 0.5 * PI;
    let total: f64 = (0..POSITIONS).map(|i| sine_at(middle(i))).sum();
    std::array::from_fn(|i| {
        let hour_angle = middle(i);
        let times = [hour_angle - 0.5 * width, hour_angle, hour_angle + 0.5 * width];
        let altitudes = times.map(|at| libm::asin(sine_at(at)));
        let low = altitudes[0].min(altitudes[2]).max(0.0);
        let high = altitudes.into_iter().fold(0.0, f64::max);
        let sun = |hour_angle: f64| {
            [-libm::sin(hour_angle), sine_at(hour_angle), libm::sin(latitude) * libm::cos(hour_angle)]
        };
        let [east, _, south] = sun(hour_angle);
        DayInterval {
            azimuth_deg: libm::atan2(east, -south).to_degrees(),
            altitude: (0.5 * (low + high)).to_f32(),
            climb: (high - low).max(MIN_CLIMB_DEG.to_radians()).to_f32(),
            ends: [times[0], times[2]].map(|at| sun(at).map(|component| component.to_f32())),
            weight: (sine_at(hour_angle) / total).to_f32(),
        }
    })
}

/// The share of the day for which each of the samples `to` is in shadow, its own or that of other terrain: 0 where the
/// sun always shines, 1 where it never does; high suns count for more. Computed on at most 513 samples along the longer
/// side.
pub fn shade(terrain: &Heightfield, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let day = day();
    at_reference(terrain, to, progress, |terrain| {
        let azimuths_deg = day.iter().map(|interval| interval.azimuth_deg);
        let mut shares = sum_of_views(terrain, azimuths_deg, progress, |number, view| {
            let interval = &day[number];
            interval.weight * (1.0 - interval.lit(view))
        })?;
        shares.heights_mut().iter_mut().for_each(|share| *share = share.clamp(0.0, 1.0));
        Ok(shares)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        assert_shares_on_extreme_terrain, bumpy, difference, same_at_one_and_seven_threads, world,
    };
    use super::*;

    fn shaded(terrain: &Heightfield) -> Heightfield {
        shade(terrain, terrain.grid(), &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn the_sun_rises_in_the_east_culminates_in_the_south_and_sets_in_the_west() {
        let day = day();
        assert!((day[6].azimuth_deg.rem_euclid(360.0) - 180.0).abs() < 1e-9);
        assert!(day[0].azimuth_deg > 90.0 && day[0].azimuth_deg < 100.0, "{}", day[0].azimuth_deg);
        assert!((day[0].azimuth_deg + day[12].azimuth_deg).rem_euclid(360.0) < 1e-9);
        // The altitude at noon is 90° − 45°; the first interval begins at the horizon.
        assert!((day[6].altitude.to_degrees() - 44.9).abs() < 0.15);
        assert!((day[0].altitude - 0.5 * day[0].climb).abs() < 1e-6);
        assert!((day.iter().map(|interval| interval.weight).sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn level_terrain_is_lit_all_day_and_slopes_for_part_of_it() {
        let grid = Grid::new(world(800.0, 800.0), 81, 81);
        assert!(shaded(&Heightfield::flat(grid)).heights().iter().all(|&share| share < 1e-6));
        let slope = |east: f32, south: f32| {
            shaded(&Heightfield::from_fn(grid, |c, r| 10.0 * (east * c as f32 + south * r as f32)))[(40, 40)]
        };
        // Rising to the south at 60° it faces north, where the sun never is. Rising to the north it faces the sun at
        // noon.
        assert!(slope(0.0, 1.75) > 0.999);
        assert!(slope(0.0, -0.5) < 1e-4);
        // A wall in the east shades the morning, which is half of the day; one in the west the evening.
        assert!((slope(50.0, 0.0) - 0.5).abs() < 0.03 && (slope(-50.0, 0.0) - 0.5).abs() < 0.03);
        let (gentle, steep) = (slope(0.0, 0.3), slope(0.0, 0.8));
        assert!(gentle < steep && steep < 1.0, "{gentle}, {steep}");
    }

    /// The shaded share of the day at a sample, in steps of three minutes.
    fn stepped(terrain: &Heightfield, c: usize, r: usize) -> f64 {
        let grid = terrain.grid();
        let half = 0.5_f64.sqrt();
        let gradient = terrain.gradient(c, r).map(f64::from);
        let (mut dark, mut total) = (0.0, 0.0);
        for step in 0..240 {
            let hour_angle = ((f64::from(step) + 0.5) / 240.0 - 0.5) * PI;
            let sun = [-libm::sin(hour_angle), half * libm::cos(hour_angle), half * libm::cos(hour_angle)];
            let faces_it = sun[1] - gradient[0] * sun[0] - gradient[1] * sun[2] > 0.0;
            let level = (sun[0] * sun[0] + sun[2] * sun[2]).sqrt();
            let mut hidden = !faces_it;
            for n in 1.. {
                let distance = 4.0 * f64::from(n);
                let (x, z) = (grid.x_m(c) + distance * sun[0] / level, grid.z_m(r) + distance * sun[2] / level);
                if hidden || x < 0.0 || z < 0.0 || x > grid.extent().width_m || z > grid.extent().depth_m {
                    break;
                }
                hidden = f64::from(terrain.height_at(x, z) - terrain[(c, r)]) > distance * sun[1] / level;
            }
            total += sun[1];
            dark += if hidden { sun[1] } else { 0.0 };
        }
        dark / total
    }

    #[test]
    fn shade_is_close_to_a_day_in_small_steps() {
        let terrain = bumpy(Grid::new(world(1000.0, 700.0), 101, 71));
        let shares = shaded(&terrain);
        let (mut squares, mut count, mut max) = (0.0, 0.0, 0.0_f32);
        for (c, r) in (0..71).step_by(3).flat_map(|r| (0..101).step_by(3).map(move |c| (c, r))) {
            let off = f64::from(shares[(c, r)]) - stepped(&terrain, c, r);
            squares += off * off;
            count += 1.0;
            max = max.max(shares[(c, r)]);
        }
        let rms = libm::sqrt(squares / count);
        assert!(rms < 0.02 && max > 0.3, "{rms}, {max}");
    }

    #[test]
    fn resolution_barely_changes_shade() {
        let on = |side: usize| shaded(&bumpy(Grid::fitted(world(4096.0, 2000.0), side)));
        let off = difference(&on(257), &on(1025));
        assert!(off < 0.01, "{off}");
    }

    #[test]
    fn shares_are_from_0_to_1_on_any_terrain() {
        assert_shares_on_extreme_terrain(shaded);
    }

    #[test]
    fn results_do_not_depend_on_threads_and_can_be_cancelled() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| shade(&terrain, terrain.grid(), progress));
    }
}
