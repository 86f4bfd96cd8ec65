//! Messages to the terminal.

use std::io::Write;

/// Prints a line to standard error, which may have gone with its terminal: `eprintln!` would panic.
pub fn print_error(line: &str) {
    // There is nowhere else to report a failure.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
