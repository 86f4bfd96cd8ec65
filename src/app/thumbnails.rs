//! Thumbnails on the graphics card: asked for once, drawn by their own thread, kept until the program ends.

use std::collections::BTreeMap;

use egui::{Color32, ColorImage, Context, TextureHandle, TextureOptions};

use crate::engine::Picture;
use crate::worker::{Thumbnail, ThumbnailRequest, Thumbnailer, Wake};

/// What there is under a name.
pub(super) enum Shown {
    /// It is being drawn.
    Awaited,
    /// It could not be drawn.
    Failed,
    /// Here it is.
    Drawn(TextureHandle),
}

/// All thumbnails by name.
pub(super) struct Thumbnails {
    thumbnailer: Thumbnailer,
    known: BTreeMap<String, Shown>,
}

impl Thumbnails {
    pub(super) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self { thumbnailer: Thumbnailer::start(wake)?, known: BTreeMap::new() })
    }

    /// Has a picture drawn, unless one of that name has been asked for before; only then its order is made.
    pub(super) fn ask(&mut self, key: &str, request: impl FnOnce() -> ThumbnailRequest) {
        if !self.known.contains_key(key) {
            self.thumbnailer.request(request());
            self.known.insert(key.into(), Shown::Awaited);
        }
    }

    /// Takes what has been drawn.
    pub(super) fn receive(&mut self, ctx: &Context) {
        while let Some(Thumbnail { key, picture }) = self.thumbnailer.take() {
            let shown = match picture {
                Ok(picture) => {
                    Shown::Drawn(ctx.load_texture(&key, image_from_picture(&picture), TextureOptions::LINEAR))
                }
                // A card without a picture can still be chosen: nothing that the user could do about it.
                Err(_) => Shown::Failed,
            };
            self.known.insert(key, shown);
        }
    }

    /// The picture of that name; `None` if it has not been asked for.
    pub(super) fn get(&self, key: &str) -> Option<&Shown> {
        self.known.get(key)
    }
}

/// A picture as the graphics card takes it.
pub(super) fn image_from_picture(picture: &Picture) -> ColorImage {
    let pixels = picture.pixels.iter().map(|&[r, g, b, _]| Color32::from_rgb(r, g, b)).collect();
    ColorImage::new([picture.width, picture.height], pixels)
}
