//! Readers survive malformed files: they neither panic nor hang, allocate no more than the file justifies, and return
//! only heights within the limits of the engine.

mod mutations;
mod numbers;

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use cpu_time::ThreadTime;
use rayon::prelude::*;
use upthrust::engine::heightfield::MAX_HEIGHT_M;
use upthrust::engine::parameters::Band;
use upthrust::engine::{Extent, Grid, Heightfield, Progress, SampleScale};
use upthrust::files::formats::heightmap::{self, Encoding, Rows, WrittenFormat};
use upthrust::files::formats::image_decode::decode_texture;
use upthrust::files::formats::sidecar::Sidecar;
use upthrust::project::{ProjectFile, presets};

use self::mutations::{changed_bytes, mutated};
use self::numbers::Numbers;
use crate::common::in_own_process;

/// The most processor time that reading one file may take.
const MAX_TIME: Duration = Duration::from_secs(1);

/// The most memory that reading may add to the peak, with all threads together.
const MAX_BYTES: u64 = 400 << 20;

/// Valid heightmaps as this and other programs write them.
fn heightmaps() -> Files {
    let grid = Grid::new(Extent { width_m: 60.0, depth_m: 40.0 }, 21, 21);
    let terrain = Heightfield::from_fn(grid, |c, r| (c * 3 + r * 40) as f32 - 10.5);
    let range_m = Band { min: -10.5, max: 860.0 };
    let mut files = Files::new();
    for format in WrittenFormat::ALL {
        for encoding in [Encoding::default(), Encoding { integers: true, as_rgb: true, ..Encoding::default() }] {
            let name = format!("a.{}", format.extensions()[0]);
            let mut bytes = Cursor::new(Vec::new());
            heightmap::write(&mut bytes, Path::new(&name), Rows::all(&terrain), range_m, encoding, &Progress::new())
                .expect("written");
            files.push((name, bytes.into_inner()));
        }
    }
    let pixels = image::GrayImage::from_fn(21, 21, |x, y| image::Luma([(x * y) as u8]));
    for (name, format) in [("a.png", image::ImageFormat::Png), ("a.bmp", image::ImageFormat::Bmp)] {
        let mut bytes = Cursor::new(Vec::new());
        pixels.write_to(&mut bytes, format).expect("written");
        files.push((name.into(), bytes.into_inner()));
    }
    let heights = |c: u32, r: u32| (500 + 7 * c + 90 * r) as i16;
    let places = || (0..21).flat_map(|r| (0..21).map(move |c| (c, r)));
    files.push(("N10E020.hgt".into(), places().flat_map(|(c, r)| heights(c, r).to_be_bytes()).collect()));
    let mut terragen = b"TERRAGENTERRAIN SIZE\x14\0\0\0SCAL\0\0\xf0A\0\0\xf0A\0\0\xf0AALTW\0\x40\x05\0".to_vec();
    terragen.extend(places().flat_map(|(c, r)| heights(c, r).to_le_bytes()));
    files.push(("a.ter".into(), terragen));
    let encoded = image::RgbImage::from_fn(21, 21, |c, r| {
        let value = 100_000 + 10 * u32::from(heights(c, r).cast_unsigned());
        image::Rgb([(value >> 16) as u8, (value >> 8) as u8, value as u8])
    });
    for (name, format) in
        [("a.webp", image::ImageFormat::WebP), ("a.ppm", image::ImageFormat::Pnm), ("a.png", image::ImageFormat::Png)]
    {
        let mut bytes = Cursor::new(Vec::new());
        encoded.write_to(&mut bytes, format).expect("written");
        files.push((name.into(), bytes.into_inner()));
    }
    files.push(("a.png".into(), png_with_palette()));
    files.push(("a.pgm".into(), b"P2 # text\n3 2\n100\n0 1 2\n3 4 100\n".to_vec()));
    for encoding in [exr::prelude::Encoding::SMALL_LOSSLESS, exr::prelude::Encoding::FAST_LOSSLESS] {
        use exr::prelude::{Image, Layer, LayerAttributes, SpecificChannels, Vec2, WritableImage};
        let pixel = |Vec2(x, y): Vec2<usize>| (exr::prelude::f16::from_f32((x * y) as f32), x as f32);
        let channels = SpecificChannels::build().with_channel("A").with_channel("Y").with_pixel_fn(pixel);
        let mut bytes = Cursor::new(Vec::new());
        let image = Image::from_layer(Layer::new((21, 21), LayerAttributes::default(), encoding, channels));
        image.write().non_parallel().to_buffered(&mut bytes).expect("written");
        files.push(("a.exr".into(), bytes.into_inner()));
    }
    for compression in [tiff::encoder::Compression::Lzw, tiff::encoder::Compression::Deflate(Default::default())] {
        let mut bytes = Cursor::new(Vec::new());
        let mut file = tiff::encoder::TiffEncoder::new(&mut bytes).expect("begun").with_compression(compression);
        file.write_image::<tiff::encoder::colortype::Gray16>(21, 21, &[7; 441]).expect("written");
        files.push(("a.tif".into(), bytes.into_inner()));
    }
    files
}

/// The peak memory of this process, on Linux.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// Names and contents of files.
type Files = Vec<(String, Vec<u8>)>;

/// A reader of the contents of a file, and what is wrong with a value that it returned.
type Reader = fn(&Path, &[u8]) -> Result<(), String>;

