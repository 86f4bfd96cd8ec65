//! The rooms of the crate and who may enter: every path that begins with `crate::` (in the program `upthrust::`) is
//! held against the table. Tests within the rooms are under the same rule.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A room, and the rooms that it may use beside itself. `main` is src/main.rs.
const ROOMS: [(&str, &[&str]); 8] = [
    ("engine", &[]),
    ("project", &["engine"]),
    ("files", &["engine"]),
    ("worker", &["engine", "files"]),
    ("scene", &["engine"]),
    ("cli", &["engine", "project", "files", "scene"]),
    ("app", &["engine", "project", "files", "worker", "scene"]),
    ("main", &["cli", "app"]),
];

/// Libraries that open windows: only the editor, the program that starts it, and what is drawn on a graphics card may
/// name them.
const WINDOWING: [&str; 5] = ["egui", "eframe", "rfd", "egui_plot", "egui_tiles"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The Rust files of a room.
fn files_of(room: &str) -> Vec<PathBuf> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        if path.is_dir() {
            let mut entries: Vec<PathBuf> =
                fs::read_dir(path).expect("folder").map(|entry| entry.expect("entry").path()).collect();
            entries.sort();
            entries.iter().for_each(|entry| walk(entry, found));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path.to_path_buf());
        }
    }
    let mut found = Vec::new();
    for path in [source().join(room), source().join(format!("{room}.rs"))] {
        if path.exists() {
            walk(&path, &mut found);
        }
    }
    assert!(!found.is_empty(), "the table has a room without files: {room}");
    found
}

/// The code with every path of `super`s that climbs to the top of the crate written as `crate::`. Modules within a
/// file may climb once more, so more `super`s than the file lies deep count too.
fn without_climbs(path: &Path, code: &str) -> String {
    let inside = path.strip_prefix(source()).unwrap_or(path).with_extension("");
    let depth = inside.iter().filter(|part| *part != "mod").count();
    (depth..10).rev().fold(code.to_string(), |code, steps| code.replace(&"super::".repeat(steps), "crate::"))
}

fn rust_files() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = ROOMS.iter().flat_map(|(room, _)| files_of(room)).collect();
    all.push(source().join("lib.rs"));
    all
}

/// The code without comments and without the contents of text in quotes, line by line.
fn code(text: &str) -> Vec<String> {
    let mut in_text = false;
    text.lines()
        .map(|line| {
            let mut kept = String::new();
            let mut characters = line.chars().peekable();
            while let Some(character) = characters.next() {
                match character {
                    '\\' if in_text => {
                        characters.next();
                    }
                    '\'' if !in_text && characters.peek() == Some(&'"') => {
                        characters.next();
                    }
                    '"' => in_text = !in_text,
                    '/' if !in_text && characters.peek() == Some(&'/') => break,
                    _ if in_text => {}
                    _ => kept.push(character),
                }
            }
            kept
        })
        .collect()
}

/// The first names after `root::` in the code, also in a group as in `use crate::{engine, files::Format}`.
fn names_after(root: &str, code: &str) -> Vec<String> {
    let start = format!("{root}::");
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let mut names = Vec::new();
    for (at, _) in code.match_indices(&start) {
        if code[..at].ends_with(is_name) || code[..at].ends_with("::") {
            continue;
        }
        let rest = code[at + start.len()..].trim_start();
        let Some(group) = rest.strip_prefix('{') else {
            names.push(rest.chars().take_while(|&character| is_name(character)).collect());
            continue;
        };
        let mut depth = 0;
        let mut name = String::new();
        for character in group.chars() {
            match character {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => names.push(std::mem::take(&mut name)),
                _ if depth == 0 => name.push(character),
                _ => {}
            }
        }
        names.push(name);
    }
    let first = |name: &String| name.trim().chars().take_while(|&character| is_name(character)).collect::<String>();
    names.iter().map(first).filter(|name| !name.is_empty()).collect()
}

#[test]
fn no_room_enters_another_that_it_may_not() {
    let rooms: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    let mut wrong = Vec::new();
    for (room, may_use) in ROOMS {
        for path in files_of(room) {
            let code = code(&fs::read_to_string(&path).expect("source")).join("\n");
            let code = without_climbs(&path, &code);
            let mut used = names_after("crate", &code);
            used.extend(names_after("upthrust", &code));
            for name in used {
                let is_room = rooms.contains(&name.as_str());
                if is_room && name != room && !may_use.contains(&name.as_str()) {
                    wrong.push(format!("{} enters {name}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_has_its_row_in_the_table() {
    for entry in fs::read_dir(source()).expect("src") {
        let path = entry.expect("entry").path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(name == "lib" || ROOMS.iter().any(|(room, _)| *room == name), "src/{name} is not in the table");
    }
}

#[test]
fn only_what_is_drawn_names_windowing_libraries() {
    let mut wrong = Vec::new();
    for (room, _) in ROOMS.iter().filter(|(room, _)| !["app", "main", "scene"].contains(room)) {
        for path in files_of(room) {
            let code = code(&fs::read_to_string(&path).expect("source")).join("\n");
            let words: Vec<&str> =
                code.split(|character: char| !character.is_alphanumeric() && character != '_').collect();
            let named = WINDOWING.iter().filter(|library| words.contains(library));
            wrong.extend(named.map(|library| format!("{} names {library}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_allowance_says_why() {
    let mut wrong = Vec::new();
    for path in rust_files() {
        let text = fs::read_to_string(&path).expect("source");
        let lines: Vec<&str> = text.lines().collect();
        for (i, code) in code(&text).iter().enumerate() {
            let allows = ["#[allow", "#![allow", "#[expect", "#![expect"].iter().any(|start| code.contains(start));
            let reason = lines[i].contains("//")
                || lines[i].contains("reason =")
                || i > 0 && lines[i - 1].trim_start().starts_with("//");
            if allows && !reason {
                wrong.push(format!("{}:{}: {}", path.display(), i + 1, lines[i].trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "allowances without a reason on the same line or the one before:\n{}", wrong.join("\n"));
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
            println!("SKIPPED: {cargo} cannot be run: {error}");
            return;
        }
    };
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
    let packages: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(packages.contains(&"upthrust") && packages.contains(&"rayon"), "{tree}");
    let windows = |package: &&&str| {
        WINDOWING.contains(*package) || ["winit", "wgpu"].contains(*package) || package.starts_with("egui")
    };
    let found: Vec<&&str> = packages.iter().filter(windows).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_reader_of_paths_sees_what_it_should() {
    let text = "use crate::engine::{a, b}; // crate::app\nlet x = \"crate::cli\"; crate::files::read();\nuse crate::{project, worker::{Job, Done}, engine};";
    let code = code(text).join("\n");
    assert_eq!(names_after("crate", &code), ["engine", "files", "project", "worker", "engine"]);
    assert!(names_after("crate", "pub(crate) fn f() {} $crate::engine").contains(&"engine".to_string()));
    assert!(names_after("crate", "mycrate::app other::crate::app").is_empty());
    let above = |path: &str, code: &str| names_after("crate", &without_climbs(&source().join(path), code));
    assert_eq!(above("cli/mod.rs", "use super::{app, worker};"), ["app", "worker"]);
    assert_eq!(above("files/heightmap/mod.rs", "use super::super::app; use super::texture;"), ["app"]);
    assert_eq!(above("files/heightmap/raw.rs", "use super::super::super::app::x;"), ["app"]);
    assert_eq!(above("engine/stack.rs", "super::super::super::app"), ["app"]);
}
