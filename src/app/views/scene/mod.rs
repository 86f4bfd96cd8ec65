//! The 3-D view: the land as a place, a block cut out of it, under the recipe's sun.
//!
//! It is drawn on the graphics card into a picture of its own, and only when something has changed. Nothing here is
//! part of the document but the level of the water.

pub(crate) mod drawing;
pub(crate) mod glow;
pub(crate) mod picture;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eframe::egui_wgpu;
use eframe::egui_wgpu::{RenderState, wgpu};
use egui::{
    Align, Align2, Color32, ComboBox, DragValue, FontId, Key, Layout, PointerButton, Pos2, Rect, Response, Role, Sense,
    Stroke, Ui, UiBuilder, Vec2, WidgetInfo,
};
use egui_material_icons::icons::{
    ICON_BOLT, ICON_FILTER_CENTER_FOCUS, ICON_HEIGHT, ICON_LANDSCAPE, ICON_MAP, ICON_VIEW_IN_AR, ICON_WATER,
};

use crate::app::commands::Command;
use crate::app::views::legend::{LEAST_ROOM, angles, heights, ramp_legend};
pub(crate) use crate::app::views::scene::drawing::{RenderOutcome, RenderTask};
use crate::app::views::scene::glow::Glow;
pub(crate) use crate::app::views::scene::picture::{Decision, RenderDialog};
use crate::app::views::{Freshness, freshness_chip, note, note_size, plate, scale_bar};
use crate::app::widgets::theme::{Colours, colours};
use crate::app::widgets::{arrow_keys, icon_button, zoom_keys};
use crate::engine::light::Light;
use crate::engine::texture::TextureView;
use crate::engine::{Extent, Heightfield, Image};
#[cfg(test)]
use crate::scene::Counts;
use crate::scene::camera::{Camera, SceneScale, Vec3, ViewProjection, dot};
use crate::scene::{Frame, GlowingFault, Gpu, RenderParams, ShadingMode, Stand};
use crate::worker::{Preview, Wake};

/// How long the camera takes from one place to another, seconds.
const FLIGHT: f64 = 0.35;

/// How long a land takes into an edited one, and at the most into the next one while the uplift plays, seconds.
const MORPH: f64 = 0.18;
const LONGEST_MORPH: f64 = 0.6;

/// What is said where no picture of the view can be taken.
const NOTHING_TO_SEE: &str = "the 3-D view does not show this land yet; show it and choose again";

/// Lands that follow each other sooner than this do so at the pace of the display, seconds.
const QUICK: f64 = 0.025;

/// A software adapter draws only so many pixels while something moves. When it has rested for so long, seconds, it draws
/// all of them, and when it has rested for longer, with smooth edges and all that is fine.
const QUICK_PIXELS: f32 = 75_000.0;
const REST: f64 = 0.02;
const LONG_REST: f64 = 0.25;

/// Ready-made looks at the land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CameraPreset {
    /// All of it, from where one looks now.
    Framed,
    /// As a new land is looked at: a corner in front, from half above.
    ThreeQuarter,
    /// As a plan, north at the top.
    FromAbove,
    /// As an elevation, from the side that is nearest to where one looks from; from the next one, if that is where.
    FromTheSide,
    /// With north at the top.
    North,
}

/// Whether anything can be drawn.
enum Card {
    /// Nobody has asked yet.
    Untried,
    /// Why not.
    Missing(String),
    Ready(Arc<Mutex<Gpu>>),
}

/// The land that is shown.
struct Shown {
    terrain: Arc<Heightfield>,
    colours: Arc<Image>,
    is_lit: bool,
    /// The lowest and the highest point, metres.
    range_m: [f32; 2],
}

/// A land becoming the next one.
struct Morph {
    from_m: [f32; 2],
    began: f64,
    seconds: f64,
}

/// A camera on its way.
struct Flight {
    from: Camera,
    to: Camera,
    began: f64,
}

/// What the view shows beside its own state.
pub(crate) struct Around<'a> {
    pub(crate) extent: Extent,
    pub(crate) light: &'a Light,
    /// The level of the water, metres, if there is any.
    pub(crate) water_m: &'a mut Option<f64>,
    /// The pointer's place on the land, on whichever view it is.
    pub(crate) crosshair_m: &'a mut Option<[f64; 2]>,
    pub(crate) freshness: &'a Freshness,
    pub(crate) is_playing: bool,
    /// The lines of the youngest faults.
    pub(crate) glow: &'a [GlowingFault],
}

