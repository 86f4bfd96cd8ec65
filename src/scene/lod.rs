//! Which parts of the land are drawn how finely.
//!
//! The land is a quadtree of chunks, each a net of [`QUADS`]² quads; a chunk of level l takes every 2^l-th sample. Near
//! the end of its range a chunk's odd vertices glide to their even neighbours, so that it meets the next coarser one
//! without a crack and nothing pops (F. Strugar, "Continuous Distance-Dependent Level of Detail for Rendering
//! Heightmaps", Journal of Graphics, GPU, and Game Tools 14 (4), 2009).

use super::camera::{Vec3, ViewProjection, dot, plus};

/// Quads along a side of a chunk.
pub(crate) const QUADS: u16 = 32;

/// Vertices along a side: one ring more on each side, which is the side of the block at the land's border and nothing
/// elsewhere.
const ROW: u16 = QUADS + 3;

/// The triangles of a chunk.
pub(crate) fn indices() -> Vec<u16> {
    let mut indices = Vec::new();
    for j in 0..ROW - 1 {
        for i in 0..ROW - 1 {
            let at = j * ROW + i;
            indices.extend([at, at + ROW, at + 1, at + 1, at + ROW, at + ROW + 1]);
        }
    }
    indices
}

/// First column, first row, samples from vertex to vertex, and the distance at which it ends.
pub(crate) type Chunk = [f32; 4];

/// What is to be divided.
pub(crate) struct Ground {
    /// Samples from west to east and from north to south.
    pub(crate) samples: [usize; 2],
    /// Half the sides in scene units.
    pub(crate) half: [f32; 2],
    /// The lowest and the highest point in scene units.
    pub(crate) heights: [f32; 2],
}

impl Ground {
    /// Scene units from sample to sample.
    fn spacing(&self) -> [f32; 2] {
        [0, 1].map(|axis| 2.0 * self.half[axis] / (self.samples[axis] - 1) as f32)
    }

    /// The chunks that are seen between two heights of the screen, which go from −1 to 1. A quad has about `pixels`
    /// pixels on a screen whose half is `focal_pixels` focal lengths high.
    pub(crate) fn chunks(
        &self,
        projection: &ViewProjection,
        band: [f32; 2],
        focal_pixels: f32,
        pixels: f32,
    ) -> Vec<Chunk> {
        let spacing = self.spacing()[0].max(self.spacing()[1]);
        // At 4 chunks and more, what is morphed wholly at the end of a level is not morphed yet in the next one.
        let reach = (focal_pixels / pixels).max(4.0 * f32::from(QUADS)) * spacing;
        let longer = self.samples[0].max(self.samples[1]) - 1;
        let top = longer.div_ceil(usize::from(QUADS)).next_power_of_two().trailing_zeros();
        let mut found = Vec::new();
        self.divide(&Seen::new(projection, band), reach, [0, 0], top, &mut found);
        found
    }

    fn divide(&self, seen: &Seen, reach: f32, [c, r]: [usize; 2], level: u32, found: &mut Vec<Chunk>) {
        let last = self.samples.map(|samples| samples - 1);
        if c >= last[0] || r >= last[1] {
            return;
        }
        let step = 1 << level;
        let side = step * usize::from(QUADS);
        let spacing = self.spacing();
        let at = |axis: usize, sample: usize| sample.min(last[axis]) as f32 * spacing[axis] - self.half[axis];
        let (low, high) = ([at(0, c), self.heights[0], at(1, r)], [at(0, c + side), self.heights[1], at(1, r + side)]);
        if !seen.has_any_of(low, high) {
            return;
        }
        let (eye, share) = seen.stand;
        let away = (0..3).map(|axis| (low[axis] - eye[axis]).max(eye[axis] - high[axis]).max(0.0));
        let distance = share * away.map(|part| part * part).sum::<f32>().sqrt();
        if level > 0 && distance < reach * (step / 2) as f32 {
            let half = side / 2;
            for [east, south] in [[0, 0], [half, 0], [0, half], [half, half]] {
                self.divide(seen, reach, [c + east, r + south], level - 1, found);
            }
        } else {
            found.push([c as f32, r as f32, step as f32, reach * step as f32]);
        }
    }
}

