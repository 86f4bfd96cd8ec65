//! PNGs of computed values: weights, analysis maps, material colours.

use std::io::Write;
use std::path::Path;

use super::tiles::TileFile;
use crate::engine::Progress;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::files::formats::png::{self, BitDepth, Layout};
use crate::files::formats::region::Region;
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// Stages a map or its tiles. `layout` is that of the complete map; `value` returns the value of a pixel of the
/// complete map and a channel.
pub(super) fn stage_tiles(
    files: &[TileFile],
    layout: Layout,
    value: impl Fn(usize, usize) -> u16 + Sync,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let share = |at: usize| at.to_f32() / files.len().to_f32();
    let stage = |(at, TileFile { path, region, .. }): (usize, &TileFile)| {
        progress.stage(share(at)..share(at + 1), || {
            atomic::stage(path, overwrite, |writer| write_values(writer, path, layout, *region, &value, progress))
        })
    };
    files.iter().enumerate().map(stage).collect()
}

/// Writes a region of a map with this layout.
fn write_values(
    writer: &mut impl Write,
    path: &Path,
    layout: Layout,
    region: Region,
    value: impl Fn(usize, usize) -> u16 + Sync,
    progress: &Progress,
) -> Result<(), FileError> {
    let Layout { size: [width, _], channels, depth, .. } = layout;
    let channels = channels.count();
    let fill = |j: usize, bytes: &mut [u8]| {
        let first = (region.first[1] + j) * width + region.first[0];
        let values = (first..first + region.size[0]).flat_map(|i| (0..channels).map(move |c| (i, c)));
        let values = values.map(|(pixel, channel)| value(pixel, channel));
        match depth {
            // The values were computed with a maximum of 255.
            BitDepth::Eight => bytes.iter_mut().zip(values).for_each(|(byte, value)| *byte = value.to_u8()),
            BitDepth::Sixteen => {
                let (pairs, _) = bytes.as_chunks_mut::<2>();
                pairs.iter_mut().zip(values).for_each(|(pair, value)| *pair = value.to_be_bytes());
            }
        }
    };
    let written = png::write(writer, Layout { size: region.size, ..layout }, fill, progress);
    // A cancelled writer returns an I/O error.
    progress.check()?;
    written.map_err(|error| FileError::writing(path, &error))
}

/// The number of pixels.
pub(super) fn area([width, height]: [usize; 2]) -> u64 {
    (width as u64).saturating_mul(height as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::formats::png::Channels;

    #[test]
    fn values_are_read_back_by_another_reader() {
        let values: Vec<u16> = (0..36).map(|i| i * 1777).collect();
        let all =
            [BitDepth::Eight, BitDepth::Sixteen].map(|depth| [Channels::Grey, Channels::Rgb].map(|them| (depth, them)));
        for (depth, channels) in all.into_iter().flatten() {
            let layout = Layout { size: [4, 3], channels, depth, is_srgb: false };
            let channels = channels.count();
            let value = |pixel: usize, channel: usize| values[pixel * channels + channel] % depth.max();
            let mut bytes = Vec::new();
            let region = Region::full(layout.size);
            write_values(&mut bytes, Path::new("a.png"), layout, region, value, &Progress::new()).expect("written");
            let read = image::load_from_memory(&bytes).expect("readable");
            let expected: Vec<u16> = (0..12 * channels).map(|i| values[i] % depth.max()).collect();
            let found: Vec<u16> = match read {
                image::DynamicImage::ImageLuma8(map) => map.into_raw().into_iter().map(u16::from).collect(),
                image::DynamicImage::ImageRgb8(map) => map.into_raw().into_iter().map(u16::from).collect(),
                image::DynamicImage::ImageLuma16(map) => map.into_raw(),
                image::DynamicImage::ImageRgb16(map) => map.into_raw(),
                other => panic!("{:?}", other.color()),
            };
            assert_eq!(found, expected, "{depth:?}, {channels}");
        }
    }
}
