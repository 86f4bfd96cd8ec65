//! Requests for tests.

use std::sync::Arc;

use super::request::PreviewRequest;
use crate::engine::map_view::MapView;
use crate::engine::operations::faults::Faults;
use crate::engine::operations::recursive_filter::RecursiveFilter;
use crate::engine::texture::TextureView;
use crate::engine::{Recipe, Step};
use crate::files::import::InputFiles;

pub(super) fn request_for(faults: Faults, samples: usize) -> PreviewRequest {
    PreviewRequest {
        recipe: Arc::new(Recipe { stack: vec![Step::new(faults)], ..Default::default() }),
        files: InputFiles::new(),
        samples,
        position: u32::MAX,
        map_view: MapView::Grey,
        texture_view: TextureView::Lit,
        reported_step: None,
        is_animated: false,
    }
}

pub(super) fn request(count: u32, samples: usize) -> PreviewRequest {
    request_for(Faults { count, ..Default::default() }, samples)
}

/// Far more work than a test waits for.
pub(super) fn endless(samples: usize) -> PreviewRequest {
    let wind = RecursiveFilter { passes: 100, ..Default::default() };
    request_for(Faults { count: 1_000_000, wind: Some(wind), ..Default::default() }, samples)
}
