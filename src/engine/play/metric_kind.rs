//! The metrics that rules can be about.

/// A metric without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// The time of the fastest route.
    Path,
    /// The length of the fastest route.
    Length,
    /// The width of the widest route at its narrowest point.
    Choke,
    /// Whether there is a line of sight.
    Sees,
    /// The share of the map on which an agent can stand.
    Walkable,
    /// The share of the walkable area that is reached.
    Reachable,
    /// The share of the walkable area from which a place is visible.
    Exposure,
    /// How many building pads fit.
    Pads,
    /// An aspect of fairness.
    Fairness,
}

impl MetricKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Path,
        Self::Length,
        Self::Choke,
        Self::Sees,
        Self::Walkable,
        Self::Reachable,
        Self::Exposure,
        Self::Pads,
        Self::Fairness,
    ];

    /// The name in rules.
    pub fn key(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Length => "length",
            Self::Choke => "choke",
            Self::Sees => "sees",
            Self::Walkable => "walkable",
            Self::Reachable => "reachable",
            Self::Exposure => "exposure",
            Self::Pads => "pads",
            Self::Fairness => "fairness",
        }
    }

    /// A rule about it.
    pub fn example(self) -> &'static str {
        match self {
            Self::Path => "path(A, B) <= 2 min",
            Self::Length => "length(A, B) >= 300 m",
            Self::Choke => "choke(A, B) >= 12 m",
            Self::Sees => "sees(A, B) = no",
            Self::Walkable => "walkable >= 50 %",
            Self::Reachable => "reachable(A) >= 90 %",
            Self::Exposure => "exposure(A) <= 20 %",
            Self::Pads => "pads(60, 60) >= 3 or pads(A, 60, 60) >= 3",
            Self::Fairness => "fairness(territory) >= 0.95",
        }
    }

    /// The metric that a rule is about, if it begins with one.
    pub fn of_rule(rule: &str) -> Option<Self> {
        let name = rule.trim_start().split(|c: char| !c.is_alphabetic()).next()?;
        Self::ALL.into_iter().find(|kind| kind.key() == name)
    }

    /// Its name in the interface.
    pub fn label(self) -> &'static str {
        match self {
            Self::Path => "Route time",
            Self::Length => "Route length",
            Self::Choke => "Choke point width",
            Self::Sees => "In sight",
            Self::Walkable => "Walkable area",
            Self::Reachable => "Reachable area",
            Self::Exposure => "Exposure",
            Self::Pads => "Building pads",
            Self::Fairness => "Fairness",
        }
    }

    /// What it measures, and in which units.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Path => "the time of the fastest route, s, min or h",
            Self::Length => "the length of the fastest route over the terrain, m or km",
            Self::Choke => "the width of the widest route at its narrowest point, m",
            Self::Sees => "whether the eyes at the two places see each other, yes or no",
            Self::Walkable => "the share of the map on which an agent can stand",
            Self::Reachable => "the share of the walkable area that is reached",
            Self::Exposure => "the share of the walkable area from which a place is visible",
            Self::Pads => {
                "how many building pads of that size fit on the map, or in the territory of a team, with at most that \
                 much cut and fill (1 m)"
            }
            Self::Fairness => {
                "how equal the teams are in territory, time, exposure, flat terrain or height: the smallest value divided \
                 by the largest, so 1 is fair; for heights how far apart they are, m"
            }
        }
    }
}
