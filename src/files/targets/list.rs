//! The list of targets.

use super::target::Target;
use super::{
    blender, cities_skylines, cryengine, generic, hterrain, o3de, roblox, terrain3d, unity, unreal, worldpainter,
};

/// Every target.
pub static ALL: &[&Target] = &[
    &unity::UNITY,
    &unreal::UNREAL,
    &terrain3d::TERRAIN3D,
    &hterrain::HTERRAIN,
    &blender::BLENDER,
    &o3de::O3DE,
    &cryengine::CRYENGINE,
    &cities_skylines::FIRST,
    &cities_skylines::SECOND,
    &worldpainter::WORLDPAINTER,
    &roblox::ROBLOX,
    &generic::GENERIC,
];

/// The target with this key.
pub fn from_key(key: &str) -> Option<&'static Target> {
    ALL.iter().copied().find(|target| target.key == key)
}
