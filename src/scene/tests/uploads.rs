//! Uploads and draws happen only when needed.

use std::sync::Arc;

use super::*;
use crate::scene::gpu::renderer::WorkCounts;

#[test]
fn the_heights_on_the_gpu_are_bit_identical() {
    let Some(mut renderer) = renderer() else { return };
    let terrain = bumpy();
    renderer.draw(&frame(terrain.clone(), black(&terrain), &Camera::default(), [64, 48])).expect("drawn");
    assert_eq!(renderer.heights(), terrain.heights());
}

#[test]
fn only_changes_are_uploaded_and_drawn() {
    let Some(mut renderer) = renderer() else { return };
    let terrain = bumpy();
    let first = frame(terrain.clone(), black(&terrain), &Camera::default(), [64, 48]);
    let mut check = |frame: &Frame, change: &str, expected: [u64; 4]| {
        renderer.draw(frame).expect("drawn");
        let WorkCounts { heights, colours, lights, draws } = renderer.counts;
        assert_eq!([heights, colours, lights, draws], expected, "{change}");
    };
    check(&first, "the first frame", [1, 1, 1, 1]);
    check(&first, "no change", [1, 1, 1, 1]);
    let projection = Camera { azimuth: 2.0, ..Default::default() }.projection(4.0 / 3.0, |_| f32::MIN);
    let moved = Frame { projection, ..first.clone() };
    check(&moved, "a moved camera", [1, 1, 1, 2]);
    let painted = Frame { colours: Arc::new(black(&terrain)), ..moved.clone() };
    check(&painted, "new colours", [1, 2, 1, 3]);
    let mut environment = painted.environment;
    environment.sun = [0.6, 0.8, 0.0, 1.0];
    check(&Frame { environment, ..painted.clone() }, "another sun", [1, 2, 2, 4]);
    let next = Frame { terrain: Arc::new(bumpy()), environment, ..painted.clone() };
    check(&next, "another terrain", [2, 3, 3, 5]);
    check(&Frame { blend: 0.5, ..next.clone() }, "half of the transition", [2, 3, 3, 6]);
}

#[test]
fn an_image_in_bands_is_the_same_image() {
    let Some(mut renderer) = renderer() else { return };
    let terrain = bumpy();
    for orthographic in [0.0, 1.0] {
        let camera = Camera { azimuth: 0.7, pitch: 0.6, orthographic, ..Default::default() };
        let frame = Frame { is_fast: false, ..frame(terrain.clone(), black(&terrain), &camera, [320, 200]) };
        let at_once = render(&mut renderer, &frame);
        renderer.limit_bands(320 * 24);
        let before = renderer.counts.draws;
        let in_bands = render(&mut renderer, &frame);
        assert_eq!(renderer.counts.draws - before, 9, "200 rows, 24 at a time");
        renderer.limit_bands(1 << 20);
        let differing = at_once.pixels.iter().zip(&in_bands.pixels).filter(|(a, b)| a != b).count();
        // The edges of triangles may be rounded differently.
        assert!(differing < 32, "{differing} pixels differ");
    }
    let cancelled = Progress::new();
    cancelled.cancel();
    let frame = frame(terrain.clone(), black(&terrain), &Camera::default(), [64, 64]);
    assert!(renderer.render_image(&frame, &cancelled).is_err());
}

#[test]
fn every_second_sample_is_drawn_where_textures_are_too_small() {
    let Some(device) = device() else { return };
    let (mut renderer, terrain) = (renderer_on(&device), bumpy());
    let camera = Camera { azimuth: 0.3, pitch: 1.1, distance: 2.0, ..Default::default() };
    let colours = Image { pixels: vec![[250, 250, 250, 255]; 49 * 33], ..black(&terrain) };
    let frame = frame(terrain.clone(), colours, &camera, [96, 64]);
    let full = render(&mut renderer, &frame);
    assert_eq!(renderer.sample_stride(&terrain), 1);
    let mut small = renderer_on(&device);
    // Less than the 49 samples of a row.
    small.limit_texture_side(40);
    assert_eq!(small.sample_stride(&terrain), 2);
    let reduced = render(&mut small, &Frame { size: [40, 26], ..frame.clone() });
    assert_eq!(small.heights().len(), 25 * 17);
    let mean =
        |image: &Image| image.pixels.iter().map(|pixel| f64::from(pixel[1])).sum::<f64>() / image.pixels.len() as f64;
    assert!((mean(&full) - mean(&reduced)).abs() < 6.0, "{} and {}", mean(&full), mean(&reduced));
}
