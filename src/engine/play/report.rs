//! All metrics of a level at once.

use super::islands::{Island, islands};
use super::measures::{Aspect, Fairness, Measures};
use super::rules::{Rule, RuleError, Verdict};
use super::sites::PadGrid;
use crate::cast::ToFloat;
use crate::heightfield::Grid;
use crate::level::Level;
use crate::progress::Cancelled;

/// All metrics of a level on a terrain.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The walkable share of the map for every agent.
    pub walkable: Vec<f64>,
    /// The markers of the level, in its order.
    pub markers: Vec<MarkerReport>,
    /// Every pair of markers, in both directions.
    pub routes: Vec<RouteReport>,
    /// The names of the teams.
    pub teams: Vec<String>,
    /// The aspects of fairness; empty with fewer than two teams.
    pub fairness: Vec<Fairness>,
    /// Unreachable areas, the largest first: at most 20, and how many there are.
    pub islands: Vec<Island>,
    /// See `islands`.
    pub island_count: usize,
    /// The rules of the level.
    pub verdicts: Vec<Result<Verdict, RuleError>>,
}

/// The metrics of a marker, for the first agent.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkerReport {
    /// The height of the terrain, metres.
    pub height_m: f64,
    /// Whether the agent can stand there.
    pub stands: bool,
    /// The share of the walkable area that is reached from there.
    pub reachable: f64,
    /// The share of the map where a head is visible from there.
    pub seen: f64,
    /// The distance to the farthest visible place, metres.
    pub farthest_m: f64,
    /// The share of the walkable area from which a head there is visible.
    pub exposure: f64,
}

/// The routes and the line of sight between two markers, for the first agent.
#[derive(Clone, Debug, PartialEq)]
pub struct RouteReport {
    /// The indices of the markers.
    pub from: usize,
    /// See `from`.
    pub to: usize,
    /// The time and the length over the surface of the fastest route, seconds and metres; `None` if there is none.
    pub route: Option<[f64; 2]>,
    /// The width of the widest route at its narrowest point, and that point, metres; `None` if there is none in both
    /// directions. The width is infinite where nothing limits it.
    pub choke_m: Option<(f64, [f64; 2])>,
    /// Whether one sees the other.
    pub sees: bool,
    /// Points along the fastest route, metres east and south, with its ends.
    pub line_m: Vec<[f64; 2]>,
}

/// The most points along a route, besides its end.
const MAX_POINTS: usize = 400;

/// The memory that a [`Report`] needs at most, bytes: for every sample the walkable area and its drops, the territory,
/// the routes of the teams and of every agent from every marker, the viewshed of every marker, the unreachable areas,
/// the places for pads that were found, and the search for more of them.
pub fn memory_bytes(level: &Level, rules: &[Rule], grid: Grid) -> u64 {
    const WALKABLE: u64 = 5 + 4 + 12;
    const TERRITORY: u64 = 6;
    const ROUTE: u64 = 8;
    const VIEWSHED: u64 = 2;
    const ISLANDS: u64 = 4 + 1 + 16;
    let (agents, markers) = (level.agents.len().max(1) as u64, level.markers.len() as u64);
    let pads = rules.iter().filter_map(Rule::pad_m).map(|pad_m| PadGrid::new(grid, pad_m).memory_bytes(pad_m));
    let [search, kept] = pads.fold([0, 0], |[most, all], [search, kept]| [search.max(most), all + kept]);
    let routes = ROUTE * (agents * markers + level.teams().len() as u64);
    grid.samples() as u64 * (WALKABLE * agents + TERRITORY + routes + VIEWSHED * markers + ISLANDS) + search + kept
}

