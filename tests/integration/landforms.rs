//! What lands are like beside real ones: the forms that they are made of, their roughness and their pits.

use std::sync::Arc;

use serde_json::{Value, json};
use upthrust::engine::analysis::{Summary, hurst_exponent, spectral_slope};
use upthrust::engine::landforms::{Landform, LandformShares, pits_per_thousand};
use upthrust::engine::operations::heightmap::Heightmap;
use upthrust::engine::parameters::FileName;
use upthrust::engine::stack::evaluate;
use upthrust::engine::{Extent, Grid, Heightfield, Inputs, Progress, Recipe, Step};
use upthrust::files::build::load_inputs;

/// The land around the Jacksboro fault: see data/README.md.
fn jacksboro() -> Heightfield {
    let name = FileName("jacksboro.png".into());
    let bytes = include_bytes!("../data/jacksboro.png").to_vec();
    // A value is a height in metres.
    let step = Heightmap { file: name.clone(), low_m: Some(0.0), high_m: Some(65_535.0), ..Default::default() };
    let recipe = Recipe { stack: vec![Step::new(step)], ..Default::default() };
    let inputs = load_inputs(&recipe, &[(name, Arc::new(bytes))].into()).expect("readable");
    let world = Extent { width_m: 74.48 * 402.0, depth_m: 92.77 * 343.0 };
    evaluate(&recipe, Grid::new(world, 403, 344), None, &inputs, &Progress::new()).expect("not cancelled")
}

fn terrain(stack: &Value) -> Heightfield {
    let world = json!({"width_m": 8192, "depth_m": 8192});
    let recipe = Recipe::from_json(&json!({"seed": 5, "world": world, "stack": stack})).expect("a sound recipe");
    let grid = Grid::fitted(recipe.world.extent(), 513);
    evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
}

fn forms(terrain: &Heightfield) -> LandformShares {
    LandformShares::of(terrain, &Progress::new()).expect("not cancelled")
}

#[test]
fn real_land_is_measured_as_others_measure_it() {
    let terrain = jacksboro();
    let forms = forms(&terrain);
    // Made with other programs, at one spacing for both sides.
    let shares = [
        (Landform::Peak, 0.029),
        (Landform::Ridge, 0.145),
        (Landform::Spur, 0.176),
        (Landform::Slope, 0.322),
        (Landform::Hollow, 0.137),
        (Landform::Valley, 0.151),
        (Landform::Pit, 0.030),
    ];
    for (form, expected) in shares {
        let found = forms.share(form);
        assert!((found - expected).abs() <= 0.001, "{}: {found}, not {expected}", form.key());
    }
    let pits = pits_per_thousand(&terrain);
    assert!((pits - 8.7).abs() <= 0.05, "{pits} ‰");
    let hypsometric = Summary::of(&terrain, 8).hypsometric_integral;
    assert!((hypsometric - 0.35).abs() <= 0.005, "{hypsometric}");
    let hurst = hurst_exponent(&terrain).expect("rough land");
    assert!((hurst - 0.59).abs() <= 0.005, "{hurst}");
    // The slope hangs on the square that is chosen, by ±0.05.
    let spectrum = spectral_slope(&terrain, &Progress::new()).expect("not cancelled").expect("rough land");
    assert!((spectrum + 2.97).abs() <= 0.03, "{spectrum}");
}

/// Thousand faults as they rise by themselves, and what makes ranges of them; sizes are those for this world.
fn terrains() -> [(&'static str, Value); 6] {
    let faults = json!({"operation": "faults", "displacement_m": 40, "decay_to_m": 2, "zone_m": 240});
    let plain = json!({"operation": "faults", "displacement_m": 40, "decay_to_m": 2, "profile": "step"});
    let mut carved = faults.clone();
    carved["rivers"] = json!({"hillslope_m": 80, "creep": 0.006});
    let fluvial = json!({"operation": "fluvial_erosion", "uplift_mm": 1.2, "hillslope_m": 80, "creep": 0.006});
    let (thermal, hydraulic) = (json!({"operation": "thermal_erosion"}), json!({"operation": "hydraulic_erosion"}));
    [
        ("plain faults", json!([plain])),
        ("smooth faults", json!([faults])),
        ("with rivers between them", json!([carved])),
        ("rivers", json!([faults, fluvial])),
        ("rivers, then rain", json!([faults, fluvial, hydraulic])),
        ("plain faults, crumbled", json!([plain, thermal])),
    ]
}

#[test]
fn rivers_make_valleys_of_pits() {
    let [(_, plain), _, (_, carved), (_, worn), ..] = terrains();
    let plain = terrain(&plain);
    for stack in [carved, worn] {
        let worn = terrain(&stack);
        assert!(pits_per_thousand(&worn) < 0.25 * pits_per_thousand(&plain), "{stack}");
        let of = |terrain: &Heightfield, form| forms(terrain).share(form);
        assert!(of(&worn, Landform::Pit) < 0.5 * of(&plain, Landform::Pit), "{stack}");
        // Ribs and grooves on the slopes, as on every real range.
        for form in [Landform::Spur, Landform::Hollow] {
            assert!(of(&worn, form) > of(&plain, form), "{}: {stack}", form.key());
        }
    }
}

/// Not a mark: all measures of all these lands.
#[test]
#[ignore = "prints a table"]
fn table() {
    let shown = [
        Landform::Peak,
        Landform::Ridge,
        Landform::Spur,
        Landform::Slope,
        Landform::Hollow,
        Landform::Valley,
        Landform::Pit,
    ];
    let names: String = shown.iter().map(|form| format!("{:>8}", form.key())).collect();
    println!("{:<26}{:>7}{:>9}{:>7}{:>8}{names}", "land", "Hurst", "spectrum", "hyps.", "pits ‰");
    let made = terrains().map(|(name, stack)| (name, terrain(&stack)));
    for (name, terrain) in [("Jacksboro", jacksboro())].into_iter().chain(made) {
        let forms = forms(&terrain);
        let shares: String = shown.iter().map(|form| format!("{:>8.3}", forms.share(*form))).collect();
        println!(
            "{name:<26}{:>7.2}{:>9.2}{:>7.2}{:>8.1}{shares}",
            hurst_exponent(&terrain).unwrap_or_default(),
            spectral_slope(&terrain, &Progress::new()).expect("not cancelled").unwrap_or_default(),
            Summary::of(&terrain, 8).hypsometric_integral,
            pits_per_thousand(&terrain),
        );
    }
}
