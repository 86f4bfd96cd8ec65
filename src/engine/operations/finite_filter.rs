//! A finite impulse response filter that mixes each sample with one neighbour in each of the four directions of the map
//! (Traagen's variant of the recursive filter).

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use super::recursive_filter::{Direction, filter_grid, mix, reference_spacing_m};
use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;
use crate::strips::strips;

parameters! {
    /// Softens the terrain by mixing each point with its neighbours. Rounds off edges without any far-reaching effect.
    pub struct FiniteFilter {
        /// Weight of the neighbour. 0 has no effect; 0.5 smooths the most; at 1 the terrain is only shifted back and
        /// forth.
        k: f64 = 0.5, Spec::number("Smoothing", 0.0, 1.0);
        /// The resolution for which the filter is meant, in samples along the longer side: neighbours are as far apart
        /// as its samples, whatever the resolution of the map.
        reference_samples: u32 = 257,
            Spec::number("Reference resolution", 2.0, 65_537.0).slider(65.0, 4097.0).logarithmic().fixed();
        /// How many times the filter is applied.
        passes: u32 = 2, Spec::number("Passes", 0.0, 10_000.0).slider(0.0, 20.0);
    }
}

/// The directions along an axis, in the order of the sweeps.
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Backward];

/// y[i] = k·x[i − lag] + (1 − k)·x[i] along a row, linear between samples. The last sample continues beyond the border.
fn sweep_row(row: &mut [f32], k: f32, lag: f64, direction: Direction, input: &mut Vec<f32>) {
    input.clear();
    input.extend_from_slice(row);
    for (i, height) in row.iter_mut().enumerate() {
        let (near, far, part) = direction.lagged(i, input.len(), lag);
        *height = mix(input[near] + part * (input[far] - input[near]), *height, k);
    }
}

/// Like [`sweep_row`], for the columns of a strip, given as the pieces of its rows.
fn sweep_columns(pieces: &mut [&mut [f32]], k: f32, lag: f64, direction: Direction, input: &mut Vec<f32>) {
    input.clear();
    pieces.iter().for_each(|piece| input.extend_from_slice(piece));
    let count = pieces.len();
    for (i, piece) in pieces.iter_mut().enumerate() {
        let lanes = piece.len();
        let (near, far, part) = direction.lagged(i, count, lag);
        let (near, far) = (&input[near * lanes..][..lanes], &input[far * lanes..][..lanes]);
        for ((height, near), far) in piece.iter_mut().zip(near).zip(far) {
            *height = mix(near + part * (far - near), *height, k);
        }
    }
}

impl Operation for FiniteFilter {
    const KEY: &'static str = "finite_filter";
    const LABEL: &'static str = "Neighbour smoothing";
    const WORDS: &'static str = "finite filter blur soften";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        filter_grid(grid, self.reference_samples)
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        grid
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let mut terrain = context.heights_below()?;
        let (grid, k) = (context.grid, self.k.to_f32());
        let width = grid.width();
        let reference_m = reference_spacing_m(grid, self.reference_samples);
        let [lag_x, lag_z] = [reference_m / grid.spacing_x_m(), reference_m / grid.spacing_z_m()];
        let counter = context.progress.counter(self.passes as usize);
        for _ in 0..self.passes {
            terrain.heights_mut().par_chunks_mut(width).try_for_each_init(Vec::new, |input, row| {
                DIRECTIONS.into_iter().for_each(|direction| sweep_row(row, k, lag_x, direction, input));
                context.progress.check()
            })?;
            strips(terrain.heights_mut(), width, context.progress)?.par_iter_mut().try_for_each_init(
                Vec::new,
                |input, strip| {
                    DIRECTIONS.into_iter().for_each(|direction| sweep_columns(strip, k, lag_z, direction, input));
                    context.progress.check()
                },
            )?;
            counter.add_one()?;
        }
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{modified, rough_terrain};
    use super::*;
    use crate::heightfield::Extent;

    /// A filter whose neighbour is one sample away on a map of that side.
    fn filter(k: f64, side: usize) -> FiniteFilter {
        FiniteFilter { k, reference_samples: side as u32, passes: 1 }
    }

    fn grid(side: usize) -> Grid {
        Grid::new(Extent { width_m: 960.0, depth_m: 960.0 }, side, side)
    }

    #[test]
    fn a_wall_matches_values_computed_by_hand() {
        // The eastward sweep leaves ¾ and ¼; the westward sweep mixes ¼ of the eastern neighbour into each.
        let wall = Heightfield::from_fn(grid(9), |c, _| 16.0 * f32::from(u8::from(c == 4)));
        let terrain = modified(&filter(0.25, 9), &wall);
        assert_eq!(terrain.row(5), [0.0, 0.0, 0.0, 3.0, 10.0, 3.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn the_filter_matches_the_plain_loops_and_the_border_sample_continues() {
        let terrain = rough_terrain(grid(17));
        let found = modified(&filter(0.3, 17), &terrain);
        let mut plain: Vec<f32> = terrain.heights().to_vec();
        for (dc, dr) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            let input = plain.clone();
            for i in 0..17 * 17 {
                let within = |at: usize, by: i32| (at as i32 + by).clamp(0, 16) as usize;
                plain[i] = 0.3 * input[within(i / 17, dr) * 17 + within(i % 17, dc)] + 0.7 * input[i];
            }
        }
        assert!(found.heights().iter().zip(&plain).all(|(found, plain)| (found - plain).abs() < 1e-3));
    }

    #[test]
    fn the_neighbour_is_the_same_at_every_resolution() {
        // At the small map's positions, the filter reads exactly the small map's samples from the large one.
        let large = rough_terrain(grid(65));
        let small = Heightfield::from_fn(grid(17), |c, r| large[(4 * c, 4 * r)]);
        let (found, expected) = (modified(&filter(0.4, 17), &large), modified(&filter(0.4, 17), &small));
        assert_eq!(Heightfield::from_fn(grid(17), |c, r| found[(4 * c, 4 * r)]), expected);
    }

    #[test]
    fn a_k_of_0_and_level_terrain_change_nothing() {
        assert_eq!(
            modified(&FiniteFilter { passes: 3, ..filter(0.0, 17) }, &rough_terrain(grid(33))),
            rough_terrain(grid(33))
        );
        let level = Heightfield::from_fn(grid(33), |_, _| 123.4);
        for side in [3, 33, 57, 4097] {
            assert_eq!(modified(&FiniteFilter { passes: 3, ..filter(0.4, side) }, &level), level);
        }
    }
}
