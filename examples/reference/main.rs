//! Writes the pages of the operations in the manual, with their pictures.
//!
//! `cargo run --release --no-default-features --example reference`
//!
//! A test compares the texts with the program. The pages are listed in `docs/manual/src/SUMMARY.md`, between "Operations"
//! and "Command line".

mod pages;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;
use upthrust::engine::parameters::FileName;
use upthrust::engine::relief::relief;
use upthrust::engine::stack::evaluate;
use upthrust::engine::{AnyOperation, Grid, Inputs, Progress, Raster, Recipe, SampleScale};

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
    let terrain = evaluate(recipe, grid, None, &inputs(), &progress).map_err(|_| "cancelled")?;
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

/// A raster for the operations that read one: rings of hills around the centre.
fn inputs() -> Inputs {
    const SIDE: usize = 129;
    let centred = |i: usize| (2 * i) as f32 / (SIDE - 1) as f32 - 1.0;
    let brightness = |i: usize| {
        let away = libm::hypotf(centred(i % SIDE), centred(i / SIDE));
        65_535.0 * (0.5 + 0.5 * libm::cosf(12.0 * away)) * (1.0 - 0.6 * away)
    };
    let samples = (0..SIDE * SIDE).map(brightness).collect();
    let raster = Raster { width: SIDE, height: SIDE, samples, scale: SampleScale::Integers { max_value: 65_535.0 } };
    Inputs { rasters: [(FileName(pages::FILE.into()), Arc::new(raster))].into(), ..Inputs::default() }
}
