//! Looking at the land, driven by label as a person would.

use std::sync::Arc;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::tests::{editor, pause, wait};
use super::*;
use crate::engine::map_view::MapView;

/// Chooses what the heightmap's pane shows, and waits until it does.
#[track_caller]
pub(super) fn look_at(editor: &mut Harness<'static, App>, text: &str, expected: MapView) {
    editor.get_by_role_and_label(Role::ComboBox, "What the heightmap shows").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, text).click();
    editor.run_steps(2);
    wait(editor, text, |app| app.shown.as_ref().is_some_and(|shown| !shown.coarse && shown.request.map == expected));
}

#[test]
fn the_heightmap_s_pane_shows_what_is_chosen() {
    let mut editor = editor();
    pause(&mut editor);
    let land = editor.state().shown.as_ref().expect("a picture").land.clone();
    let heightmap = |app: &App| app.shown.as_ref().expect("a picture").heightmap.clone();
    let mut seen = vec![heightmap(editor.state())];
    for (text, expected) in [
        ("Tints", MapView::Tints),
        ("Hillshade", MapView::Hillshade),
        ("Contours", MapView::Contours),
        ("Slope", MapView::Slope),
        ("Walkable ground", MapView::Walkable(45.0)),
    ] {
        look_at(&mut editor, text, expected);
        let picture = heightmap(editor.state());
        assert!(!seen.contains(&picture), "{text} looks like another one");
        seen.push(picture);
    }
    let app = editor.state();
    assert!(Arc::ptr_eq(&land, &app.shown.as_ref().expect("a picture").land), "no land was computed for it");
    assert!(!app.document.is_dirty());
}

/// Unfolds a section of the measures.
fn unfold(editor: &mut Harness<'static, App>, section: &str) {
    editor.get_by_role_and_label(Role::DisclosureTriangle, section).click();
    editor.run_steps(16);
}

#[test]
fn sections_are_measured_as_they_are_unfolded_and_tell_of_the_land_that_is_shown() {
    let mut editor = editor();
    pause(&mut editor);
    assert!(editor.state().measures.found().is_none(), "nothing is measured that nobody looks at");
    unfold(&mut editor, "Landforms");
    wait(&mut editor, "the forms", |app| app.measures.found().is_some_and(|found| found.forms.is_some()));
    editor.run_steps(2);
    editor.get_by_label_contains("Ridge ");
    editor.get_by_label_contains("in real ranges 8.7 % to 14.5 %");
    unfold(&mut editor, "Spectrum");
    wait(&mut editor, "the spectrum", |app| app.measures.found().is_some_and(|found| found.spectrum.is_some()));
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Image, "Power spectrum");
    assert!(editor.state().measures.found().is_some_and(|found| found.slopes.is_none()), "nor what is folded");
    editor.state_mut().edit(|project| project.recipe.seed += 1);
    wait(&mut editor, "measures of the new land", |app| {
        let is_new = app.document.project().recipe == *app.shown.as_ref().expect("a picture").request.recipe;
        let land = &app.shown.as_ref().expect("a picture").land;
        is_new
            && app.measures.found().is_some_and(|found| {
                Arc::ptr_eq(&found.land, land) && found.forms.is_some() && found.spectrum.is_some()
            })
    });
}

