//! Previews of edits that change a small part of the terrain, such as a stroke of a brush: only that part of the last
//! images is drawn again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::painter::Painter;
use super::request::{Preview, PreviewRequest};
use crate::engine::heightfield::GridPart;
use crate::engine::texture::{PaintInput, PixelRegion, Points, paint_view};
use crate::engine::{Cancelled, Grid, Heightfield, Image, Inputs, Progress};

/// The part of the terrain that an edit may change at most: one in so many samples.
const MIN_UNCHANGED: usize = 4;

/// The most samples along the longer side of a preview of an edit. Copying larger images takes longer than a coarse
/// preview, and no screen shows more.
pub(super) const MAX_SAMPLES: usize = 2049;

/// The samples along the longer side of previews of edits when complete ones have that many, and those of edits at most
/// `most`: of larger ones, every n-th sample.
pub(super) fn local_samples(samples: usize, most: usize) -> usize {
    let step = (samples.max(2) - 1).div_ceil(most.max(2) - 1);
    (samples.max(2) - 1).div_ceil(step) + 1
}

/// How far around a changed sample colours change, samples: a pixel between samples reads the slopes of those around it.
const REACH: usize = 3;

/// A copy of an image in which a part is replaced.
fn patched(image: &Image, part: GridPart, drawn: &Image) -> Arc<Image> {
    let mut patched = image.clone();
    patched.paste(part.first, drawn);
    Arc::new(patched)
}

/// The part of a terrain whose colours differ from those of another one of the same size, if it is small.
pub(super) fn changed_part(terrain: &Heightfield, before: &Heightfield) -> Option<GridPart> {
    let grid = terrain.grid();
    let part = terrain.difference(before)?.grown(REACH, grid);
    let [width, height] = part.size;
    (width * height <= grid.samples() / MIN_UNCHANGED).then_some(part)
}

impl Painter {
    /// Whether a request differs from the last one by an edit that may change only a part of the terrain.
    pub(super) fn is_edit(&self, request: &PreviewRequest, samples: usize, inputs: &Inputs) -> bool {
        let recipe = &*request.recipe;
        let grid = Grid::fitted(recipe.world.extent(), samples);
        self.latest.as_ref().is_some_and(|latest| {
            let base = &latest.request;
            latest.terrain.grid() == grid
                && base.same_appearance(request)
                && !base.same_terrain(request)
                && base.recipe.world == recipe.world
                && base.files == request.files
        }) && request.map_view.is_local()
            && self.evaluator.needs_only_passes(recipe, grid, Some(request.position), inputs)
    }

