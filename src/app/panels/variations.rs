//! Variations of the project, from which the user picks one, and then variations of that one.

use std::sync::Arc;

use egui::{
    Align, CollapsingHeader, Color32, CornerRadius, Rect, Sense, Slider, Stroke, StrokeKind, TextureHandle, Ui, Vec2,
};
use egui_material_icons::icons::{ICON_CASINO, ICON_OPEN_IN_FULL};

use crate::app::commands::Command;
use crate::app::preview::thumbnails::{ThumbnailState, Thumbnails};
use crate::app::widgets::icon_button;
use crate::app::widgets::theme::colours;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::mutation::mutated;
use crate::engine::random::Stream;
use crate::engine::recipe::Recipe;
use crate::worker::{InputFiles, ThumbnailRequest, ThumbnailStyle};

/// The number of variations, and how many there are in a row.
pub(crate) const COUNT: usize = 9;
const COLUMNS: usize = 3;

/// The longer side of a thumbnail, pixels: two per point of the panel at its default width.
#[cfg(not(test))]
const PIXELS: usize = 160;
#[cfg(test)]
const PIXELS: usize = 32;

/// The side of the button in the corner of a variation, points.
const CORNER: f32 = 24.0;

/// The prefix of the keys of their thumbnails.
const PREFIX: &str = "variation ";

/// How variations differ from the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VariationKind {
    /// The same steps with other random numbers.
    Seeds,
    /// The same seed with other values of the steps' parameters.
    Mutations,
}

/// What a batch of variations is derived from.
#[derive(Clone, PartialEq)]
struct Origin {
    recipe: Arc<Recipe>,
    locked: Vec<String>,
    way: VariationKind,
    strength: f64,
    round: u64,
}

/// The state of the variations. None of it is part of the document.
pub(crate) struct Variations {
    is_open: bool,
    /// Whether to scroll to the panel once it is unfolded.
    scroll_to: bool,
    way: VariationKind,
    /// The strength of mutations, from 0 to 1.
    strength: f64,
    /// Counts the reshuffles.
    round: u64,
    /// Counts the batches, so that every thumbnail has its own key.
    batch: u64,
    origin: Option<Origin>,
    /// The origins of earlier batches, the latest last: after an undo, the same variations come back.
    past: Vec<Origin>,
    recipes: Vec<Arc<Recipe>>,
}

/// The most origins of earlier batches that are kept.
const MAX_PAST: usize = 64;

impl Default for Variations {
    fn default() -> Self {
        let (way, strength) = (VariationKind::Mutations, 0.25);
        let (past, recipes) = (Vec::new(), Vec::new());
        Self { is_open: false, scroll_to: false, way, strength, round: 0, batch: 0, origin: None, past, recipes }
    }
}

impl Variations {
    /// Unfolds or folds the panel.
    pub(crate) fn toggle(&mut self) {
        self.is_open = !self.is_open;
        self.scroll_to = self.is_open;
    }

    /// The recipe of a variation.
    pub(crate) fn recipe(&self, place: usize) -> Option<&Arc<Recipe>> {
        self.recipes.get(place)
    }

    /// The recipe that the variations are derived from.
    pub(crate) fn base(&self) -> Option<&Arc<Recipe>> {
        self.origin.as_ref().map(|origin| &origin.recipe)
    }

