//! The commands behind menus, buttons and keys, with their texts and shortcuts.

pub(crate) mod handler;
pub(crate) mod menus;
pub(crate) mod palette;
pub(crate) mod seed_generator;
pub(crate) mod stack_edits;

use egui::{Event, Key, KeyboardShortcut, Modifiers, ThemePreference, Ui};

use crate::app::commands::stack_edits::StepPlace;
use crate::app::panels::analysis::Section;
use crate::app::panels::materials::MATERIALS;
use crate::app::panels::scatter::KINDS;
use crate::app::tools::tool::Tool;
use crate::app::views::map_style::MapStyle;
use crate::engine::Recipe;
use crate::engine::operations::symmetry::Kind as Symmetry;
use crate::engine::play::PlayMap;
use crate::engine::recipe_masks::MaskOwner;
use crate::files::targets;

/// Where a chosen file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSlot {
    /// In the operation of the step at that index.
    Operation(usize),
    /// In the source at that index of the mask of a step or of a terrain type.
    Mask { owner: MaskOwner, source: usize },
    /// In a stamp of a step, by their indices.
    Stamp { step: usize, stamp: usize },
    /// In the texture of the terrain type at that index.
    Texture(usize),
}

impl FileSlot {
    /// What has the slot.
    fn owner(self) -> MaskOwner {
        match self {
            Self::Operation(i) | Self::Stamp { step: i, .. } => MaskOwner::Step(i),
            Self::Mask { owner, .. } => owner,
            Self::Texture(i) => MaskOwner::Type(i),
        }
    }

    /// The name of the step or type; `None` if the index is out of range.
    fn name(self, recipe: &Recipe) -> Option<&str> {
        self.owner().name(recipe)
    }

    /// The seed of the step, which it keeps when it moves.
    fn step_seed(self, recipe: &Recipe) -> Option<u32> {
        match self.owner() {
            MaskOwner::Step(i) => recipe.stack.get(i).map(|step| step.settings.seed),
            MaskOwner::Type(_) | MaskOwner::Layer(_) | MaskOwner::Named(_) => None,
        }
    }
}

/// A slot together with the name of its step or type, to notice if it moves before the file is chosen and read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportTarget {
    pub(crate) slot: FileSlot,
    /// The name of the step or type.
    name: String,
    /// The seed of the step, since steps may have the same name.
    step_seed: Option<u32>,
    /// The id of the project.
    project_id: usize,
}

impl ImportTarget {
    /// The slot in a recipe; `None` if the index is out of range.
    pub(crate) fn new(slot: FileSlot, recipe: &Recipe, project_id: usize) -> Option<Self> {
        Some(Self { slot, name: slot.name(recipe)?.into(), step_seed: slot.step_seed(recipe), project_id })
    }

    /// Why the file cannot be used there now, and what to do about it.
    pub(crate) fn obstacle(&self, recipe: &Recipe, project_id: usize) -> Option<String> {
        let Self { slot, name, step_seed, project_id: own } = self;
        if *own != project_id {
            return Some(format!(
                "it was chosen for {name} in another project; open that project and choose the file again"
            ));
        }
        let stays = slot.name(recipe) == Some(name) && slot.step_seed(recipe) == *step_seed;
        (!stays).then(|| {
            format!("{name}, for which it was chosen, was moved, removed or given another seed; choose the file again")
        })
    }
}

/// What a parameter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterOwner {
    /// The step at that index.
    Step(usize),
    World,
    Light,
}

