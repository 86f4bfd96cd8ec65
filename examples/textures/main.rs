//! Makes the ground textures of `assets/`.
//!
//! `cargo run --release --no-default-features --example textures [FOLDER [NAME…]]`
//!
//! Every texture is computed from a seed: the same files on every machine. With names, only those are made.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};

use synthesis::Ground;

mod synthesis;

const PIXELS: usize = 1024;
/// The finest quality of the files; where the file would grow beyond `BYTES`, less.
const QUALITY: u8 = 90;
const BYTES: usize = 690_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or("assets".into()));
    let names: Vec<String> = arguments.collect();
    if let Some(name) = names.iter().find(|name| Ground::ALL.iter().all(|ground| ground.name != **name)) {
        let known: Vec<&str> = Ground::ALL.iter().map(|ground| ground.name).collect();
        return Err(format!("There is no texture {name}; there are {}.", known.join(", ")).into());
    }
    std::fs::create_dir_all(&folder)?;
    for ground in Ground::ALL {
        if names.is_empty() || names.iter().any(|name| name == ground.name) {
            make(&ground, &folder)?;
        }
    }
    Ok(())
}

fn make(ground: &Ground, folder: &Path) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let picture = ground.picture(PIXELS);
    let seconds = begun.elapsed().as_secs_f64();
    let (bytes, quality) = compressed(&picture)?;
    std::fs::write(folder.join(format!("{}.jpg", ground.name)), &bytes)?;
    println!(
        "{:<14} {:>4.1} m {:>6.1} s {:>4} KB at quality {quality}",
        ground.name,
        ground.metres,
        seconds,
        bytes.len() / 1000
    );
    Ok(())
}

/// The picture as JPEG with whole colour resolution, in the finest quality whose file is small enough.
fn compressed(picture: &RgbImage) -> Result<(Vec<u8>, u8), Box<dyn Error>> {
    let mut quality = QUALITY;
    loop {
        let mut bytes = Vec::new();
        let (width, height) = picture.dimensions();
        JpegEncoder::new_with_quality(&mut bytes, quality).encode(picture, width, height, ExtendedColorType::Rgb8)?;
        if bytes.len() <= BYTES || quality <= 60 {
            return Ok((bytes, quality));
        }
        quality -= 2;
    }
}
