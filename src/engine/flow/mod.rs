//! Where water runs: from every sample to one of its neighbours, out of every hollow, and down to where rivers end.
//!
//! Each sample has one receiver, the neighbour to which the ground falls most steeply in metres per metre (O'Callaghan and
//! Mark, "The extraction of drainage networks from digital elevation data", 1984). Samples without a lower neighbour
//! are pits; their basins are led over their lowest passes to where rivers end (`basins`), so that all water leaves the
//! land. Then the samples make up trees with their roots at the outlets, which are walked upstream (`trees`).
//!
//! Of samples at equal height the one with the lower `tie_break` counts as the lower one, a number that looks random. So
//! flat land has no ties, and water crosses it in branches as on land that is nearly flat, not in parallel lines.
//!
//! Everything here is a function of the heights alone: integers are added, and nothing depends on the order in which
//! threads come.

mod basins;
mod creep;
#[cfg(test)]
pub(super) mod reference;
mod trees;

use rayon::prelude::*;

use self::basins::Basins;
pub(super) use self::creep::Creep;
use super::heightfield::{Grid, Heightfield};
use super::parameters::choices;
use super::progress::{Cancelled, Progress};
use super::simd::simd;

choices! {
    /// Where rivers leave the world.
    pub enum Outlets {
        /// All around: the border keeps its heights, and valleys open on it everywhere.
        Border = "border", "Whole border";
        /// At the lowest places of the border, as in a piece cut out of a larger range.
        Hollows = "hollows", "Hollows of the border";
        /// By the north side alone.
        North = "north", "North side";
        /// By the east side alone.
        East = "east", "East side";
        /// By the south side alone.
        South = "south", "South side";
        /// By the west side alone.
        West = "west", "West side";
    }
}

/// Which way rivers take, and where they end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoutingOptions {
    /// Where they leave the world.
    pub outlets: Outlets,
    /// The level of a sea, metres: every sample at or below it is an end.
    pub sea_m: Option<f32>,
    /// From 0 to 1: how much the falls towards diagonal neighbours count for more or less than they are, by chance.
    ///
    /// At 0 rivers take the steepest way, and on even slopes run straight along one of the eight directions. At 1 they
    /// stray as in J. Fairfield and P. Leymarie, "Drainage networks from grid digital elevation models", Water Resources
    /// Research 27, 1991 (Rho8), and on the whole run where the slope faces: a diagonal fall counts √2/(2 − ρ) times,
    /// with ρ a number from 0 to 1 that each sample has for good.
    pub stray: f32,
}

impl RoutingOptions {
    /// Whether rivers end at a sample whatever lies around it.
    fn holds(self, grid: Grid, c: usize, r: usize, height: f32) -> bool {
        let at_side = match self.outlets {
            Outlets::Border => at_border(grid, c, r),
            Outlets::Hollows => false,
            Outlets::North => r == 0,
            Outlets::East => c + 1 == grid.width(),
            Outlets::South => r + 1 == grid.height(),
            Outlets::West => c == 0,
        };
        at_side || self.sea_m.is_some_and(|sea_m| height <= sea_m)
    }
}

fn at_border(grid: Grid, c: usize, r: usize) -> bool {
    c == 0 || r == 0 || c + 1 == grid.width() || r + 1 == grid.height()
}

/// The directions of the neighbours, columns eastward and rows southward, from north over east. The opposite of
/// direction k is k ^ 4.
const WAYS: [[isize; 2]; 8] = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]];

/// In place of a direction: water ends here. Also a pit, before it is led on.
pub(super) const END: u8 = 8;
/// In place of a direction: a sample of the frame around the land, which is no land.
const FRAME: u8 = 9;

/// Samples between two looks at the monitor.
const AT_ONCE: usize = 1 << 15;

/// A place among equals that looks random; no two samples share one (the finaliser of MurmurHash3, A. Appleby, which
/// is a permutation).
#[inline(always)]
pub(super) fn tie_break(sample: usize) -> u32 {
    let mut bits = sample as u32;
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    bits ^ (bits >> 16)
}

/// The water on a land, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Water {
    /// The depth of the lakes once every one is full, metres.
    pub lakes_m: Vec<f32>,
    /// The land that drains through each sample, m².
    pub areas_m2: Vec<f32>,
    /// The sample that each gives its water to, counted row by row; one where rivers end is its own.
    pub receivers: Vec<u32>,
}

