//! The styles of the 2-D map: greyscale, hillshade, contours, slopes, walkability and water.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::analysis::{Walkability, walkable};
use super::flow::{Outlets, Water};
use super::heightfield::{Extent, Grid, Heightfield};
use super::image::{Image, linear_from_srgb, srgb_from_linear};
use super::light::Light;
use super::progress::{Cancelled, Progress};
use super::ramp::{ELEVATION, Ramp, SLOPE};
use super::simd::simd;
use super::texture::MIN_RIVER_CATCHMENT_SHARE;

use crate::cast::{ToFloat, ToInteger};

/// The style of a map.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MapView {
    /// Greys from the lowest (black) to the highest (white) height.
    #[default]
    Grey,
    /// Hypsometric tints from green lowlands to white summits, with hillshade.
    Tints,
    /// The cosine of the angle between the sun and the surface normal.
    Hillshade,
    /// Contour lines.
    Contours,
    /// Slope angles.
    Slope,
    /// Walkable terrain, up to a slope in degrees.
    Walkable(f64),
    /// Rivers, full lakes and, if given, the sea at a level in metres.
    Water(Option<f32>),
}

/// The colours of connected, cut-off and too steep terrain, in sRGB.
pub const WALKABLE_COLOURS: [[u8; 3]; 3] = [[0x5c, 0x8d, 0x70], [0xde, 0xae, 0x55], [0xb5, 0x3e, 0x36]];

/// The colours of rivers, lakes, the sea and dry terrain, in sRGB.
pub const WATER_COLOURS: [[u8; 3]; 3] = [[0x1f, 0x5f, 0xa8], [0x6c, 0xb4, 0xe4], [0x2c, 0x4a, 0x70]];
const DRY: [u8; 3] = [0xcf, 0xca, 0xbd];

/// The depth at which lakes have their full colour, metres.
const LAKE_M: f32 = 1.0;

/// The half width of the smallest rivers on screen, in pixels, and by how much it grows whenever their drainage area
/// doubles, up to eight times.
const RIVER_REACH: f32 = 0.6;
const RIVER_GROWTH: f32 = 0.2;
const RIVER_DOUBLINGS: f32 = 8.0;

/// The opacity of the smallest rivers; it rises to 1 at four times their drainage area.
const RIVER_BEGINS: f32 = 0.6;

/// The minimum drainage area of rivers in samples: on coarse grids every sample would be a river.
const RIVER_SAMPLES: f64 = 8.0;

/// The colours of paper and ink of contour maps, in sRGB, and the opacity of ordinary lines; every fifth line is
/// opaque.
const PAPER: [u8; 3] = [0xf4, 0xf1, 0xe8];
const INK: [u8; 3] = [0x5a, 0x36, 0x1e];
const PLAIN_LINE: f32 = 0.55;
const STRONG_EVERY: f32 = 5.0;

/// The opacity of the tints below contours.
const PAPER_TINT: f32 = 0.4;

/// The maximum number of contours in the height range.
const MAX_CONTOURS: f32 = 20.0;

/// The approximate size of a map on screen, in pixels per side: on finer grids contours and rivers are wider.
const SEEN_PIXELS: f32 = 384.0;

/// The brightness of the darkest and of the brightest slopes relative to level terrain.
const DARKEST: f32 = 0.35;
const BRIGHTEST: f32 = 1.25;

/// Precomputed colours per ramp.
const TONES: usize = 1024;

impl MapView {
    /// Whether the map depends on the light.
    pub fn is_lit(self) -> bool {
        match self {
            Self::Tints | Self::Hillshade | Self::Walkable(_) | Self::Water(_) => true,
            Self::Grey | Self::Contours | Self::Slope => false,
        }
    }

    /// Whether the colour of a sample depends only on its height, on those beside it and on the range.
    pub fn is_local(self) -> bool {
        match self {
            Self::Grey | Self::Tints | Self::Hillshade | Self::Slope => true,
            Self::Contours | Self::Walkable(_) | Self::Water(_) => false,
        }
    }

