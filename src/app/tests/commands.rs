//! Commands, the palette, keys, context menus and narrow windows, driven as a user would.

use crate::app::App;
use crate::app::views::View;
use crate::project::ProjectFile;
use egui::accesskit::{Action, Role};
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::app::commands::stack_edits::add_step;
use crate::app::tests::{chosen, editor, editor_with, pause, position, press, wait};
use crate::engine::parameters::Value;
use crate::engine::{AnyOperation, Step};

fn typed(editor: &mut Harness<'static, App>, text: &str) {
    editor.event(egui::Event::Text(text.into()));
    editor.step();
    editor.step();
}

fn find(editor: &mut Harness<'static, App>, text: &str) {
    press(editor, Modifiers::COMMAND, Key::P);
    typed(editor, text);
    press(editor, Modifiers::NONE, Key::Enter);
    editor.step();
}

#[test]
fn the_palette_finds_commands_presets_steps_and_parameters_by_typing() {
    let mut editor = editor();
    pause(&mut editor);
    find(&mut editor, "volcanic island");
    assert_eq!(editor.state().document.project().name, "Volcanic island");
    pause(&mut editor);
    let steps = editor.state().document.project().recipe.stack.len();
    find(&mut editor, "thermal");
    assert_eq!(editor.state().document.project().recipe.stack.len(), steps + 1);
    find(&mut editor, "maximise heightmap");
    assert_eq!(editor.state().ui.layout.maximised, Some(View::Heightmap));
    press(&mut editor, Modifiers::COMMAND, Key::P);
    assert!(editor.query_by_label_contains("Undo Add Thermal erosion (Edit)").is_some());
    press(&mut editor, Modifiers::NONE, Key::Escape);
    assert!(editor.state().ui.modal.is_none());
}

#[test]
fn the_palette_closes_an_open_menu() {
    let mut editor = editor();
    pause(&mut editor);
    editor.get_by_role_and_label(Role::Button, "File").click();
    editor.run_steps(3);
    assert!(editor.query_by_label("Clear recent files").is_some() || editor.query_by_label("Recent").is_some());
    press(&mut editor, Modifiers::COMMAND, Key::P);
    editor.run_steps(2);
    assert!(editor.query_by_label("Recent").is_none() && !egui::Popup::is_any_open(&editor.ctx));
    typed(&mut editor, "maximise heightmap");
    press(&mut editor, Modifiers::NONE, Key::Enter);
    editor.step();
    assert_eq!(editor.state().ui.layout.maximised, Some(View::Heightmap));
}

#[test]
fn tab_goes_to_the_parameters_of_the_selected_step_first() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(AnyOperation::from_key("faults").expect("known"))];
    });
    pause(&mut editor);
    let focused = |editor: &Harness<'static, App>| {
        let id = editor.ctx.memory(|memory| memory.focused()).expect("a focus");
        editor.ctx.read_response(id).expect("drawn").rect.center().y
    };
    let row =
        |editor: &Harness<'static, App>, label: &str| editor.get_all_by_label(label).next().expect("a row").rect();
    press(&mut editor, Modifiers::NONE, Key::Tab);
    assert!(row(&editor, "Count").y_range().expand(6.0).contains(focused(&editor)));
    press(&mut editor, Modifiers::NONE, Key::Tab);
    assert!(row(&editor, "Line placement").y_range().expand(6.0).contains(focused(&editor)));
}

#[test]
fn a_parameter_is_found_and_typed_without_the_mouse() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(AnyOperation::from_key("faults").expect("known"))];
    });
    pause(&mut editor);
    find(&mut editor, "faults count");
    assert_eq!(editor.state().ui.selection.step, 0);
    press(&mut editor, Modifiers::COMMAND, Key::A);
    typed(&mut editor, "77");
    press(&mut editor, Modifiers::NONE, Key::Enter);
    assert_eq!(editor.state().document.project().recipe.iterations(), 77);
}

#[test]
fn invalid_numbers_are_reported_and_unchanged_fields_keep_their_precision() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        let mut step = Step::new(AnyOperation::from_key("faults").expect("known"));
        step.operation.group_mut().set("displacement_m", &12.3456.into()).expect("a displacement");
        project.recipe.stack = vec![step];
    });
    pause(&mut editor);
    let mut type_into = |name: &str, text: Option<&str>| {
        find(&mut editor, name);
        if let Some(text) = text {
            press(&mut editor, Modifiers::COMMAND, Key::A);
            typed(&mut editor, text);
        }
        press(&mut editor, Modifiers::NONE, Key::Enter);
        editor.run_steps(2);
        let message = editor.state().ui.message.as_ref().map(|message| message.text.clone());
        let faults = editor.state().document.project().recipe.stack[0].operation.group();
        (faults.get("count"), faults.get("displacement_m"), message)
    };
    let displacement = Some(Value::Number(12.3456));
    let limits = "Count must be from 0 to 1000000";
    let (count, _, message) = type_into("faults count", Some("5e9"));
    assert_eq!((count, message.as_deref()), (Some(Value::Integer(1000)), Some(limits)), "the old value stays");
    let (count, _, message) = type_into("faults count", Some("many"));
    let complaint = format!("\u{201c}many\u{201d} is not a number; {limits}");
    assert_eq!((count, message), (Some(Value::Integer(1000)), Some(complaint)));
    // A valid number removes the message.
    let (count, _, message) = type_into("faults count", Some("2,000"));
    assert_eq!((count, message), (Some(Value::Integer(2000)), None));
    // The field shows fewer digits than the value has. Leaving it unchanged keeps them all.
    assert_eq!(type_into("faults displacement", None), (Some(Value::Integer(2000)), displacement, None));
}

