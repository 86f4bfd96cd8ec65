//! Stamps: pieces of terrain from other files.
//!
//! With s the height of a stamp at a place, less that of the stamp's border, and w the weight of its feather, the terrain
//! h becomes (1 − w)·h + w·blend(h, base + s). The base is the height of the border: by default the one at which the
//! border changes nothing. That is 0 for sums and differences and 1 for products; the other blends lay the border at
//! the height of the terrain under the centre, which makes them read the terrain at one more place.

use rayon::prelude::*;

use super::heightmap::DEFAULT_HIGH_M;
use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::blend::Blend;
use crate::cast::ToFloat;
use crate::heightfield::{Extent, Grid, Heightfield, MAX_HEIGHT_M};
use crate::inputs::{Inputs, Raster, SampleScale};
use crate::outline::unit_vector;
use crate::parameters::{Band, FileName, List, MAX_COORDINATE_M, ParameterError, Point, Spec, choices, parameters};
use crate::progress::{Cancelled, Progress};
use crate::resample::{Sampling, bicubic_at};
use crate::rounding::{smooth_maximum, smooth_minimum, smoothstep};
use crate::strokes::Columns;

choices! {
    /// How a stamp is mirrored.
    pub enum Mirror {
        /// As it is in the file.
        None = "none", "None";
        /// East and west are swapped.
        EastWest = "east_west", "East and west";
        /// North and south are swapped.
        NorthSouth = "north_south", "North and south";
    }
}

