//! Makes the terrain symmetric: a mirror image of itself, or unchanged by a rotation.
//!
//! A symmetry is a group of isometries of the map: the identity and the reflections or rotations that leave the
//! map unchanged. They move a sample onto the samples of its orbit, all of which get the same height. An orbit has one
//! sample for each isometry, the same sample several times if it is on an axis. All its samples are computed from the
//! one that comes first in row order, with sorted terms, so that the heights are equal to the bit.

use rayon::prelude::*;

use super::operation::{EvalContext, Keyframe, Operation, Role};
use crate::cast::ToFloat;
use crate::heightfield::{Extent, Grid, Heightfield, MAX_HEIGHT_M};
use crate::parameters::{ParameterError, Spec, choices, parameters};
use crate::progress::{Cancelled, Progress};
use crate::rock::RockEffect;

choices! {
    /// How the parts of a symmetric map correspond.
    pub enum Kind {
        /// East and west are mirror images.
        MirrorEastWest = "mirror_east_west", "Mirror east–west";
        /// North and south are mirror images.
        MirrorNorthSouth = "mirror_north_south", "Mirror north–south";
        /// Mirrored across the diagonal from the north-west to the south-east corner. Only for square worlds.
        MirrorDiagonal = "mirror_diagonal", "Mirror across NW–SE diagonal";
        /// Mirrored across the diagonal from the north-east to the south-west corner. Only for square worlds.
        MirrorAntidiagonal = "mirror_antidiagonal", "Mirror across NE–SW diagonal";
        /// Unchanged by a rotation of 180°.
        Rotate2 = "rotate_2", "Rotate by 180°";
        /// Unchanged by rotations of 90°. Only for square worlds.
        Rotate4 = "rotate_4", "Rotate by 90°";
        /// Mirrored both east–west and north–south.
        BothMirrors = "both_mirrors", "Mirror both ways";
    }
}

choices! {
    /// How the heights of the parts are joined.
    pub enum Method {
        /// The average of all parts, with the relief of one. Smooth everywhere, but no part keeps its shapes.
        Sum = "sum", "Average all parts";
        /// One part is copied to the others and blended across its borders.
        Fold = "fold", "Copy one part";
    }
}

choices! {
    /// A direction from the middle of the map. As the part to copy, one along a mirror axis means the part clockwise of
    /// it.
    pub enum Side {
        /// North.
        North = "north", "North";
        /// North-east.
        NorthEast = "north_east", "North-east";
        /// East.
        East = "east", "East";
        /// South-east.
        SouthEast = "south_east", "South-east";
        /// South.
        South = "south", "South";
        /// South-west.
        SouthWest = "south_west", "South-west";
        /// West.
        West = "west", "West";
        /// North-west.
        NorthWest = "north_west", "North-west";
    }
}

parameters! {
    /// Makes the map fair: its parts become mirror images or rotated copies of each other.
    pub struct Symmetry {
        /// Which parts of the map are equal.
        kind: Kind = Kind::MirrorEastWest, Spec::new("Kind");
        /// Whether all parts are averaged, or one is copied to the others.
        method: Method = Method::Fold, Spec::new("Method");
        /// The part that is copied: the one in this direction from the middle.
        keep: Side = Side::West, Spec::new("Keep").when("method", &["fold"]);
        /// Width of the transition along the borders of the parts. When all parts are averaged, their relief
        /// is strengthened to make up for it, but less within about this distance of the borders.
        blend_m: f64 = 200.0, Spec::number("Blend width", 0.0, 100_000.0).slider(0.0, 1000.0).unit("m");
        /// Whether the map is made exactly symmetric again after the last step, because steps such as erosion treat
        /// the parts slightly differently. Places that match are averaged, whatever the method is.
        again_at_end: bool = true, Spec::new("Restore symmetry at the end");
    }
}

