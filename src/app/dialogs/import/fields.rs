//! The controls for the guesses about a heightmap.

use egui::{ComboBox, DragValue, Response, Ui};

use crate::app::widgets::typed_number::Quantity;
use crate::app::widgets::{ListUi, close_if_picked, list_item, list_value};
use crate::files::formats::heightmap::{ColourReading, HoleFilling, Holes, RawLayout, RawSample};
use crate::files::import::MapSummary;

/// The longest header of a file that can be entered, bytes.
const MAX_HEADER_BYTES: u32 = 1 << 20;

/// The width of a list of choices, points.
const CHOICE_WIDTH: f32 = 170.0;

/// A number of metres with a name for screen readers; returns whether it was changed.
pub(super) fn length_ui(ui: &mut Ui, value: &mut f64, label: &'static str, doc: &str, limits_m: [f64; 2]) -> bool {
    let speed = (value.abs() * 0.005).max(0.1);
    let field = Quantity::metres(label, limits_m).ui(ui, value, |field| field.speed(speed).max_decimals(3));
    labelled(ui, field, doc).changed()
}

/// The number of samples along a side; 0 if it is unknown. It counts when the user has finished typing.
fn side_ui(ui: &mut Ui, side: &mut usize, doc: &str) {
    let lowest = if *side == 0 { 0 } else { 2 };
    let text = |side: f64, _| if side == 0.0 { "?".to_string() } else { format!("{side:.0}") };
    let field = DragValue::new(side).range(lowest..=65_537).speed(1.0).custom_formatter(text);
    let field = ui.add(field.update_while_editing(false));
    labelled(ui, field, doc);
}

/// Gives a field a tooltip that is also its name for screen readers.
fn labelled(ui: &Ui, field: Response, doc: &str) -> Response {
    ui.ctx().accesskit_node_builder(field.id, |node| node.set_label(doc));
    field.on_hover_text(doc)
}

/// The layout of a file that does not describe its samples, which fits it in these sizes; returns it if it was changed.
/// `last` is shown while the size is not known.
pub(super) fn layout_ui(ui: &mut Ui, layout: RawLayout, last: [usize; 2], fitting: &[[usize; 2]]) -> Option<RawLayout> {
    let mut sample = layout.sample;
    let name = ui.label("Sample type").id;
    let combo = ComboBox::from_id_salt("sample type").selected_text(sample_name(sample)).width(CHOICE_WIDTH);
    let shown = combo.list_ui(ui, |ui| {
        for other in RawSample::ALL {
            list_value(ui, &mut sample, other, sample_name(other));
        }
    });
    shown.response.labelled_by(name);
    ui.end_row();
    ui.label("Header");
    let mut header_bytes = layout.header_bytes;
    let field = Quantity { unit: "bytes", ..Quantity::count("Header", 0..=MAX_HEADER_BYTES) };
    let field = field.ui(ui, &mut header_bytes, |field| field);
    labelled(ui, field, "The bytes before the first sample");
    ui.end_row();
    ui.label("Samples");
    let before = layout.size.unwrap_or(last);
    let mut size = before;
    ui.horizontal(|ui| {
        let [width, height] = &mut size;
        side_ui(ui, width, "Samples from west to east");
        ui.label("×");
        side_ui(ui, height, "Samples from north to south");
        size = fitted(before, size, fitting);
        if fitting.len() > 1 {
            ui.menu_button("Other sizes", |ui| {
                ui.weak("Sizes that fit, the likeliest first");
                for other @ [width, height] in fitting.iter().take(MAX_SIZES_LISTED) {
                    list_value(ui, &mut size, *other, format!("{width} × {height}"));
                }
                close_if_picked(ui);
            });
        }
    });
    ui.end_row();
    if sample.bytes() != layout.sample.bytes() || header_bytes != layout.header_bytes {
        // Another number of samples is left, so the size is guessed again.
        return Some(RawLayout { sample, size: None, header_bytes });
    }
    let changed = RawLayout { sample, size: if size == before { layout.size } else { Some(size) }, header_bytes };
    (changed != layout).then_some(changed)
}

