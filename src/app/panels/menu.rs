//! The menu bar.

use std::path::{Path, PathBuf};

use egui::{Id, ThemePreference, Ui};

use crate::app::command::{Command, item, item_named};
use crate::app::document::{Document, title};
use crate::app::settings::{SCALES, Settings};
use crate::app::theme::colours;
use crate::files::memory::available_bytes;

/// Sizes of the preview that the menu offers.
const PREVIEW_SAMPLES: [u32; 5] = [257, 513, 1025, 2049, 4097];

/// Sizes up to here fit everywhere.
const SMALL: u32 = 1025;

/// Bytes of memory that the preview takes for a sample: 80 by measurement where the stack has one step and the card is
/// the processor, and as much again for the lands of further steps that the evaluator remembers.
const BYTES_PER_SAMPLE: u64 = 160;

/// Bytes of memory that a preview of so many samples along a side takes, if they are not there everywhere.
pub(in crate::app) fn bytes_of_preview(samples: u32) -> Option<u64> {
    (samples > SMALL).then(|| BYTES_PER_SAMPLE * u64::from(samples).pow(2))
}

/// Letters of a folder that the menu shows.
const FOLDER: usize = 36;

pub(in crate::app) fn menu_ui(
    ui: &mut Ui,
    document: &Document,
    settings: &Settings,
    has_land: bool,
) -> Option<Command> {
    let mut command = None;
    egui::MenuBar::new().ui(ui, |ui| {
        ui.menu_button("File", |ui| command = file_menu(ui, &settings.recent));
        ui.menu_button("Edit", |ui| command = command.take().or(edit_menu(ui, document)));
        ui.menu_button("View", |ui| command = command.take().or(view_menu(ui, document, settings)));
        ui.menu_button("Terrain", |ui| command = command.take().or(terrain_menu(ui, document, has_land)));
        ui.menu_button("Help", |ui| {
            let times = item(ui, Command::Timings, true);
            let help = item(ui, Command::Shortcuts, true).or(times).or(item(ui, Command::About, true));
            command = command.take().or(help);
        });
        title_ui(ui, document);
    });
    command
}

/// The title in the middle of the bar, with a mark while there is something to save.
fn title_ui(ui: &mut Ui, document: &Document) {
    let name = title(document.project());
    let mark = if document.is_dirty() { " •" } else { "" };
    let rect = ui.max_rect();
    let text = egui::RichText::new(format!("{name}{mark}")).color(colours(ui).weak);
    ui.put(rect, egui::Label::new(text).truncate());
}

fn file_menu(ui: &mut Ui, recent: &[PathBuf]) -> Option<Command> {
    ui.set_min_width(220.0);
    let mut command = item(ui, Command::New, true).or(item(ui, Command::Open, true));
    ui.add_enabled_ui(!recent.is_empty(), |ui| {
        ui.menu_button("Recent", |ui| command = command.take().or(recent_menu(ui, recent)));
    });
    command = command.or(item(ui, Command::ChoosePreset, true));
    ui.separator();
    command = command.or(item(ui, Command::Save, true)).or(item(ui, Command::SaveAs, true));
    command = command.or(item(ui, Command::SavePreset, true));
    ui.separator();
    command = command.or(item(ui, Command::ImportHeightmap, true)).or(item(ui, Command::Export, true));
    command = command.or(item(ui, Command::SavePicture, true)).or(item(ui, Command::SaveTurntable, true));
    ui.separator();
    command.or(item(ui, Command::Quit, true))
}

/// The files that were opened or saved last, each with its folder.
fn recent_menu(ui: &mut Ui, recent: &[PathBuf]) -> Option<Command> {
    ui.set_min_width(260.0);
    let mut command = None;
    for (i, path) in recent.iter().enumerate() {
        let [name, folder] = [path.file_name(), path.parent().map(Path::as_os_str)]
            .map(|part| part.unwrap_or_default().to_string_lossy().into_owned());
        let button = egui::Button::new(name).shortcut_text(shortened(&folder));
        if ui.add(button).on_hover_text(path.display().to_string()).clicked() {
            command = Some(Command::OpenRecent(i));
            ui.close();
        }
    }
    ui.separator();
    command.or(item(ui, Command::ForgetRecent, true))
}

/// The end of a long text, which is where folders differ.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= FOLDER { text.into() } else { format!("…{}", text.chars().skip(count - FOLDER).collect::<String>()) }
}

