//! The playhead of the timeline.

/// Where the timeline stands and whether it moves.
///
/// The playhead moves on only when the picture of the present iteration has come: every iteration is seen, however
/// slow the machine, and no frame waits for the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Playback {
    position: u32,
    playing: bool,
    /// The playhead stays at the end while the end moves.
    at_end: bool,
}

impl Playback {
    /// Before the first iteration, playing.
    pub(super) fn from_start() -> Self {
        Self { position: 0, playing: true, at_end: false }
    }

    /// Iterations done.
    pub(super) fn position(self) -> u32 {
        self.position
    }

    pub(super) fn is_playing(self) -> bool {
        self.playing
    }

    /// The timeline has `total` iterations now.
    pub(super) fn fit(&mut self, total: u32) {
        if self.at_end || self.position > total {
            self.position = total;
            self.at_end = true;
        }
        if self.position == total {
            self.at_end = true;
            self.playing = false;
        }
    }

    /// Stops at an iteration.
    pub(super) fn seek(&mut self, position: u32, total: u32) {
        self.position = position.min(total);
        self.at_end = self.position == total;
        self.playing = false;
    }

    /// Plays on, from the start if the end is reached; or pauses.
    pub(super) fn toggle(&mut self, total: u32) {
        if self.playing {
            self.playing = false;
        } else if total > 0 {
            if self.position >= total {
                self.position = 0;
            }
            self.at_end = false;
            self.playing = true;
        }
    }

    /// Plays from the start.
    pub(super) fn restart(&mut self, total: u32) {
        *self = Self { position: 0, playing: total > 0, at_end: total == 0 };
    }

    /// The picture of the present iteration is there: on to the next ones.
    pub(super) fn advance(&mut self, iterations: u32, total: u32) {
        if self.playing {
            self.position = self.position.saturating_add(iterations).min(total);
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
        assert!(playback.is_playing() && playback.position() == 3);
        playback.advance(3, 5);
        assert!(!playback.is_playing() && playback.position() == 5);
        playback.fit(9);
        assert_eq!(playback.position(), 9);
        playback.fit(2);
        assert_eq!(playback.position(), 2);
        playback.toggle(2);
        assert!(playback.is_playing() && playback.position() == 0);
    }

    #[test]
    fn a_playhead_in_the_middle_stays_where_it_is() {
        let mut playback = Playback::from_start();
        playback.seek(4, 10);
        playback.fit(20);
        assert_eq!(playback.position(), 4);
        playback.fit(3);
        assert_eq!(playback.position(), 3);
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
