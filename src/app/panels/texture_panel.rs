//! How the ground is looked at while it is painted. Nothing here is part of the document.

use egui::{Align, ComboBox, Layout, Rect, Role, Ui, UiBuilder, Vec2, WidgetInfo};

use crate::app::panels::diagram::Diagram;
use crate::engine::texture::{TerrainType, TextureRecipe, TextureView};

/// What the texture's pane shows.
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
            Self::Uncovered => "Uncovered ground",
            Self::Humidity => "Humidity",
            Self::Shade => "Shade",
        }
    }

    fn doc(self) -> &'static str {
        match self {
            Self::Lit => "The ground under sun and sky",
            Self::Unlit => "The plain colours, as engines get them",
            Self::Weight => "How much of the ground the selected type takes, from black to white",
            Self::Uncovered => "Grey, and glaring where no type lies",
            Self::Humidity => "From pale, a dry crest, to blue, a wet hollow",
            Self::Shade => "From white, sun all day, to dark, shade all day",
        }
    }
}

/// What is selected, and what is shown of the ground.
#[derive(Default)]
pub(crate) struct TexturePanelState {
    /// The place of the selected type in the list.
    pub(crate) selected: Option<usize>,
    /// The place of the type that is shown alone.
    pub(crate) solo: Option<usize>,
    /// Whether a type was selected later than any step.
    pub(crate) was_selected_last: bool,
    pub(crate) aspect: TextureDisplay,
    pub(crate) diagram: Diagram,
}

impl TexturePanelState {
    /// As a project is opened with.
    pub(crate) fn reset(&mut self) {
        (self.selected, self.solo, self.aspect) = (None, None, TextureDisplay::Lit);
    }

    /// Follows types that move in the list: `place` gives the new place of a type, `None` for one that is gone.
    pub(crate) fn follow(&mut self, place: impl Fn(usize) -> Option<usize>) {
        self.selected = self.selected.and_then(&place);
        self.solo = self.solo.and_then(&place);
    }

    /// The places of the types whose cards are listed: those of the active set and of none; and the selected one, so
    /// that a card stays in hand while its set is typed.
    pub(crate) fn listed(&self, texture: &TextureRecipe) -> Vec<usize> {
        (0..texture.types.len()).filter(|&i| is_of_active_set(texture, i) || self.selected == Some(i)).collect()
    }

    /// Shows another set, and lets go of the types that it does not have.
    pub(crate) fn activate_set(&mut self, texture: &mut TextureRecipe, set: Option<String>) {
        texture.settings.active_set = set;
        self.follow(|i| Some(i).filter(|&i| is_of_active_set(texture, i)));
    }

    /// The type whose weight is shown: the selected one, else the first.
    fn weighed(&self, types: &[TerrainType]) -> usize {
        self.selected.filter(|&i| i < types.len()).unwrap_or(0)
    }

    /// What the worker is to paint.
    pub(crate) fn view(&self, types: &[TerrainType]) -> TextureView {
        if let Some(alone) = self.solo.filter(|&i| i < types.len()) {
            return TextureView::Solo(alone);
        }
        match self.aspect {
            TextureDisplay::Lit => TextureView::Lit,
            TextureDisplay::Unlit => TextureView::Unlit,
            TextureDisplay::Weight => TextureView::Weight(self.weighed(types)),
            TextureDisplay::Uncovered => TextureView::Uncovered,
            TextureDisplay::Humidity => TextureView::Humidity,
            TextureDisplay::Shade => TextureView::Shade,
        }
    }

    /// Draws the choice of what is shown into a corner of the texture's pane.
    pub(crate) fn texture_display_ui(&mut self, ui: &mut Ui, pane: Rect, texture: &TextureRecipe) {
        let types = &texture.types[..];
        // What takes no part has no weight, and its picture is black.
        let name = |i: usize| match types.get(i) {
            Some(ground) if texture.active_index(i).is_none() => format!("{} (off)", ground.name),
            Some(ground) => ground.name.clone(),
            None => String::new(),
        };
        let alone = self.solo.filter(|&i| i < types.len());
        let text = match (alone, self.aspect) {
            (Some(i), _) => format!("{} alone", name(i)),
            (None, TextureDisplay::Weight) => format!("Weight of {}", name(self.weighed(types))),
            (None, aspect) => aspect.text().into(),
        };
        let place = Rect::from_min_size(pane.min + Vec2::splat(8.0), Vec2::new(152.0, 20.0));
        let mut corner = ui.new_child(UiBuilder::new().max_rect(place).layout(Layout::left_to_right(Align::Center)));
        let combo = ComboBox::from_id_salt("aspect").selected_text(&text).width(place.width()).truncate();
        let shown = combo.show_ui(&mut corner, |ui| {
            for aspect in TextureDisplay::ALL {
                let chosen = alone.is_none() && self.aspect == aspect;
                if ui.selectable_label(chosen, aspect.text()).on_hover_text(aspect.doc()).clicked() {
                    (self.aspect, self.solo) = (aspect, None);
                }
            }
        });
        shown.response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "What the texture shows"));
    }
}

/// Whether a type belongs to the set that is shown, or to all.
fn is_of_active_set(texture: &TextureRecipe, i: usize) -> bool {
    texture.types.get(i).is_some_and(|ground| ground.belongs_to(texture.settings.active_set.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_painted_follows_the_selection_and_survives_types_that_go() {
        let types = vec![TerrainType::default(); 3];
        let mut texture_panel = TexturePanelState { aspect: TextureDisplay::Weight, ..Default::default() };
        assert_eq!(texture_panel.view(&types), TextureView::Weight(0));
        texture_panel.selected = Some(2);
        assert_eq!(texture_panel.view(&types), TextureView::Weight(2));
        assert_eq!(texture_panel.view(&types[..2]), TextureView::Weight(0));
        texture_panel.solo = Some(1);
        assert_eq!(texture_panel.view(&types), TextureView::Solo(1));
        assert_eq!(texture_panel.view(&types[..1]), TextureView::Weight(0));
        texture_panel.follow(|i| (i != 1).then_some(i));
        assert_eq!((texture_panel.selected, texture_panel.solo), (Some(2), None));
    }
}
