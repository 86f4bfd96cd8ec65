//! A painted mask, drawn over the views.

use std::sync::Arc;

use egui::{Color32, ColorImage, Rect, TextureHandle, TextureOptions, Ui};

use super::brush_stroke::painted_mask;
use super::tool_view::ToolView;
use crate::app::widgets::theme::colours;
use crate::engine::cast::ToInteger;
use crate::engine::heightfield::{Extent, Grid};
use crate::engine::mask::{EvaluatedMasks, Mask, MaskReferences, MaskRow};
use crate::engine::operations::EvalContext;
use crate::engine::recipe::Recipe;
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::{Inputs, Progress};

/// Samples along a side. The overlay is computed within a frame.
const SIDE: usize = 257;

/// The opacity where the weight is 1.
const OPACITY: f32 = 0.45;

/// The overlay over the maps.
#[derive(Default)]
pub(super) struct MaskOverlay {
    /// The image and what it was made from; `None` before the first time.
    made: Option<(OverlaySource, Arc<ColorImage>)>,
    /// The image on the maps.
    uploaded: Option<(Arc<ColorImage>, TextureHandle)>,
    is_hidden: bool,
}

#[derive(PartialEq)]
struct OverlaySource {
    mask: Mask,
    extent: Extent,
    colour: Color32,
}

impl std::fmt::Debug for MaskOverlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MaskOverlay").finish_non_exhaustive()
    }
}

impl MaskOverlay {
    /// Hides or shows the mask.
    pub(super) fn toggle(&mut self) {
        self.is_hidden = !self.is_hidden;
    }

    /// The tint of the painted mask of a step, a terrain type or a named mask over the whole map, if it has one and it is
    /// not hidden.
    pub(super) fn tint(&mut self, ui: &Ui, recipe: &Recipe, owner: MaskOwner) -> Option<Arc<ColorImage>> {
        let mask = painted_mask(recipe, owner).filter(|_| !self.is_hidden)?;
        let source = OverlaySource { mask: mask.clone(), extent: recipe.world.extent(), colour: colours(ui).accent };
        if let Some((_, image)) = self.made.as_ref().filter(|(known, _)| *known == source) {
            return Some(image.clone());
        }
        let image = Arc::new(image(&source)?);
        self.made = Some((source, image.clone()));
        Some(image)
    }

    /// Draws the painted mask of a step or a terrain type, if it has one and the view is a map.
    pub(super) fn draw(&mut self, ui: &Ui, view: &dyn ToolView, recipe: &Recipe, owner: MaskOwner) {
        let Some(world) = view.world_rect(recipe.world.extent()) else { return };
        let Some(image) = self.tint(ui, recipe, owner) else { return };
        match &mut self.uploaded {
            Some((known, _)) if Arc::ptr_eq(known, &image) => {}
            Some((known, texture)) => {
                texture.set(image.clone(), TextureOptions::LINEAR);
                *known = image;
            }
            None => {
                let texture = ui.ctx().load_texture("painted mask", image.clone(), TextureOptions::LINEAR);
                self.uploaded = Some((image, texture));
            }
        }
        if let Some((_, texture)) = &self.uploaded {
            let all = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
            view.painter().image(texture.id(), world, all, Color32::WHITE);
        }
    }
}

/// The weights of a painted mask as the opacity of a colour; `None` if it was cancelled, which does not happen.
fn image(OverlaySource { mask, extent, colour }: &OverlaySource) -> Option<ColorImage> {
    let grid = Grid::new(*extent, SIDE, SIDE);
    let (inputs, progress) = (Inputs::default(), Progress::new());
    let context = EvalContext::new(grid, &inputs, &progress);
    let evaluated = EvaluatedMasks::new(std::slice::from_ref(mask), &MaskReferences::none(), None, &context).ok()?;
    let mut row = MaskRow::new(SIDE);
    let mut pixels = Vec::with_capacity(SIDE * SIDE);
    for r in 0..SIDE {
        evaluated.fill(r, &mut row);
        let alpha = |weight: f32| (255.0 * OPACITY * weight.clamp(0.0, 1.0)).to_u8();
        let tinted = |weight: &f32| Color32::from_rgba_unmultiplied(colour.r(), colour.g(), colour.b(), alpha(*weight));
        pixels.extend(row.weights().iter().map(tinted));
    }
    Some(ColorImage::new([SIDE, SIDE], pixels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::mask::{MaskSource, PaintedStroke};
    use crate::engine::parameters::Point;

    #[test]
    fn painted_places_are_tinted() {
        let points_m = vec![Point { x_m: 500.0, z_m: 250.0 }].into();
        let stroke = PaintedStroke { points_m, radius_m: 100.0, strength: 1.0, ..PaintedStroke::default() };
        let mask = Mask { source: MaskSource::Painted, strokes: vec![stroke].into(), ..Mask::default() };
        let extent = Extent { width_m: 1000.0, depth_m: 1000.0 };
        let colour = Color32::from_rgb(200, 100, 50);
        let found = image(&OverlaySource { mask, extent, colour }).expect("an image");
        let alpha = |c: usize, r: usize| found.pixels[r * SIDE + c].a();
        assert_eq!([alpha(128, 64), alpha(128, 192)], [(255.0 * OPACITY).to_u8(), 0]);
    }
}
