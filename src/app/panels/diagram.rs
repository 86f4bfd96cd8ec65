//! The diagram of the terrain types: elevation across, slope upwards, every place in the colour that the ground gets
//! there.

use egui::{
    Align2, Color32, ColorImage, CursorIcon, FontId, Pos2, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle,
    TextureOptions, Ui, Vec2, WidgetInfo,
};

use crate::app::widgets::theme::colours;
use crate::engine::image::{linear_from_srgb, srgb_from_linear};
use crate::engine::parameters::Band;
use crate::engine::texture::{CoverageDiagram, TextureRecipe, UNCOVERED_COLOUR, Unit};

/// The height of the plot, points; beside it the slopes are written, and below it the elevations.
const HEIGHT: f32 = 112.0;
const GUTTER: f32 = 24.0;
const FOOT: f32 = 16.0;

/// How near the pointer has to be to an edge to take hold of it, points.
const REACH: f32 = 6.0;

/// The steepest slope, degrees.
const STEEPEST: f64 = 90.0;

/// The picture of the diagram, and what it was made from.
#[derive(Default)]
pub(crate) struct Diagram {
    drawn: Option<(TextureRecipe, Band, [usize; 2], TextureHandle)>,
}

impl std::fmt::Debug for Diagram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Diagram").finish_non_exhaustive()
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

/// Where elevations and slopes lie on the screen.
#[derive(Clone, Copy, Debug)]
struct Axes {
    plot: Rect,
    /// Elevations in the recipe's unit.
    range: Band,
}

impl Axes {
    fn place(&self, elevation: f64, slope_deg: f64) -> Pos2 {
        let across = ((elevation - self.range.min) / self.span()).clamp(0.0, 1.0) as f32;
        let up = (slope_deg / STEEPEST).clamp(0.0, 1.0) as f32;
        Pos2::new(self.plot.left() + across * self.plot.width(), self.plot.bottom() - up * self.plot.height())
    }

    /// The elevation and the slope at a place, within the plot.
    fn at(&self, place: Pos2) -> (f64, f64) {
        let across = ((place.x - self.plot.left()) / self.plot.width()).clamp(0.0, 1.0);
        let up = ((self.plot.bottom() - place.y) / self.plot.height()).clamp(0.0, 1.0);
        (self.range.min + f64::from(across) * self.span(), f64::from(up) * STEEPEST)
    }

    fn span(&self) -> f64 {
        (self.range.max - self.range.min).max(f64::MIN_POSITIVE)
    }

    fn region(&self, elevation: Band, slope_deg: Band) -> Rect {
        Rect::from_two_pos(self.place(elevation.min, slope_deg.min), self.place(elevation.max, slope_deg.max))
    }
}

/// The edge of a region that is near enough to the pointer, the nearest of them.
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

