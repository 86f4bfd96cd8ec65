//! The import window: how a heightmap will lie in the world, and everything that was guessed about it.

mod fields;

use std::path::{Path, PathBuf};

use egui::{Align2, ColorImage, Context, FontId, Grid, Rect, Sense, Spinner, TextureHandle, TextureOptions, Ui, Vec2};

use self::fields::{channel_ui, colours_ui, holes_ui, layout_ui, length_ui};

use crate::app::commands::{FileSlot, ImportTarget};
use crate::app::document::file_name;
use crate::app::views::overlay::text_background;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{capitalised, checkbox, default_button_ui, modal, radio_button};
use crate::engine::cast::ToFloat;
use crate::engine::operations::heightmap::Heightmap;
use crate::engine::parameters::Band;
use crate::engine::recipe::Recipe;
use crate::engine::stack::restores_symmetry;
use crate::engine::{Extent, Origin};
use crate::files::formats::heightmap::{Holes, ReadOptions};
use crate::files::formats::numbers::{HEIGHT_PLACES, decimal, metres};
use crate::files::import::{ImportedFile, MapSummary, is_same_size, size_note, size_text};
use crate::project::MAX_FILE_BYTES;

/// The side of the picture of the map, points.
const PICTURE: f32 = 220.0;

/// The width of the column beside it, points.
const COLUMN: f32 = 320.0;

/// The decimal places of lengths.
const LENGTH_PLACES: usize = 3;

/// The sides that a world can have, metres.
const SIDES_M: [f64; 2] = [1.0, 1_000_000.0];

/// A heightmap for a step, or a texture for a terrain type.
#[derive(Debug)]
pub(crate) struct Imported {
    /// The chosen file.
    pub(crate) path: PathBuf,
    /// What was read, or why it cannot be read in this way.
    pub(crate) file: Result<ImportedFile, String>,
    /// How it was read.
    pub(crate) options: ReadOptions,
    /// The step or terrain type that it is for; `None`: a new one.
    pub(crate) target: Option<ImportTarget>,
    /// Whether it was opened, so that the world takes its size unless the user decides otherwise.
    pub(crate) is_opened: bool,
    /// What it was read for.
    pub(crate) purpose: ReadPurpose,
}

/// What a heightmap is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPurpose {
    /// A new window, or no window if it is a texture or a mask.
    Choice,
    /// The window that shows it already, where the user changed how it is read.
    Again,
    /// The window that shows it already, where the user has decided to import it.
    Import,
}

impl Imported {
    /// Whether it is the heights of a step, so that the user is asked about it.
    pub(crate) fn is_terrain(&self) -> bool {
        let is_for_step = self.target.as_ref().is_none_or(|target| matches!(target.slot, FileSlot::Operation(_)));
        is_for_step && self.file.as_ref().map_or(true, |file| file.map.is_some())
    }
}

/// A file to import, as the user has decided.
pub(crate) struct PendingImport {
    pub(crate) file: ImportedFile,
    /// The file that the user chose; `file` has another name if it was converted.
    pub(crate) source: PathBuf,
    /// The step or terrain type that it is for; `None`: a new one.
    pub(crate) target: Option<ImportTarget>,
    /// Where its heights go.
    pub(crate) destination: ImportDestination,
}

/// Where the heights of a file go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ImportDestination {
    /// Into a new project, whose world has this size.
    NewProject(Extent),
    /// Into the project, whose world gets this size.
    ResizedWorld(Extent),
    /// Into the project, stretched over its world.
    World,
}

/// The choice between these destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DestinationChoice {
    NewProject,
    ResizedWorld,
    World,
}

/// What the window wants done.
pub(crate) enum ImportResponse {
    /// Read the file again in this way.
    Read(ReadOptions, ReadPurpose),
    /// Import the file.
    Import(Box<ImportedFile>, ImportDestination),
    Cancel,
}

