//! What an operation says about its parts once they are built: lengths, grades, volumes.

use crate::cast::ToInteger;
use crate::heightfield::Heightfield;
use crate::parameters::grouped;

/// The report on one part of a step, such as a road or a building pad.
#[derive(Clone, Debug, PartialEq)]
pub struct PartReport {
    /// The part: "Path 1 (road)".
    pub title: String,
    /// Its measures, in words.
    pub text: String,
    /// What is wrong with it, and what to do.
    pub warning: Option<String>,
    /// What it is like along its line, if it has one.
    pub line: Option<PartLine>,
    /// Places that should keep the heights that the step gives them, metres east and south.
    pub kept_m: Vec<[f64; 2]>,
}

/// The change of a place that should keep its height that is worth a warning, metres.
pub(super) const MIN_CHANGE_M: f64 = 1.0;

impl PartReport {
    /// Warns if the terrain after the last step, or the same with its symmetries restored, differs from that after the
    /// step where it should not.
    pub fn compare(&mut self, after: &Heightfield, last: &Heightfield, symmetric: Option<&Heightfield>) {
        let height_m = |terrain: &Heightfield, [x_m, z_m]: [f64; 2]| f64::from(terrain.height_at(x_m, z_m));
        let greatest_m = |from: &Heightfield, to: &Heightfield| {
            let change_m = |at: &[f64; 2]| (height_m(to, *at) - height_m(from, *at)).abs();
            self.kept_m.iter().map(change_m).fold(0.0, f64::max)
        };
        let (by_steps_m, by_symmetry_m) =
            (greatest_m(after, last), symmetric.map_or(0.0, |symmetric| greatest_m(last, symmetric)));
        let steps = format!("steps above change it by up to {by_steps_m:.0} m; move this step above them");
        let symmetry = format!(
            "it is averaged with its images, which changes it by up to {by_symmetry_m:.0} m: draw it with Mirror edits on, \
             and end it before it meets its image, because each would change the other"
        );
        let warnings = self.warning.take().into_iter();
        let warnings = warnings.chain((by_steps_m > MIN_CHANGE_M).then_some(steps));
        let warnings: Vec<String> = warnings.chain((by_symmetry_m > MIN_CHANGE_M).then_some(symmetry)).collect();
        self.warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    }
}

/// What a part, such as a road, is like along its line.
#[derive(Clone, Debug, PartialEq)]
pub struct PartLine {
    /// The index of the part in its step.
    pub item: usize,
    /// Places along it, from the first to the last.
    pub points: Vec<LinePoint>,
}

/// What a road or a river is like at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// The place, metres east and south of the map's north-west corner.
    pub at_m: [f64; 2],
    /// Half the width there.
    pub half_m: f64,
    /// The grade from there to the next place, as a share of the greatest one that is allowed.
    pub grade_share: f64,
    /// Whether the bend there is tighter than half the width.
    pub is_tight: bool,
    /// The height above the terrain before; negative in cuts, metres.
    pub fill_m: f64,
}

/// A whole number with its thousands separated by commas, rounded to three significant digits if it is longer: 12,300.
pub(super) fn three_digits(number: f64) -> String {
    let magnitude = if number.abs() < 1000.0 { 1.0 } else { libm::pow(10.0, libm::log10(number.abs()).floor() - 2.0) };
    let rounded = ((number / magnitude).round() * magnitude).round();
    format!("{}{}", if rounded < 0.0 { "-" } else { "" }, grouped(rounded.abs().to_usize()))
}

/// A length in metres or kilometres.
pub(super) fn length(metres: f64) -> String {
    if metres < 1000.0 { format!("{metres:.0} m") } else { format!("{:.2} km", metres / 1000.0) }
}

/// The volumes that are taken away and added.
pub(super) fn volumes([cut_m3, fill_m3]: [f64; 2]) -> String {
    format!("cut {} m³, fill {} m³", three_digits(cut_m3), three_digits(fill_m3))
}

/// A place on the map.
pub(super) fn place([x_m, z_m]: [f64; 2]) -> String {
    format!("x {} m, z {} m", three_digits(x_m), three_digits(z_m))
}

/// The report on the differences between equal parts of the map that were removed after the last step; `None` for a
/// step in a group, after which the symmetry is not restored. `is_partial` says that the step has a mask or not its
/// full strength; `discarded` counts what was drawn in parts that are not kept.
pub(crate) fn symmetry_report(removed_m: Option<f32>, is_partial: bool, discarded: &str) -> PartReport {
    let text = match removed_m.map(f64::from) {
        _ if is_partial => "only where the mask of this step has its full weight, at a strength of 1".into(),
        None => "only what is in the group is symmetric: it is not restored after the last step".into(),
        Some(0.0) => "the map is symmetric after the last step".into(),
        Some(removed_m) => {
            format!("later steps broke the symmetry by up to {removed_m:.2} m; it is restored after the last step")
        }
    };
    let warning = if is_partial {
        Some(
            "the map is not symmetric: remove the mask of this step, and set its strength to 1 and its blend to Replace"
                .into(),
        )
    } else if discarded.is_empty() {
        None
    } else {
        Some(format!("discards what lies outside the part that is kept: {discarded}"))
    };
    PartReport { title: "Symmetry".into(), text, warning, line: None, kept_m: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_rounded_and_grouped() {
        let written = [0.2, 999.4, 1234.0, 12_345.0, 999_900.0, 2_345_678.0, -12_345.0].map(three_digits);
        assert_eq!(written, ["0", "999", "1,230", "12,300", "1,000,000", "2,350,000", "-12,300"]);
        assert_eq!([length(420.4), length(2345.0)], ["420 m", "2.35 km"]);
    }
}
