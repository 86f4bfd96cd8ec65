//! The thumbnail thread: draws small images of recipes and materials, one at a time.

use std::path::Path;
use std::sync::Arc;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::job::{JobError, Wake};
use super::runner::{JobContext, Policy, Runner, RunnerConfig, Worker};
use crate::engine::relief::relief;
use crate::engine::stack::Evaluator;
use crate::engine::texture::paint_once;
use crate::engine::{Grid, Image, Progress, Recipe};
use crate::files::import::{DecodedFiles, InputFiles};
use crate::files::{self, FileError};

/// How a thumbnail shows the terrain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThumbnailStyle {
    /// With the recipe's texture and light.
    Texture,
    /// As a grey relief, which shows only the shape.
    Relief,
}

/// A request for a small image of the terrain at the end of a recipe's timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct ThumbnailRequest {
    /// Identifies the thumbnail.
    pub key: String,
    /// The recipe.
    pub recipe: Arc<Recipe>,
    /// The contents of the files that the recipe names.
    pub files: InputFiles,
    /// Pixels along the longer side; the other side follows from the world's proportions.
    pub pixels: usize,
    /// How the terrain is shown.
    pub style: ThumbnailStyle,
}

/// A finished thumbnail.
#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail {
    /// The key of the request.
    pub key: String,
    /// The image, or why there is none.
    pub image: Result<Image, JobError>,
}

/// The contents of an image file: one that ships with the program, or one that a project holds.
pub type ImageBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// What a thumbnail of a file is drawn from.
#[derive(Clone)]
pub enum ThumbnailSource {
    /// An image that is shown as it is.
    Image(Image),
    /// The middle of a tileable texture.
    Material(ImageBytes),
    /// The terrain of a recipe. The key of the request does not matter.
    Terrain(ThumbnailRequest),
}

/// Reads what a thumbnail is drawn from; it runs on the thumbnail thread.
pub type ReadThumbnail = Box<dyn FnOnce() -> Result<ThumbnailSource, String> + Send>;

/// A request to the thread.
enum Job {
    Terrain(ThumbnailRequest),
    /// A file that is still to be read.
    Unread {
        key: String,
        read: ReadThumbnail,
        pixels: usize,
    },
    /// The middle of a tileable texture.
    Material {
        key: String,
        bytes: ImageBytes,
        pixels: usize,
    },
}

impl Job {
    fn key(&self) -> &str {
        match self {
            Self::Terrain(ThumbnailRequest { key, .. }) | Self::Material { key, .. } | Self::Unread { key, .. } => key,
        }
    }
}

/// An evaluator for grids that are small, and steps that few thumbnails share.
fn evaluator() -> Evaluator {
    Evaluator::new().with_max_bytes(128 << 20)
}

/// The handle of the thumbnail thread. Dropping it cancels and joins the thread.
pub struct Thumbnailer {
    runner: Runner<ThumbnailWorker>,
}

impl Thumbnailer {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        // A single thread, so that the preview has the others.
        let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "upthrust thumbnail pool".into()).build();
        let worker = ThumbnailWorker { pool: pool.ok(), evaluator: evaluator() };
        Ok(Self { runner: Runner::start(RunnerConfig::new("upthrust thumbnails", Policy::Queue), worker, wake)? })
    }

    /// Queues a thumbnail of a terrain.
    pub fn request(&self, request: ThumbnailRequest) {
        self.runner.submit(Job::Terrain(request));
    }

    /// Queues a square thumbnail of a material ahead of all terrains, because it is fast to draw.
    pub fn request_material(&self, key: String, bytes: ImageBytes, pixels: usize) {
        self.runner.edit_queue(|queue| {
            let first_terrain = queue.iter().position(|job| matches!(job, Job::Terrain(_)));
            queue.insert(first_terrain.unwrap_or(queue.len()), Job::Material { key, bytes, pixels });
        });
    }

    /// Queues a thumbnail of what `read` returns; a material is drawn with this many pixels along a side.
    pub fn request_unread(&self, key: String, read: ReadThumbnail, pixels: usize) {
        self.runner.submit(Job::Unread { key, read, pixels });
    }

    /// Moves the requests with these keys to the front, keeping their order in the queue.
    pub fn draw_first(&self, keys: &[&str]) {
        self.runner.edit_queue(|queue| {
            let (first, later): (Vec<Job>, Vec<Job>) = queue.drain(..).partition(|job| keys.contains(&job.key()));
            queue.extend(first.into_iter().chain(later));
        });
    }

    /// Discards the requests whose keys start with a prefix, and cancels the running one if its key does.
    pub fn discard(&self, prefix: &str) {
        self.runner.edit_queue(|queue| queue.retain(|job| !job.key().starts_with(prefix)));
        self.runner.cancel_if(|key| key.starts_with(prefix));
    }

    /// Takes the oldest finished thumbnail.
    pub fn take(&self) -> Option<Thumbnail> {
        self.runner.take().map(|(key, image)| Thumbnail { key, image })
    }
}

