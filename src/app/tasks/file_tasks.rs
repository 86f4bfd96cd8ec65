//! Reading and writing of single files beside the interface, so that no slow disk stops a frame.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::app::commands::{FileSlot, Target};
use crate::app::dialogs::gallery::UserPreset;
use crate::engine::SampleScale;
use crate::engine::parameters::Band;
use crate::files;
use crate::files::FileError;
use crate::files::build::Order;
use crate::files::inputs::InputFiles;
use crate::files::pace::CostEstimate;
use crate::files::sidecar::sidecar_path;
use crate::project::{PROJECT_SUFFIX, ProjectFile};
use crate::worker::{TargetCheck, Wake, check_targets};

/// What an errand brought back.
#[derive(Debug)]
pub(crate) enum FileTaskResult {
    /// A project was read.
    Opened { path: PathBuf, file: ProjectFile },
    /// A heightmap was read and found good.
    Imported(Imported),
    /// The project of that origin was written.
    Saved { path: PathBuf, file: ProjectFile, origin: usize },
    /// It is known whether the files of an export can be written.
    TargetsChecked(TargetCheck),
    /// How quickly what is to be exported is computed, if that could be found out.
    CostEstimated(Option<CostEstimate>),
    /// The presets of one's own were read, and what is wrong with one that could not be.
    Presets { presets: Vec<UserPreset>, broken: Option<String> },
    /// A preset of one's own was written.
    PresetSaved { path: PathBuf },
    /// Nothing is to be said of it.
    Done,
    /// There is no program that shows the folder.
    NoFileManager(PathBuf),
    /// These of the recent files are no longer there.
    RecentMissing(BTreeSet<PathBuf>),
    /// A recent file that was to be opened is no longer there.
    RecentGone(PathBuf),
    /// It went wrong: what, where, what to do.
    Failed(String),
}

/// A heightmap for a step, or a picture for a terrain type.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) path: PathBuf,
    /// The file as a project keeps it.
    pub(crate) bytes: Vec<u8>,
    /// The heights that its sidecar gives whole numbers, where they stay such.
    pub(crate) range_m: Option<Band>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
    /// What it is for; `None`: a new terrain type for ground, a new step for a heightmap.
    pub(crate) target: Option<Target>,
    /// Whether it is a picture of ground.
    pub(crate) is_material: bool,
}

/// Whether there is certainly no such file; one that nobody may look at is not known to be gone.
fn is_gone(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

type Work = Box<dyn FnOnce() -> FileTaskResult + Send>;

/// Runs errands one after another on a thread of its own: what was saved last is what the file holds.
pub(crate) struct FileTasks {
    work: Sender<Work>,
    /// Looks go beside the others: on a disk that does not answer they may take very long.
    looks: Sender<Work>,
    done: Receiver<FileTaskResult>,
}

impl FileTasks {
    /// Starts the thread; it ends when this is dropped.
    pub(crate) fn start(wake: &Wake) -> std::io::Result<Self> {
        let (sender, done) = channel();
        let thread = |name: &str| {
            let (work, file_tasks) = channel::<Work>();
            let (sender, wake) = (sender.clone(), wake.clone());
            let run = move || {
                for errand in file_tasks {
                    // The window may be gone by now; then nobody needs the result, but the errand is done all the same.
                    let _ = sender.send(errand());
                    wake();
                }
            };
            std::thread::Builder::new().name(name.into()).spawn(run).map(|_| work)
        };
        Ok(Self { work: thread("upthrust errand")?, looks: thread("upthrust look")?, done })
    }

    /// The next errand that is done.
    pub(crate) fn take(&self) -> Option<FileTaskResult> {
        self.done.try_recv().ok()
    }

    /// Reads a project, a picture in colour as ground for a new terrain type, or any other file as a heightmap.
    pub(crate) fn open(&self, path: PathBuf) {
        self.run(move || opened(path));
    }

    /// The same with a recent file, if it is there.
    pub(crate) fn open_recent(&self, path: PathBuf) {
        self.run(move || if is_gone(&path) { FileTaskResult::RecentGone(path) } else { opened(path) });
    }

    /// Looks which of these files are no longer there.
    pub(crate) fn find_missing(&self, paths: Vec<PathBuf>) {
        let look = move || FileTaskResult::RecentMissing(paths.into_iter().filter(|path| is_gone(path)).collect());
        // The thread lives as long as this.
        let _ = self.looks.send(Box::new(look));
    }

    /// Reads a heightmap for a step, or a picture for a terrain type.
    pub(crate) fn import(&self, path: PathBuf, target: Option<Target>) {
        self.run(move || {
            let read = match target.as_ref().map(|target| target.slot) {
                Some(FileSlot::Texture(_)) => ground(path, target),
                Some(FileSlot::Operation(_) | FileSlot::Mask(_)) | None => heightmap(&path, target),
            };
            read.map_or_else(FileTaskResult::Failed, FileTaskResult::Imported)
        });
    }

    /// Writes the project that came from that origin.
    pub(crate) fn save(&self, path: PathBuf, file: ProjectFile, origin: usize) {
        self.run(move || {
            let text = file.to_json();
            let write = |writer: &mut BufWriter<&File>| {
                writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(&path, &error))
            };
            match files::atomic::write_atomically(&path, true, write) {
                Ok(()) => FileTaskResult::Saved { path, file, origin },
                Err(error) => FileTaskResult::Failed(error.to_string()),
            }
        });
    }

    /// Looks whether the files of an export can be written.
    pub(crate) fn check_targets(&self, files: Vec<PathBuf>) {
        self.run(move || FileTaskResult::TargetsChecked(check_targets(files)));
    }

    /// Tries how quickly an order is computed.
    pub(crate) fn estimate_cost(&self, order: Order, files: InputFiles) {
        self.run(move || FileTaskResult::CostEstimated(CostEstimate::tried(order, &files)));
    }

    /// Has the desktop show a folder.
    pub(crate) fn show_folder(&self, folder: PathBuf) {
        self.run(move || match open::that_detached(&folder) {
            Ok(()) => FileTaskResult::Done,
            Err(_) if !folder.is_dir() => FileTaskResult::Failed(format!("{} is no longer there", folder.display())),
            Err(_) => FileTaskResult::NoFileManager(folder),
        });
    }

    pub(crate) fn run(&self, errand: impl FnOnce() -> FileTaskResult + Send + 'static) {
        // The thread lives as long as this does.
        let _ = self.work.send(Box::new(errand));
    }
}

