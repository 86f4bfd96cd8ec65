//! File formats: heightmaps, images, meshes, scattered instances and sidecars. Nothing here knows about recipes or
//! exports.

/// The mark that some programs write at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

pub mod heightmap;
pub mod image;
pub mod image_decode;
pub mod mesh;
pub(crate) mod numbers;
pub(crate) mod png;
pub mod region;
pub mod scatter;
pub mod sidecar;
