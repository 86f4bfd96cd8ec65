//! Mirroring of what is drawn by hand: an edit of a stroke, a path, a pad, a stamp or a drawn fault is repeated on its
//! images under a symmetry of the map.
//!
//! Images are found by where they are: an item that equals the image of another one follows the edits of that. So no
//! links between items are stored, and one that was moved by itself stays on its own.

use std::cmp::Ordering;

use super::heightfield::Extent;
use super::level::{Level, Marker, MarkerKind};
use super::mask::{Mask, PaintedStroke};
use super::operations::AnyOperation;
use super::operations::drawn_faults::DrawnFault;
use super::operations::pads::Pad;
use super::operations::paths::{Path, PathKind};
use super::operations::sculpt::Stroke;
use super::operations::stamps::{Mirror, Stamp};
use super::operations::symmetry::{Isometry, Kind};
use super::parameters::{List, Point};
use super::recipe::Recipe;
use super::step::Step;

/// A symmetry of a map: it moves places in metres.
#[derive(Clone, Copy, Debug)]
struct MapSymmetry {
    isometry: Isometry,
    extent: Extent,
}

impl MapSymmetry {
    /// The image of a place, to the nearest hundredth of a millimetre: so the image of an image is the place itself.
    fn place(self, at: Point) -> Point {
        let [x_m, z_m] = self.isometry.place_m([at.x_m, at.z_m], self.extent).map(rounded);
        Point { x_m, z_m }
    }

    fn places(self, places: &List<Point>) -> List<Point> {
        places.iter().map(|at| self.place(*at)).collect()
    }

    /// The clockwise turn of the image of something with that turn, if a reflection also swaps its west and east.
    fn turn_deg(self, turn_deg: f64) -> f64 {
        let (sin, cos) = libm::sincos(turn_deg.to_radians());
        let [x, z] = self.isometry.turned([-sin, cos]);
        normalized(libm::atan2(-x, z).to_degrees())
    }

    /// The image of a direction given by its azimuth.
    fn azimuth_deg(self, azimuth_deg: f64) -> f64 {
        normalized(self.isometry.azimuth_deg(azimuth_deg))
    }
}

fn rounded(number: f64) -> f64 {
    // Adding 0 turns −0 into 0.
    (1e5 * number).round() / 1e5 + 0.0
}

/// An angle from −180 to 180 degrees.
fn normalized(angle_deg: f64) -> f64 {
    let turned = rounded(angle_deg).rem_euclid(360.0);
    if turned > 180.0 { turned - 360.0 } else { turned }
}

/// Something drawn on the map.
trait Drawn: Clone + PartialEq {
    /// Its image under a symmetry of the map.
    fn image(&self, symmetry: MapSymmetry) -> Self;
}

impl Drawn for Stroke {
    fn image(&self, symmetry: MapSymmetry) -> Self {
        Self { points_m: symmetry.places(&self.points_m), ..self.clone() }
    }
}

impl Drawn for PaintedStroke {
    fn image(&self, symmetry: MapSymmetry) -> Self {
        Self { points_m: symmetry.places(&self.points_m), ..self.clone() }
    }
}

impl Drawn for Path {
    fn image(&self, symmetry: MapSymmetry) -> Self {
        let mut image = self.clone();
        image.nodes.iter_mut().for_each(|node| node.at_m = symmetry.place(node.at_m));
        if self.kind == PathKind::Fault && symmetry.isometry.reflects() {
            // The right side rises.
            image.nodes.reverse();
        }
        image
    }
}

impl Drawn for DrawnFault {
    fn image(&self, symmetry: MapSymmetry) -> Self {
        let ends = [symmetry.place(self.from_m), symmetry.place(self.to_m)];
        let [from_m, to_m] = if symmetry.isometry.reflects() { [ends[1], ends[0]] } else { ends };
        Self { from_m, to_m, ..self.clone() }
    }
}

impl Drawn for Pad {
    fn image(&self, symmetry: MapSymmetry) -> Self {
        Self {
            centre_m: symmetry.place(self.centre_m),
            points_m: symmetry.places(&self.points_m),
            turn_deg: symmetry.turn_deg(self.turn_deg),
            grade_azimuth_deg: symmetry.azimuth_deg(self.grade_azimuth_deg),
            ..self.clone()
        }
    }
}