    /// The preview of a request with that many samples along the longer side, if it differs from the last one by an edit
    /// that is quickly evaluated and changes a small part of the terrain; `None` otherwise.
    ///
    /// The height range, shadows and other maps of the surface, and the statistics are those of the last complete
    /// preview: a complete one must follow.
    pub(super) fn local_edit(
        &mut self,
        request: &Arc<PreviewRequest>,
        samples: usize,
        max_evaluation: Duration,
        inputs: &Inputs,
        progress: &Progress,
    ) -> Result<Option<Preview>, Cancelled> {
        let began = Instant::now();
        let recipe = &*request.recipe;
        let grid = Grid::fitted(recipe.world.extent(), samples);
        let is_quick = self.evaluation_time <= max_evaluation && self.is_edit(request, samples, inputs);
        let Some(latest) = self.latest.clone().filter(|_| is_quick) else { return Ok(None) };
        let terrain = self.terrain(request, grid, inputs, progress)?;
        let Some(part) = changed_part(&terrain, &latest.terrain) else { return Ok(None) };
        let [width, height] = part.size;
        // One more sample on every side, for slopes.
        let around = part.grown(1, grid);
        let range_m = [latest.summary.min_m, latest.summary.max_m];
        let map = request.map_view.draw(&terrain.part(around), range_m, &recipe.light, progress)?;
        let inside = GridPart { first: std::array::from_fn(|axis| part.first[axis] - around.first[axis]), ..part };
        let map = map.part(inside.first, inside.size);
        let input = PaintInput {
            terrain: &terrain,
            surface_maps: &latest.surface_maps,
            recipe: &recipe.texture,
            fixed_range_m: recipe.world.height_range_m.or(Some(latest.summary.range_m())),
            inputs,
        };
        let region =
            PixelRegion { full_size: [grid.width(), grid.height()], origin: part.first, size: [width, height] };
        let points = Points::PixelRegion(region);
        let painted = paint_view(None, input, &recipe.light, request.texture_view, points, progress)?;
        let ((heightmap, texture), albedo) = rayon::join(
            || {
                rayon::join(
                    || patched(&latest.heightmap, part, &map),
                    || patched(&latest.texture, part, &painted.image),
                )
            },
            || painted.albedo.as_ref().map(|albedo| patched(&latest.albedo, part, albedo)),
        );
        let albedo = albedo.unwrap_or_else(|| texture.clone());
        let preview = Preview {
            request: request.clone(),
            coarse: true,
            terrain,
            heightmap,
            texture,
            albedo,
            elapsed: began.elapsed(),
            ..latest
        };
        self.latest = Some(preview.clone());
        Ok(Some(preview))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engine::map_view::MapView;
    use crate::engine::operations::AnyOperation;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::sculpt::{Sculpt, Stroke};
    use crate::engine::parameters::{Band, Point};
    use crate::engine::texture::TextureView;
    use crate::engine::{Recipe, Step};
    use crate::worker::preview::test_requests::request;

    const SAMPLES: usize = 129;

    pub(in crate::worker::preview) fn sculpt(recipe: &mut Recipe) -> &mut Sculpt {
        match recipe.stack.last_mut().map(|step| &mut step.operation) {
            Some(AnyOperation::Sculpt(sculpt)) => sculpt,
            other => panic!("a step with strokes, not {other:?}"),
        }
    }

    /// Faults below strokes.
    pub(in crate::worker::preview) fn sculpted() -> PreviewRequest {
        let mut sculpted = request(50, SAMPLES);
        let recipe = Arc::make_mut(&mut sculpted.recipe);
        recipe.stack.push(Step::new(Sculpt::default()));
        recipe.world.height_range_m = Some(Band { min: -500.0, max: 500.0 });
        recipe.light.shadows = 0.0;
        recipe.light.occlusion = 0.0;
        PreviewRequest { position: u32::MAX, ..sculpted }
    }

    pub(in crate::worker::preview) fn with_dab(request: &PreviewRequest, [x_m, z_m]: [f64; 2]) -> PreviewRequest {
        let mut dabbed = request.clone();
        let dab = Stroke { points_m: vec![Point { x_m, z_m }].into(), radius_m: 300.0, ..Default::default() };
        sculpt(Arc::make_mut(&mut dabbed.recipe)).strokes.push(dab);
        dabbed
    }

    fn complete(painter: &mut Painter, request: &PreviewRequest) -> Preview {
        let (inputs, progress) = (Inputs::default(), Progress::new());
        painter.preview(&Arc::new(request.clone()), SAMPLES, &inputs, &progress).expect("not cancelled")
    }

    fn local(painter: &mut Painter, request: &PreviewRequest, max: Duration) -> Option<Preview> {
        let (inputs, progress) = (Inputs::default(), Progress::new());
        painter.local_edit(&Arc::new(request.clone()), SAMPLES, max, &inputs, &progress).expect("not cancelled")
    }

    #[test]
    fn the_images_are_those_of_a_complete_preview_where_nothing_else_depends_on_the_edit() {
        for (map_view, texture_view) in [
            (MapView::Grey, TextureView::Lit),
            (MapView::Tints, TextureView::Unlit),
            (MapView::Hillshade, TextureView::Uncovered),
            (MapView::Slope, TextureView::Solo(0)),
        ] {
            let mut request = PreviewRequest { map_view, texture_view, ..sculpted() };
            let mut painter = Painter::default();
            complete(&mut painter, &request);
            // Inside, across a border and in a corner; each on the images with those before.
            for place in [[2000.0, 1500.0], [0.0, 2222.0], [4096.0, 4096.0]] {
                let before = request.clone();
                request = with_dab(&before, place);
                let drawn = local(&mut painter, &request, Duration::MAX).expect("a small edit");
                let expected = complete(&mut Painter::default(), &request);
                assert!(drawn.coarse && *drawn.request == request);
                assert_eq!(drawn.terrain, expected.terrain);
                // The range of the map is that of the last complete preview, which the faults decide.
                assert_eq!(drawn.summary.range_m(), expected.summary.range_m());
                assert!(drawn.heightmap == expected.heightmap, "{map_view:?} at {place:?}");
                assert!(drawn.texture == expected.texture, "{texture_view:?} at {place:?}");
                assert!(drawn.albedo == expected.albedo, "{texture_view:?} at {place:?}");
            }
            assert!(!complete(&mut painter, &request).coarse, "a complete preview follows");
        }
    }

    #[test]
    fn edits_of_large_previews_are_drawn_at_every_nth_sample() {
        let expected = [(4097, 2049), (2049, 2049), (1025, 1025), (8193, 2049), (3001, 1501), (2, 2)];
        for (samples, local) in expected {
            assert_eq!(local_samples(samples, MAX_SAMPLES), local, "{samples}");
        }
    }

    #[test]
    fn only_quick_edits_of_a_small_part_are_drawn_alone() {
        let mut painter = Painter::default();
        let request = sculpted();
        let dabbed = with_dab(&request, [2000.0, 1500.0]);
        assert!(local(&mut painter, &request, Duration::MAX).is_none(), "without a complete preview before");
        complete(&mut painter, &request);
        assert!(local(&mut painter, &request, Duration::MAX).is_none(), "without an edit");
        assert!(local(&mut painter, &dabbed, Duration::ZERO).is_none(), "after a slow evaluation");
        let contours = PreviewRequest { map_view: MapView::Contours, ..dabbed.clone() };
        assert!(local(&mut painter, &contours, Duration::MAX).is_none(), "in another view");
        let mut lit = dabbed.clone();
        Arc::make_mut(&mut lit.recipe).light.azimuth_deg += 30.0;
        assert!(local(&mut painter, &lit, Duration::MAX).is_none(), "in another light");
        let mut resized = dabbed.clone();
        Arc::make_mut(&mut resized.recipe).world.width_m *= 2.0;
        assert!(local(&mut painter, &resized, Duration::MAX).is_none(), "in another world");
        let mut faulted = dabbed.clone();
        Arc::make_mut(&mut faulted.recipe).stack[0] = Step::new(Faults { count: 60, ..Default::default() });
        assert!(local(&mut painter, &faulted, Duration::MAX).is_none(), "above a step with iterations");
        let mut wide = dabbed.clone();
        sculpt(Arc::make_mut(&mut wide.recipe)).strokes[0].radius_m = 3000.0;
        assert!(local(&mut painter, &wide, Duration::MAX).is_none(), "over a large part");
        assert!(local(&mut painter, &dabbed, Duration::MAX).is_some());
    }
}
