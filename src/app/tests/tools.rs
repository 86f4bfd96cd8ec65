//! Tools that shape the terrain on the views.

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};

use crate::app::App;
use crate::app::dialogs::modal::Modal;
use crate::app::event_order::EventOrder;
use crate::app::state::CardList;
use crate::app::tests::autosave::close;
use crate::app::tests::{editor, editor_with_size, pause, press};
use crate::engine::level::{Marker, MarkerKind};
use crate::engine::mask::MaskSource;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::pads::Pads;
use crate::engine::operations::paths::{PathKind, Paths};
use crate::engine::operations::sculpt::{Mode, Sculpt, Stroke};
use crate::engine::operations::stamps::{Stamp, Stamps};

/// An idle editor with the brush active, and the middle of a pane.
fn editor_with_brush() -> (Harness<'static, App>, egui::Pos2) {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::B);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    (editor, middle)
}

/// The strokes of the topmost step.
fn strokes(editor: &Harness<'static, App>) -> Vec<Stroke> {
    match &editor.state().document.project().recipe.stack.last().expect("a step").operation {
        AnyOperation::Sculpt(Sculpt { strokes }) => strokes.to_vec(),
        _ => Vec::new(),
    }
}

fn entries(editor: &Harness<'static, App>) -> usize {
    editor.state().document.history().0.len()
}

/// Presses the button on a view and drags to places relative to it, without releasing it.
fn drag(editor: &mut Harness<'static, App>, from: egui::Pos2, offsets: &[[f32; 2]]) {
    editor.hover_at(from);
    editor.run_steps(2);
    editor.drag_at(from);
    editor.run_steps(2);
    for [x, y] in offsets {
        editor.hover_at(from + egui::vec2(*x, *y));
        editor.run_steps(2);
    }
}

fn draw(editor: &mut Harness<'static, App>, from: egui::Pos2, offsets: &[[f32; 2]]) {
    drag(editor, from, offsets);
    let [x, y] = offsets.last().copied().unwrap_or_default();
    editor.drop_at(from + egui::vec2(x, y));
    editor.run_steps(3);
}

#[test]
fn a_click_and_a_drag_add_strokes_each_as_one_undo_entry() {
    let (mut editor, middle) = editor_with_brush();
    let (before, steps) = (entries(&editor), editor.state().document.project().recipe.stack.len());
    draw(&mut editor, middle, &[]);
    let dab = strokes(&editor);
    assert!(dab.len() == 1 && dab[0].points_m.len() == 1 && dab[0].mode == Mode::Raise, "{dab:?}");
    assert_eq!(editor.state().document.project().recipe.stack.len(), steps + 1, "a step on top");
    assert_eq!(entries(&editor), before + 1);
    draw(&mut editor, middle, &[[20.0, 0.0], [40.0, 10.0], [40.0, 40.0]]);
    let both = strokes(&editor);
    assert!(both.len() == 2 && both[0] == dab[0] && both[1].points_m.len() > 2, "{both:?}");
    assert_eq!((entries(&editor), editor.state().document.project().recipe.stack.len()), (before + 2, steps + 1));
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(strokes(&editor), dab);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(editor.state().document.project().recipe.stack.len(), steps);
}

