//! Level or tilted building pads, with banks down to or up to the terrain around them, and lakes.
//!
//! With H the plane of the pad and e the distance outside its outline, the terrain becomes
//! clamp(h, H − tan(bank)·e, H + tan(bank)·e), where H is taken at the nearest point of the outline. Inside it is the
//! plane; where the bank has met the terrain, nothing changes.
//!
//! A lake has its water at H. Inside its outline the bed falls from the shore with the slope of the banks to the depth
//! of the lake, H − min(depth, tan(bank)·e), with e the distance from the outline; around it a shore at H holds the
//! water, and e of the banks counts from there. Water fills depressions up to their outlets, which for a lake is its
//! shore.

use rayon::prelude::*;

use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::operations::operation::{EvalContext, Keyframe, Operation, Role};
use crate::operations::report::{self, PartReport};
use crate::outline::{Centred, Outline};
use crate::parameters::{List, MAX_COORDINATE_M, ParameterError, Point, Spec, choices, parameters};
use crate::progress::{Cancelled, Progress};
use crate::surface::azimuth_vector;

choices! {
    /// The outline of a pad.
    pub enum Shape {
        /// A rectangle, with rounded corners if you like.
        Rectangle = "rectangle", "Rectangle";
        /// An ellipse, or a circle if both sides are equal.
        Ellipse = "ellipse", "Ellipse";
        /// Any outline with straight edges.
        Polygon = "polygon", "Polygon";
    }
}

choices! {
    /// What a pad is for.
    pub enum PadKind {
        /// A level or evenly sloping building pad.
        Ground = "ground", "Building pad";
        /// A basin that holds water at the height of the pad.
        Lake = "lake", "Lake";
    }
}

