//! Places that are no closer than a spacing, and so dense that there is no room for another one.
//!
//! The plane is divided into square cells whose diagonal is the spacing, so a cell has at most one place. In a few rounds,
//! every cell that still has room throws a dart, a random position among the parts of it that are not yet within the
//! spacing of a place; of the darts of a round that are too close to each other, the one with the highest random priority
//! becomes a place, unless it is beaten itself. That is dart throwing in parallel (Wei, "Parallel Poisson Disk
//! Sampling", SIGGRAPH 2008), with the free parts of a cell followed as by Ebeida et al. ("A Simple Algorithm for
//! Maximal Poisson-Disk Sampling in High Dimensions", Eurographics 2012).
//!
//! All random numbers are hashes of the seed, the cell and the round, and a round looks no farther than two cells. So what
//! happens in a cell depends on the cells up to [`HALO`] away and on nothing else: a part of the plane has exactly the
//! places of the whole.

use std::f64::consts::FRAC_1_SQRT_2;

use rayon::prelude::*;

use crate::cast::{ToFloat, ToInteger};
use crate::progress::{Cancelled, Progress};

/// A side of a cell in the units in which positions within it are counted.
const SIDE: i64 = 1 << 16;

/// The square of the spacing in these units: that of a cell's diagonal.
const SPACING_SQUARED: i64 = 2 * SIDE * SIDE;

/// After so many rounds, the density is that of thousands of darts per cell; see the tests.
const ROUNDS: i64 = 7;

/// The darts that a cell throws in a round until one of them is free.
const DARTS: u32 = 8;

/// A cell's parts along each side: 64 of them fit a `u64`.
const PARTS: usize = 8;

/// The round from which on the free parts of the remaining cells are followed. Before, most cells have room.
const PARTS_FROM: i64 = 1;

/// Places in cells farther apart than this are not too close.
const REACH: i64 = 2;

/// The cells around a block on which its places depend: each round looks at darts in reach of places in reach.
const HALO: i64 = 2 * REACH * ROUNDS;

/// The cells along the side of a block, which one thread computes.
const BLOCK: i64 = 512;

/// The density at which a plane of discs has no room for another one, as the share that discs of the spacing's diameter
/// cover: the jamming limit of random sequential adsorption (Torquato, Uche & Stillinger, Phys. Rev. E 74, 2006).
const JAMMING: f64 = 0.547;

/// A rectangle of the world, metres east and south. Its western and northern borders belong to it, the others do not:
/// tiles have no place in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// The north-western corner.
    pub from_m: [f64; 2],
    /// The south-eastern corner.
    pub to_m: [f64; 2],
}

impl Region {
    fn contains(&self, at_m: [f64; 2]) -> bool {
        (0..2).all(|axis| at_m[axis] >= self.from_m[axis] && at_m[axis] < self.to_m[axis])
    }

    fn area_m2(&self) -> f64 {
        (self.to_m[0] - self.from_m[0]).max(0.0) * (self.to_m[1] - self.from_m[1]).max(0.0)
    }
}

/// A place where something can stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Metres east and south.
    pub at_m: [f64; 2],
    /// Where the random numbers of the place begin.
    pub(super) random: u64,
}

/// The number of places per square metre, on average.
pub fn density_per_m2(spacing_m: f64) -> f64 {
    JAMMING / (std::f64::consts::FRAC_PI_4 * spacing_m * spacing_m)
}

/// How many bytes [`places`] takes for a region, its result included.
pub(super) fn memory_bytes(spacing_m: f64, region: &Region) -> u64 {
    let places = density_per_m2(spacing_m) * region.area_m2();
    let block = (BLOCK + 2 * (HALO + REACH)).to_u64();
    let threads = rayon::current_num_threads() as u64;
    // The places of all blocks, and again in one list; the cells of a block on each thread.
    (2.2 * places * (size_of::<Place>() as u64).to_f64()).to_u64() + threads * block * block * 40
}

