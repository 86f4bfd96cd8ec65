//! Draws contact sheets of the presets or of the given projects, and prints statistics.
//!
//! `cargo run --release --no-default-features --example gallery [FOLDER [PROJECT…]]`
//!
//! Every project gives one image with its heights, its lit texture and a view from the south. `contact-sheet.png` has
//! all textures and views, `sets.png` a row for each project with sets, and `rise.png` stages of the first project.
//! Without projects, `operations.png` shows every operation with defaults in grey, alone or, if it is a modifier, above
//! faults.

#[path = "reference/rings.rs"]
mod rings;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use self::rings::inputs;
use font8x8::legacy::BASIC_LEGACY;
use image::{Rgba, RgbaImage, imageops};
use upthrust::engine::analysis::{self, Summary};
use upthrust::engine::operations::Role;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::parameters::Kind;
use upthrust::engine::relief::relief;
use upthrust::engine::stack::evaluate;
use upthrust::engine::texture::paint_once;
use upthrust::engine::{AnyOperation, Grid, Heightfield, Image, Progress, Recipe, Step};
use upthrust::files::export::load_inputs;
use upthrust::project::{Project, ProjectFile, presets};

const SAMPLES: usize = 513;
const PIXELS: u32 = 512;
const SKY: Rgba<u8> = Rgba([198, 214, 230, 255]);
const INK: Rgba<u8> = Rgba([32, 40, 48, 255]);
/// The name of the raster that operations read.
const FILE: &str = "rings";
/// The error of a cancelled computation, which never happens here.
const CANCELLED: &str = "cancelled";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or("target/gallery".into()));
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    std::fs::create_dir_all(&folder)?;
    let mut projects: Vec<(String, Project)> = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().replace(".upthrust.json", "");
        projects.push((name, Arc::unwrap_or_clone(ProjectFile::open(file)?.project)));
    }
    if files.is_empty() {
        for preset in presets() {
            projects.push((preset.name.into(), preset.project()?));
        }
    }

    print_header("preset");
    let (mut sheet, mut sets) = (Vec::new(), Vec::new());
    for (i, (name, project)) in projects.iter().enumerate() {
        let drawn = Drawn::of(&project.recipe, None)?;
        drawn.report(name, &project.recipe);
        let wide = in_row(&[drawn.heights(), drawn.texture(), drawn.view()]);
        wide.save(folder.join(format!("{name}.png")))?;
        sheet.push(drawn.captioned(name));
        if i == 0 {
            rise(&project.recipe, &folder)?;
        }
        if !project.recipe.texture.sets().is_empty() {
            sets.push(in_row(&in_sets(name, &project.recipe)?));
        }
    }
    contact_sheet(&sheet).save(folder.join("contact-sheet.png"))?;
    in_column(&sets).save(folder.join("sets.png"))?;

    if files.is_empty() {
        print_header("operation");
        let mut sheet = Vec::new();
        for operation in AnyOperation::all() {
            let name = operation.key();
            let recipe = plain_example(operation)?;
            let drawn = Drawn::in_grey(&recipe)?;
            drawn.report(name, &recipe);
            sheet.push(drawn.captioned(name));
        }
        contact_sheet(&sheet).save(folder.join("operations.png"))?;
    }
    Ok(())
}

/// The recipe with each of its sets, with captions.
fn in_sets(name: &str, recipe: &Recipe) -> Result<Vec<RgbaImage>, Box<dyn Error>> {
    let drawn = recipe.texture.sets().into_iter().map(|set| {
        let mut recipe = recipe.clone();
        recipe.texture.settings.active_set = Some(set.into());
        let drawn = Drawn::of(&recipe, None)?;
        drawn.report(&format!("  in {set}"), &recipe);
        Ok(drawn.captioned(&format!("{name}, {set}")))
    });
    drawn.collect()
}

/// The operation with defaults, alone or, if it is a modifier, above faults.
fn plain_example(mut operation: AnyOperation) -> Result<Recipe, Box<dyn Error>> {
    for parameter in operation.table().iter().filter(|parameter| matches!(parameter.kind, Kind::File)) {
        operation.group_mut().set(parameter.key, &FILE.into())?;
    }
    let mut step = Step::new(operation);
    step.settings.seed = 1;
    let stack = match step.operation.role() {
        Role::Generator => vec![step],
        Role::Modifier => vec![Step::new(Faults::default()), step],
    };
    Ok(Recipe { stack, ..Default::default() })
}

