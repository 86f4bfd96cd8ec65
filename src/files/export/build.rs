//! Building an export: the same code for the command line and for the editor.

use std::ops::Range;
use std::time::Instant;

use super::manifest::{Manifest, StagedHeights};
use super::memory::memory_needed;
use super::order::{HeightmapOrder, Order, Patches, TextureOrder};
use super::overview::Overview;
use super::plan::Plan;
use super::report::BuildReport;
use super::steps::{import_steps, span_m, steps_of_file};
use super::tiles::{TileFile, Tiles};
use super::{frames, heightmap, maps, mesh, rivers, scatter, texture, weights};
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::GridPart;
use crate::engine::mask::DistantTerrain;
use crate::engine::parameters::Band;
use crate::engine::rock::Rock;
use crate::engine::stack::{Evaluator, evaluate_with_rock};
use crate::engine::texture::{
    MapTerrain, MaskScope, PaintInput, PixelRegion, Points, RequiredMaps, SurfaceMaps, height_range_m, paint,
};
use crate::engine::{Heightfield, Image, Progress};
use crate::files::formats::heightmap::{Rows, grid_of};
use crate::files::formats::region::Region;
use crate::files::formats::sidecar::SidecarContents;
use crate::files::io::atomic::{self, StagedFile};
use crate::files::io::error::FileError;
use crate::files::io::folders::NewFolders;
use crate::files::io::memory::require_memory;

/// Plans and builds an order: [`Plan::new`], then [`build_plan`]. Creates the folders of the import helper.
pub fn build(order: &Order, progress: &Progress) -> Result<BuildReport, FileError> {
    let plan = Plan::new(order.clone())?;
    let mut folders = NewFolders::default();
    for folder in plan.helper_folders() {
        folders.make(folder).map_err(|error| FileError::writing(folder, &error))?;
    }
    let report = build_plan(&plan, progress)?;
    folders.keep();
    Ok(report)
}

/// Builds all files of a plan.
///
/// Checks everything that can be checked before it computes anything. All files are written under temporary names
/// before the first one is renamed, so an error or a cancellation leaves no files behind. The exceptions are files that
/// had already replaced older ones when renaming another one failed.
pub fn build_plan(plan: &Plan, progress: &Progress) -> Result<BuildReport, FileError> {
    let start = Instant::now();
    let compared = plan.comparing_starts_at();
    let (staged, report) = progress.stage(0.0..compared, || stage(plan, &mut Evaluator::uncached(), progress))?;
    let report = progress.stage(compared..1.0, || commit(plan, staged, report, progress))?;
    Ok(BuildReport { took: start.elapsed(), ..report })
}

/// Gives staged files their final names, and lists them in the report.
pub fn commit(
    plan: &Plan,
    staged: Vec<StagedFile>,
    report: BuildReport,
    progress: &Progress,
) -> Result<BuildReport, FileError> {
    let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
    let count = staged.len();
    for (at, file) in staged.into_iter().enumerate() {
        let share = at.to_f32() / count.to_f32()..(at + 1).to_f32() / count.to_f32();
        if plan.order().keeps_unchanged && progress.stage(share, || file.is_unchanged(progress))? {
            unchanged.push(file.path().to_path_buf());
        } else {
            changed.push(file);
        }
    }
    progress.check()?;
    let report = BuildReport { files: atomic::commit_all(changed)?, unchanged, ..report };
    progress.report(1.0);
    Ok(report)
}

/// Stages all files of a plan. The caller [commits](commit) them, together with any files that it has staged itself.
pub fn stage(
    plan: &Plan,
    evaluator: &mut Evaluator,
    progress: &Progress,
) -> Result<(Vec<StagedFile>, BuildReport), FileError> {
    plan.check_paths()?;
    require_memory(memory_needed(plan))?;
    let order = plan.order();
    let (recipe, grid, inputs) = (&order.recipe, plan.evaluated_grid(), &order.inputs);
    evaluator.share(order.cache.clone());
    let evaluation = || match order.needs_rock() {
        true => {
            let with_rock = evaluate_with_rock(recipe, grid, order.position, inputs, order.cache.clone(), progress);
            with_rock.map(|(heights, rock)| (heights, Some(rock)))
        }
        false => evaluator.evaluate(recipe, grid, order.position, inputs, progress).map(|heights| (heights, None)),
    };
    let overview_share = if plan.overview.is_some() { OVERVIEW_SHARE } else { 0.0 };
    let (heights, rock) = progress.stage(0.0..EVALUATION_SHARE - overview_share, evaluation)?;
    let overview = plan.overview.map(|overview| {
        let stage = EVALUATION_SHARE - overview_share..EVALUATION_SHARE;
        progress.stage(stage, || overview.evaluate(order, &heights, progress))
    });
    let overview = overview.transpose()?;
    let own_m = own_range_m(plan, &heights, progress)?;
    let notes = order.recipe.warnings().iter().map(ToString::to_string).collect();
    let report = BuildReport { steps: import_steps(plan, own_m), notes, ..BuildReport::default() };
    let mut staging = Staging {
        plan,
        heights: &heights,
        overview,
        rock,
        own_m,
        stages: Stages::of(plan),
        progress,
        staged: Vec::new(),
        report,
        staged_heights: Vec::new(),
    };
    staging.heightmaps()?;
    staging.painted()?;
    staging.frames()?;
    staging.maps()?;
    staging.scatter()?;
    staging.georeference()?;
    staging.manifest()?;
    let problem = order.cache.as_ref().and_then(|cache| cache.problem());
    staging.report.notes.extend(problem.map(|problem| format!("not all results could be cached: {problem}")));
    Ok((staging.staged, staging.report))
}

