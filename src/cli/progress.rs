//! Shows progress on a terminal or as JSON lines, from a separate thread.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::arguments::ProgressKind;
use super::output::{print_error, print_line};
use crate::engine::Progress;
use crate::engine::cast::{ToFloat, ToInteger};

/// The interval between updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// The width of the bar in characters.
const BAR_WIDTH: usize = 40;

/// The output chosen for a [`ProgressKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgressOutput {
    Bar,
    Json,
    Nothing,
}

impl ProgressOutput {
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
                let full = (fraction * BAR_WIDTH.to_f32()).to_usize();
                let _ = write!(
                    io::stderr(),
                    "\r[{:<BAR_WIDTH$}] {:>3.0} %",
                    "#".repeat(full.min(BAR_WIDTH)),
                    fraction * 100.0
                );
            }
            // The last line, with the written files, reports a failure.
            Self::Json => {
                let _ = print_line(&json!({"progress": fraction}).to_string());
            }
            Self::Nothing => {}
        }
    }
}

/// Runs `work` while showing its progress, and shows 100 % when it succeeds.
pub fn run_with_progress<T, E>(
    kind: ProgressKind,
    progress: &Progress,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let output = ProgressOutput::new(kind);
    if output == ProgressOutput::Nothing {
        return work();
    }
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            let mut last = None;
            while is_done.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let fraction = progress.fraction().clamp(0.0, 1.0);
                if last != Some(fraction) {
                    output.show(fraction);
                    last = Some(fraction);
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
    .inspect(|_| output.show(1.0))
    .inspect(|_| end_line(output))
    .inspect_err(|_| end_line(output))
}

fn end_line(output: ProgressOutput) {
    if output == ProgressOutput::Bar {
        print_error("");
    }
}
