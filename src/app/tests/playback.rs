//! Variations, locks, the timeline and the fault tool, driven by label.

use crate::app::App;
use crate::engine::Recipe;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable};
use std::sync::Arc;

use crate::app::commands::stack_edits::add_step;
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::variations::VariationsWindow;
use crate::app::document::describe::differences;
use crate::app::tests::{editor, pause, position, press, settle, wait};
use crate::app::tools::fault_tool::handles::{ARROW, ARROW_FROM};
use crate::engine::operations::drawn_faults::{DrawnFault, DrawnFaults};
use crate::engine::parameters::{List, Point};
use crate::engine::{AnyOperation, Step};

/// An idle editor with a short uplift.
fn at_rest() -> Harness<'static, App> {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        if let AnyOperation::Faults(faults) = &mut project.recipe.stack[0].operation {
            faults.count = 20;
        }
    });
    pause(&mut editor);
    editor
}

/// The same with its variations open and rendered.
fn editor_with_variations() -> Harness<'static, App> {
    let mut editor = at_rest();
    press(&mut editor, Modifiers::NONE, Key::V);
    wait_for_thumbnails(&mut editor);
    editor
}

/// Waits until all variations of the current project are rendered.
#[track_caller]
fn wait_for_thumbnails(editor: &mut Harness<'static, App>) {
    editor.run_steps(3);
    wait(editor, "nine variations", |app| {
        app.ui.variations.are_drawn(&app.services.thumbnails, &app.document.project().recipe)
    });
}

fn recipe(editor: &Harness<'static, App>) -> Recipe {
    editor.state().document.project().recipe.clone()
}

#[test]
fn adopting_a_variation_varies_it_further_and_can_be_undone() {
    let mut editor = editor_with_variations();
    let before = recipe(&editor);
    let nine = |editor: &Harness<'static, App>| -> Vec<Arc<Recipe>> {
        (0..9).filter_map(|place| editor.state().ui.variations.recipe(place).cloned()).collect()
    };
    let first_nine = nine(&editor);
    let fifth = editor.state().ui.variations.recipe(4).expect("a variation").clone();
    editor.get_by_role_and_label(Role::Button, "Variation 5").click();
    editor.run_steps(3);
    assert!(recipe(&editor) == *fifth && *fifth != before);
    wait_for_thumbnails(&mut editor);
    let bred = editor.state().ui.variations.recipe(4).expect("a variation").clone();
    assert!(*bred != *fifth && bred.stack.len() == before.stack.len());
    let last = editor.state().document.history().0.last().expect("an entry").to_string();
    assert_eq!(last, "Use variation 5");
    let bred_nine = nine(&editor);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(recipe(&editor), before);
    wait_for_thumbnails(&mut editor);
    assert_eq!(nine(&editor), first_nine, "those that were there before are there again");
    press(&mut editor, Modifiers::COMMAND, Key::Y);
    wait_for_thumbnails(&mut editor);
    assert_eq!(nine(&editor), bred_nine);
}

/// The window of large variations.
fn window_of(app: &App) -> Option<&VariationsWindow> {
    match &app.ui.modal {
        Some(Modal::Variations(window)) => Some(window),
        _ => None,
    }
}

#[test]
fn variations_are_compared_larger_with_their_differences_in_words() {
    let mut editor = editor_with_variations();
    let before = recipe(&editor);
    let chosen = editor.state().ui.variations.recipe(2).expect("a variation").clone();
    editor.get_by_role_and_label(Role::Button, "Show variation 3 larger").click();
    editor.run_steps(4);
    editor.get_by_label("Variation 3, larger");
    let words = differences(&before, &chosen);
    assert!(!words.is_empty());
    for found in &words {
        assert!(editor.query_all_by_label(&found.words[0]).next().is_some(), "{found:?}");
    }
    editor.get_by_role_and_label(Role::Button, "Map").click();
    let can_add = |editor: &Harness<'static, App>| {
        !editor.get_by_role_and_label(Role::Button, "Compare variation 9").accesskit_node().is_disabled()
    };
    for place in [5, 7] {
        assert!(can_add(&editor));
        editor.get_by_role_and_label(Role::Button, &format!("Compare variation {place}")).click();
        editor.run_steps(3);
    }
    assert!(!can_add(&editor), "at most three");
    for place in [3, 9] {
        editor.get_by_role_and_label(Role::Button, &format!("Compare variation {place}")).click();
        editor.run_steps(3);
    }
    assert!(editor.query_by_label("Variation 3, larger").is_none());
    wait(&mut editor, "three large images", |app| window_of(app).is_some_and(VariationsWindow::are_drawn));
    let (width, [x, y]) = {
        let at = |place| editor.get_by_label(&format!("Variation {place}, larger")).rect();
        (at(5).width(), [at(7).left() - at(5).right(), at(7).top() - at(5).top()])
    };
    assert!(width > 250.0 && x > 0.0 && y == 0.0, "side by side: {width}, {x}, {y}");
    let used = editor.state().ui.variations.recipe(6).expect("a variation").clone();
    editor.get_by_role_and_label(Role::Button, "Use variation 7").click();
    editor.run_steps(3);
    assert!(window_of(editor.state()).is_none() && recipe(&editor) == *used);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(recipe(&editor), before);
}

