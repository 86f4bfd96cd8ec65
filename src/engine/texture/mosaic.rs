//! Near structure: a picture laid so that no eye sees it repeat.
//!
//! Over the land lies a grid of triangles, and at each of its corners a copy of the picture with an offset of its own;
//! three copies meet in every triangle, and what their mixture loses in contrast is given back around the mean (Heitz and
//! Neyret, "High-Performance By-Example Noise using a Histogram-Preserving Blending Operator", 2018, equation 2).

use std::sync::Arc;

use rayon::prelude::*;

use super::points::Lattice;
use super::swatch::{FULL, Level, between, two};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::{round_to_u32, simd};

/// Places that are worked out side by side.
pub(super) const LANES: usize = 8;

/// A number for each of them.
pub(super) type Lanes = [f32; LANES];

/// Triangles whose sides are a third of a picture: large enough to keep the picture's forms whole.
const SIDES_A_REPEAT: f64 = 3.0;

/// How high a triangle is, as a share of its side: √¾.
const HEIGHT: f64 = 0.866_025_403_784_438_6;

/// How near a place has to lie to a corner for its copy to be seen there, 0 being the opposite side of the triangle and 1
/// the corner. The nearest of three corners is at least at ⅓.
const LEAST_NEARNESS: f32 = 0.15;

/// A picture as points see it that lie side by side: a texel a point, and on beyond its borders as far as copies reach.
/// Copies are moved by whole points, so that points which are neighbours see neighbouring columns of the sheet, whichever
/// copy they look at.
///
/// What is seen does not depend on whether the sheet was rolled out or is worked out where it is looked at.
#[derive(Clone, Debug)]
struct Sheet {
    /// Columns and rows.
    size: [usize; 2],
    /// How far it goes on beyond the picture.
    reach: [i64; 2],
    /// How many points lie along a side of the picture; no whole number.
    period: [f64; 2],
    /// Reds, greens, blues and reliefs, row by row.
    rolled_out: Option<Arc<[Vec<u16>; 4]>>,
}

/// The most points along a side of a picture: of one that lies wider they see next to nothing of its forms.
const WIDEST: f64 = 1e8;

/// What several neighbouring points see: reds, greens, blues and reliefs.
type Seen = [[u16; LANES]; 4];

impl Sheet {
    /// Finds what points see from a column on: between four texels each.
    #[inline(always)]
    fn find(&self, level: &Level, row: usize, column: usize) -> Seen {
        // In double precision, as small as points may be beside the picture.
        let [east, south] = self.period.map(|period| 1.0 / period);
        let first = (column as i64 - self.reach[0]) as i32;
        let v = (row as i64 - self.reach[1]) as f64 * south;
        let (north, south, down) = between((v - v.floor()) as f32, level.height);
        let (north, south) = (level.row(north), level.row(south));
        let (mut wests, mut ways) = ([0_u32; LANES], [0.0; LANES]);
        for (lane, (west, way)) in wests.iter_mut().zip(&mut ways).enumerate() {
            let u = f64::from(first + lane as i32) * east;
            // Each row of a level begins with a copy of its last texel.
            let place = (u - u.floor()) as f32 * level.width as f32 + 0.5;
            let base = place.floor();
            *way = place - base;
            *west = round_to_u32(base);
        }
        let mut texels = [[0.0; 4]; LANES];
        for lane in 0..LANES {
            let west = wests[lane] as usize;
            let (north, south) = (two(&north[west..west + 2]), two(&south[west..west + 2]));
            let mut pair = [0.0; 8];
            for c in 0..8 {
                pair[c] = north[c] + (south[c] - north[c]) * down;
            }
            for c in 0..4 {
                texels[lane][c] = pair[c] + (pair[c + 4] - pair[c]) * ways[lane];
            }
        }
        let mut seen = [[0; LANES]; 4];
        for c in 0..4 {
            for lane in 0..LANES {
                seen[c][lane] = round_to_u32(texels[lane][c]) as u16;
            }
        }
        seen
    }

    fn roll_out(&mut self, level: &Level, progress: &Progress) -> Result<(), Cancelled> {
        let [columns, rows] = self.size;
        let mut channels = [const { Vec::new() }; 4];
        channels.iter_mut().for_each(|channel| channel.resize(columns * rows, 0));
        let [red, green, blue, relief] = channels.each_mut().map(|channel| channel.par_chunks_mut(columns));
        let rows = red.zip(green).zip(blue.zip(relief)).enumerate();
        rows.try_for_each(|(row, ((red, green), (blue, relief)))| {
            simd(
                #[inline(always)]
                || {
                    for column in (0..columns).step_by(LANES) {
                        // The last ones are found twice where they do not fill the lanes.
                        let column = column.min(columns - LANES);
                        let [reds, greens, blues, reliefs] = self.find(level, row, column);
                        red[column..][..LANES].copy_from_slice(&reds);
                        green[column..][..LANES].copy_from_slice(&greens);
                        blue[column..][..LANES].copy_from_slice(&blues);
                        relief[column..][..LANES].copy_from_slice(&reliefs);
                    }
                },
            );
            progress.check()
        })?;
        self.rolled_out = Some(Arc::new(channels));
        Ok(())
    }

