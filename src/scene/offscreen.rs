//! Rendering to images, without a window.

use std::path::{Path, PathBuf};

use super::gpu::device::GpuDevice;
use super::gpu::renderer::SceneRenderer;
use super::params::RenderParams;
use crate::engine::{Image, Progress};

/// Renders images on its own device, or on one shared with a window.
pub(crate) struct OffscreenRenderer {
    renderer: SceneRenderer,
}

impl OffscreenRenderer {
    /// Uses the best adapter of the system, which may be a software renderer.
    pub(crate) fn with_default_adapter() -> Result<Self, String> {
        Self::with_device(&GpuDevice::request()?)
    }

    /// Uses a device that may be shared.
    pub(crate) fn with_device(device: &GpuDevice) -> Result<Self, String> {
        let renderer = SceneRenderer::offline(device);
        Ok(Self {
            renderer: renderer.map_err(|error| format!("the graphics adapter cannot draw the terrain: {error}"))?,
        })
    }

    /// Renders an image with the camera turned around its pivot by a share of a full circle, and waits for it. Fails
    /// when `progress` is cancelled.
    pub(crate) fn render(
        &mut self,
        params: &RenderParams,
        size: [u32; 2],
        turn: f32,
        progress: &Progress,
    ) -> Result<Image, String> {
        let image = self.renderer.render_image(&params.frame(size, turn), progress);
        image.map_err(|error| format!("the graphics adapter could not render the image: {error}"))
    }
}

/// The maximum number of bytes that rendering needs, in addition to the terrain and its colours: the terrain's textures
/// (heights and slopes, colours with their mip levels, light), the image and its encoder. The render target has few
/// rows.
pub(crate) fn render_memory_bytes([width, height]: [u32; 2], samples: usize) -> u64 {
    const TEXTURES: u64 = 4 + 6 + 6 + 2;
    const PIXEL: u64 = 8;
    TEXTURES * samples as u64 + PIXEL * u64::from(width) * u64::from(height)
}

/// The files of a turntable: for out.png these are out_000.png, out_001.png and so on.
pub(crate) fn turntable_paths(path: &Path, count: u32) -> Vec<PathBuf> {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_os_string();
    let numbered = |number: u32| {
        let mut name = part(path.file_stem());
        name.push(format!("_{number:03}."));
        name.push(part(path.extension()));
        path.with_file_name(name)
    };
    (0..count).map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turntable_files_are_numbered() {
        let paths = turntable_paths(Path::new("out/land.v2.png"), 3);
        assert_eq!(paths, ["out/land.v2_000.png", "out/land.v2_001.png", "out/land.v2_002.png"].map(PathBuf::from));
    }
}
