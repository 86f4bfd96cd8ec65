//! Closing the window: the dialog about unsaved projects, and saving them first.
//!
//! "Save" saves every unsaved project, including hidden ones, one after another, and then closes the window. Meanwhile
//! a dialog blocks the editor. A failed or cancelled save also cancels closing, so that no later save closes the
//! window.

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Context, Label, RichText, ScrollArea, Sense, Sides, Ui, Vec2};

use crate::app::dialogs::recovered_projects::ago;
use crate::app::document;
use crate::app::document::Unsaved;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::theme::colours;
use crate::app::widgets::thumbnail_card::thumbnail_ui;
use crate::app::widgets::{default_button_ui, modal};
use crate::engine::Step;
use crate::engine::cast::ToInteger;
use crate::worker::{ThumbnailRequest, ThumbnailStyle};

/// The state of closing the window.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    /// The ids of the projects still to be saved before the window closes; `None` unless they are being saved.
    unsaved_projects: Option<Vec<usize>>,
    is_confirmed: bool,
    discards_changes: bool,
}

/// What has to happen next on the way to closing.
#[derive(Debug)]
pub(crate) enum ClosingStep {
    /// Save this project; without a path the user chooses one.
    Save { project_id: usize, path: Option<PathBuf> },
    /// Ask again about these projects, which changed in the meantime.
    Confirm(Vec<Unsaved>),
    /// Nothing: the window closes, or is not closing.
    Nothing,
}

impl Closing {
    /// Whether the window closes without further questions.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// Whether projects are being saved before the window closes.
    pub(crate) fn is_saving(&self) -> bool {
        self.unsaved_projects.is_some()
    }

    /// Whether the user chose to close without saving.
    pub(crate) fn discards_changes(&self) -> bool {
        self.discards_changes
    }

    /// Closes the window without further questions.
    pub(crate) fn confirm(&mut self) {
        self.is_confirmed = true;
    }

    /// Closes the window and discards unsaved changes.
    pub(crate) fn discard_changes(&mut self) {
        (self.is_confirmed, self.discards_changes) = (true, true);
    }

    /// Keeps the window open. A save that is under way finishes, but does not close it.
    pub(crate) fn cancel(&mut self) {
        self.unsaved_projects = None;
    }

    /// Begins to save these projects. Continue with [`next_step`](Self::next_step).
    pub(crate) fn save_first(&mut self, projects: &[Unsaved]) {
        self.unsaved_projects = Some(projects.iter().map(|project| project.project_id).collect());
    }

    /// Records that a project was saved. Returns whether to continue with [`next_step`](Self::next_step).
    pub(crate) fn project_saved(&mut self, project_id: usize) -> bool {
        let Some(projects) = &mut self.unsaved_projects else { return false };
        let count = projects.len();
        projects.retain(|waiting| *waiting != project_id);
        projects.len() < count
    }

    /// Records that a project could not be saved. If the window closes after that project, it stays open.
    pub(crate) fn save_failed(&mut self, project_id: usize) {
        if self.unsaved_projects.as_ref().is_some_and(|projects| projects.contains(&project_id)) {
            self.cancel();
        }
    }

    /// Returns what to do next, given all projects that are unsaved now.
    pub(crate) fn next_step(&mut self, unsaved: Vec<Unsaved>) -> ClosingStep {
        let Some(projects) = &mut self.unsaved_projects else { return ClosingStep::Nothing };
        // A save that was already under way when the user chose to save may have finished since.
        projects.retain(|project_id| unsaved.iter().any(|project| project.project_id == *project_id));
        // Earlier versions come last: they then ask before they replace what was saved to their file.
        let left = unsaved.iter().filter(|project| projects.contains(&project.project_id));
        if let Some(Unsaved { project_id, path, .. }) = left.min_by_key(|project| project.is_earlier) {
            return ClosingStep::Save { project_id: *project_id, path: path.clone() };
        }
        self.cancel();
        if unsaved.is_empty() {
            self.confirm();
            ClosingStep::Nothing
        } else {
            ClosingStep::Confirm(unsaved)
        }
    }
}

/// The user's answer about unsaved projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfirmCloseResponse {
    Discard,
    Save,
    Cancel,
}

/// The dialog about projects that would be lost.
pub(crate) fn confirm_close_ui(
    ctx: &Context,
    unsaved: &[Unsaved],
    thumbnails: &mut Thumbnails,
) -> Option<ConfirmCloseResponse> {
    let modal = modal("save first", ctx).stay_on_outside_click().show(ctx, |ui| {
        ui.set_width(440.0);
        ui.heading("Save before closing?");
        ui.label(if unsaved.len() == 1 {
            "This project has unsaved changes:"
        } else {
            "These projects have unsaved changes:"
        });
        ui.add_space(4.0);
        ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
            for unsaved in unsaved {
                unsaved_ui(ui, unsaved, thumbnails);
            }
        });
        ui.add_space(8.0);
        let save = if unsaved.len() == 1 { "Save" } else { "Save all" };
        let (discard, [save, cancel]) = Sides::new().show(
            ui,
            |ui| ui.button("Close without saving").clicked(),
            |ui| [default_button_ui(ui, save), ui.button("Cancel").clicked()],
        );
        let discard = discard.then_some(ConfirmCloseResponse::Discard);
        let save = save.then_some(ConfirmCloseResponse::Save);
        discard.or(save).or(cancel.then_some(ConfirmCloseResponse::Cancel))
    });
    let closes = modal.should_close().then_some(ConfirmCloseResponse::Cancel);
    let response = modal.inner.or(closes);
    if response.is_some() {
        thumbnails.remove(KEY_PREFIX);
    }
    response
}

