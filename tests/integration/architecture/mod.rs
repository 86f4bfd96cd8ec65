//! Rules about the source files: layers, import cycles, file length and windowing libraries.

mod module_graph;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::module_graph::{Edge, ModuleGraph, cycles, rust_files, without_comments_and_strings, without_tests};

/// Every top-level module with the other top-level modules that it may use, besides the engine. The engine, a package of
/// its own, cannot use any of them.
const LAYERS: [(&str, &[&str]); 7] = [
    ("project", &[]),
    ("files", &["project"]),
    ("worker", &["files"]),
    ("scene", &[]),
    ("cli", &["project", "files", "scene"]),
    ("app", &["project", "files", "worker", "scene"]),
    ("main", &["cli", "app", "files"]),
];

/// The folder of the engine's package.
const ENGINE: &str = "engine/";

/// The maximum number of lines of a file.
const MAX_LINES: usize = 700;

/// Libraries that open windows. Only the editor and the program that starts it may use them.
const WINDOWING: [&str; 5] = ["egui", "eframe", "rfd", "egui_plot", "egui_tiles"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The paths and texts of all source files, relative to `src`.
fn sources() -> Vec<(String, String)> {
    let relative = |path: PathBuf| {
        let name = path.strip_prefix(source()).expect("a file in src").to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(&path).expect("source"))
    };
    rust_files(&source()).into_iter().map(relative).collect()
}

/// The files of the engine, relative to its folder, and all others.
fn packages() -> [Vec<(String, String)>; 2] {
    let (engine, program): (Vec<_>, Vec<_>) = sources().into_iter().partition(|(file, _)| file.starts_with(ENGINE));
    let within = |(file, text): (String, String)| (file[ENGINE.len()..].to_string(), text);
    [engine.into_iter().map(within).collect(), program]
}

