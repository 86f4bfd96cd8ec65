//! Which scattered instances are drawn: the visible ones, and a part of the distant ones.

use std::ops::Range;

use glam::Vec3;

use super::frame::{Band, Frame};
use super::lod::Frustum;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::scatter::InstanceTile;

/// From this size on the screen on, all instances of a tile are drawn, pixels; of smaller ones a part.
const FULL_PX: f32 = 3.0;

/// Instances of a shape to draw.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShapeDraw {
    /// The corners of the shape.
    pub(super) corners: Range<u32>,
    /// The instances.
    pub(super) instances: Range<u32>,
}

/// The instances of a frame to draw in a band, no more than `most` of them.
pub(super) fn draws(frame: &Frame, band: Band, most: u32) -> Vec<ShapeDraw> {
    let Some(shapes) = &frame.shapes else { return Vec::new() };
    let [image, band] = [Band::all(frame), band].map(|band| Frustum::new(&frame.projection, band.edges(frame.size[1])));
    let up = frame.projection.up;
    let focal_px = 0.5 * frame.size[1].to_f32() * up.dot(up).sqrt();
    let wanted = |tile: &InstanceTile| {
        let size = tile.size_m / frame.scale.unit_m();
        let [low, high] = tile.bounds_m.map(|[x, y, z]| frame.scale.point([x.into(), z.into()], y));
        let (low, high) = (low - Vec3::splat(size), high + Vec3::splat(size));
        if !image.may_contain(low, high) {
            return (0.0, false);
        }
        let px = size * focal_px / image.distance(low, high).max(1e-6);
        let share = (px / FULL_PX).min(1.0);
        let count = share * share * (tile.instances.end - tile.instances.start).to_f32();
        (count, band.may_contain(low, high))
    };
    let wanted: Vec<(f32, bool, &InstanceTile)> = shapes
        .tiles
        .iter()
        .map(|tile| {
            let (count, is_in_band) = wanted(tile);
            (count, is_in_band, tile)
        })
        .collect();
    // The same for every band, so that no shape is cut off at the border of one.
    let all: f32 = wanted.iter().map(|(count, ..)| count).sum();
    let factor = (most.to_f32() / all.max(1.0)).min(1.0);
    let draw = |(count, is_in_band, tile): (f32, bool, &InstanceTile)| {
        let InstanceTile { corners, instances, .. } = tile;
        let count = (factor * count).round().to_u32();
        (is_in_band && count > 0)
            .then(|| ShapeDraw { corners: corners.clone(), instances: instances.start..instances.start + count })
    };
    wanted.into_iter().filter_map(draw).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::light::Light;
    use crate::engine::scatter::{Instance, ScatterLayer, Scattered, ShapeInstances};
    use crate::engine::{Extent, Grid, Heightfield, Image};
    use crate::scene::RenderParams;

    #[test]
    fn things_are_thinned_evenly_and_not_drawn_out_of_sight() {
        let extent = Extent { width_m: 1000.0, depth_m: 1000.0 };
        let one = |i: u32| Instance {
            at_m: [f64::from(i % 100) * 10.0, 0.0, f64::from(i / 100) * 10.0],
            yaw_deg: 0.0,
            pitch_deg: 0.0,
            roll_deg: 0.0,
            scale: 1.0,
        };
        let scattered = [Scattered { layer: 0, instances: (0..10_000).map(one).collect() }];
        let shapes = ShapeInstances::new(&[ScatterLayer::default()], &scattered, extent);
        let terrain = Heightfield::flat(Grid::new(extent, 9, 9));
        let colours = Image { width: 1, height: 1, pixels: vec![[0; 4]] };
        let params = RenderParams {
            shapes: Some(Arc::new(shapes)),
            ..RenderParams::new(terrain, colours, Light::default(), None)
        };
        let frame = params.frame([1600, 1000], 0.0);
        let count =
            |draws: &[ShapeDraw]| draws.iter().map(|draw| draw.instances.end - draw.instances.start).sum::<u32>();
        let all = draws(&frame, Band::all(&frame), 20_000);
        assert_eq!(count(&all), 10_000);
        let few = draws(&frame, Band::all(&frame), 1000);
        assert_eq!(few.len(), all.len(), "some of every tile");
        assert!(count(&few).abs_diff(1000) < 100, "{}", count(&few));
        // A band at the top of the image has only the sky.
        assert!(count(&draws(&frame, Band { first: 0, rows: 10 }, 20_000)) < 100);
        let small = params.frame([80, 50], 0.0);
        assert!(count(&draws(&small, Band::all(&small), 20_000)) < 3000, "they are smaller than pixels");
    }
}