    /// The thumbnail of a variation, once it is ready.
    pub(crate) fn thumbnail<'a>(&self, thumbnails: &'a Thumbnails, place: usize) -> Option<&'a TextureHandle> {
        match thumbnails.get(&self.key(place)) {
            Some(ThumbnailState::Ready(texture)) => Some(texture),
            Some(ThumbnailState::Pending | ThumbnailState::Failed) | None => None,
        }
    }

    /// Whether all thumbnails of variations of that recipe are ready.
    #[cfg(test)]
    pub(crate) fn are_drawn(&self, thumbnails: &Thumbnails, recipe: &Recipe) -> bool {
        self.origin.as_ref().is_some_and(|origin| *origin.recipe == *recipe)
            && (0..COUNT).all(|place| matches!(thumbnails.get(&self.key(place)), Some(ThumbnailState::Ready(_))))
    }

    fn key(&self, place: usize) -> String {
        format!("{PREFIX}{} {place}", self.batch)
    }

    /// Requests thumbnails of new variations if the recipe or the options have changed and the panel is unfolded; not
    /// while the user drags something.
    pub(crate) fn prepare(
        &mut self,
        locked: &[String],
        files: &InputFiles,
        recipe: &Arc<Recipe>,
        thumbnails: &mut Thumbnails,
        is_dragging: bool,
    ) {
        if !self.is_open {
            if self.origin.take().is_some() {
                self.recipes.clear();
                thumbnails.remove(PREFIX);
            }
            return;
        }
        let same = |origin: &Origin| {
            let Origin { recipe: known, locked: known_locked, way, strength, round } = origin;
            (*way, *strength, *round) == (self.way, self.strength, self.round)
                && known_locked == locked
                && (Arc::ptr_eq(known, recipe) || known == recipe)
        };
        if is_dragging || self.origin.as_ref().is_some_and(same) {
            return;
        }
        let (way, strength) = (self.way, self.strength);
        let mut origin = Origin { recipe: recipe.clone(), locked: locked.to_vec(), way, strength, round: self.round };
        if let Some(before) = self.origin.take_if(|before| before.recipe != *recipe) {
            let is_known = |past: &&Origin| Origin { round: past.round, ..origin.clone() } == **past;
            // Use other random numbers for a new recipe, or its variations would repeat the same changes. A recipe seen
            // before gets the same variations again.
            self.round = self.past.iter().rev().find(is_known).map_or(self.round + 1, |past| past.round);
            origin.round = self.round;
            self.past.push(before);
            let most = self.past.len().saturating_sub(MAX_PAST);
            self.past.drain(..most);
        }
        thumbnails.remove(PREFIX);
        self.batch += 1;
        self.recipes = (0..COUNT).map(|place| Arc::new(origin.variation(place))).collect();
        self.origin = Some(origin);
        for (place, recipe) in self.recipes.iter().enumerate() {
            let key = self.key(place);
            thumbnails.request(&key, || ThumbnailRequest {
                key: key.clone(),
                recipe: recipe.clone(),
                files: files.clone(),
                pixels: PIXELS,
                style: ThumbnailStyle::Texture,
            });
        }
    }

    /// Draws the variations; returns the command that adopts one.
    pub(crate) fn ui(&mut self, ui: &mut Ui, thumbnails: &Thumbnails) -> Option<Command> {
        let mut command = None;
        let header = CollapsingHeader::new("Variations").id_salt("variations").open(Some(self.is_open));
        let shown = header.show(ui, |ui| command = self.body_ui(ui, thumbnails));
        if shown.header_response.clicked() {
            self.toggle();
        }
        let tooltip = "Nine variations of this terrain; choose one to get nine variations of that";
        let response = shown.header_response.on_hover_text(tooltip);
        // The body has its full height only after a few frames.
        if self.scroll_to && shown.openness >= 1.0 {
            response.scroll_to_me(Some(Align::TOP));
            self.scroll_to = false;
        }
        command
    }

    fn body_ui(&mut self, ui: &mut Ui, thumbnails: &Thumbnails) -> Option<Command> {
        ui.horizontal(|ui| {
            let doc = "Changes the values of unlocked parameters. Point at a parameter's name to lock it.";
            ui.selectable_value(&mut self.way, VariationKind::Mutations, "Mutations").on_hover_text(doc);
            ui.selectable_value(&mut self.way, VariationKind::Seeds, "Seeds")
                .on_hover_text("The same parameters with another seed");
            if icon_button(ui, ICON_CASINO, "Reshuffle").clicked() {
                self.round += 1;
            }
        });
        if self.way == VariationKind::Mutations {
            ui.horizontal(|ui| {
                let label = ui.label("Strength");
                let slider = Slider::new(&mut self.strength, 0.02..=1.0).fixed_decimals(2);
                ui.add(slider).labelled_by(label.id);
            });
        }
        let gap = 4.0;
        let side = ((ui.available_width() - gap * (COLUMNS - 1).to_f32()) / COLUMNS.to_f32()).floor().max(16.0);
        let mut chosen = None;
        for row in 0..COUNT / COLUMNS {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = gap;
                for place in row * COLUMNS..(row + 1) * COLUMNS {
                    chosen = self.variation_ui(ui, place, side, thumbnails).or(chosen.take());
                }
            });
        }
        ui.weak("Click one to use it; undo to go back. The button in its corner enlarges it for comparison.");
        chosen
    }

    /// One variation; returns the command that adopts it or shows it larger.
    fn variation_ui(&self, ui: &mut Ui, place: usize, side: f32, thumbnails: &Thumbnails) -> Option<Command> {
        let name = format!("Variation {}", place + 1);
        let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::click());
        let colours = colours(ui);
        let painter = ui.painter();
        painter.rect_filled(rect, CornerRadius::same(3), colours.sunken);
        let shown = thumbnails.get(&self.key(place));
        match shown {
            Some(ThumbnailState::Ready(texture)) => {
                let [width, height] = texture.size().map(|side| side.to_f32());
                let scale = side / width.max(height);
                let place = Rect::from_center_size(rect.center(), Vec2::new(width, height) * scale);
                let whole = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
                painter.image(texture.id(), place, whole, Color32::WHITE);
            }
            Some(ThumbnailState::Pending) => egui::Spinner::new().paint_at(ui, rect.shrink(0.4 * side)),
            Some(ThumbnailState::Failed) | None => {}
        }
        if response.hovered() || response.has_focus() {
            painter.rect_stroke(rect, CornerRadius::same(3), Stroke::new(2.0, colours.accent), StrokeKind::Inside);
        }
        let response = response.on_hover_text(&name);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
        // In front of the image, which is a button too.
        let corner =
            Rect::from_min_max(rect.right_top() - Vec2::new(CORNER, 0.0), rect.right_top() + Vec2::new(0.0, CORNER));
        ui.painter().rect_filled(corner, CornerRadius::same(3), colours.sunken.gamma_multiply(0.8));
        let mut corner_ui = ui.new_child(egui::UiBuilder::new().max_rect(corner));
        let enlarge = Command::EnlargeVariation(place);
        if icon_button(&mut corner_ui, ICON_OPEN_IN_FULL, &enlarge.text()).clicked() {
            return Some(enlarge);
        }
        response.clicked().then_some(Command::UseVariation(place))
    }
}

