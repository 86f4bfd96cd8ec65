//! The texture panel: terrain types, textures and sets.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::state::CardList;
use crate::app::tests::{chosen, editor, editor_with, pause, press, settle, texture, type_of, type_text, wait};
use crate::engine::parameters::{Band, TextureName};
use crate::engine::texture::{TerrainType, TextureRecipe, TextureSettings, TextureView, Unit};
use crate::files::import::SHIPPED_TEXTURES;

/// The texture view of the latest preview request.
fn requested_view(app: &App) -> TextureView {
    app.ui.preview.requested().expect("a request").texture_view
}

#[test]
fn cards_show_the_coverage_of_types_and_of_uncovered_terrain() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        let whole = TerrainType { name: "Lichen".into(), ..Default::default() };
        let off = TerrainType { name: "Moss".into(), enabled: false, ..Default::default() };
        let none = TerrainType { slope_deg: Band { min: 90.0, max: 90.0 }, slope_release_deg: 0.0, ..off.clone() };
        project.recipe.texture.settings = TextureSettings::default();
        project.recipe.texture.types =
            vec![off, whole, TerrainType { enabled: true, name: "Wall".into(), ..none }].into();
    });
    pause(&mut editor);
    editor.run_steps(2);
    assert!(editor.query_by_label("100 %").is_some() && editor.query_by_label("off").is_some());
    assert_eq!(editor.query_all_by_label("0 %").count(), 2, "the wall and the uncovered terrain");
    editor.state_mut().edit(|project| project.recipe.texture.types[1].enabled = false);
    settle(&mut editor);
    editor.run_steps(2);
    assert_eq!(
        editor.query_all_by_label("100 %").count(),
        2,
        "everything is uncovered and filled with the nearest type"
    );
}

#[test]
fn showing_one_type_alone_does_not_change_the_document() {
    let mut editor = editor();
    pause(&mut editor);
    let before = editor.state().document.project().clone();
    let seen = texture(editor.state());
    let name = before.recipe.texture.types[1].name.clone();
    editor.get_by_label(&format!("Show only {name}")).click();
    editor.run_steps(2);
    assert_eq!(requested_view(editor.state()), TextureView::Solo(1));
    wait(&mut editor, "the type alone", |app| texture(app) != seen);
    editor.get_by_label(&format!("Show all types, not only {name}")).click();
    editor.run_steps(2);
    assert_eq!(requested_view(editor.state()), TextureView::Lit);
    wait(&mut editor, "all types", |app| texture(app) == seen);
    assert_eq!(*editor.state().document.project(), before);
    assert!(!editor.state().document.is_dirty());
}

#[test]
fn the_texture_view_can_be_switched() {
    let mut editor = editor();
    pause(&mut editor);
    let mut seen = vec![texture(editor.state())];
    for (text, expected) in [
        ("Unlit", TextureView::Unlit),
        ("Weight", TextureView::Weight(0)),
        ("Humidity", TextureView::Humidity),
        ("Shade", TextureView::Shade),
        ("Uncovered terrain", TextureView::Uncovered),
    ] {
        editor.get_by_role_and_label(Role::ComboBox, "What the texture shows").click();
        editor.run_steps(3);
        editor.get_by_role_and_label(Role::Button, text).click();
        editor.run_steps(2);
        assert_eq!(requested_view(editor.state()), expected);
        wait(&mut editor, text, |app| {
            app.ui.preview.shown.as_ref().is_some_and(|shown| shown.request.texture_view == expected)
        });
        let texture = texture(editor.state());
        assert!(!seen.contains(&texture), "{text} looks like another view");
        seen.push(texture);
    }
    assert!(!editor.state().document.is_dirty());
}

#[test]
fn a_texture_is_chosen_by_its_thumbnail() {
    let mut editor = editor();
    editor.state_mut().edit(|project| {
        let rock = Some(TextureName("assets/rock.jpg".into()));
        project.recipe.texture.types = vec![TerrainType { texture: rock, ..Default::default() }].into();
    });
    editor.state_mut().ui.texture_panel.selected = Some(0);
    editor.state_mut().services.thumbnails.is_paused = false;
    pause(&mut editor);
    let names: Vec<TextureName> = SHIPPED_TEXTURES.iter().map(|(name, _)| TextureName((*name).into())).collect();
    wait(&mut editor, "the thumbnails", |app| {
        let files = &app.document.project().files;
        names.iter().all(|name| app.services.thumbnails.texture(name, files).is_some())
    });
    editor.get_by_role_and_label(Role::Button, "Change texture Rock").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Layered rock").click();
    editor.run_steps(3);
    let app = editor.state();
    let chosen = app.document.project().recipe.texture.types[0].texture.clone();
    assert_eq!(chosen, Some(TextureName("assets/layered-rock.jpg".into())));
    assert!(app.document.undo_name().is_some_and(|name| name.starts_with("Ground: Texture")));
}

