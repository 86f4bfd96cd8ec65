//! The metrics of a level, computed on demand and kept.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rayon::prelude::*;

use super::choke::{Choke, chokes};
use super::ground::{Ground, NearSample};
use super::measured_terrain::MeasuredTerrain;
use super::sites::{Site, Sites, sites};
use super::territory::Territory;
use super::travel::{Timing, Travel};
use super::viewshed::{Eye, seen_from};
use crate::cast::ToFloat;
use crate::heightfield::Heightfield;
use crate::level::{Agent, Level, MarkerKind};
use crate::progress::{Cancelled, Progress};

/// The height of a head above the terrain, metres: what is visible of somebody who stands there.
pub const HEAD_M: f32 = 1.7;

/// The steepest slope that counts as flat, degrees.
pub const FLAT_DEG: f32 = 5.0;

/// The fastest route between two places.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// How long it takes, seconds.
    pub seconds: f64,
    /// Its length over the surface, metres.
    pub length_m: f64,
    /// Its samples, between the straight lines from its start and to its end.
    pub samples: Vec<usize>,
}

/// What decides whether a level is fair: each is compared between the teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// The share of the walkable area that the team reaches first.
    Territory,
    /// The mean time to the objectives, seconds; not a number without objectives.
    Time,
    /// The share of the walkable area from which the team's spawns are visible.
    Exposure,
    /// The flat area that the team reaches first, m².
    Flat,
    /// The height of the team's spawns above the mean of the terrain, metres.
    Height,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Territory, Self::Time, Self::Exposure, Self::Flat, Self::Height];

    /// The name in rules and reports.
    pub fn key(self) -> &'static str {
        match self {
            Self::Territory => "territory",
            Self::Time => "time",
            Self::Exposure => "exposure",
            Self::Flat => "flat",
            Self::Height => "height",
        }
    }

    /// The value of a team, with its unit.
    pub fn text(self, value: f64) -> String {
        match self {
            // Small shares have two digits that count, so that their ratio can be seen.
            Self::Territory | Self::Exposure if value > 0.0 && value < 0.01 => format!("{:.2} %", 100.0 * value),
            Self::Territory | Self::Exposure => format!("{:.1} %", 100.0 * value),
            Self::Time if value.is_nan() => "none".into(),
            Self::Time if value.is_infinite() => "no route".into(),
            Self::Time if value >= 1000.0 => format!("{:.1} min", value / 60.0),
            Self::Time => format!("{value:.1} s"),
            Self::Flat if value >= 1e7 => format!("{:.1} km²", value / 1e6),
            Self::Flat if value >= 1e6 => format!("{:.2} km²", value / 1e6),
            Self::Flat => format!("{:.1} ha", value / 1e4),
            Self::Height if value.abs() >= 100.0 => format!("{value:+.0} m"),
            Self::Height => format!("{value:+.1} m"),
        }
    }
}

/// An aspect of fairness, compared between the teams.
#[derive(Clone, Debug, PartialEq)]
pub struct Fairness {
    /// What is compared.
    pub aspect: Aspect,
    /// Its value for every team.
    pub values: Vec<f64>,
    /// The smallest value divided by the largest, 1 if all are 0; for heights the largest difference, metres.
    pub ratio: f64,
}

impl Fairness {
    /// Whether no team gets anywhere, or to any objective: equal for all, but not fair.
    pub fn reaches_nothing(&self) -> bool {
        match self.aspect {
            Aspect::Time => self.values.iter().all(|value| value.is_infinite()),
            Aspect::Territory => self.values.iter().all(|value| *value == 0.0),
            Aspect::Exposure | Aspect::Flat | Aspect::Height => false,
        }
    }

    /// The ratio, or the difference with its unit.
    pub fn ratio_text(&self) -> String {
        match self.aspect {
            Aspect::Height => format!("\u{394} {:.1} m", self.ratio),
            // Without an objective, or a route to it.
            _ if self.reaches_nothing() || self.values.iter().all(|value| value.is_nan()) => "\u{2013}".into(),
            _ => format!("{:.3}", self.ratio),
        }
    }
}

/// What is computed once for every key.
type Kept<K, T> = RefCell<BTreeMap<K, Rc<T>>>;

