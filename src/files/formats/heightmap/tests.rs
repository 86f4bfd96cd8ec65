//! Round trips and invalid files, for every format.

use std::path::Path;

use super::format::{ReadOptions, WrittenFormat};
use super::holes::{HoleFilling, Holes};
use super::layout::{RawLayout, RawSample};
use super::read::{decode, read, read_bytes};
use super::testing::{marked, written};
use super::write::check_size;
use crate::engine::parameters::Band;

#[track_caller]
fn check_round_trip(name: &str, layout: Option<&str>, tolerance_m: f32) {
    let (terrain, range) = (marked(), Band { min: -10.0, max: 500.0 });
    let raw = layout.map(|layout| layout.parse::<RawLayout>().expect("valid"));
    let bytes = written(name, &terrain, range, raw);
    let with_size = raw.or((name.ends_with("r16")).then_some(RawLayout::square(RawSample::U16Le)));
    let with_size = with_size.or((name.ends_with("r32")).then_some(RawLayout::square(RawSample::F32Le)));
    let raw = with_size.map(|layout| RawLayout { size: Some([7, 5]), ..layout });
    let loaded = decode(Path::new(name), &bytes, raw).expect("readable");
    assert_eq!((loaded.raster.width, loaded.raster.height), (7, 5), "{name}");
    for (height, expected) in loaded.into_metres(Some(range)).iter().zip(terrain.heights()) {
        assert!((height - expected).abs() <= tolerance_m, "{name} {layout:?}: {height} for {expected}");
    }
}

#[test]
fn every_format_round_trips_with_its_corners_in_place() {
    let half_step = |max_value: f32| 0.5 * 510.0 / max_value + 1e-4;
    check_round_trip("a.png", None, half_step(65_535.0));
    check_round_trip("a.pgm", None, half_step(65_535.0));
    check_round_trip("a.r16", None, half_step(65_535.0));
    check_round_trip("a.RAW", Some("u16be"), half_step(65_535.0));
    check_round_trip("a.raw", Some("u8"), half_step(255.0));
    check_round_trip("a.raw", Some("i16le"), 0.5);
    check_round_trip("a.raw", Some("f32be"), 0.0);
    check_round_trip("a.r32", None, 0.0);
    check_round_trip("a.r32", Some("f32be"), 0.0);
    check_round_trip("a.xy", None, 0.5);
    check_round_trip("a.asc", None, 0.0);
    check_round_trip("a.exr", None, 0.0);
    check_round_trip("a.tif", None, 0.0);
    check_round_trip("a.TIFF", None, 0.0);
    check_round_trip("a.bmp", None, half_step(255.0));
    check_round_trip("a.tga", None, half_step(255.0));
    // The sharp mark causes ringing in its whole block.
    check_round_trip("a.jpg", None, 60.0);
}

#[track_caller]
fn check_refused(name: &str, bytes: &[u8], message: &str) {
    let error = decode(Path::new(name), bytes, None).expect_err("must be refused").to_string();
    assert!(error.starts_with(name) && error.contains(message), "{error}");
}

#[test]
fn invalid_files_are_refused_with_the_reason() {
    let png = written("a.png", &marked(), Band { min: 0.0, max: 1.0 }, None);
    for format in WrittenFormat::ALL {
        let name = format!("a.{}", format.extensions()[0]);
        check_refused(&name, &[], "empty");
        let bytes = written(&name, &marked(), Band { min: 0.0, max: 500.0 }, None);
        // A truncated headerless file may be a smaller square, so it cannot be detected.
        for length in (1..bytes.len().min(60)).chain([bytes.len() / 2]).filter(|_| !format.is_raw()) {
            assert!(decode(Path::new(&name), &bytes[..length], None).is_err(), "{name}: {length} bytes");
        }
    }
    check_refused("a.xyz", &png, ".png .r16");
    check_refused("a", &png, ".png .r16");
    check_refused("a.png", b"This is not an image", "a.png: ");
    check_refused("a.raw", &[0; 22], "11 samples are not a square");
    check_refused("a.xy", &[0xff; 20], "not a supported size");
    check_refused("a.pgm", b"P5 99999999 99999999 255 ", "not a supported size");
    check_refused("a.asc", b"ncols 4000000000\nnrows 2\n1 2", "not a supported size");
    check_refused("a.r32", &[0, 0, 0xc0, 0x7f].repeat(4), "none of its samples");
}

