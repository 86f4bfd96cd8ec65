//! Straight faults and their sum over a grid.
//!
//! Displacements are held on a grid of 2⁻²⁰ m and summed as integers. Sums are therefore exact: neither the order of
//! the faults nor the number of threads nor the way they are added up (one by one, or all at once) can change a bit
//! of the result.
//!
//! The sum of many faults uses difference rows: a straight fault changes a row of samples at one place, so a row of n
//! faults is n crossings dropped into a row of differences, and one running sum. That is O(n·rows + samples) in place
//! of O(n·samples). Where the faults cross a row is worked out for many faults side by side, in the vector lanes.

use rayon::prelude::*;

use super::heightfield::{Grid, Heightfield};
use super::parameters::choices;
use super::progress::{Cancelled, Progress};
use super::simd::simd;

/// Units of the displacement grid in a metre.
const UNITS_PER_M: f64 = (1_u64 << 20) as f64;

/// Metres to the nearest unit of the displacement grid, halves to even; for less than 2⁵¹ units.
///
/// Between 2⁵² and 2⁵³ neighbouring f64s are 1 apart and their bits count up by 1: adding 1.5·2⁵² rounds to whole
/// units, which then are a difference of bits. Unlike a cast to i64 this is the same few instructions in every vector
/// lane.
#[inline(always)]
pub fn to_units(metres: f64) -> i64 {
    const WHOLE: f64 = 1.5 * (1_u64 << 52) as f64;
    (metres * UNITS_PER_M + WHOLE).to_bits() as i64 - WHOLE.to_bits() as i64
}

/// Units of the displacement grid to the nearest f32 in metres.
#[inline(always)]
pub fn to_metres(units: i64) -> f32 {
    to_exact_metres(units) as f32
}

/// Units of the displacement grid to metres, exact below 2⁵³ units.
#[inline(always)]
pub fn to_exact_metres(units: i64) -> f64 {
    units as f64 * (1.0 / UNITS_PER_M)
}

/// The nearest displacement that can be summed exactly.
pub fn quantized_displacement(metres: f64) -> f64 {
    to_units(metres) as f64 / UNITS_PER_M
}

choices! {
    /// The cross-section of a fault: the share of its displacement that a point gets, by its distance from the line.
    pub enum Profile {
        /// A cliff: one side up, the other down.
        Step = "step", "Step";
        /// A straight slope across the fault zone.
        Ramp = "ramp", "Ramp";
        /// A rounded slope across the fault zone.
        Smooth = "smooth", "Smooth";
        /// A wave within the fault zone: a bank on one side, a ditch on the other.
        Sine = "sine", "Sine";
        /// A ridge along the line, as wide as the fault zone.
        Cosine = "cosine", "Cosine ridge";
        /// A cliff that dies away exponentially.
        Exponential = "exponential", "Exponential decay";
        /// A cliff that dies away like a bell curve.
        Gaussian = "gaussian", "Gaussian decay";
        /// A cliff that dies away in a straight line and ends at the edge of the fault zone.
        Linear = "linear", "Linear decay";
        /// A cliff that dies away smoothly and ends at the edge of the fault zone.
        Biweight = "biweight", "Biweight decay";
    }
}

impl Profile {
    /// Whether the width of the fault zone matters to it.
    pub fn has_zone(self) -> bool {
        self != Self::Step
    }

    /// w(dist): the share of the displacement at a signed distance from the line, in metres; a point on the line
    /// counts as lying on the up side.
    ///
    /// Step: Krten, "Fractal Terrain Generation", Dr. Dobb's Journal, July 1994; sine and cosine: Lighthouse3D,
    /// "Terrain Tutorial: Fault Algorithm"; the decaying ones follow Krten's suggestion that an earthquake in one
    /// city moves nothing a thousand kilometres away.
    #[inline(always)]
    pub fn weight(self, dist_m: f64, zone_m: f64) -> f64 {
        if zone_m > 0.0 {
            self.weight_by_zone(dist_m, zone_m)
        } else if dist_m >= 0.0 {
            self.far_weight()
        } else {
            -self.far_weight()
        }
    }

