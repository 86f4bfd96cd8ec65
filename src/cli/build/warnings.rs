//! Warnings that are known before anything is computed.

use crate::cli::output::print_error;
use crate::engine::texture::{TerrainType, TextureRecipe, TextureSettings};
use crate::files::export::Order;

/// Prints the warnings for an order to standard error.
pub fn print(order: &Order) {
    for warning in order.target.map(|target| target.warnings(order.grid, &order.recipe.texture)).unwrap_or_default() {
        print_error(&format!("warning: {warning}"));
    }
    if order.needs_painting() {
        texture_warnings(&order.recipe.texture).iter().for_each(|warning| print_error(warning));
    }
}

/// Warnings about names in a texture that no terrain type has. They are not errors, because types come and go while a
/// terrain is edited, but a mistyped name must not pass silently.
fn texture_warnings(texture: &TextureRecipe) -> Vec<String> {
    let TextureSettings { active_set, fallback, .. } = &texture.settings;
    let set = active_set.iter().filter(|set| !texture.sets().contains(&set.as_str())).map(|set| {
        format!(
            "warning: recipe.texture.active_set: no terrain type belongs to the set \"{set}\"; only types without a \
             set are used"
        )
    });
    // The name refers to the first type that has it.
    let covers = |name: &str| texture.active().find(|of| of.name == name).is_some_and(TerrainType::covers);
    let fallback = fallback.iter().filter(|name| !covers(name)).map(|name| {
        format!(
            "warning: recipe.texture.fallback: no active terrain type that covers the surface is called \"{name}\"; \
             the nearest type is used instead"
        )
    });
    set.chain(fallback).collect()
}