#[test]
fn spawns_are_placed_moved_mirrored_and_removed() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::M);
    editor.get_by_role_and_label(Role::ComboBox, "Mirror edits").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Rotate by 180°").click();
    editor.run_steps(3);
    let before = entries(&editor);
    let pane = editor.get_by_label("Heightmap of the terrain").rect().center();
    draw(&mut editor, pane + egui::vec2(-40.0, 10.0), &[]);
    let markers = |editor: &Harness<'static, App>| editor.state().document.project().level.markers.to_vec();
    let put = markers(&editor);
    let names: Vec<[&str; 2]> = put.iter().map(|marker| [marker.name.as_str(), marker.team.as_str()]).collect();
    assert_eq!(names, [["Spawn 1", "A"], ["Spawn 2", "B"]]);
    let extent = editor.state().document.project().recipe.world.extent();
    let is_image = |markers: &[Marker]| {
        let [a, b] = [markers[0].at_m, markers[1].at_m];
        (a.x_m + b.x_m - extent.width_m).abs() < 0.01 && (a.z_m + b.z_m - extent.depth_m).abs() < 0.01
    };
    assert!(is_image(&put) && entries(&editor) == before + 1, "{put:?}");
    // A drag moves both; the terrain stays.
    draw(&mut editor, pane + egui::vec2(-40.0, 10.0), &[[-10.0, 20.0], [-20.0, 30.0]]);
    let moved = markers(&editor);
    assert!(moved[0].at_m != put[0].at_m && is_image(&moved) && entries(&editor) == before + 2, "{moved:?}");
    assert_eq!(editor.state().document.undo_name(), Some("Spawn 1: Position"));
    // Its name is typed; that of the image stays.
    editor.get_by_label("Marker: Name").click();
    editor.run_steps(2);
    press(&mut editor, Modifiers::COMMAND, Key::A);
    editor.event(Event::Text("Red base".into()));
    editor.run_steps(2);
    press(&mut editor, Modifiers::NONE, Key::Enter);
    let names =
        |editor: &Harness<'static, App>| markers(editor).into_iter().map(|marker| marker.name).collect::<Vec<_>>();
    assert_eq!((names(&editor), entries(&editor)), (vec!["Red base".into(), "Spawn 2".to_string()], before + 3));
    // A click into another field does not lose the name, nor what that field is for.
    editor.get_by_label("Marker: Name").click();
    editor.run_steps(2);
    press(&mut editor, Modifiers::COMMAND, Key::A);
    editor.event(Event::Text("Red base 1".into()));
    editor.run_steps(2);
    editor.get_by_label("Marker: Team").click();
    editor.run_steps(3);
    assert_eq!(names(&editor), ["Red base 1", "Spawn 2"]);
    // An empty name is ignored.
    editor.get_by_label("Marker: Name").click();
    editor.run_steps(2);
    press(&mut editor, Modifiers::COMMAND, Key::A);
    press(&mut editor, Modifiers::NONE, Key::Delete);
    press(&mut editor, Modifiers::NONE, Key::Enter);
    assert_eq!(names(&editor), ["Red base 1", "Spawn 2"]);
    press(&mut editor, Modifiers::NONE, Key::Delete);
    editor.run_steps(2);
    assert!(markers(&editor).is_empty());
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(markers(&editor).len(), 2);
    // The kind in the tool bar is that of the next one, which lies in the middle if it is placed beside it.
    editor.get_by_role_and_label(Role::Button, "Objective").click();
    editor.run_steps(3);
    draw(&mut editor, pane + egui::vec2(2.0, -3.0), &[]);
    let kinds: Vec<MarkerKind> = markers(&editor).iter().map(|marker| marker.kind).collect();
    assert_eq!(kinds, [MarkerKind::Spawn, MarkerKind::Spawn, MarkerKind::Objective]);
    let at = markers(&editor)[2].at_m;
    assert!((at.x_m - 0.5 * extent.width_m).abs() < 0.01 && (at.z_m - 0.5 * extent.depth_m).abs() < 0.01, "{at:?}");
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    // Beside the map there is nothing to mark.
    let beside = editor.get_by_label("Heightmap of the terrain").rect().left_center() + egui::vec2(3.0, 0.0);
    draw(&mut editor, beside, &[]);
    assert_eq!(markers(&editor).len(), 2);
    // Escape takes back a drag.
    drag(&mut editor, pane + egui::vec2(-60.0, 40.0), &[[5.0, 5.0], [50.0, 5.0]]);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.drop_at(pane);
    editor.run_steps(3);
    assert_eq!(markers(&editor)[0].at_m, moved[0].at_m);
}

