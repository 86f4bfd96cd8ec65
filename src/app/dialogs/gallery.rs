//! The gallery of presets: those that ship and the user's own, each with a thumbnail, found by typing.
//!
//! The gallery has its own thumbnail thread, which stops when the gallery closes. Thumbnails of the user's presets are
//! files next to the presets and are not rendered again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Context, FontId, Rect, Response, RichText, Sides, Ui, Vec2};
use egui_material_icons::icons::ICON_DELETE;

use crate::app::dialogs::save_preset::SameName;
use crate::app::document::title;
use crate::app::preview::thumbnails::{ThumbnailState, upload};
use crate::app::widgets::search::SearchTexts;
use crate::app::widgets::search_list::{Arrangement, SearchItem, SearchLayout, SearchList};
use crate::app::widgets::theme::colours;
use crate::app::widgets::thumbnail_card::{CardLayout, card_ui, thumbnail_ui};
use crate::app::widgets::{icon_button, main_button, modal};
use crate::engine::Image;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::project::{ProjectFile, preset_projects};
use crate::worker::{Thumbnail, ThumbnailRequest, ThumbnailStyle, Thumbnailer, Wake};

/// The layout of a card.
const CARD: CardLayout =
    CardLayout { size: Vec2::new(176.0, 178.0), thumbnail: Vec2::new(168.0, 105.0), is_wide: false, doc_lines: 3 };

/// The longer side of a thumbnail, pixels.
const PIXELS: usize = 256;

/// The gap between cards, points, and the most cards in a row.
const GAP: f32 = 8.0;
const MAX_COLUMNS: usize = 4;

/// The sections in their order.
const SECTIONS: [(Section, &str); 3] =
    [(Section::User, "Your presets"), (Section::Landscape, "Landscapes"), (Section::Source, "Classic algorithms")];

/// The prefixes of the names of presets that follow a published source.
const SOURCES: [&str; 4] = ["krten", "lighthouse", "traagen", "flipcode"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    User,
    Landscape,
    Source,
}

/// A preset of the user, as it was read.
#[derive(Debug)]
pub(crate) struct UserPreset {
    pub(crate) path: PathBuf,
    pub(crate) file: ProjectFile,
    /// The thumbnail next to it, if there is one.
    pub(crate) thumbnail: Option<Image>,
}

/// What the user did in the gallery.
#[derive(Clone, Debug)]
pub(crate) enum GalleryResponse {
    Open(ProjectFile),
    /// Deletes the user's preset at that path.
    Delete(PathBuf),
    Close,
}

struct Card {
    /// The key of its thumbnail.
    key: String,
    section: Section,
    /// The file of a preset of the user.
    path: Option<PathBuf>,
    file: ProjectFile,
    texts: SearchTexts,
}

impl Card {
    fn new(name: &str, section: Section, path: Option<PathBuf>, file: ProjectFile) -> Self {
        let project = &file.project;
        let texts = SearchTexts::new(&project.name, name, &project.description);
        let kind = if path.is_some() { USER_KEY } else { "preset " };
        Self { key: format!("{kind}{name}"), section, path, file, texts }
    }
}

/// The prefix of the keys of the user's presets.
const USER_KEY: &str = "user ";

/// The presets and their thumbnails.
pub(crate) struct Gallery {
    cards: Vec<Card>,
    thumbnails: BTreeMap<String, ThumbnailState>,
    /// The thumbnail thread, while thumbnails are pending.
    thumbnailer: Option<Thumbnailer>,
    wake: Wake,
    list: SearchList,
    /// The visible cards for which thumbnails were moved to the front of the queue.
    visible_cards: Vec<usize>,
    /// The preset of the user whose deletion is to be confirmed.
    to_delete: Option<PathBuf>,
}

impl Gallery {
    pub(crate) fn new(wake: Wake) -> Self {
        let shipped = preset_projects().iter().map(|(preset, file)| {
            let is_source = SOURCES.iter().any(|source| preset.name.starts_with(source));
            let section = if is_source { Section::Source } else { Section::Landscape };
            Card::new(preset.name, section, None, file.clone())
        });
        let (cards, thumbnails, list) = (shipped.collect(), BTreeMap::new(), SearchList::default());
        Self { cards, thumbnails, thumbnailer: None, wake, list, visible_cards: Vec::new(), to_delete: None }
    }

    /// Opens the gallery with an empty query.
    pub(crate) fn open(&mut self) {
        self.list = SearchList::new(String::new());
        self.to_delete = None;
        self.request(|_| true);
    }

    /// Stops drawing thumbnails, except of the user's presets that have none.
    pub(crate) fn close(&mut self) {
        self.thumbnailer = None;
        self.thumbnails.retain(|_, state| !matches!(state, ThumbnailState::Pending));
        self.request(|card| card.section == Section::User);
    }

