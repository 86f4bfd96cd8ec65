//! Rivers that erode the terrain while it rises: the stream-power law (`stream_power`).

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, KeyframeSink, Operation, Role, TerrainOnGrid};
use super::river_rock::RiverRock;
use super::stream_power::{StreamPowerLaw, StreamPowerSolver};
use super::stream_power_refinement::{StreamPowerRefinement, coarser};
use crate::cast::ToFloat;
use crate::flow::{Mesh, Outlets, RoutingOptions, WideGrid};
use crate::heightfield::{Grid, Heightfield};
use crate::parameters::{Spec, choices, parameters};
use crate::progress::{Cancelled, Progress};
use crate::random::Stream;
use crate::rock::RockChange;

choices! {
    /// How tectonic uplift is distributed over the map.
    pub enum UpliftBy {
        /// The same uplift everywhere.
        Uniform = "uniform", "Uniform";
        /// Proportional to the height of the terrain below: full at the highest point, none at the lowest.
        Height = "height", "Terrain height";
    }
}

parameters! {
    /// Cuts river valleys into the terrain while tectonic uplift raises it (stream-power law). Leaves ridges, spurs and
    /// a connected valley network that drains every depression.
    pub struct FluvialErosion {
        /// Number of time steps, one per iteration. A few cut gullies; many turn the whole range into valleys.
        count: u32 = 50, Spec::number("Time steps", 0.0, 10_000.0).slider(1.0, 200.0).logarithmic();
        /// Duration of a time step. Longer steps erode more.
        years: f64 = 20_000.0,
            Spec::number("Step duration", 1.0, 10_000_000.0).slider(1000.0, 250_000.0).unit("years").logarithmic();
        /// How easily the rock erodes (K). Higher values let valleys reach inland faster and lower the terrain.
        erodibility: f64 = 10.0,
            Spec::number("Erodibility", 0.0, 10_000.0).slider(0.1, 100.0).unit("/Myr").logarithmic();
        /// How much the erodibility varies from place to place. At 0 the rock is the same everywhere, and valleys are
        /// evenly spaced. Higher values give valleys of different widths, and hard ridges between them.
        erodibility_variation: f64 = 0.0, Spec::number("Erodibility variation", 0.0, 3.0).slider(0.0, 1.0);
        /// Rate of tectonic uplift during erosion. Without uplift the terrain wears away; more uplift makes it higher
        /// and steeper.
        uplift_mm: f64 = 0.6, Spec::number("Uplift rate", 0.0, 1000.0).slider(0.0, 10.0).unit("mm/year");
        /// Whether uplift is the same everywhere or grows with the height of the terrain below this step.
        uplift_by: UpliftBy = UpliftBy::Height, Spec::new("Uplift by");
        /// How strongly erosion grows with the drainage area: m of the stream power law. Low values make all valleys
        /// alike and need a higher erodibility; high values make flat trunk valleys with steep heads.
        area_exponent: f64 = 0.5, Spec::number("Area exponent", 0.0, 1.0).slider(0.3, 0.7);
        /// How strongly erosion grows with the slope: n of the stream power law. Values above 1 make steep valley
        /// heads; values below 1 make long steep reaches.
        slope_exponent: f64 = 1.0, Spec::number("Slope exponent", 0.2, 4.0).slider(0.5, 2.0);
        /// Length of the slopes above the first streams. Short hillslopes make many gullies; long ones make broad
        /// flanks between few valleys.
        hillslope_m: f64 = 40.0,
            Spec::number("Hillslope length", 0.0, 100_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// Diffusivity of the soil. Creep rounds off ridges and valley edges, and keeps small channels from forming.
        creep: f64 = 0.0015, Spec::number("Soil creep", 0.0, 1000.0).slider(0.0, 0.05).unit("m²/year");
        /// How readily eroded material settles downstream. At 0 rivers carry all of it away. Higher values fill
        /// valleys and make fans where rivers leave the mountains.
        deposition: f64 = 0.0, Spec::number("Deposition", 0.0, 10.0).slider(0.0, 2.0);
        /// Slope at which hillsides slide. Steeper slopes break down to it, which makes straight flanks and sharp
        /// crests. Off: slopes of any steepness stand.
        critical_slope_deg: Option<f64> = Some(38.0),
            Spec::number("Critical slope", 1.0, 89.0).slider(20.0, 60.0).unit("°").none("unlimited");
        /// How much river courses deviate at random. At 0 rivers run straight down even slopes, along the eight
        /// directions of the grid.
        stray: f64 = 1.0, Spec::number("Flow randomness", 0.0, 1.0);
        /// Where rivers leave the map. With the whole border, it keeps its heights; otherwise rivers cross the border and flow
        /// on beyond it, to the chosen side.
        outlets: Outlets = Outlets::Hollows, Spec::new("Outlets");
        /// Height of a sea into which rivers flow. Terrain below it is neither uplifted nor eroded. Off: no sea.
        sea_m: Option<f64> = None,
            Spec::number("Sea level", -100_000.0, 100_000.0).slider(-1000.0, 1000.0).unit("m").fixed();
        /// Samples along the longer side of the grid on which the river network is computed, whatever the resolution
        /// of the map. Maps of a higher resolution add small valleys.
        reference_samples: u32 = 257,
            Spec::number("Simulation resolution", 17.0, 513.0).slider(65.0, 513.0).logarithmic().fixed();
    }
}

impl FluvialErosion {
    fn law(&self) -> StreamPowerLaw {
        StreamPowerLaw {
            erodibility: self.erodibility * 1e-6,
            area_exponent: self.area_exponent,
            slope_exponent: self.slope_exponent,
            hillslope_m: self.hillslope_m,
            creep_m2: self.creep,
            erodibility_variation: self.erodibility_variation,
            critical_slope: self.critical_slope_deg.map(|degrees| libm::tan(degrees.to_radians())),
            deposition: self.deposition,
        }
    }

    fn routing(&self) -> RoutingOptions {
        RoutingOptions { outlets: self.outlets, sea_m: self.sea_m.map(|sea_m| sea_m.to_f32()) }
    }

    /// The samples of a grid with those beyond the border that the rivers need. A border that keeps its heights needs none.
    fn wide(&self, grid: Grid) -> WideGrid {
        if self.outlets == Outlets::Border { WideGrid::new(grid, 0) } else { WideGrid::with_default_margin(grid) }
    }

    /// The points of the reference grid.
    fn mesh(&self, wide: WideGrid, progress: &Progress) -> Result<Mesh, Cancelled> {
        wide.reference_mesh(self.stray.to_f32(), progress)
    }

    fn solver(&self, wide: WideGrid, stream: Stream, progress: &Progress) -> Result<StreamPowerSolver, Cancelled> {
        StreamPowerSolver::new(self.mesh(wide, progress)?, self.routing(), self.law(), self.years, stream, progress)
    }

    /// The uplift of each point in one step, metres, given the terrain below at the points.
    fn uplift_m(&self, wide: WideGrid, below: Option<&Heightfield>) -> Vec<f32> {
        let step_m = (self.uplift_mm * 1e-3 * self.years).to_f32();
        match (self.uplift_by, below) {
            (UpliftBy::Height, Some(below)) => {
                let [lowest, high] = below.part(wide.world_part()).min_max();
                let low = self.sea_m.map_or(lowest, |sea_m| lowest.max(sea_m.to_f32())).min(high);
                let range = high - low;
                let share = |height: f32| if range > 0.0 { ((height - low) / range).clamp(0.0, 1.0) } else { 1.0 };
                below.heights().par_iter().with_min_len(1 << 14).map(|&height| step_m * share(height)).collect()
            }
            (UpliftBy::Uniform, _) | (UpliftBy::Height, None) => vec![step_m; wide.grid().samples()],
        }
    }

    /// Runs the time steps on the context's grid and its margin, and notes in `rock` what they do to the rock.
    fn evaluate_with_rock(
        &self,
        wide: WideGrid,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        mut rock: Option<&mut RiverRock>,
        keyframes: &mut KeyframeSink,
    ) -> Result<Heightfield, Cancelled> {
        let progress = context.progress;
        let mut solver = self.solver(wide, context.stream, progress)?;
        let below = context.below.map(|below| wide.at_points(solver.mesh(), below, progress)).transpose()?;
        let of_points = EvalContext { grid: wide.grid(), below: below.as_ref(), ..*context };
        let (done, mut terrain) = of_points.resume_or_below(resume)?;
        let counter = progress.counter((until - done) as usize);
        let uplift_m = self.uplift_m(wide, below.as_ref());
        for i in done + 1..=until {
            let before = rock.is_some().then(|| terrain.copied(progress)).transpose()?;
            solver.step(&mut terrain, Some(&uplift_m), progress)?;
            if let (Some(rock), Some(before)) = (&mut rock, before) {
                rock.note(&before, &uplift_m, &terrain, &solver.drainage);
            }
            keyframes.offer(i, &terrain, progress)?;
            counter.add_one()?;
        }
        Ok(terrain)
    }
}

impl Operation for FluvialErosion {
    const KEY: &'static str = "fluvial_erosion";
    const LABEL: &'static str = "Fluvial erosion";
    const WORDS: &'static str = "river rivers stream valley canyon gorge water erode";

    fn uses_seed(&self) -> bool {
        self.erodibility_variation > 0.0
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn adapt_to_imported_terrain(&mut self) {
        /// Long enough for valleys; without uplift, the default wears mountains down.
        const YEARS: f64 = 1000.0;
        (self.uplift_mm, self.years) = (0.0, YEARS);
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        true
    }

    fn has_own_points(&self) -> bool {
        true
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        Grid::fitted(grid.extent(), self.reference_samples as usize)
    }

    fn preview_grid(&self, grid: Grid) -> Grid {
        coarser(grid, self.working_grid(grid))
    }

    fn peak_maps(&self, grid: Grid) -> f64 {
        (3.0 + StreamPowerSolver::MAPS) * self.wide(grid).ratio()
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        self.evaluate_with_rock(self.wide(context.grid), context, until, resume, None, &mut KeyframeSink::none())
    }

    fn evaluate_with_keyframes(
        &self,
        context: &EvalContext,
        until: u32,
        resume: Option<Keyframe>,
        keyframes: &mut KeyframeSink,
    ) -> Result<Heightfield, Cancelled> {
        self.evaluate_with_rock(self.wide(context.grid), context, until, resume, None, keyframes)
    }

    fn rock_change(
        &self,
        context: &EvalContext,
        until: u32,
        below: &TerrainOnGrid,
        sediment_m: &Heightfield,
    ) -> Result<Option<RockChange>, Cancelled> {
        let (grid, progress) = (self.working_grid(context.grid), context.progress);
        let wide = self.wide(grid);
        let mesh = self.mesh(wide, progress)?;
        let mut rock = RiverRock::new(wide, &mesh, sediment_m, progress)?;
        let on_reference = below(grid)?;
        self.evaluate_with_rock(
            wide,
            &EvalContext { grid, below: Some(&on_reference), ..*context },
            until,
            None,
            Some(&mut rock),
            &mut KeyframeSink::none(),
        )?;
        rock.into_change(&mesh, Heightfield::flat(context.grid), context).map(Some)
    }

    fn upsample_peak_maps(&self, grid: Grid) -> f64 {
        StreamPowerRefinement::peak_maps(self.working_grid(grid), grid)
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
        self.upsample_with(terrain, context, until, &|grid| context.below_on(grid))
    }

    fn upsamples_parts(&self, grid: Grid) -> bool {
        StreamPowerRefinement::has_parts(self.working_grid(grid), grid)
    }

    fn drained_above_m(&self, until: u32) -> Option<f64> {
        (until > 0).then_some(self.sea_m.unwrap_or(f64::NEG_INFINITY))
    }

    fn upsample_with(
        &self,
        terrain: &Heightfield,
        context: &EvalContext,
        until: u32,
        below: &TerrainOnGrid,
    ) -> Result<Heightfield, Cancelled> {
        let progress = context.progress;
        if until == 0 {
            return below(context.grid);
        }
        let uplift_m = progress.stage(0.0..0.1, || {
            let wide = WideGrid::from_grid(terrain.grid(), context.grid.extent());
            let below = wide.at_points(&self.mesh(wide, progress)?, &below(wide.world())?, progress)?;
            Ok(self.uplift_m(wide, Some(&below)))
        })?;
        let steps = f64::from(until).to_f32();
        let refinement = StreamPowerRefinement {
            terrain,
            randomness: self.stray.to_f32(),
            routing: self.routing(),
            law: self.law(),
            years: self.years * f64::from(until),
            below,
            uplift_m: Some(uplift_m.into_iter().map(|uplift_m| steps * uplift_m).collect()),
            is_coarse: context.is_coarse,
            cache: context.cache,
        };
        progress.stage(0.1..1.0, || refinement.on_grid(context.grid, progress))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{evaluated, modified, relative_rms};
    use super::*;
    use crate::flow::Drainage;
    use crate::heightfield::Extent;
    use crate::inputs::Inputs;
    use crate::operations::faults::Faults;
    use crate::random::Stream;

    fn square(side: usize, side_m: f64) -> Grid {
        Grid::new(Extent { width_m: side_m, depth_m: side_m }, side, side)
    }

    /// The bare stream-power law, without hillslopes, creep or flow randomness.
    fn bare_law(area_exponent: f64, slope_exponent: f64) -> FluvialErosion {
        FluvialErosion {
            area_exponent,
            slope_exponent,
            uplift_mm: 1.0,
            uplift_by: UpliftBy::Uniform,
            hillslope_m: 0.0,
            creep: 0.0,
            stray: 0.0,
            outlets: Outlets::Border,
            critical_slope_deg: None,
            deposition: 0.0,
            ..Default::default()
        }
    }

    /// The terrain after steps that are long enough to reach a steady state, without a margin.
    fn steady_state(erosion: &FluvialErosion, terrain: &Heightfield, steps: u32, years: f64) -> Heightfield {
        let (grid, inputs, progress) = (terrain.grid(), Inputs::default(), Progress::new());
        let stream = Stream::new(1, 1);
        let context = EvalContext { below: Some(terrain), stream, ..EvalContext::new(grid, &inputs, &progress) };
        let erosion = FluvialErosion { years, ..erosion.clone() };
        erosion
            .evaluate_with_rock(WideGrid::new(grid, 0), &context, steps, None, None, &mut KeyframeSink::none())
            .expect("not cancelled")
    }

    /// The drainage of terrain on a grid without a margin.
    fn drainage(erosion: &FluvialErosion, terrain: &Heightfield) -> Drainage {
        let progress = Progress::new();
        let solver =
            erosion.solver(WideGrid::new(terrain.grid(), 0), Stream::new(1, 1), &progress).expect("not cancelled");
        let mut drainage = solver.drainage;
        drainage.route(terrain, &progress).expect("not cancelled");
        drainage
    }

    fn random_terrain(grid: Grid, height_m: f64) -> Heightfield {
        let mut rng = Stream::new(8, 1).at(0);
        Heightfield::from_fn(grid, |_, _| (height_m * rng.unit()) as f32)
    }

    /// The exponent and the factor of the power law fitted to the slopes of all samples over their drainage areas.
    fn fitted_slope_law(erosion: &FluvialErosion, terrain: &Heightfield) -> [f64; 2] {
        let (grid, drainage) = (terrain.grid(), drainage(erosion, terrain));
        let areas = drainage.areas_m2(&Progress::new()).expect("not cancelled");
        let position_m = |sample: usize| [grid.x_m(sample % grid.width()), grid.z_m(sample / grid.width())];
        let mut points = Vec::new();
        for (sample, &receiver) in drainage.receivers().iter().enumerate() {
            let receiver = receiver as usize;
            if receiver != sample {
                let ([x, z], [to_x, to_z]) = (position_m(sample), position_m(receiver));
                let drop_m = f64::from(terrain.heights()[sample]) - f64::from(terrain.heights()[receiver]);
                let slope = drop_m / libm::hypot(to_x - x, to_z - z);
                points.push([libm::log(f64::from(areas[sample])), libm::log(slope)]);
            }
        }
        let count = points.len() as f64;
        let [mean_x, mean_y] = [0, 1].map(|i| points.iter().map(|point| point[i]).sum::<f64>() / count);
        let slope = points.iter().map(|[x, y]| (x - mean_x) * (y - mean_y)).sum::<f64>()
            / points.iter().map(|[x, _]| (x - mean_x) * (x - mean_x)).sum::<f64>();
        [slope, libm::exp(mean_y - slope * mean_x)]
    }

    #[test]
    fn steady_state_slopes_follow_the_law() {
        check_slopes(&[(257, 0.5, 1.0), (129, 0.4, 1.0), (129, 0.6, 1.5), (129, 0.4, 0.7)]);
    }

    #[test]
    #[ignore = "slow: a larger map"]
    fn nightly_steady_state_slopes_follow_the_law() {
        check_slopes(&[(513, 0.5, 1.0), (513, 0.45, 1.2)]);
    }

    /// Samples per side, and the exponents m and n.
    fn check_slopes(cases: &[(usize, f64, f64)]) {
        for &(side, m, n) in cases {
            let erosion = bare_law(m, n);
            let terrain = steady_state(&erosion, &random_terrain(square(side, 20_000.0), 1.0), 60, 400_000.0);
            let [exponent, factor] = fitted_slope_law(&erosion, &terrain);
            // U/K in m^2m.
            let expected = libm::pow(1e-3 / 1e-5, 1.0 / n);
            println!("{side}², m {m}, n {n}: exponent {exponent:.4}, factor {factor:.2} of {expected:.2}");
            assert!((exponent + m / n).abs() <= 0.03 * m / n, "{exponent} for m/n = {}", m / n);
            assert!((factor - expected).abs() <= 0.05 * expected, "{factor}, not {expected}");
        }
    }

    #[test]
    fn a_long_profile_matches_the_analytic_solution() {
        // Every row drains west on its own: A = (L − x)·Δz, so h = U/K·Δz^−½·2·(√L − √(L − x)).
        let grid = Grid::new(Extent { width_m: 10_000.0, depth_m: 20.0 }, 1001, 3);
        let erosion = FluvialErosion { outlets: Outlets::West, ..bare_law(0.5, 1.0) };
        let terrain = steady_state(&erosion, &Heightfield::from_fn(grid, |c, _| c as f32), 20, 1e7);
        let (length_m, across_m) = (10_005.0_f64, grid.spacing_z_m());
        let expected = |x: f64| 100.0 / across_m.sqrt() * 2.0 * (length_m.sqrt() - (length_m - x).sqrt());
        let highest = expected(10_000.0);
        for c in 0..1001 {
            let (found, expected) = (f64::from(terrain[(c, 1)]), expected(grid.x_m(c)));
            assert!((found - expected).abs() < 0.01 * highest, "{found}, not {expected}, at column {c}");
        }
    }

    #[test]
    fn steady_state_slopes_grow_with_deposition() {
        // What is laid down has to be eroded again: S = ((1 + G)·U/K)^(1/n)·A^(−m/n) (Yuan et al. 2019, equation 7).
        for deposition in [0.5, 1.0] {
            let erosion = FluvialErosion { deposition, ..bare_law(0.5, 1.0) };
            let terrain = steady_state(&erosion, &random_terrain(square(129, 20_000.0), 1.0), 150, 100_000.0);
            let [exponent, factor] = fitted_slope_law(&erosion, &terrain);
            let expected = (1.0 + deposition) * 1e-3 / 1e-5;
            println!("G {deposition}: exponent {exponent:.4}, factor {factor:.2} of {expected:.2}");
            assert!((exponent + 0.5).abs() <= 0.03 * 0.5, "{exponent}");
            assert!((factor - expected).abs() <= 0.1 * expected, "{factor}, not {expected}");
        }
    }

    #[test]
    fn no_slope_exceeds_the_critical_one() {
        let steepest = |critical_slope_deg| {
            let erosion = FluvialErosion { uplift_mm: 20.0, critical_slope_deg, ..bare_law(0.5, 1.0) };
            let terrain = steady_state(&erosion, &random_terrain(square(65, 4000.0), 1.0), 40, 20_000.0);
            let drainage = drainage(&erosion, &terrain);
            let place = |sample: usize| [sample % 65, sample / 65].map(|at| 62.5 * at as f64);
            let slope = |(from, to): (usize, &u32)| {
                let ([x, z], [to_x, to_z]) = (place(from), place(*to as usize));
                let fall = f64::from(terrain.heights()[from] - terrain.heights()[*to as usize]);
                if fall > 0.0 { fall / libm::hypot(x - to_x, z - to_z) } else { 0.0 }
            };
            libm::atan(drainage.receivers().iter().enumerate().map(slope).fold(0.0, f64::max)).to_degrees()
        };
        assert!(steepest(None) > 50.0);
        let limited = steepest(Some(35.0));
        assert!((34.0..=35.5).contains(&limited), "{limited}°");
    }

    #[test]
    fn creep_alone_makes_a_parabola() {
        // D·h″ = −U between the fixed west and no flux across the eastern border, half a spacing beyond the last
        // sample.
        let grid = Grid::new(Extent { width_m: 1000.0, depth_m: 20.0 }, 101, 3);
        let erosion = FluvialErosion { erodibility: 0.0, creep: 0.5, outlets: Outlets::West, ..bare_law(0.5, 1.0) };
        let terrain = steady_state(&erosion, &Heightfield::from_fn(grid, |c, _| c as f32), 60, 1e6);
        for c in 0..101 {
            let x = grid.x_m(c);
            let expected = 1e-3 / 0.5 * (1005.0 * x - 0.5 * x * x);
            let found = f64::from(terrain[(c, 1)]);
            assert!((found - expected).abs() < 0.002 * 1000.0, "{found}, not {expected}, at column {c}");
        }
    }

    #[test]
    fn creep_leaves_level_terrain_alone_and_is_stable_at_any_step_length() {
        let erosion = FluvialErosion { erodibility: 0.0, uplift_mm: 0.0, creep: 1000.0, ..bare_law(0.5, 1.0) };
        let level = Heightfield::from_fn(square(33, 10.0), |_, _| 1234.567);
        assert_eq!(steady_state(&erosion, &level, 3, 1e7), level);
        let random = random_terrain(square(33, 10.0), 1000.0);
        for years in [1.0, 1e4, 1e7] {
            let terrain = steady_state(&erosion, &random, 2, years);
            let ([low, high], [lowest, highest]) = (terrain.min_max(), random.min_max());
            assert!(low >= lowest && high <= highest, "{low} … {high} after steps of {years} years");
        }
    }

    #[test]
    fn terrain_below_the_sea_is_unchanged_and_rivers_end_there() {
        let grid = square(65, 4000.0);
        let below = evaluated(&Faults { count: 200, ..Default::default() }, grid, None, 200);
        let [low, high] = below.min_max();
        let sea_m = f64::from(low + 0.4 * (high - low)).round();
        let erosion = FluvialErosion { sea_m: Some(sea_m), creep: 0.0, ..Default::default() };
        let points = evaluated(&erosion, grid, Some(&below), 10);
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext {
            below: Some(&below),
            stream: Stream::new(1, 1),
            ..EvalContext::new(grid, &inputs, &progress)
        };
        let terrain = erosion.upsample(&points, &context, 10).expect("not cancelled");
        let mut eroded = 0;
        let is_low = |c: usize, r: usize| f64::from(below[(c, r)]) <= sea_m;
        // What is connected to the largest part of the sea.
        let mut sea = vec![false; 65 * 65];
        let lowest = (0..65 * 65).min_by(|a, b| below.heights()[*a].total_cmp(&below.heights()[*b])).expect("samples");
        let mut reached = vec![[lowest % 65, lowest / 65]];
        while let Some([c, r]) = reached.pop() {
            if is_low(c, r) && !std::mem::replace(&mut sea[r * 65 + c], true) {
                let around = |i: usize| i.saturating_sub(1)..(i + 2).min(65);
                reached.extend(around(r).flat_map(|r| around(c).map(move |c| [c, r])));
            }
        }
        let mut hollows = 0;
        for (c, r) in (0..65).flat_map(|r| (0..65).map(move |c| (c, r))) {
            let (height, below) = (terrain[(c, r)], below[(c, r)]);
            if sea[r * 65 + c] {
                assert_eq!(height, below, "{c}, {r}");
            } else if is_low(c, r) {
                // Hollows elsewhere are part of the sea, or land if they are too small for the mesh.
                assert!(height == below || f64::from(height) > sea_m, "{c}, {r}");
                hollows += usize::from(height != below);
            } else {
                eroded += usize::from(height < below);
                assert!(f64::from(height) >= sea_m);
            }
        }
        assert!(eroded > 1000 && hollows < 5, "{eroded}, {hollows}");
    }

    #[test]
    fn continuing_from_a_keyframe_is_bit_identical() {
        let grid = square(65, 4000.0);
        let below = evaluated(&Faults { count: 100, ..Default::default() }, grid, None, 100);
        let erosion = FluvialErosion::default();
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext {
            below: Some(&below),
            stream: Stream::new(1, 1),
            ..EvalContext::new(grid, &inputs, &progress)
        };
        let at = |until, resume| erosion.evaluate(&context, until, resume).expect("not cancelled");
        let seven = at(7, None);
        assert_eq!(at(12, Some(Keyframe { iteration: 7, terrain: &seven })), at(12, None));
        let wide = WideGrid::with_default_margin(grid);
        let points = erosion.mesh(wide, &progress).and_then(|mesh| wide.at_points(&mesh, &below, &progress));
        assert_eq!(Ok(at(0, None)), points);
    }

    /// An eroded range, evaluated on the working grid and upsampled like in the evaluator.
    fn eroded_range(side: usize) -> Heightfield {
        let grid = square(side, 8192.0);
        let faults = Faults { displacement_m: 40.0, decay_to_m: 2.0, zone_m: 240.0, ..Default::default() };
        let below = evaluated(&faults, grid, None, 1000);
        let erosion = FluvialErosion { uplift_mm: 1.2, hillslope_m: 80.0, creep: 0.006, ..Default::default() };
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let working_grid = erosion.working_grid(grid);
        let coarse_below = below.resampled(working_grid, &progress).expect("not cancelled");
        let eroded = evaluated(&erosion, working_grid, Some(&coarse_below), erosion.count);
        let context = EvalContext {
            below: Some(&below),
            stream: Stream::new(1, 1),
            ..EvalContext::new(grid, &inputs, &progress)
        };
        erosion.upsample(&eroded, &context, erosion.count).expect("not cancelled")
    }

    /// The positions that drain at least a hundredth of the map.
    fn river_positions(terrain: &Heightfield) -> Vec<[f64; 2]> {
        let (grid, drainage) = (terrain.grid(), drainage(&FluvialErosion::default(), terrain));
        let areas = drainage.areas_m2(&Progress::new()).expect("not cancelled");
        let min_area_m2 = (0.01 * grid.extent().width_m * grid.extent().depth_m) as f32;
        (0..grid.samples())
            .filter(|sample| areas[*sample] >= min_area_m2)
            .map(|sample| [grid.x_m(sample % grid.width()), grid.z_m(sample / grid.width())])
            .collect()
    }

    #[test]
    fn small_and_large_maps_show_the_same_range_and_rivers() {
        let [small, large] = [257, 1025].map(eroded_range);
        let rms = relative_rms(&small, &large);
        let [of_small, of_large] = [&small, &large].map(river_positions);
        let within_m = 2.0 * small.grid().spacing_x_m();
        let overlap = |of: &[[f64; 2]], others: &[[f64; 2]]| {
            let near = |at: &&[f64; 2]| others.iter().any(|other| (0..2).all(|i| (at[i] - other[i]).abs() <= within_m));
            of.iter().filter(near).count() as f64 / of.len() as f64
        };
        let overlaps = [overlap(&of_small, &of_large), overlap(&of_large, &of_small)];
        println!("RMS {:.2} % of the range, river overlap {overlaps:.2?}", 100.0 * rms);
        assert!(rms <= 0.04, "{rms}");
        assert!(overlaps.iter().all(|overlap| *overlap >= 0.7), "{overlaps:?}");
    }

    /// The mean slope of the terrain across its border, divided by that ten samples inside.
    fn border_slope(terrain: &Heightfield) -> f64 {
        let (width, height) = (terrain.grid().width(), terrain.grid().height());
        let step = |a: [usize; 2], b: [usize; 2]| f64::from((terrain[(a[0], a[1])] - terrain[(b[0], b[1])]).abs());
        let mean_step = |inside: usize| {
            let rows = (0..height).flat_map(|r| {
                [[inside, inside + 1], [width - 1 - inside, width - 2 - inside]].map(|[a, b]| step([a, r], [b, r]))
            });
            let columns = (0..width).flat_map(|c| {
                [[inside, inside + 1], [height - 1 - inside, height - 2 - inside]].map(|[a, b]| step([c, a], [c, b]))
            });
            rows.chain(columns).sum::<f64>()
        };
        mean_step(0) / mean_step(10)
    }

    #[test]
    fn terrain_is_as_steep_at_the_border_as_inside() {
        let oblong = Grid::new(Extent { width_m: 8192.0, depth_m: 4096.0 }, 257, 129);
        for (outlets, grid) in
            [(Outlets::Hollows, oblong), (Outlets::West, oblong), (Outlets::Hollows, square(129, 4096.0))]
        {
            let below = evaluated(&Faults { count: 300, zone_m: 240.0, ..Default::default() }, grid, None, 300);
            let erosion = FluvialErosion { uplift_mm: 1.2, creep: 0.006, outlets, ..Default::default() };
            let (inputs, progress) = (Inputs::default(), Progress::new());
            let stream = Stream::new(1, 1);
            let below = Some(&below);
            let context = EvalContext { below, stream, ..EvalContext::new(grid, &inputs, &progress) };
            let slope = |wide: WideGrid| {
                let points = erosion
                    .evaluate_with_rock(wide, &context, 20, None, None, &mut KeyframeSink::none())
                    .expect("not cancelled");
                border_slope(&erosion.upsample(&points, &context, 20).expect("not cancelled"))
            };
            let [with_margin, without] = [WideGrid::with_default_margin(grid), WideGrid::new(grid, 0)].map(slope);
            println!("{outlets:?}: {with_margin}, without a margin {without}");
            assert!((0.9..1.1).contains(&with_margin), "{with_margin}");
        }
    }

    #[test]
    fn rivers_cut_through_the_rim_of_a_basin() {
        // A bowl whose rim is 50 m above its floor.
        let bowl = Heightfield::from_fn(square(33, 1000.0), |c, r| {
            let (x, z) = (c as f32 - 16.0, r as f32 - 16.0);
            let distance = (x * x + z * z).sqrt();
            100.0 - 50.0 * ((distance - 10.0) / 5.0).abs().min(1.0)
        });
        let erosion = FluvialErosion { uplift_mm: 0.0, ..bare_law(0.5, 1.0) };
        let lake_depth_m =
            |terrain: &Heightfield| drainage(&erosion, terrain).lakes_m().into_iter().fold(0.0, f32::max);
        assert!(lake_depth_m(&bowl) > 40.0);
        let after = |steps: u32| evaluated(&erosion, bowl.grid(), Some(&bowl), steps);
        assert!(lake_depth_m(&after(1)) < 1.0 && lake_depth_m(&after(20)) < 1.0);
        // The cut becomes a valley: more of the rim is 20 m lower.
        let is_low = |(before, after): (&f32, &f32)| *before > 90.0 && *after < before - 20.0;
        let low = |steps: u32| bowl.heights().iter().zip(after(steps).heights()).filter(|pair| is_low(*pair)).count();
        let [cut, valley] = [low(1), low(6)];
        assert!((1..4).contains(&cut) && valley >= 3 * cut, "{cut}, {valley}");
        assert_eq!(modified(&erosion, &bowl), bowl, "no steps, no change");
    }
}
