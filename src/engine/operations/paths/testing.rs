//! Helpers for the tests of paths.

use super::Paths;
use super::path::{Path, PathKind, PathNode};
use super::terrain_map::TerrainMap;
use crate::heightfield::Heightfield;
use crate::inputs::Inputs;
use crate::operations::operation::EvalContext;
use crate::operations::testing::stream;
use crate::parameters::Point;
use crate::progress::Progress;

/// A path through the nodes, with default parameters.
pub(super) fn path(kind: PathKind, nodes: &[[f64; 2]]) -> Path {
    let node = |[x_m, z_m]: &[f64; 2]| PathNode { at_m: Point { x_m: *x_m, z_m: *z_m }, ..Default::default() };
    Path { kind, nodes: nodes.iter().map(node).collect(), ..Default::default() }
}

/// A step of these paths.
pub(super) fn paths<const N: usize>(paths: [Path; N]) -> Paths {
    Paths { paths: Vec::from(paths).into() }
}

/// Calls a function with a context above a terrain.
pub(super) fn with_context<T>(terrain: &Heightfield, call: impl FnOnce(&EvalContext) -> T) -> T {
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let (grid, stream) = (terrain.grid(), stream());
    call(&EvalContext { below: Some(terrain), stream, ..EvalContext::new(grid, &inputs, &progress) })
}

/// The terrain as paths change it.
pub(super) fn land(terrain: &Heightfield) -> TerrainMap {
    with_context(terrain, |context| TerrainMap::below(context).expect("not cancelled"))
}