/// An action of the user. Menus and panels return commands; the command handler executes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Command {
    New,
    Open,
    /// Opens a recent file, by index.
    OpenRecent(usize),
    ClearRecentFiles,
    /// Opens a project with unsaved changes that undo no longer reaches, by its id in the document.
    ReopenProject(usize),
    /// Opens the dialog that offers the projects of an editor that crashed.
    OpenRecovered,
    /// Opens the gallery of presets.
    OpenGallery,
    /// Opens a shipped preset, by index.
    OpenPreset(usize),
    /// Opens an example project, by index.
    OpenExample(usize),
    /// Opens the manual in the browser.
    Manual,
    /// Saves the project as a preset.
    SavePreset,
    Save,
    SaveAs,
    ImportHeightmap,
    Export,
    /// Repeats the last export of the project.
    ExportAgain,
    /// Exports for a target program, by index.
    ExportFor(usize),
    /// Copies the instructions for importing the last export into its target program.
    CopyImportSteps,
    /// Saves a render of the 3-D view.
    SaveRender,
    /// Saves renders from all around the terrain.
    SaveTurntable,
    Quit,
    Undo,
    Redo,
    GoToEntry(usize),
    /// Shows or hides the history.
    History,
    /// Opens the dialog that adds a step.
    PickOperation,
    AddStep(&'static str),
    DuplicateStep(usize),
    DeleteStep(usize),
    MoveStep {
        from: usize,
        to: StepPlace,
    },
    /// Focuses the name of the selected step.
    RenameStep,
    /// Puts a step, by default the selected one, into a new group.
    Group(Option<usize>),
    /// Removes a group, by default the selected one, and keeps its members.
    Ungroup(Option<usize>),
    /// Lists the members of a group, or no longer.
    FoldGroup(usize),
    MoveType {
        from: usize,
        to: usize,
    },
    /// Moves the selected card up in its list.
    MoveUp,
    MoveDown,
    SelectStep(usize),
    /// Selects the steps from the selected one to this one, to be grouped.
    SelectStepsTo(usize),
    /// Adds a terrain type of a material, by index, or of a plain colour.
    AddType(Option<usize>),
    /// Adds a scatter layer of a kind, by index.
    AddLayer(usize),
    /// Shows the layers of the scatter.
    Scatter,
    /// Selects a terrain type, by index, and scrolls to it.
    SelectType(usize),
    /// Scrolls to a parameter and focuses its field.
    ShowParameter {
        of: ParameterOwner,
        key: &'static str,
    },
    /// Seeks to the iteration at which a step is complete and those above it have not begun.
    SeekToStep(usize),
    ChooseFile(FileSlot),
    TogglePlay,
    Restart,
    StepBack,
    StepForward,
    ToStart,
    ToEnd,
    Seek(u32),
    NewSeed,
    PreviousSeed,
    /// Activates or deactivates a tool.
    Tool(Tool),
    /// Repeats what is drawn on its images in a symmetry, or no longer.
    Mirror(Option<Symmetry>),
    /// Makes a random fault of a step editable by hand.
    EditFault {
        step: usize,
        number: u32,
    },
    /// Starts or stops drawing the profile line on the maps.
    ProfileLine,
    /// Unfolds a section of the analysis panel.
    ShowAnalysis(Section),
    /// What the heightmap shows.
    ShowMap(MapStyle),
    /// Shows or hides variations of the terrain.
    Variations,
    /// Shows the metrics of the level.
    Playability,
    /// Draws a measure of the level over the maps, or none.
    ShowOverlay(Option<PlayMap>),
    /// Takes a seed that was found.
    UseSeed(u32),
    /// Applies a variation, by index.
    UseVariation(usize),
    /// Opens the window that compares variations, with one of them.
    EnlargeVariation(usize),
    ToggleLoop,
    FrameViews,
    MaximiseHeightmap,
    MaximiseTexture,
    MaximiseScene,
    /// Resets the camera of the 3-D view to its initial direction.
    ViewThreeQuarter,
    ViewFromAbove,
    ViewFromSide,
    LeftPanel,
    RightPanel,
    /// Adds water to the views if there is none, and focuses the water level field.
    WaterLevel,
    PreviewSamples(u32),
    /// Switches the preview between the size of exports and the size of previews.
    ExportSize,
    /// Shows the state before the last edit, while the key is held or until the command is chosen again.
    ShowBefore,
    /// Switches the maps between the current state and a split view of the states before and after the last edit.
    SplitMaps,
    Theme(ThemePreference),
    /// Switches between the file dialogs of the desktop and the editor's own.
    BuiltInFileDialogs,
    /// The size of the interface, percent.
    Scale(u32),
    LargerInterface,
    SmallerInterface,
    ResetInterfaceScale,
    CancelPreview,
    /// Computes a preview that was cancelled.
    UpdatePreview,
    /// Gives the mask of a step or a terrain type a name.
    ShareMask(MaskOwner),
    /// Copies the text that the message offers.
    CopyMessageText,
    CancelExport,
    DismissMessage,
    /// Opens the command palette.
    Palette,
    FrameTimings,
    Shortcuts,
    About,
}

