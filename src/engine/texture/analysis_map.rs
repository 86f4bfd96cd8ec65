//! Analysis maps of the terrain, with which game engines light, mask and scatter.

use std::borrow::Cow;

use rayon::prelude::*;

use super::points::Points;
use super::sampler::{LineBuffers, Sampler};
use super::type_weights::slope_degrees;
use crate::cast::{ToFloat, ToInteger};
use crate::flow::{Outlets, Water, wetness};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};
use crate::reach::Reach;
use crate::rock::{Rock, RockRanges};
use crate::simd::{refill, round_to_u32, simd};
use crate::surface;

/// Curvature is measured over the longer side of the world divided by this.
const CURVATURE_LENGTHS: f64 = 128.0;

/// The change of slope over that length, in metres per metre, at which the curvature map is black or white.
const MAX_SLOPE_CHANGE: f32 = 0.5;

/// The smallest share of the world that drains through a river.
pub const MIN_RIVER_CATCHMENT_SHARE: f64 = 1e-3;

/// The powers of ten between the area of the world, white in the drainage map, and black.
const DRAINAGE_DECADES: f64 = 6.0;

/// The topographic wetness indices that are black and white.
const WETNESS_RANGE: [f32; 2] = [3.0, 18.0];

/// The kinds of analysis maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnalysisMap {
    /// The normal: red east, green north, blue up, each from −1, black, to 1.
    Normals,
    /// The same with green south.
    NormalsSouth,
    /// The share of the sky that is visible.
    Occlusion,
    /// The slope.
    Slope,
    /// Ridges and hollows.
    Curvature,
    /// Humidity by convergence of water and curvature.
    Humidity,
    /// The share of the day in the shade: that of the equinox at 45° north.
    Shade,
    /// The catchment area of each point.
    Drainage,
    /// Points with the catchment area of a river.
    Rivers,
    /// The depth of lakes.
    Lakes,
    /// The topographic wetness index.
    Wetness,
    /// Valley floors where rivers deposit sediment.
    Sediment,
    /// How far faults and uplift have displaced the rock.
    Displacement,
    /// The thickness of what erosion has laid down.
    Deposits,
}

impl AnalysisMap {
    /// Every map, the normals in their default form.
    pub const ALL: [Self; 13] = [
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
        Self::Displacement,
        Self::Deposits,
    ];

