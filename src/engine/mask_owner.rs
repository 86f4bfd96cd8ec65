//! The parts of a recipe that have a mask.

use super::mask::Mask;
use super::parameters::List;
use super::recipe::{Recipe, Step};

/// A step or a terrain type, which has a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskOwner {
    /// The step of the stack at that index.
    Step(usize),
    /// The terrain type at that index in the list.
    Type(usize),
}

impl MaskOwner {
    /// The name of the step or type; `None` if the recipe has no such one.
    pub fn name(self, recipe: &Recipe) -> Option<&str> {
        match self {
            Self::Step(i) => recipe.stack.get(i).map(Step::title),
            Self::Type(i) => recipe.texture.types.get(i).map(|terrain_type| terrain_type.name.as_str()),
        }
    }

    /// The sources of its mask.
    pub fn mask(self, recipe: &Recipe) -> Option<&List<Mask>> {
        match self {
            Self::Step(i) => recipe.stack.get(i).map(|step| &step.settings.mask),
            Self::Type(i) => recipe.texture.types.get(i).map(|terrain_type| &terrain_type.mask),
        }
    }

    /// The same, to be changed.
    pub fn mask_mut(self, recipe: &mut Recipe) -> Option<&mut List<Mask>> {
        match self {
            Self::Step(i) => recipe.stack.get_mut(i).map(|step| &mut step.settings.mask),
            Self::Type(i) => recipe.texture.types.get_mut(i).map(|terrain_type| &mut terrain_type.mask),
        }
    }
}
