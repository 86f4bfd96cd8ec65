//! Rivers as lines in a JSON file.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::order::RiversOrder;
use crate::engine::flow::{Outlets, Water};
use crate::engine::rivers::{River, rivers};
use crate::engine::texture::MIN_RIVER_CATCHMENT_SHARE;
use crate::engine::{Heightfield, Progress};
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;

/// Checks that the file can be written.
pub(super) fn check(order: &RiversOrder) -> Result<(), FileError> {
    match order.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(OsStr::new("json"))) {
        true => Ok(()),
        false => Err(FileError::UnknownExtension { path: order.path.clone(), known: ".json (rivers)".into() }),
    }
}

/// Stages the file.
pub(super) fn stage(
    order: &RiversOrder,
    heights: &Heightfield,
    sea_m: Option<f32>,
    overwrite: bool,
    progress: &Progress,
) -> Result<StagedFile, FileError> {
    let path: &Path = &order.path;
    let extent = heights.grid().extent();
    let min_area_m2 = order.min_area_m2.unwrap_or(MIN_RIVER_CATCHMENT_SHARE * extent.width_m * extent.depth_m);
    let water = progress.stage(0.0..0.6, || Water::on(heights, Outlets::Border, sea_m, progress))?;
    let found = progress.stage(0.6..0.8, || rivers(heights.grid(), &water, min_area_m2, progress))?;
    let head = json!({
        "width_m": extent.width_m, "depth_m": extent.depth_m, "least_area_m2": min_area_m2, "sea_m": sea_m,
        "points": "x east of the west border, z south of the north border, height, all in metres; area in m²",
    });
    atomic::stage(path, overwrite, |writer| {
        write(writer, &head, heights, &water, &found).map_err(|error| FileError::writing(path, &error))
    })
}

/// Writes one line per river, so that large files can be read and compared.
fn write(
    writer: &mut impl Write,
    head: &Value,
    heights: &Heightfield,
    water: &Water,
    found: &[River],
) -> io::Result<()> {
    let grid = heights.grid();
    let text = head.to_string();
    write!(writer, "{},\n\"rivers\": [", text.trim_end_matches('}'))?;
    for (i, river) in found.iter().enumerate() {
        let point = |&sample: &u32| {
            let (c, r) = (sample as usize % grid.width(), sample as usize / grid.width());
            json!([grid.x_m(c), grid.z_m(r), heights[(c, r)], water.areas_m2[sample as usize]])
        };
        let points: Vec<Value> = river.samples.iter().map(point).collect();
        let comma = if i > 0 { "," } else { "" };
        write!(writer, "{comma}\n{}", json!({ "into": river.flows_into, "points": points }))?;
    }
    writeln!(writer, "\n]}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Grid;
    use crate::engine::heightfield::Extent;

    #[test]
    fn rivers_are_written_as_lines_that_descend() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rivers.json");
        // A valley along the middle that descends to the south.
        let grid = Grid::new(Extent { width_m: 80.0, depth_m: 80.0 }, 9, 9);
        let terrain = Heightfield::from_fn(grid, |c, r| (c as f32 - 4.0).abs() * 5.0 - r as f32);
        let order = RiversOrder { path: path.clone(), min_area_m2: Some(1500.0) };
        let staged = stage(&order, &terrain, None, false, &Progress::new()).expect("written");
        atomic::commit_all(vec![staged]).expect("committed");
        let text = std::fs::read_to_string(&path).expect("text");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&value["width_m"], &value["least_area_m2"]), (&json!(80.0), &json!(1500.0)));
        let rivers = value["rivers"].as_array().expect("rivers");
        let main = rivers.iter().find(|river| river["into"].is_null()).expect("one that leaves the terrain");
        let points = main["points"].as_array().expect("points");
        assert_eq!((&points[points.len() - 1][0], &points[points.len() - 1][1]), (&json!(40.0), &json!(80.0)));
        let heights: Vec<f64> = points.iter().map(|point| point[2].as_f64().expect("a height")).collect();
        assert!(heights.windows(2).all(|pair| pair[1] < pair[0]), "{heights:?}");
        assert!(check(&RiversOrder { path: folder.path().join("rivers.txt"), min_area_m2: None }).is_err());
    }
}
