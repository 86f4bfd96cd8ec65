//! Tileable pictures of ground: those that ship, and imported ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use image::{ImageFormat, ImageReader, Limits};

use super::error::FileError;
use super::texture::{CUT_OFF, is_cut_off_jpeg};
use crate::engine::Picture;
use crate::engine::parameters::PictureName;
use crate::engine::texture::Swatch;

/// The most pixels along a side of a tileable picture, and the most bytes that decoding one may take.
const MOST_SIDE: u32 = 8192;
const MOST_BYTES: u64 = 512 << 20;

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
pub fn shipped(name: &PictureName) -> Result<Arc<Swatch>, FileError> {
    static DECODED: Mutex<BTreeMap<&'static str, Arc<Swatch>>> = Mutex::new(BTreeMap::new());
    let Some((key, bytes)) = SHIPPED.iter().find(|(key, _)| *key == name.0) else {
        let known = SHIPPED.map(|(key, _)| key).join(", ");
        let problem = format!("no picture of this name ships; there are {known}");
        return Err(FileError::contents(Path::new(&name.0), problem));
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
    let picture = picture(bytes).map_err(|reason| unreadable(Path::new(name), &reason))?;
    Ok(Arc::new(Swatch::new(&picture)))
}

/// What is said of a file that is no picture.
pub fn unreadable(path: &Path, reason: &str) -> FileError {
    let problem = format!("this cannot be read as a picture ({reason}); choose a PNG, JPEG, TGA or BMP");
    FileError::contents(path, problem)
}

/// The pixels of a picture file, whatever its format.
pub fn picture(bytes: &[u8]) -> Result<Picture, String> {
    if bytes.is_empty() {
        return Err("it is empty".into());
    }
    if is_cut_off_jpeg(bytes) {
        return Err(CUT_OFF.into());
    }
    let mut reader =
        ImageReader::new(std::io::Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    let is_marked = reader.format().is_some();
    if !is_marked {
        // TGA files bear no mark by which they could be known.
        reader.set_format(ImageFormat::Tga);
    }
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(MOST_SIDE), Some(MOST_SIDE));
    limits.max_alloc = Some(MOST_BYTES);
    reader.limits(limits);
    // What is wrong with it as a TGA says nothing of a file that is none.
    let reason = |error: image::ImageError| {
        if is_marked { error.to_string().trim_end().to_string() } else { "nothing in it is like one".into() }
    };
    let pixels = reader.decode().map_err(reason)?.into_rgba8();
    let (width, height) = pixels.dimensions();
    let pixels = pixels.pixels().map(|pixel| [pixel.0[0], pixel.0[1], pixel.0[2], 255]).collect();
    Ok(Picture { width: width as usize, height: height as usize, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_picture_is_there_and_decoded_once() {
        for (key, _) in SHIPPED {
            let name = PictureName(key.into());
            let first = shipped(&name).expect("readable");
            assert!(name.ships() && Arc::ptr_eq(&first, &shipped(&name).expect("readable")));
            assert!(first.mean().iter().all(|channel| (0.005..0.95).contains(channel)), "{key}: {:?}", first.mean());
        }
        let error = shipped(&PictureName("assets/gras.jpg".into())).expect_err("unknown").to_string();
        assert!(error.contains("assets/gras.jpg") && error.contains("assets/grass.jpg"), "{error}");
    }

    #[test]
    fn every_format_that_is_promised_can_be_read() {
        let pixels = image::RgbImage::from_fn(4, 3, |x, y| image::Rgb([x as u8 * 40, y as u8 * 40, 7]));
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Tga, ImageFormat::Bmp] {
            let mut bytes = std::io::Cursor::new(Vec::new());
            pixels.write_to(&mut bytes, format).expect("written");
            let found = picture(bytes.get_ref()).expect("readable");
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
        check(&jpeg[..300], "Jpeg");
        // What another program wrote behind the end does no harm.
        assert!(decode("moss.png", &[jpeg, &[0; 9]].concat()).is_ok());
    }
}
