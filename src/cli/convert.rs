//! `upthrust convert`: converts a heightmap to another format.

use super::arguments::{ConvertOptions, DepthOption};
use super::error::CliError;
use super::heightmap::{heightfield_from, print_notes};
use super::interrupt;
use super::output::{print_error, print_lines};
use crate::engine::parameters::Band;
use crate::engine::texture::height_range_m;
use crate::files::export::{HeightmapOrder, write_heightmap};
use crate::files::formats::heightmap::{self, Encoding, Samples, WrittenFormat};
use crate::files::formats::sidecar;
use crate::files::io::atomic;
use crate::files::io::memory::require_memory;

/// Reads a heightmap and writes it in the format of the output's extension.
pub fn run(options: &ConvertOptions) -> Result<(), CliError> {
    if options.depth == Some(DepthOption::Eight) {
        let problem = "--depth 8: heightmaps are not written with 8 bits but as .raw with --out-raw u8; omit --depth";
        return Err(CliError::Usage(problem.into()));
    }
    let range_option = range_option(options)?;
    let integers = options.depth == Some(DepthOption::Sixteen);
    let encoding = Encoding { raw: options.out_raw, integers, ..Encoding::default() };
    let order = HeightmapOrder { path: options.output.clone(), encoding };
    let to = WrittenFormat::with_layout(&order.path, encoding.raw)?;
    atomic::check_writable(&order.path, options.force)?;
    atomic::check_writable(&sidecar::sidecar_path(&order.path), options.force)?;

    let loaded = heightmap::read(&options.input, options.raw)?;
    // The heights, and the copy that a format encodes.
    require_memory(8 * loaded.raster.samples.len() as u64)?;
    let input_range_m = loaded.range_m();
    let writes_integers = matches!(to.samples(encoding), Samples::Integers { .. });
    if range_option.is_some() && input_range_m.is_none() && !writes_integers {
        let problem = "--low and --high are for integer formats, but both files are in metres; omit them";
        return Err(CliError::Usage(problem.into()));
    }
    print_notes(&options.input, &loaded, range_option);
    let origin = loaded.origin();
    let terrain = heightfield_from(loaded, range_option)?;
    // The output has the range of the input, so that integers keep their values.
    let progress = interrupt::progress();
    let range_m = height_range_m(&terrain, range_option.or(input_range_m), &progress)?;
    let report = write_heightmap(&terrain, &order, range_m, origin.as_ref(), options.force, &progress)?;
    report.notes.iter().for_each(|note| print_error(&format!("note: {note}")));
    print_lines(report.files.iter().map(|path| format!("wrote {}", path.display())))
}

/// The range given by `--low` and `--high`.
fn range_option(options: &ConvertOptions) -> Result<Option<Band>, CliError> {
    match options.low.zip(options.high) {
        None => Ok(None),
        Some((min, max)) if min.is_finite() && max.is_finite() && min < max => Ok(Some(Band { min, max })),
        Some((min, max)) => Err(CliError::Usage(format!(
            "--low must be less than --high, and both must be finite; got {min} and {max}"
        ))),
    }
}