/// How the land is looked at.
#[derive(Clone, Copy)]
pub(crate) struct SceneViewState {
    camera: Camera,
    aspect: f32,
    is_framed: bool,
    shading: ShadingMode,
    exaggeration: f32,
    glows: bool,
}

/// The 3-D view.
pub(crate) struct Scene {
    card: Card,
    /// What the window draws with.
    state: Option<RenderState>,
    /// Whether the card has gone: its driver was renewed, or it was unplugged.
    is_lost: Arc<AtomicBool>,
    /// The youngest faults, in this view and on the maps.
    glow: Glow,
    camera: Camera,
    flight: Option<Flight>,
    /// Whether the camera still stands where all of the land fills the pane, and goes with both.
    is_framed: bool,
    /// Whether nobody has moved it yet.
    is_untouched: bool,
    shading: ShadingMode,
    exaggeration: f32,
    shown: Option<Shown>,
    morph: Option<Morph>,
    /// When the land changed last, and when anything moved last.
    changed_at: f64,
    moved_at: f64,
    /// Width to height.
    aspect: f32,
    /// Whether the field of the water's level is to get the caret.
    wants_water: bool,
    /// What was drawn last: what a picture of the view is made of.
    params: Option<RenderParams>,
    #[cfg(test)]
    frame: Option<Frame>,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            card: Card::Untried,
            state: None,
            is_lost: Arc::default(),
            glow: Glow::default(),
            camera: Camera::default(),
            flight: None,
            is_framed: true,
            is_untouched: true,
            shading: ShadingMode::default(),
            exaggeration: 1.0,
            shown: None,
            morph: None,
            changed_at: f64::MIN,
            moved_at: f64::MIN,
            aspect: 1.5,
            wants_water: false,
            params: None,
            #[cfg(test)]
            frame: None,
        }
    }
}

/// Locks, whether or not a thread panicked meanwhile: the state is whole between two calls.
fn lock(gpu: &Mutex<Gpu>) -> MutexGuard<'_, Gpu> {
    gpu.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far an arrow key turns the land, as a drag over so many points does.
const KEY_ORBIT: f32 = 40.0;

impl Scene {
    /// Makes the card known: once, and again where another one has taken its place. `wake` is called when it goes.
    pub(crate) fn attach(&mut self, state: Option<&RenderState>, wake: impl FnOnce() -> Wake) {
        let is_known = match (&self.card, state) {
            (Card::Ready(gpu), Some(state)) => !self.is_lost() && lock(gpu).is_on(&state.device),
            (Card::Untried, _) => false,
            (Card::Missing(_), _) | (Card::Ready(_), None) => true,
        };
        if is_known {
            return;
        }
        self.card = match state.map(Gpu::new) {
            Some(Ok(gpu)) => Card::Ready(Arc::new(Mutex::new(gpu))),
            Some(Err(error)) => Card::Missing(format!("The graphics adapter cannot draw the land: {error}")),
            None => Card::Missing(
                "The land cannot be drawn here: no graphics adapter was found. Everything else works.".into(),
            ),
        };
        self.state = state.cloned();
        self.is_lost = Arc::default();
        if let Some(state) = state {
            let (is_lost, wake) = (self.is_lost.clone(), wake());
            state.device.set_device_lost_callback(move |_, _| {
                is_lost.store(true, Ordering::Release);
                wake();
            });
        }
    }

    /// Whether the card has gone, so that nothing can be drawn on it any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// How the land is looked at, for a view on another card.
    pub(crate) fn view_state(&self) -> SceneViewState {
        let Self { camera, aspect, is_framed, shading, exaggeration, .. } = *self;
        SceneViewState { camera, aspect, is_framed, shading, exaggeration, glows: self.glow.is_on }
    }

    pub(crate) fn take(&mut self, view_state: SceneViewState) {
        let SceneViewState { camera, aspect, is_framed, shading, exaggeration, glows } = view_state;
        (self.camera, self.aspect, self.is_framed) = (camera, aspect, is_framed);
        (self.shading, self.exaggeration, self.glow.is_on) = (shading, exaggeration, glows);
    }

    /// Whether the playhead is held: its faults glow as long as it is.
    pub(crate) fn hold_glow(&mut self, is_held: bool, ctx: &egui::Context) {
        self.glow.hold(is_held, ctx);
    }

    /// The lines that glow now; asks for the next frame as long as they change.
    pub(crate) fn glow(&self, ctx: &egui::Context) -> Vec<GlowingFault> {
        self.glow.lines(ctx)
    }