    /// [`Self::weight`] for a fault zone that is not empty.
    #[inline(always)]
    fn weight_by_zone(self, dist_m: f64, zone_m: f64) -> f64 {
        let side = if dist_m >= 0.0 { 1.0 } else { -1.0 };
        let t = (dist_m / zone_m).abs();
        match self {
            Self::Step => side,
            Self::Ramp => side * t.min(1.0),
            // 2·S(t/2 + ½) − 1 with the smoothstep S(u) = 3u² − 2u³ is (3t − t³)/2.
            Self::Smooth => {
                let t = t.min(1.0);
                side * 0.5 * t * (3.0 - t * t)
            }
            // sin π·t = sin π·(1 − t), which also makes it 0 from the edge of the zone on.
            Self::Sine => {
                let t = t.min(1.0);
                side * sin_pi(t.min(1.0 - t))
            }
            // Computed first and chosen after, so that there is no branch in the way of the vector lanes.
            Self::Cosine => {
                let ridge = 0.5 * (1.0 + sin_pi(0.5 - t.min(1.0)));
                if t < 1.0 { ridge } else { 0.0 }
            }
            Self::Exponential => side * libm::exp(-t),
            Self::Gaussian => side * libm::exp(-0.5 * t * t),
            Self::Linear => side * (1.0 - t).max(0.0),
            Self::Biweight => {
                let rest = (1.0 - t * t).max(0.0);
                side * rest * rest
            }
        }
    }

    /// |w| far from the line.
    fn far_weight(self) -> f64 {
        match self {
            Self::Step | Self::Ramp | Self::Smooth => 1.0,
            Self::Sine | Self::Cosine | Self::Exponential | Self::Gaussian | Self::Linear | Self::Biweight => 0.0,
        }
    }

    /// The distance in metres beyond which displacement · w, on the displacement grid, is ±displacement ·
    /// [`Self::far_weight`].
    fn reach_m(self, displacement_m: f64, zone_m: f64) -> f64 {
        if zone_m <= 0.0 {
            return 0.0;
        }
        // |d|·w rounds to no unit at all where w < 1/(2·|d| in units); one more unit to be safe.
        let vanishing = libm::log(2.0 * displacement_m.abs() * UNITS_PER_M + 2.0);
        match self {
            Self::Step => 0.0,
            Self::Ramp | Self::Smooth | Self::Sine | Self::Cosine | Self::Linear | Self::Biweight => zone_m,
            Self::Exponential => zone_m * vanishing,
            Self::Gaussian => zone_m * (2.0 * vanishing).sqrt(),
        }
    }
}

/// sin(π·t) for |t| ≤ ½, within 1e−13 of the true value and the same bits on every machine: the Taylor series to x¹⁷
/// leaves an error below (π/2)¹⁹/19! = 5e−14.
#[inline(always)]
fn sin_pi(t: f64) -> f64 {
    let x = std::f64::consts::PI * t;
    let q = x * x;
    // Written out, because a loop inside would keep the loop around it from the vector lanes.
    let mut series = 1.0 / 355_687_428_096_000.0;
    series = series * q - 1.0 / 1_307_674_368_000.0;
    series = series * q + 1.0 / 6_227_020_800.0;
    series = series * q - 1.0 / 39_916_800.0;
    series = series * q + 1.0 / 362_880.0;
    series = series * q - 1.0 / 5_040.0;
    series = series * q + 1.0 / 120.0;
    series = series * q - 1.0 / 6.0;
    x + x * q * series
}

/// A straight fault across the whole map: h += displacement · w((p − point)·normal).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// A point of the line, metres east and south of the north-west corner.
    pub point_m: [f64; 2],
    /// The unit normal, pointing to the up side.
    pub normal: [f64; 2],
    /// How far the up side rises (negative: sinks), in metres, on the displacement grid.
    pub displacement_m: f64,
    /// The cross-section.
    pub profile: Profile,
    /// The reach of the fault zone to each side, metres; without meaning for [`Profile::Step`].
    pub zone_m: f64,
}

impl Fault {
    /// The signed distance of a point from the line in metres, positive on the up side.
    pub fn distance_m(&self, x_m: f64, z_m: f64) -> f64 {
        (x_m - self.point_m[0]) * self.normal[0] + (z_m - self.point_m[1]) * self.normal[1]
    }

