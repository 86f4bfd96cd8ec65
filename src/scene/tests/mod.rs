//! Tests of the camera and of rendered images, which need a graphics adapter; a software one is enough.

mod camera;
mod images;
mod lighting;
mod projection;
mod uploads;

use std::panic::{AssertUnwindSafe, catch_unwind};

use glam::{Vec2, Vec3};

use super::camera::Camera;
use super::frame::Frame;
use super::gpu::device::GpuDevice;
use super::gpu::renderer::SceneRenderer;
use super::params::RenderParams;
use super::projection::ViewProjection;
use super::scale::SceneScale;
use crate::engine::light::Light;
use crate::engine::{Extent, Grid, Heightfield, Image, Progress};

/// Half the size of a screen of 400 × 300 pixels.
const HALF_PX: Vec2 = Vec2::new(200.0, 150.0);

/// The scale of a world of 2 × 1 km.
fn scale() -> SceneScale {
    SceneScale { extent: Extent { width_m: 2000.0, depth_m: 1000.0 }, exaggeration: 2.0 }
}

/// The projection of an unobstructed camera on that screen.
fn projection(camera: &Camera) -> ViewProjection {
    camera.projection(HALF_PX.x / HALF_PX.y, |_| f32::MIN)
}

/// Where a point is on that screen, pixels to the right of its centre and above it.
fn px(projection: &ViewProjection, point: Vec3) -> Vec2 {
    projection.project(point).expect("in front of the camera") * HALF_PX
}

/// A device, or `None` where there is no graphics adapter.
fn device() -> Option<GpuDevice> {
    match catch_unwind(AssertUnwindSafe(GpuDevice::request)) {
        Ok(Ok(device)) => Some(device),
        result => {
            let is_required = std::env::var_os("UPTHRUST_REQUIRE_RENDERING").is_some();
            assert!(!is_required, "images are required, but no graphics adapter was found");
            eprintln!(
                "skipped: {}",
                result.map_or_else(|_| "panicked".into(), |result| result.err().unwrap_or_default())
            );
            None
        }
    }
}

fn renderer_on(device: &GpuDevice) -> SceneRenderer {
    SceneRenderer::interactive(device, wgpu::TextureFormat::Rgba8Unorm).expect("a renderer")
}

/// A renderer, or `None` where there is no graphics adapter.
fn renderer() -> Option<SceneRenderer> {
    device().map(|device| renderer_on(&device))
}

const WORLD: Extent = Extent { width_m: 3000.0, depth_m: 2000.0 };

/// A terrain with a different height at every sample.
fn bumpy() -> Heightfield {
    let wave = |i: usize, frequency: f32| libm::sinf(i as f32 * frequency);
    Heightfield::from_fn(Grid::new(WORLD, 49, 33), |c, r| {
        120.0 * wave(c, 0.31) * wave(r, 0.23) + 2.0 * c as f32 + 0.37 * r as f32
    })
}

/// A fast frame of a terrain in colours that are not lit further, in clear air.
fn frame(terrain: Heightfield, colours: Image, camera: &Camera, size: [u32; 2]) -> Frame {
    let params =
        RenderParams { is_lit: true, exaggeration: 1.5, ..RenderParams::new(terrain, colours, Light::default(), None) };
    let mut frame = params.frame(size, 0.0);
    frame.environment.zenith[3] = 0.0;
    let projection = camera.projection(size[0] as f32 / size[1] as f32, |_| f32::MIN);
    Frame { projection, is_fast: true, ..frame }
}

fn black(terrain: &Heightfield) -> Image {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    Image { width, height, pixels: vec![[0, 0, 0, 255]; width * height] }
}

fn render(renderer: &mut SceneRenderer, frame: &Frame) -> Image {
    renderer.render_image(frame, &Progress::new()).expect("an image")
}

/// Where a point is in a frame's image, pixels from its upper left corner.
fn pixel_of_point(frame: &Frame, point: Vec3) -> Vec2 {
    let at = frame.projection.project(point).expect("in front of the camera");
    let [width, height] = frame.size.map(|side| side as f32);
    Vec2::new((1.0 + at.x) * 0.5 * width, (1.0 - at.y) * 0.5 * height)
}

/// Where a place of the terrain is in a frame's image.
fn pixel_of(frame: &Frame, place_m: [f64; 2]) -> Vec2 {
    pixel_of_point(frame, frame.scale.point(place_m, frame.terrain.height_at(place_m[0], place_m[1])))
}

fn colour_at(image: &Image, at: Vec2) -> [u8; 4] {
    image.pixels[at.y as usize * image.width + at.x as usize]
}

/// The camera that looks straight down on a terrain, with all of it in a square image.
fn from_above(params: &RenderParams) -> Camera {
    let mut camera =
        Camera { pitch: std::f32::consts::FRAC_PI_2, azimuth: 0.0, orthographic: 1.0, ..Default::default() };
    let scale = params.scale();
    camera.frame(scale.half_size(), scale.block_y(params.range_m), 1.0);
    camera
}
