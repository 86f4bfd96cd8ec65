//! The measures: what the land is like, in sections that fold. What takes longer comes from the measures thread, and
//! only what is unfolded is asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Align, Button, CollapsingHeader, Color32, Rect, Sense, Ui, Vec2};
use egui_plot::{AxisHints, Bar, BarChart, GridMark, Line, Plot, PlotPoints, Points, VLine};

use crate::app::tools::profile_tool::ProfileTool;
use crate::app::views::length;
use crate::app::widgets::heading;
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::app::widgets::theme::colours;
use crate::engine::analysis::Spectrum;
use crate::engine::landforms::{Landform, Metric};
use crate::engine::parameters::Band;
use crate::project::ViewSettings;
use crate::scene::scale::round_length;
use crate::worker::{
    Analyser, AnalysisRequest, AnalysisResult, JobError, LandformStats, Preview, SLOPE_BIN_DEG, Slopes, Wake,
};

/// How long measures may be those of another land before they fade, seconds: shorter waits would only flicker.
const NOTICEABLE: f64 = 0.25;

/// The most marks of an axis.
const MOST_MARKS: u32 = 64;

/// The rows of the view's table that are no concern of the measures.
const OTHER_ROWS: [&str; 4] = ["preview_samples", "iterations_per_frame", "water_m", "locked"];

/// A section of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Heights,
    Slopes,
    Profile,
    Landforms,
    Spectrum,
}

impl Section {
    const ALL: [Self; 5] = [Self::Heights, Self::Slopes, Self::Profile, Self::Landforms, Self::Spectrum];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Heights => "Heights",
            Self::Slopes => "Slopes",
            Self::Profile => "Profile",
            Self::Landforms => "Landforms",
            Self::Spectrum => "Spectrum",
        }
    }

    fn doc(self) -> &'static str {
        match self {
            Self::Heights => "How much of the land lies at which heights",
            Self::Slopes => "How much of the land is how steep, and how much of it can be walked",
            Self::Profile => "The heights along a line over the land",
            Self::Landforms => "What the land is made of, beside three real ranges",
            Self::Spectrum => "How much of the relief lies at which wavelengths",
        }
    }
}

/// The state of the measures. None of it is part of the document.
pub(crate) struct AnalysisPanel {
    analyser: Analyser,
    asked: Option<AnalysisRequest>,
    found: Option<AnalysisResult>,
    failed: Option<String>,
    /// The section that was just asked for, and is to be brought into view.
    awaited: Option<Section>,
    /// Since when the measures have been those of another land than the one that is shown.
    outdated_since: Option<f64>,
    shows_curve: bool,
}

/// What the measures draw on.
pub(crate) struct AnalysisContext<'a> {
    /// The titles of the sections that are unfolded.
    pub(crate) unfolded: &'a mut BTreeSet<String>,
    pub(crate) view: &'a mut ViewSettings,
    pub(crate) profile: &'a mut ProfileTool,
    pub(crate) shown: Option<&'a Preview>,
    pub(crate) is_playing: bool,
    /// The pointer's place on the land, metres east and south.
    pub(crate) crosshair_m: Option<[f64; 2]>,
}

