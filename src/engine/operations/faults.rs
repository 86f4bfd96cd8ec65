//! Fault formation: draw a line across the land, one side up, the other down, thousands of times.
//!
//! After R. Krten, "Fractal Terrain Generation", Dr. Dobb's Journal, July 1994; the normal form of the line, the
//! linear decay and the sine and cosine profiles after the Lighthouse3D terrain tutorial; both after Mandelbrot and
//! Voss.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::fluvial_erosion::{FaultRivers, Refinement, Rivers};
use super::recursive_filter::RecursiveFilter;
use super::{FaultSequence, Keyframe, AccumulatedHeights, Operation, EvalContext};
use crate::engine::fault::{FaultSum, Fault, Profile, FixedHeights, add_fault, quantized_displacement, sum_of_faults};
use crate::engine::heightfield::{Extent, Grid, Heightfield};
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Spec, Weighted, choices, parameters};
use crate::engine::random::{Draw, Stream};

choices! {
    /// How the line of a fault is drawn.
    pub enum Line {
        /// By direction and distance from the centre: the land is equally rough everywhere.
        NormalForm = "normal_form", "Even (normal form)";
        /// Through two random points: about twice as many faults cross the centre as the corners.
        TwoPoints = "two_points", "Through two points";
    }
}

choices! {
    /// How displacements change from the first fault to the last.
    pub enum Decay {
        /// All faults are equally strong.
        Constant = "constant", "Constant";
        /// From the first displacement in equal steps down to the last one, which then stays.
        Linear = "linear", "Linear";
        /// Displacement divided by the fault's number: a few giants, then finer and finer detail.
        Harmonic = "harmonic", "Harmonic (1/i)";
        /// In equal steps from the full displacement to nearly nothing at the last fault.
        Countdown = "countdown", "Countdown";
        /// Each fault is a fixed share of the one before.
        Exponential = "exponential", "Exponential";
        /// Each fault has one of a few sizes, drawn by weight.
        Sizes = "sizes", "Drawn from sizes";
    }
}

parameters! {
    /// Raises land by straight faults: each draws a line across the map and lifts one side against the other.
    pub struct Faults {
        /// How many faults are drawn, one an iteration: few give broad blocks, many give rugged detail.
        count: u32 = 1000, Spec::number("Count", 0.0, 1_000_000.0).slider(1.0, 5000.0).logarithmic();
        /// How the line of each fault is drawn.
        line: Line = Line::NormalForm, Spec::new("Line");
        /// The compass direction along which faults run, clockwise from north: the grain of the ranges.
        strike_deg: f64 = 0.0, Spec::number("Strike", -360.0, 360.0).slider(0.0, 180.0).unit("°");
        /// How far faults stray from the strike, as a full angle: 180° is every direction, small angles give parallel
        /// ranges.
        strike_spread_deg: f64 = 180.0, Spec::number("Strike spread", 0.0, 180.0).unit("°");
        /// How far the first fault lifts one side; the other side sinks as far.
        displacement_m: f64 = 20.0,
            Spec::number("Displacement", 0.0, 10_000.0).slider(0.1, 500.0).unit("m").logarithmic()
                .when("decay", &["constant", "linear", "harmonic", "countdown", "exponential"]);
        /// How displacements change from the first fault to the last.
        decay: Decay = Decay::Linear, Spec::new("Decay");
        /// The displacement at which linear decay ends.
        decay_to_m: f64 = 1.0,
            Spec::number("Decay to", 0.0, 10_000.0).slider(0.0, 100.0).unit("m").when("decay", &["linear"]);
        /// The number of faults over which linear decay reaches its end.
        decay_over: u32 = 600,
            Spec::number("Decay over", 0.0, 1_000_000.0).slider(1.0, 5000.0).unit("faults").logarithmic()
                .when("decay", &["linear"]);
        /// The share of its displacement that each fault passes on to the next.
        decay_rate: f64 = 0.995, Spec::number("Decay rate", 0.0, 1.0).slider(0.9, 1.0).when("decay", &["exponential"]);
        /// The sizes that a fault can have, in metres, each with a weight that says how often it is drawn.
        sizes: Vec<Weighted> = vec![
                Weighted { value: 100.0, weight: 10.0 },
                Weighted { value: 20.0, weight: 150.0 },
                Weighted { value: 2.0, weight: 40.0 },
            ],
            Spec::number("Sizes", 0.0, 10_000.0).slider(0.0, 200.0).unit("m").when("decay", &["sizes"]);
        /// Cuts every displacement to whole metres, as the integer heights of 1994 did.
        truncate: bool = false, Spec::new("Whole metres");
        /// The chance that the drawn side goes up; away from one half, sunken or raised blocks prevail.
        up_chance: f64 = 0.5, Spec::number("Up chance", 0.0, 1.0);
        /// The cross-section of the faults, from cliffs to waves.
        profile: Profile = Profile::Smooth, Spec::new("Profile");
        /// How far the fault zone reaches to each side of the line: wide zones give soft, rolling land.
        zone_m: f64 = 120.0,
            Spec::number("Fault zone", 0.0, 1_000_000.0).slider(1.0, 4000.0).unit("m").logarithmic()
                .when("profile", &[
                    "ramp", "smooth", "sine", "cosine", "exponential", "gaussian", "linear", "biweight",
                ]);
        /// The faults that are left out, by their number: those that somebody has made faults of his own.
        skipped: Vec<u32> = Vec::new(), Spec::number("Skipped", 1.0, 1_000_000.0).slider(1.0, 5000.0);
        /// Weather between the faults: a filter that runs after every one, so that old faults are worn and young ones
        /// fresh.
        wind: Option<RecursiveFilter> = None, Spec::new("Wind erosion");
        /// Rivers between the faults: every few faults they cut their valleys a little deeper, so that a range grows with
        /// its valleys.
        rivers: Option<FaultRivers> = None, Spec::new("Rivers");
    }
}