#[test]
fn an_imported_texture_is_stored_in_the_project_and_an_invalid_one_rejected() {
    let folder = tempfile::tempdir().expect("folder");
    let (good, bad) = (folder.path().join("moss.png"), folder.path().join("notes.png"));
    image::RgbImage::from_fn(8, 8, |x, y| image::Rgb([x as u8, 90, y as u8])).save(&good).expect("written");
    std::fs::write(&bad, "not an image").expect("written");
    let mut editor = editor_with(vec![chosen(bad), chosen(good.clone())]);
    editor.state_mut().edit(|project| {
        let rock = Some(TextureName("assets/rock.jpg".into()));
        project.recipe.texture.types = vec![TerrainType { texture: rock, ..Default::default() }].into();
    });
    editor.state_mut().ui.texture_panel.selected = Some(0);
    pause(&mut editor);
    let before = editor.state().document.project().clone();
    let choose = |editor: &mut Harness<'static, App>| {
        editor.get_by_role_and_label(Role::Button, "Change texture Rock").click();
        editor.run_steps(3);
        editor.get_by_label("Choose an image file…").click();
        wait(editor, "the file", |app| app.ui.message.is_some());
    };
    choose(&mut editor);
    let message = editor.state().ui.message.clone().expect("a message");
    assert!(
        message.is_error && message.text.contains("notes.png") && message.text.contains("PNG, JPEG"),
        "{message:?}"
    );
    assert_eq!(*editor.state().document.project(), before);
    editor.state_mut().ui.message = None;
    choose(&mut editor);
    let project = editor.state().document.project().clone();
    let terrain_type = &project.recipe.texture.types[0];
    assert_eq!(
        (&terrain_type.texture, terrain_type.tint),
        (&Some(TextureName("moss.png".into())), 0.0),
        "shown untinted"
    );
    assert_eq!(editor.state().document.undo_name(), Some("Ground: Texture rock → moss.png"));
    assert!(project.files.values().any(|bytes| **bytes == std::fs::read(&good).expect("there")));
    settle(&mut editor);
    assert!(!editor.state().ui.preview.has_failed());
}

fn active_set(editor: &Harness<'static, App>) -> Option<String> {
    editor.state().document.project().recipe.texture.settings.active_set.clone()
}

#[test]
fn changing_the_elevation_unit_converts_the_bands_as_one_undo_entry() {
    let mut editor = editor();
    pause(&mut editor);
    let (entries, before) = (editor.state().document.history().0.len(), texture(editor.state()));
    editor.get_by_label("Settings of all types").click();
    editor.run_steps(20);
    editor.get_by_role_and_label(Role::ComboBox, "Elevations in").click();
    editor.run_steps(3);
    editor.get_by_role_and_label(Role::Button, "Percent of the range").click();
    editor.run_steps(3);
    settle(&mut editor);
    let app = editor.state();
    assert_eq!(app.document.history().0.len(), entries + 1);
    assert_eq!(app.document.undo_name(), Some("Elevations in metres → percent of the range"));
    let apart = |a: &[u8; 4], b: &[u8; 4]| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max();
    let most = texture(app).pixels.iter().zip(&before.pixels).filter_map(|(a, b)| apart(a, b)).max();
    assert!(most <= Some(1), "the image does not change: {most:?}");
}

#[test]
fn new_projects_and_new_types_are_in_metres() {
    let mut editor = editor();
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::N);
    editor.run_steps(3);
    settle(&mut editor);
    let settings = |editor: &Harness<'static, App>| editor.state().document.project().recipe.texture.settings.clone();
    assert_eq!(settings(&editor).unit, Unit::Metres);
    editor.get_by_label("Add a terrain type").click();
    editor.run_steps(3);
    editor.get_by_label("Plain colour").click();
    editor.run_steps(3);
    let types = &editor.state().document.project().recipe.texture.types;
    let last = types.last().expect("a type");
    assert_eq!(last.elevation, Band { min: -100_000.0, max: 100_000.0 }, "lowest to highest");
    assert_eq!(last.elevation_release, 100.0, "the terrain is level");
}

