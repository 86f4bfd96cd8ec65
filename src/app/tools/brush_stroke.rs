//! What the brush draws: strokes that sculpt the terrain, or strokes that paint the mask of a step or a terrain type.

use egui::Modifiers;

use super::context::{Selected, step_on_top, target_step};
use crate::engine::mask::{Mask, MaskSource, PaintedStroke};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::sculpt::{Mode, Sculpt, Stroke};
use crate::engine::parameters::{Group, List, Point};
use crate::engine::recipe::{Recipe, Step};
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::strokes::Brush;
use crate::engine::texture::{TerrainType, TypeBlend};

/// A kind of stroke that the brush can draw.
pub(super) trait BrushStroke: Group + Default + Clone + PartialEq {
    /// What the brush is called in the tool bar.
    const NAME: &'static str;
    /// The parameters in the tool bar, of which only those that apply are shown.
    const SHOWN: &'static [&'static str];
    /// Where the first stroke goes if there is no place for it yet.
    const NEW_PLACE: &'static str;

    fn points_m(&self) -> &List<Point>;
    fn points_m_mut(&mut self) -> &mut List<Point>;
    /// The pressure of the pen at the points, if the system reports it.
    fn pressure_mut(&mut self) -> &mut Option<List<f64>>;
    fn brush(&self) -> Brush;

    /// Adapts a new stroke to the modifier keys and to the height of the terrain where it begins, unless another height
    /// was picked.
    fn adapt(&mut self, modifiers: Modifiers, height_m: Option<f64>);

    /// Takes the height to which it flattens; returns whether it flattens at all.
    fn pick_height(&mut self, height_m: f64) -> bool;

    /// Whether the height to which it flattens can be picked.
    fn uses_height(&self) -> bool;

    /// What holds the strokes that are edited; `None` if the first stroke has to make a place for them.
    fn target(recipe: &Recipe, selected: Selected) -> Option<MaskOwner>;

    /// What holds the strokes that are edited, with a place for this one; `None` without anything that could have one.
    fn prepare(&self, recipe: &mut Recipe, selected: Selected) -> Option<MaskOwner>;

    fn strokes(recipe: &Recipe, owner: MaskOwner) -> Option<&List<Self>>;
    fn strokes_mut(recipe: &mut Recipe, owner: MaskOwner) -> Option<&mut List<Self>>;
}

impl BrushStroke for Stroke {
    const NAME: &'static str = "Brush";
    const SHOWN: &'static [&'static str] =
        &["mode", "radius_m", "hardness", "strength_m", "strength", "wavelength_m", "height_m"];
    const NEW_PLACE: &'static str = "The first stroke adds a Sculpt step on top";

    fn points_m(&self) -> &List<Point> {
        &self.points_m
    }

    fn points_m_mut(&mut self) -> &mut List<Point> {
        &mut self.points_m
    }

    fn pressure_mut(&mut self) -> &mut Option<List<f64>> {
        &mut self.pressure
    }

    fn brush(&self) -> Brush {
        Brush { radius_m: self.radius_m, hardness: self.hardness }
    }

    fn adapt(&mut self, modifiers: Modifiers, height_m: Option<f64>) {
        self.mode = match self.mode {
            _ if modifiers.shift => Mode::Smooth,
            Mode::Raise if modifiers.command => Mode::Lower,
            Mode::Lower if modifiers.command => Mode::Raise,
            mode => mode,
        };
        if let Some(height_m) = height_m.filter(|_| self.mode == Mode::Flatten) {
            self.pick_height(height_m);
        }
    }

    fn pick_height(&mut self, height_m: f64) -> bool {
        self.mode = Mode::Flatten;
        self.set("height_m", &((10.0 * height_m).round() / 10.0).into()).is_ok()
    }

    fn uses_height(&self) -> bool {
        self.mode == Mode::Flatten
    }

    fn target(recipe: &Recipe, selected: Selected) -> Option<MaskOwner> {
        target_step(recipe, selected.step, is_sculpt).map(MaskOwner::Step)
    }

    fn prepare(&self, recipe: &mut Recipe, selected: Selected) -> Option<MaskOwner> {
        let step = step_on_top(recipe, selected.step, is_sculpt, || Step::new(Sculpt::default()));
        Some(MaskOwner::Step(step))
    }

    fn strokes(recipe: &Recipe, owner: MaskOwner) -> Option<&List<Self>> {
        let MaskOwner::Step(step) = owner else { return None };
        match &recipe.stack.get(step)?.operation {
            AnyOperation::Sculpt(Sculpt { strokes }) => Some(strokes),
            _ => None,
        }
    }

    fn strokes_mut(recipe: &mut Recipe, owner: MaskOwner) -> Option<&mut List<Self>> {
        let MaskOwner::Step(step) = owner else { return None };
        match &mut recipe.stack.get_mut(step)?.operation {
            AnyOperation::Sculpt(Sculpt { strokes }) => Some(strokes),
            _ => None,
        }
    }
}

