//! The naive implementations of the benchmarks agree with the engine within the rounding of f32.

#[path = "../../benches/naive.rs"]
mod naive;

use std::collections::BTreeMap;

use upthrust::engine::analysis::Summary;
use upthrust::engine::fault::{Fault, Profile, sum_of_faults};
use upthrust::engine::light::Light;
use upthrust::engine::operations::bsp_faults::BspFaults;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::recursive_filter::RecursiveFilter;
use upthrust::engine::operations::{EvalContext, FaultSequence, Operation, Tree};
use upthrust::engine::parameters::{Band, Colour, Limits};
use upthrust::engine::random::Stream;
use upthrust::engine::stack::evaluate;
use upthrust::engine::texture::{
    AnalysisMap, MapTerrain, PaintInput, PaintedTexture, Points, RequiredMaps, SlopeMode, SurfaceMaps, TerrainType,
    TextureRecipe, TextureSettings, TypeBlend, Unit, analysis_map, paint, weight_maps,
};
use upthrust::engine::{Extent, Grid, Heightfield, Inputs, Progress};
use upthrust::project::presets;

use crate::common::jacksboro;

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
        // A sample on a step can be rounded to the other side in f32.
        let allowed = if profile == Profile::Step { 8 } else { 0 };
        assert!(off <= allowed, "{profile:?}: {off} samples differ");
    }
}

#[test]
fn fault_trees() {
    let step = BspFaults { count: 60, wind: None, ..Default::default() };
    let Some(FaultSequence::Trees(trees)) = step.faults(WORLD, Stream::new(8, 1)) else { panic!("they draw trees") };
    let plain = naive::trees(grid(), &trees.collect::<Vec<Tree>>());
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let context = EvalContext { stream: Stream::new(8, 1), ..EvalContext::new(grid(), &inputs, &progress) };
    let ours = step.evaluate(&context, 60, None).expect("not cancelled");
    let off = ours.heights().iter().zip(&plain).filter(|(a, b)| (*a - *b).abs() > 0.01).count();
    // A sample on a line can be rounded to the other side in f32.
    assert!(off <= 8, "{off} samples differ");
}

fn rugged() -> Heightfield {
    sum_of_faults(grid(), &drawn(Profile::Step), &Progress::new()).expect("not cancelled")
}

#[test]
fn recursive_filter() {
    let mut ours = rugged();
    let mut plain = ours.clone().into_heights();
    // The spacings of rows and columns differ by 1 %; k is defined at the spacing of the columns.
    let filter = RecursiveFilter { k: 0.4, k_z: Some(0.4), passes: 5, reference_samples: 150, ..Default::default() };
    let spacing = [grid().spacing_x_m(), grid().spacing_z_m()];
    let filter = RecursiveFilter { k_z: Some(libm::pow(0.4, spacing[0] / spacing[1])), ..filter };
    filter.prepared(grid()).pass(&mut ours, &Progress::new()).expect("not cancelled");
    naive::recursive_filter(&mut plain, grid().width(), 0.4, 5);
    let worst = ours.heights().iter().zip(&plain).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 0.005, "{worst} m");
}

#[test]
fn normals() {
    let terrain = rugged();
    let ours =
        analysis_map(&MapTerrain::complete(&terrain), AnalysisMap::Normals, Points::Samples, 255, &Progress::new())
            .expect("not cancelled");
    let plain = naive::normals(&terrain);
    assert_eq!(ours.len(), plain.len());
    let off = ours.iter().zip(&plain).filter(|(a, b)| a.abs_diff(u16::from(**b)) > 1).count();
    assert_eq!(off, 0, "channels differ by more than a step");
}

#[test]
fn statistics() {
    let terrain = rugged();
    let ours = Summary::of(&terrain, 64);
    let (range_m, mean_m, shares) = naive::statistics(&terrain, 64);
    assert_eq!([ours.min_m, ours.max_m], range_m);
    assert!((ours.mean_m - mean_m).abs() < 1e-6 * mean_m.abs().max(1.0), "{} {mean_m}", ours.mean_m);
    // A height between two bins can be rounded to either.
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
    let plain =
        naive::texture(&naive::TextureInput { terrain, surface_maps, recipe, tiles, fixed_range_m, light, size });
    let differs = |(a, b): &(&[u8; 4], &[u8; 4])| (0..3).any(|channel| a[channel].abs_diff(b[channel]) > 1);
    (ours.image.pixels.iter().zip(&plain).filter(differs).count(), ours)
}

