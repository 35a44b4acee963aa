//! Chance that can be repeated, and how much of it a run takes.

/// A small generator (SplitMix64): the same seed gives the same run.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `below`.
    pub fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below
    }
}

/// `BROWY_SEED`, or a new one.
pub fn seed() -> u64 {
    let given = std::env::var("BROWY_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| u64::from_le_bytes(uuid::Uuid::new_v4().as_bytes()[..8].try_into().unwrap()))
}

/// The number in this variable, which the soak layer sets, or the everyday one.
pub fn count(variable: &str, everyday: u64) -> u64 {
    std::env::var(variable).ok().and_then(|count| count.parse().ok()).unwrap_or(everyday)
}
