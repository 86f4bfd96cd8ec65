//! Opening heightmaps and textures, and decoding the input files of a project.

mod fingerprint;
mod inputs;
mod open;
mod stamps;
mod textures;

pub use self::fingerprint::terrain_fingerprint;
pub use self::inputs::{DecodedFiles, InputFiles};
pub use self::open::{
    ImportedFile, MapSummary, apply_sidecars, is_same_size, open_any, open_for_review, open_heightmap, open_mask,
    open_stamp, open_texture, size_note, size_text,
};
pub use self::stamps::{SHIPPED_STAMPS, shipped_stamp, shipped_stamp_project};
pub use self::textures::{SHIPPED_TEXTURES, shipped_texture};
