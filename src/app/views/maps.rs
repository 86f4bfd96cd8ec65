//! The maps: heightmap and texture side by side, with one pan, one zoom and one crosshair.

use std::sync::Arc;

use egui::{
    Align2, Color32, ColorImage, Painter, PointerButton, Pos2, Rect, Response, Sense, Stroke, TextureHandle,
    TextureOptions, Ui, Vec2,
};

use crate::app::preview::request::PreviewStatus;
use crate::app::preview::thumbnails::color_image;
use crate::app::views::View;
use crate::app::views::map_style::MapStyle;
use crate::app::views::map_transform::{MapTransform, MapViewport};
use crate::app::views::overlay::{north_arrow, note, scale_bar, status_chip};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{arrow_keys, zoom_keys};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::lakes::lake_depths;
use crate::engine::{Extent, Heightfield, Image};
use crate::scene::GlowingFault;
use crate::worker::Preview;

/// A texture on the graphics card and the image it was made from.
struct Upload {
    image: Arc<Image>,
    texture: TextureHandle,
}

impl Upload {
    /// Uploads an image, unless it is already there.
    fn update(upload: &mut Option<Self>, ctx: &egui::Context, name: &str, image: &Arc<Image>) {
        match upload {
            Some(upload) if Arc::ptr_eq(&upload.image, image) => {}
            Some(upload) => {
                upload.texture.set(image_of_map(image), TextureOptions::LINEAR);
                upload.image = image.clone();
            }
            None => {
                let texture = ctx.load_texture(name, image_of_map(image), TextureOptions::LINEAR);
                *upload = Some(Self { image: image.clone(), texture });
            }
        }
    }
}

/// The drawn lakes over the maps.
struct LakesOverlay {
    terrain: Arc<Heightfield>,
    /// The image and its texture; `None` without lakes.
    drawn: Option<(Arc<ColorImage>, TextureHandle)>,
}

/// The water over the maps and what it was made from.
struct WaterOverlay {
    terrain: Arc<Heightfield>,
    level_m: f64,
    texture: TextureHandle,
}

/// The most pixels along a side of the water overlay, which is computed within a frame.
const MAX_FLOOD_PIXELS: usize = 513;

/// The colour of water over a map, the opacity of deep and shallow water, and the depth over which it deepens.
const WATER: [u8; 3] = [0x1c, 0x4f, 0x78];
const DEEP_ALPHA: f32 = 0.78;
const SHALLOW_ALPHA: f32 = 0.34;
const DEEP_M: f32 = 40.0;

/// The colour of water over a ground at a depth, transparent where it is dry.
fn water_colour(depth_m: f32) -> Color32 {
    let [red, green, blue] = WATER;
    let deep = SHALLOW_ALPHA + (DEEP_ALPHA - SHALLOW_ALPHA) * (1.0 - libm::expf(-depth_m / DEEP_M));
    let alpha = if depth_m > 0.0 { deep } else { 0.0 };
    Color32::from_rgba_unmultiplied(red, green, blue, (alpha * 255.0).to_u8())
}

/// The drawn lakes over a terrain; `None` without any.
fn lakes_image(preview: &Preview) -> Option<ColorImage> {
    let grid = preview.terrain.grid();
    let size = [grid.width(), grid.height()].map(|samples| samples.min(MAX_FLOOD_PIXELS));
    let depths_m = lake_depths(&preview.request.recipe, &preview.terrain, size)?;
    Some(ColorImage::new(size, depths_m.into_iter().map(water_colour).collect()))
}

/// Water up to a level over the terrain, transparent where it is dry.
fn water_image(terrain: &Heightfield, level_m: f64) -> ColorImage {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let step = (width.max(height) - 1).div_ceil(MAX_FLOOD_PIXELS - 1).max(1);
    // Corner pixels show corner samples.
    let places = |samples: usize| {
        let count = (samples - 1).div_ceil(step) + 1;
        (0..count).map(move |i| i * (samples - 1) / (count - 1).max(1))
    };
    let heights = places(height).flat_map(|r| places(width).map(move |c| terrain.heights()[r * width + c]));
    let pixels = heights.map(|height_m| water_colour(level_m.to_f32() - height_m)).collect();
    ColorImage::new([places(width).count(), places(height).count()], pixels)
}

