//! Hydraulic erosion by simulated raindrops.
//!
//! After H. T. Beyer, "Implementation of a method for hydraulic erosion", Technische Universität München, 2015. A drop
//! falls at a random position and runs downhill with some inertia. Its sediment capacity grows with slope, speed and
//! water. While it carries less it erodes material within a radius; while it carries more, or runs uphill, it deposits;
//! its water evaporates. Over the second half of its lifetime the capacity falls to zero, so that it deposits the rest;
//! sediment carried over the border is lost.
//!
//! Where Beyer uses height differences on cells of size 1, slopes are used here, so that everything is in metres and a
//! small terrain erodes like a large one of the same shape. Drops fall in small batches. All drops of a batch run over
//! the same terrain in parallel, and their changes are summed in integer units of the displacement grid: the result
//! does not depend on the order of the drops, and mass is conserved exactly.
//!
//! Drops run on a reference grid; their changes are upsampled to finer grids.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::{ToFloat, ToInteger};
use crate::fault::{to_exact_metres, to_units};
use crate::heightfield::{Grid, Heightfield, MAX_HEIGHT_M};
use crate::parameters::{Spec, parameters};
use crate::progress::Cancelled;

parameters! {
    /// Erodes the terrain with simulated raindrops. Cuts gullies into slopes and deposits fans at their feet.
    pub struct HydraulicErosion {
        /// Number of rainfalls, one per iteration.
        count: u32 = 20, Spec::number("Rainfalls", 0.0, 10_000.0).slider(1.0, 200.0).logarithmic();
        /// Number of drops per rainfall on a square map, and proportionally fewer on other maps. More drops make
        /// deeper gullies.
        drops: u32 = 1500, Spec::number("Drops", 0.0, 20_000.0).slider(100.0, 20_000.0).logarithmic();
        /// How much drops keep their direction. At 0 they follow every dent; near 1 they run straight on.
        inertia: f64 = 0.1, Spec::number("Inertia", 0.0, 0.99).slider(0.0, 0.9);
        /// Amount of sediment that a drop can carry. Low values roughen the slopes; high values cut deep.
        capacity: f64 = 2.0, Spec::number("Sediment capacity", 0.0, 1000.0).slider(0.1, 32.0).logarithmic();
        /// How quickly a drop picks up sediment.
        erosion: f64 = 0.3, Spec::number("Erosion rate", 0.0, 1.0);
        /// How quickly a drop deposits excess sediment. Slow deposition makes wide fans.
        deposition: f64 = 0.3, Spec::number("Deposition rate", 0.0, 1.0);
        /// Fraction of its water that a drop loses at every step. Higher values make shorter gullies.
        evaporation: f64 = 0.02, Spec::number("Evaporation rate", 0.0, 1.0).slider(0.0, 0.2);
        /// Radius within which a drop erodes and deposits, limited to 2 to 12 samples of the simulation. Wider radii
        /// make smoother gullies.
        radius_m: f64 = 16.0, Spec::number("Radius", 0.0, 100_000.0).slider(1.0, 500.0).unit("m").logarithmic();
        /// Maximum number of steps of a drop, from sample to sample.
        life: u32 = 64, Spec::number("Lifetime", 1.0, 256.0).slider(8.0, 256.0).unit("steps").logarithmic();
        /// Samples along the longer side of the grid on which drops run, whatever the resolution of the map. Higher values
        /// make finer gullies.
        reference_samples: u32 = 513,
            Spec::number("Simulation resolution", 17.0, 1025.0).slider(129.0, 1025.0).logarithmic().fixed();
    }
}