    /// The name in options and file names.
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
            Self::Displacement => "displacement",
            Self::Deposits => "deposits",
        }
    }

    /// A description, from black to white.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Normals => "Surface normals: red east, green north, blue up",
            Self::NormalsSouth => "Surface normals: red east, green south, blue up",
            Self::Occlusion => "Ambient occlusion: black where no sky is visible, white where all of it is",
            Self::Slope => "Slope: black 0°, white 90°",
            Self::Curvature => {
                "Curvature: ridges light, hollows dark, mid grey where the slope is constant; black and white where it \
                 changes by 0.5 over 1/128 of the world's longer side"
            }
            Self::Humidity => "Humidity: black on dry ridges, white in wet hollows",
            Self::Shade => {
                "Share of the day in the shade, at the equinox and 45° north: black sun all day, white shade all day"
            }
            Self::Drainage => {
                "Catchment area of each point, logarithmic: black a millionth of the world, white all of it"
            }
            Self::Rivers => "Rivers: white where at least a thousandth of the world drains through",
            Self::Lakes => "Depth of full lakes: black dry land, white the deepest point",
            Self::Wetness => "Topographic wetness index, from catchment area and slope: black 3, white 18",
            Self::Sediment => {
                "River sediment: black on slopes and heights, white on the widest and flattest valley floors"
            }
            Self::Displacement => {
                "Displacement of the rock by faults, other generators and uplift: black the lowest, white the highest"
            }
            Self::Deposits => {
                "Thickness of what erosion laid down and other steps filled, such as paths and filters: black none, white the thickest"
            }
        }
    }

    /// The number of channels.
    pub fn channels(self) -> usize {
        match self {
            Self::Normals | Self::NormalsSouth => 3,
            _ => 1,
        }
    }

    /// The maximum number of maps of a large terrain that [`analysis_map`] holds at once, besides the terrain and the
    /// result.
    pub fn extra_maps(self) -> f64 {
        match self {
            Self::Normals | Self::NormalsSouth | Self::Slope => 0.0,
            Self::Occlusion | Self::Curvature | Self::Humidity | Self::Shade | Self::Sediment => 1.0,
            Self::Displacement | Self::Deposits => 1.0,
            Self::Drainage | Self::Rivers | Self::Lakes | Self::Wetness => Water::MAPS,
        }
    }

    /// What the map depends on.
    pub fn reach(self) -> Reach {
        match self {
            Self::Normals | Self::NormalsSouth | Self::Slope => Reach::Surroundings,
            Self::Occlusion | Self::Curvature | Self::Humidity | Self::Shade | Self::Sediment => Reach::Overview,
            Self::Displacement | Self::Deposits => Reach::Overview,
            Self::Drainage | Self::Rivers | Self::Wetness => Reach::Drainage,
            Self::Lakes => Reach::Depressions,
        }
    }

    /// Whether the map needs the rock below the terrain.
    pub fn needs_rock(self) -> bool {
        matches!(self, Self::Displacement | Self::Deposits)
    }

    /// What is black and what is white in a map of the rock, metres; `None` for other maps.
    pub fn range_m(self, ranges: &RockRanges) -> Option<[f32; 2]> {
        match self {
            Self::Displacement => Some(ranges.displacement_m),
            Self::Deposits => Some([0.0, ranges.thickest_m]),
            _ => None,
        }
    }

    fn of_rock(self, rock: &Rock) -> Option<&Heightfield> {
        match self {
            Self::Displacement => Some(&rock.displacement_m),
            Self::Deposits => Some(&rock.sediment_m),
            _ => None,
        }
    }

    fn source(self, of: &MapTerrain, progress: &Progress) -> Result<Source, Cancelled> {
        let MapTerrain { terrain, whole, rock, .. } = *of;
        let to = terrain.grid();
        Ok(match self {
            Self::Normals => Source::Normals { green: 1.0 },
            Self::NormalsSouth => Source::Normals { green: -1.0 },
            Self::Slope => Source::Slope,
            Self::Occlusion => Source::Map(surface::occlusion(whole, to, progress)?),
            Self::Curvature => {
                let extent = terrain.grid().extent();
                let length_m = extent.width_m.max(extent.depth_m) / CURVATURE_LENGTHS;
                let curvature = surface::curvature(whole, length_m, progress)?;
                let scale = 0.5 * length_m.to_f32() / MAX_SLOPE_CHANGE;
                let shares = rescaled(curvature, progress, |curvature| 0.5 - scale * curvature)?;
                Source::Map(if whole.grid() == to { shares } else { shares.resampled(to, progress)? })
            }
            Self::Humidity => Source::Map(surface::humidity(whole, to, progress)?),
            Self::Shade => Source::Map(surface::shade(whole, to, progress)?),
            Self::Sediment => {
                let index = surface::sediment(whole, to, progress)?;
                Source::Map(rescaled(index, progress, |index| index / surface::MAX_SEDIMENT.to_f32())?)
            }
            Self::Displacement | Self::Deposits => {
                let with_range = |(rock, ranges)| Some((self.of_rock(rock)?, self.range_m(&ranges)?));
                let Some((map, [low, high])) = rock.and_then(with_range) else {
                    return Ok(Source::Map(Heightfield::flat(to)));
                };
                let scale = 1.0 / (high - low).max(f32::MIN_POSITIVE);
                Source::Map(rescaled(map.copied(progress)?, progress, |metres| (metres - low) * scale)?)
            }
            Self::Lakes if of.is_drained => Source::Map(Heightfield::flat(to)),
            Self::Drainage | Self::Rivers | Self::Lakes | Self::Wetness => Source::Map(self.of_water(of, progress)?),
        })
    }

    /// The shares from black to white of a map of the water.
    fn of_water(self, of: &MapTerrain, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let MapTerrain { terrain, areas_m2, sea_m, .. } = *of;
        let grid = terrain.grid();
        let (areas_m2, mut lakes_m) = match areas_m2 {
            Some(known) if self.reach() == Reach::Drainage => (Cow::Borrowed(known), vec![0.0; grid.samples()]),
            _ => {
                let Water { areas_m2, lakes_m, .. } = Water::on(terrain, Outlets::Border, sea_m, progress)?;
                (Cow::Owned(areas_m2), lakes_m)
            }
        };
        let world_m2 = grid.extent().width_m * grid.extent().depth_m;
        let deepest_m = lakes_m.iter().copied().fold(0.0, f32::max);
        let area_m2 = |sample: usize| f64::from(areas_m2[sample]);
        let share = |sample: usize, lake_m: f32| match self {
            Self::Rivers => f32::from(u8::from(area_m2(sample) >= MIN_RIVER_CATCHMENT_SHARE * world_m2)),
            Self::Lakes => lake_m / deepest_m.max(f32::MIN_POSITIVE),
            Self::Wetness => {
                let wetness = wetness(areas_m2[sample], terrain, sample % grid.width(), sample / grid.width());
                (wetness - WETNESS_RANGE[0]) / (WETNESS_RANGE[1] - WETNESS_RANGE[0])
            }
            _ => (1.0 + libm::log10(area_m2(sample) / world_m2) / DRAINAGE_DECADES).to_f32(),
        };
        let counter = progress.counter(grid.height());
        lakes_m.par_chunks_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
            row.iter_mut().enumerate().for_each(|(c, value)| *value = share(r * grid.width() + c, *value));
            counter.add_one()
        })?;
        Ok(Heightfield::from_heights(grid, lakes_m).unwrap_or_else(|| Heightfield::flat(grid)))
    }
}