#[test]
fn huge_sizes_in_headers_are_refused_before_allocation() {
    let mut png = written("a.png", &marked(), Band { min: 0.0, max: 1.0 }, None);
    png[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    assert!(decode(Path::new("a.png"), &png, None).is_err());
}

#[cfg(unix)]
#[test]
fn devices_and_folders_are_not_read() {
    let folder = tempfile::tempdir().expect("folder");
    let endless = folder.path().join("a.raw");
    std::os::unix::fs::symlink("/dev/zero", &endless).expect("linked");
    let folder_named_so = folder.path().join("b.raw");
    std::fs::create_dir(&folder_named_so).expect("made");
    for path in [endless, folder_named_so] {
        let error = read(&path, None).expect_err("refused").to_string();
        assert!(error.contains("not a regular file"), "{error}");
    }
}

#[test]
fn holes_are_filled_and_noted() {
    let bytes: Vec<u8> = [7.0, f32::NAN, 3.0, f32::INFINITY].iter().flat_map(|h: &f32| h.to_le_bytes()).collect();
    let loaded = decode(Path::new("a.r32"), &bytes, None).expect("readable");
    assert_eq!(loaded.raster.samples, [7.0, 17.0 / 3.0, 3.0, 13.0 / 3.0]);
    assert!(loaded.notes.iter().any(|note| note.starts_with("2 samples")), "{:?}", loaded.notes);
    assert_eq!(loaded.holes, Holes { count: 2, undeclared: None });
}

#[test]
fn the_user_decides_what_holes_become() {
    let bytes: Vec<u8> = [7.0, -9999.0, 3.0, f32::NAN].iter().flat_map(|h: &f32| h.to_le_bytes()).collect();
    let cases = [
        (HoleFilling::Interpolated, [7.0, 17.0 / 3.0, 3.0, 13.0 / 3.0], 2, false),
        (HoleFilling::Lowest, [7.0, 3.0, 3.0, 3.0], 2, true),
        (HoleFilling::OnlyDeclared, [7.0, -9998.999, 3.0, -4997.9995], 1, true),
    ];
    for (filling, heights, count, needs_conversion) in cases {
        let options = ReadOptions { holes: filling, ..Default::default() };
        let loaded = read_bytes(Path::new("a.r32"), &bytes, &options).expect("readable");
        assert_eq!(loaded.raster.samples, heights, "{filling:?}");
        assert_eq!(loaded.holes, Holes { count, undeclared: Some(-9999.0) }, "{filling:?}");
        assert_eq!(loaded.needs_conversion, needs_conversion, "{filling:?}");
    }
    // Without holes, nothing has to be converted.
    let options = ReadOptions { holes: HoleFilling::Lowest, ..Default::default() };
    assert!(!read_bytes(Path::new("a.r32"), &[0; 16], &options).expect("readable").needs_conversion);
}

#[test]
fn maps_that_exceed_the_limits_of_the_format_are_refused() {
    assert_eq!(check_size(Path::new("a.png"), [65_537, 65_537], None), Ok(()));
    let error = check_size(Path::new("a.tga"), [65_537, 2], None).expect_err("too wide");
    assert!(error.to_string().contains("65535"), "{error}");
    let raw = Some(RawLayout { size: Some([3, 3]), ..RawLayout::square(RawSample::U8) });
    assert!(check_size(Path::new("a.raw"), [4, 3], raw).is_err());
    assert!(check_size(Path::new("a.raw"), [3, 3], "u8+16".parse().ok()).is_err(), "headers are not written");
    assert!(check_size(Path::new("a.png"), [3, 3], raw).is_err());
}

#[test]
fn large_integers_are_values_and_no_holes() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut file = tiff::encoder::TiffEncoder::new(&mut bytes).expect("begun");
    file.write_image::<tiff::encoder::colortype::Gray32>(2, 2, &[0, 1, 2_000_000_000, u32::MAX]).expect("written");
    let loaded = decode(Path::new("a.tif"), &bytes.into_inner(), None).expect("readable");
    assert_eq!(loaded.raster.samples[1..], [1.0, 2e9, u32::MAX as f32]);
    assert!(loaded.notes.iter().all(|note| !note.contains("without a height")), "{:?}", loaded.notes);
}