#[test]
fn closing_the_large_variations_changes_nothing() {
    let mut editor = editor_with_variations();
    let before = recipe(&editor);
    editor.get_by_role_and_label(Role::Button, "Show variation 1 larger").click();
    editor.run_steps(4);
    assert!(window_of(editor.state()).is_some());
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(2);
    assert!(window_of(editor.state()).is_none());
    assert_eq!(recipe(&editor), before);
}

#[test]
fn locked_parameters_are_the_same_in_every_variation() {
    let mut editor = at_rest();
    let place = editor.get_by_role_and_label(Role::Label, "Displacement").rect().center();
    editor.hover_at(place);
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Lock Displacement in variations").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Unlock Displacement in variations");
    press(&mut editor, Modifiers::NONE, Key::V);
    wait_for_thumbnails(&mut editor);
    let selected = editor.state().ui.selection.step;
    let value = |recipe: &Recipe, key: &str| recipe.stack[selected].operation.group().get(key);
    let before = recipe(&editor);
    let all: Vec<_> = (0..9).filter_map(|place| editor.state().ui.variations.recipe(place).cloned()).collect();
    assert!(all.iter().all(|one| value(one, "displacement_m") == value(&before, "displacement_m")));
    assert!(all.iter().any(|one| value(one, "zone_m") != value(&before, "zone_m")));
}

#[test]
fn varying_only_seeds_keeps_every_parameter() {
    let mut editor = editor_with_variations();
    editor.get_by_label("Seeds").click();
    wait_for_thumbnails(&mut editor);
    let before = recipe(&editor);
    for place in 0..9 {
        let one = editor.state().ui.variations.recipe(place).expect("a variation");
        assert!(one.stack == before.stack && one.seed != before.seed);
    }
}

#[test]
fn arrow_keys_move_the_timeline_and_it_can_loop() {
    let mut editor = editor();
    pause(&mut editor);
    let total = editor.state().total();
    editor.get_by_label("Timeline").focus();
    editor.run_steps(2);
    for (key, expected) in [(Key::ArrowLeft, total - 1), (Key::ArrowLeft, total - 2), (Key::ArrowRight, total - 1)] {
        editor.key_press(key);
        editor.run_steps(2);
        assert_eq!(editor.state().ui.playback.position(total), expected, "{key:?}");
    }
    editor.get_by_role_and_label(Role::Button, "Loop").click();
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Play or pause (Space)").click();
    wait(&mut editor, "another beginning", |app| {
        app.ui.playback.is_playing() && app.ui.playback.position(total) < total / 2
    });
}

/// An idle editor with the fault tool active, and the heightmap's pane.
fn editor_with_fault_tool() -> (Harness<'static, App>, egui::Rect) {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::L);
    let pane = editor.get_by_label("Heightmap of the terrain").rect();
    (editor, pane)
}

fn drag(editor: &mut Harness<'static, App>, from: egui::Pos2, to: egui::Pos2) {
    editor.hover_at(from);
    editor.run_steps(2);
    editor.drag_at(from);
    editor.run_steps(2);
    for share in [0.3, 0.6, 1.0] {
        editor.hover_at(from + (to - from) * share);
        editor.run_steps(2);
    }
    editor.drop_at(to);
    editor.run_steps(2);
}

/// The drawn faults, and the index of their step.
fn drawn_faults(editor: &Harness<'static, App>) -> Option<(usize, List<DrawnFault>)> {
    recipe(editor).stack.into_iter().enumerate().find_map(|(at, step)| match step.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => Some((at, faults)),
        _ => None,
    })
}

/// Distance between two points, metres.
fn apart(one: Point, other: [f64; 2]) -> f64 {
    libm::hypot(one.x_m - other[0], one.z_m - other[1])
}

