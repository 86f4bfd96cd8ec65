//! The level that is played on a terrain: places that mean something to the game.

use super::parameters::{List, MAX_COORDINATE_M, Point, Spec, choices, parameters};

choices! {
    /// What a place of the level is for.
    pub enum MarkerKind {
        /// Where players or units begin.
        Spawn = "spawn", "Spawn";
        /// What players want to reach or hold.
        Objective = "objective", "Objective";
        /// A point of view.
        Camera = "camera", "Camera";
    }
}

parameters! {
    /// A place of the level.
    pub struct Marker {
        /// What the place is for.
        kind: MarkerKind = MarkerKind::Spawn, Spec::new("Kind");
        /// What the place is called.
        name: String = String::new(), Spec::new("Name");
        /// Position of the marker, metres east and south of the map's north-west corner.
        at_m: Point = Point { x_m: 2048.0, z_m: 2048.0 },
            Spec::number("Position", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m");
        /// The team that the place belongs to. Empty: none.
        team: String = String::new(), Spec::new("Team");
        /// Eye height above the terrain.
        eye_m: f64 = 1.7, Spec::number("Eye height", 0.0, 10_000.0).slider(0.5, 20.0).unit("m");
    }
}

choices! {
    /// How the speed of an agent depends on the slope.
    pub enum SlopeSpeed {
        /// The same speed on every slope.
        Constant = "constant", "Constant";
        /// Slower uphill and on steep slopes, fastest slightly downhill, as hikers walk (Tobler 1993).
        Tobler = "tobler", "Hiker (Tobler)";
    }
}

parameters! {
    /// Something that moves over the terrain: a player, a soldier, a vehicle.
    pub struct Agent {
        /// What the agent is called.
        name: String = "Walker".into(), Spec::new("Name");
        /// Steepest slope that the agent climbs.
        walk_deg: f64 = 45.0, Spec::number("Maximum slope", 0.0, 89.0).slider(10.0, 70.0).unit("°");
        /// Height that the agent steps over, however steep it is.
        step_m: f64 = 0.5, Spec::number("Step height", 0.0, 1000.0).slider(0.0, 3.0).unit("m");
        /// Greatest drop that the agent jumps down. It cannot go back up the same way.
        drop_m: f64 = 2.0, Spec::number("Drop height", 0.0, 1000.0).slider(0.0, 20.0).unit("m");
        /// Distance that the agent keeps from places where it cannot walk: half its width.
        radius_m: f64 = 0.5, Spec::number("Radius", 0.0, 1000.0).slider(0.0, 10.0).unit("m");
        /// Depth of water that the agent wades through.
        wade_m: f64 = 1.0, Spec::number("Wading depth", 0.0, 1000.0).slider(0.0, 5.0).unit("m");
        /// Speed on level terrain.
        speed_m_s: f64 = 4.0, Spec::number("Speed", 0.01, 1000.0).slider(0.5, 40.0).unit("m/s").logarithmic();
        /// How the speed depends on the slope.
        pace: SlopeSpeed = SlopeSpeed::Constant, Spec::new("Speed on slopes");
    }
}

impl Marker {
    /// Whether it is where a team begins.
    fn is_spawn_of_team(&self) -> bool {
        self.kind == MarkerKind::Spawn && !self.team.is_empty()
    }
}

parameters! {
    /// What a level has besides its terrain. It does not change the terrain.
    pub struct Level {
        /// Who moves over the terrain. Rules and metrics use the first one unless they name another.
        agents: List<Agent> = vec![Agent::default()].into(), Spec::new("Agents").sparse();
        /// Spawns and other places, in the order in which they were placed.
        markers: List<Marker> = List::default(), Spec::new("Markers");
        /// What must be true of the level, such as `path(red, blue) <= 90 s`.
        rules: List<String> = List::default(), Spec::new("Rules").sparse();
    }
}

impl Level {
    /// Who moves: a default agent if the level has none.
    pub fn agents(&self) -> Vec<Agent> {
        if self.agents.is_empty() { vec![Agent::default()] } else { self.agents.to_vec() }
    }

    /// The teams that have a spawn, in the order of their first ones. Names that differ only in case are the same.
    pub fn teams(&self) -> Vec<&str> {
        let mut teams: Vec<&str> = Vec::new();
        for marker in self.markers.iter().filter(|marker| marker.is_spawn_of_team()) {
            if !teams.iter().any(|team| team.eq_ignore_ascii_case(&marker.team)) {
                teams.push(&marker.team);
            }
        }
        teams
    }

    /// The spawns of a team, as indices of markers.
    pub fn spawns(&self, team: &str) -> Vec<usize> {
        let is_own = |marker: &Marker| marker.is_spawn_of_team() && marker.team.eq_ignore_ascii_case(team);
        let markers = self.markers.iter().enumerate();
        markers.filter(|(_, marker)| is_own(marker)).map(|(index, _)| index).collect()
    }

    /// A name of this kind that no marker has: "Spawn 3".
    pub fn unused_name(&self, kind: MarkerKind) -> String {
        let numbered = (1..).map(|number: u32| format!("{} {number}", kind.label()));
        let is_unused = |name: &String| self.markers.iter().all(|marker| marker.name != *name);
        // There are more numbers than markers.
        numbered.take(self.markers.len() + 1).find(is_unused).unwrap_or_default()
    }

    /// A name that no team has: the first such letter, or a number once all are taken.
    pub fn unused_team(&self) -> String {
        let is_unused = |team: &String| self.markers.iter().all(|marker| !marker.team.eq_ignore_ascii_case(team));
        let letters = ('A'..='Z').map(String::from);
        letters.chain((1..).map(|team: u32| team.to_string())).find(is_unused).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_are_told_apart_whatever_their_case() {
        let marker = |kind, team: &str| Marker { kind, team: team.into(), ..Default::default() };
        let spawn = |team| marker(MarkerKind::Spawn, team);
        let markers = vec![spawn("Red"), spawn(""), spawn("blue"), spawn("red"), marker(MarkerKind::Camera, "green")];
        let level = Level { markers: markers.into(), ..Default::default() };
        assert_eq!(level.teams(), ["Red", "blue"]);
        assert_eq!((level.spawns("RED"), level.spawns("green"), level.spawns("")), (vec![0, 3], vec![], vec![]));
    }

    #[test]
    fn new_names_and_teams_are_unused() {
        let mut level = Level::default();
        for (name, team) in [("Spawn 1", "A"), ("Spawn 2", "B"), ("Spawn 3", "C")] {
            assert_eq!([level.unused_name(MarkerKind::Spawn), level.unused_team()], [name, team]);
            level.markers.push(Marker { name: name.into(), team: team.into(), ..Default::default() });
        }
        level.markers.remove(1);
        assert_eq!([level.unused_name(MarkerKind::Spawn), level.unused_team()], ["Spawn 2", "B"]);
        assert_eq!(level.unused_name(MarkerKind::Objective), "Objective 1");
    }
}
