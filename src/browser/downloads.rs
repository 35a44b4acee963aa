//! Downloads: what one act started, and which files the session's acts brought to this machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cap_fs_ext::MetadataExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::extension_context::BrowserEvent;
use crate::protocol::{CdpEvent, DownloadEvent, TabId};

/// How long the browser may take to say where a download goes. It may be asking the person.
const PATH: Duration = Duration::from_secs(2);

/// How long a download is waited for.
const COMPLETE: Duration = Duration::from_secs(4);

/// Downloads of one tab that are looked at.
const MOST: usize = 20;

/// Files of one session that are remembered.
const REMEMBERED: usize = 1_000;

/// One download that an act started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Download {
    /// The browser's id; `None`: only DevTools told of it so far.
    pub id: Option<i64>,
    /// The name of the file, harmless to show.
    pub name: String,
    /// Where it is; absent while the browser did not say.
    pub path: Option<String>,
    /// `in_progress`, `complete` or `interrupted`.
    pub state: String,
    /// Bytes so far.
    pub bytes: Option<i64>,
    /// Why it was interrupted.
    pub error: Option<String>,
    /// What the browser holds against it.
    pub danger: Option<String>,
    guid: Option<String>,
    /// Its end was told to somebody who waited for it.
    told: bool,
}

impl Download {
    /// The words of results.
    pub fn words(&self) -> Value {
        let mut words = json!({ "name": self.name, "state": self.state });
        for (name, value) in [("path", &self.path), ("error", &self.error), ("danger", &self.danger)] {
            if let Some(value) = value {
                words[name] = json!(value);
            }
        }
        if let Some(bytes) = self.bytes.filter(|_| self.state == "complete") {
            words["bytes"] = json!(bytes);
        }
        words
    }

    /// What to do about one that is not complete.
    pub(super) fn hint(&self) -> String {
        match (self.state.as_str(), &self.danger, &self.path) {
            ("interrupted", ..) => "The download did not come to its end; `error` tells why.".to_owned(),
            (_, Some(_), _) => {
                "The browser holds the file back until the person says in the list of downloads \
                                that it may stay."
                    .to_owned()
            }
            (_, None, None) => {
                "A download began; the browser may be asking the person where it shall go.".to_owned()
            }
            _ => "The download is still under way.".to_owned(),
        }
    }

    /// Nothing more comes of it.
    pub(super) fn has_ended(&self) -> bool {
        self.state != "in_progress"
    }

    fn is_over(&self) -> bool {
        self.state != "in_progress" && (self.path.is_some() || self.state == "interrupted")
    }
}

/// Puts downloads into the words of a result: the first, and all when there are several.
pub(super) fn tell(downloads: &[Download], put: &mut impl FnMut(&str, Value)) {
    let Some(first) = downloads.first() else { return };
    put("download", first.words());
    if downloads.len() > 1 {
        put("downloads", json!(downloads.iter().map(Download::words).collect::<Vec<_>>()));
    }
}

/// The downloads of one act, put together from what DevTools and the extension tell.
#[derive(Debug, Default)]
pub(super) struct Downloads {
    list: Vec<Download>,
    began: Option<Instant>,
}

impl Downloads {
    /// Takes note of an event; `true`: it tells of a download of this tab.
    pub(super) fn note(&mut self, event: &BrowserEvent, tab: TabId) -> bool {
        let noted = match event {
            BrowserEvent::Cdp(event) if event.tab_id == Some(tab) => self.note_cdp(event),
            BrowserEvent::Download(event) if event.tab_id == Some(tab) => {
                self.note_told(event);
                true
            }
            _ => false,
        };
        if noted {
            self.began.get_or_insert_with(Instant::now);
        }
        noted
    }

