//! The recipe: everything that determines a terrain and its texture.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json};

pub use super::blend::Blend;
use super::groups::{self, Placement, placements, stack_from_json, stack_to_json};
use super::heightfield::{Extent, Grid};
use super::inputs::Inputs;
use super::light::Light;
use super::mask::{Mask, NamedMasks};
use super::operations::AnyOperation;
use super::parameters::{
    Band, FileName, Group, Kind, List, Parameter, ParameterError, Problem, Spec, TextureName, Value, Values,
    field_from_json, group_from_json, group_to_json, group_values, not_a_list, not_an_object, parameters,
    scale_lengths, set_from_json,
};
use super::scatter::layer::ScatterLayer;
pub use super::step::{Step, StepSettings};
use super::texture::{PaintOnce, TextureRecipe, TextureSettings};

parameters! {
    /// The extent of the terrain.
    pub struct World {
        /// The size of the world from west to east.
        width_m: f64 = 4096.0, Spec::number("Width", MIN_SIDE_M, MAX_SIDE_M).slider(256.0, 32_768.0).unit("m").logarithmic();
        /// The size of the world from north to south.
        depth_m: f64 = 4096.0, Spec::number("Depth", MIN_SIDE_M, MAX_SIDE_M).slider(256.0, 32_768.0).unit("m").logarithmic();
        /// A fixed height range for exports and for elevations in percent. Off: from the lowest to the highest point
        /// of the terrain.
        height_range_m: Option<Band> = None,
            Spec::number("Height range", -100_000.0, 100_000.0).slider(-1000.0, 5000.0).unit("m").none("lowest to highest");
    }
}

impl World {
    /// The size of the world.
    pub fn extent(&self) -> Extent {
        Extent { width_m: self.width_m, depth_m: self.depth_m }
    }

    /// Gives the world this size, or the nearest possible one with the same proportions.
    pub fn set_extent(&mut self, Extent { width_m, depth_m }: Extent) {
        let factor = (MAX_SIDE_M / width_m.max(depth_m)).min(1.0).max(MIN_SIDE_M / width_m.min(depth_m));
        [self.width_m, self.depth_m] = [width_m, depth_m].map(|side_m| (side_m * factor).clamp(MIN_SIDE_M, MAX_SIDE_M));
    }
}

/// The shortest and the longest side of a world, metres.
const MIN_SIDE_M: f64 = 1.0;
const MAX_SIDE_M: f64 = 1_000_000.0;

/// Adapts a step to the size of a world: parameters in metres are scaled from the default world, so that the terrain has
/// the same shape.
fn sized_for(mut step: Step, world: &World) -> Step {
    let side_m = |world: &World| world.width_m.max(world.depth_m);
    let factor = side_m(world) / side_m(&World::default());
    if factor != 1.0 {
        let group = step.operation.group_mut();
        let mut values = group_values(group);
        scale_lengths(group.table(), &mut values, factor);
        for (key, value) in values.iter() {
            // Scaled values are clamped to their ranges. A value that is still refused keeps its default.
            let _ = group.set(key, value);
        }
    }
    step
}

/// The number of iterations of each step, from bottom to top: they run one step after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline(Vec<u32>);

impl Timeline {
    /// The number of iterations of each step.
    pub fn steps(&self) -> &[u32] {
        &self.0
    }

    /// The total number of iterations.
    pub fn total(&self) -> u32 {
        self.0.iter().copied().fold(0, u32::saturating_add)
    }

    /// The number of iterations that each step has done after `position` iterations.
    pub fn step_positions(&self, position: u32) -> Vec<u32> {
        let mut rest = position;
        let done = |iterations: &u32| {
            let done = rest.min(*iterations);
            rest -= done;
            done
        };
        self.0.iter().map(done).collect()
    }
}

/// Everything that determines a terrain and its texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Selects the random numbers of all steps.
    pub seed: u32,
    /// The extent of the terrain.
    pub world: World,
    /// The steps from bottom to top.
    pub stack: Vec<Step>,
    /// The masks that steps refer to by name.
    pub masks: NamedMasks,
    /// The texture.
    pub texture: TextureRecipe,
    /// The lighting.
    pub light: Light,
    /// The scatter layers.
    pub scatter: List<ScatterLayer>,
}

