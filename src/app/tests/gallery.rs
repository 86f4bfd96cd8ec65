//! Presets.

use egui::accesskit::Role;
use egui_kittest::kittest::Queryable;

use crate::app::tests::{editor, pause, position, press, type_text};

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
