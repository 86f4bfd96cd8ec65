//! The right panel: terrain types, light, measures.

use egui::{Align, CollapsingHeader, Frame, Layout, RichText, ScrollArea, Sense, Ui};
use egui_material_icons::icons::{
    ICON_ADD, ICON_ARROW_DOWNWARD, ICON_ARROW_UPWARD, ICON_CONTENT_COPY, ICON_DELETE, ICON_VISIBILITY,
    ICON_VISIBILITY_OFF,
};
use egui_plot::{Bar, BarChart, Plot};

use crate::app::parameter_ui::group_ui;
use crate::app::theme::colours;
use crate::app::widgets::{heading, icon_button, icon_button_enabled};
use crate::engine::parameters::Colour;
use crate::engine::recipe::Recipe;
use crate::engine::texture::TerrainType;
use crate::worker::Preview;

/// Parameters of a terrain type that have a control of their own on its card.
const ON_THE_CARD: [&str; 2] = ["enabled", "colour"];

pub(in crate::app) fn right_ui(
    ui: &mut Ui,
    recipe: &mut Recipe,
    selected: &mut Option<usize>,
    shown: Option<&Preview>,
) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        types_ui(ui, recipe, selected);
        ui.add_space(12.0);
        heading(ui, "Light");
        ui.push_id("light", |ui| group_ui(ui, &mut recipe.light, &[]));
        ui.add_space(12.0);
        if let Some(preview) = shown {
            measures_ui(ui, preview);
        }
    });
}

/// What the user does with a card.
enum Deed {
    Delete,
    Duplicate,
    Up,
    Down,
}

fn types_ui(ui: &mut Ui, recipe: &mut Recipe, selected: &mut Option<usize>) {
    let types = &mut recipe.texture.types;
    ui.horizontal(|ui| {
        heading(ui, "Terrain types");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icon_button(ui, ICON_ADD, "Add a terrain type").clicked() {
                types.push(TerrainType { name: format!("Ground {}", types.len() + 1), ..Default::default() });
                *selected = Some(types.len() - 1);
            }
        });
    });
    let mut deed = None;
    for i in 0..types.len() {
        if let Some(found) = card_ui(ui, types, i, selected) {
            deed = Some((i, found));
        }
    }
    match deed {
        Some((i, Deed::Delete)) => {
            types.remove(i);
            *selected = None;
        }
        Some((i, Deed::Duplicate)) => {
            let mut copy = types[i].clone();
            copy.name.push_str(" copy");
            types.insert(i + 1, copy);
            *selected = Some(i + 1);
        }
        Some((i, Deed::Up)) if i > 0 => {
            types.swap(i, i - 1);
            *selected = Some(i - 1);
        }
        Some((i, Deed::Down)) if i + 1 < types.len() => {
            types.swap(i, i + 1);
            *selected = Some(i + 1);
        }
        Some((_, Deed::Up | Deed::Down)) | None => {}
    }
    CollapsingHeader::new("All types").id_salt("all types").show(ui, |ui| {
        ui.push_id("texture", |ui| group_ui(ui, &mut recipe.texture.settings, &["fallback"]));
        fallback_ui(ui, recipe);
    });
}

/// The fallback is one of the types by name.
fn fallback_ui(ui: &mut Ui, recipe: &mut Recipe) {
    let fallback = &mut recipe.texture.settings.fallback;
    let shown = fallback.clone().unwrap_or_else(|| "Nearest type".into());
    egui::ComboBox::new("fallback", "Fallback").selected_text(shown).show_ui(ui, |ui| {
        ui.selectable_value(fallback, None, "Nearest type");
        for ground in &recipe.texture.types {
            ui.selectable_value(fallback, Some(ground.name.clone()), &ground.name);
        }
    });
}

