//! Fault formation: thousands of straight lines across the map, each raising one side and lowering the other.
//!
//! After R. Krten, "Fractal Terrain Generation", Dr. Dobb's Journal, July 1994. The normal form of the line, the linear
//! decay and the sine and cosine profiles follow the Lighthouse3D terrain tutorial. Both are based on Mandelbrot and
//! Voss.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::fault_erosion::{FaultErosion, FaultRivers, FaultSource};
use super::fault_sequence::FaultSequence;
use super::operation::{AccumulatedHeights, EvalContext, Keyframe, KeyframeSink, Operation, TerrainOnGrid};
use super::recursive_filter::RecursiveFilter;
use super::stream_power_refinement::StreamPowerRefinement;
use crate::fault::{Fault, FaultSum, FixedHeights, Profile, add_fault, quantized_displacement, sum_of_faults};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::parameters::{List, MAX_COORDINATE_M, ParameterError, Point, Spec, Weighted, choices, parameters};
use crate::progress::Cancelled;
use crate::random::{Rng, Stream};
use crate::rock::RockChange;

choices! {
    /// How the line of a fault is placed.
    pub enum Line {
        /// By direction and distance from the centre. The terrain is equally rough everywhere.
        NormalForm = "normal_form", "Evenly over the map";
        /// Through two random points. About twice as many faults cross the centre as the corners.
        TwoPoints = "two_points", "Through two points";
    }
}

choices! {
    /// How the displacement changes from the first fault to the last.
    pub enum Decay {
        /// The same displacement for every fault.
        Constant = "constant", "Constant";
        /// Falls linearly from Displacement to End displacement over the faults of Decay over, then stays there.
        Linear = "linear", "Linear";
        /// Displacement divided by the fault's number. A few giant faults, then finer and finer detail.
        Harmonic = "harmonic", "Harmonic (1/i)";
        /// Falls linearly to nearly zero at the last fault.
        Countdown = "countdown", "Linear to zero";
        /// Each fault is a fixed fraction of the one before.
        Exponential = "exponential", "Exponential";
        /// One of a few sizes, chosen at random by weight.
        Sizes = "sizes", "Random sizes";
    }
}

