//! Which team gets to each place first.

use super::travel::Travel;
use crate::progress::{Cancelled, Progress};

/// How many samples are compared before cancellation is checked.
const CHECKED_EVERY: usize = 1 << 16;

/// The area that every team reaches first.
#[derive(Clone, Debug)]
pub struct Territory {
    /// The index of the team that reaches each sample first, row by row; `None` where no team gets to, and where several
    /// arrive at the same time.
    pub first: Vec<Option<u8>>,
    /// By how many seconds, row by row; infinite where only one team gets to, 0 where `first` is `None`.
    pub lead_s: Vec<f32>,
}

impl Territory {
    /// The territories of teams, by their travel times. Teams after the 256th are left out.
    pub fn of(teams: &[&Travel], progress: &Progress) -> Result<Self, Cancelled> {
        let samples = teams.first().map_or(0, |team| team.seconds().len());
        let (mut first, mut lead_s) = (Vec::with_capacity(samples), Vec::with_capacity(samples));
        for sample in 0..samples {
            if sample % CHECKED_EVERY == 0 {
                progress.check()?;
            }
            let mut best = [f32::INFINITY; 2];
            let mut owner = None;
            for (team, index) in teams.iter().zip(0_u8..=u8::MAX) {
                let seconds = team.seconds()[sample];
                if seconds < best[0] {
                    best = [seconds, best[0]];
                    owner = Some(index);
                } else {
                    best[1] = best[1].min(seconds);
                }
            }
            let is_led = best[0] < best[1];
            first.push(owner.filter(|_| is_led));
            lead_s.push(if is_led { best[1] - best[0] } else { 0.0 });
        }
        Ok(Self { first, lead_s })
    }

    /// The samples of a team, as a share of those of all teams; 0 if there are none.
    pub fn share(&self, team: usize) -> f64 {
        let [mut own, mut all] = [0_u32; 2];
        for first in self.first.iter().flatten() {
            all += 1;
            own += u32::from(usize::from(*first) == team);
        }
        if all > 0 { f64::from(own) / f64::from(all) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::level::Agent;
    use crate::play::Ground;
    use crate::play::MeasuredTerrain;
    use crate::play::ground::NearSample;

    #[test]
    fn a_strip_is_divided_in_the_middle() {
        // 41 columns: teams at columns 0 and 26 meet at column 13, which nobody leads; 13 and 27 columns remain.
        let terrain = Heightfield::flat(Grid::new(Extent { width_m: 40.0, depth_m: 4.0 }, 41, 5));
        let ground =
            Ground::new(MeasuredTerrain::dry(&terrain), &Agent::default(), &Progress::new()).expect("not cancelled");
        let travel = |column: usize| {
            Travel::from(&ground, &[NearSample::at(2 * 41 + column)], &Progress::new()).expect("not cancelled")
        };
        let [west, east] = [0, 26].map(travel);
        let found = Territory::of(&[&west, &east], &Progress::new()).expect("not cancelled");
        assert_eq!(found.first[2 * 41 + 13], None);
        assert_eq!((found.first[2 * 41 + 12], found.first[2 * 41 + 14]), (Some(0), Some(1)));
        assert!((found.lead_s[2 * 41 + 12] - 0.5).abs() < 1e-6, "12 m and 14 m at 4 m/s");
        assert_eq!((found.share(0), found.share(1)), (13.0 / 40.0, 27.0 / 40.0));
    }
}
