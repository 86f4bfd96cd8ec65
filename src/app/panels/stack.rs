//! The left panel: the stack of steps and the parameters of the selected one.

use std::collections::BTreeSet;

use egui::{Align, Layout, RichText, ScrollArea, Ui};
use egui_material_icons::icons::ICON_ADD;

use crate::app::commands::stack_edits::{StepPlace, place_beside, stack_rows};
use crate::app::commands::{Command, FileSlot, ParameterOwner};
use crate::app::dialogs::operation_picker::OperationPicker;
use crate::app::document::Draft;
use crate::app::panels::masks::{masks_ui, share_ui};
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::tools::tool::Tool;
use crate::app::widgets::cards::{Card, CardAction, CardResponse, CardRow, DropPlace, cards_ui};
use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::parameter::{Locks, ParameterContext, ParameterState, group_ui};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{capitalised, heading, icon_button};
use crate::engine::Place;
use crate::engine::cast::ToFloat;
use crate::engine::groups::siblings;
use crate::engine::heightfield::{Extent, Grid, Heightfield};
use crate::engine::mask::{Mask, MaskSource, NamedMasks};
use crate::engine::operations::drawn_faults::DrawnFaults;
use crate::engine::operations::group::Start;
use crate::engine::operations::paths::{Path, PathKind};
use crate::engine::operations::stamps::Stamp;
use crate::engine::operations::{AnyOperation, PartReport};
use crate::engine::parameters::{Group, List, Parameter, ParameterError, Point, Value, Values, group_values};
use crate::engine::recipe::{Blend, Recipe, Step, StepSettings, Timeline};
use crate::engine::recipe_masks::MaskOwner;
use crate::project::{Project, ProjectSettings};
use crate::worker::InputFiles;

/// The parameter of a step that has a control on its card.
const ON_CARD: &str = "enabled";

/// Parameters of an operation that are set on the maps.
const ON_MAP: [&str; 1] = ["skipped"];

/// The share of the panel's height that the cards may take.
const MAX_CARDS_SHARE: f32 = 0.4;

/// What the panel shows besides the draft, and the state of its widgets.
pub(crate) struct StackContext<'a> {
    /// Iterations done on the timeline.
    pub(crate) at: u32,
    pub(crate) timeline: &'a Timeline,
    /// The step whose parameters were shown last, by its [id](ParameterState::step_id).
    pub(crate) last_shown: &'a mut Option<u32>,
    /// The heights of the steps' cards.
    pub(crate) row_heights: &'a mut RowHeights,
    /// The seeds of the groups whose members are not listed.
    pub(crate) folded: &'a BTreeSet<u32>,
    /// The index of the step whose parameters are shown.
    pub(crate) selected: usize,
    /// The step up to which the steps from that one on are selected, to be grouped.
    pub(crate) selected_to: Option<usize>,
    /// The terrain that is shown.
    pub(crate) terrain: Option<&'a Heightfield>,
    /// The reports on the parts of the selected step.
    pub(crate) reports: &'a [PartReport],
    /// Whether the preview is out of date or coarse, and with it the reports.
    pub(crate) is_outdated: bool,
    /// The warnings about the selected step.
    pub(crate) warnings: &'a mut KnownWarnings,
    /// The parameter to scroll to and to focus.
    pub(crate) reveal: Option<(ParameterOwner, &'static str)>,
    pub(crate) thumbnails: &'a Thumbnails,
    pub(crate) operation_picker: &'a mut OperationPicker,
    pub(crate) parameters: &'a mut ParameterState,
}

/// The warnings about an operation, which are found again when it changes: its lists may be long.
#[derive(Default)]
pub(crate) struct KnownWarnings(Option<(AnyOperation, Vec<ParameterError>)>);

impl KnownWarnings {
    fn of(&mut self, operation: &AnyOperation) -> &[ParameterError] {
        if self.0.as_ref().is_none_or(|(known, _)| known != operation) {
            self.0 = Some((operation.clone(), operation.warnings()));
        }
        self.0.as_ref().map_or(&[], |(_, warnings)| warnings)
    }
}