    /// How far the fault lifts a point, in metres.
    pub fn uplift_m(&self, x_m: f64, z_m: f64) -> f64 {
        self.displacement_m * self.profile.weight(self.distance_m(x_m, z_m), self.zone_m)
    }
}

/// A fault made ready for one grid.
#[derive(Clone, Copy, Debug)]
struct Crosser {
    fault: Fault,
    /// Whether the distance grows eastward along a row.
    rising: bool,
    /// Columns per metre of distance: turns a distance into a column.
    columns_per_m: f64,
    /// The column of `point_m`.
    point_column: f64,
    reach_m: f64,
    /// The lift far east of the line, in units; far west it is the opposite.
    east_units: i64,
}

/// Where a row of samples meets the fault: west of `first` and from `second` on the lift is constant.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    first: usize,
    second: usize,
}

impl Crosser {
    fn new(fault: &Fault, grid: &Grid) -> Self {
        let [nx, _] = fault.normal;
        let rising = nx > 0.0;
        let spacing = grid.spacing_x_m();
        let far_units = to_units(fault.displacement_m * fault.profile.far_weight());
        Self {
            fault: *fault,
            rising,
            columns_per_m: 1.0 / (nx * spacing),
            point_column: (fault.point_m[0] - grid.x_m(0)) / spacing,
            reach_m: fault.profile.reach_m(fault.displacement_m, fault.zone_m),
            east_units: if rising { far_units } else { -far_units },
        }
    }

    /// The first column on the east side of the place where the distance passes `threshold_m`. `across_m` is the part
    /// of the distance that is the same along the row.
    ///
    /// The column is guessed by a division that rounds, then checked with the distance itself, so that the answer is
    /// a function of the sample's position alone and agrees between grids.
    fn column(&self, threshold_m: f64, across_m: f64, xs: &[f64]) -> usize {
        let [px, _] = self.fault.point_m;
        let [nx, _] = self.fault.normal;
        let is_east = |x: f64| ((x - px) * nx + across_m >= threshold_m) == self.rising;
        // Truncation after adding one is the ceiling for all but exact hits; negative and NaN become 0.
        let guess = (((threshold_m - across_m) * self.columns_per_m + self.point_column + 1.0) as usize).min(xs.len());
        let west_is_west = guess == 0 || !is_east(xs[guess - 1]);
        let east_is_east = guess == xs.len() || is_east(xs[guess]);
        if west_is_west && east_is_east { guess } else { xs.partition_point(|&x| !is_east(x)) }
    }

    fn crossing(&self, z: f64, xs: &[f64]) -> Crossing {
        let across_m = self.across_m(z);
        if self.reach_m == 0.0 {
            let column = self.column(0.0, across_m, xs);
            return Crossing { first: column, second: column };
        }
        let west_edge_m = self.west_edge_m();
        Crossing { first: self.column(west_edge_m, across_m, xs), second: self.column(-west_edge_m, across_m, xs) }
    }

    /// The distance at which the fault zone begins in the west.
    fn west_edge_m(&self) -> f64 {
        if self.rising { -self.reach_m } else { self.reach_m }
    }

    fn across_m(&self, z: f64) -> f64 {
        (z - self.fault.point_m[1]) * self.fault.normal[1]
    }

    /// Adds the lift of the samples between the two crossings, in units.
    #[inline(always)]
    fn add_zone(&self, z: f64, xs: &[f64], sums: &mut [i64]) {
        // A loop of its own for every profile, without a choice inside: neighbouring samples go through the vector
        // lanes together.
        match self.fault.profile {
            Profile::Step => self.add_zone_by(z, xs, sums, |dist, zone| Profile::Step.weight_by_zone(dist, zone)),
            Profile::Ramp => self.add_zone_by(z, xs, sums, |dist, zone| Profile::Ramp.weight_by_zone(dist, zone)),
            Profile::Smooth => self.add_zone_by(z, xs, sums, |dist, zone| Profile::Smooth.weight_by_zone(dist, zone)),
            Profile::Sine => self.add_zone_by(z, xs, sums, |dist, zone| Profile::Sine.weight_by_zone(dist, zone)),
            Profile::Cosine => self.add_zone_by(z, xs, sums, |dist, zone| Profile::Cosine.weight_by_zone(dist, zone)),
            Profile::Exponential => {
                self.add_zone_by(z, xs, sums, |dist, zone| Profile::Exponential.weight_by_zone(dist, zone));
            }
            Profile::Gaussian => {
                self.add_zone_by(z, xs, sums, |dist, zone| Profile::Gaussian.weight_by_zone(dist, zone));
            }
            Profile::Linear => self.add_zone_by(z, xs, sums, |dist, zone| Profile::Linear.weight_by_zone(dist, zone)),
            Profile::Biweight => {
                self.add_zone_by(z, xs, sums, |dist, zone| Profile::Biweight.weight_by_zone(dist, zone));
            }
        }
    }

