//! Roads: a carriageway that follows the smoothed terrain within its greatest grade.

use super::carriageway::{Carriageway, Earthworks};
use super::path::{Path, PathCurve, PathKind};
use super::stations::Stations;
use super::terrain_map::TerrainMap;
use crate::curve::{Piece, distance_m};
use crate::operations::report::{self, LinePoint, PartLine, PartReport};
use crate::progress::{Cancelled, Progress};

/// The height of a wall between two stretches that is worth a warning.
const MIN_WALL_M: f64 = 1.0;

/// The height of the end of a road above or below the terrain that is worth a warning.
const MIN_END_M: f64 = 2.0;

/// What a road or a river is like once it is built.
#[derive(Clone, Debug, PartialEq)]
pub struct PathReport {
    /// The length along the curve.
    pub length_m: f64,
    /// The greatest grade, up or down.
    pub greatest_grade: f64,
    /// The radius of the tightest bend, and where it is; `None` for a straight line. Where it is less than half the
    /// width, the inner edge of the carriageway is crushed.
    pub tightest_radius: Option<(f64, [f64; 2])>,
    /// The ends that are above or below the terrain around them: their places, and their heights above that terrain.
    pub open_ends: Vec<([f64; 2], f64)>,
    /// What it is like along its curve.
    pub points: Vec<LinePoint>,
    /// What was moved.
    pub earthworks: Earthworks,
    /// The greatest change of a road by later paths of the step.
    pub change: Option<LaterChange>,
}

/// What later paths of the same step do to a road.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaterChange {
    /// The index of the path that changes that place most.
    pub path: usize,
    /// The place, metres east and south of the map's north-west corner.
    pub at_m: [f64; 2],
    /// The change in height by all of them, metres.
    pub change_m: f64,
}

impl LaterChange {
    /// The greatest change of the road at an index, given the heights at its places after it and after each later path.
    pub(super) fn among(road: usize, points: &[LinePoint], heights: &[Vec<f64>]) -> Option<Self> {
        let [built, .., last] = heights else { return None };
        let change_m = |place: &usize| last[*place] - built[*place];
        let place = (0..points.len()).max_by(|a, b| change_m(a).abs().total_cmp(&change_m(b).abs()))?;
        let by_path_m = |later: &usize| (heights[*later][place] - heights[later - 1][place]).abs();
        let later = (1..heights.len()).max_by(|a, b| by_path_m(a).total_cmp(&by_path_m(b)))?;
        let change = Self { path: road + later, at_m: points[place].at_m, change_m: change_m(&place) };
        (change.change_m.abs() > report::MIN_CHANGE_M).then_some(change)
    }
}

/// The most places along a path that are reported.
const MAX_POINTS: usize = 160;

/// What a path with these heights at its stations is like along its curve, on the terrain before it is built.
/// `limit` is the greatest grade that is allowed.
pub(super) fn points(stations: &Stations, heights: &[f64], land: &TerrainMap, limit: f64) -> Vec<LinePoint> {
    let count = stations.points.len();
    let every = count.div_ceil(MAX_POINTS).max(1);
    let shown: Vec<usize> =
        (0..count).step_by(every).chain((!(count - 1).is_multiple_of(every)).then_some(count - 1)).collect();
    let at = |i: usize| shown[i.min(shown.len() - 1)];
    let point = |(i, &station): (usize, &usize)| {
        let next = at(i + 1);
        let length_m = stations.lengths_m[next] - stations.lengths_m[station];
        let grade = if length_m > 0.0 { (heights[next] - heights[station]).abs() / length_m } else { 0.0 };
        let bend = [at(i.saturating_sub(1)), station, next].map(|station| stations.points[station]);
        let is_tight = tightest_radius(&bend, false).is_some_and(|(radius_m, _)| radius_m < stations.halves_m[station]);
        LinePoint {
            at_m: stations.points[station],
            half_m: stations.halves_m[station],
            grade_share: if limit > 0.0 { grade / limit } else { 0.0 },
            is_tight,
            fill_m: heights[station] - land.height_at(stations.points[station]),
        }
    };
    shown.iter().enumerate().map(point).collect()
}

