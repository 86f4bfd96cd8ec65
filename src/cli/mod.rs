//! The command line: parses the arguments and runs the subcommands.
//!
//! No subcommand needs a display. Each has its own file, next to the modules that they share.

mod arguments;
mod build;
mod convert;
mod error;
mod fault;
mod faults;
mod generate;
mod heightmap;
mod inspect;
mod interrupt;
mod list;
mod output;
mod play;
mod progress;
mod render;
mod search;
mod source;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;

use self::arguments::{Arguments, Subcommand, public_command};
use crate::engine::parameters::nearest_name;

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
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let parsed = match misused_file(&arguments) {
        Some(problem) => Err(Arguments::command().error(ErrorKind::InvalidSubcommand, problem)),
        None => arguments::parse(arguments),
    };
    let Arguments { subcommand, file } = parsed.unwrap_or_else(|error| error.exit());
    match subcommand {
        Some(subcommand) => Command::Task(Task(Box::new(subcommand))),
        None => Command::Editor(file),
    }
}

/// The names of the subcommands, in the order of `--help`.
pub fn subcommand_names() -> Vec<String> {
    public_command().get_subcommands().map(|subcommand| subcommand.get_name().to_string()).collect()
}

/// What is wrong with a first argument that is no subcommand: then it is the file to open in the editor, which takes no
/// other arguments.
fn misused_file(arguments: &[OsString]) -> Option<String> {
    let [_, first, rest @ ..] = arguments else { return None };
    let (path, text) = (Path::new(first), first.to_string_lossy());
    let command = Arguments::command();
    let is_command = command.get_subcommands().any(|subcommand| subcommand.get_name() == text);
    if text.starts_with('-') || text == "help" || is_command {
        return None;
    }
    let next = rest.first().map(|next| next.to_string_lossy());
    match next {
        // The parser's own message about an unknown option is clear, and so is the editor's about a missing file.
        Some(next) if path.exists() && next.starts_with('-') => None,
        None if path.exists() || path.extension().is_some() => None,
        Some(next) if path.exists() => {
            Some(format!("\"{text}\" opens in the editor, which takes no further arguments; leave out \"{next}\""))
        }
        _ => {
            let names = subcommand_names();
            let alike = names.iter().map(String::as_str).filter(|name| name.chars().next() == text.chars().next());
            let nearest = nearest_name(&text, alike);
            let hint = nearest.map_or("the".into(), |name| format!("did you mean \"{name}\"? The"));
            Some(format!("\"{text}\" is neither a command nor a file; {hint} commands are {}", names.join(", ")))
        }
    }
}

/// Runs a subcommand and returns its exit status: 0 for success, 1 for failure, 2 for invalid arguments,
/// 3 if a rule of the level is broken.
pub fn run(task: &Task) -> ExitCode {
    let result = match &*task.0 {
        Subcommand::Build(options) => build::run(options),
        Subcommand::Presets(options) => list::presets(options),
        Subcommand::Operations(options) => list::operations(options),
        Subcommand::Faults(options) => faults::run(options),
        Subcommand::Convert(options) => convert::run(options),
        Subcommand::Inspect(options) => inspect::run(options),
        Subcommand::Play(options) => play::run(options),
        Subcommand::Search(options) => search::run(options),
        Subcommand::Fault(options) => fault::run(options),
        Subcommand::Generate(options) => generate::run(options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_error(&format!("error: {error}"));
            ExitCode::from(error.status())
        }
    }
}
