//! The drainage areas of parts of large drained terrain.
//!
//! What drains through a place can come from anywhere upstream, but on drained terrain the way down from a sample depends
//! on the heights along it alone. The terrain is therefore divided into fixed windows, whose water is routed separately.
//! The rivers that enter a window bring the areas that the water of the whole world has there, at a lower resolution: fine
//! terrain keeps the channels of coarse terrain, so each is added at the lowest sample across the place that the coarse
//! river soon reaches. A window is the same whatever part is wanted. (Exact sums of tiles need an exchange between all of
//! them: R. Barnes, "Parallel non-divergent flow accumulation for trillion cell digital elevation models on desktops or
//! clusters", Environmental Modelling and Software 92, 2017.)

use rayon::prelude::*;

use super::drainage::Drainage;
use super::mesh::Mesh;
use super::options::{Outlets, RoutingOptions};
use super::water::Water;
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Grid, GridPart, Heightfield};
use crate::progress::{Cancelled, Progress};
use crate::result_cache::{bytes_of, take};

/// The side of a window without its surroundings, in samples of the map.
const SIDE: usize = 512;
/// The surroundings of a window on each side: samples of the map, and of the coarse terrain.
const HALO_SAMPLES: usize = 32;
const HALO_COARSE_SAMPLES: usize = 8;
/// How far within a window a river's area is added, in samples of the coarse terrain. Nearer to the border, the fine river
/// may be outside where the coarse one is inside.
const DEPTH: f64 = 4.0;

/// The water of the whole world, for the drainage areas of parts of a larger map of it.
#[derive(Debug)]
pub struct RegionalWater {
    grid: Grid,
    sea_m: Option<f32>,
    water: Water,
}

impl RegionalWater {
    /// The peak memory of [`Self::new`], in maps of the coarse terrain.
    pub const MAPS: f64 = Water::MAPS;

    /// The peak memory of [`Self::areas_m2`] besides its result, in bytes: the windows of all threads.
    pub fn window_bytes(coarse: Grid, map: Grid) -> u64 {
        /// Maps of f32 per window: the heights, areas of two, receivers, what is left of the donors, and what is copied.
        const OWN_MAPS: f64 = 6.0;
        let side = (SIDE + 2 * halo(coarse, map)).to_f64();
        let samples = side.min(map.width().to_f64()) * side.min(map.height().to_f64());
        (4.0 * (Drainage::MAPS + OWN_MAPS) * samples * rayon::current_num_threads().to_f64()).ceil().to_u64()
    }

    /// Routes the water of the whole world, given its terrain at a lower resolution.
    pub fn new(coarse: &Heightfield, sea_m: Option<f32>, progress: &Progress) -> Result<Self, Cancelled> {
        let water = Water { lakes_m: Vec::new(), ..Water::on(coarse, Outlets::Border, sea_m, progress)? };
        Ok(Self { grid: coarse.grid(), sea_m, water })
    }