#[test]
fn a_name_that_is_being_typed_counts_when_the_window_closes() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::M);
    let pane = editor.get_by_label("Heightmap of the terrain").rect().center();
    draw(&mut editor, pane, &[]);
    editor.get_by_label("Marker: Name").click();
    editor.run_steps(2);
    press(&mut editor, Modifiers::COMMAND, Key::A);
    editor.event(Event::Text("Gate".into()));
    editor.run_steps(2);
    close(&mut editor);
    assert_eq!(editor.state().document.project().level.markers[0].name, "Gate");
    assert!(matches!(editor.state().ui.modal, Some(Modal::SaveFirst(_))));
    // A field that asks for the focus in every frame, as the search does, does not keep the window open.
    let mut editor = super::editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::COMMAND, Key::P);
    editor.run_steps(3);
    assert!(editor.ctx.memory(|memory| memory.focused()).is_some(), "the search has the focus");
    let closes = |editor: &Harness<'static, App>| {
        let commands = editor.output().viewport_output.values().flat_map(|output| output.commands.clone());
        commands.into_iter().any(|command| command == egui::ViewportCommand::Close)
    };
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.push(egui::ViewportEvent::Close);
    editor.step();
    assert!(!closes(&editor), "the field is left first");
    editor.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default().events.clear();
    editor.step();
    assert!(closes(&editor));
}

#[test]
fn the_pressure_of_a_pen_is_kept_at_the_points_of_its_stroke() {
    let (mut editor, middle) = editor_with_brush();
    let touch = |phase, at, force| Event::Touch {
        device_id: egui::TouchDeviceId(0),
        id: egui::TouchId(1),
        phase,
        pos: at,
        force: Some(force),
    };
    editor.event(touch(egui::TouchPhase::Start, middle, 0.25));
    editor.drag_at(middle);
    editor.run_steps(2);
    let end = middle + egui::vec2(60.0, 0.0);
    editor.event(touch(egui::TouchPhase::Move, end, 0.75));
    editor.hover_at(end);
    editor.run_steps(2);
    editor.drop_at(end);
    editor.run_steps(3);
    let drawn = strokes(&editor);
    let pressure = drawn[0].pressure.as_ref().expect("a pressure").to_vec();
    assert_eq!((pressure.first(), pressure.last()), (Some(&0.25), Some(&0.75)), "{drawn:?}");
    assert_eq!(pressure.len(), drawn[0].points_m.len());
    // The mouse has none.
    draw(&mut editor, middle, &[[20.0, 10.0]]);
    assert_eq!(strokes(&editor)[1].pressure, None);
}

#[test]
fn what_is_drawn_moved_and_undone_is_mirrored() {
    let (mut editor, middle) = editor_with_brush();
    editor.get_by_role_and_label(Role::ComboBox, "Mirror edits").click();
    editor.run_steps(3);
    editor.get_by_label("Mirror both ways").click();
    editor.run_steps(3);
    let before = entries(&editor);
    draw(&mut editor, middle + egui::vec2(-50.0, -30.0), &[[10.0, 0.0], [20.0, 10.0]]);
    assert_eq!((strokes(&editor).len(), entries(&editor)), (4, before + 1));
    let world = editor.state().document.project().recipe.world.clone();
    let starts: Vec<_> = strokes(&editor).iter().map(|stroke| stroke.points_m[0]).collect();
    assert!((starts[0].x_m + starts[1].x_m - world.width_m).abs() < 1e-6 && starts[0].z_m == starts[1].z_m);
    assert!((starts[0].z_m + starts[2].z_m - world.depth_m).abs() < 1e-6 && starts[0].x_m == starts[2].x_m);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert!(strokes(&editor).is_empty());
    // Cancelled with its images.
    drag(&mut editor, middle + egui::vec2(-50.0, -30.0), &[[10.0, 0.0]]);
    assert_eq!(strokes(&editor).len(), 4);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.drop_at(middle);
    editor.run_steps(2);
    assert!(strokes(&editor).is_empty());
    // A pad and its images move together.
    press(&mut editor, Modifiers::NONE, Key::K);
    let centres = |editor: &Harness<'static, App>| match top(editor) {
        AnyOperation::Pads(Pads { pads }) => pads.iter().map(|pad| pad.centre_m).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    draw(&mut editor, middle + egui::vec2(20.0, 20.0), &[[20.0, 10.0], [30.0, 20.0]]);
    let drawn = centres(&editor);
    draw(&mut editor, middle + egui::vec2(35.0, 30.0), &[[10.0, 0.0], [20.0, 0.0]]);
    let moved = centres(&editor);
    assert_eq!((drawn.len(), moved.len()), (4, 4));
    let by_m: Vec<f64> = drawn.iter().zip(&moved).map(|(from, to)| to.x_m - from.x_m).collect();
    assert!(by_m[0] > 1.0, "{by_m:?}");
    let follows = by_m.iter().zip([1.0, -1.0, 1.0, -1.0]).all(|(by, sign)| (by - sign * by_m[0]).abs() < 1e-6);
    assert!(follows, "{by_m:?}");
    press(&mut editor, Modifiers::NONE, Key::Delete);
    assert!(centres(&editor).is_empty());
}

