//! The diagram of the terrain types: elevation on the horizontal axis, slope on the vertical one, each point in the
//! colour that the terrain gets there.

use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{
    Align2, Color32, ColorImage, CursorIcon, FontId, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind,
    TextureHandle, TextureId, TextureOptions, Ui, Vec2, WidgetInfo,
};

use crate::app::widgets::theme::colours;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::parameters::Band;
use crate::engine::texture::{CoverageDiagram, TerrainType, TextureRecipe, UNCOVERED_COLOUR, Unit};

/// The height of the plot, and the room at its left for slopes and below it for elevations, points.
const HEIGHT: f32 = 112.0;
const LEFT_MARGIN: f32 = 24.0;
const BOTTOM_MARGIN: f32 = 16.0;

/// How near the pointer must be to an edge to drag it, points.
const REACH: f32 = 6.0;

/// The steepest slope, degrees.
const STEEPEST: f64 = 90.0;

/// The most types that are named at a point, of those that cover it and of the others.
const MAX_NAMES: usize = 8;

/// The most types whose outlines are drawn: more of them would hide the colours.
const MAX_OUTLINES: usize = 100;

/// The most weights that are computed for the image: with more types it has fewer pixels.
const MAX_WEIGHTS: usize = 4_000_000;

/// The weight from which a type is listed as the only one.
const FULL_WEIGHT: f32 = 0.995;

/// The state of the diagram.
#[derive(Default)]
pub(crate) struct Diagram {
    /// The weights of the types, and what they were computed from.
    coverage: Option<(TextureRecipe, Band, Arc<Coverage>)>,
    /// The image, and what it was made from.
    drawn: Option<(Arc<Coverage>, [usize; 2], TextureHandle)>,
    /// The edge of the selected type that is being dragged.
    dragged: Option<Edge>,
}

impl std::fmt::Debug for Diagram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Diagram").finish_non_exhaustive()
    }
}

/// The weights of the active types.
struct Coverage {
    diagram: CoverageDiagram,
    /// The indices of the active types in the list.
    active: Vec<usize>,
}

impl Coverage {
    fn new(recipe: &TextureRecipe, range: Band) -> Self {
        let is_active = |terrain_type: &TerrainType| terrain_type.is_active(recipe.settings.active_set.as_ref());
        let active = recipe
            .types
            .iter()
            .enumerate()
            .filter(|(_, terrain_type)| is_active(terrain_type))
            .map(|(i, _)| i)
            .collect();
        Self { diagram: CoverageDiagram::new(recipe, range), active }
    }
}

/// A limit of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Lowest,
    Highest,
    Flattest,
    Steepest,
}

impl Edge {
    const ALL: [Self; 4] = [Self::Lowest, Self::Highest, Self::Flattest, Self::Steepest];
}

/// The axes of the diagram on the screen.
#[derive(Clone, Copy, Debug)]
struct Axes {
    plot: Rect,
    /// The elevations, in the recipe's unit.
    range: Band,
}

impl Axes {
    fn position(&self, elevation: f64, slope_deg: f64) -> Pos2 {
        let across = ((elevation - self.range.min) / self.span()).clamp(0.0, 1.0).to_f32();
        let up = (slope_deg / STEEPEST).clamp(0.0, 1.0).to_f32();
        Pos2::new(self.plot.left() + across * self.plot.width(), self.plot.bottom() - up * self.plot.height())
    }

    /// The elevation and the slope at a position, clamped to the plot.
    fn values(&self, position: Pos2) -> (f64, f64) {
        let across = ((position.x - self.plot.left()) / self.plot.width()).clamp(0.0, 1.0);
        let up = ((self.plot.bottom() - position.y) / self.plot.height()).clamp(0.0, 1.0);
        (self.range.min + f64::from(across) * self.span(), f64::from(up) * STEEPEST)
    }

    fn span(&self) -> f64 {
        (self.range.max - self.range.min).max(f64::MIN_POSITIVE)
    }

    fn region(&self, elevation: Band, slope_deg: Band) -> Rect {
        Rect::from_two_pos(self.position(elevation.min, slope_deg.min), self.position(elevation.max, slope_deg.max))
    }
}

