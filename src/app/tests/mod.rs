//! The editor, driven by label as a person would.

#[cfg(test)]
mod autosave;
#[cfg(test)]
mod commands;
#[cfg(test)]
mod export;
#[cfg(test)]
mod playback;
#[cfg(test)]
mod random_actions;
#[cfg(test)]
mod views;

use crate::app::App;
use crate::app::commands::Command;
use crate::app::dialogs::file_dialogs::FileDialogs;
use crate::app::dialogs::modal::Modal;
use crate::app::document::Document;
use crate::app::tasks::settings::UserFolders;
use crate::project::Project;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::time::Instant;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::commands::FileSlot;
use crate::app::commands::stack_edits::add_step;
use crate::app::dialogs::file_dialogs::{DialogOutcome, DialogRequest};
use crate::engine::Step;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::Role::Generator;
use crate::engine::operations::drawn_faults::DrawnFaults;
use crate::engine::operations::faults::Faults;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::parameters::Band;
use crate::engine::parameters::TextureName;
use crate::engine::texture::{TerrainType, TextureRecipe, TextureSettings, TextureView, TypeBlend};
use crate::files::import::SHIPPED_TEXTURES;

/// Dialogs that answer at once, as told.
#[derive(Clone, Default)]
pub(crate) struct Scripted {
    pub(crate) answers: Arc<Mutex<VecDeque<DialogOutcome>>>,
    given: Arc<Mutex<VecDeque<(DialogRequest, DialogOutcome)>>>,
}

impl FileDialogs for Scripted {
    fn ask(&mut self, ask: DialogRequest) {
        let answer = self.answers.lock().unwrap().pop_front().expect("an answer for every question");
        self.given.lock().unwrap().push_back((ask, answer));
    }

    fn answer(&mut self) -> Option<(DialogRequest, DialogOutcome)> {
        self.given.lock().unwrap().pop_front()
    }
}

/// The editor with its first project, whose rivers take their time, as faults alone.
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
    let dialogs = Scripted { answers: Arc::new(Mutex::new(answers.into())), ..Default::default() };
    let mut harness = Harness::builder().with_size([1280.0, 800.0]).with_max_steps(64).build_eframe(move |context| {
        let app = App::new(&context.egui_ctx, Box::new(dialogs), None, UserFolders::default()).expect("threads");
        without_rivers(app)
    });
    // Small, so that the unoptimised tests are quick.
    harness.state_mut().edit_settings(|settings| settings.view.preview_samples = 65);
    harness
}

pub(crate) fn editor() -> Harness<'static, App> {
    editor_with(Vec::new())
}

/// Steps until something holds.
#[track_caller]
pub(crate) fn wait(harness: &mut Harness<'static, App>, what: &str, holds: impl Fn(&App) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds(harness.state()) {
        assert!(Instant::now() < deadline, "waited in vain: {what}; message {:?}", harness.state().ui.message);
        harness.step();
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Steps until the picture belongs to the document.
#[track_caller]
fn settle(harness: &mut Harness<'static, App>) {
    harness.step();
    wait(harness, "a picture of the present document", |app| {
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
    app.ui.preview.shown.as_ref().expect("a picture").texture.clone()
}

#[test]
fn it_starts_with_a_landscape_that_rises_one_fault_a_frame() {
    let mut editor = editor();
    wait(&mut editor, "the uplift", |app| app.ui.playback.position(app.total()) > 5);
    let app = editor.state();
    assert!(app.ui.playback.is_playing());
    let shown = app.ui.preview.shown.as_ref().expect("a picture").request.position;
    assert!(app.ui.playback.position(app.total()) - shown <= 1, "no iteration is skipped");
}

#[test]
fn a_slider_that_moves_while_it_plays_changes_the_picture_and_undo_brings_both_back() {
    let mut editor = editor();
    wait(&mut editor, "the uplift", |app| app.ui.playback.position(app.total()) > 2);
    let before = editor.state().document.project().recipe.light.altitude_deg;
    editor.get_by_role_and_label(Role::Slider, "Sun altitude").set_value_accesskit(80.0);
    wait(&mut editor, "the new light", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.recipe.light.altitude_deg == 80.0)
    });
    assert!(editor.state().ui.playback.is_playing());
    pause(&mut editor);
    let bright = texture(editor.state());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    settle(&mut editor);
    assert_eq!(editor.state().document.project().recipe.light.altitude_deg, before);
    assert_ne!(texture(editor.state()), bright);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Y);
    settle(&mut editor);
    assert_eq!(texture(editor.state()), bright);
}

#[test]
fn a_dragged_slider_is_one_entry() {
    let mut editor = editor();
    pause(&mut editor);
    let slider = editor.get_by_role_and_label(Role::Slider, "Sun altitude").rect();
    let entries = editor.state().document.history().0.len();
    editor.drag_at(slider.center());
    editor.step();
    for offset in [5.0, 10.0, 20.0, 25.0] {
        editor.hover_at(slider.center() + egui::Vec2::new(offset, 0.0));
        editor.step();
    }
    editor.drop_at(slider.center() + egui::Vec2::new(25.0, 0.0));
    editor.step();
    editor.step();
    assert_eq!(editor.state().document.history().0.len(), entries + 1);
    assert!(editor.state().document.undo_name().is_some_and(|name| name.starts_with("Sun altitude")));
}

#[test]
fn a_run_of_arrow_keys_is_one_entry_and_the_next_run_another() {
    let mut editor = Harness::builder().with_size([1280.0, 800.0]).with_step_dt(0.02).build_eframe(|context| {
        let app =
            App::new(&context.egui_ctx, Box::<Scripted>::default(), None, UserFolders::default()).expect("threads");
        without_rivers(app)
    });
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 65);
    pause(&mut editor);
    editor.get_by_role_and_label(Role::Slider, "Sun altitude").focus();
    editor.run_steps(2);
    let count = |editor: &Harness<'static, App>| editor.state().document.history().0.len();
    let altitude = |editor: &Harness<'static, App>| editor.state().document.project().recipe.light.altitude_deg;
    let (entries, start) = (count(&editor), altitude(&editor));
    for run in 1..=2 {
        let before = altitude(&editor);
        for _ in 0..3 {
            press(&mut editor, egui::Modifiers::NONE, egui::Key::ArrowRight);
        }
        assert!(altitude(&editor) > before);
        assert_eq!(count(&editor), entries + run);
        // More than a second.
        editor.run_steps(60);
    }
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(altitude(&editor), start);
}

