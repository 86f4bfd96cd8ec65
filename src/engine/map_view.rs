//! The heightmap looked at in other ways than in grey: what an editor shows while somebody shapes the land.

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

/// A way to look at the heights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MapView {
    /// From black, the lowest, to white, the highest.
    #[default]
    Grey,
    /// From green lowlands to white summits, shaded by the sun.
    Tints,
    /// How straight the sun falls on the ground.
    Hillshade,
    /// Lines of one height each.
    Contours,
    /// The angles of the slopes.
    Slope,
    /// Where one can walk up to a slope in degrees.
    Walkable(f64),
    /// The rivers and the lakes once they are full, and the sea if there is one at that level in metres.
    Water(Option<f32>),
}

/// The colours of ground that hangs together, of ground that is cut off, and of ground that is too steep, in sRGB.
pub const WALKABLE_COLOURS: [[u8; 3]; 3] = [[0x5c, 0x8d, 0x70], [0xde, 0xae, 0x55], [0xb5, 0x3e, 0x36]];

/// The colours of rivers, lakes and sea, and of the land between them, in sRGB.
pub const WATER_COLOURS: [[u8; 3]; 3] = [[0x1f, 0x5f, 0xa8], [0x6c, 0xb4, 0xe4], [0x2c, 0x4a, 0x70]];
const DRY: [u8; 3] = [0xcf, 0xca, 0xbd];

/// Lakes from this depth on have their whole colour, metres.
const LAKE_M: f32 = 1.0;

/// Where so many times the land of the smallest rivers drains, a river begins to reach over to the samples beside it.
const WIDE_RIVER: f32 = 16.0;

/// Rivers have this part of their colour where they begin, and all of it where four times as much land drains.
const RIVER_BEGINS: f32 = 0.6;

/// What is a river drains at least so many samples: on coarse grids every sample would be one.
const RIVER_SAMPLES: f64 = 8.0;

/// The colours of the paper below contours and of their ink, in sRGB, and how much ink plain lines have; every fifth is
/// drawn in full.
const PAPER: [u8; 3] = [0xf4, 0xf1, 0xe8];
const INK: [u8; 3] = [0x5a, 0x36, 0x1e];
const PLAIN_LINE: f32 = 0.55;
const STRONG_EVERY: f32 = 5.0;

/// How much of the paper below contours is tinted.
const PAPER_TINT: f32 = 0.4;

/// Contours are at least this part of the range of heights apart.
const MOST_CONTOURS: f32 = 20.0;

/// Contours are drawn for eyes that see about this many pixels along a side: on a finer grid the lines are wider.
const SEEN_PIXELS: f32 = 384.0;

/// What shading leaves of a colour on the darkest slope, and the most that it adds on the brightest; level ground has
/// the very colour.
const DARKEST: f32 = 0.35;
const BRIGHTEST: f32 = 1.25;

/// Colours of a ramp that are worked out beforehand.
const TONES: usize = 1024;

impl MapView {
    /// Whether the picture is another one under another sun.
    pub fn is_lit(self) -> bool {
        match self {
            Self::Tints | Self::Hillshade | Self::Walkable(_) | Self::Water(_) => true,
            Self::Grey | Self::Contours | Self::Slope => false,
        }
    }

    /// The land, a pixel a sample, between its lowest and its highest height in metres.
    pub fn picture(
        self,
        terrain: &Heightfield,
        range_m: [f32; 2],
        light: &Light,
        progress: &Progress,
    ) -> Result<Image, Cancelled> {
        let shine = Shine::new(light);
        match self {
            Self::Grey => Ok(Image::grayscale_between(terrain, range_m)),
            Self::Tints => {
                let tones = linear_tones(&ELEVATION, |share| share);
                let share = share_of(range_m);
                painted(terrain, progress, |spot| shine.shaded(tones[tone_of(share(spot.height))], spot.gradient))
            }
            Self::Hillshade => {
                painted(terrain, progress, |spot| [(255.0 * shine.cosine(spot.gradient) + 0.5) as u8; 3])
            }
            Self::Contours => contours(terrain, range_m, progress),
            Self::Slope => {
                // A tone goes by g/(1 + g), which leads all slopes to 0 … 1 and costs no arctangent a pixel.
                let degrees = |share: f32| libm::atanf(share / (1.0 - share).max(f32::EPSILON)).to_degrees();
                let tones = tones(&SLOPE, degrees);
                painted(terrain, progress, |spot| {
                    let [east, south] = spot.gradient;
                    let slope = (east * east + south * south).sqrt();
                    tones[tone_of(slope / (1.0 + slope))]
                })
            }
            Self::Walkable(limit_deg) => {
                let found = walkable(terrain, limit_deg, progress)?;
                let colours = WALKABLE_COLOURS.map(|colour| colour.map(linear_from_srgb));
                painted(terrain, progress, |spot| {
                    let place = match found.walkability[spot.sample] {
                        Walkability::Connected => 0,
                        Walkability::Isolated => 1,
                        Walkability::TooSteep => 2,
                    };
                    shine.shaded(colours[place], spot.gradient)
                })
            }
            Self::Water(sea_m) => water(terrain, sea_m, &shine, progress),
        }
    }
}

