//! The forms of the land, counted.
//!
//! What people read as real land is valleys and ridges, and nothing says so as well as the shares of forms that a land is
//! made of: geomorphons, after J. Jasiewicz and T. F. Stepinski, "Geomorphons: a pattern recognition approach to
//! classification and mapping of landforms", Geomorphology 182, 2013.

use rayon::prelude::*;

use super::heightfield::Heightfield;
use super::monitor::{Cancelled, Monitor};
use super::parameters::choices;

choices! {
    /// What a place of the land is like beside what can be seen from it in eight directions.
    pub enum Landform {
        /// Level ground.
        Flat = "flat", "Flat";
        /// Higher than all around.
        Peak = "peak", "Peak";
        /// Higher than most of what is around.
        Ridge = "ridge", "Ridge";
        /// Where a slope sets off from level ground.
        Shoulder = "shoulder", "Shoulder";
        /// A rib that runs down a slope.
        Spur = "spur", "Spur";
        /// An even slope.
        Slope = "slope", "Slope";
        /// A groove that runs down a slope.
        Hollow = "hollow", "Hollow";
        /// Where a slope runs out onto level ground.
        Footslope = "footslope", "Footslope";
        /// Lower than most of what is around.
        Valley = "valley", "Valley";
        /// Lower than all around.
        Pit = "pit", "Pit";
    }
}

impl Landform {
    /// The name that people read.
    pub fn label(self) -> &'static str {
        Self::CHOICES[self as usize].label
    }
}

/// How far one looks from each sample, in samples.
const REACH: usize = 8;
/// The tangent of the angle up to which ground counts as flat, 1°.
const FLAT: f32 = 0.017_455_065;

/// The directions in which one looks, columns eastward and rows southward.
const WAYS: [[isize; 2]; 8] = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]];

/// The form by the number of directions in which the land lies lower (row) and higher (column), from Jasiewicz and
/// Stepinski, figure 4. Both together are at most 8.
const FORMS: [&[Landform]; 9] = {
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

/// The shares of the land's samples that have each form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landforms {
    shares: [f64; Landform::ALL.len()],
}

impl Landforms {
    /// Finds the form of every sample from which one can look as far as one should in every direction; all are flat
    /// where there is none.
    pub fn of(land: &Heightfield, monitor: &Monitor) -> Result<Self, Cancelled> {
        let grid = land.grid();
        let inside = |count: usize| REACH..count.saturating_sub(REACH).max(REACH);
        let counts_of_row = |r: usize| {
            let mut counts = [0_u64; Landform::ALL.len()];
            for c in inside(grid.width()) {
                counts[form_at(land, c, r) as usize] += 1;
            }
            monitor.check().map(|()| counts)
        };
        let add = |mut one: [u64; Landform::ALL.len()], other: [u64; Landform::ALL.len()]| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
            Ok(one)
        };
        let rows = inside(grid.height()).into_par_iter().map(counts_of_row);
        let counts = rows.try_reduce(|| [0; Landform::ALL.len()], add)?;
        let all: u64 = counts.iter().sum();
        let mut shares = counts.map(|count| count as f64 / all.max(1) as f64);
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

/// The form at a sample that lies at least [`REACH`] samples inside the land.
fn form_at(land: &Heightfield, c: usize, r: usize) -> Landform {
    let grid = land.grid();
    let (x_m, z_m) = (grid.spacing_x_m(), grid.spacing_z_m());
    let height = land[(c, r)];
    let (mut lower, mut higher) = (0, 0);
    for [east, south] in WAYS {
        let step_m = libm::hypot(east as f64 * x_m, south as f64 * z_m) as f32;
        // The tangents of the highest and the lowest line of sight, from the horizontal.
        let (mut up, mut down) = (f32::NEG_INFINITY, f32::INFINITY);
        for n in 1..=REACH {
            let there = (c.wrapping_add_signed(east * n.cast_signed()), r.wrapping_add_signed(south * n.cast_signed()));
            let slope = (land[there] - height) / (n as f32 * step_m);
            (up, down) = (up.max(slope), down.min(slope));
        }
        // The sum of the two angles against the flat one, by tan(α + β) = (tan α + tan β)/(1 − tan α·tan β); where the
        // product is 1 or more, they have the same sign and are together beyond 90°.
        let (sum, rest) = (up + down, 1.0 - up * down);
        let bound = FLAT * rest.max(0.0);
        higher += usize::from(sum > bound);
        lower += usize::from(sum < -bound);
    }
    FORMS[lower][higher]
}

/// How many of a thousand samples inside the land are lower than all of their eight neighbours.
pub fn pits_per_thousand(land: &Heightfield) -> f64 {
    let grid = land.grid();
    let (width, height) = (grid.width(), grid.height());
    if width < 3 || height < 3 {
        return 0.0;
    }
    let is_pit = |c: usize, r: usize| {
        let around = WAYS.map(|[east, south]| land[(c.wrapping_add_signed(east), r.wrapping_add_signed(south))]);
        around.iter().all(|beside| land[(c, r)] < *beside)
    };
    let pits: usize = (1..height - 1).into_par_iter().map(|r| (1..width - 1).filter(|c| is_pit(*c, r)).count()).sum();
    1000.0 * pits as f64 / ((width - 2) * (height - 2)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::{Extent, Grid};

    #[track_caller]
    fn check(height: impl Fn(f32, f32) -> f32, expected: Landform) {
        let grid = Grid::new(Extent { width_m: 160.0, depth_m: 160.0 }, 17, 17);
        let land = Heightfield::from_fn(grid, |c, r| height(10.0 * (c as f32 - 8.0), 10.0 * (r as f32 - 8.0)));
        assert_eq!(form_at(&land, 8, 8), expected);
        let forms = Landforms::of(&land, &Monitor::new()).expect("not cancelled");
        assert_eq!(forms.share(expected), 1.0);
    }

    #[test]
    fn forms_by_hand() {
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
    fn land_too_small_to_look_around_is_flat() {
        let grid = Grid::new(Extent { width_m: 160.0, depth_m: 160.0 }, 16, 30);
        let forms = Landforms::of(&Heightfield::from_fn(grid, |c, r| (c * r) as f32), &Monitor::new());
        assert_eq!(forms.expect("not cancelled").share(Landform::Flat), 1.0);
    }

    #[test]
    fn pits_are_counted_inside() {
        let grid = Grid::new(Extent { width_m: 90.0, depth_m: 60.0 }, 7, 6);
        // One pit, and one at the border.
        let land = Heightfield::from_fn(grid, |c, r| if [[2, 2], [0, 4]].contains(&[c, r]) { 0.0 } else { 1.0 });
        assert_eq!(pits_per_thousand(&land), 1000.0 / 20.0);
    }
}
