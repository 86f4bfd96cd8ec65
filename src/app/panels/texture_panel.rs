//! The state of the terrain types' panel and of the texture's pane. None of it is part of the document.

use std::sync::Arc;

use egui::{Align, ComboBox, Layout, Rect, Role, Ui, UiBuilder, Vec2, WidgetInfo};

use crate::app::panels::diagram::Diagram;
use crate::app::widgets::long_list::RowHeights;
use crate::app::widgets::{ListUi, list_item};
use crate::engine::parameters::List;
use crate::engine::texture::{TerrainType, TextureRecipe, TextureView};

/// What the texture's pane displays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextureDisplay {
    #[default]
    Lit,
    Unlit,
    /// The weight of the selected type.
    Weight,
    Uncovered,
    Humidity,
    Shade,
}

impl TextureDisplay {
    const ALL: [Self; 6] = [Self::Lit, Self::Unlit, Self::Weight, Self::Uncovered, Self::Humidity, Self::Shade];

    fn text(self) -> &'static str {
        match self {
            Self::Lit => "Lit",
            Self::Unlit => "Unlit",
            Self::Weight => "Weight",
            Self::Uncovered => "Uncovered terrain",
            Self::Humidity => "Humidity",
            Self::Shade => "Shade",
        }
    }

    fn doc(self) -> &'static str {
        match self {
            Self::Lit => "The texture lit by sun and sky",
            Self::Unlit => "The colours without lighting, as exported to game engines",
            Self::Weight => "The weight of the selected type, from black to white",
            Self::Uncovered => "Grey, with a warning colour where no type covers the terrain",
            Self::Humidity => "From pale on dry crests to blue in wet hollows",
            Self::Shade => "From white, in the sun all day, to dark, in the shade all day",
        }
    }
}

/// The selected terrain type, and what the texture's pane displays.
#[derive(Default)]
pub(crate) struct TexturePanelState {
    /// The index of the selected type.
    pub(crate) selected: Option<usize>,
    /// The index of the only type that is displayed.
    pub(crate) solo: Option<usize>,
    pub(crate) display: TextureDisplay,
    pub(crate) diagram: Diagram,
    /// Whether the list scrolls to the selected type, which was just added.
    pub(crate) scrolls_to_selected: bool,
    /// The heights of the types' cards.
    pub(crate) row_heights: RowHeights,
    /// The heights of the sets in their list.
    pub(crate) set_heights: RowHeights,
    sets: Option<KnownSets>,
}

/// The sets that can be active, and the types and the active set for which they were collected.
struct KnownSets {
    types: List<TerrainType>,
    active: Option<String>,
    choices: Arc<[Option<String>]>,
}

impl TexturePanelState {
    /// The sets that can be active; `None`, all sets together, is the last one.
    pub(crate) fn sets(&mut self, texture: &TextureRecipe) -> Arc<[Option<String>]> {
        let active = &texture.settings.active_set;
        if let Some(known) = &self.sets
            && known.types.shares_with(&texture.types)
            && known.active == *active
        {
            return known.choices.clone();
        }
        let mut sets = texture.sets();
        // A set without types may still be the active one.
        sets.extend(active.as_deref().filter(|active| !sets.contains(active)));
        let choices: Arc<[Option<String>]> = sets.into_iter().map(|set| Some(set.into())).chain([None]).collect();
        let types = texture.types.clone();
        self.sets = Some(KnownSets { types, active: active.clone(), choices: choices.clone() });
        choices
    }

    /// Resets the state for another project.
    pub(crate) fn reset(&mut self) {
        (self.selected, self.solo, self.display) = (None, None, TextureDisplay::Lit);
    }

    /// Follows types that move in the list: `new_index` returns the new index of a type, `None` if it was deleted.
    pub(crate) fn follow(&mut self, new_index: impl Fn(usize) -> Option<usize>) {
        self.selected = self.selected.and_then(&new_index);
        self.solo = self.solo.and_then(&new_index);
    }

