//! The pane of the 3-D view: its state, and a frame of it.

use std::sync::Arc;
use std::time::Duration;

use eframe::egui_wgpu::RenderState;
use egui::{Align2, Rect, Response, Role, Sense, Ui, UiBuilder, Vec2, WidgetInfo};

use crate::app::preview::request::PreviewStatus;
use crate::app::tools::tool_view::ToolView;
use crate::app::views::legend::{MIN_HEIGHT, angles, heights, ramp_legend};
use crate::app::views::overlay::{note, note_size, scale_bar, status_chip};
use crate::app::views::scene::controls::{self, controls_ui, presets_ui};
use crate::app::views::scene::fault_glow::FaultGlow;
use crate::app::views::scene::gpu::SceneGpu;
use crate::app::views::scene::navigation::{Block, CameraPreset, Navigation};
use crate::app::views::scene::overlay::{hint_position, paint_crosshair};
use crate::app::views::scene::picker::{Picker, SceneTransform};
use crate::app::views::scene::tint::Tinted;
use crate::app::widgets::theme::colours;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::light::Light;
use crate::engine::parameters::{grouped, ordinal};
use crate::engine::scatter::ShapeInstances;
use crate::engine::texture::TextureView;
use crate::engine::{Extent, Heightfield, Image};
use crate::scene::camera::Camera;
use crate::scene::frame::Frame;
use crate::scene::projection::ViewProjection;
use crate::scene::scale::SceneScale;
use crate::scene::{GlowingFault, GpuDevice, RenderParams, ShadingMode};
use crate::worker::{Preview, Wake};

/// The duration of the transition to an edited terrain, and the longest one to the next terrain during playback,
/// seconds.
const TRANSITION_S: f64 = 0.18;
const MAX_TRANSITION_S: f64 = 0.6;

/// Terrains that arrive faster than this, seconds, are shown one after the other without transitions.
const FAST_S: f64 = 0.025;

/// A software renderer draws only so many pixels while something moves. After a short rest it draws all of them, and
/// after a long rest with smooth edges and full detail, seconds.
const FAST_PIXELS: f32 = 75_000.0;
pub(super) const SHORT_REST_S: f64 = 0.02;
const LONG_REST_S: f64 = 0.25;

/// The terrain that is shown.
pub(super) struct ShownTerrain {
    pub(super) terrain: Arc<Heightfield>,
    pub(super) colours: Arc<Image>,
    /// Whether the colours already contain the lighting.
    is_lit: bool,
    /// The lowest and the highest point, metres.
    range_m: [f32; 2],
}

/// A transition from one terrain to the next.
struct Transition {
    from_m: [f32; 2],
    began: f64,
    seconds: f64,
}

/// What a frame of the 3-D view needs.
pub(crate) struct SceneContext<'a> {
    pub(crate) extent: Extent,
    pub(crate) light: &'a Light,
    /// The water level, metres, if there is water.
    pub(crate) water_m: Option<f64>,
    /// The pointer's place on the terrain, on any of the views.
    pub(crate) crosshair_m: Option<[f64; 2]>,
    pub(crate) status: &'a PreviewStatus,
    pub(crate) is_playing: bool,
    pub(crate) glow: &'a [GlowingFault],
    /// Whether a tool takes the primary button.
    pub(crate) has_tool: bool,
    /// What stands on the terrain.
    pub(crate) shapes: Option<Arc<ShapeInstances>>,
    /// The tint over the colours: the mask that is painted, or else drawn lakes.
    pub(crate) tint: Option<Arc<egui::ColorImage>>,
}

/// Handles the pointer and draws the active tool in the 3-D view.
pub(crate) type ToolUi<'a> = dyn FnMut(&Ui, &dyn ToolView) + 'a;

/// What a frame of the 3-D view returns.
pub(crate) struct SceneResponse {
    /// The pane.
    pub(crate) response: Response,
    /// The water level and the pointer's place after the frame.
    pub(crate) water_m: Option<f64>,
    pub(crate) crosshair_m: Option<[f64; 2]>,
}

/// How the terrain is viewed: what outlives a renderer whose device is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SceneViewState {
    camera: Camera,
    aspect: f32,
    is_framed: bool,
    shading: ShadingMode,
    exaggeration: f32,
    shows_glow: bool,
    shows_water: bool,
}

