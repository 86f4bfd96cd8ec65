//! Pictures of what the land is like, for engines that light, mask and scatter by them.

use rayon::prelude::*;

use super::points::{Lines, Points, Walk};
use super::weigh::degrees_of;
use crate::engine::flow::{Outlets, Water};
use crate::engine::heightfield::Heightfield;
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::{refill, round_to_u32, simd};
use crate::engine::surface;

/// Curvature is taken over the longer side of the world divided by this.
const CURVATURE_LENGTHS: f64 = 128.0;

/// The change of slope over that length, in metres per metre, at which the picture of the curvature is black or white.
const GREATEST_BEND: f32 = 0.5;

/// What a picture of the land shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnalysisMap {
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

impl AnalysisMap {
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

    /// The most maps of a large land that [`analysis_map`] holds at once beside the land and the picture.
    pub fn maps_held(self) -> f64 {
        match self {
            Self::Normals | Self::NormalsSouth | Self::Slope => 0.0,
            Self::Occlusion | Self::Humidity | Self::Shade | Self::Sediment => 1.0,
            Self::Curvature => 2.0,
            Self::Drainage | Self::Rivers | Self::Lakes | Self::Wetness => Water::MAPS,
        }
    }

    fn source(self, terrain: &Heightfield, sea_m: Option<f32>, progress: &Progress) -> Result<Source, Cancelled> {
        Ok(match self {
            Self::Normals => Source::Normals { green: 1.0 },
            Self::NormalsSouth => Source::Normals { green: -1.0 },
            Self::Slope => Source::Slope,
            Self::Occlusion => Source::Map(surface::occlusion(terrain, progress)?),
            Self::Curvature => {
                let extent = terrain.grid().extent();
                let length_m = extent.width_m.max(extent.depth_m) / CURVATURE_LENGTHS;
                let mut bends = surface::curvature(terrain, length_m, progress)?;
                let scale = 0.5 * length_m as f32 / GREATEST_BEND;
                bends.rows_mut().try_for_each(|row| {
                    row.iter_mut().for_each(|bend| *bend = 0.5 - scale * *bend);
                    progress.check()
                })?;
                Source::Map(bends)
            }
            Self::Humidity => Source::Map(surface::humidity(terrain, progress)?),
            Self::Shade => Source::Map(surface::shade(terrain, progress)?),
            Self::Sediment => {
                let mut index = surface::sediment(terrain, progress)?;
                index.rows_mut().try_for_each(|row| {
                    row.iter_mut().for_each(|index| *index /= surface::sediment::SIZES as f32);
                    progress.check()
                })?;
                Source::Map(index)
            }
            Self::Drainage | Self::Rivers | Self::Lakes | Self::Wetness => {
                Source::Map(self.of_water(terrain, sea_m, progress)?)
            }
        })
    }
}

impl AnalysisMap {
    /// What a chart of the water shows, as shares.
    fn of_water(
        self,
        terrain: &Heightfield,
        sea_m: Option<f32>,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let grid = terrain.grid();
        let mut water = Water::on(terrain, Outlets::Border, sea_m, progress)?;
        let mut lakes_m = std::mem::take(&mut water.lakes_m);
        let world_m2 = grid.extent().width_m * grid.extent().depth_m;
        let deepest_m = lakes_m.iter().copied().fold(0.0, f32::max);
        let area_m2 = |sample: usize| f64::from(water.areas_m2[sample]);
        let share = |sample: usize, lake_m: f32| match self {
            Self::Rivers => f32::from(u8::from(area_m2(sample) >= MIN_RIVER_CATCHMENT_SHARE * world_m2)),
            Self::Lakes => lake_m / deepest_m.max(f32::MIN_POSITIVE),
            Self::Wetness => {
                let wetness = water.wetness(terrain, sample % grid.width(), sample / grid.width());
                (wetness - WETNESS[0]) / (WETNESS[1] - WETNESS[0])
            }
            _ => (1.0 + libm::log10(area_m2(sample) / world_m2) / DECADES) as f32,
        };
        let counter = progress.counter(grid.height());
        lakes_m.par_chunks_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
            row.iter_mut().enumerate().for_each(|(c, value)| *value = share(r * grid.width() + c, *value));
            counter.add_one()
        })?;
        Ok(Heightfield::from_heights(grid, lakes_m).unwrap_or_else(|| Heightfield::flat(grid)))
    }
}

/// The share of the world that drains through a river, at the least.
pub const MIN_RIVER_CATCHMENT_SHARE: f64 = 1e-3;

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
pub fn analysis_map(
    terrain: &Heightfield,
    analysis_map: AnalysisMap,
    sea_m: Option<f32>,
    points: Points,
    full: u16,
    progress: &Progress,
) -> Result<Vec<u16>, Cancelled> {
    let source = progress.stage(0.0..0.5, || analysis_map.source(terrain, sea_m, progress))?;
    progress.stage(0.5..1.0, || source.drawn(terrain, analysis_map.channels(), points, full, progress))
}