    /// Draws the map with one pixel per sample. `range_m` is the lowest and the highest height in metres.
    pub fn draw(
        self,
        terrain: &Heightfield,
        range_m: [f32; 2],
        light: &Light,
        progress: &Progress,
    ) -> Result<Image, Cancelled> {
        let hillshade = Hillshade::new(light);
        match self {
            Self::Grey => Ok(Image::greyscale_between(terrain, range_m)),
            Self::Tints => {
                let tones = linear_tones(&ELEVATION, |share| share);
                let share = share_of(range_m);
                painted(terrain, progress, |sample| {
                    hillshade.shaded(tones[tone_of(share(sample.height))], sample.gradient)
                })
            }
            Self::Hillshade => {
                painted(terrain, progress, |sample| [(255.0 * hillshade.cosine(sample.gradient) + 0.5).to_u8(); 3])
            }
            Self::Contours => contours(terrain, range_m, progress),
            Self::Slope => {
                // Tones are indexed by g/(1 + g), which maps all slopes to 0 … 1 without an arctangent per pixel.
                let degrees = |share: f32| libm::atanf(share / (1.0 - share).max(f32::EPSILON)).to_degrees();
                let tones = tones(&SLOPE, degrees);
                painted(terrain, progress, |sample| {
                    let [east, south] = sample.gradient;
                    let slope = (east * east + south * south).sqrt();
                    tones[tone_of(slope / (1.0 + slope))]
                })
            }
            Self::Walkable(limit_deg) => {
                let found = walkable(terrain, limit_deg, progress)?;
                let colours = WALKABLE_COLOURS.map(|colour| colour.map(linear_from_srgb));
                painted(terrain, progress, |sample| {
                    let place = match found.walkability[sample.index] {
                        Walkability::Connected => 0,
                        Walkability::Isolated => 1,
                        Walkability::TooSteep => 2,
                    };
                    hillshade.shaded(colours[place], sample.gradient)
                })
            }
            Self::Water(sea_m) => water(terrain, sea_m, &hillshade, progress),
        }
    }
}

/// The contour interval for a height range, metres: 1, 2 or 5 times a power of ten.
pub fn contour_interval_m([low, high]: [f32; 2]) -> f32 {
    let min_interval = (high - low) / MAX_CONTOURS;
    if !(min_interval > 0.0 && min_interval.is_finite()) {
        return 1.0;
    }
    let ten = libm::powf(10.0, libm::log10f(min_interval).floor());
    let rounds = [ten, 2.0 * ten, 5.0 * ten];
    // The factor allows for rounding errors.
    rounds.into_iter().find(|round| *round >= min_interval * 0.9999).unwrap_or(10.0 * ten)
}

/// A sample to be coloured.
struct Sample {
    index: usize,
    height: f32,
    /// Metres per metre, eastward and southward.
    gradient: [f32; 2],
}

/// Draws every sample in the sRGB colour that `colour` returns.
fn painted(
    terrain: &Heightfield,
    progress: &Progress,
    colour: impl Fn(Sample) -> [u8; 3] + Sync,
) -> Result<Image, Cancelled> {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let mut pixels = vec![[255; 4]; width * height];
    let buffers = || [vec![0.0; width], vec![0.0; width]];
    let rows = pixels.par_chunks_exact_mut(width).enumerate();
    rows.try_for_each_init(buffers, |[east, south], (r, pixels)| {
        progress.check()?;
        simd(
            #[inline(always)]
            || {
                terrain.gradients_of_row(r, [east, south]);
                let gradients = east.iter().zip(south.iter());
                for (c, ((pixel, height), (east, south))) in
                    pixels.iter_mut().zip(terrain.row(r)).zip(gradients).enumerate()
                {
                    let sample = Sample { index: r * width + c, height: *height, gradient: [*east, *south] };
                    let [red, green, blue] = colour(sample);
                    *pixel = [red, green, blue, 255];
                }
            },
        );
        Ok(())
    })?;
    Ok(Image { width, height, pixels })
}

