//! Controls for parameters, made from their tables.

use std::cell::RefCell;

use egui::collapsing_header::{CollapsingState, paint_default_icon};
use egui::{
    Align, Button, ComboBox, DragValue, Label, Layout, Response, RichText, Sense, Slider, SliderClamping, Ui, Vec2,
};
use egui_material_icons::icons::{
    ICON_ADD, ICON_CLOSE, ICON_LOCK, ICON_LOCK_OPEN, ICON_VISIBILITY, ICON_VISIBILITY_OFF,
};
use serde_json::{Map, Value};

use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{band_slider, heading, icon_button, small_icon_button};
use crate::engine::mutation::{can_mutate, lock_name};
use crate::engine::parameters::{
    Colour, Group, Kind, Matrix, Parameter, Range, Scale, TextureName, choice_key, choice_value, group_to_json,
};
use crate::files::swatches::SHIPPED;
use crate::worker::InputFiles;

/// The width of the column of labels.
const LABEL_WIDTH: f32 = 104.0;
/// The width of a lock at the end of a label.
const LOCK_WIDTH: f32 = 16.0;
/// The width of the column of numbers.
const NUMBER_WIDTH: f32 = 68.0;

/// Draws a control for every parameter of `group` that applies, but those in `hidden`, and sets what was changed.
/// Returns the key of the parameter for which, or for a part of which, the user wants to choose a file.
pub(crate) fn group_ui(ui: &mut Ui, group: &mut dyn Group, hidden: &[&str]) -> Option<&'static str> {
    group_ui_guided(ui, group, hidden, Guide::default())
}

/// A slider range and a unit in place of the table's: what is comfortable may depend on the land.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) key: &'static str,
    pub(crate) range: Range,
    pub(crate) unit: &'static str,
}

/// What controls draw on beside the table.
#[derive(Clone, Copy, Default)]
pub(crate) struct Guide<'a> {
    pub(crate) scopes: &'a [Scope],
    /// The grounds there are to choose from.
    pub(crate) textures: Option<TextureChoices<'a>>,
    /// What stays in variations; `None`: nothing here ever varies.
    pub(crate) locks: Option<Locks<'a>>,
    /// The key of the parameter that is to be brought into sight, its caret in it.
    pub(crate) reveal: Option<&'static str>,
}

/// The parameters of a step that variations leave alone.
#[derive(Clone, Copy)]
pub(crate) struct Locks<'a> {
    /// All names of the project.
    pub(crate) names: &'a RefCell<Vec<String>>,
    pub(crate) step_seed: u32,
}

impl Locks<'_> {
    fn hold(self, key: &str) -> bool {
        self.names.borrow().contains(&lock_name(self.step_seed, key))
    }

    fn toggle(self, key: &str) {
        let name = lock_name(self.step_seed, key);
        let mut names = self.names.borrow_mut();
        match names.iter().position(|known| *known == name) {
            Some(at) => drop(names.remove(at)),
            None => names.push(name),
        }
    }
}

/// The pictures of ground there are, and how they look.
#[derive(Clone, Copy)]
pub(crate) struct TextureChoices<'a> {
    pub(crate) thumbnails: &'a Thumbnails,
    /// The files that the project holds.
    pub(crate) files: &'a InputFiles,
    /// The names of the pictures among them.
    pub(crate) own: &'a [TextureName],
}

/// The same with a guide.
pub(crate) fn group_ui_guided(
    ui: &mut Ui,
    group: &mut dyn Group,
    hidden: &[&str],
    guide: Guide,
) -> Option<&'static str> {
    let mut values = group_to_json(group);
    let before = values.clone();
    let table = group.table();
    let wants_file = table_ui(ui, table, &mut values, hidden, guide);
    for parameter in table {
        if let Some(value) = values.get(parameter.key)
            && before.get(parameter.key) != Some(value)
        {
            // Controls hold their values within the hard range; what is refused all the same stays as it was.
            let _ = group.set(parameter.key, value);
        }
    }
    wants_file
}

fn table_ui(
    ui: &mut Ui,
    table: &'static [Parameter],
    values: &mut Map<String, Value>,
    hidden: &[&str],
    guide: Guide,
) -> Option<&'static str> {
    let mut wants_file = None;
    for parameter in table {
        if hidden.contains(&parameter.key) || !parameter.applies_beside(values) {
            continue;
        }
        let Some(value) = values.get_mut(parameter.key) else { continue };
        let scope = guide.scopes.iter().find(|scope| scope.key == parameter.key);
        let scoped = scope.map(|scope| Parameter { slider: scope.range, unit: scope.unit, ..parameter.clone() });
        let shown = scoped.as_ref().unwrap_or(parameter);
        let is_revealed = guide.reveal == Some(parameter.key);
        if is_revealed {
            ui.data_mut(|data| data.insert_temp(caret(), true));
        }
        let row = ui.push_id(parameter.key, |ui| parameter_ui(ui, shown, value, guide));
        if is_revealed {
            // Not every control has a field to put it in.
            ui.data_mut(|data| data.remove::<bool>(caret()));
            row.response.scroll_to_me(Some(Align::Center));
        }
        if row.inner {
            wants_file = Some(parameter.key);
        }
    }
    wants_file
}

