//! Prints text and ignores a closed pipe (`| head`).

use std::io::{self, Write};

/// Prints a line to standard output.
pub fn print_line(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{line}");
}

/// Prints a line to standard error.
pub fn print_error(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints lines to standard output through a buffer, and stops when the pipe is closed.
pub fn print_lines(lines: impl IntoIterator<Item = String>) {
    let mut writer = io::BufWriter::new(io::stdout().lock());
    for line in lines {
        if writeln!(writer, "{line}").is_err() {
            return;
        }
    }
    let _ = writer.flush();
}