/// The 3-D view.
pub(crate) struct ScenePane {
    pub(super) gpu: SceneGpu,
    /// The most recent faults, in this view and on the maps.
    glow: FaultGlow,
    pub(super) navigation: Navigation,
    pub(super) shading: ShadingMode,
    exaggeration: f32,
    pub(super) shown: Option<ShownTerrain>,
    transition: Option<Transition>,
    tinted: Tinted,
    /// When the terrain changed last, seconds.
    changed_at: f64,
    /// Whether the water of the project is drawn, in this view and on the maps.
    shows_water: bool,
    /// Whether the water level gets the keyboard focus in the next frame.
    focuses_water: bool,
    /// What was drawn last, for images of the view.
    params: Option<RenderParams>,
    #[cfg(test)]
    pub(super) frame: Option<Frame>,
}

impl Default for ScenePane {
    fn default() -> Self {
        Self {
            gpu: SceneGpu::default(),
            glow: FaultGlow::default(),
            navigation: Navigation::default(),
            shading: ShadingMode::default(),
            exaggeration: 1.0,
            shown: None,
            transition: None,
            tinted: Tinted::default(),
            changed_at: f64::MIN,
            shows_water: true,
            focuses_water: false,
            params: None,
            #[cfg(test)]
            frame: None,
        }
    }
}

impl ScenePane {
    /// Attaches the window's device, and another one after it was lost. `wake` is called when it is lost.
    pub(crate) fn attach(&mut self, window: Option<&RenderState>, wake: impl FnOnce() -> Wake) {
        self.gpu.attach(window, wake);
        self.navigation.jumps = self.gpu.is_software();
    }

