//! The views of the terrain, driven by label.

use crate::app::App;
use crate::app::commands::Command;
use crate::app::preview::request::PreviewStatus;
use crate::app::tasks::settings::UserFolders;
use crate::app::views::map_style::MapStyle;
use crate::worker::{Preview, PreviewRequest};
use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::tests::{editor, pause, press, wait, wgpu_setup};
use crate::engine::map_view::MapView;
use crate::engine::stack::evaluate;
use crate::engine::{Grid, Heightfield, Inputs, Progress};

/// Chooses the map in the heightmap's pane, and waits until it is shown.
#[track_caller]
fn look_at(editor: &mut Harness<'static, App>, text: &str, expected: MapView) {
    editor.get_by_role_and_label(Role::ComboBox, "What the heightmap shows").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, text).click();
    editor.run_steps(2);
    wait(editor, text, |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| !shown.coarse && shown.request.map_view == expected)
    });
}

#[test]
fn the_heightmap_pane_shows_the_chosen_map() {
    let mut editor = editor();
    pause(&mut editor);
    let terrain = editor.state().ui.preview.shown.as_ref().expect("a picture").terrain.clone();
    let heightmap = |app: &App| app.ui.preview.shown.as_ref().expect("a picture").heightmap.clone();
    let mut seen = vec![heightmap(editor.state())];
    for (text, expected) in [
        ("Tints", MapView::Tints),
        ("Hillshade", MapView::Hillshade),
        ("Contours", MapView::Contours),
        ("Slope", MapView::Slope),
        ("Walkable terrain", MapView::Walkable(45.0)),
    ] {
        look_at(&mut editor, text, expected);
        let picture = heightmap(editor.state());
        assert!(!seen.contains(&picture), "{text} looks like another one");
        seen.push(picture);
    }
    let app = editor.state();
    assert!(
        Arc::ptr_eq(&terrain, &app.ui.preview.shown.as_ref().expect("a picture").terrain),
        "no heightfield was computed for it"
    );
    assert!(!app.document.is_dirty());
}

/// Unfolds a section of the analysis.
fn unfold(editor: &mut Harness<'static, App>, section: &str) {
    editor.get_by_role_and_label(Role::DisclosureTriangle, section).scroll_to_me();
    editor.run_steps(16);
    editor.get_by_role_and_label(Role::DisclosureTriangle, section).click();
    editor.run_steps(16);
}

#[test]
fn sections_are_analysed_when_unfolded_and_describe_the_shown_terrain() {
    let mut editor = editor();
    pause(&mut editor);
    assert!(editor.state().ui.analysis.found().is_none(), "nothing is measured that nobody looks at");
    unfold(&mut editor, "Landforms");
    wait(&mut editor, "the forms", |app| app.ui.analysis.found().is_some_and(|found| found.forms.is_some()));
    editor.run_steps(2);
    editor.get_by_label_contains("Ridge ");
    editor.get_by_label_contains("in real mountains 7.8 % to 13.7 %");
    unfold(&mut editor, "Spectrum");
    wait(&mut editor, "the spectrum", |app| app.ui.analysis.found().is_some_and(|found| found.spectrum.is_some()));
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Image, "Power spectrum");
    assert!(editor.state().ui.analysis.found().is_some_and(|found| found.slopes.is_none()), "nor what is folded");
    editor.state_mut().edit(|project| project.recipe.seed += 1);
    wait(&mut editor, "analysis of the new terrain", |app| {
        let is_new = app.document.project().recipe == *app.ui.preview.shown.as_ref().expect("a picture").request.recipe;
        let terrain = &app.ui.preview.shown.as_ref().expect("a picture").terrain;
        is_new
            && app.ui.analysis.found().is_some_and(|found| {
                Arc::ptr_eq(&found.terrain, terrain) && found.forms.is_some() && found.spectrum.is_some()
            })
    });
}

