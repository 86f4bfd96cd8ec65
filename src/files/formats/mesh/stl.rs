//! Binary STL (3D Systems, "Stereolithography Interface Specification", 1988) for 3-D printers: a closed solid of the
//! terrain, walls and a base. The unit is the millimetre by convention; the longer side is 200 mm, and heights have the
//! same scale.

use std::io;

use super::terrain_mesh::{Mesh, WriteSeek};
use crate::engine::Progress;
use crate::engine::cast::ToFloat;
use crate::files::io::cancellable::cancelled_error;

/// The length of the longer side, and the thickness of the base below the lowest point.
const LONGER_MM: f64 = 200.0;
const BASE_MM: f32 = 3.0;

/// Triangles that are converted to bytes between two checks for cancellation.
const BATCH: usize = 1 << 12;

type Point = [f32; 3];

pub(crate) fn write(writer: &mut dyn WriteSeek, mesh: &Mesh, progress: &Progress) -> io::Result<()> {
    let (triangulation, extent) = (&mesh.triangulation, mesh.heights.grid().extent());
    let mm_per_m = (LONGER_MM / extent.width_m.max(extent.depth_m)).to_f32();
    let lowest_m =
        triangulation.vertices.iter().map(|sample| mesh.position_m(*sample)[1]).fold(f32::INFINITY, f32::min);
    // East, north, and up from the base.
    let point = |number: u32| -> Point {
        let [east, up, south] = mesh.position_m(triangulation.vertices[number as usize]);
        [east * mm_per_m, -south * mm_per_m, (up - lowest_m) * mm_per_m + BASE_MM]
    };
    let foot = |number: u32| -> Point {
        let [east, north, _] = point(number);
        [east, north, 0.0]
    };
    let border = triangulation.border(mesh.heights);
    let count = triangulation.triangles.len() + 3 * border.len();
    let mut header = [b' '; 80];
    let title = b"Upthrust, millimetres";
    header[..title.len()].copy_from_slice(title);
    writer.write_all(&header)?;
    writer.write_all(&u32::try_from(count).map_err(io::Error::other)?.to_le_bytes())?;
    let counter = progress.counter(triangulation.triangles.len().div_ceil(BATCH) + 1);
    for triangles in triangulation.triangles.chunks(BATCH) {
        let bytes: Vec<u8> = triangles.iter().flat_map(|triangle| facet(triangle.map(point))).collect();
        writer.write_all(&bytes)?;
        counter.add_one().map_err(cancelled_error)?;
    }
    for (at, &from) in border.iter().enumerate() {
        let to = border[(at + 1) % border.len()];
        // Two triangles of the wall, and one of the base; those of the base share the point below the centre.
        for triangle in
            [[point(to), point(from), foot(from)], [point(to), foot(from), foot(to)], [[0.0; 3], foot(to), foot(from)]]
        {
            writer.write_all(&facet(triangle))?;
        }
    }
    counter.add_one().map_err(cancelled_error)
}

/// A triangle with its normal.
fn facet([a, b, c]: [Point; 3]) -> [u8; 50] {
    let to = |p: Point| [0, 1, 2].map(|axis| f64::from(p[axis]) - f64::from(a[axis]));
    let ([bx, by, bz], [cx, cy, cz]) = (to(b), to(c));
    let normal = [by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx];
    let length = normal.iter().map(|along| along * along).sum::<f64>().sqrt();
    let normal = normal.map(|along| if length > 0.0 { (along / length).to_f32() } else { 0.0 });
    let mut bytes = [0; 50];
    let numbers = [normal, a, b, c].into_iter().flatten();
    bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers).for_each(|(place, number)| *place = number.to_le_bytes());
    bytes
}
