//! The pieces of one message in their true order.
//!
//! Under load the CLI delivers its events on two ways at once: a fast one that leaves some out, and a slow
//! one that is complete (measured with 20,000 pieces: up to 17,000 repeats, and now and then a stretch of
//! pieces ahead of its turn). Repeats are told by their ids; a stretch ahead of its turn only by the count
//! of bytes that the CLI announces before each piece (`assistant.streaming_delta`). Where the count does
//! not fit, nothing more is shown until the whole message has come.

use std::time::Duration;

use tokio::time::Instant;

/// How long a count that does not fit may hold up the text before other counting is assumed: a provider
/// for which the CLI counts in another way must not lose its streaming.
pub const HOLD: Duration = Duration::from_secs(1);

/// The pieces of the message that is being streamed.
#[derive(Debug, Default)]
pub struct Pieces {
    message_id: String,
    /// What was passed on.
    shown: String,
    /// The CLI's count behind what was passed on.
    shown_count: Option<u64>,
    /// The count that was announced for the next piece.
    announced: Option<u64>,
    highest: u64,
    mode: Mode,
}

#[derive(Debug, Default)]
enum Mode {
    /// The first piece has not come, or the second to compare it with.
    #[default]
    Unknown,
    /// The counts fit.
    Counted,
    /// The counts mean something else.
    Uncounted,
    /// A count does not fit; these pieces wait.
    Holding { held: Vec<String>, since: Instant },
    /// Pieces came ahead of their turn; only the whole message tells the rest.
    Scrambled,
}

/// What is owed when the whole message has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing; what was shown is all that could be shown.
    Nothing,
    /// This continues what was shown.
    Piece(String),
    /// What was shown is void; this is the text.
    Anew(String),
}

impl Pieces {
    /// The CLI announces the count behind the next piece.
    pub fn announce(&mut self, count: u64) {
        if count < self.highest {
            self.repeated();
        }
        self.highest = self.highest.max(count);
        self.announced = Some(count);
    }

    /// An event came a second time, or late.
    pub fn repeated(&mut self) {
        if matches!(self.mode, Mode::Holding { .. }) {
            self.mode = Mode::Scrambled;
        }
    }

    /// The next piece; gives what may be shown.
    pub fn piece(&mut self, message_id: &str, text: String, now: Instant) -> Option<String> {
        if self.message_id != message_id {
            *self = Self { message_id: message_id.to_owned(), announced: self.announced, ..Self::default() };
            self.highest = self.announced.unwrap_or_default();
        }
        let announced = self.announced.take();
        let expected = self.shown_count.map(|count| count + u64::try_from(text.len()).unwrap_or(u64::MAX));
        let fits = announced.is_some() && announced == expected;
        match &mut self.mode {
            Mode::Unknown if self.shown_count.is_none() => {
                if announced.is_none() {
                    self.mode = Mode::Uncounted;
                }
            }
            Mode::Unknown => self.mode = if fits { Mode::Counted } else { Mode::Uncounted },
            Mode::Counted if !fits => {
                self.mode = Mode::Holding { held: vec![text], since: now };
                return None;
            }
            Mode::Counted | Mode::Uncounted => {}
            Mode::Holding { held, .. } => {
                held.push(text);
                return None;
            }
            Mode::Scrambled => return None,
        }
        self.shown_count = announced;
        self.shown.push_str(&text);
        Some(text)
    }

    /// When held pieces have waited long enough.
    pub fn deadline(&self) -> Option<Instant> {
        match &self.mode {
            Mode::Holding { since, .. } => Some(*since + HOLD),
            _ => None,
        }
    }

    /// Gives up counting: what was held is passed on as it came. The message's id and the text.
    pub fn release(&mut self) -> Option<(String, String)> {
        let Mode::Holding { held, .. } = std::mem::replace(&mut self.mode, Mode::Uncounted) else {
            return None;
        };
        let text = held.concat();
        self.shown.push_str(&text);
        Some((self.message_id.clone(), text))
    }

    /// The whole message has come.
    pub fn whole(&mut self, message_id: &str, text: &str) -> Rest {
        if self.message_id != message_id {
            return Rest::Nothing;
        }
        let pieces = std::mem::take(self);
        if !matches!(pieces.mode, Mode::Holding { .. } | Mode::Scrambled) {
            return Rest::Nothing;
        }
        match text.strip_prefix(pieces.shown.as_str()) {
            Some("") => Rest::Nothing,
            Some(rest) => Rest::Piece(rest.to_owned()),
            None => Rest::Anew(text.to_owned()),
        }
    }

    /// The message is void.
    pub fn discard(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds pairs of count and piece; gives what was shown.
    fn feed(pieces: &mut Pieces, pairs: &[(u64, &str)]) -> String {
        let now = Instant::now();
        let mut shown = String::new();
        for (count, text) in pairs {
            if *count > 0 {
                pieces.announce(*count);
            }
            shown.extend(pieces.piece("m", (*text).to_owned(), now));
        }
        shown
    }

    #[test]
    fn counted_pieces_pass_one_by_one() {
        let mut pieces = Pieces::default();
        // The count starts anywhere: thoughts are counted too. It is in bytes.
        assert_eq!(feed(&mut pieces, &[(11, "a"), (13, "\u{e9}"), (17, "\u{1F600}")]), "a\u{e9}\u{1F600}");
        assert_eq!(pieces.whole("m", "a\u{e9}\u{1F600}"), Rest::Nothing);
    }

    #[test]
    fn stretch_ahead_of_its_turn_waits_for_the_whole_message() {
        let mut pieces = Pieces::default();
        assert_eq!(feed(&mut pieces, &[(1, "a"), (2, "b"), (9, "i"), (10, "j"), (3, "c"), (4, "d")]), "ab");
        assert_eq!(pieces.deadline(), None, "a late count proves the disorder");
        assert_eq!(pieces.whole("m", "abcdefghij"), Rest::Piece("cdefghij".into()));
    }

    #[test]
    fn piece_without_its_count_is_suspicious_too() {
        let mut pieces = Pieces::default();
        assert_eq!(feed(&mut pieces, &[(1, "a"), (2, "b"), (0, "h"), (9, "i")]), "ab");
        pieces.repeated();
        assert_eq!(pieces.whole("m", "abcdefghi"), Rest::Piece("cdefghi".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn other_counting_costs_one_second_once() {
        let mut pieces = Pieces::default();
        assert_eq!(feed(&mut pieces, &[(1, "a"), (2, "b"), (9, "c"), (12, "d")]), "ab");
        assert_eq!(pieces.deadline(), Some(Instant::now() + HOLD));
        assert_eq!(pieces.release(), Some(("m".into(), "cd".into())));
        assert_eq!(feed(&mut pieces, &[(40, "e"), (0, "f")]), "ef");
        assert_eq!(pieces.whole("m", "abcdef"), Rest::Nothing);
    }

    #[test]
    fn without_counts_everything_passes() {
        let mut pieces = Pieces::default();
        assert_eq!(feed(&mut pieces, &[(0, "a"), (0, "b"), (0, "c")]), "abc");
        let mut pieces = Pieces::default();
        assert_eq!(feed(&mut pieces, &[(5, "a"), (5, "b"), (5, "c")]), "abc", "counted some other way");
    }

    #[test]
    fn what_does_not_continue_the_shown_text_replaces_it() {
        let mut pieces = Pieces::default();
        assert_eq!(feed(&mut pieces, &[(1, "a"), (2, "b"), (9, "i")]), "ab");
        assert_eq!(pieces.whole("m", "xyz"), Rest::Anew("xyz".into()));
    }
}
