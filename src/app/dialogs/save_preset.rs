//! The dialog that saves the project as a preset of the user.

use egui::{Context, Key, Sides, TextEdit};

use crate::app::widgets::{main_button, modal};
use crate::project::Project;

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

    /// Draws the dialog; `Some` once the user has decided, with the name and the description of the preset, or `None` if
    /// the user cancels.
    pub(crate) fn ui(&mut self, ctx: &Context) -> Option<Option<[String; 2]>> {
        let modal = modal("save preset", ctx).show(ctx, |ui| {
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
            Some(Some([self.name.trim().to_string(), self.description.trim().to_string()]))
        } else {
            (cancel || modal.should_close()).then_some(None)
        }
    }
}
