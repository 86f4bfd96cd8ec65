//! A recipe gives the same land at every resolution.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed, in its helpers too")]

use upthrust::engine::fault::Profile;
use upthrust::engine::operations::box_blur::BoxBlur;
use upthrust::engine::operations::faults::{Decay, Faults};
use upthrust::engine::operations::gaussian_blur::GaussianBlur;
use upthrust::engine::operations::recursive_filter::{Form, RecursiveFilter, Sweeps};
use upthrust::engine::parameters::Field;
use upthrust::engine::{Extent, Grid, Heightfield, Inputs, Monitor, Recipe, Step, stack};

const FACTOR: usize = 4;

/// Square and oblong worlds, whole and odd sizes, with the samples of the small map.
const WORLDS: [(Extent, [usize; 2]); 3] = [
    (Extent { width_m: 8192.0, depth_m: 8192.0 }, [257, 257]),
    (Extent { width_m: 4100.7, depth_m: 977.3 }, [257, 62]),
    (Extent { width_m: 733.1, depth_m: 1999.9 }, [95, 257]),
];

fn land(world: Extent, stack: &[Step], [width, height]: [usize; 2]) -> Heightfield {
    let mut recipe = Recipe { seed: 5, stack: stack.to_vec(), ..Default::default() };
    (recipe.world.width_m, recipe.world.depth_m) = (world.width_m, world.depth_m);
    let grid = Grid::new(world, width, height);
    stack::evaluate(&recipe, grid, None, &Inputs::default(), &Monitor::new()).expect("not cancelled")
}

/// The map with four times as many samples, at the places of the small one.
fn pair(world: Extent, stack: &[Step], samples: [usize; 2]) -> (Heightfield, Heightfield) {
    let small = land(world, stack, samples);
    let large = land(world, stack, samples.map(|count| (count - 1) * FACTOR + 1));
    let at_its_places = Heightfield::from_fn(small.grid(), |c, r| large[(c * FACTOR, r * FACTOR)]);
    (small, at_its_places)
}

/// RMS of the difference over the range of the large map.
fn difference((small, large): &(Heightfield, Heightfield)) -> f64 {
    let squares: f64 =
        small.heights().iter().zip(large.heights()).map(|(a, b)| f64::from(a - b) * f64::from(a - b)).sum();
    let [low, high] = large.min_max();
    (squares / small.heights().len() as f64).sqrt() / f64::from(high - low)
}

fn faults(profile: Profile, wind: Option<RecursiveFilter>, world: Extent) -> Step {
    let zone_m = 0.06 * world.width_m.max(world.depth_m);
    // The square map is the largest by far: fewer winds blow over it.
    let count = if wind.is_some() && world.width_m == world.depth_m { 100 } else { 300 };
    Step::new(Faults { count, profile, zone_m, decay: Decay::Countdown, wind, ..Default::default() })
}

#[test]
fn a_small_map_is_an_exact_subset_of_a_large_one_for_every_profile() {
    for (world, samples) in WORLDS {
        for profile in Profile::ALL {
            let (small, large) = pair(world, &[faults(*profile, None, world)], samples);
            // Where the spacing is no power of two of the world's size, a position can differ in its last bit between
            // the grids, which moves a height within a zone by at most a unit of the displacement grid.
            let worst = small.heights().iter().zip(large.heights()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            if samples.iter().all(|count| (count - 1).is_power_of_two()) || worst == 0.0 {
                assert_eq!(small, large, "{} at {samples:?}", profile.to_value());
            } else {
                assert!(worst < 1e-3, "{} at {samples:?}: {worst} m", profile.to_value());
            }
        }
    }
}

#[test]
fn filters_and_wind_agree_within_a_hundredth_of_the_range() {
    println!("{:<26} {:<10} {:>5} {:>9}", "world", "form", "sweeps", "RMS/range");
    let mut worst: f64 = 0.0;
    for (world, samples) in WORLDS {
        for form in [Form::Sequential, Form::Averaged] {
            for sweeps in [Sweeps::Two, Sweeps::Four] {
                let filter = |k, passes| RecursiveFilter { form, sweeps, k, passes, ..Default::default() };
                let stacks = [
                    ("filter", vec![faults(Profile::Step, None, world), Step::new(filter(0.6, 4))]),
                    ("wind", vec![faults(Profile::Step, Some(filter(0.3, 1)), world)]),
                    ("smooth, wind", vec![faults(Profile::Smooth, Some(filter(0.5, 1)), world)]),
                ];
                for (name, stack) in stacks {
                    let rms = difference(&pair(world, &stack, samples));
                    println!(
                        "{:<26} {:<10} {:>5} {:>8.3} %  {name}",
                        format!("{} × {} m", world.width_m, world.depth_m),
                        form.key(),
                        sweeps.key(),
                        100.0 * rms
                    );
                    worst = worst.max(rms);
                }
            }
        }
    }
    assert!(worst <= 0.01, "{worst}");
}

#[test]
fn blurs_agree_within_a_fiftieth_of_the_range() {
    for (world, samples) in WORLDS {
        let spacing_m = world.width_m.max(world.depth_m) / 256.0;
        for spacings in [1.5, 4.0, 30.0] {
            let radius_m = spacings * spacing_m;
            let blurs = [
                Step::new(GaussianBlur { radius_m, ..Default::default() }),
                Step::new(BoxBlur { radius_m, ..Default::default() }),
            ];
            for blur in blurs {
                let name = blur.operation.label();
                let found = difference(&pair(world, &[faults(Profile::Step, None, world), blur], samples));
                println!("{name:<14} of {spacings:>4} spacings at {samples:?}: {found:.4}");
                assert!(found < 0.02, "{name} of {spacings} spacings at {samples:?}: {found}");
            }
        }
    }
}