fn is_sculpt(step: &Step) -> bool {
    matches!(step.operation, AnyOperation::Sculpt(_))
}

impl BrushStroke for PaintedStroke {
    const NAME: &'static str = "Mask brush";
    const SHOWN: &'static [&'static str] = &["erase", "radius_m", "hardness", "strength"];
    const NEW_PLACE: &'static str = "The first stroke adds a painted mask";

    fn points_m(&self) -> &List<Point> {
        &self.points_m
    }

    fn points_m_mut(&mut self) -> &mut List<Point> {
        &mut self.points_m
    }

    fn pressure_mut(&mut self) -> &mut Option<List<f64>> {
        &mut self.pressure
    }

    fn brush(&self) -> Brush {
        Brush { radius_m: self.radius_m, hardness: self.hardness }
    }

    fn adapt(&mut self, modifiers: Modifiers, _height_m: Option<f64>) {
        self.erase ^= modifiers.command;
    }

    fn pick_height(&mut self, _height_m: f64) -> bool {
        false
    }

    fn uses_height(&self) -> bool {
        false
    }

    fn target(recipe: &Recipe, selected: Selected) -> Option<MaskOwner> {
        Some(selected.mask_owner().of_strokes(recipe)).filter(|owner| painted_mask(recipe, *owner).is_some())
    }

    fn prepare(&self, recipe: &mut Recipe, selected: Selected) -> Option<MaskOwner> {
        let mut owner = selected.mask_owner().of_strokes(recipe);
        if let MaskOwner::Type(i) = owner
            && !self.erase
            && recipe.texture.types.get(i).is_some_and(|painted| painted.mask.is_empty() && painted.covers())
        {
            if !selected.only_there {
                let like = &recipe.texture.types[i];
                let name = format!("{}, painted", like.name);
                let added = TerrainType { name, ..like.without_limits() };
                recipe.texture.types.insert(i + 1, added);
                owner = MaskOwner::Type(i + 1);
            }
            // Painted to the full, a type hides the others.
            if let MaskOwner::Type(i) = owner {
                recipe.texture.types[i].blend = TypeBlend::Cover;
            }
        }
        let masks = owner.mask_mut(recipe)?;
        if !masks.iter().any(is_painted) {
            // What acts everywhere goes on doing so but where the stroke erases.
            let ground = if self.erase { 1.0 } else { 0.0 };
            masks.push(Mask { source: MaskSource::Painted, ground, ..Mask::default() });
        }
        Some(owner)
    }

    fn strokes(recipe: &Recipe, owner: MaskOwner) -> Option<&List<Self>> {
        painted_mask(recipe, owner).map(|mask| &mask.strokes)
    }

    fn strokes_mut(recipe: &mut Recipe, owner: MaskOwner) -> Option<&mut List<Self>> {
        let masks = owner.mask_mut(recipe)?;
        let at = masks.iter().position(is_painted)?;
        masks.get_mut(at).map(|mask| &mut mask.strokes)
    }
}

fn is_painted(mask: &Mask) -> bool {
    mask.source == MaskSource::Painted
}

