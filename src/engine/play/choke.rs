//! Choke points: the narrowest points of the widest routes.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

use super::ground::Ground;
use crate::cast::ToInteger;
use crate::progress::{Cancelled, Progress};

/// The narrowest point of the widest route between two places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choke {
    /// The index of its sample.
    pub sample: usize,
    /// Twice the distance to the nearest place where the agent cannot go, metres; infinite where it can go everywhere.
    pub width_m: f64,
}

/// The choke points between every two of some samples, by their indices in `places`: `found[i][j]` for j < i; `None` where
/// no route can be walked in both directions.
///
/// The samples are joined in the order of their clearance, the widest first; the sample that joins two places is the
/// narrowest on the route between them that is widest.
pub fn chokes(ground: &Ground, places: &[usize], progress: &Progress) -> Result<Vec<Vec<Option<Choke>>>, Cancelled> {
    let grid = ground.grid();
    let clearance_m = ground.clearance_m();
    let mut order: Vec<u32> =
        (0..grid.samples()).filter(|sample| ground.is_walkable(*sample)).map(ToInteger::to_u32).collect();
    progress.check()?;
    let widest_first =
        |a: &u32, b: &u32| -> Ordering { clearance_m[*b as usize].total_cmp(&clearance_m[*a as usize]).then(a.cmp(b)) };
    order.par_sort_unstable_by(widest_first);
    let mut found: Vec<Vec<Option<Choke>>> = (0..places.len()).map(|i| vec![None; i]).collect();
    let mut areas = Areas { parents: vec![u32::MAX; grid.samples()] };
    let mut missing = places.len() * places.len().saturating_sub(1) / 2;
    // The places in each area, by the area's root.
    let mut inside: Vec<(u32, Vec<usize>)> = Vec::new();
    let [width, height] = [grid.width(), grid.height()].map(ToInteger::to_isize);
    for (joined, sample) in order.into_iter().enumerate() {
        if missing == 0 {
            break;
        }
        if joined % CHECKED_EVERY == 0 {
            progress.check()?;
        }
        areas.parents[sample as usize] = sample;
        let own: Vec<usize> = (0..places.len()).filter(|i| places[*i] == sample as usize).collect();
        if !own.is_empty() {
            missing -= meet(&[], &own, sample, clearance_m, &mut found);
            inside.push((sample, own));
        }
        let [c, r] = [sample.to_isize() % width, sample.to_isize() / width];
        for (row, column) in (r - 1..=r + 1).flat_map(|row| (c - 1..=c + 1).map(move |column| (row, column))) {
            if row < 0 || column < 0 || row >= height || column >= width {
                continue;
            }
            let neighbour = (row * width + column).to_u32();
            if areas.parents[neighbour as usize] == u32::MAX {
                continue;
            }
            let (a, b) = (areas.find(sample), areas.find(neighbour));
            if a == b {
                continue;
            }
            areas.parents[b as usize] = a;
            let of = |root: u32, inside: &[(u32, Vec<usize>)]| inside.iter().position(|(area, _)| *area == root);
            if let Some(theirs) = of(b, &inside) {
                let (_, theirs) = inside.swap_remove(theirs);
                match of(a, &inside) {
                    Some(own) => {
                        missing -= meet(&inside[own].1, &theirs, sample, clearance_m, &mut found);
                        inside[own].1.extend(theirs);
                    }
                    None => inside.push((a, theirs)),
                }
            }
        }
    }
    Ok(found)
}

/// How many samples are joined before cancellation is checked.
const CHECKED_EVERY: usize = 1 << 14;

/// Notes that the places of two areas, or those of one, meet at a sample; returns the number of pairs.
fn meet(own: &[usize], others: &[usize], sample: u32, clearance_m: &[f32], found: &mut [Vec<Option<Choke>>]) -> usize {
    let width_m = 2.0 * f64::from(clearance_m[sample as usize]);
    let choke = Some(Choke { sample: sample as usize, width_m });
    let mut pairs = 0;
    for (index, b) in others.iter().enumerate() {
        let before = if own.is_empty() { &others[..index] } else { own };
        for a in before {
            let [low, high] = [*a.min(b), *a.max(b)];
            found[high][low] = choke;
            pairs += 1;
        }
    }
    pairs
}

/// A union–find structure over samples.
struct Areas {
    /// Another sample of the same area, the sample itself at the root, `u32::MAX` before it is joined.
    parents: Vec<u32>,
}

impl Areas {
    fn find(&mut self, mut sample: u32) -> u32 {
        while self.parents[sample as usize] != sample {
            // Path halving.
            self.parents[sample as usize] = self.parents[self.parents[sample as usize] as usize];
            sample = self.parents[sample as usize];
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::level::Agent;
    use crate::play::MeasuredTerrain;

    /// Two halls 100 m long, divided by a wall from x = 50 m to 54 m, with gates of 10 m and 20 m.
    fn halls() -> Heightfield {
        let grid = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, 101, 101);
        let is_gate = |r: usize| (10..=20).contains(&r) || (60..=80).contains(&r);
        Heightfield::from_fn(grid, |c, r| if (51..=53).contains(&c) && !is_gate(r) { 40.0 } else { 0.0 })
    }

    #[test]
    fn the_wider_gate_is_the_choke_point() {
        let terrain = halls();
        let ground =
            Ground::new(MeasuredTerrain::dry(&terrain), &Agent::default(), &Progress::new()).expect("not cancelled");
        let places = [15 * 101 + 20, 15 * 101 + 80, 40 * 101 + 20];
        let found = chokes(&ground, &places, &Progress::new()).expect("not cancelled");
        let across = found[1][0].expect("a route");
        assert_eq!((across.width_m, found[2][1].expect("a route").width_m), (20.0, 20.0));
        let (c, r) = (across.sample % 101, across.sample / 101);
        assert!((50..=54).contains(&c) && r == 70, "{c} {r}");
        // In the same hall the route is as wide as the places themselves, which are 30 m from the wall.
        assert_eq!(found[2][0].expect("a route").width_m, 60.0);
    }

    #[test]
    fn there_is_none_without_a_route() {
        let terrain = halls();
        let wide = Agent { radius_m: 10.5, ..Default::default() };
        let ground = Ground::new(MeasuredTerrain::dry(&terrain), &wide, &Progress::new()).expect("not cancelled");
        let found = chokes(&ground, &[15 * 101 + 20, 15 * 101 + 80], &Progress::new()).expect("not cancelled");
        assert_eq!(found, [vec![], vec![None]]);
    }
}