#[test]
fn keys_play_step_scrub_and_reseed() {
    let none = egui::Modifiers::NONE;
    let mut editor = editor();
    pause(&mut editor);
    let total = editor.state().total();
    press(&mut editor, none, egui::Key::Home);
    assert_eq!(position(&editor), 0);
    press(&mut editor, none, egui::Key::Period);
    press(&mut editor, none, egui::Key::Period);
    press(&mut editor, none, egui::Key::Comma);
    assert_eq!(position(&editor), 1);
    press(&mut editor, none, egui::Key::End);
    assert_eq!(position(&editor), total);
    press(&mut editor, none, egui::Key::Space);
    assert!(editor.state().ui.playback.is_playing());
    press(&mut editor, none, egui::Key::Space);
    assert!(!editor.state().ui.playback.is_playing());
    let seed = editor.state().document.project().recipe.seed;
    press(&mut editor, none, egui::Key::N);
    assert_ne!(editor.state().document.project().recipe.seed, seed);
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::N);
    assert_eq!(editor.state().document.project().recipe.seed, seed);
}

#[test]
fn steps_are_added_switched_off_and_deleted_by_their_buttons() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(Faults { count: 20, ..Default::default() })];
    });
    editor.state_mut().ui.selection.step = 0;
    settle(&mut editor);
    editor.get_by_label("Disable Faults").click();
    settle(&mut editor);
    assert_eq!(editor.state().ui.preview.shown.as_ref().expect("a picture").terrain.min_max(), [0.0, 0.0]);
    editor.get_by_label("Enable Faults").click();
    settle(&mut editor);
    editor.get_by_label("Duplicate Faults").click();
    settle(&mut editor);
    let seeds: Vec<u32> =
        editor.state().document.project().recipe.stack.iter().map(|step| step.settings.seed).collect();
    assert_eq!(seeds, [0, 1], "a copy draws its own faults");
    editor.get_by_label("Delete Faults").click();
    settle(&mut editor);
    assert_eq!(editor.state().document.project().recipe.stack.len(), 1);
    assert_eq!(editor.state().document.undo_name(), Some("Delete Faults"));
}

#[test]
fn a_preset_from_the_menu_is_whole_until_it_is_played_and_can_be_undone() {
    let mut editor = editor();
    pause(&mut editor);
    let before = editor.state().document.project().clone();
    editor.get_by_label("File").click();
    editor.run_steps(2);
    editor.get_by_label_contains("Presets…").click();
    editor.run_steps(4);
    type_text(&mut editor, "krten wind");
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Krten, wind").click();
    editor.run_steps(2);
    assert_eq!(editor.state().document.project().name, "Krten, wind");
    assert!(!editor.state().ui.playback.is_playing());
    assert_eq!(position(&editor), editor.state().total());
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Space);
    assert!(editor.state().ui.playback.is_playing() && position(&editor) < editor.state().total());
    assert_eq!(editor.state().document.undo_name(), Some("Preset Krten, wind"));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(editor.state().document.project().recipe, before.recipe);
}

#[test]
fn a_project_is_saved_and_opened_again() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("fjord.upthrust.json");
    let mut editor = editor_with(vec![chosen(folder.path().join("fjord")), chosen(path.clone())]);
    pause(&mut editor);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    assert!(editor.state().document.is_dirty());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::S);
    wait(&mut editor, "saving", |app| !app.document.is_dirty());
    assert_eq!(editor.state().document.path(), Some(path.as_path()));
    let saved = editor.state().document.project().clone();
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
    assert!(editor.state().document.project().recipe.stack.is_empty());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::O);
    wait(&mut editor, "opening", |app| app.document.project().recipe.seed == 77);
    assert_eq!(editor.state().document.project().recipe, saved.recipe);
    assert!(!editor.state().document.is_dirty());
}

#[test]
fn a_bad_project_is_refused_with_a_message_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("bad.upthrust.json");
    std::fs::write(&path, r#"{"format": 1, "recipe": {"stack": [{"operation": "faults", "coutn": 3}]}}"#)
        .expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    let before = editor.state().document.project().clone();
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::O);
    wait(&mut editor, "the message", |app| app.ui.message.as_ref().is_some_and(|message| message.is_error));
    let message = editor.state().ui.message.clone().expect("a message").text;
    assert!(message.contains("bad.upthrust.json") && message.contains("did you mean \"count\"?"), "{message}");
    assert_eq!(*editor.state().document.project(), before);
}

#[test]
fn closing_asks_for_work_that_another_project_hides() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| project.recipe.seed = 77);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
    assert!(!editor.state().document.is_dirty());
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.push(egui::ViewportEvent::Close);
    editor.step();
    assert!(matches!(editor.state().ui.modal, Some(Modal::SaveFirst(_))));
}

#[test]
fn without_a_dialog_a_path_field_takes_its_place() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("typed.upthrust.json");
    let mut editor = editor_with(vec![DialogOutcome::Unavailable]);
    pause(&mut editor);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::S);
    wait(&mut editor, "the path field", |app| matches!(app.ui.modal, Some(Modal::PathField(_))));
    if let Some(Modal::PathField(field)) = &mut editor.state_mut().ui.modal {
        field.path = path.display().to_string();
    }
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    wait(&mut editor, "saving", |app| app.ui.message.is_some());
    assert!(path.exists());
}

#[test]
fn plain_keys_are_silent_while_text_is_typed() {
    let mut editor = editor();
    pause(&mut editor);
    let recipe = editor.state().document.project().recipe.clone();
    editor.get_by_role_and_label(Role::SpinButton, "Seed").focus();
    editor.run_steps(2);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::N);
    assert_eq!(editor.state().document.project().recipe.stack, recipe.stack);
    assert_eq!(editor.state().document.project().recipe.seed, recipe.seed, "N went to the field");
}

#[test]
fn a_step_whose_file_is_broken_says_so_and_the_picture_is_marked() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        let file = project.import_file("empty.png", Vec::new());
        add_step(&mut project.recipe, Step::new(Heightmap { file, ..Default::default() }));
    });
    wait(&mut editor, "the message", |app| app.ui.preview.has_failed() && app.ui.message.is_some());
    assert!(editor.state().ui.message.as_ref().is_some_and(|message| message.text.contains("empty.png")));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    settle(&mut editor);
    assert!(!editor.state().ui.preview.has_failed());
}

