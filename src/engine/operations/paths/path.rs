//! The parameters of a path.

use crate::curve::{Curve, MonotoneCubic, PIECES_PER_SPAN, arc_lengths_m, curve_through};
use crate::fault::Profile;
use crate::parameters::{List, MAX_COORDINATE_M, Point, Spec, choices, parameters};

choices! {
    /// What a path makes of the terrain along its curve.
    pub enum PathKind {
        /// A level carriageway with a limited grade, cut into the terrain and built up from it.
        Road = "road", "Road";
        /// A bed with water that always flows downstream, from the first node to the last.
        River = "river", "River";
        /// A ridge along the curve.
        Ridge = "ridge", "Ridge";
        /// A valley along the curve.
        Valley = "valley", "Valley";
        /// A fault along the curve: the terrain to the right of its direction goes up.
        Fault = "fault", "Fault";
    }
}

choices! {
    /// The cross-section of a ridge or a valley.
    pub enum RidgeProfile {
        /// A wave, rounded at the crest and at the foot.
        Cosine = "cosine", "Cosine";
        /// Straight slopes and a sharp crest.
        Linear = "linear", "Linear";
        /// A broad crest, rounded at the foot.
        Biweight = "biweight", "Biweight";
        /// A bell curve. It goes on beyond the width.
        Gaussian = "gaussian", "Gaussian";
        /// A sharp crest with long concave slopes. They go on beyond the width.
        Exponential = "exponential", "Exponential";
    }
}

impl RidgeProfile {
    /// The fault profile whose upper side has this shape.
    pub(super) fn of_fault(self) -> Profile {
        match self {
            Self::Cosine => Profile::Cosine,
            Self::Linear => Profile::Linear,
            Self::Biweight => Profile::Biweight,
            Self::Gaussian => Profile::Gaussian,
            Self::Exponential => Profile::Exponential,
        }
    }
}

parameters! {
    /// A point that a path passes.
    pub struct PathNode {
        /// Position, metres east and south of the map's north-west corner.
        at_m: Point = Point { x_m: 2048.0, z_m: 2048.0 },
            Spec::number("Position", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 4096.0).unit("m");
        /// Height of a road, or of a river's water, at the node. For ridges and valleys, their height or depth. Off:
        /// from the terrain, or from the nodes beside it.
        height_m: Option<f64> = None,
            Spec::number("Height", -20_000.0, 100_000.0).slider(-500.0, 2000.0).unit("m").none("not locked");
        /// Width of the path at the node. Off: the width of the path.
        width_m: Option<f64> = None,
            Spec::number("Width", 0.1, 1_000_000.0).slider(1.0, 1000.0).unit("m").logarithmic().none("as the path");
    }
}

parameters! {
    /// A smooth curve through nodes, and what becomes of the terrain along it.
    pub struct Path {
        /// What the path makes of the terrain.
        kind: PathKind = PathKind::Road, Spec::new("Kind");
        /// The points that the curve passes through, in order.
        nodes: List<PathNode> = List::default(), Spec::new("Nodes");
        /// Full width: of a road's carriageway, a river's bed, a ridge from foot to foot, or a fault zone. A road
        /// also has verges, each 1/16 of its width and level with it. In the editor, roads begin with 24 m, rivers with
        /// 12 m, ridges and valleys with 300 m, fault zones with 60 m.
        width_m: f64 = 24.0, Spec::number("Width", 0.1, 1_000_000.0).slider(1.0, 1000.0).unit("m").logarithmic();
        /// Whether the last node is joined to the first one.
        closed: bool = false, Spec::new("Closed").when("kind", &["road", "ridge", "valley", "fault"]);
        /// Slope of the banks beside a road or a river.
        bank_deg: f64 = 35.0, Spec::number("Bank slope", 1.0, 85.0).slider(5.0, 80.0).unit("°")
            .when("kind", &["road", "river"]);
        /// Maximum grade of the road. 8 % is a climb of 8 m in 100 m.
        max_grade: f64 = 0.08,
            Spec::number("Maximum grade", 0.0, 2.0).slider(0.01, 0.3).percent().when("kind", &["road"]);
        /// Length over which bumps of the terrain are smoothed along a road or a river.
        smooth_m: f64 = 60.0, Spec::number("Smoothing", 0.0, 100_000.0).slider(0.0, 500.0).unit("m")
            .when("kind", &["road", "river"]);
        /// Height of a ridge or depth of a valley, where no node has a height.
        height_m: f64 = 50.0, Spec::number("Height or depth", 0.0, 10_000.0).slider(0.0, 500.0).unit("m")
            .when("kind", &["ridge", "valley"]);
        /// Cross-section of the ridge or the valley.
        profile: RidgeProfile = RidgeProfile::Cosine, Spec::new("Profile").when("kind", &["ridge", "valley"]);
        /// Depth of the bed below the water, in the middle of the river.
        depth_m: f64 = 3.0, Spec::number("Depth", 0.0, 1000.0).slider(0.0, 30.0).unit("m").when("kind", &["river"]);
        /// Minimum gradient of the water. 0.1 % is a fall of 1 m in 1000 m.
        fall: f64 = 0.001,
            Spec::number("Minimum gradient", 0.0, 1.0).slider(0.0, 0.05).percent().when("kind", &["river"]);
        /// Whether the river gets wider downstream, with the square root of the area that drains to it.
        grow: bool = false, Spec::new("Widen downstream").when("kind", &["river"]);
        /// Height by which the right side of a fault rises and the left side sinks. Negative values reverse the sides.
        displacement_m: f64 = 100.0,
            Spec::number("Displacement", -10_000.0, 10_000.0).slider(-2000.0, 2000.0).unit("m")
                .both_sides("fault_profile", Profile::TWO_SIDED).when("kind", &["fault"]);
        /// Cross-section of the fault, from a cliff to a wave.
        fault_profile: Profile = Profile::Smooth, Spec::new("Fault profile").when("kind", &["fault"]);
        /// Distance beyond each end over which the fault fades out. Off: it goes straight on across the map.
        reach_m: Option<f64> = Some(400.0),
            Spec::number("Fade-out length", 0.0, 1_000_000.0).slider(0.0, 4000.0).unit("m").none("unlimited")
                .when("kind", &["fault"]);
        /// Whether the path has any effect.
        enabled: bool = true, Spec::new("Enabled");
    }
}