#[test]
fn choosing_a_set_filters_the_cards_and_adds_one_undo_entry() {
    let mut editor = editor();
    let types = vec![type_of("Rock", ""), type_of("Grass", "Summer"), type_of("Snow", "Winter")];
    editor.state_mut().edit(|project| {
        project.recipe.texture = TextureRecipe { settings: TextureSettings::default(), types: types.into() };
    });
    pause(&mut editor);
    let entries = editor.state().document.history().0.len();
    for (i, (choice, cards)) in
        [("Winter", [true, false, true]), ("Summer", [true, true, false]), ("All", [true; 3])].into_iter().enumerate()
    {
        editor.get_by_role_and_label(Role::Button, choice).click();
        editor.run_steps(3);
        assert_eq!(active_set(&editor).as_deref(), Some(choice).filter(|choice| *choice != "All"));
        let listed = ["Rock", "Grass", "Snow"].map(|name| editor.query_by_role_and_label(Role::Button, name).is_some());
        assert_eq!(listed, cards, "{choice}");
        assert_eq!(editor.state().document.history().0.len(), entries + i + 1);
    }
    assert_eq!(editor.state().document.undo_name(), Some("Climate set Summer → all"));
    editor.state_mut().ui.texture_panel.selected = Some(2);
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::Button, "Summer").click();
    editor.run_steps(3);
    assert_eq!(editor.state().ui.texture_panel.selected, None, "Snow is not in the set Summer");
}

#[test]
fn typing_a_set_name_on_a_card_creates_the_set() {
    let mut editor = editor();
    let types = vec![type_of("Rock", ""), type_of("Grass", "")];
    editor.state_mut().edit(|project| {
        project.recipe.texture = TextureRecipe { settings: TextureSettings::default(), types: types.into() };
    });
    editor.state_mut().ui.texture_panel.selected = Some(1);
    pause(&mut editor);
    assert!(editor.query_by_role_and_label(Role::Button, "All").is_none(), "there are no sets to choose from");
    editor.get_by_role_and_label(Role::ComboBox, "Climate set").click();
    editor.run_steps(2);
    editor.get_by_role_and_label(Role::TextInput, "New climate set").focus();
    editor.run_steps(2);
    type_text(&mut editor, "Monsoon");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    editor.run_steps(3);
    assert_eq!(editor.state().document.project().recipe.texture.types[1].set, "Monsoon");
    assert_eq!(editor.state().document.undo_name(), Some("Grass: Climate set none → Monsoon"));
    editor.get_by_role_and_label(Role::Button, "Monsoon").click();
    editor.run_steps(3);
    assert_eq!(active_set(&editor).as_deref(), Some("Monsoon"));
    editor.get_by_role_and_label(Role::ComboBox, "Climate set").click();
    editor.run_steps(2);
    let all = editor.get_all_by_role_and_label(Role::Button, "All").last().expect("the entry of the list");
    all.click();
    editor.run_steps(3);
    assert_eq!(editor.state().document.project().recipe.texture.types[1].set, "", "a set from the list");
}

#[test]
fn disabled_limits_are_shown_as_any() {
    let mut editor = editor();
    editor.state_mut().edit(|project| project.recipe.texture.types = vec![type_of("Rock", "")].into());
    editor.state_mut().ui.texture_panel.selected = Some(0);
    pause(&mut editor);
    editor.run_steps(2);
    assert_eq!(editor.query_all_by_label("any").count(), 2, "humidity and shadow");
}

#[test]
fn a_type_that_was_added_is_what_the_brush_paints() {
    let mut editor = editor();
    editor.state_mut().ui.selection.last = CardList::Layers;
    press(&mut editor, egui::Modifiers::COMMAND, egui::Key::P);
    type_text(&mut editor, "add terrain type snow");
    press(&mut editor, egui::Modifiers::NONE, egui::Key::Enter);
    editor.run_steps(3);
    let app = editor.state();
    let last = app.document.project().recipe.texture.types.last().cloned().expect("a type");
    assert_eq!(last.texture.map(|name| name.0), Some("assets/snow.jpg".into()));
    assert_eq!(app.ui.selection.last, CardList::Types, "and no step or layer");
}
