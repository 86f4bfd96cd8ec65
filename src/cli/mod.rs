//! The command line: parses the arguments and runs the subcommands.
//!
//! No subcommand needs a display. Each has its own file, next to the modules that they share.

mod arguments;
mod build;
mod convert;
mod error;
mod fault;
mod faults;
mod heightmap;
mod inspect;
mod interrupt;
mod list;
mod output;
mod progress;
mod render;
mod source;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use self::arguments::{Arguments, Subcommand};

/// The action that the arguments request.
#[derive(Debug)]
pub enum Command {
    /// Open the editor, with a file if one is given.
    Editor(Option<PathBuf>),
    /// Run a subcommand and exit.
    Task(Task),
}

/// A subcommand with its options.
#[derive(Debug)]
pub struct Task(Box<Subcommand>);

/// Parses the arguments, the first of which is the name of the program. Invalid arguments exit the process with status
/// 2, `--help` and `--version` with status 0.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Command {
    let Arguments { subcommand, file } = Arguments::parse_from(arguments);
    match subcommand {
        Some(subcommand) => Command::Task(Task(Box::new(subcommand))),
        None => Command::Editor(file),
    }
}

/// Runs a subcommand and returns its exit status: 0 for success, 1 for failure, 2 for invalid arguments.
pub fn run(task: &Task) -> ExitCode {
    let result = match &*task.0 {
        Subcommand::Build(options) => build::run(options),
        Subcommand::Presets(options) => list::presets(options),
        Subcommand::Operations(options) => list::operations(options),
        Subcommand::Faults(options) => faults::run(options),
        Subcommand::Convert(options) => convert::run(options),
        Subcommand::Inspect(options) => inspect::run(options),
        Subcommand::Fault(options) => fault::run(options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&format!("error: {error}"));
            ExitCode::from(error.status())
        }
    }
}
