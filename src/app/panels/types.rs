//! The terrain types: their diagram, their cards, and the settings that they share.

use egui::{Align, CollapsingHeader, ComboBox, Layout, Response, RichText, Ui, Vec2};
use egui_material_icons::icons::ICON_ADD;

use crate::app::commands::{Command, FileSlot};
use crate::app::panels::analysis::UNCOVERED_DOC;
use crate::app::panels::diagram::diagram_ui;
use crate::app::panels::masks::share_ui;
use crate::app::panels::materials::{MATERIALS, Material, UNLIMITED, material_menu_ui};
use crate::app::panels::texture_panel::{TextureDisplay, TexturePanelState};
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::cards::{Card, CardAction, CardResponse, CardRow, DropPlace, cards_ui};
use crate::app::widgets::parameter::{
    ParameterContext, ParameterState, SliderOverride, TextureChoices, group_ui, name_ui,
};
use crate::app::widgets::theme::colours;
use crate::app::widgets::{ListUi, capitalised, heading, icon_button, list_item, note_ui, solo_button};
use crate::engine::mask::{Mask, MaskSource};
use crate::engine::parameters::{Band, Group, Range, TextureName, Values, group_values};
use crate::engine::recipe::Recipe;
use crate::engine::recipe_masks::MaskOwner;
use crate::engine::texture::{TerrainType, TextureRecipe, TypeBlend, Unit};
use crate::worker::{InputFiles, Preview};

/// Parameters of a terrain type that have a control of their own on its card, and those of its texture.
const ON_CARD: [&str; 3] = ["enabled", "colour", "set"];
const OF_TEXTURE: [&str; 2] = ["repeat_m", "tint"];

/// The key of a type's mask.
const OF_MASK: &str = "mask";

/// Settings that are chosen by name.
const BY_NAME: [&str; 2] = ["active_set", "fallback"];

/// The range of heights before there is any terrain, metres.
const DEFAULT_RANGE_M: Band = Band { min: 0.0, max: 1000.0 };

/// From this number of sets on, they are in a list that opens.
const MAX_SET_LABELS: usize = 24;

/// What the panel shows besides the recipe, and the state of its widgets.
pub(crate) struct TypesContext<'a> {
    /// The imported files of the project.
    pub(crate) files: &'a InputFiles,
    pub(crate) thumbnails: &'a Thumbnails,
    pub(crate) shown: Option<&'a Preview>,
    pub(crate) parameters: &'a mut ParameterState,
}

/// Draws the terrain types; returns the user's command.
pub(crate) fn types_ui(
    ui: &mut Ui,
    recipe: &mut Recipe,
    panel: &mut TexturePanelState,
    context: &mut TypesContext,
) -> Option<Command> {
    let range_m = range_m(recipe, context.shown);
    let texture = &mut recipe.texture;
    let adds = ui.horizontal(|ui| {
        heading(ui, "Terrain types");
        let right = Layout::right_to_left(Align::Center);
        let opener = ui.with_layout(right, |ui| icon_button(ui, ICON_ADD, "Add a terrain type")).inner;
        let textures = TextureChoices { thumbnails: context.thumbnails, files: context.files, imported: &[] };
        material_menu_ui(&opener, textures)
    });
    diagram_ui(ui, texture, range_m, &mut panel.selected, &mut panel.diagram);
    ui.add_space(4.0);
    sets_ui(ui, texture, panel);
    if let Some(material) = adds.inner {
        add_type(texture, panel, range_m, material.map(|index| &MATERIALS[index]));
    }
    let command = ui.scope(|ui| list_ui(ui, recipe, panel, range_m, context)).inner;
    CollapsingHeader::new("Settings of all types").id_salt("all types").show(ui, |ui| {
        settings_ui(ui, &mut recipe.texture, range_m, context.parameters);
    });
    command
}