/// Converts heights to fractions of the range; 0.5 for level terrain.
fn share_of([low, high]: [f32; 2]) -> impl Fn(f32) -> f32 {
    let (factor, base) = if high > low { (1.0 / (high - low), 0.0) } else { (0.0, 0.5) };
    move |height| base + (height - low) * factor
}

/// The index of the tone at a fraction from 0 to 1.
fn tone_of(share: f32) -> usize {
    (share.clamp(0.0, 1.0) * (TONES - 1).to_f32() + 0.5).to_usize().min(TONES - 1)
}

/// The colours of a ramp in sRGB, at the values of evenly spaced fractions.
fn tones(ramp: &Ramp, number: impl Fn(f32) -> f32) -> Vec<[u8; 3]> {
    (0..TONES).map(|i| ramp.colour(number(i.to_f32() / (TONES - 1).to_f32()))).collect()
}

fn linear_tones(ramp: &Ramp, number: impl Fn(f32) -> f32) -> Vec<[f32; 3]> {
    tones(ramp, number).into_iter().map(|colour| colour.map(linear_from_srgb)).collect()
}

/// Shading by the sun without cast shadows: B. K. P. Horn, "Hill shading and the reflectance map", Proceedings of the
/// IEEE 69, 1981.
struct Hillshade {
    /// The unit vector towards the sun: east, up, south.
    sun: [f32; 3],
    /// The light on level terrain, at least 0.1.
    level: f32,
}

impl Hillshade {
    fn new(light: &Light) -> Self {
        let sun = light.towards_sun();
        Self { sun, level: sun[1].max(0.1) }
    }

    /// The cosine of the angle between the sun and the normal (−east, 1, −south)/√(1 + g²), or 0 if it faces away.
    fn cosine(&self, [east, south]: [f32; 2]) -> f32 {
        let [sun_east, sun_up, sun_south] = self.sun;
        let towards = sun_up - east * sun_east - south * sun_south;
        (towards / (1.0 + east * east + south * south).sqrt()).clamp(0.0, 1.0)
    }

    /// A colour in linear light shaded by a slope, in sRGB.
    fn shaded(&self, colour: [f32; 3], gradient: [f32; 2]) -> [u8; 3] {
        let light = (DARKEST + (1.0 - DARKEST) * self.cosine(gradient) / self.level).min(BRIGHTEST);
        colour.map(|channel| srgb_from_linear(channel * light))
    }
}

/// The drainage area of the smallest rivers that are shown on a grid, m².
pub fn min_river_area_m2(grid: Grid) -> f64 {
    let Extent { width_m, depth_m } = grid.extent();
    (MIN_RIVER_CATCHMENT_SHARE * width_m * depth_m).max(RIVER_SAMPLES * grid.spacing_x_m() * grid.spacing_z_m())
}

/// Draws rivers by their drainage area, lakes by their depth, and the sea.
fn water(
    terrain: &Heightfield,
    sea_m: Option<f32>,
    hillshade: &Hillshade,
    progress: &Progress,
) -> Result<Image, Cancelled> {
    let water = Water::on(terrain, Outlets::Border, sea_m, progress)?;
    let [river, lake, sea] = WATER_COLOURS.map(|colour| colour.map(linear_from_srgb));
    let dry = DRY.map(linear_from_srgb);
    let strengths = river_strengths(terrain, &water, progress)?;
    painted(terrain, progress, |sample| {
        if sea_m.is_some_and(|sea_m| sample.height <= sea_m) {
            return sea.map(srgb_from_linear);
        }
        let strength = f32::from_bits(strengths[sample.index].load(Relaxed));
        let deep = (water.lakes_m[sample.index] / LAKE_M).min(1.0);
        let colour = mixed(mixed(dry, river, strength), lake, deep);
        hillshade.shaded(colour, if deep < 1.0 { sample.gradient } else { [0.0; 2] })
    })
}

