//! Painted masks: strokes of a brush that add to the weight or take from it.
//!
//! Strokes act in order on the weight v, which begins as the ground. With a, the strength of a stroke times its
//! [weight](crate::strokes) at a place, painting gives (1 − a)·v + a and erasing (1 − a)·v.

use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Grid;
use crate::parameters::{List, Point, Spec, parameters};
use crate::strokes::{self, Brush, Columns, RowWeights, StrokeLine, rows_between};

parameters! {
    /// One stroke of the mask brush.
    pub struct PaintedStroke {
        /// The line of the stroke: positions in metres east and south of the map's north-west corner.
        points_m: List<Point> = List::default(), strokes::POINTS;
        /// Pressure of the pen at each point, from 0 to 1. Empty, or beyond the end of the list: full pressure.
        pressure: Option<List<f64>> = None, strokes::PRESSURE.sparse();
        /// Distance from the line at which the stroke ends.
        radius_m: f64 = 50.0, strokes::RADIUS;
        /// Fraction of the radius with the full strength. Beyond it the stroke fades out.
        hardness: f64 = 0.5, strokes::HARDNESS;
        /// How much the stroke paints or erases: 1 is all.
        strength: f64 = 0.5, Spec::number("Strength", 0.0, 1.0);
        /// Whether the stroke erases what is painted.
        erase: bool = false, Spec::new("Erase").sparse();
        /// Whether the stroke has any effect.
        enabled: bool = true, Spec::new("Enabled").sparse();
    }
}

/// Rows whose strokes are listed together.
const BAND: usize = 16;

/// The strokes of a painted mask, prepared for a grid.
pub(super) struct Painting {
    ground: f64,
    strokes: Vec<PreparedStroke>,
    /// For every band of rows, the strokes that can touch it, in order.
    bands: Vec<Vec<u32>>,
}

struct PreparedStroke {
    line: StrokeLine,
    strength: f64,
    erases: bool,
}

/// Buffers for one row.
#[derive(Clone, Debug, Default)]
pub(super) struct PaintingRow {
    values: Vec<f64>,
    stroke: RowWeights,
}

impl PaintedStroke {
    fn prepared(&self) -> Option<PreparedStroke> {
        let brush = Brush { radius_m: self.radius_m, hardness: self.hardness };
        let line = StrokeLine::new(&self.points_m, self.pressure.as_ref().map(|pressure| pressure.as_slice()), brush)?;
        self.enabled.then_some(PreparedStroke { line, strength: self.strength, erases: self.erase })
    }
}

impl PreparedStroke {
    /// The value after the stroke where it has that weight.
    fn painted(&self, value: f64, weight: f64) -> f64 {
        let share = self.strength * weight;
        let rest = (1.0 - share) * value;
        if self.erases { rest } else { rest + share }
    }
}

impl Painting {
    pub(super) fn new(strokes: &[PaintedStroke], ground: f64, grid: Grid) -> Self {
        let strokes: Vec<PreparedStroke> = strokes.iter().filter_map(PaintedStroke::prepared).collect();
        let mut bands = vec![Vec::new(); grid.height().div_ceil(BAND)];
        for (i, stroke) in (0..).zip(&strokes) {
            let [[_, north_m], [_, south_m]] = stroke.line.bounds_m();
            let rows = rows_between(grid, north_m, south_m);
            if !rows.is_empty() {
                bands[rows.start / BAND..=(rows.end - 1) / BAND].iter_mut().for_each(|band| band.push(i));
            }
        }
        Self { ground, strokes, bands }
    }

