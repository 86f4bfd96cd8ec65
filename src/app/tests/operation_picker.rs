//! The dialog that adds a step.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::tests::{editor, pause, press, type_text, wait};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::Role::Generator;

/// The keys of the operations in the stack, bottom first.
fn operations(app: &App) -> Vec<&'static str> {
    app.document.project().recipe.stack.iter().map(|step| step.operation.key()).collect()
}

/// A paused editor with an empty stack.
fn editor_with_empty_stack() -> Harness<'static, App> {
    let mut editor = editor();
    editor.state_mut().edit(|project| project.recipe.stack.clear());
    pause(&mut editor);
    editor
}

#[test]
fn typing_part_of_a_name_finds_an_operation() {
    let mut editor = editor_with_empty_stack();
    editor.get_by_label_contains("Add step… (").click();
    editor.run_steps(3);
    assert!(editor.query_by_label("Clamp").is_some() && editor.query_by_label("Circles").is_some());
    type_text(&mut editor, "terrac");
    assert!(editor.query_by_label("Clamp").is_none(), "only matches are shown");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    assert_eq!(operations(editor.state()), ["terrace"]);
    assert_eq!(editor.state().document.undo_name(), Some("Add Terrace"));
    assert!(!editor.state().ui.operation_picker.is_open());
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert!(operations(editor.state()).is_empty());
}

#[test]
fn clicking_a_card_adds_its_operation() {
    let mut editor = editor_with_empty_stack();
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Circles").click();
    editor.run_steps(2);
    assert_eq!(operations(editor.state()), ["circles"]);
    assert!(!editor.state().ui.operation_picker.is_open());
}

#[test]
fn the_menu_opens_the_picker_and_arrow_keys_select() {
    let mut editor = editor_with_empty_stack();
    editor.get_by_label("Terrain").click();
    editor.run_steps(2);
    // The menu item; the button puts its shortcut in parentheses.
    editor.get_by_label("Add step… Shift+A").click();
    editor.run_steps(3);
    assert!(editor.state().ui.operation_picker.is_open());
    for key in [egui::Key::ArrowDown, egui::Key::ArrowDown, egui::Key::ArrowUp, egui::Key::Enter] {
        press(&mut editor, egui::Modifiers::NONE, key);
    }
    // Generators come first.
    let second = AnyOperation::all().into_iter().filter(|operation| operation.role() == Generator).nth(1);
    assert_eq!(operations(editor.state()), [second.expect("two operations").key()]);
}

#[test]
fn escape_and_a_click_outside_close_the_picker_without_a_change() {
    let mut editor = editor_with_empty_stack();
    let before = editor.state().document.project().clone();
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    type_text(&mut editor, "faults");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(!editor.state().ui.operation_picker.is_open());
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    editor.run_steps(2);
    assert!(editor.query_by_label("Clamp").is_some(), "the query is cleared");
    let beside = editor.get_by_label("Texture of the terrain").rect().center();
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
    assert!(!editor.state().ui.operation_picker.is_open(), "the button closes the picker");
    assert_eq!(*editor.state().document.project(), before);
}

#[test]
fn the_shortcut_does_not_open_the_picker_while_a_field_has_focus() {
    let mut editor = editor_with_empty_stack();
    editor.get_by_role_and_label(Role::SpinButton, "Seed").focus();
    editor.run_steps(2);
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    assert!(!editor.state().ui.operation_picker.is_open());
}

#[test]
fn every_operation_gets_a_thumbnail() {
    let mut editor = editor_with_empty_stack();
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::A);
    wait(&mut editor, "the thumbnails", |app| {
        let drawn = |key: &str| {
            matches!(app.services.thumbnails.get(key), Some(crate::app::preview::thumbnails::ThumbnailState::Ready(_)))
        };
        AnyOperation::all().iter().all(|operation| drawn(operation.key()))
    });
}

#[test]
fn text_typed_in_the_frame_that_opens_the_picker_is_searched_for() {
    let mut editor = editor();
    pause(&mut editor);
    let seed = editor.state().document.project().recipe.seed;
    let key = |key, modifiers| egui::Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    let letter = |key_of: egui::Key, text: &str| [key(key_of, egui::Modifiers::NONE), egui::Event::Text(text.into())];
    // The first three events arrive in one frame, as in a slow one.
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