impl Drawn for Stamp {
    fn image(&self, symmetry: MapSymmetry) -> Self {
        // Mirrored north–south is mirrored east–west and turned by half a turn.
        let (mirrored, turn_deg) = match self.mirror {
            Mirror::None => (false, self.turn_deg),
            Mirror::EastWest => (true, self.turn_deg),
            Mirror::NorthSouth => (true, self.turn_deg + 180.0),
        };
        let mirror = if mirrored != symmetry.isometry.reflects() { Mirror::EastWest } else { Mirror::None };
        let turn_deg = symmetry.turn_deg(turn_deg);
        Self { centre_m: symmetry.place(self.centre_m), turn_deg, mirror, ..self.clone() }
    }
}

/// Repeats the edits between two recipes, of strokes, paths, pads, stamps and drawn faults, on their images: images of
/// what was added are added, and those of what was changed or removed are changed or removed.
pub fn mirror_edits(before: &Recipe, after: &mut Recipe, kind: Kind) {
    let extent = after.world.extent();
    let symmetries: Vec<MapSymmetry> =
        kind.isometries()[1..].iter().map(|isometry| MapSymmetry { isometry: *isometry, extent }).collect();
    // Steps keep their places, or else their seeds, which may occur twice.
    let keeps_places = before.stack.len() == after.stack.len();
    for (i, step) in after.stack.iter_mut().enumerate() {
        let is_same = |known: &&Step| known.operation.key() == step.operation.key();
        let known = if keeps_places {
            before.stack.get(i).filter(is_same)
        } else {
            before.stack.iter().filter(is_same).find(|known| known.settings.seed == step.settings.seed)
        };
        if keeps_places && known.is_none() {
            continue;
        }
        let old = known.map_or_else(|| step.operation.emptied(), |known| known.operation.clone());
        match (&mut step.operation, &old) {
            (AnyOperation::Sculpt(now), AnyOperation::Sculpt(old)) => {
                mirror_list(&old.strokes, &mut now.strokes, &symmetries);
            }
            (AnyOperation::Paths(now), AnyOperation::Paths(old)) => {
                mirror_list(&old.paths, &mut now.paths, &symmetries);
            }
            (AnyOperation::Pads(now), AnyOperation::Pads(old)) => mirror_list(&old.pads, &mut now.pads, &symmetries),
            (AnyOperation::Stamps(now), AnyOperation::Stamps(old)) => {
                mirror_list(&old.stamps, &mut now.stamps, &symmetries);
            }
            (AnyOperation::DrawnFaults(now), AnyOperation::DrawnFaults(old)) => {
                mirror_list(&old.faults, &mut now.faults, &symmetries);
            }
            _ => {}
        }
        mirror_masks(known.map(|known| &known.settings.mask), &mut step.settings.mask, &symmetries);
    }
    // A mask that got another name, or was added or removed, was not drawn.
    if before.masks.keys().eq(after.masks.keys()) {
        for (known, mask) in before.masks.values().zip(after.masks.values_mut()) {
            mirror_masks(Some(known), mask, &symmetries);
        }
    }
    // A type that was added or removed was not drawn.
    if before.texture.types.len() != after.texture.types.len() {
        return;
    }
    let known = |i: usize| before.texture.types.get(i).map(|known| &known.mask);
    // The list is changed only where a type is: a changed list no longer shares its items with the document.
    let masks: Vec<_> = after.texture.types.iter().map(|terrain_type| terrain_type.mask.clone()).collect();
    for (i, mut mask) in masks.into_iter().enumerate() {
        mirror_masks(known(i), &mut mask, &symmetries);
        if mask != after.texture.types[i].mask {
            after.texture.types[i].mask = mask;
        }
    }
}

/// The images of a place under a symmetry of the map, metres.
pub fn images(place_m: [f64; 2], extent: Extent, kind: Kind) -> Vec<[f64; 2]> {
    kind.isometries()[1..].iter().map(|isometry| isometry.place_m(place_m, extent)).collect()
}

