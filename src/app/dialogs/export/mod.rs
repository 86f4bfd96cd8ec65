//! The export dialog: choices, what will be written and how to import it; then the progress, then the result.

mod choices;
mod command_line;
mod controls;
mod planned;
mod report;
mod summary;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use egui::{Button, ScrollArea, Sense, TextEdit, Ui, UiBuilder, Vec2};

use self::choices::Choices;
use self::command_line::command_line;
use self::controls::{row_ui, size_ui, target_ui};
use self::planned::Planned;
pub(crate) use self::report::COPY_NOTES;
use self::report::{Report, ReportResponse, RunningResponse, running_ui};
use self::summary::{MAX_LISTED, SummaryContext, cost_ui, summary_ui, warnings_ui};
use crate::app::dialogs::byte_size::bytes;
use crate::app::document::{export_stem, file_name};
use crate::app::widgets::parameter::ParameterState;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{enter_pressed, modal, visible_scroll_bars};
use crate::engine::parameters::Band;
use crate::engine::{Extent, Grid};
use crate::files::export::{CostEstimate, Order, Plan};
use crate::files::io::FileError;
use crate::files::targets;
use crate::project::{ExportSettings, Project};
use crate::worker::{ExportOutcome, ExportStatus, TargetCheck};

/// The width of the contents, points.
const WIDTH: f32 = 560.0;

/// The height of the contents if the screen has room for it, points. It is the same for all choices, so that nothing moves
/// under the pointer.
const HEIGHT: f32 = 880.0;

/// What a window has to be higher than the contents, points.
const MARGINS: f32 = 64.0;

/// The least height of the choices and lists, points.
const MIN_BODY_HEIGHT: f32 = 64.0;

/// The width of the main button, points: that of its longest text, so that its neighbour does not move.
const MAIN_BUTTON_WIDTH: f32 = 184.0;

/// How long the folder has to be unchanged before the disk is checked, so that not every keystroke causes a check.
const TYPING_PAUSE: Duration = Duration::from_millis(300);

/// The label of the button that copies the command line.
const COPY_COMMAND_LINE: &str = "Copy as command line";

/// What the dialog reads besides the project.
pub(crate) struct ExportContext<'a> {
    /// The id of the project in the document.
    pub(crate) project_id: usize,
    /// The project's file, if it has one.
    pub(crate) project_path: Option<&'a Path>,
    /// The height range of the preview, if it shows the exported terrain.
    pub(crate) heights_m: Option<Band>,
    /// The iteration that is shown and the last one, if they differ.
    pub(crate) unfinished_position: Option<[u32; 2]>,
    /// The running export.
    pub(crate) status: Option<ExportStatus>,
    /// Whether other work keeps the processor busy, so that a trial would not tell how long an export takes.
    pub(crate) is_busy: bool,
}

/// What the dialog wants done.
pub(crate) enum ExportResponse {
    ChooseFolder,
    /// Check whether these files can be written.
    CheckTargets(Vec<PathBuf>),
    /// Estimate the cost of this order.
    EstimateCost(Box<Order>),
    Export(Box<Plan>),
    /// Cancel the running export.
    Cancel,
    ShowFolder(PathBuf),
    Close,
}

/// The cost of the export. The recipe cannot change while the dialog is open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Cost {
    #[default]
    Unknown,
    Requested,
    Estimated(Option<CostEstimate>),
}

/// An export that can be repeated.
#[derive(Clone)]
struct RepeatableExport {
    project_id: usize,
    choices: Choices,
    folder: PathBuf,
    /// The files that it wrote.
    files: BTreeSet<PathBuf>,
}

/// The dialog and its choices, which are kept while the program runs.
#[derive(Default)]
pub(crate) struct ExportDialog {
    choices: Choices,
    /// The project for which the dialog was opened.
    project_id: Option<usize>,
    /// The height of what is below the choices and lists, points.
    footer_height: f32,
    planned: Option<Arc<Planned>>,
    /// When the folder was last edited, in seconds of the interface's clock.
    folder_edited_s: Option<f64>,
    /// The files that were checked last.
    checked_files: Vec<PathBuf>,
    target_check: Option<TargetCheck>,
    cost: Cost,
    /// Why an action failed.
    error: Option<String>,
    /// Whether an export of this dialog is running or queued.
    is_running: bool,
    report: Option<Report>,
    /// The export that is running, and the last one that succeeded.
    running: Option<RepeatableExport>,
    last: Option<RepeatableExport>,
    /// The command line that was copied last.
    copied: Option<String>,
    /// The import steps of the last export that had some.
    notes: Option<String>,
    pub(crate) parameters: ParameterState,
}

