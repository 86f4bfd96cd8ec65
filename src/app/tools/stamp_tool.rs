//! The stamp tool: a click places a stamp, and handles move, resize and turn it. The stamp is chosen from pictures.

use std::sync::Arc;

use egui::{Button, DragAndDrop, Popup, PopupCloseBehavior, Role, Ui, Vec2, WidgetInfo};
use egui_material_icons::icons::ICON_ARROW_DROP_DOWN;

use super::box_handles::{Handle, TurnedBox, move_handle, set};
use super::box_tool::{BoxItem, BoxTool};
use super::context::ToolContext;
use super::tool_view::ToolView;
use crate::app::commands::{Command, FileSlot};
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::thumbnail_card::{CardLayout, card_ui, thumbnail_ui};
use crate::app::widgets::{heading, list_item};
use crate::engine::heightfield::Extent;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::stamps::{Stamp, Stamps};
use crate::engine::parameters::{FileName, List, Point};
use crate::engine::recipe::{Recipe, Step};
use crate::files::import::{SHIPPED_STAMPS, shipped_stamp_project};
use crate::project::Project;
use crate::worker::{InputFiles, ThumbnailRequest, ThumbnailStyle};

/// The layout of a card in the list of stamps. Its description is a tooltip.
const CARD: CardLayout =
    CardLayout { size: Vec2::new(120.0, 144.0), thumbnail: Vec2::splat(112.0), is_wide: false, doc_lines: 0 };

/// The cards in a row, and the gap between them, points.
const COLUMNS: usize = 4;
const GAP: f32 = 6.0;

/// The longer side of a picture, pixels.
const PIXELS: usize = 224;

/// The longer side of a stamp that does not fit the world, as a share of the world's shorter side.
const FITTED_SHARE: f64 = 1.0 / 3.0;

impl BoxItem for Stamp {
    const NAME: &'static str = "Stamp";
    const SHOWN: &'static [&'static str] = &["scale", "turn_deg", "mirror", "blend", "feather_m"];
    const NEW_PLACE: &'static str = "The first stamp adds a Stamps step on top";

    fn items(operation: &AnyOperation) -> Option<&List<Self>> {
        if let AnyOperation::Stamps(Stamps { stamps }) = operation { Some(stamps) } else { None }
    }

    fn items_mut(operation: &mut AnyOperation) -> Option<&mut List<Self>> {
        if let AnyOperation::Stamps(Stamps { stamps }) = operation { Some(stamps) } else { None }
    }

    fn new_step() -> Step {
        Step::new(Stamps { stamps: List::default() })
    }

    /// A stamp whose centre is where the drag is, inside the world. One that is larger than the world is scaled down,
    /// also in height.
    fn drawn(&self, world: Extent, _from: Point, [x_m, z_m]: [f64; 2], snaps: bool) -> Option<Self> {
        let Extent { width_m, depth_m } = world;
        if !(0.0..=width_m).contains(&x_m) || !(0.0..=depth_m).contains(&z_m) {
            return None;
        }
        let mut stamp = Self { enabled: true, ..self.clone() };
        let size = self.size_m;
        if size.x_m > width_m || size.z_m > depth_m {
            let factor = FITTED_SHARE * width_m.min(depth_m) / size.x_m.max(size.z_m);
            let rounded = |value: f64| (1000.0 * factor * value).round() / 1000.0;
            set(&mut stamp, "size_m", Point { x_m: rounded(size.x_m), z_m: rounded(size.z_m) });
            set(&mut stamp, "feather_m", rounded(self.feather_m));
            set(&mut stamp, "scale", rounded(self.scale));
        }
        let from = stamp.turned_box();
        move_handle(&mut stamp, from, Handle::Inside([0.0; 2]), [x_m, z_m], snaps);
        Some(stamp)
    }

    fn turned_box(&self) -> TurnedBox {
        TurnedBox { centre_m: self.centre_m, size_m: self.size_m, turn_deg: self.turn_deg }
    }

    /// Moves a handle to a place. While Shift is held, a corner keeps the proportions.
    fn move_handle(&mut self, handle: Handle, place_m: [f64; 2], snaps: bool) {
        let from = self.turned_box();
        if handle == Handle::Corner && snaps {
            set(self, "size_m", from.proportional_size_to(place_m));
        } else {
            move_handle(self, from, handle, place_m, snaps);
        }
    }

    fn summary(&self) -> String {
        format!("{:.0} × {:.0} m, {:.0}°", self.size_m.x_m, self.size_m.z_m, self.turn_deg)
    }
}

