//! Every target.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use super::blender::BLENDER;
use super::cryengine::CRYENGINE;
use super::generic::GENERIC;
use super::godot_plugin::GODOT_PLUGIN;
use super::list::{ALL, from_key};
use super::target::{Checked, Target};
use super::terrain3d::TERRAIN3D;
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
        let of_water = |steps: &[String]| steps.iter().filter(|step| step.contains("water level")).count();
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
fn textures_of_engines_that_stream_them_have_powers_of_two() {
    let oblong = Extent { width_m: 4000.0, depth_m: 1900.0 };
    assert_eq!(UNREAL.texture_size(oblong, 1000, [1, 1]), [1024, 512]);
    assert_eq!(UNREAL.texture_size(oblong, 1024, [3, 2]), [3 * 512, 2 * 256]);
    assert_eq!(UNITY.texture_size(Extent { width_m: 1.0, depth_m: 1.0 }, 2048, [1, 1]), [2048, 2048]);
    assert_eq!(BLENDER.texture_size(oblong, 1000, [3, 1]), [1002, 475], "the world's proportions");
    assert!(UNREAL.can_stream([1536, 512], [3, 2]) && !UNREAL.can_stream([1000, 512], [1, 1]));
    assert!(BLENDER.can_stream([1000, 475], [1, 1]));
    let streaming: Vec<&str> = ALL.iter().filter(|target| target.streams_textures).map(|target| target.key).collect();
    assert_eq!(streaming, ["unity", "unreal", "o3de", "cryengine"]);
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
    // 400 steps of the longer side are four tiles, but the 267 of the shorter one are not two.
    let oblong = Extent { width_m: 3000.0, depth_m: 2000.0 };
    let refused = GENERIC.check(GENERIC.grid(oblong, 401, [4, 2]), [4, 2]).expect_err("not divisible");
    let nearest = GENERIC.nearest(oblong, 401, [4, 2]);
    assert!(refused.ends_with(&format!("the nearest is --size {nearest}")), "{refused}");
    assert!(GENERIC.check(GENERIC.grid(oblong, nearest, [4, 2]), [4, 2]).is_ok());
    let refused = UNITY.check(Grid::new(oblong, 1000, 1000), [1, 1]).expect_err("no power of two");
    assert!(refused.contains("1000 × 1000") && refused.ends_with("--size 1025"), "{refused}");
}

#[test]
fn a_size_that_keeps_the_proportions_is_found() {
    let square = Extent { width_m: 4096.0, depth_m: 4096.0 };
    assert_eq!(TERRAIN3D.undistorted(square, 1025, [1, 1]), None);
    // Columns of multiples of 192 samples and rows of multiples of 128 have the same length at multiples of 384.
    assert_eq!(TERRAIN3D.undistorted(square, 1025, [3, 2]), Some((1152, [3, 2])));
    // Square tiles of a square world have to be as many along both sides.
    assert_eq!(CRYENGINE.undistorted(square, 1025, [3, 2]), Some((1023, [2, 2])));
    assert_eq!(BLENDER.undistorted(square, 1025, [3, 2]), None, "it takes any proportions");
}

#[test]
fn every_file_of_the_helpers_is_shipped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/helpers/godot/addons/upthrust");
    let shipped: BTreeSet<&str> = GODOT_PLUGIN.iter().filter_map(|file| file.path.rsplit('/').next()).collect();
    for entry in std::fs::read_dir(folder).expect("the plugin") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        assert!(shipped.contains(name.as_str()), "{name} is not in the list of the plugin's files");
    }
}

/// Set to write the pages instead of comparing them.
const UPDATE: &str = "UPTHRUST_UPDATE_DOCS";