impl ExportDialog {
    /// Opens the dialog for a project and checks the disk again. The result of the last export is shown if it has not been
    /// seen. The folder and the tiles of another project are forgotten.
    pub(crate) fn open(&mut self, project_id: usize) {
        if self.project_id.replace(project_id).is_some_and(|before| before != project_id) {
            (self.choices.folder, self.choices.tiles) = (None, [1; 2]);
        }
        self.discard_target_check();
        (self.error, self.cost, self.copied) = (None, Cost::default(), None);
    }

    /// The plan of the last export of a project, to be repeated with the project as it is now; `None` if it has not been
    /// exported yet. The error says why it is not possible any more.
    pub(crate) fn again(
        &self,
        project_id: usize,
        project: &Project,
        settings: &ExportSettings,
    ) -> Option<Result<Plan, String>> {
        let last = self.last.as_ref().filter(|last| last.project_id == project_id)?;
        let order = last.choices.order(project, settings, &last.folder);
        let mut plan = order.and_then(|order| Plan::new(order).map_err(|error| error.to_string()));
        plan.iter_mut().for_each(|plan| plan.repeat(last.files.clone()));
        Some(plan)
    }

    /// Selects the target with this index in the list of targets.
    pub(crate) fn choose_target(&mut self, i: usize) {
        self.choices.target = targets::ALL.get(i).copied();
    }

    /// The import steps of the last export that had some.
    pub(crate) fn import_notes(&self) -> Option<&str> {
        self.notes.as_deref()
    }

    fn discard_target_check(&mut self) {
        (self.checked_files, self.target_check) = (Vec::new(), None);
    }

    /// Sets the folder that was chosen.
    pub(crate) fn set_folder(&mut self, folder: &Path) {
        self.choices.folder = Some(folder.display().to_string());
        self.folder_edited_s = None;
    }

    /// Receives the result of a check; one of other files is outdated.
    pub(crate) fn receive_target_check(&mut self, check: TargetCheck) {
        if check.files == self.checked_files {
            self.target_check = Some(check);
        }
    }

    /// Receives the estimated cost.
    pub(crate) fn receive_cost_estimate(&mut self, estimate: Option<CostEstimate>) {
        self.cost = Cost::Estimated(estimate);
    }

    /// Receives the outcome of an export.
    pub(crate) fn receive_outcome(&mut self, outcome: &ExportOutcome) {
        let is_of_dialog = std::mem::take(&mut self.is_running);
        let running = self.running.take();
        self.discard_target_check();
        match outcome {
            ExportOutcome::Written(built) => {
                let report = Report::new(built.clone());
                self.notes = report.import_notes().or(self.notes.take());
                self.last = running.or(self.last.take());
                if let Some(last) = &mut self.last {
                    last.files = built.all_files();
                }
                // A repeated export is reported in the status bar.
                self.report = is_of_dialog.then_some(report);
            }
            ExportOutcome::Cancelled => self.error = Some("Cancelled; no files were written.".into()),
            ExportOutcome::Failed(error) => self.error = Some(error.to_string()),
        }
    }

    /// The grid of the export.
    pub(crate) fn grid(&self, extent: Extent, settings: &ExportSettings) -> Grid {
        self.choices.grid(extent, settings)
    }

    /// Draws the dialog.
    pub(crate) fn ui(
        &mut self,
        ctx: &egui::Context,
        project: &Project,
        settings: &mut ExportSettings,
        context: &ExportContext,
    ) -> Option<ExportResponse> {
        self.choices.stem = export_stem(project, context.project_path);
        // Each view has a window of its own, because their heights differ.
        let name = match (self.is_running || context.status.is_some(), &self.report) {
            (true, _) => "exporting",
            (false, Some(_)) => "exported",
            (false, None) => "export",
        };
        let modal = modal(name, ctx).stay_on_outside_click().show(ctx, |ui| {
            ui.set_width(WIDTH);
            if self.is_running || context.status.is_some() {
                running_ui(ui, context.status.as_ref()).map(|response| match response {
                    RunningResponse::Close => ExportResponse::Close,
                    RunningResponse::Cancel => ExportResponse::Cancel,
                })
            } else if let Some(report) = &mut self.report {
                match report.ui(ui)? {
                    ReportResponse::ShowFolder(folder) => Some(ExportResponse::ShowFolder(folder)),
                    ReportResponse::Close => Some(ExportResponse::Close),
                    ReportResponse::AnotherExport => {
                        self.report = None;
                        None
                    }
                }
            } else {
                let height = (ctx.content_rect().height() - MARGINS).min(HEIGHT);
                // Of this size whatever is in it, so that the window stays where it is.
                let (rect, _) = ui.allocate_exact_size(Vec2::new(WIDTH, height), Sense::hover());
                let mut ui = ui.new_child(UiBuilder::new().max_rect(rect).layout(*ui.layout()));
                self.choices_ui(&mut ui, project, settings, context)
            }
        });
        let should_close = modal.should_close();
        let response = modal.inner.or_else(|| should_close.then_some(ExportResponse::Close));
        if matches!(response, Some(ExportResponse::Close)) {
            self.report = None;
        }
        response
    }

