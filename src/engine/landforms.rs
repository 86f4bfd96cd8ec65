//! Landform statistics and other metrics of realistic terrain.
//!
//! Valleys and ridges make terrain look real; the shares of landforms measure them: geomorphons, after J. Jasiewicz and
//! T. F. Stepinski, "Geomorphons: a pattern recognition approach to classification and mapping of landforms",
//! Geomorphology 182, 2013.

use rayon::prelude::*;

use super::analysis::{Summary, hurst_exponent, spectral_slope};
use super::heightfield::{Grid, Heightfield};
use super::parameters::{Band, choices};
use super::progress::{Cancelled, Progress};

use crate::cast::{ToFloat, ToInteger};

choices! {
    /// The form of the terrain at a sample, from its lines of sight in eight directions.
    pub enum Landform {
        /// Level terrain.
        Flat = "flat", "Flat";
        /// Higher than its surroundings.
        Peak = "peak", "Peak";
        /// Higher than most of its surroundings.
        Ridge = "ridge", "Ridge";
        /// The upper end of a slope, at level terrain.
        Shoulder = "shoulder", "Shoulder";
        /// A rib that runs down a slope.
        Spur = "spur", "Spur";
        /// An even slope.
        Slope = "slope", "Slope";
        /// A groove that runs down a slope.
        Hollow = "hollow", "Hollow";
        /// The lower end of a slope, at level terrain.
        Footslope = "footslope", "Footslope";
        /// Lower than most of its surroundings.
        Valley = "valley", "Valley";
        /// Lower than its surroundings.
        Pit = "pit", "Pit";
    }
}

/// The length of the lines of sight, in samples.
const REACH: usize = 8;
/// The tangent of the angle below which terrain is flat, 1°.
const FLAT: f32 = 0.017_455_065;

/// The directions of the lines of sight, as columns eastward and rows southward.
const DIRECTIONS: [[isize; 2]; 8] = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]];

/// The form by the number of directions in which the terrain is lower (row) and higher (column), from Jasiewicz and
/// Stepinski, figure 4. The sum of both is at most 8.
const LANDFORMS: [&[Landform]; 9] = {
    use Landform::{Flat, Footslope, Hollow, Peak, Pit, Ridge, Shoulder, Slope, Spur, Valley};
    [
        &[Flat, Flat, Flat, Footslope, Footslope, Valley, Valley, Valley, Pit],
        &[Flat, Flat, Footslope, Footslope, Footslope, Valley, Valley, Valley],
        &[Flat, Shoulder, Slope, Slope, Hollow, Hollow, Valley],
        &[Shoulder, Shoulder, Slope, Slope, Slope, Hollow],
        &[Shoulder, Shoulder, Spur, Slope, Slope],
        &[Ridge, Ridge, Spur, Spur],
        &[Ridge, Ridge, Ridge],
        &[Ridge, Ridge],
        &[Peak],
    ]
};

/// The share of samples that have each form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LandformShares {
    shares: [f64; Landform::ALL.len()],
}

impl LandformShares {
    /// Classifies every sample whose lines of sight are within the terrain. If there are none, all samples count as
    /// flat.
    pub fn of(terrain: &Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        let grid = terrain.grid();
        let inside = |count: usize| REACH..count.saturating_sub(REACH).max(REACH);
        let counts_of_row = |r: usize| {
            let mut counts = [0_u64; Landform::ALL.len()];
            for c in inside(grid.width()) {
                counts[form_at(terrain, c, r) as usize] += 1;
            }
            progress.check().map(|()| counts)
        };
        let add = |mut one: [u64; Landform::ALL.len()], other: [u64; Landform::ALL.len()]| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
            Ok(one)
        };
        let rows = inside(grid.height()).into_par_iter().map(counts_of_row);
        let counts = rows.try_reduce(|| [0; Landform::ALL.len()], add)?;
        let all: u64 = counts.iter().sum();
        let mut shares = counts.map(|count| count.to_f64() / all.max(1).to_f64());
        if all == 0 {
            shares[Landform::Flat as usize] = 1.0;
        }
        Ok(Self { shares })
    }

    /// The share of a form, from 0 to 1.
    pub fn share(&self, form: Landform) -> f64 {
        self.shares[form as usize]
    }
}

