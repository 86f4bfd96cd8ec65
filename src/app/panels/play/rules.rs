//! The rules of the level: the requirement, the metric that was found, and where.

use egui::{Align, Label, Layout, RichText, Sense, TextEdit, Ui};
use egui_material_icons::icons::{ICON_ADD, ICON_CHECK, ICON_CLOSE, ICON_REMOVE};

use crate::app::widgets::theme::colours;
use crate::app::widgets::typed_text::TypedText;
use crate::app::widgets::{heading, icon_button};
use crate::engine::level::{Level, MarkerKind};
use crate::engine::play::{MetricKind, RuleError, Verdict, quoted};

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
                self.rule_ui(ui, level, index, verdict);
                ui.horizontal(|ui| {
                    ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                        if icon_button(ui, ICON_CLOSE, &format!("Remove rule {}", index + 1)).clicked() {
                            removed = Some(index);
                        }
                        ui.with_layout(Layout::left_to_right(Align::Min), |ui| {
                            if is_outdated {
                                ui.set_opacity(0.5);
                            }
                            response = verdict.and_then(|verdict| found_ui(ui, verdict)).or(response.take());
                        });
                    });
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

    /// A rule in its field.
    fn rule_ui(&mut self, ui: &mut Ui, level: &mut Level, index: usize, verdict: Option<&Result<Verdict, RuleError>>) {
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
                let field = TextEdit::singleline(text).font(egui::FontId::proportional(12.0));
                let field = ui.add(field.desired_width(ui.available_width()));
                let name = format!("Rule {}", index + 1);
                field.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, &name));
                if focus.take_if(|focus| *focus == index).is_some() {
                    field.request_focus();
                }
                field
            };
            if let Some(text) = self.typed.ui(ui, index, &level.rules[index], draw) {
                level.rules[index] = text;
            }
        });
    }

    /// The menu with examples of every metric.
    fn add_ui(&mut self, ui: &mut Ui, level: &mut Level) {
        let opener = icon_button(ui, ICON_ADD, "Add a rule");
        egui::Popup::menu(&opener).show(|ui| {
            for metric in MetricKind::ALL {
                for example in examples(metric, level) {
                    if ui.button(&example).on_hover_text(metric.doc()).clicked() {
                        self.focus = Some(level.rules.len());
                        level.rules.push(example);
                    }
                }
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
        Ok(verdict) => (format!("found {}", verdict.found_and_why()), colours(ui).weak, verdict.place_m),
        Err(error) => (format!("column {}: {}", error.column, error.problem), colours(ui).error, None),
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

/// Examples of rules about a metric, with names of the level: one for each spawn or team where there may be one for each.
fn examples(metric: MetricKind, level: &Level) -> Vec<String> {
    let of_kind = |is_kind: fn(MarkerKind) -> bool| {
        let markers = level.markers.iter().filter(move |marker| is_kind(marker.kind) && !marker.name.is_empty());
        markers.map(|marker| quoted(&marker.name)).collect::<Vec<String>>()
    };
    let spawns = of_kind(|kind| kind == MarkerKind::Spawn);
    let objectives = of_kind(|kind| kind == MarkerKind::Objective);
    let cameras = of_kind(|kind| kind == MarkerKind::Camera);
    let mut names = [&spawns[..], &objectives, &cameras].concat().into_iter();
    let (a, b) = (names.next().unwrap_or("A".into()), names.next().unwrap_or("B".into()));
    match metric {
        MetricKind::Path => {
            let objective = objectives.first().filter(|objective| **objective != b);
            let to_objective = objective.into_iter().flat_map(|objective| {
                spawns.iter().take(MAX_EXAMPLES).map(move |spawn| format!("path({spawn}, {objective}) <= 2 min"))
            });
            std::iter::once(format!("path({a}, {b}) <= 5 min")).chain(to_objective).collect()
        }
        MetricKind::Length => vec![format!("length({a}, {b}) >= 300 m")],
        MetricKind::Choke => vec![format!("choke({a}, {b}) >= 12 m")],
        MetricKind::Sees => vec![format!("sees({a}, {b}) = no")],
        MetricKind::Walkable => vec!["walkable >= 50 %".into()],
        MetricKind::Reachable => vec![format!("reachable({a}) >= 90 %")],
        MetricKind::Exposure => vec![format!("exposure({a}) <= 20 %")],
        MetricKind::Pads => {
            let of_team = |team: &&str| format!("pads({}, 60, 60) >= 3", quoted(team));
            let of_map = std::iter::once("pads(60, 60) >= 3".into());
            of_map.chain(level.teams().iter().take(MAX_EXAMPLES).map(of_team)).collect()
        }
        MetricKind::Fairness => vec!["fairness(territory) >= 0.95".into()],
    }
}

/// The most spawns or teams with an example of their own.
const MAX_EXAMPLES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::level::Marker;
    use crate::engine::play::Rule;

    #[test]
    fn all_examples_can_be_read() {
        let spawn = |team: &str| Marker { name: format!("Spawn of {team}"), team: team.into(), ..Default::default() };
        let hill = Marker { kind: MarkerKind::Objective, name: "Hill".into(), ..Default::default() };
        let level = Level { markers: vec![spawn("1"), hill, spawn("dark blue")].into(), ..Default::default() };
        for metric in MetricKind::ALL {
            let examples = examples(metric, &level);
            for example in &examples {
                assert!(example.starts_with(metric.key()), "{example}");
                Rule::read(example, &level).unwrap_or_else(|error| panic!("{error}"));
            }
        }
        let paths = [
            "path(\"Spawn of 1\", \"Spawn of dark blue\") <= 5 min",
            "path(\"Spawn of 1\", Hill) <= 2 min",
            "path(\"Spawn of dark blue\", Hill) <= 2 min",
        ];
        assert_eq!(examples(MetricKind::Path, &level), paths);
        let pads = ["pads(60, 60) >= 3", "pads(\"1\", 60, 60) >= 3", "pads(\"dark blue\", 60, 60) >= 3"];
        assert_eq!(examples(MetricKind::Pads, &level), pads);
        assert_eq!(examples(MetricKind::Path, &Level::default()), ["path(A, B) <= 5 min"]);
    }
}