impl Kind {
    /// The directions that name different parts of the map.
    pub fn sides(self) -> &'static [Side] {
        match self {
            Self::MirrorEastWest => &[Side::West, Side::East],
            Self::MirrorNorthSouth => &[Side::North, Side::South],
            Self::MirrorDiagonal => &[Side::NorthEast, Side::SouthWest],
            Self::MirrorAntidiagonal => &[Side::NorthWest, Side::SouthEast],
            Self::BothMirrors => &[Side::NorthWest, Side::NorthEast, Side::SouthEast, Side::SouthWest],
            Self::Rotate2 | Self::Rotate4 => Side::ALL,
        }
    }
}

/// The largest number of isometries of a kind.
const MAX_ORDER: usize = 4;

/// The kinds that fit worlds that are not square, for messages.
const KINDS_OF_ANY_WORLD: &str = "mirror_east_west, mirror_north_south, both_mirrors or rotate_2";

/// A sample: its column and its row.
type Sample = [usize; 2];

/// An isometry of the map: swaps east with south and west with north, or not, and then mirrors east–west and
/// north–south, or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Isometry {
    swaps: bool,
    mirrors: [bool; 2],
}

const fn isometry(swaps: bool, mirrors: [bool; 2]) -> Isometry {
    Isometry { swaps, mirrors }
}

const IDENTITY: Isometry = isometry(false, [false, false]);
const EAST_WEST: Isometry = isometry(false, [true, false]);
const NORTH_SOUTH: Isometry = isometry(false, [false, true]);
const DIAGONAL: Isometry = isometry(true, [false, false]);
const ANTIDIAGONAL: Isometry = isometry(true, [true, true]);
const QUARTER_TURN: Isometry = isometry(true, [true, false]);
const HALF_TURN: Isometry = isometry(false, [true, true]);
const THREE_QUARTER_TURN: Isometry = isometry(true, [false, true]);

impl Isometry {
    /// What is left without a symmetry.
    pub(crate) const IDENTITY_ALONE: [Self; 1] = [IDENTITY];

    /// The sample onto which a sample is moved; `last` is the last column and row.
    fn moved(self, [c, r]: Sample, last: Sample) -> Sample {
        let moved = if self.swaps { [r, c] } else { [c, r] };
        std::array::from_fn(|axis| if self.mirrors[axis] { last[axis] - moved[axis] } else { moved[axis] })
    }

    /// The direction into which a direction is moved.
    pub(crate) fn turned(self, [x, z]: [f64; 2]) -> [f64; 2] {
        let turned = if self.swaps { [z, x] } else { [x, z] };
        std::array::from_fn(|axis| if self.mirrors[axis] { -turned[axis] } else { turned[axis] })
    }
}

impl Isometry {
    /// The place onto which a place of a map is moved, both in metres from its north-west corner. An isometry that swaps
    /// the axes needs a square map.
    pub(crate) fn place_m(self, [x_m, z_m]: [f64; 2], extent: Extent) -> [f64; 2] {
        let moved = if self.swaps { [z_m, x_m] } else { [x_m, z_m] };
        let sides_m = [extent.width_m, extent.depth_m];
        std::array::from_fn(|axis| if self.mirrors[axis] { sides_m[axis] - moved[axis] } else { moved[axis] })
    }

    /// The azimuth into which a direction from 0 to 360 degrees is moved.
    pub(crate) fn azimuth_deg(self, azimuth_deg: f64) -> f64 {
        // Swapping east and south mirrors across the diagonal, which is the direction 135°.
        let swapped = if self.swaps { 270.0 - azimuth_deg } else { azimuth_deg };
        let [east_west, north_south] = self.mirrors;
        let mirrored = if east_west { -swapped } else { swapped };
        let moved = if north_south { 180.0 - mirrored } else { mirrored };
        moved.rem_euclid(360.0)
    }

    /// Whether it swaps the axes, as quarter turns and diagonal mirrors do.
    pub(crate) fn swaps_axes(self) -> bool {
        self.swaps
    }

    /// Whether it makes mirror images, rather than turning.
    pub(crate) fn reflects(self) -> bool {
        self.swaps ^ self.mirrors[0] ^ self.mirrors[1]
    }
}