    /// The channels if they are rolled out, known to be of one length.
    #[inline(always)]
    fn channels(&self) -> Option<[&[u16]; 4]> {
        let [red, green, blue, relief] = &**self.rolled_out.as_ref()?;
        let count = red.len();
        Some([&red[..count], &green[..count], &blue[..count], &relief[..count]])
    }
}

/// A level of a picture laid over points.
#[derive(Clone, Debug)]
pub(super) struct Mosaic {
    lattice: Lattice,
    /// How long a side of a triangle is, and how high it is, in points.
    side: f64,
    height: f64,
    sheet: Sheet,
}

impl Mosaic {
    /// One picture is `repeat_m` wide and `proportion` times as wide as high.
    pub(super) fn new(repeat_m: f64, proportion: f64, lattice: Lattice) -> Self {
        let [east, south] = lattice.pitch_m.map(|pitch_m| (repeat_m / pitch_m).min(WIDEST));
        let (side, height) = (east / SIDES_A_REPEAT, south / SIDES_A_REPEAT * HEIGHT);
        let period = [east, (south / proportion).min(WIDEST)];
        // A copy is seen as far as the next corners. One point more by rounding, and those beside it in the lanes.
        let reach = [side.ceil() as i64 + LANES as i64 + 1, height.ceil() as i64 + 1];
        let size = [0, 1].map(|axis| period[axis].ceil() as usize + 2 * reach[axis] as usize);
        Self { lattice, side, height, sheet: Sheet { size, reach, period, rolled_out: None } }
    }

    /// Rolls the picture out if that takes no more than so many texels.
    pub(super) fn roll_out(&mut self, level: &Level, most_texels: usize, progress: &Progress) -> Result<(), Cancelled> {
        let [columns, rows] = self.sheet.size;
        let is_small = columns.saturating_mul(rows) <= most_texels;
        if is_small && self.sheet.rolled_out.is_none() { self.sheet.roll_out(level, progress) } else { Ok(()) }
    }

    /// Takes over what the same mosaic has rolled out before.
    pub(super) fn take_over(&mut self, before: &Self) {
        self.sheet.rolled_out.clone_from(&before.sheet.rolled_out);
    }

    /// How far the copy at a corner of the triangles is moved: what has to be added to a point's place to find what it
    /// sees on the sheet, were all points in rows as long as the sheet's.
    fn offset(&self, at: i32, row: i32) -> i64 {
        let Self { lattice, side, height, sheet } = self;
        let corner = [(f64::from(at) + 0.5 * f64::from(row)) * side, f64::from(row) * height];
        let drawn = drawn([at, row]);
        let [east, south] = [0, 1].map(|axis| {
            let moved = drawn[axis] * sheet.period[axis] - (corner[axis] - lattice.phase);
            moved.round() as i64 + sheet.reach[axis]
        });
        south * sheet.size[0] as i64 + east
    }

    /// A line of `count` points from point (i, j) on.
    #[inline(always)]
    pub(super) fn line<'a>(&'a self, [i, j]: [i64; 2], count: usize, copies: &'a mut Copies) -> Line<'a> {
        let row = (j as f64 + self.lattice.phase) / self.height;
        let per_point = 1.0 / self.side;
        let easts = [i, i + (count + LANES) as i64].map(|i| (i as f64 + self.lattice.phase) * per_point);
        copies.find(self, row.floor() as i32, easts);
        let shift = self.lattice.phase * per_point - 0.5 * row;
        let down = (row - row.floor()) as f32;
        let north = Nearness { rise: 1.0, top: 1.0 - down, fall: 1.0 - down };
        let south = Nearness { rise: down, top: down, fall: 1.0 };
        Line {
            sheet: &self.sheet,
            channels: self.sheet.channels(),
            j,
            per_point: per_point as f32,
            shift: shift as f32,
            nearness: [north, south].map(Nearness::seen),
            copies,
        }
    }
}

