//! Notes and chats where saving is hard: a full disk, a home that cannot be written, several hosts at once.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::support::fake_cli::{FakeCli, LIMIT};
use crate::support::host::Host;

/// A user who owns nothing and may nothing.
const NOBODY: u32 = 65_534;

/// A host, its chat `sp-1` open.
async fn talking(mut host: Host) -> Host {
    host.hello().await;
    host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": [] })).await;
    host
}

/// A turn of the chat `sp-1`, see [`turn_of`].
async fn turn(host: &mut Host, words: &str, calls: &[(&str, Value)]) -> (Vec<String>, Vec<Value>) {
    turn_of(host, "sp-1", words, calls).await
}

/// A turn that calls one tool after the other. Gives their answers, and everything the panel was told.
async fn turn_of(
    host: &mut Host,
    chat: &str,
    words: &str,
    calls: &[(&str, Value)],
) -> (Vec<String>, Vec<Value>) {
    let prompt = json!({ "type": "chat.send", "sessionId": chat, "turnId": words, "text": words });
    host.send(prompt).await;
    let cli = host.cli.clone();
    let model = async {
        let turn = cli.prompt(words).await.unwrap();
        let mut answers = Vec::new();
        for (tool, args) in calls {
            answers.push(turn.call(tool, args.clone(), LIMIT).await.unwrap().text);
        }
        turn.end("done");
        answers
    };
    let panel = async {
        let mut told = Vec::new();
        loop {
            let message = host.recv().await.expect("a living host");
            if message["callId"].is_string() && message["type"] != "chat.tool_call" {
                let reply = json!({
                    "type": "tool.result", "sessionId": chat, "callId": message["callId"], "ok": false,
                    "error": "no browser here",
                });
                host.send(reply).await;
            }
            told.push(message.clone());
            if message["type"] == "chat.done" {
                return told;
            }
            assert_ne!(message["type"], "chat.error", "{message}");
        }
    };
    tokio::join!(model, panel)
}

async fn closes(mut host: Host) {
    host.close();
    assert_eq!(host.exit(LIMIT).await, Some(0));
}

fn data(home: &TempDir) -> PathBuf {
    home.path().join(".browy/data")
}

/// Every file of the data folder and what is in it, but the locks.
fn kept(home: &TempDir) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(data(home)).unwrap().map(|file| file.unwrap());
    let mut kept: Vec<_> = files
        .map(|file| (file.file_name().into_string().unwrap(), file.path()))
        .filter(|(name, path)| path.is_file() && !name.ends_with(".lock"))
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect();
    kept.sort();
    kept
}

fn set(key: &str, value: &str) -> (&'static str, Value) {
    ("note_set", json!({ "key": key, "value": value }))
}

fn get(key: &str) -> (&'static str, Value) {
    ("note_get", json!({ "key": key }))
}

/// What the panel was told beside the answer.
fn notices(told: &[Value]) -> Vec<&str> {
    told.iter()
        .filter(|message| message["event"] == "status.notice")
        .filter_map(|message| message["text"].as_str())
        .collect()
}

/// A host that cannot save tells model and person so, and what was there stays to the last byte.
async fn nothing_is_saved_and_nothing_lost(mut host: Host, home: &TempDir, reason: &str) {
    let before = kept(home);
    let (answers, told) =
        turn(&mut host, "try", &[set("new", "x"), get("old"), ("note_delete", json!({ "key": "old" }))])
            .await;
    for refused in [&answers[0], &answers[2]] {
        for part in ["\"success\":false", "notes.json", reason, "stay as they were"] {
            assert!(refused.contains(part), "{part:?} is not in {refused}");
        }
    }
    assert!(answers[1].contains("\"kept\""), "{}", answers[1]);
    let notices = notices(&told);
    assert!(
        matches!(notices[..], [one] if one.contains("chats.json") && one.contains(reason)),
        "{notices:?}"
    );

    host.send(json!({ "type": "chat.rename", "id": "sp-1", "title": "Another" })).await;
    let renamed = host.wait_for("chat.rename.result").await;
    assert_eq!(renamed["ok"], false);
    assert!(renamed["error"].as_str().is_some_and(|error| error.contains(reason)), "{renamed}");
    host.send(json!({ "type": "chat.list", "requestId": "list" })).await;
    let listed = host.wait_for("chat.list.result").await;
    let titles: Vec<_> = listed["chats"].as_array().unwrap().iter().map(|chat| &chat["summary"]).collect();
    assert!(titles.contains(&&json!("My own title")), "{titles:?}");
    closes(host).await;
    assert_eq!(kept(home), before);
}