/// Where it is noted that the field that is drawn next gets the caret.
fn caret() -> egui::Id {
    egui::Id::unique("the caret is wanted")
}

/// Gives the field the caret, if it is wanted there.
fn take_caret(ui: &Ui, field: &Response) {
    if ui.data_mut(|data| data.remove_temp::<bool>(caret())) == Some(true) {
        field.request_focus();
    }
}

/// One row, or several for groups and lists; returns whether the user wants to choose a file.
fn parameter_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, guide: Guide) -> bool {
    match parameter.kind {
        Kind::Integer | Kind::Number => row(ui, parameter, value, guide.locks, number_ui),
        Kind::Boolean => row(ui, parameter, value, guide.locks, boolean_ui),
        Kind::Choice(_) => row(ui, parameter, value, guide.locks, choice_ui),
        Kind::Colour => row(ui, parameter, value, guide.locks, colour_ui),
        Kind::Text => row(ui, parameter, value, guide.locks, text_ui),
        Kind::Band => row(ui, parameter, value, guide.locks, band_ui),
        Kind::Point => row(ui, parameter, value, guide.locks, point_ui),
        Kind::Matrix => matrix_ui(ui, parameter, value),
        Kind::File => {
            let mut wants = false;
            row(ui, parameter, value, guide.locks, |ui, _, value, label| {
                let name = value.as_str().filter(|name| !name.is_empty()).unwrap_or("Choose a file…");
                let button = ui.add_sized(ui.available_size_before_wrap(), Button::new(name).truncate());
                wants = button.labelled_by(label.id).clicked();
            });
            return wants;
        }
        Kind::List(of) => return list_ui(ui, parameter, *of, value),
        Kind::Group(table) => return group_row(ui, parameter, table(), value, guide),
        Kind::Picture => {
            let mut wants = false;
            row(ui, parameter, value, guide.locks, |ui, _, value, _| wants = picture_ui(ui, value, guide.textures));
            return wants;
        }
        Kind::Limits => row(ui, parameter, value, guide.locks, limits_ui),
        Kind::Weighted => {}
    }
    false
}

/// The label with its tooltip, lock, reset and context menu; returns it.
fn label_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, locks: Option<Locks>) -> Response {
    let changed = *value != parameter.default;
    let (rect, _) = ui.allocate_exact_size(Vec2::new(LABEL_WIDTH, ui.spacing().interact_size.y), Sense::hover());
    let locks = locks.filter(|_| can_mutate(parameter));
    let is_locked = locks.is_some_and(|locks| locks.hold(parameter.key));
    let text = RichText::new(parameter.label);
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(rect).layout(Layout::left_to_right(Align::Center)));
    if let Some(locks) = locks.filter(|_| is_locked || ui.rect_contains_pointer(rect)) {
        inner.set_clip_rect(inner.clip_rect().intersect(rect.with_max_x(rect.right() - LOCK_WIDTH)));
        let place = rect.with_min_x(rect.right() - LOCK_WIDTH);
        let layout = Layout::left_to_right(Align::Center);
        let mut beside = ui.new_child(egui::UiBuilder::new().id_salt("lock").max_rect(place).layout(layout));
        let (icon, deed) = if is_locked { (ICON_LOCK, "Unlock") } else { (ICON_LOCK_OPEN, "Lock") };
        let name = format!("{deed} {}", parameter.label);
        if small_icon_button(&mut beside, icon, &name).clicked() {
            locks.toggle(parameter.key);
        }
    }
    let label = Label::new(text).truncate().show_tooltip_when_elided(false);
    let response = inner.add(label.sense(Sense::CLICK));
    let response = response.on_hover_ui(|ui| {
        ui.label(parameter.doc);
        let default = if parameter.default.is_null() { "none".into() } else { parameter.default.to_string() };
        let state = if changed { "double-click resets to" } else { "at its default," };
        let short: String = default.chars().take(40).collect();
        let unit = if parameter.unit.is_empty() { String::new() } else { format!(" in {}", parameter.unit) };
        ui.weak(format!("{}{unit} · {state} {short}", parameter.key));
    });
    if response.double_clicked() {
        value.clone_from(&parameter.default);
    }
    response.context_menu(|ui| {
        if ui.button("Reset").clicked() {
            value.clone_from(&parameter.default);
        }
        if let Some(locks) = locks {
            let deed = if is_locked { "Unlock" } else { "Lock in variations" };
            if ui.button(deed).clicked() {
                locks.toggle(parameter.key);
            }
        }
        if ui.button("Copy key").clicked() {
            ui.ctx().copy_text(parameter.key.into());
        }
    });
    response
}

