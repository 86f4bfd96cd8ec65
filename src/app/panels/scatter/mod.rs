//! The scatter panel: layers of instances on the terrain.

mod kinds;
mod names;

use std::sync::Arc;

use egui::{
    Align, CollapsingHeader, Color32, ColorImage, Layout, Rect, RichText, Stroke, TextureHandle, TextureOptions, Ui,
};
use egui_material_icons::icons::ICON_ADD;

pub(crate) use self::kinds::KINDS;
use self::kinds::Kind;
use self::names::{avoid_ui, types_ui};
use crate::app::commands::{Command, FileSlot};
use crate::app::views::map_transform::MapTransform;
use crate::app::widgets::cards::{Card, CardAction, CardResponse, CardRow, DropPlace, cards_ui};
use crate::app::widgets::icon_button;
use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::app::widgets::theme::colours;
use crate::engine::Extent;
use crate::engine::cast::ToFloat;
use crate::engine::mask::Mask;
use crate::engine::parameters::{Band, grouped};
use crate::engine::parameters::{Values, group_values};
use crate::engine::play::Obstacles;
use crate::engine::recipe::Recipe;
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::scatter::{Dots, MapTile, ScatterLayer, ShapeInstances, most_places};
use crate::worker::{InputFiles, JobError, Preview, ScatterRequest, ScatterResult, Scatterer, Wake};

/// Parameters of a layer that have a control of their own on its card.
const ON_CARD: [&str; 4] = ["enabled", "colour", "types", "avoid"];

/// The most instances of a new layer: with more, its spacing is wider.
const MOST_NEW: f64 = 50_000.0;

/// The most visible instances on a map that are drawn one by one.
const MOST_DISCS: f64 = 4000.0;

/// The state of the panel. None of it is part of the document.
pub(crate) struct ScatterPanel {
    scatterer: Scatterer,
    is_open: bool,
    scroll_to: bool,
    pub(crate) selected: Option<usize>,
    row_heights: RowHeights,
    /// What is to be scattered now, and what was requested last.
    wanted: Option<ScatterRequest>,
    requested: Option<ScatterRequest>,
    found: Option<Found>,
    error: Option<String>,
}

/// What was found last.
struct Found {
    result: ScatterResult,
    /// The maps of dots that were needed so far.
    textures: Vec<Option<TextureHandle>>,
}

impl Found {
    /// The map of dots for a world with so many pixels from west to east on the screen.
    fn texture(&mut self, ctx: &egui::Context, width_px: f32) -> Option<&TextureHandle> {
        let dots = &self.result.dots;
        let level = dots.iter().rposition(|dots| dots.size[0].to_f32() >= width_px).unwrap_or_default();
        self.textures.resize_with(dots.len(), || None);
        let texture = self.textures.get_mut(level)?;
        Some(texture.get_or_insert_with(|| {
            let Dots { size, pixels } = &dots[level];
            let pixels = pixels.iter().map(|[r, g, b, a]| Color32::from_rgba_unmultiplied(*r, *g, *b, *a));
            ctx.load_texture("Scatter", ColorImage::new(*size, pixels.collect()), TextureOptions::LINEAR)
        }))
    }
}