    #[inline(always)]
    fn add_zone_by(&self, z: f64, xs: &[f64], sums: &mut [i64], weight: impl Fn(f64, f64) -> f64) {
        let ([px, _], [nx, _], across_m) = (self.fault.point_m, self.fault.normal, self.across_m(z));
        let (displacement_m, zone_m) = (self.fault.displacement_m, self.fault.zone_m);
        for (sum, x) in sums.iter_mut().zip(xs) {
            *sum += to_units(displacement_m * weight((x - px) * nx + across_m, zone_m));
        }
    }
}

/// Metres from the west border to each column.
pub fn column_positions(grid: &Grid) -> Vec<f64> {
    (0..grid.width()).map(|c| grid.x_m(c)).collect()
}

/// Faults that are worked on together, and between two looks at the monitor: a row of a hundred thousand would take too
/// long.
const AT_ONCE: usize = 64;

/// Stands for a column that has to be looked for with the distance itself.
const UNSURE: u32 = u32::MAX;

/// Some faults made ready for one grid, number by number, so that they go through the vector lanes side by side. Places
/// that are left over at the end mean nothing.
#[derive(Clone, Debug)]
struct Block {
    crossers: Vec<Crosser>,
    point_z_m: [f64; AT_ONCE],
    normal_z: [f64; AT_ONCE],
    columns_per_m: [f64; AT_ONCE],
    point_column: [f64; AT_ONCE],
    /// The distance at which the fault zone begins in the west.
    west_edge_m: [f64; AT_ONCE],
    east_units: [i64; AT_ONCE],
    has_zones: bool,
}

impl Block {
    fn new(faults: &[Fault], grid: &Grid) -> Self {
        let crossers: Vec<Crosser> = faults.iter().map(|fault| Crosser::new(fault, grid)).collect();
        let of_each = |number: fn(&Crosser) -> f64| {
            let mut numbers = [0.0; AT_ONCE];
            numbers.iter_mut().zip(&crossers).for_each(|(place, crosser)| *place = number(crosser));
            numbers
        };
        let mut east_units = [0; AT_ONCE];
        east_units.iter_mut().zip(&crossers).for_each(|(units, crosser)| *units = crosser.east_units);
        Self {
            east_units,
            point_z_m: of_each(|crosser| crosser.fault.point_m[1]),
            normal_z: of_each(|crosser| crosser.fault.normal[1]),
            columns_per_m: of_each(|crosser| crosser.columns_per_m),
            point_column: of_each(|crosser| crosser.point_column),
            west_edge_m: of_each(Crosser::west_edge_m),
            has_zones: crossers.iter().any(|crosser| crosser.reach_m > 0.0),
            crossers,
        }
    }

    /// What each fault lifts by far in the east.
    #[inline(always)]
    fn east_units(&self) -> &[i64] {
        &self.east_units[..self.crossers.len()]
    }

