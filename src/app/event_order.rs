//! The order of keys and clicks when a slow frame receives several at once.
//!
//! Some events change what later ones mean: Enter closes a window, and the key after it is a shortcut; a key activates
//! a tool, and the drag after it draws; a click opens a menu, and the click after it chooses from it. A frame can handle
//! only one of these, so the events after it are left for the next frame. Keys also wait for the first frame of a window
//! to end, in which its field gets the focus.

use egui::{Event, Key, Modifiers, Pos2};

use crate::app::commands::opens;

/// The events that were left for the next frame.
#[derive(Default)]
pub(crate) struct EventOrder {
    pending: Vec<Event>,
    /// Where the button that is down was pressed.
    down: Option<Pos2>,
    /// Whether keys wait for the next frame but one.
    holds_keys: bool,
}

impl EventOrder {
    /// Leaves the keys of this frame for the next one, because it draws a window for the first time.
    pub(crate) fn put_back_keys(&mut self, events: &mut Vec<Event>) {
        let (typed, rest) = std::mem::take(events).into_iter().partition(is_typed);
        *events = rest;
        self.pending.splice(0..0, typed as Vec<Event>);
    }

    /// Lets keys wait for the end of the next frame, in which a window is drawn for the first time.
    pub(crate) fn hold_keys(&mut self) {
        self.holds_keys = true;
    }

    /// Puts the events that an earlier frame has left before those of this one, and leaves for the next frame those
    /// that depend on what earlier ones do. Returns whether any are left.
    pub(crate) fn limit(&mut self, events: &mut Vec<Event>) -> bool {
        let holds_keys = std::mem::take(&mut self.holds_keys);
        self.pending.append(events);
        let mut done = Done { down: self.down, ..Done::default() };
        let ends_before = |event: &Event| (holds_keys && is_typed(event)) || done.ends_before(event);
        let end = self.pending.iter().position(ends_before).unwrap_or(self.pending.len());
        self.down = done.down;
        events.extend(self.pending.drain(..end));
        !self.pending.is_empty()
    }
}

/// What the events of a frame have done so far.
#[derive(Default)]
struct Done {
    /// A key that may have opened or closed a window, and whether it was released again.
    switched: Option<(Key, Modifiers)>,
    is_released: bool,
    /// Whether the last event was the press of that key, so that the text it types is its own.
    is_pressed_last: bool,
    has_key: bool,
    /// Where the button that is down was pressed, and whether that was in this frame.
    down: Option<Pos2>,
    is_pressed: bool,
    /// Whether the pointer was dragged in this frame.
    is_dragged: bool,
    /// Where a button was released.
    clicked: Option<Pos2>,
}

/// The distance between the clicks of a double click at most, and that between the ends of a click, points.
const DOUBLE_CLICK: f32 = 6.0;

impl Done {
    /// Whether the frame has to end before an event, which is noted if it has not.
    fn ends_before(&mut self, event: &Event) -> bool {
        let was_pressed_last = std::mem::take(&mut self.is_pressed_last);
        match event {
            Event::Text(_) if was_pressed_last => false,
            Event::Key { key, modifiers, pressed: true, .. } => {
                let ends =
                    self.clicked.is_some() || self.switched.is_some_and(|last| !self.repeats(last, *key, *modifiers));
                self.has_key = true;
                if switches(*key, *modifiers) {
                    (self.switched, self.is_released) = (Some((*key, *modifiers)), false);
                    self.is_pressed_last = true;
                }
                ends
            }
            Event::Key { key, pressed: false, .. } => {
                self.is_released |= self.switched.is_some_and(|(switched, _)| switched == *key);
                false
            }
            Event::Text(_) | Event::Paste(_) | Event::Copy | Event::Cut | Event::Ime(_) => {
                self.clicked.is_some() || self.switched.is_some()
            }
            // Both clicks of a double click belong together.
            Event::PointerButton { pressed: true, pos, .. } => {
                let ends = self.has_key || self.clicked.is_some_and(|at| at.distance(*pos) > DOUBLE_CLICK);
                if !ends {
                    (self.down, self.is_pressed) = (Some(*pos), true);
                }
                ends
            }
            // A drag takes three frames at least: widgets see the press, then that the pointer is dragged, and then the
            // release.
            Event::PointerMoved(pos) => {
                let is_far = self.down.is_some_and(|at| at.distance(*pos) > DOUBLE_CLICK);
                self.is_dragged |= is_far && !self.is_pressed;
                is_far && self.is_pressed
            }
            Event::PointerButton { pressed: false, pos, .. } => {
                if !self.is_dragged {
                    (self.clicked, self.down, self.is_pressed) = (Some(*pos), None, false);
                }
                self.is_dragged
            }
            _ => false,
        }
    }

    /// Whether a key is pressed as the last one that switches was: shortcuts such as Ctrl+Z count each press, and a key
    /// that is held repeats. Tab, Enter and Escape act once a frame.
    fn repeats(&self, last: (Key, Modifiers), key: Key, modifiers: Modifiers) -> bool {
        last == (key, modifiers) && (modifiers.command || !self.is_released)
    }
}

/// Whether an event belongs to the field that has the focus.
fn is_typed(event: &Event) -> bool {
    let is_text = matches!(event, Event::Text(_) | Event::Paste(_) | Event::Copy | Event::Cut | Event::Ime(_));
    is_text || matches!(event, Event::Key { pressed: true, .. })
}

/// Whether a key may open or close a window or leave a field.
fn switches(key: Key, modifiers: Modifiers) -> bool {
    matches!(key, Key::Enter | Key::Escape | Key::Tab) || modifiers.command || modifiers.alt || opens(key, modifiers)
}

#[cfg(test)]
mod tests {
    use egui::{PointerButton, Pos2};

    use super::*;

