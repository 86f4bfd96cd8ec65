//! What is below the steps of a stack with groups.

use crate::groups::Placement;

/// Something that every step changes, such as the terrain, as it is below the groups around the next step.
#[derive(Clone, Debug)]
pub(super) struct BelowGroups<T>(
    /// Each with the index of the group's first member.
    pub Vec<(usize, T)>,
);

impl<T> Default for BelowGroups<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> BelowGroups<T> {
    /// What is below step `i`, and for a group, what its members have made of it. `before` is what the step before left, and
    /// `flat` what a group begins on that begins on flat terrain. Steps are visited in order.
    pub fn visit(&mut self, placements: &[Placement], i: usize, before: T, flat: T) -> (T, Option<T>) {
        let (placement, above) = (placements[i], &placements[i + 1..]);
        if above.iter().any(|other| other.first == i) {
            self.0.push((i, before.clone()));
        }
        let of_members = (placement.first < i).then(|| before.clone());
        let below = match self.0.iter().rfind(|(first, _)| *first == placement.first) {
            _ if placement.begins_flat => flat,
            Some((_, below)) => below.clone(),
            None => before,
        };
        self.0.retain(|(first, _)| above.iter().any(|other| other.first == *first));
        (below, of_members)
    }
}
