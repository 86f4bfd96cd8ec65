//! Meshes of the land: glTF with its texture inside, OBJ with its material beside it, STL for printing.

mod glb;
mod net;
mod obj;
mod stl;

use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use self::net::MeshDetail;
use self::net::Net;
use super::atomic::{self, StagedFile};
use super::error::FileError;
use super::texture;
use crate::engine::{Cancelled, Grid, Heightfield, Image, Progress};

/// A mesh to write.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshOrder {
    /// Where it goes; the ending chooses the format.
    pub path: PathBuf,
    /// How fine it is.
    pub detail: MeshDetail,
    /// The pixels of the texture that it wears, from west to east and from north to south; `None`: it is bare. A mesh
    /// to be printed is always bare.
    pub texture: Option<[usize; 2]>,
}

/// A kind of mesh file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// glTF 2.0 in one file: metres, y up, north towards −z, the middle of the land at the origin.
    Glb,
    /// Wavefront's text, the same axes; material and texture beside it.
    Obj,
    /// Triangles alone, closed by a base: millimetres, z up, north towards y.
    Stl,
}

impl MeshFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Glb, Self::Obj, Self::Stl];

    /// The ending of its files, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Stl => "stl",
        }
    }

    /// The format by a file's ending.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        let ending = path.extension().unwrap_or_default();
        let found = Self::ALL.into_iter().find(|format| ending.eq_ignore_ascii_case(format.ending()));
        let known = || Self::ALL.map(|format| format!(".{}", format.ending())).join(" ") + " (meshes)";
        found.ok_or_else(|| FileError::UnknownExtension { path: path.to_path_buf(), known: known() })
    }
}

/// A land and the net over it.
struct Mesh<'a> {
    terrain: &'a Heightfield,
    net: Net,
}

impl Mesh<'_> {
    /// Where a sample lies, as shares of the land eastward and southward.
    fn shares(&self, [column, row]: [u32; 2]) -> [f64; 2] {
        let grid = self.terrain.grid();
        [f64::from(column) / (grid.width() - 1) as f64, f64::from(row) / (grid.height() - 1) as f64]
    }

    /// East of the middle, up, south of the middle, in metres.
    fn position_m(&self, place: [u32; 2]) -> [f32; 3] {
        let extent = self.terrain.grid().extent();
        let [east, south] = self.shares(place);
        let height = self.terrain[(place[0] as usize, place[1] as usize)];
        [((east - 0.5) * extent.width_m) as f32, height, ((south - 0.5) * extent.depth_m) as f32]
    }

    /// Where the land faces, of length 1: by the slope at the sample, however coarse the net is.
    fn normal(&self, [column, row]: [u32; 2]) -> [f32; 3] {
        let [east, south] = self.terrain.gradient(column as usize, row as usize);
        let length = (east * east + 1.0 + south * south).sqrt();
        [-east / length, 1.0 / length, -south / length]
    }
}

/// Paints some rows of the mesh's texture.
type Paint<'a> = &'a dyn Fn([usize; 2], Range<usize>) -> Result<Image, Cancelled>;

impl MeshOrder {
    /// The files that are written: the mesh, then what lies beside it.
    pub fn paths(&self) -> Result<Vec<PathBuf>, FileError> {
        let mut paths = vec![self.path.clone()];
        if MeshFormat::from_path(&self.path)? == MeshFormat::Obj {
            paths.push(self.path.with_extension("mtl"));
            paths.extend(self.texture.map(|_| self.path.with_extension("png")));
        }
        Ok(paths)
    }

    /// The size of the texture that is painted, if one is.
    pub(super) fn painted(&self) -> Option<[usize; 2]> {
        self.texture.filter(|_| MeshFormat::from_path(&self.path) != Ok(MeshFormat::Stl))
    }

    fn most_vertices(&self, grid: Grid) -> u64 {
        match self.detail {
            MeshDetail::Vertices(most) => most.min(grid.samples()) as u64,
            MeshDetail::ErrorM(_) => grid.samples() as u64,
        }
    }