impl Water {
    /// Maps of a land that are held while its water is found, at the most.
    pub const MAPS: f64 = Drainage::MAPS + 3.0;

    /// The water on a land from which rivers run to some outlets, and into a sea if there is one at that level in metres;
    /// they take the steepest ways.
    pub fn on(
        terrain: &Heightfield,
        outlets: Outlets,
        sea_m: Option<f32>,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mut drainage = Drainage::new(terrain.grid(), RoutingOptions { outlets, sea_m, stray: 0.0 }, progress)?;
        drainage.route(terrain, progress)?;
        Ok(Self {
            lakes_m: drainage.lakes_m(),
            areas_m2: drainage.areas_m2(progress)?,
            receivers: drainage.receivers(),
        })
    }

    /// The topographic wetness index ln(a/tan β) of a sample, with a the land that drains through a metre of contour and
    /// β the slope (K. J. Beven and M. J. Kirkby, "A physically based, variable contributing area model of basin
    /// hydrology", Hydrological Sciences Bulletin 24, 1979); ground that falls less than 1 in 1000 counts as falling so.
    pub fn wetness(&self, terrain: &Heightfield, c: usize, r: usize) -> f32 {
        const LEAST_SLOPE: f32 = 1e-3;
        let grid = terrain.grid();
        let width_m = (0.5 * (grid.spacing_x_m() + grid.spacing_z_m())) as f32;
        let [east, south] = terrain.gradient(c, r);
        let slope = (east * east + south * south).sqrt().max(LEAST_SLOPE);
        libm::logf(self.areas_m2[r * grid.width() + c] / width_m / slope)
    }
}

/// So many numbers of a map, made a stretch at a time, because a large one takes long.
pub(super) fn numbers<T>(count: usize, number: impl Fn() -> T, progress: &Progress) -> Result<Vec<T>, Cancelled> {
    let mut numbers = Vec::with_capacity(count);
    while numbers.len() < count {
        numbers.resize_with((numbers.len() + AT_ONCE).min(count), &number);
        progress.check()?;
    }
    Ok(numbers)
}

/// The water of one land after another on one grid.
///
/// The maps in here have a frame of one sample around the land, so that every sample has eight neighbours.
#[derive(Debug)]
pub(super) struct Drainage {
    grid: Grid,
    course: RoutingOptions,
    /// How far away the neighbours are among the samples, and in metres.
    steps: [isize; 8],
    lengths_m: [f32; 8],
    /// With +∞ in the frame.
    heights: Vec<f32>,
    /// To the receiver, [`END`] or [`FRAME`].
    directions: Vec<u8>,
    /// For each neighbour a bit that says whether it gives its water to the sample.
    donors: Vec<u8>,
    /// The samples at which water ends, in the order of the rows.
    ends: Vec<u32>,
    basins: Basins,
}

impl Drainage {
    /// Maps of heights that are held, at the most: heights, areas, basins and their passes on land that is all pits.
    pub const MAPS: f64 = 6.0;

    /// Nothing is known of any land yet.
    pub fn new(grid: Grid, course: RoutingOptions, progress: &Progress) -> Result<Self, Cancelled> {
        let stride = grid.width() + 2;
        let (x_m, z_m) = (grid.spacing_x_m(), grid.spacing_z_m());
        let samples = stride * (grid.height() + 2);
        Ok(Self {
            grid,
            course,
            steps: WAYS.map(|[east, south]| south * stride.cast_signed() + east),
            lengths_m: WAYS.map(|[east, south]| libm::hypot(east as f64 * x_m, south as f64 * z_m) as f32),
            heights: numbers(samples, || f32::INFINITY, progress)?,
            directions: numbers(samples, || FRAME, progress)?,
            donors: vec![0; samples],
            ends: Vec::new(),
            basins: Basins::default(),
        })
    }

    /// Samples from a row to the next in the maps with the frame.
    pub fn stride(&self) -> usize {
        self.grid.width() + 2
    }

    /// All samples of the maps with the frame.
    pub fn framed_samples(&self) -> usize {
        self.heights.len()
    }