    /// Whether the device was lost, so that nothing can be drawn on it any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.gpu.is_lost()
    }

    /// How the terrain is viewed.
    pub(crate) fn view_state(&self) -> SceneViewState {
        let Navigation { camera, aspect, is_framed, .. } = self.navigation;
        let Self { shading, exaggeration, .. } = *self;
        SceneViewState {
            camera,
            aspect,
            is_framed,
            shading,
            exaggeration,
            shows_glow: self.glow.is_on,
            shows_water: self.shows_water,
        }
    }

    pub(crate) fn restore(&mut self, state: SceneViewState) {
        let SceneViewState { camera, aspect, is_framed, shading, exaggeration, shows_glow, shows_water } = state;
        let navigation = &mut self.navigation;
        (navigation.camera, navigation.aspect, navigation.is_framed) = (camera, aspect, is_framed);
        (self.shading, self.exaggeration) = (shading, exaggeration);
        (self.glow.is_on, self.shows_water) = (shows_glow, shows_water);
    }

    /// Sets whether the user holds the playhead; faults glow as long as it is held.
    pub(crate) fn hold_glow(&mut self, is_held: bool, ctx: &egui::Context) {
        self.glow.hold(is_held, ctx);
    }

    /// The lines that glow now; requests a repaint for when they change.
    pub(crate) fn glow(&self, ctx: &egui::Context) -> Vec<GlowingFault> {
        self.glow.lines(ctx)
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
        let is_same = self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(&shown.terrain, &preview.terrain));
        if !is_same {
            let before = self.shown.as_ref().filter(|shown| shown.terrain.grid() == preview.terrain.grid());
            // During playback the transition takes as long as the next terrain is likely to take.
            let since = now - self.changed_at;
            let seconds = if preview.request.is_animated { since.min(MAX_TRANSITION_S) } else { TRANSITION_S };
            let is_smooth = !self.gpu.is_software() && seconds > FAST_S;
            let transition = |before: &ShownTerrain| Transition { from_m: before.range_m, began: now, seconds };
            self.transition = before.filter(|_| is_smooth).map(transition);
            (self.changed_at, self.navigation.moved_at) = (now, now);
        }
        let (terrain, colours) = (preview.terrain.clone(), preview.albedo.clone());
        let range_m = [preview.summary.min_m, preview.summary.max_m];
        self.shown = Some(ShownTerrain { terrain, colours, is_lit, range_m });
    }

    /// Returns to the default camera, for another project.
    pub(crate) fn reset(&mut self) {
        self.navigation.reset();
        self.params = None;
    }

    /// Frames the terrain from the next frame on, from the same direction.
    pub(crate) fn frame_terrain(&mut self) {
        self.navigation.is_framed = true;
    }

    /// Flies to a preset of the camera; `now` is the time in seconds.
    pub(crate) fn apply_preset(&mut self, preset: CameraPreset, extent: Extent, now: f64) {
        let block = self.block(extent, self.range_m(1.0));
        self.navigation.apply(preset, block, now);
    }

    /// The level of new water, metres: sea level where the terrain reaches below it, else slightly above its lowest
    /// point.
    pub(crate) fn default_water_level_m(&self) -> f64 {
        let [low, high] = self.shown.as_ref().map_or([0.0, 1.0], |shown| shown.range_m);
        f64::from(if low < 0.0 && high > 0.0 { 0.0 } else { (low + 0.12 * (high - low)).round() })
    }

    /// The water that the views draw, of a project with that level.
    pub(crate) fn visible_water_m(&self, water_m: Option<f64>) -> Option<f64> {
        water_m.filter(|_| self.shows_water)
    }

    /// Shows the water of a project that was opened.
    pub(crate) fn show_water(&mut self) {
        self.shows_water = true;
    }

    /// Shows the water, and gives its level the keyboard focus in the next frame.
    pub(crate) fn focus_water_level(&mut self) {
        self.show_water();
        self.focuses_water = true;
    }

    /// The device and the parameters for an image of the view in that size: the terrain has the same size relative to
    /// the image as to the pane.
    pub(crate) fn render_source(&self, size: [u32; 2]) -> Result<(GpuDevice, RenderParams), String> {
        let source = self.gpu.device().cloned().zip(self.current_params().cloned());
        let (device, mut params) =
            source.ok_or("the 3-D view does not show this terrain yet; show the view and try again")?;
        let scale = params.scale();
        if let Some(camera) = &mut params.camera {
            let aspect = size[0].to_f32() / size[1].max(1).to_f32();
            let block_y = scale.block_y(params.range_m);
            camera.adapt_to_aspect(scale.half_size(), block_y, [self.navigation.aspect, aspect]);
        }
        Ok((device, params))
    }

    /// What was drawn last, unless another terrain has arrived since, as happens while the view is hidden.
    fn current_params(&self) -> Option<&RenderParams> {
        let shown = self.shown.as_ref()?;
        let is_current = |params: &&RenderParams| {
            Arc::ptr_eq(&params.terrain, &shown.terrain) && Arc::ptr_eq(&params.colours, &shown.colours)
        };
        self.params.as_ref().filter(is_current)
    }

    pub(super) fn scale(&self, extent: Extent) -> SceneScale {
        SceneScale { extent, exaggeration: self.exaggeration }
    }

    /// The lowest and the highest point, metres, at a share of the transition.
    pub(super) fn range_m(&self, blend: f32) -> [f32; 2] {
        let to = self.shown.as_ref().map_or([0.0; 2], |shown| shown.range_m);
        let from = self.transition.as_ref().map_or(to, |transition| transition.from_m);
        [0, 1].map(|i| from[i] + (to[i] - from[i]) * blend)
    }

    fn block(&self, extent: Extent, range_m: [f32; 2]) -> Block {
        let scale = self.scale(extent);
        Block { half_size: scale.half_size(), y_range: scale.block_y(range_m) }
    }

    /// Draws the view into the remaining space of `ui`.
    /// `tool_ui` handles the pointer and draws the active tool.
    pub(crate) fn ui(&mut self, ui: &mut Ui, context: &SceneContext, tool_ui: &mut ToolUi) -> SceneResponse {
        let (pane, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "The terrain in 3-D"));
        ui.painter().rect_filled(pane, 0.0, colours(ui).window);
        let SceneContext { water_m, crosshair_m, .. } = *context;
        let mut result = SceneResponse { response, water_m, crosshair_m };
        if let Some(error) = self.gpu.error() {
            let mut place = ui.new_child(UiBuilder::new().max_rect(pane.shrink(24.0)));
            place.centered_and_justified(|ui| ui.weak(error));
        } else if self.gpu.renderer().is_some() && pane.width() >= 8.0 && pane.height() >= 8.0 {
            self.pane_ui(ui, pane, context, tool_ui, &mut result);
        }
        result
    }

    fn pane_ui(
        &mut self,
        ui: &mut Ui,
        pane: Rect,
        context: &SceneContext,
        tool_ui: &mut ToolUi,
        result: &mut SceneResponse,
    ) {
        let now = ui.input(|input| input.time);
        let blend = self.advance_transition(ui, now);
        let range_m = self.range_m(blend);
        let Some(mut params) = self.new_params(context, ui.visuals().dark_mode, range_m) else { return };
        let (scale, bounds, terrain) = (params.scale(), params.camera_bounds(), params.terrain.clone());
        let block = self.block(context.extent, range_m);
        self.navigation.fit(block, pane.aspect_ratio(), now);
        self.navigation.advance(ui, now);

        let projection = |camera: &Camera| bounds.projection(camera, &terrain, pane.aspect_ratio());
        let top = scale.y(range_m[1]);
        let picker = |camera: &Camera| Picker { projection: projection(camera), pane, bounds, terrain: &terrain, top };
        let before = picker(&self.navigation.camera);
        self.navigation.handle_input(ui, &result.response, &before, context.has_tool, now);
        let picker = picker(&self.navigation.camera);
        params.camera = Some(self.navigation.camera);
        self.draw(ui, pane, context, params, picker.projection, blend);

        let painter = ui.painter().with_clip_rect(pane);
        if let Some(at) = result.response.hover_pos() {
            result.crosshair_m = picker.terrain_at(at).map(|point| scale.place_m(point));
        }
        if let Some(place) = result.crosshair_m {
            let foot = scale.point(place, terrain.height_at(place[0], place[1]));
            let is_hovered = result.response.hovered();
            if !(context.has_tool && is_hovered) {
                paint_crosshair(&painter, &picker, foot, colours(ui).accent, is_hovered);
            }
        }
        let response = result.response.clone();
        tool_ui(ui, &SceneTransform { response, painter: painter.clone(), picker: &picker, scale, terrain: &terrain });
        self.overlays_ui(ui, pane, context, &picker.projection, range_m, result);
    }

    /// Draws the legend, the controls and the notes.
    fn overlays_ui(
        &mut self,
        ui: &mut Ui,
        pane: Rect,
        context: &SceneContext,
        projection: &ViewProjection,
        range_m: [f32; 2],
        result: &mut SceneResponse,
    ) {
        let now = ui.input(|input| input.time);
        let painter = ui.painter().with_clip_rect(pane);
        let pixels = projection.right.length() * 0.5 * pane.width();
        let unit_m = self.scale(context.extent).unit_m();
        let pixels_per_m = pixels / (projection.divisor(self.navigation.camera.pivot) * unit_m);
        let bar = scale_bar(ui, &painter, pane, pixels_per_m);
        let ramp = self.shading.ramp().filter(|_| bar.top() - pane.top() > MIN_HEIGHT);
        let legend = ramp.map(|ramp| {
            let is_slope = self.shading == ShadingMode::Slope;
            let (unit, numbers) = if is_slope { ("°", angles()) } else { ("m", heights(range_m)) };
            ramp_legend(ui, &painter, bar, &format!("{}, {unit}", self.shading.label()), ramp, numbers)
        });
        result.water_m = self.settings_ui(ui, pane, context.water_m, now);
        let most = self.gpu.renderer().map_or(usize::MAX, |renderer| renderer.most_things());
        if let Some(count) = context.shapes.as_ref().map(|shapes| shapes.count()).filter(|count| *count > most) {
            let text =
                format!("Too many to draw: {} of {} scattered instances are shown", grouped(most), grouped(count));
            note(ui, &painter, Align2::LEFT_TOP, pane.left_top() + Vec2::new(8.0, 44.0), &text);
        }
        let (preset, presets) = presets_ui(ui, pane, self.navigation.camera.azimuth);
        if let Some(preset) = preset {
            self.apply_preset(preset, context.extent, now);
            ui.ctx().request_repaint();
        }
        if self.navigation.is_at_default {
            let text = if context.has_tool {
                "Right-drag to orbit, middle-drag to pan, wheel to zoom"
            } else {
                "Drag to orbit, right-drag to pan, wheel to zoom"
            };
            if let Some(at) = hint_position(pane, bar, legend, presets, note_size(&painter, text)) {
                note(ui, &painter, Align2::LEFT_TOP, at, text);
            }
        }
        let stride = self.gpu.renderer().zip(self.shown.as_ref());
        let stride = stride.map_or(1, |(renderer, shown)| renderer.sample_stride(&shown.terrain));
        if stride > 1 {
            let text = format!(
                "Only every {} sample is drawn: the graphics adapter's textures cannot hold all",
                ordinal(stride)
            );
            note(ui, &painter, Align2::LEFT_TOP, pane.left_top() + Vec2::new(8.0, 36.0), &text);
        }
        status_chip(ui, &painter, pane, context.status);
    }

    /// Draws the controls; returns the new water level.
    fn settings_ui(&mut self, ui: &mut Ui, pane: Rect, water_m: Option<f64>, now: f64) -> Option<f64> {
        let Self { shading, exaggeration, shows_water, .. } = *self;
        let shows_glow = self.glow.is_on;
        let mut settings = controls::Settings { shading, exaggeration, shows_glow, shows_water, water_m };
        let focuses_water = std::mem::take(&mut self.focuses_water);
        let default_water_m = self.default_water_level_m();
        let range_m = self.shown.as_ref().map_or([0.0, 1.0], |shown| shown.range_m);
        controls_ui(ui, pane, &mut settings, range_m, default_water_m, focuses_water && water_m.is_some());
        self.focuses_water = focuses_water && water_m.is_none();
        if (exaggeration, shows_water, water_m) != (settings.exaggeration, settings.shows_water, settings.water_m) {
            self.navigation.moved_at = now;
        }
        if settings.exaggeration != exaggeration {
            self.navigation.camera.pivot.y *= settings.exaggeration / exaggeration;
        }
        (self.shading, self.exaggeration) = (settings.shading, settings.exaggeration);
        (self.glow.is_on, self.shows_water) = (settings.shows_glow, settings.shows_water);
        settings.water_m
    }

    /// How far the transition has come; ends it when it is over.
    fn advance_transition(&mut self, ui: &Ui, now: f64) -> f32 {
        let Some(transition) = &self.transition else { return 1.0 };
        let share = ((now - transition.began) / transition.seconds).to_f32();
        if share >= 1.0 {
            self.transition = None;
            return 1.0;
        }
        ui.ctx().request_repaint();
        share.max(0.0)
    }

    /// What is shown now, with the current camera.
    fn new_params(&self, context: &SceneContext, is_dark: bool, range_m: [f32; 2]) -> Option<RenderParams> {
        let shown = self.shown.as_ref()?;
        Some(RenderParams {
            terrain: shown.terrain.clone(),
            colours: shown.colours.clone(),
            is_lit: shown.is_lit,
            range_m,
            max_m: shown.range_m[1],
            extent: context.extent,
            exaggeration: self.exaggeration,
            light: context.light.clone(),
            water_m: self.visible_water_m(context.water_m),
            is_dark,
            shading: self.shading,
            glow: context.glow.to_vec(),
            shapes: context.shapes.clone(),
            camera: Some(self.navigation.camera),
        })
    }

    /// Adds the image of the view to the frame.
    fn draw(
        &mut self,
        ui: &Ui,
        pane: Rect,
        context: &SceneContext,
        params: RenderParams,
        projection: ViewProjection,
        blend: f32,
    ) {
        let now = ui.input(|input| input.time);
        if self.params.as_ref().is_some_and(|before| before.glow != params.glow) {
            self.navigation.moved_at = now;
        }
        // A software renderer draws more coarsely while something moves.
        let rested = now - self.navigation.moved_at;
        let is_software = self.gpu.is_software();
        let is_moving = |rest: f64| is_software && (context.is_playing || rested < rest);
        let (is_small, is_fast) = (is_moving(SHORT_REST_S), is_moving(LONG_REST_S));
        if is_fast && rested < LONG_REST_S {
            let left = if rested < SHORT_REST_S { SHORT_REST_S - rested } else { LONG_REST_S - rested };
            ui.ctx().request_repaint_after(Duration::from_secs_f64(left.min(LONG_REST_S)));
        }
        let density = ui.ctx().pixels_per_point();
        let reduction = (FAST_PIXELS / (pane.area() * density * density)).sqrt().min(1.0);
        let density = if is_small { density * reduction } else { density };
        // The pane's own pixels.
        let between = |from: f32, to: f32| ((to * density).round() - (from * density).round()).to_u32().max(1);
        let size = [between(pane.left(), pane.right()), between(pane.top(), pane.bottom())];
        let mut frame = Frame { projection, blend, is_fast, ..params.frame(size, 0.0) };
        if let Some(tint) = &context.tint {
            frame.colours = self.tinted.of(&frame.colours, tint);
        }
        #[cfg(test)]
        {
            self.frame = Some(frame.clone());
        }
        self.params = Some(params);
        if let Some(callback) = self.gpu.paint_callback(pane, frame) {
            ui.painter().add(callback);
        }
    }
}
