//! The export window: for which program, how large, what will be written and what to type there; then how far it is,
//! and what came of it.
//!
//! Everything it says follows from the very [`Order`] that it hands over.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use egui::{Align, ComboBox, DragValue, Key, Layout, ProgressBar, ScrollArea, TextEdit, Ui};

use crate::app::document::{file_name, file_stem};
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{main_button, modal};
use crate::engine::parameters::Band;
use crate::engine::{Extent, Grid, Recipe};
use crate::files::export::{
    CostEstimate, HeightmapOrder, Order, Plan, PlannedFile, TextureOrder, TileNaming, Tiles, estimated_import_steps,
    memory_needed, texture_size,
};
use crate::files::formats::heightmap::{Format, Samples};
use crate::files::targets;
use crate::files::targets::{Sizes, Target};
use crate::project::{ExportSettings, Project};
use crate::worker::{ExportOutcome, ExportStatus, TargetCheck};

/// How the heightmap is written where it is made for no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeightmapFormat {
    Png16,
    Raw16,
    Raw32,
}

impl HeightmapFormat {
    const ALL: [Self; 3] = [Self::Png16, Self::Raw16, Self::Raw32];

    fn label(self) -> &'static str {
        match self {
            Self::Png16 => "PNG, 16-bit grey (.png)",
            Self::Raw16 => "RAW, 16-bit (.r16)",
            Self::Raw32 => "RAW, 32-bit float metres (.r32)",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Png16 => "png",
            Self::Raw16 => "r16",
            Self::Raw32 => "r32",
        }
    }
}

/// The name of the choice that is made for no program.
const PLAIN: &str = "Heightmap and texture files";

/// The width of what the window holds, points.
const WIDTH: f32 = 560.0;

/// The most tiles along a side that can be chosen here.
const MOST_TILES: usize = 16;

/// The name of the button that copies what is to be done in the program.
pub(crate) const COPY_NOTES: &str = "Copy import notes";

/// So many files are listed one by one.
const LISTED: usize = 64;

/// What the window draws on beside the project.
pub(crate) struct Around<'a> {
    /// The project's file, if it has one.
    pub(crate) project_path: Option<&'a Path>,
    /// The lowest and the highest height of the preview, metres, where it shows the land that is written.
    pub(crate) heights_m: Option<Band>,
    /// The iteration that is shown and the last one, where they are not the same.
    pub(crate) on_the_way: Option<[u32; 2]>,
    /// What is being exported.
    pub(crate) status: Option<ExportStatus>,
}

/// What the user decided in the window, or what it needs to know.
pub(crate) enum Decision {
    ChooseFolder,
    /// Whether these files can be written.
    TargetCheck(Vec<PathBuf>),
    /// How quickly this is computed.
    TryOut(Box<Order>),
    Export(Box<Plan>),
    /// Stop what is being exported.
    Cancel,
    ShowFolder(PathBuf),
    Close,
}

/// What is known of how quickly the recipe is computed. It cannot change while the window is open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Trial {
    #[default]
    Untried,
    Asked,
    Done(Option<CostEstimate>),
}

/// A plan and everything that it was made from. It is made again when one of these changes.
struct Planned {
    choices: Choices,
    settings: ExportSettings,
    name: String,
    recipe: Recipe,
    water_m: Option<f64>,
    /// The plan, or why the export is not possible.
    plan: Result<Plan, String>,
    /// The files of the plan.
    files: Vec<PathBuf>,
    /// The memory that the export needs.
    memory_bytes: u64,
}

impl Planned {
    fn is_current(&self, choices: &Choices, project: &Project, settings: &ExportSettings) -> bool {
        self.choices == *choices
            && self.settings == *settings
            && self.name == project.name
            && self.water_m == project.water.water_m
            && self.recipe == project.recipe
    }
}