const SHIFT_COMMAND: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// The commands with a shortcut, in the order of the list of shortcuts. Each command must be in a menu.
///
/// The keys of views and fields (W, A, S, D, arrows, Delete, Escape) are not in this table.
pub(crate) const SHORTCUTS: &[(Command, KeyboardShortcut)] = &[
    (Command::New, KeyboardShortcut::new(Modifiers::COMMAND, Key::N)),
    (Command::Open, KeyboardShortcut::new(Modifiers::COMMAND, Key::O)),
    (Command::OpenGallery, KeyboardShortcut::new(SHIFT_COMMAND, Key::O)),
    (Command::Save, KeyboardShortcut::new(Modifiers::COMMAND, Key::S)),
    (Command::SaveAs, KeyboardShortcut::new(SHIFT_COMMAND, Key::S)),
    (Command::Export, KeyboardShortcut::new(Modifiers::COMMAND, Key::E)),
    (Command::ExportAgain, KeyboardShortcut::new(SHIFT_COMMAND, Key::E)),
    (Command::Quit, KeyboardShortcut::new(Modifiers::COMMAND, Key::Q)),
    (Command::Undo, KeyboardShortcut::new(Modifiers::COMMAND, Key::Z)),
    (Command::Redo, KeyboardShortcut::new(SHIFT_COMMAND, Key::Z)),
    (Command::History, KeyboardShortcut::new(Modifiers::COMMAND, Key::H)),
    (Command::PickOperation, KeyboardShortcut::new(Modifiers::SHIFT, Key::A)),
    (Command::RenameStep, KeyboardShortcut::new(Modifiers::NONE, Key::F2)),
    (Command::Group(None), KeyboardShortcut::new(Modifiers::COMMAND, Key::G)),
    (Command::Ungroup(None), KeyboardShortcut::new(SHIFT_COMMAND, Key::G)),
    (Command::MoveUp, KeyboardShortcut::new(Modifiers::ALT, Key::ArrowUp)),
    (Command::MoveDown, KeyboardShortcut::new(Modifiers::ALT, Key::ArrowDown)),
    (Command::TogglePlay, KeyboardShortcut::new(Modifiers::NONE, Key::Space)),
    (Command::Restart, KeyboardShortcut::new(Modifiers::NONE, Key::R)),
    (Command::StepBack, KeyboardShortcut::new(Modifiers::NONE, Key::Comma)),
    (Command::StepForward, KeyboardShortcut::new(Modifiers::NONE, Key::Period)),
    (Command::ToStart, KeyboardShortcut::new(Modifiers::NONE, Key::Home)),
    (Command::ToEnd, KeyboardShortcut::new(Modifiers::NONE, Key::End)),
    (Command::NewSeed, KeyboardShortcut::new(Modifiers::NONE, Key::N)),
    (Command::PreviousSeed, KeyboardShortcut::new(Modifiers::SHIFT, Key::N)),
    (Command::Tool(Tool::Fault), KeyboardShortcut::new(Modifiers::NONE, Key::L)),
    (Command::Tool(Tool::Brush), KeyboardShortcut::new(Modifiers::NONE, Key::B)),
    (Command::Tool(Tool::MaskBrush), KeyboardShortcut::new(Modifiers::SHIFT, Key::B)),
    (Command::Tool(Tool::Path), KeyboardShortcut::new(Modifiers::NONE, Key::J)),
    (Command::Tool(Tool::Pad), KeyboardShortcut::new(Modifiers::NONE, Key::K)),
    (Command::Tool(Tool::Stamp), KeyboardShortcut::new(Modifiers::NONE, Key::U)),
    (Command::Tool(Tool::Marker), KeyboardShortcut::new(Modifiers::NONE, Key::M)),
    (Command::ProfileLine, KeyboardShortcut::new(Modifiers::NONE, Key::P)),
    (Command::Variations, KeyboardShortcut::new(Modifiers::NONE, Key::V)),
    (Command::FrameViews, KeyboardShortcut::new(Modifiers::NONE, Key::F)),
    (Command::ViewThreeQuarter, KeyboardShortcut::new(Modifiers::NONE, Key::G)),
    (Command::ViewFromAbove, KeyboardShortcut::new(Modifiers::NONE, Key::T)),
    (Command::ViewFromSide, KeyboardShortcut::new(Modifiers::NONE, Key::H)),
    (Command::MaximiseHeightmap, KeyboardShortcut::new(Modifiers::NONE, Key::Num1)),
    (Command::MaximiseTexture, KeyboardShortcut::new(Modifiers::NONE, Key::Num2)),
    (Command::MaximiseScene, KeyboardShortcut::new(Modifiers::NONE, Key::Num3)),
    (Command::LeftPanel, KeyboardShortcut::new(Modifiers::COMMAND, Key::B)),
    (Command::RightPanel, KeyboardShortcut::new(SHIFT_COMMAND, Key::B)),
    (Command::ShowBefore, KeyboardShortcut::new(Modifiers::NONE, Key::C)),
    (Command::SplitMaps, KeyboardShortcut::new(Modifiers::SHIFT, Key::C)),
    (Command::LargerInterface, KeyboardShortcut::new(Modifiers::COMMAND, Key::Plus)),
    (Command::SmallerInterface, KeyboardShortcut::new(Modifiers::COMMAND, Key::Minus)),
    (Command::ResetInterfaceScale, KeyboardShortcut::new(Modifiers::COMMAND, Key::Num0)),
    (Command::Palette, KeyboardShortcut::new(Modifiers::COMMAND, Key::P)),
    (Command::FrameTimings, KeyboardShortcut::new(Modifiers::NONE, Key::F3)),
    (Command::Shortcuts, KeyboardShortcut::new(Modifiers::NONE, Key::F1)),
];

