//! Pictures of what the land is like, for engines that light, mask and scatter by them.

use rayon::prelude::*;

use super::points::{Lines, Points, Walk};
use super::weigh::degrees_of;
use crate::engine::flow::{Outlets, Water};
use crate::engine::ground;
use crate::engine::heightfield::Heightfield;
use crate::engine::monitor::{Cancelled, Monitor};
use crate::engine::wide::{refill, rounded, wide};

/// Curvature is taken over the longer side of the world divided by this.
const CURVATURE_LENGTHS: f64 = 128.0;

/// The change of slope over that length, in metres per metre, at which the picture of the curvature is black or white.
const GREATEST_BEND: f32 = 0.5;

/// What a picture of the land shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chart {
    /// Where the ground faces: red east, green north, blue up, each from −1, black, to 1.
    Normals,
    /// The same with green south.
    NormalsSouth,
    /// The share of the sky that the ground sees.
    Occlusion,
    /// How steep the ground is.
    Slope,
    /// Where the land is hollow and where it bulges.
    Curvature,
    /// How wet the ground is.
    Humidity,
    /// The share of the day in the shade: that of the equinox at 45° north.
    Shade,
    /// How much land drains through each place.
    Drainage,
    /// Where so much land drains that there is a river.
    Rivers,
    /// How deep the lakes are.
    Lakes,
    /// How wet the ground is by the land that drains through it and its slope.
    Wetness,
    /// Where rivers have laid down what they carry.
    Sediment,
}

impl Chart {
    /// Every chart, each in the form that it has unless another one is asked for.
    pub const ALL: [Self; 11] = [
        Self::Normals,
        Self::Occlusion,
        Self::Slope,
        Self::Curvature,
        Self::Humidity,
        Self::Shade,
        Self::Drainage,
        Self::Rivers,
        Self::Lakes,
        Self::Wetness,
        Self::Sediment,
    ];

    /// The name, as options and files carry it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Normals | Self::NormalsSouth => "normals",
            Self::Occlusion => "occlusion",
            Self::Slope => "slope",
            Self::Curvature => "curvature",
            Self::Humidity => "humidity",
            Self::Shade => "shade",
            Self::Drainage => "drainage",
            Self::Rivers => "rivers",
            Self::Lakes => "lakes",
            Self::Wetness => "wetness",
            Self::Sediment => "sediment",
        }
    }

    /// What is shown, from black to white.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Normals => "Where the ground faces: red east, green north, blue up",
            Self::NormalsSouth => "Where the ground faces: red east, green south, blue up",
            Self::Occlusion => "The share of the sky that the ground sees: black none, white all of it",
            Self::Slope => "How steep the ground is: black 0°, white 90°",
            Self::Curvature => {
                "Crests light and hollows dark, mid grey where the slope stays the same: black and white where it \
                 changes by 0.5 over 1/128 of the world's longer side"
            }
            Self::Humidity => "How wet the ground is: black a dry crest, white a wet hollow",
            Self::Shade => {
                "The share of the day in the shade, at the equinox and 45° north: black sun all day, white shade all day"
            }
            Self::Drainage => {
                "How much land drains through each place, by its logarithm: black a millionth of the world, white all of it"
            }
            Self::Rivers => "Where at least a thousandth of the world drains, white",
            Self::Lakes => "How deep the lakes are once they are full: black dry ground, white the deepest",
            Self::Wetness => {
                "How wet the ground is by what drains through it and by its slope: black 3, white 18 of the topographic \
                 wetness index"
            }
            Self::Sediment => {
                "Where rivers lay down what they carry: black slopes and heights, white the widest and flattest floors of \
                 valleys"
            }
        }
    }

    /// The numbers that stand for a point.
    pub fn channels(self) -> usize {
        match self {
            Self::Normals | Self::NormalsSouth => 3,
            _ => 1,
        }
    }

    /// The most maps of a large land that [`chart`] holds at once beside the land and the picture.
    pub fn maps_held(self) -> f64 {
        match self {
            Self::Normals | Self::NormalsSouth | Self::Slope => 0.0,
            Self::Occlusion | Self::Humidity | Self::Shade | Self::Sediment => 1.0,
            Self::Curvature => 2.0,
            Self::Drainage | Self::Rivers | Self::Lakes | Self::Wetness => Water::MAPS,
        }
    }

    fn source(self, land: &Heightfield, sea_m: Option<f32>, monitor: &Monitor) -> Result<Source, Cancelled> {
        Ok(match self {
            Self::Normals => Source::Normals { green: 1.0 },
            Self::NormalsSouth => Source::Normals { green: -1.0 },
            Self::Slope => Source::Slope,
            Self::Occlusion => Source::Map(ground::occlusion(land, monitor)?),
            Self::Curvature => {
                let extent = land.grid().extent();
                let length_m = extent.width_m.max(extent.depth_m) / CURVATURE_LENGTHS;
                let mut bends = ground::curvature(land, length_m, monitor)?;
                let scale = 0.5 * length_m as f32 / GREATEST_BEND;
                bends.rows_mut().try_for_each(|row| {
                    row.iter_mut().for_each(|bend| *bend = 0.5 - scale * *bend);
                    monitor.check()
                })?;
                Source::Map(bends)
            }
            Self::Humidity => Source::Map(ground::humidity(land, monitor)?),
            Self::Shade => Source::Map(ground::shade(land, monitor)?),
            Self::Sediment => {
                let mut index = ground::sediment(land, monitor)?;
                index.rows_mut().try_for_each(|row| {
                    row.iter_mut().for_each(|index| *index /= ground::sediment::SIZES as f32);
                    monitor.check()
                })?;
                Source::Map(index)
            }
            Self::Drainage | Self::Rivers | Self::Lakes | Self::Wetness => {
                Source::Map(self.of_water(land, sea_m, monitor)?)
            }
        })
    }
}

