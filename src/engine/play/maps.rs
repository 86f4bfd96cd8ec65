//! Overlays: metrics as colours over the map.

use super::measures::Measures;
use super::travel::Travel;
use super::viewshed::{Eye, seen_from};
use crate::cast::{ToFloat, ToInteger};
use crate::level::Level;
use crate::progress::Cancelled;
use crate::random::Stream;

/// An overlay on the maps, or what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayMap {
    /// Where the first agent can stand.
    Walkable,
    /// The time from a marker, by its index, in bands.
    Reach(usize),
    /// Which team gets to each place first.
    Territory,
    /// Where a head is visible from a marker, by its index.
    Viewshed(usize),
    /// The share of the walkable area from which each place is visible.
    Exposure,
    /// Route width: twice the distance to the nearest place where the first agent cannot go.
    Clearance,
}

/// Colours over the map, sample by sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlay {
    /// Red, green, blue in sRGB and the opacity, row by row.
    pub pixels: Vec<[u8; 4]>,
    /// The number that a colour stands for, from its lowest to its highest, with their unit: for the legend.
    pub scale: Option<Scale>,
}

/// The meaning of the colours of an overlay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The greatest number; the least is 0.
    pub greatest: f64,
    /// The width of a band of one colour; `None` where colours are continuous.
    pub band: Option<f64>,
    /// The unit of both.
    pub unit: &'static str,
}

/// The colours of the first six teams, which are told apart with any colour vision (M. Okabe and K. Ito, "Color Universal
/// Design", 2008); others are grey.
const TEAM_COLOURS: [[u8; 3]; 6] =
    [[213, 94, 0], [0, 114, 178], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233]];
/// The colour of further teams and of places without one.
const NO_TEAM: [u8; 3] = [150; 3];

/// From near to far, from few to many: from yellow over red to violet (after the map "plasma" of matplotlib, reversed).
const SEQUENCE: [[u8; 3]; 5] = [[240, 249, 33], [248, 149, 64], [204, 71, 120], [126, 3, 168], [13, 8, 135]];

/// Where the agent cannot go, what nobody reaches, and what is not visible.
const CLOSED: [u8; 4] = [20, 20, 26, 150];
/// Where the agent can go.
const OPEN: [u8; 4] = [80, 190, 120, 90];
const SEEN: [u8; 4] = [255, 236, 120, 110];

/// The opacity of colours that stand for numbers.
const OPACITY: u8 = 150;

/// About how many bands of time are shown.
const BANDS: f64 = 12.0;

/// From how many places the exposure is sampled.
const LOOKOUTS: usize = 96;

/// The greatest route width that has a colour of its own, metres.
const MAX_WIDTH_M: f64 = 50.0;

/// The colour of a team of a level.
pub fn team_colour(level: &Level, team: &str) -> [u8; 3] {
    let index = level.teams().iter().position(|known| known.eq_ignore_ascii_case(team));
    index.and_then(|index| TEAM_COLOURS.get(index)).copied().unwrap_or(NO_TEAM)
}

impl PlayMap {
    /// The colours of the map on the samples of the terrain.
    pub fn overlay(self, measures: &Measures) -> Result<Overlay, Cancelled> {
        Ok(match self {
            Self::Walkable => {
                let ground = measures.ground(0)?;
                let samples = 0..measures.terrain().grid().samples();
                let pixels = samples.map(|sample| if ground.is_walkable(sample) { OPEN } else { CLOSED }).collect();
                Overlay { pixels, scale: None }
            }
            Self::Reach(marker) => reach(&*measures.travel(0, &[marker])?),
            Self::Territory => territory(measures)?,
            Self::Viewshed(marker) => {
                let pixels = measures.seen(marker)?.iter().map(|seen| if *seen { SEEN } else { CLOSED }).collect();
                Overlay { pixels, scale: None }
            }
            Self::Exposure => exposure(measures)?,
            Self::Clearance => {
                let ground = measures.ground(0)?;
                let pixel = |(sample, clearance_m): (usize, &f32)| {
                    let share = 2.0 * f64::from(*clearance_m) / MAX_WIDTH_M;
                    if ground.is_walkable(sample) { coloured(share) } else { CLOSED }
                };
                let pixels = ground.clearance_m().iter().enumerate().map(pixel).collect();
                Overlay { pixels, scale: Some(Scale { greatest: MAX_WIDTH_M, band: None, unit: "m" }) }
            }
        })
    }
}

/// The colour of a number from 0 to 1.
fn coloured(share: f64) -> [u8; 4] {
    let last = (SEQUENCE.len() - 1).to_f64();
    let at = share.clamp(0.0, 1.0) * last;
    let first = at.floor().min(last - 1.0);
    let [from, to] = [SEQUENCE[first.to_usize()], SEQUENCE[first.to_usize() + 1]];
    let mix = |channel: usize| {
        let [from, to] = [from[channel], to[channel]].map(f64::from);
        (from + (at - first) * (to - from)).round().to_u8()
    };
    [mix(0), mix(1), mix(2), OPACITY]
}

