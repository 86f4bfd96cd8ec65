//! The views: the heightmap and the texture as maps, and the 3-D view.

pub(crate) mod layout;
pub(crate) mod legend;
pub(crate) mod map_style;
pub(crate) mod map_transform;
pub(crate) mod maps;
pub(crate) mod overlay;
pub(crate) mod scene;

/// One of the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum View {
    /// The map of the heights.
    Heightmap,
    /// The map of the lit texture.
    Texture,
    /// The terrain in 3-D.
    Scene,
}

impl View {
    pub(crate) const ALL: [Self; 3] = [Self::Heightmap, Self::Texture, Self::Scene];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Heightmap => "Heightmap",
            Self::Texture => "Texture",
            Self::Scene => "3-D view",
        }
    }
}
