//! The path tool: clicks draw roads, rivers, ridges, valleys and faults along curves, and drags move their nodes.

use egui::{Align2, Color32, Key, Modifiers, PointerButton, Pos2, Response, Stroke, Ui, Vec2};

use super::context::{ToolContext, rounded_place, step_on_top};
use super::fault_tool::handles::distance_to_segment;
use super::parameter_fields::fields_ui;
use super::tool_view::{ToolView, draw_line, pressed_at};
use crate::app::commands::Command;
use crate::app::views::overlay::{length, note};
use crate::app::widgets::close_if_picked;
use crate::app::widgets::theme::colours;
use crate::engine::Heightfield;
use crate::engine::curve::{PIECES_PER_SPAN, arc_lengths_m, curve_through};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::LinePoint;
use crate::engine::operations::paths::{Path, PathKind, PathNode, Paths};
use crate::engine::parameters::{Group, List, Point};
use crate::engine::recipe::{Recipe, Step};

/// The distance within which the pointer grabs a node or a curve, points.
const NODE_REACH: f32 = 9.0;
const CURVE_REACH: f32 = 6.0;

/// The grid, in metres, to which nodes snap while Shift is held.
const SNAP_M: f64 = 10.0;

/// The parameters in the tool bar, of which only those that the kind uses are shown.
const SHOWN: [&str; 9] =
    ["kind", "width_m", "max_grade", "bank_deg", "height_m", "profile", "depth_m", "displacement_m", "closed"];

/// The indices of a path: its step and its place in the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PathIndex {
    step: usize,
    path: usize,
}

/// The state of the tool. It is not part of the document.
#[derive(Debug, Default)]
pub(crate) struct PathTool {
    /// What a new path is like.
    template: Path,
    /// Where a new path begins, until its second node is there.
    first: Option<Point>,
    selected: Option<PathIndex>,
    /// The selected node of the selected path.
    node: Option<usize>,
    /// Whether the next click begins a path, also on another path, because its kind was just chosen.
    begins: bool,
    /// Whether clicks add nodes to the selected path.
    is_drawing: bool,
    /// Whether the selected node is dragged, and what Escape restores.
    dragged: Option<(Recipe, usize)>,
    /// What the context menu is about, and where it was opened.
    menu: Option<(Hit, Option<Point>)>,
}

/// What lies under the pointer.
#[derive(Clone, Copy, Debug)]
enum Hit {
    Node(PathIndex, usize),
    /// A curve, and the node before the place.
    Curve(PathIndex, usize),
}

impl PathTool {
    /// Ends drawing and clears the selection; the template stays.
    pub(super) fn reset(&mut self) {
        *self = Self { template: self.template.clone(), ..Self::default() };
    }

    /// Ends a drag, because the document was changed elsewhere.
    pub(super) fn document_changed(&mut self) {
        self.dragged = None;
    }

    /// Clears what is not in the document any more.
    fn forget_missing(&mut self, recipe: &Recipe) {
        self.selected = self.selected.filter(|index| path_at(recipe, *index).is_some());
        let nodes = self.selected.and_then(|index| path_at(recipe, index)).map_or(0, |path| path.nodes.len());
        self.node = self.node.filter(|node| *node < nodes);
        self.is_drawing &= self.selected.is_some();
    }