    /// How far away the neighbours are, metres.
    pub fn lengths_m(&self) -> [f32; 8] {
        self.lengths_m
    }

    /// Where the water of a sample goes: the number of the direction and the sample; `None` where rivers end.
    #[inline(always)]
    pub fn receiver(&self, sample: usize) -> Option<(usize, usize)> {
        let direction = usize::from(self.directions[sample]);
        self.steps.get(direction).map(|step| (direction, sample.wrapping_add_signed(*step)))
    }

    /// Finds the ways of the water over a land on the grid.
    pub fn route(&mut self, terrain: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        self.frame(terrain, progress)?;
        let pits = self.descend(progress)?;
        self.find_donors(progress)?;
        self.drain(&pits, progress)
    }

    fn drain(&mut self, pits: &[u32], progress: &Progress) -> Result<(), Cancelled> {
        let ground = basins::Ground { steps: self.steps, stride: self.stride(), heights: &self.heights };
        let mut ways = basins::Ways { directions: &mut self.directions, donors: &mut self.donors };
        self.basins.drain(&ground, &mut ways, pits, progress)
    }

    /// Copies the land into its frame.
    fn frame(&mut self, terrain: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let (stride, width) = (self.stride(), self.grid.width());
        let rows = self.heights.par_chunks_exact_mut(stride).skip(1).zip(terrain.heights().par_chunks_exact(width));
        rows.with_min_len(16).try_for_each(|(framed, row)| {
            framed[1..=width].copy_from_slice(row);
            progress.check()
        })
    }

    /// Gives every sample its steepest way down, and those at which rivers end none; returns the pits inside.
    fn descend(&mut self, progress: &Progress) -> Result<Vec<u32>, Cancelled> {
        let (grid, course, stride) = (self.grid, self.course, self.stride());
        let (width, height) = (grid.width(), grid.height());
        let falls = self.lengths_m.map(f32::recip);
        let (heights, steps) = (&self.heights, self.steps);
        let rows = self.directions.par_chunks_exact_mut(stride).enumerate().skip(1).take(height).with_min_len(8);
        let of_row = |(r, directions): (usize, &mut [u8])| {
            let first = r * stride + 1;
            let row = |step: isize| &heights[first.wrapping_add_signed(step)..][..width];
            let (here, around, directions) = (row(0), steps.map(row), &mut directions[1..=width]);
            simd(
                #[inline(always)]
                || steepest(here, &around, &falls, Stray { first: first as u32, share: course.stray }, directions),
            );
            let [mut ends, mut pits] = [const { Vec::new() }; 2];
            for (c, (direction, &height)) in directions.iter_mut().zip(here).enumerate() {
                if course.holds(grid, c, r - 1, height) {
                    *direction = END;
                    ends.push((first + c) as u32);
                } else if *direction == END {
                    pits.push((first + c) as u32);
                }
            }
            progress.check().map(|()| [ends, pits])
        };
        let of_rows: Vec<[Vec<u32>; 2]> = rows.map(of_row).collect::<Result<_, Cancelled>>()?;
        self.ends.clear();
        self.ends.extend(of_rows.iter().flat_map(|[ends, _]| ends));
        let ways_of_row = |[_, flats]: &[Vec<u32>; 2]| -> Result<Vec<u8>, Cancelled> {
            progress.check().map(|()| flats.iter().map(|&flat| self.way_on_flat(flat)).collect())
        };
        let ways: Vec<Vec<u8>> = of_rows.par_iter().map(ways_of_row).collect::<Result<_, Cancelled>>()?;
        let mut pits = Vec::new();
        for ([_, flats], ways) in of_rows.iter().zip(ways) {
            for (&flat, way) in flats.iter().zip(ways) {
                self.directions[flat as usize] = way;
                if way == END {
                    pits.push(flat);
                }
            }
            progress.check()?;
        }
        if course.outlets == Outlets::Hollows {
            let (at_border, inside) = pits
                .into_iter()
                .partition(|&pit| at_border(grid, pit as usize % stride - 1, pit as usize / stride - 1));
            pits = inside;
            self.ends.extend::<Vec<u32>>(at_border);
        }
        if self.ends.is_empty() {
            // Water has to end somewhere.
            let is_lower = |a: &u32, b: &u32| {
                let height = |pit: u32| self.heights[pit as usize];
                height(*a).total_cmp(&height(*b)).then(tie_break(*a as usize).cmp(&tie_break(*b as usize)))
            };
            let lowest = pits.iter().copied().min_by(is_lower);
            pits.retain(|pit| Some(*pit) != lowest);
            self.ends.extend(lowest);
        }
        Ok(pits)
    }

