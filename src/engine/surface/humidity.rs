//! Humidity, from the convergence of water and from hollows.
//!
//! Water flows from every sample to all lower ones of its eight neighbours, in shares of tan β · L, the slope times the
//! length of the contour that the water crosses: half a side towards the four sides and 0.354 sides towards the
//! corners. With A the area that drains through a sample, a = A/Σ L is the specific catchment area and tan β = Σ (tan β
//! · L)/Σ L the slope: P. Quinn, K. Beven, P. Chevallier and O. Planchon, "The prediction of hillslope flow paths for
//! distributed hydrological modelling using digital terrain models", Hydrological Processes 5, 1991. The wetness index
//! is ln(a/tan β): K. Beven and M. Kirkby, "A physically based, variable contributing area model of basin hydrology",
//! Hydrological Sciences Bulletin 24, 1979.
//!
//! Because a depends on the resolution, every terrain is resampled to one reference grid, and a is measured in its
//! spacings: scaling the world does not change the humidity. Water stays in pits, which are wet like lakes.
//!
//! Humidity = 1/(1 + e^(−u)) with u = (ln(a/tan β) − ln(1/0.01))/2 + 1.2·b/(|b| + 0.25), b being the change of slope
//! over the length at which curvature is measured. tan β is at least 0.01. Level terrain, on which no water flows, has
//! a humidity of exactly ½.

use super::curvature::{curvature, smoothed};
use super::reference::resample_clamped;
use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};

/// Samples of the reference grid along the longer side of the world.
const SAMPLES: usize = 257;
/// The radius of smoothing in spacings of the reference grid: pits of a single sample would stop the water.
const SMOOTHING_SPACINGS: f64 = 2.0;
/// The length at which curvature is measured, in spacings of the reference grid.
const CURVATURE_SPACINGS: f64 = 6.0;

/// The slope below which terrain counts as level.
const MIN_SLOPE: f64 = 0.01;
/// The rise of ln(a/tan β) for which u rises by 1.
const SPREAD: f64 = 2.0;
/// The addition to u in the deepest hollow.
const HOLLOW: f64 = 1.2;
/// The change of slope that adds half of this.
const HALF_SLOPE_CHANGE: f64 = 0.25;

/// The humidity of terrain at the samples `to`, from 0 to 1: ½ on level terrain, more in hollows, along streams and in pits,
/// less on ridges and steep slopes.
pub fn humidity(terrain: &Heightfield, to: Grid, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let extent = terrain.grid().extent();
    let reference = Grid::fitted(extent, SAMPLES);
    let coarse = progress.stage(0.0..0.1, || terrain.resampled(reference, progress))?;
    let spacing_m = reference.spacing_x_m().min(reference.spacing_z_m());
    let curvatures = curvature(&coarse, CURVATURE_SPACINGS * spacing_m, progress)?;
    let smooth = smoothed(&coarse, SMOOTHING_SPACINGS * spacing_m, progress)?;
    let mut shares = wetness_index(&smooth, progress)?;
    for (share, slope_change) in shares.heights_mut().iter_mut().zip(curvatures.heights()) {
        let slope_change = f64::from(*slope_change) * CURVATURE_SPACINGS * spacing_m;
        let u = f64::from(*share) / SPREAD + HOLLOW * slope_change / (slope_change.abs() + HALF_SLOPE_CHANGE);
        *share = (1.0 / (1.0 + libm::exp(-u))).to_f32();
    }
    progress.stage(0.7..1.0, || resample_clamped(&shares, to, 1.0, progress))
}

/// The eight neighbours: steps eastward and southward.
const NEIGHBOURS: [[isize; 2]; 8] = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [1, -1], [-1, -1]];

/// A neighbour of a sample.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    steps: [isize; 2],
    distance_m: f64,
    /// The length of the contour that the water crosses, in spacings.
    contour: f64,
}

fn neighbours(grid: Grid) -> [Neighbour; 8] {
    let (spacing_x, spacing_z) = (grid.spacing_x_m(), grid.spacing_z_m());
    let mean = (spacing_x * spacing_z).sqrt();
    NEIGHBOURS.map(|steps| {
        let (x, z) = (steps[0].to_f64() * spacing_x, steps[1].to_f64() * spacing_z);
        let contour = match steps {
            [_, 0] => 0.5 * spacing_z / mean,
            [0, _] => 0.5 * spacing_x / mean,
            _ => 0.354,
        };
        Neighbour { steps, distance_m: (x * x + z * z).sqrt(), contour }
    })
}

