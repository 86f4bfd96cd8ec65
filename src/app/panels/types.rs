//! The terrain types: their diagram, their cards, and what they have in common.

use egui::{Align, CollapsingHeader, Layout, RichText, Ui, Vec2};
use egui_material_icons::icons::ICON_ADD;

use crate::app::commands::{Command, FileSlot};
use crate::app::panels::diagram::diagram_ui;
use crate::app::panels::right::RightPanelContext;
use crate::app::panels::texture_panel::{TextureDisplay, TexturePanelState};
use crate::app::widgets::cards::{Card, CardAction, CardResponse, cards_ui};
use crate::app::widgets::parameter::{Guide, Scope, TextureChoices, capitalised, group_ui, group_ui_guided, name_ui};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{heading, icon_button, note_ui, solo_button};
use crate::engine::parameters::{Band, Group, Range, TextureName};
use crate::engine::recipe::Recipe;
use crate::engine::texture::{TerrainType, TextureRecipe, Unit};
use crate::worker::Preview;

/// Parameters of a terrain type that have a control of their own on its card, and those of its texture.
const ON_THE_CARD: [&str; 4] = ["enabled", "colour", "repeat_m", "tint"];

/// Settings that have a control of their own.
const BY_NAME: [&str; 2] = ["active_set", "fallback"];

/// The heights that stand for a land which is not there yet, metres.
const ANY_RANGE_M: Band = Band { min: 0.0, max: 1000.0 };

pub(crate) fn types_ui(
    ui: &mut Ui,
    recipe: &mut Recipe,
    texture_panel: &mut TexturePanelState,
    around: &RightPanelContext,
) -> Option<Command> {
    let of_land = |preview: &Preview| preview.summary.range_m();
    let range_m = recipe.world.height_range_m.or(around.shown.map(of_land)).unwrap_or(ANY_RANGE_M);
    let texture = &mut recipe.texture;
    ui.horizontal(|ui| {
        heading(ui, "Terrain types");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icon_button(ui, ICON_ADD, "Add a terrain type").clicked() {
                add_type(texture, texture_panel, range_m);
            }
        });
    });
    diagram_ui(ui, texture, range_m, &mut texture_panel.selected, &mut texture_panel.diagram);
    ui.add_space(4.0);
    sets_ui(ui, texture, texture_panel);
    if texture.types.is_empty() && ui.button("Add the first terrain type").clicked() {
        add_type(texture, texture_panel, range_m);
    }
    let own: Vec<TextureName> = recipe.pictures().into_iter().filter(|name| !name.is_shipped()).collect();
    let texture = &mut recipe.texture;
    let scopes = scopes(texture.settings.unit, range_m);
    let textures = TextureChoices { thumbnails: around.thumbnails, files: around.files, own: &own };
    let guide = Guide { scopes: &scopes, textures: Some(textures), ..Default::default() };
    let notes: Vec<Note> = (0..texture.types.len()).map(|i| note(recipe, i, around.shown)).collect();
    let mut command = None;
    let mut deed = None;
    let places = texture_panel.listed(&recipe.texture);
    let types = &mut recipe.texture.types;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        deed = cards_ui(ui, &places, |ui, i| {
            let (drawn, wants_file) = card_ui(ui, &mut types[i], i, texture_panel, notes[i], guide);
            if wants_file {
                command = Some(Command::ChooseFile(FileSlot::Texture(i)));
            }
            drawn
        });
        if let Some(preview) = around.shown {
            uncovered_ui(ui, preview.uncovered, texture_panel);
        }
    });
    if let Some((i, deed)) = deed {
        command = command.or(execute(types, texture_panel, i, deed));
    }
    CollapsingHeader::new("All types").id_salt("all types").show(ui, |ui| {
        let unit = recipe.texture.settings.unit;
        ui.push_id("texture", |ui| group_ui(ui, &mut recipe.texture.settings, &BY_NAME));
        if recipe.texture.settings.unit != unit {
            convert(&mut recipe.texture, range_m);
        }
        let fills = |ground: &&TerrainType| ground.covers();
        let names: Vec<String> = recipe.texture.active().filter(fills).map(|ground| ground.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        name_ui(ui, &mut recipe.texture.settings, "fallback", "Nearest type", &names);
    });
    command
}