/// The state of the maps.
#[derive(Default)]
pub(crate) struct Maps {
    pub(crate) viewport: MapViewport,
    /// How the heightmap is drawn.
    pub(crate) style: MapStyle,
    /// The world position under the pointer, in metres east and south, on whichever map it is.
    pub(crate) crosshair_m: Option<[f64; 2]>,
    heightmap: Option<Upload>,
    texture: Option<Upload>,
    water_overlay: Option<WaterOverlay>,
    lakes: Option<LakesOverlay>,
    /// A measure of the level over the maps.
    measure: Option<(Arc<ColorImage>, TextureHandle)>,
    /// Where the maps are split, as a share of their width: west of it they show the state before the last edit.
    pub(crate) split: Option<f32>,
    /// The heightmap and the texture of that state.
    before: [Option<Upload>; 2],
    /// What split maps say while those are missing.
    missing_before: &'static str,
}

/// The most pixels along a side of an uploaded map. No screen shows more of it at once, and uploading a larger one
/// blocks the window.
const MAX_MAP_PIXELS: usize = 2049;

/// A map to upload: every n-th pixel of a large one.
fn image_of_map(picture: &Image) -> ColorImage {
    let Image { width, height, .. } = *picture;
    if width.max(height) <= MAX_MAP_PIXELS {
        return color_image(picture);
    }
    let step = (width.max(height) - 1).div_ceil(MAX_MAP_PIXELS - 1);
    let places = (0..height).step_by(step).flat_map(|j| (0..width).step_by(step).map(move |i| j * width + i));
    let pixels = places.map(|at| picture.pixels[at]).map(|[r, g, b, _]| Color32::from_rgb(r, g, b)).collect();
    ColorImage::new([width.div_ceil(step), height.div_ceil(step)], pixels)
}

impl Maps {
    /// Uploads the images that changed.
    pub(crate) fn show(&mut self, ctx: &egui::Context, preview: &Preview) {
        let pictures = [
            (View::Heightmap, &preview.heightmap, &mut self.heightmap),
            (View::Texture, &preview.texture, &mut self.texture),
        ];
        for (view, picture, upload) in pictures {
            Upload::update(upload, ctx, view.title(), picture);
        }
    }

    /// Shows the state before the last edit on the western side of split maps; without one, split maps say `missing`.
    pub(crate) fn show_before(&mut self, ctx: &egui::Context, before: Option<&Preview>, missing: &'static str) {
        self.missing_before = missing;
        match before {
            Some(before) => {
                for (upload, image) in self.before.iter_mut().zip([&before.heightmap, &before.texture]) {
                    Upload::update(upload, ctx, "Before", image);
                }
            }
            None => self.before = [None, None],
        }
    }

    /// Whether the maps have the state before the last edit.
    #[cfg(test)]
    pub(crate) fn has_before(&self) -> bool {
        self.before.iter().all(Option::is_some)
    }

    /// Draws the drawn lakes of a preview over the maps; returns their image for the 3-D view.
    pub(crate) fn lakes_overlay(&mut self, ctx: &egui::Context, shown: Option<&Preview>) -> Option<Arc<ColorImage>> {
        let shown = shown?;
        if self.lakes.as_ref().is_none_or(|lakes| !Arc::ptr_eq(&lakes.terrain, &shown.terrain)) {
            let drawn = lakes_image(shown).map(|image| {
                let image = Arc::new(image);
                (image.clone(), ctx.load_texture("Lakes", image, TextureOptions::LINEAR))
            });
            self.lakes = Some(LakesOverlay { terrain: shown.terrain.clone(), drawn });
        }
        self.lakes.as_ref()?.drawn.as_ref().map(|(image, _)| image.clone())
    }

    /// Draws a measure of the level over the maps, or none; returns its image for the 3-D view.
    pub(crate) fn measure_overlay(
        &mut self,
        ctx: &egui::Context,
        image: Option<Arc<ColorImage>>,
    ) -> Option<Arc<ColorImage>> {
        match (&mut self.measure, &image) {
            (measure, None) => *measure = None,
            (Some((known, _)), Some(image)) if Arc::ptr_eq(known, image) => {}
            (measure, Some(image)) => {
                let texture = ctx.load_texture("Measure", image.clone(), TextureOptions::LINEAR);
                *measure = Some((image.clone(), texture));
            }
        }
        image
    }

    /// Moves a place, metres east and south, into the middle of the maps, and marks it as if the pointer were there.
    pub(crate) fn show_place(&mut self, [x_m, z_m]: [f64; 2], extent: Extent) {
        self.viewport.centre = Vec2::new((x_m / extent.width_m).to_f32(), (z_m / extent.depth_m).to_f32());
        self.viewport.zoom = self.viewport.zoom.max(SHOWN_ZOOM);
        self.crosshair_m = Some([x_m, z_m]);
    }

