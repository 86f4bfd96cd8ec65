//! The menus as a tree, which the menu bar draws and the palette searches.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Button, RichText, ThemePreference, Ui};

use crate::app::commands::Command;
use crate::app::document::{Document, name_of};
use crate::app::tasks::settings::{SCALES, Settings};
use crate::app::tools::tool::Tool;
use crate::app::widgets::end_of;
use crate::app::widgets::theme::colours;
use crate::engine::Step;
use crate::engine::cast::ToFloat;
use crate::engine::operations::symmetry::Kind as Symmetry;
use crate::files::FileError;
use crate::files::io::memory::{available_bytes, require_memory};
use crate::project::{Preset, Project, ProjectFile, example_projects};

/// The preview sizes in the menu, samples per side.
const PREVIEW_SAMPLES: [u32; 5] = [257, 513, 1025, 2049, 4097];

/// Previews up to this size fit into the memory of any computer.
const SMALL: u32 = 1025;

/// The memory of the preview per sample, bytes: 80 by measurement with one step and software rendering, another 80 for
/// the heightfields of further steps that the evaluator caches, and 40 for the state before the last edit and for the
/// analysis.
const BYTES_PER_SAMPLE: u64 = 200;

/// The memory of a preview with that many samples per side, bytes; `None` if it fits on any computer.
pub(crate) fn bytes_of_preview(samples: u32) -> Option<u64> {
    (samples > SMALL).then(|| BYTES_PER_SAMPLE * u64::from(samples).pow(2))
}

/// The largest preview size in the menu, at most `samples`, for which there is memory, and why `samples` do not fit.
pub(crate) fn preview_that_fits(samples: u32) -> Result<u32, (u32, FileError)> {
    largest_that_fits(samples, |samples| bytes_of_preview(samples).map_or(Ok(()), require_memory))
}

fn largest_that_fits<E>(samples: u32, fits: impl Fn(u32) -> Result<(), E>) -> Result<u32, (u32, E)> {
    fits(samples).map(|()| samples).map_err(|error| {
        let smaller = PREVIEW_SAMPLES.into_iter().rev().filter(|size| *size < samples);
        (smaller.into_iter().find(|size| fits(*size).is_ok()).unwrap_or(SMALL), error)
    })
}

/// What mirroring while drawing does.
pub(crate) const MIRROR_DOC: &str =
    "Repeats what you draw, move or delete in all matching places, so that the map stays fair";

/// The most characters of a folder in the menu.
const MAX_FOLDER_CHARS: usize = 36;

/// An entry of a menu.
pub(crate) enum Entry {
    Item(Item),
    Separator,
    Menu(&'static str, Vec<Entry>),
}

/// A menu item.
pub(crate) struct Item {
    pub(crate) command: Command,
    pub(crate) text: String,
    /// Text that replaces the shortcut.
    pub(crate) note: Option<String>,
    /// The tooltip; of a disabled item, the reason.
    pub(crate) doc: String,
    pub(crate) is_enabled: bool,
    /// Whether the option is on; `None` if the item is an action.
    pub(crate) is_set: Option<bool>,
    /// Whether it is drawn in the weak text colour although it is enabled.
    pub(crate) is_dimmed: bool,
}

/// What the menus show.
#[derive(Clone, Copy)]
pub(crate) struct MenuContext<'a> {
    pub(crate) document: &'a Document,
    pub(crate) settings: &'a Settings,
    /// The recent files that no longer exist.
    pub(crate) missing: &'a BTreeSet<PathBuf>,
    /// Whether there are projects of an editor that crashed.
    pub(crate) has_recovered: bool,
    /// Whether the last export has import steps.
    pub(crate) has_import_notes: bool,
    /// Whether the left and the right panel are visible.
    pub(crate) panels: [bool; 2],
    pub(crate) free_bytes: Option<u64>,
    /// The index of the selected step.
    pub(crate) selected_step: usize,
    pub(crate) view_modes: ViewModes,
}