/// The metrics of a level on a terrain.
pub struct Measures<'a> {
    measured: MeasuredTerrain<'a>,
    level: &'a Level,
    agents: Vec<Agent>,
    progress: &'a Progress,
    grounds: Kept<usize, Ground<'a>>,
    travels: Kept<(usize, Vec<usize>), Travel>,
    chokes: Kept<usize, Vec<Vec<Option<Choke>>>>,
    territory: RefCell<Option<Rc<Territory>>>,
    /// The viewshed of a marker: its index, the height of the eye and that of the target, as bits.
    seen: Kept<(usize, u64, u32), Vec<bool>>,
    /// Where pads fit: their sides and the most cut and fill, as bits.
    sites: Kept<[u64; 3], Sites>,
    /// The heights that block lines of sight, once they were computed.
    hiding: RefCell<Option<Option<Rc<Heightfield>>>>,
}

impl<'a> Measures<'a> {
    /// The metrics of a level.
    pub fn new(measured: MeasuredTerrain<'a>, level: &'a Level, progress: &'a Progress) -> Self {
        let agents = level.agents();
        Self {
            measured,
            level,
            agents,
            progress,
            grounds: RefCell::default(),
            travels: RefCell::default(),
            chokes: RefCell::default(),
            territory: RefCell::default(),
            seen: RefCell::default(),
            sites: RefCell::default(),
            hiding: RefCell::default(),
        }
    }

