//! The right panel: terrain types, light, measures, variations.

use egui::{ScrollArea, Ui};
use egui_plot::{Bar, BarChart, Plot};

use crate::app::command::Command;
use crate::app::panels::compass::compass_ui;
use crate::app::panels::types::types_ui;
use crate::app::panels::variations::Variations;
use crate::app::parameter_ui::group_ui;
use crate::app::studio::Studio;
use crate::app::theme::colours;
use crate::app::thumbnails::Thumbnails;
use crate::app::widgets::heading;
use crate::engine::recipe::Recipe;
use crate::worker::{InputFiles, Preview};

/// What the panel draws on beside the recipe.
pub(in crate::app) struct Surroundings<'a> {
    pub(in crate::app) files: &'a InputFiles,
    pub(in crate::app) thumbnails: &'a Thumbnails,
    pub(in crate::app) shown: Option<&'a Preview>,
}

pub(in crate::app) fn right_ui(
    ui: &mut Ui,
    recipe: &mut Recipe,
    studio: &mut Studio,
    variations: &mut Variations,
    around: &Surroundings,
) -> Option<Command> {
    let mut command = None;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        command = types_ui(ui, recipe, studio, around);
        ui.add_space(12.0);
        heading(ui, "Light");
        compass_ui(ui, &mut recipe.light);
        ui.push_id("light", |ui| group_ui(ui, &mut recipe.light, &[]));
        ui.add_space(12.0);
        if let Some(preview) = around.shown {
            measures_ui(ui, preview);
        }
        ui.add_space(12.0);
        command = command.take().or(variations.ui(ui, around.thumbnails));
    });
    command
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
        .sense(egui::Sense::hover())
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
