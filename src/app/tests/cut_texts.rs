//! No label and no number of a parameter is cut off at the default widths of the panels.

use std::collections::BTreeMap;

use egui::Shape;
use egui::epaint::ClippedShape;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::tests::{editor_with_size, pause};
use crate::engine::light::Light;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::faults::{Decay, Faults};
use crate::engine::origin::Origin;
use crate::engine::parameters::{
    Band, Colour, Group, Kind, Limits, Matrix, Parameter, Parameters, Point, Value, Values, Weighted,
};
use crate::engine::recipe::{StepSettings, World};
use crate::engine::texture::{TerrainType, TextureSettings};
use crate::engine::{Recipe, Step};

/// The value of a parameter at one end of its range. Of several choices it is the one with that index.
fn extreme(parameter: &Parameter, kind: Kind, is_high: bool, choice: usize) -> Value {
    let number = if is_high { parameter.hard.high } else { parameter.hard.low };
    match kind {
        Kind::Integer => Value::Integer(number as u32),
        Kind::Number => Value::Number(number),
        Kind::Boolean => Value::Boolean(true),
        Kind::Text | Kind::File | Kind::Texture => parameter.default.clone(),
        Kind::Colour => Value::Colour(Colour::WHITE),
        Kind::Choice(choices) => Value::Choice(choices[choice % choices.len()].key),
        Kind::Band => Value::Band(Band { min: number, max: number }),
        Kind::Limits => Value::Limits(Limits { min: number, max: number, release: parameter.hard.high }),
        Kind::Weighted => Value::Weighted(Weighted { value: number, weight: if is_high { 1e9 } else { 0.0 } }),
        Kind::Point => Value::Point(Point { x_m: number, z_m: number }),
        Kind::Matrix => {
            let mut matrix = Matrix::three([[0.0; 3]; 3]).resized(if choice.is_multiple_of(2) { 5 } else { 3 });
            matrix.numbers_mut().fill(number);
            Value::Matrix(matrix)
        }
        Kind::List(item_kind) => Value::List(vec![extreme(parameter, *item_kind, is_high, choice)].into()),
        Kind::Group(table) => Value::Group(extremes(table(), is_high, choice)),
    }
}

fn extremes(table: &[Parameter], is_high: bool, choice: usize) -> Values {
    table.iter().map(|row| (row.key, extreme(row, row.kind, is_high, choice))).collect()
}

/// Sets all parameters of a group to one end of their ranges.
fn set_extremes(group: &mut dyn Group, is_high: bool, choice: usize) {
    for (key, value) in extremes(group.table(), is_high, choice) {
        group.set(key, &value).unwrap_or_else(|error| panic!("{key}: {error}"));
    }
}

/// Sets all parameters that are none.
fn set_none(group: &mut dyn Group) {
    for row in group.table().iter().filter(|row| row.nullable) {
        group.set(row.key, &Value::None).expect("nullable");
    }
}

/// The most choices of a parameter in a table and in its groups.
fn most_choices(table: &[Parameter]) -> usize {
    fn of_kind(kind: Kind) -> usize {
        match kind {
            Kind::Choice(choices) => choices.len(),
            Kind::List(item_kind) => of_kind(*item_kind),
            Kind::Group(table) => most_choices(table()),
            _ => 1,
        }
    }
    table.iter().map(|row| of_kind(row.kind)).max().unwrap_or(1)
}

/// The texts that are shortened, or that do not fit into the part of the window where they are drawn.
fn cut_texts(shapes: &[ClippedShape]) -> Vec<String> {
    fn find(shape: &Shape, clip: egui::Rect, found: &mut Vec<String>) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| find(shape, clip, found)),
            Shape::Text(text) => {
                let rect = text.visual_bounding_rect();
                let is_inside = rect.left() >= clip.left() - 1.0 && rect.right() <= clip.right() + 1.0;
                let is_drawn = clip.is_positive() && !text.galley.text().is_empty();
                if is_drawn && (text.galley.elided || !is_inside) {
                    found.push(text.galley.text().into());
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    shapes.iter().for_each(|ClippedShape { clip_rect, shape, .. }| find(shape, *clip_rect, &mut found));
    found
}

/// Unfolds the items of all lists.
fn unfold(editor: &mut Harness<'static, App>) {
    for _ in 0..8 {
        let folded: Vec<_> = editor.query_all_by_label_contains("Unfold ").collect();
        if folded.is_empty() {
            return;
        }
        folded.iter().for_each(|button| button.click_accesskit());
        drop(folded);
        editor.run_steps(3);
    }
    panic!("the lists do not unfold");
}

/// The texts that were cut off, each with what was shown then.
#[derive(Default)]
struct CutTexts(BTreeMap<String, String>);

impl CutTexts {
    /// Shows a recipe, of which no step is evaluated.
    fn look(&mut self, editor: &mut Harness<'static, App>, what: &str, change: impl FnOnce(&mut Recipe)) {
        editor.state_mut().edit(|project| change(&mut project.recipe));
        editor.run_steps(3);
        unfold(editor);
        // The names of edits may be as long as those of steps and types.
        let is_edit = |text: &String| editor.state().document.history().0.any(|name| name == text);
        for text in cut_texts(&editor.output().shapes).into_iter().filter(|text| !is_edit(text)) {
            self.0.entry(text).or_insert_with(|| what.into());
        }
    }

    #[track_caller]
    fn assert_none(self) {
        assert!(self.0.is_empty(), "cut off: {:#?}", self.0);
    }
}

fn tall_editor() -> Harness<'static, App> {
    let mut editor = editor_with_size([1280.0, 6000.0], Vec::new());
    pause(&mut editor);
    editor
}