    fn note_cdp(&mut self, event: &CdpEvent) -> bool {
        let text = |name: &str| event.params.get(name).and_then(Value::as_str);
        let guid = text("guid").map(str::to_owned);
        match event.method.as_str() {
            "Page.downloadWillBegin" => {
                // The extension may have been faster.
                if self.of_guid(guid.as_deref()).is_none() {
                    self.list.push(Download {
                        name: shown_name(text("suggestedFilename").unwrap_or_default()),
                        state: "in_progress".to_owned(),
                        guid,
                        ..Download::default()
                    });
                }
                true
            }
            "Page.downloadProgress" => {
                let state = match text("state") {
                    Some("completed") => "complete",
                    Some("canceled") => "interrupted",
                    _ => return false,
                };
                match self.of_guid(guid.as_deref()) {
                    Some(download) => {
                        state.clone_into(&mut download.state);
                        true
                    }
                    None => false,
                }
            }
            _ => false,
        }
    }

    fn note_told(&mut self, event: &DownloadEvent) {
        let known = self.list.iter().position(|download| {
            download.id == Some(event.download_id)
                || (download.id.is_none() && download.guid.is_some() && download.guid == event.guid)
        });
        let at = known.unwrap_or_else(|| {
            self.list.push(Download::default());
            self.list.len() - 1
        });
        let Some(download) = self.list.get_mut(at) else { return };
        download.id = Some(event.download_id);
        download.guid = event.guid.clone().or(download.guid.take());
        event.state.clone_into(&mut download.state);
        download.bytes = event.bytes;
        download.error = event.error.as_deref().map(|error| super::text::clean(error, 80));
        download.danger = event.danger.as_deref().map(|danger| super::text::clean(danger, 80));
        if let Some(path) = &event.filename {
            download.name = shown_name(path);
            download.path = Some(path.clone());
        }
    }

    fn of_guid(&mut self, guid: Option<&str>) -> Option<&mut Download> {
        guid?;
        self.list.iter_mut().find(|download| download.guid.as_deref() == guid)
    }

    /// Whether a download began.
    pub(super) fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Whether there is more to wait for: where the files go, and that they are there.
    pub(super) fn are_under_way(&self) -> bool {
        let Some(began) = self.began else { return false };
        let waits = |download: &Download| {
            let limit = if download.path.is_some() { COMPLETE } else { PATH };
            !download.is_over() && began.elapsed() < limit
        };
        self.list.iter().any(waits)
    }

    /// The oldest that nobody was told the end of. One that has ended counts as told then.
    pub(super) fn next_untold(&mut self) -> Option<Download> {
        // A tab may live long.
        let over = self.list.len().saturating_sub(MOST);
        self.list.drain(..over);
        let next = self.list.iter_mut().find(|download| !download.told)?;
        next.told = next.has_ended();
        Some(next.clone())
    }

    /// All of them.
    pub(super) fn into_list(self) -> Vec<Download> {
        self.list
    }

    /// What is told of the first one.
    pub(super) fn first(&self) -> Option<Value> {
        self.list.first().map(Download::words)
    }

    /// The browser's ids of all of them.
    pub(super) fn ids(&self) -> Vec<i64> {
        self.list.iter().filter_map(|download| download.id).collect()
    }
}

/// The last part of a path, without what hides or turns text around.
fn shown_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    super::text::clean(name, 200)
}

/// Ends of names that some system runs on a double click.
const RUNS: &[&str] = &[
    "app", "appimage", "apk", "bat", "bin", "cmd", "com", "command", "cpl", "deb", "desktop", "dmg", "exe",
    "hta", "jar", "js", "jse", "lnk", "msi", "msp", "pif", "pkg", "ps1", "py", "reg", "rpm", "run", "scf",
    "scr", "sh", "url", "vb", "vbe", "vbs", "webloc", "wsf", "wsh", "xll",
];