    /// The bytes of the water, without what it was computed from.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Water { areas_m2, receivers, .. } = &self.water;
        bytes_of(areas_m2).chain(receivers.iter().flat_map(|receiver| receiver.to_le_bytes())).collect()
    }

    /// The water on the grid `coarse` from its [bytes](Self::to_bytes); `None` if these are others.
    pub(crate) fn from_bytes(mut bytes: &[u8], coarse: Grid, sea_m: Option<f32>) -> Option<Self> {
        let areas_m2 = take(&mut bytes, coarse.samples(), f32::from_le_bytes)?;
        let receivers = take(&mut bytes, coarse.samples(), u32::from_le_bytes)?;
        let is_valid = bytes.is_empty() && receivers.iter().all(|receiver| (*receiver as usize) < coarse.samples());
        is_valid.then(|| Self { grid: coarse, sea_m, water: Water { lakes_m: Vec::new(), areas_m2, receivers } })
    }

    /// The samples whose heights [`Self::areas_m2`] needs for those of a part, given the grid of the coarse terrain.
    pub fn needed(coarse: Grid, part: GridPart, map: Grid) -> GridPart {
        let last = |axis: usize| part.first[axis] + part.size[axis] - 1;
        let first = part.first.map(|first| first - first % SIDE);
        let size = std::array::from_fn(|axis| last(axis) - last(axis) % SIDE + SIDE - first[axis]);
        GridPart { first, size }.grown(halo(coarse, map), map)
    }

    /// The drainage area of each sample of a map or a part of it, m², row by row. In a part, samples of windows that are not
    /// [completely](Self::needed) inside it get the area of one cell.
    pub fn areas_m2(&self, terrain: &Heightfield, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let grid = terrain.grid();
        let (map, here) = (grid.full(), grid.as_part());
        let halo = halo(self.grid, map);
        let firsts = |axis: usize| {
            let (first, end) = (here.first[axis], here.first[axis] + here.size[axis]);
            (first - first % SIDE..end).step_by(SIDE)
        };
        let windows: Vec<[GridPart; 2]> = firsts(1)
            .flat_map(|north| {
                firsts(0).map(move |west| GridPart { first: [west, north], size: [SIDE; 2] }.grown(0, map))
            })
            .map(|own| [own, own.grown(halo, map)])
            .filter(|[_, window]| here.around(*window) == here)
            .collect();
        let cell_m2 = grid.spacing_x_m() * grid.spacing_z_m();
        let mut areas_m2 = vec![cell_m2.to_f32(); grid.samples()];
        let counter = progress.counter(windows.len());
        let of_window = |[own, window]: &[GridPart; 2]| {
            let areas = self.areas_of_window(&terrain.part(window.within(here)), cell_m2, &progress.of_part())?;
            counter.add_one()?;
            let rows = own.within(*window).rows(window.size[0]);
            Ok((*own, rows.flat_map(|row| areas[row].iter().map(|area| area.to_f32())).collect::<Vec<f32>>()))
        };
        // As many at a time as there are threads: each takes memory of its own.
        for windows in windows.chunks(rayon::current_num_threads()) {
            let found: Vec<(GridPart, Vec<f32>)> =
                windows.par_iter().map(of_window).collect::<Result<_, Cancelled>>()?;
            for (own, areas) in found {
                for (row, areas) in own.within(here).rows(grid.width()).zip(areas.chunks_exact(own.size[0])) {
                    areas_m2[row].copy_from_slice(areas);
                }
            }
        }
        Ok(areas_m2)
    }

    /// The drainage areas of a window with its surroundings.
    fn areas_of_window(&self, terrain: &Heightfield, cell_m2: f64, progress: &Progress) -> Result<Vec<f64>, Cancelled> {
        let options = RoutingOptions { outlets: Outlets::Border, sea_m: self.sea_m };
        let mut drainage = Drainage::new(&Mesh::regular(terrain.grid()), options, progress)?.on_facets();
        drainage.route(terrain, progress)?;
        let mut areas = vec![cell_m2; terrain.grid().samples()];
        for (sample, area_m2) in self.inflows(terrain) {
            areas[sample] += area_m2;
        }
        accumulate(&mut areas, &drainage.receivers());
        Ok(areas)
    }

    /// The samples of a window at which rivers bring drainage areas from outside, and these, m².
    fn inflows(&self, window: &Heightfield) -> Vec<(usize, f64)> {
        let (grid, coarse) = (window.grid(), self.grid);
        let part = grid.as_part();
        let ratios = ratios(coarse, grid.full());
        let columns = coarse.width();
        // The place of a coarse sample on the map.
        let place = |sample: usize| [(sample % columns).to_f64() * ratios[0], (sample / columns).to_f64() * ratios[1]];
        let map = [grid.full().width(), grid.full().height()];
        // Whether a coarse sample is inside the window, so many coarse samples from where it is cut out of the world.
        let is_inside = |sample: usize, depth: f64| {
            let place = place(sample);
            (0..2).all(|axis| {
                let (first, end) = (part.first[axis], part.first[axis] + part.size[axis]);
                let depth = depth * ratios[axis];
                (first == 0 || place[axis] >= first.to_f64() + depth)
                    && (end == map[axis] || place[axis] <= (end - 1).to_f64() - depth)
            })
        };
        let near = |axis: usize, samples: usize| {
            let at = |sample: usize| (sample.to_f64() / ratios[axis]).to_usize();
            at(part.first[axis]).saturating_sub(1)..(at(part.first[axis] + part.size[axis]) + 2).min(samples)
        };
        let around = near(1, coarse.height()).flat_map(|r| near(0, columns).map(move |c| r * columns + c));
        let receiver = |sample: usize| self.water.receivers[sample] as usize;
        let cell_m2 = coarse.spacing_x_m() * coarse.spacing_z_m();
        let enters = |sample: &usize| !is_inside(*sample, 0.0) && is_inside(receiver(*sample), 0.0);
        let inflow = |outside: usize| {
            let mut at = receiver(outside);
            while !is_inside(at, DEPTH) && receiver(at) != at {
                at = receiver(at);
                if !is_inside(at, 0.0) {
                    // It comes back elsewhere.
                    return None;
                }
            }
            let area_m2 = f64::from(self.water.areas_m2[outside]);
            let ([from_x, from_z], [x, z]) = (place(outside), place(at));
            let reach = reach(area_m2 / cell_m2) * ratios[0].max(ratios[1]);
            Some((lowest_across(window, [x, z], [x - from_x, z - from_z], reach, self.sea_m)?, area_m2))
        };
        around.filter(enters).filter_map(inflow).collect()
    }
}

