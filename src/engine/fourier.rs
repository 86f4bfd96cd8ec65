//! The discrete Fourier transform of any length, bit-identical on every machine.
//!
//! `X[k] = Σ x[i]·e^(−2πi·i·k/N)`. Implemented here because a terrain must be byte-identical on every machine, which
//! libraries do not guarantee: they choose their algorithm by the vector instructions of the processor and use sines of
//! the standard library, whose precision is unspecified. This implementation uses additions and multiplications in
//! a fixed order, and libm's sines.
//!
//! Powers of two are transformed in radix-2 stages (Stockham). Other lengths become a convolution of a power of two
//! (Bluestein, IEEE Transactions on Audio and Electroacoustics 18, 1970).

use std::f64::consts::{PI, TAU};

use num_complex::Complex;

use crate::cast::ToFloat;

/// A Fourier transform prepared for one length.
#[derive(Debug)]
pub struct FourierTransform {
    length: usize,
    method: Method,
}

#[derive(Debug)]
enum Method {
    PowerOfTwo(Stages),
    /// With `w[i] = e^(−πi·i²/N)`: `X[k] = w[k]·Σ x[i]·w[i]·w̄[k − i]`, because 2·i·k = i² + k² − (k − i)².
    Bluestein {
        stages: Stages,
        /// w.
        chirp: Vec<Complex<f64>>,
        /// The transform of w̄, divided by its length.
        response: Vec<Complex<f64>>,
    },
}

/// Buffers for [`FourierTransform::run`], reused between calls.
#[derive(Debug, Default)]
pub struct Workspace {
    padded: Vec<Complex<f64>>,
    other: Vec<Complex<f64>>,
}

impl FourierTransform {
    /// Prepares the transform of `length` values, at least one.
    pub fn new(length: usize) -> Self {
        let length = length.max(1);
        if length.is_power_of_two() {
            return Self { length, method: Method::PowerOfTwo(Stages::new(length)) };
        }
        let stages = Stages::new((2 * length - 1).next_power_of_two());
        // i² is first reduced modulo 2N, because large angles lose their fractional digits.
        let chirp_at = |i: usize| unit_circle(-PI * ((i * i) % (2 * length)).to_f64() / length.to_f64());
        let chirp: Vec<Complex<f64>> = (0..length).map(chirp_at).collect();
        let padded_length = stages.roots.len() * 2;
        let mut response = vec![Complex::default(); padded_length];
        for (i, w) in chirp.iter().enumerate() {
            response[i] = w.conj() / padded_length.to_f64();
            response[(padded_length - i) % padded_length] = response[i];
        }
        stages.run(&mut response, &mut Vec::new());
        Self { length, method: Method::Bluestein { stages, chirp, response } }
    }

    /// Transforms as many values as [`Self::new`] was given.
    pub fn run(&self, values: &mut Vec<Complex<f64>>, space: &mut Workspace) {
        debug_assert_eq!(values.len(), self.length);
        let Workspace { padded, other } = space;
        match &self.method {
            Method::PowerOfTwo(stages) => stages.run(values, other),
            Method::Bluestein { stages, chirp, response } => {
                padded.clear();
                padded.extend(values.iter().zip(chirp).map(|(x, w)| x * w));
                padded.resize(response.len(), Complex::default());
                stages.run(padded, other);
                // The inverse of a transform is the conjugate of the transform of the conjugate.
                padded.iter_mut().zip(response).for_each(|(x, response)| *x = (*x * response).conj());
                stages.run(padded, other);
                values.iter_mut().zip(chirp).zip(&*padded).for_each(|((x, w), sum)| *x = w * sum.conj());
            }
        }
    }
}

/// e^(i·angle).
fn unit_circle(angle: f64) -> Complex<f64> {
    let (im, re) = libm::sincos(angle);
    Complex { re, im }
}

/// The Fourier transform of a power of two of values, in stages that keep them in order (Stockham).
#[derive(Debug)]
struct Stages {
    /// e^(−2πi·j/length) for the first half of the circle.
    roots: Vec<Complex<f64>>,
}

impl Stages {
    fn new(length: usize) -> Self {
        Self { roots: (0..length / 2).map(|j| unit_circle(-TAU * j.to_f64() / length.to_f64())).collect() }
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
    use super::*;

    fn values(count: usize) -> Vec<Complex<f64>> {
        (0..count).map(|i| Complex::new((i * 7919 % 1009) as f64, (i * i * 31 % 977) as f64 - 500.0)).collect()
    }

    fn transformed(mut values: Vec<Complex<f64>>) -> Vec<Complex<f64>> {
        FourierTransform::new(values.len()).run(&mut values, &mut Workspace::default());
        values
    }

    #[test]
    fn three_values_match_the_formula() {
        // The cube roots of one are 1 and −½ ± √¾·i.
        let found = transformed([1.0, 2.0, 4.0].map(|x| Complex::new(x, 0.0)).to_vec());
        let height = 0.75_f64.sqrt();
        let expected = [Complex::new(7.0, 0.0), Complex::new(-2.0, 2.0 * height), Complex::new(-2.0, -2.0 * height)];
        assert!(found.iter().zip(expected).all(|(found, x)| (found - x).norm() < 1e-13), "{found:?}");
    }

    #[test]
    fn every_length_matches_the_formula() {
        for count in (1..40).chain([128, 1000, 1025, 4096]) {
            let (input, found) = (values(count), transformed(values(count)));
            let root = |i: usize| {
                Complex::new(libm::cos(TAU * i as f64 / count as f64), -libm::sin(TAU * i as f64 / count as f64))
            };
            let roots: Vec<Complex<f64>> = (0..count).map(root).collect();
            // Some waves of long inputs.
            for k in (0..count).step_by(count / 64 + 1) {
                let expected: Complex<f64> = (0..count).map(|i| input[i] * roots[i * k % count]).sum();
                let error = (found[k] - expected).norm();
                assert!(error < 1e-7, "{count} values, wave {k}: {error}");
            }
        }
    }
}