/// The view options that menus show as on or off.
#[derive(Clone, Copy, Default)]
pub(crate) struct ViewModes {
    /// Whether the preview has the size of exports.
    pub(crate) is_export_size: bool,
    /// Whether the views show the state before the last edit, and whether the maps are split.
    pub(crate) is_before: bool,
    pub(crate) is_split: bool,
    /// The symmetry by which what is drawn is repeated.
    pub(crate) mirror: Option<Symmetry>,
}

/// A menu with its title.
pub(crate) type Menu = (&'static str, fn(&MenuContext) -> Vec<Entry>);

/// The menus of the bar.
pub(crate) const MENUS: [Menu; 5] =
    [("File", file), ("Edit", edit), ("View", view), ("Terrain", terrain), ("Help", help)];

impl Item {
    fn new(context: &MenuContext, command: Command) -> Self {
        Self::of(command, is_enabled(context, command))
    }

    fn of(command: Command, is_enabled: bool) -> Self {
        let (text, doc) = (command.text(), String::new());
        Self { command, text, note: None, doc, is_enabled, is_set: None, is_dimmed: false }
    }

    fn named(self, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..self }
    }

    fn set(self, is_set: bool) -> Self {
        Self { is_set: Some(is_set), ..self }
    }

    /// Draws the item and closes the menu on a click; returns whether it was clicked.
    fn ui(&self, ui: &mut Ui) -> bool {
        let text = RichText::new(&self.text);
        let text = if self.is_dimmed { text.weak() } else { text };
        let mut button = Button::selectable(self.is_set == Some(true), text);
        let keys = self.command.shortcut().map(|shortcut| ui.ctx().format_shortcut(&shortcut));
        if let Some(note) = self.note.clone().or(keys) {
            let colour = colours(ui).small_print(self.is_set == Some(true));
            button = button.shortcut_text(RichText::new(note).color(colour));
        }
        let mut response = ui.add_enabled(self.is_enabled, button);
        if !self.doc.is_empty() {
            response = response.on_hover_text(&self.doc).on_disabled_hover_text(&self.doc);
        }
        let chosen = response.clicked();
        if chosen {
            ui.close();
        }
        chosen
    }
}

/// Draws the entries of a menu; returns the chosen command.
pub(crate) fn entries_ui(ui: &mut Ui, entries: &[Entry]) -> Option<Command> {
    ui.set_min_width(220.0);
    let mut chosen = None;
    for entry in entries {
        match entry {
            Entry::Item(item) => {
                if item.ui(ui) {
                    chosen = Some(item.command);
                }
            }
            Entry::Separator => drop(ui.separator()),
            Entry::Menu(title, entries) => {
                ui.menu_button(*title, |ui| chosen = chosen.take().or(entries_ui(ui, entries)));
            }
        }
    }
    chosen
}

/// Draws a menu of commands that are always enabled; returns the chosen one.
pub(crate) fn context_ui(ui: &mut Ui, commands: &[Command]) -> Option<Command> {
    let item = |command: &Command| Entry::Item(Item::of(*command, true));
    entries_ui(ui, &commands.iter().map(item).collect::<Vec<_>>())
}

/// Whether a command is enabled.
fn is_enabled(context: &MenuContext, command: Command) -> bool {
    let MenuContext { document, settings, .. } = context;
    let recipe = &document.project().recipe;
    match command {
        Command::Undo => document.undo_name().is_some(),
        Command::Redo => document.redo_name().is_some(),
        Command::ShowBefore => document.before().is_some(),
        Command::PreviousSeed => document.earlier_seed().is_some(),
        Command::CopyImportSteps => context.has_import_notes,
        Command::ClearRecentFiles => !settings.recent.is_empty(),
        Command::TogglePlay
        | Command::Restart
        | Command::StepBack
        | Command::StepForward
        | Command::ToStart
        | Command::ToEnd => document.timeline().total() > 0,
        Command::RenameStep | Command::Group(None) => !recipe.stack.is_empty(),
        Command::Ungroup(None) => recipe.stack.get(context.selected_step).is_some_and(Step::is_group),
        Command::MoveUp | Command::MoveDown => recipe.stack.len() > 1 || recipe.texture.types.len() > 1,
        _ => true,
    }
}

