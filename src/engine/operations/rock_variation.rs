//! How much more or less easily the rock erodes from place to place.

use rayon::prelude::*;

use super::noise::Fbm;
use crate::cast::ToFloat;
use crate::flow::Mesh;
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;

/// The factor of the erodibility at each point of a mesh, row by row: e^(σN) with fractal noise N, whose standard deviation
/// is 1. It depends on the place in the world alone, so finer meshes have the same rock.
pub(super) fn erodibility_factors(
    mesh: &Mesh,
    sigma: f64,
    stream: Stream,
    progress: &Progress,
) -> Result<Vec<f32>, Cancelled> {
    /// The waves of the widest noise along the longer side of the world.
    const WAVES: f64 = 16.0;
    /// The standard deviation of the fractal noise, as a test finds it.
    const DEVIATION: f64 = 0.186;
    let (grid, margin) = (mesh.grid(), mesh.margin());
    let spacings_m = [grid.spacing_x_m(), grid.spacing_z_m()];
    let [width_m, depth_m] = [(grid.width(), spacings_m[0]), (grid.height(), spacings_m[1])]
        .map(|(samples, spacing_m)| (samples - 1 - 2 * margin).to_f64() * spacing_m);
    let noise = Fbm::new(width_m.max(depth_m) / WAVES, grid.extent(), stream.aside());
    let mut factors = vec![1.0; grid.samples()];
    factors.par_chunks_exact_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
        for (c, factor) in row.iter_mut().enumerate() {
            let offset = mesh.offset(c, r);
            let place_m =
                |at: usize, axis: usize| (at.to_f64() - margin.to_f64() + f64::from(offset[axis])) * spacings_m[axis];
            *factor = libm::exp(sigma / DEVIATION * noise.at(place_m(c, 0), place_m(r, 1))).to_f32();
        }
        progress.check()
    })?;
    Ok(factors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::WideGrid;
    use crate::heightfield::{Extent, Grid};

    const WORLD: Extent = Extent { width_m: 20_480.0, depth_m: 10_240.0 };

    /// The factors for a world of the given number of samples and a margin.
    fn factors([width, height]: [usize; 2], margin: usize, sigma: f64) -> Vec<f32> {
        let progress = Progress::new();
        let wide = WideGrid::new(Grid::new(WORLD, width, height), margin);
        let mesh = wide.reference_mesh(0.0, &progress).expect("not cancelled");
        erodibility_factors(&mesh, sigma, Stream::new(3, 4), &progress).expect("not cancelled")
    }

    #[test]
    fn the_standard_deviation_of_the_logarithm_is_the_given_one() {
        for sigma in [0.2, 1.0] {
            let logarithms: Vec<f64> =
                factors([257, 129], 0, sigma).iter().map(|factor| libm::log(f64::from(*factor)) / sigma).collect();
            let count = logarithms.len() as f64;
            let mean = logarithms.iter().sum::<f64>() / count;
            let variance = logarithms.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            assert!(mean.abs() <= 0.1 && (variance.sqrt() - 1.0).abs() <= 0.1, "{mean}, {}", variance.sqrt());
        }
    }

    #[test]
    fn the_rock_depends_on_the_place_alone() {
        let [world, wide, fine] =
            [([33, 17], 0), ([33, 17], 2), ([65, 33], 0)].map(|(size, margin)| factors(size, margin, 0.5));
        for r in 0..17 {
            for c in 0..33 {
                let expected = world[r * 33 + c];
                for found in [wide[(r + 2) * 37 + c + 2], fine[2 * r * 65 + 2 * c]] {
                    assert!((found - expected).abs() <= 1e-5 * expected, "{c}, {r}: {found}, {expected}");
                }
            }
        }
    }
}