impl Default for Recipe {
    fn default() -> Self {
        let (world, texture, light) = (World::default(), TextureRecipe::default(), Light::default());
        Self {
            seed: 1994,
            world,
            stack: Vec::new(),
            masks: NamedMasks::new(),
            texture,
            light,
            scatter: List::default(),
        }
    }
}

/// The keys of a recipe.
const KEYS: [&str; 7] = ["seed", "world", "stack", "masks", "texture", "light", "scatter"];

impl Recipe {
    /// The smallest seed that no step uses.
    pub fn unused_seed(&self) -> u32 {
        let taken = |seed: u32| self.stack.iter().any(|step| step.settings.seed == seed);
        (0..).find(|&seed| !taken(seed)).unwrap_or_default()
    }

    /// A step for the top of the recipe, with default parameters for its world and for the terrain below.
    pub fn new_step(&self, operation: impl Into<AnyOperation>) -> Step {
        let mut step = sized_for(Step::new(operation), &self.world);
        if self.active_steps().any(|(_, step)| matches!(step.operation, AnyOperation::Heightmap(_))) {
            step.operation.adapt_to_imported_terrain();
        }
        step
    }

    /// Where every step is among the groups of the stack.
    pub fn placements(&self) -> Vec<Placement> {
        placements(&self.stack)
    }

    /// Whether both give the same terrain, however it is painted and lit and whatever stands on it.
    pub fn has_same_terrain(&self, other: &Self) -> bool {
        let Self { seed, world, stack, masks, texture: _, light: _, scatter: _ } = self;
        (seed, world, masks) == (&other.seed, &other.world, &other.masks) && *stack == other.stack
    }

    /// Whether anything is scattered: a layer is enabled.
    pub fn is_scattered(&self) -> bool {
        self.scatter.iter().any(|layer| layer.enabled)
    }

    /// The steps that have an effect, with their indices: they and the groups around them are enabled.
    pub fn active_steps(&self) -> impl DoubleEndedIterator<Item = (usize, &Step)> + Clone {
        let placed = self.stack.iter().zip(self.placements()).enumerate();
        let active = placed.filter(|(_, (step, placement))| step.settings.enabled && placement.is_in_enabled);
        active.map(|(i, (step, _))| (i, step))
    }

    /// An error of the step at an index, with its path in the project file.
    pub fn error_of_step(&self, i: usize, error: ParameterError) -> ParameterError {
        error.within(groups::path(&self.placements(), i)).within("stack")
    }

    /// The iterations of all steps. They are counted anew, which takes as long as the lists in the steps are.
    pub fn timeline(&self) -> Timeline {
        let iterations = |(step, placement): (&Step, Placement)| {
            let is_active = step.settings.enabled && placement.is_in_enabled;
            if is_active { step.operation.iterations() } else { 0 }
        };
        Timeline(self.stack.iter().zip(self.placements()).map(iterations).collect())
    }

    /// The total number of iterations: the length of the timeline.
    pub fn iterations(&self) -> u32 {
        self.timeline().total()
    }

    /// The number of iterations that each step has done after `position` iterations of the timeline.
    pub fn step_positions(&self, position: u32) -> Vec<u32> {
        self.timeline().step_positions(position)
    }

    /// Checks that every enabled step fits the world and the grid on which the recipe is to be evaluated; see
    /// [`Operation::check`](super::operations::Operation::check).
    pub fn check(&self, grid: Grid) -> Result<(), ParameterError> {
        self.active_steps()
            .try_for_each(|(i, step)| step.operation.check(grid).map_err(|error| self.error_of_step(i, error)))
    }

    /// The [warnings](Step::warnings) of all enabled steps, with their paths.
    pub fn warnings(&self) -> Vec<ParameterError> {
        let of_step = |(i, step): (usize, &Step)| {
            step.warnings().into_iter().map(|warning| self.error_of_step(i, warning)).collect::<Vec<_>>()
        };
        self.active_steps().flat_map(of_step).collect()
    }