/// The choices of the dialog that a plan depends on.
#[derive(Clone, Debug, PartialEq)]
struct Choices {
    target: Option<&'static Target>,
    heightmap: Option<HeightmapFormat>,
    texture: bool,
    tiles: [usize; 2],
    folder: String,
}

/// How long the folder has to be unchanged before the disk is checked, so that not every keystroke causes a check.
const TYPING_PAUSE: Duration = Duration::from_millis(300);

/// The result of an export.
struct Done {
    files: Vec<PathBuf>,
    notes: Vec<String>,
    steps: Vec<String>,
    /// Whether the notes of the import were copied.
    is_copied: bool,
}

/// The window and its choices, which are kept while the program runs.
pub(crate) struct ExportWindow {
    /// The program; `None`: plain files.
    target: Option<&'static Target>,
    heightmap: Option<HeightmapFormat>,
    texture: bool,
    /// Columns and rows.
    tiles: [usize; 2],
    /// Where it goes; `None`: as suggested.
    folder: Option<String>,
    /// Whether files that are there may be replaced.
    replaces: bool,
    /// The files that were asked about last, and what is known of them.
    asked: Vec<PathBuf>,
    survey: Option<TargetCheck>,
    planned: Option<Arc<Planned>>,
    /// When the folder was last edited, in seconds of the interface's clock.
    folder_edited_s: Option<f64>,
    pace: Trial,
    /// Why it did not go as the user wished.
    complaint: Option<String>,
    /// Whether an order of this window is on its way.
    is_running: bool,
    done: Option<Done>,
    /// The notes of the last export that had some.
    notes: Option<String>,
    pub(crate) parameters: ParameterState,
}

impl Default for ExportWindow {
    fn default() -> Self {
        Self {
            target: None,
            heightmap: Some(HeightmapFormat::Png16),
            texture: true,
            tiles: [1; 2],
            folder: None,
            replaces: false,
            asked: Vec::new(),
            survey: None,
            planned: None,
            folder_edited_s: None,
            pace: Trial::default(),
            complaint: None,
            is_running: false,
            done: None,
            notes: None,
            parameters: ParameterState::default(),
        }
    }
}

impl ExportWindow {
    /// Begins with a fresh look at the disk; what came of the last export is shown if nobody has seen it.
    pub(crate) fn open(&mut self) {
        self.look_again();
        (self.complaint, self.pace) = (None, Trial::default());
    }

    /// Makes it for the program at that place of their list.
    pub(crate) fn choose(&mut self, i: usize) {
        self.target = targets::ALL.get(i).copied();
    }

    /// The notes of the last export whose program wants some.
    pub(crate) fn import_notes(&self) -> Option<&str> {
        self.notes.as_deref()
    }

    fn look_again(&mut self) {
        (self.asked, self.survey, self.replaces) = (Vec::new(), None, false);
    }

    /// Takes the folder that was chosen.
    pub(crate) fn go_to(&mut self, folder: &Path) {
        self.folder = Some(folder.display().to_string());
        self.folder_edited_s = None;
    }

    /// The desktop cannot ask for a folder.
    pub(crate) fn file_dialog_unavailable(&mut self) {
        self.complaint = Some("This desktop offers no file dialog; type the folder.".into());
    }

    /// Takes what is known of the files; what was asked for earlier files is of no use.
    pub(crate) fn take(&mut self, survey: TargetCheck) {
        if survey.files == self.asked {
            self.survey = Some(survey);
        }
    }

    /// Takes how quickly it is computed.
    pub(crate) fn receive_cost_estimate(&mut self, pace: Option<CostEstimate>) {
        self.pace = Trial::Done(pace);
    }

