//! The holes of a map: samples without a height, and what they are filled with.

use super::membrane;
use crate::engine::Raster;
use crate::engine::cast::ToFloat;

/// What becomes of samples without a height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoleFilling {
    /// They are interpolated from the heights around them, like a membrane.
    #[default]
    Interpolated,
    /// They get the lowest height of the map.
    Lowest,
    /// Numbers that only probably mean "no data" are heights; other holes are interpolated.
    OnlyDeclared,
}

/// The holes that a map has before they are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Holes {
    /// How many samples have no height.
    pub count: usize,
    /// A number in the map that probably means "no data", though the file does not say so.
    pub undeclared: Option<f32>,
}

/// Numbers that programs write for "no data" without saying so. The first ones are below every place on Earth.
const NO_HEIGHTS: [f32; 3] = [-32_768.0, -32_767.0, -99_999.0];
const RARE_HEIGHTS: [f32; 2] = [-9999.0, -10_000.0];

/// Below this, there are only deep-sea trenches, metres.
const TRENCHES_M: f32 = -9000.0;

/// Sets samples to NaN that have one of the numbers that programs use for "no data", or to the next number if these are
/// heights. Returns the first of these numbers.
pub(super) fn mark_undeclared(samples: &mut [f32], filling: HoleFilling) -> Option<f32> {
    let is_deep = |sample: f32| sample < TRENCHES_M && !NO_HEIGHTS.contains(&sample) && !RARE_HEIGHTS.contains(&sample);
    // In a map of a trench, −9999 m is a depth.
    let has_trench = samples.iter().any(|sample| is_deep(*sample));
    let is_void = |sample: f32| NO_HEIGHTS.contains(&sample) || (!has_trench && RARE_HEIGHTS.contains(&sample));
    let value = samples.iter().copied().find(|sample| is_void(*sample))?;
    let voids = samples.iter_mut().filter(|sample| is_void(**sample));
    match filling {
        HoleFilling::Interpolated | HoleFilling::Lowest => voids.for_each(|sample| *sample = f32::NAN),
        // The number itself would be "no data" again in the file that a project stores. The next one is 2 mm higher at
        // most.
        HoleFilling::OnlyDeclared => voids.for_each(|sample| *sample = sample.next_up()),
    }
    Some(value)
}

/// Gives a height to the samples that are NaN. Nothing changes if every sample is NaN.
pub(super) fn fill(raster: &mut Raster, filling: HoleFilling) {
    match filling {
        HoleFilling::Interpolated | HoleFilling::OnlyDeclared => {
            let is_hole: Vec<bool> = raster.samples.iter().map(|sample| sample.is_nan()).collect();
            let known = is_hole.iter().filter(|is_hole| !**is_hole).count();
            if (1..is_hole.len()).contains(&known) {
                guess(&mut raster.samples, raster.width, raster.height);
                membrane::relax(&mut raster.samples, is_hole, [raster.width, raster.height]);
            }
        }
        HoleFilling::Lowest => {
            let lowest = raster.samples.iter().copied().fold(f32::NAN, f32::min);
            raster.samples.iter_mut().filter(|sample| sample.is_nan()).for_each(|sample| *sample = lowest);
        }
    }
}

/// Sets the samples that are NaN to a first guess of the heights between those around them, by the pull-push method:
/// averages of what is known at ever coarser sizes, and from the coarsest back to what is missing (S. J. Gortler et al.,
/// "The Lumigraph", 1996, section 3.4).
fn guess(samples: &mut [f32], width: usize, height: usize) {
    if !samples.iter().any(|sample| sample.is_nan()) || (width == 1 && height == 1) {
        return;
    }
    let (coarse_width, coarse_height) = (width.div_ceil(2), height.div_ceil(2));
    let mut coarse = Vec::with_capacity(coarse_width * coarse_height);
    for r in 0..coarse_height {
        for c in 0..coarse_width {
            let (mut sum, mut count) = (0.0, 0.0);
            for (dr, dc) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let (row, column) = (2 * r + dr, 2 * c + dc);
                if row < height && column < width && !samples[row * width + column].is_nan() {
                    sum += f64::from(samples[row * width + column]);
                    count += 1.0;
                }
            }
            coarse.push(if count > 0.0 { (sum / count).to_f32() } else { f32::NAN });
        }
    }
    guess(&mut coarse, coarse_width, coarse_height);
    for r in 0..height {
        for c in 0..width {
            let sample = &mut samples[r * width + c];
            if sample.is_nan() {
                *sample = between(&coarse, [coarse_width, coarse_height], [c, r]);
            }
        }
    }
}