/// What the window knows about the project.
#[derive(Clone, Debug)]
pub(crate) struct ImportContext<'a> {
    /// The size of its world.
    pub(crate) world: Extent,
    /// The bytes of files that can be added to it.
    pub(crate) remaining_bytes: u64,
    /// Its recipe.
    pub(crate) recipe: &'a Recipe,
    /// Why the file cannot be used in it, whatever it is.
    pub(crate) obstacle: Option<String>,
}

/// The window for one file.
pub(crate) struct ImportDialog {
    /// The chosen file.
    pub(crate) path: PathBuf,
    /// The step that it was chosen for.
    pub(crate) target: Option<ImportTarget>,
    pub(crate) is_opened: bool,
    /// How the user wants the file to be read.
    options: ReadOptions,
    /// Whether `options` changed after the last reading began.
    is_outdated: bool,
    /// What was read last.
    file: Option<ImportedFile>,
    /// Why the file cannot be read as `options` say.
    error: Option<String>,
    picture: Option<TextureHandle>,
    /// What the file is being read again for.
    reading: Option<ReadPurpose>,
    /// Whether the user has decided to import it, and it is ready.
    is_decided: bool,
    extent: Extent,
    has_edited_extent: bool,
    /// The lowest and the highest height, and whether the user has changed them.
    range_m: [f64; 2],
    has_edited_range: bool,
    /// Whether changing one side changes the other.
    keeps_proportions: bool,
    destination: DestinationChoice,
}

impl ImportDialog {
    /// The window for a file that was read, in a world of this size. `is_world_free`: nothing else is in it.
    pub(crate) fn new(imported: Imported, world: Extent, is_world_free: bool) -> Self {
        let Imported { path, target, is_opened, .. } = &imported;
        let mut window = Self {
            path: path.clone(),
            target: target.clone(),
            is_opened: *is_opened,
            options: ReadOptions::default(),
            is_outdated: false,
            file: None,
            error: None,
            picture: None,
            reading: None,
            is_decided: false,
            extent: world,
            has_edited_extent: false,
            range_m: [0.0; 2],
            has_edited_range: false,
            keeps_proportions: true,
            destination: DestinationChoice::World,
        };
        let has_size = imported.file.as_ref().is_ok_and(|file| file.extent.is_some());
        window.receive(imported);
        window.destination = match (window.is_opened, has_size || is_world_free) {
            (true, _) => DestinationChoice::NewProject,
            (false, true) => DestinationChoice::ResizedWorld,
            (false, false) => DestinationChoice::World,
        };
        window
    }

    /// Whether it waits for this file.
    pub(crate) fn is_reading(&self, path: &Path) -> bool {
        self.reading.is_some() && self.path == path
    }

    /// Takes the file after it has been read again.
    pub(crate) fn receive(&mut self, imported: Imported) {
        let Imported { file, options, purpose, .. } = imported;
        self.reading = None;
        // The user has chosen something else meanwhile: the file is read again in the next frame.
        if self.is_outdated {
            return;
        }
        (self.picture, self.options) = (None, options);
        match file {
            Ok(file) => {
                self.is_decided = purpose == ReadPurpose::Import;
                if !self.has_edited_extent {
                    self.extent = file.extent.unwrap_or_else(|| in_proportion(self.extent, &file));
                }
                self.error = None;
                let map = file.map.as_ref();
                // The numbers mean something else now.
                let largest = |file: Option<&ImportedFile>| file.and_then(|file| file.map.as_ref()?.max_value);
                self.has_edited_range &= largest(self.file.as_ref()) == largest(Some(&file));
                self.options.raw = map.and_then(|map| map.raw);
                if !self.has_edited_range {
                    self.range_m = range_of(&file);
                }
                self.file = Some(file);
            }
            // The controls stay, so that the user can choose something else.
            Err(error) => self.error = Some(error),
        }
    }