/// Drops of a batch per sample: few enough that two rarely erode the same position.
const BATCH: f64 = 1.0 / 4096.0;
/// The smallest slope used for the sediment capacity.
const MIN_SLOPE: f64 = 0.01;
/// The maximum deposit at once on level terrain, as a fraction of a step; on a slope it is the drop's descent.
const MAX_LEVEL_DEPOSIT: f64 = 0.1;
/// How much a slope accelerates a drop.
const GRAVITY: f64 = 0.5;
/// The maximum speed of a drop.
const MAX_SPEED: f64 = 3.0;
/// The smallest erosion radius, in samples.
const MIN_RADIUS: f64 = 2.0;
/// The largest erosion radius, in samples.
const MAX_RADIUS: f64 = 12.0;
/// The maximum amount that a drop carries, erodes or deposits at once, in metres on one sample.
const MAX_SEDIMENT_M: f64 = 1e6;
/// Drops that a thread simulates between two checks for cancellation.
const CHECK_EVERY: usize = 8;

/// Metres as units of the displacement grid, limited so that the sums of all drops are exact.
fn units(metres: f64) -> i64 {
    to_units(metres.min(MAX_SEDIMENT_M))
}

/// The changes of the heights: sample and units of the displacement grid.
type Changes = Vec<(u32, i64)>;

/// The terrain under the drops of a batch.
struct DropSimulation<'a> {
    settings: &'a HydraulicErosion,
    terrain: &'a Heightfield,
    spacing_m: [f64; 2],
    /// The length of a drop's step, metres.
    step_m: f64,
    /// The index offsets of the samples within the radius, with weights that add up to 1.
    brush: Vec<(isize, f64)>,
    /// The radius in columns and rows.
    reach: [usize; 2],
}

/// A cell and the position in it.
#[derive(Clone, Copy)]
struct CellPosition {
    c: usize,
    r: usize,
    u: f64,
    v: f64,
}

impl<'a> DropSimulation<'a> {
    fn new(settings: &'a HydraulicErosion, terrain: &'a Heightfield) -> Self {
        let grid = terrain.grid();
        let spacing_m = [grid.spacing_x_m(), grid.spacing_z_m()];
        // Eroding single samples would dig holes.
        let radius_m = settings.radius_m.max(MIN_RADIUS * spacing_m[0].max(spacing_m[1]));
        let reach = spacing_m.map(|spacing_m| (radius_m / spacing_m).min(MAX_RADIUS).to_isize());
        let mut brush = Vec::new();
        for south in -reach[1]..=reach[1] {
            for east in -reach[0]..=reach[0] {
                let away_m = libm::hypot(east.to_f64() * spacing_m[0], south.to_f64() * spacing_m[1]);
                let weight = 1.0 - away_m / radius_m;
                if weight > 0.0 {
                    brush.push((south * grid.width().cast_signed() + east, weight));
                }
            }
        }
        let sum: f64 = brush.iter().map(|(_, weight)| weight).sum();
        brush.iter_mut().for_each(|(_, weight)| *weight /= sum);
        let reach = reach.map(isize::unsigned_abs);
        Self { settings, terrain, spacing_m, step_m: spacing_m[0].min(spacing_m[1]), brush, reach }
    }

    /// The cell of a point in metres; `None` beyond the border.
    fn position(&self, [x_m, z_m]: [f64; 2]) -> Option<CellPosition> {
        let grid = self.terrain.grid();
        let (x, z) = (x_m / self.spacing_m[0], z_m / self.spacing_m[1]);
        let (max_x, max_z) = ((grid.width() - 1).to_f64(), (grid.height() - 1).to_f64());
        // Written so that NaN fails too.
        if !(x >= 0.0 && z >= 0.0 && x <= max_x && z <= max_z) {
            return None;
        }
        let (c, r) = (x.to_usize().min(grid.width() - 2), z.to_usize().min(grid.height() - 2));
        Some(CellPosition { c, r, u: x - c.to_f64(), v: z - r.to_f64() })
    }

    /// The heights at the corners of a cell.
    fn corners(&self, CellPosition { c, r, .. }: CellPosition) -> [f64; 4] {
        [(c, r), (c + 1, r), (c, r + 1), (c + 1, r + 1)].map(|at| f64::from(self.terrain[at]))
    }

