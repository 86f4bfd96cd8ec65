//! Wavefront OBJ (Alias|Wavefront, "Advanced Visualizer Manual", appendix B1): text, and a material beside it.

use std::fmt::Write as _;
use std::io;

use super::{Mesh, WriteSeek};
use crate::engine::Progress;
use crate::files::watched::stopped;

/// Lines that are put into text between two looks at the monitor.
const AT_ONCE: usize = 1 << 12;

pub(super) fn write(writer: &mut dyn WriteSeek, mesh: &Mesh, material: &str, progress: &Progress) -> io::Result<()> {
    let net = &mesh.net;
    writeln!(writer, "# Metres; y is up, north lies towards -z.\nmtllib {material}\no Land")?;
    let counter = progress.counter(net.vertices.len().div_ceil(AT_ONCE) + net.triangles.len().div_ceil(AT_ONCE));
    for places in net.vertices.chunks(AT_ONCE) {
        let mut text = String::new();
        for place in places {
            let ([x, y, z], [nx, ny, nz]) = (mesh.position_m(*place), mesh.normal(*place));
            let [east, south] = mesh.shares(*place).map(|share| share as f32);
            // The first row of the texture is at the top, v counts from the bottom.
            let _ = writeln!(text, "v {x} {y} {z}\nvt {east} {}\nvn {nx} {ny} {nz}", 1.0 - south);
        }
        writer.write_all(text.as_bytes())?;
        counter.add_one().map_err(stopped)?;
    }
    writeln!(writer, "usemtl Ground")?;
    for triangles in net.triangles.chunks(AT_ONCE) {
        let mut text = String::new();
        for [a, b, c] in triangles.iter().map(|triangle| triangle.map(|number| number + 1)) {
            let _ = writeln!(text, "f {a}/{a}/{a} {b}/{b}/{b} {c}/{c}/{c}");
        }
        writer.write_all(text.as_bytes())?;
        counter.add_one().map_err(stopped)?;
    }
    Ok(())
}

/// Rough ground, in the colours of the texture if there is one.
pub(super) fn write_material(writer: &mut dyn WriteSeek, texture: Option<&str>) -> io::Result<()> {
    writeln!(writer, "newmtl Ground\nKa 0 0 0\nKd 1 1 1\nKs 0 0 0\nillum 1")?;
    texture.map_or(Ok(()), |texture| writeln!(writer, "map_Kd {texture}"))
}
