//! What a home holds through many kills, and how a turn is played until one comes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::beside::Beside;
use crate::support::dice::Dice;
use crate::support::fake_cli::{FakeCli, LIMIT, Turn};

/// Chats that live at a time, so that most have a past.
const CHATS: u64 = 4;

/// A chat is left for a new one after so many turns.
const TURNS_OF_A_CHAT: u64 = 40;

/// Keys of notes: each is written again and again.
const KEYS: u64 = 60;

/// What the model must be told after a turn that was cut off.
pub const UNKNOWN: &str = "the outcome of its last action is unknown";

/// One home, kept across all kills.
pub struct Story {
    pub home: Arc<TempDir>,
    pub dice: Dice,
    /// The chat whose last turn was cut off, and whose next one must be told.
    pub torn: Option<String>,
    number: u64,
    /// Chats whose turn was told to have begun.
    chats: BTreeSet<String>,
    notes: BTreeMap<String, Note>,
}

#[derive(Default)]
struct Note {
    /// The value whose writing was acknowledged.
    sure: Option<String>,
    /// One that was being written when the kill came.
    perhaps: Option<String>,
}

/// One prompt and the note that its turn writes.
#[derive(Clone)]
pub struct Plan {
    pub chat: String,
    pub turn: String,
    /// What the person writes; no other prompt of the story says it.
    pub words: String,
    key: String,
    value: String,
}

impl Story {
    pub fn begin(dice: Dice) -> Self {
        Self {
            home: Arc::new(tempfile::tempdir().unwrap()),
            dice,
            torn: None,
            number: 0,
            chats: BTreeSet::new(),
            notes: BTreeMap::new(),
        }
    }

    /// The next turn; of the chat that was cut off, if there is one.
    pub fn next_turn(&mut self) -> Plan {
        let chat = self.torn.clone().unwrap_or_else(|| {
            format!("sp-{}-{}", self.number / (CHATS * TURNS_OF_A_CHAT), self.dice.next(CHATS))
        });
        self.number += 1;
        Plan {
            chat,
            turn: format!("t-{}", self.number),
            words: format!("Work number {};", self.number),
            key: format!("key {}", self.dice.next(KEYS)),
            value: format!("value {}", self.number),
        }
    }

    /// A turn in which nothing is killed: it must work, find what was acknowledged, and be told of a turn cut off.
    pub async fn whole_turn(&mut self, browser: &mut Beside, cli: &FakeCli) -> Result<(), String> {
        let listed = browser.lists(&format!("before {}", self.number)).await?;
        for chat in &self.chats {
            if !listed.iter().any(|row| row["id"] == *chat) {
                return Err(format!("{chat} is not listed any more: {listed:?}"));
            }
        }
        if let Some(torn) = &self.torn
            && !listed.iter().any(|row| row["id"] == *torn && row["interrupted"] == true)
        {
            return Err(format!("{torn} is not shown as interrupted: {listed:?}"));
        }
        self.check_notes()?;
        let plan = self.next_turn();
        browser.starts(&plan.chat);
        browser.prompts(&plan.chat, &plan.turn, &plan.words);
        let played = async {
            let turn = cli.prompt(&plan.words).await?;
            if self.torn.is_some() && !turn.text.contains(UNKNOWN) {
                return Err(format!("the model is not told of the turn that was cut off: {}", turn.text));
            }
            if let Some((key, value)) =
                self.notes.iter().find_map(|(key, note)| Some((key, note.sure.clone()?)))
            {
                let read = turn.call("note_get", json!({ "key": key }), LIMIT).await?;
                if !read.text.contains(&format!("\"{value}\"")) {
                    return Err(format!("{key} is not {value:?} but {}", read.text));
                }
            }
            let set = turn.call("note_set", json!({ "key": plan.key, "value": plan.value }), LIMIT).await?;
            if set.kind != "success" {
                return Err(format!("the note was refused: {}", set.text));
            }
            turn.end("done");
            Ok(())
        };
        // A turn that fails says why better than the wait for its prompt.
        let ended = async {
            let ending = browser.ending(&plan.turn).await?;
            if ending["type"] == "chat.done" {
                Ok(())
            } else {
                Err(format!("the next turn failed: {ending}"))
            }
        };
        tokio::try_join!(played, ended)?;
        self.torn = None;
        self.chats.insert(plan.chat.clone());
        let note = self.notes.entry(plan.key).or_default();
        (note.sure, note.perhaps) = (Some(plan.value), None);
        self.check_notes()
    }

