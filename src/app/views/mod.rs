//! The views, and the maps among them: heightmap and texture side by side, with one pan, one zoom and one crosshair.

pub(crate) mod layout;
pub(crate) mod legend;
pub(crate) mod map_style;
pub(crate) mod scene;

use std::sync::Arc;

use egui::{
    Align2, Color32, ColorImage, FontId, Painter, PointerButton, Pos2, Rect, Response, Sense, Stroke, TextureHandle,
    TextureOptions, Ui, Vec2,
};

use crate::app::preview::thumbnails::color_image;
use crate::app::views::map_style::MapAspect;
use crate::app::widgets::theme::{Colours, colours};
use crate::app::widgets::{arrow_keys, zoom_keys};
use crate::engine::{Extent, Heightfield, Image};
use crate::scene::GlowingFault;
use crate::scene::scale::round_length;
use crate::worker::Preview;

/// A way to look at the land.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum View {
    /// Heights in grey.
    Heightmap,
    /// The lit texture.
    Texture,
    /// The land as a place.
    Scene,
}

impl View {
    pub(crate) const ALL: [Self; 3] = [Self::Heightmap, Self::Texture, Self::Scene];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Heightmap => "Heightmap",
            Self::Texture => "Texture",
            Self::Scene => "3-D view",
        }
    }
}

/// Where all maps look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MapViewport {
    /// What lies in the middle of a pane: shares of the world, eastward and southward.
    pub(crate) centre: Vec2,
    /// 1 shows the whole world.
    pub(crate) zoom: f32,
}

impl Default for MapViewport {
    fn default() -> Self {
        Self { centre: Vec2::splat(0.5), zoom: 1.0 }
    }
}

/// A picture on the graphics card, and the one it was made from.
struct Upload {
    picture: Arc<Image>,
    texture: TextureHandle,
}

impl Upload {
    /// Brings a picture to the card, unless it is there.
    fn renew(upload: &mut Option<Self>, ctx: &egui::Context, name: &str, picture: &Arc<Image>) {
        match upload {
            Some(upload) if Arc::ptr_eq(&upload.picture, picture) => {}
            Some(upload) => {
                upload.texture.set(image_of_map(picture), TextureOptions::LINEAR);
                upload.picture = picture.clone();
            }
            None => {
                let texture = ctx.load_texture(name, image_of_map(picture), TextureOptions::LINEAR);
                *upload = Some(Self { picture: picture.clone(), texture });
            }
        }
    }
}

/// The water over the maps, and what it was made from.
struct Flood {
    terrain: Arc<Heightfield>,
    level_m: f64,
    texture: TextureHandle,
}

/// The most pixels along a side of the water over the maps: it is made within a frame, and a coast that is a little soft
/// is none the worse.
const FINEST_FLOOD: usize = 513;

/// The colour of water over a map, how much of it deep and shallow water have, and the depth at which most of it is deep.
const WATER: [u8; 3] = [0x1c, 0x4f, 0x78];
const DEEP_ALPHA: f32 = 0.78;
const SHALLOW_ALPHA: f32 = 0.34;
const DEEP_M: f32 = 40.0;

/// Water over land up to a level: clear where it is dry.
fn image_of_flood(terrain: &Heightfield, level_m: f64) -> ColorImage {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let step = (width.max(height) - 1).div_ceil(FINEST_FLOOD - 1).max(1);
    // Corners stay on corners.
    let places = |samples: usize| {
        let count = (samples - 1).div_ceil(step) + 1;
        (0..count).map(move |i| i * (samples - 1) / (count - 1).max(1))
    };
    let [red, green, blue] = WATER;
    let colour = |depth_m: f32| {
        let deep = SHALLOW_ALPHA + (DEEP_ALPHA - SHALLOW_ALPHA) * (1.0 - libm::expf(-depth_m / DEEP_M));
        let alpha = if depth_m > 0.0 { deep } else { 0.0 };
        Color32::from_rgba_unmultiplied(red, green, blue, (alpha * 255.0) as u8)
    };
    let heights = places(height).flat_map(|r| places(width).map(move |c| terrain.heights()[r * width + c]));
    let pixels = heights.map(|height_m| colour(level_m as f32 - height_m)).collect();
    ColorImage::new([places(width).count(), places(height).count()], pixels)
}