/// A type's card; below the selected one its parameters.
fn card_ui(ui: &mut Ui, types: &mut [TerrainType], i: usize, selected: &mut Option<usize>) -> Option<Deed> {
    let mut deed = None;
    let colours = colours(ui);
    let count = types.len();
    let ground = &mut types[i];
    let is_selected = *selected == Some(i);
    let fill = if is_selected { colours.hovered } else { colours.raised };
    let stroke = if is_selected { colours.accent } else { egui::Color32::TRANSPARENT };
    let frame =
        Frame::new().fill(fill).stroke((1.0, stroke)).corner_radius(4.0).inner_margin(egui::Margin::symmetric(6, 3));
    frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            let name = ground.name.clone();
            let (icon, verb) =
                if ground.enabled { (ICON_VISIBILITY, "Switch off") } else { (ICON_VISIBILITY_OFF, "Switch on") };
            if icon_button(ui, icon, &format!("{verb} {name}")).clicked() {
                ground.enabled = !ground.enabled;
            }
            let Colour(srgb) = &mut ground.colour;
            ui.color_edit_button_srgb(srgb).on_hover_text("Colour");
            let text = RichText::new(&name).color(if ground.enabled { colours.text } else { colours.weak });
            let label = ui.add(egui::Label::new(text).sense(Sense::click()).truncate());
            label.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_selected, &name));
            let mut clicked = label.clicked();
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if is_selected {
                    let buttons = [
                        (ICON_DELETE, Deed::Delete, "Delete", true),
                        (ICON_CONTENT_COPY, Deed::Duplicate, "Duplicate", true),
                        (ICON_ARROW_DOWNWARD, Deed::Down, "Move down", i + 1 < count),
                        (ICON_ARROW_UPWARD, Deed::Up, "Move up", i > 0),
                    ];
                    for (icon, found, verb, possible) in buttons {
                        if icon_button_enabled(ui, icon, &format!("{verb} {name}"), possible).clicked() {
                            deed = Some(found);
                        }
                    }
                }
                let rest = ui.available_size();
                clicked |= rest.x > 0.0 && ui.allocate_response(rest, Sense::click()).clicked();
            });
            if clicked {
                *selected = if is_selected { None } else { Some(i) };
            }
        });
        if is_selected {
            ui.add_space(4.0);
            ui.push_id(("type", i), |ui| group_ui(ui, ground, &ON_THE_CARD));
        }
    });
    deed
}

/// The histogram of heights and the numbers of the land that is shown.
fn measures_ui(ui: &mut Ui, preview: &Preview) {
    heading(ui, "Measures");
    let summary = &preview.summary;
    let bins = summary.histogram.len();
    let (low, high) = (f64::from(summary.min_m), f64::from(summary.max_m));
    let width = ((high - low) / bins as f64).max(f64::MIN_POSITIVE);
    let bar = |(i, share): (usize, &f32)| {
        Bar::new(low + (i as f64 + 0.5) * width, f64::from(*share) * 100.0).width(width).fill(colours(ui).weak)
    };
    let bars: Vec<Bar> = summary.histogram.iter().enumerate().map(bar).collect();
    Plot::new("histogram")
        .height(96.0)
        .show_axes([true, false])
        .show_grid(false)
        .show_background(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .show_x(false)
        .show_y(false)
        .set_margin_fraction(egui::Vec2::new(0.0, 0.05))
        .show(ui, |plot| plot.bar_chart(BarChart::new("Heights", bars)));
    egui::Grid::new("numbers").num_columns(2).spacing([16.0, 2.0]).show(ui, |ui| {
        let mut line = |name: &str, value: String, doc: &str| {
            ui.weak(name).on_hover_text(doc);
            ui.label(value);
            ui.end_row();
        };
        line("Lowest", format!("{low:.1} m"), "The lowest height");
        line("Highest", format!("{high:.1} m"), "The highest height");
        line("Mean", format!("{:.1} m", summary.mean_m), "The mean height");
        line(
            "Hypsometric integral",
            format!("{:.2}", summary.hypsometric_integral),
            "How much of the box around the land is filled: 0.5 where highs and lows balance",
        );
        line(
            "Uncovered",
            format!("{:.1} %", preview.uncovered * 100.0),
            "The share of the land that no terrain type covers",
        );
    });
}
