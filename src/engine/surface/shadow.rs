//! The shadows that the land casts under one sun.
//!
//! A place sees the part of the sun's disc that stands above the [horizon](super::horizon()) towards the sun. With x the
//! height of the disc's centre above the horizon in radii of the disc, the part of it above a straight horizon is
//! ½ + (x·√(1 − x²) + arcsin x)/π, the area of a circular segment.
//!
//! Where the horizon stands matters only while it crosses the disc. So nothing of the land has to be remembered but, for a
//! few heights of the sun within the disc, how high its rays graze: along a line away from the sun the ray of
//! tangent t comes down by t metres a metre, and everything higher that is passed lifts it. A place below the ray of t has
//! its horizon above t. How far a ray passes above a place is a convex function of its tangent, the greatest of one
//! straight line for everything that was passed; the horizon is where it vanishes, and between a ray above the place and
//! the next one below it that point is taken on the chord. This is exact where the same ridge bounds both; elsewhere the
//! share is a little too small: on rugged land by less than 0.0003 of the disc in the mean for suns of up to 2°, and by up
//! to 0.2 at a single sample where two ridges cross the disc.

use std::ops::Range;

use rayon::prelude::*;

use super::horizon::Sweep;
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::{round_to_u32, simd};

/// A sun and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Its compass direction, clockwise from north.
    pub azimuth_deg: f64,
    /// The height of its centre above level ground.
    pub altitude_deg: f64,
    /// Its apparent diameter; 0 gives shadows with sharp edges.
    pub size_deg: f64,
}

impl Sun {
    /// The apparent diameter of the true sun.
    pub const TRUE_SIZE_DEG: f64 = 0.53;
}

/// Lines that are followed side by side, in the vector lanes.
const LANES: usize = 64;
/// Steps in which the rays go up the disc, from its lower limb to its upper one: so many a degree, within limits.
const STEPS_A_DEGREE: f64 = 4.0;
const STEPS: [f64; 2] = [4.0, 32.0];
/// Shares of the disc that are worked out beforehand for each step.
const SHARES: usize = 32;
/// Lower than any land: what there is where nothing has been passed.
const NOTHING: f32 = -1e30;
/// The highest ray, radians: nothing on a map is seen as high as that.
const HIGHEST: f64 = 89.5 * std::f64::consts::PI / 180.0;
/// Places along a line whose samples are read at once.
const PLACES_AT_ONCE: usize = 16;
/// Rows that are put together at once, so that what lies in columns is read from the same stretch of memory.
const ROWS_AT_ONCE: usize = 16;

/// The share of the sun that every place sees, from 0 in full shadow to 1 in the light, on the grid of the land. That a
/// face is turned away from the sun is found here too: it stands in its own way.
pub fn shadow(terrain: &Heightfield, sun: Sun, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let sweep = Sweep::new(terrain.grid(), sun.azimuth_deg);
    let rays = Rays::new(sun, sweep.step_m);
    let strips = Strip::all(&sweep);
    let mut on_lines = vec![0.0; strips.iter().map(Strip::len).sum()];
    let mut rest = on_lines.as_mut_slice();
    let mut parts = Vec::with_capacity(strips.len());
    for strip in &strips {
        let (part, others) = rest.split_at_mut(strip.len());
        rest = others;
        parts.push((strip, part));
    }
    parts.into_par_iter().try_for_each(|(strip, part)| {
        simd(
            #[inline(always)]
            || strip.follow(terrain, &sweep, &rays, part),
        );
        progress.check()
    })?;
    gather(terrain, &sweep, &strips, &on_lines, progress)
}

/// The disc of the sun against the horizon.
#[derive(Debug)]
struct Disc {
    altitude: f64,
    radius: f64,
}

impl Disc {
    fn new(sun: Sun) -> Self {
        Self { altitude: sun.altitude_deg.to_radians(), radius: 0.5 * sun.size_deg.to_radians() }
    }

