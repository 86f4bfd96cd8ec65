//! Generates the material textures in `assets/`.
//!
//! `cargo run --release --no-default-features --example textures [FOLDER [NAME…]]`
//!
//! Every texture is computed from a fixed seed, so the files are the same on every machine. With names, only those are
//! generated.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};

use synthesis::Material;

mod synthesis;

const PIXELS: usize = 1024;
/// The JPEG quality; it is reduced for files larger than `BYTES`.
const QUALITY: u8 = 90;
const BYTES: usize = 690_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or("assets".into()));
    let names: Vec<String> = arguments.collect();
    if let Some(name) = names.iter().find(|name| Material::ALL.iter().all(|material| material.name != **name)) {
        let known: Vec<&str> = Material::ALL.iter().map(|material| material.name).collect();
        return Err(format!("There is no texture {name}; there are {}.", known.join(", ")).into());
    }
    std::fs::create_dir_all(&folder)?;
    for material in Material::ALL {
        if names.is_empty() || names.iter().any(|name| name == material.name) {
            make(&material, &folder)?;
        }
    }
    Ok(())
}

fn make(material: &Material, folder: &Path) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let texture = material.texture(PIXELS);
    let seconds = begun.elapsed().as_secs_f64();
    let (bytes, quality) = compressed(&texture)?;
    std::fs::write(folder.join(format!("{}.jpg", material.name)), &bytes)?;
    println!(
        "{:<14} {:>4.1} m {:>6.1} s {:>4} KB at quality {quality}",
        material.name,
        material.metres,
        seconds,
        bytes.len() / 1000
    );
    Ok(())
}

/// Encodes a JPEG without chroma subsampling, with the highest quality whose file is small enough.
fn compressed(texture: &RgbImage) -> Result<(Vec<u8>, u8), Box<dyn Error>> {
    let mut quality = QUALITY;
    loop {
        let mut bytes = Vec::new();
        let (width, height) = texture.dimensions();
        JpegEncoder::new_with_quality(&mut bytes, quality).encode(texture, width, height, ExtendedColorType::Rgb8)?;
        if bytes.len() <= BYTES || quality <= 60 {
            return Ok((bytes, quality));
        }
        quality -= 2;
    }
}
