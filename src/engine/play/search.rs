//! The seeds whose terrain best meets the rules of a level.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::measured_terrain::MeasuredTerrain;
use super::measures::Measures;
use super::obstacles::obstacles;
use super::rules::{Rule, Verdict};
use crate::engine::cast::ToFloat;
use crate::engine::heightfield::Grid;
use crate::engine::inputs::Inputs;
use crate::engine::lakes::water_depths;
use crate::engine::level::Level;
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::recipe::Recipe;
use crate::engine::stack::evaluate;

/// What is searched.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    /// The recipe whose seed is varied.
    pub recipe: &'a Recipe,
    /// The files that the recipe reads.
    pub inputs: &'a Inputs,
    /// The level that is played on it.
    pub level: &'a Level,
    /// The height of the water, metres.
    pub water_m: Option<f64>,
    /// The rules to pass.
    pub rules: &'a [Rule],
}

/// A seed and how well its terrain passes the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The seed.
    pub seed: u32,
    /// The rules, in their order.
    pub verdicts: Vec<Verdict>,
}

impl Found {
    /// How many rules fail.
    pub fn failed(&self) -> usize {
        self.verdicts.iter().filter(|verdict| !verdict.holds).count()
    }

    /// Those that fail fewer rules come first; among equals, the one whose worst rule passes by the widest margin.
    fn best_first(&self, other: &Self) -> Ordering {
        let ([worst, mean], [other_worst, other_mean]) = (self.scores(), other.scores());
        let by_score = other_worst.total_cmp(&worst).then(other_mean.total_cmp(&mean));
        self.failed().cmp(&other.failed()).then(by_score).then(self.seed.cmp(&other.seed))
    }

    /// The lowest score of a rule, and the mean of all.
    fn scores(&self) -> [f64; 2] {
        let scores = self.verdicts.iter().map(|verdict| verdict.score);
        let worst = scores.clone().fold(f64::INFINITY, f64::min);
        [worst, scores.sum::<f64>() / self.verdicts.len().max(1).to_f64()]
    }
}

/// How all the seeds of a search did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchSummary {
    /// The samples along the longer side at which they were checked.
    pub samples: usize,
    /// How many seeds were checked.
    pub seeds: usize,
    /// How many of them pass all rules.
    pub passing: usize,
    /// The rules, and how many seeds pass each.
    pub rules: Vec<(String, usize)>,
}

impl SearchSummary {
    fn new(rules: &[Rule], grid: Grid) -> Self {
        Self {
            samples: grid.width().max(grid.height()),
            rules: rules.iter().map(|rule| (rule.text().into(), 0)).collect(),
            ..Self::default()
        }
    }

    fn add(&mut self, found: &Found) {
        self.seeds += 1;
        self.passing += usize::from(found.failed() == 0);
        for ((_, passing), verdict) in self.rules.iter_mut().zip(&found.verdicts) {
            *passing += usize::from(verdict.holds);
        }
    }
}

impl fmt::Display for SearchSummary {
    /// Says how many seeds pass, and if there is none, which rule is the hardest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, seeds, passing, rules } = self;
        write!(f, "{passing} of {seeds} seeds pass all rules on previews of {samples} samples")?;
        match rules.iter().min_by_key(|(_, passing)| *passing).filter(|_| *passing == 0) {
            Some((rule, 0)) => write!(f, "; none passes {rule}"),
            Some((rule, 1)) => write!(f, "; only 1 passes {rule}"),
            Some((rule, fewest)) => write!(f, "; only {fewest} pass {rule}"),
            None => Ok(()),
        }
    }
}

/// The best seeds so far, and how all did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// The best seeds, the best first.
    pub best: Vec<Found>,
    /// How all the seeds did.
    pub summary: SearchSummary,
}

impl Ranking {
    /// Adds a seed, and keeps the best `count`. The order in which seeds are added does not matter.
    fn add(&mut self, found: Found, count: usize) {
        self.summary.add(&found);
        let place = self.best.partition_point(|better| better.best_first(&found).is_lt());
        if place < count {
            self.best.insert(place, found);
            self.best.truncate(count);
        }
    }
}

