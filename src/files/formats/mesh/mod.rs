//! Meshes: glTF with an embedded texture, OBJ with material and texture files, USD with a texture file, STL for printing.

mod format;
pub(crate) mod glb;
pub(crate) mod obj;
pub(crate) mod stl;
mod terrain_mesh;
mod triangulation;
pub(crate) mod usda;

pub use self::format::MeshFormat;
pub(crate) use self::format::max_vertices;
pub(crate) use self::terrain_mesh::{Mesh, WriteInto, WriteSeek};
pub use self::triangulation::MeshDetail;
pub(crate) use self::triangulation::Triangulation;
