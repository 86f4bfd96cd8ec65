//! The program: arguments, then the command line or the editor.

use std::path::PathBuf;
use std::process::ExitCode;

use upthrust::cli::{self, Command};
use upthrust::files::io::guard::silence_guarded_panics;
use upthrust::files::io::memory::return_freed_blocks;

fn main() -> ExitCode {
    silence_guarded_panics();
    match cli::parse(std::env::args_os()) {
        Command::Task(task) => {
            return_freed_blocks();
            cli::run(&task)
        }
        Command::Editor(file) => edit(file),
    }
}

#[cfg(feature = "gui")]
fn edit(file: Option<PathBuf>) -> ExitCode {
    upthrust::app::run(file)
}

#[cfg(not(feature = "gui"))]
fn edit(_file: Option<PathBuf>) -> ExitCode {
    eprintln!(
        "error: the editor is not in this build, which has the commands {}; see \"upthrust --help\"",
        cli::subcommand_names().join(", ")
    );
    ExitCode::FAILURE
}