/// What is on the screen.
struct Seen {
    /// Normals of planes, and how far before the eye they lie.
    planes: [(Vec3, f32); 5],
    eye: Vec3,
    stand: (Vec3, f32),
}

impl Seen {
    fn new(projection: &ViewProjection, [low, high]: [f32; 2]) -> Self {
        // Of a point d from the eye, on the screen where −w < d·right < w and low · w < d·up < high · w, with
        // w = share · d·forward + rest.
        let [share, rest] = projection.lens;
        let plane = |times: f32, side: Vec3, sign: f32| {
            (plus(projection.forward.map(|part| part * share * times), side, sign), rest * times)
        };
        let planes = [
            plane(1.0, [0.0; 3], 0.0),
            plane(1.0, projection.right, 1.0),
            plane(1.0, projection.right, -1.0),
            plane(-low, projection.up, 1.0),
            plane(high, projection.up, -1.0),
        ];
        Self { planes, eye: projection.eye, stand: projection.stand() }
    }

    /// Whether any of a box may be on it.
    fn has_any_of(&self, low: Vec3, high: Vec3) -> bool {
        self.planes.iter().all(|(normal, before)| {
            // The corner farthest along the plane's normal.
            let corner = std::array::from_fn(|axis| if normal[axis] > 0.0 { high[axis] } else { low[axis] });
            dot(plus(corner, self.eye, -1.0), *normal) + before > 0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::camera::Camera;
    use super::*;

    fn ground(samples: [usize; 2]) -> Ground {
        Ground { samples, half: [0.5, 0.5], heights: [0.0, 0.1] }
    }

    #[test]
    fn chunks_cover_every_quad_once() {
        for (samples, distance) in [([65, 65], 3.0), ([1025, 513], 1.5), ([4097, 4097], 0.3), ([300, 700], 2.0)] {
            let projection = Camera { pitch: 1.5, distance, ..Default::default() }.projection(1.0, |_| f32::MIN);
            // Wide enough that all is seen.
            let wide = ViewProjection {
                right: projection.right.map(|x| x * 1e-3),
                up: projection.up.map(|y| y * 1e-3),
                ..projection
            };
            let chunks = ground(samples).chunks(&wide, [-1.0, 1.0], 1000.0, 3.0);
            let covered: usize = chunks
                .iter()
                .map(|&[c, r, step, _]| {
                    let side = step as usize * usize::from(QUADS);
                    let within = |first: f32, samples: usize| side.min(samples - 1 - first as usize);
                    within(c, samples[0]) * within(r, samples[1])
                })
                .sum();
            assert_eq!(covered, (samples[0] - 1) * (samples[1] - 1), "{samples:?}");
        }
    }

    #[test]
    fn large_maps_cost_no_more_than_the_screen_needs() {
        let count = |samples, distance, pixels| {
            let projection = Camera { distance, ..Default::default() }.projection(1.5, |_| f32::MIN);
            ground([samples; 2]).chunks(&projection, [-1.0, 1.0], 1500.0, pixels).len() * usize::from(QUADS).pow(2)
        };
        let (far, near, software) = (count(4097, 2.0, 2.5), count(4097, 0.05, 2.5), count(4097, 2.0, 8.0));
        assert!(far < 700_000 && near < 700_000 && software < 90_000, "{far}, {near} and {software} quads");
        assert!(count(513, 2.0, 2.5) <= 512 * 512);
    }

    #[test]
    fn a_parallel_projection_is_as_fine_everywhere_and_bands_take_their_part_of_it() {
        let camera = Camera { pitch: 1.2, distance: 2.0, flat: 1.0, ..Default::default() };
        let projection = camera.projection(1.5, |_| f32::MIN);
        let chunks = |band| ground([2049; 2]).chunks(&projection, band, 4000.0, 3.0);
        let all = chunks([-1.0, 1.0]);
        assert!(all.len() > 20 && all.iter().all(|chunk| chunk[2] == all[0][2]), "{all:?}");
        let bands = [[-1.0, -0.5], [-0.5, 0.0], [0.0, 0.5], [0.5, 1.0]].map(chunks);
        assert!(bands.iter().all(|band| band.len() < all.len() && band.iter().all(|chunk| all.contains(chunk))));
        assert!(all.iter().all(|chunk| bands.iter().any(|band| band.contains(chunk))));
    }
}
