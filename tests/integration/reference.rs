//! The plain forms that the benchmark measures against give what the engine gives, within the rounding of f32.

#[path = "../../benches/naive.rs"]
mod naive;

use std::collections::BTreeMap;

use std::sync::Arc;

use upthrust::engine::analysis::Summary;
use upthrust::engine::fault::{Fault, Profile, sum_of_faults};
use upthrust::engine::light::Light;
use upthrust::engine::operations::bsp_faults::{BspFaults, Tree};
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::heightmap::Heightmap;
use upthrust::engine::operations::recursive_filter::RecursiveFilter;
use upthrust::engine::operations::{EvalContext, FaultSequence, Operation};
use upthrust::engine::parameters::{Band, Colour, FileName, Limits};
use upthrust::engine::random::Stream;
use upthrust::engine::stack::evaluate;
use upthrust::engine::texture::{
    AnalysisMap, PaintInput, PaintedTexture, Points, RequiredMaps, SlopeMode, SurfaceMaps, TerrainType, TextureRecipe,
    TextureSettings, TypeBlend, Unit, analysis_map, paint, weigh,
};
use upthrust::engine::{Extent, Grid, Heightfield, Inputs, Progress, Recipe, Step};
use upthrust::files::build::load_inputs;
use upthrust::project::presets;

const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 2000.0 };

fn grid() -> Grid {
    Grid::new(WORLD, 150, 101)
}

fn drawn(profile: Profile) -> Vec<Fault> {
    let faults = Faults { count: 200, profile, zone_m: 250.0, ..Default::default() };
    faults.faults(WORLD, Stream::new(8, 1)).map(FaultSequence::into_lines).expect("they draw faults")
}

#[test]
fn faults() {
    for profile in [Profile::Step, Profile::Smooth, Profile::Sine] {
        let faults = drawn(profile);
        let ours = sum_of_faults(grid(), &faults, &Progress::new()).expect("not cancelled");
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
    let Some(FaultSequence::Trees(trees)) = step.faults(WORLD, Stream::new(8, 1)) else { panic!("they draw trees") };
    let plain = naive::trees(grid(), &trees.collect::<Vec<Tree>>());
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let context =
        EvalContext { grid: grid(), below: None, stream: Stream::new(8, 1), inputs: &inputs, progress: &progress };
    let ours = step.evaluate(&context, 60, None).expect("not cancelled");
    let off = ours.heights().iter().zip(&plain).filter(|(a, b)| (*a - *b).abs() > 0.01).count();
    // In f32 a sample that lies on a line may fall on its other side.
    assert!(off <= 8, "{off} samples differ");
}

fn rugged() -> Heightfield {
    sum_of_faults(grid(), &drawn(Profile::Step), &Progress::new()).expect("not cancelled")
}

#[test]
fn the_recursive_filter() {
    let mut ours = rugged();
    let mut plain = ours.clone().into_heights();
    // Oblong spacings: k is meant at the spacing of the rows, which is that of the columns here to 1 %.
    let filter = RecursiveFilter { k: 0.4, k_z: Some(0.4), passes: 5, reference_samples: 150, ..Default::default() };
    let spacing = [grid().spacing_x_m(), grid().spacing_z_m()];
    let filter = RecursiveFilter { k_z: Some(libm::pow(0.4, spacing[0] / spacing[1])), ..filter };
    filter.on(grid()).pass(&mut ours, &Progress::new()).expect("not cancelled");
    naive::recursive_filter(&mut plain, grid().width(), 0.4, 5);
    let worst = ours.heights().iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 0.005, "{worst} m");
}

/// Paints the land in both ways and counts the channels that differ by more than one step of 255.
#[test]
fn the_normals() {
    let terrain = rugged();
    let ours = analysis_map(&terrain, AnalysisMap::Normals, None, Points::Samples, 255, &Progress::new())
        .expect("not cancelled");
    let plain = naive::normals(&terrain);
    assert_eq!(ours.len(), plain.len());
    let off = ours.iter().zip(&plain).filter(|(a, b)| a.abs_diff(u16::from(**b)) > 1).count();
    assert_eq!(off, 0, "channels differ by more than a step");
}

