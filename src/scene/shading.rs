//! The shading modes of the 3-D view.

use crate::engine::ramp::{self, Ramp};

/// How the surface is coloured. The discriminants are the cases in terrain.wgsl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ShadingMode {
    /// The generated texture, as in the texture view.
    #[default]
    Texture,
    Clay,
    Elevation,
    Slope,
    /// The triangles of the mesh.
    Wireframe,
}

impl ShadingMode {
    pub(crate) const ALL: [Self; 5] = [Self::Texture, Self::Clay, Self::Elevation, Self::Slope, Self::Wireframe];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Texture => "Textured",
            Self::Clay => "Clay",
            Self::Elevation => "Elevation",
            Self::Slope => "Slope",
            Self::Wireframe => "Wireframe",
        }
    }

    pub(crate) fn tooltip(self) -> &'static str {
        match self {
            Self::Texture => "The colours of the texture view: all materials, or the weight of one terrain type",
            Self::Clay => "Clay: the shape without its colours",
            Self::Elevation => "From green lowlands to white summits",
            Self::Slope => "From green for walkable slopes to red for 45° and steeper",
            Self::Wireframe => "The triangles of the mesh; distant ones are larger",
        }
    }

    /// The colour ramp of a mode that shows a number: the share of the height range, or the slope in degrees.
    pub(crate) fn ramp(self) -> Option<&'static Ramp> {
        match self {
            Self::Elevation => Some(&ramp::ELEVATION),
            Self::Slope => Some(&ramp::SLOPE),
            Self::Texture | Self::Clay | Self::Wireframe => None,
        }
    }
}