/// A new type over the whole land, at the end of the list and in hand.
pub(crate) fn add_type(texture: &mut TextureRecipe, texture_panel: &mut TexturePanelState, range_m: Band) {
    // It belongs to what is shown, or else it could not be seen.
    let set = texture.settings.active_set.clone().unwrap_or_default();
    let is_free = |name: &String| texture.types.iter().all(|ground| ground.name != *name);
    let name = (1..).map(|i| format!("Ground {i}")).find(is_free).unwrap_or_default();
    let mut ground = TerrainType { name, set, ..Default::default() };
    if texture.settings.unit == Unit::Metres {
        ground.elevation = Band { min: range_m.min.floor(), max: range_m.max.ceil() };
        ground.elevation_release = (0.1 * (range_m.max - range_m.min)).round();
    }
    texture.types.push(ground);
    texture_panel.selected = Some(texture.types.len() - 1);
}

/// Writes the elevations of all types, until now in the other unit, in that of the recipe: over this range of heights
/// the picture stays as it is.
fn convert(texture: &mut TextureRecipe, range_m: Band) {
    // A percent of level land is no length; any other then serves as well.
    let percent_m = Some((range_m.max - range_m.min) / 100.0).filter(|percent| *percent > 0.0).unwrap_or(1.0);
    // Small enough a step that no picture shows it, so that there and back is the same number.
    let held = |key: &str, number: f64| {
        let hard = TerrainType::default().table().iter().find(|row| row.key == key).map(|row| row.hard);
        let rounded = (number * 1e6).round() / 1e6;
        hard.map_or(rounded, |hard| rounded.clamp(hard.low, hard.high))
    };
    let (place, length): (&dyn Fn(f64) -> f64, &dyn Fn(f64) -> f64) = match texture.settings.unit {
        Unit::Metres => (&|percent| range_m.min + percent * percent_m, &|percent| percent * percent_m),
        Unit::Percent => (&|metres| (metres - range_m.min) / percent_m, &|metres| metres / percent_m),
    };
    for ground in &mut texture.types {
        let Band { min, max } = ground.elevation;
        ground.elevation = Band { min: held("elevation", place(min)), max: held("elevation", place(max)) };
        ground.elevation_release = held("elevation_release", length(ground.elevation_release));
        ground.skew = held("skew", length(ground.skew));
    }
}

/// The choice of the set that is shown, a click each, where there are sets at all.
fn sets_ui(ui: &mut Ui, texture: &mut TextureRecipe, texture_panel: &mut TexturePanelState) {
    let active = texture.settings.active_set.clone();
    let mut sets: Vec<String> = texture.sets().into_iter().map(String::from).collect();
    // A set whose last type has gone is still the one that is shown.
    sets.extend(active.clone().filter(|active| !sets.contains(active)));
    if sets.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(4.0);
        let small = RichText::new("Set").size(11.0).color(colours(ui).weak);
        ui.label(small).on_hover_text("Climates or seasons: one click paints the land with the types of another");
        for set in sets.iter().map(Some).chain([None]) {
            let (title, doc) = match set {
                Some(set) => {
                    let own = texture.types.iter().filter(|ground| ground.set == *set).count();
                    let doc = format!("{own} types of this set, and those that belong to no set");
                    (capitalised(set), doc)
                }
                None => ("All".into(), "The types of all sets together".into()),
            };
            if ui.selectable_label(active.as_ref() == set, title).on_hover_text(doc).clicked() {
                texture_panel.activate_set(texture, set.cloned());
            }
        }
    });
    ui.add_space(4.0);
}

/// Does to a type what its card was asked for, but for moves, which are commands.
fn execute(
    types: &mut Vec<TerrainType>,
    texture_panel: &mut TexturePanelState,
    i: usize,
    deed: CardAction,
) -> Option<Command> {
    match deed {
        CardAction::Select => texture_panel.selected = if texture_panel.selected == Some(i) { None } else { Some(i) },
        CardAction::Solo => texture_panel.solo = if texture_panel.solo == Some(i) { None } else { Some(i) },
        // Its name is in its card, which opens for it.
        CardAction::Rename | CardAction::SeekToStep => texture_panel.selected = Some(i),
        CardAction::MoveTo(to) => return Some(Command::MoveType { from: i, to }),
        CardAction::Delete => {
            types.remove(i);
            texture_panel.follow(|at| if at == i { None } else { Some(if at > i { at - 1 } else { at }) });
        }
        CardAction::Duplicate => {
            let mut copy = types[i].clone();
            copy.name.push_str(" copy");
            types.insert(i + 1, copy);
            texture_panel.follow(|at| Some(if at > i { at + 1 } else { at }));
            texture_panel.selected = Some(i + 1);
        }
    }
    None
}