#[test]
fn the_measures() {
    let terrain = rugged();
    let ours = Summary::of(&terrain, 64);
    let (range_m, mean_m, shares) = naive::measures(&terrain, 64);
    assert_eq!([ours.min_m, ours.max_m], range_m);
    assert!((ours.mean_m - mean_m).abs() < 1e-6 * mean_m.abs().max(1.0), "{} {mean_m}", ours.mean_m);
    // A height on the border of two bins may be rounded into either.
    let moved: f32 = ours.histogram.iter().zip(&shares).map(|(a, b)| (a - b).abs()).sum();
    assert!(moved <= 4.0 / terrain.heights().len() as f32, "{moved}");
}

fn differing(
    terrain: &Heightfield,
    recipe: &TextureRecipe,
    fixed_range_m: Option<Band>,
    light: Option<&Light>,
    size: [usize; 2],
) -> (usize, PaintedTexture) {
    let (progress, inputs) = (Progress::new(), Inputs::default());
    let surface_maps = &SurfaceMaps::of(terrain, RequiredMaps::of(recipe, light), &progress).expect("not cancelled");
    let input = PaintInput { terrain, surface_maps, recipe, fixed_range_m, inputs: &inputs };
    let ours = paint(input, light, Points::Pixels(size), &progress).expect("not cancelled");
    let tiles = &BTreeMap::new();
    let plain = naive::texture(&naive::Canvas { terrain, surface_maps, recipe, tiles, fixed_range_m, light, size });
    let differs = |(a, b): &(&[u8; 4], &[u8; 4])| (0..3).any(|channel| a[channel].abs_diff(b[channel]) > 1);
    (ours.picture.pixels.iter().zip(&plain).filter(differs).count(), ours)
}

/// Coarser than the land in one direction and finer in the other.
const SIZE: [usize; 2] = [170, 90];

/// In f32 a point that lies on a sharp edge may fall on its other side; 2 of the 15 300 at the most do.
const ON_EDGES: usize = 2;

#[test]
fn the_texture() {
    let (off, ours) = differing(&rugged(), &TextureRecipe::starter(), None, Some(&Light::default()), SIZE);
    assert!(off == 0 && ours.uncovered == 0.0, "{off} pixels differ, {} uncovered", ours.uncovered);
}

#[test]
fn the_texture_of_presets() {
    for name in ["alpine-range", "arctic", "archipelago"] {
        let preset = presets().iter().find(|preset| preset.name == name).expect(name);
        let mut recipe = preset.project().expect("a project").recipe;
        // The plain form has colours alone.
        recipe.texture.types.iter_mut().for_each(|ground| ground.texture = None);
        let grid = Grid::fitted(recipe.world.extent(), 129);
        let terrain = evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled");
        let (off, _) = differing(&terrain, &recipe.texture, recipe.world.height_range_m, Some(&recipe.light), SIZE);
        assert!(off <= ON_EDGES, "{name}: {off} pixels differ");
    }
}