/// The state of the maps.
#[derive(Default)]
pub(crate) struct Maps {
    pub(crate) viewport: MapViewport,
    /// What the heightmap's pane shows.
    pub(crate) aspect: MapAspect,
    /// Where the pointer is on the land, metres east and south, on whichever map it is.
    pub(crate) crosshair_m: Option<[f64; 2]>,
    heightmap: Option<Upload>,
    texture: Option<Upload>,
    flood: Option<Flood>,
    /// Where the maps are split, as a share of their panes' width: to the west of it they show the state before the last
    /// edit.
    pub(crate) split: Option<f32>,
    /// The heightmap and the texture of that state.
    other: [Option<Upload>; 2],
    /// Whether they are not there yet.
    awaits_other: bool,
}

/// Where a map lies on the screen: what is drawn over it, and works on it, goes by this.
pub(crate) struct MapTransform {
    /// What the pointer does on the pane.
    pub(crate) response: Response,
    /// Draws on the pane alone.
    pub(crate) painter: Painter,
    /// Points a metre.
    pub(crate) pixels_per_m: f32,
    /// The plate of the scale bar.
    pub(crate) bar: Rect,
    /// The north-west corner of the land.
    corner: Pos2,
}

impl MapTransform {
    /// The place on the land below a point of the screen, metres east and south.
    pub(crate) fn place_m(&self, at: Pos2) -> [f64; 2] {
        let from_corner = (at - self.corner) / self.pixels_per_m;
        [from_corner.x, from_corner.y].map(f64::from)
    }

    /// Where a place on the land is seen.
    pub(crate) fn pos(&self, [x_m, z_m]: [f64; 2]) -> Pos2 {
        self.corner + Vec2::new(x_m as f32, z_m as f32) * self.pixels_per_m
    }
}

/// How the picture relates to the parameters beside it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Freshness {
    /// It belongs to them.
    Current,
    /// A better one is being computed; how far it is.
    Renewing(f32),
    /// The computation of a better one was cancelled.
    Outdated,
    /// It could not be computed.
    Failed,
}

/// Samples along a side up to which a map is uploaded as it is. No screen shows more of a whole one, and the upload of
/// a large map stops the window meanwhile.
const FINEST_MAP: usize = 2049;

/// A map as the graphics card takes it: every n-th sample of a large one.
fn image_of_map(picture: &Image) -> ColorImage {
    let Image { width, height, .. } = *picture;
    if width.max(height) <= FINEST_MAP {
        return color_image(picture);
    }
    let step = (width.max(height) - 1).div_ceil(FINEST_MAP - 1);
    let places = (0..height).step_by(step).flat_map(|j| (0..width).step_by(step).map(move |i| j * width + i));
    let pixels = places.map(|at| picture.pixels[at]).map(|[r, g, b, _]| Color32::from_rgb(r, g, b)).collect();
    ColorImage::new([width.div_ceil(step), height.div_ceil(step)], pixels)
}

impl Maps {
    /// Uploads the pictures that changed.
    pub(crate) fn show(&mut self, ctx: &egui::Context, preview: &Preview) {
        let pictures = [
            (View::Heightmap, &preview.heightmap, &mut self.heightmap),
            (View::Texture, &preview.texture, &mut self.texture),
        ];
        for (view, picture, upload) in pictures {
            Upload::renew(upload, ctx, view.title(), picture);
        }
    }

