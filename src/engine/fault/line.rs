//! A single straight fault.

use rayon::prelude::*;

use super::fixed_point::{quantized_displacement, to_metres, to_units};
use super::profile::Profile;
use crate::cast::ToInteger;
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// A straight fault across the whole map: h += displacement · w((p − point)·normal).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// A point of the line, metres east and south of the north-west corner.
    pub point_m: [f64; 2],
    /// The unit normal, which points to the upper side.
    pub normal: [f64; 2],
    /// The height by which the upper side rises (negative: sinks), in metres; a fixed-point number.
    pub displacement_m: f64,
    /// The cross-section.
    pub profile: Profile,
    /// The width of the fault zone on each side, metres; unused by [`Profile::Step`].
    pub zone_m: f64,
}

impl Fault {
    /// The signed distance of a point from the line in metres, positive on the upper side.
    pub fn distance_m(&self, x_m: f64, z_m: f64) -> f64 {
        (x_m - self.point_m[0]) * self.normal[0] + (z_m - self.point_m[1]) * self.normal[1]
    }

    /// The uplift of a point, in metres.
    pub fn uplift_m(&self, x_m: f64, z_m: f64) -> f64 {
        self.displacement_m * self.profile.weight(self.distance_m(x_m, z_m), self.zone_m)
    }

    /// The fault with a zone of at least `min_m`, for grids that would show a narrower one in a few samples by chance. Its
    /// effect over longer distances stays the same: the volume of a ridge, or the moment of a bank and a ditch. Faults that
    /// offset their sides do not change.
    #[must_use]
    pub fn widened(self, min_m: f64) -> Self {
        if !self.profile.fades() || self.zone_m >= min_m {
            return self;
        }
        let ratio = self.zone_m / min_m;
        let share = if self.profile == Profile::Cosine { ratio } else { ratio * ratio };
        Self { zone_m: min_m, displacement_m: quantized_displacement(share * self.displacement_m), ..self }
    }
}

/// Adds one fault to the heights in f32, for faults that alternate with passes of a filter.
pub fn add_fault(heights: &mut Heightfield, fault: &Fault, progress: &Progress) -> Result<(), Cancelled> {
    let grid = heights.grid();
    let xs = column_positions(&grid);
    let fault = GridFault::new(fault, &grid);
    let east = to_metres(fault.east_units);
    let rows = heights.heights_mut().par_chunks_mut(grid.width()).enumerate().with_min_len(32);
    rows.try_for_each_init(Vec::new, |zone, (r, heights)| {
        let z = grid.z_m(r);
        let Crossing { first, second } = fault.crossing(z, &xs);
        heights[..first].iter_mut().for_each(|height| *height -= east);
        heights[second..].iter_mut().for_each(|height| *height += east);
        if first < second {
            zone.clear();
            zone.resize(second - first, 0);
            fault.add_zone(z, &xs[first..second], zone);
            heights[first..second].iter_mut().zip(zone).for_each(|(height, units)| *height += to_metres(*units));
        }
        progress.check()
    })
}

/// The positions of the columns, metres from the west border.
pub fn column_positions(grid: &Grid) -> Vec<f64> {
    (0..grid.width()).map(|c| grid.x_m(c)).collect()
}

/// A fault prepared for one grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridFault {
    pub fault: Fault,
    /// Whether the distance increases eastward along a row.
    rising: bool,
    /// Converts a distance in metres to columns.
    pub columns_per_m: f64,
    /// The column of `point_m`.
    pub point_column: f64,
    pub reach_m: f64,
    /// The uplift far east of the line, in fixed-point units; far west it is the opposite.
    pub east_units: i64,
}

/// Where a row of samples crosses the fault zone: the uplift is constant west of `first` and from `second` on.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    first: usize,
    second: usize,
}

impl GridFault {
    pub fn new(fault: &Fault, grid: &Grid) -> Self {
        let [nx, _] = fault.normal;
        let rising = nx > 0.0;
        let spacing = grid.spacing_x_m();
        let far_units = to_units(fault.displacement_m * fault.profile.far_weight());
        Self {
            fault: *fault,
            rising,
            columns_per_m: 1.0 / (nx * spacing),
            point_column: (fault.point_m[0] - grid.x_m(0)) / spacing,
            reach_m: fault.profile.reach_m(fault.displacement_m, fault.zone_m),
            east_units: if rising { far_units } else { -far_units },
        }
    }

    /// The first column east of the point where the distance passes `threshold_m`. `across_m` is the component of the
    /// distance that is constant along the row.
    ///
    /// A division gives an estimate, which is then checked with the distance itself. The result therefore depends only
    /// on the positions of the samples and agrees between grids.
    pub fn column(&self, threshold_m: f64, across_m: f64, xs: &[f64]) -> usize {
        let [px, _] = self.fault.point_m;
        let [nx, _] = self.fault.normal;
        let is_east = |x: f64| ((x - px) * nx + across_m >= threshold_m) == self.rising;
        // Truncation after adding one is the ceiling except for integers; negative numbers and NaN become 0.
        let estimate =
            ((threshold_m - across_m) * self.columns_per_m + self.point_column + 1.0).to_usize().min(xs.len());
        let west_is_west = estimate == 0 || !is_east(xs[estimate - 1]);
        let east_is_east = estimate == xs.len() || is_east(xs[estimate]);
        if west_is_west && east_is_east { estimate } else { xs.partition_point(|&x| !is_east(x)) }
    }