/// Coarser than the terrain along one axis and finer along the other.
const SIZE: [usize; 2] = [170, 90];

/// Pixels on a sharp edge that may be rounded to the other side in f32, of 15 300.
const ON_EDGES: usize = 2;

#[test]
fn texture() {
    let (off, ours) = differing(&rugged(), &TextureRecipe::starter(), None, Some(&Light::default()), SIZE);
    assert!(off == 0 && ours.uncovered == 0.0, "{off} pixels differ, {} uncovered", ours.uncovered);
}

#[test]
fn texture_of_presets() {
    for name in ["alpine-range", "arctic", "archipelago"] {
        let preset = presets().iter().find(|preset| preset.name == name).expect(name);
        let mut recipe = preset.project().expect("a project").recipe;
        // The naive implementation of this test has no material textures.
        recipe.texture.types.iter_mut().for_each(|material| material.texture = None);
        let grid = Grid::fitted(recipe.world.extent(), 129);
        let terrain = evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled");
        let (off, _) = differing(&terrain, &recipe.texture, recipe.world.height_range_m, Some(&recipe.light), SIZE);
        assert!(off <= ON_EDGES, "{name}: {off} pixels differ");
    }
}

/// Terrain types that together use every parameter, with elevations in percent.
fn every_parameter() -> TextureRecipe {
    let material = |name: &str, colour, elevation: [f64; 2], slope_deg: [f64; 2]| TerrainType {
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
                ..material("meadow", [90, 120, 40], [10.0, 35.0], [0.0, 12.0])
            },
            TerrainType {
                humidity: limits(0.55, 1.0, 0.1),
                elevation_release: 15.0,
                ..material("moss", [40, 90, 50], [0.0, 30.0], [0.0, 40.0])
            },
            TerrainType { enabled: false, ..material("off", [255, 0, 255], [0.0, 100.0], [0.0, 90.0]) },
            TerrainType { set: "winter".into(), ..material("ice", [200, 220, 255], [0.0, 100.0], [0.0, 90.0]) },
            TerrainType {
                shadow: limits(0.3, 1.0, 0.1),
                set: "summer".into(),
                skew: -20.0,
                skew_azimuth_deg: -30.0,
                ..material("snow", [240, 245, 250], [60.0, 100.0], [0.0, 50.0])
            },
            TerrainType { slope_release_deg: 20.0, ..material("rock", [120, 110, 100], [0.0, 90.0], [25.0, 90.0]) },
            TerrainType { blend: TypeBlend::Multiply, ..material("soot", [90, 70, 60], [40.0, 70.0], [0.0, 90.0]) },
            TerrainType {
                blend: TypeBlend::Overlay,
                humidity: limits(0.0, 0.4, 0.2),
                ..material("dust", [220, 190, 120], [0.0, 60.0], [0.0, 30.0])
            },
        ]
        .into(),
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
fn texture_of_flat_terrain() {
    let terrain = Heightfield::filled(grid(), 210.0, &Progress::new()).expect("not cancelled");
    for unit in [Unit::Percent, Unit::Metres] {
        let mut recipe = every_parameter();
        recipe.settings.unit = unit;
        recipe.settings.fallback = None;
        let (off, _) = differing(&terrain, &recipe, None, None, SIZE);
        assert!(off == 0, "{unit:?}: {off} pixels differ");
    }
}

/// A name and a change of a recipe.
type Variant<'a> = (&'a str, &'a dyn Fn(&mut TextureRecipe));

