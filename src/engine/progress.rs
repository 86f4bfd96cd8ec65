//! Progress and cancellation: how a running computation and its caller communicate.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::cast::ToFloat;

/// The computation was cancelled by its caller. This is the only error of engine functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// A progress and cancellation token, shared by a computation, which reports its progress, and its caller, who reads it
/// and may cancel.
#[derive(Debug, Default)]
pub struct Progress {
    cancelled: Arc<AtomicBool>,
    /// The fraction done, as the bits of an f32: for numbers that are not negative, bits compare like the numbers.
    fraction: AtomicU32,
    /// The fractions of the job at which the current stage starts and ends, as the bits of f32s.
    stage: [AtomicU32; 2],
}

impl Progress {
    /// Creates the progress of a job that has not started.
    pub fn new() -> Self {
        let progress = Self::default();
        progress.start_stage([0.0, 1.0]);
        progress
    }

    /// The progress of one of several computations that run side by side: it is cancelled with this one, but what it
    /// reports is its own.
    pub fn of_part(&self) -> Self {
        Self { cancelled: self.cancelled.clone(), ..Self::new() }
    }

    /// Asks the computation to stop as soon as it can.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::cancel`] has been called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Fails if the job was cancelled. Computations call this at least every few milliseconds.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// The fraction of the job that is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        f32::from_bits(self.fraction.load(Ordering::Relaxed))
    }

    /// Runs `work` as a stage of the current stage (of the job, for the outermost one): the progress that `work`
    /// reports and counts is mapped to `range`, a range within the current stage. Stages run one after another.
    pub fn stage<T>(&self, range: Range<f32>, work: impl FnOnce() -> T) -> T {
        let outer = self.current_stage();
        self.start_stage([range.start, range.end].map(|fraction| interpolate(outer, fraction)));
        let result = work();
        self.stage[0].store(outer[0].to_bits(), Ordering::Relaxed);
        self.stage[1].store(outer[1].to_bits(), Ordering::Relaxed);
        result
    }

    /// Reports the fraction of the current stage that is done. Progress never decreases: a smaller fraction from a
    /// slower thread is ignored.
    pub fn report(&self, fraction: f32) {
        self.fraction.fetch_max(interpolate(self.current_stage(), fraction).to_bits(), Ordering::Relaxed);
    }

    /// Starts counting: the current stage consists of `total` pieces, none of which is done yet. Work that needs
    /// several counters is divided by [`Self::stage`] first.
    pub fn counter(&self, total: usize) -> ProgressCounter<'_> {
        self.start_stage(self.current_stage());
        ProgressCounter { progress: self, done: AtomicUsize::new(0), total: total.max(1) }
    }

    fn current_stage(&self) -> [f32; 2] {
        self.stage.each_ref().map(|bound| f32::from_bits(bound.load(Ordering::Relaxed)))
    }

    fn start_stage(&self, [start, end]: [f32; 2]) {
        self.stage[0].store(start.to_bits(), Ordering::Relaxed);
        self.stage[1].store(end.to_bits(), Ordering::Relaxed);
        self.fraction.store(start.to_bits(), Ordering::Relaxed);
    }
}

/// The fraction of the job at a fraction of a stage. At 1 it is exactly the stage's end, where the next stage starts.
fn interpolate([start, end]: [f32; 2], fraction: f32) -> f32 {
    if fraction < 1.0 { (start + fraction * (end - start)).min(end) } else { end }
}

/// Counts finished pieces of work, from any number of threads.
#[derive(Debug)]
pub struct ProgressCounter<'a> {
    progress: &'a Progress,
    done: AtomicUsize,
    total: usize,
}

impl ProgressCounter<'_> {
    /// Counts one finished piece; fails if the job was cancelled.
    pub fn add_one(&self) -> Result<(), Cancelled> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.report(done.to_f32() / self.total.to_f32());
        self.progress.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts two pieces; returns the progress at the start and after each of them.
    fn count_two(progress: &Progress) -> [f32; 3] {
        let counter = progress.counter(2);
        let start = progress.fraction();
        let [first, second] = [0, 1].map(|_| {
            assert_eq!(counter.add_one(), Ok(()));
            progress.fraction()
        });
        [start, first, second]
    }

    #[test]
    fn nested_stages_divide_their_stage() {
        let progress = Progress::new();
        progress.stage(0.0..0.5, || {
            assert_eq!(progress.stage(0.0..0.5, || count_two(&progress)), [0.0, 0.125, 0.25]);
            assert_eq!(progress.stage(0.5..1.0, || count_two(&progress)), [0.25, 0.375, 0.5]);
        });
        assert_eq!(progress.stage(0.5..1.0, || count_two(&progress)), [0.5, 0.75, 1.0]);
        progress.report(1.0);
        assert_eq!(progress.fraction(), 1.0);
    }

    #[test]
    fn a_stage_starts_exactly_where_the_previous_one_ends() {
        for count in 1..200 {
            let progress = Progress::new();
            let mut last = 0.0;
            for i in 0..count {
                let share = |i: u32| i as f32 / count as f32;
                let seen = progress.stage(share(i)..share(i + 1), || count_two(&progress));
                assert!(seen[0] == last && seen.is_sorted(), "{i} of {count}: {seen:?} after {last}");
                last = seen[2];
            }
            assert_eq!(last, 1.0);
        }
    }

    #[test]
    fn progress_never_decreases() {
        let progress = Progress::new();
        progress.report(0.75);
        progress.report(0.5);
        assert_eq!(progress.fraction(), 0.75);
    }
}