fn row(
    ui: &mut Ui,
    parameter: &Parameter,
    value: &mut Value,
    locks: Option<Locks>,
    control: impl FnOnce(&mut Ui, &Parameter, &mut Value, &Response),
) {
    ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, value, locks);
        if parameter.nullable && optional_ui(ui, parameter, value, &label) {
            return;
        }
        control(ui, parameter, value, &label);
    });
}

/// The switch of a value that may be none; returns whether it is.
fn optional_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) -> bool {
    let mut on = !value.is_null();
    if ui.checkbox(&mut on, ()).labelled_by(label.id).changed() {
        *value = if on { initial_value(parameter) } else { Value::Null };
    }
    if !on {
        ui.weak(match parameter.kind {
            Kind::Limits => "any",
            Kind::Picture => "none",
            _ => "auto",
        });
    }
    !on
}

/// What a value is when it is switched on.
pub(crate) fn initial_value(parameter: &Parameter) -> Value {
    let middle = 0.5 * (parameter.slider.low + parameter.slider.high);
    match parameter.kind {
        Kind::Integer => Value::from(middle.round() as u32),
        Kind::Number | Kind::Weighted => Value::from(middle),
        Kind::Band => Value::from(vec![0.0_f64.clamp(parameter.hard.low, middle), middle]),
        Kind::Limits => Value::from(vec![parameter.slider.low, middle, 0.1 * (parameter.slider.high - middle)]),
        Kind::Point => Value::from(vec![middle; 2]),
        Kind::Matrix => matrix_of(3, &[]),
        Kind::Boolean => Value::from(false),
        Kind::Text | Kind::File => Value::from(""),
        Kind::Picture => Value::from(SHIPPED[0].0),
        Kind::Colour => Value::from("#ffffff"),
        Kind::Choice(choices) => choices.first().map_or(Value::Null, |choice| choice_value(choice.key)),
        Kind::List(_) => Value::Array(Vec::new()),
        Kind::Group(table) => defaults(table()),
    }
}

/// A group as its table has it by default.
fn defaults(table: &[Parameter]) -> Value {
    Value::Object(table.iter().map(|row| (row.key.to_string(), row.default.clone())).collect())
}

/// The same where bands take all of the land that there is.
fn defaults_in(table: &[Parameter], scopes: &[Scope]) -> Value {
    let mut values = defaults(table);
    for row in table.iter().filter(|row| matches!(row.kind, Kind::Band)) {
        if let Some(Scope { range, .. }) = scopes.iter().find(|scope| scope.key == row.key) {
            values[row.key] = Value::from(vec![range.low, range.high]);
        }
    }
    values
}

/// How many places after the point a slider's numbers have.
fn decimals(parameter: &Parameter) -> usize {
    let span = parameter.slider.high - parameter.slider.low;
    match (parameter.kind, parameter.scale) {
        (Kind::Integer, _) => 0,
        (_, Scale::Logarithmic) if parameter.slider.low < 1.0 => 2,
        _ if span > 1000.0 => 0,
        _ if span > 20.0 => 1,
        _ => 3,
    }
}

/// The same of a number that may be less than a slider shows.
fn decimals_of(parameter: &Parameter, number: f64) -> usize {
    let is_small = !matches!(parameter.kind, Kind::Integer) && number.abs() < 10.0;
    decimals(parameter).max(if is_small { 2 } else { 0 })
}

/// The letters of a unit for which a column of numbers has room.
const LONGEST_UNIT: usize = 3;

fn suffix(parameter: &Parameter) -> String {
    match parameter.unit {
        "°" => "°".into(),
        // Words are longer than the numbers' column; the tooltip says what is counted.
        unit if unit.is_empty() || unit.chars().count() > LONGEST_UNIT => String::new(),
        unit => format!(" {unit}"),
    }
}

/// A number as it is typed into a parameter's field: with its unit or without one, of metres also kilometres, thousands
/// in groups or not, and a comma for the point where it cannot be taken for a group's.
fn typed_number(parameter: &Parameter, text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.replace('−', "-");
    let (number, factor) = match text.strip_suffix("km") {
        Some(number) if parameter.unit == "m" => (number, 1000.0),
        _ => (text.strip_suffix(parameter.unit).unwrap_or(&text), 1.0),
    };
    let is_whole = matches!(parameter.kind, Kind::Integer);
    let number = match number.split_once(',') {
        None => number.into(),
        Some(_) if is_grouped(number) && (is_whole || number.contains('.')) => number.replace(',', ""),
        Some((_, part)) if !is_whole && part.len() != 3 => number.replace(',', "."),
        Some(_) => return None,
    };
    number.parse().ok().map(|number: f64| factor * number).filter(|number| !number.is_nan())
}

