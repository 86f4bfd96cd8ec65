//! Landforms, roughness and pits of generated terrain, compared with real terrain.

use serde_json::{Value, json};
use upthrust::engine::analysis::{Summary, hurst_exponent, spectral_slope};
use upthrust::engine::landforms::{Landform, LandformShares, pits_per_thousand};
use upthrust::engine::stack::evaluate;
use upthrust::engine::{Grid, Heightfield, Inputs, Progress, Recipe};

use crate::common::jacksboro;

fn terrain(stack: &Value) -> Heightfield {
    let world = json!({"width_m": 8192, "depth_m": 8192});
    let recipe = Recipe::from_json(&json!({"seed": 5, "world": world, "stack": stack})).expect("a valid recipe");
    let grid = Grid::fitted(recipe.world.extent(), 513);
    evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
}

fn forms(terrain: &Heightfield) -> LandformShares {
    LandformShares::of(terrain, &Progress::new()).expect("not cancelled")
}

#[test]
fn measurements_of_real_terrain_agree_with_other_programs() {
    let terrain = jacksboro();
    let forms = forms(&terrain);
    // Computed with other programs, with the same spacing along both axes.
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
    let hurst = hurst_exponent(&terrain).expect("rough terrain");
    assert!((hurst - 0.59).abs() <= 0.005, "{hurst}");
    // The slope depends on the chosen square by ±0.05.
    let spectrum = spectral_slope(&terrain, &Progress::new()).expect("not cancelled").expect("rough terrain");
    assert!((spectrum + 2.97).abs() <= 0.03, "{spectrum}");
}

/// A thousand faults alone and with each kind of erosion, with lengths that suit this world.
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
fn rivers_replace_pits_with_valleys() {
    let [(_, plain), _, (_, carved), (_, eroded), ..] = terrains();
    let plain = terrain(&plain);
    for stack in [carved, eroded] {
        let eroded = terrain(&stack);
        assert!(pits_per_thousand(&eroded) < 0.25 * pits_per_thousand(&plain), "{stack}");
        let share = |terrain: &Heightfield, form| forms(terrain).share(form);
        assert!(share(&eroded, Landform::Pit) < 0.5 * share(&plain, Landform::Pit), "{stack}");
        // Real ranges have more spurs and hollows than faults alone.
        for form in [Landform::Spur, Landform::Hollow] {
            assert!(share(&eroded, form) > share(&plain, form), "{}: {stack}", form.key());
        }
    }
}

/// Prints all measurements of all terrains.
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
    println!("{:<26}{:>7}{:>9}{:>7}{:>8}{names}", "terrain", "Hurst", "spectrum", "hyps.", "pits ‰");
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
