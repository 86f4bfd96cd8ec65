//! An uplift as pictures, one after another: each the texture of the land as far as it has risen.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gif::{Encoder, Frame, Repeat};

use super::atomic::{self, StagedFile};
use super::build::Order;
use super::error::FileError;
use super::texture;
use super::watched::CancellableWriter;
use crate::engine::stack::{self, Evaluator};
use crate::engine::texture::paint_once;
use crate::engine::{Grid, Image, Progress, Recipe};

/// Which pictures of an uplift are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramesOrder {
    /// The folder for a PNG a picture, frame_00000.png and so on.
    pub folder: Option<PathBuf>,
    /// The animation, which ends in .gif.
    pub animation: Option<PathBuf>,
    /// Iterations from one picture to the next, from 1.
    pub every: u32,
    /// Pixels from west to east and from north to south.
    pub size: [usize; 2],
}

/// Hundredths of a second for which an animation shows a picture, and the last one.
const DELAY: u16 = 4;
const LAST_DELAY: u16 = 200;

/// How quickly the 256 colours of a picture are chosen, from 1, slow, to 30 (A. Dekker, "Kohonen neural networks for
/// optimal colour quantization", 1994).
const SPEED: i32 = 10;

/// The most pictures: their files are numbered with five digits.
const MOST: usize = 100_000;

impl FramesOrder {
    /// The iterations that are shown: every so many from flat land on, and the last one.
    pub fn positions(&self, order: &Order) -> Vec<u32> {
        let last = order.recipe.iterations().min(order.position.unwrap_or(u32::MAX));
        let mut positions: Vec<u32> = (0..last).step_by(self.every.max(1) as usize).collect();
        positions.push(last);
        positions
    }

    fn path(&self, number: usize) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(format!("frame_{number:05}.png")))
    }

    /// The files that are written, or why they cannot be.
    pub(super) fn check(&self, order: &Order) -> Result<Vec<PathBuf>, FileError> {
        let count = self.positions(order).len();
        let mut paths: Vec<PathBuf> = (0..count.min(MOST)).filter_map(|number| self.path(number)).collect();
        paths.extend(self.animation.clone());
        let Some(first) = paths.first() else { return Ok(paths) };
        if count > MOST {
            let problem = format!("{count} pictures are too many; leave some out (on the command line with --every)");
            return Err(FileError::invalid(first, problem));
        }
        texture::check_size(Path::new("a.png"), self.size)?;
        if let Some(path) = &self.animation {
            if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gif")) {
                return Err(FileError::UnknownExtension { path: path.clone(), known: ".gif (animations)".into() });
            }
            // Sizes have 16 bits, like those of a JPEG.
            texture::check_size(Path::new("a.jpg"), self.size)?;
        }
        Ok(paths)
    }

    /// The most bytes that they take: what is remembered of the land to go on from, what is looked at of it, and a
    /// picture as colours and as bytes.
    pub(super) fn bytes(&self, recipe: &Recipe, grid: Grid) -> u64 {
        let looked_at = 4 * 4 * grid.samples() as u64;
        stack::max_cache_bytes(recipe, grid)
            + looked_at
            + 10 * (self.size[0] as u64).saturating_mul(self.size[1] as u64)
    }

    /// All pictures and the animation, complete but without their names.
    pub(super) fn stage(&self, order: &Order, progress: &Progress) -> Result<Vec<StagedFile>, FileError> {
        let positions = self.positions(order);
        let mut staged = Vec::new();
        let mut evaluator = Evaluator::new();
        let share = |done: usize| done as f32 / positions.len() as f32;
        // A picture of each position, on its way to a file of its own, and to whoever asks.
        let mut show = |staged: &mut Vec<StagedFile>, then: &mut dyn FnMut(&Image, bool) -> Result<(), FileError>| {
            for (number, &position) in positions.iter().enumerate() {
                progress.stage(share(number)..share(number + 1), || {
                    let picture = painted(order, self.size, position, &mut evaluator, progress)?;
                    if let Some(path) = self.path(number) {
                        staged.push(atomic::stage(&path, order.overwrite, |writer| {
                            texture::write(writer, &path, &picture, progress)
                        })?);
                    }
                    then(&picture, number + 1 == positions.len())
                })?;
            }
            Ok::<(), FileError>(())
        };
        let Some(path) = &self.animation else {
            show(&mut staged, &mut |_, _| Ok(()))?;
            return Ok(staged);
        };
        let animation = atomic::stage(path, order.overwrite, |writer| {
            let mut film =
                begin(CancellableWriter::new(writer, progress), self.size).map_err(|error| failed(path, &error))?;
            let [width, height] = self.size.map(|side| side as u16);
            show(&mut staged, &mut |picture, is_last| {
                let colours: Vec<u8> =
                    picture.pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
                let mut frame = Frame::from_rgb_speed(width, height, &colours, SPEED);
                frame.delay = if is_last { LAST_DELAY } else { DELAY };
                let written = film.write_frame(&frame);
                // A writer that was stopped fails in its own words.
                progress.check()?;
                written.map_err(|error| failed(path, &error))
            })
        })?;
        staged.push(animation);
        Ok(staged)
    }
}