    /// Takes what came of an export.
    pub(crate) fn ended(&mut self, outcome: &ExportOutcome) {
        self.is_running = false;
        self.look_again();
        match outcome {
            ExportOutcome::Written(built) => {
                let (files, notes, steps) = (built.files.clone(), built.notes.clone(), built.steps.clone());
                let done = Done { files, notes, steps, is_copied: false };
                self.notes = done.import_notes().or(self.notes.take());
                self.done = Some(done);
            }
            ExportOutcome::Cancelled => self.complaint = Some("Cancelled; nothing was left behind.".into()),
            ExportOutcome::Failed(error) => self.complaint = Some(error.to_string()),
        }
    }

    /// Draws the window.
    pub(crate) fn ui(
        &mut self,
        ctx: &egui::Context,
        project: &Project,
        settings: &mut ExportSettings,
        around: &Around,
    ) -> Option<Decision> {
        let modal = modal("export", ctx).show(ctx, |ui| {
            ui.set_width(WIDTH);
            if self.is_running || around.status.is_some() {
                running_ui(ui, around.status.as_ref())
            } else if let Some(done) = &mut self.done {
                let (decision, is_over) = done.ui(ui);
                if is_over {
                    self.done = None;
                }
                decision
            } else {
                self.choosing_ui(ui, project, settings, around)
            }
        });
        let should_close = modal.should_close();
        let decision = modal.inner.or_else(|| should_close.then_some(Decision::Close));
        if matches!(decision, Some(Decision::Close)) {
            self.done = None;
        }
        decision
    }

    fn choosing_ui(
        &mut self,
        ui: &mut Ui,
        project: &Project,
        settings: &mut ExportSettings,
        around: &Around,
    ) -> Option<Decision> {
        let mut decision = None;
        ui.heading("Export");
        ui.add_space(4.0);
        self.target_ui(ui);
        self.size_ui(ui, project.recipe.world.extent(), settings);
        let folder = self.folder_ui(ui, project, around, &mut decision);
        ui.add_space(8.0);
        let planned = self.planned(project, settings, folder);
        let ready = match &planned.plan {
            Ok(plan) => {
                if planned.files != self.asked {
                    (self.survey, self.replaces) = (None, false);
                    if decision.is_none() && !self.is_typing(ui) {
                        self.asked.clone_from(&planned.files);
                        decision = Some(Decision::TargetCheck(planned.files.clone()));
                    }
                }
                if decision.is_none() && self.pace == Trial::Untried {
                    self.pace = Trial::Asked;
                    decision = Some(Decision::TryOut(Box::new(plan.order().clone())));
                }
                self.plan_ui(ui, plan, planned.memory_bytes, around);
                let is_free = self.survey_ui(ui, planned.memory_bytes);
                is_free.then_some(plan)
            }
            Err(problem) => {
                ui.colored_label(colours(ui).error, problem);
                None
            }
        };
        if let Some(complaint) = &self.complaint {
            ui.colored_label(colours(ui).error, complaint);
        }
        ui.add_space(8.0);
        let [export, cancel] = egui::Sides::new()
            .show(
                ui,
                |_| {},
                |ui| {
                    let export = main_button(ui, "Export", ready.is_some());
                    // Enter, unless it is for a control that has the focus.
                    let is_free = ui.memory(|memory| memory.focused().is_none());
                    let enter = is_free && ready.is_some() && ui.input(|input| input.key_pressed(Key::Enter));
                    [export.clicked() || enter, ui.button("Cancel").clicked()]
                },
            )
            .1;
        if cancel {
            return Some(Decision::Close);
        }
        match ready.filter(|_| export) {
            Some(plan) => {
                let mut plan = plan.clone();
                (self.is_running, self.complaint) = (true, None);
                plan.set_overwrite(self.replaces);
                Some(Decision::Export(Box::new(plan)))
            }
            None => decision,
        }
    }