/// Types with everything that a type can have, in percent.
fn every_parameter() -> TextureRecipe {
    let ground = |name: &str, colour, elevation: [f64; 2], slope_deg: [f64; 2]| TerrainType {
        name: name.into(),
        colour: Colour(colour),
        elevation: Band { min: elevation[0], max: elevation[1] },
        slope_deg: Band { min: slope_deg[0], max: slope_deg[1] },
        ..Default::default()
    };
    let limits = |min, max, release| Some(Limits { min, max, release });
    TextureRecipe {
        settings: TextureSettings {
            active_set: Some("summer".into()),
            fallback: Some("rock".into()),
            ..Default::default()
        },
        types: vec![
            TerrainType {
                skew: 15.0,
                skew_azimuth_deg: 200.0,
                blend: TypeBlend::Height,
                ..ground("meadow", [90, 120, 40], [10.0, 35.0], [0.0, 12.0])
            },
            TerrainType {
                humidity: limits(0.55, 1.0, 0.1),
                elevation_release: 15.0,
                ..ground("moss", [40, 90, 50], [0.0, 30.0], [0.0, 40.0])
            },
            TerrainType { enabled: false, ..ground("off", [255, 0, 255], [0.0, 100.0], [0.0, 90.0]) },
            TerrainType { set: "winter".into(), ..ground("ice", [200, 220, 255], [0.0, 100.0], [0.0, 90.0]) },
            TerrainType {
                shadow: limits(0.3, 1.0, 0.1),
                set: "summer".into(),
                skew: -20.0,
                skew_azimuth_deg: -30.0,
                ..ground("snow", [240, 245, 250], [60.0, 100.0], [0.0, 50.0])
            },
            TerrainType { slope_release_deg: 20.0, ..ground("rock", [120, 110, 100], [0.0, 90.0], [25.0, 90.0]) },
            TerrainType { blend: TypeBlend::Multiply, ..ground("soot", [90, 70, 60], [40.0, 70.0], [0.0, 90.0]) },
            TerrainType {
                blend: TypeBlend::Overlay,
                humidity: limits(0.0, 0.4, 0.2),
                ..ground("dust", [220, 190, 120], [0.0, 60.0], [0.0, 30.0])
            },
        ],
    }
}

fn coloured_light() -> Light {
    Light {
        occlusion: 0.7,
        ambient_colour: Colour([180, 200, 255]),
        direct_colour: Colour([255, 230, 190]),
        ..Default::default()
    }
}

#[test]
fn the_texture_of_level_land() {
    let terrain = Heightfield::filled(grid(), 210.0, &Progress::new()).expect("not cancelled");
    for unit in [Unit::Percent, Unit::Metres] {
        let mut recipe = every_parameter();
        recipe.settings.unit = unit;
        recipe.settings.fallback = None;
        let (off, _) = differing(&terrain, &recipe, None, None, SIZE);
        assert!(off == 0, "{unit:?}: {off} pixels differ");
    }
}

/// A name, and what is changed in a recipe.
type Variant<'a> = (&'a str, &'a dyn Fn(&mut TextureRecipe));

#[test]
fn the_texture_with_every_parameter_in_play() {
    let terrain = rugged();
    let [low, high] = terrain.min_max().map(f64::from);
    let light = coloured_light();
    let in_metres = |recipe: &mut TextureRecipe| {
        recipe.settings.unit = Unit::Metres;
        let per_unit = (high - low) / 100.0;
        for ground in &mut recipe.types {
            let Band { min, max } = ground.elevation;
            ground.elevation = Band { min: low + min * per_unit, max: low + max * per_unit };
            ground.elevation_release *= per_unit;
            ground.skew *= per_unit;
        }
    };
    let variants: [Variant; 7] = [
        ("as it is", &|_| ()),
        ("metres", &in_metres),
        ("classic slopes", &|recipe| recipe.settings.slope_mode = SlopeMode::Classic),
        ("all sets", &|recipe| recipe.settings.active_set = None),
        ("the nearest type", &|recipe| recipe.settings.fallback = None),
        ("sharp edges", &|recipe| {
            for ground in &mut recipe.types {
                (ground.elevation_release, ground.slope_release_deg) = (0.0, 0.0);
            }
        }),
        ("nothing but overlays", &|recipe| recipe.types.retain(|ground| !ground.covers())),
    ];
    for (name, change) in variants {
        for (range, light) in
            [(None, None), (Some(Band { min: low - 50.0, max: high + 80.0 }), Some(&light)), (None, Some(&light))]
        {
            let mut recipe = every_parameter();
            change(&mut recipe);
            let (off, ours) = differing(&terrain, &recipe, range, light, SIZE);
            assert!(off <= ON_EDGES, "{name}, {range:?}: {off} pixels differ");
            // The ice of winter lies everywhere, and cosines fade far over gentle slopes.
            if !["all sets", "classic slopes"].contains(&name) {
                assert!(ours.uncovered > 0.01, "{name}: nothing is uncovered");
            }
        }
    }
}

