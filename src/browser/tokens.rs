//! About how many tokens a text costs, without a tokenizer: words and characters by script.
//!
//! The numbers come from the vocabulary `o200k_base`; a test holds them to within 15 % of it for every kind of
//! text in `tests/corpus`.

/// What characters a tokenizer keeps together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    LineEnd,
    Latin,
    Digits,
    Signs,
    Cyrillic,
    Greek,
    Arabic,
    Hebrew,
    Indic,
    Thai,
    Hangul,
    Kana,
    Han,
    Wide,
    Joiner,
    Flag,
    Emoji,
    Other,
}

/// A run of characters of one kind, and what it costs in hundredths of a token.
#[derive(Debug, Clone, Copy)]
struct Run {
    kind: Kind,
    length: usize,
    /// Letters with marks in a Latin word, in hundredths of a token.
    marks: usize,
    /// `aB` in a Latin word.
    humps: usize,
    last: char,
}

/// About how many tokens a model counts for this text.
pub fn tokens(text: &str) -> usize {
    let mut sum = 0;
    let mut run: Option<Run> = None;
    for current in text.chars() {
        let kind = kind_of(current);
        match &mut run {
            Some(open) if open.kind == kind => open.add(current),
            _ => {
                let next = Run { kind, length: 1, marks: marks(current), humps: 0, last: current };
                sum += run.replace(next).map_or(0, Run::cost);
            }
        }
    }
    (sum + run.map_or(0, Run::cost)).div_ceil(100)
}

impl Run {
    fn add(&mut self, next: char) {
        self.length += 1;
        self.marks += marks(next);
        self.humps += usize::from(self.last.is_lowercase() && next.is_uppercase());
        self.last = next;
    }

    fn cost(self) -> usize {
        // The first token of a word holds this many letters; each further letter costs so much.
        let word = |first: usize, further: usize| 100 + self.length.saturating_sub(first) * further;
        match self.kind {
            // One space belongs to the word after it.
            Kind::Space => usize::from(self.length > 1) * 100,
            Kind::LineEnd => 100,
            Kind::Latin => word(6, 20) + self.marks + self.humps * 50,
            Kind::Digits => self.length.div_ceil(3) * 100,
            Kind::Signs => 75 + (self.length - 1) * 40,
            Kind::Cyrillic => word(3, 25),
            Kind::Arabic => word(3, 40),
            Kind::Greek | Kind::Hebrew => word(3, 55),
            Kind::Indic => word(3, 45),
            Kind::Thai => self.length * 38,
            Kind::Hangul => word(2, 120),
            Kind::Kana | Kind::Han => self.length * 75,
            Kind::Wide => self.length * 85,
            Kind::Joiner => self.length * 90,
            Kind::Flag => self.length * 150,
            Kind::Emoji => self.length * 220,
            Kind::Other => self.length * 100,
        }
    }
}

fn marks(letter: char) -> usize {
    match letter {
        '\u{c0}'..='\u{24f}' => 45,
        '\u{1e00}'..='\u{1eff}' => 15,
        _ => 0,
    }
}

fn kind_of(current: char) -> Kind {
    match current {
        ' ' | '\u{a0}' => Kind::Space,
        '\n' | '\r' | '\t' => Kind::LineEnd,
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Kind::Latin,
        '0'..='9' => Kind::Digits,
        _ if current.is_ascii() => Kind::Signs,
        '\u{370}'..='\u{3ff}' => Kind::Greek,
        '\u{400}'..='\u{52f}' => Kind::Cyrillic,
        '\u{590}'..='\u{5ff}' => Kind::Hebrew,
        '\u{600}'..='\u{8ff}' => Kind::Arabic,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Kind::Thai,
        '\u{900}'..='\u{fff}' => Kind::Indic,
        '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' => Kind::Wide,
        '\u{3040}'..='\u{30ff}' => Kind::Kana,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => Kind::Hangul,
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Kind::Han,
        '\u{200d}' | '\u{fe0f}' => Kind::Joiner,
        '\u{1f1e6}'..='\u{1f1ff}' => Kind::Flag,
        _ if u32::from(current) > 0xffff => Kind::Emoji,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_is_within_15_percent_of_the_tokenizer_for_every_kind_of_text() {
        let tokenizer = tiktoken_rs::o200k_base().unwrap();
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let mut kinds: Vec<_> =
            std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
        kinds.sort();
        assert!(kinds.len() >= 15, "{kinds:?}");
        let mut off = Vec::new();
        for kind in kinds {
            let name = kind.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&kind).unwrap();
            let (mut estimated, mut counted) = (0, 0);
            // By line, as the budget is spent.
            for line in text.lines().filter(|line| !line.is_empty()) {
                estimated += tokens(line);
                counted += tokenizer.encode_ordinary(line).len();
            }
            assert!(counted >= 80, "{name} is too short to say anything: {counted} tokens");
            let percent = estimated * 100 / counted;
            if !(85..=115).contains(&percent) {
                off.push(format!("{name}: {estimated} estimated, {counted} counted, {percent} %"));
            }
        }
        assert!(off.is_empty(), "{off:#?}");
    }

    #[test]
    fn long_texts_cost_what_their_parts_cost() {
        let once = tokens("A plain sentence, with a number 12345 in it. ");
        let often = tokens(&"A plain sentence, with a number 12345 in it. ".repeat(100));
        assert!(often <= once * 100 && often >= once * 97, "{once} {often}");
        assert_eq!(tokens(""), 0);
    }
}
