//! The built-in material textures, and the example program that generates them.

use std::path::Path;

use image::RgbImage;
use synthesis::Material;

#[path = "../../examples/textures/synthesis/mod.rs"]
mod synthesis;

fn built_in() -> impl Iterator<Item = (&'static str, RgbImage)> {
    Material::ALL.iter().map(|material| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(format!("{}.jpg", material.name));
        let texture = image::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (material.name, texture.into_rgb8())
    })
}

/// The mean difference between two columns, over pixels and channels.
fn column_difference(texture: &RgbImage, left: u32, right: u32) -> f64 {
    let pairs = (0..texture.height()).map(|y| (texture.get_pixel(left, y).0, texture.get_pixel(right, y).0));
    let sum: u32 = pairs.flat_map(|(a, b)| (0..3).map(move |i| u32::from(a[i].abs_diff(b[i])))).sum();
    f64::from(sum) / f64::from(3 * texture.height())
}

#[test]
fn textures_tile_seamlessly() {
    for (name, texture) in built_in() {
        assert_eq!(texture.dimensions(), (1024, 1024), "{name}");
        for (way, texture) in [("columns", texture.clone()), ("rows", image::imageops::rotate90(&texture))] {
            let last = texture.width() - 1;
            let columns = (0..last).step_by(8);
            let count = columns.len() as f64;
            let inside = columns.map(|x| column_difference(&texture, x, x + 1)).sum::<f64>() / count;
            let seam = column_difference(&texture, last, 0);
            assert!(seam <= 1.3 * inside, "{name}, {way}: {seam:.2} at the seam, {inside:.2} inside");
        }
    }
}

#[test]
fn textures_differ_in_their_mean_colour() {
    let mean = |texture: &RgbImage| {
        let mut sums = [0_u64; 3];
        for pixel in texture.pixels() {
            for (sum, channel) in sums.iter_mut().zip(pixel.0) {
                *sum += u64::from(channel);
            }
        }
        sums.map(|sum| sum as f64 / f64::from(texture.width() * texture.height()))
    };
    let means: Vec<_> = built_in().map(|(name, texture)| (name, mean(&texture))).collect();
    for (i, (name, a)) in means.iter().enumerate() {
        for (other, b) in &means[..i] {
            let apart: f64 = (0..3).map(|channel| (a[channel] - b[channel]).abs()).sum();
            assert!(apart > 6.0, "{name} {a:?} and {other} {b:?}");
        }
    }
}

#[test]
fn thread_count_does_not_change_the_textures() {
    let made = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        pool.install(|| Material::ALL.map(|material| material.texture(32)))
    };
    let (one, seven) = (made(1), made(7));
    for (material, (a, b)) in Material::ALL.iter().zip(one.iter().zip(&seven)) {
        assert!(a == b, "{}", material.name);
        assert!(material.metres > 0.0 && a.dimensions() == (32, 32), "{}", material.name);
    }
}