    /// The terrain.
    pub fn terrain(&self) -> &'a Heightfield {
        self.measured.terrain
    }

    /// The heights that block lines of sight: those of the terrain, raised by obstacles.
    pub(super) fn hiding_heights(&self) -> Result<Option<Rc<Heightfield>>, Cancelled> {
        if self.hiding.borrow().is_none() {
            let found = match self.measured.obstacles {
                Some(obstacles) => obstacles.hiding_heights(self.measured.terrain, self.progress)?,
                None => None,
            };
            *self.hiding.borrow_mut() = Some(found.map(Rc::new));
        }
        Ok(self.hiding.borrow().clone().flatten())
    }

    /// The level.
    pub fn level(&self) -> &'a Level {
        self.level
    }

    /// Who moves: a default agent if the level has none.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    pub(super) fn progress(&self) -> &Progress {
        self.progress
    }

    /// Fails if the work was cancelled.
    pub(super) fn check(&self) -> Result<(), Cancelled> {
        self.progress.check()
    }

    /// The teams of the level that have a spawn.
    pub fn teams(&self) -> Vec<&'a str> {
        self.level.teams()
    }

    /// The walkable area of an agent, by its index.
    pub fn ground(&self, agent: usize) -> Result<Rc<Ground<'a>>, Cancelled> {
        kept(&self.grounds, agent, || Ground::new(self.measured, &self.agents[agent], self.progress))
    }

    /// The samples near markers at which routes begin and end; none for those at which the agent cannot stand.
    fn samples(&self, agent: usize, markers: &[usize]) -> Result<Vec<NearSample>, Cancelled> {
        let ground = self.ground(agent)?;
        Ok(markers.iter().flat_map(|marker| ground.samples_near(self.place_m(*marker))).collect())
    }

    /// The place of a marker, metres east and south.
    pub fn place_m(&self, marker: usize) -> [f64; 2] {
        let at = self.level.markers[marker].at_m;
        [at.x_m, at.z_m]
    }

    /// Whether an agent can stand at a marker.
    pub fn stands(&self, agent: usize, marker: usize) -> Result<bool, Cancelled> {
        Ok(self.ground(agent)?.sample_near(self.place_m(marker)).is_some())
    }

    /// The routes of an agent from the nearest of some markers.
    pub fn travel(&self, agent: usize, from: &[usize]) -> Result<Rc<Travel>, Cancelled> {
        kept(&self.travels, (agent, from.to_vec()), || {
            Travel::from(&*self.ground(agent)?, &self.samples(agent, from)?, self.progress)
        })
    }

    /// The routes of an agent from several sets of markers, computed side by side.
    pub(super) fn travels_from(&self, agent: usize, from: &[Vec<usize>]) -> Result<Vec<Rc<Travel>>, Cancelled> {
        let kept_ground = self.ground(agent)?;
        let (ground, progress) = (&*kept_ground, self.progress);
        let is_missing = |markers: &&Vec<usize>| !self.travels.borrow().contains_key(&(agent, (*markers).clone()));
        let missing: Vec<&Vec<usize>> = from.iter().filter(is_missing).collect();
        let starts: Vec<Vec<NearSample>> =
            missing.iter().map(|markers| self.samples(agent, markers)).collect::<Result<_, _>>()?;
        let found: Vec<Travel> =
            starts.par_iter().map(|starts| Travel::from(ground, starts, progress)).collect::<Result<_, _>>()?;
        for (markers, travel) in missing.into_iter().zip(found) {
            self.travels.borrow_mut().insert((agent, markers.clone()), Rc::new(travel));
        }
        from.iter().map(|markers| self.travel(agent, markers)).collect()
    }

    /// The fastest route of an agent from one of some markers to one of others; `None` if there is none.
    pub fn route(&self, agent: usize, from: &[usize], to: &[usize]) -> Result<Option<Route>, Cancelled> {
        let travel = self.travel(agent, from)?;
        let timing = Timing::new(&self.agents[agent]);
        // On arrival, the line is walked from the sample to the place.
        let seconds =
            |end: &NearSample| f64::from(travel.seconds()[end.sample] + timing.straight(end.flat_m, -end.rise_m));
        let ends = self.samples(agent, to)?;
        let Some(end) = ends.into_iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b))) else { return Ok(None) };
        let Some(samples) = travel.route_to(end.sample) else { return Ok(None) };
        let direct = self.direct(agent, from, to)?;
        if let Some(direct) = direct.filter(|direct| direct.seconds < seconds(&end)) {
            return Ok(Some(direct));
        }
        let starts = self.samples(agent, from)?;
        let at_start = starts.iter().filter(|start| samples.first() == Some(&start.sample));
        let from_start_m = at_start.map(NearSample::length_m).fold(f64::INFINITY, f64::min);
        let length_m = from_start_m + self.length_m(&samples) + end.length_m();
        Ok(Some(Route { seconds: seconds(&end), length_m, samples }))
    }

    /// The fastest straight line of an agent between markers in one cell that it can cross.
    fn direct(&self, agent: usize, from: &[usize], to: &[usize]) -> Result<Option<Route>, Cancelled> {
        let (ground, terrain) = (self.ground(agent)?, self.measured.terrain);
        let (grid, timing) = (terrain.grid(), Timing::new(&self.agents[agent]));
        let line = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|marker| self.place_m(marker));
            (ground.open_cell(a)? == ground.open_cell(b)?).then(|| {
                let flat_m = libm::hypot(b[0] - a[0], b[1] - a[1]);
                let rise_m = f64::from(terrain.height_at(b[0], b[1]) - terrain.height_at(a[0], a[1]));
                let seconds = timing.straight(flat_m, rise_m).into();
                Route { seconds, length_m: libm::hypot(flat_m, rise_m), samples: vec![grid.nearest_sample(a)] }
            })
        };
        let lines = from.iter().flat_map(|a| to.iter().filter_map(move |b| line(*a, *b)));
        Ok(lines.min_by(|a, b| a.seconds.total_cmp(&b.seconds)))
    }

    /// The length of a line over samples, metres, over the surface.
    fn length_m(&self, samples: &[usize]) -> f64 {
        let grid = self.measured.terrain.grid();
        let cell = |sample: usize| [sample % grid.width(), sample / grid.width()];
        let line = |pair: &[usize]| {
            let [[from_c, from_r], [to_c, to_r]] = [cell(pair[0]), cell(pair[1])];
            let (from, to) = ([grid.x_m(from_c), grid.z_m(from_r)], [grid.x_m(to_c), grid.z_m(to_r)]);
            let pieces = from_c.abs_diff(to_c).max(from_r.abs_diff(to_r)).max(1);
            let flat_m = libm::hypot(to[0] - from[0], to[1] - from[1]) / pieces.to_f64();
            let height = |piece: usize| {
                let share = piece.to_f64() / pieces.to_f64();
                let [x_m, z_m] = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
                f64::from(self.measured.terrain.height_at(x_m, z_m))
            };
            (1..=pieces).map(|piece| libm::hypot(flat_m, height(piece) - height(piece - 1))).sum::<f64>()
        };
        samples.windows(2).map(line).sum()
    }

    /// The share of an agent's walkable area that is reached from some markers.
    pub fn reachable(&self, agent: usize, from: &[usize]) -> Result<f64, Cancelled> {
        let (ground, travel) = (self.ground(agent)?, self.travel(agent, from)?);
        let reached = travel.seconds().iter().filter(|seconds| seconds.is_finite()).count();
        let walkable = ground.walkable_share() * travel.seconds().len().to_f64();
        Ok(if walkable > 0.0 { reached.to_f64() / walkable } else { 0.0 })
    }

    /// The widest of the choke points between some markers and others; `None` if there is no route in both
    /// directions.
    pub fn choke(&self, agent: usize, from: &[usize], to: &[usize]) -> Result<Option<Choke>, Cancelled> {
        let found = kept(&self.chokes, agent, || {
            let ground = self.ground(agent)?;
            let places: Vec<Option<usize>> =
                (0..self.level.markers.len()).map(|marker| ground.sample_near(self.place_m(marker))).collect();
            let standing: Vec<usize> = places.iter().copied().flatten().collect();
            let found = chokes(&ground, &standing, self.progress)?;
            // Back to the indices of markers.
            let index = |marker: usize| places[marker].map(|_| places[..marker].iter().flatten().count());
            let between = |a: usize, b: usize| Some(found[index(a)?][index(b)?]).flatten();
            Ok((0..places.len()).map(|a| (0..a).map(|b| between(a, b)).collect()).collect())
        })?;
        let pairs = from.iter().flat_map(|a| to.iter().map(move |b| [*a.max(b), *a.min(b)]));
        let between = pairs.filter(|[a, b]| a != b).filter_map(|[a, b]| found[a][b]);
        Ok(between.max_by(|a, b| a.width_m.total_cmp(&b.width_m)))
    }

    /// The samples at which a head is visible from a marker.
    pub fn seen(&self, marker: usize) -> Result<Rc<Vec<bool>>, Cancelled> {
        self.seen_from(marker, self.level.markers[marker].eye_m, HEAD_M)
    }

    /// The samples at which a target of `target_m` metres is visible from a height above a marker.
    fn seen_from(&self, marker: usize, over_terrain_m: f64, target_m: f32) -> Result<Rc<Vec<bool>>, Cancelled> {
        kept(&self.seen, (marker, over_terrain_m.to_bits(), target_m.to_bits()), || {
            let (eye, hiding) = (Eye { at_m: self.place_m(marker), over_terrain_m }, self.hiding_heights()?);
            seen_from(self.measured.terrain, hiding.as_deref(), eye, target_m, self.progress)
        })
    }

    /// Whether one of some markers sees the eyes of one of others.
    pub fn sees(&self, from: &[usize], to: &[usize]) -> Result<bool, Cancelled> {
        for (a, b) in from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b))) {
            let [eye_m, target_m] = [a, b].map(|marker| self.level.markers[marker].eye_m);
            let seen = self.seen_from(a, eye_m, target_m.to_f32())?;
            if seen[self.measured.terrain.grid().nearest_sample(self.place_m(b))] {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The share of the first agent's walkable area from which a head at some markers is visible.
    pub fn exposure(&self, markers: &[usize]) -> Result<f64, Cancelled> {
        let ground = self.ground(0)?;
        let mut exposed = vec![false; self.measured.terrain.grid().samples()];
        for marker in markers {
            // Between heads of the same height it does not matter who looks.
            let seen = self.seen_from(*marker, HEAD_M.into(), HEAD_M)?;
            exposed.iter_mut().zip(&*seen).for_each(|(exposed, seen)| *exposed |= seen);
        }
        let walkable = (0..exposed.len()).filter(|sample| ground.is_walkable(*sample));
        let [all, found] = walkable.fold([0_u32; 2], |[all, found], at| [all + 1, found + u32::from(exposed[at])]);
        Ok(if all > 0 { f64::from(found) / f64::from(all) } else { 0.0 })
    }

    /// The territories of the [teams](Self::teams).
    pub fn territory(&self) -> Result<Rc<Territory>, Cancelled> {
        if let Some(known) = &*self.territory.borrow() {
            return Ok(known.clone());
        }
        let spawns: Vec<Vec<usize>> = self.teams().into_iter().map(|team| self.level.spawns(team)).collect();
        let travels = self.travels_from(0, &spawns)?;
        let travels: Vec<&Travel> = travels.iter().map(|travel| &**travel).collect();
        let territory = Rc::new(Territory::of(&travels, self.progress)?);
        *self.territory.borrow_mut() = Some(territory.clone());
        Ok(territory)
    }

    /// The places where a pad of these sides fits with no more than `cut_m` of cut and fill.
    pub fn sites(&self, size_m: [f64; 2], cut_m: f64) -> Result<Rc<Sites>, Cancelled> {
        kept(&self.sites, [size_m[0], size_m[1], cut_m].map(f64::to_bits), || {
            sites(self.measured.terrain, self.measured.water_m, size_m, cut_m, self.progress)
        })
    }

    /// The number of sites whose middle a team reaches first.
    pub fn sites_in_territory(&self, sites: &[Site], team: &str) -> Result<usize, Cancelled> {
        let (territory, grid) = (self.territory()?, self.measured.terrain.grid());
        let Some(index) = self.teams().iter().position(|known| known.eq_ignore_ascii_case(team)) else {
            return Ok(0);
        };
        let first = |site: &&Site| territory.first[grid.nearest_sample(site.at_m)].map(usize::from) == Some(index);
        Ok(sites.iter().filter(first).count())
    }

    /// An aspect of fairness, compared between the [teams](Self::teams).
    pub fn fairness(&self, aspect: Aspect) -> Result<Fairness, Cancelled> {
        let of_team = |(index, team): (usize, &str)| -> Result<f64, Cancelled> {
            let spawns = self.level.spawns(team);
            Ok(match aspect {
                Aspect::Territory => self.territory()?.share(index),
                Aspect::Time => self.mean_time(&spawns)?,
                Aspect::Exposure => self.exposure(&spawns)?,
                Aspect::Flat => self.flat_m2(index)?,
                Aspect::Height => self.height_over_mean_m(&spawns),
            })
        };
        let values: Vec<f64> = self.teams().into_iter().enumerate().map(of_team).collect::<Result<_, _>>()?;
        let [least, greatest] = values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[least, greatest], value| {
            [least.min(*value), greatest.max(*value)]
        });
        let ratio = match aspect {
            Aspect::Height => (greatest - least).max(0.0),
            // Equal values, nothing on all sides and no route for anyone included, are fair.
            _ if values.iter().all(|value| *value == greatest || value.is_nan()) => 1.0,
            _ if greatest.is_infinite() => 0.0,
            _ => least / greatest,
        };
        Ok(Fairness { aspect, values, ratio })
    }

    /// The mean time from spawns to the objectives, seconds; infinite if one cannot be reached, not a number without
    /// objectives.
    fn mean_time(&self, spawns: &[usize]) -> Result<f64, Cancelled> {
        let markers = self.level.markers.iter().enumerate();
        let objectives = markers.filter(|(_, marker)| marker.kind == MarkerKind::Objective).map(|(index, _)| index);
        let times: Vec<f64> = objectives
            .map(|objective| Ok(self.route(0, spawns, &[objective])?.map_or(f64::INFINITY, |route| route.seconds)))
            .collect::<Result<_, _>>()?;
        Ok(times.iter().sum::<f64>() / times.len().to_f64())
    }

    /// The flat walkable area that a team reaches first, m².
    fn flat_m2(&self, team: usize) -> Result<f64, Cancelled> {
        let (territory, grid) = (self.territory()?, self.measured.terrain.grid());
        let tangent = libm::tanf(FLAT_DEG.to_radians());
        let in_row = |r: usize| {
            let is_own = |c: &usize| territory.first[r * grid.width() + c].map(usize::from) == Some(team);
            let is_flat = |c: &usize| {
                let [east, south] = self.measured.terrain.gradient(*c, r);
                east * east + south * south <= tangent * tangent
            };
            self.progress.check().map(|()| (0..grid.width()).filter(is_own).filter(is_flat).count())
        };
        let found: usize = (0..grid.height()).map(in_row).sum::<Result<_, _>>()?;
        Ok(found.to_f64() * grid.spacing_x_m() * grid.spacing_z_m())
    }

    /// The mean height of spawns above that of the terrain, metres.
    fn height_over_mean_m(&self, spawns: &[usize]) -> f64 {
        let height = |marker: &usize| {
            let [x_m, z_m] = self.place_m(*marker);
            f64::from(self.measured.terrain.height_at(x_m, z_m))
        };
        let mean = self.measured.terrain.heights().iter().copied().map(f64::from).sum::<f64>()
            / self.measured.terrain.grid().samples().to_f64();
        spawns.iter().map(height).sum::<f64>() / spawns.len().max(1).to_f64() - mean
    }
}

