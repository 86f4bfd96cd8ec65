//! Roads over real terrain: the grades and the cross slopes of the terrain that is built, and what lies beyond it.

use upthrust::engine::heightfield::{Grid, Heightfield};
use upthrust::engine::operations::paths::{Path, PathNode, Paths};
use upthrust::engine::parameters::Point;
use upthrust::engine::{Inputs, Progress, Recipe, Step};

use crate::common::jacksboro;

/// Shares of the world, from west to east and from north to south: along the valley, across the ridges, around them,
/// a climb with a hairpin, and from corner to corner.
const ROUTES: [&[[f64; 2]]; 5] = [
    &[[0.1, 0.9], [0.3, 0.7], [0.5, 0.55], [0.7, 0.35], [0.9, 0.1]],
    &[[0.1, 0.2], [0.3, 0.4], [0.5, 0.5], [0.8, 0.8]],
    &[[0.15, 0.15], [0.45, 0.1], [0.6, 0.3], [0.55, 0.6], [0.3, 0.8]],
    &[[0.2, 0.5], [0.4, 0.45], [0.5, 0.5], [0.4, 0.58], [0.25, 0.62], [0.3, 0.75]],
    &[[0.05, 0.05], [0.95, 0.95]],
];

const MAX_GRADE: f64 = 0.08;

/// A road at least four cells wide at 1025².
const WIDTH_M: f64 = 140.0;

/// A centripetal Catmull–Rom spline through points, with ghost points mirrored at the ends: its points and the
/// directions there. Written anew from the definition (Barry and Goldman 1988), as a check on the program's own.
fn curve(points: &[[f64; 2]]) -> Vec<([f64; 2], [f64; 2])> {
    let mix = |a: [f64; 2], b: [f64; 2], t: f64| [0, 1].map(|i| a[i] + t * (b[i] - a[i]));
    let distance = |a: [f64; 2], b: [f64; 2]| libm::hypot(a[0] - b[0], a[1] - b[1]);
    let last = points.len() - 1;
    let mut all = vec![mix(points[1], points[0], 2.0)];
    all.extend_from_slice(points);
    all.push(mix(points[last - 1], points[last], 2.0));
    let at = |span: usize, share: f64| {
        let p: [[f64; 2]; 4] = std::array::from_fn(|i| all[span + i]);
        let mut t = [0.0; 4];
        for i in 1..4 {
            t[i] = t[i - 1] + distance(p[i - 1], p[i]).sqrt();
        }
        let x = t[1] + share * (t[2] - t[1]);
        let a: [[f64; 2]; 3] = std::array::from_fn(|i| mix(p[i], p[i + 1], (x - t[i]) / (t[i + 1] - t[i])));
        let b: [[f64; 2]; 2] = std::array::from_fn(|i| mix(a[i], a[i + 1], (x - t[i]) / (t[i + 2] - t[i])));
        mix(b[0], b[1], (x - t[1]) / (t[2] - t[1]))
    };
    let mut found: Vec<[f64; 2]> = (0..last)
        .flat_map(|span| (0..256).map(move |i| (span, i as f64 / 256.0)))
        .map(|(span, share)| at(span, share))
        .collect();
    found.push(points[last]);
    let direction = |i: usize| {
        let (from, to) = (found[i.saturating_sub(1)], found[(i + 1).min(found.len() - 1)]);
        let length = distance(from, to);
        [(to[0] - from[0]) / length, (to[1] - from[1]) / length]
    };
    (0..found.len()).map(|i| (found[i], direction(i))).collect()
}

/// The terrain around Jacksboro at 1025², without and with a road.
fn built(route: &[[f64; 2]]) -> (Heightfield, Heightfield, Vec<[f64; 2]>) {
    let real = jacksboro();
    let extent = real.grid().extent();
    let grid = Grid::new(extent, 1025, 1025);
    let below = real.resampled(grid, &Progress::new()).expect("not cancelled");
    let points: Vec<[f64; 2]> = route.iter().map(|[x, z]| [x * extent.width_m, z * extent.depth_m]).collect();
    let node = |at: &[f64; 2]| PathNode { at_m: Point { x_m: at[0], z_m: at[1] }, ..Default::default() };
    let path =
        Path { nodes: points.iter().map(node).collect(), width_m: WIDTH_M, max_grade: MAX_GRADE, ..Default::default() };
    let recipe = Recipe { stack: vec![Step::new(Paths { paths: vec![path].into() })], ..Default::default() };
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let context = upthrust::engine::operations::EvalContext {
        below: Some(&below),
        stream: recipe.stack[0].stream(recipe.seed),
        ..upthrust::engine::operations::EvalContext::new(grid, &inputs, &progress)
    };
    let road = recipe.stack[0].operation.evaluate(&context, 0, None).expect("not cancelled");
    (below, road, points)
}

#[test]
fn roads_over_real_terrain_keep_their_grade_and_are_level_across() {
    for route in ROUTES {
        let (below, road, points) = built(route);
        let cell_m = (road.grid().x_m(1) - road.grid().x_m(0)).max(road.grid().z_m(1) - road.grid().z_m(0));
        let height = |at: [f64; 2]| f64::from(road.height_at(at[0], at[1]));
        let line = curve(&points);
        let (mut steepest, mut crossing): (f64, Vec<f64>) = (0.0, Vec::new());
        let mut last = (line[0].0, height(line[0].0));
        for (at, [east, south]) in &line {
            let length = libm::hypot(at[0] - last.0[0], at[1] - last.0[1]);
            if length >= cell_m {
                steepest = steepest.max((height(*at) - last.1).abs() / length);
                last = (*at, height(*at));
                let half = 0.5 * WIDTH_M - cell_m;
                let [left, right] = [half, -half].map(|by| height([at[0] + south * by, at[1] - east * by]));
                crossing.push((left - right).abs() / (2.0 * half));
            }
        }
        crossing.sort_by(f64::total_cmp);
        let percent = |share: f64| 100.0 * crossing[(share * (crossing.len() - 1) as f64) as usize];
        println!(
            "grade {:.2} %; cross slope: median {:.3} %, 95th percentile {:.3} %, greatest {:.3} %",
            100.0 * steepest,
            percent(0.5),
            percent(0.95),
            percent(1.0)
        );
        assert!(steepest <= MAX_GRADE + 0.005, "{steepest}");
        assert!(percent(1.0) <= 0.1, "{}", percent(1.0));
        // Beyond the road nothing changes; its banks are as steep as the terrain is high above it at most.
        let reach_m =
            0.5 * WIDTH_M + (below.min_max()[1] - below.min_max()[0]) as f64 / libm::tan(35.0_f64.to_radians());
        let grid = road.grid();
        let mut changed = 0;
        for r in (0..grid.height()).step_by(8) {
            for c in 0..grid.width() {
                if road[(c, r)] != below[(c, r)] {
                    changed += 1;
                    let near =
                        line.iter().any(|(at, _)| libm::hypot(grid.x_m(c) - at[0], grid.z_m(r) - at[1]) <= reach_m);
                    assert!(near, "the terrain at {c}, {r} is far from the road");
                }
            }
        }
        assert!(changed > 0);
    }
}