/// Whether commas group thousands before the point.
fn is_grouped(number: &str) -> bool {
    let whole = number.split('.').next().unwrap_or(number);
    whole.split(',').skip(1).all(|group| group.len() == 3) && number.matches(',').count() == whole.matches(',').count()
}

/// Where it is kept what is to be said of a number that was typed.
fn typed_note() -> egui::Id {
    egui::Id::unique("what is said of a number that was typed")
}

/// What is to be said of the last number that was typed, where it could not be taken as it was.
pub(crate) fn take_input_message(ctx: &egui::Context) -> Option<String> {
    ctx.data_mut(|data| data.remove_temp(typed_note()))
}

/// A field for a number, held within the hard range; of what is typed and lies outside it something is said.
fn number_field(ui: &mut Ui, parameter: &Parameter, number: &mut f64, width: f32) -> Response {
    let (ctx, before) = (ui.ctx().clone(), *number);
    let (shown, said) = (RefCell::new(String::new()), RefCell::new(None));
    let formatter = ui.style().number_formatter.clone();
    let show = |number: f64, decimals| {
        let text = formatter.format(number, decimals);
        shown.borrow_mut().clone_from(&text);
        text
    };
    let parse = |text: &str| {
        // The field was left as it was entered: what it shows may be rounded.
        if *text == *shown.borrow() {
            return Some(before);
        }
        let typed = typed_number(parameter, text);
        let Range { low, high } = parameter.hard;
        let limits = format!("{} goes from {low} to {high}{}", parameter.label, suffix(parameter));
        *said.borrow_mut() = match typed {
            Some(typed) if (low..=high).contains(&typed) => None,
            Some(_) => Some(limits),
            None => Some(format!("\u{201c}{text}\u{201d} is no number; {limits}")),
        };
        typed
    };
    let span = parameter.slider.high - parameter.slider.low;
    let field = DragValue::new(number)
        .range(parameter.hard.low..=parameter.hard.high)
        .speed(span / 400.0)
        .max_decimals(decimals_of(parameter, before))
        .suffix(suffix(parameter))
        .custom_formatter(show)
        .custom_parser(parse)
        .update_while_editing(false);
    // In a place of its own: a number that is too long is cut and does not widen the panel.
    let (rect, _) = ui.allocate_exact_size(Vec2::new(width, ui.spacing().interact_size.y), Sense::hover());
    let layout = Layout::centered_and_justified(egui::Direction::LeftToRight);
    let mut inside = ui.new_child(egui::UiBuilder::new().max_rect(rect).layout(layout));
    inside.shrink_clip_rect(rect);
    let response = inside.add(field);
    if let Some(said) = said.into_inner() {
        ctx.data_mut(|data| data.insert_temp(typed_note(), said));
    }
    response
}

fn set_number(parameter: &Parameter, value: &mut Value, number: f64) {
    let number = number.clamp(parameter.hard.low, parameter.hard.high);
    *value = match parameter.kind {
        Kind::Integer => Value::from(number.round() as u32),
        _ => Value::from(number),
    };
}

fn number_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) {
    let before = value.as_f64().unwrap_or(parameter.slider.low);
    let mut number = before;
    let rest = ui.available_width() - NUMBER_WIDTH - ui.spacing().item_spacing.x;
    ui.spacing_mut().slider_width = rest.max(40.0);
    let slider = Slider::new(&mut number, parameter.slider.low..=parameter.slider.high)
        .clamping(SliderClamping::Never)
        .logarithmic(parameter.scale == Scale::Logarithmic)
        .max_decimals(decimals(parameter))
        .show_value(false);
    // A slider that shows a value beyond its range must not move it: only a change by hand counts.
    if ui.add(slider).labelled_by(label.id).changed() {
        set_number(parameter, value, number);
    }
    let mut number = value.as_f64().unwrap_or(before);
    let field = number_field(ui, parameter, &mut number, NUMBER_WIDTH).labelled_by(label.id);
    take_caret(ui, &field);
    if field.changed() {
        set_number(parameter, value, number);
    }
}

fn boolean_ui(ui: &mut Ui, _parameter: &Parameter, value: &mut Value, label: &Response) {
    let mut on = value.as_bool().unwrap_or_default();
    if ui.checkbox(&mut on, ()).labelled_by(label.id).changed() {
        *value = Value::from(on);
    }
}

fn choice_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) {
    let Kind::Choice(choices) = parameter.kind else { return };
    let key = choice_key(value);
    let chosen = choices.iter().find(|choice| choice.key == key).map_or("", |choice| choice.label);
    let combo =
        ComboBox::from_id_salt(parameter.key).selected_text(chosen).width(ui.available_width()).show_ui(ui, |ui| {
            for choice in choices {
                if ui.selectable_label(choice.key == key, choice.label).on_hover_text(choice.doc).clicked() {
                    *value = choice_value(choice.key);
                }
            }
        });
    combo.response.labelled_by(label.id);
}

