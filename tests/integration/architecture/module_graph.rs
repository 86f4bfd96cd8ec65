//! Which source file of the library uses which other file.
//!
//! The graph is read from the text. Every path that starts at `crate`, `self`, `super`, an imported module or a child
//! module is followed through imports and re-exports to the file that defines the item. Declaring a module with
//! `mod child;` and importing a module without naming an item in it are not uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module's path from the crate root, such as `["engine", "stack"]`.
type ModulePath = Vec<String>;

/// A use of one file by another, both relative to `src`, and the path as the code has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: String,
    pub to: String,
    pub path: String,
}

struct Module {
    file: String,
    code: String,
    /// The full path behind each imported name.
    imports: BTreeMap<String, Vec<String>>,
    /// The modules whose items are all imported.
    globs: Vec<Vec<String>>,
    /// The names of the items that the file defines.
    items: BTreeSet<String>,
}

pub struct ModuleGraph {
    modules: BTreeMap<ModulePath, Module>,
}

impl ModuleGraph {
    /// Builds the graph of a crate from the paths of its files in `src` and their code without comments and strings.
    pub fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let module = |(file, code): (String, String)| {
            let items = item_names(&code);
            (module_path(&file), Module { file, code, imports: BTreeMap::new(), globs: Vec::new(), items })
        };
        let mut graph = Self { modules: files.into_iter().map(module).collect() };
        let paths: Vec<ModulePath> = graph.modules.keys().cloned().collect();
        for path in paths {
            for (name, written) in use_declarations(&graph.modules[&path].code) {
                let target = graph.absolute(&path, &written);
                let (Some(target), Some(module)) = (target, graph.modules.get_mut(&path)) else { continue };
                if name == "*" {
                    module.globs.push(target);
                } else {
                    module.imports.insert(name, target);
                }
            }
        }
        graph
    }

    /// Every use of another file, in order and without repetitions.
    pub fn edges(&self) -> Vec<Edge> {
        let mut edges = BTreeMap::new();
        for (path, module) in &self.modules {
            for written in paths(&module.code) {
                let Some(file) = self.file_of(path, &written) else { continue };
                if *file != module.file {
                    let key = (module.file.clone(), file.clone());
                    edges.entry(key).or_insert_with(|| written.join("::"));
                }
            }
        }
        edges.into_iter().map(|((from, to), path)| Edge { from, to, path }).collect()
    }

    /// The file that defines what a path in a module's code names; `None` for other crates and for modules themselves.
    fn file_of(&self, module: &ModulePath, written: &[String]) -> Option<&String> {
        let imported = written.first().and_then(|first| self.modules[module].imports.get(first));
        match imported {
            // The import itself was followed to the item already.
            Some(_) if written.len() < 2 => None,
            Some(imported) => self.resolve(&[imported.as_slice(), &written[1..]].concat(), 0),
            None => self.resolve(&self.absolute(module, written)?, 0),
        }
    }

    /// A path in a module's code from the crate root on; `None` if it starts in another crate.
    fn absolute(&self, module: &ModulePath, written: &[String]) -> Option<Vec<String>> {
        let supers = written.iter().take_while(|segment| *segment == "super").count();
        let above = &module[..module.len().saturating_sub(supers)];
        match written.first()?.as_str() {
            "crate" => Some(written[1..].to_vec()),
            "self" if written.get(1).is_some_and(|next| next == "super") => self.absolute(module, &written[1..]),
            "self" => Some([module, &written[1..]].concat()),
            "super" => Some([above, &written[supers..]].concat()),
            first => {
                let child = [module.as_slice(), &[first.to_string()]].concat();
                self.modules.contains_key(&child).then(|| [module, written].concat())
            }
        }
    }

    /// Follows a path from the crate root through imports to the file that defines the item.
    fn resolve(&self, path: &[String], depth: usize) -> Option<&String> {
        let length = (0..=path.len()).rev().find(|&length| self.modules.contains_key(&path[..length]))?;
        let module = &self.modules[&path[..length]];
        let name = path.get(length)?;
        if name == "*" || module.items.contains(name) || depth > 8 {
            return Some(&module.file);
        }
        if let Some(target) = module.imports.get(name) {
            let rest = &path[length + 1..];
            return self.resolve(&[target.as_slice(), rest].concat(), depth + 1);
        }
        let behind_glob = |target: &Vec<String>| {
            let target = self.modules.get(target)?;
            (target.items.contains(name) || target.imports.contains_key(name)).then_some(&target.file)
        };
        module.globs.iter().find_map(behind_glob).or(Some(&module.file))
    }
}

/// The groups of nodes that can all reach each other, those of one node left out.
pub fn cycles(edges: &[Edge]) -> Vec<BTreeSet<String>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in edges {
        next.entry(&edge.from).or_default().push(&edge.to);
    }
    let reached = |start: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for to in next.get(node).into_iter().flatten() {
                if seen.insert(*to) {
                    open.push(to);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|node| (*node, reached(node))).collect();
    let group = |node: &str| -> BTreeSet<String> {
        let mutual = |other: &&&str| all.get(**other).is_some_and(|back| back.contains(node));
        all[node].iter().filter(mutual).map(|other| (*other).to_string()).collect()
    };
    let groups: BTreeSet<BTreeSet<String>> =
        next.keys().map(|node| group(node)).filter(|group| group.len() > 1).collect();
    groups.into_iter().collect()
}

