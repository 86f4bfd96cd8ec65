//! The fastest routes over the terrain.
//!
//! Dijkstra's algorithm (Numerische Mathematik 1, 1959) over the samples, each connected to 48 others, with a queue of
//! buckets that are shorter than the fastest move, so that no order is needed within a bucket (E. A. Dinitz 1978). On
//! level terrain with square cells a route is at most 0.8 % longer than the straight line, in the middle between two
//! of the directions.

use super::ground::{Cell, Ground, NearSample};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Grid;
use crate::level::{Agent, SlopeSpeed};
use crate::progress::{Cancelled, Progress};

/// The columns and rows of the moves into the first of eight octants: the others mirror them.
const MOVES: [[isize; 2]; 7] = [[1, 0], [1, 1], [2, 1], [3, 1], [3, 2], [4, 1], [4, 3]];

/// The directions of drops.
const DROPS: [[isize; 2]; 8] = [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]];

/// The steepest slope that slows down a hiker further, metres per metre: 63°.
const STEEPEST: f32 = 2.0;

/// The fastest slope of a hiker, downhill, metres per metre, and how fast the speed falls from there: Tobler, "Three
/// presentations on geographical analysis and modeling", 1993: 6 km/h · exp(−3.5·|tan θ + 0.05|).
const TOBLER: [f32; 2] = [-0.05, 3.5];

/// A move from a sample to another.
#[derive(Clone, Debug)]
struct Move {
    columns: isize,
    rows: isize,
    /// The index of the sample to which it leads, relative to the one where it begins.
    offset: isize,
    /// The length on the map, metres.
    length_m: f32,
    /// No slope makes it faster, seconds.
    least_s: f32,
    /// Where a longer move crosses the rows or columns between its ends.
    crossings: Vec<Crossing>,
}

/// A place between two samples, both by their indices relative to the sample of a move, as the fraction of the distance to
/// the second.
type Crossing = ([isize; 2], f32);

/// The times that it takes to get from a place to every sample.
#[derive(Clone, Debug)]
pub struct Travel {
    /// Row by row, seconds; infinite without a route.
    seconds: Vec<f32>,
    /// The sample before each on the route, by index; the sample itself where the route begins and without a route.
    before: Vec<u32>,
}

impl Travel {
    /// The fastest routes from any of these samples, each of which is first reached from the place that it is near.
    pub fn from(ground: &Ground, starts: &[NearSample], progress: &Progress) -> Result<Self, Cancelled> {
        let grid = ground.grid();
        let pace = Timing::new(ground.agent());
        let moves = moves(grid, &pace);
        let drops = drops(ground, progress)?;
        let shortest_m = moves.iter().map(|found| found.length_m).fold(f32::INFINITY, f32::min);
        // Slightly narrower than the fastest move, against rounding.
        let mut front = Front {
            seconds: vec![f32::INFINITY; grid.samples()],
            before: (0..grid.samples()).map(ToInteger::to_u32).collect(),
            queue: Queue::new(0.999 * shortest_m * pace.fastest_s_m),
        };
        for start in starts {
            front.reach(start.sample, start.sample, pace.straight(start.flat_m, start.rise_m));
        }
        let mut settled = vec![false; grid.samples()];
        let [width, height] = [grid.width(), grid.height()].map(ToInteger::to_isize);
        let heights = ground.terrain().heights();
        while let Some(bucket) = front.queue.next_bucket() {
            progress.check()?;
            for sample in bucket {
                let at = sample as usize;
                if std::mem::replace(&mut settled[at], true) {
                    continue;
                }
                let [c, r] = [at.to_isize() % width, at.to_isize() / width];
                let at_s = front.seconds[at];
                for found in &moves {
                    let [column, row] = [c + found.columns, r + found.rows];
                    if column < 0 || row < 0 || column >= width || row >= height {
                        continue;
                    }
                    let to = at.wrapping_add_signed(found.offset);
                    // Most samples have been reached as fast already.
                    if at_s + found.least_s >= front.seconds[to] || !ground.is_walkable(to) {
                        continue;
                    }
                    // Where an agent stands on both sides of each crossing, all cells between are open.
                    let mut crossed = found.crossings.iter().flat_map(|(beside, _)| beside);
                    if crossed.all(|offset| ground.is_walkable(at.wrapping_add_signed(*offset))) {
                        front.reach(at, to, at_s + pace.seconds(found, heights, at));
                    }
                }
                let first = drops.partition_point(|drop| drop.from < sample);
                for drop in drops[first..].iter().take_while(|drop| drop.from == sample) {
                    front.reach(at, drop.to as usize, at_s + drop.length_m * pace.level_s_m);
                }
            }
        }
        Ok(Self { seconds: front.seconds, before: front.before })
    }

