//! Tileable pictures of ground: those that ship, and imported ones.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use image::{DynamicImage, GenericImageView, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, Rgba};

use super::error::FileError;
use super::memory::require_memory;
use super::texture::{CUT_OFF, is_truncated_jpeg};
use crate::engine::Image;
use crate::engine::parameters::TextureName;
use crate::engine::texture::Swatch;

/// The most pixels along a side of a tileable picture, and the most bytes that decoding one may take.
const MAX_SIDE: u32 = 8192;
const MOST_BYTES: u64 = 512 << 20;

/// The bytes that a pixel takes in a [`Swatch`], whose levels add up to four thirds of the first.
const SWATCH_BYTES: u64 = 11;

/// The pictures that ship, by the names that recipes use.
pub const SHIPPED: [(&str, &[u8]); 11] = [
    ("assets/grass.jpg", include_bytes!("../../assets/grass.jpg")),
    ("assets/dry-grass.jpg", include_bytes!("../../assets/dry-grass.jpg")),
    ("assets/forest-floor.jpg", include_bytes!("../../assets/forest-floor.jpg")),
    ("assets/rock.jpg", include_bytes!("../../assets/rock.jpg")),
    ("assets/layered-rock.jpg", include_bytes!("../../assets/layered-rock.jpg")),
    ("assets/scree.jpg", include_bytes!("../../assets/scree.jpg")),
    ("assets/sand.jpg", include_bytes!("../../assets/sand.jpg")),
    ("assets/mud.jpg", include_bytes!("../../assets/mud.jpg")),
    ("assets/snow.jpg", include_bytes!("../../assets/snow.jpg")),
    ("assets/ice.jpg", include_bytes!("../../assets/ice.jpg")),
    ("assets/lava.jpg", include_bytes!("../../assets/lava.jpg")),
];

/// A picture that ships, decoded once for the whole program.
pub fn shipped(name: &TextureName) -> Result<Arc<Swatch>, FileError> {
    static DECODED: Mutex<BTreeMap<&'static str, Arc<Swatch>>> = Mutex::new(BTreeMap::new());
    let Some((key, bytes)) = SHIPPED.iter().find(|(key, _)| *key == name.0) else {
        let known = SHIPPED.map(|(key, _)| key).join(", ");
        let problem = format!("no picture of this name ships; there are {known}");
        return Err(FileError::invalid(Path::new(&name.0), problem));
    };
    let mut decoded = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(swatch) = decoded.get(key) {
        return Ok(swatch.clone());
    }
    let swatch = decode(key, bytes)?;
    decoded.insert(key, swatch.clone());
    Ok(swatch)
}

/// A tileable picture from the bytes of a picture file.
pub fn decode(name: &str, bytes: &[u8]) -> Result<Arc<Swatch>, FileError> {
    Ok(Arc::new(Swatch::new(&picture(Path::new(name), bytes)?)))
}

/// The pixels of a picture file, whatever its format.
pub fn picture(path: &Path, bytes: &[u8]) -> Result<Image, FileError> {
    let unreadable = |reason: &str| {
        let problem = format!("this cannot be read as a picture ({reason}); choose a PNG, JPEG, TGA or BMP");
        FileError::invalid(path, problem)
    };
    if bytes.is_empty() {
        return Err(unreadable("it is empty"));
    }
    if is_truncated_jpeg(bytes) {
        return Err(unreadable(CUT_OFF));
    }
    let mut reader = ImageReader::new(Cursor::new(bytes));
    reader = reader.with_guessed_format().map_err(|error| FileError::reading(path, &error))?;
    let is_marked = reader.format().is_some();
    if !is_marked {
        // TGA files bear no mark by which they could be known.
        reader.set_format(ImageFormat::Tga);
    }
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MAX_SIDE), Some(MAX_SIDE));
    limits.max_alloc = Some(MOST_BYTES);
    reader.limits(limits);
    // What is wrong with it as a TGA says nothing of a file that is none.
    let broken = |error: ImageError| {
        let reason = error.to_string();
        unreadable(if is_marked { reason.trim_end() } else { "nothing in it is like one" })
    };
    let decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    require_memory(4 * pixels + decoder.total_bytes().max(SWATCH_BYTES * pixels))?;
    let decoded = DynamicImage::from_decoder(decoder).map_err(broken)?;
    let mut picture =
        Image { width: width as usize, height: height as usize, pixels: Vec::with_capacity(pixels as usize) };
    picture.pixels.extend(decoded.pixels().map(|(_, _, Rgba([red, green, blue, _]))| [red, green, blue, 255]));
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_picture_is_there_and_decoded_once() {
        for (key, _) in SHIPPED {
            let name = TextureName(key.into());
            let first = shipped(&name).expect("readable");
            assert!(name.is_shipped() && Arc::ptr_eq(&first, &shipped(&name).expect("readable")));
            assert!(first.mean().iter().all(|channel| (0.005..0.95).contains(channel)), "{key}: {:?}", first.mean());
        }
        let error = shipped(&TextureName("assets/gras.jpg".into())).expect_err("unknown").to_string();
        assert!(error.contains("assets/gras.jpg") && error.contains("assets/grass.jpg"), "{error}");
    }

    #[test]
    fn every_format_that_is_promised_can_be_read() {
        let pixels = image::RgbImage::from_fn(4, 3, |x, y| image::Rgb([x as u8 * 40, y as u8 * 40, 7]));
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Tga, ImageFormat::Bmp] {
            let mut bytes = Cursor::new(Vec::new());
            pixels.write_to(&mut bytes, format).expect("written");
            let found = picture(Path::new("a"), bytes.get_ref()).expect("readable");
            assert_eq!((found.width, found.height), (4, 3), "{format:?}");
        }
    }

    #[test]
    fn what_is_no_picture_is_refused_by_name() {
        let jpeg = SHIPPED[0].1;
        let check = |bytes: &[u8], reason: &str| {
            let error = decode("moss.png", bytes).map(|_| ()).expect_err(reason).to_string();
            assert!(error.starts_with("moss.png: ") && error.contains(reason), "{error}");
            assert!(!error.contains('\n'), "{error}");
        };
        check(b"", "it is empty");
        check(&b"a text, and a long one at that\n".repeat(9), "nothing in it is like one");
        check(&jpeg[..jpeg.len() / 3], "it breaks off");
        check(&jpeg[..jpeg.len() - 2], "it breaks off");
        check(&jpeg[..300], "it breaks off");
        check(&[0xFF, 0xD8, 0xFF, 0xD9], "Jpeg");
        // What another program wrote behind the end does no harm.
        assert!(decode("moss.png", &[jpeg, &[0; 9]].concat()).is_ok());
    }
}
