//! `upthrust inspect`: what a heightmap is like, in numbers.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::arguments::InspectOptions;
use super::error::CliError;
use super::print;
use crate::engine::analysis::{DEFAULT_WALKABLE_DEG, SLOPE_BIN_DEG, Summary, slope_histogram, walkable};
use crate::engine::heightfield::Extent;
use crate::engine::landforms::{Landform, Metric, Metrics, REAL_TERRAINS};
use crate::engine::parameters::Band;
use crate::engine::{Grid, Heightfield, Progress, SampleScale};
use crate::files::FileError;
use crate::files::heightmap::{self, LoadedHeightmap};
use crate::files::memory::require_memory;

/// The metres between samples: by the sidecar, by the heightmap itself, else none.
fn known_spacing_m(reading: &LoadedHeightmap) -> Option<[f64; 2]> {
    reading.sidecar.map(|sidecar| sidecar.spacing_m).or(reading.spacing_m)
}

/// The heightmap as land: integers spanning `range_m`, or what the sidecar says, or one metre a unit; where nothing
/// says how far samples lie apart, one metre.
pub fn land_of(reading: LoadedHeightmap, range_m: Option<Band>) -> Result<Heightfield, FileError> {
    let [x, z] = known_spacing_m(&reading).unwrap_or([1.0; 2]);
    let (width, height) = (reading.raster.width, reading.raster.height);
    let extent = Extent { width_m: x * (width - 1) as f64, depth_m: z * (height - 1) as f64 };
    let grid = Grid::new(extent, width, height);
    let metres = reading.into_metres(range_m);
    Heightfield::from_heights(grid, metres).ok_or(FileError::Size {
        path: "the map".into(),
        size: [width as u64, height as u64],
        possible: "a map has at least two samples along each side".into(),
    })
}

/// What was guessed, lost or assumed while reading.
pub fn notes(reading: &LoadedHeightmap, range_m: Option<Band>) -> Vec<String> {
    let mut notes = reading.notes.clone();
    let integers = matches!(reading.raster.scale, SampleScale::Integers { .. });
    if integers && range_m.is_none() && reading.sidecar.is_none() {
        notes.push("nothing says how high its values are; they are taken as metres".into());
    }
    if known_spacing_m(reading).is_none() {
        notes.push("nothing says how far its samples lie apart; one metre is assumed".into());
    }
    notes
}

/// Prints the notes to standard error.
pub fn say_notes(path: &Path, reading: &LoadedHeightmap, range_m: Option<Band>) {
    for note in notes(reading, range_m) {
        print::complain(&format!("note: {}: {note}", path.display()));
    }
}

