//! The sum of many faults over a grid.
//!
//! A straight fault crosses a row of samples at one place. The sum of n faults over a row is therefore n entries in a
//! row of differences, followed by one running sum: O(n·rows + samples) instead of O(n·samples). The crossings of many
//! faults with a row are computed together, in vector lanes.

use rayon::prelude::*;

use super::fixed_point::{FixedHeights, to_metres};
use super::line::{Fault, GridFault, column_positions};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, Heightfield};
use crate::progress::{Cancelled, Progress};
use crate::simd::simd;

/// Faults per block. Cancellation is checked between blocks, because a row of a hundred thousand faults takes too long.
const BLOCK: usize = 64;

/// Marks a column that must be determined from the exact distance.
const UNSURE: u32 = u32::MAX;

/// Faults prepared for one grid, as arrays of their numbers for vectorization. Unused array elements are arbitrary.
#[derive(Clone, Debug)]
struct FaultBlock {
    faults: Vec<GridFault>,
    point_z_m: [f64; BLOCK],
    normal_z: [f64; BLOCK],
    columns_per_m: [f64; BLOCK],
    point_column: [f64; BLOCK],
    /// The distances at the western edges of the fault zones.
    west_edge_m: [f64; BLOCK],
    east_units: [i64; BLOCK],
    has_zones: bool,
}

impl FaultBlock {
    fn new(faults: &[Fault], grid: &Grid) -> Self {
        let faults: Vec<GridFault> = faults.iter().map(|fault| GridFault::new(fault, grid)).collect();
        let array = |number: fn(&GridFault) -> f64| {
            let mut numbers = [0.0; BLOCK];
            numbers.iter_mut().zip(&faults).for_each(|(element, fault)| *element = number(fault));
            numbers
        };
        let mut east_units = [0; BLOCK];
        east_units.iter_mut().zip(&faults).for_each(|(units, fault)| *units = fault.east_units);
        Self {
            east_units,
            point_z_m: array(|fault| fault.fault.point_m[1]),
            normal_z: array(|fault| fault.fault.normal[1]),
            columns_per_m: array(|fault| fault.columns_per_m),
            point_column: array(|fault| fault.point_column),
            west_edge_m: array(GridFault::west_edge_m),
            has_zones: faults.iter().any(|fault| fault.reach_m > 0.0),
            faults,
        }
    }

    /// The uplift by each fault far in the east.
    #[inline(always)]
    fn east_units(&self) -> &[i64] {
        &self.east_units[..self.faults.len()]
    }

    /// For each fault, the first column east of an edge of its zone in the row at `z`. `side` is 1 for the western edge
    /// and −1 for the eastern one.
    ///
    /// The rounded quotient can be wrong only if the edge is closer to a sample than the accumulated rounding error.
    /// [`GridFault::column`] decides these cases.
    #[inline(always)]
    fn columns(&self, z: f64, side: f64, xs: &[f64], columns: &mut [u32; BLOCK]) {
        // About forty times the rounding error of a number near 1.
        const ROUNDING: f64 = 1e-14;
        // Between 2⁵² and 2⁵³ the low bits of an f64 count integers.
        const INTEGERS: f64 = 4_503_599_627_370_496.0;
        let end = xs.len().to_f64();
        let mut unsure = 0;
        for (k, column) in columns.iter_mut().enumerate() {
            let across_m = (z - self.point_z_m[k]) * self.normal_z[k];
            let edge_m = side * self.west_edge_m[k];
            let (per_m, origin) = (self.columns_per_m[k], self.point_column[k]);
            let place = (edge_m - across_m) * per_m + origin;
            let error = ROUNDING * ((edge_m.abs() + across_m.abs()) * per_m.abs() + 2.0 * origin.abs() + end);
            // Clamped to half-integers outside the row, which are never uncertain; NaN becomes the lower bound.
            let near = place.max(-1.5).min(end + 0.5);
            let is_sure = (near - near.round_ties_even()).abs() > error;
            #[expect(clippy::cast_possible_truncation, reason = "the low bits of the sum are the integer")]
            let ceiling = (near.ceil().max(0.0).min(end) + INTEGERS).to_bits() as u32;
            *column = if is_sure { ceiling } else { UNSURE };
            unsure += u32::from(!is_sure);
        }
        if unsure > 0 {
            for (fault, column) in self.faults.iter().zip(columns).filter(|(_, column)| **column == UNSURE) {
                *column = fault.column(side * fault.west_edge_m(), fault.across_m(z), xs).to_u32();
            }
        }
    }

    /// Adds the uplift by these faults along the row at `z`.
    #[inline(always)]
    fn add_to(&self, z: f64, xs: &[f64], RowSums { differences, uplifts, firsts, seconds }: &mut RowSums) {
        self.columns(z, 1.0, xs, firsts);
        let seconds = if self.has_zones {
            self.columns(z, -1.0, xs, seconds);
            &*seconds
        } else {
            &*firsts
        };
        for columns in [firsts, seconds] {
            for (&column, &units) in columns.iter().zip(self.east_units()) {
                differences[column as usize] += units;
            }
        }
        if !self.has_zones {
            return;
        }
        for ((fault, &first), &second) in self.faults.iter().zip(&*firsts).zip(seconds) {
            let zone = first as usize..second as usize;
            if !zone.is_empty() {
                fault.add_zone(z, &xs[zone.clone()], &mut uplifts[zone]);
            }
        }
    }
}

