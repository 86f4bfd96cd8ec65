//! Prints text. A closed pipe (`| head`) is no error; a full disk is.

use std::io::{self, BufWriter, Write};

use super::error::CliError;
pub use crate::files::io::terminal::print_error;

/// Prints a line to standard output.
pub fn print_line(line: &str) -> Result<(), CliError> {
    print_lines([line.to_string()])
}

/// Prints lines to standard output through a buffer, and stops when the pipe is closed.
pub fn print_lines(lines: impl IntoIterator<Item = String>) -> Result<(), CliError> {
    let mut writer = BufWriter::new(io::stdout().lock());
    let mut lines = lines.into_iter();
    let printed = lines.try_for_each(|line| writeln!(writer, "{line}")).and_then(|()| writer.flush());
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error.to_string())),
        Ok(()) | Err(_) => Ok(()),
    }
}
