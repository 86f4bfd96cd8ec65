//! The masks in a recipe: what has one, what they refer to, and what they lack.

use std::ops::RangeBounds;

use super::groups;
use super::heightfield::Grid;
use super::inputs::Inputs;
use super::mask::{Mask, MaskReferences, MaskShapes, MaskSource};
use super::operations::AnyOperation;
use super::operations::pads::Pads;
use super::operations::paths::Paths;
use super::parameters::{List, ParameterError, Problem, Spec, parameters};
use super::reach::Reach;
use super::recipe::{Recipe, Step, StepSettings};
use super::scatter::layer::{Avoid, TypeShare};
use super::texture::MaskScope;

parameters! {
    /// A mask with a name, which several steps and terrain types can use.
    pub struct NamedMask {
        /// The name, by which masks refer to it.
        name: String = String::new(), Spec::new("Name");
        /// The sources of the mask.
        mask: List<Mask> = List::default(), Spec::new("Mask").unwrapped();
    }
}

/// What has a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskOwner {
    /// The step of the stack at that index.
    Step(usize),
    /// The terrain type at that index in the list.
    Type(usize),
    /// The layer of the scatter at that index.
    Layer(usize),
    /// The mask at that index in the order of the names.
    Named(usize),
}

impl MaskOwner {
    /// The name of the step, type or mask; `None` if the recipe has no such one.
    pub fn name(self, recipe: &Recipe) -> Option<&str> {
        match self {
            Self::Step(i) => recipe.stack.get(i).map(Step::title),
            Self::Type(i) => recipe.texture.types.get(i).map(|terrain_type| terrain_type.name.as_str()),
            Self::Layer(i) => recipe.scatter.get(i).map(|layer| layer.name.as_str()),
            Self::Named(i) => recipe.masks.keys().nth(i).map(String::as_str),
        }
    }

    /// The sources of its mask.
    pub fn mask(self, recipe: &Recipe) -> Option<&List<Mask>> {
        match self {
            Self::Step(i) => recipe.stack.get(i).map(|step| &step.settings.mask),
            Self::Type(i) => recipe.texture.types.get(i).map(|terrain_type| &terrain_type.mask),
            Self::Layer(i) => recipe.scatter.get(i).map(|layer| &layer.mask),
            Self::Named(i) => recipe.masks.values().nth(i),
        }
    }

    /// The same, to be changed.
    pub fn mask_mut(self, recipe: &mut Recipe) -> Option<&mut List<Mask>> {
        match self {
            Self::Step(i) => recipe.stack.get_mut(i).map(|step| &mut step.settings.mask),
            Self::Type(i) => recipe.texture.types.get_mut(i).map(|terrain_type| &mut terrain_type.mask),
            Self::Layer(i) => recipe.scatter.get_mut(i).map(|layer| &mut layer.mask),
            Self::Named(i) => recipe.masks.values_mut().nth(i),
        }
    }

    /// What holds the strokes that are painted on its mask: itself, or a mask to which its mask refers, if only that one is
    /// painted.
    pub fn of_strokes(self, recipe: &Recipe) -> Self {
        let is_painted = |owner: &Self| {
            owner.mask(recipe).is_some_and(|mask| mask.iter().any(|source| source.source == MaskSource::Painted))
        };
        let index = |name: &str| recipe.masks.keys().position(|known| known == name).map(Self::Named);
        let sources = self.mask(recipe).into_iter().flat_map(|mask| mask.iter());
        let references = sources.filter(|source| source.source == MaskSource::Named);
        let named = || references.filter_map(|source| index(&source.name)).find(is_painted);
        if is_painted(&self) { self } else { named().unwrap_or(self) }
    }

    /// Whether its mask can get a name: named masks refer to no others.
    pub fn can_share(self, recipe: &Recipe) -> bool {
        let is_own = |mask: &List<Mask>| !mask.is_empty() && mask.iter().all(|one| one.source != MaskSource::Named);
        !matches!(self, Self::Named(_)) && self.mask(recipe).is_some_and(is_own)
    }
}

impl Recipe {
    /// Gives the mask of a step, terrain type or layer a name, to which it refers from then on; returns the name.
    pub fn share_mask(&mut self, owner: MaskOwner) -> Option<String> {
        let title = owner.name(self).filter(|_| owner.can_share(self))?.to_string();
        let numbered = (2..).map(|number: usize| format!("{title} {number}"));
        let mut names = std::iter::once(title.clone()).chain(numbered);
        let name = names.find(|name| !name.is_empty() && !self.masks.contains_key(name))?;
        let reference = Mask { source: MaskSource::Named, name: name.clone(), ..Mask::default() };
        let mask = std::mem::replace(owner.mask_mut(self)?, vec![reference].into());
        self.masks.insert(name.clone(), mask);
        Some(name)
    }