/// The painted source of the mask of a step or a terrain type.
pub(super) fn painted_mask(recipe: &Recipe, owner: MaskOwner) -> Option<&Mask> {
    owner.mask(recipe)?.iter().find(|mask| is_painted(mask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::texture::TextureRecipe;

    fn selected(step: usize) -> Selected {
        Selected { step, last: None, only_there: true }
    }

    #[test]
    fn strokes_go_into_the_selected_step_or_the_topmost_one_or_a_new_one() {
        let (sculpt, other) = (|| Step::new(Sculpt::default()), || Step::new(Faults::default()));
        let mut recipe = Recipe { stack: vec![other(), sculpt(), other(), sculpt()], ..Default::default() };
        let prepared = |recipe: &mut Recipe, step: usize| match Stroke::default().prepare(recipe, selected(step)) {
            Some(MaskOwner::Step(step)) => step,
            other => panic!("a step, not {other:?}"),
        };
        assert_eq!([0, 1, 3].map(|step| prepared(&mut recipe, step)), [3, 1, 3]);
        recipe.stack.pop();
        recipe.stack[1].settings.enabled = false;
        assert_eq!(prepared(&mut recipe, 1), 1);
        assert!(recipe.stack[1].settings.enabled);
        assert_eq!((prepared(&mut recipe, 0), recipe.stack.len()), (3, 4), "strokes go on top");
    }

    #[test]
    fn painting_adds_one_painted_source_to_the_mask_of_what_was_selected_last() {
        let mut recipe = Recipe { stack: vec![Step::new(Faults::default())], ..Default::default() };
        let of_type = Selected { step: 0, last: Some(MaskOwner::Type(1)), only_there: true };
        recipe.stack[0].settings.mask = vec![Mask { source: MaskSource::Slope, ..Mask::default() }].into();
        for _ in 0..2 {
            assert_eq!(PaintedStroke::default().prepare(&mut recipe, selected(0)), Some(MaskOwner::Step(0)));
            assert_eq!(PaintedStroke::default().prepare(&mut recipe, of_type), Some(MaskOwner::Type(1)));
        }
        let sources = |masks: &List<Mask>| masks.iter().map(|mask| mask.source).collect::<Vec<_>>();
        assert_eq!(sources(&recipe.stack[0].settings.mask), [MaskSource::Slope, MaskSource::Painted]);
        assert_eq!(sources(&recipe.texture.types[1].mask), [MaskSource::Painted]);
        assert!(recipe.texture.types[0].mask.is_empty());
        assert_eq!(PaintedStroke::default().prepare(&mut recipe, selected(1)), None);
    }

    #[test]
    fn painting_adds_a_type_that_appears_at_any_height_and_leaves_the_other_as_it_is() {
        let mut recipe = Recipe { texture: TextureRecipe::starter(), ..Default::default() };
        let before = recipe.texture.types.clone();
        let snow = before.len() - 1;
        let adds = Selected { step: 0, last: Some(MaskOwner::Type(snow)), only_there: false };
        assert_eq!(PaintedStroke::default().prepare(&mut recipe, adds), Some(MaskOwner::Type(snow + 1)));
        let types = &recipe.texture.types;
        assert_eq!(types[..=snow], before[..]);
        let added = &types[snow + 1];
        assert_eq!((added.colour, added.blend, added.mask.len()), (before[snow].colour, TypeBlend::Cover, 1));
        assert_eq!(added.name, format!("{}, painted", before[snow].name));
        // The next strokes go to the same type, and erasing adds none.
        let next = Selected { last: Some(MaskOwner::Type(snow + 1)), ..adds };
        assert_eq!(PaintedStroke::default().prepare(&mut recipe, next), Some(MaskOwner::Type(snow + 1)));
        let erases = PaintedStroke { erase: true, ..PaintedStroke::default() };
        assert_eq!(
            erases.prepare(&mut recipe, Selected { last: Some(MaskOwner::Type(0)), ..adds }),
            Some(MaskOwner::Type(0))
        );
        assert_eq!(recipe.texture.types.len(), before.len() + 1);
    }
}
