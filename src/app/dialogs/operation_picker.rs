//! The picker: every operation as a card with its picture, found by typing.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Color32, FontId, Key, Modifiers, Popup, PopupCloseBehavior, Pos2, Rect, RectAlign, Response, ScrollArea,
    Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
};
use egui_material_icons::icons::ICON_LANDSCAPE;

use crate::app::commands::Command;
use crate::app::preview::thumbnails::{ThumbnailState, Thumbnails};
use crate::app::widgets::heading;
use crate::app::widgets::search::{rank, search_ui, texts, words};
use crate::app::widgets::theme::colours;
use crate::engine::fault::Profile;
use crate::engine::operations::Role;
use crate::engine::operations::faults::{Decay, Faults};
use crate::engine::parameters::FileName;
use crate::engine::recipe::World;
use crate::engine::{AnyOperation, Recipe, Step};
use crate::worker::{InputFiles, ThumbnailRequest, ThumbnailStyle};

/// The size of a picture on a card, points, and how many pixels of it are drawn across: two a point, for fine screens.
const PICTURE: Vec2 = Vec2::new(96.0, 64.0);
const PIXELS: usize = 192;

/// The size of a card, points, and the gap between cards.
const CARD: Vec2 = Vec2::new(352.0, 72.0);
const GAP: f32 = 4.0;

/// Lines of the doc sentence that a card has room for.
const DOC_LINES: usize = 3;

/// In windows at least this wide the sections stand side by side; in others one above the other, so that the views
/// beside them stay in sight.
const WIDE: f32 = 1500.0;

/// The sections in their order.
const SECTIONS: [(Role, &str); 2] = [(Role::Generator, "Raise"), (Role::Modifier, "Shape")];

/// The name of the picture that shows the land before an operation shapes it.
const BEFORE: &str = "before";

/// The popup from which steps are added.
pub(crate) struct OperationPicker {
    entries: Vec<Entry>,
    is_open: bool,
    query: String,
    /// The place of the chosen card among those that are shown.
    chosen: usize,
    /// Whether the chosen card is to be brought into sight.
    reveal: bool,
}

impl OperationPicker {
    pub(crate) fn new() -> Self {
        Self { entries: entries(), is_open: false, query: String::new(), chosen: 0, reveal: false }
    }

    /// Opens it anew.
    pub(crate) fn open(&mut self, thumbnails: &mut Thumbnails, query: &str) {
        thumbnails.ask(BEFORE, || thumbnail_request(BEFORE, Role::Modifier, plain_steps()));
        for Entry { operation, .. } in &self.entries {
            let request = || thumbnail_request(operation.key(), operation.role(), example_steps(operation));
            thumbnails.ask(operation.key(), request);
        }
        self.is_open = true;
        query.clone_into(&mut self.query);
        self.choose_best();
    }

    /// Chooses what fits best what was typed.
    fn choose_best(&mut self) {
        let found = found(&self.entries, &self.query);
        let best = found.iter().enumerate().min_by_key(|(_, found)| found.rank).map_or(0, |(place, _)| place);
        self.choose(best);
    }

    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    fn choose(&mut self, place: usize) {
        self.chosen = place;
        self.reveal = true;
    }

    /// Draws the picker, if it is open, below the button that opens it; returns what the user has chosen.
    pub(crate) fn ui(&mut self, button: &Response, thumbnails: &Thumbnails) -> Option<Command> {
        if !self.is_open {
            return None;
        }
        let window = button.ctx.content_rect();
        let columns = if window.width() >= WIDE { SECTIONS.len() } else { 1 };
        // Over the panel of the button rather than over the views.
        let corner = Pos2::new(window.left() + 8.0, button.rect.bottom() + 6.0);
        let mut open = true;
        let popup = Popup::from_response(button)
            .id(egui::Id::unique("picker"))
            .at_position(corner)
            .align(RectAlign::BOTTOM_START)
            .gap(0.0)
            .open_bool(&mut open)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .accessible_name("Add a step");
        let shown = popup.show(|ui| {
            // Above the timeline, if there is room enough.
            let space = window.bottom() - 72.0 - corner.y;
            self.content_ui(ui, thumbnails, columns, space)
        });
        let added = shown.and_then(|shown| shown.inner);
        self.is_open &= open && added.is_none();
        added.map(Command::AddStep)
    }

