//! Rain that washes land down, drop by drop.
//!
//! After H. T. Beyer, "Implementation of a method for hydraulic erosion", Technische Universität München, 2015. A drop
//! lands anywhere and runs down with some inertia. Where it carries less than it could (the more, the steeper and faster
//! it runs and the more water it has) it takes up ground within a radius, and where it carries more, or runs uphill, it
//! lays some down; its water evaporates. Over the second half of its way it can carry less and less, and what is left at the
//! end it lays down there; what it carries over the
//! border is gone.
//!
//! Slopes stand where Beyer has heights of a map with cells of size 1, so that everything is in metres and a small land
//! is washed like a large one of the same shape. Drops fall in small showers. Those of one shower all run over the land
//! as it lay before it, side by side, and what they take up and lay down is counted in whole units of the displacement
//! grid and summed: the result does not depend on the order of the drops, and not a unit is lost.
//!
//! Drops run over a reference grid of the world; what they change is laid over finer land.

use rayon::prelude::*;

use super::{Keyframe, Operation, Role, EvalContext};
use crate::engine::fault::{to_exact_metres, to_units};
use crate::engine::heightfield::{Grid, MAX_HEIGHT_M, Heightfield};
use crate::engine::progress::Cancelled;
use crate::engine::parameters::{Spec, parameters};

parameters! {
    /// Washes the land down with drops of rain: gullies on the slopes, and fans of what came down at their feet.
    pub struct HydraulicErosion {
        /// How many times it rains, one an iteration.
        count: u32 = 20, Spec::number("Rains", 0.0, 10_000.0).slider(1.0, 200.0).logarithmic();
        /// How many drops fall in a rain on a square world, and fewer on an oblong one: the more, the deeper the gullies.
        drops: u32 = 1500, Spec::number("Drops", 0.0, 20_000.0).slider(100.0, 20_000.0).logarithmic();
        /// How much drops keep their direction: at 0 they turn into every dent, near 1 they shoot straight on.
        inertia: f64 = 0.1, Spec::number("Inertia", 0.0, 0.99).slider(0.0, 0.9);
        /// How much a drop can carry: small ones roughen the slopes, great ones cut deep.
        capacity: f64 = 2.0, Spec::number("Capacity", 0.0, 1000.0).slider(0.1, 32.0).logarithmic();
        /// How quickly a drop takes up what it can carry.
        erosion: f64 = 0.3, Spec::number("Taking up", 0.0, 1.0);
        /// How quickly it lays down what it cannot carry: slow deposition spreads wide fans.
        deposition: f64 = 0.3, Spec::number("Laying down", 0.0, 1.0);
        /// The share of its water that a drop loses at every step: the more, the shorter its way.
        evaporation: f64 = 0.02, Spec::number("Evaporation", 0.0, 1.0).slider(0.0, 0.2);
        /// How far around it a drop takes up ground, two samples of the reference grid at the least: the wider, the smoother
        /// the gullies.
        radius_m: f64 = 16.0, Spec::number("Radius", 0.0, 100_000.0).slider(1.0, 500.0).unit("m").logarithmic();
        /// How many steps from sample to sample a drop runs at the most.
        life: u32 = 64, Spec::number("Life", 1.0, 256.0).slider(8.0, 256.0).logarithmic();
        /// How many samples the longer side of the grid has over which drops run, at every size of map: the more, the
        /// finer the gullies.
        reference_samples: u32 = 513,
            Spec::number("Reference samples", 17.0, 1025.0).slider(129.0, 1025.0).logarithmic().fixed();
    }
}

/// Drops of a shower for each sample of the land: so few that hardly two of them take up the same ground.
const SHOWER: f64 = 1.0 / 4096.0;
/// The least slope that counts for what a drop can carry.
const LEAST_SLOPE: f64 = 0.01;
/// How much a drop may lay down at once on level ground, as a share of its step; on a slope as much as it falls.
const LEAST_LAID: f64 = 0.1;
/// How much a slope speeds a drop up.
const GRAVITY: f64 = 0.5;
/// Ground is taken up at least so many samples around the drop.
const LEAST_RADIUS: f64 = 2.0;
/// Ground is taken up within so many samples of the drop at the most.
const WIDEST: f64 = 12.0;

/// Metres as units of the displacement grid, at most so many that the sums of all drops are exact.
fn units(metres: f64) -> i64 {
    to_units(metres.min(MOST_M))
}

/// The most that a drop carries, and takes up or lays down at once, metres of a sample's ground.
const MOST_M: f64 = 1e6;

/// What a drop changes: samples, and by how many units of the displacement grid.
type Changes = Vec<(u32, i64)>;