/// Draws the panel; returns the user's command.
pub(crate) fn stack_ui(ui: &mut Ui, draft: &mut Draft, context: &mut StackContext) -> Option<Command> {
    let Draft { project: Project { recipe, origin, files, .. }, settings: ProjectSettings { view, .. } } = draft;
    let done = context.timeline.step_positions(context.at);
    // A step that was added in this frame has none yet.
    let progress = |i: usize| done.get(i).copied().zip(context.timeline.steps().get(i).copied()).unwrap_or_default();
    let mut command = header_ui(ui, context);
    if recipe.stack.is_empty() {
        ui.weak("No steps yet. Add one with the plus above; faults are a good start.");
    }
    // A long stack scrolls, so that the parameters below it stay where they are.
    let max_height = MAX_CARDS_SHARE * ui.available_height();
    ScrollArea::vertical().id_salt("cards").max_height(max_height).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        // The top of the list is the top of the stack.
        let rows = stack_rows(&recipe.stack, context.folded);
        let extent = recipe.world.extent();
        let selected = context.selected_to.and_then(|to| siblings(&recipe.stack, context.selected, to));
        let is_selected = |i: usize| i == context.selected || selected.as_ref().is_some_and(|all| all.contains(&i));
        let placements = recipe.placements();
        let action = cards_ui(ui, &rows, context.row_heights, |ui, i| {
            let can_act = placements[i].is_in_enabled;
            let step = &mut recipe.stack[i];
            let open = step.is_group().then(|| !context.folded.contains(&step.settings.seed));
            card_ui(ui, step, extent, progress(i), is_selected(i), open, can_act)
        });
        command = command.take().or(action.and_then(|(i, action)| command_for(&recipe.stack, &rows, i, action)));
    });
    ui.add_space(4.0);
    ui.separator();
    ui.add_space(4.0);
    let mut parameters = ScrollArea::vertical().id_salt("parameters").auto_shrink(false);
    // Another step's parameters are shown from the first one on.
    let place = [context.selected, recipe.stack.len()];
    let id = recipe
        .stack
        .get(context.selected)
        .map(|step| context.parameters.step_id(place, step.operation.key(), step.settings.seed));
    if std::mem::replace(context.last_shown, id) != id {
        parameters = parameters.vertical_scroll_offset(0.0);
    }
    parameters.show(ui, |ui| {
        command = command.take().or(selected_ui(ui, recipe, files, &mut view.locked, context));
        command = command.take().or(masks_ui(ui, recipe, context.parameters));
        ui.add_space(12.0);
        heading(ui, "World");
        let reveal = context.reveal.filter(|(of, _)| *of == ParameterOwner::World).map(|(_, key)| key);
        let mut world = ParameterContext { reveal, ..ParameterContext::new(context.parameters) };
        ui.push_id("world", |ui| group_ui(ui, &mut recipe.world, &[], &mut world));
        let mut place = Place { origin: origin.clone() };
        let mut parameters = ParameterContext::new(context.parameters);
        ui.push_id("place", |ui| group_ui(ui, &mut place, &[], &mut parameters));
        *origin = place.origin;
    });
    command
}

/// The heading with the button that opens the operation picker, and the picker below it.
fn header_ui(ui: &mut Ui, context: &mut StackContext) -> Option<Command> {
    let header = ui.horizontal(|ui| {
        heading(ui, "Stack");
        let right = Layout::right_to_left(Align::Center);
        ui.with_layout(right, |ui| {
            let plus = icon_button(ui, ICON_ADD, &Command::PickOperation.tooltip(ui));
            // While the picker is open, a click on the plus is a click outside the picker, which closes it.
            let opens = plus.clicked() && !context.operation_picker.is_open();
            let added = context.operation_picker.ui(&plus, context.thumbnails);
            if opens { Some(Command::PickOperation) } else { added }
        })
    });
    header.inner.inner
}

