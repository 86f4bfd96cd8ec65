//! Presets.

use egui::accesskit::Role;
use egui_kittest::kittest::Queryable;

use crate::app::commands::Command;
use crate::app::tests::{editor, pause, position, press, type_text};
use crate::project::preset_projects;

#[test]
fn opening_a_preset_shows_its_last_iteration_and_can_be_undone() {
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
fn the_camera_and_the_preview_size_stay_with_another_preset() {
    let mut editor = editor();
    pause(&mut editor);
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::ViewFromSide);
    editor.run_steps(10);
    let view = |app: &crate::app::App| (app.ui.scene.view_state(), app.document.settings().view.preview_samples);
    let before = view(editor.state());
    assert_eq!(before.1, 65);
    let (other, file) =
        preset_projects().iter().enumerate().map(|(i, (_, file))| (i, file)).nth(1).expect("two presets");
    assert_ne!(file.settings.view.preview_samples, 65);
    editor.state_mut().execute(&ctx, Command::OpenPreset(other));
    assert_eq!(view(editor.state()), before);
    editor.state_mut().execute(&ctx, Command::New);
    assert_eq!(view(editor.state()), before);
}