    fn height(&self, position: CellPosition) -> f64 {
        let ([a, b, c, d], CellPosition { u, v, .. }) = (self.corners(position), position);
        (a + (b - a) * u) * (1.0 - v) + (c + (d - c) * u) * v
    }

    /// The gradient, metres per metre eastward and southward.
    fn gradient(&self, position: CellPosition) -> [f64; 2] {
        let ([a, b, c, d], CellPosition { u, v, .. }) = (self.corners(position), position);
        let east = (b - a) * (1.0 - v) + (d - c) * v;
        let south = (c - a) * (1.0 - u) + (d - b) * u;
        [east / self.spacing_m[0], south / self.spacing_m[1]]
    }

    /// Adds units at the corners of the cell.
    fn add_to_corners(&self, position: CellPosition, units: i64, changes: &mut Changes) {
        let (CellPosition { c, r, u, v }, width) = (position, self.terrain.grid().width());
        let first = (r * width + c).to_u32();
        let width = width.to_u32();
        let mut rest = units;
        let shares = [(first + 1, u * (1.0 - v)), (first + width, (1.0 - u) * v), (first + width + 1, u * v)];
        for (sample, share) in shares {
            let part = (units.to_f64() * share).to_i64();
            rest -= part;
            changes.push((sample, part));
        }
        changes.push((first, rest));
    }

    /// Adds units around the nearest sample; where the border intersects the radius, at the corners of the cell.
    fn spread(&self, position: CellPosition, units: i64, changes: &mut Changes) {
        let (width, height) = (self.terrain.grid().width(), self.terrain.grid().height());
        let (c, r) = (position.c + usize::from(position.u >= 0.5), position.r + usize::from(position.v >= 0.5));
        let [reach_x, reach_z] = self.reach;
        if c < reach_x || r < reach_z || c + reach_x >= width || r + reach_z >= height {
            return self.add_to_corners(position, units, changes);
        }
        let nearest = r * width + c;
        let mut rest = units;
        for &(step, weight) in &self.brush {
            let part = (units.to_f64() * weight).to_i64();
            rest -= part;
            changes.push((nearest.wrapping_add_signed(step).to_u32(), part));
        }
        changes.push((nearest.to_u32(), rest));
    }

    /// Simulates a drop from a point in metres and returns the units of sediment that it carries over the border.
    fn run(&self, mut at_m: [f64; 2], changes: &mut Changes) -> i64 {
        let settings = self.settings;
        let Some(mut position) = self.position(at_m) else { return 0 };
        let ([mut east, mut south], mut speed, mut water, mut sediment) = ([0.0; 2], 1.0, 1.0, 0_i64);
        for step in 0..settings.life {
            let [slope_east, slope_south] = self.gradient(position);
            let turn = 1.0 - settings.inertia;
            east = east * settings.inertia - slope_east * turn;
            south = south * settings.inertia - slope_south * turn;
            let length = libm::hypot(east, south);
            if length <= 1e-9 {
                break;
            }
            (east, south) = (east / length, south / length);
            at_m = [at_m[0] + east * self.step_m, at_m[1] + south * self.step_m];
            let Some(next) = self.position(at_m) else { return sediment };
            let fall_m = self.height(position) - self.height(next);
            let slope = fall_m / self.step_m;
            // Over the second half of its lifetime the drop gradually deposits all its sediment.
            let strength = speed * water * (2.0 * f64::from(settings.life - step) / f64::from(settings.life)).min(1.0);
            let capacity = units(slope.max(MIN_SLOPE) * strength * settings.capacity * self.step_m);
            if fall_m < 0.0 {
                // Uphill: fill the dent as far as possible.
                let deposited = sediment.min(units(-fall_m));
                self.spread(position, deposited, changes);
                sediment -= deposited;
            } else if sediment > capacity {
                let deposited = ((sediment - capacity).to_f64() * settings.deposition).to_i64();
                let deposited = deposited.min(units(fall_m.max(MAX_LEVEL_DEPOSIT * self.step_m)));
                self.spread(position, deposited, changes);
                sediment -= deposited;
            } else {
                // Limited so that the eroded place does not become lower than the next one.
                let eroded_m = to_exact_metres(capacity - sediment) * settings.erosion;
                let eroded = units(eroded_m.min(0.25 * fall_m));
                self.spread(position, -eroded, changes);
                sediment += eroded;
            }
            speed = (speed * speed + slope * GRAVITY).max(0.0).sqrt().min(MAX_SPEED);
            water *= 1.0 - settings.evaporation;
            position = next;
        }
        self.spread(position, sediment, changes);
        0
    }
}