/// The bilinear interpolation of the coarser map at a sample of the finer one, whose samples lie a quarter of a coarse
/// cell beside the coarse ones.
fn between(coarse: &[f32], [width, height]: [usize; 2], at: [usize; 2]) -> f32 {
    let axis = |at: usize, count: usize| {
        let near = at / 2;
        let far = if at.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(count - 1) };
        [(near, 0.75), (far, 0.25)]
    };
    let (columns, rows) = (axis(at[0], width), axis(at[1], height));
    let corners = rows.into_iter().flat_map(|row| columns.map(|column| (row.0 * width + column.0, row.1 * column.1)));
    corners.map(|(place, share)| f64::from(coarse[place]) * share).sum::<f64>().to_f32()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SampleScale;

    fn filled(width: usize, height: usize, known: impl Fn(usize, usize) -> Option<f32>) -> Vec<f32> {
        let samples = (0..width * height).map(|at| known(at % width, at / width).unwrap_or(f32::NAN)).collect();
        let mut raster = Raster { width, height, samples, scale: SampleScale::Metres };
        fill(&mut raster, HoleFilling::Interpolated);
        raster.samples
    }

    #[test]
    fn a_hole_in_a_slope_is_filled_with_that_slope() {
        let height = |c: usize, r: usize| 10.0 * c as f32 + 4.0 * r as f32;
        let is_hole = |c: usize, r: usize| (12..20).contains(&c) && (9..15).contains(&r);
        let heights = filled(41, 33, |c, r| (!is_hole(c, r)).then(|| height(c, r)));
        for (at, found) in heights.iter().enumerate() {
            let (c, r) = (at % 41, at / 41);
            if is_hole(c, r) {
                assert!((found - height(c, r)).abs() < 0.01, "({c}, {r}): {found} for {}", height(c, r));
            } else {
                assert_eq!(*found, height(c, r), "known heights stay");
            }
        }
    }

    #[test]
    fn one_known_height_fills_everything_and_none_nothing() {
        assert!(filled(7, 5, |c, r| (c == 3 && r == 1).then_some(8.0)).iter().all(|height| *height == 8.0));
        assert!(filled(3, 3, |_, _| None).iter().all(|height| height.is_nan()));
    }

    #[test]
    fn usual_numbers_for_no_data_are_found_but_trenches_stay() {
        let marked = |samples: &[f32]| {
            let mut samples = samples.to_vec();
            let found = mark_undeclared(&mut samples, HoleFilling::Interpolated);
            (samples.iter().map(|sample| sample.is_nan()).collect::<Vec<_>>(), found)
        };
        assert_eq!(marked(&[5.0, -9999.0, 300.0]), (vec![false, true, false], Some(-9999.0)));
        assert_eq!(marked(&[-10_900.0, -9999.0, -32_768.0]), (vec![false, false, true], Some(-32_768.0)));
        assert_eq!(marked(&[-430.0, 0.0, 8848.0]), (vec![false; 3], None));
    }

    #[test]
    fn probable_holes_stay_heights_if_only_declared_ones_are_holes() {
        let mut samples = [5.0, -9999.0, 300.0];
        assert_eq!(mark_undeclared(&mut samples, HoleFilling::OnlyDeclared), Some(-9999.0));
        assert_eq!(samples, [5.0, -9998.999, 300.0]);
        assert_eq!(mark_undeclared(&mut samples, HoleFilling::Interpolated), None, "as when a project reads them");
    }

    #[test]
    fn holes_can_have_the_lowest_height() {
        let samples = vec![f32::NAN, 7.0, -3.0, f32::NAN];
        let mut raster = Raster { width: 2, height: 2, samples, scale: SampleScale::Metres };
        fill(&mut raster, HoleFilling::Lowest);
        assert_eq!(raster.samples, [-3.0, 7.0, -3.0, -3.0]);
    }
}