    /// Plays the model's part of a turn that will be cut off somewhere.
    pub async fn doomed_turn(plan: &Plan, cli: &FakeCli) -> Result<(), String> {
        let turn = cli.prompt(&plan.words).await?;
        turn.start_call("inspect_page", json!({}));
        let note = turn.start_call("note_set", json!({ "key": plan.key, "value": plan.value }));
        for piece in 0..20 {
            turn.delta("m", &format!("piece {piece} "));
        }
        turn.answer_of(&note, LIMIT).await?;
        Self::last_words(&turn);
        Ok(())
    }

    fn last_words(turn: &Turn) {
        turn.start_call("list_tabs", json!({}));
        turn.message("m", "That is all.");
        turn.end("");
    }

    /// After a kill: what was acknowledged of the turn must be there from now on.
    pub fn cut(&mut self, plan: Plan, browser: &Beside, cli: &FakeCli) {
        let is_note = |event: &Value| {
            event["event"] == "toolResult"
                && event["resultType"] == "success"
                && event["text"].as_str().is_some_and(|text| text.contains(&format!("\"{}\"", plan.key)))
        };
        let note = self.notes.entry(plan.key.clone()).or_default();
        let is_prompt = |event: &Value| {
            event["event"] == "prompt"
                && event["text"].as_str().is_some_and(|text| text.contains(&plan.words))
        };
        let events = cli.events();
        let since = events.iter().position(is_prompt).unwrap_or(events.len());
        if events[since..].iter().any(is_note) {
            (note.sure, note.perhaps) = (Some(plan.value), None);
        } else {
            note.perhaps = Some(plan.value);
        }
        if browser.has_begun(&plan.turn) {
            self.chats.insert(plan.chat.clone());
            if !browser.has_ended(&plan.turn) {
                self.torn = Some(plan.chat);
            }
        }
    }

    /// Nothing torn, nothing put aside as damaged, and every note as it was acknowledged.
    fn check_notes(&mut self) -> Result<(), String> {
        let folder = self.home.path().join(".browy/data");
        let Ok(files) = std::fs::read_dir(&folder) else {
            return if self.chats.is_empty() { Ok(()) } else { Err("the data are gone".to_owned()) };
        };
        for file in files {
            let path = file.map_err(|error| error.to_string())?.path();
            if path.to_string_lossy().contains("corrupt") {
                return Err(format!("{} was put aside", path.display()));
            }
        }
        let written: BTreeMap<String, Value> = match std::fs::read(folder.join("notes.json")) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| format!("notes.json: {error}"))?,
            Err(_) => BTreeMap::new(),
        };
        for (key, note) in &mut self.notes {
            let found = written.get(key).and_then(|note| note["value"].as_str()).map(str::to_owned);
            if found != note.sure && (note.perhaps.is_none() || found != note.perhaps) {
                return Err(format!("{key} is {found:?} instead of {:?} or {:?}", note.sure, note.perhaps));
            }
            (note.sure, note.perhaps) = (found, None);
        }
        Ok(())
    }

    /// Files that a save left half-written. The next save clears them away.
    pub fn leftovers(&self) -> Vec<String> {
        let Ok(files) = std::fs::read_dir(self.home.path().join(".browy/data")) else { return Vec::new() };
        let names = files.flatten().map(|file| file.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.contains("new-")).collect()
    }

    /// A random moment within this time.
    pub fn moment(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.dice.next(u64::try_from(most.as_micros()).unwrap()))
    }
}