fn items(context: &MenuContext, commands: &[Command]) -> Vec<Entry> {
    commands.iter().map(|command| Entry::Item(Item::new(context, *command))).collect()
}

/// The items of several groups, with separators between the groups.
fn groups(context: &MenuContext, groups: &[&[Command]]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        entries.extend((i > 0).then_some(Entry::Separator));
        entries.extend(items(context, group));
    }
    entries
}

fn file(context: &MenuContext) -> Vec<Entry> {
    let mut entries = items(context, &[Command::New, Command::Open]);
    entries.push(Entry::Menu("Recent", recent(context)));
    let closed = closed(context);
    if !closed.is_empty() {
        entries.push(Entry::Menu("Closed with unsaved changes", closed));
    }
    if context.has_recovered {
        let doc = "Unsaved work from an earlier session that was neither opened nor discarded".into();
        entries.push(Entry::Item(Item { doc, ..Item::new(context, Command::OpenRecovered) }));
    }
    entries.push(Entry::Item(Item::new(context, Command::OpenGallery)));
    entries.push(Entry::Separator);
    entries.extend(groups(
        context,
        &[
            &[Command::Save, Command::SaveAs, Command::SavePreset],
            &[Command::ImportHeightmap, Command::Export, Command::ExportAgain, Command::CopyImportSteps],
            &[Command::SaveRender, Command::SaveTurntable],
            &[Command::Quit],
        ],
    ));
    entries
}

/// The recent files, each with its folder.
fn recent(context: &MenuContext) -> Vec<Entry> {
    let item = |(i, path): (usize, &PathBuf)| {
        let [name, folder] = [path.file_name(), path.parent().map(Path::as_os_str)]
            .map(|part| part.unwrap_or_default().to_string_lossy().into_owned());
        let is_dimmed = context.missing.contains(path);
        let (name, doc) = if is_dimmed {
            (format!("{name} (missing)"), format!("{} does not exist any more", path.display()))
        } else {
            (name, path.display().to_string())
        };
        let item = Item::new(context, Command::OpenRecent(i)).named(name);
        Entry::Item(Item { note: Some(end_of(&folder, MAX_FOLDER_CHARS)), doc, is_dimmed, ..item })
    };
    let mut entries: Vec<Entry> = context.settings.recent.iter().enumerate().map(item).collect();
    entries.push(Entry::Separator);
    entries.push(Entry::Item(Item::new(context, Command::ClearRecentFiles)));
    entries
}

/// The projects with unsaved changes that undo no longer reaches, newest first.
fn closed(context: &MenuContext) -> Vec<Entry> {
    let item = |(project_id, project): (usize, &Arc<Project>)| {
        let path = context.document.path_of(project_id);
        let name = name_of(project, path);
        let note = path.and_then(Path::parent).map(|folder| end_of(&folder.display().to_string(), MAX_FOLDER_CHARS));
        Entry::Item(Item { note, ..Item::new(context, Command::ReopenProject(project_id)).named(name) })
    };
    context.document.closed().rev().map(item).collect()
}

fn edit(context: &MenuContext) -> Vec<Entry> {
    let named = |command: Command, name: Option<&str>| {
        let verb = command.text();
        let text = name.map_or(verb.clone(), |name| format!("{verb} {name}"));
        Entry::Item(Item::new(context, command).named(text))
    };
    let document = context.document;
    let mut entries = vec![named(Command::Undo, document.undo_name()), named(Command::Redo, document.redo_name())];
    entries.push(Entry::Separator);
    entries.push(Entry::Item(Item::new(context, Command::History).set(context.settings.shows_history)));
    entries.push(Entry::Separator);
    entries.extend(items(context, &[Command::RenameStep]));
    entries.extend(items(context, &[Command::Group(None), Command::Ungroup(None)]));
    entries.extend(items(context, &[Command::MoveUp, Command::MoveDown]));
    entries
}

