//! Numbers as they are typed into fields: with units, sums and products, and limits.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::time::Duration;

use egui::emath::Numeric;
use egui::{Direction, DragValue, Layout, Response, Ui, Vec2};

/// What a field for a number takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quantity {
    pub(crate) label: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) limits: [f64; 2],
    pub(crate) is_whole: bool,
}

/// How long the note about a number that was refused stays, seconds.
const NOTE_SECONDS: f64 = 6.0;

impl Quantity {
    /// A length or a height in metres.
    pub(crate) fn metres(label: &'static str, limits: [f64; 2]) -> Self {
        Self { label, unit: "m", limits, is_whole: false }
    }

    /// A number of things.
    pub(crate) fn count(label: &'static str, limits: RangeInclusive<u32>) -> Self {
        Self { label, unit: "", limits: [f64::from(*limits.start()), f64::from(*limits.end())], is_whole: true }
    }

    /// A field whose number counts when the user has finished typing. A number that is not valid leaves it as it was, and a
    /// note at the field says why. `adjust` sets what the field looks like and how fast it is dragged.
    pub(crate) fn ui<N: Numeric>(
        self,
        ui: &mut Ui,
        value: &mut N,
        adjust: impl FnOnce(DragValue<'_>) -> DragValue<'_>,
    ) -> Response {
        let (before, text) = (value.to_f64(), FieldText::default());
        let formatter = ui.style().number_formatter.clone();
        let [low, high] = self.limits;
        let field = adjust(DragValue::new(value).suffix(unit_text(self.unit)))
            // A value outside the limits, as in an imported file, stays until it is edited.
            .clamp_existing_to_range(false)
            .range(low..=high)
            .custom_formatter(|number, decimals| text.shown(formatter.format(number, decimals)))
            .custom_parser(|typed| text.parsed(typed, |typed| self.valid(typed)));
        let response = ui.add(field.update_while_editing(false));
        // Without that clamping, egui lets the arrow keys go on beyond the limits.
        if value.to_f64() != before {
            *value = N::from_f64(value.to_f64().clamp(low, high));
        }
        note_ui(ui, &response, text.refused());
        response
    }

    /// As [`Self::ui`], in a field of that size.
    pub(crate) fn sized_ui<N: Numeric>(
        self,
        ui: &mut Ui,
        size: Vec2,
        value: &mut N,
        adjust: impl FnOnce(DragValue<'_>) -> DragValue<'_>,
    ) -> Response {
        let layout = Layout::centered_and_justified(Direction::LeftToRight);
        ui.allocate_ui_with_layout(size, layout, |ui| self.ui(ui, value, adjust)).inner
    }

    /// A typed number within the limits, or why it does not count.
    pub(crate) fn valid(self, text: &str) -> Result<f64, String> {
        let ([low, high], unit) = (self.limits, unit_text(self.unit));
        let limits = format!("{} must be from {low} to {high}{unit}", self.label);
        match self.typed(text) {
            Some(typed) if (low..=high).contains(&typed) => Ok(if self.is_whole { typed.round() } else { typed }),
            Some(_) => Err(limits),
            None => Err(format!("\u{201c}{text}\u{201d} is not a number; {limits}")),
        }
    }

    /// Parses a number: with or without its unit, in kilometres where the unit is metres, with or without commas between
    /// thousands, or with a decimal comma where it cannot be mistaken for one of those.
    fn typed(self, text: &str) -> Option<f64> {
        let is_whole = self.is_whole;
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let text = text.replace('−', "-");
        let (number, factor) = match text.strip_suffix("km") {
            Some(number) if self.unit == "m" => (number, 1000.0),
            _ => (text.strip_suffix(self.unit).unwrap_or(&text), 1.0),
        };
        let number = match number.split_once(',') {
            None => number.into(),
            Some(_) if is_grouped(number) && (is_whole || number.contains('.')) => number.replace(',', ""),
            Some((_, decimals)) if !is_whole && decimals.len() != 3 => number.replace(',', "."),
            Some(_) => return None,
        };
        calculated(&number).map(|number| factor * number).filter(|number| !number.is_nan())
    }
}

/// The text of a field for a number: what it shows, and why what was typed does not count.
#[derive(Default)]
pub(crate) struct FieldText {
    shown: RefCell<String>,
    refused: RefCell<Option<String>>,
}

impl FieldText {
    /// Notes the text that the field shows.
    pub(crate) fn shown(&self, text: String) -> String {
        self.shown.borrow_mut().clone_from(&text);
        text
    }

    /// The number of a text that was typed; `None` leaves the field as it is.
    pub(crate) fn parsed(&self, text: &str, valid: impl FnOnce(&str) -> Result<f64, String>) -> Option<f64> {
        // The field was left without typing: the text may be rounded, so the number stays.
        if *text == *self.shown.borrow() {
            return None;
        }
        let typed = valid(text);
        *self.refused.borrow_mut() = typed.as_ref().err().cloned();
        typed.ok()
    }

    /// Why the number that was typed last does not count.
    pub(crate) fn refused(self) -> Option<String> {
        self.refused.into_inner()
    }
}

/// Shows why the number that was typed last was refused, below the field, for some seconds or until it is edited again.
fn note_ui(ui: &Ui, field: &Response, refused: Option<String>) {
    let (id, now) = (field.id.with("refused"), ui.input(|input| input.time));
    if let Some(refused) = refused {
        ui.data_mut(|data| data.insert_temp(id, (refused, now + NOTE_SECONDS)));
    } else if field.changed() || field.gained_focus() {
        ui.data_mut(|data| data.remove::<(String, f64)>(id));
    }
    if let Some((note, until)) = ui.data(|data| data.get_temp::<(String, f64)>(id)).filter(|(_, until)| *until > now) {
        field.show_tooltip_text(note);
        ui.ctx().request_repaint_after(Duration::from_secs_f64(until - now));
    }
}

/// A unit as it follows a number.
pub(crate) fn unit_text(unit: &str) -> String {
    if matches!(unit, "" | "°") { unit.into() } else { format!(" {unit}") }
}

/// The value of a number, or of sums and products of numbers: "10*3", "1024 - 2*8".
fn calculated(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    // What is calculated last is split first: the last sum, or else the last product. A sign is no operator.
    let split_at = |operators: [char; 2]| {
        let is_operator = |at: usize, c: char| {
            let before = text[..at].chars().next_back();
            operators.contains(&c) && before.is_some_and(|before| before.is_ascii_digit() || before == '.')
        };
        text.char_indices().rfind(|(at, c)| is_operator(*at, *c))
    };
    let (at, operator) = split_at(['+', '-']).or_else(|| split_at(['*', '/']))?;
    let (left, right) = (calculated(&text[..at])?, calculated(&text[at + operator.len_utf8()..])?);
    let value = match operator {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ => left / right,
    };
    value.is_finite().then_some(value)
}

/// Whether the commas separate thousands.
fn is_grouped(number: &str) -> bool {
    let whole = number.split('.').next().unwrap_or(number);
    whole.split(',').skip(1).all(|group| group.len() == 3) && number.matches(',').count() == whole.matches(',').count()
}

#[cfg(test)]
mod tests {
    use egui::{Key, Modifiers};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;

    #[test]
    fn sums_and_products_are_calculated() {
        for (text, value) in [
            ("10*3", Some(30.0)),
            ("1024-2*8", Some(1008.0)),
            ("8/2/2", Some(2.0)),
            ("-3+5", Some(2.0)),
            ("2*-4", Some(-8.0)),
            ("1e-3*2", Some(0.002)),
            ("5-3-1", Some(1.0)),
            ("3+", None),
            ("*3", None),
            ("1/0", None),
            ("a+1", None),
        ] {
            assert_eq!(calculated(text), value, "{text}");
        }
    }
    #[test]
    fn numbers_are_typed_with_or_without_their_unit() {
        let typed = |is_whole: bool, unit: &'static str, text: &str| {
            Quantity { label: "Number", unit, limits: [0.0, 1.0], is_whole }.typed(text)
        };
        let cases = [
            ("5", 5.0),
            (" 1250.5 m", 1250.5),
            ("1,5", 1.5),
            ("1,250.5", 1250.5),
            ("2.5 km", 2500.0),
            ("−4", -4.0),
            ("1e9", 1e9),
        ];
        for (text, number) in cases {
            assert_eq!(typed(false, "m", text), Some(number), "{text}");
        }
        assert_eq!(typed(false, "°", "40 °"), Some(40.0));
        assert_eq!(typed(true, "", "10,000"), Some(10_000.0));
        // Ambiguous, or not a number.
        for text in ["1,250", "1.250,5", "12,34,567", "", "abc", "NaN", "5 e", "5 %", "1.2.3", "2 k"] {
            assert_eq!(typed(false, "m", text), None, "{text}");
        }
        assert_eq!(typed(true, "", "1,5"), None);
        assert_eq!(typed(false, "°", "5 km"), None);
    }

    #[test]
    fn a_value_outside_the_limits_stays_until_it_is_edited_and_keys_stop_at_them() {
        let field = Quantity::metres("Height", [0.0, 100.0]);
        let ui = move |ui: &mut Ui, height_m: &mut f64| {
            let response = field.ui(ui, height_m, |field| field.speed(1.0));
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_label("Height"));
        };
        let mut window = Harness::new_ui_state(ui, 150_000.0);
        window.get_by_label("Height").click();
        window.run_steps(2);
        window.key_press(Key::Enter);
        window.run_steps(3);
        assert_eq!(*window.state(), 150_000.0);
        *window.state_mut() = 2.0;
        window.run_steps(2);
        window.get_by_label("Height").focus();
        window.run_steps(2);
        for _ in 0..6 {
            window.key_press(Key::ArrowDown);
            window.run_steps(1);
        }
        window.key_press(Key::Enter);
        window.run_steps(2);
        assert_eq!(*window.state(), 0.0);
    }