    fn crossing(&self, z: f64, xs: &[f64]) -> Crossing {
        let across_m = self.across_m(z);
        if self.reach_m == 0.0 {
            let column = self.column(0.0, across_m, xs);
            return Crossing { first: column, second: column };
        }
        let west_edge_m = self.west_edge_m();
        Crossing { first: self.column(west_edge_m, across_m, xs), second: self.column(-west_edge_m, across_m, xs) }
    }

    /// The distance at the western edge of the fault zone.
    pub fn west_edge_m(&self) -> f64 {
        if self.rising { -self.reach_m } else { self.reach_m }
    }

    /// The component of the distance that is constant along the row at `z`.
    pub fn across_m(&self, z: f64) -> f64 {
        (z - self.fault.point_m[1]) * self.fault.normal[1]
    }

    /// Adds the uplift of samples within the fault zone, in fixed-point units.
    #[inline(always)]
    pub fn add_zone(&self, z: f64, xs: &[f64], sums: &mut [i64]) {
        // One loop per profile: a match inside the loop would prevent vectorization.
        match self.fault.profile {
            Profile::Step => self.add_zone_with(z, xs, sums, |dist, zone| Profile::Step.weight_in_zone(dist, zone)),
            Profile::Ramp => self.add_zone_with(z, xs, sums, |dist, zone| Profile::Ramp.weight_in_zone(dist, zone)),
            Profile::Smooth => self.add_zone_with(z, xs, sums, |dist, zone| Profile::Smooth.weight_in_zone(dist, zone)),
            Profile::Sine => self.add_zone_with(z, xs, sums, |dist, zone| Profile::Sine.weight_in_zone(dist, zone)),
            Profile::RoundedSine => {
                self.add_zone_with(z, xs, sums, |dist, zone| Profile::RoundedSine.weight_in_zone(dist, zone));
            }
            Profile::Cosine => self.add_zone_with(z, xs, sums, |dist, zone| Profile::Cosine.weight_in_zone(dist, zone)),
            Profile::Exponential => {
                self.add_zone_with(z, xs, sums, |dist, zone| Profile::Exponential.weight_in_zone(dist, zone));
            }
            Profile::Gaussian => {
                self.add_zone_with(z, xs, sums, |dist, zone| Profile::Gaussian.weight_in_zone(dist, zone));
            }
            Profile::Linear => self.add_zone_with(z, xs, sums, |dist, zone| Profile::Linear.weight_in_zone(dist, zone)),
            Profile::Biweight => {
                self.add_zone_with(z, xs, sums, |dist, zone| Profile::Biweight.weight_in_zone(dist, zone));
            }
        }
    }

    #[inline(always)]
    fn add_zone_with(&self, z: f64, xs: &[f64], sums: &mut [i64], weight: impl Fn(f64, f64) -> f64) {
        let ([px, _], [nx, _], across_m) = (self.fault.point_m, self.fault.normal, self.across_m(z));
        let (displacement_m, zone_m) = (self.fault.displacement_m, self.fault.zone_m);
        for (sum, x) in sums.iter_mut().zip(xs) {
            *sum += to_units(displacement_m * weight((x - px) * nx + across_m, zone_m));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of the uplift at places along a line across the fault, and of the uplift times the distance.
    fn moments(fault: Fault) -> [f64; 2] {
        let step_m = 0.01;
        let places = || (-40_000..40_000).map(|i| step_m * f64::from(i));
        let uplifts = || places().map(|x_m| fault.uplift_m(x_m, 0.0));
        [uplifts().sum(), places().zip(uplifts()).map(|(x_m, uplift_m)| x_m * uplift_m).sum()]
    }

    #[test]
    fn widened_faults_have_the_same_effect_over_longer_distances() {
        let fault =
            |profile, zone_m| Fault { point_m: [0.0, 0.0], normal: [1.0, 0.0], displacement_m: 30.0, profile, zone_m };
        for (profile, moment) in [
            (Profile::Cosine, 0),
            (Profile::Sine, 1),
            (Profile::RoundedSine, 1),
            (Profile::Exponential, 1),
            (Profile::Linear, 1),
        ] {
            let narrow = fault(profile, 2.0);
            let wide = narrow.widened(20.0);
            let [expected, found] = [narrow, wide].map(|fault| moments(fault)[moment]);
            assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}, of {profile:?}");
            assert_eq!((wide.zone_m, narrow.widened(1.5)), (20.0, narrow));
            assert_eq!(fault(profile, 0.0).widened(20.0).displacement_m, 0.0);
        }
        for profile in [Profile::Step, Profile::Ramp, Profile::Smooth] {
            assert_eq!(fault(profile, 2.0).widened(20.0), fault(profile, 2.0));
        }
    }
}
