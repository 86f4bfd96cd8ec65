//! The tool bar, and the tool that is active.
//!
//! A tool edits the frame's copy of the recipe, as sliders do, so undo and previews need no code here. At most one of
//! the tools in the tool bar is active.

use std::sync::Arc;

use egui::{
    Align, Align2, Button, ColorImage, ComboBox, Key, Label, Layout, Modifiers, RichText, Role, Sense, Stroke as Line,
    TextStyle, TextWrapMode, Ui, UiBuilder, Vec2, WidgetInfo, WidgetText,
};

use super::box_tool::BoxTool;
use super::brush_tool::BrushTool;
use super::context::{ToolContext, target_step};
use super::fault_tool::{FaultTool, target_of_faults};
use super::marker_tool::MarkerTool;
use super::mask_overlay::MaskOverlay;
use super::path_tool::PathTool;
use super::stamp_tool::StampTool;
use super::tool::Tool;
use super::tool_view::{ToolView, draw_line, places};
use crate::app::commands::Command;
use crate::app::commands::menus::MIRROR_DOC;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::views::map_transform::MapTransform;
use crate::app::views::overlay::note;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{ListUi, list_value};
use crate::engine::heightfield::Extent;
use crate::engine::mask::PaintedStroke;
use crate::engine::mirroring::{images, mirror_edits, mirror_markers};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::pads::Pad;
use crate::engine::operations::sculpt::Stroke;
use crate::engine::operations::symmetry::Kind;
use crate::engine::recipe::Recipe;
use crate::engine::recipe_masks::MaskOwner;
use crate::project::Project;

/// The height of the row of tools, and of that of the active one's parameters.
const ROW_HEIGHT: f32 = 28.0;

/// What is said in place of the parameters while no tool is active.
const NO_TOOL_HINT: &str = "Choose a tool to shape the terrain by hand. Drag a map to move it, scroll to zoom";

/// The width of the choice of mirroring with its label and the line beside it, points. Where it does not fit, it follows
/// the parameters of the active tool.
const MIRROR_WIDTH: f32 = 275.0;

/// The greatest width of the title of the step in which a tool draws, points.
const TARGET_WIDTH: f32 = 160.0;

/// The tools and the active one. They are not part of the document.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    active: Option<Tool>,
    /// The symmetry by which what is drawn is repeated, from the view settings of the project for this frame. Ignored
    /// where the world does not have its shape.
    pub(crate) mirror: Option<Kind>,
    pub(crate) fault: FaultTool,
    brush: BrushTool<Stroke>,
    mask_brush: BrushTool<PaintedStroke>,
    mask_overlay: MaskOverlay,
    path: PathTool,
    pad: BoxTool<Pad>,
    stamp: StampTool,
    marker: MarkerTool,
    /// Why a number that was typed into the bar does not count.
    message: Option<String>,
    /// The height of the parameters of the active tool, points: the greatest since it was chosen.
    row_height: f32,
}

impl Tools {
    /// Takes the message about what was typed into the bar.
    pub(crate) fn take_message(&mut self) -> Option<String> {
        self.message.take()
    }

    pub(crate) fn active(&self) -> Option<Tool> {
        self.active
    }

    /// Activates a tool, or none.
    pub(crate) fn activate(&mut self, tool: Option<Tool>) {
        (self.active, self.row_height) = (tool, 0.0);
        self.reset();
    }

    /// Forgets the sizes of brushes, which suit the size of a world.
    pub(crate) fn project_opened(&mut self) {
        (self.brush, self.mask_brush) = Default::default();
    }

    /// Clears selections and any drag, for example when another project opens.
    pub(crate) fn reset(&mut self) {
        self.fault = FaultTool::default();
        self.brush.reset();
        self.mask_brush.reset();
        self.path.reset();
        self.pad.reset();
        self.stamp.boxes.reset();
        self.marker.reset();
    }