fn colour_ui(ui: &mut Ui, _parameter: &Parameter, value: &mut Value, label: &Response) {
    let Some(Colour(mut srgb)) = value.as_str().and_then(Colour::from_hex) else { return };
    if ui.color_edit_button_srgb(&mut srgb).labelled_by(label.id).changed() {
        *value = Value::from(Colour(srgb).to_string());
    }
    ui.weak(Colour(srgb).to_string());
}

/// Text is taken over when the field is left, so that a word is one edit and not one a letter.
fn text_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) {
    let id = ui.scope_id().with(("text", parameter.key));
    let known = value.as_str().unwrap_or_default().to_string();
    let mut text: String = ui.data_mut(|data| data.get_temp(id)).unwrap_or_else(|| known.clone());
    let field = egui::TextEdit::singleline(&mut text).desired_width(f32::INFINITY);
    let response = ui.add(field).labelled_by(label.id);
    take_caret(ui, &response);
    if response.lost_focus() {
        if text != known {
            *value = Value::from(text);
        }
        ui.data_mut(|data| data.remove::<String>(id));
    } else if response.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, text));
    }
}

fn band_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) {
    let limit = |i: usize| value.get(i).and_then(Value::as_f64).unwrap_or_default();
    let before = [limit(0), limit(1)];
    let mut band = before;
    ui.vertical(|ui| {
        band_slider(ui, &mut band, parameter.slider).labelled_by(label.id);
        ui.horizontal(|ui| {
            let width = 0.5 * (ui.available_width() - ui.spacing().item_spacing.x);
            number_field(ui, parameter, &mut band[0], width).labelled_by(label.id);
            number_field(ui, parameter, &mut band[1], width).labelled_by(label.id);
        });
    });
    if band != before {
        let band = pushed(before, band);
        *value = Value::from(band.map(|limit| limit.clamp(parameter.hard.low, parameter.hard.high)).to_vec());
    }
}

/// A band one of whose limits was moved by hand: it pushes the other one along.
fn pushed(before: [f64; 2], [low, high]: [f64; 2]) -> [f64; 2] {
    let moved = if low == before[0] { high } else { low };
    if low > high { [moved; 2] } else { [low, high] }
}

/// What a picture of ground is called: the shipped ones by what they show, others by their file.
pub(crate) fn texture_title(name: &TextureName) -> String {
    if !name.is_shipped() {
        return name.0.clone();
    }
    let stem = name.0.trim_start_matches(TextureName::SHIPPED).trim_end_matches(".jpg").replace('-', " ");
    capitalised(&stem)
}

/// The text as a title begins.
pub(crate) fn capitalised(text: &str) -> String {
    text.chars().take(1).flat_map(char::to_uppercase).chain(text.chars().skip(1)).collect()
}

/// The side of a picture in the grid of grounds, points, and how many stand in a row.
const TILE: f32 = 64.0;
const TILES_ACROSS: usize = 4;

/// The chosen ground, and below it when it is opened all that there are; returns whether the user wants to choose a
/// file.
fn picture_ui(ui: &mut Ui, value: &mut Value, textures: Option<TextureChoices>) -> bool {
    let chosen = TextureName(value.as_str().unwrap_or_default().into());
    let title = texture_title(&chosen);
    let mut button = Button::new(if title.is_empty() { "Choose a picture".into() } else { title.clone() }).truncate();
    let texture = textures.and_then(|textures| textures.thumbnails.ground(&chosen, textures.files));
    if let Some(texture) = texture {
        let image = egui::Image::new((texture.id(), Vec2::splat(16.0))).corner_radius(2.0);
        button = Button::image_and_text(image, title.as_str()).truncate();
    }
    let opener = ui.add_sized(ui.available_size_before_wrap(), button).on_hover_text("Choose a picture of ground");
    opener.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Change picture {title}")));
    let popup = egui::Popup::menu(&opener)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClick)
        .align(egui::RectAlign::BOTTOM_END)
        .show(|ui| {
            let gap = 4.0;
            ui.spacing_mut().item_spacing = Vec2::splat(gap);
            ui.set_width(TILES_ACROSS as f32 * (TILE + gap) - gap);
            let shipped: Vec<TextureName> = SHIPPED.iter().map(|(name, _)| TextureName((*name).into())).collect();
            let own = textures.map_or(&[][..], |textures| textures.own);
            let mut taken = None;
            for (heading_text, names) in [("Shipped", &shipped[..]), ("In this project", own)] {
                if names.is_empty() {
                    continue;
                }
                heading(ui, heading_text);
                for names in names.chunks(TILES_ACROSS) {
                    ui.horizontal(|ui| {
                        for name in names {
                            let texture = textures.and_then(|found| found.thumbnails.ground(name, found.files));
                            if tile_ui(ui, &texture_title(name), texture, *name == chosen).clicked() {
                                taken = Some(name.clone());
                            }
                        }
                    });
                }
            }
            ui.add_space(gap);
            let wants = ui.add_sized([ui.available_width(), 24.0], Button::new("Choose a picture…"));
            let wants =
                wants.on_hover_text("A tileable PNG, JPEG, TGA or BMP; it is kept inside the project").clicked();
            (taken, wants)
        });
    let Some((taken, wants)) = popup.map(|popup| popup.inner) else { return false };
    if let Some(name) = taken {
        *value = Value::from(name.0);
    }
    wants
}