fn theme_name(theme: ThemePreference) -> &'static str {
    match theme {
        ThemePreference::Dark => "Dark",
        ThemePreference::Light => "Light",
        ThemePreference::System => "System",
    }
}

impl Command {
    /// The text in menus; it ends with `…` if the command opens a dialog.
    #[expect(clippy::too_many_lines, reason = "one line a command, so that none is forgotten")]
    pub(crate) fn text(&self) -> String {
        match self {
            Self::New => "New".into(),
            Self::Open => "Open…".into(),
            Self::OpenRecent(_) => "Open recent".into(),
            Self::ReopenProject(_) => "Reopen".into(),
            Self::ClearRecentFiles => "Clear recent files".into(),
            Self::OpenRecovered => "Recovered projects…".into(),
            Self::OpenGallery => "Presets…".into(),
            Self::OpenPreset(_) => "Open preset".into(),
            Self::OpenExample(_) => "Open example".into(),
            Self::Manual => "Manual".into(),
            Self::SavePreset => "Save as preset…".into(),
            Self::Save => "Save".into(),
            Self::SaveAs => "Save as…".into(),
            Self::ImportHeightmap => "Import heightmap…".into(),
            Self::Export => "Export…".into(),
            Self::ExportAgain => "Export again".into(),
            Self::ExportFor(i) => format!("Export for {}…", targets::ALL.get(*i).map_or("", |target| target.label)),
            Self::CopyImportSteps => "Copy engine import steps".into(),
            Self::SaveRender => "Save render…".into(),
            Self::SaveTurntable => "Save turntable…".into(),
            Self::Quit => "Quit".into(),
            Self::Undo => "Undo".into(),
            Self::Redo => "Redo".into(),
            Self::History => "History".into(),
            Self::GoToEntry(_) => "Go to history entry".into(),
            Self::PickOperation => "Add step…".into(),
            Self::AddStep(key) | Self::ShowParameter { key, .. } => (*key).into(),
            Self::DuplicateStep(_) => "Duplicate".into(),
            Self::DeleteStep(_) => "Delete".into(),
            Self::RenameStep => "Rename step".into(),
            Self::Group(_) => "Group steps".into(),
            Self::Ungroup(_) => "Ungroup".into(),
            Self::FoldGroup(_) => "Fold or unfold group".into(),
            Self::MoveStep { .. } | Self::MoveType { .. } => "Move".into(),
            Self::MoveUp => "Move selected step or type up".into(),
            Self::MoveDown => "Move selected step or type down".into(),
            Self::SelectStep(_) | Self::SelectStepsTo(_) | Self::SelectType(_) => "Select".into(),
            Self::AddType(None) => "Add terrain type".into(),
            Self::AddType(Some(index)) => format!("Add terrain type {}", MATERIALS[*index].title()),
            Self::SeekToStep(_) => "Seek to this step".into(),
            Self::ChooseFile(_) => "Choose a file…".into(),
            Self::TogglePlay => "Play or pause".into(),
            Self::Restart => "Play from start".into(),
            Self::StepBack => "Previous iteration".into(),
            Self::StepForward => "Next iteration".into(),
            Self::ToStart => "Go to start".into(),
            Self::ToEnd => "Go to end".into(),
            Self::Seek(_) => "Seek".into(),
            Self::NewSeed => "New seed".into(),
            Self::PreviousSeed => "Previous seed".into(),
            Self::Tool(tool) => tool.text().into(),
            Self::Mirror(None) => "Do not mirror edits".into(),
            Self::Mirror(Some(kind)) => kind.label().into(),
            Self::EditFault { number, .. } => format!("Edit fault {number}"),
            Self::ProfileLine => "Draw profile line".into(),
            Self::ShowAnalysis(section) => section.title().into(),
            Self::ShowMap(style) => style.text().into(),
            Self::Variations => "Variations".into(),
            Self::Playability => "Playability".into(),
            Self::Scatter => "Scatter".into(),
            Self::AddLayer(kind) => format!("Scatter {}", KINDS[*kind].name.to_lowercase()),
            Self::ShowOverlay(_) => "Show playability overlay".into(),
            Self::UseSeed(seed) => format!("Use seed {seed}"),
            Self::UseVariation(i) => format!("Use variation {}", i + 1),
            Self::EnlargeVariation(i) => format!("Show variation {} larger", i + 1),
            Self::ToggleLoop => "Loop".into(),
            Self::FrameViews => "Frame terrain".into(),
            Self::MaximiseHeightmap => "Maximise heightmap".into(),
            Self::MaximiseTexture => "Maximise texture".into(),
            Self::MaximiseScene => "Maximise 3-D view".into(),
            Self::ViewThreeQuarter => "Three-quarter 3-D view".into(),
            Self::ViewFromAbove => "3-D view from above".into(),
            Self::ViewFromSide => "3-D view from the side".into(),
            Self::LeftPanel => "Left panel".into(),
            Self::RightPanel => "Right panel".into(),
            Self::WaterLevel => "Water level".into(),
            Self::PreviewSamples(samples) => format!("{samples} samples"),
            Self::ExportSize => "Preview at export size".into(),
            Self::ShowBefore => "Show terrain before last edit".into(),
            Self::SplitMaps => "Split maps: before and after".into(),
            Self::Theme(theme) => theme_name(*theme).into(),
            Self::BuiltInFileDialogs => "Use built-in file dialogs".into(),
            Self::Scale(percent) => format!("{percent} %"),
            Self::LargerInterface => "Larger interface".into(),
            Self::SmallerInterface => "Smaller interface".into(),
            Self::ResetInterfaceScale => "Reset interface scale".into(),
            Self::ShareMask(_) => "Name mask for reuse".into(),
            Self::CancelPreview | Self::CancelExport => "Cancel".into(),
            Self::UpdatePreview => "Update".into(),
            Self::DismissMessage => "Dismiss".into(),
            Self::CopyMessageText => "Copy".into(),
            Self::Palette => "Find a command…".into(),
            Self::FrameTimings => "Show frame times".into(),
            Self::Shortcuts => "Shortcuts".into(),
            Self::About => "About Upthrust".into(),
        }
    }

