//! The materials of Roblox's terrain, which a colour map selects by colour.

use crate::engine::texture::TerrainType;

/// The names and colours of the materials.
const MATERIALS: [(&str, [u8; 3]); 21] = [
    ("grass", [106, 127, 63]),
    ("slate", [63, 127, 107]),
    ("concrete", [127, 102, 63]),
    ("brick", [138, 86, 62]),
    ("sand", [143, 126, 95]),
    ("wood", [139, 109, 79]),
    ("rock", [102, 108, 111]),
    ("glacier", [101, 176, 234]),
    ("snow", [195, 199, 218]),
    ("sandstone", [137, 90, 71]),
    ("mud", [58, 46, 36]),
    ("basalt", [30, 30, 37]),
    ("ground", [102, 92, 59]),
    ("lava", [232, 156, 74]),
    ("asphalt", [115, 123, 107]),
    ("cobblestone", [132, 123, 90]),
    ("ice", [129, 194, 224]),
    ("leafy", [115, 132, 74]),
    ("salt", [198, 189, 181]),
    ("limestone", [206, 173, 148]),
    ("pavement", [148, 148, 140]),
];

/// The colour of the material that the name of a terrain type contains, or else of the one with the nearest colour.
pub(super) fn material_colour(terrain_type: &TerrainType) -> [u8; 3] {
    let name = terrain_type.name.to_lowercase();
    let named =
        name.split(|c: char| !c.is_alphanumeric()).find_map(|word| MATERIALS.iter().find(|(key, _)| *key == word));
    let distance = |colour: [u8; 3]| {
        let squares = terrain_type.colour.0.iter().zip(colour).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2));
        squares.sum::<u32>()
    };
    let nearest = || MATERIALS.iter().min_by_key(|(_, colour)| distance(*colour));
    named.or_else(nearest).map_or(terrain_type.colour.0, |(_, colour)| *colour)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::parameters::Colour;

    #[test]
    fn names_select_a_material_before_colours_do() {
        let terrain_type = |name: &str, colour| TerrainType { name: name.into(), colour, ..Default::default() };
        assert_eq!(material_colour(&terrain_type("Wet sand", Colour([0, 0, 0]))), [143, 126, 95]);
        assert_eq!(material_colour(&terrain_type("Plateau", Colour([190, 200, 220]))), [195, 199, 218]);
    }
}