/// A ground with its name; a plain field as long as its picture is not there.
fn tile_ui(ui: &mut Ui, title: &str, texture: Option<&egui::TextureHandle>, chosen: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(TILE, TILE + 16.0), Sense::click());
    let colours = colours(ui);
    let picture = egui::Rect::from_min_size(rect.min, Vec2::splat(TILE));
    match texture {
        Some(texture) => egui::Image::new((texture.id(), picture.size())).corner_radius(4.0).paint_at(ui, picture),
        None => drop(ui.painter().rect_filled(picture, 4.0, colours.sunken)),
    }
    if chosen || response.hovered() || response.has_focus() {
        let stroke = egui::Stroke::new(2.0, if chosen { colours.accent } else { colours.text });
        ui.painter().rect_stroke(picture, 4.0, stroke, egui::StrokeKind::Inside);
    }
    let mut inside = ui.new_child(
        egui::UiBuilder::new()
            .max_rect(egui::Rect::from_min_max(picture.left_bottom(), rect.max))
            .layout(Layout::left_to_right(Align::Center)),
    );
    inside.add(Label::new(RichText::new(title).size(11.0).color(colours.text)).truncate());
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, chosen, title));
    response.on_hover_text(title)
}

/// A row for a parameter that names one of several things, or none of them.
pub(crate) fn name_ui(ui: &mut Ui, group: &mut dyn Group, key: &str, none: &str, names: &[&str]) {
    let Some(parameter) = group.table().iter().find(|parameter| parameter.key == key) else { return };
    let before = group.get(key).unwrap_or(Value::Null);
    let mut value = before.clone();
    ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, &mut value, None);
        let chosen = value.as_str().unwrap_or(none).to_string();
        let width = ui.available_width();
        let combo = ComboBox::from_id_salt(key).selected_text(chosen).width(width).truncate().show_ui(ui, |ui| {
            if ui.selectable_label(value.is_null(), none).clicked() {
                value = Value::Null;
            }
            for name in names {
                if ui.selectable_label(value.as_str() == Some(*name), *name).clicked() {
                    value = Value::from(*name);
                }
            }
        });
        combo.response.labelled_by(label.id);
    });
    if value != before {
        // A name is always a value.
        let _ = group.set(key, &value);
    }
}

fn limits_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) {
    let part = |i: usize| value.get(i).and_then(Value::as_f64).unwrap_or_default();
    let before = [part(0), part(1), part(2)];
    let [min, max, mut release] = before;
    let mut band = [min, max];
    ui.vertical(|ui| {
        band_slider(ui, &mut band, parameter.slider).labelled_by(label.id);
        ui.horizontal(|ui| {
            let width = 0.5 * (ui.available_width() - ui.spacing().item_spacing.x);
            number_field(ui, parameter, &mut band[0], width).labelled_by(label.id).on_hover_text("From");
            number_field(ui, parameter, &mut band[1], width).labelled_by(label.id).on_hover_text("To");
        });
        ui.horizontal(|ui| {
            let width = 0.5 * (ui.available_width() - ui.spacing().item_spacing.x);
            let height = ui.spacing().interact_size.y;
            let fade = ui.add_sized([width, height], Label::new(RichText::new("fade").color(colours(ui).weak)));
            number_field(ui, parameter, &mut release, width).labelled_by(fade.id).on_hover_text("Fade outside");
        });
    });
    let [min, max] = pushed([min, max], band);
    let after = [min, max, release.max(0.0)];
    if after != before {
        *value = Value::from(after.to_vec());
    }
}

fn point_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value, label: &Response) {
    let part = |i: usize| value.get(i).and_then(Value::as_f64).unwrap_or_default();
    let before = [part(0), part(1)];
    let mut place = before;
    let width = 0.5 * (ui.available_width() - ui.spacing().item_spacing.x);
    for (number, direction) in place.iter_mut().zip(["East of the west border", "South of the north border"]) {
        number_field(ui, parameter, number, width).labelled_by(label.id).on_hover_text(direction);
    }
    if place != before {
        *value = Value::from(place.to_vec());
    }
}