    /// The imported files that the recipe uses: heightmaps and textures.
    pub fn files(&self) -> Vec<FileName> {
        let textures = self.textures().into_iter().filter(|name| !name.is_shipped()).map(|name| FileName(name.0));
        let heightmaps = self.heightmaps().into_iter().filter(|name| !name.is_shipped());
        let mut files: Vec<FileName> = heightmaps.chain(textures).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The heightmaps that steps and masks use, and the projects and shipped stamps that they use as such.
    pub fn heightmaps(&self) -> Vec<FileName> {
        let mut files = Vec::new();
        for step in &self.stack {
            for group in [step.operation.group(), &step.settings] {
                collect_files(group.table(), &group_values(group), &mut files);
            }
        }
        let of_types = self.texture.types.iter().flat_map(|terrain_type| terrain_type.mask.iter());
        let of_layers = self.scatter.iter().flat_map(|layer| layer.mask.iter());
        for mask in self.masks.values().flat_map(|masks| masks.iter()).chain(of_types).chain(of_layers) {
            collect_files(mask.table(), &group_values(mask), &mut files);
        }
        files.sort();
        files.dedup();
        files
    }

    /// How a terrain is painted with the recipe's terrain types.
    pub fn painting<'a>(&'a self, inputs: &'a Inputs, light: Option<&'a Light>) -> PaintOnce<'a> {
        let (scope, fixed_range_m) = (self.mask_scope(inputs), self.world.height_range_m);
        PaintOnce { recipe: &self.texture, scope, fixed_range_m, light }
    }

    /// The tileable textures that terrain types use.
    pub fn textures(&self) -> Vec<TextureName> {
        let named = self.texture.types.iter().filter_map(|terrain_type| terrain_type.texture.as_ref());
        let names: BTreeSet<&TextureName> = named.filter(|name| !name.0.is_empty()).collect();
        names.into_iter().cloned().collect()
    }

    /// Serializes the recipe as in a project file.
    pub fn to_json(&self) -> Json {
        let object = |group: &dyn Group| Json::Object(group_to_json(group));
        let mut texture = group_to_json(&self.texture.settings);
        let types = self.texture.types.iter().map(|terrain_type| object(terrain_type)).collect();
        texture.insert("types".into(), types);
        let mut recipe = Map::new();
        recipe.insert("seed".into(), self.seed.into());
        recipe.insert("world".into(), object(&self.world));
        recipe.insert("stack".into(), stack_to_json(&self.stack));
        if !self.masks.is_empty() {
            let mask = |(name, masks): (&String, &List<Mask>)| (name.clone(), masks_to_json(masks));
            recipe.insert("masks".into(), Json::Object(self.masks.iter().map(mask).collect()));
        }
        recipe.insert("texture".into(), Json::Object(texture));
        recipe.insert("light".into(), object(&self.light));
        if !self.scatter.is_empty() {
            recipe.insert("scatter".into(), self.scatter.iter().map(|layer| object(layer)).collect());
        }
        Json::Object(recipe)
    }

    /// Reads a recipe from a project file; missing keys get their defaults.
    pub fn from_json(value: &Json) -> Result<Self, ParameterError> {
        let Json::Object(object) = value else {
            return Err(not_an_object(value));
        };
        let mut recipe = Self::default();
        for (key, value) in object {
            let read = match key.as_str() {
                "seed" => seed_from_json(value).map(|seed| recipe.seed = seed),
                "world" => read_into(&mut recipe.world, value),
                "stack" => stack_from_json(value).map(|stack| recipe.stack = stack),
                "masks" => masks_from_json(value).map(|masks| recipe.masks = masks),
                "texture" => texture_from_json(value).map(|texture| recipe.texture = texture),
                "light" => read_into(&mut recipe.light, value),
                "scatter" => groups_from_json(value).map(|layers| recipe.scatter = layers),
                _ => return Err(ParameterError::unknown_key(key, KEYS)),
            };
            read.map_err(|error| error.within(key))?;
        }
        Ok(recipe)
    }
}