/// A name that the model gave, as one for the download folder: no folder, nothing hidden, and nothing that a double
/// click would run. `None`: it is no name.
pub fn safe_download_name(name: &str) -> Option<String> {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '%' | '~' | '$')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2024}' | '\u{2028}'..='\u{202e}' | '\u{2044}' | '\u{2060}'..='\u{206f}'
                | '\u{2215}' | '\u{feff}' | '\u{ff0e}' | '\u{ff0f}' | '\u{ff3c}')
    };
    if name.len() > 200 || name.chars().any(odd) || name.starts_with(['.', ' ']) || name.ends_with(['.', ' '])
    {
        return None;
    }
    let end = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
    let runs = end.is_some_and(|end| RUNS.contains(&end.as_str()));
    Some(if runs { format!("{name}.download") } else { name.to_owned() })
}

/// Which file it is, whatever its name: the same for as long as nobody changes or replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl FileId {
    /// Of an open file.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(file: &std::fs::File) -> std::io::Result<Self> {
        let found = cap_std::fs::Metadata::from_file(file)?;
        Ok(Self {
            device: MetadataExt::dev(&found),
            inode: MetadataExt::ino(&found),
            bytes: found.len(),
            changed: found.modified().ok().map(cap_std::time::SystemTime::into_std),
        })
    }

    /// Of the regular file at a path; `None`: there is none, or it cannot be opened.
    pub fn at(path: &Path) -> Option<Self> {
        // Opening a pipe would wait for its other end.
        if !std::fs::symlink_metadata(path).ok()?.is_file() {
            return None;
        }
        Self::of(&std::fs::File::open(path).ok()?).ok()
    }
}

/// What is remembered of a download.
#[derive(Debug, Clone, Default)]
struct Remembered {
    path: PathBuf,
    file: Option<FileId>,
    /// An act of this session started it.
    ours: bool,
}

/// The files that a session's acts downloaded.
#[derive(Debug)]
pub(super) struct Downloaded {
    files: watch::Sender<HashMap<i64, Remembered>>,
}

impl Default for Downloaded {
    fn default() -> Self {
        Self { files: watch::Sender::new(HashMap::new()) }
    }
}

impl Downloaded {
    /// Keeps up with what happens: a file is known by what it is at the moment it is complete.
    pub(super) fn note(&self, event: &BrowserEvent) {
        let BrowserEvent::Download(event) = event else { return };
        let (true, Some(path)) = (event.state == "complete", &event.filename) else { return };
        let path = PathBuf::from(path);
        let file = FileId::at(&path);
        self.files.send_modify(|files| {
            if files.len() >= REMEMBERED
                && let Some(oldest) = files.keys().min().copied()
            {
                files.remove(&oldest);
            }
            let remembered = files.entry(event.download_id).or_default();
            (remembered.path, remembered.file) = (path, file);
        });
    }

    /// These were started by an act.
    pub(super) fn claim(&self, ids: &[i64]) {
        self.files.send_modify(|files| {
            for id in ids {
                files.entry(*id).or_default().ours = true;
            }
        });
    }