fn print_header(what: &str) {
    println!(
        "{what:<18} {:>6} {:>7} {:>15} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9}",
        "faults", "ms", "metres", "hypso", "Hurst", ">35°", ">45°", ">60°", "uncovered"
    );
}

/// The terrain of a recipe and a lit image of it.
struct Drawn {
    terrain: Heightfield,
    texture: Image,
    /// The share of the terrain that no terrain type covers.
    uncovered: f32,
    milliseconds: f64,
}

impl Drawn {
    /// Paints the recipe at a position of its timeline.
    fn of(recipe: &Recipe, position: Option<u32>) -> Result<Self, Box<dyn Error>> {
        let (terrain, milliseconds) = timed(recipe, position)?;
        let (inputs, size) = (load_inputs(recipe, &BTreeMap::new())?, pixels(terrain.grid()));
        let painting = paint_once(&terrain, recipe.painting(&inputs, Some(&recipe.light)), size, &Progress::new());
        let painting = painting.map_err(|_| CANCELLED)?;
        Ok(Self { terrain, texture: painting.image, uncovered: painting.uncovered, milliseconds })
    }

    /// Draws a grey relief, without colours that distract from the shape.
    fn in_grey(recipe: &Recipe) -> Result<Self, Box<dyn Error>> {
        let (terrain, milliseconds) = timed(recipe, None)?;
        let texture = relief(&terrain, pixels(terrain.grid()), &Progress::new()).map_err(|_| CANCELLED)?;
        Ok(Self { terrain, texture, uncovered: 0.0, milliseconds })
    }

    fn report(&self, name: &str, recipe: &Recipe) {
        let summary = Summary::of(&self.terrain, 10);
        let slopes = analysis::slope_histogram(&self.terrain, analysis::SLOPE_BIN_DEG);
        let steeper = |deg: f32| 100.0 * slopes[(deg / analysis::SLOPE_BIN_DEG) as usize..].iter().sum::<f32>();
        println!(
            "{name:<18} {:>6} {:>7.1} {:>7.0}…{:<7.0} {:>6.2} {:>6.2} {:>5.1}% {:>5.1}% {:>5.1}% {:>8.3}%",
            recipe.iterations(),
            self.milliseconds,
            summary.min_m,
            summary.max_m,
            summary.hypsometric_integral,
            analysis::hurst_exponent(&self.terrain).unwrap_or(f64::NAN),
            steeper(35.0),
            steeper(45.0),
            steeper(60.0),
            100.0 * self.uncovered,
        );
    }

    /// The texture and the view below the name.
    fn captioned(&self, name: &str) -> RgbaImage {
        // As large as the name allows.
        let dot = (PIXELS / (8 * (name.len() as u32 + 1))).min(4);
        let mut strip = RgbaImage::from_pixel(PIXELS, 40, SKY);
        for (i, letter) in (0..).zip(name.chars()) {
            // A letter has eight rows of eight dots, the leftmost in the lowest bit.
            let rows = BASIC_LEGACY.get(letter as usize).copied().unwrap_or_default();
            for (y, x) in (0..8).flat_map(|y| (0..8).map(move |x| (y, x))) {
                let left = (i * 8 + x + 1) * dot;
                if rows[y as usize] >> x & 1 == 1 {
                    let ink = RgbaImage::from_pixel(dot, dot, INK);
                    imageops::replace(&mut strip, &ink, i64::from(left), i64::from((y + 1) * dot));
                }
            }
        }
        let images = in_column(&[self.texture(), self.view()]);
        let mut all = RgbaImage::from_pixel(PIXELS, strip.height() + images.height(), SKY);
        imageops::replace(&mut all, &strip, 0, 0);
        imageops::replace(&mut all, &images, 0, i64::from(strip.height()));
        all
    }

    fn heights(&self) -> RgbaImage {
        let image = image_of(&Image::greyscale(&self.terrain));
        imageops::resize(&image, PIXELS, PIXELS, imageops::FilterType::Triangle)
    }

    fn texture(&self) -> RgbaImage {
        imageops::resize(&image_of(&self.texture), PIXELS, PIXELS, imageops::FilterType::Triangle)
    }