/// The page of a target in docs/targets.
fn page(target: &Target) -> String {
    let mut page = format!("# {}\n\n", target.label);
    let mut line = |text: String| writeln!(page, "{text}").expect("a string takes everything");
    line(format!("`upthrust build PROJECT --for {} -o FOLDER`, or File > Export…\n", target.key));
    line(match target.checked {
        Checked::Run { .. } => {
            format!(
                "{}: the steps below were followed, and every height was compared.",
                target.checked.describe(target.label)
            )
        }
        Checked::NotRun => format!("{}. If a step is wrong, please report it.", target.checked.describe(target.label)),
    });
    line(format!("\n- Files: {}, and `upthrust.json`, which describes the export to programs", target.file_names()));
    line(format!("- Sizes: {}", target.sizes.describe()));
    if let Some(side_m) = target.side_m {
        line(format!("- The terrain is always {side_m} × {side_m} m"));
    }
    if let Some(range_m) = target.range_m {
        line(format!("- Heights always range from {} to {} m", range_m.min, range_m.max));
    }
    let [min_m, max_m] = target.spacing_limits_m;
    if max_m.is_finite() {
        line(format!("- Metres between samples: {min_m} to {max_m}"));
    } else if !target.spacings_m.is_empty() {
        let spacings: Vec<String> = target.spacings_m.iter().map(f64::to_string).collect();
        line(format!("- Metres between samples: {}", spacings.join(", ")));
    }
    if let Some(max) = target.max_layers {
        line(format!(
            "- Terrain types: at most {max}; the weights of others are added to those with the nearest colours"
        ));
    }
    for field in target.fields {
        line(format!("- {}: {} to {}", field.name, field.accepts[0], field.accepts[1]));
    }
    let side_m = target.side_m.unwrap_or(4096.0);
    let extent = Extent { width_m: side_m, depth_m: side_m };
    let grid = target.grid(extent, target.nearest(extent, 1025, [1, 1]), [1, 1]);
    let layers = ["Rock".to_string(), "Grass".to_string()];
    let range_m = target.range_m.unwrap_or(Band { min: 100.0, max: 900.0 });
    let file = target.heightmaps.first().map_or("", |(name, _)| *name);
    let facts =
        ImportFacts { file, grid, range_m, is_estimate: false, water_m: Some(150.0), tiles: None, layers: &layers };
    let size = format!("{} × {} m, {} × {} samples", extent.width_m, extent.depth_m, grid.width(), grid.height());
    line(format!(
        "\n## Import\n\nThe steps for a terrain of {size}, from {} to {} m. Each export lists them with its own",
        range_m.min, range_m.max
    ));
    line("numbers, in the export window and in the sidecar of its heightmap.\n".into());
    for (at, step) in target.steps(&facts).iter().enumerate() {
        let step = step.strip_prefix(&format!("{}: ", target.label)).unwrap_or(step);
        let step = step
            .strip_prefix(&format!("{}, not verified: ", target.label))
            .map_or(step.into(), |what| format!("Not verified: {what}"));
        line(format!("{}. {step}", at + 1));
    }
    if let Some(readme) = target.helper.iter().find(|file| file.path.ends_with(".md")) {
        line(format!("\n## Helper\n\n`{}` is written beside the export.\n", readme.path));
        line(as_section(readme.contents));
    }
    page
}

/// A README as a section of a page: without its title, and its headings one level deeper.
fn as_section(readme: &str) -> String {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in readme.lines() {
        is_code ^= line.starts_with("```");
        match line.strip_prefix('#').filter(|_| !is_code) {
            Some(rest) if rest.starts_with('#') => lines.push(format!("##{rest}")),
            Some(_) => {}
            None => lines.push(line.into()),
        }
    }
    lines.join("\n").trim().into()
}

/// The levels of the headings of a page.
fn heading_levels(page: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut levels = Vec::new();
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        let level = line.chars().take_while(|c| *c == '#').count();
        if level > 0 && !is_code {
            levels.push(level);
        }
    }
    levels
}

#[test]
fn the_headings_of_the_pages_of_targets_are_nested() {
    let readme = "# A\n\nB\n\n## C\n\n```sh\n# D\n```\n";
    assert_eq!(as_section(readme), "B\n\n### C\n\n```sh\n# D\n```");
    for target in ALL {
        let levels = heading_levels(&page(target));
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{}", target.key);
        assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{}: {levels:?}", target.key);
    }
}

#[test]
fn the_pages_of_the_targets_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/targets");
    let mut index = "# Export targets\n\n| target | program | checked |\n|---|---|---|\n".to_string();
    for target in ALL {
        let checked = target.checked.describe(target.label);
        writeln!(index, "| `{}` | [{}]({}.md) | {checked} |", target.key, target.label, target.key).expect("written");
    }
    let pages = ALL.iter().map(|target| (format!("{}.md", target.key), page(target)));
    for (name, text) in pages.chain([("README.md".to_string(), index)]) {
        let path = folder.join(&name);
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(&folder).expect("created");
            std::fs::write(&path, &text).expect("written");
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
        assert_eq!(written, text, "docs/targets/{name} is not current; set {UPDATE} to write it");
    }
}
