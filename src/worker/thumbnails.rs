//! The thumbnail thread: small pictures of recipes, one after another, each once.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::{InputFiles, JobError, Wake, catch_panic, lock};
use crate::engine::relief::relief;
use crate::engine::stack::Evaluator;
use crate::engine::texture::paint_once;
use crate::engine::{Cancelled, Grid, Image, Progress, Recipe};
use crate::files::{self, FileError, inputs::DecodedFiles};

/// How a thumbnail shows the land.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThumbnailStyle {
    /// In the recipe's own texture and light.
    Texture,
    /// In greys, for the shape alone.
    Relief,
}

/// A small picture that is wanted: the land at the end of a recipe's timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct ThumbnailRequest {
    /// What it is the picture of: it comes back under this name.
    pub key: String,
    /// What decides the land, its texture and its light.
    pub recipe: Arc<Recipe>,
    /// The bytes of the files that the recipe names.
    pub files: InputFiles,
    /// Pixels along the longer side; the other side follows the world's proportions.
    pub pixels: usize,
    /// How the land is shown.
    pub style: ThumbnailStyle,
}

/// A picture that was asked for, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail {
    /// The name under which it was asked for.
    pub key: String,
    /// The picture.
    pub picture: Result<Image, JobError>,
}

/// The bytes of a picture file: one that ships with the program, or one that a project holds.
pub type ImageBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// What the thread has to draw.
enum Job {
    Land(ThumbnailRequest),
    /// The middle of a tileable picture of ground.
    Ground {
        key: String,
        bytes: ImageBytes,
        pixels: usize,
    },
}

/// The handle of the thumbnail thread. Dropping it stops the thread.
pub struct Thumbnailer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Cancelled once, when the thread is to stop.
    progress: Progress,
    wake: Wake,
}

#[derive(Default)]
struct State {
    requests: VecDeque<Job>,
    finished: VecDeque<Thumbnail>,
}

impl Thumbnailer {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { state, changed, progress: Progress::new(), wake });
        let thread = {
            let shared = shared.clone();
            std::thread::Builder::new().name("upthrust thumbnails".into()).spawn(move || serve(&shared))?
        };
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Puts a request behind those that wait.
    pub fn request(&self, request: ThumbnailRequest) {
        lock(&self.shared.state).requests.push_back(Job::Land(request));
        self.shared.changed.notify_all();
    }

    /// Puts the picture of a ground before all lands that wait: it is soon drawn. The picture is a square.
    pub fn request_material(&self, key: String, bytes: ImageBytes, pixels: usize) {
        let mut state = lock(&self.shared.state);
        let first_land = state.requests.iter().position(|job| matches!(job, Job::Land(_)));
        let place = first_land.unwrap_or(state.requests.len());
        state.requests.insert(place, Job::Ground { key, bytes, pixels });
        self.shared.changed.notify_all();
    }

    /// Takes back the requests that wait under names that begin so.
    pub fn forget(&self, prefix: &str) {
        let is_kept = |job: &Job| {
            let (Job::Land(ThumbnailRequest { key, .. }) | Job::Ground { key, .. }) = job;
            !key.starts_with(prefix)
        };
        lock(&self.shared.state).requests.retain(is_kept);
    }

    /// The oldest picture that has not been taken yet.
    pub fn take(&self) -> Option<Thumbnail> {
        lock(&self.shared.state).finished.pop_front()
    }
}

impl Drop for Thumbnailer {
    fn drop(&mut self) {
        {
            // Under the lock, so that the thread is either before its look at the monitor or waiting to be notified.
            let _state = lock(&self.shared.state);
            self.shared.progress.cancel();
        }
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A worker that panicked has said so already.
            let _ = thread.join();
        }
    }
}