/// Collects the files that the parameters of a table name, including nested groups.
fn collect_files(table: &[Parameter], values: &Values, files: &mut Vec<FileName>) {
    for parameter in table {
        match (parameter.kind, values.get(parameter.key)) {
            (Kind::File, Some(Value::Text(name))) if !name.is_empty() => files.push(FileName(name.clone())),
            (Kind::Group(table), Some(Value::Group(values))) => collect_files(table(), values, files),
            (Kind::List(Kind::Group(table)), Some(Value::List(items))) => {
                for item in items.iter() {
                    if let Value::Group(values) = item {
                        collect_files(table(), &values, files);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The declaration of the recipe's seed.
pub fn seed_parameter() -> &'static Parameter {
    static ROW: LazyLock<Parameter> = LazyLock::new(|| {
        let doc = "Selects the random numbers of all steps: each seed gives a different terrain of the same kind.";
        Spec::number("Seed", 0.0, 4_294_967_295.0).slider(0.0, 10_000.0).row("seed", doc, &Recipe::default().seed)
    });
    &ROW
}

fn seed_from_json(value: &Json) -> Result<u32, ParameterError> {
    field_from_json(value, seed_parameter()).map_err(|error| ParameterError { path: String::new(), ..error })
}

fn read_into<G: Group + Default>(group: &mut G, value: &Json) -> Result<(), ParameterError> {
    *group = group_from_json(value)?;
    Ok(())
}

fn groups_from_json<G: Group + Default>(value: &Json) -> Result<List<G>, ParameterError> {
    let items = value.as_array().ok_or_else(|| not_a_list(value))?;
    let read = |(i, item)| group_from_json(item).map_err(|error| error.within(i));
    items.iter().enumerate().map(read).collect()
}

/// The key of a step's mask, as which a named mask is read and written.
const MASK: &str = "mask";

fn masks_to_json(masks: &List<Mask>) -> Json {
    let settings = StepSettings { mask: masks.clone(), ..Default::default() };
    group_to_json(&settings).remove(MASK).unwrap_or_default()
}

fn masks_from_json(value: &Json) -> Result<NamedMasks, ParameterError> {
    let Json::Object(object) = value else {
        return Err(not_an_object(value));
    };
    let read = |(name, value): (&String, &Json)| {
        let mut settings = StepSettings::default();
        let read = set_from_json(&mut settings, MASK, value).map_err(|mut error| {
            // The name takes the place of the key.
            error.path = error.path.replacen(MASK, name, 1);
            error
        });
        read.map(|()| (name.clone(), settings.mask))
    };
    object.iter().map(read).collect()
}

fn texture_from_json(value: &Json) -> Result<TextureRecipe, ParameterError> {
    let Json::Object(object) = value else {
        return Err(not_an_object(value));
    };
    // Without types, a unit says nothing. Types without a unit are in percent, as older files have them; without types, those of a new project are in metres.
    let mut texture = if object.contains_key("types") {
        TextureRecipe { settings: TextureSettings::default(), types: List::default() }
    } else {
        TextureRecipe::starter()
    };
    for (key, value) in object {
        if key == "types" {
            texture.types = groups_from_json(value).map_err(|error| error.within(key))?;
        } else {
            let known = texture.settings.table().iter().map(|parameter| parameter.key).chain(["types"]);
            set_from_json(&mut texture.settings, key, value).map_err(|error| match error.problem {
                Problem::UnknownKey { .. } => ParameterError::unknown_key(key, known),
                _ => error,
            })?;
        }
    }
    if !object.contains_key("types") {
        texture.settings.unit = TextureRecipe::starter().settings.unit;
    }
    Ok(texture)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operations::faults::Faults;
    use crate::operations::recursive_filter::RecursiveFilter;
    use crate::texture::Unit;

    #[test]
    fn every_operation_round_trips_through_json() {
        let mut recipe = Recipe { seed: 7, ..Default::default() };
        recipe.stack = AnyOperation::all().into_iter().map(Step::new).collect();
        recipe.texture = TextureRecipe::starter();
        recipe.scatter = vec![ScatterLayer { amount: 0.5, ..Default::default() }].into();
        assert_eq!(Recipe::from_json(&recipe.to_json()).as_ref(), Ok(&recipe));
    }

    #[test]
    fn terrain_types_without_a_unit_are_in_percent_and_those_of_a_new_project_in_metres() {
        let unit = |json: Json| Recipe::from_json(&json).expect("valid").texture.settings.unit;
        assert_eq!(unit(json!({"texture": {"types": [{"elevation": [10, 40]}]}})), Unit::Percent);
        assert_eq!(unit(json!({"texture": {"types": [], "unit": "metres"}})), Unit::Metres);
        assert_eq!(unit(json!({"texture": {"slope_mode": "classic"}})), Unit::Metres);
        assert_eq!([unit(json!({})), Recipe::default().texture.settings.unit], [Unit::Metres; 2]);
    }

    #[test]
    fn the_default_seed_of_a_step_is_its_position() {
        let stack =
            json!({"stack": [{"operation": "faults"}, {"operation": "faults"}, {"operation": "faults", "seed": 9}]});
        let recipe = Recipe::from_json(&stack).expect("valid");
        let seeds: Vec<u32> = recipe.stack.iter().map(|step| step.settings.seed).collect();
        assert_eq!(seeds, [0, 1, 9]);
    }

    #[test]
    fn errors_name_the_full_path() {
        let message = |value: Json| Recipe::from_json(&value).expect_err("must be refused").to_string();
        assert_eq!(
            message(json!({"stack": [{"operation": "faults", "wind": {"k": 5}}]})),
            "stack.0.wind.k: Smoothing must be from 0 to 0.9999, not 5"
        );
        assert_eq!(
            message(json!({"stack": [{"operation": "faults", "coutn": 5}]})),
            "stack.0.coutn: there is no such key; did you mean \"count\"?"
        );
        let refusal = message(json!({"stack": [{"operation": "fault"}]}));
        assert!(refusal.starts_with("stack.0.operation: Operation must be one of faults, "), "{refusal}");
        assert!(refusal.ends_with("not \"fault\" (did you mean \"faults\"?)"), "{refusal}");
        assert_eq!(message(json!({"stack": [{}]})), "stack.0.operation: this key is required");
        assert_eq!(message(json!({"stack": 3})), "stack: it must be a list [ … ], not 3");
        assert_eq!(
            message(json!({"texture": {"types": [{"elevation": [3, 1]}]}})),
            "texture.types.0.elevation: Elevation must be a pair [min, max] with min ≤ max, not [3,1]"
        );
    }

    #[test]
    fn one_source_of_a_mask_is_written_as_one_object() {
        let mask = |mask: Json| {
            let recipe = Recipe::from_json(&json!({"stack": [{"operation": "faults", "mask": mask}]}));
            recipe.map(|recipe| recipe.to_json()["stack"][0]["mask"].clone())
        };
        let (slope, noise) = (json!({"source": "slope"}), json!({"source": "noise", "combine": "union", "seed": 3}));
        let one = mask(slope.clone()).expect("valid");
        let keys: Vec<&str> = one.as_object().expect("an object").keys().map(String::as_str).collect();
        let today = [
            "source",
            "elevation_m",
            "feather_m",
            "slope_deg",
            "feather_deg",
            "border_m",
            "file",
            "drained_km2",
            "lake_m",
            "wetness",
            "feather_wetness",
            "sediment",
            "feather_sediment",
            "invert",
        ];
        assert!(today.iter().all(|key| keys.contains(key)) && keys.len() == today.len(), "{keys:?}");
        assert_eq!(mask(json!([slope])), Ok(one.clone()));
        assert_eq!([mask(json!([])), mask(json!(null))], [Ok(Json::Null), Ok(Json::Null)]);
        let two = mask(json!([slope, noise])).expect("valid");
        assert_eq!((&two[0], &two[1]["combine"], &two[1]["seed"]), (&one, &json!("union"), &json!(3)));
        assert_eq!(mask(two.clone()), Ok(two));
        for (wrong, message) in [
            (json!({"feather_deg": 99}), "stack.0.mask.feather_deg: Falloff must be"),
            (json!([slope, {"combine": "xor"}]), "stack.0.mask.1.combine: Combine must be"),
            (json!({"strokes": [{"points_m": []}]}), "points_m"),
            (json!(3), "stack.0.mask: it must be an object"),
        ] {
            let error = mask(wrong).expect_err("must be refused").to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn named_masks_round_trip_and_wrong_references_are_reported() {
        let json = |name: &str| {
            json!({
                "masks": {"meadow": {"source": "slope"}, "shore": [{"source": "lakes"}, {"source": "noise"}],
                          "loop": {"source": "named", "name": "meadow"}, "picture": {"source": "image", "file": "a.png"}},
                "stack": [{"operation": "faults", "mask": {"source": "named", "name": name}}],
            })
        };
        let recipe = Recipe::from_json(&json("shore")).expect("valid");
        assert_eq!(Recipe::from_json(&recipe.to_json()).as_ref(), Ok(&recipe));
        assert_eq!(recipe.to_json()["masks"]["meadow"]["source"], "slope");
        assert_eq!(recipe.files(), [FileName("a.png".into())]);
        assert!(!Recipe::default().to_json().as_object().expect("an object").contains_key("masks"));
        for (name, message) in [
            ("shore", None),
            ("shroe", Some("stack.0.mask.name: there is no mask with that name")),
            ("loop", Some("stack.0.mask.name: named masks cannot refer to other ones; use another source there")),
            ("picture", Some("stack.0.mask.name: the mask has no image; choose one")),
        ] {
            let checked = Recipe::from_json(&json(name)).expect("valid").check_inputs(&Inputs::default());
            assert_eq!(checked.err().map(|error| error.to_string()).as_deref(), message);
        }
        let wrong = Recipe::from_json(&json!({"masks": {"meadow": {"feather_deg": 99}}})).expect_err("refused");
        assert!(wrong.to_string().starts_with("masks.meadow.feather_deg: Falloff must be"), "{wrong}");
    }

    #[test]
    fn masks_without_their_image_are_reported() {
        let check = |mask: Json| {
            let recipe = Recipe::from_json(&json!({"stack": [{"operation": "faults", "mask": mask}]}));
            let checked = recipe.expect("valid").check_inputs(&Inputs::default());
            checked.err().map(|error| error.to_string())
        };
        let image = json!({"source": "image"});
        assert_eq!(check(image.clone()).as_deref(), Some("stack.0.mask.file: the mask has no image; choose one"));
        assert_eq!(check(json!([{}, image])).expect("no image").split(':').next(), Some("stack.0.mask.1.file"));
        assert!(check(json!({"source": "polygon", "points_m": [[1, 2], [3, 4]]})).is_some());
        assert_eq!(check(json!({"source": "polygon", "points_m": [[1, 2], [3, 4], [5, 9]]})), None);
    }

    #[test]
    fn a_step_scaled_to_a_small_world_has_the_same_shape() {
        use crate::heightfield::{Grid, Heightfield};
        use crate::inputs::Inputs;
        use crate::progress::Progress;
        use crate::stack;

        let world = |side_m| World { width_m: side_m, depth_m: side_m, ..Default::default() };
        for operation in AnyOperation::all() {
            let terrain = |side_m: f64| {
                let stack = vec![sized_for(Step::new(operation.clone()), &world(side_m))];
                let recipe = Recipe { stack, world: world(side_m), ..Default::default() };
                let grid = Grid::new(recipe.world.extent(), 33, 33);
                stack::evaluate(&recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
            };
            let (small, usual) = (terrain(512.0), terrain(4096.0));
            // Only the ranges are compared, because any rounding error makes particles roll elsewhere.
            let range = |terrain: &Heightfield| terrain.min_max()[1] - terrain.min_max()[0];
            let ratio = range(&usual) / range(&small);
            assert!((ratio - 8.0).abs() < 0.5 || range(&usual) == 0.0, "{}: {ratio}", operation.key());
        }
    }

    #[test]
    fn a_new_river_step_does_not_raise_imported_terrain() {
        use crate::operations::fluvial_erosion::FluvialErosion;
        use crate::operations::heightmap::Heightmap;

        let uplift_mm = |stack: Vec<Step>| {
            let recipe = Recipe { stack, ..Default::default() };
            match recipe.new_step(FluvialErosion::default()).operation {
                AnyOperation::FluvialErosion(erosion) => erosion.uplift_mm,
                _ => f64::NAN,
            }
        };
        let imported = Step::new(Heightmap::default());
        assert_eq!(uplift_mm(vec![imported.clone()]), 0.0);
        assert_eq!(uplift_mm(vec![Step::new(Faults::default())]), FluvialErosion::default().uplift_mm);
        let mut disabled = imported;
        disabled.settings.enabled = false;
        assert_eq!(uplift_mm(vec![disabled]), FluvialErosion::default().uplift_mm);
    }

    #[test]
    fn the_timeline_runs_through_the_steps_from_bottom_to_top() {
        let faults = |count| Step::new(Faults { count, ..Default::default() });
        let stack = vec![faults(10), Step::new(RecursiveFilter::default()), faults(5), faults(3)];
        let mut recipe = Recipe { stack, ..Default::default() };
        recipe.stack[2].settings.enabled = false;
        assert_eq!(recipe.iterations(), 13);
        assert_eq!(recipe.step_positions(12), [10, 0, 0, 2]);
        assert_eq!(recipe.step_positions(4), [4, 0, 0, 0]);
        assert_eq!(recipe.step_positions(99), [10, 0, 0, 3]);
    }
}
