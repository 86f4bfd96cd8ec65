//! Shapes in rendered images: where things are drawn, transitions, the wireframe, and glowing faults.

use std::sync::Arc;

use super::*;
use crate::engine::scatter::{Instance, ScatterLayer, Scattered, Shape, ShapeInstances};
use crate::scene::glow::GlowingFault;
use crate::scene::shading::ShadingMode;

#[test]
fn a_marked_pixel_is_drawn_at_its_projection() {
    let Some(mut renderer) = renderer() else { return };
    let terrain = bumpy();
    let camera = Camera { azimuth: 0.7, pitch: 0.9, distance: 1.9, ..Default::default() };
    let cameras = [camera, Camera { orthographic: 0.5, ..camera }, Camera { orthographic: 1.0, ..camera }];
    let places = [(7, 6), (24, 16), (40, 9), (30, 27)];
    for (camera, (c, r)) in cameras.iter().flat_map(|camera| places.map(|place| (camera, place))) {
        let mut colours = black(&terrain);
        colours.pixels[r * colours.width + c] = [255, 0, 0, 255];
        let frame = frame(terrain.clone(), colours, camera, [480, 320]);
        let grid = terrain.grid();
        let middle = |at: usize, count: usize, side: f64| (at as f64 + 0.5) / count as f64 * side;
        let place_m = [middle(c, grid.width(), WORLD.width_m), middle(r, grid.height(), WORLD.depth_m)];
        let expected = pixel_of(&frame, place_m);
        let image = render(&mut renderer, &frame);
        let (mut sum, mut centre) = (0.0, Vec2::ZERO);
        for (i, pixel) in image.pixels.iter().enumerate() {
            // Redder than any rock of the block's sides.
            let red = f32::from(pixel[0]) - 2.5 * f32::from(pixel[1].max(pixel[2])) - 4.0;
            if red > 0.0 {
                let place = Vec2::new((i % image.width) as f32 + 0.5, (i / image.width) as f32 + 0.5);
                (sum, centre) = (sum + red, centre + red * place);
            }
        }
        assert!(sum > 100.0, "the mark of ({c}, {r}) is visible");
        let seen = centre / sum;
        assert!((seen - expected).length() < 1.0, "({c}, {r}) is at {seen}, not at {expected}");
    }
}

#[test]
fn half_of_a_transition_is_half_way_between_two_terrains() {
    let Some(mut renderer) = renderer() else { return };
    let grid = Grid::new(WORLD, 33, 33);
    let level = |height: f32| Heightfield::from_fn(grid, |_, _| height);
    let pivot = Vec3::new(0.0, 0.05, 0.0);
    let camera = Camera { pitch: 0.3, azimuth: 0.0, distance: 3.0, pivot, orthographic: 0.0 };
    let frame_at = |height: f32, blend: f32| {
        let white = Image { width: 33, height: 33, pixels: vec![[255; 4]; 33 * 33] };
        let frame = frame(level(height), white, &camera, [96, 96]);
        Frame { blend, y_range: [0.0, 0.2], bottom: -0.035, ..frame }
    };
    renderer.draw(&frame_at(0.0, 1.0)).expect("drawn");
    let half = frame_at(300.0, 0.5);
    let image = render(&mut renderer, &half);
    let bright = |y: usize| image.pixels[y * 96 + 48].iter().take(3).all(|channel| *channel > 200);
    let top = (0..96).find(|&y| bright(y)).expect("the terrain") as f32;
    // The far edge of a plateau at 150 m is the highest point on the screen.
    let expected = pixel_of_point(&half, half.scale.point([1500.0, 0.0], 150.0)).y;
    assert!((top - expected).abs() < 1.5, "{top} and not {expected}");
}

#[test]
fn a_fault_glows_along_its_line_only() {
    let Some(mut renderer) = renderer() else { return };
    let terrain = bumpy();
    let camera = Camera { azimuth: 0.7, pitch: 0.9, distance: 1.9, ..Default::default() };
    let plain = frame(terrain.clone(), black(&terrain), &camera, [480, 320]);
    let line = GlowingFault { from_m: [600.0, 500.0], to_m: [2400.0, 1500.0], strength: 1.0 };
    let glowing = Frame { glow: vec![line], ..plain.clone() };
    let (dark, bright) = (render(&mut renderer, &plain), render(&mut renderer, &glowing));
    for share in [0.1, 0.4, 0.6, 0.9] {
        let at = [0, 1].map(|axis| line.from_m[axis] + share * (line.to_m[axis] - line.from_m[axis]));
        let [red, green, blue, _] = colour_at(&bright, pixel_of(&plain, at));
        assert!(red > 200 && green < 180 && blue < 140 && red > green && green > blue, "{red} {green} {blue}");
        // 400 m to the side only the edge of the halo remains.
        let pixel = pixel_of(&plain, [at[0] + 194.0, at[1] - 350.0]);
        let [before, after] = [&dark, &bright].map(|image| colour_at(image, pixel));
        assert!(before[0] < 4 && after[0] < 20, "to the side: {before:?} and {after:?}");
    }
    let beyond = pixel_of(&plain, [2800.0, 1722.0]);
    assert_eq!(colour_at(&bright, beyond), colour_at(&dark, beyond), "beyond the end");
    let faint = Frame { glow: vec![GlowingFault { strength: 0.2, ..line }], ..plain.clone() };
    let middle = pixel_of(&plain, [1500.0, 1000.0]);
    let red = |image: &Image| colour_at(image, middle)[0];
    let faint = render(&mut renderer, &faint);
    assert!(red(&dark) < red(&faint) && red(&faint) < red(&bright), "an older fault glows less");
}