    /// Handles the pointer on one view and draws the paths there.
    pub(super) fn ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        self.forget_missing(context.recipe);
        let response = view.response();
        let snaps = ui.input(|input| input.modifiers.shift);
        let pointer = response.interact_pointer_pos().or(response.hover_pos());
        let hit = pointer.and_then(|at| self.hit(context.recipe, view, at));
        let place = pointer.and_then(|at| view.place_m(at)).map(|place_m| snapped(place_m, snaps));
        let mut command = None;
        if !response.clicked()
            && let Some(pressed) = pressed_at(ui, response)
            && let Some(Hit::Node(index, node)) = self.hit(context.recipe, view, pressed)
            && (!self.is_adding() || self.selected == Some(index))
        {
            (self.selected, self.node) = (Some(index), Some(node));
            self.dragged = Some((context.recipe.clone(), *context.selected_step));
            *context.selected_step = index.step;
        }
        if self.dragged.is_some()
            && response.dragged_by(PointerButton::Primary)
            && let Some(at_m) = place
        {
            self.move_node(context.recipe, at_m);
        } else if response.double_clicked() {
            self.double_click(context, hit, place);
        } else if response.clicked()
            && let Some(at_m) = place
        {
            command = self.click(context, hit, at_m);
        }
        if !ui.input(|input| input.pointer.primary_down()) {
            self.dragged = None;
        }
        self.menu_ui(response, context, hit, place);
        self.draw(ui, view, context, hit, place.filter(|_| response.hovered()));
        command
    }

    /// The selected path or node: the lists that hold it, with indices.
    pub(super) fn selected_item(&self) -> Vec<(&'static str, usize)> {
        let path = self.selected.map(|index| ("paths", index.path));
        path.into_iter().chain(self.node.map(|node| ("nodes", node))).collect()
    }

    /// The context menu of nodes and curves.
    fn menu_ui(&mut self, response: &Response, context: &mut ToolContext, hit: Option<Hit>, place: Option<Point>) {
        if response.secondary_clicked() {
            self.menu = hit.map(|hit| (hit, place));
            match hit {
                Some(Hit::Node(index, node)) => (self.selected, self.node) = (Some(index), Some(node)),
                Some(Hit::Curve(index, _)) => (self.selected, self.node) = (Some(index), None),
                None => {}
            }
        }
        let Some((hit, place)) = self.menu else { return };
        let shown = response.context_menu(|ui| match hit {
            Hit::Node(index, node) => {
                let held = path_at(context.recipe, index).and_then(|path| path.nodes.get(node)?.height_m);
                let text = if held.is_some() { "Unlock node height" } else { "Lock node height" };
                if ui.button(text).clicked() {
                    self.hold(context, index, node, held.is_none());
                }
                if ui.button("Delete node").clicked() {
                    (self.selected, self.node) = (Some(index), Some(node));
                    self.delete(context.recipe, index);
                }
            }
            Hit::Curve(index, before) => {
                if ui.button("Insert node").clicked() {
                    self.double_click(context, Some(Hit::Curve(index, before)), place);
                }
                if ui.button("Delete path").clicked() {
                    self.node = None;
                    self.delete(context.recipe, index);
                }
            }
        });
        if shown.is_none() && !response.secondary_clicked() {
            self.menu = None;
        }
    }

    /// Holds a node at the height of the terrain there, or releases it. Heights of ridges and valleys are above the terrain.
    fn hold(&self, context: &mut ToolContext, index: PathIndex, node: usize, holds: bool) {
        let Some(path) = path_mut(context.recipe, index) else { return };
        if matches!(path.kind, PathKind::Ridge | PathKind::Valley) && holds {
            path.hold_nodes();
            return;
        }
        let Some(node) = path.nodes.get_mut(node) else { return };
        let Point { x_m, z_m } = node.at_m;
        let height_m = context.terrain.map(|terrain| f64::from(terrain.height_at(x_m, z_m)));
        node.height_m = height_m.filter(|_| holds).map(|height_m| (10.0 * height_m).round() / 10.0);
    }

    /// Whether clicks add nodes, also where there are other paths.
    fn is_adding(&self) -> bool {
        self.is_drawing || self.first.is_some() || self.begins
    }

    /// Selects a path, or adds a node. While drawing, a click on the first node closes the path, or ends
    /// a river, which cannot be closed.
    fn click(&mut self, context: &mut ToolContext, hit: Option<Hit>, at_m: Point) -> Option<Command> {
        match hit {
            Some(Hit::Node(index, node)) if !self.is_adding() || self.selected == Some(index) => {
                (self.selected, self.node) = (Some(index), Some(node));
                *context.selected_step = index.step;
                let path = path_mut(context.recipe, index);
                if self.is_drawing
                    && node == 0
                    && let Some(path) = path.filter(|path| path.nodes.len() > 2)
                {
                    (path.closed, self.is_drawing) = (path.kind != PathKind::River, false);
                }
            }
            Some(Hit::Curve(index, _)) if !self.is_adding() => {
                (self.selected, self.node) = (Some(index), None);
                *context.selected_step = index.step;
            }
            _ if self.is_drawing && self.selected.is_some() => {
                if let Some(path) = self.selected.and_then(|index| path_mut(context.recipe, index))
                    && path.nodes.last().is_none_or(|last| last.at_m != at_m)
                {
                    path.nodes.push(PathNode { at_m, ..PathNode::default() });
                    // A path of two nodes cannot be closed.
                    if path.nodes.len() == 3 {
                        path.closed = self.template.is_closed();
                    }
                    self.node = Some(path.nodes.len() - 1);
                }
            }
            _ => match self.first.take() {
                None => {
                    (self.first, self.selected, self.node, self.begins) = (Some(at_m), None, None, false);
                    return (!context.is_at_end).then_some(Command::ToEnd);
                }
                Some(first) if first != at_m => self.begin(context, [first, at_m]),
                first => self.first = first,
            },
        }
        None
    }

    /// Adds a path with two nodes.
    fn begin(&mut self, context: &mut ToolContext, ends_m: [Point; 2]) {
        let step = step_for_paths(context.recipe, *context.selected_step);
        let Some(paths) = paths_mut(context.recipe, step) else { return };
        let node = |at_m| PathNode { at_m, ..PathNode::default() };
        let nodes = ends_m.into_iter().map(node).collect();
        paths.push(Path { nodes, closed: false, enabled: true, ..self.template.clone() });
        self.selected = Some(PathIndex { step, path: paths.len() - 1 });
        (self.node, self.is_drawing, self.begins) = (Some(1), true, false);
        *context.selected_step = step;
    }

    /// Ends drawing, or inserts a node into a curve.
    fn double_click(&mut self, context: &mut ToolContext, hit: Option<Hit>, place: Option<Point>) {
        if std::mem::take(&mut self.is_drawing) {
            return;
        }
        if let (Some(Hit::Curve(index, before)), Some(at_m)) = (hit, place)
            && let Some(path) = path_mut(context.recipe, index)
        {
            path.nodes.insert(before + 1, PathNode { at_m, ..PathNode::default() });
            (self.selected, self.node) = (Some(index), Some(before + 1));
        }
    }

    fn move_node(&mut self, recipe: &mut Recipe, at_m: Point) {
        let Some((index, node)) = self.selected.zip(self.node) else { return };
        let is_there = path_at(recipe, index).and_then(|path| path.nodes.get(node)).is_some_and(|n| n.at_m == at_m);
        if !is_there && let Some(node) = path_mut(recipe, index).and_then(|path| path.nodes.get_mut(node)) {
            node.at_m = at_m;
        }
    }

    /// Handles keys: Enter ends drawing, Delete removes the selected node or else the path, Escape cancels a drag, ends
    /// drawing or clears the selection. Returns whether Escape, if it `escapes`, did any of these.
    pub(super) fn keys(&mut self, ui: &Ui, recipe: &mut Recipe, selected_step: &mut usize, escapes: bool) -> bool {
        self.forget_missing(recipe);
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if self.is_adding() && pressed(Key::Enter) {
            (self.is_drawing, self.first, self.begins) = (false, None, false);
        }
        if let Some(index) = self.selected
            && (pressed(Key::Delete) || pressed(Key::Backspace))
        {
            self.delete(recipe, index);
        }
        if !escapes {
            return false;
        }
        if let Some(before) = self.dragged.take() {
            (*recipe, *selected_step) = before;
            return true;
        }
        let (was_drawing, had_first) = (std::mem::take(&mut self.is_drawing), self.first.take().is_some());
        if std::mem::take(&mut self.begins) || was_drawing || had_first {
            return true;
        }
        self.node = None;
        self.selected.take().is_some()
    }

    /// Removes the selected node; without one, or if fewer than two nodes would be left, removes the path.
    fn delete(&mut self, recipe: &mut Recipe, index: PathIndex) {
        self.dragged = None;
        let Some(paths) = paths_mut(recipe, index.step) else { return };
        let Some(path) = paths.get_mut(index.path) else { return };
        let least = if path.closed { 4 } else { 3 };
        match self.node.take() {
            Some(node) if path.nodes.len() >= least && node < path.nodes.len() => {
                path.nodes.remove(node);
                self.node = node.checked_sub(1);
            }
            _ => {
                paths.remove(index.path);
                (self.selected, self.is_drawing) = (None, false);
            }
        }
    }

    /// Draws the parameters of the selected path, or of the next one, in the tool bar.
    pub(super) fn bar_ui(&mut self, ui: &mut Ui, recipe: &mut Recipe, message: &mut Option<String>) {
        let Some(index) = self.selected else {
            let kind = self.template.kind;
            ui.weak("Next path");
            fields_ui(ui, "Next path", &mut self.template, &SHOWN, message);
            if self.template.kind != kind {
                (self.template, self.begins) = (Path::of_kind(self.template.kind), true);
            }
            return;
        };
        let Some(mut path) = path_at(recipe, index).cloned() else { return };
        if !self.is_drawing {
            if let Some(kind) = new_path_ui(ui) {
                (self.template, self.selected, self.node, self.begins) = (Path::of_kind(kind), None, None, true);
                return;
            }
            ui.separator();
        }
        // What follows belongs to this path, not to the next one.
        ui.weak(format!("Path {}", index.path + 1));
        let kind = path.kind;
        // Until it has three nodes, the tick is that of the template.
        let is_pending = self.is_drawing && path.nodes.len() < 3;
        if is_pending {
            path.closed = self.template.closed;
        }
        fields_ui(ui, "Path", &mut path, &SHOWN, message);
        if is_pending {
            self.template.closed = std::mem::take(&mut path.closed);
        }
        if path.kind != kind {
            path.adapt_to_kind(kind);
        }
        let node = self.node.and_then(|i| Some(i + 1).zip(path.nodes.get(i).cloned()));
        // What is not set has no field here but one in the step's panel.
        if let Some((number, node)) = node.filter(|(_, node)| node.height_m.is_some() || node.width_m.is_some()) {
            ui.separator();
            ui.weak(format!("Node {number}"));
            let mut changed = node.clone();
            fields_ui(ui, "Node", &mut changed, &["height_m", "width_m"], message);
            if changed != node {
                path.nodes[number - 1] = changed;
            }
        }
        if path_at(recipe, index) != Some(&path)
            && let Some(known) = path_mut(recipe, index)
        {
            let closed = if is_pending { self.template.closed } else { path.closed };
            self.template = Path { nodes: List::default(), closed, ..path.clone() };
            *known = path;
        }
    }

    /// What lies under the pointer; nodes of the selected path have priority, and nodes over curves.
    fn hit(&self, recipe: &Recipe, view: &dyn ToolView, at: Pos2) -> Option<Hit> {
        let mut nearest: Option<(f32, Hit)> = None;
        let mut note = |distance: f32, hit: Hit| {
            if nearest.is_none_or(|(known, _)| distance < known) {
                nearest = Some((distance, hit));
            }
        };
        for (index, path) in enabled_paths(recipe) {
            let is_selected = self.selected == Some(index);
            for (i, node) in path.nodes.iter().enumerate() {
                let Some(pos) = view.pos([node.at_m.x_m, node.at_m.z_m]) else { continue };
                let distance = pos.distance(at);
                if distance <= NODE_REACH {
                    note(distance - if is_selected { 200.0 } else { 100.0 }, Hit::Node(index, i));
                }
            }
            let curve = shown_curve(path);
            let points: Vec<Option<Pos2>> = curve.iter().map(|place_m| view.pos(*place_m)).collect();
            for (i, pair) in points.windows(2).enumerate() {
                let [Some(a), Some(b)] = *pair else { continue };
                let distance = distance_to_segment(at, a, b);
                if distance <= CURVE_REACH {
                    note(distance, Hit::Curve(index, i / POINTS_PER_SPAN));
                }
            }
        }
        nearest.map(|(_, hit)| hit)
    }

    fn draw(&self, ui: &Ui, view: &dyn ToolView, context: &ToolContext, hit: Option<Hit>, place: Option<Point>) {
        let colour = colours(ui).accent;
        // A click selects what lies under the pointer, unless it adds a node.
        let hovered = hit.filter(|_| !self.is_adding()).map(|hit| match hit {
            Hit::Node(index, _) | Hit::Curve(index, _) => index,
        });
        for (index, path) in enabled_paths(context.recipe) {
            let is_strong = self.selected == Some(index) || hovered == Some(index);
            let (width, strength) = if is_strong { (2.5, 1.0) } else { (1.5, 0.75) };
            draw_line(view, shown_curve(path).into_iter(), Stroke::new(width, colour.gamma_multiply(strength)));
            for (i, node) in path.nodes.iter().enumerate() {
                let Some(at) = view.pos([node.at_m.x_m, node.at_m.z_m]) else { continue };
                let is_selected = self.selected == Some(index) && self.node == Some(i);
                let (radius, fill) = match () {
                    () if is_selected => (6.0, colour),
                    () if is_strong => (5.0, Color32::WHITE),
                    () => (3.0, colour),
                };
                view.painter().circle(at, radius, fill, Stroke::new(1.5, Color32::from_black_alpha(170)));
            }
        }
        let step = *context.selected_step;
        if self.dragged.is_none() {
            let reported = context.reports.iter().filter_map(|report| report.line.as_ref());
            for line in reported.filter(|line| path_at(context.recipe, PathIndex { step, path: line.item }).is_some()) {
                draw_works(view, &line.points);
            }
        }
        let from = match (self.first, self.selected.filter(|_| self.is_drawing)) {
            (Some(first), _) => Some(first),
            (None, Some(index)) => path_at(context.recipe, index).and_then(|path| path.nodes.last()).map(|n| n.at_m),
            (None, None) => None,
        };
        if let (Some(from), Some(to)) = (from, place) {
            let ends = [from, to].map(|at| [at.x_m, at.z_m]);
            draw_line(view, ends.into_iter(), Stroke::new(1.0, colour));
        }
        if let Some(at) = self.first.and_then(|first| view.pos([first.x_m, first.z_m])) {
            view.painter().circle(at, 6.0, colour, Stroke::new(1.5, Color32::from_black_alpha(170)));
        }
        if let Some(path) = self.selected.and_then(|index| path_at(context.recipe, index))
            && view.response().contains_pointer()
        {
            let metres = arc_lengths_m(&curve(path)).last().copied().unwrap_or_default();
            let mut text = format!("{}: {}, {} nodes", path.kind.label(), length(metres), path.nodes.len());
            if path.kind == PathKind::Road
                && let Some(grade) = context.terrain.and_then(|terrain| greatest_grade(path, terrain))
            {
                text.push_str(&format!(", steepest grade {:.1} %", 100.0 * grade));
            }
            if let Err(error) = path.check() {
                text = format!("{} has no effect: {}", path.kind.label(), error.in_words(path.table()));
            }
            let at = view.response().rect.min + Vec2::new(8.0, 36.0);
            note(ui, view.painter(), Align2::LEFT_TOP, at, &text);
        }
    }
}