impl Chart {
    /// What a chart of the water shows, as shares.
    fn of_water(self, land: &Heightfield, sea_m: Option<f32>, monitor: &Monitor) -> Result<Heightfield, Cancelled> {
        let grid = land.grid();
        let mut water = Water::on(land, Outlets::Border, sea_m, monitor)?;
        let mut lakes_m = std::mem::take(&mut water.lakes_m);
        let world_m2 = grid.extent().width_m * grid.extent().depth_m;
        let deepest_m = lakes_m.iter().copied().fold(0.0, f32::max);
        let area_m2 = |sample: usize| f64::from(water.areas_m2[sample]);
        let share = |sample: usize, lake_m: f32| match self {
            Self::Rivers => f32::from(u8::from(area_m2(sample) >= RIVER_SHARE * world_m2)),
            Self::Lakes => lake_m / deepest_m.max(f32::MIN_POSITIVE),
            Self::Wetness => {
                let wetness = water.wetness(land, sample % grid.width(), sample / grid.width());
                (wetness - WETNESS[0]) / (WETNESS[1] - WETNESS[0])
            }
            _ => (1.0 + libm::log10(area_m2(sample) / world_m2) / DECADES) as f32,
        };
        let tally = monitor.tally(grid.height());
        lakes_m.par_chunks_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
            row.iter_mut().enumerate().for_each(|(c, value)| *value = share(r * grid.width() + c, *value));
            tally.add_one()
        })?;
        Ok(Heightfield::from_heights(grid, lakes_m).unwrap_or_else(|| Heightfield::flat(grid)))
    }
}

/// The share of the world that drains through a river, at the least.
pub const RIVER_SHARE: f64 = 1e-3;

/// The powers of ten that the chart of the drainage goes down from the whole world.
const DECADES: f64 = 6.0;

/// The wetness that is black and the one that is white.
const WETNESS: [f32; 2] = [3.0, 18.0];

/// What the numbers of a chart come from.
#[derive(Debug)]
enum Source {
    /// Shares on the land's grid.
    Map(Heightfield),
    /// The gradients; the factor turns green from north to south.
    Normals { green: f32 },
    /// The gradients.
    Slope,
}

/// What is worked out for a row of points, kept from one row to the next.
#[derive(Debug, Default)]
struct Space {
    lines: Lines,
    east: Vec<f32>,
    south: Vec<f32>,
    shares: Vec<f32>,
}

