//! Presets as pictures: those that ship and one's own, found by typing.
//!
//! The pictures are drawn by a thumbnail thread of the gallery's own, which is stopped when the gallery closes: what
//! nobody looks at is not drawn. Pictures of one's own presets lie beside them and are there at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Color32, Context, FontId, Key, Modifiers, Pos2, Rect, Response, ScrollArea, Sense, Sides, Stroke,
    StrokeKind, TextEdit, TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo,
};
use egui_material_icons::icons::{ICON_DELETE, ICON_LANDSCAPE, ICON_SEARCH};

use crate::app::preview::thumbnails::color_image;
use crate::app::widgets::search::{rank, words};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{heading, icon_button, main_button, modal};
use crate::engine::Image;
use crate::project::{Project, ProjectFile, preset_projects};
use crate::worker::{Thumbnail, ThumbnailRequest, ThumbnailStyle, Thumbnailer, Wake};

/// The size of a picture, points, and how many pixels of it are drawn along the longer side.
const PICTURE: Vec2 = Vec2::new(168.0, 112.0);
const PIXELS: usize = 256;

/// The size of a card, points, the gap between cards, and how many stand side by side at the most.
const CARD: Vec2 = Vec2::new(176.0, 172.0);
const GAP: f32 = 8.0;
const COLUMNS: usize = 4;

/// The sections in their order.
const SECTIONS: [(Section, &str); 3] =
    [(Section::Own, "Your own"), (Section::Landscape, "Landscapes"), (Section::Source, "After the sources")];

/// How the names of presets begin that follow a published source.
const SOURCES: [&str; 4] = ["krten", "lighthouse", "traagen", "flipcode"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Own,
    Landscape,
    Source,
}

/// A preset of one's own, as it was read.
#[derive(Debug)]
pub(crate) struct UserPreset {
    pub(crate) path: PathBuf,
    pub(crate) file: ProjectFile,
    /// The picture beside it, if there is one.
    pub(crate) picture: Option<Image>,
}

/// What the user wants.
#[derive(Clone, Debug)]
pub(crate) enum GalleryResponse {
    /// To begin with this one.
    Open(ProjectFile),
    /// To have one of the own presets no more.
    Delete(PathBuf),
    Close,
}

struct Card {
    /// What its picture is called.
    key: String,
    section: Section,
    /// Where it lies, if it is one's own.
    path: Option<PathBuf>,
    file: ProjectFile,
    /// What it is found by, in small letters.
    found_by: [String; 3],
}

impl Card {
    fn new(name: &str, section: Section, path: Option<PathBuf>, file: ProjectFile) -> Self {
        let project = &file.project;
        let found_by = [&project.name, name, &project.description].map(|text| text.to_lowercase());
        let kind = if path.is_some() { "own" } else { "preset" };
        Self { key: format!("{kind} {name}"), section, path, file, found_by }
    }
}

enum ThumbnailState {
    Awaited,
    Failed,
    Drawn(TextureHandle),
}

/// The presets and their pictures.
pub(crate) struct Gallery {
    cards: Vec<Card>,
    pictures: BTreeMap<String, ThumbnailState>,
    /// Draws as long as pictures are awaited.
    thumbnailer: Option<Thumbnailer>,
    wake: Wake,
    query: String,
    /// The place of the chosen card among those that are shown, and whether it is to be brought into sight.
    chosen: usize,
    reveal: bool,
    /// The own preset that is about to be deleted.
    doomed: Option<PathBuf>,
}

impl Gallery {
    pub(crate) fn new(wake: Wake) -> Self {
        let shipped = preset_projects().iter().map(|(preset, file)| {
            let is_source = SOURCES.iter().any(|source| preset.name.starts_with(source));
            let section = if is_source { Section::Source } else { Section::Landscape };
            Card::new(preset.name, section, None, file.clone())
        });
        let cards = shipped.collect();
        let (pictures, query) = (BTreeMap::new(), String::new());
        Self { cards, pictures, thumbnailer: None, wake, query, chosen: 0, reveal: false, doomed: None }
    }

    /// Opens it anew.
    pub(crate) fn open(&mut self) {
        self.query.clear();
        self.doomed = None;
        (self.chosen, self.reveal) = (0, true);
        self.ask(|_| true);
    }