#[test]
fn a_stroke_raises_the_terrain_where_it_was_drawn() {
    let (mut editor, middle) = editor_with_brush();
    let terrain =
        |editor: &Harness<'static, App>| editor.state().ui.preview.shown.as_ref().expect("a preview").terrain.clone();
    let before = terrain(&editor);
    draw(&mut editor, middle, &[]);
    pause(&mut editor);
    let (after, stroke) = (terrain(&editor), &strokes(&editor)[0]);
    let at = stroke.points_m[0];
    let rise = |x_m: f64, z_m: f64| after.height_at(x_m, z_m) - before.height_at(x_m, z_m);
    assert!((f64::from(rise(at.x_m, at.z_m)) - stroke.strength_m).abs() < 0.05 * stroke.strength_m);
    assert_eq!(rise(at.x_m + 2.0 * stroke.radius_m, at.z_m), 0.0);
}

#[test]
fn escape_cancels_a_stroke_and_then_deactivates_the_brush() {
    let (mut editor, middle) = editor_with_brush();
    let (before, entries_before) = (editor.state().document.project().recipe.clone(), entries(&editor));
    drag(&mut editor, middle, &[[15.0, 0.0], [30.0, 0.0]]);
    assert_eq!(strokes(&editor).len(), 1);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.hover_at(middle + egui::vec2(50.0, 0.0));
    editor.run_steps(2);
    editor.drop_at(middle + egui::vec2(50.0, 0.0));
    editor.run_steps(2);
    assert_eq!((&editor.state().document.project().recipe, entries(&editor)), (&before, entries_before));
    assert!(editor.state().ui.tools.active().is_some());
    press(&mut editor, Modifiers::NONE, Key::Escape);
    assert!(editor.state().ui.tools.active().is_none());
}

/// A click with modifier keys.
fn dab(editor: &mut Harness<'static, App>, at: egui::Pos2, modifiers: Modifiers) {
    editor.hover_at(at);
    editor.run_steps(2);
    for pressed in [true, false] {
        let button = Event::PointerButton { pos: at, button: PointerButton::Primary, pressed, modifiers };
        editor.event_modifiers(button, modifiers);
        editor.run_steps(2);
    }
}

#[test]
fn undo_during_a_stroke_leaves_earlier_strokes_alone() {
    let (mut editor, middle) = editor_with_brush();
    draw(&mut editor, middle, &[]);
    let first = strokes(&editor);
    drag(&mut editor, middle, &[[15.0, 0.0], [30.0, 0.0]]);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    editor.hover_at(middle + egui::vec2(60.0, 20.0));
    editor.run_steps(2);
    editor.drop_at(middle + egui::vec2(60.0, 20.0));
    editor.run_steps(3);
    assert_eq!(strokes(&editor).first(), first.first());
}

#[test]
fn modifiers_and_brackets_change_the_brush() {
    let (mut editor, middle) = editor_with_brush();
    draw(&mut editor, middle, &[]);
    press(&mut editor, Modifiers::NONE, Key::CloseBracket);
    draw(&mut editor, middle, &[]);
    let found = strokes(&editor);
    assert!((found[1].radius_m / found[0].radius_m - 1.2).abs() < 0.05, "{found:?}");
    for (modifiers, mode) in [(Modifiers::SHIFT, Mode::Smooth), (Modifiers::COMMAND, Mode::Lower)] {
        dab(&mut editor, middle, modifiers);
        assert_eq!(strokes(&editor).last().map(|stroke| stroke.mode), Some(mode));
    }
}