/// The card of a step. `progress` is the number of its iterations that are done, and of all.
/// `open` says whether the members of a group are listed, and `can_act` whether the groups around the step are enabled.
fn card_ui(
    ui: &mut Ui,
    step: &mut Step,
    extent: Extent,
    progress: (u32, u32),
    selected: bool,
    open: Option<bool>,
    can_act: bool,
) -> CardResponse {
    let (done, iterations) = progress;
    // Several drawn faults may share one iteration.
    let count = match &step.operation {
        AnyOperation::DrawnFaults(DrawnFaults { faults }) => u32::try_from(faults.len()).unwrap_or(u32::MAX),
        _ => iterations,
    };
    let has_problem =
        can_act && step.settings.enabled && step.operation.check(Grid::fitted(extent, CHECKED_SAMPLES)).is_err();
    let title = step.title().to_string();
    let card = Card {
        name: &title,
        doc: step.operation.doc(),
        note: match count {
            _ if has_problem => "problem".into(),
            0 => String::new(),
            count => count.to_string(),
        },
        note_doc: match &step.operation {
            _ if has_problem => "Select the step to see what is wrong",
            AnyOperation::DrawnFaults(_) => "The number of its faults",
            _ => "Its iterations on the timeline",
        },
        enabled: &mut step.settings.enabled,
        colour: None,
        thumbnail: None,
        solo: None,
        selected,
        actions: match open {
            Some(_) => &[CardAction::Rename, CardAction::ShowUpToHere, CardAction::Group, CardAction::Ungroup],
            None => &[CardAction::Rename, CardAction::ShowUpToHere, CardAction::Group],
        },
        open,
        progress: (iterations > 0).then(|| done.to_f32() / iterations.to_f32()),
    };
    card.ui(ui, |_| {})
}

fn command_for(stack: &[Step], rows: &[CardRow], i: usize, action: CardAction) -> Option<Command> {
    let beside = |up: bool| place_beside(stack, rows, i, up).map(|to| Command::MoveStep { from: i, to });
    Some(match action {
        CardAction::Select | CardAction::Solo => Command::SelectStep(i),
        CardAction::SelectTo => Command::SelectStepsTo(i),
        CardAction::Rename => Command::ShowParameter { of: ParameterOwner::Step(i), key: "name" },
        CardAction::ShowUpToHere => Command::SeekToStep(i),
        CardAction::Delete => Command::DeleteStep(i),
        CardAction::Duplicate => Command::DuplicateStep(i),
        CardAction::MoveUp => return beside(true),
        CardAction::MoveDown => return beside(false),
        CardAction::Fold => Command::FoldGroup(i),
        CardAction::Group => Command::Group(Some(i)),
        CardAction::Ungroup => Command::Ungroup(Some(i)),
        CardAction::Drop(DropPlace { below, depth, .. }) => {
            Command::MoveStep { from: i, to: StepPlace { gap: below.map_or(0, |below| below + 1), depth } }
        }
    })
}

/// The parameters of a new step of the same operation, without shapes, that differ from the defaults of its table.
fn new_values(recipe: &Recipe, step: usize) -> Option<Values> {
    let new = recipe.new_step(recipe.stack.get(step)?.operation.with_defaults().emptied()).operation;
    let differs = |(key, value): &(&'static str, Value)| {
        new.table().iter().any(|parameter| parameter.key == *key && parameter.default != *value)
    };
    Some(group_values(new.group()).iter().map(|(key, value)| (key, value.clone())).filter(differs).collect())
}