fn view(context: &MenuContext) -> Vec<Entry> {
    let MenuContext { document, settings, panels: [left, right], .. } = *context;
    let mut entries = groups(
        context,
        &[
            &[Command::FrameViews, Command::ViewThreeQuarter, Command::ViewFromAbove, Command::ViewFromSide],
            &[Command::MaximiseHeightmap, Command::MaximiseTexture, Command::MaximiseScene],
        ],
    );
    entries.push(Entry::Separator);
    let doc = "Water of the project up to a level, such as the sea level: adds or shows it, and selects its field in the 3-D view".into();
    entries.push(Entry::Item(Item { doc, ..Item::new(context, Command::WaterLevel) }));
    entries.push(Entry::Separator);
    for (panel, is_seen) in [(Command::LeftPanel, left), (Command::RightPanel, right)] {
        entries.push(Entry::Item(Item::new(context, panel).set(is_seen)));
    }
    entries.push(Entry::Separator);
    let samples = document.settings().view.preview_samples;
    let sizes = PREVIEW_SAMPLES.map(|size| {
        let needed = bytes_of_preview(size).unwrap_or_default();
        let is_enabled = context.free_bytes.is_none_or(|free| needed <= free);
        let reason = format!("Needs about {:.0} GB of free memory", needed.to_f64() / 1e9);
        let doc = if is_enabled { String::new() } else { reason };
        Entry::Item(Item { is_enabled, doc, ..Item::new(context, Command::PreviewSamples(size)).set(size == samples) })
    });
    entries.push(Entry::Menu("Preview size", sizes.into()));
    entries.push(Entry::Item(Item::new(context, Command::ExportSize).set(context.view_modes.is_export_size)));
    entries.push(Entry::Separator);
    let before = Item::new(context, Command::ShowBefore).set(context.view_modes.is_before);
    let doc = "Shows it until it is chosen again. The key shows it while it is held.".into();
    entries.push(Entry::Item(Item { doc, ..before }));
    entries.push(Entry::Item(Item::new(context, Command::SplitMaps).set(context.view_modes.is_split)));
    entries.push(Entry::Separator);
    let themes = [ThemePreference::Dark, ThemePreference::Light, ThemePreference::System];
    let theme = |theme| Entry::Item(Item::new(context, Command::Theme(theme)).set(settings.theme == theme));
    entries.push(Entry::Menu("Theme", themes.map(theme).into()));
    let scale = |size| Entry::Item(Item::new(context, Command::Scale(size)).set(settings.scale_percent == size));
    let mut scales: Vec<Entry> = SCALES.map(scale).into();
    scales.push(Entry::Separator);
    scales.extend(items(context, &[Command::LargerInterface, Command::SmallerInterface, Command::ResetInterfaceScale]));
    entries.push(Entry::Menu("Interface scale", scales));
    let doc = "Uses the editor's own file dialogs, with previews, instead of the desktop's".into();
    let dialogs = Item::new(context, Command::BuiltInFileDialogs).set(settings.own_file_windows);
    entries.push(Entry::Item(Item { doc, ..dialogs }));
    entries
}

fn terrain(context: &MenuContext) -> Vec<Entry> {
    let world = context.document.project().recipe.world.extent();
    let mirror = |kind: Option<Symmetry>| {
        let is_enabled = kind.is_none_or(|kind| kind.fits(world));
        let doc = match kind {
            None => "Edits only where you draw",
            Some(_) if is_enabled => MIRROR_DOC,
            Some(_) => "Only for square worlds",
        };
        let item = Item::new(context, Command::Mirror(kind)).set(context.view_modes.mirror == kind);
        Entry::Item(Item { is_enabled, doc: doc.into(), ..item })
    };
    let symmetries = Symmetry::ALL.iter().copied().map(Some);
    let mirrors = std::iter::once(None).chain(symmetries).map(mirror).collect();
    let mut entries = groups(
        context,
        &[
            &[Command::PickOperation, Command::AddType(None)],
            &[Command::NewSeed, Command::PreviousSeed, Command::Variations, Command::Scatter, Command::Playability],
            &[
                Command::Tool(Tool::Fault),
                Command::Tool(Tool::Brush),
                Command::Tool(Tool::MaskBrush),
                Command::Tool(Tool::Path),
                Command::Tool(Tool::Pad),
                Command::Tool(Tool::Stamp),
                Command::Tool(Tool::Marker),
                Command::ProfileLine,
            ],
        ],
    );
    entries.push(Entry::Menu("Mirror edits", mirrors));
    entries.push(Entry::Separator);
    entries.extend(items(
        context,
        &[
            Command::TogglePlay,
            Command::Restart,
            Command::StepBack,
            Command::StepForward,
            Command::ToStart,
            Command::ToEnd,
            Command::ToggleLoop,
        ],
    ));
    entries
}