/// The range of the heights: of the complete terrain, or of the tile if only its surroundings were evaluated and the cache
/// does not have the range of all.
fn own_range_m(plan: &Plan, heights: &Heightfield, progress: &Progress) -> Result<Band, FileError> {
    if !matches!(plan.part, Some(Ok(_))) {
        let range_m = height_range_m(heights, None, progress)?;
        plan.order().cache_range_m(range_m);
        return Ok(range_m);
    }
    if let Some(range_m) = plan.cached_range_m {
        return Ok(range_m);
    }
    let of_tile = plan.heightmaps.iter().flatten().next().map(|file| {
        let Region { first, size } = evaluated_region(file, heights);
        heights.part(GridPart { first, size })
    });
    Ok(height_range_m(of_tile.as_ref().unwrap_or(heights), None, progress)?)
}

/// The samples of a file of a heightmap among those that were evaluated.
fn evaluated_region(file: &TileFile, heights: &Heightfield) -> Region {
    let evaluated = heights.grid().first();
    Region { first: [0, 1].map(|axis| file.region.first[axis] - evaluated[axis]), ..file.region }
}

/// The fraction of the time spent evaluating, roughly measured. Painting and writing take the rest.
const EVALUATION_SHARE: f32 = 0.6;
/// The part of it for the overview, if there is one.
const OVERVIEW_SHARE: f32 = 0.1;

/// The cost of each output relative to a heightmap, roughly measured.
const SURFACE_UNITS: usize = 1;
const TEXTURE_UNITS: usize = 2;
const WEIGHTS_UNITS: usize = 4;
const MAP_UNITS: usize = 1;
const RIVERS_UNITS: usize = 1;
const SCATTER_UNITS: usize = 4;
const MESH_UNITS: usize = 4;
const FRAME_UNITS: usize = 1;
const MANIFEST_UNITS: usize = 1;

/// The progress after the evaluation, divided among the files.
struct Stages {
    next: f32,
    per_unit: f32,
}

impl Stages {
    fn of(plan: &Plan) -> Self {
        let order = plan.order();
        let surface = if order.needs_painting() { SURFACE_UNITS } else { 0 };
        let weights = if order.weights.is_some() { WEIGHTS_UNITS } else { 0 };
        let mesh = if order.mesh.is_some() { MESH_UNITS } else { 0 };
        let rivers = if order.rivers.is_some() { RIVERS_UNITS } else { 0 };
        let scatter = if order.scatter.is_some() { SCATTER_UNITS } else { 0 };
        let manifest = if order.manifest.is_some() { MANIFEST_UNITS } else { 0 };
        let units = order.heightmaps.len()
            + order.maps.len() * MAP_UNITS
            + plan.texture.len() * TEXTURE_UNITS
            + plan.frame_positions.len() * FRAME_UNITS
            + rivers
            + scatter
            + surface
            + weights
            + mesh
            + manifest;
        Self { next: EVALUATION_SHARE, per_unit: (1.0 - EVALUATION_SHARE) / units.max(1).to_f32() }
    }

    /// Runs work of this many units as the next stage.
    fn run<T>(&mut self, units: usize, progress: &Progress, work: impl FnOnce() -> T) -> T {
        let until = (self.next + self.per_unit * units.to_f32()).min(1.0);
        let done = progress.stage(self.next..until, work);
        self.next = until;
        done
    }
}

/// An export whose terrain is computed, and the files staged so far.
struct Staging<'a> {
    plan: &'a Plan,
    heights: &'a Heightfield,
    overview: Option<Overview>,
    /// The rock below, if a map needs it.
    rock: Option<Rock>,
    /// See [`own_range_m`].
    own_m: Band,
    stages: Stages,
    progress: &'a Progress,
    staged: Vec<StagedFile>,
    report: BuildReport,
    /// The heights of the heightmaps that have been staged.
    staged_heights: Vec<StagedHeights<'a>>,
}

