//! Progress and cancellation: the only thing through which a computation and its caller speak while it runs.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// The computation was stopped from outside. The only way in which an engine function can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// Shared by the caller, who may cancel and read the progress, and the computation, which reports it.
#[derive(Debug, Default)]
pub struct Progress {
    cancelled: AtomicBool,
    /// Share done, as the bits of an f32: those of shares that are not negative sort like the shares.
    fraction: AtomicU32,
    /// The part of the whole job that the present work stands for: its beginning and its end, as the bits of f32s.
    part: [AtomicU32; 2],
}

impl Progress {
    /// A monitor of work that has not begun.
    pub fn new() -> Self {
        let progress = Self::default();
        progress.begin([0.0, 1.0]);
        progress
    }

    /// Asks the computation to stop at the next opportunity.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked for a stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// To be called between pieces of work of a few milliseconds at most.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }

    /// The share done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        f32::from_bits(self.fraction.load(Ordering::Relaxed))
    }

    /// Does work that is a share of the present part (at first: of the whole job): what it reports and counts, and
    /// the parts that it is divided into itself, lie within that share. Shares come one after another.
    pub fn stage<T>(&self, share: Range<f32>, work: impl FnOnce() -> T) -> T {
        let whole = self.part();
        self.begin([share.start, share.end].map(|share| at(whole, share)));
        let done = work();
        self.part[0].store(whole[0].to_bits(), Ordering::Relaxed);
        self.part[1].store(whole[1].to_bits(), Ordering::Relaxed);
        done
    }

    /// Says which share of the present part is done; a thread that comes late with less takes nothing back.
    pub fn report(&self, share: f32) {
        self.fraction.fetch_max(at(self.part(), share).to_bits(), Ordering::Relaxed);
    }

    fn part(&self) -> [f32; 2] {
        self.part.each_ref().map(|place| f32::from_bits(place.load(Ordering::Relaxed)))
    }

    /// Nothing of that part of the whole job is done yet.
    fn begin(&self, [start, end]: [f32; 2]) {
        self.part[0].store(start.to_bits(), Ordering::Relaxed);
        self.part[1].store(end.to_bits(), Ordering::Relaxed);
        self.fraction.store(start.to_bits(), Ordering::Relaxed);
    }
}

/// The place in the whole job at a share of one of its parts. At 1 it is the part's end to the bit, at which the next
/// part begins.
fn at([start, end]: [f32; 2], share: f32) -> f32 {
    if share < 1.0 { (start + share * (end - start)).min(end) } else { end }
}

/// Counts pieces of work done on several threads.
#[derive(Debug)]
pub struct ProgressCounter<'a> {
    progress: &'a Progress,
    done: AtomicUsize,
    total: usize,
}

impl Progress {
    /// The present part consists of `total` pieces, none of which is done yet: what is to be counted in several
    /// tallies is divided by [`Self::stage`] first.
    pub fn counter(&self, total: usize) -> ProgressCounter<'_> {
        self.begin(self.part());
        ProgressCounter { progress: self, done: AtomicUsize::new(0), total: total.max(1) }
    }
}

impl ProgressCounter<'_> {
    /// One piece is done; fails if somebody asked for a stop.
    pub fn add_one(&self) -> Result<(), Cancelled> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.report(done as f32 / self.total as f32);
        self.progress.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts two pieces; returns the progress at the beginning and after each of them.
    fn counted(progress: &Progress) -> [f32; 3] {
        let counter = progress.counter(2);
        let begun = progress.fraction();
        let [first, second] = [0, 1].map(|_| {
            assert_eq!(counter.add_one(), Ok(()));
            progress.fraction()
        });
        [begun, first, second]
    }

    #[test]
    fn parts_of_parts_by_hand() {
        let progress = Progress::new();
        progress.stage(0.0..0.5, || {
            assert_eq!(progress.stage(0.0..0.5, || counted(&progress)), [0.0, 0.125, 0.25]);
            assert_eq!(progress.stage(0.5..1.0, || counted(&progress)), [0.25, 0.375, 0.5]);
        });
        assert_eq!(progress.stage(0.5..1.0, || counted(&progress)), [0.5, 0.75, 1.0]);
        progress.report(1.0);
        assert_eq!(progress.fraction(), 1.0);
    }

    #[test]
    fn the_end_of_a_part_is_the_beginning_of_the_next_to_the_bit() {
        for count in 1..200 {
            let progress = Progress::new();
            let mut last = 0.0;
            for i in 0..count {
                let share = |i: u32| i as f32 / count as f32;
                let seen = progress.stage(share(i)..share(i + 1), || counted(&progress));
                assert!(seen[0] == last && seen.is_sorted(), "{i} of {count}: {seen:?} after {last}");
                last = seen[2];
            }
            assert_eq!(last, 1.0);
        }
    }

    #[test]
    fn a_thread_that_comes_late_takes_nothing_back() {
        let progress = Progress::new();
        progress.report(0.75);
        progress.report(0.5);
        assert_eq!(progress.fraction(), 0.75);
    }
}
