//! One build of possibly several.

use std::time::Instant;

use super::order::order;
use crate::cli::arguments::BuildOptions;
use crate::cli::error::CliError;
use crate::cli::values::Source;
use crate::cli::{render, source};
use crate::engine::Progress;
use crate::engine::stack::Evaluator;
use crate::files::export::{BuildReport, Plan, commit, stage};
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
    pub fn run(
        &self,
        writes_files: bool,
        evaluator: &mut Evaluator,
        progress: &Progress,
    ) -> Result<BuildReport, CliError> {
        let start = Instant::now();
        let mut staged = Vec::new();
        if let Some((options, file)) = &self.render {
            let order = self.plan.order();
            order.check_replaceable(render::paths(options).iter())?;
            staged = progress.stage(0.0..0.5, || render::stage(file, options, order.overwrite, progress))?;
        }
        let mut report = BuildReport::default();
        let compared = self.plan.comparing_starts_at();
        if writes_files {
            let start = if self.render.is_some() { 0.5 } else { 0.0 };
            let (files, files_report) = progress.stage(start..compared, || stage(&self.plan, evaluator, progress))?;
            // The manifest is the last of them.
            staged.extend(files);
            report = files_report;
        }
        let report = progress.stage(compared..1.0, || commit(&self.plan, staged, report, progress))?;
        Ok(BuildReport { took: start.elapsed(), ..report })
    }
}