#[test]
fn the_limit_is_dragged_in_the_histogram_and_the_share_follows() {
    let mut editor = editor();
    pause(&mut editor);
    look_at(&mut editor, "Walkable terrain", MapView::Walkable(45.0));
    unfold(&mut editor, "Slopes");
    let slopes = |app: &App| app.ui.analysis.found().and_then(|found| found.slopes.clone());
    wait(&mut editor, "the slopes", |app| slopes(app).is_some());
    editor.run_steps(2);
    let before = slopes(editor.state()).expect("slopes").walkable;
    let node = editor.get_by_role_and_label(Role::Image, "Slopes of the terrain");
    node.scroll_to_me();
    editor.run_steps(16);
    let plot = editor.get_by_role_and_label(Role::Image, "Slopes of the terrain").rect();
    let at = |degrees: f32| plot.left_center() + egui::Vec2::new(plot.width() * degrees / 90.0, 0.0);
    editor.drag_at(at(45.0));
    editor.run_steps(2);
    for degrees in [40.0, 30.0, 12.0] {
        editor.hover_at(at(degrees));
        editor.run_steps(2);
    }
    editor.drop_at(at(12.0));
    editor.run_steps(2);
    let limit = editor.state().document.settings().view.walkable_deg;
    assert!((11.0..=13.0).contains(&limit), "{limit}");
    wait(&mut editor, "the new share", |app| slopes(app).is_some_and(|slopes| slopes.limit_deg == limit));
    let after = slopes(editor.state()).expect("slopes");
    assert!(after.walkable < before && after.walkable > 0.0, "{} after {before}", after.walkable);
    editor.run_steps(2);
    editor.get_by_label(&format!(
        "{:.0} % of the terrain is at most {limit:.0}° steep; the largest connected area is {:.0} % of that",
        100.0 * after.walkable,
        100.0 * after.connected
    ));
    wait(&mut editor, "the map of it", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.map_view == MapView::Walkable(limit))
    });
    assert!(!editor.state().document.is_dirty(), "changing the view is not an edit");
}

#[test]
fn a_profile_is_drawn_on_the_map_and_hovering_it_moves_the_crosshair() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::NONE, Key::P);
    editor.run_steps(24);
    let map = editor.get_by_role_and_label(Role::Image, "Heightmap of the terrain").rect();
    let viewport = editor.state().ui.maps.viewport;
    let [from, to] = [egui::Vec2::new(-60.0, -30.0), egui::Vec2::new(50.0, 40.0)].map(|off| map.center() + off);
    editor.drag_at(from);
    editor.run_steps(2);
    editor.hover_at(from + (to - from) * 0.5);
    editor.run_steps(2);
    editor.hover_at(to);
    editor.run_steps(2);
    editor.drop_at(to);
    editor.run_steps(4);
    assert_eq!(editor.state().ui.maps.viewport, viewport, "the map was not moved along");
    let extent = editor.state().document.project().recipe.world.extent();
    let [start, end] = editor.state().ui.profile.ends_m(extent);
    assert!(end[0] - start[0] > 0.1 * extent.width_m && end[1] - start[1] > 0.1 * extent.depth_m);
    assert!(!editor.state().ui.profile.wants_drags() || !editor.state().ui.profile.is_drawing);
    // The middle of the plot is the middle of the line.
    let plot = editor.get_by_role_and_label(Role::Image, "Terrain profile").rect();
    editor.hover_at(plot.center());
    editor.run_steps(3);
    let crosshair = editor.state().ui.maps.crosshair_m.expect("a crosshair");
    let middle = [0, 1].map(|axis| 0.5 * (start[axis] + end[axis]));
    let off = [0, 1].map(|axis| (crosshair[axis] - middle[axis]).abs() / (end[axis] - start[axis]));
    assert!(off.iter().all(|off| *off < 0.08), "{crosshair:?} in place of {middle:?}");
    assert!(!editor.state().document.is_dirty());
    // Cancelling a second line keeps the first.
    press(&mut editor, Modifiers::NONE, Key::P);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    assert_eq!(editor.state().ui.profile.ends_m(extent), [start, end]);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    editor.run_steps(16);
    assert_eq!(editor.query_all_by_label("Terrain profile").count(), 0, "Escape takes the line away");
    assert!(!editor.state().ui.profile.can_be_removed());
    press(&mut editor, Modifiers::NONE, Key::P);
    press(&mut editor, Modifiers::NONE, Key::Escape);
    assert!(!editor.state().ui.profile.wants_drags(), "and puts the tool away");
}

#[test]
fn the_status_bar_names_the_type_under_the_pointer() {
    let mut editor = editor();
    pause(&mut editor);
    let map = editor.get_by_role_and_label(Role::Image, "Heightmap of the terrain").rect();
    editor.hover_at(map.center());
    editor.run_steps(3);
    let app = editor.state();
    let place_m = app.ui.maps.crosshair_m.expect("a crosshair");
    let name = app.ui.preview.shown.as_ref().expect("a picture").type_at(place_m).expect("a type").name.clone();
    editor.get_by_label_contains(&format!("°  {name}"));
}