    /// The terrain seen from the south and above. Each column of the image is filled from near to far with the parts
    /// that nearer terrain does not hide.
    fn view(&self) -> RgbaImage {
        let extent = self.terrain.grid().extent();
        let texture = image_of(&self.texture);
        let [low, high] = self.terrain.min_max();
        let side = extent.width_m.max(extent.depth_m);
        let eye = [0.5 * extent.width_m, f64::from(high) + 0.45 * side, 1.3 * extent.depth_m];
        let (focal, horizon) = (1.05 * f64::from(PIXELS), -0.12 * f64::from(PIXELS));
        let mut image = RgbaImage::from_pixel(PIXELS, PIXELS, SKY);
        for column in 0..PIXELS {
            let aside = (f64::from(column) - 0.5 * f64::from(PIXELS)) / focal;
            let mut painted = PIXELS;
            let mut away = 0.25 * side;
            while away < 1.4 * side && painted > 0 {
                away += 0.0008 * side + 0.0004 * away;
                let (x, z) = (eye[0] + aside * away, eye[2] - away);
                if !(0.0..=extent.width_m).contains(&x) || !(0.0..=extent.depth_m).contains(&z) {
                    continue;
                }
                let height = f64::from(self.terrain.height_at(x, z));
                let row = |height: f64| ((eye[1] - height) / away * focal + horizon).clamp(0.0, f64::from(painted));
                let place = |m: f64, side: f64, pixels: u32| ((m / side * f64::from(pixels)) as u32).min(pixels - 1);
                let pixel = *texture
                    .get_pixel(place(x, extent.width_m, texture.width()), place(z, extent.depth_m, texture.height()));
                let top = row(height) as u32;
                let foot = row(f64::from(low) - 0.02 * side) as u32;
                for y in top..painted.min(foot.max(top)) {
                    image.put_pixel(column, y, pixel);
                }
                painted = painted.min(top);
            }
        }
        image
    }
}

/// The terrain of a recipe and the milliseconds of its evaluation.
fn timed(recipe: &Recipe, position: Option<u32>) -> Result<(Heightfield, f64), Box<dyn Error>> {
    let grid = Grid::fitted(recipe.world.extent(), SAMPLES);
    let begun = Instant::now();
    let terrain = evaluate(recipe, grid, position, &inputs(FILE), &Progress::new()).map_err(|_| CANCELLED)?;
    Ok((terrain, begun.elapsed().as_secs_f64() * 1e3))
}

/// The image size for a grid.
fn pixels(grid: Grid) -> [usize; 2] {
    [PIXELS as usize, PIXELS as usize * grid.height() / grid.width()]
}

/// Writes the recipe at eight positions of its timeline.
fn rise(recipe: &Recipe, folder: &Path) -> Result<(), Box<dyn Error>> {
    let end = recipe.iterations();
    let mut stages = Vec::new();
    for share in [0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0] {
        let drawn = Drawn::of(recipe, Some((f64::from(end) * share).ceil() as u32))?;
        stages.push(in_column(&[drawn.texture(), drawn.view()]));
    }
    contact_sheet(&stages).save(folder.join("rise.png"))?;
    Ok(())
}

fn image_of(image: &Image) -> RgbaImage {
    RgbaImage::from_fn(image.width as u32, image.height as u32, |x, y| {
        Rgba(image.pixels[y as usize * image.width + x as usize])
    })
}

/// The images in a row.
fn in_row(images: &[RgbaImage]) -> RgbaImage {
    placed(images, images.len() as u32)
}

/// The images in a column.
fn in_column(images: &[RgbaImage]) -> RgbaImage {
    placed(images, 1)
}

/// The images at half size, four in a row.
fn contact_sheet(images: &[RgbaImage]) -> RgbaImage {
    let half = |image: &RgbaImage| {
        imageops::resize(image, image.width() / 2, image.height() / 2, imageops::FilterType::Triangle)
    };
    placed(&images.iter().map(half).collect::<Vec<_>>(), 4)
}

fn placed(images: &[RgbaImage], columns: u32) -> RgbaImage {
    const GAP: u32 = 4;
    let (width, height) = images.first().map_or((1, 1), |image| image.dimensions());
    let rows = (images.len() as u32).div_ceil(columns);
    let mut all = RgbaImage::from_pixel(columns * (width + GAP) - GAP, rows * (height + GAP) - GAP, SKY);
    for (i, image) in (0..).zip(images) {
        imageops::replace(
            &mut all,
            image,
            i64::from(i % columns * (width + GAP)),
            i64::from(i / columns * (height + GAP)),
        );
    }
    all
}
