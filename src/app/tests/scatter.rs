//! The Scatter panel.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::{editor, press, settle, wait};
use crate::app::App;
use crate::app::commands::Command;
use crate::app::panels::scatter::KINDS;
use crate::engine::Step;
use crate::engine::level::{Level, Marker};
use crate::engine::operations::faults::Faults;
use crate::engine::parameters::{Point, grouped};
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::scatter::ScatterLayer;

fn count(editor: &Harness<'static, App>, layer: usize) -> Option<usize> {
    let found = editor.state().ui.scatter.found()?;
    found.scattered.iter().find(|one| one.layer == layer).map(|one| one.instances.len())
}

#[test]
fn layers_are_added_counted_changed_and_undone() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(Faults { count: 3, displacement_m: 1.0, ..Faults::default() })];
    });
    let posts = KINDS.iter().position(|kind| kind.name == "Fence posts").expect("posts");
    for _ in 0..2 {
        editor.state_mut().execute(&egui::Context::default(), Command::AddLayer(posts));
    }
    assert_eq!(editor.state().document.undo_name(), Some("Add layer Fence posts 2"));
    let names =
        |app: &App| app.document.project().recipe.scatter.iter().map(|layer| layer.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(editor.state()), ["Fence posts", "Fence posts 2"]);
    wait(&mut editor, "the instances", |app| app.ui.scatter.found().is_some_and(|found| found.scattered.len() == 2));
    editor.run_steps(12);
    let all = count(&editor, 1).expect("posts");
    assert!(all > 1000, "{all} posts");
    assert!(editor.query_by_label_contains("in this preview").is_some());
    // Half of them.
    editor.state_mut().edit(|project| project.recipe.scatter[1].amount = 0.5);
    assert_eq!(editor.state().document.undo_name(), Some("Fence posts 2: Amount 100 % → 50 %"));
    wait(&mut editor, "fewer instances", |app| {
        app.ui.scatter.found().is_some_and(|found| found.scattered[1].instances.len() < all)
    });
    let half = count(&editor, 1).expect("posts") as f64 / all as f64;
    assert!((half - 0.5).abs() < 0.05, "{half}");
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    wait(&mut editor, "all instances again", |app| {
        app.ui.scatter.found().is_some_and(|found| found.scattered[1].instances.len() == all)
    });
    // The number of each layer is on its card.
    editor.run_steps(4);
    let first = count(&editor, 0).expect("posts");
    assert!(editor.query_all_by_label_contains(&grouped(first)).next().is_some());
    editor.state_mut().edit(|project| project.recipe.scatter[1].enabled = false);
    wait(&mut editor, "one layer", |app| app.ui.scatter.found().is_some_and(|found| found.scattered.len() == 1));
}

#[test]
fn a_new_layer_begins_above_the_water() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(Faults { count: 3, ..Faults::default() })];
        project.water.water_m = Some(5.0);
    });
    editor.state_mut().execute(&egui::Context::default(), Command::AddLayer(0));
    wait(&mut editor, "the instances", |app| app.ui.scatter.found().is_some());
    let found = editor.state().ui.scatter.found().expect("instances");
    let instances = &found.scattered[0].instances;
    // Masks are interpolated, so a few stand on the shore.
    let under_water = instances.iter().filter(|instance| instance.at_m[1] < 5.0).count();
    let terrain = &editor.state().ui.preview.shown.as_ref().expect("a preview").terrain;
    let low = terrain.heights().iter().filter(|height| **height < 5.0).count();
    assert!(low > terrain.heights().len() / 4 && under_water < instances.len() / 20, "{under_water}, {low} samples");
}

#[test]
fn what_blocks_the_route_is_measured() {
    let mut editor = editor();
    let marker = |x_m| Marker { name: format!("at {x_m}"), at_m: Point { x_m, z_m: 2000.0 }, ..Marker::default() };
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(Faults { count: 3, displacement_m: 1.0, ..Faults::default() })];
        project.level = Level { markers: vec![marker(500.0), marker(3500.0)].into(), ..Level::default() };
        let layer = ScatterLayer { spacing_m: 200.0, radius_m: 80.0, ..ScatterLayer::default() };
        project.recipe.scatter = vec![layer].into();
    });
    settle(&mut editor);
    editor.state_mut().ui.play.show();
    let length_m = |app: &App| {
        let report = app.ui.play.found()?.report.clone()?;
        report.route(0, 1)?.route.map(|[_, length_m]| length_m)
    };
    wait(&mut editor, "the route", |app| length_m(app).is_some());
    let straight = length_m(editor.state()).expect("a route");
    editor.state_mut().edit(|project| project.recipe.scatter[0].blocks = true);
    wait(&mut editor, "a longer route", |app| length_m(app).is_some_and(|length_m| length_m > 1.02 * straight));
}

#[test]
fn keys_move_the_layer_and_the_brush_paints_the_type_that_was_selected_last() {
    let mut editor = editor();
    for kind in 0..2 {
        editor.state_mut().execute(&egui::Context::default(), Command::AddLayer(kind));
    }
    let names =
        |app: &App| app.document.project().recipe.scatter.iter().map(|layer| layer.name.clone()).collect::<Vec<_>>();
    let before = names(editor.state());
    editor.state_mut().execute(&egui::Context::default(), Command::MoveUp);
    assert_eq!(names(editor.state()), [before[1].clone(), before[0].clone()]);
    assert_eq!(editor.state().ui.selected_last(), Some(MaskOwner::Layer(0)));
    editor.state_mut().execute(&egui::Context::default(), Command::SelectType(1));
    assert_eq!(editor.state().ui.selected_last(), Some(MaskOwner::Type(1)));
    editor.state_mut().execute(&egui::Context::default(), Command::SelectStep(0));
    assert_eq!(editor.state().ui.selected_last(), None);
}
