//! Slopes and their distribution.

use rayon::prelude::*;

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::simd::simd;

/// The width of a bin of the slope histogram that `inspect` prints, degrees.
pub const SLOPE_BIN_DEG: f32 = 5.0;

/// The slope at a sample, degrees.
pub fn slope_deg(terrain: &Heightfield, c: usize, r: usize) -> f32 {
    let [east, south] = terrain.gradient(c, r);
    libm::atanf((east * east + south * south).sqrt()).to_degrees()
}

/// The squared tangent of an angle. Comparing squared tangents avoids an arc tangent per sample.
pub(super) fn squared_tangent(angle_deg: f64) -> f32 {
    let tangent = libm::tan(angle_deg.to_radians());
    (tangent * tangent).to_f32()
}

/// Computes the squared gradients of rows, reusing its buffers.
pub(super) struct GradientSquares {
    east: Vec<f32>,
    south: Vec<f32>,
}

impl GradientSquares {
    pub(super) fn new(width: usize) -> Self {
        Self { east: vec![0.0; width], south: vec![0.0; width] }
    }

    #[inline(always)]
    pub(super) fn of_row(&mut self, terrain: &Heightfield, r: usize) -> &[f32] {
        terrain.gradients_of_row(r, [&mut self.east, &mut self.south]);
        self.east.iter_mut().zip(&self.south).for_each(|(east, south)| *east = *east * *east + south * south);
        &self.east
    }
}

/// The shares of the samples in slope bins of `bin_deg` degrees from 0° to 90°.
pub fn slope_histogram(terrain: &Heightfield, bin_deg: f32) -> Vec<f32> {
    let grid = terrain.grid();
    let bins = (90.0 / bin_deg).round().to_usize().max(1);
    let bounds: Vec<f32> = (1..bins).map(|bin| squared_tangent(f64::from(bin_deg) * bin.to_f64())).collect();
    // The number of samples that reach each bound. Comparing with every bound vectorizes; a search would not.
    let of_row = |gradients: &mut GradientSquares, r: usize| {
        simd(
            #[inline(always)]
            || {
                let squares = gradients.of_row(terrain, r);
                let beyond = |bound: &f32| squares.iter().map(|square| u32::from(square >= bound)).sum::<u32>();
                bounds.iter().map(|bound| u64::from(beyond(bound))).collect::<Vec<u64>>()
            },
        )
    };
    let added = |mut one: Vec<u64>, other: Vec<u64>| {
        one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        one
    };
    let rows = (0..grid.height()).into_par_iter().map_init(|| GradientSquares::new(grid.width()), of_row);
    let beyond = rows.reduce(|| vec![0; bounds.len()], added);
    let all = std::iter::once(grid.samples() as u64).chain(beyond).chain([0]).collect::<Vec<_>>();
    all.windows(2).map(|pair| (pair[0] - pair[1]).to_f32() / grid.samples().to_f32()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::grid;

    #[test]
    fn a_tilted_plane_is_in_one_bin() {
        let tilted = |slope: f32| Heightfield::from_fn(grid(33), move |c, _| c as f32 * slope);
        for (slope, bin) in [(0.0, 0), (0.25, 14), (1.0, 45), (10.0, 84)] {
            let shares = slope_histogram(&tilted(slope), 1.0);
            assert_eq!((shares.len(), shares[bin]), (90, 1.0), "{slope}");
        }
        assert_eq!(slope_histogram(&tilted(1.0), SLOPE_BIN_DEG)[9], 1.0);
    }

    #[test]
    fn bins_agree_with_the_angles_of_the_samples() {
        let wave = |c: usize, r: usize| 6.0 * libm::sinf(0.37 * c as f32) * libm::cosf(0.23 * r as f32);
        let terrain = Heightfield::from_fn(grid(65), wave);
        let mut counts = [0_u32; 18];
        for (c, r) in (0..65).flat_map(|r| (0..65).map(move |c| (c, r))) {
            counts[(slope_deg(&terrain, c, r) / SLOPE_BIN_DEG) as usize] += 1;
        }
        let shares: Vec<f32> = counts.iter().map(|count| *count as f32 / 4225.0).collect();
        assert_eq!(slope_histogram(&terrain, SLOPE_BIN_DEG), shares);
        assert!(shares[..11].iter().all(|share| *share > 0.0), "the wave has slopes in every bin");
    }
}