/// Whether anything can draw here. Says so where nothing can, and fails if `UPTHRUST_REQUIRE_RENDERING` is set.
pub(crate) fn can_draw() -> bool {
    let find = || {
        let setup = egui_kittest::wgpu::default_wgpu_setup();
        drop(egui_kittest::wgpu::create_render_state(setup, Default::default()));
    };
    let found = std::panic::catch_unwind(find).is_ok();
    assert!(
        found || std::env::var_os("UPTHRUST_REQUIRE_RENDERING").is_none(),
        "pictures are required, but nothing can draw them"
    );
    if !found {
        eprintln!("skipped: no graphics adapter is to be found here, not even a software one");
    }
    found
}

#[test]
fn the_window_shows_the_land_in_both_panes_and_no_colour_beside_it() {
    if !can_draw() {
        return;
    }
    let mut editor =
        Harness::builder().with_size([1280.0, 800.0]).with_theme(egui::Theme::Dark).wgpu().build_eframe(|context| {
            App::new(&context.egui_ctx, Box::new(Scripted::default()), None, UserFolders::default()).expect("threads")
        });
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 129);
    pause(&mut editor);
    // No fault glows any more.
    editor.run_steps(12);
    let image = editor.render().expect("a picture");
    let pane = |name: &str| editor.get_by_label(name).rect();
    let (grey, colourful) = (pane("Heightmap of the land"), pane("Texture of the land"));
    let pixels = |rect: egui::Rect| {
        let middle = rect.center();
        (-60..60).flat_map(move |dy| (-60..60).map(move |dx| (middle.x as i32 + dx, middle.y as i32 + dy)))
    };
    let colour = |(x, y): (i32, i32)| image.get_pixel(x as u32, y as u32).0;
    let saturation = |[r, g, b, _]: [u8; 4]| r.max(g).max(b) - r.min(g).min(b);
    assert!(pixels(grey).all(|at| saturation(colour(at)) <= 2), "the heightmap is grey");
    let greys: std::collections::BTreeSet<u8> = pixels(grey).map(|at| colour(at)[0]).collect();
    assert!(greys.len() > 20, "and has a relief");
    let coloured = pixels(colourful).filter(|at| saturation(colour(*at)) > 10).count();
    assert!(coloured > 1000, "the texture has colours: {coloured}");
}

#[test]
fn an_imported_heightmap_of_whole_metres_is_the_land() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("dem.png");
    let pixels = |x: u32, y: u32| image::Luma([(236 + 10 * x + 20 * y) as u16]);
    image::ImageBuffer::from_fn(33, 33, pixels).save(&path).expect("written");
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    let context = editor.ctx.clone();
    editor.state_mut().execute(&context, Command::ImportHeightmap);
    wait(&mut editor, "the import", |app| app.ui.message.as_ref().is_some_and(|m| m.text.contains("used as metres")));
    settle(&mut editor);
    let app = editor.state();
    let [low, high] = app.ui.preview.shown.as_ref().expect("a picture").terrain.min_max();
    assert!((low - 236.0).abs() < 0.1 && (high - 1196.0).abs() < 0.1, "{low} to {high}");
    assert_eq!(app.document.undo_name(), Some("Add dem.png"));
}

#[test]
fn a_file_goes_to_what_it_was_chosen_for_or_nowhere() {
    let folder = tempfile::tempdir().expect("folder");
    let (moss, dem) = (folder.path().join("moss.png"), folder.path().join("dem.png"));
    image::RgbImage::from_pixel(8, 8, image::Rgb([9, 90, 9])).save(&moss).expect("written");
    image::GrayImage::from_pixel(9, 9, image::Luma([7])).save(&dem).expect("written");
    let (of_rock, of_import) = (FileSlot::Texture(1), FileSlot::Operation(0));
    let plain = |project: &mut Project| {
        project.recipe.stack = vec![Step::new(Heightmap::default()), Step::new(Faults::default())];
        project.recipe.texture.types = vec![type_of("Grass", ""), type_of("Rock", "")];
    };
    type Meanwhile = fn(&mut App);
    let cases: [(FileSlot, Meanwhile, Option<&str>); 8] = [
        (of_rock, |_| (), None),
        (of_import, |_| (), None),
        (of_rock, |app| app.edit(|project| project.recipe.texture.types.swap(0, 1)), Some("for which")),
        (of_rock, |app| app.edit(|project| drop(project.recipe.texture.types.pop())), Some("for which")),
        (of_import, |app| app.edit(|project| project.recipe.stack.swap(0, 1)), Some("for which")),
        (FileSlot::Mask(0), |app| app.edit(|project| project.recipe.stack.swap(0, 1)), Some("for which")),
        (FileSlot::Mask(0), |_| (), Some("is off")),
        (of_rock, |app| app.open_project("Copy".into(), app.document.file(), None), Some("another")),
    ];
    for (slot, meanwhile, refused) in cases {
        let path = if slot == of_rock { &moss } else { &dem };
        let mut editor = editor_with(vec![chosen(path.clone())]);
        editor.state_mut().edit(plain);
        pause(&mut editor);
        let context = editor.ctx.clone();
        editor.state_mut().execute(&context, Command::ChooseFile(slot));
        meanwhile(editor.state_mut());
        let before = editor.state().document.project().clone();
        wait(&mut editor, "the file", |app| app.ui.message.is_some());
        let message = editor.state().ui.message.clone().expect("a message");
        assert_eq!(message.is_error, refused.is_some(), "{message:?}");
        assert!(refused.is_none_or(|part| message.text.contains(part)), "{message:?}");
        assert_eq!(*editor.state().document.project() == before, refused.is_some(), "{slot:?}");
    }
}

/// The operations of the stack, bottom first.
fn operations(app: &App) -> Vec<&'static str> {
    app.document.project().recipe.stack.iter().map(|step| step.operation.key()).collect()
}

/// An editor at rest with an empty stack.
fn editor_with_nothing() -> Harness<'static, App> {
    let mut editor = editor();
    editor.state_mut().edit(|project| project.recipe.stack.clear());
    pause(&mut editor);
    editor
}

fn type_text(editor: &mut Harness<'static, App>, text: &str) {
    editor.event(egui::Event::Text(text.into()));
    editor.run_steps(2);
}

