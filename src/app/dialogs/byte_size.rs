//! Sizes of files and of memory.

use crate::engine::cast::ToFloat;

/// A number of bytes in kB, MB or GB.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..=999_999 => format!("{} kB", count.div_ceil(1000)),
        1_000_000..=999_999_999 => format!("{:.1} MB", count.to_f64() / 1e6),
        _ => format!("{:.1} GB", count.to_f64() / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_readable_units() {
        assert_eq!([1, 15_001, 2_340_000, 7_650_000_000].map(bytes), ["1 kB", "16 kB", "2.3 MB", "7.7 GB"]);
    }
}
