//! Meshes: glTF with an embedded texture, OBJ with material and texture files, STL for printing.

mod format;
pub(crate) mod glb;
mod mesh;
pub(crate) mod obj;
pub(crate) mod stl;
mod triangulation;

pub use self::format::MeshFormat;
pub(crate) use self::format::max_vertices;
pub(crate) use self::mesh::{Mesh, WriteInto, WriteSeek};
pub use self::triangulation::MeshDetail;
pub(crate) use self::triangulation::Triangulation;
