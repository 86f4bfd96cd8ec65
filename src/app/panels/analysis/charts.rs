//! The charts of the analysis panel.

use egui::{Color32, Rect, Sense, Ui, Vec2};
use egui_plot::{Bar, BarChart, Line, PlotPoints, Points, VLine};

use crate::app::widgets::plot::{as_length, inner_marks, logarithmic_marks, plot};
use crate::app::widgets::theme::colours;
use crate::engine::analysis::Spectrum;
use crate::engine::cast::ToFloat;
use crate::engine::landforms::{Landform, Metric};
use crate::engine::parameters::Band;
use crate::worker::{LandformStats, Preview, SLOPE_BIN_DEG, Slopes};

/// What the share of uncovered terrain is.
pub(crate) const UNCOVERED_DOC: &str = "The share of the terrain outside the limits of all types. It shows the nearest type, or the one that is set for \
     uncovered terrain, and is counted in the share of that type too";

/// The histogram of heights or the hypsometric curve, and statistics of the heights.
pub(super) fn heights_ui(ui: &mut Ui, preview: &Preview, shows_curve: &mut bool) {
    let summary = &preview.summary;
    let bins = summary.histogram.len();
    let (low, high) = (f64::from(summary.min_m), f64::from(summary.max_m));
    let width = ((high - low) / bins.to_f64()).max(f64::MIN_POSITIVE);
    let colours = colours(ui);
    ui.horizontal(|ui| {
        ui.selectable_value(shows_curve, false, "Histogram").on_hover_text("The share of the terrain at each height");
        let doc = "The hypsometric curve: the share of the terrain above each height";
        ui.selectable_value(shows_curve, true, "Cumulative curve").on_hover_text(doc);
    });
    if *shows_curve {
        // The share above the lower bound of each bin, and none above the highest point.
        let mut above = 1.0;
        let mut points = vec![[0.0; 2]; 0];
        for (i, share) in summary.histogram.iter().enumerate() {
            points.push([100.0 * above, low + i.to_f64() * width]);
            above -= f64::from(*share);
        }
        points.push([0.0, high]);
        let shown = plot("Cumulative curve", 112.0, |percent| format!("{percent:.0} %"), true);
        shown.show(ui, |plot| {
            let line = Line::new("Share above", PlotPoints::from(points)).color(colours.text).width(1.25);
            plot.line(line.allow_hover(false));
        });
    } else {
        let bar = |(i, share): (usize, &f32)| {
            Bar::new(low + (i.to_f64() + 0.5) * width, f64::from(*share) * 100.0).width(width).fill(colours.weak)
        };
        let bars: Vec<Bar> = summary.histogram.iter().enumerate().map(bar).collect();
        let shown = plot("Histogram of heights", 96.0, |metres| format!("{metres:.0}"), false);
        shown.show(ui, |plot| plot.bar_chart(BarChart::new("Heights", bars).allow_hover(false)));
    }
    statistics_ui(ui, preview, low, high);
}

/// Statistics of the heights.
fn statistics_ui(ui: &mut Ui, preview: &Preview, low: f64, high: f64) {
    let summary = &preview.summary;
    egui::Grid::new("numbers").num_columns(2).spacing([16.0, 2.0]).show(ui, |ui| {
        let mut line = |name: &str, value: String, doc: &str| {
            ui.weak(name).on_hover_text(doc);
            ui.label(value);
            ui.end_row();
        };
        line("Lowest", format!("{low:.1} m"), "The lowest height");
        line("Highest", format!("{high:.1} m"), "The highest height");
        let share = summary.hypsometric_integral * 100.0;
        line(
            "Mean",
            format!("{:.1} m, {share:.0} % of the way up", summary.mean_m),
            "The mean height, and where it is between the lowest and the highest (the hypsometric integral)",
        );
        line("Uncovered", format!("{:.1} %", preview.uncovered * 100.0), UNCOVERED_DOC);
    });
}

/// The histogram of slopes with the walkable limit, which can be dragged.
pub(super) fn slopes_ui(ui: &mut Ui, slopes: &Slopes, limit_deg: &mut f64) {
    let colours = colours(ui);
    let bin_deg = f64::from(SLOPE_BIN_DEG);
    let bar = |(i, share): (usize, &f32)| {
        let middle = (i.to_f64() + 0.5) * bin_deg;
        let fill = if middle <= slopes.limit_deg { colours.weak } else { colours.line };
        Bar::new(middle, f64::from(*share) * 100.0).width(bin_deg).fill(fill)
    };
    let bars: Vec<Bar> = slopes.histogram.iter().enumerate().map(bar).collect();
    // The plot cannot be focused, because the slider below edits the same limit.
    let shown = plot("Slopes of the terrain", 96.0, |degrees| format!("{degrees:.0}°"), false)
        .sense(Sense::CLICK | Sense::DRAG)
        .x_grid_spacer(|input| inner_marks(input.bounds, 15.0));
    let limit = *limit_deg;
    let response = shown.show(ui, |plot| {
        plot.set_plot_bounds_x(0.0..=90.0);
        plot.bar_chart(BarChart::new("Slopes", bars).allow_hover(false));
        plot.vline(VLine::new("Limit", limit).color(colours.accent).width(1.5).allow_hover(false));
    });
    if let Some(pointer) = response.response.interact_pointer_pos()
        && (response.response.dragged() || response.response.clicked())
    {
        *limit_deg = response.transform.value_from_position(pointer).x.round().clamp(0.0, 90.0);
    }
    response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Slopes of the terrain"));
    response.response.on_hover_text(
        "Drag the line to set the walkable slope for this chart and the Walkable terrain map; agents have limits of \
         their own",
    );
    let percent = |share: f32| format!("{:.0} %", 100.0 * share);
    ui.label(format!(
        "{} of the terrain is at most {:.0}° steep; the largest connected area is {} of that",
        percent(slopes.walkable),
        slopes.limit_deg,
        percent(slopes.connected)
    ));
}

