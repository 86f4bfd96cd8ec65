//! Faults along curves: h + displacement·w(signed distance), dying out beyond the ends as drawn faults do.

use super::path::Path;
use super::terrain_map::TerrainMap;
use crate::curve::{Nearest, Polyline};
use crate::fault::{quantized_displacement, to_exact_metres, to_units};
use crate::progress::{Cancelled, Progress};
use crate::rounding::smoothstep;

/// How far a fault without a fade-out length goes on beyond its ends: across any world, from any node.
const ACROSS_M: f64 = 4_000_000.0;

/// A fault, with the straight continuations of its ends.
struct CurvedFault<'a> {
    path: &'a Path,
    line: Polyline,
    halves_m: Vec<f64>,
    displacement_m: f64,
    /// +1 if the inside of a closed fault is on its right, −1 if it is on its left; `None` for an open one.
    inside: Option<f64>,
    /// The north-western and the south-eastern corner of the box around the curve.
    bounds_m: [[f64; 2]; 2],
}

impl<'a> CurvedFault<'a> {
    fn new(path: &'a Path) -> Self {
        let curve = path.curve();
        let (mut points, mut halves_m) = (curve.points, curve.halves_m);
        if !curve.is_closed {
            // The weight is 0 at the end of the continuation, and beyond.
            let length_m = path.reach_m.map_or(ACROSS_M, |reach_m| reach_m + 1.0);
            let line = Polyline::new(&points, false);
            if let ([first, ..], [.., last]) = (&line.pieces[..], &line.pieces[..]) {
                let shifted = |[x, z]: [f64; 2], [dx, dz]: [f64; 2], by_m: f64| [x + by_m * dx, z + by_m * dz];
                points.insert(0, shifted(first.start_m, first.along, -length_m));
                points.push(shifted(last.end_m, last.along, length_m));
                halves_m.insert(0, halves_m.first().copied().unwrap_or_default());
                halves_m.push(halves_m.last().copied().unwrap_or_default());
            }
        }
        let line = Polyline::new(&points, curve.is_closed);
        let inside = curve.is_closed.then(|| if line.doubled_area_m2() >= 0.0 { 1.0 } else { -1.0 });
        let corner = |pick: fn(f64, f64) -> f64, from: f64| {
            points.iter().fold([from; 2], |corner, point| [pick(corner[0], point[0]), pick(corner[1], point[1])])
        };
        let bounds_m = [corner(f64::min, f64::INFINITY), corner(f64::max, f64::NEG_INFINITY)];
        Self { path, line, halves_m, displacement_m: quantized_displacement(path.displacement_m), inside, bounds_m }
    }

    /// The share of the displacement at a point of the continued curve.
    fn share(&self, nearest: &Nearest) -> f64 {
        let (last, length_m) = (self.line.pieces.len() - 1, self.line.pieces[nearest.piece].length_m);
        let (Some(reach_m), None) = (self.path.reach_m, self.inside) else { return 1.0 };
        let beyond_m = match nearest.piece {
            0 => (1.0 - nearest.share) * length_m,
            piece if piece == last => nearest.share * length_m,
            _ => 0.0,
        };
        if beyond_m <= 0.0 {
            1.0
        } else if beyond_m >= reach_m {
            0.0
        } else {
            smoothstep(1.0 - beyond_m / reach_m)
        }
    }

    /// Whether a point is inside a closed fault.
    fn contains(&self, point: [f64; 2]) -> bool {
        let [least, most] = self.bounds_m;
        (0..2).all(|i| least[i] <= point[i] && point[i] <= most[i]) && self.line.contains(point)
    }

    /// The uplift at a point, in units of the displacement grid.
    fn uplift(&self, point: [f64; 2], nearest: &Nearest) -> i64 {
        let side = match self.inside {
            Some(inside) if self.contains(point) => inside,
            Some(inside) => -inside,
            None if self.line.is_right(point, nearest) => 1.0,
            None => -1.0,
        };
        let dist_m = side * nearest.squared_m2.sqrt();
        let weight = self.path.fault_profile.weight(dist_m, nearest.value(&self.halves_m));
        to_units(self.displacement_m * self.share(nearest) * weight)
    }