impl Source {
    /// The shares of row `j`, channels side by side.
    #[inline(always)]
    fn row(&self, walk: &Walk, j: usize, space: &mut Space) {
        let Space { lines, east, south, shares } = space;
        match self {
            Self::Map(map) => walk.read(map, j, lines, shares),
            Self::Normals { green } => {
                walk.read_gradients(j, lines, [east, south]);
                shares.resize(3 * east.len(), 0.0);
                for (shares, (east, south)) in shares.as_chunks_mut().0.iter_mut().zip(east.iter().zip(&*south)) {
                    // The normal is (−east, 1, −south)/√(1 + east² + south²), and north is −south.
                    let up = 1.0 / (1.0 + east * east + south * south).sqrt();
                    *shares = [0.5 - 0.5 * east * up, 0.5 + 0.5 * green * south * up, 0.5 + 0.5 * up];
                }
            }
            Self::Slope => {
                walk.read_gradients(j, lines, [east, south]);
                let angles = east.iter().zip(&*south);
                refill(shares, angles.map(|(east, south)| degrees_of((east * east + south * south).sqrt()) / 90.0));
            }
        }
    }
}

/// The chart of the land at every point, row by row, its channels side by side; `full` stands for white. Rivers end
/// in a sea, if there is one at that level in metres.
pub fn chart(
    land: &Heightfield,
    chart: Chart,
    sea_m: Option<f32>,
    points: Points,
    full: u16,
    monitor: &Monitor,
) -> Result<Vec<u16>, Cancelled> {
    let source = monitor.within(0.0..0.5, || chart.source(land, sea_m, monitor))?;
    monitor.within(0.5..1.0, || source.drawn(land, chart.channels(), points, full, monitor))
}

