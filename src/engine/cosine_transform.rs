//! The cosine transform of a line of samples (DCT-I): the Fourier transform of the line mirrored at both ends.
//!
//! With N = 2·(count − 1), `y[k] = N^(−½)·Σ x[|i|]·cos(2π·i·k/N)` over a period. `y[k]` is the coefficient of the wave
//! with k half-periods along the line.

use num_complex::Complex;

use super::fourier::{self, FourierTransform};

use crate::cast::ToFloat;

/// A cosine transform prepared for lines of one length. It is its own inverse.
#[derive(Debug)]
pub struct CosineTransform {
    count: usize,
    /// N.
    period: usize,
    fourier: FourierTransform,
}

/// Buffers for [`CosineTransform::run`], reused between calls.
#[derive(Debug, Default)]
pub struct Workspace {
    mirrored: Vec<Complex<f64>>,
    fourier: fourier::Workspace,
}

impl CosineTransform {
    /// Prepares the transform of lines of `count` samples, at least two.
    pub fn new(count: usize) -> Self {
        let count = count.max(2);
        let period = 2 * (count - 1);
        Self { count, period, fourier: FourierTransform::new(period) }
    }

    /// Transforms two lines at once, one in the real and one in the imaginary parts. `lines` has at least as many
    /// samples as [`Self::new`] was given; more are ignored.
    pub fn run(&self, lines: &mut [Complex<f64>], space: &mut Workspace) {
        let Workspace { mirrored, fourier } = space;
        mirrored.clear();
        mirrored.extend_from_slice(&lines[..self.count]);
        mirrored.extend(lines[1..self.count - 1].iter().rev());
        self.fourier.run(mirrored, fourier);
        let scale = 1.0 / self.period.to_f64().sqrt();
        lines.iter_mut().zip(mirrored).for_each(|(line, sum)| *line = *sum * scale);
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    fn lines(count: usize) -> Vec<Complex<f64>> {
        (0..count).map(|i| Complex::new((i * 7919 % 1009) as f64, (i * i * 31 % 977) as f64 - 500.0)).collect()
    }

    #[test]
    fn three_samples_match_the_formula() {
        // Mirrored they are 1, 2, 4, 2: the sums are 9, −3 and 1, and N^(−½) is ½.
        let mut line = [1.0, 2.0, 4.0].map(|x| Complex::new(x, -x));
        CosineTransform::new(3).run(&mut line, &mut Workspace::default());
        let expected = [4.5, -1.5, 0.5];
        assert!(line.iter().zip(expected).all(|(y, x)| (y.re - x).abs() < 1e-15 && (y.im + x).abs() < 1e-15));
    }

    #[test]
    fn every_length_matches_the_formula() {
        for count in 2..40 {
            let (input, mut found) = (lines(count), lines(count));
            CosineTransform::new(count).run(&mut found, &mut Workspace::default());
            let period = 2 * (count - 1);
            for (k, found) in found.iter().enumerate() {
                let wave = |i: usize| libm::cos(TAU * (i * k) as f64 / period as f64);
                let sum: Complex<f64> = (0..period).map(|i| input[i.min(period - i)] * wave(i)).sum();
                let error = (found - sum / (period as f64).sqrt()).norm();
                assert!(error < 1e-9, "{count} samples, wave {k}: {error}");
            }
        }
    }

    #[test]
    fn long_lines_match_the_formula_and_transform_back() {
        for count in [1025, 1000, 4097, 3001] {
            let (input, mut found) = (lines(count), lines(count));
            let (transform, mut space) = (CosineTransform::new(count), Workspace::default());
            transform.run(&mut found, &mut space);
            let period = 2 * (count - 1);
            let waves: Vec<f64> = (0..period).map(|i| libm::cos(TAU * i as f64 / period as f64)).collect();
            for k in (0..count).step_by(count / 64) {
                let sum: Complex<f64> = (0..period).map(|i| input[i.min(period - i)] * waves[i * k % period]).sum();
                let error = (found[k] - sum / (period as f64).sqrt()).norm();
                assert!(error < 1e-8, "{count} samples, wave {k}: {error}");
            }
            transform.run(&mut found, &mut space);
            assert!(found.iter().zip(input).all(|(found, x)| (found - x).norm() < 1e-9), "{count}");
        }
    }
}