/// The top-level module that a file belongs to: `files/io/error.rs` to `files`.
fn layer(file: &str) -> &str {
    file.split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

fn describe(edges: &[&Edge]) -> String {
    edges.iter().map(|edge| format!("  {} -> {} ({})", edge.from, edge.to, edge.path)).collect::<Vec<_>>().join("\n")
}

#[test]
fn modules_use_only_the_layers_below_them() {
    // The program is a crate of its own and names the library by its name.
    let code = |text: &str| without_comments_and_strings(text).replace("upthrust::", "crate::");
    let [_, program] = packages();
    let files = program.into_iter().map(|(file, text)| (file, code(&text)));
    let edges = ModuleGraph::new(files).edges();
    let is_allowed = |edge: &&Edge| {
        let (from, to) = (layer(&edge.from), layer(&edge.to));
        let row = LAYERS.iter().find(|(name, _)| *name == from);
        // lib.rs only declares the modules.
        from == to || to == "lib" || row.is_some_and(|(_, may_use)| may_use.contains(&to))
    };
    let wrong: Vec<&Edge> = edges.iter().filter(|edge| !is_allowed(edge)).collect();
    assert!(wrong.is_empty(), "uses across layers:\n{}", describe(&wrong));
}

#[test]
fn every_top_level_module_has_a_layer() {
    let [engine, program] = packages();
    assert!(engine.iter().any(|(file, _)| file == "lib.rs"), "the engine is elsewhere");
    for (file, _) in program {
        let layer = layer(&file);
        assert!(layer == "lib" || LAYERS.iter().any(|(name, _)| *name == layer), "{layer} is not in LAYERS");
    }
}

#[test]
fn files_do_not_import_each_other_in_cycles() {
    let code = |text: &str| without_tests(&without_comments_and_strings(text));
    let mut found = Vec::new();
    for package in packages() {
        let files = package.into_iter().filter(|(file, _)| file != "main.rs").map(|(file, text)| (file, code(&text)));
        let edges = ModuleGraph::new(files).edges();
        for cycle in cycles(&edges) {
            let inside: Vec<&Edge> =
                edges.iter().filter(|edge| cycle.contains(&edge.from) && cycle.contains(&edge.to)).collect();
            found.push(format!("{} files:\n{}", cycle.len(), describe(&inside)));
        }
    }
    assert!(found.is_empty(), "import cycles:\n{}", found.join("\n"));
}

#[test]
fn files_are_not_too_long() {
    let is_too_long = |(_, text): &(String, String)| text.lines().count() > MAX_LINES;
    let long: Vec<String> = sources().into_iter().filter(is_too_long).map(|(file, _)| file).collect();
    assert!(long.is_empty(), "files of more than {MAX_LINES} lines: {long:?}");
}

#[test]
fn only_the_editor_uses_windowing_libraries() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        if ["app", "main"].contains(&layer(&file)) {
            continue;
        }
        let code = without_comments_and_strings(&text);
        let words: Vec<&str> = code.split(|character: char| !character.is_alphanumeric() && character != '_').collect();
        let used = WINDOWING.iter().filter(|library| words.contains(library));
        wrong.extend(used.map(|library| format!("{file} uses {library}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_build_without_the_editor_has_no_windowing_library() {
    let cargo = std::env::var("CARGO").unwrap_or(env!("CARGO").into());
    let tree = Command::new(&cargo)
        .args(["tree", "--offline", "--no-default-features", "-e", "normal", "--prefix", "none"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let tree = match tree {
        Ok(tree) => tree,
        Err(error) => {
            println!("SKIPPED: {cargo} does not run: {error}");
            return;
        }
    };
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let packages: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(packages.contains(&"upthrust") && packages.contains(&"rayon"), "{tree}");
    let opens_windows = |package: &&&str| {
        WINDOWING.contains(*package)
            || ["winit", "wayland-client", "wayland-sys", "x11rb"].contains(*package)
            || package.starts_with("egui")
    };
    let found: Vec<&&str> = packages.iter().filter(opens_windows).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// The edges of a crate of these files, as "from -> to".
fn edges_of(files: &[(&str, &str)]) -> Vec<String> {
    let code = |text: &str| without_tests(&without_comments_and_strings(text));
    let graph = ModuleGraph::new(files.iter().map(|(file, text)| ((*file).to_string(), code(text))));
    graph.edges().into_iter().map(|edge| format!("{} -> {}", edge.from, edge.to)).collect()
}

#[test]
fn uses_are_found_in_imports_and_paths() {
    let library = ("lib.rs", "pub mod a; pub mod b;");
    let item = ("b.rs", "pub fn f() {} pub struct S;");
    for code in [
        "use crate::b::f;",
        "use super::b::{S, f as g};",
        "fn g() { crate::b::f() }",
        "use crate::b; fn g() { b::f() }",
        "use crate::{b::{self, S}};",
        "use crate::b::*;",
        "impl T for crate::b::S {}",
    ] {
        assert_eq!(edges_of(&[library, ("a.rs", code), item]), ["a.rs -> b.rs"], "{code}");
    }
    for code in [
        "// crate::b::f()",
        "const T: &str = \"crate::b::f\"; const R: &str = r#\"\" crate::b::f\"#;",
        "use crate::b;",
        "use other::b::f; fn g() { other::crate_b::f() }",
        "#[cfg(test)] mod tests { use crate::b::f; }",
        "fn g<'a>(_: &'a str) -> char { '\"' } // crate::b::f()",
    ] {
        assert_eq!(edges_of(&[library, ("a.rs", code), item]), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn re_exports_lead_to_the_file_that_defines_the_item() {
    let files = [
        ("lib.rs", "mod a; mod user;"),
        ("a/mod.rs", "mod inner; pub use self::inner::Item; pub fn own() {}"),
        ("a/inner.rs", "pub struct Item;"),
        ("user.rs", "use crate::a::{Item, own};"),
    ];
    assert_eq!(edges_of(&files), ["a/mod.rs -> a/inner.rs", "user.rs -> a/inner.rs", "user.rs -> a/mod.rs"]);
}

#[test]
fn cycles_are_groups_of_files_that_reach_each_other() {
    let edge = |from: &str, to: &str| Edge { from: from.into(), to: to.into(), path: String::new() };
    let edges = [edge("a", "b"), edge("b", "c"), edge("c", "a"), edge("c", "d"), edge("d", "e"), edge("e", "f")];
    let expected: Vec<String> = ["a", "b", "c"].map(String::from).into();
    assert_eq!(
        cycles(&edges).into_iter().map(|group| group.into_iter().collect::<Vec<_>>()).collect::<Vec<_>>(),
        [expected]
    );
    assert!(cycles(&edges[3..]).is_empty());
}