    /// The plan of the current choices, made again only if something that it depends on has changed.
    fn planned(&mut self, project: &Project, settings: &ExportSettings, folder: String) -> Arc<Planned> {
        let Self { target, heightmap, texture, tiles, .. } = *self;
        let choices = Choices { target, heightmap, texture, tiles, folder };
        if let Some(planned) = self.planned.as_ref().filter(|planned| planned.is_current(&choices, project, settings)) {
            return planned.clone();
        }
        let order = self.order(project, settings, Path::new(&choices.folder));
        let plan = order.and_then(|order| Plan::new(order).map_err(|error| error.to_string()));
        let files = plan.iter().flat_map(Plan::paths).map(Path::to_path_buf).collect();
        let memory_bytes = plan.as_ref().map_or(0, memory_needed);
        let Project { name, recipe, water, .. } = project;
        let (settings, name, recipe) = (settings.clone(), name.clone(), recipe.clone());
        let planned = Planned { choices, settings, name, recipe, water_m: water.water_m, plan, files, memory_bytes };
        self.planned.insert(Arc::new(planned)).clone()
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

    /// The program that it is made for.
    fn target_ui(&mut self, ui: &mut Ui) {
        row_ui(ui, "For", |ui, label| {
            let chosen = self.target.map_or(PLAIN, |target| target.label);
            let combo = ComboBox::from_id_salt("export target").selected_text(chosen).width(240.0).height(400.0);
            let shown = combo.show_ui(ui, |ui| {
                ui.selectable_value(&mut self.target, None, PLAIN);
                for target in targets::ALL {
                    ui.selectable_value(&mut self.target, Some(target), target.label).on_hover_text(line(target));
                }
            });
            shown.response.labelled_by(label);
        });
        match self.target {
            Some(target) => {
                ui.weak(line(target));
            }
            None => {
                row_ui(ui, "Heightmap", |ui, label| {
                    let chosen = self.heightmap.map_or("None", HeightmapFormat::label);
                    let combo = ComboBox::from_id_salt("heightmap format").selected_text(chosen).width(240.0);
                    let shown = combo.show_ui(ui, |ui| {
                        for format in HeightmapFormat::ALL {
                            ui.selectable_value(&mut self.heightmap, Some(format), format.label());
                        }
                        ui.selectable_value(&mut self.heightmap, None, "None");
                    });
                    shown.response.labelled_by(label);
                });
                ui.checkbox(&mut self.texture, "Texture, PNG in colour");
            }
        }
    }

    /// Samples, pixels and tiles.
    fn size_ui(&mut self, ui: &mut Ui, extent: Extent, export: &mut ExportSettings) {
        let counts = self.counts();
        let sides = self.target.map(|target| target.sizes.sides()).unwrap_or_default();
        let has_texture = self.target.map_or(self.texture, |target| {
            target.texture.is_some() || target.normals.is_some() || target.mesh.is_some()
        });
        let mut hidden = Vec::new();
        if !sides.is_empty() || (self.target.is_none() && self.heightmap.is_none() && !self.texture) {
            hidden.push("samples");
        }
        if !has_texture {
            hidden.push("texture_pixels");
        }
        group_ui(ui, export, &hidden, &mut ParameterContext::new(&mut self.parameters));
        let longer = export.samples as usize;
        let right = self.longer(extent, longer);
        if !sides.is_empty() {
            let most = counts[0].max(counts[1]);
            let whole = |side: usize| (side - 1) * most + 1;
            row_ui(ui, if most > 1 { "Samples a tile" } else { "Samples" }, |ui, _| {
                for side in sides {
                    if ui.selectable_label(whole(side) == right, side.to_string()).clicked() {
                        export.samples = u32::try_from(whole(side)).unwrap_or(export.samples);
                    }
                }
            });
        }
        let takes = self.target.filter(|target| target.sizes != Sizes::Any);
        if right != longer {
            // Nothing is wrong: the program has its sizes, and the export has one of them.
            let rule = takes.map_or("Tiles share their edges".into(), |target| {
                format!("{} takes {}", target.label, target.sizes.rule())
            });
            ui.weak(format!("{rule}: exported at {right} samples"));
        } else if takes.is_some() {
            // The buttons below stay where they are when another size is chosen.
            ui.weak(format!("Exported at {right} samples"));
        }
        if self.can_be_cut() {
            row_ui(ui, "Tiles", |ui, label| {
                for (at, name) in ["Columns of tiles", "Rows of tiles"].into_iter().enumerate() {
                    let value = DragValue::new(&mut self.tiles[at]).range(1..=MOST_TILES).speed(0.05);
                    let response = ui.add(value).labelled_by(label).on_hover_text(name);
                    let (count, id) = (self.tiles[at], response.id);
                    ui.ctx().accesskit_node_builder(id, |node| {
                        node.set_label(name);
                        node.set_numeric_value(count as f64);
                    });
                    if at == 0 {
                        ui.label("×");
                    }
                }
            });
        }
    }

    /// Where it goes.
    fn folder_ui(
        &mut self,
        ui: &mut Ui,
        project: &Project,
        around: &Around,
        decision: &mut Option<Decision>,
    ) -> String {
        let mut folder = self.folder.clone().unwrap_or_else(|| suggested(project, around.project_path, self.target));
        row_ui(ui, "Folder", |ui, label| {
            let field = TextEdit::singleline(&mut folder).desired_width(WIDTH - 208.0);
            if ui.add(field).labelled_by(label).changed() {
                self.folder = Some(folder.clone());
                self.folder_edited_s = Some(ui.input(|input| input.time));
            }
            if ui.button("Choose folder…").clicked() {
                self.complaint = None;
                *decision = Some(Decision::ChooseFolder);
            }
        });
        folder.trim().to_string()
    }

    /// What will be written, what is to be typed, and what does not suit.
    fn plan_ui(&self, ui: &mut Ui, plan: &Plan, memory_bytes: u64, around: &Around) {
        let (order, files) = (plan.order(), plan.files());
        ui.label(format!("{} files, up to {}", files.len(), bytes(plan.max_bytes())));
        let height = 132.0;
        ScrollArea::vertical().id_salt("export files").max_height(height).auto_shrink([false, true]).show(ui, |ui| {
            for planned in files.iter().take(LISTED) {
                ui.weak(file_line(planned));
            }
            if files.len() > LISTED {
                ui.weak(format!("and {} more", files.len() - LISTED));
            }
        });
        let fixed_m = order.range_m.or(order.recipe.world.height_range_m);
        let heights_m = around.heights_m.or(fixed_m.filter(|_| are_whole_numbers(order)));
        let steps = heights_m.map(|heights_m| estimated_import_steps(plan, heights_m)).unwrap_or_default();
        if !steps.is_empty() {
            ui.add_space(8.0);
            ui.label(match fixed_m {
                Some(_) => "To do there",
                None => "To do there, with the heights of the preview; the exact ones come with the files",
            });
            steps_ui(ui, &steps, height);
        }
        if let Some([at, total]) = around.on_the_way {
            ui.add_space(8.0);
            let withheld = order.target.is_some() && steps.is_empty();
            let numbers = if withheld { "; the numbers for it come with the files" } else { "" };
            let text = format!("Shown is iteration {at} of {total}. The finished land is exported{numbers}.");
            ui.colored_label(colours(ui).accent_text, text);
        }
        ui.add_space(4.0);
        for warning in warnings(order, around.heights_m) {
            ui.colored_label(colours(ui).accent_text, warning);
        }
        let available = self.survey.as_ref().and_then(|survey| survey.available_bytes);
        let free = available.map_or(String::new(), |available| format!(" of {} that are free", bytes(available)));
        let time = match self.pace {
            Trial::Done(Some(pace)) => format!("about {}", duration(pace.seconds(plan))),
            Trial::Done(None) => "a time that nobody knows".into(),
            Trial::Untried | Trial::Asked => "… (being tried)".into(),
        };
        ui.weak(format!("Takes {time} and about {} of memory{free}", bytes(memory_bytes)));
    }

    /// What is in the way on the disk; returns whether nothing is.
    fn survey_ui(&mut self, ui: &mut Ui, needed: u64) -> bool {
        // One row from the beginning, so that nothing moves once it is known.
        let is_free = ui.horizontal_wrapped(|ui| self.folder_state_ui(ui)).inner;
        let Some(survey) = self.survey.as_ref().filter(|_| is_free) else { return false };
        if let Some(available) = survey.available_bytes.filter(|available| needed > *available) {
            let text = format!(
                "This needs {} of memory, and {} are free; choose a smaller size or close other programs.",
                bytes(needed),
                bytes(available)
            );
            ui.colored_label(colours(ui).error, text);
            return false;
        }
        true
    }

    /// What is in the way in the folder; returns whether nothing is.
    fn folder_state_ui(&mut self, ui: &mut Ui) -> bool {
        let Some(survey) = &self.survey else {
            ui.weak("Looking at the folder");
            return false;
        };
        if let Some(obstacle) = &survey.obstacle {
            ui.colored_label(colours(ui).error, obstacle);
            return false;
        }
        match survey.replaced.len() {
            0 => {
                let made = survey.new_folder.as_ref();
                let made = made.map(|folder| format!("The folder {} will be made.", folder.display()));
                ui.weak(made.unwrap_or_else(|| "Nothing that is there will be replaced.".into()));
                true
            }
            count => {
                let text = match (count, survey.replaced.first()) {
                    (1, Some(file)) => format!("Replace {}", file_name(file)),
                    _ => format!("Replace {count} files that are there already"),
                };
                let names: Vec<String> = survey.replaced.iter().take(LISTED).map(|file| file_name(file)).collect();
                ui.checkbox(&mut self.replaces, text).on_hover_text(names.join("\n"));
                self.replaces
            }
        }
    }

    /// Whether the program takes tiles.
    fn can_be_cut(&self) -> bool {
        !self.target.is_some_and(|target| matches!(target.sizes, Sizes::Exactly(_)))
    }

    /// Columns and rows of tiles.
    fn counts(&self) -> [usize; 2] {
        if self.can_be_cut() { self.tiles } else { [1; 2] }
    }

    /// The samples along the longer side that are nearest to these and that the program takes.
    fn longer(&self, extent: Extent, asked: usize) -> usize {
        let counts = self.counts();
        let most = counts[0].max(counts[1]);
        self.target
            .map_or((asked.saturating_sub(1) / most).max(1) * most + 1, |target| target.nearest(extent, asked, counts))
    }

    /// The samples of the whole export of a project.
    pub(crate) fn grid(&self, extent: Extent, export: &ExportSettings) -> Grid {
        let counts = self.counts();
        let longer = self.longer(extent, export.samples as usize);
        self.target.map_or_else(|| Grid::fitted(extent, longer), |to| to.grid(extent, longer, counts))
    }

    /// The order; in words, why there is none.
    fn order(&self, project: &Project, export: &ExportSettings, folder: &Path) -> Result<Order, String> {
        if folder.as_os_str().is_empty() {
            return Err("Type or choose a folder.".into());
        }
        let Project { name, recipe, .. } = project;
        let (extent, counts) = (recipe.world.extent(), self.counts());
        let pixels = texture_size(extent, export.texture_pixels as usize);
        // Every tile has whole pixels.
        let pixels = [0, 1].map(|axis| pixels[axis].div_ceil(counts[axis]) * counts[axis]);
        let grid = self.grid(extent, export);
        let tiles = Tiles { counts, only: None, naming: TileNaming::FromNorthWest };
        let mut order = Order {
            tiles: Some(tiles).filter(|_| counts != [1; 2]),
            sea_m: project.water.water_m.map(|water_m| water_m as f32),
            ..Order::new(name.clone(), recipe.clone(), grid)
        };
        match self.target {
            Some(target) => {
                target.check(grid, counts)?;
                target.add_to(&mut order, folder, pixels);
            }
            None if self.heightmap.is_none() && !self.texture => {
                return Err("Choose a heightmap or the texture.".into());
            }
            None => {
                let stem = file_stem(project);
                let heightmap = self.heightmap.map(|format| folder.join(format!("{stem}.{}", format.ending())));
                let beside = if heightmap.is_some() { "_texture" } else { "" };
                order.heightmaps = heightmap.into_iter().map(HeightmapOrder::new).collect();
                let texture = self.texture.then(|| folder.join(format!("{stem}{beside}.png")));
                order.texture = texture.map(|path| TextureOrder::new(path, pixels));
            }
        }
        Ok(order)
    }
}

impl Done {
    /// Draws what was written; returns what the user wants, and whether it is to be forgotten.
    fn ui(&mut self, ui: &mut Ui) -> (Option<Decision>, bool) {
        ui.heading("Exported");
        let folder = self.files.first().and_then(|file| file.parent()).unwrap_or(Path::new(".")).to_path_buf();
        // The folder can be marked and copied.
        let text = format!("{} files in {}", self.files.len(), folder.display());
        ui.add(egui::Label::new(text).selectable(true));
        for note in &self.notes {
            ui.weak(note);
        }
        if !self.steps.is_empty() {
            ui.add_space(8.0);
            ui.label("To do there");
            steps_ui(ui, &self.steps, 320.0);
        }
        ui.add_space(8.0);
        let mut decision = None;
        let another = egui::Sides::new()
            .show(
                ui,
                |ui| {
                    if ui.button("Open folder").clicked() {
                        decision = Some(Decision::ShowFolder(folder));
                    }
                    let name = if self.is_copied { "Copied" } else { COPY_NOTES };
                    if let Some(notes) = self.import_notes()
                        && ui.button(name).clicked()
                    {
                        ui.ctx().copy_text(notes);
                        self.is_copied = true;
                    }
                },
                |ui| {
                    let close = ui.button("Close").clicked();
                    (close, ui.button("Another export…").clicked())
                },
            )
            .1;
        let (close, another) = another;
        (if close { Some(Decision::Close) } else { decision }, another)
    }