/// One note and one chat with a title of the person's.
async fn with_a_past(host: Host) {
    let mut host = talking(host).await;
    let (answers, told) = turn(&mut host, "begin", &[set("old", "kept")]).await;
    assert!(answers[0].contains("\"success\":true"), "{answers:?}");
    assert_eq!(notices(&told), [""; 0]);
    host.send(json!({ "type": "chat.rename", "id": "sp-1", "title": "My own title" })).await;
    assert_eq!(host.wait_for("chat.rename.result").await["ok"], true);
    closes(host).await;
}

#[tokio::test]
async fn full_disk_is_told_and_loses_nothing() {
    // No file may grow beyond 32 to 64 KiB: what the system says then is told as a full disk is.
    const SMALL: &str = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
    let home = Arc::new(tempfile::tempdir().unwrap());
    with_a_past(Host::start_in(home.clone(), FakeCli::listen().await)).await;
    for (name, filler) in [
        ("notes.json", json!({ "value": "x".repeat(70_000) })),
        ("chats.json", json!({ "title": "x".repeat(70_000), "interrupted": true })),
    ] {
        let path = data(&home).join(name);
        let mut content: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        content["sp-filler"] = filler;
        fs::write(&path, serde_json::to_vec_pretty(&content).unwrap()).unwrap();
    }
    let cli = FakeCli::listen().await;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SMALL, env!("CARGO_BIN_EXE_browy")]);
    let host = talking(Host::start_by(command, &cli.environment(), home.clone(), cli)).await;
    nothing_is_saved_and_nothing_lost(host, &home, "File too large").await;
    // With room again everything goes on.
    let mut host = talking(Host::start_in(home.clone(), FakeCli::listen().await)).await;
    let (answers, told) = turn(&mut host, "again", &[set("new", "x"), get("old")]).await;
    assert!(answers[0].contains("\"success\":true") && answers[1].contains("\"kept\""), "{answers:?}");
    assert_eq!(notices(&told), [""; 0]);
    closes(host).await;
}

/// Programs and a home of somebody who has no right beyond them: permissions do not hold for root.
struct Nobody {
    programs: TempDir,
    home: Arc<TempDir>,
    is_root: bool,
}

impl Nobody {
    fn new() -> Self {
        let programs = tempfile::tempdir().unwrap();
        let is_root = rustix::process::geteuid().is_root();
        fs::set_permissions(programs.path(), Permissions::from_mode(0o755)).unwrap();
        for program in [env!("CARGO_BIN_EXE_browy"), env!("CARGO_BIN_EXE_fake-copilot")] {
            fs::copy(program, programs.path().join(Path::new(program).file_name().unwrap())).unwrap();
        }
        let home = Arc::new(tempfile::tempdir().unwrap());
        if is_root {
            chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        Self { programs, home, is_root }
    }

    async fn host(&self) -> Host {
        let cli = FakeCli::listen().await;
        let mut variables = cli.environment();
        variables.push(("COPILOT_CLI_PATH".into(), Some(self.programs.path().join("fake-copilot").into())));
        let mut command = Command::new(self.programs.path().join("browy"));
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Host::start_by(command, &variables, self.home.clone(), cli)
    }

    /// Whether the home can be written.
    fn may_write(&self, may: bool) {
        let mut folders = vec![self.home.path().to_owned()];
        while let Some(folder) = folders.pop() {
            let (of_folder, of_file) = if may { (0o700, 0o600) } else { (0o500, 0o400) };
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    fs::set_permissions(entry.path(), Permissions::from_mode(of_file)).unwrap();
                }
            }
            fs::set_permissions(&folder, Permissions::from_mode(of_folder)).unwrap();
        }
    }
}

