//! The editor: state, commands, panels and views.
//!
//! The interface thread computes nothing of the land. Each frame it works on a copy of the project, hands it to the document, asks the worker for the picture of what the document says now, and shows the last one that came.

mod about;
mod cards;
mod closing;
mod command;
mod describe;
mod dialogs;
mod document;
mod errands;
#[cfg(test)]
mod export_tests;
mod export_ui;
mod fault_tool;
mod gallery;
mod hints;
mod icon;
mod keeper;
#[cfg(test)]
mod keeping_tests;
mod own_presets;
mod panels;
mod parameter_ui;
mod picker;
mod playback;
#[cfg(test)]
mod playing_tests;
mod recovery;
mod recovery_ui;
mod scene;
mod search;
mod settings;
mod studio;
#[cfg(test)]
mod tests;
mod theme;
mod thumbnails;
mod timings;
mod views;
mod widgets;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{CentralPanel, Context, Frame, Panel, Ui, ViewportCommand};

use self::cards::place_after_move;
use self::command::{Command, FileSlot, Target};
use self::dialogs::{Answer, Ask, DesktopDialogs, Dialogs, PathField, Purpose};
use self::document::{Document, Unsaved, file_stem};
use self::errands::{Errand, Errands, Imported};
use self::export_ui::{Decision, ExportWindow};
use self::fault_tool::{Bench, FaultTool};
use self::gallery::{Gallery, PresetForm};
use self::hints::Places;
use self::keeper::Keeper;
use self::panels::status::{Message, Status};
use self::panels::variations::Variations;
use self::picker::Picker;
use self::playback::Playback;
use self::recovery::Leftover;
use self::scene::{Drawing, DrawingOutcome, Look, PictureWindow, Posture, Scene};
use self::settings::{Folders, Settings};
use self::studio::Studio;
use self::thumbnails::Thumbnails;
use self::timings::Timings;
use self::views::{Freshness, Maps, View};
use self::widgets::modal;
use crate::engine::operations::Operation;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::parameters::{Band, FileName, PictureName, Range};
use crate::engine::recipe::Blend;
use crate::engine::{Heightfield, Recipe, Step};
use crate::files::atomic;
use crate::files::swatches::SHIPPED;
use crate::project::{ENDING, Project, preset_projects};
use crate::scene::frame_paths;
use crate::worker::{
    ExportOutcome, ExportStatus, Exporter, InputFiles, JobError, Preview, PreviewRequest, Previewer, Wake,
};

/// How long a picture may be out of date before the views say so: shorter waits would only flicker.
const NOTICEABLE: Duration = Duration::from_millis(120);

/// The size of the first window, points.
const WINDOW: [f32; 2] = [1440.0, 900.0];

/// Opens the editor, with a file loaded if one is given, and returns when it is closed.
pub fn run(file: Option<PathBuf>) -> ExitCode {
    if let Some(file) = file.as_deref().filter(|file| !file.exists()) {
        eprintln!("error: {}: there is no such file or command; see upthrust --help", file.display());
        return ExitCode::FAILURE;
    }
    let code = open_windows(file);
    // A drawing that waits for the card is not waited for; its files do not stay behind. Nothing is written any more.
    std::mem::forget(atomic::end_writing());
    code
}

/// Opens a window, and another one as long as one has left something for the next.
fn open_windows(file: Option<PathBuf>) -> ExitCode {
    let rescue = Rescue::default();
    let mut file = file;
    let mut in_vain = 0;
    loop {
        let opened = Instant::now();
        let file = file.take();
        let ended = match catch_unwind(AssertUnwindSafe(|| open_window(file, &rescue))) {
            Ok(Ok(())) => Ended::InOrder,
            Ok(Err(error)) => {
                eprintln!(
                    "error: cannot open a window: {}\n\
                     The editor needs a display. Without one, the command line does the same work: see \
                     upthrust --help.",
                    without_place(&error.to_string())
                );
                Ended::Unopened
            }
            // What panicked has said so already.
            Err(_) => Ended::Panicked,
        };
        let has_worked = ended == Ended::InOrder && opened.elapsed() >= LONG_LIFE;
        in_vain = if has_worked { 0 } else { in_vain + 1 };
        let is_rescued = rescue.borrow().is_some();
        match after_window(ended, is_rescued, in_vain) {
            Next::Leave => return ExitCode::SUCCESS,
            Next::Fail => return ExitCode::FAILURE,
            Next::OpenAnother => {}
            Next::Recover => {
                if ended != Ended::Unopened {
                    eprintln!(
                        "error: the window cannot be kept open; see whether the driver of the graphics card is sound"
                    );
                }
                if let Some(rescued) = rescue.take() {
                    leave_for_next_start(rescued);
                }
                return ExitCode::FAILURE;
            }
        }
    }
}

/// A window that had to close sooner than this, or at any time by a panic, was opened in vain, and so many of them in a
/// row are enough. After a panic the event loop has to end once before it begins anew: that too counts as one.
const LONG_LIFE: Duration = Duration::from_secs(60);
const MOST_IN_VAIN: u32 = 5;

/// How a window ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    InOrder,
    Panicked,
    Unopened,
}

/// What comes after a window.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Leave,
    Fail,
    OpenAnother,
    /// No other window can be opened or kept open: the project that was rescued goes to a file.
    Recover,
}

fn after_window(ended: Ended, is_rescued: bool, in_vain: u32) -> Next {
    match (ended, is_rescued) {
        (Ended::InOrder, false) => Next::Leave,
        (Ended::Panicked | Ended::Unopened, false) => Next::Fail,
        (Ended::Unopened, true) => Next::Recover,
        (Ended::InOrder | Ended::Panicked, true) if in_vain >= MOST_IN_VAIN => Next::Recover,
        (Ended::InOrder | Ended::Panicked, true) => Next::OpenAnother,
    }
}

/// No window shows the document any more: what is unsaved is offered at the next start, or else lies in files.
fn leave_for_next_start(rescued: Rescued) {
    let Rescued { document, keeper, settings, .. } = rescued;
    let unsaved = document.unsaved();
    if unsaved.is_empty() {
        eprintln!("Nothing was unsaved.");
    } else if keeper
        .is_some_and(|mut keeper| keeper.end(settings.to_json(), Some(unsaved.clone())) && keeper.is_sound())
    {
        eprintln!("What was not saved will be offered when the editor is started again.");
    } else {
        for Unsaved { project, .. } in unsaved {
            match recovery::write_recovered(&project, &[std::env::temp_dir()]) {
                Ok(path) => eprintln!("A project as it was is in {}", path.display()),
                Err(error) => eprintln!("error: the project could not be written: {error}"),
            }
        }
    }
}

