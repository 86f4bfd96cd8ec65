//! Reordering cards by dragging and by keys.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::commands::stack_edits::add_step;
use crate::app::tests::{editor, pause, press, type_of};
use crate::engine::Step;
use crate::engine::operations::faults::Faults;

/// The rectangle of a card's title.
fn card_title(editor: &Harness<'static, App>, name: &str) -> egui::Rect {
    editor.get_by_role_and_label(Role::Button, name).rect()
}

/// Presses the pointer at `from` and moves it to `to` over several frames, without releasing it.
fn drag(editor: &mut Harness<'static, App>, from: egui::Pos2, to: egui::Pos2) {
    editor.hover_at(from);
    editor.step();
    editor.drag_at(from);
    editor.step();
    for share in [0.1, 0.3, 0.6, 0.9, 1.0] {
        editor.hover_at(from + share * (to - from));
        editor.step();
    }
}

fn drop_at(editor: &mut Harness<'static, App>, at: egui::Pos2) {
    editor.drop_at(at);
    editor.run_steps(3);
}

/// A paused editor with four types, the second of them hidden because the set "Summer" is active.
fn editor_with_types() -> Harness<'static, App> {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        project.recipe.texture.settings.active_set = Some("Summer".into());
        project.recipe.texture.types =
            vec![type_of("Grass", "Summer"), type_of("Snow", "Winter"), type_of("Rock", ""), type_of("Sand", "Summer")]
                .into();
    });
    pause(&mut editor);
    editor.run_steps(2);
    editor
}

fn type_names(app: &App) -> Vec<&str> {
    app.document.project().recipe.texture.types.iter().map(|terrain_type| terrain_type.name.as_str()).collect()
}

#[test]
fn the_selection_follows_a_dragged_type() {
    let mut editor = editor_with_types();
    editor.state_mut().ui.texture_panel.selected = Some(3);
    editor.state_mut().ui.texture_panel.solo = Some(2);
    editor.run_steps(2);
    let entries = editor.state().document.history().0.len();
    let (from, to) = (card_title(&editor, "Sand").center(), card_title(&editor, "Grass").center_top());
    drag(&mut editor, from, to);
    assert_eq!(type_names(editor.state()), ["Grass", "Snow", "Rock", "Sand"], "nothing moves before the drop");
    drop_at(&mut editor, to);
    assert_eq!(type_names(editor.state()), ["Sand", "Grass", "Snow", "Rock"]);
    let app = editor.state();
    assert_eq!((app.ui.texture_panel.selected, app.ui.texture_panel.solo), (Some(0), Some(3)));
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert_eq!(app.document.undo_name(), Some("Move Sand"));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(type_names(editor.state()), ["Grass", "Snow", "Rock", "Sand"]);
    let texture_panel = &editor.state().ui.texture_panel;
    assert_eq!((texture_panel.selected, texture_panel.solo), (Some(3), Some(2)), "undo restores the selection");
}

#[test]
fn the_pressed_card_is_dragged_even_if_the_pointer_leaves_it_within_a_frame() {
    let mut editor = editor_with_types();
    let (from, to) = (card_title(&editor, "Sand").center(), card_title(&editor, "Grass"));
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
    drop_at(&mut editor, to.center_top());
    assert_eq!(type_names(editor.state()), ["Sand", "Grass", "Snow", "Rock"]);
}

#[test]
fn the_undo_entry_of_a_swap_names_the_dragged_card() {
    for (name, beside) in [("Rock", "Sand"), ("Sand", "Rock")] {
        let mut editor = editor_with_types();
        let (from, over) = (card_title(&editor, name).center(), card_title(&editor, beside));
        let to = if from.y < over.center().y { over.center_bottom() } else { over.center_top() };
        drag(&mut editor, from, to);
        drop_at(&mut editor, to);
        assert_eq!(type_names(editor.state()), ["Grass", "Snow", "Sand", "Rock"]);
        assert_eq!(editor.state().document.undo_name(), Some(format!("Move {name}").as_str()));
    }
}

#[test]
fn escape_or_dropping_a_card_at_its_place_changes_nothing() {
    let mut editor = editor_with_types();
    let before = editor.state().document.project().clone();
    let (from, to) = (card_title(&editor, "Sand").center(), card_title(&editor, "Grass").center_top());
    drag(&mut editor, from, to);
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Escape);
    drop_at(&mut editor, to);
    assert_eq!(*editor.state().document.project(), before, "Escape");
    drag(&mut editor, from, to);
    editor.hover_at(from);
    editor.step();
    drop_at(&mut editor, from);
    assert_eq!(*editor.state().document.project(), before, "dropped where it was");
    assert_eq!(editor.state().ui.texture_panel.selected, None, "a drag is not a click");
    let step = card_title(&editor, "Uplift").center();
    drag(&mut editor, from, step);
    drop_at(&mut editor, step);
    assert_eq!(*editor.state().document.project(), before, "dropped on the other list");
}

#[test]
fn a_step_can_be_dragged_within_the_stack() {
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
    let (from, to) = (card_title(&editor, "Top").center(), card_title(&editor, "Bottom").center_bottom());
    drag(&mut editor, from, to);
    drop_at(&mut editor, to);
    assert_eq!(names(&editor), ["Top", "Bottom", "Middle"]);
    assert_eq!(editor.state().document.undo_name(), Some("Move Top"));
    assert_eq!(editor.state().ui.selection.step, 2, "Middle is still selected");
}

#[test]
fn keys_move_the_card_that_was_selected_last() {
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
    // Skips Snow, whose set is not active.
    press(&mut editor, egui::Modifiers::ALT, egui::Key::ArrowUp);
    assert_eq!(type_names(editor.state()), ["Rock", "Grass", "Snow", "Sand"]);
    assert_eq!(editor.state().ui.texture_panel.selected, Some(0));
    let entries = editor.state().document.history().0.len();
    press(&mut editor, egui::Modifiers::ALT, egui::Key::ArrowUp);
    assert_eq!(editor.state().document.history().0.len(), entries, "it is already the first");
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
