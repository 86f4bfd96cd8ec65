//! Colours and light in rendered images.

use super::*;
use crate::engine::image::linear_from_srgb;
use crate::scene::shading::ShadingMode;

#[test]
fn level_terrain_has_the_colour_of_the_legend() {
    let Some(mut renderer) = renderer() else { return };
    let level = Heightfield::from_fn(Grid::new(WORLD, 33, 33), |_, _| 150.0);
    let camera = Camera { pitch: 1.2, distance: 3.0, ..Default::default() };
    for (shading, range_m, number) in [
        (ShadingMode::Slope, [0.0, 200.0], 0.0),
        (ShadingMode::Elevation, [0.0, 200.0], 0.75),
        (ShadingMode::Elevation, [100.0, 300.0], 0.25),
        (ShadingMode::Elevation, [150.0, 300.0], 0.0),
    ] {
        let params = RenderParams::new(level.clone(), black(&level), Light::default(), None);
        let params = RenderParams { shading, range_m, camera: Some(camera), ..params };
        let found = render(&mut renderer, &params.frame([96, 64], 0.0)).pixels[32 * 96 + 48];
        let expected = shading.ramp().expect("a ramp").colour(number);
        let difference = found.iter().zip(expected).map(|(found, expected)| found.abs_diff(expected)).max();
        assert!(difference <= Some(3), "{shading:?} at {number}: {found:?}, and the legend has {expected:?}");
    }
}

#[test]
fn slopes_differ_in_the_shade_which_is_bluer_than_sunlight() {
    let Some(mut renderer) = renderer() else { return };
    // Falling southward, away from a low sun in the north.
    let light = Light { azimuth_deg: 0.0, altitude_deg: 8.0, ..Default::default() };
    let mut colour = |steepness: f32, light: &Light| {
        let terrain = Heightfield::from_fn(Grid::new(WORLD, 61, 41), |_, r| -steepness * r as f32 * 50.0);
        let colours = black(&terrain);
        let pitch = std::f32::consts::FRAC_PI_2;
        let camera = Camera { pitch, azimuth: 0.0, orthographic: 1.0, distance: 1.0, ..Default::default() };
        let params = RenderParams::new(terrain, colours, light.clone(), None);
        let params = RenderParams { shading: ShadingMode::Clay, camera: Some(camera), ..params };
        let frame = Frame { is_fast: true, ..params.frame([64, 64], 0.0) };
        colour_at(&render(&mut renderer, &frame), Vec2::splat(32.0)).map(linear_from_srgb)
    };
    let [gentle, middle, steep] = [0.3, 0.7, 1.6].map(|steepness| colour(steepness, &light));
    assert!(gentle[1] > 1.08 * middle[1] && middle[1] > 1.08 * steep[1], "{gentle:?}, {middle:?}, {steep:?}");
    let sunny = colour(0.3, &Light { azimuth_deg: 180.0, altitude_deg: 40.0, ..Default::default() });
    assert!(gentle[2] / gentle[0] > 1.15 * sunny[2] / sunny[0], "{gentle:?} in the shade, {sunny:?} in the sun");
}

/// A conical island with a flat beach, in one colour.
fn island() -> (Heightfield, Image) {
    let grid = Grid::new(Extent { width_m: 2000.0, depth_m: 2000.0 }, 129, 129);
    let terrain = Heightfield::from_fn(grid, |c, r| {
        let [east, south] = [c, r].map(|at| (at as f32 - 64.0) * 2000.0 / 128.0);
        60.0 - 0.15 * (east * east + south * south).sqrt()
    });
    (terrain, Image { width: 129, height: 129, pixels: vec![[150, 140, 110, 255]; 129 * 129] })
}

#[test]
fn water_darkens_with_its_depth_and_has_no_halo() {
    let Some(mut renderer) = renderer() else { return };
    let (terrain, colours) = island();
    let params = RenderParams::new(terrain, colours, Light::default(), Some(0.0));
    let params = RenderParams { camera: Some(from_above(&params)), ..params };
    let frame = params.frame([400, 400], 0.0);
    let image = render(&mut renderer, &frame);
    // Along a line from the coast, 400 m east of the centre, to deep water.
    let at = |east_m: f64| {
        let [red, green, blue, _] = colour_at(&image, pixel_of(&frame, [1000.0 + east_m, 1000.0])).map(f32::from);
        [red, green, blue]
    };
    let [shallow, middle, deep] = [416.0, 440.0, 900.0].map(at);
    assert!(shallow[0] > middle[0] && middle[0] > deep[0], "red fades: {shallow:?}, {middle:?}, {deep:?}");
    assert!(deep[2] > deep[0] + 20.0, "deep water is blue: {deep:?}");
    let blues: Vec<f32> = (0..24).map(|i| at(430.0 + 20.0 * f64::from(i))[2]).collect();
    assert!(blues.windows(2).all(|pair| pair[1] < pair[0] + 9.0), "no brighter band off the coast: {blues:?}");
}

#[test]
fn the_sun_glitters_on_water_between_it_and_the_eye() {
    let Some(mut renderer) = renderer() else { return };
    let (terrain, colours) = island();
    let light = Light { azimuth_deg: 0.0, altitude_deg: 30.0, ..Default::default() };
    // Looking north, towards the sun, at the angle of its light.
    let pivot = Vec3::new(0.0, 0.0, -0.35);
    let towards = Camera { azimuth: 0.0, pitch: 30_f32.to_radians(), distance: 1.2, pivot, orthographic: 1.0 };
    let away = Camera { azimuth: std::f32::consts::PI, pivot: -pivot, ..towards };
    let mut brightness = |camera: Camera| {
        let params = RenderParams::new(terrain.clone(), colours.clone(), light.clone(), Some(0.0));
        let image = render(&mut renderer, &RenderParams { camera: Some(camera), ..params }.frame([200, 200], 0.0));
        let luminance = |pixel: &[u8; 4]| {
            let [red, green, blue, _] = pixel.map(linear_from_srgb);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        (80..120).flat_map(|row| image.pixels[row * 200 + 80..][..40].iter().map(luminance)).sum::<f32>()
    };
    let (bright, dark) = (brightness(towards), brightness(away));
    assert!(bright > 3.0 * dark, "{bright} and {dark}");
}