    /// The steps of the import, if there are any, a line each, and what else is to be known.
    fn import_notes(&self) -> Option<String> {
        let mut lines = [&self.steps[..], &self.notes[..]].concat();
        lines.push(String::new());
        (!self.steps.is_empty()).then(|| lines.join("\n"))
    }
}

/// How far it is.
fn running_ui(ui: &mut Ui, status: Option<&ExportStatus>) -> Option<Decision> {
    ui.heading("Exporting");
    let fraction = status.map_or(0.0, |status| status.fraction);
    let name = status.map_or(String::new(), |status| file_name(&status.path));
    ui.label(name);
    ui.add(ProgressBar::new(fraction).desired_height(8.0));
    ui.weak(format!("{:.0} %. It goes on when this window is closed.", 100.0 * fraction));
    ui.add_space(8.0);
    let [close, cancel] = egui::Sides::new()
        .show(ui, |_| {}, |ui| [ui.button("Close").clicked(), ui.button("Cancel the export").clicked()])
        .1;
    match (close, cancel) {
        (true, _) => Some(Decision::Close),
        (_, true) => Some(Decision::Cancel),
        _ => None,
    }
}

/// A named row, its name in a column of its own.
fn row_ui(ui: &mut Ui, name: &str, control: impl FnOnce(&mut Ui, egui::Id)) {
    ui.horizontal(|ui| {
        let size = egui::vec2(96.0, ui.spacing().interact_size.y);
        let left = Layout::left_to_right(Align::Center);
        let label = ui.allocate_ui_with_layout(size, left, |ui| {
            ui.set_min_width(size.x);
            ui.label(name).id
        });
        control(ui, label.inner);
    });
}

fn steps_ui(ui: &mut Ui, steps: &[String], height: f32) {
    ScrollArea::vertical().id_salt("export steps").max_height(height).auto_shrink([false, true]).show(ui, |ui| {
        for step in steps {
            ui.label(step);
        }
    });
}

/// A program in one line.
fn line(target: &Target) -> String {
    format!("Takes {}; gets {}", target.sizes.describe(), target.file_names())
}

/// Whether all heightmaps have whole numbers, which lie in the fixed range of heights if there is one.
fn are_whole_numbers(order: &Order) -> bool {
    order.heightmaps.iter().all(|HeightmapOrder { path, encoding }| {
        Format::from_path(path).is_ok_and(|format| matches!(format.samples(*encoding), Samples::Integers { .. }))
    })
}

/// What does not suit, as far as it is known before anything is computed.
fn warnings(order: &Order, heights_m: Option<Band>) -> Vec<String> {
    let mut warnings =
        order.target.map(|target| target.warnings(order.grid, &order.recipe.texture)).unwrap_or_default();
    if let (Some(range), Some(own)) = (order.range_m.or(order.recipe.world.height_range_m), heights_m)
        && (own.min < range.min || own.max > range.max)
    {
        warnings.push(format!(
            "The land goes from {:.0} to {:.0} m; what is outside {} to {} m will be cut off.",
            own.min, own.max, range.min, range.max
        ));
    }
    warnings
}

/// A folder beside the project, or in the user's home.
fn suggested(project: &Project, project_path: Option<&Path>, target: Option<&Target>) -> String {
    let beside = project_path.and_then(Path::parent).map(Path::to_path_buf);
    let folder = beside.or_else(std::env::home_dir).unwrap_or_else(|| PathBuf::from("."));
    let key = target.map_or(String::new(), |target| format!("-{}", target.key));
    folder.join(format!("{}{key}", file_stem(project))).display().to_string()
}

/// A file of the plan in a line.
fn file_line(planned: &PlannedFile) -> String {
    let size = planned.size.map_or(String::new(), |[width, height]| format!(", {width} × {height}"));
    let most = planned.max_bytes.map_or(String::new(), |count| format!(", up to {}", bytes(count)));
    format!("{}{size}{most}", file_name(&planned.path))
}

/// A time as a person would say it who does not know it exactly.
fn duration(seconds: f64) -> String {
    // One digit, rounded up.
    let rounded = |count: f64| {
        let power = libm::pow(10.0, libm::floor(libm::log10(count.max(1.0))));
        (count / power).ceil() * power
    };
    match seconds {
        ..60.0 => format!("{:.0} s", rounded(seconds)),
        60.0..3600.0 => format!("{:.0} min", rounded(seconds / 60.0)),
        _ => format!("{:.0} h", rounded(seconds / 3600.0)),
    }
}

/// A number of bytes as a person would say it.
fn bytes(count: u64) -> String {
    match count {
        0..=999_999 => format!("{} kB", count.div_ceil(1000)),
        1_000_000..=999_999_999 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

#[cfg(test)]
impl ExportWindow {
    /// The lines of the list, with the names of the files and the most bytes that they will have.
    pub(crate) fn listed(
        &self,
        project: &Project,
        export: &ExportSettings,
        folder: &Path,
    ) -> Vec<(String, String, Option<u64>)> {
        let order = self.order(project, export, folder).expect("possible");
        let plan = Plan::new(order).expect("possible");
        let each = |planned: &PlannedFile| (file_line(planned), file_name(&planned.path), planned.max_bytes);
        plan.files().iter().map(each).collect()
    }

    pub(crate) fn choose_tiles(&mut self, counts: [usize; 2]) {
        self.tiles = counts;
    }
}
