//! The placeholder shapes of instances.

use super::layer::{ScatterLayer, Shape};
use crate::cast::ToFloat;

/// The corners around a cone, a ball and a pillar.
const AROUND: usize = 8;

/// The rings of a ball between its poles.
const RINGS: usize = 3;

/// The triangles of a layer's shape, counter-clockwise seen from outside: metres east, up and south of the instance's
/// place.
pub fn triangles(layer: &ScatterLayer) -> Vec<[[f32; 3]; 3]> {
    let (radius, height) = (layer.radius_m.to_f32(), layer.height_m.to_f32());
    // Outlines from the bottom up, as shares of the radius and the height.
    let (corners, outline): (usize, Vec<[f32; 2]>) = match layer.shape {
        Shape::Cone => (AROUND, vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        Shape::Pillar => (AROUND, vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
        Shape::Box => (4, vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]),
        Shape::Ball => (AROUND, (0..=RINGS + 1).map(on_ball).collect()),
    };
    let corner = |[share, up]: [f32; 2], turn: usize| {
        // A box has sides of twice the radius, which face the compass directions.
        let (radius, offset) = if corners == 4 { (radius * std::f32::consts::SQRT_2, 0.5) } else { (radius, 0.0) };
        let angle = std::f32::consts::TAU * ((turn % corners).to_f32() + offset) / corners.to_f32();
        let (sin, cos) = libm::sincosf(angle);
        [share * radius * sin, up * height, -share * radius * cos]
    };
    let mut triangles = Vec::new();
    for ring in outline.windows(2) {
        for turn in 0..corners {
            let [low, high] = [ring[0], ring[1]].map(|at| [corner(at, turn), corner(at, turn + 1)]);
            // At an axis, one of the two triangles has no area.
            if ring[0][0] > 0.0 {
                triangles.push([low[0], high[0], low[1]]);
            }
            if ring[1][0] > 0.0 {
                triangles.push([high[0], high[1], low[1]]);
            }
        }
    }
    triangles
}

/// A point of a ball's outline, from its lower pole to its upper one.
fn on_ball(ring: usize) -> [f32; 2] {
    let (sin, cos) = libm::sincosf(std::f32::consts::PI * ring.to_f32() / (RINGS + 1).to_f32());
    [if ring == 0 || ring == RINGS + 1 { 0.0 } else { sin }, 0.5 - 0.5 * cos]
}

/// The direction that a triangle faces, of length 1.
pub fn normal([a, b, c]: [[f32; 3]; 3]) -> [f32; 3] {
    let side = |to: [f32; 3]| [to[0] - a[0], to[1] - a[1], to[2] - a[2]];
    let (u, v) = (side(b), side(c));
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let length = cross.iter().map(|along| along * along).sum::<f32>().sqrt();
    cross.map(|along| along / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_closed_face_outward_and_have_the_size_of_their_layer() {
        for shape in [Shape::Cone, Shape::Ball, Shape::Box, Shape::Pillar] {
            let layer = ScatterLayer { shape, radius_m: 3.0, height_m: 10.0, ..Default::default() };
            let triangles = triangles(&layer);
            let corners = || triangles.iter().flatten();
            let most = |axis: usize| corners().map(|corner| corner[axis].abs()).fold(0.0, f32::max);
            assert!((most(0) - 3.0).abs() < 1e-4 && (most(1) - 10.0).abs() < 1e-4, "{shape:?}");
            assert!(corners().all(|corner| corner[1] >= 0.0), "it begins at its base");
            // By the divergence theorem, the volume is positive if the faces look outward.
            let volume: f32 = triangles
                .iter()
                .map(|[a, b, c]| {
                    let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
                    (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6.0
                })
                .sum();
            let expected = match shape {
                Shape::Cone => 84.9,
                Shape::Ball => 144.9,
                Shape::Box => 360.0,
                Shape::Pillar => 254.6,
            };
            assert!((volume - expected).abs() < 0.5, "{shape:?} has {volume} m³");
            // Every edge is used once in each direction.
            let key = |corner: [f32; 3]| corner.map(|along| (along * 1000.0).round() as i32);
            let edges: Vec<_> = triangles
                .iter()
                .flat_map(|[a, b, c]| [[key(*a), key(*b)], [key(*b), key(*c)], [key(*c), key(*a)]])
                .collect();
            assert!(edges.iter().all(|[a, b]| edges.contains(&[*b, *a])), "{shape:?} is open");
            assert!(triangles.iter().all(|triangle| normal(*triangle).iter().all(|along| along.is_finite())));
        }
    }
}