/// A button with a menu of the kinds of paths; returns the one to begin.
fn new_path_ui(ui: &mut Ui) -> Option<PathKind> {
    let menu = ui.menu_button("New path", |ui| {
        let mut chosen = None;
        for kind in PathKind::ALL {
            if ui.button(kind.label()).clicked() {
                chosen = Some(*kind);
            }
        }
        close_if_picked(ui);
        chosen
    });
    menu.response.on_hover_text("Begins another path with the next click");
    menu.inner.flatten()
}

/// The share of the maximum grade from which on a road counts as steep.
const STEEP: f64 = 0.9;

/// The colours of grades within the limit, near it and over it, and of cuts and fills. They are seen on maps of any
/// colour, so they do not depend on the theme.
const WITHIN: Color32 = Color32::from_rgb(0x5c, 0xc8, 0x6a);
const NEAR: Color32 = Color32::from_rgb(0xf0, 0xb4, 0x3c);
const OVER: Color32 = Color32::from_rgb(0xe8, 0x50, 0x46);
const CUT: Color32 = Color32::from_rgb(0xd9, 0x7a, 0x4a);
const FILL: Color32 = Color32::from_rgb(0x5a, 0xa9, 0xe6);

/// The height of a cut or a fill that is shown, metres.
const SHOWN_WORKS_M: f64 = 0.5;

