//! Rules: what must be true of a level, in words such as `path(red, blue) <= 90 s`.

use std::fmt;
use std::ops::Range;

use super::measures::{Aspect, Measures};
use super::metric_kind::MetricKind;
use crate::cast::ToInteger;
use crate::level::Level;
use crate::parameters::nearest_name;
use crate::progress::Cancelled;

/// The most cut and fill of a building pad unless the rule names another, metres.
pub const DEFAULT_CUT_M: f64 = 1.0;

/// Why a rule cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// The rule.
    pub rule: String,
    /// The column of the mistake, in characters from 1 on.
    pub column: usize,
    /// What is wrong and what to do about it.
    pub problem: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule \"{}\", at character {}: {}", self.rule, self.column, self.problem)
    }
}

/// A rule on a level, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The rule.
    pub rule: String,
    /// Whether it passes.
    pub holds: bool,
    /// What was found, with its unit.
    pub found: String,
    /// Why no more was found, if that can be said.
    pub reason: Option<String>,
    /// A place to look at, metres east and south, where there is one.
    pub place_m: Option<[f64; 2]>,
    /// How well it passes, to rank terrains: 1 at its limit, less if it fails, and no more than 2.
    pub score: f64,
}

impl Verdict {
    /// What was found, and why no more.
    pub fn found_and_why(&self) -> String {
        self.reason.as_ref().map_or(self.found.clone(), |reason| format!("{}: {reason}", self.found))
    }
}

/// A rule that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    text: String,
    metric: Metric,
    relation: Relation,
    /// What the metric is compared with, in its own unit; 1 for yes and 0 for no.
    limit: f64,
    /// The unit in which the limit is written, if it names one.
    written_in: Option<NamedUnit>,
}

/// The name of a unit, and what it is in the metric's own unit.
type NamedUnit = (&'static str, f64);

/// How a metric is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Less,
    More,
    Equal,
}

impl Relation {
    const ALL: [(&'static str, Self); 5] =
        [("<=", Self::AtMost), (">=", Self::AtLeast), ("<", Self::Less), (">", Self::More), ("=", Self::Equal)];

    fn holds(self, found: f64, limit: f64) -> bool {
        match self {
            Self::AtMost => found <= limit,
            Self::AtLeast => found >= limit,
            Self::Less => found < limit,
            Self::More => found > limit,
            Self::Equal => found == limit,
        }
    }

    /// How well a metric does, from 0 to 2.
    fn score(self, found: f64, limit: f64) -> f64 {
        let share = |part: f64, whole: f64| {
            let share = if part == whole { 1.0 } else { part / whole };
            if share.is_nan() { 0.0 } else { share.clamp(0.0, 2.0) }
        };
        match self {
            Self::AtMost | Self::Less => share(limit, found),
            Self::AtLeast | Self::More => share(found, limit),
            Self::Equal => f64::from(u8::from(found == limit)),
        }
    }
}

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Seconds,
    Metres,
    Share,
    Count,
    YesNo,
}

impl Unit {
    /// The names of its multiples, with their factors.
    fn names(self) -> &'static [NamedUnit] {
        match self {
            Self::Seconds => &[("s", 1.0), ("min", 60.0), ("h", 3600.0)],
            Self::Metres => &[("m", 1.0), ("km", 1000.0)],
            Self::Share => &[("%", 0.01)],
            Self::Count | Self::YesNo => &[],
        }
    }

    /// A value in the unit in which the rule is written, as exact as in the metric's own unit.
    fn text(self, value: f64, written_in: Option<NamedUnit>) -> String {
        match written_in {
            Some((name, factor)) if factor != 1.0 && value.is_finite() => {
                let decimals = (libm::log10(factor).ceil() + self.decimals()).max(0.0).to_usize();
                let number = format!("{:.decimals$}", value / factor);
                let number = if number.contains('.') { number.trim_end_matches('0') } else { &number };
                format!("{} {name}", number.trim_end_matches('.'))
            }
            _ => self.plain_text(value),
        }
    }

