//! The command palette: every command, step, parameter, terrain type and preset, found by typing.

use egui::{
    Align, Align2, Area, Context, FontId, Frame, Id, Layout, Margin, Modal, Rect, Response, RichText, Role, Sense, Ui,
    Vec2, WidgetInfo,
};

#[cfg(test)]
use crate::app::commands::menus::ViewModes;
use crate::app::commands::menus::{Entry, MENUS, MenuContext};
use crate::app::commands::{Command, ParameterOwner};
use crate::app::panels::analysis::Section;
use crate::app::panels::materials::MATERIALS;
use crate::app::panels::play;
use crate::app::panels::scatter::KINDS;
use crate::app::views::map_style::MapStyle;
use crate::app::widgets::ModalWindow;
use crate::app::widgets::search::{SearchTexts, typed_texts};
use crate::app::widgets::search_list::{Arrangement, SearchItem, SearchLayout, SearchList};
use crate::app::widgets::theme::colours;
use crate::engine::cast::ToFloat;
use crate::engine::parameters::{Group, Kind, group_values};
use crate::engine::{AnyOperation, Recipe};
use crate::files::targets;
use crate::project::{ProjectFile, preset_projects};

/// The size of a row, points, and the most rows that are visible.
const ROW: Vec2 = Vec2::new(560.0, 26.0);
const MAX_ROWS: usize = 14;

/// A command in the palette.
pub(crate) struct PaletteEntry {
    command: Command,
    text: String,
    /// Where else it is found.
    place: String,
    /// The shortcut, or whether it is on.
    note: String,
    is_enabled: bool,
    texts: SearchTexts,
}

impl PaletteEntry {
    fn new(command: Command, text: &str, place: String, doc: &str) -> Self {
        let texts = SearchTexts::new(text, &place, doc);
        Self { command, text: text.into(), place, note: String::new(), is_enabled: true, texts }
    }

    fn with_words(self, words: &str) -> Self {
        Self { texts: self.texts.with_words(words), ..self }
    }
}

/// The window of the palette.
pub(crate) struct Palette {
    entries: Vec<PaletteEntry>,
    list: SearchList,
}

/// What the user did in the palette.
#[derive(Debug, PartialEq)]
pub(crate) enum PaletteResponse {
    Execute(Command),
    Close,
}

impl Palette {
    /// A palette of all commands that are available now.
    pub(crate) fn new(ctx: &Context, context: &MenuContext) -> Self {
        let mut entries = Vec::new();
        for (title, menu) in MENUS {
            add_menu(ctx, title, &menu(context), &mut entries);
        }
        for operation in AnyOperation::all() {
            let (add, doc) = (Command::AddStep(operation.key()), operation.doc());
            let entry = PaletteEntry::new(add, operation.label(), "Add step".into(), doc);
            entries.push(entry.with_words(operation.words()));
        }
        for i in 0..MATERIALS.len() {
            let add = Command::AddType(Some(i));
            let doc = "Adds a terrain type of this material where it is usually found";
            entries.push(PaletteEntry::new(add, &add.text(), "Terrain type".into(), doc));
        }
        for (i, kind) in KINDS.iter().enumerate() {
            let add = Command::AddLayer(i);
            let entry = PaletteEntry::new(add, &add.text(), "Scatter".into(), kind.doc);
            entries.push(entry.with_words(add.words()));
        }
        for (i, target) in targets::ALL.iter().enumerate() {
            let export = Command::ExportFor(i);
            entries.push(PaletteEntry::new(export, &export.text(), "File › Export".into(), target.key));
        }
        let recipe = &context.document.project().recipe;
        add_steps(recipe, &mut entries);
        add_parameters(&recipe.world, ParameterOwner::World, "World", &mut entries);
        add_parameters(&recipe.light, ParameterOwner::Light, "Light", &mut entries);
        for (i, terrain_type) in recipe.texture.types.iter().enumerate() {
            let select = Command::SelectType(i);
            entries.push(PaletteEntry::new(select, &terrain_type.name, "Terrain type".into(), ""));
        }
        for section in Section::ALL {
            let show = Command::ShowAnalysis(section);
            let entry = PaletteEntry::new(show, section.title(), "Analysis".into(), section.doc());
            entries.push(entry.with_words(show.words()));
        }
        for style in MapStyle::ALL {
            let show = Command::ShowMap(style);
            let entry = PaletteEntry::new(show, style.text(), "Heightmap".into(), style.doc());
            entries.push(entry.with_words(show.words()));
        }
        let level = &context.document.project().level;
        for map in play::maps(level) {
            let show = Command::ShowOverlay(Some(map));
            entries.push(PaletteEntry::new(show, &play::title(map, level), "Playability".into(), play::doc(map)));
        }
        entries.push(PaletteEntry::new(
            Command::ShowOverlay(None),
            "Hide playability overlay",
            "Playability".into(),
            "",
        ));
        for (i, (_, ProjectFile { project, .. })) in preset_projects().iter().enumerate() {
            let open = Command::OpenPreset(i);
            entries.push(PaletteEntry::new(open, &project.name, "Preset".into(), &project.description));
        }
        // Text typed in the same frame as the shortcut is meant for the palette.
        let query = ctx.input(|input| typed_texts(&input.events).collect());
        Self { entries, list: SearchList::new(query) }
    }