/// The samples of the map per sample of the coarse terrain, along each side.
fn ratios(coarse: Grid, map: Grid) -> [f64; 2] {
    [(map.width(), coarse.width()), (map.height(), coarse.height())]
        .map(|(map, coarse)| (map - 1).to_f64() / (coarse - 1).to_f64())
}

/// How far the fine river may be from the coarse one that drains so many cells, in samples of the coarse terrain. Larger
/// rivers have wider floors, on which the paths differ more.
fn reach(cells: f64) -> f64 {
    (1.0 + 0.25 * libm::cbrt(cells)).min(DEPTH)
}

/// The samples around a window that are routed with it.
fn halo(coarse: Grid, map: Grid) -> usize {
    let [across, down] = ratios(coarse, map);
    HALO_SAMPLES + HALO_COARSE_SAMPLES * across.max(down).ceil().to_usize()
}

/// The lowest sample above the sea across a river that flows in a direction through a place on the map, within `reach`
/// samples; the lowest one if there is only sea. Of equal ones, it is the nearest. The border of the window, where flow ends,
/// is left out.
fn lowest_across(
    window: &Heightfield,
    place: [f64; 2],
    direction: [f64; 2],
    reach: f64,
    sea_m: Option<f32>,
) -> Option<usize> {
    let grid = window.grid();
    let length = libm::sqrt(direction[0] * direction[0] + direction[1] * direction[1]).max(f64::MIN_POSITIVE);
    let across = [-direction[1] / length, direction[0] / length];
    let interior = |position: f64, axis: usize, samples: usize| {
        let at = position.round().to_usize().checked_sub(grid.first()[axis])?;
        (1..samples.saturating_sub(1)).contains(&at).then_some(at)
    };
    let sample = |away: f64| {
        let c = interior(place[0] + away * across[0], 0, grid.width())?;
        let r = interior(place[1] + away * across[1], 1, grid.height())?;
        Some(r * grid.width() + c)
    };
    let steps = (0..=reach.to_usize()).flat_map(|step| [step.to_f64(), -step.to_f64()]);
    let rank = |sample: usize| {
        let height_m = window.heights()[sample];
        (sea_m.is_some_and(|sea_m| height_m <= sea_m), height_m)
    };
    steps.filter_map(sample).reduce(|lowest, sample| if rank(sample) < rank(lowest) { sample } else { lowest })
}