parameters! {
    /// A piece of terrain from a file.
    pub struct Stamp {
        /// Terrain of the stamp: a heightmap or an image, another project, or a stamp that ships with the program.
        /// Imported files are stored inside the project.
        file: FileName = FileName("assets/stamps/crater.upthrust.json".into()), Spec::new("File");
        /// Centre, metres east and south of the map's north-west corner.
        centre_m: Point = Point { x_m: 2048.0, z_m: 2048.0 },
            Spec::number("Centre", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m");
        /// Lengths of the sides before rotation: west to east, and north to south.
        size_m: Point = Point { x_m: 1000.0, z_m: 1000.0 },
            Spec::number("Size", 0.01, MAX_COORDINATE_M).slider(10.0, 4096.0).unit("m").logarithmic();
        /// Clockwise rotation around the centre.
        turn_deg: f64 = 0.0, Spec::number("Rotation", -360.0, 360.0).slider(-180.0, 180.0).unit("°");
        /// Whether the stamp is mirrored, before it is rotated.
        mirror: Mirror = Mirror::None, Spec::new("Mirror");
        /// Height from the lowest to the highest point of the stamp. Off: as in its file; an image has 1000 m from
        /// black to white.
        height_m: Option<f64> = None,
            Spec::number("Height", 0.0, 20_000.0).slider(0.0, 2000.0).unit("m").none("as in the file");
        /// Factor by which heights are multiplied. Negative values turn hills into hollows.
        scale: f64 = 1.0, Spec::number("Height scale", -100.0, 100.0).slider(-2.0, 2.0);
        /// How the stamp is combined with the terrain below it.
        blend: Blend = Blend::Add, Spec::new("Stamp blend");
        /// The difference in height below which a smooth maximum or minimum is rounded.
        rounding_m: f64 = 50.0, Spec::number("Rounding", 0.0, 10_000.0).slider(0.0, 500.0).unit("m")
            .when("blend", &["smooth_maximum", "smooth_minimum"]);
        /// Height to which the stamp's border is set. Off: with the blends Add, Subtract and Multiply, the border leaves
        /// the terrain unchanged; with others, it has the height of the terrain at the stamp's centre.
        base_m: Option<f64> = None,
            Spec::number("Border height", -20_000.0, 100_000.0).slider(-500.0, 3000.0).unit("m").none("from the terrain");
        /// Distance from the edge over which the stamp fades in.
        feather_m: f64 = 100.0, Spec::number("Falloff", 0.0, MAX_COORDINATE_M).slider(0.0, 1000.0).unit("m");
        /// Whether the stamp has any effect.
        enabled: bool = true, Spec::new("Enabled");
    }
}

parameters! {
    /// Stamps pieces of terrain from other files onto the terrain. Each has its own position, size, rotation and
    /// blend.
    pub struct Stamps {
        /// The stamps. Each acts on the terrain that those before it left.
        stamps: List<Stamp> = vec![Stamp::default()].into(), Spec::new("Stamps");
    }
}

/// The width of the feather of a new stamp, as a fraction of its shorter side.
const FEATHER_SHARE: f64 = 0.1;

impl Stamp {
    /// Takes a chosen file: a size that is known becomes that of the stamp, and a range of heights for the lowest and
    /// the highest value of an image its factor.
    pub fn set_file(&mut self, file: FileName, extent: Option<Extent>, range_m: Option<Band>) {
        self.file = file;
        if let Some(Extent { width_m, depth_m }) = extent {
            self.size_m = Point { x_m: width_m, z_m: depth_m };
            self.feather_m = FEATHER_SHARE * width_m.min(depth_m);
        }
        if let Some(range) = range_m {
            self.scale = (range.max - range.min) / DEFAULT_HIGH_M;
        }
    }

    /// Whether the border of the stamp is at the height of the terrain under its centre.
    fn stands_on_terrain(&self) -> bool {
        match self.blend {
            Blend::Add | Blend::Subtract | Blend::Multiply => false,
            Blend::Maximum | Blend::Minimum | Blend::Replace | Blend::SmoothMaximum | Blend::SmoothMinimum => {
                self.base_m.is_none()
            }
        }
    }

    /// The factor from values of the raster to metres.
    fn factor(&self, raster: &Raster, progress: &Progress) -> Result<f64, Cancelled> {
        let factor = match (self.height_m, raster.scale) {
            (None, SampleScale::Metres) => 1.0,
            (None, SampleScale::Integers { max_value }) => DEFAULT_HIGH_M / f64::from(max_value),
            (Some(height_m), _) => {
                let [low, high] = range(raster, progress)?.map(f64::from);
                if high > low { height_m / (high - low) } else { 0.0 }
            }
        };
        Ok(self.scale * factor)
    }

    /// The stamp on this terrain, whose height at a point is `terrain`.
    fn placed<'a>(
        &'a self,
        raster: &'a Raster,
        terrain: impl Fn([f64; 2]) -> f64,
        progress: &Progress,
    ) -> Result<PlacedStamp<'a>, Cancelled> {
        let centre = [self.centre_m.x_m, self.centre_m.z_m];
        let base_m = self.base_m.unwrap_or_else(|| match self.blend {
            Blend::Add | Blend::Subtract => 0.0,
            Blend::Multiply => 1.0,
            Blend::Maximum | Blend::Minimum | Blend::Replace | Blend::SmoothMaximum | Blend::SmoothMinimum => {
                terrain(centre)
            }
        });
        let (axis, half) = (unit_vector(self.turn_deg), [0.5 * self.size_m.x_m, 0.5 * self.size_m.z_m]);
        let ([cos, sin], [a, b]) = (axis, half);
        let [reach_x, reach_z] = [(a * cos).abs() + (b * sin).abs(), (a * sin).abs() + (b * cos).abs()];
        let bounds = [centre[0] - reach_x, centre[1] - reach_z, centre[0] + reach_x, centre[1] + reach_z];
        let factor = self.factor(raster, progress)?;
        let offset_m = base_m - factor * border_value(raster);
        Ok(PlacedStamp { stamp: self, raster, centre, axis, half, bounds, factor, offset_m })
    }
}

/// The lowest and the highest value of a raster.
fn range(raster: &Raster, progress: &Progress) -> Result<[f32; 2], Cancelled> {
    let mut range = [f32::INFINITY, f32::NEG_INFINITY];
    for row in raster.samples.chunks(raster.width) {
        progress.check()?;
        range = row.iter().fold(range, |[low, high], value| [low.min(*value), high.max(*value)]);
    }
    Ok(range)
}

