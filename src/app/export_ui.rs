//! The export window: what, how large, and roughly how many bytes.

use std::path::{Path, PathBuf};

use egui::{ComboBox, Ui};

use super::parameter_ui::group_ui;
use crate::engine::Grid;
use crate::files;
use crate::files::build::{HeightmapOrder, Order, TextureOrder, texture_size};
use crate::project::{Export, Project};

/// How the heightmap is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeightmapFormat {
    Png16,
    Raw16,
    Raw32,
}

impl HeightmapFormat {
    const ALL: [Self; 3] = [Self::Png16, Self::Raw16, Self::Raw32];

    fn label(self) -> &'static str {
        match self {
            Self::Png16 => "PNG, 16-bit grey (.png)",
            Self::Raw16 => "RAW, 16-bit (.r16)",
            Self::Raw32 => "RAW, 32-bit float metres (.r32)",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Png16 => "png",
            Self::Raw16 => "r16",
            Self::Raw32 => "r32",
        }
    }

    fn bytes_per_sample(self) -> usize {
        match self {
            Self::Png16 | Self::Raw16 => 2,
            Self::Raw32 => 4,
        }
    }
}

/// Sizes that engines ask for, samples along the longer side.
const SIZES: [(u32, &str); 8] = [
    (513, "Unity"),
    (1009, "Unreal"),
    (1025, "Unity"),
    (2017, "Unreal"),
    (2049, "Unity"),
    (4033, "Unreal"),
    (4097, "Unity"),
    (8129, "Unreal"),
];

/// The choices of the export window, kept while the program runs.
#[derive(Clone, Debug)]
pub(super) struct ExportChoices {
    heightmap: Option<HeightmapFormat>,
    texture: bool,
}

impl Default for ExportChoices {
    fn default() -> Self {
        Self { heightmap: Some(HeightmapFormat::Png16), texture: true }
    }
}

/// What the user decided in the window.
pub(super) enum Decision {
    ChooseFile,
    Close,
}

/// The files of an export: the chosen one, and the texture beside it.
struct Targets {
    heightmap: Option<PathBuf>,
    texture: Option<PathBuf>,
}

