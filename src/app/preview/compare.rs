//! The land before the last edit beside the present one: as long as a key is held, or on one side of split maps.

use std::sync::Arc;

use egui::{Align2, Context, FontId, Key, Rect, Role, Sense, Ui, Vec2, WidgetInfo};

use crate::app::App;
use crate::app::commands::menus::Looks;
use crate::app::views::plate;
use crate::app::widgets::theme::colours;
use crate::engine::Recipe;
use crate::worker::{Preview, PreviewRequest};

/// What of the state before is looked at. None of it is part of the document.
#[derive(Default)]
pub(crate) struct Compare {
    /// The recipe beside which the views began to show the state before; of a later one it is another state, and nobody
    /// has asked for that.
    begun_at: Option<Arc<Recipe>>,
    /// Whether they do so only as long as the key is held.
    is_held: bool,
    /// A picture of the other side: of the state before, or of the present one while that before is shown.
    other: Option<Preview>,
    /// What the worker was asked for on behalf of that side, since it was last asked for what is shown.
    asked: Option<PreviewRequest>,
}

impl Compare {
    /// The picture of the other side, if it is the one that was asked for.
    fn take_other(&mut self, request: &PreviewRequest) -> Option<Preview> {
        self.other.take_if(|other| other.request.same_output(request))
    }
}

impl App {
    /// Whether the views show the state before.
    fn shows_before(&self) -> bool {
        let recipe = &self.document.project().recipe;
        self.ui.preview.compare.begun_at.as_ref().is_some_and(|begun| **begun == *recipe)
            && self.document.before().is_some()
    }

    /// Shows the state before, or the present one again.
    pub(crate) fn show_before(&mut self, ctx: &Context) {
        let recipe = Arc::new(self.document.project().recipe.clone());
        self.ui.preview.compare.begun_at = Some(recipe).filter(|_| !self.shows_before());
        self.ui.preview.compare.is_held = self.shows_before() && ctx.input(|input| input.key_down(Key::C));
    }

    /// Lets go of the state before when the key is.
    pub(crate) fn hold_before(&mut self, ctx: &Context) {
        if self.ui.preview.compare.is_held && !ctx.input(|input| input.key_down(Key::C)) {
            (self.ui.preview.compare.begun_at, self.ui.preview.compare.is_held) = (None, false);
        }
    }

    /// Which ways of looking at the land are on.
    pub(crate) fn looks(&self) -> Looks {
        Looks {
            is_export_size: self.ui.preview.export_samples.is_some(),
            is_before: self.shows_before(),
            is_split: self.ui.maps.split.is_some(),
        }
    }

    /// What is said over the views while they show the state before.
    pub(crate) fn before_note(&self) -> Option<String> {
        let (name, _) = self.document.before().filter(|_| self.shows_before())?;
        // Whoever chose it in a menu may not know the way back.
        let way_back = if self.ui.preview.compare.is_held { "" } else { " (C: back to now)" };
        Some(format!("Before: {name}{way_back}"))
    }

    /// From the request for the present land: the one for what is shown, and the one for the other side where it is
    /// compared.
    pub(crate) fn sides(&self, present: PreviewRequest) -> (PreviewRequest, Option<PreviewRequest>) {
        let is_compared = self.shows_before() || self.ui.maps.split.is_some();
        let Some((_, project)) = self.document.before().filter(|_| is_compared) else { return (present, None) };
        let recipe = match &self.ui.preview.compare.other {
            Some(other) if *other.request.recipe == project.recipe => other.request.recipe.clone(),
            _ => std::sync::Arc::new(project.recipe.clone()),
        };
        let before = PreviewRequest { recipe, files: project.files.clone(), is_animated: false, ..present.clone() };
        if self.shows_before() { (before, Some(present)) } else { (present, Some(before)) }
    }

