//! Patches of lighter and darker ground, hundreds of metres wide, as stands of trees and pastures make them.
//!
//! In satellite images of forests, the brightness of areas 200 m wide varies by about 9 %. A tileable texture repeats
//! within that distance and has the same mean everywhere, so the patches are added to it.

use std::sync::LazyLock;

use super::swatch::{FULL, MipLevel};
use crate::cast::{ToFloat, ToInteger};
use crate::random::Stream;

/// The width of a texel in metres; the finest patches are twice as wide.
const TEXEL_M: f32 = 100.0;
/// The texels along each side.
const SIDE: usize = 256;
/// The widths of the patches, in texels; divisors of the side.
const WIDTHS: [usize; 3] = [2, 4, 8];
/// The standard deviation of the pattern, whose mean is ½: small enough that no value is cut off.
const DEVIATION: f32 = 0.1;

/// The distance in metres after which the patches repeat.
pub(super) const REPEAT_M: f32 = TEXEL_M * 256.0;
/// 1 by the mean of the pattern.
pub(super) const PER_MEAN: f32 = 2.0;
/// How strongly the pattern acts on a material, divided by the contrast of the material: the standard deviation of its
/// relief as a fraction of the mean. Forests vary more than snow; the brightness deviates by 10 % of the contrast.
pub(super) const STRENGTH: f32 = 0.1 / (DEVIATION * PER_MEAN);

/// The pattern, which wraps around, with its mip levels.
pub(super) static PATCHES: LazyLock<Vec<MipLevel>> = LazyLock::new(|| {
    let mut sums = vec![0.0; SIDE * SIDE];
    for width in WIDTHS {
        add_noise(width, &mut sums);
    }
    let count = sums.len().to_f64();
    let mean = sums.iter().sum::<f64>() / count;
    let deviation = (sums.iter().map(|sum| (sum - mean) * (sum - mean)).sum::<f64>() / count).sqrt();
    let pattern = MipLevel::new(SIDE, SIDE, |x, y| {
        let value = 0.5 + f64::from(DEVIATION) * (sums[y * SIDE + x] - mean) / deviation;
        [(value.clamp(0.0, 1.0).to_f32() * FULL).to_u16(); 4]
    });
    pattern.with_halves()
});

/// Adds value noise: random numbers on a lattice with a spacing of `width` texels, interpolated smoothly.
fn add_noise(width: usize, sums: &mut [f64]) {
    let cells = SIDE / width;
    let mut rng = Stream::new(0, 0).at(width.to_u64());
    let values: Vec<f64> = (0..cells * cells).map(|_| rng.unit()).collect();
    let smooth = |at: usize| {
        let t = (at % width).to_f64() / width.to_f64();
        t * t * (3.0 - 2.0 * t)
    };
    for (i, sum) in sums.iter_mut().enumerate() {
        let (x, y) = (i % SIDE, i / SIDE);
        let value =
            |east: usize, south: usize| values[(y / width + south) % cells * cells + (x / width + east) % cells];
        let along = |south: usize| value(0, south) + smooth(x) * (value(1, south) - value(0, south));
        *sum += along(0) + smooth(y) * (along(1) - along(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_wrap_around_and_have_their_mean_and_deviation() {
        let texels = || (0..SIDE).flat_map(|y| PATCHES[0].reliefs(y)[1..=SIDE].iter().map(|relief| f64::from(*relief)));
        let mean = texels().sum::<f64>() / (SIDE * SIDE) as f64;
        let variance = texels().map(|relief| (relief - mean) * (relief - mean)).sum::<f64>() / (SIDE * SIDE) as f64;
        let full = f64::from(FULL);
        assert!((mean / full - 0.5).abs() < 1e-4 && (variance.sqrt() / full - f64::from(DEVIATION)).abs() < 1e-3);
        // Neighbours differ by less than patches do, across the seam as well.
        let row = PATCHES[0].reliefs(7);
        let step = |pair: &[u16]| (f64::from(pair[0]) - f64::from(pair[1])).abs() / full;
        let steps = row.windows(2).map(step).fold(0.0, f64::max);
        assert!(steps < 0.35, "{steps}");
        assert_eq!(row[0], row[SIDE]);
    }
}
