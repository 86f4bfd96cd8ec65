//! The dialog that saves the project as a preset of the user.

use egui::{Context, Key, Sides, TextEdit};

use crate::app::widgets::{main_button, modal};
use crate::project::Project;

/// What the user decided in the dialog.
pub(crate) enum SavePresetResponse {
    Save { name: String, description: String },
    Cancel,
}

/// The dialog that saves the project as a preset of the user.
#[derive(Debug)]
pub(crate) struct SavePresetDialog {
    name: String,
    description: String,
}

impl SavePresetDialog {
    pub(crate) fn new(project: &Project) -> Self {
        Self { name: project.name.clone(), description: project.description.clone() }
    }

    #[cfg(test)]
    pub(crate) fn rename(&mut self, name: &str) {
        self.name = name.into();
    }

    /// Draws the dialog.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<SavePresetResponse> {
        let modal = modal("save preset", ctx).stay_on_outside_click().show(ctx, |ui| {
            ui.set_width(360.0);
            ui.heading("Save as preset");
            ui.add_space(4.0);
            for (label, text) in [("Name", &mut self.name), ("Description", &mut self.description)] {
                let label = ui.label(label);
                ui.add(TextEdit::singleline(text).desired_width(f32::INFINITY)).labelled_by(label.id);
            }
            ui.weak("The preset appears in the gallery with a thumbnail.");
            ui.add_space(8.0);
            let usable = !self.name.trim().is_empty();
            let entered = usable && ui.input(|input| input.key_pressed(Key::Enter));
            let (_, [save, cancel]) = Sides::new().show(
                ui,
                |_| {},
                |ui| [main_button(ui, "Save preset", usable).clicked(), ui.button("Cancel").clicked()],
            );
            [save || entered, cancel]
        });
        let [save, cancel] = modal.inner;
        if save {
            let [name, description] = [&self.name, &self.description].map(|text| text.trim().to_string());
            Some(SavePresetResponse::Save { name, description })
        } else {
            (cancel || modal.should_close()).then_some(SavePresetResponse::Cancel)
        }
    }
}
