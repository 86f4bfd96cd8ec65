//! What the interface remembers from frame to frame. None of it is saved with a project or undone.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::app::commands::handler::SeedGenerator;
use crate::app::commands::menus::FreeMemory;
use crate::app::dialogs::export::ExportDialog;
use crate::app::dialogs::gallery::Gallery;
use crate::app::dialogs::modals::Modal;
use crate::app::dialogs::operation_picker::OperationPicker;
use crate::app::document::Document;
use crate::app::panels::analysis::AnalysisPanel;
use crate::app::panels::hints::HintState;
use crate::app::panels::history::HistoryState;
use crate::app::panels::status::Message;
use crate::app::panels::texture_panel::TexturePanelState;
use crate::app::panels::variations::Variations;
use crate::app::preview::compare::Compare;
use crate::app::preview::frame_timings::FrameTimings;
use crate::app::preview::playback::Playback;
use crate::app::tasks::settings::{Settings, default_layout};
use crate::app::tools::fault_tool::FaultTool;
use crate::app::tools::profile_tool::ProfileTool;
use crate::app::views::layout::Side;
use crate::app::views::scene::ScenePane;
use crate::app::views::{Maps, View};
use crate::app::widgets::parameter::ParameterState;
use crate::engine::Recipe;
use crate::project::{Project, ProjectFile};
use crate::worker::{Preview, PreviewRequest, Wake};

/// The state of the interface.
pub(crate) struct UiState {
    pub(crate) selection: Selection,
    pub(crate) playback: Playback,
    pub(crate) preview: PreviewState,
    pub(crate) layout: Layout,
    pub(crate) maps: Maps,
    pub(crate) scene: ScenePane,
    pub(crate) fault_tool: FaultTool,
    pub(crate) profile: ProfileTool,
    pub(crate) texture_panel: TexturePanelState,
    pub(crate) parameters: ParameterState,
    pub(crate) history: HistoryState,
    pub(crate) free_memory: FreeMemory,
    pub(crate) hints: HintState,
    pub(crate) variations: Variations,
    pub(crate) analysis: AnalysisPanel,
    pub(crate) operation_picker: OperationPicker,
    pub(crate) gallery: Gallery,
    pub(crate) export: ExportDialog,
    /// The dialog that covers the editor.
    pub(crate) modal: Option<Modal>,
    /// A project that a dialog opens once this frame's edits are in the document.
    pub(crate) pending_project: Option<PendingProject>,
    /// The status bar's message.
    pub(crate) message: Option<Message>,
    pub(crate) gestures: Gestures,
    pub(crate) timings: FrameTimings,
    pub(crate) seeds: SeedGenerator,
    /// The projects, by origin, still to be saved before the window closes.
    pub(crate) saving: Option<Vec<usize>>,
    /// Whether the window is to close without further questions.
    pub(crate) closing: bool,
    /// Whether the user chose to close without saving.
    pub(crate) discards_changes: bool,
}

impl UiState {
    /// The interface as the editor opens, before anything is computed.
    pub(crate) fn new(
        document: &Document,
        settings: &Settings,
        selected_step: usize,
        wake: Wake,
    ) -> std::io::Result<Self> {
        Ok(Self {
            selection: Selection { step: selected_step, reveal: None },
            playback: Playback::from_start(),
            preview: PreviewState::new(document),
            layout: Layout {
                tree: settings.layout().unwrap_or_else(default_layout),
                maximised: settings.maximised,
                front: Side::Left,
            },
            maps: Maps::default(),
            scene: ScenePane::default(),
            fault_tool: FaultTool::default(),
            profile: ProfileTool::default(),
            texture_panel: TexturePanelState::default(),
            parameters: ParameterState::default(),
            history: HistoryState::default(),
            free_memory: FreeMemory::default(),
            hints: HintState::default(),
            variations: Variations::default(),
            analysis: AnalysisPanel::start(wake.clone())?,
            operation_picker: OperationPicker::new(),
            gallery: Gallery::new(wake),
            export: ExportDialog::default(),
            modal: None,
            pending_project: None,
            message: None,
            gestures: Gestures::default(),
            timings: FrameTimings::default(),
            seeds: SeedGenerator::fair(),
            saving: None,
            closing: false,
            discards_changes: false,
        })
    }
}

/// What is selected in the stack.
#[derive(Default)]
pub(crate) struct Selection {
    /// The index of the selected step.
    pub(crate) step: usize,
    /// The parameter of the selected step to scroll to in the next frame.
    pub(crate) reveal: Option<&'static str>,
}

/// The preview on the screen and the one the worker was asked for.
pub(crate) struct PreviewState {
    pub(crate) shown: Option<Preview>,
    pub(crate) compare: Compare,
    /// The last request to the worker.
    pub(crate) wanted: Option<PreviewRequest>,
    /// Since when the preview on the screen has been out of date.
    pub(crate) outdated_since: Option<Instant>,
    /// Whether the last request failed.
    pub(crate) failed: bool,
    /// The export's samples along the longer side, while the views show that size.
    pub(crate) export_samples: Option<u32>,
    /// The document's project and the recipe shared with the worker, cloned only when the recipe changes.
    pub(crate) recipe: (Arc<Project>, Arc<Recipe>),
}

impl PreviewState {
    fn new(document: &Document) -> Self {
        let project = document.project();
        Self {
            shown: None,
            compare: Compare::default(),
            wanted: None,
            outdated_since: None,
            failed: false,
            export_samples: None,
            recipe: (project.clone(), Arc::new(project.recipe.clone())),
        }
    }
}

/// How the panes and panels are arranged.
pub(crate) struct Layout {
    pub(crate) tree: egui_tiles::Tree<View>,
    /// The view that fills the window's centre.
    pub(crate) maximised: Option<View>,
    /// The side panel opened last: a narrow window shows only this one.
    pub(crate) front: Side,
}

/// Groups edits into gestures, each of which is one entry of the history.
#[derive(Default)]
pub(crate) struct Gestures {
    /// Counts pointer presses and runs of arrow keys.
    pub(crate) presses: u64,
    /// When an arrow key was last pressed in the present run, in seconds.
    pub(crate) nudged_at: Option<f64>,
}

/// A project about to replace the open one.
pub(crate) struct PendingProject {
    /// The name of the history entry.
    pub(crate) name: String,
    pub(crate) file: ProjectFile,
    pub(crate) path: Option<PathBuf>,
    /// Whether it differs from what is stored at `path`, as a recovered project does.
    pub(crate) is_unsaved: bool,
}
