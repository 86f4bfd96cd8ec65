//! The reader of material textures. `cargo +nightly fuzz run textures`
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use upthrust::files::swatches::picture;

fuzz_target!(|bytes: &[u8]| {
    let _ = picture(Path::new("a"), bytes);
});