/// Opens a window, with what could be rescued from the one before, and returns when it is closed.
fn open_window(file: Option<PathBuf>, rescue: &Rescue) -> eframe::Result {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Upthrust")
        .with_app_id("upthrust")
        .with_icon(icon::icon())
        .with_inner_size(WINDOW)
        .with_min_inner_size([960.0, 600.0]);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    let rescue = rescue.clone();
    let create: eframe::AppCreator = Box::new(move |context| {
        let wake = wake_of(&context.egui_ctx);
        let dialogs = Box::new(DesktopDialogs::new(wake));
        let mut app = App::new(&context.egui_ctx, dialogs, file, Folders::of_user())?;
        if let Some(rescued) = rescue.take() {
            app.take_over(rescued);
        }
        app.rescue = rescue;
        Ok(Box::new(app))
    });
    eframe::run_native("upthrust", options, create)
}

/// What the window library says, without the place in its sources at which it says it.
fn without_place(message: &str) -> &str {
    let behind_file = message.rsplit_once(".rs:").and_then(|(_, rest)| rest.split_once(": "));
    behind_file.map_or(message, |(_, said)| said)
}

/// Wakes the interface from another thread.
fn wake_of(ctx: &Context) -> Wake {
    let ctx = ctx.clone();
    Arc::new(move || ctx.request_repaint())
}

/// A window over the others.
enum Modal {
    Export,
    Picture(PictureWindow),
    PathField(PathField),
    /// These would be lost by closing the program.
    SaveFirst(Vec<Unsaved>),
    /// An editor that ran before left these behind.
    Recovered(Vec<Leftover>),
    /// Files would be replaced that nobody was asked about.
    Replace {
        ask: Ask,
        path: PathBuf,
        files: Vec<PathBuf>,
    },
    /// An export would be lost by closing the program.
    ExportFirst,
    Gallery,
    SavePreset(PresetForm),
    Shortcuts,
    About,
}

/// A project that is to take the place of the open one.
struct Opening {
    /// What the deed is called.
    name: String,
    project: Project,
    path: Option<PathBuf>,
    /// Whether it was never saved as it is.
    is_unsaved: bool,
}

/// The editor.
pub(crate) struct App {
    document: Document,
    playback: Playback,
    previewer: Previewer,
    exporter: Exporter,
    drawing: Option<Drawing>,
    errands: Errands,
    thumbnails: Thumbnails,
    variations: Variations,
    fault_tool: FaultTool,
    picker: Picker,
    gallery: Gallery,
    folders: Folders,
    dialogs: Box<dyn Dialogs>,
    maps: Maps,
    scene: Scene,
    tree: egui_tiles::Tree<View>,
    maximised: Option<View>,
    selected_step: usize,
    studio: Studio,
    shown: Option<Preview>,
    /// What the worker was asked for last, and since when the picture has been out of date.
    wanted: Option<PreviewRequest>,
    outdated_since: Option<Instant>,
    failed: bool,
    timings: Timings,
    /// The recipe that is shared with the worker, made anew when the project changes.
    recipe: (Arc<Project>, Arc<Recipe>),
    message: Option<Message>,
    modal: Option<Modal>,
    /// What a window over the others opens, once the edits of the frame are taken over.
    to_open: Option<Opening>,
    export: ExportWindow,
    /// Counts presses of the pointer: one press is one gesture.
    presses: u64,
    settings: Settings,
    /// `None`: this window keeps nothing any more.
    keeper: Option<Keeper>,
    /// The projects, by their origins, that are still to be saved before the window closes.
    saving: Option<Vec<usize>>,
    closing: bool,
    /// Whether the user lets go what is unsaved.
    lets_go: bool,
    /// Wakes the window.
    wake: Wake,
    /// Where the state goes when the window cannot go on; [`run`] opens another one with it.
    rescue: Rescue,
    /// Whether it has gone there.
    is_adrift: bool,
    /// What the window is headed.
    window_title: String,
}

/// What outlives a window that cannot go on.
struct Rescued {
    /// Why it cannot, and what was lost with it.
    reason: String,
    document: Document,
    playback: Playback,
    /// `None`: what was being exported could not be kept.
    exporter: Option<Exporter>,
    selected_step: usize,
    settings: Settings,
    keeper: Option<Keeper>,
    tree: egui_tiles::Tree<View>,
    gaze: views::Gaze,
    posture: Posture,
    maximised: Option<View>,
}

type Rescue = Rc<RefCell<Option<Rescued>>>;

impl App {
    fn new(ctx: &Context, dialogs: Box<dyn Dialogs>, file: Option<PathBuf>, folders: Folders) -> std::io::Result<Self> {
        theme::install(ctx);
        let wake = wake_of(ctx);
        let (settings, unreadable) = keeper::read_settings(&folders);
        settings.apply(ctx);
        let project = preset_projects().first().map(|(_, project)| project.clone()).unwrap_or_default();
        let document = Document::new(project);
        let recipe = (document.project().clone(), Arc::new(document.project().recipe.clone()));
        let keeper = Keeper::start(&folders, &settings, document.revision(), wake.clone())?;
        let mut app = Self {
            selected_step: 0,
            document,
            playback: Playback::from_start(),
            previewer: Previewer::start(wake.clone())?,
            exporter: Exporter::start(wake.clone())?,
            drawing: None,
            errands: Errands::start(wake.clone())?,
            thumbnails: Thumbnails::start(wake.clone())?,
            variations: Variations::default(),
            fault_tool: FaultTool::default(),
            picker: Picker::new(),
            gallery: Gallery::new(wake.clone()),
            folders,
            dialogs,
            maps: Maps::default(),
            scene: Scene::default(),
            tree: settings.layout().unwrap_or_else(settings::usual_layout),
            maximised: settings.maximised,
            studio: Studio::default(),
            shown: None,
            wanted: None,
            outdated_since: None,
            failed: false,
            timings: Timings::default(),
            recipe,
            message: None,
            modal: None,
            to_open: None,
            export: ExportWindow::default(),
            presses: 0,
            settings,
            keeper: Some(keeper),
            saving: None,
            closing: false,
            lets_go: false,
            wake,
            rescue: Rescue::default(),
            is_adrift: false,
            window_title: String::new(),
        };
        if let Some(reason) = unreadable {
            app.complain(reason);
        }
        if let Some(file) = file {
            app.errands.open(file);
        }
        Ok(app)
    }

    /// The graphics card has gone, and the window with it.
    fn leave(&mut self, ctx: &Context) {
        self.put_aside("the graphics card was lost");
        (self.closing, self.modal) = (true, None);
        ctx.request_repaint();
    }

    /// Puts aside for the next window what cannot be made again.
    fn put_aside(&mut self, why: &str) {
        let empty = Document::new(Project::default());
        // An export goes on meanwhile, unless nothing can take its place here.
        let (was_exporting, idle) = (self.exporter.status().is_some(), Exporter::start(Arc::new(|| {})).ok());
        let mut reason = why.to_string();
        if was_exporting && idle.is_none() {
            reason.push_str("; the export was stopped");
        }
        // It draws on the card of this window.
        if self.drawing.take().is_some() {
            reason
                .push_str("; the picture or turntable that was being drawn was stopped, and nothing of it was written");
        }
        let rescued = Rescued {
            reason,
            document: std::mem::replace(&mut self.document, empty),
            playback: self.playback,
            exporter: idle.map(|idle| std::mem::replace(&mut self.exporter, idle)),
            selected_step: self.selected_step,
            settings: self.settings.clone(),
            keeper: self.keeper.take(),
            tree: self.tree.clone(),
            gaze: self.maps.gaze,
            posture: self.scene.posture(),
            maximised: self.maximised,
        };
        *self.rescue.borrow_mut() = Some(rescued);
        self.is_adrift = true;
    }