/// Draws what a road or a river is like along its line: its grade in the middle, within the limit, near it and over it,
/// and its cuts and fills along the edges.
fn draw_works(view: &dyn ToolView, points: &[LinePoint]) {
    let grade = |point: &LinePoint| match point.grade_share {
        _ if point.is_tight => OVER,
        share if share > 1.0 + 1e-6 => OVER,
        share if share >= STEEP => NEAR,
        _ => WITHIN,
    };
    let works = |point: &LinePoint| match point.fill_m {
        fill_m if fill_m > SHOWN_WORKS_M => Some(FILL),
        fill_m if fill_m < -SHOWN_WORKS_M => Some(CUT),
        _ => None,
    };
    let across = |i: usize| {
        let (from, to) = (points[i.saturating_sub(1)].at_m, points[(i + 1).min(points.len() - 1)].at_m);
        let along = [to[0] - from[0], to[1] - from[1]];
        let length_m = libm::hypot(along[0], along[1]).max(1e-9);
        [-along[1] / length_m, along[0] / length_m]
    };
    let beside = |i: usize, side: f64| {
        let (LinePoint { at_m, half_m, .. }, [x, z]) = (points[i], across(i));
        [at_m[0] + side * half_m * x, at_m[1] + side * half_m * z]
    };
    let runs = |colour: &dyn Fn(&LinePoint) -> Option<Color32>, place: &dyn Fn(usize) -> [f64; 2], width: f32| {
        let mut start = 0;
        while start + 1 < points.len() {
            let end = (start + 1..points.len()).find(|i| colour(&points[*i]) != colour(&points[start]));
            let end = end.unwrap_or(points.len() - 1);
            if let Some(colour) = colour(&points[start]) {
                draw_line(view, (start..=end).map(place), Stroke::new(width, colour));
            }
            start = end;
        }
    };
    for side in [-1.0, 1.0] {
        runs(&works, &|i| beside(i, side), 1.5);
    }
    runs(&|point| Some(grade(point)), &|i| points[i].at_m, 2.5);
}

