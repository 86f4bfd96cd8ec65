//! The reader of material textures. `cargo +nightly fuzz run textures`
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use upthrust::files::formats::image_decode::decode_texture;

fuzz_target!(|bytes: &[u8]| {
    let _ = decode_texture(Path::new("a"), bytes);
});
