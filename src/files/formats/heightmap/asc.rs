//! Esri ASCII grid: a header of keys and numbers, then the heights in metres, row by row from the north.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use super::super::BYTE_ORDER_MARK;
use super::decoded::{Decoded, checked_size};
use super::georeference::from_esri_header;
use super::rows::Rows;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::{Progress, Raster, SampleScale};
use crate::files::io::cancellable::cancelled_error;
use crate::files::io::error::FileError;

/// The "no data" value if the header has none.
const NO_DATA: f32 = -9999.0;

pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    let text =
        str::from_utf8(bytes).map_err(|_| FileError::invalid(path, "this is not text, so it is not an Esri grid"))?;
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut words = text.split_ascii_whitespace().peekable();
    let mut header = BTreeMap::new();
    // The header ends at the first number in the place of a key.
    while let Some(key) =
        words.next_if(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()) && !is_nan(word))
    {
        let key = key.to_ascii_lowercase();
        // "No data" may be NaN.
        let is_valid = |number: &f64| number.is_finite() || key == "nodata_value";
        let number = words.next().and_then(|word| word.replace(',', ".").parse::<f64>().ok()).filter(is_valid);
        let number = number.ok_or_else(|| FileError::invalid(path, format!("there is no number after \"{key}\"")))?;
        header.insert(key, number);
    }
    let size = |key: &str| {
        let size = header.get(key).filter(|size| **size >= 0.0 && size.fract() == 0.0).map(|size| (*size).to_u64());
        size.ok_or_else(|| FileError::invalid(path, format!("the header has no integer \"{key}\"")))
    };
    let [width, height] = checked_size(path, bytes.len() as u64, size("ncols")?, size("nrows")?)?;
    let no_data = header.get("nodata_value").map_or(NO_DATA, |value| (*value).to_f32());
    let mut samples = Vec::new();
    for word in words {
        // Some programs write decimal commas.
        let Ok(sample) = word.parse::<f32>().or_else(|_| word.replace(',', ".").parse()) else {
            let word: String = word.chars().take(20).collect();
            return Err(FileError::invalid(path, format!("\"{word}\" is not a height")));
        };
        samples.push(if sample == no_data { f32::NAN } else { sample });
    }
    if samples.len() != width * height {
        let [needed, found] = [width * height, samples.len()];
        let problem = if found < needed {
            format!(
                "this file is cut short: it has {found} of the {needed} heights of {width} × {height}; copy it again"
            )
        } else {
            format!("a grid of {width} × {height} has {needed} heights, not {found}")
        };
        return Err(FileError::invalid(path, problem));
    }
    let spacing = |key: &str| header.get(key).or(header.get("cellsize")).copied().filter(|spacing| *spacing > 0.0);
    let cell = spacing("dx").zip(spacing("dy")).map(Into::into);
    let georeference = cell.map(|cell| from_esri_header(|key| header.get(key).copied(), cell, height));
    let raster = Raster { width, height, samples, scale: SampleScale::Metres };
    Ok(Decoded { georeference, ..Decoded::of(raster) })
}

fn is_nan(word: &str) -> bool {
    word.parse::<f32>().is_ok()
}

pub(super) fn write(writer: &mut impl Write, rows: Rows, progress: &Progress) -> io::Result<()> {
    let [dx, dy] = rows.spacing_m();
    let [west, north] = rows.first_m().unwrap_or([0.0, dy * (rows.height() - 1).to_f64()]);
    let south = north - dy * (rows.height() - 1).to_f64();
    // The difference of two equal numbers may be a tiny negative one.
    let south = if south.abs() < 1e-6 * dy { 0.0 } else { south };
    let (width, height) = (rows.width(), rows.height());
    writeln!(writer, "ncols {width}\nnrows {height}\nxllcenter {west}\nyllcenter {south}")?;
    // Esri's format has square cells only; GDAL also reads dx and dy.
    if (dx - dy).abs() <= 1e-9 * dx {
        writeln!(writer, "cellsize {dx}")?;
    } else {
        writeln!(writer, "dx {dx}\ndy {dy}")?;
    }
    let low = rows.range_m().min.to_f32();
    // Terrain that contains the usual "no data" value needs a different one.
    let no_data = if low > NO_DATA { NO_DATA } else { low.floor() - 1.0 };
    writeln!(writer, "NODATA_value {no_data}")?;
    let counter = progress.counter(rows.height());
    for r in 0..rows.height() {
        for (c, height) in rows.row(r).iter().enumerate() {
            let gap = if c == 0 { "" } else { " " };
            write!(writer, "{gap}{height}")?;
        }
        writeln!(writer)?;
        counter.add_one().map_err(cancelled_error)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Heightfield;
    use crate::engine::heightfield::{Extent, Grid};
    use crate::files::formats::heightmap::RowOrder;
    use crate::files::formats::region::Region;

    fn cell(decoded: &Decoded) -> Option<[f64; 2]> {
        decoded.georeference.map(|georeference| georeference.cell)
    }

    #[test]
    fn a_grid_with_a_no_data_value_is_read() {
        let text = "NCOLS 3\r\nNROWS 2\r\nxllcorner 400\r\nyllcorner 7.5\r\ncellsize 30\r\nNODATA_value -1\r\n1.5 2 -1\r\n4e1 5 6\r\n";
        let decoded = decode(Path::new("a.asc"), text.as_bytes()).expect("readable");
        assert_eq!((decoded.raster.width, decoded.raster.height, cell(&decoded)), (3, 2, Some([30.0, 30.0])));
        assert_eq!(decoded.raster.samples[..2], [1.5, 2.0]);
        assert!(decoded.raster.samples[2].is_nan());
        assert_eq!(decoded.raster.samples[3..], [40.0, 5.0, 6.0]);
    }

    #[test]
    fn non_square_cells_are_written_as_dx_and_dy() {
        let grid = Grid::new(Extent { width_m: 10.0, depth_m: 3.0 }, 2, 2);
        let mut bytes = Vec::new();
        write(&mut bytes, Rows::all(&Heightfield::flat(grid)), &Progress::new()).expect("written");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text, "ncols 2\nnrows 2\nxllcenter 0\nyllcenter 0\ndx 10\ndy 3\nNODATA_value -9999\n0 0\n0 0\n");
        let decoded = decode(Path::new("a.asc"), text.as_bytes()).expect("readable");
        assert_eq!(cell(&decoded), Some([10.0, 3.0]));
    }

    #[test]
    fn a_tile_has_its_own_corner() {
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 20.0 }, 5, 3);
        let heights = Heightfield::flat(grid);
        let tile = Rows::of(&heights, Region { first: [2, 0], size: [3, 2] }, RowOrder::NorthFirst);
        let mut bytes = Vec::new();
        write(&mut bytes, tile, &Progress::new()).expect("written");
        let text = String::from_utf8(bytes).expect("text");
        assert!(text.starts_with("ncols 3\nnrows 2\nxllcenter 20\nyllcenter 10\ncellsize 10\n"), "{text}");
    }
}