    /// Draws the palette.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<PaletteResponse> {
        let style = ctx.style_of(ctx.theme());
        let id = Id::unique("palette");
        let area = Area::new(id).kind(egui::UiKind::Modal).anchor(Align2::CENTER_TOP, [0.0, 36.0]);
        let area = area.order(egui::Order::Foreground).interactable(true);
        let modal = Modal::new(id).area(area).frame(Frame::popup(&style).inner_margin(Margin::same(8)));
        let shown = ModalWindow::new(modal).show(ctx, |ui| self.content_ui(ui));
        let closes = shown.should_close();
        shown.inner.map(PaletteResponse::Execute).or(closes.then_some(PaletteResponse::Close))
    }

    fn content_ui(&mut self, ui: &mut Ui) -> Option<Command> {
        let window = ui.ctx().content_rect();
        let width = ROW.x.min(window.width() - 48.0);
        ui.set_width(width);
        let arrangement = Arrangement::Rows(1);
        let hint = "Search commands, steps, parameters and presets";
        ui.horizontal(|ui| self.list.field_ui(ui, hint, arrangement, false));
        ui.add_space(4.0);
        let layout = SearchLayout {
            sections: &[""],
            arrangement,
            item_width: width,
            gap: 0.0,
            height: (MAX_ROWS.to_f32() * ROW.y).min(window.height() - 120.0),
            empty: "No command matches.",
        };
        let items = self.entries.iter().map(|entry| {
            let PaletteEntry { texts, is_enabled, .. } = entry;
            SearchItem { section: 0, texts, is_enabled: *is_enabled }
        });
        let items: Vec<SearchItem> = items.collect();
        let row = Vec2::new(width - 12.0, ROW.y);
        let draw = |ui: &mut Ui, i: usize, is_selected| row_ui(ui, &self.entries[i], row, is_selected);
        self.list.items_ui(ui, &layout, &items, draw).map(|i| self.entries[i].command)
    }
}

/// Adds the items of a menu and of its submenus.
fn add_menu(ctx: &Context, place: &str, menu: &[Entry], entries: &mut Vec<PaletteEntry>) {
    for entry in menu {
        match entry {
            // The palette is already open.
            Entry::Item(item) if item.command == Command::Palette => {}
            Entry::Item(item) => {
                let mut found = PaletteEntry::new(item.command, &item.text, place.into(), &item.doc);
                // "Undo Count 5 to 7" is matched by "undo" only; otherwise it would rank above the parameter itself.
                if matches!(item.command, Command::Undo | Command::Redo) {
                    found.texts = found.texts.with_name(&item.command.text());
                }
                let keys = item.command.shortcut().map(|shortcut| ctx.format_shortcut(&shortcut));
                found.texts = found.texts.with_words(item.command.words());
                // "Lake" finds the water before a project that is called so.
                if matches!(item.command, Command::OpenExample(_) | Command::OpenRecent(_)) {
                    found.texts = found.texts.behind();
                }
                found.note = if item.is_set == Some(true) { "on".into() } else { keys.unwrap_or_default() };
                found.is_enabled = item.is_enabled;
                entries.push(found);
            }
            Entry::Menu(title, menu) => add_menu(ctx, &format!("{place} › {title}"), menu, entries),
            Entry::Separator => {}
        }
    }
}

/// Adds the steps of the stack from the top, each with its parameters.
fn add_steps(recipe: &Recipe, entries: &mut Vec<PaletteEntry>) {
    for (i, step) in recipe.stack.iter().enumerate().rev() {
        let select = Command::SelectStep(i);
        entries.push(PaletteEntry::new(select, step.title(), "Step".into(), step.operation.doc()));
        let masks =
            "Where the step has an effect. Name mask for reuse, below a mask, makes it a named mask for other steps";
        let entry = PaletteEntry::new(select, "Mask", step.title().into(), masks);
        entries.push(entry.with_words("named masks reuse share where"));
        add_parameters(step.operation.group(), ParameterOwner::Step(i), step.title(), entries);
    }
}

/// Adds the parameters of a group that have a row of their own.
fn add_parameters(group: &dyn Group, of: ParameterOwner, title: &str, entries: &mut Vec<PaletteEntry>) {
    let values = group_values(group);
    for parameter in group.table() {
        let has_row = !matches!(parameter.kind, Kind::Weighted | Kind::List(_));
        if has_row && parameter.applies(&values) {
            let show = Command::ShowParameter { of, key: parameter.key };
            let entry = PaletteEntry::new(show, parameter.label, title.into(), parameter.doc);
            // The names of its choices.
            let choices = if let Kind::Choice(choices) = parameter.kind { choices } else { &[] };
            let labels: Vec<&str> = choices.iter().map(|choice| choice.label).collect();
            entries.push(entry.with_words(&labels.join(" ")));
        }
    }
}