fn top(editor: &Harness<'static, App>) -> AnyOperation {
    editor.state().document.project().recipe.stack.last().expect("a step").operation.clone()
}

#[test]
fn the_mask_brush_paints_and_erases_the_mask_of_the_selected_step() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::SHIFT, Key::B);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    let step = editor.state().ui.selection.step;
    let steps = editor.state().document.project().recipe.stack.len();
    draw(&mut editor, middle, &[[20.0, 0.0], [40.0, 20.0]]);
    let mask =
        |editor: &Harness<'static, App>| editor.state().document.project().recipe.stack[step].settings.mask.clone();
    let painted = mask(&editor);
    assert!(painted.len() == 1 && painted[0].source == MaskSource::Painted && painted[0].strokes.len() == 1);
    assert_eq!(editor.state().document.project().recipe.stack.len(), steps);
    dab(&mut editor, middle, Modifiers::COMMAND);
    let erased = mask(&editor)[0].strokes.clone();
    assert!(erased.len() == 2 && !erased[0].erase && erased[1].erase, "{erased:?}");
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert!(editor.state().document.project().recipe.stack[step].settings.mask.is_empty());
}

#[test]
fn the_mask_brush_paints_the_terrain_type_that_was_selected_after_the_step() {
    let mut editor = editor();
    pause(&mut editor);
    let types = editor.state().document.project().recipe.texture.types.clone();
    let ui = &mut editor.state_mut().ui;
    (ui.texture_panel.selected, ui.selection.last) = (Some(1), CardList::Types);
    press(&mut editor, Modifiers::SHIFT, Key::B);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    dab(&mut editor, middle, Modifiers::NONE);
    let recipe = &editor.state().document.project().recipe;
    assert!(recipe.stack.iter().all(|step| step.settings.mask.is_empty()));
    let painted: Vec<usize> = recipe.texture.types.iter().map(|found| found.mask.len()).collect();
    assert_eq!(painted, (0..=types.len()).map(|i| usize::from(i == 2)).collect::<Vec<_>>(), "a type is added");
    assert_eq!(editor.state().ui.texture_panel.selected, Some(2));
    dab(&mut editor, middle + egui::vec2(20.0, 0.0), Modifiers::NONE);
    let recipe = &editor.state().document.project().recipe;
    assert_eq!((recipe.texture.types.len(), recipe.texture.types[2].mask[0].strokes.len()), (types.len() + 1, 2));
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert!(editor.state().document.project().recipe.texture.types == types);
}

#[test]
fn clicks_draw_a_path_whose_nodes_can_be_moved_and_removed() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::J);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    let nodes = |editor: &Harness<'static, App>| match top(editor) {
        AnyOperation::Paths(Paths { paths }) => paths.first().map_or(Vec::new(), |path| path.nodes.to_vec()),
        _ => Vec::new(),
    };
    for offset in [[-60.0, 0.0], [0.0, 40.0], [60.0, 0.0]] {
        draw(&mut editor, middle + egui::vec2(offset[0], offset[1]), &[]);
    }
    let drawn = nodes(&editor);
    assert_eq!(drawn.len(), 3);
    press(&mut editor, Modifiers::NONE, Key::Enter);
    editor.run_steps(20);
    let fold =
        |editor: &Harness<'static, App>, node: usize| editor.query_by_label(&format!("Fold Node {node}")).is_some();
    assert!(fold(&editor, 3) && !fold(&editor, 2), "the panel follows the selected node");
    draw(&mut editor, middle + egui::vec2(0.0, 40.0), &[[0.0, -10.0], [0.0, -30.0]]);
    editor.run_steps(20);
    assert!(fold(&editor, 2), "the panel follows the selected node");
    let moved = nodes(&editor);
    assert!(moved[0] == drawn[0] && moved[1].at_m.z_m < drawn[1].at_m.z_m && moved[2] == drawn[2], "{moved:?}");
    press(&mut editor, Modifiers::NONE, Key::Delete);
    assert_eq!(nodes(&editor).len(), 2);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(nodes(&editor), drawn);
    // A drag that a slow frame receives as a whole.
    let from = middle + egui::vec2(60.0, 0.0);
    let to = from + egui::vec2(0.0, -30.0);
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let mut events = vec![Event::PointerMoved(from), button(from, true), Event::PointerMoved(to), button(to, false)];
    let mut order = EventOrder::default();
    loop {
        let is_left = order.limit(&mut events);
        editor.input_mut().events.append(&mut events);
        editor.step();
        if !is_left {
            break;
        }
    }
    editor.run_steps(2);
    let moved = nodes(&editor);
    assert!(moved[..2] == drawn[..2] && moved[2].at_m.z_m < drawn[2].at_m.z_m, "{moved:?}");
}

