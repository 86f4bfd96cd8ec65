//! What a symmetry step that copies one part of the map discards of what was drawn below it.

use std::collections::BTreeSet;

use super::cast::ToInteger;
use super::mirroring::images;
use super::operations::AnyOperation;
use super::operations::pads::Pad;
use super::operations::stamps::Stamp;
use super::operations::symmetry::Symmetry;
use super::outline::{Centred, Outline};
use super::parameters::Point;
use super::recipe::Recipe;

/// Counts what was drawn by hand in the steps below a symmetry step and has no effect, because it lies outside the part
/// that is kept, such as "1 pad, 2 strokes"; empty if there is nothing, or if the step is no symmetry. What has an image
/// in the part that is kept does not count.
pub(super) fn discarded(recipe: &Recipe, step: usize) -> String {
    let Some(AnyOperation::Symmetry(symmetry)) = recipe.stack.get(step).map(|step| &step.operation) else {
        return String::new();
    };
    // A symmetry in a group leaves what is below the group.
    if recipe.placements()[step].parent.is_some() {
        return String::new();
    }
    let (mut strokes, mut paths, mut pads, mut stamps) = (0, 0, 0, 0);
    for (_, below) in recipe.active_steps().take_while(|(i, _)| *i < step) {
        let count = |items: Vec<Vec<Point>>| count(&items, symmetry, recipe);
        match &below.operation {
            AnyOperation::Sculpt(sculpt) => {
                let drawn = sculpt.strokes.iter().filter(|stroke| stroke.enabled);
                strokes += count(drawn.map(|stroke| stroke.points_m.to_vec()).collect());
            }
            AnyOperation::Paths(drawn) => {
                let drawn = drawn.paths.iter().filter(|path| path.enabled);
                paths += count(drawn.map(|path| path.nodes.iter().map(|node| node.at_m).collect()).collect());
            }
            AnyOperation::Pads(drawn) => {
                pads += count(drawn.pads.iter().filter_map(Pad::outline).map(|outline| box_points(&outline)).collect());
            }
            AnyOperation::Stamps(drawn) => {
                let outline = |stamp: &Stamp| {
                    Outline::turned(stamp.centre_m, stamp.size_m, stamp.turn_deg, Centred::Rectangle(0.0))
                };
                let drawn = drawn.stamps.iter().filter(|stamp| stamp.enabled);
                stamps += count(drawn.map(|stamp| box_points(&outline(stamp))).collect());
            }
            _ => {}
        }
    }
    let counted = [(strokes, "stroke"), (paths, "path"), (pads, "pad"), (stamps, "stamp")];
    let text = |(count, noun): (usize, &str)| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    counted.into_iter().filter(|(count, _)| *count > 0).map(text).collect::<Vec<_>>().join(", ")
}

/// The centre and the corners of the box around an outline.
fn box_points(outline: &Outline) -> Vec<Point> {
    let [west, north, east, south] = outline.bounds();
    let centre = [0.5 * (west + east), 0.5 * (north + south)];
    let points = [centre, [west, north], [east, north], [east, south], [west, south]];
    points.map(|[x_m, z_m]| Point { x_m, z_m }).to_vec()
}

/// How many items, each given by its points, have all of them in parts that are discarded, and no image elsewhere.
fn count(items: &[Vec<Point>], symmetry: &Symmetry, recipe: &Recipe) -> usize {
    let extent = recipe.world.extent();
    let is_lost = |point: &Point| symmetry.discards([point.x_m, point.z_m], extent);
    // To the centimetre. The images of a path may begin at its other end; the first point of a box is its centre.
    let rounded = |[x_m, z_m]: [f64; 2]| [x_m, z_m].map(|metres| (100.0 * metres).round().to_i64());
    let ends = |item: &[Point]| [item.first(), item.last()].into_iter().flatten().copied().collect::<Vec<Point>>();
    let kept = items.iter().filter(|item| !item.iter().all(is_lost));
    let kept: BTreeSet<[i64; 2]> =
        kept.flat_map(|item| ends(item)).map(|Point { x_m, z_m }| rounded([x_m, z_m])).collect();
    let has_image = |item: &[Point]| {
        let Some(Point { x_m, z_m }) = item.first() else { return true };
        images([*x_m, *z_m], extent, symmetry.kind).into_iter().any(|image| kept.contains(&rounded(image)))
    };
    items.iter().filter(|item| item.iter().all(is_lost) && !has_image(item)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::group::StepGroup;
    use crate::operations::pads::Pads;
    use crate::operations::sculpt::{Sculpt, Stroke};
    use crate::operations::symmetry::{Kind, Method, Side};
    use crate::recipe::{Step, World};

    #[test]
    fn items_outside_the_part_that_is_kept_are_counted_unless_they_have_images_in_it() {
        let point = |x_m: f64| Point { x_m, z_m: 100.0 };
        let stroke =
            |from_m: f64, to_m: f64| Stroke { points_m: vec![point(from_m), point(to_m)].into(), ..Stroke::default() };
        // The western half of 1000 m is kept. The second stroke is the image of the first, the third crosses the border.
        let strokes = [stroke(100.0, 200.0), stroke(900.0, 800.0), stroke(400.0, 700.0), stroke(700.0, 710.0)];
        let pads = [
            Pad { centre_m: point(800.0), ..Pad::default() },
            Pad { centre_m: point(750.0), enabled: false, ..Pad::default() },
            // It reaches across the border.
            Pad { centre_m: point(600.0), size_m: Point { x_m: 300.0, z_m: 50.0 }, ..Pad::default() },
        ];
        let symmetry = Symmetry {
            kind: Kind::MirrorEastWest,
            method: Method::Fold,
            keep: Side::West,
            blend_m: 20.0,
            ..Symmetry::default()
        };
        let recipe = |symmetry: Symmetry| Recipe {
            world: World { width_m: 1000.0, depth_m: 1000.0, ..World::default() },
            stack: vec![
                Step::new(Sculpt { strokes: strokes.to_vec().into() }),
                Step::new(Pads { pads: pads.to_vec().into() }),
                Step::new(symmetry),
            ],
            ..Recipe::default()
        };
        assert_eq!(discarded(&recipe(symmetry.clone()), 2), "1 stroke, 1 pad");
        assert_eq!(discarded(&recipe(symmetry.clone()), 1), "", "not a symmetry");
        let mut grouped = recipe(symmetry.clone());
        grouped.stack.push(Step::new(StepGroup::default()));
        grouped.stack[2].depth = 1;
        assert_eq!(discarded(&grouped, 2), "", "in a group");
        let averaged = Symmetry { method: Method::Sum, ..symmetry };
        assert_eq!(discarded(&recipe(averaged), 2), "", "all parts count");
    }
}
