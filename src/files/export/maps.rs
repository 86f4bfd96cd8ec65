//! Analysis maps as PNGs.

use std::ffi::OsStr;

use super::channels::{area, stage_tiles};
use super::order::MapOrder;
use super::tiles::{TileFile, Tiles, needed_pixels};
use crate::engine::Progress;
use crate::engine::texture::{AnalysisMap, MapTerrain, Points, analysis_map};
use crate::files::formats::image;
use crate::files::formats::png::{self, Channels, Layout};
use crate::files::io::atomic::StagedFile;
use crate::files::io::error::FileError;

/// The files of a map; an error if they cannot be written.
pub(super) fn plan(order: &MapOrder, tiles: Option<Tiles>) -> Result<Vec<TileFile>, FileError> {
    if !order.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(OsStr::new("png"))) {
        return Err(FileError::UnknownExtension { path: order.path.clone(), known: ".png (maps)".into() });
    }
    image::check_size(&order.path, order.size)?;
    TileFile::of_pixels(tiles, &order.path, order.size)
}

/// The maximum number of bytes that a map needs: its values, and either the intermediate maps (`working_bytes`) or what
/// writing takes.
pub(super) fn bytes(order: &MapOrder, files: &[TileFile], working_bytes: u64) -> u64 {
    let (pixels, _) = needed_pixels(files, order.size);
    let layout = layout(order, pixels.size);
    let values = area(layout.size).saturating_mul(2 * layout.channels.count() as u64);
    values.saturating_add(working_bytes.max(png::bytes_at_once(layout, 0)))
}

fn layout(order: &MapOrder, size: [usize; 2]) -> Layout {
    let channels = match order.analysis_map {
        AnalysisMap::Normals | AnalysisMap::NormalsSouth => Channels::Rgb,
        _ => Channels::Grey,
    };
    Layout { size, channels, depth: order.depth, is_srgb: false }
}

/// Uncompressed bytes per pixel.
pub(super) fn pixel_bytes(order: &MapOrder) -> u64 {
    layout(order, order.size).pixel_bytes() as u64
}

/// Stages the files that [`plan`] returned.
pub(super) fn stage(
    order: &MapOrder,
    files: &[TileFile],
    of: &MapTerrain,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let (pixels, files) = needed_pixels(files, order.size);
    let (layout, points) = (layout(order, pixels.size), Points::PixelRegion(pixels));
    let computing = || analysis_map(of, order.analysis_map, points, order.depth.max(), progress);
    let values = progress.stage(0.0..0.5, computing)?;
    let channels = layout.channels.count();
    let value = |pixel: usize, channel: usize| values[pixel * channels + channel];
    progress.stage(0.5..1.0, || stage_tiles(&files, layout, value, overwrite, progress))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::formats::png::BitDepth;

    #[test]
    fn every_analysis_map_has_the_channels_of_its_layout() {
        for analysis_map in AnalysisMap::ALL.into_iter().chain([AnalysisMap::NormalsSouth]) {
            let order = MapOrder { path: "a.png".into(), analysis_map, size: [4, 3], depth: BitDepth::Eight };
            assert_eq!(layout(&order, order.size).channels.count(), analysis_map.channels(), "{analysis_map:?}");
        }
    }
}
