//! Long lists: only the rows in sight are drawn, and a frame takes no longer than with short ones.

use std::time::Duration;

use cpu_time::ThreadTime;
use egui::accesskit::Role;
use egui::{Event, Modifiers, MouseWheelSource, MouseWheelUnit, TouchPhase, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::commands::Command;
use crate::app::tests::{editor, type_of, type_text};
use crate::app::tools::tool::Tool;
use crate::engine::operations::drawn_faults::{DrawnFault, DrawnFaults};
use crate::engine::operations::faults::Faults;
use crate::engine::parameters::{List, Point};
use crate::engine::random::Stream;
use crate::engine::{AnyOperation, Step};

/// How much longer a frame with a long list may take than one with a short list, in the interface thread's own time. On slow
/// machines it may take twice as long as that; drawing the whole list would take many times as long.
const ALLOWED: Duration = Duration::from_millis(4);

/// How long the frame after a change of one of thousands of items may take.
const ALLOWED_TO_EDIT: Duration = Duration::from_millis(200);

/// How often the frame after a change of one of hundreds of thousands of items may copy and compare them. Machines differ
/// too much for a limit in milliseconds.
const ALLOWED_COPIES: u32 = 12;

/// The time that a copy of these items and a comparison with it take.
fn copy_time<T: Clone + PartialEq>(items: &[T]) -> Duration {
    let times = (0..3).map(|_| {
        let start = ThreadTime::now();
        assert!(items.to_vec() == *items);
        start.elapsed()
    });
    times.min().expect("times")
}

fn faults(count: usize) -> List<DrawnFault> {
    let mut rng = Stream::new(1, 2).at(3);
    let mut place = || Point { x_m: rng.between(0.0, 4096.0), z_m: rng.between(0.0, 4096.0) };
    (1..=count).map(|at| DrawnFault { from_m: place(), to_m: place(), at: at as u32, ..Default::default() }).collect()
}

/// An editor whose only step has so many drawn faults, with the fault tool on.
fn editor_with_faults(count: usize) -> Harness<'static, App> {
    let mut editor = editor();
    let list = faults(count);
    editor.state_mut().edit(|project| project.recipe.stack = vec![Step::new(DrawnFaults { faults: list })]);
    let app = editor.state_mut();
    app.execute(&egui::Context::default(), Command::SelectStep(0));
    app.ui.playback.pause();
    app.ui.tools.activate(Some(Tool::Fault));
    editor.run_steps(3);
    editor
}

/// The time that the interface thread takes for a frame.
fn frame(editor: &mut Harness<'static, App>) -> Duration {
    let start = ThreadTime::now();
    editor.step();
    start.elapsed()
}

/// The least time of several frames in which the pointer moves over a map.
fn quiet_frame(editor: &mut Harness<'static, App>) -> Duration {
    let moved = (0..8).map(|i| {
        editor.event(Event::PointerMoved(egui::pos2(500.0 + 3.0 * i as f32, 300.0)));
        frame(editor)
    });
    moved.min().expect("frames")
}

#[track_caller]
fn check_frame(long: &mut Harness<'static, App>, short: &mut Harness<'static, App>) {
    let [long, short] = [long, short].map(quiet_frame);
    assert!(long <= short + ALLOWED.max(short), "{long:?} with a long list, {short:?} with a short one");
}

/// Scrolls the list under `at` by so many points.
pub(super) fn scroll(editor: &mut Harness<'static, App>, at: egui::Pos2, down: f32) {
    editor.event(Event::PointerMoved(at));
    let (unit, source, modifiers) = (MouseWheelUnit::Point, MouseWheelSource::Wheel, Modifiers::NONE);
    let delta = Vec2::new(0.0, -down);
    editor.event(Event::MouseWheel { unit, delta, phase: TouchPhase::Move, source, modifiers });
    editor.run_steps(30);
}

/// Unfolds the second fault and types another displacement, without pressing Enter.
fn type_displacement(editor: &mut Harness<'static, App>) {
    editor.get_by_label("Unfold Fault 2").click();
    editor.run_steps(12);
    let field = editor.get_all_by_role_and_label(Role::SpinButton, "Displacement").next().expect("a field");
    field.focus();
    editor.run_steps(2);
    editor.key_press_modifiers(Modifiers::COMMAND, egui::Key::A);
    type_text(editor, "-250");
}

fn shown_faults(editor: &Harness<'static, App>, titles: &[&str]) -> Vec<bool> {
    titles.iter().map(|title| editor.query_by_label(&format!("Unfold {title}")).is_some()).collect()
}

