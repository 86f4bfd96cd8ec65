//! The level of detail of the terrain's mesh.
//!
//! The terrain is a quadtree of chunks, each a mesh of [`QUADS`]² quads; a chunk of level l uses every 2^l-th sample.
//! Towards the end of its range a chunk's odd vertices move to their even neighbours, so that it meets the next coarser
//! one without cracks or popping (F. Strugar, "Continuous Distance-Dependent Level of Detail for Rendering Heightmaps",
//! Journal of Graphics, GPU, and Game Tools 14 (4), 2009).

use glam::Vec3;

use super::projection::ViewProjection;

use crate::engine::cast::ToFloat;

/// Quads along a side of a chunk.
pub(crate) const QUADS: u16 = 32;

/// Vertices along a side, with one more ring around the quads: at the border of the terrain it forms the side of the
/// block, elsewhere it is degenerate.
const ROW: u16 = QUADS + 3;

/// The triangles of a chunk, as indices of its vertices.
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

/// A part of the terrain: its first column, first row, sample stride between vertices, and the distance at which its
/// level ends.
pub(crate) type Chunk = [f32; 4];

/// A terrain to be divided into chunks.
pub(crate) struct TerrainLod {
    /// Samples from west to east and from north to south.
    pub(crate) samples: [usize; 2],
    /// Half the width and half the depth, scene units.
    pub(crate) half_size: [f32; 2],
    /// The lowest and the highest point, scene units.
    pub(crate) y_range: [f32; 2],
}

impl TerrainLod {
    /// Scene units between samples.
    fn spacing(&self) -> [f32; 2] {
        [0, 1].map(|axis| 2.0 * self.half_size[axis] / (self.samples[axis] - 1).to_f32())
    }

    /// The chunks that are visible in a band of the screen, given by its lower and upper edge from −1 to 1. A quad has
    /// about `quad_px` pixels on a screen whose half is `focal_px` pixels high at a distance of 1.
    pub(crate) fn chunks(
        &self,
        projection: &ViewProjection,
        band: [f32; 2],
        focal_px: f32,
        quad_px: f32,
    ) -> Vec<Chunk> {
        let spacing = self.spacing()[0].max(self.spacing()[1]);
        // From 4 chunks on, the next level is not yet morphed where this one is fully morphed.
        let reach = (focal_px / quad_px).max(4.0 * f32::from(QUADS)) * spacing;
        let longer = self.samples[0].max(self.samples[1]) - 1;
        let root_level = longer.div_ceil(usize::from(QUADS)).next_power_of_two().trailing_zeros();
        let mut chunks = Vec::new();
        self.divide(&Frustum::new(projection, band), reach, [0, 0], root_level, &mut chunks);
        chunks
    }

    fn divide(&self, frustum: &Frustum, reach: f32, [c, r]: [usize; 2], level: u32, chunks: &mut Vec<Chunk>) {
        let last = self.samples.map(|samples| samples - 1);
        if c >= last[0] || r >= last[1] {
            return;
        }
        let step = 1 << level;
        let side = step * usize::from(QUADS);
        let spacing = self.spacing();
        let at = |axis: usize, sample: usize| sample.min(last[axis]).to_f32() * spacing[axis] - self.half_size[axis];
        let low = Vec3::new(at(0, c), self.y_range[0], at(1, r));
        let high = Vec3::new(at(0, c + side), self.y_range[1], at(1, r + side));
        if !frustum.may_contain(low, high) {
            return;
        }
        let distance = frustum.distance(low, high);
        if level > 0 && distance < reach * (step / 2).to_f32() {
            let half = side / 2;
            for [east, south] in [[0, 0], [half, 0], [0, half], [half, half]] {
                self.divide(frustum, reach, [c + east, r + south], level - 1, chunks);
            }
        } else {
            chunks.push([c.to_f32(), r.to_f32(), step.to_f32(), reach * step.to_f32()]);
        }
    }
}

/// The visible part of space.
pub(super) struct Frustum {
    /// Normals of the planes, and their distances in front of the eye.
    planes: [(Vec3, f32); 5],
    eye: Vec3,
    perspective_eye: (Vec3, f32),
}

