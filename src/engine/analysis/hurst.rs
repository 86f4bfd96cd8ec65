//! The Hurst exponent: how roughness changes with scale.

use rayon::prelude::*;

use super::line_fit::fitted_slope;
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;

/// The Hurst exponent from the variogram: half the slope of log E[(h(p + lag) − h(p))²] over log lag, along rows and
/// columns, for lags that double from 1 up to an eighth of the shorter side, which is included. `None` for terrain that
/// is level or too small.
pub fn hurst_exponent(terrain: &Heightfield) -> Option<f64> {
    let grid = terrain.grid();
    let longest = grid.width().min(grid.height()) / 8;
    let doubled = (0..).map(|i| 1_usize << i).take_while(|&lag| lag < longest);
    let lags: Vec<usize> = doubled.chain((longest > 0).then_some(longest)).collect();
    let point = |&lag: &usize| {
        let squared = |a: f32, b: f32| f64::from(a - b) * f64::from(a - b);
        let along_rows: f64 = (0..grid.height())
            .map(|r| terrain.row(r).iter().zip(&terrain.row(r)[lag..]).map(|(a, b)| squared(*a, *b)).sum::<f64>())
            .sum();
        let along_columns: f64 =
            terrain.heights().iter().zip(&terrain.heights()[lag * grid.width()..]).map(|(a, b)| squared(*a, *b)).sum();
        let pairs = (grid.width() - lag) * grid.height() + grid.width() * (grid.height() - lag);
        let variance = (along_rows + along_columns) / pairs.to_f64();
        (variance > 0.0).then(|| [libm::log(lag.to_f64()), libm::log(variance)])
    };
    let points: Option<Vec<[f64; 2]>> = lags.par_iter().map(point).collect();
    fitted_slope(&points?).map(|slope| 0.5 * slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::grid;

    #[test]
    fn a_ramp_matches_values_computed_by_hand() {
        // On a ramp the difference is proportional to the lag: Hurst exponent 1.
        let ramp = Heightfield::from_fn(grid(101), |c, r| (c + r) as f32);
        assert!((hurst_exponent(&ramp).expect("rough") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn level_terrain_has_no_exponent() {
        assert_eq!(hurst_exponent(&Heightfield::flat(grid(65))), None);
    }

    #[test]
    fn white_noise_is_equally_rough_at_every_lag() {
        let mut rng = crate::random::Stream::new(0, 0).at(0);
        let noise = Heightfield::from_fn(grid(256), |_, _| rng.unit() as f32);
        assert!(hurst_exponent(&noise).expect("rough").abs() < 0.02);
    }
}
