//! Images of the terrain in 3-D, for `upthrust build --render`.

use std::path::PathBuf;
use std::sync::Arc;

use super::arguments::BuildOptions;
use super::error::CliError;
use super::source;
use super::values::{Size, Source};
use crate::engine::cast::ToFloat;
use crate::engine::scatter::{ShapeInstances, memory_bytes as scatter_bytes, scatter};
use crate::engine::stack::evaluate;
use crate::engine::texture::paint_once;
use crate::engine::{Grid, Progress};
use crate::files::formats::image;
use crate::files::io::atomic::{self, StagedFile};
use crate::project::{Project, ProjectFile};
use crate::scene::RenderParams;
use crate::scene::offscreen::{OffscreenRenderer, render_memory_bytes, turntable_paths};

/// The maximum number of samples along the longer side of the rendered terrain. Two per pixel are enough, so no image
/// needs more than this.
const MAX_SAMPLES: usize = 4097;

/// The images to render.
pub fn paths(options: &BuildOptions) -> Vec<PathBuf> {
    let Some(path) = &options.render else { return Vec::new() };
    options.turntable.map_or_else(|| vec![path.clone()], |count| turntable_paths(path, count))
}

/// Renders the images, if any, and writes them to temporary files that still have to be committed.
pub fn stage(
    file: &ProjectFile,
    options: &BuildOptions,
    overwrite: bool,
    progress: &Progress,
) -> Result<Vec<StagedFile>, CliError> {
    let Some(path) = &options.render else { return Ok(Vec::new()) };
    let size = options.render_size.0;
    image::check_size(path, size.map(|side| side as usize))?;
    let mut renderer = OffscreenRenderer::with_default_adapter().map_err(CliError::Render)?;
    let params = progress.stage(0.0..0.6, || params(file, options, progress))?;
    let params = if options.turntable.is_some() { params.for_turntable(size) } else { params };

    let paths = paths(options);
    progress.stage(0.6..1.0, || {
        let share = |i: usize| i.to_f32() / paths.len().to_f32();
        let render_and_write = |(i, path): (usize, &PathBuf)| {
            let end = share(i + 1);
            let rendered = 0.3 * share(i) + 0.7 * end;
            let render = || renderer.render(&params, size, share(i), progress);
            let image = progress.stage(share(i)..rendered, render);
            progress.check()?;
            let image = image.map_err(CliError::Render)?;
            let write = || atomic::stage(path, overwrite, |writer| image::write(writer, path, &image, progress));
            Ok(progress.stage(rendered..end, write)?)
        };
        paths.iter().enumerate().map(render_and_write).collect()
    })
}

/// Evaluates and paints the terrain, at a resolution that suits the size of the image.
fn params(file: &ProjectFile, options: &BuildOptions, progress: &Progress) -> Result<RenderParams, CliError> {
    let ProjectFile { project, settings, .. } = file;
    let Project { recipe, water, .. } = &**project;
    let [width, height] = options.render_size.0;
    let source = options.source.as_ref().map(Source::to_string).unwrap_or_default();
    let extent = recipe.world.extent();
    let grid = options.size.unwrap_or(Size::longer(settings.export.samples)).grid(extent);
    let max = (2 * width.max(height) as usize + 1).min(MAX_SAMPLES);
    let grid = if grid.width().max(grid.height()) > max { Grid::fitted(extent, max) } else { grid };
    // Heights and colours and the renderer's textures, in addition to what the evaluation needs.
    let additional = (4 + 4) * grid.samples() as u64 + render_memory_bytes([width, height], grid.samples());
    let additional = additional + if recipe.is_scattered() { scatter_bytes(&recipe.scatter, grid) } else { 0 };
    let inputs = source::inputs(&source, project, grid, additional)?;
    let evaluation = || evaluate(recipe, grid, options.iterations, &inputs, progress);
    let terrain = progress.stage(0.0..0.67, evaluation)?;
    let size = [grid.width(), grid.height()];
    let painting = || paint_once(&terrain, recipe.painting(&inputs, None), size, progress);
    let colours = progress.stage(0.67..0.9, painting)?.image;
    let shapes = if recipe.is_scattered() {
        let scattered = progress.stage(0.9..1.0, || scatter(recipe, &terrain, &inputs, progress))?;
        Some(Arc::new(ShapeInstances::new(&recipe.scatter, &scattered, extent)))
    } else {
        None
    };
    Ok(RenderParams { shapes, ..RenderParams::new(terrain, colours, recipe.light.clone(), water.water_m) })
}
