//! The drawn faults that the maps show. They are looked up again only when the faults or the section of a map change.

use std::sync::Arc;

use egui::{Id, Pos2, Rect};

use crate::app::tools::fault_tool::drawn_faults::{FaultIndex, as_drawn, enabled_lists, enabled_own_lists};
use crate::app::views::map_transform::MapTransform;
use crate::engine::operations::drawn_faults::DrawnFault;
use crate::engine::operations::faults::OwnFault;
use crate::engine::parameters::List;
use crate::engine::recipe::Recipe;

/// The most faults that a map shows: those that were drawn last.
const MAX_SHOWN: usize = 2000;

/// The drawn faults that the maps show.
#[derive(Debug, Default)]
pub(super) struct ShownFaults {
    maps: Vec<MapFaults>,
}

/// The faults that one map shows.
#[derive(Debug)]
struct MapFaults {
    map: Id,
    section: Section,
    /// The enabled steps with drawn faults, and those with edited random faults.
    steps: Vec<(usize, List<DrawnFault>)>,
    own: Vec<(usize, List<OwnFault>)>,
    /// The faults within the section, the last ones if they are too many.
    faults: Arc<[FaultIndex]>,
    /// How many there are within the section.
    count: usize,
}

/// The section of the world that a map shows, and its place on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Section {
    clip: Rect,
    corner: Pos2,
    pixels_per_m: f32,
}

impl ShownFaults {
    /// The faults that a map shows.
    pub(super) fn on(&mut self, transform: &MapTransform, recipe: &Recipe) -> Arc<[FaultIndex]> {
        let MapTransform { response, painter, pixels_per_m, corner, .. } = transform;
        let section = Section { clip: painter.clip_rect(), corner: *corner, pixels_per_m: *pixels_per_m };
        let is_known = |known: &MapFaults| {
            known.section == section
                && are_same(&known.steps, enabled_lists(recipe))
                && are_same(&known.own, enabled_own_lists(recipe))
        };
        if let Some(known) = self.maps.iter().find(|known| known.map == response.id && is_known(known)) {
            return known.faults.clone();
        }
        let seen = section.clip.expand(MARGIN);
        let [north_west, south_east] = [seen.min, seen.max].map(|corner| transform.place_m(corner));
        // Compared in metres, without a copy: there can be hundreds of thousands.
        let is_in_sight = |DrawnFault { from_m: from, to_m: to, .. }: &DrawnFault| {
            from.x_m.max(to.x_m) >= north_west[0]
                && from.x_m.min(to.x_m) <= south_east[0]
                && from.z_m.max(to.z_m) >= north_west[1]
                && from.z_m.min(to.z_m) <= south_east[1]
        };
        let mut in_sight: Vec<FaultIndex> = Vec::new();
        for (step, faults) in enabled_lists(recipe) {
            let places = faults.iter().enumerate().filter(|(_, fault)| is_in_sight(fault));
            in_sight.extend(places.map(|(fault, _)| FaultIndex { step, fault }));
        }
        for (step, own) in enabled_own_lists(recipe) {
            let places = own.iter().enumerate().filter(|(_, own)| is_in_sight(&as_drawn(own, recipe.world.extent())));
            in_sight.extend(places.map(|(fault, _)| FaultIndex { step, fault }));
        }
        let count = in_sight.len();
        let faults: Arc<[FaultIndex]> = in_sight[count.saturating_sub(MAX_SHOWN)..].into();
        self.maps.retain(|known| known.map != response.id);
        let steps = enabled_lists(recipe).map(|(step, faults)| (step, faults.clone())).collect();
        let own = enabled_own_lists(recipe).map(|(step, own)| (step, own.clone())).collect();
        self.maps.push(MapFaults { map: response.id, section, steps, own, faults: faults.clone(), count });
        faults
    }

    /// How many faults a map shows, and of how many in view, if it does not show all.
    pub(super) fn limited(&self, map: Id) -> Option<[usize; 2]> {
        let known = self.maps.iter().find(|known| known.map == map)?;
        (known.faults.len() < known.count).then_some([known.faults.len(), known.count])
    }
}

/// The width of a line and its highlight, points.
const MARGIN: f32 = 4.0;

/// Whether these are still the lists of the enabled steps.
fn are_same<'a, T: 'a>(known: &[(usize, List<T>)], mut lists: impl Iterator<Item = (usize, &'a List<T>)>) -> bool {
    let mut known = known.iter();
    let is_next = |(step, faults)| known.next().is_some_and(|(at, known)| *at == step && known.shares_with(faults));
    lists.all(is_next) && known.next().is_none()
}
