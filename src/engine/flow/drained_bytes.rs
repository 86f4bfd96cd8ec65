//! Drained terrain as bytes, for the cache of results.

use super::grid::{END, NEIGHBOURS};
use super::mesh::Mesh;
use super::options::RoutingOptions;
use super::refinement::{DrainedTerrain, Hillslopes, MeshTerrain};
use super::source::Source;
use crate::cast::ToInteger;
use crate::heightfield::Heightfield;
use crate::result_cache::{bytes_of, take};

/// The bit of a point's byte that says whether it is a channel. The others are the direction to its receiver.
const CHANNEL: u8 = 1 << 4;

impl DrainedTerrain {
    /// The heights, the terrain before erosion and what is left of it, a byte per point, and the outlets.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { terrain: MeshTerrain { heights, source, outlets, .. }, receivers, is_channel } = self;
        let width = self.grid().width();
        let direction = |(point, receiver): (usize, &u32)| {
            let to = |[east, south]: [isize; 2]| point.checked_add_signed(south * width.cast_signed() + east);
            let found = NEIGHBOURS.iter().position(|step| to(*step) == Some(*receiver as usize));
            found.map_or(END, ToInteger::to_u8)
        };
        let directions = receivers.iter().enumerate().map(direction).zip(is_channel);
        let maps = [heights, &source.heights, &source.left];
        let mut bytes = Vec::with_capacity(13 * receivers.len() + 4 * outlets.len());
        maps.into_iter().for_each(|map| bytes.extend(bytes_of(map.heights())));
        bytes.extend(
            directions.map(|(direction, is_channel)| if *is_channel { direction | CHANNEL } else { direction }),
        );
        bytes.extend(outlets.iter().flat_map(|outlet| outlet.to_le_bytes()));
        bytes
    }

    /// The terrain at the points of a mesh from its [bytes](Self::to_bytes); `None` if these are others.
    pub fn from_bytes(mesh: Mesh, routing: RoutingOptions, hillslopes: Hillslopes, mut bytes: &[u8]) -> Option<Self> {
        let (grid, points) = (mesh.grid(), mesh.grid().samples());
        let mut map = || Heightfield::from_heights(grid, take(&mut bytes, points, f32::from_le_bytes)?);
        let (heights, source) = (map()?, Source { heights: map()?, left: map()? });
        let directions = take(&mut bytes, points, u8::from_le_bytes)?;
        let receiver = |(point, byte): (usize, &u8)| {
            let Some([east, south]) = NEIGHBOURS.get(usize::from(byte & !CHANNEL)) else { return Some(point.to_u32()) };
            let (c, r) = (point % grid.width(), point / grid.width());
            let [c, r] = [c.checked_add_signed(*east)?, r.checked_add_signed(*south)?];
            (c < grid.width() && r < grid.height()).then(|| (r * grid.width() + c).to_u32())
        };
        let receivers = directions.iter().enumerate().map(receiver).collect::<Option<_>>()?;
        let is_channel = directions.iter().map(|byte| byte & CHANNEL != 0).collect();
        let count = bytes.len() / 4;
        let outlets = take(&mut bytes, count, u32::from_le_bytes)?;
        if !bytes.is_empty() || outlets.iter().any(|outlet| *outlet as usize >= points) {
            return None;
        }
        let terrain = MeshTerrain { mesh, heights, source, routing, hillslopes, outlets };
        Some(Self { terrain, receivers, is_channel })
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Outlets;
    use super::super::tests::terrains;
    use super::*;
    use crate::progress::Progress;

    #[test]
    fn drained_terrain_is_the_same_after_it_was_bytes() {
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
                let bytes = drained.to_bytes();
                let read = |bytes: &[u8]| DrainedTerrain::from_bytes(mesh.clone(), routing, hillslopes, bytes);
                let again = read(&bytes).expect("terrain");
                assert_eq!((&again.receivers, &again.is_channel), (&drained.receivers, &drained.is_channel));
                assert_eq!(again.terrain.outlets, drained.terrain.outlets);
                assert_eq!(again.to_bytes(), bytes, "{outlets:?}");
                assert!(read(&bytes[1..]).is_none() && read(&[]).is_none());
            }
            assert!(channels > 100, "{channels}");
        }
    }
}
