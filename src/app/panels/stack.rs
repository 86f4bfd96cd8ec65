//! The left panel: the stack of steps and the parameters of the selected one.

use std::cell::RefCell;

use egui::{Align, Layout, ScrollArea, Ui};
use egui_material_icons::icons::ICON_ADD;

use crate::app::commands::{Command, FileSlot};
use crate::app::dialogs::operation_picker::OperationPicker;
use crate::app::document::Draft;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::cards::{Card, CardAction, CardResponse, cards_ui};
use crate::app::widgets::parameter::{Guide, Locks, Scope, group_ui, group_ui_guided};
use crate::app::widgets::{heading, icon_button};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::drawn_faults::DrawnFaults;
use crate::engine::parameters::Range;
use crate::engine::recipe::Recipe;
use crate::project::{Project, ProjectSettings};

/// Parameters of a step that have a control of their own on its card.
const ON_THE_CARD: [&str; 1] = ["enabled"];
/// Those that are set on the maps.
const ON_THE_MAP: [&str; 1] = ["skipped"];

/// What the panel draws on beside the project.
pub(crate) struct Around<'a> {
    /// Iterations done of the timeline.
    pub(crate) at: u32,
    /// The step whose parameters are seen.
    pub(crate) selected: usize,
    /// The heights that there are, metres.
    pub(crate) heights_m: Option<Range>,
    /// The parameter that is to be brought into sight.
    pub(crate) reveal: Option<&'static str>,
    pub(crate) thumbnails: &'a Thumbnails,
}

pub(crate) fn stack_ui(
    ui: &mut Ui,
    draft: &mut Draft,
    operation_picker: &mut OperationPicker,
    around: &Around,
) -> Option<Command> {
    let Around { at, selected, thumbnails, .. } = *around;
    let Draft { project: Project { recipe, .. }, settings: ProjectSettings { view, .. } } = draft;
    let mut command = None;
    let done = recipe.step_positions(at);
    ui.horizontal(|ui| {
        heading(ui, "Stack");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let plus = icon_button(ui, ICON_ADD, &Command::PickOperation.tooltip(ui));
            // A click on the plus while the picker is open is a click beside it, which closes it.
            if plus.clicked() && !operation_picker.is_open() {
                command = Some(Command::PickOperation);
            }
            command = command.take().or(operation_picker.ui(&plus, thumbnails));
        });
    });
    if recipe.stack.is_empty() {
        ui.weak("No steps yet. Add one with the plus above: faults raise land out of the plain.");
    }
    // A long stack scrolls, so that the parameters below it keep their place.
    let most = 0.4 * ui.available_height();
    ScrollArea::vertical().id_salt("cards").max_height(most).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        // Top of the list is top of the stack.
        let places: Vec<usize> = (0..recipe.stack.len()).rev().collect();
        let deed = cards_ui(ui, &places, |ui, i| card_ui(ui, recipe, i, done[i], i == selected));
        command = command.take().or(deed.map(|(i, deed)| command_of(i, deed)));
    });
    ui.add_space(4.0);
    ui.separator();
    ui.add_space(4.0);
    ScrollArea::vertical().id_salt("parameters").auto_shrink(false).show(ui, |ui| {
        command = command.take().or(selected_ui(ui, recipe, &mut view.locked, around));
        ui.add_space(12.0);
        heading(ui, "World");
        ui.push_id("world", |ui| group_ui(ui, &mut recipe.world, &[]));
    });
    command
}

/// A step's card: on or off, its name, and what can be done with it.
fn card_ui(ui: &mut Ui, recipe: &mut Recipe, i: usize, done: u32, selected: bool) -> CardResponse {
    let step = &mut recipe.stack[i];
    let iterations = step.operation.iterations();
    // Drawn faults may come together.
    let count = match &step.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => u32::try_from(faults.len()).unwrap_or(u32::MAX),
        _ => iterations,
    };
    let title = step.title().to_string();
    let card = Card {
        name: &title,
        doc: step.operation.doc(),
        note: if count > 0 { count.to_string() } else { String::new() },
        enabled: &mut step.settings.enabled,
        colour: None,
        picture: None,
        solo: None,
        selected,
        // Where in its own iterations the timeline stands; nothing once it is whole.
        more: &[CardAction::Rename, CardAction::SeekToStep],
        progress: (iterations > 0).then(|| done as f32 / iterations as f32),
    };
    card.ui(ui, |_| {})
}

fn command_of(i: usize, deed: CardAction) -> Command {
    match deed {
        CardAction::Select | CardAction::Solo => Command::SelectStep(i),
        CardAction::Rename => Command::ShowParameter { step: i, key: "name" },
        CardAction::SeekToStep => Command::SeekToStep(i),
        CardAction::Delete => Command::DeleteStep(i),
        CardAction::Duplicate => Command::DuplicateStep(i),
        CardAction::MoveTo(to) => Command::MoveStep { from: i, to },
    }
}

/// The parameters of the selected step: its operation's own, then how it is joined to what is below.
fn selected_ui(ui: &mut Ui, recipe: &mut Recipe, locked: &mut Vec<String>, around: &Around) -> Option<Command> {
    let Around { selected, heights_m, reveal, .. } = *around;
    let step = recipe.stack.get_mut(selected)?;
    heading(ui, step.title());
    let names = RefCell::new(std::mem::take(locked));
    let locks = Some(Locks { names: &names, step_seed: step.settings.seed });
    let guide = Guide { locks, reveal, ..Default::default() };
    let operation = step.operation.group_mut();
    let wants_file = ui.push_id(("step", selected), |ui| group_ui_guided(ui, operation, &ON_THE_MAP, guide)).inner;
    *locked = names.into_inner();
    ui.add_space(8.0);
    heading(ui, "Step");
    // A mask by height slides over the heights that there are.
    let scopes: Vec<Scope> =
        heights_m.iter().map(|range| Scope { key: "elevation_m", range: *range, unit: "m" }).collect();
    let guide = Guide { scopes: &scopes, reveal, ..Default::default() };
    let wants_mask =
        ui.push_id(("settings", selected), |ui| group_ui_guided(ui, &mut step.settings, &ON_THE_CARD, guide)).inner;
    let slot = wants_file.map(|_| FileSlot::Operation(selected)).or(wants_mask.map(|_| FileSlot::Mask(selected)));
    slot.map(Command::ChooseFile)
}