/// A matrix of that side: the numbers of another one around its middle, 0 beyond them.
fn matrix_of(side: usize, rows: &[Value]) -> Value {
    let from_middle = |i: usize| (i + rows.len() / 2).checked_sub(side / 2);
    let number = |r: usize, c: usize| rows.get(from_middle(r)?)?.get(from_middle(c)?)?.as_f64();
    (0..side).map(|r| (0..side).map(|c| number(r, c).unwrap_or_default()).collect::<Value>()).collect()
}

/// The numbers as they lie on the map, and the choice of how many there are.
fn matrix_ui(ui: &mut Ui, parameter: &Parameter, value: &mut Value) {
    let row = ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, value, None);
        let side = value.as_array().map_or(0, Vec::len);
        for other in Matrix::SIDES {
            let button = ui.selectable_label(side == other, format!("{other} × {other}"));
            if button.clicked() && side != other {
                *value = matrix_of(other, value.as_array().map_or(&[], Vec::as_slice));
            }
        }
        label
    });
    let label = row.inner;
    let Value::Array(rows) = value else { return };
    let gap = 2.0;
    let width = (ui.available_width() - gap * (rows.len() - 1) as f32) / rows.len() as f32;
    for row in rows {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for cell in row.as_array_mut().into_iter().flatten() {
                let before = cell.as_f64().unwrap_or_default();
                let mut number = before;
                number_field(ui, parameter, &mut number, width).labelled_by(label.id);
                if number != before {
                    *cell = Value::from(number);
                }
            }
        });
    }
}

/// The items below each other; returns whether the user wants to choose a file for one of them.
fn list_ui(ui: &mut Ui, parameter: &Parameter, of: Kind, value: &mut Value) -> bool {
    let Value::Array(items) = value else { return false };
    let mut added = false;
    ui.horizontal(|ui| {
        let mut whole = Value::Array(std::mem::take(items));
        label_ui(ui, parameter, &mut whole, None);
        if let Value::Array(kept) = whole {
            *items = kept;
        }
        ui.weak(if matches!(of, Kind::Weighted) { "size and weight".into() } else { items.len().to_string() });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            added = icon_button(ui, ICON_ADD, &format!("Add to {}", parameter.label.to_lowercase())).clicked();
        });
    });
    let (mut removed, mut wants_file) = (None, false);
    // An item that has been added is there to be looked at.
    let id = ui.scope_id().with("just added");
    let just_added: Option<usize> = ui.data_mut(|data| data.remove_temp(id));
    for (i, item) in items.iter_mut().enumerate() {
        ui.push_id(i, |ui| {
            let remove = match of {
                Kind::Weighted => weighted_ui(ui, parameter, item),
                Kind::Group(table) => {
                    let title = format!("{} {}", parameter.label, i + 1);
                    let (wants, remove) = item_ui(ui, &title, table(), item, just_added == Some(i));
                    wants_file |= wants;
                    remove
                }
                _ => {
                    wants_file |=
                        parameter_ui(ui, &Parameter { kind: of, ..parameter.clone() }, item, Guide::default());
                    icon_button(ui, ICON_CLOSE, "Remove this row").clicked()
                }
            };
            if remove {
                removed = Some(i);
            }
        });
    }
    if let Some(i) = removed {
        items.remove(i);
    }
    if added {
        let new = items.last().cloned().unwrap_or_else(|| match of {
            Kind::Weighted => Value::from(vec![parameter.slider.high * 0.1, 1.0]),
            _ => initial_value(&Parameter { kind: of, ..parameter.clone() }),
        });
        ui.data_mut(|data| data.insert_temp(id, items.len()));
        items.push(new);
    }
    wants_file
}

/// A value and its weight in one row; returns whether it is to be removed.
fn weighted_ui(ui: &mut Ui, parameter: &Parameter, item: &mut Value) -> bool {
    let part = |i: usize| item.get(i).and_then(Value::as_f64).unwrap_or_default();
    let [mut number, mut weight] = [part(0), part(1)];
    let before = [number, weight];
    let mut removed = false;
    ui.horizontal(|ui| {
        ui.add_space(LABEL_WIDTH + ui.spacing().item_spacing.x);
        let width = 0.5 * (ui.available_width() - 20.0 - 2.0 * ui.spacing().item_spacing.x);
        number_field(ui, parameter, &mut number, width);
        let field = DragValue::new(&mut weight).range(0.0..=1e9).speed(0.5).update_while_editing(false);
        ui.add_sized(Vec2::new(width, ui.spacing().interact_size.y), field).on_hover_text("How often it is drawn");
        removed = icon_button(ui, ICON_CLOSE, "Remove this row").clicked();
    });
    if [number, weight] != before {
        *item = Value::from(vec![number, weight]);
    }
    removed
}