/// A stamp that ships with the program.
#[derive(Debug)]
struct ShippedStamp {
    file: FileName,
    project: Arc<Project>,
}

impl ShippedStamp {
    fn request_picture(&self, thumbnails: &mut Thumbnails) {
        let Self { file, project } = self;
        thumbnails.request(&file.0, || ThumbnailRequest {
            key: file.0.clone(),
            recipe: Arc::new(project.recipe.clone()),
            files: InputFiles::new(),
            pixels: PIXELS,
            style: ThumbnailStyle::Relief,
        });
    }
}

/// The stamps that ship with the program, in their order.
fn shipped_stamps() -> Vec<ShippedStamp> {
    let stamp = |(key, _): (&str, &[u8])| {
        let file = FileName(key.into());
        // None is missing: a test reads all of them.
        let project = shipped_stamp_project(&file).ok()?.project;
        Some(ShippedStamp { file, project })
    };
    SHIPPED_STAMPS.into_iter().filter_map(stamp).collect()
}

/// What is dragged from the list of stamps to a view: the chosen stamp.
#[derive(Clone, Copy)]
struct DraggedStamp;

/// The state of the tool. It is not part of the document.
#[derive(Debug, Default)]
pub(crate) struct StampTool {
    pub(super) boxes: BoxTool<Stamp>,
    /// The shipped stamps, once they are needed.
    shipped: Vec<ShippedStamp>,
}

impl StampTool {
    /// Handles the pointer on one view and draws the stamps there.
    pub(super) fn ui(&mut self, ui: &Ui, view: &dyn ToolView, context: &mut ToolContext) -> Option<Command> {
        let response = view.response();
        let place = |ui: &Ui| ui.input(|input| input.pointer.interact_pos()).and_then(|at| view.place_m(at));
        let mut command = None;
        if response.dnd_release_payload::<DraggedStamp>().is_some() {
            if let Some(place_m) = place(ui) {
                self.boxes.place(context, place_m);
                command = (!context.is_at_end).then_some(Command::ToEnd);
            }
        } else if response.dnd_hover_payload::<DraggedStamp>().is_some()
            && let Some(place_m) = place(ui)
        {
            self.boxes.draw_next(ui, view, context, place_m);
        }
        self.boxes.ui(ui, view, context).or(command)
    }

    /// Draws the stamp to place, which opens the list of stamps, and the parameters of the selected stamp or else of
    /// the next one. Returns the command that chooses a file for the selected stamp.
    pub(super) fn bar_ui(
        &mut self,
        ui: &mut Ui,
        recipe: &mut Recipe,
        thumbnails: &mut Thumbnails,
        message: &mut Option<String>,
    ) -> Option<Command> {
        if self.shipped.is_empty() {
            self.shipped = shipped_stamps();
        }
        // The pictures are there when the list opens.
        for stamp in &self.shipped {
            stamp.request_picture(thumbnails);
        }
        let file = &self.boxes.template().file;
        let shipped = self.shipped.iter().find(|stamp| stamp.file == *file);
        let name = shipped.map_or(file.0.as_str(), |stamp| stamp.project.name.as_str());
        let opener = ui.add(Button::new((name, ICON_ARROW_DROP_DOWN.rich_text())));
        let opener = opener.on_hover_text("The stamp that the next click places");
        opener.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Stamp to place: {name}")));
        let popup = Popup::menu(&opener).close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let command = popup.show(|ui| self.list_ui(ui, recipe, thumbnails)).and_then(|shown| shown.inner);
        self.boxes.bar_ui(ui, recipe, message);
        command
    }

    /// Draws the list of stamps.
    fn list_ui(&mut self, ui: &mut Ui, recipe: &Recipe, thumbnails: &mut Thumbnails) -> Option<Command> {
        self.shipped_ui(ui, thumbnails);
        self.imported_ui(ui, recipe);
        ui.separator();
        let selected = self.boxes.selected();
        let text = "Uses a heightmap or another project as the selected stamp";
        let button = ui.add_enabled(selected.is_some(), Button::new("From a file…")).on_hover_text(text);
        let button = button.on_disabled_hover_text("Place a stamp first; then its terrain can come from a file");
        let (step, stamp) = selected.filter(|_| button.clicked())?;
        ui.close();
        Some(Command::ChooseFile(FileSlot::Stamp { step, stamp }))
    }