    /// Goes on where another window had to stop.
    fn take_over(&mut self, rescued: Rescued) {
        let Rescued { reason, document, playback, exporter, .. } = rescued;
        let Rescued { selected_step, settings, keeper, tree, gaze, posture, maximised, .. } = rescued;
        (self.document, self.playback) = (document, playback);
        if let Some(exporter) = exporter {
            self.exporter = exporter;
        }
        (self.selected_step, self.settings, self.tree, self.maximised) = (selected_step, settings, tree, maximised);
        self.keeper = keeper;
        self.maps.gaze = gaze;
        self.scene.take(posture);
        self.say(format!("The window had to be opened again, with the document and its history: {reason}"));
    }

    fn total(&self) -> u32 {
        self.document.project().recipe.iterations()
    }

    fn say(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), is_error: false });
    }

    fn complain(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), is_error: true });
    }

    /// Takes what came from other threads.
    fn receive(&mut self, ctx: &Context) {
        while let Some(errand) = self.errands.take() {
            self.finish_errand(ctx, errand);
        }
        while let Some((ask, answer)) = self.dialogs.answer() {
            self.answer(ask, answer);
        }
        while let Some(outcome) = self.exporter.take() {
            self.export.ended(&outcome);
            match outcome {
                ExportOutcome::Written(built) => {
                    let names = built.files.iter().map(|file| file.display().to_string());
                    let said: Vec<String> = names.chain(built.notes).collect();
                    self.say(format!("Exported {}", said.join(", ")));
                }
                ExportOutcome::Cancelled => self.say("The export was cancelled; nothing was left behind"),
                ExportOutcome::Failed(error) => self.complain(error.to_string()),
            }
        }
        if let Some(outcome) = self.drawing.as_ref().and_then(Drawing::take) {
            self.drawing = None;
            match outcome {
                DrawingOutcome::Written(files) => {
                    let first = files.first().map(|file| file.display().to_string()).unwrap_or_default();
                    let more = files.len().saturating_sub(1);
                    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                    self.say(format!("Saved {first}{more}"));
                }
                DrawingOutcome::Cancelled => self.say("The drawing was cancelled; nothing was left behind"),
                DrawingOutcome::Failed(error) => self.complain(error),
            }
        }
        self.thumbnails.receive(ctx);
        self.receive_preset_pictures(ctx);
        match self.previewer.take() {
            Some(Ok(preview)) => {
                self.failed = false;
                self.timings.came(&preview);
                self.maps.show(ctx, &preview);
                self.scene.show(&preview, ctx.input(|input| input.time));
                self.shown = Some(preview);
            }
            Some(Err(error)) => {
                self.failed = true;
                self.playback.pause();
                let text = match &error {
                    JobError::Failed(message) => message.clone(),
                    JobError::Panicked(_) => error.to_string(),
                };
                self.complain(text);
            }
            None => {}
        }
    }

    /// Asks the worker for the picture of what the document says now.
    fn request(&mut self) {
        let project = self.document.project();
        if !Arc::ptr_eq(&self.recipe.0, project) {
            let recipe = if self.recipe.0.recipe == project.recipe {
                self.recipe.1.clone()
            } else {
                Arc::new(project.recipe.clone())
            };
            self.recipe = (project.clone(), recipe);
        }
        let total = self.recipe.1.iterations();
        self.playback.fit(total);
        // The picture of the playhead is there, whether it has just come or was there before it was asked to play.
        let is_seen = |shown: &Preview| !shown.coarse && shown.request.position == self.playback.position(total);
        if self.shown.as_ref().is_some_and(is_seen) {
            self.playback.advance(self.recipe.0.view.iterations_per_frame, total);
        }
        let request = PreviewRequest {
            recipe: self.recipe.1.clone(),
            files: self.recipe.0.files.clone(),
            samples: self.recipe.0.view.preview_samples as usize,
            position: self.playback.position(total),
            shown: self.studio.view(&self.recipe.1.texture.types),
            animated: self.playback.is_playing()
                && self.shown.as_ref().is_some_and(|shown| shown.request.recipe == self.recipe.1),
        };
        if !self.wanted.as_ref().is_some_and(|wanted| wanted.same_picture(&request)) {
            self.timings.asked(self.previewer.request(request.clone()));
            self.wanted = Some(request);
            self.failed = false;
        }
        let current = match (&self.shown, &self.wanted) {
            (Some(shown), Some(wanted)) if self.playback.is_playing() => {
                let position = wanted.position;
                !shown.coarse && wanted.same_picture(&PreviewRequest { position, ..(*shown.request).clone() })
            }
            (Some(shown), Some(wanted)) => !shown.coarse && wanted.same_picture(&shown.request),
            (None, _) | (_, None) => false,
        };
        if current {
            self.outdated_since = None;
        } else {
            self.outdated_since.get_or_insert_with(Instant::now);
        }
    }

    /// How the pictures relate to the document. While it plays, each picture belongs to the iteration that the timeline
    /// shows, so the next iteration alone makes none out of date.
    fn freshness(&self) -> Freshness {
        if self.failed {
            return Freshness::Failed;
        }
        if self.outdated_since.is_none_or(|since| since.elapsed() < NOTICEABLE) {
            return Freshness::Current;
        }
        self.previewer.progress().map_or(Freshness::Outdated, Freshness::Renewing)
    }

    fn finish_errand(&mut self, ctx: &Context, errand: Errand) {
        match errand {
            Errand::Opened { path, project } => {
                self.settings.remember(&path);
                self.open_project(format!("Open {}", file_name(&path)), *project, Some(path));
            }
            Errand::Imported(imported) => self.finish_import(imported),
            Errand::Saved { path, project, origin } => {
                self.say(format!("Saved {}", path.display()));
                self.settings.remember(&path);
                self.document.mark_saved(origin, path, project);
                self.has_saved(origin);
            }
            Errand::Surveyed(survey) => self.export.take(survey),
            Errand::Tried(pace) => self.export.take_pace(pace),
            Errand::Done => {}
            Errand::Presets { presets, broken } => self.take_presets(ctx, presets, broken),
            Errand::PresetSaved { path } => self.has_saved_preset(&path),
            Errand::Failed(message) => {
                self.saving = None;
                self.complain(message);
            }
        }
    }

    /// Puts an imported picture or heightmap where it was asked for, and nowhere else; one that was asked for nothing
    /// in particular into a new step.
    fn finish_import(&mut self, imported: Imported) {
        let Imported { path, bytes, range_m, mut notes, target, is_ground } = imported;
        let mut project = (**self.document.project()).clone();
        if bytes.len() as u64 > project.room_for_files() {
            let size = bytes.len() / 1_000_000;
            self.complain(format!(
                "{}: {size} MB are more than a project can hold; import a smaller map",
                path.display()
            ));
            return;
        }
        let origin = self.document.origin_id();
        if let Some(obstacle) = target.as_ref().and_then(|target| target.obstacle(&project.recipe, origin)) {
            self.complain(format!("{}: {obstacle}", path.display()));
            return;
        }
        let name = project.import_file(&file_name(&path), bytes);
        let Recipe { stack, texture, .. } = &mut project.recipe;
        match target.map(|target| target.slot) {
            Some(FileSlot::Texture(i)) => {
                let (ground, picture) = (&mut texture.types[i], Some(PictureName(name.0)));
                ground.tint = panels::types::tint_of(picture.as_ref()).unwrap_or(ground.tint);
                ground.texture = picture;
            }
            Some(FileSlot::Mask(i)) => {
                let Some(mask) = &mut stack[i].settings.mask else {
                    self.complain(format!("{}: the mask for which it was chosen is off; switch it on", path.display()));
                    return;
                };
                mask.file = name;
                notes = vec!["white is where the step acts".into()];
            }
            Some(FileSlot::Operation(i)) => {
                take_heightmap(&mut stack[i], name, range_m);
                self.selected_step = i;
            }
            None if is_ground => {
                let range_m = self.shown.as_ref().map(|shown| shown.summary.range_m());
                let picture = Some(PictureName(name.0));
                panels::types::add_type(texture, &mut self.studio, range_m.unwrap_or_default());
                if let Some(ground) = texture.types.last_mut() {
                    ground.tint = panels::types::tint_of(picture.as_ref()).unwrap_or(ground.tint);
                    ground.texture = picture;
                    notes.push(format!("{} is a new terrain type", ground.name));
                }
            }
            None => {
                let mut step = Step::new(Heightmap::default());
                take_heightmap(&mut step, name, range_m);
                // What is imported is what one wants to see; other blends mix it with what is below.
                step.settings.blend = Blend::Replace;
                step.settings.name = file_name(&path);
                self.selected_step = add_step(&mut project.recipe, step);
            }
        }
        self.document.propose(project, None);
        self.say(format!("Imported {}: {}", file_name(&path), notes.join("; ")));
    }

    fn open_project(&mut self, name: String, project: Project, path: Option<PathBuf>) {
        self.carry_out_opening(Opening { name, project, path, is_unsaved: false });
    }

    fn carry_out_opening(&mut self, Opening { name, project, path, is_unsaved }: Opening) {
        self.selected_step = 0;
        self.studio.reset();
        if is_unsaved {
            self.document.replace_unsaved(name, project, path);
        } else {
            self.document.replace(name, project, path);
        }
        self.playback.restart(self.total());
        self.maps.gaze = views::Gaze::default();
        self.scene.reset();
    }

    /// The user answered a question for a file.
    fn answer(&mut self, ask: Ask, answer: Answer) {
        match answer {
            Answer::Cancelled => self.saving = None,
            Answer::NoDialog if ask.purpose == Purpose::ExportFolder => self.export.has_no_dialog(),
            Answer::NoDialog => self.modal = Some(Modal::PathField(PathField::new(ask))),
            Answer::Chosen { path, may_replace } => {
                let files = match ask.purpose {
                    Purpose::Open | Purpose::Import { .. } | Purpose::ExportFolder => Vec::new(),
                    Purpose::Save { .. } => {
                        [with_project_ending(&path)].into_iter().filter(|path| path.exists()).collect()
                    }
                    Purpose::Picture { frames, .. } => {
                        let path = picture_path(&path);
                        let files = frames.map_or_else(|| vec![path.clone()], |count| frame_paths(&path, count));
                        files.into_iter().filter(|path| path.exists()).collect()
                    }
                };
                let unasked: Vec<PathBuf> = files.into_iter().filter(|file| !(may_replace && *file == path)).collect();
                if unasked.is_empty() {
                    self.go_ahead(&ask, path);
                } else {
                    self.modal = Some(Modal::Replace { ask, path, files: unasked });
                }
            }
        }
    }

    /// Does what the file was chosen for.
    fn go_ahead(&mut self, ask: &Ask, path: PathBuf) {
        match ask.purpose {
            Purpose::Open => self.errands.open(path),
            Purpose::Import { ref target } => self.errands.import(path, target.clone()),
            Purpose::Save { origin } => self.save_to(with_project_ending(&path), origin),
            Purpose::Picture { size, frames } => self.draw(size, frames, picture_path(&path)),
            Purpose::ExportFolder => self.export.go_to(&path),
        }
    }

    /// Begins a picture or a turntable of the 3-D view; one that is being drawn already comes first.
    fn draw(&mut self, size: [u32; 2], frames: Option<u32>, path: PathBuf) {
        if self.drawing.is_some() {
            self.complain("another picture is being drawn; wait for it, or cancel it, and choose again");
            return;
        }
        let begun = self.scene.model(size).and_then(|model| {
            let started = Drawing::start(model, size, frames, path, self.wake.clone());
            started.map_err(|error| format!("the picture cannot be drawn: {error}"))
        });
        match begun {
            Ok(drawing) => self.drawing = Some(drawing),
            Err(error) => self.complain(error),
        }
    }

    /// What is being written beside the preview.
    fn export_status(&self) -> Option<ExportStatus> {
        self.exporter.status().or_else(|| self.drawing.as_ref().map(Drawing::status))
    }

    /// The project's title as the name of a file.
    fn file_name(&self, ending: &str) -> String {
        format!("{}{ending}", file_stem(self.document.project()))
    }

    /// Changes the project through the document's one door.
    fn edit(&mut self, change: impl FnOnce(&mut Project)) {
        let mut project = (**self.document.project()).clone();
        change(&mut project);
        self.document.propose(project, None);
    }

    fn carry_out(&mut self, ctx: &Context, command: Command) {
        let total = self.total();
        let at = self.playback.position(total);
        match command {
            Command::New => self.open_project("New project".into(), Project::default(), None),
            Command::Open => self.dialogs.ask(Ask { purpose: Purpose::Open, file_name: String::new() }),
            Command::OpenRecent(i) => {
                if let Some(path) = self.settings.recent.get(i) {
                    self.errands.open(path.clone());
                }
            }
            Command::ForgetRecent => self.settings.recent.clear(),
            Command::ChoosePreset => self.choose_preset(),
            Command::SavePreset => self.name_preset(),
            Command::Save => self.save(false),
            Command::SaveAs => self.save(true),
            Command::ImportHeightmap => self.ask_import(None),
            Command::ChooseFile(slot) => {
                let recipe = &self.document.project().recipe;
                if let Some(target) = Target::new(slot, recipe, self.document.origin_id()) {
                    self.ask_import(Some(target));
                }
            }
            Command::Export => {
                self.message = None;
                self.export.open();
                self.modal = Some(Modal::Export);
            }
            Command::SavePicture => {
                self.message = None;
                self.modal = Some(Modal::Picture(PictureWindow::single()));
            }
            Command::SaveTurntable => {
                self.message = None;
                self.modal = Some(Modal::Picture(PictureWindow::turntable()));
            }
            Command::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Command::Undo => self.travel(Document::undo),
            Command::Redo => self.travel(Document::redo),
            Command::GoToEntry(i) => self.travel(|document| document.go_to(i)),
            Command::History => self.settings.shows_history = !self.settings.shows_history,
            Command::ChooseStep => self.picker.open(&mut self.thumbnails, &picker::typed_ahead(ctx)),
            Command::AddStep(key) => {
                if let Ok(operation) = Operation::from_key(key) {
                    let mut project = (**self.document.project()).clone();
                    let step = Step::new(operation).sized_for(&project.recipe.world);
                    self.selected_step = add_step(&mut project.recipe, step);
                    self.document.propose(project, None);
                    self.playback.seek(self.total(), self.total());
                }
            }
            Command::DuplicateStep(i) => {
                self.edit(|project| {
                    if let Some(step) = project.recipe.stack.get(i).cloned() {
                        let mut copy = step;
                        copy.settings.seed = project.recipe.free_seed();
                        project.recipe.stack.insert(i + 1, copy);
                    }
                });
                self.selected_step = i + 1;
            }
            Command::DeleteStep(i) => {
                self.edit(|project| {
                    if i < project.recipe.stack.len() {
                        project.recipe.stack.remove(i);
                    }
                });
                self.selected_step =
                    self.selected_step.min(self.document.project().recipe.stack.len().saturating_sub(1));
            }
            Command::MoveStep { from, to } => {
                let mut project = (**self.document.project()).clone();
                if let Some(step) = put(&mut project.recipe.stack, from, to) {
                    let name = format!("Move {}", step.title());
                    self.document.propose_as(name, project);
                    self.selected_step = place_after_move(self.selected_step, from, to);
                }
            }
            Command::MoveType { from, to } => {
                let mut project = (**self.document.project()).clone();
                if let Some(ground) = put(&mut project.recipe.texture.types, from, to) {
                    let name = format!("Move {}", ground.name);
                    self.document.propose_as(name, project);
                    self.studio.follow(|at| Some(place_after_move(at, from, to)));
                }
            }
            Command::MoveUp => self.move_selected(ctx, true),
            Command::MoveDown => self.move_selected(ctx, false),
            Command::SelectStep(i) => (self.selected_step, self.studio.is_at_hand) = (i, false),
            Command::TogglePlay => self.playback.toggle(total),
            Command::Restart => self.playback.restart(total),
            Command::StepBack => self.playback.seek(at.saturating_sub(1), total),
            Command::StepForward => self.playback.seek(at.saturating_add(1), total),
            Command::ToStart => self.playback.seek(0, total),
            Command::ToEnd => self.playback.seek(total, total),
            Command::Seek(position) => self.playback.seek(position, total),
            Command::NewSeed => self.edit(|project| project.recipe.seed = random_seed()),
            Command::PreviousSeed => {
                if let Some(seed) = self.document.earlier_seed() {
                    self.edit(|project| project.recipe.seed = seed);
                }
            }
            Command::FaultTool => self.fault_tool.toggle(),
            Command::AdoptFault { step, number } => {
                let mut project = (**self.document.project()).clone();
                if let Some(name) = self.fault_tool.adopt(&mut project.recipe, &mut self.selected_step, step, number) {
                    self.document.propose_as(name, project);
                }
            }
            Command::Variations => self.variations.toggle(),
            Command::AdoptVariation(place) => {
                if let Some(recipe) = self.variations.recipe(place) {
                    let project = Project { recipe: (**recipe).clone(), ..(**self.document.project()).clone() };
                    self.document.propose_as(command.text(), project);
                }
            }
            Command::ToggleLoop => self.playback.toggle_loop(),
            Command::FrameViews => {
                self.maps.gaze = views::Gaze::default();
                self.look(ctx, Look::Framed);
            }
            Command::LookThreeQuarter => self.look(ctx, Look::ThreeQuarter),
            Command::LookFromAbove => self.look(ctx, Look::FromAbove),
            Command::LookFromTheSide => self.look(ctx, Look::FromTheSide),
            Command::MaximiseHeightmap => self.maximise(View::Heightmap),
            Command::MaximiseTexture => self.maximise(View::Texture),
            Command::MaximiseScene => self.maximise(View::Scene),
            Command::PreviewSamples(samples) => self.edit(|project| project.view.preview_samples = samples),
            Command::Theme(theme) => {
                self.settings.theme = theme;
                self.settings.apply(ctx);
            }
            Command::Scale(percent) => self.scale(ctx, percent),
            Command::LargerInterface => self.scale(ctx, self.settings.scaled(true)),
            Command::SmallerInterface => self.scale(ctx, self.settings.scaled(false)),
            Command::UsualInterface => self.scale(ctx, 100),
            Command::CancelPreview => {
                self.previewer.cancel();
                self.playback.pause();
            }
            Command::CancelExport => match &self.drawing {
                Some(drawing) if self.exporter.status().is_none() => drawing.cancel(),
                Some(_) | None => self.exporter.cancel(),
            },
            Command::DismissMessage => self.message = None,
            Command::Timings => self.timings.toggle(),
            Command::Shortcuts => self.modal = Some(Modal::Shortcuts),
            Command::About => self.modal = Some(Modal::About),
        }
    }

    /// Goes through the history; what is selected stays so at the place where it stands then.
    fn travel(&mut self, go: impl FnOnce(&mut Document)) {
        let before = self.document.project().clone();
        go(&mut self.document);
        let (old, new) = (&before.recipe, &self.document.project().recipe);
        self.selected_step = place_in(&new.stack, &old.stack, self.selected_step);
        self.studio.follow(|at| Some(place_in(&new.texture.types, &old.texture.types, at)));
    }

    /// Moves the selected card of the list in which a card was selected last.
    fn move_selected(&mut self, ctx: &Context, up: bool) {
        let recipe = &self.document.project().recipe;
        let ground = self.studio.selected.filter(|_| self.studio.is_at_hand);
        let (places, from) = match ground {
            Some(i) => (self.studio.listed(&recipe.texture), i),
            // Top of the list is top of the stack.
            None => ((0..recipe.stack.len()).rev().collect(), self.selected_step),
        };
        let Some(at) = places.iter().position(|place| *place == from) else { return };
        let beside = if up { at.checked_sub(1) } else { at.checked_add(1) };
        if let Some(&to) = beside.and_then(|beside| places.get(beside)) {
            let is_type = ground.is_some();
            let command = if is_type { Command::MoveType { from, to } } else { Command::MoveStep { from, to } };
            self.carry_out(ctx, command);
        }
    }

    fn ask_import(&mut self, target: Option<Target>) {
        self.dialogs.ask(Ask { purpose: Purpose::Import { target }, file_name: String::new() });
    }

    /// Looks at the land of the 3-D view in a ready-made way.
    fn look(&mut self, ctx: &Context, look: Look) {
        let extent = self.document.project().recipe.world.extent();
        self.scene.look(look, extent, ctx.input(|input| input.time));
    }

    /// The history at the foot of the left panel, if it is unfolded higher than its heading.
    fn history_ui(&self, ui: &mut Ui) -> Option<Command> {
        let is_open = self.settings.shows_history;
        // Each with a height of its own.
        let panel = if is_open {
            Panel::bottom("history").default_size(200.0).size_range(96.0..=480.0).resizable(true)
        } else {
            Panel::bottom("history, folded").exact_size(28.0).resizable(false)
        };
        // It stands in a panel that has its margins.
        let frame = Frame::new().inner_margin(egui::Margin::symmetric(0, 4));
        panel.frame(frame).show(ui, |ui| panels::history::history_ui(ui, &self.document, is_open)).inner
    }

    fn scale(&mut self, ctx: &Context, percent: u32) {
        self.settings.scale_percent = percent;
        self.settings.apply(ctx);
    }

    /// Shows one view alone, or all again.
    fn maximise(&mut self, view: View) {
        self.maximised = if self.maximised == Some(view) { None } else { Some(view) };
    }

    /// Draws all panels and views on a copy of the project; returns what the user wants done.
    fn panels_ui(&mut self, ui: &mut Ui, project: &mut Project) -> Vec<Command> {
        let mut commands = Vec::new();
        let has_timeline = project.recipe.iterations() > 0;
        let freshness = self.freshness();
        let menu = Panel::top("menu")
            .show(ui, |ui| commands.extend(panels::menu::menu_ui(ui, &self.document, &self.settings, has_timeline)));
        let crosshair_m = self.maps.crosshair_m.take();
        // While it plays, the iteration that is seen; the playhead is already at the next one.
        let seen = self.shown.as_ref().map(|shown| shown.request.position);
        let wanted = self.playback.position(project.recipe.iterations());
        let at = seen.filter(|_| self.playback.is_playing()).unwrap_or(wanted);
        self.selected_step = self.selected_step.min(project.recipe.stack.len().saturating_sub(1));
        let status = Status {
            message: self.message.as_ref(),
            renewing: match freshness {
                Freshness::Renewing(progress) => Some(progress),
                Freshness::Current | Freshness::Outdated | Freshness::Failed => None,
            },
            export: self.export_status(),
            shown: self.shown.as_ref(),
            crosshair_m,
        };
        Panel::bottom("status").exact_size(26.0).show(ui, |ui| commands.extend(panels::status::status_ui(ui, &status)));
        let timeline = Panel::bottom("timeline").exact_size(38.0).show(ui, |ui| {
            let (recipe, view) = (&mut project.recipe, &mut project.view);
            commands.extend(panels::timeline::timeline_ui(ui, recipe, view, at, self.playback));
        });
        let stack = Panel::left("stack").default_size(304.0).size_range(240.0..=480.0).show(ui, |ui| {
            commands.extend(self.history_ui(ui));
            ui.add_space(4.0);
            let (picker, thumbnails) = (&mut self.picker, &self.thumbnails);
            let selected = self.selected_step;
            let heights_m = self.shown.as_ref().map(|shown| Range {
                low: f64::from(shown.summary.min_m).floor(),
                high: f64::from(shown.summary.max_m).ceil(),
            });
            commands.extend(panels::stack::stack_ui(ui, project, at, selected, heights_m, picker, thumbnails));
        });
        Panel::right("right").default_size(288.0).size_range(240.0..=480.0).show(ui, |ui| {
            ui.add_space(4.0);
            let is_dragging = ui.input(|input| input.pointer.any_down());
            self.variations.prepare(project, &self.recipe.1, &mut self.thumbnails, is_dragging);
            let Project { recipe, files, .. } = project;
            ask_grounds(&mut self.thumbnails, recipe, files, self.studio.selected.is_some());
            let thumbnails = &self.thumbnails;
            let around = panels::right::Surroundings { files, thumbnails, shown: self.shown.as_ref() };
            commands.extend(panels::right::right_ui(ui, recipe, &mut self.studio, &mut self.variations, &around));
        });
        let [menu, stack, timeline] = [menu.response.rect, stack.response.rect, timeline.response.rect];
        self.hints_ui(ui.ctx(), &Places { menu, stack, timeline });
        self.maps.crosshair_m = crosshair_m;
        let frame = Frame::new().fill(theme::colours(ui).panel);
        CentralPanel::default().frame(frame).show(ui, |ui| self.views_ui(ui, project, &freshness, &mut commands));
        commands
    }

    fn views_ui(&mut self, ui: &mut Ui, project: &mut Project, freshness: &Freshness, commands: &mut Vec<Command>) {
        let pointer_is_here = ui.rect_contains_pointer(ui.max_rect());
        if !pointer_is_here {
            self.maps.crosshair_m = None;
        }
        if self.modal.is_none() && !ui.ctx().egui_wants_keyboard_input() {
            self.fault_tool.keys(ui, &mut project.recipe);
        }
        let mut maximise = None;
        let total = project.recipe.iterations();
        let range_m = self.shown.as_ref().map(|shown| f64::from(shown.summary.max_m - shown.summary.min_m));
        let mut panes = Panes {
            maps: &mut self.maps,
            studio: &mut self.studio,
            scene: &mut self.scene,
            recipe: &mut project.recipe,
            selected_step: &mut self.selected_step,
            fault_tool: &mut self.fault_tool,
            range_m: range_m.unwrap_or_default(),
            at: self.playback.position(total),
            is_at_end: self.playback.position(total) == total,
            commands,
            land: self.shown.as_ref().map(|shown| &shown.land),
            water_m: &mut project.view.water_m,
            freshness,
            is_playing: self.playback.is_playing(),
            maximise: &mut maximise,
        };
        match self.maximised {
            Some(view) => {
                ui.horizontal(|ui| {
                    ui.add_space(8.0);
                    ui.label(view.title());
                    if ui.button("All views").clicked() {
                        *panes.maximise = Some(view);
                    }
                });
                panes.view_ui(ui, view);
            }
            None => self.tree.ui(&mut panes, ui),
        }
        if let Some(view) = maximise {
            self.maximise(view);
        }
    }

    fn modal_ui(&mut self, ctx: &Context, project: &mut Project) {
        let Some(mut modal) = self.modal.take() else {
            if self.saving.is_some() {
                self.saving_ui(ctx);
            }
            return;
        };
        let mut stays = true;
        match &mut modal {
            Modal::Export => {
                let heights_m = self.shown.as_ref().map(|shown| shown.summary.range_m());
                let around =
                    export_ui::Around { project_path: self.document.path(), heights_m, status: self.exporter.status() };
                match self.export.ui(ctx, project, &around) {
                    Some(Decision::ChooseFolder) => {
                        self.dialogs.ask(Ask { purpose: Purpose::ExportFolder, file_name: String::new() });
                    }
                    Some(Decision::Survey(files)) => self.errands.survey(files),
                    Some(Decision::TryOut(order)) => {
                        self.errands.try_out(*order, self.document.project().files.clone());
                    }
                    Some(Decision::Export(order)) => self.exporter.export(*order, project.files.clone()),
                    Some(Decision::Cancel) => self.exporter.cancel(),
                    Some(Decision::ShowFolder(folder)) => self.errands.show_folder(folder),
                    Some(Decision::Close) => stays = false,
                    None => {}
                }
            }
            Modal::Picture(window) => match window.ui(ctx) {
                Some(scene::Decision::ChooseFile { size, frames }) => {
                    let file_name = self.file_name(".png");
                    self.dialogs.ask(Ask { purpose: Purpose::Picture { size, frames }, file_name });
                    stays = false;
                }
                Some(scene::Decision::Close) => stays = false,
                None => {}
            },
            Modal::PathField(field) => {
                if let Some(answer) = field.ui(ctx) {
                    let ask = field.ask.clone();
                    self.answer(ask, answer);
                    stays = false;
                }
            }
            Modal::SaveFirst(unsaved) => stays = self.save_first_ui(ctx, unsaved),
            Modal::Recovered(left) => stays = self.recovered_ui(ctx, left),
            Modal::Replace { ask, path, files } => match replace_ui(ctx, files) {
                Some(true) => {
                    self.go_ahead(ask, path.clone());
                    stays = false;
                }
                Some(false) => {
                    self.saving = None;
                    stays = false;
                }
                None => {}
            },
            Modal::ExportFirst => stays = self.export_first_ui(ctx),
            Modal::Gallery => stays = self.gallery_ui(ctx),
            Modal::SavePreset(form) => stays = self.save_preset_ui(ctx, form),
            Modal::Shortcuts => stays = shortcuts_ui(ctx),
            Modal::About => match about::about_ui(ctx, &self.folders) {
                Some(about::Decision::ShowFolder(folder)) => self.errands.show_folder(folder),
                Some(about::Decision::Close) => stays = false,
                None => {}
            },
        }
        if stays {
            self.modal = Some(modal);
        }
    }

    /// The question before a running export is lost; returns whether it stands.
    fn export_first_ui(&mut self, ctx: &Context) -> bool {
        let modal = modal("export first", ctx).show(ctx, |ui| {
            ui.set_width(360.0);
            ui.heading("An export is running");
            ui.label("Closing now cancels it; nothing half-written is left behind.");
            ui.add_space(8.0);
            egui::Sides::new().show(
                ui,
                |ui| ui.button("Cancel the export and close").clicked(),
                |ui| ui.button("Go on").clicked(),
            )
        });
        let (close, go_on) = modal.inner;
        if close {
            self.exporter.cancel_all();
            self.drawing.iter().for_each(Drawing::cancel);
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        let over = self.export_status().is_none();
        !(close || go_on || over || modal.should_close())
    }

    /// Takes files that are dropped on the window, and asks before unsaved work is lost.
    fn window_events(&mut self, ctx: &Context) {
        let dropped: Vec<PathBuf> =
            ctx.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_path_buf()).collect());
        for path in dropped {
            self.errands.open(path);
        }
        if ctx.input(|input| input.viewport().close_requested()) && !self.closing {
            // An export that the user has just cancelled is no reason to stay.
            let exporting = self.export_status().is_some_and(|status| !status.is_cancelled || status.waiting > 0);
            let unsaved = self.document.unsaved();
            let reason = match (exporting, !unsaved.is_empty()) {
                (true, _) => Some(Modal::ExportFirst),
                (false, true) => Some(Modal::SaveFirst(unsaved)),
                (false, false) => None,
            };
            if reason.is_some() {
                ctx.send_viewport_cmd(ViewportCommand::CancelClose);
                (self.modal, self.saving) = (reason, None);
            }
        }
        if self.closing {
            ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        if ctx.input(|input| input.pointer.any_pressed()) {
            self.presses += 1;
        }
        let name = match self.document.path() {
            Some(path) => file_name(path),
            None => document::title(self.document.project()).to_string(),
        };
        let mark = if self.document.is_dirty() { " •" } else { "" };
        let window_title = format!("Upthrust – {name}{mark}");
        if window_title != self.window_title {
            ctx.send_viewport_cmd(ViewportCommand::Title(window_title.clone()));
            self.window_title = window_title;
        }
    }
}

