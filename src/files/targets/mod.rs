//! Export targets: one file per program, listed in [`ALL`].
//!
//! Import steps that have not been tried in the program are marked as not verified.

mod blender;
mod cities_skylines;
mod cryengine;
mod generic;
mod godot_plugin;
mod hterrain;
mod list;
mod o3de;
mod roblox;
mod sizes;
mod target;
mod terrain3d;
#[cfg(test)]
mod tests;
mod unity;
mod unreal;
mod worldpainter;

pub use self::list::{ALL, from_key};
pub use self::sizes::Sizes;
pub use self::target::{Checked, Target, WeightsSampling};