/// The number of fitting sizes in the list.
const MAX_SIZES_LISTED: usize = 12;

/// The size after one side was changed: the other side follows if a size with the new one fits the file.
fn fitted(before: [usize; 2], changed: [usize; 2], fitting: &[[usize; 2]]) -> [usize; 2] {
    let Some(axis) = (0..2).find(|axis| before[*axis] != changed[*axis]) else { return changed };
    if before == [0; 2] {
        return [changed[axis]; 2];
    }
    fitting.iter().find(|size| size[axis] == changed[axis]).copied().unwrap_or(changed)
}

/// The type of a sample in words.
fn sample_name(sample: RawSample) -> &'static str {
    match sample {
        RawSample::U8 => "8 bits",
        RawSample::U16Le => "16 bits, little-endian",
        RawSample::U16Be => "16 bits, big-endian",
        RawSample::I16Le => "16 bits signed, little-endian",
        RawSample::I16Be => "16 bits signed, big-endian",
        RawSample::F32Le => "32-bit float, little-endian",
        RawSample::F32Be => "32-bit float, big-endian",
    }
}

/// How the colours of an image, which may have a palette, are read; returns another way if it is chosen.
pub(super) fn colours_ui(ui: &mut Ui, reading: ColourReading, has_palette: bool) -> Option<ColourReading> {
    let name = ui.label("Colours").id;
    let mut chosen = reading;
    let shown = ComboBox::from_id_salt("colours").selected_text(reading.name()).width(CHOICE_WIDTH).list_ui(ui, |ui| {
        let is_possible = |other: &ColourReading| has_palette || *other != ColourReading::Palette;
        for other in ColourReading::ALL.into_iter().filter(is_possible) {
            list_value(ui, &mut chosen, other, other.name());
        }
    });
    shown.response.labelled_by(name);
    ui.end_row();
    (chosen != reading).then_some(chosen)
}

/// The channel of an EXR; returns the name of another one if it is chosen.
pub(super) fn channel_ui(ui: &mut Ui, map: &MapSummary, chosen: Option<&str>) -> Option<String> {
    let name = ui.label("Channel").id;
    let mut other = None;
    let combo = ComboBox::from_id_salt("channel").selected_text(chosen.unwrap_or(&map.channel)).width(CHOICE_WIDTH);
    let shown = combo.list_ui(ui, |ui| {
        for channel in &map.channels {
            if list_item(ui, chosen.unwrap_or(&map.channel) == channel, channel).clicked() {
                other = Some(channel.clone());
            }
        }
    });
    shown.response.labelled_by(name);
    ui.end_row();
    other
}

/// What the holes of a map are filled with; returns another filling if it is chosen.
pub(super) fn holes_ui(ui: &mut Ui, holes: Holes, filling: HoleFilling) -> Option<HoleFilling> {
    let name = ui.label("Holes").id;
    let text_of = |filling| match (filling, holes.undeclared) {
        (HoleFilling::Interpolated, _) => "Interpolate".to_string(),
        (HoleFilling::Lowest, _) => "Lowest height".to_string(),
        (HoleFilling::OnlyDeclared, Some(value)) => format!("{value} is a height"),
        (HoleFilling::OnlyDeclared, None) => "Declared only".to_string(),
    };
    let mut chosen = filling;
    let shown = ComboBox::from_id_salt("holes").selected_text(text_of(filling)).width(CHOICE_WIDTH).list_ui(ui, |ui| {
        for other in [HoleFilling::Interpolated, HoleFilling::Lowest] {
            list_value(ui, &mut chosen, other, text_of(other));
        }
        if holes.undeclared.is_some() {
            list_value(ui, &mut chosen, HoleFilling::OnlyDeclared, text_of(HoleFilling::OnlyDeclared));
        }
    });
    shown.response.labelled_by(name).on_hover_text("What samples without a height are filled with");
    ui.end_row();
    (chosen != filling).then_some(chosen)
}
