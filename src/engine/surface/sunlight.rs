//! Sunlight with cast shadows: the share of the sun's disc that each sample sees.
//!
//! A sample sees the part of the disc above the [horizon](super::horizon()) towards the sun. With x the height of the
//! disc's centre above the horizon in radii of the disc, the part above a straight horizon is
//! ½ + (x·√(1 − x²) + arcsin x)/π, the area of a circular segment.
//!
//! The exact horizon matters only while it crosses the disc. So instead of the horizon, a few rays at altitudes within
//! the disc are followed along each line away from the sun: the ray of tangent t descends t metres per metre, and every
//! higher point lifts it to its own height. A point below the ray of t has its horizon above t. The clearance of a ray
//! above a point is a convex function of its tangent: the maximum of one straight line per point passed. Its zero is
//! the horizon, found by linear interpolation between a ray above the point and the next one below it. This is exact
//! where the same ridge bounds both rays. Elsewhere the share is slightly too small: on rugged terrain by less than
//! 0.0003 of the disc on average for suns of up to 2°, and by up to 0.2 at single samples where two ridges cross the
//! disc.

use std::ops::Range;

use rayon::prelude::*;

use super::sweep::Sweep;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::simd::{round_to_u32, simd};

/// The position and size of the sun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// The compass direction, clockwise from north.
    pub azimuth_deg: f64,
    /// The altitude of the centre above the horizontal.
    pub altitude_deg: f64,
    /// The apparent diameter; 0 casts shadows with sharp edges.
    pub size_deg: f64,
}

impl Sun {
    /// The apparent diameter of the real sun.
    pub const REAL_SIZE_DEG: f64 = 0.53;
}

/// Lines that are processed together in SIMD lanes.
const LANES: usize = 64;
/// The number of steps between rays from the lower limb of the disc to the upper one: per degree, and its limits.
const STEPS_PER_DEGREE: f64 = 4.0;
const STEP_LIMITS: [f64; 2] = [4.0, 32.0];
/// Shares of the disc in the look-up table for each step.
const SHARES: usize = 32;
/// A height below any terrain, for lines that have not passed any point yet.
const BELOW_TERRAIN: f32 = -1e30;
/// The altitude of the highest ray, radians: every horizon is lower.
const MAX_ALTITUDE: f64 = 89.5 * std::f64::consts::PI / 180.0;
/// Steps along a line whose samples are read together.
const STEPS_AT_ONCE: usize = 16;
/// Rows that are gathered together, so that results in columns are read from the same stretch of memory.
const ROWS_AT_ONCE: usize = 16;

/// The share of the sun's disc that every sample sees, from 0 in full shadow to 1 in full light. Slopes facing away
/// from the sun are in their own shadow.
pub fn sunlight(terrain: &Heightfield, sun: Sun, progress: &Progress) -> Result<Heightfield, Cancelled> {
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
            || strip.walk(terrain, &sweep, &rays, part),
        );
        progress.check()
    })?;
    gather(terrain, &sweep, &strips, &on_lines, progress)
}

/// The disc of the sun.
#[derive(Debug)]
struct Disc {
    altitude: f64,
    radius: f64,
}

impl Disc {
    fn new(sun: Sun) -> Self {
        Self { altitude: sun.altitude_deg.to_radians(), radius: 0.5 * sun.size_deg.to_radians() }
    }

