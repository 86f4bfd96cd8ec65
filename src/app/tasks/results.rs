//! Takes the results of background threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Context, Popup};

use crate::app::commands::menus::preview_that_fits;
use crate::app::commands::stack_edits::{add_step, first_step};
use crate::app::commands::{FileSlot, ImportTarget};
use crate::app::dialogs::closing::ClosingStep;
use crate::app::dialogs::export::COPY_NOTES;
use crate::app::dialogs::file_dialogs::DialogPurpose;
use crate::app::dialogs::gallery::{GalleryResponse, UserPreset};
use crate::app::dialogs::import::{ImportDestination, Imported, PendingImport, ReadPurpose};
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::question::Question;
use crate::app::dialogs::recovered_projects::{RecoveryResponse, recovery_ui};
use crate::app::dialogs::save_preset::{SavePresetDialog, SavePresetResponse};
use crate::app::document::{file_name, name_of};
use crate::app::panels::hints;
use crate::app::panels::status::Message;
use crate::app::state::PendingProject;
use crate::app::tasks::autosave::AutosaveMessage;
use crate::app::tasks::file_tasks::FileTaskResult;
use crate::app::tasks::recovery;
use crate::app::tasks::user_presets;
use crate::app::views::map_transform::MapViewport;
use crate::app::views::scene::{RenderOutcome, RenderTask};
use crate::app::widgets::capitalised;
use crate::app::{App, panels};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::operations::stamps::Stamps;
use crate::engine::parameters::{Band, FileName, TextureName};
use crate::engine::recipe::Blend;
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::stack::restores_symmetry;
use crate::engine::{Extent, Origin, Recipe, Step};
use crate::files::export::BuildReport;
use crate::files::import::{ImportedFile, size_text};
use crate::project::{OpenedHeightmap, Project, ProjectFile};
use crate::worker::{ExportOutcome, JobError};

impl App {
    /// Saves settings and unsaved projects when they are due, and offers recovered projects.
    pub(crate) fn autosave(&mut self, ctx: &Context) {
        self.update_settings();
        let Some(autosave) = &mut self.services.autosave else { return };
        let message = autosave.update(ctx, &self.settings, &self.document);
        if self.ui.modal.is_none() && self.ui.file_browser.is_none() && autosave.take_offer() {
            self.ui.modal = Some(Modal::Recovered);
        }
        if let Some(AutosaveMessage { text, is_error }) = message {
            self.set_message(Message::new(text, is_error));
        }
    }

    /// Copies the layout of the views into the settings.
    fn update_settings(&mut self) {
        self.settings.maximised = self.ui.layout.maximised;
        if let Some(autosave) = &mut self.services.autosave {
            autosave.update_layout(&mut self.settings, &self.ui.layout.tree);
        }
    }

    /// Ends the autosave when the window has closed. Unsaved projects are offered at the next start, unless the user
    /// discarded them.
    pub(crate) fn finish_autosave(&mut self) {
        self.update_settings();
        let unsaved = self.document.unsaved();
        if let Some(mut autosave) = self.services.autosave.take() {
            let is_lost = !self.ui.closing.discards_changes() && !unsaved.is_empty();
            let is_kept = autosave.end(&self.settings, is_lost.then(|| unsaved.clone()));
            if is_lost && !is_kept {
                recovery::write_recovery_copies(&unsaved);
            }
        }
    }

    /// Whether there are projects of an editor that crashed.
    pub(crate) fn has_recovered(&self) -> bool {
        self.services.autosave.as_ref().is_some_and(|autosave| !autosave.recovered().is_empty())
    }

    /// Draws the dialog about recovered projects. Returns whether it stays open.
    pub(crate) fn recovered_ui(&mut self, ctx: &Context) -> bool {
        let Some(autosave) = &mut self.services.autosave else { return false };
        match recovery_ui(ctx, autosave.recovered()) {
            Some(RecoveryResponse::Open(i)) => {
                if let Some((file, path)) = autosave.take_recovered(i) {
                    let name = format!("Recover {}", name_of(&file.project, path.as_deref()));
                    self.ui.pending_project =
                        Some(PendingProject { name, file, path, is_unsaved: true, keeps_view: false });
                }
                !autosave.recovered().is_empty()
            }
            None => true,
            Some(RecoveryResponse::Later) => {
                self.show_message("The recovered projects are in File > Recovered projects");
                false
            }
            Some(RecoveryResponse::Discard) => {
                autosave.discard_recovered();
                false
            }
        }
    }