#[test]
fn a_drag_draws_a_pad_and_another_moves_it() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::K);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    let pads = |editor: &Harness<'static, App>| match top(editor) {
        AnyOperation::Pads(Pads { pads }) => pads.to_vec(),
        _ => Vec::new(),
    };
    let before = entries(&editor);
    draw(&mut editor, middle, &[[20.0, 10.0], [60.0, 40.0]]);
    let drawn = pads(&editor);
    assert!(drawn.len() == 1 && drawn[0].size_m.x_m > drawn[0].size_m.z_m, "{drawn:?}");
    assert_eq!(entries(&editor), before + 1);
    draw(&mut editor, middle + egui::vec2(30.0, 20.0), &[[-20.0, 0.0], [-50.0, 0.0]]);
    let moved = pads(&editor);
    assert!(moved.len() == 1 && moved[0].size_m == drawn[0].size_m, "{moved:?}");
    assert!(moved[0].centre_m.x_m < drawn[0].centre_m.x_m - 10.0);
    press(&mut editor, Modifiers::NONE, Key::Delete);
    assert!(pads(&editor).is_empty());
}

/// An idle editor with the stamp tool active, and the middle of a pane.
fn editor_with_stamps() -> (Harness<'static, App>, egui::Pos2) {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::U);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    (editor, middle)
}

/// The stamps of the topmost step.
fn stamps(editor: &Harness<'static, App>) -> Vec<Stamp> {
    if let AnyOperation::Stamps(Stamps { stamps }) = top(editor) { stamps.to_vec() } else { Vec::new() }
}

#[test]
fn a_click_places_a_stamp_that_can_be_moved_resized_and_removed() {
    let (mut editor, middle) = editor_with_stamps();
    let (before, steps) = (entries(&editor), editor.state().document.project().recipe.stack.len());
    draw(&mut editor, middle, &[]);
    let placed = stamps(&editor);
    assert!(placed.len() == 1 && placed[0].size_m == Stamp::default().size_m, "{placed:?}");
    assert_eq!(editor.state().document.project().recipe.stack.len(), steps + 1, "a step on top");
    assert_eq!(entries(&editor), before + 1);
    draw(&mut editor, middle, &[[-20.0, 0.0], [-40.0, 10.0]]);
    let moved = stamps(&editor);
    assert!(moved.len() == 1 && moved[0].size_m == placed[0].size_m, "{moved:?}");
    assert!(moved[0].centre_m.x_m < placed[0].centre_m.x_m - 10.0, "{moved:?}");
    assert!(moved[0].centre_m.z_m > placed[0].centre_m.z_m, "{moved:?}");
    assert_eq!(entries(&editor), before + 2);
    press(&mut editor, Modifiers::NONE, Key::Delete);
    assert!(stamps(&editor).is_empty());
    press(&mut editor, Modifiers::COMMAND, Key::Z);
    assert_eq!(stamps(&editor), moved);
}

#[test]
fn escape_takes_back_a_stamp_that_is_being_placed() {
    let (mut editor, middle) = editor_with_stamps();
    let (before, entries_before) = (editor.state().document.project().recipe.clone(), entries(&editor));
    drag(&mut editor, middle, &[[15.0, 0.0], [30.0, 0.0]]);
    assert_eq!(stamps(&editor).len(), 1);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.drop_at(middle + egui::vec2(30.0, 0.0));
    editor.run_steps(2);
    assert_eq!((&editor.state().document.project().recipe, entries(&editor)), (&before, entries_before));
}

