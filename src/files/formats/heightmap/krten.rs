//! The format of Krten's program (Dr. Dobb's Journal, July 1994): the sizes X and Y, then X columns of Y heights, all
//! 32-bit integers, low byte first.

use std::io::{self, Write};
use std::path::Path;

use super::decoded::{Decoded, checked_sides};
use super::rows::Rows;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::{Progress, Raster, SampleScale};
use crate::files::io::cancellable::cancelled_error;
use crate::files::io::error::FileError;

pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    let numbers = bytes.as_chunks::<4>().0;
    let ([width, height], heights) = match numbers {
        [width, height, heights @ ..] => ([*width, *height].map(|size| u64::from(u32::from_le_bytes(size))), heights),
        _ => return Err(FileError::invalid(path, "this file is too short to hold its two sizes")),
    };
    let [width, height] = checked_sides(path, width, height)?;
    let (expected, found) = (8 + 4 * width as u64 * height as u64, bytes.len() as u64);
    if expected != found {
        let problem = format!("a map of {width} × {height} takes {expected} bytes, but this file has {found}");
        return Err(FileError::invalid(path, problem));
    }
    let mut samples = vec![0.0; width * height];
    for (c, column) in heights.chunks_exact(height).enumerate() {
        for (r, &metres) in column.iter().enumerate() {
            samples[r * width + c] = i32::from_le_bytes(metres).to_f32();
        }
    }
    let raster = Raster { width, height, samples, scale: SampleScale::Metres };
    Ok(Decoded::of(raster))
}

pub(super) fn write(writer: &mut impl Write, rows: Rows, progress: &Progress) -> io::Result<()> {
    for size in [rows.width(), rows.height()] {
        writer.write_all(&size.to_i32().to_le_bytes())?;
    }
    let counter = progress.counter(rows.width());
    let mut bytes = Vec::new();
    for c in 0..rows.width() {
        bytes.clear();
        // The cast saturates: heights that i32 cannot hold are clamped.
        (0..rows.height()).for_each(|r| bytes.extend(rows.row(r)[c].round().to_i32().to_le_bytes()));
        writer.write_all(&bytes)?;
        counter.add_one().map_err(cancelled_error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Heightfield;
    use crate::engine::heightfield::{Extent, Grid};

    #[test]
    fn columns_match_numbers_computed_by_hand() {
        let grid = Grid::new(Extent { width_m: 1.0, depth_m: 2.0 }, 2, 3);
        let terrain =
            Heightfield::from_fn(grid, |c, r| if (c, r) == (0, 0) { -2.6 } else { (10 * c + r) as f32 + 0.4 });
        let mut bytes = Vec::new();
        write(&mut bytes, Rows::all(&terrain), &Progress::new()).expect("written");
        let numbers: Vec<i32> = bytes.as_chunks::<4>().0.iter().map(|number| i32::from_le_bytes(*number)).collect();
        assert_eq!(numbers, [2, 3, -3, 1, 2, 10, 11, 12]);
        let raster = decode(Path::new("a.xy"), &bytes).expect("readable").raster;
        assert_eq!((raster.width, raster.samples), (2, vec![-3.0, 10.0, 1.0, 11.0, 2.0, 12.0]));
    }
}
