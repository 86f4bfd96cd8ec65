//! Reading, packing and unpacking of imported files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::error::ProjectError;
use crate::engine::parameters::{FileName, not_an_object};

/// Compresses bytes to text.
pub(super) fn pack(bytes: &[u8]) -> String {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(bytes);
    BASE64.encode(encoder.finish().unwrap_or_default())
}

/// Decompresses text, but at most `max` + 1 bytes.
fn unpack(text: &str, max: u64) -> Option<Vec<u8>> {
    let compressed = BASE64.decode(text).ok()?;
    let mut bytes = Vec::new();
    flate2::read::ZlibDecoder::new(compressed.as_slice()).take(max + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads a regular file of at most `max` bytes. Pipes and devices are refused because they may be endless.
pub(super) fn read_limited(path: &Path, max: u64) -> Result<Vec<u8>, ProjectError> {
    let unreadable = |reason: String| ProjectError::Unreadable(path.to_path_buf(), reason);
    // Without the number of the error, which says nothing to the user.
    let failed = |error: io::Error| unreadable(error.to_string().split(" (os error").next().unwrap_or_default().into());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(unreadable("it is not a regular file; choose a file on a disk".into()));
    }
    if metadata.len() > max {
        return Err(unreadable(format!("it has {} bytes, but at most {max} are possible", metadata.len())));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(max).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

/// Reads the `files` object, whose files may unpack to `available` bytes together.
pub(super) fn files_from_value(
    value: &Value,
    mut available: u64,
) -> Result<BTreeMap<FileName, Arc<Vec<u8>>>, ProjectError> {
    let Value::Object(object) = value else {
        return Err(not_an_object(value).within("files").into());
    };
    let read = |(name, value): (&String, &Value)| {
        let bytes = value.as_str().and_then(|text| unpack(text, available));
        let bytes = bytes.ok_or_else(|| ProjectError::CorruptFile(name.clone()))?;
        available =
            available.checked_sub(bytes.len() as u64).ok_or_else(|| ProjectError::FilesTooLarge(name.clone()))?;
        Ok((FileName(name.clone()), Arc::new(bytes)))
    };
    object.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_files_share_one_limit() {
        let files: Value =
            ["a", "b", "c"].map(|name| (name.to_string(), Value::from(pack(&[0; 100])))).into_iter().collect();
        assert_eq!(files_from_value(&files, 300).map(|files| files.len()), Ok(3));
        let refused = files_from_value(&files, 299).map(|files| files.len());
        assert_eq!(refused, Err(ProjectError::FilesTooLarge("c".into())));
    }

    #[test]
    fn files_above_the_limit_are_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.png");
        std::fs::write(&path, [1, 2, 3]).expect("written");
        let error = read_limited(&path, 2).expect_err("too long").to_string();
        assert!(error.contains("3 bytes") && error.contains("at most 2"), "{error}");
    }
}
