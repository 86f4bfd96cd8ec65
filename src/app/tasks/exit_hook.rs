//! Runs a function when the process calls `exit`.
//!
//! The X11 client library ends the process that way, from inside a call, when the display goes away.

/// Runs `hook` when the process exits by returning from `main` or calling `exit`. Only the first call has an effect.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the standard library has no exit hooks")]
pub(crate) fn at_exit(hook: fn()) {
    use std::sync::OnceLock;

    static HOOK: OnceLock<fn()> = OnceLock::new();

    extern "C" fn run() {
        if let Some(hook) = HOOK.get() {
            // A panic must not unwind out of this function.
            let _ = std::panic::catch_unwind(hook);
        }
    }

    if HOOK.set(hook).is_ok() {
        // SAFETY: `run` is a function without captures, which lives as long as the process, takes no arguments and
        // never unwinds.
        unsafe {
            libc::atexit(run);
        }
    }
}

/// On other systems no library ends the process by itself.
#[cfg(not(unix))]
pub(crate) fn at_exit(_: fn()) {}