impl AnalysisPanel {
    pub(crate) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            analyser: Analyser::start(wake)?,
            asked: None,
            found: None,
            failed: None,
            awaited: None,
            outdated_since: None,
            shows_curve: false,
        })
    }

    /// Unfolds a section and brings it into view.
    pub(crate) fn reveal(&mut self, section: Section, unfolded: &mut BTreeSet<String>) {
        unfolded.insert(section.title().into());
        self.awaited = Some(section);
    }

    /// What is known of the land that is shown.
    #[cfg(test)]
    pub(crate) fn found(&self) -> Option<&AnalysisResult> {
        self.found.as_ref()
    }

    /// Takes what was found out, and asks for what is unfolded: of lands at rest, of which the next one does not come
    /// with the next frame.
    pub(crate) fn ask(&mut self, unfolded: &BTreeSet<String>, limit_deg: f64, shown: &Preview, at_rest: bool) {
        match self.analyser.take() {
            Some(Ok(found)) => (self.found, self.failed) = (Some(found), None),
            Some(Err(JobError::Failed(why) | JobError::Panicked(why))) => self.failed = Some(why),
            Some(Err(JobError::Cancelled)) | None => {}
        }
        let is_unfolded = |section: Section| unfolded.contains(section.title());
        let request = AnalysisRequest {
            terrain: shown.terrain.clone(),
            walkable_deg: is_unfolded(Section::Slopes).then_some(limit_deg),
            spectrum: is_unfolded(Section::Spectrum),
            landforms: is_unfolded(Section::Landforms),
        };
        let asks = request.walkable_deg.is_some() || request.spectrum || request.landforms;
        if asks && at_rest && !shown.coarse && !self.asked.as_ref().is_some_and(|asked| asked.is_same(&request)) {
            self.analyser.request(request.clone());
            self.asked = Some(request);
        }
    }

    /// Draws the sections.
    pub(crate) fn ui(&mut self, ui: &mut Ui, context: &mut AnalysisContext, parameters: &mut ParameterState) {
        heading(ui, "Measures");
        let Some(shown) = context.shown else { return };
        let is_current = self.found.as_ref().is_none_or(|found| Arc::ptr_eq(&found.terrain, &shown.terrain));
        let now = ui.input(|input| input.time);
        self.outdated_since = if is_current { None } else { self.outdated_since.or(Some(now)) };
        for section in Section::ALL {
            let is_open = context.unfolded.contains(section.title());
            let header = CollapsingHeader::new(section.title()).id_salt(section.title()).open(Some(is_open));
            let body = header.show(ui, |ui| self.section_ui(ui, section, context, shown, now, parameters));
            let response = body.header_response.on_hover_text(section.doc());
            if response.clicked() && !context.unfolded.remove(section.title()) {
                context.unfolded.insert(section.title().into());
            }
            // The body is whole only a few frames later.
            if self.awaited == Some(section) && body.openness >= 1.0 {
                response.scroll_to_me(Some(Align::TOP));
                self.awaited = None;
            }
        }
    }

    fn section_ui(
        &mut self,
        ui: &mut Ui,
        section: Section,
        context: &mut AnalysisContext,
        shown: &Preview,
        now: f64,
        parameters: &mut ParameterState,
    ) {
        match section {
            Section::Heights => self.heights_ui(ui, shown),
            Section::Profile => {
                context.profile.plot_ui(ui, &shown.terrain, context.crosshair_m);
                let button = Button::selectable(context.profile.is_drawing, "Draw another line");
                let button = ui.add(button.frame_when_inactive(true));
                if button
                    .on_hover_text("The next drag on a map draws the line; its ends can be dragged there")
                    .clicked()
                {
                    context.profile.is_drawing ^= true;
                }
            }
            Section::Slopes | Section::Landforms | Section::Spectrum => {
                if let Some(why) = &self.failed {
                    ui.weak(format!("This land could not be measured: {why}"));
                    return;
                }
                let old = self.outdated_since.is_some_and(|since| now - since > NOTICEABLE);
                ui.scope(|ui| {
                    if old {
                        ui.set_opacity(0.5);
                    }
                    self.found_ui(ui, section, context, parameters);
                });
                if old && context.is_playing {
                    ui.weak("Measured anew when the uplift rests");
                }
            }
        }
    }

    /// A section of what the measures thread finds out.
    fn found_ui(&self, ui: &mut Ui, section: Section, context: &mut AnalysisContext, parameters: &mut ParameterState) {
        let is_known = match (&self.found, section) {
            (Some(AnalysisResult { slopes: Some(slopes), .. }), Section::Slopes) => {
                slopes_ui(ui, slopes, &mut context.view.walkable_deg);
                true
            }
            (Some(AnalysisResult { forms: Some(forms), .. }), Section::Landforms) => {
                landforms_ui(ui, forms);
                true
            }
            (Some(AnalysisResult { spectrum: Some(spectrum), .. }), Section::Spectrum) => {
                spectrum_ui(ui, spectrum);
                true
            }
            _ => false,
        };
        if !is_known {
            ui.weak(if context.is_playing { "Measured when the uplift rests" } else { "Measuring…" });
        }
        if section == Section::Slopes {
            group_ui(ui, context.view, &OTHER_ROWS, &mut ParameterContext::new(parameters));
        }
    }

    /// The histogram of heights or the hypsometric curve, and the numbers of the land that is shown.
    fn heights_ui(&mut self, ui: &mut Ui, preview: &Preview) {
        let summary = &preview.summary;
        let bins = summary.histogram.len();
        let (low, high) = (f64::from(summary.min_m), f64::from(summary.max_m));
        let width = ((high - low) / bins as f64).max(f64::MIN_POSITIVE);
        let colours = colours(ui);
        ui.horizontal(|ui| {
            ui.selectable_value(&mut self.shows_curve, false, "Histogram")
                .on_hover_text("How much lies at each height");
            let doc = "The hypsometric curve: how much of the land is higher than each height";
            ui.selectable_value(&mut self.shows_curve, true, "Higher than").on_hover_text(doc);
        });
        if self.shows_curve {
            // What lies above the lower bound of each bin, and nothing above the highest point.
            let mut above = 1.0;
            let mut points = vec![[0.0; 2]; 0];
            for (i, share) in summary.histogram.iter().enumerate() {
                points.push([100.0 * above, low + i as f64 * width]);
                above -= f64::from(*share);
            }
            points.push([0.0, high]);
            let shown = plot("Hypsometric curve", 112.0, |percent| format!("{percent:.0} %"), true);
            shown.show(ui, |plot| {
                let line = Line::new("Higher than", PlotPoints::from(points)).color(colours.text).width(1.25);
                plot.line(line.allow_hover(false));
            });
        } else {
            let bar = |(i, share): (usize, &f32)| {
                Bar::new(low + (i as f64 + 0.5) * width, f64::from(*share) * 100.0).width(width).fill(colours.weak)
            };
            let bars: Vec<Bar> = summary.histogram.iter().enumerate().map(bar).collect();
            let shown = plot("Histogram of heights", 96.0, |metres| format!("{metres:.0}"), false);
            shown.show(ui, |plot| plot.bar_chart(BarChart::new("Heights", bars).allow_hover(false)));
        }
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
}