    /// Draws water up to a level over the maps, or none.
    pub(crate) fn water_overlay(
        &mut self,
        ctx: &egui::Context,
        terrain: Option<&Arc<Heightfield>>,
        water_m: Option<f64>,
    ) {
        let (Some(terrain), Some(level_m)) = (terrain, water_m) else {
            self.water_overlay = None;
            return;
        };
        let image = || water_image(terrain, level_m);
        match &mut self.water_overlay {
            Some(water_overlay) if Arc::ptr_eq(&water_overlay.terrain, terrain) && water_overlay.level_m == level_m => {
            }
            Some(water_overlay) => {
                water_overlay.texture.set(image(), TextureOptions::LINEAR);
                (water_overlay.terrain, water_overlay.level_m) = (terrain.clone(), level_m);
            }
            None => {
                let texture = ctx.load_texture("Water", image(), TextureOptions::LINEAR);
                self.water_overlay = Some(WaterOverlay { terrain: terrain.clone(), level_m, texture });
            }
        }
    }

    /// Draws one map into the rest of `ui` and returns its placement; [`Self::legend_ui`] draws what lies over it.
    /// `is_pan_free`: whether the primary button pans; the other buttons always do.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        view: View,
        extent: Extent,
        glow: &[GlowingFault],
        is_pan_free: bool,
    ) -> MapTransform {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let colours = colours(ui);
        let painter = ui.painter().with_clip_rect(rect);
        painter.rect_filled(rect, 0.0, colours.window);
        let world_m = Vec2::new(extent.width_m.to_f32(), extent.depth_m.to_f32());
        let fit = ((rect.width() - 16.0) / world_m.x).min((rect.height() - 16.0) / world_m.y).max(f32::MIN_POSITIVE);

        self.navigate(ui, &response, world_m * fit, is_pan_free);
        let pixels_per_m = fit * self.viewport.zoom;
        let terrain =
            Rect::from_min_size(rect.center() - self.viewport.centre * world_m * pixels_per_m, world_m * pixels_per_m);
        let transform = MapTransform { response, painter, pixels_per_m, bar: rect, corner: terrain.min };
        let MapTransform { response, painter, .. } = &transform;
        self.draw_images(painter, view, rect, terrain);
        for fault in glow {
            let ends = [fault.from_m, fault.to_m].map(|end| transform.pos(end));
            painter.line_segment(ends, Stroke::new(1.5, colours.accent.gamma_multiply(fault.strength)));
        }
        if let Some(pointer) = response.hover_pos().filter(|pointer| terrain.contains(*pointer)) {
            self.crosshair_m = Some(transform.place_m(pointer));
        }
        if let Some(place_m) = self.crosshair_m {
            let at = transform.pos(place_m);
            let line = |colour| Stroke::new(1.0, colour);
            for (offset, colour) in [(1.0, Color32::from_black_alpha(110)), (0.0, Color32::from_white_alpha(150))] {
                painter.hline(terrain.x_range(), at.y + offset, line(colour));
                painter.vline(at.x + offset, terrain.y_range(), line(colour));
            }
        }
        let name = view.title();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("{name} of the terrain")));
        transform
    }

    /// Draws the scale bar, the north arrow, the status and the line of the comparison over a map and what stands on it.
    pub(crate) fn legend_ui(&mut self, ui: &mut Ui, view: View, status: &PreviewStatus, transform: &mut MapTransform) {
        let MapTransform { response, painter, pixels_per_m, .. } = &*transform;
        let rect = response.rect;
        let bar = scale_bar(ui, painter, rect, *pixels_per_m);
        north_arrow(ui, painter, bar);
        status_chip(ui, painter, rect, status);
        transform.bar = bar;
        let state = if self.before(view).is_some() { "Before" } else { self.missing_before };
        if let Some(share) = &mut self.split {
            split_ui(ui, rect, share, state);
        }
    }

    /// The map before the last edit.
    fn before(&self, view: View) -> Option<&Upload> {
        match view {
            View::Heightmap => self.before[0].as_ref(),
            View::Texture => self.before[1].as_ref(),
            View::Scene => None,
        }
    }

    /// Pans and zooms by pointer and keys. `world`: the size of the world on the screen at zoom 1, in points.
    fn navigate(&mut self, ui: &Ui, response: &Response, world: Vec2, is_pan_free: bool) {
        let rect = response.rect;
        let others = [PointerButton::Secondary, PointerButton::Middle];
        let is_panned = if is_pan_free { response.dragged() } else { others.iter().any(|by| response.dragged_by(*by)) };
        if is_panned {
            self.viewport.centre -= response.drag_delta() / (world * self.viewport.zoom);
        }
        if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            self.viewport.zoom_by(libm::expf(scroll / 240.0) * pinch, (pointer - rect.center()) / world);
        }
        self.viewport.centre += KEY_PAN * arrow_keys(ui, response) * rect.size() / (world * self.viewport.zoom);
        self.viewport.zoom_by(zoom_keys(ui, response), Vec2::ZERO);
        if response.double_clicked() && is_pan_free {
            self.viewport = MapViewport::default();
        }
        self.viewport.centre = self.viewport.centre.clamp(Vec2::ZERO, Vec2::splat(1.0));
    }

    /// Draws a map's image, the state before the last edit west of the split, and the water.
    fn draw_images(&self, painter: &Painter, view: View, rect: Rect, terrain: Rect) {
        let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
        let upload = match view {
            View::Heightmap => &self.heightmap,
            View::Texture => &self.texture,
            View::Scene => &None,
        };
        if let Some(upload) = upload {
            painter.image(upload.texture.id(), terrain, whole, Color32::WHITE);
        }
        let split = self.split.map(|share| rect.left() + share * rect.width());
        if let (Some(before), Some(x)) = (self.before(view), split) {
            let west = Rect::from_x_y_ranges(rect.left()..=x, rect.y_range());
            painter.with_clip_rect(west).image(before.texture.id(), terrain, whole, Color32::WHITE);
        }
        // The water map already shows the sea and lakes.
        let has_water = view == View::Heightmap && self.style == MapStyle::Water;
        let lakes = self.lakes.as_ref().and_then(|lakes| lakes.drawn.as_ref()).map(|(_, texture)| texture);
        let water = [lakes, self.water_overlay.as_ref().map(|overlay| &overlay.texture)];
        let measure = self.measure.as_ref().map(|(_, texture)| texture);
        for texture in water.into_iter().flatten().filter(|_| !has_water).chain(measure) {
            // The corner pixels lie on the corners of the world.
            let half = Vec2::splat(0.5) / texture.size_vec2();
            let within = Rect::from_min_max(half.to_pos2(), Pos2::new(1.0, 1.0) - half);
            painter.image(texture.id(), terrain, within, Color32::WHITE);
        }
    }
}

