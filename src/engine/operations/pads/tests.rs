//! Tests of building pads.

use super::*;
use crate::heightfield::Extent;
use crate::operations::testing::{assert_subset, modified, stream};

const WORLD: Extent = Extent { width_m: 300.0, depth_m: 200.0 };

fn point(x_m: f64, z_m: f64) -> Point {
    Point { x_m, z_m }
}

fn pads(pads: Vec<Pad>) -> Pads {
    Pads { pads: pads.into() }
}

/// A level rectangle with banks of 45°.
fn pad(centre: [f64; 2], size: [f64; 2], height_m: f64) -> Pad {
    let [centre_m, size_m] = [centre, size].map(|[x, z]| point(x, z));
    Pad { centre_m, size_m, height_m: Some(height_m), bank_deg: 45.0, ..Default::default() }
}

fn level(grid: Grid, height: f32) -> Heightfield {
    Heightfield::from_fn(grid, |_, _| height)
}

/// A slope of 1 m per 10 m eastward and 1 m per 20 m southward.
fn slope(grid: Grid) -> Heightfield {
    Heightfield::from_fn(grid, |c, r| (grid.x_m(c) / 10.0 + grid.z_m(r) / 20.0) as f32)
}

/// Pads of every shape, with all settings.
fn varied() -> Vec<Pad> {
    let polygon = vec![point(200.0, 20.0), point(280.0, 40.0), point(230.0, 70.0), point(290.0, 110.0)];
    vec![
        Pad { turn_deg: 30.0, corner_m: 8.0, ..pad([80.0, 60.0], [70.0, 40.0], 30.0) },
        Pad { shape: Shape::Ellipse, turn_deg: -75.0, bank_deg: 20.0, ..pad([110.0, 150.0], [90.0, 30.0], 12.0) },
        Pad {
            shape: Shape::Polygon,
            points_m: polygon.into(),
            grade: 0.07,
            grade_azimuth_deg: 130.0,
            bank_deg: 60.0,
            ..pad([0.0, 0.0], [1.0, 1.0], -9.0)
        },
        Pad { grade: 0.1, grade_azimuth_deg: -20.0, ..pad([120.0, 90.0], [50.0, 50.0], 45.0) },
    ]
}

#[test]
fn a_lake_holds_its_water_on_a_slope_at_every_size() {
    let lake = |shape| Pad {
        kind: PadKind::Lake,
        depth_m: 6.0,
        shore_m: 12.0,
        shape,
        points_m: vec![point(120.0, 70.0), point(190.0, 80.0), point(150.0, 130.0)].into(),
        ..pad([150.0, 100.0], [80.0, 50.0], 20.0)
    };
    for (shape, samples) in [
        (Shape::Rectangle, [61, 41]),
        (Shape::Ellipse, [61, 41]),
        (Shape::Polygon, [61, 41]),
        (Shape::Ellipse, [241, 161]),
    ] {
        let grid = Grid::new(WORLD, samples[0], samples[1]);
        let terrain = modified(&pads(vec![lake(shape)]), &slope(grid));
        let outlets = crate::flow::Outlets::Border;
        let water = crate::flow::Water::on(&terrain, outlets, None, &Progress::new()).expect("not cancelled");
        let levels = (0..grid.samples())
            .filter(|i| water.lakes_m[*i] > 0.0)
            .map(|i| terrain[(i % grid.width(), i / grid.width())] + water.lakes_m[i]);
        let levels: Vec<f32> = levels.collect();
        assert!(levels.len() > 30 && levels.iter().all(|level| (level - 20.0).abs() < 1e-3), "{shape:?}: {levels:?}");
        let deepest = water.lakes_m.iter().copied().fold(0.0, f32::max);
        assert!((deepest - 6.0).abs() < 1e-3, "{shape:?}: {deepest} m");
    }
    // The bed falls with the banks, 45°, from the shore; the shore is level, and beyond it the banks begin.
    let grid = Grid::new(WORLD, 301, 201);
    let terrain = modified(&pads(vec![lake(Shape::Rectangle)]), &level(grid, 10.0));
    let across: Vec<f32> = [150, 114, 111, 110, 100, 98, 97, 93, 88, 87].map(|c| terrain[(c, 100)]).into();
    assert_eq!(across, [14.0, 16.0, 19.0, 20.0, 20.0, 20.0, 19.0, 15.0, 10.0, 10.0]);
    // Grade is for ground only.
    let tilted = Pad { grade: 0.5, ..lake(Shape::Rectangle) };
    assert_eq!(modified(&pads(vec![tilted]), &level(grid, 10.0)), terrain);
}

