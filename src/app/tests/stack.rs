//! The list of steps.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable};

use crate::app::App;
use crate::app::commands::Command;
use crate::app::tests::long_lists::scroll;
use crate::app::tests::{editor, editor_with_size, pause, press, settle, type_text};
use crate::app::tools::tool::Tool;
use crate::engine::Step;
use crate::engine::fault::Profile;
use crate::engine::mask::{Mask, MaskSource};
use crate::engine::operations::clamp::Clamp;
use crate::engine::operations::drawn_faults::DrawnFaults;
use crate::engine::operations::faults::{Decay, Faults};
use crate::engine::operations::fluvial_erosion::FluvialErosion;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::operations::levels::Levels;
use crate::engine::operations::noise::Noise;
use crate::engine::operations::terrace::Terrace;
use crate::engine::operations::{AnyOperation, FaultRivers};
use crate::engine::parameters::{List, Value, group_values};
use crate::engine::recipe::Blend;

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
fn a_number_with_a_long_unit_has_its_slider_above_it() {
    let mut editor = editor_with_size([1280.0, 3000.0], Vec::new());
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        let rivers = FaultRivers { creep: 0.0123, ..Default::default() };
        project.recipe.stack = vec![Step::new(Faults { count: 20, rivers: Some(rivers), ..Default::default() })];
    });
    editor.state_mut().ui.selection.step = 0;
    settle(&mut editor);
    let of = |role| editor.get_by_role_and_label(role, "Soil creep").rect();
    let (slider, field) = (of(Role::Slider), of(Role::SpinButton));
    assert!(slider.width() >= 40.0 && (slider.right() <= field.left() || slider.bottom() <= field.top()), "{slider}");
    editor.get_by_role_and_label(Role::Slider, "Soil creep").set_value_accesskit(0.03);
    settle(&mut editor);
    let recipe = &editor.state().document.project().recipe;
    let AnyOperation::Faults(Faults { rivers: Some(rivers), .. }) = &recipe.stack[0].operation else {
        panic!("no rivers");
    };
    assert_eq!(rivers.creep, 0.03);
}

#[test]
fn another_step_is_shown_from_its_first_parameter_on() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        project.recipe.stack = ["Base", "Top"]
            .into_iter()
            .zip(0..)
            .map(|(name, seed)| {
                let mut step = Step::new(Faults { count: 5, ..Default::default() });
                (step.settings.name, step.settings.seed) = (name.into(), seed);
                step
            })
            .collect();
    });
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Base").click();
    editor.run_steps(3);
    let count = |editor: &Harness<'static, App>| {
        editor.query_by_role_and_label(Role::Label, "Count").map(|label| label.rect().top())
    };
    let top = count(&editor).expect("the first parameter");
    let profile = editor.get_by_role_and_label(Role::Label, "Profile").rect().center();
    scroll(&mut editor, profile, 250.0);
    assert!(count(&editor).is_none_or(|scrolled| scrolled < top - 100.0));
    editor.get_by_role_and_label(Role::Button, "Top").click();
    editor.run_steps(3);
    assert_eq!(count(&editor), Some(top));
    // An edit of the step's seed is made at the bottom of the panel.
    scroll(&mut editor, profile, 250.0);
    let scrolled = count(&editor);
    editor.state_mut().edit(|project| project.recipe.stack[1].settings.seed = 9);
    editor.run_steps(3);
    assert_eq!(count(&editor), scrolled);
}