#[test]
fn tools_and_drags_do_not_move_the_maps() {
    let map = |editor: &Harness<'static, App>| editor.get_by_label("Heightmap of the terrain").rect();
    let mut editor = editor_with_size([1280.0, 800.0], Vec::new());
    pause(&mut editor);
    let without_tool = map(&editor);
    for key in [Key::B, Key::L, Key::J] {
        press(&mut editor, Modifiers::NONE, key);
        editor.run_steps(3);
        assert_eq!(map(&editor), without_tool, "{key:?}");
    }
    let mut editor = editor_with_size([1000.0, 700.0], Vec::new());
    pause(&mut editor);
    let without_tool = map(&editor);
    // The parameters of a selected path take two rows in a window of this width.
    press(&mut editor, Modifiers::NONE, Key::J);
    let middle = without_tool.center();
    for offset in [[-60.0, 0.0], [0.0, 40.0], [60.0, 0.0]] {
        draw(&mut editor, middle + egui::vec2(offset[0], offset[1]), &[]);
    }
    press(&mut editor, Modifiers::NONE, Key::Enter);
    editor.run_steps(20);
    let AnyOperation::Paths(Paths { paths }) = top(&editor) else { panic!("no path") };
    assert_eq!(paths[0].nodes.len(), 3);
    let before = map(&editor);
    assert!(before.top() > without_tool.top(), "two rows");
    press(&mut editor, Modifiers::NONE, Key::Escape);
    let node = middle + egui::vec2(0.0, 40.0);
    drag(&mut editor, node, &[[0.0, -10.0]]);
    assert_eq!(map(&editor), before, "a node is selected, and the map stays");
    editor.drop_at(node);
}

#[test]
fn a_stamp_is_chosen_by_its_picture_or_dragged_onto_a_map() {
    let (mut editor, middle) = editor_with_stamps();
    editor.get_by_label("Stamp to place: Crater").click();
    editor.run_steps(4);
    editor.get_by_role_and_label(Role::Button, "Mesa").click();
    editor.run_steps(4);
    draw(&mut editor, middle, &[]);
    let placed = stamps(&editor);
    assert_eq!(placed[0].file.0, "assets/stamps/mesa.upthrust.json");
    assert_eq!((placed[0].size_m.x_m, placed[0].feather_m), (1200.0, 120.0));
    editor.get_by_label("Stamp to place: Mesa").click();
    editor.run_steps(4);
    let card = editor.get_by_role_and_label(Role::Button, "Sinkhole").rect().center();
    let bottom = editor.get_by_label("Heightmap of the terrain").rect().center_bottom();
    let to = bottom - egui::vec2(0.0, 60.0);
    draw(&mut editor, card, &[[10.0, 10.0], [to.x - card.x, to.y - card.y]]);
    let files: Vec<String> = stamps(&editor).into_iter().map(|stamp| stamp.file.0).collect();
    assert_eq!(files, ["mesa", "sinkhole"].map(|name| format!("assets/stamps/{name}.upthrust.json")));
    assert!(editor.query_by_role_and_label(Role::Button, "Sinkhole").is_none(), "the list is closed");
}

#[test]
fn a_click_within_one_frame_is_not_lost() {
    let (mut editor, middle) = editor_with_brush();
    editor.hover_at(middle);
    editor.run_steps(2);
    let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
    // Events of the harness get a frame each; these two share one.
    let events = [true, false].map(|pressed| Event::PointerButton { pos: middle, button, pressed, modifiers });
    editor.input_mut().events.extend(events);
    editor.run_steps(3);
    assert_eq!(strokes(&editor).len(), 1);
}

#[test]
fn the_bar_names_the_step_in_which_a_tool_draws() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::B);
    editor.get_by_label("a new step");
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    draw(&mut editor, middle, &[]);
    assert!(editor.query_by_label("a new step").is_none());
    assert!(editor.query_all_by_label("Sculpt").count() > 1, "the card and the bar");
}

