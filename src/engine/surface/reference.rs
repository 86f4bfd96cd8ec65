//! Computes slowly varying fields on a coarser grid.

use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// The maximum number of samples along the longer side on which slowly varying fields are computed.
const REFERENCE_SAMPLES: usize = 513;

/// Computes a field from 0 to 1 of terrain at at most [`REFERENCE_SAMPLES`] along the longer side, and resamples it to the
/// samples `to`.
pub(super) fn at_reference(
    terrain: &Heightfield,
    to: Grid,
    progress: &Progress,
    field: impl FnOnce(&Heightfield) -> Result<Heightfield, Cancelled>,
) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let found = if grid.width().max(grid.height()) <= REFERENCE_SAMPLES {
        progress.stage(0.0..0.7, || field(terrain))?
    } else {
        let reference = Grid::fitted(grid.extent(), REFERENCE_SAMPLES);
        let coarse = progress.stage(0.0..0.1, || terrain.resampled(reference, progress))?;
        progress.stage(0.1..0.7, || field(&coarse))?
    };
    if found.grid() == to {
        return Ok(found);
    }
    progress.stage(0.7..1.0, || resample_clamped(&found, to, 1.0, progress))
}

/// Resamples a field from 0 to `max`. Bicubic interpolation overshoots, so the result is clamped to these limits.
pub(super) fn resample_clamped(
    field: &Heightfield,
    grid: Grid,
    max: f32,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let mut resampled = field.resampled(grid, progress)?;
    resampled.rows_mut().try_for_each(|row| {
        row.iter_mut().for_each(|number| *number = number.clamp(0.0, max));
        progress.check()
    })?;
    Ok(resampled)
}