#[test]
fn steps_are_grouped_folded_filled_and_ungrouped() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| {
        project.recipe.stack = ["Base", "Piece", "Top"]
            .map(|name| {
                let mut step = Step::new(Faults { count: 5, ..Default::default() });
                step.settings.name = name.into();
                step
            })
            .into();
    });
    editor.state_mut().ui.selection.step = 1;
    settle(&mut editor);
    let land =
        |editor: &Harness<'static, App>| editor.state().ui.preview.shown.as_ref().expect("a preview").terrain.clone();
    let rows = |editor: &Harness<'static, App>| {
        let recipe = &editor.state().document.project().recipe;
        let depths = recipe.placements().into_iter().map(|placement| placement.depth);
        recipe.stack.iter().map(|step| step.title().to_string()).zip(depths).collect::<Vec<_>>()
    };
    let own = |name: &str, depth: usize| (name.to_string(), depth);
    let before = land(&editor);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::G);
    settle(&mut editor);
    assert_eq!(rows(&editor), [own("Base", 0), own("Piece", 1), own("Group", 0), own("Top", 0)]);
    assert_eq!((land(&editor), editor.state().ui.selection.step), (before, 2));
    assert_eq!(editor.state().document.undo_name(), Some("Group Piece"));
    // A step that is added while the group is selected goes into it.
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::AddStep("terrace"));
    settle(&mut editor);
    assert_eq!(rows(&editor)[1..4], [own("Piece", 1), own("Terrace", 1), own("Group", 0)]);
    assert_eq!(editor.state().ui.selection.step, 2);
    editor.get_by_label("Fold Group").click();
    editor.run_steps(3);
    assert!(editor.query_by_role_and_label(Role::Button, "Piece").is_none(), "the members are not listed");
    assert_eq!(editor.state().ui.selection.step, 3, "instead of a member that is not listed");
    editor.get_by_label("Unfold Group").click();
    editor.run_steps(3);
    let left = |name: &str| editor.get_by_role_and_label(Role::Button, name).rect().left();
    let indent = left("Piece") - left("Base");
    assert!(indent > 5.0, "{indent}");
    press(&mut editor, egui::Modifiers::ALT, egui::Key::ArrowDown);
    assert_eq!(rows(&editor)[..3], [own("Piece", 1), own("Terrace", 1), own("Group", 0)]);
    press(&mut editor, egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, egui::Key::G);
    assert_eq!(rows(&editor), [own("Piece", 0), own("Terrace", 0), own("Base", 0), own("Top", 0)]);
    assert_eq!(editor.state().document.undo_name(), Some("Ungroup Group"));
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    editor.get_by_label("Delete Group").click();
    editor.run_steps(3);
    assert_eq!(rows(&editor), [own("Base", 0), own("Top", 0)]);
    // Several are selected with Shift and grouped.
    editor.get_by_role_and_label(Role::Button, "Base").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Top").click_modifiers(egui::Modifiers::SHIFT);
    editor.run_steps(3);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::G);
    assert_eq!(rows(&editor), [own("Base", 1), own("Top", 1), own("Group", 0)]);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    press(&mut editor, egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, egui::Key::Z);
    assert_eq!(editor.state().document.undo_name(), Some("Delete Group with 2 in it"));
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
    editor.get_by_label("Add fault").click();
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
fn a_displacement_states_the_throw_of_its_fault() {
    let mut editor = editor();
    pause(&mut editor);
    for (profile, is_stated) in [(Profile::Smooth, true), (Profile::Cosine, false)] {
        let faults = Faults { count: 3, displacement_m: 400.0, profile, ..Faults::default() };
        editor.state_mut().edit(|project| project.recipe.stack = vec![Step::new(faults)]);
        editor.run_steps(4);
        assert_eq!(editor.query_by_label("±400 m (800 m throw)").is_some(), is_stated, "{profile:?}");
    }
}

#[test]
fn a_step_that_does_nothing_or_doubles_the_terrain_says_so() {
    let mut editor = editor();
    pause(&mut editor);
    let mut terrace = Step::new(Terrace::default());
    terrace.settings.blend = Blend::Add;
    let mut faults = DrawnFaults::default();
    if let Some(fault) = faults.faults.get_mut(1) {
        fault.to_m = fault.from_m;
    }
    let cases = [
        (terrace, "Blend: this step already includes the terrain below, so adding it doubles all heights"),
        (
            Step::new(Faults { decay: Decay::Sizes, sizes: List::default(), ..Faults::default() }),
            "Sizes: there are none",
        ),
        (Step::new(faults), "Fault 2: it begins where it ends, so it does nothing"),
    ];
    for (step, text) in cases {
        editor.state_mut().edit(|project| project.recipe.stack = vec![step]);
        editor.run_steps(4);
        assert!(editor.query_by_label_contains(text).is_some(), "{text}");
    }
}

