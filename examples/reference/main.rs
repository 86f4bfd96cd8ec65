//! Writes the pages of the operations in the manual, with their pictures.
//!
//! `cargo run --release --no-default-features --example reference`
//!
//! A test compares the texts with the program. The pages are listed in `docs/manual/src/SUMMARY.md`, between "Operations"
//! and "Command line".

mod pages;
mod rings;

use std::error::Error;
use std::path::Path;

use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;
use upthrust::engine::relief::relief;
use upthrust::engine::stack::evaluate;
use upthrust::engine::{AnyOperation, Grid, Progress, Recipe};

/// Samples along the longer side of a picture's terrain, and its pixels.
const SAMPLES: usize = 513;
const PIXELS: usize = 320;

/// The quality of the pictures, percent.
const QUALITY: u8 = 80;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, sources) = (root.join("docs/manual/src/operations"), root.join("src/engine/operations"));
    std::fs::create_dir_all(folder.join("pictures"))?;
    let operations = AnyOperation::all();
    for operation in &operations {
        println!("{}", operation.key());
        std::fs::write(folder.join(format!("{}.md", operation.key())), pages::page(operation, &sources))?;
        for picture in pages::pictures(operation) {
            draw(&picture.recipe, &folder.join("pictures").join(&picture.file))?;
        }
    }
    std::fs::write(folder.join("README.md"), pages::index(&operations))?;
    Ok(())
}

/// Draws the relief of a recipe.
fn draw(recipe: &Recipe, path: &Path) -> Result<(), Box<dyn Error>> {
    let grid = Grid::fitted(recipe.world.extent(), SAMPLES);
    let progress = Progress::new();
    let terrain = evaluate(recipe, grid, None, &rings::inputs(pages::FILE), &progress).map_err(|_| "cancelled")?;
    let image = relief(&terrain, [PIXELS, PIXELS], &progress).map_err(|_| "cancelled")?;
    let picture = RgbImage::from_fn(image.width as u32, image.height as u32, |x, y| {
        let [red, green, blue, _] = image.pixels[y as usize * image.width + x as usize];
        image::Rgb([red, green, blue])
    });
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, QUALITY).encode_image(&picture)?;
    std::fs::write(path, bytes)?;
    Ok(())
}