impl ScatterPanel {
    pub(crate) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            scatterer: Scatterer::start(wake)?,
            is_open: false,
            scroll_to: false,
            selected: None,
            row_heights: RowHeights::default(),
            wanted: None,
            requested: None,
            found: None,
            error: None,
        })
    }

    /// Unfolds the panel and scrolls to it.
    pub(crate) fn show(&mut self) {
        (self.is_open, self.scroll_to) = (true, true);
    }

    /// Adds a layer of a kind, by index, to the end of the list, and shows it. Where there is water, it begins above that.
    pub(crate) fn add(&mut self, recipe: &mut Recipe, kind: usize, water_m: Option<f64>) {
        let Some(kind) = KINDS.get(kind) else { return };
        let (name, seed) = (unused_name(recipe, kind.name), unused_seed(recipe));
        let mut layer = ScatterLayer { name, seed, ..new_layer(recipe, kind) };
        if let Some(water_m) = water_m {
            let elevation_m = Band { min: water_m, ..Mask::default().elevation_m };
            layer.mask.push(Mask { elevation_m, feather_m: Some(0.0), ..Mask::default() });
        }
        recipe.scatter.push(layer);
        self.selected = Some(recipe.scatter.len() - 1);
        self.show();
    }

    /// Takes what was found from the thread, and requests the instances on the terrain that is shown, but only while
    /// it does not change in every frame.
    pub(crate) fn request(&mut self, recipe: &Arc<Recipe>, files: &InputFiles, shown: &Preview, at_rest: bool) {
        match self.scatterer.take() {
            Some(Ok(result)) => {
                self.error = None;
                self.found = Some(Found { result, textures: Vec::new() });
            }
            Some(Err(JobError::Failed(error) | JobError::Panicked(error))) => {
                (self.error, self.found) = (Some(error), None);
            }
            Some(Err(JobError::Cancelled)) | None => {}
        }
        if !recipe.is_scattered() {
            (self.wanted, self.requested, self.found, self.error) = (None, None, None, None);
            return;
        }
        let is_wanted = |wanted: &ScatterRequest| {
            Arc::ptr_eq(&wanted.terrain, &shown.terrain)
                && Arc::ptr_eq(&wanted.recipe, recipe)
                && wanted.files == *files
        };
        if !self.wanted.as_ref().is_some_and(is_wanted) {
            let (terrain, recipe, files) = (shown.terrain.clone(), recipe.clone(), files.clone());
            self.wanted = Some(ScatterRequest { terrain, recipe, files });
        }
        let is_requested = |wanted: &ScatterRequest| self.requested.as_ref().is_some_and(|known| known.is_same(wanted));
        let Some(wanted) = self.wanted.as_ref().filter(|wanted| !is_requested(wanted)) else { return };
        // Until the terrain of the recipe is shown, another one would be scattered.
        let of = &shown.request.recipe;
        let is_its_terrain = Arc::ptr_eq(of, recipe) || of.has_same_terrain(recipe);
        if is_its_terrain && at_rest && !shown.coarse {
            self.scatterer.request(wanted.clone());
            self.requested = Some(wanted.clone());
        }
    }

    /// What was found on the terrain that is shown and by the layers as they are.
    fn current(&self) -> Option<&ScatterResult> {
        let found = self.found.as_ref().map(|found| &found.result)?;
        self.wanted.as_ref().filter(|wanted| wanted.is_same(&found.request)).map(|_| found)
    }

    /// The instances with their shapes.
    pub(crate) fn shapes(&self) -> Option<Arc<ShapeInstances>> {
        self.found.as_ref().map(|found| found.result.shapes.clone())
    }

    /// Draws the instances on a map: each as a disc if few are visible, else as dots of an image.
    pub(crate) fn draw(&mut self, ctx: &egui::Context, transform: &MapTransform, extent: Extent) {
        let Some(found) = &mut self.found else { return };
        let [north_west, south_east] =
            [[0.0, 0.0], [extent.width_m, extent.depth_m]].map(|place_m| transform.pos(place_m));
        let world = Rect::from_min_max(north_west, south_east);
        let seen = world.intersect(transform.painter.clip_rect());
        let share = f64::from(seen.area().max(0.0) / world.area().max(f32::MIN_POSITIVE));
        let count: usize = found.result.scattered.iter().map(|one| one.instances.len()).sum();
        if count.to_f64() * share > MOST_DISCS {
            if let Some(texture) = found.texture(ctx, world.width() * ctx.pixels_per_point()) {
                let whole = Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0));
                transform.painter.image(texture.id(), world, whole, Color32::WHITE);
            }
            return;
        }
        let layers = &found.result.request.recipe.scatter;
        let place = |[x_m, z_m]: [f32; 2]| transform.pos([x_m.into(), z_m.into()]);
        let outline = Stroke::new(1.0, Color32::from_black_alpha(120));
        for MapTile { layer, bounds_m: [from_m, to_m], discs } in &found.result.shapes.map_tiles {
            let [red, green, blue] = layers[*layer].colour.0;
            let largest = (layers[*layer].radius_m * layers[*layer].scale.max).to_f32() * transform.pixels_per_m;
            if !seen.expand(largest).intersects(Rect::from_two_pos(place(*from_m), place(*to_m))) {
                continue;
            }
            for [x_m, z_m, radius_m] in discs {
                let (at, radius) = (place([*x_m, *z_m]), (radius_m * transform.pixels_per_m).max(1.5));
                if seen.expand(radius).contains(at) {
                    transform.painter.circle(at, radius, Color32::from_rgb(red, green, blue), outline);
                }
            }
        }
    }

    /// The instances that block agents or lines of sight on the terrain that is shown; `None` while they are computed.
    pub(crate) fn obstacles(&self, recipe: &Recipe) -> Option<Option<Arc<Obstacles>>> {
        if !Obstacles::are_in(&recipe.scatter) {
            return Some(None);
        }
        self.current().map(|found| found.obstacles.clone())
    }

    /// What was found, for tests.
    #[cfg(test)]
    pub(crate) fn found(&self) -> Option<&ScatterResult> {
        self.current()
    }

    /// Draws the panel; returns the user's command.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        recipe: &mut Recipe,
        files: &InputFiles,
        parameters: &mut ParameterState,
    ) -> Option<Command> {
        let header = CollapsingHeader::new("Scatter").id_salt("scatter").open(Some(self.is_open));
        let shown = header.show(ui, |ui| self.body_ui(ui, recipe, files, parameters));
        if shown.header_response.clicked() {
            self.is_open = !self.is_open;
            self.scroll_to = self.is_open;
        }
        let response = shown.header_response.on_hover_text("Trees, rocks and other objects placed on the terrain");
        if self.scroll_to && shown.openness >= 1.0 {
            self.scroll_to = false;
            response.scroll_to_me(Some(Align::TOP));
        }
        shown.body_returned.flatten()
    }

    fn body_ui(
        &mut self,
        ui: &mut Ui,
        recipe: &mut Recipe,
        files: &InputFiles,
        parameters: &mut ParameterState,
    ) -> Option<Command> {
        let mut added = None;
        ui.horizontal(|ui| {
            ui.label(RichText::new(self.summary(recipe)).color(colours(ui).weak));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let opener = icon_button(ui, ICON_ADD, "Add a layer");
                egui::Popup::menu(&opener).show(|ui| {
                    for (i, kind) in KINDS.iter().enumerate() {
                        if ui.button(kind.name).on_hover_text(kind.doc).clicked() {
                            added = Some(Command::AddLayer(i));
                        }
                    }
                });
            });
        });
        if let Some(error) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        self.selected = self.selected.filter(|i| *i < recipe.scatter.len());
        ui.spacing_mut().item_spacing.y = 4.0;
        let rows: Vec<CardRow> = (0..recipe.scatter.len()).map(CardRow::single).collect();
        let mut heights = std::mem::take(&mut self.row_heights);
        let mut command = None;
        let action = cards_ui(ui, &rows, &mut heights, |ui, i| {
            // The list is changed only if the layer is: a changed list no longer shares its items with the document.
            let mut layer = recipe.scatter[i].clone();
            let (response, wants_file) = self.card_ui(ui, &mut layer, i, recipe, files, parameters);
            if layer != recipe.scatter[i] {
                let mut others = recipe.scatter.iter().enumerate().filter(|(at, _)| *at != i);
                if layer.name.trim().is_empty() {
                    layer.name.clone_from(&recipe.scatter[i].name);
                } else if others.any(|(_, other)| other.name == layer.name) {
                    parameters.say(format!("There is already a layer called {}; choose another name", layer.name));
                    layer.name.clone_from(&recipe.scatter[i].name);
                }
                let before = std::mem::replace(&mut recipe.scatter[i], layer);
                recipe.follow_layer_name(&before.name, i);
            }
            if wants_file.is_some() {
                let source = parameters.take_file_item().unwrap_or_default();
                command = Some(Command::ChooseFile(FileSlot::Mask { owner: MaskOwner::Layer(i), source }));
            }
            response
        });
        self.row_heights = heights;
        if let Some((i, action)) = action {
            self.apply(recipe, i, action);
        }
        command.or(added)
    }

    /// The number of instances, or why there are none.
    fn summary(&self, recipe: &Recipe) -> String {
        if recipe.scatter.is_empty() {
            return "Nothing is scattered yet".into();
        }
        match self.current() {
            Some(found) => {
                let count: usize = found.scattered.iter().map(|layer| layer.instances.len()).sum();
                format!("{} in this preview", grouped(count))
            }
            None if self.wanted.is_some() && self.error.is_none() => "updating…".into(),
            None => String::new(),
        }
    }

    fn card_ui(
        &self,
        ui: &mut Ui,
        layer: &mut ScatterLayer,
        i: usize,
        recipe: &Recipe,
        files: &InputFiles,
        parameters: &mut ParameterState,
    ) -> (CardResponse, Option<&'static str>) {
        let is_selected = self.selected == Some(i);
        let (name, mut enabled, mut colour) = (layer.name.clone(), layer.enabled, layer.colour);
        let own = self.current().and_then(|found| found.scattered.iter().find(|one| one.layer == i));
        let (note, note_doc) = match own {
            _ if !enabled => ("off".into(), "The layer is disabled"),
            Some(own) => (grouped(own.instances.len()), "The number of instances"),
            None if self.error.is_some() => (String::new(), ""),
            None => ("…".into(), "Instances are being placed"),
        };
        let card = Card {
            name: &name,
            doc: "",
            note,
            note_doc,
            enabled: &mut enabled,
            colour: Some(&mut colour),
            thumbnail: None,
            solo: None,
            selected: is_selected,
            actions: &[],
            progress: None,
            open: None,
        };
        let mut wants_file = None;
        let response = card.ui(ui, |ui| {
            if !is_selected {
                return;
            }
            // The line stays while instances are placed, so that the rows below do not move.
            let text = match own {
                Some(own) => format!("{} instances on this terrain", grouped(own.instances.len())),
                None if layer.enabled && self.error.is_none() => "Placing instances…".into(),
                None => "No instances".into(),
            };
            ui.label(RichText::new(text).size(11.0).color(colours(ui).weak));
            let mut context =
                ParameterContext { defaults: defaults(recipe, layer), ..ParameterContext::new(parameters) };
            wants_file = group_ui(ui, layer, &ON_CARD, &mut context);
            types_ui(ui, layer, &recipe.texture, parameters);
            avoid_ui(ui, layer, &recipe.scatter[..i], parameters);
            let mut sources = layer.mask.iter();
            let missing = sources.find_map(|mask| mask.missing(&recipe.masks, &|name| files.contains_key(name)));
            if let Some((_, what)) = missing {
                let text =
                    format!("{}. As it is, nothing of the layer is placed.", crate::app::widgets::capitalised(what));
                ui.colored_label(ui.visuals().error_fg_color, text);
            }
            ui.add_space(4.0);
        });
        (layer.enabled, layer.colour) = (enabled, colour);
        (response, wants_file)
    }

    /// Applies the action on a layer's card.
    pub(crate) fn apply(&mut self, recipe: &mut Recipe, i: usize, action: CardAction) {
        let mut move_to = |recipe: &mut Recipe, to: usize| {
            let to = to.min(recipe.scatter.len() - 1);
            let layer = recipe.scatter.remove(i);
            recipe.scatter.insert(to, layer);
            self.selected = Some(to);
        };
        match action {
            CardAction::Select | CardAction::SelectTo => {
                self.selected = if self.selected == Some(i) { None } else { Some(i) }
            }
            CardAction::Rename | CardAction::ShowUpToHere => self.selected = Some(i),
            CardAction::Drop(DropPlace { to, .. }) => move_to(recipe, to),
            CardAction::MoveUp => move_to(recipe, i.saturating_sub(1)),
            CardAction::MoveDown => move_to(recipe, i + 1),
            CardAction::Delete => {
                recipe.scatter.remove(i);
                self.selected = None;
            }
            CardAction::Duplicate => {
                let copy = recipe.scatter[i].clone();
                let (name, seed) = (unused_name(recipe, &copy.name), unused_seed(recipe));
                let copy = ScatterLayer { name, seed, ..copy };
                recipe.scatter.insert(i + 1, copy);
                self.selected = Some(i + 1);
            }
            CardAction::Solo | CardAction::Fold | CardAction::Group | CardAction::Ungroup => {}
        }
    }
}

