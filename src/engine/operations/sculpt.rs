//! Strokes of a brush that raise, lower, flatten, smooth, roughen or grade the terrain.
//!
//! A stroke changes the height h at a place by its weight w there (see `strokes`): h ± strength_m·w, or
//! (1 − a)·h + a·target with a = strength·w, so that a = 1 gives the target to the bit. Strokes act in order, each on
//! what those before it left, and the step rounds to f32 once.

use std::ops::Range;

use rayon::prelude::*;

use super::local_blur::LocalBlur;
use super::noise::Fbm;
use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield, MAX_HEIGHT_M, mix};
use crate::parameters::{List, Point, Spec, choices, parameters};
use crate::progress::Cancelled;
use crate::strokes::{self, Brush, Columns, RowWeights, StrokeLine, rows_between};

choices! {
    /// What a stroke does to the terrain.
    pub enum Mode {
        /// Adds height.
        Raise = "raise", "Raise";
        /// Takes height away.
        Lower = "lower", "Lower";
        /// Brings the terrain to one height.
        Flatten = "flatten", "Flatten";
        /// Blurs the terrain.
        Smooth = "smooth", "Smooth";
        /// Adds bumps and hollows.
        Roughen = "roughen", "Roughen";
        /// Makes an even slope from the beginning of the stroke to its end.
        Ramp = "ramp", "Ramp";
        /// Takes away what earlier strokes of this step did.
        Erase = "erase", "Erase";
    }
}

