//! The memory that an entry of the history takes.

use crate::engine::Recipe;
use crate::engine::parameters::{Field, Group, Items, Value, Values, group_values};

/// The memory of a recipe, approximately, in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct RecipeMemory {
    /// What the recipe shares with no other.
    pub(super) own: usize,
    /// Its lists, each with its address and its size: entries share the lists that an edit leaves alone.
    pub(super) lists: Vec<(usize, usize)>,
}

impl RecipeMemory {
    pub(super) fn new(recipe: &Recipe) -> Self {
        let mut memory = Self { own: size_of::<Recipe>(), lists: Vec::new() };
        for step in &recipe.stack {
            memory.add_group(&step.settings);
            memory.add_group(step.operation.group());
        }
        memory.add_value(&recipe.texture.types.to_value());
        memory
    }

    fn add_group(&mut self, group: &dyn Group) {
        self.add_values(&group_values(group));
    }

    fn add_values(&mut self, values: &Values) {
        values.iter().for_each(|(_, value)| self.add_value(value));
    }

    fn add_value(&mut self, value: &Value) {
        self.own += size_of::<Value>();
        match value {
            Value::Text(text) => self.own += text.len(),
            Value::Matrix(matrix) => self.own += size_of_val(matrix.numbers()),
            Value::Group(values) => self.add_values(values),
            Value::List(items) => self.add_list(items),
            _ => {}
        }
    }

    fn add_list(&mut self, items: &Items) {
        if !items.is_empty() {
            self.lists.push(items.memory());
        }
    }
}