/// Adds what drains to each sample to its own area.
fn accumulate(areas: &mut [f64], receivers: &[u32]) {
    let mut donors = vec![0_u8; receivers.len()];
    for (sample, receiver) in receivers.iter().map(|receiver| *receiver as usize).enumerate() {
        donors[receiver] += u8::from(sample != receiver);
    }
    for source in 0..receivers.len() {
        let mut sample = source;
        // Each sample is passed on after the last of its donors.
        while donors[sample] == 0 {
            donors[sample] = u8::MAX;
            let receiver = receivers[sample] as usize;
            if receiver == sample {
                break;
            }
            areas[receiver] += areas[sample];
            donors[receiver] -= 1;
            sample = receiver;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;

    const WORLD: Extent = Extent { width_m: 20_000.0, depth_m: 16_000.0 };

    /// A valley that falls to the east and winds, with slopes of 20 %. It crosses the border between two rows of windows.
    fn valley(grid: Grid) -> Heightfield {
        Heightfield::from_fn(grid, |c, r| {
            let [x_m, z_m] = [grid.x_m(c), grid.z_m(r)];
            let away_m = z_m - 10_000.0 - 1500.0 * libm::sin(x_m / 2500.0);
            (1000.0 - 0.02 * x_m + 0.2 * away_m.abs()) as f32
        })
    }

    fn regional(coarse: usize, sea_m: Option<f32>) -> RegionalWater {
        RegionalWater::new(&valley(Grid::fitted(WORLD, coarse)), sea_m, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn water_is_the_same_after_it_was_bytes() {
        let terrain = valley(Grid::fitted(WORLD, 600));
        let water = regional(257, Some(700.0));
        let bytes = water.to_bytes();
        let same = RegionalWater::from_bytes(&bytes, water.grid, water.sea_m).expect("water");
        let of = |water: &RegionalWater| water.areas_m2(&terrain, &Progress::new()).expect("not cancelled");
        assert!(of(&same) == of(&water));
        let other = Grid::fitted(WORLD, 256);
        assert!(RegionalWater::from_bytes(&bytes, other, None).is_none());
        let mut outside = bytes;
        outside.truncate(outside.len() - 4);
        outside.extend(u32::MAX.to_le_bytes());
        assert!(RegionalWater::from_bytes(&outside, water.grid, None).is_none());
    }

    #[test]
    fn rivers_bring_their_areas_across_the_borders_of_windows() {
        let progress = Progress::new();
        let terrain = valley(Grid::fitted(WORLD, 1025));
        let width = terrain.grid().width();
        for (coarse, sea_m, last) in [(257, None, width), (300, None, width), (257, Some(700.0), 765)] {
            let expected = Water::on(&terrain, Outlets::Border, sea_m, &progress).expect("not cancelled").areas_m2;
            let found = regional(coarse, sea_m).areas_m2(&terrain, &progress).expect("not cancelled");
            // Near its head, the coarse terrain decides in which of a few columns a slope reaches the river.
            for c in (96..last).step_by(8) {
                let largest = |areas: &[f32]| areas.iter().skip(c).step_by(width).copied().fold(0.0, f32::max);
                let (found, expected) = (largest(&found), largest(&expected));
                // What joins the river within a sample of the coarse terrain from the border is missing: up to 6 %.
                assert!((found / expected - 1.0).abs() <= 0.08, "{coarse}, column {c}: {found}, not {expected}");
            }
            let equal = found.iter().zip(&expected).filter(|(found, expected)| found == expected).count();
            assert!(equal * 100 >= 97 * found.len(), "{coarse}: {equal} of {}", found.len());
        }
    }

    #[test]
    fn parts_have_the_areas_of_the_whole() {
        let (progress, water) = (Progress::new(), regional(257, None));
        let grid = Grid::fitted(WORLD, 1025);
        let whole = water.areas_m2(&valley(grid), &progress).expect("not cancelled");
        for part in [
            GridPart { first: [200, 500], size: [80, 30] },
            GridPart { first: [0, 0], size: [1, 1] },
            GridPart { first: [1000, 600], size: [25, 220] },
        ] {
            let needed = RegionalWater::needed(water.grid, part, grid);
            assert_eq!(needed.around(part), needed);
            let of_part = water.areas_m2(&valley(grid.part(needed.first, needed.size)), &progress).expect("done");
            let rows = part.rows(grid.width()).zip(part.within(needed).rows(needed.size[0]));
            assert!(rows.into_iter().all(|(row, of)| whole[row] == of_part[of]), "{part:?}");
        }
    }

    #[test]
    fn narrow_maps_have_areas() {
        for size in [[1500, 3], [3, 1500]] {
            let grid = Grid::new(WORLD, size[0], size[1]);
            let coarse = valley(Grid::new(WORLD, size[0].min(100), size[1].min(100)));
            let water = RegionalWater::new(&coarse, None, &Progress::new()).expect("not cancelled");
            assert_eq!(water.areas_m2(&valley(grid), &Progress::new()).expect("not cancelled").len(), 4500);
        }
    }

    #[test]
    fn rivers_are_found_across_their_direction_and_above_the_sea() {
        let grid = Grid::new(WORLD, 9, 9);
        // A valley along column 3, and the sea from column 6 on.
        let coast =
            Heightfield::from_fn(grid, |c, r| if c < 6 { 20.0 + c.abs_diff(3) as f32 - r as f32 } else { -20.0 });
        let at = |place, direction, reach, sea_m| {
            lowest_across(&coast, place, direction, reach, sea_m).map(|sample| [sample % 9, sample / 9])
        };
        assert_eq!(at([5.0, 4.0], [0.0, 2.0], 1.0, Some(0.0)), Some([4, 4]));
        assert_eq!(at([5.0, 4.0], [0.0, 2.0], 3.0, Some(0.0)), Some([3, 4]));
        assert_eq!(at([5.0, 4.0], [0.0, 2.0], 3.0, None), Some([6, 4]), "without a sea");
        assert_eq!(at([7.0, 4.0], [0.0, -1.0], 0.0, Some(0.0)), Some([7, 4]), "only sea");
        assert_eq!(at([3.0, 4.0], [1.0, 0.0], 9.0, None), Some([3, 7]), "not the border");
        assert_eq!(at([0.0, 4.0], [0.0, 1.0], 0.0, None), None);
    }

    #[test]
    fn areas_are_added_up_along_the_receivers() {
        // 0 → 1 → 3, 2 → 3, and 4 is alone.
        let mut areas = [1.0, 2.0, 4.0, 8.0, 16.0];
        accumulate(&mut areas, &[1, 3, 3, 3, 4]);
        assert_eq!(areas, [1.0, 3.0, 4.0, 15.0, 16.0]);
    }
}
