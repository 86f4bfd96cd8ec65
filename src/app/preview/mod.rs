//! The preview: what the worker is asked for, and how its results relate to the document.

pub(crate) mod compare;
pub(crate) mod frame_timings;
pub(crate) mod playback;
pub(crate) mod request;
pub(crate) mod thumbnails;