    /// Sets the weights of row `r`, which is at `z_m`.
    pub(super) fn fill(&self, r: usize, z_m: f64, columns: &Columns, row: &mut PaintingRow, weights: &mut [f32]) {
        let PaintingRow { values, stroke: touched } = row;
        values.clear();
        values.resize(weights.len(), self.ground);
        for i in &self.bands[r / BAND] {
            let stroke = &self.strokes[i.to_usize()];
            if stroke.line.meets_rows(z_m, z_m) {
                touched.fill(&stroke.line, z_m, columns);
                for (value, weight) in values[touched.columns()].iter_mut().zip(touched.weights()) {
                    *value = stroke.painted(*value, *weight);
                }
            }
        }
        weights.iter_mut().zip(values).for_each(|(weight, value)| *weight = value.to_f32());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;
    use crate::random::Stream;

    fn stroke(points: &[[f64; 2]]) -> PaintedStroke {
        let points_m = points.iter().map(|&[x_m, z_m]| Point { x_m, z_m }).collect();
        PaintedStroke { points_m, radius_m: 20.0, strength: 1.0, ..Default::default() }
    }

    fn rows(strokes: &[PaintedStroke], ground: f64, grid: Grid) -> Vec<Vec<f32>> {
        let (painting, columns) = (Painting::new(strokes, ground, grid), Columns::new(grid));
        let mut row = PaintingRow::default();
        let fill = |r| {
            let mut weights = vec![9.0; grid.width()];
            painting.fill(r, grid.z_m(r), &columns, &mut row, &mut weights);
            weights
        };
        (0..grid.height()).map(fill).collect()
    }

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, side, side)
    }

    #[test]
    fn painting_and_erasing_by_hand() {
        // Along the middle row, 15 m from the end of the line: half the weight.
        let line = stroke(&[[30.0, 50.0], [60.0, 50.0]]);
        let middle = |strokes: &[PaintedStroke], ground| rows(strokes, ground, grid(21))[10].clone();
        let painted = middle(std::slice::from_ref(&line), 0.0);
        assert_eq!([painted[0], painted[3], painted[6], painted[15], painted[16]], [0.0, 0.5, 1.0, 0.5, 0.0]);
        let twice = middle(&[PaintedStroke { strength: 0.5, ..line.clone() }, line.clone()], 0.0);
        assert_eq!([twice[3], twice[6]], [0.625, 1.0], "0.25 + 0.5·0.75");
        let erased = middle(&[PaintedStroke { erase: true, strength: 0.5, ..line.clone() }], 1.0);
        assert_eq!([erased[0], erased[3], erased[6]], [1.0, 0.75, 0.5]);
        let disabled = middle(&[PaintedStroke { enabled: false, ..line.clone() }], 0.25);
        assert_eq!(disabled, [0.25; 21]);
        let pressed = middle(&[PaintedStroke { pressure: Some(vec![0.5, 0.5].into()), ..line }], 0.0);
        assert_eq!([pressed[3], pressed[6]], [0.25, 0.5]);
    }

    /// Hundreds of strokes, at two sizes and on a part of the grid, against the plain formula.
    #[test]
    fn many_strokes_match_the_plain_formula_at_every_size() {
        let mut rng = Stream::new(1, 2).at(3);
        let mut place = || [rng.between(-20.0, 120.0), rng.between(-20.0, 120.0)];
        let mut strokes: Vec<PaintedStroke> = (0..300).map(|_| stroke(&[place(), place()])).collect();
        for (i, stroke) in strokes.iter_mut().enumerate() {
            stroke.radius_m = rng.between(0.5, 12.0);
            stroke.hardness = [0.0, 1.0, rng.unit()][i % 3];
            (stroke.strength, stroke.erase) = (rng.unit(), rng.chance(0.4));
        }
        let fine = rows(&strokes, 0.3, grid(129));
        let coarse = rows(&strokes, 0.3, grid(33));
        let part = rows(&strokes, 0.3, grid(129).part([40, 37], [50, 60]));
        let lines: Vec<PreparedStroke> = strokes.iter().filter_map(PaintedStroke::prepared).collect();
        for r in (0..129).step_by(4) {
            for c in (0..129).step_by(4) {
                let (x_m, z_m) = (grid(129).x_m(c), grid(129).z_m(r));
                let paint = |value, stroke: &PreparedStroke| stroke.painted(value, stroke.line.weight(x_m, z_m));
                let expected = lines.iter().fold(0.3, paint) as f32;
                assert_eq!([fine[r][c], coarse[r / 4][c / 4]], [expected; 2], "{c}, {r}");
            }
        }
        for (r, row) in part.iter().enumerate() {
            assert_eq!(row[..], fine[37 + r][40..90]);
        }
    }
}
