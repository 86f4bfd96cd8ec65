//! Instances with their shapes, in tiles of the map that can be drawn one by one.

use std::ops::Range;

use rayon::prelude::*;

use super::layer::ScatterLayer;
use super::packing::mixed;
use super::placement::{Instance, Scattered};
use super::shapes::{normal, triangles};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Extent;
use crate::image::linear_from_srgb;

/// Tiles along the longer side of the map.
const TILES: usize = 16;

/// The most instances that are drawn in 3-D: uploading more of them would take longer than a frame.
const MOST_INSTANCES: usize = 500_000;

/// An instance on a map: metres east and south, and the radius, metres.
pub type MapDisc = [f32; 3];

/// The instances of a layer in a part of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapTile {
    /// The index of the layer in the recipe.
    pub layer: usize,
    /// The westernmost and northernmost, and the easternmost and southernmost place, metres.
    pub bounds_m: [[f32; 2]; 2],
    /// The instances.
    pub discs: Vec<MapDisc>,
}

/// The shapes of the layers, and their instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShapeInstances {
    /// The corners of the triangles of all shapes: metres east, up and south of the place, then the normal.
    pub corners: Vec<[f32; 6]>,
    /// The instances: metres east, up and south, the scale; the rotation as a quaternion x, y, z, w; the linear colour,
    /// and 1.
    pub instances: Vec<[f32; 12]>,
    /// The instances of a layer in a part of the map; if there are too many, a part of them.
    pub tiles: Vec<InstanceTile>,
    /// All instances, for maps.
    pub map_tiles: Vec<MapTile>,
}

/// The instances of a layer in a part of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceTile {
    /// The corners of the layer's shape.
    pub corners: Range<u32>,
    /// The instances. Any number of the first ones is spread over the whole tile.
    pub instances: Range<u32>,
    /// The lowest and the highest of the places, metres east, up and south.
    pub bounds_m: [[f32; 3]; 2],
    /// The largest extent of one of them, metres.
    pub size_m: f32,
}

impl ShapeInstances {
    /// The number of instances.
    pub fn count(&self) -> usize {
        self.map_tiles.iter().map(|tile| tile.discs.len()).sum()
    }

    /// The instances of all layers.
    pub fn new(layers: &[ScatterLayer], scattered: &[Scattered], extent: Extent) -> Self {
        let mut all = Self::default();
        let count: usize = scattered.iter().map(|one| one.instances.len()).sum();
        let share = (MOST_INSTANCES.to_f64() / count.max(1).to_f64()).min(1.0);
        for one in scattered {
            let layer = &layers[one.layer];
            let first = all.corners.len().to_u32();
            for triangle in triangles(layer) {
                let [nx, ny, nz] = normal(triangle);
                all.corners.extend(triangle.map(|[x, y, z]| [x, y, z, nx, ny, nz]));
            }
            all.add((one.layer, layer), &one.instances, first..all.corners.len().to_u32(), extent, share);
        }
        all
    }

    /// Adds the instances of a layer, or a share of them.
    fn add(
        &mut self,
        (index, layer): (usize, &ScatterLayer),
        instances: &[Instance],
        corners: Range<u32>,
        extent: Extent,
        share: f64,
    ) {
        let side_m = extent.width_m.max(extent.depth_m) / TILES.to_f64();
        let tile = |at_m: [f64; 3]| {
            let [column, row] = [at_m[0], at_m[2]].map(|m| (m / side_m).to_usize().min(TILES - 1));
            row * TILES + column
        };
        // Within a tile in random order, so that the first ones are spread over it.
        let random = |at_m: [f64; 3]| mixed(at_m[0].to_bits() ^ at_m[2].to_bits().rotate_left(17));
        let mut order: Vec<(usize, u64, usize)> = (0..instances.len())
            .into_par_iter()
            .map(|i| (tile(instances[i].at_m), random(instances[i].at_m), i))
            .collect();
        order.par_sort_unstable();
        let [red, green, blue] = layer.colour.0.map(linear_from_srgb);
        let data = |(_, _, i): &(usize, u64, usize)| {
            let one = &instances[*i];
            let ([x, y, z], [qx, qy, qz, qw]) = (one.at_m.map(ToFloat::to_f32), one.rotation().map(ToFloat::to_f32));
            [x, y, z, one.scale.to_f32(), qx, qy, qz, qw, red, green, blue, 1.0]
        };
        let size_m = (layer.height_m.max(2.0 * layer.radius_m) * layer.scale.max).to_f32();
        for group in order.chunk_by(|a, b| a.0 == b.0) {
            let disc = |(_, _, i): &(usize, u64, usize)| {
                let Instance { at_m: [x, _, z], scale, .. } = instances[*i];
                [x.to_f32(), z.to_f32(), (layer.radius_m * scale).to_f32()]
            };
            let discs: Vec<MapDisc> = group.par_iter().map(disc).collect();
            let drawn = (share * group.len().to_f64()).ceil().to_usize();
            let first = self.instances.len();
            self.instances.par_extend(group[..drawn].par_iter().map(data));
            let heights = self.instances[first..].iter().map(|instance| instance[1]);
            let [low_m, high_m] = limits(heights);
            let [west_m, east_m] = limits(discs.iter().map(|disc| disc[0]));
            let [north_m, south_m] = limits(discs.iter().map(|disc| disc[1]));
            self.tiles.push(InstanceTile {
                corners: corners.clone(),
                instances: first.to_u32()..self.instances.len().to_u32(),
                bounds_m: [[west_m, low_m, north_m], [east_m, high_m, south_m]],
                size_m,
            });
            self.map_tiles.push(MapTile { layer: index, bounds_m: [[west_m, north_m], [east_m, south_m]], discs });
        }
    }
}

