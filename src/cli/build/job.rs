//! One build of possibly several.

use super::order::order;
use crate::cli::arguments::BuildOptions;
use crate::cli::error::CliError;
use crate::cli::values::Source;
use crate::cli::{render, source};
use crate::engine::Progress;
use crate::files::export::{BuildReport, Plan, stage};
use crate::files::io::atomic;
use crate::project::ProjectFile;

/// One build, with a 3-D render if one is requested.
pub struct Job<'a> {
    pub plan: Plan,
    render: Option<(&'a BuildOptions, ProjectFile)>,
}

impl<'a> Job<'a> {
    pub fn new(source: &Source, options: &'a BuildOptions) -> Result<Self, CliError> {
        let file = source::load(source, &options.changes)?;
        let render = options.render.is_some().then(|| (options, file.clone()));
        Ok(Self { plan: Plan::new(order(source, file, options)?)?, render })
    }

    /// Computes all files and then puts them in place together.
    pub fn run(&self, writes_files: bool, progress: &Progress) -> Result<BuildReport, CliError> {
        let mut renders = Vec::new();
        if let Some((options, file)) = &self.render {
            renders = progress.stage(0.0..0.5, || render::stage(file, options, progress))?;
        }
        let (mut staged, mut report) = Default::default();
        if writes_files {
            let start = if self.render.is_some() { 0.5 } else { 0.0 };
            (staged, report) = progress.stage(start..1.0, || stage(&self.plan, progress))?;
        }
        progress.check()?;
        staged.extend(renders);
        report.files = atomic::commit_all(staged)?;
        progress.report(1.0);
        Ok(report)
    }
}