fn edit_menu(ui: &mut Ui, document: &Document) -> Option<Command> {
    ui.set_min_width(260.0);
    let named = |verb: &str, name: Option<&str>| name.map_or(verb.to_string(), |name| format!("{verb} {name}"));
    let (undo, redo) = (document.undo_name(), document.redo_name());
    let command = item_named(ui, Command::Undo, &named("Undo", undo), undo.is_some()).or(item_named(
        ui,
        Command::Redo,
        &named("Redo", redo),
        redo.is_some(),
    ));
    ui.separator();
    command.or(item(ui, Command::History, true))
}

fn view_menu(ui: &mut Ui, document: &Document, settings: &Settings) -> Option<Command> {
    ui.set_min_width(220.0);
    let mut command = item(ui, Command::FrameViews, true);
    for look in [Command::LookThreeQuarter, Command::LookFromAbove, Command::LookFromTheSide] {
        command = command.or(item(ui, look, true));
    }
    ui.separator();
    for view in [Command::MaximiseHeightmap, Command::MaximiseTexture, Command::MaximiseScene] {
        command = command.or(item(ui, view, true));
    }
    ui.separator();
    ui.menu_button("Preview size", |ui| {
        let free = free_when_opened(ui);
        for samples in PREVIEW_SAMPLES {
            let set = Command::PreviewSamples(samples);
            let is_set = document.project().view.preview_samples == samples;
            let needed = bytes_of_preview(samples).unwrap_or_default();
            let fits = free.is_none_or(|free| needed <= free);
            let choice = ui.add_enabled(fits, egui::Button::selectable(is_set, set.text()));
            let lack = format!("This needs about {:.0} GB of free memory", needed as f64 / 1e9);
            if choice.on_disabled_hover_text(lack).clicked() {
                command = Some(set);
                ui.close();
            }
        }
    });
    command = command.or(item(ui, Command::ExportSize, true));
    ui.separator();
    command = command.or(item(ui, Command::ShowBefore, document.before().is_some()));
    command = command.or(item(ui, Command::SplitMaps, true));
    ui.separator();
    ui.menu_button("Theme", |ui| {
        for theme in [ThemePreference::Dark, ThemePreference::Light, ThemePreference::System] {
            let set = Command::Theme(theme);
            if ui.selectable_label(settings.theme == theme, set.text()).clicked() {
                command = Some(set);
                ui.close();
            }
        }
    });
    ui.menu_button("Interface scale", |ui| {
        for percent in SCALES {
            let set = Command::Scale(percent);
            if ui.selectable_label(settings.scale_percent == percent, set.text()).clicked() {
                command = Some(set);
                ui.close();
            }
        }
        ui.separator();
        for step in [Command::LargerInterface, Command::SmallerInterface, Command::UsualInterface] {
            command = command.take().or(item(ui, step, true));
        }
    });
    command
}

/// The bytes of free memory when the menu opened, if the system says: it takes too long to ask in every frame.
fn free_when_opened(ui: &Ui) -> Option<u64> {
    let (id, now) = (Id::unique("free memory"), ui.ctx().cumulative_pass_nr());
    let before = ui.data(|data| data.get_temp::<(u64, Option<u64>)>(id));
    let free = before.filter(|(seen, _)| seen + 1 >= now).map_or_else(available_bytes, |(_, free)| free);
    ui.data_mut(|data| data.insert_temp(id, (now, free)));
    free
}

fn terrain_menu(ui: &mut Ui, document: &Document, has_land: bool) -> Option<Command> {
    ui.set_min_width(220.0);
    item(ui, Command::ChooseStep, true)
        .or_else(|| {
            ui.separator();
            item(ui, Command::NewSeed, true)
        })
        .or(item(ui, Command::PreviousSeed, document.earlier_seed().is_some()))
        .or(item(ui, Command::Variations, true))
        .or(item(ui, Command::FaultTool, true))
        .or(item(ui, Command::ProfileLine, true))
        .or_else(|| {
            ui.separator();
            item(ui, Command::TogglePlay, has_land)
        })
        .or(item(ui, Command::Restart, has_land))
        .or(item(ui, Command::StepBack, has_land))
        .or(item(ui, Command::StepForward, has_land))
        .or(item(ui, Command::ToStart, has_land))
        .or(item(ui, Command::ToEnd, has_land))
}