/// The cards of the types, and the uncovered share below them.
fn list_ui(
    ui: &mut Ui,
    recipe: &mut Recipe,
    panel: &mut TexturePanelState,
    range_m: Band,
    context: &mut TypesContext,
) -> Option<Command> {
    ui.spacing_mut().item_spacing.y = 4.0;
    let imported: Vec<TextureName> = recipe.textures().into_iter().filter(|name| !name.is_shipped()).collect();
    let textures = TextureChoices { thumbnails: context.thumbnails, files: context.files, imported: &imported };
    let overrides = elevation_overrides(recipe.texture.settings.unit, range_m);
    let shares = Shares::new(context.shown);
    let (indices, sets) = (panel.listed(&recipe.texture), panel.sets(&recipe.texture));
    let (texture, named) = (&mut recipe.texture, &recipe.masks);
    let (mut command, mut renamed) = (None, None);
    let mut heights = std::mem::take(&mut panel.row_heights);
    let top = ui.cursor().top();
    let rows: Vec<CardRow> = indices.iter().copied().map(CardRow::single).collect();
    let action = cards_ui(ui, &rows, &mut heights, |ui, i| {
        let state = &mut *context.parameters;
        // Only the selected card shows its parameters.
        let defaults = match panel.selected == Some(i) {
            true => defaults(texture.settings.unit, range_m, &texture.types[i]),
            false => Values::default(),
        };
        let mut parameters = ParameterContext { textures: Some(textures), defaults, ..ParameterContext::new(state) };
        parameters.overrides.extend(overrides);
        let of_mask = |mask: &Mask| mask.missing(named, &|name| context.files.contains_key(name));
        let missing = texture.types[i].mask.iter().find_map(of_mask).map(|(_, what)| what);
        let extras = TypeExtras { note: type_note(texture, i, &shares), missing, sets: &sets };
        // The list is changed only if the type is: a changed list no longer shares its items with the document.
        let mut terrain_type = texture.types[i].clone();
        let (response, wants_file) = card_ui(ui, &mut terrain_type, i, panel, parameters, &extras);
        if terrain_type != texture.types[i] {
            let before = std::mem::replace(&mut texture.types[i], terrain_type);
            if before.name != texture.types[i].name {
                renamed = Some((before.name, texture.types[i].name.clone()));
            }
        }
        match wants_file {
            None => {}
            Some(OF_MASK) => {
                let source = context.parameters.take_file_item().unwrap_or_default();
                command = Some(Command::ChooseFile(FileSlot::Mask { owner: MaskOwner::Type(i), source }));
            }
            Some(_) => command = Some(Command::ChooseFile(FileSlot::Texture(i))),
        }
        response
    });
    if std::mem::take(&mut panel.scrolls_to_selected)
        && let Some(row) = indices.iter().position(|i| panel.selected == Some(*i))
    {
        heights.scroll_to(ui, top, row);
    }
    panel.row_heights = heights;
    if let Some(preview) = context.shown {
        uncovered_ui(ui, preview.uncovered, panel);
    }
    command = match action {
        Some((i, action)) => command.or(apply_action(texture, panel, i, action)),
        None => command,
    };
    if let Some((before, after)) = renamed {
        recipe.rename_type_in_layers(&before, &after);
    }
    let selected = panel.selected.map(MaskOwner::Type);
    command.or(selected.and_then(|owner| share_ui(ui, recipe, owner)))
}

