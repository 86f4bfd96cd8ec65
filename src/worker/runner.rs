//! A thread that runs jobs one at a time, with cancellation. Every background thread of the editor is one of these.
//!
//! The caller submits jobs and polls for results; it never blocks before it drops the runner. A panicking job becomes a
//! [`JobError`] and the thread continues with the next job.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::job::{JobError, Wake, catch_panic};
use crate::engine::Progress;

/// The work of one thread: how it runs a job, and the state it keeps between jobs.
pub trait Worker: Send + 'static {
    /// The input of one job.
    type Job: Send + 'static;
    /// Identifies a job in its [`Status`] and its results.
    type Label: Clone + Send + Sync + 'static;
    /// The result of one job.
    type Output: Send + 'static;

    /// Returns the label of a job.
    fn label(job: &Self::Job) -> Self::Label;

    /// Runs one job. A long job checks [`JobContext::progress`] for cancellation.
    fn run(&mut self, job: Self::Job, context: &JobContext<'_, Self::Output>) -> Result<Self::Output, JobError>;

    /// Discards state that a panicking job may have left inconsistent.
    fn reset(&mut self) {}

    /// Releases memory that need not be kept while no job is queued.
    fn idle(&mut self) {}
}

/// The runner as a running job sees it.
pub struct JobContext<'a, O> {
    /// Reports progress and carries cancellation.
    pub progress: &'a Progress,
    /// Delivers an intermediate result.
    pub publish: &'a (dyn Fn(O) + Sync),
}

/// Which submitted jobs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// All of them, in order. Each delivers one final result, which is [`JobError::Cancelled`] if it was cancelled.
    Queue,
    /// The newest. It replaces the queued job and cancels the running one. Only the newest result is kept, and a
    /// cancelled job delivers none.
    LatestWins {
        /// How long the running job may continue after it was superseded, unless it has published a result already.
        grace: Duration,
    },
}

/// What happens to the jobs when a runner is dropped. The thread is joined in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Cancels the running job and discards the queued ones.
    Cancel,
    /// Runs all queued jobs first.
    Finish,
}

/// The settings of a runner.
#[derive(Clone, Copy, Debug)]
pub struct RunnerConfig {
    /// The name of the thread.
    pub name: &'static str,
    /// Which jobs are run.
    pub policy: Policy,
    /// What happens to jobs when the runner is dropped.
    pub shutdown: Shutdown,
    /// How long dropping waits for the thread before it detaches it; `None`: until it ends. For jobs that can block on
    /// a device that never answers.
    pub shutdown_timeout: Option<Duration>,
}

impl RunnerConfig {
    /// A runner that is cancelled and joined when it is dropped.
    pub const fn new(name: &'static str, policy: Policy) -> Self {
        Self { name, policy, shutdown: Shutdown::Cancel, shutdown_timeout: None }
    }
}

/// The running job, or the next one if none is running.
#[derive(Clone, Debug, PartialEq)]
pub struct Status<L> {
    /// Its label.
    pub label: L,
    /// The fraction done, from 0 to 1.
    pub fraction: f32,
    /// Whether it was cancelled and is about to stop.
    pub is_cancelled: bool,
    /// The number of jobs queued behind it.
    pub waiting: usize,
}

/// A result and the label of its job.
pub type Labelled<W> = (<W as Worker>::Label, Result<<W as Worker>::Output, JobError>);

/// The handle of a worker thread. Dropping it [shuts the thread down](Self::shut_down).
pub struct Runner<W: Worker> {
    shared: Arc<Shared<W>>,
    config: RunnerConfig,
    threads: Option<Threads>,
}

struct Threads {
    worker: JoinHandle<()>,
    /// Disconnects when the worker thread ends.
    ended: Receiver<()>,
    /// Cancels superseded jobs after the grace period, where there is one.
    watcher: Option<JoinHandle<()>>,
}

struct Shared<W: Worker> {
    state: Mutex<State<W>>,
    changed: Condvar,
    policy: Policy,
    wake: Wake,
}

struct State<W: Worker> {
    queue: VecDeque<W::Job>,
    running: Option<Running<W::Label>>,
    results: VecDeque<Labelled<W>>,
    is_stopping: bool,
}

struct Running<L> {
    label: L,
    progress: Arc<Progress>,
    superseded: Option<Instant>,
    has_published: bool,
}

