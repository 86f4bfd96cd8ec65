//! The shipped ground textures: their size, their seams, their differences; and that the program makes them the same
//! at any number of threads.

use std::path::Path;

use image::RgbImage;
use synthesis::Ground;

#[path = "../../examples/textures/synthesis/mod.rs"]
mod synthesis;

fn shipped() -> impl Iterator<Item = (&'static str, RgbImage)> {
    Ground::ALL.iter().map(|ground| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(format!("{}.jpg", ground.name));
        let picture = image::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (ground.name, picture.into_rgb8())
    })
}

/// The mean difference of two columns, over their pixels and channels.
fn columns_apart(picture: &RgbImage, left: u32, right: u32) -> f64 {
    let pairs = (0..picture.height()).map(|y| (picture.get_pixel(left, y).0, picture.get_pixel(right, y).0));
    let sum: u32 = pairs.flat_map(|(a, b)| (0..3).map(move |i| u32::from(a[i].abs_diff(b[i])))).sum();
    f64::from(sum) / f64::from(3 * picture.height())
}

#[test]
fn every_texture_tiles() {
    for (name, picture) in shipped() {
        assert_eq!(picture.dimensions(), (1024, 1024), "{name}");
        for (way, picture) in [("columns", picture.clone()), ("rows", image::imageops::rotate90(&picture))] {
            let last = picture.width() - 1;
            let inside = (0..last).map(|x| columns_apart(&picture, x, x + 1)).sum::<f64>() / f64::from(last);
            let seam = columns_apart(&picture, last, 0);
            assert!(seam <= 1.3 * inside, "{name}, {way}: {seam:.2} at the seam, {inside:.2} inside");
        }
    }
}

#[test]
fn no_two_textures_have_the_same_colour() {
    let mean = |picture: &RgbImage| {
        let mut sums = [0_u64; 3];
        for pixel in picture.pixels() {
            for (sum, channel) in sums.iter_mut().zip(pixel.0) {
                *sum += u64::from(channel);
            }
        }
        sums.map(|sum| sum as f64 / f64::from(picture.width() * picture.height()))
    };
    let means: Vec<_> = shipped().map(|(name, picture)| (name, mean(&picture))).collect();
    for (i, (name, a)) in means.iter().enumerate() {
        for (other, b) in &means[..i] {
            let apart: f64 = (0..3).map(|channel| (a[channel] - b[channel]).abs()).sum();
            assert!(apart > 6.0, "{name} {a:?} and {other} {b:?}");
        }
    }
}

#[test]
fn every_thread_count_makes_the_same_texture() {
    let made = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        pool.install(|| Ground::ALL.map(|ground| ground.picture(64)))
    };
    let (one, seven) = (made(1), made(7));
    for (ground, (a, b)) in Ground::ALL.iter().zip(one.iter().zip(&seven)) {
        assert!(a == b, "{}", ground.name);
        assert!(ground.metres > 0.0 && a.dimensions() == (64, 64), "{}", ground.name);
    }
}