parameters! {
    /// One stroke of the brush.
    pub struct Stroke {
        /// What the stroke does to the terrain.
        mode: Mode = Mode::Raise, Spec::new("Mode");
        /// The line of the stroke: positions in metres east and south of the map's north-west corner.
        points_m: List<Point> = List::default(), strokes::POINTS;
        /// Pressure of the pen at each point, from 0 to 1. Empty, or beyond the end of the list: full pressure.
        pressure: Option<List<f64>> = None, strokes::PRESSURE.sparse();
        /// Distance from the line at which the effect ends.
        radius_m: f64 = 50.0, strokes::RADIUS;
        /// Fraction of the radius with the full effect. Beyond it the effect fades out.
        hardness: f64 = 0.5, strokes::HARDNESS;
        /// Height that the stroke adds or takes away; for roughen, the greatest height of the bumps.
        strength_m: f64 = 5.0,
            Spec::number("Height", 0.0, 10_000.0).slider(0.0, 200.0).unit("m")
                .when("mode", &["raise", "lower", "roughen"]).sparse();
        /// How far the terrain moves towards the result: 0 is not at all, 1 is all the way.
        strength: f64 = 0.5,
            Spec::number("Strength", 0.0, 1.0).when("mode", &["flatten", "smooth", "ramp", "erase"]).sparse();
        /// Height to flatten to.
        height_m: f64 = 0.0,
            Spec::number("Target height", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m")
                .when("mode", &["flatten"]).sparse();
        /// Height at the beginning of the ramp. Off: that of the terrain there.
        from_height_m: Option<f64> = None,
            Spec::number("Start height", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m").none("terrain there")
                .when("mode", &["ramp"]).sparse();
        /// Height at the end of the ramp. Off: that of the terrain there.
        to_height_m: Option<f64> = None,
            Spec::number("End height", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m").none("terrain there")
                .when("mode", &["ramp"]).sparse();
        /// Size of the largest bumps, from one to the next.
        wavelength_m: f64 = 60.0,
            Spec::number("Wavelength", 0.1, 1_000_000.0).slider(5.0, 1000.0).unit("m").logarithmic()
                .when("mode", &["roughen"]).sparse();
        /// Selects the bumps, together with the project's seed.
        seed: u32 = 0,
            Spec::number("Stroke seed", 0.0, 4_294_967_295.0).slider(0.0, 100.0).when("mode", &["roughen"]).sparse();
        /// Whether the stroke has any effect.
        enabled: bool = true, Spec::new("Enabled").sparse();
    }
}

parameters! {
    /// Shapes the terrain by hand, with strokes of a brush.
    pub struct Sculpt {
        /// The strokes, in the order in which they act.
        strokes: List<Stroke> = List::default(), Spec::new("Strokes");
    }
}

/// Rows per parallel task. The strokes that meet them are searched once for all of them.
const BAND: usize = 8;

impl Stroke {
    /// Whether the stroke is a function of the place and of the height below.
    fn is_pointwise(&self) -> bool {
        match self.mode {
            Mode::Smooth => false,
            Mode::Ramp => self.from_height_m.is_some() && self.to_height_m.is_some(),
            Mode::Raise | Mode::Lower | Mode::Flatten | Mode::Roughen | Mode::Erase => true,
        }
    }

    fn line(&self) -> Option<StrokeLine> {
        let brush = Brush { radius_m: self.radius_m, hardness: self.hardness };
        StrokeLine::new(&self.points_m, self.pressure.as_ref().map(|pressure| pressure.as_slice()), brush)
    }

    /// The stroke prepared for evaluation. `land` gives the height at a point, for a ramp without heights of its own.
    /// `None` if the stroke smooths, which needs neighbours, or has no points.
    fn prepared(&self, context: &EvalContext, land: impl Fn(Point) -> f64) -> Option<PreparedStroke> {
        let line = self.line()?;
        let strength = self.strength;
        let effect = match self.mode {
            Mode::Raise => Effect::Add { height_m: self.strength_m },
            Mode::Lower => Effect::Add { height_m: -self.strength_m },
            Mode::Flatten => Effect::Flatten { strength, height_m: self.height_m },
            Mode::Smooth => return None,
            Mode::Roughen => {
                let stream = context.stream.with_step_seed(self.seed);
                let noise = Fbm::new(self.wavelength_m, context.grid.extent(), stream);
                Effect::Roughen { height_m: self.strength_m, noise }
            }
            Mode::Ramp => {
                let (first, last) = (*self.points_m.first()?, *self.points_m.last()?);
                let from_m = self.from_height_m.unwrap_or_else(|| land(first));
                let length_m = line.length_m();
                // Without a length there is no slope.
                let to_m = if length_m > 0.0 { self.to_height_m.unwrap_or_else(|| land(last)) } else { from_m };
                Effect::Ramp { strength, from_m, to_m, length_m: if length_m > 0.0 { length_m } else { 1.0 } }
            }
            Mode::Erase => Effect::Erase { strength },
        };
        Some(PreparedStroke { line, effect })
    }
}

/// What a stroke does, as a function of the place, the weight and the height.
enum Effect {
    Add { height_m: f64 },
    Flatten { strength: f64, height_m: f64 },
    Roughen { height_m: f64, noise: Fbm },
    Ramp { strength: f64, from_m: f64, to_m: f64, length_m: f64 },
    Erase { strength: f64 },
}

/// A stroke whose result at a sample depends on the height at that sample alone.
struct PreparedStroke {
    line: StrokeLine,
    effect: Effect,
}

/// A row of a map under the strokes.
struct Row<'a> {
    z_m: f64,
    columns: &'a Columns,
    /// The terrain below the step; `None` is flat terrain at height 0.
    below: Option<&'a [f32]>,
    heights: &'a mut [f64],
}

/// Changes the heights that have a weight; `height(i, h, w)` is the new one. The others keep all their bits.
fn change(heights: &mut [f64], weights: &[f64], height: impl Fn(usize, f64, f64) -> f64) {
    for (i, (own, weight)) in heights.iter_mut().zip(weights).enumerate() {
        if *weight > 0.0 {
            *own = height(i, *own, *weight);
        }
    }
}

impl PreparedStroke {
    fn apply(&self, row: &mut Row, space: &mut RowWeights) {
        let z_m = row.z_m;
        space.fill(&self.line, z_m, row.columns);
        if matches!(self.effect, Effect::Ramp { .. }) {
            space.fill_arc_lengths(&self.line, z_m, row.columns);
        }
        let touched = space.columns();
        let (heights, weights) = (&mut row.heights[touched.clone()], space.weights());
        let (xs_m, arc_lengths_m) = (&row.columns.xs_m()[touched.clone()], space.arc_lengths_m());
        match &self.effect {
            Effect::Add { height_m } => change(heights, weights, |_, h, w| h + height_m * w),
            Effect::Flatten { strength, height_m } => {
                change(heights, weights, |_, h, w| mix(h, *height_m, strength * w));
            }
            Effect::Roughen { height_m, noise } => {
                change(heights, weights, |i, h, w| h + height_m * w * noise.at(xs_m[i], z_m));
            }
            Effect::Ramp { strength, from_m, to_m, length_m } => change(heights, weights, |i, h, w| {
                mix(h, mix(*from_m, *to_m, arc_lengths_m[i] / length_m), strength * w)
            }),
            Effect::Erase { strength } => {
                let below = row.below.map(|below| &below[touched]);
                let before = |i: usize| below.map_or(0.0, |below| f64::from(below[i]));
                change(heights, weights, |i, h, w| mix(h, before(i), strength * w));
            }
        }
    }
}

/// The strokes that meet some of the rows.
fn near<'a>(strokes: &'a [PreparedStroke], grid: Grid, rows: &Range<usize>) -> Vec<&'a PreparedStroke> {
    let [north_m, south_m] = [rows.start, rows.end - 1].map(|r| grid.z_m(r));
    strokes.iter().filter(|stroke| stroke.line.meets_rows(north_m, south_m)).collect()
}

