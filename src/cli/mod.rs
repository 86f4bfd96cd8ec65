//! The command line: what was typed, made into work, and done.
//!
//! No subcommand needs a display. Each of them is one file; what they share (sources, progress, interrupts, printing)
//! stands beside them.

mod arguments;
mod build;
mod convert;
mod error;
mod fault;
mod faults;
mod inspect;
mod interrupt;
mod listings;
mod print;
mod progress;
mod render;
mod size;
mod source;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use self::arguments::{Arguments, Subcommand};

/// What the program is asked to do.
#[derive(Debug)]
pub enum Command {
    /// Open the editor, with a file loaded where one is named.
    Editor(Option<PathBuf>),
    /// Do this and leave.
    Task(Task),
}

/// A subcommand with its options.
#[derive(Debug)]
pub struct Task(Box<Subcommand>);

/// Reads the arguments, the program's own name first. Unusable ones end the program with status 2, and `--help` and
/// `--version` with status 0.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Command {
    let Arguments { subcommand, file } = Arguments::parse_from(arguments);
    match subcommand {
        Some(subcommand) => Command::Task(Task(Box::new(subcommand))),
        None => Command::Editor(file),
    }
}

/// Does the work of a subcommand: status 0 done, 1 the work failed, 2 unusable arguments.
pub fn run(task: &Task) -> ExitCode {
    let done = match &*task.0 {
        Subcommand::Build(options) => build::run(options),
        Subcommand::Presets(options) => listings::presets(options),
        Subcommand::Operations(options) => listings::operations(options),
        Subcommand::Faults(options) => faults::run(options),
        Subcommand::Convert(options) => convert::run(options),
        Subcommand::Inspect(options) => inspect::run(options),
        Subcommand::Fault(options) => fault::run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::complain(&format!("error: {error}"));
            ExitCode::from(error.status())
        }
    }
}