/// How far contours lie apart on land of that range of heights, metres: 1, 2 or 5 times a power of ten.
pub fn contour_interval_m([low, high]: [f32; 2]) -> f32 {
    let least = (high - low) / MOST_CONTOURS;
    if !(least > 0.0 && least.is_finite()) {
        return 1.0;
    }
    let ten = libm::powf(10.0, libm::log10f(least).floor());
    let rounds = [ten, 2.0 * ten, 5.0 * ten];
    // What rounding leaves below the least by a hair is the least.
    rounds.into_iter().find(|round| *round >= least * 0.9999).unwrap_or(10.0 * ten)
}

/// A sample that is painted.
struct Spot {
    sample: usize,
    height: f32,
    /// Metres per metre, eastward and southward.
    gradient: [f32; 2],
}

/// Each sample in the colour, in sRGB, that `colour` makes of it.
fn painted(
    terrain: &Heightfield,
    progress: &Progress,
    colour: impl Fn(Spot) -> [u8; 3] + Sync,
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
                    let spot = Spot { sample: r * width + c, height: *height, gradient: [*east, *south] };
                    let [red, green, blue] = colour(spot);
                    *pixel = [red, green, blue, 255];
                }
            },
        );
        Ok(())
    })?;
    Ok(Image { width, height, pixels })
}

/// Where a height lies in the range of heights, from 0 to 1; level land lies half way up.
fn share_of([low, high]: [f32; 2]) -> impl Fn(f32) -> f32 {
    let (factor, base) = if high > low { (1.0 / (high - low), 0.0) } else { (0.0, 0.5) };
    move |height| base + (height - low) * factor
}

/// The tone at a share from 0 to 1.
fn tone_of(share: f32) -> usize {
    ((share.clamp(0.0, 1.0) * (TONES - 1) as f32 + 0.5) as usize).min(TONES - 1)
}

/// The colours of a ramp, in sRGB, at the numbers of evenly spread shares.
fn tones(ramp: &Ramp, number: impl Fn(f32) -> f32) -> Vec<[u8; 3]> {
    (0..TONES).map(|i| ramp.colour(number(i as f32 / (TONES - 1) as f32))).collect()
}

fn linear_tones(ramp: &Ramp, number: impl Fn(f32) -> f32) -> Vec<[f32; 3]> {
    tones(ramp, number).into_iter().map(|colour| colour.map(linear_from_srgb)).collect()
}

/// The sun on the slopes, without shadows that are cast: B. K. P. Horn, "Hill shading and the reflectance map",
/// Proceedings of the IEEE 69, 1981.
struct Shine {
    /// The unit vector towards the sun: east, up, south.
    sun: [f32; 3],
    /// The light on level ground; a sun at the horizon is taken as one a little above it.
    level: f32,
}

impl Shine {
    fn new(light: &Light) -> Self {
        let sun = light.towards_sun();
        Self { sun, level: sun[1].max(0.1) }
    }

    /// The cosine between the ground's normal (−east, 1, −south)/√(1 + g²) and the sun, 0 where it faces away.
    fn cosine(&self, [east, south]: [f32; 2]) -> f32 {
        let [sun_east, sun_up, sun_south] = self.sun;
        let towards = sun_up - east * sun_east - south * sun_south;
        (towards / (1.0 + east * east + south * south).sqrt()).clamp(0.0, 1.0)
    }

