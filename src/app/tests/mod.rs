//! Tests that drive the editor by the labels of its controls, and their helpers.

pub(super) mod autosave;
mod card_dragging;
mod commands;
mod cut_texts;
mod diagrams;
mod document;
mod export;
mod file_dialogs;
mod file_failures;
mod file_tasks;
mod files;
mod gallery;
mod kills;
mod long_lists;
#[cfg(target_os = "linux")]
pub(crate) mod memory;
mod modal_windows;
mod operation_picker;
mod playability;
mod playback;
mod random_actions;
mod recovery;
mod scatter;
mod stack;
mod texture_types;
mod tools;
mod views;
mod window;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use eframe::egui_wgpu::{RenderState, WgpuSetup, wgpu};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::App;
use crate::app::dialogs::file_dialogs::{DialogBackend, DialogOutcome, DialogRequest};
use crate::app::dialogs::modal::Modal;
use crate::app::document::Document;
use crate::app::tasks::settings::UserFolders;
use crate::engine::operations::AnyOperation;
use crate::engine::texture::TerrainType;

/// File dialogs that return scripted outcomes immediately.
#[derive(Clone, Default)]
pub(crate) struct Scripted {
    pub(crate) answers: Arc<Mutex<VecDeque<DialogOutcome>>>,
    given: Arc<Mutex<VecDeque<DialogOutcome>>>,
}

impl DialogBackend for Scripted {
    fn open(&mut self, _: DialogRequest) {
        let outcome = self.answers.lock().unwrap().pop_front().expect("an outcome for every request");
        self.given.lock().unwrap().push_back(outcome);
    }

    fn poll(&mut self) -> Option<DialogOutcome> {
        self.given.lock().unwrap().pop_front()
    }
}

/// Removes the rivers from the first project, because they take long to compute.
pub(crate) fn without_rivers(mut app: App) -> App {
    let mut file = app.document.file();
    for step in &mut Arc::make_mut(&mut file.project).recipe.stack {
        if let AnyOperation::Faults(faults) = &mut step.operation {
            faults.rivers = None;
        }
    }
    app.document = Document::new(file);
    app
}

pub(crate) fn editor_with(answers: Vec<DialogOutcome>) -> Harness<'static, App> {
    editor_with_size([1280.0, 800.0], answers)
}

/// An editor whose window has that size, points.
pub(crate) fn editor_with_size(size: [f32; 2], answers: Vec<DialogOutcome>) -> Harness<'static, App> {
    let dialogs = Scripted { answers: Arc::new(Mutex::new(answers.into())), ..Default::default() };
    let mut harness = Harness::builder().with_size(size).with_max_steps(64).build_eframe(move |context| {
        let app = App::new(&context.egui_ctx, Box::new(dialogs), None, UserFolders::default()).expect("threads");
        without_rivers(app)
    });
    // A small preview keeps unoptimised tests fast, and decoding the pictures of textures would take a fifth of their time.
    harness.state_mut().edit_settings(|settings| settings.view.preview_samples = 65);
    harness.state_mut().services.thumbnails.is_paused = true;
    harness
}

pub(crate) fn editor() -> Harness<'static, App> {
    editor_with(Vec::new())
}