fn help(context: &MenuContext) -> Vec<Entry> {
    let example = |(i, (_, file)): (usize, &(Preset, ProjectFile))| {
        let Project { name, description, .. } = &*file.project;
        let item = Item::new(context, Command::OpenExample(i)).named(name.clone());
        Entry::Item(Item { doc: description.clone(), ..item })
    };
    let manual_doc = "In the browser, at the page of the selected step's operation".into();
    let mut entries = vec![
        Entry::Item(Item { doc: manual_doc, ..Item::new(context, Command::Manual) }),
        Entry::Menu("Examples", example_projects().iter().enumerate().map(example).collect()),
        Entry::Separator,
    ];
    entries
        .extend(groups(context, &[&[Command::Palette, Command::Shortcuts], &[Command::FrameTimings, Command::About]]));
    entries
}

/// The free memory, measured at most once a second.
#[derive(Default)]
pub(crate) struct FreeMemory(Cell<Option<(Instant, Option<u64>)>>);

impl FreeMemory {
    /// The bytes of free memory, if the system reports them.
    pub(crate) fn bytes(&self) -> Option<u64> {
        const MAX_AGE: Duration = Duration::from_secs(1);
        let now = Instant::now();
        let known = self.0.get().filter(|(measured, _)| now.duration_since(*measured) < MAX_AGE);
        let (measured, bytes) = known.unwrap_or_else(|| (now, available_bytes()));
        self.0.set(Some((measured, bytes)));
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::commands::SHORTCUTS;

    fn commands(entries: &[Entry], found: &mut Vec<Command>) {
        for entry in entries {
            match entry {
                Entry::Item(item) => found.push(item.command),
                Entry::Menu(_, entries) => commands(entries, found),
                Entry::Separator => {}
            }
        }
    }

    #[test]
    fn a_preview_that_is_too_large_for_memory_becomes_the_largest_that_fits() {
        let below = |limit: u32| move |samples: u32| if samples <= limit { Ok(()) } else { Err("too large") };
        assert_eq!(largest_that_fits(4097, below(5000)), Ok(4097));
        assert_eq!(largest_that_fits(4097, below(3000)), Err((2049, "too large")));
        assert_eq!(largest_that_fits(1500, below(1400)), Err((1025, "too large")), "a size that is not in the menu");
        assert_eq!(largest_that_fits(4097, below(0)), Err((SMALL, "too large")));
        assert!([257, SMALL].iter().all(|samples| bytes_of_preview(*samples).is_none()));
        assert_eq!(bytes_of_preview(4097), Some(200 * 4097 * 4097));
    }

    #[test]
    fn every_command_with_a_shortcut_is_in_exactly_one_menu() {
        let (document, settings) = (Document::new(ProjectFile::default()), Settings::default());
        let context = MenuContext {
            document: &document,
            settings: &settings,
            missing: &BTreeSet::new(),
            has_recovered: false,
            has_import_notes: false,
            panels: [true; 2],
            selected_step: 0,
            free_bytes: None,
            view_modes: ViewModes::default(),
        };
        let mut found = Vec::new();
        for (_, entries) in MENUS {
            commands(&entries(&context), &mut found);
        }
        for (command, _) in SHORTCUTS {
            assert!(found.contains(command), "{command:?} is in no menu");
        }
        for (i, command) in found.iter().enumerate() {
            assert!(!found[..i].contains(command), "{command:?} occurs twice");
        }
    }
}