    /// Checks which recent files still exist, at the start and while a menu can show them.
    pub(crate) fn check_recent_files(&mut self, ctx: &Context) {
        let now_s = ctx.input(|input| input.time);
        if !self.settings.recent.is_empty() && self.services.recent_files.begin_check(now_s, Popup::is_any_open(ctx)) {
            self.services.file_tasks.find_missing(self.settings.recent.clone());
        }
    }

    /// Polls the background threads and file dialogs, the only place that takes their results.
    pub(crate) fn poll_results(&mut self, ctx: &Context) {
        while let Some(result) = self.services.file_tasks.take() {
            self.handle_file_result(ctx, result);
        }
        self.poll_file_dialogs();
        while let Some(outcome) = self.services.exporter.take() {
            self.ui.export.receive_outcome(&outcome);
            match outcome {
                ExportOutcome::Written(report) => {
                    self.show_message(exported_text(&report));
                    if !report.steps.is_empty()
                        && let Some(notes) = self.ui.export.import_notes().map(str::to_string)
                    {
                        self.offer(COPY_NOTES, notes);
                    }
                }
                ExportOutcome::Cancelled => self.show_message("The export was cancelled; no file was written"),
                ExportOutcome::Failed(error) => self.show_error(error.to_string()),
            }
        }
        if let Some(outcome) = self.services.render_task.as_ref().and_then(RenderTask::take) {
            self.services.render_task = None;
            match outcome {
                RenderOutcome::Written(files) => {
                    let first = files.first().map(|file| file.display().to_string()).unwrap_or_default();
                    let more = files.len().saturating_sub(1);
                    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                    self.show_message(format!("Saved {first}{more}"));
                }
                RenderOutcome::Cancelled => self.show_message("The render was cancelled; no file was written"),
                RenderOutcome::Failed(error) => self.show_error(error),
            }
        }
        self.services.thumbnails.receive(ctx);
        self.receive_preset_thumbnails(ctx);
        match self.services.previewer.take() {
            Some(Ok(preview)) => {
                self.ui.timings.came(&preview);
                self.ui.preview.receive(preview, &self.document);
            }
            Some(Err(error)) => {
                self.ui.preview.fail();
                self.ui.playback.pause();
                let text = match error {
                    JobError::Panicked(_) => format!("{error}. Undo the last change to continue."),
                    JobError::Failed(_) | JobError::Cancelled => error.to_string(),
                };
                self.set_message(Message::new(text, true).about(self.document.current_edit()));
            }
            None => {}
        }
    }

    fn handle_file_result(&mut self, ctx: &Context, result: FileTaskResult) {
        match result {
            FileTaskResult::Opened { path, file, state, notes } => {
                self.settings.add_recent(&path);
                // Before it is opened, so that an error of opening it replaces the notes.
                if !notes.is_empty() {
                    self.show_lasting_message(capitalised(&notes.join("; ")));
                }
                self.open_project(format!("Open {}", file_name(&path)), file, Some(path));
                if let Some(message) = self.ui.message.as_mut().filter(|message| message.is_kept && !notes.is_empty()) {
                    message.edit = Some(self.document.current_edit());
                }
                self.document.set_disk_state(self.document.project_id(), state);
            }
            FileTaskResult::UsesFilesOutside { path, files } => {
                self.ask(Question::ReadOutside { project: path, files });
            }
            FileTaskResult::Imported(imported) => {
                self.receive_import(*imported);
            }
            FileTaskResult::Saved { path, file, project_id, state } => {
                self.show_message(format!("Saved {}", path.display()));
                self.settings.add_recent(&path);
                self.document.mark_saved(project_id, path, file);
                self.document.set_disk_state(project_id, state);
                if self.ui.closing.project_saved(project_id) {
                    self.continue_closing();
                }
            }
            FileTaskResult::SaveConflict { path, project_id } => {
                self.ask(Question::SaveOverChange { project_id, path });
            }
            FileTaskResult::ChangedOnDisk { path, project_id, state } => {
                if self.document.project_id() == project_id && self.ui.dismissed_change != Some((project_id, state)) {
                    self.ask(Question::Reload { project_id, path, state, is_dirty: self.document.is_dirty() });
                }
            }
            FileTaskResult::TargetsChecked(check) => self.ui.export.receive_target_check(check),
            FileTaskResult::CostEstimated(estimate) => self.ui.export.receive_cost_estimate(estimate),
            FileTaskResult::Done => {}
            FileTaskResult::RecentMissing(missing) => {
                self.services.recent_files.finish_check(missing);
            }
            FileTaskResult::RecentGone(path) => {
                self.settings.recent.retain(|known| *known != path);
                self.show_error(format!("{} no longer exists and was removed from the recent files", path.display()));
            }
            FileTaskResult::NoFileManager(folder) => {
                let folder = folder.display().to_string();
                self.show_error(format!("No program to show folders was found; the folder is {folder}"));
                self.offer("Copy the path", folder);
            }
            FileTaskResult::Presets { presets, broken } => self.receive_presets(ctx, presets, broken),
            FileTaskResult::PresetSaved { path } => self.preset_saved(&path),
            FileTaskResult::SaveFailed { project_id, message } => {
                self.ui.closing.save_failed(project_id);
                self.show_error(message);
            }
            FileTaskResult::Failed(message) => self.show_error(message),
        }
    }

