//! The palette: every command, step, parameter and preset, found by typing.

use egui::{
    Align, Align2, Area, Context, FontId, Frame, Id, Layout, Margin, Modal, Rect, Response, ScrollArea, Sense, Ui,
    Vec2, WidgetInfo,
};

use crate::app::commands::Command;
#[cfg(test)]
use crate::app::commands::menus::Looks;
use crate::app::commands::menus::{Around, Entry, MENUS};
use crate::app::widgets::search::{keys, rank, search_ui, texts, words};
use crate::app::widgets::theme::colours;
use crate::engine::parameters::{Kind, group_to_json};
use crate::engine::{AnyOperation, Recipe};
use crate::files::targets;
use crate::project::preset_projects;

/// The size of a row, points, and how many are seen at a time.
const ROW: Vec2 = Vec2::new(560.0, 26.0);
const ROWS: usize = 14;

/// Something that can be done.
pub(crate) struct Deed {
    command: Command,
    text: String,
    /// Where it is found otherwise.
    place: String,
    /// What stands at the end of its row.
    note: String,
    is_possible: bool,
    /// The text, the place and what it does, in small letters.
    found_by: [String; 3],
}

impl Deed {
    fn new(command: Command, text: &str, place: String, doc: &str) -> Self {
        let found_by = [text, place.as_str(), doc].map(str::to_lowercase);
        Self { command, text: text.into(), place, note: String::new(), is_possible: true, found_by }
    }
}

/// The window in which a command is found.
pub(crate) struct Palette {
    deeds: Vec<Deed>,
    query: String,
    chosen: usize,
    /// Whether the chosen row is to be brought into sight.
    reveal: bool,
}

/// What came of it.
#[derive(Debug, PartialEq)]
pub(crate) enum Decision {
    CarryOut(Command),
    Close,
}

impl Palette {
    /// Everything that can be done as the editor stands.
    pub(crate) fn new(ctx: &Context, around: &Around) -> Self {
        let mut deeds = Vec::new();
        for (title, entries) in MENUS {
            deeds_of(ctx, title, &entries(around), &mut deeds);
        }
        for operation in AnyOperation::all() {
            let (add, doc) = (Command::AddStep(operation.key()), operation.doc());
            deeds.push(Deed::new(add, operation.label(), "Add step".into(), doc));
        }
        for (i, target) in targets::ALL.iter().enumerate() {
            let export = Command::ExportFor(i);
            deeds.push(Deed::new(export, &export.text(), "File › Export".into(), target.key));
        }
        parameters(&around.document.project().recipe, &mut deeds);
        for (i, (_, file)) in preset_projects().iter().enumerate() {
            deeds.push(Deed::new(
                Command::OpenPreset(i),
                &file.project.name,
                "Preset".into(),
                &file.project.description,
            ));
        }
        // What is typed in the frame of the keys that open it is meant for it.
        let query = ctx.input(|input| texts(&input.events).collect());
        Self { deeds, query, chosen: 0, reveal: true }
    }

    /// Draws it; returns what came of it, if something has.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<Decision> {
        let style = ctx.style_of(ctx.theme());
        let id = Id::unique("palette");
        let area = Area::new(id).kind(egui::UiKind::Modal).anchor(Align2::CENTER_TOP, [0.0, 36.0]);
        let area = area.order(egui::Order::Foreground).interactable(true);
        let modal = Modal::new(id).area(area).frame(Frame::popup(&style).inner_margin(Margin::same(8)));
        let shown = modal.show(ctx, |ui| self.content_ui(ui));
        let closes = shown.should_close();
        shown.inner.map(Decision::CarryOut).or(closes.then_some(Decision::Close))
    }

    fn content_ui(&mut self, ui: &mut Ui) -> Option<Command> {
        let window = ui.ctx().content_rect();
        let width = ROW.x.min(window.width() - 48.0);
        ui.set_width(width);
        let found = found(&self.deeds, &self.query);
        let (chosen, enter) = keys(ui, self.chosen.min(found.len().saturating_sub(1)), found.len());
        let reveal = std::mem::take(&mut self.reveal) || chosen != self.chosen;
        let mut carried_out = found.get(chosen).filter(|deed| enter && deed.is_possible).map(|deed| deed.command);
        let changed = search_ui(ui, &mut self.query, "A command, a step, a parameter, a preset");
        ui.add_space(4.0);
        let height = (ROWS as f32 * ROW.y).min(window.height() - 120.0);
        let mut pointed = None;
        ui.spacing_mut().item_spacing.y = 0.0;
        let mut area = ScrollArea::vertical().max_height(height).min_scrolled_height(height).auto_shrink(false);
        if changed {
            area = area.vertical_scroll_offset(0.0);
        }
        area.show(ui, |ui| {
            let row = Vec2::new(width - 12.0, ROW.y);
            for (i, deed) in found.iter().enumerate() {
                let response = row_ui(ui, deed, row, i == chosen && !changed || changed && i == 0);
                if i == chosen && reveal {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    carried_out = Some(deed.command);
                }
                // A row that is scrolled under a resting pointer is not chosen by it.
                if response.hovered() && ui.input(|input| input.pointer.delta() != Vec2::ZERO) {
                    pointed = Some(i);
                }
            }
            if found.is_empty() {
                ui.weak("Nothing is called that.");
            }
        });
        self.chosen = if changed { 0 } else { pointed.unwrap_or(chosen) };
        carried_out
    }
}