    /// For every fault the first column on the east side of one edge of its zone (`side`: 1, the west edge; −1, the east
    /// one) in the row at `z`.
    ///
    /// A division that rounds can only be wrong where the edge passes a sample more closely than the rounding of all
    /// numbers taken together; [`Crosser::column`] then decides.
    #[inline(always)]
    fn columns(&self, z: f64, side: f64, xs: &[f64], columns: &mut [u32; AT_ONCE]) {
        // Some forty times the rounding of a number near 1.
        const ROUNDING: f64 = 1e-14;
        // Between 2⁵² and 2⁵³ the low bits of an f64 count whole numbers.
        const WHOLE: f64 = (1_u64 << 52) as f64;
        let end = xs.len() as f64;
        let mut unsure = 0;
        for (k, column) in columns.iter_mut().enumerate() {
            let across_m = (z - self.point_z_m[k]) * self.normal_z[k];
            let edge_m = side * self.west_edge_m[k];
            let (per_m, origin) = (self.columns_per_m[k], self.point_column[k]);
            let place = (edge_m - across_m) * per_m + origin;
            let doubt = ROUNDING * ((edge_m.abs() + across_m.abs()) * per_m.abs() + 2.0 * origin.abs() + end);
            // Clamped a little outside the row, where whole numbers mean nothing; NaN becomes the lower end.
            let near = place.max(-1.5).min(end + 0.5);
            let is_sure = (near - near.round_ties_even()).abs() > doubt;
            let found = (near.ceil().max(0.0).min(end) + WHOLE).to_bits() as u32;
            *column = if is_sure { found } else { UNSURE };
            unsure += u32::from(!is_sure);
        }
        if unsure > 0 {
            for (crosser, column) in self.crossers.iter().zip(columns).filter(|(_, column)| **column == UNSURE) {
                *column = crosser.column(side * crosser.west_edge_m(), crosser.across_m(z), xs) as u32;
            }
        }
    }
}

/// The sum of the faults on flat land.
pub fn sum_of_faults(grid: Grid, faults: &[Fault], progress: &Progress) -> Result<Heightfield, Cancelled> {
    FaultSum { grid, faults, progress }.terrain(|_, _, _| Ok(()))
}

/// Exact heights, row-major, in units of the displacement grid: more faults can be added to them, or taken away again,
/// and the land is to the bit what it would have been from the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedHeights(Vec<i64>);

impl FixedHeights {
    /// Flat land at height 0.
    pub fn flat(grid: Grid) -> Self {
        Self(vec![0; grid.samples()])
    }

    /// The rows of what may be there, for each row of the grid.
    pub fn rows_mut(sums: Option<&mut Self>, grid: Grid) -> Vec<Option<&mut [i64]>> {
        let mut rows: Vec<Option<&mut [i64]>> =
            sums.map(|sums| sums.0.chunks_exact_mut(grid.width()).map(Some).collect()).unwrap_or_default();
        rows.resize_with(grid.height(), || None);
        rows
    }
}

#[cfg(test)]
impl FixedHeights {
    /// Heights in units.
    pub(super) fn of_land(units: &[i64]) -> Self {
        Self(units.to_vec())
    }
}

/// Faults to be added up.
#[derive(Clone, Copy, Debug)]
pub struct FaultSum<'a> {
    /// Where the samples lie.
    pub grid: Grid,
    /// The faults, straight ones across the whole map.
    pub faults: &'a [Fault],
    /// Progress and cancellation.
    pub progress: &'a Progress,
}

/// What a row of samples is added up in, kept from one row to the next.
struct AddedRow {
    /// Differences between neighbouring samples, one more than samples.
    differences: Vec<i64>,
    /// Lifts within fault zones, and other ones; at the end all of them.
    lifts: Vec<i64>,
    /// Where a block of faults crosses the row.
    firsts: [u32; AT_ONCE],
    seconds: [u32; AT_ONCE],
}