/// What is kept under a key, computed if it is not there yet.
fn kept<K: Ord + Clone, T>(
    known: &Kept<K, T>,
    key: K,
    compute: impl FnOnce() -> Result<T, Cancelled>,
) -> Result<Rc<T>, Cancelled> {
    if let Some(found) = known.borrow().get(&key) {
        return Ok(found.clone());
    }
    let found = Rc::new(compute()?);
    known.borrow_mut().insert(key, found.clone());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::level::{Marker, SlopeSpeed};
    use crate::parameters::Point;

    fn marker(kind: MarkerKind, team: &str, [x_m, z_m]: [f64; 2]) -> Marker {
        Marker {
            kind,
            name: format!("{team} at {x_m}"),
            team: team.into(),
            at_m: Point { x_m, z_m },
            ..Default::default()
        }
    }

    #[test]
    fn routes_begin_and_end_between_samples() {
        // Samples 10 m apart.
        let terrain = Heightfield::flat(Grid::new(Extent { width_m: 400.0, depth_m: 400.0 }, 41, 41));
        let at = |x_m, z_m| marker(MarkerKind::Spawn, "red", [x_m, z_m]);
        let markers = vec![at(43.0, 57.0), at(334.0, 246.0), at(95.0, 92.0), at(336.5, 243.5)];
        let level = Level { markers: markers.into(), ..Default::default() };
        let progress = Progress::new();
        let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
        // The last two are in one cell.
        for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 1), (1, 3), (3, 1)] {
            let [a, b] = [from, to].map(|marker| measures.place_m(marker));
            let straight_m = libm::hypot(a[0] - b[0], a[1] - b[1]);
            let route = measures.route(0, &[from], &[to]).expect("not cancelled").expect("a route");
            let longer_m = route.length_m - straight_m;
            let most_m = if straight_m < 10.0 { 1e-6 } else { 0.01 * straight_m + 2.0 };
            assert!((-1e-9..most_m).contains(&longer_m), "{from} to {to}: {longer_m} m longer");
            assert!((route.seconds * Agent::default().speed_m_s - route.length_m).abs() < 0.01, "{from} to {to}");
        }
    }

    #[test]
    fn a_hiker_is_slow_uphill_from_the_marker_to_the_marker() {
        // A slope of 20 % towards the east, with samples 10 m apart and markers in the middle between them.
        let terrain =
            Heightfield::from_fn(Grid::new(Extent { width_m: 400.0, depth_m: 400.0 }, 41, 41), |c, _| 2.0 * c as f32);
        let hiker = Agent { pace: SlopeSpeed::Tobler, speed_m_s: 1.0, ..Default::default() };
        let markers = [105.0, 135.0].map(|x_m| marker(MarkerKind::Spawn, "red", [x_m, 200.0]));
        let level = Level { markers: markers.to_vec().into(), agents: vec![hiker].into(), ..Default::default() };
        let progress = Progress::new();
        let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
        // Tobler's hiking function, scaled to the speed on level terrain.
        for (from, to, slope) in [(0, 1, 0.2_f64), (1, 0, -0.2)] {
            let route = measures.route(0, &[from], &[to]).expect("not cancelled").expect("a route");
            let length_m = libm::hypot(30.0, 6.0);
            let expected = length_m * libm::exp(3.5 * ((slope + 0.05).abs() - 0.05));
            assert!((route.seconds / expected - 1.0).abs() < 1e-3, "{} s instead of {expected} s", route.seconds);
            assert!((route.length_m - length_m).abs() < 1e-3);
        }
    }

    #[test]
    fn a_symmetric_map_is_fair_wherever_its_markers_are() {
        // Hills that are the same after half a turn.
        let wave = |c: usize, r: usize| libm::sinf(c as f32 * 0.31) * libm::cosf(r as f32 * 0.23) * 9.0;
        let terrain = Heightfield::from_fn(Grid::new(Extent { width_m: 512.0, depth_m: 512.0 }, 65, 65), |c, r| {
            wave(c, r) + wave(64 - c, 64 - r)
        });
        let progress = Progress::new();
        // In the middle between samples, at one and anywhere.
        for place in [[84.0, 132.0], [80.0, 120.0], [101.7, 66.1]] {
            let markers = vec![
                marker(MarkerKind::Spawn, "red", place),
                marker(MarkerKind::Spawn, "blue", place.map(|at_m| 512.0 - at_m)),
                marker(MarkerKind::Objective, "", [256.0, 256.0]),
            ];
            let level = Level { markers: markers.into(), ..Default::default() };
            let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
            for aspect in Aspect::ALL {
                let found = measures.fairness(aspect).expect("not cancelled").ratio;
                let is_fair =
                    if aspect == Aspect::Height { found.abs() < 1e-3 } else { (0.9999..=1.0).contains(&found) };
                assert!(is_fair, "{place:?}: {} {found}", aspect.key());
            }
        }
    }
}