#[test]
fn letters_that_are_typed_at_an_open_list_are_no_shortcuts() {
    let mut editor = editor();
    pause(&mut editor);
    let seed = editor.state().document.project().recipe.seed;
    editor.get_by_label("Terrain").click();
    editor.run_steps(3);
    press(&mut editor, Modifiers::NONE, Key::N);
    assert_eq!(editor.state().document.project().recipe.seed, seed);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(3);
    press(&mut editor, Modifiers::NONE, Key::N);
    assert_ne!(editor.state().document.project().recipe.seed, seed, "the list is closed");
}

#[test]
fn searching_for_the_sea_finds_the_water_level() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::COMMAND, Key::P);
    typed(&mut editor, "sea level");
    assert!(editor.query_by_label_contains("Water level (View)").is_some());
    press(&mut editor, Modifiers::NONE, Key::Escape);
    find(&mut editor, "water level view");
    assert!(editor.state().document.project().water.water_m.is_some(), "there is some to be typed");
}

#[test]
fn the_text_of_a_message_can_be_copied() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().show_error("No program to show folders was found; the folder is /land");
    editor.state_mut().offer("Copy the path", "/land".into());
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Copy the path").click_accesskit();
    editor.step();
    let commands = &editor.output().platform_output.commands;
    let is_copied =
        |command: &egui::OutputCommand| matches!(command, egui::OutputCommand::CopyText(text) if text == "/land");
    assert!(commands.iter().any(is_copied), "{commands:?}");
    assert!(editor.state().ui.message.as_ref().is_some_and(|message| message.text == "Copied" && !message.is_error));
}

#[test]
fn saving_while_a_name_is_typed_saves_what_was_typed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("named.upthrust.json");
    let mut editor = editor_with(vec![chosen(path.clone())]);
    pause(&mut editor);
    let step = 0;
    let before = editor.state().document.project().recipe.stack[step].title().to_string();
    editor.get_by_role_and_label(Role::Button, &before).click_secondary();
    editor.step();
    editor.step();
    editor.get_by_label("Rename").click();
    editor.step();
    editor.step();
    assert!(editor.ctx.text_edit_focused());
    press(&mut editor, Modifiers::COMMAND, Key::A);
    typed(&mut editor, "Backbone n");
    assert_eq!(editor.state().document.project().recipe.stack[step].title(), before, "letters are no commands");
    press(&mut editor, Modifiers::COMMAND, Key::S);
    wait(&mut editor, "the file", |app| !app.document.is_dirty() && app.document.path().is_some());
    let saved = ProjectFile::open(&path).expect("a project").project;
    assert_eq!(saved.recipe.stack[step].title(), "Backbone n");
}

#[test]
fn a_focused_control_handles_its_own_keys_only() {
    let mut editor = editor();
    pause(&mut editor);
    editor.get_by_label("Loop").focus();
    editor.step();
    press(&mut editor, Modifiers::NONE, Key::Space);
    assert!(editor.state().ui.playback.loops() && !editor.state().ui.playback.is_playing(), "Space presses the button");
    press(&mut editor, Modifiers::NONE, Key::Num2);
    assert_eq!(editor.state().ui.layout.maximised, Some(View::Texture), "the other keys work");
}

#[test]
fn a_card_has_a_context_menu() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        add_step(&mut project.recipe, Step::new(AnyOperation::from_key("terrace").expect("known")));
    });
    pause(&mut editor);
    let stack = |editor: &Harness<'static, App>| -> Vec<String> {
        editor.state().document.project().recipe.stack.iter().map(|step| step.title().to_string()).collect()
    };
    let before = stack(&editor);
    let last = before.len() - 1;
    let menu = |editor: &mut Harness<'static, App>, card: &str, item: &str| {
        editor.get_by_role_and_label(Role::Button, card).click_secondary();
        editor.step();
        editor.step();
        editor.get_by_label(item).click();
        editor.step();
        editor.step();
    };
    menu(&mut editor, &before[last], "Move down");
    assert_eq!(stack(&editor)[last - 1], before[last]);
    menu(&mut editor, &before[last], "Move up");
    assert_eq!(stack(&editor), before);
    menu(&mut editor, &before[0], "Move the playhead to the end of this step");
    let first = editor.state().document.project().recipe.timeline().steps()[0];
    assert_eq!(editor.state().ui.playback.position(editor.state().total()), first);
    menu(&mut editor, &before[0], "Delete");
    assert_eq!(stack(&editor), before[1..]);
}