impl Origin {
    /// The variation with that index, which is always the same for the same origin.
    fn variation(&self, place: usize) -> Recipe {
        // Distinct from the streams of all steps, whose iterations count from 0.
        let mut rng = Stream::new(self.recipe.seed, u32::MAX).at(u64::MAX - (self.round * COUNT as u64 + place as u64));
        match self.way {
            VariationKind::Seeds => Recipe { seed: (rng.unit() * 1e6).to_u32(), ..(*self.recipe).clone() },
            VariationKind::Mutations => {
                mutated(&self.recipe, self.strength, &|name| self.locked.iter().any(|known| known == name), &mut rng)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;

    #[test]
    fn variations_differ_from_each_other_and_are_reproducible() {
        let recipe = Arc::new(Recipe { stack: vec![Step::new(Faults::default())], ..Default::default() });
        for way in [VariationKind::Seeds, VariationKind::Mutations] {
            let origin = |round| Origin { recipe: recipe.clone(), locked: Vec::new(), way, strength: 0.3, round };
            let all: Vec<Recipe> = (0..2 * COUNT).map(|i| origin((i / COUNT) as u64).variation(i % COUNT)).collect();
            for (i, one) in all.iter().enumerate() {
                assert!(*one != *recipe && all[..i].iter().all(|other| other != one), "{way:?} {i}");
            }
            assert_eq!(all[3], origin(0).variation(3));
        }
    }
}
