//! The editor: state, commands, panels and views.
//!
//! The interface thread computes nothing of the land. Each frame it works on a copy of the project, hands it to the document, asks the worker for the picture of what the document says now, and shows the last one that came.

pub(crate) mod commands;
pub(crate) mod dialogs;
pub(crate) mod document;
pub(crate) mod panels;
pub(crate) mod preview;
pub(crate) mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod tools;
pub(crate) mod views;
pub(crate) mod widgets;
pub(crate) mod window;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Context, Key, Ui};

use crate::app::commands::Command;
use crate::app::commands::handler::SeedGenerator;
use crate::app::dialogs::export::ExportWindow;
use crate::app::dialogs::file_dialogs::FileDialogs;
use crate::app::dialogs::gallery::Gallery;
use crate::app::dialogs::modals::Modal;
use crate::app::dialogs::operation_picker::OperationPicker;
use crate::app::document::{Document, file_name, file_stem};
use crate::app::panels::analysis::AnalysisPanel;
use crate::app::panels::status::{CopyableText, Message};
use crate::app::panels::texture_panel::TexturePanelState;
use crate::app::panels::variations::Variations;
use crate::app::preview::compare::Compare;
use crate::app::preview::frame_timings::FrameTimings;
use crate::app::preview::playback::Playback;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::tasks::autosave::Autosave;
use crate::app::tasks::file_tasks::FileTasks;
use crate::app::tasks::results::{RecentFiles, first_step};
use crate::app::tasks::settings::{Settings, UserFolders};
use crate::app::tools::fault_tool::FaultTool;
use crate::app::tools::profile_tool::ProfileTool;
use crate::app::views::layout::Side;
use crate::app::views::scene::{RenderTask, Scene};
use crate::app::views::{Maps, View};
pub use crate::app::window::run;
use crate::app::window::{WindowSnapshotSlot, wake_of};
use crate::engine::Recipe;
use crate::project::{Project, preset_projects};
use crate::worker::{ExportStatus, Exporter, Preview, PreviewRequest, Previewer, Wake};

/// A project that is to take the place of the open one.
pub(crate) struct PendingProject {
    /// What the deed is called.
    name: String,
    project: Project,
    path: Option<PathBuf>,
    /// Whether it was never saved as it is.
    is_unsaved: bool,
}

/// Arrow keys that follow each other within so many seconds are one run.
const NUDGE_RUN_S: f64 = 1.0;

/// The editor.
pub(crate) struct App {
    document: Document,
    playback: Playback,
    previewer: Previewer,
    exporter: Exporter,
    render_task: Option<RenderTask>,
    file_tasks: FileTasks,
    recent_files: RecentFiles,
    thumbnails: Thumbnails,
    variations: Variations,
    fault_tool: FaultTool,
    analysis: AnalysisPanel,
    profile: ProfileTool,
    operation_picker: OperationPicker,
    gallery: Gallery,
    folders: UserFolders,
    dialogs: Box<dyn FileDialogs>,
    maps: Maps,
    scene: Scene,
    tree: egui_tiles::Tree<View>,
    maximised: Option<View>,
    selected_step: usize,
    /// The parameter of the selected step that is to be brought into sight.
    reveal: Option<&'static str>,
    /// The side panel that was asked for last: in a narrow window it alone is seen.
    front: Side,
    texture_panel: TexturePanelState,
    shown: Option<Preview>,
    compare: Compare,
    /// The samples along the longer side of exports, where the views show those.
    export_samples: Option<u32>,
    /// What the worker was asked for last, and since when the picture has been out of date.
    wanted: Option<PreviewRequest>,
    outdated_since: Option<Instant>,
    failed: bool,
    timings: FrameTimings,
    /// The recipe that is shared with the worker, made anew when the project changes.
    recipe: (Arc<Project>, Arc<Recipe>),
    /// New seeds.
    seeds: SeedGenerator,
    message: Option<Message>,
    modal: Option<Modal>,
    /// What a window over the others opens, once the edits of the frame are taken over.
    to_open: Option<PendingProject>,
    export: ExportWindow,
    /// Counts presses of the pointer, each of which is one gesture, and runs of arrow keys.
    presses: u64,
    /// When an arrow key was pressed last in such a run, seconds.
    nudged_at: Option<f64>,
    settings: Settings,
    /// `None`: this window keeps nothing any more.
    autosave: Option<Autosave>,
    /// The projects, by their origins, that are still to be saved before the window closes.
    saving: Option<Vec<usize>>,
    closing: bool,
    /// Whether the user lets go what is unsaved.
    discards_changes: bool,
    /// Wakes the window.
    wake: Wake,
    /// Where the state goes when the window cannot go on; [`run`] opens another one with it.
    window_snapshot: WindowSnapshotSlot,
    /// Whether it has gone there.
    is_detached: bool,
    /// What the window is headed.
    window_title: String,
}

