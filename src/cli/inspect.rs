//! `upthrust inspect`: prints statistics of a heightmap.

use serde_json::{Map, Value, json};

use super::arguments::InspectOptions;
use super::error::CliError;
use super::heightmap::{heightfield_from, notes};
use super::output::{print_line, print_lines};
use crate::engine::analysis::{DEFAULT_WALKABLE_DEG, SLOPE_BIN_DEG, Summary, slope_histogram, walkable};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::landforms::{COMPARISON_SPACING_M, Landform, Metric, Metrics, at_comparison_spacing};
use crate::engine::{Grid, Heightfield, Progress};
use crate::files::formats::heightmap;
use crate::files::io::memory::require_memory_for;

/// Analyses a heightmap and prints the results.
pub fn run(options: &InspectOptions) -> Result<(), CliError> {
    let loaded = heightmap::read(&options.file, options.raw)?;
    let format = loaded.format.name(&options.file);
    let notes = notes(&loaded, None);
    let terrain = heightfield_from(loaded, None)?;
    // The spectrum takes 4 bytes for each sample of the largest square.
    let side = terrain.grid().width().min(terrain.grid().height()) as u64;
    require_memory_for(&options.file, side * side * 4)?;
    let report = Report::new(&terrain)?;
    if options.json {
        let json = report.to_json(&options.file.to_string_lossy(), &format, &notes);
        print_line(&format!("{json:#}"))
    } else {
        let mut lines = report.to_text();
        lines.extend(notes.iter().map(|note| format!("note: {note}")));
        print_lines(lines)
    }
}

/// The printed results.
struct Report {
    grid: Grid,
    summary: Summary,
    /// Shares in bins of [`SLOPE_BIN_DEG`].
    slopes: Vec<f32>,
    walkable: f32,
    metrics: Metrics,
    /// The spacing at which the metrics were computed, metres.
    metrics_spacing_m: f64,
}

impl Report {
    fn new(terrain: &Heightfield) -> Result<Self, CliError> {
        let progress = Progress::new();
        let compared = at_comparison_spacing(terrain, &progress)?;
        let compared = compared.as_ref().unwrap_or(terrain);
        Ok(Self {
            grid: terrain.grid(),
            summary: Summary::of(terrain, 64),
            slopes: slope_histogram(terrain, SLOPE_BIN_DEG),
            walkable: walkable(terrain, DEFAULT_WALKABLE_DEG, &progress)?.share,
            metrics: Metrics::of(compared, &progress)?,
            metrics_spacing_m: compared.grid().spacing_x_m(),
        })
    }

    fn to_json(&self, file: &str, format: &str, notes: &[String]) -> Value {
        let Self { grid, summary, slopes, walkable, metrics, metrics_spacing_m } = self;
        let landforms: Map<String, Value> =
            Landform::ALL.iter().map(|form| (form.key().to_string(), metrics.forms.share(*form).into())).collect();
        let real_terrain = |metric: &Metric| {
            let band = metric.real_terrain_range();
            (metric.key().to_string(), json!([band.min, band.max]))
        };
        json!({
            "file": file,
            "format": format,
            "width": grid.width(),
            "height": grid.height(),
            "spacing_x_m": grid.spacing_x_m(),
            "spacing_z_m": grid.spacing_z_m(),
            "min_m": summary.min_m,
            "max_m": summary.max_m,
            "mean_m": summary.mean_m,
            "metrics_spacing_m": metrics_spacing_m,
            "hypsometric_integral": metrics.hypsometric,
            "hurst_exponent": metrics.hurst,
            "spectral_slope": metrics.spectrum,
            "slope_histogram": {"bin_deg": SLOPE_BIN_DEG, "shares": slopes},
            "walkable_share": walkable,
            "walkable_deg": DEFAULT_WALKABLE_DEG,
            "landforms": landforms,
            "pits_per_thousand": metrics.pits,
            "real_lands": Metric::ALL.iter().map(real_terrain).collect::<Map<String, Value>>(),
            "notes": notes,
        })
    }

    fn to_text(&self) -> Vec<String> {
        let Self { grid, summary, walkable, metrics, .. } = self;
        let extent = grid.extent();
        let optional = |number: Option<f64>| {
            number.map_or("none: the terrain is too flat or too small".into(), |number| format!("{number:.3}"))
        };
        let compared =
            |text: String, metric: Metric, decimals: usize| format!("{text:<32} real {}", real(metric, 1.0, decimals));
        let mut lines = vec![
            format!("size                  {} × {} samples", grid.width(), grid.height()),
            format!("spacing               {:.3} × {:.3} m", grid.spacing_x_m(), grid.spacing_z_m()),
            format!("extent                {:.1} × {:.1} m", extent.width_m, extent.depth_m),
            format!("range                 {} to {} m", summary.min_m, summary.max_m),
            format!("mean                  {:.3} m", summary.mean_m),
            format!("walkable (≤ {DEFAULT_WALKABLE_DEG}°)      {:.1} %", 100.0 * walkable),
            compared(format!("hypsometric integral  {:.3}", metrics.hypsometric), Metric::Hypsometric, 3),
            compared(format!("Hurst exponent        {}", optional(metrics.hurst)), Metric::Hurst, 3),
            compared(format!("spectral slope        {}", optional(metrics.spectrum)), Metric::Spectrum, 3),
            compared(format!("pits                  {:.1} ‰", metrics.pits), Metric::Pits, 1),
        ];
        lines.extend(self.landform_lines());
        lines.extend(self.slope_lines());
        lines.push(format!(
            "real: the range of 43 windows of real terrain, with samples {COMPARISON_SPACING_M:.0} m apart. The terrain is \
             compared with samples {:.3} m apart",
            self.metrics_spacing_m
        ));
        lines
    }

    fn landform_lines(&self) -> Vec<String> {
        let line = |form: &Landform| {
            let share = self.metrics.forms.share(*form);
            let metric = Metric::ALL.iter().find(|metric| metric.key() == form.key());
            let real = metric.map_or(String::new(), |metric| format!("real {}", real(*metric, 100.0, 1)));
            let text = format!(
                "  {:<11} {:>5.1} %  {real:<18}  {}",
                form.key(),
                100.0 * share,
                bar((50.0 * share).to_usize())
            );
            text.trim_end().into()
        };
        std::iter::once("landforms".into()).chain(Landform::ALL.iter().map(line)).collect()
    }

    fn slope_lines(&self) -> Vec<String> {
        let bins = self.slopes.iter().enumerate().filter(|(_, share)| **share > 0.0);
        let line = |(bin, share): (usize, &f32)| {
            let from = bin.to_f32() * SLOPE_BIN_DEG;
            format!(
                "  {from:>2}–{:>2}°  {:>5.1} %  {}",
                from + SLOPE_BIN_DEG,
                100.0 * share,
                bar((50.0 * share).to_usize())
            )
        };
        std::iter::once("slopes".into()).chain(bins.map(line)).collect()
    }
}

/// The range of a metric on real terrain.
fn real(metric: Metric, scale: f64, decimals: usize) -> String {
    let band = metric.real_terrain_range();
    format!("{:.decimals$} to {:.decimals$}", scale * band.min, scale * band.max)
}

fn bar(width: usize) -> String {
    "#".repeat(width)
}
