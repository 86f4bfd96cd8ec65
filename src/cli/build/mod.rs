//! `upthrust build`: evaluates a recipe and writes files.

mod job;
mod once;
mod order;
mod variants;
mod warnings;
mod watch;

use self::once::{Requested, build, print_report};
use self::order::target_of;
use super::arguments::BuildOptions;
use super::error::CliError;
use super::interrupt;
use super::output::print_lines;
use crate::engine::stack::Evaluator;
use crate::files::targets;

/// Evaluates a recipe and writes the requested files.
pub fn run(options: &BuildOptions) -> Result<(), CliError> {
    if options.target.as_deref() == Some("list") {
        return print_lines(targets::ALL.iter().map(|target| target.line()));
    }
    // Before a large file is read.
    options.target.as_deref().map(target_of).transpose()?;
    let requested = Requested::new(options);
    requested.check(options)?;
    let source = options.source.as_ref().ok_or_else(|| {
        CliError::Usage("nothing to build; name a project file, or a preset as in preset:NAME".into())
    })?;
    if options.watch {
        return watch::run(source, options, &requested);
    }
    let report = build(source, options, &requested, None, &mut Evaluator::uncached(), &interrupt::progress())?;
    print_report(&report, options.progress)
}
