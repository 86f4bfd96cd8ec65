//! The window that shows up to three variations side by side, large, with what differs in words.

use std::sync::Arc;

use egui::{Button, Context, Image, Label, Rect, RichText, ScrollArea, Sense, Sides, Spinner, TextureHandle, Ui, Vec2};

use crate::app::document::describe::{StepDifferences, differences};
use crate::app::panels::variations::{COUNT, Variations};
use crate::app::preview::thumbnails::{Thumbnails, upload};
use crate::app::preview::variation_images::{VariationImages, VariationJob, VariationView};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{main_button, modal, visible_scroll_bars};
use crate::engine::Recipe;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::scene::camera::Camera;
use crate::scene::{GpuDevice, RenderParams};
use crate::worker::{InputFiles, JobError, Wake};

/// The most variations side by side.
const MAX_COMPARED: usize = 3;

/// Width to height of an image.
const ASPECT: f32 = 1.5;

/// The gap between columns, and the greatest width of one, points.
const GAP: f32 = 12.0;
const MAX_WIDTH: f32 = 720.0;

/// The margins around the window, and the height of everything but the images and the differences, points.
const MARGINS: f32 = 80.0;
const REST_HEIGHT: f32 = 220.0;

/// The least and the greatest height of the differences, points.
const DIFFERENCES_HEIGHT: [f32; 2] = [96.0, 320.0];

/// What the user did in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariationsResponse {
    Use(usize),
    Close,
}

/// One variation.
struct Shown {
    recipe: Arc<Recipe>,
    differences: Vec<StepDifferences>,
    map: LargeImage,
    scene: LargeImage,
}

/// The image of a variation: the last one that was drawn, and the one that was requested.
#[derive(Default)]
struct LargeImage {
    requested: Option<VariationView>,
    drawn: Option<VariationView>,
    texture: Option<TextureHandle>,
    problem: Option<String>,
}

/// The window.
pub(crate) struct VariationsWindow {
    shown: Vec<Shown>,
    /// The compared variations, in the order in which they were chosen.
    compared: Vec<usize>,
    files: InputFiles,
    images: VariationImages,
    /// The direction of all 3-D images, or why there are none.
    camera: Result<Camera, String>,
    is_map: bool,
}

impl VariationsWindow {
    /// The size for which the camera of the 3-D view is adapted, pixels.
    pub(crate) const CAMERA_SIZE: [u32; 2] = [1500, 1000];

    /// A window that shows one of the variations. `source`: the device and the parameters of the 3-D view.
    pub(crate) fn open(
        variations: &Variations,
        place: usize,
        files: InputFiles,
        source: Result<(GpuDevice, RenderParams), String>,
        wake: Wake,
    ) -> Result<Self, String> {
        let base = variations.base().ok_or("there are no variations")?;
        let of = |recipe: &Arc<Recipe>| Shown {
            recipe: recipe.clone(),
            differences: differences(base, recipe),
            map: LargeImage::default(),
            scene: LargeImage::default(),
        };
        let camera = source.as_ref().map(|(_, params)| params.camera.unwrap_or_default()).map_err(Clone::clone);
        let images = VariationImages::start(source.ok(), wake)
            .map_err(|error| format!("the variations cannot be shown larger: {error}"))?;
        let shown = (0..COUNT).filter_map(|place| variations.recipe(place)).map(of).collect();
        Ok(Self { shown, compared: vec![place], files, images, is_map: camera.is_err(), camera })
    }

