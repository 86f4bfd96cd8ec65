//! Wavefront OBJ (Alias|Wavefront, "Advanced Visualizer Manual", appendix B1): text, with the material in a second
//! file.

use std::fmt::Write as _;
use std::io;

use super::terrain_mesh::{Mesh, WriteSeek};
use crate::engine::Progress;
use crate::engine::cast::ToFloat;
use crate::files::io::cancellable::cancelled_error;

/// Vertices or triangles that are formatted between two checks for cancellation.
const BATCH: usize = 1 << 12;

pub(crate) fn write(writer: &mut dyn WriteSeek, mesh: &Mesh, material: &str, progress: &Progress) -> io::Result<()> {
    let triangulation = &mesh.triangulation;
    writeln!(writer, "# Metres; y is up, north is -z.\nmtllib {material}\no Terrain")?;
    let counter =
        progress.counter(triangulation.vertices.len().div_ceil(BATCH) + triangulation.triangles.len().div_ceil(BATCH));
    for samples in triangulation.vertices.chunks(BATCH) {
        let mut text = String::new();
        for sample in samples {
            let ([x, y, z], [nx, ny, nz]) = (mesh.position_m(*sample), mesh.normal(*sample));
            let [east, south] = mesh.fractions(*sample).map(|fraction| fraction.to_f32());
            // The first row of the texture is at the top; v runs upward.
            let _ = writeln!(text, "v {x} {y} {z}\nvt {east} {}\nvn {nx} {ny} {nz}", 1.0 - south);
        }
        writer.write_all(text.as_bytes())?;
        counter.add_one().map_err(cancelled_error)?;
    }
    writeln!(writer, "usemtl Terrain")?;
    for triangles in triangulation.triangles.chunks(BATCH) {
        let mut text = String::new();
        for [a, b, c] in triangles.iter().map(|triangle| triangle.map(|number| number + 1)) {
            let _ = writeln!(text, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}");
        }
        writer.write_all(text.as_bytes())?;
        counter.add_one().map_err(cancelled_error)?;
    }
    Ok(())
}

/// Writes a matte material, with the texture if there is one.
pub(crate) fn write_material(writer: &mut dyn WriteSeek, texture: Option<&str>) -> io::Result<()> {
    writeln!(writer, "newmtl Terrain\nKa 0 0 0\nKd 1 1 1\nKs 0 0 0\nillum 1")?;
    texture.map_or(Ok(()), |texture| writeln!(writer, "map_Kd {texture}"))
}
