//! The presets: their terrain types cover the terrain, and their sets look different.

use std::collections::BTreeMap;

use upthrust::engine::operations::coastline::Coastline;
use upthrust::engine::stack::evaluate;
use upthrust::engine::texture::{PaintedTexture, Unit, paint_once};
use upthrust::engine::{Grid, Heightfield, Progress, Recipe, Step};
use upthrust::files::export::load_inputs;
use upthrust::project::{ProjectFile, preset_projects, presets};

use crate::common::{preset_terrain, preset_terrains};

const SAMPLES: usize = 257;

fn painted(recipe: &Recipe, terrain: &Heightfield) -> PaintedTexture {
    let inputs = load_inputs(recipe, &BTreeMap::new()).expect("presets need no files");
    let size = [terrain.grid().width(), terrain.grid().height()];
    paint_once(terrain, recipe.painting(&inputs, None), size, &Progress::new()).expect("not cancelled")
}

/// The sets of a recipe; without any, its active set.
fn sets(recipe: &Recipe) -> Vec<Option<String>> {
    let named: Vec<Option<String>> = recipe.texture.sets().into_iter().map(|set| Some(set.to_string())).collect();
    if named.is_empty() { vec![recipe.texture.settings.active_set.clone()] } else { named }
}

#[test]
fn every_set_of_every_preset_covers_the_terrain() {
    preset_terrains().for_each(|(file, terrain)| check_sets(file, terrain));
}

#[test]
#[ignore = "slow: more samples"]
fn nightly_every_set_of_every_preset_covers_the_terrain() {
    preset_projects().iter().for_each(|(_, file)| check_sets(file, &preset_terrain(&file.project.recipe, 513)));
}

fn check_sets(file: &ProjectFile, terrain: &Heightfield) {
    let mut recipe = file.project.recipe.clone();
    for set in sets(&recipe) {
        recipe.texture.settings.active_set = set.clone();
        let uncovered = painted(&recipe, terrain).uncovered;
        assert_eq!(uncovered, 0.0, "{}, {set:?}", file.project.name);
    }
}

/// The presets whose lowlands are under snow too.
const SNOWBOUND: [&str; 1] = ["arctic"];

#[test]
fn elevations_are_in_metres_and_no_uplift_begins_under_snow() {
    for preset in presets() {
        let recipe = preset.project().expect(preset.name).recipe;
        assert_eq!(recipe.texture.settings.unit, Unit::Metres, "{}", preset.name);
        let inputs = load_inputs(&recipe, &BTreeMap::new()).expect("presets need no files");
        let grid = Grid::fitted(recipe.world.extent(), 65);
        for position in [0, 1, recipe.iterations() / 100] {
            let terrain = evaluate(&recipe, grid, Some(position), &inputs, &Progress::new()).expect("not cancelled");
            let painting = painted(&recipe, &terrain);
            let is_snow = |name: &str| name.to_lowercase().contains("snow");
            let shares = recipe.texture.active().zip(&painting.shares);
            let snow: f32 = shares.filter(|(found, _)| is_snow(&found.name)).map(|(_, share)| share).sum();
            assert!(snow < 0.2 || SNOWBOUND.contains(&preset.name), "{} at {position}: {snow}", preset.name);
        }
    }
}

/// The mean colour, as red, green and blue from 0 to 255.
fn mean(painting: &PaintedTexture) -> [f64; 3] {
    let pixels = &painting.image.pixels;
    [0, 1, 2].map(|i| pixels.iter().map(|pixel| f64::from(pixel[i])).sum::<f64>() / pixels.len() as f64)
}

#[test]
fn summer_is_active_winter_is_brighter_and_desert_is_redder() {
    let mut checked = 0;
    for preset in presets() {
        let mut recipe = preset.project().expect(preset.name).recipe;
        if recipe.texture.sets().is_empty() {
            continue;
        }
        assert_eq!(recipe.texture.sets(), ["summer", "winter", "desert"], "{}", preset.name);
        assert_eq!(recipe.texture.settings.active_set.as_deref(), Some("summer"), "{}", preset.name);
        let terrain = preset_terrain(&recipe, SAMPLES);
        let [summer, winter, desert] = ["summer", "winter", "desert"].map(|set| {
            recipe.texture.settings.active_set = Some(set.into());
            mean(&painted(&recipe, &terrain))
        });
        let light = |[red, green, blue]: [f64; 3]| red + green + blue;
        let warm = |[red, _, blue]: [f64; 3]| red - blue;
        let name = preset.name;
        assert!(light(winter) > light(summer) + 30.0, "{name}: {summer:.0?} in summer, {winter:.0?} in winter");
        assert!(warm(winter) < warm(summer), "{name}: {summer:.0?} in summer, {winter:.0?} in winter");
        assert!(warm(desert) > warm(summer) + 10.0, "{name}: {summer:.0?} in summer, {desert:.0?} in the desert");
        checked += 1;
    }
    assert!(checked >= 3, "{checked} presets have sets");
}

#[test]
fn default_terrain_types_paint_green_land_and_a_sandy_sea_floor() {
    let recipe = Recipe { stack: vec![Step::new(Coastline::default())], ..Default::default() };
    let terrain = preset_terrain(&recipe, SAMPLES);
    let painting = painted(&recipe, &terrain);
    assert_eq!(painting.uncovered, 0.0);
    let [low, high] = terrain.min_max();
    // The mean colour at one height.
    let colour_at = |height: f32| {
        let level = terrain.heights().iter().zip(&painting.image.pixels).filter(|(found, _)| **found == height);
        let colours: Vec<[u8; 4]> = level.map(|(_, pixel)| *pixel).collect();
        assert!(colours.len() > 1000, "{} samples at {height} m", colours.len());
        [0, 1, 2].map(|i| colours.iter().map(|colour| f64::from(colour[i])).sum::<f64>() / colours.len() as f64)
    };
    let [red, green, blue] = colour_at(high);
    assert!(green > red && green > blue + 20.0 && green < 180.0, "the colour is {:.0?}", [red, green, blue]);
    let [red, green, blue] = colour_at(low);
    assert!(red > green && green > blue, "the sea floor is {:.0?}", [red, green, blue]);
}

#[test]
fn example_projects_open_and_have_no_problems() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/projects");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        let file = ProjectFile::from_json(&std::fs::read_to_string(&path).expect("text")).expect("valid");
        let recipe = &file.project.recipe;
        let grid = Grid::fitted(recipe.world.extent(), SAMPLES);
        assert_eq!(recipe.check(grid), Ok(()), "{path:?}");
        assert_eq!(file.terrain_changes(|_| None), None, "{path:?}");
        let terrain = preset_terrain(recipe, SAMPLES);
        if recipe.stack.iter().any(|step| step.operation.key() == "symmetry") {
            let (width, height) = (grid.width(), grid.height());
            let turned = Heightfield::from_fn(grid, |c, r| terrain[(width - 1 - c, height - 1 - r)]);
            assert!(turned == terrain, "{path:?} is fair, with its rivers");
        }
        names.push(file.project.name.clone());
    }
    names.sort();
    assert_eq!(
        names,
        [
            "Hidden bases",
            "Highlands",
            "Island fortress",
            "Mountain lake",
            "Mountain pass",
            "Painted crags",
            "Two-player arena"
        ]
    );
}

#[test]
fn no_preset_has_a_step_without_effect_or_one_that_doubles_the_terrain() {
    for preset in presets() {
        assert_eq!(preset.project().expect(preset.name).recipe.warnings(), [], "{}", preset.name);
    }
}