    /// Whether it is a file that an act downloaded.
    pub(super) fn holds(&self, file: &FileId) -> bool {
        self.files.borrow().values().any(|known| known.ours && known.file.as_ref() == Some(file))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::SessionId;

    fn cdp(tab: i64, method: &str, params: Value) -> BrowserEvent {
        BrowserEvent::Cdp(Arc::new(CdpEvent {
            session_id: SessionId::from("sp-1"),
            tab_id: Some(TabId(tab)),
            cdp_session_id: None,
            method: method.to_owned(),
            params,
        }))
    }

    fn told(value: Value) -> BrowserEvent {
        BrowserEvent::Download(Arc::new(serde_json::from_value(value).unwrap()))
    }

    fn begins(guid: &str, name: &str) -> BrowserEvent {
        cdp(
            1,
            "Page.downloadWillBegin",
            json!({ "guid": guid, "suggestedFilename": name, "url": "http://a/" }),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn both_halves_become_one_download() {
        let mut downloads = Downloads::default();
        assert!(!downloads.are_under_way());
        assert!(downloads.note(&begins("g1", "figures.csv"), TabId(1)));
        assert!(downloads.are_under_way());
        let half = json!({ "downloadId": 7, "tabId": 1, "guid": "g1", "state": "in_progress",
            "filename": "/d/figures (1).csv" });
        assert!(downloads.note(&told(half), TabId(1)));
        assert!(downloads.are_under_way());
        let whole = json!({ "downloadId": 7, "tabId": 1, "guid": "g1", "state": "complete", "bytes": 6,
            "filename": "/d/figures (1).csv" });
        assert!(downloads.note(&told(whole), TabId(1)));
        assert!(!downloads.are_under_way());
        assert_eq!(
            downloads.into_list().iter().map(Download::words).collect::<Vec<_>>(),
            [
                json!({ "name": "figures (1).csv", "path": "/d/figures (1).csv", "state": "complete", "bytes": 6 })
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn downloads_of_other_tabs_are_none_of_ours() {
        let mut downloads = Downloads::default();
        let other = json!({ "downloadId": 7, "tabId": 2, "state": "complete", "filename": "/d/mine.csv" });
        let nobodys = json!({ "downloadId": 8, "state": "complete", "filename": "/d/mine.csv" });
        for event in [told(other), told(nobodys), cdp(2, "Page.downloadWillBegin", json!({ "guid": "g" }))] {
            assert!(!downloads.note(&event, TabId(1)));
        }
        assert!(!downloads.any());
    }

    #[tokio::test(start_paused = true)]
    async fn download_without_a_path_is_not_waited_for_long() {
        let mut downloads = Downloads::default();
        downloads.note(&begins("g1", "a.bin"), TabId(1));
        tokio::time::advance(PATH).await;
        assert!(!downloads.are_under_way());
        assert_eq!(downloads.first(), Some(json!({ "name": "a.bin", "state": "in_progress" })));
    }

    #[test]
    fn names_from_the_model_stay_in_the_download_folder_and_run_nothing() {
        assert_eq!(safe_download_name("figures März (1).csv").as_deref(), Some("figures März (1).csv"));
        assert_eq!(safe_download_name("tool.EXE").as_deref(), Some("tool.EXE.download"));
        assert_eq!(safe_download_name("x.desktop").as_deref(), Some("x.desktop.download"));
        for name in [
            "../a",
            "/etc/a",
            "a/b",
            "..",
            ".bashrc",
            "a\\b",
            "C:a",
            "a\u{202e}b",
            "a\n",
            "%2e%2e",
            "a.exe ",
            "a.exe.",
        ] {
            assert_eq!(safe_download_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn hostile_names_are_shown_without_their_tricks() {
        assert_eq!(shown_name("/home/me/Downloads/a.csv"), "a.csv");
        assert_eq!(shown_name("..\\..\\tidy.sh"), "tidy.sh");
        let shown = shown_name("bill\u{202e}fdp.sh\u{0}\n");
        assert!(!shown.contains(['\u{202e}', '\u{0}', '\n']), "{shown:?}");
    }

    #[test]
    fn file_is_known_by_what_it_is_and_not_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.csv");
        std::fs::write(&path, "jan 10").unwrap();
        let downloaded = Downloaded::default();
        let id = FileId::at(&path).unwrap();
        downloaded.claim(&[7]);
        assert!(!downloaded.holds(&id));
        downloaded.note(&told(json!({ "downloadId": 7, "tabId": 1, "state": "complete", "filename": path })));
        assert!(downloaded.holds(&id));
        // Another file under the same name.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(folder.path().join("other"), "").unwrap();
        std::fs::write(&path, "secret key").unwrap();
        assert!(!downloaded.holds(&FileId::at(&path).unwrap()));
    }

    #[test]
    fn the_persons_own_download_gives_nothing_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.csv");
        std::fs::write(&path, "x").unwrap();
        let downloaded = Downloaded::default();
        downloaded.note(&told(json!({ "downloadId": 9, "tabId": 1, "state": "complete", "filename": path })));
        assert!(!downloaded.holds(&FileId::at(&path).unwrap()));
    }
}
