//! The list of steps.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::tests::{editor, pause, press, settle};
use crate::engine::Step;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::drawn_faults::DrawnFaults;
use crate::engine::operations::faults::Faults;

#[test]
fn buttons_disable_duplicate_and_delete_a_step() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(Faults { count: 20, ..Default::default() })];
    });
    editor.state_mut().ui.selection.step = 0;
    settle(&mut editor);
    editor.get_by_label("Disable Faults").click();
    settle(&mut editor);
    assert_eq!(editor.state().ui.preview.shown.as_ref().expect("a preview").terrain.min_max(), [0.0, 0.0]);
    editor.get_by_label("Enable Faults").click();
    settle(&mut editor);
    editor.get_by_label("Duplicate Faults").click();
    settle(&mut editor);
    let seeds: Vec<u32> =
        editor.state().document.project().recipe.stack.iter().map(|step| step.settings.seed).collect();
    assert_eq!(seeds, [0, 1], "a copy has its own seed");
    editor.get_by_label("Delete Faults").click();
    settle(&mut editor);
    assert_eq!(editor.state().document.project().recipe.stack.len(), 1);
    assert_eq!(editor.state().document.undo_name(), Some("Delete Faults"));
}

#[test]
fn drawn_faults_are_added_disabled_and_removed_in_the_list() {
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
    editor.get_by_label("Unfold Fault 3").click();
    editor.run_steps(2);
    editor.get_by_label("Remove Fault 1").click();
    editor.run_steps(2);
    assert_eq!(faults(&editor)[1], first[2]);
    // The same fault is still unfolded.
    editor.get_by_label("Fold Fault 2").click();
    editor.run_steps(2);
    editor.get_by_label("Add to fault").click();
    editor.run_steps(3);
    assert_eq!(faults(&editor).len(), 3);
    // The new fault is expanded and shows its sliders.
    editor.get_by_role_and_label(Role::Slider, "Displacement").set_value_accesskit(250.0);
    editor.run_steps(2);
    assert_eq!(faults(&editor)[2].displacement_m, 250.0);
    for _ in 0..4 {
        press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    }
    assert_eq!(faults(&editor), first);
}

#[test]
fn no_operation_widens_the_panel() {
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