/// What elevations slide over: percent, or metres over the land's own range.
fn scopes(unit: Unit, range_m: Band) -> [Scope; 3] {
    let (low, high, unit) = match unit {
        Unit::Metres => (range_m.min, range_m.max, "m"),
        Unit::Percent => (0.0, 100.0, "%"),
    };
    let span = (high - low).max(1.0);
    let scope = |key, low, high| Scope { key, range: Range { low, high }, unit };
    [
        scope("elevation", low, low + span),
        scope("elevation_release", 0.0, 0.5 * span),
        scope("skew", -0.5 * span, 0.5 * span),
    ]
}

/// A share of the land as it is written on cards.
fn percent(share: f32) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// What a card says of its type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Note {
    Off,
    /// Its card is there only while it is selected.
    OtherSet,
    /// No picture has shown it yet.
    Unseen,
    /// The share of the land that it takes.
    Takes(f32),
    /// The share of the land whose ground it multiplies or overlays.
    Changes(f32),
}

impl Note {
    fn text(self) -> String {
        match self {
            Self::Off => "off".into(),
            Self::OtherSet => "other set".into(),
            Self::Unseen => String::new(),
            Self::Takes(share) => percent(share),
            Self::Changes(share) => format!("over {}", percent(share)),
        }
    }

    fn sentence(self) -> String {
        match self {
            Self::Off | Self::OtherSet | Self::Unseen => self.text(),
            Self::Takes(share) => format!("Takes {} of the land", percent(share)),
            Self::Changes(share) => format!("Lies over {} of the land", percent(share)),
        }
    }
}

/// What is to be said of a type beside the picture that is shown.
fn note(recipe: &Recipe, i: usize, shown: Option<&Preview>) -> Note {
    let ground = &recipe.texture.types[i];
    if !ground.enabled {
        return Note::Off;
    }
    if recipe.texture.active_index(i).is_none() {
        return Note::OtherSet;
    }
    let share = shown.and_then(|preview| {
        // The picture may still be one of other types.
        let painted = &preview.request.recipe.texture;
        painted.types.get(i).filter(|known| known.name == ground.name)?;
        preview.shares.get(painted.active_index(i)?).copied()
    });
    let of = if ground.covers() { Note::Takes } else { Note::Changes };
    share.map_or(Note::Unseen, of)
}

/// The tint with which a picture that has just been chosen is seen as what it is: one's own is not tinted.
pub(crate) fn tint_of(picture: Option<&TextureName>) -> Option<f64> {
    picture.filter(|picture| !picture.is_shipped()).map(|_| 0.0)
}

/// A type's card, in the selected one its parameters; beside it whether the user wants to choose a file.
fn card_ui(
    ui: &mut Ui,
    ground: &mut TerrainType,
    i: usize,
    texture_panel: &TexturePanelState,
    note: Note,
    guide: Guide,
) -> (CardResponse, bool) {
    let selected = texture_panel.selected == Some(i);
    let (name, mut enabled, mut colour) = (ground.name.clone(), ground.enabled, ground.colour);
    let thumbnail = |name: &TextureName| {
        let textures = guide.textures?;
        textures.thumbnails.ground(name, textures.files)
    };
    let card = Card {
        name: &name,
        doc: "",
        note: note.text(),
        enabled: &mut enabled,
        colour: Some(&mut colour),
        picture: Some(ground.texture.as_ref().and_then(thumbnail).map(egui::TextureHandle::id)),
        solo: Some(texture_panel.solo == Some(i)),
        selected,
        more: &[],
        progress: None,
    };
    let mut wants_file = false;
    let drawn = card.ui(ui, |ui| {
        if selected {
            ui.label(RichText::new(note.sentence()).size(11.0).color(colours(ui).weak));
            // Without a texture there is nothing to repeat or to tint.
            let hidden = if ground.texture.is_some() { &ON_THE_CARD[..2] } else { &ON_THE_CARD[..] };
            let worn = ground.texture.clone();
            wants_file = group_ui_guided(ui, ground, hidden, guide).is_some();
            if ground.texture != worn {
                ground.tint = tint_of(ground.texture.as_ref()).unwrap_or(ground.tint);
            }
            ui.add_space(4.0);
        }
    });
    (ground.enabled, ground.colour) = (enabled, colour);
    (drawn, wants_file)
}

