//! The left panel: the stack of steps and the parameters of the selected one.

use egui::{Align, Frame, Layout, RichText, ScrollArea, Sense, Ui};
use egui_material_icons::icons::{
    ICON_ADD, ICON_ARROW_DOWNWARD, ICON_ARROW_UPWARD, ICON_CONTENT_COPY, ICON_DELETE, ICON_VISIBILITY,
    ICON_VISIBILITY_OFF,
};

use super::menu::add_step_menu;
use crate::app::command::Command;
use crate::app::parameter_ui::group_ui;
use crate::app::theme::colours;
use crate::app::widgets::{heading, icon_button, icon_button_enabled};
use crate::engine::recipe::Recipe;

/// Parameters of a step that have a control of their own on its card.
const ON_THE_CARD: [&str; 1] = ["enabled"];

pub(in crate::app) fn stack_ui(ui: &mut Ui, recipe: &mut Recipe, selected: usize) -> Option<Command> {
    let mut command = None;
    ui.horizontal(|ui| {
        heading(ui, "Stack");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.menu_button(ICON_ADD.rich_text().size(16.0), |ui| command = add_step_menu(ui))
                .response
                .on_hover_text("Add a step")
                .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Add a step"));
        });
    });
    if recipe.stack.is_empty() {
        ui.weak("No steps yet. Add one with the plus above: faults raise land out of the plain.");
    }
    // A long stack scrolls, so that the parameters below it keep their place.
    let most = 0.4 * ui.available_height();
    ScrollArea::vertical().id_salt("cards").max_height(most).auto_shrink([false, true]).show(ui, |ui| {
        // Top of the list is top of the stack.
        for i in (0..recipe.stack.len()).rev() {
            command = command.take().or(card_ui(ui, recipe, i, i == selected));
        }
    });
    ui.add_space(4.0);
    ui.separator();
    ui.add_space(4.0);
    ScrollArea::vertical().id_salt("parameters").auto_shrink(false).show(ui, |ui| {
        command = command.take().or(selected_ui(ui, recipe, selected));
        ui.add_space(12.0);
        heading(ui, "World");
        ui.push_id("world", |ui| group_ui(ui, &mut recipe.world, &[]));
    });
    command
}

/// A step's card: on or off, its name, and what can be done with it.
fn card_ui(ui: &mut Ui, recipe: &mut Recipe, i: usize, selected: bool) -> Option<Command> {
    let mut command = None;
    let colours = colours(ui);
    let count = recipe.stack.len();
    let step = &mut recipe.stack[i];
    let label = &step.title().to_string();
    let fill = if selected { colours.hovered } else { colours.raised };
    let stroke = if selected { colours.accent } else { egui::Color32::TRANSPARENT };
    let frame =
        Frame::new().fill(fill).stroke((1.0, stroke)).corner_radius(4.0).inner_margin(egui::Margin::symmetric(6, 3));
    let card = frame.show(ui, |ui| {
        ui.horizontal(|ui| {
            let enabled = step.settings.enabled;
            let (icon, deed) =
                if enabled { (ICON_VISIBILITY, "Switch off") } else { (ICON_VISIBILITY_OFF, "Switch on") };
            if icon_button(ui, icon, &format!("{deed} {label}")).clicked() {
                step.settings.enabled = !enabled;
            }
            let text = RichText::new(label).color(if enabled { colours.text } else { colours.weak });
            let name = ui.add(egui::Label::new(text).sense(Sense::click()).truncate());
            name.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, selected, label.as_str()));
            if name.clicked() {
                command = Some(Command::SelectStep(i));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if selected {
                    let buttons = [
                        (ICON_DELETE, Command::DeleteStep(i), true),
                        (ICON_CONTENT_COPY, Command::DuplicateStep(i), true),
                        (ICON_ARROW_DOWNWARD, Command::MoveStep { from: i, to: i.saturating_sub(1) }, i > 0),
                        (ICON_ARROW_UPWARD, Command::MoveStep { from: i, to: i + 1 }, i + 1 < count),
                    ];
                    for (icon, deed, possible) in buttons {
                        if icon_button_enabled(ui, icon, &format!("{} {label}", deed.text()), possible).clicked() {
                            command = Some(deed);
                        }
                    }
                } else if step.operation.iterations() > 0 {
                    ui.weak(step.operation.iterations().to_string());
                }
                let rest = ui.available_size();
                if rest.x > 0.0 && ui.allocate_response(rest, Sense::click()).clicked() {
                    command = command.take().or(Some(Command::SelectStep(i)));
                }
            });
        });
    });
    card.response.on_hover_text(step.operation.doc());
    command
}

/// The parameters of the selected step: its operation's own, then how it is joined to what is below.
fn selected_ui(ui: &mut Ui, recipe: &mut Recipe, selected: usize) -> Option<Command> {
    let step = recipe.stack.get_mut(selected)?;
    heading(ui, step.title());
    let wants_file = ui.push_id(("step", selected), |ui| group_ui(ui, step.operation.group_mut(), &[])).inner;
    ui.add_space(8.0);
    heading(ui, "Step");
    ui.push_id(("settings", selected), |ui| group_ui(ui, &mut step.settings, &ON_THE_CARD));
    wants_file.map(|_| Command::ChooseFile { step: selected })
}
