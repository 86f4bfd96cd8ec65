//! Strips of columns, so that threads can process the columns of a map in parallel.

use super::progress::{Cancelled, Progress};

/// The columns of a strip: a few cache lines wide.
pub(super) const STRIP: usize = 64;

/// Splits a map of `width` columns into strips of [`STRIP`] columns; each strip is a list of slices, one per row.
pub(super) fn strips<'a>(
    heights: &'a mut [f32],
    width: usize,
    progress: &Progress,
) -> Result<Vec<Vec<&'a mut [f32]>>, Cancelled> {
    let height = heights.len() / width;
    let mut strips: Vec<Vec<&mut [f32]>> = (0..width.div_ceil(STRIP)).map(|_| Vec::with_capacity(height)).collect();
    for row in heights.chunks_exact_mut(width) {
        for (strip, piece) in strips.iter_mut().zip(row.chunks_mut(STRIP)) {
            strip.push(piece);
        }
        progress.check()?;
    }
    Ok(strips)
}