    fn key(key: Key, modifiers: Modifiers) -> [Event; 2] {
        [true, false].map(|pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers })
    }

    fn click(x: f32) -> Vec<Event> {
        let pos = Pos2::new(x, 0.0);
        let button =
            |pressed| Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers: Modifiers::NONE };
        vec![Event::PointerMoved(pos), button(true), button(false)]
    }

    /// The numbers of events of the frames that handle all of them, which arrive at once.
    #[track_caller]
    fn check(events: Vec<Event>, expected: &[usize]) {
        let (mut order, mut frames, mut handled) = (EventOrder::default(), Vec::new(), Vec::new());
        let mut frame = events.clone();
        loop {
            let is_left = order.limit(&mut frame);
            frames.push(frame.len());
            handled.append(&mut frame);
            if !is_left {
                break;
            }
        }
        assert_eq!((frames.as_slice(), handled), (expected, events));
    }

    #[test]
    fn events_that_depend_on_earlier_ones_wait_for_the_next_frame() {
        let (none, command) = (Modifiers::NONE, Modifiers::COMMAND);
        check(Vec::new(), &[0]);
        check(click(1.0), &[3]);
        // The palette is opened, a command is typed and chosen, and a shortcut follows.
        let text = |text: &str| Event::Text(text.into());
        let palette = [
            key(Key::P, command).to_vec(),
            vec![text("light"), text("er")],
            key(Key::Enter, none).to_vec(),
            key(Key::Home, none).to_vec(),
            key(Key::Period, none).to_vec(),
        ];
        check(palette.concat(), &[2, 4, 4]);
        // A menu is opened and an item chosen.
        check([click(1.0), click(20.0)].concat(), &[4, 2]);
        // A tool is activated and used.
        check([key(Key::L, none).to_vec(), click(1.0)].concat(), &[3, 2]);
        check([click(1.0), key(Key::L, none).to_vec()].concat(), &[3, 2]);
        // A shortcut pressed three times is handled at once, as is typing.
        check([key(Key::Z, command), key(Key::Z, command), key(Key::Z, command)].concat(), &[6]);
        check([key(Key::Z, command), key(Key::Y, command)].concat(), &[2, 2]);
        // Tab and Escape act once a frame, unless the key is held.
        check([key(Key::Tab, none), key(Key::Tab, none)].concat(), &[2, 2]);
        check(vec![key(Key::Tab, none)[0].clone(), key(Key::Tab, none)[0].clone()], &[2]);
        check([key(Key::F1, none), key(Key::Escape, none)].concat(), &[2, 2]);
        let shift = Modifiers::SHIFT;
        let [pressed, released] = key(Key::A, shift);
        // The first text is that of the key.
        let opened = vec![pressed, text("A"), released, text("noise")];
        check([opened, key(Key::Enter, none).to_vec()].concat(), &[3, 3]);
        // A drag is pressed, dragged and released in frames of their own.
        let mut drag = click(1.0);
        drag.insert(2, Event::PointerMoved(Pos2::new(50.0, 0.0)));
        if let Event::PointerButton { pos, .. } = &mut drag[3] {
            pos.x = 50.0;
        }
        check([drag.clone(), drag.clone()].concat(), &[2, 1, 2, 1, 1, 1]);
        // Also if it was pressed in an earlier frame, and if it ends where it began.
        let mut order = EventOrder::default();
        let mut pressed = drag[..2].to_vec();
        assert!(!order.limit(&mut pressed) && pressed.len() == 2);
        let mut rest = vec![drag[2].clone(), Event::PointerMoved(Pos2::new(1.0, 0.0)), click(1.0)[2].clone()];
        assert!(order.limit(&mut rest) && rest.len() == 2);
        let mut released = Vec::new();
        assert!(!order.limit(&mut released) && released.len() == 1);
        // A double click stays one.
        check([click(1.0), click(2.0)].concat(), &[6]);
        check([vec![text("a"), text("b")], key(Key::Backspace, none).to_vec(), vec![text("c")]].concat(), &[5]);
    }

    #[test]
    fn keys_wait_until_a_new_window_was_drawn() {
        let mut order = EventOrder::default();
        order.hold_keys();
        let mut first = [click(1.0), key(Key::A, Modifiers::NONE).to_vec()].concat();
        assert!(order.limit(&mut first));
        assert_eq!(first, click(1.0));
        let mut second = vec![Event::Text("a".into())];
        assert!(!order.limit(&mut second));
        assert_eq!(second, [key(Key::A, Modifiers::NONE).to_vec(), vec![Event::Text("a".into())]].concat());
        order.hold_keys();
        let mut none = Vec::new();
        assert!(!order.limit(&mut none) && none.is_empty());
    }

    #[test]
    fn events_left_by_a_frame_come_before_those_of_the_next() {
        let mut order = EventOrder::default();
        let mut first = [click(1.0), click(20.0)].concat();
        assert!(order.limit(&mut first));
        let mut second = click(30.0);
        assert!(order.limit(&mut second));
        assert_eq!(second, [click(20.0)[1..].to_vec(), click(30.0)[..1].to_vec()].concat());
        let mut third = Vec::new();
        assert!(!order.limit(&mut third));
        assert_eq!(third, click(30.0)[1..]);
        // Those of a frame that draws a new window come first.
        let mut fourth = [click(1.0), key(Key::A, Modifiers::NONE).to_vec()].concat();
        order.put_back_keys(&mut fourth);
        assert_eq!(fourth.len(), 4, "clicks and the release stay");
        let mut fifth = vec![Event::Text("b".into())];
        assert!(!order.limit(&mut fifth));
        assert_eq!(fifth, [vec![key(Key::A, Modifiers::NONE)[0].clone()], vec![Event::Text("b".into())]].concat());
    }
}