    /// The angles of the lower and the upper limb. The ground is level beyond the world: nothing below it counts.
    fn limbs(&self) -> [f64; 2] {
        [self.altitude - self.radius, self.altitude + self.radius].map(|angle| angle.clamp(0.0, HIGHEST))
    }

    fn share_above(&self, horizon: f64) -> f64 {
        let above = self.altitude - libm::atan(horizon);
        if above.abs() >= self.radius {
            return if above >= 0.0 { 1.0 } else { 0.0 };
        }
        let x = above / self.radius;
        0.5 + (x * (1.0 - x * x).sqrt() + libm::asin(x)) * std::f64::consts::FRAC_1_PI
    }
}

/// The rays that graze the land, and what is left of the sun where the horizon stands between two of them.
#[derive(Debug)]
struct Rays {
    /// How far each comes down from a place to the next, the lowest sun first.
    falls_m: Vec<f32>,
    /// The share of the disc above a horizon that climbs from its lower limb to its upper one.
    shares: Vec<f32>,
}

impl Rays {
    fn new(sun: Sun, step_m: f32) -> Self {
        let disc = Disc::new(sun);
        let [low, high] = disc.limbs();
        let steps = (STEPS_A_DEGREE * sun.size_deg).ceil().clamp(STEPS[0], STEPS[1]) as usize;
        // Rays rise by equal angles. Between two of them the horizon is found by its tangent.
        let tangents: Vec<f64> =
            (0..=steps).map(|ray| libm::tan(low + (high - low) * (ray as f64 / steps as f64))).collect();
        let mut shares: Vec<f32> = tangents
            .windows(2)
            .flat_map(|pair| (0..SHARES).map(move |at| pair[0] + (pair[1] - pair[0]) * (at as f64 / SHARES as f64)))
            .map(|tangent| disc.share_above(tangent) as f32)
            .collect();
        let whole = |is_seen| if is_seen { 1.0 } else { 0.0 };
        if low == high {
            // A disc without size is seen, or not.
            shares.fill(0.0);
            shares[0] = whole(sun.altitude_deg >= 0.0);
        }
        let last = if low == high { 0.0 } else { disc.share_above(libm::tan(high)) as f32 };
        // One more than there are, so that each has one after it.
        shares.extend([last; 2]);
        Self { falls_m: tangents.iter().map(|tangent| *tangent as f32 * step_m).collect(), shares }
    }

    /// The shares of the disc that are seen from places of such heights where the rays come by.
    #[inline(always)]
    fn meet(&self, heights: &[f32; LANES], grazing: &[[f32; LANES]], shares: &mut [f32]) {
        // How far up the disc the horizon stands, in steps: all of those between two rays above the place, none of those
        // between two below it.
        let mut climbs = [0.0; LANES];
        for pair in grazing.windows(2) {
            let pairs = pair[0].iter().zip(&pair[1]);
            for ((climb, height), (low, high)) in climbs.iter_mut().zip(heights).zip(pairs) {
                let apart = low - high;
                let part = (low - height) / if apart > f32::MIN_POSITIVE { apart } else { f32::MIN_POSITIVE };
                let part = if part > 0.0 { part } else { 0.0 };
                *climb += if part < 1.0 { part } else { 1.0 };
            }
        }
        let (mut places, mut ways) = ([0; LANES], [0.0; LANES]);
        for ((place, way), climb) in places.iter_mut().zip(&mut ways).zip(&climbs) {
            let climb = climb * SHARES as f32;
            *place = round_to_u32(climb.floor());
            *way = climb - climb.floor();
        }
        // Looking up alone goes place by place.
        let mut ends = [[0.0; LANES]; 2];
        let [befores, afters] = &mut ends;
        for ((before, after), place) in befores.iter_mut().zip(afters).zip(&places) {
            let pair = &self.shares[*place as usize..*place as usize + 2];
            (*before, *after) = (pair[0], pair[1]);
        }
        let [befores, afters] = &ends;
        for ((share, way), (before, after)) in shares.iter_mut().zip(&ways).zip(befores.iter().zip(afters)) {
            *share = before + way * (after - before);
        }
    }
}

