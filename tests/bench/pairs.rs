//! Two programs measured in turns, so that a slow moment of the machine meets both.

use std::time::Duration;

/// Times of ours and of the baseline, taken right after one another.
#[derive(Default)]
pub struct Pairs {
    times: Vec<(Duration, Duration)>,
}

impl Pairs {
    pub fn push(&mut self, ours: Duration, baseline: Duration) {
        self.times.push((ours, baseline));
    }

    /// Measures both `count` times; which one goes first alternates.
    pub fn of(
        count: usize,
        mut ours: impl FnMut() -> Duration,
        mut baseline: impl FnMut() -> Duration,
    ) -> Self {
        let mut pairs = Self::default();
        for round in 0..count {
            if round % 2 == 0 {
                let first = ours();
                pairs.push(first, baseline());
            } else {
                let first = baseline();
                pairs.push(ours(), first);
            }
        }
        pairs
    }

    pub fn len(&self) -> usize {
        self.times.len()
    }

    pub fn ours(&self) -> Duration {
        median(self.times.iter().map(|pair| pair.0).collect())
    }

    pub fn baseline(&self) -> Duration {
        median(self.times.iter().map(|pair| pair.1).collect())
    }

    /// The median of the ratios pair by pair.
    pub fn ratio(&self) -> f64 {
        let ratio = |pair: &(Duration, Duration)| pair.0.as_secs_f64() / pair.1.as_secs_f64();
        middle(self.times.iter().map(ratio).collect())
    }

    /// The median of the differences pair by pair, in milliseconds.
    pub fn added_ms(&self) -> f64 {
        let added = |pair: &(Duration, Duration)| (pair.0.as_secs_f64() - pair.1.as_secs_f64()) * 1e3;
        middle(self.times.iter().map(added).collect())
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A time in the unit that suits it.
pub fn shown(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    match ms {
        ..1.0 => format!("{:.0} µs", ms * 1e3),
        ..100.0 => format!("{ms:.1} ms"),
        _ => format!("{ms:.0} ms"),
    }
}

/// How many times the second goes into the first.
pub fn ratio_of(first: Duration, second: Duration) -> f64 {
    first.as_secs_f64() / second.as_secs_f64()
}
