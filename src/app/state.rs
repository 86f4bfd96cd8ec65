//! What the interface remembers from frame to frame. None of it is saved with a project or undone.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use egui::{Context, Key};

use crate::app::commands::ParameterOwner;
use crate::app::commands::menus::FreeMemory;
use crate::app::commands::seed_generator::SeedGenerator;
use crate::app::dialogs::closing::Closing;
use crate::app::dialogs::export::ExportDialog;
use crate::app::dialogs::file_browser::FileBrowser;
use crate::app::dialogs::gallery::Gallery;
use crate::app::dialogs::import::{Imported, PendingImport};
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::operation_picker::OperationPicker;
use crate::app::document::Document;
use crate::app::panels::analysis::AnalysisPanel;
use crate::app::panels::history::HistoryState;
use crate::app::panels::play::{PlayPanel, SeedPanel};
use crate::app::panels::scatter::ScatterPanel;
use crate::app::panels::stack::KnownWarnings;
use crate::app::panels::status::Message;
use crate::app::panels::texture_panel::TexturePanelState;
use crate::app::panels::variations::Variations;
use crate::app::preview::frame_timings::FrameTimings;
use crate::app::preview::playback::Playback;
use crate::app::preview::request::PreviewState;
use crate::app::tasks::settings::{Settings, default_layout};
use crate::app::tools::profile_tool::ProfileTool;
use crate::app::tools::tool_bar::Tools;
use crate::app::views::View;
use crate::app::views::maps::Maps;
use crate::app::views::scene::ScenePane;
use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::parameter::ParameterState;
use crate::engine::recipe_masks::MaskOwner;
use crate::files::io::disk_state::DiskState;
use crate::project::ProjectFile;
use crate::worker::Wake;

/// The state of the interface.
pub(crate) struct UiState {
    pub(crate) selection: Selection,
    pub(crate) playback: Playback,
    pub(crate) preview: PreviewState,
    pub(crate) layout: Layout,
    pub(crate) maps: Maps,
    pub(crate) scene: ScenePane,
    pub(crate) tools: Tools,
    pub(crate) profile: ProfileTool,
    pub(crate) texture_panel: TexturePanelState,
    pub(crate) parameters: ParameterState,
    pub(crate) history: HistoryState,
    pub(crate) free_memory: FreeMemory,
    pub(crate) variations: Variations,
    pub(crate) analysis: AnalysisPanel,
    pub(crate) play: PlayPanel,
    pub(crate) scatter: ScatterPanel,
    pub(crate) seed_panel: SeedPanel,
    pub(crate) operation_picker: OperationPicker,
    pub(crate) gallery: Gallery,
    pub(crate) export: ExportDialog,
    /// The dialog that covers the editor.
    pub(crate) modal: Option<Modal>,
    /// The built-in file dialog, which can be above another dialog.
    pub(crate) file_browser: Option<FileBrowser>,
    /// Heightmaps that were read, whose windows open one after another.
    pub(crate) maps_to_import: VecDeque<Imported>,
    /// A heightmap that a dialog imports once this frame's edits are in the document.
    pub(crate) pending_import: Option<PendingImport>,
    /// A project that a dialog opens once this frame's edits are in the document.
    pub(crate) pending_project: Option<PendingProject>,
    /// The change of a project's file by another program that the user chose not to load.
    pub(crate) dismissed_change: Option<(usize, DiskState)>,
    /// The status bar's message.
    pub(crate) message: Option<Message>,
    pub(crate) gestures: Gestures,
    pub(crate) timings: FrameTimings,
    pub(crate) seeds: SeedGenerator,
    pub(crate) closing: Closing,
}

impl UiState {
    /// The terrain type or the layer of the scatter, if it was selected later than the step.
    pub(crate) fn selected_last(&self) -> Option<MaskOwner> {
        match self.selection.last {
            CardList::Stack => None,
            CardList::Types => self.texture_panel.selected.map(MaskOwner::Type),
            CardList::Layers => self.scatter.selected.map(MaskOwner::Layer),
        }
    }