impl ExportChoices {
    /// The name of the file to choose.
    pub(super) fn file_name(&self, project: &Project) -> String {
        let stem: String = match project.name.as_str() {
            "" => "landscape".into(),
            name => name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect(),
        };
        let ending = self.heightmap.map_or("png", HeightmapFormat::ending);
        format!("{}.{ending}", stem.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-"))
    }

    /// The chosen path becomes the heightmap's, with its format's ending; the texture stands beside it as
    /// `NAME_texture.png`, or alone under the chosen name.
    fn targets(&self, chosen: &Path) -> Targets {
        let name = chosen.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Only an ending of ours is one: "alps 1.5" has none.
        let stem = match name.rsplit_once('.') {
            Some((stem, ending)) if HeightmapFormat::ALL.iter().any(|f| ending.eq_ignore_ascii_case(f.ending())) => {
                stem
            }
            _ => &name,
        };
        let named = |name: String| chosen.with_file_name(name);
        let heightmap = self.heightmap.map(|format| named(format!("{stem}.{}", format.ending())));
        let texture = self.texture.then(|| match heightmap {
            Some(_) => named(format!("{stem}_texture.png")),
            None => named(format!("{stem}.png")),
        });
        Targets { heightmap, texture }
    }

    /// The files that an export to the chosen path would replace.
    pub(super) fn replaced(&self, chosen: &Path) -> Vec<PathBuf> {
        let Targets { heightmap, texture } = self.targets(chosen);
        let sidecar = heightmap.as_deref().map(files::sidecar::sidecar_path);
        [heightmap, sidecar, texture].into_iter().flatten().filter(|path| path.exists()).collect()
    }

    /// The order for the export thread, which decodes the project's files itself. The dialog has asked about the chosen file already, so it may be replaced.
    pub(super) fn order(&self, project: &Project, chosen: &Path) -> Order {
        let targets = self.targets(chosen);
        let extent = project.recipe.world.extent();
        let size = texture_size(extent, project.export.texture_pixels as usize);
        let grid = Grid::fitted(extent, project.export.samples as usize);
        Order {
            heightmaps: targets.heightmap.into_iter().map(HeightmapOrder::new).collect(),
            texture: targets.texture.map(|path| TextureOrder::new(path, size)),
            overwrite: true,
            ..Order::new(project.name.clone(), project.recipe.clone(), grid)
        }
    }

    /// Draws the window.
    pub(super) fn ui(&mut self, ctx: &egui::Context, project: &mut Project) -> Option<Decision> {
        let mut decision = None;
        let modal = egui::Modal::new(egui::Id::unique("export")).show(ctx, |ui| {
            ui.set_width(400.0);
            ui.heading("Export");
            ui.add_space(4.0);
            self.choices_ui(ui, &mut project.export);
            ui.add_space(4.0);
            for line in self.summary(project) {
                ui.weak(line);
            }
            ui.add_space(8.0);
            egui::Sides::new().show(
                ui,
                |_| {},
                |ui| {
                    let something = self.heightmap.is_some() || self.texture;
                    if ui.add_enabled(something, egui::Button::new("Choose where…")).clicked() {
                        decision = Some(Decision::ChooseFile);
                    }
                    if ui.button("Cancel").clicked() {
                        decision = Some(Decision::Close);
                    }
                },
            );
        });
        if decision.is_none() && modal.should_close() {
            decision = Some(Decision::Close);
        }
        decision
    }

    fn choices_ui(&mut self, ui: &mut Ui, export: &mut Export) {
        ui.horizontal(|ui| {
            let label = ui.label("Heightmap");
            let chosen = self.heightmap.map_or("None", HeightmapFormat::label);
            let combo = ComboBox::from_id_salt("heightmap format").selected_text(chosen).width(240.0);
            let shown = combo.show_ui(ui, |ui| {
                for format in HeightmapFormat::ALL {
                    ui.selectable_value(&mut self.heightmap, Some(format), format.label());
                }
                ui.selectable_value(&mut self.heightmap, None, "None");
            });
            shown.response.labelled_by(label.id);
        });
        ui.checkbox(&mut self.texture, "Texture, PNG in colour");
        let mut hidden = Vec::new();
        if self.heightmap.is_none() && !self.texture {
            hidden.push("samples");
        }
        if !self.texture {
            hidden.push("texture_pixels");
        }
        group_ui(ui, export, &hidden);
        if self.heightmap.is_some() {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = 2.0;
                for (samples, engines) in SIZES {
                    let chosen = export.samples == samples;
                    if ui.selectable_label(chosen, samples.to_string()).on_hover_text(engines).clicked() {
                        export.samples = samples;
                    }
                }
            });
        }
    }

    /// What will be written.
    fn summary(&self, project: &Project) -> Vec<String> {
        let extent = project.recipe.world.extent();
        let grid = Grid::fitted(extent, project.export.samples as usize);
        let mut lines = Vec::new();
        if let Some(format) = self.heightmap {
            let spacing = grid.spacing_x_m();
            let size = bytes(grid.samples() * format.bytes_per_sample());
            lines.push(format!(
                "Heightmap {} × {} samples, {spacing:.2} m apart, {size} uncompressed, with a sidecar",
                grid.width(),
                grid.height()
            ));
        }
        if self.texture {
            let [width, height] = texture_size(extent, project.export.texture_pixels as usize);
            let lit = if project.recipe.light.bake { "lit" } else { "unlit" };
            lines.push(format!("Texture {width} × {height} pixels, {lit}, {} uncompressed", bytes(width * height * 3)));
        }
        lines
    }
}

/// A number of bytes as a person would say it.
fn bytes(count: usize) -> String {
    match count {
        0..=999_999 => format!("{} kB", count.div_ceil(1000)),
        1_000_000..=999_999_999 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_the_project_and_the_format() {
        let mut choices = ExportChoices::default();
        let project = Project { name: "Alpine range (2)".into(), ..Default::default() };
        assert_eq!(choices.file_name(&project), "alpine-range-2.png");
        let both = choices.targets(Path::new("/a/land.png"));
        assert_eq!(both.heightmap.as_deref(), Some(Path::new("/a/land.png")));
        assert_eq!(both.texture.as_deref(), Some(Path::new("/a/land_texture.png")));
        choices.heightmap = Some(HeightmapFormat::Raw16);
        assert_eq!(choices.targets(Path::new("/a/land")).heightmap.as_deref(), Some(Path::new("/a/land.r16")));
        assert_eq!(choices.targets(Path::new("/a/alps 1.5")).heightmap.as_deref(), Some(Path::new("/a/alps 1.5.r16")));
        choices.heightmap = None;
        assert_eq!(choices.targets(Path::new("/a/land.png")).texture.as_deref(), Some(Path::new("/a/land.png")));
    }
}