/// Draws the diagram over the land's range of heights; edges of the selected type can be dragged, and a click selects
/// the type that takes most of the ground there.
pub(crate) fn diagram_ui(
    ui: &mut Ui,
    recipe: &mut TextureRecipe,
    height_range_m: Band,
    selected: &mut Option<usize>,
    diagram: &mut Diagram,
) {
    // Percent of a range from 0 to 100 are its metres.
    let (range, unit) = match recipe.settings.unit {
        Unit::Percent => (Band { min: 0.0, max: 100.0 }, "%"),
        Unit::Metres => (height_range_m, "m"),
    };
    let size = Vec2::new(ui.available_width(), HEIGHT + FOOT);
    let (rect, mut response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let plot = Rect::from_min_max(rect.min + Vec2::new(GUTTER, 0.0), rect.max - Vec2::new(0.0, FOOT));
    let axes = Axes { plot, range };
    let active: Vec<usize> = (0..recipe.types.len()).filter(|&i| recipe.active_index(i).is_some()).collect();
    let region = |recipe: &TextureRecipe, i: usize| {
        let ground = &recipe.types[i];
        axes.region(ground.elevation, ground.slope_deg)
    };
    let chosen = selected.filter(|&i| i < recipe.types.len());

    let held = response.id.with("held");
    if response.drag_started()
        && let (Some(i), Some(origin)) = (chosen, ui.input(|input| input.pointer.press_origin()))
    {
        let edge = edge_at(region(recipe, i), origin);
        ui.data_mut(|data| data.insert_temp(held, edge));
    }
    let edge: Option<Edge> = ui.data(|data| data.get_temp(held)).flatten();
    if let (Some(edge), Some(i), Some(pointer), true) =
        (edge, chosen, response.interact_pointer_pos(), response.dragged())
    {
        let (elevation, slope_deg) = axes.at(pointer);
        let step = if axes.span() > 20.0 { 1.0 } else { 0.01 };
        let (elevation, slope_deg) = ((elevation / step).round() * step, slope_deg.round());
        let ground = &mut recipe.types[i];
        match edge {
            Edge::Lowest => ground.elevation.min = elevation.min(ground.elevation.max),
            Edge::Highest => ground.elevation.max = elevation.max(ground.elevation.min),
            Edge::Flattest => ground.slope_deg.min = slope_deg.min(ground.slope_deg.max),
            Edge::Steepest => ground.slope_deg.max = slope_deg.max(ground.slope_deg.min),
        }
        response.mark_changed();
    }
    if response.drag_stopped() {
        ui.data_mut(|data| data.remove::<Option<Edge>>(held));
    }
    let coverage = CoverageDiagram::new(recipe, range);
    // The types at a place with their weights, those that cover it first, the heaviest at the head of either.
    let types_at = |pointer: Pos2| {
        let (elevation, slope_deg) = axes.at(pointer);
        let row = coverage.row(&[elevation as f32], slope_deg);
        let weights = active.iter().zip(&row.weights).map(|(&i, weights)| (i, weights[0]));
        let mut found: Vec<(usize, f32)> = weights.filter(|(_, weight)| *weight > 0.0).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.into_iter().partition::<Vec<_>, _>(|(i, _)| recipe.types[*i].covers())
    };
    let pointed = response.hover_pos().filter(|pointer| plot.contains(*pointer));
    if response.clicked()
        && let Some(pointer) = response.interact_pointer_pos()
        && let (covering, _) = types_at(pointer)
        && let Some((i, _)) = covering.first()
    {
        *selected = Some(*i);
    }

    let colours = colours(ui);
    let painter = ui.painter();
    painter.rect_filled(plot, 4.0, colours.sunken);
    let texture = diagram.texture(ui, recipe, range, &coverage, &active, plot.size());
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    painter.image(texture, plot, whole, Color32::WHITE);
    for &i in active.iter().filter(|&&i| chosen != Some(i)) {
        let stroke = Stroke::new(1.0, Color32::from_black_alpha(70));
        painter.rect_stroke(region(recipe, i), 0.0, stroke, StrokeKind::Inside);
    }
    if let Some(i) = chosen {
        let found = region(recipe, i);
        let lit = edge.filter(|_| response.dragged()).or_else(|| edge_at(found, response.hover_pos()?));
        outline(painter, found, lit, colours.accent);
        let icon = lit.map(|edge| match edge {
            Edge::Lowest | Edge::Highest => CursorIcon::ResizeHorizontal,
            Edge::Flattest | Edge::Steepest => CursorIcon::ResizeVertical,
        });
        if let Some(icon) = icon {
            ui.ctx().set_cursor_icon(icon);
        }
    }
    let font = FontId::proportional(11.0);
    let written =
        |place: Pos2, anchor: Align2, text: String| painter.text(place, anchor, text, font.clone(), colours.weak);
    let beside = |y: f32| Pos2::new(plot.left() - 4.0, y);
    written(beside(plot.top()), Align2::RIGHT_TOP, "90°".into());
    written(beside(plot.center().y), Align2::RIGHT_CENTER, "45°".into());
    written(beside(plot.bottom()), Align2::RIGHT_BOTTOM, "0°".into());
    let below = |x: f32| Pos2::new(x, plot.bottom() + 3.0);
    written(below(plot.left()), Align2::LEFT_TOP, format!("{:.0} {unit}", range.min));
    written(below(plot.center().x), Align2::CENTER_TOP, format!("{:.0} {unit}", 0.5 * (range.min + range.max)));
    written(below(plot.right()), Align2::RIGHT_TOP, format!("{:.0} {unit}", range.max));
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Elevations and slopes of the terrain types"));

    // One line that is always there, so that nothing jumps.
    let text = match pointed {
        Some(pointer) => {
            let (elevation, slope_deg) = axes.at(pointer);
            let (covering, others) = types_at(pointer);
            let named = |(i, weight): &(usize, f32)| format!("{} {:.0} %", recipe.types[*i].name, weight * 100.0);
            let mut names: Vec<String> = match &covering[..] {
                [] => vec!["uncovered".into()],
                [(i, weight)] if *weight >= 0.995 => vec![recipe.types[*i].name.clone()],
                several => several.iter().map(named).collect(),
            };
            names.extend(others.iter().map(named));
            format!("{elevation:.0} {unit}, {slope_deg:.0}°: {}", names.join(", "))
        }
        None => "Elevation across, slope upwards".into(),
    };
    ui.horizontal(|ui| {
        ui.add_space(GUTTER);
        ui.add(egui::Label::new(egui::RichText::new(text).size(11.0).color(colours.weak)).truncate());
    });
}

/// The outline of the selected type, with the edge that is or can be taken hold of.
fn outline(painter: &egui::Painter, region: Rect, lit: Option<Edge>, accent: Color32) {
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
        let colour = if lit == Some(edge) { Color32::WHITE } else { accent };
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
    /// The picture, a pixel a point, made anew where something changed.
    fn texture(
        &mut self,
        ui: &Ui,
        recipe: &TextureRecipe,
        range: Band,
        coverage: &CoverageDiagram,
        active: &[usize],
        size: Vec2,
    ) -> egui::TextureId {
        let size = [size.x.max(1.0) as usize, size.y.max(1.0) as usize];
        if let Some((known, over, of_size, texture)) = &self.drawn
            && known == recipe
            && (*over, *of_size) == (range, size)
        {
            return texture.id();
        }
        let image = image(recipe, range, coverage, active, size);
        let texture = ui.ctx().load_texture("diagram", image, TextureOptions::LINEAR);
        let id = texture.id();
        self.drawn = Some((recipe.clone(), range, size, texture));
        id
    }
}

/// Every place in the colours of the types that cover it, mixed as they are on the land; hatched in the warning
/// colour of uncovered ground where none does.
fn image(
    recipe: &TextureRecipe,
    range: Band,
    coverage: &CoverageDiagram,
    active: &[usize],
    [width, height]: [usize; 2],
) -> ColorImage {
    let along = |i: usize| range.min + (i as f64 + 0.5) / width as f64 * (range.max - range.min);
    let elevations: Vec<f32> = (0..width).map(|i| along(i) as f32).collect();
    let covering: Vec<(usize, [f32; 3])> = active
        .iter()
        .enumerate()
        .filter(|(_, i)| recipe.types[**i].covers())
        .map(|(at, i)| (at, recipe.types[*i].colour.0.map(linear_from_srgb)))
        .collect();
    let mut pixels = Vec::with_capacity(width * height);
    for j in 0..height {
        let slope_deg = (1.0 - (j as f64 + 0.5) / height as f64) * STEEPEST;
        let row = coverage.row(&elevations, slope_deg);
        pixels.extend((0..width).map(|i| {
            let mut colour = [0.0; 3];
            for (at, own) in &covering {
                let weight = row.weights[*at][i];
                colour.iter_mut().zip(own).for_each(|(sum, channel)| *sum += weight * channel);
            }
            let [red, green, blue] = colour.map(srgb_from_linear);
            if row.covered[i] { Color32::from_rgb(red, green, blue) } else { hatching(i, j) }
        }));
    }
    ColorImage::new([width, height], pixels)
}

/// The pixel of a place where nothing lies: stripes of the warning colour over what is behind.
fn hatching(i: usize, j: usize) -> Color32 {
    let [red, green, blue] = UNCOVERED_COLOUR;
    if (i + j) % 6 < 2 { Color32::from_rgba_unmultiplied(red, green, blue, 150) } else { Color32::TRANSPARENT }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::parameters::Colour;
    use crate::engine::texture::{TerrainType, TextureSettings};

    #[test]
    fn the_picture_is_mixed_as_the_land_is_and_hatched_where_nothing_lies() {
        let ground = |colour: [u8; 3], min, max| TerrainType {
            colour: Colour(colour),
            elevation: Band { min, max },
            elevation_release: 0.0,
            slope_deg: Band { min: 0.0, max: 45.0 },
            slope_release_deg: 0.0,
            ..Default::default()
        };
        let types = vec![ground([0; 3], 0.0, 50.0), ground([255; 3], 25.0, 75.0)];
        let recipe = TextureRecipe { settings: TextureSettings::default(), types };
        let range = Band { min: 0.0, max: 100.0 };
        let found = image(&recipe, range, &CoverageDiagram::new(&recipe, range), &[0, 1], [4, 2]);
        let grey = |level| Color32::from_gray(level);
        // The steeper half is hatched; below, black, half of each in linear light, white, and nothing.
        assert_eq!(found.pixels[..4], [0, 1, 2, 3].map(|i| hatching(i, 0)));
        assert!(found.pixels[0] != Color32::TRANSPARENT && found.pixels[2] == Color32::TRANSPARENT);
        assert_eq!(found.pixels[4..], [grey(0), grey(188), grey(255), hatching(3, 1)]);
    }

    #[test]
    fn edges_are_taken_hold_of_within_reach_only() {
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
    fn places_and_values_belong_to_each_other() {
        let plot = Rect::from_min_max(Pos2::new(10.0, 10.0), Pos2::new(210.0, 100.0));
        let axes = Axes { plot, range: Band { min: -100.0, max: 300.0 } };
        for (elevation, slope_deg) in [(-100.0, 0.0), (100.0, 45.0), (300.0, 90.0)] {
            assert_eq!(axes.at(axes.place(elevation, slope_deg)), (elevation, slope_deg));
        }
    }
}