    fn content_ui(&mut self, ui: &mut Ui, thumbnails: &Thumbnails, columns: usize, space: f32) -> Option<&'static str> {
        // With room for the scroll bar.
        ui.set_width(columns as f32 * (CARD.x + 8.0) + 4.0);
        // Before the field sees them: to it they are motions of the caret.
        let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let (up, down, enter) = (pressed(Key::ArrowUp), pressed(Key::ArrowDown), pressed(Key::Enter));
        let aside = self.query.is_empty() && columns > 1;
        let (left, right) = (aside && pressed(Key::ArrowLeft), aside && pressed(Key::ArrowRight));
        if search_ui(ui, &mut self.query, "Search by name or by what it does") {
            self.choose_best();
        }
        let found = found(&self.entries, &self.query);
        let before = self.chosen;
        let first = found.iter().filter(|found| found.operation.role() == Role::Generator).count();
        let mut chosen = before.min(found.len().saturating_sub(1));
        if down && chosen + 1 < found.len() {
            chosen += 1;
        }
        if up && chosen > 0 {
            chosen -= 1;
        }
        if right && chosen < first && first < found.len() {
            chosen = (first + chosen).min(found.len() - 1);
        } else if left && chosen >= first && first > 0 {
            chosen = (chosen - first).min(first - 1);
        }
        let reveal = std::mem::take(&mut self.reveal) || chosen != before;
        let mut added = found.get(chosen).filter(|_| enter).map(|found| found.operation.key());
        ui.add_space(4.0);
        // As high whatever is found, so that nothing jumps while one types.
        let rows = |role| self.entries.iter().filter(|entry| entry.operation.role() == role).count() as f32;
        let heights = SECTIONS.map(|(role, _)| 24.0 + rows(role) * (CARD.y + GAP));
        let whole = if columns > 1 { heights.into_iter().fold(0.0, f32::max) } else { heights.iter().sum() };
        let height = whole.min(space - 76.0).max(CARD.y);
        let mut pointed = None;
        let mut section_ui = |ui: &mut Ui, place: usize| {
            let (role, title) = SECTIONS[place];
            let offset = if place == 0 { 0 } else { first };
            let cards: Vec<&Found> = found.iter().filter(|found| found.operation.role() == role).collect();
            if cards.is_empty() {
                return;
            }
            heading(ui, title);
            for (i, card) in cards.into_iter().enumerate() {
                let is_chosen = offset + i == chosen;
                let response = card_ui(ui, card.operation, is_chosen, thumbnails);
                if is_chosen && reveal {
                    response.scroll_to_me(None);
                }
                if response.clicked() {
                    added = Some(card.operation.key());
                }
                // A card that is scrolled under a resting pointer is not chosen by it.
                if response.hovered() && ui.input(|input| input.pointer.delta() != Vec2::ZERO) {
                    pointed = Some(offset + i);
                }
            }
            ui.add_space(4.0);
        };
        ScrollArea::vertical().max_height(height).min_scrolled_height(height).auto_shrink(false).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = GAP;
            if columns > 1 {
                ui.horizontal_top(|ui| {
                    for place in 0..SECTIONS.len() {
                        ui.vertical(|ui| {
                            ui.set_width(CARD.x);
                            section_ui(ui, place);
                        });
                    }
                });
            } else {
                (0..SECTIONS.len()).for_each(|place| section_ui(ui, place));
            }
            if found.is_empty() {
                ui.weak("Nothing is called that. Try what it does: smooth, cut, hills…");
            }
        });
        ui.add_space(2.0);
        ui.label(egui::RichText::new("Arrows choose, Enter adds, Esc closes").size(11.0).color(colours(ui).weak));
        self.chosen = pointed.unwrap_or(chosen);
        added
    }
}

/// What was typed in the same frame as the key that opens the picker, after it.
pub(crate) fn text_typed_ahead(ctx: &egui::Context) -> String {
    ctx.input(|input| texts(&input.events).skip_while(|text| *text != "A").skip(1).collect())
}

/// An operation with its default parameters, and what it is found by, in small letters.
struct Entry {
    operation: AnyOperation,
    label: String,
    key: String,
    doc: String,
}

/// Every operation.
fn entries() -> Vec<Entry> {
    let entry = |operation: AnyOperation| {
        let [label, key, doc] = [operation.label(), operation.key(), operation.doc()].map(str::to_lowercase);
        Entry { operation, label, key, doc }
    };
    AnyOperation::all().into_iter().map(entry).collect()
}