    /// Other words for it, under which the palette finds it.
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::New => "project empty",
            Self::Open => "project load",
            Self::OpenGallery => "templates examples",
            Self::SavePreset => "template",
            Self::ImportHeightmap => "dem lidar image",
            Self::Export => "save mesh png exr tiff raw engine",
            Self::SaveRender => "screenshot picture image",
            Self::SaveTurntable => "animation frames",
            Self::PickOperation => "operation generator filter erosion layer",
            Self::AddType(_) => "material texture colour layer",
            Self::MoveUp | Self::MoveDown => "reorder order",
            Self::TogglePlay => "animation timeline",
            Self::NewSeed => "random shuffle",
            Self::Variations => "random alternatives mutate vary",
            Self::Scatter => "forest foliage vegetation props objects instances",
            Self::AddLayer(kind) => KINDS.get(*kind).map_or("", |kind| kind.words),
            Self::Playability => {
                "level metrics overlay rules fairness route time reach visibility line of sight territory choke agent walkable"
            }
            Self::ShowOverlay(_) => "line of sight view visibility",
            Self::ProfileLine => "cross-section elevation measure distance length ruler",
            Self::ShowAnalysis(_) => "chart statistics histogram",
            Self::ShowMap(_) => "view heightmap map flow",
            Self::FrameViews => "zoom fit centre camera",
            Self::ViewThreeQuarter | Self::ViewFromAbove | Self::ViewFromSide => "camera perspective",
            Self::MaximiseHeightmap | Self::MaximiseTexture | Self::MaximiseScene => "full enlarge",
            Self::LeftPanel => "stack hide show",
            Self::RightPanel => "types light analysis hide show",
            Self::WaterLevel => "sea lake ocean",
            Self::PreviewSamples(_) | Self::ExportSize => "resolution quality detail",
            Self::ShowBefore | Self::SplitMaps => "compare",
            Self::Theme(_) => "colours appearance",
            Self::Scale(_) | Self::LargerInterface | Self::SmallerInterface | Self::ResetInterfaceScale => "zoom font",
            Self::FrameTimings => "fps performance",
            Self::Shortcuts => "keys keyboard help",
            Self::About => "version licence folder",
            Self::Tool(tool) => tool.words(),
            Self::Mirror(_) => "symmetry fair draw",
            _ => "",
        }
    }

    /// The keyboard shortcut, if it has one.
    pub(crate) fn shortcut(&self) -> Option<KeyboardShortcut> {
        SHORTCUTS.iter().find(|(command, _)| command == self).map(|(_, shortcut)| *shortcut)
    }

    /// Whether the command can change the places of steps or of the items in their lists.
    fn moves_items(&self) -> bool {
        let moves_steps =
            matches!(self, Self::AddStep(_) | Self::DuplicateStep(_) | Self::DeleteStep(_) | Self::MoveStep { .. });
        let changes_groups = matches!(self, Self::Group(_) | Self::Ungroup(_));
        moves_steps
            || changes_groups
            || matches!(self, Self::Undo | Self::Redo | Self::GoToEntry(_) | Self::MoveUp | Self::MoveDown)
    }

    /// Whether holding the key repeats the command.
    fn repeats(&self) -> bool {
        matches!(
            self,
            Self::Undo
                | Self::Redo
                | Self::StepBack
                | Self::StepForward
                | Self::LargerInterface
                | Self::SmallerInterface
        )
    }

    /// Whether its shortcut works while a text field has the focus.
    fn leaves_fields(&self) -> bool {
        matches!(
            self,
            Self::New
                | Self::Open
                | Self::OpenGallery
                | Self::Save
                | Self::SaveAs
                | Self::Export
                | Self::ExportAgain
                | Self::Quit
                | Self::Palette
                | Self::Shortcuts
        )
    }

    /// The text followed by the shortcut, for tooltips.
    pub(crate) fn tooltip(&self, ui: &Ui) -> String {
        match self.shortcut() {
            Some(shortcut) => format!("{} ({})", self.text(), ui.ctx().format_shortcut(&shortcut)),
            None => self.text(),
        }
    }
}

