//! Animation frames: the texture of the terrain at successive iterations of the timeline.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gif::{Encoder, Frame, Repeat};

use super::order::{FramesOrder, Order};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::stack::Evaluator;
use crate::engine::stack::memory;
use crate::engine::texture::paint_once;
use crate::engine::{Grid, Image, Progress, Recipe};
use crate::files::formats::image;
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::cancellable::CancellableWriter;
use crate::files::io::error::FileError;

/// How long an animation shows each frame and the last one, in units of 10 ms.
const DELAY: u16 = 4;
const LAST_DELAY: u16 = 200;

/// The sampling factor of colour quantization, from 1, slow and best, to 30 (A. Dekker, "Kohonen neural networks for
/// optimal colour quantization", 1994).
const SPEED: i32 = 10;

/// The maximum number of frames: file names have five digits.
const MAX_FRAMES: usize = 100_000;

/// The iterations of the frames, at regular intervals from the flat terrain. The last iteration is always included.
pub(super) fn positions(frames: &FramesOrder, order: &Order) -> Vec<u32> {
    let last = order.recipe.iterations().min(order.position.unwrap_or(u32::MAX));
    let mut positions: Vec<u32> = (0..last).step_by(frames.every.max(1) as usize).collect();
    positions.push(last);
    positions
}

fn frame_path(frames: &FramesOrder, number: usize) -> Option<PathBuf> {
    frames.folder.as_ref().map(|folder| folder.join(format!("frame_{number:05}.png")))
}

/// The files for this number of frames; an error if they cannot be written.
pub(super) fn plan(frames: &FramesOrder, count: usize) -> Result<Vec<PathBuf>, FileError> {
    let mut paths: Vec<PathBuf> = (0..count.min(MAX_FRAMES)).filter_map(|number| frame_path(frames, number)).collect();
    paths.extend(frames.animation.clone());
    let Some(first) = paths.first() else { return Ok(paths) };
    if count > MAX_FRAMES {
        let problem = format!("{count} frames are too many; skip some (on the command line with --every)");
        return Err(FileError::invalid(first, problem));
    }
    image::check_size(Path::new("a.png"), frames.size)?;
    if let Some(path) = &frames.animation {
        if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gif")) {
            return Err(FileError::UnknownExtension { path: path.clone(), known: ".gif (animations)".into() });
        }
        // Sizes have 16 bits, as in a JPEG.
        image::check_size(Path::new("a.jpg"), frames.size)?;
    }
    Ok(paths)
}

/// The maximum number of bytes that the frames need: the evaluator's saved state, four maps for painting, and an image
/// as colours and as encoded bytes.
pub(super) fn bytes(frames: &FramesOrder, recipe: &Recipe, grid: Grid) -> u64 {
    let painting = 4 * 4 * grid.samples() as u64;
    memory::max_cache_bytes(recipe, grid)
        + painting
        + 10 * (frames.size[0] as u64).saturating_mul(frames.size[1] as u64)
}

/// Stages all frames and the animation.
pub(super) fn stage(
    frames: &FramesOrder,
    positions: &[u32],
    order: &Order,
    progress: &Progress,
) -> Result<Vec<StagedFile>, FileError> {
    let mut staged = Vec::new();
    let Some(path) = &frames.animation else {
        stage_frames(frames, positions, order, &mut staged, &mut |_, _| Ok(()), progress)?;
        return Ok(staged);
    };
    let animation = atomic::stage(path, order.overwrite, |writer| {
        let writer = CancellableWriter::new(writer, progress);
        let mut encoder = begin_animation(writer, frames.size).map_err(|error| gif_error(path, &error))?;
        let [width, height] = frames.size.map(|side| side.to_u16());
        let mut add = |image: &Image, is_last: bool| {
            let colours: Vec<u8> =
                image.pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
            let mut frame = Frame::from_rgb_speed(width, height, &colours, SPEED);
            frame.delay = if is_last { LAST_DELAY } else { DELAY };
            let written = encoder.write_frame(&frame);
            // A cancelled writer returns an I/O error.
            progress.check()?;
            written.map_err(|error| gif_error(path, &error))
        };
        stage_frames(frames, positions, order, &mut staged, &mut add, progress)
    })?;
    staged.push(animation);
    Ok(staged)
}

