//! The terrain types on which a layer is placed, and the layers that it avoids, chosen by name.

use egui::{Align, ComboBox, Layout, Ui};
use egui_material_icons::icons::ICON_CLOSE;

use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::app::widgets::{ListUi, icon_button, list_item};
use crate::engine::parameters::{Group, List};
use crate::engine::scatter::{Avoid, ScatterLayer, TypeShare};
use crate::engine::texture::TextureRecipe;

/// Draws the terrain types of a layer.
pub(super) fn types_ui(
    ui: &mut Ui,
    layer: &mut ScatterLayer,
    texture: &TextureRecipe,
    parameters: &mut ParameterState,
) {
    let names: Vec<&str> = texture.types.iter().map(|one| one.name.as_str()).collect();
    let new = |name: &str| TypeShare { name: name.into(), ..TypeShare::default() };
    let texts = ["On terrain types", "all", "Places instances only on these types, with a density for each"];
    let lack = |name: &str| match names.contains(&name) {
        false => Some("(missing)"),
        true if !texture.has_covering(name) => Some("(off, or in another climate set)"),
        true => None,
    };
    let texts_of = (texts, lack);
    named_ui(ui, texts_of, &mut layer.types, &names, (|one: &TypeShare| one.name.clone(), new), "name", parameters);
    if layer.lacks_types(texture) {
        let text = "None of these terrain types covers terrain. As it is, nothing of the layer is placed.";
        ui.colored_label(ui.visuals().error_fg_color, text);
    }
}

/// Draws the layers that a layer avoids; `above` are those that it can avoid.
pub(super) fn avoid_ui(ui: &mut Ui, layer: &mut ScatterLayer, above: &[ScatterLayer], parameters: &mut ParameterState) {
    let names: Vec<&str> = above.iter().map(|one| one.name.as_str()).collect();
    if names.is_empty() && layer.avoid.is_empty() {
        return;
    }
    let new = |name: &str| Avoid { layer: name.into(), ..Avoid::default() };
    let texts = ["Keep away from", "none", "Keeps a distance from layers above this one in the list"];
    let lack = |name: &str| (!names.contains(&name)).then_some("(not above this layer)");
    named_ui(ui, (texts, lack), &mut layer.avoid, &names, (|one: &Avoid| one.layer.clone(), new), "layer", parameters);
}

/// Draws a list of items with a name: a menu that adds one of the names that are left, and the items with their other
/// parameters. `[label, none, doc]` are the texts of the list, `lack` says what an item lacks, `key` is that of the name.
fn named_ui<T: Group + Clone + PartialEq>(
    ui: &mut Ui,
    ([label, none, doc], lack): ([&str; 3], impl Fn(&str) -> Option<&'static str>),
    items: &mut List<T>,
    names: &[&str],
    (name_of, new): (impl Fn(&T) -> String, impl Fn(&str) -> T),
    key: &'static str,
    parameters: &mut ParameterState,
) {
    ui.horizontal(|ui| {
        ui.label(label).on_hover_text(doc);
        let is_left = |name: &&&str| items.iter().all(|item| name_of(item) != **name);
        let left: Vec<&str> = names.iter().filter(is_left).copied().collect();
        let text = if items.is_empty() { none } else { "add another…" };
        ui.add_enabled_ui(!left.is_empty(), |ui| {
            ComboBox::from_id_salt(label).selected_text(text).list_ui(ui, |ui| {
                for name in left {
                    if list_item(ui, false, name).clicked() {
                        items.push(new(name));
                    }
                }
            });
        });
    });
    let mut removed = None;
    for i in 0..items.len() {
        let mut item = items[i].clone();
        let name = name_of(&item);
        ui.push_id((label, i), |ui| {
            ui.horizontal(|ui| {
                let text = match lack(&name) {
                    None => egui::RichText::new(&name),
                    Some(lack) => egui::RichText::new(format!("{name} {lack}")).color(ui.visuals().error_fg_color),
                };
                ui.label(text);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if icon_button(ui, ICON_CLOSE, &format!("Remove {name}")).clicked() {
                        removed = Some(i);
                    }
                });
            });
            group_ui(ui, &mut item, &[key], &mut ParameterContext::new(parameters));
        });
        if item != items[i] {
            items[i] = item;
        }
    }
    if let Some(i) = removed {
        items.remove(i);
    }
}
