//! The materials of new terrain types: a shipped texture, and the ground on which it is usually found.

use egui::{Button, Popup, PopupCloseBehavior, RectAlign, Response, Ui};

use crate::app::widgets::parameter::{TextureChoices, texture_tiles_ui, texture_title};
use crate::engine::parameters::{Band, Colour, TextureName};
use crate::engine::texture::{TerrainType, TypeBlend};

/// A material of which a new terrain type can be made.
pub(crate) struct Material {
    /// The name of its texture.
    texture: &'static str,
    /// The width of one repeat of the texture, metres.
    repeat_m: f64,
    colour: [u8; 3],
    /// The heights at which it is found, as percentages of the terrain's range. 0 and 100 have no limit.
    heights: [u8; 2],
    /// The slopes on which it lies, degrees.
    slope_deg: [u8; 2],
}

/// The materials, with the textures in the order in which they are offered.
pub(crate) const MATERIALS: [Material; 11] = [
    material("assets/grass.jpg", 48.0, [0x6f, 0x7b, 0x4c], [0, 60], [0, 25]),
    material("assets/dry-grass.jpg", 48.0, [0xa9, 0x91, 0x63], [0, 60], [0, 25]),
    material("assets/forest-floor.jpg", 56.0, [0x3d, 0x4c, 0x34], [0, 60], [5, 38]),
    material("assets/rock.jpg", 64.0, [0x6f, 0x68, 0x62], [0, 100], [38, 90]),
    material("assets/layered-rock.jpg", 64.0, [0x95, 0x61, 0x4a], [0, 100], [32, 90]),
    material("assets/scree.jpg", 64.0, [0x95, 0x8e, 0x83], [0, 100], [27, 38]),
    material("assets/sand.jpg", 16.0, [0xd0, 0xad, 0x7d], [0, 25], [0, 16]),
    material("assets/mud.jpg", 48.0, [0x8f, 0x6f, 0x53], [0, 20], [0, 8]),
    material("assets/snow.jpg", 80.0, [0xf0, 0xf4, 0xf8], [65, 100], [0, 42]),
    material("assets/ice.jpg", 80.0, [0xd6, 0xe4, 0xee], [75, 100], [0, 25]),
    material("assets/lava.jpg", 32.0, [0x4a, 0x30, 0x2a], [60, 100], [0, 40]),
];

const fn material(
    texture: &'static str,
    repeat_m: f64,
    colour: [u8; 3],
    heights: [u8; 2],
    slope_deg: [u8; 2],
) -> Material {
    Material { texture, repeat_m, colour, heights, slope_deg }
}

/// The elevations of a type without limits: the widest that it can have, so it stays where the terrain grows.
pub(super) const UNLIMITED: Band = Band { min: -100_000.0, max: 100_000.0 };

/// The width of the fade at the limits of elevation, as a fraction of the range, and at those of slope, degrees.
const FALLOFF: f64 = 0.08;
const SLOPE_FALLOFF_DEG: f64 = 7.0;

impl Material {
    /// Its name for users, such as "Dry grass".
    pub(crate) fn title(&self) -> String {
        texture_title(&TextureName(self.texture.into()))
    }

    /// Whether it has that texture.
    pub(super) fn has_texture(&self, name: &TextureName) -> bool {
        name.0 == self.texture
    }

    /// A terrain type of it. Its elevations are fractions of `all`, which are the lowest and the highest elevation, in
    /// metres or percent.
    pub(super) fn terrain_type(&self, all: Band) -> TerrainType {
        let range = all.max - all.min;
        let at = |percent: u8| (all.min + f64::from(percent) / 100.0 * range).round();
        let [low, high] = self.heights;
        let min = if low == 0 { UNLIMITED.min } else { at(low) };
        let max = if high == 100 { UNLIMITED.max } else { at(high) };
        let [gentle, steep] = self.slope_deg.map(f64::from);
        TerrainType {
            colour: Colour(self.colour),
            texture: Some(TextureName(self.texture.into())),
            repeat_m: self.repeat_m,
            elevation: Band { min, max },
            elevation_release: (FALLOFF * range).round(),
            slope_deg: Band { min: gentle, max: steep },
            slope_release_deg: SLOPE_FALLOFF_DEG,
            blend: TypeBlend::Height,
            ..TerrainType::default()
        }
    }
}

/// A menu below a button with the materials and a plain colour, `None`; returns the one that was chosen.
pub(super) fn material_menu_ui(opener: &Response, textures: TextureChoices) -> Option<Option<usize>> {
    let menu = Popup::menu(opener).close_behavior(PopupCloseBehavior::CloseOnClick).align(RectAlign::BOTTOM_END);
    menu.show(|ui| menu_ui(ui, textures))?.inner
}

fn menu_ui(ui: &mut Ui, textures: TextureChoices) -> Option<Option<usize>> {
    let names: Vec<TextureName> = MATERIALS.iter().map(|material| TextureName(material.texture.into())).collect();
    let taken = texture_tiles_ui(ui, "New terrain type of", &names, None, Some(textures));
    ui.add_space(4.0);
    let plain = ui.add_sized([ui.available_width(), 24.0], Button::new("Plain colour"));
    let plain = plain.on_hover_text("A type of one colour that covers all elevations").clicked();
    if plain { Some(None) } else { taken.map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::import::SHIPPED_TEXTURES;

    #[test]
    fn every_shipped_texture_is_a_material() {
        assert_eq!(MATERIALS.map(|material| material.texture), SHIPPED_TEXTURES.map(|(name, _)| name));
    }

    #[test]
    fn snow_lies_high_and_has_no_upper_limit() {
        let snow = MATERIALS.iter().find(|material| material.title() == "Snow").expect("a material");
        let found = snow.terrain_type(Band { min: 100.0, max: 1100.0 });
        assert_eq!((found.elevation, found.elevation_release), (Band { min: 750.0, max: UNLIMITED.max }, 80.0));
        assert_eq!((found.slope_deg, found.blend), (Band { min: 0.0, max: 42.0 }, TypeBlend::Height));
    }
}