/// A place on the map, on the snapping grid if it `snaps`.
fn snapped([x_m, z_m]: [f64; 2], snaps: bool) -> Point {
    let snap = |m: f64| if snaps { SNAP_M * (m / SNAP_M).round() } else { m };
    rounded_place([snap(x_m), snap(z_m)])
}

/// The curve of a path.
fn curve(path: &Path) -> Vec<[f64; 2]> {
    let nodes: Vec<[f64; 2]> = path.nodes.iter().map(|node| [node.at_m.x_m, node.at_m.z_m]).collect();
    if nodes.len() < 2 { nodes } else { curve_through(&nodes, path.is_closed()).points }
}

/// The greatest grade of the terrain along a path, between points that are at least two samples apart; `None` if the
/// path is too narrow for the samples to show it.
fn greatest_grade(path: &Path, terrain: &Heightfield) -> Option<f64> {
    let spacing_m = terrain.grid().spacing_x_m();
    let least_m = 2.0 * spacing_m;
    if path.width_m < 4.0 * spacing_m {
        return None;
    }
    let curve = curve(path);
    let lengths_m = arc_lengths_m(&curve);
    let height_m = |[x_m, z_m]: [f64; 2]| f64::from(terrain.height_at(x_m, z_m));
    let mut last: Option<[f64; 2]> = None;
    let mut greatest: Option<f64> = None;
    for (point, at_m) in curve.into_iter().zip(lengths_m) {
        let Some([last_m, last_height_m]) = last else {
            last = Some([at_m, height_m(point)]);
            continue;
        };
        if at_m - last_m >= least_m {
            let grade = (height_m(point) - last_height_m).abs() / (at_m - last_m);
            greatest = Some(greatest.map_or(grade, |known| known.max(grade)));
            last = Some([at_m, height_m(point)]);
        }
    }
    greatest
}