/// The nearest edge of a region within reach of the pointer.
fn edge_at(region: Rect, pointer: Pos2) -> Option<Edge> {
    if !region.expand(REACH).contains(pointer) {
        return None;
    }
    let distance = |edge: Edge| match edge {
        Edge::Lowest => (pointer.x - region.left()).abs(),
        Edge::Highest => (pointer.x - region.right()).abs(),
        Edge::Flattest => (pointer.y - region.bottom()).abs(),
        Edge::Steepest => (pointer.y - region.top()).abs(),
    };
    let nearest = Edge::ALL.into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    nearest.filter(|edge| distance(*edge) <= REACH)
}

/// Draws the diagram over the terrain's range of heights. Edges of the selected type can be dragged, and a click
/// selects the type with the largest weight at that point.
pub(crate) fn diagram_ui(
    ui: &mut Ui,
    recipe: &mut TextureRecipe,
    height_range_m: Band,
    selected: &mut Option<usize>,
    diagram: &mut Diagram,
) {
    let (range, unit) = match recipe.settings.unit {
        Unit::Percent => (Band { min: 0.0, max: 100.0 }, "%"),
        Unit::Metres => (height_range_m, "m"),
    };
    let size = Vec2::new(ui.available_width(), HEIGHT + BOTTOM_MARGIN);
    let (rect, mut response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let plot = Rect::from_min_max(rect.min + Vec2::new(LEFT_MARGIN, 0.0), rect.max - Vec2::new(0.0, BOTTOM_MARGIN));
    let axes = Axes { plot, range };
    let chosen = selected.filter(|&i| i < recipe.types.len());
    diagram.drag_edge(ui, &mut response, recipe, chosen, axes);
    let coverage = diagram.coverage(recipe, range);
    let types_at = |position: Pos2| types_at(recipe, &coverage, axes, position);
    if response.clicked()
        && let Some(pointer) = response.interact_pointer_pos()
        && let (covering, _) = types_at(pointer)
        && let Some((i, _)) = covering.first()
    {
        *selected = Some(*i);
    }
    let texture = diagram.texture(ui, range, &coverage, plot.size());
    paint_regions(ui, recipe, axes, texture, &coverage.active, chosen);
    if let Some(i) = chosen {
        diagram.selected_ui(ui, &response, region(recipe, axes, i));
    }
    paint_axes(ui, axes, unit);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Elevations and slopes of the terrain types"));
    // The lines are always drawn, so that the layout does not jump.
    let pointed = response.hover_pos().filter(|pointer| plot.contains(*pointer));
    let text = match pointed {
        Some(pointer) => {
            let (elevation, slope_deg) = axes.values(pointer);
            let names = type_names(recipe, types_at(pointer));
            format!("{elevation:.0} {unit}, {slope_deg:.0}°: {}", names.join(", "))
        }
        None => "Elevation and slope; hatched: uncovered".into(),
    };
    lines_ui(ui, &text);
}

/// Draws what lies under the pointer in the height of two lines.
fn lines_ui(ui: &mut Ui, text: &str) {
    let font = FontId::proportional(11.0);
    let colour = colours(ui).weak;
    let height = 2.0 * ui.fonts_mut(|fonts| fonts.row_height(&font));
    let (rect, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), height), Sense::hover());
    let mut job = LayoutJob::simple(text.to_string(), font, colour, rect.width() - LEFT_MARGIN);
    job.wrap.max_rows = 2;
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    ui.painter().galley(rect.min + Vec2::new(LEFT_MARGIN, 0.0), galley, colour);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}

/// The elevations and slopes of a type.
fn region(recipe: &TextureRecipe, axes: Axes, i: usize) -> Rect {
    let region = axes.region(recipe.types[i].elevation, recipe.types[i].slope_deg);
    Rect::from_min_max(axes.plot.clamp(region.min), axes.plot.clamp(region.max))
}

/// Types by index, with their weights.
type Weights = Vec<(usize, f32)>;

