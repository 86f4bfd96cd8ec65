//! Settings that persist between sessions: theme, scale, layout, recent files.
//!
//! If they cannot be read, the editor shows an error and starts with the defaults.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use egui::ThemePreference;
use egui_tiles::{Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::dialogs::file_dialogs::DialogKind;
use crate::app::panels::analysis::Section;
use crate::app::views::View;
use crate::engine::cast::ToFloat;
use crate::files::io::read::read_regular;

/// The folders for settings and recovery files. `None`: nothing is saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserFolders {
    /// Settings and the user's presets.
    pub(crate) config: Option<PathBuf>,
    /// Unsaved projects, for recovery after a crash.
    pub(crate) state: Option<PathBuf>,
}

impl UserFolders {
    /// Returns the folders of the current user: XDG base directories, Application Support, or AppData.
    pub(crate) fn for_user() -> Self {
        let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || std::env::home_dir().filter(|home| home.is_absolute());
        if cfg!(windows) {
            let folder = |variable| named(variable).map(|folder| folder.join("Upthrust"));
            Self { config: folder("APPDATA"), state: folder("LOCALAPPDATA") }
        } else if cfg!(target_os = "macos") {
            let folder = home().map(|home| home.join("Library/Application Support/Upthrust"));
            Self { config: folder.clone(), state: folder }
        } else {
            let folder = |variable, usual: &str| {
                let base = named(variable).or_else(|| home().map(|home| home.join(usual)));
                base.map(|base| base.join("upthrust"))
            };
            Self { config: folder("XDG_CONFIG_HOME", ".config"), state: folder("XDG_STATE_HOME", ".local/state") }
        }
    }

    pub(crate) fn settings_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|folder| folder.join("settings.json"))
    }
}

/// The scales of the interface in the menu, in percent.
pub(crate) const SCALES: [u32; 8] = [75, 90, 100, 110, 125, 150, 175, 200];

/// The number of recent files to remember.
const MAX_RECENT: usize = 12;

/// The most bytes to read of a settings file.
const MAX_BYTES: u64 = 1 << 20;

/// The most recent folders that a file dialog offers.
const MAX_RECENT_FOLDERS: usize = 8;

/// The contents of the settings file. Unknown keys are ignored: a newer version may have written them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    pub(crate) theme: ThemePreference,
    pub(crate) scale_percent: u32,
    /// Whether files are chosen in the editor's own windows even where the desktop has some.
    pub(crate) own_file_windows: bool,
    /// The layout of the views, as `egui_tiles` serialises it.
    layout: Value,
    /// The maximised view.
    pub(crate) maximised: Option<View>,
    /// Projects opened or saved, newest first.
    pub(crate) recent: Vec<PathBuf>,
    /// The files chosen last, by the key of their kind: dialogs begin where they are.
    chosen: BTreeMap<String, PathBuf>,
    /// The names of dismissed hints.
    pub(crate) hints_seen: BTreeSet<String>,
    /// Whether the side panels are shown.
    pub(crate) shows_left: bool,
    pub(crate) shows_right: bool,
    /// Whether the left panel shows the history.
    pub(crate) shows_history: bool,
    /// The titles of the expanded sections of the analysis.
    pub(crate) unfolded: BTreeSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: ThemePreference::System,
            scale_percent: 100,
            own_file_windows: false,
            layout: Value::Null,
            maximised: None,
            recent: Vec::new(),
            chosen: BTreeMap::new(),
            hints_seen: BTreeSet::new(),
            shows_left: true,
            shows_right: true,
            shows_history: false,
            unfolded: BTreeSet::from([Section::Heights.title().into()]),
        }
    }
}

impl Settings {
    /// Reads the settings file. Returns the defaults if there is none, and also an error message if it is unreadable.
    pub(crate) fn read(path: &Path) -> (Self, Option<String>) {
        let parsed = match read_regular(path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (Self::default(), None),
            Err(error) => Err(error.to_string()),
            Ok(text) => serde_json::from_slice::<Self>(&text).map_err(|error| error.to_string()),
        };
        match parsed {
            Ok(mut settings) => {
                settings.scale_percent = settings.scale_percent.clamp(SCALES[0], SCALES[SCALES.len() - 1]);
                settings.recent.truncate(MAX_RECENT);
                (settings, None)
            }
            Err(reason) => {
                let error = format!("cannot read the settings in {} ({reason}); using the defaults", path.display());
                (Self::default(), Some(error))
            }
        }
    }