    /// Takes a file that was read. Heights are shown in a window before they are imported.
    fn receive_import(&mut self, imported: Imported) {
        if let Some(Modal::Import(dialog)) = &mut self.ui.modal
            && dialog.is_reading(&imported.path)
        {
            dialog.receive(imported);
        } else if imported.purpose != ReadPurpose::Choice {
            // The window was closed meanwhile.
        } else if imported.is_terrain() {
            // An error of an earlier try says nothing about this file.
            self.ui.message = None;
            self.ui.maps_to_import.push_back(imported);
        } else {
            let Imported { path: source, file, target, .. } = imported;
            match file {
                Ok(file) => {
                    let destination = ImportDestination::World;
                    self.finish_import(PendingImport { file, source, target, destination });
                }
                Err(error) => self.show_error(error),
            }
        }
    }

    /// Assigns an imported image or heightmap to the step or type it was chosen for, and to nothing else; one that was
    /// not chosen for anything goes into a new step.
    pub(crate) fn finish_import(&mut self, PendingImport { file, source, target, destination }: PendingImport) {
        if let ImportDestination::NewProject(extent) = destination {
            self.open_heightmap(file, &source, extent);
            return;
        }
        let source = file_name(&source);
        if let Some(obstacle) = self.import_obstacle(&file, target.as_ref()) {
            self.show_error(obstacle);
            return;
        }
        let mut notes: Vec<String> = file.all_notes().map(String::from).collect();
        let ImportedFile { path, bytes, range_m, extent, origin, map, .. } = file;
        let is_texture = map.is_none();
        let is_for_step = target.as_ref().is_none_or(|target| matches!(target.slot, FileSlot::Operation(_)));
        let is_terrain = is_for_step && !is_texture;
        let mut project = (**self.document.project()).clone();
        let name = project.import_file(&file_name(&path), bytes);
        if let ImportDestination::ResizedWorld(extent) = destination {
            notes.extend(take_world(&mut project, extent, origin));
            self.show_whole_terrain();
        } else if is_terrain && origin.is_some() && origin != project.origin {
            let note = "the coordinates of the map are not used, because the world stays as it is; open the map as a new \
                        project to use them";
            notes.push(note.into());
        }
        if is_terrain && restores_symmetry(&project.recipe, project.recipe.world.extent()) {
            notes.push("the Symmetry step makes the terrain symmetric".into());
        }
        let Recipe { stack, texture, .. } = &mut project.recipe;
        match target.map(|target| target.slot) {
            Some(FileSlot::Texture(i)) => {
                let (material, texture) = (&mut texture.types[i], Some(TextureName(name.0)));
                material.tint = panels::types::tint_of(texture.as_ref()).unwrap_or(material.tint);
                material.texture = texture;
            }
            Some(FileSlot::Mask { owner, source }) => {
                let masks = owner.mask_mut(&mut project.recipe);
                if let Some(mask) = masks.and_then(|masks| masks.get_mut(source)) {
                    mask.file = name;
                }
            }
            Some(FileSlot::Stamp { step, stamp }) => {
                if let AnyOperation::Stamps(Stamps { stamps }) = &mut stack[step].operation
                    && let Some(stamp) = stamps.get_mut(stamp)
                {
                    stamp.set_file(name, extent, range_m);
                }
            }
            Some(FileSlot::Operation(i)) => {
                if let AnyOperation::Heightmap(old) = &stack[i].operation
                    && is_named_after(&stack[i].settings.name, &old.file)
                {
                    stack[i].settings.name.clone_from(&source);
                }
                take_heightmap(&mut stack[i], name, range_m);
                self.ui.selection.step = i;
            }
            None if is_texture => {
                let range_m = self.ui.preview.shown.as_ref().map(|shown| shown.summary.range_m());
                let name = Some(TextureName(name.0));
                panels::types::add_type(texture, &mut self.ui.texture_panel, range_m.unwrap_or_default(), None);
                if let Some(added) = texture.types.last_mut() {
                    added.tint = panels::types::tint_of(name.as_ref()).unwrap_or(added.tint);
                    added.texture = name;
                    notes.push(format!("{} is a new terrain type", added.name));
                }
            }
            None => {
                let mut step = Step::new(Heightmap::default());
                take_heightmap(&mut step, name, range_m);
                // Show the import itself; other blend modes would mix it with the heights below.
                step.settings.blend = Blend::Replace;
                step.settings.name.clone_from(&source);
                self.ui.selection.step = add_step(&mut project.recipe, step);
            }
        }
        if is_terrain {
            self.document.commit_as(format!("Import {source}"), project);
        } else {
            self.document.commit(project, None);
        }
        self.show_lasting_message(format!("Imported {source}: {}", notes.join("; ")));
    }