#[test]
fn texture_with_every_parameter() {
    let terrain = rugged();
    let [low, high] = terrain.min_max().map(f64::from);
    let light = coloured_light();
    let in_metres = |recipe: &mut TextureRecipe| {
        recipe.settings.unit = Unit::Metres;
        let per_unit = (high - low) / 100.0;
        for material in &mut recipe.types {
            let Band { min, max } = material.elevation;
            material.elevation = Band { min: low + min * per_unit, max: low + max * per_unit };
            material.elevation_release *= per_unit;
            material.skew *= per_unit;
        }
    };
    let variants: [Variant; 7] = [
        ("unchanged", &|_| ()),
        ("metres", &in_metres),
        ("classic slopes", &|recipe| recipe.settings.slope_mode = SlopeMode::Classic),
        ("all sets", &|recipe| recipe.settings.active_set = None),
        ("the nearest type", &|recipe| recipe.settings.fallback = None),
        ("sharp edges", &|recipe| {
            for material in &mut recipe.types {
                (material.elevation_release, material.slope_release_deg) = (0.0, 0.0);
            }
        }),
        ("nothing but overlays", &|recipe| recipe.types.retain(|material| !material.covers())),
    ];
    for (name, change) in variants {
        for (range, light) in
            [(None, None), (Some(Band { min: low - 50.0, max: high + 80.0 }), Some(&light)), (None, Some(&light))]
        {
            let mut recipe = every_parameter();
            change(&mut recipe);
            let (off, ours) = differing(&terrain, &recipe, range, light, SIZE);
            assert!(off <= ON_EDGES, "{name}, {range:?}: {off} pixels differ");
            // Winter ice covers everything, and cosine fades reach far on gentle slopes.
            if !["all sets", "classic slopes"].contains(&name) {
                assert!(ours.uncovered > 0.01, "{name}: nothing is uncovered");
            }
        }
    }
}

/// The samples of [`jacksboro`] from west to east and from north to south.
const JACKSBORO_SIZE: [usize; 2] = [403, 344];

#[test]
fn imported_heights_keep_their_metres() {
    let [low, high] = jacksboro().min_max();
    assert!((low - 236.0).abs() < 0.5 && (high - 1076.0).abs() < 0.5, "{low} … {high} m");
}

#[test]
fn texture_of_real_terrain() {
    let (terrain, light) = (jacksboro(), coloured_light());
    let mut recipe = every_parameter();
    // These mountains are gentle: no place is in shadow for three tenths of a day.
    recipe.types.iter_mut().filter_map(|material| material.shadow.as_mut()).for_each(|shadow| shadow.min = 0.1);
    // A pixel per sample, and finer.
    for times in [1, 2] {
        let size = JACKSBORO_SIZE.map(|side| times * side);
        let (off, ours) = differing(&terrain, &recipe, None, Some(&light), size);
        assert!(off == 0, "{size:?}: {off} pixels differ");
        assert!(ours.uncovered > 0.001 && ours.uncovered < 0.5, "{size:?}: {} uncovered", ours.uncovered);
        assert!(ours.shares.iter().all(|share| *share > 0.001), "{size:?}: {:?}", ours.shares);
    }
}

#[test]
fn weights_sum_to_the_maximum_at_every_pixel() {
    let (terrain, inputs, progress) = (jacksboro(), Inputs::default(), Progress::new());
    for (recipe, is_covered) in [(TextureRecipe::starter(), true), (every_parameter(), false)] {
        let surface_maps =
            &SurfaceMaps::of(&terrain, RequiredMaps::of(&recipe, None), &progress).expect("not cancelled");
        let input =
            PaintInput { terrain: &terrain, surface_maps, recipe: &recipe, fixed_range_m: None, inputs: &inputs };
        let points = Points::Pixels(JACKSBORO_SIZE);
        let weights = weight_maps(input, points, 255, &progress).expect("not cancelled");
        let covering: Vec<&Vec<u16>> = weights
            .maps
            .iter()
            .zip(recipe.active())
            .filter(|(_, material)| material.covers())
            .map(|(map, _)| map)
            .collect();
        let sum = |pixel: usize| covering.iter().map(|map| map[pixel]).sum::<u16>();
        assert_eq!(weights.size, JACKSBORO_SIZE);
        assert!((0..JACKSBORO_SIZE[0] * JACKSBORO_SIZE[1]).all(|pixel| sum(pixel) == 255));
        let uncovered = paint(input, None, points, &progress).expect("not cancelled").uncovered;
        assert_eq!(uncovered == 0.0, is_covered, "{uncovered} uncovered");
    }
}