parameters! {
    /// A building pad or a lake.
    pub struct Pad {
        /// What the pad is for.
        kind: PadKind = PadKind::Ground, Spec::new("Kind").sparse();
        /// Depth of the lake. Its bed falls from the shore with the slope of the banks.
        depth_m: f64 = 5.0,
            Spec::number("Depth", 0.01, 10_000.0).slider(0.5, 100.0).unit("m").logarithmic()
                .when("kind", &["lake"]).sparse();
        /// Width of the level shore around the lake. On maps whose samples are farther apart than half this
        /// width, the shore leaks and the water stands lower.
        shore_m: f64 = 20.0,
            Spec::number("Shore", 0.0, 10_000.0).slider(0.0, 200.0).unit("m").when("kind", &["lake"]).sparse();
        /// Outline of the pad.
        shape: Shape = Shape::Rectangle, Spec::new("Shape");
        /// Centre, metres east and south of the map's north-west corner.
        centre_m: Point = Point { x_m: 2048.0, z_m: 2048.0 },
            Spec::number("Centre", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m")
                .when("shape", &["rectangle", "ellipse"]);
        /// Lengths of the sides before rotation: west to east, and north to south.
        size_m: Point = Point { x_m: 60.0, z_m: 60.0 },
            Spec::number("Size", 0.01, MAX_COORDINATE_M).slider(1.0, 500.0).unit("m").logarithmic()
                .when("shape", &["rectangle", "ellipse"]);
        /// Clockwise rotation around the centre.
        turn_deg: f64 = 0.0, Spec::number("Rotation", -360.0, 360.0).slider(-180.0, 180.0).unit("°")
            .when("shape", &["rectangle", "ellipse"]);
        /// Corners, metres east and south of the map's north-west corner. Self-intersections follow the
        /// even-odd rule.
        points_m: List<Point> = List::default(),
            Spec::number("Corner", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m")
                .when("shape", &["polygon"]);
        /// Radius of the corners, at most half the shorter side.
        corner_m: f64 = 0.0, Spec::number("Corner radius", 0.0, MAX_COORDINATE_M).slider(0.0, 50.0).unit("m")
            .when("shape", &["rectangle"]);
        /// Height at the centre; of a lake, that of its water. Off: the mean height of the terrain under the pad, so that
        /// about as much is cut as filled.
        height_m: Option<f64> = None,
            Spec::number("Height", -20_000.0, 100_000.0).slider(-500.0, 3000.0).unit("m").none("mean of terrain");
        /// Slope of the pad: 0 is level; 2 % lets water run off.
        grade: f64 = 0.0,
            Spec::number("Grade", 0.0, 2.0).slider(0.0, 0.2).percent().when("kind", &["ground"]);
        /// Compass direction in which the pad rises, clockwise from north.
        grade_azimuth_deg: f64 = 0.0,
            Spec::number("Rises towards", -360.0, 360.0).slider(0.0, 360.0).unit("°").when("kind", &["ground"]);
        /// Slope of the banks around the pad. Steep banks change less terrain.
        bank_deg: f64 = 35.0, Spec::number("Bank slope", 1.0, 85.0).slider(10.0, 60.0).unit("°");
        /// How far banks may reach from the pad, so that they do not cut into distant slopes. Banks that have not met
        /// the terrain by then end in a wall. Off: unlimited.
        reach_m: Option<f64> = None,
            Spec::number("Maximum bank length", 0.0, MAX_COORDINATE_M).slider(10.0, 1000.0).unit("m").none("unlimited").sparse();
        /// Whether the pad has any effect.
        enabled: bool = true, Spec::new("Enabled");
    }
}

parameters! {
    /// Flattens building pads and digs lakes: each pad is a plane or a basin, and its banks lead to the terrain around
    /// it. A later pad cuts into earlier ones.
    pub struct Pads {
        /// The pads.
        pads: List<Pad> = default_pads(), Spec::new("Pads");
    }
}

/// Two building pads in the default world.
fn default_pads() -> List<Pad> {
    let point = |x_m, z_m| Point { x_m, z_m };
    vec![
        Pad { size_m: point(300.0, 200.0), turn_deg: 20.0, corner_m: 20.0, ..Default::default() },
        Pad {
            shape: Shape::Ellipse,
            centre_m: point(2600.0, 1600.0),
            size_m: point(240.0, 160.0),
            ..Default::default()
        },
    ]
    .into()
}

/// The corners that a polygon needs.
const MIN_CORNERS: usize = 3;

/// The height of a pad without one is the mean at the points inside it of a lattice with this many columns and rows.
const LATTICE: usize = 32;

/// The points of the lattice over a box given by its western, northern, eastern and southern limits: in the middle of
/// its cells, row by row.
fn lattice([west, north, east, south]: [f64; 4]) -> impl Iterator<Item = [f64; 2]> {
    let along = |low: f64, high: f64, i: usize| low + (high - low) * (i.to_f64() + 0.5) / LATTICE.to_f64();
    (0..LATTICE * LATTICE).map(move |i| [along(west, east, i % LATTICE), along(north, south, i / LATTICE)])
}

/// A pad prepared for evaluation, with a known height.
#[derive(Debug)]
struct PlacedPad {
    /// Its position in the list.
    index: usize,
    outline: Outline,
    /// The western, northern, eastern and southern limits of the outline.
    bounds: [f64; 4],
    /// The plane: the height at a point, and its gradient eastward and southward.
    centre: [f64; 2],
    height_m: f64,
    gradient: [f64; 2],
    /// The lowest and the highest height of the pad within the bounds, or beyond those.
    range_m: [f64; 2],
    /// The tangent of the slope of the banks.
    bank: f64,
    /// The distance beyond which the banks change nothing.
    limit_m: f64,
    /// The distance from the outline at which the banks begin: the width of the shore of a lake.
    shore_m: f64,
    /// The depth of a lake.
    depth_m: Option<f64>,
}

impl Pad {
    /// The outline; `None` if the pad has no effect.
    pub(crate) fn outline(&self) -> Option<Outline> {
        let turned = |shape| Outline::turned(self.centre_m, self.size_m, self.turn_deg, shape);
        let corners = || self.points_m.iter().map(|point| [point.x_m, point.z_m]).collect();
        match self.shape {
            Shape::Rectangle => Some(turned(Centred::Rectangle(self.corner_m))),
            Shape::Ellipse => Some(turned(Centred::Ellipse)),
            Shape::Polygon => (self.points_m.len() >= MIN_CORNERS).then(|| Outline::Polygon(corners())),
        }
        .filter(|_| self.enabled)
    }

    /// The pad at this height, in its centre.
    fn placed(&self, index: usize, outline: Outline, height_m: f64) -> PlacedPad {
        let bounds = outline.bounds();
        let centre = match self.shape {
            Shape::Rectangle | Shape::Ellipse => [self.centre_m.x_m, self.centre_m.z_m],
            Shape::Polygon => middle(bounds),
        };
        let is_lake = self.kind == PadKind::Lake;
        let gradient = match self.grade {
            _ if is_lake => [0.0, 0.0],
            0.0 => [0.0, 0.0],
            grade => azimuth_vector(self.grade_azimuth_deg).map(|along| grade * along),
        };
        let [west, north, east, south] = bounds;
        let rise_m = 0.5 * (gradient[0].abs() * (east - west) + gradient[1].abs() * (south - north));
        PlacedPad {
            index,
            outline,
            bounds,
            centre,
            height_m,
            gradient,
            range_m: [height_m - if is_lake { self.depth_m } else { rise_m }, height_m + rise_m],
            bank: libm::tan(self.bank_deg.to_radians()),
            limit_m: self.reach_m.unwrap_or(f64::INFINITY),
            shore_m: if is_lake { self.shore_m } else { 0.0 },
            depth_m: is_lake.then_some(self.depth_m),
        }
    }
}

/// The middle of a box.
fn middle([west, north, east, south]: [f64; 4]) -> [f64; 2] {
    [0.5 * (west + east), 0.5 * (north + south)]
}

impl PlacedPad {
    /// The height of the plane at a point.
    fn plane(&self, [x, z]: [f64; 2]) -> f64 {
        self.height_m + (self.gradient[0] * (x - self.centre[0]) + self.gradient[1] * (z - self.centre[1]))
    }

    /// The distance of a point from the bounds along the axis on which it is farther, at most that from the outline.
    fn distance_from_bounds(&self, [x, z]: [f64; 2]) -> f64 {
        let [west, north, east, south] = self.bounds;
        (west - x).max(x - east).max(north - z).max(z - south).max(0.0)
    }

    /// The terrain at a point after the pad; `height` without it.
    fn cut(&self, height: f64, at: [f64; 2]) -> f64 {
        let at_least = self.bank * (self.distance_from_bounds(at) - self.shore_m).max(0.0);
        if self.range_m[1] - height < at_least && height - self.range_m[0] < at_least {
            return height;
        }
        match self.outline.nearest(at) {
            None => match self.depth_m {
                None => self.plane(at),
                Some(depth_m) => self.height_m - depth_m.min(self.bank * self.outline.depth(at)),
            },
            Some(nearest) => {
                let plane = self.plane(nearest);
                let distance_m = libm::hypot(at[0] - nearest[0], at[1] - nearest[1]);
                if distance_m > self.limit_m {
                    return height;
                }
                let bank_m = self.bank * (distance_m - self.shore_m).max(0.0);
                height.max(plane - bank_m).min(plane + bank_m)
            }
        }
    }

    /// The distance from the bounds at which the banks have met any terrain of this range.
    fn reach_m(&self, [low, high]: [f64; 2]) -> f64 {
        let greatest = (high - self.range_m[0]).max(self.range_m[1] - low).max(0.0);
        // Wider than any rounding error.
        (self.shore_m + greatest / self.bank * (1.0 + 1e-9) + 1e-6).min(self.limit_m)
    }
}

/// The positions of the columns of a grid, for finding those between two positions.
#[derive(Debug)]
struct Columns(Vec<f64>);

impl Columns {
    fn new(grid: Grid) -> Self {
        Self((0..grid.width()).map(|c| grid.x_m(c)).collect())
    }

    /// The columns from `west` to `east`.
    fn between(&self, west: f64, east: f64) -> std::ops::Range<usize> {
        self.0.partition_point(|x| *x < west)..self.0.partition_point(|x| *x <= east)
    }
}

/// Applies pads to a row of heights in their order, and reports every change: the position in `pads` and the heights
/// before and after.
fn cut_row(pads: &[PlacedPad], z: f64, columns: &Columns, row: &mut [f64], mut changed: impl FnMut(usize, usize, f64)) {
    let extended = |[low, high]: [f64; 2], height: f64| [low.min(height), high.max(height)];
    let mut range_m = row.iter().copied().fold([f64::INFINITY, f64::NEG_INFINITY], extended);
    for (i, pad) in pads.iter().enumerate() {
        let reach_m = pad.reach_m(range_m);
        let [west, north, east, south] = pad.bounds;
        if z < north - reach_m || z > south + reach_m {
            continue;
        }
        for c in columns.between(west - reach_m, east + reach_m) {
            let (before, after) = (row[c], pad.cut(row[c], [columns.0[c], z]));
            if after != before {
                row[c] = after;
                changed(i, c, after - before);
            }
        }
        range_m = pad.range_m.into_iter().fold(range_m, extended);
    }
}

/// The volume that is moved per area of a pad from which on the banks move much more than the pad, metres.
const MANY_TIMES_M: f64 = 100.0;

/// Of the lattice over a pad, every n-th place is compared with the finished terrain.
const EVERY_PLACE: usize = 37;

/// What a pad does to the terrain.
#[derive(Clone, Debug, PartialEq)]
pub struct PadReport {
    /// The height at its centre, metres.
    pub height_m: f64,
    /// The volume that it and its banks take away, cubic metres.
    pub cut_m3: f64,
    /// The volume that it and its banks add, cubic metres.
    pub fill_m3: f64,
    /// The later pads that cover or cut into it, by their positions in the list.
    pub overlapped_by: Vec<usize>,
}

/// Rows whose volumes are summed by one task.
const ROWS_AT_ONCE: usize = 16;

impl Pads {
    /// The pads that have an effect, in their order. The height of those without one is the mean of the terrain below,
    /// interpolated bilinearly, as the pads before it leave it.
    fn placed(
        &self,
        grid: Grid,
        below: Option<&Heightfield>,
        progress: &Progress,
    ) -> Result<Vec<PlacedPad>, Cancelled> {
        let mut placed: Vec<PlacedPad> = Vec::new();
        for (index, pad) in self.pads.iter().enumerate() {
            let Some(outline) = pad.outline() else { continue };
            let height_m = match pad.height_m {
                Some(height_m) => height_m,
                None => {
                    progress.check()?;
                    mean_height(&outline, |at| height_at(grid, below, &placed, at))
                }
            };
            placed.push(pad.placed(index, outline, height_m));
        }
        Ok(placed)
    }

    /// What each pad does to a terrain, in the order of the list; `None` for those without an effect. A later pad cuts
    /// what earlier ones have left.
    pub fn report(&self, below: &Heightfield, progress: &Progress) -> Result<Vec<Option<PadReport>>, Cancelled> {
        let grid = below.grid();
        let placed = self.placed(grid, Some(below), progress)?;
        let volumes = volumes(&placed, below, progress)?;
        let mut reports = vec![None; self.pads.len()];
        for (i, (pad, [cut_m3, fill_m3])) in placed.iter().zip(volumes).enumerate() {
            let mut overlapped_by = Vec::new();
            for later in &placed[i + 1..] {
                progress.check()?;
                if overlaps(pad, later) {
                    overlapped_by.push(later.index);
                }
            }
            reports[pad.index] = Some(PadReport { height_m: pad.height_m, cut_m3, fill_m3, overlapped_by });
        }
        Ok(reports)
    }
}

/// The mean height at the points of the lattice that are inside an outline; in its middle if there are none.
fn mean_height(outline: &Outline, height: impl Fn([f64; 2]) -> f64) -> f64 {
    let inside = lattice(outline.bounds()).filter(|at| outline.nearest(*at).is_none());
    let (sum, count) = inside.fold((0.0, 0_u32), |(sum, count), at| (sum + height(at), count + 1));
    if count == 0 { height(middle(outline.bounds())) } else { sum / f64::from(count) }
}

/// The height at a point after these pads, interpolated bilinearly. Points outside are clamped to the border.
fn height_at(grid: Grid, below: Option<&Heightfield>, pads: &[PlacedPad], place_m: [f64; 2]) -> f64 {
    grid.interpolated(place_m, |c, r| {
        let height = below.map_or(0.0, |below| f64::from(below[(c, r)]));
        pads.iter().fold(height, |height, pad| pad.cut(height, [grid.x_m(c), grid.z_m(r)]))
    })
}

/// The volumes that each pad takes away and adds, cubic metres. Samples stand for the area around them.
fn volumes(pads: &[PlacedPad], below: &Heightfield, progress: &Progress) -> Result<Vec<[f64; 2]>, Cancelled> {
    let grid = below.grid();
    let columns = Columns::new(grid);
    let is_border = |i: usize, samples: usize| i == 0 || i + 1 == samples;
    let side =
        |i: usize, samples: usize, spacing_m: f64| if is_border(i, samples) { 0.5 * spacing_m } else { spacing_m };
    let counter = progress.counter(grid.height());
    let of_rows = |rows: std::ops::Range<usize>| {
        let mut sums = vec![[0.0; 2]; pads.len()];
        for r in rows {
            let mut row: Vec<f64> = below.row(r).iter().copied().map(f64::from).collect();
            let depth_m = side(r, grid.height(), grid.spacing_z_m());
            cut_row(pads, grid.z_m(r), &columns, &mut row, |pad, c, change_m| {
                let volume_m3 = change_m * depth_m * side(c, grid.width(), grid.spacing_x_m());
                sums[pad][usize::from(volume_m3 > 0.0)] += volume_m3.abs();
            });
            counter.add_one()?;
        }
        Ok(sums)
    };
    let starts: Vec<usize> = (0..grid.height()).step_by(ROWS_AT_ONCE).collect();
    let parts: Vec<Vec<[f64; 2]>> = starts
        .into_par_iter()
        .map(|first| of_rows(first..grid.height().min(first + ROWS_AT_ONCE)))
        .collect::<Result<_, Cancelled>>()?;
    // In the order of the rows, so that the sums do not depend on the number of threads.
    Ok(parts.iter().fold(vec![[0.0; 2]; pads.len()], |mut sums, part| {
        sums.iter_mut().flatten().zip(part.iter().flatten()).for_each(|(sum, volume)| *sum += volume);
        sums
    }))
}

/// Whether a later pad covers a part of a pad, or cuts into it.
fn overlaps(pad: &PlacedPad, later: &PlacedPad) -> bool {
    // Points of the pad where the later one has no effect are found without their distance from it.
    let is_covered = |at: [f64; 2]| {
        let plane = pad.plane(at);
        later.cut(plane, at) != plane || (later.distance_from_bounds(at) == 0.0 && later.outline.nearest(at).is_none())
    };
    lattice(pad.bounds).any(|at| is_covered(at) && pad.outline.nearest(at).is_none())
}

impl Operation for Pads {
    const KEY: &'static str = "pads";
    const LABEL: &'static str = "Building pads";
    const WORDS: &'static str = "flat flatten level foundation house plot platform lake pond water";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn check(&self, _grid: Grid) -> Result<(), ParameterError> {
        let too_few = |pad: &Pad| pad.enabled && pad.shape == Shape::Polygon && pad.points_m.len() < MIN_CORNERS;
        match self.pads.iter().position(too_few) {
            None => Ok(()),
            Some(i) => Err(ParameterError::conflict(
                format!("pads.{i}.points_m"),
                format!(
                    "a polygon needs at least {MIN_CORNERS} corners, but this one has {}; add corners, or disable the \
                     pad",
                    self.pads[i].points_m.len()
                ),
            )),
        }
    }

    fn has_reports(&self) -> bool {
        true
    }

    fn reports(&self, context: &EvalContext) -> Result<Vec<PartReport>, Cancelled> {
        let reports = self.report(&context.heights_below()?, context.progress)?;
        let part = |(i, report): (usize, &Option<PadReport>)| {
            let PadReport { height_m, cut_m3, fill_m3, overlapped_by } = report.as_ref()?;
            let is_lake = self.pads[i].kind == PadKind::Lake;
            let place = if is_lake { "water at" } else { "at" };
            let spacing_m = context.grid.spacing_x_m().max(context.grid.spacing_z_m());
            let size_m = self.pads[i].size_m;
            let is_rough = self.pads[i].shape != Shape::Polygon && size_m.x_m.min(size_m.z_m) < 2.0 * spacing_m;
            let rough = if is_rough { format!(" (rough: samples are {spacing_m:.0} m apart)") } else { String::new() };
            let text = format!("{place} {height_m:.1} m, {}{rough}", report::volumes([*cut_m3, *fill_m3]));
            let later = overlapped_by.first().map(|later| later + 1);
            let overlapped = later.map(|later| format!("pad {later} cuts into it; move one of them away"));
            let pad = &self.pads[i];
            let deepest_m = (cut_m3 + fill_m3) / (pad.size_m.x_m * pad.size_m.z_m).max(1.0);
            let is_far = pad.reach_m.is_none() && pad.shape != Shape::Polygon && deepest_m > MANY_TIMES_M;
            let far =
                "its banks reach far across the terrain; limit them with Maximum bank length, or set another height";
            let warning = overlapped.or_else(|| is_far.then(|| far.into()));
            let inside = |outline: Outline| {
                let places = lattice(outline.bounds()).step_by(EVERY_PLACE);
                places.filter(|at| outline.nearest(*at).is_none()).collect()
            };
            let kept_m = pad.outline().filter(|_| !is_lake).map(inside).unwrap_or_default();
            Some(PartReport { title: format!("Pad {}", i + 1), text, warning, line: None, kept_m })
        };
        Ok(reports.iter().enumerate().filter_map(part).collect())
    }

    fn is_pointwise(&self) -> bool {
        self.pads.iter().all(|pad| !pad.enabled || pad.height_m.is_some())
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let placed = self.placed(grid, context.below, progress)?;
        let columns = Columns::new(grid);
        let mut terrain = context.heights_below()?;
        let counter = progress.counter(grid.height());
        let rows = terrain.heights_mut().par_chunks_mut(grid.width()).enumerate();
        rows.try_for_each_init(Vec::new, |heights, (r, row)| {
            heights.clear();
            heights.extend(row.iter().copied().map(f64::from));
            cut_row(&placed, grid.z_m(r), &columns, heights, |_, _, _| {});
            row.iter_mut().zip(&*heights).for_each(|(to, height)| *to = height.to_f32());
            counter.add_one()
        })?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests;
