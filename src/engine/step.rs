//! A step of the stack: an operation, and how its result is joined with the terrain below.

use serde_json::{Map, Value as Json};

use super::blend::Blend;
use super::mask::Mask;
use super::operations::group::Start;
use super::operations::{AnyOperation, Role};
use super::parameters::{
    Group, List, ParameterError, Problem, Spec, group_to_json, not_an_object, parameters, set_from_json,
};
use super::random::Stream;
use crate::cast::ToInteger;

parameters! {
    /// The parameters that all steps have.
    pub struct StepSettings {
        /// The name of the step in the stack. Empty: the name of the operation.
        name: String = String::new(), Spec::new("Name");
        /// Whether the step has an effect.
        enabled: bool = true, Spec::new("Enabled");
        /// How the step is combined with the terrain below it. By default, operations that create terrain are added, and
        /// those that change it replace it.
        blend: Blend = Blend::Add, Spec::new("Blend");
        /// How much of the step's effect is applied: 0 is none, 1 the step as it is; more exaggerates
        /// it.
        strength: f64 = 1.0, Spec::number("Strength", 0.0, 10.0).slider(0.0, 2.0);
        /// The difference in height below which a smooth maximum or minimum is rounded.
        rounding_m: f64 = 50.0, Spec::number("Rounding", 0.0, 10_000.0).slider(0.0, 500.0).unit("m")
            .when("blend", &["smooth_maximum", "smooth_minimum"]);
        /// Selects the step's random numbers, if it has any, together with the project's seed: steps with different seeds
        /// differ. The default is the step's position among all steps.
        seed: u32 = 0, Spec::number("Step seed", 0.0, 4_294_967_295.0).slider(0.0, 100.0);
        /// Where the step has an effect: by the height or slope of the terrain below, by strokes of a brush, by an image
        /// and more, and by several of these together. Empty: everywhere.
        mask: List<Mask> = List::default(), Spec::new("Mask").unwrapped();
    }
}

/// One step of the stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The operation.
    pub operation: AnyOperation,
    /// The parameters that all steps have.
    pub settings: StepSettings,
    /// The number of groups around the step; see [`groups`](super::groups).
    pub depth: usize,
}

/// The key of a step's operation.
pub(super) const OPERATION: &str = "operation";

impl Step {
    /// A step with the default blending for its operation: generators are added, modifiers replace the terrain below.
    pub fn new(operation: impl Into<AnyOperation>) -> Self {
        let operation = operation.into();
        let blend = operation.default_blend();
        Self { operation, settings: StepSettings { blend, ..Default::default() }, depth: 0 }
    }

    /// What the step does that its user hardly means, and what to do about it: parts without effect, and a blend mode
    /// that combines the changed terrain with itself.
    pub fn warnings(&self) -> Vec<ParameterError> {
        [self.blend_warning().into_iter().collect(), self.operation.warnings()].concat()
    }

    /// The warning about the blend mode of a step that changes the terrain.
    pub fn blend_warning(&self) -> Option<ParameterError> {
        let effect = match self.settings.blend {
            Blend::Add => "adding it doubles all heights",
            Blend::Subtract => "subtracting it leaves almost nothing",
            Blend::Multiply => "multiplying by it squares the heights",
            Blend::Maximum | Blend::Minimum | Blend::Replace | Blend::SmoothMaximum | Blend::SmoothMinimum => {
                return None;
            }
        };
        let message = format!("this step already includes the terrain below, so {effect}; set its blend to Replace");
        let contains_below = match &self.operation {
            AnyOperation::StepGroup(group) => group.on == Start::Below,
            operation => operation.role() == Role::Modifier,
        };
        contains_below.then(|| ParameterError::conflict("blend", message))
    }

    /// The name of the step, or of its operation if it has none.
    pub fn title(&self) -> &str {
        if self.settings.name.is_empty() { self.operation.label() } else { &self.settings.name }
    }

    /// Whether the step is a group of others.
    pub fn is_group(&self) -> bool {
        matches!(self.operation, AnyOperation::StepGroup(_))
    }

    /// Whether both steps change the terrain in the same way, at the same place of a stack: they may only differ in their
    /// names.
    pub fn has_same_result(&self, other: &Self) -> bool {
        let StepSettings { name: _, enabled, blend, strength, rounding_m, mask, seed } = &self.settings;
        let settings = &other.settings;
        self.operation == other.operation
            && *enabled == settings.enabled
            && *blend == settings.blend
            && *strength == settings.strength
            && *rounding_m == settings.rounding_m
            && *mask == settings.mask
            && *seed == settings.seed
    }

    /// The step's random numbers.
    pub fn stream(&self, recipe_seed: u32) -> Stream {
        Stream::new(recipe_seed, self.settings.seed)
    }

    /// Serializes the step as in a project file, without the members of a group.
    pub fn to_json(&self) -> Json {
        let mut object = Map::new();
        object.insert(OPERATION.into(), self.operation.key().into());
        object.extend(group_to_json(&self.settings));
        object.extend(group_to_json(self.operation.group()));
        Json::Object(object)
    }

    /// Reads a step from a project file; `index` is its position among all steps, from which it gets its default seed.
    pub fn from_json(value: &Json, index: usize) -> Result<Self, ParameterError> {
        let Json::Object(object) = value else {
            return Err(not_an_object(value));
        };
        let Some(key) = object.get(OPERATION) else {
            return Err(ParameterError { path: OPERATION.into(), problem: Problem::Missing });
        };
        let mut step = Self::new(AnyOperation::from_key(key.as_str().unwrap_or(&key.to_string()))?);
        step.settings.seed = index.to_u32();
        for (key, value) in object {
            let settings = step.settings.table().iter().any(|parameter| parameter.key == key);
            let own = step.operation.table().iter().any(|parameter| parameter.key == key);
            if own {
                set_from_json(step.operation.group_mut(), key, value)?;
            } else if settings {
                set_from_json(&mut step.settings, key, value)?;
            } else if key != OPERATION {
                let tables = step.settings.table().iter().chain(step.operation.table());
                return Err(ParameterError::unknown_key(key, tables.map(|parameter| parameter.key)));
            }
        }
        Ok(step)
    }
}