/// Measures a heightmap and prints the numbers.
pub fn run(options: &InspectOptions) -> Result<(), CliError> {
    let reading = heightmap::read(&options.file, options.raw)?;
    let format = reading.format.name(&options.file);
    let notes = notes(&reading, None);
    let terrain = land_of(reading, None)?;
    let grid = terrain.grid();
    // The spectrum: two 64-bit numbers a sample of the largest square.
    let side = grid.width().min(grid.height()) as u64;
    require_memory(side * side * 16)?;

    let (summary, progress) = (Summary::of(&terrain, 64), Progress::new());
    let slopes = slope_histogram(&terrain, SLOPE_BIN_DEG);
    let walkable = walkable(&terrain, DEFAULT_WALKABLE_DEG, &progress)?.share;
    let metrics = Metrics::of(&terrain, &progress)?;
    let shares: Map<String, Value> =
        Landform::ALL.iter().map(|form| (form.key().to_string(), Value::from(metrics.forms.share(*form)))).collect();
    let real: Map<String, Value> = Metric::ALL
        .iter()
        .map(|metric| {
            let band = metric.real_terrain_range();
            (metric.key().to_string(), json!([band.min, band.max]))
        })
        .collect();
    if options.json {
        let report = json!({
            "file": options.file.to_string_lossy(),
            "format": format,
            "width": grid.width(),
            "height": grid.height(),
            "spacing_x_m": grid.spacing_x_m(),
            "spacing_z_m": grid.spacing_z_m(),
            "min_m": summary.min_m,
            "max_m": summary.max_m,
            "mean_m": summary.mean_m,
            "hypsometric_integral": metrics.hypsometric,
            "hurst_exponent": metrics.hurst,
            "spectral_slope": metrics.spectrum,
            "slope_histogram": {"bin_deg": SLOPE_BIN_DEG, "shares": slopes},
            "walkable_share": walkable,
            "walkable_deg": DEFAULT_WALKABLE_DEG,
            "landforms": shares,
            "pits_per_thousand": metrics.pits,
            "real_lands": real,
            "notes": notes.into_iter().map(Value::from).collect::<Value>(),
        });
        print::say(&format!("{report:#}"));
        return Ok(());
    }
    let optional =
        |number: Option<f64>| number.map_or("none: too level or too small".into(), |number| format!("{number:.3}"));
    let real = |metric: Metric, scale: f64, decimals: usize| {
        let band = metric.real_terrain_range();
        // No share and no count is below nothing.
        let least = if metric == Metric::Spectrum { band.min } else { band.min.max(0.0) };
        format!("{:.decimals$} to {:.decimals$}", scale * least, scale * band.max)
    };
    let beside =
        |text: String, metric: Metric, decimals: usize| format!("{text:<32} real {}", real(metric, 1.0, decimals));
    let extent = grid.extent();
    let mut lines = vec![
        format!("size                  {} × {} samples", grid.width(), grid.height()),
        format!("spacing               {:.3} × {:.3} m", grid.spacing_x_m(), grid.spacing_z_m()),
        format!("extent                {:.1} × {:.1} m", extent.width_m, extent.depth_m),
        format!("range                 {} to {} m", summary.min_m, summary.max_m),
        format!("mean                  {:.3} m", summary.mean_m),
        format!("walkable (≤ {DEFAULT_WALKABLE_DEG}°)      {:.1} %", 100.0 * walkable),
        beside(format!("hypsometric integral  {:.3}", metrics.hypsometric), Metric::Hypsometric, 3),
        beside(format!("Hurst exponent        {}", optional(metrics.hurst)), Metric::Hurst, 3),
        beside(format!("spectral slope        {}", optional(metrics.spectrum)), Metric::Spectrum, 3),
        beside(format!("pits                  {:.1} ‰", metrics.pits), Metric::Pits, 1),
        "landforms".into(),
    ];
    lines.extend(Landform::ALL.iter().map(|form| {
        let share = metrics.forms.share(*form);
        let metric = Metric::ALL.iter().find(|metric| metric.key() == form.key());
        let real = metric.map_or(String::new(), |metric| format!("real {}", real(*metric, 100.0, 1)));
        let bar = "#".repeat((50.0 * share) as usize);
        format!("  {:<11} {:>5.1} %  {real:<18}  {bar}", form.key(), 100.0 * share).trim_end().into()
    }));
    lines.push("slopes".into());
    lines.extend(slopes.iter().enumerate().filter(|(_, share)| **share > 0.0).map(|(bin, share)| {
        let from = bin as f32 * SLOPE_BIN_DEG;
        format!(
            "  {from:>2}–{:>2}°  {:>5.1} %  {}",
            from + SLOPE_BIN_DEG,
            100.0 * share,
            "#".repeat((50.0 * share) as usize)
        )
    }));
    let spacings_m = REAL_TERRAINS.map(|terrain| terrain.spacing_m);
    let (finest_m, coarsest_m) =
        (spacings_m.into_iter().fold(f64::MAX, f64::min), spacings_m.into_iter().fold(0.0, f64::max));
    lines.push(format!(
        "real: the span of three ranges with samples {finest_m:.0} to {coarsest_m:.0} m apart, a fifth wider at either end"
    ));
    lines.extend(notes.iter().map(|note| format!("note: {note}")));
    print::say_all(lines);
    Ok(())
}
