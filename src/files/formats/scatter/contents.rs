//! The instances to write, layer by layer.

use crate::engine::Recipe;
use crate::engine::scatter::{Instance, ScatterLayer, Scattered};

/// The scattered instances of a recipe.
#[derive(Clone, Copy, Debug)]
pub struct ScatterContents<'a> {
    /// The recipe whose layers they are of.
    pub recipe: &'a Recipe,
    /// The instances.
    pub scattered: &'a [Scattered],
}

/// Instances that are written between two checks for cancellation.
pub(super) const BATCH: usize = 1 << 12;

impl<'a> ScatterContents<'a> {
    /// The layers with their instances.
    pub(super) fn layers(self) -> impl Iterator<Item = (&'a ScatterLayer, &'a [Instance])> {
        self.scattered.iter().map(move |one| (&self.recipe.scatter[one.layer], one.instances.as_slice()))
    }

    /// The batches of all layers.
    pub(super) fn batches(self) -> usize {
        self.layers().map(|(_, instances)| instances.len().div_ceil(BATCH)).sum()
    }
}