    /// Requests the missing thumbnails of some cards, in the order of the cards.
    fn request(&mut self, is_wanted: impl Fn(&Card) -> bool) {
        self.visible_cards.clear();
        for (section, _) in SECTIONS {
            for card in self.cards.iter().filter(|card| card.section == section && is_wanted(card)) {
                if self.thumbnails.contains_key(&card.key) {
                    continue;
                }
                if self.thumbnailer.is_none() {
                    self.thumbnailer = Thumbnailer::start(self.wake.clone()).ok();
                }
                let state = match &self.thumbnailer {
                    Some(thumbnailer) => {
                        thumbnailer.request(ThumbnailRequest {
                            key: card.key.clone(),
                            recipe: Arc::new(card.file.project.recipe.clone()),
                            files: card.file.project.files.clone(),
                            pixels: PIXELS,
                            style: ThumbnailStyle::Texture,
                        });
                        ThumbnailState::Pending
                    }
                    None => ThumbnailState::Failed,
                };
                self.thumbnails.insert(card.key.clone(), state);
            }
        }
    }

    /// Uploads the thumbnails that were drawn since the last call; returns those of the user's presets, to be saved
    /// next to them.
    pub(crate) fn receive(&mut self, ctx: &Context) -> Vec<(PathBuf, Image)> {
        let mut to_save = Vec::new();
        while let Some(Thumbnail { key, image }) = self.thumbnailer.as_ref().and_then(Thumbnailer::take) {
            let state = match image {
                Ok(image) => {
                    let state = ThumbnailState::Ready(upload(ctx, &key, &image));
                    let path = self.cards.iter().find(|card| card.key == key).and_then(|card| card.path.as_deref());
                    to_save.extend(path.map(|path| (thumbnail_path(path), image)));
                    state
                }
                Err(_) => ThumbnailState::Failed,
            };
            self.thumbnails.insert(key, state);
        }
        if !self.thumbnails.values().any(|state| matches!(state, ThumbnailState::Pending)) {
            self.thumbnailer = None;
        }
        to_save
    }

    /// Replaces the user's presets.
    pub(crate) fn set_user_presets(&mut self, ctx: &Context, presets: Vec<UserPreset>) {
        self.cards.retain(|card| card.section != Section::User);
        self.thumbnails.retain(|key, state| !key.starts_with(USER_KEY) || matches!(state, ThumbnailState::Ready(_)));
        for UserPreset { path, file, thumbnail } in presets {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let card = Card::new(&name, Section::User, Some(path), file);
            if let Some(image) = thumbnail {
                let texture = upload(ctx, &card.key, &image);
                self.thumbnails.insert(card.key.clone(), ThumbnailState::Ready(texture));
            }
            self.cards.push(card);
        }
        self.request(|card| card.section == Section::User);
    }

    /// A preset that has a name already, in whatever case; one of the user comes first.
    pub(crate) fn find(&self, name: &str) -> Option<SameName> {
        let same = |card: &&Card| card.file.project.name.to_lowercase() == name.to_lowercase();
        let user = self.cards.iter().filter(same).find_map(|card| card.path.clone().map(SameName::User));
        user.or_else(|| self.cards.iter().any(|card| same(&card)).then_some(SameName::Shipped))
    }

    /// Forgets the thumbnail of a preset of the user that was written again.
    pub(crate) fn forget_thumbnail(&mut self, path: &Path) {
        if let Some(card) = self.cards.iter().find(|card| card.path.as_deref() == Some(path)) {
            self.thumbnails.remove(&card.key);
        }
    }

    /// Whether the thumbnail of the preset of that name is ready.
    #[cfg(test)]
    pub(crate) fn shows(&self, name: &str) -> bool {
        let card = self.cards.iter().find(|card| card.file.project.name == name);
        card.is_some_and(|card| matches!(self.thumbnails.get(&card.key), Some(ThumbnailState::Ready(_))))
    }

