//! Progress and cancellation: the only thing through which a computation and its caller speak while it runs.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// The computation was stopped from outside. The only way in which an engine function can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// Shared by the caller, who may cancel and read the progress, and the computation, which reports it.
#[derive(Debug, Default)]
pub struct Monitor {
    cancelled: AtomicBool,
    /// Share done, as the bits of an f32.
    progress: AtomicU32,
    /// The stretch of the whole job that the parts are counted in: start and length, as the bits of f32s.
    stretch: [AtomicU32; 2],
    /// The part of the stretch that the present work stands for: start and length, as the bits of f32s.
    part: [AtomicU32; 2],
}

impl Monitor {
    /// A monitor of work that has not begun.
    pub fn new() -> Self {
        let monitor = Self::default();
        monitor.begin_stretch(0.0, 1.0);
        monitor
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
    pub fn progress(&self) -> f32 {
        f32::from_bits(self.progress.load(Ordering::Relaxed))
    }

    /// What follows, with all parts that it is divided into, stands for `length` of the whole job, from `start` on.
    pub fn begin_stretch(&self, start: f32, length: f32) {
        self.stretch[0].store(start.to_bits(), Ordering::Relaxed);
        self.stretch[1].store(length.to_bits(), Ordering::Relaxed);
        self.begin_part(0.0, 1.0);
    }

    /// What follows stands for `length` of the present stretch (at first: the whole job), from `start` on.
    pub fn begin_part(&self, start: f32, length: f32) {
        self.part[0].store(start.to_bits(), Ordering::Relaxed);
        self.part[1].store(length.to_bits(), Ordering::Relaxed);
        self.report(0.0);
    }

    /// Says which share of the present part is done.
    pub fn report(&self, share: f32) {
        let within = |[start, length]: &[AtomicU32; 2], share: f32| {
            f32::from_bits(start.load(Ordering::Relaxed)) + share * f32::from_bits(length.load(Ordering::Relaxed))
        };
        let done = within(&self.stretch, within(&self.part, share));
        self.progress.store(done.to_bits(), Ordering::Relaxed);
    }
}

/// Counts pieces of work done on several threads.
#[derive(Debug)]
pub struct Tally<'a> {
    monitor: &'a Monitor,
    done: AtomicUsize,
    total: usize,
}

impl Monitor {
    /// The present part consists of `total` pieces.
    pub fn tally(&self, total: usize) -> Tally<'_> {
        Tally { monitor: self, done: AtomicUsize::new(0), total: total.max(1) }
    }
}

impl Tally<'_> {
    /// One piece is done; fails if somebody asked for a stop.
    pub fn add_one(&self) -> Result<(), Cancelled> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.monitor.report(done as f32 / self.total as f32);
        self.monitor.check()
    }
}