/// The settings of all types.
fn settings_ui(ui: &mut Ui, texture: &mut TextureRecipe, range_m: Band, state: &mut ParameterState) {
    let unit = texture.settings.unit;
    let mut parameters = ParameterContext::new(state);
    ui.push_id("texture", |ui| group_ui(ui, &mut texture.settings, &BY_NAME, &mut parameters));
    if texture.settings.unit != unit {
        convert_elevations(texture, range_m);
    }
    let is_base = |found: &&TerrainType| found.covers() && found.blend != TypeBlend::Cover;
    let covering = texture.active().filter(is_base);
    let names: Vec<String> = covering.map(|terrain_type| terrain_type.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    name_ui(ui, &mut texture.settings, "fallback", &names, str::to_owned, false, state);
}

/// The heights from 0 to 100 percent: the fixed ones of the world, or those of the terrain that is shown.
pub(crate) fn range_m(recipe: &Recipe, shown: Option<&Preview>) -> Band {
    let of_shown = shown.map(|preview| preview.summary.range_m());
    recipe.world.height_range_m.or(of_shown).unwrap_or(DEFAULT_RANGE_M)
}

/// Adds a type of a material, or one that covers all elevations, to the end of the list, and selects it.
pub(crate) fn add_type(
    texture: &mut TextureRecipe,
    panel: &mut TexturePanelState,
    range_m: Band,
    material: Option<&Material>,
) {
    // In the active set, or else it would not be shown.
    let set = texture.settings.active_set.clone().unwrap_or_default();
    let is_free = |name: &String| texture.types.iter().all(|terrain_type| terrain_type.name != *name);
    let title = material.map_or("Type".into(), Material::title);
    let first = material.is_some().then(|| title.clone());
    // The other one of that name may be in a set that is not shown.
    let of_set = first.as_ref().filter(|_| !set.is_empty()).map(|title| format!("{title} ({set})"));
    let numbered = (if first.is_some() { 2 } else { 1 }..).map(|i| format!("{title} {i}"));
    let mut names = first.into_iter().chain(of_set).chain(numbered);
    let name = names.find(is_free).unwrap_or_default();
    let terrain_type = new_type(texture.settings.unit, range_m, material);
    texture.types.push(TerrainType { name, set, ..terrain_type });
    panel.selected = Some(texture.types.len() - 1);
    panel.scrolls_to_selected = true;
}

/// A type of a material, or one that covers all elevations, without a name.
fn new_type(unit: Unit, range_m: Band, material: Option<&Material>) -> TerrainType {
    let all = match unit {
        Unit::Percent => TerrainType::default().elevation,
        // Terrain is level when its uplift begins.
        Unit::Metres if range_m.max - range_m.min < 1.0 => DEFAULT_RANGE_M,
        Unit::Metres => Band { min: range_m.min.floor(), max: range_m.max.ceil() },
    };
    material.map_or_else(
        || TerrainType {
            elevation: UNLIMITED,
            elevation_release: (0.1 * (all.max - all.min)).round(),
            ..TerrainType::default()
        },
        |material| material.terrain_type(all),
    )
}

/// What the reset of a parameter restores: the values of a new type of the same material.
fn defaults(unit: Unit, range_m: Band, terrain_type: &TerrainType) -> Values {
    let texture = terrain_type.texture.as_ref();
    let material = MATERIALS.iter().find(|material| texture.is_some_and(|name| material.has_texture(name)));
    let of_owner = |key: &str| ["name", "set", "mask", "enabled"].contains(&key);
    let values = group_values(&new_type(unit, range_m, material));
    values.into_iter().filter(|(key, _)| !of_owner(key)).collect()
}

/// Converts the elevations of all types from the other unit to the recipe's, so that over this range of heights the
/// texture does not change.
fn convert_elevations(texture: &mut TextureRecipe, range_m: Band) {
    // A percent of level terrain has no length, so any length will do.
    let percent_m = Some((range_m.max - range_m.min) / 100.0).filter(|percent| *percent > 0.0).unwrap_or(1.0);
    // Rounded so finely that the texture does not change, but that converting back gives the same number.
    let clamped = |key: &str, number: f64| {
        let hard = TerrainType::default().table().iter().find(|row| row.key == key).map(|row| row.hard);
        let rounded = (number * 1e6).round() / 1e6;
        hard.map_or(rounded, |hard| rounded.clamp(hard.low, hard.high))
    };
    let (elevation, length): (&dyn Fn(f64) -> f64, &dyn Fn(f64) -> f64) = match texture.settings.unit {
        Unit::Metres => (&|percent| range_m.min + percent * percent_m, &|percent| percent * percent_m),
        Unit::Percent => (&|metres| (metres - range_m.min) / percent_m, &|metres| metres / percent_m),
    };
    for terrain_type in &mut texture.types {
        let Band { min, max } = terrain_type.elevation;
        let [min, max] = [min, max].map(|limit| clamped("elevation", elevation(limit)));
        terrain_type.elevation = Band { min, max };
        terrain_type.elevation_release = clamped("elevation_release", length(terrain_type.elevation_release));
        terrain_type.skew = clamped("skew", length(terrain_type.skew));
    }
}

/// The choice of the active set, if there are any sets.
fn sets_ui(ui: &mut Ui, texture: &mut TextureRecipe, panel: &mut TexturePanelState) {
    let active = texture.settings.active_set.clone();
    let choices = panel.sets(texture);
    if choices.len() == 1 {
        return;
    }
    let mut heights = std::mem::take(&mut panel.set_heights);
    let title = |set: &Option<String>| set.as_deref().map_or_else(|| "All".into(), capitalised);
    let mut choice_ui = |ui: &mut Ui, set: &Option<String>, item_ui: fn(&mut Ui, bool, String) -> Response| {
        let label = item_ui(ui, active == *set, title(set)).on_hover_ui(|ui| drop(ui.label(set_doc(texture, set))));
        if label.clicked() {
            panel.activate_set(texture, set.clone());
        }
        label.rect
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(4.0);
        // Three sets and All fit into one line of the narrowest panel.
        ui.spacing_mut().button_padding.x = 4.0;
        let small = RichText::new("Climate set").size(11.0).color(colours(ui).weak);
        ui.label(small).on_hover_text("Climates or seasons: each set has its own terrain types");
        if choices.len() <= MAX_SET_LABELS {
            for set in choices.iter() {
                choice_ui(ui, set, Ui::selectable_label);
            }
        } else {
            ComboBox::from_id_salt("set").selected_text(title(&active)).truncate().height(300.0).list_ui(ui, |ui| {
                heights.rows_ui(ui, choices.len(), |ui, i| choice_ui(ui, &choices[i], list_item));
            });
        }
    });
    panel.set_heights = heights;
    ui.add_space(4.0);
}

