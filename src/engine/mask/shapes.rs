//! Masks by paths and pads: full inside a carriageway, a bed or a building pad, fading out beyond its edge.

use crate::cast::ToFloat;

use crate::heightfield::mix;
use crate::operations::pads::Pad;
use crate::operations::paths::{Path, PathKind};
use crate::outline::Outline;
use crate::parameters::choices;
use crate::rounding::smoothstep;
use crate::strokes::Columns;

choices! {
    /// The kind of paths that a mask is based on.
    pub enum PathsOf {
        /// Roads.
        Roads = "road", "Roads";
        /// Rivers.
        Rivers = "river", "Rivers";
        /// Ridges.
        Ridges = "ridge", "Ridges";
        /// Valleys.
        Valleys = "valley", "Valleys";
        /// All paths.
        All = "all", "All";
    }
}

/// The paths and pads that masks can be based on.
#[derive(Clone, Debug, Default)]
pub struct MaskShapes<'a> {
    /// Paths of enabled steps.
    pub paths: Vec<&'a Path>,
    /// Pads of enabled steps.
    pub pads: Vec<&'a Pad>,
}

/// The area of paths and pads, ready to be evaluated.
pub(super) struct ShapeMask {
    pieces: Vec<Piece>,
    outlines: Vec<(Outline, [f64; 4])>,
    feather_m: f64,
}

/// A straight piece of a path, whose width changes evenly.
struct Piece {
    start: [f64; 2],
    along: [f64; 2],
    /// The square of its length.
    squared: f64,
    halves_m: [f64; 2],
    /// The western, northern, eastern and southern limits of where it has a weight.
    bounds: [f64; 4],
}

impl PathsOf {
    fn includes(self, kind: PathKind) -> bool {
        match self {
            Self::Roads => kind == PathKind::Road,
            Self::Rivers => kind == PathKind::River,
            Self::Ridges => kind == PathKind::Ridge,
            Self::Valleys => kind == PathKind::Valley,
            Self::All => true,
        }
    }
}

impl ShapeMask {
    /// The area of paths of some kinds; those that have no effect are left out.
    pub(super) fn of_paths(paths: &[&Path], of: PathsOf, feather_m: f64) -> Self {
        let shown = paths.iter().filter(|path| path.enabled && of.includes(path.kind) && path.check().is_ok());
        Self { pieces: shown.flat_map(|path| pieces(path, feather_m)).collect(), outlines: Vec::new(), feather_m }
    }

    /// The area of pads.
    pub(super) fn of_pads(pads: &[&Pad], feather_m: f64) -> Self {
        let outlines = pads.iter().filter_map(|pad| pad.outline());
        let with_bounds = |outline: Outline| {
            let bounds = grown(outline.bounds(), feather_m);
            (outline, bounds)
        };
        Self { pieces: Vec::new(), outlines: outlines.map(with_bounds).collect(), feather_m }
    }

    /// Sets the weights of a row.
    pub(super) fn fill(&self, z_m: f64, columns: &Columns, weights: &mut [f32]) {
        weights.fill(0.0);
        for piece in self.pieces.iter().filter(|piece| meets(piece.bounds, z_m)) {
            for c in columns.between(piece.bounds[0], piece.bounds[2]) {
                weights[c] = weights[c].max(self.weight(piece.distance_m([columns.xs_m()[c], z_m])));
            }
        }
        for (outline, bounds) in self.outlines.iter().filter(|(_, bounds)| meets(*bounds, z_m)) {
            for c in columns.between(bounds[0], bounds[2]) {
                let at = [columns.xs_m()[c], z_m];
                let outside_m = outline.nearest(at).map_or(0.0, |[x, z]| libm::hypot(at[0] - x, at[1] - z));
                weights[c] = weights[c].max(self.weight(outside_m));
            }
        }
    }

    /// The weight at a distance outside the edge; 0 or less is inside.
    fn weight(&self, outside_m: f64) -> f32 {
        if outside_m <= 0.0 {
            1.0
        } else if outside_m < self.feather_m {
            (1.0 - smoothstep(outside_m / self.feather_m)).to_f32()
        } else {
            0.0
        }
    }
}

fn meets([_, north, _, south]: [f64; 4], z_m: f64) -> bool {
    north <= z_m && z_m <= south
}

fn grown([west, north, east, south]: [f64; 4], by_m: f64) -> [f64; 4] {
    [west - by_m, north - by_m, east + by_m, south + by_m]
}

