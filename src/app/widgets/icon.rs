//! The window's icon: the scarp of a fault between two blocks, as desktops show it in menus.

use egui::IconData;

/// `packaging/icons/upthrust.svg` in 256 × 256 pixels.
const PNG: &[u8] = include_bytes!("../../../packaging/icons/256.png");

/// The icon.
pub(crate) fn icon() -> IconData {
    // A test reads it; without it the window would have the desktop's icon of unknown programs.
    eframe::icon_data::from_png_bytes(PNG).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_is_a_rounded_square_with_a_fault_in_it() {
        let icon = icon();
        assert_eq!((icon.width, icon.height, icon.rgba.len()), (256, 256, 4 * 256 * 256));
        let pixel = |column: usize, row: usize| &icon.rgba[4 * (row * 256 + column)..][..4];
        assert_eq!(pixel(0, 0)[3], 0, "its corners are round");
        assert_eq!((pixel(20, 220), pixel(235, 200)), (&[0x6f, 0x75, 0x7e, 0xff][..], &[0xc9, 0xcd, 0xd3, 0xff][..]));
        assert!((0..256).any(|column| pixel(column, 128)[..3] == [0xff, 0x7a, 0x3c]));
    }
}