/// The opacity of the rivers at each sample, as the bits of a number from 0 to 1. Rivers are equally wide on screen on
/// grids of any size. Level terrain has none.
fn river_strengths(terrain: &Heightfield, water: &Water, progress: &Progress) -> Result<Vec<AtomicU32>, Cancelled> {
    let grid = terrain.grid();
    let [low, high] = terrain.min_max_cancellable(progress)?;
    let strengths: Vec<AtomicU32> = bytemuck::zeroed_vec(grid.samples());
    let (width, height) = (grid.width(), grid.height());
    let per_pixel = ((width.max(height) - 1).to_f32() / SEEN_PIXELS).max(1.0);
    let min_m2 = if low < high { min_river_area_m2(grid).to_f32() } else { f32::INFINITY };
    water.areas_m2.par_chunks_exact(width).enumerate().try_for_each(|(r, areas_m2)| {
        for (c, area_m2) in areas_m2.iter().enumerate().filter(|(_, area_m2)| **area_m2 >= min_m2) {
            let doublings = libm::log2f(area_m2 / min_m2);
            let opacity = RIVER_BEGINS + (1.0 - RIVER_BEGINS) * (0.5 * doublings).min(1.0);
            let reach = per_pixel * (RIVER_REACH + RIVER_GROWTH * doublings.min(RIVER_DOUBLINGS));
            let far = (reach + 0.5).to_usize();
            for row in r.saturating_sub(far)..(r + far + 1).min(height) {
                for column in c.saturating_sub(far)..(c + far + 1).min(width) {
                    let [east, south] = [column.abs_diff(c), row.abs_diff(r)].map(ToFloat::to_f32);
                    let distance = (east * east + south * south).sqrt();
                    // The bits of numbers that are not negative have the order of the numbers.
                    let strength = (opacity * (reach + 0.5 - distance).clamp(0.0, 1.0)).to_bits();
                    let known = &strengths[row * width + column];
                    // Most samples beside a river have their value already, and reading is much cheaper.
                    if known.load(Relaxed) < strength {
                        known.fetch_max(strength, Relaxed);
                    }
                }
            }
        }
        progress.check()
    })?;
    Ok(strengths)
}

/// The linear interpolation of two colours.
fn mixed(from: [f32; 3], to: [f32; 3], share: f32) -> [f32; 3] {
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * share)
}

/// Draws contours in ink on lightly tinted paper.
fn contours(terrain: &Heightfield, range_m: [f32; 2], progress: &Progress) -> Result<Image, Cancelled> {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let interval_m = contour_interval_m(range_m);
    // The half width of a line in samples.
    let reach = ((width.max(height) - 1).to_f32() / SEEN_PIXELS).max(1.0);
    let far = reach.ceil().to_usize();
    let tones = linear_tones(&ELEVATION, |share| share);
    let [paper, ink] = [PAPER, INK].map(|colour| colour.map(linear_from_srgb));
    let share = share_of(range_m);
    painted(terrain, progress, |sample| {
        let (c, r) = (sample.index % width, sample.index / width);
        let neighbours = [
            (c >= far).then(|| terrain[(c - far, r)]),
            (c + far < width).then(|| terrain[(c + far, r)]),
            (r >= far).then(|| terrain[(c, r - far)]),
            (r + far < height).then(|| terrain[(c, r + far)]),
        ];
        // The nearest line along the row and along the column give the perpendicular distance.
        let [west, east, north, south] = neighbours.map(|other| {
            other.and_then(|other| crossing(sample.height, other, interval_m)).unwrap_or((f32::INFINITY, 0.0))
        });
        let nearer = |a: (f32, f32), b: (f32, f32)| if a.0 <= b.0 { a } else { b };
        let [(across, line), (down, other)] = [nearer(west, east), nearer(north, south)];
        let away = match (across.is_finite(), down.is_finite()) {
            (true, true) if across > 0.0 && down > 0.0 => across * down / libm::hypotf(across, down),
            _ => across.min(down),
        };
        let is_strong = (if across <= down { line } else { other }) % STRONG_EVERY == 0.0;
        let drawn = (reach - away * far.to_f32()).clamp(0.0, 1.0) * if is_strong { 1.0 } else { PLAIN_LINE };
        let colour = mixed(paper, tones[tone_of(share(sample.height))], PAPER_TINT);
        mixed(colour, ink, drawn).map(srgb_from_linear)
    })
}