impl Kind {
    /// The isometries, the identity first. Those that move a part onto a neighbour come before the half turn that
    /// follows from them.
    pub(crate) fn isometries(self) -> &'static [Isometry] {
        match self {
            Self::MirrorEastWest => &[IDENTITY, EAST_WEST],
            Self::MirrorNorthSouth => &[IDENTITY, NORTH_SOUTH],
            Self::MirrorDiagonal => &[IDENTITY, DIAGONAL],
            Self::MirrorAntidiagonal => &[IDENTITY, ANTIDIAGONAL],
            Self::Rotate2 => &[IDENTITY, HALF_TURN],
            Self::Rotate4 => &[IDENTITY, QUARTER_TURN, THREE_QUARTER_TURN, HALF_TURN],
            Self::BothMirrors => &[IDENTITY, EAST_WEST, NORTH_SOUTH, HALF_TURN],
        }
    }

    /// Whether a map of this size can have it.
    pub fn fits(self, extent: Extent) -> bool {
        extent.is_square() || !self.needs_square()
    }

    /// Whether it needs a square map, because it swaps the axes.
    pub fn needs_square(self) -> bool {
        self.isometries().iter().any(|isometry| isometry.swaps)
    }
}

impl Side {
    /// The direction, eastward and southward; not of unit length.
    fn direction(self) -> [f64; 2] {
        match self {
            Self::North => [0.0, -1.0],
            Self::NorthEast => [1.0, -1.0],
            Self::East => [1.0, 0.0],
            Self::SouthEast => [1.0, 1.0],
            Self::South => [0.0, 1.0],
            Self::SouthWest => [-1.0, 1.0],
            Self::West => [-1.0, 0.0],
            Self::NorthWest => [-1.0, -1.0],
        }
    }
}

/// The orbit of a sample: the samples onto which the isometries move it, in their order.
#[derive(Debug)]
struct Orbit {
    samples: [Sample; MAX_ORDER],
    order: usize,
}

impl Orbit {
    /// The orbit that contains a sample, starting at the sample that comes first in row order.
    fn of(isometries: &[Isometry], sample: Sample, last: Sample) -> Self {
        let moved = |isometry: &Isometry| isometry.moved(sample, last);
        let first = isometries.iter().map(moved).min_by_key(|[c, r]| [*r, *c]).unwrap_or(sample);
        let mut samples = [first; MAX_ORDER];
        for (to, isometry) in samples.iter_mut().zip(isometries) {
            *to = isometry.moved(first, last);
        }
        Self { samples, order: isometries.len() }
    }

    /// The samples.
    fn samples(&self) -> &[Sample] {
        &self.samples[..self.order]
    }

    /// The sum of a value of every sample, in ascending order of the values.
    fn sum(&self, value: impl Fn(Sample) -> f64) -> f64 {
        let mut values = self.samples.map(value);
        let values = &mut values[..self.order];
        values.sort_unstable_by(f64::total_cmp);
        values.iter().sum()
    }
}

/// The mean height, summed in row order.
fn mean_height(terrain: &Heightfield, progress: &Progress) -> Result<f64, Cancelled> {
    let grid = terrain.grid();
    let mut sum = 0.0;
    for r in 0..grid.height() {
        terrain.row(r).iter().for_each(|height| sum += f64::from(*height));
        progress.check()?;
    }
    Ok(sum / grid.samples().to_f64())
}

impl Symmetry {
    /// The terrain with heights computed from the orbits.
    fn symmetric(
        &self,
        grid: Grid,
        progress: &Progress,
        height: impl Fn(&Orbit) -> f64 + Sync,
    ) -> Result<Heightfield, Cancelled> {
        let (isometries, last) = (self.kind.isometries(), [grid.width() - 1, grid.height() - 1]);
        let mut terrain = Heightfield::flat(grid);
        let counter = progress.counter(grid.height());
        terrain.heights_mut().par_chunks_mut(grid.width()).enumerate().try_for_each(|(r, row)| {
            for (c, to) in row.iter_mut().enumerate() {
                *to = height(&Orbit::of(isometries, [c, r], last)).to_f32().clamp(-MAX_HEIGHT_M, MAX_HEIGHT_M);
            }
            counter.add_one()
        })?;
        Ok(terrain)
    }