impl HydraulicErosion {
    /// Simulates a rainfall and returns the units of sediment that are lost over the border.
    fn rain(&self, terrain: &mut Heightfield, iteration: u32, context: &EvalContext) -> Result<i64, Cancelled> {
        let grid = terrain.grid();
        let extent = grid.extent();
        let mut rng = context.stream.at(u64::from(iteration));
        let longer = grid.width().max(grid.height());
        let mut left = (f64::from(self.drops) * grid.samples().to_f64() / (longer * longer).to_f64()).ceil().to_usize();
        let batch = (BATCH * grid.samples().to_f64()).ceil().to_usize().max(1);
        let mut sums = vec![0_i64; grid.samples()];
        let mut lost = 0;
        while left > 0 {
            let drops: Vec<[f64; 2]> =
                (0..left.min(batch)).map(|_| [rng.unit() * extent.width_m, rng.unit() * extent.depth_m]).collect();
            left -= drops.len();
            let simulation = DropSimulation::new(self, terrain);
            let of_drops = |drops: &[[f64; 2]]| {
                let mut changes = Changes::new();
                let lost: i64 = drops.iter().map(|drop| simulation.run(*drop, &mut changes)).sum();
                context.progress.check().map(|()| (changes, lost))
            };
            let changed: Vec<(Changes, i64)> =
                drops.par_chunks(CHECK_EVERY).map(of_drops).collect::<Result<_, Cancelled>>()?;
            for (sample, units) in changed.iter().flat_map(|(changes, _)| changes) {
                sums[*sample as usize] += units;
            }
            lost += changed.iter().map(|(_, lost)| lost).sum::<i64>();
            for (sample, _) in changed.iter().flat_map(|(changes, _)| changes) {
                let sum = std::mem::take(&mut sums[*sample as usize]);
                if sum != 0 {
                    let height = &mut terrain.heights_mut()[*sample as usize];
                    *height = (f64::from(*height) + to_exact_metres(sum)).to_f32().clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M);
                }
            }
            context.progress.check()?;
        }
        Ok(lost)
    }
}

impl Operation for HydraulicErosion {
    const KEY: &'static str = "hydraulic_erosion";
    const LABEL: &'static str = "Hydraulic erosion";
    const WORDS: &'static str = "rain water droplet gully erode";

    fn uses_seed(&self) -> bool {
        true
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn iterations(&self) -> u32 {
        self.count
    }

    fn is_resumable(&self) -> bool {
        true
    }

    fn working_grid(&self, grid: Grid) -> Grid {
        Grid::fitted(grid.extent(), self.reference_samples as usize)
    }

    /// The terrain below, the result, and the sums, which are twice as large.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        4.5
    }

