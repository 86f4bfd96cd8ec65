//! The preview thread: computes the newest request and cancels stale ones.

mod local_edit;
mod painter;
mod request;
#[cfg(test)]
mod test_requests;
mod worker;

use std::sync::Arc;
use std::time::Duration;

pub use self::request::{Preview, PreviewRequest};
use self::worker::PreviewWorker;
use super::job::{JobError, Wake};
use super::runner::{Policy, Runner, RunnerConfig};

/// How long a computation may continue after a newer request. Short ones finish within it and are shown, so that a
/// slider that is dragged without a pause still shows something; all others are cancelled.
const GRACE: Duration = Duration::from_millis(40);

/// The handle of the preview thread. Dropping it cancels and joins the thread.
pub struct Previewer {
    runner: Runner<PreviewWorker>,
}

impl Previewer {
    /// Starts the thread; `wake` is called whenever there is something to [take](Self::take).
    pub fn start(wake: Wake) -> std::io::Result<Self> {
        retain_freed_memory();
        let config = RunnerConfig::new("upthrust preview", Policy::LatestWins { grace: GRACE });
        Ok(Self { runner: Runner::start(config, PreviewWorker::new()?, wake)? })
    }

    /// Requests a preview, superseding all earlier requests. Its results carry the request returned.
    pub fn request(&self, request: PreviewRequest) -> Arc<PreviewRequest> {
        let request = Arc::new(request);
        self.runner.submit(request.clone());
        request
    }

    /// Takes the newest result.
    pub fn take(&self) -> Option<Result<Preview, JobError>> {
        self.runner.take().map(|(_, result)| result)
    }

    /// Returns the fraction done of the current computation, from 0 to 1; `None` if there is none.
    pub fn fraction(&self) -> Option<f32> {
        self.runner.status().map(|status| status.fraction)
    }

    /// Cancels the current computation and discards the queued request.
    pub fn cancel(&self) {
        self.runner.cancel_all();
    }
}

/// Makes glibc keep the freed memory of maps and images for the next ones. By default it returns large blocks to the
/// system, which has to map and clear every page of the next image again: 770 pages for an iteration at 513², a fifth
/// of its time. The size above which it does so follows from the largest block ever freed, up to 32 MiB (`mallopt(3)`,
/// `M_MMAP_THRESHOLD`), so this allocates and frees one of nearly that size, never touching its pages. The price is
/// that some freed memory stays with the process.
fn retain_freed_memory() {
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(31 << 20)));
    }
}

#[cfg(test)]
mod tests {

    use super::test_requests::{endless, request, request_for};
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::heightmap::Heightmap;
    use crate::engine::operations::recursive_filter::RecursiveFilter;
    use crate::engine::parameters::{Band, Colour, FileName};
    use crate::engine::texture::{TerrainType, TextureView};
    use crate::worker::test_support::{self, no_wake};

    fn previewer() -> Previewer {
        Previewer::start(no_wake()).expect("threads")
    }

    fn wait(previewer: &Previewer) -> Result<Preview, JobError> {
        test_support::wait(|| previewer.take())
    }

    #[test]
    fn a_preview_carries_its_request() {
        let previewer = previewer();
        previewer.request(request(10, 65));
        let preview = wait(&previewer).expect("a preview");
        assert_eq!(*preview.request, request(10, 65));
        assert_eq!((preview.texture.width, preview.heightmap.height), (65, 65));
        assert!(!preview.coarse && preview.terrain.min_max() != [0.0, 0.0]);
    }

    #[test]
    fn the_newest_request_wins_and_stale_work_stops() {
        let previewer = previewer();
        previewer.request(endless(257));
        test_support::wait(|| previewer.fraction());
        previewer.request(request(10, 33));
        previewer.request(request(11, 33));
        // The first request never ends by itself. A coarse preview may come first.
        while wait(&previewer).expect("a preview").request.samples != 33 {}
    }

