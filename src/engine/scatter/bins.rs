//! Finds points near a place.

use crate::cast::{ToFloat, ToInteger};

/// The most bins along a side.
const MOST: usize = 2048;

/// Points of the world, sorted into square bins.
pub(super) struct Bins {
    side_m: f64,
    columns: usize,
    rows: usize,
    /// Where the points of each bin begin, row by row, and where the last ones end.
    starts: Vec<usize>,
    points: Vec<[f64; 2]>,
    distance_m: f64,
}

impl Bins {
    /// Sorts points within a world of `size_m`, to find those closer than a distance.
    pub fn new(points: impl Iterator<Item = [f64; 2]> + Clone, size_m: [f64; 2], distance_m: f64) -> Self {
        let longest_m = size_m[0].max(size_m[1]);
        let side_m = distance_m.max(longest_m / MOST.to_f64());
        let [columns, rows] = size_m.map(|side| (side / side_m).to_usize() + 1);
        let mut bins = Self { side_m, columns, rows, starts: Vec::new(), points: Vec::new(), distance_m };
        let mut starts = vec![0; columns * rows + 1];
        for at_m in points.clone() {
            starts[bins.bin(at_m) + 1] += 1;
        }
        for bin in 0..columns * rows {
            starts[bin + 1] += starts[bin];
        }
        let mut next = starts.clone();
        let mut sorted = vec![[0.0; 2]; starts[columns * rows]];
        for at_m in points {
            let bin = bins.bin(at_m);
            sorted[next[bin]] = at_m;
            next[bin] += 1;
        }
        (bins.starts, bins.points) = (starts, sorted);
        bins
    }

    /// Whether a point is closer to a place than the distance.
    pub fn any_near(&self, at_m: [f64; 2]) -> bool {
        let [column, row] = self.column_and_row(at_m);
        let columns = column.saturating_sub(1)..(column + 2).min(self.columns);
        let rows = row.saturating_sub(1)..(row + 2).min(self.rows);
        rows.into_iter().any(|row| {
            let bin = row * self.columns;
            let points = self.starts[bin + columns.start]..self.starts[bin + columns.end];
            self.points[points].iter().any(|point| {
                let [x, z] = [point[0] - at_m[0], point[1] - at_m[1]];
                x * x + z * z < self.distance_m * self.distance_m
            })
        })
    }

    fn bin(&self, at_m: [f64; 2]) -> usize {
        let [column, row] = self.column_and_row(at_m);
        row * self.columns + column
    }

    fn column_and_row(&self, at_m: [f64; 2]) -> [usize; 2] {
        let [column, row] = at_m.map(|m| (m / self.side_m).to_usize());
        [column.min(self.columns - 1), row.min(self.rows - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn near_points_are_found_as_by_looking_at_all() {
        let mut rng = Stream::new(1, 2).at(3);
        let mut random = || [rng.between(0.0, 1000.0), rng.between(0.0, 300.0)];
        let points: Vec<[f64; 2]> = (0..200).map(|_| random()).collect();
        for distance_m in [0.001, 7.0, 60.0, 5000.0] {
            let bins = Bins::new(points.iter().copied(), [1000.0, 300.0], distance_m);
            for at_m in (0..300).map(|_| random()).chain(points.iter().copied()) {
                let is_near = |point: &[f64; 2]| {
                    let [x, z] = [point[0] - at_m[0], point[1] - at_m[1]];
                    x * x + z * z < distance_m * distance_m
                };
                assert_eq!(bins.any_near(at_m), points.iter().any(is_near), "{at_m:?} {distance_m}");
            }
        }
        assert!(!Bins::new([].into_iter(), [10.0, 10.0], 3.0).any_near([5.0, 5.0]));
    }
}
