//! Where an agent can stand.

use rayon::prelude::*;

use super::measured_terrain::MeasuredTerrain;
use crate::cast::{ToFloat, ToInteger};
use crate::distance::{Crossings, lower_to_squared_distances};
use crate::heightfield::{Grid, Heightfield};
use crate::level::Agent;
use crate::progress::{Cancelled, Progress};

/// Why an agent cannot cross a cell, the square between four samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// It can.
    Open,
    /// Steeper than the agent climbs and higher than it steps. It may jump down there.
    Steep,
    /// Under water that is too deep.
    Deep,
}

/// The walkable area of an agent: the samples of a terrain at which it can stand.
///
/// A cell between four samples is closed where its greatest slope exceeds the agent's and its range of heights the
/// agent's step, or where water is deeper than the agent wades. The agent stands where it touches no closed cell and is
/// at least its radius away from all of them and from obstacles.
#[derive(Clone, Debug)]
pub struct Ground<'a> {
    terrain: &'a Heightfield,
    agent: Agent,
    /// Row by row, one fewer than samples along both sides.
    cells: Vec<Cell>,
    /// The distance from every sample to the nearest closed cell, metres; infinite where there is none.
    clearance_m: Vec<f32>,
    /// The least clearance at which the agent can stand, metres.
    least_m: f32,
}

impl<'a> Ground<'a> {
    /// Finds where an agent can stand on a measured terrain.
    pub fn new(measured: MeasuredTerrain<'a>, agent: &Agent, progress: &Progress) -> Result<Self, Cancelled> {
        let MeasuredTerrain { terrain, water_m, obstacles } = measured;
        let grid = terrain.grid();
        let cells = cells(terrain, water_m, agent, progress)?;
        let columns = grid.width() - 1;
        let is_closed = |c: usize, r: usize| {
            let (west, north) = (c.saturating_sub(1), r.saturating_sub(1));
            let rows = north..(r + 1).min(grid.height() - 1);
            rows.into_iter().any(|r| (west..(c + 1).min(columns)).any(|c| cells[r * columns + c] != Cell::Open))
        };
        // The point of a cell that is nearest to a sample is one of its corners.
        let mut clearance_m = vec![f32::INFINITY; grid.samples()];
        lower_to_squared_distances(&mut clearance_m, Crossings::of_samples(grid, is_closed), progress)?;
        clearance_m.par_iter_mut().for_each(|square| *square = square.sqrt());
        if let Some(obstacles) = obstacles {
            obstacles.lower_clearance(grid, agent.radius_m, &mut clearance_m, progress)?;
        }
        let least_m = agent.radius_m.to_f32().max(f32::MIN_POSITIVE);
        Ok(Self { terrain, agent: agent.clone(), cells, clearance_m, least_m })
    }

    /// The positions of the samples.
    pub fn grid(&self) -> Grid {
        self.terrain.grid()
    }