/// The parameters of the selected step: first its operation's, then those that all steps have.
fn selected_ui(
    ui: &mut Ui,
    recipe: &mut Recipe,
    files: &InputFiles,
    locked: &mut List<String>,
    context: &mut StackContext,
) -> Option<Command> {
    let selected = context.selected;
    let reveal = context.reveal.filter(|(of, _)| *of == ParameterOwner::Step(selected)).map(|(_, key)| key);
    let place = [selected, recipe.stack.len()];
    let defaults = new_values(recipe, selected).unwrap_or_default();
    let is_drawn = |tool: Tool| {
        let of_tool = |step: &Step| Tool::of_operation(step.operation.key()) == Some(tool);
        recipe.stack.iter().any(|step| of_tool(step) && step.operation.shapes() > 0)
    };
    let drawn = [Tool::Path, Tool::Pad].map(is_drawn);
    let step = recipe.stack.get_mut(selected)?;
    // A step keeps its seed when it moves, and with it what is unfolded.
    let seed = step.settings.seed;
    let id = context.parameters.step_id(place, step.operation.key(), seed);
    ui.horizontal_wrapped(|ui| {
        heading(ui, step.title());
        // What a step with a name of its own is.
        if step.title() != step.operation.label() {
            ui.weak(RichText::new(step.operation.label()).size(11.0));
        }
    });
    if let Err(error) = step.operation.check(Grid::fitted(recipe.world.extent(), CHECKED_SAMPLES)) {
        let problem = error.in_words(step.operation.table());
        ui.colored_label(ui.visuals().error_fg_color, format!("No effect: {problem}"));
    }
    warnings_ui(ui, context.warnings.of(&step.operation), step.operation.table());
    empty_ui(ui, &step.operation);
    if step.operation.has_reports() {
        ui.push_id(seed, |ui| reports_ui(ui, context.reports, context.is_outdated, step.operation.shapes()));
    }
    let locks = Some(Locks { names: locked, step_seed: seed });
    let offered = match &step.operation {
        AnyOperation::Symmetry(symmetry) => {
            Some(("keep", symmetry.kind.sides().iter().map(|side| side.key()).collect()))
        }
        _ => None,
    };
    let mut operation =
        ParameterContext { locks, reveal, offered, defaults, ..ParameterContext::new(context.parameters) };
    let before = step.operation.clone();
    let group = step.operation.group_mut();
    let wants_file = ui.push_id(("step", id), |ui| group_ui(ui, group, &ON_MAP, &mut operation)).inner;
    blend_group(&before, step);
    if let (AnyOperation::Symmetry(before), AnyOperation::Symmetry(symmetry)) = (&before, &mut step.operation)
        && before.kind != symmetry.kind
        && let sides = symmetry.kind.sides()
        && !sides.contains(&symmetry.keep)
    {
        symmetry.keep = sides[0];
    }
    if let Some(terrain) = context.terrain {
        begin_heights(&before, &mut step.operation, terrain);
    }
    ui.add_space(8.0);
    heading(ui, "Step");
    // A step has a seed of its own from the beginning.
    let defaults =
        [("blend", Value::Choice(step.operation.default_blend().key())), ("seed", Value::Integer(step.settings.seed))];
    let defaults = defaults.into_iter().collect();
    let mut settings = ParameterContext { reveal, defaults, ..ParameterContext::new(context.parameters) };
    let hidden: &[&str] = if step.operation.uses_seed() { &[ON_CARD] } else { &[ON_CARD, "seed"] };
    let group = &mut step.settings;
    let wants_mask = ui.push_id(("settings", id), |ui| group_ui(ui, group, hidden, &mut settings)).inner;
    warnings_ui(ui, step.blend_warning().as_slice(), step.settings.table());
    missing_ui(ui, &step.settings, &recipe.masks, files);
    unpainted_ui(ui, &step.settings, drawn);
    if let AnyOperation::Stamps(stamps) = &step.operation
        && let Err(error) = stamps.check_files(&|name| name.is_shipped() || files.contains_key(name))
    {
        ui.colored_label(ui.visuals().error_fg_color, error.to_string());
    }
    let item = context.parameters.take_file_item();
    let mask =
        wants_mask.map(|_| FileSlot::Mask { owner: MaskOwner::Step(selected), source: item.unwrap_or_default() });
    let of_operation = match (&step.operation, item) {
        (AnyOperation::Stamps(_), Some(stamp)) => FileSlot::Stamp { step: selected, stamp },
        _ => FileSlot::Operation(selected),
    };
    let slot = wants_file.map(|_| of_operation).or(mask);
    let shared = share_ui(ui, recipe, MaskOwner::Step(selected));
    slot.map(Command::ChooseFile).or(shared)
}

/// A group that was just made to begin on flat terrain is added, and one on the terrain below replaces it.
fn blend_group(before: &AnyOperation, step: &mut Step) {
    if let (AnyOperation::StepGroup(before), AnyOperation::StepGroup(group)) = (before, &step.operation)
        && before.on != group.on
    {
        step.settings.blend = match (group.on, step.settings.blend) {
            (Start::Flat, Blend::Replace) => Blend::Add,
            (Start::Below, Blend::Add) => Blend::Replace,
            (_, blend) => blend,
        };
    }
}

