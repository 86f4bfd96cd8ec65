//! The rules of the level: the requirement, the metric that was found, and where.

use egui::{Align, Label, Layout, RichText, Sense, TextEdit, Ui};
use egui_material_icons::icons::{ICON_ADD, ICON_CHECK, ICON_CLOSE, ICON_REMOVE};

use super::suggestions::{Suggestion, suggestions};
use crate::app::widgets::theme::colours;
use crate::app::widgets::typed_text::TypedText;
use crate::app::widgets::{heading, icon_button};
use crate::engine::level::Level;
use crate::engine::play::{MetricKind, RuleError, Verdict};

/// The rule that is being typed, by its index.
#[derive(Default)]
pub(super) struct RuleEditor {
    typed: TypedText<usize>,
    /// The rule whose field gets the focus.
    focus: Option<usize>,
}

impl RuleEditor {
    /// Draws the rules with what is known of them; returns the place that the user wants to see.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        level: &mut Level,
        verdicts: &[Result<Verdict, RuleError>],
        is_outdated: bool,
    ) -> Option<[f64; 2]> {
        ui.horizontal(|ui| {
            heading(ui, "Rules");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| self.add_ui(ui, level));
        });
        let (mut response, mut removed) = (None, None);
        for index in 0..level.rules.len() {
            let verdict = verdicts.get(index).filter(|verdict| rule_of(verdict) == level.rules[index].trim());
            ui.push_id(("rule", index), |ui| {
                if self.rule_ui(ui, level, index, verdict) {
                    removed = Some(index);
                }
                ui.scope(|ui| {
                    if is_outdated {
                        ui.set_opacity(0.5);
                    }
                    response = verdict.and_then(|verdict| found_ui(ui, verdict)).or(response.take());
                });
            });
        }
        if let Some(index) = removed {
            level.rules.remove(index);
            self.typed.forget();
        }
        if level.rules.is_empty() {
            ui.weak("None yet. A rule says what must be true of the level, such as the maximum time of a route.");
        }
        response
    }

    /// A rule in its field; returns whether the user removes it.
    fn rule_ui(
        &mut self,
        ui: &mut Ui,
        level: &mut Level,
        index: usize,
        verdict: Option<&Result<Verdict, RuleError>>,
    ) -> bool {
        let colours = colours(ui);
        let (icon, colour, state) = match verdict {
            Some(Ok(verdict)) if verdict.holds => (ICON_CHECK, colours.text, "Passes"),
            Some(Ok(_)) => (ICON_CLOSE, colours.error, "Fails"),
            Some(Err(_)) => (ICON_CLOSE, colours.error, "Invalid rule"),
            None => (ICON_REMOVE, colours.weak, "Not measured yet"),
        };
        ui.horizontal(|ui| {
            ui.label(RichText::new(icon.codepoint).color(colour)).on_hover_text(state);
            let focus = &mut self.focus;
            let draw = |ui: &mut Ui, text: &mut String| {
                // Long rules wrap, so that their numbers at the end are visible. Enter leaves the field.
                let field = TextEdit::multiline(text).font(egui::FontId::proportional(12.0));
                let field = ui.add(field.desired_rows(1).return_key(None).desired_width(ui.available_width()));
                let doc = MetricKind::of_rule(text).map_or("What must be true of the level", MetricKind::doc);
                let field = field.on_hover_text(doc);
                if text.contains('\n') {
                    *text = text.replace('\n', " ");
                }
                if field.has_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
                    field.surrender_focus();
                }
                let name = format!("Rule {}", index + 1);
                field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, &name));
                if focus.take_if(|focus| *focus == index).is_some() {
                    field.request_focus();
                }
                field
            };
            let row = ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let is_removed = icon_button(ui, ICON_CLOSE, &format!("Remove rule {}", index + 1)).clicked();
                if let Some(text) = self.typed.ui(ui, index, &level.rules[index], draw) {
                    level.rules[index] = text;
                }
                is_removed
            });
            row.inner
        })
        .inner
    }

    /// The menu of suggestions.
    fn add_ui(&mut self, ui: &mut Ui, level: &mut Level) {
        let opener = icon_button(ui, ICON_ADD, "Add rules");
        egui::Popup::menu(&opener).show(|ui| {
            for Suggestion { text, rules } in suggestions(level) {
                if ui.button(text).on_hover_text(rules.join("\n")).clicked() {
                    // Its number is what the user edits next.
                    self.focus = Some(level.rules.len());
                    level.rules.extend(rules);
                }
            }
            if level.markers.is_empty() {
                ui.weak("Place markers (M) for rules about routes, visibility and fairness.");
            }
        });
    }
}

/// The distance of what was found from the border of the panel, points: below the text of the rule.
const INDENT: f32 = 22.0;

fn rule_of(verdict: &Result<Verdict, RuleError>) -> &str {
    match verdict {
        Ok(verdict) => verdict.rule.trim(),
        Err(error) => error.rule.trim(),
    }
}

/// What was found, below the rule; returns the place if the user clicks it.
fn found_ui(ui: &mut Ui, verdict: &Result<Verdict, RuleError>) -> Option<[f64; 2]> {
    let (text, colour, place_m) = match verdict {
        Ok(verdict) => {
            let metric = MetricKind::of_rule(&verdict.rule).map_or("Metric", MetricKind::label);
            (format!("{metric}: currently {}", verdict.found_and_why()), colours(ui).weak, verdict.place_m)
        }
        Err(error) => (format!("At character {}: {}", error.column, error.problem), colours(ui).error, None),
    };
    let shown = ui.horizontal_top(|ui| {
        ui.add_space(INDENT);
        let sense = if place_m.is_some() { Sense::CLICK } else { Sense::hover() };
        let label = Label::new(RichText::new(text).size(11.0).color(colour)).wrap().sense(sense);
        let label = ui.add(label);
        if place_m.is_some() { label.on_hover_text("Click to show where") } else { label }
    });
    place_m.filter(|_| shown.inner.clicked())
}