/// The items of a menu and of those inside it.
fn deeds_of(ctx: &Context, place: &str, entries: &[Entry], deeds: &mut Vec<Deed>) {
    for entry in entries {
        match entry {
            Entry::Item(item) => {
                let mut deed = Deed::new(item.command, &item.text, place.into(), &item.doc);
                // What undo would take back is found as itself, or its slider would come second.
                if matches!(item.command, Command::Undo | Command::Redo) {
                    deed.found_by[0] = item.command.text().to_lowercase();
                }
                let keys = item.command.shortcut().map(|shortcut| ctx.format_shortcut(&shortcut));
                deed.note = if item.is_set == Some(true) { "on".into() } else { keys.unwrap_or_default() };
                deed.is_possible = item.is_possible;
                // It is open already.
                if item.command != Command::Palette {
                    deeds.push(deed);
                }
            }
            Entry::Menu(title, entries) => deeds_of(ctx, &format!("{place} › {title}"), entries, deeds),
            Entry::Line => {}
        }
    }
}

/// The steps of the stack from the top, and what can be set in them.
fn parameters(recipe: &Recipe, deeds: &mut Vec<Deed>) {
    for (i, step) in recipe.stack.iter().enumerate().rev() {
        let title = step.title();
        deeds.push(Deed::new(Command::SelectStep(i), title, "Step".into(), step.operation.doc()));
        let values = group_to_json(step.operation.group());
        for row in step.operation.group().table() {
            let is_shown = row.applies_beside(&values) && !matches!(row.kind, Kind::Weighted | Kind::List(_));
            if is_shown {
                let show = Command::ShowParameter { step: i, key: row.key };
                deeds.push(Deed::new(show, row.label, title.into(), row.doc));
            }
        }
    }
}

/// The deeds in which every typed word occurs, the best first; all of them in their order while nothing is typed.
fn found<'a>(deeds: &'a [Deed], query: &str) -> Vec<&'a Deed> {
    let words = words(query);
    let ranked = |deed: &'a Deed| {
        let [text, place, doc] = &deed.found_by;
        Some((rank(&words, [text, place, doc])?, deed))
    };
    let mut found: Vec<(usize, &Deed)> = deeds.iter().filter_map(ranked).collect();
    found.sort_by_key(|(rank, deed)| (*rank, !deed.is_possible));
    found.into_iter().map(|(_, deed)| deed).collect()
}

/// A row: what it is called, where else it is found, its keys.
fn row_ui(ui: &mut Ui, deed: &Deed, size: Vec2, is_chosen: bool) -> Response {
    let sense = if deed.is_possible { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let name = format!("{} ({})", deed.text, deed.place);
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, deed.is_possible, is_chosen, &name));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let colours = colours(ui);
    if is_chosen {
        ui.painter().rect_filled(rect, 4.0, colours.hovered);
        ui.painter().rect_filled(Rect::from_min_size(rect.min, Vec2::new(2.0, rect.height())), 1.0, colours.accent);
    }
    let mut inside = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(rect.shrink2(Vec2::new(10.0, 0.0)))
            .layout(Layout::right_to_left(Align::Center)),
    );
    let small = |text: &str| egui::RichText::new(text).font(FontId::proportional(11.0)).color(colours.weak);
    inside.add(egui::Label::new(small(&deed.note)).selectable(false));
    inside.add(egui::Label::new(small(&deed.place)).selectable(false));
    let colour = if deed.is_possible { colours.text } else { colours.weak };
    inside.with_layout(Layout::left_to_right(Align::Center), |ui| {
        let text = egui::RichText::new(&deed.text).color(colour);
        ui.add(egui::Label::new(text).truncate().selectable(false));
    });
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::document::Document;
    use crate::app::tasks::settings::Settings;

    #[test]
    fn words_find_commands_steps_parameters_and_presets() {
        let (_, project) = &preset_projects()[0];
        let (document, settings) = (Document::new(project.clone()), Settings::default());
        let around = Around {
            document: &document,
            settings: &settings,
            missing: &std::collections::BTreeSet::new(),
            has_import_notes: false,
            panels: [true; 2],
            free_bytes: None,
            looks: Looks::default(),
        };
        let palette = Palette::new(&Context::default(), &around);
        let best = |query: &str| found(&palette.deeds, query).first().map(|deed| deed.command);
        assert_eq!(best("export"), Some(Command::Export));
        assert_eq!(best("dark"), Some(Command::Theme(egui::ThemePreference::Dark)));
        assert_eq!(best("thermal"), Some(Command::AddStep("thermal_erosion")));
        assert!(matches!(best("volcanic"), Some(Command::OpenPreset(_))));
        let top = project.project.recipe.stack.len() - 1;
        let step = &project.project.recipe.stack[top];
        let row = &step.operation.group().table()[0];
        assert_eq!(
            best(&format!("{} {}", step.title(), row.label)),
            Some(Command::ShowParameter { step: top, key: row.key })
        );
        assert_eq!(best("no such thing"), None);
    }
}
