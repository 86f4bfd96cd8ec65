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
    // A target writes what it takes.
    let scattered = order.scatter.iter().filter(|_| target.is_none()).flat_map(|scatter| &scatter.files);
    words.extend(scattered.flat_map(|path| option("--scatter", path.clone().into())));
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
    use crate::engine::{Grid, Recipe};
    use crate::files::export::ScatterOrder;

    #[test]
    fn what_is_scattered_is_written_too() {
        let recipe = Recipe::default();
        let grid = Grid::fitted(recipe.world.extent(), 65);
        let scatter = Some(ScatterOrder { files: vec!["out/a_scatter.csv".into()], ..ScatterOrder::default() });
        let order = Order { scatter, ..Order::new("a", recipe, grid) };
        let line = command_line(Path::new("a.json"), None, Path::new("out"), &order, false);
        assert_eq!(line, "upthrust build a.json --size 65x65 --scatter out/a_scatter.csv");
    }

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