fn read_heightmap(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let Ok(loaded) = heightmap::decode(path, bytes, None) else {
        return Ok(());
    };
    let limit = if loaded.raster.scale == SampleScale::Metres { MAX_HEIGHT_M } else { f32::MAX };
    let are_heights = loaded.raster.samples.iter().all(|sample| sample.abs() <= limit);
    if are_heights { Ok(()) } else { Err("a sample is not a height".into()) }
}

fn read_texture(path: &Path, bytes: &[u8]) -> Result<(), String> {
    drop(decode_texture(path, bytes));
    Ok(())
}

fn read_project(_: &Path, bytes: &[u8]) -> Result<(), String> {
    let Ok(file) = ProjectFile::from_json(&String::from_utf8_lossy(bytes)) else {
        return Ok(());
    };
    // What was read is written and read again.
    ProjectFile::from_json(&file.to_json()).map(drop).map_err(|error| error.to_string())
}

fn read_sidecar(_: &Path, bytes: &[u8]) -> Result<(), String> {
    let Ok(sidecar) = Sidecar::from_json(&String::from_utf8_lossy(bytes)) else {
        return Ok(());
    };
    let numbers = [sidecar.range_m.min, sidecar.range_m.max];
    let are_heights = numbers.iter().all(|number| number.abs() <= f64::from(MAX_HEIGHT_M));
    if are_heights { Ok(()) } else { Err("a number is not a height".into()) }
}

/// Every reader with valid files for it.
fn readers() -> [(Reader, Files); 4] {
    let mut images = Vec::new();
    let pixels = image::RgbaImage::from_fn(21, 9, |x, y| image::Rgba([x as u8, y as u8, (x * y) as u8, 200]));
    for (name, format) in [("a.png", image::ImageFormat::Png), ("a.bmp", image::ImageFormat::Bmp)] {
        let mut bytes = Cursor::new(Vec::new());
        pixels.write_to(&mut bytes, format).expect("written");
        images.push((name.to_string(), bytes.into_inner()));
    }
    let mut bytes = Cursor::new(Vec::new());
    image::DynamicImage::from(pixels).to_rgb8().write_to(&mut bytes, image::ImageFormat::Jpeg).expect("written");
    images.push(("a.jpg".to_string(), bytes.into_inner()));
    images.push(("a.png".to_string(), png_with_palette()));

    let project = |preset: &upthrust::project::Preset| preset.file().expect("a preset").to_json().into_bytes();
    let projects = presets().iter().map(|preset| ("p.json".to_string(), project(preset))).collect();
    let sidecar = br#"{"width": 257, "height": 129, "min_m": -12.5, "max_m": 900.0, "spacing_x_m": 4, "spacing_z_m": 4,
        "row_order": "south_first", "sample": "u16le"}"#;
    [
        (read_heightmap, heightmaps()),
        (read_texture, images),
        (read_project, projects),
        (read_sidecar, vec![("s.json".to_string(), sidecar.to_vec())]),
    ]
}

/// A PNG with a palette and transparency, which the encoder of the image crate does not write.
fn png_with_palette() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 16, 16);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Four);
    encoder.set_palette((0..48).collect::<Vec<u8>>());
    encoder.set_trns(vec![0, 128, 255]);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&(0..128).collect::<Vec<u8>>()).expect("pixels");
    writer.finish().expect("finished");
    bytes
}

/// Reads `count` malformed files of each format: half of them with changed bytes, the others with mutated structure.
fn check_malformed_files(count: u64, seed: u64) {
    let before = peak_bytes();
    for (read, files) in readers() {
        for (name, file) in &files {
            let path = Path::new(name);
            assert_eq!(read(path, file), Ok(()), "{name}");
            let of_format = files.iter().filter(|(other, _)| other == name).count() as u64;
            let problem = (0..count / of_format).into_par_iter().find_map_any(|case| {
                let mut numbers = Numbers((case ^ seed).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ file.len() as u64);
                let mutate = if case % 2 == 0 { changed_several_bytes } else { mutated };
                let bytes = mutate(name, file, &mut numbers);
                let start = ThreadTime::now();
                let outcome = catch_unwind(AssertUnwindSafe(|| read(path, &bytes)));
                let time = start.elapsed();
                let problem = match outcome {
                    Err(_) => "it panicked".to_string(),
                    Ok(Err(problem)) => problem,
                    Ok(Ok(())) if time > MAX_TIME => format!("it took {time:?}"),
                    Ok(Ok(())) => return None,
                };
                Some(format!("case {case} of {name} of {} bytes: {problem}\n{:02x?}", file.len(), bytes))
            });
            assert_eq!(problem, None);
        }
    }
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        assert!(after - before < MAX_BYTES, "{} MiB", (after - before) >> 20);
    }
}

fn changed_several_bytes(_: &str, file: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    (0..=numbers.below(4)).fold(file.to_vec(), |file, _| changed_bytes(&file, numbers))
}

#[test]
fn malformed_files_are_read_or_refused() {
    in_own_process("malformed::malformed_files_are_read_or_refused", || check_malformed_files(500, 0));
}

/// The mutations differ from day to day. A failure prints the file. `UPTHRUST_FILES=63000` reads a million files: that
/// many of each of the sixteen formats.
#[test]
#[ignore = "slow: reads many files"]
fn nightly_many_malformed_files_are_read_or_refused() {
    let files = crate::common::setting("UPTHRUST_FILES", 3000);
    let today =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs() / 86_400;
    let name = "malformed::nightly_many_malformed_files_are_read_or_refused";
    in_own_process(name, || check_malformed_files(files, today << 32));
}
