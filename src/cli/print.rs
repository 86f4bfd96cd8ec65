//! Printing to whoever may have stopped listening: a closed pipe (`| head`) is no error.

use std::io::{self, Write};

/// Prints a line to standard output.
pub fn say(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// Prints a line to standard error.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints lines to standard output, many at a time, until nobody listens any more.
pub fn say_all(lines: impl IntoIterator<Item = String>) {
    let mut writer = io::BufWriter::new(io::stdout().lock());
    for line in lines {
        if writeln!(writer, "{line}").is_err() {
            return;
        }
    }
    let _ = writer.flush();
}