/// A map with every value replaced.
fn rescaled(
    mut map: Heightfield,
    progress: &Progress,
    value: impl Fn(f32) -> f32 + Sync,
) -> Result<Heightfield, Cancelled> {
    map.rows_mut().try_for_each(|row| {
        row.iter_mut().for_each(|old| *old = value(*old));
        progress.check()
    })?;
    Ok(map)
}

/// The source of the values of a map.
#[derive(Debug)]
enum Source {
    /// Shares on the terrain's grid.
    Map(Heightfield),
    /// The gradients; `green` is 1 for north and −1 for south.
    Normals { green: f32 },
    /// The gradients.
    Slope,
}

/// Buffers for a row of points, reused from row to row.
#[derive(Debug, Default)]
struct RowBuffers {
    lines: LineBuffers,
    east: Vec<f32>,
    south: Vec<f32>,
    shares: Vec<f32>,
}

impl Source {
    /// Computes the shares of row `j`, channels interleaved.
    #[inline(always)]
    fn row(&self, sampler: &Sampler, j: usize, buffers: &mut RowBuffers) {
        let RowBuffers { lines, east, south, shares } = buffers;
        match self {
            Self::Map(map) => sampler.read(map, j, lines, shares),
            Self::Normals { green } => {
                sampler.read_gradients(j, lines, [east, south]);
                shares.resize(3 * east.len(), 0.0);
                for (shares, (east, south)) in shares.as_chunks_mut().0.iter_mut().zip(east.iter().zip(&*south)) {
                    // The normal is (−east, 1, −south)/√(1 + east² + south²), and north is −south.
                    let up = 1.0 / (1.0 + east * east + south * south).sqrt();
                    *shares = [0.5 - 0.5 * east * up, 0.5 + 0.5 * green * south * up, 0.5 + 0.5 * up];
                }
            }
            Self::Slope => {
                sampler.read_gradients(j, lines, [east, south]);
                let angles = east.iter().zip(&*south);
                refill(shares, angles.map(|(east, south)| slope_degrees((east * east + south * south).sqrt()) / 90.0));
            }
        }
    }

    /// Samples the map at all points, row by row, channels interleaved.
    fn sample(
        &self,
        terrain: &Heightfield,
        channels: usize,
        points: Points,
        full: u16,
        progress: &Progress,
    ) -> Result<Vec<u16>, Cancelled> {
        let sampler = Sampler::new(terrain, points);
        let [width, height] = sampler.size;
        let row_len = channels * width;
        let counter = progress.counter(height);
        let mut values = vec![0; row_len * height];
        let rows = values.par_chunks_mut(row_len.max(1)).enumerate();
        rows.try_for_each_init(RowBuffers::default, |buffers, (j, values)| {
            simd(
                #[inline(always)]
                || {
                    self.row(&sampler, j, buffers);
                    for (value, share) in values.iter_mut().zip(&buffers.shares) {
                        *value = round_to_u32((share.clamp(0.0, 1.0) * f32::from(full) + 0.5).floor()).to_u16();
                    }
                },
            );
            counter.add_one()
        })?;
        Ok(values)
    }
}