/// Krten redraws a pair of points closer than 2 cells of his 256² map along either side; this is that share.
const LEAST_SHARE: f64 = 2.0 / 256.0;

/// Pairs of points tried before the strike is imposed on the second point. With every direction allowed, a pair is
/// refused once in 32 draws, so the limit is reached only where the strike leaves hardly any pairs.
const MOST_PAIRS: u32 = 256;

/// Two points of the map, each anywhere on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointPair {
    pub from_m: [f64; 2],
    pub to_m: [f64; 2],
}

impl PointPair {
    pub fn drawn(extent: Extent, draw: &mut Draw) -> Self {
        let mut point = || [draw.unit() * extent.width_m, draw.unit() * extent.depth_m];
        Self { from_m: point(), to_m: point() }
    }

    /// From the one to the other.
    pub fn along_m(&self) -> [f64; 2] {
        [self.to_m[0] - self.from_m[0], self.to_m[1] - self.from_m[1]]
    }

    /// Whether Krten would redraw the pair.
    pub fn too_close(&self, extent: Extent) -> bool {
        let along = self.along_m();
        along[0].abs() <= LEAST_SHARE * extent.width_m || along[1].abs() <= LEAST_SHARE * extent.depth_m
    }
}

impl Faults {
    /// dᵢ, the displacement of fault i = 1…n in metres, before its sign.
    fn displacement_m(&self, i: u32, draw: &mut Draw) -> f64 {
        let d = self.displacement_m;
        let done = f64::from(i - 1);
        // Drawn whether it is used or not, so that another decay leaves the lines where they are.
        let size_at = draw.unit();
        let displacement = match self.decay {
            Decay::Constant => d,
            Decay::Linear if i - 1 < self.decay_over => d + done / f64::from(self.decay_over) * (self.decay_to_m - d),
            Decay::Linear => self.decay_to_m,
            Decay::Harmonic => d / f64::from(i),
            Decay::Countdown => d * (f64::from(self.count) - done) / f64::from(self.count),
            Decay::Exponential => d * libm::pow(self.decay_rate, done),
            Decay::Sizes => weighted(&self.sizes, size_at),
        };
        if self.truncate { displacement.trunc() } else { displacement }
    }

    /// A line along the strike, within its spread.
    fn line(&self, extent: Extent, draw: &mut Draw) -> ([f64; 2], [f64; 2]) {
        match self.line {
            Line::NormalForm => {
                let normal = self.strike_normal(draw);
                // c uniform over the diagonal, from the centre of the map.
                let diagonal = libm::hypot(extent.width_m, extent.depth_m);
                let c = draw.between(-0.5, 0.5) * diagonal;
                ([0.5 * extent.width_m + c * normal[0], 0.5 * extent.depth_m + c * normal[1]], normal)
            }
            Line::TwoPoints => {
                let mut from = [0.0; 2];
                for _ in 0..MOST_PAIRS {
                    let pair = PointPair::drawn(extent, draw);
                    from = pair.from_m;
                    let along = pair.along_m();
                    if !pair.too_close(extent) && self.allows(along) {
                        let length = libm::hypot(along[0], along[1]);
                        return (from, [-along[1] / length, along[0] / length]);
                    }
                }
                (from, self.strike_normal(draw))
            }
        }
    }