/// Which types a set shows.
fn set_doc(texture: &TextureRecipe, set: &Option<String>) -> String {
    let Some(set) = set else { return "The types of all sets together".into() };
    let count = texture.types.iter().filter(|terrain_type| terrain_type.set == *set).count();
    format!("Types of this set ({count}) and types without a set")
}

/// Applies the action on a type's card; moves are left to a command.
fn apply_action(
    texture: &mut TextureRecipe,
    panel: &mut TexturePanelState,
    i: usize,
    action: CardAction,
) -> Option<Command> {
    match action {
        CardAction::Select | CardAction::SelectTo => {
            panel.selected = if panel.selected == Some(i) { None } else { Some(i) }
        }
        CardAction::Solo => panel.solo = if panel.solo == Some(i) { None } else { Some(i) },
        // The name is edited on the card of the selected type.
        CardAction::Rename | CardAction::ShowUpToHere => panel.selected = Some(i),
        CardAction::Drop(DropPlace { to, .. }) => return Some(Command::MoveType { from: i, to }),
        CardAction::MoveUp | CardAction::MoveDown => {
            let listed = panel.listed(texture);
            let at = listed.iter().position(|place| *place == i)?;
            let beside = if action == CardAction::MoveUp { at.checked_sub(1)? } else { at + 1 };
            return listed.get(beside).map(|to| Command::MoveType { from: i, to: *to });
        }
        // Types hold no others.
        CardAction::Fold | CardAction::Group | CardAction::Ungroup => {}
        CardAction::Delete => {
            texture.types.remove(i);
            panel.follow(|at| if at == i { None } else { Some(if at > i { at - 1 } else { at }) });
        }
        CardAction::Duplicate => {
            let mut copy = texture.types[i].clone();
            copy.name.push_str(" copy");
            texture.types.insert(i + 1, copy);
            panel.follow(|at| Some(if at > i { at + 1 } else { at }));
            panel.selected = Some(i + 1);
        }
    }
    None
}