fn serve(shared: &Shared) {
    // A pool of one thread of its own: the preview comes first.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "upthrust thumbnail".into()).build();
    // Recipes that begin with the same steps share their land.
    let mut evaluator = Evaluator::new();
    while let Some(request) = next_request(shared) {
        let mut job = || match &request {
            Job::Land(request) => draw(&mut evaluator, request, &shared.progress),
            Job::Ground { key, bytes, pixels } => Ok(ground(key, (**bytes).as_ref(), *pixels)?),
        };
        let outcome = catch_panic(|| match &pool {
            Ok(pool) => pool.install(&mut job),
            Err(_) => job(),
        });
        let picture = match outcome {
            Ok(Ok(picture)) => Ok(picture),
            Ok(Err(Undrawn::Cancelled)) => return,
            Ok(Err(Undrawn::Failed(message))) => Err(JobError::Failed(message)),
            Err(panicked) => {
                // What the evaluator remembers may be half-made.
                evaluator = Evaluator::new();
                Err(panicked)
            }
        };
        let (Job::Land(ThumbnailRequest { key, .. }) | Job::Ground { key, .. }) = request;
        let is_last = {
            let mut state = lock(&shared.state);
            state.finished.push_back(Thumbnail { key, picture });
            state.requests.is_empty()
        };
        (shared.wake)();
        if is_last {
            // Nobody may ask again for hours: no land is kept for that.
            evaluator = Evaluator::new();
        }
    }
}

