//! Round hills and hollows at random places.
//!
//! After the Lighthouse3D terrain tutorial, "Circles algorithm": with t = dist/R ≤ 1, h += d/2 + cos(π·t)·d/2.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation};
use crate::cast::ToFloat;
use crate::fault::{Profile, column_positions, quantized_displacement};
use crate::heightfield::{Extent, Heightfield};
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;
use crate::random::Stream;

parameters! {
    /// Adds round hills and hollows at random places.
    pub struct Circles {
        /// Number of hills and hollows, one per iteration.
        count: u32 = 400, Spec::number("Count", 0.0, 1_000_000.0).slider(1.0, 3000.0).logarithmic();
        /// Radius of a hill or hollow.
        radius_m: f64 = 400.0,
            Spec::number("Radius", 1.0, 1_000_000.0).slider(10.0, 4000.0).unit("m").logarithmic();
        /// Random variation of the radius, as a fraction of it. At 0 all hills are equal.
        radius_spread: f64 = 0.6, Spec::number("Radius variation", 0.0, 1.0);
        /// Height of a hill, or depth of a hollow, of the given radius. Smaller and larger ones are in proportion.
        displacement_m: f64 = 30.0,
            Spec::number("Displacement", 0.0, 10_000.0).slider(0.1, 300.0).unit("m").logarithmic();
        /// Probability of a hill rather than a hollow.
        up_chance: f64 = 0.7, Spec::number("Raise probability", 0.0, 1.0);
    }
}

/// One hill or hollow.
#[derive(Clone, Copy, Debug)]
struct Circle {
    centre_m: [f64; 2],
    radius_m: f64,
    /// At the centre; negative for a hollow.
    displacement_m: f64,
}

impl Circle {
    /// The uplift at a point, quantized to the displacement grid so that sums are exact.
    fn uplift_m(&self, x_m: f64, z_m: f64) -> f64 {
        let [east, south] = [x_m - self.centre_m[0], z_m - self.centre_m[1]];
        let distance_m = (east * east + south * south).sqrt();
        quantized_displacement(self.displacement_m * Profile::Cosine.weight(distance_m, self.radius_m))
    }
}

impl Circles {
    /// Circle i = 1…n, generated independently of the others.
    fn circle(&self, i: u32, extent: Extent, stream: Stream) -> Circle {
        let mut rng = stream.at(u64::from(i));
        let goes_up = rng.chance(self.up_chance);
        let share = 1.0 + self.radius_spread * rng.between(-1.0, 1.0);
        let displacement_m = self.displacement_m * share;
        Circle {
            centre_m: [rng.unit() * extent.width_m, rng.unit() * extent.depth_m],
            radius_m: self.radius_m * share,
            displacement_m: if goes_up { displacement_m } else { -displacement_m },
        }
    }
}

impl Operation for Circles {
    const KEY: &'static str = "circles";
    const LABEL: &'static str = "Circles";
    const WORDS: &'static str = "hill mound bump dune";

    fn uses_seed(&self) -> bool {
        true
    }

    fn is_pointwise(&self) -> bool {
        true
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn evaluate(&self, context: &EvalContext, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let grid = context.grid;
        let circles: Vec<Circle> = (1..=until)
            .into_par_iter()
            .map(|i| context.progress.check().map(|()| self.circle(i, grid.extent(), context.stream)))
            .collect::<Result<_, _>>()?;
        let xs = column_positions(&grid);
        let mut terrain = Heightfield::flat(grid);
        let counter = context.progress.counter(grid.height());
        terrain.heights_mut().par_chunks_mut(grid.width()).enumerate().try_for_each_init(
            || vec![0.0; grid.width()],
            |sums: &mut Vec<f64>, (r, heights)| {
                let z_m = grid.z_m(r);
                sums.fill(0.0);
                for circle in &circles {
                    let south = z_m - circle.centre_m[1];
                    let half_chord = circle.radius_m * circle.radius_m - south * south;
                    if half_chord <= 0.0 {
                        continue;
                    }
                    context.progress.check()?;
                    let half_chord = half_chord.sqrt();
                    let first = xs.partition_point(|&x| x < circle.centre_m[0] - half_chord);
                    let last = xs.partition_point(|&x| x <= circle.centre_m[0] + half_chord);
                    for (sum, &x) in sums[first..last].iter_mut().zip(&xs[first..last]) {
                        *sum += circle.uplift_m(x, z_m);
                    }
                }
                heights.iter_mut().zip(&*sums).for_each(|(height, &sum)| *height = sum.to_f32());
                counter.add_one()
            },
        )?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_subset, evaluated, stream};
    use super::*;
    use crate::heightfield::Grid;

    const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 1700.0 };

    #[test]
    fn uplift_matches_the_formula_at_the_top_half_way_and_at_the_edge() {
        let circle = Circle { centre_m: [100.0, 50.0], radius_m: 40.0, displacement_m: 8.0 };
        let lifts = [[100.0, 50.0], [120.0, 50.0], [100.0, 30.0], [140.0, 50.0], [200.0, 50.0]];
        let found = lifts.map(|[x, z]| circle.uplift_m(x, z));
        for (found, expected) in found.iter().zip([8.0, 4.0, 4.0, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
        }
    }

    #[test]
    fn the_terrain_is_the_plain_sum_and_each_iteration_adds_a_circle() {
        let circles = Circles { count: 60, ..Default::default() };
        let grid = Grid::new(WORLD, 61, 35);
        for until in [0, 1, 17, 60] {
            let terrain = evaluated(&circles, grid, None, until);
            let drawn: Vec<Circle> = (1..=until).map(|i| circles.circle(i, WORLD, stream())).collect();
            for r in 0..grid.height() {
                for c in 0..grid.width() {
                    let sum: f64 = drawn.iter().map(|circle| circle.uplift_m(grid.x_m(c), grid.z_m(r))).sum();
                    assert_eq!(terrain[(c, r)], sum as f32, "{c}, {r} after {until}");
                }
            }
        }
    }

    #[test]
    fn small_maps_are_exact_subsets_of_large_ones() {
        let circles = Circles { count: 50, ..Default::default() };
        let [small, large] = [[65, 33], [257, 129]].map(|[c, r]| evaluated(&circles, Grid::new(WORLD, c, r), None, 50));
        assert_subset(&small, &large);
    }
}