    /// The decimals of a value in the metric's own unit.
    fn decimals(self) -> f64 {
        match self {
            Self::Seconds | Self::Metres => 1.0,
            Self::Share => 3.0,
            Self::Count | Self::YesNo => 0.0,
        }
    }

    fn plain_text(self, value: f64) -> String {
        match self {
            Self::Seconds => format!("{value:.1} s"),
            Self::Metres if value.is_infinite() => "unlimited".into(),
            Self::Metres => format!("{value:.1} m"),
            Self::Share => format!("{value:.3}"),
            Self::Count => format!("{value:.0}"),
            Self::YesNo => if value > 0.0 { "yes" } else { "no" }.into(),
        }
    }
}

/// What a rule measures, with its arguments. Places are indices of markers, agents of agents.
#[derive(Clone, Debug, PartialEq)]
enum Metric {
    Path { from: Vec<usize>, to: Vec<usize>, agent: usize },
    Length { from: Vec<usize>, to: Vec<usize>, agent: usize },
    Choke { from: Vec<usize>, to: Vec<usize>, agent: usize },
    Sees { from: Vec<usize>, to: Vec<usize> },
    Walkable { agent: usize },
    Reachable { from: Vec<usize>, agent: usize },
    Exposure { of: Vec<usize> },
    Pads { team: Option<String>, size_m: [f64; 2], cut_m: f64 },
    Fairness(Aspect),
}

impl Metric {
    fn unit(&self) -> Unit {
        match self {
            Self::Path { .. } => Unit::Seconds,
            Self::Length { .. } | Self::Choke { .. } | Self::Fairness(Aspect::Height) => Unit::Metres,
            Self::Sees { .. } => Unit::YesNo,
            Self::Walkable { .. } | Self::Reachable { .. } | Self::Exposure { .. } | Self::Fairness(_) => Unit::Share,
            Self::Pads { .. } => Unit::Count,
        }
    }
}

impl Rule {
    /// The sides of the building pads that the rule counts, metres.
    pub(super) fn pad_m(&self) -> Option<[f64; 2]> {
        match self.metric {
            Metric::Pads { size_m, .. } => Some(size_m),
            _ => None,
        }
    }

    /// The rules of a level, without those that cannot be read.
    pub fn readable(level: &Level) -> Vec<Self> {
        level.rules.iter().filter_map(|rule| Self::read(rule, level).ok()).collect()
    }

    /// Reads a rule on a level: names of markers, teams and agents must be known.
    pub fn read(text: &str, level: &Level) -> Result<Self, RuleError> {
        let mut reader = Reader { text, at: 0, level, names: Vec::new() };
        let read = reader.rule();
        read.map_err(|(at, problem)| RuleError {
            rule: text.into(),
            column: text[..at.min(text.len())].chars().count() + 1,
            problem,
        })
    }

    /// The names of markers and teams in the text of a rule, with the bytes where they are; none if it cannot be read.
    pub(super) fn names(text: &str, level: &Level) -> Vec<(Range<usize>, String)> {
        let mut reader = Reader { text, at: 0, level, names: Vec::new() };
        let is_readable = reader.rule().is_ok();
        let mut names = if is_readable { reader.names } else { Vec::new() };
        names.sort_by_key(|(place, _)| place.start);
        names
    }