/// The slider ranges of elevations: percent, or metres over the terrain's range of heights.
fn elevation_overrides(unit: Unit, range_m: Band) -> [SliderOverride; 3] {
    let (low, high, unit) = match unit {
        Unit::Metres => (range_m.min, range_m.max, "m"),
        Unit::Percent => (0.0, 100.0, "%"),
    };
    let span = (high - low).max(1.0);
    let slider = |key, low, high| SliderOverride { key, range: Range { low, high }, unit };
    [
        slider("elevation", low, low + span),
        slider("elevation_release", 0.0, 0.5 * span),
        slider("skew", -0.5 * span, 0.5 * span),
    ]
}

/// A share of the terrain in percent.
fn percent(share: f32) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// What a card says about its type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TypeNote {
    Disabled,
    /// The type is in another set; its card is shown only while it is selected.
    OtherSet,
    /// No preview has it yet.
    Unknown,
    /// The share of the terrain that it covers.
    Covers(f32),
    /// The share of the terrain where it multiplies or overlays other types.
    Blends(f32),
}

impl TypeNote {
    /// The note on the card.
    fn text(self) -> String {
        match self {
            Self::Disabled => "off".into(),
            Self::OtherSet => "other set".into(),
            Self::Unknown => String::new(),
            Self::Covers(share) => percent(share),
            Self::Blends(share) => format!("blends {}", percent(share)),
        }
    }

    /// The tooltip of the note.
    fn doc(self) -> &'static str {
        match self {
            Self::Disabled => "The type is disabled",
            Self::OtherSet => "The type belongs to another climate set",
            Self::Unknown | Self::Covers(_) => {
                "Share of the terrain that shows it, including uncovered terrain that it fills"
            }
            Self::Blends(_) => "Share of the terrain where it blends with the other types",
        }
    }

    /// The note as a sentence.
    fn sentence(self) -> String {
        match self {
            Self::Disabled | Self::OtherSet | Self::Unknown => self.text(),
            Self::Covers(share) => format!("Shown on {} of the terrain", percent(share)),
            Self::Blends(share) => format!("Blends over {} of the terrain", percent(share)),
        }
    }
}

/// The shares of the terrain that the types of a preview cover.
struct Shares<'a> {
    types: &'a [TerrainType],
    /// By index in the list of types; `None` for a type that is not active.
    shares: Vec<Option<f32>>,
}

impl<'a> Shares<'a> {
    fn new(shown: Option<&'a Preview>) -> Self {
        let Some(preview) = shown else { return Self { types: &[], shares: Vec::new() } };
        let painted = &preview.request.recipe.texture;
        let mut of_active = preview.shares.iter().copied();
        let is_active = |terrain_type: &TerrainType| terrain_type.is_active(painted.settings.active_set.as_ref());
        let shares = painted
            .types
            .iter()
            .map(|terrain_type| if is_active(terrain_type) { of_active.next() } else { None })
            .collect();
        Self { types: &painted.types, shares }
    }

    /// The share of a type; `None` if the preview is of other types or the type is not active in it.
    fn of(&self, i: usize, terrain_type: &TerrainType) -> Option<f32> {
        self.types.get(i).filter(|known| known.name == terrain_type.name)?;
        *self.shares.get(i)?
    }
}

/// The note for a type, given the shares in the preview that is shown.
fn type_note(texture: &TextureRecipe, i: usize, shares: &Shares) -> TypeNote {
    let terrain_type = &texture.types[i];
    if !terrain_type.enabled {
        return TypeNote::Disabled;
    }
    if !terrain_type.belongs_to(texture.settings.active_set.as_ref()) {
        return TypeNote::OtherSet;
    }
    let note = if terrain_type.covers() { TypeNote::Covers } else { TypeNote::Blends };
    shares.of(i, terrain_type).map_or(TypeNote::Unknown, note)
}

