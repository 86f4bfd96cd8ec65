//! Executes commands. This is the only place where a command changes the editor.

use egui::{Context, Key, Popup, ViewportCommand};

use crate::app::App;
use crate::app::commands::stack_edits::{
    add_step_at, duplicate_step, find_again, move_item, place_beside, stack_rows, step_after_undo,
};
use crate::app::commands::{Command, ImportTarget, ParameterOwner};
use crate::app::dialogs::file_dialogs::DialogPurpose;
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::operation_picker;
use crate::app::document::Document;
use crate::app::panels::analysis::Section;
use crate::app::panels::hints;
use crate::app::panels::masks::NAMED_MASKS;
use crate::app::panels::materials::{MATERIALS, Material};
use crate::app::panels::status::{CopyableText, Message};
use crate::app::panels::types;
use crate::app::state::{CardList, Side};
use crate::app::tasks::manual::open_manual;
use crate::app::tools::tool::Tool;
use crate::app::views::View;
use crate::app::views::map_transform::MapViewport;
use crate::app::views::scene::{CameraPreset, RenderDialog};
use crate::app::widgets::cards::CardAction;
use crate::app::widgets::cards::index_after_move;
use crate::engine::Step;
use crate::engine::groups::{block, dissolve, enclose, move_block, siblings};
use crate::engine::operations::AnyOperation;
use crate::engine::operations::group::{Start, StepGroup};
use crate::engine::parameters::{Kind, Parameter, group_values};
use crate::engine::recipe_masks::MaskOwner;
use crate::project::{Project, ProjectFile, ProjectSettings, example_projects, preset_projects};

impl App {
    /// Changes how the project is viewed and exported, which is not an edit.
    pub(crate) fn edit_settings(&mut self, change: impl FnOnce(&mut ProjectSettings)) {
        let mut settings = self.document.settings().clone();
        change(&mut settings);
        self.document.set_settings(settings);
    }