impl<W: Worker> Runner<W> {
    /// Starts the thread; `wake` is called after every result.
    pub fn start(config: RunnerConfig, worker: W, wake: Wake) -> std::io::Result<Self> {
        let state = State { queue: VecDeque::new(), running: None, results: VecDeque::new(), is_stopping: false };
        let policy = config.policy;
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), policy, wake });
        // Assembled before the threads start: if the second one cannot be spawned, dropping this stops the first.
        let mut runner = Self { shared: shared.clone(), config, threads: None };
        let (alive, ended) = channel::<()>();
        let run = {
            let shared = shared.clone();
            move || {
                let _alive = alive;
                serve(worker, &shared);
            }
        };
        let worker = Builder::new().name(config.name.into()).spawn(run)?;
        let threads = runner.threads.insert(Threads { worker, ended, watcher: None });
        if let Policy::LatestWins { grace } = policy
            && !grace.is_zero()
        {
            let watch = move || cancel_superseded_jobs(&shared, grace);
            threads.watcher = Some(Builder::new().name(format!("{} watcher", config.name)).spawn(watch)?);
        }
        Ok(runner)
    }

    /// Submits a job. With [`Policy::LatestWins`] it supersedes all earlier ones.
    pub fn submit(&self, job: W::Job) {
        let mut state = self.shared.lock();
        if let Policy::LatestWins { grace } = self.shared.policy {
            state.queue.clear();
            if let Some(running) = &mut state.running {
                running.superseded.get_or_insert_with(Instant::now);
                if grace.is_zero() {
                    running.progress.cancel();
                }
            }
        }
        state.queue.push_back(job);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Changes the queue of jobs that have not started: to reorder, merge or remove them.
    pub fn edit_queue(&self, edit: impl FnOnce(&mut VecDeque<W::Job>)) {
        edit(&mut self.shared.lock().queue);
        self.shared.changed.notify_all();
    }

    /// Takes the oldest result that has not been taken yet.
    pub fn take(&self) -> Option<Labelled<W>> {
        self.shared.lock().results.pop_front()
    }

    /// Returns the status of the thread; `None` if it is idle.
    pub fn status(&self) -> Option<Status<W::Label>> {
        let state = self.shared.lock();
        let waiting = state.queue.len();
        match (&state.running, state.queue.front()) {
            (Some(running), _) => Some(Status {
                label: running.label.clone(),
                fraction: running.progress.fraction(),
                is_cancelled: running.progress.is_cancelled(),
                waiting,
            }),
            (None, Some(job)) => {
                Some(Status { label: W::label(job), fraction: 0.0, is_cancelled: false, waiting: waiting - 1 })
            }
            (None, None) => None,
        }
    }

    /// Cancels the running job if its label is so; the queued ones are run.
    pub fn cancel_if(&self, is_so: impl FnOnce(&W::Label) -> bool) {
        if let Some(running) = self.shared.lock().running.as_ref().filter(|running| is_so(&running.label)) {
            running.progress.cancel();
        }
    }

    /// Cancels the running job; the queued ones are run.
    pub fn cancel(&self) {
        if let Some(running) = &self.shared.lock().running {
            running.progress.cancel();
        }
    }

    /// Cancels the running job and discards the queued ones.
    pub fn cancel_all(&self) {
        self.shared.lock().cancel_all();
    }

    /// Stops the thread as configured in [`RunnerConfig`]. Returns whether it has ended: only then is every job done or
    /// cancelled.
    pub fn shut_down(&mut self) -> bool {
        let Some(Threads { worker, ended, watcher }) = self.threads.take() else { return true };
        {
            let mut state = self.shared.lock();
            state.is_stopping = true;
            if self.config.shutdown == Shutdown::Cancel {
                state.cancel_all();
            }
        }
        self.shared.changed.notify_all();
        let has_ended = match self.config.shutdown_timeout {
            None => true,
            Some(shutdown_timeout) => {
                matches!(ended.recv_timeout(shutdown_timeout), Err(RecvTimeoutError::Disconnected))
            }
        };
        if has_ended {
            // A panic outside of jobs has been reported by the panic hook.
            let _ = worker.join();
        }
        if let Some(watcher) = watcher {
            let _ = watcher.join();
        }
        has_ended
    }
}

impl<W: Worker> Drop for Runner<W> {
    fn drop(&mut self) {
        self.shut_down();
    }
}

impl<W: Worker> Shared<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        // The state is consistent after every statement, so a panic elsewhere cannot have corrupted it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; `None` once the thread must exit.
    fn next(&self) -> Option<(W::Job, W::Label, Arc<Progress>)> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.queue.pop_front() {
                let (label, progress) = (W::label(&job), Arc::new(Progress::new()));
                let running = Running {
                    label: label.clone(),
                    progress: progress.clone(),
                    superseded: None,
                    has_published: false,
                };
                state.running = Some(running);
                return Some((job, label, progress));
            }
            if state.is_stopping {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn publish(&self, label: W::Label, output: W::Output) {
        let mut state = self.lock();
        if let Some(running) = &mut state.running {
            running.has_published = true;
        }
        state.deliver(self.policy, label, Ok(output));
        drop(state);
        // Tells the watcher that the grace period is over.
        self.changed.notify_all();
        (self.wake)();
    }

    /// Ends the running job. Returns whether no other job is queued.
    fn finish(&self, label: W::Label, result: Result<W::Output, JobError>) -> bool {
        let mut state = self.lock();
        state.running = None;
        if self.policy == Policy::Queue || !matches!(result, Err(JobError::Cancelled)) {
            state.deliver(self.policy, label, result);
        }
        let is_idle = state.queue.is_empty();
        drop(state);
        (self.wake)();
        is_idle
    }
}