/// The tint for a texture that was just chosen: an imported one is not tinted, so that it looks as it is.
pub(crate) fn tint_of(texture: Option<&TextureName>) -> Option<f64> {
    texture.filter(|texture| !texture.is_shipped()).map(|_| 0.0)
}

/// What the card of a type shows besides the type.
struct TypeExtras<'a> {
    note: TypeNote,
    /// What its mask lacks.
    missing: Option<&'static str>,
    /// The sets that there are.
    sets: &'a [Option<String>],
}

/// A type's card, with its parameters if it is selected; also returns the key of the parameter for which the user wants
/// to choose a file.
fn card_ui(
    ui: &mut Ui,
    terrain_type: &mut TerrainType,
    i: usize,
    panel: &TexturePanelState,
    mut parameters: ParameterContext,
    extras: &TypeExtras,
) -> (CardResponse, Option<&'static str>) {
    let selected = panel.selected == Some(i);
    let (name, mut enabled, mut colour) = (terrain_type.name.clone(), terrain_type.enabled, terrain_type.colour);
    let thumbnail = |name: &TextureName| {
        let textures = parameters.textures?;
        textures.thumbnails.texture(name, textures.files)
    };
    let card = Card {
        name: &name,
        doc: "",
        note: extras.note.text(),
        note_doc: extras.note.doc(),
        enabled: &mut enabled,
        colour: Some(&mut colour),
        thumbnail: Some(terrain_type.texture.as_ref().and_then(thumbnail).map(egui::TextureHandle::id)),
        solo: Some(panel.solo == Some(i)),
        selected,
        actions: &[],
        progress: None,
        open: None,
    };
    let mut wants_file = None;
    let response = card.ui(ui, |ui| {
        if selected {
            ui.label(RichText::new(extras.note.sentence()).size(11.0).color(colours(ui).weak));
            let before = terrain_type.texture.clone();
            // Without a texture there is nothing to repeat or to tint.
            let hidden = [&ON_CARD[..], if before.is_some() { &[] } else { &OF_TEXTURE }].concat();
            wants_file = group_ui(ui, terrain_type, &hidden, &mut parameters);
            let sets: Vec<&str> = extras.sets.iter().filter_map(Option::as_deref).collect();
            name_ui(ui, terrain_type, "set", &sets, capitalised, true, parameters.state);
            if let Some(what) = extras.missing {
                let text = format!("{}. As it is, the type does not appear.", capitalised(what));
                ui.colored_label(ui.visuals().error_fg_color, text);
            }
            let is_painted = terrain_type.mask.iter().any(|mask| mask.source == MaskSource::Painted);
            if is_painted && terrain_type.covers() && terrain_type.blend != TypeBlend::Cover {
                ui.weak(PAINTED_DOC);
            }
            if terrain_type.texture != before {
                terrain_type.tint = tint_of(terrain_type.texture.as_ref()).unwrap_or(terrain_type.tint);
            }
            ui.add_space(4.0);
        }
    });
    (terrain_type.enabled, terrain_type.colour) = (enabled, colour);
    (response, wants_file)
}

/// What painting a type that competes with others does.
const PAINTED_DOC: &str = "Where it is painted, the type still competes with the other types there. With the blend \
                           \u{201c}Over the others\u{201d} it covers them.";