    /// The distance beyond which there is no uplift; infinite for profiles that lift a whole side.
    fn reach_m(&self) -> f64 {
        let profile = self.path.fault_profile;
        let widest_m = self.halves_m.iter().copied().fold(0.0, f64::max);
        if profile.far_weight() > 0.0 { f64::INFINITY } else { profile.reach_m(self.displacement_m, widest_m) }
    }
}

/// Adds a fault.
pub(super) fn apply(path: &Path, land: &mut TerrainMap, progress: &Progress) -> Result<(), Cancelled> {
    let fault = CurvedFault::new(path);
    let reach_m = fault.reach_m();
    land.map_blocks(progress, |block| {
        let (centre, radius_m) = block.disc();
        let mut near = Vec::new();
        fault.line.find_nearest(centre, radius_m, reach_m, &mut near);
        if near.is_empty() {
            return;
        }
        block.update(|point, height| {
            let nearest = fault.line.nearest_of(point, near.iter().copied());
            height + nearest.map_or(0.0, |nearest| to_exact_metres(fault.uplift(point, &nearest)))
        });
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::path::PathKind;
    use super::super::testing::{path, paths};
    use super::*;
    use crate::fault::Profile;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::operations::drawn_faults::{DrawnFault, DrawnFaults};
    use crate::operations::testing::{assert_subset, evaluated, modified};

    const WORLD: Extent = Extent { width_m: 1024.0, depth_m: 1024.0 };

    fn flat(side: usize) -> Heightfield {
        Heightfield::flat(Grid::new(WORLD, side, side))
    }

    fn fault(nodes: &[[f64; 2]], profile: Profile) -> Path {
        Path { width_m: 200.0, fault_profile: profile, ..path(PathKind::Fault, nodes) }
    }

    #[test]
    fn a_straight_fault_is_a_drawn_fault() {
        for profile in Profile::ALL {
            for reach_m in [None, Some(150.0), Some(0.0)] {
                let curved = Path { reach_m, ..fault(&[[300.3, 700.7], [600.1, 200.2]], *profile) };
                let [from_m, to_m] = [0, 1].map(|i: usize| curved.nodes[i].at_m);
                let drawn = DrawnFault {
                    from_m,
                    to_m,
                    displacement_m: 100.0,
                    profile: *profile,
                    zone_m: 100.0,
                    reach_m,
                    ..Default::default()
                };
                let expected = evaluated(&DrawnFaults { faults: vec![drawn].into() }, flat(41).grid(), None, 1);
                let found = modified(&paths([curved]), &flat(41));
                for (found, expected) in found.heights().iter().zip(expected.heights()) {
                    assert!((found - expected).abs() < 1e-4, "{}, {reach_m:?}: {found}, {expected}", profile.key());
                }
            }
        }
    }

    #[test]
    fn the_inside_of_a_clockwise_ring_goes_up() {
        let nodes = [[300.0, 300.0], [700.0, 300.0], [700.0, 700.0], [300.0, 700.0]];
        let ring =
            |nodes: &[[f64; 2]]| modified(&paths([Path { closed: true, ..fault(nodes, Profile::Step) }]), &flat(17));
        let clockwise = ring(&nodes);
        assert_eq!([clockwise[(8, 8)], clockwise[(1, 1)], clockwise[(8, 15)]], [100.0, -100.0, -100.0]);
        let reversed: Vec<[f64; 2]> = nodes.into_iter().rev().collect();
        assert_eq!(ring(&reversed)[(8, 8)], -100.0);
    }

    #[test]
    fn the_right_side_of_a_bend_goes_up_and_maps_are_exact_subsets() {
        let nodes = [[100.0, 900.0], [400.0, 300.0], [600.0, 700.0], [900.0, 100.0]];
        for profile in [Profile::Step, Profile::Smooth, Profile::Gaussian, Profile::Cosine] {
            let terrain = |side| modified(&paths([fault(&nodes, profile)]), &flat(side));
            assert_subset(&terrain(65), &terrain(257));
        }
        let step = modified(&paths([fault(&nodes, Profile::Step)]), &flat(33));
        // The bay of the first bend is on the right, that of the second on the left.
        assert_eq!([step[(12, 16)], step[(20, 16)]], [100.0, -100.0]);
    }
}
