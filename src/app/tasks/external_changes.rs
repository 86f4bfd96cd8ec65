//! Files that other programs change while they are open here, and files that projects read outside their folders.

use egui::{Context, Event};

use crate::app::App;
use crate::app::dialogs::file_dialogs::DialogPurpose;
use crate::app::dialogs::modal::Modal;
use crate::app::dialogs::question::{Choice, Question};

impl App {
    /// Checks whether another program has changed the open project's file, when the window gets the focus.
    pub(crate) fn check_for_external_changes(&mut self, ctx: &Context) {
        if !ctx.input(|input| input.events.contains(&Event::WindowFocused(true))) {
            return;
        }
        let project_id = self.document.project_id();
        if let Some((path, state)) = self.document.path().zip(self.document.disk_state(project_id)) {
            self.services.file_tasks.check_change(path.to_path_buf(), state, project_id);
        }
    }

    /// Asks a question, unless another dialog is open.
    pub(crate) fn ask(&mut self, question: Question) {
        if self.ui.modal.is_none() && !self.is_choosing_file() {
            self.ui.modal = Some(Modal::Question(question));
            return;
        }
        match question {
            Question::ReadOutside { project, .. } => self.show_error(format!(
                "{} uses files outside its folder; close the dialog, then open the project \
                 again to decide whether to read them",
                project.display()
            )),
            Question::SaveOverChange { project_id, path } => {
                self.ui.closing.save_failed(project_id);
                self.show_error(format!(
                    "{} was not saved, because it has changed since this version was opened or saved; close the dialog \
                     and save again",
                    path.display()
                ));
            }
            // Asked again when the window gets the focus the next time.
            Question::Reload { .. } => {}
        }
    }

    /// Acts on the user's answer to a question.
    pub(crate) fn respond_to_question(&mut self, question: &Question, choice: Choice) {
        match (question, choice) {
            (Question::ReadOutside { project, .. }, Choice::ReadOutside) => {
                self.services.file_tasks.open_with_files_outside(project.clone());
            }
            (Question::SaveOverChange { project_id, path }, Choice::Overwrite) => {
                if let Some(file) = self.document.newest(*project_id) {
                    self.services.file_tasks.save(path.clone(), file, *project_id, None);
                }
            }
            (Question::SaveOverChange { project_id, .. }, Choice::SaveAs) => {
                self.open_file_dialog(DialogPurpose::Save { project_id: *project_id });
            }
            (Question::SaveOverChange { path, .. } | Question::Reload { path, .. }, Choice::Reload) => {
                self.ui.closing.cancel();
                self.services.file_tasks.open(path.clone());
            }
            (Question::Reload { project_id, state, .. }, _) => {
                self.ui.dismissed_change = Some((*project_id, *state));
                self.document.mark_unsaved(*project_id);
            }
            (Question::ReadOutside { .. } | Question::SaveOverChange { .. }, _) => self.ui.closing.cancel(),
        }
    }
}