    /// A unit normal of a line whose azimuth is uniform in strike ± spread/2, to either side of the line.
    fn strike_normal(&self, draw: &mut Draw) -> [f64; 2] {
        let azimuth = (self.strike_deg + draw.between(-0.5, 0.5) * self.strike_spread_deg).to_radians();
        let side = if draw.chance(0.5) { 1.0 } else { -1.0 };
        // Azimuths run clockwise from north, z runs south: along the line is (sin, −cos), across it (cos, sin).
        [side * libm::cos(azimuth), side * libm::sin(azimuth)]
    }

    /// Whether a line in that direction strikes within the spread.
    fn allows(&self, along: [f64; 2]) -> bool {
        let azimuth_deg = libm::atan2(along[0], -along[1]).to_degrees();
        let off = (azimuth_deg - self.strike_deg).rem_euclid(180.0);
        off.min(180.0 - off) <= 0.5 * self.strike_spread_deg
    }

    /// Some of the faults.
    fn drawn(&self, context: &EvalContext, which: RangeInclusive<u32>) -> Result<Vec<Fault>, Cancelled> {
        let draw = |i| self.fault(i, context.grid.extent(), context.stream);
        which.into_par_iter().map(|i| context.progress.check().map(|()| draw(i))).collect()
    }

    /// Fault i = 1…n, drawn without drawing those before it.
    fn fault(&self, i: u32, extent: Extent, stream: Stream) -> Fault {
        let mut draw = stream.at(u64::from(i));
        let goes_up = draw.chance(self.up_chance);
        let displacement_m = quantized_displacement(self.displacement_m(i, &mut draw));
        let displacement_m = if self.skipped.contains(&i) { 0.0 } else { displacement_m };
        let (point_m, normal) = self.line(extent, &mut draw);
        Fault {
            point_m,
            normal,
            displacement_m: if goes_up { displacement_m } else { -displacement_m },
            profile: self.profile,
            zone_m: if self.profile == Profile::Step { 0.0 } else { self.zone_m },
        }
    }
}

impl Faults {
    /// Whether something wears the land between the faults.
    fn has_weather(&self) -> bool {
        self.wind.is_some() || self.rivers.is_some()
    }
}

/// The size at a place in [0, 1) of the weights laid end to end; 0 where there are none.
fn weighted(sizes: &[Weighted], place: f64) -> f64 {
    let total: f64 = sizes.iter().map(|size| size.weight).sum();
    let mut rest = place * total;
    for size in sizes {
        rest -= size.weight;
        if rest < 0.0 {
            return size.value;
        }
    }
    0.0
}

