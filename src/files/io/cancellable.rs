//! A writer that fails once its work is cancelled.

use std::io::{self, Seek, SeekFrom, Write};

use crate::engine::{Cancelled, Progress};

/// The I/O error of a cancelled write. Callers check the progress token afterwards and return their own error instead.
pub fn cancelled_error(Cancelled: Cancelled) -> io::Error {
    io::Error::other("cancelled")
}

/// Forwards writes until `progress` is cancelled; after that every write fails. This also stops third-party encoders,
/// which do not support cancellation.
pub struct CancellableWriter<'a, W> {
    inner: W,
    progress: &'a Progress,
}

impl<'a, W> CancellableWriter<'a, W> {
    /// Wraps a writer.
    pub fn new(inner: W, progress: &'a Progress) -> Self {
        Self { inner, progress }
    }
}

impl<W: Write> Write for CancellableWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.progress.check().map_err(cancelled_error)?;
        // Writes large buffers in parts, so that cancellation is checked often.
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
