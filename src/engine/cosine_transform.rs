//! The cosine transform of a line of samples whose first and last lie on the ends: the Fourier transform of the line
//! mirrored at both.
//!
//! With N = 2·(count − 1), y[k] = N^(−½)·Σ x[|i|]·cos(2π·i·k/N) over a whole period (DCT-I). y[k] belongs to the wave of
//! which k halves fit the line.
//!
//! Written out here because a land must have the same bytes on every machine: libraries that choose their arithmetic by
//! the processor, or take their sines from the system, do not promise that. Lengths N that are no power of two go
//! through a convolution (Bluestein, IEEE Transactions on Audio and Electroacoustics 18, 1970).

use std::f64::consts::{PI, TAU};

use rustfft::num_complex::Complex;

/// A transform made ready for lines of one length. It is its own inverse.
#[derive(Debug)]
pub struct CosineTransform {
    count: usize,
    /// N.
    period: usize,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Direct(Stages),
    /// With w[i] = e^(−πi·i²/N): X[k] = w[k]·Σ x[i]·w[i]·w̄[k − i], because 2·i·k = i² + k² − (k − i)².
    Chirp {
        stages: Stages,
        /// w.
        chirp: Vec<Complex<f64>>,
        /// The transform of w̄, divided by its length.
        response: Vec<Complex<f64>>,
    },
}

/// The space that a transform works in: to be kept from line to line.
#[derive(Debug, Default)]
pub struct Workspace {
    mirrored: Vec<Complex<f64>>,
    padded: Vec<Complex<f64>>,
    other: Vec<Complex<f64>>,
}

impl CosineTransform {
    /// For lines of `count` samples, at least two.
    pub fn new(count: usize) -> Self {
        let count = count.max(2);
        let period = 2 * (count - 1);
        if period.is_power_of_two() {
            return Self { count, period, method: Method::Direct(Stages::new(period)) };
        }
        let stages = Stages::new((2 * period - 1).next_power_of_two());
        // i² is taken modulo 2N first: the sine of a large angle has lost the digits behind the point.
        let turn = |i: usize| unit_circle(-PI * ((i * i) % (2 * period)) as f64 / period as f64);
        let chirp: Vec<Complex<f64>> = (0..period).map(turn).collect();
        let length = stages.roots.len() * 2;
        let mut response = vec![Complex::default(); length];
        for (i, w) in chirp.iter().enumerate() {
            response[i] = w.conj() / length as f64;
            response[(length - i) % length] = response[i];
        }
        stages.run(&mut response, &mut Vec::new());
        Self { count, period, method: Method::Chirp { stages, chirp, response } }
    }

    /// Transforms two lines at once, one in the real and one in the imaginary parts: [`Self::new`]'s count of samples,
    /// and no more than those if there are any.
    pub fn run(&self, lines: &mut [Complex<f64>], space: &mut Workspace) {
        let Workspace { mirrored, padded, other } = space;
        mirrored.clear();
        mirrored.extend_from_slice(&lines[..self.count]);
        mirrored.extend(lines[1..self.count - 1].iter().rev());
        match &self.method {
            Method::Direct(stages) => stages.run(mirrored, other),
            Method::Chirp { stages, chirp, response } => {
                padded.clear();
                padded.extend(mirrored.iter().zip(chirp).map(|(x, w)| x * w));
                padded.resize(response.len(), Complex::default());
                stages.run(padded, other);
                // The inverse of a transform is the conjugate of the transform of the conjugate.
                padded.iter_mut().zip(response).for_each(|(x, response)| *x = (*x * response).conj());
                stages.run(padded, other);
                mirrored.iter_mut().zip(chirp).zip(&*padded).for_each(|((x, w), sum)| *x = w * sum.conj());
            }
        }
        let scale = 1.0 / (self.period as f64).sqrt();
        lines.iter_mut().zip(mirrored).for_each(|(line, sum)| *line = *sum * scale);
    }
}

/// e^(i·angle).
fn unit_circle(angle: f64) -> Complex<f64> {
    let (im, re) = libm::sincos(angle);
    Complex { re, im }
}

/// The Fourier transform of a power of two of values, in stages that leave them in their order (Stockham).
#[derive(Debug)]
struct Stages {
    /// e^(−2πi·j/length) for the first half of the circle.
    roots: Vec<Complex<f64>>,
}

impl Stages {
    fn new(length: usize) -> Self {
        Self { roots: (0..length / 2).map(|j| unit_circle(-TAU * j as f64 / length as f64)).collect() }
    }

    fn run(&self, values: &mut Vec<Complex<f64>>, other: &mut Vec<Complex<f64>>) {
        other.clear();
        other.resize(values.len(), Complex::default());
        let half = self.roots.len();
        let mut stride = 1;
        while stride <= half {
            let (near, far) = values.split_at(half);
            let pieces = near.chunks_exact(stride).zip(far.chunks_exact(stride));
            let roots = self.roots.iter().step_by(stride);
            for ((target, (near, far)), root) in other.chunks_exact_mut(2 * stride).zip(pieces).zip(roots) {
                let (sums, differences) = target.split_at_mut(stride);
                for (((sum, difference), a), b) in sums.iter_mut().zip(differences).zip(near).zip(far) {
                    *sum = a + b;
                    *difference = (a - b) * root;
                }
            }
            std::mem::swap(values, other);
            stride *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use rustfft::FftPlanner;

    use super::*;

    fn lines(count: usize) -> Vec<Complex<f64>> {
        (0..count).map(|i| Complex::new((i * 7919 % 1009) as f64, (i * i * 31 % 977) as f64 - 500.0)).collect()
    }

    #[test]
    fn three_samples_by_hand() {
        // Mirrored: 1, 2, 4, 2; the sum is 9, against each other they are −3 and 1, and N^(−½) is ½.
        let mut line = [1.0, 2.0, 4.0].map(|x| Complex::new(x, -x));
        CosineTransform::new(3).run(&mut line, &mut Workspace::default());
        let expected = [4.5, -1.5, 0.5];
        assert!(line.iter().zip(expected).all(|(y, x)| (y.re - x).abs() < 1e-15 && (y.im + x).abs() < 1e-15));
    }

    #[test]
    fn every_length_is_the_sum_of_the_formula() {
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
    fn long_lines_agree_with_a_library_and_come_back() {
        for count in [1025, 1000, 4097, 3001] {
            let (input, mut found) = (lines(count), lines(count));
            let (transform, mut space) = (CosineTransform::new(count), Workspace::default());
            transform.run(&mut found, &mut space);
            let period = 2 * (count - 1);
            let mut expected: Vec<Complex<f64>> = (0..period).map(|i| input[i.min(period - i)]).collect();
            FftPlanner::new().plan_fft_forward(period).process(&mut expected);
            let scale = 1.0 / (period as f64).sqrt();
            assert!(found.iter().zip(expected).all(|(found, y)| (found - y * scale).norm() < 1e-8), "{count}");
            transform.run(&mut found, &mut space);
            assert!(found.iter().zip(input).all(|(found, x)| (found - x).norm() < 1e-9), "{count}");
        }
    }
}
