//! The Playability panel.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;

use super::{editor, press, settle, wait};
use crate::app::App;
use crate::app::commands::Command;
use crate::engine::Step;
use crate::engine::level::{Level, Marker, MarkerKind};
use crate::engine::operations::faults::Faults;
use crate::engine::parameters::Point;
use crate::engine::play::PlayMap;

/// Low hills with two teams and an objective, the panel open.
fn level_editor(rules: &[&str]) -> Harness<'static, App> {
    let mut editor = editor();
    let spawn = |team: &str, x_m| Marker {
        name: format!("{team} base"),
        team: team.into(),
        at_m: Point { x_m, z_m: 2000.0 },
        ..Marker::default()
    };
    let objective =
        Marker { kind: MarkerKind::Objective, team: String::new(), name: "Middle".into(), ..spawn("", 2000.0) };
    let markers = vec![spawn("red", 800.0), spawn("blue", 3200.0), objective];
    let rules = rules.iter().map(|rule| (*rule).to_string()).collect();
    editor.state_mut().edit(|project| {
        project.recipe.stack = vec![Step::new(Faults { count: 40, displacement_m: 20.0, ..Faults::default() })];
        project.level = Level { markers: markers.into(), rules, ..Level::default() };
    });
    settle(&mut editor);
    editor.state_mut().ui.play.show();
    wait(&mut editor, "the metrics", |app| app.ui.play.found().is_some_and(|found| found.report.is_some()));
    editor.run_steps(12);
    editor
}

#[test]
fn the_panel_is_as_wide_with_all_measures_as_without() {
    let mut editor = level_editor(&["path(red, blue) <= 1 h", "fairness(territory) >= 0.95"]);
    editor.state_mut().edit(|project| {
        let teams = ["red", "blue", "green", "violet", "orange"].into_iter().zip([0.1, 0.3, 0.5, 0.7, 0.9]);
        let marker = |(team, share): (&str, f64)| Marker {
            team: team.into(),
            at_m: Point { x_m: share * project.recipe.world.width_m, z_m: 2000.0 },
            ..Marker::default()
        };
        project.level.markers = teams.map(marker).collect();
    });
    settle(&mut editor);
    wait(&mut editor, "five teams", |app| {
        app.ui.play.found().and_then(|found| found.report.as_ref()).is_some_and(|report| report.teams.len() == 5)
    });
    editor.run_steps(12);
    let edge = |editor: &Harness<'static, App>| editor.get_by_label("LIGHT").rect().left();
    let before = edge(&self::editor());
    assert!((edge(&editor) - before).abs() < 0.5, "{before}, with measures {}", edge(&editor));
}

#[test]
fn rules_are_checked_live_and_a_click_shows_the_place() {
    let mut editor = level_editor(&["path(red, blue) <= 1 h", "path(red, Middle) <= 1 s"]);
    assert!(editor.query_by_label_contains("Walker: ").is_some());
    assert!(editor.query_by_label("red base \u{2013} blue base").is_some(), "the route is as long in both directions");
    let texts: Vec<String> = ["currently "]
        .iter()
        .flat_map(|text| editor.query_all_by_label_contains(text))
        .filter_map(|node| egui_kittest::kittest::NodeT::accesskit_node(&node).value())
        .collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    let zoom = editor.state().ui.maps.viewport.zoom;
    editor.query_all_by_label_contains("currently ").next().expect("what was found").click();
    editor.run_steps(4);
    assert!(editor.state().ui.maps.viewport.zoom > zoom);

    // A marker that moves changes the metrics.
    let seconds = |editor: &Harness<'static, App>| {
        let found = editor.state().ui.play.found().and_then(|found| found.report.clone()).expect("a report");
        found
            .routes
            .iter()
            .find(|route| (route.from, route.to) == (0, 1))
            .and_then(|route| route.route)
            .expect("a route")[0]
    };
    let before = seconds(&editor);
    editor.state_mut().edit(|project| project.level.markers[0].at_m.x_m = 1600.0);
    wait(&mut editor, "new metrics", |app| {
        app.ui.play.found().is_some_and(|found| {
            found.report.is_some() && found.request.level.markers[0].at_m.x_m == 1600.0 && !found.is_coarse
        })
    });
    assert!(seconds(&editor) < 0.8 * before);
}

#[test]
fn a_rule_with_a_mistake_says_where_it_is() {
    let mut editor = level_editor(&["path(red, green) <= 90 s"]);
    assert!(editor.query_by_label_contains("At character 11: no marker or team is called \"green\"").is_some());
    editor.get_by_role_and_label(Role::Button, "Remove rule 1").click();
    editor.run_steps(4);
    assert!(editor.state().document.project().level.rules.is_empty());
    assert!(editor.state().document.undo_name().is_some_and(|name| name.contains("Rule")), "it can be undone");
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(editor.state().document.project().level.rules.len(), 1);
}

#[test]
fn measures_are_drawn_over_the_maps() {
    let mut editor = level_editor(&[]);
    for map in [PlayMap::Walkable, PlayMap::Territory, PlayMap::Reach(1), PlayMap::Viewshed(0), PlayMap::Exposure] {
        editor.state_mut().ui.play.show_map(Some(map));
        wait(&mut editor, "the map", |app| app.ui.play.overlay().is_some());
        let drawn = editor.state().ui.play.overlay().expect("drawn");
        assert!(drawn.pixels.iter().any(|pixel| *pixel != drawn.pixels[0]) || map == PlayMap::Walkable, "{map:?}");
    }
    let level = editor.state().document.project().level.clone();
    editor.state_mut().ui.play.show_map(Some(PlayMap::Reach(2)));
    wait(&mut editor, "the map", |app| app.ui.play.overlay().is_some());
    let legend = editor.state().ui.play.legend(&level).expect("a legend");
    assert!(legend.starts_with("Time from Middle: bands of "), "{legend}");
    // The map stays with its marker, and goes with it.
    for (removed, legend) in [(0, Some("Time from Middle")), (1, None)] {
        editor.state_mut().edit(|project| {
            project.level.markers.remove(removed);
        });
        editor.run_steps(4);
        let level = editor.state().document.project().level.clone();
        let found = editor.state().ui.play.legend(&level);
        assert!(
            found.as_deref().is_some_and(|found| found.starts_with(legend.unwrap_or("x"))) == legend.is_some(),
            "{found:?}"
        );
    }
    editor.run_steps(4);
    assert!(editor.state().ui.play.overlay().is_none());
}

#[test]
fn a_seed_that_was_found_is_adopted_and_can_be_undone() {
    let mut editor = level_editor(&["path(red, blue) <= 1 h"]);
    let before = editor.state().document.project().recipe.seed;
    editor.get_by_role_and_label(Role::Button, "Search").click_accesskit();
    wait(&mut editor, "the search", |app| app.ui.seed_panel.found().len() == 9 && !app.ui.seed_panel.is_searching());
    editor.run_steps(4);
    let best = editor.state().ui.seed_panel.found()[0].seed;
    editor.get_by_role_and_label(Role::Button, &format!("Seed {best}")).click_accesskit();
    editor.run_steps(4);
    assert_eq!(editor.state().document.project().recipe.seed, best);
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::Z);
    assert_eq!(editor.state().document.project().recipe.seed, before);
    assert_eq!(Command::UseSeed(7).text(), "Use seed 7");
}