/// The share of the land that no type covers, and the button that shows where.
fn uncovered_ui(ui: &mut Ui, uncovered: f32, texture_panel: &mut TexturePanelState) {
    ui.horizontal(|ui| {
        // In line with what stands on the cards.
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_space(8.0);
        let text = RichText::new("Uncovered").size(11.0).color(colours(ui).weak);
        ui.label(text).on_hover_text("The share of the land that no terrain type covers");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(5.0);
            note_ui(ui, &percent(uncovered));
            let on = texture_panel.aspect == TextureDisplay::Uncovered && texture_panel.solo.is_none();
            let verb = if on { "Show the ground as it is" } else { "Show uncovered ground" };
            if solo_button(ui, on, verb).clicked() {
                (texture_panel.aspect, texture_panel.solo) =
                    (if on { TextureDisplay::Lit } else { TextureDisplay::Uncovered }, None);
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::texture::TypeBlend;

    #[test]
    fn shares_are_written_short_and_none_is_hidden() {
        let written = [0.0, 0.004, 0.01, 0.336, 1.0].map(percent);
        assert_eq!(written, ["0 %", "0.4 %", "1 %", "34 %", "100 %"]);
    }

    #[test]
    fn elevations_in_another_unit_mean_the_same_and_come_back() {
        let range_m = Band { min: -40.0, max: 360.0 };
        let mut texture = TextureRecipe::starter();
        texture.types[0].skew = -12.5;
        texture.types[1].elevation.min = -100_000.0;
        let percent = texture.clone();
        texture.settings.unit = Unit::Metres;
        convert(&mut texture, range_m);
        let meadow = &texture.types[0];
        assert_eq!(meadow.elevation, Band { min: -8.0, max: 140.0 });
        assert_eq!((meadow.elevation_release, meadow.skew), (40.0, -50.0));
        assert_eq!(texture.types[1].elevation.min, -100_000.0, "held within what a project may say");
        texture.settings.unit = Unit::Percent;
        convert(&mut texture, range_m);
        assert_eq!((&texture.types[0], &texture.types[2..]), (&percent.types[0], &percent.types[2..]));
    }

    #[test]
    fn a_new_type_lies_on_the_whole_land_under_a_name_of_its_own() {
        let mut texture = TextureRecipe::starter();
        texture.settings.unit = Unit::Metres;
        texture.types.iter_mut().zip(["Ground 1", "Ground 3"]).for_each(|(ground, name)| ground.name = name.into());
        let mut texture_panel = TexturePanelState::default();
        add_type(&mut texture, &mut texture_panel, Band { min: -40.4, max: 359.6 });
        let new = texture.types.last().expect("a type");
        assert_eq!((new.name.as_str(), new.elevation_release), ("Ground 2", 40.0));
        assert_eq!(new.elevation, Band { min: -41.0, max: 360.0 });
        assert_eq!(texture_panel.selected, Some(texture.types.len() - 1));
    }

    #[test]
    fn what_covers_nothing_takes_no_land() {
        let mut recipe = Recipe::default();
        recipe.texture.types = vec![TerrainType { blend: TypeBlend::Multiply, ..Default::default() }; 3];
        recipe.texture.types[0].enabled = false;
        (recipe.texture.types[1].set, recipe.texture.settings.active_set) = ("winter".into(), Some("summer".into()));
        assert_eq!([0, 1, 2].map(|i| note(&recipe, i, None)), [Note::Off, Note::OtherSet, Note::Unseen]);
        assert_eq!(Note::Takes(0.25).sentence(), "Takes 25 % of the land");
        assert_eq!(Note::Changes(0.25).sentence(), "Lies over 25 % of the land");
    }
}
