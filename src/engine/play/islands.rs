//! Unreachable areas: walkable areas that nobody reaches, and the barriers around them.

use std::collections::VecDeque;

use super::measures::Measures;
use crate::cast::ToFloat;
use crate::heightfield::Grid;
use crate::level::MarkerKind;
use crate::progress::Cancelled;

/// The most islands that are listed.
const MAX_ISLANDS: usize = 20;

/// A connected walkable area that nobody reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Island {
    /// Its area on the map, m².
    pub area_m2: f64,
    /// A place on it, metres east and south.
    pub at_m: [f64; 2],
    /// The barrier between it and the reachable area; `None` if nothing is reached.
    pub gap: Option<Gap>,
}

/// The narrowest barrier between two areas, about: a cliff, a step or water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Its end on the island, metres east and south.
    pub from_m: [f64; 2],
    /// Its end in the reachable area.
    pub to_m: [f64; 2],
    /// Its length on the map, metres.
    pub length_m: f64,
    /// How much higher the end on the island is, metres.
    pub rise_m: f64,
}

/// The samples around a sample and itself.
fn around(grid: Grid, sample: usize) -> impl Iterator<Item = usize> {
    let (width, [c, r]) = (grid.width(), [sample % grid.width(), sample / grid.width()]);
    let rows = r.saturating_sub(1)..(r + 2).min(grid.height());
    let columns = c.saturating_sub(1)..(c + 2).min(width);
    rows.flat_map(move |row| columns.clone().map(move |column| row * width + column))
}

/// For every sample the nearest one that is reached, passed on from neighbour to neighbour; `None` if none is.
fn nearest(grid: Grid, is_reached: impl Fn(usize) -> bool, measures: &Measures) -> Result<Option<Vec<u32>>, Cancelled> {
    const NONE: u32 = u32::MAX;
    let index = |sample: usize| u32::try_from(sample).unwrap_or(NONE);
    let mut nearest: Vec<u32> = (0..grid.samples()).map(|at| if is_reached(at) { index(at) } else { NONE }).collect();
    let is_border = |at: &usize| nearest[*at] != NONE && around(grid, *at).any(|other| nearest[other] == NONE);
    let mut waiting: VecDeque<usize> = (0..grid.samples()).filter(is_border).collect();
    if waiting.is_empty() {
        return Ok(None);
    }
    for visited in 1_usize.. {
        let Some(at) = waiting.pop_front() else { break };
        if visited.is_multiple_of(grid.width()) {
            measures.check()?;
        }
        let source = nearest[at];
        for other in around(grid, at) {
            let known = nearest[other];
            let is_nearer = || squared_m2(grid, other, source as usize) < squared_m2(grid, other, known as usize);
            if known == NONE || is_nearer() {
                nearest[other] = source;
                waiting.push_back(other);
            }
        }
    }
    Ok(Some(nearest))
}

/// The squared distance between two samples on the map, m².
fn squared_m2(grid: Grid, a: usize, b: usize) -> f64 {
    let width = grid.width();
    let x_m = (a % width).abs_diff(b % width).to_f64() * grid.spacing_x_m();
    let z_m = (a / width).abs_diff(b / width).to_f64() * grid.spacing_z_m();
    x_m * x_m + z_m * z_m
}

/// The connected walkable areas that no spawn reaches, the largest first, and how many there are; none without spawns.
pub(super) fn islands(measures: &Measures) -> Result<(Vec<Island>, usize), Cancelled> {
    let (ground, terrain) = (measures.ground(0)?, measures.terrain());
    let grid = terrain.grid();
    let markers = measures.level().markers.iter().enumerate();
    let spawns: Vec<usize> =
        markers.filter(|(_, marker)| marker.kind == MarkerKind::Spawn).map(|(index, _)| index).collect();
    if spawns.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let travel = measures.travel(0, &spawns)?;
    let is_reached = |at: usize| travel.seconds()[at].is_finite();
    let mut is_open: Vec<bool> = (0..grid.samples()).map(|at| ground.is_walkable(at) && !is_reached(at)).collect();
    if !is_open.contains(&true) {
        return Ok((Vec::new(), 0));
    }
    let reached = nearest(grid, is_reached, measures)?;
    let at_m = |sample: usize| [grid.x_m(sample % grid.width()), grid.z_m(sample / grid.width())];
    let gap = |[from, to]: [usize; 2]| {
        let rise_m = f64::from(terrain.heights()[from]) - f64::from(terrain.heights()[to]);
        Gap { from_m: at_m(from), to_m: at_m(to), length_m: squared_m2(grid, from, to).sqrt(), rise_m }
    };
    let mut islands = Vec::new();
    for first in 0..grid.samples() {
        if first.is_multiple_of(grid.width()) {
            measures.check()?;
        }
        if !std::mem::take(&mut is_open[first]) {
            continue;
        }
        let (mut waiting, mut samples) = (vec![first], 0_usize);
        let mut narrowest: Option<(f64, [usize; 2])> = None;
        while let Some(at) = waiting.pop() {
            samples += 1;
            if samples.is_multiple_of(grid.width()) {
                measures.check()?;
            }
            if let Some(reached) = &reached {
                let ends = [at, reached[at] as usize];
                let own_m2 = squared_m2(grid, at, ends[1]);
                if narrowest.is_none_or(|(known_m2, _)| own_m2 < known_m2) {
                    narrowest = Some((own_m2, ends));
                }
            }
            waiting.extend(around(grid, at).filter(|other| std::mem::take(&mut is_open[*other])));
        }
        let area_m2 = samples.to_f64() * grid.spacing_x_m() * grid.spacing_z_m();
        islands.push(Island { area_m2, at_m: at_m(first), gap: narrowest.map(|(_, ends)| gap(ends)) });
    }
    islands.sort_by(|a, b| b.area_m2.total_cmp(&a.area_m2));
    let count = islands.len();
    islands.truncate(MAX_ISLANDS);
    Ok((islands, count))
}
