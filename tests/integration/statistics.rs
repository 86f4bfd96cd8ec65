//! Statistics of unfiltered step faults compared with the theory of Brownian relief (Mandelbrot; Voss): a Hurst
//! exponent of ½, and a ring-summed spectrum proportional to the wave number to the power of −2.

use upthrust::engine::fault::Profile;
use upthrust::engine::operations::faults::{Decay, Faults, Line};
use upthrust::engine::{Extent, Grid, Heightfield, Inputs, Progress, Recipe, Step, analysis, stack};

const SIDE: usize = 513;
const WORLD: Extent = Extent { width_m: 8192.0, depth_m: 8192.0 };

/// Equal step faults, enough of them for the statistics of a sum.
fn terrain(line: Line, count: u32, seed: u32) -> Heightfield {
    let faults = Faults {
        line,
        count,
        decay: Decay::Constant,
        displacement_m: 10.0,
        profile: Profile::Step,
        ..Default::default()
    };
    let mut recipe = Recipe { seed, stack: vec![Step::new(faults)], ..Default::default() };
    (recipe.world.width_m, recipe.world.depth_m) = (WORLD.width_m, WORLD.depth_m);
    let grid = Grid::new(WORLD, SIDE, SIDE);
    stack::evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[track_caller]
fn assert_within(what: &str, value: f64, [low, high]: [f64; 2]) {
    println!("{what:<44} {value:>7.3}   expected {low} … {high}");
    assert!((low..=high).contains(&value), "{what}: {value}");
}

#[test]
fn roughness_spectrum_and_hypsometry_of_eight_seeds() {
    for (line, name) in [(Line::NormalForm, "normal form"), (Line::TwoPoints, "two points")] {
        let terrains: Vec<Heightfield> = (0..8).map(|seed| terrain(line, 2000, seed)).collect();
        let of_each = |measure: &dyn Fn(&Heightfield) -> f64| mean(&terrains.iter().map(measure).collect::<Vec<_>>());
        let hurst = of_each(&|terrain| analysis::hurst_exponent(terrain).expect("rough terrain"));
        let slope = of_each(&|terrain| {
            analysis::spectral_slope(terrain, &Progress::new()).expect("not cancelled").expect("rough terrain")
        });
        let hypsometry = of_each(&|terrain| analysis::Summary::of(terrain, 10).hypsometric_integral);
        assert_within(&format!("{name}: Hurst exponent"), hurst, [0.40, 0.60]);
        assert_within(&format!("{name}: spectral slope"), slope, [-2.3, -1.7]);
        assert_within(&format!("{name}: hypsometric integral"), hypsometry, [0.3, 0.7]);
    }
}

/// The variance of the difference between neighbouring samples in a rectangle, given by its first and last column and
/// row.
fn step_variance(terrain: &Heightfield, columns: [usize; 2], rows: [usize; 2]) -> f64 {
    let mut sum = 0.0;
    let mut count = 0.0;
    for r in rows[0]..rows[1] {
        for c in columns[0]..columns[1] {
            let here = terrain[(c, r)];
            for next in [terrain[(c + 1, r)], terrain[(c, r + 1)]] {
                let rise = f64::from(next - here);
                sum += rise * rise;
                count += 1.0;
            }
        }
    }
    sum / count
}

/// The ratio of the variances at the centre and at the corners, in windows of an eighth of the side, over eight seeds.
fn centre_to_corner(line: Line) -> f64 {
    let window = SIDE / 8;
    let first = [0, window];
    let middle = [(SIDE - window) / 2, (SIDE + window) / 2];
    let last = [SIDE - 1 - window, SIDE - 1];
    let (mut centre, mut corners) = (0.0, 0.0);
    for seed in 0..8 {
        let terrain = terrain(line, 4000, seed);
        centre += step_variance(&terrain, middle, middle);
        for (columns, rows) in [(first, first), (last, first), (first, last), (last, last)] {
            corners += 0.25 * step_variance(&terrain, columns, rows);
        }
    }
    centre / corners
}

#[test]
fn normal_form_is_uniformly_rough_and_two_points_is_not() {
    assert_within("normal form: centre to corner", centre_to_corner(Line::NormalForm), [0.6, 1.6]);
    assert_within("two points: centre to corner", centre_to_corner(Line::TwoPoints), [1.5, 2.8]);
}