/// The median of the values at the border of a raster. Unlike the mean, it stays where most of the border is if a
/// valley or a ridge leaves the stamp.
fn border_value(raster: &Raster) -> f64 {
    let border_of = |(r, row): (usize, &[f32])| match row {
        [first, .., last] if r > 0 && r + 1 < raster.height => vec![*first, *last],
        _ => row.to_vec(),
    };
    let mut border: Vec<f32> = raster.samples.chunks(raster.width).enumerate().flat_map(border_of).collect();
    border.sort_unstable_by(f32::total_cmp);
    let half_of = |i: usize| border.get(i).map_or(0.0, |value| 0.5 * f64::from(*value));
    half_of(border.len().saturating_sub(1) / 2) + half_of(border.len() / 2)
}

/// A stamp prepared for evaluation.
#[derive(Debug)]
struct PlacedStamp<'a> {
    stamp: &'a Stamp,
    raster: &'a Raster,
    centre: [f64; 2],
    /// The unit vector of the stamp's own east; its south is a quarter turn clockwise of it.
    axis: [f64; 2],
    /// Half the lengths along both sides.
    half: [f64; 2],
    /// The western, northern, eastern and southern limits of the rectangle.
    bounds: [f64; 4],
    /// The height of a value is `offset_m` + `factor` · value.
    factor: f64,
    offset_m: f64,
}

impl PlacedStamp<'_> {
    /// Whether the rectangle meets a row.
    fn meets_row(&self, z_m: f64) -> bool {
        let [_, north, _, south] = self.bounds;
        (north..=south).contains(&z_m)
    }

    /// The terrain at a point after the stamp; `height` without it.
    fn applied(&self, height: f64, [x, z]: [f64; 2]) -> f64 {
        let ([cos, sin], [dx, dz]) = (self.axis, [x - self.centre[0], z - self.centre[1]]);
        let place = [dx * cos + dz * sin, dz * cos - dx * sin];
        let weight = self.weight(place);
        if weight == 0.0 {
            return height;
        }
        let blended = self.blended(height, self.own_height(place));
        ((1.0 - weight) * height + weight * blended).clamp(-f64::from(MAX_HEIGHT_M), f64::from(MAX_HEIGHT_M))
    }

    /// The weight at a place in the rectangle: the product of those along both axes, which has no creases.
    fn weight(&self, [u, v]: [f64; 2]) -> f64 {
        let along = |from_edge_m: f64| match self.stamp.feather_m {
            _ if from_edge_m < 0.0 => 0.0,
            0.0 => 1.0,
            feather_m => smoothstep((from_edge_m / feather_m).min(1.0)),
        };
        along(self.half[0] - u.abs()) * along(self.half[1] - v.abs())
    }

    /// The height of the stamp at a place in the rectangle.
    fn own_height(&self, [u, v]: [f64; 2]) -> f64 {
        let [u, v] = match self.stamp.mirror {
            Mirror::None => [u, v],
            Mirror::EastWest => [-u, v],
            Mirror::NorthSouth => [u, -v],
        };
        let position = |at: f64, half: f64, count: usize| (at + half) * (count - 1).to_f64() / (2.0 * half);
        let Raster { width, height, samples, .. } = self.raster;
        let at = [position(u, self.half[0], *width), position(v, self.half[1], *height)];
        self.offset_m + self.factor * bicubic_at(samples, *width, Sampling::Terrain, at)
    }

    fn blended(&self, below: f64, own: f64) -> f64 {
        // These are computed with the precision of a stack's blends.
        let rounded =
            |of: fn(f32, f32, f32) -> f32| f64::from(of(below.to_f32(), own.to_f32(), self.stamp.rounding_m.to_f32()));
        match self.stamp.blend {
            Blend::Add => below + own,
            Blend::Subtract => below - own,
            Blend::Multiply => below * own,
            Blend::Maximum => below.max(own),
            Blend::Minimum => below.min(own),
            Blend::Replace => own,
            Blend::SmoothMaximum => rounded(smooth_maximum),
            Blend::SmoothMinimum => rounded(smooth_minimum),
        }
    }
}