/// A plot that shows and does nothing else, with what `x_text` makes of the numbers below it, and, if it has heights,
/// those at its left.
pub(crate) fn plot<'a>(
    name: &'static str,
    height: f32,
    x_text: impl Fn(f64) -> String + 'a,
    has_heights: bool,
) -> Plot<'a> {
    let across = AxisHints::new_x().formatter(move |mark, _| x_text(mark.value)).label_spacing(24.0..=36.0);
    let up = AxisHints::new_y().min_thickness(30.0).label_spacing(14.0..=20.0);
    Plot::new(name)
        .height(height)
        .show_axes([true, has_heights])
        .custom_x_axes(vec![across])
        .custom_y_axes(vec![up])
        .x_grid_spacer(|input| inner_marks(input.bounds, round_step(input.bounds, 3.5)))
        .y_grid_spacer(|input| marks(input.bounds, round_step(input.bounds, 2.5)))
        .show_grid(false)
        .show_background(false)
        .sense(Sense::hover())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_x(false)
        .show_y(false)
        .label_formatter(|_| None)
        .set_margin_fraction(Vec2::new(0.0, 0.05))
}

/// The round step of an axis from which there are at least so many marks on it.
fn round_step((from, to): (f64, f64), least: f64) -> f64 {
    let span = (to - from).clamp(1e-3, 1e9);
    f64::from(round_length((span / least) as f32))
}

/// Marks at the multiples of a step.
fn marks((from, to): (f64, f64), step_size: f64) -> Vec<GridMark> {
    let first = (from / step_size).ceil();
    let value = |i: u32| (first + f64::from(i)) * step_size;
    (0..MOST_MARKS).map(value).take_while(|value| *value <= to).map(|value| GridMark { value, step_size }).collect()
}