/// Applies the strokes that meet a row, in order.
fn apply_all(
    strokes: &[&PreparedStroke],
    mut row: Row,
    space: &mut RowWeights,
    context: &EvalContext,
) -> Result<(), Cancelled> {
    let z_m = row.z_m;
    for stroke in strokes.iter().filter(|stroke| stroke.line.meets_rows(z_m, z_m)) {
        stroke.apply(&mut row, space);
        context.progress.check()?;
    }
    Ok(())
}

/// The height rounded to f32, within the limits of all steps.
fn rounded(height: f64) -> f32 {
    height.to_f32().clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M)
}

/// Fills a row with the terrain below the step.
fn copy_below(below: Option<&[f32]>, heights: &mut [f64]) {
    match below {
        Some(below) => heights.iter_mut().zip(below).for_each(|(height, below)| *height = f64::from(*below)),
        None => heights.fill(0.0),
    }
}

impl Sculpt {
    fn enabled(&self) -> impl Iterator<Item = &Stroke> {
        self.strokes.iter().filter(|stroke| stroke.enabled)
    }

    /// Applies pointwise strokes in one pass over the rows.
    fn evaluate_rows(&self, context: &EvalContext) -> Result<Heightfield, Cancelled> {
        let (grid, width) = (context.grid, context.grid.width());
        // No ramp needs the height of the terrain.
        let strokes: Vec<PreparedStroke> =
            self.enabled().filter_map(|stroke| stroke.prepared(context, |_| 0.0)).collect();
        let columns = Columns::new(grid);
        let mut terrain = Heightfield::flat(grid);
        let counter = context.progress.counter(grid.height());
        terrain.heights_mut().par_chunks_mut(BAND * width).enumerate().try_for_each_init(
            || (RowWeights::default(), vec![0.0; width]),
            |(space, heights), (band, rows)| {
                let first = band * BAND;
                let near = near(&strokes, grid, &(first..first + rows.len() / width));
                for (r, row) in (first..).zip(rows.chunks_exact_mut(width)) {
                    let below = context.below.map(|below| below.row(r));
                    copy_below(below, heights);
                    let changed = Row { z_m: grid.z_m(r), columns: &columns, below, heights };
                    apply_all(&near, changed, space, context)?;
                    row.iter_mut().zip(&*heights).for_each(|(height, exact)| *height = rounded(*exact));
                    counter.add_one()?;
                }
                Ok(())
            },
        )?;
        Ok(terrain)
    }