    #[test]
    fn a_slow_preview_is_preceded_by_a_coarse_one() {
        let previewer = previewer();
        previewer.request(endless(257));
        std::thread::sleep(Duration::from_millis(200));
        previewer.request(request(1000, 257));
        let first = wait(&previewer).expect("a preview");
        assert!(first.coarse && *first.request == request(1000, 257));
        let second = wait(&previewer).expect("a preview");
        assert!(!second.coarse && second.terrain.grid().width() == 257);
    }

    #[test]
    #[ignore = "slow: drags a slider for three seconds"]
    fn nightly_a_drag_over_a_slow_terrain_shows_previews() {
        let wind = || Some(RecursiveFilter::default());
        let windy = |count| request_for(Faults { count, wind: wind(), ..Default::default() }, 513);
        let previewer = previewer();
        let mut shown = 0;
        // A request every 8 ms for three seconds, each for work of several seconds.
        for count in 0..380 {
            previewer.request(windy(300 + count));
            std::thread::sleep(Duration::from_millis(8));
            shown += u32::from(previewer.take().is_some());
        }
        assert!(shown >= 3, "{shown} previews");
    }

    #[test]
    fn a_colour_change_keeps_the_terrain() {
        let previewer = previewer();
        previewer.request(request(10, 65));
        let first = wait(&previewer).expect("a preview");
        let mut painted = request(10, 65);
        Arc::make_mut(&mut painted.recipe).texture.types.truncate(1);
        previewer.request(painted);
        let mut second = wait(&previewer).expect("a preview");
        while second.coarse {
            // On a busy machine the first one was slow.
            second = wait(&previewer).expect("a preview");
        }
        assert!(Arc::ptr_eq(&first.terrain, &second.terrain) && Arc::ptr_eq(&first.heightmap, &second.heightmap));
        assert_ne!(first.texture, second.texture);
    }

    #[test]
    fn the_type_at_a_position_is_the_one_painted_there() {
        let previewer = previewer();
        let mut painted = request(10, 65);
        let types = &mut Arc::make_mut(&mut painted.recipe).texture.types;
        types.truncate(2);
        let [low, high] = &mut types[..] else { panic!("two types") };
        for (terrain_type, name, min, max, colour) in
            [(low, "Low", 0.0, 50.0, [0; 3]), (high, "High", 50.0, 100.0, [255; 3])]
        {
            *terrain_type = TerrainType {
                name: name.into(),
                colour: Colour(colour),
                elevation: Band { min, max },
                elevation_release: 1.0,
                ..Default::default()
            };
        }
        painted.texture_view = TextureView::Unlit;
        previewer.request(painted);
        let preview = wait(&previewer).expect("a preview");
        let grid = preview.terrain.grid();
        let mut seen = [0; 2];
        for (j, i) in (0..65).flat_map(|j| (0..65).map(move |i| (j, i))) {
            let [grey, ..] = preview.texture.pixels[j * 65 + i];
            let place_m =
                [(i as f64 + 0.5) / 65.0 * grid.extent().width_m, (j as f64 + 0.5) / 65.0 * grid.extent().depth_m];
            if !(60..=200).contains(&grey) {
                let expected = usize::from(grey > 200);
                assert_eq!(
                    preview.type_at(place_m).map(|terrain_type| &*terrain_type.name),
                    Some(["Low", "High"][expected])
                );
                seen[expected] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }

    #[test]
    fn a_broken_file_is_reported_and_the_next_request_is_served() {
        let previewer = previewer();
        let mut broken = request(10, 33);
        let name = FileName("broken.png".into());
        let step = Step::new(Heightmap { file: name.clone(), ..Default::default() });
        Arc::make_mut(&mut broken.recipe).stack.push(step);
        broken.files.insert(name, Arc::new(Vec::new()));
        previewer.request(broken);
        assert!(matches!(wait(&previewer), Err(JobError::Failed(message)) if message.contains("broken.png")));
        previewer.request(request(10, 33));
        assert!(wait(&previewer).is_ok());
    }
}