impl FaultSum<'_> {
    /// The land that comes of it. `lift` adds more to a row: given the row's place in metres from the north, the places
    /// of its columns from the west, and a sum for each of them in units of the displacement grid.
    pub fn terrain(
        &self,
        lift: impl Fn(f64, &[f64], &mut [i64]) -> Result<(), Cancelled> + Sync,
    ) -> Result<Heightfield, Cancelled> {
        let mut terrain = Heightfield::flat(self.grid);
        self.accumulate(&mut terrain, None, lift)?;
        Ok(terrain)
    }

    /// The land that comes of it on top of exact heights on the same grid (`None`: flat land), which become those to go
    /// on from.
    pub fn heights_and_fixed(&self, onto: Option<FixedHeights>) -> Result<(Heightfield, FixedHeights), Cancelled> {
        let mut terrain = Heightfield::flat(self.grid);
        let mut sums = onto.unwrap_or_else(|| FixedHeights::flat(self.grid));
        self.accumulate(&mut terrain, Some(&mut sums), |_, _, _| Ok(()))?;
        Ok((terrain, sums))
    }

    /// Adds the faults to the sums, if there are any, and makes the land of what they come to.
    fn accumulate(
        &self,
        terrain: &mut Heightfield,
        sums: Option<&mut FixedHeights>,
        lift: impl Fn(f64, &[f64], &mut [i64]) -> Result<(), Cancelled> + Sync,
    ) -> Result<(), Cancelled> {
        let Self { grid, faults, progress } = *self;
        let (width, height) = (grid.width(), grid.height());
        let xs = column_positions(&grid);
        let block = |faults: &[Fault]| progress.check().map(|()| Block::new(faults, &grid));
        let blocks: Vec<Block> = faults.par_chunks(AT_ONCE).map(block).collect::<Result<_, _>>()?;
        // Far in the west every fault lifts by the opposite of what it lifts by in the east.
        let westmost: i64 = blocks.iter().flat_map(|block| &block.crossers).map(|crosser| -crosser.east_units).sum();
        let counter = progress.counter(height);
        terrain
            .heights_mut()
            .par_chunks_mut(width)
            .zip(FixedHeights::rows_mut(sums, grid))
            .enumerate()
            .try_for_each_init(
                || AddedRow {
                    differences: vec![0; width + 1],
                    lifts: vec![0; width],
                    firsts: [0; AT_ONCE],
                    seconds: [0; AT_ONCE],
                },
                |row, (r, (heights, sums))| {
                    let z = grid.z_m(r);
                    for block in &blocks {
                        progress.check()?;
                        simd(
                            #[inline(always)]
                            || block.add_to(z, &xs, row),
                        );
                    }
                    let AddedRow { differences, lifts, .. } = row;
                    lift(z, &xs, lifts)?;
                    let mut running = westmost;
                    for (lift, difference) in lifts.iter_mut().zip(&mut *differences) {
                        running += std::mem::take(difference);
                        *lift += running;
                    }
                    differences[width] = 0;
                    simd(
                        #[inline(always)]
                        || {
                            let units = match sums {
                                Some(sums) => {
                                    sums.iter_mut().zip(&*lifts).for_each(|(sum, lift)| *sum += lift);
                                    sums
                                }
                                None => &mut lifts[..],
                            };
                            heights.iter_mut().zip(units).for_each(|(height, units)| *height = to_metres(*units));
                        },
                    );
                    lifts.fill(0);
                    counter.add_one()
                },
            )
    }
}

impl Block {
    /// Adds what these faults lift along the row at `z`.
    #[inline(always)]
    fn add_to(&self, z: f64, xs: &[f64], AddedRow { differences, lifts, firsts, seconds }: &mut AddedRow) {
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
        for ((crosser, &first), &second) in self.crossers.iter().zip(&*firsts).zip(seconds) {
            let zone = first as usize..second as usize;
            if !zone.is_empty() {
                crosser.add_zone(z, &xs[zone.clone()], &mut lifts[zone]);
            }
        }
    }
}

