//! Background threads.
//!
//! Each thread is a [`Runner`] with a [`Worker`]: one computes the preview, one the analysis, one the scattered
//! instances, one the thumbnails, one runs exports; the loops of their work run on thread pools. The preview and the
//! analysis compute the newest request and cancel stale ones; exports and thumbnails are queued. The interface submits
//! plain requests and polls for results; it never waits. A panic in a job becomes a [`JobError`].

mod analysis;
mod export;
mod job;
mod play;
mod preview;
mod runner;
mod scatter;
mod seed_search;
mod target_check;
#[cfg(test)]
mod test_support;
mod thumbnails;

pub use analysis::{Analyser, AnalysisRequest, AnalysisResult, LandformStats, SLOPE_BIN_DEG, Slopes};
pub use export::{ExportOutcome, ExportStatus, Exporter};
pub use job::{JobError, Wake};
pub use play::{DrawnMap, PlayMeasurer, PlayRequest, PlayResult};
pub use preview::{Preview, PreviewRequest, Previewer};
pub use runner::{JobContext, Labelled, Policy, Runner, RunnerConfig, Shutdown, Status, Worker};
pub use scatter::{ScatterRequest, ScatterResult, Scatterer};
pub use seed_search::{SeedSearchRequest, SeedSearcher};
pub use target_check::{TargetCheck, check_targets};
pub use thumbnails::{
    ImageBytes, ReadThumbnail, Thumbnail, ThumbnailRequest, ThumbnailSource, ThumbnailStyle, Thumbnailer,
};

pub use crate::files::import::InputFiles;