/// A line of points over a mosaic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    sheet: &'a Sheet,
    channels: Option<[&'a [u16]; 4]>,
    /// Which one of all lines it is.
    j: i64,
    /// Where its points lie: how many sides of triangles there are from one to the next, and where point 0 lies.
    per_point: f32,
    shift: f32,
    /// How near its points are to the corners north and south of it.
    nearness: [Nearness; 2],
    copies: &'a Copies,
}

impl Line<'_> {
    /// What points see from a place on the sheet on.
    #[inline(always)]
    fn look(&self, level: &Level, place: usize) -> Seen {
        match &self.channels {
            Some([red, green, blue, relief]) => {
                // One by one: what goes over an array is not inlined.
                let mut seen = [[0; LANES]; 4];
                let places = place..place + LANES;
                seen[0].copy_from_slice(&red[places.clone()]);
                seen[1].copy_from_slice(&green[places.clone()]);
                seen[2].copy_from_slice(&blue[places.clone()]);
                seen[3].copy_from_slice(&relief[places]);
                seen
            }
            None => self.sheet.find(level, place / self.sheet.size[0], place % self.sheet.size[0]),
        }
    }

    /// How far from the mean the picture is that the points see from point `i` of all on, channel by channel; `mean` is
    /// that of the picture, 0 to 1.
    #[inline(always)]
    pub(super) fn details(&self, level: &Level, i: i64, mean: [f32; 4]) -> [Lanes; 4] {
        let mut places = [0.0; LANES];
        for (lane, place) in places.iter_mut().enumerate() {
            *place = (i as i32 + lane as i32) as f32 * self.per_point + self.shift;
        }
        let on_sheet = self.j * self.sheet.size[0] as i64 + i;
        let (mut sums, mut squares, mut mixtures) = ([0.0; LANES], [0.0; LANES], [[0.0; LANES]; 4]);
        for (&Nearness { rise, top, fall }, offsets) in self.nearness.iter().zip(&self.copies.offsets) {
            if top <= 0.0 {
                continue;
            }
            let (first, last) = ((places[0] - fall).ceil() as i32, (places[LANES - 1] + rise).floor() as i32);
            for corner in first..last + 1 {
                let seen = self.look(level, (on_sheet + offsets[(corner - self.copies.first) as usize]) as usize);
                let mut shares = [0.0; LANES];
                for lane in 0..LANES {
                    let beside = places[lane] - corner as f32;
                    // Not by `min`, which takes care of what is no number.
                    let rising = if beside + rise < top { beside + rise } else { top };
                    let nearness = if rising < fall - beside { rising } else { fall - beside };
                    shares[lane] = sharpened(if nearness > 0.0 { nearness } else { 0.0 });
                    sums[lane] += shares[lane];
                    squares[lane] += shares[lane] * shares[lane];
                }
                for (mixture, seen) in mixtures.iter_mut().zip(&seen) {
                    for lane in 0..LANES {
                        mixture[lane] += shares[lane] * f32::from(seen[lane]);
                    }
                }
            }
        }
        let mut restored = [0.0; LANES];
        for lane in 0..LANES {
            restored[lane] = 1.0 / squares[lane].sqrt();
        }
        for (mixture, mean) in mixtures.iter_mut().zip(mean) {
            for lane in 0..LANES {
                mixture[lane] = (mixture[lane] * (1.0 / FULL) - mean * sums[lane]) * restored[lane];
            }
        }
        mixtures
    }
}

/// The fourth power, chosen by eye: how sharply the copies that meet at a place give way to each other; the first would
/// be a linear fade.
#[inline(always)]
fn sharpened(nearness: f32) -> f32 {
    let square = nearness * nearness;
    square * square
}

/// How near the places of a line lie to a corner, by how far east of it they lie: first it rises, then it stays, then it
/// falls. Of the three corners of a triangle it is the barycentric coordinates, which are 0 for all others.
#[derive(Clone, Copy, Debug)]
struct Nearness {
    /// What it is beside the corner, as far as it rises there, and where it is greatest.
    rise: f32,
    top: f32,
    /// How far east of the corner it falls to 0.
    fall: f32,
}

impl Nearness {
    /// What is too far to be seen is not near.
    fn seen(self) -> Self {
        let Self { rise, top, fall } = self;
        Self { rise: rise - LEAST_NEARNESS, top: top - LEAST_NEARNESS, fall: fall - LEAST_NEARNESS }
    }
}

/// The copies along a row of triangles of one mosaic, kept from one line to the next.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The row, and the first and the last corner on its borders.
    found: Option<(i32, [i32; 2])>,
    first: i32,
    /// How far the copies at the corners on its northern and on its southern border are moved, from the first corner on.
    offsets: [Vec<i64>; 2],
}

