//! Rules that the panel suggests: sentences about the markers and teams of the level, each with the rules that say it.

use crate::engine::level::{Level, MarkerKind};
use crate::engine::play::quoted;

/// The most places of which every two are compared.
const MAX_PLACES: usize = 4;

/// What must be true of a level, in words and as rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suggestion {
    pub(super) text: String,
    pub(super) rules: Vec<String>,
}

impl Suggestion {
    fn new(text: impl Into<String>, rules: impl IntoIterator<Item = String>) -> Self {
        Self { text: text.into(), rules: rules.into_iter().collect() }
    }
}

/// Whether rules can name it.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('"')
}

/// The names of some markers.
fn names(level: &Level, is_meant: impl Fn(MarkerKind) -> bool) -> Vec<&str> {
    let meant = level.markers.iter().filter(|marker| is_meant(marker.kind) && is_name(&marker.name));
    meant.map(|marker| marker.name.as_str()).collect()
}

/// What can be required of a level.
pub(super) fn suggestions(level: &Level) -> Vec<Suggestion> {
    let spawns = names(level, |kind| kind == MarkerKind::Spawn);
    let objectives = names(level, |kind| kind == MarkerKind::Objective);
    let teams: Vec<&str> = level.teams().into_iter().filter(|team| is_name(team)).collect();
    let mut all = Vec::new();
    if !spawns.is_empty() {
        all.extend(objectives.iter().map(|objective| {
            let rule = |spawn: &&str| format!("path({}, {}) <= 2 min", quoted(spawn), quoted(objective));
            Suggestion::new(format!("Every spawn reaches {objective} within 2 min"), spawns.iter().map(rule))
        }));
    }
    let of_pairs = [("spawns", spawns.clone()), ("teams", teams.clone()), ("markers", names(level, |_| true))];
    let fits = |places: &[&str]| (2..=MAX_PLACES).contains(&places.len());
    all.extend(
        of_pairs
            .iter()
            .find(|(_, places)| fits(places))
            .map(|(title, places)| pairs(title, places))
            .unwrap_or_default(),
    );
    if !teams.is_empty() {
        let rule = |team: &&str| format!("pads({}, 60, 60) >= 3", quoted(team));
        all.push(Suggestion::new("Every team has room for 3 building pads of 60 × 60 m", teams.iter().map(rule)));
    }
    all.push(Suggestion::new("The map has room for 3 building pads of 60 × 60 m", ["pads(60, 60) >= 3".into()]));
    all.push(Suggestion::new("At least 50 % of the map is walkable", ["walkable >= 50 %".into()]));
    if !spawns.is_empty() {
        let reachable = spawns.iter().map(|spawn| format!("reachable({}) >= 90 %", quoted(spawn)));
        all.push(Suggestion::new("Every spawn reaches 90 % of the walkable area", reachable));
        let exposure = spawns.iter().map(|spawn| format!("exposure({}) <= 20 %", quoted(spawn)));
        all.push(Suggestion::new("Every spawn is visible from at most 20 % of the walkable area", exposure));
    }
    if teams.len() > 1 {
        let fair = |aspect: &str| [format!("fairness({aspect}) >= 0.95")];
        all.push(Suggestion::new(
            "The smallest territory of a team is at least 95 % of the largest",
            fair("territory"),
        ));
        if !objectives.is_empty() {
            all.push(Suggestion::new("The times of the teams to the objectives differ by at most 5 %", fair("time")));
        }
    }
    all
}

