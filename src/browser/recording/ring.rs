//! A list that forgets its oldest entries when it has too many, or too many bytes of them.

use std::collections::VecDeque;

/// How many bytes an entry takes, about.
pub(super) trait Weigh {
    /// Bytes.
    fn weight(&self) -> usize;
}

/// Entries have the numbers 1, 2, 3, … for good.
#[derive(Debug)]
pub(super) struct Ring<T> {
    entries: VecDeque<T>,
    bytes: usize,
    dropped: u64,
    most_entries: usize,
    most_bytes: usize,
}

impl<T: Weigh> Ring<T> {
    pub(super) fn new(most_entries: usize, most_bytes: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, dropped: 0, most_entries, most_bytes }
    }

    /// The number that the next entry gets.
    pub(super) fn next_number(&self) -> u64 {
        self.dropped + self.entries.len() as u64 + 1
    }

    pub(super) fn push(&mut self, entry: T) {
        self.bytes += entry.weight();
        self.entries.push_back(entry);
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.entries.len() > self.most_entries || self.bytes > self.most_bytes {
            let Some(old) = self.entries.pop_front() else { return };
            self.bytes -= old.weight().min(self.bytes);
            self.dropped += 1;
        }
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.dropped + 1)?).ok()
    }

    pub(super) fn get(&self, number: u64) -> Option<&T> {
        self.entries.get(self.place(number)?)
    }

    /// Changes an entry, if it is still there.
    pub(super) fn change(&mut self, number: u64, change: impl FnOnce(&mut T)) {
        let Some(entry) = self.place(number).and_then(|place| self.entries.get_mut(place)) else { return };
        let before = entry.weight();
        change(entry);
        self.bytes = self.bytes.saturating_sub(before) + entry.weight();
        self.shrink();
    }

    /// Takes out those that fit, oldest first. The others keep their order; numbers mean nothing afterwards.
    pub(super) fn take(&mut self, fits: impl Fn(&T) -> bool) -> Vec<T> {
        let (taken, left): (Vec<T>, Vec<T>) = self.entries.drain(..).partition(|entry| fits(entry));
        self.entries = left.into();
        self.bytes = self.entries.iter().map(Weigh::weight).sum();
        taken
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for String {
        fn weight(&self) -> usize {
            self.len()
        }
    }

    #[test]
    fn oldest_go_and_numbers_stay() {
        let mut ring = Ring::new(3, 10);
        for text in ["a", "b", "c", "d"] {
            ring.push(text.to_owned());
        }
        assert_eq!((ring.get(1), ring.get(2).map(String::as_str), ring.next_number()), (None, Some("b"), 5));
        ring.push("12345678".to_owned());
        assert_eq!(ring.iter().map(String::as_str).collect::<Vec<_>>(), ["c", "d", "12345678"]);
        ring.change(4, |entry| entry.push_str("more"));
        assert_eq!(ring.iter().map(String::as_str).collect::<Vec<_>>(), ["12345678"]);
        assert_eq!(ring.dropped(), 4);
    }
}
