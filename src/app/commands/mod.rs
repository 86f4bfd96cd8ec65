//! Everything that menus, buttons and keys can do, in one place.

pub(crate) mod handler;
pub(crate) mod menus;
pub(crate) mod palette;
pub(crate) mod seed_generator;
pub(crate) mod stack_edits;

use egui::{Event, InputState, Key, KeyboardShortcut, Modifiers, ThemePreference, Ui};

use crate::engine::{Recipe, Step};
use crate::files::targets;

/// What a chosen file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSlot {
    /// The operation of the step at that place in the stack.
    Operation(usize),
    /// The mask of the step at that place in the stack.
    Mask(usize),
    /// The texture of the terrain type at that place in the list.
    Texture(usize),
}

impl FileSlot {
    /// What the step or type is called that stands there, if one does.
    fn name(self, recipe: &Recipe) -> Option<&str> {
        match self {
            Self::Operation(i) | Self::Mask(i) => recipe.stack.get(i).map(Step::title),
            Self::Texture(i) => recipe.texture.types.get(i).map(|ground| ground.name.as_str()),
        }
    }
}

/// A slot as it was when the user asked for a file: until the file is chosen and read, anything may have moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) slot: FileSlot,
    /// What the step or type is called.
    name: String,
    /// The project that it belongs to, as the document counts them.
    origin: usize,
}

impl Target {
    /// The slot in the recipe of that origin, if it is there.
    pub(crate) fn new(slot: FileSlot, recipe: &Recipe, origin: usize) -> Option<Self> {
        Some(Self { slot, name: slot.name(recipe)?.into(), origin })
    }

    /// What keeps a file from going there now, and what to do.
    pub(crate) fn obstacle(&self, recipe: &Recipe, origin: usize) -> Option<String> {
        let Self { slot, name, origin: own } = self;
        if *own != origin {
            return Some(format!("it was chosen for {name} of another project; go back to that and choose it again"));
        }
        let stays = slot.name(recipe) == Some(name);
        (!stays).then(|| format!("{name}, for which it was chosen, has gone or moved; choose it again"))
    }
}

/// A deed of the user; menus and panels return commands, the app carries them out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Command {
    New,
    Open,
    /// Opens one of the recent files, by its place in the list.
    OpenRecent(usize),
    ClearRecentFiles,
    /// Opens the gallery of presets.
    OpenGallery,
    /// Opens the shipped preset at that place of their list.
    OpenPreset(usize),
    /// Makes a preset of the project.
    SavePreset,
    Save,
    SaveAs,
    ImportHeightmap,
    Export,
    /// The same, for the program at that place of their list.
    ExportFor(usize),
    /// Copies what is to be done in the program that the last export was made for.
    CopyImportNotes,
    /// Writes a picture of the 3-D view.
    SaveRender,
    /// Writes pictures all around the land.
    SaveTurntable,
    Quit,
    Undo,
    Redo,
    GoToEntry(usize),
    /// Folds or unfolds the history.
    History,
    /// Opens the picker.
    PickOperation,
    AddStep(&'static str),
    DuplicateStep(usize),
    DeleteStep(usize),
    MoveStep {
        from: usize,
        to: usize,
    },
    MoveType {
        from: usize,
        to: usize,
    },
    /// Moves the selected card up in its list.
    MoveUp,
    MoveDown,
    SelectStep(usize),
    /// Brings a parameter of a step into sight, to be typed; its name too.
    ShowParameter {
        step: usize,
        key: &'static str,
    },
    /// Stops the timeline where the step is done and nothing above it has begun.
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
    /// Takes up the tool that lays faults on the maps, or puts it away.
    FaultTool,
    /// Makes a random fault of a step a drawn one.
    AdoptFault {
        step: usize,
        number: u32,
    },
    /// Draws the line of the profile on the maps, or leaves it as it is.
    ProfileLine,
    /// Shows other lands to choose from, or puts them away.
    Variations,
    /// Takes the variation at that place.
    AdoptVariation(usize),
    ToggleLoop,
    FrameViews,
    MaximiseHeightmap,
    MaximiseTexture,
    MaximiseScene,
    /// Looks at the land in the 3-D view as a new land is looked at.
    ViewThreeQuarter,
    /// As a plan and as an elevation.
    ViewFromAbove,
    ViewFromSide,
    LeftPanel,
    RightPanel,
    /// Fills the views with water, if there is none, and puts the caret where its level is typed.
    WaterLevel,
    PreviewSamples(u32),
    /// Shows the land at the samples of exports, or of previews again.
    ExportSize,
    /// Shows the state before the last edit: as long as the key is held, or until it is chosen again.
    ShowBefore,
    /// Shows the state before the last edit on one side of the maps, or the present one on both.
    SplitMaps,
    Theme(ThemePreference),
    /// The size of the interface, percent.
    Scale(u32),
    LargerInterface,
    SmallerInterface,
    ResetInterfaceScale,
    CancelPreview,
    /// Copies what the message offers.
    CopyMessageText,
    CancelExport,
    DismissMessage,
    /// Finds a command by typing.
    Palette,
    FrameTimings,
    Shortcuts,
    About,
}