/// What can be required of every two places.
fn pairs(title: &str, places: &[&str]) -> Vec<Suggestion> {
    let names: Vec<String> = places.iter().map(|place| quoted(place)).collect();
    let count = names.len();
    let both_ways = (0..count).flat_map(|a| (0..count).map(move |b| [a, b])).filter(|[a, b]| a != b);
    let suggestion = |text: String, metric: &str, limit: &str, is_directed: bool| {
        let pairs = both_ways.clone().filter(|[a, b]| is_directed || a < b);
        Suggestion::new(text, pairs.map(|[a, b]| format!("{metric}({}, {}) {limit}", names[a], names[b])))
    };
    // A route may be a way down that cannot be climbed back.
    vec![
        suggestion(format!("The {title} do not see each other"), "sees", "= no", false),
        suggestion(format!("Routes between the {title} take at most 5 min"), "path", "<= 5 min", true),
        suggestion(format!("Routes between the {title} are at least 300 m long"), "length", ">= 300 m", true),
        suggestion(format!("Routes between the {title} are at least 12 m wide"), "choke", ">= 12 m", false),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::level::Marker;
    use crate::engine::play::{MetricKind, Rule};

    fn marker(kind: MarkerKind, name: &str, team: &str) -> Marker {
        Marker { kind, name: name.into(), team: team.into(), ..Default::default() }
    }

    fn level(markers: Vec<Marker>) -> Level {
        Level { markers: markers.into(), ..Default::default() }
    }

    fn rules_of(level: &Level, start: &str) -> Vec<String> {
        let found = suggestions(level).into_iter().find(|suggestion| suggestion.text.starts_with(start));
        found.unwrap_or_else(|| panic!("no suggestion starts with \"{start}\"")).rules
    }

    #[test]
    fn all_rules_can_be_read_and_every_metric_is_suggested() {
        let spawns = [marker(MarkerKind::Spawn, "Spawn 1", "A"), marker(MarkerKind::Spawn, "West", "dark blue")];
        let hill = marker(MarkerKind::Objective, "Hill", "");
        let level = level([&spawns[..], &[hill]].concat());
        let rules: Vec<String> = suggestions(&level).into_iter().flat_map(|suggestion| suggestion.rules).collect();
        for rule in &rules {
            Rule::read(rule, &level).unwrap_or_else(|error| panic!("{error}"));
        }
        for metric in MetricKind::ALL {
            assert!(rules.iter().any(|rule| rule.starts_with(metric.key())), "{}", metric.key());
        }
        let reach = ["path(\"Spawn 1\", Hill) <= 2 min", "path(West, Hill) <= 2 min"];
        assert_eq!(rules_of(&level, "Every spawn reaches Hill"), reach);
        assert_eq!(rules_of(&level, "The spawns do not see"), ["sees(\"Spawn 1\", West) = no"]);
        let both_ways = ["path(\"Spawn 1\", West) <= 5 min", "path(West, \"Spawn 1\") <= 5 min"];
        assert_eq!(rules_of(&level, "Routes between the spawns take"), both_ways);
        assert_eq!(rules_of(&level, "Every team has"), ["pads(A, 60, 60) >= 3", "pads(\"dark blue\", 60, 60) >= 3"]);
    }

    #[test]
    fn only_what_the_level_has_is_suggested() {
        let texts =
            |level: &Level| suggestions(level).into_iter().map(|suggestion| suggestion.text).collect::<Vec<_>>();
        let of_map = ["The map has room for 3 building pads of 60 × 60 m", "At least 50 % of the map is walkable"];
        assert_eq!(texts(&Level::default()), of_map);
        let camera = marker(MarkerKind::Camera, "Tower", "");
        let level = level(vec![camera, marker(MarkerKind::Objective, "Hill", "")]);
        assert_eq!(rules_of(&level, "The markers do not see"), ["sees(Tower, Hill) = no"]);
        assert!(texts(&level).iter().all(|text| !text.contains("spawn") && !text.contains("team")));
    }

    #[test]
    fn of_many_spawns_the_teams_are_compared_and_every_spawn_has_its_rule() {
        let spawns = (0..6).map(|i| marker(MarkerKind::Spawn, &format!("S{i}"), if i % 2 == 0 { "A" } else { "B" }));
        let level = level(spawns.chain([marker(MarkerKind::Objective, "a \"hill\"", "")]).collect());
        assert_eq!(rules_of(&level, "The teams do not see"), ["sees(A, B) = no"]);
        assert_eq!(rules_of(&level, "Every spawn reaches 90 %").len(), 6);
        assert!(suggestions(&level).iter().all(|suggestion| !suggestion.text.contains("hill")));
    }
}