impl Frustum {
    /// That of a band of the screen, given by its lower and upper edge from −1 to 1.
    pub(super) fn new(projection: &ViewProjection, [low, high]: [f32; 2]) -> Self {
        // A point d from the eye is visible where −w < d·right < w and low · w < d·up < high · w, with
        // w = w₀ · d·forward + w₁.
        let [w0, w1] = projection.w;
        let plane = |factor: f32, side: Vec3| (projection.forward * w0 * factor + side, w1 * factor);
        let planes = [
            plane(1.0, Vec3::ZERO),
            plane(1.0, projection.right),
            plane(1.0, -projection.right),
            plane(-low, projection.up),
            plane(high, -projection.up),
        ];
        Self { planes, eye: projection.eye, perspective_eye: projection.perspective_eye() }
    }

    /// The distance of a box from the eye; that at which a perspective shows it at the same size.
    pub(super) fn distance(&self, low: Vec3, high: Vec3) -> f32 {
        let (eye, distance_scale) = self.perspective_eye;
        let away = (0..3).map(|axis| (low[axis] - eye[axis]).max(eye[axis] - high[axis]).max(0.0));
        distance_scale * away.map(|part| part * part).sum::<f32>().sqrt()
    }

    /// Whether any part of a box may be visible.
    pub(super) fn may_contain(&self, low: Vec3, high: Vec3) -> bool {
        self.planes.iter().all(|(normal, offset)| {
            // The corner farthest along the plane's normal.
            let corner = Vec3::select(normal.cmpgt(Vec3::ZERO), high, low);
            (corner - self.eye).dot(*normal) + offset > 0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::camera::Camera;

    fn terrain(samples: [usize; 2]) -> TerrainLod {
        TerrainLod { samples, half_size: [0.5, 0.5], y_range: [0.0, 0.1] }
    }

    #[test]
    fn chunks_cover_every_quad_once() {
        for (samples, distance) in [([65, 65], 3.0), ([1025, 513], 1.5), ([4097, 4097], 0.3), ([300, 700], 2.0)] {
            let projection = Camera { pitch: 1.5, distance, ..Default::default() }.projection(1.0, |_| f32::MIN);
            // Wide enough that everything is visible.
            let wide = ViewProjection { right: projection.right * 1e-3, up: projection.up * 1e-3, ..projection };
            let chunks = terrain(samples).chunks(&wide, [-1.0, 1.0], 1000.0, 3.0);
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
    fn large_maps_have_no_more_quads_than_the_screen_needs() {
        let count = |samples, distance, quad_px| {
            let projection = Camera { distance, ..Default::default() }.projection(1.5, |_| f32::MIN);
            terrain([samples; 2]).chunks(&projection, [-1.0, 1.0], 1500.0, quad_px).len() * usize::from(QUADS).pow(2)
        };
        let (far, near, software) = (count(4097, 2.0, 2.5), count(4097, 0.05, 2.5), count(4097, 2.0, 8.0));
        assert!(far < 700_000 && near < 700_000 && software < 90_000, "{far}, {near} and {software} quads");
        assert!(count(513, 2.0, 2.5) <= 512 * 512);
    }

    #[test]
    fn an_orthographic_projection_has_one_level_everywhere_and_bands_contain_their_part() {
        let camera = Camera { pitch: 1.2, distance: 2.0, orthographic: 1.0, ..Default::default() };
        let projection = camera.projection(1.5, |_| f32::MIN);
        let chunks = |band| terrain([2049; 2]).chunks(&projection, band, 4000.0, 3.0);
        let all = chunks([-1.0, 1.0]);
        assert!(all.len() > 20 && all.iter().all(|chunk| chunk[2] == all[0][2]), "{all:?}");
        let bands = [[-1.0, -0.5], [-0.5, 0.0], [0.0, 0.5], [0.5, 1.0]].map(chunks);
        assert!(bands.iter().all(|band| band.len() < all.len() && band.iter().all(|chunk| all.contains(chunk))));
        assert!(all.iter().all(|chunk| bands.iter().any(|band| band.contains(chunk))));
    }
}