#[test]
fn a_step_is_picked_by_typing_a_part_of_its_name() {
    let mut editor = editor_with_nothing();
    editor.get_by_label_contains("Add step… (").click();
    editor.run_steps(3);
    assert!(editor.query_by_label("Clamp").is_some() && editor.query_by_label("Circles").is_some());
    type_text(&mut editor, "terrac");
    assert!(editor.query_by_label("Clamp").is_none(), "only what fits is shown");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    assert_eq!(operations(editor.state()), ["terrace"]);
    assert_eq!(editor.state().document.undo_name(), Some("Add Terrace"));
    assert!(!editor.state().ui.operation_picker.is_open());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert!(operations(editor.state()).is_empty());
}

#[test]
fn a_step_is_picked_by_a_click_on_its_card() {
    let mut editor = editor_with_nothing();
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Circles").click();
    editor.run_steps(2);
    assert_eq!(operations(editor.state()), ["circles"]);
    assert!(!editor.state().ui.operation_picker.is_open());
}

#[test]
fn a_step_is_picked_from_the_menu_and_by_arrow_keys() {
    let mut editor = editor_with_nothing();
    editor.get_by_label("Terrain").click();
    editor.run_steps(2);
    // The menu's entry; the plus has its keys in its name.
    editor.get_by_label("Add step… Shift+A").click();
    editor.run_steps(3);
    assert!(editor.state().ui.operation_picker.is_open());
    for key in [egui::Key::ArrowDown, egui::Key::ArrowDown, egui::Key::ArrowUp, egui::Key::Enter] {
        press(&mut editor, egui::Modifiers::NONE, key);
    }
    // Those that raise land come first.
    let second = AnyOperation::all().into_iter().filter(|operation| operation.role() == Generator).nth(1);
    assert_eq!(operations(editor.state()), [second.expect("two operations").key()]);
}

#[test]
fn escape_and_a_click_beside_the_picker_change_nothing() {
    let mut editor = editor_with_nothing();
    let before = editor.state().document.project().clone();
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    type_text(&mut editor, "faults");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(!editor.state().ui.operation_picker.is_open());
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    editor.run_steps(2);
    assert!(editor.query_by_label("Clamp").is_some(), "the last search is forgotten");
    let beside = editor.get_by_label("Texture of the land").rect().center();
    editor.drag_at(beside);
    editor.step();
    editor.drop_at(beside);
    editor.run_steps(3);
    assert!(!editor.state().ui.operation_picker.is_open());
    editor.get_by_label_contains("Add step… (").click();
    editor.run_steps(3);
    assert!(editor.state().ui.operation_picker.is_open());
    editor.get_by_label_contains("Add step… (").click();
    editor.run_steps(3);
    assert!(!editor.state().ui.operation_picker.is_open(), "the plus closes what it has opened");
    assert_eq!(*editor.state().document.project(), before);
}

#[test]
fn the_picker_s_key_goes_to_a_field_that_has_the_focus() {
    let mut editor = editor_with_nothing();
    editor.get_by_role_and_label(Role::SpinButton, "Seed").focus();
    editor.run_steps(2);
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    assert!(!editor.state().ui.operation_picker.is_open());
}

#[test]
fn every_card_gets_its_picture() {
    let mut editor = editor_with_nothing();
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    wait(&mut editor, "the pictures", |app| {
        let drawn = |key: &str| {
            matches!(app.services.thumbnails.get(key), Some(crate::app::preview::thumbnails::ThumbnailState::Ready(_)))
        };
        AnyOperation::all().iter().all(|operation| drawn(operation.key()))
    });
}

#[test]
fn drawn_faults_are_added_switched_off_and_removed_in_the_list() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(DrawnFaults::default())];
    });
    pause(&mut editor);
    let faults = |editor: &Harness<'static, App>| match &editor.state().document.project().recipe.stack[0].operation {
        AnyOperation::DrawnFaults(drawn) => drawn.faults.clone(),
        other => panic!("{other:?}"),
    };
    let first = faults(&editor);
    editor.get_by_label("Disable Fault 2").click();
    editor.run_steps(2);
    assert_eq!(faults(&editor).iter().map(|fault| fault.enabled).collect::<Vec<_>>(), [true, false, true]);
    editor.get_by_label("Remove Fault 1").click();
    editor.run_steps(2);
    assert_eq!(faults(&editor)[1], first[2]);
    editor.get_by_label("Add to fault").click();
    editor.run_steps(3);
    assert_eq!(faults(&editor).len(), 3);
    // The new one is open: its sliders are there.
    editor.get_by_role_and_label(Role::Slider, "Displacement").set_value_accesskit(250.0);
    editor.run_steps(2);
    assert_eq!(faults(&editor)[2].displacement_m, 250.0);
    for _ in 0..4 {
        press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    }
    assert_eq!(faults(&editor), first);
}

#[test]
fn play_goes_on_from_a_picture_that_is_there_already() {
    let mut editor = editor();
    pause(&mut editor);
    for from in [0, 3] {
        let total = editor.state().total();
        editor.state_mut().ui.playback.seek(from, total);
        settle(&mut editor);
        press(&mut editor, egui::Modifiers::NONE, egui::Key::Space);
        wait(&mut editor, "the uplift", |app| app.ui.playback.position(app.total()) > from + 2);
        press(&mut editor, egui::Modifiers::NONE, egui::Key::Space);
    }
}

#[test]
fn what_is_typed_right_after_the_key_of_the_picker_is_looked_for() {
    let mut editor = editor();
    pause(&mut editor);
    let seed = editor.state().document.project().recipe.seed;
    let key = |key, modifiers| egui::Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    let letter = |key_of: egui::Key, text: &str| [key(key_of, egui::Modifiers::NONE), egui::Event::Text(text.into())];
    // The first three in one frame, as a slow one collects them.
    let opening = [key(egui::Key::A, egui::Modifiers::SHIFT), egui::Event::Text("A".into())];
    editor.input_mut().events.extend(opening.into_iter().chain(letter(egui::Key::N, "n")));
    editor.step();
    for (key, text) in [(egui::Key::O, "o"), (egui::Key::I, "i")] {
        editor.input_mut().events.extend(letter(key, text));
        editor.step();
    }
    editor.run_steps(2);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    let recipe = &editor.state().document.project().recipe;
    assert_eq!(recipe.seed, seed, "no letter was a shortcut");
    assert_eq!(recipe.stack.last().map(|step| step.operation.key()), Some("noise"));
}