/// The land under the drops.
struct Ground<'a> {
    rain: &'a HydraulicErosion,
    terrain: &'a Heightfield,
    spacing_m: [f64; 2],
    /// How far a drop goes in a step, metres.
    step_m: f64,
    /// The samples within the radius, as steps from the one in the middle, with weights that sum to 1.
    brush: Vec<(isize, f64)>,
    /// How many columns and rows the radius reaches.
    reach: [usize; 2],
}

/// The cell that a place lies in, and where in it.
#[derive(Clone, Copy)]
struct Place {
    c: usize,
    r: usize,
    u: f64,
    v: f64,
}

impl<'a> Ground<'a> {
    fn new(rain: &'a HydraulicErosion, terrain: &'a Heightfield) -> Self {
        let grid = terrain.grid();
        let spacing_m = [grid.spacing_x_m(), grid.spacing_z_m()];
        // Drops that took up ground at single samples would dig holes.
        let radius_m = rain.radius_m.max(LEAST_RADIUS * spacing_m[0].max(spacing_m[1]));
        let reach = spacing_m.map(|spacing_m| (radius_m / spacing_m).min(WIDEST) as isize);
        let mut brush = Vec::new();
        for south in -reach[1]..=reach[1] {
            for east in -reach[0]..=reach[0] {
                let away_m = libm::hypot(east as f64 * spacing_m[0], south as f64 * spacing_m[1]);
                let weight = 1.0 - away_m / radius_m;
                if weight > 0.0 {
                    brush.push((south * grid.width().cast_signed() + east, weight));
                }
            }
        }
        let sum: f64 = brush.iter().map(|(_, weight)| weight).sum();
        brush.iter_mut().for_each(|(_, weight)| *weight /= sum);
        let reach = reach.map(isize::unsigned_abs);
        Self { rain, terrain, spacing_m, step_m: spacing_m[0].min(spacing_m[1]), brush, reach }
    }

    /// Where a point in metres lies; `None` beyond the border.
    fn place(&self, [x_m, z_m]: [f64; 2]) -> Option<Place> {
        let grid = self.terrain.grid();
        let (x, z) = (x_m / self.spacing_m[0], z_m / self.spacing_m[1]);
        let (most_x, most_z) = ((grid.width() - 1) as f64, (grid.height() - 1) as f64);
        // Written so that it also fails for what is no number.
        if !(x >= 0.0 && z >= 0.0 && x <= most_x && z <= most_z) {
            return None;
        }
        let (c, r) = ((x as usize).min(grid.width() - 2), (z as usize).min(grid.height() - 2));
        Some(Place { c, r, u: x - c as f64, v: z - r as f64 })
    }

    /// The heights at the corners of a cell.
    fn corners(&self, Place { c, r, .. }: Place) -> [f64; 4] {
        [(c, r), (c + 1, r), (c, r + 1), (c + 1, r + 1)].map(|at| f64::from(self.terrain[at]))
    }

    fn height(&self, place: Place) -> f64 {
        let ([a, b, c, d], Place { u, v, .. }) = (self.corners(place), place);
        (a + (b - a) * u) * (1.0 - v) + (c + (d - c) * u) * v
    }

    /// The gradient, metres per metre eastward and southward.
    fn gradient(&self, place: Place) -> [f64; 2] {
        let ([a, b, c, d], Place { u, v, .. }) = (self.corners(place), place);
        let east = (b - a) * (1.0 - v) + (d - c) * v;
        let south = (c - a) * (1.0 - u) + (d - b) * u;
        [east / self.spacing_m[0], south / self.spacing_m[1]]
    }

    /// Lays down so many units at the corners around a place.
    fn lay(&self, place: Place, units: i64, changes: &mut Changes) {
        let (Place { c, r, u, v }, width) = (place, self.terrain.grid().width());
        let first = (r * width + c) as u32;
        let width = width as u32;
        let mut rest = units;
        let shares = [(first + 1, u * (1.0 - v)), (first + width, (1.0 - u) * v), (first + width + 1, u * v)];
        for (sample, share) in shares {
            let part = (units as f64 * share) as i64;
            rest -= part;
            changes.push((sample, part));
        }
        changes.push((first, rest));
    }

    /// Adds so many units around the sample nearest to a place; where the border cuts the radius off, at its corners.
    fn spread(&self, place: Place, units: i64, changes: &mut Changes) {
        let (width, height) = (self.terrain.grid().width(), self.terrain.grid().height());
        let (c, r) = (place.c + usize::from(place.u >= 0.5), place.r + usize::from(place.v >= 0.5));
        let [reach_x, reach_z] = self.reach;
        if c < reach_x || r < reach_z || c + reach_x >= width || r + reach_z >= height {
            return self.lay(place, units, changes);
        }
        let nearest = r * width + c;
        let mut rest = units;
        for &(step, weight) in &self.brush {
            let part = (units as f64 * weight) as i64;
            rest -= part;
            changes.push((nearest.wrapping_add_signed(step) as u32, part));
        }
        changes.push((nearest as u32, rest));
    }