    /// Draws the window.
    pub(crate) fn ui(&mut self, ctx: &Context, context: &ImportContext) -> Option<ImportResponse> {
        let verb = if self.destination == DestinationChoice::NewProject { "Open" } else { "Import" };
        let is_converting = self.reading == Some(ReadPurpose::Import);
        let shown = modal("import", ctx).stay_on_outside_click().keep_top().show(ctx, |ui| {
            ui.set_width(PICTURE + COLUMN + 16.0);
            ui.heading(format!("{verb} {}", file_name(&self.path)));
            ui.add_space(4.0);
            let read = ui.add_enabled_ui(!is_converting, |ui| {
                let columns = ui.horizontal_top(|ui| {
                    self.picture_ui(ui, context.world);
                    ui.add_space(8.0);
                    ui.vertical(|ui| self.properties_ui(ui, context)).inner
                });
                columns.inner
            });
            ui.add_space(4.0);
            if let Some(error) = &self.error {
                ui.colored_label(colours(ui).error, error);
            }
            for note in self.notes() {
                ui.weak(format!("{}.", capitalised(note)));
            }
            ui.add_space(8.0);
            let obstacle = self.obstacle(context);
            if let Some(obstacle) = &obstacle {
                ui.colored_label(colours(ui).error, obstacle);
            }
            let can_import = self.shown().is_some() && self.reading.is_none() && obstacle.is_none();
            let (import, cancel) = egui::Sides::new()
                .show(
                    ui,
                    |ui| {
                        if is_converting {
                            ui.add(Spinner::new());
                            ui.weak("Converting…");
                        }
                    },
                    |ui| {
                        let import = ui.add_enabled_ui(can_import, |ui| default_button_ui(ui, verb)).inner;
                        (import && can_import, ui.button("Cancel").clicked())
                    },
                )
                .1;
            // Whatever prevents it now, it is not imported later without a click.
            let import = (import || std::mem::take(&mut self.is_decided)) && can_import;
            (read.inner, import, cancel)
        });
        let should_close = shown.should_close();
        let (read, import, cancel) = shown.inner;
        if let Some(options) = read {
            (self.options, self.is_outdated) = (options, true);
        }
        // What is chosen while the file is read is read next.
        if self.reading.is_none() && std::mem::take(&mut self.is_outdated) {
            return Some(self.read(ReadPurpose::Again));
        }
        if cancel || should_close {
            return Some(ImportResponse::Cancel);
        }
        if import && self.file.as_ref().is_some_and(|file| file.needs_conversion) {
            return Some(self.read(ReadPurpose::Import));
        }
        let file = self.file.take_if(|_| import)?;
        // The heights of a file can be beyond those that can be set.
        let [min, max] = Heightmap::HEIGHT_LIMITS_M;
        let [low_m, high_m] = self.range_m.map(|height_m| height_m.clamp(min, max));
        let range_m = self.has_edited_range.then_some(Band { min: low_m, max: high_m });
        let mut file = ImportedFile { range_m: range_m.or(file.range_m), ..file };
        if let Some(Band { min, max }) = range_m {
            let is_of_integers = file.map.as_ref().is_some_and(|map| map.max_value.is_some());
            let [low, high] = [min, max].map(|height_m| decimal(height_m, HEIGHT_PLACES));
            file.heights_note = Some(match is_of_integers {
                true => format!("black is {low} m and white is {high} m"),
                false => format!("{low} to {high} m"),
            });
        }
        let destination = match self.destination {
            DestinationChoice::NewProject => ImportDestination::NewProject(self.extent),
            DestinationChoice::ResizedWorld if !is_same_size(self.extent, context.world) => {
                ImportDestination::ResizedWorld(self.extent)
            }
            DestinationChoice::ResizedWorld | DestinationChoice::World => ImportDestination::World,
        };
        Some(ImportResponse::Import(Box::new(file), destination))
    }

    fn read(&mut self, purpose: ReadPurpose) -> ImportResponse {
        self.reading = Some(purpose);
        ImportResponse::Read(self.options.clone(), purpose)
    }

    /// The file, if it can be read as the options say.
    fn shown(&self) -> Option<&ImportedFile> {
        self.file.as_ref().filter(|_| self.error.is_none())
    }