impl Operation for Faults {
    const KEY: &'static str = "faults";
    const LABEL: &'static str = "Faults";

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        self.has_weather()
    }

    fn is_pointwise(&self) -> bool {
        !self.has_weather()
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        if self.rivers.is_some() { FaultRivers::working_grid(grid) } else { grid }
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        if self.rivers.is_some() { FaultRivers::preview_grid(grid) } else { grid }
    }

    fn faults_from(&self, first: u32, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
        Some(FaultSequence::Lines(Box::new((first.max(1)..=self.count).map(move |i| self.fault(i, extent, stream)))))
    }

    fn peak_maps(&self, _grid: Grid) -> f64 {
        let of_rivers = if self.rivers.is_some() { Rivers::MAPS } else { 0.0 };
        2.0 + self.wind.as_ref().map_or(0.0, RecursiveFilter::extra_maps) + of_rivers
    }

    fn upsample_peak_maps(&self, _grid: Grid) -> f64 {
        Refinement::MAPS
    }

    fn accumulate(&self, context: &EvalContext, until: u32, from: Option<(u32, FixedHeights)>) -> Option<AccumulatedHeights> {
        (!self.has_weather()).then(|| {
            let (done, onto) = from.map_or((0, None), |(done, sums)| (done, Some(sums)));
            let mut faults = self.drawn(context, done.min(until) + 1..=done.max(until))?;
            if until < done {
                // What went up comes down again.
                faults.iter_mut().for_each(|fault| fault.displacement_m = -fault.displacement_m);
            }
            FaultSum { grid: context.grid, faults: &faults, progress: context.progress }.heights_and_fixed(onto)
        })
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        if !self.has_weather() {
            return sum_of_faults(context.grid, &self.drawn(context, 1..=until)?, context.progress);
        }
        let (done, mut terrain) = match resume {
            Some(keyframe) => (keyframe.iteration, keyframe.terrain.copied(context.progress)?),
            None => (0, Heightfield::flat(context.grid)),
        };
        let counter = context.progress.counter((until - done) as usize);
        let mut wind = self.wind.as_ref().map(|wind| wind.on(context.grid));
        let mut rivers = self.rivers.as_ref().map(|rivers| rivers.on(context.grid, context.progress)).transpose()?;
        for i in done + 1..=until {
            add_fault(&mut terrain, &self.fault(i, context.grid.extent(), context.stream), context.progress)?;
            if let Some(wind) = &mut wind {
                wind.pass(&mut terrain, context.progress)?;
            }
            if let Some(rivers) = &mut rivers {
                rivers.after(i, &mut terrain, context.progress)?;
            }
            counter.add_one()?;
        }
        Ok(terrain)
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        let Some(rivers) = &self.rivers else { return terrain.resampled(context.grid, context.progress) };
        let faults = self.drawn(context, 1..=until)?;
        let unworn = |grid: Grid| sum_of_faults(grid, &faults, context.progress);
        rivers.carry(terrain, context, until, if self.wind.is_none() { Some(&unworn) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{raised, resumed, stream};
    use super::*;
    use crate::engine::inputs::Inputs;
    use crate::engine::progress::Progress;

    #[test]
    fn what_is_skipped_lifts_nothing_and_moves_no_other_fault() {
        let faults = Faults { count: 9, ..Default::default() };
        let extent = Extent { width_m: 900.0, depth_m: 700.0 };
        let drawn = |faults: &Faults| faults.faults(extent, stream()).map(FaultSequence::into_lines).expect("lines");
        let mut expected = drawn(&faults);
        expected[3].displacement_m = 0.0;
        assert_eq!(drawn(&Faults { skipped: vec![4, 70], ..faults }), expected);
    }

    #[test]
    fn exact_heights_are_gone_on_with_in_either_direction() {
        let faults = Faults { count: 40, ..Default::default() };
        let grid = Grid::new(Extent { width_m: 900.0, depth_m: 700.0 }, 37, 29);
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { grid, below: None, stream: stream(), inputs: &inputs, progress: &progress };
        let at = |until, from| faults.accumulate(&context, until, from).expect("a sum").expect("not cancelled");
        let (_, thirty) = at(30, None);
        for until in [0, 7, 29, 30, 31, 40] {
            assert_eq!(at(until, Some((30, thirty.clone()))).0, raised(&faults, grid, None, until), "{until}");
        }
        // What is handed in is gone on from: flat land is left with the one fault between, upwards and downwards.
        let (_, flat) = at(0, None);
        let (mut up, down) = (at(30, Some((29, flat.clone()))).0, at(29, Some((30, flat))).0);
        assert_ne!(up, down);
        up.heights_mut().iter_mut().for_each(|height| *height = -*height);
        assert_eq!(up, down);
        assert!(Faults { wind: Some(RecursiveFilter::default()), ..faults }.accumulate(&context, 3, None).is_none());
    }

    #[test]
    fn rivers_between_the_faults_cut_valleys_and_go_on_from_keyframes() {
        let faults = |rivers| Faults { count: 60, rivers, ..Default::default() };
        let grid = Grid::new(Extent { width_m: 4000.0, depth_m: 4000.0 }, 65, 65);
        let carved = faults(Some(FaultRivers { years: 20_000.0, ..Default::default() }));
        let [plain, worn] = [&faults(None), &carved].map(|faults| raised(faults, grid, None, 60));
        let pits = crate::engine::landforms::pits_per_thousand;
        assert_ne!(plain, worn);
        assert!(pits(&worn) < 0.5 * pits(&plain), "{} and {}", pits(&worn), pits(&plain));
        // What they take lifts the rest.
        let mean_m = |terrain: &Heightfield| terrain.heights().iter().map(|&height| f64::from(height)).sum::<f64>() / 4225.0;
        assert!((mean_m(&worn) - mean_m(&plain)).abs() < 0.01, "{} and {}", mean_m(&worn), mean_m(&plain));
        let early = raised(&carved, grid, None, 23);
        assert_eq!(resumed(&carved, Keyframe { iteration: 23, terrain: &early }, 60), worn);
        // Before their first turn nothing is worn.
        let [plain, young] = [&faults(None), &carved].map(|faults| raised(faults, grid, None, 4));
        assert!(plain.heights().iter().zip(young.heights()).all(|(plain, young)| (plain - young).abs() < 1e-3));
    }
}