impl Drop for App {
    /// What panics while the window is drawn, as its library does where the card goes in the middle of a frame, takes
    /// the window with it, but not the document.
    fn drop(&mut self) {
        if std::thread::panicking() && !self.is_adrift {
            self.put_aside("an error in the program, its libraries or the graphics card's driver closed it");
        }
        self.end_keeping();
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        if self.scene.is_lost() && !self.is_adrift {
            self.leave(ctx);
        }
        self.receive(ctx);
        self.window_events(ctx);
        self.keep(ctx);
        self.request();
        if self.previewer.progress().is_some() && !self.playback.is_playing() {
            // So that progress moves and the note about it appears.
            ctx.request_repaint_after(Duration::from_millis(50));
        }
        if self.export_status().is_some() {
            ctx.request_repaint_after(Duration::from_millis(100));
        }
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        if self.is_adrift {
            // Nothing can be drawn any more: on a lost card the window's library would give up.
            return;
        }
        self.scene.attach(frame.wgpu_render_state(), || wake_of(&ctx));
        let is_asked = self.modal.is_some() || self.saving.is_some();
        if is_asked {
            self.picker.close();
        }
        let mut commands = if is_asked { Vec::new() } else { command::pressed(&ctx, self.picker.is_open()) };
        let mut project = (**self.document.project()).clone();
        let (step, ground) = (self.selected_step, self.studio.selected);
        commands.extend(self.panels_ui(ui, &mut project));
        self.studio.is_at_hand |= self.studio.selected != ground;
        self.modal_ui(&ctx, &mut project);
        self.timings.ui(&ctx, frame.info().cpu_usage);
        let is_seeking = commands.iter().any(|command| matches!(command, Command::Seek(_)));
        self.scene.hold_glow(is_seeking && ctx.input(|input| input.pointer.any_down()), &ctx);
        let held = ctx.input(|input| input.pointer.any_down() || input.pointer.any_released());
        self.document.propose(project, held.then_some(self.presses));
        if let Some(opening) = self.to_open.take() {
            self.carry_out_opening(opening);
        }
        for command in commands {
            self.carry_out(&ctx, command);
        }
        self.studio.is_at_hand &= self.selected_step == step;
        self.request();
    }
}