    /// Applies theme and scale to the window.
    pub(crate) fn apply(&self, ctx: &egui::Context) {
        ctx.set_theme(self.theme);
        ctx.set_zoom_factor(self.scale_percent.to_f32() / 100.0);
        // The settings would not include the scale set by egui's own shortcuts.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
    }

    /// Returns the text of the settings file.
    pub(crate) fn to_json(&self) -> String {
        // Only paths that are not valid Unicode could fail to serialise, and `add_recent` ignores those.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Stores the layout of the views.
    pub(crate) fn set_layout(&mut self, tree: &Tree<View>) {
        self.layout = serde_json::to_value(tree).unwrap_or_default();
    }

    /// Returns the stored layout, if it is valid and contains every view once.
    pub(crate) fn layout(&self) -> Option<Tree<View>> {
        let tree = serde_json::from_value::<Tree<View>>(self.layout.clone()).ok()?;
        let root = tree.root?;
        is_complete(&tree.tiles, root).then(|| Tree::new(layout_id(), root, tree.tiles))
    }

    /// Makes a file the newest recent file. Ignores paths that are not valid Unicode.
    pub(crate) fn add_recent(&mut self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        if path.to_str().is_some() {
            self.recent.retain(|known| *known != path);
            self.recent.insert(0, path);
            self.recent.truncate(MAX_RECENT);
        }
    }

    /// Remembers a file or folder that the user chose in a dialog. Ignores paths that are not valid Unicode.
    pub(crate) fn set_chosen(&mut self, kind: DialogKind, path: &Path) {
        if let Some(key) = kind.key().filter(|_| path.to_str().is_some()) {
            self.chosen.insert(key.into(), path.to_path_buf());
        }
    }

    /// The file of this kind that was chosen last; for exports, the folder.
    pub(crate) fn chosen(&self, kind: DialogKind) -> Option<&Path> {
        self.chosen.get(kind.key()?).map(PathBuf::as_path)
    }

    /// The folders of the recent files and of the files chosen last, without repetition.
    pub(crate) fn recent_folders(&self) -> Vec<PathBuf> {
        let (export, chosen): (Vec<_>, Vec<_>) =
            self.chosen.iter().partition(|(kind, _)| DialogKind::Export.key() == Some(kind.as_str()));
        let folders = export.into_iter().map(|(_, folder)| folder.as_path());
        let files = self.recent.iter().chain(chosen.into_iter().map(|(_, file)| file));
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in files.filter_map(|file| file.parent()).chain(folders) {
            if found.len() < MAX_RECENT_FOLDERS && !found.iter().any(|known| known == folder) {
                found.push(folder.to_path_buf());
            }
        }
        found
    }

    /// Returns the next larger or smaller scale of the menu.
    pub(crate) fn next_scale(&self, larger: bool) -> u32 {
        let present = self.scale_percent;
        let next = if larger {
            SCALES.into_iter().find(|scale| *scale > present)
        } else {
            SCALES.into_iter().rev().find(|scale| *scale < present)
        };
        next.unwrap_or(present)
    }
}

/// The identifier of the tree of views.
pub(crate) fn layout_id() -> egui::Id {
    egui::Id::unique("views")
}

/// The layout at the first start: the 3-D view above the two maps.
pub(crate) fn default_layout() -> Tree<View> {
    let mut tiles = Tiles::default();
    let [heightmap, texture, scene] = View::ALL.map(|view| tiles.insert_pane(view));
    let maps = tiles.insert_horizontal_tile(vec![heightmap, texture]);
    let root = tiles.insert_vertical_tile(vec![scene, maps]);
    if let Some(Tile::Container(egui_tiles::Container::Linear(rows))) = tiles.get_mut(root) {
        rows.shares.set_share(scene, 1.75);
    }
    Tree::new(layout_id(), root, tiles)
}

/// Whether a tree contains every view exactly once and visible, and no tile twice.
fn is_complete(tiles: &Tiles<View>, root: TileId) -> bool {
    let (mut seen, mut views, mut open) = (BTreeSet::new(), Vec::new(), vec![root]);
    while let Some(id) = open.pop() {
        if !seen.insert(id.0) || !tiles.is_visible(id) {
            return false;
        }
        match tiles.get(id) {
            Some(Tile::Pane(view)) => views.push(*view),
            Some(Tile::Container(container)) => open.extend(container.children()),
            None => return false,
        }
    }
    views.len() == View::ALL.len() && View::ALL.iter().all(|view| views.contains(view))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Settings, Option<String>) {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("settings.json");
        std::fs::write(&path, text).expect("written");
        Settings::read(&path)
    }