/// Waits for the next request; `None` once the thread is to stop.
fn next_request(shared: &Shared) -> Option<Job> {
    let mut state = lock(&shared.state);
    while !shared.progress.is_cancelled() {
        match state.requests.pop_front() {
            Some(request) => return Some(request),
            None => state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
    None
}

enum Undrawn {
    Cancelled,
    Failed(String),
}

impl From<FileError> for Undrawn {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Cancelled => Self::Cancelled,
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<Cancelled> for Undrawn {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// The middle of a picture, a square of half its shorter side, each pixel the mean of what it covers.
fn ground(name: &str, bytes: &[u8], pixels: usize) -> Result<Image, FileError> {
    let whole = files::swatches::picture(Path::new(name), bytes)?;
    let side = (whole.width.min(whole.height) / 2).max(1);
    let corner = [(whole.width - side) / 2, (whole.height - side) / 2];
    // The pixels from which one is made: at least one, even of a picture that is smaller than its thumbnail.
    let covered = |at: usize| at * side / pixels..((at + 1) * side / pixels).max(at * side / pixels + 1);
    let pixel = |i: usize| {
        let (columns, rows) = (covered(i % pixels), covered(i / pixels));
        let count = (columns.len() * rows.len()) as u32;
        let mut sums = [0_u32; 3];
        for row in rows {
            let from = (corner[1] + row) * whole.width + corner[0];
            for [red, green, blue, _] in &whole.pixels[from + columns.start..from + columns.end] {
                sums.iter_mut().zip([red, green, blue]).for_each(|(sum, channel)| *sum += u32::from(*channel));
            }
        }
        let [red, green, blue] = sums.map(|sum| ((sum + count / 2) / count) as u8);
        [red, green, blue, 255]
    };
    Ok(Image { width: pixels, height: pixels, pixels: (0..pixels * pixels).map(pixel).collect() })
}

fn draw(evaluator: &mut Evaluator, request: &ThumbnailRequest, progress: &Progress) -> Result<Image, Undrawn> {
    let recipe = &*request.recipe;
    let inputs = DecodedFiles::default().inputs(recipe, &request.files, progress)?;
    // A pixel lies between four samples.
    let grid = Grid::fitted(recipe.world.extent(), request.pixels + 1);
    let terrain = evaluator.evaluate(recipe, grid, None, &inputs, progress)?;
    let size = [grid.width() - 1, grid.height() - 1];
    Ok(match request.style {
        ThumbnailStyle::Texture => {
            let range_m = recipe.world.height_range_m;
            paint_once(&terrain, &recipe.texture, range_m, &inputs, Some(&recipe.light), size, progress)?.picture
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
    use crate::worker::tests::wait;

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
        Thumbnailer::start(Arc::new(|| {})).expect("a thread")
    }

    #[test]
    fn pictures_come_under_their_names_in_the_world_s_proportions() {
        let thumbnailer = thumbnailer();
        for key in ["first", "second"] {
            thumbnailer.request(few(key));
        }
        for key in ["first", "second"] {
            let thumbnail = wait(|| thumbnailer.take());
            let picture = thumbnail.picture.expect("a picture");
            assert_eq!((thumbnail.key.as_str(), picture.width, picture.height), (key, 48, 32));
            assert!(picture.pixels.iter().any(|pixel| *pixel != picture.pixels[0]));
        }
    }

    #[test]
    fn a_picture_is_the_same_whatever_was_drawn_before_it() {
        let thumbnailer = thumbnailer();
        let mut filtered = few("filtered");
        Arc::make_mut(&mut filtered.recipe).stack.push(Step::new(RecursiveFilter::default()));
        for request in [few("before"), filtered.clone(), few("again"), filtered] {
            thumbnailer.request(request);
        }
        let [before, filtered, again, last] = std::array::from_fn(|_| wait(|| thumbnailer.take()).picture);
        assert_eq!(before, again);
        assert_eq!(filtered, last);
        assert_ne!(before, filtered);
    }

    #[test]
    fn a_picture_is_grey_or_in_the_recipe_s_colours() {
        let thumbnailer = thumbnailer();
        thumbnailer.request(ThumbnailRequest { style: ThumbnailStyle::Texture, ..few("colours") });
        thumbnailer.request(few("greys"));
        let grey = |&[red, green, blue, _]: &[u8; 4]| red == green && green == blue;
        assert!(!wait(|| thumbnailer.take()).picture.expect("a picture").pixels.iter().all(grey));
        assert!(wait(|| thumbnailer.take()).picture.expect("a picture").pixels.iter().all(grey));
    }

    #[test]
    fn a_broken_file_is_said_and_the_next_request_is_served() {
        let thumbnailer = thumbnailer();
        let mut broken = few("broken");
        let name = FileName("broken.png".into());
        let step = Step::new(Heightmap { file: name.clone(), ..Default::default() });
        Arc::make_mut(&mut broken.recipe).stack.push(step);
        broken.files.insert(name, Arc::new(Vec::new()));
        thumbnailer.request(broken);
        thumbnailer.request(few("whole"));
        let refused = wait(|| thumbnailer.take());
        assert!(matches!(refused.picture, Err(JobError::Failed(message)) if message.contains("broken.png")));
        assert!(wait(|| thumbnailer.take()).picture.is_ok());
    }

    #[test]
    fn grounds_come_before_lands_and_are_squares_of_any_picture() {
        let thumbnailer = thumbnailer();
        for key in ["first", "second", "third"] {
            thumbnailer.request(few(key));
        }
        let (_, shipped) = files::swatches::SHIPPED[0];
        thumbnailer.request_material("grass".into(), Arc::new(shipped), 48);
        let mut tiny = std::io::Cursor::new(Vec::new());
        image::RgbImage::from_pixel(3, 2, image::Rgb([9, 90, 200]))
            .write_to(&mut tiny, image::ImageFormat::Png)
            .expect("written");
        thumbnailer.request_material("tiny".into(), Arc::new(tiny.into_inner()), 8);
        thumbnailer.request_material("broken".into(), Arc::new(vec![1, 2, 3]), 8);
        let mut found: Vec<Thumbnail> = (0..6).map(|_| wait(|| thumbnailer.take())).collect();
        // The first land may have been begun already.
        found.retain(|thumbnail| thumbnail.key != "first");
        let keys: Vec<&str> = found.iter().map(|thumbnail| thumbnail.key.as_str()).collect();
        assert_eq!(keys, ["grass", "tiny", "broken", "second", "third"]);
        let grass = found[0].picture.as_ref().expect("readable");
        assert_eq!((grass.width, grass.height), (48, 48));
        assert!(grass.pixels.iter().any(|pixel| *pixel != grass.pixels[0]));
        assert!(found[1].picture.as_ref().expect("readable").pixels.iter().all(|pixel| *pixel == [9, 90, 200, 255]));
        assert!(matches!(found[2].picture, Err(JobError::Failed(_))));
    }

    #[test]
    fn closing_stops_work_that_nobody_would_wait_for() {
        let thumbnailer = thumbnailer();
        let wind = RecursiveFilter { passes: 100, ..Default::default() };
        thumbnailer.request(request("endless", Faults { count: 1_000_000, wind: Some(wind), ..Default::default() }));
        std::thread::sleep(std::time::Duration::from_millis(50));
        let asked = std::time::Instant::now();
        drop(thumbnailer);
        assert!(asked.elapsed() < std::time::Duration::from_millis(500), "{:?}", asked.elapsed());
    }
}
