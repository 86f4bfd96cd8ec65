//! One image to draw: the terrain, the view, and the uniforms that the shaders read.

use std::sync::Arc;

use super::environment::Environment;
use super::glow::{GlowingFault, MAX_LINES};
use super::projection::ViewProjection;
use super::scale::SceneScale;
use super::shading::ShadingMode;
use crate::engine::cast::ToFloat;
use crate::engine::scatter::ShapeInstances;
use crate::engine::{Heightfield, Image, ramp};

/// Rows of four floats before the glowing lines.
const ROWS: usize = 16 + ramp::MAX_STOPS;

/// Floats in the uniform buffer: `Scene` in common.wgsl, including the glowing lines and their strengths.
pub(super) const UNIFORM_FLOATS: usize = (ROWS + MAX_LINES + MAX_LINES / 4) * 4;

/// The contents of the uniform buffer.
pub(super) type Uniforms = [f32; UNIFORM_FLOATS];

/// The inputs of an image.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) terrain: Arc<Heightfield>,
    pub(crate) colours: Arc<Image>,
    pub(crate) scale: SceneScale,
    pub(crate) projection: ViewProjection,
    /// Pixels of the image.
    pub(crate) size: [u32; 2],
    /// The progress of the transition from the previous terrain, 0 to 1.
    pub(crate) blend: f32,
    /// The lowest and the highest point of both terrains, scene units.
    pub(crate) y_range: [f32; 2],
    /// The highest point of the newer terrain, scene units.
    pub(crate) top: f32,
    /// The bottom of the block, scene units.
    pub(crate) bottom: f32,
    /// Whether speed matters more than detail and smooth edges.
    pub(crate) is_fast: bool,
    pub(crate) glow: Vec<GlowingFault>,
    /// What stands on the terrain.
    pub(crate) shapes: Option<Arc<ShapeInstances>>,
    pub(crate) environment: Environment,
}

/// Rows of an image that are drawn at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    pub(super) first: u32,
    pub(super) rows: u32,
}

impl Band {
    /// All rows of a frame.
    pub(super) fn all(frame: &Frame) -> Self {
        Self { first: 0, rows: frame.size[1] }
    }

    /// The band's lower and upper edge in screen coordinates, from −1 to 1, in an image of a height in pixels.
    pub(super) fn edges(self, height: u32) -> [f32; 2] {
        [self.first + self.rows, self.first].map(|row| 1.0 - 2.0 * row.to_f32() / height.to_f32())
    }
}

impl Frame {
    /// The uniforms for a band of the image, given the number of samples in its terrain textures.
    pub(super) fn uniforms(&self, [columns, rows]: [u32; 2], band: Band) -> Uniforms {
        let Self { scale, projection, environment, .. } = self;
        let flag = |is_set: bool| f32::from(u8::from(is_set));
        let [half_x, half_z] = scale.half_size();
        let [depth_offset, depth_scale] = projection.clip_depth();
        let [low, high] = band.edges(self.size[1]);
        let (perspective_eye, distance_scale) = projection.perspective_eye();
        let [red, green, blue, haze] = environment.zenith;
        let values = [
            projection.eye.extend(projection.w[0]).to_array(),
            projection.right.extend(flag(!self.is_fast)).to_array(),
            projection.up.extend(projection.w[1]).to_array(),
            projection.forward.extend(band.first.to_f32()).to_array(),
            [depth_offset, depth_scale, 2.0 / (high - low), 0.5 * (low + high)],
            perspective_eye.extend(distance_scale).to_array(),
            environment.sun,
            environment.sun_colour,
            environment.ambient,
            // There is no haze in an orthographic projection.
            [red, green, blue, haze * projection.w[0]],
            environment.horizon,
            environment.ground,
            [half_x, half_z, scale.y(1.0), self.bottom],
            [self.y_range[0], self.y_range[1], scale.unit_m(), self.glow.len().min(MAX_LINES).to_f32()],
            [columns.to_f32(), rows.to_f32(), self.blend, f32::from(environment.shading as u8)],
            [
                environment.water.unwrap_or(self.bottom),
                flag(environment.water.is_some()),
                0.0,
                flag(environment.is_lit),
            ],
        ];
        let mut uniforms = [0.0; UNIFORM_FLOATS];
        let (before_lines, glowing) = uniforms.split_at_mut(ROWS * 4);
        for (to, from) in before_lines.iter_mut().zip(values.into_iter().chain(environment.stops).flatten()) {
            *to = from;
        }
        let (lines, strengths) = glowing.split_at_mut(4 * MAX_LINES);
        for ((line, strength), fault) in lines.chunks_mut(4).zip(strengths).zip(&self.glow) {
            let [from, to] = [fault.from_m, fault.to_m].map(|end_m| scale.point(end_m, 0.0));
            line.copy_from_slice(&[from.x, from.z, to.x, to.z]);
            *strength = fault.strength;
        }
        uniforms
    }

    /// The uniforms with only the values that shadows and occlusion depend on: they are computed again when these
    /// change, and not when the camera moves.
    pub(super) fn light_uniforms(&self, size: [u32; 2]) -> Uniforms {
        let zero = glam::Vec3::ZERO;
        let projection =
            ViewProjection { eye: zero, right: zero, up: zero, forward: zero, w: [1.0, 0.0], depth_range: [0.0, 1.0] };
        let Environment { sun, sun_colour, .. } = self.environment;
        let environment = Environment {
            sun: [sun[0], sun[1], sun[2], 0.0],
            sun_colour: [0.0, 0.0, 0.0, sun_colour[3]],
            ambient: [0.0; 4],
            zenith: [0.0; 4],
            horizon: [0.0; 4],
            ground: [0.0; 4],
            water: None,
            shading: ShadingMode::Texture,
            stops: ramp::NO_STOPS,
            is_lit: false,
        };
        let frame = Self {
            projection,
            environment,
            glow: Vec::new(),
            shapes: None,
            blend: 1.0,
            bottom: 0.0,
            // The newer terrain's own maximum: during a transition nothing has to be computed again.
            y_range: [0.0, self.top],
            is_fast: false,
            size: [1; 2],
            ..self.clone()
        };
        frame.uniforms(size, Band::all(&frame))
    }
}
