//! Compares the terrain before the last edit with the current one: while a key is held, or on the two sides of split
//! maps.

use std::sync::Arc;

use crate::app::document::Document;
use crate::engine::Recipe;
use crate::worker::{Preview, PreviewRequest, Previewer};

/// Which state the views show, and the preview of the other one.
#[derive(Default)]
pub(crate) struct Compare {
    /// The recipe that was current when the views began to show the state before it. An edit changes the recipe and
    /// ends the comparison.
    before_of: Option<Arc<Recipe>>,
    /// Whether the comparison lasts only while the key is held.
    is_held: bool,
    /// The preview of the state that the views do not show.
    other: Option<Preview>,
    /// The request for it, since the last request for what the views show.
    requested: Option<PreviewRequest>,
    /// Whether the user cancelled that request.
    is_cancelled: bool,
}

impl Compare {
    /// Whether the views show the state before the last edit.
    pub(crate) fn shows_before(&self, document: &Document) -> bool {
        let recipe = &document.project().recipe;
        self.before_of.as_ref().is_some_and(|before_of| **before_of == *recipe) && document.before().is_some()
    }

    /// Shows the state before the last edit, or the current one again. `is_held`: only until [`Self::release`].
    pub(crate) fn toggle(&mut self, document: &Document, is_held: bool) {
        let recipe = Arc::new(document.project().recipe.clone());
        self.before_of = Some(recipe).filter(|_| !self.shows_before(document));
        self.is_held = is_held && self.shows_before(document);
    }

    /// Records that the key was released.
    pub(crate) fn release(&mut self) {
        if std::mem::take(&mut self.is_held) {
            self.before_of = None;
        }
    }

    /// The note over views that show the state before the last edit.
    pub(crate) fn note(&self, document: &Document) -> Option<String> {
        let (name, _) = document.before().filter(|_| self.shows_before(document))?;
        // Someone who chose it in a menu may not know the key.
        let way_back = if self.is_held { "" } else { " (press C to return)" };
        Some(format!("Before: {name}{way_back}"))
    }

    /// Given the request for the current state, returns the request for the state that the views show, and the one for
    /// the other state while they are compared.
    pub(crate) fn sides(
        &self,
        document: &Document,
        is_split: bool,
        present: PreviewRequest,
    ) -> (PreviewRequest, Option<PreviewRequest>) {
        let shows_before = self.shows_before(document);
        let Some((_, project)) = document.before().filter(|_| shows_before || is_split) else { return (present, None) };
        let recipe = match &self.other {
            Some(other) if *other.request.recipe == project.recipe => other.request.recipe.clone(),
            _ => Arc::new(project.recipe.clone()),
        };
        let before = PreviewRequest { recipe, files: project.files.clone(), is_animated: false, ..present.clone() };
        if shows_before { (before, Some(present)) } else { (present, Some(before)) }
    }

    /// Returns the stored preview if it matches the request, and stores `shown` in its place.
    pub(crate) fn swap(&mut self, request: &PreviewRequest, shown: &mut Option<Preview>) -> Option<Preview> {
        let kept = self.other.take_if(|other| other.request.same_output(request))?;
        self.other = shown.take().filter(|shown| !shown.coarse);
        Some(kept)
    }

    /// Clears the request for the other state, which a new request for the shown one replaces.
    pub(crate) fn reset_request(&mut self) {
        (self.requested, self.is_cancelled) = (None, false);
    }

    /// Requests the other state, unless it is stored, pending or cancelled.
    pub(crate) fn request_other(&mut self, other: PreviewRequest, previewer: &Previewer) {
        let is_here = self.other.as_ref().is_some_and(|kept| kept.request.same_output(&other));
        let is_requested = self.requested.as_ref().is_some_and(|requested| requested.same_output(&other));
        if !is_here && !is_requested && !self.is_cancelled {
            previewer.request(other.clone());
            self.requested = Some(other);
        }
    }

    /// Stores a preview of the other state; returns it if it is of the shown state.
    pub(crate) fn receive_other(&mut self, preview: Preview, is_wanted: bool) -> Option<Preview> {
        let is_other = self.requested.as_ref().is_some_and(|requested| requested.same_output(&preview.request));
        if is_wanted || !is_other {
            return Some(preview);
        }
        if !preview.coarse {
            self.other = Some(preview);
        }
        None
    }

    /// Stores a preview that is no longer shown, if it is of the other state.
    pub(crate) fn keep(&mut self, shown: Option<Preview>, document: &Document) {
        let project = if self.shows_before(document) {
            Some(document.project())
        } else {
            document.before().map(|(_, before)| before)
        };
        let is_other = |old: &Preview| project.is_some_and(|project| *old.request.recipe == project.recipe);
        if let Some(old) = shown.filter(|old| !old.coarse && is_other(old)) {
            self.other = Some(old);
        }
    }

    /// Records that the user cancelled the computation: the views return to the current state, and the other side of
    /// split maps is not requested again until something changes.
    pub(crate) fn cancel(&mut self) {
        (self.before_of, self.is_held) = (None, false);
        self.is_cancelled = self.requested.take().is_some();
    }

    /// The preview for the western side of split maps: of the state before the last edit, at the size, iteration and
    /// view of the current one beside it.
    pub(crate) fn western_side(&self, document: &Document, shown: Option<&Preview>) -> Option<&Preview> {
        let (_, before) = document.before()?;
        let other = self.other.as_ref().filter(|other| *other.request.recipe == before.recipe)?;
        let views =
            |request: &PreviewRequest| (request.map_view, request.texture_view, request.samples, request.position);
        shown.filter(|shown| views(&shown.request) == views(&other.request)).map(|_| other)
    }

    /// Why split maps have nothing to show on their western side.
    pub(crate) fn missing_side(&self, document: &Document) -> &'static str {
        match document.before() {
            None => "Before: no edit yet",
            Some(_) if self.is_cancelled => "Before: cancelled",
            Some(_) => "Before: updating…",
        }
    }
}
