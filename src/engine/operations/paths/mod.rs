//! Roads, rivers, ridges, valleys and faults along curves.
//!
//! A path is a curve through nodes (`curve`), so it is the same at every resolution. Paths act in their order, each on
//! the terrain that those before it left. Roads and rivers read the terrain along their curve (`stations`) and change it
//! only as far as their banks reach (`banks`); the others add heights that depend on the position alone.

mod banks;
mod carriageway;
mod check;
mod fault;
mod path;
mod ridge;
mod river;
mod road;
mod stations;
mod terrain_map;
#[cfg(test)]
mod testing;

pub use self::carriageway::{Earthworks, Wall};
pub use self::path::{Path, PathKind, PathNode, RidgeProfile};
pub use self::road::{LaterChange, PathReport};
use self::terrain_map::TerrainMap;
use super::operation::{EvalContext, Keyframe, Operation, Role};
use super::report::PartReport;
use crate::cast::ToFloat;
use crate::heightfield::{Grid, Heightfield};
use crate::parameters::{List, ParameterError, Point, Spec, parameters};
use crate::progress::{Cancelled, Progress};

parameters! {
    /// Builds roads, rivers, ridges, valleys and faults along smooth curves.
    pub struct Paths {
        /// The paths. Each acts on the terrain that those before it left.
        paths: List<Path> = default_paths(), Spec::new("Paths");
    }
}

/// A road across the default world.
fn default_paths() -> List<Path> {
    let nodes = [[0.0, 2900.0], [1200.0, 2350.0], [2500.0, 2450.0], [3300.0, 1500.0], [4096.0, 1300.0]];
    let node = |[x_m, z_m]: [f64; 2]| PathNode { at_m: Point { x_m, z_m }, ..Default::default() };
    vec![Path { nodes: nodes.into_iter().map(node).collect(), ..Default::default() }].into()
}

impl Paths {
    /// Whether any of the paths is a road.
    pub fn has_roads(&self) -> bool {
        self.paths.iter().any(|path| path.enabled && path.kind == PathKind::Road)
    }

    /// What the paths are like, in their order, on the terrain below the step; `None` for those that are no road or
    /// river, are disabled, or have [problems](Operation::check).
    pub fn path_reports(&self, context: &EvalContext) -> Result<Vec<Option<PathReport>>, Cancelled> {
        let mut land = TerrainMap::below(context)?;
        let mut reports: Vec<Option<PathReport>> = Vec::new();
        // The heights along each road after it and after each later path.
        let mut heights: Vec<Vec<Vec<f64>>> = Vec::new();
        for (i, path) in self.paths.iter().enumerate() {
            reports.push(self.apply(i, path, &mut land, context.progress)?);
            heights.push(Vec::new());
            for ((report, heights), path) in reports.iter().zip(&mut heights).zip(&*self.paths) {
                if let Some(report) = report.as_ref().filter(|_| path.kind == PathKind::Road) {
                    heights.push(report.points.iter().map(|point| land.height_at(point.at_m)).collect());
                }
            }
        }
        for (i, (report, heights)) in reports.iter_mut().zip(&heights).enumerate() {
            if let Some(report) = report {
                report.change = LaterChange::among(i, &report.points, heights);
            }
        }
        Ok(reports)
    }

    /// Applies a path at an index of the list.
    fn apply(
        &self,
        i: usize,
        path: &Path,
        land: &mut TerrainMap,
        progress: &Progress,
    ) -> Result<Option<PathReport>, Cancelled> {
        if !path.enabled || path.check().is_err() {
            return Ok(None);
        }
        let share = |i: usize| i.to_f32() / self.paths.len().to_f32();
        progress.stage(share(i)..share(i + 1), || match path.kind {
            PathKind::Road => road::apply(path, land, progress).map(Some),
            PathKind::River => river::apply(path, land, progress).map(Some),
            PathKind::Ridge => ridge::apply(path, false, land, progress).map(|()| None),
            PathKind::Valley => ridge::apply(path, true, land, progress).map(|()| None),
            PathKind::Fault => fault::apply(path, land, progress).map(|()| None),
        })
    }
}

impl Operation for Paths {
    const KEY: &'static str = "paths";
    const LABEL: &'static str = "Paths";
    const WORDS: &'static str = "road river street track ridge valley ditch spline";

    fn role(&self) -> Role {
        Role::Modifier
    }

    /// Roads and rivers read the terrain along their curves.
    fn is_pointwise(&self) -> bool {
        let reads_along = |path: &Path| matches!(path.kind, PathKind::Road | PathKind::River);
        !self.paths.iter().any(|path| path.enabled && reads_along(path))
    }

    /// The terrain below, the heights in f64 and the result.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        4.0
    }

    fn check(&self, _grid: Grid) -> Result<(), ParameterError> {
        let mut enabled = self.paths.iter().enumerate().filter(|(_, path)| path.enabled);
        enabled.try_for_each(|(i, path)| path.check().map_err(|error| error.within(i).within("paths")))
    }

    fn has_reports(&self) -> bool {
        self.paths.iter().any(|path| path.enabled && matches!(path.kind, PathKind::Road | PathKind::River))
    }

    fn reports(&self, context: &EvalContext) -> Result<Vec<PartReport>, Cancelled> {
        let reports = self.path_reports(context)?;
        let part = |(i, (path, report)): (usize, (&Path, Option<PathReport>))| Some(report?.part(i, path));
        Ok(self.paths.iter().zip(reports).enumerate().filter_map(part).collect())
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let mut land = TerrainMap::below(context)?;
        context.progress.stage(0.0..0.95, || {
            let mut paths = self.paths.iter().enumerate();
            paths.try_for_each(|(i, path)| self.apply(i, path, &mut land, context.progress).map(|_| ()))
        })?;
        land.heightfield(context.progress)
    }
}
