//! Thumbnails on the graphics card: asked for once, drawn by their own thread, kept until they are forgotten.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Color32, ColorImage, Context, TextureHandle, TextureOptions};

use crate::engine::Image;
use crate::engine::parameters::{FileName, TextureName};
use crate::files::swatches::SHIPPED;
use crate::worker::{ImageBytes, InputFiles, Thumbnail, ThumbnailRequest, Thumbnailer, Wake};

/// What there is under a name.
pub(crate) enum ThumbnailState {
    /// It is being drawn.
    Awaited,
    /// It could not be drawn.
    Failed,
    /// Here it is.
    Drawn(TextureHandle),
}

/// How many pixels the picture of a ground has along a side: two a point of the largest that is shown.
const GROUND_PIXELS: usize = 128;

/// All thumbnails by name.
pub(crate) struct Thumbnails {
    thumbnailer: Thumbnailer,
    known: BTreeMap<String, ThumbnailState>,
}

impl Thumbnails {
    pub(crate) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self { thumbnailer: Thumbnailer::start(wake)?, known: BTreeMap::new() })
    }

    /// Has a picture drawn, unless one of that name has been asked for before; only then its order is made.
    pub(crate) fn ask(&mut self, key: &str, request: impl FnOnce() -> ThumbnailRequest) {
        if !self.known.contains_key(key) {
            self.thumbnailer.request(request());
            self.known.insert(key.into(), ThumbnailState::Awaited);
        }
    }

    /// Has the picture of a ground drawn, unless it has been asked for before.
    pub(crate) fn request_texture(&mut self, name: &TextureName, files: &InputFiles) {
        let key = ground_key(name, files);
        if self.known.contains_key(&key) {
            return;
        }
        let shipped =
            SHIPPED.iter().find(|(known, _)| *known == name.0).map(|(_, bytes)| Arc::new(*bytes) as ImageBytes);
        let own = || files.get(&FileName(name.0.clone())).map(|bytes| bytes.clone() as ImageBytes);
        let shown = match shipped.or_else(own) {
            Some(bytes) => {
                self.thumbnailer.request_material(key.clone(), bytes, GROUND_PIXELS);
                ThumbnailState::Awaited
            }
            None => ThumbnailState::Failed,
        };
        self.known.insert(key, shown);
    }

    /// The picture of a ground on the graphics card, if it is there.
    pub(crate) fn ground(&self, name: &TextureName, files: &InputFiles) -> Option<&TextureHandle> {
        match self.known.get(&ground_key(name, files)) {
            Some(ThumbnailState::Drawn(texture)) => Some(texture),
            Some(ThumbnailState::Awaited | ThumbnailState::Failed) | None => None,
        }
    }

    /// Forgets the pictures whose names begin so; those that wait are not drawn any more.
    pub(crate) fn forget(&mut self, prefix: &str) {
        self.thumbnailer.discard(prefix);
        self.known.retain(|key, _| !key.starts_with(prefix));
    }

    /// Takes what has been drawn.
    pub(crate) fn receive(&mut self, ctx: &Context) {
        while let Some(Thumbnail { key, image }) = self.thumbnailer.take() {
            if !self.known.contains_key(&key) {
                // Forgotten while it was being drawn.
                continue;
            }
            let shown = match image {
                Ok(image) => ThumbnailState::Drawn(ctx.load_texture(&key, color_image(&image), TextureOptions::LINEAR)),
                // A card without a picture can still be chosen: nothing that the user could do about it.
                Err(_) => ThumbnailState::Failed,
            };
            self.known.insert(key, shown);
        }
    }

    /// The picture of that name; `None` if it has not been asked for.
    pub(crate) fn get(&self, key: &str) -> Option<&ThumbnailState> {
        self.known.get(key)
    }
}

/// Under what name the thumbnail of a ground is kept: files of the same name may hold other pictures.
fn ground_key(name: &TextureName, files: &InputFiles) -> String {
    let bytes = files.get(&FileName(name.0.clone())).map_or(&[][..], |bytes| bytes.as_slice());
    let step = (bytes.len() / 256).max(1);
    let mark = bytes.iter().step_by(step).fold(bytes.len() as u64, |mark, byte| {
        mark.rotate_left(9).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*byte)
    });
    format!("ground {} {mark:x}", name.0)
}

/// A picture as the graphics card takes it.
pub(crate) fn color_image(picture: &Image) -> ColorImage {
    let pixels = picture.pixels.iter().map(|&[r, g, b, _]| Color32::from_rgb(r, g, b)).collect();
    ColorImage::new([picture.width, picture.height], pixels)
}
