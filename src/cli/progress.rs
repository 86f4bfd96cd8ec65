//! Progress on a terminal or for a program, read off the monitor by a small thread.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::arguments::ProgressKind;
use super::print;
use crate::engine::Progress;

/// How often progress is shown.
const INTERVAL: Duration = Duration::from_millis(100);

/// Characters of a full bar.
const BAR: usize = 40;

/// How progress is shown, decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Bar,
    Json,
    Nothing,
}

impl Shown {
    fn new(kind: ProgressKind) -> Self {
        match kind {
            ProgressKind::Auto if io::stderr().is_terminal() => Self::Bar,
            ProgressKind::Bar => Self::Bar,
            ProgressKind::Json => Self::Json,
            ProgressKind::Auto | ProgressKind::None => Self::Nothing,
        }
    }

    fn show(self, fraction: f32) {
        match self {
            Self::Bar => {
                let full = (fraction * BAR as f32) as usize;
                let _ = write!(io::stderr(), "\r[{:<BAR$}] {:>3.0} %", "#".repeat(full.min(BAR)), fraction * 100.0);
            }
            Self::Json => print::say(&json!({"progress": fraction}).to_string()),
            Self::Nothing => {}
        }
    }
}

/// Does the work while its progress is shown. The last state is shown too: all of it where the work succeeds.
pub fn show_while<T, E>(kind: ProgressKind, progress: &Progress, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let shown = Shown::new(kind);
    if shown == Shown::Nothing {
        return work();
    }
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            let mut last = None;
            while is_done.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let fraction = progress.fraction().clamp(0.0, 1.0);
                if last != Some(fraction) {
                    shown.show(fraction);
                    last = Some(fraction);
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
    .inspect(|_| shown.show(1.0))
    .inspect(|_| end_line(shown))
    .inspect_err(|_| end_line(shown))
}

fn end_line(shown: Shown) {
    if shown == Shown::Bar {
        print::complain("");
    }
}