#[test]
fn dragging_draws_a_fault_as_one_undo_entry() {
    let (mut editor, pane) = editor_with_fault_tool();
    let entries = editor.state().document.history().0.len();
    let before = editor.state().ui.preview.shown.as_ref().expect("a preview").terrain.clone();
    let middle = pane.center();
    drag(&mut editor, middle + egui::vec2(0.0, 60.0), middle + egui::vec2(0.0, -60.0));
    let (step, faults) = drawn_faults(&editor).expect("a step of drawn faults");
    assert_eq!(faults.len(), 1);
    let world = recipe(&editor).world;
    let (half, metres) = (0.5 * world.width_m, world.width_m / f64::from(pane.width().min(pane.height()) - 16.0));
    assert!(apart(faults[0].from_m, [half, half + 60.0 * metres]) < 2.0 * metres, "{faults:?}");
    assert!(apart(faults[0].to_m, [half, half - 60.0 * metres]) < 2.0 * metres, "{faults:?}");
    assert_eq!(editor.state().ui.selection.step, step);
    assert_eq!(editor.state().document.history().0.len(), entries + 1, "one entry");
    pause(&mut editor);
    // Drawn northward, so the east rises.
    let after = editor.state().ui.preview.shown.as_ref().expect("a preview").terrain.clone();
    let lift = |c: usize| after[(c, 32)] - before[(c, 32)];
    assert!(lift(36) > 0.0 && lift(28) < 0.0, "{} and {}", lift(36), lift(28));
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert!(drawn_faults(&editor).is_none());
}

#[test]
fn a_new_fault_is_added_to_the_selected_step() {
    let (mut editor, pane) = editor_with_fault_tool();
    editor.state_mut().edit(|project| {
        for _ in 0..2 {
            add_step(&mut project.recipe, Step::new(DrawnFaults { faults: List::default() }));
        }
    });
    pause(&mut editor);
    let lower = recipe(&editor).stack.len() - 2;
    editor.state_mut().ui.selection.step = lower;
    editor.run_steps(2);
    drag(&mut editor, pane.center(), pane.center() + egui::vec2(0.0, -60.0));
    let (step, faults) = drawn_faults(&editor).expect("drawn faults");
    assert_eq!((step, faults.len()), (lower, 1));
}

#[test]
fn handles_move_the_ends_and_delete_removes_the_fault() {
    let (mut editor, pane) = editor_with_fault_tool();
    let middle = pane.center();
    let (from, to) = (middle + egui::vec2(-50.0, 40.0), middle + egui::vec2(50.0, 40.0));
    drag(&mut editor, from, to);
    let (_, before) = drawn_faults(&editor).expect("a fault");
    drag(&mut editor, to, to + egui::vec2(0.0, -80.0));
    let (_, moved) = drawn_faults(&editor).expect("a fault");
    assert!(moved.len() == 1 && moved[0].from_m == before[0].from_m && moved[0].to_m.z_m < before[0].to_m.z_m - 100.0);
    // Dragging the line moves both ends.
    let on_line = from + (to + egui::vec2(0.0, -80.0) - from) * 0.5;
    drag(&mut editor, on_line, on_line + egui::vec2(0.0, 40.0));
    let (_, shifted) = drawn_faults(&editor).expect("a fault");
    let by = shifted[0].from_m.z_m - moved[0].from_m.z_m;
    assert!(by > 100.0 && (shifted[0].to_m.z_m - moved[0].to_m.z_m - by).abs() < 0.2);
    // The displacement is still positive, and Delete removes the fault.
    assert!(shifted[0].displacement_m > 0.0);
    editor.key_press(Key::Delete);
    editor.run_steps(2);
    assert_eq!(drawn_faults(&editor).map(|(_, faults)| faults.len()), Some(0));
    editor.key_press(Key::Escape);
    editor.run_steps(2);
    assert!(editor.state().ui.tools.active().is_none());
}

#[test]
fn the_displacement_handle_stays_under_the_pointer_while_the_terrain_changes() {
    let (mut editor, pane) = editor_with_fault_tool();
    let summary = editor.state().ui.preview.shown.as_ref().expect("a preview").summary.clone();
    let range_m = f64::from(summary.max_m - summary.min_m);
    let from = pane.center() + egui::vec2(-50.0, -20.0);
    drag(&mut editor, from, from + egui::vec2(100.0, 0.0));
    let displacement_m = |editor: &Harness<'static, App>| drawn_faults(editor).expect("a fault").1[0].displacement_m;
    // The arrow of a tenth of the range, grabbed beyond its tip.
    let mut tip = from + egui::vec2(35.0, ARROW_FROM + 0.1 * ARROW + 5.0);
    let mut known = displacement_m(&editor);
    assert!((known - 0.1 * range_m).abs() < 1.0, "{known} m of {range_m} m");
    for by in [56.0, -28.0, 1.0] {
        drag(&mut editor, tip, tip + egui::vec2(0.0, by));
        // The terrain and its range change.
        pause(&mut editor);
        let now = displacement_m(&editor);
        let expected = known + f64::from(by / ARROW) * range_m;
        assert!((now - expected).abs() < 0.01 * range_m, "{by}: {now} m, not {expected} m");
        (known, tip) = (now, tip + egui::vec2(0.0, by));
    }
    // The edge of the zone, grabbed on its near side.
    let zone_m = |editor: &Harness<'static, App>| drawn_faults(editor).expect("a fault").1[0].zone_m;
    let metres = recipe(&editor).world.width_m / f64::from(pane.width().min(pane.height()) - 16.0);
    let known = zone_m(&editor);
    let edge = from + egui::vec2(65.0, (known / metres) as f32 - 4.0);
    drag(&mut editor, edge, edge + egui::vec2(0.0, 12.0));
    let wider = zone_m(&editor) - known;
    assert!((wider - 12.0 * metres).abs() < 0.1 * metres + 1.0, "{wider} m, not {} m", 12.0 * metres);
}

