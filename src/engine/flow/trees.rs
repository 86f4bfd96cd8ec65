//! The samples in upstream order, tree by tree, and how much land drains through each.
//!
//! The order is the stack of J. Braun and S. D. Willett, "A very efficient O(n), implicit and parallel method to solve
//! the stream power equation governing fluvial incision and landscape evolution", Geomorphology 180–181, 2013: every
//! sample comes after its receiver. Trees with different outlets share nothing, so threads take one each.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::{AT_ONCE, Drainage, numbers};
use crate::engine::progress::{Cancelled, Progress};

/// What a thread walks a tree with.
#[derive(Default)]
struct Walk {
    order: Vec<u32>,
    left: Vec<u32>,
}

impl Drainage {
    /// Walks every tree upstream. `visit` gets samples of the frame's maps, one stretch after another, in an order in
    /// which each comes after its receiver; before that `areas` has how many samples drain through each of them, itself
    /// among them.
    pub fn visit_upstream(
        &self,
        areas: &[AtomicU32],
        visit: impl Fn(&[u32]) + Sync,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        self.ends.par_iter().try_for_each_init(Walk::default, |walk, &end| {
            if self.donors[end as usize] == 0 {
                areas[end as usize].store(1, Relaxed);
                visit(&[end]);
                return Ok(());
            }
            walk.order.clear();
            walk.left.push(end);
            while let Some(sample) = walk.left.pop() {
                walk.order.push(sample);
                areas[sample as usize].store(1, Relaxed);
                let mut bits = self.donors[sample as usize];
                while bits != 0 {
                    let step = self.steps[(bits.trailing_zeros() & 7) as usize];
                    walk.left.push((sample as usize).wrapping_add_signed(step) as u32);
                    bits &= bits - 1;
                }
                if walk.order.len().is_multiple_of(AT_ONCE) {
                    progress.check()?;
                }
            }
            for stretch in walk.order.rchunks(AT_ONCE) {
                for &sample in stretch.iter().rev() {
                    if let Some((_, receiver)) = self.receiver(sample as usize) {
                        // This thread alone is on this tree.
                        let sum = areas[receiver].load(Relaxed) + areas[sample as usize].load(Relaxed);
                        areas[receiver].store(sum, Relaxed);
                    }
                }
                progress.check()?;
            }
            for stretch in walk.order.chunks(AT_ONCE) {
                visit(stretch);
                progress.check()?;
            }
            Ok(())
        })
    }

    /// The land that drains through each sample, its own cell among it, m², row by row.
    pub fn areas_m2(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let areas = numbers(self.framed_samples(), || AtomicU32::new(0), progress)?;
        self.visit_upstream(&areas, |_| (), progress)?;
        let cell_m2 = self.cell_m2();
        Ok(self.unframed(|at| (f64::from(areas[at].load(Relaxed)) * cell_m2) as f32))
    }

    /// The land that a sample stands for, m².
    pub fn cell_m2(&self) -> f64 {
        self.grid.spacing_x_m() * self.grid.spacing_z_m()
    }
}
