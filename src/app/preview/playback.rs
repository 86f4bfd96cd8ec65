//! The playhead of the timeline.

/// The position on the timeline and whether it plays.
///
/// The playhead advances only after the preview of the current iteration has arrived, so every iteration is shown
/// however slow the computer is, and no frame waits for the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Playback {
    /// The position set by the user or by playback; it is kept while the timeline is temporarily shorter.
    wanted: u32,
    playing: bool,
    /// Whether the playhead follows the end when the timeline becomes longer.
    at_end: bool,
    /// Whether playback starts again after the end.
    loops: bool,
    /// The number of previews for which it has paused at the end.
    paused_at_end: u32,
}

/// The number of previews for which a loop pauses at the end.
const LOOP_PAUSE: u32 = 60;

/// The number of previews of an automatic playback: four seconds at 60 per second.
const AUTO_PREVIEWS: u32 = 240;

impl Playback {
    /// Playback from before the first iteration.
    pub(crate) fn from_start() -> Self {
        Self { wanted: 0, playing: true, at_end: false, loops: false, paused_at_end: 0 }
    }

    /// The position on a timeline of `total` iterations.
    pub(crate) fn position(self, total: u32) -> u32 {
        if self.at_end { total } else { self.wanted.min(total) }
    }

    pub(crate) fn is_playing(self) -> bool {
        self.playing
    }

    /// Adapts to a timeline of `total` iterations: stops if nothing is left to play.
    pub(crate) fn fit(&mut self, total: u32) {
        self.playing &= if self.loops { total > 0 } else { self.position(total) < total };
    }

    /// Moves to an iteration and pauses.
    pub(crate) fn seek(&mut self, position: u32, total: u32) {
        let (wanted, at_end) = (position.min(total), position >= total);
        *self = Self { wanted, playing: false, at_end, paused_at_end: 0, ..*self };
    }

    /// Pauses, or resumes, from the start if the end is reached.
    pub(crate) fn toggle(&mut self, total: u32) {
        if self.playing {
            self.playing = false;
        } else if self.position(total) < total {
            self.playing = true;
        } else {
            self.restart(total);
        }
    }

    /// Pauses at the current position.
    pub(crate) fn pause(&mut self) {
        self.playing = false;
    }

    /// Plays from the start.
    pub(crate) fn restart(&mut self, total: u32) {
        *self = Self { wanted: 0, playing: total > 0, at_end: false, paused_at_end: 0, ..*self };
    }

    /// Whether playback loops.
    pub(crate) fn loops(self) -> bool {
        self.loops
    }

    /// Switches looping on or off.
    pub(crate) fn toggle_loop(&mut self) {
        self.loops = !self.loops;
    }

    /// Advances after the preview of the current iteration has arrived, by that many iterations; 0 chooses their number
    /// so that the timeline takes four seconds.
    pub(crate) fn advance(&mut self, iterations: u32, total: u32) {
        if self.playing && self.loops && self.position(total) == total {
            self.paused_at_end += 1;
            if self.paused_at_end >= LOOP_PAUSE {
                self.restart(total);
            }
        } else if self.playing {
            let iterations = if iterations == 0 { total.div_ceil(AUTO_PREVIEWS) } else { iterations };
            self.wanted = self.position(total).saturating_add(iterations).min(total);
            self.at_end = self.wanted == total;
            self.fit(total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn playback_stops_at_the_end_and_follows_it() {
        let mut playback = Playback::from_start();
        playback.advance(3, 5);
        assert!(playback.is_playing() && playback.position(5) == 3);
        playback.advance(3, 5);
        assert!(!playback.is_playing() && playback.position(5) == 5);
        assert_eq!((playback.position(9), playback.position(2)), (9, 2));
        playback.toggle(2);
        assert!(playback.is_playing() && playback.position(2) == 0);
    }

    #[test]
    fn a_playhead_in_the_middle_keeps_its_position() {
        let mut playback = Playback::from_start();
        playback.seek(4, 10);
        assert_eq!(playback.position(20), 4);
        playback.fit(3);
        assert_eq!(
            (playback.position(3), playback.position(10)),
            (3, 4),
            "a shorter timeline moves it only temporarily"
        );
    }

    #[test]
    fn a_loop_pauses_at_the_end() {
        let mut playback = Playback::from_start();
        playback.toggle_loop();
        let seen: Vec<u32> = (0..2 * (LOOP_PAUSE + 2))
            .map(|_| {
                playback.advance(3, 5);
                playback.fit(5);
                playback.position(5)
            })
            .collect();
        let pause = LOOP_PAUSE as usize;
        assert_eq!(seen[..3], [3, 5, 5]);
        assert_eq!(seen[pause..pause + 4], [5, 0, 3, 5]);
        assert!(playback.is_playing());
        playback.toggle_loop();
        playback.seek(5, 5);
        playback.fit(5);
        assert!(!playback.is_playing());
    }

    #[test]
    fn automatic_playback_takes_the_same_number_of_previews_for_any_timeline() {
        for (total, previews) in [(1, 1), (240, 240), (241, 121), (10_000, 239)] {
            let mut playback = Playback::from_start();
            let shown = (1..).find(|_| {
                playback.advance(0, total);
                !playback.is_playing()
            });
            assert_eq!(shown, Some(previews), "{total} iterations");
        }
    }

    #[test]
    fn an_empty_timeline_does_not_play() {
        let mut playback = Playback::from_start();
        playback.fit(0);
        assert!(!playback.is_playing());
        playback.toggle(0);
        playback.restart(0);
        assert!(!playback.is_playing());
    }
}