    /// The way from a sample without a lower neighbour: to one at the same height that has a way down, else to the one
    /// of lowest rank, if that is lower than its own; otherwise there is none.
    fn way_on_flat(&self, flat: u32) -> u8 {
        let flat = flat as usize;
        let (mut lowest, mut way) = ((true, tie_break(flat)), END);
        for (direction, step) in (0..).zip(self.steps) {
            let beside = flat.wrapping_add_signed(step);
            if self.heights[beside] == self.heights[flat] {
                // Samples on flats have no direction yet.
                let is_flat = self.directions[beside] == END && !self.is_end_of_rivers(beside);
                if (is_flat, tie_break(beside)) < lowest {
                    (lowest, way) = ((is_flat, tie_break(beside)), direction);
                }
            }
        }
        way
    }

    /// Whether rivers end at a sample of the frame's maps whatever lies around it.
    fn is_end_of_rivers(&self, sample: usize) -> bool {
        let (c, r) = (sample % self.stride() - 1, sample / self.stride() - 1);
        self.course.holds(self.grid, c, r, self.heights[sample])
    }

    /// For each sample the neighbours that give it their water.
    fn find_donors(&mut self, progress: &Progress) -> Result<(), Cancelled> {
        let (stride, height, width) = (self.stride(), self.grid.height(), self.grid.width());
        let (directions, steps) = (&self.directions, self.steps);
        let rows = self.donors.par_chunks_exact_mut(stride).enumerate().skip(1).take(height).with_min_len(8);
        rows.try_for_each(|(r, donors)| {
            let around = steps.map(|step| &directions[(r * stride + 1).wrapping_add_signed(step)..][..width]);
            simd(
                #[inline(always)]
                || donors_of(&around, &mut donors[1..=width]),
            );
            progress.check()
        })
    }

    /// The level of the sea, metres; −∞ where there is none.
    pub fn sea_m(&self) -> f32 {
        self.course.sea_m.unwrap_or(f32::NEG_INFINITY)
    }

    /// The height of a sample of the maps with the frame, metres.
    #[inline(always)]
    pub fn height_m(&self, sample: usize) -> f32 {
        self.heights[sample]
    }

    /// Where the samples of the land lie in the maps with the frame, row by row.
    pub fn inside(&self) -> impl IndexedParallelIterator<Item = std::ops::Range<usize>> {
        let (stride, width) = (self.stride(), self.grid.width());
        (1..self.grid.height() + 1).into_par_iter().map(move |r| r * stride + 1..r * stride + 1 + width)
    }

    /// A number of each sample of the land, from its place in the maps with the frame.
    fn unframed<T: Copy + Default + Send>(&self, number: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut numbers = vec![T::default(); self.grid.samples()];
        let rows = numbers.par_chunks_exact_mut(self.grid.width()).zip(self.inside()).with_min_len(16);
        rows.for_each(|(row, places)| row.iter_mut().zip(places).for_each(|(place, at)| *place = number(at)));
        numbers
    }

    /// The depth of the water that stands over each sample once every lake is full, metres, row by row.
    pub fn lakes_m(&self) -> Vec<f32> {
        self.unframed(|at| (self.basins.level_m(at) - self.heights[at]).max(0.0))
    }

    /// Whether rivers end at a sample of the land: it keeps its height.
    pub fn ends(&self) -> Vec<bool> {
        self.unframed(|at| self.directions[at] == END)
    }

    /// The receiver of each sample, counted row by row; an end is its own.
    pub fn receivers(&self) -> Vec<u32> {
        let width = self.grid.width().cast_signed();
        let step = |at: usize| match WAYS.get(usize::from(self.directions[at])) {
            Some([east, south]) => south * width + east,
            None => 0,
        };
        let steps = self.unframed(step);
        steps.into_iter().enumerate().map(|(sample, step)| sample.wrapping_add_signed(step) as u32).collect()
    }
}

