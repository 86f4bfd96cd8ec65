//! The controls of the export dialog: target, sizes and tiles.

use std::collections::BTreeSet;

use egui::{Align, ComboBox, Label, Layout, RichText, Ui};

use super::choices::{Choices, HeightmapFormat};
use crate::app::widgets::parameter::{ParameterContext, ParameterState, group_ui};
use crate::app::widgets::typed_number::Quantity;
use crate::app::widgets::{ListUi, checkbox, list_value};
use crate::engine::Extent;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::files::export::TileEdges;
use crate::files::targets;
use crate::files::targets::{Sizes, Target};
use crate::project::ExportSettings;

/// The label of the export without a target.
const PLAIN_FILES: &str = "Custom: choose the formats";

/// The most tiles along a side that the dialog offers.
const MAX_TILES: usize = 16;

/// The sides of textures that are offered for programs that stream them.
const STREAMED_SIDES: [usize; 5] = [512, 1024, 2048, 4096, 8192];

/// A labelled row; the labels form a column.
pub(super) fn row_ui(ui: &mut Ui, name: &str, control: impl FnOnce(&mut Ui, egui::Id)) {
    ui.horizontal(|ui| {
        let size = egui::vec2(96.0, ui.spacing().interact_size.y);
        let left = Layout::left_to_right(Align::Center);
        let label = ui.allocate_ui_with_layout(size, left, |ui| {
            ui.set_min_width(size.x);
            ui.label(name).id
        });
        control(ui, label.inner);
    });
}

/// A target in one line; the sizes and files of maps that are divided into tiles are described by what is below.
fn target_line(target: &Target, is_tiled: bool) -> String {
    let sizes = if is_tiled { target.sizes.rule() } else { target.sizes.describe() };
    let of_maps = if is_tiled { ", maps as one file per tile" } else { "" };
    format!("Sizes: {sizes}. Files: {}{of_maps}", target.file_names())
}

/// The target, or the files of an export without one.
pub(super) fn target_ui(ui: &mut Ui, choices: &mut Choices) {
    row_ui(ui, "Target", |ui, label| {
        let chosen = choices.target.map_or(PLAIN_FILES, |target| target.label);
        let combo = ComboBox::from_id_salt("export target").selected_text(chosen).width(240.0).height(400.0);
        let shown = combo.list_ui(ui, |ui| {
            list_value(ui, &mut choices.target, None, PLAIN_FILES);
            for target in targets::ALL {
                let item = list_value(ui, &mut choices.target, Some(target), target.label);
                item.on_hover_text(target_line(target, false));
            }
        });
        shown.response.labelled_by(label);
    });
    if let Some(target) = choices.target {
        ui.weak(target_line(target, choices.counts() != [1; 2]));
        ui.weak(target.checked.describe(target.label));
        return;
    }
    row_ui(ui, "Heightmap", |ui, label| {
        let chosen = choices.heightmap.map_or("None", HeightmapFormat::label);
        let combo = ComboBox::from_id_salt("heightmap format").selected_text(chosen).width(240.0);
        let shown = combo.list_ui(ui, |ui| {
            for format in HeightmapFormat::ALL {
                list_value(ui, &mut choices.heightmap, Some(format), format.label());
            }
            list_value(ui, &mut choices.heightmap, None, "None");
        });
        shown.response.labelled_by(label);
    });
    checkbox(ui, &mut choices.texture, "Texture (PNG)");
}

