//! The right panel: terrain types, light, measures.

use egui::{Align, CollapsingHeader, Layout, ScrollArea, Ui};
use egui_material_icons::icons::ICON_ADD;
use egui_plot::{Bar, BarChart, Plot};

use crate::app::parameter_ui::{Scope, group_ui, group_ui_over};
use crate::app::theme::colours;
use crate::app::widgets::{Card, CardDeed, heading, icon_button};
use crate::engine::parameters::Range;
use crate::engine::recipe::Recipe;
use crate::engine::texture::{TerrainType, Unit};
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
        types_ui(ui, recipe, selected, shown);
        ui.add_space(12.0);
        heading(ui, "Light");
        ui.push_id("light", |ui| group_ui(ui, &mut recipe.light, &[]));
        ui.add_space(12.0);
        if let Some(preview) = shown {
            measures_ui(ui, preview);
        }
    });
}

fn types_ui(ui: &mut Ui, recipe: &mut Recipe, selected: &mut Option<usize>, shown: Option<&Preview>) {
    let scopes = scopes(recipe.texture.settings.unit, shown);
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
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        for i in 0..types.len() {
            let found = ui.push_id(i, |ui| card_ui(ui, types, i, *selected == Some(i), &scopes)).inner;
            deed = deed.or(found.map(|found| (i, found)));
        }
    });
    match deed {
        Some((i, CardDeed::Select)) => *selected = if *selected == Some(i) { None } else { Some(i) },
        Some((i, CardDeed::Delete)) => {
            types.remove(i);
            *selected = None;
        }
        Some((i, CardDeed::Duplicate)) => {
            let mut copy = types[i].clone();
            copy.name.push_str(" copy");
            types.insert(i + 1, copy);
            *selected = Some(i + 1);
        }
        Some((i, CardDeed::Up)) => {
            types.swap(i, i - 1);
            *selected = Some(i - 1);
        }
        Some((i, CardDeed::Down)) => {
            types.swap(i, i + 1);
            *selected = Some(i + 1);
        }
        None => {}
    }
    CollapsingHeader::new("All types").id_salt("all types").show(ui, |ui| {
        ui.push_id("texture", |ui| group_ui(ui, &mut recipe.texture.settings, &["fallback"]));
        fallback_ui(ui, recipe);
    });
}

/// What elevations slide over: percent, or metres over the land's own range.
fn scopes(unit: Unit, shown: Option<&Preview>) -> Vec<Scope> {
    let (low, high, unit) = match (unit, shown) {
        (Unit::Metres, Some(preview)) => (f64::from(preview.summary.min_m), f64::from(preview.summary.max_m), "m"),
        (Unit::Metres, None) => (0.0, 1000.0, "m"),
        (Unit::Percent, _) => (0.0, 100.0, "%"),
    };
    let span = (high - low).max(1.0);
    let scope = |key, low, high| Scope { key, range: Range { low, high }, unit };
    vec![
        scope("elevation", low, low + span),
        scope("elevation_release", 0.0, 0.5 * span),
        scope("skew", -0.5 * span, 0.5 * span),
    ]
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

/// A type's card; in the selected one its parameters.
fn card_ui(ui: &mut Ui, types: &mut [TerrainType], i: usize, selected: bool, scopes: &[Scope]) -> Option<CardDeed> {
    let last = types.len() - 1;
    let ground = &mut types[i];
    let (name, mut enabled, mut colour) = (ground.name.clone(), ground.enabled, ground.colour);
    let card = Card {
        name: &name,
        doc: "",
        note: String::new(),
        enabled: &mut enabled,
        colour: Some(&mut colour),
        selected,
        progress: None,
        can_move: [i > 0, i < last],
    };
    let deed = card.ui(ui, |ui| {
        if selected {
            ui.add_space(4.0);
            group_ui_over(ui, ground, &ON_THE_CARD, scopes);
            ui.add_space(4.0);
        }
    });
    (ground.enabled, ground.colour) = (enabled, colour);
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
