//! All heightmap readers; the first byte selects the format. `cargo +nightly fuzz run heightmaps`
#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use upthrust::files::formats::heightmap::{Format, decode};

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, file)) = bytes.split_first() else { return };
    let format = Format::ALL[usize::from(*choice) % Format::ALL.len()];
    let path = PathBuf::from(format!("a.{}", format.extensions()[0]));
    let _ = decode(&path, file, None);
});