impl Stamps {
    /// An error if an enabled stamp has no file, or one that is not there. It then has no effect.
    pub fn check_files(&self, has_file: &dyn Fn(&FileName) -> bool) -> Result<(), ParameterError> {
        let missing = |stamp: &Stamp| stamp.enabled && !has_file(&stamp.file);
        let Some(i) = self.stamps.iter().position(missing) else { return Ok(()) };
        let name = &self.stamps[i].file.0;
        let problem = match name.as_str() {
            "" => "the stamp has no file; choose one, or disable the stamp".into(),
            _ => format!("the project does not contain the file \"{name}\"; choose another one, or disable the stamp"),
        };
        Err(ParameterError::conflict(format!("stamps.{i}.file"), problem))
    }

    /// The stamps that have an effect, in their order.
    fn placed<'a>(
        &'a self,
        grid: Grid,
        below: Option<&Heightfield>,
        inputs: &'a Inputs,
        progress: &Progress,
    ) -> Result<Vec<PlacedStamp<'a>>, Cancelled> {
        let mut placed: Vec<PlacedStamp> = Vec::new();
        for stamp in self.stamps.iter().filter(|stamp| stamp.enabled) {
            if let Some(raster) = inputs.get(&stamp.file) {
                progress.check()?;
                let next = stamp.placed(raster, |at| height_at(grid, below, &placed, at), progress)?;
                placed.push(next);
            }
        }
        Ok(placed)
    }
}

/// The height at a point after these stamps, interpolated bilinearly. Points outside are clamped to the border.
fn height_at(grid: Grid, below: Option<&Heightfield>, stamps: &[PlacedStamp], place_m: [f64; 2]) -> f64 {
    grid.interpolated(place_m, |c, r| {
        let height = below.map_or(0.0, |below| f64::from(below[(c, r)]));
        stamps.iter().fold(height, |height, stamp| stamp.applied(height, [grid.x_m(c), grid.z_m(r)]))
    })
}

impl Operation for Stamps {
    const KEY: &'static str = "stamps";
    const LABEL: &'static str = "Stamps";
    const WORDS: &'static str = "crater caldera hill landform mountain paste place";

    fn role(&self) -> Role {
        Role::Modifier
    }

    fn is_pointwise(&self) -> bool {
        !self.stamps.iter().any(|stamp| stamp.enabled && stamp.stands_on_terrain())
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, progress) = (context.grid, context.progress);
        let placed = self.placed(grid, context.below, context.inputs, progress)?;
        let columns = Columns::new(grid);
        let mut terrain = context.heights_below()?;
        let counter = progress.counter(grid.height());
        let rows = terrain.heights_mut().par_chunks_mut(grid.width()).enumerate();
        rows.try_for_each_init(Vec::new, |heights, (r, row)| {
            let z_m = grid.z_m(r);
            let mut meeting = placed.iter().filter(|stamp| stamp.meets_row(z_m)).peekable();
            if meeting.peek().is_some() {
                heights.clear();
                heights.extend(row.iter().copied().map(f64::from));
                for stamp in meeting {
                    let [west, _, east, _] = stamp.bounds;
                    for c in columns.between(west, east) {
                        heights[c] = stamp.applied(heights[c], [columns.xs_m()[c], z_m]);
                    }
                }
                row.iter_mut().zip(&*heights).for_each(|(to, height)| *to = height.to_f32());
            }
            counter.add_one()
        })?;
        Ok(terrain)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{assert_subset, rough_terrain, stream};
    use super::*;

    const WORLD: Extent = Extent { width_m: 400.0, depth_m: 400.0 };

    fn grid(samples: usize) -> Grid {
        Grid::new(WORLD, samples, samples)
    }

    fn point(x_m: f64, z_m: f64) -> Point {
        Point { x_m, z_m }
    }

    fn file(name: &str) -> FileName {
        FileName(name.into())
    }