/// The views in their panes.
struct Panes<'a> {
    maps: &'a mut Maps,
    studio: &'a mut Studio,
    scene: &'a mut Scene,
    recipe: &'a mut Recipe,
    selected_step: &'a mut usize,
    fault_tool: &'a mut FaultTool,
    /// Metres from the lowest to the highest height.
    range_m: f64,
    at: u32,
    is_at_end: bool,
    commands: &'a mut Vec<Command>,
    /// The land that is shown.
    land: Option<&'a Arc<Heightfield>>,
    water_m: &'a mut Option<f64>,
    freshness: &'a Freshness,
    is_playing: bool,
    maximise: &'a mut Option<View>,
}

impl Panes<'_> {
    fn view_ui(&mut self, ui: &mut Ui, view: View) {
        let pane = ui.available_rect_before_wrap();
        let extent = self.recipe.world.extent();
        let glow = self.scene.glow(ui.ctx());
        if view != View::Scene {
            self.maps.flood(ui.ctx(), self.land, *self.water_m);
        }
        match view {
            View::Heightmap | View::Texture => {
                let lens = self.maps.ui(ui, view, extent, self.freshness, &glow, !self.fault_tool.is_on());
                let mut bench = Bench {
                    recipe: &mut *self.recipe,
                    selected_step: &mut *self.selected_step,
                    range_m: self.range_m,
                    at: self.at,
                    is_playing: self.is_playing,
                    is_at_end: self.is_at_end,
                };
                self.commands.extend(self.fault_tool.ui(ui, &lens, &mut bench));
                match view {
                    View::Texture => self.studio.aspect_ui(ui, pane, &self.recipe.texture),
                    View::Heightmap | View::Scene => self.commands.extend(self.fault_tool.button_ui(ui, pane)),
                }
            }
            View::Scene => {
                let mut around = scene::Around {
                    extent,
                    light: &self.recipe.light,
                    water_m: self.water_m,
                    crosshair_m: &mut self.maps.crosshair_m,
                    freshness: self.freshness,
                    is_playing: self.is_playing,
                    glow: &glow,
                };
                self.scene.ui(ui, &mut around);
            }
        }
    }
}