/// Samples, pixels and tiles.
pub(super) fn size_ui(
    ui: &mut Ui,
    choices: &mut Choices,
    extent: Extent,
    settings: &mut ExportSettings,
    parameters: &mut ParameterState,
) {
    let sides = choices.target.map(|target| target.sizes.sides()).unwrap_or_default();
    let has_pixels = |target: &Target| {
        (target.texture.is_some() && !target.texture_at_samples) || target.normals.is_some() || target.mesh.is_some()
    };
    let mut hidden = Vec::new();
    if !sides.is_empty() || (choices.target.is_none() && choices.heightmap.is_none() && !choices.texture) {
        hidden.push("samples");
    }
    let streaming = choices.target.filter(|target| target.streams_textures && has_pixels(target));
    if streaming.is_some() || !choices.target.map_or(choices.texture, has_pixels) {
        hidden.push("texture_pixels");
    }
    let counts = choices.counts();
    // The slider shows what is exported; the chosen number is kept for other targets until the user moves it.
    let exported = |samples: u32| u32::try_from(choices.longer(extent, samples as usize)).unwrap_or(samples);
    let before = ExportSettings { samples: exported(settings.samples), ..settings.clone() };
    let mut edited = before.clone();
    group_ui(ui, &mut edited, &hidden, &mut ParameterContext::new(parameters));
    let samples = if edited.samples == before.samples { settings.samples } else { edited.samples };
    *settings = ExportSettings { samples, ..edited };
    let mut longer = choices.longer(extent, settings.samples as usize);
    if !sides.is_empty() {
        let max = counts[0].max(counts[1]);
        // Sizes are those of tiles, unless the program joins the tiles before it checks them.
        let of_tiles = choices.target.filter(|target| target.tile_edges == TileEdges::Shared && max > 1);
        let all_tiles = |side: usize| of_tiles.map_or(side, |target| target.side_of_tiles(side, max));
        let of_tile = |longer: usize| of_tiles.map_or(longer, |target| target.tile_side(longer, max));
        // Not every size suits the tiles, so these are the exported ones.
        let exported = sides.into_iter().map(|side| choices.longer(extent, all_tiles(side)));
        let exported: BTreeSet<usize> = exported.chain([longer]).collect();
        let name = match of_tiles {
            Some(_) => "Samples per tile",
            None if max > 1 => "Samples in all",
            None => "Samples",
        };
        row_ui(ui, name, |ui, _| {
            for side in exported {
                if ui.selectable_label(side == longer, of_tile(side).to_string()).clicked() {
                    settings.samples = u32::try_from(side).unwrap_or(settings.samples);
                }
            }
        });
        longer = choices.longer(extent, settings.samples as usize);
    }
    let restricted = choices.target.filter(|target| target.sizes != Sizes::Any);
    let exported = if counts == [1; 2] {
        format!("{longer} samples")
    } else {
        let [width, height] = choices.tile_size(extent, settings);
        let grid = choices.grid(extent, settings);
        format!("{} × {} samples in all, {width} × {height} per tile", grid.width(), grid.height())
    };
    let text = if longer == settings.samples as usize {
        format!("Exports {exported}")
    } else {
        let rule = restricted.map_or("Tiles share their edges".into(), |target| {
            format!("{} takes {}", target.label, target.sizes.rule())
        });
        format!("{rule}; exports {exported}")
    };
    // Always one line, so that the controls below do not move when another size is chosen.
    ui.add(Label::new(RichText::new(text).weak()).truncate());
    if let Some(target) = streaming {
        texture_pixels_ui(ui, choices, target, extent, settings);
    }
    if choices.supports_tiles() {
        tiles_ui(ui, &mut choices.tiles);
    }
}

/// The powers of two that the texture of a program that streams textures can have, or each of its tiles.
fn texture_pixels_ui(ui: &mut Ui, choices: &Choices, target: &Target, extent: Extent, settings: &mut ExportSettings) {
    let counts = choices.counts();
    let along = usize::from(extent.depth_m > extent.width_m);
    let tile = |settings: &ExportSettings| {
        let size = choices.texture_size(extent, settings);
        [0, 1].map(|axis| size[axis] / counts[axis])
    };
    let chosen = tile(settings)[along];
    let is_tiled = counts != [1; 2];
    row_ui(ui, if is_tiled { "Texture per tile" } else { "Texture pixels" }, |ui, _| {
        for side in STREAMED_SIDES.into_iter().chain(Some(chosen).filter(|side| !STREAMED_SIDES.contains(side))) {
            let item = ui.selectable_label(side == chosen, side.to_string());
            if item.on_hover_text(format!("Texture with {side} pixels along the longer side")).clicked() {
                settings.texture_pixels = u32::try_from(side * counts[along]).unwrap_or(settings.texture_pixels);
            }
        }
    });
    let [width, height] = tile(settings);
    let of_each = if is_tiled { " in each tile" } else { "" };
    let text =
        format!("{} streams only textures of powers of two; exports {width} × {height} pixels{of_each}", target.label);
    ui.add(Label::new(RichText::new(text).weak()).truncate());
}

fn tiles_ui(ui: &mut Ui, tiles: &mut [usize; 2]) {
    row_ui(ui, "Tiles", |ui, label| {
        for (at, name) in ["Columns of tiles", "Rows of tiles"].into_iter().enumerate() {
            let field = Quantity::count(name, 1..=MAX_TILES.to_u32());
            let response =
                field.ui(ui, &mut tiles[at], |field| field.speed(0.05)).labelled_by(label).on_hover_text(name);
            let (count, id) = (tiles[at], response.id);
            ui.ctx().accesskit_node_builder(id, |node| {
                node.set_label(name);
                node.set_numeric_value(count.to_f64());
            });
            if at == 0 {
                ui.label("×");
            }
        }
    });
}
