//! The buffers for painting one row of points.

use super::layer::{LayerBuffers, TexelRow};
use super::sampler::LineBuffers;
use super::type_weights::SurfaceRow;

/// The values computed for a row of points, reused from row to row.
#[derive(Default)]
pub(super) struct PaintRow {
    pub(super) surface: SurfaceRow,
    /// The weights of each active type.
    pub(super) weights: Vec<Vec<f32>>,
    /// The sums of the weights of the covering types before they are normalised: 0 where none applies.
    pub(super) sums: Vec<f32>,
    /// The number of points that no type covers.
    pub(super) uncovered: usize,
    /// The texels of each layer, and the buffers to compute them.
    pub(super) texels: Vec<TexelRow>,
    pub(super) layer_buffers: Vec<LayerBuffers>,
    /// The shares of the sun and of the sky that each point sees.
    pub(super) sunlight: Vec<f32>,
    pub(super) sky: Vec<f32>,
    pub(super) line_buffers: LineBuffers,
    /// The types with some weight in the block that is being blended by relief.
    pub(super) present: Vec<usize>,
}

/// A row of colours in linear light, channel by channel.
pub(super) type Colours = [Vec<f32>; 3];