impl<W: Worker> State<W> {
    fn deliver(&mut self, policy: Policy, label: W::Label, result: Result<W::Output, JobError>) {
        if policy != Policy::Queue {
            self.results.clear();
        }
        self.results.push_back((label, result));
    }

    fn cancel_all(&mut self) {
        self.queue.clear();
        if let Some(running) = &self.running {
            running.progress.cancel();
        }
    }
}

/// The worker thread.
fn serve<W: Worker>(mut worker: W, shared: &Shared<W>) {
    while let Some((job, label, progress)) = shared.next() {
        let publish = |output| shared.publish(label.clone(), output);
        let context = JobContext { progress: &progress, publish: &publish };
        let result = catch_panic(|| worker.run(job, &context));
        if matches!(result, Err(JobError::Panicked(_))) {
            worker.reset();
        }
        if shared.finish(label, result) {
            worker.idle();
        }
    }
}

/// The watcher thread: cancels the running job once it has been superseded for as long as the grace period.
fn cancel_superseded_jobs<W: Worker>(shared: &Shared<W>, grace: Duration) {
    let mut state = shared.lock();
    while !state.is_stopping {
        let superseded = state.running.as_ref().and_then(|running| {
            let grace = if running.has_published { Duration::ZERO } else { grace };
            Some((running.progress.clone(), grace.saturating_sub(running.superseded?.elapsed())))
        });
        state = match superseded {
            Some((progress, left)) if !progress.is_cancelled() => {
                if left.is_zero() {
                    progress.cancel();
                    state
                } else {
                    shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            }
            _ => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::worker::test_support::{no_wake, wait};

    /// A job of the test worker.
    enum Act {
        Return,
        Panic,
        /// Publishes this number first.
        Publish(u32),
        /// Runs until it is cancelled.
        UntilCancelled,
        /// Runs until the flag is set, whether or not it is cancelled.
        Until(Arc<AtomicBool>),
    }

    /// Counts the jobs since the last reset.
    #[derive(Default)]
    struct Counter {
        runs: u32,
    }

    impl Worker for Counter {
        type Job = (u32, Act);
        type Label = u32;
        type Output = (u32, u32);

        fn label((number, _): &Self::Job) -> u32 {
            *number
        }

        fn run(
            &mut self,
            (number, act): Self::Job,
            context: &JobContext<'_, (u32, u32)>,
        ) -> Result<(u32, u32), JobError> {
            self.runs += 1;
            let pause = || std::thread::sleep(Duration::from_millis(1));
            match act {
                Act::Return => {}
                Act::Panic => panic!("job {number}"),
                Act::Publish(early) => (context.publish)((early, self.runs)),
                Act::UntilCancelled => loop {
                    context.progress.check()?;
                    pause();
                },
                Act::Until(flag) => {
                    while !flag.load(Ordering::Acquire) {
                        pause();
                    }
                }
            }
            Ok((number, self.runs))
        }

        fn reset(&mut self) {
            self.runs = 0;
        }
    }

    fn runner(policy: Policy) -> Runner<Counter> {
        Runner::start(RunnerConfig::new("test", policy), Counter::default(), no_wake()).expect("a thread")
    }

    /// Waits until the job with that label is running.
    fn wait_for_start(runner: &Runner<Counter>, label: u32) {
        wait(|| runner.shared.lock().running.as_ref().is_some_and(|running| running.label == label).then_some(()));
    }

    const NO_GRACE: Policy = Policy::LatestWins { grace: Duration::ZERO };

    #[test]
    fn a_queue_runs_every_job_in_order() {
        let runner = runner(Policy::Queue);
        for number in 0..20 {
            runner.submit((number, Act::Return));
        }
        for number in 0..20 {
            assert_eq!(wait(|| runner.take()), (number, Ok((number, number + 1))));
        }
        assert!(runner.status().is_none() && runner.take().is_none());
    }

    #[test]
    fn the_queue_can_be_edited_while_a_job_runs() {
        let runner = runner(Policy::Queue);
        runner.submit((0, Act::UntilCancelled));
        wait_for_start(&runner, 0);
        for number in 1..4 {
            runner.submit((number, Act::Return));
        }
        runner.edit_queue(|queue| {
            queue.retain(|(number, _)| *number != 2);
            queue.push_front((9, Act::Return));
        });
        let status = runner.status().expect("running");
        assert_eq!((status.label, status.waiting, status.is_cancelled), (0, 3, false));
        runner.cancel();
        let labels: Vec<u32> = (0..4).map(|_| wait(|| runner.take()).0).collect();
        assert_eq!(labels, [0, 9, 1, 3]);
    }

    #[test]
    fn the_latest_job_wins() {
        let runner = runner(NO_GRACE);
        runner.submit((0, Act::UntilCancelled));
        wait_for_start(&runner, 0);
        for number in 1..6 {
            runner.submit((number, Act::Return));
        }
        let (label, result) = wait(|| runner.take().filter(|(label, _)| *label == 5));
        assert!(label == 5 && result.is_ok());
        wait(|| runner.status().is_none().then_some(()));
        assert!(runner.take().is_none(), "a cancelled job delivers nothing");
    }

    #[test]
    fn a_superseded_job_has_its_grace_period_until_it_has_published() {
        let runner = runner(Policy::LatestWins { grace: Duration::from_secs(3600) });
        let flag = Arc::new(AtomicBool::new(false));
        runner.submit((0, Act::Until(flag.clone())));
        wait_for_start(&runner, 0);
        runner.submit((1, Act::Return));
        std::thread::sleep(Duration::from_millis(20));
        assert!(runner.status().is_some_and(|status| status.label == 0 && !status.is_cancelled));
        runner.shared.publish(0, (100, 0));
        wait(|| runner.status().filter(|status| status.is_cancelled));
        flag.store(true, Ordering::Release);
        assert_eq!(wait(|| runner.take().filter(|(label, _)| *label == 1)), (1, Ok((1, 2))));
    }

    #[test]
    fn a_job_publishes_intermediate_results() {
        let runner = runner(Policy::Queue);
        runner.submit((7, Act::Publish(70)));
        assert_eq!([wait(|| runner.take()), wait(|| runner.take())], [(7, Ok((70, 1))), (7, Ok((7, 1)))]);
    }

    #[test]
    fn a_panic_is_delivered_resets_the_worker_and_the_thread_continues() {
        let runner = runner(Policy::Queue);
        runner.submit((1, Act::Return));
        runner.submit((2, Act::Panic));
        runner.submit((3, Act::Return));
        assert_eq!(wait(|| runner.take()), (1, Ok((1, 1))));
        assert_eq!(wait(|| runner.take()), (2, Err(JobError::Panicked("job 2".into()))));
        assert_eq!(wait(|| runner.take()), (3, Ok((3, 1))));
    }

    #[test]
    fn a_job_stops_when_it_is_cancelled_and_the_next_one_runs() {
        let runner = runner(Policy::Queue);
        runner.submit((1, Act::UntilCancelled));
        runner.submit((2, Act::Return));
        wait_for_start(&runner, 1);
        runner.cancel();
        assert_eq!(wait(|| runner.take()), (1, Err(JobError::Cancelled)));
        assert_eq!(wait(|| runner.take()), (2, Ok((2, 2))));
        runner.submit((3, Act::UntilCancelled));
        runner.submit((4, Act::Return));
        wait_for_start(&runner, 3);
        runner.cancel_all();
        assert_eq!(wait(|| runner.take()), (3, Err(JobError::Cancelled)));
        wait(|| runner.status().is_none().then_some(()));
        assert!(runner.take().is_none());
    }

    #[test]
    fn dropping_cancels_and_joins() {
        let runner = runner(Policy::Queue);
        runner.submit((1, Act::UntilCancelled));
        runner.submit((2, Act::UntilCancelled));
        wait_for_start(&runner, 1);
        let shared = Arc::downgrade(&runner.shared);
        drop(runner);
        assert!(shared.upgrade().is_none(), "the thread has ended");
    }

    #[test]
    fn dropping_finishes_the_queue_if_configured() {
        let config = RunnerConfig { shutdown: Shutdown::Finish, ..RunnerConfig::new("test", Policy::Queue) };
        let mut runner = Runner::start(config, Counter::default(), no_wake()).expect("a thread");
        for number in 0..5 {
            runner.submit((number, Act::Return));
        }
        assert!(runner.shut_down());
        let labels: Vec<u32> = std::iter::from_fn(|| runner.take()).map(|(label, _)| label).collect();
        assert_eq!(labels, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn dropping_detaches_the_thread_after_its_time_limit() {
        let shutdown_timeout = Some(Duration::from_millis(20));
        let config = RunnerConfig { shutdown_timeout, ..RunnerConfig::new("test", Policy::Queue) };
        let mut runner = Runner::start(config, Counter::default(), no_wake()).expect("a thread");
        let flag = Arc::new(AtomicBool::new(false));
        runner.submit((1, Act::Until(flag.clone())));
        wait_for_start(&runner, 1);
        assert!(!runner.shut_down());
        flag.store(true, Ordering::Release);
    }
}
