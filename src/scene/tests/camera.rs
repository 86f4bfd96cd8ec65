//! Moving and framing with the camera.

use super::*;
use crate::scene::camera::box_corners;
use crate::scene::projection::Ray;

#[test]
fn orbiting_gradually_leaves_an_orthographic_projection() {
    let mut camera = Camera { orthographic: 1.0, ..Default::default() };
    let mut shares = vec![camera.orthographic];
    for _ in 0..40 {
        camera.orbit(Vec2::new(4.0, 0.0));
        shares.push(camera.orthographic);
    }
    assert!(shares.windows(2).all(|pair| pair[0] - pair[1] < 0.06) && shares.is_sorted_by(|a, b| a >= b));
    assert_eq!(camera.orthographic, 0.0);
}

#[test]
fn a_different_aspect_ratio_keeps_the_centre_and_the_size_of_the_terrain() {
    let (half, block) = (scale().half_size(), [0.0, 0.15]);
    let near = Camera { distance: 0.3, ..Default::default() };
    for (start, pivot) in [(Camera::default(), Vec3::new(0.0, 0.1, 0.0)), (near, Vec3::splat(0.2))] {
        let mut camera = Camera { pivot, ..start };
        camera.adapt_to_aspect(half, block, [1.6, 0.8]);
        assert_eq!(camera.pivot, pivot);
        let relative_distance = |camera: &Camera, aspect| {
            let mut framed = *camera;
            framed.frame(half, block, aspect);
            camera.distance / framed.distance
        };
        let before = relative_distance(&Camera { pivot, ..start }, 1.6);
        let after = relative_distance(&camera, 0.8);
        assert!((before / after - 1.0).abs() < 0.01, "{before} and {after} of the framing distance");
        camera.adapt_to_aspect(half, block, [0.8, 1.6]);
        assert!((camera.distance / start.distance - 1.0).abs() < 0.01, "and back: {}", camera.distance);
    }
}

#[test]
fn a_framed_block_fits_from_every_side() {
    for (azimuth, pitch, orthographic) in
        [(0.0, 0.3, 0.0), (0.8, 0.5, 0.0), (2.0, 1.57, 1.0), (4.0, 0.02, 0.0), (0.8, 0.5, 0.5)]
    {
        let mut camera = Camera { azimuth, pitch, orthographic, ..Default::default() };
        camera.frame(scale().half_size(), [0.0, 0.15], HALF_PX.x / HALF_PX.y);
        let projection = projection(&camera);
        let reach = box_corners(scale().half_size(), [0.0, 0.15]).map(|corner| {
            let at = projection.project(corner).expect("in front of the camera").abs().max_element();
            assert!(at < 1.0, "{corner} is outside the screen");
            at
        });
        let reach = reach.fold(0.0, f32::max);
        assert!(reach > 0.75, "{reach} of the screen");
    }
}

#[test]
fn a_grabbed_point_stays_under_the_pointer() {
    for orthographic in [0.0, 0.5, 1.0] {
        let mut camera = Camera { azimuth: 0.7, orthographic, ..Default::default() };
        let grabbed = Vec3::new(0.2, 0.05, -0.3);
        let before = projection(&camera);
        camera.focus_on(&before, grabbed);
        let focused = projection(&camera);
        for point in [Vec3::new(0.1, 0.0, 0.2), Vec3::new(-0.3, 0.1, -0.4)] {
            assert!((px(&focused, point) - px(&before, point)).length() < 0.01, "nothing has moved");
        }
        assert!((camera.distance - before.divisor(grabbed)).abs() < 1e-5, "the scale is that of the point");
        let to = px(&focused, grabbed) + Vec2::new(40.0, 25.0);
        camera.pan(grabbed, focused.ray(to / HALF_PX));
        let found = px(&projection(&camera), grabbed);
        assert!((found - to).length() < 0.1, "{found} for {to}");
        let at_horizon = camera;
        if orthographic < 1.0 {
            let direction = Vec3::new(1.0, 1e-9, 0.0);
            camera.pan(grabbed, Ray { direction, ..focused.ray(to / HALF_PX) });
            assert_eq!(camera, at_horizon, "a ray towards the horizon drags nothing away");
        }
    }
}

#[test]
fn a_turntable_shows_the_entire_block_at_every_angle() {
    for (half, aspect) in [([0.5, 0.5], 1.6), ([0.5, 0.5], 16.0 / 9.0), ([0.5, 0.25], 1.6), ([0.5, 0.25], 16.0 / 9.0)] {
        for pitch in [0.02, 0.5, 1.57] {
            let (block, mut camera) = ([-0.04, 0.3], Camera { pitch, pivot: Vec3::splat(0.3), ..Default::default() });
            camera.frame_turntable(half, block, aspect);
            assert_eq!([camera.pivot.x, camera.pivot.z], [0.0; 2]);
            let mut reach: f32 = 0.0;
            for turn in 0..97 {
                let azimuth = camera.azimuth + turn as f32 / 97.0 * std::f32::consts::TAU;
                let projection = Camera { azimuth, ..camera }.projection(aspect, |_| f32::MIN);
                for corner in box_corners(half, block) {
                    let at = projection.project(corner).expect("in front of the camera").abs().max_element();
                    assert!(at <= 1.0, "{corner} is outside the screen at turn {turn}");
                    reach = reach.max(at);
                }
            }
            assert!(reach > 0.9, "{reach} of the image");
        }
    }
}

#[test]
fn zooming_keeps_the_point_under_the_pointer() {
    let point = Vec3::new(0.2, 0.05, -0.1);
    for (orthographic, factor) in
        [0.0, 0.4, 1.0].into_iter().flat_map(|share| [1.3, 2.0, 0.8].map(|factor| (share, factor)))
    {
        let mut camera = Camera { azimuth: 0.7, orthographic, ..Default::default() };
        let before = px(&projection(&camera), point);
        camera.zoom(factor, point);
        let after = px(&projection(&camera), point);
        assert!((after - before).length() < 0.05, "{before} went to {after}");
    }
}

#[test]
fn interpolation_turns_the_shorter_way_round() {
    let from = Camera { azimuth: 6.0, ..Default::default() };
    let to = Camera { azimuth: 0.2, ..Default::default() };
    let azimuth = Camera::interpolate(&from, &to, 0.5).azimuth;
    assert!((azimuth - 6.2416).abs() < 1e-3, "{azimuth}");
    assert_eq!(Camera::interpolate(&from, &to, 0.0), from);
}