impl Report {
    /// Measures everything.
    pub fn of(measures: &Measures) -> Result<Self, Cancelled> {
        let agents = 0..measures.agents().len();
        let places: Vec<usize> = (0..measures.level().markers.len()).collect();
        let pairs = places.iter().flat_map(|from| places.iter().map(move |to| (*from, *to)));
        let teams = measures.teams();
        let aspects = if teams.len() < 2 { &[][..] } else { &Aspect::ALL[..] };
        let check = |text: &String| match Rule::read(text, measures.level()) {
            Ok(rule) => rule.check(measures).map(Ok),
            Err(error) => Ok(Err(error)),
        };
        // Most metrics need the routes from all markers.
        measures.travels_from(0, &places.iter().map(|marker| vec![*marker]).collect::<Vec<_>>())?;
        let (islands, island_count) = islands(measures)?;
        Ok(Self {
            walkable: agents.map(|agent| Ok(measures.ground(agent)?.walkable_share())).collect::<Result<_, _>>()?,
            markers: places.iter().map(|marker| MarkerReport::of(measures, *marker)).collect::<Result<_, _>>()?,
            routes: pairs
                .filter(|(from, to)| from != to)
                .map(|(from, to)| RouteReport::of(measures, from, to))
                .collect::<Result<_, _>>()?,
            fairness: aspects.iter().map(|aspect| measures.fairness(*aspect)).collect::<Result<_, _>>()?,
            islands,
            island_count,
            verdicts: measures.level().rules.iter().map(check).collect::<Result<_, _>>()?,
            teams: teams.into_iter().map(String::from).collect(),
        })
    }
}

impl Report {
    /// The route from a place to another one.
    pub fn route(&self, from: usize, to: usize) -> Option<&RouteReport> {
        // Every place has one to each of the others, in their order.
        let others = self.markers.len().checked_sub(1)?;
        let route = self.routes.get(from * others + to - usize::from(to > from))?;
        ([route.from, route.to] == [from, to]).then_some(route)
    }
}

impl MarkerReport {
    fn of(measures: &Measures, marker: usize) -> Result<Self, Cancelled> {
        let (terrain, seen) = (measures.terrain(), measures.seen(marker)?);
        let grid = terrain.grid();
        let [x_m, z_m] = measures.place_m(marker);
        let eye = grid.nearest_sample([x_m, z_m]);
        let [eye_x_m, eye_z_m] = [grid.x_m(eye % grid.width()), grid.z_m(eye / grid.width())];
        let squares = seen.iter().enumerate().filter(|(_, seen)| **seen).map(|(sample, _)| {
            let [x, z] = [grid.x_m(sample % grid.width()) - eye_x_m, grid.z_m(sample / grid.width()) - eye_z_m];
            x * x + z * z
        });
        Ok(Self {
            height_m: terrain.height_at(x_m, z_m).into(),
            stands: measures.stands(0, marker)?,
            reachable: measures.reachable(0, &[marker])?,
            seen: seen.iter().filter(|seen| **seen).count().to_f64() / seen.len().to_f64(),
            farthest_m: squares.fold(0.0, f64::max).sqrt(),
            exposure: measures.exposure(&[marker])?,
        })
    }
}

