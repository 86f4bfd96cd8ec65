//! Writes the pages of the operations in the manual, with their pictures.
//!
//! `cargo run --release --no-default-features --example reference`
//!
//! With `--measure` and the name of the processor, such as `-- --measure "two cores at 2.1 GHz"`, it measures the costs of
//! the operations again; after that, a run without it writes them into the pages.
//!
//! A test compares the texts with the program. The pages are listed in `docs/manual/src/SUMMARY.md`, between "Operations"
//! and "Command line".

mod pages;
mod rings;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use image::RgbImage;
use image::codecs::jpeg::JpegEncoder;
use upthrust::engine::relief::relief;
use upthrust::engine::stack::evaluate;
use upthrust::engine::{AnyOperation, Grid, Progress, Recipe};

/// Samples along the longer side of a picture's terrain, and its pixels.
const SAMPLES: usize = 513;
const PIXELS: usize = 320;

/// How often each operation is measured, and the least time that is not disturbance alone.
const RUNS: u32 = 7;
const LEAST_MS: f64 = 1.0;

/// The quality of the pictures, percent.
const QUALITY: u8 = 80;

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, sources) = (root.join("docs/manual/src/operations"), root.join("src/engine/operations"));
    std::fs::create_dir_all(folder.join("pictures"))?;
    let operations = AnyOperation::all();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => {}
        [option, processor] if option == "--measure" => {
            return measure(&operations, processor, &root.join("examples/reference/costs.txt"));
        }
        _ => return Err("expected no arguments, or --measure and the name of the processor".into()),
    }
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

/// Measures what the operations cost and writes it into a file. The least of several runs counts, as others are disturbed.
fn measure(operations: &[AnyOperation], processor: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = format!("{processor}\n");
    for operation in operations {
        let whole = pages::pictures(operation).swap_remove(0).recipe;
        let mut below = whole.clone();
        below.stack.pop();
        let least_ms = |recipe: &Recipe| -> Result<f64, Box<dyn Error>> {
            let grid = Grid::fitted(recipe.world.extent(), pages::COST_SAMPLES);
            let mut least_ms = f64::INFINITY;
            for _ in 0..RUNS {
                let start = Instant::now();
                evaluate(recipe, grid, None, &rings::inputs(pages::FILE), &Progress::new()).map_err(|_| "cancelled")?;
                least_ms = least_ms.min(1000.0 * start.elapsed().as_secs_f64());
            }
            Ok(least_ms)
        };
        let own_ms = least_ms(&whole)? - least_ms(&below)?;
        if own_ms >= LEAST_MS {
            text += &format!("{} {own_ms:.0}\n", operation.key());
        }
    }
    std::fs::write(path, text)?;
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