/// Neighbouring lines, and the places along at which one of them at least is on the map.
#[derive(Debug)]
struct Strip {
    first_line: usize,
    places: Range<usize>,
}

impl Strip {
    fn all(sweep: &Sweep) -> Vec<Self> {
        let lines = sweep.lines();
        let strip = |first_line: usize| {
            let last = (first_line + LANES).min(lines) - 1;
            let [[a, b], [c, d]] = [first_line, last].map(|line| sweep.stretch(line));
            Self { first_line, places: a.min(c)..b.max(d) }
        };
        (0..lines).step_by(LANES).map(strip).collect()
    }

    /// The places on all its lines.
    fn len(&self) -> usize {
        self.places.len() * LANES
    }

    /// The shares of the sun that are seen from the lines, place by place.
    #[inline(always)]
    fn follow(&self, terrain: &Heightfield, sweep: &Sweep, rays: &Rays, shares: &mut [f32]) {
        let mut grazing = vec![[NOTHING; LANES]; rays.falls_m.len()];
        let mut samples = [[0.0; LANES + 1 + PLACES_AT_ONCE]; PLACES_AT_ONCE];
        let blocks = self.places.len().div_ceil(PLACES_AT_ONCE);
        for block in 0..blocks {
            let block = if sweep.ahead { blocks - 1 - block } else { block };
            let start = self.places.start + block * PLACES_AT_ONCE;
            let places = start..self.places.end.min(start + PLACES_AT_ONCE);
            // Line i of the strip lies between samples `beyond + i - 1` and `beyond + i` across.
            let beyond = |place: usize| self.first_line as isize - sweep.drop[place] as isize;
            let first = beyond(places.start).min(beyond(places.end - 1)) - 1;
            sweep.read(terrain, places.clone(), first, &mut samples);
            for i in 0..places.len() {
                let i = if sweep.ahead { places.len() - 1 - i } else { i };
                let beyond = beyond(start + i);
                let samples = &samples[i][(beyond - 1 - first) as usize..][..LANES + 1];
                let fraction = sweep.fraction[start + i];
                let mut heights = [0.0; LANES];
                for (height, (near, far)) in heights.iter_mut().zip(samples.iter().zip(&samples[1..])) {
                    *height = near + fraction * (far - near);
                }
                let lanes = |line: usize| (line as isize - beyond).clamp(0, LANES as isize) as usize;
                let on_map = sweep.on_map(start + i);
                let mut passed = heights;
                passed[..lanes(on_map.start)].fill(NOTHING);
                passed[lanes(on_map.end)..].fill(NOTHING);
                rays.meet(&heights, &grazing, &mut shares[(start + i - self.places.start) * LANES..][..LANES]);
                for (grazing, fall_m) in grazing.iter_mut().zip(&rays.falls_m) {
                    for (ray, passed) in grazing.iter_mut().zip(&passed) {
                        *ray = (if *passed > *ray { *passed } else { *ray }) - fall_m;
                    }
                }
            }
        }
    }
}