impl RouteReport {
    fn of(measures: &Measures, from: usize, to: usize) -> Result<Self, Cancelled> {
        let grid = measures.terrain().grid();
        let at_m = |sample: usize| [grid.x_m(sample % grid.width()), grid.z_m(sample / grid.width())];
        let route = measures.route(0, &[from], &[to])?;
        let samples = route.as_ref().map_or(&[][..], |route| &route.samples);
        let every = samples.iter().step_by(samples.len().div_ceil(MAX_POINTS).max(1)).chain(samples.last());
        let between = every.map(|sample| at_m(*sample));
        let end = |marker: usize| route.as_ref().map(|_| measures.place_m(marker));
        Ok(Self {
            from,
            to,
            line_m: end(from).into_iter().chain(between).chain(end(to)).collect(),
            route: route.map(|route| [route.seconds, route.length_m]),
            choke_m: measures.choke(0, &[from], &[to])?.map(|choke| (choke.width_m, at_m(choke.sample))),
            sees: measures.sees(&[from], &[to])?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Heightfield};
    use crate::level::{Marker, MarkerKind};
    use crate::parameters::Point;
    use crate::play::MeasuredTerrain;
    use crate::progress::Progress;

    fn spawn(team: &str, x_m: f64, z_m: f64) -> Marker {
        Marker { name: team.into(), team: team.into(), at_m: Point { x_m, z_m }, ..Default::default() }
    }

    #[test]
    fn a_mesa_in_the_middle_is_an_island_and_hides_the_teams_from_each_other() {
        let grid = Grid::new(Extent { width_m: 200.0, depth_m: 200.0 }, 101, 101);
        let is_mesa = |c: usize, r: usize| (40..=60).contains(&c) && (30..=70).contains(&r);
        let terrain = Heightfield::from_fn(grid, |c, r| if is_mesa(c, r) { 40.0 } else { 0.0 });
        let objective = Marker { kind: MarkerKind::Objective, ..spawn("", 100.0, 20.0) };
        let level = Level {
            markers: vec![spawn("red", 40.0, 100.0), spawn("blue", 160.0, 100.0), objective].into(),
            rules: vec!["sees(red, blue) = no".into(), "path(red, blu) <= 1".into()].into(),
            ..Default::default()
        };
        let progress = Progress::new();
        let report =
            Report::of(&Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress)).expect("not cancelled");
        // The samples on the mesa that touch no cliff.
        let area = report.islands.iter().map(|island| island.area_m2).collect::<Vec<_>>();
        assert_eq!(area, [19.0 * 39.0 * 4.0]);
        // The samples on both sides of the cliff touch it.
        let gap = report.islands[0].gap.expect("a reachable area");
        assert_eq!((gap.length_m, gap.rise_m), (6.0, 40.0), "{gap:?}");
        assert!(
            report.routes.iter().all(|route| route.sees == [route.from, route.to].contains(&2)),
            "{:?}",
            report.routes
        );
        assert!(report.fairness.iter().all(|row| row.aspect == Aspect::Height || row.ratio >= 0.99), "{report:?}");
        assert!(report.verdicts[0].as_ref().is_ok_and(|verdict| verdict.holds));
        assert!(report.verdicts[1].as_ref().is_err_and(|error| error.column == 11));
        for found in &report.routes {
            assert_eq!(report.route(found.from, found.to), Some(found));
        }
        assert_eq!((report.route(1, 1), report.route(0, 3)), (None, None));
        let route = report.route(0, 1).and_then(|found| found.route).expect("a route");
        // Past the corners of the closed cells, at 78 m and 58 m, one sample diagonally outside them.
        let around = 2.0 * (libm::hypot(36.0, 42.0) + libm::hypot(2.0, 2.0)) + 44.0;
        assert!((around - 1.0..around + 0.5).contains(&route[1]), "{route:?}, not {around}");
    }

    #[test]
    fn only_rules_about_pads_need_the_memory_for_pads() {
        let level = Level::default();
        let grid = Grid::new(Extent { width_m: 1000.0, depth_m: 1000.0 }, 11, 11);
        let bytes = |rule: &str| memory_bytes(&level, &[Rule::read(rule, &level).expect("a rule")], grid);
        assert!(bytes(" pads(60, 60) >= 3") > bytes("walkable >= 0.5"));
        // They are tried at closer samples.
        assert!(bytes(" pads(60, 60) >= 3") > 4 * bytes(" pads(600, 600) >= 3"));
    }

    #[test]
    fn an_area_of_one_to_two_is_exactly_that() {
        // Two rooms, one twice as wide as the other, divided by a wall that nobody passes.
        let grid = Grid::new(Extent { width_m: 244.0, depth_m: 80.0 }, 123, 41);
        let terrain = Heightfield::from_fn(grid, |c, _| if c == 41 { 99.0 } else { 0.0 });
        let level =
            Level { markers: vec![spawn("red", 20.0, 40.0), spawn("blue", 160.0, 40.0)].into(), ..Default::default() };
        let progress = Progress::new();
        let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
        // Columns 0 to 39 and 43 to 122: those beside the wall touch it.
        let fairness = measures.fairness(Aspect::Territory).expect("not cancelled");
        assert_eq!(fairness.ratio, 0.5, "{fairness:?}");
    }
}