/// The same, but for those so near to the end that their text would go beyond the plot.
fn inner_marks((from, to): (f64, f64), step_size: f64) -> Vec<GridMark> {
    marks((from, to - 0.05 * (to - from)), step_size)
}

/// Marks at 1, 2 and 5 times the powers of ten, where the axis shows logarithms.
fn logarithmic_marks((from, to): (f64, f64)) -> Vec<GridMark> {
    let first = from.floor();
    let of_power = |i: u32| [1.0, 2.0, 5.0].map(|digit| first + f64::from(i) + libm::log10(digit));
    let is_inside = |value: &f64| (from..=to - 0.05 * (to - from)).contains(value);
    let values = (0..MOST_MARKS / 3).flat_map(of_power).filter(is_inside);
    values.map(|value| GridMark { value, step_size: 0.3 }).collect()
}

/// A length under an axis.
pub(crate) fn as_length(metres: f64) -> String {
    if metres > 0.0 && metres < 1.0 { format!("{metres:.2} m") } else { length(metres) }
}

/// The slopes with the limit, which can be dragged.
fn slopes_ui(ui: &mut Ui, slopes: &Slopes, limit_deg: &mut f64) {
    let colours = colours(ui);
    let bin_deg = f64::from(SLOPE_BIN_DEG);
    let bar = |(i, share): (usize, &f32)| {
        let middle = (i as f64 + 0.5) * bin_deg;
        let fill = if middle <= slopes.limit_deg { colours.weak } else { colours.line };
        Bar::new(middle, f64::from(*share) * 100.0).width(bin_deg).fill(fill)
    };
    let bars: Vec<Bar> = slopes.histogram.iter().enumerate().map(bar).collect();
    // The slider below takes the focus: this is the same limit.
    let shown = plot("Slopes of the land", 96.0, |degrees| format!("{degrees:.0}°"), false)
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
    response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Slopes of the land"));
    response.response.on_hover_text("Drag the line: the slope up to which ground counts as walkable");
    let percent = |share: f32| format!("{:.0} %", 100.0 * share);
    ui.label(format!("Walkable {}, of it connected {}", percent(slopes.walkable), percent(slopes.connected)));
}

