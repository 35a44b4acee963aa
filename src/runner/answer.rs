//! The text of a turn, as it is streamed and as it ends.

/// Collects the messages of one turn. What has been streamed is a prefix of [`text`](Self::text)
/// unless the backend took something back.
#[derive(Debug, Default)]
pub struct Answer {
    messages: Vec<(String, String)>,
}

impl Answer {
    /// Takes a piece of a message and returns what the panel must append.
    pub fn delta(&mut self, message_id: &str, piece: &str) -> Option<String> {
        if piece.is_empty() {
            return None;
        }
        let begins = self.messages.iter().all(|(id, text)| id != message_id || text.is_empty());
        let follows = self.messages.iter().any(|(id, text)| id != message_id && !text.is_empty());
        match self.messages.iter_mut().find(|(id, _)| id == message_id) {
            Some((_, text)) => text.push_str(piece),
            None => self.messages.push((message_id.to_owned(), piece.to_owned())),
        }
        Some(if begins && follows { format!("\n\n{piece}") } else { piece.to_owned() })
    }

    /// Takes the last word on a message and returns what of it was not streamed yet.
    pub fn message(&mut self, message_id: &str, text: &str) -> Option<String> {
        let streamed = self.messages.iter().find(|(id, _)| id == message_id).map_or("", |(_, text)| text);
        match text.strip_prefix(streamed) {
            Some(tail) => {
                let tail = tail.to_owned();
                self.delta(message_id, &tail)
            }
            None => {
                // The streamed text was wrong; `chat.done` puts it right.
                if let Some((_, known)) = self.messages.iter_mut().find(|(id, _)| id == message_id) {
                    text.clone_into(known);
                }
                None
            }
        }
    }

    /// Forgets what was streamed of a message; it will be streamed again.
    pub fn discard(&mut self, message_id: &str) {
        self.messages.retain(|(id, _)| id != message_id);
    }

    /// The whole text.
    pub fn text(&self) -> String {
        let texts: Vec<&str> =
            self.messages.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
        texts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streamed_pieces_add_up_to_the_final_text() {
        let mut answer = Answer::default();
        let mut shown = String::new();
        for (id, piece) in [("a", "I look"), ("a", " first."), ("b", "Found"), ("b", " it.")] {
            shown.push_str(&answer.delta(id, piece).unwrap_or_default());
        }
        shown.push_str(&answer.message("b", "Found it. Done.").unwrap_or_default());
        assert_eq!(shown, "I look first.\n\nFound it. Done.");
        assert_eq!(answer.text(), shown);
    }

    #[test]
    fn message_that_was_not_streamed_is_shown_whole() {
        let mut answer = Answer::default();
        assert_eq!(answer.message("a", "All at once").as_deref(), Some("All at once"));
        assert_eq!(answer.message("a", "All at once"), None);
    }

    #[test]
    fn retried_message_stands_once_in_the_final_text() {
        let mut answer = Answer::default();
        answer.delta("a", "Half an ans");
        answer.discard("a");
        answer.delta("b", "Whole answer");
        assert_eq!(answer.text(), "Whole answer");
    }

    #[test]
    fn last_word_wins_over_what_was_streamed() {
        let mut answer = Answer::default();
        answer.delta("a", "wrong");
        assert_eq!(answer.message("a", "right"), None);
        assert_eq!(answer.text(), "right");
    }
}
