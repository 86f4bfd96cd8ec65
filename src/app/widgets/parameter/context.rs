//! What the controls read besides the tables, and the state that they keep between frames.

use std::collections::{BTreeSet, HashMap};

use egui::{Id, Response};

use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::band_slider::BandSliderState;
use crate::app::widgets::long_list::RowHeights;
use crate::engine::mutation::lock_name;
use crate::engine::parameters::{List, Range, TextureName, Values};
use crate::worker::InputFiles;

/// A slider range and a unit that replace the table's, for ranges that depend on the terrain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SliderOverride {
    pub(crate) key: &'static str,
    pub(crate) range: Range,
    pub(crate) unit: &'static str,
}

/// The parameters of a step that are locked: variations leave them alone.
pub(crate) struct Locks<'a> {
    /// The names of all locks of the project.
    pub(crate) names: &'a mut List<String>,
    pub(crate) step_seed: u32,
}

impl Locks<'_> {
    pub(super) fn is_locked(&self, key: &str) -> bool {
        self.names.contains(&lock_name(self.step_seed, key))
    }

    pub(super) fn toggle(&mut self, key: &str) {
        let name = lock_name(self.step_seed, key);
        match self.names.iter().position(|known| *known == name) {
            Some(at) => drop(self.names.remove(at)),
            None => self.names.push(name),
        }
    }
}

/// The textures to choose from.
#[derive(Clone, Copy)]
pub(crate) struct TextureChoices<'a> {
    pub(crate) thumbnails: &'a Thumbnails,
    /// The files in the project.
    pub(crate) files: &'a InputFiles,
    /// The names of the imported textures among them.
    pub(crate) imported: &'a [TextureName],
}

/// What the controls keep between frames.
#[derive(Default)]
pub(crate) struct ParameterState {
    /// The texts that are being typed, by their fields; each is applied when its field loses the focus, which may be
    /// after the next field has got it.
    pub(super) typed: HashMap<Id, String>,
    /// The list to which an item was just added, and the index of the item, to scroll to it.
    pub(super) added: Option<(Id, usize)>,
    /// Items to unfold and to scroll to: the keys of lists, each within an item of the one before, with indices.
    pub(super) revealed: Vec<(&'static str, usize)>,
    /// The unfolded groups of lists.
    pub(super) unfolded: HashMap<Id, BTreeSet<usize>>,
    /// The heights of the rows of lists.
    pub(super) row_heights: HashMap<Id, RowHeights>,
    /// The index of the item in a list for which the user wants to choose a file.
    pub(super) file_item: Option<usize>,
    pub(super) band_slider: BandSliderState,
    /// Whether the next field requests the focus.
    pub(super) focus_next: bool,
    pub(super) message: Option<String>,
    /// The names of the masks to choose from.
    pub(super) mask_names: Vec<String>,
    /// The slider of masks by elevation, which spans the terrain's heights.
    elevation_m: Option<SliderOverride>,
    /// The step whose parameters were drawn last.
    last_step: Option<LastStep>,
}

/// A step whose parameters were drawn.
#[derive(Clone, Copy)]
struct LastStep {
    /// Its index and the number of steps.
    place: [usize; 2],
    /// The key of its operation.
    operation: &'static str,
    seed: u32,
    /// The seed that it had when it was selected.
    id: u32,
}

impl ParameterState {
    /// What identifies the controls of a step, given its index and the number of steps, the key of its operation and its
    /// seed, so that they keep their state when it moves. That is its seed when it was selected: the control of the seed
    /// itself would lose a drag that changes its own id.
    pub(crate) fn step_id(&mut self, place: [usize; 2], operation: &'static str, seed: u32) -> u32 {
        let is_same = |last: &LastStep| last.seed == seed || (last.place == place && last.operation == operation);
        let same = self.last_step.filter(is_same);
        let id = same.map_or(seed, |last| last.id);
        self.last_step = Some(LastStep { place, operation, seed, id });
        id
    }

    /// Sets the heights of the terrain, metres, which the sliders of masks by elevation span.
    pub(crate) fn set_heights_m(&mut self, range: Option<Range>) {
        self.elevation_m = range.map(|range| SliderOverride { key: "elevation_m", range, unit: "m" });
    }

    /// Sets the names of the masks to choose from.
    pub(crate) fn set_mask_names(&mut self, names: impl Iterator<Item = String>) {
        self.mask_names = names.collect();
    }

    /// The message about the last typed number, if that number was not accepted as it was typed.
    pub(crate) fn take_message(&mut self) -> Option<String> {
        self.message.take()
    }

    /// Says something about what was typed.
    pub(crate) fn say(&mut self, message: String) {
        self.message = Some(message);
    }

    /// Unfolds an item alone and scrolls to it: the keys of lists, each within an item of the one before, with indices.
    pub(crate) fn reveal_item(&mut self, item: Vec<(&'static str, usize)>) {
        self.revealed = item;
    }

    /// The index of the item to unfold in the list with a key, once.
    pub(crate) fn take_revealed(&mut self, key: &str) -> Option<usize> {
        let is_next = self.revealed.first().is_some_and(|(next, _)| *next == key);
        is_next.then(|| self.revealed.remove(0).1)
    }

    /// The index of the item in a list for which the user wants to choose a file, once.
    pub(crate) fn take_file_item(&mut self) -> Option<usize> {
        self.file_item.take()
    }

    /// Requests the focus for `field` if the next field should have it.
    pub(super) fn take_focus(&mut self, field: &Response) {
        if self.take_focus_request() {
            field.request_focus();
        }
    }

    /// Whether the field that is drawn should have the focus, once.
    pub(super) fn take_focus_request(&mut self) -> bool {
        std::mem::take(&mut self.focus_next)
    }
}

/// What the controls of a group read besides its table.
pub(crate) struct ParameterContext<'a> {
    pub(crate) state: &'a mut ParameterState,
    pub(crate) overrides: Vec<SliderOverride>,
    pub(crate) textures: Option<TextureChoices<'a>>,
    /// `None` where variations change nothing.
    pub(crate) locks: Option<Locks<'a>>,
    /// The key of the parameter to scroll to and to focus.
    pub(crate) reveal: Option<&'static str>,
    /// Defaults of parameters that differ from those of the table, for example because they suit the world.
    pub(crate) defaults: Values,
    /// The key of a parameter of which only some choices are offered, and the keys of those.
    pub(crate) offered: Option<(&'static str, Vec<&'static str>)>,
}

impl<'a> ParameterContext<'a> {
    /// A context with nothing but the state.
    pub(crate) fn new(state: &'a mut ParameterState) -> Self {
        Self {
            overrides: state.elevation_m.into_iter().collect(),
            state,
            textures: None,
            locks: None,
            reveal: None,
            defaults: Values::default(),
            offered: None,
        }
    }
}