    fn raster(width: usize, height: usize, value: impl Fn(usize, usize) -> f32) -> Raster {
        let samples = (0..width * height).map(|i| value(i % width, i / width)).collect();
        Raster { width, height, samples, scale: SampleScale::Metres }
    }

    /// A stamp of 100 m by 80 m in the middle of the world, without a feather.
    fn stamp() -> Stamp {
        Stamp {
            file: file("a"),
            centre_m: point(200.0, 200.0),
            size_m: point(100.0, 80.0),
            feather_m: 0.0,
            ..Default::default()
        }
    }

    fn evaluated(stamps: Vec<Stamp>, raster: &Raster, grid: Grid, below: Option<&Heightfield>) -> Heightfield {
        let rasters = [(file("a"), Arc::new(raster.clone()))].into();
        let (inputs, progress) = (Inputs { rasters, ..Default::default() }, Progress::new());
        let context = EvalContext { below, stream: stream(), ..EvalContext::new(grid, &inputs, &progress) };
        Stamps { stamps: stamps.into() }.evaluate(&context, 0, None).expect("not cancelled")
    }

    /// The heights of a stamp on flat terrain at its west, north, east and south, 20 m inside its rectangle of 80 m,
    /// and in its centre.
    fn around(stamp: Stamp, raster: &Raster) -> [f32; 5] {
        let stamp = Stamp { size_m: point(80.0, 80.0), ..stamp };
        let terrain = evaluated(vec![stamp], raster, grid(21), None);
        [(9, 10), (10, 9), (11, 10), (10, 11), (10, 10)].map(|place| terrain[place])
    }

    #[test]
    fn stamps_are_mirrored_scaled_and_turned_clockwise() {
        // Rises by 1 m per column and 10 m per row; the border's median is that of the middle.
        let plane = raster(5, 5, |c, r| c as f32 + 10.0 * r as f32);
        let check = |stamp: Stamp, expected: [f32; 5]| assert_eq!(around(stamp, &plane), expected);
        check(stamp(), [-1.0, -10.0, 1.0, 10.0, 0.0]);
        check(Stamp { scale: -2.0, ..stamp() }, [2.0, 20.0, -2.0, -20.0, 0.0]);
        check(Stamp { mirror: Mirror::EastWest, ..stamp() }, [1.0, -10.0, -1.0, 10.0, 0.0]);
        check(Stamp { mirror: Mirror::NorthSouth, ..stamp() }, [-1.0, 10.0, 1.0, -10.0, 0.0]);
        // Clockwise: the east of the stamp points south, its south points west.
        check(Stamp { turn_deg: 90.0, ..stamp() }, [10.0, -1.0, -10.0, 1.0, 0.0]);
        check(Stamp { turn_deg: -90.0, ..stamp() }, [-10.0, 1.0, 10.0, -1.0, 0.0]);
        // Mirrored first, then turned.
        check(Stamp { turn_deg: 90.0, mirror: Mirror::EastWest, ..stamp() }, [10.0, 1.0, -10.0, -1.0, 0.0]);
        // The range is 44 m.
        check(Stamp { height_m: Some(88.0), ..stamp() }, [-2.0, -20.0, 2.0, 20.0, 0.0]);
        check(Stamp { base_m: Some(5.0), ..stamp() }, [4.0, -5.0, 6.0, 15.0, 5.0]);
        let bytes = Raster { scale: SampleScale::Integers { max_value: 2000.0 }, ..plane.clone() };
        assert_eq!(around(stamp(), &bytes), [-0.5, -5.0, 0.5, 5.0, 0.0]);
    }