    /// Handles the pointer on one map and draws the active tool there; returns a command to execute.
    pub(crate) fn map_ui(
        &mut self,
        ui: &mut Ui,
        transform: &MapTransform,
        context: &mut ToolContext,
    ) -> Option<Command> {
        match self.active {
            Some(Tool::Fault) => {
                let command = self.fault.ui(ui, transform, context);
                draw_route(ui, transform, context.route_m);
                self.marker.draw(ui, transform, context.level, false);
                command
            }
            _ => self.view_ui(ui, transform, context),
        }
    }

    /// Forgets what the tools know of single strokes, paths, pads and stamps, because the document was changed elsewhere.
    pub(crate) fn document_changed(&mut self) {
        self.brush.reset();
        self.mask_brush.reset();
        self.path.document_changed();
        self.pad.document_changed();
        self.stamp.boxes.document_changed();
        self.marker.reset();
    }

    /// What the symmetry of the recipe makes of what is drawn at the pointer, if that is not what one sees.
    fn symmetry_note(&self, view: &dyn ToolView, context: &ToolContext) -> Option<&'static str> {
        let place_m = view.response().hover_pos().and_then(|at| view.place_m(at))?;
        let (recipe, selected) = (&*context.recipe, *context.selected_step);
        // Faults go below the filters, see their tool.
        let holds = self.active.filter(|tool| *tool != Tool::Fault)?.operation()?;
        let target = recipe.stack.get(selected).filter(|step| step.operation.key() == holds).map(|_| selected);
        let target = target.unwrap_or(recipe.stack.len());
        let extent = recipe.world.extent();
        let placements = recipe.placements();
        let symmetries = || {
            let outside_groups = recipe.active_steps().filter(|(i, _)| placements[*i].parent.is_none());
            outside_groups.filter_map(|(i, step)| match &step.operation {
                AnyOperation::Symmetry(symmetry) => Some((i, symmetry)),
                _ => None,
            })
        };
        if symmetries().any(|(i, symmetry)| i > target && symmetry.discards(place_m, extent)) {
            return Some("No effect here: the Symmetry step above replaces this part with a copy of another");
        }
        let is_averaged = symmetries().any(|(i, symmetry)| i < target && symmetry.again_at_end);
        let text = "Restore symmetry at the end, of the Symmetry step below, averages this place with those that match it. \
                    Turn on Mirror edits to draw in all of them";
        (is_averaged && self.mirror(extent).is_none()).then_some(text)
    }

    /// The item of a step's parameters that is selected on the views: the keys of the lists that hold it, from the outer
    /// one in, with indices.
    pub(crate) fn selected_item(&self) -> Vec<(&'static str, usize)> {
        let of_list = |key, selected: Option<(usize, usize)>| selected.map(|(_, i)| (key, i)).into_iter().collect();
        match self.active {
            Some(Tool::Path) => self.path.selected_item(),
            Some(Tool::Pad) => of_list("pads", self.pad.selected()),
            Some(Tool::Stamp) => of_list("stamps", self.stamp.boxes.selected()),
            Some(Tool::Fault | Tool::Brush | Tool::MaskBrush | Tool::Marker) | None => Vec::new(),
        }
    }

    /// The symmetry by which what the active tool draws is repeated, if the world has that shape.
    fn mirror(&self, world: Extent) -> Option<Kind> {
        self.mirror.filter(|kind| self.active.is_some() && kind.fits(world))
    }

    /// Repeats the edits since `before` on the images of what was edited; call it once a frame after the views.
    pub(crate) fn mirror_edits(&self, before: &Project, project: &mut Project) {
        let extent = project.recipe.world.extent();
        if let Some(kind) = self.mirror(extent) {
            mirror_edits(&before.recipe, &mut project.recipe, kind);
            mirror_markers(&before.level, &mut project.level, extent, kind);
        }
    }

    /// The tint of the mask that is painted, for the 3-D view; the maps draw it themselves.
    pub(crate) fn mask_tint(&mut self, ui: &Ui, recipe: &Recipe, painted: MaskOwner) -> Option<Arc<ColorImage>> {
        let is_active = self.active == Some(Tool::MaskBrush);
        is_active.then(|| self.mask_overlay.tint(ui, recipe, painted.of_strokes(recipe))).flatten()
    }

    /// Handles the pointer on a view of any kind and draws the active tool there; returns a command to execute.
    pub(crate) fn view_ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        if let Some(kind) = self.mirror(context.recipe.world.extent()) {
            draw_axes(ui, view, kind, context.recipe.world.extent());
        }
        if let Some(text) = self.symmetry_note(view, context) {
            let at = view.response().rect.min + Vec2::new(8.0, 64.0);
            note(ui, view.painter(), Align2::LEFT_TOP, at, text);
        }
        let command = match self.active {
            None => None,
            Some(Tool::Fault) => self.fault.scene_ui(ui, view, context),
            Some(Tool::Brush) => self.brush.ui(ui, view, context),
            Some(Tool::MaskBrush) => {
                self.mask_overlay.draw(
                    ui,
                    view,
                    context.recipe,
                    context.selected().mask_owner().of_strokes(context.recipe),
                );
                self.mask_brush.ui(ui, view, context)
            }
            Some(Tool::Path) => self.path.ui(ui, view, context),
            Some(Tool::Pad) => self.pad.ui(ui, view, context),
            Some(Tool::Stamp) => self.stamp.ui(ui, view, context),
            Some(Tool::Marker) => {
                let extent = context.recipe.world.extent();
                let mirror = self.mirror(extent);
                let images = |place_m| mirror.map_or(Vec::new(), |kind| images(place_m, extent, kind));
                self.marker.ui(ui, view, context.level, extent, &images);
                None
            }
        };
        draw_route(ui, view, context.route_m);
        self.marker.draw(ui, view, context.level, self.active == Some(Tool::Marker));
        command
    }

    /// Handles the active tool's keys; call it once a frame while no text field has the focus. Escape cancels a drag,
    /// clears the selection or deactivates the tool.
    pub(crate) fn keys(&mut self, ui: &Ui, project: &mut Project, selected_step: &mut usize) {
        let Some(tool) = self.active else { return };
        let Project { recipe, level, .. } = project;
        if tool == Tool::MaskBrush && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Q)) {
            self.mask_overlay.toggle();
        }
        let escapes = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        let is_used = match tool {
            Tool::Fault => self.fault.keys(ui, recipe, selected_step, escapes),
            Tool::Brush => self.brush.keys(ui, recipe, selected_step, escapes),
            Tool::MaskBrush => self.mask_brush.keys(ui, recipe, selected_step, escapes),
            Tool::Path => self.path.keys(ui, recipe, selected_step, escapes),
            Tool::Pad => self.pad.keys(ui, recipe, selected_step, escapes),
            Tool::Stamp => self.stamp.boxes.keys(ui, recipe, selected_step, escapes),
            Tool::Marker => self.marker.keys(ui, level, escapes),
        };
        if escapes && !is_used {
            self.activate(None);
        }
    }

    /// Draws the tool bar; `at` is the position on the timeline unless it plays, `painted` what the mask brush paints, and
    /// `selected_step` the index of the selected step.
    /// Returns the command of a clicked tool or button.
    pub(crate) fn bar_ui(
        &mut self,
        ui: &mut Ui,
        project: &mut Project,
        at: Option<u32>,
        painted: MaskOwner,
        selected_step: usize,
        thumbnails: &mut Thumbnails,
    ) -> Option<Command> {
        let Project { recipe, level, .. } = project;
        let (mut command, mut mirrors_here) = (None, false);
        ui.horizontal(|ui| {
            ui.set_min_height(ROW_HEIGHT);
            ui.add_space(6.0);
            for tool in Tool::ALL {
                let name = Command::Tool(tool).tooltip(ui);
                let is_active = self.active == Some(tool);
                let button = Button::selectable(is_active, tool.icon().rich_text().size(16.0));
                let response = ui.add(button.min_size([28.0, 24.0].into()));
                let response = response.on_hover_text(format!("{name}\n{}", tool.hint()));
                response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_active, &name));
                if response.clicked() {
                    command = Some(Command::Tool(tool));
                }
            }
            mirrors_here = ui.available_width() > MIRROR_WIDTH;
            if mirrors_here {
                ui.separator();
                mirror_ui(ui, &mut self.mirror, recipe.world.extent());
            }
            if let Some(tool) = self.active {
                target_ui(ui, recipe, tool, selected_step);
                hint_ui(ui, tool.hint());
            }
        });
        // Without a tool there is a row too, so that the first one does not move the views. It is as high as the parameters
        // of the active tool were at most, and of the same height while the pointer is down: the views must not move under a
        // drag that selects something with more or fewer parameters.
        let height = self.row_height.max(ROW_HEIGHT);
        let (rect, _) = ui.allocate_exact_size(Vec2::new(ui.available_width(), height), Sense::hover());
        let inside = rect.with_min_x(rect.left() + 8.0);
        let mut fixed = ui.new_child(UiBuilder::new().max_rect(inside).layout(Layout::top_down(Align::Min)));
        fixed.shrink_clip_rect(rect);
        let message = &mut self.message;
        let row = fixed.horizontal_wrapped(|ui| {
            ui.set_min_height(ROW_HEIGHT);
            match self.active {
                None => hint_ui(ui, NO_TOOL_HINT),
                Some(Tool::Fault) => command = self.fault.bar_ui(ui, recipe, at, message).or(command.take()),
                Some(Tool::Brush) => self.brush.bar_ui(ui, recipe, message),
                Some(Tool::MaskBrush) => {
                    painted_ui(ui, recipe, painted, &mut self.mask_brush.only_there);
                    self.mask_brush.bar_ui(ui, recipe, message);
                }
                Some(Tool::Path) => self.path.bar_ui(ui, recipe, message),
                Some(Tool::Pad) => self.pad.bar_ui(ui, recipe, message),
                Some(Tool::Stamp) => command = self.stamp.bar_ui(ui, recipe, thumbnails, message).or(command.take()),
                Some(Tool::Marker) => self.marker.bar_ui(ui, level, message),
            }
            if !mirrors_here && self.active.is_some() {
                ui.scope(|ui| mirror_ui(ui, &mut self.mirror, recipe.world.extent()));
            }
        });
        let needed = row.response.rect.height();
        if needed > height && !ui.input(|input| input.pointer.any_down()) {
            self.row_height = needed;
            ui.ctx().request_repaint();
        }
        command
    }
}

