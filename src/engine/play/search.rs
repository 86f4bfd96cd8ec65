//! The seeds whose terrain best meets the rules of a level.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::measured_terrain::MeasuredTerrain;
use super::measures::Measures;
use super::obstacles::obstacles;
use super::rules::{Rule, Verdict};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::Grid;
use crate::inputs::Inputs;
use crate::lakes::water_depths;
use crate::level::Level;
use crate::progress::{Cancelled, Progress};
use crate::recipe::Recipe;
use crate::stack::evaluate;

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
    /// How the best seeds did when they were checked again.
    pub again: Option<CheckedAgain>,
}

/// How the best seeds of a search did at the final size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedAgain {
    /// The samples along the longer side.
    pub samples: usize,
    /// How many seeds were checked.
    pub seeds: usize,
    /// How many of them pass all rules.
    pub passing: usize,
}

impl fmt::Display for CheckedAgain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, seeds, passing } = self;
        write!(f, "; {passing} of the best {seeds} at {samples} samples")
    }
}

impl SearchSummary {
    fn new(rules: &[Rule], grid: Grid) -> Self {
        Self {
            samples: longer(grid),
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
        let Self { samples, seeds, passing, rules, again } = self;
        write!(f, "{passing} of {seeds} seeds pass all rules on previews of {samples} samples")?;
        match rules.iter().min_by_key(|(_, passing)| *passing).filter(|_| *passing == 0) {
            Some((rule, 0)) => write!(f, "; none passes {rule}")?,
            Some((rule, 1)) => write!(f, "; only 1 passes {rule}")?,
            Some((rule, fewest)) => write!(f, "; only {fewest} pass {rule}")?,
            None => {}
        }
        again.iter().try_for_each(|again| again.fmt(f))
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
    /// Only the best `count`.
    fn first(&self, count: usize) -> Self {
        Self { best: self.best.iter().take(count).cloned().collect(), summary: self.summary.clone() }
    }

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

/// The grids on which a search compares seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchStages {
    /// For all seeds, as many at once as there are threads.
    pub all: Grid,
    /// For the best of them, as many at once again, if there is the memory.
    pub closer: Option<Grid>,
    /// For the best of those, one after another.
    pub last: Option<Grid>,
}

impl SearchStages {
    /// From a coarse grid over one halfway between both, by the ratio of their spacings, to a fine one; only the fine one
    /// if it is not finer. Stages are left out if `has_memory` denies them: it gets a grid, and whether seeds are computed
    /// at once there.
    pub fn new(coarse: Grid, fine: Grid, has_memory: impl Fn(Grid, bool) -> bool) -> Self {
        if fine.samples() <= coarse.samples() {
            return Self { all: fine, closer: None, last: None };
        }
        let [from, to] = [coarse, fine].map(|grid| (longer(grid) - 1).to_f64());
        let between = Grid::fitted(fine.extent(), libm::sqrt(from * to).round().to_usize() + 1);
        let last = Some(fine).filter(|fine| has_memory(*fine, false));
        Self { all: coarse, closer: last.map(|_| between).filter(|between| has_memory(*between, true)), last }
    }
}

/// How many seeds are compared more closely for each that is returned.
const CANDIDATES: usize = 3;

impl Search<'_> {
    /// Compares seeds in stages and returns the best `count` in their order at the last. The summary is that of all seeds.
    /// `report` gets the ranking at the first stage after every seed. The result does not depend on the number of threads.
    pub fn run(
        &self,
        seeds: &[u32],
        stages: SearchStages,
        count: usize,
        progress: &Progress,
        report: &(dyn Fn(&Ranking) + Sync),
    ) -> Result<Ranking, Cancelled> {
        let SearchStages { all, closer, last } = stages;
        let Some(last) = last else { return self.compare(seeds, all, count, progress, report) };
        let report = |ranking: &Ranking| report(&ranking.first(count));
        let ranking = progress.stage(0.0..0.5, || self.compare(seeds, all, CANDIDATES * count, progress, &report))?;
        let best = match closer.filter(|_| ranking.best.len() > count) {
            Some(closer) => {
                let candidates: Vec<u32> = ranking.best.iter().map(|found| found.seed).collect();
                progress.stage(0.5..0.7, || self.compare(&candidates, closer, count, progress, &|_| ()))?.best
            }
            None => ranking.first(count).best,
        };
        let best = progress.stage(0.7..1.0, || self.check_again(&best, last, progress))?;
        let passing = best.iter().filter(|found| found.failed() == 0).count();
        let again = CheckedAgain { samples: longer(last), seeds: best.len(), passing };
        Ok(Ranking { best, summary: SearchSummary { again: Some(again), ..ranking.summary } })
    }

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

    /// Checks seeds on a grid, in parallel, and returns the best `count`.
    fn compare(
        &self,
        seeds: &[u32],
        grid: Grid,
        count: usize,
        progress: &Progress,
        report: &(dyn Fn(&Ranking) + Sync),
    ) -> Result<Ranking, Cancelled> {
        let counter = progress.counter(seeds.len());
        let summary = SearchSummary::new(self.rules, grid);
        let ranking = Mutex::new(Ranking { best: Vec::new(), summary });
        seeds.par_iter().try_for_each(|seed| {
            let found = self.check(*seed, grid, &progress.of_part())?;
            let mut ranking = ranking.lock().unwrap_or_else(PoisonError::into_inner);
            ranking.add(found, count);
            report(&ranking);
            counter.add_one()
        })?;
        Ok(ranking.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Checks the seeds that were found on another grid, and returns them in their order there.
    fn check_again(&self, found: &[Found], grid: Grid, progress: &Progress) -> Result<Vec<Found>, Cancelled> {
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

/// The samples along the longer side.
fn longer(grid: Grid) -> usize {
    grid.width().max(grid.height())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::level::Marker;
    use crate::operations::faults::Faults;
    use crate::parameters::Point;
    use crate::recipe::World;
    use crate::step::Step;

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
    fn the_best_seeds_are_listed_in_their_order_on_the_fine_grid() {
        let spawn =
            |x_m: f64| Marker { name: format!("at {x_m}"), at_m: Point { x_m, z_m: 500.0 }, ..Default::default() };
        let level = Level { markers: vec![spawn(200.0), spawn(800.0)].into(), ..Default::default() };
        let recipe = Recipe {
            world: World { width_m: 1000.0, depth_m: 1000.0, ..Default::default() },
            stack: vec![Step::new(Faults { count: 50, ..Default::default() })],
            ..Default::default()
        };
        let rules = ["path(\"at 200\", \"at 800\") <= 170 s", "pads(50, 50) >= 40"];
        let rules: Vec<Rule> = rules.iter().map(|rule| Rule::read(rule, &level).expect("a rule")).collect();
        let inputs = Inputs::default();
        let search = Search { recipe: &recipe, inputs: &inputs, level: &level, water_m: None, rules: &rules };
        let [coarse, fine] = [33, 129].map(|samples| Grid::fitted(recipe.world.extent(), samples));
        let stages = SearchStages::new(coarse, fine, |_, _| true);
        assert_eq!(stages.closer.map(|grid| grid.width()), Some(65));
        let poor = SearchStages::new(coarse, fine, |_, is_parallel| !is_parallel);
        assert_eq!(poor, SearchStages { closer: None, ..stages });
        assert_eq!(
            SearchStages::new(fine, coarse, |_, _| true),
            SearchStages { all: coarse, closer: None, last: None }
        );
        let (seeds, progress) = ((1..=16).collect::<Vec<u32>>(), Progress::new());
        let reported = Mutex::new(0);
        let report = |ranking: &Ranking| {
            *reported.lock().expect("no panic") += 1;
            assert!(ranking.best.len() <= 3);
        };
        let found = search.run(&seeds, stages, 3, &progress, &report).expect("not cancelled");
        assert_eq!((found.summary.seeds, found.summary.samples, reported.into_inner().ok()), (16, 33, Some(16)));
        // What they are when each is checked on the fine grid, and in that order.
        let mut all: Vec<Found> =
            seeds.iter().map(|seed| search.check(*seed, fine, &progress).expect("found")).collect();
        all.sort_by(Found::best_first);
        let ranks = found.best.iter().map(|found| all.iter().position(|known| known == found));
        let ranks: Vec<usize> = ranks.map(|rank| rank.expect("checked on the fine grid")).collect();
        assert!(ranks.len() == 3 && ranks.is_sorted(), "{ranks:?}");
        let coarse = search.compare(&seeds, coarse, 3, &progress, &|_| ()).expect("not cancelled");
        let seeds = |found: &[Found]| found.iter().map(|found| found.seed).collect::<BTreeSet<u32>>();
        assert_ne!(seeds(&coarse.best), seeds(&found.best), "closer comparison tells more");
    }

    #[test]
    fn a_summary_names_the_hardest_rule_if_nothing_passes() {
        let summary = |passing, rules: &[(&str, usize)]| SearchSummary {
            samples: 257,
            seeds: 200,
            passing,
            rules: rules.iter().map(|(rule, count)| ((*rule).into(), *count)).collect(),
            again: None,
        };
        let rules = [("walkable >= 0.5", 150), ("path(a, b) <= 1 s", 0)];
        let all = "0 of 200 seeds pass all rules on previews of 257 samples";
        assert_eq!(summary(0, &rules).to_string(), format!("{all}; none passes path(a, b) <= 1 s"));
        assert_eq!(summary(0, &rules[..1]).to_string(), format!("{all}; only 150 pass walkable >= 0.5"));
        let text = "3 of 200 seeds pass all rules on previews of 257 samples";
        assert_eq!(summary(3, &rules[..1]).to_string(), text);
        let again = Some(CheckedAgain { samples: 1025, seeds: 9, passing: 2 });
        let again = SearchSummary { again, ..summary(3, &rules[..1]) };
        assert_eq!(again.to_string(), format!("{text}; 2 of the best 9 at 1025 samples"));
    }
}