    /// The times to every sample, seconds, row by row; infinite without a route.
    pub fn seconds(&self) -> &[f32] {
        &self.seconds
    }

    /// The samples on the route to a sample, from its start; `None` if there is none.
    pub fn route_to(&self, sample: usize) -> Option<Vec<usize>> {
        self.seconds[sample].is_finite().then(|| {
            let step = |at: &usize| Some(self.before[*at] as usize).filter(|before| before != at);
            let mut route: Vec<usize> = std::iter::successors(Some(sample), step).collect();
            route.reverse();
            route
        })
    }
}

/// What has been reached so far, as in [`Travel`], and the samples from which to go on.
struct Front {
    seconds: Vec<f32>,
    before: Vec<u32>,
    queue: Queue,
}

impl Front {
    /// Reaches a sample from another after so many seconds, unless it was reached before that.
    fn reach(&mut self, from: usize, to: usize, at_s: f32) {
        if at_s < self.seconds[to] {
            (self.seconds[to], self.before[to]) = (at_s, from.to_u32());
            self.queue.push(at_s, to.to_u32());
        }
    }
}

/// How long an agent takes for a metre.
pub(super) struct Timing {
    pace: SlopeSpeed,
    level_s_m: f32,
    fastest_s_m: f32,
}

impl Timing {
    pub(super) fn new(agent: &Agent) -> Self {
        let level_s_m = (1.0 / agent.speed_m_s).to_f32();
        let [fastest, falloff] = TOBLER;
        let fastest_s_m = match agent.pace {
            SlopeSpeed::Constant => level_s_m,
            SlopeSpeed::Tobler => level_s_m * libm::expf(falloff * fastest),
        };
        Self { pace: agent.pace, level_s_m, fastest_s_m }
    }

    /// The seconds for a piece of so many metres on the map that rises by so much.
    fn piece(&self, length_m: f32, rise_m: f32) -> f32 {
        let along_m = (length_m * length_m + rise_m * rise_m).sqrt();
        match self.pace {
            SlopeSpeed::Constant => along_m * self.level_s_m,
            SlopeSpeed::Tobler => {
                let [fastest, falloff] = TOBLER;
                let slope = (rise_m / length_m).clamp(-STEEPEST, STEEPEST);
                along_m * self.level_s_m * libm::expf(falloff * ((slope - fastest).abs() + fastest))
            }
        }
    }

    /// The seconds for a straight line, which may have no length, of so many metres on the map that rises by so much.
    pub(super) fn straight(&self, flat_m: f64, rise_m: f64) -> f32 {
        if flat_m > 0.0 { self.piece(flat_m.to_f32(), rise_m.to_f32()) } else { 0.0 }
    }

    /// The seconds for a move from a sample, in pieces from one row or column to the next.
    fn seconds(&self, found: &Move, heights: &[f32], from: usize) -> f32 {
        let height = |offset: isize| heights[from.wrapping_add_signed(offset)];
        let piece_m = found.length_m / (found.crossings.len() + 1).to_f32();
        let (mut seconds, mut last_m) = (0.0, height(0));
        for ([near, far], share) in &found.crossings {
            let near_m = height(*near);
            let height_m = near_m + share * (height(*far) - near_m);
            seconds += self.piece(piece_m, height_m - last_m);
            last_m = height_m;
        }
        seconds + self.piece(piece_m, height(found.offset) - last_m)
    }
}

/// All 48 moves.
fn moves(grid: Grid, pace: &Timing) -> Vec<Move> {
    let width = grid.width().to_isize();
    let offset = |[columns, rows]: [isize; 2]| rows * width + columns;
    let mut found = Vec::new();
    for [long, short] in MOVES {
        let mut octants: Vec<[isize; 2]> = Vec::new();
        for [columns, rows] in [[long, short], [short, long]] {
            for [x, z] in [[1, 1], [1, -1], [-1, 1], [-1, -1]] {
                let direction = [x * columns, z * rows];
                if !octants.contains(&direction) {
                    octants.push(direction);
                }
            }
        }
        found.extend(octants.into_iter().map(|[columns, rows]| {
            let (x_m, z_m) = (columns.to_f64() * grid.spacing_x_m(), rows.to_f64() * grid.spacing_z_m());
            let length_m = libm::hypot(x_m, z_m).to_f32();
            // Slightly less, because the sum of the pieces is rounded.
            let least_s = (1.0 - 1e-5) * length_m * pace.fastest_s_m;
            let crossings = crossings([columns, rows]).map(|(beside, share)| (beside.map(offset), share)).collect();
            Move { columns, rows, offset: offset([columns, rows]), length_m, least_s, crossings }
        }));
    }
    found
}

