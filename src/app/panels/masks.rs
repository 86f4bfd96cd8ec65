//! The masks with names in the left panel, which several steps and terrain types can use.

use egui::{Layout, Ui};
use egui_material_icons::icons::ICON_CLOSE;

use crate::app::commands::{Command, FileSlot};
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::app::widgets::{heading, icon_button_enabled};
use crate::engine::recipe::Recipe;
use crate::engine::recipe_masks::{MaskOwner, NamedMask};

/// The key by which [`ParameterState::reveal_item`] finds a named mask, by its place in the order of the names.
pub(crate) const NAMED_MASKS: &str = "named masks";

/// Draws the masks with names, if there are any; returns the command that chooses a file for one of them.
pub(crate) fn masks_ui(ui: &mut Ui, recipe: &mut Recipe, parameters: &mut ParameterState) -> Option<Command> {
    if recipe.masks.is_empty() {
        return None;
    }
    ui.add_space(12.0);
    heading(ui, "Named masks");
    let mut command = None;
    let revealed = parameters.take_revealed(NAMED_MASKS);
    let known: Vec<NamedMask> =
        recipe.masks.iter().map(|(name, mask)| NamedMask { name: name.clone(), mask: mask.clone() }).collect();
    for (i, before) in known.into_iter().enumerate() {
        let mut named = before.clone();
        let removes = ui.horizontal(|ui| {
            ui.strong(&before.name);
            let name = format!("Remove mask {}", before.name);
            let user = recipe.mask_user(&before.name).and_then(|owner| owner.name(recipe));
            ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| {
                let button = icon_button_enabled(ui, ICON_CLOSE, &name, user.is_none());
                let user = user.unwrap_or_default();
                button.on_disabled_hover_text(format!("{user} uses this mask; remove it there first")).clicked()
            })
        });
        let reveal = (revealed == Some(i)).then_some("name");
        let mut context = ParameterContext { reveal, ..ParameterContext::new(parameters) };
        let wants_file = ui.push_id(("named mask", i), |ui| group_ui(ui, &mut named, &[], &mut context)).inner;
        if wants_file.is_some() {
            let source = parameters.take_file_item().unwrap_or_default();
            command = Some(Command::ChooseFile(FileSlot::Mask { owner: MaskOwner::Named(i), source }));
        }
        if removes.inner.inner {
            recipe.masks.remove(&before.name);
        } else if named.name != before.name {
            if !recipe.rename_mask(&before.name, &named.name) {
                parameters.say(format!("There is a mask called {} already; choose another name", named.name));
            }
        } else if named.mask != before.mask {
            recipe.masks.insert(before.name, named.mask);
        }
    }
    command
}

/// The button that gives the mask of a step or terrain type a name; returns its command.
pub(crate) fn share_ui(ui: &mut Ui, recipe: &Recipe, owner: MaskOwner) -> Option<Command> {
    if !owner.can_share(recipe) {
        return None;
    }
    let text = match (owner, owner.name(recipe)) {
        (MaskOwner::Type(_), Some(name)) => format!("Name mask of {name} for reuse"),
        _ => "Name mask for reuse".into(),
    };
    let button = ui.small_button(text);
    let doc = "Gives the mask a name, so that other steps and terrain types can use it too";
    button.on_hover_text(doc).clicked().then_some(Command::ShareMask(owner))
}
