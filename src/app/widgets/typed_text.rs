//! A text that is being typed and counts once its field is left.

use egui::{Key, Response, Ui};

/// The text that is being typed, and in which field: at most one has the focus. Escape restores what was there.
#[derive(Clone, Debug)]
pub(crate) struct TypedText<K>(Option<(K, String)>);

impl<K> Default for TypedText<K> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: Copy + PartialEq> TypedText<K> {
    /// Draws the field of a text that is `current` in the document, by `draw`; returns its new text once it was left.
    pub(crate) fn ui(
        &mut self,
        ui: &mut Ui,
        field: K,
        current: &str,
        draw: impl FnOnce(&mut Ui, &mut String) -> Response,
    ) -> Option<String> {
        let typed = self.0.take_if(|(typed, _)| *typed == field).map(|(_, text)| text);
        let mut text = typed.unwrap_or_else(|| current.to_string());
        let response = draw(ui, &mut text);
        if response.lost_focus() {
            let is_cancelled = ui.input(|input| input.key_pressed(Key::Escape));
            return (!is_cancelled && text != current).then_some(text);
        }
        // The field that is left for this one learns of it in the next frame.
        if response.has_focus() && self.0.is_none() {
            self.0 = Some((field, text));
        }
        None
    }

    /// Takes the text of a field that is not drawn any more.
    pub(crate) fn take_unless(&mut self, is_drawn: impl FnOnce(K) -> bool) -> Option<(K, String)> {
        self.0.take_if(|(field, _)| !is_drawn(*field))
    }

    /// Forgets the text.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }
}