/// Where a move crosses the columns between its ends, or the rows if there are more of them: between which two places,
/// columns and rows from its beginning, and at which fraction of the distance to the second.
fn crossings([columns, rows]: [isize; 2]) -> impl Iterator<Item = ([[isize; 2]; 2], f32)> {
    let is_along_columns = columns.abs() >= rows.abs();
    let (along, across) = if is_along_columns { (columns, rows) } else { (rows, columns) };
    let crossing = move |step: isize| {
        let at = (step * across.abs()).to_f32() / along.abs().to_f32();
        let near = at.floor();
        let place = |side: isize| {
            let [out, side] = [step * along.signum(), side * across.signum()];
            if is_along_columns { [out, side] } else { [side, out] }
        };
        let near_side = near.to_isize();
        ([place(near_side), place(near_side + isize::from(at > near))], at - near)
    };
    (1..along.abs()).map(crossing)
}

/// A jump down over a steep face.
#[derive(Clone, Copy, Debug)]
struct Drop {
    from: u32,
    to: u32,
    length_m: f32,
}

/// The drops that the agent can take, in the order of the samples from which they start: straight over steep cells to the
/// first place where it can stand again, which is lower by no more than the agent's drop.
fn drops(ground: &Ground, progress: &Progress) -> Result<Vec<Drop>, Cancelled> {
    let (grid, agent) = (ground.grid(), ground.agent());
    let heights = ground.terrain().heights();
    let [width, height] = [grid.width(), grid.height()].map(ToInteger::to_isize);
    let diagonal_m = libm::hypot(grid.spacing_x_m(), grid.spacing_z_m());
    // The radius and a cell on both sides of a face that is at least as steep as it is wide.
    let reach_m = agent.drop_m + 2.0 * (agent.radius_m + diagonal_m);
    let (drop_m, step_m) = (agent.drop_m.to_f32(), agent.step_m.to_f32());
    let mut drops = Vec::new();
    if agent.drop_m <= 0.0 {
        return Ok(drops);
    }
    for r in 0..height {
        progress.check()?;
        for c in 0..width {
            let from = (r * width + c).to_usize();
            if !ground.is_walkable(from) || f64::from(ground.clearance_m()[from]) > agent.radius_m + diagonal_m {
                continue;
            }
            for [columns, rows] in DROPS {
                let step = libm::hypot(columns.to_f64() * grid.spacing_x_m(), rows.to_f64() * grid.spacing_z_m());
                let reach = (reach_m / step).floor().to_isize();
                for cells in 1..=reach {
                    let [column, row] = [c + cells * columns, r + cells * rows];
                    if column < 0 || row < 0 || column >= width || row >= height {
                        break;
                    }
                    // Straight along a row or column, there are cells on both sides.
                    let beside = |at: isize, by: isize, cells: isize| match by {
                        0 => (at - 1).max(0)..(at + 1).min(cells),
                        _ => (at - isize::from(by > 0))..(at + isize::from(by < 0)),
                    };
                    let mut crossed = beside(row, rows, height - 1)
                        .flat_map(|r| beside(column, columns, width - 1).map(move |c| (c.to_usize(), r.to_usize())));
                    let to = (row * width + column).to_usize();
                    let fallen_m = heights[from] - heights[to];
                    let is_deep = crossed.any(|(c, r)| ground.cell(c, r) == Cell::Deep);
                    if is_deep || fallen_m > drop_m || fallen_m < -step_m {
                        break;
                    }
                    if ground.is_walkable(to) {
                        if cells > 1 && fallen_m > 0.0 {
                            let length_m = (cells.to_f64() * step).to_f32();
                            drops.push(Drop { from: from.to_u32(), to: to.to_u32(), length_m });
                        }
                        break;
                    }
                }
            }
        }
    }
    Ok(drops)
}

/// Samples by time, in buckets.
struct Queue {
    width_s: f32,
    /// The number of the first bucket, and the buckets from it on.
    first: usize,
    buckets: std::collections::VecDeque<Vec<u32>>,
}

impl Queue {
    fn new(width_s: f32) -> Self {
        Self { width_s, first: 0, buckets: std::collections::VecDeque::new() }
    }

    fn push(&mut self, seconds: f32, sample: u32) {
        // Rounding never puts a sample into a bucket that was taken already.
        let bucket = ((seconds / self.width_s).to_usize()).saturating_sub(self.first);
        while self.buckets.len() <= bucket {
            self.buckets.push_back(Vec::new());
        }
        self.buckets[bucket].push(sample);
    }

