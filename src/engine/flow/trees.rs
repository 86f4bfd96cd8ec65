//! Traversal of the drainage trees in parallel, and drainage areas.
//!
//! Every sample is visited after the samples that drain to it, or after its receiver, as in J. Braun and S. D. Willett, "A
//! very efficient O(n), implicit and parallel method to solve the stream power equation governing fluvial incision and
//! landscape evolution", Geomorphology 180–181, 2013. There, every drainage tree has one thread. Here, threads share
//! trees, because one great basin often covers most of the terrain: downstream, every thread follows the flow from the
//! heads of rivers, and of the threads that meet at a confluence, the last one goes on; upstream, threads hand over parts
//! of their trees.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::AcqRel, Ordering::Relaxed};

use rayon::prelude::*;

use super::drainage::Drainage;
use super::grid::donors;
use crate::cast::{ToFloat, ToInteger};
use crate::progress::{Cancelled, Progress};

/// Samples that a thread visits between two checks for cancellation. Upstream, it then hands over a part of the rest.
const SHARE: usize = 1 << 12;
/// Outlets from which a thread begins. There are many in a sea.
const OUTLETS: usize = 1 << 8;

impl Drainage {
    /// The samples that drain to a sample, always in the same order.
    #[inline(always)]
    pub fn donors(&self, sample: usize) -> impl Iterator<Item = usize> + use<> {
        donors(sample, self.donors[sample], self.steps)
    }

    /// Calls `visit` with every sample after all samples that drain to it, from several threads. Indices refer to the
    /// padded maps.
    pub fn visit_downstream(&self, visit: impl Fn(usize) + Sync, progress: &Progress) -> Result<(), Cancelled> {
        // The donors of each confluence that have not been visited.
        let waiting: Vec<AtomicU8> = bytemuck::zeroed_vec(self.padded_samples());
        self.inside().with_min_len(8).try_for_each(|samples| {
            for (waiting, donors) in waiting[samples.clone()].iter().zip(&self.donors[samples]) {
                waiting.store(donors.count_ones().to_u8(), Relaxed);
            }
            progress.check()
        })?;
        self.inside().with_min_len(8).try_for_each(|samples| {
            let mut visited = 0_usize;
            for head in samples.filter(|sample| self.donors[*sample] == 0) {
                let mut sample = head;
                visit(sample);
                while let Some((_, receiver)) = self.receiver(sample) {
                    let is_confluence = self.donors[receiver].count_ones() > 1;
                    if is_confluence && waiting[receiver].fetch_sub(1, AcqRel) > 1 {
                        break;
                    }
                    sample = receiver;
                    visit(sample);
                    visited += 1;
                    if visited.is_multiple_of(SHARE) {
                        progress.check()?;
                    }
                }
            }
            progress.check()
        })
    }

    /// Calls `visit` with every sample after its receiver, from several threads. Indices refer to the padded maps.
    pub fn visit_upstream(&self, visit: impl Fn(usize) + Sync, progress: &Progress) -> Result<(), Cancelled> {
        let visit = &visit;
        rayon::scope(|scope| {
            for ends in self.ends.chunks(OUTLETS) {
                scope.spawn(move |scope| self.visit_trees(ends.to_vec(), visit, progress, scope));
            }
        });
        progress.check()
    }

    /// Visits the trees above the `pending` samples, and these. Stops early if the work is cancelled.
    fn visit_trees<'a>(
        &'a self,
        mut pending: Vec<u32>,
        visit: &'a (impl Fn(usize) + Sync),
        progress: &'a Progress,
        scope: &rayon::Scope<'a>,
    ) {
        let mut visited = 0;
        while let Some(sample) = pending.pop() {
            let sample = sample as usize;
            visit(sample);
            pending.extend(self.donors(sample).map(ToInteger::to_u32));
            visited += 1;
            if visited == SHARE {
                visited = 0;
                if progress.check().is_err() {
                    return;
                }
                if pending.len() > 1 {
                    // The first samples are the nearest to the outlet and have the largest trees.
                    let farther = pending.split_off(pending.len() / 2);
                    let nearest = std::mem::replace(&mut pending, farther);
                    scope.spawn(move |scope| self.visit_trees(nearest, visit, progress, scope));
                }
            }
        }
    }

    /// Sets `areas` to the number of samples that drain through each sample, including itself.
    pub fn accumulate(&self, areas: &[AtomicU32], progress: &Progress) -> Result<(), Cancelled> {
        let visit = |sample: usize| {
            let upstream: u32 = self.donors(sample).map(|donor| areas[donor].load(Relaxed)).sum();
            areas[sample].store(1 + upstream, Relaxed);
        };
        self.visit_downstream(visit, progress)
    }

    /// The number of samples that drain through each sample, including itself, as a padded map.
    pub fn areas(&self, progress: &Progress) -> Result<Vec<AtomicU32>, Cancelled> {
        let areas = bytemuck::zeroed_vec(self.padded_samples());
        self.accumulate(&areas, progress)?;
        Ok(areas)
    }

    /// The drainage area of each sample including its own cell, m², as a row-major map of the terrain.
    pub fn areas_m2(&self, progress: &Progress) -> Result<Vec<f32>, Cancelled> {
        let areas = self.areas(progress)?;
        let cell_m2 = self.cell_m2();
        Ok(self.unpadded(|at| (f64::from(areas[at].load(Relaxed)) * cell_m2).to_f32()))
    }
}