/// The wetness index ln(a/tan β) minus that of level terrain.
fn wetness_index(terrain: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let (width, heights) = (grid.width(), terrain.heights());
    let neighbours = neighbours(grid);
    // From the highest to the lowest sample: all inflow of a sample is known before its outflow.
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_unstable_by(|&a, &b| heights[b].total_cmp(&heights[a]).then(a.cmp(&b)));
    let mut drained = vec![1.0_f64; heights.len()];
    let mut found = Heightfield::flat(grid);
    for (count, &sample) in order.iter().enumerate() {
        if count.is_multiple_of(width) {
            progress.check()?;
        }
        let (c, r) = (sample % width, sample / width);
        let mut flows = [(0, 0.0); 8];
        let (mut flow, mut contour) = (0.0, 0.0);
        for (neighbour, slot) in neighbours.iter().zip(&mut flows) {
            let there = (c.checked_add_signed(neighbour.steps[0]), r.checked_add_signed(neighbour.steps[1]));
            let (Some(column), Some(row)) = there else { continue };
            if column >= width || row >= grid.height() {
                continue;
            }
            let index = row * width + column;
            let fall = f64::from(heights[sample]) - f64::from(heights[index]);
            if fall > 0.0 {
                *slot = (index, fall / neighbour.distance_m * neighbour.contour);
                flow += slot.1;
                contour += neighbour.contour;
            }
        }
        let area = drained[sample];
        let (specific, slope) = if flow > 0.0 { (area / contour, flow / contour) } else { (area, 0.0) };
        found.heights_mut()[sample] = libm::log(specific * (MIN_SLOPE / slope.max(MIN_SLOPE))).to_f32();
        if flow > 0.0 {
            for (index, part) in flows {
                drained[index] += area * part / flow;
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        assert_shares_on_extreme_terrain, bumpy, difference, same_at_one_and_seven_threads, world,
    };
    use super::*;

    fn humidity_of(terrain: &Heightfield) -> Heightfield {
        humidity(terrain, terrain.grid(), &Progress::new()).expect("not cancelled")
    }

    /// ln(a/tan β) with a in spacings.
    fn index(terrain: &Heightfield, at: (usize, usize)) -> f64 {
        f64::from(wetness_index(terrain, &Progress::new()).expect("not cancelled")[at]) - libm::log(MIN_SLOPE)
    }

    #[test]
    fn level_terrain_has_a_humidity_of_exactly_half() {
        for (width, height) in [(65, 33), (1025, 600), (2, 2)] {
            let level = Heightfield::from_fn(Grid::new(world(900.0, 500.0), width, height), |_, _| 321.5);
            assert!(humidity_of(&level).heights().iter().all(|&share| share == 0.5));
        }
    }

    #[test]
    fn the_wetness_index_matches_values_computed_by_hand() {
        // Samples 10 m apart; a slope to the east that falls by 1 m a column.
        let grid = Grid::new(world(20.0, 20.0), 3, 3);
        let slope = Heightfield::from_fn(grid, |c, _| -(c as f32));
        // From a sample in the middle row, water flows east at 0.1 over 0.5, and to the corners at 0.1/√2 over 0.354
        // each.
        let [straight, corner] = [0.1 * 0.5, 0.1 / 2.0_f64.sqrt() * 0.354];
        let contour = 0.5 + 2.0 * 0.354;
        let expected = libm::log((1.0 / contour) / ((straight + 2.0 * corner) / contour));
        assert!((index(&slope, (0, 1)) - expected).abs() < 1e-5);
        // The north-western corner has two lower neighbours, so it sends more straight on; the middle receives from
        // three.
        let from_edge = corner / (straight + corner);
        let area = 1.0 + straight / (straight + 2.0 * corner) + 2.0 * from_edge;
        let expected = libm::log((area / contour) / ((straight + 2.0 * corner) / contour));
        assert!((index(&slope, (1, 1)) - expected).abs() < 1e-5);
        // A pit in the middle drains all nine samples and has no slope.
        let pit = Heightfield::from_fn(grid, |c, r| if (c, r) == (1, 1) { -5.0 } else { 0.0 });
        assert!((index(&pit, (1, 1)) - libm::log(9.0 / MIN_SLOPE)).abs() < 1e-5);
    }

    #[test]
    fn no_water_is_lost() {
        // A slope down to a single lowest corner, where everything arrives.
        let grid = Grid::new(world(400.0, 300.0), 41, 31);
        let terrain = Heightfield::from_fn(grid, |c, r| c as f32 + 1.7 * r as f32);
        assert!((index(&terrain, (0, 0)) - libm::log(41.0 * 31.0 / MIN_SLOPE)).abs() < 1e-4);
    }

    #[test]
    fn valleys_are_wet_and_ridges_are_dry() {
        let grid = Grid::new(world(4000.0, 4000.0), 257, 257);
        // A valley along the middle column that falls southward, under slopes of 0.3.
        let valley = Heightfield::from_fn(grid, |c, r| 0.3 * 15.6 * c.abs_diff(128) as f32 - 0.8 * r as f32);
        let shares = humidity_of(&valley);
        assert!(shares[(128, 200)] > 0.9, "{}", shares[(128, 200)]);
        assert!(shares[(20, 200)] < 0.5, "{}", shares[(20, 200)]);
        assert!(shares[(5, 100)] < shares[(60, 100)], "{}, {}", shares[(5, 100)], shares[(60, 100)]);
        let crest = Heightfield::from_fn(grid, |c, r| -valley[(c, r)]);
        assert!(humidity_of(&crest)[(128, 128)] < 0.15, "{}", humidity_of(&crest)[(128, 128)]);
    }

    #[test]
    fn scaling_the_world_does_not_change_humidity() {
        let on = |side_m: f64| humidity_of(&bumpy(Grid::new(world(side_m, side_m), 129, 129)));
        let off =
            on(500.0).heights().iter().zip(on(50_000.0).heights()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(off < 0.01, "{off}");
    }

    #[test]
    fn resolution_barely_changes_humidity() {
        for (width_m, depth_m) in [(4096.0, 4096.0), (4096.0, 2000.0), (900.0, 3100.7)] {
            let [small, large] = [257, 1025].map(|side| Grid::fitted(world(width_m, depth_m), side));
            // Every fourth sample of the large map must coincide with one of the small map.
            let large = Grid::new(large.extent(), (small.width() - 1) * 4 + 1, (small.height() - 1) * 4 + 1);
            let off = difference(&humidity_of(&bumpy(small)), &humidity_of(&bumpy(large)));
            assert!(off < 0.001, "{off}");
        }
    }

    #[test]
    fn humidity_is_from_0_to_1_on_any_terrain() {
        assert_shares_on_extreme_terrain(humidity_of);
    }

    #[test]
    fn results_do_not_depend_on_threads_and_can_be_cancelled() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| humidity(&terrain, terrain.grid(), progress));
    }
}