    /// The terrain.
    pub fn terrain(&self) -> &'a Heightfield {
        self.terrain
    }

    /// Who moves over it.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Whether the agent can stand at a sample, by its index.
    pub fn is_walkable(&self, sample: usize) -> bool {
        self.clearance_m[sample] >= self.least_m
    }

    /// The distance from every sample to the nearest place where the agent cannot go, metres, row by row; infinite where
    /// it can go everywhere. The border of the map does not count as such a place.
    pub fn clearance_m(&self) -> &[f32] {
        &self.clearance_m
    }

    /// The walkable share of the samples.
    pub fn walkable_share(&self) -> f64 {
        let samples = self.clearance_m.len();
        let walkable = (0..samples).into_par_iter().filter(|sample| self.is_walkable(*sample)).count();
        walkable.to_f64() / samples.to_f64()
    }

    /// Where routes from and to a place in metres leave and reach the samples: at the walkable corners of its cell if
    /// [`Self::sample_near`] is one of them, and otherwise at that sample. Empty where that is `None`.
    pub fn samples_near(&self, place_m: [f64; 2]) -> Vec<NearSample> {
        let spacing_m = [self.grid().spacing_x_m(), self.grid().spacing_z_m()];
        let mut near = self.walkable_near(place_m);
        let Some(nearest) = near.iter().copied().min_by(|a, b| a.flat_m.total_cmp(&b.flat_m)) else { return near };
        let is_corner = |near: &NearSample| {
            let at_m = self.place_m(near.sample);
            [0, 1].into_iter().all(|axis| (at_m[axis] - place_m[axis]).abs() < spacing_m[axis])
        };
        let has_corner = is_corner(&nearest);
        near.retain(|near| if has_corner { is_corner(near) } else { *near == nearest });
        near
    }

    /// The walkable sample nearest to a place in metres, by its index: one within 10 m, or beside the place where samples
    /// are farther apart. `None` for places off the map.
    pub fn sample_near(&self, place_m: [f64; 2]) -> Option<usize> {
        let near = self.walkable_near(place_m);
        near.iter().min_by(|a, b| a.flat_m.total_cmp(&b.flat_m)).map(|near| near.sample)
    }

    /// The walkable samples within 10 m of a place along both sides of the map, or beside it where samples are farther
    /// apart. None for places off the map.
    fn walkable_near(&self, [x_m, z_m]: [f64; 2]) -> Vec<NearSample> {
        let (grid, world) = (self.grid(), self.grid().extent());
        if !(0.0..=world.width_m).contains(&x_m) || !(0.0..=world.depth_m).contains(&z_m) {
            return Vec::new();
        }
        let around = |at_m: f64, spacing_m: f64, samples: usize| {
            let reach_m = SEARCHED_M.max(spacing_m);
            let first = ((at_m - reach_m) / spacing_m).ceil().max(0.0).to_usize();
            first..(((at_m + reach_m) / spacing_m).floor().to_usize() + 1).min(samples)
        };
        let columns = around(x_m, grid.spacing_x_m(), grid.width());
        let rows = around(z_m, grid.spacing_z_m(), grid.height());
        let samples = rows.flat_map(|r| columns.clone().map(move |c| r * grid.width() + c));
        let height_m = self.terrain().height_at(x_m, z_m);
        let near = |sample: usize| {
            let at_m = self.place_m(sample);
            let rise_m = f64::from(self.terrain().heights()[sample] - height_m);
            NearSample { sample, flat_m: libm::hypot(at_m[0] - x_m, at_m[1] - z_m), rise_m }
        };
        samples.filter(|sample| self.is_walkable(*sample)).map(near).collect()
    }

    /// The place of a sample, metres east and south.
    fn place_m(&self, sample: usize) -> [f64; 2] {
        let grid = self.grid();
        [grid.x_m(sample % grid.width()), grid.z_m(sample / grid.width())]
    }

    /// The column and row of the cell at a place in metres, if the agent can cross it.
    pub(super) fn open_cell(&self, [x_m, z_m]: [f64; 2]) -> Option<[usize; 2]> {
        let grid = self.grid();
        let along =
            |at_m: f64, spacing_m: f64, samples: usize| ((at_m / spacing_m).floor().to_usize()).min(samples - 2);
        let c = along(x_m, grid.spacing_x_m(), grid.width());
        let r = along(z_m, grid.spacing_z_m(), grid.height());
        (self.cell(c, r) == Cell::Open).then_some([c, r])
    }

    pub(super) fn cell(&self, c: usize, r: usize) -> Cell {
        self.cells[r * (self.grid().width() - 1) + c]
    }
}

/// A walkable sample near a place, and the straight line to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearSample {
    /// Its index, row by row.
    pub sample: usize,
    /// The length of the line on the map, metres.
    pub flat_m: f64,
    /// How much higher the sample is than the place, metres.
    pub rise_m: f64,
}

impl NearSample {
    /// A sample that is the place itself.
    #[cfg(test)]
    pub(super) fn at(sample: usize) -> Self {
        Self { sample, flat_m: 0.0, rise_m: 0.0 }
    }

    /// The length of the line, metres.
    pub fn length_m(&self) -> f64 {
        libm::hypot(self.flat_m, self.rise_m)
    }
}

/// The maximum distance of a marker from a place where the agent can stand, metres.
const SEARCHED_M: f64 = 10.0;