#[test]
fn banks_end_at_their_reach() {
    // A pad at 0 m beside a slope of 1 in 1, with banks of 45°/2: they never meet it.
    let grid = Grid::new(Extent { width_m: 400.0, depth_m: 400.0 }, 41, 41);
    let slope = Heightfield::from_fn(grid, |c, _| (10.0 * (c as f32 - 20.0)).max(0.0));
    let pad = |reach_m| Pad {
        centre_m: Point { x_m: 200.0, z_m: 200.0 },
        size_m: Point { x_m: 40.0, z_m: 40.0 },
        height_m: Some(0.0),
        bank_deg: 22.5,
        reach_m,
        ..Default::default()
    };
    let built = |reach_m| modified(&Pads { pads: vec![pad(reach_m)].into() }, &slope);
    let (limited, unlimited) = (built(Some(60.0)), built(None));
    // The edge of the pad is at 220 m, its reach ends at 280 m.
    assert_eq!(limited[(28, 20)], unlimited[(28, 20)]);
    assert!(limited[(28, 20)] < slope[(28, 20)]);
    assert_eq!((limited[(29, 20)], unlimited[(29, 20)] < slope[(29, 20)]), (slope[(29, 20)], true));
    let warning = |reach_m| {
        let pads = Pads { pads: vec![pad(reach_m)].into() };
        let (inputs, progress) = (crate::Inputs::default(), Progress::new());
        let context =
            EvalContext { below: Some(&slope), stream: stream(), ..EvalContext::new(grid, &inputs, &progress) };
        pads.reports(&context).expect("not cancelled")[0].warning.clone()
    };
    assert!(warning(None).is_none_or(|text| text.contains("Maximum bank length")) && warning(Some(60.0)).is_none());
}

#[test]
fn cut_and_fill_match_heights_found_by_hand() {
    let grid = Grid::new(WORLD, 31, 21);
    // 100…140 m east, at height 15 on terrain at 0: banks of 45° reach 15 m.
    let terrain = modified(&pads(vec![pad([120.0, 100.0], [40.0, 60.0], 15.0)]), &level(grid, 0.0));
    assert_eq!(terrain.row(10)[7..18], [0.0, 0.0, 5.0, 15.0, 15.0, 15.0, 15.0, 15.0, 5.0, 0.0, 0.0]);
    // 10 m from the corner along both axes.
    let corner = f64::from(terrain[(9, 6)]);
    assert!((corner - (15.0 - 200.0_f64.sqrt())).abs() < 1e-5, "{corner}");
    let cut = modified(&pads(vec![pad([120.0, 100.0], [40.0, 60.0], -15.0)]), &level(grid, 0.0));
    assert!(terrain.heights().iter().zip(cut.heights()).all(|(fill, cut)| *fill == -cut));
    // A pad that rises by 1 m per 10 m towards the east, and its banks at the heights of its edges.
    let tilted = Pad { grade: 0.1, grade_azimuth_deg: 90.0, ..pad([120.0, 100.0], [40.0, 60.0], 20.0) };
    let tilted = modified(&pads(vec![tilted]), &level(grid, 0.0));
    assert_eq!(tilted.row(10)[8..17], [0.0, 8.0, 18.0, 19.0, 20.0, 21.0, 22.0, 12.0, 2.0]);
}

#[test]
fn inside_it_is_the_plane_and_beyond_the_banks_nothing_changes() {
    let grid = Grid::new(WORLD, 301, 201);
    let below = slope(grid);
    for pad in varied() {
        let outline = pad.outline().expect("a shape");
        let terrain = modified(&pads(vec![pad.clone()]), &below);
        let (mut inside, mut untouched, mut steepest) = (0, 0, 0.0_f64);
        let placed = pad.placed(0, outline.clone(), pad.height_m.expect("set"));
        for (c, r) in (0..grid.height()).flat_map(|r| (0..grid.width()).map(move |c| (c, r))) {
            let at = [grid.x_m(c), grid.z_m(r)];
            match outline.nearest(at) {
                None => {
                    inside += 1;
                    assert_eq!(terrain[(c, r)].to_bits(), (placed.plane(at) as f32).to_bits());
                }
                Some(nearest) => {
                    let distance = libm::hypot(at[0] - nearest[0], at[1] - nearest[1]);
                    let off = (f64::from(below[(c, r)]) - placed.plane(nearest)).abs();
                    if off < placed.bank * distance {
                        untouched += 1;
                        assert_eq!(terrain[(c, r)].to_bits(), below[(c, r)].to_bits());
                    } else if distance > 0.1 {
                        let off = (f64::from(terrain[(c, r)]) - placed.plane(nearest)).abs();
                        steepest = steepest.max(off / distance);
                    }
                }
            }
        }
        assert!(inside > 500 && untouched > 500, "{inside}, {untouched}");
        let steepest_deg = libm::atan(steepest).to_degrees();
        assert!((steepest_deg - pad.bank_deg).abs() < 0.1, "{steepest_deg} not {}", pad.bank_deg);
    }
}

