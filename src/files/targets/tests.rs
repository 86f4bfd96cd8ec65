//! Every target.

use std::collections::BTreeSet;

use super::blender::BLENDER;
use super::cryengine::CRYENGINE;
use super::generic::GENERIC;
use super::list::{ALL, from_key};
use super::target::Target;
use super::unity::UNITY;
use super::unreal::UNREAL;
use crate::engine::Grid;
use crate::engine::heightfield::Extent;
use crate::engine::parameters::Band;
use crate::engine::texture::TextureRecipe;
use crate::files::export::{ImportFacts, ImportGuide};

#[test]
fn keys_are_unique_and_every_target_has_import_steps() {
    let keys: BTreeSet<&str> = ALL.iter().map(|target| target.key).collect();
    assert_eq!(keys.len(), ALL.len());
    // Numbers with many digits.
    let grid = Grid::new(Extent { width_m: 4097.123456, depth_m: 4099.7654321 }, 1009, 1009);
    let layers = ["Rock".to_string(), "Snow".to_string()];
    for target in ALL {
        let range_m = Band { min: -100.123456789, max: 924.987654321 };
        let (file, layers, water_m) = ("height", &layers[..], Some(12.3456789));
        let facts = ImportFacts { file, grid, range_m, is_estimate: false, water_m, tiles: None, layers };
        let steps = target.steps(&facts);
        assert!(!steps.is_empty(), "{}", target.key);
        assert!(steps.iter().all(|step| step.starts_with(target.label) && step.ends_with('.')), "{steps:?}");
        let of_water = |steps: &[String]| steps.iter().filter(|step| step.contains("water level is")).count();
        assert_eq!(of_water(&steps), 1, "{steps:?}");
        assert_eq!(of_water(&target.steps(&ImportFacts { water_m: None, ..facts.clone() })), 0);
        let text = steps.join(" ");
        assert!(!text.contains("tile") && !text.contains("about"), "{text}");
        // Four decimal places, or seven digits for a scale.
        let is_short = |number: &str| {
            let places = number.split_once('.').map_or(0, |(_, places)| places.len());
            places <= 4 || number.trim_start_matches(['0', '.']).len() <= 8
        };
        let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|part| part.trim_end_matches('.'));
        assert!(numbers.clone().count() > 5 && numbers.clone().all(is_short), "{text}");
        let is_marked = target.steps(&ImportFacts { is_estimate: true, ..facts }) != steps;
        assert!(
            is_marked || target.range_m.is_some(),
            "{}: numbers that depend on heights are marked as approximate",
            target.key
        );
        assert!(!target.line().is_empty() && from_key(target.key) == Some(target));
    }
}

#[test]
fn non_square_cells_are_warned_about_if_unsupported() {
    let warned = |target: &Target, size: [usize; 2]| {
        let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 2048.0 }, size[0], size[1]);
        !target.warnings(grid, &TextureRecipe::default()).is_empty()
    };
    assert!(warned(&CRYENGINE, [513, 513]) && !warned(&CRYENGINE, [513, 257]));
    assert!(warned(&CRYENGINE, [257, 129]), "16 m is more than any unit");
    assert!(!warned(&BLENDER, [513, 513]), "Blender's dimensions are set for each side");
}

#[test]
fn grids_fit_the_target_with_tiles_and_oblong_worlds() {
    let oblong = Extent { width_m: 4000.0, depth_m: 1900.0 };
    let size = |grid: Grid| [grid.width(), grid.height()];
    assert_eq!(size(UNITY.grid(oblong, 513, [1, 1])), [513, 513]);
    assert_eq!(size(UNITY.grid(oblong, 1025, [2, 1])), [1025, 513]);
    assert_eq!(UNITY.nearest(oblong, 1000, [4, 4]), 1025);
    let unreal = UNREAL.grid(oblong, 1009, [1, 1]);
    assert!(unreal.width() == 1009 && UNREAL.check(unreal, [1, 1]).is_ok(), "{unreal:?}");
    assert_eq!(size(GENERIC.grid(oblong, 401, [1, 1])), [401, 191]);
    let refused = UNITY.check(Grid::new(oblong, 1000, 1000), [1, 1]).expect_err("no power of two");
    assert!(refused.contains("1000 × 1000") && refused.ends_with("--size 1025"), "{refused}");
}