    /// The mean over the orbit of the height above the mean height h̄, times √(|G| / Σ exp(−|p − g·p|² / 2·blend²)),
    /// plus h̄. Means of n independent terrains have 1/√n of their relief; the sum over the isometries g is 1 far from
    /// the axes and larger where images coincide, whose relief is not reduced.
    fn summed(&self, terrain: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let grid = terrain.grid();
        let mean_m = mean_height(terrain, progress)?;
        let overlap = |[c, r]: Sample, [other_c, other_r]: Sample| {
            let x_m = (c.to_f64() - other_c.to_f64()) * grid.spacing_x_m();
            let z_m = (r.to_f64() - other_r.to_f64()) * grid.spacing_z_m();
            let squared = x_m * x_m + z_m * z_m;
            if squared == 0.0 {
                return 1.0;
            }
            // The identity adds 1, which absorbs anything below 2⁻⁵⁴ > exp(−40).
            let exponent = squared / (2.0 * self.blend_m * self.blend_m);
            if exponent < 40.0 { libm::exp(-exponent) } else { 0.0 }
        };
        self.symmetric(grid, progress, |orbit| {
            let order = orbit.order.to_f64();
            let relief_m = orbit.sum(|[c, r]| f64::from(terrain[(c, r)]) - mean_m) / order;
            let overlaps: f64 = orbit.samples().iter().map(|sample| overlap(orbit.samples[0], *sample)).sum();
            mean_m + (order / overlaps).sqrt() * relief_m
        })
    }

    /// The inward normals of the borders of the part to keep. It consists of the points nearer to the direction to
    /// keep than to any of its images.
    fn borders(&self) -> Vec<[f64; 2]> {
        let isometries = self.kind.isometries();
        let [x, z] = self.keep.direction();
        let is_on_axis = isometries[1..].iter().any(|isometry| isometry.turned([x, z]) == [x, z]);
        // Clockwise from (0, −1), north, is (1, 0), east.
        let keep = if is_on_axis { [x - 0.5 * z, z + 0.5 * x] } else { [x, z] };
        // A part with two borders needs no third: the half turn moves it onto the opposite one.
        let neighbours = &isometries[1..=isometries.len() / 2];
        let normal = |isometry: &Isometry| {
            let image = isometry.turned(keep);
            let [x, z] = [keep[0] - image[0], keep[1] - image[1]];
            let length = libm::hypot(x, z);
            [x / length, z / length]
        };
        neighbours.iter().map(normal).collect()
    }

    /// Whether nothing of the terrain at a place is kept, because another part is copied there.
    pub fn discards(&self, [x_m, z_m]: [f64; 2], extent: Extent) -> bool {
        let from_middle = [x_m - 0.5 * extent.width_m, z_m - 0.5 * extent.depth_m];
        let is_outside =
            |normal: &[f64; 2]| normal[0] * from_middle[0] + normal[1] * from_middle[1] < -0.5 * self.blend_m;
        self.method == Method::Fold && self.borders().iter().any(is_outside)
    }

    /// The kept part everywhere. Its weight at a point is the product over its borders of a smoothstep of the signed
    /// distance, `blend_m` wide. The weights of an orbit add up to 1.
    fn folded(&self, terrain: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        let grid = terrain.grid();
        let borders = self.borders();
        // From the middle of the map: exactly opposite for opposite samples.
        let centred =
            |i: usize, samples: usize, spacing_m: f64| (2.0 * i.to_f64() - (samples - 1).to_f64()) * (0.5 * spacing_m);
        let weight = |[c, r]: Sample| -> f64 {
            let x_m = centred(c, grid.width(), grid.spacing_x_m());
            let z_m = centred(r, grid.height(), grid.spacing_z_m());
            let share = |[nx, nz]: &[f64; 2]| {
                let inside_m = nx * x_m + nz * z_m;
                // Without a blend width this is 0, ½ or 1.
                let t = if inside_m == 0.0 { 0.5 } else { (inside_m / self.blend_m + 0.5).clamp(0.0, 1.0) };
                t * t * (3.0 - 2.0 * t)
            };
            borders.iter().map(share).product()
        };
        self.symmetric(grid, progress, |orbit| orbit.sum(|[c, r]| weight([c, r]) * f64::from(terrain[(c, r)])))
    }