    #[test]
    fn any_turn_agrees_with_the_plane_and_nothing_changes_outside() {
        let plane = raster(9, 9, |c, r| 3.0 * c as f32 - 2.0 * r as f32);
        let (grid, turn_deg) = (grid(101), 33.0_f64);
        let below = rough_terrain(grid);
        let terrain = evaluated(vec![Stamp { turn_deg, ..stamp() }], &plane, grid, Some(&below));
        let (sin, cos) = libm::sincos(turn_deg.to_radians());
        let (mut inside, mut outside) = (0, 0);
        for (c, r) in (0..101).flat_map(|r| (0..101).map(move |c| (c, r))) {
            let (dx, dz) = (grid.x_m(c) - 200.0, grid.z_m(r) - 200.0);
            let (u, v) = (dx * cos + dz * sin, dz * cos - dx * sin);
            if u.abs() > 50.0 || v.abs() > 40.0 {
                outside += 1;
                assert_eq!(terrain[(c, r)].to_bits(), below[(c, r)].to_bits());
            } else {
                inside += 1;
                // 8 spaces between samples on 100 m and on 80 m; the median is that of the middle, 4.
                let expected = 3.0 * u * 8.0 / 100.0 - 2.0 * v * 8.0 / 80.0;
                let found = f64::from(terrain[(c, r)]) - f64::from(below[(c, r)]);
                assert!((found - expected).abs() < 1e-3, "{u}, {v}: {found}, not {expected}");
            }
        }
        assert!(inside > 450 && outside > 9000, "{inside}, {outside}");
    }

    #[test]
    fn the_feather_is_a_smoothstep_inside_the_edge() {
        let hill = raster(3, 3, |c, r| if c == 1 && r == 1 { 64.0 } else { 0.0 });
        let flat = Stamp { blend: Blend::Replace, base_m: Some(64.0), scale: 0.0, ..stamp() };
        let stamp = Stamp { size_m: point(160.0, 400.0), feather_m: 40.0, ..flat };
        let terrain = evaluated(vec![stamp], &hill, grid(41), None);
        // 0, 10, 20, 30 and 40 m from the western edge at 120 m: t = 0, ¼, ½, ¾ and 1.
        let row = |r: usize| terrain.row(r)[11..18].to_vec();
        assert_eq!(row(20), [0.0, 0.0, 10.0, 32.0, 54.0, 64.0, 64.0]);
        // At 20 m from the northern edge too, the product of both.
        assert_eq!(row(2), [0.0, 0.0, 5.0, 16.0, 27.0, 32.0, 32.0]);
        assert_eq!(terrain.row(20)[28], 0.0);
    }

    #[test]
    fn every_blend_has_a_border_that_fits_the_terrain() {
        // The border is at 100 m, the middle 20 m above it.
        let mound = raster(5, 5, |c, r| if c == 2 && r == 2 { 120.0 } else { 100.0 });
        // A slope of 30 m per sample eastward: 300 m in the centre.
        let below = Heightfield::from_fn(grid(21), |c, _| 30.0 * c as f32);
        let row = |blend: Blend, base_m: Option<f64>| {
            let stamp = Stamp { blend, base_m, size_m: point(80.0, 80.0), ..stamp() };
            let terrain = evaluated(vec![stamp], &mound, grid(21), Some(&below));
            terrain.row(10)[7..14].to_vec()
        };
        assert_eq!(row(Blend::Add, None), [210.0, 240.0, 270.0, 320.0, 330.0, 360.0, 390.0]);
        assert_eq!(row(Blend::Subtract, None), [210.0, 240.0, 270.0, 280.0, 330.0, 360.0, 390.0]);
        assert_eq!(row(Blend::Multiply, None), [210.0, 240.0, 270.0, 6300.0, 330.0, 360.0, 390.0]);
        assert_eq!(row(Blend::Replace, None), [210.0, 300.0, 300.0, 320.0, 300.0, 300.0, 390.0]);
        assert_eq!(row(Blend::Maximum, None), [210.0, 300.0, 300.0, 320.0, 330.0, 360.0, 390.0]);
        assert_eq!(row(Blend::Minimum, None), [210.0, 240.0, 270.0, 300.0, 300.0, 300.0, 390.0]);
        assert_eq!(row(Blend::Replace, Some(7.0)), [210.0, 7.0, 7.0, 27.0, 7.0, 7.0, 390.0]);
        let stamps = |blend, base_m| Stamps { stamps: vec![Stamp { blend, base_m, ..stamp() }].into() };
        assert!(stamps(Blend::Add, None).is_pointwise() && stamps(Blend::Replace, Some(0.0)).is_pointwise());
        assert!(!stamps(Blend::Maximum, None).is_pointwise());
    }