#[test]
fn no_step_widens_the_panel() {
    let mut editor = editor();
    pause(&mut editor);
    let edge = |editor: &Harness<'static, App>| editor.get_by_label_contains("Add step… (").rect().right();
    let before = edge(&editor);
    for operation in AnyOperation::all() {
        editor.state_mut().edit(|project| {
            project.recipe.stack = vec![Step::new(operation.clone())];
        });
        editor.run_steps(4);
        assert!((edge(&editor) - before).abs() < 0.5, "{}: {} for {before}", operation.key(), edge(&editor));
    }
}

/// What the texture's pane is asked to show.
fn asked(app: &App) -> TextureView {
    app.ui.preview.requested().expect("a request").texture_view
}

#[test]
fn cards_of_types_say_what_they_take_and_what_is_left() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        let whole = TerrainType { name: "Lichen".into(), ..Default::default() };
        let off = TerrainType { name: "Moss".into(), enabled: false, ..Default::default() };
        let none = TerrainType { slope_deg: Band { min: 90.0, max: 90.0 }, slope_release_deg: 0.0, ..off.clone() };
        project.recipe.texture.settings = TextureSettings::default();
        project.recipe.texture.types = vec![off, whole, TerrainType { enabled: true, name: "Wall".into(), ..none }];
    });
    pause(&mut editor);
    editor.run_steps(2);
    assert!(editor.query_by_label("100 %").is_some() && editor.query_by_label("off").is_some());
    assert_eq!(editor.query_all_by_label("0 %").count(), 2, "the wall and the uncovered ground");
    editor.state_mut().edit(|project| project.recipe.texture.types[1].enabled = false);
    settle(&mut editor);
    editor.run_steps(2);
    assert_eq!(editor.query_all_by_label("100 %").count(), 2, "all is uncovered, and filled with the nearest type");
}

#[test]
fn a_type_is_shown_alone_without_touching_the_document() {
    let mut editor = editor();
    pause(&mut editor);
    let before = editor.state().document.project().clone();
    let seen = texture(editor.state());
    let name = before.recipe.texture.types[1].name.clone();
    editor.get_by_label(&format!("Show only {name}")).click();
    editor.run_steps(2);
    assert_eq!(asked(editor.state()), TextureView::Solo(1));
    wait(&mut editor, "the type alone", |app| texture(app) != seen);
    editor.get_by_label(&format!("Show all types, not only {name}")).click();
    editor.run_steps(2);
    assert_eq!(asked(editor.state()), TextureView::Lit);
    wait(&mut editor, "all types", |app| texture(app) == seen);
    assert_eq!(*editor.state().document.project(), before);
    assert!(!editor.state().document.is_dirty());
}

#[test]
fn the_texture_s_pane_shows_what_is_chosen() {
    let mut editor = editor();
    pause(&mut editor);
    let mut seen = vec![texture(editor.state())];
    for (text, expected) in [
        ("Unlit", TextureView::Unlit),
        ("Weight", TextureView::Weight(0)),
        ("Humidity", TextureView::Humidity),
        ("Shade", TextureView::Shade),
        ("Uncovered terrain", TextureView::Uncovered),
    ] {
        editor.get_by_role_and_label(Role::ComboBox, "What the texture shows").click();
        editor.run_steps(3);
        editor.get_by_role_and_label(Role::Button, text).click();
        editor.run_steps(2);
        assert_eq!(asked(editor.state()), expected);
        wait(&mut editor, text, |app| {
            app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.texture_view == expected)
        });
        let picture = texture(editor.state());
        assert!(!seen.contains(&picture), "{text} looks like another one");
        seen.push(picture);
    }
    assert!(!editor.state().document.is_dirty());
}

#[test]
fn an_edge_of_the_diagram_is_dragged_live_and_as_one_entry() {
    let mut editor = editor();
    let ground = TerrainType {
        name: "Lichen".into(),
        elevation: Band { min: 20.0, max: 60.0 },
        slope_deg: Band { min: 0.0, max: 45.0 },
        ..Default::default()
    };
    editor.state_mut().edit(|project| {
        project.recipe.texture.settings = TextureSettings::default();
        project.recipe.texture.types = vec![ground.clone(), ground.clone()];
    });
    editor.state_mut().ui.texture_panel.selected = Some(1);
    pause(&mut editor);
    let entries = editor.state().document.history().0.len();
    let rect = editor.get_by_label("Elevations and slopes of the terrain types").rect();
    let plot = egui::Rect::from_min_max(rect.min + egui::Vec2::new(24.0, 0.0), rect.max - egui::Vec2::new(0.0, 16.0));
    let place = |elevation: f32, slope_deg: f32| {
        plot.left_bottom() + egui::Vec2::new(elevation / 100.0 * plot.width(), -slope_deg / 90.0 * plot.height())
    };
    editor.hover_at(place(40.0, 20.0));
    editor.run_steps(2);
    assert!(editor.query_by_label("40 %, 20°: Lichen 50 %, Lichen 50 %").is_some());
    editor.drag_at(place(60.0, 20.0));
    editor.step();
    for elevation in [65.0, 72.0, 80.0] {
        editor.hover_at(place(elevation, 21.0));
        editor.step();
        let types = &editor.state().document.project().recipe.texture.types;
        assert!((types[1].elevation.max - f64::from(elevation)).abs() <= 1.0, "{:?}", types[1].elevation);
    }
    editor.drop_at(place(80.0, 21.0));
    editor.run_steps(2);
    let app = editor.state();
    assert_eq!(app.document.project().recipe.texture.types[0], ground, "only the selected one");
    assert_eq!(app.document.project().recipe.texture.types[1].slope_deg, ground.slope_deg);
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert_eq!(app.document.undo_name(), Some("Lichen: Elevation 20–60 to 20–80"));
}

#[test]
fn a_click_in_the_diagram_selects_what_lies_there() {
    let mut editor = editor();
    pause(&mut editor);
    let rect = editor.get_by_label("Elevations and slopes of the terrain types").rect();
    let steepest = egui::Pos2::new(rect.center().x, rect.top() + 2.0);
    editor.drag_at(steepest);
    editor.step();
    editor.drop_at(steepest);
    editor.run_steps(2);
    let app = editor.state();
    let selected = app.ui.texture_panel.selected.expect("a type");
    let heaviest = |ground: &TerrainType| ground.is_active(None) && ground.slope_deg.max == 90.0;
    assert!(heaviest(&app.document.project().recipe.texture.types[selected]));
}