/// Heights of nodes and pads that were just switched on begin at the height of the terrain there.
fn begin_heights(before: &AnyOperation, operation: &mut AnyOperation, terrain: &Heightfield) {
    let begin = |known: Option<f64>, height_m: &mut Option<f64>, at: Point| {
        if known.is_none() && height_m.is_some() {
            *height_m = Some((10.0 * f64::from(terrain.height_at(at.x_m, at.z_m))).round() / 10.0);
        }
    };
    match (before, operation) {
        (AnyOperation::Paths(before), AnyOperation::Paths(after)) if before != after => {
            for (known, path) in before.paths.iter().zip(after.paths.iter_mut()) {
                if path.kind != known.kind {
                    path.adapt_to_kind(known.kind);
                }
                // The heights of ridges and valleys are above the terrain.
                if matches!(path.kind, PathKind::Ridge | PathKind::Valley) {
                    for (known, node) in known.nodes.iter().zip(path.nodes.iter_mut()) {
                        node.height_m = node.height_m.map(|own| known.height_m.map_or(path.height_m, |_| own));
                    }
                    if is_first_height(known, path) {
                        path.hold_nodes();
                    }
                }
                if matches!(path.kind, PathKind::Road | PathKind::River) && known.nodes != path.nodes {
                    for (known, node) in known.nodes.iter().zip(path.nodes.iter_mut()) {
                        begin(known.height_m, &mut node.height_m, node.at_m);
                    }
                }
            }
        }
        (AnyOperation::Pads(before), AnyOperation::Pads(after)) if before != after => {
            for (known, pad) in before.pads.iter().zip(after.pads.iter_mut()) {
                begin(known.height_m, &mut pad.height_m, pad.centre_m);
            }
        }
        (AnyOperation::Stamps(before), AnyOperation::Stamps(after)) if before != after => {
            for (known, stamp) in before.stamps.iter().zip(after.stamps.iter_mut()) {
                if known.height_m.is_none() && stamp.height_m.is_some() {
                    // About the height that it has now: the range of the terrain below it.
                    let [low, high] = range_below(terrain, stamp);
                    stamp.height_m = Some((high - low).round().max(1.0));
                }
            }
        }
        _ => {}
    }
}

/// Whether a path has got its first nodes with heights, and no others.
fn is_first_height(before: &Path, after: &Path) -> bool {
    let held = |path: &Path| path.nodes.iter().filter(|node| node.height_m.is_some()).count();
    before.nodes.len() == after.nodes.len() && held(before) == 0 && held(after) > 0
}

/// The lowest and the highest point of the terrain below a stamp.
fn range_below(terrain: &Heightfield, stamp: &Stamp) -> [f64; 2] {
    const PLACES: usize = 32;
    let (sin, cos) = libm::sincos(stamp.turn_deg.to_radians());
    let share = |i: usize| (i.to_f64() + 0.5) / PLACES.to_f64() - 0.5;
    let places = (0..PLACES * PLACES).map(|i| {
        let [x, z] = [share(i % PLACES) * stamp.size_m.x_m, share(i / PLACES) * stamp.size_m.z_m];
        [stamp.centre_m.x_m + x * cos - z * sin, stamp.centre_m.z_m + x * sin + z * cos]
    });
    let heights = places.map(|[x_m, z_m]| f64::from(terrain.height_at(x_m, z_m)));
    heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], height| [low.min(height), high.max(height)])
}

/// Says what a step does that the user hardly means. Of many warnings the first ones are shown.
fn warnings_ui(ui: &mut Ui, warnings: &[ParameterError], table: &'static [Parameter]) {
    const MAX: usize = 3;
    for warning in warnings.iter().take(MAX) {
        ui.label(RichText::new(warning.in_words(table)).size(11.0).color(ui.visuals().warn_fg_color));
    }
    if let Some(more) = warnings.len().checked_sub(MAX).filter(|more| *more > 0) {
        ui.label(RichText::new(format!("And {more} more")).size(11.0).color(ui.visuals().warn_fg_color));
    }
}

/// Says what the parts of a step are like once they are built; the reports on many parts scroll. Reports of an outdated
/// preview are dimmed, because they are not final. As many reports keep the greatest height that they had, so that the
/// parameters below do not move under a drag.
fn reports_ui(ui: &mut Ui, reports: &[PartReport], is_outdated: bool, parts: usize) {
    ui.multiply_opacity(if is_outdated { 0.5 } else { 1.0 });
    let id = ui.scope_id().with("height of reports");
    let known: Option<(usize, f32)> = ui.data(|data| data.get_temp(id));
    // The preview does not have the reports on a step yet that was just selected.
    let is_waiting = reports.is_empty() && parts > 0;
    let kept = known.filter(|(count, _)| *count == reports.len() || is_waiting);
    let (count, before) = kept.unwrap_or((reports.len(), 0.0));
    let max_height = REPORT_HEIGHT * parts.clamp(1, MAX_REPORTS).to_f32();
    let top = ui.cursor().top();
    let area = ScrollArea::vertical().id_salt("reports").auto_shrink([false, true]).min_scrolled_height(max_height);
    area.max_height(max_height).show(ui, |ui| {
        for PartReport { title, text, warning, .. } in reports {
            ui.add_space(2.0);
            ui.label(RichText::new(format!("{title}: {text}")).size(11.0).color(colours(ui).weak));
            if let Some(warning) = warning {
                ui.label(RichText::new(capitalised(warning)).size(11.0).color(ui.visuals().warn_fg_color));
            }
        }
    });
    let height = ui.cursor().top() - top;
    ui.add_space((before - height).max(0.0));
    ui.data_mut(|data| data.insert_temp(id, (count, height.max(before))));
}