/// A project, a picture in colour, or any other file as a heightmap.
fn opened(path: PathBuf) -> FileTaskResult {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        match ProjectFile::open(&path) {
            Ok(file) => FileTaskResult::Opened { file, path },
            Err(error) => FileTaskResult::Failed(format!("{}: {error}", path.display())),
        }
    } else {
        let ground = in_colour(&path).then(|| ground(path.clone(), None));
        let read = ground.unwrap_or_else(|| heightmap(&path, None));
        let is_known = files::heightmap::Format::from_path(&path).is_ok();
        let failed = |text: String| if is_known { text } else { format!("{text} and, of projects, {PROJECT_SUFFIX}") };
        read.map_or_else(|text| FileTaskResult::Failed(failed(text)), FileTaskResult::Imported)
    }
}

/// Whether it is a picture of which nothing says that it is a heightmap, with some colour in it: many heightmaps are
/// grey in three channels. BMPs have been heightmaps since 1994, and those are in colour.
fn in_colour(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase()).unwrap_or_default();
    if !["png", "jpg", "jpeg", "tga"].iter().any(|known| ending == *known) || sidecar_path(path).exists() {
        return false;
    }
    let picture = std::fs::read(path).ok().and_then(|bytes| files::swatches::picture(path, &bytes).ok());
    picture.is_some_and(|picture| picture.pixels.iter().any(|[red, green, blue, _]| red != green || green != blue))
}

/// Reads a tileable picture of ground.
fn ground(path: PathBuf, target: Option<Target>) -> Result<Imported, String> {
    // A pipe or a device may have no end.
    if !path.is_file() {
        return Err(format!("cannot read {}: this is no file; choose a PNG, JPEG, TGA or BMP", path.display()));
    }
    let bytes = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let picture = files::swatches::picture(&path, &bytes).map_err(|error| error.to_string())?;
    let notes = vec![format!("{} × {} pixels", picture.width, picture.height)];
    Ok(Imported { path, bytes, range_m: None, notes, target, is_material: true })
}

/// Whole numbers without a sidecar that are no higher than any mountain are most likely metres.
const LIKELY_METRES: f32 = 9000.0;

fn heightmap(path: &Path, target: Option<Target>) -> Result<Imported, String> {
    let reading = files::heightmap::read(path, None).map_err(|error| error.to_string())?;
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let samples = || reading.raster.samples.iter().copied();
    let (path, bytes, in_metres) = files::heightmap::kept(path, bytes, &reading).map_err(|error| error.to_string())?;
    let (low, high) = (samples().fold(f32::INFINITY, f32::min), samples().fold(f32::NEG_INFINITY, f32::max));
    let mut notes = reading.notes;
    let range_m = match (reading.sidecar, reading.raster.scale) {
        (Some(_), _) if in_metres => {
            notes.push("it is kept in metres, with north on top, as its sidecar says".into());
            None
        }
        (Some(sidecar), _) => {
            notes.push("its heights are those of its sidecar".into());
            Some(sidecar.range_m)
        }
        (None, SampleScale::Integers { greatest }) if greatest > 255.0 && high < LIKELY_METRES => {
            notes.push(format!("its values {low} to {high} are taken as metres; Low and High say otherwise"));
            Some(Band { min: 0.0, max: f64::from(greatest) })
        }
        (None, SampleScale::Integers { .. }) => {
            notes.push("black is 0 m, white is 1000 m; Low and High say otherwise".into());
            Some(Band { min: 0.0, max: 1000.0 })
        }
        (None, SampleScale::Metres) => {
            notes.push(format!("{low} to {high} m"));
            None
        }
    };
    Ok(Imported { path, bytes, range_m, notes, target, is_material: false })
}
