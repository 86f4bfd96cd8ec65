//! Heightmaps with their sidecars.

use std::path::Path;

use super::georeference;
use super::order::HeightmapOrder;
use super::report::BuildReport;
use super::tiles::{TileFile, Tiles};
use crate::engine::parameters::Band;
use crate::engine::texture::Points;
use crate::engine::{Grid, Heightfield, Origin, Progress};
use crate::files::formats::heightmap::{self, Encoding, RawSample, Rows, Samples, WrittenFormat};
use crate::files::formats::region::Region;
use crate::files::formats::sidecar::{SidecarContents, sidecar_path};
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// The files of a heightmap, without sidecars; an error if they cannot be written.
pub(super) fn plan(order: &HeightmapOrder, grid: Grid, tiles: Option<Tiles>) -> Result<Vec<TileFile>, FileError> {
    // An unknown extension is reported before an impossible size.
    WrittenFormat::with_layout(&order.path, order.encoding.raw)?;
    let files = TileFile::of_samples(tiles, &order.path, [grid.width(), grid.height()])?;
    for TileFile { path, region, .. } in &files {
        heightmap::check_size(path, region.size, order.encoding.raw)?;
    }
    Ok(files)
}

/// Uncompressed bytes per sample; `None` for text.
pub(super) fn sample_bytes(order: &HeightmapOrder) -> Option<u64> {
    let channels = if order.encoding.as_rgb { 3 } else { 1 };
    let bits = match WrittenFormat::from_path(&order.path).ok()?.samples(order.encoding) {
        Samples::Integers { bits, .. } => Some(bits),
        Samples::Metres { bits, .. } => bits,
    };
    bits.map(|bits| u64::from(bits).div_ceil(8) * channels)
}

/// The sidecar of these rows, without a recipe and import steps. Integers span `span_m`.
/// Heights that the file cannot hold are clamped.
pub(super) fn sidecar_contents<'a>(
    path: &'a Path,
    encoding: Encoding,
    grid: Grid,
    rows: Rows,
    span_m: Band,
) -> Result<SidecarContents<'a>, FileError> {
    let own_m = rows.range_m();
    let format = WrittenFormat::from_path(path)?;
    let limits_m = match format.samples(encoding) {
        Samples::Metres { .. } => format.raw_sample(encoding.raw).and_then(RawSample::limits_m),
        Samples::Integers { .. } => Some(span_m),
    };
    let is_clamped = limits_m.is_some_and(|limits| own_m.min < limits.min || own_m.max > limits.max);
    let range_m = match (format.samples(encoding), limits_m) {
        (Samples::Integers { .. }, _) => span_m,
        (Samples::Metres { .. }, None) => own_m,
        (Samples::Metres { .. }, Some(limits)) => {
            Band { min: own_m.min.clamp(limits.min, limits.max), max: own_m.max.clamp(limits.min, limits.max) }
        }
    };
    Ok(SidecarContents { path, encoding, grid, range_m, is_clamped, recipe: None, steps: &[] })
}

/// Stages a heightmap and its sidecar.
pub(super) fn stage(
    rows: Rows,
    contents: &SidecarContents,
    overwrite: bool,
    progress: &Progress,
) -> Result<[StagedFile; 2], FileError> {
    let SidecarContents { path, encoding, range_m, .. } = *contents;
    let map =
        atomic::stage(path, overwrite, |writer| heightmap::write(writer, path, rows, range_m, encoding, progress))?;
    let sidecar = atomic::stage(&sidecar_path(path), overwrite, |writer| contents.write(writer))?;
    Ok([map, sidecar])
}

/// The note about a file whose heights were clamped.
pub(super) fn clamping_note(path: &Path) -> String {
    format!("{}: heights outside its range were clamped", path.display())
}

/// Writes a single heightmap with its sidecar, and its place on Earth if it has one. Integers span `range_m`.
pub fn write_heightmap(
    heights: &Heightfield,
    order: &HeightmapOrder,
    range_m: Band,
    origin: Option<&Origin>,
    overwrite: bool,
    progress: &Progress,
) -> Result<BuildReport, FileError> {
    let HeightmapOrder { path, encoding } = order;
    let grid = heights.grid();
    heightmap::check_size(path, [grid.width(), grid.height()], encoding.raw)?;
    atomic::check_writable(path, overwrite)?;
    atomic::check_writable(&sidecar_path(path), overwrite)?;
    let region = Region::full([grid.width(), grid.height()]);
    let rows = Rows::of(heights, region, encoding.row_order).placed_at(origin);
    let contents = sidecar_contents(path, *encoding, grid, rows, range_m)?;
    let mut staged = Vec::from(stage(rows, &contents, overwrite, progress)?);
    if let Some(origin) = origin {
        let file = TileFile { path: path.clone(), tile: None, region };
        for (path, text) in georeference::beside(&file, origin, grid, Points::Samples) {
            staged.push(atomic::stage_bytes(&path, overwrite, text.as_bytes())?);
        }
    }
    progress.check()?;
    let notes = contents.is_clamped.then(|| clamping_note(path)).into_iter().collect();
    Ok(BuildReport { files: atomic::commit_all(staged)?, notes, ..BuildReport::default() })
}