/// Points of the curve that are drawn and hit per span: the 3-D view has to find out for each whether the terrain hides
/// it.
const POINTS_PER_SPAN: usize = 16;

/// The points of a path's curve that are shown.
fn shown_curve(path: &Path) -> Vec<[f64; 2]> {
    curve(path).into_iter().step_by(PIECES_PER_SPAN / POINTS_PER_SPAN).collect()
}

/// The paths of enabled steps.
fn enabled_paths(recipe: &Recipe) -> impl Iterator<Item = (PathIndex, &Path)> {
    recipe.active_steps().flat_map(|(step, found)| {
        let paths = if let AnyOperation::Paths(Paths { paths }) = &found.operation { paths.as_slice() } else { &[] };
        paths.iter().enumerate().map(move |(path, found)| (PathIndex { step, path }, found))
    })
}

fn paths_mut(recipe: &mut Recipe, step: usize) -> Option<&mut List<Path>> {
    match &mut recipe.stack.get_mut(step)?.operation {
        AnyOperation::Paths(Paths { paths }) => Some(paths),
        _ => None,
    }
}

fn path_mut(recipe: &mut Recipe, index: PathIndex) -> Option<&mut Path> {
    paths_mut(recipe, index.step)?.get_mut(index.path)
}

fn path_at(recipe: &Recipe, index: PathIndex) -> Option<&Path> {
    match &recipe.stack.get(index.step)?.operation {
        AnyOperation::Paths(Paths { paths }) => paths.get(index.path),
        _ => None,
    }
}

