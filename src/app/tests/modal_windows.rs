//! What all modal windows have in common.

use std::path::PathBuf;

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::App;
use crate::app::dialogs::modal::Modal;
use crate::app::tests::{chosen, editor, editor_with, open_import_window, pause, press, type_text, wait};

/// A map with a hole.
fn map_with_hole(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("land.asc");
    std::fs::write(&path, "ncols 3\nnrows 3\ncellsize 50\n1 2 3\n4 -9999 6\n7 8 9\n").expect("written");
    path
}

/// An editor with the import window of that map.
fn importing(path: PathBuf) -> Harness<'static, App> {
    let mut editor = editor_with(vec![chosen(path)]);
    pause(&mut editor);
    open_import_window(&mut editor);
    editor
}

/// Types another width of the map, without ending the editing.
fn type_width(editor: &mut Harness<'static, App>) {
    editor.get_by_label("Width of the map, west to east").focus();
    editor.run_steps(2);
    editor.key_press_modifiers(Modifiers::COMMAND, Key::A);
    type_text(editor, "777");
}

/// A click whose press and release are in the same frame, as a touchpad's tap.
fn tap(editor: &mut Harness<'static, App>, pos: Pos2) {
    let button =
        |pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
    editor.input_mut().events.push(Event::PointerMoved(pos));
    editor.step();
    editor.input_mut().events.extend([button(true), button(false)]);
    editor.run_steps(4);
}

fn tap_widget(editor: &mut Harness<'static, App>, role: Role, label: &str) {
    let pos = editor.get_by_role_and_label(role, label).rect().center();
    tap(editor, pos);
}

fn holes(editor: &Harness<'static, App>) -> Option<String> {
    editor.get_by_role_and_label(Role::ComboBox, "Holes").accesskit_node().value()
}

#[test]
fn a_list_opens_in_front_of_its_window_however_fast_the_click_is() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = importing(map_with_hole(&folder));
    assert_eq!(holes(&editor).as_deref(), Some("Interpolate"));
    tap_widget(&mut editor, Role::ComboBox, "Holes");
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(3);
    assert!(editor.query_by_label("Lowest height").is_none(), "Escape closes the list");
    tap_widget(&mut editor, Role::CheckBox, "Keep proportions");
    // It was behind the window, so a click on an entry hit what it covered.
    tap_widget(&mut editor, Role::ComboBox, "Holes");
    tap_widget(&mut editor, Role::Button, "Lowest height");
    wait(&mut editor, "the file tasks", |app| app.services.file_tasks.is_idle());
    editor.run_steps(3);
    assert_eq!(holes(&editor).as_deref(), Some("Lowest height"));

    let mut editor = crate::app::tests::editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::COMMAND, Key::E);
    editor.run_steps(3);
    for target in ["Unity", "Blender", "O3DE"] {
        tap_widget(&mut editor, Role::ComboBox, "Target");
        press(&mut editor, Modifiers::NONE, Key::Escape);
        editor.run_steps(3);
        tap_widget(&mut editor, Role::ComboBox, "Target");
        tap_widget(&mut editor, Role::Button, target);
        let chosen = editor.get_by_role_and_label(Role::ComboBox, "Target").accesskit_node().value();
        assert_eq!(chosen.as_deref(), Some(target));
    }
}

/// Runs frames as the window does: until no other frame is asked for.
fn run_requested_frames(editor: &mut Harness<'static, App>) {
    for _ in 0..40 {
        editor.step();
        let output = &editor.output().viewport_output;
        if output.values().all(|viewport| !viewport.repaint_delay.is_zero()) {
            return;
        }
    }
    panic!("the window never comes to rest");
}

