//! Reading textures back from the GPU.

use std::time::Duration;

use super::device::checked;

/// How long the GPU may take for a band of an image.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A copy of a texture that the GPU is writing to a buffer.
pub(super) struct Readback {
    device: wgpu::Device,
    buffer: wgpu::Buffer,
    size: [u32; 2],
    row_bytes: u32,
}

impl Readback {
    /// Submits the copy of a texture with four bytes per texel.
    pub(super) fn submit(device: &wgpu::Device, queue: &wgpu::Queue, texture: &wgpu::Texture) -> Self {
        let size = [texture.width(), texture.height()];
        let row_bytes = (4 * size[0]).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: u64::from(row_bytes) * u64::from(size[1]),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&Default::default());
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row_bytes), rows_per_image: None };
        let copy = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), copy, texture.size());
        queue.submit([encoder.finish()]);
        Self { device: device.clone(), buffer, size, row_bytes }
    }

    /// Waits for the texels.
    pub(super) fn texels(&self) -> Result<Vec<[u8; 4]>, String> {
        // Mapping fails on a lost device.
        checked(&self.device, || self.buffer.map_async(wgpu::MapMode::Read, .., |_| ()))?;
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(TIMEOUT) };
        self.device.poll(wait).map_err(|error| error.to_string())?;
        let bytes = self.buffer.get_mapped_range(..).map_err(|error| error.to_string())?;
        let [width, height] = self.size.map(|side| side as usize);
        let mut texels = Vec::with_capacity(width * height);
        for row in bytes.chunks(self.row_bytes as usize).take(height) {
            texels.extend(row.as_chunks::<4>().0.iter().take(width));
        }
        Ok(texels)
    }
}
