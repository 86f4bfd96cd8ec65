//! A map cut into strips of columns, so that threads can work down its columns side by side.

use super::progress::{Cancelled, Progress};

/// Columns that a thread works on together: a few cache lines wide.
pub(super) const STRIP: usize = 64;

/// The map cut into strips of columns, each as the pieces of its rows.
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