/// The types at a position with their weights, largest first: those that cover it, and those that blend over them.
fn types_at(recipe: &TextureRecipe, coverage: &Coverage, axes: Axes, position: Pos2) -> (Weights, Weights) {
    let (elevation, slope_deg) = axes.values(position);
    let row = coverage.diagram.row(&[elevation.to_f32()], slope_deg);
    let weights = coverage.active.iter().zip(&row.weights).map(|(&i, weights)| (i, weights[0]));
    let mut found: Weights = weights.filter(|(_, weight)| *weight > 0.0).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.into_iter().partition(|(i, _)| recipe.types[*i].covers())
}

/// The names of types with their weights.
fn type_names(recipe: &TextureRecipe, (covering, others): (Weights, Weights)) -> Vec<String> {
    let named = |(i, weight): &(usize, f32)| format!("{} {:.0} %", recipe.types[*i].name, weight * 100.0);
    let mut names: Vec<String> = match &covering[..] {
        [] => vec!["uncovered".into()],
        [(i, weight)] if *weight >= FULL_WEIGHT => vec![recipe.types[*i].name.clone()],
        several => several.iter().take(MAX_NAMES).map(named).collect(),
    };
    names.extend(others.iter().take(MAX_NAMES).map(named));
    names
}

/// The image, and the outlines of the types that are not selected.
fn paint_regions(
    ui: &Ui,
    recipe: &TextureRecipe,
    axes: Axes,
    texture: TextureId,
    active: &[usize],
    chosen: Option<usize>,
) {
    let painter = ui.painter();
    painter.rect_filled(axes.plot, 4.0, colours(ui).sunken);
    let full = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    painter.image(texture, axes.plot, full, Color32::WHITE);
    let outlined = if active.len() <= MAX_OUTLINES { active } else { &[] };
    for &i in outlined.iter().filter(|&&i| chosen != Some(i)) {
        let stroke = Stroke::new(1.0, Color32::from_black_alpha(70));
        painter.rect_stroke(region(recipe, axes, i), 0.0, stroke, StrokeKind::Inside);
    }
}

/// The numbers of both axes.
fn paint_axes(ui: &Ui, Axes { plot, range }: Axes, unit: &str) {
    let (font, weak) = (FontId::proportional(11.0), colours(ui).weak);
    let text = |position: Pos2, anchor: Align2, text: String| {
        ui.painter().text(position, anchor, text, font.clone(), weak);
    };
    let left = plot.left() - 4.0;
    text(Pos2::new(left, plot.top()), Align2::RIGHT_TOP, "90°".into());
    text(Pos2::new(left, plot.center().y), Align2::RIGHT_CENTER, "45°".into());
    text(Pos2::new(left, plot.bottom()), Align2::RIGHT_BOTTOM, "0°".into());
    let below = plot.bottom() + 3.0;
    text(Pos2::new(plot.left(), below), Align2::LEFT_TOP, format!("{:.0} {unit}", range.min));
    let middle = 0.5 * (range.min + range.max);
    text(Pos2::new(plot.center().x, below), Align2::CENTER_TOP, format!("{middle:.0} {unit}"));
    text(Pos2::new(plot.right(), below), Align2::RIGHT_TOP, format!("{:.0} {unit}", range.max));
}

/// The outline of the selected type, with the edge that is dragged or can be dragged highlighted.
fn outline(painter: &egui::Painter, region: Rect, highlighted: Option<Edge>, accent: Color32) {
    painter.rect_stroke(region, 0.0, Stroke::new(3.0, Color32::from_black_alpha(120)), StrokeKind::Middle);
    painter.rect_stroke(region, 0.0, Stroke::new(1.5, accent), StrokeKind::Middle);
    let middles = [
        (Edge::Lowest, region.left_center()),
        (Edge::Highest, region.right_center()),
        (Edge::Flattest, region.center_bottom()),
        (Edge::Steepest, region.center_top()),
    ];
    for (edge, middle) in middles {
        let size = match edge {
            Edge::Lowest | Edge::Highest => Vec2::new(4.0, 12.0),
            Edge::Flattest | Edge::Steepest => Vec2::new(12.0, 4.0),
        };
        let colour = if highlighted == Some(edge) { Color32::WHITE } else { accent };
        painter.rect(
            Rect::from_center_size(middle, size),
            2.0,
            colour,
            Stroke::new(1.0, Color32::from_black_alpha(120)),
            StrokeKind::Outside,
        );
    }
}

