//! Drawing of faults and their handles on the maps.

use egui::{Align2, Color32, Pos2, Rect, Shape, Stroke, Ui, Vec2};

use crate::app::tools::fault_tool::drawn_faults::{FaultIndex, fault_at, is_own, length_m, strike_deg};
use crate::app::tools::fault_tool::handles::{ARROW_AT, Handle, HandlePositions, LINE_REACH, ends};
use crate::app::tools::fault_tool::random_faults::{RandomFault, SHOWN_WITHIN};
use crate::app::views::map_transform::MapTransform;
use crate::app::views::overlay::{length, note};
use crate::app::widgets::theme::colours;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::operations::drawn_faults::DrawnFault;
use crate::engine::recipe::Recipe;

/// The position of the tool's notes: in a corner of the pane, below the controls and away from the fault.
pub(super) fn note_position(pane: Rect) -> Pos2 {
    pane.min + Vec2::new(8.0, 36.0)
}

/// Draws the random faults near the pointer, and a note about the one that a click would edit.
pub(super) fn draw_random_faults(ui: &Ui, transform: &MapTransform, recipe: &Recipe, near: &[(f32, RandomFault)]) {
    for (i, (distance, found)) in near.iter().enumerate().rev() {
        let is_hovered = i == 0 && *distance <= LINE_REACH;
        let strength = if is_hovered { 1.0 } else { 0.45 * (1.0 - distance / SHOWN_WITHIN) };
        draw_random_fault(ui, transform, found, strength);
        if is_hovered {
            let text = format!("Click to edit {}", found.description(recipe));
            note(ui, &transform.painter, Align2::LEFT_TOP, note_position(transform.response.rect), &text);
        }
    }
}

/// Draws the line of a random fault; at a strength of 1 it is highlighted.
pub(super) fn draw_random_fault(ui: &Ui, transform: &MapTransform, found: &RandomFault, strength: f32) {
    let ends = found.ends_m.map(|end| transform.pos(end));
    let width = if strength < 1.0 { 1.0 } else { 2.5 };
    if strength >= 1.0 {
        transform.painter.line_segment(ends, Stroke::new(width + 2.0, Color32::from_black_alpha(110)));
    }
    transform.painter.line_segment(ends, Stroke::new(width, colours(ui).accent.gamma_multiply(strength)));
}

/// Draws the lines of drawn faults; the highlighted ones are stronger, and drawn even if they are not listed.
pub(super) fn draw_lines(
    ui: &Ui,
    transform: &MapTransform,
    recipe: &Recipe,
    faults: &[FaultIndex],
    highlighted: &[Option<FaultIndex>],
) {
    let (colours, painter) = (colours(ui), &transform.painter);
    let is_highlighted = |index: FaultIndex| highlighted.contains(&Some(index));
    let plain = faults.iter().copied().filter(|index| !is_highlighted(*index));
    for index in plain.chain(highlighted.iter().copied().flatten()) {
        let Some(fault) = fault_at(recipe, index) else { continue };
        let (width, strength) = if is_highlighted(index) { (2.5, 1.0) } else { (1.5, 0.75) };
        let ends = ends(&fault, transform);
        // A dark line below the bright one keeps it visible on any terrain.
        painter.line_segment(ends, Stroke::new(width + 2.0, Color32::from_black_alpha(110)));
        let stroke = Stroke::new(width, colours.accent.gamma_multiply(strength));
        if fault.enabled {
            painter.line_segment(ends, stroke);
        } else {
            painter.extend(Shape::dashed_line(&ends, stroke, 6.0, 4.0));
        }
    }
}

/// Draws the handles, the arrow and the zone of the selected fault.
pub(super) fn draw_handles(
    ui: &Ui,
    transform: &MapTransform,
    fault: &DrawnFault,
    scale_m: f64,
    highlighted: Option<Handle>,
) {
    let (colours, painter) = (colours(ui), &transform.painter);
    let handles = HandlePositions::new(fault, transform, scale_m);
    let thin = Stroke::new(1.0, colours.accent.gamma_multiply(0.7));
    if fault.zone_m > 0.0 && fault.profile.has_zone() {
        let offset = handles.right * fault.zone_m.to_f32() * transform.pixels_per_m;
        for side in [offset, -offset] {
            painter.extend(Shape::dashed_line(&[handles.from + side, handles.to + side], thin, 4.0, 4.0));
        }
    }
    let foot = handles.from + (handles.to - handles.from) * ARROW_AT;
    painter.arrow(foot, handles.displacement - foot, Stroke::new(2.0, colours.accent));
    let ring = Stroke::new(2.0, Color32::WHITE);
    for (position, handle) in [
        (handles.from, Handle::From),
        (handles.to, Handle::To),
        (handles.displacement, Handle::Displacement(0.0)),
        (handles.zone, Handle::Zone(0.0)),
    ] {
        let is_highlighted = highlighted.is_some_and(|highlighted| highlighted.is_same(handle));
        painter.circle(position, if is_highlighted { 6.5 } else { 5.0 }, colours.accent, ring);
    }
}

/// Shows the value that a handle changes.
pub(super) fn draw_value(ui: &Ui, transform: &MapTransform, recipe: &Recipe, index: FaultIndex, handle: Handle) {
    let Some(fault) = fault_at(recipe, index) else { return };
    let title = recipe.stack.get(index.step).map_or("", |step| step.title());
    let value = match handle {
        Handle::From | Handle::To => format!("{}, {:.0}°", length(length_m(&fault)), strike_deg(&fault)),
        Handle::Line(_) => length(length_m(&fault)),
        Handle::Displacement(_) => format!("{:+.0} m", fault.displacement_m),
        Handle::Zone(_) => format!("zone {:.0} m", fault.zone_m),
    };
    let number = if is_own(recipe, index) { fault.at.to_usize() } else { index.fault + 1 };
    let text = format!("Fault {number} of {title}: {value}");
    note(ui, &transform.painter, Align2::LEFT_TOP, note_position(transform.response.rect), &text);
}