fn terrain(editor: &Harness<'static, App>) -> Arc<crate::engine::Heightfield> {
    editor.state().ui.preview.shown.as_ref().expect("a picture").terrain.clone()
}

/// Waits until the current terrain is shown.
#[track_caller]
fn settled(editor: &mut Harness<'static, App>) {
    editor.run_steps(2);
    wait(editor, "the picture", |app| {
        let is_present = |shown: &Preview| *shown.request.recipe == app.document.project().recipe && !shown.coarse;
        app.ui.preview.shown.as_ref().is_some_and(is_present)
    });
}

#[test]
fn holding_a_key_shows_the_state_before_and_releasing_it_the_current_one() {
    let mut editor = editor();
    pause(&mut editor);
    let before = terrain(&editor);
    editor.key_down(Key::C);
    editor.run_steps(3);
    assert_eq!(editor.query_all_by_label_contains("Before:").count(), 0, "nothing was edited");
    editor.key_up(Key::C);
    editor.run_steps(2);
    editor.state_mut().edit(|project| project.recipe.seed = 4711);
    settled(&mut editor);
    let (after, edited) = (terrain(&editor), editor.state().document.project().clone());
    assert!(*before != *after);
    editor.key_down(Key::C);
    editor.run_steps(3);
    assert!(Arc::ptr_eq(&terrain(&editor), &before), "it was kept, and is there at once");
    assert_eq!(editor.query_all_by_label_contains("Before: Seed").count(), 3, "every view says so");
    assert_eq!(*editor.state().document.project(), edited, "nothing was undone");
    editor.key_up(Key::C);
    editor.run_steps(3);
    assert!(Arc::ptr_eq(&terrain(&editor), &after));
    assert_eq!(editor.query_all_by_label_contains("Before: Seed").count(), 0);
    // A state that was never shown is computed.
    editor.state_mut().edit(|project| project.recipe.seed = 1);
    editor.state_mut().edit(|project| project.recipe.seed = 2);
    settled(&mut editor);
    editor.key_down(Key::C);
    wait(&mut editor, "the state before", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.recipe.seed == 1 && !shown.coarse)
    });
    editor.key_up(Key::C);
    settled(&mut editor);
    assert_eq!(editor.state().ui.preview.shown.as_ref().expect("a picture").request.recipe.seed, 2);
}

#[test]
fn an_edit_ends_the_before_view() {
    let mut editor = editor();
    pause(&mut editor);
    let notes = |editor: &Harness<'static, App>| editor.query_all_by_label_contains("Before:").count();
    let ctx = editor.ctx.clone();
    for (round, is_held) in [(0, false), (1, true)] {
        editor.state_mut().edit(|project| project.recipe.seed = 4711 + round);
        settled(&mut editor);
        if is_held {
            editor.key_down(Key::C);
        } else {
            editor.state_mut().execute(&ctx, Command::ShowBefore);
        }
        editor.run_steps(3);
        assert_eq!(notes(&editor), 3, "round {round}");
        editor.state_mut().edit(|project| project.recipe.seed = 90 + round);
        editor.run_steps(2);
        assert_eq!(notes(&editor), 0, "round {round}: the current terrain is shown");
        settled(&mut editor);
        assert_eq!(editor.state().ui.preview.shown.as_ref().map(|shown| shown.request.recipe.seed), Some(90 + round));
        if is_held {
            editor.key_up(Key::C);
            editor.run_steps(2);
        }
    }
}

#[test]
fn cancelling_while_the_state_before_is_computed_returns_to_the_current_one() {
    let mut editor = editor();
    pause(&mut editor);
    editor.state_mut().edit(|project| project.recipe.seed = 4711);
    settled(&mut editor);
    let ctx = editor.ctx.clone();
    // At another size, neither state has been computed yet.
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 1025);
    editor.state_mut().execute(&ctx, Command::ShowBefore);
    editor.step();
    editor.state_mut().execute(&ctx, Command::CancelPreview);
    editor.run_steps(3);
    assert_eq!(editor.query_all_by_label_contains("Before:").count(), 0, "the present state is not labelled as before");
    settled(&mut editor);
    editor.state_mut().execute(&ctx, Command::ShowBefore);
    wait(&mut editor, "the state before, requested again", |app| {
        let before = app.document.before().map(|(_, project)| project.recipe.seed);
        app.ui.preview.shown.as_ref().map(|shown| shown.request.recipe.seed) == before
    });
}

