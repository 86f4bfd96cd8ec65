//! The masks in a recipe: what has one, what they refer to, and what they lack.

use std::ops::RangeBounds;

use super::groups;
use super::inputs::Inputs;
use super::mask::{Mask, MaskReferences, MaskShapes, MaskSource};
use super::operations::AnyOperation;
use super::operations::pads::Pads;
use super::operations::paths::Paths;
use super::parameters::{List, ParameterError, Problem};
use super::recipe::{Recipe, Step, StepSettings};
use super::texture::MaskScope;

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

impl Recipe {
    /// The sources of a step's mask, with those of the named masks that they refer to.
    pub fn mask_sources<'a>(&'a self, settings: &'a StepSettings) -> impl Iterator<Item = &'a Mask> {
        let named = |mask: &'a Mask| match mask.source {
            MaskSource::Named => self.masks.get(&mask.name),
            _ => None,
        };
        settings.mask.iter().flat_map(move |mask| std::iter::once(mask).chain(named(mask).into_iter().flatten()))
    }

    /// What masks of terrain types depend on besides themselves and the terrain.
    pub fn mask_scope<'a>(&'a self, inputs: &'a Inputs) -> MaskScope<'a> {
        MaskScope { references: self.mask_references(..), seed: self.seed, inputs }
    }

    /// What masks can refer to: the masks by name, and the shapes of some of the steps.
    pub fn mask_references(&self, steps: impl RangeBounds<usize>) -> MaskReferences<'_> {
        let mut shapes = MaskShapes::default();
        for (_, step) in self.active_steps().filter(|(i, _)| steps.contains(i)) {
            match &step.operation {
                AnyOperation::Paths(Paths { paths }) => shapes.paths.extend(paths.iter()),
                AnyOperation::Pads(Pads { pads }) => shapes.pads.extend(pads.iter()),
                _ => {}
            }
        }
        MaskReferences { named: &self.masks, shapes }
    }

    /// An error if the mask of an enabled step or of an active terrain type lacks what it needs, such as its image, or
    /// the mask whose name it has, or if a stamp lacks its file. The step, the type or the stamp then has no effect.
    pub fn check_inputs(&self, inputs: &Inputs) -> Result<(), ParameterError> {
        let placements = self.placements();
        let path = |i| format!("stack.{}", groups::path(&placements, i));
        let of_steps = self.active_steps().map(|(i, step)| (path(i), &step.settings.mask));
        let active_set = self.texture.settings.active_set.as_ref();
        let types = self.texture.types.iter().enumerate();
        let of_types = types.filter(|(_, terrain_type)| terrain_type.is_active(active_set));
        let of_types = of_types.map(|(i, terrain_type)| (format!("texture.types.{i}"), &terrain_type.mask));
        for (owner, masks) in of_steps.chain(of_types) {
            for (j, mask) in masks.iter().enumerate() {
                if let Some((key, what)) = mask.missing(&self.masks, &|name| inputs.get(name).is_some()) {
                    let index = if masks.len() > 1 { format!(".{j}") } else { String::new() };
                    let path = format!("{owner}.mask{index}.{key}");
                    return Err(ParameterError { path, problem: Problem::Conflict(what.into()) });
                }
            }
        }
        for (i, step) in self.active_steps() {
            if let AnyOperation::Stamps(stamps) = &step.operation {
                let checked = stamps.check_files(&|name| inputs.get(name).is_some());
                checked.map_err(|error| self.error_of_step(i, error))?;
            }
        }
        Ok(())
    }
}