/// What closes each cell.
fn cells(
    terrain: &Heightfield,
    water_m: Option<&[f32]>,
    agent: &Agent,
    progress: &Progress,
) -> Result<Vec<Cell>, Cancelled> {
    let grid = terrain.grid();
    let (columns, rows) = (grid.width() - 1, grid.height() - 1);
    let tangent = libm::tan(agent.walk_deg.to_radians()).to_f32();
    let (steepest, step_m, wade_m) = (tangent * tangent, agent.step_m.to_f32(), agent.wade_m.to_f32());
    let [per_x, per_z] = [grid.spacing_x_m(), grid.spacing_z_m()].map(|spacing_m| (1.0 / spacing_m).to_f32());
    let mut cells = vec![Cell::Open; columns * rows];
    cells.par_chunks_exact_mut(columns).enumerate().try_for_each(|(r, row)| {
        let (north, south) = (terrain.row(r), terrain.row(r + 1));
        for (c, cell) in row.iter_mut().enumerate() {
            let corners = [north[c], north[c + 1], south[c], south[c + 1]];
            let [nw, ne, sw, se] = corners;
            // The gradient of the bilinear surface is the greatest at a corner.
            let square = |a: f32, b: f32, per_m: f32| ((a - b) * per_m) * ((a - b) * per_m);
            let eastward = square(ne, nw, per_x).max(square(se, sw, per_x));
            let southward = square(sw, nw, per_z).max(square(se, ne, per_z));
            let range_m = corners.into_iter().fold(f32::NEG_INFINITY, f32::max)
                - corners.into_iter().fold(f32::INFINITY, f32::min);
            if eastward + southward > steepest && range_m > step_m {
                *cell = Cell::Steep;
            }
            if let Some(water_m) = water_m {
                let at = r * grid.width() + c;
                let depths = [water_m[at], water_m[at + 1], water_m[at + grid.width()], water_m[at + grid.width() + 1]];
                if depths.into_iter().fold(0.0, f32::max) > wade_m {
                    *cell = Cell::Deep;
                }
            }
        }
        progress.check()
    })?;
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    /// A plane of 40 × 20 m with a step of so many metres between x = 20 m and x = 21 m; samples are 1 m apart.
    fn step(height_m: f32) -> Heightfield {
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 20.0 }, 41, 21);
        Heightfield::from_fn(grid, |c, _| if c <= 20 { 0.0 } else { height_m })
    }

    fn ground<'a>(terrain: &'a Heightfield, water_m: Option<&'a [f32]>, agent: &Agent) -> Ground<'a> {
        Ground::new(MeasuredTerrain { water_m, ..MeasuredTerrain::dry(terrain) }, agent, &Progress::new())
            .expect("not cancelled")
    }

    #[test]
    fn a_step_is_walkable_up_to_the_agent_s_step() {
        let walker = Agent::default();
        assert_eq!(ground(&step(0.4), None, &walker).walkable_share(), 1.0);
        // 42° is less than 45°.
        assert_eq!(ground(&step(0.9), None, &walker).walkable_share(), 1.0);
        let terrain = step(1.5);
        let found = ground(&terrain, None, &walker);
        // The samples at both sides of the step.
        assert_eq!(found.walkable_share(), 39.0 / 41.0);
        assert_eq!(found.clearance_m()[..41].iter().map(|m| *m as usize).max(), Some(20));
        assert_eq!((found.clearance_m()[10], found.clearance_m()[30]), (10.0, 9.0));
    }

    #[test]
    fn an_agent_keeps_its_radius_from_closed_cells() {
        let tank = Agent { radius_m: 3.5, ..Default::default() };
        let terrain = step(5.0);
        let found = ground(&terrain, None, &tank);
        let open: Vec<usize> = (0..41).filter(|sample| found.is_walkable(*sample)).collect();
        assert_eq!(open, (0..=16).chain(25..41).collect::<Vec<_>>());
        assert_eq!(found.sample_near([17.9, 3.0]), Some(3 * 41 + 16));
        assert_eq!((found.sample_near([-1.0, 3.0]), found.sample_near([10.0, 21.0])), (None, None), "off the map");
        let walls = Ground::new(MeasuredTerrain::dry(&terrain), &Agent { radius_m: 15.0, ..tank }, &Progress::new())
            .expect("ground");
        assert_eq!(walls.sample_near([20.5, 3.0]), None);
    }

    #[test]
    fn deep_water_closes_cells() {
        let terrain = step(0.0);
        let water: Vec<f32> = (0..terrain.grid().samples()).map(|i| (i % 41) as f32 / 10.0).collect();
        let found = ground(&terrain, Some(&water), &Agent { radius_m: 0.0, ..Default::default() });
        // 1.0 m at x = 10 m; the cell to x = 11 m is too deep, and so is the sample at its border.
        let open: Vec<usize> = (0..41).filter(|sample| found.is_walkable(*sample)).collect();
        assert_eq!(open, (0..10).collect::<Vec<_>>());
    }
}
