//! Drained terrain as bytes, for the cache of results.

use std::ops::Range;

use super::grid::{END, NEIGHBOURS};
use super::mesh::Mesh;
use super::options::RoutingOptions;
use super::refinement::{DrainedTerrain, Hillslopes, MeshTerrain};
use super::source::Source;
use crate::cast::ToInteger;
use crate::heightfield::{Grid, Heightfield};
use crate::result_cache::{bytes_of, take};

/// The rows of a band.
const BAND: usize = 128;
/// The bit of a point's byte that says whether it is a channel. The others are the direction to its receiver.
const CHANNEL: u8 = 1 << 4;

impl DrainedTerrain {
    /// The rows of those bands of a grid that have some of its rows.
    pub fn bands(grid: Grid, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = rows.start / BAND * BAND;
        (first..rows.end).step_by(BAND).map(move |first| first..(first + BAND).min(grid.height()))
    }

    /// A band of terrain on a whole mesh: the heights, the terrain before erosion and what is left of it, a byte per point,
    /// and the outlets.
    pub fn band(&self, rows: &Range<usize>) -> Vec<u8> {
        let Self { terrain: MeshTerrain { heights, source, outlets, .. }, receivers, is_channel } = self;
        let width = self.grid().width();
        let points = rows.start * width..rows.end * width;
        let direction = |point: usize| {
            let to = |[east, south]: [isize; 2]| point.checked_add_signed(south * width.cast_signed() + east);
            let found = NEIGHBOURS.iter().position(|step| to(*step) == Some(receivers[point] as usize));
            found.map_or(END, ToInteger::to_u8)
        };
        let directions = points.clone().map(|point| direction(point) | if is_channel[point] { CHANNEL } else { 0 });
        let outlets = outlets.iter().filter(|outlet| points.contains(&(**outlet as usize)));
        let mut bytes = Vec::with_capacity(13 * points.len());
        for map in [heights, &source.heights, &source.left] {
            bytes.extend(bytes_of(&map.heights()[points.clone()]));
        }
        bytes.extend(directions);
        bytes.extend(outlets.flat_map(|outlet| outlet.to_le_bytes()));
        bytes
    }

