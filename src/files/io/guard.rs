//! Turns panics in third-party decoders into errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::error::FileError;

thread_local! {
    /// Whether a panic on this thread will be caught and reported.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder. Some files make decoders of other crates panic; this turns the panic into an error that names the
/// file.
pub fn guard_decoder<T>(path: &Path, decode: impl FnOnce() -> Result<T, FileError>) -> Result<T, FileError> {
    let was_guarded = IS_GUARDED.replace(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(was_guarded);
    decoded.unwrap_or_else(|payload| {
        let reason = panic_message(payload.as_ref());
        let problem = format!("its decoder failed ({reason}); the file is probably damaged: export or copy it again");
        Err(FileError::invalid(path, problem))
    })
}

/// The message of a panic.
pub fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

/// Keeps panics that [`guard_decoder`] reports off the standard error.
pub fn silence_guarded_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !IS_GUARDED.get() {
            default(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panicking_decoder_is_an_error_that_names_the_file() {
        let path = Path::new("a/b.png");
        assert_eq!(guard_decoder(path, || Ok(5)), Ok(5));
        let error = guard_decoder::<()>(path, || panic!("row {}", 7)).expect_err("a panic").to_string();
        assert!(error.starts_with("a/b.png: ") && error.contains("row 7"), "{error}");
        assert!(!IS_GUARDED.get());
    }
}