/// Chooses the symmetry by which what is drawn is repeated.
fn mirror_ui(ui: &mut Ui, mirror: &mut Option<Kind>, world: Extent) {
    let label = |kind: Option<Kind>| kind.map_or("Off", Kind::label);
    *mirror = mirror.filter(|kind| kind.fits(world));
    ui.label("Mirror edits").on_hover_text(MIRROR_DOC);
    let list = ComboBox::from_id_salt("mirror").selected_text(label(*mirror)).width(150.0).list_ui(ui, |ui| {
        list_value(ui, mirror, None, label(None));
        for kind in Kind::ALL {
            ui.add_enabled_ui(kind.fits(world), |ui| list_value(ui, mirror, Some(*kind), kind.label()))
                .inner
                .on_disabled_hover_text("Only for square worlds");
        }
    });
    let response = list.response.on_hover_text(MIRROR_DOC);
    response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Mirror edits"));
}

/// Draws the axes of a symmetry, or its centre.
fn draw_axes(ui: &Ui, view: &dyn ToolView, kind: Kind, world: Extent) {
    const POINTS: usize = 64;
    const CENTRE: f64 = 0.02;
    let Extent { width_m, depth_m } = world;
    let [across, down] = [[[0.5, 0.0], [0.5, 1.0]], [[0.0, 0.5], [1.0, 0.5]]];
    let half = CENTRE;
    let centre = [[[0.5 - half, 0.5], [0.5 + half, 0.5]], [[0.5, 0.5 - half], [0.5, 0.5 + half]]];
    let axes: &[[[f64; 2]; 2]] = match kind {
        Kind::MirrorEastWest => &[across],
        Kind::MirrorNorthSouth => &[down],
        Kind::MirrorDiagonal => &[[[0.0, 0.0], [1.0, 1.0]]],
        Kind::MirrorAntidiagonal => &[[[1.0, 0.0], [0.0, 1.0]]],
        Kind::BothMirrors => &[across, down],
        Kind::Rotate2 | Kind::Rotate4 => &centre,
    };
    let line = Line::new(1.0, colours(ui).accent.gamma_multiply(0.6));
    for ends in axes {
        draw_line(view, places(ends.map(|[x, z]| [x * width_m, z * depth_m]), POINTS), line);
    }
}