#[test]
fn a_type_that_only_changes_the_ground_covers_none_in_the_diagram() {
    let mut editor = editor();
    let everywhere = Band { min: -1e4, max: 1e4 };
    let soot = TerrainType { blend: TypeBlend::Multiply, elevation: everywhere, ..type_of("Soot", "") };
    editor.state_mut().edit(|project| project.recipe.texture.types = vec![soot]);
    pause(&mut editor);
    let middle = editor.get_by_label("Elevations and slopes of the terrain types").rect().center();
    editor.drag_at(middle);
    editor.step();
    editor.drop_at(middle);
    editor.step();
    editor.hover_at(middle);
    editor.run_steps(2);
    assert_eq!(editor.state().ui.texture_panel.selected, None);
    assert!(editor.query_by_label_contains(": uncovered, Soot 100 %").is_some());
}

#[test]
fn the_sun_is_dragged_over_the_compass_as_one_entry() {
    let mut editor = editor();
    pause(&mut editor);
    let entries = editor.state().document.history().0.len();
    let middle = editor.get_by_label("Compass of the sun").rect().center();
    editor.drag_at(middle);
    editor.step();
    // Straight up in the picture is north; then towards the east, half way to the horizon.
    for offset in [egui::Vec2::new(0.0, -30.0), egui::Vec2::new(20.0, -20.0), egui::Vec2::new(21.0, 0.0)] {
        editor.hover_at(middle + offset);
        editor.step();
    }
    editor.drop_at(middle + egui::Vec2::new(21.0, 0.0));
    editor.run_steps(2);
    let app = editor.state();
    let light = &app.document.project().recipe.light;
    assert_eq!((light.azimuth_deg, light.altitude_deg), (90.0, 45.0));
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert!(app.document.undo_name().is_some_and(|name| name.starts_with("Sun ")));
    assert!(editor.query_by_label("from the east").is_some());
}

#[test]
fn a_ground_is_chosen_by_its_picture() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        let rock = Some(TextureName("assets/rock.jpg".into()));
        project.recipe.texture.types = vec![TerrainType { texture: rock, ..Default::default() }];
    });
    editor.state_mut().ui.texture_panel.selected = Some(0);
    pause(&mut editor);
    let names: Vec<TextureName> = SHIPPED_TEXTURES.iter().map(|(name, _)| TextureName((*name).into())).collect();
    wait(&mut editor, "the thumbnails", |app| {
        let files = &app.document.project().files;
        names.iter().all(|name| app.services.thumbnails.texture(name, files).is_some())
    });
    editor.get_by_role_and_label(Role::Button, "Change texture Rock").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Layered rock").click();
    editor.run_steps(3);
    let app = editor.state();
    let chosen = app.document.project().recipe.texture.types[0].texture.clone();
    assert_eq!(chosen, Some(TextureName("assets/layered-rock.jpg".into())));
    assert!(app.document.undo_name().is_some_and(|name| name.starts_with("Ground: Texture")));
}

#[test]
fn a_picture_of_one_s_own_is_kept_in_the_project_and_what_is_none_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    let (good, bad) = (folder.path().join("moss.png"), folder.path().join("notes.png"));
    image::RgbImage::from_fn(8, 8, |x, y| image::Rgb([x as u8, 90, y as u8])).save(&good).expect("written");
    std::fs::write(&bad, "no picture").expect("written");
    let mut editor = editor_with(vec![chosen(bad), chosen(good.clone())]);
    editor.state_mut().edit(|project| {
        let rock = Some(TextureName("assets/rock.jpg".into()));
        project.recipe.texture.types = vec![TerrainType { texture: rock, ..Default::default() }];
    });
    editor.state_mut().ui.texture_panel.selected = Some(0);
    pause(&mut editor);
    let before = editor.state().document.project().clone();
    let choose = |editor: &mut Harness<'static, App>| {
        editor.get_by_role_and_label(Role::Button, "Change texture Rock").click();
        editor.run_steps(3);
        editor.get_by_label("Choose an image file…").click();
        wait(editor, "the file", |app| app.ui.message.is_some());
    };
    choose(&mut editor);
    let message = editor.state().ui.message.clone().expect("a message");
    assert!(
        message.is_error && message.text.contains("notes.png") && message.text.contains("PNG, JPEG"),
        "{message:?}"
    );
    assert_eq!(*editor.state().document.project(), before);
    editor.state_mut().ui.message = None;
    choose(&mut editor);
    let project = editor.state().document.project().clone();
    let ground = &project.recipe.texture.types[0];
    assert_eq!((&ground.texture, ground.tint), (&Some(TextureName("moss.png".into())), 0.0), "seen as it is");
    assert_eq!(editor.state().document.undo_name(), Some("Ground: Texture assets/rock.jpg to moss.png"));
    assert!(project.files.values().any(|bytes| **bytes == std::fs::read(&good).expect("there")));
    settle(&mut editor);
    assert!(!editor.state().ui.preview.has_failed());
}

/// A type of that name and set, without colours and limits to speak of.
fn type_of(name: &str, set: &str) -> TerrainType {
    TerrainType { name: name.into(), set: set.into(), ..Default::default() }
}

fn active_set(editor: &Harness<'static, App>) -> Option<String> {
    editor.state().document.project().recipe.texture.settings.active_set.clone()
}

#[test]
fn the_unit_of_elevations_changes_with_them_as_one_entry() {
    let mut editor = editor();
    pause(&mut editor);
    let (entries, before) = (editor.state().document.history().0.len(), texture(editor.state()));
    editor.get_by_label("All types").click();
    editor.run_steps(20);
    editor.get_by_role_and_label(Role::ComboBox, "Elevations in").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Metres").click();
    editor.run_steps(3);
    settle(&mut editor);
    let app = editor.state();
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert_eq!(app.document.undo_name(), Some("Elevations in percent of the range to metres"));
    let apart = |a: &[u8; 4], b: &[u8; 4]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max();
    let most = texture(app).pixels.iter().zip(&before.pixels).filter_map(|(a, b)| apart(a, b)).max();
    assert!(most <= Some(1), "the picture stays: {most:?}");
}

