//! Evaluates a recipe and paints its texture at one size, reusing whatever has not changed since the last request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::request::{Preview, PreviewRequest};
use crate::engine::analysis::Summary;
use crate::engine::light::Light;
use crate::engine::map_view::MapView;
use crate::engine::operations::PartReport;
use crate::engine::stack::Evaluator;
use crate::engine::texture::{
    PaintCache, PaintInput, PaintedTexture, Points, RequiredMaps, SurfaceMapCache, paint_view,
};
use crate::engine::{Cancelled, Grid, Heightfield, Image, Inputs, Progress};

/// Bins of the height histogram.
const HISTOGRAM_BINS: usize = 64;

/// An image of the heights, and the inputs it was drawn from.
struct DrawnMap {
    terrain: Arc<Heightfield>,
    view: MapView,
    /// The light, if the view shows it.
    light: Option<Light>,
    image: Arc<Image>,
}

/// Computes previews of one size, with a cache of each stage.
#[derive(Default)]
pub(super) struct Painter {
    pub(super) evaluator: Evaluator,
    pub(super) summary: Option<(Arc<Heightfield>, Arc<Summary>)>,
    map: Option<DrawnMap>,
    surface_maps: Option<(Arc<Heightfield>, SurfaceMapCache)>,
    paint_cache: PaintCache,
    /// The last request whose terrain was evaluated to the end, and when that was.
    pub(super) evaluated: Option<(Arc<PreviewRequest>, Instant)>,
    /// How long that evaluation took.
    pub(super) evaluation_time: Duration,
    /// The reports on the parts of a step, with the terrain and the step.
    reports: Option<(Arc<Heightfield>, usize, Vec<PartReport>)>,
    /// The last preview, on which those of edits are drawn.
    pub(super) latest: Option<Preview>,
}

impl Painter {
    pub(super) fn new(evaluator: Evaluator) -> Self {
        Self { evaluator, ..Self::default() }
    }