    /// Applies strokes of any kind to a map in double precision.
    fn evaluate_in_order(&self, context: &EvalContext) -> Result<Heightfield, Cancelled> {
        let (grid, width) = (context.grid, context.grid.width());
        let mut map = Map { context, columns: Columns::new(grid), heights: vec![0.0; grid.samples()] };
        map.heights.par_chunks_mut(width).enumerate().try_for_each(|(r, heights)| {
            copy_below(context.below.map(|below| below.row(r)), heights);
            context.progress.check()
        })?;
        let counter = context.progress.counter(self.strokes.len());
        let mut waiting: Vec<PreparedStroke> = Vec::new();
        for stroke in self.enabled() {
            if !stroke.is_pointwise() {
                map.apply(&waiting)?;
                waiting.clear();
            }
            if stroke.mode == Mode::Smooth {
                map.smooth(stroke)?;
            } else {
                waiting.extend(stroke.prepared(context, |point| map.height_at(point)));
            }
            counter.add_one()?;
        }
        map.apply(&waiting)?;
        let mut terrain = Heightfield::flat(grid);
        terrain.heights_mut().par_chunks_mut(width).zip(map.heights.par_chunks(width)).try_for_each(
            |(row, exact)| {
                row.iter_mut().zip(exact).for_each(|(height, exact)| *height = rounded(*exact));
                context.progress.check()
            },
        )?;
        Ok(terrain)
    }
}

/// The terrain between two strokes.
struct Map<'a> {
    context: &'a EvalContext<'a>,
    columns: Columns,
    heights: Vec<f64>,
}

impl Map<'_> {
    /// The height at a point, interpolated bilinearly. Points outside are clamped to the border.
    fn height_at(&self, Point { x_m, z_m }: Point) -> f64 {
        let grid = self.context.grid;
        grid.interpolated([x_m, z_m], |c, r| self.heights[r * grid.width() + c])
    }

    /// Applies pointwise strokes in one pass over the rows that they meet.
    fn apply(&mut self, strokes: &[PreparedStroke]) -> Result<(), Cancelled> {
        let (context, grid, width) = (self.context, self.context.grid, self.context.grid.width());
        let (mut north_m, mut south_m) = (f64::INFINITY, f64::NEG_INFINITY);
        for stroke in strokes {
            let [[_, north], [_, south]] = stroke.line.bounds_m();
            (north_m, south_m) = (north_m.min(north), south_m.max(south));
        }
        let rows = if strokes.is_empty() { 0..0 } else { rows_between(grid, north_m, south_m) };
        let heights = &mut self.heights[rows.start * width..rows.end * width];
        heights.par_chunks_mut(BAND * width).enumerate().try_for_each_init(
            RowWeights::default,
            |space, (band, heights)| {
                let first = rows.start + band * BAND;
                let near = near(strokes, grid, &(first..first + heights.len() / width));
                (first..).zip(heights.chunks_exact_mut(width)).try_for_each(|(r, heights)| {
                    let below = context.below.map(|below| below.row(r));
                    let row = Row { z_m: grid.z_m(r), columns: &self.columns, below, heights };
                    apply_all(&near, row, space, context)
                })
            },
        )
    }

    /// Applies a stroke that smooths: h + strength·w·(G∗h − h), G a Gaussian whose standard deviation is a quarter of
    /// the radius.
    fn smooth(&mut self, stroke: &Stroke) -> Result<(), Cancelled> {
        let Some(line) = stroke.line() else { return Ok(()) };
        let (grid, progress) = (self.context.grid, self.context.progress);
        let [[west_m, north_m], [east_m, south_m]] = line.bounds_m();
        let rows = rows_between(grid, north_m, south_m);
        let touched = self.columns.between(west_m, east_m);
        let blur = LocalBlur::new(0.25 * stroke.radius_m, (grid, &self.heights), touched, &rows, progress)?;
        let Some(blur) = blur else { return Ok(()) };
        let heights = &mut self.heights[rows.start * grid.width()..rows.end * grid.width()];
        heights.par_chunks_mut(grid.width()).enumerate().try_for_each_init(
            || (RowWeights::default(), Vec::new()),
            |(space, blurred), (i, heights)| {
                let r = rows.start + i;
                space.fill(&line, grid.z_m(r), &self.columns);
                let touched = space.columns();
                if !touched.is_empty() {
                    blur.row(r, &touched, blurred, progress)?;
                    let share = stroke.strength;
                    change(&mut heights[touched], space.weights(), |i, h, w| mix(h, blurred[i], share * w));
                }
                progress.check()
            },
        )
    }
}

