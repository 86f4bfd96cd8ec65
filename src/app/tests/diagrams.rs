//! The diagram of terrain types and the compass of the sun.

use egui_kittest::kittest::Queryable;

use crate::app::tests::{editor, pause, type_of};
use crate::engine::parameters::Band;
use crate::engine::texture::{TerrainType, TextureSettings, TypeBlend};

#[test]
fn dragging_an_edge_of_the_type_diagram_adds_one_undo_entry() {
    let mut editor = editor();
    let lichen = TerrainType {
        name: "Lichen".into(),
        elevation: Band { min: 20.0, max: 60.0 },
        slope_deg: Band { min: 0.0, max: 45.0 },
        ..Default::default()
    };
    editor.state_mut().edit(|project| {
        project.recipe.texture.settings = TextureSettings::default();
        project.recipe.texture.types = vec![lichen.clone(), lichen.clone()].into();
    });
    editor.state_mut().ui.texture_panel.selected = Some(1);
    pause(&mut editor);
    let entries = editor.state().document.history().0.len();
    let rect = editor.get_by_label("Elevations and slopes of the terrain types").rect();
    let plot = egui::Rect::from_min_max(rect.min + egui::Vec2::new(24.0, 0.0), rect.max - egui::Vec2::new(0.0, 16.0));
    let place = |elevation: f32, slope_deg: f32| {
        plot.left_bottom() + egui::Vec2::new(elevation / 100.0 * plot.width(), -slope_deg / 90.0 * plot.height())
    };
    editor.hover_at(place(40.0, 20.0));
    editor.run_steps(2);
    assert!(editor.query_by_label("40 %, 20°: Lichen 50 %, Lichen 50 %").is_some());
    editor.drag_at(place(60.0, 20.0));
    editor.step();
    for elevation in [65.0, 72.0, 80.0] {
        editor.hover_at(place(elevation, 21.0));
        editor.step();
        let types = &editor.state().document.project().recipe.texture.types;
        assert!((types[1].elevation.max - f64::from(elevation)).abs() <= 1.0, "{:?}", types[1].elevation);
    }
    editor.drop_at(place(80.0, 21.0));
    editor.run_steps(2);
    let app = editor.state();
    assert_eq!(app.document.project().recipe.texture.types[0], lichen, "only the selected type changes");
    assert_eq!(app.document.project().recipe.texture.types[1].slope_deg, lichen.slope_deg);
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert_eq!(app.document.undo_name(), Some("Lichen: Elevation 20–60 → 20–80"));
}

#[test]
fn clicking_the_type_diagram_selects_the_type_there() {
    let mut editor = editor();
    pause(&mut editor);
    let rect = editor.get_by_label("Elevations and slopes of the terrain types").rect();
    let steepest = egui::Pos2::new(rect.center().x, rect.top() + 2.0);
    editor.drag_at(steepest);
    editor.step();
    editor.drop_at(steepest);
    editor.run_steps(2);
    let app = editor.state();
    let selected = app.ui.texture_panel.selected.expect("a type");
    let heaviest = |terrain_type: &TerrainType| terrain_type.is_active(None) && terrain_type.slope_deg.max == 90.0;
    assert!(heaviest(&app.document.project().recipe.texture.types[selected]));
}

#[test]
fn a_multiplied_type_covers_nothing_in_the_type_diagram() {
    let mut editor = editor();
    let everywhere = Band { min: -1e4, max: 1e4 };
    let soot = TerrainType { blend: TypeBlend::Multiply, elevation: everywhere, ..type_of("Soot", "") };
    editor.state_mut().edit(|project| project.recipe.texture.types = vec![soot].into());
    pause(&mut editor);
    let middle = editor.get_by_label("Elevations and slopes of the terrain types").rect().center();
    editor.drag_at(middle);
    editor.step();
    editor.drop_at(middle);
    editor.step();
    editor.hover_at(middle);
    editor.run_steps(2);
    assert_eq!(editor.state().ui.texture_panel.selected, None);
    assert!(editor.query_by_label_contains(": uncovered, Soot 100 %").is_some());
}

#[test]
fn dragging_the_sun_over_the_compass_adds_one_undo_entry() {
    let mut editor = editor();
    pause(&mut editor);
    let entries = editor.state().document.history().0.len();
    let middle = editor.get_by_label("Compass of the sun").rect().center();
    editor.drag_at(middle);
    editor.step();
    // Up is north; then east, halfway to the horizon.
    for offset in [egui::Vec2::new(0.0, -30.0), egui::Vec2::new(20.0, -20.0), egui::Vec2::new(21.0, 0.0)] {
        editor.hover_at(middle + offset);
        editor.step();
    }
    editor.drop_at(middle + egui::Vec2::new(21.0, 0.0));
    editor.run_steps(2);
    let app = editor.state();
    let light = &app.document.project().recipe.light;
    assert_eq!((light.azimuth_deg, light.altitude_deg), (90.0, 45.0));
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert!(app.document.undo_name().is_some_and(|name| name.starts_with("Sun ")));
    assert!(editor.query_by_label("from the east").is_some());
}