    /// A colour in linear light on a slope, in sRGB.
    fn shaded(&self, colour: [f32; 3], gradient: [f32; 2]) -> [u8; 3] {
        let light = (DARKEST + (1.0 - DARKEST) * self.cosine(gradient) / self.level).min(BRIGHTEST);
        colour.map(|channel| srgb_from_linear(channel * light))
    }
}

/// The land that drains through the smallest rivers that are shown on a grid, m².
pub fn min_river_area_m2(grid: Grid) -> f64 {
    let Extent { width_m, depth_m } = grid.extent();
    (MIN_RIVER_CATCHMENT_SHARE * width_m * depth_m).max(RIVER_SAMPLES * grid.spacing_x_m() * grid.spacing_z_m())
}

/// Rivers by the land that drains through them, lakes by their depth, and the sea.
fn water(terrain: &Heightfield, sea_m: Option<f32>, shine: &Shine, progress: &Progress) -> Result<Image, Cancelled> {
    let grid = terrain.grid();
    let found = Water::on(terrain, Outlets::Border, sea_m, progress)?;
    let least_m2 = min_river_area_m2(grid) as f32;
    let [river, lake, sea] = WATER_COLOURS.map(|colour| colour.map(linear_from_srgb));
    let dry = DRY.map(linear_from_srgb);
    let drawn = |area_m2: f32| {
        let times = area_m2 / least_m2;
        let full = RIVER_BEGINS + (1.0 - RIVER_BEGINS) * 0.5 * libm::log2f(times.max(1.0)).min(2.0);
        if times < 1.0 { 0.0 } else { full }
    };
    painted(terrain, progress, |spot| {
        if sea_m.is_some_and(|sea_m| spot.height <= sea_m) {
            return sea.map(srgb_from_linear);
        }
        let (c, r) = (spot.sample % grid.width(), spot.sample / grid.width());
        let (columns, rows) =
            (c.saturating_sub(1)..=(c + 1).min(grid.width() - 1), r.saturating_sub(1)..=(r + 1).min(grid.height() - 1));
        let around = rows.flat_map(|row| columns.clone().map(move |column| row * grid.width() + column));
        let beside_m2 = around.map(|sample| found.areas_m2[sample]).fold(0.0, f32::max);
        let strength = drawn(found.areas_m2[spot.sample]).max(drawn(beside_m2 / WIDE_RIVER));
        let deep = (found.lakes_m[spot.sample] / LAKE_M).min(1.0);
        let ground = mixed(mixed(dry, river, strength), lake, deep);
        shine.shaded(ground, if deep < 1.0 { spot.gradient } else { [0.0; 2] })
    })
}

/// A colour on the way from one to another.
fn mixed(from: [f32; 3], to: [f32; 3], share: f32) -> [f32; 3] {
    std::array::from_fn(|i| from[i] + (to[i] - from[i]) * share)
}

/// Contours in ink on lightly tinted paper.
fn contours(terrain: &Heightfield, range_m: [f32; 2], progress: &Progress) -> Result<Image, Cancelled> {
    let (width, height) = (terrain.grid().width(), terrain.grid().height());
    let interval_m = contour_interval_m(range_m);
    // As far as a line reaches to either side, samples.
    let reach = ((width.max(height) - 1) as f32 / SEEN_PIXELS).max(1.0);
    let far = reach.ceil() as usize;
    let tones = linear_tones(&ELEVATION, |share| share);
    let [paper, ink] = [PAPER, INK].map(|colour| colour.map(linear_from_srgb));
    let share = share_of(range_m);
    painted(terrain, progress, |spot| {
        let (c, r) = (spot.sample % width, spot.sample / width);
        let beside = [
            (c >= far).then(|| terrain[(c - far, r)]),
            (c + far < width).then(|| terrain[(c + far, r)]),
            (r >= far).then(|| terrain[(c, r - far)]),
            (r + far < height).then(|| terrain[(c, r + far)]),
        ];
        // The nearest line along the row and along the column; together they tell how far it is straight across.
        let [west, east, north, south] = beside.map(|other| {
            other.and_then(|other| crossing(spot.height, other, interval_m)).unwrap_or((f32::INFINITY, 0.0))
        });
        let nearer = |a: (f32, f32), b: (f32, f32)| if a.0 <= b.0 { a } else { b };
        let [(across, line), (down, other)] = [nearer(west, east), nearer(north, south)];
        let away = match (across.is_finite(), down.is_finite()) {
            (true, true) if across > 0.0 && down > 0.0 => across * down / libm::hypotf(across, down),
            _ => across.min(down),
        };
        let is_strong = (if across <= down { line } else { other }) % STRONG_EVERY == 0.0;
        let drawn = (reach - away * far as f32).clamp(0.0, 1.0) * if is_strong { 1.0 } else { PLAIN_LINE };
        let ground = mixed(paper, tones[tone_of(share(spot.height))], PAPER_TINT);
        mixed(ground, ink, drawn).map(srgb_from_linear)
    })
}

