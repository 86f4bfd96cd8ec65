//! A writer that can be stopped.

use std::io::{self, Seek, SeekFrom, Write};

use crate::engine::{Cancelled, Progress};

/// How a writer says that it was stopped. Whoever called it asks the monitor and puts its own words in place of these.
pub fn stopped(Cancelled: Cancelled) -> io::Error {
    io::Error::other("cancelled")
}

/// Hands everything on until the monitor is cancelled; then every write fails. So the encoders of others, which know
/// nothing of monitors, stop too.
pub struct CancellableWriter<'a, W> {
    inner: W,
    progress: &'a Progress,
}

impl<'a, W> CancellableWriter<'a, W> {
    /// Watches over a writer.
    pub fn new(inner: W, progress: &'a Progress) -> Self {
        Self { inner, progress }
    }
}

impl<W: Write> Write for CancellableWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.progress.check().map_err(stopped)?;
        // Large buffers go in pieces, so that the next check is never far.
        self.inner.write(&bytes[..bytes.len().min(1 << 22)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Seek> Seek for CancellableWriter<'_, W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