struct ThumbnailWorker {
    pool: Option<ThreadPool>,
    /// Recipes that begin with the same steps share their results.
    evaluator: Evaluator,
}

impl Worker for ThumbnailWorker {
    type Job = Job;
    type Label = String;
    type Output = Image;

    fn label(job: &Job) -> String {
        job.key().into()
    }

    fn run(&mut self, job: Job, context: &JobContext<'_, Image>) -> Result<Image, JobError> {
        let evaluator = &mut self.evaluator;
        let draw = || match job {
            Job::Terrain(request) => draw_terrain(evaluator, &request, context.progress),
            Job::Material { key, bytes, pixels } => Ok(draw_material(&key, (*bytes).as_ref(), pixels)?),
            Job::Unread { key, read, pixels } => match read().map_err(JobError::Failed)? {
                ThumbnailSource::Image(image) => Ok(image),
                ThumbnailSource::Material(bytes) => Ok(draw_material(&key, (*bytes).as_ref(), pixels)?),
                ThumbnailSource::Terrain(request) => draw_terrain(evaluator, &request, context.progress),
            },
        };
        match &self.pool {
            Some(pool) => pool.install(draw),
            None => draw(),
        }
    }

    fn reset(&mut self) {
        self.evaluator = evaluator();
    }

    /// The next request may be hours away: frees the cached heights.
    fn idle(&mut self) {
        self.reset();
    }
}

/// Draws the middle of a texture: a square of half its shorter side, each pixel the mean of the pixels it covers.
fn draw_material(name: &str, bytes: &[u8], pixels: usize) -> Result<Image, FileError> {
    let texture = files::formats::image_decode::decode_texture(Path::new(name), bytes)?;
    let side = (texture.width.min(texture.height) / 2).max(1);
    let corner = [(texture.width - side) / 2, (texture.height - side) / 2];
    Ok(texture.scaled_square(corner, side, pixels))
}