/// The height of a report above the parameters, points, and the most reports that are in view.
const REPORT_HEIGHT: f32 = 96.0;
const MAX_REPORTS: usize = 2;

/// The samples along the longer side of the grid for which the selected step is checked. Only its proportions matter.
const CHECKED_SAMPLES: usize = 257;

/// Says that nothing was drawn in a step yet, and what to draw with.
fn empty_ui(ui: &mut Ui, operation: &AnyOperation) {
    if let Some(tool) = Tool::of_operation(operation.key()).filter(|_| operation.shapes() == 0) {
        ui.weak(format!("Nothing is drawn yet. {}", tool_to_use(ui, tool)));
    }
}

/// Which tool to use, such as "Use “Place stamps” (U) on a view."
fn tool_to_use(ui: &Ui, tool: Tool) -> String {
    let keys = Command::Tool(tool).shortcut().map(|shortcut| ui.ctx().format_shortcut(&shortcut));
    let keys = keys.map(|keys| format!(" ({keys})")).unwrap_or_default();
    format!("Use \u{201c}{}\u{201d}{keys} on a view.", tool.text())
}

/// Says what the masks of a step lack.
fn missing_ui(ui: &mut Ui, settings: &StepSettings, named: &NamedMasks, files: &InputFiles) {
    let missing = settings.mask.iter().filter_map(|mask| mask.missing(named, &|name| files.contains_key(name)));
    for (_, what) in missing {
        let text = format!("{}. As it is, the step has no effect.", capitalised(what));
        ui.colored_label(ui.visuals().error_fg_color, text);
    }
}

/// Says what has still to be painted or drawn for the masks of a step; `drawn`: whether there are paths and pads.
fn unpainted_ui(ui: &mut Ui, settings: &StepSettings, [has_paths, has_pads]: [bool; 2]) {
    let is_unpainted = |mask: &Mask| mask.source == MaskSource::Painted && mask.strokes.is_empty();
    let has = |source: MaskSource| settings.mask.iter().any(|mask| mask.source == source);
    let notes = [
        (settings.mask.iter().any(is_unpainted), "Nothing is painted in the mask yet", Tool::MaskBrush),
        (has(MaskSource::Path) && !has_paths, "The mask is based on paths, but there are none yet", Tool::Path),
        (has(MaskSource::Pad) && !has_pads, "The mask is based on pads, but there are none yet", Tool::Pad),
    ];
    for (_, text, tool) in notes.into_iter().filter(|(is_missing, ..)| *is_missing) {
        ui.weak(format!("{text}. {}", tool_to_use(ui, tool)));
    }
}

#[cfg(test)]
mod tests {
    use egui::Vec2;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;

    #[test]
    fn the_height_of_reports_is_kept_until_their_number_changes() {
        let report = |lines: usize| PartReport {
            title: "Road".into(),
            text: "steep\n".repeat(lines),
            warning: None,
            line: None,
            kept_m: Vec::new(),
        };
        let mut window = Harness::builder().with_size(Vec2::new(300.0, 500.0)).build_ui_state(
            |ui, (reports, parts): &mut (Vec<PartReport>, usize)| {
                reports_ui(ui, reports, false, *parts);
                ui.label("below");
            },
            (vec![], 0),
        );
        let mut top_with = |reports: Vec<PartReport>, parts: usize| {
            *window.state_mut() = (reports, parts);
            window.run_steps(3);
            window.get_by_label("below").rect().top()
        };
        let two = top_with(vec![report(3), report(3)], 2);
        assert_eq!(top_with(vec![report(3), report(1)], 2), two, "as while a slider is dragged");
        assert_eq!(top_with(vec![], 2), two, "as while the preview is on its way");
        // One of them was disabled, or removed, which the preview knows later.
        assert!(top_with(vec![report(3)], 2) < two - 20.0);
        let two = top_with(vec![report(3), report(3)], 1);
        assert!(top_with(vec![report(3)], 1) < two - 20.0);
        assert!(top_with(vec![], 0) < two - 60.0);
    }
}