    /// What the user should know besides what the fields show.
    fn notes(&self) -> impl Iterator<Item = &str> {
        let file = self.shown().into_iter();
        file.flat_map(|file| {
            let size = file.extent.map(size_note);
            let is_outdated = |note: &str| self.has_edited_range && file.heights_note.as_deref() == Some(note);
            file.all_notes().filter(move |note| size.as_deref() != Some(*note) && !is_outdated(note))
        })
    }

    /// Why the file cannot be imported as it is set.
    fn obstacle(&self, context: &ImportContext) -> Option<String> {
        let file = self.shown()?;
        if self.range_m[0] > self.range_m[1] {
            return Some("The minimum height is above the maximum height.".into());
        }
        let (available, obstacle) = match self.destination {
            DestinationChoice::NewProject => (MAX_FILE_BYTES, None),
            DestinationChoice::ResizedWorld | DestinationChoice::World => {
                (context.remaining_bytes, context.obstacle.clone())
            }
        };
        let size = file.bytes.len() as u64;
        let is_too_large = !file.needs_conversion && size > available;
        obstacle.or(is_too_large.then(|| {
            let [room, needed] = [available, size].map(|bytes| bytes / 1_000_000);
            format!("The project has room for {room} MB more, but the map takes {needed} MB; import a smaller map.")
        }))
    }