impl Diagram {
    /// Moves the edge of the selected type that is being dragged.
    fn drag_edge(
        &mut self,
        ui: &Ui,
        response: &mut Response,
        recipe: &mut TextureRecipe,
        chosen: Option<usize>,
        axes: Axes,
    ) {
        if response.drag_started() {
            let origin = ui.input(|input| input.pointer.press_origin());
            self.dragged = chosen.zip(origin).and_then(|(i, origin)| edge_at(region(recipe, axes, i), origin));
        }
        if let (Some(edge), Some(i), Some(pointer), true) =
            (self.dragged, chosen, response.interact_pointer_pos(), response.dragged())
        {
            let (elevation, slope_deg) = axes.values(pointer);
            let step = if axes.span() > 20.0 { 1.0 } else { 0.01 };
            let (elevation, slope_deg) = ((elevation / step).round() * step, slope_deg.round());
            let TerrainType { elevation: heights, slope_deg: slopes, .. } = &mut recipe.types[i];
            match edge {
                Edge::Lowest => heights.min = elevation.min(heights.max),
                Edge::Highest => heights.max = elevation.max(heights.min),
                Edge::Flattest => slopes.min = slope_deg.min(slopes.max),
                Edge::Steepest => slopes.max = slope_deg.max(slopes.min),
            }
            response.mark_changed();
        }
        if response.drag_stopped() {
            self.dragged = None;
        }
    }

    /// The outline of the selected type, and the cursor over its edges.
    fn selected_ui(&self, ui: &Ui, response: &Response, region: Rect) {
        let dragged = self.dragged.filter(|_| response.dragged());
        let highlighted = dragged.or_else(|| edge_at(region, response.hover_pos()?));
        outline(ui.painter(), region, highlighted, colours(ui).accent);
        if let Some(edge) = highlighted {
            ui.ctx().set_cursor_icon(match edge {
                Edge::Lowest | Edge::Highest => CursorIcon::ResizeHorizontal,
                Edge::Flattest | Edge::Steepest => CursorIcon::ResizeVertical,
            });
        }
    }

    /// The weights of the types, computed again when the recipe or the range changed.
    fn coverage(&mut self, recipe: &TextureRecipe, range: Band) -> Arc<Coverage> {
        let known = self.coverage.take().filter(|(known, of_range, _)| known == recipe && *of_range == range);
        let coverage = known.map_or_else(|| Arc::new(Coverage::new(recipe, range)), |(_, _, coverage)| coverage);
        // The recipe of this frame shares its types with that of the next, so that comparing them takes no time.
        self.coverage = Some((recipe.clone(), range, coverage.clone()));
        coverage
    }

    /// The image with one pixel per point, made again when anything changed.
    fn texture(&mut self, ui: &Ui, range: Band, coverage: &Arc<Coverage>, size: Vec2) -> TextureId {
        let size = image_size(size, coverage.active.len());
        if let Some((known, of_size, texture)) = &self.drawn
            && Arc::ptr_eq(known, coverage)
            && *of_size == size
        {
            return texture.id();
        }
        let image = image(range, &coverage.diagram, size);
        let texture = ui.ctx().load_texture("diagram", image, TextureOptions::LINEAR);
        let id = texture.id();
        self.drawn = Some((coverage.clone(), size, texture));
        id
    }
}

/// The size of the image of a plot of that size in points, pixels.
fn image_size(plot: Vec2, types: usize) -> [usize; 2] {
    let weights = plot.x * plot.y * types.max(1).to_f32();
    let scale = (MAX_WEIGHTS.to_f32() / weights.max(1.0)).sqrt().min(1.0);
    [plot.x, plot.y].map(|side| (side * scale).max(1.0).to_usize())
}