impl Source {
    fn drawn(
        &self,
        terrain: &Heightfield,
        channels: usize,
        points: Points,
        full: u16,
        progress: &Progress,
    ) -> Result<Vec<u16>, Cancelled> {
        let walk = Walk::new(terrain, points);
        let [width, height] = walk.size;
        let along = channels * width;
        let counter = progress.counter(height);
        let mut values = vec![0; along * height];
        values.par_chunks_mut(along.max(1)).enumerate().try_for_each_init(Space::default, |space, (j, values)| {
            simd(
                #[inline(always)]
                || {
                    self.row(&walk, j, space);
                    for (value, share) in values.iter_mut().zip(&space.shares) {
                        *value = round_to_u32((share.clamp(0.0, 1.0) * f32::from(full) + 0.5).floor()) as u16;
                    }
                },
            );
            counter.add_one()
        })?;
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    const WORLD: Extent = Extent { width_m: 640.0, depth_m: 320.0 };

    fn drawn(terrain: &Heightfield, what: AnalysisMap, full: u16) -> Vec<u16> {
        analysis_map(terrain, what, None, Points::Pixels([8, 4]), full, &Progress::new()).expect("not cancelled")
    }

    fn ramp(east: f32, south: f32) -> Heightfield {
        let grid = Grid::new(WORLD, 65, 33);
        Heightfield::from_fn(grid, |c, r| east * grid.x_m(c) as f32 + south * grid.z_m(r) as f32)
    }

    #[test]
    fn normals_of_level_ground_and_of_ramps_by_hand() {
        let pixel = |terrain: &Heightfield, what, full| drawn(terrain, what, full)[15..18].to_vec();
        assert_eq!(pixel(&ramp(0.0, 0.0), AnalysisMap::Normals, 255), [128, 128, 255]);
        assert_eq!(pixel(&ramp(0.0, 0.0), AnalysisMap::Normals, 65_535), [32_768, 32_768, 65_535]);
        // 45° rising to the east: the normal is (−1, 0, 1)/√2; 0.5 ∓ 0.3536 of 255 are 37.3 and 217.7.
        assert_eq!(pixel(&ramp(1.0, 0.0), AnalysisMap::Normals, 255), [37, 128, 218]);
        // Rising to the south it faces north, which is up on the map: green is light, or dark where it counts southward.
        assert_eq!(pixel(&ramp(0.0, 1.0), AnalysisMap::Normals, 255), [128, 218, 218]);
        assert_eq!(pixel(&ramp(0.0, 1.0), AnalysisMap::NormalsSouth, 255), [128, 37, 218]);
    }

    #[test]
    fn greys_of_ramps_by_hand() {
        let first = |terrain: &Heightfield, what, full| drawn(terrain, what, full)[0];
        // 60° of 90°.
        assert_eq!(first(&ramp(-3.0_f32.sqrt(), 0.0), AnalysisMap::Slope, 255), 170);
        assert!(first(&ramp(0.0, 3.0_f32.sqrt()), AnalysisMap::Slope, 65_535).abs_diff(43_690) <= 1);
        for what in [AnalysisMap::Curvature, AnalysisMap::Humidity] {
            assert_eq!(first(&ramp(0.0, 0.0), what, 65_535), 32_768, "{what:?}");
        }
        assert!(first(&ramp(0.5, -0.25), AnalysisMap::Curvature, 65_535).abs_diff(32_768) <= 1);
        assert_eq!(
            (first(&ramp(0.0, 0.0), AnalysisMap::Occlusion, 255), first(&ramp(0.0, 0.0), AnalysisMap::Shade, 255)),
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
            let values = drawn(&bowl(sign), AnalysisMap::Curvature, 65_535);
            assert!((f64::from(values[8 + 4]) / 65_535.0 - share).abs() < 2e-3, "{} for {share}", values[12]);
        }
    }

    #[test]
    fn the_water_on_a_ramp_by_hand() {
        // Falling 1 in 2 to the south, without a hollow: every column gathers its own water, a cell of 10 m × 10 m a row.
        let terrain = ramp(0.0, -0.5);
        let charted = |what| {
            analysis_map(&terrain, what, None, Points::Samples, 65_535, &Progress::new()).expect("not cancelled")
        };
        let at = |values: &[u16], c: usize, r: usize| f64::from(values[r * 65 + c]) / 65_535.0;
        let world_m2 = 640.0 * 320.0;
        // The water of rows 1 to 20 goes by row 20.
        let share = |cells: f64| 1.0 + libm::log10(cells * 100.0 / world_m2) / 6.0;
        assert!((at(&charted(AnalysisMap::Drainage), 30, 20) - share(20.0)).abs() < 1e-3);
        let rivers = charted(AnalysisMap::Rivers);
        assert_eq!((at(&rivers, 30, 2), at(&rivers, 30, 3)), (0.0, 1.0), "204.8 m² are two cells and a bit");
        assert_eq!(charted(AnalysisMap::Lakes).iter().max(), Some(&0));
        let wetness = (libm::log(20.0 * 100.0 / 10.0 / 0.5) - 3.0) / 15.0;
        assert!((at(&charted(AnalysisMap::Wetness), 30, 20) - wetness).abs() < 1e-3);
        // Into a sea up to the middle nothing of the land beyond flows on.
        let sea = analysis_map(&terrain, AnalysisMap::Rivers, Some(-80.0), Points::Samples, 255, &Progress::new());
        assert_eq!(sea.expect("not cancelled")[30 * 65 + 30], 0);
    }

    #[test]
    fn the_samples_are_among_the_points_and_a_cancelled_chart_ends() {
        let terrain = ramp(0.3, 0.4);
        let values = analysis_map(&terrain, AnalysisMap::Slope, None, Points::Samples, 65_535, &Progress::new())
            .expect("not cancelled");
        assert_eq!(values.len(), 65 * 33);
        let gone = Progress::new();
        gone.cancel();
        for what in AnalysisMap::ALL {
            assert_eq!(analysis_map(&terrain, what, None, Points::Samples, 255, &gone), Err(Cancelled), "{what:?}");
        }
    }
}