/// A name that no layer has: this one, or with a number.
fn unused_name(recipe: &Recipe, name: &str) -> String {
    let is_free = |name: &String| recipe.scatter.iter().all(|layer| layer.name != *name);
    let numbered = (2..).map(|i: usize| format!("{name} {i}"));
    std::iter::once(name.to_string()).chain(numbered).find(is_free).unwrap_or_default()
}

/// The smallest seed that no layer has.
fn unused_seed(recipe: &Recipe) -> u32 {
    let is_free = |seed: &u32| recipe.scatter.iter().all(|layer| layer.seed != *seed);
    (0..).find(is_free).unwrap_or_default()
}

/// A layer of a kind for a world, without a name.
fn new_layer(recipe: &Recipe, kind: &Kind) -> ScatterLayer {
    let mut layer = kind.layer();
    // In a large world, instances are farther apart at first, so that they can be seen and counted at once.
    let places = most_places(&layer, recipe.world.extent());
    if places > MOST_NEW {
        layer.spacing_m = (layer.spacing_m * (places / MOST_NEW).sqrt()).round();
    }
    layer
}

/// What the reset of a parameter restores: the values of a new layer of the kind that its name says.
fn defaults(recipe: &Recipe, layer: &ScatterLayer) -> Values {
    let kind = KINDS.iter().find(|kind| layer.name.starts_with(kind.name));
    let of_owner = |key: &str| ["name", "seed", "mask", "enabled"].contains(&key);
    let values = kind.map(|kind| group_values(&new_layer(recipe, kind))).unwrap_or_default();
    values.into_iter().filter(|(key, _)| !of_owner(key)).collect()
}