#[test]
fn a_map_that_is_chosen_by_command_is_seen() {
    let mut editor = editor();
    pause(&mut editor);
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::MaximiseScene);
    editor.run_steps(2);
    editor.state_mut().execute(&ctx, Command::ShowMap(MapStyle::Slope));
    wait(&mut editor, "the slope", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.map_view == MapView::Slope)
    });
    editor.get_by_role_and_label(Role::ComboBox, "What the heightmap shows");
}

#[test]
fn a_coarse_preview_of_another_size_does_not_replace_a_finer_one() {
    let mut editor = editor();
    pause(&mut editor);
    // Requested and cancelled.
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 4097);
    editor.step();
    let ctx = editor.ctx.clone();
    editor.state_mut().execute(&ctx, Command::CancelPreview);
    let app = editor.state_mut();
    let shown = app.ui.preview.shown.clone().expect("a preview");
    let terrain = Arc::new(Heightfield::flat(Grid::new(shown.terrain.grid().extent(), 33, 33)));
    let request = PreviewRequest { samples: 4097, ..(*shown.request).clone() };
    let mut coarse = Preview { request: Arc::new(request), coarse: true, terrain, ..shown };
    let mut width_after = |preview: &Preview| {
        app.ui.preview.receive(preview.clone(), &app.document);
        app.ui.preview.shown.as_ref().map(|shown| shown.terrain.grid().width())
    };
    assert_eq!(width_after(&coarse), Some(65));
    // Other terrain is shown as soon as there is something.
    coarse.request = Arc::new(PreviewRequest { position: 3, ..(*coarse.request).clone() });
    assert_eq!(width_after(&coarse), Some(33));
}

#[test]
fn a_cancelled_preview_can_be_updated() {
    let mut editor = editor();
    pause(&mut editor);
    let ctx = editor.ctx.clone();
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 1025);
    editor.step();
    editor.state_mut().execute(&ctx, Command::CancelPreview);
    wait(&mut editor, "the note", |app| {
        app.ui.preview.status(app.services.previewer.fraction()) == PreviewStatus::Cancelled
    });
    editor.step();
    editor.get_by_role_and_label(Role::Button, "Update").click();
    wait(&mut editor, "the preview", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.terrain.grid().width() == 1025)
    });
}

#[test]
fn split_maps_show_both_states_and_the_line_between_them_is_dragged() {
    let mut editor = editor();
    pause(&mut editor);
    press(&mut editor, Modifiers::SHIFT, Key::C);
    assert!(!editor.state().ui.maps.has_before(), "nothing was edited");
    editor.state_mut().edit(|project| project.recipe.light.azimuth_deg = 77.0);
    settled(&mut editor);
    wait(&mut editor, "the other side", |app| app.ui.maps.has_before());
    // Shows both again.
    look_at(&mut editor, "Slope", MapView::Slope);
    wait(&mut editor, "the other side in the same look", |app| app.ui.maps.has_before());
    assert!(
        editor.state().ui.preview.shown.as_ref().is_some_and(|shown| shown.request.recipe.light.azimuth_deg == 77.0)
    );
    let line = editor.get_all_by_label("Split between before and now").next().expect("a line").rect();
    let at = line.center() + egui::Vec2::new(0.0, 40.0);
    editor.drag_at(at);
    editor.run_steps(2);
    editor.hover_at(at + egui::Vec2::new(30.0, 0.0));
    editor.run_steps(2);
    editor.drop_at(at + egui::Vec2::new(30.0, 0.0));
    editor.run_steps(2);
    assert!(editor.state().ui.maps.split.is_some_and(|share| share > 0.53 && share < 0.8));
    press(&mut editor, Modifiers::SHIFT, Key::C);
    editor.run_steps(2);
    assert!(editor.state().ui.maps.split.is_none() && !editor.state().ui.maps.has_before());
}

#[test]
fn at_the_size_of_exports_the_views_show_what_is_exported_and_what_does_not_fit_is_refused() {
    let mut editor = editor();
    pause(&mut editor);
    let choose = |editor: &mut Harness<'static, App>| {
        editor.get_by_label("View").click();
        editor.run_steps(3);
        editor.get_by_label("Preview at export size").click();
        editor.run_steps(3);
    };
    editor.state_mut().edit_settings(|settings| settings.export.samples = 97);
    choose(&mut editor);
    wait(&mut editor, "97 samples", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.terrain.grid().width() == 97)
    });
    let recipe = editor.state().document.project().recipe.clone();
    let grid = Grid::fitted(recipe.world.extent(), 97);
    let exported = evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new());
    assert_eq!(Ok(&*terrain(&editor)), exported.as_ref());
    editor.run_steps(2);
    editor.get_by_label_contains("97 × 97 (export size)");
    assert_eq!(editor.state().document.settings().view.preview_samples, 65);
    // It follows the export size, as far as memory allows.
    editor.state_mut().edit_settings(|settings| settings.export.samples = 65_537);
    editor.run_steps(3);
    assert!(editor.state().ui.preview.export_samples.is_none());
    let message = editor.state().ui.message.clone().expect("a message");
    assert!(message.is_error && message.text.contains("65537"), "{}", message.text);
    wait(&mut editor, "65 samples", |app| {
        app.ui.preview.shown.as_ref().is_some_and(|shown| shown.terrain.grid().width() == 65)
    });
}

