//! Warnings that are known before anything is computed.

use std::path::PathBuf;

use crate::cli::output::print_error;
use crate::engine::texture::{TerrainType, TextureRecipe, TextureSettings};
use crate::files::export::Order;
use crate::files::targets;

/// Prints the warnings for an order to standard error.
pub fn print(order: &Order) {
    for warning in order.target.map(|target| target.warnings(order.grid, &order.recipe.texture)).unwrap_or_default() {
        print_error(&format!("warning: {warning}"));
    }
    streaming(order).iter().for_each(|note| print_error(note));
    displaced(order).iter().for_each(|warning| print_error(warning));
    if order.needs_painting() {
        texture_warnings(&order.recipe.texture).iter().for_each(|warning| print_error(warning));
    }
}

/// A note about a texture that its target cannot stream.
fn streaming(order: &Order) -> Option<String> {
    let (target, texture) = (targets::from_key(order.target?.key())?, order.texture.as_ref()?);
    let (size, counts) = (texture.size, order.tiles.map_or([1; 2], |tiles| tiles.counts));
    if target.can_stream(size, counts) {
        return None;
    }
    let [width, height] = target.texture_size(order.recipe.world.extent(), size[0].max(size[1]), counts);
    let label = target.label;
    Some(format!("note: {label} streams only textures of powers of two, such as --texture-size {width}x{height}"))
}

/// Warnings about files of a target that are written elsewhere, so that an import helper does not find them.
fn displaced(order: &Order) -> Vec<String> {
    let target = order.target.and_then(|target| targets::from_key(target.key()));
    let (Some(target), Some(manifest)) = (target, &order.manifest) else { return Vec::new() };
    let texture = target.texture.map(|(name, _)| name).zip(order.texture.as_ref().map(|texture| &texture.path));
    let mesh = target.mesh.zip(order.mesh.as_ref().map(|mesh| &mesh.path));
    let displaced =
        [("texture", texture), ("mesh", mesh)].into_iter().filter_map(|(option, files)| Some((option, files?)));
    let displaced = displaced.filter(|(_, (_, path))| !manifest.outputs.contains(*path));
    let warning = |(option, (name, path)): (&str, (&str, &PathBuf))| {
        format!(
            "warning: --{option}: {} replaces {name}, which {} does not list now; omit --{option} to import it with the rest",
            path.display(),
            manifest.path.display()
        )
    };
    displaced.map(warning).collect()
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
    let covers =
        |name: &str| texture.active().find(|terrain_type| terrain_type.name == name).is_some_and(TerrainType::covers);
    let fallback = fallback.iter().filter(|name| !covers(name)).map(|name| {
        format!(
            "warning: recipe.texture.fallback: no active terrain type that covers the surface is called \"{name}\"; \
             the nearest type is used instead"
        )
    });
    set.chain(fallback).collect()
}