impl egui_tiles::Behavior<View> for Panes<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: egui_tiles::TileId, view: &mut View) -> egui_tiles::UiResponse {
        self.view_ui(ui, *view);
        egui_tiles::UiResponse::None
    }

    fn tab_title_for_pane(&mut self, view: &View) -> egui::WidgetText {
        view.title().into()
    }

    fn on_tab_button(
        &mut self,
        tiles: &mut egui_tiles::Tiles<View>,
        tile: egui_tiles::TileId,
        response: egui::Response,
    ) -> egui::Response {
        if response.double_clicked()
            && let Some(egui_tiles::Tile::Pane(view)) = tiles.get(tile)
        {
            *self.maximise = Some(*view);
        }
        response
    }

    fn simplification_options(&self) -> egui_tiles::SimplificationOptions {
        egui_tiles::SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    fn gap_width(&self, _style: &egui::Style) -> f32 {
        2.0
    }
}

/// Asks for the pictures of the grounds that are used, and of all there are where one may be chosen.
fn ask_grounds(thumbnails: &mut Thumbnails, recipe: &Recipe, files: &InputFiles, choosing: bool) {
    for name in recipe.pictures() {
        thumbnails.ask_ground(&name, files);
    }
    if choosing {
        for (name, _) in SHIPPED {
            thumbnails.ask_ground(&PictureName(name.into()), files);
        }
    }
}