/// A row with the command's name, its place and its note.
fn row_ui(ui: &mut Ui, entry: &PaletteEntry, size: Vec2, is_selected: bool) -> Response {
    let sense = if entry.is_enabled { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let name = format!("{} ({})", entry.text, entry.place);
    response.widget_info(|| WidgetInfo::selected(Role::Button, entry.is_enabled, is_selected, &name));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let colours = colours(ui);
    if is_selected {
        ui.painter().rect_filled(rect, 4.0, colours.hovered);
        ui.painter().rect_filled(Rect::from_min_size(rect.min, Vec2::new(2.0, rect.height())), 1.0, colours.accent);
    }
    let inner = rect.shrink2(Vec2::new(10.0, 0.0));
    let right = Layout::right_to_left(Align::Center);
    let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(inner).layout(right));
    inside.spacing_mut().item_spacing.x = 12.0;
    for text in [&entry.note, &entry.place] {
        let small = RichText::new(text).font(FontId::proportional(11.0)).color(colours.weak);
        inside.add(egui::Label::new(small).selectable(false));
    }
    let colour = if entry.is_enabled { colours.text } else { colours.weak };
    inside.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add(egui::Label::new(RichText::new(&entry.text).color(colour)).truncate().selectable(false));
    });
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::document::Document;
    use crate::app::tasks::settings::Settings;
    use crate::app::tools::tool::Tool;
    use crate::app::widgets::search::words;
    use crate::engine::operations::symmetry::Kind as Symmetry;

    fn palette(project: ProjectFile) -> Palette {
        let (document, settings) = (Document::new(project), Settings::default());
        let context = MenuContext {
            document: &document,
            settings: &settings,
            missing: &std::collections::BTreeSet::new(),
            has_recovered: false,
            has_import_notes: false,
            panels: [true; 2],
            selected_step: 0,
            free_bytes: None,
            view_modes: ViewModes::default(),
        };
        Palette::new(&Context::default(), &context)
    }

    /// The command that is selected first.
    fn best(palette: &Palette, query: &str) -> Option<Command> {
        let words = words(query);
        let ranked = palette.entries.iter().filter_map(|entry| Some((entry.texts.rank(&words)?, entry)));
        ranked.min_by_key(|(rank, entry)| (*rank, !entry.is_enabled)).map(|(_, entry)| entry.command)
    }

    #[test]
    fn words_find_commands_steps_parameters_and_presets() {
        let (_, project) = &preset_projects()[0];
        let palette = palette(project.clone());
        let best = |query: &str| best(&palette, query);
        assert_eq!(best("export"), Some(Command::Export));
        assert_eq!(best("dark"), Some(Command::Theme(egui::ThemePreference::Dark)));
        assert_eq!(best("thermal"), Some(Command::AddStep("thermal_erosion")));
        assert!(matches!(best("volcanic"), Some(Command::OpenPreset(_))));
        let top = project.project.recipe.stack.len() - 1;
        let step = &project.project.recipe.stack[top];
        let row = &step.operation.group().table()[0];
        assert_eq!(
            best(&format!("{} {}", step.title(), row.label)),
            Some(Command::ShowParameter { of: ParameterOwner::Step(top), key: row.key })
        );
        assert_eq!(best("no such thing"), None);
        assert!(matches!(best("named mask"), Some(Command::SelectStep(_))), "where one is made");
        let snow = project.project.recipe.texture.types.iter().position(|terrain_type| terrain_type.name == "Snow");
        assert_eq!(best("snow"), snow.map(Command::SelectType), "a type that there is");
    }

    #[test]
    fn what_people_call_things_leads_to_them() {
        let palette = palette(ProjectFile::default());
        let snow = MATERIALS.iter().position(|material| material.title() == "Snow");
        for (query, command) in [
            ("road", Command::Tool(Tool::Path)),
            ("river", Command::Tool(Tool::Path)),
            ("paint", Command::Tool(Tool::MaskBrush)),
            ("flat", Command::Tool(Tool::Pad)),
            ("cliff", Command::Tool(Tool::Fault)),
            ("mirror", Command::Mirror(Some(Symmetry::MirrorEastWest))),
            ("symmetry", Command::AddStep("symmetry")),
            ("hill", Command::Tool(Tool::Brush)),
            ("measure", Command::ProfileLine),
            ("distance", Command::ProfileLine),
            ("pass", Command::Tool(Tool::Path)),
            ("path", Command::Tool(Tool::Path)),
            ("lake", Command::WaterLevel),
            ("vary", Command::Variations),
            ("spectrum", Command::ShowAnalysis(Section::Spectrum)),
            ("rivers and", Command::ShowMap(MapStyle::Water)),
            ("hillshade", Command::ShowMap(MapStyle::Hillshade)),
            ("boulder", Command::AddLayer(3)),
            ("snow", Command::AddType(snow)),
            ("occlusion", Command::ShowParameter { of: ParameterOwner::Light, key: "occlusion" }),
            ("height range", Command::ShowParameter { of: ParameterOwner::World, key: "height_range_m" }),
        ] {
            assert_eq!(best(&palette, query), Some(command), "{query}");
        }
    }
}