    /// Computes the preview of a request with that many samples along the longer side.
    pub(super) fn preview(
        &mut self,
        request: &Arc<PreviewRequest>,
        samples: usize,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Preview, Cancelled> {
        let began = Instant::now();
        let recipe = &*request.recipe;
        let grid = Grid::fitted(recipe.world.extent(), samples);
        let terrain = progress.stage(0.0..0.58, || self.terrain(request, grid, inputs, progress))?;
        let summary = self.summary_of(&terrain);
        let reports = progress.stage(0.58..0.6, || self.reports_on(&terrain, request, inputs, progress))?;
        let heightmap = self.draw_map(&terrain, &summary, request, progress)?;
        let size = [grid.width(), grid.height()];
        let required = request.texture_view.required_maps(RequiredMaps::of(&recipe.texture, Some(&recipe.light)));
        let cache = self.surface_maps_of(&terrain);
        let mut surface_maps = progress.stage(0.6..0.75, || cache.compute(&terrain, required, progress))?;
        let (texture, scope) = (&recipe.texture, &recipe.mask_scope(inputs));
        let type_masks = || cache.type_masks(&terrain, texture, scope, progress);
        surface_maps.type_masks = progress.stage(0.75..0.8, type_masks)?;
        let input = PaintInput {
            terrain: &terrain,
            surface_maps: &surface_maps,
            recipe: &recipe.texture,
            // The summary has the range already.
            fixed_range_m: recipe.world.height_range_m.or(Some(summary.range_m())),
            inputs,
        };
        let (cache, points) = (Some(&mut self.paint_cache), Points::Pixels(size));
        let painting = || paint_view(cache, input, &recipe.light, request.texture_view, points, progress);
        let PaintedTexture { image, albedo, shares, uncovered } = progress.stage(0.8..1.0, painting)?;
        let texture = Arc::new(image);
        let albedo = albedo.map_or_else(|| texture.clone(), Arc::new);
        let preview = Preview {
            request: request.clone(),
            coarse: samples < request.samples || self.evaluator.is_coarse(),
            terrain,
            heightmap,
            texture,
            albedo,
            summary,
            shares,
            uncovered,
            surface_maps,
            reports,
            elapsed: began.elapsed(),
        };
        self.latest = Some(preview.clone());
        Ok(preview)
    }

    /// Evaluates the terrain of a request.
    pub(super) fn terrain(
        &mut self,
        request: &Arc<PreviewRequest>,
        grid: Grid,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Arc<Heightfield>, Cancelled> {
        let began = Instant::now();
        let terrain = self.evaluator.evaluate(&request.recipe, grid, Some(request.position), inputs, progress)?;
        let now = Instant::now();
        (self.evaluated, self.evaluation_time) = (Some((request.clone(), now)), now - began);
        Ok(terrain)
    }

    fn summary_of(&mut self, terrain: &Arc<Heightfield>) -> Arc<Summary> {
        match &self.summary {
            Some((known, summary)) if Arc::ptr_eq(known, terrain) => summary.clone(),
            _ => {
                let summary = Arc::new(Summary::of(terrain, HISTOGRAM_BINS));
                self.summary = Some((terrain.clone(), summary.clone()));
                summary
            }
        }
    }

    /// The cached surface maps of a terrain. A different terrain clears them and the paint cache.
    fn surface_maps_of(&mut self, terrain: &Arc<Heightfield>) -> &mut SurfaceMapCache {
        let known = self.surface_maps.take().filter(|(known, _)| Arc::ptr_eq(known, terrain));
        if known.is_none() {
            self.paint_cache.invalidate_terrain();
        }
        &mut self.surface_maps.insert(known.unwrap_or_else(|| (terrain.clone(), SurfaceMapCache::default()))).1
    }

    /// The reports on the parts of the step that the request names, made again only for another terrain or step.
    fn reports_on(
        &mut self,
        terrain: &Arc<Heightfield>,
        request: &PreviewRequest,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Vec<PartReport>, Cancelled> {
        let Some(step) = request.reported_step else { return Ok(Vec::new()) };
        let is_same = |(known, of, _): &&(Arc<Heightfield>, usize, _)| Arc::ptr_eq(known, terrain) && *of == step;
        if let Some((_, _, reports)) = self.reports.as_ref().filter(is_same) {
            return Ok(reports.clone());
        }
        let reports = self.evaluator.reports(&request.recipe, step, inputs, progress)?;
        self.reports = Some((terrain.clone(), step, reports.clone()));
        Ok(reports)
    }

    /// The image of the heights, drawn again only if something visible has changed.
    fn draw_map(
        &mut self,
        terrain: &Arc<Heightfield>,
        summary: &Summary,
        request: &PreviewRequest,
        progress: &Progress,
    ) -> Result<Arc<Image>, Cancelled> {
        let (view, light) = (request.map_view, &request.recipe.light);
        let visible_light = view.is_lit().then(|| light.clone());
        let is_same = |drawn: &&DrawnMap| {
            Arc::ptr_eq(&drawn.terrain, terrain) && drawn.view == view && drawn.light == visible_light
        };
        if let Some(drawn) = self.map.as_ref().filter(is_same) {
            return Ok(drawn.image.clone());
        }
        let image = Arc::new(view.draw(terrain, [summary.min_m, summary.max_m], light, progress)?);
        self.map = Some(DrawnMap { terrain: terrain.clone(), view, light: visible_light, image: image.clone() });
        Ok(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::preview::test_requests::request;

    #[test]
    fn a_different_map_view_keeps_the_terrain_and_draws_only_the_heightmap() {
        let progress = Progress::new();
        let mut painter = Painter::default();
        let mut draw = |map_view: MapView, azimuth_deg: f64| {
            let mut changed = PreviewRequest { map_view, ..request(10, 33) };
            Arc::make_mut(&mut changed.recipe).light.azimuth_deg = azimuth_deg;
            painter.preview(&Arc::new(changed), 33, &Inputs::default(), &progress).expect("not cancelled")
        };
        let grey = draw(MapView::Grey, 0.0);
        let slope = draw(MapView::Slope, 0.0);
        assert!(Arc::ptr_eq(&grey.terrain, &slope.terrain) && grey.heightmap != slope.heightmap);
        assert!(Arc::ptr_eq(&slope.heightmap, &draw(MapView::Slope, 90.0).heightmap), "slopes do not show the light");
        let [north, east] = [0.0, 90.0].map(|azimuth_deg| draw(MapView::Hillshade, azimuth_deg));
        assert!(Arc::ptr_eq(&north.terrain, &grey.terrain) && north.heightmap != east.heightmap);
    }
}
