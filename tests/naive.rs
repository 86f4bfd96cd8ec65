//! The plain forms that the benchmark measures against give what the engine gives, within the rounding of f32.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed, in its helpers too")]

#[path = "../benches/naive.rs"]
mod naive;

use upthrust::engine::fault::{Fault, Profile, sum_of_faults};
use upthrust::engine::light::Light;
use upthrust::engine::operations::bsp_faults::{BspFaults, Tree};
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::recursive_filter::RecursiveFilter;
use upthrust::engine::operations::{Drawn, Operate, Site};
use upthrust::engine::random::Stream;
use upthrust::engine::texture::{TextureRecipe, paint_once};
use upthrust::engine::{Extent, Grid, Heightfield, Inputs, Monitor};

const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 2000.0 };

fn grid() -> Grid {
    Grid::new(WORLD, 150, 101)
}

fn drawn(profile: Profile) -> Vec<Fault> {
    let faults = Faults { count: 200, profile, zone_m: 250.0, ..Default::default() };
    faults.faults(WORLD, Stream::new(8, 1)).map(Drawn::into_lines).expect("they draw faults")
}

#[test]
fn faults() {
    for profile in [Profile::Step, Profile::Smooth, Profile::Sine] {
        let faults = drawn(profile);
        let ours = sum_of_faults(grid(), &faults, &Monitor::new()).expect("not cancelled");
        let plain = naive::faults(grid(), &faults);
        let off = ours.heights().iter().zip(&plain).filter(|(a, b)| (*a - *b).abs() > 0.01).count();
        // In f32 a sample that lies on a step may fall on its other side.
        let allowed = if profile == Profile::Step { 8 } else { 0 };
        assert!(off <= allowed, "{profile:?}: {off} samples differ");
    }
}

#[test]
fn trees_of_faults() {
    let step = BspFaults { count: 60, wind: None, ..Default::default() };
    let Some(Drawn::Trees(trees)) = step.faults(WORLD, Stream::new(8, 1)) else { panic!("they draw trees") };
    let plain = naive::trees(grid(), &trees.collect::<Vec<Tree>>());
    let (inputs, monitor) = (Inputs::default(), Monitor::new());
    let site = Site { grid: grid(), below: None, stream: Stream::new(8, 1), inputs: &inputs, monitor: &monitor };
    let ours = step.evaluate(&site, 60, None).expect("not cancelled");
    let off = ours.heights().iter().zip(&plain).filter(|(a, b)| (*a - *b).abs() > 0.01).count();
    // In f32 a sample that lies on a line may fall on its other side.
    assert!(off <= 8, "{off} samples differ");
}

fn rugged() -> Heightfield {
    sum_of_faults(grid(), &drawn(Profile::Step), &Monitor::new()).expect("not cancelled")
}

#[test]
fn the_recursive_filter() {
    let mut ours = rugged();
    let mut plain = ours.clone().into_heights();
    // Oblong spacings: k is meant at the spacing of the rows, which is that of the columns here to 1 %.
    let filter = RecursiveFilter { k: 0.4, k_z: Some(0.4), passes: 5, reference_samples: 150, ..Default::default() };
    let spacing = [grid().spacing_x_m(), grid().spacing_z_m()];
    let filter = RecursiveFilter { k_z: Some(libm::pow(0.4, spacing[0] / spacing[1])), ..filter };
    filter.on(grid()).pass(&mut ours, &Monitor::new()).expect("not cancelled");
    naive::recursive_filter(&mut plain, grid().width(), 0.4, 5);
    let worst = ours.heights().iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 0.005, "{worst} m");
}

#[test]
fn the_texture() {
    let land = rugged();
    let (recipe, light, size) = (TextureRecipe::starter(), Light { shadows: 0.0, ..Default::default() }, [170, 90]);
    let ours = paint_once(&land, &recipe, None, &Inputs::default(), Some(&light), size, &Monitor::new())
        .expect("not cancelled");
    let plain = naive::texture(&land, &recipe, &light, size);
    assert!(ours.uncovered == 0.0, "the plain form knows no fallback");
    let worst = ours.picture.pixels.iter().zip(&plain).flat_map(|(a, b)| (0..3).map(|i| a[i].abs_diff(b[i]))).max();
    assert!(worst <= Some(1), "{worst:?} steps of 255");
}