/// A group of a list below a title that folds it away; returns whether the user wants to choose a file, and whether
/// the group is to be removed. One that can be switched off has its switch beside the title.
/// `opens` unfolds it.
fn item_ui(ui: &mut Ui, title: &str, table: &'static [Parameter], item: &mut Value, opens: bool) -> (bool, bool) {
    const SWITCH: &str = "enabled";
    let Value::Object(values) = item else { return (false, false) };
    let mut state = CollapsingState::load_with_default_open(ui.ctx(), ui.scope_id().with("item"), false);
    if opens {
        state.set_open(true);
    }
    let (mut wants_file, mut removed) = (false, false);
    let header = ui.horizontal(|ui| {
        let verb = if state.is_open() { "Fold" } else { "Unfold" };
        let toggle = state.show_toggle_button(ui, paint_default_icon);
        toggle.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("{verb} {title}")));
        if let Some(Value::Bool(on)) = values.get_mut(SWITCH) {
            let (icon, verb) = if *on { (ICON_VISIBILITY, "Switch off") } else { (ICON_VISIBILITY_OFF, "Switch on") };
            if icon_button(ui, icon, &format!("{verb} {title}")).clicked() {
                *on = !*on;
            }
        }
        if ui.add(Label::new(title).sense(Sense::CLICK)).clicked() {
            state.toggle(ui);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            removed = icon_button(ui, ICON_CLOSE, &format!("Remove {title}")).clicked();
        });
    });
    state.show_body_indented(&header.response, ui, |ui| {
        wants_file = table_ui(ui, table, values, &[SWITCH], Guide::default()).is_some();
    });
    (wants_file, removed)
}

/// A group that can be switched off, its parameters indented below it; returns whether the user wants to choose a file
/// for one of them.
fn group_row(ui: &mut Ui, parameter: &Parameter, table: &'static [Parameter], value: &mut Value, guide: Guide) -> bool {
    ui.horizontal(|ui| {
        let label = label_ui(ui, parameter, value, guide.locks);
        let mut on = !value.is_null();
        if ui.checkbox(&mut on, ()).labelled_by(label.id).changed() {
            *value = if on { defaults_in(table, guide.scopes) } else { Value::Null };
        }
    });
    let Value::Object(values) = value else { return false };
    let frame = egui::Frame::new().stroke((1.0, colours(ui).line)).inner_margin(6.0).corner_radius(4.0);
    // A group is locked as a whole.
    let guide = Guide { locks: None, ..guide };
    frame.show(ui, |ui| table_ui(ui, table, values, &[], guide).is_some()).inner
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::mask::Mask;
    use crate::engine::parameters::{Field, Parameters};

    #[test]
    fn numbers_are_typed_with_a_unit_or_without_one() {
        let typed = |kind: Kind, unit: &'static str, text: &str| {
            typed_number(&Parameter { kind, unit, ..Mask::parameters()[0].clone() }, text)
        };
        let cases = [
            ("5", 5.0),
            (" 1250.5 m", 1250.5),
            ("1,5", 1.5),
            ("1,250.5", 1250.5),
            ("2.5 km", 2500.0),
            ("−4", -4.0),
            ("1e9", 1e9),
        ];
        for (text, number) in cases {
            assert_eq!(typed(Kind::Number, "m", text), Some(number), "{text}");
        }
        assert_eq!(typed(Kind::Number, "°", "40 °"), Some(40.0));
        assert_eq!(typed(Kind::Integer, "", "10,000"), Some(10_000.0));
        // What could be meant in two ways, and what is no number.
        for text in ["1,250", "1.250,5", "12,34,567", "", "abc", "NaN", "5 e", "5 %", "1.2.3", "2 k"] {
            assert_eq!(typed(Kind::Number, "m", text), None, "{text}");
        }
        assert_eq!(typed(Kind::Integer, "", "1,5"), None);
        assert_eq!(typed(Kind::Number, "°", "5 km"), None);
    }

    #[test]
    fn a_new_mask_by_elevation_takes_the_whole_land() {
        let table = Mask::parameters();
        let band = |scopes: &[Scope]| {
            Mask::from_value(&defaults_in(table, scopes), &table[0])
                .map(|mask| [mask.elevation_m.min, mask.elevation_m.max])
        };
        let scope = Scope { key: "elevation_m", range: Range { low: -340.0, high: 1210.0 }, unit: "m" };
        assert_eq!(band(&[scope]), Ok([-340.0, 1210.0]));
        assert_eq!(band(&[]), Ok([-100_000.0, 100_000.0]));
    }

    #[test]
    fn the_limit_that_is_moved_pushes_the_other_one() {
        for (before, band, expected) in [
            ([0.2, 0.6], [0.2, 0.5], [0.2, 0.5]),
            ([0.2, 0.6], [0.2, 0.1], [0.1, 0.1]),
            ([0.2, 0.6], [0.7, 0.6], [0.7, 0.7]),
        ] {
            assert_eq!(pushed(before, band), expected, "{before:?} to {band:?}");
        }
    }
}