/// All places of a seed in a region, from north to south in blocks, in the same order whatever the region.
pub fn places(spacing_m: f64, seed: u64, region: Region, progress: &Progress) -> Result<Vec<Place>, Cancelled> {
    let side_m = (spacing_m + ROUNDING_M) * FRAC_1_SQRT_2;
    let cell = |at_m: f64| (at_m / side_m).floor().to_i64();
    let first = region.from_m.map(cell);
    // The last cell begins before the border.
    let last = region.to_m.map(cell);
    let blocks = |axis: usize| first[axis].div_euclid(BLOCK)..=last[axis].div_euclid(BLOCK);
    let rects = blocks(1).flat_map(|row| {
        blocks(0).map(move |column| {
            let from = [column, row].map(|block| block * BLOCK);
            let part = |axis: usize| [from[axis].max(first[axis]), (from[axis] + BLOCK - 1).min(last[axis])];
            [part(0), part(1)]
        })
    });
    let rects: Vec<[[i64; 2]; 2]> = rects.collect();
    let counter = progress.counter(rects.len());
    let of_block = |[columns, rows]: [[i64; 2]; 2]| {
        let mut block = Block::new(seed, columns, rows);
        for round in 0..ROUNDS {
            block.throw(round, progress)?;
            block.settle(round, progress)?;
        }
        counter.add_one()?;
        Ok(block.places(side_m, &region))
    };
    let found: Vec<Vec<Place>> = rects.into_par_iter().map(of_block).collect::<Result<_, _>>()?;
    joined(&found, progress)
}

/// The items of several lists in one, like `concat`, but it can be cancelled between two of them.
pub(super) fn joined<T: Copy>(lists: &[Vec<T>], progress: &Progress) -> Result<Vec<T>, Cancelled> {
    let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    for list in lists {
        all.extend_from_slice(list);
        progress.check()?;
    }
    Ok(all)
}

/// Cells between two checks for cancellation.
const BATCH: usize = 1 << 12;

/// Places are so much farther apart than the spacing that they still are when their positions are rounded to a tenth of a
/// millimetre.
pub(super) const ROUNDING_M: f64 = 0.0002;

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It may have room for a place.
    Open,
    /// It has none.
    Full,
    /// It has a place.
    Taken,
}

/// A rectangle of cells with a halo of cells around it, and around that a border that is never looked at.
struct Block {
    key: u64,
    /// The cell in the north-western corner of the border.
    first: [i64; 2],
    width: usize,
    /// The cells of the rectangle.
    columns: [i64; 2],
    rows: [i64; 2],
    neighbours: Vec<Neighbour>,
    states: Vec<State>,
    /// The positions of the places and of the darts within their cells.
    places: Vec<[u16; 2]>,
    darts: Vec<[u16; 2]>,
    /// The priorities of the darts of this round; 0 where there is none.
    priorities: Vec<u32>,
    /// The open cells, with a bit for each part that may have room.
    open: Vec<(usize, u64)>,
}

/// A cell in which a place can be too close.
#[derive(Clone, Copy)]
struct Neighbour {
    /// Its position relative to the cell, in units.
    at: [i64; 2],
    /// Its index relative to that of the cell.
    offset: isize,
}

impl Block {
    fn new(seed: u64, columns: [i64; 2], rows: [i64; 2]) -> Self {
        let first = [columns[0], rows[0]].map(|from| from - HALO - REACH);
        let side = |[from, to]: [i64; 2]| (to - from + 1 + 2 * (HALO + REACH)).to_usize();
        let (width, height) = (side(columns), side(rows));
        let cells = width * height;
        let inner = |side: usize| REACH.to_usize()..side - REACH.to_usize();
        let open = inner(height).flat_map(|row| inner(width).map(move |column| (row * width + column, u64::MAX)));
        Self {
            key: mixed(seed),
            first,
            width,
            columns,
            rows,
            neighbours: neighbours(width),
            states: vec![State::Open; cells],
            places: vec![[0; 2]; cells],
            darts: vec![[0; 2]; cells],
            priorities: vec![0; cells],
            open: open.collect(),
        }
    }

    /// The hash of a cell in a round, by its index.
    fn hash(&self, cell: usize, round: i64) -> u64 {
        let column = self.first[0] + (cell % self.width).to_i64();
        let row = self.first[1] + (cell / self.width).to_i64();
        mixed(mixed(mixed(self.key ^ round.cast_unsigned()) ^ column.cast_unsigned()) ^ row.cast_unsigned())
    }

    /// Every open cell throws a dart.
    fn throw(&mut self, round: i64, progress: &Progress) -> Result<(), Cancelled> {
        for i in 0..self.open.len() {
            if i.is_multiple_of(BATCH) {
                progress.check()?;
            }
            let (cell, free) = self.open[i];
            let mut random = self.hash(cell, round);
            self.priorities[cell] = 0;
            for _ in 0..DARTS {
                let dart = dart(random, free);
                if round == 0 || !self.is_covered(cell, dart) {
                    self.darts[cell] = dart;
                    // Bits that have no part in the position.
                    self.priorities[cell] = (random >> 42).to_u32() + 1;
                    break;
                }
                random = mixed(random);
            }
        }
        Ok(())
    }

