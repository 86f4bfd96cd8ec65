//! Names of markers and teams in rules.

use super::rules::Rule;
use crate::level::Level;

/// A name as a rule has it: in quotation marks unless it is a word. A number would be one.
pub fn quoted(name: &str) -> String {
    if is_word(name) { name.to_string() } else { format!("\"{name}\"") }
}

fn is_word(name: &str) -> bool {
    name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Replaces the name of a marker or a team in the rules of a level that has the new one already; `before` is the level
/// with the old one. Nothing is replaced where one of the two names means something else as well.
pub fn rename_in_rules(level: &mut Level, before: &Level, from: &str, to: &str) {
    let means = |level: &Level, name: &str| {
        let is_name = |other: &str| other.eq_ignore_ascii_case(name);
        level.markers.iter().any(|marker| is_name(&marker.name) || is_name(&marker.team))
            || level.agents().iter().any(|agent| is_name(&agent.name))
    };
    let is_ambiguous = !from.eq_ignore_ascii_case(to) && (means(level, from) || means(before, to));
    if from.is_empty() || to.is_empty() || to.contains('"') || is_ambiguous {
        return;
    }
    let renamed = |rule: &String| {
        let mut renamed = rule.clone();
        for (place, name) in Rule::names(rule, before).into_iter().rev() {
            if name.eq_ignore_ascii_case(from) {
                renamed.replace_range(place, &quoted(to));
            }
        }
        renamed
    };
    let rules: Vec<String> = level.rules.iter().map(renamed).collect();
    if !rules.iter().eq(level.rules.iter()) {
        level.rules = rules.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::{Marker, MarkerKind};

    fn level(spawns: &[[&str; 2]], rules: &[&str]) -> Level {
        let spawn = |[name, team]: &[&str; 2]| Marker {
            kind: MarkerKind::Spawn,
            name: (*name).into(),
            team: (*team).into(),
            ..Marker::default()
        };
        let rules: Vec<String> = rules.iter().map(|rule| (*rule).into()).collect();
        Level { markers: spawns.iter().map(spawn).collect(), rules: rules.into(), ..Level::default() }
    }

    /// The rules after a marker or its team got another name.
    fn renamed(before: &Level, marker: usize, [name, team]: [&str; 2]) -> Vec<String> {
        let (mut level, known) = (before.clone(), &before.markers[marker]);
        (level.markers[marker].name, level.markers[marker].team) = (name.into(), team.into());
        if known.name == name {
            rename_in_rules(&mut level, before, &known.team, team);
        } else {
            rename_in_rules(&mut level, before, &known.name, name);
        }
        level.rules.to_vec()
    }

    #[test]
    fn rules_follow_the_names_of_markers_and_teams() {
        let rules = [
            "path(\"Spawn 1\", Flat) <= 90 s",
            "sees( flat ,\"spawn 1\" ) = no",
            "pads(1, 40, 40) >= 3",
            "pads(\"1\", 40, 40) >= 3",
            "path(1, red) <= 2 min",
            "fairness(flat) >= 0.9",
            "path(Flat, nowhere) <= 2",
        ];
        let level = level(&[["Spawn 1", "1"], ["Flat", "red"]], &rules);
        let changed = |marker, to: [&str; 2]| {
            let after = renamed(&level, marker, to);
            after.into_iter().zip(rules).filter(|(new, old)| new != old).map(|(new, _)| new).collect::<Vec<_>>()
        };
        assert_eq!(changed(0, ["Base", "1"]), ["path(Base, Flat) <= 90 s", "sees( flat ,Base ) = no"]);
        assert_eq!(
            changed(1, ["Top of hill", "red"]),
            ["path(\"Spawn 1\", \"Top of hill\") <= 90 s", "sees( \"Top of hill\" ,\"spawn 1\" ) = no"],
            "neither the aspect nor a rule that cannot be read"
        );
        assert_eq!(changed(0, ["Spawn 1", "blue"]), ["pads(blue, 40, 40) >= 3", "path(blue, red) <= 2 min"]);
        assert_eq!(changed(1, ["FLAT", "red"]).len(), 2, "only its case");
    }

    #[test]
    fn rules_stay_where_a_name_means_something_else() {
        let rules = ["path(red, blue) <= 90 s", "path(Base, Camp) <= 90 s", "path(Base, Camp, Walker) <= 9"];
        let level = level(&[["Base", "red"], ["Camp", "blue"], ["Fort", "blue"]], &rules);
        for (marker, to) in [
            // Another team, marker or agent has the new name, another spawn the old team, and one cannot be quoted.
            (0, ["Base", "blue"]),
            (0, ["Camp", "red"]),
            (0, ["blue", "red"]),
            (0, ["walker", "red"]),
            (1, ["Camp", "green"]),
            (0, ["a \"b\"", "red"]),
        ] {
            assert_eq!(renamed(&level, marker, to), rules, "{to:?}");
        }
    }
}