impl App {
    fn new(
        ctx: &Context,
        dialogs: Box<dyn FileDialogs>,
        file: Option<PathBuf>,
        folders: UserFolders,
    ) -> std::io::Result<Self> {
        widgets::theme::install(ctx);
        let wake = wake_of(ctx);
        let (settings, unreadable) = tasks::autosave::read_settings(&folders);
        settings.apply(ctx);
        let project = preset_projects().first().map(|(_, project)| project.clone()).unwrap_or_default();
        let selected_step = first_step(&project);
        let document = Document::new(project);
        let recipe = (document.project().clone(), Arc::new(document.project().recipe.clone()));
        let autosave = Autosave::start(&folders, &settings, document.revision(), wake.clone())?;
        let mut app = Self {
            selected_step,
            document,
            playback: Playback::from_start(),
            previewer: Previewer::start(wake.clone())?,
            exporter: Exporter::start(wake.clone())?,
            render_task: None,
            file_tasks: FileTasks::start(&wake)?,
            recent_files: RecentFiles::default(),
            thumbnails: Thumbnails::start(wake.clone())?,
            variations: Variations::default(),
            fault_tool: FaultTool::default(),
            analysis: AnalysisPanel::start(wake.clone())?,
            profile: ProfileTool::default(),
            operation_picker: OperationPicker::new(),
            gallery: Gallery::new(wake.clone()),
            folders,
            dialogs,
            maps: Maps::default(),
            scene: Scene::default(),
            tree: settings.layout().unwrap_or_else(tasks::settings::default_layout),
            maximised: settings.maximised,
            reveal: None,
            front: Side::Left,
            texture_panel: TexturePanelState::default(),
            shown: None,
            compare: Compare::default(),
            export_samples: None,
            wanted: None,
            outdated_since: None,
            failed: false,
            timings: FrameTimings::default(),
            recipe,
            seeds: SeedGenerator::fair(),
            message: None,
            modal: None,
            to_open: None,
            export: ExportWindow::default(),
            presses: 0,
            nudged_at: None,
            settings,
            autosave: Some(autosave),
            saving: None,
            closing: false,
            discards_changes: false,
            wake,
            window_snapshot: WindowSnapshotSlot::default(),
            is_detached: false,
            window_title: String::new(),
        };
        if let Some(reason) = unreadable {
            app.show_error(reason);
        }
        if let Some(file) = file {
            app.file_tasks.open(file);
        }
        Ok(app)
    }

    fn total(&self) -> u32 {
        self.document.project().recipe.iterations()
    }

    fn show_message(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), is_error: false, offer: None });
    }

    fn show_error(&mut self, text: impl Into<String>) {
        self.message = Some(Message { text: text.into(), is_error: true, offer: None });
    }

    /// Adds to what was said last a text that can be copied.
    fn offer(&mut self, name: &'static str, text: String) {
        if let Some(message) = &mut self.message {
            message.offer = Some(CopyableText { name, text });
        }
    }

    /// The gesture that edits of this frame belong to: the press of the pointer, or a run of arrow keys, which are one
    /// edit of what has the focus as long as they follow each other.
    fn gesture(&mut self, ctx: &Context) -> Option<u64> {
        const ARROWS: [Key; 4] = [Key::ArrowLeft, Key::ArrowRight, Key::ArrowUp, Key::ArrowDown];
        let (is_held, is_nudged, now) = ctx.input(|input| {
            let is_held = input.pointer.any_down() || input.pointer.any_released();
            (is_held, ARROWS.iter().any(|key| input.num_presses(*key) > 0), input.time)
        });
        if is_held {
            self.nudged_at = None;
        } else if is_nudged {
            let goes_on = self.nudged_at.is_some_and(|before| now - before <= NUDGE_RUN_S);
            self.presses += u64::from(!goes_on);
            self.nudged_at = Some(now);
        }
        (is_held || is_nudged).then_some(self.presses)
    }

    /// What is being written beside the preview.
    fn export_status(&self) -> Option<ExportStatus> {
        self.exporter.status().or_else(|| self.render_task.as_ref().map(RenderTask::status))
    }

    /// The project's title as the name of a file.
    fn file_name(&self, ending: &str) -> String {
        format!("{}{ending}", file_stem(self.document.project()))
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.timings.frame_begins();
        if self.scene.is_lost() && !self.is_detached {
            self.close_after_device_loss(ctx);
        }
        self.receive(ctx);
        self.window_events(ctx);
        self.check_recent_files(ctx);
        self.keep(ctx);
        self.hold_before(ctx);
        self.follow_export();
        self.request(ctx);
        self.show_other(ctx);
        self.ask_measures();
        if self.previewer.fraction().is_some() && !self.playback.is_playing() {
            // So that progress moves and the note about it appears.
            ctx.request_repaint_after(Duration::from_millis(50));
        }
        if self.export_status().is_some() {
            ctx.request_repaint_after(Duration::from_millis(100));
        }
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        if self.is_detached {
            // Nothing can be drawn any more: on a lost card the window's library would give up.
            return;
        }
        self.scene.attach(frame.wgpu_render_state(), || wake_of(&ctx));
        let is_asked = self.modal.is_some() || self.saving.is_some();
        if is_asked {
            self.operation_picker.close();
        }
        let mut commands = if is_asked { Vec::new() } else { commands::pressed(&ctx, self.operation_picker.is_open()) };
        let mut project = (**self.document.project()).clone();
        let (step, ground) = (self.selected_step, self.texture_panel.selected);
        commands.extend(self.panels_ui(ui, &mut project));
        self.texture_panel.was_selected_last |= self.texture_panel.selected != ground;
        commands.extend(self.modal_ui(&ctx, &mut project));
        self.timings.ui(&ctx, frame.info().cpu_usage);
        let is_seeking = commands.iter().any(|command| matches!(command, Command::Seek(_)));
        self.scene.hold_glow(is_seeking && ctx.input(|input| input.pointer.any_down()), &ctx);
        let gesture = self.gesture(&ctx);
        self.document.propose(project, gesture);
        if let Some(opening) = self.to_open.take() {
            self.open_pending(opening);
        }
        for command in commands {
            self.execute(&ctx, command);
        }
        self.texture_panel.was_selected_last &= self.selected_step == step;
        self.request(&ctx);
        self.timings.frame_ends();
    }
}