#[test]
fn what_a_click_or_a_key_opens_is_shown_without_another_event() {
    let mut editor = editor();
    pause(&mut editor);
    editor.run_steps(10);
    let open = |editor: &mut Harness<'static, App>, role: Role, label: &str, shown: &str| {
        let pos = editor.get_by_role_and_label(role, label).rect().center();
        editor.input_mut().events.push(Event::PointerMoved(pos));
        run_requested_frames(editor);
        for pressed in [true, false] {
            let modifiers = Modifiers::NONE;
            editor.event(Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers });
        }
        run_requested_frames(editor);
        assert!(editor.query_all_by_label_contains(shown).next().is_some(), "{label} shows no {shown}");
        editor.key_press(Key::Escape);
        run_requested_frames(editor);
    };
    for (menu, item) in [
        ("File", "Save as…"),
        ("Edit", "History"),
        ("View", "Frame terrain"),
        ("Terrain", "New seed"),
        ("Help", "Shortcuts"),
    ] {
        open(&mut editor, Role::Button, menu, item);
    }
    open(&mut editor, Role::ComboBox, "Line placement", "Through two points");
    for (modifiers, key, shown) in [
        (Modifiers::COMMAND, Key::P, "New seed (Terrain)"),
        (Modifiers::NONE, Key::F1, "Close"),
        (Modifiers::COMMAND, Key::E, "Export"),
    ] {
        editor.key_press_modifiers(modifiers, key);
        run_requested_frames(&mut editor);
        assert!(editor.query_all_by_label_contains(shown).next().is_some(), "{key:?} shows no {shown}");
        if key != Key::E {
            editor.key_press(Key::Escape);
            run_requested_frames(&mut editor);
        }
    }
    open(&mut editor, Role::ComboBox, "Target", "CRYENGINE");
    open(&mut editor, Role::ComboBox, "Heightmap", "PNG, 16-bit grey (.png)");
}

#[test]
fn escape_leaves_a_field_before_it_closes_the_window() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = importing(map_with_hole(&folder));
    let width = |editor: &Harness<'static, App>| {
        editor.get_by_label("Width of the map, west to east").accesskit_node().numeric_value()
    };
    let before = width(&editor);
    type_width(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(2);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Import(_))), "the window stays");
    assert_eq!(width(&editor), before, "the field has its number again");
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(2);
    assert!(editor.state().ui.modal.is_none());

    press(&mut editor, Modifiers::COMMAND, Key::E);
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::TextInput, "Folder").focus();
    editor.run_steps(2);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(2);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Export)));
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(2);
    assert!(editor.state().ui.modal.is_none());

    // A search field always has the focus, so the first press closes its window.
    press(&mut editor, Modifiers::COMMAND, Key::P);
    editor.run_steps(3);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Palette(_))));
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(2);
    assert!(editor.state().ui.modal.is_none());
}

#[test]
fn a_click_outside_closes_only_windows_without_settings() {
    let folder = tempfile::tempdir().expect("folder");
    let outside = Pos2::new(20.0, 400.0);
    let mut editor = importing(map_with_hole(&folder));
    tap(&mut editor, outside);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Import(_))));
    let mut editor = self::editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::COMMAND, Key::E);
    editor.run_steps(3);
    tap(&mut editor, outside);
    assert!(matches!(editor.state().ui.modal, Some(Modal::Export)));
    editor.state_mut().ui.modal = Some(Modal::About);
    editor.run_steps(3);
    tap(&mut editor, outside);
    assert!(editor.state().ui.modal.is_none());
}

#[test]
fn the_import_window_stays_where_it_is_when_it_grows() {
    let folder = tempfile::tempdir().expect("folder");
    let mut editor = importing(map_with_hole(&folder));
    let heading = |editor: &Harness<'static, App>| editor.get_by_label("Open land.asc").rect();
    let before = heading(&editor);
    let height = |editor: &Harness<'static, App>| editor.get_by_role_and_label(Role::Button, "Cancel").rect().top();
    let low = height(&editor);
    // The choice of the world's size takes two more lines.
    type_width(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::Tab);
    editor.get_by_label("Flip north and south").click();
    editor.run_steps(3);
    wait(&mut editor, "the file tasks", |app| app.services.file_tasks.is_idle());
    editor.run_steps(3);
    assert_eq!(heading(&editor), before);
    editor.set_size([1000.0, 900.0].into());
    editor.run_steps(4);
    assert!((height(&editor) - low).abs() > 10.0, "it is in the middle of a window of another size");
}