/// Repeats the edits of markers between two levels on their images. The image of a spawn belongs to a team of its own.
pub fn mirror_markers(before: &Level, after: &mut Level, extent: Extent, kind: Kind) {
    if before.markers == after.markers {
        return;
    }
    let images = |at: Point| -> Vec<Point> {
        let of = |isometry: &Isometry| MapSymmetry { isometry: *isometry, extent }.place(at);
        kind.isometries()[1..].iter().map(of).collect()
    };
    let places = |level: &Level| level.markers.iter().map(|marker| (marker.kind, marker.at_m)).collect::<Vec<_>>();
    let (old, new) = (places(before), places(after));
    match new.len().cmp(&old.len()) {
        Ordering::Greater => {
            for (marker_kind, at_m) in new.iter().filter(|marker| !old.contains(marker)) {
                for image in images(*at_m) {
                    if after.markers.iter().all(|marker| marker.at_m != image) {
                        let like =
                            after.markers.iter().find(|marker| marker.at_m == *at_m).cloned().unwrap_or_default();
                        let has_team = *marker_kind == MarkerKind::Spawn && !like.team.is_empty();
                        let team = if has_team { after.unused_team() } else { like.team.clone() };
                        let name = after.unused_name(*marker_kind);
                        after.markers.push(Marker { name, team, at_m: image, ..like });
                    }
                }
            }
        }
        Ordering::Less => {
            for (marker_kind, at_m) in old.iter().filter(|marker| !new.contains(marker)) {
                let images = images(*at_m);
                let is_image = |marker: &Marker| marker.kind == *marker_kind && images.contains(&marker.at_m);
                let kept = after.markers.iter().filter(|marker| !is_image(marker)).cloned();
                after.markers = kept.collect();
            }
        }
        Ordering::Equal => {
            for (i, ((marker_kind, from_m), (_, to_m))) in old.iter().zip(&new).enumerate() {
                let edited = after.markers[i].clone();
                for (image_from, image_to) in images(*from_m).into_iter().zip(images(*to_m)) {
                    let known = |marker: &Marker| marker.kind == *marker_kind && marker.at_m == image_from;
                    let is_image = |(j, marker): (usize, &Marker)| (j != i && known(marker)).then_some(j);
                    let found = after.markers.iter().enumerate().find_map(is_image);
                    if let Some(found) = found.filter(|_| before.markers[i] != edited) {
                        let own = after.markers[found].clone();
                        after.markers[found] =
                            Marker { name: own.name, team: own.team, at_m: image_to, ..edited.clone() };
                    }
                }
            }
        }
    }
}

/// Mirrors the edits of painted strokes in the sources of a mask.
fn mirror_masks(before: Option<&List<Mask>>, after: &mut List<Mask>, symmetries: &[MapSymmetry]) {
    if before.is_some_and(|before| before == after) {
        return;
    }
    for i in 0..after.len() {
        let known = before.and_then(|before| before.get(i)).map(|mask| mask.strokes.clone()).unwrap_or_default();
        if known != after[i].strokes {
            mirror_list(&known, &mut after[i].strokes, symmetries);
        }
    }
}