/// The form of a sample at least [`REACH`] samples from the border.
fn form_at(terrain: &Heightfield, c: usize, r: usize) -> Landform {
    let grid = terrain.grid();
    let (x_m, z_m) = (grid.spacing_x_m(), grid.spacing_z_m());
    let height = terrain[(c, r)];
    let (mut lower, mut higher) = (0, 0);
    for [east, south] in DIRECTIONS {
        let step_m = libm::hypot(east.to_f64() * x_m, south.to_f64() * z_m).to_f32();
        // The tangents of the highest and the lowest line of sight, relative to the horizontal.
        let (mut up, mut down) = (f32::NEG_INFINITY, f32::INFINITY);
        for n in 1..=REACH {
            let there = (c.wrapping_add_signed(east * n.cast_signed()), r.wrapping_add_signed(south * n.cast_signed()));
            let slope = (terrain[there] - height) / (n.to_f32() * step_m);
            (up, down) = (up.max(slope), down.min(slope));
        }
        // Compares the sum of both angles with the threshold by tan(α + β) = (tan α + tan β)/(1 − tan α·tan β). Where
        // the product is at least 1, the angles have the same sign and their sum exceeds 90°.
        let (sum, rest) = (up + down, 1.0 - up * down);
        let bound = FLAT * rest.max(0.0);
        higher += usize::from(sum > bound);
        lower += usize::from(sum < -bound);
    }
    LANDFORMS[lower][higher]
}

/// The number of samples per thousand, without the border, that are lower than their eight neighbours.
pub fn pits_per_thousand(terrain: &Heightfield) -> f64 {
    let grid = terrain.grid();
    let (width, height) = (grid.width(), grid.height());
    if width < 3 || height < 3 {
        return 0.0;
    }
    let is_pit = |c: usize, r: usize| {
        let neighbours =
            DIRECTIONS.map(|[east, south]| terrain[(c.wrapping_add_signed(east), r.wrapping_add_signed(south))]);
        neighbours.iter().all(|neighbour| terrain[(c, r)] < *neighbour)
    };
    let pits: usize = (1..height - 1).into_par_iter().map(|r| (1..width - 1).filter(|c| is_pit(*c, r)).count()).sum();
    1000.0 * pits.to_f64() / ((width - 2) * (height - 2)).to_f64()
}

choices! {
    /// A metric by which a terrain is compared with real ones.
    pub enum Metric {
        /// [`hurst_exponent`].
        Hurst = "hurst_exponent", "Hurst";
        /// [`spectral_slope`].
        Spectrum = "spectral_slope", "Spectrum";
        /// [`Summary::hypsometric_integral`].
        Hypsometric = "hypsometric_integral", "Hyps.";
        /// [`pits_per_thousand`].
        Pits = "pits_per_thousand", "Undrained points ‰";
        /// The share of peaks.
        Peak = "peak", "Peak";
        /// The share of ridges.
        Ridge = "ridge", "Ridge";
        /// The share of spurs.
        Spur = "spur", "Spur";
        /// The share of slopes.
        Slope = "slope", "Slope";
        /// The share of hollows.
        Hollow = "hollow", "Hollow";
        /// The share of valleys.
        Valley = "valley", "Valley";
        /// The share of pits among the forms.
        Pit = "pit", "Pit";
    }
}

/// The spacing of the terrains on which [`Metric::real_terrain_range`] was measured, metres. All metrics depend on the
/// spacing.
pub const COMPARISON_SPACING_M: f64 = 80.0;

impl Metric {
    /// The range of real terrain with samples 80 m apart: from the 5th to the 95th percentile of 43 windows of up to
    /// 20 km of SRTM elevations (NASA and U.S. Geological Survey) in Tennessee, California, Colorado, the Swiss Alps, the
    /// Andes, British Columbia and Australia. A real window is within the ranges of all eleven metrics but one or two.
    pub fn real_terrain_range(self) -> Band {
        let [min, max] = match self {
            Self::Hurst => [0.62, 0.80],
            Self::Spectrum => [-3.38, -2.41],
            Self::Hypsometric => [0.29, 0.56],
            Self::Pits => [0.0, 19.5],
            Self::Peak => [0.007, 0.020],
            Self::Ridge => [0.078, 0.137],
            Self::Spur => [0.138, 0.202],
            Self::Slope => [0.330, 0.434],
            Self::Hollow => [0.131, 0.212],
            Self::Valley => [0.094, 0.148],
            Self::Pit => [0.0, 0.025],
        };
        Band { min, max }
    }
}

/// The terrain with samples about [`COMPARISON_SPACING_M`] apart; `None` if it has that spacing already, or is too small
/// for one with lines of sight.
pub fn at_comparison_spacing(terrain: &Heightfield, progress: &Progress) -> Result<Option<Heightfield>, Cancelled> {
    let grid = terrain.grid();
    let extent = grid.extent();
    let samples = |along_m: f64| (along_m / COMPARISON_SPACING_M).round().to_usize() + 1;
    let [width, height] = [extent.width_m, extent.depth_m].map(samples);
    if (width, height) == (grid.width(), grid.height()) || width.min(height) <= 2 * REACH {
        return Ok(None);
    }
    terrain.resampled(Grid::new(extent, width, height), progress).map(Some)
}

