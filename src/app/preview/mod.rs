//! The preview: what the worker is asked for, and how its results relate to the document.
//!
//! While the uplift plays, the playhead moves on when the preview of its iteration is on the screen, so every iteration
//! is shown however slow the machine. Comparing shows the state before the last edit; its preview is usually the one
//! that the edit replaced, and is requested only if it was never shown.

pub(crate) mod compare;
pub(crate) mod frame_timings;
pub(crate) mod playback;
pub(crate) mod request;
pub(crate) mod thumbnails;
pub(crate) mod variation_images;
