//! The exact Euclidean distance to the points where curves cross the lines of a grid, in linear time.
//!
//! After P. Felzenszwalb and D. Huttenlocher, "Distance Transforms of Sampled Functions", Theory of Computing 8, 2012:
//! along every line of samples the squared distance is min over q of (p − q)² + f(q), the lower envelope of parabolas,
//! where f(q) is the squared distance to the nearest point on the perpendicular line through q. In the paper these
//! points are samples. Here they are crossings of a curve with rows and columns, which gives subsample precision and
//! distances that do not depend on the resolution.

use rayon::prelude::*;

use super::heightfield::{Grid, Heightfield};
use super::progress::{Cancelled, Progress};
use super::strips::{STRIP, strips};

use crate::cast::{ToFloat, ToInteger};

/// The points at which curves cross the rows and columns of a grid.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub struct Crossings {
    grid: Grid,
    /// For each row, positions in metres from the west border.
    on_rows: Vec<Vec<f64>>,
    /// For each column, positions in metres from the north border.
    on_columns: Vec<Vec<f64>>,
}

impl Crossings {
    /// No crossings.
    pub fn none(grid: Grid) -> Self {
        Self { grid, on_rows: vec![Vec::new(); grid.height()], on_columns: vec![Vec::new(); grid.width()] }
    }

    /// Samples instead of crossings, by their columns and rows.
    pub fn of_samples(grid: Grid, is_taken: impl Fn(usize, usize) -> bool + Sync) -> Self {
        let on_row = |r: usize| (0..grid.width()).filter(|c| is_taken(*c, r)).map(|c| grid.x_m(c)).collect();
        Self { on_rows: (0..grid.height()).into_par_iter().map(on_row).collect(), ..Self::none(grid) }
    }

    /// The border of the world as a curve.
    pub fn border(grid: Grid) -> Self {
        let world = grid.extent();
        Self {
            grid,
            on_rows: vec![vec![0.0, world.width_m]; grid.height()],
            on_columns: vec![vec![0.0, world.depth_m]; grid.width()],
        }
    }

    /// The contour at a level, with heights interpolated linearly between samples.
    pub fn contour(terrain: &Heightfield, level_m: f32, progress: &Progress) -> Result<Self, Cancelled> {
        let grid = terrain.grid();
        let mut crossings = Self::none(grid);
        // The fraction of the way from a sample to the next at which the level is crossed.
        let crossing = |from: f32, to: f32| {
            let share = || (f64::from(level_m) - f64::from(from)) / (f64::from(to) - f64::from(from));
            ((from > level_m) != (to > level_m)).then(share)
        };
        crossings.on_rows.par_iter_mut().enumerate().try_for_each(|(r, on_row)| {
            let pairs = terrain.row(r).windows(2).enumerate();
            on_row.extend(pairs.filter_map(|(c, pair)| {
                crossing(pair[0], pair[1]).map(|share| grid.x_m(c) + share * (grid.x_m(c + 1) - grid.x_m(c)))
            }));
            progress.check()
        })?;
        crossings.on_columns.par_chunks_mut(STRIP).enumerate().try_for_each(|(strip, columns)| {
            let first = strip * STRIP;
            for r in 1..grid.height() {
                let part = |r: usize| &terrain.row(r)[first..];
                let (from_m, to_m) = (grid.z_m(r - 1), grid.z_m(r));
                for ((on_column, &from), &to) in columns.iter_mut().zip(part(r - 1)).zip(part(r)) {
                    on_column.extend(crossing(from, to).map(|share| from_m + share * (to_m - from_m)));
                }
            }
            progress.check()
        })?;
        Ok(crossings)
    }

    /// Whether there are no crossings.
    pub fn is_empty(&self) -> bool {
        self.on_rows.iter().chain(&self.on_columns).all(Vec::is_empty)
    }