/// Stages the frames, and passes each to `then` together with whether it is the last one.
fn stage_frames(
    frames: &FramesOrder,
    positions: &[u32],
    order: &Order,
    staged: &mut Vec<StagedFile>,
    then: &mut dyn FnMut(&Image, bool) -> Result<(), FileError>,
    progress: &Progress,
) -> Result<(), FileError> {
    let mut evaluator = Evaluator::new();
    let share = |done: usize| done.to_f32() / positions.len().to_f32();
    for (number, &position) in positions.iter().enumerate() {
        progress.stage(share(number)..share(number + 1), || {
            let image = paint_frame(order, frames.size, position, &mut evaluator, progress)?;
            if let Some(path) = frame_path(frames, number) {
                staged.push(atomic::stage(&path, order.overwrite, |writer| {
                    image::write(writer, &path, &image, progress)
                })?);
            }
            then(&image, number + 1 == positions.len())
        })?;
    }
    Ok(())
}

fn gif_error(path: &Path, error: &gif::EncodingError) -> FileError {
    FileError::writing(path, &io::Error::other(error.to_string()))
}

fn begin_animation<W: Write>(writer: W, size: [usize; 2]) -> Result<Encoder<W>, gif::EncodingError> {
    let [width, height] = size.map(|side| side.to_u16());
    let mut encoder = Encoder::new(writer, width, height, &[])?;
    encoder.set_repeat(Repeat::Infinite)?;
    Ok(encoder)
}

/// The texture at an iteration: that of an order with this `position`, but without an overview.
fn paint_frame(
    order: &Order,
    size: [usize; 2],
    position: u32,
    evaluator: &mut Evaluator,
    progress: &Progress,
) -> Result<Image, FileError> {
    let Order { recipe, grid, inputs, .. } = order;
    let evaluation = || evaluator.evaluate(recipe, *grid, Some(position), inputs, progress);
    let heights = progress.stage(0.0..0.4, evaluation)?;
    let light = Some(&recipe.light).filter(|light| light.bake);
    let painting = || paint_once(&heights, recipe.painting(inputs, light), size, progress);
    Ok(progress.stage(0.4..0.8, painting)?.image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::{Grid, Recipe, Step};
    use crate::files::export::build::build;
    use crate::files::export::order::TextureOrder;

    fn test_order() -> Order {
        let stack = vec![Step::new(Faults { count: 10, ..Default::default() })];
        let recipe = Recipe { stack, ..Default::default() };
        let grid = Grid::fitted(recipe.world.extent(), 33);
        Order::new("Test", recipe, grid)
    }

    #[test]
    fn every_frame_is_the_texture_of_its_iteration() {
        let folder = tempfile::tempdir().expect("folder");
        let (mut order, animation) = (test_order(), folder.path().join("a.gif"));
        let frames = FramesOrder {
            folder: Some(folder.path().into()),
            animation: Some(animation.clone()),
            every: 4,
            size: [24, 20],
        };
        assert_eq!(positions(&frames, &order), [0, 4, 8, 10]);
        let progress = Progress::new();
        order.frames = Some(frames);
        let built = build(&order, &progress).expect("written");
        order.frames = None;
        assert_eq!((built.files.len(), progress.fraction()), (5, 1.0));
        for (number, position) in [0, 4, 8, 10].into_iter().enumerate() {
            let path = folder.path().join(format!("t{number}.png"));
            order.position = Some(position);
            order.texture = Some(TextureOrder::new(&path, [24, 20]));
            build(&order, &Progress::new()).expect("built");
            let frame = ::image::open(folder.path().join(format!("frame_{number:05}.png"))).expect("an image");
            assert!(frame == ::image::open(&path).expect("an image"), "{number}");
        }
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut gif_reader = options.read_info(std::fs::File::open(&animation).expect("there")).expect("a GIF");
        let (mut count, mut last) = (0, Vec::new());
        while let Some(frame) = gif_reader.read_next_frame().expect("complete") {
            count += 1;
            assert_eq!((frame.width, frame.height), (24, 20));
            last = frame.buffer.to_vec();
        }
        assert_eq!(count, 4);
        let painted = ::image::open(folder.path().join("frame_00003.png")).expect("an image").into_rgba8();
        let off = painted.as_raw().iter().zip(&last).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>();
        assert!(off < 6 * 24 * 20 * 3, "256 colours are close to those of the image: {off}");
    }

    #[test]
    fn impossible_animations_are_refused_before_anything_is_computed() {
        let folder = tempfile::tempdir().expect("folder");
        let check = |name: &str, size, message: &str| {
            let animation = Some(folder.path().join(name));
            let frames = FramesOrder { folder: None, animation, every: 1, size };
            let progress = Progress::new();
            progress.cancel();
            let order = Order { frames: Some(frames), ..test_order() };
            let refused = build(&order, &progress).expect_err(message).to_string();
            assert!(refused.contains(message), "{refused}");
        };
        check("a.webp", [8, 8], ".gif (animations)");
        check("a.gif", [65_536, 8], "65535");
        check("none/a.gif", [8, 8], "there is no folder");
        check("a.gif", [8, 8], "cancelled");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
    }
}
