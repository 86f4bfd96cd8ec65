//! What an export will write, how to import it, what is not supported, and what it costs.

use egui::{ScrollArea, Ui};

use super::text::{duration, file_line, steps_ui};
use crate::app::dialogs::byte_size::bytes;
use crate::app::widgets::theme::colours;
use crate::engine::parameters::Band;
use crate::files::export::{CostEstimate, HeightmapOrder, Order, Plan, estimated_import_steps};
use crate::files::formats::heightmap::{Samples, WrittenFormat};

/// The most files that are listed.
pub(super) const MAX_LISTED: usize = 64;

/// The greatest height of the list of files, as a share of the window.
const LIST_SHARE: f32 = 0.25;

/// What the dialog knows about the export beyond its plan.
pub(super) struct SummaryContext {
    /// The height range of the preview, if it shows the exported terrain.
    pub(super) heights_m: Option<Band>,
    /// The iteration that is shown and the last one, if they differ.
    pub(super) unfinished_position: Option<[u32; 2]>,
    /// The memory that the export needs.
    pub(super) memory_bytes: u64,
    /// The free memory, if known.
    pub(super) available_bytes: Option<u64>,
    /// The cost: `None` while it is being estimated, `Some(None)` if it cannot be.
    pub(super) cost: Option<Option<CostEstimate>>,
}

/// The greatest height of the warnings, as a share of the height of the screen.
const WARNINGS_SHARE: f32 = 0.4;

/// Shows the files and the import steps.
pub(super) fn summary_ui(ui: &mut Ui, plan: &Plan, context: &SummaryContext) {
    let (order, files) = (plan.order(), plan.files());
    ui.label(match files.len() {
        1 => format!("1 file, at most {}", bytes(plan.max_bytes())),
        count => format!("{count} files, at most {} in all", bytes(plan.max_bytes())),
    });
    let height = LIST_SHARE * ui.ctx().content_rect().height();
    let list = ScrollArea::vertical().id_salt("export files").max_height(height).auto_shrink([false, true]);
    list.show(ui, |ui| {
        for file in files.iter().take(MAX_LISTED) {
            ui.weak(file_line(file, order));
        }
        if files.len() > MAX_LISTED {
            ui.weak(format!("and {} more", files.len() - MAX_LISTED));
        }
    });
    let steps = heights_of_steps(order, context).map(|heights_m| estimated_import_steps(plan, heights_m));
    let steps = steps.unwrap_or_default();
    if !steps.is_empty() {
        ui.add_space(8.0);
        ui.label(match order.fixed_range_m() {
            Some(_) => "Import steps",
            None => "Import steps, with the heights of the preview; the exported files have the exact ones",
        });
        steps_ui(ui, &steps);
    }
}

/// Shows what the user should know before the export.
pub(super) fn warnings_ui(ui: &mut Ui, plan: &Plan, context: &SummaryContext) {
    let order = plan.order();
    let height = WARNINGS_SHARE * ui.ctx().content_rect().height();
    let show = |ui: &mut Ui| {
        for warning in warnings(order, context.heights_m) {
            ui.colored_label(colours(ui).accent_text, warning);
        }
        if let Some([at, total]) = context.unfinished_position {
            let are_missing = order.target.is_some() && heights_of_steps(order, context).is_none();
            let note = if are_missing { "; the import steps for the engine are shown after the export" } else { "" };
            let text = format!("The view shows iteration {at} of {total}. The finished terrain is exported{note}.");
            ui.colored_label(colours(ui).accent_text, text);
        }
    };
    ui.scope(|ui| {
        // The room that is left in this frame does not limit them: the choices above give way.
        ui.set_max_height(height);
        let list = ScrollArea::vertical().id_salt("export warnings").max_height(height);
        list.auto_shrink([false, true]).show(ui, show);
    });
}

/// Shows what the export costs.
pub(super) fn cost_ui(ui: &mut Ui, plan: &Plan, context: &SummaryContext) {
    let free = context.available_bytes.map_or(String::new(), |available| format!(" ({} free)", bytes(available)));
    let time = match context.cost {
        Some(Some(cost)) => format!("about {}", duration(cost.seconds(plan))),
        Some(None) => "an unknown time".into(),
        None => "… (estimating)".into(),
    };
    ui.weak(format!("Takes {time} and needs about {} of memory{free}", bytes(context.memory_bytes)));
}

/// The heights that the import steps state; `None` if they are not known before the export.
fn heights_of_steps(order: &Order, context: &SummaryContext) -> Option<Band> {
    context.heights_m.or(order.fixed_range_m().filter(|_| has_only_integers(order)))
}

/// Whether all heightmaps have integers, whose range is the fixed range if there is one.
fn has_only_integers(order: &Order) -> bool {
    order.heightmaps.iter().all(|HeightmapOrder { path, encoding }| {
        WrittenFormat::from_path(path).is_ok_and(|format| matches!(format.samples(*encoding), Samples::Integers { .. }))
    })
}

/// What is not supported, as far as it is known before anything is computed.
fn warnings(order: &Order, heights_m: Option<Band>) -> Vec<String> {
    let of_target = order.target.map(|target| target.warnings(order.grid, &order.recipe.texture));
    let mut warnings = of_target.unwrap_or_default();
    if let (Some(range), Some(own)) = (order.fixed_range_m(), heights_m)
        && (own.min < range.min || own.max > range.max)
    {
        warnings.push(format!(
            "The terrain ranges from {:.0} to {:.0} m; heights outside {} to {} m will be clamped.",
            own.min, own.max, range.min, range.max
        ));
    }
    warnings
}
