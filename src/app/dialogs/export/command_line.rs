//! The command line that makes the same export.

use std::ffi::OsString;
use std::path::Path;

use crate::files::export::Order;
use crate::files::targets::Target;

/// The command that builds a saved project as the dialog would export it into `folder`.
pub(super) fn command_line(
    project: &Path,
    target: Option<&Target>,
    folder: &Path,
    order: &Order,
    overwrite: bool,
) -> String {
    let option = |name: &str, value: OsString| [name.into(), value];
    let size = |[width, height]: [usize; 2]| format!("{width}x{height}").into();
    let mut words: Vec<OsString> = vec!["upthrust".into(), "build".into(), project.into()];
    match target {
        Some(target) => {
            words.extend(option("--for", target.key.into()));
            words.extend(option("-o", folder.into()));
            words.extend(option("--size", order.grid.width().max(order.grid.height()).to_string().into()));
        }
        None => {
            words.extend(order.heightmaps.iter().flat_map(|map| option("--heightmap", map.path.clone().into())));
            words.extend(option("--size", size([order.grid.width(), order.grid.height()])));
        }
    }
    if let Some(texture) = &order.texture {
        if target.is_none() {
            words.extend(option("--texture", texture.path.clone().into()));
        }
        if target.is_none_or(|target| !target.texture_at_samples) {
            words.extend(option("--texture-size", size(texture.size)));
        }
    }
    if let Some(tiles) = order.tiles {
        words.extend(option("--tiles", size(tiles.counts)));
    }
    if overwrite {
        words.push("--force".into());
    }
    words.iter().map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@".contains(c) || (cfg!(windows) && c == '\\');
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_if_a_shell_would_split_or_expand_them() {
        assert_eq!(quoted("a/b-c_1.json"), "a/b-c_1.json");
        if cfg!(not(windows)) {
            assert_eq!(quoted("Alpine range (2)"), "'Alpine range (2)'");
            assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
            assert_eq!(quoted(""), "''");
        }
    }
}
