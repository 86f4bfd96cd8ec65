//! Points, rays and depths of projections.

use super::*;
use crate::scene::camera::FOCAL_LENGTH;

#[test]
fn the_pivot_is_in_the_centre_and_east_to_the_right_when_looking_north() {
    let pivot = Vec3::new(0.1, 0.2, -0.1);
    let camera = Camera { pivot, azimuth: 0.0, pitch: 0.4, distance: 2.0, orthographic: 0.0 };
    let projection = projection(&camera);
    let centre = px(&projection, pivot);
    assert!(centre.length() < 1e-3, "{centre}");
    let east = px(&projection, pivot + 0.1 * Vec3::X);
    // Half the height is 1 / FOCAL_LENGTH of the distance.
    assert!((east - centre - Vec2::new(0.1 / 2.0 * FOCAL_LENGTH * 150.0, 0.0)).length() < 1e-3, "{east}");
    let higher = px(&projection, pivot + 0.1 * Vec3::Y);
    assert!(higher.y > centre.y && (higher.x - centre.x).abs() < 1e-3);
    assert_eq!(projection.project(projection.eye - projection.forward), None);
}

#[test]
fn a_picked_point_projects_to_where_it_was_picked() {
    let grid = Grid::new(scale().extent, 101, 51);
    let hills =
        Heightfield::from_fn(grid, |c, r| 60.0 * libm::sinf(c as f32 * 0.2) * libm::cosf(r as f32 * 0.3) + c as f32);
    let top = scale().y(hills.min_max()[1]);
    let oblique = Camera { azimuth: 0.6, pitch: 0.5, distance: 1.4, ..Default::default() };
    let above = Camera { pitch: std::f32::consts::FRAC_PI_2, orthographic: 1.0, ..oblique };
    let halfway = Camera { orthographic: 0.5, ..oblique };
    let parallel = Camera { orthographic: 1.0, ..oblique };
    let projections = [oblique, halfway, parallel, above].map(|camera| projection(&camera));
    let places = [Vec2::ZERO, Vec2::new(-40.0, -20.0), Vec2::new(50.0, 20.0)];
    for (projection, at) in projections.iter().flat_map(|projection| places.map(|at| (projection, at))) {
        let point = projection.pick(projection.ray(at / HALF_PX), &scale(), &hills, top).expect("the terrain");
        let surface = scale().surface_y(&hills, point).expect("inside the terrain");
        assert!((point.y - surface).abs() < 1e-4, "{point} above {surface}");
        let back = px(projection, point);
        assert!((back - at).length() < 0.1, "{at} came back as {back}");
        assert!(!projection.hides(point, &scale(), &hills, top), "a picked point is visible");
    }
    let outside = projections[0].ray(Vec2::new(-0.99, 0.985));
    assert_eq!(projections[0].pick(outside, &scale(), &hills, top), None);
}

#[test]
fn an_orthographic_projection_is_true_to_scale_at_every_height() {
    // From above, north up: half the height of the screen, 150 pixels, is the distance over the focal length.
    let above = Camera {
        pitch: std::f32::consts::FRAC_PI_2,
        azimuth: 0.0,
        distance: 1.7,
        orthographic: 1.0,
        ..Default::default()
    };
    let scale = 150.0 * FOCAL_LENGTH / 1.7;
    for height in [-0.3, 0.0, 0.4] {
        let at = px(&projection(&above), Vec3::new(0.2, height, -0.1));
        assert!((at - Vec2::new(0.2, 0.1) * scale).length() < 0.02, "{at}");
    }
    // In a perspective higher points are nearer: by 0.4 of 1.7.
    let at = px(&projection(&Camera { orthographic: 0.0, ..above }), Vec3::new(0.2, 0.4, -0.1));
    assert!((at - Vec2::new(0.2, 0.1) * scale * 1.7 / 1.3).length() < 0.02, "{at}");
    // From the side, distant things are no smaller, and things at the pivot have the same size in every projection.
    let side = Camera { pitch: 0.0, ..above };
    for depth in [-0.5, 0.0, 0.5] {
        let at = px(&projection(&side), Vec3::new(0.2, 0.1, depth));
        assert!((at - Vec2::new(0.2, 0.1) * scale).length() < 0.02, "{at}");
    }
    for orthographic in [0.0, 0.3, 0.7, 1.0] {
        let at = px(&projection(&Camera { orthographic, ..side }), Vec3::new(0.2, 0.1, 0.0));
        assert!((at - Vec2::new(0.2, 0.1) * scale).length() < 0.02, "{at}");
    }
}

#[test]
fn clip_depths_go_from_one_at_the_near_plane_to_zero_at_the_far_plane() {
    for orthographic in [0.0, 0.4, 0.9, 1.0] {
        let projection = projection(&Camera { orthographic, ..Default::default() });
        let [offset, factor] = projection.clip_depth();
        let [near, far] = projection.depth_range;
        let clip = |depth: f32| (offset + factor * depth) / (projection.w[0] * depth + projection.w[1]);
        assert!((clip(near) - 1.0).abs() < 1e-4 && clip(far).abs() < 1e-4, "{orthographic}");
        assert!(clip(2.0) > clip(3.0) && clip(3.0) > clip(3.001), "{orthographic}");
    }
}

#[test]
fn the_perspective_eye_sees_the_same_image() {
    let projection = projection(&Camera { orthographic: 0.6, azimuth: 0.7, ..Default::default() });
    let (eye, share) = projection.perspective_eye();
    for point in [Vec3::new(0.2, 0.1, -0.3), Vec3::new(-0.4, 0.0, 0.4)] {
        let offset = point - eye;
        let seen = Vec2::new(offset.dot(projection.right), offset.dot(projection.up));
        let at = seen / (share * offset.dot(projection.forward)) * HALF_PX;
        assert!((px(&projection, point) - at).length() < 0.02);
    }
}