impl Copies {
    /// Those at the corners of a row of triangles that are seen between two places, which count in sides of triangles.
    #[inline(always)]
    fn find(&mut self, mosaic: &Mosaic, row: i32, [west, east]: [f64; 2]) {
        // From row to row the corner of one number stands half a side further east.
        let first = (west - 0.5 * f64::from(row + 1)).floor() as i32 - 2;
        let last = (east - 0.5 * f64::from(row)).ceil() as i32 + 2;
        if self.found == Some((row, [first, last])) {
            return;
        }
        (self.found, self.first) = (Some((row, [first, last])), first);
        for (offsets, row) in self.offsets.iter_mut().zip([row, row + 1]) {
            offsets.clear();
            offsets.extend((first..=last).map(|at| mosaic.offset(at, row)));
        }
    }
}

/// Two numbers from 0 to 1 for a corner of the grid: whole numbers mixed until nothing of their order is left (the
/// finaliser of `MurmurHash3`).
#[inline(always)]
fn drawn([i, j]: [i32; 2]) -> [f64; 2] {
    let mut hash = (i as u32).wrapping_mul(0x9e37_79b9) ^ (j as u32).wrapping_mul(0x85eb_ca6b).rotate_left(15);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    [hash & 0xffff, hash >> 16].map(|half| f64::from(half) / 65_536.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::Stream;

    fn noise(width: usize, height: usize) -> Level {
        let mut draw = Stream::new(3, 1).at(0);
        let texels: Vec<[u16; 4]> =
            (0..width * height).map(|_| [0; 4].map(|_| (draw.unit() * 65_535.0) as u16)).collect();
        Level::new(width, height, |x, y| texels[y * width + x])
    }

    const MEAN: [f32; 4] = [0.5, 0.4, 0.3, 0.6];

    /// What a line of points sees, point by point.
    fn seen(mosaic: &Mosaic, level: &Level, [i, j]: [i64; 2], count: usize) -> Vec<[f32; 4]> {
        let mut copies = Copies::default();
        let line = mosaic.line([i, j], count, &mut copies);
        let blocks = (i..i + count as i64).step_by(LANES).map(|at| line.details(level, at, MEAN));
        let points = blocks.flat_map(|block| (0..LANES).map(move |lane| block.map(|channel| channel[lane])));
        points.take(count).collect()
    }

    /// Pictures, repeats and lattices of every kind: pixels far smaller and as large as texels, oblong ones, samples.
    fn cases() -> impl Iterator<Item = (Level, Mosaic)> {
        let cases = [
            ([64, 64], 37.3, [1.0, 1.0], 0.5),
            ([16, 64], 61.0, [1.3, 0.9], 0.0),
            ([64, 16], 400.0, [3.0, 5.0], 0.5),
            ([5, 3], 170.0, [1.0, 1.0], 0.5),
            ([2, 1], 4.0, [1.7, 1.7], 0.0),
        ];
        cases.into_iter().map(|([width, height], repeat_m, pitch_m, phase)| {
            let proportion = width as f64 / height as f64;
            (noise(width, height), Mosaic::new(repeat_m, proportion, Lattice { pitch_m, phase }))
        })
    }

    #[test]
    fn what_is_rolled_out_is_what_is_found() {
        for (level, mosaic) in cases() {
            let mut rolled_out = mosaic.clone();
            rolled_out.roll_out(&level, 1 << 20, &Progress::new()).expect("not cancelled");
            assert!(rolled_out.sheet.rolled_out.is_some());
            for first in [[0, 0], [3, 71], [1001, 12_345]] {
                assert_eq!(seen(&mosaic, &level, first, 300), seen(&rolled_out, &level, first, 300), "{mosaic:?}");
            }
        }
    }

    #[test]
    fn a_part_of_a_line_shows_what_the_line_shows() {
        for (level, mosaic) in cases() {
            let whole = seen(&mosaic, &level, [0, 50], 400);
            for first in [1, 7, 8, 93] {
                let part = seen(&mosaic, &level, [first as i64, 50], 200);
                assert_eq!(whole[first..first + 200], part, "from {first} on: {mosaic:?}");
            }
        }
    }

    /// The published form, point by point: the triangle in which a point lies, its three corners, and their mixture.
    #[test]
    fn copies_meet_in_triangles() {
        for (level, mosaic) in cases() {
            let Mosaic { lattice, side, height, sheet } = &mosaic;
            for j in [0, 40, 977] {
                let found = seen(&mosaic, &level, [5, j], 200);
                for (i, found) in (5..).zip(found) {
                    let q = (j as f64 + lattice.phase) / height;
                    let p = (i as f64 + lattice.phase) / side - 0.5 * q;
                    let (s, t) = (p - p.floor(), q - q.floor());
                    let [west, north] = [p.floor() as i32, q.floor() as i32];
                    let corners = if s + t < 1.0 {
                        [(1.0 - s - t, [0, 0]), (s, [1, 0]), (t, [0, 1])]
                    } else {
                        [(s + t - 1.0, [1, 1]), (1.0 - t, [1, 0]), (1.0 - s, [0, 1])]
                    };
                    let (mut sum, mut squares, mut mixture) = (0.0, 0.0, [0.0; 4]);
                    for (nearness, [east, south]) in corners {
                        let share = (nearness - f64::from(LEAST_NEARNESS)).max(0.0);
                        let share = share * share * share * share;
                        let place = mosaic.offset(west + east, north + south) + j * sheet.size[0] as i64 + i;
                        let texel = sheet.find(&level, place as usize / sheet.size[0], place as usize % sheet.size[0]);
                        sum += share;
                        squares += share * share;
                        mixture.iter_mut().zip(texel).for_each(|(sum, lanes)| *sum += share * f64::from(lanes[0]));
                    }
                    for ((found, mixture), mean) in found.iter().zip(mixture).zip(MEAN) {
                        // Shares that sum to 1, and the contrast given back by the root of the sum of their squares.
                        let mean = f64::from(mean);
                        let expected = (mixture / sum / f64::from(FULL) - mean) / (squares.sqrt() / sum);
                        assert!((f64::from(*found) - expected).abs() < 2e-3, "{found}, not {expected} at {i}, {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn at_a_corner_one_sees_the_place_that_was_drawn() {
        for (_, mosaic) in cases() {
            let Mosaic { lattice, side, height, sheet } = &mosaic;
            for [at, row] in [[3, 0], [40, 7], [-2, 31]] {
                let place_m = [
                    (f64::from(at) + 0.5 * f64::from(row)) * side * lattice.pitch_m[0],
                    f64::from(row) * height * lattice.pitch_m[1],
                ];
                // The nearest point, and what it sees, in points from the corner of the picture.
                let nearest = [0, 1].map(|axis| (place_m[axis] / lattice.pitch_m[axis] - lattice.phase).round() as i64);
                let columns = sheet.size[0] as i64;
                let seen = mosaic.offset(at, row) + nearest[1] * columns + nearest[0];
                let seen = [seen % columns, seen / columns];
                for axis in [0, 1] {
                    let expected = drawn([at, row])[axis] * sheet.period[axis];
                    let off = (seen[axis] - sheet.reach[axis]) as f64 - expected;
                    assert!(off.abs() <= 1.0, "{off} points off at {at}, {row}: {mosaic:?}");
                }
            }
        }
    }

    #[test]
    fn few_copies_meet_however_narrow_a_picture_is() {
        // A strip one texel wide, far narrower than a point, is nearly one colour there.
        let (level, lattice) = (noise(1, 256), Lattice { pitch_m: [1.0; 2], phase: 0.5 });
        let mosaic = Mosaic::new(0.6, 1.0 / 256.0, lattice);
        let mut copies = Copies::default();
        mosaic.line([0, 5], 100, &mut copies);
        assert!(copies.offsets[0].len() < 6 * 100, "{} copies for 100 points", copies.offsets[0].len());
        assert!(seen(&mosaic, &level, [0, 5], 100).iter().flatten().all(|detail| detail.is_finite()));
    }

    #[test]
    fn a_place_shows_the_same_at_every_pitch() {
        // Forms of 32 texels, seen by points of one texel and of four: copies are moved by whole points of either.
        let texel = |x: usize, y: usize| if (x / 32 + y / 32).is_multiple_of(2) { [60_000; 4] } else { [5000; 4] };
        let (level, quarter) = (Level::new(256, 256, texel), Level::new(64, 64, |x, y| texel(4 * x, 4 * y)));
        let laid = |pitch: f64| Mosaic::new(256.0, 1.0, Lattice { pitch_m: [pitch; 2], phase: 0.5 });
        let (fine, coarse) = (laid(1.0), laid(4.0));
        let (mut same, mut all) = (0, 0);
        for j in 0..100 {
            let (fine, coarse) = (seen(&fine, &level, [0, 4 * j + 2], 400), seen(&coarse, &quarter, [0, j], 100));
            for (i, coarse) in coarse.iter().enumerate() {
                same += usize::from((coarse[0] > 0.0) == (fine[4 * i + 2][0] > 0.0));
                all += 1;
            }
        }
        assert!(same * 100 > all * 88, "{same} of {all}");
    }
}