    /// The first step, terrain type or layer whose mask refers to a named mask.
    pub fn mask_user(&self, name: &str) -> Option<MaskOwner> {
        let refers = |mask: &List<Mask>| mask.iter().any(|one| one.source == MaskSource::Named && one.name == name);
        let step = self.stack.iter().position(|step| refers(&step.settings.mask)).map(MaskOwner::Step);
        let of_type = || self.texture.types.iter().position(|one| refers(&one.mask)).map(MaskOwner::Type);
        let of_layer = || self.scatter.iter().position(|layer| refers(&layer.mask)).map(MaskOwner::Layer);
        step.or_else(of_type).or_else(of_layer)
    }

    /// Renames a mask and all references to it; returns whether it has the new name.
    pub fn rename_mask(&mut self, from: &str, to: &str) -> bool {
        if to.is_empty() || self.masks.contains_key(to) {
            return false;
        }
        let Some(mask) = self.masks.remove(from) else { return false };
        self.masks.insert(to.to_string(), mask);
        let refers = |source: &Mask| source.source == MaskSource::Named && source.name == from;
        let rename = |masks: &mut List<Mask>| {
            // The list is changed only where it refers to the mask: a changed one no longer shares its items.
            if masks.iter().any(refers) {
                masks.iter_mut().filter(|source| refers(source)).for_each(|source| source.name = to.to_string());
            }
        };
        self.stack.iter_mut().for_each(|step| rename(&mut step.settings.mask));
        for i in 0..self.texture.types.len() {
            if self.texture.types[i].mask.iter().any(refers) {
                rename(&mut self.texture.types[i].mask);
            }
        }
        for i in 0..self.scatter.len() {
            if self.scatter[i].mask.iter().any(refers) {
                rename(&mut self.scatter[i].mask);
            }
        }
        true
    }

    /// Renames a layer of the scatter, by its index, in the layers that avoid it.
    pub fn follow_layer_name(&mut self, before: &str, layer: usize) {
        let name = self.scatter[layer].name.clone();
        if name == before {
            return;
        }
        for i in layer + 1..self.scatter.len() {
            let refers = |avoid: &Avoid| avoid.layer == before;
            if self.scatter[i].avoid.iter().any(refers) {
                self.scatter[i]
                    .avoid
                    .iter_mut()
                    .filter(|avoid| refers(avoid))
                    .for_each(|avoid| avoid.layer = name.clone());
            }
        }
    }

    /// Renames a terrain type in the layers of the scatter.
    pub fn rename_type_in_layers(&mut self, before: &str, after: &str) {
        let refers = |share: &TypeShare| share.name == before;
        for i in 0..self.scatter.len() {
            if self.scatter[i].types.iter().any(refers) {
                let shares = self.scatter[i].types.iter_mut().filter(|share| refers(share));
                shares.for_each(|share| share.name = after.to_string());
            }
        }
    }

    /// The sources of a step's mask, with those of the named masks that they refer to.
    pub fn mask_sources<'a>(&'a self, settings: &'a StepSettings) -> impl Iterator<Item = &'a Mask> {
        self.with_named(&settings.mask)
    }

    /// Whether an active terrain type has a mask with this reach, with an overview on this grid.
    pub fn has_type_masks(&self, reach: Reach, overview: Grid) -> bool {
        let mut masks = self.texture.active().flat_map(|terrain_type| self.with_named(&terrain_type.mask));
        masks.any(|mask| mask.reach(overview) == reach)
    }