    /// The map from above, in the proportions that it will have.
    fn picture_ui(&mut self, ui: &mut Ui, world: Extent) {
        let (rect, _) = ui.allocate_exact_size(Vec2::splat(PICTURE), Sense::hover());
        let colours = colours(ui);
        ui.painter().rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
        let map = self.file.as_ref().filter(|_| self.error.is_none()).and_then(|file| file.map.as_ref());
        let Some(picture) = map.and_then(|map| map.picture.as_ref()) else {
            let text = if self.reading.is_some() { "Reading…" } else { "No preview" };
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, text, FontId::proportional(13.0), colours.weak);
            return;
        };
        let texture = self.picture.get_or_insert_with(|| {
            let pixels: Vec<u8> = picture.pixels.iter().flatten().copied().collect();
            let image = ColorImage::from_rgba_unmultiplied([picture.width, picture.height], &pixels);
            ui.ctx().load_texture("import", image, TextureOptions::LINEAR)
        });
        let shown = if self.destination == DestinationChoice::World { world } else { self.extent };
        let aspect = (shown.width_m / shown.depth_m).to_f32();
        let size =
            if aspect >= 1.0 { Vec2::new(PICTURE, PICTURE / aspect) } else { Vec2::new(PICTURE * aspect, PICTURE) };
        let place = Rect::from_center_size(rect.center(), size.max(Vec2::splat(1.0)));
        ui.painter().image(
            texture.id(),
            place,
            Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0)),
            egui::Color32::WHITE,
        );
        let north = rect.center_top() + Vec2::new(0.0, 4.0);
        let letter = ui.painter().layout_no_wrap("N".into(), FontId::proportional(11.0), colours.accent_text);
        let place = Align2::CENTER_TOP.anchor_size(north, letter.size());
        text_background(ui.painter(), place.expand2(Vec2::new(4.0, 1.0)), &colours);
        ui.painter().galley(place.min, letter, colours.accent_text);
    }

    /// What the map is, and what can be changed; returns how to read the file again.
    fn properties_ui(&mut self, ui: &mut Ui, context: &ImportContext) -> Option<ReadOptions> {
        let mut read = None;
        Grid::new("import properties").num_columns(2).spacing([12.0, 6.0]).min_col_width(84.0).show(ui, |ui| {
            read = self.reading_ui(ui);
            let Some(map) = self.file.as_ref().and_then(|file| file.map.as_ref()) else { return };
            let (size, max_value) = (map.size, map.max_value);
            if let Some(origin) = self.file.as_ref().and_then(|file| file.origin.as_ref()) {
                ui.label("South-west");
                ui.label(place_text(origin)).on_hover_text("Where the south-western corner of the map lies on Earth");
                ui.end_row();
            }
            self.extent_ui(ui, size);
            self.heights_ui(ui, max_value);
            self.range_ui(ui);
        });
        if self.file.is_some() {
            ui.add_space(4.0);
            self.destination_ui(ui, context.world);
            if self.destination != DestinationChoice::NewProject && self.target.is_none() {
                ui.weak("The map becomes a step on top of the stack. It replaces the terrain below it.");
                let extent = if self.destination == DestinationChoice::World { context.world } else { self.extent };
                if restores_symmetry(context.recipe, extent) {
                    ui.weak(
                        "The Symmetry step then makes it symmetric, by \u{201c}Restore symmetry at the end\u{201d}.",
                    );
                }
            }
        }
        read
    }

    /// How the file is read; returns another way if it is chosen.
    fn reading_ui(&self, ui: &mut Ui) -> Option<ReadOptions> {
        let mut options = self.options.clone();
        let map = self.file.as_ref().and_then(|file| file.map.as_ref());
        if let Some(layout) = options.raw {
            // Until the file has been read again, its last size is shown, and which other sizes fit is not known.
            let is_reading = self.reading.is_some();
            let sizes = map.filter(|_| !is_reading && self.error.is_none()).map_or(&[][..], |map| &map.raw_sizes);
            let last = map.filter(|_| is_reading).map_or([0; 2], |map| map.size);
            options.raw = layout_ui(ui, layout, last, sizes).or(options.raw);
        }
        if let Some(map) = map {
            self.map_ui(ui, map, &mut options);
        }
        (options != self.options).then_some(options)
    }

    /// How a map that could be read is understood.
    fn map_ui(&self, ui: &mut Ui, map: &MapSummary, options: &mut ReadOptions) {
        if options.raw.is_none() {
            ui.label("Samples");
            ui.label(format!("{} × {}", map.size[0], map.size[1]));
            ui.end_row();
        }
        if map.channels.len() > 1 {
            options.channel = channel_ui(ui, map, options.channel.as_deref()).or(options.channel.take());
        }
        if let Some(reading) = map.colours {
            let reading = options.colours.unwrap_or(reading);
            options.colours = colours_ui(ui, reading, map.has_palette).or(options.colours);
        }
        if map.holes != Holes::default() {
            options.holes = holes_ui(ui, map.holes, options.holes).unwrap_or(options.holes);
        }
        ui.label("Orientation");
        checkbox(ui, &mut options.is_flipped, "Flip north and south")
            .on_hover_text("For files whose first row is the southern one");
        ui.end_row();
    }

    /// The size of the map on the ground.
    fn extent_ui(&mut self, ui: &mut Ui, samples: [usize; 2]) {
        let before = self.extent;
        ui.label("Size");
        ui.horizontal(|ui| {
            let Extent { width_m, depth_m } = &mut self.extent;
            let width = length_ui(ui, width_m, "Width", "Width of the map, west to east", SIDES_M);
            ui.label("×");
            let depth = length_ui(ui, depth_m, "Depth", "Depth of the map, north to south", SIDES_M);
            if self.keeps_proportions && width {
                *depth_m = before.depth_m * *width_m / before.width_m;
            } else if self.keeps_proportions && depth {
                *width_m = before.width_m * *depth_m / before.depth_m;
            }
        });
        ui.end_row();
        ui.label("");
        checkbox(ui, &mut self.keeps_proportions, "Keep proportions");
        ui.end_row();
        let spacing_m =
            |extent: Extent| [extent.width_m / (samples[0] - 1).to_f64(), extent.depth_m / (samples[1] - 1).to_f64()];
        ui.label("Spacing");
        ui.horizontal(|ui| {
            let [eastward_m, southward_m] = spacing_m(self.extent);
            let mut changed_m = eastward_m;
            if length_ui(ui, &mut changed_m, "Spacing", "Metres between samples", [1e-3, SIDES_M[1]]) {
                self.extent.width_m = changed_m * (samples[0] - 1).to_f64();
                self.extent.depth_m *= changed_m / eastward_m;
            }
            if (eastward_m / southward_m - 1.0).abs() > 1e-6 {
                ui.weak(format!("× {} m", decimal(southward_m, LENGTH_PLACES)));
            }
        });
        ui.end_row();
        if self.extent != before {
            let [low, high] = SIDES_M;
            let Extent { width_m, depth_m } = self.extent;
            self.extent = Extent { width_m: width_m.clamp(low, high), depth_m: depth_m.clamp(low, high) };
            self.has_edited_extent = true;
            if self.destination == DestinationChoice::World {
                self.destination = DestinationChoice::ResizedWorld;
            }
        }
    }

    /// The heights of the lowest and the highest value.
    fn heights_ui(&mut self, ui: &mut Ui, max_value: Option<f32>) {
        let rows = match max_value {
            None => [
                ("Minimum height", "The lowest height of the map".to_string()),
                ("Maximum height", "The highest height of the map".to_string()),
            ],
            Some(max) => [("Height at 0", 0.0), (if max > 255.0 { "Height at 65535" } else { "Height at 255" }, max)]
                .map(|(name, value)| (name, format!("The height of a pixel with the value {value}"))),
        };
        for ((name, doc), height_m) in rows.into_iter().zip(&mut self.range_m) {
            ui.label(name);
            self.has_edited_range |= length_ui(ui, height_m, name, &doc, Heightmap::HEIGHT_LIMITS_M);
            ui.end_row();
        }
    }

    /// The lowest and the highest height of a map of integers, which need not have the values of the two fields.
    fn range_ui(&self, ui: &mut Ui) {
        let Some((map, max)) =
            self.shown().and_then(|file| file.map.as_ref()).and_then(|map| Some((map, map.max_value?)))
        else {
            return;
        };
        let [low_m, high_m] = self.range_m;
        let height = |value: f32| decimal(low_m + f64::from(value / max) * (high_m - low_m), HEIGHT_PLACES);
        let [low, high] = map.values;
        ui.label("Heights");
        ui.label(format!("{} to {} m", height(low), height(high)))
            .on_hover_text(format!("The map has values from {low} to {high}"));
        ui.end_row();
    }

    /// The choice of where the heights go.
    fn destination_ui(&mut self, ui: &mut Ui, world: Extent) {
        let mut option =
            |ui: &mut Ui, destination, text: &str| drop(radio_button(ui, &mut self.destination, destination, text));
        if self.is_opened {
            option(ui, DestinationChoice::NewProject, "New project");
        }
        match (self.is_opened, is_same_size(self.extent, world)) {
            (true, true) => option(ui, DestinationChoice::World, "This project"),
            (true, false) => {
                option(ui, DestinationChoice::ResizedWorld, "This project (resize the world)");
                option(ui, DestinationChoice::World, &format!("This project (stretch the map to {})", rounded(world)));
            }
            (false, true) => {}
            (false, false) => {
                option(ui, DestinationChoice::ResizedWorld, &format!("Make the world {}", rounded(self.extent)));
                option(ui, DestinationChoice::World, &format!("Stretch the map over the world, {}", rounded(world)));
            }
        }
    }
}