/// How a row's diagonal falls count.
#[derive(Clone, Copy)]
struct Stray {
    /// The row's first sample.
    first: u32,
    share: f32,
}

impl Stray {
    /// By how much the diagonal falls of a sample count.
    #[inline(always)]
    fn diagonal(self, c: usize) -> f32 {
        let chance = (tie_break((self.first + c as u32) as usize) >> 9) as f32 * (1.0 / (1 << 23) as f32);
        1.0 + self.share * (std::f32::consts::SQRT_2 / (2.0 - chance) - 1.0)
    }
}

/// The direction in which a row of samples falls most steeply; of equally steep ones the first.
#[inline(always)]
fn steepest(here: &[f32], around: &[&[f32]; 8], falls: &[f32; 8], stray: Stray, directions: &mut [u8]) {
    let width = directions.len();
    let (here, around) = (&here[..width], around.map(|row| &row[..width]));
    for c in 0..width {
        let (mut slope, mut way) = (0.0, u32::from(END));
        let diagonal = stray.diagonal(c);
        for k in 0..8 {
            let counts = if k % 2 == 1 { diagonal } else { 1.0 };
            let fall = (here[c] - around[k][c]) * (falls[k] * counts);
            let is_steeper = fall > slope;
            slope = if is_steeper { fall } else { slope };
            way = if is_steeper { k as u32 } else { way };
        }
        directions[c] = way as u8;
    }
}