/// Says in which step a tool draws.
fn target_ui(ui: &mut Ui, recipe: &Recipe, tool: Tool, selected: usize) {
    let Some(key) = tool.operation() else { return };
    let target = match tool {
        Tool::Fault => target_of_faults(recipe, selected),
        _ => target_step(recipe, selected, |step| step.operation.key() == key),
    };
    let title = target.map_or("a new step", |step| recipe.stack[step].title());
    let label = WidgetText::from(RichText::new("Draws in").weak());
    let title = WidgetText::from(RichText::new(title).strong());
    let [label, title] =
        [label, title].map(|text| text.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body));
    let spacing = ui.spacing().item_spacing.x;
    let left = ui.available_size_before_wrap().x - label.size().x - 2.0 * spacing;
    let width = title.size().x.min(TARGET_WIDTH);
    if width > left {
        return;
    }
    ui.label(label);
    let shown = ui.scope(|ui| {
        ui.set_max_width(width);
        ui.add(Label::new(title).truncate())
    });
    let doc =
        "New shapes go into the selected step, or else into an existing one of their kind, which is enabled for them";
    shown.inner.on_hover_text(doc);
}

/// Says whose mask is painted, and lets the user choose what the first stroke of a terrain type does.
fn painted_ui(ui: &mut Ui, recipe: &Recipe, painted: MaskOwner, only_there: &mut bool) {
    let painted = painted.of_strokes(recipe);
    if let Some(name) = painted.name(recipe) {
        let kind = match painted {
            MaskOwner::Step(_) => "step",
            MaskOwner::Type(_) => "terrain type",
            MaskOwner::Layer(_) => "scatter layer",
            MaskOwner::Named(_) => "named mask",
        };
        ui.label(RichText::new(name).strong());
        ui.weak(kind).on_hover_text("Paints the mask of the step, terrain type or layer that you selected last");
    }
    let is_unpainted = |i: usize| recipe.texture.types.get(i).is_some_and(|found| found.mask.is_empty());
    if matches!(painted, MaskOwner::Type(i) if is_unpainted(i)) {
        let text = |only: bool| if only { "Only where painted" } else { "Add where painted" };
        let list = ComboBox::from_id_salt("first stroke").selected_text(text(*only_there)).width(130.0);
        list.list_ui(ui, |ui| {
            let doc = "The first stroke adds a type that looks the same, without limits: it appears wherever it is painted";
            list_value(ui, only_there, false, text(false)).on_hover_text(doc);
            let doc = "The first stroke sets the blend of the type to \u{201c}Over the others\u{201d}: it then appears only \
                       where it is painted, within its limits";
            list_value(ui, only_there, true, text(true)).on_hover_text(doc);
        });
    }
}

/// Shows a hint if it fits into the rest of the row.
fn hint_ui(ui: &mut Ui, hint: &str) {
    let text = WidgetText::from(RichText::new(hint).weak());
    let galley = text.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body);
    if galley.size().x + ui.spacing().item_spacing.x <= ui.available_size_before_wrap().x {
        ui.label(galley);
    }
}
/// Draws the route between two markers.
fn draw_route(ui: &Ui, view: &dyn ToolView, route_m: &[[f64; 2]]) {
    draw_line(view, route_m.iter().copied(), egui::Stroke::new(2.5, colours(ui).accent));
}