#[tokio::test]
async fn home_that_cannot_be_written_is_told_and_loses_nothing() {
    let nobody = Nobody::new();
    with_a_past(nobody.host().await).await;
    nobody.may_write(false);
    let host = talking(nobody.host().await).await;
    nothing_is_saved_and_nothing_lost(host, &nobody.home, "Permission denied").await;
    nobody.may_write(true);
    let mut host = talking(nobody.host().await).await;
    let (answers, _) = turn(&mut host, "again", &[set("new", "x"), get("old")]).await;
    assert!(answers[0].contains("\"success\":true") && answers[1].contains("\"kept\""), "{answers:?}");
    closes(host).await;
}

/// Two browsers, each with its host: neither takes the other's place, and both save into one home.
#[tokio::test]
async fn two_hosts_work_at_once_and_all_notes_and_chats_are_there() {
    const NOTES: usize = 20;
    let home = Arc::new(tempfile::tempdir().unwrap());
    let mut hosts = Vec::new();
    for _ in 0..2 {
        hosts.push(Host::start_in(home.clone(), FakeCli::listen().await));
    }
    let [one, two] = hosts.try_into().ok().unwrap();
    let work = |mut host: Host, own: &'static str| async move {
        host.hello().await;
        let chat = format!("sp-{own}");
        host.send(json!({ "type": "session.start", "sessionId": chat, "capabilities": [] })).await;
        let calls: Vec<_> = (0..NOTES).map(|number| set(&format!("{own} {number}"), own)).collect();
        let (answers, _) = turn_of(&mut host, &chat, own, &calls).await;
        assert!(answers.iter().all(|answer| answer.contains("\"success\":true")), "{answers:?}");
        host
    };
    let (one, two) = tokio::join!(work(one, "first"), work(two, "second"));
    assert_ne!(one.pid(), two.pid());
    closes(one).await;
    closes(two).await;
    let notes: Value = serde_json::from_slice(&fs::read(data(&home).join("notes.json")).unwrap()).unwrap();
    for own in ["first", "second"] {
        for number in 0..NOTES {
            assert_eq!(notes[format!("{own} {number}")]["value"], own, "{own} {number}");
        }
    }
    let chats: Value = serde_json::from_slice(&fs::read(data(&home).join("chats.json")).unwrap()).unwrap();
    assert!(chats["sp-first"].is_object() && chats["sp-second"].is_object(), "{chats}");
}

/// A home with a name that shells, JSON and UTF-8 have their troubles with.
#[tokio::test]
async fn home_of_any_name_works() {
    use std::os::unix::ffi::OsStringExt;
    for name in [
        b"a b \"c\" 'd' $e `f` %g \\h".to_vec(),
        b"line\nbreak".to_vec(),
        b"no \xff utf-8".to_vec(),
        "größe 価格".into(),
    ] {
        let home = Arc::new(tempfile::tempdir().unwrap());
        let odd = home.path().join(std::ffi::OsString::from_vec(name));
        fs::create_dir(&odd).unwrap();
        for _ in 0..2 {
            let cli = FakeCli::listen().await;
            let mut variables = cli.environment();
            variables.push(("HOME".into(), Some(odd.clone().into())));
            let host =
                Host::start_by(Command::new(env!("CARGO_BIN_EXE_browy")), &variables, home.clone(), cli);
            let mut host = talking(host).await;
            let (answers, told) = turn(&mut host, "work", &[set("key", "value"), get("key")]).await;
            assert!(answers[1].contains("\"value\":\"value\""), "{odd:?}: {answers:?}");
            assert_eq!(notices(&told), [""; 0], "{odd:?}");
            host.send(json!({ "type": "chat.list", "requestId": "list" })).await;
            let listed = host.wait_for("chat.list.result").await;
            assert_eq!(listed["chats"][0]["id"], "sp-1", "{odd:?}");
            closes(host).await;
        }
        assert!(odd.join(".browy/data/notes.json").exists(), "{odd:?}");
        assert!(!home.path().join(".browy").exists());
    }
}