fn pieces(path: &Path, feather_m: f64) -> Vec<Piece> {
    let curve = path.curve();
    let ends = curve.points.windows(2).zip(curve.halves_m.windows(2));
    let piece = |(points, halves): (&[[f64; 2]], &[f64])| {
        let (start, end) = (points[0], points[1]);
        let along = [end[0] - start[0], end[1] - start[1]];
        let bounds = [start[0].min(end[0]), start[1].min(end[1]), start[0].max(end[0]), start[1].max(end[1])];
        Piece {
            start,
            along,
            squared: along[0] * along[0] + along[1] * along[1],
            halves_m: [halves[0], halves[1]],
            bounds: grown(bounds, halves[0].max(halves[1]) + feather_m),
        }
    };
    ends.map(piece).collect()
}

impl Piece {
    /// The distance of a point outside the edge; negative inside.
    fn distance_m(&self, [x, z]: [f64; 2]) -> f64 {
        let (dx, dz) = (x - self.start[0], z - self.start[1]);
        let share = if self.squared > 0.0 {
            ((dx * self.along[0] + dz * self.along[1]) / self.squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let distance = libm::hypot(dx - share * self.along[0], dz - share * self.along[1]);
        distance - mix(self.halves_m[0], self.halves_m[1], share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::operations::paths::PathNode;
    use crate::parameters::Point;

    const WORLD: Extent = Extent { width_m: 100.0, depth_m: 40.0 };

    fn row(mask: &ShapeMask, z_m: f64) -> Vec<f32> {
        let columns = Columns::new(Grid::new(WORLD, 11, 5));
        let mut weights = vec![0.5; 11];
        mask.fill(z_m, &columns, &mut weights);
        weights
    }

    fn path(kind: PathKind, nodes: [[f64; 2]; 2]) -> Path {
        let node = |[x_m, z_m]: [f64; 2]| PathNode { at_m: Point { x_m, z_m }, ..Default::default() };
        Path { kind, nodes: nodes.map(node).into_iter().collect(), width_m: 20.0, ..Default::default() }
    }

    #[test]
    fn a_path_has_its_full_weight_across_its_width() {
        let (road, ridge) =
            (path(PathKind::Road, [[50.0, -50.0], [50.0, 90.0]]), path(PathKind::Ridge, [[0.0; 2], [100.0, 0.0]]));
        let both = [&road, &ridge];
        let sharp = row(&ShapeMask::of_paths(&both, PathsOf::Roads, 0.0), 20.0);
        assert_eq!(sharp, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        let soft = row(&ShapeMask::of_paths(&both, PathsOf::Roads, 20.0), 20.0);
        assert_eq!(soft, [0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0]);
        assert_eq!(row(&ShapeMask::of_paths(&both, PathsOf::Ridges, 0.0), 10.0), [1.0; 11]);
        assert_eq!(row(&ShapeMask::of_paths(&both, PathsOf::Rivers, 0.0), 10.0), [0.0; 11]);
        assert_eq!(row(&ShapeMask::of_paths(&both, PathsOf::All, 0.0), 10.0), [1.0; 11]);
        let off = Path { enabled: false, ..road };
        assert_eq!(row(&ShapeMask::of_paths(&[&off], PathsOf::Roads, 0.0), 20.0), [0.0; 11]);
    }

    #[test]
    fn the_width_of_a_path_changes_from_node_to_node() {
        let mut road = path(PathKind::Road, [[0.0, 20.0], [100.0, 20.0]]);
        road.nodes[0].width_m = Some(10.0);
        road.nodes[1].width_m = Some(30.0);
        // Half of 5 + 0.1·x reaches 10 m at the middle.
        let mask = ShapeMask::of_paths(&[&road], PathsOf::Roads, 0.0);
        let north = row(&mask, 10.0);
        assert!(north[..5].iter().all(|weight| *weight == 0.0) && north[6..].iter().all(|weight| *weight == 1.0));
    }

    #[test]
    fn pads_fade_out_beyond_their_edge() {
        let pad = Pad {
            centre_m: Point { x_m: 50.0, z_m: 20.0 },
            size_m: Point { x_m: 40.0, z_m: 20.0 },
            ..Default::default()
        };
        let mask = ShapeMask::of_pads(&[&pad], 20.0);
        assert_eq!(row(&mask, 20.0), [0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]);
        assert_eq!(row(&mask, 40.0)[5], 0.5);
    }
}
