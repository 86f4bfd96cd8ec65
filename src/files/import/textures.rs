//! Tileable textures of materials: those that ship with the program, and imported ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::parameters::TextureName;
use crate::engine::texture::Swatch;
use crate::files::formats::image_decode::decode_texture;
use crate::files::io::error::FileError;

/// The textures that ship with the program, by the names that recipes use.
/// Not a constant, whose copies in the program would be as many as its uses.
pub static SHIPPED_TEXTURES: [(&str, &[u8]); 11] = [
    ("assets/grass.jpg", include_bytes!("../../../assets/grass.jpg")),
    ("assets/dry-grass.jpg", include_bytes!("../../../assets/dry-grass.jpg")),
    ("assets/forest-floor.jpg", include_bytes!("../../../assets/forest-floor.jpg")),
    ("assets/rock.jpg", include_bytes!("../../../assets/rock.jpg")),
    ("assets/layered-rock.jpg", include_bytes!("../../../assets/layered-rock.jpg")),
    ("assets/scree.jpg", include_bytes!("../../../assets/scree.jpg")),
    ("assets/sand.jpg", include_bytes!("../../../assets/sand.jpg")),
    ("assets/mud.jpg", include_bytes!("../../../assets/mud.jpg")),
    ("assets/snow.jpg", include_bytes!("../../../assets/snow.jpg")),
    ("assets/ice.jpg", include_bytes!("../../../assets/ice.jpg")),
    ("assets/lava.jpg", include_bytes!("../../../assets/lava.jpg")),
];

/// A texture that ships with the program, decoded once per process.
pub fn shipped_texture(name: &TextureName) -> Result<Arc<Swatch>, FileError> {
    static DECODED: Mutex<BTreeMap<&'static str, Arc<Swatch>>> = Mutex::new(BTreeMap::new());
    let Some((key, bytes)) = SHIPPED_TEXTURES.iter().find(|(key, _)| *key == name.0) else {
        let known = SHIPPED_TEXTURES.map(|(key, _)| key).join(", ");
        let problem = format!("there is no built-in texture with this name; available: {known}");
        return Err(FileError::invalid(Path::new(&name.0), problem));
    };
    let mut decoded = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(swatch) = decoded.get(key) {
        return Ok(swatch.clone());
    }
    let swatch = decode_swatch(key, bytes)?;
    decoded.insert(key, swatch.clone());
    Ok(swatch)
}

/// Decodes a tileable texture from the bytes of an image file.
pub fn decode_swatch(name: &str, bytes: &[u8]) -> Result<Arc<Swatch>, FileError> {
    Ok(Arc::new(Swatch::new(decode_texture(Path::new(name), bytes)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_texture_is_decoded_once() {
        for (key, _) in SHIPPED_TEXTURES {
            let name = TextureName(key.into());
            let first = shipped_texture(&name).expect("readable");
            assert!(name.is_shipped() && Arc::ptr_eq(&first, &shipped_texture(&name).expect("readable")));
            assert!(first.mean().iter().all(|channel| (0.005..0.95).contains(channel)), "{key}: {:?}", first.mean());
        }
        let error = shipped_texture(&TextureName("assets/gras.jpg".into())).expect_err("unknown").to_string();
        assert!(error.contains("assets/gras.jpg") && error.contains("assets/grass.jpg"), "{error}");
    }
    #[test]
    fn invalid_textures_are_refused_by_name() {
        let jpeg = SHIPPED_TEXTURES[0].1;
        let check = |bytes: &[u8], reason: &str| {
            let error = decode_swatch("moss.png", bytes).map(|_| ()).expect_err(reason).to_string();
            assert!(error.starts_with("moss.png: ") && error.contains(reason), "{error}");
            assert!(!error.contains('\n'), "{error}");
        };
        check(b"", "it is empty");
        check(&b"a text, and a long one at that\n".repeat(9), "its format is unknown");
        check(&jpeg[..jpeg.len() / 3], "it is truncated");
        check(&jpeg[..jpeg.len() - 2], "it is truncated");
        check(&jpeg[..300], "it is truncated");
        check(&[0xFF, 0xD8, 0xFF, 0xD9], "Jpeg");
        // Data after the end of the image is ignored.
        assert!(decode_swatch("moss.png", &[jpeg, &[0; 9]].concat()).is_ok());
    }
}