#[test]
fn the_limit_is_dragged_in_the_histogram_and_the_share_follows() {
    let mut editor = editor();
    pause(&mut editor);
    look_at(&mut editor, "Walkable ground", MapView::Walkable(45.0));
    unfold(&mut editor, "Slopes");
    let slopes = |app: &App| app.measures.found().and_then(|found| found.slopes.clone());
    wait(&mut editor, "the slopes", |app| slopes(app).is_some());
    editor.run_steps(2);
    let before = slopes(editor.state()).expect("slopes").walkable;
    let node = editor.get_by_role_and_label(Role::Image, "Slopes of the land");
    node.scroll_to_me();
    editor.run_steps(16);
    let plot = editor.get_by_role_and_label(Role::Image, "Slopes of the land").rect();
    let at = |degrees: f32| plot.left_center() + egui::Vec2::new(plot.width() * degrees / 90.0, 0.0);
    editor.drag_at(at(45.0));
    editor.run_steps(2);
    for degrees in [40.0, 30.0, 12.0] {
        editor.hover_at(at(degrees));
        editor.run_steps(2);
    }
    editor.drop_at(at(12.0));
    editor.run_steps(2);
    let limit = editor.state().document.project().view.walkable_deg;
    assert!((11.0..=13.0).contains(&limit), "{limit}");
    wait(&mut editor, "the new share", |app| slopes(app).is_some_and(|slopes| slopes.limit_deg == limit));
    let after = slopes(editor.state()).expect("slopes");
    assert!(after.walkable < before && after.walkable > 0.0, "{} after {before}", after.walkable);
    editor.run_steps(2);
    editor.get_by_label(&format!(
        "Walkable {:.0} %, of it connected {:.0} %",
        100.0 * after.walkable,
        100.0 * after.connected
    ));
    wait(&mut editor, "the map of it", |app| {
        app.shown.as_ref().is_some_and(|shown| shown.request.map == MapView::Walkable(limit))
    });
    assert!(!editor.state().document.is_dirty(), "how the land is looked at is no edit");
}

#[test]
fn a_profile_is_drawn_on_the_map_and_hovering_it_moves_the_crosshair() {
    let mut editor = editor();
    pause(&mut editor);
    super::tests::press(&mut editor, egui::Modifiers::NONE, egui::Key::P);
    editor.run_steps(24);
    let map = editor.get_by_role_and_label(Role::Image, "Heightmap of the land").rect();
    let gaze = editor.state().maps.gaze;
    let [from, to] = [egui::Vec2::new(-60.0, -30.0), egui::Vec2::new(50.0, 40.0)].map(|off| map.center() + off);
    editor.drag_at(from);
    editor.run_steps(2);
    editor.hover_at(from + (to - from) * 0.5);
    editor.run_steps(2);
    editor.hover_at(to);
    editor.run_steps(2);
    editor.drop_at(to);
    editor.run_steps(4);
    assert_eq!(editor.state().maps.gaze, gaze, "the map was not moved along");
    let extent = editor.state().document.project().recipe.world.extent();
    let [start, end] = editor.state().profile.ends_m(extent);
    assert!(end[0] - start[0] > 0.1 * extent.width_m && end[1] - start[1] > 0.1 * extent.depth_m);
    assert!(!editor.state().profile.is_at_work() || !editor.state().profile.is_drawing);
    // Half way along the plot is half way along the line.
    let plot = editor.get_by_role_and_label(Role::Image, "Profile of the land").rect();
    editor.hover_at(plot.center());
    editor.run_steps(3);
    let crosshair = editor.state().maps.crosshair_m.expect("a crosshair");
    let middle = [0, 1].map(|axis| 0.5 * (start[axis] + end[axis]));
    let off = [0, 1].map(|axis| (crosshair[axis] - middle[axis]).abs() / (end[axis] - start[axis]));
    assert!(off.iter().all(|off| *off < 0.08), "{crosshair:?} in place of {middle:?}");
    assert!(!editor.state().document.is_dirty());
}

#[test]
fn the_status_bar_names_the_type_under_the_pointer() {
    let mut editor = editor();
    pause(&mut editor);
    let map = editor.get_by_role_and_label(Role::Image, "Heightmap of the land").rect();
    editor.hover_at(map.center());
    editor.run_steps(3);
    let app = editor.state();
    let place_m = app.maps.crosshair_m.expect("a crosshair");
    let name = app.shown.as_ref().expect("a picture").type_at(place_m).expect("a type").name.clone();
    editor.get_by_label_contains(&format!("°  {name}"));
}
