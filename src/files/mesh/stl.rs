//! STL in its binary form (3D Systems, "Stereolithography Interface Specification", 1988), for printers: the land on a
//! base with walls, closed all around. The unit is the millimetre by custom; the longer side gets 200 of them, and
//! heights the same scale.

use std::io;

use super::{Mesh, WriteSeek};
use crate::engine::Progress;
use crate::files::watched::stopped;

/// The millimetres of the longer side, and of the base below the lowest point.
const LONGER_MM: f64 = 200.0;
const BASE_MM: f32 = 3.0;

/// Triangles that are put into bytes between two looks at the monitor.
const AT_ONCE: usize = 1 << 12;

type Point = [f32; 3];

pub(super) fn write(writer: &mut dyn WriteSeek, mesh: &Mesh, progress: &Progress) -> io::Result<()> {
    let (net, extent) = (&mesh.net, mesh.terrain.grid().extent());
    let mm_per_m = (LONGER_MM / extent.width_m.max(extent.depth_m)) as f32;
    let lowest_m = net.vertices.iter().map(|place| mesh.position_m(*place)[1]).fold(f32::INFINITY, f32::min);
    // East, north, up, from the base.
    let point = |number: u32| -> Point {
        let [east, up, south] = mesh.position_m(net.vertices[number as usize]);
        [east * mm_per_m, -south * mm_per_m, (up - lowest_m) * mm_per_m + BASE_MM]
    };
    let foot = |number: u32| -> Point {
        let [east, north, _] = point(number);
        [east, north, 0.0]
    };
    let border = net.border(mesh.terrain);
    let count = net.triangles.len() + 3 * border.len();
    let mut header = [b' '; 80];
    let title = b"Upthrust, millimetres";
    header[..title.len()].copy_from_slice(title);
    writer.write_all(&header)?;
    writer.write_all(&u32::try_from(count).map_err(io::Error::other)?.to_le_bytes())?;
    let counter = progress.counter(net.triangles.len().div_ceil(AT_ONCE) + 1);
    for triangles in net.triangles.chunks(AT_ONCE) {
        let bytes: Vec<u8> = triangles.iter().flat_map(|triangle| facet(triangle.map(point))).collect();
        writer.write_all(&bytes)?;
        counter.add_one().map_err(stopped)?;
    }
    for (at, &from) in border.iter().enumerate() {
        let to = border[(at + 1) % border.len()];
        // Two triangles of the wall, and one of the ground, all of which meet below the middle of the land.
        for triangle in
            [[point(to), point(from), foot(from)], [point(to), foot(from), foot(to)], [[0.0; 3], foot(to), foot(from)]]
        {
            writer.write_all(&facet(triangle))?;
        }
    }
    counter.add_one().map_err(stopped)
}

/// A triangle with the direction in which it faces.
fn facet([a, b, c]: [Point; 3]) -> [u8; 50] {
    let to = |p: Point| [0, 1, 2].map(|axis| f64::from(p[axis]) - f64::from(a[axis]));
    let ([bx, by, bz], [cx, cy, cz]) = (to(b), to(c));
    let normal = [by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx];
    let length = normal.iter().map(|along| along * along).sum::<f64>().sqrt();
    let normal = normal.map(|along| if length > 0.0 { (along / length) as f32 } else { 0.0 });
    let mut bytes = [0; 50];
    let numbers = [normal, a, b, c].into_iter().flatten();
    bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers).for_each(|(place, number)| *place = number.to_le_bytes());
    bytes
}