#[test]
fn arrow_keys_in_a_list_begin_at_the_chosen_item() {
    let mut editor = editor();
    pause(&mut editor);
    let smooth = Faults { count: 5, profile: Profile::Smooth, ..Faults::default() };
    editor.state_mut().edit(|project| project.recipe.stack = vec![Step::new(smooth)]);
    editor.run_steps(4);
    editor.get_by_role_and_label(Role::ComboBox, "Profile").focus();
    editor.run_steps(2);
    for key in [egui::Key::Enter, egui::Key::ArrowDown, egui::Key::Enter] {
        press(&mut editor, egui::Modifiers::NONE, key);
        editor.run_steps(3);
    }
    let AnyOperation::Faults(faults) = &editor.state().document.project().recipe.stack[0].operation else {
        panic!("faults")
    };
    let at = |profile: Profile| Profile::ALL.iter().position(|other| *other == profile);
    assert_eq!(at(faults.profile), at(Profile::Smooth).map(|at| at + 1));
    // Also if it was opened with the mouse, with nothing in focus.
    let chosen = faults.profile;
    editor.ctx.memory_mut(|memory| memory.stop_text_input());
    editor.get_by_role_and_label(Role::ComboBox, "Profile").click();
    editor.run_steps(3);
    for key in [egui::Key::ArrowDown, egui::Key::Enter] {
        press(&mut editor, egui::Modifiers::NONE, key);
        editor.run_steps(3);
    }
    let AnyOperation::Faults(faults) = &editor.state().document.project().recipe.stack[0].operation else {
        panic!("faults")
    };
    assert_eq!(at(faults.profile), at(chosen).map(|at| at + 1));
}

#[test]
fn a_new_step_for_shapes_has_none_and_its_tool_is_active() {
    let mut editor = editor();
    pause(&mut editor);
    let context = editor.ctx.clone();
    for (tool, key) in Tool::ALL.into_iter().filter_map(|tool| Some((tool, tool.operation()?))) {
        editor.state_mut().execute(&context, Command::AddStep(key));
        editor.run_steps(4);
        let app = editor.state();
        assert_eq!(app.ui.tools.active(), Some(tool));
        let added = &app.document.project().recipe.stack[app.ui.selection.step].operation;
        assert_eq!(added.key(), key);
        let values = group_values(added.group());
        let shapes = |value: &Value| if let Value::List(items) = value { Some(items.len()) } else { None };
        assert_eq!(values.iter().filter_map(|(_, value)| shapes(value)).collect::<Vec<_>>(), [0], "{key}");
        let text = format!("Nothing is drawn yet. Use \u{201c}{}\u{201d} (", tool.text());
        assert!(editor.query_by_label_contains(&text).is_some(), "{text}");
    }
    let mut painted = Step::new(Faults::default());
    painted.settings.mask = vec![Mask { source: MaskSource::Painted, ..Default::default() }].into();
    editor.state_mut().edit(|project| project.recipe.stack = vec![painted]);
    editor.run_steps(4);
    let text = "Nothing is painted in the mask yet. Use \u{201c}Paint a mask\u{201d} (Shift+B) on a view.";
    assert!(editor.query_by_label(text).is_some(), "{text}");
    editor.state_mut().edit(|project| project.recipe.stack[0].settings.mask[0].source = MaskSource::Pad);
    editor.run_steps(4);
    assert!(editor.query_by_label_contains("The mask is based on pads, but there are none yet. Use ").is_some());
}

