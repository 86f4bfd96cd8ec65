//! Tests of the 3-D view, which need a graphics adapter; a software one will do.

mod appearance;
mod glow;
mod interaction;
mod renders;
mod repaints;
mod timing;

use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::egui_wgpu::RenderState;
use egui::{Pos2, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::commands::Command;
use crate::app::preview::request::PreviewStatus;
use crate::app::tasks::settings::UserFolders;
use crate::app::tests::{Scripted, adapter, can_draw, chosen, pause, render_state, wait, wgpu_setup};
use crate::app::views::scene::pane::{SceneContext, ScenePane};
use crate::engine::map_view::MapView;
use crate::engine::texture::TextureView;
use crate::engine::{Image, Progress, Recipe};
use crate::project::presets;
use crate::scene::camera::Camera;
use crate::scene::{GpuDevice, RenderParams, SceneRenderer, ShadingMode, WorkCounts};
use crate::worker::{InputFiles, Preview, PreviewRequest, Previewer, Wake};

/// A window with nothing but the view.
struct SceneWindow {
    scene: ScenePane,
    recipe: Arc<Recipe>,
    water_m: Option<f64>,
    crosshair_m: Option<[f64; 2]>,
}

fn no_wake() -> Wake {
    Arc::new(|| {})
}

impl eframe::App for SceneWindow {
    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        self.scene.attach(frame.wgpu_render_state(), no_wake);
        let glow = self.scene.glow(ui.ctx());
        let context = SceneContext {
            extent: self.recipe.world.extent(),
            light: &self.recipe.light,
            water_m: self.water_m,
            crosshair_m: self.crosshair_m,
            status: &PreviewStatus::Current,
            is_playing: false,
            glow: &glow,
            has_tool: false,
            shapes: None,
            tint: None,
        };
        let shown = self.scene.ui(ui, &context, &mut |_, _| {});
        (self.water_m, self.crosshair_m) = (shown.water_m, shown.crosshair_m);
    }
}

/// What the renderer has done so far.
fn counts(scene: &ScenePane) -> WorkCounts {
    scene.gpu.renderer().map(|renderer| renderer.counts).unwrap_or_default()
}

/// The device of a window, for a renderer.
fn gpu_device(window: &RenderState) -> GpuDevice {
    GpuDevice::new(&window.adapter, &window.device, &window.queue)
}

/// A renderer for images.
fn offline_renderer() -> SceneRenderer {
    SceneRenderer::offline(&gpu_device(&render_state())).expect("a renderer")
}

/// The finished preview of a recipe.
fn preview(recipe: &Arc<Recipe>, samples: usize) -> Preview {
    let previewer = Previewer::start(Arc::new(|| {})).expect("threads");
    let (recipe, files) = (recipe.clone(), InputFiles::new());
    previewer.request(PreviewRequest {
        recipe,
        files,
        samples,
        position: u32::MAX,
        map_view: MapView::default(),
        texture_view: TextureView::Lit,
        reported_step: None,
        is_animated: false,
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(preview) = previewer.take().map(|result| result.expect("a preview")).filter(|found| !found.coarse) {
            return preview;
        }
        assert!(Instant::now() < deadline, "no preview came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn window(
    size: [f32; 2],
    theme: egui::Theme,
    recipe: &Arc<Recipe>,
    water_m: Option<f64>,
) -> Harness<'static, SceneWindow> {
    let window = SceneWindow { scene: ScenePane::default(), recipe: recipe.clone(), water_m, crosshair_m: None };
    let build = |context: &mut eframe::CreationContext<'_>| {
        crate::app::widgets::theme::install(&context.egui_ctx);
        window
    };
    Harness::builder()
        .with_size(size)
        .with_theme(theme)
        .with_step_dt(1.0 / 60.0)
        .wgpu_setup(wgpu_setup())
        .build_eframe(build)
}

/// A window that shows a preset's terrain, at rest.
fn preset(name: &str, samples: usize, size: [f32; 2], theme: egui::Theme) -> Harness<'static, SceneWindow> {
    let preset = presets().iter().find(|preset| preset.name == name).expect("a preset of that name");
    let project = preset.project().expect("a valid preset");
    let recipe = Arc::new(project.recipe);
    let mut window = window(size, theme, &recipe, project.water.water_m);
    window.state_mut().scene.show(&preview(&recipe, samples), 0.0);
    window.run_steps(30);
    window
}

/// A recipe of faults.
fn faulted(seed: u32) -> Arc<Recipe> {
    let faults = crate::engine::Step::new(crate::engine::operations::faults::Faults::default());
    Arc::new(Recipe { seed, stack: vec![faults], ..Default::default() })
}

/// A window that shows a small terrain; `None` where there is no graphics adapter.
fn small_window() -> Option<Harness<'static, SceneWindow>> {
    if !can_draw() {
        return None;
    }
    let recipe = faulted(1);
    let mut window = window([480.0, 320.0], egui::Theme::Dark, &recipe, None);
    window.state_mut().scene.show(&preview(&recipe, 65), 0.0);
    window.run_steps(2);
    Some(window)
}

/// The editor in a window; `None` where there is no graphics adapter.
fn editor(scripted: Scripted) -> Option<Harness<'static, App>> {
    if !can_draw() {
        return None;
    }
    let mut editor =
        Harness::builder().with_size([1280.0, 800.0]).with_step_dt(1.0 / 60.0).wgpu_setup(wgpu_setup()).build_eframe(
            |context| App::new(&context.egui_ctx, Box::new(scripted), None, UserFolders::default()).expect("threads"),
        );
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 65);
    pause(&mut editor);
    Some(editor)
}