/// From the lines to the samples: each takes the linear mix of the two lines beside it.
fn gather(
    terrain: &Heightfield,
    sweep: &Sweep,
    strips: &[Strip],
    on_lines: &[f32],
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    // Where place 0 along would stand in each strip; before its first one for strips that begin later, which is why these
    // numbers wrap.
    let mut offset = 0_usize;
    let origins: Vec<usize> = strips
        .iter()
        .map(|strip| {
            let origin = offset.wrapping_sub(strip.places.start * LANES);
            offset += strip.len();
            origin
        })
        .collect();
    // What neighbouring lines from `line` on have at a place.
    let read = |place: usize, line: usize, values: &mut [f32]| {
        let (mut line, mut rest) = (line, values);
        while !rest.is_empty() {
            let lane = line % LANES;
            let (part, after) = rest.split_at_mut(rest.len().min(LANES - lane));
            let from = origins[line / LANES].wrapping_add(place * LANES + lane);
            part.copy_from_slice(&on_lines[from..][..part.len()]);
            line += part.len();
            rest = after;
        }
    };
    let mut shares = Heightfield::flat(terrain.grid());
    let width = terrain.grid().width();
    let blocks = shares.heights_mut().par_chunks_mut(width * ROWS_AT_ONCE).enumerate();
    blocks.try_for_each_init(Vec::new, |values: &mut Vec<f32>, (block, rows)| {
        let (first, count) = (block * ROWS_AT_ONCE, rows.len() / width);
        if sweep.on_rows {
            values.resize(count + 1, 0.0);
            for place in 0..width {
                read(place, first + sweep.drop[place], values);
                let fraction = sweep.fraction[place];
                for (i, (near, far)) in values.iter().zip(&values[1..]).enumerate() {
                    rows[i * width + place] = far + fraction * (near - far);
                }
            }
        } else {
            values.resize(width + 1, 0.0);
            for (place, row) in (first..).zip(rows.chunks_exact_mut(width)) {
                read(place, sweep.drop[place], values);
                let fraction = sweep.fraction[place];
                for (share, (near, far)) in row.iter_mut().zip(values.iter().zip(&values[1..])) {
                    *share = far + fraction * (near - far);
                }
            }
        }
        progress.check()
    })?;
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::super::horizon;
    use super::super::testing::{bumpy, same_at_one_and_seven_threads, world};
    use super::*;
    use crate::engine::heightfield::Grid;

    fn sun(azimuth_deg: f64, altitude_deg: f64, size_deg: f64) -> Sun {
        Sun { azimuth_deg, altitude_deg, size_deg }
    }

    fn cast(terrain: &Heightfield, sun: Sun) -> Heightfield {
        shadow(terrain, sun, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn parts_of_the_disc_by_hand() {
        let disc = Disc::new(sun(0.0, 45.0, 10.0));
        let above = |altitude_deg: f64| disc.share_above(libm::tan(altitude_deg.to_radians()));
        assert_eq!(above(39.9), 1.0);
        assert_eq!(above(50.1), 0.0);
        assert!((above(45.0) - 0.5).abs() < 1e-5);
        // The horizon half a radius below the centre: ½ + (¼·√3 + π/6)/π = 2/3 + √3/(4π).
        assert!((above(42.5) - (2.0 / 3.0 + 3.0_f64.sqrt() / (4.0 * std::f64::consts::PI))).abs() < 1e-4);
        assert!((above(47.5) + above(42.5) - 1.0).abs() < 1e-4);
        // The sun half set behind level ground, and a sun in the zenith.
        assert!((Disc::new(sun(0.0, 0.0, 0.53)).share_above(0.0) - 0.5).abs() < 1e-6);
        assert_eq!(Disc::new(sun(0.0, 90.0, 0.53)).share_above(100.0), 1.0);
        assert_eq!(Disc::new(sun(0.0, 90.0, 0.0)).share_above(1e12), 1.0);
    }

    #[test]
    fn a_wall_throws_a_shadow_as_long_as_its_height_asks() {
        // A wall 100 m high in column 20, samples 10 m apart: at 45° its shadow is 100 m long, at 26.6° 200 m.
        let grid = Grid::new(world(600.0, 300.0), 61, 31);
        let wall = Heightfield::from_fn(grid, |c, _| if c == 20 { 100.0 } else { 0.0 });
        for (altitude_deg, samples) in [(45.1, 10), (26.6, 20), (89.0, 0)] {
            let shares = cast(&wall, sun(270.0, altitude_deg, 0.0));
            for c in 0..61 {
                let expected = if c > 20 && c < 20 + samples.max(1) { 0.0 } else { 1.0 };
                assert_eq!(shares[(c, 15)], expected, "{altitude_deg}° at {c}");
            }
        }
        // A large sun softens the edge and leaves its middle where it is.
        let soft = cast(&wall, sun(270.0, 45.0, 8.0));
        assert!((soft[(30, 15)] - 0.5).abs() < 1e-4 && soft[(28, 15)] < 0.1 && soft[(32, 15)] > 0.9);
        assert!((21..40).all(|c| soft[(c, 15)] <= soft[(c + 1, 15)]));
    }

    #[test]
    fn level_land_has_no_shadow_and_a_steep_back_is_its_own() {
        let grid = Grid::new(world(600.0, 300.0), 61, 31);
        assert!(cast(&Heightfield::flat(grid), sun(120.0, 1.0, 0.53)).heights().iter().all(|&share| share == 1.0));
        // A ridge whose faces stand at 45°: the sun in the west at 40° does not reach the eastern one.
        let ridge = Heightfield::from_fn(grid, |c, _| -10.0 * c.abs_diff(30) as f32);
        let shares = cast(&ridge, sun(270.0, 40.0, 0.53));
        assert!((0..=30).all(|c| shares[(c, 9)] == 1.0) && (31..61).all(|c| shares[(c, 9)] == 0.0));
    }

    /// How far the shares are from the disc above the horizon that was found exactly: at worst, and in the mean.
    fn off(terrain: &Heightfield, sun: Sun) -> [f64; 2] {
        let disc = Disc::new(sun);
        let horizons = horizon(terrain, sun.azimuth_deg, &Progress::new()).expect("not cancelled");
        let shares = cast(terrain, sun);
        let pairs = shares.heights().iter().zip(horizons.heights());
        let off = |(share, tangent): (&f32, &f32)| (f64::from(*share) - disc.share_above(f64::from(*tangent))).abs();
        let all: Vec<f64> = pairs.map(off).collect();
        [all.iter().copied().fold(0.0, f64::max), all.iter().sum::<f64>() / all.len() as f64]
    }

    /// Along the axes lines run through the samples, and both are found at the same places.
    #[test]
    fn rays_leave_of_the_disc_what_the_horizon_leaves() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        for (size_deg, worst, mean) in [(0.0, 0.0, 0.0), (0.53, 0.2, 1e-4), (2.0, 0.15, 3e-4), (20.0, 0.1, 2e-3)] {
            for (azimuth_deg, altitude_deg) in [(0.0, 25.0), (90.0, 12.0), (180.0, 3.0), (270.0, 40.0)] {
                let found = off(&terrain, sun(azimuth_deg, altitude_deg, size_deg));
                assert!(found[0] <= worst && found[1] <= mean, "{size_deg}° at {azimuth_deg}°: {found:?}");
            }
        }
        // Walls beneath which the sun stands near the zenith, or reaches beyond it.
        let walls = Heightfield::from_fn(terrain.grid(), |c, r| if (c / 7 + r / 7) % 2 == 0 { 0.0 } else { 90.0 });
        for (altitude_deg, size_deg) in [(60.0, 60.0), (80.0, 20.0), (75.0, 30.0), (70.0, 38.0), (90.0, 0.53)] {
            let found = off(&walls, sun(90.0, altitude_deg, size_deg));
            assert!(found[0] <= 0.1 && found[1] <= 3e-3, "{altitude_deg}°, {size_deg}°: {found:?}");
        }
    }

    /// Elsewhere shares are mixed where horizons would be: the two differ at the edges of shadows alone.
    #[test]
    fn slanting_shadows_lie_where_the_horizon_has_them() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        for azimuth_deg in [301.0, 45.0, 13.0, 200.0] {
            let [_, mean] = off(&terrain, sun(azimuth_deg, 12.0, 2.0));
            assert!(mean < 0.01, "{azimuth_deg}°: {mean}");
        }
    }

    #[test]
    fn one_thread_and_seven_make_the_same_bytes_and_a_cancelled_shadow_ends() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| shadow(&terrain, sun(301.0, 20.0, Sun::TRUE_SIZE_DEG), progress));
    }
}
