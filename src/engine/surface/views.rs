//! Sums over the views in several directions.

use rayon::prelude::*;

use super::angles::azimuth_vector;
use super::sweep::{Sweep, SweepBuffers};
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// The view from a sample in one direction: the rise of the surface and the horizon, both as tangents. The horizon is
/// at least the rise, because the surface itself hides what is behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// Metres per metre, eastward and southward.
    pub(super) gradient: [f32; 2],
    pub(super) rise: f32,
    pub(super) horizon: f32,
}

/// Sums `of_view` over several directions at every sample; it is given the number of the direction and the view.
/// Azimuths are in degrees, clockwise from north.
pub(super) fn sum_of_views(
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
    let mut buffers = SweepBuffers::default();
    for (number, azimuth_deg) in azimuths_deg.enumerate() {
        let [east, south] = azimuth_vector(azimuth_deg).map(|component| component.to_f32());
        let gradients = &gradients;
        Sweep::new(grid, azimuth_deg).for_each_row(
            terrain,
            &mut buffers,
            &mut sums,
            progress,
            |r, horizons, sums| {
                let gradients = &gradients[r * grid.width()..][..grid.width()];
                for ((sum, &horizon), &gradient) in sums.iter_mut().zip(horizons).zip(gradients) {
                    let rise = gradient[0] * east + gradient[1] * south;
                    *sum += of_view(number, View { gradient, rise, horizon: horizon.max(rise) });
                }
            },
        )?;
    }
    Ok(sums)
}