    /// Uploads the pictures of the state before the last edit, if the maps are to show any; without, says whether there
    /// will be some.
    pub(crate) fn show_other(&mut self, ctx: &egui::Context, before: Option<&Preview>, is_awaited: bool) {
        self.awaits_other = is_awaited;
        match before {
            Some(before) => {
                for (upload, picture) in self.other.iter_mut().zip([&before.heightmap, &before.texture]) {
                    Upload::renew(upload, ctx, "Before", picture);
                }
            }
            None => self.other = [None, None],
        }
    }

    /// Whether the state before the last edit is there.
    #[cfg(test)]
    pub(crate) fn shows_other(&self) -> bool {
        self.other.iter().all(Option::is_some)
    }

    /// Has the maps show water up to that level of the land that they show, if there is any.
    pub(crate) fn flood(&mut self, ctx: &egui::Context, terrain: Option<&Arc<Heightfield>>, water_m: Option<f64>) {
        let (Some(terrain), Some(level_m)) = (terrain, water_m) else {
            self.flood = None;
            return;
        };
        let image = || image_of_flood(terrain, level_m);
        match &mut self.flood {
            Some(flood) if Arc::ptr_eq(&flood.terrain, terrain) && flood.level_m == level_m => {}
            Some(flood) => {
                flood.texture.set(image(), TextureOptions::LINEAR);
                (flood.terrain, flood.level_m) = (terrain.clone(), level_m);
            }
            None => {
                let texture = ctx.load_texture("Water", image(), TextureOptions::LINEAR);
                self.flood = Some(Flood { terrain: terrain.clone(), level_m, texture });
            }
        }
    }

    /// Draws one map into the rest of `ui`, and returns where it lies. `is_pan_free` says whether the
    /// first button drags the land along; the other ones always do.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        view: View,
        extent: Extent,
        freshness: &Freshness,
        glow: &[GlowingFault],
        is_pan_free: bool,
    ) -> MapTransform {
        let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        let colours = colours(ui);
        let painter = ui.painter().with_clip_rect(rect);
        painter.rect_filled(rect, 0.0, colours.window);
        let world_m = Vec2::new(extent.width_m as f32, extent.depth_m as f32);
        let fit = ((rect.width() - 16.0) / world_m.x).min((rect.height() - 16.0) / world_m.y).max(f32::MIN_POSITIVE);

        let others = [PointerButton::Secondary, PointerButton::Middle];
        let is_panned = if is_pan_free { response.dragged() } else { others.iter().any(|by| response.dragged_by(*by)) };
        if is_panned {
            self.viewport.centre -= response.drag_delta() / (world_m * fit * self.viewport.zoom);
        }
        if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            self.zoom_by(libm::expf(scroll / 240.0) * pinch, (pointer - rect.center()) / (world_m * fit));
        }
        self.viewport.centre +=
            KEY_PAN * arrow_keys(ui, &response) * rect.size() / (world_m * fit * self.viewport.zoom);
        self.zoom_by(zoom_keys(ui, &response), Vec2::ZERO);
        if response.double_clicked() && is_pan_free {
            self.viewport = MapViewport::default();
        }
        self.viewport.centre = self.viewport.centre.clamp(Vec2::ZERO, Vec2::splat(1.0));

        let pixels_per_m = fit * self.viewport.zoom;
        let terrain =
            Rect::from_min_size(rect.center() - self.viewport.centre * world_m * pixels_per_m, world_m * pixels_per_m);
        let mut transform = MapTransform { response, painter, pixels_per_m, bar: rect, corner: terrain.min };
        let MapTransform { response, painter, .. } = &transform;
        let upload = match view {
            View::Heightmap => &self.heightmap,
            View::Texture => &self.texture,
            View::Scene => &None,
        };
        if let Some(upload) = upload {
            let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
            painter.image(upload.texture.id(), terrain, whole, Color32::WHITE);
        }
        let before = match view {
            View::Heightmap => &self.other[0],
            View::Texture => &self.other[1],
            View::Scene => &None,
        };
        let split = self.split.map(|share| rect.left() + share * rect.width());
        if let (Some(before), Some(x)) = (before, split) {
            let west = Rect::from_x_y_ranges(rect.left()..=x, rect.y_range());
            let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
            painter.with_clip_rect(west).image(before.texture.id(), terrain, whole, Color32::WHITE);
        }
        // What shows the water by itself has the sea already.
        let has_sea = view == View::Heightmap && self.aspect == MapAspect::Water;
        if let Some(flood) = self.flood.as_ref().filter(|_| !has_sea) {
            // Its corner pixels lie on the corners of the land.
            let half = Vec2::splat(0.5) / flood.texture.size_vec2();
            let within = Rect::from_min_max(half.to_pos2(), Pos2::new(1.0, 1.0) - half);
            painter.image(flood.texture.id(), terrain, within, Color32::WHITE);
        }
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
        let bar = scale_bar(ui, painter, rect, pixels_per_m);
        north_tick(ui, painter, bar);
        let state = match (before, self.awaits_other) {
            (Some(_), _) => "Before",
            (None, true) => "Before: renewing…",
            (None, false) => "Before: nothing was edited",
        };
        freshness_chip(ui, painter, rect, freshness);
        let name = view.title();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("{name} of the land")));
        transform.bar = bar;
        if let Some(share) = &mut self.split {
            split_ui(ui, rect, share, state);
        }
        transform
    }

    /// Zooms by a factor so that the land under the pointer stays there; `offset` is the pointer's distance from the
    /// middle of the pane in shares of the world at zoom 1.
    fn zoom_by(&mut self, factor: f32, offset: Vec2) {
        let zoom = (self.viewport.zoom * factor).clamp(0.5, 64.0);
        self.viewport.centre += offset * (1.0 / self.viewport.zoom - 1.0 / zoom);
        self.viewport.zoom = zoom;
    }
}