/// An operation that fits what was typed.
struct Found<'a> {
    operation: &'a AnyOperation,
    /// How well it fits: less is better.
    rank: usize,
}

/// The operations in which every typed word occurs, section by section, the best of each first.
fn found<'a>(entries: &'a [Entry], query: &str) -> Vec<Found<'a>> {
    let words = words(query);
    let mut all = Vec::new();
    for (role, _) in SECTIONS {
        let section = entries.iter().filter(|entry| entry.operation.role() == role);
        let fits = section.filter_map(|entry| {
            Some(Found { operation: &entry.operation, rank: rank(&words, [&entry.label, &entry.key, &entry.doc])? })
        });
        let first = all.len();
        all.extend(fits);
        all[first..].sort_by_key(|found: &Found| found.rank);
    }
    all
}

/// A card: picture, name, what it does to the land.
fn card_ui(ui: &mut Ui, operation: &AnyOperation, is_chosen: bool, thumbnails: &Thumbnails) -> Response {
    let (rect, response) = ui.allocate_exact_size(CARD, Sense::click());
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, is_chosen, operation.label()));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_description(operation.doc()));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let colours = colours(ui);
    let painter = ui.painter();
    let fill = if is_chosen { colours.hovered } else { colours.raised };
    let line = if is_chosen { colours.accent } else { colours.raised };
    painter.rect(rect, 4.0, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    let picture = Rect::from_min_size(rect.min + Vec2::splat(4.0), PICTURE);
    picture_ui(ui, picture, operation, thumbnails);
    let text = Rect::from_min_max(Pos2::new(picture.right() + 10.0, rect.top() + 6.0), rect.max - Vec2::splat(8.0));
    let name = painter.text(text.min, Align2::LEFT_TOP, operation.label(), FontId::proportional(13.0), colours.text);
    let format = TextFormat { font_id: FontId::proportional(11.0), color: colours.weak, ..Default::default() };
    let mut job = LayoutJob::single_section(operation.doc().to_string(), format);
    (job.wrap.max_width, job.wrap.max_rows) = (text.width(), DOC_LINES);
    let doc = painter.layout_job(job);
    let is_cut = doc.elided;
    painter.galley(Pos2::new(text.left(), name.bottom() + 1.0), doc, colours.weak);
    if is_cut { response.on_hover_text(operation.doc()) } else { response }
}

/// The operation's land; of one that shapes, the land before it on the left and after it on the right.
fn picture_ui(ui: &Ui, rect: Rect, operation: &AnyOperation, thumbnails: &Thumbnails) {
    let colours = colours(ui);
    let halves = match operation.role() {
        Role::Generator => vec![(operation.key(), 0.0, 1.0)],
        Role::Modifier => vec![(BEFORE, 0.0, 0.5), (operation.key(), 0.5, 1.0)],
    };
    ui.painter().rect_filled(rect, 3.0, colours.sunken);
    for (key, from, to) in halves {
        match thumbnails.get(key) {
            Some(ThumbnailState::Drawn(texture)) => {
                // Of a deeper world the middle, from west to east.
                let share = texture.aspect_ratio() * PICTURE.y / PICTURE.x;
                let part = Rect::from_min_max(Pos2::new(from, 0.5 - 0.5 * share), Pos2::new(to, 0.5 + 0.5 * share));
                let [left, right] = [from, to].map(|share| egui::lerp(rect.x_range(), share));
                let place = Rect::from_x_y_ranges(left..=right, rect.y_range());
                ui.painter().image(texture.id(), place, part, Color32::WHITE);
            }
            Some(ThumbnailState::Failed) => {
                let middle = rect.lerp_inside(Vec2::new(0.5 * (from + to), 0.5));
                let font = FontId::new(24.0, ICON_LANDSCAPE.font_family());
                ui.painter().text(middle, Align2::CENTER_CENTER, ICON_LANDSCAPE.codepoint, font, colours.weak);
            }
            Some(ThumbnailState::Awaited) | None => {}
        }
    }
    if operation.role() == Role::Modifier {
        ui.painter().vline(rect.center().x, rect.y_range(), Stroke::new(1.0, colours.raised));
    }
}