parameters! {
    /// Builds terrain from straight faults. Each fault is a line across the map that raises one side and lowers the
    /// other.
    pub struct Faults {
        /// Number of faults, one per iteration. Few faults give broad blocks; many give rugged detail.
        count: u32 = 1000, Spec::number("Count", 0.0, 1_000_000.0).slider(1.0, 5000.0).logarithmic();
        /// How the line of each fault is placed.
        line: Line = Line::NormalForm, Spec::new("Line placement");
        /// Compass direction along which faults run, clockwise from north. With a strike spread of 180° there is no main
        /// direction.
        strike_deg: f64 = 0.0, Spec::number("Strike", -360.0, 360.0).slider(0.0, 180.0).unit("°");
        /// Full angle over which directions vary around the strike. 180° allows every direction; small angles give
        /// parallel ranges.
        strike_spread_deg: f64 = 180.0, Spec::number("Strike spread", 0.0, 180.0).unit("°");
        /// Height by which the first fault raises one side and lowers the other.
        displacement_m: f64 = 20.0,
            Spec::number("Displacement", 0.0, 10_000.0).slider(0.1, 500.0).unit("m").logarithmic()
                .both_sides("profile", Profile::TWO_SIDED)
                .when("decay", &["constant", "linear", "harmonic", "countdown", "exponential"]);
        /// How the displacement changes from the first fault to the last.
        decay: Decay = Decay::Linear, Spec::new("Decay");
        /// Displacement of the last faults, which add the finest detail.
        decay_to_m: f64 = 1.0,
            Spec::number("End displacement", 0.0, 10_000.0).slider(0.0, 100.0).unit("m").when("decay", &["linear"]);
        /// Number of faults over which the linear decay takes place.
        decay_over: u32 = 600,
            Spec::number("Decay over", 0.0, 1_000_000.0).slider(1.0, 5000.0).unit("faults").logarithmic()
                .when("decay", &["linear"]);
        /// Each fault has this fraction of the displacement of the one before. Values closer to 1 decay more slowly.
        decay_rate: f64 = 0.995, Spec::number("Decay ratio", 0.0, 1.0).slider(0.9, 1.0).when("decay", &["exponential"]);
        /// Possible displacements in metres, each with a weight that sets how often it is chosen.
        sizes: List<Weighted> = vec![
                Weighted { value: 100.0, weight: 10.0 },
                Weighted { value: 20.0, weight: 150.0 },
                Weighted { value: 2.0, weight: 40.0 },
            ]
            .into(),
            Spec::number("Sizes", 0.0, 10_000.0).slider(0.0, 200.0).unit("m").when("decay", &["sizes"]);
        /// Rounds every displacement down to whole metres. Faults below 1 m have no effect.
        truncate: bool = false, Spec::new("Whole-metre displacements");
        /// Probability of a ridge rather than a trough. With other profiles than the ridge, it only changes which side
        /// of each fault rises.
        up_chance: f64 = 0.5, Spec::number("Raise probability", 0.0, 1.0);
        /// Cross-section of the faults, from cliffs to waves.
        profile: Profile = Profile::Smooth, Spec::new("Profile");
        /// Width of the fault zone on each side of the line. Wide zones give soft, rolling terrain.
        zone_m: f64 = 120.0,
            Spec::number("Fault zone", 0.0, 1_000_000.0).slider(1.0, 4000.0).unit("m").logarithmic()
                .when("profile", Profile::WITH_ZONE);
        /// Numbers of the faults to leave out, such as those that were deleted on a map.
        skipped: List<u32> = List::default(), Spec::number("Skipped faults", 1.0, 1_000_000.0).slider(1.0, 5000.0);
        /// Faults of the sequence that are edited by hand. Each keeps its place in the sequence: progressive
        /// smoothing and rivers act on it too.
        own: List<OwnFault> = List::default(), Spec::new("Edited faults").sparse();
        /// Directional smoothing that runs after every fault, so that old faults are smoother than recent ones.
        wind: Option<RecursiveFilter> = None, Spec::new("Progressive smoothing");
        /// Rivers that cut valleys every few faults, so that the range grows together with its valleys.
        rivers: Option<FaultRivers> = None, Spec::new("Rivers");
    }
}