/// Runs frames until `holds` returns true; panics after two minutes.
#[track_caller]
pub(crate) fn wait(harness: &mut Harness<'static, App>, what: &str, holds: impl Fn(&App) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !holds(harness.state()) {
        if Instant::now() > deadline {
            let texts: Vec<String> = harness
                .query_all_by(|node| node.label().is_some())
                .filter_map(|node| node.accesskit_node().label())
                .collect();
            panic!("timed out waiting for {what}; on the screen: {}", texts.join(" | "));
        }
        harness.step();
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Chooses the next file to open, and waits for the import window.
pub(crate) fn open_import_window(editor: &mut Harness<'static, App>) {
    press(editor, egui::Modifiers::COMMAND, egui::Key::O);
    wait(editor, "the window", |app| app.ui.modal.is_some());
    editor.run_steps(4);
}

/// Waits for the import window, imports the file as the window suggests, and waits until it is converted.
#[track_caller]
pub(crate) fn accept_import(harness: &mut Harness<'static, App>) {
    wait(harness, "the import window", |app| matches!(app.ui.modal, Some(Modal::Import(_))));
    // While a file is read again, the button is disabled.
    wait(harness, "the file", |app| app.services.file_tasks.is_idle());
    harness.run_steps(3);
    let open = harness.query_by_role_and_label(Role::Button, "Open").map(|button| button.click());
    open.unwrap_or_else(|| harness.get_by_role_and_label(Role::Button, "Import").click());
    harness.run_steps(3);
    wait(harness, "the import", |app| !matches!(app.ui.modal, Some(Modal::Import(_))));
    harness.run_steps(3);
}

/// Runs frames until the full-quality preview shows the current document.
#[track_caller]
fn settle(harness: &mut Harness<'static, App>) {
    harness.step();
    wait(harness, "the preview of the current document", |app| {
        let current = app.ui.preview.shown.as_ref().is_some_and(|shown| {
            !shown.coarse
                && *shown.request.recipe == app.document.project().recipe
                && shown.request.position == app.ui.playback.position(app.total())
        });
        current && !app.ui.playback.is_playing()
    });
}

pub(crate) fn chosen(path: PathBuf) -> DialogOutcome {
    DialogOutcome::Chosen { path, may_replace: true }
}

fn position(harness: &Harness<'static, App>) -> u32 {
    harness.state().ui.playback.position(harness.state().total())
}

pub(crate) fn pause(harness: &mut Harness<'static, App>) {
    let total = harness.state().total();
    let app = harness.state_mut();
    app.ui.playback.seek(total, total);
    settle(harness);
}

pub(crate) fn press(harness: &mut Harness<'static, App>, modifiers: egui::Modifiers, key: egui::Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.step();
    harness.step();
}

fn texture(app: &App) -> Arc<crate::engine::Image> {
    app.ui.preview.shown.as_ref().expect("a preview").texture.clone()
}

/// How tests draw: with a software adapter if there is one, and without OpenGL, for the reason in `GpuDevice::request`.
pub(crate) fn wgpu_setup() -> WgpuSetup {
    let mut setup = egui_kittest::wgpu::default_wgpu_setup();
    if let WgpuSetup::CreateNew(new) = &mut setup {
        new.instance_descriptor.backends.remove(wgpu::Backends::GL);
    }
    setup
}

/// A device for tests.
pub(crate) fn render_state() -> RenderState {
    egui_kittest::wgpu::create_render_state(wgpu_setup(), Default::default())
}

/// The kind of graphics adapter that tests use, if there is one.
pub(crate) fn adapter() -> Option<wgpu::DeviceType> {
    static FOUND: LazyLock<Option<wgpu::DeviceType>> =
        LazyLock::new(|| std::panic::catch_unwind(|| render_state().adapter.get_info().device_type).ok());
    *FOUND
}

/// Whether a graphics adapter is available. If not, prints a note, or panics if `UPTHRUST_REQUIRE_RENDERING` is set.
pub(crate) fn can_draw() -> bool {
    let found = adapter().is_some();
    assert!(
        found || std::env::var_os("UPTHRUST_REQUIRE_RENDERING").is_none(),
        "rendering is required, but there is no graphics adapter"
    );
    if !found {
        eprintln!("skipped: there is no graphics adapter, not even a software one");
    }
    found
}

fn type_text(editor: &mut Harness<'static, App>, text: &str) {
    editor.event(egui::Event::Text(text.into()));
    editor.run_steps(2);
}

/// A terrain type with that name and set and default values otherwise.
fn type_of(name: &str, set: &str) -> TerrainType {
    TerrainType { name: name.into(), set: set.into(), ..Default::default() }
}