    fn choices_ui(
        &mut self,
        ui: &mut Ui,
        project: &Project,
        settings: &mut ExportSettings,
        context: &ExportContext,
    ) -> Option<ExportResponse> {
        ui.heading("Export");
        ui.add_space(4.0);
        let body_height = (ui.available_height() - self.footer_height).max(MIN_BODY_HEIGHT);
        visible_scroll_bars(ui);
        // Each target has its own position in the list of steps.
        let id = ("export", self.choices.target.map(|target| target.key));
        let body = ScrollArea::vertical().id_salt(id).max_height(body_height).auto_shrink(false);
        let (folder, planned, response) = body.show(ui, |ui| self.body_ui(ui, project, settings, context)).inner;
        let body_bottom = ui.cursor().top();
        let footer = self.footer_ui(ui, &planned, context, &folder);
        if let Some(FooterResponse::Use { samples, tiles }) = footer {
            settings.samples = samples;
            self.choices.tiles = tiles;
            return response;
        }
        let footer_height = ui.cursor().top() - body_bottom;
        if (footer_height - self.footer_height).abs() > 0.5 {
            self.footer_height = footer_height;
            ui.ctx().request_discard("the lower part of the export dialog has another height");
            ui.ctx().request_repaint();
        }
        match footer {
            Some(FooterResponse::Cancel) => Some(ExportResponse::Close),
            Some(FooterResponse::Export(plan)) => {
                (self.is_running, self.error) = (true, None);
                let (project_id, choices) = (context.project_id, self.choices.clone());
                self.running =
                    Some(RepeatableExport { project_id, choices, folder: folder.into(), files: BTreeSet::new() });
                Some(ExportResponse::Export(plan))
            }
            Some(FooterResponse::Use { .. }) | None => response,
        }
    }

    /// The choices and what they lead to; returns the folder and the plan.
    fn body_ui(
        &mut self,
        ui: &mut Ui,
        project: &Project,
        settings: &mut ExportSettings,
        context: &ExportContext,
    ) -> (String, Arc<Planned>, Option<ExportResponse>) {
        target_ui(ui, &mut self.choices);
        size_ui(ui, &mut self.choices, project.recipe.world.extent(), settings, &mut self.parameters);
        let (folder, chosen) = self.folder_ui(ui, context.project_path);
        ui.add_space(8.0);
        let planned = self.planned(project, settings, folder.clone());
        let mut response = chosen;
        if let Ok(plan) = &planned.plan {
            response = response.or_else(|| self.request(ui, &planned, plan, context.is_busy));
            summary_ui(ui, plan, &self.summary_context(&planned, context));
        }
        (folder, planned, response)
    }

    fn summary_context(&self, planned: &Planned, context: &ExportContext) -> SummaryContext {
        let ExportContext { heights_m, unfinished_position, .. } = *context;
        SummaryContext {
            heights_m,
            unfinished_position,
            memory_bytes: planned.memory_bytes,
            available_bytes: self.target_check.as_ref().and_then(|check| check.available_bytes),
            cost: match self.cost {
                Cost::Estimated(estimate) => Some(estimate),
                Cost::Unknown | Cost::Requested => None,
            },
        }
    }