parameters! {
    /// A fault of the sequence whose place, displacement and shape are set by hand.
    pub struct OwnFault {
        /// Its number in the sequence, counted from 1.
        i: u32 = 1, Spec::number("Number", 1.0, 1_000_000.0).slider(1.0, 1000.0);
        /// A point of its line, metres east and south of the map's north-west corner.
        point_m: Point = Point { x_m: 2048.0, z_m: 2048.0 },
            Spec::number("Point", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m");
        /// The direction to the side that rises, east and south. Its length does not matter.
        normal: Point = Point { x_m: 1.0, z_m: 0.0 }, Spec::number("Normal", -1.0, 1.0);
        /// Height by which that side rises and the other one sinks. Negative values reverse the sides.
        displacement_m: f64 = 20.0,
            Spec::number("Displacement", -10_000.0, 10_000.0).slider(-500.0, 500.0).unit("m");
        /// Cross-section of the fault, from a cliff to a wave.
        profile: Profile = Profile::Smooth, Spec::new("Profile");
        /// Width of the fault zone on each side of the line. Wide zones give soft slopes.
        zone_m: f64 = 120.0,
            Spec::number("Fault zone", 0.0, 1_000_000.0).slider(1.0, 4000.0).unit("m").logarithmic();
        /// Whether the fault has any effect.
        enabled: bool = true, Spec::new("Enabled");
    }
}

impl OwnFault {
    /// A fault of the sequence as it is, with its number.
    pub fn new(i: u32, fault: &Fault) -> Self {
        let point = |[x_m, z_m]: [f64; 2]| Point { x_m, z_m };
        Self {
            i,
            point_m: point(fault.point_m),
            normal: point(fault.normal),
            displacement_m: fault.displacement_m,
            profile: fault.profile,
            zone_m: fault.zone_m,
            enabled: true,
        }
    }

    /// The fault.
    pub fn fault(&self) -> Fault {
        let (x, z) = (self.normal.x_m, self.normal.z_m);
        let length = libm::hypot(x, z);
        // A normal that has unit length but for rounding stays as it is, so that an edited fault starts out the same.
        let normal = match length {
            0.0 => [1.0, 0.0],
            length if (length - 1.0).abs() < 1e-12 => [x, z],
            length => [x / length, z / length],
        };
        Fault {
            point_m: [self.point_m.x_m, self.point_m.z_m],
            normal,
            displacement_m: if self.enabled { quantized_displacement(self.displacement_m) } else { 0.0 },
            profile: self.profile,
            zone_m: if self.profile == Profile::Step { 0.0 } else { self.zone_m },
        }
    }
}

/// Krten redraws a pair of points closer than 2 cells of his 256² map along either side; this is that fraction.
const MIN_SEPARATION: f64 = 2.0 / 256.0;

/// Pairs of points tried before the strike is imposed on the second point. With every direction allowed, a pair is
/// rejected once in 32 draws, so the limit is reached only where the strike allows hardly any pairs.
const MAX_PAIRS: u32 = 256;

/// Two random points of the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointPair {
    pub from_m: [f64; 2],
    pub to_m: [f64; 2],
}

impl PointPair {
    pub fn random(extent: Extent, rng: &mut Rng) -> Self {
        let mut point = || [rng.unit() * extent.width_m, rng.unit() * extent.depth_m];
        Self { from_m: point(), to_m: point() }
    }

    /// The vector from the first point to the second.
    pub fn along_m(&self) -> [f64; 2] {
        [self.to_m[0] - self.from_m[0], self.to_m[1] - self.from_m[1]]
    }

    /// Whether Krten would redraw the pair.
    pub fn too_close(&self, extent: Extent) -> bool {
        let along = self.along_m();
        along[0].abs() <= MIN_SEPARATION * extent.width_m || along[1].abs() <= MIN_SEPARATION * extent.depth_m
    }
}