#[test]
fn every_control_that_takes_the_focus_has_a_name_whatever_step_is_selected() {
    let mut editor = editor();
    editor.set_size(egui::Vec2::new(1280.0, 2400.0));
    let mut nameless = Vec::new();
    for operation in AnyOperation::all() {
        let key = operation.key();
        editor.state_mut().edit(|project| project.recipe.stack = vec![Step::new(operation)]);
        editor.state_mut().ui.playback.pause();
        editor.step();
        editor.step();
        for node in editor.root().children_recursive() {
            let node = node.accesskit_node();
            let takes_focus = node.data().supports_action(Action::Focus);
            let is_named = node.label().is_some_and(|name| !name.trim().is_empty());
            // egui_tiles gives its splitters and tab bars no names.
            let place = node.data().bounds().unwrap_or_default();
            let is_line = place.width().min(place.height()) < 7.0;
            let is_bar = node.role() == Role::Unknown && place.height() == 24.0 && place.width() > 300.0;
            if takes_focus && !is_named && !is_line && !is_bar {
                nameless.push(format!("{key}: {:?} at {:?}", node.role(), node.data().bounds()));
            }
        }
    }
    assert!(nameless.is_empty(), "{nameless:#?}");
}

#[test]
fn arrow_keys_move_the_sun_and_the_views() {
    let mut editor = editor();
    pause(&mut editor);
    let light = |editor: &Harness<'static, App>| editor.state().document.project().recipe.light.clone();
    let before = light(&editor);
    editor.get_by_label("Compass of the sun").focus();
    editor.step();
    press(&mut editor, Modifiers::NONE, Key::ArrowRight);
    press(&mut editor, Modifiers::NONE, Key::ArrowUp);
    let after = light(&editor);
    assert_eq!(after.azimuth_deg, (before.azimuth_deg + 5.0).rem_euclid(360.0));
    assert_eq!(after.altitude_deg, before.altitude_deg + 5.0);
    editor.get_by_label("Heightmap of the terrain").focus();
    editor.step();
    press(&mut editor, Modifiers::NONE, Key::Plus);
    assert!(editor.state().ui.maps.viewport.zoom > 1.2);
    press(&mut editor, Modifiers::NONE, Key::ArrowRight);
    assert!(editor.state().ui.maps.viewport.centre.x > 0.5);
    // Keys that the view does not use still work.
    press(&mut editor, Modifiers::NONE, Key::F);
    assert_eq!(editor.state().ui.maps.viewport.zoom, 1.0);
}

#[test]
fn a_key_in_the_frame_after_a_command_was_chosen_is_a_shortcut() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::COMMAND, Key::P);
    editor.event(egui::Event::Text("frame terrain".into()));
    editor.run_steps(2);
    let event = |key: Key| egui::Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    editor.event(event(Key::Enter));
    editor.event(event(Key::Home));
    editor.step();
    editor.step();
    assert_eq!(position(&editor), 0);
}

#[test]
fn escape_restores_the_number_that_was_edited() {
    let mut editor = editor();
    pause(&mut editor);
    let count = |editor: &Harness<'static, App>| match &editor.state().document.project().recipe.stack.last() {
        Some(step) => step.operation.group().get("count"),
        None => panic!("a step"),
    };
    let before = count(&editor);
    press(&mut editor, Modifiers::NONE, Key::L);
    let field = editor.get_all_by_label("Count").find(|node| node.accesskit_node().role() == Role::SpinButton);
    field.expect("a field").focus();
    editor.run_steps(2);
    press(&mut editor, Modifiers::COMMAND, Key::A);
    editor.event(egui::Event::Text("77".into()));
    editor.run_steps(2);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(4);
    assert_eq!(count(&editor), before);
    // The tool is not meant.
    assert!(editor.state().ui.tools.active().is_some());
    press(&mut editor, Modifiers::NONE, Key::Escape);
    assert!(editor.state().ui.tools.active().is_none());
}

#[test]
fn a_narrow_window_shows_one_side_panel_at_a_time_and_nothing_is_cut_off() {
    let mut editor = editor();
    pause(&mut editor);
    editor.set_size(egui::Vec2::new(640.0, 360.0));
    editor.step();
    editor.step();
    let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::Vec2::new(640.0, 360.0));
    let seen = |editor: &Harness<'static, App>| editor.state().visible_panels(&editor.ctx);
    assert_eq!(seen(&editor), [true, false]);
    for label in ["Timeline", "Seed", "Heightmap of the terrain", "The terrain in 3-D"] {
        let rect = editor.get_by_label(label).rect();
        assert!(window.contains_rect(rect) && rect.width() > 40.0, "{label}: {rect:?}");
    }
    press(&mut editor, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::B);
    assert_eq!(seen(&editor), [false, true]);
    press(&mut editor, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::B);
    assert_eq!(seen(&editor), [false, false]);
    editor.set_size(egui::Vec2::new(1280.0, 800.0));
    editor.step();
    assert_eq!(seen(&editor), [true, false]);
    editor.get_by_label_contains("Right panel").click();
    editor.step();
    editor.step();
    assert_eq!(seen(&editor), [true, true]);
}
