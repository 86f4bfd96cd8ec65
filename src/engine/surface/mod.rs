//! What the ground is like beyond height and slope: how much sky it sees, when the sun reaches it, whether it is hollow,
//! how wet it is and whether sediment lies on it.
//!
//! Every function gives one number per sample of the land's grid, in a [`Heightfield`] that carries these numbers in
//! place of heights. They fail by being cancelled only, and give the same bytes at every number of threads. What
//! they count of their work lies within the monitor's present part.

pub mod curvature;
pub mod horizon;
pub mod humidity;
pub mod occlusion;
pub mod sediment;
pub mod shade;
pub mod shadow;

pub use curvature::curvature;
pub use horizon::horizon;
pub use humidity::humidity;
pub use occlusion::occlusion;
pub use sediment::sediment;
pub use shade::shade;
pub use shadow::{Sun, shadow};

use rayon::prelude::*;

use super::heightfield::{Grid, Heightfield};
use super::progress::{Cancelled, Progress};
use horizon::{Space, Sweep};

/// Samples along the longer side at which fields that vary slowly are computed at the most: finer lands are read at
/// this many, and the field is brought back to theirs.
const REFERENCE_SAMPLES: usize = 513;

/// A field from 0 to 1 that `field` computes on at most [`REFERENCE_SAMPLES`] along the longer side, on the grid of the
/// land.
fn at_reference(
    terrain: &Heightfield,
    progress: &Progress,
    field: impl FnOnce(&Heightfield) -> Result<Heightfield, Cancelled>,
) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    if grid.width().max(grid.height()) <= REFERENCE_SAMPLES {
        return field(terrain);
    }
    let reference = Grid::fitted(grid.extent(), REFERENCE_SAMPLES);
    let coarse = progress.stage(0.0..0.1, || terrain.resampled(reference, progress))?;
    let found = progress.stage(0.1..0.7, || field(&coarse))?;
    progress.stage(0.7..1.0, || share_on(grid, &found, progress))
}

/// A field from 0 to 1 on another grid.
fn share_on(grid: Grid, field: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
    field_on(grid, field, 1.0, progress)
}

/// A field from 0 to `most` on another grid: the bicubic in between may not leave these limits.
fn field_on(grid: Grid, field: &Heightfield, most: f32, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let mut there = field.resampled(grid, progress)?;
    there.rows_mut().try_for_each(|row| {
        row.iter_mut().for_each(|number| *number = number.clamp(0.0, most));
        progress.check()
    })?;
    Ok(there)
}

/// A view from the ground: how steeply the ground itself rises that way, and the horizon that way, both as tangents.
/// The horizon is not lower than the ground, which hides what lies behind it.
#[derive(Clone, Copy, Debug)]
struct View {
    /// How steeply the ground rises eastward and southward.
    gradient: [f32; 2],
    rise: f32,
    horizon: f32,
}

/// Looks in several directions from every sample and sums up what `of_view` makes of each view; it is also given the
/// number of the direction. Azimuths are in degrees, clockwise from north.
fn sum_of_views(
    terrain: &Heightfield,
    azimuths_deg: impl Iterator<Item = f64>,
    progress: &Progress,
    of_view: impl Fn(usize, View) -> f32 + Sync,
) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let mut gradients = vec![[0.0; 2]; grid.samples()];
    gradients.par_chunks_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
        row.iter_mut().enumerate().for_each(|(c, gradient)| *gradient = terrain.gradient(c, r));
        progress.check()
    })?;
    let mut sums = Heightfield::flat(grid);
    let mut space = Space::default();
    for (number, azimuth_deg) in azimuths_deg.enumerate() {
        let [east, south] = towards(azimuth_deg).map(|component| component as f32);
        let gradients = &gradients;
        Sweep::new(grid, azimuth_deg).look(terrain, &mut space, &mut sums, progress, |r, horizons, sums| {
            let gradients = &gradients[r * grid.width()..][..grid.width()];
            for ((sum, &horizon), &gradient) in sums.iter_mut().zip(horizons).zip(gradients) {
                let rise = gradient[0] * east + gradient[1] * south;
                *sum += of_view(number, View { gradient, rise, horizon: horizon.max(rise) });
            }
        })?;
    }
    Ok(sums)
}

/// The unit vector towards a compass direction in degrees, clockwise from north: east, south.
pub(super) fn towards(azimuth_deg: f64) -> [f64; 2] {
    let azimuth = azimuth_deg.to_radians();
    [libm::sin(azimuth), -libm::cos(azimuth)]
}

/// The angle of a tangent that is not negative, in radians, to 10⁻⁵: M. Abramowitz and I. Stegun, "Handbook of
/// Mathematical Functions", 1964, 4.4.47. Without branches, so that many are worked out at once.
fn angle(tangent: f32) -> f32 {
    let inverted = tangent > 1.0;
    let x = if inverted { 1.0 / tangent } else { tangent };
    let square = x * x;
    let series = (((0.020_835_1 * square - 0.085_133) * square + 0.180_141) * square - 0.330_299_5) * square;
    let small = x * (series + 0.999_866);
    if inverted { std::f32::consts::FRAC_PI_2 - small } else { small }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_those_of_the_tangents() {
        for i in 0..40_000_u16 {
            let tangent = libm::expf(f32::from(i) * 1e-3 - 20.0);
            assert!((angle(tangent) - libm::atanf(tangent)).abs() < 1.2e-5, "{tangent}");
        }
        assert_eq!(angle(0.0), 0.0);
        assert_eq!(angle(f32::INFINITY), std::f32::consts::FRAC_PI_2);
    }
}