/// The share of the terrain that no type covers, and the button that shows where.
fn uncovered_ui(ui: &mut Ui, uncovered: f32, panel: &mut TexturePanelState) {
    ui.horizontal(|ui| {
        // Aligned with the contents of the cards.
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_space(8.0);
        let text = RichText::new("Uncovered").size(11.0).color(colours(ui).weak);
        ui.label(text).on_hover_text(UNCOVERED_DOC);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(5.0);
            note_ui(ui, &percent(uncovered));
            let on = panel.display == TextureDisplay::Uncovered && panel.solo.is_none();
            let verb = if on { "Show the lit texture" } else { "Show uncovered terrain" };
            if solo_button(ui, on, verb).clicked() {
                panel.display = if on { TextureDisplay::Lit } else { TextureDisplay::Uncovered };
                panel.solo = None;
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::texture::TextureSettings;

    #[test]
    fn small_shares_are_not_rounded_to_zero() {
        let written = [0.0, 0.004, 0.01, 0.336, 1.0].map(percent);
        assert_eq!(written, ["0 %", "0.4 %", "1 %", "34 %", "100 %"]);
    }

    #[test]
    fn elevations_round_trip_between_units() {
        let range_m = Band { min: -40.0, max: 360.0 };
        let type_at = |min, max| TerrainType { elevation: Band { min, max }, ..Default::default() };
        let types = vec![type_at(8.0, 45.0), type_at(-100_000.0, 55.0), type_at(0.0, 100.0)].into();
        let mut texture =
            TextureRecipe { settings: TextureSettings { unit: Unit::Percent, ..Default::default() }, types };
        texture.types[0].skew = -12.5;
        let percent = texture.clone();
        texture.settings.unit = Unit::Metres;
        convert_elevations(&mut texture, range_m);
        let meadow = &texture.types[0];
        assert_eq!(meadow.elevation, Band { min: -8.0, max: 140.0 });
        assert_eq!((meadow.elevation_release, meadow.skew), (40.0, -50.0));
        assert_eq!(texture.types[1].elevation.min, -100_000.0, "clamped to the hard range");
        texture.settings.unit = Unit::Percent;
        convert_elevations(&mut texture, range_m);
        assert_eq!((&texture.types[0], &texture.types[2..]), (&percent.types[0], &percent.types[2..]));
    }

    #[test]
    fn a_new_type_has_a_free_name_and_covers_all_elevations() {
        let mut texture = TextureRecipe::starter();
        texture.types.iter_mut().zip(["Type 1", "Type 3"]).for_each(|(known, name)| known.name = name.into());
        let mut panel = TexturePanelState::default();
        add_type(&mut texture, &mut panel, Band { min: -40.4, max: 359.6 }, None);
        let new = texture.types.last().expect("a type");
        assert_eq!((new.name.as_str(), new.elevation_release), ("Type 2", 40.0));
        assert_eq!(new.elevation, UNLIMITED);
        assert_eq!(panel.selected, Some(texture.types.len() - 1));
        add_type(&mut texture, &mut panel, Band { min: 0.0, max: 0.0 }, None);
        assert_eq!(texture.types.last().expect("a type").elevation_release, 100.0, "before the uplift");
        for name in ["Mud", "Mud 2"] {
            let mud = MATERIALS.iter().find(|material| material.title() == "Mud");
            add_type(&mut texture, &mut panel, Band { min: 0.0, max: 100.0 }, mud);
            assert_eq!(texture.types.last().expect("a type").name, name);
        }
    }

    #[test]
    fn types_that_cover_nothing_say_why() {
        let mut recipe = Recipe::default();
        recipe.texture.types = vec![TerrainType { blend: TypeBlend::Multiply, ..Default::default() }; 3].into();
        recipe.texture.types[0].enabled = false;
        (recipe.texture.types[1].set, recipe.texture.settings.active_set) = ("winter".into(), Some("summer".into()));
        assert_eq!(
            [0, 1, 2].map(|i| type_note(&recipe.texture, i, &Shares::new(None))),
            [TypeNote::Disabled, TypeNote::OtherSet, TypeNote::Unknown]
        );
        assert_eq!(TypeNote::Covers(0.25).sentence(), "Shown on 25 % of the terrain");
        assert_eq!(TypeNote::Blends(0.25).sentence(), "Blends over 25 % of the terrain");
    }
}