    /// Whether a position in a cell is too close to a place.
    fn is_covered(&self, cell: usize, dart: [u16; 2]) -> bool {
        self.neighbours.iter().any(|neighbour| {
            let other = cell.wrapping_add_signed(neighbour.offset);
            self.states[other] == State::Taken && is_close(neighbour.at, self.places[other], dart)
        })
    }

    /// The darts with the highest priority among those that are too close to them become places.
    fn settle(&mut self, round: i64, progress: &Progress) -> Result<(), Cancelled> {
        let wins = |&(cell, _): &(usize, u64)| {
            let own = self.priorities[cell];
            let beats = |neighbour: &Neighbour| {
                let other = cell.wrapping_add_signed(neighbour.offset);
                // Of equal priorities, neither wins.
                self.priorities[other] >= own && is_close(neighbour.at, self.darts[other], self.darts[cell])
            };
            own > 0 && !self.neighbours.iter().any(beats)
        };
        let mut won: Vec<usize> = Vec::new();
        for batch in self.open.chunks(BATCH) {
            progress.check()?;
            won.extend(batch.iter().filter(|open| wins(open)).map(|(cell, _)| *cell));
        }
        for (cell, _) in &self.open {
            self.priorities[*cell] = 0;
        }
        for &cell in &won {
            (self.states[cell], self.places[cell]) = (State::Taken, self.darts[cell]);
        }
        // Cells that a place covers whole are full.
        for (i, &cell) in won.iter().enumerate() {
            if i.is_multiple_of(BATCH) {
                progress.check()?;
            }
            for neighbour in &self.neighbours {
                let other = cell.wrapping_add_signed(neighbour.offset);
                let from_other = [0, 1].map(|axis| i64::from(self.places[cell][axis]) - neighbour.at[axis]);
                let farthest = from_other.map(|at| at.abs().max((SIDE - at).abs()));
                if self.states[other] == State::Open && squared(farthest) < SPACING_SQUARED {
                    self.states[other] = State::Full;
                }
            }
        }
        self.open.retain(|(cell, _)| self.states[*cell] == State::Open);
        if round >= PARTS_FROM {
            self.find_free_parts(progress)?;
        }
        Ok(())
    }

    /// Finds the parts of the open cells that no place covers whole.
    fn find_free_parts(&mut self, progress: &Progress) -> Result<(), Cancelled> {
        for (i, (cell, free)) in self.open.iter_mut().enumerate() {
            if i.is_multiple_of(BATCH) {
                progress.check()?;
            }
            *free = u64::MAX;
            for neighbour in &self.neighbours {
                let other = cell.wrapping_add_signed(neighbour.offset);
                if self.states[other] == State::Taken {
                    *free &= !covered_parts(neighbour.at, self.places[other]);
                }
            }
            if *free == 0 {
                self.states[*cell] = State::Full;
            }
        }
        self.open.retain(|(_, free)| *free != 0);
        Ok(())
    }

    /// The places of the block in a region.
    fn places(&self, side_m: f64, region: &Region) -> Vec<Place> {
        let cells = (self.rows[0]..=self.rows[1]).flat_map(|row| {
            let columns = self.columns[0]..=self.columns[1];
            columns.map(move |column| [column, row])
        });
        let place = |at: [i64; 2]| {
            let cell = (at[1] - self.first[1]).to_usize() * self.width + (at[0] - self.first[0]).to_usize();
            let within = self.places[cell];
            let along = |axis: usize| {
                let share = (f64::from(within[axis]) + 0.5) / SIDE.to_f64();
                (at[axis].to_f64() + share) * side_m
            };
            let place = Place { at_m: [along(0), along(1)], random: self.hash(cell, ROUNDS) };
            (self.states[cell] == State::Taken && region.contains(place.at_m)).then_some(place)
        };
        cells.filter_map(place).collect()
    }
}

/// The cells that can have a place too close to one in a cell: all within two, but the corners. The nearest come first.
fn neighbours(width: usize) -> Vec<Neighbour> {
    let cells = (-REACH..=REACH).flat_map(|row| (-REACH..=REACH).map(move |column| [column, row]));
    let mut cells: Vec<[i64; 2]> = cells.filter(|cell| (1..8).contains(&squared(*cell))).collect();
    cells.sort_by_key(|cell| squared(*cell));
    let neighbour = |[column, row]: [i64; 2]| Neighbour {
        at: [column * SIDE, row * SIDE],
        offset: (row * width.to_i64() + column).to_isize(),
    };
    cells.into_iter().map(neighbour).collect()
}

