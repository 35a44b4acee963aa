//! Numbers from a seed, the same on every machine.

/// SplitMix64 (Steele, Lea, Flood 2014): tiny, and good enough to shuffle labels.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// `true` half of the time.
    pub fn flip(&mut self) -> bool {
        self.next() & 1 == 1
    }

    /// One of `items`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// `count` different items, in random order.
    pub fn sample<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut all = items.to_vec();
        self.shuffle(&mut all);
        all.truncate(count);
        all
    }

    /// Puts `items` in random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A word of `length` lower-case letters and digits that starts with a letter.
    pub fn word(&mut self, length: usize) -> String {
        const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz";
        const ALL: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";
        (0..length).map(|at| char::from(if at == 0 { self.pick(LETTERS) } else { self.pick(ALL) })).collect()
    }

    #[allow(clippy::cast_possible_truncation, reason = "the remainder is below a usize")]
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