/// The first contour between two heights: its position as a fraction of the way, and its number.
fn crossing(from: f32, to: f32, interval_m: f32) -> Option<(f32, f32)> {
    let number = if to > from { (from / interval_m).ceil() } else { (from / interval_m).floor() };
    let level = number * interval_m;
    let is_between = (to > from && level <= to) || (to < from && level >= to);
    is_between.then(|| (((level - from) / (to - from)).max(0.0), number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid};

    /// A terrain with a sample every metre.
    fn terrain(side: usize, height: impl FnMut(usize, usize) -> f32) -> Heightfield {
        let side_m = (side - 1) as f64;
        Heightfield::from_fn(Grid::new(Extent { width_m: side_m, depth_m: side_m }, side, side), height)
    }

    fn seen(view: MapView, terrain: &Heightfield) -> Vec<[u8; 3]> {
        let image = view.draw(terrain, terrain.min_max(), &Light::default(), &Progress::new()).expect("not cancelled");
        assert_eq!((image.width, image.height), (terrain.grid().width(), terrain.grid().height()));
        image.pixels.iter().map(|&[red, green, blue, _]| [red, green, blue]).collect()
    }

    #[test]
    fn grey_maps_are_greyscale_images() {
        let terrain = terrain(17, |c, r| (c * r) as f32);
        let image = MapView::Grey.draw(&terrain, terrain.min_max(), &Light::default(), &Progress::new());
        assert_eq!(image, Ok(Image::greyscale(&terrain)));
    }

    #[test]
    fn on_coarse_grids_single_samples_are_not_rivers() {
        let grid = Grid::new(Extent { width_m: 3200.0, depth_m: 1600.0 }, 33, 17);
        let terrain = Heightfield::from_fn(grid, |c, r| c as f32 + 0.1 * r as f32);
        let seen = seen(MapView::Water(None), &terrain);
        let is_blue = |[red, _, blue]: &[u8; 3]| blue > red;
        assert!(!seen[8 * 33 + 30..8 * 33 + 32].iter().any(is_blue), "valley heads are dry");
        assert!(seen.iter().any(is_blue), "drainage areas above 8 samples are rivers");
    }

    #[test]
    fn level_terrain_has_no_rivers() {
        let seen = seen(MapView::Water(None), &terrain(65, |_, _| 100.0));
        assert!(seen.iter().all(|colour| *colour == seen[0]), "{:?}", seen[0]);
    }

    #[test]
    fn rivers_are_equally_wide_at_every_size() {
        // A river along the middle column, of the smallest area and of a large one.
        let share_of_width = |side: usize, times: f64| {
            let grid = Grid::new(Extent { width_m: 8000.0, depth_m: 8000.0 }, side, side);
            let terrain = Heightfield::from_fn(grid, |_, r| r as f32);
            let area_m2 = (times * min_river_area_m2(grid)) as f32;
            let areas_m2 = (0..grid.samples()).map(|i| if i % side == side / 2 { area_m2 } else { 0.0 }).collect();
            let water = Water { areas_m2, receivers: Vec::new(), lakes_m: Vec::new() };
            let strengths = river_strengths(&terrain, &water, &Progress::new()).expect("not cancelled");
            let row = &strengths[side / 2 * side..][..side];
            row.iter().map(|strength| f64::from(f32::from_bits(strength.load(Relaxed)))).sum::<f64>() / side as f64
        };
        for times in [1.001, 300.0] {
            let [small, large] = [385, 1537].map(|side| share_of_width(side, times));
            assert!(small > 0.001 && (small - large).abs() < 0.15 * small, "{times}: {small} and {large}");
        }
        assert!(share_of_width(385, 300.0) > 2.0 * share_of_width(385, 1.001));
    }

    #[test]
    fn rivers_lakes_and_the_sea_have_their_colours() {
        // A pit of 9 m × 9 m in a slope that falls to the south into the sea.
        let terrain =
            terrain(65, |c, r| if (28..37).contains(&c) && (20..29).contains(&r) { 20.0 } else { 64.0 - r as f32 });
        let seen = seen(MapView::Water(Some(4.5)), &terrain);
        let at = |c: usize, r: usize| seen[r * 65 + c];
        let sky = |[red, _, blue]: [u8; 3]| i32::from(blue) - i32::from(red);
        assert_eq!(at(10, 63), WATER_COLOURS[2], "the sea");
        assert!(sky(at(32, 24)) > 60, "a lake: {:?}", at(32, 24));
        assert!(sky(at(5, 5)) < 20, "dry terrain: {:?}", at(5, 5));
        // The water collected by the pit leaves it through one sample of its lower side.
        let river = (28..37).map(|c| sky(at(c, 45))).max();
        assert!(river > Some(60), "{river:?}");
    }

    #[test]
    fn shading_does_not_change_colours_of_level_terrain() {
        // Wide steps, whose inner samples are level, at 0, 0.2 and 1 of the range.
        let steps = terrain(33, |c, _| [0.0, 2.0, 10.0][c / 11]);
        let tints = seen(MapView::Tints, &steps);
        for (c, share) in [(5, 0.0), (16, 0.2), (27, 1.0)] {
            let apart = tints[c].iter().zip(ELEVATION.colour(share)).map(|(a, b)| a.abs_diff(b)).max();
            assert!(apart <= Some(1), "{:?} at {share}", tints[c]);
        }
        let flat = terrain(9, |_, _| 7.0);
        let halfway = ELEVATION.colour(0.5);
        assert!(
            seen(MapView::Tints, &flat).iter().flatten().zip(halfway.iter().cycle()).all(|(a, b)| a.abs_diff(*b) <= 1)
        );
        // The sun is at 40°: level terrain gets its sine.
        let grey = (255.0 * libm::sin(40_f64.to_radians())).round() as u8;
        assert!(seen(MapView::Hillshade, &flat).iter().all(|colour| *colour == [grey; 3]));
    }

    #[test]
    fn slopes_towards_the_sun_are_white_and_slopes_away_from_it_black() {
        // The sun is in the north-west at 40°. A slope of 50° that falls to the north-west is perpendicular to it; one
        // that falls to the south-east is in the shade.
        let tangent = libm::tanf(50_f32.to_radians()) / 2_f32.sqrt();
        let towards = seen(MapView::Hillshade, &terrain(9, |c, r| (c + r) as f32 * tangent));
        assert!(towards.iter().all(|colour| *colour == [255; 3]), "{:?}", towards[40]);
        let away = seen(MapView::Hillshade, &terrain(9, |c, r| (c + r) as f32 * -tangent));
        assert!(away.iter().all(|colour| *colour == [0; 3]), "{:?}", away[40]);
    }

    #[test]
    fn slopes_have_the_colours_of_their_angles() {
        for degrees in [0.0_f32, 12.0, 20.0, 28.0, 44.0, 60.0] {
            let tangent = libm::tanf(degrees.to_radians());
            let colours = seen(MapView::Slope, &terrain(9, |c, _| c as f32 * tangent));
            let expected = SLOPE.colour(degrees);
            let apart = colours.iter().flatten().zip(expected.iter().cycle()).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(apart <= Some(2), "{:?} in place of {expected:?} at {degrees}°", colours[40]);
        }
    }

    #[test]
    fn walls_are_red_and_terrain_behind_them_amber() {
        let walled = terrain(33, |c, _| if c < 20 { 0.0 } else { 50.0 });
        let colours = seen(MapView::Walkable(45.0), &walled);
        let close = |c: usize, colour: [u8; 3]| colours[c].iter().zip(colour).all(|(a, b)| a.abs_diff(b) <= 1);
        assert!(close(5, WALKABLE_COLOURS[0]) && close(30, WALKABLE_COLOURS[1]));
        let [red, green, blue] = colours[19];
        assert!(red > 2 * green && red > 2 * blue, "{:?}", colours[19]);
        // With this limit the wall is walkable.
        let colours = seen(MapView::Walkable(89.0), &walled);
        assert!(colours.iter().all(|[red, green, _]| green > red));
    }

    #[test]
    fn contour_intervals_are_round() {
        let of = |range: f32| contour_interval_m([-100.0, range - 100.0]);
        assert_eq!([20.0, 21.0, 100.0, 400.0, 640.0, 1000.0, 2000.0].map(of), [1.0, 2.0, 5.0, 20.0, 50.0, 50.0, 100.0]);
        assert_eq!([contour_interval_m([3.0, 3.0]), contour_interval_m([0.0, 0.2])], [1.0, 0.01]);
    }

    #[test]
    fn contours_are_at_multiples_of_the_interval() {
        // From 0 to 128 m in the east, 2 m per sample: lines every 10 m, five columns apart, from 0 m.
        let ramp = terrain(65, |c, _| c as f32 * 2.0);
        assert_eq!(contour_interval_m(ramp.min_max()), 10.0);
        let colours = seen(MapView::Contours, &ramp);
        let darkness = |c: usize| 765 - colours[30 * 65 + c].iter().map(|channel| u32::from(*channel)).sum::<u32>();
        for c in 0..65 {
            let (is_line, is_strong) = (c % 5 == 0, c % 25 == 0);
            assert_eq!(darkness(c) > 200, is_line, "column {c}: {}", darkness(c));
            assert_eq!(darkness(c) > 520, is_strong, "column {c}: {}", darkness(c));
        }
        // A line halfway between two samples is half as strong on both.
        let between = seen(MapView::Contours, &terrain(65, |c, _| c as f32 * 2.0 + 1.0));
        let row = |c: usize| between[30 * 65 + c][2];
        assert!(
            row(4).abs_diff(row(5)) < 8 && row(4) < row(2) && row(5) < row(7),
            "{:?}",
            (2..8).map(row).collect::<Vec<_>>()
        );
        // A scarp between two contours has no line, and neither has level terrain.
        let scarp = terrain(65, |c, r| if c < 32 { 1.0 } else { 8.0 } + if (c, r) == (0, 0) { 192.0 } else { 0.0 });
        let colours = seen(MapView::Contours, &scarp);
        assert!((20..44).all(|c| colours[40 * 65 + c].iter().all(|channel| *channel > 150)));
    }

    #[test]
    fn contours_are_equally_wide_on_all_grids() {
        let width = |side: usize| {
            let step = 128.0 / (side - 1) as f32;
            let colours = seen(MapView::Contours, &terrain(side, |c, _| c as f32 * step));
            let row = &colours[..side];
            let lines =
                row.iter().filter(|colour| colour.iter().map(|channel| u32::from(*channel)).sum::<u32>() < 500).count();
            lines as f32 / side as f32
        };
        let [small, large] = [257, 1025].map(width);
        assert!((0.6..1.6).contains(&(large / small)), "{small} {large}");
    }
}