    /// Commits one edit of the project.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Project)) {
        let mut project = (**self.document.project()).clone();
        change(&mut project);
        self.document.commit(project, None);
    }

    /// Executes a command.
    #[expect(clippy::too_many_lines, reason = "one arm a command, so that none is forgotten")]
    pub(crate) fn execute(&mut self, ctx: &Context, command: Command) {
        use Command as C;
        if command.moves_items() {
            self.ui.tools.document_changed();
            self.ui.selection.to = self.ui.selection.to.filter(|_| command == C::Group(None));
        }
        match command {
            C::New
            | C::Open
            | C::OpenRecent(_)
            | C::ClearRecentFiles
            | C::OpenRecovered
            | C::OpenGallery
            | C::OpenPreset(_)
            | C::OpenExample(_)
            | C::Manual => self.execute_open(command),
            C::SavePreset => self.open_save_preset(),
            C::Save => self.save(false),
            C::SaveAs => self.save(true),
            C::ImportHeightmap => self.ask_import(None),
            C::ChooseFile(slot) => {
                let recipe = &self.document.project().recipe;
                if let Some(target) = ImportTarget::new(slot, recipe, self.document.project_id()) {
                    self.ask_import(Some(target));
                }
            }
            C::Export
            | C::ExportAgain
            | C::ExportFor(_)
            | C::CopyImportSteps
            | C::SaveRender
            | C::SaveTurntable
            | C::CancelExport => self.execute_export(ctx, command),
            C::Undo => {
                hints::follow(&mut self.settings.hints_seen, hints::STACK);
                self.move_in_history(Document::undo);
            }
            C::Redo => self.move_in_history(Document::redo),
            C::ReopenProject(project_id) => self.move_in_history(|document| document.reopen(project_id)),
            C::GoToEntry(i) => self.move_in_history(|document| document.go_to(i)),
            C::PickOperation | C::AddStep(_) | C::DuplicateStep(_) | C::DeleteStep(_) | C::MoveStep { .. } => {
                self.execute_stack(ctx, command);
            }
            C::RenameStep => {
                self.show_parameter(ParameterOwner::Step(self.ui.selection.step), "name");
            }
            C::Group(_) | C::Ungroup(_) => self.execute_groups(command),
            C::FoldGroup(group) => self.fold_group(group),
            C::MoveType { from, to } => self.move_type(from, to),
            C::ShareMask(owner) => self.share_mask(owner),
            C::AddType(material) => self.add_type(material.map(|index| &MATERIALS[index])),
            C::AddLayer(kind) => {
                let mut project = (**self.document.project()).clone();
                let water_m = project.water.water_m;
                self.ui.scatter.add(&mut project.recipe, kind, water_m);
                self.ui.selection.last = CardList::Layers;
                self.document.commit(project, None);
                self.show_panel(Side::Right);
            }
            C::Scatter => {
                self.ui.scatter.show();
                self.show_panel(Side::Right);
            }
            C::SelectType(i) => self.select_type(i),
            C::MoveUp => self.move_selected(ctx, true),
            C::MoveDown => self.move_selected(ctx, false),
            C::SelectStep(i) => {
                (self.ui.selection.step, self.ui.selection.to) = (i, None);
                self.ui.selection.last = CardList::Stack;
            }
            C::SelectStepsTo(i) => self.ui.selection.to = Some(i),
            C::ShowParameter { of, key } => self.show_parameter(of, key),
            C::SeekToStep(_)
            | C::TogglePlay
            | C::Restart
            | C::StepBack
            | C::StepForward
            | C::ToStart
            | C::ToEnd
            | C::Seek(_)
            | C::ToggleLoop => self.execute_playback(command),
            C::NewSeed
            | C::PreviousSeed
            | C::UseSeed(_)
            | C::ShowOverlay(_)
            | C::Variations
            | C::Playability
            | C::UseVariation(_)
            | C::EnlargeVariation(_) => {
                self.execute_seed(command);
            }
            C::Tool(_) | C::Mirror(_) | C::ProfileLine | C::EditFault { .. } => self.execute_tool(command),
            C::ShowMap(style) => {
                self.ui.maps.style = style;
                // Another maximised view would hide it.
                self.ui.layout.maximised.take_if(|view| *view != View::Heightmap);
            }
            C::ShowAnalysis(section) => {
                self.ui.analysis.reveal(section, &mut self.settings.unfolded);
                self.show_panel(Side::Right);
            }
            C::FrameViews | C::ViewThreeQuarter | C::ViewFromAbove | C::ViewFromSide | C::WaterLevel => {
                self.execute_view(ctx, command);
            }
            C::PreviewSamples(_)
            | C::ExportSize
            | C::ShowBefore
            | C::SplitMaps
            | C::CancelPreview
            | C::UpdatePreview => {
                self.execute_preview(ctx, command);
            }
            C::MaximiseHeightmap => self.maximise(View::Heightmap),
            C::MaximiseTexture => self.maximise(View::Texture),
            C::MaximiseScene => self.maximise(View::Scene),
            C::History
            | C::LeftPanel
            | C::RightPanel
            | C::Theme(_)
            | C::BuiltInFileDialogs
            | C::Scale(_)
            | C::LargerInterface
            | C::SmallerInterface
            | C::ResetInterfaceScale => self.execute_interface(ctx, command),
            C::DismissMessage => self.ui.message = None,
            C::CopyMessageText => self.copy_message_text(ctx),
            C::FrameTimings => self.ui.timings.toggle(),
            C::Palette => self.open_palette(ctx),
            C::Shortcuts => self.ui.modal = Some(Modal::Shortcuts),
            C::About => self.ui.modal = Some(Modal::About),
            C::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
        }
    }

    /// Opens the command palette in place of an open menu.
    fn open_palette(&mut self, ctx: &Context) {
        Popup::close_all(ctx);
        self.ui.modal = Some(Modal::Palette(self.palette(ctx)));
    }

    /// Shows and hides panels, and sets the theme and the scale.
    fn execute_interface(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::History => self.settings.shows_history = !self.settings.shows_history,
            Command::LeftPanel => self.toggle_panel(ctx, Side::Left),
            Command::RightPanel => self.toggle_panel(ctx, Side::Right),
            Command::Theme(theme) => {
                self.settings.theme = theme;
                self.settings.apply(ctx);
            }
            Command::BuiltInFileDialogs => self.settings.own_file_windows ^= true,
            Command::Scale(percent) => self.scale(ctx, percent),
            Command::LargerInterface => self.scale(ctx, self.settings.next_scale(true)),
            Command::SmallerInterface => self.scale(ctx, self.settings.next_scale(false)),
            Command::ResetInterfaceScale => self.scale(ctx, 100),
            _ => {}
        }
    }

    fn execute_open(&mut self, command: Command) {
        match command {
            Command::New => self.open_preset("New project".into(), ProjectFile::default()),
            Command::Open => {
                self.open_file_dialog(DialogPurpose::Open);
            }
            Command::OpenRecent(i) => {
                if let Some(path) = self.settings.recent.get(i) {
                    self.services.file_tasks.open_recent(path.clone());
                }
            }
            Command::ClearRecentFiles => self.settings.recent.clear(),
            Command::OpenRecovered => self.ui.modal = Some(Modal::Recovered),
            Command::OpenGallery => self.open_gallery(),
            Command::OpenPreset(i) => {
                if let Some((_, file)) = preset_projects().get(i) {
                    self.open_preset(format!("Preset {}", file.project.name), file.clone());
                }
            }
            Command::OpenExample(i) => {
                if let Some((_, file)) = example_projects().get(i) {
                    self.open_preset(format!("Example {}", file.project.name), file.clone());
                }
            }
            Command::Manual => {
                let step = self.document.project().recipe.stack.get(self.ui.selection.step);
                let operation = step.map(|step| step.operation.clone());
                self.services.file_tasks.run(move || open_manual(operation.as_ref()));
            }
            _ => {}
        }
    }

    fn execute_export(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::ExportFor(i) => {
                self.ui.export.choose_target(i);
                self.open_modal(Modal::Export);
            }
            Command::Export => self.open_modal(Modal::Export),
            Command::ExportAgain => self.export_again(),
            Command::SaveRender => self.open_modal(Modal::Image(RenderDialog::single())),
            Command::SaveTurntable => self.open_modal(Modal::Image(RenderDialog::turntable())),
            Command::CopyImportSteps => {
                if let Some(notes) = self.ui.export.import_notes() {
                    ctx.copy_text(notes.into());
                    self.show_message("Copied the import steps");
                }
            }
            Command::CancelExport => match &self.services.render_task {
                Some(render_task) if self.services.exporter.status().is_none() => render_task.cancel(),
                Some(_) | None => self.services.exporter.cancel(),
            },
            _ => {}
        }
    }

    /// Repeats the last export of the project, or opens the dialog if there was none.
    fn export_again(&mut self) {
        let project = self.document.project();
        let id = self.document.project_id();
        if self.services.exporter.status().is_some() {
            self.show_message("An export is running; export again when it is done");
            return;
        }
        match self.ui.export.again(id, project, &self.document.settings().export) {
            None => self.open_modal(Modal::Export),
            Some(Err(problem)) => self.show_error(format!("The last export cannot be repeated: {problem}")),
            Some(Ok(plan)) => self.services.exporter.export(plan, project.files.clone()),
        }
    }

    /// Opens a dialog that reports its outcome in the status bar, which is cleared for it.
    fn open_modal(&mut self, modal: Modal) {
        self.ui.message = None;
        if matches!(modal, Modal::Export) {
            self.ui.export.open(self.document.project_id());
        }
        self.ui.modal = Some(modal);
    }

    /// Activates a tool, or none, instead of drawing the line of the profile.
    fn activate_tool(&mut self, tool: Option<Tool>) {
        self.ui.tools.activate(tool);
        self.ui.profile.is_drawing = false;
    }

    fn execute_stack(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::PickOperation => {
                let typed = operation_picker::text_typed_ahead(ctx);
                self.ui.operation_picker.open(&mut self.services.thumbnails, typed);
            }
            Command::AddStep(key) => {
                if let Ok(operation) = AnyOperation::from_key(key) {
                    let mut project = (**self.document.project()).clone();
                    // Shapes are drawn by the user; the default ones are examples for listings and pictures.
                    let step = project.recipe.new_step(operation.emptied());
                    if let Some(tool) = Tool::of_operation(key) {
                        self.activate_tool(Some(tool));
                    }
                    let selected = &mut self.ui.selection;
                    selected.step = add_step_at(&mut project.recipe, step, selected.step);
                    self.document.commit(project, None);
                    self.ui.playback.seek(self.total(), self.total());
                }
            }
            Command::DuplicateStep(i) => {
                let mut project = (**self.document.project()).clone();
                if let Some(copy) = duplicate_step(&mut project.recipe, i) {
                    let name = format!("Duplicate {}", project.recipe.stack[copy].title());
                    self.document.commit_as(name, project);
                    self.ui.selection.step = copy;
                }
            }
            Command::DeleteStep(i) => {
                let mut project = (**self.document.project()).clone();
                let deleted = block(&project.recipe.stack, i);
                let Some(step) = project.recipe.stack.get(i) else { return };
                let name = match deleted.len() {
                    1 => format!("Delete {}", step.title()),
                    count => format!("Delete {} with {} in it", step.title(), count - 1),
                };
                project.recipe.stack.drain(deleted.clone());
                self.document.commit_as(name, project);
                if self.ui.selection.step >= deleted.end {
                    self.ui.selection.step -= deleted.len();
                } else if deleted.contains(&self.ui.selection.step) {
                    self.ui.selection.step = deleted.start;
                }
                let last = self.document.project().recipe.stack.len().saturating_sub(1);
                self.ui.selection.step = self.ui.selection.step.min(last);
            }
            Command::MoveStep { from, to } => {
                let mut project = (**self.document.project()).clone();
                if let Some(moved) = move_block(&mut project.recipe.stack, from, to.gap, to.depth) {
                    let name = format!("Move {}", project.recipe.stack[moved.index_after(from)].title());
                    self.document.commit_as(name, project);
                    self.ui.selection.step = moved.index_after(self.ui.selection.step);
                }
            }
            _ => {}
        }
    }

    /// Lists the members of a group, or no longer; then the group is selected instead of a member.
    fn fold_group(&mut self, group: usize) {
        let stack = &self.document.project().recipe.stack;
        let Some(step) = stack.get(group) else { return };
        let selection = &mut self.ui.selection;
        if !selection.folded.remove(&step.settings.seed) {
            selection.folded.insert(step.settings.seed);
            if block(stack, group).contains(&selection.step) {
                selection.step = group;
            }
        }
    }

    fn execute_groups(&mut self, command: Command) {
        let mut project = (**self.document.project()).clone();
        let stack = &mut project.recipe.stack;
        let selected = self.ui.selection.step;
        match command {
            Command::Group(i) => {
                let mut group = Step::new(StepGroup::default());
                group.settings.seed = self.document.project().recipe.unused_seed();
                let (one, other) = i.map_or((selected, self.ui.selection.to.unwrap_or(selected)), |i| (i, i));
                let members = siblings(stack, one, other).or_else(|| siblings(stack, selected, selected));
                if let Some(group) = members.and_then(|members| enclose(stack, members, group)) {
                    self.ui.selection.to = None;
                    let name = format!("Group {}", stack[group - 1].title());
                    self.document.commit_as(name, project);
                    self.ui.selection.step = group;
                }
            }
            Command::Ungroup(i) => {
                let group = i.unwrap_or(selected);
                let title = stack.get(group).map(|step| step.title().to_string()).unwrap_or_default();
                let lost = stack.get(group).map(lost_without_group).unwrap_or_default();
                if dissolve(stack, group) {
                    self.document.commit_as(format!("Ungroup {title}"), project);
                    if !lost.is_empty() {
                        let lost = lost.join(", ");
                        let text = format!("Ungrouping dropped the group's {lost}. Undo to restore the group.");
                        self.show_message(text);
                    }
                    self.ui.selection.step = if selected >= group { selected.saturating_sub(1) } else { selected };
                }
            }
            _ => {}
        }
    }

    fn share_mask(&mut self, owner: MaskOwner) {
        let mut project = (**self.document.project()).clone();
        if let Some(name) = project.recipe.share_mask(owner) {
            if let Some(i) = project.recipe.masks.keys().position(|known| *known == name) {
                self.show_panel(Side::Left);
                self.ui.parameters.reveal_item(vec![(NAMED_MASKS, i)]);
            }
            self.document.commit_as(format!("Name mask {name}"), project);
            self.show_lasting_message("The mask has a name now. To use it elsewhere, choose Based on: Named mask.");
        }
    }

    fn move_type(&mut self, from: usize, to: usize) {
        let mut project = (**self.document.project()).clone();
        if let Some(terrain_type) = move_item(&mut project.recipe.texture.types, from, to) {
            let name = format!("Move {}", terrain_type.name);
            self.document.commit_as(name, project);
            self.ui.texture_panel.follow(|at| Some(index_after_move(at, from, to)));
        }
    }

    fn execute_playback(&mut self, command: Command) {
        // Tools go to the end by themselves.
        if !matches!(command, Command::ToEnd | Command::ToggleLoop) {
            hints::follow(&mut self.settings.hints_seen, hints::TIMELINE);
        }
        let total = self.total();
        let playback = &mut self.ui.playback;
        let at = playback.position(total);
        match command {
            Command::SeekToStep(i) => {
                let steps = self.document.timeline().steps();
                let end = steps.iter().take(i + 1).copied().fold(0, u32::saturating_add);
                playback.seek(end, total);
            }
            Command::TogglePlay => playback.toggle(total),
            Command::Restart => playback.restart(total),
            Command::StepBack => playback.seek(at.saturating_sub(1), total),
            Command::StepForward => playback.seek(at.saturating_add(1), total),
            Command::ToStart => playback.seek(0, total),
            Command::ToEnd => playback.seek(total, total),
            Command::Seek(position) => playback.seek(position, total),
            Command::ToggleLoop => playback.toggle_loop(),
            _ => {}
        }
    }

    fn execute_seed(&mut self, command: Command) {
        match command {
            Command::NewSeed => {
                let seed = self.ui.seeds.next();
                let before = self.document.project().recipe.seed;
                self.edit(|project| project.recipe.seed = seed);
                let text = format!("New seed {seed}. Shift+N or Ctrl+Z brings back {before}.");
                self.set_message(Message::new(text, false).about_revision(self.document.revision()));
            }
            Command::UseSeed(seed) => self.edit(|project| project.recipe.seed = seed),
            Command::ShowOverlay(map) => self.ui.play.show_map(map),
            Command::Playability => {
                self.ui.play.show();
                self.show_panel(Side::Right);
            }
            Command::PreviousSeed => {
                if let Some(seed) = self.document.earlier_seed() {
                    self.edit(|project| project.recipe.seed = seed);
                }
            }
            Command::Variations => self.ui.variations.toggle(),
            Command::EnlargeVariation(place) => self.enlarge_variation(place),
            Command::UseVariation(place) => {
                if let Some(recipe) = self.ui.variations.recipe(place) {
                    let project = Project { recipe: (**recipe).clone(), ..(**self.document.project()).clone() };
                    self.document.commit_as(command.text(), project);
                }
            }
            _ => {}
        }
    }

    fn execute_tool(&mut self, command: Command) {
        match command {
            Command::Tool(tool) => {
                self.activate_tool((self.ui.tools.active() != Some(tool)).then_some(tool));
            }
            Command::Mirror(kind) => self.edit_settings(|settings| settings.view.mirror = kind),
            Command::ProfileLine => self.draw_profile(),
            Command::EditFault { step, number } => {
                let mut project = (**self.document.project()).clone();
                let (tool, selected) = (&mut self.ui.tools.fault, &mut self.ui.selection.step);
                if let Some(name) = tool.edit_random(&mut project.recipe, selected, step, number) {
                    self.document.commit_as(name, project);
                }
            }
            _ => {}
        }
    }

    fn execute_view(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::FrameViews => {
                self.ui.maps.viewport = MapViewport::default();
                self.look(ctx, CameraPreset::Framed);
            }
            Command::ViewThreeQuarter => self.look(ctx, CameraPreset::ThreeQuarter),
            Command::ViewFromAbove => self.look(ctx, CameraPreset::FromAbove),
            Command::ViewFromSide => self.look(ctx, CameraPreset::FromTheSide),
            Command::WaterLevel => {
                if self.document.project().water.water_m.is_none() {
                    let level_m = self.ui.scene.default_water_level_m();
                    self.edit(|project| project.water.water_m = Some(level_m));
                }
                self.ui.layout.maximised = self.ui.layout.maximised.filter(|view| *view == View::Scene);
                self.ui.scene.focus_water_level();
            }
            _ => {}
        }
    }

    fn execute_preview(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::PreviewSamples(samples) => {
                self.ui.preview.export_samples = None;
                self.edit_settings(|settings| settings.view.preview_samples = samples);
            }
            Command::ExportSize => match self.ui.preview.export_samples.take() {
                Some(_) => {}
                None => self.ui.preview.export_samples = self.export_samples_that_fit(),
            },
            Command::ShowBefore => {
                let is_held = ctx.input(|input| input.key_down(Key::C));
                self.ui.preview.compare.toggle(&self.document, is_held);
            }
            Command::SplitMaps => self.ui.maps.split = if self.ui.maps.split.is_some() { None } else { Some(0.5) },
            Command::CancelPreview => {
                self.services.previewer.cancel();
                self.ui.preview.cancel();
                self.ui.playback.pause();
            }
            Command::UpdatePreview => self.ui.preview.request_again(),
            _ => {}
        }
    }

    fn copy_message_text(&mut self, ctx: &Context) {
        if let Some(CopyableText { text, .. }) = self.ui.message.take().and_then(|message| message.offer) {
            ctx.copy_text(text);
            self.show_message("Copied");
        }
    }

    /// Moves through the history and keeps the selection on the same step and terrain type.
    fn move_in_history(&mut self, go: impl FnOnce(&mut Document)) {
        let before = self.document.project().clone();
        go(&mut self.document);
        let (old, new) = (&before.recipe, &self.document.project().recipe);
        self.ui.selection.step = step_after_undo(&new.stack, &old.stack, self.ui.selection.step);
        self.ui.texture_panel.follow(|at| Some(find_again(&new.texture.types, &old.texture.types, at)));
    }

    /// Moves the selected card of the list in which a card was selected last.
    fn move_selected(&mut self, ctx: &Context, up: bool) {
        let recipe = &self.document.project().recipe;
        let from = match self.ui.selected_last() {
            Some(MaskOwner::Type(from)) => from,
            Some(MaskOwner::Layer(layer)) => {
                let mut project = (**self.document.project()).clone();
                let action = if up { CardAction::MoveUp } else { CardAction::MoveDown };
                self.ui.scatter.apply(&mut project.recipe, layer, action);
                return self.document.commit(project, None);
            }
            Some(MaskOwner::Step(_) | MaskOwner::Named(_)) | None => {
                let (from, rows) = (self.ui.selection.step, stack_rows(&recipe.stack, &self.ui.selection.folded));
                if let Some(to) = place_beside(&recipe.stack, &rows, from, up) {
                    self.execute(ctx, Command::MoveStep { from, to });
                }
                return;
            }
        };
        let places = self.ui.texture_panel.listed(&recipe.texture);
        let Some(at) = places.iter().position(|place| *place == from) else { return };
        let beside = if up { at.checked_sub(1) } else { at.checked_add(1) };
        if let Some(&to) = beside.and_then(|beside| places.get(beside)) {
            self.execute(ctx, Command::MoveType { from, to });
        }
    }

    /// Selects a step and scrolls to one of its parameters.
    fn show_parameter(&mut self, of: ParameterOwner, key: &'static str) {
        if let ParameterOwner::Step(step) = of {
            (self.ui.selection.step, self.ui.selection.last) = (step, CardList::Stack);
        }
        self.show_panel(if of == ParameterOwner::Light { Side::Right } else { Side::Left });
        self.ui.selection.reveal = Some((of, key));
    }

    /// Adds a terrain type that covers all elevations, and selects it.
    fn add_type(&mut self, material: Option<&Material>) {
        let mut project = (**self.document.project()).clone();
        let range_m = types::range_m(&project.recipe, self.ui.preview.shown.as_ref());
        types::add_type(&mut project.recipe.texture, &mut self.ui.texture_panel, range_m, material);
        self.ui.selection.last = CardList::Types;
        self.document.commit(project, None);
        self.show_panel(Side::Right);
    }

    fn select_type(&mut self, i: usize) {
        let panel = &mut self.ui.texture_panel;
        (panel.selected, panel.scrolls_to_selected) = (Some(i), true);
        self.ui.selection.last = CardList::Types;
        self.show_panel(Side::Right);
    }

    /// Shows a side panel, in a narrow window instead of the other one.
    fn show_panel(&mut self, side: Side) {
        match side {
            Side::Left => self.settings.shows_left = true,
            Side::Right => self.settings.shows_right = true,
        }
        self.ui.layout.front = side;
    }

    /// While no control has the focus, Tab goes to the first parameter of the selected step, and not to the menus.
    pub(crate) fn tab_to_parameters(&mut self, ctx: &Context) {
        let is_free = ctx.memory(|memory| memory.focused()).is_none() && !Popup::is_any_open(ctx);
        let is_pressed = ctx.input(|input| input.modifiers.is_none() && input.key_pressed(Key::Tab));
        if !is_free || !is_pressed || self.ui.operation_picker.is_open() || !self.visible_panels(ctx)[0] {
            return;
        }
        if let Some(step) = self.document.project().recipe.stack.get(self.ui.selection.step) {
            let group = step.operation.group();
            let values = group_values(group);
            let has_row = |parameter: &&Parameter| {
                !matches!(parameter.kind, Kind::Weighted | Kind::List(_)) && parameter.applies(&values)
            };
            let first = group.table().iter().find(has_row);
            let of = ParameterOwner::Step(self.ui.selection.step);
            self.ui.selection.reveal = first.map(|parameter| (of, parameter.key));
        }
    }

    /// Starts drawing the profile line with the next drag on a map, or stops that.
    fn draw_profile(&mut self) {
        self.ui.profile.is_drawing ^= true;
        if self.ui.profile.is_drawing {
            self.ui.tools.activate(None);
            self.show_panel(Side::Right);
            self.ui.analysis.reveal(Section::Profile, &mut self.settings.unfolded);
        }
    }

    fn ask_import(&mut self, target: Option<ImportTarget>) {
        self.open_file_dialog(DialogPurpose::Import { target });
    }

    /// Moves the camera of the 3-D view to a preset.
    pub(crate) fn look(&mut self, ctx: &Context, preset: CameraPreset) {
        let extent = self.document.project().recipe.world.extent();
        self.ui.scene.apply_preset(preset, extent, ctx.input(|input| input.time));
    }

    fn scale(&mut self, ctx: &Context, percent: u32) {
        self.settings.scale_percent = percent;
        self.settings.apply(ctx);
    }

    /// Maximises one view, or shows all views again.
    pub(crate) fn maximise(&mut self, view: View) {
        self.ui.layout.maximised = if self.ui.layout.maximised == Some(view) { None } else { Some(view) };
    }
}

/// What of a group's settings is lost when its members remain without it.
fn lost_without_group(group: &Step) -> Vec<&'static str> {
    let settings = &group.settings;
    let begins_flat = matches!(&group.operation, AnyOperation::StepGroup(group) if group.on == Start::Flat);
    let changed = [
        (begins_flat, "flat start"),
        (settings.blend != group.operation.default_blend(), "blend"),
        (settings.strength != 1.0, "strength"),
        (!settings.mask.is_empty(), "mask"),
    ];
    changed.into_iter().filter(|(is_lost, _)| *is_lost).map(|(_, name)| name).collect()
}
