//! The playhead of the timeline.

/// Where the timeline stands and whether it moves.
///
/// The playhead moves on only when the picture of the present iteration has come: every iteration is seen, however
/// slow the machine, and no frame waits for the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Playback {
    /// Where the user or the play put it; a timeline that is shorter for a while does not move it.
    wanted: u32,
    playing: bool,
    /// The playhead stays at the end while the end moves.
    at_end: bool,
    /// Whether it begins again at the end.
    loops: bool,
    /// Pictures for which it has rested at the end before it does.
    rested: u32,
}

/// For how many pictures a timeline that plays again and again rests at its end, and in how many a timeline is shown
/// that is to be through in four seconds.
const REST: u32 = 60;
const WHOLE: u32 = 240;

impl Playback {
    /// Before the first iteration, playing.
    pub(crate) fn from_start() -> Self {
        Self { wanted: 0, playing: true, at_end: false, loops: false, rested: 0 }
    }

    /// Iterations done of a timeline of `total`.
    pub(crate) fn position(self, total: u32) -> u32 {
        if self.at_end { total } else { self.wanted.min(total) }
    }

    pub(crate) fn is_playing(self) -> bool {
        self.playing
    }

    /// The timeline has `total` iterations now: where nothing is left to play, it stops.
    pub(crate) fn fit(&mut self, total: u32) {
        self.playing &= if self.loops { total > 0 } else { self.position(total) < total };
    }

    /// Stops at an iteration.
    pub(crate) fn seek(&mut self, position: u32, total: u32) {
        let (wanted, at_end) = (position.min(total), position >= total);
        *self = Self { wanted, playing: false, at_end, rested: 0, ..*self };
    }

    /// Plays on, from the start if the end is reached; or pauses.
    pub(crate) fn toggle(&mut self, total: u32) {
        if self.playing {
            self.playing = false;
        } else if self.position(total) < total {
            self.playing = true;
        } else {
            self.restart(total);
        }
    }

    /// Stops where it is.
    pub(crate) fn pause(&mut self) {
        self.playing = false;
    }

    /// Plays from the start.
    pub(crate) fn restart(&mut self, total: u32) {
        *self = Self { wanted: 0, playing: total > 0, at_end: false, rested: 0, ..*self };
    }

    /// Whether it plays again and again.
    pub(crate) fn loops(self) -> bool {
        self.loops
    }

    /// Plays again and again from now on, or no longer.
    pub(crate) fn toggle_loop(&mut self) {
        self.loops = !self.loops;
    }

    /// The picture of the present iteration is there: on to the next ones, so many at a time (0: as many as it takes to
    /// be through in four seconds).
    pub(crate) fn advance(&mut self, iterations: u32, total: u32) {
        if self.playing && self.loops && self.position(total) == total {
            self.rested += 1;
            if self.rested >= REST {
                self.restart(total);
            }
        } else if self.playing {
            let iterations = if iterations == 0 { total.div_ceil(WHOLE) } else { iterations };
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
    fn it_plays_to_the_end_and_stays_there_while_the_end_moves() {
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
    fn a_playhead_in_the_middle_stays_where_it_is() {
        let mut playback = Playback::from_start();
        playback.seek(4, 10);
        assert_eq!(playback.position(20), 4);
        playback.fit(3);
        assert_eq!(
            (playback.position(3), playback.position(10)),
            (3, 4),
            "a shorter timeline moves it for a while only"
        );
    }

    #[test]
    fn it_plays_again_and_again_with_a_rest_at_the_end() {
        let mut playback = Playback::from_start();
        playback.toggle_loop();
        let seen: Vec<u32> = (0..2 * (REST + 2))
            .map(|_| {
                playback.advance(3, 5);
                playback.fit(5);
                playback.position(5)
            })
            .collect();
        let rest = REST as usize;
        assert_eq!(seen[..3], [3, 5, 5]);
        assert_eq!(seen[rest..rest + 4], [5, 0, 3, 5]);
        assert!(playback.is_playing());
        playback.toggle_loop();
        playback.seek(5, 5);
        playback.fit(5);
        assert!(!playback.is_playing());
    }

    #[test]
    fn a_timeline_of_any_length_is_through_in_as_many_pictures() {
        for (total, pictures) in [(1, 1), (240, 240), (241, 121), (10_000, 239)] {
            let mut playback = Playback::from_start();
            let shown = (1..).find(|_| {
                playback.advance(0, total);
                !playback.is_playing()
            });
            assert_eq!(shown, Some(pictures), "{total} iterations");
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