    /// Draws the shipped stamps as pictures. A click chooses one; a drag places it on a view.
    fn shipped_ui(&mut self, ui: &mut Ui, thumbnails: &Thumbnails) {
        let mut chosen = None;
        for row in self.shipped.chunks(COLUMNS) {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = GAP;
                for ShippedStamp { file, project } in row {
                    let is_chosen = self.boxes.template().file == *file;
                    let card = card_ui(ui, &CARD, &project.name, &project.description, is_chosen, |ui, rect, _| {
                        thumbnail_ui(ui, rect, thumbnails.get(&file.0), 0.0..=1.0);
                    });
                    let card = card.interact(egui::Sense::drag());
                    if card.drag_started() {
                        DragAndDrop::set_payload(ui.ctx(), DraggedStamp);
                    }
                    if card.clicked() || card.drag_started() {
                        chosen = Some((file.clone(), project.recipe.world.extent()));
                        ui.close();
                    }
                }
            });
        }
        if let Some((file, extent)) = chosen {
            let mut stamp = self.boxes.template().clone();
            if !stamp.file.is_shipped() {
                // The range of an imported image does not apply to it.
                stamp.scale = Stamp::default().scale;
            }
            stamp.set_file(file, Some(extent), None);
            self.boxes.set_template(stamp);
        }
    }

    /// Draws the files that the stamps of the project use, to place them again.
    fn imported_ui(&mut self, ui: &mut Ui, recipe: &Recipe) {
        let stamps =
            recipe.stack.iter().filter_map(|step| Stamp::items(&step.operation)).flat_map(|items| items.iter());
        let mut known: Vec<&Stamp> = Vec::new();
        for stamp in stamps.filter(|stamp| !stamp.file.is_shipped() && !stamp.file.0.is_empty()) {
            if known.iter().all(|known| known.file != stamp.file) {
                known.push(stamp);
            }
        }
        if known.is_empty() {
            return;
        }
        heading(ui, "In this project");
        for stamp in known {
            if list_item(ui, self.boxes.template().file == stamp.file, &stamp.file.0).clicked() {
                self.boxes.set_template(stamp.clone());
                ui.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_stamp_can_be_chosen() {
        assert_eq!(shipped_stamps().len(), SHIPPED_STAMPS.len());
    }

    #[test]
    fn a_stamp_larger_than_the_world_is_scaled_to_a_third_of_it() {
        let stamp = Stamp { size_m: Point { x_m: 4000.0, z_m: 2000.0 }, feather_m: 200.0, ..Stamp::default() };
        let drawn = |width_m: f64, depth_m: f64, to_m: [f64; 2]| {
            stamp.drawn(Extent { width_m, depth_m }, Point { x_m: 0.0, z_m: 0.0 }, to_m, false)
        };
        let whole = drawn(4096.0, 4096.0, [1000.0, 500.0]).expect("inside");
        assert_eq!((whole.size_m, whole.centre_m), (stamp.size_m, Point { x_m: 1000.0, z_m: 500.0 }));
        let fitted = drawn(3000.0, 1500.0, [1000.0, 500.0]).expect("inside");
        assert_eq!(fitted.size_m, Point { x_m: 500.0, z_m: 250.0 });
        assert_eq!((fitted.feather_m, fitted.scale), (25.0, 0.125));
        assert!(drawn(3000.0, 1500.0, [1000.0, 1600.0]).is_none());
    }

    #[test]
    fn shift_keeps_the_proportions_of_a_stamp() {
        let mut stamp = Stamp { size_m: Point { x_m: 200.0, z_m: 100.0 }, ..Stamp::default() };
        let Point { x_m, z_m } = stamp.centre_m;
        stamp.move_handle(Handle::Corner, [x_m + 200.0, z_m + 100.0], true);
        assert_eq!(stamp.size_m, Point { x_m: 400.0, z_m: 200.0 });
        stamp.move_handle(Handle::Corner, [x_m + 50.0, z_m + 100.0], false);
        assert_eq!(stamp.size_m, Point { x_m: 100.0, z_m: 200.0 });
    }
}