impl Staging<'_> {
    fn heightmaps(&mut self) -> Result<(), FileError> {
        let Self { plan, heights, own_m, progress, stages, staged, report, staged_heights, .. } = self;
        let order = plan.order();
        for (heightmap, files) in order.heightmaps.iter().zip(&plan.heightmaps) {
            stages.run(1, progress, || {
                for (at, file) in files.iter().enumerate() {
                    let share = at.to_f32() / files.len().to_f32()..(at + 1).to_f32() / files.len().to_f32();
                    let tile = Tile { plan, heightmap, file, heights, own_m: *own_m };
                    let (staged_files, range_m) = progress.stage(share, || tile.stage(&mut report.notes, progress))?;
                    staged.extend(staged_files);
                    let HeightmapOrder { path: ordered, encoding } = heightmap;
                    staged_heights.push(StagedHeights { ordered, file, encoding: *encoding, range_m });
                }
                Ok::<_, FileError>(())
            })?;
        }
        if let (Some(Tiles { only: Some([column, row]), .. }), Some(part)) = (order.tiles, plan.part) {
            report.notes.push(match part {
                Ok(_) => format!("only tile {column},{row} was computed"),
                Err(reason) => format!("the complete terrain was computed to write tile {column},{row}: {reason}"),
            });
        }
        Ok(())
    }

    /// Stages everything that depends on terrain types: texture, weights and mesh.
    fn painted(&mut self) -> Result<(), FileError> {
        let Self { plan, heights, overview, own_m, progress, stages, staged, report, .. } = self;
        let order = plan.order();
        let whole = overview.as_ref().map_or(*heights, |overview| &overview.terrain);
        let recipe = &order.recipe.texture;
        let surface_maps = &match order.needs_painting() {
            true => {
                let required = RequiredMaps::of(recipe, order.baked_light());
                let distant = overview.as_ref().map(|Overview { terrain, mask_areas_m2, .. }| DistantTerrain {
                    overview: terrain,
                    areas_m2: mask_areas_m2.as_deref().map(Vec::as_slice),
                    is_drained: order.has_no_lakes(None),
                });
                let scope = &MaskScope { distant, ..order.recipe.mask_scope(&order.inputs) };
                let surface_maps = || {
                    SurfaceMaps::of_part(heights, whole, required, progress)?
                        .with_type_masks(heights, recipe, scope, progress)
                };
                stages.run(SURFACE_UNITS, progress, surface_maps)?
            }
            false => SurfaceMaps::default(),
        };
        let fixed_range_m = Some(order.recipe.world.height_range_m.unwrap_or(*own_m));
        let input = PaintInput { terrain: heights, surface_maps, recipe, fixed_range_m, inputs: &order.inputs };
        let paint = |points| paint(input, order.baked_light(), points, progress).map(|painted| painted.image);
        if let Some(texture) = &order.texture {
            let mut kept = None;
            for file in &plan.texture {
                let staging = || stage_texture(order, texture, file, &mut kept, &paint, progress);
                staged.push(stages.run(TEXTURE_UNITS, progress, staging)?);
            }
        }
        if let Some(weights) = &order.weights {
            let staging = || weights::stage(weights, &plan.weights, input, order.overwrite, progress);
            staged.extend(stages.run(WEIGHTS_UNITS, progress, staging)?);
        }
        if let Some(mesh) = &order.mesh {
            let strip = |whole: [usize; 2], rows: Range<usize>| {
                let (first, size) = ([0, rows.start], [whole[0], rows.len()]);
                paint(Points::PixelRegion(PixelRegion { full_size: whole, origin: first, size }))
            };
            let staging = || mesh::stage(mesh, heights, &strip, order.overwrite, progress);
            let (files, note) = stages.run(MESH_UNITS, progress, staging)?;
            staged.extend(files);
            report.notes.push(note);
        }
        Ok(())
    }

    fn frames(&mut self) -> Result<(), FileError> {
        let Self { plan, progress, stages, staged, .. } = self;
        if let Some(frames) = &plan.order().frames {
            let positions = &plan.frame_positions;
            let staging = || frames::stage(frames, positions, plan.order(), progress);
            staged.extend(stages.run(FRAME_UNITS * positions.len(), progress, staging)?);
        }
        Ok(())
    }

    /// Stages analysis maps and rivers.
    fn maps(&mut self) -> Result<(), FileError> {
        let Self { plan, heights, overview, rock, progress, stages, staged, report, .. } = self;
        let order = plan.order();
        let of_overview = overview.as_ref().and_then(|overview| overview.rock_ranges);
        let own = |rock: &Rock| of_overview.map_or_else(|| rock.ranges(progress), Ok);
        let ranges = rock.as_ref().map(own).transpose()?;
        let of = &MapTerrain {
            terrain: heights,
            whole: overview.as_ref().map_or(*heights, |overview| &overview.terrain),
            areas_m2: overview.as_ref().and_then(|overview| overview.areas_m2.as_deref()).map(Vec::as_slice),
            rock: rock.as_ref().zip(ranges),
            is_drained: order.has_no_lakes(order.sea_m),
            sea_m: order.sea_m,
        };
        for (map, files) in order.maps.iter().zip(&plan.maps) {
            let staging = || maps::stage(map, files, of, order.overwrite, progress);
            staged.extend(stages.run(MAP_UNITS, progress, staging)?);
            if let Some([low, high]) = ranges.as_ref().and_then(|ranges| map.analysis_map.range_m(ranges)) {
                let path = map.path.display();
                report.notes.push(format!("{path}: black is {low:.1} m, white {high:.1} m"));
            }
        }
        if let Some(rivers) = &order.rivers {
            let staging = || rivers::stage(rivers, heights, order.sea_m, order.overwrite, progress);
            staged.push(stages.run(RIVERS_UNITS, progress, staging)?);
        }
        Ok(())
    }

    fn scatter(&mut self) -> Result<(), FileError> {
        let Self { plan, heights, progress, stages, staged, report, .. } = self;
        let order = plan.order();
        if let Some(scatter) = &order.scatter {
            let of = (&order.recipe, &order.inputs);
            let staging = || scatter::stage(scatter, &plan.densities, of, heights, order.overwrite, progress);
            let (files, note) = stages.run(SCATTER_UNITS, progress, staging)?;
            staged.extend(files);
            report.notes.push(note);
        }
        Ok(())
    }

    /// Stages the files beside maps with their place on Earth.
    fn georeference(&mut self) -> Result<(), FileError> {
        let Self { plan, staged, .. } = self;
        for (path, text) in &plan.georeference {
            staged.push(atomic::stage_bytes(path, plan.order().overwrite, text.as_bytes())?);
        }
        Ok(())
    }

    /// Stages the manifest, which lists the other files, and so comes last.
    fn manifest(&mut self) -> Result<(), FileError> {
        let Self { plan, own_m, heights: terrain, stages, progress, staged, report, staged_heights, .. } = self;
        if let Some(order) = &plan.order().manifest {
            let (own_m, steps) = (*own_m, &report.steps);
            let manifest = Manifest { order, plan, own_m, terrain, heights: staged_heights, staged, steps };
            let files = stages.run(MANIFEST_UNITS, progress, || manifest.stage(progress))?;
            staged.extend(files);
        }
        Ok(())
    }
}