    /// The rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Checks the rule.
    pub fn check(&self, measures: &Measures) -> Result<Verdict, Cancelled> {
        let (mut place, mut reason) = (None, None);
        let found: Option<f64> = match &self.metric {
            Metric::Path { from, to, agent } | Metric::Length { from, to, agent } => {
                let route = measures.route(*agent, from, to)?;
                place = route.as_ref().and_then(|route| route.samples.get(route.samples.len() / 2).copied());
                let is_path = matches!(self.metric, Metric::Path { .. });
                route.map(|route| if is_path { route.seconds } else { route.length_m })
            }
            Metric::Choke { from, to, agent } => {
                let choke = measures.choke(*agent, from, to)?;
                place = choke.map(|choke| choke.sample);
                choke.map(|choke| choke.width_m)
            }
            Metric::Sees { from, to } => Some(f64::from(u8::from(measures.sees(from, to)?))),
            Metric::Walkable { agent } => Some(measures.ground(*agent)?.walkable_share()),
            Metric::Reachable { from, agent } => Some(measures.reachable(*agent, from)?),
            Metric::Exposure { of } => Some(measures.exposure(of)?),
            Metric::Pads { team, size_m, cut_m } => {
                let sites = measures.sites(*size_m, *cut_m)?;
                let count = match team {
                    Some(team) => measures.sites_in_territory(&sites.fitting, team)?,
                    None => sites.fitting.len(),
                };
                if count == 0 {
                    reason = Some(sites.reason(*cut_m));
                }
                Some(f64::from(u32::try_from(count).unwrap_or(u32::MAX)))
            }
            Metric::Fairness(aspect) => {
                let fairness = measures.fairness(*aspect)?;
                if fairness.values.iter().any(|value| value.is_nan()) {
                    reason = Some("the level has no objectives".into());
                }
                Some(fairness.ratio).filter(|_| !fairness.reaches_nothing())
            }
        };
        let grid = measures.terrain().grid();
        let at_m = |sample: usize| [grid.x_m(sample % grid.width()), grid.z_m(sample / grid.width())];
        let of_marker = match &self.metric {
            Metric::Sees { from, .. }
            | Metric::Reachable { from, .. }
            | Metric::Path { from, .. }
            | Metric::Length { from, .. } => from.first(),
            Metric::Exposure { of } => of.first(),
            Metric::Choke { .. } | Metric::Walkable { .. } | Metric::Pads { .. } | Metric::Fairness(_) => None,
        };
        Ok(Verdict {
            rule: self.text.clone(),
            holds: found.is_some_and(|found| self.relation.holds(found, self.limit)),
            found: found.map_or("no route".into(), |found| self.metric.unit().text(found, self.written_in)),
            reason,
            place_m: place.map(at_m).or_else(|| of_marker.map(|marker| measures.place_m(*marker))),
            score: found.map_or(0.0, |found| self.relation.score(found, self.limit)),
        })
    }
}

/// A mistake: the byte at which it is, and what is wrong.
type Mistake = (usize, String);

/// Reads a rule from left to right.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    level: &'a Level,
    /// The names of markers and teams so far, and where they are.
    names: Vec<(Range<usize>, String)>,
}

/// A word, a number or a quoted name, with where it starts.
struct Argument {
    text: String,
    at: usize,
    is_quoted: bool,
}

impl Argument {
    /// It, as the name of a marker or a team, and the bytes where it is.
    fn named(&self) -> (Range<usize>, String) {
        let marks = if self.is_quoted { 2 } else { 0 };
        (self.at..self.at + self.text.len() + marks, self.text.clone())
    }
}

