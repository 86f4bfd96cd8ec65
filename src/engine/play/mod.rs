//! What a terrain means for play: where agents can go and how fast, what is visible from where, and whether it is
//! fair.
//!
//! Everything is measured on a graph over the samples of a terrain, for one [agent](super::level::Agent).

mod choke;
mod ground;
mod islands;
mod maps;
mod measured_terrain;
mod measures;
mod metric_kind;
mod names;
mod obstacles;
mod report;
mod rules;
mod search;
mod sites;
mod territory;
mod travel;
mod viewshed;

pub use choke::{Choke, chokes};
pub use ground::{Ground, NearSample};
pub use islands::{Gap, Island};
pub use maps::{Overlay, PlayMap, Scale, team_colour};
pub use measured_terrain::MeasuredTerrain;
pub use measures::{Aspect, FLAT_DEG, Fairness, HEAD_M, Measures, Route};
pub use metric_kind::MetricKind;
pub use names::{quoted, rename_in_rules};
pub use obstacles::{Obstacles, REACH_M as OBSTACLE_REACH_M, obstacle_bytes, obstacles};
pub use report::{MarkerReport, Report, RouteReport, memory_bytes};
pub use rules::{DEFAULT_CUT_M, Rule, RuleError, Verdict};
pub use search::{CheckedAgain, Found, Ranking, Search, SearchStages, SearchSummary};
pub use sites::{Site, Sites, sites};
pub use territory::Territory;
pub use travel::Travel;
pub use viewshed::{Eye, seen_from};