/// What analysis maps are computed from.
#[derive(Clone, Copy, Debug)]
pub struct MapTerrain<'a> {
    /// The terrain at the samples of the map, or of a part of it.
    pub terrain: &'a Heightfield,
    /// The complete terrain, for maps with [`Reach::Overview`]. It can have a lower resolution.
    pub whole: &'a Heightfield,
    /// The drainage area of each sample, m², if it is known. If not, the terrain must be complete.
    pub areas_m2: Option<&'a [f32]>,
    /// The rock below, and the ranges from black to white. Maps that [need it](AnalysisMap::needs_rock) are black without
    /// it.
    pub rock: Option<(&'a Rock, RockRanges)>,
    /// Whether rivers have drained every depression above the sea, so that there are no lakes. If not, the terrain must be
    /// complete for a map of lakes.
    pub is_drained: bool,
    /// The level of the sea in which rivers end, metres, if there is one.
    pub sea_m: Option<f32>,
}

impl<'a> MapTerrain<'a> {
    /// Complete terrain without a sea.
    pub fn complete(terrain: &'a Heightfield) -> Self {
        Self { terrain, whole: terrain, areas_m2: None, rock: None, is_drained: false, sea_m: None }
    }
}

/// Computes an analysis map at all points, row by row, channels interleaved; `full` is the value of white.
pub fn analysis_map(
    of: &MapTerrain,
    kind: AnalysisMap,
    points: Points,
    full: u16,
    progress: &Progress,
) -> Result<Vec<u16>, Cancelled> {
    let source = progress.stage(0.0..0.5, || kind.source(of, progress))?;
    progress.stage(0.5..1.0, || source.sample(of.terrain, kind.channels(), points, full, progress))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::heightfield::{Extent, Grid};

    const WORLD: Extent = Extent { width_m: 640.0, depth_m: 320.0 };

    fn computed(terrain: &Heightfield, what: AnalysisMap, full: u16) -> Vec<u16> {
        analysis_map(&MapTerrain::complete(terrain), what, Points::Pixels([8, 4]), full, &Progress::new())
            .expect("not cancelled")
    }

    fn ramp(east: f32, south: f32) -> Heightfield {
        let grid = Grid::new(WORLD, 65, 33);
        Heightfield::from_fn(grid, |c, r| east * grid.x_m(c) as f32 + south * grid.z_m(r) as f32)
    }

    #[test]
    fn normals_of_level_terrain_and_ramps_match_values_computed_by_hand() {
        let pixel = |terrain: &Heightfield, what, full| computed(terrain, what, full)[15..18].to_vec();
        assert_eq!(pixel(&ramp(0.0, 0.0), AnalysisMap::Normals, 255), [128, 128, 255]);
        assert_eq!(pixel(&ramp(0.0, 0.0), AnalysisMap::Normals, 65_535), [32_768, 32_768, 65_535]);
        // 45° rising to the east: the normal is (−1, 0, 1)/√2; 0.5 ∓ 0.3536 of 255 are 37.3 and 217.7.
        assert_eq!(pixel(&ramp(1.0, 0.0), AnalysisMap::Normals, 255), [37, 128, 218]);
        // Rising to the south it faces north, which is up on the map: green is light, or dark if green is south.
        assert_eq!(pixel(&ramp(0.0, 1.0), AnalysisMap::Normals, 255), [128, 218, 218]);
        assert_eq!(pixel(&ramp(0.0, 1.0), AnalysisMap::NormalsSouth, 255), [128, 37, 218]);
    }

    #[test]
    fn values_of_ramps_match_values_computed_by_hand() {
        let first = |terrain: &Heightfield, what, full| computed(terrain, what, full)[0];
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
    fn the_curvature_of_a_bowl_follows_from_its_radius() {
        // A gentle bowl h = x²/(2·R) + z²/(2·R) has the curvature 1/R; over 640 m/128 the slope changes by 5 m/R =
        // 0.25.
        let grid = Grid::new(WORLD, 257, 129);
        let bowl = |sign: f64| {
            Heightfield::from_fn(grid, |c, r| {
                let (x, z) = (grid.x_m(c) - 320.0, grid.z_m(r) - 160.0);
                (sign * (x * x + z * z) / 40.0) as f32
            })
        };
        for (sign, share) in [(1.0, 0.25), (-1.0, 0.75)] {
            let values = computed(&bowl(sign), AnalysisMap::Curvature, 65_535);
            assert!((f64::from(values[8 + 4]) / 65_535.0 - share).abs() < 2e-3, "{} for {share}", values[12]);
        }
    }

    #[test]
    fn water_on_a_ramp_matches_values_computed_by_hand() {
        // Falling 1 in 2 to the south without a hollow: every column collects its own water, a cell of 10 m × 10 m per
        // row.
        let terrain = ramp(0.0, -0.5);
        let map = |what| {
            analysis_map(&MapTerrain::complete(&terrain), what, Points::Samples, 65_535, &Progress::new())
                .expect("not cancelled")
        };
        let at = |values: &[u16], c: usize, r: usize| f64::from(values[r * 65 + c]) / 65_535.0;
        let world_m2 = 640.0 * 320.0;
        // The water of rows 1 to 20 passes row 20.
        let share = |cells: f64| 1.0 + libm::log10(cells * 100.0 / world_m2) / 6.0;
        assert!((at(&map(AnalysisMap::Drainage), 30, 20) - share(20.0)).abs() < 1e-3);
        let rivers = map(AnalysisMap::Rivers);
        assert_eq!((at(&rivers, 30, 2), at(&rivers, 30, 3)), (0.0, 1.0), "204.8 m² are just over two cells");
        assert_eq!(map(AnalysisMap::Lakes).iter().max(), Some(&0));
        let wetness = (libm::log(20.0 * 100.0 / 10.0 / 0.5) - 3.0) / 15.0;
        assert!((at(&map(AnalysisMap::Wetness), 30, 20) - wetness).abs() < 1e-3);
        // A sea up to the middle absorbs the water from beyond.
        let sea = analysis_map(
            &MapTerrain { sea_m: Some(-80.0), ..MapTerrain::complete(&terrain) },
            AnalysisMap::Rivers,
            Points::Samples,
            255,
            &Progress::new(),
        );
        assert_eq!(sea.expect("not cancelled")[30 * 65 + 30], 0);
    }

    #[test]
    fn maps_of_the_rock_span_its_values() {
        let terrain = ramp(0.0, 0.0);
        let map = |lowest: f32| Arc::new(Heightfield::from_fn(terrain.grid(), |c, _| lowest + c as f32));
        let rock = Rock { displacement_m: map(-40.0), sediment_m: map(0.0) };
        let ranges = rock.ranges(&Progress::new()).expect("not cancelled");
        for kind in [AnalysisMap::Displacement, AnalysisMap::Deposits] {
            let values = analysis_map(
                &MapTerrain { rock: Some((&rock, ranges)), ..MapTerrain::complete(&terrain) },
                kind,
                Points::Samples,
                64,
                &Progress::new(),
            );
            assert_eq!(
                values.expect("not cancelled")[..65],
                std::array::from_fn::<u16, 65, _>(|c| c as u16),
                "{kind:?}"
            );
            assert!(kind.needs_rock());
            assert_eq!(computed(&terrain, kind, 255), [0; 32], "{kind:?} without rock");
        }
        // Deposits begin at black.
        let even = Rock { sediment_m: Arc::new(Heightfield::from_fn(terrain.grid(), |_, _| 20.0)), ..rock };
        let ranges = even.ranges(&Progress::new()).expect("not cancelled");
        let values = analysis_map(
            &MapTerrain { rock: Some((&even, ranges)), ..MapTerrain::complete(&terrain) },
            AnalysisMap::Deposits,
            Points::Samples,
            64,
            &Progress::new(),
        );
        assert!(values.expect("not cancelled").iter().all(|value| *value == 64));
        assert_eq!(AnalysisMap::Deposits.range_m(&ranges), Some([0.0, 20.0]));
    }

    #[test]
    fn samples_are_valid_points_and_a_cancelled_map_stops() {
        let terrain = ramp(0.3, 0.4);
        let values = analysis_map(
            &MapTerrain::complete(&terrain),
            AnalysisMap::Slope,
            Points::Samples,
            65_535,
            &Progress::new(),
        )
        .expect("not cancelled");
        assert_eq!(values.len(), 65 * 33);
        let cancelled = Progress::new();
        cancelled.cancel();
        for what in AnalysisMap::ALL {
            assert_eq!(
                analysis_map(&MapTerrain::complete(&terrain), what, Points::Samples, 255, &cancelled),
                Err(Cancelled),
                "{what:?}"
            );
        }
    }
}