/// How far an arrow key moves a map, in shares of its pane.
const KEY_PAN: f32 = 0.1;

/// A length in metres, in kilometres from 1000 m on.
pub(crate) fn length(metres: f64) -> String {
    if metres >= 1000.0 {
        let km = format!("{:.2}", metres / 1000.0);
        format!("{} km", km.trim_end_matches('0').trim_end_matches('.'))
    } else {
        format!("{metres:.0} m")
    }
}

/// A plate for what is written over a picture.
pub(crate) fn plate(painter: &egui::Painter, place: Rect, colours: &Colours) {
    painter.rect_filled(place, 4.0, colours.plate);
}

/// The font of what is written over pictures.
fn small() -> FontId {
    FontId::proportional(11.0)
}

/// A line of text over a picture, on a plate.
pub(crate) fn note(ui: &Ui, painter: &egui::Painter, anchor: Align2, at: Pos2, text: &str) {
    let colours = colours(ui);
    let galley = painter.layout_no_wrap(text.into(), small(), colours.text);
    let place = anchor.anchor_size(at, galley.size() + 2.0 * NOTE_ROOM);
    plate(painter, place, &colours);
    painter.galley(place.min + NOTE_ROOM, galley, colours.text);
}

/// The room around the text of a note.
const NOTE_ROOM: Vec2 = Vec2::new(8.0, 3.0);

/// How large such a line is with its plate.
pub(crate) fn note_size(painter: &egui::Painter, text: &str) -> Vec2 {
    painter.layout_no_wrap(text.into(), small(), Color32::WHITE).size() + 2.0 * NOTE_ROOM
}

/// A round length of the land, in the lower left corner; where it stands.
pub(crate) fn scale_bar(ui: &Ui, painter: &egui::Painter, rect: Rect, pixels_per_m: f32) -> Rect {
    let colours = colours(ui);
    let length_m = round_length(0.3 * rect.width() / pixels_per_m);
    let width = length_m * pixels_per_m;
    let galley = painter.layout_no_wrap(length(f64::from(length_m)), small(), colours.text);
    let size = Vec2::new(width.max(galley.size().x) + 16.0, 24.0);
    let place = Rect::from_min_size(rect.left_bottom() + Vec2::new(8.0, -8.0 - size.y), size);
    plate(painter, place, &colours);
    painter.galley(place.min + Vec2::new(8.0, 2.0), galley, colours.text);
    let y = place.bottom() - 5.0;
    let start = place.left() + 8.0;
    let stroke = Stroke::new(1.5, colours.text);
    painter.hline(start..=start + width, y, stroke);
    for x in [start, start + width] {
        painter.vline(x, y - 3.0..=y, stroke);
    }
    place
}

