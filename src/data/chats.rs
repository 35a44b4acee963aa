//! `~/.browy/data/chats.json`: what Browy knows of its chats beside the transcripts, which the CLI keeps.
//!
//! Listing needs no CLI, a title that the person gave stays, reading a chat does not change its date, and a turn
//! that was cut off is known even when the host was killed in the middle of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shared_file::{Opened, SharedFile, SharedFileError};
use crate::paths::Paths;

/// Longest title, in characters.
pub const MAX_TITLE: usize = 100;

/// Chats that are never cleaned up: the newest.
const KEPT: usize = 100;

/// Chats of the last 30 days are never cleaned up; milliseconds.
const KEPT_FOR: u64 = 30 * 24 * 60 * 60 * 1000;

/// A chat that the CLI does not list is forgotten only after this long, in milliseconds: the CLI writes late.
const SETTLED: u64 = 60 * 1000;

/// One chat. Times in milliseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChatRecord {
    /// The first words, or what the person called it.
    pub title: Option<String>,
    /// The person called it so.
    #[serde(skip_serializing_if = "is_false")]
    pub renamed: bool,
    /// When it began.
    pub started: u64,
    /// When the last turn began or ended.
    pub modified: u64,
    /// This host or another one made it; without that it is never cleaned up.
    #[serde(skip_serializing_if = "is_false")]
    pub ours: bool,
    /// The process in which a turn runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    /// When that process was started, as the system counts: numbers of processes are given away again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_since: Option<u64>,
    /// The last turn was cut off.
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
    /// What its turns cost together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What other versions wrote beside it.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl ChatRecord {
    /// Whether the last turn did not come to an end, as far as anybody alive knows.
    pub fn cut_off(&self) -> bool {
        self.interrupted || (self.running.is_some() && !self.is_running())
    }

    /// Whether the process in which its turn runs is there.
    fn is_running(&self) -> bool {
        self.running.is_some_and(|process| lives(process, self.running_since))
    }
}

/// What turns cost, as the CLI reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Tokens read.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Premium requests or money, in the CLI's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<f64>,
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        if let Some(requests) = other.requests {
            self.requests = Some(self.requests.unwrap_or_default() + requests);
        }
    }
}

/// What the CLI says of one of Browy's chats. Times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// When it began.
    pub started: u64,
    /// When the CLI last wrote to it.
    pub modified: u64,
}

/// All records by chat id.
pub type Records = BTreeMap<String, ChatRecord>;

/// The index. Calls block as [`Notes`](super::notes::Notes) do.
#[derive(Debug, Clone)]
pub struct Chats {
    file: SharedFile<Records>,
}

impl Chats {
    /// The index of this home.
    pub fn below(paths: &Paths) -> Self {
        Self { file: SharedFile::at(paths.data().join("chats.json")) }
    }

    /// Every record.
    ///
    /// # Errors
    /// [`SharedFileError`].
    pub fn all(&self) -> Result<Records, SharedFileError> {
        self.file.read().map(said_aside)
    }

    /// A turn of this chat begins in this process. Answers whether the one before it was cut off.
    ///
    /// # Errors
    /// [`SharedFileError`].
    pub fn turn_begins(&self, id: &str, words: &str, now: u64) -> Result<bool, SharedFileError> {
        let update = self.file.update(|chats| {
            let chat = chats.entry(id.to_owned()).or_insert_with(|| ChatRecord {
                started: now,
                ours: true,
                ..ChatRecord::default()
            });
            let cut_off = chat.cut_off();
            chat.title.get_or_insert_with(|| title(words));
            chat.modified = now;
            chat.running = Some(std::process::id());
            chat.running_since = started(std::process::id());
            chat.interrupted = false;
            (cut_off, true)
        });
        update.map(said_aside)
    }

    /// The turn that runs in this process is over.
    ///
    /// # Errors
    /// [`SharedFileError`].
    pub fn turn_ends(
        &self,
        id: &str,
        interrupted: bool,
        cost: Option<&Cost>,
        now: u64,
    ) -> Result<(), SharedFileError> {
        let update = self.file.update(|chats| {
            // A chat that was deleted meanwhile stays deleted.
            let Some(chat) = chats.get_mut(id) else { return ((), false) };
            (chat.running, chat.running_since) = (None, None);
            chat.interrupted = interrupted;
            if let Some(cost) = cost {
                chat.cost.get_or_insert_default().add(cost);
            }
            chat.modified = now;
            ((), true)
        });
        update.map(said_aside)
    }

    /// Gives a chat a title for good. `false`: there is no such chat.
    ///
    /// # Errors
    /// [`SharedFileError`].
    pub fn rename(&self, id: &str, words: &str) -> Result<bool, SharedFileError> {
        let update = self.file.update(|chats| {
            let Some(chat) = chats.get_mut(id) else { return (false, false) };
            chat.title = Some(title(words));
            chat.renamed = true;
            (true, true)
        });
        update.map(said_aside)
    }