    /// Whether the mesh can be written; the paths that it will have.
    pub(super) fn check(&self, grid: Grid) -> Result<Vec<PathBuf>, FileError> {
        let most = match MeshFormat::from_path(&self.path)? {
            MeshFormat::Glb => glb::MOST_VERTICES,
            MeshFormat::Obj | MeshFormat::Stl => u64::from(u32::MAX / 2),
        };
        let vertices = self.most_vertices(grid);
        if vertices > most {
            let problem =
                format!("a mesh of {vertices} vertices has no room in this format; ask for {most} at the most");
            return Err(FileError::invalid(&self.path, problem));
        }
        if let Some(size) = self.painted() {
            texture::check_size(Path::new("texture.png"), size)?;
        }
        self.paths()
    }

    /// The most bytes that making it takes: an error and a number for each sample, two numbers for each vertex and
    /// three for each of the triangles, which are twice as many; or, with these, the painting.
    pub(super) fn bytes(&self, grid: Grid) -> u64 {
        let net = 8 * grid.samples() as u64 + 32 * self.most_vertices(grid);
        let painting = self.painted().map_or(0, |size| texture::bytes_painted(Path::new("texture.png"), size));
        net.saturating_add(painting)
    }

    /// The mesh and what lies beside it, complete but without their names; beside it, what is said of it.
    pub(super) fn stage(
        &self,
        terrain: &Heightfield,
        paint: Paint,
        overwrite: bool,
        progress: &Progress,
    ) -> Result<(Vec<StagedFile>, String), FileError> {
        let net = progress.stage(0.0..0.3, || Net::of(terrain, self.detail, progress))?;
        let mesh = &Mesh { terrain, net };
        let format = MeshFormat::from_path(&self.path)?;
        let texture = self.painted();
        let mut staged = Vec::new();
        let mut stage = |path: &Path, write: WriteInto| {
            staged.push(atomic::stage(path, overwrite, |writer| {
                let written = write(writer);
                // A writer that was stopped fails in its own words.
                progress.check()?;
                written.map_err(|error| FileError::writing(path, &error))
            })?);
            Ok::<(), FileError>(())
        };
        // The texture as a PNG, wherever it goes.
        let png = |mut writer: &mut dyn WriteSeek, size: [usize; 2]| {
            let rows = |rows: Range<usize>| paint(size, rows);
            let written = texture::paint_and_write(&mut writer, Path::new("a.png"), size, None, rows, progress);
            // Whoever hears of it knows of the mesh, and not of a picture.
            written.map_err(|error| match error {
                FileError::Disk { reason, .. } => io::Error::other(reason),
                other => io::Error::other(other.to_string()),
            })
        };
        progress.stage(0.3..1.0, || match format {
            MeshFormat::Glb => stage(&self.path, &|writer| match texture {
                Some(size) => glb::write(writer, mesh, Some(&|writer| png(writer, size)), progress),
                None => glb::write(writer, mesh, None, progress),
            }),
            MeshFormat::Stl => stage(&self.path, &|writer| stl::write(writer, mesh, progress)),
            MeshFormat::Obj => {
                let name = |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let (material, picture) = (self.path.with_extension("mtl"), self.path.with_extension("png"));
                stage(&self.path, &|writer| obj::write(writer, mesh, &name(material.clone()), progress))?;
                let worn = texture.map(|_| name(picture.clone()));
                stage(&material, &|writer| obj::write_material(writer, worn.as_deref()))?;
                match texture {
                    Some(size) => stage(&picture, &|writer| png(writer, size)),
                    None => Ok(()),
                }
            }
        })?;
        let (vertices, triangles) = (mesh.net.vertices.len(), mesh.net.triangles.len());
        let note = format!(
            "{}: {vertices} vertices and {triangles} triangles stand for {} samples; no height is off by more than \
             {:.3} m",
            self.path.display(),
            terrain.grid().samples(),
            // Rounded up: the sentence promises.
            (f64::from(mesh.net.error_m) * 1000.0).ceil() / 1000.0
        );
        Ok((staged, note))
    }
}

/// Writes a file, or a part of one.
type WriteInto<'a> = &'a dyn Fn(&mut dyn WriteSeek) -> io::Result<()>;

/// Whatever can be written to and gone back in.
trait WriteSeek: Write + Seek {}

impl<W: Write + Seek> WriteSeek for W {}