impl Faults {
    /// dᵢ, the displacement of fault i = 1…n without its sign, metres.
    fn displacement_m(&self, i: u32, rng: &mut Rng) -> f64 {
        let d = self.displacement_m;
        let done = f64::from(i - 1);
        // Drawn in any case, so that changing the decay does not move the lines.
        let size_at = rng.unit();
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

    /// A point on a random line within the strike's spread, and the line's unit normal.
    fn line(&self, extent: Extent, rng: &mut Rng) -> ([f64; 2], [f64; 2]) {
        match self.line {
            Line::NormalForm => {
                let normal = self.strike_normal(rng);
                // c uniform over the diagonal, from the centre of the map.
                let diagonal = libm::hypot(extent.width_m, extent.depth_m);
                let c = rng.between(-0.5, 0.5) * diagonal;
                ([0.5 * extent.width_m + c * normal[0], 0.5 * extent.depth_m + c * normal[1]], normal)
            }
            Line::TwoPoints => {
                let mut from = [0.0; 2];
                for _ in 0..MAX_PAIRS {
                    let pair = PointPair::random(extent, rng);
                    from = pair.from_m;
                    let along = pair.along_m();
                    if !pair.too_close(extent) && self.allows(along) {
                        let length = libm::hypot(along[0], along[1]);
                        return (from, [-along[1] / length, along[0] / length]);
                    }
                }
                (from, self.strike_normal(rng))
            }
        }
    }

    /// The unit normal of a line whose azimuth is uniform in strike ± spread/2, pointing to a random side.
    fn strike_normal(&self, rng: &mut Rng) -> [f64; 2] {
        let azimuth = (self.strike_deg + rng.between(-0.5, 0.5) * self.strike_spread_deg).to_radians();
        let side = if rng.chance(0.5) { 1.0 } else { -1.0 };
        // Azimuths are clockwise from north and z points south: the line runs along (sin, −cos), its normal is (cos,
        // sin).
        [side * libm::cos(azimuth), side * libm::sin(azimuth)]
    }

    /// Whether a line in that direction is within the strike's spread.
    fn allows(&self, along: [f64; 2]) -> bool {
        let azimuth_deg = libm::atan2(along[0], -along[1]).to_degrees();
        let off = (azimuth_deg - self.strike_deg).rem_euclid(180.0);
        off.min(180.0 - off) <= 0.5 * self.strike_spread_deg
    }

    /// The faults of a range of iterations.
    fn fault_range(&self, context: &EvalContext, which: RangeInclusive<u32>) -> Result<Vec<Fault>, Cancelled> {
        let fault = |i| self.summed_fault(i, context);
        which.into_par_iter().map(|i| context.progress.check().map(|()| fault(i))).collect()
    }

    /// Whether rivers run between faults that leave ridges or banks, which may be too narrow for their points.
    pub fn has_rivers_and_banks(&self) -> bool {
        self.rivers.is_some() && (self.profile.fades() || self.own.iter().any(|own| own.profile.fades()))
    }

    /// Fault i = 1…n as it is added to the terrain: wide enough for the points of rivers, which would meet narrow banks and
    /// ridges by chance.
    fn summed_fault(&self, i: u32, context: &EvalContext) -> Fault {
        let fault = self.fault(i, context.grid.extent(), context.stream);
        if self.rivers.is_none() {
            return fault;
        }
        /// The least zone in spacings of these points.
        const MIN_ZONE: f64 = 2.0;
        let points = self.working_grid(context.grid);
        fault.widened(MIN_ZONE * points.spacing_x_m().max(points.spacing_z_m()))
    }

    /// Fault i = 1…n, generated independently of the others.
    fn fault(&self, i: u32, extent: Extent, stream: Stream) -> Fault {
        if let Some(own) = self.own.iter().find(|own| own.i == i) {
            return own.fault();
        }
        let mut rng = stream.at(u64::from(i));
        let goes_up = rng.chance(self.up_chance);
        let displacement_m = quantized_displacement(self.displacement_m(i, &mut rng));
        let displacement_m = if self.skipped.contains(&i) { 0.0 } else { displacement_m };
        let (point_m, normal) = self.line(extent, &mut rng);
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
    pub(super) fn erosion(&self) -> FaultErosion<'_> {
        FaultErosion {
            faults: self,
            count: self.count,
            wind: self.wind.as_ref(),
            rivers: self.rivers.as_ref(),
            floor_m: None,
        }
    }
}

/// The size whose interval of the cumulative weights, scaled to [0, 1), contains `place`; 0 if there are no sizes.
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

impl FaultSource for Faults {
    fn add_to(&self, terrain: &mut Heightfield, fault: u32, context: &EvalContext) -> Result<(), Cancelled> {
        add_fault(terrain, &self.summed_fault(fault, context), context.progress)
    }

    fn sum(&self, faults: RangeInclusive<u32>, context: &EvalContext) -> Result<Heightfield, Cancelled> {
        sum_of_faults(context.grid, &self.fault_range(context, faults)?, context.progress)
    }
}

impl Operation for Faults {
    const KEY: &'static str = "faults";
    const LABEL: &'static str = "Faults";
    const WORDS: &'static str = "mountain range uplift block rift earthquake";