    /// Lets a drop run from a point in metres; returns the units that it carries over the border.
    fn run(&self, mut at_m: [f64; 2], changes: &mut Changes) -> i64 {
        let rain = self.rain;
        let Some(mut place) = self.place(at_m) else { return 0 };
        let ([mut east, mut south], mut speed, mut water, mut upsample) = ([0.0; 2], 1.0, 1.0, 0_i64);
        for step in 0..rain.life {
            let [slope_east, slope_south] = self.gradient(place);
            let turn = 1.0 - rain.inertia;
            east = east * rain.inertia - slope_east * turn;
            south = south * rain.inertia - slope_south * turn;
            let length = libm::hypot(east, south);
            if length <= 1e-9 {
                break;
            }
            (east, south) = (east / length, south / length);
            at_m = [at_m[0] + east * self.step_m, at_m[1] + south * self.step_m];
            let Some(next) = self.place(at_m) else { return upsample };
            let fall_m = self.height(place) - self.height(next);
            let slope = fall_m / self.step_m;
            // Towards its end a drop lays down all that it carries, bit by bit.
            let strength = speed * water * (2.0 * f64::from(rain.life - step) / f64::from(rain.life)).min(1.0);
            let can_carry = units(slope.max(LEAST_SLOPE) * strength * rain.capacity * self.step_m);
            if fall_m < 0.0 {
                // Uphill: fills the dent behind it, as far as it can.
                let laid = upsample.min(units(-fall_m));
                self.spread(place, laid, changes);
                upsample -= laid;
            } else if upsample > can_carry {
                let laid = ((upsample - can_carry) as f64 * rain.deposition) as i64;
                let laid = laid.min(units(fall_m.max(LEAST_LAID * self.step_m)));
                self.spread(place, laid, changes);
                upsample -= laid;
            } else {
                // Never so much that the drop would stand lower than where it runs to.
                let more_m = to_exact_metres(can_carry - upsample) * rain.erosion;
                let taken = units(more_m.min(0.25 * fall_m));
                self.spread(place, -taken, changes);
                upsample += taken;
            }
            speed = (speed * speed + slope * GRAVITY).max(0.0).sqrt().min(FASTEST);
            water *= 1.0 - rain.evaporation;
            place = next;
        }
        self.spread(place, upsample, changes);
        0
    }
}

/// Drops do not become faster, however far they fall.
const FASTEST: f64 = 3.0;

impl HydraulicErosion {
    /// A rain on the land; returns the units that are carried over the border.
    fn rain(&self, terrain: &mut Heightfield, iteration: u32, context: &EvalContext) -> Result<i64, Cancelled> {
        let grid = terrain.grid();
        let extent = grid.extent();
        let mut draw = context.stream.at(u64::from(iteration));
        let longer = grid.width().max(grid.height());
        let mut left = (f64::from(self.drops) * grid.samples() as f64 / (longer * longer) as f64).ceil() as usize;
        let shower = ((SHOWER * grid.samples() as f64).ceil() as usize).max(1);
        let mut sums = vec![0_i64; grid.samples()];
        let mut gone = 0;
        while left > 0 {
            let drops: Vec<[f64; 2]> = (0..left.min(shower))
                .map(|_| [draw.unit() * extent.width_m, draw.unit() * extent.depth_m])
                .collect();
            left -= drops.len();
            let ground = Ground::new(self, terrain);
            let of_drops = |drops: &[[f64; 2]]| {
                let mut changes = Changes::new();
                let gone: i64 = drops.iter().map(|drop| ground.run(*drop, &mut changes)).sum();
                context.progress.check().map(|()| (changes, gone))
            };
            let changed: Vec<(Changes, i64)> =
                drops.par_chunks(AT_ONCE).map(of_drops).collect::<Result<_, Cancelled>>()?;
            for (sample, units) in changed.iter().flat_map(|(changes, _)| changes) {
                sums[*sample as usize] += units;
            }
            gone += changed.iter().map(|(_, gone)| gone).sum::<i64>();
            for (sample, _) in changed.iter().flat_map(|(changes, _)| changes) {
                let sum = std::mem::take(&mut sums[*sample as usize]);
                if sum != 0 {
                    let height = &mut terrain.heights_mut()[*sample as usize];
                    *height = ((f64::from(*height) + to_exact_metres(sum)) as f32).clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M);
                }
            }
            context.progress.check()?;
        }
        Ok(gone)
    }
}