/// Stages a texture, a tile or a patch. `kept` is the painted texture, kept for the mirrored patches that follow.
fn stage_texture(
    order: &Order,
    texture: &TextureOrder,
    file: &TileFile,
    kept: &mut Option<Image>,
    paint: &dyn Fn(Points) -> Result<Image, crate::engine::Cancelled>,
    progress: &Progress,
) -> Result<StagedFile, FileError> {
    match texture.patches {
        Some(Patches { mirror: true, .. }) => {
            texture::stage_mirrored(texture, file, kept, paint, order.overwrite, progress)
        }
        Some(Patches { mirror: false, .. }) | None => {
            texture::stage_part(texture, file, paint, order.overwrite, progress)
        }
    }
}

/// A file of a heightmap to stage.
struct Tile<'a> {
    plan: &'a Plan,
    heightmap: &'a HeightmapOrder,
    file: &'a TileFile,
    heights: &'a Heightfield,
    own_m: Band,
}

impl Tile<'_> {
    /// Stages the heightmap and its sidecar; also returns the heights that the sidecar names.
    fn stage(&self, notes: &mut Vec<String>, progress: &Progress) -> Result<([StagedFile; 2], Band), FileError> {
        let Self { plan, heightmap: HeightmapOrder { encoding, .. }, file, heights, own_m } = self;
        let order = plan.order();
        let path = &file.path;
        let rows =
            Rows::of(heights, evaluated_region(file, heights), encoding.row_order).placed_at(order.origin.as_ref());
        let grid = grid_of(order.grid, file.region);
        let contents = heightmap::sidecar_contents(path, *encoding, grid, rows, span_m(order, *own_m))?;
        let steps = steps_of_file(order, path, contents.grid, contents.range_m, false);
        if contents.is_clamped {
            notes.push(heightmap::clamping_note(path));
        }
        let recipe = Some((order.recipe.seed, order.name.as_str()));
        let contents = SidecarContents { recipe, steps: &steps, ..contents };
        Ok((heightmap::stage(rows, &contents, order.overwrite, progress)?, contents.range_m))
    }
}