/// The prefix of the keys of the projects' thumbnails, and their size, points.
const KEY_PREFIX: &str = "unsaved ";
const THUMBNAIL: Vec2 = Vec2::new(84.0, 56.0);

/// A project with its picture, its name, and what tells it from others of that name.
fn unsaved_ui(ui: &mut Ui, unsaved: &Unsaved, thumbnails: &mut Thumbnails) {
    let Unsaved { project_id, file, path, changed, is_earlier } = unsaved;
    let key = format!("{KEY_PREFIX}{project_id}");
    thumbnails.request(&key, || ThumbnailRequest {
        key: key.clone(),
        recipe: Arc::new(file.project.recipe.clone()),
        files: file.project.files.clone(),
        pixels: 2 * THUMBNAIL.x.to_usize(),
        style: ThumbnailStyle::Texture,
    });
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(THUMBNAIL, Sense::hover());
        ui.painter().rect_filled(rect, 3.0, colours(ui).sunken);
        thumbnail_ui(ui, rect, thumbnails.get(&key), 0.0..=1.0);
        ui.vertical(|ui| {
            let name = document::name_of(&file.project, path.as_deref());
            ui.strong(if *is_earlier { format!("{name}, earlier version") } else { name });
            let steps: Vec<&str> = file.project.recipe.stack.iter().rev().map(Step::title).take(MAX_STEPS).collect();
            let steps = if steps.is_empty() { "no steps".into() } else { steps.join(", ") };
            let age = ago(changed.elapsed().unwrap_or_default());
            ui.add(Label::new(RichText::new(format!("Changed {age}. Steps: {steps}")).weak()).truncate());
            let path = path.as_ref().map(|path| path.display().to_string());
            let path = path.unwrap_or_else(|| "not saved yet; you will be asked where to save it".into());
            ui.add(Label::new(RichText::new(path).weak()).truncate());
        });
    });
}

/// The most steps that are named.
const MAX_STEPS: usize = 3;

/// The dialog that blocks the editor while projects are saved; returns whether the user cancels closing.
pub(crate) fn saving_ui(ctx: &Context) -> bool {
    let modal = modal("saving", ctx).show(ctx, |ui| {
        ui.set_width(280.0);
        ui.heading("Saving before closing");
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label("Waiting for the file to be chosen and written.");
        });
        ui.add_space(8.0);
        Sides::new().show(ui, |_| {}, |ui| ui.button("Cancel").clicked()).1
    });
    modal.inner || modal.should_close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::ProjectFile;

    fn unsaved(projects: &[usize]) -> Vec<Unsaved> {
        let project = |&project_id| Unsaved {
            project_id,
            file: ProjectFile::default(),
            path: None,
            changed: std::time::SystemTime::now(),
            is_earlier: false,
        };
        projects.iter().map(project).collect()
    }

    fn saves(step: &ClosingStep) -> Option<usize> {
        match step {
            ClosingStep::Save { project_id, .. } => Some(*project_id),
            ClosingStep::Confirm(_) | ClosingStep::Nothing => None,
        }
    }

    #[test]
    fn projects_are_saved_one_after_another() {
        let mut closing = Closing::default();
        closing.save_first(&unsaved(&[0, 3]));
        assert_eq!(saves(&closing.next_step(unsaved(&[0, 3]))), Some(0));
        assert!(closing.project_saved(0));
        assert_eq!(saves(&closing.next_step(unsaved(&[3]))), Some(3));
        assert!(closing.project_saved(3));
        assert_eq!(saves(&closing.next_step(Vec::new())), None);
        assert!(closing.is_confirmed() && !closing.is_saving() && !closing.discards_changes());
    }

    #[test]
    fn earlier_versions_are_saved_last() {
        let mut closing = Closing::default();
        let mut versions = unsaved(&[0, 1, 2]);
        versions[0].is_earlier = true;
        closing.save_first(&versions);
        for expected in [1, 2, 0] {
            assert_eq!(saves(&closing.next_step(versions.clone())), Some(expected));
            assert!(closing.project_saved(expected));
        }
    }

    #[test]
    fn a_save_that_finished_during_the_dialog_does_not_stall_closing() {
        let mut closing = Closing::default();
        // Origin 0 was being saved when the dialog opened, and is saved by the time the user chooses "Save all".
        let shown = unsaved(&[0, 1]);
        assert!(!closing.project_saved(0), "not closing yet");
        closing.save_first(&shown);
        assert_eq!(saves(&closing.next_step(unsaved(&[1]))), Some(1));
        assert!(closing.project_saved(1), "closing continues");
        assert_eq!(saves(&closing.next_step(Vec::new())), None);
        assert!(closing.is_confirmed());
    }

    #[test]
    fn a_change_in_the_meantime_is_asked_about() {
        let mut closing = Closing::default();
        closing.save_first(&unsaved(&[0]));
        assert!(closing.project_saved(0));
        assert!(matches!(closing.next_step(unsaved(&[2])), ClosingStep::Confirm(left) if left[0].project_id == 2));
        assert!(!closing.is_confirmed() && !closing.is_saving());
    }

    #[test]
    fn a_save_after_cancelling_does_not_close_the_window() {
        let mut closing = Closing::default();
        closing.save_first(&unsaved(&[0]));
        closing.cancel();
        assert!(!closing.project_saved(0) && !closing.is_confirmed());
    }

    #[test]
    fn only_a_failed_save_that_closing_waits_for_keeps_the_window_open() {
        let mut closing = Closing::default();
        closing.save_first(&unsaved(&[0]));
        closing.save_failed(3);
        assert!(closing.is_saving());
        closing.save_failed(0);
        assert!(!closing.is_saving());
    }
}