/// The commands whose shortcuts were pressed in this frame, in the order in which they were pressed.
///
/// While a text field has the focus, only shortcuts that concern the document or help work; the field loses the focus
/// then, so that the typed value is applied. While a search dialog is open (`picking`), all other keys belong to its
/// field, even before that has the focus. While a menu or a list is open, keys without Ctrl do nothing else: what is typed
/// may be meant to search it. Any other focused control keeps the keys that operate it.
pub(crate) fn pressed(ctx: &egui::Context, picking: bool) -> Vec<Command> {
    let focused = ctx.memory(|memory| memory.focused());
    let typing = picking || ctx.text_edit_focused();
    let is_list_open = egui::Popup::is_any_open(ctx);
    // Alternative shortcuts, and the plus of keyboards on which it needs Shift.
    let alternatives = [(Command::Redo, Key::Y), (Command::LargerInterface, Key::Equals)]
        .map(|(command, key)| (command, KeyboardShortcut::new(Modifiers::COMMAND, key)));
    let mut shortcuts: Vec<(Command, KeyboardShortcut)> =
        SHORTCUTS.iter().chain(&alternatives).map(|(command, shortcut)| (*command, *shortcut)).collect();
    // More modifiers first: egui also matches Ctrl+Shift+Z as Ctrl+Z.
    shortcuts.sort_by_key(|(_, shortcut)| !shortcut.modifiers.shift);
    let mut found = Vec::new();
    ctx.input_mut(|input| {
        input.events.retain(|event| {
            // Text typed after the shortcut of the picker belongs to the picker.
            if found.last() == Some(&Command::PickOperation) {
                return true;
            }
            let Event::Key { key, modifiers, pressed: true, repeat, .. } = event else { return true };
            let fits = |(_, shortcut): &&(Command, KeyboardShortcut)| is_press_of(shortcut, *key, *modifiers);
            let Some((command, shortcut)) = shortcuts.iter().find(fits) else { return true };
            let silent = if picking {
                *command != Command::Shortcuts
            } else if typing {
                !command.leaves_fields()
            } else if is_list_open && !shortcut.modifiers.command {
                true
            } else {
                focused.is_some() && shortcut.modifiers.is_none() && CONTROL_KEYS.contains(&shortcut.logical_key)
            };
            if !silent && (command.repeats() || !repeat) {
                found.push(*command);
            }
            silent
        });
    });
    if typing && !picking && found.iter().any(|command| *command != Command::Shortcuts) {
        ctx.memory_mut(|memory| focused.into_iter().for_each(|id| memory.surrender_focus(id)));
    }
    found
}