impl Operation for Sculpt {
    const KEY: &'static str = "sculpt";
    const LABEL: &'static str = "Sculpt";
    const WORDS: &'static str = "paint brush draw raise lower flatten roughen hand hill hollow";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn is_pointwise(&self) -> bool {
        self.enabled().all(Stroke::is_pointwise)
    }

    /// Strokes that are not pointwise act on a map in double precision, and one that smooths needs another such map.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        let smooths = self.enabled().any(|stroke| stroke.mode == Mode::Smooth);
        match (self.is_pointwise(), smooths) {
            (true, _) => 2.0,
            (false, false) => 4.0,
            (false, true) => 5.0,
        }
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        if self.is_pointwise() { self.evaluate_rows(context) } else { self.evaluate_in_order(context) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::gaussian_blur::GaussianBlur;
    use super::super::testing::{assert_subset, evaluated, modified, rough_terrain, stream};
    use super::*;
    use crate::cast::ToInteger;
    use crate::heightfield::Extent;
    use crate::parameters::{group_from_json, group_to_json};
    use crate::random::Rng;

    const WORLD: Extent = Extent { width_m: 160.0, depth_m: 80.0 };

    fn grid() -> Grid {
        Grid::new(WORLD, 65, 33)
    }

    fn level(height: f32) -> Heightfield {
        Heightfield::from_fn(grid(), |_, _| height)
    }

    fn stroke(mode: Mode, places: &[[f64; 2]]) -> Stroke {
        let points_m = places.iter().map(|&[x_m, z_m]| Point { x_m, z_m }).collect();
        Stroke { mode, points_m, radius_m: 10.0, strength_m: 8.0, ..Default::default() }
    }

    fn sculpt(strokes: &[Stroke]) -> Sculpt {
        Sculpt { strokes: strokes.to_vec().into() }
    }

    #[test]
    fn a_dab_of_every_mode_by_hand() {
        // From the centre, samples 2.5 m apart have the weights 1, 1, 1, ½, 0.
        let centre = [[80.0, 40.0]];
        let heights = |strokes: &[Stroke], below: &Heightfield| {
            let terrain = modified(&sculpt(strokes), below);
            let east: [f32; 5] = std::array::from_fn(|i| terrain[(32 + i, 16)]);
            let south: [f32; 5] = std::array::from_fn(|i| terrain[(32, 16 + i)]);
            assert_eq!(east, south);
            east
        };
        assert_eq!(heights(&[stroke(Mode::Raise, &centre)], &level(3.0)), [11.0, 11.0, 11.0, 7.0, 3.0]);
        assert_eq!(heights(&[stroke(Mode::Lower, &centre)], &level(3.0)), [-5.0, -5.0, -5.0, -1.0, 3.0]);
        let flatten = Stroke { height_m: 19.0, strength: 0.5, ..stroke(Mode::Flatten, &centre) };
        assert_eq!(heights(std::slice::from_ref(&flatten), &level(3.0)), [11.0, 11.0, 11.0, 7.0, 3.0]);
        let all = Stroke { strength: 1.0, height_m: 0.1, ..flatten };
        assert_eq!(heights(&[all], &level(3.0))[..3], [0.1; 3]);
        let erase = Stroke { strength: 0.5, ..stroke(Mode::Erase, &centre) };
        let raised = stroke(Mode::Raise, &centre);
        assert_eq!(heights(&[raised.clone(), erase.clone()], &level(3.0)), [7.0, 7.0, 7.0, 6.0, 3.0]);
        assert_eq!(heights(&[erase, raised.clone()], &level(3.0)), [11.0, 11.0, 11.0, 7.0, 3.0]);
        let smooth = Stroke { strength: 1.0, ..stroke(Mode::Smooth, &centre) };
        assert_eq!(heights(&[smooth], &level(3.1)), [3.1; 5]);
        // A ramp without length is flat.
        let ramp = Stroke { strength: 1.0, ..stroke(Mode::Ramp, &centre) };
        assert_eq!(heights(&[raised.clone(), ramp.clone()], &level(3.0)), [11.0, 11.0, 11.0, 9.0, 3.0]);
        let fixed = Stroke { from_height_m: Some(5.0), to_height_m: Some(9.0), ..ramp };
        assert_eq!(heights(&[fixed], &level(3.0)), [5.0, 5.0, 5.0, 4.0, 3.0]);
        let disabled = Stroke { enabled: false, ..raised };
        assert_eq!(heights(&[disabled], &level(3.0)), [3.0; 5]);
        assert_eq!(modified(&sculpt(&[]), &level(3.1)), level(3.1));
    }

    #[test]
    fn a_ramp_follows_the_arc_length_between_the_heights_that_it_finds() {
        let below = Heightfield::from_fn(grid(), |c, _| if c < 32 { 10.0 } else { 40.0 });
        // East for 60 m, then south for 40 m; an earlier stroke raises the start to 20 m.
        let start = Stroke { strength_m: 10.0, ..stroke(Mode::Raise, &[[40.0, 20.0]]) };
        let bend = [[40.0, 20.0], [100.0, 20.0], [100.0, 60.0]];
        let ramp = Stroke { strength: 1.0, ..stroke(Mode::Ramp, &bend) };
        let terrain = modified(&sculpt(&[start, ramp.clone()]), &below);
        for (c, r, expected) in [(16, 8, 20.0), (28, 8, 26.0), (40, 8, 32.0), (40, 16, 36.0), (40, 24, 40.0)] {
            assert_eq!(terrain[(c, r)], expected, "column {c}, row {r}");
        }
        assert_eq!(terrain[(28, 10)], 26.0, "beside the line");
        assert_eq!(terrain[(28, 20)], 10.0, "out of reach");
        // The height of a point between samples is bilinear.
        let between = Stroke { strength: 1.0, ..stroke(Mode::Ramp, &[[78.75, 20.0]]) };
        assert_eq!(modified(&sculpt(&[between]), &below)[(31, 8)], 25.0);
        let fixed = Stroke { from_height_m: Some(0.0), to_height_m: Some(50.0), ..ramp };
        assert_eq!(modified(&sculpt(&[fixed]), &below)[(28, 8)], 15.0);
    }

    #[test]
    fn smoothing_is_a_gaussian_blur_within_the_brush() {
        let below = rough_terrain(grid());
        let line = [[50.0, 20.0], [100.0, 45.0]];
        let smooth = Stroke { strength: 1.0, radius_m: 14.0, hardness: 1.0, ..stroke(Mode::Smooth, &line) };
        let blurred = modified(&GaussianBlur { radius_m: 3.5, passes: 1 }, &below);
        let terrain = modified(&sculpt(std::slice::from_ref(&smooth)), &below);
        let brush = smooth.line().expect("points");
        let mut within = 0;
        for (c, r) in (0..grid().samples()).map(|at| (at % 65, at / 65)) {
            if brush.weight(grid().x_m(c), grid().z_m(r)) == 1.0 {
                within += 1;
                assert!((terrain[(c, r)] - blurred[(c, r)]).abs() < 2e-3, "{c}, {r}");
            } else {
                assert_eq!(terrain[(c, r)], below[(c, r)], "{c}, {r}");
            }
        }
        assert!(within > 100);
        // σ = 0.7 m is less than 0.3 of the 2.5 m between samples.
        let fine = Stroke { radius_m: 2.8, ..smooth.clone() };
        assert_eq!(modified(&sculpt(&[fine]), &below), below);
        // A second stroke smooths what the first left, and one before it too.
        let raise = stroke(Mode::Raise, &[[75.0, 30.0]]);
        let together = modified(&sculpt(&[raise.clone(), smooth.clone(), raise.clone(), smooth.clone()]), &below);
        let steps = [raise.clone(), smooth.clone(), raise, smooth];
        let apart = steps.iter().fold(below, |below, stroke| modified(&sculpt(std::slice::from_ref(stroke)), &below));
        let difference = together.heights().iter().zip(apart.heights()).map(|(a, b)| (a - b).abs());
        assert!(difference.fold(0.0, f32::max) < 1e-3);
    }

    /// Strokes of all pointwise modes in and around a world.
    fn random_strokes(rng: &mut Rng, count: usize, world: Extent) -> Vec<Stroke> {
        let modes = [Mode::Raise, Mode::Lower, Mode::Flatten, Mode::Roughen, Mode::Ramp, Mode::Erase];
        let mut random = |i: usize| {
            let mut place =
                |_| Point { x_m: rng.between(-0.2, 1.2) * world.width_m, z_m: rng.between(-0.2, 1.2) * world.depth_m };
            let points_m: List<Point> = (0..1 + i % 4).map(&mut place).collect();
            let pressure: List<f64> = points_m.iter().map(|_| rng.unit()).collect();
            Stroke {
                mode: modes[i % modes.len()],
                points_m,
                pressure: i.is_multiple_of(5).then_some(pressure),
                radius_m: rng.between(0.01, 0.2) * world.width_m,
                hardness: rng.unit(),
                strength_m: rng.between(0.0, 30.0),
                strength: rng.unit(),
                height_m: rng.between(-50.0, 50.0),
                from_height_m: Some(rng.between(-50.0, 50.0)),
                to_height_m: Some(rng.between(-50.0, 50.0)),
                wavelength_m: rng.between(1.0, 60.0),
                seed: i.to_u32(),
                enabled: !i.is_multiple_of(11),
            }
        };
        (0..count).map(&mut random).collect()
    }

    /// The height at a place by the formulas of the modes.
    fn plain(strokes: &[Stroke], [x_m, z_m]: [f64; 2], below: f64) -> f64 {
        strokes.iter().filter(|stroke| stroke.enabled).fold(below, |h, stroke| {
            let line = stroke.line().expect("points");
            let w = line.weight(x_m, z_m);
            let toward = |target: f64| h + stroke.strength * w * (target - h);
            match stroke.mode {
                Mode::Raise => h + stroke.strength_m * w,
                Mode::Lower => h - stroke.strength_m * w,
                Mode::Flatten => toward(stroke.height_m),
                Mode::Roughen => {
                    let noise = Fbm::new(stroke.wavelength_m, WORLD, stream().with_step_seed(stroke.seed));
                    h + stroke.strength_m * w * noise.at(x_m, z_m)
                }
                Mode::Ramp => {
                    let ends = [stroke.from_height_m, stroke.to_height_m].map(|height| height.expect("a height"));
                    toward(ends[0] + (ends[1] - ends[0]) * nearest_share(&stroke.points_m, x_m, z_m))
                }
                Mode::Erase => toward(below),
                Mode::Smooth => unreachable!("not pointwise"),
            }
        })
    }

    /// The arc length of the nearest point as a fraction of the length, by trying points.
    fn nearest_share(points: &[Point], x_m: f64, z_m: f64) -> f64 {
        let (mut best, mut start) = ((f64::INFINITY, 0.0), 0.0);
        for ends in points.windows(2) {
            let (x, z) = (ends[1].x_m - ends[0].x_m, ends[1].z_m - ends[0].z_m);
            let length = libm::hypot(x, z);
            let share = ((x_m - ends[0].x_m) * x + (z_m - ends[0].z_m) * z) / (length * length);
            let share = share.clamp(0.0, 1.0);
            let distance = libm::hypot(ends[0].x_m + share * x - x_m, ends[0].z_m + share * z - z_m);
            if distance < best.0 {
                best = (distance, start + share * length);
            }
            start += length;
        }
        if start > 0.0 { best.1 / start } else { 0.0 }
    }

    #[test]
    fn strokes_act_in_order_by_their_formulas() {
        let strokes = random_strokes(&mut stream().at(1), 60, WORLD);
        let below = rough_terrain(grid());
        let operation = sculpt(&strokes);
        assert!(operation.is_pointwise());
        let found = modified(&operation, &below);
        let mut changed = 0;
        for (c, r) in (0..grid().samples()).map(|at| (at % 65, at / 65)) {
            let expected = plain(&strokes, [grid().x_m(c), grid().z_m(r)], f64::from(below[(c, r)]));
            let found = f64::from(found[(c, r)]);
            assert!((found - expected).abs() < 1e-3, "{c}, {r}: {found}, not {expected}");
            changed += usize::from(found != f64::from(below[(c, r)]));
        }
        assert!(changed > 1000, "{changed}");
        // The same strokes with another one that has no effect, so that they are applied to a map.
        let outside = stroke(Mode::Smooth, &[[-500.0, -500.0]]);
        let in_order = sculpt(&[&strokes[..30], &[outside], &strokes[30..]].concat());
        assert!(!in_order.is_pointwise());
        assert_eq!(modified(&in_order, &below), found);
    }

    #[test]
    fn small_maps_are_exact_subsets_and_parts_have_the_same_bits() {
        let world = Extent { width_m: 410.7, depth_m: 297.3 };
        let operation = sculpt(&random_strokes(&mut stream().at(2), 40, world));
        let at = |side: usize| evaluated(&operation, Grid::new(world, side, side), None, 0);
        let (small, large) = (at(33), at(129));
        assert_subset(&small, &large);
        for (first, [width, height]) in [([17, 30], [40, 50]), ([128, 0], [1, 129]), ([3, 128], [9, 1])] {
            let part = evaluated(&operation, large.grid().part(first, [width, height]), None, 0);
            for (c, r) in (0..width * height).map(|at| (at % width, at / width)) {
                assert_eq!(part[(c, r)].to_bits(), large[(first[0] + c, first[1] + r)].to_bits(), "{c}, {r}");
            }
        }
    }

    #[test]
    fn only_smoothing_and_ramps_that_read_the_terrain_need_neighbours() {
        let is_pointwise = |stroke: Stroke| sculpt(&[stroke]).is_pointwise();
        let place = [[1.0, 2.0]];
        assert!(
            Mode::ALL
                .iter()
                .all(|mode| is_pointwise(stroke(*mode, &place)) != matches!(mode, Mode::Smooth | Mode::Ramp))
        );
        let ramp = Stroke { from_height_m: Some(1.0), ..stroke(Mode::Ramp, &place) };
        assert!(!is_pointwise(ramp.clone()) && is_pointwise(Stroke { to_height_m: Some(2.0), ..ramp }));
        assert!(is_pointwise(Stroke { enabled: false, ..stroke(Mode::Smooth, &place) }));
    }

    #[test]
    fn strokes_are_read_from_json_and_refused_with_their_place() {
        let read = |stroke: Json| group_from_json::<Sculpt>(&json!({"strokes": [{"points_m": [[1, 2]]}, stroke]}));
        let written = json!({"mode": "ramp", "points_m": [[1.0, 2.0], [3.5, -4.0]], "pressure": [0.5, 1.0]});
        let found = read(written.clone()).expect("valid");
        let points = [[1.0, 2.0], [3.5, -4.0]].map(|[x_m, z_m]| Point { x_m, z_m });
        assert_eq!(found.strokes[1].points_m[..], points);
        assert_eq!(found.strokes[1].pressure.as_ref().map(|pressure| pressure.to_vec()), Some(vec![0.5, 1.0]));
        let again = Json::Object(group_to_json(&found));
        assert_eq!(again["strokes"][1]["points_m"], written["points_m"]);
        assert_eq!(group_from_json(&again), Ok(found));
        for (stroke, message) in [
            (json!({}), "strokes.1.points_m: Points must be a list with at least one item, not []"),
            (json!({"points_m": []}), "strokes.1.points_m: Points must be a list with at least one item, not []"),
            (
                json!({"points_m": [[1, 2], [3]]}),
                "strokes.1.points_m.1: Points must be a position [x, z] in metres, not [3]",
            ),
            (
                json!({"points_m": [[1, 2]], "radius_m": 0}),
                "strokes.1.radius_m: Radius must be from 0.01 to 1000000 m, not 0",
            ),
            (
                json!({"points_m": [[1, 2]], "pressure": [2]}),
                "strokes.1.pressure.0: Pressure must be from 0 to 1, not 2",
            ),
            (
                json!({"points_m": [[1, 2]], "mode": "dig"}),
                "strokes.1.mode: Mode must be one of raise, lower, flatten, smooth, roughen, ramp, erase, not \"dig\"",
            ),
        ] {
            assert_eq!(read(stroke).expect_err("must be refused").to_string(), message);
        }
    }
}