    /// Takes the next bucket that is not empty.
    fn next_bucket(&mut self) -> Option<Vec<u32>> {
        loop {
            let bucket = self.buckets.pop_front()?;
            self.first += 1;
            if !bucket.is_empty() {
                return Some(bucket);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Heightfield};
    use crate::play::MeasuredTerrain;

    fn grid(samples: usize) -> Grid {
        Grid::new(Extent { width_m: 200.0, depth_m: 200.0 }, samples, samples)
    }

    fn travel(terrain: &Heightfield, agent: &Agent, starts: &[usize]) -> Travel {
        let ground = Ground::new(MeasuredTerrain::dry(terrain), agent, &Progress::new()).expect("not cancelled");
        let starts: Vec<NearSample> = starts.iter().map(|sample| NearSample::at(*sample)).collect();
        Travel::from(&ground, &starts, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn on_level_terrain_routes_are_straight_at_any_angle() {
        let terrain = Heightfield::flat(grid(201));
        let centre = 100 * 201 + 100;
        let found = travel(&terrain, &Agent { speed_m_s: 2.0, ..Default::default() }, &[centre]);
        let mut worst = 0.0_f64;
        for (i, seconds) in found.seconds().iter().enumerate() {
            let straight = libm::hypot((i % 201) as f64 - 100.0, (i / 201) as f64 - 100.0) / 2.0;
            if straight > 0.0 {
                worst = worst.max((f64::from(*seconds) - straight) / straight);
            }
        }
        assert!((0.005..0.008).contains(&worst), "{worst}");
        let route = found.route_to(100 * 201 + 150).expect("a route");
        assert_eq!((route.len(), route[0]), (51, centre));
    }

    #[test]
    fn long_moves_cross_the_rows_or_columns_between_their_ends() {
        let found = |direction| crossings(direction).collect::<Vec<_>>();
        assert_eq!(found([2, 1]), [([[1, 0], [1, 1]], 0.5)]);
        assert_eq!(found([-1, 3]), [([[0, 1], [-1, 1]], 1.0 / 3.0), ([[0, 2], [-1, 2]], 2.0 / 3.0)]);
        assert_eq!(found([1, -1]), []);
    }

    #[test]
    fn a_hiker_is_faster_downhill_than_uphill() {
        let slope = 0.2_f32;
        let terrain = Heightfield::from_fn(grid(101), |c, _| 2.0 * slope * c as f32);
        let hiker = Agent { speed_m_s: 1.4, pace: SlopeSpeed::Tobler, ..Default::default() };
        let (west, east) = (50 * 101, 50 * 101 + 100);
        let up = travel(&terrain, &hiker, &[west]).seconds()[east];
        let down = travel(&terrain, &hiker, &[east]).seconds()[west];
        let length = 200.0 * (1.0 + f64::from(slope * slope)).sqrt();
        let expected = |slope: f64| length / 1.4 * libm::exp(3.5 * ((slope + 0.05).abs() - 0.05));
        // Straight up is the fastest at this slope; the route may be slightly shorter by rounding.
        assert!((f64::from(up) / expected(0.2) - 1.0).abs() < 1e-3, "{up}, not {}", expected(0.2));
        assert!((f64::from(down) / expected(-0.2) - 1.0).abs() < 1e-3, "{down}, not {}", expected(-0.2));
        let level = travel(&Heightfield::flat(grid(101)), &hiker, &[west]).seconds()[east];
        assert!((level - 200.0 / 1.4).abs() < 0.1);
    }

    #[test]
    fn a_drop_leads_down_only() {
        // A cliff of 1.5 m in the middle of a map with samples 1 m apart.
        let terrain = Heightfield::from_fn(grid(201), |c, _| if c <= 100 { 1.5 } else { 0.0 });
        let (above, below) = (50 * 201 + 90, 50 * 201 + 110);
        let walker = Agent::default();
        let down = travel(&terrain, &walker, &[above]).seconds()[below];
        assert!((down - 20.0 / 4.0).abs() < 0.05, "{down}");
        assert!(travel(&terrain, &walker, &[below]).seconds()[above].is_infinite());
        let careful = Agent { drop_m: 1.0, ..Default::default() };
        assert!(travel(&terrain, &careful, &[above]).route_to(below).is_none());
    }

    #[test]
    fn routes_go_around_a_wall_and_through_a_gap() {
        // A wall of one sample from north to south with a gap of 5 m at the southern end.
        let terrain = Heightfield::from_fn(grid(201), |c, r| if c == 100 && r < 195 { 30.0 } else { 0.0 });
        let (west, east) = (10 * 201 + 90, 10 * 201 + 110);
        let found = travel(&terrain, &Agent { drop_m: 0.0, ..Default::default() }, &[west]);
        let around = 2.0 * libm::hypot(10.0, 187.0) / 4.0;
        let seconds = f64::from(found.seconds()[east]);
        assert!((around..around * 1.02).contains(&seconds), "{seconds}, not {around}");
        let route = found.route_to(east).expect("a route");
        assert!(route.iter().any(|sample| sample / 201 >= 196), "through the gap");
    }
}
