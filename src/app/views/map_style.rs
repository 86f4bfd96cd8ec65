//! The display styles of the heightmap view, and their legends.

use egui::{Align, ComboBox, Layout, Rect, Role, Ui, UiBuilder, Vec2, WidgetInfo};

use crate::app::views::legend::{MIN_HEIGHT, angles, heights, list_legend, ramp_legend};
use crate::app::views::map_transform::MapTransform;
use crate::app::widgets::{ListUi, list_value};
use crate::engine::Grid;
use crate::engine::cast::ToFloat;
use crate::engine::map_view::{MapView, WALKABLE_COLOURS, WATER_COLOURS, contour_interval_m, min_river_area_m2};
use crate::engine::ramp::{ELEVATION, SLOPE};
use crate::project::{ViewSettings, Water};
use crate::worker::Preview;

/// The display style of the heightmap view. It is not part of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MapStyle {
    #[default]
    Grey,
    Tints,
    Hillshade,
    Contours,
    Slope,
    Walkable,
    Water,
}

impl MapStyle {
    pub(crate) const ALL: [Self; 7] =
        [Self::Grey, Self::Tints, Self::Hillshade, Self::Contours, Self::Slope, Self::Walkable, Self::Water];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Grey => "Grey",
            Self::Tints => "Tints",
            Self::Hillshade => "Hillshade",
            Self::Contours => "Contours",
            Self::Slope => "Slope",
            Self::Walkable => "Walkable terrain",
            Self::Water => "Rivers and lakes",
        }
    }

    pub(crate) fn doc(self) -> &'static str {
        match self {
            Self::Grey => "Lowest point black, highest point white",
            Self::Tints => "Green lowlands to white summits, shaded by the sun",
            Self::Hillshade => "Brightness by the angle of the sun, without cast shadows",
            Self::Contours => "Lines of equal height, every fifth one bold",
            Self::Slope => "Green for flat terrain to red at 45° and more",
            Self::Walkable => "Walkable terrain and its connected areas; the slope limit is in the analysis panel",
            Self::Water => "Rivers, lakes filled to their outlet, and the sea",
        }
    }

    /// The map view to request from the worker.
    pub(crate) fn view(self, view: &ViewSettings, water: &Water) -> MapView {
        match self {
            Self::Grey => MapView::Grey,
            Self::Tints => MapView::Tints,
            Self::Hillshade => MapView::Hillshade,
            Self::Contours => MapView::Contours,
            Self::Slope => MapView::Slope,
            Self::Walkable => MapView::Walkable(view.walkable_deg),
            Self::Water => MapView::Water(water.water_m.map(|water_m| water_m.to_f32())),
        }
    }

    /// Draws the style menu in a corner of the pane.
    pub(crate) fn ui(&mut self, ui: &mut Ui, pane: Rect) {
        let place = Rect::from_min_size(pane.min + Vec2::new(8.0, 8.0), Vec2::new(132.0, 24.0));
        let layout = Layout::left_to_right(Align::Center);
        let mut corner = ui.new_child(UiBuilder::new().id_salt("map style").max_rect(place).layout(layout));
        let combo = ComboBox::from_id_salt("map style").selected_text(self.text()).width(place.width()).truncate();
        let shown = combo.list_ui(&mut corner, |ui| {
            for aspect in Self::ALL {
                list_value(ui, self, aspect, aspect.text()).on_hover_text(aspect.doc());
            }
        });
        shown.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "What the heightmap shows"));
    }
}

/// The lines of the legend of a map view.
fn lines(view: MapView, range_m: [f32; 2], grid: Grid) -> Vec<(Option<[u8; 3]>, String)> {
    match view {
        MapView::Contours => {
            let interval_m = contour_interval_m(range_m);
            vec![(None, format!("A line every {interval_m} m, a bold one every {} m", 5.0 * interval_m))]
        }
        MapView::Walkable(limit_deg) => {
            let names = ["Connected", "Isolated", "Too steep"].map(String::from);
            let title = (None, format!("Walkable up to {limit_deg}°"));
            let colours = WALKABLE_COLOURS.map(Some).into_iter().zip(names);
            std::iter::once(title).chain(colours).collect()
        }
        MapView::Water(sea_m) => {
            let min_m2 = min_river_area_m2(grid);
            let drained = match min_m2 {
                ..1e4 => format!("{min_m2:.0} m²"),
                ..1e5 => format!("{:.2} km²", 1e-6 * min_m2),
                _ => format!("{:.1} km²", 1e-6 * min_m2),
            };
            let rivers = format!("Rivers draining at least {drained}");
            let names = [rivers, "Lakes at full level".into(), "Sea".into()];
            let colours = WATER_COLOURS.map(Some).into_iter().zip(names);
            colours.take(if sea_m.is_some() { 3 } else { 2 }).collect()
        }
        MapView::Grey | MapView::Tints | MapView::Hillshade | MapView::Slope => Vec::new(),
    }
}

/// Draws the legend above the scale bar, if there is room.
pub(crate) fn legend_ui(ui: &Ui, transform: &MapTransform, pane: Rect, shown: &Preview) {
    if transform.bar.top() - pane.top() < MIN_HEIGHT {
        return;
    }
    let (painter, range_m) = (&transform.painter, [shown.summary.min_m, shown.summary.max_m]);
    match shown.request.map_view {
        MapView::Tints => {
            ramp_legend(ui, painter, transform.bar, "Elevation, m", &ELEVATION, heights(range_m));
        }
        MapView::Slope => {
            ramp_legend(ui, painter, transform.bar, "Slope, °", &SLOPE, angles());
        }
        MapView::Contours | MapView::Walkable(_) | MapView::Water(_) => {
            list_legend(ui, painter, transform.bar, &lines(shown.request.map_view, range_m, shown.terrain.grid()));
        }
        MapView::Grey | MapView::Hillshade => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;

    #[test]
    fn legends_name_the_interval_and_the_limit() {
        let grid = |side_m| Grid::new(Extent { width_m: side_m, depth_m: side_m }, 513, 513);
        let texts_of =
            |view, grid| lines(view, [-20.0, 390.0], grid).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        let texts = |view| texts_of(view, grid(10_000.0));
        assert_eq!(texts(MapView::Contours), ["A line every 50 m, a bold one every 250 m"]);
        assert_eq!(
            texts(
                MapStyle::Walkable.view(&ViewSettings { walkable_deg: 30.0, ..Default::default() }, &Water::default())
            ),
            ["Walkable up to 30°", "Connected", "Isolated", "Too steep"]
        );
        let water = MapStyle::Water.view(&ViewSettings::default(), &Water::default());
        assert_eq!(texts_of(water, grid(20_000.0))[0], "Rivers draining at least 0.4 km²");
        assert_eq!(texts_of(water, grid(255.0))[0], "Rivers draining at least 65 m²");
        assert_eq!(texts(MapView::Grey), Vec::<String>::new());
    }
}