    /// Draws the window; returns `Some` once the user has decided.
    pub(crate) fn ui(
        &mut self,
        ctx: &Context,
        variations: &Variations,
        thumbnails: &Thumbnails,
    ) -> Option<VariationsResponse> {
        let is_current = |(place, shown): (usize, &Shown)| {
            variations.recipe(place).is_some_and(|recipe| Arc::ptr_eq(recipe, &shown.recipe))
        };
        // The project was reloaded meanwhile.
        if !self.shown.iter().enumerate().all(is_current) {
            return Some(VariationsResponse::Close);
        }
        self.receive(ctx);
        let mut response = None;
        let screen = ctx.content_rect().size();
        let [count, most] = [self.compared.len(), MAX_COMPARED].map(ToFloat::to_f32);
        // The same for any number of variations, so that the controls do not move.
        let whole = (screen.x - MARGINS).min(most * (MAX_WIDTH + GAP) - GAP);
        let [least, greatest] = DIFFERENCES_HEIGHT;
        let width =
            ((whole + GAP) / count - GAP).min(ASPECT * (screen.y - REST_HEIGHT - least)).clamp(160.0, MAX_WIDTH);
        let height = (screen.y - REST_HEIGHT - width / ASPECT).clamp(least, greatest);
        let modal = modal("variations", ctx).stay_on_outside_click().keep_top().show(ctx, |ui| {
            ui.set_width(whole);
            ui.heading("Variations");
            self.choices_ui(ui);
            ui.add_space(8.0);
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = GAP;
                ui.add_space((0.5 * (whole - count * (width + GAP) + GAP) - GAP).max(0.0));
                for place in self.compared.clone() {
                    ui.vertical(|ui| {
                        ui.set_width(width);
                        self.image_ui(ui, place, width, variations.thumbnail(thumbnails, place));
                        if main_button(ui, &format!("Use variation {}", place + 1), true).clicked() {
                            response = Some(VariationsResponse::Use(place));
                        }
                        differences_ui(ui, place, height, &self.shown[place].differences);
                    });
                }
            });
            ui.add_space(8.0);
            let close = |ui: &mut Ui| ui.button("Close").clicked();
            if Sides::new().show(ui, |_| {}, close).1 {
                response = Some(VariationsResponse::Close);
            }
        });
        response.or_else(|| modal.should_close().then_some(VariationsResponse::Close))
    }

    /// Whether the images of all compared variations are drawn as they were requested.
    #[cfg(test)]
    pub(crate) fn are_drawn(&self) -> bool {
        self.compared.iter().all(|place| {
            let shown = &self.shown[*place];
            let image = if self.is_map { &shown.map } else { &shown.scene };
            image.requested.is_some() && image.drawn == image.requested && image.texture.is_some()
        })
    }

    /// Which variations are compared, and how.
    fn choices_ui(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            ui.label(format!("Compare up to {MAX_COMPARED}:"));
            for place in 0..self.shown.len() {
                let is_compared = self.compared.contains(&place);
                let can_add = is_compared || self.compared.len() < MAX_COMPARED;
                let item = ui.add_enabled(can_add, Button::selectable(is_compared, (place + 1).to_string()));
                let name = format!("Compare variation {}", place + 1);
                item.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_compared, &name));
                let item =
                    item.on_disabled_hover_text(format!("{MAX_COMPARED} are compared; remove one of them first"));
                if item.on_hover_text(name).clicked() {
                    self.toggle(place);
                }
            }
            ui.add_space(16.0);
            ui.add_enabled_ui(self.camera.is_ok(), |ui| {
                let why = self.camera.as_ref().err().cloned().unwrap_or_default();
                ui.selectable_value(&mut self.is_map, false, "3-D").on_disabled_hover_text(why);
            });
            ui.selectable_value(&mut self.is_map, true, "Map");
            if !self.is_map {
                ui.weak("Drag an image to turn all of them");
            }
        });
    }

    /// Adds a variation to the compared ones, or removes it if it is not the only one.
    fn toggle(&mut self, place: usize) {
        let mut removed = None;
        if let Some(at) = self.compared.iter().position(|other| *other == place) {
            if self.compared.len() > 1 {
                removed = Some(self.compared.remove(at));
            }
        } else {
            self.compared.push(place);
        }
        if let Some(removed) = removed {
            self.images.cancel(removed);
            let Shown { map, scene, .. } = &mut self.shown[removed];
            (map.requested, scene.requested) = (map.drawn, scene.drawn);
        }
    }

    /// Uploads the images that were drawn since the last frame.
    fn receive(&mut self, ctx: &Context) {
        while let Some((place, view, result)) = self.images.take() {
            let shown = &mut self.shown[place];
            let image = if view == VariationView::Map { &mut shown.map } else { &mut shown.scene };
            match result {
                Ok(picture) => {
                    image.texture = Some(upload(ctx, &format!("large variation {place}"), &picture));
                    (image.drawn, image.problem) = (Some(view), None);
                }
                // It is requested again if it is compared.
                Err(JobError::Cancelled) => image.requested = image.drawn,
                Err(error) => image.problem = Some(error.to_string()),
            }
        }
    }

    /// The image of a variation, which is requested if it is not the last one that was drawn. Until it is, its thumbnail
    /// takes its place.
    fn image_ui(&mut self, ui: &mut Ui, place: usize, width: f32, thumbnail: Option<&TextureHandle>) {
        let (rect, response) = ui.allocate_exact_size(Vec2::new(width, width / ASPECT), Sense::drag());
        let name = format!("Variation {}, larger", place + 1);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &name));
        let is_map = self.is_map;
        if let Ok(camera) = &mut self.camera
            && !is_map
            && response.dragged()
        {
            let drag = response.drag_delta();
            camera.orbit(glam::Vec2::new(drag.x, drag.y));
        }
        let view = match &self.camera {
            Ok(camera) if !is_map => {
                let density = ui.ctx().pixels_per_point();
                let size = [rect.width(), rect.height()].map(|side| (side * density).round().to_u32().max(1));
                VariationView::Scene { camera: *camera, size }
            }
            _ => VariationView::Map,
        };
        let shown = &mut self.shown[place];
        let image = if is_map { &mut shown.map } else { &mut shown.scene };
        if image.requested != Some(view) {
            image.requested = Some(view);
            let (recipe, files) = (shown.recipe.clone(), self.files.clone());
            self.images.request(VariationJob { place, recipe, files, view });
        }
        let painter = ui.painter_at(rect);
        painter.rect_filled(rect, 3.0, colours(ui).sunken);
        if let Some(texture) = image.texture.as_ref().or(thumbnail) {
            Image::new((texture.id(), texture.size_vec2())).paint_at(ui, fitted(texture.size_vec2(), rect));
        }
        if let Some(problem) = &image.problem {
            let text = RichText::new(problem).color(colours(ui).error);
            ui.put(rect.shrink(12.0), Label::new(text).wrap());
        } else if image.texture.is_none() {
            Spinner::new().paint_at(ui, Rect::from_center_size(rect.center(), Vec2::splat(32.0)));
        }
    }
}

/// The largest rectangle of these proportions in the middle of another one.
fn fitted(size: Vec2, within: Rect) -> Rect {
    let scale = (within.width() / size.x).min(within.height() / size.y);
    Rect::from_center_size(within.center(), size * scale)
}

/// What differs from the project, in words.
fn differences_ui(ui: &mut Ui, place: usize, height: f32, differences: &[StepDifferences]) {
    ui.spacing_mut().item_spacing = Vec2::new(12.0, 4.0);
    ui.strong(format!("Variation {}", place + 1));
    visible_scroll_bars(ui);
    let list = ScrollArea::vertical().id_salt(("differences", place)).max_height(height).min_scrolled_height(height);
    list.auto_shrink(false).show(ui, |ui| {
        if differences.is_empty() {
            ui.weak("Same as the project");
        }
        for StepDifferences { step, words } in differences {
            if !step.is_empty() {
                ui.weak(step);
            }
            // A difference is not broken between two lines.
            ui.horizontal_wrapped(|ui| words.iter().for_each(|words| drop(ui.add(Label::new(words).extend()))));
        }
    });
}