/// For a row of samples the neighbours that point at them.
#[inline(always)]
fn donors_of(around: &[&[u8]; 8], donors: &mut [u8]) {
    let width = donors.len();
    let around = around.map(|row| &row[..width]);
    for c in 0..width {
        let mut bits = 0;
        for k in 0..8_u8 {
            bits |= u8::from(around[usize::from(k)][c] == k ^ 4) << k;
        }
        donors[c] = bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;
    use crate::engine::random::Stream;

    const STEEPEST: RoutingOptions = RoutingOptions { outlets: Outlets::Border, sea_m: None, stray: 0.0 };

    /// Two metres from column to column, three from row to row.
    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: 2.0 * (width - 1) as f64, depth_m: 3.0 * (height - 1) as f64 }, width, height)
    }

    fn terrain(rows: &[&[f32]]) -> Heightfield {
        Heightfield::from_fn(grid(rows[0].len(), rows.len()), |c, r| rows[r][c])
    }

    fn routed(course: RoutingOptions, terrain: &Heightfield) -> Drainage {
        let mut drainage = Drainage::new(terrain.grid(), course, &Progress::new()).expect("not cancelled");
        drainage.route(terrain, &Progress::new()).expect("not cancelled");
        drainage
    }

    /// Areas in cells.
    fn areas(drainage: &Drainage) -> Vec<f32> {
        let areas = drainage.areas_m2(&Progress::new()).expect("not cancelled");
        areas.into_iter().map(|area| area / drainage.cell_m2() as f32).collect()
    }

    #[test]
    fn a_tilted_plane_by_hand() {
        let plane = Heightfield::from_fn(grid(5, 3), |c, _| c as f32);
        let drainage = routed(RoutingOptions { outlets: Outlets::West, ..STEEPEST }, &plane);
        assert_eq!(drainage.receivers(), [0, 0, 1, 2, 3, 5, 5, 6, 7, 8, 10, 10, 11, 12, 13]);
        assert_eq!(areas(&drainage)[..5], [5.0, 4.0, 3.0, 2.0, 1.0]);
        assert!(drainage.lakes_m().iter().all(|depth| *depth == 0.0));
    }

    #[test]
    fn the_steepest_way_is_the_one_per_metre() {
        // Down by 4 over 2 m eastward, by 5 over 3 m southward, by 7 over √13 m between: 2, 1.67 and 1.94.
        let rows: [&[f32]; 4] = [&[9.0; 4], &[9.0, 9.0, 5.0, 9.0], &[9.0, 4.0, 2.0, 9.0], &[9.0; 4]];
        let drainage = routed(RoutingOptions { sea_m: Some(2.0), ..STEEPEST }, &terrain(&rows));
        assert_eq!(drainage.receivers()[5], 6);
        assert_eq!(drainage.receivers()[6], 10);
    }

    #[test]
    fn a_cone_sheds_its_water_all_around() {
        let cone = Heightfield::from_fn(grid(33, 33), |c, r| {
            let (x, z) = (2.0 * (c as f32 - 16.0), 3.0 * (r as f32 - 16.0));
            -(x * x + z * z).sqrt()
        });
        let drainage = routed(STEEPEST, &cone);
        let (areas, ends) = (areas(&drainage), drainage.ends());
        let shed: f32 = areas.iter().zip(&ends).filter(|(_, ends)| **ends).map(|(area, _)| area).sum();
        assert_eq!(shed, 33.0 * 33.0);
        assert_eq!(areas[16 * 33 + 16], 1.0);
        let receivers = drainage.receivers();
        let away = |sample: usize| -cone.heights()[sample];
        assert!((0..33 * 33).all(|sample| ends[sample] || away(receivers[sample] as usize) > away(sample)));
    }

    #[test]
    fn a_pit_with_one_way_out_by_hand() {
        let bowl = terrain(&[
            &[9.0, 9.0, 9.0, 9.0, 9.0],
            &[9.0, 4.0, 3.0, 4.0, 9.0],
            &[9.0, 3.0, 1.0, 7.0, 5.0],
            &[9.0, 4.0, 3.0, 4.0, 9.0],
            &[9.0, 9.0, 9.0, 9.0, 9.0],
        ]);
        let drainage = routed(STEEPEST, &bowl);
        // Over (3, 1) or (3, 3), which lie at 4, to the border at 5: the lake stands at 5.
        let lakes = drainage.lakes_m();
        assert_eq!(lakes[5..10], [0.0, 1.0, 2.0, 1.0, 0.0]);
        assert_eq!(lakes[10..15], [0.0, 2.0, 4.0, 0.0, 0.0]);
        // All of the inside leaves there, along the lake's way out.
        assert_eq!(areas(&drainage)[14], 10.0);
        let receivers = drainage.receivers();
        assert!(receivers[12] == 8 || receivers[12] == 18, "{receivers:?}");
        assert_eq!(receivers[receivers[12] as usize], 14);
    }

    #[test]
    fn a_valley_gathers_its_sides() {
        // Two slopes to a trough that falls southward.
        let valley = Heightfield::from_fn(grid(9, 12), |c, r| 50.0 * c.abs_diff(4) as f32 - r as f32);
        let drainage = routed(RoutingOptions { outlets: Outlets::South, ..STEEPEST }, &valley);
        let areas = areas(&drainage);
        assert!((0..11).all(|r| areas[r * 9 + 4] == 9.0 * (r + 1) as f32), "{areas:?}");
        // The last row is the south side, where all water ends at once.
        assert_eq!(areas[11 * 9..], [1.0, 1.0, 1.0, 1.0, 100.0, 1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_lake_beyond_a_lake_stands_as_high_at_the_least() {
        let row = [9.0, 1.0, 6.0, 2.0, 5.0, 0.0];
        let walls = [9.0; 6];
        let drainage = routed(RoutingOptions { outlets: Outlets::East, ..STEEPEST }, &terrain(&[&walls, &row, &walls]));
        assert_eq!(drainage.lakes_m()[6..12], [0.0, 5.0, 0.0, 3.0, 0.0, 0.0]);
        assert_eq!(areas(&drainage)[10..12], [13.0, 16.0]);
    }

    #[test]
    fn flat_land_drains_in_branches() {
        let flat = Heightfield::flat(grid(65, 65));
        let drainage = routed(RoutingOptions { outlets: Outlets::West, ..STEEPEST }, &flat);
        let (areas, ends) = (areas(&drainage), drainage.ends());
        let shed: f32 = areas.iter().zip(&ends).filter(|(_, ends)| **ends).map(|(area, _)| area).sum();
        assert_eq!(shed, 65.0 * 65.0);
        assert!(drainage.lakes_m().iter().all(|depth| *depth == 0.0));
        // Straight rows would carry 65 samples each.
        assert!(areas.iter().copied().fold(0.0, f32::max) > 260.0);
    }

    #[test]
    fn without_a_border_to_leave_by_water_ends_at_the_lowest_sample() {
        let drainage = routed(
            RoutingOptions { outlets: Outlets::Hollows, ..STEEPEST },
            &terrain(&[&[9.0; 4], &[9.0, 1.0, 5.0, 9.0], &[9.0, 6.0, 2.0, 9.0], &[9.0; 4]]),
        );
        assert_eq!(areas(&drainage)[5], 16.0);
        assert_eq!(drainage.ends().iter().filter(|ends| **ends).count(), 1);
    }

    /// Land of many kinds: rough, terraced, with plateaus and basins in basins.
    fn terrains() -> Vec<Heightfield> {
        let mut terrains = Vec::new();
        for seed in 0..12 {
            let mut draw = Stream::new(seed, 0).at(0);
            let grid = grid(7 + 9 * seed as usize, 5 + 8 * (seed % 5) as usize);
            let rough = Heightfield::from_fn(grid, |_, _| draw.unit() as f32);
            terrains.push(Heightfield::from_fn(grid, |c, r| (rough[(c, r)] * 4.0).floor()));
            terrains.push(Heightfield::from_fn(grid, |c, r| {
                let (x, z) = (c as f32 / 5.0, r as f32 / 7.0);
                20.0 * libm::sinf(x) * libm::cosf(z) + rough[(c, r)]
            }));
            terrains.push(rough);
        }
        terrains
    }

    fn courses() -> Vec<RoutingOptions> {
        let of = |outlets: &Outlets| {
            [(None, 0.0), (Some(0.3), 1.0)].map(|(sea_m, stray)| RoutingOptions { outlets: *outlets, sea_m, stray })
        };
        Outlets::ALL.iter().flat_map(of).collect()
    }

    #[test]
    fn lakes_and_areas_are_those_of_the_plain_way() {
        for terrain in terrains() {
            for course in courses() {
                let drainage = routed(course, &terrain);
                let (ends, receivers) = (drainage.ends(), drainage.receivers());
                let levels = reference::filled(&terrain, &ends);
                let depths: Vec<f32> =
                    levels.iter().zip(terrain.heights()).map(|(level, height)| level - height).collect();
                assert_eq!(drainage.lakes_m(), depths, "{course:?}");
                let counted: Vec<f32> = reference::areas(&receivers).into_iter().map(|area| area as f32).collect();
                assert_eq!(areas(&drainage), counted, "{course:?}");
                for (sample, &receiver) in receivers.iter().enumerate() {
                    assert!(levels[receiver as usize] <= levels[sample], "up from {sample} to {receiver}: {course:?}");
                    assert_eq!(ends[sample], receiver as usize == sample, "{course:?}");
                }
                let shed: f32 = counted.iter().zip(&ends).filter(|(_, ends)| **ends).map(|(area, _)| area).sum();
                assert_eq!(shed, counted.len() as f32, "{course:?}");
            }
        }
    }

    #[test]
    fn the_water_on_a_land_is_that_of_its_drainage() {
        let [_, terrain, ..] = &terrains()[..] else { unreachable!("36 of them") };
        let drainage = routed(RoutingOptions { outlets: Outlets::South, ..STEEPEST }, terrain);
        let water = Water::on(terrain, Outlets::South, None, &Progress::new()).expect("not cancelled");
        assert_eq!(water.receivers, drainage.receivers());
        assert_eq!(water.lakes_m, drainage.lakes_m());
        assert!(water.lakes_m.iter().any(|depth| *depth > 0.0));
        assert_eq!(water.areas_m2, areas(&drainage).iter().map(|area| area * 6.0).collect::<Vec<f32>>());
    }

    #[test]
    fn a_second_land_is_routed_like_the_first() {
        let terrains = terrains();
        let [_, first, second, ..] = &terrains[..] else { unreachable!("36 of them") };
        let mut drainage = routed(STEEPEST, first);
        drainage.route(second, &Progress::new()).expect("not cancelled");
        assert_eq!(drainage.receivers(), routed(STEEPEST, second).receivers());
        assert_eq!(drainage.lakes_m(), routed(STEEPEST, second).lakes_m());
    }

    #[test]
    fn every_number_of_threads_finds_the_same_ways() {
        for terrain in terrains() {
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                pool.install(|| routed(STEEPEST, &terrain).receivers())
            };
            assert_eq!(on(1), on(5));
        }
    }
}