#[test]
fn a_drag_ends_when_its_map_is_hidden() {
    let (mut editor, pane) = editor_with_fault_tool();
    let middle = pane.center();
    editor.drag_at(middle);
    editor.run_steps(2);
    editor.hover_at(middle + egui::vec2(40.0, 0.0));
    editor.run_steps(2);
    // Only the 3-D view is shown: the map is hidden, which ends its drag.
    press(&mut editor, Modifiers::NONE, Key::Num3);
    editor.drop_at(middle + egui::vec2(40.0, 0.0));
    editor.run_steps(2);
    press(&mut editor, Modifiers::NONE, Key::Num3);
    editor.state_mut().edit(|project| project.recipe.seed += 1);
    editor.run_steps(2);
    let later = recipe(&editor);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    assert_eq!(recipe(&editor), later);
}

#[test]
fn escape_cancels_a_drag() {
    let (mut editor, pane) = editor_with_fault_tool();
    let (before, selected) = (recipe(&editor), editor.state().ui.selection.step);
    let entries = editor.state().document.history().0.len();
    let middle = pane.center();
    editor.hover_at(middle);
    editor.run_steps(2);
    editor.drag_at(middle);
    editor.run_steps(2);
    for along in [10.0, 40.0] {
        editor.hover_at(middle + egui::vec2(along, 0.0));
        editor.run_steps(2);
    }
    assert_eq!(drawn_faults(&editor).expect("drawn faults").1.len(), 1);
    editor.key_press(Key::Escape);
    editor.run_steps(2);
    editor.hover_at(middle + egui::vec2(60.0, 0.0));
    editor.run_steps(2);
    editor.drop_at(middle + egui::vec2(60.0, 0.0));
    editor.run_steps(2);
    assert_eq!((recipe(&editor), editor.state().ui.selection.step), (before, selected));
    assert_eq!(editor.state().document.history().0.len(), entries, "no undo entry remains");
    assert!(editor.state().ui.tools.active().is_some(), "only the drag is cancelled");
}

#[test]
fn dragging_pans_the_map_only_while_the_tool_is_off() {
    let (mut editor, pane) = editor_with_fault_tool();
    let viewport = editor.state().ui.maps.viewport;
    let middle = pane.center();
    drag(&mut editor, middle, middle + egui::vec2(30.0, 0.0));
    assert_eq!(editor.state().ui.maps.viewport, viewport, "the drag draws a fault");
    press(&mut editor, Modifiers::NONE, Key::L);
    drag(&mut editor, middle, middle + egui::vec2(30.0, 0.0));
    assert_ne!(editor.state().ui.maps.viewport, viewport);
}

#[test]
fn the_first_project_plays_one_fault_per_frame() {
    let mut editor = editor();
    wait(&mut editor, "playback", |app| app.ui.playback.position(app.total()) > 5);
    let app = editor.state();
    assert!(app.ui.playback.is_playing());
    let shown = app.ui.preview.shown.as_ref().expect("a preview").request.position;
    assert!(app.ui.playback.position(app.total()) - shown <= 1, "no iteration is skipped");
}

#[test]
fn keys_play_step_seek_and_change_the_seed() {
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
fn playback_resumes_from_a_preview_that_is_already_shown() {
    let mut editor = editor();
    pause(&mut editor);
    for from in [0, 3] {
        let total = editor.state().total();
        editor.state_mut().ui.playback.seek(from, total);
        settle(&mut editor);
        press(&mut editor, egui::Modifiers::NONE, egui::Key::Space);
        wait(&mut editor, "playback", |app| app.ui.playback.position(app.total()) > from + 2);
        press(&mut editor, egui::Modifiers::NONE, egui::Key::Space);
    }
}