/// The sum of faults on flat terrain.
pub fn sum_of_faults(grid: Grid, faults: &[Fault], progress: &Progress) -> Result<Heightfield, Cancelled> {
    FaultSum { grid, faults, progress }.terrain(|_, _, _| Ok(()))
}

/// A sum of faults to be computed.
#[derive(Clone, Copy, Debug)]
pub struct FaultSum<'a> {
    /// The positions of the samples.
    pub grid: Grid,
    /// Straight faults across the whole map.
    pub faults: &'a [Fault],
    /// Progress and cancellation.
    pub progress: &'a Progress,
}

/// The most rows in a piece of work of one thread. With larger pieces, threads that finish early wait for the last;
/// each piece takes buffers of its own.
const MAX_ROWS: usize = 32;

/// Buffers for the sums of a row, reused within a piece; in fixed-point units.
struct RowSums {
    /// The differences between neighbouring samples, one more than samples.
    differences: Vec<i64>,
    /// First the uplifts within fault zones and those added by the caller, finally the sum of all uplifts.
    uplifts: Vec<i64>,
    /// The columns at which a block of faults crosses the row.
    firsts: [u32; BLOCK],
    seconds: [u32; BLOCK],
}

impl FaultSum<'_> {
    /// The heights. `uplift` adds more to each row: it gets the row's position in metres from the north, the positions
    /// of its columns from the west, and a sum in fixed-point units for each of them.
    pub fn terrain(
        &self,
        uplift: impl Fn(f64, &[f64], &mut [i64]) -> Result<(), Cancelled> + Sync,
    ) -> Result<Heightfield, Cancelled> {
        let mut terrain = Heightfield::flat(self.grid);
        self.accumulate(&mut terrain, None, uplift)?;
        Ok(terrain)
    }

    /// The heights after adding the faults to exact heights on the same grid (`None`: flat terrain), and the new exact
    /// heights.
    pub fn heights_and_fixed(&self, base: Option<FixedHeights>) -> Result<(Heightfield, FixedHeights), Cancelled> {
        let mut terrain = Heightfield::flat(self.grid);
        let mut fixed = base.unwrap_or_else(|| FixedHeights::flat(self.grid));
        self.accumulate(&mut terrain, Some(&mut fixed), |_, _, _| Ok(()))?;
        Ok((terrain, fixed))
    }

    /// Adds the faults to `fixed`, if given, and stores the sums in `terrain`.
    fn accumulate(
        &self,
        terrain: &mut Heightfield,
        fixed: Option<&mut FixedHeights>,
        uplift: impl Fn(f64, &[f64], &mut [i64]) -> Result<(), Cancelled> + Sync,
    ) -> Result<(), Cancelled> {
        let Self { grid, faults, progress } = *self;
        let (width, height) = (grid.width(), grid.height());
        let xs = column_positions(&grid);
        let block = |faults: &[Fault]| progress.check().map(|()| FaultBlock::new(faults, &grid));
        let blocks: Vec<FaultBlock> = faults.par_chunks(BLOCK).map(block).collect::<Result<_, _>>()?;
        // Far in the west the uplift by a fault is the opposite of that in the east.
        let westmost: i64 = blocks.iter().flat_map(FaultBlock::east_units).map(|units| -units).sum();
        let row_sums = || RowSums {
            differences: vec![0; width + 1],
            uplifts: vec![0; width],
            firsts: [0; BLOCK],
            seconds: [0; BLOCK],
        };
        let counter = progress.counter(height);
        let rows = terrain.heights_mut().par_chunks_mut(width).zip(FixedHeights::rows_mut(fixed, grid)).enumerate();
        rows.with_max_len(MAX_ROWS).try_for_each_init(row_sums, |row, (r, (heights, fixed))| {
            let z = grid.z_m(r);
            for block in &blocks {
                progress.check()?;
                simd(
                    #[inline(always)]
                    || block.add_to(z, &xs, row),
                );
            }
            let RowSums { differences, uplifts, .. } = row;
            uplift(z, &xs, uplifts)?;
            let mut running = westmost;
            for (uplift, difference) in uplifts.iter_mut().zip(&mut *differences) {
                running += std::mem::take(difference);
                *uplift += running;
            }
            differences[width] = 0;
            simd(
                #[inline(always)]
                || {
                    let units = match fixed {
                        Some(fixed) => {
                            fixed.iter_mut().zip(&*uplifts).for_each(|(sum, uplift)| *sum += uplift);
                            fixed
                        }
                        None => &mut uplifts[..],
                    };
                    heights.iter_mut().zip(units).for_each(|(height, units)| *height = to_metres(*units));
                },
            );
            uplifts.fill(0);
            counter.add_one()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::fixed_point::{quantized_displacement, to_units};
    use crate::fault::line::add_fault;
    use crate::fault::profile::Profile;
    use crate::heightfield::Extent;

    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: (width - 1) as f64, depth_m: (height - 1) as f64 }, width, height)
    }

    fn fault(point_m: [f64; 2], normal: [f64; 2], displacement_m: f64) -> Fault {
        Fault { point_m, normal, displacement_m, profile: Profile::Step, zone_m: 0.0 }
    }

    #[test]
    fn single_faults_match_masks_drawn_by_hand() {
        let progress = Progress::new();
        let mask = |fault| sum_of_faults(grid(4, 3), &[fault], &progress).expect("not cancelled").into_heights();
        // A vertical line between columns 1 and 2 that raises the east, then one that raises the west.
        let vertical = vec![-2.0, -2.0, 2.0, 2.0, -2.0, -2.0, 2.0, 2.0, -2.0, -2.0, 2.0, 2.0];
        assert_eq!(mask(fault([1.5, 0.0], [1.0, 0.0], 2.0)), vertical);
        assert_eq!(mask(fault([1.5, 0.0], [-1.0, 0.0], -2.0)), vertical);
        // A horizontal line between rows 0 and 1 that raises the south.
        let horizontal = [[-1.0; 4], [1.0; 4], [1.0; 4]].concat();
        assert_eq!(mask(fault([0.0, 0.5], [0.0, 1.0], 1.0)), horizontal);
        // The diagonal through the samples (c, c): samples on the line are on the upper side.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let diagonal = vec![1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0];
        assert_eq!(mask(fault([0.0, 0.0], [half, -half], 1.0)), diagonal);
    }

    #[test]
    fn the_sum_equals_a_double_loop_over_faults_and_samples() {
        let grid = Grid::new(Extent { width_m: 3000.0, depth_m: 1700.0 }, 97, 55);
        for profile in Profile::ALL {
            let mut rng = crate::random::Stream::new(1, 2).at(3);
            let faults: Vec<Fault> = (0..60)
                .map(|i| {
                    let azimuth = rng.between(0.0, std::f64::consts::TAU);
                    // Some lines are exactly vertical or horizontal, some pass through samples.
                    let normal = match i % 10 {
                        0 => [1.0, 0.0],
                        1 => [0.0, -1.0],
                        _ => [libm::cos(azimuth), libm::sin(azimuth)],
                    };
                    let point = [grid.x_m(i % 97), rng.between(-400.0, 2000.0)];
                    let displacement_m = quantized_displacement(rng.between(-90.0, 90.0));
                    Fault { point_m: point, normal, displacement_m, profile: *profile, zone_m: 150.0 }
                })
                .collect();
            let sum = sum_of_faults(grid, &faults, &Progress::new()).expect("not cancelled");
            for r in 0..grid.height() {
                for c in 0..grid.width() {
                    let (x, z) = (grid.x_m(c), grid.z_m(r));
                    let units: i64 = faults.iter().map(|fault| to_units(fault.uplift_m(x, z))).sum();
                    assert_eq!(sum[(c, r)], to_metres(units), "{:?} at {c}, {r}", profile.key());
                }
            }
        }
    }

    #[test]
    fn adding_faults_one_by_one_equals_their_sum_for_whole_metres() {
        let grid = grid(33, 20);
        let faults = [
            fault([3.3, 4.0], [0.6, 0.8], 5.0),
            fault([9.0, 9.0], [-0.8, 0.6], 3.0),
            fault([20.0, 1.0], [1.0, 0.0], -2.0),
        ];
        let mut one_by_one = Heightfield::flat(grid);
        for fault in &faults {
            add_fault(&mut one_by_one, fault, &Progress::new()).expect("not cancelled");
        }
        assert_eq!(one_by_one, sum_of_faults(grid, &faults, &Progress::new()).expect("not cancelled"));
    }

    #[test]
    fn faults_can_be_added_and_removed_exactly() {
        let (grid, progress) = (grid(70, 50), Progress::new());
        for &profile in Profile::ALL {
            let zone_m = if profile == Profile::Step { 0.0 } else { 9.0 };
            let fault = |i: i32| Fault {
                profile,
                zone_m,
                ..fault(
                    [f64::from(i * 13 % 67), f64::from(i * 7 % 45)],
                    [0.6, 0.8],
                    quantized_displacement(1.7 / f64::from(i)),
                )
            };
            let faults: Vec<Fault> = (1..=9).map(fault).collect();
            let sum = |faults: &[Fault], base: Option<&FixedHeights>| {
                FaultSum { grid, faults, progress: &progress }.heights_and_fixed(base.cloned()).expect("not cancelled")
            };
            let (first, all) = (sum(&faults[..4], None), sum(&faults, None));
            assert_eq!(sum(&faults[4..], Some(&first.1)), all, "{profile:?}");
            let mut removed = faults[4..].to_vec();
            removed.iter_mut().for_each(|fault| fault.displacement_m = -fault.displacement_m);
            assert_eq!(sum(&removed, Some(&all.1)), first, "{profile:?}");
            assert_eq!(sum_of_faults(grid, &faults, &progress), Ok(all.0), "{profile:?}");
        }
    }
}