    /// Warnings, the cost, whether the export is possible, and the buttons: always in view.
    fn footer_ui(
        &mut self,
        ui: &mut Ui,
        planned: &Planned,
        context: &ExportContext,
        folder: &str,
    ) -> Option<FooterResponse> {
        ui.add_space(4.0);
        let can_export = match &planned.plan {
            Ok(plan) => {
                let summary = self.summary_context(planned, context);
                warnings_ui(ui, plan, &summary);
                let used = self.undistorted_ui(ui, planned);
                cost_ui(ui, plan, &summary);
                if used.is_some() {
                    return used;
                }
                self.target_check_ui(ui, planned.memory_bytes)
            }
            Err(problem) => {
                ui.colored_label(colours(ui).error, problem);
                false
            }
        };
        if let Some(error) = &self.error {
            ui.colored_label(colours(ui).error, error);
        }
        ui.add_space(8.0);
        let replaced = self.target_check.as_ref().map(|check| check.replaced.clone()).unwrap_or_default();
        let copied = planned.plan.as_ref().ok().zip(context.project_path).map(|(plan, project_path)| {
            command_line(project_path, self.choices.target, Path::new(folder), plan.order(), !replaced.is_empty())
        });
        let [export, cancel] = self.buttons_ui(ui, copied.as_deref(), can_export, replaced.len());
        if cancel {
            return Some(FooterResponse::Cancel);
        }
        let plan = planned.plan.as_ref().ok().filter(|_| export)?;
        match replacing(plan, replaced) {
            Ok(plan) => Some(FooterResponse::Export(Box::new(plan))),
            Err(error) => {
                self.error = Some(error.to_string());
                None
            }
        }
    }

    /// Offers the size in which the program shows the world in its proportions, if the chosen one is not.
    fn undistorted_ui(&self, ui: &mut Ui, planned: &Planned) -> Option<FooterResponse> {
        let (longer, tiles) = planned.undistorted?;
        let samples = u32::try_from(longer).ok()?;
        let name = match tiles {
            [columns, rows] if tiles != self.choices.counts() => {
                format!("Use {columns} × {rows} tiles, {longer} samples")
            }
            _ => format!("Use {longer} samples"),
        };
        ui.button(name).clicked().then_some(FooterResponse::Use { samples, tiles })
    }

    /// The next check or estimate that the plan needs.
    fn request(&mut self, ui: &Ui, planned: &Planned, plan: &Plan, is_busy: bool) -> Option<ExportResponse> {
        if planned.files != self.checked_files {
            self.target_check = None;
            if !self.is_typing(ui) {
                self.checked_files.clone_from(&planned.files);
                return Some(ExportResponse::CheckTargets(planned.files.clone()));
            }
        }
        (self.cost == Cost::Unknown && !is_busy).then(|| {
            self.cost = Cost::Requested;
            ExportResponse::EstimateCost(Box::new(plan.order().clone()))
        })
    }

    /// The plan of the current choices, made again only if something that it depends on has changed.
    fn planned(&mut self, project: &Project, settings: &ExportSettings, folder: String) -> Arc<Planned> {
        let current = self.planned.as_ref();
        let current = current.filter(|planned| planned.is_current(&self.choices, project, settings, &folder));
        match current {
            Some(planned) => planned.clone(),
            None => {
                let planned = Planned::new(&self.choices, project, settings, folder);
                self.planned.insert(Arc::new(planned)).clone()
            }
        }
    }

    /// Whether the user is still typing the folder; requests a repaint for when the pause is over.
    fn is_typing(&self, ui: &Ui) -> bool {
        let Some(edited_s) = self.folder_edited_s else { return false };
        let left_s = TYPING_PAUSE.as_secs_f64() - (ui.input(|input| input.time) - edited_s);
        if left_s > 0.0 {
            ui.ctx().request_repaint_after(Duration::from_secs_f64(left_s));
        }
        left_s > 0.0
    }

    /// The folder field; returns the folder, and a response if the user wants to choose it.
    fn folder_ui(&mut self, ui: &mut Ui, project_path: Option<&Path>) -> (String, Option<ExportResponse>) {
        let mut folder = self.choices.folder(project_path);
        let mut response = None;
        row_ui(ui, "Folder", |ui, label| {
            let field = TextEdit::singleline(&mut folder).desired_width(WIDTH - 220.0);
            if ui.add(field).labelled_by(label).changed() {
                self.choices.folder = Some(folder.clone());
                self.folder_edited_s = Some(ui.input(|input| input.time));
            }
            if ui.button("Choose folder…").clicked() {
                self.error = None;
                response = Some(ExportResponse::ChooseFolder);
            }
        });
        (folder.trim().to_string(), response)
    }

