//! Edits, undo entries and shortcuts.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::tasks::settings::UserFolders;
use crate::app::tests::{Scripted, editor, pause, press, settle, texture, wait, without_rivers};

#[test]
fn moving_a_slider_during_playback_updates_the_preview_and_can_be_undone() {
    let mut editor = editor();
    wait(&mut editor, "playback", |app| app.ui.playback.position(app.total()) > 2);
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
fn dragging_a_slider_adds_one_undo_entry() {
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
fn consecutive_arrow_keys_add_one_undo_entry_and_later_ones_another() {
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
fn shortcuts_without_modifiers_do_nothing_while_typing() {
    let mut editor = editor();
    pause(&mut editor);
    let recipe = editor.state().document.project().recipe.clone();
    editor.get_by_role_and_label(Role::SpinButton, "Seed").focus();
    editor.run_steps(2);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::N);
    assert_eq!(editor.state().document.project().recipe.stack, recipe.stack);
    assert_eq!(editor.state().document.project().recipe.seed, recipe.seed, "the field received N");
}