    /// Nobody looks any more: only own presets that have no picture yet get one.
    pub(crate) fn close(&mut self) {
        self.thumbnailer = None;
        self.pictures.retain(|_, shown| !matches!(shown, ThumbnailState::Awaited));
        self.ask(|card| card.section == Section::Own);
    }

    /// Has the pictures drawn that lack, in the order of the cards.
    fn ask(&mut self, wanted: impl Fn(&Card) -> bool) {
        for (section, _) in SECTIONS {
            for card in self.cards.iter().filter(|card| card.section == section && wanted(card)) {
                if self.pictures.contains_key(&card.key) {
                    continue;
                }
                if self.thumbnailer.is_none() {
                    self.thumbnailer = Thumbnailer::start(self.wake.clone()).ok();
                }
                let shown = match &self.thumbnailer {
                    Some(thumbnailer) => {
                        thumbnailer.request(ThumbnailRequest {
                            key: card.key.clone(),
                            recipe: Arc::new(card.file.project.recipe.clone()),
                            files: card.file.project.files.clone(),
                            pixels: PIXELS,
                            style: ThumbnailStyle::Texture,
                        });
                        ThumbnailState::Awaited
                    }
                    None => ThumbnailState::Failed,
                };
                self.pictures.insert(card.key.clone(), shown);
            }
        }
    }

    /// Takes what has been drawn; returns the pictures that belong beside own presets.
    pub(crate) fn receive(&mut self, ctx: &Context) -> Vec<(PathBuf, Image)> {
        let mut kept = Vec::new();
        while let Some(Thumbnail { key, image }) = self.thumbnailer.as_ref().and_then(Thumbnailer::take) {
            let shown = match image {
                Ok(image) => {
                    let shown = ThumbnailState::Drawn(upload(ctx, &key, &image));
                    let own = self.cards.iter().find(|card| card.key == key).and_then(|card| card.path.as_deref());
                    kept.extend(own.map(|path| (thumbnail_path(path), image)));
                    shown
                }
                Err(_) => ThumbnailState::Failed,
            };
            self.pictures.insert(key, shown);
        }
        if !self.pictures.values().any(|shown| matches!(shown, ThumbnailState::Awaited)) {
            self.thumbnailer = None;
        }
        kept
    }

    /// The presets of one's own are these now.
    pub(crate) fn set_user_presets(&mut self, ctx: &Context, presets: Vec<UserPreset>) {
        self.cards.retain(|card| card.section != Section::Own);
        let has_own_picture = |key: &str| key.starts_with("own ");
        self.pictures.retain(|key, shown| !has_own_picture(key) || matches!(shown, ThumbnailState::Drawn(_)));
        for UserPreset { path, file, picture } in presets {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let card = Card::new(&name, Section::Own, Some(path), file);
            if let Some(picture) = picture {
                self.pictures.insert(card.key.clone(), ThumbnailState::Drawn(upload(ctx, &card.key, &picture)));
            }
            self.cards.push(card);
        }
        self.ask(|card| card.section == Section::Own);
    }

    /// The cards that fit what was typed, section by section, the best of each first.
    fn found(&self) -> Vec<&Card> {
        let words = words(&self.query);
        let mut found = Vec::new();
        for (section, _) in SECTIONS {
            let cards = self.cards.iter().filter(|card| card.section == section);
            let mut fits: Vec<(usize, &Card)> = cards
                .filter_map(|card| Some((rank(&words, card.found_by.each_ref().map(String::as_str))?, card)))
                .collect();
            fits.sort_by_key(|(rank, _)| *rank);
            found.extend(fits.into_iter().map(|(_, card)| card));
        }
        found
    }

    /// Whether a preset of that name has its picture.
    #[cfg(test)]
    pub(crate) fn shows(&self, name: &str) -> bool {
        let card = self.cards.iter().find(|card| card.file.project.name == name);
        card.is_some_and(|card| matches!(self.pictures.get(&card.key), Some(ThumbnailState::Drawn(_))))
    }