impl Reader<'_> {
    fn rule(&mut self) -> Result<Rule, Mistake> {
        let metric = self.metric()?;
        self.skip_spaces();
        let found = Relation::ALL.into_iter().find(|(sign, _)| self.text[self.at..].starts_with(sign));
        let Some((sign, relation)) = found else {
            return Err((self.at, "expected <=, >=, <, > or =".into()));
        };
        self.at += sign.len();
        let (limit, written_in) = self.limit(metric.unit())?;
        self.skip_spaces();
        if self.at < self.text.len() {
            return Err((self.at, format!("unexpected \"{}\" after the end of the rule", &self.text[self.at..])));
        }
        Ok(Rule { text: self.text.trim().into(), metric, relation, limit, written_in })
    }

    fn metric(&mut self) -> Result<Metric, Mistake> {
        let name = self.word();
        let Some(kind) = MetricKind::ALL.into_iter().find(|kind| kind.key() == name.text) else {
            let known = MetricKind::ALL.map(MetricKind::key);
            let hint = match nearest_name(&name.text, known) {
                Some(nearest) => format!("did you mean {nearest}? A rule begins with {}", known.join(", ")),
                None => format!("a rule begins with {}", known.join(", ")),
            };
            return Err((name.at, format!("there is no metric \"{}\"; {hint}", name.text)));
        };
        let usage = format!("for example {} ({})", kind.example(), kind.doc());
        let arguments = self.arguments()?;
        let end = self.at;
        let wrong_count = || (end, format!("expected {usage}"));
        let mut rest = arguments.iter();
        let mut next = || rest.next().ok_or_else(wrong_count);
        let metric = match kind {
            MetricKind::Path => {
                let (from, to) = (self.place(next()?)?, self.place(next()?)?);
                Metric::Path { from, to, agent: self.agent(rest.next())? }
            }
            MetricKind::Length => {
                let (from, to) = (self.place(next()?)?, self.place(next()?)?);
                Metric::Length { from, to, agent: self.agent(rest.next())? }
            }
            MetricKind::Choke => {
                let (from, to) = (self.place(next()?)?, self.place(next()?)?);
                Metric::Choke { from, to, agent: self.agent(rest.next())? }
            }
            MetricKind::Sees => Metric::Sees { from: self.place(next()?)?, to: self.place(next()?)? },
            MetricKind::Walkable => Metric::Walkable { agent: self.agent(rest.next())? },
            MetricKind::Reachable => Metric::Reachable { from: self.place(next()?)?, agent: self.agent(rest.next())? },
            MetricKind::Exposure => Metric::Exposure { of: self.place(next()?)? },
            MetricKind::Pads => {
                let first = next()?;
                // Teams may be called by numbers: then they are quoted.
                let is_team = first.is_quoted || metres(first).is_err();
                let team = is_team.then(|| self.team(first)).transpose()?;
                let width = if team.is_some() { next()? } else { first };
                let size_m = [metres(width)?, metres(next()?)?];
                let cut_m = rest.next().map_or(Ok(DEFAULT_CUT_M), metres)?;
                Metric::Pads { team, size_m, cut_m }
            }
            MetricKind::Fairness => Metric::Fairness(self.aspect(next()?)?),
        };
        match rest.next() {
            Some(extra) => Err((extra.at, format!("one argument too many: expected {usage}"))),
            None => Ok(metric),
        }
    }

    /// An aspect of fairness, by its name.
    fn aspect(&self, argument: &Argument) -> Result<Aspect, Mistake> {
        if self.level.teams().len() < 2 {
            return Err((argument.at, "fairness needs spawns of at least two teams".into()));
        }
        let found = Aspect::ALL.into_iter().find(|aspect| aspect.key() == argument.text);
        let known = || Aspect::ALL.map(Aspect::key).join(", ");
        found.ok_or_else(|| (argument.at, format!("expected one of {}, not \"{}\"", known(), argument.text)))
    }

    /// The arguments in parentheses, if there are any.
    fn arguments(&mut self) -> Result<Vec<Argument>, Mistake> {
        let mut arguments = Vec::new();
        self.skip_spaces();
        if !self.takes('(') {
            return Ok(arguments);
        }
        loop {
            self.skip_spaces();
            let argument = if self.text[self.at..].starts_with('"') { self.quoted()? } else { self.word() };
            if argument.text.is_empty() {
                return Err((argument.at, "expected a name or a number".into()));
            }
            arguments.push(argument);
            self.skip_spaces();
            if self.takes(')') {
                return Ok(arguments);
            }
            if !self.takes(',') {
                return Err((self.at, "expected a comma or a closing parenthesis".into()));
            }
        }
    }

    /// The number or word with which the metric is compared, and the unit in which it is written.
    fn limit(&mut self, unit: Unit) -> Result<(f64, Option<NamedUnit>), Mistake> {
        let value = self.word();
        if unit == Unit::YesNo {
            return match value.text.as_str() {
                "yes" => Ok((1.0, None)),
                "no" => Ok((0.0, None)),
                other => Err((value.at, format!("expected yes or no, not \"{other}\""))),
            };
        }
        let digits = value.text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%');
        let number: f64 = digits
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| (value.at, format!("expected a number, not \"{}\"", value.text)))?;
        let mut name =
            Argument { text: value.text[digits.len()..].into(), at: value.at + digits.len(), is_quoted: false };
        if name.text.is_empty() {
            name = self.word();
        }
        if name.text.is_empty() {
            return Ok((number, None));
        }
        let known = unit.names().iter().find(|(known, _)| *known == name.text);
        let unknown = || {
            let names: Vec<&str> = unit.names().iter().map(|(known, _)| *known).collect();
            let expected = if names.is_empty() { "no unit".into() } else { names.join(" or ") };
            (name.at, format!("expected {expected}, not \"{}\"", name.text))
        };
        known.map(|known| (number * known.1, Some(*known))).ok_or_else(unknown)
    }

    /// The markers of a name: that marker, or else the spawns of that team.
    fn place(&mut self, argument: &Argument) -> Result<Vec<usize>, Mistake> {
        self.names.push(argument.named());
        let markers = &self.level.markers;
        let is_named = |name: &str| name.eq_ignore_ascii_case(&argument.text);
        let named: Vec<usize> =
            markers.iter().enumerate().filter(|(_, marker)| is_named(&marker.name)).map(|(index, _)| index).collect();
        let found = if named.is_empty() { self.level.spawns(&argument.text) } else { named };
        if !found.is_empty() {
            return Ok(found);
        }
        let named: Vec<&str> = markers.iter().map(|marker| &*marker.name).filter(|name| !name.is_empty()).collect();
        let hint = match (named.is_empty(), self.level.teams().join(", ")) {
            (true, _) => "the level has no markers".into(),
            (false, teams) if teams.is_empty() => format!("the markers are {}", named.join(", ")),
            (false, teams) => format!("the markers are {}; the teams are {teams}", named.join(", ")),
        };
        Err((argument.at, format!("no marker or team is called \"{}\"; {hint}", argument.text)))
    }

    fn team(&mut self, argument: &Argument) -> Result<String, Mistake> {
        self.names.push(argument.named());
        let teams = self.level.teams();
        let found = teams.iter().find(|team| team.eq_ignore_ascii_case(&argument.text));
        let unknown = || {
            let hint =
                if teams.is_empty() { "no spawn has one".into() } else { format!("there are {}", teams.join(", ")) };
            (argument.at, format!("no team is called \"{}\"; {hint}", argument.text))
        };
        found.map(|team| (*team).into()).ok_or_else(unknown)
    }

    /// The agent of a name; without one, the first.
    fn agent(&self, argument: Option<&Argument>) -> Result<usize, Mistake> {
        let Some(argument) = argument else { return Ok(0) };
        let agents = self.level.agents();
        let found = agents.iter().position(|agent| agent.name.eq_ignore_ascii_case(&argument.text));
        let known = || agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| (argument.at, format!("no agent is called \"{}\"; there are {}", argument.text, known())))
    }

    /// Everything up to the next space or sign.
    fn word(&mut self) -> Argument {
        self.skip_spaces();
        let at = self.at;
        let rest = &self.text[at..];
        let ends = |c: char| c.is_whitespace() || "(),<>=\"".contains(c);
        self.at += rest.find(ends).unwrap_or(rest.len());
        Argument { text: self.text[at..self.at].into(), at, is_quoted: false }
    }

    fn quoted(&mut self) -> Result<Argument, Mistake> {
        let at = self.at;
        let rest = &self.text[at + 1..];
        let end = rest.find('"').ok_or_else(|| (at, "the quotation mark is not closed".to_string()))?;
        self.at = at + end + 2;
        Ok(Argument { text: rest[..end].into(), at, is_quoted: true })
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_next = self.text[self.at..].starts_with(sign);
        self.at += if is_next { sign.len_utf8() } else { 0 };
        is_next
    }
}