    fn uses_seed(&self) -> bool {
        true
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn warnings(&self) -> Vec<ParameterError> {
        let is_idle = self.decay == Decay::Sizes && self.sizes.is_empty();
        let message = "there are none, so the faults do nothing; add one, or choose another decay";
        let without_sizes = is_idle.then(|| ParameterError::conflict("sizes", message));
        let beyond = self.own.iter().enumerate().filter(|(_, own)| own.i > self.count).map(|(at, own)| {
            let message = format!("there are only {} faults, so number {} does nothing", self.count, own.i);
            ParameterError::conflict("i", message).within(at).within("own")
        });
        without_sizes.into_iter().chain(beyond).collect()
    }

    fn is_resumable(&self) -> bool {
        self.erosion().is_active()
    }

    fn is_pointwise(&self) -> bool {
        !self.erosion().is_active()
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        self.erosion().working_grid(grid)
    }

    fn has_own_points(&self) -> bool {
        self.erosion().has_own_points()
    }

    fn upsamples_parts(&self, grid: Grid) -> bool {
        self.erosion().upsamples_parts(grid)
    }

    fn drained_above_m(&self, until: u32) -> Option<f64> {
        self.erosion().drained_above_m(until)
    }

    fn keyframe_interval(&self) -> u32 {
        self.erosion().keyframe_interval()
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        self.erosion().preview_grid(grid)
    }

    fn faults_from(&self, first: u32, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
        Some(FaultSequence::Lines(Box::new((first.max(1)..=self.count).map(move |i| self.fault(i, extent, stream)))))
    }

    fn peak_maps(&self, grid: Grid) -> f64 {
        self.erosion().peak_maps(grid)
    }

    fn upsample_peak_maps(&self, grid: Grid) -> f64 {
        StreamPowerRefinement::peak_maps(self.working_grid(grid), grid)
    }

    fn accumulate(
        &self,
        context: &EvalContext,
        until: u32,
        from: Option<(u32, FixedHeights)>,
    ) -> Option<AccumulatedHeights> {
        (!self.erosion().is_active()).then(|| {
            let (done, onto) = from.map_or((0, None), |(done, sums)| (done, Some(sums)));
            let mut faults = self.fault_range(context, done.min(until) + 1..=done.max(until))?;
            if until < done {
                // Subtracts the later faults.
                faults.iter_mut().for_each(|fault| fault.displacement_m = -fault.displacement_m);
            }
            FaultSum { grid: context.grid, faults: &faults, progress: context.progress }.heights_and_fixed(onto)
        })
    }

    fn added_since(&self, context: &EvalContext, from: u32, until: u32) -> Option<Result<Heightfield, Cancelled>> {
        (self.rivers.is_some() && self.wind.is_none()).then(|| self.sum(from + 1..=until, context))
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        if !self.erosion().is_active() {
            return self.sum(1..=until, context);
        }
        self.erosion().evaluate(context, until, resume, &mut KeyframeSink::none())
    }

    fn evaluate_with_keyframes(
        &self,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        keyframes: &mut KeyframeSink,
    ) -> Result<Heightfield, Cancelled> {
        self.erosion().evaluate(context, until, resume, keyframes)
    }

    fn rock_change(
        &self,
        context: &EvalContext,
        until: u32,
        _below: &TerrainOnGrid,
        sediment_m: &Heightfield,
    ) -> Result<Option<RockChange>, Cancelled> {
        self.erosion().rock_change(context, until, sediment_m)
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        self.erosion().upsample(terrain, context, until)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{evaluated, evaluated_with, relative_rms, stream};
    use super::*;
    use crate::flow::WideGrid;
    use crate::inputs::Inputs;
    use crate::progress::Progress;

    #[test]
    fn a_fault_that_is_taken_over_stays_as_it_is_until_it_is_changed() {
        let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 4096.0 }, 33, 33);
        for (profile, wind) in [(Profile::Smooth, false), (Profile::Step, false), (Profile::Cosine, true)] {
            let wind = wind.then(RecursiveFilter::default);
            let random = Faults { count: 30, profile, wind, ..Default::default() };
            let terrain = |faults: &Faults| evaluated(faults, grid, None, 30);
            let mut own = random.clone();
            for i in [3, 30, 1] {
                own.own.push(OwnFault::new(i, &random.fault(i, grid.extent(), stream())));
            }
            assert_eq!(terrain(&own), terrain(&random), "{profile:?}");
            // Also after it was saved and read.
            let json = crate::parameters::group_to_json(&own);
            let read: Faults = crate::parameters::group_from_json(&json.into()).expect("valid");
            assert_eq!(terrain(&read), terrain(&random), "{profile:?}");
            own.own[0].point_m.x_m += 100.0;
            assert_ne!(terrain(&own), terrain(&random));
            own.own[0].enabled = false;
            assert_eq!(terrain(&own), terrain(&Faults { skipped: vec![3].into(), ..random }));
        }
        let beyond =
            Faults { count: 5, own: vec![OwnFault { i: 6, ..Default::default() }].into(), ..Default::default() };
        assert_eq!(beyond.warnings()[0].to_string(), "own.0.i: there are only 5 faults, so number 6 does nothing");
    }

