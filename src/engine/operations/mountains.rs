//! Mountains between valley lines: the farther from the coast and from every valley, the higher.
//!
//! After a course project on J. Doran and I. Parberry, "Controlled Procedural Terrain Generation Using Software
//! Agents", IEEE Transactions on Computational Intelligence and AI in Games 2(2), 2010: valleys are random zigzags
//! across the island. Octave o has valleys·2^o of them, those of the octave before among them; its height is the
//! distance to the nearest coast or valley, its greatest taken as 1, and
//! h = `height_m` · Σ weightᵒ · octave o, the highest sum taken as 1.

use rayon::prelude::*;

use super::{Keyframe, Operate, Site};
use crate::engine::distance::{Crossings, lower_to_squared_distances};
use crate::engine::heightfield::{Extent, Heightfield};
use crate::engine::monitor::Cancelled;
use crate::engine::parameters::{Spec, parameters};
use crate::engine::random::{Draw, Stream};

parameters! {
    /// Raises mountains on the island below, low along its coast and along random valleys, high far from both.
    pub struct Mountains {
        /// How high the highest peak rises.
        height_m: f64 = 500.0,
            Spec::number("Height", 0.0, 20_000.0).slider(1.0, 3000.0).unit("m").logarithmic();
        /// How many valleys cross the island before there is any detail: few leave broad massifs, many make a maze of
        /// ridges.
        valleys: u32 = 5, Spec::number("Valleys", 0.0, 32.0).slider(0.0, 16.0);
        /// How far a valley turns at the most, to either side, from one bend to the next: 0 makes straight cuts, wide
        /// turns make valleys that wander.
        turn_deg: f64 = 50.0, Spec::number("Turn", 0.0, 180.0).slider(0.0, 90.0).unit("°");
        /// How far a valley runs from bend to bend, as a share of the world's longer side.
        segment: f64 = 0.05, Spec::number("Segment", 0.01, 1.0).slider(0.01, 0.3).logarithmic();
        /// How many sets of valleys there are: each has twice as many as the one before, and makes smaller ridges.
        octaves: u32 = 5, Spec::number("Octaves", 1.0, 7.0);
        /// How high each set's ridges are beside those of the set before: small values leave smooth roofs, great ones
        /// jagged rock.
        weight: f64 = 0.45, Spec::number("Weight", 0.0, 1.0);
        /// The height of the water: what lies above it below this step is the island. Where there is no coast, the
        /// border of the world is one.
        sea_m: f64 = 0.0, Spec::number("Sea level", -20_000.0, 100_000.0).slider(-500.0, 1000.0).unit("m");
    }
}

/// A valley that is still in the world after so many of its longer sides ends there.
const LONGEST_SIDES: f64 = 6.0;

/// The bends of a valley, from the border of the world on, until it leaves the world.
struct Valley {
    draw: Draw,
    world: Extent,
    segment_m: f64,
    turn: f64,
    at_m: [f64; 2],
    heading: f64,
    segments_left: u32,
}

impl Mountains {
    /// The valleys of an octave, counted from 0: those of the octaves before are the first of them.
    fn valleys_of(&self, octave: u32) -> u32 {
        self.valleys << octave
    }

    /// Valley i = 1…n, drawn without drawing those before it: from a random point of the border towards a random point
    /// of the world at first.
    fn valley(&self, i: u32, world: Extent, stream: Stream) -> Valley {
        let mut draw = stream.at(u64::from(i));
        let Extent { width_m, depth_m } = world;
        let along = draw.unit() * 2.0 * (width_m + depth_m);
        let at_m = if along < width_m {
            [along, 0.0]
        } else if along < width_m + depth_m {
            [width_m, along - width_m]
        } else if along < 2.0 * width_m + depth_m {
            [along - width_m - depth_m, depth_m]
        } else {
            [0.0, along - 2.0 * width_m - depth_m]
        };
        let towards_m = [draw.unit() * width_m, draw.unit() * depth_m];
        Valley {
            draw,
            world,
            segment_m: self.segment * width_m.max(depth_m),
            turn: self.turn_deg.to_radians(),
            at_m,
            heading: libm::atan2(towards_m[1] - at_m[1], towards_m[0] - at_m[0]),
            segments_left: (LONGEST_SIDES / self.segment) as u32,
        }
    }
}