#[test]
fn pads_equal_the_plain_formula() {
    let grid = Grid::new(WORLD, 121, 81);
    let mut rng = stream().at(1);
    let mut all = varied();
    for i in 0..30 {
        let centre = [rng.between(-30.0, 330.0), rng.between(-30.0, 230.0)];
        let size = [rng.between(0.5, 60.0), rng.between(0.5, 60.0)];
        let shape = if i % 2 == 0 { Shape::Rectangle } else { Shape::Ellipse };
        let (turn_deg, corner_m) = (rng.between(-200.0, 200.0), rng.between(0.0, 20.0));
        let (bank_deg, grade) = (rng.between(5.0, 80.0), rng.between(0.0, 0.3));
        all.push(Pad {
            shape,
            turn_deg,
            corner_m,
            bank_deg,
            grade,
            enabled: i % 7 != 3,
            ..pad(centre, size, rng.between(-50.0, 150.0))
        });
    }
    let below = slope(grid);
    let found = modified(&pads(all.clone()), &below);
    for (c, r) in (0..grid.height()).flat_map(|r| (0..grid.width()).map(move |c| (c, r))) {
        let at = [grid.x_m(c), grid.z_m(r)];
        let mut height = f64::from(below[(c, r)]);
        for pad in all.iter().filter(|pad| pad.enabled) {
            let outline = pad.outline().expect("a shape");
            let nearest = outline.nearest(at).unwrap_or(at);
            let [west, north, east, south] = outline.bounds();
            let azimuth = pad.grade_azimuth_deg.to_radians();
            let along = (nearest[0] - 0.5 * (west + east)) * libm::sin(azimuth)
                - (nearest[1] - 0.5 * (north + south)) * libm::cos(azimuth);
            let plane = pad.height_m.expect("set") + pad.grade * along;
            let bank = libm::tan(pad.bank_deg.to_radians()) * libm::hypot(at[0] - nearest[0], at[1] - nearest[1]);
            height = height.clamp(plane - bank, plane + bank);
        }
        assert!((f64::from(found[(c, r)]) - height).abs() < 1e-4, "{c}, {r}: {} not {height}", found[(c, r)]);
    }
}

#[test]
fn a_small_map_is_an_exact_subset_of_a_large_one() {
    let extent = Extent { width_m: 301.7, depth_m: 203.3 };
    let at = |side: usize| modified(&pads(varied()), &level(Grid::new(extent, side, side), 3.0));
    assert_subset(&at(17), &at(65));
}

#[test]
fn pads_with_heights_can_be_evaluated_in_parts() {
    let grid = Grid::new(WORLD, 61, 41);
    let operation = pads(varied());
    assert!(operation.is_pointwise());
    let whole = modified(&operation, &slope(grid));
    let part = grid.part([20, 11], [30, 19]);
    let found = modified(&operation, &slope(part));
    let expected = Heightfield::from_fn(part, |c, r| whole[(20 + c, 11 + r)]);
    assert_eq!(found, expected);
    let mut all = varied();
    all[0].height_m = None;
    assert!(!pads(all.clone()).is_pointwise());
    all[0].enabled = false;
    assert!(pads(all).is_pointwise());
}

#[test]
fn without_a_height_it_is_the_mean_of_the_terrain_below() {
    let grid = Grid::new(WORLD, 61, 41);
    let without = |pad: Pad| Pad { height_m: None, ..pad };
    let heights = |all: Vec<Pad>| -> Vec<f64> {
        let reports = pads(all).report(&slope(grid), &Progress::new()).expect("not cancelled");
        reports.into_iter().flatten().map(|report| report.height_m).collect()
    };
    // On a plane it is the height at the centre.
    for pad in &varied()[..2] {
        let expected = pad.centre_m.x_m / 10.0 + pad.centre_m.z_m / 20.0;
        let found = heights(vec![without(pad.clone())])[0];
        assert!((found - expected).abs() < 1e-4, "{found} not {expected}");
    }
    // A triangle: half the points of the box, whose mean is at its centroid (to within the lattice).
    let corners = vec![point(100.0, 50.0), point(160.0, 50.0), point(100.0, 110.0)];
    let triangle = Pad { shape: Shape::Polygon, points_m: corners.into(), ..Default::default() };
    let found = heights(vec![triangle])[0];
    assert!((found - (12.0 + 3.5)).abs() < 0.15, "{found}");
    // As earlier pads leave it.
    let first = pad([150.0, 100.0], [100.0, 100.0], 70.0);
    let second = without(pad([150.0, 100.0], [20.0, 20.0], 0.0));
    assert_eq!(heights(vec![first, second]), [70.0, 70.0]);
    // Smaller than the lattice's cells could be, and off the map: the nearest terrain.
    let tiny = without(pad([400.0, 100.0], [0.01, 0.01], 0.0));
    assert!((heights(vec![tiny])[0] - 35.0).abs() < 1e-4);
}