    /// Draws the gallery.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<GalleryResponse> {
        let window = ctx.content_rect();
        let fits = ((window.width() - 96.0 + GAP) / (CARD.x + GAP)) as usize;
        let columns = fits.clamp(1, COLUMNS);
        let modal = modal("presets", ctx).show(ctx, |ui| {
            ui.set_width(columns as f32 * (CARD.x + GAP) + 8.0);
            let mut decision = None;
            ui.horizontal(|ui| {
                ui.heading("Presets");
                ui.add_space(8.0);
                ui.label(ICON_SEARCH.rich_text().size(16.0).color(colours(ui).weak));
                let hint = "Search by name or by what it is like";
                let field = TextEdit::singleline(&mut self.query).hint_text(hint).desired_width(f32::INFINITY);
                let response = ui.add(field);
                response.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Search presets"));
                if response.changed() {
                    (self.chosen, self.reveal) = (0, true);
                }
                if self.doomed.is_none() {
                    response.request_focus();
                }
            });
            ui.add_space(4.0);
            let height = (window.height() - 200.0).clamp(CARD.y, 3.4 * CARD.y);
            decision = self.cards_ui(ui, columns, height).or(decision);
            ui.add_space(8.0);
            self.foot_ui(ui).or(decision)
        });
        let closes = modal.should_close();
        modal.inner.or(closes.then_some(GalleryResponse::Close))
    }

    fn cards_ui(&mut self, ui: &mut Ui, columns: usize, height: f32) -> Option<GalleryResponse> {
        let found = self.found();
        let rows = rows(&found, columns);
        let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let before = self.chosen.min(found.len().saturating_sub(1));
        let mut chosen = before;
        if pressed(Key::ArrowRight) {
            chosen = (chosen + 1).min(found.len().saturating_sub(1));
        }
        if pressed(Key::ArrowLeft) {
            chosen = chosen.saturating_sub(1);
        }
        for (key, down) in [(Key::ArrowDown, true), (Key::ArrowUp, false)] {
            if pressed(key) {
                chosen = beside(&rows, chosen, down);
            }
        }
        let reveal = self.reveal || chosen != before;
        let mut decision = None;
        if pressed(Key::Enter) {
            decision = found.get(chosen).map(|card| GalleryResponse::Open(card.file.clone()));
        }
        let (mut pointed, mut doomed) = (None, None);
        let area = ScrollArea::vertical().max_height(height).min_scrolled_height(height).auto_shrink(false);
        area.show(ui, |ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(GAP);
            let mut section = None;
            for row in &rows {
                let Some(first) = row.first().and_then(|i| found.get(*i)) else { continue };
                if section.replace(first.section) != Some(first.section) {
                    let title = SECTIONS.iter().find(|(section, _)| *section == first.section);
                    heading(ui, title.map_or("", |(_, title)| title));
                }
                ui.horizontal(|ui| {
                    for &i in row {
                        let card = found[i];
                        let response = card_ui(ui, card, i == chosen, self.pictures.get(&card.key));
                        if i == chosen && reveal {
                            response.scroll_to_me(None);
                        }
                        if let Some(path) = &card.path {
                            let corner = Rect::from_min_size(
                                response.rect.right_top() + Vec2::new(-28.0, 8.0),
                                Vec2::splat(20.0),
                            );
                            let mut place = ui.new_child(egui::UiBuilder::new().max_rect(corner));
                            if icon_button(&mut place, ICON_DELETE, &format!("Delete {}", card.file.project.name))
                                .clicked()
                            {
                                doomed = Some(path.clone());
                            }
                        }
                        if response.clicked() {
                            decision = Some(GalleryResponse::Open(card.file.clone()));
                        }
                        // A card that is scrolled under a resting pointer is not chosen by it.
                        if response.hovered() && ui.input(|input| input.pointer.delta() != Vec2::ZERO) {
                            pointed = Some(i);
                        }
                    }
                });
            }
            if found.is_empty() {
                ui.weak("No preset is like that. Try what there is in it: snow, island, cliffs…");
            }
        });
        self.reveal = false;
        self.chosen = pointed.unwrap_or(chosen);
        if doomed.is_some() {
            self.doomed = doomed;
            return None;
        }
        decision
    }

    /// What can be done below the cards: closing, or the question before one is deleted.
    fn foot_ui(&mut self, ui: &mut Ui) -> Option<GalleryResponse> {
        let Some(doomed) = self.doomed.clone() else {
            let hint =
                egui::RichText::new("Arrows choose, Enter opens; Space then plays how it rose; the way back is undo");
            let hint = hint.size(11.0).color(colours(ui).weak);
            let closes = Sides::new().show(ui, |ui| ui.label(hint), |ui| ui.button("Close").clicked()).1;
            return closes.then_some(GalleryResponse::Close);
        };
        let name = self.cards.iter().find(|card| card.path.as_deref() == Some(&*doomed));
        let name = name.map(|card| card.file.project.name.clone()).unwrap_or_default();
        let (_, [delete, keep]) = Sides::new().show(
            ui,
            |ui| ui.label(format!("Delete the preset {name} and its file?")),
            |ui| [main_button(ui, "Delete it", true).clicked(), ui.button("Keep it").clicked()],
        );
        if delete || keep {
            self.doomed = None;
        }
        delete.then_some(GalleryResponse::Delete(doomed))
    }
}