impl Iterator for Valley {
    type Item = [[f64; 2]; 2];

    /// The next segment, from bend to bend.
    fn next(&mut self) -> Option<Self::Item> {
        let [x, z] = self.at_m;
        let inside = (0.0..=self.world.width_m).contains(&x) && (0.0..=self.world.depth_m).contains(&z);
        if !inside || self.segments_left == 0 {
            return None;
        }
        self.segments_left -= 1;
        let length_m = self.segment_m * self.draw.between(0.5, 1.5);
        self.at_m = [x + length_m * libm::cos(self.heading), z + length_m * libm::sin(self.heading)];
        self.heading += self.draw.between(-self.turn, self.turn);
        Some([[x, z], self.at_m])
    }
}

impl Operate for Mountains {
    const KEY: &'static str = "mountains";
    const LABEL: &'static str = "Mountains";

    fn reads_below(&self) -> bool {
        true
    }

    /// One a valley.
    fn iterations(&self) -> u32 {
        self.valleys_of(self.octaves - 1)
    }

    fn evaluate(&self, site: &Site, until: u32, _resume: Option<Keyframe>) -> Result<Heightfield, Cancelled> {
        let (grid, monitor) = (site.grid, site.monitor);
        let width = grid.width();
        let sea_m = self.sea_m as f32;
        let coast = site.below.map(|below| Crossings::contour(below, sea_m, monitor)).transpose()?;
        let coast = coast.filter(|coast| !coast.is_empty());
        // Without a coast all the world is land.
        let below = site.below.filter(|_| coast.is_some());
        let is_land = |i: usize| below.is_none_or(|below| below.heights()[i] > sea_m);

        let tally = monitor.tally(self.octaves as usize + 1);
        let mut squares = vec![f32::INFINITY; grid.samples()];
        lower_to_squared_distances(&mut squares, coast.unwrap_or_else(|| Crossings::border(grid)), monitor)?;
        tally.add_one()?;

        let mut land = Heightfield::flat(grid);
        let mut weight = 1.0;
        let mut drawn = 0;
        for octave in 0..self.octaves {
            let count = self.valleys_of(octave).min(until);
            let mut crossings = Crossings::none(grid);
            for i in drawn + 1..=count {
                self.valley(i, grid.extent(), site.stream).for_each(|[from, to]| crossings.add_segment(from, to));
                monitor.check()?;
            }
            drawn = count;
            lower_to_squared_distances(&mut squares, crossings, monitor)?;
            let farthest = squares.par_chunks(width).enumerate().map(|(r, squares)| {
                let on_land = squares.iter().enumerate().filter(|(c, _)| is_land(r * width + c));
                monitor.check().map(|()| on_land.fold(0.0_f32, |farthest, (_, &square)| farthest.max(square)))
            });
            let farthest = farthest.try_reduce(|| 0.0, |a, b| Ok(a.max(b)))?;
            if farthest > 0.0 {
                let share = (weight / f64::from(farthest).sqrt()) as f32;
                land.heights_mut().par_chunks_mut(width).enumerate().try_for_each(|(r, row)| {
                    let on_land = row.iter_mut().enumerate().filter(|(c, _)| is_land(r * width + c));
                    on_land.for_each(|(c, height)| *height += share * squares[r * width + c].sqrt());
                    monitor.check()
                })?;
            }
            weight *= self.weight;
            tally.add_one()?;
        }
        let [_, highest] = land.min_max();
        if highest > 0.0 {
            let metres = (self.height_m / f64::from(highest)) as f32;
            land.heights_mut().par_chunks_mut(width).try_for_each(|row| {
                row.iter_mut().for_each(|height| *height *= metres);
                monitor.check()
            })?;
        }
        Ok(land)
    }
}