    /// Why a file cannot be imported.
    fn import_obstacle(&self, file: &ImportedFile, target: Option<&ImportTarget>) -> Option<String> {
        let path = file.path.display();
        let size = file.bytes.len() as u64;
        if size > self.document.project().remaining_file_bytes() {
            let size = size / 1_000_000;
            return Some(format!("{path}: {size} MB are more than a project can hold; import a smaller map"));
        }
        self.target_obstacle(target).map(|obstacle| format!("{path}: {obstacle}"))
    }

    /// Why no file can be imported for this step, mask or terrain type.
    pub(crate) fn target_obstacle(&self, target: Option<&ImportTarget>) -> Option<String> {
        let recipe = &self.document.project().recipe;
        let target = target?;
        let is_gone = |owner: MaskOwner, source: usize| owner.mask(recipe).is_none_or(|masks| masks.len() <= source);
        let is_stamp_gone = |step: usize, stamp: usize| match &recipe.stack[step].operation {
            AnyOperation::Stamps(Stamps { stamps }) => stamps.len() <= stamp,
            _ => true,
        };
        target.obstacle(recipe, self.document.project_id()).or_else(|| {
            let what = match target.slot {
                FileSlot::Mask { owner, source } if is_gone(owner, source) => "mask",
                FileSlot::Stamp { step, stamp } if is_stamp_gone(step, stamp) => "stamp",
                _ => return None,
            };
            Some(format!("the {what} for which it was chosen was removed; add it and choose the file again"))
        })
    }

    /// Opens a heightmap as a new project, whose world has this size.
    fn open_heightmap(&mut self, file: ImportedFile, source: &Path, extent: Extent) {
        let (stored_name, heights_m) = (file.file_name(), file.heights_m());
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let notes: Vec<String> = file.all_notes().map(String::from).collect();
        let ImportedFile { bytes, range_m, origin, .. } = file;
        let extent = Some(extent);
        let map = OpenedHeightmap { name, file_name: stored_name, bytes, range_m, heights_m, extent, origin };
        let file = ProjectFile::new(Project::of_heightmap(map));
        let source = file_name(source);
        self.open_project(format!("Open {source}"), file, None);
        self.show_lasting_message(format!("Opened {source}: {}", notes.join("; ")));
    }

    pub(crate) fn open_project(&mut self, name: String, file: ProjectFile, path: Option<PathBuf>) {
        self.open_pending(PendingProject { name, file, path, is_unsaved: false, keeps_view: false });
    }

    /// Opens a preset or a new project, which is viewed from the same direction as the one before.
    pub(crate) fn open_preset(&mut self, name: String, file: ProjectFile) {
        self.open_pending(PendingProject { name, file, path: None, is_unsaved: false, keeps_view: true });
    }