/// Drops that a thread follows between two looks at the monitor.
const AT_ONCE: usize = 8;

impl Operation for HydraulicErosion {
    const KEY: &'static str = "hydraulic_erosion";
    const LABEL: &'static str = "Hydraulic erosion";

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

    /// The land below, the land, and sums of twice the size.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        4.5
    }

    fn upsample_peak_maps(&self, _grid: Grid) -> f64 {
        3.0
    }

    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (done, mut terrain) = match resume {
            Some(keyframe) => (keyframe.iteration, keyframe.terrain.copied(context.progress)?),
            None => (0, context.heights_below()?),
        };
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
    use super::super::testing::{raised, resumed};
    use super::*;
    use crate::engine::fault::quantized_displacement;
    use crate::engine::heightfield::Extent;
    use crate::engine::inputs::Inputs;
    use crate::engine::progress::Progress;
    use crate::engine::operations::faults::Faults;
    use crate::engine::random::Stream;

    fn hills(side: usize) -> Heightfield {
        let grid = Grid::new(Extent { width_m: 2000.0, depth_m: 1500.0 }, side, side);
        raised(&Faults { count: 150, ..Default::default() }, grid, None, 150)
    }

    #[test]
    fn a_drop_on_a_slope_takes_up_what_it_lays_down() {
        let slope = Heightfield::from_fn(Grid::new(Extent { width_m: 640.0, depth_m: 640.0 }, 65, 65), |c, _| c as f32);
        let rain = HydraulicErosion { evaporation: 0.2, life: 20, ..Default::default() };
        let ground = Ground::new(&rain, &slope);
        let mut changes = Changes::new();
        assert_eq!(ground.run([320.0, 320.0], &mut changes), 0);
        assert_eq!(changes.iter().map(|(_, units)| units).sum::<i64>(), 0);
        let taken: i64 = changes.iter().map(|(_, units)| *units).filter(|units| *units < 0).sum();
        assert!(taken < -to_units(0.01), "{taken}");
        // It runs straight down to the west, so nothing changes in the east or far to the side.
        for (sample, _) in changes.iter().filter(|(_, units)| *units != 0) {
            let (c, r) = (sample % 65, sample / 65);
            assert!((8..=35).contains(&c) && r.abs_diff(32) <= 3, "({c}, {r})");
        }
        // Near the border it leaves with what it has taken up.
        changes.clear();
        let gone = ground.run([60.0, 320.0], &mut changes);
        assert!(gone > 0 && gone == -changes.iter().map(|(_, units)| units).sum::<i64>());
    }

    #[test]
    fn level_ground_stays_as_it_is() {
        let level = Heightfield::from_fn(Grid::new(Extent { width_m: 64.0, depth_m: 64.0 }, 33, 33), |_, _| 55.5);
        assert_eq!(raised(&HydraulicErosion::default(), level.grid(), Some(&level), 5), level);
    }

    #[test]
    fn what_leaves_the_ground_lies_elsewhere_or_is_carried_away() {
        let terrain = hills(129);
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context =
            EvalContext { grid: terrain.grid(), below: None, stream: Stream::new(2, 1), inputs: &inputs, progress: &progress };
        // On the displacement grid, so that adding units loses nothing to rounding.
        let mut washed = Heightfield::from_fn(terrain.grid(), |c, r| quantized_displacement(f64::from(terrain[(c, r)])) as f32);
        let sum = |terrain: &Heightfield| terrain.heights().iter().copied().map(f64::from).sum::<f64>();
        let before = sum(&washed);
        let unwashed = washed.clone();
        let mut gone = 0;
        for iteration in 1..=10 {
            gone += HydraulicErosion::default().rain(&mut washed, iteration, &context).expect("not cancelled");
        }
        let [low, high] = terrain.min_max();
        let lost = before - sum(&washed) - to_exact_metres(gone);
        assert!(gone > 0);
        assert!(lost.abs() <= 1e-6 * f64::from(high - low) * terrain.grid().samples() as f64, "{lost} m");
        let moved: f64 =
            washed.heights().iter().zip(unwashed.heights()).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>();
        assert!(moved > 100.0 * lost.abs() && moved > 100.0, "{moved} m moved");
    }

    #[test]
    fn rain_goes_on_from_a_keyframe_as_if_it_had_not_stopped() {
        let (rain, flat) = (HydraulicErosion::default(), hills(65));
        let third = raised(&rain, flat.grid(), Some(&flat), 3);
        let on = resumed(&rain, Keyframe { iteration: 3, terrain: &third }, 5);
        assert_eq!(on, raised(&rain, flat.grid(), Some(&flat), 5));
        assert_ne!(on, third);
    }
}