/// Where the picture of an own preset lies.
pub(crate) fn thumbnail_path(preset: &Path) -> PathBuf {
    let name = preset.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(crate::project::PROJECT_SUFFIX).unwrap_or(&name);
    preset.with_file_name(format!("{stem}.png"))
}

fn upload(ctx: &Context, key: &str, picture: &Image) -> TextureHandle {
    ctx.load_texture(key, color_image(picture), TextureOptions::LINEAR)
}

/// The places of the cards in rows; a section begins a row.
fn rows(found: &[&Card], columns: usize) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (i, card) in found.iter().enumerate() {
        let goes_on = rows.last().filter(|row| row.len() < columns && found[row[0]].section == card.section).is_some();
        match rows.last_mut() {
            Some(row) if goes_on => row.push(i),
            _ => rows.push(vec![i]),
        }
    }
    rows
}

/// The card above or below another one.
fn beside(rows: &[Vec<usize>], chosen: usize, down: bool) -> usize {
    let Some((row, column)) =
        rows.iter().enumerate().find_map(|(row, cards)| Some((row, cards.iter().position(|i| *i == chosen)?)))
    else {
        return chosen;
    };
    let next = if down { row.checked_add(1) } else { row.checked_sub(1) };
    let cards = next.and_then(|next| rows.get(next));
    cards.and_then(|cards| cards.get(column.min(cards.len() - 1))).copied().unwrap_or(chosen)
}

/// A card: picture, name, what it is like.
fn card_ui(ui: &mut Ui, card: &Card, is_chosen: bool, shown: Option<&ThumbnailState>) -> Response {
    let (rect, response) = ui.allocate_exact_size(CARD, Sense::click());
    let name = crate::app::document::title(&card.file.project);
    let doc = &card.file.project.description;
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, is_chosen, name));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_description(doc.as_str()));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let colours = colours(ui);
    let painter = ui.painter();
    let fill = if is_chosen { colours.hovered } else { colours.raised };
    let line = if is_chosen { colours.accent } else { colours.raised };
    painter.rect(rect, 4.0, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    let picture = Rect::from_min_size(rect.min + Vec2::splat(4.0), PICTURE);
    painter.rect_filled(picture, 3.0, colours.sunken);
    match shown {
        Some(ThumbnailState::Drawn(texture)) => {
            // The middle of the land, in the card's proportions.
            let (wide, own) = (texture.aspect_ratio(), PICTURE.x / PICTURE.y);
            let share = Vec2::new((own / wide).min(1.0), (wide / own).min(1.0));
            let part = Rect::from_center_size(Pos2::new(0.5, 0.5), share);
            painter.image(texture.id(), picture, part, Color32::WHITE);
        }
        Some(ThumbnailState::Failed) => {
            let font = FontId::new(24.0, ICON_LANDSCAPE.font_family());
            painter.text(picture.center(), Align2::CENTER_CENTER, ICON_LANDSCAPE.codepoint, font, colours.weak);
        }
        Some(ThumbnailState::Awaited) | None => {
            ui.ctx().accesskit_node_builder(response.id, egui::accesskit::Node::set_busy);
            painter.text(picture.center(), Align2::CENTER_CENTER, "drawing…", FontId::proportional(11.0), colours.weak);
        }
    }
    let width = CARD.x - 16.0;
    let lines = |text: &str, size: f32, colour: Color32, rows: usize| {
        let format = TextFormat { font_id: FontId::proportional(size), color: colour, ..Default::default() };
        let mut job = LayoutJob::single_section(text.to_string(), format);
        (job.wrap.max_width, job.wrap.max_rows) = (width, rows);
        painter.layout_job(job)
    };
    let at = Pos2::new(rect.left() + 8.0, picture.bottom() + 4.0);
    let title = lines(name, 13.0, colours.text, 1);
    let below = at + Vec2::new(0.0, title.size().y + 1.0);
    painter.galley(at, title, colours.text);
    painter.galley(below, lines(doc, 11.0, colours.weak, 2), colours.weak);
    response.on_hover_text(doc)
}