    /// Draws the gallery.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<GalleryResponse> {
        let window = ctx.content_rect();
        let fitting = ((window.width() - 96.0 + GAP) / (CARD.size.x + GAP)).to_usize();
        let columns = fitting.clamp(1, MAX_COLUMNS);
        let modal = modal("presets", ctx).show(ctx, |ui| {
            ui.set_width(columns.to_f32() * (CARD.size.x + GAP) + 8.0);
            ui.horizontal(|ui| {
                ui.heading("Presets");
                ui.add_space(8.0);
                let is_inactive = self.to_delete.is_some();
                self.list.field_ui(ui, "Search presets", Arrangement::Rows(columns), is_inactive);
            });
            ui.add_space(4.0);
            let height = (window.height() - 200.0).clamp(CARD.size.y, 3.4 * CARD.size.y);
            let opened = self.cards_ui(ui, columns, height);
            ui.add_space(8.0);
            self.footer_ui(ui).or(opened.map(GalleryResponse::Open))
        });
        let closes = modal.should_close();
        modal.inner.or(closes.then_some(GalleryResponse::Close))
    }

    /// Draws the cards; returns the project that the user opens.
    fn cards_ui(&mut self, ui: &mut Ui, columns: usize, height: f32) -> Option<ProjectFile> {
        let Self { cards, thumbnails, list, to_delete, .. } = self;
        let layout = SearchLayout {
            sections: &SECTIONS.map(|(_, title)| title),
            arrangement: Arrangement::Rows(columns),
            item_width: CARD.size.x,
            gap: GAP,
            height,
            empty: "No preset matches. Try a feature: snow, island, cliffs…",
        };
        let index_of = |section: Section| SECTIONS.iter().position(|(known, _)| *known == section).unwrap_or_default();
        let items = cards.iter().map(|Card { section, texts, .. }| {
            let section = index_of(*section);
            SearchItem { section, texts, is_enabled: true }
        });
        let items: Vec<SearchItem> = items.collect();
        let (mut deletes, mut visible) = (None, Vec::new());
        let opened = list.items_ui(ui, &layout, &items, |ui, i, is_selected| {
            let card = &cards[i];
            visible.push(i);
            let response = preset_card_ui(ui, card, is_selected, thumbnails.get(&card.key));
            if let Some(path) = &card.path
                && delete_ui(ui, &response, &card.file.project.name)
            {
                deletes = Some(path.clone());
            }
            response
        });
        if visible != self.visible_cards {
            if let Some(thumbnailer) = &self.thumbnailer {
                thumbnailer.draw_first(&visible.iter().map(|i| cards[*i].key.as_str()).collect::<Vec<_>>());
            }
            self.visible_cards = visible;
        }
        if deletes.is_some() {
            *to_delete = deletes;
            return None;
        }
        opened.map(|i| cards[i].file.clone())
    }

    /// The button that closes the gallery, or the confirmation of a deletion.
    fn footer_ui(&mut self, ui: &mut Ui) -> Option<GalleryResponse> {
        let Some(path) = self.to_delete.clone() else {
            let hint = "Arrow keys select, Enter opens. Then Space plays the uplift, and Undo restores your project";
            let hint = RichText::new(hint).size(11.0).color(colours(ui).weak);
            let closes = Sides::new().show(ui, |ui| ui.label(hint), |ui| ui.button("Close").clicked()).1;
            return closes.then_some(GalleryResponse::Close);
        };
        let card = self.cards.iter().find(|card| card.path.as_ref() == Some(&path));
        let name = card.map(|card| card.file.project.name.clone()).unwrap_or_default();
        let (_, [delete, cancel]) = Sides::new().show(
            ui,
            |ui| ui.label(format!("Delete the preset {name} and its file?")),
            |ui| [main_button(ui, "Delete preset", true).clicked(), ui.button("Cancel").clicked()],
        );
        if delete || cancel {
            self.to_delete = None;
        }
        delete.then_some(GalleryResponse::Delete(path))
    }
}

/// The path of the thumbnail of a user's preset.
pub(crate) fn thumbnail_path(preset: &Path) -> PathBuf {
    let name = preset.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.strip_suffix(crate::project::PROJECT_SUFFIX).unwrap_or(&name);
    preset.with_file_name(format!("{stem}.png"))
}

fn preset_card_ui(ui: &mut Ui, card: &Card, is_selected: bool, state: Option<&ThumbnailState>) -> Response {
    let (name, doc) = (title(&card.file.project), &card.file.project.description);
    card_ui(ui, &CARD, name, doc, is_selected, |ui, rect, response| {
        thumbnail_ui(ui, rect, state, 0.0..=1.0);
        if matches!(state, Some(ThumbnailState::Pending) | None) {
            ui.ctx().accesskit_node_builder(response.id, egui::accesskit::Node::set_busy);
            let (font, weak) = (FontId::proportional(11.0), colours(ui).weak);
            ui.painter().text(rect.center(), egui::Align2::CENTER_CENTER, "Rendering…", font, weak);
        }
    })
}

/// The button in the corner of a card that deletes its preset; returns whether it was clicked.
fn delete_ui(ui: &mut Ui, card: &Response, name: &str) -> bool {
    let corner = Rect::from_min_size(card.rect.right_top() + Vec2::new(-28.0, 8.0), Vec2::splat(20.0));
    let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(corner));
    icon_button(&mut inside, ICON_DELETE, &format!("Delete {name}")).clicked()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::widgets::search::words;

    #[test]
    fn presets_are_found_by_name_and_description() {
        let gallery = Gallery::new(Arc::new(|| {}));
        let found = |query: &str| -> Vec<&str> {
            let words = words(query);
            let cards = gallery.cards.iter().filter(|card| card.texts.rank(&words).is_some());
            cards.map(|card| card.key.as_str()).collect()
        };
        assert_eq!(found("").len(), preset_projects().len());
        assert!(found("volc").contains(&"preset volcanic-island"));
        assert_eq!(found("KRTEN rain"), ["preset krten-rain"]);
        assert!(found("volcanic krten").is_empty());
    }

    #[test]
    fn a_preset_and_its_thumbnail_have_the_same_name() {
        assert_eq!(thumbnail_path(Path::new("/p/my.land.upthrust.json")), Path::new("/p/my.land.png"));
    }
}