/// The metrics of a terrain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// [`hurst_exponent`].
    pub hurst: Option<f64>,
    /// [`spectral_slope`].
    pub spectrum: Option<f64>,
    /// [`Summary::hypsometric_integral`].
    pub hypsometric: f64,
    /// [`pits_per_thousand`].
    pub pits: f64,
    /// The shares of all landforms.
    pub forms: LandformShares,
}

impl Metrics {
    /// Computes the metrics.
    pub fn of(terrain: &Heightfield, progress: &Progress) -> Result<Self, Cancelled> {
        Ok(Self {
            hurst: hurst_exponent(terrain),
            spectrum: spectral_slope(terrain, progress)?,
            hypsometric: Summary::of(terrain, 1).hypsometric_integral,
            pits: pits_per_thousand(terrain),
            forms: LandformShares::of(terrain, progress)?,
        })
    }

    /// The value of a metric; `None` for the roughness of level or too small terrain.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        let share = |form| Some(self.forms.share(form));
        match metric {
            Metric::Hurst => self.hurst,
            Metric::Spectrum => self.spectrum,
            Metric::Hypsometric => Some(self.hypsometric),
            Metric::Pits => Some(self.pits),
            Metric::Peak => share(Landform::Peak),
            Metric::Ridge => share(Landform::Ridge),
            Metric::Spur => share(Landform::Spur),
            Metric::Slope => share(Landform::Slope),
            Metric::Hollow => share(Landform::Hollow),
            Metric::Valley => share(Landform::Valley),
            Metric::Pit => share(Landform::Pit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    #[track_caller]
    fn check(height: impl Fn(f32, f32) -> f32, expected: Landform) {
        let grid = Grid::new(Extent { width_m: 160.0, depth_m: 160.0 }, 17, 17);
        let terrain = Heightfield::from_fn(grid, |c, r| height(10.0 * (c as f32 - 8.0), 10.0 * (r as f32 - 8.0)));
        assert_eq!(form_at(&terrain, 8, 8), expected);
        let forms = LandformShares::of(&terrain, &Progress::new()).expect("not cancelled");
        assert_eq!(forms.share(expected), 1.0);
    }

    #[test]
    fn ideal_shapes_have_their_form() {
        check(|_, _| 7.0, Landform::Flat);
        check(|x, z| -(x * x + z * z), Landform::Peak);
        check(|x, z| x * x + z * z, Landform::Pit);
        check(|x, _| -x.abs(), Landform::Ridge);
        check(|x, _| x.abs(), Landform::Valley);
        check(|x, _| x, Landform::Slope);
        check(|x, z| z - 2.0 * x.abs(), Landform::Ridge);
        check(|x, z| z - 0.8 * x.abs(), Landform::Spur);
        check(|x, z| z + 0.8 * x.abs(), Landform::Hollow);
        check(|_, z| z.min(0.0), Landform::Shoulder);
        check(|_, z| z.max(0.0), Landform::Footslope);
    }

    #[test]
    fn terrain_smaller_than_the_lines_of_sight_is_flat() {
        let grid = Grid::new(Extent { width_m: 160.0, depth_m: 160.0 }, 16, 30);
        let forms = LandformShares::of(&Heightfield::from_fn(grid, |c, r| (c * r) as f32), &Progress::new());
        assert_eq!(forms.expect("not cancelled").share(Landform::Flat), 1.0);
    }

    #[test]
    fn terrain_is_compared_at_80_metres() {
        let terrain = |side_m: f64, samples: usize| {
            let grid = Grid::new(Extent { width_m: side_m, depth_m: 0.5 * side_m }, samples, samples / 2 + 1);
            Heightfield::from_fn(grid, |c, r| (grid.x_m(c) + 2.0 * grid.z_m(r)) as f32)
        };
        let compared = |terrain: &Heightfield| at_comparison_spacing(terrain, &Progress::new()).expect("not cancelled");
        let fine = compared(&terrain(8000.0, 401)).expect("a finer terrain");
        assert_eq!((fine.grid().width(), fine.grid().height(), fine.grid().spacing_x_m()), (101, 51, 80.0));
        assert!((fine[(10, 20)] - 4000.0).abs() < 0.1);
        assert_eq!(compared(&terrain(8000.0, 101)), None, "the same spacing");
        assert_eq!(compared(&terrain(1000.0, 501)), None, "too small");
    }

    #[test]
    fn pits_at_the_border_are_not_counted() {
        let grid = Grid::new(Extent { width_m: 90.0, depth_m: 60.0 }, 7, 6);
        // One pit inside and one at the border.
        let terrain = Heightfield::from_fn(grid, |c, r| if [[2, 2], [0, 4]].contains(&[c, r]) { 0.0 } else { 1.0 });
        assert_eq!(pits_per_thousand(&terrain), 1000.0 / 20.0);
    }
}
