//! Meshes of the terrain.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::order::MeshOrder;
use crate::engine::{Cancelled, Grid, Heightfield, Image, Progress};
use crate::files::formats::image;
use crate::files::formats::mesh::{
    Mesh, MeshDetail, MeshFormat, Triangulation, WriteInto, WriteSeek, glb, max_vertices, obj, stl, usda,
};
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// Paints some rows of the mesh's texture, given its size.
type Paint<'a> = &'a dyn Fn([usize; 2], Range<usize>) -> Result<Image, Cancelled>;

/// The files of a mesh and their maximum lengths, if known; an error if they cannot be written.
pub(super) fn plan(order: &MeshOrder, grid: Grid) -> Result<Vec<(PathBuf, Option<u64>)>, FileError> {
    let format = MeshFormat::from_path(&order.path)?;
    let (max, vertices) = (max_vertices(format), vertex_limit(order, grid));
    if vertices > max {
        let problem = format!("this format is limited to {max} vertices, but the mesh may have {vertices}; use fewer");
        return Err(FileError::invalid(&order.path, problem));
    }
    if let Some(size) = order.painted_size() {
        image::check_size(Path::new("texture.png"), size)?;
    }
    let mut files = vec![(order.path.clone(), max_mesh_bytes(format, order, grid))];
    if format == MeshFormat::Obj {
        files.push((order.path.with_extension("mtl"), None));
    }
    if matches!(format, MeshFormat::Obj | MeshFormat::Usda) && order.texture.is_some() {
        files.push((texture_path(order), Some(max_texture_bytes(order) + OVERHEAD_BYTES)));
    }
    if format == MeshFormat::Usda {
        asset_path(order)?;
    }
    Ok(files)
}

/// The path of a texture that is not embedded.
fn texture_path(order: &MeshOrder) -> PathBuf {
    order.path.with_extension("png")
}

/// How a USD file refers to its texture, if it has one; an error if it cannot.
fn asset_path(order: &MeshOrder) -> Result<Option<String>, FileError> {
    let Some(path) = order.texture.map(|_| texture_path(order)) else { return Ok(None) };
    let asset_path = path.file_name().and_then(usda::asset_path).ok_or_else(|| {
        let problem = "USD cannot refer to a texture of this name; use one in UTF-8 without control characters and \
                       backslashes";
        FileError::invalid(&order.path, problem)
    });
    asset_path.map(Some)
}

/// The maximum number of vertices that the mesh can have.
fn vertex_limit(order: &MeshOrder, grid: Grid) -> u64 {
    match order.detail {
        MeshDetail::Vertices(max) => max.min(grid.samples()) as u64,
        MeshDetail::ErrorM(_) => grid.samples() as u64,
    }
}

/// The length of headers, and of the overhead of a texture that does not compress.
const OVERHEAD_BYTES: u64 = 8192;

/// The length of the uncompressed texture; 0 without one.
fn max_texture_bytes(order: &MeshOrder) -> u64 {
    order.painted_size().map_or(0, |[width, height]| 3 * (width * height) as u64 + height as u64)
}

/// The maximum length of the file with the geometry: positions, normals and texture coordinates of the vertices, the
/// triangles, and the texture if it is embedded. `None` for OBJ, whose numbers have no maximum length.
fn max_mesh_bytes(format: MeshFormat, order: &MeshOrder, grid: Grid) -> Option<u64> {
    let vertices = vertex_limit(order, grid);
    match format {
        MeshFormat::Glb => Some(vertices * (32 + 24) + max_texture_bytes(order) + OVERHEAD_BYTES),
        MeshFormat::Usda => Some(usda::max_bytes(vertices)),
        // 50 bytes per triangle, with the sides and the base.
        MeshFormat::Stl => Some(84 + 50 * (2 * vertices + 8 * (grid.width() + grid.height()) as u64 + 2)),
        MeshFormat::Obj => None,
    }
}

/// The maximum number of bytes needed to make the mesh: an error and a number per sample; two numbers per vertex and
/// three per triangle, of which there are twice as many as vertices; and in addition the painting.
pub(super) fn bytes(order: &MeshOrder, grid: Grid) -> u64 {
    let geometry = 8 * grid.samples() as u64 + 32 * vertex_limit(order, grid);
    let painting = order.painted_size().map_or(0, |size| image::bytes_painted(Path::new("texture.png"), size));
    geometry.saturating_add(painting)
}

/// Stages the files of a mesh; returns them and a note about its size and error.
pub(super) fn stage(
    order: &MeshOrder,
    heights: &Heightfield,
    paint: Paint,
    overwrite: bool,
    progress: &Progress,
) -> Result<(Vec<StagedFile>, String), FileError> {
    let triangulation = progress.stage(0.0..0.3, || Triangulation::of(heights, order.detail, progress))?;
    let mesh = Mesh { heights, triangulation };
    let staged = progress.stage(0.3..1.0, || stage_files(order, &mesh, paint, overwrite, progress))?;
    let Triangulation { vertices, triangles, error_m } = &mesh.triangulation;
    let note = format!(
        "{}: {} vertices and {} triangles for {} samples; no height deviates by more than {:.3} m",
        order.path.display(),
        vertices.len(),
        triangles.len(),
        heights.grid().samples(),
        // Rounded up, because it is an upper bound.
        (f64::from(*error_m) * 1000.0).ceil() / 1000.0
    );
    Ok((staged, note))
}

fn stage_files(
    order: &MeshOrder,
    mesh: &Mesh,
    paint: Paint,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let texture = order.painted_size();
    let mut staged = Vec::new();
    let mut stage = |path: &Path, write: WriteInto| {
        staged.push(atomic::stage(path, overwrite, |writer| {
            let written = write(writer);
            // A cancelled writer returns an I/O error.
            progress.check()?;
            written.map_err(|error| FileError::writing(path, &error))
        })?);
        Ok::<(), FileError>(())
    };
    let png = |mut writer: &mut dyn WriteSeek, size: [usize; 2]| {
        let rows = |rows: Range<usize>| paint(size, rows);
        let written = image::paint_and_write(&mut writer, Path::new("a.png"), size, None, rows, progress);
        // The error is reported for the mesh, not for an image.
        written.map_err(|error| match error {
            FileError::Disk { reason, .. } => io::Error::other(reason),
            other => io::Error::other(other.to_string()),
        })
    };
    match MeshFormat::from_path(&order.path)? {
        MeshFormat::Glb => stage(&order.path, &|writer| match texture {
            Some(size) => glb::write(writer, mesh, Some(&|writer| png(writer, size)), progress),
            None => glb::write(writer, mesh, None, progress),
        })?,
        MeshFormat::Stl => stage(&order.path, &|writer| stl::write(writer, mesh, progress))?,
        MeshFormat::Obj => {
            let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let (material, image) = (order.path.with_extension("mtl"), texture_path(order));
            stage(&order.path, &|writer| obj::write(writer, mesh, &name(&material), progress))?;
            let texture_name = texture.map(|_| name(&image));
            stage(&material, &|writer| obj::write_material(writer, texture_name.as_deref()))?;
            if let Some(size) = texture {
                stage(&image, &|writer| png(writer, size))?;
            }
        }
        MeshFormat::Usda => {
            let asset_path = asset_path(order)?;
            stage(&order.path, &|writer| usda::write(writer, mesh, asset_path.as_deref(), progress))?;
            if let Some(size) = texture {
                stage(&texture_path(order), &|writer| png(writer, size))?;
            }
        }
    }
    Ok(staged)
}