    /// Shows whether the files can be written; returns whether they can.
    fn target_check_ui(&mut self, ui: &mut Ui, needed: u64) -> bool {
        // A row of its own from the start, so that nothing moves when the check is done.
        let is_writable = ui.horizontal_wrapped(|ui| self.folder_check_ui(ui)).inner;
        let Some(check) = self.target_check.as_ref().filter(|_| is_writable) else { return false };
        let Some(available) = check.available_bytes.filter(|available| needed > *available) else { return true };
        let text = format!(
            "This needs {} of memory, but {} are free; choose a smaller size or close other programs.",
            bytes(needed),
            bytes(available)
        );
        ui.colored_label(colours(ui).error, text);
        false
    }

    /// The buttons at the bottom; returns whether the main one, which names how many files it replaces, and Cancel were
    /// chosen.
    fn buttons_ui(
        &mut self,
        ui: &mut Ui,
        command_line: Option<&str>,
        can_export: bool,
        replaced_count: usize,
    ) -> [bool; 2] {
        let left = |ui: &mut Ui| {
            let is_copied = command_line.is_some() && self.copied.as_deref() == command_line;
            let button = Button::new(if is_copied { "Copied" } else { COPY_COMMAND_LINE });
            let response = ui.add_enabled(command_line.is_some(), button);
            let response = response.on_disabled_hover_text("Save the project first: the command reads its file");
            if let Some(line) = command_line
                && response.on_hover_text(format!("Builds the project as it was last saved:\n{line}")).clicked()
            {
                ui.ctx().copy_text(line.into());
                self.copied = Some(line.into());
            }
        };
        let name = match replaced_count {
            0 => "Export".into(),
            1 => "Export and replace 1 file".into(),
            count => format!("Export and replace {count} files"),
        };
        let right = |ui: &mut Ui| {
            let button = Button::selectable(can_export, name).min_size(Vec2::new(MAIN_BUTTON_WIDTH, 0.0));
            let export = ui.add_enabled(can_export, button);
            let enter = can_export & enter_pressed(ui);
            [export.clicked() || enter, ui.button("Cancel").clicked()]
        };
        egui::Sides::new().show(ui, left, right).1
    }

    /// Shows what the check of the files found; returns whether they can be written.
    fn folder_check_ui(&self, ui: &mut Ui) -> bool {
        let Some(check) = &self.target_check else {
            ui.weak("Checking the folder");
            return false;
        };
        if let Some(obstacle) = &check.obstacle {
            ui.colored_label(colours(ui).error, obstacle);
            return false;
        }
        let text = match (&check.replaced[..], &check.new_folder) {
            ([], Some(folder)) => format!("The folder {} will be created.", folder.display()),
            ([], None) => "No existing files will be replaced.".into(),
            ([file], _) => format!("{} exists and will be replaced.", file_name(file)),
            (files, _) => format!("{} of these files exist and will be replaced.", files.len()),
        };
        if check.replaced.is_empty() {
            ui.weak(text);
        } else {
            let names: Vec<String> = check.replaced.iter().take(MAX_LISTED).map(|file| file_name(file)).collect();
            ui.colored_label(colours(ui).accent_text, text).on_hover_text(names.join("\n"));
        }
        true
    }
}

/// What the user chose below the choices.
enum FooterResponse {
    Export(Box<Plan>),
    /// Export with this number of samples along the longer side, in these tiles.
    Use {
        samples: u32,
        tiles: [usize; 2],
    },
    Cancel,
}

/// The plan as one that replaces these files and no others.
fn replacing(plan: &Plan, files: Vec<PathBuf>) -> Result<Plan, FileError> {
    let overwrite = !files.is_empty();
    let replaceable = Some(files.into_iter().collect()).filter(|_| overwrite);
    Plan::new(Order { overwrite, replaceable, ..plan.order().clone() })
}

#[cfg(test)]
impl ExportDialog {
    /// The lines of the file list, with the names of the files and their maximum lengths.
    pub(crate) fn listed(
        &self,
        project: &Project,
        settings: &ExportSettings,
        folder: &Path,
    ) -> Vec<(String, String, Option<u64>)> {
        let order = self.choices.order(project, settings, folder).expect("possible");
        let plan = Plan::new(order).expect("possible");
        let line = |file| text::file_line(file, plan.order());
        plan.files().iter().map(|file| (line(file), file_name(&file.path), file.max_bytes)).collect()
    }

    pub(crate) fn choose_tiles(&mut self, counts: [usize; 2]) {
        self.choices.tiles = counts;
    }
}
