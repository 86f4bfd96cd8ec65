//! The heightmap sizes that programs support.

/// The heightmap sizes that a program supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Any size.
    Any,
    /// At most this many samples along a side.
    UpTo(usize),
    /// Square: a power of two plus a constant.
    PowersOfTwo {
        /// The constant.
        plus: usize,
        /// The smallest side.
        min: usize,
        /// The largest side.
        max: usize,
    },
    /// Square: exactly this many samples.
    Exactly(usize),
    /// Complete Unreal components, at most 1024.
    Components,
    /// Multiples of this many samples along both sides.
    MultiplesOf(usize),
}

/// Quads along a side of an Unreal component: one section or 2 × 2, each of 7, 15, … 255 quads.
pub(super) const QUADS: [usize; 12] = [510, 255, 254, 127, 126, 63, 62, 31, 30, 15, 14, 7];

/// The sides that Unreal's documentation recommends, which make the best use of the components.
pub(super) const RECOMMENDED: [usize; 7] = [127, 253, 505, 1009, 2017, 4033, 8129];

impl Sizes {
    /// The allowed sides in ascending order, or the recommended ones if there are many. Empty if any side is allowed.
    pub fn sides(self) -> Vec<usize> {
        match self {
            Self::Any | Self::UpTo(_) | Self::MultiplesOf(_) => Vec::new(),
            Self::PowersOfTwo { plus, min, max } => {
                let sides = (1..=16).map(|power| (1 << power) + plus);
                sides.filter(|side| (min..=max).contains(side)).collect()
            }
            Self::Exactly(side) => vec![side],
            Self::Components => RECOMMENDED.to_vec(),
        }
    }

    /// Whether both sides must be equal.
    pub fn is_square(self) -> bool {
        matches!(self, Self::PowersOfTwo { .. } | Self::Exactly(_))
    }

    /// The allowed side nearest to this one.
    pub fn nearest(self, side: usize) -> usize {
        match self {
            Self::UpTo(max) => side.min(max),
            Self::MultiplesOf(step) => ((side + step / 2) / step).max(1) * step,
            _ => self.sides().into_iter().min_by_key(|allowed| allowed.abs_diff(side)).unwrap_or(side),
        }
    }

    /// Whether a heightmap can have this size.
    pub fn allows(self, [width, height]: [usize; 2]) -> bool {
        match self {
            Self::Any => true,
            Self::UpTo(max) => width.max(height) <= max,
            Self::MultiplesOf(step) => width.is_multiple_of(step) && height.is_multiple_of(step),
            Self::PowersOfTwo { .. } | Self::Exactly(_) => width == height && self.sides().contains(&width),
            Self::Components => QUADS.iter().any(|quads| {
                let is_complete = |side: usize| side > 1 && (side - 1).is_multiple_of(*quads);
                is_complete(width) && is_complete(height) && (width - 1) / quads * ((height - 1) / quads) <= 1024
            }),
        }
    }

    /// The rule of the sizes, for a short message.
    pub fn rule(self) -> String {
        match self {
            Self::Any => "any size".into(),
            Self::UpTo(max) => format!("up to {max} samples along a side"),
            Self::MultiplesOf(step) => format!("multiples of {step} samples"),
            Self::PowersOfTwo { plus: 0, .. } => "powers of two".into(),
            Self::PowersOfTwo { plus, .. } => format!("powers of two plus {plus}"),
            Self::Exactly(side) => format!("{side} × {side} samples"),
            Self::Components => "whole components".into(),
        }
    }

    /// All sizes, for lists and messages.
    pub fn describe(self) -> String {
        match self {
            Self::Any => "any size".into(),
            Self::UpTo(max) => format!("up to {max} along a side"),
            Self::MultiplesOf(step) => format!("multiples of {step}"),
            Self::PowersOfTwo { plus: 0, min, max } => format!("square, powers of two from {min} to {max}"),
            Self::PowersOfTwo { plus, min, max } => {
                format!("square, powers of two plus {plus}, from {min} to {max}")
            }
            Self::Exactly(side) => format!("{side} × {side}"),
            Self::Components => "127, 253, 505, 1009, 2017, 4033, 8129, or other whole components".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_unity_and_unreal_are_known() {
        let unity = Sizes::PowersOfTwo { plus: 1, min: 33, max: 4097 };
        assert!([33, 513, 4097].into_iter().all(|side| unity.allows([side; 2])));
        assert!([17, 512, 1000, 8193].into_iter().all(|side| !unity.allows([side; 2])));
        assert!(!unity.allows([513, 257]));
        assert_eq!((unity.nearest(1000), unity.nearest(9000)), (1025, 4097));
        let unreal = Sizes::Components;
        for side in [127, 253, 505, 1009, 2017, 4033, 8129] {
            assert!(unreal.allows([side; 2]), "{side}");
        }
        assert!(unreal.allows([2017, 1009]) && !unreal.allows([1025, 1025]) && !unreal.allows([8129, 8130]));
        assert_eq!(unreal.nearest(1025), 1009);
        assert_eq!(Sizes::UpTo(4096).nearest(5000), 4096);
        let regions = Sizes::MultiplesOf(64);
        assert_eq!((regions.nearest(1025), regions.nearest(2017)), (1024, 2048));
        assert_eq!(regions.nearest(20), 64);
        assert!(regions.allows([1024, 448]) && !regions.allows([1024, 449]));
    }
}