/// The heights that the file will have without changes: those of the value 0 and of the largest value of integers, and
/// otherwise the lowest and the highest.
fn range_of(file: &ImportedFile) -> [f64; 2] {
    match (&file.range_m, &file.map) {
        (Some(range), _) => [range.min, range.max],
        (None, Some(map)) => map.values.map(f64::from),
        (None, None) => [0.0; 2],
    }
}

/// A place, for example `500000 E, 4649776 N, EPSG 32632`.
fn place_text(Origin { easting_m, northing_m, epsg }: &Origin) -> String {
    let system = epsg.map_or(String::new(), |epsg| format!(", EPSG {epsg}"));
    format!("{} E, {} N{system}", metres(*easting_m), metres(*northing_m))
}

/// A size to the decimetre, or finer if it is small.
fn rounded(Extent { width_m, depth_m }: Extent) -> String {
    let round = |side_m: f64| if side_m < 100.0 { side_m } else { (side_m * 10.0).round() / 10.0 };
    size_text(Extent { width_m: round(width_m), depth_m: round(depth_m) })
}

/// A size as wide as another one, with square cells.
fn in_proportion(other: Extent, file: &ImportedFile) -> Extent {
    let [width, height] = file.map.as_ref().map_or([2; 2], |map| map.size).map(|side| (side - 1).to_f64());
    Extent { depth_m: other.width_m * height / width, ..other }
}

