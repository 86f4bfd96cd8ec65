//! The controls of the 3-D view: shading, exaggeration, glowing faults, water and camera presets.

use egui::{Align, ComboBox, Layout, Rect, Role, Sense, Ui, UiBuilder, Vec2, WidgetInfo};
use egui_material_icons::MaterialIcon;
use egui_material_icons::icons::{
    ICON_BOLT, ICON_CLOSE, ICON_FILTER_CENTER_FOCUS, ICON_HEIGHT, ICON_LANDSCAPE, ICON_MAP, ICON_VIEW_IN_AR, ICON_WATER,
};

use crate::app::commands::Command;
use crate::app::views::overlay::text_background;
use crate::app::views::scene::navigation::CameraPreset;
use crate::app::views::scene::overlay::paint_compass;
use crate::app::widgets::theme::colours;
use crate::app::widgets::typed_number::Quantity;
use crate::app::widgets::{ListUi, icon_button, list_value};
use crate::engine::cast::ToFloat;
use crate::scene::ShadingMode;

/// What the controls change.
#[derive(PartialEq)]
pub(super) struct Settings {
    pub(super) shading: ShadingMode,
    pub(super) exaggeration: f32,
    pub(super) shows_glow: bool,
    /// Whether the water is drawn.
    pub(super) shows_water: bool,
    /// The water level, metres, if there is water.
    pub(super) water_m: Option<f64>,
}

/// Draws the controls into the upper left corner of the pane. `range_m` is the height range of the terrain and
/// `default_water_m` the level of new water; `focuses_water` gives the water level the keyboard focus.
pub(super) fn controls_ui(
    ui: &mut Ui,
    pane: Rect,
    settings: &mut Settings,
    range_m: [f32; 2],
    default_water_m: f64,
    focuses_water: bool,
) {
    let place = Rect::from_min_size(pane.min + Vec2::splat(8.0), Vec2::new(pane.width() - 16.0, 20.0));
    let mut corner = ui.new_child(UiBuilder::new().max_rect(place).layout(Layout::left_to_right(Align::Center)));
    let ui = &mut corner;
    ui.spacing_mut().item_spacing.x = 6.0;
    let shading = &mut settings.shading;
    let combo = ComboBox::from_id_salt("shading").selected_text(shading.label()).width(124.0).list_ui(ui, |ui| {
        for mode in ShadingMode::ALL {
            list_value(ui, shading, mode, mode.label()).on_hover_text(mode.tooltip());
        }
    });
    combo.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Shading of the 3-D view"));
    let field = Quantity { label: "Exaggeration", unit: "", limits: [0.1, 10.0], is_whole: false };
    let prefix = format!("{} × ", ICON_HEIGHT.codepoint);
    let response = field
        .ui(ui, &mut settings.exaggeration, |field| field.speed(0.01).max_decimals(2).min_decimals(1).prefix(prefix));
    let response = response.on_hover_text("Vertical exaggeration of the 3-D view");
    response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Vertical exaggeration"));
    let tooltip = "Recent faults glow during playback";
    settings.shows_glow ^= toggled(ui, settings.shows_glow, ICON_BOLT, "Glowing faults", tooltip);
    water_ui(ui, settings, range_m, default_water_m, focuses_water);
}

/// Draws the controls of the water: whether it is shown, which belongs to the view, and its level, which belongs to the
/// project.
fn water_ui(ui: &mut Ui, settings: &mut Settings, range_m: [f32; 2], default_water_m: f64, focuses_water: bool) {
    let Some(level) = &mut settings.water_m else {
        if toggled(ui, false, ICON_WATER, "Add water", "Add a water level to the project") {
            (settings.water_m, settings.shows_water) = (Some(default_water_m), true);
        }
        return;
    };
    let tooltip = if settings.shows_water {
        "Hide the water surface; the project keeps its level"
    } else {
        "Show the water surface"
    };
    settings.shows_water ^= toggled(ui, settings.shows_water, ICON_WATER, "Show water", tooltip);
    if !settings.shows_water {
        return;
    }
    let speed = f64::from((range_m[1] - range_m[0]).max(10.0)) / 800.0;
    let field = Quantity::metres("Water level", [-20_000.0, 100_000.0]);
    let response = field.ui(ui, level, |field| field.speed(speed).max_decimals(1));
    let response = response.on_hover_text("Water level of the project");
    response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Water level"));
    if focuses_water {
        response.request_focus();
    }
    if icon_button(ui, ICON_CLOSE, "Remove the water from the project").clicked() {
        settings.water_m = None;
    }
}

/// A toggle button; returns whether it was clicked.
fn toggled(ui: &mut Ui, is_on: bool, icon: MaterialIcon, label: &str, tooltip: &str) -> bool {
    let button = egui::Button::selectable(is_on, icon.rich_text().size(14.0)).min_size(Vec2::splat(20.0));
    let response = ui.add(button.frame_when_inactive(true)).on_hover_text(tooltip);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_on, label));
    response.clicked()
}

/// Draws the camera presets and the compass into the lower right corner. Returns the chosen preset and the place that
/// the buttons take.
pub(super) fn presets_ui(ui: &mut Ui, pane: Rect, azimuth: f32) -> (Option<CameraPreset>, Rect) {
    let centre = pane.right_bottom() - Vec2::splat(28.0);
    let dial = Rect::from_center_size(centre, Vec2::splat(36.0));
    let response = ui.interact(dial, ui.scope_id().with("north"), Sense::click()).on_hover_text("Turn north up");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Turn north up"));
    let mut chosen = response.clicked().then_some(CameraPreset::North);
    let colours = colours(ui);
    paint_compass(&ui.painter().with_clip_rect(pane), centre, azimuth, &colours);
    let presets = [
        (ICON_FILTER_CENTER_FOCUS, Command::FrameViews, CameraPreset::Framed),
        (ICON_VIEW_IN_AR, Command::ViewThreeQuarter, CameraPreset::ThreeQuarter),
        (ICON_MAP, Command::ViewFromAbove, CameraPreset::FromAbove),
        (ICON_LANDSCAPE, Command::ViewFromSide, CameraPreset::FromTheSide),
    ];
    let width = 34.0 * presets.len().to_f32() + 2.0;
    let place =
        Rect::from_min_max(dial.left_top() + Vec2::new(-8.0 - width, 6.0), dial.left_bottom() - Vec2::new(8.0, 6.0));
    text_background(ui.painter(), place, &colours);
    let mut row = ui.new_child(UiBuilder::new().max_rect(place).layout(Layout::left_to_right(Align::Center)));
    row.spacing_mut().item_spacing.x = 2.0;
    row.add_space(2.0);
    for (icon, command, preset) in presets {
        if icon_button(&mut row, icon, &command.tooltip(ui)).clicked() {
            chosen = Some(preset);
        }
    }
    (chosen, place.union(dial))
}