/// Times in bands of a round number of seconds.
fn reach(travel: &Travel) -> Overlay {
    let reached = travel.seconds().iter().filter(|seconds| seconds.is_finite());
    let greatest = f64::from(reached.fold(0.0, |greatest: f32, seconds| greatest.max(*seconds)));
    let band = round_step(greatest / BANDS);
    let pixel = |seconds: &f32| {
        let number = (f64::from(*seconds) / band).floor();
        if seconds.is_finite() { coloured(number * band / greatest.max(band)) } else { CLOSED }
    };
    let pixels = travel.seconds().iter().map(pixel).collect();
    Overlay { pixels, scale: Some(Scale { greatest, band: Some(band), unit: "s" }) }
}

/// The round number of seconds that is next above: 1, 2, 5, 10, 15, 30, 60, 120, 300 and so on.
fn round_step(seconds: f64) -> f64 {
    const STEPS: [f64; 11] = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0];
    let hours = 3600.0 * (seconds / 3600.0).ceil().max(1.0);
    STEPS.into_iter().find(|step| *step >= seconds).unwrap_or(hours)
}

/// The colour of the team that is first, stronger the farther it is ahead.
fn territory(measures: &Measures) -> Result<Overlay, Cancelled> {
    let territory = measures.territory()?;
    let colour = |team| team_colour(measures.level(), team);
    let colours: Vec<[u8; 3]> = measures.teams().into_iter().map(colour).collect();
    let reached = territory.lead_s.iter().filter(|lead| lead.is_finite());
    let greatest = reached.fold(0.0, |greatest: f32, lead| greatest.max(*lead));
    let pixel = |(first, lead_s): (&Option<u8>, &f32)| {
        let Some([red, green, blue]) = first.and_then(|team| colours.get(usize::from(team))) else { return CLOSED };
        let ahead = if greatest > 0.0 { (lead_s / greatest).min(1.0) } else { 1.0 };
        [*red, *green, *blue, (90.0 + 90.0 * ahead.sqrt()).to_u8()]
    };
    let pixels = territory.first.iter().zip(&territory.lead_s).map(pixel).collect();
    Ok(Overlay { pixels, scale: None })
}

/// The share of the walkable area from which each sample is visible: from random places, which are the same for the
/// same grid.
fn exposure(measures: &Measures) -> Result<Overlay, Cancelled> {
    let (terrain, ground) = (measures.terrain(), measures.ground(0)?);
    let grid = terrain.grid();
    let mut counts = vec![0_u16; grid.samples()];
    let mut rng = Stream::new(0, 0).at(0);
    let mut lookouts = 0_u16;
    let hiding = measures.hiding_heights()?;
    // On a map that is hardly walkable, most places are of no use.
    for _ in 0..8 * LOOKOUTS {
        if usize::from(lookouts) == LOOKOUTS {
            break;
        }
        let extent = grid.extent();
        let at_m = [rng.between(0.0, extent.width_m), rng.between(0.0, extent.depth_m)];
        if !ground.is_walkable(grid.nearest_sample(at_m)) {
            continue;
        }
        let eye = Eye { at_m, over_terrain_m: super::HEAD_M.into() };
        let seen = seen_from(terrain, hiding.as_deref(), eye, super::HEAD_M, measures.progress())?;
        counts.iter_mut().zip(seen).for_each(|(count, seen)| *count += u16::from(seen));
        lookouts += 1;
    }
    let greatest = counts.iter().copied().max().unwrap_or(0).max(1);
    let share = |count: u16| f64::from(count) / f64::from(greatest);
    let pixels = counts.iter().map(|count| coloured(1.0 - share(*count))).collect();
    let percent = if lookouts > 0 { 100.0 * f64::from(greatest) / f64::from(lookouts) } else { 0.0 };
    Ok(Overlay { pixels, scale: Some(Scale { greatest: percent, band: None, unit: "%" }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_yellow_to_blue() {
        assert_eq!([coloured(0.0), coloured(1.0)], [[240, 249, 33, OPACITY], [13, 8, 135, OPACITY]]);
        assert_eq!(coloured(0.125), [244, 199, 49, OPACITY]);
        assert_eq!([coloured(-3.0), coloured(f64::INFINITY)], [coloured(0.0), coloured(1.0)]);
    }

    #[test]
    fn bands_are_round_numbers_of_seconds() {
        assert_eq!([0.3, 3.0, 12.0, 40.0, 700.0].map(round_step), [1.0, 5.0, 15.0, 60.0, 1800.0]);
        assert_eq!([1800.5, 5000.0].map(round_step), [3600.0, 7200.0]);
    }
}