#[test]
fn drawn_faults_in_the_hundreds_of_thousands() {
    let [mut long, mut short] = [300_000, 3].map(editor_with_faults);
    check_frame(&mut long, &mut short);
    assert_eq!(shown_faults(&long, &["Fault 1", "Fault 100", "Fault 300000"]), [true, false, false]);

    // One of them is changed in its row.
    type_displacement(&mut long);
    long.key_press(egui::Key::Enter);
    let slowest = (0..6).map(|_| frame(&mut long)).max().expect("frames");
    let app = long.state();
    assert_eq!(app.document.undo_name(), Some("Drawn faults: Fault 2: Displacement 100 m → -250 m"));
    let copy = copy_time(&faults(300_000));
    assert!(slowest <= ALLOWED_COPIES * copy, "{slowest:?} after an edit, {copy:?} for a copy");
    check_frame(&mut long, &mut short);

    // At the other end of the list, where one is added.
    let row = long.get_by_label("Fold Fault 2").rect().center();
    scroll(&mut long, row, 1e9);
    assert_eq!(shown_faults(&long, &["Fault 1", "Fault 300000"]), [false, true]);
    check_frame(&mut long, &mut short);
    scroll(&mut long, row, -1e9);
    long.get_by_label("Add fault").click();
    long.run_steps(3);
    let AnyOperation::DrawnFaults(DrawnFaults { faults }) = &long.state().document.project().recipe.stack[0].operation
    else {
        unreachable!("drawn faults")
    };
    assert_eq!((faults.len(), &faults[300_000]), (300_001, &faults[299_999]), "a copy of the last one");
    assert_eq!(long.state().document.undo_name(), Some("Drawn faults: Add Fault 300001 (smooth)"));
    long.run_steps(30);
    assert!(long.query_by_label("Fold Fault 300001").is_some(), "the new one is in sight and unfolded");
}

#[test]
fn terrain_types_in_the_thousands() {
    let [mut long, mut short] = [3000, 5].map(|count| {
        let mut editor = editor();
        // Each belongs to a set of its own, none of which is active.
        let types = (0..count).map(|i| type_of(&format!("Type {i}"), &format!("Set {i}"))).collect();
        editor.state_mut().edit(|project| {
            project.recipe.texture.settings.active_set = None;
            project.recipe.texture.types = types;
        });
        editor.state_mut().ui.playback.pause();
        editor.run_steps(3);
        editor
    });
    check_frame(&mut long, &mut short);
    let card = |editor: &Harness<'static, App>, i: usize| {
        editor.query_by_role_and_label(Role::Button, &format!("Type {i}")).map(|card| card.rect().center())
    };
    assert!(card(&long, 2999).is_none());
    let at = card(&long, 1).expect("the second card");
    long.get_by_role_and_label(Role::Button, "Type 1").click();
    let slowest = (0..4).map(|_| frame(&mut long)).max().expect("frames");
    assert!(slowest <= ALLOWED_TO_EDIT, "{slowest:?} after a selection");
    assert_eq!(long.state().ui.texture_panel.selected, Some(1));
    scroll(&mut long, at, 3000.0 * 23.0);
    assert!(card(&long, 1).is_none() && (1000..3000).any(|i| card(&long, i).is_some()), "the cards far below");
    check_frame(&mut long, &mut short);
    scroll(&mut long, at, -1e9);
    long.get_by_label("Add a terrain type").click();
    long.run_steps(3);
    long.get_by_label("Plain colour").click();
    long.run_steps(30);
    assert!(card(&long, 1).is_none() && long.state().ui.texture_panel.selected == Some(3000));
    assert!((2900..3000).any(|i| card(&long, i).is_some()), "the list scrolled to the new type");
}

#[test]
fn steps_in_the_thousands() {
    let [mut long, mut short] = [2000, 5].map(|count| {
        let mut editor = editor();
        let step = Step::new(Faults { count: 1, ..Faults::default() });
        editor.state_mut().edit(|project| project.recipe.stack = vec![step; count]);
        editor.state_mut().ui.playback.pause();
        editor.run_steps(3);
        editor
    });
    assert_eq!(long.state().total(), 2000);
    check_frame(&mut long, &mut short);
}

#[test]
fn another_long_list_in_a_scrolled_panel_is_not_drawn_whole() {
    let mut editor = editor_with_faults(100_000);
    let list = faults(100_000);
    editor.state_mut().edit(|project| project.recipe.stack.push(Step::new(DrawnFaults { faults: list })));
    editor.run_steps(2);
    let row = editor.get_by_label("Unfold Fault 1").rect().center();
    scroll(&mut editor, row, 1e9);
    assert_eq!(shown_faults(&editor, &["Fault 1", "Fault 100000"]), [false, true]);
    editor.state_mut().execute(&egui::Context::default(), Command::SelectStep(1));
    let slowest = (0..4).map(|_| frame(&mut editor)).max().expect("frames");
    assert!(slowest <= ALLOWED_TO_EDIT, "{slowest:?} after a change of step");
}

#[test]
fn a_number_that_is_typed_is_kept_when_its_row_is_scrolled_out_of_sight() {
    let mut editor = editor_with_faults(1000);
    type_displacement(&mut editor);
    let row = editor.get_by_label("Fold Fault 2").rect().center();
    scroll(&mut editor, row, 100.0);
    scroll(&mut editor, row, 1e9);
    editor.key_press(egui::Key::Enter);
    editor.run_steps(3);
    let name = editor.state().document.undo_name().map(str::to_string);
    assert_eq!(name.as_deref(), Some("Drawn faults: Fault 2: Displacement 100 m → -250 m"));
}