impl Path {
    /// A path of a kind, with a usual width.
    pub fn of_kind(kind: PathKind) -> Self {
        let width_m = match kind {
            PathKind::Road => 24.0,
            PathKind::River => 12.0,
            PathKind::Ridge | PathKind::Valley => 300.0,
            PathKind::Fault => 60.0,
        };
        Self { kind, width_m, ..Self::default() }
    }

    /// After the path had another kind: a width that was usual for that becomes the one that is usual for its kind, and
    /// heights of nodes go if they meant something else. Those of ridges and valleys are above the terrain.
    pub fn adapt_to_kind(&mut self, before: PathKind) {
        if self.width_m == Self::of_kind(before).width_m {
            self.width_m = Self::of_kind(self.kind).width_m;
        }
        self.closed = self.is_closed();
        let is_relative = |kind: PathKind| matches!(kind, PathKind::Ridge | PathKind::Valley);
        if is_relative(before) != is_relative(self.kind) {
            self.nodes.iter_mut().for_each(|node| node.height_m = None);
        }
    }
}

/// A path's curve: its points and what is interpolated at them.
#[derive(Clone, Debug)]
pub(crate) struct PathCurve {
    /// The points; a closed curve ends where it starts.
    pub points: Vec<[f64; 2]>,
    /// The directions at the points, unit vectors.
    pub tangents: Vec<[f64; 2]>,
    /// The arc length at every point.
    pub lengths_m: Vec<f64>,
    /// Half the width at every point.
    pub halves_m: Vec<f64>,
    pub is_closed: bool,
}

impl PathCurve {
    /// The whole length.
    pub fn length_m(&self) -> f64 {
        self.lengths_m.last().copied().unwrap_or_default()
    }
}

impl Path {
    /// Gives the nodes without a height that of the path, so that the height of a single one can be changed: where some
    /// node of a ridge or a valley has a height, that of the path does not count.
    pub fn hold_nodes(&mut self) {
        let height_m = self.height_m;
        self.nodes.iter_mut().for_each(|node| node.height_m = node.height_m.or(Some(height_m)));
    }

    /// Whether the curve is closed; rivers never are.
    pub fn is_closed(&self) -> bool {
        self.closed && self.kind != PathKind::River
    }

    /// The curve through the nodes. There are at least two.
    pub(crate) fn curve(&self) -> PathCurve {
        let nodes: Vec<[f64; 2]> = self.nodes.iter().map(|node| [node.at_m.x_m, node.at_m.z_m]).collect();
        let is_closed = self.is_closed();
        let Curve { points, tangents } = curve_through(&nodes, is_closed);
        let lengths_m = arc_lengths_m(&points);
        let width_m = |node: &PathNode| Some(node.width_m.unwrap_or(self.width_m));
        let widths_m = self.interpolated(&lengths_m, width_m, self.width_m);
        let halves_m = widths_m.into_iter().map(|width_m| 0.5 * width_m).collect();
        PathCurve { points, tangents, lengths_m, halves_m, is_closed }
    }

    /// A monotone cubic through the values of the nodes that have one, at every point of the curve; `otherwise` if none
    /// has.
    pub(super) fn interpolated(
        &self,
        lengths_m: &[f64],
        value: impl Fn(&PathNode) -> Option<f64>,
        otherwise: f64,
    ) -> Vec<f64> {
        let knot = |(i, node)| Some([lengths_m[i * PIECES_PER_SPAN], value(node)?]);
        let knots: Vec<[f64; 2]> = self.nodes.iter().enumerate().filter_map(knot).collect();
        if knots.is_empty() {
            return vec![otherwise; lengths_m.len()];
        }
        let cubic = match (self.is_closed(), lengths_m.last()) {
            (true, Some(length_m)) => MonotoneCubic::periodic(&knots, *length_m),
            _ => MonotoneCubic::new(knots),
        };
        lengths_m.iter().map(|at| cubic.at(*at)).collect()
    }

    /// The nodes that hold the height of a road or a river: their indices, arc lengths and heights.
    pub(super) fn held(&self, lengths_m: &[f64]) -> Vec<(usize, f64, f64)> {
        let held = |(i, node): (usize, &PathNode)| Some((i, lengths_m[i * PIECES_PER_SPAN], node.height_m?));
        self.nodes.iter().enumerate().filter_map(held).collect()
    }
}