#[test]
fn scattered_things_stand_where_they_are_and_the_ground_hides_them() {
    let Some(mut renderer) = renderer() else { return };
    let terrain = Heightfield::flat(Grid::new(WORLD, 33, 33));
    let camera = Camera { azimuth: 0.7, pitch: 0.6, distance: 1.9, ..Default::default() };
    let plain = frame(terrain.clone(), black(&terrain), &camera, [480, 320]);
    let colour = crate::engine::parameters::Colour([255, 40, 40]);
    let layer = ScatterLayer { shape: Shape::Box, radius_m: 60.0, height_m: 200.0, colour, ..ScatterLayer::default() };
    let shapes = |height_m: f64| {
        let at_m = [1500.0, height_m, 1000.0];
        let instance = Instance { at_m, yaw_deg: 30.0, pitch_deg: 0.0, roll_deg: 0.0, scale: 1.0 };
        let scattered = [Scattered { layer: 0, instances: vec![instance] }];
        Some(Arc::new(ShapeInstances::new(std::slice::from_ref(&layer), &scattered, WORLD)))
    };
    let image = |shapes| Frame { shapes, ..plain.clone() };
    let bare = render(&mut renderer, &plain);
    let standing = render(&mut renderer, &image(shapes(0.0)));
    let unit_m = plain.scale.unit_m();
    let at = |east_m: f64, up_m: f32| {
        let foot = plain.scale.point([1500.0 + east_m, 1000.0], 0.0);
        pixel_of_point(&plain, foot + Vec3::new(0.0, up_m / unit_m, 0.0))
    };
    for up_m in [20.0, 100.0, 180.0] {
        let [red, green, _, _] = colour_at(&standing, at(0.0, up_m));
        assert!(red > 40 && red > 2 * green, "{red} {green} at {up_m} m");
    }
    for (east_m, up_m) in [(0.0, 330.0), (200.0, 100.0), (-200.0, 100.0)] {
        assert_eq!(colour_at(&standing, at(east_m, up_m)), colour_at(&bare, at(east_m, up_m)));
    }
    assert!(render(&mut renderer, &image(shapes(-250.0))).pixels == bare.pixels, "it is under the ground");
}

#[test]
fn magnified_terrain_has_detail_and_the_same_outline() {
    let Some(mut renderer) = renderer() else { return };
    let slope = Heightfield::from_fn(Grid::new(WORLD, 33, 33), |c, _| c as f32 * 60.0);
    let colours = Image { width: 33, height: 33, pixels: vec![[150, 140, 130, 255]; 33 * 33] };
    let mut render_from = |distance: f32, is_fast: bool| {
        let params = RenderParams::new(slope.clone(), colours.clone(), Light::default(), None);
        let pivot = Vec3::new(0.0, params.scale().y(16.0 * 60.0), 0.0);
        let camera = Camera { pivot, pitch: 0.8, azimuth: 1.2, distance, ..Default::default() };
        let params = RenderParams { camera: Some(camera), ..params };
        render(&mut renderer, &Frame { is_fast, ..params.frame([160, 120], 0.0) })
    };
    let deviation = |image: &Image| {
        let green: Vec<f32> = image.pixels.iter().map(|pixel| f32::from(pixel[1])).collect();
        let mean = green.iter().sum::<f32>() / green.len() as f32;
        (green.iter().map(|green| (green - mean) * (green - mean)).sum::<f32>() / green.len() as f32).sqrt()
    };
    let (near, plain) = (deviation(&render_from(0.1, false)), deviation(&render_from(0.1, true)));
    assert!(near > 4.0 && plain < 0.5 * near, "{near} with detail, {plain} without");
    // From far away the detail is invisible and the outline is the same.
    let (fine, fast) = (render_from(3.0, false), render_from(3.0, true));
    let differing = fine.pixels.iter().zip(&fast.pixels).filter(|(a, b)| a[1].abs_diff(b[1]) > 24).count();
    assert!(differing < fine.pixels.len() / 40, "{differing} pixels, no more than the smoothed edges");
}

#[test]
fn the_wireframe_has_lines_along_the_samples_and_none_inside_the_triangles() {
    let Some(mut renderer) = renderer() else { return };
    let terrain = bumpy();
    let camera = Camera { azimuth: 0.3, pitch: 1.1, distance: 1.0, ..Default::default() };
    let mut frame = frame(terrain.clone(), black(&terrain), &camera, [480, 320]);
    frame.environment.shading = ShadingMode::Wireframe;
    let image = render(&mut renderer, &frame);
    let brightness = |c: f64, r: f64| {
        let place = [c / 48.0 * WORLD.width_m, r / 32.0 * WORLD.depth_m];
        let [red, green, blue, _] = colour_at(&image, pixel_of(&frame, place)).map(u32::from);
        red + green + blue
    };
    for (c, r) in [(20.0, 14.0), (24.0, 16.0), (27.0, 18.0), (22.0, 17.0)] {
        // The centres of the two triangles of a quad, and the edges that they share with others.
        let centres = [brightness(c + 0.25, r + 0.25), brightness(c + 0.75, r + 0.75)];
        let edges = [brightness(c + 0.5, r), brightness(c, r + 0.5), brightness(c + 0.5, r + 0.5)];
        let (light, dark) = (edges.into_iter().min(), centres.into_iter().max());
        assert!(light > dark.map(|dark| dark + 60), "edges {edges:?}, centres {centres:?}");
    }
}