/// The least and the greatest of some numbers.
fn limits(numbers: impl Iterator<Item = f32>) -> [f32; 2] {
    numbers.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], number| [low.min(number), high.max(number)])
}

/// Instances as dots on a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Dots {
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
    /// Red, green, blue and alpha, row by row.
    pub pixels: Vec<[u8; 4]>,
}

impl Dots {
    /// The same with half as many pixels along both sides: the mean colour of the dots, and an alpha between their mean and the
    /// highest, so that single dots do not vanish.
    #[must_use]
    pub fn halved(&self) -> Self {
        let size = self.size.map(|side| side.div_ceil(2));
        let pixel = |i: usize, j: usize| {
            let inside = |x: &usize, y: &usize| *x < self.size[0] && *y < self.size[1];
            let four = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[x, y]| [2 * i + x, 2 * j + y]);
            let four = four.into_iter().filter(|[x, y]| inside(x, y));
            let (mut sums, mut highest) = ([0_u32; 4], 0);
            for [red, green, blue, alpha] in four.map(|[x, y]| self.pixels[y * self.size[0] + x].map(u32::from)) {
                for (sum, part) in sums.iter_mut().zip([red * alpha, green * alpha, blue * alpha, alpha]) {
                    *sum += part;
                }
                highest = highest.max(alpha);
            }
            let [red, green, blue, alpha] = sums;
            [red, green, blue]
                .map(|sum| (sum / alpha.max(1)).to_u8())
                .into_iter()
                .chain([((alpha / 4 + highest) / 2).to_u8()])
        };
        let places = (0..size[1]).flat_map(|j| (0..size[0]).map(move |i| (i, j)));
        let pixels = places.map(|(i, j)| {
            let mut parts = pixel(i, j);
            std::array::from_fn(|_| parts.next().unwrap_or_default())
        });
        Self { size, pixels: pixels.collect() }
    }
}

/// Draws instances as dots on a map of so many pixels from west to east and from north to south.
pub fn dots(layers: &[ScatterLayer], scattered: &[Scattered], extent: Extent, [width, height]: [usize; 2]) -> Dots {
    let mut pixels = vec![[0; 4]; width * height];
    for one in scattered {
        let [red, green, blue] = layers[one.layer].colour.0;
        for Instance { at_m: [x, _, z], .. } in &one.instances {
            let along =
                |at_m: f64, side_m: f64, count: usize| (at_m / side_m * count.to_f64()).to_usize().min(count - 1);
            let (i, j) = (along(*x, extent.width_m, width), along(*z, extent.depth_m, height));
            pixels[j * width + i] = [red, green, blue, 220];
        }
    }
    Dots { size: [width, height], pixels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_all_instances_once_and_know_where_they_are() {
        let layers = [ScatterLayer::default(), ScatterLayer { height_m: 30.0, ..ScatterLayer::default() }];
        let at = |i: u32| [f64::from(i * 37 % 1000), f64::from(i), f64::from(i * 91 % 500)];
        let one = |i: u32| Instance { at_m: at(i), yaw_deg: 0.0, pitch_deg: 0.0, roll_deg: 0.0, scale: 1.0 };
        let scattered = [
            Scattered { layer: 0, instances: (0..900).map(one).collect() },
            Scattered { layer: 1, instances: (900..1000).map(one).collect() },
        ];
        let extent = Extent { width_m: 1000.0, depth_m: 500.0 };
        let found = ShapeInstances::new(&layers, &scattered, extent);
        let mut heights: Vec<f32> = found.instances.iter().map(|instance| instance[1]).collect();
        heights.sort_by(f32::total_cmp);
        assert!(heights.iter().enumerate().all(|(i, height)| *height == i as f32));
        let ends: Vec<u32> = found.tiles.iter().map(|tile| tile.instances.end).collect();
        let starts = found.tiles.iter().map(|tile| tile.instances.start).skip(1).chain([1000]);
        assert!(starts.eq(ends), "the tiles follow each other");
        for InstanceTile { instances, bounds_m, corners, size_m } in &found.tiles {
            let is_second = instances.start >= 900;
            assert_eq!((corners.start, *size_m), if is_second { (48, 36.0) } else { (0, 9.6) });
            let inside =
                |instance: &[f32; 12]| (0..3).all(|i| (bounds_m[0][i]..=bounds_m[1][i]).contains(&instance[i]));
            assert!(found.instances[instances.start as usize..instances.end as usize].iter().all(inside));
            assert!(bounds_m[1][0] - bounds_m[0][0] <= 62.5 && bounds_m[1][2] - bounds_m[0][2] <= 62.5);
        }
        let on_maps: usize = found.map_tiles.iter().map(|tile| tile.discs.len()).sum();
        assert_eq!((on_maps, found.map_tiles.len()), (1000, found.tiles.len()));
        let drawn = dots(&layers, &scattered, extent, [10, 5]);
        assert!(drawn.pixels.iter().filter(|pixel| pixel[3] > 0).count() > 40 && drawn.pixels.len() == 50);
    }

    #[test]
    fn halved_dots_keep_their_colour_and_thin_out() {
        let mut pixels = vec![[0; 4]; 15];
        (pixels[0], pixels[6], pixels[4]) = ([200, 100, 40, 220], [100, 100, 40, 220], [9, 8, 7, 200]);
        let halved = Dots { size: [5, 3], pixels }.halved();
        assert_eq!((halved.size, halved.pixels[0], halved.pixels[2]), ([3, 2], [150, 100, 40, 165], [9, 8, 7, 125]));
        assert_eq!(halved.pixels[5], [0; 4]);
    }
}