#[test]
fn the_sun_is_dragged_on_the_map() {
    let mut editor = editor();
    pause(&mut editor);
    let dial = editor.get_by_label("Sun over the heightmap").rect();
    let viewport = editor.state().ui.maps.viewport;
    editor.drag_at(dial.center());
    editor.run_steps(2);
    editor.hover_at(dial.center() + egui::Vec2::new(4.0, 0.0));
    editor.run_steps(2);
    editor.hover_at(dial.center() + egui::Vec2::new(7.0, 0.0));
    editor.run_steps(2);
    editor.drop_at(dial.center() + egui::Vec2::new(7.0, 0.0));
    editor.run_steps(2);
    let light = editor.state().document.project().recipe.light.clone();
    assert_eq!((light.azimuth_deg, light.altitude_deg), (90.0, 45.0));
    assert_eq!(editor.state().ui.maps.viewport, viewport);
    assert!(editor.state().document.undo_name().is_some_and(|name| name.starts_with("Sun")));
}

/// Writes screenshots of the editor to the temporary folder, for people to look at: `cargo test --lib write_screenshots
/// --
/// --ignored`.
#[test]
#[ignore = "draws pictures for the eye"]
fn write_screenshots() {
    for (theme, name) in [(egui::Theme::Dark, "dark"), (egui::Theme::Light, "light")] {
        let mut editor = Harness::builder()
            .with_size([1280.0, 800.0])
            .with_theme(theme)
            .with_step_dt(1.0 / 60.0)
            .wgpu_setup(wgpu_setup())
            .build_eframe(|context| {
                let scripted = Box::new(crate::app::tests::Scripted::default());
                App::new(&context.egui_ctx, scripted, None, UserFolders::default()).expect("threads")
            });
        editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 513);
        editor.ctx.set_theme(theme);
        editor.state_mut().settings.hints_seen = ["timeline", "stack", "presets"].map(String::from).into();
        pause(&mut editor);
        let shoot = |editor: &mut Harness<'static, App>, what: &str| {
            editor.run_steps(40);
            let path = std::env::temp_dir().join(format!("upthrust-looking-{what}-{name}.png"));
            editor.render().expect("a picture").save(path).expect("written");
        };
        for (text, view) in [
            ("Tints", MapView::Tints),
            ("Contours", MapView::Contours),
            ("Hillshade", MapView::Hillshade),
            ("Slope", MapView::Slope),
            ("Walkable terrain", MapView::Walkable(45.0)),
        ] {
            look_at(&mut editor, text, view);
            shoot(&mut editor, &text.to_lowercase().replace(' ', "-"));
        }
        editor.state_mut().settings.unfolded = ["Slopes", "Landforms", "Spectrum", "Profile"].map(String::from).into();
        editor.run_steps(30);
        wait(&mut editor, "measures", |app| app.ui.analysis.found().is_some_and(|found| found.spectrum.is_some()));
        editor.get_by_role_and_label(Role::DisclosureTriangle, "Heights").scroll_to_me();
        shoot(&mut editor, "measures");
        editor.get_by_role_and_label(Role::DisclosureTriangle, "Variations").scroll_to_me();
        shoot(&mut editor, "measures-more");
        press(&mut editor, Modifiers::SHIFT, Key::C);
        editor.state_mut().edit(|project| project.recipe.seed = 7);
        settled(&mut editor);
        wait(&mut editor, "the other side", |app| app.ui.maps.has_before());
        look_at(&mut editor, "Tints", MapView::Tints);
        editor.run_steps(20);
        shoot(&mut editor, "split");
        press(&mut editor, Modifiers::SHIFT, Key::C);
        editor.key_down(Key::C);
        shoot(&mut editor, "before");
        editor.key_up(Key::C);
    }
}
