//! `upthrust fault`: Krten's program (Dr. Dobb's Journal, July 1994) with its options, defaults and file format.

use super::arguments::FaultOptions;
use super::error::CliError;
use super::interrupt;
use super::output::print_lines;
use crate::engine::fault::Profile;
use crate::engine::operations::faults::{Decay, Faults, Line};
use crate::engine::operations::recursive_filter::{Form, RecursiveFilter, Sweeps};
use crate::engine::recipe::World;
use crate::engine::{Grid, Recipe, Step};
use crate::files::export::{HeightmapOrder, Order, build};
use crate::files::formats::heightmap::WrittenFormat;

/// Generates the faults and writes the heights.
pub fn run(options: &FaultOptions) -> Result<(), CliError> {
    let path = &options.output;
    if WrittenFormat::from_path(path) != Ok(WrittenFormat::Krten) {
        let path = path.display();
        let problem = format!("{path}: this command writes Krten's format; use a file name that ends in .xy");
        return Err(CliError::Usage(problem));
    }
    let recipe = recipe(options);
    let grid = Grid::new(recipe.world.extent(), options.width as usize, options.height as usize);
    let heightmaps = vec![HeightmapOrder::new(path)];
    let order = Order { heightmaps, overwrite: options.force, ..Order::new("fault", recipe, grid) };
    let built = build(&order, &interrupt::progress())?;
    print_lines(built.files.iter().map(|path| format!("wrote {}", path.display())))
}

/// The recipe of Krten's program. One metre per sample: h += ±(n/i, truncated) on either side of a line through two
/// points; six in ten faults go up.
fn recipe(options: &FaultOptions) -> Recipe {
    let filter = RecursiveFilter {
        form: Form::Averaged,
        sweeps: if options.sweeps == 2 { Sweeps::Two } else { Sweeps::Four },
        k: options.k,
        // k applies at the resolution of the file.
        reference_samples: options.width.max(options.height),
        ..Default::default()
    };
    let faults = Faults {
        count: options.count,
        line: Line::TwoPoints,
        displacement_m: f64::from(options.count),
        decay: Decay::Harmonic,
        truncate: true,
        up_chance: 0.6,
        profile: Profile::Step,
        wind: options.after_each.then(|| filter.clone()),
        ..Default::default()
    };
    let mut recipe = Recipe { seed: options.seed, ..Default::default() };
    let [width_m, depth_m] = [options.width, options.height].map(|side| f64::from(side - 1));
    recipe.world = World { width_m, depth_m, ..Default::default() };
    recipe.stack.push(Step::new(faults));
    if options.after_last {
        recipe.stack.push(Step::new(filter));
    }
    recipe
}