fn squared([x, z]: [i64; 2]) -> i64 {
    x * x + z * z
}

/// Whether a position in a neighbouring cell is closer than the spacing to one in the cell itself.
#[inline(always)]
fn is_close(neighbour: [i64; 2], there: [u16; 2], here: [u16; 2]) -> bool {
    let along = |axis: usize| neighbour[axis] + i64::from(there[axis]) - i64::from(here[axis]);
    squared([along(0), along(1)]) < SPACING_SQUARED
}

/// A random position in the free parts of a cell, from the lower 42 bits.
fn dart(random: u64, free: u64) -> [u16; 2] {
    let bits = |shift: u32, count: u32| (random >> shift) & ((1 << count) - 1);
    if free == u64::MAX {
        return [bits(0, 16).to_u16(), bits(16, 16).to_u16()];
    }
    let mut rest = free;
    for _ in 0..(bits(26, 16) * u64::from(free.count_ones())) >> 16 {
        rest &= rest - 1;
    }
    let (part, parts) = (u64::from(rest.trailing_zeros()), PARTS as u64);
    let side = SIDE.to_u64() / parts;
    [part % parts * side + bits(0, 13), part / parts * side + bits(13, 13)].map(ToInteger::to_u16)
}

/// The parts of a cell all of which is closer than the spacing to a place in a neighbouring cell.
fn covered_parts(neighbour: [i64; 2], place: [u16; 2]) -> u64 {
    let side = SIDE / PARTS.to_i64();
    let farthest_squared = |axis: usize| -> [i64; PARTS] {
        let at = neighbour[axis] + i64::from(place[axis]);
        std::array::from_fn(|part| {
            let from = part.to_i64() * side;
            let farthest = (at - from).abs().max((from + side - at).abs());
            farthest * farthest
        })
    };
    let (columns, rows) = (farthest_squared(0), farthest_squared(1));
    let mut covered = 0;
    for (row, along) in rows.iter().enumerate() {
        for (column, across) in columns.iter().enumerate() {
            covered |= u64::from(along + across < SPACING_SQUARED) << (row * PARTS + column);
        }
    }
    covered
}