/// Whether a key is the shortcut of a command that opens a window.
pub(crate) fn opens(key: Key, modifiers: Modifiers) -> bool {
    SHORTCUTS.iter().any(|(command, shortcut)| {
        (command.leaves_fields() || *command == Command::PickOperation) && is_press_of(shortcut, key, modifiers)
    })
}

/// Keys without modifiers that operate controls.
const CONTROL_KEYS: [Key; 3] = [Key::Space, Key::Home, Key::End];

/// Whether a pressed key is that of a shortcut.
///
/// An additional Shift is ignored, as some characters need it; an additional Alt makes it another shortcut.
fn is_press_of(shortcut: &KeyboardShortcut, key: Key, modifiers: Modifiers) -> bool {
    let KeyboardShortcut { modifiers: wanted, logical_key } = *shortcut;
    key == logical_key && modifiers.matches_logically(wanted) && modifiers.alt == wanted.alt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_begin_with_a_verb_that_a_user_knows() {
        let texts = [Command::Tool(Tool::Fault), Command::ProfileLine, Command::NewSeed].map(|command| command.text());
        assert_eq!(texts, ["Draw faults", "Draw profile line", "New seed"]);
    }

    #[test]
    fn no_two_commands_share_a_shortcut() {
        for (i, (a, shortcut)) in SHORTCUTS.iter().enumerate() {
            for (b, other) in &SHORTCUTS[..i] {
                assert!(a != b && shortcut != other, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn each_press_of_a_slow_frame_counts() {
        let press = |key: Key, pressed: bool| {
            let modifiers = Modifiers::COMMAND;
            Event::Key { key, physical_key: None, pressed, repeat: false, modifiers }
        };
        let ctx = egui::Context::default();
        let events = [Key::Z, Key::Z, Key::Z, Key::Y].into_iter().flat_map(|key| [press(key, true), press(key, false)]);
        let mut found = Vec::new();
        let input = egui::RawInput { events: events.collect(), ..Default::default() };
        ctx.run_ui(input, |ui| found = pressed(ui.ctx(), false)).textures_delta.clear();
        let count = |command: Command| found.iter().filter(|found| **found == command).count();
        assert_eq!((count(Command::Undo), count(Command::Redo)), (3, 1), "{found:?}");
        // In their order.
        let press =
            |key: Key| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
        let events = [Key::Home, Key::Period, Key::Comma, Key::Period].map(press).into();
        let input = egui::RawInput { events, ..Default::default() };
        ctx.run_ui(input, |ui| found = pressed(ui.ctx(), false)).textures_delta.clear();
        let (forward, back) = (Command::StepForward, Command::StepBack);
        assert_eq!(found, [Command::ToStart, forward, back, forward]);
    }

    #[test]
    fn holding_a_key_repeats_only_stepwise_commands() {
        let pressed_with = |modifiers: Modifiers, key: Key, repeat: bool| {
            let ctx = egui::Context::default();
            let mut found = Vec::new();
            // egui recognises a held key by the previous frame.
            for _ in 0..=usize::from(repeat) {
                let event = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
                let input = egui::RawInput { events: vec![event], ..Default::default() };
                ctx.run_ui(input, |ui| found = pressed(ui.ctx(), false)).textures_delta.clear();
            }
            found
        };
        let (none, command) = (Modifiers::NONE, Modifiers::COMMAND);
        assert_eq!(pressed_with(none, Key::N, false), [Command::NewSeed]);
        for (modifiers, key) in [(none, Key::N), (none, Key::Space), (command, Key::N), (command, Key::S)] {
            assert_eq!(pressed_with(modifiers, key, true), [], "{key:?}");
        }
        assert_eq!(pressed_with(none, Key::Period, true), [Command::StepForward]);
        assert_eq!(pressed_with(command, Key::Z, true), [Command::Undo]);
        assert_eq!(pressed_with(command, Key::Y, true), [Command::Redo]);
        assert_eq!(pressed_with(Modifiers::ALT, Key::F, false), [], "Alt makes it another shortcut");
        assert_eq!(pressed_with(Modifiers::ALT, Key::ArrowUp, false), [Command::MoveUp]);
        assert_eq!(pressed_with(command.plus(Modifiers::SHIFT), Key::Equals, false), [Command::LargerInterface]);
    }
}
