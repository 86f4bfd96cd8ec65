//! Upstream traversal of the drainage trees, and drainage areas.
//!
//! The order is the stack of J. Braun and S. D. Willett, "A very efficient O(n), implicit and parallel method to solve
//! the stream power equation governing fluvial incision and landscape evolution", Geomorphology 180–181, 2013: every
//! sample comes after its receiver. Trees are independent of each other and are processed in parallel.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::drainage::Drainage;
use super::grid::{CHUNK, filled_vec};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::progress::{Cancelled, Progress};

/// Buffers for the traversal of a tree.
#[derive(Default)]
struct Traversal {
    order: Vec<u32>,
    pending: Vec<u32>,
}

impl Drainage {
    /// Visits every drainage tree. `visit` gets the samples of a tree, as indices in the padded maps, in an order in
    /// which each comes after its receiver. Before it is called, the number of samples that drain through each sample,
    /// including itself, is stored in `areas`.
    pub fn visit_trees(
        &self,
        areas: &[AtomicU32],
        visit: impl Fn(&[u32]) -> Result<(), Cancelled> + Sync,
        progress: &Progress,
    ) -> Result<(), Cancelled> {
        self.ends.par_iter().try_for_each_init(Traversal::default, |buffers, &end| {
            if self.donors[end as usize] == 0 {
                areas[end as usize].store(1, Relaxed);
                return visit(&[end]);
            }
            buffers.order.clear();
            buffers.pending.push(end);
            while let Some(sample) = buffers.pending.pop() {
                buffers.order.push(sample);
                areas[sample as usize].store(1, Relaxed);
                let mut bits = self.donors[sample as usize];
                while bits != 0 {
                    let step = self.steps[(bits.trailing_zeros() & 7) as usize];
                    buffers.pending.push((sample as usize).wrapping_add_signed(step).to_u32());
                    bits &= bits - 1;
                }
                if buffers.order.len().is_multiple_of(CHUNK) {
                    progress.check()?;
                }
            }
            self.visit_downstream(&buffers.order, progress, |sample, receiver| {
                // No other thread works on this tree.
                let sum = areas[receiver].load(Relaxed) + areas[sample].load(Relaxed);
                areas[receiver].store(sum, Relaxed);
            })?;
            visit(&buffers.order)
        })
    }

    /// Calls `visit` with every sample of a tree but its end and the sample's receiver, after all that drain to the
    /// sample.
    pub fn visit_downstream(
        &self,
        tree: &[u32],
        progress: &Progress,
        visit: impl Fn(usize, usize),
    ) -> Result<(), Cancelled> {
        for chunk in tree.rchunks(CHUNK) {
            for &sample in chunk.iter().rev() {
                if let Some((_, receiver)) = self.receiver(sample as usize) {
                    visit(sample as usize, receiver);
                }
            }
            progress.check()?;
        }
        Ok(())
    }

    /// Calls `visit` with every sample of a tree after its receiver.
    pub fn visit_upstream(&self, tree: &[u32], progress: &Progress, visit: impl Fn(usize)) -> Result<(), Cancelled> {
        for chunk in tree.chunks(CHUNK) {
            chunk.iter().for_each(|sample| visit(*sample as usize));
            progress.check()?;
        }
        Ok(())
    }

    /// The drainage area of each sample including its own cell, m², as a row-major map of the terrain.
    pub fn areas_m2(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let areas = filled_vec(self.padded_samples(), || AtomicU32::new(0), progress)?;
        self.visit_trees(&areas, |_| Ok(()), progress)?;
        let cell_m2 = self.cell_m2();
        Ok(self.unpadded(|at| (f64::from(areas[at].load(Relaxed)) * cell_m2).to_f32()))
    }
}