    #[test]
    fn a_field_takes_units_and_says_what_it_refuses() {
        let field = Quantity::metres("Height", [-20_000.0, 100_000.0]);
        let ui = move |ui: &mut Ui, height_m: &mut f64| {
            let response = field.ui(ui, height_m, |field| field.max_decimals(3));
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_label("Height"));
        };
        let mut window = Harness::new_ui_state(ui, 1000.0);
        let notes = ["\u{201c}abc\u{201d} is not a number; Height must be", "Height must be from -20000 to 100000 m"];
        for (text, height_m, note) in [
            ("1450 m", 1450.0, None),
            ("0.7 km", 700.0, None),
            ("145000", 700.0, Some(notes[1])),
            ("abc", 700.0, Some(notes[0])),
            ("2*350.5", 701.0, None),
        ] {
            window.get_by_label("Height").click();
            window.run_steps(2);
            window.key_press_modifiers(Modifiers::COMMAND, Key::A);
            window.event(egui::Event::Text(text.into()));
            window.key_press(Key::Enter);
            window.run_steps(3);
            assert_eq!(*window.state(), height_m, "{text}");
            let is_noted = |note: &str| window.query_by_label_contains(note).is_some();
            assert!(note.is_none_or(is_noted) && (note.is_some() || !is_noted("must be")), "{text}");
        }
    }
}