    /// The altitudes of the lower and the upper limb, at least 0 because the world is surrounded by level terrain.
    fn limbs(&self) -> [f64; 2] {
        [self.altitude - self.radius, self.altitude + self.radius].map(|angle| angle.clamp(0.0, MAX_ALTITUDE))
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

/// The rays that graze the terrain, and the shares of the disc for horizons between them.
#[derive(Debug)]
struct Rays {
    /// The descent of each ray per step, the lowest ray first.
    falls_m: Vec<f32>,
    /// The shares of the disc above horizons from its lower limb to its upper one.
    shares: Vec<f32>,
}

impl Rays {
    fn new(sun: Sun, step_m: f32) -> Self {
        let disc = Disc::new(sun);
        let [low, high] = disc.limbs();
        let steps = (STEPS_PER_DEGREE * sun.size_deg).ceil().clamp(STEP_LIMITS[0], STEP_LIMITS[1]).to_usize();
        // Rays are at equal angles; between two of them the horizon is interpolated by its tangent.
        let tangents: Vec<f64> =
            (0..=steps).map(|ray| libm::tan(low + (high - low) * (ray.to_f64() / steps.to_f64()))).collect();
        let mut shares: Vec<f32> = tangents
            .windows(2)
            .flat_map(|pair| (0..SHARES).map(move |at| pair[0] + (pair[1] - pair[0]) * (at.to_f64() / SHARES.to_f64())))
            .map(|tangent| disc.share_above(tangent).to_f32())
            .collect();
        let whole = |is_seen| if is_seen { 1.0 } else { 0.0 };
        if low == high {
            // A point-sized sun is either visible or hidden.
            shares.fill(0.0);
            shares[0] = whole(sun.altitude_deg >= 0.0);
        }
        let last = if low == high { 0.0 } else { disc.share_above(libm::tan(high)).to_f32() };
        // One entry more than needed, so that each has a successor.
        shares.extend([last; 2]);
        Self { falls_m: tangents.iter().map(|tangent| (*tangent).to_f32() * step_m).collect(), shares }
    }

    /// The shares of the disc that are visible from points of given heights, by the heights of the rays there.
    #[inline(always)]
    fn visible_shares(&self, heights: &[f32; LANES], grazing: &[[f32; LANES]], shares: &mut [f32]) {
        // The height of the horizon on the disc, in steps: every pair of rays above the point adds 1, and every pair
        // below it adds 0.
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
        let (mut indices, mut fractions) = ([0; LANES], [0.0; LANES]);
        for ((index, fraction), climb) in indices.iter_mut().zip(&mut fractions).zip(&climbs) {
            let climb = climb * SHARES.to_f32();
            *index = round_to_u32(climb.floor());
            *fraction = climb - climb.floor();
        }
        // Only the table look-ups are not vectorized.
        let mut ends = [[0.0; LANES]; 2];
        let [firsts, seconds] = &mut ends;
        for ((before, after), index) in firsts.iter_mut().zip(seconds).zip(&indices) {
            let pair = &self.shares[*index as usize..*index as usize + 2];
            (*before, *after) = (pair[0], pair[1]);
        }
        let [firsts, seconds] = &ends;
        for ((share, fraction), (before, after)) in shares.iter_mut().zip(&fractions).zip(firsts.iter().zip(seconds)) {
            *share = before + fraction * (after - before);
        }
    }
}

/// Neighbouring lines, and the steps at which at least one of them is on the map.
#[derive(Debug)]
struct Strip {
    first_line: usize,
    steps: Range<usize>,
}

impl Strip {
    fn all(sweep: &Sweep) -> Vec<Self> {
        let lines = sweep.lines();
        let strip = |first_line: usize| {
            let last = (first_line + LANES).min(lines) - 1;
            let [[a, b], [c, d]] = [first_line, last].map(|line| sweep.steps_on_map(line));
            Self { first_line, steps: a.min(c)..b.max(d) }
        };
        (0..lines).step_by(LANES).map(strip).collect()
    }

    /// The number of steps on all its lines.
    fn len(&self) -> usize {
        self.steps.len() * LANES
    }

    /// Computes the shares of the sun along the lines, step by step.
    #[inline(always)]
    fn walk(&self, terrain: &Heightfield, sweep: &Sweep, rays: &Rays, shares: &mut [f32]) {
        let mut grazing = vec![[BELOW_TERRAIN; LANES]; rays.falls_m.len()];
        let mut samples = [[0.0; LANES + 1 + STEPS_AT_ONCE]; STEPS_AT_ONCE];
        let blocks = self.steps.len().div_ceil(STEPS_AT_ONCE);
        for block in 0..blocks {
            let block = if sweep.ahead { blocks - 1 - block } else { block };
            let start = self.steps.start + block * STEPS_AT_ONCE;
            let steps = start..self.steps.end.min(start + STEPS_AT_ONCE);
            // Line i of the strip is between samples `beyond + i - 1` and `beyond + i` across.
            let beyond = |step: usize| self.first_line.to_isize() - sweep.drop[step].to_isize();
            let first = beyond(steps.start).min(beyond(steps.end - 1)) - 1;
            sweep.read(terrain, steps.clone(), first, &mut samples);
            for i in 0..steps.len() {
                let i = if sweep.ahead { steps.len() - 1 - i } else { i };
                let beyond = beyond(start + i);
                let samples = &samples[i][(beyond - 1 - first).to_usize()..][..LANES + 1];
                let fraction = sweep.fraction[start + i];
                let mut heights = [0.0; LANES];
                for (height, (near, far)) in heights.iter_mut().zip(samples.iter().zip(&samples[1..])) {
                    *height = near + fraction * (far - near);
                }
                let lanes = |line: usize| (line.to_isize() - beyond).clamp(0, LANES.to_isize()).to_usize();
                let on_map = sweep.on_map(start + i);
                let mut passed = heights;
                passed[..lanes(on_map.start)].fill(BELOW_TERRAIN);
                passed[lanes(on_map.end)..].fill(BELOW_TERRAIN);
                rays.visible_shares(&heights, &grazing, &mut shares[(start + i - self.steps.start) * LANES..][..LANES]);
                for (grazing, fall_m) in grazing.iter_mut().zip(&rays.falls_m) {
                    for (ray, passed) in grazing.iter_mut().zip(&passed) {
                        *ray = (if *passed > *ray { *passed } else { *ray }) - fall_m;
                    }
                }
            }
        }
    }
}

/// Interpolates the shares at the samples between the two adjacent lines.
fn gather(
    terrain: &Heightfield,
    sweep: &Sweep,
    strips: &[Strip],
    on_lines: &[f32],
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    // The index that step 0 would have in each strip. It is before the first one for strips that begin later, so these
    // numbers wrap.
    let mut offset = 0_usize;
    let origins: Vec<usize> = strips
        .iter()
        .map(|strip| {
            let origin = offset.wrapping_sub(strip.steps.start * LANES);
            offset += strip.len();
            origin
        })
        .collect();
    // Reads the values of neighbouring lines, beginning at `line`, at a step.
    let read = |step: usize, line: usize, values: &mut [f32]| {
        let (mut line, mut rest) = (line, values);
        while !rest.is_empty() {
            let lane = line % LANES;
            let (part, after) = rest.split_at_mut(rest.len().min(LANES - lane));
            let from = origins[line / LANES].wrapping_add(step * LANES + lane);
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
            for step in 0..width {
                read(step, first + sweep.drop[step], values);
                let fraction = sweep.fraction[step];
                for (i, (near, far)) in values.iter().zip(&values[1..]).enumerate() {
                    rows[i * width + step] = far + fraction * (near - far);
                }
            }
        } else {
            values.resize(width + 1, 0.0);
            for (step, row) in (first..).zip(rows.chunks_exact_mut(width)) {
                read(step, sweep.drop[step], values);
                let fraction = sweep.fraction[step];
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
    use crate::heightfield::Grid;

    fn sun(azimuth_deg: f64, altitude_deg: f64, size_deg: f64) -> Sun {
        Sun { azimuth_deg, altitude_deg, size_deg }
    }

    fn cast(terrain: &Heightfield, sun: Sun) -> Heightfield {
        sunlight(terrain, sun, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn shares_of_the_disc_match_values_computed_by_hand() {
        let disc = Disc::new(sun(0.0, 45.0, 10.0));
        let above = |altitude_deg: f64| disc.share_above(libm::tan(altitude_deg.to_radians()));
        assert_eq!(above(39.9), 1.0);
        assert_eq!(above(50.1), 0.0);
        assert!((above(45.0) - 0.5).abs() < 1e-5);
        // The horizon half a radius below the centre: ½ + (¼·√3 + π/6)/π = 2/3 + √3/(4π).
        assert!((above(42.5) - (2.0 / 3.0 + 3.0_f64.sqrt() / (4.0 * std::f64::consts::PI))).abs() < 1e-4);
        assert!((above(47.5) + above(42.5) - 1.0).abs() < 1e-4);
        // The sun half set behind level terrain, and a sun in the zenith.
        assert!((Disc::new(sun(0.0, 0.0, 0.53)).share_above(0.0) - 0.5).abs() < 1e-6);
        assert_eq!(Disc::new(sun(0.0, 90.0, 0.53)).share_above(100.0), 1.0);
        assert_eq!(Disc::new(sun(0.0, 90.0, 0.0)).share_above(1e12), 1.0);
    }

    #[test]
    fn the_shadow_of_a_wall_matches_values_computed_by_hand() {
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
        // A large sun softens the edge without moving its middle.
        let soft = cast(&wall, sun(270.0, 45.0, 8.0));
        assert!((soft[(30, 15)] - 0.5).abs() < 1e-4 && soft[(28, 15)] < 0.1 && soft[(32, 15)] > 0.9);
        assert!((21..40).all(|c| soft[(c, 15)] <= soft[(c + 1, 15)]));
    }

    #[test]
    fn level_terrain_has_no_shadow_and_a_steep_slope_shades_itself() {
        let grid = Grid::new(world(600.0, 300.0), 61, 31);
        assert!(cast(&Heightfield::flat(grid), sun(120.0, 1.0, 0.53)).heights().iter().all(|&share| share == 1.0));
        // A ridge with slopes of 45°: the sun in the west at 40° does not reach the eastern one.
        let ridge = Heightfield::from_fn(grid, |c, _| -10.0 * c.abs_diff(30) as f32);
        let shares = cast(&ridge, sun(270.0, 40.0, 0.53));
        assert!((0..=30).all(|c| shares[(c, 9)] == 1.0) && (31..61).all(|c| shares[(c, 9)] == 0.0));
    }

    /// The largest and the mean deviation of the shares from those by the exact horizon.
    fn off(terrain: &Heightfield, sun: Sun) -> [f64; 2] {
        let disc = Disc::new(sun);
        let horizons = horizon(terrain, sun.azimuth_deg, &Progress::new()).expect("not cancelled");
        let shares = cast(terrain, sun);
        let pairs = shares.heights().iter().zip(horizons.heights());
        let off = |(share, tangent): (&f32, &f32)| (f64::from(*share) - disc.share_above(f64::from(*tangent))).abs();
        let all: Vec<f64> = pairs.map(off).collect();
        [all.iter().copied().fold(0.0, f64::max), all.iter().sum::<f64>() / all.len() as f64]
    }

    /// Along the axes lines pass through samples, and both are computed at the same points.
    #[test]
    fn rays_agree_with_the_horizon() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        for (size_deg, worst, mean) in [(0.0, 0.0, 0.0), (0.53, 0.2, 1e-4), (2.0, 0.15, 3e-4), (20.0, 0.1, 2e-3)] {
            for (azimuth_deg, altitude_deg) in [(0.0, 25.0), (90.0, 12.0), (180.0, 3.0), (270.0, 40.0)] {
                let found = off(&terrain, sun(azimuth_deg, altitude_deg, size_deg));
                assert!(found[0] <= worst && found[1] <= mean, "{size_deg}° at {azimuth_deg}°: {found:?}");
            }
        }
        // Walls under a sun near the zenith, or whose disc extends beyond it.
        let walls = Heightfield::from_fn(terrain.grid(), |c, r| if (c / 7 + r / 7) % 2 == 0 { 0.0 } else { 90.0 });
        for (altitude_deg, size_deg) in [(60.0, 60.0), (80.0, 20.0), (75.0, 30.0), (70.0, 38.0), (90.0, 0.53)] {
            let found = off(&walls, sun(90.0, altitude_deg, size_deg));
            assert!(found[0] <= 0.1 && found[1] <= 3e-3, "{altitude_deg}°, {size_deg}°: {found:?}");
        }
    }

    /// In other directions shares are interpolated instead of horizons: they differ only at the edges of shadows.
    #[test]
    fn slanting_shadows_agree_with_the_horizon() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        for azimuth_deg in [301.0, 45.0, 13.0, 200.0] {
            let [_, mean] = off(&terrain, sun(azimuth_deg, 12.0, 2.0));
            assert!(mean < 0.01, "{azimuth_deg}°: {mean}");
        }
    }

    #[test]
    fn results_do_not_depend_on_threads_and_can_be_cancelled() {
        let terrain = bumpy(Grid::new(world(900.0, 500.0), 201, 133));
        same_at_one_and_seven_threads(|progress| sunlight(&terrain, sun(301.0, 20.0, Sun::REAL_SIZE_DEG), progress));
    }
}