/// The mixing function of SplitMix64 (Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA
/// 2014), after adding its constant: a different result for every number.
pub(super) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn square(from_m: f64, to_m: f64) -> Region {
        Region { from_m: [from_m; 2], to_m: [to_m; 2] }
    }

    fn found(spacing_m: f64, seed: u64, region: Region) -> Vec<Place> {
        places(spacing_m, seed, region, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn the_mixing_function_gives_the_published_numbers() {
        // The first outputs of SplitMix64 with the seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64").
        let mut state = 1_234_567_u64;
        for expected in [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423] {
            assert_eq!(mixed(state), expected);
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
    }

    #[test]
    fn places_are_a_spacing_apart_also_when_rounded() {
        for (spacing_m, seed, from_m) in [(0.05, 1, -3.0), (0.7, 2, 0.0), (3.0, 3, 999_800.0), (40.0, 4, -1000.0)] {
            let region = square(from_m, from_m + 60.0 * spacing_m);
            let places: Vec<[f64; 2]> = found(spacing_m, seed, region)
                .iter()
                .map(|place| place.at_m.map(|m| (m * 1e4).round() / 1e4))
                .collect();
            assert!(places.len() > 2000, "{} places", places.len());
            for (i, a) in places.iter().enumerate() {
                for b in &places[i + 1..] {
                    let square = (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
                    assert!(square.sqrt() >= spacing_m, "{a:?} and {b:?}");
                }
            }
        }
    }

    #[test]
    fn tiles_have_exactly_the_places_of_the_whole() {
        // Blocks begin at multiples of 512 cells of 2.12 m.
        let whole = Region { from_m: [-700.0, 300.0], to_m: [1900.0, 1500.0] };
        let all = found(3.0, 7, whole);
        let edges = |axis: usize, tile: usize| {
            let along = |tile: usize| {
                let share = tile.to_f64() / 4.0;
                whole.from_m[axis] + share * (whole.to_m[axis] - whole.from_m[axis])
            };
            [along(tile), along(tile + 1)]
        };
        let mut of_tiles = Vec::new();
        for tile in 0..16 {
            let ([west, east], [north, south]) = (edges(0, tile % 4), edges(1, tile / 4));
            of_tiles.extend(found(3.0, 7, Region { from_m: [west, north], to_m: [east, south] }));
        }
        let sorted = |mut places: Vec<Place>| {
            places.sort_by(|a, b| a.at_m[1].total_cmp(&b.at_m[1]).then(a.at_m[0].total_cmp(&b.at_m[0])));
            places
        };
        assert!(all.len() > 200_000, "{} places", all.len());
        assert!(sorted(of_tiles) == sorted(all));
    }

    /// The places per square spacing of a dart thrower on a torus that is `side` spacings wide, when there is no more room:
    /// it throws one dart after another at the squares that no place covers whole, and divides these from time to time.
    fn reference_density(side: usize) -> f64 {
        let wide = side as f64;
        let mut cells = vec![Vec::<[f64; 2]>::new(); side * side];
        let mut rng = Stream::new(1, 1).at(0);
        let apart = |a: f64, b: f64| (a - b).abs().min(wide - (a - b).abs());
        // Whether a place is within one spacing of all of a square, or of a point.
        let is_covered = |cells: &[Vec<[f64; 2]>], from: [f64; 2], width: f64| {
            let cell = from.map(|at| (at + 0.5 * width).to_usize() % side);
            (0..25).any(|i| {
                let along = |at: usize, by: usize| (at + side + by - 2) % side;
                cells[along(cell[1], i / 5) * side + along(cell[0], i % 5)].iter().any(|place| {
                    let farthest =
                        |axis: usize| apart(place[axis], from[axis]).max(apart(place[axis], from[axis] + width));
                    let [x, z] = [farthest(0), farthest(1)];
                    x * x + z * z < 1.0
                })
            })
        };
        let mut width = 0.5;
        let starts = 0..4 * side * side;
        let mut squares: Vec<[f64; 2]> =
            starts.map(|i| [i % (2 * side), i / (2 * side)].map(|at| at as f64 * 0.5)).collect();
        let mut placed = 0;
        while !squares.is_empty() && width > 1e-9 {
            for _ in 0..4 * squares.len() {
                let square = squares[(rng.unit() * squares.len() as f64).to_usize()];
                let dart = square.map(|from| (from + width * rng.unit()) % wide);
                if !is_covered(&cells, dart, 0.0) {
                    placed += 1;
                    let [column, row] = dart.map(ToInteger::to_usize);
                    cells[row * side + column].push(dart);
                }
            }
            width *= 0.5;
            let quarters =
                squares.iter().flat_map(|[x, z]| [[*x, *z], [x + width, *z], [*x, z + width], [x + width, z + width]]);
            squares = quarters.filter(|square| !is_covered(&cells, *square, width)).collect();
        }
        f64::from(placed) / (wide * wide)
    }

    #[test]
    fn the_density_is_that_of_a_dart_thrower_that_finds_no_more_room() {
        let reference = reference_density(50);
        assert!((reference / density_per_m2(1.0) - 1.0).abs() < 0.01, "{reference} per square spacing");
        for (spacing_m, seed) in [(1.0, 1), (2.5, 99), (17.0, 12_345)] {
            let side_m = 400.0 * spacing_m;
            let count = found(spacing_m, seed, square(0.0, side_m)).len().to_f64();
            let density = count / (400.0 * 400.0);
            assert!((density / reference - 1.0).abs() < 0.02, "{density} against {reference}");
        }
    }

    #[test]
    fn seeds_have_different_places() {
        let [one, other] = [1, 2].map(|seed| found(5.0, seed, square(0.0, 200.0)));
        assert!(one.iter().all(|place| other.iter().all(|other| other.at_m != place.at_m)));
    }

    #[test]
    fn places_are_found_in_no_direction_more_often() {
        // Directions from places to their neighbours, in twelve sectors.
        let places = found(1.0, 5, square(0.0, 100.0));
        let mut sectors = [0_u32; 12];
        for (i, a) in places.iter().enumerate() {
            for b in places[i + 1..].iter().filter(|b| (b.at_m[1] - a.at_m[1]).abs() < 1.3) {
                let [x, z] = [b.at_m[0] - a.at_m[0], b.at_m[1] - a.at_m[1]];
                if x * x + z * z < 1.69 {
                    let turn = (libm::atan2(z, x) / std::f64::consts::TAU).rem_euclid(0.5) * 2.0;
                    sectors[(turn * 12.0).to_usize().min(11)] += 1;
                }
            }
        }
        let mean = f64::from(sectors.iter().sum::<u32>()) / 12.0;
        assert!(sectors.iter().all(|count| (f64::from(*count) / mean - 1.0).abs() < 0.1), "{sectors:?}");
    }
}