/// The power over the wavelength, both logarithmic, with the line of best fit.
fn spectrum_ui(ui: &mut Ui, spectrum: &Spectrum) {
    let (Some(slope), Some(first), Some(last)) = (spectrum.slope(), spectrum.points.first(), spectrum.points.last())
    else {
        ui.weak("This land is too level or too small for a spectrum");
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
    number_ui(ui, "Slope", slope, 2, Metric::Spectrum, "How much rougher the large is than the small");
}

/// Where real ranges lie. No share and no count is below nothing.
fn real(mark: Metric) -> Band {
    let band = mark.real_terrain_range();
    let min = if mark == Metric::Spectrum { band.min } else { band.min.max(0.0) };
    Band { min, ..band }
}

/// A number with what it is in real ranges.
fn number_ui(ui: &mut Ui, name: &str, value: f64, decimals: usize, mark: Metric, doc: &str) {
    let written = |number: f64| format!("{number:.decimals$}").replace('-', "\u{2212}");
    let real = real(mark);
    let (least, most) = (written(real.min), written(real.max));
    ui.horizontal(|ui| {
        ui.weak(name).on_hover_text(doc);
        ui.label(written(value));
        ui.weak(format!("real {least} to {most}")).on_hover_text("In three real ranges");
    });
}

/// The forms as bars, each before the span of three real ranges.
fn landforms_ui(ui: &mut Ui, forms: &LandformStats) {
    let real = |form: Landform| Metric::ALL.iter().find(|mark| mark.key() == form.key()).map(|mark| real(*mark));
    let greatest = |form: &Landform| forms.landforms.share(*form).max(real(*form).map_or(0.0, |band| band.max));
    let most = Landform::ALL.iter().map(greatest).fold(0.05, f64::max);
    for form in Landform::ALL {
        share_ui(ui, form.label(), forms.landforms.share(*form), real(*form), most);
    }
    ui.weak("Behind the bars: three real ranges");
    ui.add_space(4.0);
    if let Some(hurst) = forms.hurst {
        let doc = "The Hurst exponent: how the relief grows with the distance; 1 is smooth, 0 as rough as noise";
        number_ui(ui, "Hurst exponent", hurst, 2, Metric::Hurst, doc);
    }
    number_ui(ui, "Pits ‰", forms.pits, 1, Metric::Pits, "Samples that are lower than all around them");
}

/// A share as a bar of a scale that ends at `most`, before a span.
fn share_ui(ui: &mut Ui, name: &str, share: f64, real: Option<Band>, most: f64) {
    let colours = colours(ui);
    let (row, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), 16.0), Sense::hover());
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let said = match real {
        Some(Band { min, max }) => {
            format!("{name} {}, in real ranges {} to {}", percent(share), percent(min), percent(max))
        }
        None => format!("{name} {}", percent(share)),
    };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &said));
    let painter = ui.painter();
    let text = |at, anchor, text: &str, colour: Color32| {
        painter.text(at, anchor, text, egui::FontId::proportional(12.0), colour);
    };
    text(row.left_center(), egui::Align2::LEFT_CENTER, name, colours.weak);
    text(row.right_center(), egui::Align2::RIGHT_CENTER, &percent(share), colours.text);
    let scale = Rect::from_min_max(row.left_top() + Vec2::new(72.0, 0.0), row.right_bottom() - Vec2::new(52.0, 0.0));
    let part = |from: f64, to: f64, inset: f32| {
        let x = |share: f64| scale.left() + scale.width() * (share / most).clamp(0.0, 1.0) as f32;
        Rect::from_x_y_ranges(x(from)..=x(to), scale.top() + inset..=scale.bottom() - inset)
    };
    painter.rect_filled(part(0.0, most, 7.0), 1.0, colours.sunken);
    if let Some(Band { min, max }) = real {
        painter.rect_filled(part(min, max, 1.0), 2.0, colours.line);
    }
    painter.rect_filled(part(0.0, share, 5.0), 1.0, colours.weak);
    response.on_hover_text(said);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_marks_however_long_they_are() {
        let at = |marks: Vec<GridMark>| marks.into_iter().map(|mark| mark.value.round()).collect::<Vec<_>>();
        let round = |bounds, least| at(marks(bounds, round_step(bounds, least)));
        assert_eq!(round((0.0, 8192.0), 3.5), [0.0, 2000.0, 4000.0, 6000.0, 8000.0]);
        assert_eq!(round((-393.0, 1074.0), 2.5), [0.0, 500.0, 1000.0]);
        assert_eq!(at(inner_marks((0.0, 90.0), 15.0)), [0.0, 15.0, 30.0, 45.0, 60.0, 75.0]);
        let lengths = logarithmic_marks((libm::log10(70.0), libm::log10(2100.0)));
        let metres = lengths.into_iter().map(|mark| libm::pow(10.0, mark.value).round()).collect::<Vec<_>>();
        assert_eq!(metres, [100.0, 200.0, 500.0, 1000.0]);
        // Level land has marks too, and not too many of them.
        assert!(marks((7.0, 7.0), round_step((7.0, 7.0), 2.5)).len() <= 1);
        assert_eq!(marks((0.0, 1e9), 1.0).len(), MOST_MARKS as usize);
    }

    #[test]
    fn what_real_ranges_are_is_no_less_than_nothing() {
        for mark in Metric::ALL {
            let Band { min, max } = real(*mark);
            assert!(min < max && (min >= 0.0 || *mark == Metric::Spectrum), "{mark:?}");
        }
    }

    #[test]
    fn the_other_rows_are_rows_of_the_view() {
        let view = ViewSettings::default();
        assert!(OTHER_ROWS.iter().all(|key| crate::engine::parameters::Group::get(&view, key).is_some()));
    }
}