    #[test]
    fn skipped_faults_have_no_effect_and_move_no_others() {
        let faults = Faults { count: 9, ..Default::default() };
        let extent = Extent { width_m: 900.0, depth_m: 700.0 };
        let drawn = |faults: &Faults| faults.faults(extent, stream()).map(FaultSequence::into_lines).expect("lines");
        let mut expected = drawn(&faults);
        expected[3].displacement_m = 0.0;
        assert_eq!(drawn(&Faults { skipped: vec![4, 70].into(), ..faults }), expected);
    }

    #[test]
    fn accumulation_continues_in_either_direction() {
        let faults = Faults { count: 40, ..Default::default() };
        let grid = Grid::new(Extent { width_m: 900.0, depth_m: 700.0 }, 37, 29);
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { stream: stream(), ..EvalContext::new(grid, &inputs, &progress) };
        let at = |until, from| faults.accumulate(&context, until, from).expect("a sum").expect("not cancelled");
        let (_, thirty) = at(30, None);
        for until in [0, 7, 29, 30, 31, 40] {
            assert_eq!(at(until, Some((30, thirty.clone()))).0, evaluated(&faults, grid, None, until), "{until}");
        }
        // Continuing from flat heights leaves the one fault between, added or subtracted.
        let (_, flat) = at(0, None);
        let (mut up, down) = (at(30, Some((29, flat.clone()))).0, at(29, Some((30, flat))).0);
        assert_ne!(up, down);
        up.heights_mut().iter_mut().for_each(|height| *height = -*height);
        assert_eq!(up, down);
        assert!(Faults { wind: Some(RecursiveFilter::default()), ..faults }.accumulate(&context, 3, None).is_none());
    }

    /// Terrain at the points at which rivers work.
    fn at_points(terrain: &Heightfield) -> Heightfield {
        let (wide, progress) = (WideGrid::with_default_margin(terrain.grid()), Progress::new());
        let mesh = wide.reference_mesh(1.0, &progress).expect("not cancelled");
        let extended = wide.extended(terrain, wide.grid(), &progress).expect("not cancelled");
        mesh.at_points(&extended, &progress).expect("not cancelled")
    }

