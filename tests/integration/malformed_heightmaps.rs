//! Heightmap readers survive malformed files: they do not panic, and do not allocate more than the file justifies.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rayon::prelude::*;
use upthrust::engine::parameters::Band;
use upthrust::engine::{Extent, Grid, Heightfield, Progress};
use upthrust::files::formats::heightmap::{self, Encoding, Format, Rows};

use crate::common::in_own_process;

/// The most memory that reading may add to the peak, with all threads together.
const MAX_BYTES: u64 = 400 << 20;

/// Random numbers (splitmix64; Steele, Lea, Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % below.max(1) as u64) as usize
    }
}

/// Bytes that readers are likely to interpret.
const TRICKY: [&[u8]; 8] =
    [&[0], &[255; 4], &[127, 255, 255, 255], &[0, 0, 0, 128], &[1, 0, 1, 0], b"-1", b"99999999999", b"\n# \n"];

fn changed(file: &[u8], seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut bytes = file.to_vec();
    for _ in 0..=numbers.next(4) {
        // Two thirds of the changes are in the header, where most bugs are.
        let reach = if numbers.next(3) > 0 { bytes.len().min(120) } else { bytes.len() };
        let at = numbers.next(reach);
        match numbers.next(6) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, numbers.next(256) as u8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 if at < bytes.len() => bytes[at] ^= 1 << numbers.next(8),
            4 => {
                let tricky = TRICKY[numbers.next(TRICKY.len())];
                bytes.iter_mut().skip(at).zip(tricky).for_each(|(byte, new)| *byte = *new);
            }
            _ if at < bytes.len() => bytes[at] = numbers.next(256) as u8,
            _ => {}
        }
    }
    bytes
}

/// Valid files as this and other programs write them.
fn files() -> Vec<(String, Vec<u8>)> {
    let grid = Grid::new(Extent { width_m: 60.0, depth_m: 40.0 }, 21, 21);
    let terrain = Heightfield::from_fn(grid, |c, r| (c * 3 + r * 40) as f32 - 10.5);
    let range_m = Band { min: -10.5, max: 860.0 };
    let mut files = Vec::new();
    for format in Format::ALL {
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

/// Reads `count` changed files of each format.
fn check_changed_files(count: u64) {
    let before = peak_bytes();
    let files = files();
    for (name, file) in &files {
        assert!(heightmap::decode(Path::new(name), file, None).is_ok(), "{name} is valid");
        let of_format = files.iter().filter(|(other, _)| other == name).count() as u64;
        let panicked = (0..count / of_format).into_par_iter().find_any(|seed| {
            let bytes = changed(file, seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ file.len() as u64);
            catch_unwind(AssertUnwindSafe(|| drop(heightmap::decode(Path::new(name), &bytes, None)))).is_err()
        });
        assert_eq!(panicked, None, "{name} of {} bytes", file.len());
    }
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        assert!(after - before < MAX_BYTES, "{} MiB", (after - before) >> 20);
    }
}

#[test]
fn changed_files_are_read_or_refused() {
    in_own_process("malformed_heightmaps::changed_files_are_read_or_refused", || check_changed_files(500));
}

#[test]
#[ignore = "slow: reads 100,000 files"]
fn nightly_changed_files_are_read_or_refused() {
    in_own_process("malformed_heightmaps::nightly_changed_files_are_read_or_refused", || check_changed_files(10_000));
}
