//! Level or tilted building sites, with banks down to or up to the terrain around it.
//!
//! With H the plane of the pad and e the distance outside its outline, the terrain becomes
//! clamp(h, H − tan(bank)·e, H + tan(bank)·e), where H is taken at the nearest point of the outline. Inside it is the
//! plane; where the bank has met the terrain, nothing changes.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use super::report::{self, PartReport};
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::{Grid, Heightfield};
use crate::engine::outline::{Centred, Outline};
use crate::engine::parameters::{MAX_COORDINATE_M, List, ParameterError, Point, Spec, choices, parameters};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::surface::azimuth_vector;

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

parameters! {
    /// A building site.
    pub struct Pad {
        /// Outline of the pad.
        shape: Shape = Shape::Rectangle, Spec::new("Shape");
        /// Centre, metres east and south of the map's north-west corner.
        centre_m: Point = Point { x_m: 2048.0, z_m: 2048.0 },
            Spec::number("Centre", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m")
                .when("shape", &["rectangle", "ellipse"]);
        /// Length along both sides, before turning: west to east, and north to south.
        size_m: Point = Point { x_m: 60.0, z_m: 60.0 },
            Spec::number("Size", 0.01, MAX_COORDINATE_M).slider(1.0, 500.0).unit("m").logarithmic()
                .when("shape", &["rectangle", "ellipse"]);
        /// Clockwise turn around the centre.
        turn_deg: f64 = 0.0, Spec::number("Turn", -360.0, 360.0).slider(-180.0, 180.0).unit("°")
            .when("shape", &["rectangle", "ellipse"]);
        /// Corners, metres east and south of the map's north-west corner. Where edges cross, every second part is
        /// outside.
        points_m: List<Point> = List::default(),
            Spec::number("Corner", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m")
                .when("shape", &["polygon"]);
        /// Radius of the corners, at most half the shorter side.
        corner_m: f64 = 0.0, Spec::number("Corner radius", 0.0, MAX_COORDINATE_M).slider(0.0, 50.0).unit("m")
            .when("shape", &["rectangle"]);
        /// Height at the centre. Empty: the mean height of the terrain under the pad, so that about as much is cut as
        /// filled.
        height_m: Option<f64> = None,
            Spec::number("Height", -20_000.0, 100_000.0).slider(-500.0, 3000.0).unit("m").none("mean of terrain");
        /// Slope of the pad, metres of height per metre: 0 is level, 0.02 lets water run off.
        grade: f64 = 0.0, Spec::number("Grade", 0.0, 2.0).slider(0.0, 0.2).percent();
        /// Compass direction in which the pad rises, clockwise from north.
        grade_azimuth_deg: f64 = 0.0,
            Spec::number("Rises towards", -360.0, 360.0).slider(0.0, 360.0).unit("°");
        /// Slope of the banks around the pad. Steep banks change less terrain.
        bank_deg: f64 = 35.0, Spec::number("Bank slope", 1.0, 85.0).slider(10.0, 60.0).unit("°");
        /// Whether the pad has any effect.
        enabled: bool = true, Spec::new("Enabled");
    }
}

parameters! {
    /// Flattens building sites: each pad is a plane, and its banks lead to the terrain around it. A later pad cuts into
    /// earlier ones.
    pub struct Pads {
        /// The pads.
        pads: List<Pad> = default_pads(), Spec::new("Pad");
    }
}

/// Two building sites in the default world.
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
    /// The lowest and the highest height of the plane within the bounds, or beyond those.
    range_m: [f64; 2],
    /// The tangent of the slope of the banks.
    bank: f64,
}

impl Pad {
    /// The outline; `None` if the pad has no effect.
    pub(in crate::engine) fn outline(&self) -> Option<Outline> {
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
        let gradient = match self.grade {
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
            range_m: [height_m - rise_m, height_m + rise_m],
            bank: libm::tan(self.bank_deg.to_radians()),
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
        let at_least = self.bank * self.distance_from_bounds(at);
        if self.range_m[1] - height < at_least && height - self.range_m[0] < at_least {
            return height;
        }
        match self.outline.nearest(at) {
            None => self.plane(at),
            Some(nearest) => {
                let plane = self.plane(nearest);
                let bank_m = self.bank * libm::hypot(at[0] - nearest[0], at[1] - nearest[1]);
                height.max(plane - bank_m).min(plane + bank_m)
            }
        }
    }

    /// The distance from the bounds at which the banks have met any terrain of this range.
    fn reach_m(&self, [low, high]: [f64; 2]) -> f64 {
        let greatest = (high - self.range_m[0]).max(self.range_m[1] - low).max(0.0);
        // Wider than any rounding error.
        greatest / self.bank * (1.0 + 1e-9) + 1e-6
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
    let side = |i: usize, samples: usize, spacing_m: f64| if is_border(i, samples) { 0.5 * spacing_m } else { spacing_m };
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
    const WORDS: &'static str = "flat flatten level foundation house plot platform";

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
            let text = format!("at {height_m:.1} m, {}", report::volumes([*cut_m3, *fill_m3]));
            let later = overlapped_by.first().map(|later| later + 1);
            let warning = later.map(|later| format!("pad {later} cuts into it; move one of them away"));
            Some(PartReport { title: format!("Pad {}", i + 1), text, warning, line: None })
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
mod tests {
    use super::super::testing::{assert_subset, modified, stream};
    use super::*;
    use crate::engine::heightfield::Extent;

    const WORLD: Extent = Extent { width_m: 300.0, depth_m: 200.0 };

    fn point(x_m: f64, z_m: f64) -> Point {
        Point { x_m, z_m }
    }

    fn pads(pads: Vec<Pad>) -> Pads {
        Pads { pads: pads.into() }
    }

    /// A level rectangle with banks of 45°.
    fn pad(centre: [f64; 2], size: [f64; 2], height_m: f64) -> Pad {
        let [centre_m, size_m] = [centre, size].map(|[x, z]| point(x, z));
        Pad { centre_m, size_m, height_m: Some(height_m), bank_deg: 45.0, ..Default::default() }
    }

    fn level(grid: Grid, height: f32) -> Heightfield {
        Heightfield::from_fn(grid, |_, _| height)
    }

    /// A slope of 1 m per 10 m eastward and 1 m per 20 m southward.
    fn slope(grid: Grid) -> Heightfield {
        Heightfield::from_fn(grid, |c, r| (grid.x_m(c) / 10.0 + grid.z_m(r) / 20.0) as f32)
    }

    /// Pads of every shape, with all settings.
    fn varied() -> Vec<Pad> {
        let polygon = vec![point(200.0, 20.0), point(280.0, 40.0), point(230.0, 70.0), point(290.0, 110.0)];
        vec![
            Pad { turn_deg: 30.0, corner_m: 8.0, ..pad([80.0, 60.0], [70.0, 40.0], 30.0) },
            Pad { shape: Shape::Ellipse, turn_deg: -75.0, bank_deg: 20.0, ..pad([110.0, 150.0], [90.0, 30.0], 12.0) },
            Pad {
                shape: Shape::Polygon,
                points_m: polygon.into(),
                grade: 0.07,
                grade_azimuth_deg: 130.0,
                bank_deg: 60.0,
                ..pad([0.0, 0.0], [1.0, 1.0], -9.0)
            },
            Pad { grade: 0.1, grade_azimuth_deg: -20.0, ..pad([120.0, 90.0], [50.0, 50.0], 45.0) },
        ]
    }

    #[test]
    fn cut_and_fill_match_heights_found_by_hand() {
        let grid = Grid::new(WORLD, 31, 21);
        // 100…140 m east, at height 15 on terrain at 0: banks of 45° reach 15 m.
        let terrain = modified(&pads(vec![pad([120.0, 100.0], [40.0, 60.0], 15.0)]), &level(grid, 0.0));
        assert_eq!(terrain.row(10)[7..18], [0.0, 0.0, 5.0, 15.0, 15.0, 15.0, 15.0, 15.0, 5.0, 0.0, 0.0]);
        // 10 m from the corner along both axes.
        let corner = f64::from(terrain[(9, 6)]);
        assert!((corner - (15.0 - 200.0_f64.sqrt())).abs() < 1e-5, "{corner}");
        let cut = modified(&pads(vec![pad([120.0, 100.0], [40.0, 60.0], -15.0)]), &level(grid, 0.0));
        assert!(terrain.heights().iter().zip(cut.heights()).all(|(fill, cut)| *fill == -cut));
        // A pad that rises by 1 m per 10 m towards the east, and its banks at the heights of its edges.
        let tilted = Pad { grade: 0.1, grade_azimuth_deg: 90.0, ..pad([120.0, 100.0], [40.0, 60.0], 20.0) };
        let tilted = modified(&pads(vec![tilted]), &level(grid, 0.0));
        assert_eq!(tilted.row(10)[8..17], [0.0, 8.0, 18.0, 19.0, 20.0, 21.0, 22.0, 12.0, 2.0]);
    }

    #[test]
    fn inside_it_is_the_plane_and_beyond_the_banks_nothing_changes() {
        let grid = Grid::new(WORLD, 301, 201);
        let below = slope(grid);
        for pad in varied() {
            let outline = pad.outline().expect("a shape");
            let terrain = modified(&pads(vec![pad.clone()]), &below);
            let (mut inside, mut untouched, mut steepest) = (0, 0, 0.0_f64);
            let placed = pad.placed(0, outline.clone(), pad.height_m.expect("set"));
            for (c, r) in (0..grid.height()).flat_map(|r| (0..grid.width()).map(move |c| (c, r))) {
                let at = [grid.x_m(c), grid.z_m(r)];
                match outline.nearest(at) {
                    None => {
                        inside += 1;
                        assert_eq!(terrain[(c, r)].to_bits(), (placed.plane(at) as f32).to_bits());
                    }
                    Some(nearest) => {
                        let distance = libm::hypot(at[0] - nearest[0], at[1] - nearest[1]);
                        let off = (f64::from(below[(c, r)]) - placed.plane(nearest)).abs();
                        if off < placed.bank * distance {
                            untouched += 1;
                            assert_eq!(terrain[(c, r)].to_bits(), below[(c, r)].to_bits());
                        } else if distance > 0.1 {
                            let off = (f64::from(terrain[(c, r)]) - placed.plane(nearest)).abs();
                            steepest = steepest.max(off / distance);
                        }
                    }
                }
            }
            assert!(inside > 500 && untouched > 500, "{inside}, {untouched}");
            let steepest_deg = libm::atan(steepest).to_degrees();
            assert!((steepest_deg - pad.bank_deg).abs() < 0.1, "{steepest_deg} not {}", pad.bank_deg);
        }
    }

    #[test]
    fn pads_equal_the_plain_formula() {
        let grid = Grid::new(WORLD, 121, 81);
        let mut rng = stream().at(1);
        let mut all = varied();
        for i in 0..30 {
            let centre = [rng.between(-30.0, 330.0), rng.between(-30.0, 230.0)];
            let size = [rng.between(0.5, 60.0), rng.between(0.5, 60.0)];
            let shape = if i % 2 == 0 { Shape::Rectangle } else { Shape::Ellipse };
            let (turn_deg, corner_m) = (rng.between(-200.0, 200.0), rng.between(0.0, 20.0));
            let (bank_deg, grade) = (rng.between(5.0, 80.0), rng.between(0.0, 0.3));
            all.push(Pad {
                shape,
                turn_deg,
                corner_m,
                bank_deg,
                grade,
                enabled: i % 7 != 3,
                ..pad(centre, size, rng.between(-50.0, 150.0))
            });
        }
        let below = slope(grid);
        let found = modified(&pads(all.clone()), &below);
        for (c, r) in (0..grid.height()).flat_map(|r| (0..grid.width()).map(move |c| (c, r))) {
            let at = [grid.x_m(c), grid.z_m(r)];
            let mut height = f64::from(below[(c, r)]);
            for pad in all.iter().filter(|pad| pad.enabled) {
                let outline = pad.outline().expect("a shape");
                let nearest = outline.nearest(at).unwrap_or(at);
                let [west, north, east, south] = outline.bounds();
                let azimuth = pad.grade_azimuth_deg.to_radians();
                let along = (nearest[0] - 0.5 * (west + east)) * libm::sin(azimuth)
                    - (nearest[1] - 0.5 * (north + south)) * libm::cos(azimuth);
                let plane = pad.height_m.expect("set") + pad.grade * along;
                let bank = libm::tan(pad.bank_deg.to_radians()) * libm::hypot(at[0] - nearest[0], at[1] - nearest[1]);
                height = height.clamp(plane - bank, plane + bank);
            }
            assert!((f64::from(found[(c, r)]) - height).abs() < 1e-4, "{c}, {r}: {} not {height}", found[(c, r)]);
        }
    }

    #[test]
    fn a_small_map_is_an_exact_subset_of_a_large_one() {
        let extent = Extent { width_m: 301.7, depth_m: 203.3 };
        let at = |side: usize| modified(&pads(varied()), &level(Grid::new(extent, side, side), 3.0));
        assert_subset(&at(17), &at(65));
    }

    #[test]
    fn pads_with_heights_can_be_evaluated_in_parts() {
        let grid = Grid::new(WORLD, 61, 41);
        let operation = pads(varied());
        assert!(operation.is_pointwise());
        let whole = modified(&operation, &slope(grid));
        let part = grid.part([20, 11], [30, 19]);
        let found = modified(&operation, &slope(part));
        let expected = Heightfield::from_fn(part, |c, r| whole[(20 + c, 11 + r)]);
        assert_eq!(found, expected);
        let mut all = varied();
        all[0].height_m = None;
        assert!(!pads(all.clone()).is_pointwise());
        all[0].enabled = false;
        assert!(pads(all).is_pointwise());
    }

    #[test]
    fn without_a_height_it_is_the_mean_of_the_terrain_below() {
        let grid = Grid::new(WORLD, 61, 41);
        let without = |pad: Pad| Pad { height_m: None, ..pad };
        let heights = |all: Vec<Pad>| -> Vec<f64> {
            let reports = pads(all).report(&slope(grid), &Progress::new()).expect("not cancelled");
            reports.into_iter().flatten().map(|report| report.height_m).collect()
        };
        // On a plane it is the height at the centre.
        for pad in &varied()[..2] {
            let expected = pad.centre_m.x_m / 10.0 + pad.centre_m.z_m / 20.0;
            let found = heights(vec![without(pad.clone())])[0];
            assert!((found - expected).abs() < 1e-4, "{found} not {expected}");
        }
        // A triangle: half the points of the box, whose mean is at its centroid (to within the lattice).
        let corners = vec![point(100.0, 50.0), point(160.0, 50.0), point(100.0, 110.0)];
        let triangle = Pad { shape: Shape::Polygon, points_m: corners.into(), ..Default::default() };
        let found = heights(vec![triangle])[0];
        assert!((found - (12.0 + 3.5)).abs() < 0.15, "{found}");
        // As earlier pads leave it.
        let first = pad([150.0, 100.0], [100.0, 100.0], 70.0);
        let second = without(pad([150.0, 100.0], [20.0, 20.0], 0.0));
        assert_eq!(heights(vec![first, second]), [70.0, 70.0]);
        // Smaller than the lattice's cells could be, and off the map: the nearest terrain.
        let tiny = without(pad([400.0, 100.0], [0.01, 0.01], 0.0));
        assert!((heights(vec![tiny])[0] - 35.0).abs() < 1e-4);
    }

    #[test]
    fn later_pads_cut_earlier_ones_and_are_reported() {
        let grid = Grid::new(WORLD, 31, 21);
        let all = vec![
            pad([100.0, 100.0], [60.0, 60.0], 10.0),
            pad([130.0, 100.0], [40.0, 20.0], 4.0),
            Pad { enabled: false, ..pad([100.0, 100.0], [40.0, 20.0], 90.0) },
            pad([250.0, 50.0], [20.0, 20.0], 4.0),
            // At the height of the first: nothing changes, but one covers the other.
            pad([80.0, 100.0], [20.0, 20.0], 10.0),
        ];
        let terrain = modified(&pads(all.clone()), &level(grid, 0.0));
        assert_eq!([terrain[(9, 10)], terrain[(12, 10)], terrain[(14, 10)]], [10.0, 4.0, 4.0]);
        // 10 m north of the second pad its bank has not yet reached the plane of the first.
        assert_eq!(terrain[(12, 8)], 10.0);
        let report = pads(all).report(&level(grid, 0.0), &Progress::new()).expect("not cancelled");
        let overlaps: Vec<Option<Vec<usize>>> =
            report.into_iter().map(|report| report.map(|report| report.overlapped_by)).collect();
        assert_eq!(overlaps, [Some(vec![1, 4]), Some(vec![]), None, Some(vec![]), Some(vec![])]);
    }

    #[test]
    fn volumes_are_those_of_frustums() {
        let grid = Grid::new(WORLD, 1201, 801);
        // A block of 60 × 40 × 10 m, banks with triangular sections, and four quarters of a cone.
        let expected = 60.0 * 40.0 * 10.0 + 2.0 * (60.0 + 40.0) * 50.0 + std::f64::consts::PI * 1000.0 / 3.0;
        let site = |height_m| pads(vec![pad([150.0, 100.0], [60.0, 40.0], height_m)]);
        let volumes = |pads: Pads| {
            let report = pads.report(&level(grid, 0.0), &Progress::new()).expect("not cancelled");
            report[0].clone().map(|report| [report.cut_m3, report.fill_m3]).expect("a pad")
        };
        let [[cut, fill], [other_cut, other_fill]] = [10.0, -10.0].map(|height_m| volumes(site(height_m)));
        assert!((fill / expected - 1.0).abs() < 1e-3, "{fill} not {expected}");
        assert_eq!([cut, other_fill, other_cut], [0.0, 0.0, fill]);
        // A pad at the mean height cuts as much as it fills.
        let balanced = pads(vec![Pad { height_m: None, ..pad([150.0, 100.0], [60.0, 40.0], 0.0) }]);
        let report = balanced.report(&slope(grid), &Progress::new()).expect("not cancelled");
        let report = report[0].clone().expect("a pad");
        assert!(report.cut_m3 > 1000.0 && (report.cut_m3 / report.fill_m3 - 1.0).abs() < 0.01, "{report:?}");
        // Samples on the border stand for half a cell, those in corners for a quarter.
        let everywhere = pads(vec![Pad { centre_m: point(150.0, 100.0), size_m: point(900.0, 900.0), ..slab(7.0) }]);
        let [_, fill] = volumes(everywhere);
        assert!((fill / (300.0 * 200.0 * 7.0) - 1.0).abs() < 1e-9, "{fill}");
    }

    fn slab(height_m: f64) -> Pad {
        Pad { height_m: Some(height_m), ..Default::default() }
    }

    #[test]
    fn polygons_need_three_corners() {
        let grid = Grid::new(WORLD, 31, 21);
        let two = Pad {
            shape: Shape::Polygon,
            points_m: vec![point(1.0, 2.0), point(100.0, 90.0)].into(),
            ..Default::default()
        };
        let operation = pads(vec![slab(1.0), two.clone()]);
        assert_eq!(
            operation.check(grid).expect_err("refused").to_string(),
            "pads.1.points_m: a polygon needs at least 3 corners, but this one has 2; add corners, or disable the pad"
        );
        assert_eq!(modified(&pads(vec![two.clone()]), &slope(grid)), slope(grid), "it has no effect");
        assert_eq!(pads(vec![Pad { enabled: false, ..two }]).check(grid), Ok(()));
        assert_eq!(modified(&pads(Vec::new()), &slope(grid)), slope(grid));
    }
}