    /// What the card has done so far.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> Counts {
        match &self.card {
            Card::Ready(gpu) => lock(gpu).counts,
            Card::Untried | Card::Missing(_) => Counts::default(),
        }
    }

    fn is_software(&self) -> bool {
        matches!(&self.card, Card::Ready(gpu) if lock(gpu).is_software)
    }

    /// Takes a new preview; `now` is the time in seconds.
    pub(crate) fn show(&mut self, preview: &Preview, now: f64) {
        self.glow.show(&preview.request, now);
        let is_lit = match preview.request.texture_view {
            TextureView::Lit
            | TextureView::Unlit
            | TextureView::Weight(_)
            | TextureView::Humidity
            | TextureView::Shade => false,
            TextureView::Solo(_) | TextureView::Uncovered => true,
        };
        let range_m = [preview.summary.min_m, preview.summary.max_m];
        let is_same_land = self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(&shown.terrain, &preview.terrain));
        if !is_same_land {
            let before = self.shown.as_ref().filter(|shown| shown.terrain.grid() == preview.terrain.grid());
            // Quick ones follow each other like frames; between slow ones the land glides all the way to the next.
            let since = now - self.changed_at;
            let seconds = if preview.request.is_animated { since.min(LONGEST_MORPH) } else { MORPH };
            let glides = !self.is_software() && seconds > QUICK;
            let morph = |before: &Shown| Morph { from_m: before.range_m, began: now, seconds };
            self.morph = before.filter(|_| glides).map(morph);
            (self.changed_at, self.moved_at) = (now, now);
        }
        let (terrain, colours) = (preview.terrain.clone(), preview.albedo.clone());
        self.shown = Some(Shown { terrain, colours, is_lit, range_m });
    }

    /// Back to where a new land is looked at from.
    pub(crate) fn reset(&mut self) {
        (self.camera, self.flight, self.is_framed) = (Camera::default(), None, true);
        self.params = None;
    }

    /// Looks at the land in a ready-made way.
    pub(crate) fn look(&mut self, look: CameraPreset, extent: Extent, now: f64) {
        const QUARTER: f32 = std::f32::consts::FRAC_PI_2;
        let mut to = self.goal();
        match look {
            CameraPreset::Framed => {}
            CameraPreset::ThreeQuarter => {
                let Camera { azimuth, pitch, flat, .. } = Camera::default();
                (to.azimuth, to.pitch, to.flat) = (azimuth, pitch, flat);
            }
            CameraPreset::FromAbove => (to.azimuth, to.pitch, to.flat) = (0.0, QUARTER, 1.0),
            CameraPreset::FromTheSide => {
                let is_there = to.pitch == 0.0 && to.flat == 1.0;
                let sides = (to.azimuth / QUARTER).round() + f32::from(u8::from(is_there));
                (to.azimuth, to.pitch, to.flat) = (sides * QUARTER, 0.0, 1.0);
            }
            CameraPreset::North => to.azimuth = 0.0,
        }
        self.is_framed |= look != CameraPreset::North;
        if self.is_framed {
            let measure = self.measure(extent);
            to.frame(measure.half(), measure.block(self.range_m(1.0)), self.aspect);
        }
        self.is_untouched = false;
        self.fly_to(to, now);
    }

    /// Where the camera will be.
    fn goal(&self) -> Camera {
        self.flight.as_ref().map_or(self.camera, |flight| flight.to)
    }

    fn fly_to(&mut self, to: Camera, now: f64) {
        // Where every picture takes long, the way would stutter.
        if self.is_software() {
            (self.camera, self.flight, self.moved_at) = (to, None, now);
        } else {
            self.flight = Some(Flight { from: self.camera, to, began: now });
        }
    }

    fn measure(&self, extent: Extent) -> SceneScale {
        SceneScale { extent, exaggeration: self.exaggeration }
    }

    /// The lowest and the highest point, metres, where the land has come so far.
    fn range_m(&self, blend: f32) -> [f32; 2] {
        let to = self.shown.as_ref().map_or([0.0; 2], |shown| shown.range_m);
        let from = self.morph.as_ref().map_or(to, |morph| morph.from_m);
        [0, 1].map(|i| from[i] + (to[i] - from[i]) * blend)
    }

    /// The land as it is looked at now.
    fn params(&self, around: &Around, is_dark: bool, range_m: [f32; 2]) -> Option<RenderParams> {
        let shown = self.shown.as_ref()?;
        Some(RenderParams {
            terrain: shown.terrain.clone(),
            colours: shown.colours.clone(),
            is_lit: shown.is_lit,
            range_m,
            summit_m: shown.range_m[1],
            extent: around.extent,
            exaggeration: self.exaggeration,
            light: around.light.clone(),
            water_m: *around.water_m,
            is_dark,
            shading: self.shading,
            glow: around.glow.to_vec(),
            camera: Some(self.camera),
        })
    }

    /// What was drawn last, unless another land has come since, as it does while the view is hidden.
    fn drawn(&self) -> Option<&RenderParams> {
        let shown = self.shown.as_ref()?;
        let is_shown = |params: &&RenderParams| {
            Arc::ptr_eq(&params.terrain, &shown.terrain) && Arc::ptr_eq(&params.colours, &shown.colours)
        };
        self.params.as_ref().filter(is_shown)
    }

    /// What pictures of that size are made of: the view, as large in them as in the pane, and what to draw it with.
    pub(crate) fn model(&self, size: [u32; 2]) -> Result<(RenderState, RenderParams), String> {
        let seen = self.state.clone().zip(self.drawn().cloned());
        let (state, mut params) = seen.ok_or_else(|| NOTHING_TO_SEE.to_string())?;
        let measure = params.measure();
        if let Some(camera) = &mut params.camera {
            let aspect = size[0] as f32 / size[1].max(1) as f32;
            camera.refit(measure.half(), measure.block(params.range_m), [self.aspect, aspect]);
        }
        Ok((state, params))
    }

    /// What the camera sees.
    fn projection(&self, stand: &Stand, aspect: f32) -> Option<ViewProjection> {
        self.shown.as_ref().map(|shown| stand.projection(&self.camera, &shown.terrain, aspect))
    }

    /// Draws the view into the rest of `ui`; returns what it is taken by.
    pub(crate) fn ui(&mut self, ui: &mut Ui, around: &mut Around) -> Response {
        let (pane, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "The land in 3-D"));
        self.pane_ui(ui, pane, &response, around);
        response
    }

    fn pane_ui(&mut self, ui: &mut Ui, pane: Rect, response: &Response, around: &mut Around) {
        ui.painter().rect_filled(pane, 0.0, colours(ui).window);
        let trouble = match &self.card {
            Card::Ready(gpu) => lock(gpu).trouble.clone(),
            Card::Missing(why) => Some(why.clone()),
            Card::Untried => None,
        };
        if let Some(why) = trouble {
            let mut place = ui.new_child(UiBuilder::new().max_rect(pane.shrink(24.0)));
            place.centered_and_justified(|ui| ui.weak(why));
            return;
        }
        let Card::Ready(gpu) = &self.card else { return };
        let gpu = gpu.clone();
        if self.shown.is_none() || pane.width() < 8.0 || pane.height() < 8.0 {
            return;
        }
        let now = ui.input(|input| input.time);
        let measure = self.measure(around.extent);
        let blend = self.morphed(ui, now);
        let range_m = self.range_m(blend);
        self.fit(measure.half(), measure.block(range_m), pane.aspect_ratio(), now);
        let high = measure.y(range_m[1]);
        let Some(stand) = self.params(around, true, range_m).map(|params| params.stand()) else { return };
        self.move_camera(ui, response, pane, &stand, high, now);
        let params = self.params(around, ui.visuals().dark_mode, range_m);
        let (Some(projection), Some(params)) = (self.projection(&stand, self.aspect), params) else { return };
        self.draw(ui, &gpu, pane, around, params, blend, now);

        let painter = ui.painter().with_clip_rect(pane);
        if let Some(at) = response.hover_pos() {
            *around.crosshair_m = self.pick(&projection, at, pane, &measure, high).map(|point| measure.place_m(point));
        }
        if let (Some(place), Some(shown)) = (*around.crosshair_m, &self.shown) {
            let [x_m, z_m] = place;
            let foot = measure.point(place, shown.terrain.height_at(x_m, z_m));
            let hidden = projection.hides(foot, &measure, &shown.terrain, high);
            pin(&painter, &projection, foot, pane, colours(ui).accent, hidden, response.hovered());
        }
        let pixels = dot(projection.right, projection.right).sqrt() * 0.5 * pane.width();
        let pixels_per_m = pixels / (projection.divisor(self.camera.pivot) * measure.unit_m());
        let bar = scale_bar(ui, &painter, pane, pixels_per_m);
        let mut legend = None;
        if bar.top() - pane.top() > LEAST_ROOM
            && let Some(ramp) = self.shading.ramp()
        {
            let (unit, numbers) =
                if self.shading == ShadingMode::Slope { ("°", angles()) } else { ("m", heights(range_m)) };
            legend = Some(ramp_legend(ui, &painter, bar, &format!("{}, {unit}", self.shading.text()), ramp, numbers));
        }
        let before = (self.exaggeration, *around.water_m);
        self.controls_ui(ui, pane, around.water_m);
        if before != (self.exaggeration, *around.water_m) {
            self.moved_at = now;
        }
        let looks = self.looks_ui(ui, pane, around.extent, now);
        if self.is_untouched {
            let text = "Drag to orbit, right-drag to pan, wheel to zoom";
            if let Some(at) = hint_at(pane, bar, legend, looks, note_size(&painter, text)) {
                note(ui, &painter, Align2::LEFT_TOP, at, text);
            }
        }
        let step = self.shown.as_ref().map_or(1, |shown| lock(&gpu).step(&shown.terrain));
        if step > 1 {
            let text = format!("Drawn from every {step}. sample: the graphics adapter holds no more");
            note(ui, &painter, Align2::LEFT_TOP, pane.left_top() + Vec2::new(8.0, 36.0), &text);
        }
        freshness_chip(ui, &painter, pane, around.freshness);
    }

    /// How far the land has come, and whether it goes on.
    fn morphed(&mut self, ui: &Ui, now: f64) -> f32 {
        let Some(morph) = &self.morph else { return 1.0 };
        let share = ((now - morph.began) / morph.seconds) as f32;
        if share >= 1.0 {
            self.morph = None;
            return 1.0;
        }
        ui.ctx().request_repaint();
        share.max(0.0)
    }

    fn pick(&self, projection: &ViewProjection, at: Pos2, pane: Rect, measure: &SceneScale, high: f32) -> Option<Vec3> {
        let shown = self.shown.as_ref()?;
        projection.pick(projection.ray(at, pane), measure, &shown.terrain, high)
    }

    /// Lets the camera go with the pane, and with the land where it still frames it.
    fn fit(&mut self, half: [f32; 2], block: [f32; 2], aspect: f32, now: f64) {
        let before = std::mem::replace(&mut self.aspect, aspect);
        let cameras = match &mut self.flight {
            Some(flight) if self.is_framed => [&mut flight.to].into_iter().chain(None),
            Some(flight) => [&mut flight.to].into_iter().chain(Some(&mut flight.from)),
            None => [&mut self.camera].into_iter().chain(None),
        };
        for camera in cameras {
            if self.is_framed {
                camera.frame(half, block, aspect);
            } else if aspect != before {
                camera.refit(half, block, [before, aspect]);
            }
        }
        if aspect != before {
            self.moved_at = now;
        }
    }

    /// Follows the pointer, the wheel and the keys.
    fn move_camera(&mut self, ui: &Ui, response: &Response, pane: Rect, stand: &Stand, high: f32, now: f64) {
        let before = self.camera;
        if let Some(flight) = &self.flight {
            let t = (((now - flight.began) / FLIGHT) as f32).clamp(0.0, 1.0);
            self.camera = Camera::between(&flight.from, &flight.to, t);
            if t >= 1.0 {
                self.flight = None;
            }
            ui.ctx().request_repaint();
        }
        let Some(projection) = self.projection(stand, self.aspect) else { return };
        let under = |at: Pos2| self.pick(&projection, at, pane, &stand.measure, high);
        // The sky: what lies as deep in the picture as the pivot.
        let away = |at: Pos2| projection.ray(at, pane).at(projection.depth(self.camera.pivot));
        // Beside the land: the table on which it stands, if one sees anything of it.
        let level = |at: Pos2| {
            let ray = projection.ray(at, pane);
            let depth = (stand.bottom - ray.from[1]) / ray.way[1];
            let is_near = depth > ray.near && depth < 2.0 * self.camera.distance;
            if self.camera.flat == 1.0 { Some(away(at)) } else { is_near.then(|| ray.at(depth)) }
        };
        let drag = response.drag_delta();
        let is_moved = drag != Vec2::ZERO;
        let mut camera = self.camera;
        if is_moved && response.dragged_by(PointerButton::Primary) {
            camera.orbit(drag);
        }
        let pans = response.dragged_by(PointerButton::Secondary) || response.dragged_by(PointerButton::Middle);
        if let Some(at) = response.interact_pointer_pos().filter(|_| is_moved && pans)
            && let Some(grabbed) = under(at - drag).or_else(|| level(at - drag))
        {
            camera.attend(&projection, grabbed);
            camera.pan(grabbed, projection.ray(at, pane));
        }
        if let Some(at) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            let factor = libm::expf(scroll / 240.0) * pinch;
            if factor != 1.0 {
                match under(at).or_else(|| level(at)) {
                    Some(target) => {
                        camera.attend(&projection, target);
                        camera.zoom(factor, target);
                    }
                    None => camera.zoom(factor, away(at)),
                }
            }
        }
        let arrows = arrow_keys(ui, response);
        if arrows != Vec2::ZERO {
            camera.orbit(KEY_ORBIT * arrows);
        }
        let factor = zoom_keys(ui, response);
        if factor != 1.0 {
            camera.zoom(factor, camera.pivot);
        }
        let is_typing = ui.ctx().text_edit_focused();
        let is_flying = response.is_pointer_button_down_on() && ui.input(|input| input.pointer.secondary_down());
        if is_flying && !is_typing {
            let (way, seconds) = ui.input(|input| {
                let key = |key| f32::from(u8::from(input.key_down(key)));
                let way = Vec2::new(key(Key::D) - key(Key::A), key(Key::W) - key(Key::S));
                (way, input.stable_dt.min(0.1))
            });
            if way != Vec2::ZERO {
                camera.fly(way, seconds);
                ui.ctx().request_repaint();
            }
        }
        let pivot = response.double_clicked().then(|| response.interact_pointer_pos().and_then(under)).flatten();
        if camera != self.camera {
            (self.camera, self.flight) = (camera, None);
            (self.is_framed, self.is_untouched) = (false, false);
        }
        if let Some(pivot) = pivot {
            (self.is_framed, self.is_untouched) = (false, false);
            self.fly_to(Camera { pivot, ..self.camera }, now);
        }
        if self.camera != before {
            self.moved_at = now;
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one frame's facts, named once")]
    fn draw(
        &mut self,
        ui: &Ui,
        gpu: &Arc<Mutex<Gpu>>,
        pane: Rect,
        around: &Around,
        params: RenderParams,
        blend: f32,
        now: f64,
    ) {
        if self.params.as_ref().is_some_and(|before| before.glow != params.glow) {
            self.moved_at = now;
        }
        // A software adapter draws more coarsely while something moves.
        let rested = now - self.moved_at;
        let is_moving = |rest: f64| self.is_software() && (around.is_playing || rested < rest);
        let (is_quick, is_hurried) = (is_moving(REST), is_moving(LONG_REST));
        if is_hurried && rested < LONG_REST {
            let left = if rested < REST { REST - rested } else { LONG_REST - rested };
            ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(left.min(LONG_REST)));
        }
        let scale = ui.ctx().pixels_per_point();
        let quick = (QUICK_PIXELS / (pane.area() * scale * scale)).sqrt().min(1.0);
        let scale = if is_quick { scale * quick } else { scale };
        // Pixel for pixel what the pane has.
        let between = |from: f32, to: f32| (((to * scale).round() - (from * scale).round()) as u32).max(1);
        let size = [between(pane.left(), pane.right()), between(pane.top(), pane.bottom())];
        let projection = params.stand().projection(&self.camera, &params.terrain, self.aspect);
        let frame = Frame { projection, blend, is_hurried, ..params.frame(size, 0.0) };
        #[cfg(test)]
        {
            self.frame = Some(frame.clone());
        }
        self.params = Some(params);
        let callback = egui_wgpu::Callback::new_paint_callback(pane, PaintedTexture { gpu: gpu.clone(), frame });
        ui.painter().add(callback);
    }

    /// The lowest and the highest point of the land that is shown, metres.
    fn land_m(&self) -> [f32; 2] {
        self.shown.as_ref().map_or([0.0, 1.0], |shown| shown.range_m)
    }

    /// The level of new water, metres: sea level where the land reaches below it, else a little over its lowest point.
    pub(crate) fn default_water_level_m(&self) -> f64 {
        let [low, high] = self.land_m();
        f64::from(if low < 0.0 && high > 0.0 { 0.0 } else { (low + 0.12 * (high - low)).round() })
    }

    /// The level of the water is to be typed.
    pub(crate) fn focus_water_level(&mut self) {
        self.wants_water = true;
    }

    /// The choice of the coat, the exaggeration and the water, in a corner.
    fn controls_ui(&mut self, ui: &mut Ui, pane: Rect, water_m: &mut Option<f64>) {
        let place = Rect::from_min_size(pane.min + Vec2::splat(8.0), Vec2::new(pane.width() - 16.0, 20.0));
        let mut corner = ui.new_child(UiBuilder::new().max_rect(place).layout(Layout::left_to_right(Align::Center)));
        let ui = &mut corner;
        ui.spacing_mut().item_spacing.x = 6.0;
        let combo = ComboBox::from_id_salt("coat").selected_text(self.shading.text()).width(124.0).show_ui(ui, |ui| {
            for shading in ShadingMode::ALL {
                ui.selectable_value(&mut self.shading, shading, shading.text()).on_hover_text(shading.doc());
            }
        });
        combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "What the 3-D view shows"));
        let before = self.exaggeration;
        let value = DragValue::new(&mut self.exaggeration)
            .range(0.1..=10.0)
            .speed(0.01)
            .max_decimals(2)
            .min_decimals(1)
            .prefix(format!("{} × ", ICON_HEIGHT.codepoint));
        let response = ui.add(value).on_hover_text("Vertical exaggeration of the 3-D view");
        response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Vertical exaggeration"));
        if self.exaggeration != before {
            self.camera.pivot[1] *= self.exaggeration / before;
        }
        let is_on = self.glow.is_on;
        let button = egui::Button::selectable(is_on, ICON_BOLT.rich_text().size(14.0)).min_size(Vec2::splat(20.0));
        let text = "The faults of the last iterations glow while the land rises";
        let toggle = ui.add(button.frame_when_inactive(true)).on_hover_text(text);
        toggle.widget_info(|| WidgetInfo::selected(Role::Button, true, is_on, "Glowing faults"));
        self.glow.is_on ^= toggle.clicked();
        let mut is_wet = water_m.is_some();
        let button = egui::Button::selectable(is_wet, ICON_WATER.rich_text().size(14.0)).min_size(Vec2::splat(20.0));
        let text = if is_wet { "Drain the water" } else { "Fill with water" };
        let toggle = ui.add(button.frame_when_inactive(true)).on_hover_text(text);
        toggle.widget_info(|| WidgetInfo::selected(Role::Button, true, is_wet, "Water"));
        if toggle.clicked() {
            is_wet = !is_wet;
            *water_m = is_wet.then(|| self.default_water_level_m());
        }
        if let Some(level) = water_m {
            let [low, high] = self.land_m();
            let speed = f64::from((high - low).max(10.0)) / 800.0;
            let value = DragValue::new(level).speed(speed).range(-20_000.0..=100_000.0).max_decimals(1).suffix(" m");
            // What is typed is one edit, and not one a digit.
            let value = value.update_while_editing(false);
            let response = ui.add(value).on_hover_text("The level of the water");
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Water level"));
            if std::mem::take(&mut self.wants_water) {
                response.request_focus();
            }
        }
    }

    /// The ready-made looks and the needle that points north, in the other corner; where they stand.
    fn looks_ui(&mut self, ui: &mut Ui, pane: Rect, extent: Extent, now: f64) -> Rect {
        let centre = pane.right_bottom() - Vec2::splat(28.0);
        let dial = Rect::from_center_size(centre, Vec2::splat(36.0));
        let response = ui.interact(dial, ui.scope_id().with("north"), Sense::click()).on_hover_text("Turn north up");
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Turn north up"));
        let mut chosen = response.clicked().then_some(CameraPreset::North);
        let colours = colours(ui);
        north(&ui.painter().with_clip_rect(pane), centre, self.camera.azimuth, &colours);
        let looks = [
            (ICON_FILTER_CENTER_FOCUS, Command::FrameViews, CameraPreset::Framed),
            (ICON_VIEW_IN_AR, Command::ViewThreeQuarter, CameraPreset::ThreeQuarter),
            (ICON_MAP, Command::ViewFromAbove, CameraPreset::FromAbove),
            (ICON_LANDSCAPE, Command::ViewFromSide, CameraPreset::FromTheSide),
        ];
        let width = 34.0 * looks.len() as f32 + 2.0;
        let place = Rect::from_min_max(
            dial.left_top() + Vec2::new(-8.0 - width, 6.0),
            dial.left_bottom() - Vec2::new(8.0, 6.0),
        );
        plate(ui.painter(), place, &colours);
        let mut row = ui.new_child(UiBuilder::new().max_rect(place).layout(Layout::left_to_right(Align::Center)));
        row.spacing_mut().item_spacing.x = 2.0;
        row.add_space(2.0);
        for (icon, command, look) in looks {
            if icon_button(&mut row, icon, &command.tooltip(ui)).clicked() {
                chosen = Some(look);
            }
        }
        if let Some(look) = chosen {
            self.look(look, extent, now);
            ui.ctx().request_repaint();
        }
        place.union(dial)
    }
}

