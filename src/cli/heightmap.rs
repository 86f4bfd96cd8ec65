//! Reading heightmaps for `convert` and `inspect`.

use std::path::Path;

use super::output::print_error;
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Extent;
use crate::engine::parameters::Band;
use crate::engine::{Grid, Heightfield, SampleScale};
use crate::files::FileError;
use crate::files::formats::heightmap::LoadedHeightmap;

/// Converts a heightmap to metres. Integers span `range_m`, else the range in the sidecar, else count as metres. An
/// unknown spacing is taken as one metre.
pub fn heightfield_from(loaded: LoadedHeightmap, range_m: Option<Band>) -> Result<Heightfield, FileError> {
    let [x, z] = loaded.spacing_m().unwrap_or([1.0; 2]);
    let (width, height) = (loaded.raster.width, loaded.raster.height);
    let extent = Extent { width_m: x * (width - 1).to_f64(), depth_m: z * (height - 1).to_f64() };
    let grid = Grid::new(extent, width, height);
    let metres = loaded.into_metres(range_m);
    Heightfield::from_heights(grid, metres).ok_or(FileError::Size {
        path: "the map".into(),
        size: [width as u64, height as u64],
        possible: "a map has at least two samples along each side".into(),
    })
}

/// Notes about guesses, losses and assumptions made while reading.
pub fn notes(loaded: &LoadedHeightmap, range_m: Option<Band>) -> Vec<String> {
    let mut notes = loaded.all_notes();
    notes.extend(loaded.normalised_note(None));
    let integers = matches!(loaded.raster.scale, SampleScale::Integers { .. });
    if integers && range_m.is_none() && loaded.sidecar.is_none() {
        notes.push("its height range is unknown; values are taken as metres".into());
    }
    if loaded.spacing_m().is_none() {
        notes.push("the spacing of its samples is unknown; one metre is assumed".into());
    }
    notes
}

/// Prints the notes to standard error.
pub fn print_notes(path: &Path, loaded: &LoadedHeightmap, range_m: Option<Band>) {
    for note in notes(loaded, range_m) {
        print_error(&format!("note: {}: {note}", path.display()));
    }
}