    /// Shows the picture that was asked for, if it is kept as that of the other side; the two change places.
    pub(crate) fn change_sides(&mut self, ctx: &Context, request: &PreviewRequest) -> bool {
        let Some(kept) = self.ui.preview.compare.take_other(request) else { return false };
        self.ui.preview.compare.other = self.ui.preview.shown.take().filter(|shown| !shown.coarse);
        self.show(ctx, kept);
        true
    }

    /// What is shown was asked for anew: nothing is asked for the other side.
    pub(crate) fn forget_asking_for_other(&mut self) {
        self.ui.preview.compare.asked = None;
    }

    /// Asks for the picture of the other side, if the maps show it and it is not there; while it plays, every iteration
    /// would have two.
    pub(crate) fn request_other(&mut self, other: PreviewRequest) {
        let is_there = self.ui.preview.compare.other.as_ref().is_some_and(|kept| kept.request.same_output(&other));
        let is_asked = self.ui.preview.compare.asked.as_ref().is_some_and(|asked| asked.same_output(&other));
        if self.ui.maps.split.is_some() && !is_there && !is_asked && !self.ui.playback.is_playing() {
            self.services.previewer.request(other.clone());
            self.ui.preview.compare.asked = Some(other);
        }
    }

    /// A picture has come: of the other side, or in the place of one that may be kept as that.
    pub(crate) fn take_preview(&mut self, ctx: &Context, preview: Preview) {
        let is_wanted = self.ui.preview.wanted.as_ref().is_none_or(|wanted| wanted.same_output(&preview.request));
        let is_other = self.ui.preview.compare.asked.as_ref().is_some_and(|asked| asked.same_output(&preview.request));
        if is_other && !is_wanted {
            if !preview.coarse {
                self.ui.preview.compare.other = Some(preview);
            }
            return;
        }
        if let Some(old) = self.ui.preview.shown.take().filter(|old| !old.coarse) {
            let project = if self.shows_before() {
                Some(self.document.project())
            } else {
                self.document.before().map(|(_, before)| before)
            };
            if project.is_some_and(|project| *old.request.recipe == project.recipe) {
                self.ui.preview.compare.other = Some(old);
            }
        }
        self.show(ctx, preview);
    }

    /// Has the views show a picture.
    fn show(&mut self, ctx: &Context, preview: Preview) {
        self.ui.maps.show(ctx, &preview);
        self.ui.scene.show(&preview, ctx.input(|input| input.time));
        self.ui.preview.shown = Some(preview);
    }

    /// Hands the other side to the maps, where they are split.
    pub(crate) fn show_other(&mut self, ctx: &Context) {
        let before = self.document.before().filter(|_| self.ui.maps.split.is_some() && !self.shows_before());
        let before = before.map(|(_, project)| project.clone());
        // The same look at the same iteration, or what is seen side by side would not be the edit.
        let is_beside = |other: &&Preview| {
            let (of, beside) = (&other.request, self.ui.preview.shown.as_ref().map(|shown| &shown.request));
            before.as_ref().is_some_and(|project| *of.recipe == project.recipe)
                && beside.is_some_and(|beside| {
                    (of.map_view, of.texture_view, of.samples, of.position)
                        == (beside.map_view, beside.texture_view, beside.samples, beside.position)
                })
        };
        let other = self.ui.preview.compare.other.as_ref().filter(is_beside);
        self.ui.maps.show_other(ctx, other, before.is_some());
    }
}

/// Says over a view that it shows the state before.
pub(crate) fn note_ui(ui: &Ui, pane: Rect, text: &str) {
    let colours = colours(ui);
    let painter = ui.painter().with_clip_rect(pane);
    let galley = painter.layout(text.into(), FontId::proportional(12.0), colours.accent_text, pane.width() - 48.0);
    let at = pane.center_top() + Vec2::new(0.0, 40.0);
    let place = Align2::CENTER_TOP.anchor_size(at, galley.size() + Vec2::new(20.0, 8.0));
    plate(&painter, place, &colours);
    painter.galley(place.min + Vec2::new(10.0, 4.0), galley, colours.accent_text);
    let response = ui.interact(place, ui.scope_id().with("before"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}