    /// Forgets a chat. `false`: it was not known.
    ///
    /// # Errors
    /// [`SharedFileError`].
    pub fn forget(&self, id: &str) -> Result<bool, SharedFileError> {
        let update = self.file.update(|chats| {
            let was_there = chats.remove(id).is_some();
            (was_there, was_there)
        });
        update.map(said_aside)
    }

    /// Takes in what the CLI lists: chats it has are added, chats it no longer has are forgotten. Answers with
    /// all records then, also when they could not be written.
    ///
    /// # Errors
    /// [`SharedFileError`]: the index cannot even be read.
    pub fn reconcile(&self, listed: &[Listed], now: u64) -> Result<Records, SharedFileError> {
        let update = self.file.update(|chats| {
            let changed = reconcile(chats, listed, now);
            (chats.clone(), changed)
        });
        update.map(said_aside).or_else(|error| {
            tracing::warn!(%error, "the list of chats could not be brought up to date");
            let mut chats = self.all()?;
            reconcile(&mut chats, listed, now);
            Ok(chats)
        })
    }
}

/// A damaged index is no loss that a person must hear of: titles and dates come back from the CLI.
fn said_aside<T>(opened: Opened<T>) -> T {
    if let Some(aside) = &opened.aside {
        tracing::warn!(aside = %aside.display(), "the list of chats was damaged and is made anew");
    }
    opened.value
}

fn reconcile(chats: &mut Records, listed: &[Listed], now: u64) -> bool {
    let before = chats.len();
    chats.retain(|id, chat| {
        let is_new = now.saturating_sub(chat.modified) < SETTLED;
        // One that was cut off before the CLI wrote anything down is still a chat that the person began.
        is_new || chat.is_running() || chat.cut_off() || listed.iter().any(|listed| listed.id == *id)
    });
    let mut changed = chats.len() != before;
    for listed in listed {
        let known = chats.contains_key(&listed.id);
        let chat = chats.entry(listed.id.clone()).or_insert_with(|| ChatRecord {
            started: listed.started,
            modified: listed.modified,
            ..ChatRecord::default()
        });
        let titled = chat.title.is_none() && listed.title.is_some();
        if titled {
            chat.title = listed.title.as_deref().map(title);
        }
        changed |= !known || titled;
    }
    changed
}

/// Chats to clean up: made by Browy, beyond the newest 100, and untouched for 30 days. Their transcripts must
/// still be checked to be Browy's.
pub fn outdated(chats: &Records, now: u64) -> Vec<String> {
    let mut newest: Vec<_> = chats.iter().collect();
    newest.sort_by_key(|(id, chat)| (std::cmp::Reverse(chat.modified), *id));
    newest
        .into_iter()
        .skip(KEPT)
        .filter(|(_, chat)| {
            chat.ours && chat.running.is_none() && now.saturating_sub(chat.modified) > KEPT_FOR
        })
        .map(|(id, _)| id.clone())
        .collect()
}

/// One line of words, cut between characters as people see them.
fn title(words: &str) -> String {
    use unicode_segmentation::UnicodeSegmentation;
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.graphemes(true).count() <= MAX_TITLE {
        return line;
    }
    let mut cut: String = line.graphemes(true).take(MAX_TITLE - 1).collect();
    cut.push('…');
    cut
}

/// Whether the process of this number that was started then runs. Where that cannot be asked, none but this one does.
fn lives(process: u32, since: Option<u64>) -> bool {
    if let (Some(since), Some(now)) = (since, started(process))
        && since != now
    {
        return false;
    }
    if process == std::process::id() {
        return true;
    }
    #[cfg(unix)]
    {
        i32::try_from(process)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
    }
    #[cfg(not(unix))]
    false
}