    /// The sources of a mask, with those of the named masks that they refer to.
    fn with_named<'a>(&'a self, mask: &'a [Mask]) -> impl Iterator<Item = &'a Mask> {
        let named = |mask: &'a Mask| match mask.source {
            MaskSource::Named => self.masks.get(&mask.name),
            _ => None,
        };
        mask.iter().flat_map(move |mask| std::iter::once(mask).chain(named(mask).into_iter().flatten()))
    }

    /// What masks of terrain types depend on besides themselves and the terrain.
    pub fn mask_scope<'a>(&'a self, inputs: &'a Inputs) -> MaskScope<'a> {
        MaskScope { references: self.mask_references(..), seed: self.seed, inputs, distant: None }
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

    /// An error if the mask of an enabled step or layer or of an active terrain type lacks what it needs, such as its
    /// image, or the mask whose name it has, or if a stamp lacks its file: then it has no effect. An error also if a
    /// layer names a terrain type or another layer that there is not.
    pub fn check_inputs(&self, inputs: &Inputs) -> Result<(), ParameterError> {
        let placements = self.placements();
        let path = |i| format!("stack.{}", groups::path(&placements, i));
        let of_steps = self.active_steps().map(|(i, step)| (path(i), &step.settings.mask));
        let active_set = self.texture.settings.active_set.as_ref();
        let types = self.texture.types.iter().enumerate();
        let of_types = types.filter(|(_, terrain_type)| terrain_type.is_active(active_set));
        let of_types = of_types.map(|(i, terrain_type)| (format!("texture.types.{i}"), &terrain_type.mask));
        let layers = self.scatter.iter().enumerate().filter(|(_, layer)| layer.enabled);
        let of_layers = layers.clone().map(|(i, layer)| (format!("scatter.{i}"), &layer.mask));
        for (owner, masks) in of_steps.chain(of_types).chain(of_layers) {
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
        layers.map(|(i, _)| i).try_for_each(|i| self.check_names_of_layer(i))
    }

    /// An error if a layer of the scatter names a terrain type that there is not, or a layer that is not above it.
    fn check_names_of_layer(&self, index: usize) -> Result<(), ParameterError> {
        let layer = &self.scatter[index];
        let error = |path: String, what: String| {
            let path = format!("scatter.{index}.{path}");
            Err(ParameterError { path, problem: Problem::Conflict(what) })
        };
        if self.scatter.iter().take(index).any(|other| other.name == layer.name) {
            return error("name".into(), format!("another layer is called \"{}\" too", layer.name));
        }
        for (i, TypeShare { name, .. }) in layer.types.iter().enumerate() {
            if self.texture.types.iter().all(|one| one.name != *name) {
                return error(format!("types.{i}.name"), format!("there is no terrain type \"{name}\""));
            }
        }
        for (i, Avoid { layer: name, .. }) in layer.avoid.iter().enumerate() {
            match self.scatter.iter().position(|other| other.name == *name) {
                Some(other) if other < index => {}
                Some(_) => {
                    let what = format!("the layer \"{name}\" must be above this one in the list");
                    return error(format!("avoid.{i}.layer"), what);
                }
                None => return error(format!("avoid.{i}.layer"), format!("there is no layer \"{name}\"")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::PaintedStroke;
    use crate::operations::faults::Faults;
    use crate::scatter::layer::ScatterLayer;
    use crate::texture::TextureRecipe;

    #[test]
    fn layers_follow_the_names_of_others_and_of_terrain_types() {
        let layer = |name: &str| ScatterLayer { name: name.into(), ..ScatterLayer::default() };
        let avoid = vec![Avoid { layer: "trees".into(), distance_m: 3.0 }].into();
        let types = vec![TypeShare { name: "Meadow".into(), share: 0.5 }].into();
        let rocks = ScatterLayer { avoid, types, ..layer("rocks") };
        let mut recipe = Recipe { scatter: vec![layer("trees"), rocks].into(), ..Recipe::default() };
        recipe.scatter[0].name = "pines".into();
        recipe.follow_layer_name("trees", 0);
        recipe.rename_type_in_layers("Meadow", "Grass");
        assert_eq!((&*recipe.scatter[1].avoid[0].layer, &*recipe.scatter[1].types[0].name), ("pines", "Grass"));
    }

    #[test]
    fn a_mask_is_shared_and_renamed_with_its_references() {
        let mut recipe = Recipe {
            stack: vec![Step::new(Faults::default())],
            texture: TextureRecipe::starter(),
            ..Recipe::default()
        };
        let (step, snow) = (MaskOwner::Step(0), MaskOwner::Type(1));
        assert!(!step.can_share(&recipe) && recipe.share_mask(step).is_none(), "it has no mask");
        let painted =
            Mask { source: MaskSource::Painted, strokes: vec![PaintedStroke::default()].into(), ..Mask::default() };
        recipe.stack[0].settings.mask = vec![painted.clone()].into();
        assert_eq!(recipe.share_mask(step).as_deref(), Some("Faults"));
        assert_eq!(recipe.masks["Faults"].to_vec(), std::slice::from_ref(&painted));
        assert!(!step.can_share(&recipe), "it refers to a named mask");
        // Strokes go on in the named mask.
        assert_eq!([step.of_strokes(&recipe), snow.of_strokes(&recipe)], [MaskOwner::Named(0), snow]);
        assert_eq!(MaskOwner::Named(0).name(&recipe), Some("Faults"));
        recipe.texture.types[1].mask = recipe.stack[0].settings.mask.clone();
        assert!(!recipe.rename_mask("Faults", "") && !recipe.rename_mask("no", "yes"));
        assert!(recipe.rename_mask("Faults", "Glacier"));
        let names = |mask: &List<Mask>| mask.iter().map(|source| source.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&recipe.stack[0].settings.mask), ["Glacier"]);
        assert_eq!(names(&recipe.texture.types[1].mask), ["Glacier"]);
        assert_eq!([recipe.mask_user("Glacier"), recipe.mask_user("Faults")], [Some(step), None]);
        recipe.stack.push(Step::new(Faults::default()));
        recipe.stack[1].settings.mask = vec![painted].into();
        recipe.stack[1].settings.name = "Glacier".into();
        assert_eq!(recipe.share_mask(MaskOwner::Step(1)).as_deref(), Some("Glacier 2"));
        assert!(recipe.check_inputs(&Inputs::default()).is_ok());
    }
}