/// The least zoom at which a place is shown.
const SHOWN_ZOOM: f32 = 2.0;

/// How far an arrow key pans a map, in shares of its pane.
const KEY_PAN: f32 = 0.1;

/// Draws the draggable line that splits a map; `before` labels the western side.
fn split_ui(ui: &mut Ui, rect: Rect, share: &mut f32, before: &str) {
    let x = rect.left() + *share * rect.width();
    let reach = Rect::from_x_y_ranges(x - 6.0..=x + 6.0, rect.y_range());
    let response = ui.interact(reach, ui.scope_id().with("split"), Sense::drag());
    *share = (*share + 0.02 * arrow_keys(ui, &response).x).clamp(0.02, 0.98);
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.dragged()) {
        *share = ((pointer.x - rect.left()) / rect.width()).clamp(0.02, 0.98);
    }
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, "Split between before and now"));
    let colours = colours(ui);
    let painter = ui.painter().with_clip_rect(rect);
    let is_active = response.hovered() || response.dragged();
    let colour = if is_active { colours.accent } else { Color32::WHITE };
    painter.vline(x + 1.0, rect.y_range(), Stroke::new(1.0, Color32::from_black_alpha(130)));
    painter.vline(x, rect.y_range(), Stroke::new(1.5, colour));
    painter.circle(egui::pos2(x, rect.center().y), 6.0, colour, Stroke::new(1.0, Color32::from_black_alpha(150)));
    let y = rect.top() + 50.0;
    note(ui, &painter, Align2::RIGHT_CENTER, egui::pos2(x - 8.0, y), before);
    note(ui, &painter, Align2::LEFT_CENTER, egui::pos2(x + 8.0, y), "Now");
    response.on_hover_cursor(egui::CursorIcon::ResizeHorizontal);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn water_covers_terrain_below_its_level_and_is_more_opaque_where_deep() {
        let grid = crate::engine::Grid::new(Extent { width_m: 2000.0, depth_m: 1000.0 }, 1201, 601);
        // From 60 m under the level in the west to 60 m over it in the east.
        let terrain = Heightfield::from_fn(grid, |c, _| c as f32 * 0.1 - 50.0);
        let image = water_image(&terrain, 10.0);
        assert!(image.size[0] <= MAX_FLOOD_PIXELS && image.size[0] > 300, "{:?}", image.size);
        let alpha = |share: f32| {
            let column = (share * (image.size[0] - 1) as f32).round() as usize;
            image.pixels[image.size[0] * (image.size[1] / 2) + column].a()
        };
        assert!(alpha(0.0) > alpha(0.25) && alpha(0.25) > alpha(0.48) && alpha(0.48) > 80);
        assert_eq!([alpha(0.52), alpha(0.8), alpha(1.0)], [0; 3]);
    }
}