#[test]
fn a_set_is_one_click_and_one_entry_and_shows_its_own_cards() {
    let mut editor = editor();
    let types = vec![type_of("Rock", ""), type_of("Grass", "Summer"), type_of("Snow", "Winter")];
    editor.state_mut().edit(|project| {
        project.recipe.texture = TextureRecipe { settings: TextureSettings::default(), types };
    });
    pause(&mut editor);
    let entries = editor.state().document.history().0.len();
    for (i, (choice, cards)) in
        [("Winter", [true, false, true]), ("Summer", [true, true, false]), ("All", [true; 3])].into_iter().enumerate()
    {
        editor.get_by_role_and_label(Role::Button, choice).click();
        editor.run_steps(3);
        assert_eq!(active_set(&editor).as_deref(), Some(choice).filter(|choice| *choice != "All"));
        let listed = ["Rock", "Grass", "Snow"].map(|name| editor.query_by_role_and_label(Role::Button, name).is_some());
        assert_eq!(listed, cards, "{choice}");
        assert_eq!(editor.state().document.history().0.len(), entries + i + 1);
    }
    assert_eq!(editor.state().document.undo_name(), Some("Set Summer to all"));
    editor.state_mut().ui.texture_panel.selected = Some(2);
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Summer").click();
    editor.run_steps(3);
    assert_eq!(editor.state().ui.texture_panel.selected, None, "winter's snow is no type of summer");
}

#[test]
fn a_set_begins_where_its_name_is_typed_on_a_card() {
    let mut editor = editor();
    let types = vec![type_of("Rock", ""), type_of("Grass", "")];
    editor.state_mut().edit(|project| {
        project.recipe.texture = TextureRecipe { settings: TextureSettings::default(), types };
    });
    editor.state_mut().ui.texture_panel.selected = Some(1);
    pause(&mut editor);
    assert!(editor.query_by_role_and_label(Role::Button, "All").is_none(), "no sets, no choice");
    editor.get_by_role_and_label(Role::TextInput, "Set").focus();
    editor.run_steps(2);
    type_text(&mut editor, "Monsoon");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    assert_eq!(editor.state().document.project().recipe.texture.types[1].set, "Monsoon");
    assert_eq!(editor.state().document.undo_name(), Some("Grass: Set none to Monsoon"));
    editor.get_by_role_and_label(Role::Button, "Monsoon").click();
    editor.run_steps(3);
    assert_eq!(active_set(&editor).as_deref(), Some("Monsoon"));
}

/// The middle of a card's name.
fn header(editor: &Harness<'static, App>, name: &str) -> egui::Rect {
    editor.get_by_role_and_label(Role::Button, name).rect()
}

/// Takes hold at one place and moves to the other, as a hand does, without letting go.
fn carry(editor: &mut Harness<'static, App>, from: egui::Pos2, to: egui::Pos2) {
    editor.hover_at(from);
    editor.step();
    editor.drag_at(from);
    editor.step();
    for share in [0.1, 0.3, 0.6, 0.9, 1.0] {
        editor.hover_at(from + share * (to - from));
        editor.step();
    }
}

fn let_go(editor: &mut Harness<'static, App>, at: egui::Pos2) {
    editor.drop_at(at);
    editor.run_steps(3);
}

/// An editor at rest with four types, the second of them hidden while summer is shown.
fn editor_with_types() -> Harness<'static, App> {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        project.recipe.texture.settings.active_set = Some("Summer".into());
        project.recipe.texture.types =
            vec![type_of("Grass", "Summer"), type_of("Snow", "Winter"), type_of("Rock", ""), type_of("Sand", "Summer")];
    });
    pause(&mut editor);
    editor.run_steps(2);
    editor
}

fn type_names(app: &App) -> Vec<&str> {
    app.document.project().recipe.texture.types.iter().map(|ground| ground.name.as_str()).collect()
}

#[test]
fn a_type_is_dragged_to_another_place_and_what_is_chosen_goes_with_it() {
    let mut editor = editor_with_types();
    editor.state_mut().ui.texture_panel.selected = Some(3);
    editor.state_mut().ui.texture_panel.solo = Some(2);
    editor.run_steps(2);
    let entries = editor.state().document.history().0.len();
    let (from, to) = (header(&editor, "Sand").center(), header(&editor, "Grass").center_top());
    carry(&mut editor, from, to);
    assert_eq!(type_names(editor.state()), ["Grass", "Snow", "Rock", "Sand"], "not before it is let go");
    let_go(&mut editor, to);
    assert_eq!(type_names(editor.state()), ["Sand", "Grass", "Snow", "Rock"]);
    let app = editor.state();
    assert_eq!((app.ui.texture_panel.selected, app.ui.texture_panel.solo), (Some(0), Some(3)));
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert_eq!(app.document.undo_name(), Some("Move Sand"));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(type_names(editor.state()), ["Grass", "Snow", "Rock", "Sand"]);
    let texture_panel = &editor.state().ui.texture_panel;
    assert_eq!((texture_panel.selected, texture_panel.solo), (Some(3), Some(2)), "and back again");
}

#[test]
fn the_card_that_was_pressed_is_dragged_though_the_pointer_was_quicker_than_the_frames() {
    let mut editor = editor_with_types();
    let (from, to) = (header(&editor, "Sand").center(), header(&editor, "Grass"));
    editor.hover_at(from);
    editor.step();
    let press = egui::PointerButton::Primary;
    let events = [
        egui::Event::PointerButton { pos: from, button: press, pressed: true, modifiers: egui::Modifiers::NONE },
        egui::Event::PointerMoved(to.center()),
    ];
    editor.input_mut().events.extend(events);
    editor.step();
    editor.hover_at(to.center_top());
    editor.step();
    let_go(&mut editor, to.center_top());
    assert_eq!(type_names(editor.state()), ["Sand", "Grass", "Snow", "Rock"]);
}

#[test]
fn of_two_neighbours_the_one_that_was_dragged_gives_the_entry_its_name() {
    for (name, beside) in [("Rock", "Sand"), ("Sand", "Rock")] {
        let mut editor = editor_with_types();
        let (from, over) = (header(&editor, name).center(), header(&editor, beside));
        let to = if from.y < over.center().y { over.center_bottom() } else { over.center_top() };
        carry(&mut editor, from, to);
        let_go(&mut editor, to);
        assert_eq!(type_names(editor.state()), ["Grass", "Snow", "Sand", "Rock"]);
        assert_eq!(editor.state().document.undo_name(), Some(format!("Move {name}").as_str()));
    }
}