/// The corner of a hint of that size at the foot of the pane: between the scale bar and the looks, or above both, beside
/// the legend if there is one and where that hides little of the land; `None` where there is no room for it.
fn hint_at(pane: Rect, bar: Rect, legend: Option<Rect>, looks: Rect, size: Vec2) -> Option<Pos2> {
    const GAP: f32 = 8.0;
    let is_large = pane.width() > 600.0 && pane.height() > 240.0;
    // Below the controls at the top.
    let room = pane.shrink(GAP).with_min_y(pane.top() + 40.0);
    let above = room.with_max_y(bar.top().min(looks.top()) - GAP);
    let between = room.with_min_x(bar.right() + GAP).with_max_x(looks.left() - GAP);
    let above = legend.map_or(above, |legend| above.with_min_x(legend.right() + GAP));
    let fits = |room: &Rect| room.width() >= size.x && room.height() >= size.y;
    let found = [Some(between), Some(above).filter(|_| is_large)].into_iter().flatten().find(fits)?;
    Some(Align2::CENTER_BOTTOM.align_size_within_rect(size, found).min)
}

/// A needle in a dial.
fn north(painter: &egui::Painter, centre: Pos2, azimuth: f32, colours: &Colours) {
    painter.circle_filled(centre, 18.0, colours.plate);
    let way = Vec2::new(-libm::sinf(azimuth), -libm::cosf(azimuth));
    let across = way.rot90();
    for (sign, colour) in [(1.0, colours.accent_text), (-1.0, colours.weak)] {
        let points = vec![
            centre + way * 9.0 * sign - way * 2.0,
            centre - across * 4.0 - way * 2.0,
            centre + across * 4.0 - way * 2.0,
        ];
        painter.add(egui::Shape::convex_polygon(points, colour, Stroke::NONE));
    }
    painter.text(centre + way * 13.0, Align2::CENTER_CENTER, "N", FontId::proportional(9.0), colours.text);
}