/// The mixed colours of the types that cover each elevation and slope, as on the terrain; hatched in the warning colour
/// where none does.
fn image(range: Band, diagram: &CoverageDiagram, [width, height]: [usize; 2]) -> ColorImage {
    let along = |i: usize| range.min + (i.to_f64() + 0.5) / width.to_f64() * (range.max - range.min);
    let elevations: Vec<f32> = (0..width).map(|i| along(i).to_f32()).collect();
    let mut pixels = Vec::with_capacity(width * height);
    for j in 0..height {
        let slope_deg = (1.0 - (j.to_f64() + 0.5) / height.to_f64()) * STEEPEST;
        let row = diagram.colours(&elevations, slope_deg).into_iter().enumerate();
        pixels.extend(row.map(|(i, colour)| match colour {
            Some([red, green, blue]) => Color32::from_rgb(red, green, blue),
            None => hatching(i, j),
        }));
    }
    ColorImage::new([width, height], pixels)
}

/// A pixel that no type covers: stripes in the warning colour.
fn hatching(i: usize, j: usize) -> Color32 {
    let [red, green, blue] = UNCOVERED_COLOUR;
    if (i + j) % 6 < 2 { Color32::from_rgba_unmultiplied(red, green, blue, 150) } else { Color32::TRANSPARENT }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::parameters::Colour;
    use crate::engine::texture::TextureSettings;

    #[test]
    fn the_image_mixes_colours_like_the_terrain_and_hatches_uncovered_parts() {
        let terrain_type = |colour: [u8; 3], min, max| TerrainType {
            colour: Colour(colour),
            elevation: Band { min, max },
            elevation_release: 0.0,
            slope_deg: Band { min: 0.0, max: 45.0 },
            slope_release_deg: 0.0,
            ..Default::default()
        };
        let types = vec![terrain_type([0; 3], 0.0, 50.0), terrain_type([255; 3], 25.0, 75.0)];
        let recipe = TextureRecipe { settings: TextureSettings::default(), types: types.into() };
        let range = Band { min: 0.0, max: 100.0 };
        let found = image(range, &CoverageDiagram::new(&recipe, range), [4, 2]);
        let grey = |level| Color32::from_gray(level);
        // The steeper half is hatched; below, black, half of each in linear light, white, and nothing.
        assert_eq!(found.pixels[..4], [0, 1, 2, 3].map(|i| hatching(i, 0)));
        assert!(found.pixels[0] != Color32::TRANSPARENT && found.pixels[2] == Color32::TRANSPARENT);
        assert_eq!(found.pixels[4..], [grey(0), grey(188), grey(255), hatching(3, 1)]);
    }

    #[test]
    fn the_image_of_many_types_has_fewer_pixels() {
        let plot = Vec2::new(256.0, 112.0);
        assert_eq!((image_size(plot, 0), image_size(plot, 100)), ([256, 112], [256, 112]));
        let [width, height] = image_size(plot, 5000);
        assert!(width * height * 5000 <= MAX_WEIGHTS && width > 20 && height > 10, "{width} × {height}");
    }

    #[test]
    fn edges_are_found_within_reach_only() {
        let region = Rect::from_min_max(Pos2::new(20.0, 20.0), Pos2::new(80.0, 60.0));
        for (pointer, expected) in [
            ([22.0, 40.0], Some(Edge::Lowest)),
            ([85.0, 40.0], Some(Edge::Highest)),
            ([50.0, 57.0], Some(Edge::Flattest)),
            ([50.0, 16.0], Some(Edge::Steepest)),
            ([50.0, 40.0], None),
            ([10.0, 40.0], None),
            ([20.0, 70.0], None),
        ] {
            assert_eq!(edge_at(region, pointer.into()), expected, "{pointer:?}");
        }
    }

    #[test]
    fn positions_and_values_are_inverse() {
        let plot = Rect::from_min_max(Pos2::new(10.0, 10.0), Pos2::new(210.0, 100.0));
        let axes = Axes { plot, range: Band { min: -100.0, max: 300.0 } };
        for (elevation, slope_deg) in [(-100.0, 0.0), (100.0, 45.0), (300.0, 90.0)] {
            assert_eq!(axes.values(axes.position(elevation, slope_deg)), (elevation, slope_deg));
        }
    }
}