    #[test]
    fn rivers_between_faults_cut_valleys_and_resume_from_keyframes() {
        let faults = |rivers| Faults { count: 60, rivers, ..Default::default() };
        let grid = Grid::new(Extent { width_m: 4000.0, depth_m: 4000.0 }, 65, 65);
        let carved = faults(Some(FaultRivers { years: 20_000.0, ..Default::default() }));
        let plain = |until| at_points(&evaluated(&faults(None), grid, None, until));
        let (first_faults, plain, eroded) = (plain(4), plain(60), evaluated(&carved, grid, None, 60));
        let pits = crate::landforms::pits_per_thousand;
        assert_ne!(plain, eroded);
        assert!(pits(&eroded) < 0.5 * pits(&plain), "{} and {}", pits(&eroded), pits(&plain));
        // The rebound keeps the mean height of the world.
        let world = WideGrid::with_default_margin(grid);
        let mean_m = |terrain: &Heightfield| {
            let heights = world.rows_of_world(terrain.heights()).flatten();
            heights.map(|&height| f64::from(height)).sum::<f64>() / grid.samples() as f64
        };
        assert!((mean_m(&eroded) - mean_m(&plain)).abs() < 0.01, "{} and {}", mean_m(&eroded), mean_m(&plain));
        assert_eq!(carved.keyframe_interval(), 5);
        let early = evaluated(&carved, grid, None, 25);
        let from = Keyframe { iteration: 25, terrain: &early };
        assert_eq!(evaluated_with(&carved, stream(), grid, None, 60, Some(from)), eroded);
        // The first faults are eroded before the first whole step.
        let (plain, young) = (first_faults, evaluated(&carved, grid, None, 4));
        assert!(plain.heights().iter().zip(young.heights()).any(|(plain, young)| (plain - young).abs() > 1.0));
    }

    #[test]
    fn rivers_do_not_meet_narrow_faults_by_chance() {
        // Ridges of 3 m, of which few reach a point of the reference grid, whose spacing is 16 m.
        let rivers = FaultRivers { years: 100.0, ..Default::default() };
        let ridges = Faults { count: 200, profile: Profile::Cosine, zone_m: 3.0, up_chance: 1.0, ..Default::default() };
        let faults = Faults { rivers: Some(rivers), ..ridges };
        let world = Extent { width_m: 4096.0, depth_m: 4096.0 };
        let [coarse, fine] = [257, 1025].map(|side| {
            let (inputs, progress) = (Inputs::default(), Progress::new());
            let grid = Grid::new(world, side, side);
            let context = EvalContext { stream: stream(), ..EvalContext::new(grid, &inputs, &progress) };
            let eroded = evaluated(&faults, faults.working_grid(grid), None, 200);
            faults.upsample(&eroded, &context, 200).expect("not cancelled")
        });
        let rms = relative_rms(&coarse, &fine);
        assert!(rms < 0.01, "{rms}");
    }

    #[test]
    fn faults_between_river_steps_may_end_anywhere() {
        let grid = Grid::new(Extent { width_m: 4000.0, depth_m: 4000.0 }, 33, 33);
        for every in [0, 1, 4, 100] {
            let rivers = FaultRivers { years: 20_000.0, every, ..Default::default() };
            let faults = Faults { count: 12, rivers: Some(rivers), ..Default::default() };
            for until in [0, 1, 7, 8, 12] {
                // Continuing from each iteration after which a keyframe can stand gives the same bytes.
                let whole = evaluated(&faults, grid, None, until);
                for iteration in (0..=until).filter(|i| i.is_multiple_of(faults.keyframe_interval())) {
                    let terrain = evaluated(&faults, grid, None, iteration);
                    let from = Some(Keyframe { iteration, terrain: &terrain });
                    let continued = evaluated_with(&faults, stream(), grid, None, until, from);
                    assert_eq!(continued, whole, "every {every}, from {iteration} to {until}");
                }
                let plain = Faults { rivers: None, ..faults.clone() };
                let uneroded = at_points(&evaluated(&plain, grid, None, until));
                let differs = whole.heights().iter().zip(uneroded.heights()).any(|(a, b)| (a - b).abs() > 1e-2);
                assert_eq!(differs, until > 0, "every {every}, until {until}");
            }
        }
    }
}
