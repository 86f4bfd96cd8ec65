//! Rules that the panel suggests: sentences about the markers and teams of the level, each with the rules that say it.

use crate::engine::level::{Level, MarkerKind};
use crate::engine::play::quoted;

/// The most markers or teams that a suggestion has rules for.
const MAX_NAMES: usize = 4;

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

/// The names of some markers, as rules write them.
fn names(level: &Level, is_meant: impl Fn(MarkerKind) -> bool) -> Vec<String> {
    let meant = level.markers.iter().filter(|marker| is_meant(marker.kind) && !marker.name.is_empty());
    meant.take(MAX_NAMES).map(|marker| quoted(&marker.name)).collect()
}

/// What can be required of a level.
pub(super) fn suggestions(level: &Level) -> Vec<Suggestion> {
    let spawns = names(level, |kind| kind == MarkerKind::Spawn);
    let objectives = names(level, |kind| kind == MarkerKind::Objective);
    let teams: Vec<String> = level.teams().iter().take(MAX_NAMES).map(|team| quoted(team)).collect();
    let mut all = Vec::new();
    if !spawns.is_empty() {
        all.extend(objectives.iter().map(|objective| {
            let rule = |spawn: &String| format!("path({spawn}, {objective}) <= 2 min");
            let name = objective.trim_matches('"');
            Suggestion::new(format!("Every spawn reaches {name} within 2 min"), spawns.iter().map(rule))
        }));
    }
    all.extend(of_pairs(level, &spawns));
    if !teams.is_empty() {
        let rule = |team: &String| format!("pads({team}, 60, 60) >= 3");
        all.push(Suggestion::new("Every team has 3 building sites of 60 × 60 m", teams.iter().map(rule)));
    }
    all.push(Suggestion::new("The map has 3 building sites of 60 × 60 m", ["pads(60, 60) >= 3".into()]));
    all.push(Suggestion::new("At least 50 % of the map is walkable", ["walkable >= 50 %".into()]));
    if !spawns.is_empty() {
        let reachable = spawns.iter().map(|spawn| format!("reachable({spawn}) >= 90 %"));
        all.push(Suggestion::new("Every spawn reaches 90 % of the walkable area", reachable));
        let exposure = spawns.iter().map(|spawn| format!("exposure({spawn}) <= 20 %"));
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

/// What can be required of every two spawns, or of every two markers if there are not two spawns.
fn of_pairs(level: &Level, spawns: &[String]) -> Vec<Suggestion> {
    let (title, places) =
        if spawns.len() > 1 { ("spawns", spawns.to_vec()) } else { ("markers", names(level, |_| true)) };
    if places.len() < 2 {
        return Vec::new();
    }
    let later = |i: usize| places.iter().skip(i + 1);
    let pairs: Vec<String> =
        places.iter().enumerate().flat_map(|(i, a)| later(i).map(move |b| format!("({a}, {b})"))).collect();
    let suggestion = |text: String, metric: &str, limit: &str| {
        Suggestion::new(text, pairs.iter().map(|pair| format!("{metric}{pair} {limit}")))
    };
    vec![
        suggestion(format!("The {title} do not see each other"), "sees", "= no"),
        suggestion(format!("Routes between the {title} take at most 5 min"), "path", "<= 5 min"),
        suggestion(format!("Routes between the {title} are at least 300 m long"), "length", ">= 300 m"),
        suggestion(format!("Routes between the {title} are at least 12 m wide"), "choke", ">= 12 m"),
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
        assert_eq!(rules_of(&level, "Every team has"), ["pads(A, 60, 60) >= 3", "pads(\"dark blue\", 60, 60) >= 3"]);
    }

    #[test]
    fn only_what_the_level_has_is_suggested() {
        let texts =
            |level: &Level| suggestions(level).into_iter().map(|suggestion| suggestion.text).collect::<Vec<_>>();
        let of_map = ["The map has 3 building sites of 60 × 60 m", "At least 50 % of the map is walkable"];
        assert_eq!(texts(&Level::default()), of_map);
        let camera = marker(MarkerKind::Camera, "Tower", "");
        let level = level(vec![camera, marker(MarkerKind::Objective, "Hill", "")]);
        assert_eq!(rules_of(&level, "The markers do not see"), ["sees(Tower, Hill) = no"]);
        assert!(texts(&level).iter().all(|text| !text.contains("spawn") && !text.contains("team")));
    }
}
