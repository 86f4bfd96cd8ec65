//! Linear regression.

use crate::cast::ToFloat;

/// The slope of the best-fit line through points [x, y]; `None` for fewer than two different x.
pub(super) fn fitted_slope(points: &[[f64; 2]]) -> Option<f64> {
    let count = points.len().to_f64();
    let [mean_x, mean_y] = [0, 1].map(|i| points.iter().map(|point| point[i]).sum::<f64>() / count);
    let xx: f64 = points.iter().map(|[x, _]| (x - mean_x) * (x - mean_x)).sum();
    let xy: f64 = points.iter().map(|[x, y]| (x - mean_x) * (y - mean_y)).sum();
    (points.len() >= 2 && xx > 0.0).then(|| xy / xx)
}