#[test]
fn later_pads_cut_earlier_ones_and_are_reported() {
    let grid = Grid::new(WORLD, 31, 21);
    let all = vec![
        pad([100.0, 100.0], [60.0, 60.0], 10.0),
        pad([130.0, 100.0], [40.0, 20.0], 4.0),
        Pad { enabled: false, ..pad([100.0, 100.0], [40.0, 20.0], 90.0) },
        pad([250.0, 50.0], [20.0, 20.0], 4.0),
        // At the height of the first: nothing changes, but one covers the other.
        pad([80.0, 100.0], [20.0, 20.0], 10.0),
    ];
    let terrain = modified(&pads(all.clone()), &level(grid, 0.0));
    assert_eq!([terrain[(9, 10)], terrain[(12, 10)], terrain[(14, 10)]], [10.0, 4.0, 4.0]);
    // 10 m north of the second pad its bank has not yet reached the plane of the first.
    assert_eq!(terrain[(12, 8)], 10.0);
    let report = pads(all).report(&level(grid, 0.0), &Progress::new()).expect("not cancelled");
    let overlaps: Vec<Option<Vec<usize>>> =
        report.into_iter().map(|report| report.map(|report| report.overlapped_by)).collect();
    assert_eq!(overlaps, [Some(vec![1, 4]), Some(vec![]), None, Some(vec![]), Some(vec![])]);
}

#[test]
fn volumes_are_those_of_frustums() {
    let grid = Grid::new(WORLD, 1201, 801);
    // A block of 60 × 40 × 10 m, banks with triangular sections, and four quarters of a cone.
    let expected = 60.0 * 40.0 * 10.0 + 2.0 * (60.0 + 40.0) * 50.0 + std::f64::consts::PI * 1000.0 / 3.0;
    let site = |height_m| pads(vec![pad([150.0, 100.0], [60.0, 40.0], height_m)]);
    let volumes = |pads: Pads| {
        let report = pads.report(&level(grid, 0.0), &Progress::new()).expect("not cancelled");
        report[0].clone().map(|report| [report.cut_m3, report.fill_m3]).expect("a pad")
    };
    let [[cut, fill], [other_cut, other_fill]] = [10.0, -10.0].map(|height_m| volumes(site(height_m)));
    assert!((fill / expected - 1.0).abs() < 1e-3, "{fill} not {expected}");
    assert_eq!([cut, other_fill, other_cut], [0.0, 0.0, fill]);
    // A pad at the mean height cuts as much as it fills.
    let balanced = pads(vec![Pad { height_m: None, ..pad([150.0, 100.0], [60.0, 40.0], 0.0) }]);
    let report = balanced.report(&slope(grid), &Progress::new()).expect("not cancelled");
    let report = report[0].clone().expect("a pad");
    assert!(report.cut_m3 > 1000.0 && (report.cut_m3 / report.fill_m3 - 1.0).abs() < 0.01, "{report:?}");
    // Samples on the border stand for half a cell, those in corners for a quarter.
    let everywhere = pads(vec![Pad { centre_m: point(150.0, 100.0), size_m: point(900.0, 900.0), ..slab(7.0) }]);
    let [_, fill] = volumes(everywhere);
    assert!((fill / (300.0 * 200.0 * 7.0) - 1.0).abs() < 1e-9, "{fill}");
}

fn slab(height_m: f64) -> Pad {
    Pad { height_m: Some(height_m), ..Default::default() }
}

#[test]
fn polygons_need_three_corners() {
    let grid = Grid::new(WORLD, 31, 21);
    let two =
        Pad { shape: Shape::Polygon, points_m: vec![point(1.0, 2.0), point(100.0, 90.0)].into(), ..Default::default() };
    let operation = pads(vec![slab(1.0), two.clone()]);
    assert_eq!(
        operation.check(grid).expect_err("refused").to_string(),
        "pads.1.points_m: a polygon needs at least 3 corners, but this one has 2; add corners, or disable the pad"
    );
    assert_eq!(modified(&pads(vec![two.clone()]), &slope(grid)), slope(grid), "it has no effect");
    assert_eq!(pads(vec![Pad { enabled: false, ..two }]).check(grid), Ok(()));
    assert_eq!(modified(&pads(Vec::new()), &slope(grid)), slope(grid));
}
