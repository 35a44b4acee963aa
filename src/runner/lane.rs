//! Which tool calls of a turn may run now: changing calls alone and in order, reading calls together.

use std::collections::VecDeque;

/// Calls in the order the model made them.
#[derive(Debug)]
pub struct Lane<T> {
    waiting: VecDeque<(bool, T)>,
    reading: usize,
    changing: bool,
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), reading: 0, changing: false }
    }
}

impl<T> Lane<T> {
    /// Adds a call at the end.
    pub fn push(&mut self, read_only: bool, call: T) {
        self.waiting.push_back((read_only, call));
    }

    /// Takes the next call that may run now. The caller runs it and then reports [`done`](Self::done).
    pub fn start(&mut self) -> Option<(bool, T)> {
        let &(read_only, _) = self.waiting.front()?;
        if self.changing || (!read_only && self.reading > 0) {
            return None;
        }
        if read_only {
            self.reading += 1;
        } else {
            self.changing = true;
        }
        self.waiting.pop_front()
    }

    /// A started call ended.
    pub fn done(&mut self, read_only: bool) {
        if read_only {
            self.reading = self.reading.saturating_sub(1);
        } else {
            self.changing = false;
        }
    }

    /// Takes out the waiting calls that match.
    pub fn withdraw(&mut self, mut matches: impl FnMut(&T) -> bool) -> Vec<T> {
        let (gone, stay): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(_, call)| matches(call));
        self.waiting = stay;
        gone.into_iter().map(|(_, call)| call).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn startable(lane: &mut Lane<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| lane.start().map(|(_, call)| call)).collect()
    }

    #[test]
    fn reading_calls_overlap_and_changing_ones_run_alone_in_order() {
        let mut lane = Lane::default();
        for (read_only, call) in
            [(true, "read 1"), (true, "read 2"), (false, "click"), (true, "read 3"), (false, "type")]
        {
            lane.push(read_only, call);
        }
        assert_eq!(startable(&mut lane), ["read 1", "read 2"]);
        lane.done(true);
        assert_eq!(startable(&mut lane), [""; 0], "a click waits for every reading call before it");
        lane.done(true);
        assert_eq!(startable(&mut lane), ["click"]);
        assert_eq!(startable(&mut lane), [""; 0], "nothing runs beside a click");
        lane.done(false);
        assert_eq!(startable(&mut lane), ["read 3"]);
        lane.done(true);
        assert_eq!(startable(&mut lane), ["type"]);
    }

    #[test]
    fn withdrawn_call_never_starts() {
        let mut lane = Lane::default();
        lane.push(false, "one");
        lane.push(false, "two");
        assert_eq!(lane.withdraw(|call| *call == "two"), ["two"]);
        assert_eq!(startable(&mut lane), ["one"]);
        lane.done(false);
        assert_eq!(startable(&mut lane), [""; 0]);
    }
}