impl PathReport {
    /// The report on a path with these heights at its stations.
    pub(super) fn new(stations: &Stations, heights: &[f64], earthworks: Earthworks) -> Self {
        Self {
            length_m: stations.lengths_m.last().copied().unwrap_or_default(),
            greatest_grade: stations.greatest_grade(heights),
            tightest_radius: None,
            open_ends: Vec::new(),
            points: Vec::new(),
            earthworks,
            change: None,
        }
    }

    /// The report in words on a path at an index of its list.
    pub(super) fn part(self, index: usize, path: &Path) -> PartReport {
        let Earthworks { cut_m3, fill_m3, wall } = self.earthworks;
        let kind = if path.kind == PathKind::River { "river" } else { "road" };
        let mut text =
            format!("{}, steepest grade {:.1} %", report::length(self.length_m), 100.0 * self.greatest_grade);
        if let Some((radius_m, _)) = self.tightest_radius {
            text.push_str(&format!(", radius at least {}", report::length(radius_m)));
        }
        text.push_str(&format!(", {}", report::volumes([cut_m3, fill_m3])));
        let tight = self.tightest_radius.filter(|(radius_m, _)| *radius_m < 0.5 * path.width_m).map(|(_, at_m)| {
            format!("the bend at {} is tighter than half the width; move its nodes apart", report::place(at_m))
        });
        let wall = wall.filter(|wall| wall.height_m > MIN_WALL_M).map(|wall| {
            let (at, height_m) = (report::place(wall.at_m), wall.height_m);
            format!("the banks of two parts of it meet in a wall of {height_m:.0} m at {at}; widen the bend or steepen the banks")
        });
        let end = |(at, height_m): &([f64; 2], f64)| {
            let side = if *height_m > 0.0 { "above" } else { "below" };
            format!("{:.0} m {side} the terrain at {}", height_m.abs(), report::place(*at))
        };
        let ends: Vec<String> = self.open_ends.iter().map(end).collect();
        let open_ends = (!ends.is_empty()).then(|| {
            let ends = ends.join(" and ");
            format!("it ends {ends}; set the heights of its nodes there, make it longer or allow a steeper grade")
        });
        let is_road = path.kind == PathKind::Road;
        let change = self.change.map(|LaterChange { path, at_m, change_m }| {
            let (by, at, change_m) = (path + 1, report::place(at_m), change_m.abs());
            format!("path {by}, which comes after it, changes it by up to {change_m:.0} m at {at}; lead path {by} around it, or draw the road in a step above")
        });
        let kept_m = self.points.iter().filter(|_| is_road).map(|point| point.at_m).collect();
        let warnings: Vec<String> = change.into_iter().chain(tight.or(wall).or(open_ends)).collect();
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        let title = format!("Path {} ({kind})", index + 1);
        PartReport { title, text, warning, line: Some(PartLine { item: index, points: self.points }), kept_m }
    }
}