/// Commands that have a key, in the order of the list of shortcuts.
pub(crate) const WITH_KEYS: &[Command] = &[
    Command::New,
    Command::Open,
    Command::OpenGallery,
    Command::Save,
    Command::SaveAs,
    Command::Export,
    Command::Quit,
    Command::Undo,
    Command::Redo,
    Command::History,
    Command::PickOperation,
    Command::MoveUp,
    Command::MoveDown,
    Command::TogglePlay,
    Command::Restart,
    Command::StepBack,
    Command::StepForward,
    Command::ToStart,
    Command::ToEnd,
    Command::NewSeed,
    Command::PreviousSeed,
    Command::FaultTool,
    Command::ProfileLine,
    Command::Variations,
    Command::FrameViews,
    Command::ViewThreeQuarter,
    Command::ViewFromAbove,
    Command::ViewFromSide,
    Command::MaximiseHeightmap,
    Command::MaximiseTexture,
    Command::MaximiseScene,
    Command::LeftPanel,
    Command::RightPanel,
    Command::ShowBefore,
    Command::SplitMaps,
    Command::LargerInterface,
    Command::SmallerInterface,
    Command::ResetInterfaceScale,
    Command::Palette,
    Command::FrameTimings,
    Command::Shortcuts,
];

impl Command {
    /// The name in menus; `…` on what opens a dialog.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::New => "New".into(),
            Self::Open => "Open…".into(),
            Self::OpenRecent(_) => "Open recent".into(),
            Self::ClearRecentFiles => "Forget these".into(),
            Self::OpenGallery => "Presets…".into(),
            Self::OpenPreset(_) => "Open preset".into(),
            Self::SavePreset => "Save as preset…".into(),
            Self::Save => "Save".into(),
            Self::SaveAs => "Save as…".into(),
            Self::ImportHeightmap => "Import heightmap…".into(),
            Self::Export => "Export…".into(),
            Self::ExportFor(i) => {
                let label = targets::ALL.get(*i).map_or("", |target| target.label);
                format!("Export for {label}…")
            }
            Self::CopyImportNotes => "Copy the last import notes".into(),
            Self::SaveRender => "Save a picture of the 3-D view…".into(),
            Self::SaveTurntable => "Turntable of the 3-D view…".into(),
            Self::Quit => "Quit".into(),
            Self::Undo => "Undo".into(),
            Self::Redo => "Redo".into(),
            Self::History => "History".into(),
            Self::GoToEntry(_) => "Go to entry".into(),
            Self::PickOperation => "Add step…".into(),
            Self::AddStep(key) => (*key).into(),
            Self::DuplicateStep(_) => "Duplicate".into(),
            Self::DeleteStep(_) => "Delete".into(),
            Self::MoveStep { .. } | Self::MoveType { .. } => "Move".into(),
            Self::MoveUp => "Move the selected card up".into(),
            Self::MoveDown => "Move the selected card down".into(),
            Self::SelectStep(_) => "Select".into(),
            Self::ShowParameter { key, .. } => (*key).into(),
            Self::SeekToStep(_) => "Show the land up to here".into(),
            Self::ChooseFile(_) => "Choose a file…".into(),
            Self::TogglePlay => "Play or pause".into(),
            Self::Restart => "Restart the uplift".into(),
            Self::StepBack => "One iteration back".into(),
            Self::StepForward => "One iteration on".into(),
            Self::ToStart => "To the start".into(),
            Self::ToEnd => "To the end".into(),
            Self::Seek(_) => "Seek".into(),
            Self::NewSeed => "New seed".into(),
            Self::PreviousSeed => "Previous seed".into(),
            Self::FaultTool => "Draw faults".into(),
            Self::AdoptFault { number, .. } => format!("Adopt fault {number}"),
            Self::ProfileLine => "Draw a profile".into(),
            Self::Variations => "Variations".into(),
            Self::AdoptVariation(i) => format!("Adopt variation {}", i + 1),
            Self::ToggleLoop => "Play again and again".into(),
            Self::FrameViews => "Frame the land".into(),
            Self::MaximiseHeightmap => "Heightmap alone".into(),
            Self::MaximiseTexture => "Texture alone".into(),
            Self::MaximiseScene => "3-D view alone".into(),
            Self::ViewThreeQuarter => "Three-quarter 3-D view".into(),
            Self::ViewFromAbove => "3-D view from above".into(),
            Self::ViewFromSide => "3-D view from the side".into(),
            Self::LeftPanel => "Left panel".into(),
            Self::RightPanel => "Right panel".into(),
            Self::WaterLevel => "Water level".into(),
            Self::PreviewSamples(samples) => format!("{samples} samples"),
            Self::ExportSize => "At the size of exports".into(),
            Self::ShowBefore => "Before the last edit (hold)".into(),
            Self::SplitMaps => "Split the maps: before and now".into(),
            Self::Theme(ThemePreference::Dark) => "Dark".into(),
            Self::Theme(ThemePreference::Light) => "Light".into(),
            Self::Theme(ThemePreference::System) => "As the system".into(),
            Self::Scale(percent) => format!("{percent} %"),
            Self::LargerInterface => "Larger interface".into(),
            Self::SmallerInterface => "Smaller interface".into(),
            Self::ResetInterfaceScale => "Interface at its usual size".into(),
            Self::CancelPreview | Self::CancelExport => "Cancel".into(),
            Self::DismissMessage => "Dismiss".into(),
            Self::CopyMessageText => "Copy".into(),
            Self::Palette => "Find a command…".into(),
            Self::FrameTimings => "Show frame times".into(),
            Self::Shortcuts => "Shortcuts".into(),
            Self::About => "About Upthrust".into(),
        }
    }

    /// The keys, if it has any.
    pub(crate) fn shortcut(&self) -> Option<KeyboardShortcut> {
        const SHIFT_COMMAND: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
        let (modifiers, key) = match self {
            Self::New => (Modifiers::COMMAND, Key::N),
            Self::Open => (Modifiers::COMMAND, Key::O),
            Self::Save => (Modifiers::COMMAND, Key::S),
            Self::SaveAs => (SHIFT_COMMAND, Key::S),
            Self::Export => (Modifiers::COMMAND, Key::E),
            Self::Quit => (Modifiers::COMMAND, Key::Q),
            Self::Undo => (Modifiers::COMMAND, Key::Z),
            Self::Redo => (SHIFT_COMMAND, Key::Z),
            Self::PickOperation => (Modifiers::SHIFT, Key::A),
            Self::MoveUp => (Modifiers::ALT, Key::ArrowUp),
            Self::MoveDown => (Modifiers::ALT, Key::ArrowDown),
            Self::TogglePlay => (Modifiers::NONE, Key::Space),
            Self::Restart => (Modifiers::NONE, Key::R),
            Self::StepBack => (Modifiers::NONE, Key::Comma),
            Self::StepForward => (Modifiers::NONE, Key::Period),
            Self::ToStart => (Modifiers::NONE, Key::Home),
            Self::ToEnd => (Modifiers::NONE, Key::End),
            Self::NewSeed => (Modifiers::NONE, Key::N),
            Self::PreviousSeed => (Modifiers::SHIFT, Key::N),
            Self::FaultTool => (Modifiers::NONE, Key::L),
            Self::ProfileLine => (Modifiers::NONE, Key::P),
            Self::Variations => (Modifiers::NONE, Key::V),
            Self::FrameViews => (Modifiers::NONE, Key::F),
            Self::MaximiseHeightmap => (Modifiers::NONE, Key::Num1),
            Self::MaximiseTexture => (Modifiers::NONE, Key::Num2),
            Self::ShowBefore => (Modifiers::NONE, Key::C),
            Self::SplitMaps => (Modifiers::SHIFT, Key::C),
            Self::FrameTimings => (Modifiers::NONE, Key::F3),
            Self::MaximiseScene => (Modifiers::NONE, Key::Num3),
            Self::ViewThreeQuarter => (Modifiers::NONE, Key::G),
            Self::ViewFromAbove => (Modifiers::NONE, Key::T),
            Self::ViewFromSide => (Modifiers::NONE, Key::H),
            Self::Shortcuts => (Modifiers::NONE, Key::F1),
            Self::OpenGallery => (SHIFT_COMMAND, Key::O),
            Self::History => (Modifiers::COMMAND, Key::H),
            Self::LeftPanel => (Modifiers::COMMAND, Key::B),
            Self::RightPanel => (SHIFT_COMMAND, Key::B),
            Self::Palette => (Modifiers::COMMAND, Key::P),
            Self::LargerInterface => (Modifiers::COMMAND, Key::Plus),
            Self::SmallerInterface => (Modifiers::COMMAND, Key::Minus),
            Self::ResetInterfaceScale => (Modifiers::COMMAND, Key::Num0),
            Self::OpenRecent(_)
            | Self::ClearRecentFiles
            | Self::Scale(_)
            | Self::SavePreset
            | Self::ImportHeightmap
            | Self::CopyImportNotes
            | Self::SaveRender
            | Self::SaveTurntable
            | Self::GoToEntry(_)
            | Self::AddStep(_)
            | Self::DuplicateStep(_)
            | Self::DeleteStep(_)
            | Self::MoveStep { .. }
            | Self::MoveType { .. }
            | Self::SelectStep(_)
            | Self::OpenPreset(_)
            | Self::ExportFor(_)
            | Self::ShowParameter { .. }
            | Self::SeekToStep(_)
            | Self::ChooseFile(_)
            | Self::Seek(_)
            | Self::AdoptVariation(_)
            | Self::AdoptFault { .. }
            | Self::ToggleLoop
            | Self::WaterLevel
            | Self::PreviewSamples(_)
            | Self::ExportSize
            | Self::Theme(_)
            | Self::CancelPreview
            | Self::CancelExport
            | Self::DismissMessage
            | Self::CopyMessageText
            | Self::About => return None,
        };
        Some(KeyboardShortcut::new(modifiers, key))
    }

    /// Whether a key that is held down goes on carrying it out.
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

    /// Whether its keys go ahead while a text field has the focus.
    fn leaves_fields(&self) -> bool {
        matches!(
            self,
            Self::New
                | Self::Open
                | Self::OpenGallery
                | Self::Save
                | Self::SaveAs
                | Self::Export
                | Self::Quit
                | Self::Palette
                | Self::Shortcuts
        )
    }

    /// The name with the keys behind it, for tooltips.
    pub(crate) fn tooltip(&self, ui: &Ui) -> String {
        match self.shortcut() {
            Some(shortcut) => format!("{} ({})", self.text(), ui.ctx().format_shortcut(&shortcut)),
            None => self.text(),
        }
    }
}