    #[test]
    fn settings_round_trip_through_their_file() {
        let mut settings = Settings { scale_percent: 150, theme: ThemePreference::Light, ..Default::default() };
        settings.maximised = Some(View::Scene);
        settings.own_file_windows = true;
        settings.add_recent(Path::new("/projects/a.upthrust.json"));
        settings.set_chosen(DialogKind::Mask, Path::new("/maps/mask.png"));
        settings.set_layout(&default_layout());
        let (read, message) = read(&settings.to_json());
        assert_eq!((&read, message), (&settings, None));
        assert!(read.layout().is_some_and(|tree| tree == default_layout()));
    }

    #[test]
    fn unknown_keys_are_ignored_and_missing_ones_have_defaults() {
        let (settings, message) = read(r#"{"scale_percent": 5000, "colour_of_the_bike_shed": "green"}"#);
        assert_eq!((settings, message), (Settings { scale_percent: 200, ..Default::default() }, None));
    }

    #[test]
    fn an_unreadable_file_is_reported_and_a_missing_one_is_not() {
        for text in ["", "{", r#"{"theme": "plaid"}"#, r#"{"scale_percent": -1}"#] {
            let (settings, message) = read(text);
            assert!(
                settings == Settings::default() && message.is_some_and(|message| message.contains("settings.json"))
            );
        }
        assert_eq!(Settings::read(Path::new("/nowhere/at/all.json")), (Settings::default(), None));
    }

    #[test]
    fn a_layout_must_contain_every_view_exactly_once() {
        let with = |views: &[View]| {
            let mut tiles = Tiles::default();
            let panes = views.iter().map(|view| tiles.insert_pane(*view)).collect();
            let root = tiles.insert_horizontal_tile(panes);
            let mut settings = Settings::default();
            settings.set_layout(&Tree::new(layout_id(), root, tiles));
            settings.layout().is_some()
        };
        assert!(with(&[View::Scene, View::Heightmap, View::Texture]));
        assert!(!with(&[View::Scene, View::Heightmap]));
        assert!(!with(&[View::Scene, View::Heightmap, View::Texture, View::Scene]));
        let mut circle = Settings::default();
        circle.set_layout(&default_layout());
        let root = circle.layout["root"].clone();
        let text = circle.layout.to_string();
        // Make the root one of its own children.
        let text = text.replacen("\"children\":[", &format!("\"children\":[{root},"), 5);
        circle.layout = serde_json::from_str(&text).expect("JSON");
        assert!(circle.layout().is_none());
        assert!(Settings::default().layout().is_none());
    }

    #[test]
    fn recent_files_are_unique_and_newest_first() {
        let mut settings = Settings::default();
        for i in (0..20).chain([15]) {
            settings.add_recent(&PathBuf::from(format!("/projects/{i}.upthrust.json")));
        }
        assert_eq!(settings.recent.len(), MAX_RECENT);
        let names: Vec<_> = settings.recent.iter().take(3).map(|path| path.display().to_string()).collect();
        assert_eq!(names, ["/projects/15.upthrust.json", "/projects/19.upthrust.json", "/projects/18.upthrust.json"]);
    }

    #[test]
    fn recent_folders_are_those_of_files_and_exports() {
        let mut settings = Settings::default();
        for path in ["/projects/a.upthrust.json", "/old/b.upthrust.json", "/projects/c.upthrust.json"] {
            settings.add_recent(Path::new(path));
        }
        settings.set_chosen(DialogKind::Mask, Path::new("/maps/mask.png"));
        settings.set_chosen(DialogKind::Export, Path::new("/game/terrain"));
        let folders = settings.recent_folders();
        assert_eq!(folders, ["/projects", "/old", "/maps", "/game/terrain"].map(PathBuf::from));
    }

    #[test]
    fn settings_apply_to_the_window() {
        let ctx = egui::Context::default();
        Settings { theme: ThemePreference::Light, ..Default::default() }.apply(&ctx);
        assert_eq!(
            ctx.options(|options| (options.theme_preference, options.zoom_with_keyboard)),
            (ThemePreference::Light, false)
        );
    }

    #[test]
    fn the_next_scale_follows_the_menu_and_stops_at_its_ends() {
        let at = |scale_percent| Settings { scale_percent, ..Default::default() };
        assert_eq!((at(100).next_scale(true), at(100).next_scale(false)), (110, 90));
        assert_eq!((at(200).next_scale(true), at(75).next_scale(false), at(120).next_scale(true)), (200, 75, 125));
    }
}