#[test]
fn escape_and_the_own_place_leave_a_dragged_card_where_it_was() {
    let mut editor = editor_with_types();
    let before = editor.state().document.project().clone();
    let (from, to) = (header(&editor, "Sand").center(), header(&editor, "Grass").center_top());
    carry(&mut editor, from, to);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    let_go(&mut editor, to);
    assert_eq!(*editor.state().document.project(), before, "Escape");
    carry(&mut editor, from, to);
    editor.hover_at(from);
    editor.step();
    let_go(&mut editor, from);
    assert_eq!(*editor.state().document.project(), before, "back where it was taken");
    assert_eq!(editor.state().ui.texture_panel.selected, None, "a drag is no click");
    let step = header(&editor, "Uplift").center();
    carry(&mut editor, from, step);
    let_go(&mut editor, step);
    assert_eq!(*editor.state().document.project(), before, "over the other list");
}

#[test]
fn a_step_is_dragged_within_the_stack() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        let named = |name: &str| {
            let mut step = Step::new(Faults { count: 5, ..Default::default() });
            step.settings.name = name.into();
            step
        };
        project.recipe.stack = ["Bottom", "Middle", "Top"].map(named).into();
    });
    editor.state_mut().ui.selection.step = 1;
    pause(&mut editor);
    editor.run_steps(2);
    let names = |editor: &Harness<'static, App>| {
        let stack = &editor.state().document.project().recipe.stack;
        stack.iter().map(|step| step.settings.name.clone()).collect::<Vec<_>>()
    };
    let (from, to) = (header(&editor, "Top").center(), header(&editor, "Bottom").center_bottom());
    carry(&mut editor, from, to);
    let_go(&mut editor, to);
    assert_eq!(names(&editor), ["Top", "Bottom", "Middle"]);
    assert_eq!(editor.state().document.undo_name(), Some("Move Top"));
    assert_eq!(editor.state().ui.selection.step, 2, "the middle one is still selected");
}

#[test]
fn the_card_that_was_selected_last_is_moved_by_keys() {
    let mut editor = editor_with_types();
    editor.state_mut().edit(|project| {
        add_step(&mut project.recipe, Step::new(Faults { count: 5, ..Default::default() }));
    });
    pause(&mut editor);
    let steps = |editor: &Harness<'static, App>| {
        let stack = &editor.state().document.project().recipe.stack;
        stack.iter().map(|step| step.title().to_string()).collect::<Vec<_>>()
    };
    let before = steps(&editor);
    editor.get_by_role_and_label(Role::Button, "Rock").click();
    editor.run_steps(2);
    // Past the card of another set, which is not to be seen.
    press(&mut editor, egui::Modifiers::ALT, egui::Key::ArrowUp);
    assert_eq!(type_names(editor.state()), ["Rock", "Grass", "Snow", "Sand"]);
    assert_eq!(editor.state().ui.texture_panel.selected, Some(0));
    let entries = editor.state().document.history().0.len();
    press(&mut editor, egui::Modifiers::ALT, egui::Key::ArrowUp);
    assert_eq!(editor.state().document.history().0.len(), entries, "it is the first already");
    assert_eq!(steps(&editor), before);
    let top = before.last().expect("steps");
    editor.get_by_role_and_label(Role::Button, top).click();
    editor.run_steps(2);
    press(&mut editor, egui::Modifiers::ALT, egui::Key::ArrowDown);
    let mut expected = before.clone();
    expected.swap(before.len() - 1, before.len() - 2);
    assert_eq!(steps(&editor), expected);
    assert_eq!(editor.state().document.undo_name(), Some(format!("Move {top}").as_str()));
    assert_eq!(type_names(editor.state()), ["Rock", "Grass", "Snow", "Sand"]);
}

#[test]
fn limits_that_are_off_say_any() {
    let mut editor = editor();
    editor.state_mut().edit(|project| project.recipe.texture.types = vec![type_of("Rock", "")]);
    editor.state_mut().ui.texture_panel.selected = Some(0);
    pause(&mut editor);
    editor.run_steps(2);
    assert_eq!(editor.query_all_by_label("any").count(), 2, "humidity and shadow");
}

#[test]
fn a_document_without_a_window_gets_another_one_or_a_file() {
    use crate::app::window::{AfterWindow, MAX_FAILED_WINDOWS, WindowEnd, after_window};
    assert_eq!(after_window(WindowEnd::Closed, false, 0), AfterWindow::Exit);
    assert_eq!(after_window(WindowEnd::Panicked, false, 1), AfterWindow::ExitWithFailure);
    assert_eq!(after_window(WindowEnd::NotOpened, false, 1), AfterWindow::ExitWithFailure, "there was nothing yet");
    assert_eq!(after_window(WindowEnd::NotOpened, true, 2), AfterWindow::SaveRecovered, "the driver is still away");
    for ended in [WindowEnd::Closed, WindowEnd::Panicked] {
        assert_eq!(after_window(ended, true, MAX_FAILED_WINDOWS - 1), AfterWindow::Reopen);
        assert_eq!(after_window(ended, true, MAX_FAILED_WINDOWS), AfterWindow::SaveRecovered);
    }
}

#[test]
fn a_recovered_project_replaces_no_file_and_goes_where_it_can() {
    let folder = tempfile::tempdir().expect("folder");
    let folders = [folder.path().join("none"), folder.path().to_path_buf()];
    let mut project = crate::project::Project { name: "My: Land".into(), ..Default::default() };
    project.recipe.seed = 12;
    let project = crate::project::ProjectFile::new(project);
    let first = crate::app::tasks::recovery::write_recovery_copy(&project, &folders).expect("written");
    let second = crate::app::tasks::recovery::write_recovery_copy(&project, &folders).expect("written");
    let names = ["my-land-recovered.upthrust.json", "my-land-recovered-2.upthrust.json"];
    for (path, name) in [first, second].iter().zip(names) {
        assert_eq!(path, &folder.path().join(name));
        let text = std::fs::read_to_string(path).expect("a file");
        assert!(crate::project::ProjectFile::from_json(&text).expect("a project") == project);
    }
    assert!(crate::app::tasks::recovery::write_recovery_copy(&project, &folders[..1]).is_err());
}