    /// Gives all samples of every orbit their mean height. Terrain that is symmetric already stays bit-identical.
    pub fn orbit_means(&self, terrain: &Heightfield, progress: &Progress) -> Result<Heightfield, Cancelled> {
        self.symmetric(terrain.grid(), progress, |orbit| {
            orbit.sum(|[c, r]| f64::from(terrain[(c, r)])) / orbit.order.to_f64()
        })
    }

    /// The greatest difference in height between samples that the symmetry makes equal, metres: 0 for terrain that is
    /// exactly symmetric, and for a map that the symmetry does not [fit](Operation::check).
    pub fn asymmetry_m(&self, terrain: &Heightfield, progress: &Progress) -> Result<f32, Cancelled> {
        let grid = terrain.grid();
        if self.check(grid).is_err() {
            return Ok(0.0);
        }
        let (isometries, last) = (self.kind.isometries(), [grid.width() - 1, grid.height() - 1]);
        // Every pair of an orbit is an isometry apart.
        let difference = |c: usize, r: usize, isometry: &Isometry| {
            let [other_c, other_r] = isometry.moved([c, r], last);
            (terrain[(c, r)] - terrain[(other_c, other_r)]).abs()
        };
        let of_row = |r: usize| {
            progress.check()?;
            let differences = (0..grid.width()).flat_map(|c| isometries[1..].iter().map(move |isometry| (c, isometry)));
            Ok(differences.map(|(c, isometry)| difference(c, r, isometry)).fold(0.0, f32::max))
        };
        (0..grid.height()).into_par_iter().map(of_row).try_reduce(|| 0.0, |a, b| Ok(a.max(b)))
    }
}

impl Operation for Symmetry {
    const KEY: &'static str = "symmetry";
    const LABEL: &'static str = "Symmetry";
    const WORDS: &'static str = "mirror rotate fair balanced multiplayer";

    fn rock_effect(&self) -> RockEffect {
        RockEffect::Rearrange
    }

    fn role(&self) -> Role {
        Role::Modifier
    }

    /// The evaluator makes the report, which is on all steps.
    fn has_reports(&self) -> bool {
        self.again_at_end
    }

    fn check(&self, grid: Grid) -> Result<(), ParameterError> {
        let (kind, world) = (self.kind.key(), grid.extent());
        if !self.kind.needs_square() {
            return Ok(());
        }
        if world.width_m != world.depth_m {
            return Err(ParameterError::conflict(
                "kind",
                format!(
                    "{kind} needs a square world, but this one is {} m × {} m; make its sides equal, or choose \
                     {KINDS_OF_ANY_WORLD}",
                    world.width_m, world.depth_m
                ),
            ));
        }
        if grid.width() != grid.height() {
            return Err(ParameterError::conflict(
                "kind",
                format!(
                    "{kind} needs as many columns as rows, but this map has {} × {}; give it equal sides, or choose \
                     {KINDS_OF_ANY_WORLD}",
                    grid.width(),
                    grid.height()
                ),
            ));
        }
        Ok(())
    }

