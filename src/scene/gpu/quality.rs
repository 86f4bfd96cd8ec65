//! How much detail is drawn, depending on the speed of the adapter.

/// The level of detail of a renderer.
#[derive(Clone, Copy)]
pub(super) struct Quality {
    /// Pixels along a side of a quad of the terrain's mesh.
    pub(super) quad_px: f32,
    /// Texels along the longer side of the texture of shadows and occlusion, and the steps of their rays.
    pub(super) light_texels: u32,
    pub(super) sun_steps: f64,
    pub(super) sky_steps: f64,
    pub(super) anisotropy: u16,
    /// The most scattered instances in an image, and in a fast one.
    pub(super) instances: [u32; 2],
    /// Pixels of an image drawn at once. Other GPU work, mainly the window, waits at most for one such band.
    pub(super) band_px: u32,
}

impl Quality {
    pub(super) const HARDWARE: Self = Self {
        quad_px: 2.5,
        light_texels: 1025,
        sun_steps: 128.0,
        sky_steps: 12.0,
        anisotropy: 8,
        instances: [500_000, 200_000],
        band_px: 1 << 22,
    };

    /// On a software renderer, for images that may be slow. Anisotropic filtering is most expensive there.
    pub(super) const SOFTWARE_OFFLINE: Self = Self {
        quad_px: 3.0,
        light_texels: 513,
        sun_steps: 96.0,
        sky_steps: 8.0,
        anisotropy: 1,
        instances: [200_000, 200_000],
        band_px: 1 << 17,
    };

    /// On a software renderer, while the user waits.
    pub(super) const SOFTWARE_INTERACTIVE: Self = Self {
        quad_px: 6.0,
        light_texels: 257,
        sun_steps: 40.0,
        sky_steps: 5.0,
        instances: [20_000, 4000],
        ..Self::SOFTWARE_OFFLINE
    };
}