/// The power over the wavelength, both logarithmic, with the line of best fit.
pub(super) fn spectrum_ui(ui: &mut Ui, spectrum: &Spectrum) {
    let (Some(slope), Some(first), Some(last)) = (spectrum.slope(), spectrum.points.first(), spectrum.points.last())
    else {
        ui.weak("The terrain is too flat or too small for a spectrum");
        return;
    };
    let colours = colours(ui);
    let logarithms = |[wavelength_m, power]: [f64; 2]| [libm::log10(wavelength_m), libm::log10(power)];
    let points: Vec<[f64; 2]> = spectrum.points.iter().copied().map(logarithms).collect();
    let on_line = |wavelength_m: f64| spectrum.line_at(wavelength_m).map(|power| logarithms([wavelength_m, power]));
    let line: Vec<[f64; 2]> = [last[0], first[0]].into_iter().filter_map(on_line).collect();
    let shown = plot("Power spectrum", 112.0, |power| as_length(libm::pow(10.0, power)), false)
        .x_grid_spacer(|input| logarithmic_marks(input.bounds));
    let response = shown.show(ui, |plot| {
        plot.points(Points::new("Power", PlotPoints::from(points)).color(colours.weak).radius(1.25).allow_hover(false));
        plot.line(Line::new("Fit", PlotPoints::from(line)).color(colours.text).width(1.25).allow_hover(false));
    });
    response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Power spectrum"));
    number_ui(
        ui,
        "Spectral slope",
        slope,
        2,
        Metric::Spectrum,
        "How fast the power falls towards short wavelengths; closer to 0 is rougher",
    );
}

/// A number with its range in real mountain ranges.
fn number_ui(ui: &mut Ui, name: &str, value: f64, decimals: usize, metric: Metric, doc: &str) {
    let written = |number: f64| format!("{number:.decimals$}").replace('-', "\u{2212}");
    let real = metric.real_terrain_range();
    let (least, most) = (written(real.min), written(real.max));
    ui.horizontal_wrapped(|ui| {
        ui.weak(name).on_hover_text(doc);
        ui.label(written(value));
        ui.weak(format!("real mountains: {least} to {most}"))
            .on_hover_text("In 43 pieces of real mountain ranges, with samples 80 m apart");
    });
}

/// The shares of the landforms as bars, each over its range in real terrain.
pub(super) fn landforms_ui(ui: &mut Ui, forms: &LandformStats) {
    let real = |form: Landform| {
        Metric::ALL.iter().find(|metric| metric.key() == form.key()).map(|metric| metric.real_terrain_range())
    };
    let greatest = |form: &Landform| forms.landforms.share(*form).max(real(*form).map_or(0.0, |band| band.max));
    let most = Landform::ALL.iter().map(greatest).fold(0.05, f64::max);
    for form in Landform::ALL {
        share_ui(ui, form.label(), forms.landforms.share(*form), real(*form), most);
    }
    ui.weak(
        "The shading behind each bar is the range found in 43 pieces of real mountain ranges, with samples 80 m apart",
    );
    ui.add_space(4.0);
    if let Some(hurst) = forms.hurst {
        let doc = "The Hurst exponent: how relief grows with distance; 1 is smooth, 0 is as rough as noise";
        number_ui(ui, "Hurst exponent", hurst, 2, Metric::Hurst, doc);
    }
    let doc = "Samples per thousand that are lower than all eight neighbours, so that water cannot leave them";
    number_ui(ui, "Undrained points ‰", forms.pits, 1, Metric::Pits, doc);
}

/// A share as a bar on a scale that ends at `most`, over its range in real mountain ranges.
fn share_ui(ui: &mut Ui, name: &str, share: f64, real: Option<Band>, most: f64) {
    let colours = colours(ui);
    let (row, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), 16.0), Sense::hover());
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let label = match real {
        Some(Band { min, max }) => {
            format!("{name} {}, in real mountains {} to {}", percent(share), percent(min), percent(max))
        }
        None => format!("{name} {}", percent(share)),
    };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &label));
    let painter = ui.painter();
    let text = |at, anchor, text: &str, colour: Color32| {
        painter.text(at, anchor, text, egui::FontId::proportional(12.0), colour);
    };
    text(row.left_center(), egui::Align2::LEFT_CENTER, name, colours.weak);
    text(row.right_center(), egui::Align2::RIGHT_CENTER, &percent(share), colours.text);
    let scale = Rect::from_min_max(row.left_top() + Vec2::new(72.0, 0.0), row.right_bottom() - Vec2::new(52.0, 0.0));
    let part = |from: f64, to: f64, inset: f32| {
        let x = |share: f64| scale.left() + scale.width() * (share / most).clamp(0.0, 1.0).to_f32();
        Rect::from_x_y_ranges(x(from)..=x(to), scale.top() + inset..=scale.bottom() - inset)
    };
    painter.rect_filled(part(0.0, most, 7.0), 1.0, colours.sunken);
    if let Some(Band { min, max }) = real {
        painter.rect_filled(part(min, max, 1.0), 2.0, colours.line);
    }
    painter.rect_filled(part(0.0, share, 5.0), 1.0, colours.weak);
    response.on_hover_text(label);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_ranges_of_metrics_are_not_negative() {
        for metric in Metric::ALL {
            let Band { min, max } = metric.real_terrain_range();
            assert!(min < max && (min >= 0.0 || *metric == Metric::Spectrum), "{metric:?}");
        }
    }
}
