//! Pictures of what the land is like, for engines that light, mask and scatter by them.

use rayon::prelude::*;

use super::points::{Lines, Points, Walk};
use super::weigh::degrees_of;
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
}

impl Chart {
    /// Every chart, each in the form that it has unless another one is asked for.
    pub const ALL: [Self; 6] =
        [Self::Normals, Self::Occlusion, Self::Slope, Self::Curvature, Self::Humidity, Self::Shade];

    /// The name, as options and files carry it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Normals | Self::NormalsSouth => "normals",
            Self::Occlusion => "occlusion",
            Self::Slope => "slope",
            Self::Curvature => "curvature",
            Self::Humidity => "humidity",
            Self::Shade => "shade",
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
        }
    }

    /// The numbers that stand for a point.
    pub fn channels(self) -> usize {
        match self {
            Self::Normals | Self::NormalsSouth => 3,
            Self::Occlusion | Self::Slope | Self::Curvature | Self::Humidity | Self::Shade => 1,
        }
    }

    /// The most maps of a large land that [`chart`] holds at once beside the land and the picture.
    pub fn maps_held(self) -> f64 {
        match self {
            Self::Normals | Self::NormalsSouth | Self::Slope => 0.0,
            Self::Occlusion | Self::Humidity | Self::Shade => 1.0,
            Self::Curvature => 2.0,
        }
    }

    fn source(self, land: &Heightfield, monitor: &Monitor) -> Result<Source, Cancelled> {
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
        })
    }
}

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

/// The chart of the land at every point, row by row, its channels side by side; `full` stands for white.
pub fn chart(
    land: &Heightfield,
    chart: Chart,
    points: Points,
    full: u16,
    monitor: &Monitor,
) -> Result<Vec<u16>, Cancelled> {
    let source = monitor.within(0.0..0.5, || chart.source(land, monitor))?;
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
        chart(land, what, Points::Pixels([8, 4]), full, &Monitor::new()).expect("not cancelled")
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
    fn the_samples_are_among_the_points_and_a_cancelled_chart_ends() {
        let land = ramp(0.3, 0.4);
        let values = chart(&land, Chart::Slope, Points::Samples, 65_535, &Monitor::new()).expect("not cancelled");
        assert_eq!(values.len(), 65 * 33);
        let gone = Monitor::new();
        gone.cancel();
        for what in Chart::ALL {
            assert_eq!(chart(&land, what, Points::Samples, 255, &gone), Err(Cancelled), "{what:?}");
        }
    }
}