/// The window in which a preset of one's own gets its name.
#[derive(Debug)]
pub(crate) struct SavePresetDialog {
    name: String,
    description: String,
}

impl SavePresetDialog {
    pub(crate) fn new(project: &Project) -> Self {
        Self { name: project.name.clone(), description: project.description.clone() }
    }

    #[cfg(test)]
    pub(crate) fn rename(&mut self, name: &str) {
        self.name = name.into();
    }

    /// Draws it; `Some` once the user has decided, with the name and the sentence of the preset.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<Option<[String; 2]>> {
        let modal = modal("save preset", ctx).show(ctx, |ui| {
            ui.set_width(360.0);
            ui.heading("Save as a preset of your own");
            ui.add_space(4.0);
            for (label, text) in [("Name", &mut self.name), ("What it is like", &mut self.description)] {
                let label = ui.label(label);
                ui.add(TextEdit::singleline(text).desired_width(f32::INFINITY)).labelled_by(label.id);
            }
            ui.weak("It gets its picture in the gallery of presets.");
            ui.add_space(8.0);
            let usable = !self.name.trim().is_empty();
            let entered = usable && ui.input(|input| input.key_pressed(Key::Enter));
            let (_, [save, cancel]) = Sides::new().show(
                ui,
                |_| {},
                |ui| [main_button(ui, "Save preset", usable).clicked(), ui.button("Cancel").clicked()],
            );
            [save || entered, cancel]
        });
        let [save, cancel] = modal.inner;
        if save {
            Some(Some([self.name.trim().to_string(), self.description.trim().to_string()]))
        } else {
            (cancel || modal.should_close()).then_some(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gallery() -> Gallery {
        Gallery::new(Arc::new(|| {}))
    }

    #[test]
    fn presets_are_found_by_name_and_by_what_they_are_like() {
        let mut gallery = gallery();
        assert_eq!(gallery.found().len(), preset_projects().len());
        let mut first = |query: &str| {
            gallery.query = query.into();
            gallery.found().first().map(|card| card.key.clone())
        };
        assert_eq!(first("volc").as_deref(), Some("preset volcanic-island"));
        assert_eq!(first("KRTEN rain").as_deref(), Some("preset krten-rain"));
        assert_eq!(first("volcanic krten"), None);
    }

    #[test]
    fn arrows_go_from_row_to_row_and_stay_at_the_ends() {
        let gallery = gallery();
        let found = gallery.found();
        let rows = rows(&found, 4);
        assert!(
            rows.iter().all(|row| row.len() <= 4 && row.iter().all(|i| found[*i].section == found[row[0]].section))
        );
        assert_eq!(rows.concat(), (0..found.len()).collect::<Vec<_>>());
        assert_eq!((beside(&rows, 0, false), beside(&rows, 1, true)), (0, 5));
        let last = found.len() - 1;
        assert_eq!(beside(&rows, last, true), last);
        let short = rows.iter().position(|row| row.len() < 4).expect("a row that is not full");
        assert_eq!(beside(&rows, rows[short - 1][3], true), *rows[short].last().expect("a card"));
    }

    #[test]
    fn a_preset_s_picture_lies_beside_it() {
        assert_eq!(thumbnail_path(Path::new("/p/my.land.upthrust.json")), Path::new("/p/my.land.png"));
    }
}