    pub(crate) fn open_pending(&mut self, pending: PendingProject) {
        let PendingProject { name, mut file, path, is_unsaved, keeps_view } = pending;
        if keeps_view {
            file.settings.view.preview_samples = self.document.settings().view.preview_samples;
        }
        let samples = file.settings.view.preview_samples;
        if let Err((fitting, error)) = preview_that_fits(samples) {
            file.settings.view.preview_samples = fitting;
            self.show_error(format!("The preview has {fitting} samples along a side instead of {samples}: {error}"));
        }
        self.ui.selection.step = first_step(&file.project);
        self.ui.selection.folded.clear();
        self.ui.texture_panel.reset();
        self.ui.tools.reset();
        self.ui.tools.project_opened();
        self.ui.scene.show_water();
        if is_unsaved {
            self.document.replace_unsaved(name, file, path);
        } else {
            self.document.replace(name, file, path);
        }
        // Show the finished terrain; playing shows how it rises.
        self.ui.playback.seek(self.total(), self.total());
        if keeps_view {
            self.ui.maps.viewport = MapViewport::default();
            self.ui.scene.frame_terrain();
        } else {
            self.show_whole_terrain();
        }
        self.settings.hints_seen.insert(hints::PRESETS.into());
    }

    /// Shows the whole terrain in all views, as when a project is opened.
    pub(crate) fn show_whole_terrain(&mut self) {
        self.ui.maps.viewport = MapViewport::default();
        self.ui.scene.reset();
    }

    /// Saves the open project. The user chooses a file if `as_new_file` is true or the project has none.
    pub(crate) fn save(&mut self, as_new_file: bool) {
        let path = self.document.path().filter(|_| !as_new_file).map(Path::to_path_buf);
        self.save_project(self.document.project_id(), path);
    }

    fn save_project(&mut self, project_id: usize, path: Option<PathBuf>) {
        let Some(file) = self.document.newest(project_id) else { return };
        match path {
            Some(path) => {
                self.services.file_tasks.save(path, file, project_id, self.document.disk_state(project_id));
            }
            None => self.open_file_dialog(DialogPurpose::Save { project_id }),
        }
    }

    /// Does the next step of closing the window.
    pub(crate) fn continue_closing(&mut self) {
        match self.ui.closing.next_step(self.document.unsaved()) {
            ClosingStep::Save { project_id, path } => self.save_project(project_id, path),
            ClosingStep::Confirm(unsaved) => self.ui.modal = Some(Modal::SaveFirst(unsaved)),
            ClosingStep::Nothing => {}
        }
    }

    /// Starts rendering an image or turntable of the 3-D view, unless one is already being rendered.
    pub(crate) fn draw(&mut self, size: [u32; 2], frames: Option<u32>, path: &Path) {
        if self.services.render_task.is_some() {
            self.show_error("another render is running; wait for it or cancel it, then try again");
            return;
        }
        let begun = self.ui.scene.render_source(size).and_then(|source| {
            let started = RenderTask::start(source, size, frames, path, self.services.wake.clone());
            started.map_err(|error| format!("the image cannot be rendered: {error}"))
        });
        match begun {
            Ok(render_task) => self.services.render_task = Some(render_task),
            Err(error) => self.show_error(error),
        }
    }

    fn preset_folder(&self) -> Option<PathBuf> {
        self.services.folders.config.as_ref().map(|folder| folder.join("presets"))
    }

    /// Opens the gallery of presets.
    pub(crate) fn open_gallery(&mut self) {
        self.ui.message = None;
        self.ui.gallery.open();
        self.read_presets();
        self.ui.modal = Some(Modal::Gallery);
    }

    /// Opens the dialog that saves the project as a preset.
    pub(crate) fn open_save_preset(&mut self) {
        match self.preset_folder() {
            Some(_) => {
                // The dialog asks about presets of the same name.
                self.read_presets();
                self.ui.modal =
                    Some(Modal::SavePreset(SavePresetDialog::new(self.document.project(), self.document.path())));
            }
            None => self.show_error("no folder for presets was found; save the project to a file instead"),
        }
    }

    fn read_presets(&mut self) {
        if let Some(folder) = self.preset_folder() {
            self.services.file_tasks.run(move || user_presets::read_presets(&folder));
        }
    }

    fn receive_presets(&mut self, ctx: &Context, presets: Vec<UserPreset>, broken: Option<String>) {
        self.ui.gallery.set_user_presets(ctx, presets);
        if let Some(broken) = broken {
            self.show_error(broken);
        }
    }