/// When a process was started, in the system's ticks since it started itself; `None` where that is not told.
fn started(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program may hold anything; after its bracket the 20th field is the 22nd of all.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 60 * 60 * 1000;

    fn chats() -> (tempfile::TempDir, Chats) {
        let home = tempfile::tempdir().unwrap();
        let chats = Chats::below(&Paths::below(home.path()));
        (home, chats)
    }

    fn listed(id: &str, modified: u64) -> Listed {
        Listed { id: id.to_owned(), title: Some(format!("words of {id}")), started: 1, modified }
    }

    #[test]
    fn turn_leaves_title_and_dates() {
        let (_home, chats) = chats();
        assert!(!chats.turn_begins("sp-1", "Find\n the  paper", 10).unwrap());
        chats.turn_ends("sp-1", false, None, 20).unwrap();
        assert!(!chats.turn_begins("sp-1", "and more", 30).unwrap());
        let cost = Cost { input: 10, output: 2, requests: Some(0.5) };
        for _ in 0..2 {
            chats.turn_ends("sp-1", false, Some(&cost), 30).unwrap();
        }
        let chat = &chats.all().unwrap()["sp-1"];
        assert_eq!(chat.cost, Some(Cost { input: 20, output: 4, requests: Some(1.0) }));
        assert_eq!((chat.title.as_deref(), chat.started, chat.modified), (Some("Find the paper"), 10, 30));
        assert!(!chat.cut_off());
        chats.turn_begins("sp-1", "and more", 40).unwrap();
        assert!(!chats.all().unwrap()["sp-1"].cut_off(), "this process still runs it");
    }

    #[test]
    fn turn_that_was_cut_off_is_told_once() {
        let (home, chats) = chats();
        chats.turn_begins("sp-1", "x", 1).unwrap();
        chats.turn_ends("sp-1", true, None, 2).unwrap();
        assert!(chats.all().unwrap()["sp-1"].cut_off());
        assert!(chats.turn_begins("sp-1", "x", 3).unwrap());
        chats.turn_ends("sp-1", false, None, 4).unwrap();
        assert!(!chats.turn_begins("sp-1", "x", 5).unwrap());
        // The process that ran it is no more.
        let path = home.path().join(".browy/data/chats.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let dead = text.replace(&std::process::id().to_string(), &u32::MAX.to_string());
        assert_ne!(dead, text);
        std::fs::write(&path, dead).unwrap();
        assert!(chats.all().unwrap()["sp-1"].cut_off());
        assert!(chats.turn_begins("sp-1", "x", 6).unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn process_with_the_number_of_a_dead_one_is_not_taken_for_it() {
        let (home, chats) = chats();
        chats.turn_begins("sp-1", "x", 1).unwrap();
        assert!(!chats.all().unwrap()["sp-1"].cut_off());
        let path = home.path().join(".browy/data/chats.json");
        let mut records: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        // In a container every host may have the same number.
        for process in [std::process::id(), 1] {
            records["sp-1"]["running"] = process.into();
            records["sp-1"]["runningSince"] = 1.into();
            std::fs::write(&path, records.to_string()).unwrap();
            assert!(chats.all().unwrap()["sp-1"].cut_off(), "{process}");
        }
    }

    #[test]
    fn names_stay_and_deleted_chats_stay_deleted() {
        let (_home, chats) = chats();
        assert!(!chats.rename("sp-1", "Nothing").unwrap());
        chats.turn_begins("sp-1", "words", 1).unwrap();
        assert!(chats.rename("sp-1", &"é".repeat(200)).unwrap());
        chats.turn_begins("sp-1", "others", 2).unwrap();
        chats.reconcile(&[listed("sp-1", 9)], 2).unwrap();
        let name = chats.all().unwrap()["sp-1"].title.clone().unwrap();
        assert!(name.chars().count() == MAX_TITLE && name.ends_with('…'), "{name}");
        assert!(chats.forget("sp-1").unwrap());
        chats.turn_ends("sp-1", false, None, 3).unwrap();
        assert!(chats.all().unwrap().is_empty());
    }

    #[test]
    fn what_the_cli_lists_is_taken_in_and_its_dates_do_not_replace_ours() {
        let (_home, chats) = chats();
        let now = 10 * DAY;
        chats.turn_begins("sp-mine", "mine", DAY).unwrap();
        chats.turn_ends("sp-mine", false, None, DAY).unwrap();
        chats.turn_begins("sp-gone", "gone", DAY).unwrap();
        chats.turn_ends("sp-gone", false, None, DAY).unwrap();
        chats.turn_begins("sp-cut", "cut off", DAY).unwrap();
        chats.turn_ends("sp-cut", true, None, DAY).unwrap();
        chats.turn_begins("sp-fresh", "fresh", now - 1).unwrap();
        let records = chats.reconcile(&[listed("sp-mine", 9 * DAY), listed("sp-old", 2 * DAY)], now).unwrap();
        let ids: Vec<_> = records.keys().map(String::as_str).collect();
        assert_eq!(ids, ["sp-cut", "sp-fresh", "sp-mine", "sp-old"]);
        assert_eq!(records["sp-mine"].modified, DAY);
        assert_eq!(records["sp-old"].modified, 2 * DAY);
        assert!(!records["sp-old"].ours);
        assert_eq!(chats.all().unwrap(), records);
    }

    #[test]
    fn only_old_chats_of_our_own_beyond_the_newest_are_outdated() {
        let now = 1_000 * DAY;
        let record =
            |age: u64, ours: bool| ChatRecord { modified: now - age * DAY, ours, ..ChatRecord::default() };
        let mut chats: Records = (0..KEPT).map(|n| (format!("new-{n:03}"), record(1, true))).collect();
        assert!(outdated(&chats, now).is_empty());
        chats.insert("old".to_owned(), record(31, true));
        chats.insert("foreign".to_owned(), record(90, false));
        chats.insert("young".to_owned(), record(30, true));
        let running = ChatRecord { running: Some(std::process::id()), ..record(40, true) };
        chats.insert("running".to_owned(), running);
        assert_eq!(outdated(&chats, now), ["old"]);
        // Among the newest 100 nothing is old enough.
        let few: Records = [("old".to_owned(), record(400, true))].into();
        assert!(outdated(&few, now).is_empty());
    }
}