#[test]
fn texts_that_are_cut_off_are_found() {
    let mut shown = Harness::new_ui(|ui| {
        ui.label("A whole label");
        ui.set_max_width(60.0);
        ui.add(egui::Label::new("A label that is shortened").truncate());
        let (rect, _) = ui.allocate_exact_size(egui::Vec2::new(60.0, 20.0), egui::Sense::hover());
        let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        inside.shrink_clip_rect(rect);
        inside.add(egui::Label::new("1234567890.123456 m").extend());
    });
    shown.run_steps(2);
    assert_eq!(cut_texts(&shown.output().shapes), ["A label that is shortened", "1234567890.123456 m"]);
}

#[test]
fn rows_of_sizes_keep_the_width_of_their_panel() {
    let mut editor = tall_editor();
    let left = |editor: &Harness<'static, App>| editor.get_by_label("The terrain in 3-D").rect().left();
    editor.state_mut().edit(|project| project.recipe.stack = vec![Step::new(Faults::default())]);
    editor.run_steps(3);
    let before = left(&editor);
    let sizes = (1..=5).map(|i| Weighted { value: 11.11 * f64::from(i), weight: 7.77 }).collect::<Vec<_>>().into();
    let faults = Faults { decay: Decay::Sizes, sizes, ..Default::default() };
    editor.state_mut().edit(|project| project.recipe.stack = vec![Step::new(faults)]);
    editor.run_steps(30);
    assert_eq!(left(&editor), before);
    let ends: Vec<f32> = editor.get_all_by_label("Remove this row").map(|button| button.rect().right()).collect();
    assert!(ends.len() == 5 && ends.iter().all(|end| *end == ends[0] && *end < before), "{ends:?}");
}

#[test]
fn labels_and_numbers_of_all_operations_fit() {
    let (mut editor, mut cut) = (tall_editor(), CutTexts::default());
    for operation in AnyOperation::all() {
        for choice in 0..most_choices(operation.table()) {
            for is_high in [false, true] {
                let mut step = Step::new(operation.clone());
                set_extremes(step.operation.group_mut(), is_high, choice);
                step.settings.enabled = false;
                let what = format!("{}, choice {choice}, high {is_high}", operation.key());
                cut.look(&mut editor, &what, |recipe| recipe.stack = vec![step]);
            }
        }
        let mut step = Step::new(operation.clone());
        set_none(step.operation.group_mut());
        step.settings.enabled = false;
        cut.look(&mut editor, &format!("{}, none", operation.key()), |recipe| recipe.stack = vec![step]);
    }
    cut.assert_none();
}

#[test]
fn labels_and_numbers_of_steps_types_and_settings_fit() {
    let (mut editor, mut cut) = (tall_editor(), CutTexts::default());
    for choice in 0..most_choices(StepSettings::parameters()) {
        for is_high in [false, true] {
            let mut step = Step::new(AnyOperation::all().swap_remove(0));
            set_extremes(&mut step.settings, is_high, choice);
            (step.settings.enabled, step.settings.name) = (false, String::new());
            let what = format!("step, choice {choice}, high {is_high}");
            cut.look(&mut editor, &what, |recipe| recipe.stack = vec![step]);
        }
    }
    for (choice, is_high) in (0..6).flat_map(|choice| [(choice, false), (choice, true)]) {
        let mut terrain_type = TerrainType::default();
        set_extremes(&mut terrain_type, is_high, choice);
        terrain_type.enabled = false;
        let (mut settings, mut world, mut light) = (TextureSettings::default(), World::default(), Light::default());
        set_extremes(&mut settings, is_high, choice);
        set_extremes(&mut light, is_high, choice);
        set_extremes(&mut world, is_high, choice);
        (settings.active_set, settings.fallback) = (None, None);
        let mut origin = Origin::default();
        set_extremes(&mut origin, is_high, choice);
        editor.state_mut().edit(|project| project.origin = Some(origin));
        editor.state_mut().ui.texture_panel.selected = Some(0);
        let what = format!("texture and settings, choice {choice}, high {is_high}");
        cut.look(&mut editor, &what, |recipe| {
            recipe.stack.clear();
            (recipe.world, recipe.light, recipe.texture.settings) = (world, light, settings);
            recipe.texture.types = vec![terrain_type].into();
        });
    }
    cut.assert_none();
}