    /// Adds the crossings of a line segment within the world. Its ends are in metres eastward and southward.
    pub fn add_segment(&mut self, from_m: [f64; 2], to_m: [f64; 2]) {
        let (grid, world) = (self.grid, self.grid.extent());
        let [[from_x, from_z], [to_x, to_z]] = [from_m, to_m];
        cross(&mut self.on_rows, grid.spacing_z_m(), |r| grid.z_m(r), [from_z, to_z], [from_x, to_x], world.width_m);
        cross(&mut self.on_columns, grid.spacing_x_m(), |c| grid.x_m(c), [from_x, to_x], [from_z, to_z], world.depth_m);
    }
}

/// Adds the crossings of a segment with parallel lines `spacing_m` apart. `across` and `along` are the coordinates of
/// its ends perpendicular and parallel to the lines, which are `side_m` long.
fn cross(
    lines: &mut [Vec<f64>],
    spacing_m: f64,
    place_m: impl Fn(usize) -> f64,
    across: [f64; 2],
    along: [f64; 2],
    side_m: f64,
) {
    let [start, end] = across;
    let (near, far) = (start.min(end), start.max(end));
    if near == far || far < 0.0 {
        return;
    }
    let first = (near / spacing_m).max(0.0).to_usize();
    let last = ((far / spacing_m).to_usize() + 1).min(lines.len() - 1);
    for (i, line) in lines.iter_mut().enumerate().take(last + 1).skip(first) {
        let place = place_m(i);
        let crossing = along[0] + (place - start) / (end - start) * (along[1] - along[0]);
        if (near..=far).contains(&place) && (0.0..=side_m).contains(&crossing) {
            line.push(crossing);
        }
    }
}

/// Finds the nearest points on parallel lines for positions that advance along the lines.
struct Nearest<'a> {
    lines: &'a [Vec<f64>],
    /// For each line, the first point that is not behind the position.
    next: Vec<usize>,
}

impl<'a> Nearest<'a> {
    fn from_place(lines: &'a [Vec<f64>], place_m: f64) -> Self {
        let next = lines.iter().map(|line| line.partition_point(|&point| point < place_m)).collect();
        Self { lines, next }
    }

    /// Computes the squared distance along each line from a position to the nearest point, or infinity. Positions must
    /// not decrease.
    fn squared(&mut self, place_m: f64, squares: &mut [f64]) {
        for ((square, line), next) in squares.iter_mut().zip(self.lines).zip(&mut self.next) {
            while line.get(*next).is_some_and(|&point| point < place_m) {
                *next += 1;
            }
            let behind = next.checked_sub(1).map_or(f64::INFINITY, |last| place_m - line[last]);
            let ahead = line.get(*next).map_or(f64::INFINITY, |point| point - place_m);
            let distance = behind.min(ahead);
            *square = distance * distance;
        }
    }
}

/// A parabola of the lower envelope: the position and height of its minimum, and the position from which it is the
/// lowest of all.
#[derive(Clone, Copy)]
struct Parabola {
    place_m: f64,
    height: f64,
    from_m: f64,
}

/// Calls `found` with min over q of (p − q)² + f(q) for every p, where lines are `spacing_m` apart. `envelope` is a
/// buffer.
fn lower_envelope(squares: &[f64], spacing_m: f64, envelope: &mut Vec<Parabola>, mut found: impl FnMut(usize, f64)) {
    envelope.clear();
    for (q, &height) in squares.iter().enumerate().filter(|(_, height)| height.is_finite()) {
        let place_m = q.to_f64() * spacing_m;
        let mut from_m = f64::NEG_INFINITY;
        while let Some(last) = envelope.last() {
            from_m = 0.5 * ((height - last.height) / (place_m - last.place_m) + (place_m + last.place_m));
            if from_m > last.from_m {
                break;
            }
            envelope.pop();
            from_m = f64::NEG_INFINITY;
        }
        envelope.push(Parabola { place_m, height, from_m });
    }
    let mut parabolas = envelope.iter();
    let Some(mut lowest) = parabolas.next() else { return };
    let mut ahead = parabolas.next();
    for p in 0..squares.len() {
        let place_m = p.to_f64() * spacing_m;
        while let Some(next) = ahead.filter(|next| next.from_m <= place_m) {
            lowest = next;
            ahead = parabolas.next();
        }
        let away = place_m - lowest.place_m;
        found(p, away * away + lowest.height);
    }
}