    /// Takes the thumbnails rendered for the gallery, and saves those of the user's presets.
    fn receive_preset_thumbnails(&mut self, ctx: &Context) {
        for (path, thumbnail) in self.ui.gallery.receive(ctx) {
            self.services.file_tasks.run(move || user_presets::write_thumbnail(&path, &thumbnail));
        }
    }

    /// Draws the gallery. Returns whether it stays open.
    pub(crate) fn gallery_ui(&mut self, ctx: &Context) -> bool {
        let stays_open = match self.ui.gallery.ui(ctx) {
            Some(GalleryResponse::Open(file)) => {
                let name = format!("Preset {}", file.project.name);
                let pending = PendingProject { name, file, path: None, is_unsaved: false, keeps_view: true };
                self.ui.pending_project = Some(pending);
                false
            }
            Some(GalleryResponse::Delete(path)) => {
                self.services.file_tasks.run(move || user_presets::delete_preset(&path));
                self.read_presets();
                true
            }
            Some(GalleryResponse::Close) => false,
            None => true,
        };
        if !stays_open {
            self.ui.gallery.close();
        }
        stays_open
    }

    /// Draws the dialog that saves a preset. Returns whether it stays open.
    pub(crate) fn save_preset_ui(&mut self, ctx: &Context, form: &mut SavePresetDialog) -> bool {
        let Some(response) = form.ui(ctx, |name| self.ui.gallery.find(name)) else { return true };
        if let (SavePresetResponse::Save { name, description, replaced }, Some(folder)) =
            (response, self.preset_folder())
        {
            let mut file = self.document.file();
            let project = Arc::make_mut(&mut file.project);
            (project.name, project.description) = (name, description);
            self.services.file_tasks.run(move || user_presets::save_preset(&folder, &file, replaced));
        }
        false
    }

    /// Reads the presets again, so that the gallery renders the thumbnail of the new one.
    fn preset_saved(&mut self, path: &Path) {
        self.show_message(format!("Saved the preset {}; open it with File > Presets", path.display()));
        self.ui.gallery.forget_thumbnail(path);
        self.read_presets();
    }
}

/// Gives the world the size and the coordinates of an imported map; returns what the user should know.
fn take_world(project: &mut Project, extent: Extent, origin: Option<Origin>) -> Vec<String> {
    project.recipe.world.set_extent(extent);
    let mut notes = vec![format!("the world is {} now", size_text(project.recipe.world.extent()))];
    let note = match (&project.origin, &origin) {
        (Some(_), None) => Some("the world is no longer georeferenced, because the map has no coordinates"),
        (before, Some(_)) if *before != origin => Some("the world has the coordinates of the map now"),
        (None | Some(_), None | Some(_)) => None,
    };
    notes.extend(note.map(String::from));
    project.origin = origin;
    notes
}

/// Makes a heightmap step use a file with its range; a file in metres needs none.
fn take_heightmap(step: &mut Step, file: FileName, range_m: Option<Band>) {
    if let AnyOperation::Heightmap(heightmap) = &mut step.operation {
        heightmap.file = file;
        // A range of the file that it replaces would stretch the heights.
        (heightmap.low_m, heightmap.high_m) = (range_m.map(|range| range.min), range_m.map(|range| range.max));
    }
}

/// Whether a step has the name that it got from a file, which may have been converted to this one.
fn is_named_after(name: &str, file: &FileName) -> bool {
    let stem = |name: &str| Path::new(name).file_stem().map(ToOwned::to_owned);
    !name.is_empty() && stem(name) == stem(&file.0)
}

/// What an export wrote, and how long it took.
fn exported_text(report: &BuildReport) -> String {
    let seconds = report.took.as_secs_f64();
    let files = match &report.files[..] {
        [] => return format!("Nothing has changed since the last export; checked in {seconds:.1} s"),
        [file] => file.display().to_string(),
        files => {
            let folder = files.first().and_then(|file| file.parent()).unwrap_or(Path::new("."));
            format!("{} files into {}", files.len(), folder.display())
        }
    };
    let unchanged = match report.unchanged.len() {
        0 => String::new(),
        count => format!(", {count} unchanged"),
    };
    let exported = format!("Exported {files} in {seconds:.1} s{unchanged}");
    std::iter::once(exported).chain(report.notes.iter().cloned()).collect::<Vec<_>>().join(", ")
}
