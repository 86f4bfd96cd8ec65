//! Variations, locks and the timeline, driven by label.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::tests::{editor, pause, press, wait};
use super::*;

/// An editor at rest on a short uplift, with its variations open and drawn.
fn varying() -> Harness<'static, App> {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::V);
    drawn(&mut editor);
    editor
}

/// Waits until all variations of what is in hand are drawn.
#[track_caller]
fn drawn(editor: &mut Harness<'static, App>) {
    editor.run_steps(3);
    wait(editor, "nine variations", |app| app.variations.are_drawn(&app.thumbnails, &app.document.project().recipe));
}

fn recipe(editor: &Harness<'static, App>) -> Recipe {
    editor.state().document.project().recipe.clone()
}

#[test]
fn a_variation_is_adopted_breeds_on_and_undo_brings_the_land_back() {
    let mut editor = varying();
    let before = recipe(&editor);
    let fifth = editor.state().variations.recipe(4).expect("a variation").clone();
    editor.get_by_role_and_label(Role::Button, "Variation 5").click();
    editor.run_steps(3);
    assert!(recipe(&editor) == *fifth && *fifth != before);
    drawn(&mut editor);
    let bred = editor.state().variations.recipe(4).expect("a variation").clone();
    assert!(*bred != *fifth && bred.stack.len() == before.stack.len());
    let last = editor.state().document.history().0.last().expect("an entry").to_string();
    assert_eq!(last, "Adopt variation 5");
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(recipe(&editor), before);
}

#[test]
fn what_is_locked_at_its_name_stays_in_every_variation() {
    let mut editor = editor();
    pause(&mut editor);
    let place = editor.get_by_role_and_label(Role::Label, "Displacement").rect().center();
    editor.hover_at(place);
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Lock Displacement").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Unlock Displacement");
    press(&mut editor, Modifiers::NONE, Key::V);
    drawn(&mut editor);
    let selected = editor.state().selected_step;
    let value = |recipe: &Recipe, key: &str| recipe.stack[selected].operation.group().get(key);
    let before = recipe(&editor);
    let all: Vec<_> = (0..9).filter_map(|place| editor.state().variations.recipe(place).cloned()).collect();
    assert!(all.iter().all(|one| value(one, "displacement_m") == value(&before, "displacement_m")));
    assert!(all.iter().any(|one| value(one, "zone_m") != value(&before, "zone_m")));
}

#[test]
fn seeds_keep_every_parameter() {
    let mut editor = varying();
    editor.get_by_label("Seeds").click();
    drawn(&mut editor);
    let before = recipe(&editor);
    for place in 0..9 {
        let one = editor.state().variations.recipe(place).expect("a variation");
        assert!(one.stack == before.stack && one.seed != before.seed);
    }
}

#[test]
fn the_timeline_goes_by_arrows_and_plays_again_and_again() {
    let mut editor = editor();
    pause(&mut editor);
    let total = editor.state().total();
    editor.get_by_label("Timeline").focus();
    editor.run_steps(2);
    for (key, expected) in [(Key::ArrowLeft, total - 1), (Key::ArrowLeft, total - 2), (Key::ArrowRight, total - 1)] {
        editor.key_press(key);
        editor.run_steps(2);
        assert_eq!(editor.state().playback.position(total), expected, "{key:?}");
    }
    editor.get_by_role_and_label(Role::Button, "Play again and again").click();
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Play or pause (Space)").click();
    wait(&mut editor, "another beginning", |app| app.playback.is_playing() && app.playback.position(total) < total / 2);
}