/// The commands whose keys were pressed. While a text field has the focus its own undo and letters come first, and
/// while something is picked by typing all keys are for that, even before its field has got the focus; what is about
/// the whole document, and help, goes ahead, and the field is left, so that what was typed counts. Another control that
/// has the focus keeps the keys by which it is worked.
pub(crate) fn pressed(ctx: &egui::Context, picking: bool) -> Vec<Command> {
    let focused = ctx.memory(|memory| memory.focused());
    let typing = picking || ctx.text_edit_focused();
    let mut found = Vec::new();
    ctx.input_mut(|input| {
        // Other habits, and the plus of keyboards on which it wants Shift.
        for (key, command) in [(Key::Y, Command::Redo), (Key::Equals, Command::LargerInterface)] {
            let shortcut = KeyboardShortcut::new(Modifiers::COMMAND, key);
            if !typing && take_press(input, &shortcut, command.repeats()) {
                found.push(command);
            }
        }
        // More modifiers first: egui takes Ctrl+Shift+Z for Ctrl+Z too.
        let mut commands: Vec<(KeyboardShortcut, Command)> =
            WITH_KEYS.iter().filter_map(|command| Some((command.shortcut()?, *command))).collect();
        commands.sort_by_key(|(shortcut, _)| !shortcut.modifiers.shift);
        for (shortcut, command) in commands {
            let silent = if picking {
                command != Command::Shortcuts
            } else if typing {
                !command.leaves_fields()
            } else {
                focused.is_some() && shortcut.modifiers.is_none() && WORKS_CONTROLS.contains(&shortcut.logical_key)
            };
            // What is typed after the key that opens the picker is for the picker.
            let opens = found.contains(&Command::PickOperation);
            if !silent && !opens && take_press(input, &shortcut, command.repeats()) {
                found.push(command);
            }
        }
    });
    if typing && !picking && found.iter().any(|command| *command != Command::Shortcuts) {
        ctx.memory_mut(|memory| focused.into_iter().for_each(|id| memory.surrender_focus(id)));
    }
    found
}