/// Mirrors the edits between two lists.
fn mirror_list<T: Drawn>(before: &List<T>, after: &mut List<T>, symmetries: &[MapSymmetry]) {
    if before == after {
        return;
    }
    let first = before.iter().zip(after.iter()).take_while(|(old, new)| old == new).count();
    let rest = before[first..].iter().rev().zip(after[first..].iter().rev());
    let last = rest.take_while(|(old, new)| old == new).count();
    let (removed, added) = (&before[first..before.len() - last], first..after.len() - last);
    // Images are behind what they are images of, unless that was edited instead.
    let other = |list: &[T], of: &T, but: usize, symmetry: MapSymmetry| {
        let image = of.image(symmetry);
        (0..list.len()).rev().find(|&i| i != but && list[i] == image)
    };
    if removed.len() == added.len() {
        let edited: Vec<(T, usize)> = removed.iter().cloned().zip(added).collect();
        for (old, i) in edited {
            for symmetry in symmetries {
                if let Some(image) = other(after, &old, i, *symmetry) {
                    after[image] = after[i].image(*symmetry);
                }
            }
        }
    } else if removed.is_empty() {
        for i in added {
            for symmetry in symmetries {
                let image = after[i].image(*symmetry);
                if image != after[i] && !after.contains(&image) {
                    after.push(image);
                }
            }
        }
    } else if added.is_empty() {
        for old in removed {
            for symmetry in symmetries {
                if let Some(image) = other(after, old, usize::MAX, *symmetry) {
                    after.remove(image);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::{Grid, Heightfield};
    use crate::inputs::Inputs;
    use crate::operations::drawn_faults::DrawnFaults;
    use crate::operations::pads::Pads;
    use crate::operations::paths::{PathNode, Paths};
    use crate::operations::sculpt::Sculpt;
    use crate::progress::Progress;
    use crate::stack::evaluate;

    fn point(x_m: f64, z_m: f64) -> Point {
        Point { x_m, z_m }
    }

    fn strokes(recipe: &Recipe) -> &List<Stroke> {
        match &recipe.stack[0].operation {
            AnyOperation::Sculpt(Sculpt { strokes }) => strokes,
            other => panic!("{other:?}"),
        }
    }

    fn strokes_mut(recipe: &mut Recipe) -> &mut List<Stroke> {
        match &mut recipe.stack[0].operation {
            AnyOperation::Sculpt(Sculpt { strokes }) => strokes,
            other => panic!("{other:?}"),
        }
    }

    fn places(recipe: &Recipe) -> Vec<[f64; 2]> {
        strokes(recipe).iter().map(|stroke| [stroke.points_m[0].x_m, stroke.points_m[0].z_m]).collect()
    }

    #[test]
    fn what_is_added_changed_and_removed_is_repeated_on_its_images() {
        let empty = Recipe { stack: vec![Step::new(Sculpt::default())], ..Default::default() };
        let stroke = |x_m, z_m| Stroke { points_m: vec![point(x_m, z_m)].into(), ..Default::default() };
        let edit = |recipe: &mut Recipe, kind: Kind, change: &dyn Fn(&mut List<Stroke>)| {
            let before = recipe.clone();
            change(strokes_mut(recipe));
            mirror_edits(&before, recipe, kind);
        };
        let mut recipe = empty.clone();
        edit(&mut recipe, Kind::BothMirrors, &|strokes| strokes.push(stroke(1000.0, 500.25)));
        let first = [[1000.0, 500.25], [3096.0, 500.25], [1000.0, 3595.75], [3096.0, 3595.75]];
        assert_eq!(places(&recipe), first);
        // An image is moved: the others follow.
        edit(&mut recipe, Kind::BothMirrors, &|strokes| strokes[1].points_m = vec![point(3000.0, 600.0)].into());
        assert_eq!(places(&recipe), [[1096.0, 600.0], [3000.0, 600.0], [1096.0, 3496.0], [3000.0, 3496.0]]);
        edit(&mut recipe, Kind::BothMirrors, &|strokes| drop(strokes.remove(2)));
        assert_eq!(places(&recipe), [[0.0; 2]; 0]);
        // On the axis there is one only.
        edit(&mut recipe, Kind::MirrorEastWest, &|strokes| strokes.push(stroke(2048.0, 7.0)));
        assert_eq!(places(&recipe), [[2048.0, 7.0]]);
        // A quarter turn and its inverse are not mixed up.
        edit(&mut recipe, Kind::MirrorEastWest, &|strokes| strokes.clear());
        edit(&mut recipe, Kind::Rotate4, &|strokes| strokes.push(stroke(100.0, 20.0)));
        edit(&mut recipe, Kind::Rotate4, &|strokes| strokes[1].points_m = vec![point(4000.0, 90.0)].into());
        assert_eq!(places(&recipe), [[90.0, 96.0], [4000.0, 90.0], [96.0, 4006.0], [4006.0, 4000.0]]);
        // Panel edits of other things draw nothing, even where seeds are equal.
        let unmirrored = {
            let mut recipe = empty.clone();
            strokes_mut(&mut recipe).push(stroke(10.0, 20.0));
            recipe.stack.push(Step::new(Sculpt::default()));
            recipe
        };
        let mut seeded = unmirrored.clone();
        seeded.stack[0].settings.seed = 7;
        mirror_edits(&unmirrored, &mut seeded, Kind::BothMirrors);
        assert_eq!(places(&seeded), [[10.0, 20.0]]);
        // One that has no image stays alone.
        let mut alone = empty;
        strokes_mut(&mut alone).push(stroke(10.0, 20.0));
        edit(&mut alone, Kind::Rotate4, &|strokes| strokes[0].radius_m = 99.0);
        assert_eq!(places(&alone), [[10.0, 20.0]]);
        edit(&mut alone, Kind::Rotate4, &|strokes| strokes.push(stroke(100.0, 20.0)));
        assert_eq!(places(&alone)[1..], [[100.0, 20.0], [4076.0, 100.0], [20.0, 3996.0], [3996.0, 4076.0]]);
    }

    #[test]
    fn markers_are_mirrored_for_teams_of_their_own() {
        let extent = Recipe::default().world.extent();
        let edit = |level: &mut Level, kind: Kind, change: &dyn Fn(&mut List<Marker>)| {
            let before = level.clone();
            change(&mut level.markers);
            mirror_markers(&before, level, extent, kind);
        };
        let marker = |kind, team: &str, x_m, z_m| Marker {
            kind,
            name: "Base".into(),
            team: team.into(),
            at_m: point(x_m, z_m),
            ..Marker::default()
        };
        let mut level = Level::default();
        edit(&mut level, Kind::Rotate4, &|markers| markers.push(marker(MarkerKind::Spawn, "1", 100.0, 20.0)));
        let found = |level: &Level| -> Vec<(String, String, [f64; 2])> {
            let row = |marker: &Marker| (marker.name.clone(), marker.team.clone(), [marker.at_m.x_m, marker.at_m.z_m]);
            level.markers.iter().map(row).collect()
        };
        let row = |name: &str, team: &str, at| (name.to_string(), team.to_string(), at);
        let all = [
            row("Base", "1", [100.0, 20.0]),
            row("Spawn 1", "2", [4076.0, 100.0]),
            row("Spawn 2", "3", [20.0, 3996.0]),
            row("Spawn 3", "4", [3996.0, 4076.0]),
        ];
        let mut sorted = found(&level);
        sorted.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(sorted.iter().map(|row| &row.0).collect::<Vec<_>>(), ["Base", "Spawn 1", "Spawn 2", "Spawn 3"]);
        let mut places: Vec<[f64; 2]> = sorted.iter().map(|row| row.2).collect();
        let mut expected: Vec<[f64; 2]> = all.iter().map(|row| row.2).collect();
        for places in [&mut places, &mut expected] {
            places.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        }
        assert_eq!(places, expected);
        edit(&mut level, Kind::Rotate4, &|markers| markers[0].at_m = point(200.0, 20.0));
        assert!(found(&level).iter().any(|row| row.2 == [3896.0, 4076.0]), "{level:?}");
        // Onto the axis and on: the image follows.
        let mut pair = Level::default();
        edit(&mut pair, Kind::MirrorEastWest, &|markers| markers.push(marker(MarkerKind::Spawn, "1", 1000.0, 20.0)));
        for x_m in [2048.0, 2100.0] {
            edit(&mut pair, Kind::MirrorEastWest, &|markers| markers[0].at_m.x_m = x_m);
        }
        assert_eq!(pair.markers.iter().map(|marker| marker.at_m.x_m).collect::<Vec<_>>(), [2100.0, 1996.0]);
        edit(&mut pair, Kind::MirrorEastWest, &|markers| {
            (markers[0].kind, markers[0].eye_m) = (MarkerKind::Objective, 9.0);
        });
        assert!(pair.markers.iter().all(|marker| marker.kind == MarkerKind::Objective && marker.eye_m == 9.0));
        // Names and teams are changed one by one.
        edit(&mut level, Kind::Rotate4, &|markers| markers[1].team = "blue".into());
        assert_eq!(level.markers.iter().filter(|marker| marker.team == "blue").count(), 1);
        edit(&mut level, Kind::Rotate4, &|markers| drop(markers.remove(0)));
        assert!(level.markers.is_empty());
        // An objective in the middle is its own image; elsewhere both have no team.
        edit(&mut level, Kind::Rotate2, &|markers| {
            markers.push(marker(MarkerKind::Objective, "", 2048.0, 2048.0));
        });
        edit(&mut level, Kind::Rotate2, &|markers| markers.push(marker(MarkerKind::Objective, "", 0.0, 1.0)));
        assert_eq!(found(&level)[2], row("Objective 1", "", [4096.0, 4095.0]));
        assert_eq!(level.markers.len(), 3);
    }

    #[test]
    fn the_first_item_of_a_new_step_and_the_paint_of_a_type_are_mirrored() {
        let before = Recipe { texture: crate::texture::TextureRecipe::starter(), ..Default::default() };
        let mut after = before.clone();
        let stroke = Stroke { points_m: vec![point(5.0, 6.0)].into(), ..Default::default() };
        after.stack.push(Step::new(Sculpt { strokes: vec![stroke].into() }));
        let paint = PaintedStroke { points_m: vec![point(5.0, 6.0)].into(), ..Default::default() };
        after.texture.types[0].mask = vec![Mask { strokes: vec![paint].into(), ..Default::default() }].into();
        mirror_edits(&before, &mut after, Kind::MirrorNorthSouth);
        assert_eq!(places(&after), [[5.0, 6.0], [5.0, 4090.0]]);
        let painted = &after.texture.types[0].mask[0].strokes;
        assert_eq!((painted.len(), painted[1].points_m[0]), (2, point(5.0, 4090.0)));
    }

    /// The terrain of the items and their images equals its own image.
    #[track_caller]
    fn check_symmetric(kind: Kind, operation: AnyOperation, empty: AnyOperation) {
        let before = Recipe { stack: vec![Step::new(empty)], ..Default::default() };
        let mut after = Recipe { stack: vec![Step::new(operation)], ..before.clone() };
        mirror_edits(&before, &mut after, kind);
        let grid = Grid::new(after.world.extent(), 65, 65);
        let terrain = evaluate(&after, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled");
        let at = |terrain: &Heightfield, [c, r]: [usize; 2]| terrain[(c, r)];
        for isometry in kind.isometries() {
            for sample in (0..65 * 65).map(|i| [i % 65, i / 65]) {
                let moved = isometry.place_m(sample.map(|i| 64.0 * i as f64), after.world.extent());
                let moved = moved.map(|m| (m / 64.0).round() as usize);
                let (found, expected) = (at(&terrain, moved), at(&terrain, sample));
                assert!(
                    (found - expected).abs() < 0.02,
                    "{kind:?}: {found} m at {moved:?}, {expected} m at {sample:?}"
                );
            }
        }
        assert!(terrain.min_max()[1] > terrain.min_max()[0], "something was drawn");
    }

    #[test]
    fn mirrored_terrain_is_symmetric() {
        for kind in Kind::ALL.iter().copied() {
            let pad = Pad {
                centre_m: point(800.0, 500.0),
                size_m: point(500.0, 200.0),
                turn_deg: 25.0,
                height_m: Some(40.0),
                grade: 0.1,
                grade_azimuth_deg: 70.0,
                ..Default::default()
            };
            let empty = Pads { pads: List::default() };
            check_symmetric(kind, Pads { pads: vec![pad].into() }.into(), empty.into());
            let nodes = [[300.0, 900.0], [700.0, 500.0], [1200.0, 400.0]];
            let node = |[x_m, z_m]: [f64; 2]| PathNode { at_m: point(x_m, z_m), ..Default::default() };
            let path = Path {
                kind: PathKind::Fault,
                nodes: nodes.map(node).into_iter().collect(),
                reach_m: Some(200.0),
                ..Default::default()
            };
            check_symmetric(kind, Paths { paths: vec![path].into() }.into(), Paths { paths: List::default() }.into());
            let fault = DrawnFault {
                from_m: point(300.0, 900.0),
                to_m: point(900.0, 300.0),
                reach_m: Some(300.0),
                ..Default::default()
            };
            let empty = DrawnFaults { faults: List::default() };
            check_symmetric(kind, DrawnFaults { faults: vec![fault].into() }.into(), empty.into());
        }
    }

    #[test]
    fn images_of_stamps_are_mirrored_and_turned() {
        let extent = Recipe::default().world.extent();
        let stamp = Stamp { centre_m: point(1000.0, 700.0), turn_deg: 30.0, ..Default::default() };
        let image = |stamp: &Stamp, kind: Kind| {
            let image = stamp.image(MapSymmetry { isometry: kind.isometries()[1], extent });
            (image.centre_m, image.turn_deg, image.mirror)
        };
        assert_eq!(image(&stamp, Kind::MirrorEastWest), (point(3096.0, 700.0), -30.0, Mirror::EastWest));
        assert_eq!(image(&stamp, Kind::MirrorNorthSouth), (point(1000.0, 3396.0), 150.0, Mirror::EastWest));
        assert_eq!(image(&stamp, Kind::Rotate2), (point(3096.0, 3396.0), -150.0, Mirror::None));
        assert_eq!(image(&stamp, Kind::Rotate4), (point(3396.0, 1000.0), 120.0, Mirror::None));
        let mirrored = Stamp { mirror: Mirror::NorthSouth, ..stamp };
        assert_eq!(image(&mirrored, Kind::MirrorEastWest), (point(3096.0, 700.0), 150.0, Mirror::None));
    }
}