    fn evaluate(&self, context: &EvalContext, _: u32, _: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let Some(below) = context.below.filter(|_| self.check(context.grid).is_ok()) else {
            return context.heights_below();
        };
        match self.method {
            Method::Sum => self.summed(below, context.progress),
            Method::Fold => self.folded(below, context.progress),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{modified, relative_rms, rough_terrain};
    use super::*;
    use crate::heightfield::Extent;

    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: 400.0, depth_m: 400.0 }, width, height)
    }

    fn terrain(rows: &[&[f32]]) -> Heightfield {
        Heightfield::from_heights(grid(rows[0].len(), rows.len()), rows.concat()).expect("rows of equal length")
    }

    fn fold(kind: Kind, keep: Side, blend_m: f64) -> Symmetry {
        Symmetry { kind, method: Method::Fold, keep, blend_m, ..Default::default() }
    }

    #[track_caller]
    fn check_fold(kind: Kind, keep: Side, expected: &[&[f32]]) {
        let below = terrain(&[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]]);
        assert_eq!(modified(&fold(kind, keep, 0.0), &below), terrain(expected));
    }

    #[test]
    fn the_kept_part_is_copied_to_the_others() {
        check_fold(Kind::MirrorEastWest, Side::West, &[&[1.0, 2.0, 1.0], &[4.0, 5.0, 4.0], &[7.0, 8.0, 7.0]]);
        check_fold(Kind::MirrorNorthSouth, Side::South, &[&[7.0, 8.0, 9.0], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]]);
        check_fold(Kind::MirrorDiagonal, Side::NorthEast, &[&[1.0, 2.0, 3.0], &[2.0, 5.0, 6.0], &[3.0, 6.0, 9.0]]);
        check_fold(Kind::MirrorAntidiagonal, Side::NorthWest, &[&[1.0, 2.0, 3.0], &[4.0, 5.0, 2.0], &[7.0, 4.0, 1.0]]);
        // Opposite samples on the border of the parts get their mean.
        check_fold(Kind::Rotate2, Side::North, &[&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0], &[3.0, 2.0, 1.0]]);
        // The edges of the kept quadrant are the means of its two borders.
        check_fold(Kind::Rotate4, Side::NorthWest, &[&[1.0, 3.0, 1.0], &[3.0, 5.0, 3.0], &[1.0, 3.0, 1.0]]);
        check_fold(Kind::Rotate4, Side::North, &[&[2.0, 2.0, 2.0], &[2.0, 5.0, 2.0], &[2.0, 2.0, 2.0]]);
        check_fold(Kind::BothMirrors, Side::SouthEast, &[&[9.0, 8.0, 9.0], &[6.0, 5.0, 6.0], &[9.0, 8.0, 9.0]]);
        // Directions along an axis mean the part clockwise of them.
        check_fold(Kind::MirrorEastWest, Side::North, &[&[3.0, 2.0, 3.0], &[6.0, 5.0, 6.0], &[9.0, 8.0, 9.0]]);
        check_fold(Kind::MirrorDiagonal, Side::NorthWest, &[&[1.0, 2.0, 3.0], &[2.0, 5.0, 6.0], &[3.0, 6.0, 9.0]]);
        check_fold(Kind::BothMirrors, Side::West, &[&[1.0, 2.0, 1.0], &[4.0, 5.0, 4.0], &[1.0, 2.0, 1.0]]);
    }

    #[test]
    fn what_is_beyond_the_transition_is_discarded() {
        let extent = Extent { width_m: 400.0, depth_m: 200.0 };
        let west = fold(Kind::MirrorEastWest, Side::West, 100.0);
        let discarded = [0.0, 199.0, 249.0, 251.0, 400.0].map(|x_m| west.discards([x_m, 50.0], extent));
        assert_eq!(discarded, [false, false, false, true, true]);
        let summed = Symmetry { method: Method::Sum, ..west };
        assert!(!summed.discards([400.0, 50.0], extent));
    }

    #[test]
    fn folds_blend_across_the_border() {
        // Columns at −200, −100, 0, 100, 200 m from the axis; 400 m wide: t = ½ + 100/400 → ¾²·(3 − 1.5) = 27/32.
        let below = terrain(&[&[32.0, 64.0, 5.0, 0.0, 0.0], &[0.0; 5]]);
        let folded = modified(&fold(Kind::MirrorEastWest, Side::West, 400.0), &below);
        assert_eq!(folded.row(0), [32.0, 54.0, 5.0, 54.0, 32.0]);
        // A constant stays to the bit, whatever the weights.
        let level = Heightfield::from_fn(grid(33, 33), |_, _| 1234.567);
        for kind in Kind::ALL {
            for keep in Side::ALL {
                assert_eq!(modified(&fold(*kind, *keep, 170.0), &level), level, "{kind:?}, {keep:?}");
            }
        }
    }

    #[test]
    fn every_part_is_named_by_one_direction_that_is_offered() {
        let below = Heightfield::from_fn(grid(33, 33), |c, r| ((c * 37 + r * 11) % 61) as f32);
        for kind in Kind::ALL {
            let folded = |keep: &Side| modified(&fold(*kind, *keep, 0.0), &below);
            let offered: Vec<Heightfield> = kind.sides().iter().map(folded).collect();
            for keep in Side::ALL {
                let found = folded(keep);
                let same = offered.iter().filter(|offered| **offered == found).count();
                assert_eq!(same, 1, "{kind:?}, {keep:?}");
            }
        }
    }

    #[test]
    fn sums_match_values_computed_by_hand() {
        // The mean is 3; columns 200 m apart, blended over 200 m.
        let below = terrain(&[&[1.0, 3.0, 5.0], &[0.0, 9.0, 0.0]]);
        let summed = modified(&Symmetry { method: Method::Sum, blend_m: 200.0, ..Default::default() }, &below);
        // 400 m between the outer columns: Σ = 1 + exp(−2). The middle is on the axis: Σ = 2, unchanged.
        let factor = (2.0 / (1.0 + libm::exp(-2.0))).sqrt();
        let expected = [3.0, 3.0, 3.0, 3.0 - 3.0 * factor, 9.0, 3.0 - 3.0 * factor];
        for (found, expected) in summed.heights().iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} not {expected}");
        }
        // Without a width only the axis itself coincides.
        let sharp = modified(&Symmetry { method: Method::Sum, blend_m: 0.0, ..Default::default() }, &below);
        assert!((f64::from(sharp[(0, 1)]) - (3.0 - 3.0 * 2.0_f64.sqrt())).abs() < 1e-6);
        assert_eq!(sharp[(1, 1)], 9.0);
    }

    #[test]
    fn the_relief_of_sums_is_that_of_one_part() {
        let deviation = |terrain: &Heightfield| {
            let count = terrain.heights().len() as f64;
            let mean = terrain.heights().iter().map(|h| f64::from(*h)).sum::<f64>() / count;
            (terrain.heights().iter().map(|h| f64::from(*h) - mean).map(|d| d * d).sum::<f64>() / count).sqrt()
        };
        let below = rough_terrain(grid(129, 129));
        for kind in Kind::ALL {
            let summed = modified(&Symmetry { kind: *kind, blend_m: 3.0, ..Default::default() }, &below);
            let ratio = deviation(&summed) / deviation(&below);
            assert!((ratio - 1.0).abs() < 0.05, "{kind:?}: {ratio}");
        }
    }

    /// Every kind and method, with the samples of every orbit spelled out.
    #[test]
    fn the_map_equals_itself_turned_to_the_bit() {
        type Image = fn(usize, usize, usize, usize) -> (usize, usize);
        let images: [(Kind, &[Image]); 7] = [
            (Kind::MirrorEastWest, &[|c, r, w, _| (w - c, r)]),
            (Kind::MirrorNorthSouth, &[|c, r, _, h| (c, h - r)]),
            (Kind::MirrorDiagonal, &[|c, r, _, _| (r, c)]),
            (Kind::MirrorAntidiagonal, &[|c, r, w, h| (h - r, w - c)]),
            (Kind::Rotate2, &[|c, r, w, h| (w - c, h - r)]),
            (Kind::Rotate4, &[|c, r, w, _| (w - r, c), |c, r, _, h| (r, h - c)]),
            (Kind::BothMirrors, &[|c, r, w, _| (w - c, r), |c, r, _, h| (c, h - r)]),
        ];
        for (kind, images) in images {
            for (width, height) in [(33, 33), (32, 32), (41, 26)] {
                let below = rough_terrain(grid(width, height));
                for symmetry in [
                    Symmetry { kind, ..Default::default() },
                    fold(kind, Side::NorthWest, 90.0),
                    fold(kind, Side::South, 0.0),
                ] {
                    if symmetry.check(below.grid()).is_err() {
                        assert_eq!(modified(&symmetry, &below), below, "left alone where it does not fit");
                        continue;
                    }
                    let progress = Progress::new();
                    let once = modified(&symmetry, &below);
                    let means = symmetry.orbit_means(&below, &progress).expect("not cancelled");
                    for terrain in [&once, &means] {
                        for (c, r) in (0..height).flat_map(|r| (0..width).map(move |c| (c, r))) {
                            for image in images {
                                let other = terrain[image(c, r, width - 1, height - 1)];
                                assert_eq!(terrain[(c, r)].to_bits(), other.to_bits(), "{symmetry:?}: {c}, {r}");
                            }
                        }
                        assert_eq!(symmetry.orbit_means(terrain, &progress).as_ref(), Ok(terrain));
                        assert_eq!(symmetry.asymmetry_m(terrain, &progress), Ok(0.0));
                    }
                }
            }
        }
    }

    #[test]
    fn the_asymmetry_is_the_greatest_difference_in_an_orbit() {
        let below = terrain(&[&[1.0, 2.0, 3.5], &[4.0, 5.0, 6.0], &[7.0, 8.0, 9.0]]);
        for (kind, expected) in [
            (Kind::MirrorEastWest, 2.5),
            (Kind::MirrorNorthSouth, 6.0),
            (Kind::MirrorDiagonal, 3.5),
            (Kind::MirrorAntidiagonal, 8.0),
            (Kind::Rotate2, 8.0),
            (Kind::Rotate4, 8.0),
        ] {
            let symmetry = Symmetry { kind, ..Default::default() };
            assert_eq!(symmetry.asymmetry_m(&below, &Progress::new()), Ok(expected), "{kind:?}");
        }
    }

    #[test]
    fn diagonals_and_quarter_turns_need_a_square() {
        let long = Grid::new(Extent { width_m: 400.0, depth_m: 300.5 }, 33, 33);
        for kind in Kind::ALL {
            let message =
                |grid| Symmetry { kind: *kind, ..Default::default() }.check(grid).err().map(|e| e.to_string());
            assert_eq!(message(grid(33, 33)), None);
            let is_free = !matches!(kind, Kind::MirrorDiagonal | Kind::MirrorAntidiagonal | Kind::Rotate4);
            assert_eq!((message(long).is_none(), message(grid(33, 17)).is_none()), (is_free, is_free), "{kind:?}");
        }
        let message = |grid| Symmetry { kind: Kind::Rotate4, ..Default::default() }.check(grid).expect_err("refused");
        assert_eq!(
            message(long).to_string(),
            "kind: rotate_4 needs a square world, but this one is 400 m × 300.5 m; make its sides equal, or choose \
             mirror_east_west, mirror_north_south, both_mirrors or rotate_2"
        );
        assert_eq!(
            message(grid(33, 17)).to_string(),
            "kind: rotate_4 needs as many columns as rows, but this map has 33 × 17; give it equal sides, or choose \
             mirror_east_west, mirror_north_south, both_mirrors or rotate_2"
        );
    }

    #[test]
    fn small_and_large_maps_agree() {
        let below = |samples| {
            let grid = grid(samples, samples);
            Heightfield::from_fn(grid, |c, r| {
                let (x, z) = (grid.x_m(c), grid.z_m(r));
                (200.0 * libm::sin(x / 31.0) * libm::cos((z - 0.3 * x) / 47.0)) as f32
            })
        };
        let (small, large) = (below(65), below(257));
        for kind in Kind::ALL {
            for method in Method::ALL {
                let symmetry = Symmetry { kind: *kind, method: *method, blend_m: 60.0, ..Default::default() };
                let rms = relative_rms(&modified(&symmetry, &small), &modified(&symmetry, &large));
                assert!(rms < 0.01, "{kind:?}, {method:?}: {rms}");
            }
        }
    }
}