#[cfg(test)]
impl ImportDialog {
    /// The samples of the map that is shown.
    pub(crate) fn size(&self) -> Option<[usize; 2]> {
        Some(self.shown()?.map.as_ref()?.size)
    }
}

#[cfg(test)]
mod tests {
    use egui::accesskit::Role;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::app::widgets::theme::install;
    use crate::files::formats::heightmap::RawSample;
    use crate::files::import::open_for_review;

    const WORLD: Extent = Extent { width_m: 1000.0, depth_m: 1000.0 };

    /// The window, and how it wanted the file to be read.
    struct Shown {
        window: ImportDialog,
        wanted: Vec<ReadOptions>,
    }

    fn read(path: &Path, options: &ReadOptions) -> Imported {
        let file = open_for_review(path, options).map_err(|error| error.to_string());
        Imported {
            path: path.into(),
            file,
            options: options.clone(),
            target: None,
            is_opened: false,
            purpose: ReadPurpose::Again,
        }
    }

    fn choose(window: &mut Harness<Shown>, sample: &str) {
        window.get_by_role_and_label(Role::ComboBox, "Sample type").click();
        window.run_steps(3);
        window.get_by_label(sample).click();
        window.run_steps(3);
    }

    #[test]
    fn what_is_chosen_while_the_file_is_read_is_read_next() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("land.raw");
        std::fs::write(&path, (0..1200_u16).flat_map(u16::to_be_bytes).collect::<Vec<u8>>()).expect("written");
        let recipe = Recipe::default();
        let context = ImportContext { world: WORLD, remaining_bytes: MAX_FILE_BYTES, recipe: &recipe, obstacle: None };
        let mut has_fonts = false;
        let mut window = Harness::builder().with_size([1280.0, 800.0]).build_ui_state(
            move |ui, shown: &mut Shown| {
                if !std::mem::replace(&mut has_fonts, true) {
                    return install(ui.ctx());
                }
                if let Some(ImportResponse::Read(options, _)) = shown.window.ui(ui.ctx(), &context) {
                    shown.wanted.push(options);
                }
            },
            Shown { window: ImportDialog::new(read(&path, &ReadOptions::default()), WORLD, true), wanted: Vec::new() },
        );
        window.run_steps(4);
        choose(&mut window, "16 bits, little-endian");
        choose(&mut window, "8 bits");
        let sample = |options: &ReadOptions| options.raw.map(|layout| layout.sample);
        let wanted = |window: &Harness<Shown>| window.state().wanted.iter().map(sample).collect::<Vec<_>>();
        assert_eq!(wanted(&window), [Some(RawSample::U16Le)], "one file at a time is read");
        let first = window.state().wanted[0].clone();
        window.state_mut().window.receive(read(&path, &first));
        window.run_steps(2);
        assert_eq!(wanted(&window), [Some(RawSample::U16Le), Some(RawSample::U8)]);
        let last = window.state().wanted[1].clone();
        window.state_mut().window.receive(read(&path, &last));
        window.run_steps(2);
        let size = window.state().window.size().expect("a map");
        assert_eq!((size[0] * size[1], window.state().wanted.len()), (2400, 2), "nothing else is wanted");
    }
}