/// Lowers every element of `squares`, a row-major map, to the squared distance in m² from its sample to the nearest
/// crossing, if that is lower.
pub fn lower_to_squared_distances(
    squares: &mut [f32],
    mut crossings: Crossings,
    progress: &Progress,
) -> Result<(), Cancelled> {
    if crossings.is_empty() {
        return Ok(());
    }
    let grid = crossings.grid;
    let lines = crossings.on_rows.par_iter_mut().chain(&mut crossings.on_columns);
    lines.try_for_each(|line| {
        line.sort_unstable_by(f64::total_cmp);
        progress.check()
    })?;
    let (on_rows, on_columns) = (&crossings.on_rows, &crossings.on_columns);
    let width = grid.width();
    strips(squares, width, progress)?.par_iter_mut().enumerate().try_for_each_init(
        || (vec![0.0; grid.height()], Vec::new()),
        |(along_row, envelope), (strip, pieces)| {
            let columns = strip * STRIP..((strip + 1) * STRIP).min(width);
            let mut nearest = Nearest::from_place(on_rows, grid.x_m(columns.start));
            for (lane, c) in columns.enumerate() {
                nearest.squared(grid.x_m(c), along_row);
                lower_envelope(along_row, grid.spacing_z_m(), envelope, |r, square| {
                    pieces[r][lane] = pieces[r][lane].min(square.to_f32());
                });
                progress.check()?;
            }
            Ok(())
        },
    )?;
    squares.par_chunks_mut(STRIP * width).enumerate().try_for_each_init(
        || (vec![0.0; width], Vec::new()),
        |(along_column, envelope), (strip, rows)| {
            let mut nearest = Nearest::from_place(on_columns, grid.z_m(strip * STRIP));
            for (i, row) in rows.chunks_exact_mut(width).enumerate() {
                nearest.squared(grid.z_m(strip * STRIP + i), along_column);
                lower_envelope(along_column, grid.spacing_x_m(), envelope, |c, square| {
                    row[c] = row[c].min(square.to_f32());
                });
                progress.check()?;
            }
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Extent;
    use crate::random::Stream;

    fn grid(width: usize, height: usize) -> Grid {
        Grid::new(Extent { width_m: 300.0, depth_m: 170.0 }, width, height)
    }

    fn distances(crossings: &Crossings) -> Vec<f32> {
        let mut squares = vec![f32::INFINITY; crossings.grid.samples()];
        lower_to_squared_distances(&mut squares, crossings.clone(), &Progress::new()).expect("not cancelled");
        squares.into_iter().map(f32::sqrt).collect()
    }

    /// The distances from every sample to every point.
    fn reference(crossings: &Crossings) -> Vec<f64> {
        let grid = crossings.grid;
        let rows = crossings.on_rows.iter().enumerate();
        let columns = crossings.on_columns.iter().enumerate();
        let points: Vec<[f64; 2]> = rows
            .flat_map(|(r, line)| line.iter().map(move |&x| [x, grid.z_m(r)]))
            .chain(columns.flat_map(|(c, line)| line.iter().map(move |&z| [grid.x_m(c), z])))
            .collect();
        let distance = |x: f64, z: f64, point: &[f64; 2]| libm::hypot(point[0] - x, point[1] - z);
        let nearest = |i: usize| {
            let (x, z) = (grid.x_m(i % grid.width()), grid.z_m(i / grid.width()));
            points.iter().map(|point| distance(x, z, point)).fold(f64::INFINITY, f64::min)
        };
        (0..grid.samples()).map(nearest).collect()
    }

    #[test]
    fn distances_to_a_wall_and_to_the_border_are_exact() {
        let grid = Grid::new(Extent { width_m: 40.0, depth_m: 10.0 }, 5, 3);
        let mut wall = Crossings::none(grid);
        wall.add_segment([16.0, -100.0], [16.0, 100.0]);
        assert!(distances(&wall).chunks(5).all(|row| row == [16.0, 6.0, 4.0, 14.0, 24.0]));
        assert_eq!(distances(&Crossings::border(grid)), [0., 0., 0., 0., 0., 0., 5., 5., 5., 0., 0., 0., 0., 0., 0.]);
        assert!(distances(&Crossings::none(grid)).iter().all(|distance| distance.is_infinite()));
    }

    #[test]
    fn contours_have_subsample_precision() {
        // A plane that rises eastward by 1 m per 10 m crosses the level of 1.4 m at 14 m from the west.
        let plane = Heightfield::from_fn(Grid::new(Extent { width_m: 40.0, depth_m: 10.0 }, 5, 3), |c, _| c as f32);
        let contour = Crossings::contour(&plane, 1.4, &Progress::new()).expect("not cancelled");
        let found = distances(&contour);
        let expected = [14.0, 4.0, 6.0, 16.0, 26.0];
        assert!(found.chunks(5).flat_map(|row| row.iter().zip(expected)).all(|(a, b)| (a - b).abs() < 1e-5));
        let level = Crossings::contour(&plane, 9.0, &Progress::new()).expect("not cancelled");
        assert!(level.is_empty());
    }

    #[test]
    fn distances_equal_the_minimum_over_all_points() {
        for (width, height) in [(2, 2), (2, 40), (61, 35), (90, 17)] {
            let mut rng = Stream::new(7, 1).at(width as u64);
            for points in [1, 2, 5, 60] {
                let mut crossings = Crossings::none(grid(width, height));
                for _ in 0..points {
                    let (r, c) = (rng.unit() * height as f64, rng.unit() * width as f64);
                    crossings.on_rows[r as usize].push(rng.between(0.0, 300.0));
                    crossings.on_columns[c as usize].push(rng.between(0.0, 170.0));
                }
                for (found, expected) in distances(&crossings).iter().zip(reference(&crossings)) {
                    assert!((f64::from(*found) - expected).abs() < 1e-4, "{found}, not {expected}");
                }
            }
        }
    }

    #[test]
    fn distances_to_crossings_approximate_those_to_the_curve() {
        // Crossings of a curve are at most a diagonal apart. Distances are therefore too large by at most
        // (diagonal/2)²/2d, and by half a diagonal on the curve itself.
        let grid = grid(61, 35);
        let [from, to] = [[20.0, 30.0], [250.0, 90.0]];
        let mut crossings = Crossings::none(grid);
        crossings.add_segment(from, to);
        let half_diagonal = 0.5 * libm::hypot(grid.spacing_x_m(), grid.spacing_z_m());
        let length = libm::hypot(to[0] - from[0], to[1] - from[1]);
        let (east, south) = ((to[0] - from[0]) / length, (to[1] - from[1]) / length);
        for (i, found) in distances(&crossings).into_iter().enumerate() {
            let (x, z) = (grid.x_m(i % 61) - from[0], grid.z_m(i / 61) - from[1]);
            let along = (x * east + z * south).clamp(0.0, length);
            let expected = libm::hypot(x - along * east, z - along * south);
            let slack = libm::hypot(expected, half_diagonal) - expected;
            let excess = f64::from(found) - expected;
            // Near an end of the segment the nearest crossing can be a diagonal farther away.
            let slack = if along == 0.0 || along == length { 2.0 * half_diagonal } else { slack };
            assert!(excess > -1e-4 && excess <= slack + 1e-4, "{found}, not {expected} at {i}");
        }
    }

    #[test]
    fn results_do_not_depend_on_threads_and_can_be_cancelled() {
        let terrain = Heightfield::from_fn(grid(203, 117), |c, r| ((c * 31 + r * 17) % 23) as f32);
        let contour = Crossings::contour(&terrain, 11.0, &Progress::new()).expect("not cancelled");
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| distances(&contour))
        };
        assert_eq!(with(1), with(7));
        let stopped = Progress::new();
        stopped.cancel();
        assert!(Crossings::contour(&terrain, 11.0, &stopped).is_err());
        assert_eq!(lower_to_squared_distances(&mut [], contour, &stopped), Err(Cancelled));
    }
}