    fn upsample_peak_maps(&self, _grid: Grid) -> f64 {
        3.0
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (done, mut terrain) = context.resume_or_below(resume)?;
        let counter = context.progress.counter((until - done) as usize);
        for iteration in done + 1..=until {
            self.rain(&mut terrain, iteration, context)?;
            counter.add_one()?;
        }
        Ok(terrain)
    }

    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, _until: u32) -> Result<Heightfield, Cancelled> {
        context.upsample_change(terrain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{evaluated, resumed};
    use super::*;
    use crate::fault::quantized_displacement;
    use crate::heightfield::Extent;
    use crate::inputs::Inputs;
    use crate::operations::faults::Faults;
    use crate::progress::Progress;
    use crate::random::Stream;

    fn hills(side: usize) -> Heightfield {
        let grid = Grid::new(Extent { width_m: 2000.0, depth_m: 1500.0 }, side, side);
        evaluated(&Faults { count: 150, ..Default::default() }, grid, None, 150)
    }

    #[test]
    fn a_drop_on_a_slope_deposits_what_it_erodes() {
        let slope = Heightfield::from_fn(Grid::new(Extent { width_m: 640.0, depth_m: 640.0 }, 65, 65), |c, _| c as f32);
        let rain = HydraulicErosion { evaporation: 0.2, life: 20, ..Default::default() };
        let simulation = DropSimulation::new(&rain, &slope);
        let mut changes = Changes::new();
        assert_eq!(simulation.run([320.0, 320.0], &mut changes), 0);
        assert_eq!(changes.iter().map(|(_, units)| units).sum::<i64>(), 0);
        let taken: i64 = changes.iter().map(|(_, units)| *units).filter(|units| *units < 0).sum();
        assert!(taken < -to_units(0.01), "{taken}");
        // It runs straight down to the west, so nothing changes in the east or far to the sides.
        for (sample, _) in changes.iter().filter(|(_, units)| *units != 0) {
            let (c, r) = (sample % 65, sample / 65);
            assert!((8..=35).contains(&c) && r.abs_diff(32) <= 3, "({c}, {r})");
        }
        // Near the border it leaves the map with its sediment.
        changes.clear();
        let over_border = simulation.run([60.0, 320.0], &mut changes);
        assert!(over_border > 0 && over_border == -changes.iter().map(|(_, units)| units).sum::<i64>());
    }

    #[test]
    fn level_terrain_is_unchanged() {
        let level = Heightfield::from_fn(Grid::new(Extent { width_m: 64.0, depth_m: 64.0 }, 33, 33), |_, _| 55.5);
        assert_eq!(evaluated(&HydraulicErosion::default(), level.grid(), Some(&level), 5), level);
    }

    #[test]
    fn mass_is_conserved_except_for_sediment_lost_over_the_border() {
        let terrain = hills(129);
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { stream: Stream::new(2, 1), ..EvalContext::new(terrain.grid(), &inputs, &progress) };
        // Quantized, so that adding units loses nothing to rounding.
        let mut eroded =
            Heightfield::from_fn(terrain.grid(), |c, r| quantized_displacement(f64::from(terrain[(c, r)])) as f32);
        let sum = |terrain: &Heightfield| terrain.heights().iter().copied().map(f64::from).sum::<f64>();
        let before = sum(&eroded);
        let uneroded = eroded.clone();
        let mut over_border = 0;
        for iteration in 1..=10 {
            over_border += HydraulicErosion::default().rain(&mut eroded, iteration, &context).expect("not cancelled");
        }
        let [low, high] = terrain.min_max();
        let lost = before - sum(&eroded) - to_exact_metres(over_border);
        assert!(over_border > 0);
        assert!(lost.abs() <= 1e-6 * f64::from(high - low) * terrain.grid().samples() as f64, "{lost} m");
        let moved: f64 =
            eroded.heights().iter().zip(uneroded.heights()).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>();
        assert!(moved > 100.0 * lost.abs() && moved > 100.0, "{moved} m moved");
    }

    #[test]
    fn resuming_from_a_keyframe_is_bit_identical() {
        let (rain, flat) = (HydraulicErosion::default(), hills(65));
        let third = evaluated(&rain, flat.grid(), Some(&flat), 3);
        let on = resumed(&rain, Keyframe { iteration: 3, terrain: &third }, 5);
        assert_eq!(on, evaluated(&rain, flat.grid(), Some(&flat), 5));
        assert_ne!(on, third);
    }
}