impl Source {
    fn drawn(
        &self,
        land: &Heightfield,
        channels: usize,
        points: Points,
        full: u16,
        monitor: &Monitor,
    ) -> Result<Vec<u16>, Cancelled> {
        let walk = Walk::new(land, points);
        let [width, height] = walk.size;
        let along = channels * width;
        let tally = monitor.tally(height);
        let mut values = vec![0; along * height];
        values.par_chunks_mut(along.max(1)).enumerate().try_for_each_init(Space::default, |space, (j, values)| {
            wide(
                #[inline(always)]
                || {
                    self.row(&walk, j, space);
                    for (value, share) in values.iter_mut().zip(&space.shares) {
                        *value = rounded((share.clamp(0.0, 1.0) * f32::from(full) + 0.5).floor()) as u16;
                    }
                },
            );
            tally.add_one()
        })?;
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    const WORLD: Extent = Extent { width_m: 640.0, depth_m: 320.0 };

    fn drawn(land: &Heightfield, what: Chart, full: u16) -> Vec<u16> {
        chart(land, what, None, Points::Pixels([8, 4]), full, &Monitor::new()).expect("not cancelled")
    }

    fn ramp(east: f32, south: f32) -> Heightfield {
        let grid = Grid::new(WORLD, 65, 33);
        Heightfield::from_fn(grid, |c, r| east * grid.x_m(c) as f32 + south * grid.z_m(r) as f32)
    }

    #[test]
    fn normals_of_level_ground_and_of_ramps_by_hand() {
        let pixel = |land: &Heightfield, what, full| drawn(land, what, full)[15..18].to_vec();
        assert_eq!(pixel(&ramp(0.0, 0.0), Chart::Normals, 255), [128, 128, 255]);
        assert_eq!(pixel(&ramp(0.0, 0.0), Chart::Normals, 65_535), [32_768, 32_768, 65_535]);
        // 45° rising to the east: the normal is (−1, 0, 1)/√2; 0.5 ∓ 0.3536 of 255 are 37.3 and 217.7.
        assert_eq!(pixel(&ramp(1.0, 0.0), Chart::Normals, 255), [37, 128, 218]);
        // Rising to the south it faces north, which is up on the map: green is light, or dark where it counts southward.
        assert_eq!(pixel(&ramp(0.0, 1.0), Chart::Normals, 255), [128, 218, 218]);
        assert_eq!(pixel(&ramp(0.0, 1.0), Chart::NormalsSouth, 255), [128, 37, 218]);
    }

    #[test]
    fn greys_of_ramps_by_hand() {
        let first = |land: &Heightfield, what, full| drawn(land, what, full)[0];
        // 60° of 90°.
        assert_eq!(first(&ramp(-3.0_f32.sqrt(), 0.0), Chart::Slope, 255), 170);
        assert!(first(&ramp(0.0, 3.0_f32.sqrt()), Chart::Slope, 65_535).abs_diff(43_690) <= 1);
        for what in [Chart::Curvature, Chart::Humidity] {
            assert_eq!(first(&ramp(0.0, 0.0), what, 65_535), 32_768, "{what:?}");
        }
        assert!(first(&ramp(0.5, -0.25), Chart::Curvature, 65_535).abs_diff(32_768) <= 1);
        assert_eq!(
            (first(&ramp(0.0, 0.0), Chart::Occlusion, 255), first(&ramp(0.0, 0.0), Chart::Shade, 255)),
            (255, 0)
        );
    }

    #[test]
    fn a_bowl_is_dark_by_its_radius() {
        // Gentle land h = x²/(2·R) + z²/(2·R) has the curvature 1/R; over 640 m/128 the slope changes by 5 m/R = 0.25.
        let grid = Grid::new(WORLD, 257, 129);
        let bowl = |sign: f64| {
            Heightfield::from_fn(grid, |c, r| {
                let (x, z) = (grid.x_m(c) - 320.0, grid.z_m(r) - 160.0);
                (sign * (x * x + z * z) / 40.0) as f32
            })
        };
        for (sign, share) in [(1.0, 0.25), (-1.0, 0.75)] {
            let values = drawn(&bowl(sign), Chart::Curvature, 65_535);
            assert!((f64::from(values[8 + 4]) / 65_535.0 - share).abs() < 2e-3, "{} for {share}", values[12]);
        }
    }

    #[test]
    fn the_water_on_a_ramp_by_hand() {
        // Falling 1 in 2 to the south, without a hollow: every column gathers its own water, a cell of 10 m × 10 m a row.
        let land = ramp(0.0, -0.5);
        let charted = |what| chart(&land, what, None, Points::Samples, 65_535, &Monitor::new()).expect("not cancelled");
        let at = |values: &[u16], c: usize, r: usize| f64::from(values[r * 65 + c]) / 65_535.0;
        let world_m2 = 640.0 * 320.0;
        // The water of rows 1 to 20 goes by row 20.
        let share = |cells: f64| 1.0 + libm::log10(cells * 100.0 / world_m2) / 6.0;
        assert!((at(&charted(Chart::Drainage), 30, 20) - share(20.0)).abs() < 1e-3);
        let rivers = charted(Chart::Rivers);
        assert_eq!((at(&rivers, 30, 2), at(&rivers, 30, 3)), (0.0, 1.0), "204.8 m² are two cells and a bit");
        assert_eq!(charted(Chart::Lakes).iter().max(), Some(&0));
        let wetness = (libm::log(20.0 * 100.0 / 10.0 / 0.5) - 3.0) / 15.0;
        assert!((at(&charted(Chart::Wetness), 30, 20) - wetness).abs() < 1e-3);
        // Into a sea up to the middle nothing of the land beyond flows on.
        let sea = chart(&land, Chart::Rivers, Some(-80.0), Points::Samples, 255, &Monitor::new());
        assert_eq!(sea.expect("not cancelled")[30 * 65 + 30], 0);
    }

    #[test]
    fn the_samples_are_among_the_points_and_a_cancelled_chart_ends() {
        let land = ramp(0.3, 0.4);
        let values = chart(&land, Chart::Slope, None, Points::Samples, 65_535, &Monitor::new()).expect("not cancelled");
        assert_eq!(values.len(), 65 * 33);
        let gone = Monitor::new();
        gone.cancel();
        for what in Chart::ALL {
            assert_eq!(chart(&land, what, None, Points::Samples, 255, &gone), Err(Cancelled), "{what:?}");
        }
    }
}