/// Puts what stands at `from` to `to`, and gives it; `None` where one of the places is none.
fn put<T>(list: &mut Vec<T>, from: usize, to: usize) -> Option<&T> {
    if from.max(to) >= list.len() {
        return None;
    }
    let moved = list.remove(from);
    list.insert(to, moved);
    list.get(to)
}

/// Where in the new list stands what was at that place of the old one; the same place where it is not to be found.
fn place_in<T: PartialEq>(new: &[T], old: &[T], at: usize) -> usize {
    let known = |place: &usize| old.get(at).is_some() && new.get(*place) == old.get(at);
    [at].into_iter().chain(0..new.len()).find(known).unwrap_or(at)
}

/// Lets a heightmap step draw on that file.
fn take_heightmap(step: &mut Step, file: FileName, range_m: Option<Band>) {
    if let Operation::Heightmap(heightmap) = &mut step.operation {
        heightmap.file = file;
        if let Some(range) = range_m {
            (heightmap.low_m, heightmap.high_m) = (Some(range.min), Some(range.max));
        }
    }
}

/// Puts a step on top of the stack, with random numbers of its own; returns its place.
fn add_step(recipe: &mut Recipe, mut step: Step) -> usize {
    step.settings.seed = recipe.free_seed();
    recipe.stack.push(step);
    recipe.stack.len() - 1
}