    /// The terrain at the points of a mesh, which can be a part of a whole one, from the [bands](Self::band) of their rows.
    /// What flows to points outside ends at the border of the part. `None` if bands are missing or have other lengths.
    pub fn from_bands(
        mesh: Mesh,
        routing: RoutingOptions,
        hillslopes: Hillslopes,
        bands: &[(Range<usize>, Vec<u8>)],
    ) -> Option<Self> {
        let (grid, part) = (mesh.grid(), mesh.grid().as_part());
        let width = grid.full().width();
        let inside = |at: [usize; 2]| part.inside(at).map(|[c, r]| (r * grid.width() + c).to_u32());
        let mut maps = [(); 3].map(|()| Vec::with_capacity(grid.samples()));
        let (mut receivers, mut is_channel, mut outlets) = (Vec::new(), Vec::new(), Vec::new());
        for (rows, bytes) in bands {
            let (mut bytes, points) = (bytes.as_slice(), rows.len() * width);
            let mut of_band = [(); 3].map(|()| Vec::new());
            for map in &mut of_band {
                *map = take(&mut bytes, points, f32::from_le_bytes)?;
            }
            let directions = take(&mut bytes, points, u8::from_le_bytes)?;
            let count = bytes.len() / 4;
            let ends = take(&mut bytes, count, u32::from_le_bytes)?;
            if !bytes.is_empty() {
                return None;
            }
            outlets.extend(ends.iter().filter_map(|end| inside([*end as usize % width, *end as usize / width])));
            for row in rows.start.max(part.first[1])..rows.end.min(part.first[1] + part.size[1]) {
                let first = (row - rows.start) * width + part.first[0];
                let of_row = first..first + part.size[0];
                for (map, of_band) in maps.iter_mut().zip(&of_band) {
                    map.extend_from_slice(&of_band[of_row.clone()]);
                }
                for (column, byte) in (part.first[0]..).zip(&directions[of_row]) {
                    let step = NEIGHBOURS.get(usize::from(byte & !CHANNEL));
                    let to = step.and_then(|[east, south]| {
                        inside([column.checked_add_signed(*east)?, row.checked_add_signed(*south)?])
                    });
                    receivers.push(to.unwrap_or(receivers.len().to_u32()));
                    is_channel.push(byte & CHANNEL != 0);
                }
            }
        }
        let [heights, source, left] = maps.map(|map| Heightfield::from_heights(grid, map));
        let source = Source { heights: source?, left: left? };
        let terrain = MeshTerrain { mesh, heights: heights?, source, routing, hillslopes, outlets };
        Some(Self { terrain, receivers, is_channel })
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Outlets;
    use super::super::tests::terrains;
    use super::*;
    use crate::heightfield::GridPart;
    use crate::progress::Progress;

    #[test]
    fn parts_of_drained_terrain_are_the_same_after_they_were_bytes() {
        let progress = Progress::new();
        let hillslopes = Hillslopes { critical_slope: 1.0, channel_head_m2: 0.0 };
        for (outlets, sea_m) in [(Outlets::Hollows, None), (Outlets::Border, None), (Outlets::Hollows, Some(2.5))] {
            let routing = RoutingOptions { outlets, sea_m };
            let mut channels = 0;
            for heights in terrains() {
                let mesh = Mesh::new(heights.grid(), 0, 1.0, &progress).expect("not cancelled");
                let source =
                    Source { heights: heights.clone(), left: Heightfield::from_fn(mesh.grid(), |c, _| 0.1 * c as f32) };
                let drained = DrainedTerrain::new(mesh.clone(), &heights, source, routing, hillslopes, &progress);
                let drained = drained.expect("not cancelled");
                channels += drained.is_channel.iter().filter(|is_channel| **is_channel).count();
                let (width, height) = (mesh.grid().width(), mesh.grid().height());
                // Two bands; the last part lies in the second one.
                let bands = [0..height / 3, height / 3..height].map(|rows| (rows.clone(), drained.band(&rows)));
                for part in [
                    mesh.grid().as_part(),
                    GridPart { first: [1, 1], size: [width - 2, height - 2] },
                    GridPart { first: [width / 2, height / 2], size: [2, 3] },
                ] {
                    let read = |bands: &[(Range<usize>, Vec<u8>)]| {
                        DrainedTerrain::from_bands(mesh.part(part), routing, hillslopes, bands)
                    };
                    let (again, expected) = (read(&bands).expect("terrain"), drained.part(part));
                    assert_eq!((&again.receivers, &again.is_channel), (&expected.receivers, &expected.is_channel));
                    let (again, expected) = (again.terrain, expected.terrain);
                    assert_eq!((again.outlets, again.heights), (expected.outlets, expected.heights), "{outlets:?}");
                    assert_eq!(again.source.heights, expected.source.heights);
                    assert_eq!(again.source.left, expected.source.left);
                    let [first, (rows, bytes)] = bands.clone();
                    assert!(read(&[first, (rows, bytes[1..].to_vec())]).is_none(), "damaged");
                    assert!(read(&[]).is_none(), "missing");
                }
            }
            assert!(channels > 100, "{channels}");
        }
    }

    #[test]
    fn bands_have_all_rows() {
        let grid = |height| Grid::new(crate::heightfield::Extent { width_m: 10.0, depth_m: 10.0 }, 5, height);
        for (height, rows, expected) in [
            (128, 0..128, vec![0, 128]),
            (257, 0..257, vec![0, 128, 256, 257]),
            (257, 127..129, vec![0, 128, 256]),
            (257, 128..256, vec![128, 256]),
            (200, 150..200, vec![128, 200]),
        ] {
            let found: Vec<Range<usize>> = DrainedTerrain::bands(grid(height), rows).collect();
            assert_eq!(found, expected.windows(2).map(|pair| pair[0]..pair[1]).collect::<Vec<_>>());
        }
    }
}