/// Where, on the way from one height to another, the first contour is met, as a share of the way, and its number.
fn crossing(from: f32, to: f32, interval_m: f32) -> Option<(f32, f32)> {
    let number = if to > from { (from / interval_m).ceil() } else { (from / interval_m).floor() };
    let level = number * interval_m;
    let is_between = (to > from && level <= to) || (to < from && level >= to);
    is_between.then(|| (((level - from) / (to - from)).max(0.0), number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    /// Land of 1 m from sample to sample.
    fn terrain(side: usize, height: impl FnMut(usize, usize) -> f32) -> Heightfield {
        let side_m = (side - 1) as f64;
        Heightfield::from_fn(Grid::new(Extent { width_m: side_m, depth_m: side_m }, side, side), height)
    }

    fn seen(view: MapView, terrain: &Heightfield) -> Vec<[u8; 3]> {
        let picture =
            view.picture(terrain, terrain.min_max(), &Light::default(), &Progress::new()).expect("not cancelled");
        assert_eq!((picture.width, picture.height), (terrain.grid().width(), terrain.grid().height()));
        picture.pixels.iter().map(|&[red, green, blue, _]| [red, green, blue]).collect()
    }

    #[test]
    fn grey_is_as_it_always_was() {
        let terrain = terrain(17, |c, r| (c * r) as f32);
        let picture = MapView::Grey.picture(&terrain, terrain.min_max(), &Light::default(), &Progress::new());
        assert_eq!(picture, Ok(Image::grayscale(&terrain)));
    }

    #[test]
    fn on_a_coarse_grid_a_sample_is_no_river_yet() {
        let grid = Grid::new(Extent { width_m: 3200.0, depth_m: 1600.0 }, 33, 17);
        let terrain = Heightfield::from_fn(grid, |c, r| c as f32 + 0.1 * r as f32);
        let seen = seen(MapView::Water(None), &terrain);
        let is_blue = |[red, _, blue]: &[u8; 3]| blue > red;
        assert!(!seen[8 * 33 + 30..8 * 33 + 32].iter().any(is_blue), "heads of valleys are dry");
        assert!(seen.iter().any(is_blue), "where more than 8 samples drain, there is a river");
    }

    #[test]
    fn rivers_lakes_and_the_sea_have_their_colours() {
        // A pit of 9 m × 9 m in a slope to the south, which ends in a sea.
        let terrain =
            terrain(65, |c, r| if (28..37).contains(&c) && (20..29).contains(&r) { 20.0 } else { 64.0 - r as f32 });
        let seen = seen(MapView::Water(Some(4.5)), &terrain);
        let at = |c: usize, r: usize| seen[r * 65 + c];
        let sky = |[red, _, blue]: [u8; 3]| i32::from(blue) - i32::from(red);
        assert_eq!(at(10, 63), WATER_COLOURS[2], "the sea");
        assert!(sky(at(32, 24)) > 60, "a lake: {:?}", at(32, 24));
        assert!(sky(at(5, 5)) < 20, "dry land: {:?}", at(5, 5));
        // Below the lake, of 8 samples a river: what the pit gathers leaves by one sample of its lower side.
        let river = (28..37).map(|c| sky(at(c, 45))).max();
        assert!(river > Some(60), "{river:?}");
    }

    #[test]
    fn level_ground_has_the_very_colours() {
        // Steps so far apart that the samples between them are level: at 0, 0.2 and 1 of the range.
        let steps = terrain(33, |c, _| [0.0, 2.0, 10.0][c / 11]);
        let tints = seen(MapView::Tints, &steps);
        for (c, share) in [(5, 0.0), (16, 0.2), (27, 1.0)] {
            let apart = tints[c].iter().zip(ELEVATION.colour(share)).map(|(a, b)| a.abs_diff(b)).max();
            assert!(apart <= Some(1), "{:?} at {share}", tints[c]);
        }
        let flat = terrain(9, |_, _| 7.0);
        let half_way = ELEVATION.colour(0.5);
        assert!(
            seen(MapView::Tints, &flat).iter().flatten().zip(half_way.iter().cycle()).all(|(a, b)| a.abs_diff(*b) <= 1)
        );
        // The sun stands at 40°: level ground gets its sine.
        let grey = (255.0 * libm::sin(40_f64.to_radians())).round() as u8;
        assert!(seen(MapView::Hillshade, &flat).iter().all(|colour| *colour == [grey; 3]));
    }

    #[test]
    fn a_slope_that_faces_the_sun_is_white_and_one_that_turns_away_is_black() {
        // The sun stands in the north-west at 40°. A slope of 50° that falls to the north-west meets it straight; one
        // of 50° that falls to the south-east lies in the shade.
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
    fn a_wall_is_red_and_what_lies_behind_it_amber() {
        let walled = terrain(33, |c, _| if c < 20 { 0.0 } else { 50.0 });
        let colours = seen(MapView::Walkable(45.0), &walled);
        let close = |c: usize, colour: [u8; 3]| colours[c].iter().zip(colour).all(|(a, b)| a.abs_diff(b) <= 1);
        assert!(close(5, WALKABLE_COLOURS[0]) && close(30, WALKABLE_COLOURS[1]));
        let [red, green, blue] = colours[19];
        assert!(red > 2 * green && red > 2 * blue, "{:?}", colours[19]);
        // A limit that lets one up the wall.
        let colours = seen(MapView::Walkable(89.0), &walled);
        assert!(colours.iter().all(|[red, green, _]| green > red));
    }

    #[test]
    fn intervals_are_round() {
        let of = |range: f32| contour_interval_m([-100.0, range - 100.0]);
        assert_eq!([20.0, 21.0, 100.0, 400.0, 640.0, 1000.0, 2000.0].map(of), [1.0, 2.0, 5.0, 20.0, 50.0, 50.0, 100.0]);
        assert_eq!([contour_interval_m([3.0, 3.0]), contour_interval_m([0.0, 0.2])], [1.0, 0.01]);
    }

    #[test]
    fn contours_lie_where_their_height_is() {
        // From 0 to 128 m in the east, 2 m a sample: lines every 10 m, five columns apart, from 0 m on.
        let ramp = terrain(65, |c, _| c as f32 * 2.0);
        assert_eq!(contour_interval_m(ramp.min_max()), 10.0);
        let colours = seen(MapView::Contours, &ramp);
        let darkness = |c: usize| 765 - colours[30 * 65 + c].iter().map(|channel| u32::from(*channel)).sum::<u32>();
        for c in 0..65 {
            let (is_line, is_strong) = (c % 5 == 0, c % 25 == 0);
            assert_eq!(darkness(c) > 200, is_line, "column {c}: {}", darkness(c));
            assert_eq!(darkness(c) > 520, is_strong, "column {c}: {}", darkness(c));
        }
        // Half way between two samples, both have half of the line.
        let between = seen(MapView::Contours, &terrain(65, |c, _| c as f32 * 2.0 + 1.0));
        let row = |c: usize| between[30 * 65 + c][2];
        assert!(
            row(4).abs_diff(row(5)) < 8 && row(4) < row(2) && row(5) < row(7),
            "{:?}",
            (2..8).map(row).collect::<Vec<_>>()
        );
        // A scarp without a line between its heights has none, and level ground none either.
        let scarp = terrain(65, |c, r| if c < 32 { 1.0 } else { 8.0 } + if (c, r) == (0, 0) { 192.0 } else { 0.0 });
        let colours = seen(MapView::Contours, &scarp);
        assert!((20..44).all(|c| colours[40 * 65 + c].iter().all(|channel| *channel > 150)));
    }

    #[test]
    fn lines_are_as_wide_as_eyes_need_on_fine_grids() {
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
