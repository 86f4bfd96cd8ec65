//! Textures, in one file, in tiles or in patches.

use std::ops::Range;

use super::order::{Patches, TextureOrder};
use super::tiles::{TileFile, Tiles};
use crate::engine::texture::{PixelRegion, Points};
use crate::engine::{Cancelled, Image, Progress};
use crate::files::formats::image;
use crate::files::formats::region::Region;
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// Paints a texture at these points.
type Paint<'a> = &'a dyn Fn(Points) -> Result<Image, Cancelled>;

/// The size of all patches together, or of the texture.
fn full_size(order: &TextureOrder) -> [usize; 2] {
    order.patches.map_or(order.size, |patches| [patches.columns * order.size[0], patches.rows * order.size[1]])
}

/// The files of a texture; an error if they cannot be written. The patch in column 2 of row 0 of rock.png is
/// rock_x2_y0.png.
pub(super) fn plan(order: &TextureOrder, tiles: Option<Tiles>) -> Result<Vec<TileFile>, FileError> {
    let tiles = order.patches.map(Patches::tiles).or(tiles);
    let files = TileFile::of_pixels(tiles, &order.path, full_size(order))?;
    for TileFile { path, region, .. } in &files {
        image::check_size(path, region.size)?;
    }
    Ok(files)
}

/// The maximum number of bytes that painting and writing need. Files are painted one after another and have the same
/// size.
pub(super) fn bytes(order: &TextureOrder, files: &[TileFile]) -> u64 {
    match order.patches {
        Some(Patches { mirror: true, .. }) => image::bytes_mirrored(&order.path, order.size),
        Some(Patches { mirror: false, .. }) | None => {
            image::bytes_painted(&order.path, files.first().map_or(order.size, |file| file.region.size))
        }
    }
}

/// Stages a file of a texture whose patches are not mirrored.
pub(super) fn stage_part(
    order: &TextureOrder,
    TileFile { path, region: Region { first: [west, north], size }, .. }: &TileFile,
    paint: Paint,
    overwrite: bool,
    progress: &Progress,
) -> Result<StagedFile, FileError> {
    let whole = full_size(order);
    let rows = |rows: Range<usize>| {
        let first = [*west, north + rows.start];
        paint(Points::PixelRegion(PixelRegion { full_size: whole, origin: first, size: [size[0], rows.len()] }))
    };
    atomic::stage(path, overwrite, |writer| image::paint_and_write(writer, path, *size, order.alpha, rows, progress))
}

/// Stages a mirrored patch. The texture is painted for the first patch and then kept in `painted`.
pub(super) fn stage_mirrored(
    order: &TextureOrder,
    TileFile { path, tile, .. }: &TileFile,
    painted: &mut Option<Image>,
    paint: Paint,
    overwrite: bool,
    progress: &Progress,
) -> Result<StagedFile, FileError> {
    let [column, row] = tile.unwrap_or_default();
    let image = match painted.take() {
        Some(image) => image,
        None => progress.stage(0.0..0.5, || paint(Points::Pixels(order.size)))?,
    };
    let mirrored = image.flipped([column % 2 == 1, row % 2 == 1], progress)?;
    *painted = Some(image);
    progress
        .stage(0.5..1.0, || atomic::stage(path, overwrite, |writer| image::write(writer, path, &mirrored, progress)))
}
