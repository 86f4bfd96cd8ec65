//! The sidecar reader. `cargo +nightly fuzz run sidecars`
#![no_main]

use libfuzzer_sys::fuzz_target;
use upthrust::files::formats::sidecar::Sidecar;

fuzz_target!(|text: &str| {
    let _ = Sidecar::from_json(text);
});