#[test]
fn values_that_are_left_empty_say_what_that_means() {
    let mut editor = editor();
    pause(&mut editor);
    let cases = [
        (Clamp { high_m: None, ..Clamp::default() }.into(), "unlimited"),
        (FluvialErosion { sea_m: None, ..FluvialErosion::default() }.into(), "none"),
        (Levels::default().into(), "highest point"),
        (AnyOperation::from(Heightmap::default()), "automatic"),
    ];
    for (operation, text) in cases {
        let step = Step::new(operation.clone());
        editor.state_mut().edit(|project| project.recipe.stack = vec![step]);
        editor.run_steps(4);
        assert!(editor.query_all_by_role_and_label(Role::Label, text).count() > 0, "{}: {text}", operation.key());
    }
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

#[test]
fn a_mask_is_shared_renamed_and_used_elsewhere() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        let painted = Mask { source: MaskSource::Painted, ..Mask::default() };
        let mut step = Step::new(Noise::default());
        step.settings.mask = vec![painted].into();
        project.recipe.stack = vec![Step::new(Faults::default()), step];
    });
    editor.state_mut().ui.selection.step = 1;
    pause(&mut editor);
    editor.get_by_label("Name mask for reuse").click();
    editor.run_steps(3);
    let recipe = |editor: &Harness<'static, App>| editor.state().document.project().recipe.clone();
    assert_eq!(editor.state().document.undo_name(), Some("Name mask Noise"));
    assert_eq!(recipe(&editor).stack[1].settings.mask[0].name, "Noise");
    assert!(editor.state().ui.message.as_ref().is_some_and(|message| message.text.contains("Named mask")));
    // Typing replaces the name.
    type_text(&mut editor, "Bumps");
    editor.key_press(egui::Key::Enter);
    editor.run_steps(3);
    assert_eq!(recipe(&editor).stack[1].settings.mask[0].name, "Bumps");
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::Undo);
    editor.run_steps(3);
    assert!(editor.query_by_label("Name mask for reuse").is_none(), "it refers to the named mask now");
    // The brush goes on in the named mask.
    press(&mut editor, egui::Modifiers::SHIFT, egui::Key::B);
    editor.run_steps(3);
    editor.get_by_label("named mask");
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    editor.drag_at(middle);
    editor.run_steps(2);
    editor.drop_at(middle);
    editor.run_steps(3);
    let painted = recipe(&editor);
    assert_eq!((painted.masks["Noise"][0].strokes.len(), painted.stack[1].settings.mask.len()), (1, 1));
    // It is kept as long as the step uses it.
    let is_disabled =
        |editor: &Harness<'static, App>| editor.get_by_label("Remove mask Noise").accesskit_node().is_disabled();
    assert!(is_disabled(&editor));
    editor.state_mut().edit(|project| project.recipe.stack[1].settings.mask = List::default());
    editor.run_steps(3);
    assert!(!is_disabled(&editor));
    editor.get_by_label("Remove mask Noise").click();
    editor.run_steps(3);
    assert!(recipe(&editor).masks.is_empty());
    // Another step chooses it from a list.
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    editor.state_mut().edit(|project| {
        let named = Mask { source: MaskSource::Named, ..Mask::default() };
        project.recipe.stack[1].settings.mask = vec![named].into();
    });
    editor.state_mut().ui.parameters.reveal_item(vec![("mask", 0)]);
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::ComboBox, "Name").click();
    editor.run_steps(3);
    // The card of the step has the same name.
    let entries = editor.query_all_by_role_and_label(Role::Button, "Noise");
    entries.last().expect("an entry").click();
    editor.run_steps(3);
    assert_eq!(recipe(&editor).stack[1].settings.mask[0].name, "Noise");
    editor.state_mut().edit(|project| {
        project.recipe.stack[1].settings.mask = List::default();
        project.recipe.masks.clear();
    });
    editor.run_steps(3);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(recipe(&editor).masks, painted.masks);
}