    /// The interface as the editor opens, before anything is computed.
    pub(crate) fn new(
        document: &Document,
        settings: &Settings,
        selected_step: usize,
        wake: Wake,
    ) -> std::io::Result<Self> {
        Ok(Self {
            selection: Selection { step: selected_step, ..Selection::default() },
            playback: Playback::from_start(),
            preview: PreviewState::new(document),
            layout: Layout {
                tree: settings.layout().unwrap_or_else(default_layout),
                maximised: settings.maximised,
                front: Side::Left,
            },
            maps: Maps::default(),
            scene: ScenePane::default(),
            tools: Tools::default(),
            profile: ProfileTool::default(),
            texture_panel: TexturePanelState::default(),
            parameters: ParameterState::default(),
            history: HistoryState::default(),
            free_memory: FreeMemory::default(),
            variations: Variations::default(),
            analysis: AnalysisPanel::start(wake.clone())?,
            play: PlayPanel::start(wake.clone())?,
            scatter: ScatterPanel::start(wake.clone())?,
            seed_panel: SeedPanel::start(wake.clone())?,
            operation_picker: OperationPicker::new(),
            gallery: Gallery::new(wake),
            export: ExportDialog::default(),
            modal: None,
            file_browser: None,
            maps_to_import: VecDeque::new(),
            pending_import: None,
            pending_project: None,
            dismissed_change: None,
            message: None,
            gestures: Gestures::default(),
            timings: FrameTimings::default(),
            seeds: SeedGenerator::random(),
            closing: Closing::default(),
        })
    }
}

/// A list of cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CardList {
    #[default]
    Stack,
    Types,
    Layers,
}

/// What is selected in the stack.
#[derive(Default)]
pub(crate) struct Selection {
    /// The index of the selected step.
    pub(crate) step: usize,
    /// The list in which a card was selected last: its mask is painted, and keys move it.
    pub(crate) last: CardList,
    /// The step up to which the steps from the selected one on are selected, to be grouped.
    pub(crate) to: Option<usize>,
    /// The seeds of the groups whose members are not listed.
    pub(crate) folded: BTreeSet<u32>,
    /// The item of its parameters that is selected on the views, see
    /// [`selected_item`](crate::app::tools::tool_bar::Tools::selected_item).
    pub(crate) item: Vec<(&'static str, usize)>,
    /// The parameter to scroll to in the next frame.
    pub(crate) reveal: Option<(ParameterOwner, &'static str)>,
    /// The step whose parameters were shown last, by its
    /// [id](crate::app::widgets::parameter::ParameterState::step_id).
    pub(crate) last_shown: Option<u32>,
    /// The heights of the steps' cards.
    pub(crate) row_heights: RowHeights,
    /// The warnings about the selected step.
    pub(crate) warnings: KnownWarnings,
}

/// A side panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// How the panes and panels are arranged.
pub(crate) struct Layout {
    pub(crate) tree: egui_tiles::Tree<View>,
    /// The view that fills the window's centre.
    pub(crate) maximised: Option<View>,
    /// The side panel opened last: a narrow window shows only this one.
    pub(crate) front: Side,
}

/// Arrow keys pressed within this time of each other are one gesture, in seconds.
const NUDGE_RUN_S: f64 = 1.0;

/// Groups edits into gestures, each of which is one entry of the history.
#[derive(Default)]
pub(crate) struct Gestures {
    /// Counts pointer presses and runs of arrow keys.
    count: u64,
    /// When an arrow key was last pressed in the current run, in seconds.
    nudged_at: Option<f64>,
}

impl Gestures {
    /// Notices a press of the pointer, which begins a gesture. To be called once per frame.
    pub(crate) fn begin_frame(&mut self, ctx: &Context) {
        self.count += u64::from(ctx.input(|input| input.pointer.any_pressed()));
    }

    /// The gesture that this frame's edits belong to: the press of the pointer, or a run of arrow keys.
    pub(crate) fn current(&mut self, ctx: &Context) -> Option<u64> {
        const ARROWS: [Key; 4] = [Key::ArrowLeft, Key::ArrowRight, Key::ArrowUp, Key::ArrowDown];
        let (is_held, is_nudged, now) = ctx.input(|input| {
            let is_held = input.pointer.any_down() || input.pointer.any_released();
            (is_held, ARROWS.iter().any(|key| input.num_presses(*key) > 0), input.time)
        });
        if is_held {
            self.nudged_at = None;
        } else if is_nudged {
            let continues = self.nudged_at.is_some_and(|before| now - before <= NUDGE_RUN_S);
            self.count += u64::from(!continues);
            self.nudged_at = Some(now);
        }
        (is_held || is_nudged).then_some(self.count)
    }
}

/// A project about to replace the open one.
pub(crate) struct PendingProject {
    /// The name of the history entry.
    pub(crate) name: String,
    pub(crate) file: ProjectFile,
    pub(crate) path: Option<PathBuf>,
    /// Whether it differs from what is stored at `path`, as a recovered project does.
    pub(crate) is_unsaved: bool,
    /// Whether the camera and the size of the preview stay as they are, as for a preset.
    pub(crate) keeps_view: bool,
}