    #[test]
    fn stamps_act_in_order() {
        let level = raster(2, 2, |_, _| 0.0);
        let replace = |base_m| Stamp { blend: Blend::Replace, base_m, ..stamp() };
        let add = Stamp { base_m: Some(10.0), ..stamp() };
        let centre = |stamps: Vec<Stamp>| evaluated(stamps, &level, grid(21), None)[(10, 10)];
        assert_eq!(centre(vec![replace(Some(5.0)), add.clone()]), 15.0);
        assert_eq!(centre(vec![add.clone(), replace(Some(5.0))]), 5.0);
        // The border is at the height that the stamp before it left.
        assert_eq!(centre(vec![add.clone(), replace(None), add.clone()]), 20.0);
        assert_eq!(centre(vec![Stamp { enabled: false, ..add }]), 0.0);
    }

    #[test]
    fn added_stamps_are_exact_subsets_on_flat_terrain() {
        let rough = raster(65, 49, |c, r| ((c * 7919 + r * 104_729) % 97) as f32);
        let stamps = vec![
            Stamp { turn_deg: 20.0, feather_m: 15.0, size_m: point(210.3, 170.0), ..stamp() },
            Stamp { blend: Blend::Subtract, mirror: Mirror::EastWest, centre_m: point(90.0, 310.0), ..stamp() },
        ];
        let [small, large] = [257, 1025].map(|samples| evaluated(stamps.clone(), &rough, grid(samples), None));
        assert!(small.min_max()[1] > 20.0);
        assert_subset(&small, &large);
    }

    #[test]
    fn a_chosen_file_brings_its_size_and_its_range() {
        let mut stamp = stamp();
        stamp.set_file(file("b.json"), Some(Extent { width_m: 900.0, depth_m: 400.0 }), None);
        assert_eq!((&stamp.file, stamp.size_m, stamp.feather_m), (&file("b.json"), point(900.0, 400.0), 40.0));
        stamp.set_file(file("c.png"), None, Some(Band { min: -50.0, max: 450.0 }));
        assert_eq!((stamp.size_m, stamp.scale), (point(900.0, 400.0), 0.5));
    }

    #[test]
    fn the_border_is_at_its_median() {
        // A valley leaves through the southern border: the median stays at 50, the mean does not.
        let valley = raster(9, 7, |c, r| if (3..6).contains(&c) && r > 2 { -30.0 } else { 50.0 });
        assert_eq!(border_value(&valley), 50.0);
        for (width, height) in [(1, 1), (1, 5), (5, 1), (2, 2)] {
            assert_eq!(border_value(&raster(width, height, |_, _| 4.0)), 4.0);
        }
        let inner = raster(5, 5, |c, r| if (1..4).contains(&c) && (1..4).contains(&r) { 9.0 } else { 1.0 });
        assert_eq!(border_value(&inner), 1.0);
    }

    #[test]
    fn a_stamp_without_its_file_is_reported_and_does_nothing() {
        let stamps = |name: &str| Stamps {
            stamps: vec![stamp(), Stamp { file: file(name), base_m: Some(3.0), ..stamp() }].into(),
        };
        let message = |name: &str| {
            let checked = stamps(name).check_files(&|name| *name == file("a"));
            checked.expect_err("no file").to_string()
        };
        assert_eq!(message(""), "stamps.1.file: the stamp has no file; choose one, or disable the stamp");
        assert!(message("b.png").starts_with("stamps.1.file: the project does not contain the file \"b.png\"; choose"));
        let level = raster(2, 2, |_, _| 0.0);
        assert_eq!(evaluated(stamps("b.png").stamps.to_vec(), &level, grid(9), None), Heightfield::flat(grid(9)));
        let disabled = Stamps { stamps: vec![Stamp { file: file(""), enabled: false, ..stamp() }].into() };
        assert_eq!(disabled.check_files(&|_| false), Ok(()));
    }
}
