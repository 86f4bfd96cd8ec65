//! Pictures of the land in 3-D, for `upthrust build --render`.

use std::path::PathBuf;

use super::arguments::BuildOptions;
use super::error::CliError;
use crate::engine::Progress;
use crate::files::atomic::StagedFile;
use crate::project::ProjectFile;

/// The pictures that are asked for.
#[cfg(not(feature = "gui"))]
pub fn paths(options: &BuildOptions) -> Vec<PathBuf> {
    options.render.iter().cloned().collect()
}

/// The pictures that are asked for.
#[cfg(feature = "gui")]
pub fn paths(options: &BuildOptions) -> Vec<PathBuf> {
    let Some(path) = &options.render else { return Vec::new() };
    options.turntable.map_or_else(|| vec![path.clone()], |count| crate::scene::turntable_paths(path, count))
}

/// Draws the pictures that are asked for, if any: whole on the disk, but without their names yet.
#[cfg(not(feature = "gui"))]
pub fn stage(_file: &ProjectFile, _options: &BuildOptions, _: &Progress) -> Result<Vec<StagedFile>, CliError> {
    Err(CliError::Render(
        "--render is not in this build, which has no part that draws in 3-D; build it with the feature \"gui\"".into(),
    ))
}

/// Draws the pictures that are asked for, if any: whole on the disk, but without their names yet.
#[cfg(feature = "gui")]
pub fn stage(file: &ProjectFile, options: &BuildOptions, progress: &Progress) -> Result<Vec<StagedFile>, CliError> {
    use crate::engine::Grid;
    use crate::engine::stack::evaluate;
    use crate::engine::texture::paint_once;
    use crate::files::build::{Order, load_inputs, memory_needed};
    use crate::files::{atomic, memory::require_memory, texture};
    use crate::project::Project;
    use crate::scene::{OffscreenRenderer, RenderParams, render_memory_bytes};

    let Some(path) = &options.render else { return Ok(Vec::new()) };
    let ProjectFile { project, settings } = file;
    let Project { recipe, files, water, .. } = &**project;
    let [width, height] = options.render_size.0;
    texture::check_size(path, [width, height].map(|side| side as usize))?;
    let paths = paths(options);
    let mut renderer = OffscreenRenderer::found().map_err(CliError::Render)?;

    let source = options.source.clone().unwrap_or_default();
    let inputs = load_inputs(recipe, files).map_err(|error| CliError::FileOf(source, error))?;
    let extent = recipe.world.extent();
    let grid = options.size.unwrap_or(super::size::Size::longer(settings.export.samples)).grid(extent);
    let most = (2 * width.max(height) as usize + 1).min(MOST_SAMPLES);
    let longer = grid.width().max(grid.height());
    let grid = if longer > most { Grid::fitted(extent, most) } else { grid };
    // Heights, colours and what is known of sun and sky, beside what it takes to raise the land.
    let order = Order { inputs: inputs.clone(), ..Order::new(&project.name, recipe.clone(), grid) };
    let beside = (4 + 4) * grid.samples() as u64 + render_memory_bytes([width, height], grid.samples());
    require_memory(memory_needed(&order).saturating_add(beside))?;
    let evaluation = || evaluate(recipe, grid, options.iterations, &inputs, progress);
    let terrain = progress.stage(0.0..0.4, evaluation)?;
    let (fixed_m, size) = (recipe.world.height_range_m, [grid.width(), grid.height()]);
    let painting = || paint_once(&terrain, &recipe.texture, fixed_m, &inputs, None, size, progress);
    let colours = progress.stage(0.4..0.6, painting)?.picture;
    let params = RenderParams::new(terrain, colours, recipe.light.clone(), water.water_m);
    let params = if options.turntable.is_some() { params.turning([width, height]) } else { params };

    progress.stage(0.6..1.0, || {
        let share = |i: usize| i as f32 / paths.len() as f32;
        let draw = |(i, path): (usize, &PathBuf)| {
            let end = share(i + 1);
            let drawn = 0.3 * share(i) + 0.7 * end;
            let draw = || renderer.draw(&params, [width, height], share(i), progress);
            let picture = progress.stage(share(i)..drawn, draw);
            progress.check()?;
            let picture = picture.map_err(CliError::Render)?;
            let write =
                || atomic::stage(path, options.force, |writer| texture::write(writer, path, &picture, progress));
            Ok(progress.stage(drawn..end, write)?)
        };
        paths.iter().enumerate().map(draw).collect()
    })
}

/// The most samples of a land that is looked at, along its longer side: two a pixel are enough, and no more than these.
#[cfg(feature = "gui")]
const MOST_SAMPLES: usize = 4097;