fn draw_terrain(evaluator: &mut Evaluator, request: &ThumbnailRequest, progress: &Progress) -> Result<Image, JobError> {
    let recipe = &*request.recipe;
    let inputs = DecodedFiles::default().inputs(recipe, &request.files, progress)?;
    // The centre of a pixel is between four samples.
    let grid = Grid::fitted(recipe.world.extent(), request.pixels + 1);
    let terrain = evaluator.evaluate(recipe, grid, None, &inputs, progress)?;
    let size = [grid.width() - 1, grid.height() - 1];
    Ok(match request.style {
        ThumbnailStyle::Texture => {
            paint_once(&terrain, recipe.painting(&inputs, Some(&recipe.light)), size, progress)?.image
        }
        ThumbnailStyle::Relief => relief(&terrain, size, progress)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::heightmap::Heightmap;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::parameters::FileName;
    use crate::engine::recipe::World;
    use crate::worker::test_support::{no_wake, wait};

    fn request(key: &str, faults: Faults) -> ThumbnailRequest {
        let world = World { width_m: 3000.0, depth_m: 2000.0, ..Default::default() };
        let recipe = Recipe { world, stack: vec![Step::new(faults)], ..Default::default() };
        let (recipe, files) = (Arc::new(recipe), InputFiles::new());
        ThumbnailRequest { key: key.into(), recipe, files, pixels: 48, style: ThumbnailStyle::Relief }
    }

    fn few(key: &str) -> ThumbnailRequest {
        request(key, Faults { count: 20, ..Default::default() })
    }

    fn thumbnailer() -> Thumbnailer {
        Thumbnailer::start(no_wake()).expect("a thread")
    }

    #[test]
    fn thumbnails_keep_their_keys_and_the_world_s_proportions() {
        let thumbnailer = thumbnailer();
        for key in ["first", "second"] {
            thumbnailer.request(few(key));
        }
        for key in ["first", "second"] {
            let thumbnail = wait(|| thumbnailer.take());
            let image = thumbnail.image.expect("an image");
            assert_eq!((thumbnail.key.as_str(), image.width, image.height), (key, 48, 32));
            assert!(image.pixels.iter().any(|pixel| *pixel != image.pixels[0]));
        }
    }

    #[test]
    fn a_thumbnail_does_not_depend_on_what_was_drawn_before_it() {
        let thumbnailer = thumbnailer();
        let mut filtered = few("filtered");
        Arc::make_mut(&mut filtered.recipe).stack.push(Step::new(RecursiveFilter::default()));
        for request in [few("before"), filtered.clone(), few("again"), filtered] {
            thumbnailer.request(request);
        }
        let [before, filtered, again, last] = std::array::from_fn(|_| wait(|| thumbnailer.take()).image);
        assert_eq!(before, again);
        assert_eq!(filtered, last);
        assert_ne!(before, filtered);
    }

    #[test]
    fn a_relief_is_grey_and_a_texture_has_colours() {
        let thumbnailer = thumbnailer();
        thumbnailer.request(ThumbnailRequest { style: ThumbnailStyle::Texture, ..few("colours") });
        thumbnailer.request(few("greys"));
        let grey = |&[red, green, blue, _]: &[u8; 4]| red == green && green == blue;
        assert!(!wait(|| thumbnailer.take()).image.expect("an image").pixels.iter().all(grey));
        assert!(wait(|| thumbnailer.take()).image.expect("an image").pixels.iter().all(grey));
    }

    #[test]
    fn a_broken_file_is_reported_and_the_next_request_is_served() {
        let thumbnailer = thumbnailer();
        let mut broken = few("broken");
        let name = FileName("broken.png".into());
        let step = Step::new(Heightmap { file: name.clone(), ..Default::default() });
        Arc::make_mut(&mut broken.recipe).stack.push(step);
        broken.files.insert(name, Arc::new(Vec::new()));
        thumbnailer.request(broken);
        thumbnailer.request(few("good"));
        let broken = wait(|| thumbnailer.take());
        assert!(matches!(broken.image, Err(JobError::Failed(message)) if message.contains("broken.png")));
        assert!(wait(|| thumbnailer.take()).image.is_ok());
    }

    #[test]
    fn materials_come_before_terrains_and_are_square() {
        let thumbnailer = thumbnailer();
        for key in ["first", "second", "third"] {
            thumbnailer.request(few(key));
        }
        let (_, shipped) = files::import::SHIPPED_TEXTURES[0];
        thumbnailer.request_material("grass".into(), Arc::new(shipped), 48);
        let mut tiny = std::io::Cursor::new(Vec::new());
        image::RgbImage::from_pixel(3, 2, image::Rgb([9, 90, 200]))
            .write_to(&mut tiny, image::ImageFormat::Png)
            .expect("written");
        thumbnailer.request_material("tiny".into(), Arc::new(tiny.into_inner()), 8);
        thumbnailer.request_material("broken".into(), Arc::new(vec![1, 2, 3]), 8);
        let mut found: Vec<Thumbnail> = (0..6).map(|_| wait(|| thumbnailer.take())).collect();
        // The first terrain may have started already.
        found.retain(|thumbnail| thumbnail.key != "first");
        let keys: Vec<&str> = found.iter().map(|thumbnail| thumbnail.key.as_str()).collect();
        assert_eq!(keys, ["grass", "tiny", "broken", "second", "third"]);
        let grass = found[0].image.as_ref().expect("readable");
        assert_eq!((grass.width, grass.height), (48, 48));
        assert!(grass.pixels.iter().any(|pixel| *pixel != grass.pixels[0]));
        assert!(found[1].image.as_ref().expect("readable").pixels.iter().all(|pixel| *pixel == [9, 90, 200, 255]));
        assert!(matches!(found[2].image, Err(JobError::Failed(_))));
    }

    #[test]
    fn thumbnails_in_sight_are_drawn_first() {
        let thumbnailer = thumbnailer();
        for key in ["first", "second", "third", "fourth", "fifth"] {
            thumbnailer.request(few(key));
        }
        thumbnailer.draw_first(&["fifth", "fourth"]);
        let keys: Vec<String> = (0..5).map(|_| wait(|| thumbnailer.take()).key).collect();
        // The first terrain may have started already.
        let others: Vec<&String> = keys.iter().filter(|key| *key != "first").collect();
        assert_eq!(others, ["fourth", "fifth", "second", "third"]);
    }

    #[test]
    fn files_are_read_on_the_thread_and_discarding_cancels_the_running_one() {
        let thumbnailer = thumbnailer();
        let here = std::thread::current().id();
        let image = Image { width: 1, height: 1, pixels: vec![[1, 2, 3, 255]] };
        let source = ThumbnailSource::Image(image.clone());
        let read = move || if std::thread::current().id() == here { Err("here".into()) } else { Ok(source) };
        thumbnailer.request_unread("file a".into(), Box::new(read), 8);
        assert_eq!(wait(|| thumbnailer.take()).image, Ok(image));
        thumbnailer.request_unread("file b".into(), Box::new(|| Err("unreadable".into())), 8);
        assert_eq!(wait(|| thumbnailer.take()).image, Err(JobError::Failed("unreadable".into())));
        let endless = request("", Faults { count: 1_000_000, ..Default::default() });
        thumbnailer.request_unread("file c".into(), Box::new(move || Ok(ThumbnailSource::Terrain(endless))), 8);
        wait(|| thumbnailer.runner.status());
        thumbnailer.discard("file ");
        // The job may not have started when it was discarded.
        thumbnailer.request(few("next"));
        let next = wait(|| thumbnailer.take().filter(|thumbnail| thumbnail.key == "next"));
        assert!(next.image.is_ok());
    }

    #[test]
    fn dropping_cancels_a_long_thumbnail() {
        let thumbnailer = thumbnailer();
        let wind = RecursiveFilter { passes: 100, ..Default::default() };
        thumbnailer.request(request("endless", Faults { count: 1_000_000, wind: Some(wind), ..Default::default() }));
        wait(|| thumbnailer.runner.status());
        // Joins the thread, whose job would run for hours.
        drop(thumbnailer);
    }
}