impl Search<'_> {
    /// Checks the rules on the terrain of a seed.
    pub fn check(&self, seed: u32, grid: Grid, progress: &Progress) -> Result<Found, Cancelled> {
        let recipe = Recipe { seed, ..self.recipe.clone() };
        let terrain = evaluate(&recipe, grid, None, self.inputs, progress)?;
        let water_m = water_depths(&recipe, self.water_m, &terrain);
        let obstacles = obstacles(&recipe, &terrain, self.inputs, progress)?;
        let measured =
            MeasuredTerrain { terrain: &terrain, water_m: water_m.as_deref(), obstacles: obstacles.as_ref() };
        let measures = Measures::new(measured, self.level, progress);
        let verdicts = self.rules.iter().map(|rule| rule.check(&measures)).collect::<Result<_, _>>()?;
        Ok(Found { seed, verdicts })
    }

    /// Checks seeds on a grid and returns the best `count`. `report` gets the ranking after every seed. Seeds are computed
    /// in parallel, and the result does not depend on how many at once.
    pub fn best(
        &self,
        seeds: impl IndexedParallelIterator<Item = u32>,
        grid: Grid,
        count: usize,
        progress: &Progress,
        report: &(dyn Fn(&Ranking) + Sync),
    ) -> Result<Ranking, Cancelled> {
        let counter = progress.counter(seeds.len());
        let summary = SearchSummary::new(self.rules, grid);
        let ranking = Mutex::new(Ranking { best: Vec::new(), summary });
        seeds.try_for_each(|seed| {
            let found = self.check(seed, grid, &progress.of_part())?;
            let mut ranking = ranking.lock().unwrap_or_else(PoisonError::into_inner);
            ranking.add(found, count);
            report(&ranking);
            counter.add_one()
        })?;
        Ok(ranking.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Checks the seeds that were found on another grid, and returns them in their order there.
    pub fn again(&self, found: &[Found], grid: Grid, progress: &Progress) -> Result<Vec<Found>, Cancelled> {
        let counter = progress.counter(found.len());
        let check = |found: &Found| {
            let again = self.check(found.seed, grid, &progress.of_part())?;
            counter.add_one().map(|()| again)
        };
        let mut again: Vec<Found> = found.iter().map(check).collect::<Result<_, _>>()?;
        again.sort_by(Found::best_first);
        Ok(again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_does_not_depend_on_the_order_of_the_seeds() {
        let verdict = |holds: bool, score: f64| Verdict {
            rule: "walkable >= 0.5".into(),
            holds,
            found: String::new(),
            reason: None,
            place_m: None,
            score,
        };
        let found = |seed: u32| {
            // Every third seed fails, and each score occurs twice.
            let score = f64::from(seed * 7 % 5);
            Found { seed, verdicts: vec![verdict(!seed.is_multiple_of(3), score)] }
        };
        let ranking = |seeds: &[u32]| {
            let summary = SearchSummary { rules: vec![("walkable >= 0.5".into(), 0)], ..Default::default() };
            let mut ranking = Ranking { best: Vec::new(), summary };
            seeds.iter().for_each(|seed| ranking.add(found(*seed), 4));
            ranking
        };
        let ahead = ranking(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(ahead, ranking(&[10, 3, 8, 5, 6, 1, 4, 7, 2, 9]));
        let seeds: Vec<u32> = ahead.best.iter().map(|found| found.seed).collect();
        assert_eq!((seeds, ahead.summary.seeds, ahead.summary.passing), (vec![2, 7, 4, 1], 10, 7));
        assert_eq!(ahead.summary.rules[0].1, 7);
    }

    #[test]
    fn a_summary_names_the_hardest_rule_if_nothing_passes() {
        let summary = |passing, rules: &[(&str, usize)]| SearchSummary {
            samples: 257,
            seeds: 200,
            passing,
            rules: rules.iter().map(|(rule, count)| ((*rule).into(), *count)).collect(),
        };
        let rules = [("walkable >= 0.5", 150), ("path(a, b) <= 1 s", 0)];
        let all = "0 of 200 seeds pass all rules on previews of 257 samples";
        assert_eq!(summary(0, &rules).to_string(), format!("{all}; none passes path(a, b) <= 1 s"));
        assert_eq!(summary(0, &rules[..1]).to_string(), format!("{all}; only 150 pass walkable >= 0.5"));
        assert_eq!(summary(3, &rules[..1]).to_string(), "3 of 200 seeds pass all rules on previews of 257 samples");
    }
}
