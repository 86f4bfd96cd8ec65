//! Names of markers and teams in rules.

use crate::engine::level::Level;

/// A name as a rule has it: in quotation marks unless it is a word. A number would be one.
pub fn quoted(name: &str) -> String {
    if is_word(name) { name.to_string() } else { format!("\"{name}\"") }
}

fn is_word(name: &str) -> bool {
    name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Replaces the name of a marker or a team in the rules, once the level has the new one. Nothing is replaced where the
/// old name still means another marker or team, or an agent.
pub fn rename_in_rules(level: &mut Level, from: &str, to: &str) {
    let is_from = |name: &String| name.eq_ignore_ascii_case(from);
    let markers = level.markers.iter();
    let is_known = markers.clone().any(|marker| is_from(&marker.name) || is_from(&marker.team))
        || level.agents().iter().any(|agent| is_from(&agent.name));
    if from.is_empty() || to.is_empty() || to.contains('"') || is_known {
        return;
    }
    let renamed: Vec<String> = level.rules.iter().map(|rule| renamed(rule, from, to)).collect();
    if !renamed.iter().eq(level.rules.iter()) {
        level.rules = renamed.into();
    }
}

/// A rule with another name in its arguments.
fn renamed(rule: &str, from: &str, to: &str) -> String {
    let Some(open) = rule.find('(') else { return rule.into() };
    let close = rule.rfind(')').unwrap_or(rule.len());
    if close <= open {
        return rule.into();
    }
    let (arguments, mut result) = (&rule[open + 1..close], rule[..=open].to_string());
    let mut rest = arguments;
    while !rest.is_empty() {
        let quoted_name = rest.strip_prefix('"').and_then(|inside| inside.split_once('"'));
        let (argument, name) = match quoted_name {
            Some((name, _)) => (&rest[..name.len() + 2], name),
            None => {
                let end = rest.find([',', '"', ' ']).unwrap_or(rest.len()).max(1);
                let end = rest.char_indices().map(|(i, _)| i).find(|i| *i >= end).unwrap_or(rest.len());
                (&rest[..end], if is_word(&rest[..end]) { &rest[..end] } else { "" })
            }
        };
        let is_from = !name.is_empty() && name.eq_ignore_ascii_case(from);
        result += &if is_from { quoted(to) } else { argument.into() };
        rest = &rest[argument.len()..];
    }
    result + &rule[close..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::level::{Marker, MarkerKind};

    #[test]
    fn rules_follow_a_name_unless_it_means_something_else() {
        let marker = |name: &str, team: &str| Marker {
            kind: MarkerKind::Spawn,
            name: name.into(),
            team: team.into(),
            ..Marker::default()
        };
        let rules = [
            "path(\"Spawn 1\", Hill) <= 90 s",
            "sees( hill ,\"spawn 1\" ) = no",
            "pads(red, 40, 40) >= 3",
            "walkable >= 0.5",
            "path(\"Hill, high\", Hills) <= 2",
        ];
        let level = |markers: Vec<Marker>| Level {
            markers: markers.into(),
            rules: rules.map(String::from).to_vec().into(),
            ..Level::default()
        };
        let mut renamed = level(vec![marker("Base", "red"), marker("Top of hill", "")]);
        rename_in_rules(&mut renamed, "Spawn 1", "Base");
        rename_in_rules(&mut renamed, "Hill", "Top of hill");
        assert_eq!(
            renamed.rules.to_vec(),
            [
                "path(Base, \"Top of hill\") <= 90 s",
                "sees( \"Top of hill\" ,Base ) = no",
                "pads(red, 40, 40) >= 3",
                "walkable >= 0.5",
                "path(\"Hill, high\", Hills) <= 2",
            ]
        );
        // Another marker has the old name, or a team, or the new name cannot be quoted.
        for (from, to) in [("red", "blue"), ("base", "Camp"), ("Spawn 1", "a \"b\"")] {
            let mut kept = level(vec![marker("Base", "red")]);
            rename_in_rules(&mut kept, from, to);
            assert_eq!(kept.rules.to_vec(), rules, "{from}");
        }
    }
}