/// The pointer's place on the land, as a pin that stands in it; a ring where the pointer itself is here.
fn pin(
    painter: &egui::Painter,
    projection: &ViewProjection,
    foot: Vec3,
    pane: Rect,
    accent: Color32,
    hidden: bool,
    here: bool,
) {
    let Some(at) = projection.project(foot, pane) else { return };
    let fade = if hidden { 0.35 } else { 1.0 };
    let (accent, dark) = (accent.gamma_multiply(fade), Color32::from_black_alpha(150).gamma_multiply(fade));
    if here {
        painter.circle_stroke(at, 4.5, Stroke::new(2.5, dark));
        painter.circle_stroke(at, 4.5, Stroke::new(1.25, accent));
        return;
    }
    let head = at - Vec2::new(0.0, 26.0);
    painter.line_segment([at, head], Stroke::new(3.0, dark));
    painter.line_segment([at, head], Stroke::new(1.5, accent));
    painter.circle(head, 5.0, accent, Stroke::new(1.0, dark));
    painter.circle_filled(at, 1.5, dark);
}

/// One frame on its way to the card.
struct PaintedTexture {
    gpu: Arc<Mutex<Gpu>>,
    frame: Frame,
}

impl egui_wgpu::CallbackTrait for PaintedTexture {
    fn prepare(
        &self,
        _device: &wgpu::Device,
        _queue: &wgpu::Queue,
        _screen: &egui_wgpu::ScreenDescriptor,
        _encoder: &mut wgpu::CommandEncoder,
        _resources: &mut egui_wgpu::CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        let mut gpu = lock(&self.gpu);
        if gpu.trouble.is_none()
            && let Err(error) = gpu.draw(&self.frame)
        {
            gpu.trouble = Some(format!("The graphics adapter could not draw the land: {error}"));
        }
        Vec::new()
    }

    fn paint(
        &self,
        _info: egui::PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        _resources: &egui_wgpu::CallbackResources,
    ) {
        lock(&self.gpu).paint(pass);
    }
}