/// A seed that nobody chose: from the keys with which the standard library guards its hash maps.
fn random_seed() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    (RandomState::new().hash_one(0_u8) % 100_000) as u32
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A project's path with the ending that projects have.
fn with_project_ending(path: &Path) -> PathBuf {
    let name = file_name(path);
    if name.ends_with(".json") { path.to_path_buf() } else { path.with_file_name(format!("{name}{ENDING}")) }
}

/// A picture's path: a PNG unless its ending says otherwise.
fn picture_path(path: &Path) -> PathBuf {
    if path.extension().is_some() { path.to_path_buf() } else { path.with_added_extension("png") }
}

/// Files that the question names: a turntable has more than the window is high.
const NAMED: usize = 5;

/// The question before files are replaced; the answer once there is one.
fn replace_ui(ctx: &Context, files: &[PathBuf]) -> Option<bool> {
    let modal = modal("replace", ctx).show(ctx, |ui| {
        ui.set_width(420.0);
        ui.heading(if files.len() == 1 { "Replace this file?" } else { "Replace these files?" });
        for file in files.iter().take(NAMED) {
            ui.label(file.display().to_string());
        }
        if files.len() > NAMED {
            ui.label(format!("and {} more; {} files in all", files.len() - NAMED, files.len()));
        }
        ui.add_space(8.0);
        let (_, [replace, cancel]) =
            egui::Sides::new().show(ui, |_| {}, |ui| [ui.button("Replace").clicked(), ui.button("Cancel").clicked()]);
        if replace { Some(true) } else { cancel.then_some(false) }
    });
    modal.inner.or_else(|| modal.should_close().then_some(false))
}

fn shortcuts_ui(ctx: &Context) -> bool {
    let modal = modal("shortcuts", ctx).show(ctx, |ui| {
        ui.heading("Shortcuts");
        ui.add_space(4.0);
        egui::Grid::new("shortcuts").num_columns(4).spacing([32.0, 4.0]).show(ui, |ui| {
            // Side by side, or small windows would have no room for all.
            let (left, right) = command::WITH_KEYS.split_at(command::WITH_KEYS.len().div_ceil(2));
            for i in 0..left.len() {
                for command in [left.get(i), right.get(i)].into_iter().flatten() {
                    ui.label(command.text());
                    ui.weak(command.shortcut().map(|keys| ui.ctx().format_shortcut(&keys)).unwrap_or_default());
                }
                ui.end_row();
            }
        });
        ui.add_space(8.0);
        ui.button("Close").clicked()
    });
    !(modal.inner || modal.should_close())
}