/// Adds one fault to the land, in f32: what happens between two passes of the wind.
pub fn add_fault(heightfield: &mut Heightfield, fault: &Fault, progress: &Progress) -> Result<(), Cancelled> {
    let grid = heightfield.grid();
    let xs = column_positions(&grid);
    let crosser = Crosser::new(fault, &grid);
    let east = to_metres(crosser.east_units);
    let rows = heightfield.heights_mut().par_chunks_mut(grid.width()).enumerate().with_min_len(32);
    rows.try_for_each_init(Vec::new, |zone, (r, heights)| {
        let z = grid.z_m(r);
        let Crossing { first, second } = crosser.crossing(z, &xs);
        heights[..first].iter_mut().for_each(|height| *height -= east);
        heights[second..].iter_mut().for_each(|height| *height += east);
        if first < second {
            zone.clear();
            zone.resize(second - first, 0);
            crosser.add_zone(z, &xs[first..second], zone);
            heights[first..second].iter_mut().zip(zone).for_each(|(height, units)| *height += to_metres(*units));
        }
        progress.check()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;

    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: (width - 1) as f64, depth_m: (height - 1) as f64 }, width, height)
    }

    fn fault(point_m: [f64; 2], normal: [f64; 2], displacement_m: f64) -> Fault {
        Fault { point_m, normal, displacement_m, profile: Profile::Step, zone_m: 0.0 }
    }

    #[test]
    fn hand_drawn_masks() {
        let progress = Progress::new();
        let mask = |fault| sum_of_faults(grid(4, 3), &[fault], &progress).expect("not cancelled").into_heights();
        // Upright line between columns 1 and 2, up in the east, then up in the west.
        let upright = vec![-2.0, -2.0, 2.0, 2.0, -2.0, -2.0, 2.0, 2.0, -2.0, -2.0, 2.0, 2.0];
        assert_eq!(mask(fault([1.5, 0.0], [1.0, 0.0], 2.0)), upright);
        assert_eq!(mask(fault([1.5, 0.0], [-1.0, 0.0], -2.0)), upright);
        // Level line between rows 0 and 1, up in the south.
        let level = [[-1.0; 4], [1.0; 4], [1.0; 4]].concat();
        assert_eq!(mask(fault([0.0, 0.5], [0.0, 1.0], 1.0)), level);
        // The diagonal through the samples (c, c): samples on the line lie on the up side.
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let diagonal = vec![1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0];
        assert_eq!(mask(fault([0.0, 0.0], [half, -half], 1.0)), diagonal);
    }

    #[test]
    fn profiles_by_their_formulas() {
        let pi = std::f64::consts::PI;
        for profile in Profile::ALL {
            for i in -40..=40 {
                let dist: f64 = f64::from(i) * 5.0;
                let t = dist.abs() / 80.0;
                let side = if dist >= 0.0 { 1.0 } else { -1.0 };
                let inside = f64::from(u8::from(t < 1.0));
                let expected = match profile {
                    Profile::Step => side,
                    Profile::Ramp => (dist / 80.0).clamp(-1.0, 1.0),
                    Profile::Smooth => {
                        let u = (dist / 160.0 + 0.5).clamp(0.0, 1.0);
                        2.0 * (3.0 * u * u - 2.0 * u * u * u) - 1.0
                    }
                    Profile::Sine => libm::sin(pi * dist / 80.0) * inside,
                    Profile::Cosine => 0.5 * (1.0 + libm::cos(pi * dist / 80.0)) * inside,
                    Profile::Exponential => side * libm::exp(-t),
                    Profile::Gaussian => side * libm::exp(-t * t / 2.0),
                    Profile::Linear => side * (1.0 - t) * inside,
                    Profile::Biweight => side * (1.0 - t * t) * (1.0 - t * t) * inside,
                };
                let found = profile.weight(dist, 80.0);
                assert!((found - expected).abs() < 1e-12, "{} at {dist}: {found}, not {expected}", profile.key());
            }
        }
    }

    #[test]
    fn the_sum_equals_the_plain_double_loop_for_every_profile() {
        let grid = Grid::new(Extent { width_m: 3000.0, depth_m: 1700.0 }, 97, 55);
        for profile in Profile::ALL {
            let mut draw = crate::engine::random::Stream::new(1, 2).at(3);
            let faults: Vec<Fault> = (0..60)
                .map(|i| {
                    let azimuth = draw.between(0.0, std::f64::consts::TAU);
                    // Some lines exactly upright or level, some through samples.
                    let normal = match i % 10 {
                        0 => [1.0, 0.0],
                        1 => [0.0, -1.0],
                        _ => [libm::cos(azimuth), libm::sin(azimuth)],
                    };
                    let point = [grid.x_m(i % 97), draw.between(-400.0, 2000.0)];
                    let displacement_m = quantized_displacement(draw.between(-90.0, 90.0));
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
    fn one_by_one_equals_all_at_once_for_whole_metres() {
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
    fn faults_added_and_taken_away_again_leave_no_trace() {
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
            let sum = |faults: &[Fault], onto: Option<&FixedHeights>| {
                FaultSum { grid, faults, progress: &progress }.heights_and_fixed(onto.cloned()).expect("not cancelled")
            };
            let (first, all) = (sum(&faults[..4], None), sum(&faults, None));
            assert_eq!(sum(&faults[4..], Some(&first.1)), all, "{profile:?}");
            let mut taken = faults[4..].to_vec();
            taken.iter_mut().for_each(|fault| fault.displacement_m = -fault.displacement_m);
            assert_eq!(sum(&taken, Some(&all.1)), first, "{profile:?}");
            assert_eq!(sum_of_faults(grid, &faults, &progress), Ok(all.0), "{profile:?}");
        }
    }
}