fn failed(path: &Path, error: &gif::EncodingError) -> FileError {
    FileError::writing(path, &io::Error::other(error.to_string()))
}

fn begin<W: Write>(writer: W, size: [usize; 2]) -> Result<Encoder<W>, gif::EncodingError> {
    let [width, height] = size.map(|side| side as u16);
    let mut film = Encoder::new(writer, width, height, &[])?;
    film.set_repeat(Repeat::Infinite)?;
    Ok(film)
}

/// The texture after so many iterations: what building them alone would paint.
fn painted(
    order: &Order,
    size: [usize; 2],
    position: u32,
    evaluator: &mut Evaluator,
    progress: &Progress,
) -> Result<Image, FileError> {
    let Order { recipe, grid, inputs, .. } = order;
    let evaluation = || evaluator.evaluate(recipe, *grid, Some(position), inputs, progress);
    let terrain = progress.stage(0.0..0.4, evaluation)?;
    let light = Some(&recipe.light).filter(|light| light.bake);
    let painting = || paint_once(&terrain, &recipe.texture, recipe.world.height_range_m, inputs, light, size, progress);
    Ok(progress.stage(0.4..0.8, painting)?.image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::{Grid, Recipe, Step};
    use crate::files::build::{TextureOrder, build};

    fn order() -> Order {
        let stack = vec![Step::new(Faults { count: 10, ..Default::default() })];
        let recipe = Recipe { stack, ..Default::default() };
        let grid = Grid::fitted(recipe.world.extent(), 33);
        Order::new("Test", recipe, grid)
    }

    #[test]
    fn every_frame_is_the_texture_of_its_iteration() {
        let folder = tempfile::tempdir().expect("folder");
        let (mut order, animation) = (order(), folder.path().join("a.gif"));
        let frames = FramesOrder {
            folder: Some(folder.path().into()),
            animation: Some(animation.clone()),
            every: 4,
            size: [24, 20],
        };
        assert_eq!(frames.positions(&order), [0, 4, 8, 10]);
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
            let frame = image::open(folder.path().join(format!("frame_{number:05}.png"))).expect("a picture");
            assert!(frame == image::open(&path).expect("a picture"), "{number}");
        }
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut film = options.read_info(std::fs::File::open(&animation).expect("there")).expect("a GIF");
        let (mut count, mut last) = (0, Vec::new());
        while let Some(frame) = film.read_next_frame().expect("whole") {
            count += 1;
            assert_eq!((frame.width, frame.height), (24, 20));
            last = frame.buffer.to_vec();
        }
        assert_eq!(count, 4);
        let painted = image::open(folder.path().join("frame_00003.png")).expect("a picture").into_rgba8();
        let off = painted.as_raw().iter().zip(&last).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>();
        assert!(off < 6 * 24 * 20 * 3, "256 colours of a picture are close to its own: {off}");
    }

    #[test]
    fn what_cannot_be_an_animation_is_refused_before_anything_is_computed() {
        let folder = tempfile::tempdir().expect("folder");
        let check = |name: &str, size, message: &str| {
            let animation = Some(folder.path().join(name));
            let frames = FramesOrder { folder: None, animation, every: 1, size };
            let progress = Progress::new();
            progress.cancel();
            let order = Order { frames: Some(frames), ..order() };
            let refused = build(&order, &progress).expect_err(message).to_string();
            assert!(refused.contains(message), "{refused}");
        };
        check("a.webp", [8, 8], ".gif (animations)");
        check("a.gif", [65_536, 8], "65535");
        check("none/a.gif", [8, 8], "there is no folder");
        check("a.gif", [8, 8], "stopped before");
        assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
    }
}