fn metres(argument: &Argument) -> Result<f64, Mistake> {
    let digits = argument.text.strip_suffix('m').unwrap_or(&argument.text);
    let number = digits.parse().ok().filter(|metres: &f64| metres.is_finite() && *metres > 0.0);
    number.ok_or_else(|| (argument.at, format!("expected a length in metres, not \"{}\"", argument.text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Extent, Grid, Heightfield};
    use crate::level::{Agent, Marker, MarkerKind};
    use crate::parameters::Point;
    use crate::play::MeasuredTerrain;
    use crate::progress::Progress;

    fn marker(kind: MarkerKind, name: &str, team: &str, x_m: f64) -> Marker {
        Marker { kind, name: name.into(), team: team.into(), at_m: Point { x_m, z_m: 100.0 }, ..Default::default() }
    }

    /// A plane of 400 × 200 m: red at 40 m, the middle at 140 m, blue at 240 m.
    fn level() -> Level {
        let markers = vec![
            marker(MarkerKind::Spawn, "Base 1", "red", 40.0),
            marker(MarkerKind::Spawn, "Base 2", "blue", 240.0),
            marker(MarkerKind::Objective, "Middle", "", 140.0),
        ];
        let tank = Agent { name: "Tank".into(), speed_m_s: 10.0, ..Default::default() };
        Level { markers: markers.into(), agents: vec![Agent::default(), tank].into(), ..Default::default() }
    }

    fn plane() -> Heightfield {
        Heightfield::flat(Grid::new(Extent { width_m: 400.0, depth_m: 200.0 }, 101, 51))
    }

    fn check(rule: &str) -> (bool, String) {
        let (terrain, level, progress) = (plane(), level(), Progress::new());
        let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
        let rule = Rule::read(rule, &level).unwrap_or_else(|error| panic!("{error}"));
        let verdict = rule.check(&measures).expect("not cancelled");
        (verdict.holds, verdict.found_and_why())
    }

    #[test]
    fn rules_are_checked() {
        for (rule, holds, found) in [
            ("path(red, blue) <= 50 s", true, "50.0 s"),
            ("path(red, blue) < 0.5 min", false, "0.833 min"),
            ("path(red, blue) >= 1 h", false, "0.01389 h"),
            // 200 m and 100 m, as exact as in metres.
            ("length(red, blue) <= 0.1999 km", false, "0.2 km"),
            ("path(\"base 1\", Middle, tank) <= 10.1", true, "10.0 s"),
            ("length(red,middle)>=0.1km", true, "0.1 km"),
            ("choke(red, blue) >= 12 m", true, "unlimited"),
            ("sees(red, blue) = no", false, "yes"),
            ("walkable >= 100 %", true, "100 %"),
            ("walkable(Tank) >= 0.5", true, "1.000"),
            ("reachable(red) >= 1", true, "1.000"),
            ("exposure(blue) <= 10%", false, "100 %"),
            ("fairness(time) >= 0.95", true, "1.000"),
            ("fairness(height) <= 2 m", true, "0.0 m"),
            ("pads(300, 60) >= 1", true, "3"),
            ("pads(red, 300, 200) >= 1", false, "0: the only place is outside the territory"),
            ("pads(500, 500) >= 1", false, "0: no dry area is large enough"),
            // Both are as far from the column in the middle, at 140 m: 35 columns are west of it, and 65 east.
            ("fairness(territory) >= 0.5", true, "0.538"),
            // Six in three rows, edge to edge.
            ("pads(60m, 60) >= 3", true, "18"),
        ] {
            assert_eq!(check(rule), (holds, found.into()), "{rule}");
        }
        assert!(check("pads(red, 60, 60, 2) >= 1").0);
    }

    #[test]
    fn without_a_route_rules_about_routes_fail() {
        let mut terrain = plane();
        let width = terrain.grid().width();
        (0..terrain.grid().height()).for_each(|r| terrain.heights_mut()[r * width + 40] = 90.0);
        let (level, progress) = (level(), Progress::new());
        let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
        for rule in ["path(red, blue) >= 60 s", "length(red, blue) >= 1 m", "choke(red, blue) <= 12 m"] {
            let verdict = Rule::read(rule, &level).expect("a rule").check(&measures).expect("not cancelled");
            assert_eq!((verdict.holds, verdict.found.as_str(), verdict.score), (false, "no route", 0.0), "{rule}");
        }
    }

    #[test]
    fn a_map_on_which_no_team_can_walk_is_not_fair() {
        let mut terrain = plane();
        terrain.heights_mut().iter_mut().step_by(2).for_each(|height| *height = 90.0);
        let (level, progress) = (level(), Progress::new());
        let measures = Measures::new(MeasuredTerrain::dry(&terrain), &level, &progress);
        for rule in ["fairness(time) >= 0.5", "fairness(territory) >= 0.5"] {
            let verdict = Rule::read(rule, &level).expect("a rule").check(&measures).expect("not cancelled");
            assert_eq!((verdict.holds, verdict.found.as_str(), verdict.score), (false, "no route", 0.0), "{rule}");
        }
    }

    #[test]
    fn teams_that_are_numbers_are_quoted() {
        let markers = vec![marker(MarkerKind::Spawn, "A", "1", 40.0), marker(MarkerKind::Spawn, "B", "2", 240.0)];
        let level = Level { markers: markers.into(), ..Default::default() };
        let read = |rule: &str| Rule::read(rule, &level).expect("a rule").metric;
        assert!(matches!(read("pads(\"1\", 60, 60) >= 3"), Metric::Pads { team: Some(team), .. } if team == "1"));
        assert!(matches!(read("pads(1, 60, 60) >= 3"), Metric::Pads { team: None, .. }));
    }

    #[test]
    fn mistakes_are_pointed_at_by_their_column() {
        let level = level();
        for (rule, column, problem) in [
            ("", 1, "there is no metric \"\"; a rule begins with path, length"),
            ("pth(red, blue) <= 90 s", 1, "there is no metric \"pth\"; did you mean path?"),
            (
                "path(red, green) <= 90 s",
                11,
                "no marker or team is called \"green\"; the markers are Base 1, Base 2, Middle; the teams are red, blue",
            ),
            ("path(red) <= 90 s", 10, "expected for example path(A, B) <= 2 min"),
            ("path(red, blue, Boat) <= 90", 17, "no agent is called \"Boat\"; there are Walker, Tank"),
            ("path(red, blue, Tank, 3) <= 90", 23, "one argument too many"),
            ("path(red, blue <= 90 s", 16, "expected a comma or a closing parenthesis"),
            ("path(red, blue) ~ 90 s", 17, "expected <=, >=, <, > or ="),
            ("path(red, blue) <= 90 m", 23, "expected s or min or h, not \"m\""),
            ("path(red, blue) <= fast", 20, "expected a number, not \"fast\""),
            ("path(red, blue) <= 90 s or so", 25, "unexpected \"or so\" after the end of the rule"),
            ("sees(red, blue) = maybe", 19, "expected yes or no, not \"maybe\""),
            ("fairness(sound) >= 1", 10, "expected one of territory, time, exposure, flat, height, not \"sound\""),
            ("pads(green, 60, 60) >= 1", 6, "no team is called \"green\"; there are red, blue"),
            ("pads(60, wide) >= 1", 10, "expected a length in metres, not \"wide\""),
            ("sees(\"Base 1, blue) = no", 6, "the quotation mark is not closed"),
        ] {
            let error = Rule::read(rule, &level).expect_err(rule);
            assert!(error.column == column && error.problem.contains(problem), "{error}");
        }
    }

    #[test]
    fn a_failed_rule_is_scored_by_how_far_it_is_off() {
        assert_eq!([Relation::AtMost.score(180.0, 90.0), Relation::AtLeast.score(6.0, 12.0)], [0.5, 0.5]);
        assert_eq!([Relation::AtMost.score(90.0, 90.0), Relation::AtMost.score(f64::INFINITY, 90.0)], [1.0, 0.0]);
        assert_eq!([Relation::AtLeast.score(0.0, 0.0), Relation::Equal.score(1.0, 0.0)], [1.0, 0.0]);
    }
}