/// The index of the step that receives new paths: the selected one, which is enabled for this, or else the topmost
/// step. If neither holds paths, adds a step on top.
fn step_for_paths(recipe: &mut Recipe, selected: usize) -> usize {
    step_on_top(
        recipe,
        selected,
        |step| matches!(step.operation, AnyOperation::Paths(_)),
        || Step::new(Paths { paths: List::default() }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Grid;
    use crate::engine::heightfield::Extent;

    #[test]
    fn the_greatest_grade_is_that_of_the_terrain_along_the_path() {
        let grid = Grid::new(Extent { width_m: 1000.0, depth_m: 1000.0 }, 101, 101);
        // 6 % towards the east in the western half, level beyond.
        let terrain = Heightfield::from_fn(grid, |c, _| 0.6 * f32::from(u8::try_from(c.min(50)).unwrap_or(0)));
        let node = |x_m, z_m| PathNode { at_m: Point { x_m, z_m }, ..PathNode::default() };
        let path = |nodes: Vec<PathNode>| Path { nodes: nodes.into(), width_m: 50.0, ..Path::default() };
        let across = path(vec![node(100.0, 500.0), node(900.0, 500.0)]);
        assert!((greatest_grade(&across, &terrain).expect("a grade") - 0.06).abs() < 1e-3);
        let along = path(vec![node(200.0, 100.0), node(200.0, 900.0)]);
        assert!(greatest_grade(&along, &terrain).expect("a grade") < 1e-6);
        assert_eq!(greatest_grade(&Path { width_m: 30.0, ..along }, &terrain), None, "too narrow");
    }
}
