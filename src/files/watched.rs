//! A writer that can be stopped.

use std::io::{self, Seek, SeekFrom, Write};

use crate::engine::{Cancelled, Monitor};

/// How a writer says that it was stopped. Whoever called it asks the monitor and puts its own words in place of these.
pub fn stopped(Cancelled: Cancelled) -> io::Error {
    io::Error::other("cancelled")
}

/// Hands everything on until the monitor is cancelled; then every write fails. So the encoders of others, which know
/// nothing of monitors, stop too.
pub struct Watched<'a, W> {
    inner: W,
    monitor: &'a Monitor,
}

impl<'a, W> Watched<'a, W> {
    /// Watches over a writer.
    pub fn new(inner: W, monitor: &'a Monitor) -> Self {
        Self { inner, monitor }
    }
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.monitor.check().map_err(stopped)?;
        // Large buffers go in pieces, so that the next check is never far.
        self.inner.write(&bytes[..bytes.len().min(1 << 22)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Seek> Seek for Watched<'_, W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
