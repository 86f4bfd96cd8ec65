//! Values of a path that do not fit together.

use super::path::{Path, PathKind};
use super::road::tangent;
use crate::curve::distance_m;
use crate::parameters::{ParameterError, ordinal};

/// The least distance between neighbouring nodes.
const MIN_DISTANCE_M: f64 = 0.001;

/// The relative error that grades between held nodes may have.
const SLACK: f64 = 1e-9;

impl Path {
    /// The first problem of the path. A path with a problem has no effect.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.check_nodes()?;
        match self.kind {
            PathKind::Road => self.check_road(),
            PathKind::River => self.check_river(),
            PathKind::Ridge | PathKind::Valley => self.check_ridge(),
            PathKind::Fault => Ok(()),
        }
    }

    fn check_nodes(&self) -> Result<(), ParameterError> {
        let (count, least) = (self.nodes.len(), if self.is_closed() { 3 } else { 2 });
        if count < least {
            let shape = if self.is_closed() { "a closed path" } else { "a path" };
            return Err(ParameterError::conflict(
                "nodes",
                format!("{shape} needs at least {least} nodes, not {count}; add nodes"),
            ));
        }
        let at = |i: usize| [self.nodes[i].at_m.x_m, self.nodes[i].at_m.z_m];
        for i in 1..if self.is_closed() { count + 1 } else { count } {
            if distance_m(at(i - 1), at(i % count)) < MIN_DISTANCE_M {
                let message = format!("it is at the same place as the {} node; move or remove one of them", ordinal(i));
                return Err(ParameterError::conflict(format!("nodes.{}.at_m", i % count), message));
            }
        }
        Ok(())
    }

    /// Neighbouring held nodes suffice: if the grades between them are possible, so are all others.
    fn check_road(&self) -> Result<(), ParameterError> {
        let bank = tangent(self.bank_deg);
        if bank <= self.max_grade {
            let least_deg = libm::atan(self.max_grade).to_degrees();
            let message = format!("banks must be steeper than the maximum grade: more than {least_deg:.1}°");
            return Err(ParameterError::conflict("bank_deg", message));
        }
        let curve = self.curve();
        let held = self.held(&curve.lengths_m);
        let around = held.first().filter(|_| curve.is_closed && held.len() > 1);
        let around = around.map(|(i, at_m, height_m)| (*i, at_m + curve.length_m(), *height_m));
        let all: Vec<(usize, f64, f64)> = held.iter().copied().chain(around).collect();
        for pair in all.windows(2) {
            let ((i, from_m, from), (k, to_m, to)) = (pair[0], pair[1]);
            let (rise_m, run_m) = ((to - from).abs(), to_m - from_m);
            if rise_m > self.max_grade * run_m * (1.0 + SLACK) {
                let grade = rise_m / run_m;
                let message = format!(
                    "the {} and the {} node differ by {rise_m:.2} m in height over {run_m:.1} m of road, a grade of \
                     {:.2} %; change their heights or set the maximum grade to at least {:.2} %",
                    ordinal(i + 1),
                    ordinal(k + 1),
                    100.0 * grade,
                    (grade * 10_000.0).ceil() / 100.0
                );
                return Err(ParameterError::conflict("max_grade", message));
            }
        }
        Ok(())
    }

    /// A ridge has no depth and a valley no height.
    fn check_ridge(&self) -> Result<(), ParameterError> {
        let negative = self.nodes.iter().position(|node| node.height_m.is_some_and(|height_m| height_m < 0.0));
        let message = "a ridge or a valley cannot have a negative height; use the other kind";
        negative.map_or(Ok(()), |i| Err(ParameterError::conflict(format!("nodes.{i}.height_m"), message)))
    }

    fn check_river(&self) -> Result<(), ParameterError> {
        if self.closed {
            return Err(ParameterError::conflict(
                "closed",
                "a river cannot be closed: its water must fall; set it to false",
            ));
        }
        let held = self.held(&self.curve().lengths_m);
        for pair in held.windows(2) {
            let ((i, from_m, from), (k, to_m, to)) = (pair[0], pair[1]);
            let most = from - self.fall * (to_m - from_m);
            if to > most + SLACK * (to_m - from_m) {
                let message = format!(
                    "the water must fall by at least {} % from the {} node, to {most:.2} m or less, not {to} m",
                    100.0 * self.fall,
                    ordinal(i + 1)
                );
                return Err(ParameterError::conflict(format!("nodes.{k}.height_m"), message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Paths;
    use super::super::testing::path;
    use super::*;
    use crate::heightfield::{Extent, Grid};
    use crate::operations::operation::Operation;
    use crate::parameters::Group;

    #[track_caller]
    fn check(path: &Path, expected: &str) {
        let found = path.check().expect_err("a problem").to_string();
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn problems_say_what_to_do() {
        let nodes = [[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]];
        let road = path(PathKind::Road, &nodes);
        assert_eq!(road.check(), Ok(()));
        check(&path(PathKind::Ridge, &nodes[..1]), "nodes: a path needs at least 2 nodes, not 1");
        check(&Path { closed: true, ..path(PathKind::Fault, &nodes[..2]) }, "a closed path needs at least 3");
        check(
            &path(PathKind::Road, &[nodes[0], nodes[1], nodes[1]]),
            "nodes.2.at_m: it is at the same place as the 2nd node",
        );
        check(&Path { bank_deg: 4.0, ..road.clone() }, "bank_deg: banks must be steeper");
        let mut steep = road.clone();
        steep.nodes[0].height_m = Some(5.0);
        steep.nodes[2].height_m = Some(45.0);
        let message =
            "max_grade: the 1st and the 3rd node differ by 40.00 m in height over 200.0 m of road, a grade of 20.00 %";
        check(&steep, message);
        steep.nodes[2].height_m = Some(21.0);
        assert_eq!(steep.check(), Ok(()), "exactly the maximum grade");
        let mut river = Path { kind: PathKind::River, ..road };
        river.nodes[1].height_m = Some(5.0);
        river.nodes[2].height_m = Some(4.95);
        check(&river, "nodes.2.height_m: the water must fall");
        river.nodes[2].height_m = Some(4.9);
        assert_eq!(river.check(), Ok(()));
        check(&Path { closed: true, ..river }, "closed: a river cannot be closed");
    }
    #[test]
    fn problems_have_the_words_of_the_editor() {
        let mut steep = path(PathKind::Road, &[[0.0, 0.0], [100.0, 0.0]]);
        steep.nodes[0].height_m = Some(50.0);
        steep.nodes[1].height_m = Some(10.0);
        let paths = Paths { paths: vec![path(PathKind::Road, &[[0.0, 0.0], [9.0, 0.0]]), steep].into() };
        let world = Grid::new(Extent { width_m: 100.0, depth_m: 100.0 }, 9, 9);
        let error = paths.check(world).expect_err("too steep");
        assert!(error.to_string().starts_with("paths.1.max_grade: the 1st"), "{error}");
        assert!(error.in_words(paths.table()).starts_with("Path 2, Maximum grade: the 1st"), "{error:?}");
        assert_eq!(ParameterError::conflict("no.such.key", "why").in_words(paths.table()), "no.such.key: why");
    }
}