    /// The indices of the types that are listed: those in the active set or without a set, and the selected one, so
    /// that its card stays while the user types its set.
    pub(crate) fn listed(&self, texture: &TextureRecipe) -> Vec<usize> {
        (0..texture.types.len()).filter(|&i| is_in_active_set(texture, i) || self.selected == Some(i)).collect()
    }

    /// Activates another set, and deselects a type that is not in it.
    pub(crate) fn activate_set(&mut self, texture: &mut TextureRecipe, set: Option<String>) {
        texture.settings.active_set = set;
        self.follow(|i| Some(i).filter(|&i| is_in_active_set(texture, i)));
    }

    /// The type whose weight is shown: the selected one, else the first.
    fn weighted_type(&self, types: &[TerrainType]) -> usize {
        self.selected.filter(|&i| i < types.len()).unwrap_or(0)
    }

    /// What the worker paints.
    pub(crate) fn view(&self, types: &[TerrainType]) -> TextureView {
        if let Some(alone) = self.solo.filter(|&i| i < types.len()) {
            return TextureView::Solo(alone);
        }
        match self.display {
            TextureDisplay::Lit => TextureView::Lit,
            TextureDisplay::Unlit => TextureView::Unlit,
            TextureDisplay::Weight => TextureView::Weight(self.weighted_type(types)),
            TextureDisplay::Uncovered => TextureView::Uncovered,
            TextureDisplay::Humidity => TextureView::Humidity,
            TextureDisplay::Shade => TextureView::Shade,
        }
    }

    /// Draws the choice of the display in a corner of the texture's pane.
    pub(crate) fn texture_display_ui(&mut self, ui: &mut Ui, pane: Rect, texture: &TextureRecipe) {
        let types = &texture.types[..];
        // A type that is not active has no weight, so the pane is black.
        let name = |i: usize| match types.get(i) {
            Some(terrain_type) if texture.active_index(i).is_none() => format!("{} (off)", terrain_type.name),
            Some(terrain_type) => terrain_type.name.clone(),
            None => String::new(),
        };
        let alone = self.solo.filter(|&i| i < types.len());
        let text = match (alone, self.display) {
            (Some(i), _) => format!("{} alone", name(i)),
            (None, TextureDisplay::Weight) => format!("Weight of {}", name(self.weighted_type(types))),
            (None, display) => display.text().into(),
        };
        let place = Rect::from_min_size(pane.min + Vec2::splat(8.0), Vec2::new(152.0, 20.0));
        let mut corner = ui.new_child(UiBuilder::new().max_rect(place).layout(Layout::left_to_right(Align::Center)));
        let combo = ComboBox::from_id_salt("texture display").selected_text(&text).width(place.width()).truncate();
        let shown = combo.list_ui(&mut corner, |ui| {
            for display in TextureDisplay::ALL {
                let chosen = alone.is_none() && self.display == display;
                if list_item(ui, chosen, display.text()).on_hover_text(display.doc()).clicked() {
                    (self.display, self.solo) = (display, None);
                }
            }
        });
        shown.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "What the texture shows"));
    }
}

/// Whether a type is in the active set or in none.
fn is_in_active_set(texture: &TextureRecipe, i: usize) -> bool {
    texture.types.get(i).is_some_and(|terrain_type| terrain_type.belongs_to(texture.settings.active_set.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_follows_the_selection_and_deleted_types() {
        let types = vec![TerrainType::default(); 3];
        let mut panel = TexturePanelState { display: TextureDisplay::Weight, ..Default::default() };
        assert_eq!(panel.view(&types), TextureView::Weight(0));
        panel.selected = Some(2);
        assert_eq!(panel.view(&types), TextureView::Weight(2));
        assert_eq!(panel.view(&types[..2]), TextureView::Weight(0));
        panel.solo = Some(1);
        assert_eq!(panel.view(&types), TextureView::Solo(1));
        assert_eq!(panel.view(&types[..1]), TextureView::Weight(0));
        panel.follow(|i| (i != 1).then_some(i));
        assert_eq!((panel.selected, panel.solo), (Some(2), None));
    }
}