#[test]
fn a_path_that_is_begun_closed_is_closed_once_it_has_three_nodes() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::J);
    editor.get_by_role_and_label(Role::CheckBox, "Closed").click();
    editor.run_steps(3);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    let closed = |editor: &Harness<'static, App>| match top(editor) {
        AnyOperation::Paths(Paths { paths }) => paths.first().map(|path| (path.nodes.len(), path.closed)),
        _ => None,
    };
    let mut seen = Vec::new();
    for offset in [[-60.0, 0.0], [0.0, 40.0], [60.0, 0.0], [0.0, -40.0]] {
        draw(&mut editor, middle + egui::vec2(offset[0], offset[1]), &[]);
        seen.push(closed(&editor));
    }
    assert_eq!(seen, [None, Some((2, false)), Some((3, true)), Some((4, true))]);
    // Until then the tick in the bar, which is above all others, stays, and removing it counts.
    press(&mut editor, Modifiers::NONE, Key::Enter);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(3);
    for offset in [[-60.0, -60.0], [0.0, -90.0]] {
        draw(&mut editor, middle + egui::vec2(offset[0], offset[1]), &[]);
    }
    editor.run_steps(3);
    {
        let ticks = editor.get_all_by_role_and_label(Role::CheckBox, "Closed");
        let tick = ticks.min_by(|a, b| a.rect().min.y.total_cmp(&b.rect().min.y)).expect("in the bar");
        assert_eq!(tick.accesskit_node().toggled(), Some(egui::accesskit::Toggled::True));
        tick.click();
    }
    editor.run_steps(3);
    draw(&mut editor, middle + egui::vec2(60.0, -60.0), &[]);
    let AnyOperation::Paths(Paths { paths }) = top(&editor) else { panic!("the paths are on top") };
    let drawn: Vec<_> = paths.iter().map(|path| (path.nodes.len(), path.closed)).collect();
    assert_eq!(drawn, [(4, true), (3, false)]);
}

#[test]
fn a_river_whose_first_node_is_clicked_again_ends_and_is_not_closed() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::J);
    editor.get_by_role_and_label(Role::ComboBox, "Next path: Kind").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "River").click();
    editor.run_steps(3);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    for [x, y] in [[-40.0, 0.0], [0.0, 30.0], [40.0, 0.0], [-40.0, 0.0]] {
        draw(&mut editor, middle + egui::vec2(x, y), &[]);
    }
    let steps = &editor.state().document.project().recipe.stack;
    let AnyOperation::Paths(Paths { paths }) = &steps.last().expect("a step").operation else { panic!("no paths") };
    assert_eq!((paths[0].kind, paths[0].nodes.len(), paths[0].closed), (PathKind::River, 3, false));
    assert_eq!(paths[0].check(), Ok(()));
}

#[test]
fn the_kind_in_the_bar_is_that_of_the_selected_path_and_a_button_begins_another() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::J);
    let middle = editor.get_by_label("Heightmap of the terrain").rect().center();
    for x in [-40.0, 40.0] {
        draw(&mut editor, middle + egui::vec2(x, 0.0), &[]);
    }
    press(&mut editor, Modifiers::NONE, Key::Enter);
    let kinds = |editor: &Harness<'static, App>| -> Vec<PathKind> {
        let steps = editor.state().document.project().recipe.stack.iter();
        let paths = steps.filter_map(|step| match &step.operation {
            AnyOperation::Paths(Paths { paths }) => Some(paths.to_vec()),
            _ => None,
        });
        paths.flatten().map(|path| path.kind).collect()
    };
    assert_eq!(kinds(&editor), [PathKind::Road]);
    assert!(editor.query_by_label("Next path").is_none(), "the bar has the parameters of the selected path");
    editor.get_by_role_and_label(Role::ComboBox, "Path: Kind").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Ridge").click();
    editor.run_steps(3);
    assert_eq!(kinds(&editor), [PathKind::Ridge]);
    editor.get_by_role_and_label(Role::Button, "New path").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Valley").click();
    editor.run_steps(3);
    assert_eq!(kinds(&editor), [PathKind::Ridge], "the finished ridge stays one");
    assert!(editor.query_by_label("Next path").is_some());
    // Also on top of another path, the next click begins the valley.
    for x in [40.0, 80.0] {
        draw(&mut editor, middle + egui::vec2(x, 0.0), &[]);
    }
    assert_eq!(kinds(&editor), [PathKind::Ridge, PathKind::Valley]);
}
