//! Thumbnails as GPU textures: requested once, drawn by a background thread, kept until they are removed.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Color32, ColorImage, Context, TextureHandle, TextureOptions};

use crate::engine::Image;
use crate::engine::parameters::{FileName, TextureName};
use crate::files::import::SHIPPED_TEXTURES;
use crate::worker::{ImageBytes, InputFiles, Thumbnail, ThumbnailRequest, ThumbnailSource, Thumbnailer, Wake};

/// The state of a requested thumbnail.
pub(crate) enum ThumbnailState {
    Pending,
    Failed,
    Ready(TextureHandle),
}

/// The side of a texture's thumbnail, pixels: two per point of the largest one that is shown.
const TEXTURE_PIXELS: usize = 128;

/// All thumbnails by name.
pub(crate) struct Thumbnails {
    thumbnailer: Thumbnailer,
    states: BTreeMap<String, ThumbnailState>,
    /// Whether thumbnails of textures wait to be requested again.
    pub(crate) is_paused: bool,
}

impl Thumbnails {
    pub(crate) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self { thumbnailer: Thumbnailer::start(wake)?, states: BTreeMap::new(), is_paused: false })
    }

    /// Requests a thumbnail of a recipe unless one with that key was requested before; `request` is only called then.
    pub(crate) fn request(&mut self, key: &str, request: impl FnOnce() -> ThumbnailRequest) {
        if !self.states.contains_key(key) {
            self.thumbnailer.request(request());
            self.states.insert(key.into(), ThumbnailState::Pending);
        }
    }

    /// Requests the thumbnail of a texture unless it was requested before.
    pub(crate) fn request_texture(&mut self, name: &TextureName, files: &InputFiles) {
        if self.is_paused {
            return;
        }
        let key = texture_key(name, files);
        if self.states.contains_key(&key) {
            return;
        }
        let shipped = SHIPPED_TEXTURES
            .iter()
            .find(|(known, _)| *known == name.0)
            .map(|(_, bytes)| Arc::new(*bytes) as ImageBytes);
        let imported = || files.get(&FileName(name.0.clone())).map(|bytes| bytes.clone() as ImageBytes);
        let state = match shipped.or_else(imported) {
            Some(bytes) => {
                self.thumbnailer.request_material(key.clone(), bytes, TEXTURE_PIXELS);
                ThumbnailState::Pending
            }
            None => ThumbnailState::Failed,
        };
        self.states.insert(key, state);
    }

    /// Requests the thumbnail of a file unless one with that key was requested before. `read` runs on another thread.
    pub(crate) fn request_file(
        &mut self,
        key: &str,
        read: impl FnOnce() -> Result<ThumbnailSource, String> + Send + 'static,
    ) {
        if !self.states.contains_key(key) {
            self.thumbnailer.request_unread(key.into(), Box::new(read), TEXTURE_PIXELS);
            self.states.insert(key.into(), ThumbnailState::Pending);
        }
    }

    /// The thumbnail of a texture, once it is ready.
    pub(crate) fn texture(&self, name: &TextureName, files: &InputFiles) -> Option<&TextureHandle> {
        match self.states.get(&texture_key(name, files)) {
            Some(ThumbnailState::Ready(texture)) => Some(texture),
            Some(ThumbnailState::Pending | ThumbnailState::Failed) | None => None,
        }
    }

    /// Removes the thumbnails whose keys begin with `prefix`, and cancels those that are still pending.
    pub(crate) fn remove(&mut self, prefix: &str) {
        self.thumbnailer.discard(prefix);
        self.states.retain(|key, _| !key.starts_with(prefix));
    }

    /// Uploads the thumbnails that were drawn since the last call.
    pub(crate) fn receive(&mut self, ctx: &Context) {
        while let Some(Thumbnail { key, image }) = self.thumbnailer.take() {
            // Thumbnails that were removed meanwhile are dropped.
            if let Some(state) = self.states.get_mut(&key) {
                *state = match image {
                    Ok(image) => ThumbnailState::Ready(upload(ctx, &key, &image)),
                    // The item can still be chosen, and the user could not do anything about the error.
                    Err(_) => ThumbnailState::Failed,
                };
            }
        }
    }

    /// The keys of all thumbnails.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.states.keys()
    }

    /// The thumbnail with that key; `None` if it was not requested.
    pub(crate) fn get(&self, key: &str) -> Option<&ThumbnailState> {
        self.states.get(key)
    }
}

/// The key of a texture's thumbnail, which depends on the bytes too: another project may hold another image under the
/// same name.
fn texture_key(name: &TextureName, files: &InputFiles) -> String {
    let bytes = files.get(&FileName(name.0.clone())).map_or(&[][..], |bytes| bytes.as_slice());
    let step = (bytes.len() / 256).max(1);
    let hash = bytes.iter().step_by(step).fold(bytes.len() as u64, |hash, byte| {
        hash.rotate_left(9).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(*byte)
    });
    format!("texture {} {hash:x}", name.0)
}

/// Uploads an image to the GPU.
pub(crate) fn upload(ctx: &Context, name: &str, image: &Image) -> TextureHandle {
    ctx.load_texture(name, color_image(image), TextureOptions::LINEAR)
}

/// The image without its alpha channel, as egui uploads it.
pub(crate) fn color_image(image: &Image) -> ColorImage {
    let pixels = image.pixels.iter().map(|&[r, g, b, _]| Color32::from_rgb(r, g, b)).collect();
    ColorImage::new([image.width, image.height], pixels)
}