/// The order of a picture: of the default world, whose middle the card shows; of an operation that shapes, of a world in
/// the card's proportions, since what it does at the border must be seen.
fn thumbnail_request(key: &str, role: Role, (mut stack, files): (Vec<Step>, InputFiles)) -> ThumbnailRequest {
    for (step, seed) in stack.iter_mut().zip(0..) {
        step.settings.seed = seed;
    }
    let mut world = World::default();
    if role == Role::Modifier {
        world.depth_m = world.width_m * f64::from(PICTURE.y / PICTURE.x);
    }
    let recipe = Recipe { seed: 5, world, stack, ..Default::default() };
    let style = ThumbnailStyle::Relief;
    ThumbnailRequest { key: key.into(), recipe: Arc::new(recipe), files, pixels: PIXELS, style }
}

/// What shows best what an operation does: its own land, or what it makes of plain fault land.
fn example_steps(operation: &AnyOperation) -> (Vec<Step>, InputFiles) {
    let (mut steps, mut files) = match operation.role() {
        Role::Generator => (Vec::new(), InputFiles::new()),
        Role::Modifier => plain_steps(),
    };
    let mut operation = operation.clone();
    if let AnyOperation::Heightmap(heightmap) = &mut operation {
        // It has no file of its own.
        let name = FileName("mountain.pgm".into());
        heightmap.file = name.clone();
        files.insert(name, Arc::new(mountain_pgm()));
    }
    steps.push(Step::new(operation));
    (steps, files)
}

/// Fault land that has something for every operation: broad hills and hollows, and cracks in them.
fn plain_steps() -> (Vec<Step>, InputFiles) {
    let hills = Faults {
        count: 120,
        displacement_m: 60.0,
        decay: Decay::Constant,
        profile: Profile::Cosine,
        zone_m: 700.0,
        ..Default::default()
    };
    let cracks = Faults { count: 250, displacement_m: 4.0, decay: Decay::Constant, ..Default::default() };
    (vec![Step::new(hills), Step::new(cracks)], InputFiles::new())
}

/// A mountain with a crater, as a grey picture.
fn mountain_pgm() -> Vec<u8> {
    const SIDE: u8 = 64;
    let mut bytes = format!("P5 {SIDE} {SIDE} 255\n").into_bytes();
    for z in 0..SIDE {
        for x in 0..SIDE {
            let from_middle = |place: u8| (f64::from(place) + 0.5) / f64::from(SIDE) * 2.0 - 1.0;
            let (x, z) = (1.5 * from_middle(x), from_middle(z));
            let (distance, direction) = ((x * x + z * z).sqrt(), libm::atan2(z, x));
            let ribs = 1.0 + 0.1 * libm::sin(7.0 * direction + 3.0 * libm::sin(5.0 * distance)) * distance.min(1.0);
            let slope = libm::exp(-1.4 * distance * ribs);
            let crater = 0.55 * libm::exp(-40.0 * distance * distance);
            bytes.push((255.0 * (slope - crater).clamp(0.0, 1.0)) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(query: &str) -> Vec<&'static str> {
        let entries = entries();
        found(&entries, query).into_iter().map(|found| found.operation.key()).collect()
    }

    fn best(query: &str) -> Option<&'static str> {
        let entries = entries();
        found(&entries, query).into_iter().min_by_key(|found| found.rank).map(|found| found.operation.key())
    }

    #[test]
    fn without_a_word_there_is_everything_and_what_raises_comes_first() {
        let entries = entries();
        let found = found(&entries, "  ");
        assert_eq!(found.len(), entries.len());
        let shapes = |found: &Found| found.operation.role() == Role::Modifier;
        assert!(found.iter().map(shapes).is_sorted());
    }

    #[test]
    fn operations_are_found_by_name_key_and_what_they_do() {
        assert_eq!(best("terr"), Some("terrace"));
        assert_eq!(best("FAULTS"), Some("faults"));
        assert_eq!(best("blur gauss"), Some("gaussian_blur"));
        assert_eq!(best("edge_fade"), Some("edge_fade"));
        assert!(keys("imported").contains(&"heightmap"));
        assert!(keys("terrace faults").is_empty());
    }

    #[test]
    fn every_operation_has_an_example_that_is_whole() {
        for operation in AnyOperation::all() {
            let request = thumbnail_request(operation.key(), operation.role(), example_steps(&operation));
            assert_eq!(request.recipe.stack.last().map(|step| step.operation.key()), Some(operation.key()));
            assert!(request.recipe.files().iter().all(|name| request.files.contains_key(name)));
        }
    }
}
