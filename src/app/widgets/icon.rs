//! The window's icon, drawn by the program: the scarp of a fault between two blocks.
//!
//! `packaging/icons` has the same picture for desktops, as SVG and in fixed sizes.

use egui::IconData;

use crate::engine::cast::{ToFloat, ToInteger};

/// The side of the icon, pixels.
const SIDE: usize = 256;

/// Samples along a side of a pixel.
const SUBSAMPLES: usize = 4;

const BACKGROUND: [u8; 3] = [0x2b, 0x2d, 0x31];
const LOW: [u8; 3] = [0x6f, 0x75, 0x7e];
const HIGH: [u8; 3] = [0xc9, 0xcd, 0xd3];
const SCARP: [u8; 3] = [0xff, 0x7a, 0x3c];

/// The colour at a point from 0 to 1 right and down; `None` outside the rounded square.
fn colour([x, y]: [f32; 2]) -> Option<[u8; 3]> {
    const ROUND: f32 = 0.2;
    let beyond = |at: f32| ((at - 0.5).abs() - (0.5 - ROUND)).max(0.0);
    if libm::hypotf(beyond(x), beyond(y)) > ROUND {
        return None;
    }
    // The fault is inclined, and the block at its right is higher.
    let fault = 0.56 - 0.22 * (y - 0.5);
    let (low, high) = (0.66 + 0.05 * libm::sinf(9.0 * x), 0.34 + 0.04 * libm::sinf(11.0 * x));
    let (is_right, on_fault) = (x > fault, (x - fault).abs() < 0.035);
    Some(match () {
        () if on_fault && y > high => SCARP,
        () if is_right && y > high => HIGH,
        () if !is_right && y > low => LOW,
        () => BACKGROUND,
    })
}

/// The icon.
pub(crate) fn icon() -> IconData {
    let samples = (SUBSAMPLES * SUBSAMPLES).to_u32();
    let place =
        |pixel: usize, part: usize| (pixel.to_f32() + (part.to_f32() + 0.5) / SUBSAMPLES.to_f32()) / SIDE.to_f32();
    let mut rgba = Vec::with_capacity(4 * SIDE * SIDE);
    for (row, column) in (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column))) {
        let (mut sums, mut covered) = ([0_u32; 3], 0_u32);
        for part in 0..SUBSAMPLES * SUBSAMPLES {
            if let Some(found) = colour([place(column, part % SUBSAMPLES), place(row, part / SUBSAMPLES)]) {
                covered += 1;
                sums.iter_mut().zip(found).for_each(|(sum, channel)| *sum += u32::from(channel));
            }
        }
        rgba.extend(sums.map(|sum| (sum / covered.max(1)).to_u8()));
        rgba.push((255 * covered / samples).to_u8());
    }
    IconData { rgba, width: SIDE.to_u32(), height: SIDE.to_u32() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_is_a_rounded_square_with_a_fault_in_it() {
        let icon = icon();
        assert_eq!(icon.rgba.len(), 4 * SIDE * SIDE);
        let pixel = |column: usize, row: usize| &icon.rgba[4 * (row * SIDE + column)..][..4];
        assert_eq!(pixel(0, 0)[3], 0, "its corners are round");
        assert_eq!(pixel(SIDE / 2, 2)[3], 255);
        assert_eq!((&pixel(20, 220)[..3], &pixel(235, 200)[..3]), (&LOW[..], &HIGH[..]));
        assert!((0..SIDE).any(|column| pixel(column, SIDE / 2)[..3] == SCARP));
    }
    #[test]
    fn the_packaged_icon_is_the_same_picture() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/icons/256.png");
        let packaged = image::open(path).expect("an image").into_rgba8().into_raw();
        let drawn = icon().rgba;
        assert_eq!(packaged.len(), drawn.len());
        // Only where edges are smoothed do the renderers differ.
        let differing = drawn.iter().zip(&packaged).filter(|(drawn, packaged)| drawn.abs_diff(**packaged) > 8).count();
        assert!(differing * 100 < drawn.len(), "{differing} of {} values differ", drawn.len());
    }
}
