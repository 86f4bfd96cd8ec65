//! The reader of pictures of ground. `cargo +nightly fuzz run pictures`
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use upthrust::files::swatches::picture;

fuzz_target!(|bytes: &[u8]| {
    let _ = picture(Path::new("a"), bytes);
});