/// Says beside the scale bar of a map that north is at the top.
fn north_tick(ui: &Ui, painter: &egui::Painter, bar: Rect) {
    let colours = colours(ui);
    let place = Rect::from_min_size(bar.right_top() + Vec2::new(4.0, 0.0), Vec2::new(20.0, bar.height()));
    plate(painter, place, &colours);
    let top = place.center_top() + Vec2::new(0.0, 3.0);
    let wing = |x: f32| top + Vec2::new(x, 6.0);
    painter.add(egui::Shape::convex_polygon(vec![top, wing(3.5), wing(-3.5)], colours.text, Stroke::NONE));
    painter.text(place.center_bottom() - Vec2::new(0.0, 1.0), Align2::CENTER_BOTTOM, "N", small(), colours.text);
}

/// The line that splits a map, which can be dragged; `before` says what is seen to the west of it.
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

pub(crate) fn freshness_chip(ui: &Ui, painter: &egui::Painter, rect: Rect, freshness: &Freshness) {
    let colours = colours(ui);
    let (text, colour) = match freshness {
        Freshness::Current => return,
        Freshness::Renewing(progress) => (format!("Renewing… {:.0} %", progress * 100.0), colours.text),
        Freshness::Outdated => ("Out of date: cancelled".into(), colours.accent_text),
        Freshness::Failed => ("Not renewed: see below".into(), colours.accent_text),
    };
    let galley = painter.layout_no_wrap(text, small(), colour);
    let size = Vec2::new(132.0_f32.max(galley.size().x + 16.0), 20.0);
    let place = Align2::RIGHT_TOP.anchor_size(rect.right_top() + Vec2::new(-8.0, 8.0), size);
    plate(painter, place, &colours);
    painter.galley(place.min + Vec2::new(8.0, 3.0), galley, colour);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_the_land_under_the_pointer() {
        let mut maps = Maps::default();
        let offset = Vec2::new(0.2, -0.3);
        let under = |maps: &Maps| maps.viewport.centre + offset / maps.viewport.zoom;
        let before = under(&maps);
        for factor in [1.5, 2.0, 0.7, 1.1] {
            maps.zoom_by(factor, offset);
            assert!((under(&maps) - before).length() < 1e-5);
        }
    }

    #[test]
    fn water_lies_where_the_land_is_below_its_level_and_is_denser_where_it_is_deep() {
        let grid = crate::engine::Grid::new(Extent { width_m: 2000.0, depth_m: 1000.0 }, 1201, 601);
        // From 60 m under the level in the west to 60 m over it in the east.
        let terrain = Heightfield::from_fn(grid, |c, _| c as f32 * 0.1 - 50.0);
        let image = image_of_flood(&terrain, 10.0);
        assert!(image.size[0] <= FINEST_FLOOD && image.size[0] > 300, "{:?}", image.size);
        let alpha = |share: f32| {
            let column = (share * (image.size[0] - 1) as f32).round() as usize;
            image.pixels[image.size[0] * (image.size[1] / 2) + column].a()
        };
        assert!(alpha(0.0) > alpha(0.25) && alpha(0.25) > alpha(0.48) && alpha(0.48) > 80);
        assert_eq!([alpha(0.52), alpha(0.8), alpha(1.0)], [0; 3]);
    }

    #[test]
    fn long_lengths_are_in_kilometres() {
        assert_eq!([950.0, 1000.0, 2500.0, 12_345.0].map(length), ["950 m", "1 km", "2.5 km", "12.35 km"]);
    }
}
