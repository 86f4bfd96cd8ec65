//! The dialog that saves the project as a preset of the user.

use std::path::{Path, PathBuf};

use egui::{Context, Key, Sides, TextEdit, Ui};

use crate::app::document::project_file_stem;
use crate::app::widgets::{focus_and_select, main_button, modal};
use crate::project::Project;

/// What the user decided in the dialog.
pub(crate) enum SavePresetResponse {
    Save {
        name: String,
        description: String,
        /// The preset of the user that is replaced.
        replaced: Option<PathBuf>,
    },
    Cancel,
}

/// A preset that has the name already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SameName {
    /// A preset of the user, which can be replaced.
    User(PathBuf),
    Shipped,
}

/// The dialog that saves the project as a preset of the user.
#[derive(Debug)]
pub(crate) struct SavePresetDialog {
    name: String,
    description: String,
    /// Whether the name is still to be selected, so that typing replaces it.
    selects_name: bool,
    /// Whether the user is asked about another preset of that name.
    is_asking: bool,
}

impl SavePresetDialog {
    /// Proposes the name of the project's file, or else that of the project.
    pub(crate) fn new(project: &Project, path: Option<&Path>) -> Self {
        let name = path.map_or_else(|| project.name.clone(), project_file_stem);
        let description = project.description.clone();
        Self { name, description, selects_name: true, is_asking: false }
    }

    #[cfg(test)]
    pub(crate) fn rename(&mut self, name: &str) {
        self.name = name.into();
    }

    /// Draws the dialog; `find` returns a preset that has a name already.
    pub(crate) fn ui(&mut self, ctx: &Context, find: impl Fn(&str) -> Option<SameName>) -> Option<SavePresetResponse> {
        let modal = modal("save preset", ctx).stay_on_outside_click().close_while_editing().show(ctx, |ui| {
            ui.set_width(360.0);
            ui.heading("Save as preset");
            ui.add_space(4.0);
            self.fields_ui(ui);
            ui.weak("The preset appears in the gallery with a thumbnail.");
            ui.add_space(8.0);
            let same_name = find(self.name.trim());
            match same_name.filter(|_| self.is_asking) {
                Some(same_name) => self.question_ui(ui, same_name),
                None => {
                    self.is_asking = false;
                    self.buttons_ui(ui, &find)
                }
            }
        });
        let closes = modal.should_close().then_some(SavePresetResponse::Cancel);
        modal.inner.or(closes)
    }

    fn fields_ui(&mut self, ui: &mut Ui) {
        let label = ui.label("Name");
        let field = TextEdit::singleline(&mut self.name).desired_width(f32::INFINITY).show(ui);
        field.response.response.clone().labelled_by(label.id);
        if std::mem::take(&mut self.selects_name) {
            focus_and_select(ui, field, [0, self.name.chars().count()]);
        }
        let label = ui.label("Description");
        ui.add(TextEdit::singleline(&mut self.description).desired_width(f32::INFINITY)).labelled_by(label.id);
    }

    fn buttons_ui(&mut self, ui: &mut Ui, find: impl Fn(&str) -> Option<SameName>) -> Option<SavePresetResponse> {
        let usable = !self.name.trim().is_empty();
        let entered = usable && ui.input(|input| input.key_pressed(Key::Enter));
        let (_, [save, cancel]) = Sides::new().show(
            ui,
            |_| {},
            |ui| [main_button(ui, "Save preset", usable).clicked(), ui.button("Cancel").clicked()],
        );
        if save || entered {
            self.is_asking = find(self.name.trim()).is_some();
            return (!self.is_asking).then(|| self.saved(None));
        }
        cancel.then_some(SavePresetResponse::Cancel)
    }

    /// Asks what to do about another preset of that name.
    fn question_ui(&mut self, ui: &mut Ui, same_name: SameName) -> Option<SavePresetResponse> {
        let shipped = same_name == SameName::Shipped;
        ui.label(if shipped {
            "A shipped preset has this name already."
        } else {
            "You have a preset of this name already."
        });
        let (_, [replace, both, back]) = Sides::new().show(
            ui,
            |_| {},
            |ui| {
                let replace = !shipped && main_button(ui, "Replace it", true).clicked();
                [replace, ui.button("Keep both").clicked(), ui.button("Back").clicked()]
            },
        );
        self.is_asking = !back;
        match same_name {
            SameName::User(path) if replace => Some(self.saved(Some(path))),
            SameName::User(_) | SameName::Shipped => both.then(|| self.saved(None)),
        }
    }

    fn saved(&self, replaced: Option<PathBuf>) -> SavePresetResponse {
        let [name, description] = [&self.name, &self.description].map(|text| text.trim().to_string());
        SavePresetResponse::Save { name, description, replaced }
    }
}