/// The tightest circle through three neighbouring points of a curve, and its middle point.
pub(super) fn tightest_radius(points: &[[f64; 2]], is_closed: bool) -> Option<(f64, [f64; 2])> {
    let around = match points {
        [_, second, ..] if is_closed => Some(*second),
        _ => None,
    };
    let all: Vec<[f64; 2]> = points.iter().copied().chain(around).collect();
    let radius = |three: &[[f64; 2]]| {
        let [a, b, c] = [three[0], three[1], three[2]];
        let [ab, bc] = [Piece::new(a, b), Piece::new(b, c)];
        let sine = ab.along[0] * bc.along[1] - ab.along[1] * bc.along[0];
        // The chord over twice the sine of the angle at the circumference. Straight lines bend by rounding errors.
        (sine.abs() > 1e-9).then(|| (distance_m(a, c) / (2.0 * sine.abs()), b))
    };
    all.windows(3).filter_map(radius).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// The tangent of an angle in degrees.
pub(super) fn tangent(angle_deg: f64) -> f64 {
    libm::tan(angle_deg.to_radians())
}

/// The length of a vertical curve per grade and width, and per width at most.
///
/// On a grid of cells a quarter of the width wide, bilinear interpolation is off by k/L·(w/4)²/8 where the grade changes by
/// k over a length L. Across half the width that is a cross slope of k·w/(64·L), with k = 2·max_grade at most 0.03 %.
const CURVE_LENGTH: f64 = 100.0;
const MAX_CURVE_WIDTHS: f64 = 8.0;

/// The widths over which the grade goes to zero before an end. The tilt by interpolation, as above, is then at most
/// max_grade/128.
const END_WIDTHS: f64 = 2.0;

/// The heights of a road at its stations: the smoothed terrain along it, held at nodes, limited in grade and with vertical
/// curves where the grade changes.
fn profile(path: &Path, curve: &PathCurve, stations: &Stations, smoothed: Vec<f64>) -> Vec<f64> {
    let (held, mut heights) = (path.held(&curve.lengths_m), smoothed);
    stations.hold(&mut heights, &held, path.max_grade);
    stations.limit_grade(&mut heights, &held, path.max_grade);
    let length_m = stations.greatest_width_m() * (CURVE_LENGTH * path.max_grade).min(MAX_CURVE_WIDTHS);
    stations.round_crests(&mut heights, &held, length_m);
    heights
}

/// The heights of a road with ends that become level.
fn with_level_ends(path: &Path, curve: &PathCurve, stations: &Stations, heights: &[f64]) -> Vec<f64> {
    let (held, mut heights) = (path.held(&curve.lengths_m), heights.to_vec());
    stations.level_ends(&mut heights, &held, END_WIDTHS * stations.greatest_width_m());
    heights
}

/// Builds a road.
pub(super) fn apply(path: &Path, land: &mut TerrainMap, progress: &Progress) -> Result<PathReport, Cancelled> {
    let curve = path.curve();
    let stations = Stations::along(&curve);
    let smoothed = stations.smoothed(land, path.smooth_m);
    let graded = profile(path, &curve, &stations, smoothed.clone());
    let heights = with_level_ends(path, &curve, &stations, &graded);
    let along = points(&stations, &heights, land, path.max_grade);
    let land_at_ends = [0, heights.len() - 1].map(|i| land.height_at(stations.points[i]));
    let works = Carriageway::of_road(&stations, heights.clone(), tangent(path.bank_deg)).lay(land, progress)?;
    let report = PathReport::new(&stations, &heights, works);
    let last = heights.len() - 1;
    // Whether the grade reaches the terrain, before the end becomes level. At an end the terrain may be flat within what
    // was smoothed, as a pad is.
    let nearer = |a: f64, b: f64| if a.abs() <= b.abs() { a } else { b };
    let ends = [0, last].map(|i| {
        let above_m = nearer(graded[i] - smoothed[i], graded[i] - land_at_ends[usize::from(i > 0)]);
        (stations.points[i], above_m)
    });
    let is_open = |(_, above_m): &([f64; 2], f64)| !curve.is_closed && above_m.abs() > MIN_END_M;
    let open_ends = ends.into_iter().filter(is_open).collect();
    Ok(PathReport {
        tightest_radius: tightest_radius(&curve.points, curve.is_closed),
        open_ends,
        points: along,
        ..report
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{land, path, paths, with_context};
    use super::*;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::operations::noise::Noise;
    use crate::operations::operation::Operation;
    use crate::operations::testing::{evaluated_with, modified};
    use crate::random::Stream;

    const WORLD: Extent = Extent { width_m: 4096.0, depth_m: 4096.0 };

    fn rough_land(seed: u32, side: usize) -> Heightfield {
        let noise = Noise { amplitude_m: 300.0, ..Default::default() };
        evaluated_with(&noise, Stream::new(seed, 1), Grid::new(WORLD, side, side), None, noise.iterations(), None)
    }

    /// A road across the world through random nodes, at least four cells of 4 m wide.
    fn random_road(seed: u32) -> Path {
        let mut rng = Stream::new(seed, 2).at(1);
        let nodes: Vec<[f64; 2]> = (0..6).map(|i| [300.0 + 700.0 * f64::from(i), rng.between(700.0, 3400.0)]).collect();
        Path { width_m: 16.0, max_grade: 0.08, ..path(PathKind::Road, &nodes) }
    }

    /// The greatest grade along the centre line of built terrain.
    fn grade_along(road: &Path, built: &Heightfield) -> f64 {
        let (built, stations) = (land(built), Stations::along(&road.curve()));
        let heights: Vec<f64> = stations.points.iter().map(|point| built.height_at(*point)).collect();
        stations.greatest_grade(&heights)
    }

    /// Cross slopes of built terrain, a cell of 4 m inside the edges, in the middle of every piece of the curve.
    fn cross_slopes(road: &Path, built: &Heightfield) -> Vec<f64> {
        let (built, curve) = (land(built), road.curve());
        let out_m = 0.5 * road.width_m - 4.0;
        let slope = |ends: &[[f64; 2]]| {
            let piece = Piece::new(ends[0], ends[1]);
            let middle = [0, 1].map(|k| 0.5 * (piece.start_m[k] + piece.end_m[k]));
            let [dx, dz] = piece.along;
            let beside = |out_m: f64| built.height_at([middle[0] - out_m * dz, middle[1] + out_m * dx]);
            (beside(out_m) - beside(-out_m)).abs() / (2.0 * out_m)
        };
        curve.points.windows(2).map(slope).collect()
    }

    #[test]
    fn a_road_that_cannot_reach_the_terrain_at_its_end_says_so() {
        // A cliff of 100 m, 200 m before the eastern end of a road that starts far in the west.
        let grid = Grid::new(Extent { width_m: 2000.0, depth_m: 400.0 }, 201, 41);
        let cliff = Heightfield::from_fn(grid, |c, _| if c < 180 { 0.0 } else { 100.0 });
        let road = |x_m: f64| Path { smooth_m: 0.0, ..path(PathKind::Road, &[[100.0, 200.0], [x_m, 200.0]]) };
        let warning = |road: Path| {
            let report = apply(&road, &mut land(&cliff), &Progress::new()).expect("not cancelled");
            report.part(0, &road).warning
        };
        // With the least change: half of what 8 % over the last 100 m lacks, below at the end.
        let text = warning(road(1900.0)).expect("a warning");
        assert!(text.starts_with("it ends 46 m below the terrain at"), "{text}");
        assert_eq!(warning(road(1500.0)), None);
    }

    #[test]
    fn roads_over_rough_terrain_keep_their_grade_and_change_nothing_beyond_their_banks() {
        for seed in 1..=5 {
            let mut rng = Stream::new(seed, 3).at(1);
            let (width_m, bank_deg) = (rng.between(16.0, 40.0), rng.between(15.0, 65.0));
            let (below, road) = (rough_land(seed, 1025), Path { width_m, bank_deg, ..random_road(seed) });
            let built = modified(&paths([road.clone()]), &below);
            let stations = Stations::along(&road.curve());
            let graded = profile(&road, &road.curve(), &stations, stations.smoothed(&land(&below), road.smooth_m));
            let heights = with_level_ends(&road, &road.curve(), &stations, &graded);
            let [natural, along] = [&below, &built].map(|terrain| grade_along(&road, terrain));
            println!("{seed}: grade {natural:.4} before, {along:.4} after");
            assert!(natural > 0.3, "{seed}: the terrain is level");
            assert!(along <= road.max_grade + 0.005, "{seed}: a grade of {along}");
            for slope in cross_slopes(&road, &built) {
                assert!(slope <= 0.001, "{seed}: {slope} across");
            }
            // Cones over discs around the stations, as wide as the road with its verges, are lower than those over the
            // carriageway; the margin is for the points between stations.
            let is_beyond = |point: [f64; 2], height: f64| {
                stations.points.iter().zip(&heights).all(|(station, own)| {
                    let away_m = (distance_m(point, *station) - 0.5625 * road.width_m).max(0.0);
                    (height - own).abs() + 2.0 <= tangent(road.bank_deg) * away_m
                })
            };
            let (grid, mut beyond) = (below.grid(), 0);
            for (c, r) in (0..1025).step_by(8).flat_map(|c| (0..1025).step_by(8).map(move |r| (c, r))) {
                if is_beyond([grid.x_m(c), grid.z_m(r)], f64::from(below[(c, r)])) {
                    beyond += 1;
                    assert_eq!(built[(c, r)].to_bits(), below[(c, r)].to_bits());
                }
            }
            println!("{seed}: {beyond} of 16641 samples are beyond the banks");
            assert!(beyond > 8000, "{beyond}");
        }
    }

    #[test]
    fn roads_that_turn_back_on_themselves_stay_at_their_heights() {
        let below = rough_land(3, 1025);
        for last in [[1024.0, 2048.0], [1024.0, 2050.0], [1024.0, 2078.0]] {
            let nodes = [[1024.0, 2048.0], [2048.0, 2048.0], last];
            let road = Path { max_grade: 0.08, ..path(PathKind::Road, &nodes) };
            let built = modified(&paths([road.clone()]), &below);
            let stations = Stations::along(&road.curve());
            let graded = profile(&road, &road.curve(), &stations, stations.smoothed(&land(&below), road.smooth_m));
            let grid = built.grid();
            // Samples around the turn, on the carriageway.
            for (c, r) in (500..530).flat_map(|c| (500..530).map(move |r| (c, r))) {
                let point = [grid.x_m(c), grid.z_m(r)];
                let near = (0..graded.len()).filter(|i| distance_m(point, stations.points[*i]) <= 0.5 * road.width_m);
                let [low, high] = near.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], i| {
                    [low.min(graded[i]), high.max(graded[i])]
                });
                let height = f64::from(built[(c, r)]);
                assert!(low > high || (low - 2.0..=high + 2.0).contains(&height), "{last:?}: {height} at {point:?}");
            }
        }
    }

    #[test]
    fn held_nodes_have_their_heights() {
        let below = rough_land(7, 257);
        let mut road = random_road(7);
        road.nodes[1].height_m = Some(50.0);
        road.nodes[3].height_m = Some(120.0);
        let built = land(&modified(&paths([road.clone()]), &below));
        for (i, height) in [(1, 50.0), (3, 120.0)] {
            let at = road.nodes[i].at_m;
            // The road may rise by its grade within a cell.
            assert!((built.height_at([at.x_m, at.z_m]) - height).abs() < 16.0 * 0.08 + 0.01, "node {i}");
        }
    }

    #[test]
    fn the_report_measures_the_road() {
        // A circle of radius 500 m through eight nodes, on a plane that rises 5 m in 100 m eastward.
        let grid = Grid::new(WORLD, 257, 257);
        let plane = Heightfield::from_fn(grid, |c, _| 0.05 * 16.0 * c as f32);
        let node = |i: u32| {
            let (sine, cosine) = libm::sincos(f64::from(i) * std::f64::consts::FRAC_PI_4);
            [2048.0 + 500.0 * cosine, 2048.0 + 500.0 * sine]
        };
        let nodes: Vec<[f64; 2]> = (0..8).map(node).collect();
        let road = Path { closed: true, smooth_m: 0.0, ..path(PathKind::Road, &nodes) };
        let reports = with_context(&plane, |context| paths([road]).path_reports(context)).expect("not cancelled");
        let report = reports[0].as_ref().expect("a road");
        let (radius_m, _) = report.tightest_radius.expect("bends");
        assert!((report.length_m - 1000.0 * std::f64::consts::PI).abs() < 30.0, "{report:?}");
        // The curvature of a uniform spline at a node of an octagon is (5 − 6·cos 45°)/sin² 45° over the radius.
        assert!((radius_m / 330.1 - 1.0).abs() < 0.02, "{report:?}");
        assert!((0.049..0.051).contains(&report.greatest_grade), "{report:?}");
        // A bench in a slope: as much is cut as filled.
        let Earthworks { cut_m3, fill_m3, wall } = report.earthworks;
        assert!(cut_m3 > 100.0 && (cut_m3 / fill_m3 - 1.0).abs() < 0.1 && wall.is_none(), "{report:?}");
        assert_eq!(tightest_radius(&[[0.0, 0.0], [10.0, 0.0], [20.0, 0.0]], false), None);
    }

    #[test]
    fn switchbacks_that_are_too_close_meet_in_a_wall() {
        let plane = Heightfield::from_fn(Grid::new(WORLD, 1025, 1025), |_, r| 2.0 * r as f32);
        let mut road = path(PathKind::Road, &[[500.0, 2000.0], [2500.0, 2000.0], [2500.0, 2040.0], [500.0, 2040.0]]);
        (road.nodes[0].height_m, road.nodes[3].height_m) = (Some(900.0), Some(1100.0));
        let reports = with_context(&plane, |context| paths([road]).path_reports(context)).expect("not cancelled");
        let wall = reports[0].as_ref().expect("a road").earthworks.wall.expect("a wall");
        assert!(wall.height_m > 100.0 && wall.at_m[0] < 800.0, "{wall:?}");
    }

    #[test]
    fn a_road_that_a_later_path_cuts_says_so() {
        let plane = Heightfield::from_fn(Grid::new(WORLD, 513, 513), |_, r| 0.5 * r as f32);
        let road = path(PathKind::Road, &[[500.0, 2000.0], [3500.0, 2000.0]]);
        let report = |nodes: [[f64; 2]; 2]| {
            let valley = Path { width_m: 300.0, ..path(PathKind::Valley, &nodes) };
            let paths = paths([road.clone(), valley]);
            let report = with_context(&plane, |context| paths.path_reports(context)).expect("not cancelled").remove(0);
            report.expect("a road")
        };
        let cut = report([[1000.0, 500.0], [1000.0, 3500.0]]);
        let LaterChange { path, at_m, change_m } = cut.change.expect("a change");
        assert!(
            path == 1 && (at_m[0] - 1000.0).abs() < 10.0 && (-50.0..-45.0).contains(&change_m),
            "{at_m:?}, {change_m}"
        );
        let text = cut.part(0, &road).warning.expect("a warning");
        assert!(text.starts_with("path 2, which comes after it, changes it by up to "), "{text}");
        assert_eq!(report([[500.0, 3500.0], [3500.0, 3500.0]]).change, None);
    }

    #[test]
    fn the_path_that_changes_a_road_most_is_named_unless_the_road_is_as_it_was() {
        let at = |x_m: f64| LinePoint { at_m: [x_m, 0.0], half_m: 5.0, grade_share: 0.0, is_tight: false, fill_m: 0.0 };
        let change = |heights: &[[f64; 2]]| {
            let heights: Vec<Vec<f64>> = heights.iter().map(|heights| heights.to_vec()).collect();
            LaterChange::among(3, &[at(0.0), at(10.0)], &heights)
        };
        let expected = LaterChange { path: 4, at_m: [10.0, 0.0], change_m: -10.5 };
        assert_eq!(change(&[[5.0, 8.0], [5.0, -2.0], [5.0, -2.5]]), Some(expected));
        assert_eq!(change(&[[5.0, 8.0], [5.0, -2.0], [5.0, 7.5]]), None, "filled again");
        assert_eq!([change(&[[5.0, 8.0]]), change(&[])], [None; 2]);
    }

    #[test]
    fn a_level_road_on_level_terrain_changes_nothing() {
        let level = Heightfield::from_fn(Grid::new(WORLD, 129, 129), |_, _| 123.456);
        assert!(modified(&paths([random_road(3)]), &level) == level);
    }
}