/// All Rust files below a folder, in order.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path()).collect();
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            files.extend(rust_files(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files
}

/// `engine/stack.rs` and `engine/stack/mod.rs` are the module `engine::stack`; `lib.rs` is the root.
fn module_path(file: &str) -> ModulePath {
    let mut parts: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_string).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The code without comments and without the contents of strings. Line numbers stay.
pub fn without_comments_and_strings(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw_string(rest, &kept) {
            let end = format!("\"{}", "#".repeat(hashes));
            rest[hashes + 2..].find(&end).map_or(rest.len(), |at| hashes + 2 + at + end.len())
        } else if character == '"' {
            string_length(rest)
        } else if character == '\'' {
            character_length(rest)
        } else {
            kept.push(character);
            rest = &rest[character.len_utf8()..];
            continue;
        };
        kept.extend(rest[..length].matches('\n'));
        rest = &rest[length..];
    }
    kept
}

/// The number of `#` of a raw string that begins here.
fn raw_string(rest: &str, before: &str) -> Option<usize> {
    let hashes = rest.strip_prefix('r')?.chars().take_while(|character| *character == '#').count();
    (rest[hashes + 1..].starts_with('"') && !before.ends_with(|last| is_name(last) && last != 'b')).then_some(hashes)
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal, or of the quote alone where a lifetime begins.
fn character_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(1, |end| end + 4),
        Some((at, character)) if rest[at + character.len_utf8()..].starts_with('\'') => at + character.len_utf8() + 1,
        _ => 1,
    }
}

/// The code without the items behind `#[cfg(test)]`: tests in a file may use whatever they need.
pub fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let (mut depth, mut length) = (0, rest.len());
        for (i, character) in rest.char_indices() {
            match character {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
            // An item ends with a block or a semicolon, a field or an initialiser with a comma.
            let ends = depth == 0 && (matches!(character, '}' | ';' | ',')) || depth < 0;
            if ends {
                length = if depth < 0 { i } else { i + 1 };
                break;
            }
        }
        rest = &rest[length..];
    }
    kept + rest
}

/// The names that follow the keywords of items.
fn item_names(code: &str) -> BTreeSet<String> {
    const KEYWORDS: [&str; 9] = ["fn", "struct", "enum", "trait", "const", "static", "type", "union", "macro_rules"];
    let words: Vec<&str> = code.split(|character| !is_name(character)).filter(|word| !word.is_empty()).collect();
    let named = words.windows(2).filter(|pair| KEYWORDS.contains(&pair[0]));
    named.map(|pair| pair[1].to_string()).collect()
}

/// The `use` declarations of a file: local names with the paths as written. Globs have the name `*`.
fn use_declarations(code: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for tree in use_trees(code).0 {
        flatten(&tree, &[], &mut found);
    }
    found
}

/// The trees between `use` and `;`, and the code without them.
fn use_trees(code: &str) -> (Vec<String>, String) {
    let (mut trees, mut other) = (Vec::new(), String::new());
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let is_keyword = !rest[..at].ends_with(is_name);
        other.push_str(&rest[..at]);
        rest = &rest[at + 4..];
        if is_keyword {
            let end = rest.find(';').unwrap_or(rest.len());
            trees.push(rest[..end].to_string());
            rest = &rest[end..];
        }
    }
    other.push_str(rest);
    (trees, other)
}

fn flatten(tree: &str, before: &[String], found: &mut Vec<(String, Vec<String>)>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let before = [before, &segments(&tree[..open])].concat();
        let inside = tree[open + 1..].trim_end().trim_end_matches('}');
        let (mut depth, mut start) = (0, 0);
        for (at, character) in inside.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    flatten(&inside[start..at], &before, found);
                    start = at + 1;
                }
                _ => {}
            }
        }
        return flatten(&inside[start..], &before, found);
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim())));
    let mut path = [before, &segments(path)].concat();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let Some(last) = path.last().cloned() else { return };
    if last == "*" {
        path.pop();
    }
    found.push((alias.map_or(last, str::to_string), path));
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(|segment| segment.trim().to_string()).filter(|segment| !segment.is_empty()).collect()
}

/// Every path in the code: those of `use` declarations, and names joined by `::` elsewhere.
fn paths(code: &str) -> Vec<Vec<String>> {
    let (trees, other) = use_trees(code);
    let mut found = Vec::new();
    for tree in trees {
        let mut declared = Vec::new();
        flatten(&tree, &[], &mut declared);
        found.extend(declared.into_iter().map(|(name, mut path)| {
            if name == "*" {
                path.push(name);
            }
            path
        }));
    }
    let mut rest = other.as_str();
    while let Some(start) = rest.find(is_name) {
        rest = &rest[start..];
        let end = rest.find(|character| !is_name(character) && character != ':').unwrap_or(rest.len());
        if rest[..end].contains("::") {
            found.push(segments(&rest[..end]));
        }
        rest = &rest[end..];
    }
    found
}
