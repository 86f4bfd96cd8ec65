//! `upthrust convert`: one heightmap format into another.

use super::arguments::{ConvertOptions, DepthOption};
use super::error::CliError;
use super::inspect::{land_of, say_notes};
use super::{interrupt, print};
use crate::engine::parameters::Band;
use crate::engine::texture::height_range_m;
use crate::files::build::{HeightmapOrder, write_heightmap};
use crate::files::heightmap::{self, Encoding, Samples};
use crate::files::memory::require_memory;
use crate::files::{FileError, atomic, sidecar};

/// Reads a heightmap and writes it in the format of the other file's ending.
pub fn run(options: &ConvertOptions) -> Result<(), CliError> {
    let asked = asked_range(options)?;
    let integers = options.depth == Some(DepthOption::Sixteen);
    let encoding = Encoding { raw: options.out_raw, integers, ..Encoding::default() };
    let order = HeightmapOrder { path: options.output.clone(), encoding };
    let to = heightmap::format_of(&order.path, encoding.raw)?;
    atomic::check_writable(&order.path, options.force)?;
    atomic::check_writable(&sidecar::sidecar_path(&order.path), options.force)?;

    let reading = heightmap::read(&options.input, options.raw)?;
    // Heights and what a format keeps of them.
    require_memory(8 * reading.raster.samples.len() as u64)?;
    let whole_in = reading.range_m();
    let whole_out = matches!(to.samples(encoding), Samples::Integers { .. });
    if asked.is_some() && whole_in.is_none() && !whole_out {
        let problem = "--low and --high are for integer formats, and both files are in metres; leave them away";
        return Err(CliError::Usage(problem.into()));
    }
    say_notes(&options.input, &reading, asked);
    let terrain = land_of(reading, asked)?;
    // Integers keep their values: what the input's range spans, the output's spans too.
    let progress = interrupt::progress();
    let range_m = height_range_m(&terrain, asked.or(whole_in), &progress)?;
    let written = write_heightmap(&terrain, &order, range_m, options.force, &progress)?;
    print::say_all(written.iter().map(|path| format!("wrote {}", path.display())));
    Ok(())
}

fn asked_range(options: &ConvertOptions) -> Result<Option<Band>, CliError> {
    match options.low.zip(options.high) {
        None => Ok(None),
        Some((min, max)) if min.is_finite() && max.is_finite() && min < max => Ok(Some(Band { min, max })),
        Some((min, max)) => Err(CliError::Usage(format!(
            "--low must be less than --high, and both must be numbers, not {min} and {max}"
        ))),
    }
}

impl From<crate::engine::Cancelled> for CliError {
    fn from(cancelled: crate::engine::Cancelled) -> Self {
        FileError::from(cancelled).into()
    }
}