/// Samples of the real land from west to east and from north to south.
const REAL_SIZE: [usize; 2] = [403, 344];

/// Real land, in the way in which a project brings it in: see data/README.md.
fn real() -> Heightfield {
    let name = FileName("jacksboro.png".into());
    let bytes = include_bytes!("../data/jacksboro.png").to_vec();
    // A value is a height in metres.
    let step = Heightmap { file: name.clone(), low_m: Some(0.0), high_m: Some(65_535.0), ..Default::default() };
    let recipe = Recipe { stack: vec![Step::new(step)], ..Default::default() };
    let inputs = load_inputs(&recipe, &[(name, Arc::new(bytes))].into()).expect("readable");
    let [width, height] = REAL_SIZE;
    let world = Extent { width_m: 74.48 * (width - 1) as f64, depth_m: 92.77 * (height - 1) as f64 };
    evaluate(&recipe, Grid::new(world, width, height), None, &inputs, &Progress::new()).expect("not cancelled")
}

#[test]
fn real_land_keeps_its_metres() {
    let [low, high] = real().min_max();
    assert!((low - 236.0).abs() < 0.5 && (high - 1076.0).abs() < 0.5, "{low} … {high} m");
}

#[test]
fn the_texture_of_real_land() {
    let (terrain, light) = (real(), coloured_light());
    let mut recipe = every_parameter();
    // These mountains are gentle: nowhere do they take three tenths of a day.
    recipe.types.iter_mut().filter_map(|ground| ground.shadow.as_mut()).for_each(|shadow| shadow.min = 0.1);
    // As large as the land, and finer.
    for times in [1, 2] {
        let size = REAL_SIZE.map(|side| times * side);
        let (off, ours) = differing(&terrain, &recipe, None, Some(&light), size);
        assert!(off == 0, "{size:?}: {off} pixels differ");
        assert!(ours.uncovered > 0.001 && ours.uncovered < 0.5, "{size:?}: {} uncovered", ours.uncovered);
        assert!(ours.shares.iter().all(|share| *share > 0.001), "{size:?}: {:?}", ours.shares);
    }
}

#[test]
fn the_weights_of_real_land_sum_to_the_full_value_at_every_pixel() {
    let (terrain, inputs, progress) = (real(), Inputs::default(), Progress::new());
    for (recipe, is_covered) in [(TextureRecipe::starter(), true), (every_parameter(), false)] {
        let surface_maps =
            &SurfaceMaps::of(&terrain, RequiredMaps::of(&recipe, None), &progress).expect("not cancelled");
        let input =
            PaintInput { terrain: &terrain, surface_maps, recipe: &recipe, fixed_range_m: None, inputs: &inputs };
        let points = Points::Pixels(REAL_SIZE);
        let weights = weigh(input, points, 255, &progress).expect("not cancelled");
        let covering: Vec<&Vec<u16>> = weights
            .maps
            .iter()
            .zip(recipe.active())
            .filter(|(_, ground)| ground.covers())
            .map(|(map, _)| map)
            .collect();
        let sum = |pixel: usize| covering.iter().map(|map| map[pixel]).sum::<u16>();
        assert_eq!(weights.size, REAL_SIZE);
        assert!((0..REAL_SIZE[0] * REAL_SIZE[1]).all(|pixel| sum(pixel) == 255));
        let uncovered = paint(input, None, points, &progress).expect("not cancelled").uncovered;
        assert_eq!(uncovered == 0.0, is_covered, "{uncovered} uncovered");
    }
}