/// Keys without modifiers by which controls are worked.
const WORKS_CONTROLS: [Key; 3] = [Key::Space, Key::Home, Key::End];

/// Takes the presses of these keys, and says whether there was one: a key that is only held counts where it repeats.
/// Shift more than is asked for is for the character that the key writes; with Alt it is another key.
fn take_press(input: &mut InputState, shortcut: &KeyboardShortcut, repeats: bool) -> bool {
    let KeyboardShortcut { modifiers: wanted, logical_key } = *shortcut;
    let mut pressed = false;
    input.events.retain(|event| {
        let Event::Key { key, modifiers, pressed: true, repeat, .. } = event else { return true };
        let fits = *key == logical_key && modifiers.matches_logically(wanted) && modifiers.alt == wanted.alt;
        pressed |= fits && (repeats || !repeat);
        !fits
    });
    pressed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_a_key() {
        for (i, a) in WITH_KEYS.iter().enumerate() {
            assert!(a.shortcut().is_some(), "{a:?}");
            for b in &WITH_KEYS[..i] {
                assert_ne!(a.shortcut(), b.shortcut(), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn a_key_that_is_held_repeats_what_goes_step_by_step_and_nothing_else() {
        let pressed_with = |modifiers: Modifiers, key: Key, repeat: bool| {
            let ctx = egui::Context::default();
            let mut found = Vec::new();
            // That a key is held egui knows by the frame before.
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
        assert_eq!(pressed_with(Modifiers::ALT, Key::F, false), [], "Alt makes it another key");
        assert_eq!(pressed_with(Modifiers::ALT, Key::ArrowUp, false), [Command::MoveUp]);
        assert_eq!(pressed_with(command.plus(Modifiers::SHIFT), Key::Equals, false), [Command::LargerInterface]);
    }
}
