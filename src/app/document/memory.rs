//! The memory of the history.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::parameters::{Field, Group, Items, Value, Values, group_values};
use crate::project::Project;

/// The memory of an entry, approximately, in bytes.
#[derive(Clone, Debug)]
pub(super) struct EntryMemory {
    /// What the entry shares with no other.
    own: usize,
    /// Its lists and imported files, each with its address and its size. Entries share those that an edit leaves alone.
    shared: Vec<(usize, usize)>,
}

impl EntryMemory {
    pub(super) fn new(project: &Project) -> Self {
        let files = project.files.values().map(|bytes| (Arc::as_ptr(bytes).addr(), bytes.len()));
        let mut memory = Self { own: size_of::<Project>(), shared: files.collect() };
        for step in &project.recipe.stack {
            memory.add_group(&step.settings);
            memory.add_group(step.operation.group());
        }
        memory.add_value(&project.recipe.texture.types.to_value());
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
            self.shared.push((items.address(), items.bytes()));
        }
    }
}

/// The memory of all entries; what several of them share counts once.
#[derive(Debug, Default)]
pub(super) struct HistoryMemory {
    bytes: usize,
    /// By address: how many entries share it.
    shared: BTreeMap<usize, usize>,
}

impl HistoryMemory {
    /// The memory of a history with one entry.
    pub(super) fn of(entry: &EntryMemory) -> Self {
        let mut memory = Self::default();
        memory.add(entry);
        memory
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn add(&mut self, entry: &EntryMemory) {
        self.bytes += entry.own;
        for (address, size) in &entry.shared {
            let count = self.shared.entry(*address).or_default();
            *count += 1;
            self.bytes += if *count == 1 { *size } else { 0 };
        }
    }

    /// Takes an entry out, before its lists and files are freed: others may then get their addresses.
    pub(super) fn remove(&mut self, entry: &EntryMemory) {
        self.bytes -= entry.own;
        for (address, size) in &entry.shared {
            let count = self.shared.entry(*address).or_default();
            *count -= 1;
            if *count == 0 {
                self.shared.remove(address);
                self.bytes -= size;
            }
        }
    }
}
