//! The mesh formats.

use std::path::Path;

use super::glb;
use crate::files::io::error::FileError;

/// A mesh format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// glTF 2.0 in one file: metres, y up, north towards −z, the centre of the terrain at the origin.
    Glb,
    /// Wavefront text with the same axes; the material and the texture are separate files.
    Obj,
    /// Universal Scene Description as text with the same axes; the texture is a separate file.
    Usda,
    /// Triangles only, closed by a base: millimetres, z up, north towards y.
    Stl,
}

impl MeshFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Glb, Self::Obj, Self::Usda, Self::Stl];

    /// The file extension without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Usda => "usda",
            Self::Stl => "stl",
        }
    }

    /// The format of a file by its extension, case-insensitively.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        let extension = path.extension().unwrap_or_default();
        let found = Self::ALL.into_iter().find(|format| extension.eq_ignore_ascii_case(format.extension()));
        let known = || Self::ALL.map(|format| format!(".{}", format.extension())).join(" ") + " (meshes)";
        found.ok_or_else(|| FileError::UnknownExtension { path: path.to_path_buf(), known: known() })
    }
}

/// The maximum number of vertices that a file of the format can have.
pub(crate) fn max_vertices(format: MeshFormat) -> u64 {
    match format {
        MeshFormat::Glb => glb::MAX_VERTICES,
        // USD has signed 32-bit indices.
        MeshFormat::Obj | MeshFormat::Usda | MeshFormat::Stl => u64::from(u32::MAX / 2),
    }
}
