//! The promises of the folder: F-01 to F-06 of docs/security.md.

#![allow(clippy::unwrap_used, reason = "test code outside test functions")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use proptest::prelude::*;

use super::*;

struct Home {
    folder: tempfile::TempDir,
    files: Files,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::below(&Paths::below(folder.path()));
        Self { folder, files }
    }

    fn with_quota(quota: Quota) -> Self {
        let mut home = Self::new();
        home.files.quota = quota;
        home
    }

    /// Everything outside the folder, by path and content; the lock beside it belongs to the folder.
    fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.folder.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.files.root || path == self.files.root.with_extension("lock") {
                    continue;
                }
                match fs::symlink_metadata(&path).unwrap() {
                    kind if kind.is_dir() => open.push(path),
                    kind if kind.is_file() => found.push((path.clone(), fs::read(&path).unwrap())),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }
}

const UPS: &[&str] = &[
    "..",
    ".",
    "...",
    "....",
    "%2e%2e",
    "%2E%2E",
    ".%2e",
    "%252e%252e",
    "%25252e.",
    "..%00",
    "..\0",
    "\u{ff0e}\u{ff0e}",
    "\u{2024}\u{2024}",
    "..;",
    "..%c0%af",
    "%c0%ae%c0%ae",
    "..%u2215",
    "..\u{200b}",
    "\u{202e}..",
    ".. ",
    ". .",
    "..\t",
];

const SEPARATORS: &[&str] = &[
    "/", "//", "\\", "\\\\", "/./", "%2f", "%2F", "%5c", "%252f", "\u{2044}", "\u{2215}", "\u{ff0f}",
    "\u{29f8}", "\u{ff3c}", "/\\", ":",
];

const STARTS: &[&str] = &[
    "/",
    "//",
    "///",
    "\\",
    "\\\\",
    "\\\\?\\",
    "\\\\.\\",
    "//?/",
    "C:",
    "C:/",
    "C:\\",
    "c:x",
    "\\\\server\\share\\",
    "//server/share/",
    "file:///",
    "file:",
    "~",
    "~/",
    "~root/",
    "$HOME/",
    "%USERPROFILE%\\",
    "/proc/self/root/",
    "/dev/fd/3/",
    "/home/../",
];

/// Every way we know to leave a folder by a name: parts, in all places, in all spellings.
fn hostile_names() -> Vec<String> {
    let ends = ["canary", "etc/passwd", ".ssh/authorized_keys", ""];
    let mut names = Vec::new();
    for up in UPS {
        for separator in SEPARATORS {
            for end in ends {
                names.push(format!("{up}{separator}{end}"));
                names.push(format!("a{separator}{up}{separator}{up}{separator}{end}"));
            }
        }
    }
    for start in STARTS {
        for end in ["canary", "../canary", "etc/passwd", "Windows/System32", "x", ""] {
            names.push(format!("{start}{end}"));
            names.push(format!(" {start}{end}"));
            names.push(format!("a/{start}{end}"));
        }
    }
    for device in
        ["CON", "PRN", "AUX", "NUL", "COM1", "COM9", "LPT1", "CONIN$", "com\u{b9}", "LPT\u{b2}", "CLOCK$"]
    {
        for form in ["{}", "{}.txt", "{}.", "{} ", "{} .txt", "{}.tar.gz", "a/{}", "{}/a", "{}:", "./{}"] {
            let name = form.replace("{}", device);
            names.push(name.to_lowercase());
            names.push(name);
        }
    }
    for stream in ["a.txt:secret", "a.txt::$DATA", "a:b:c", "a.txt\u{ff1a}x", "a\u{a789}b"] {
        names.push(stream.to_owned());
    }
    for trailing in ["a.", "a..", "a ", "a. ", " a", "a/b.", "a./b", "a /b", "a/ b"] {
        names.push(trailing.to_owned());
    }
    for code in 0..32_u8 {
        names.push(format!("a{}b", char::from(code)));
        names.push(format!("{}..{}", char::from(code), char::from(code)));
    }
    names.push("x".repeat(4096));
    names.push("x/".repeat(2048));
    names.push("../".repeat(1365));
    names.push("é".repeat(101));
    names
}

#[test]
fn no_name_leads_outside() {
    let home = Home::new();
    fs::write(home.folder.path().join("canary"), "alive").unwrap();
    home.files.save("seed", b"x").unwrap();
    let before = home.outside();
    let names = hostile_names();
    assert!(names.len() >= 2_000, "{}", names.len());
    for name in &names {
        if let Ok(saved) = home.files.save(name, b"gone out") {
            let real = fs::canonicalize(&saved.path).unwrap();
            let root = fs::canonicalize(home.files.root()).unwrap();
            assert!(real.starts_with(root), "{name:?} became {real:?}");
        }
        let read = home.files.read(name, 100);
        assert!(!read.is_ok_and(|text| text == b"alive"), "{name:?} was read");
        let _ = home.files.delete(name);
        let _ = home.files.list(name);
    }
    assert_eq!(home.outside(), before);
}

#[test]
fn hostile_names_are_refused_and_not_repaired() {
    let home = Home::new();
    for name in hostile_names() {
        match home.files.save(&name, b"x") {
            // `~`, `$HOME` and `..;` are nothing but letters here.
            Ok(_) => assert!(
                name.split('/').all(|part| !part.trim().is_empty() && part.chars().any(|c| c != '.'))
                    && !name.contains(['\\', ':', '\0']),
                "{name:?}"
            ),
            Err(error) => assert!(
                matches!(error, FilesError::Name(_) | FilesError::NotAFile { .. }),
                "{name:?}: {error}"
            ),
        }
    }
}

/// Where POSIX would find the name below `/r`, by its own rules; `None`: outside or not there.
fn reference(name: &str) -> Option<Vec<&str>> {
    if name.starts_with('/') || name.contains('\0') {
        return None;
    }
    let mut at = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                at.pop()?;
            }
            part => at.push(part),
        }
    }
    (!at.is_empty()).then_some(at)
}

proptest! {
    #[test]
    fn accepted_names_are_where_the_system_would_put_them(name in "[a-c./\\\\:%20-2eEfF \\x00-\\x02\u{2215}\u{ff0e}]{0,24}") {
        let root = Path::new("/r");
        if let Ok(parsed) = Name::parse(&name, &[root]) {
            let written = parsed.written();
            let parts: Vec<&str> = written.split('/').collect();
            prop_assert_eq!(reference(&name), Some(parts));
        }
    }
}

#[test]
fn link_in_the_way_is_never_followed() {
    let home = Home::new();
    let outside = home.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("canary"), "alive").unwrap();
    home.files.save("seed", b"x").unwrap();
    symlink(&outside, home.files.root().join("door")).unwrap();
    symlink(outside.join("canary"), home.files.root().join("pet")).unwrap();
    symlink("nowhere", home.files.root().join("dangling")).unwrap();
    symlink("seed", home.files.root().join("within")).unwrap();
    for name in ["door/new", "door/canary", "pet", "dangling", "within", "door/deep/er"] {
        assert!(matches!(home.files.save(name, b"x"), Err(FilesError::NotAFile { .. })), "{name}");
        assert!(home.files.read(name, 10).is_err(), "{name}");
    }
    assert!(home.files.list("door").is_err());
    // The link itself may go; what it leads to stays.
    home.files.delete("pet").unwrap();
    home.files.delete("door").unwrap();
    assert_eq!(fs::read_to_string(outside.join("canary")).unwrap(), "alive");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

/// Ends the other thread, also when this one fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// `BROWY_RACES` saves (2,000 by default, 50,000 in `tests/run soak`) while another thread swaps a folder for a
/// link to the outside as fast as it can.
#[test]
fn folder_swapped_for_a_link_during_a_save_leads_nowhere() {
    let saves: usize = std::env::var("BROWY_RACES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let home = Home::new();
    let outside = home.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "alive").unwrap();
    home.files.save("room/file", b"x").unwrap();
    let root = home.files.root().to_owned();
    let over = AtomicBool::new(false);
    let swaps = std::thread::scope(|scope| {
        let racer = scope.spawn(|| {
            let mut swaps = 0_usize;
            symlink(&outside, root.join("door")).unwrap();
            let (room, door) = (root.join("room"), root.join("door"));
            while !over.load(Ordering::Relaxed) {
                // Both are always there, only which is which changes.
                let swap = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(rustix::fs::CWD, &room, rustix::fs::CWD, &door, swap).unwrap();
                swaps += 1;
            }
            swaps
        });
        let _ends_the_race = Over(&over);
        let mut refused = 0;
        let mut saved = 0;
        for number in 0..saves {
            match home.files.save("room/file", format!("{number}").as_bytes()) {
                Ok(_) => saved += 1,
                Err(FilesError::NotAFile { .. }) => refused += 1,
                // What was a link when it was opened may be a folder when it is looked at.
                Err(_) => {}
            }
            assert!(!home.files.read("room/file", 9).is_ok_and(|text| text == b"alive"));
        }
        over.store(true, Ordering::Relaxed);
        assert!(saved > 0 && refused > 0, "{saved} saved, {refused} refused: no race");
        racer.join().unwrap()
    });
    assert!(swaps >= saves.min(1_000), "{swaps} swaps are no race");
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "alive");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "something was written outside");
}

#[test]
fn only_plain_files_are_read_and_written_and_nothing_waits() {
    let home = Home::new();
    home.files.save("folder/a", b"x").unwrap();
    let root = home.files.root();
    rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    for name in ["pipe", "socket", "folder"] {
        assert!(matches!(home.files.save(name, b"x"), Err(FilesError::NotAFile { .. })), "{name}");
        assert!(matches!(home.files.open(name), Err(FilesError::NotAFile { .. })), "{name}");
    }
    assert!(matches!(home.files.open("folder/a/b"), Err(FilesError::NotAFile { .. })));
}

#[test]
fn file_with_a_second_name_is_not_written() {
    let home = Home::new();
    let outside = home.folder.path().join("canary");
    fs::write(&outside, "alive").unwrap();
    home.files.save("seed", b"x").unwrap();
    fs::hard_link(&outside, home.files.root().join("twin")).unwrap();
    assert!(matches!(home.files.save("twin", b"x"), Err(FilesError::Linked(_))));
    assert_eq!(fs::read_to_string(outside).unwrap(), "alive");
}

#[test]
fn folder_of_all_files_cannot_be_deleted() {
    let home = Home::new();
    home.files.save("a/b", b"x").unwrap();
    let root = home.files.root().display().to_string();
    for name in ["", ".", "/", "./", "..", "a/..", "//", &root, &format!("{root}/"), &format!("{root}/.")] {
        assert!(home.files.delete(name).is_err(), "{name:?}");
    }
    assert!(home.files.delete("a").is_err(), "a folder with files in it");
    assert_eq!(home.files.read("a/b", 9).unwrap(), b"x");
    home.files.delete("a/b").unwrap();
    home.files.delete("a").unwrap();
    assert!(matches!(home.files.delete("a"), Err(FilesError::Missing(_))));
}

#[test]
fn quotas_hold() {
    let home = Home::with_quota(Quota { file: 100, all: 250, entries: 6 });
    assert!(matches!(home.files.save("big", &[0; 101]), Err(FilesError::TooLarge(101))));
    home.files.save("a", &[0; 100]).unwrap();
    home.files.save("b", &[0; 100]).unwrap();
    assert!(matches!(home.files.save("c", &[0; 51]), Err(FilesError::Full(_))));
    home.files.save("c", &[0; 50]).unwrap();
    // A file that takes another one's place counts once.
    home.files.save("a", &[1; 100]).unwrap();
    home.files.save("a", &[]).unwrap();
    home.files.save("d/e", b"").unwrap();
    assert!(matches!(home.files.save("x/y", b""), Err(FilesError::Full(_))));
    home.files.save("f", b"").unwrap();
    assert!(matches!(home.files.save("g", b""), Err(FilesError::Full(_))));
    let usual = Home::new().files.quota;
    assert_eq!((usual.file, usual.all, usual.entries), (32 << 20, 512 << 20, 10_000));
}

#[test]
fn list_is_bounded_and_tells_links_without_following_them() {
    let home = Home::new();
    home.files.save("deep/er/file.txt", b"12345").unwrap();
    symlink("..", home.files.root().join("deep/loop")).unwrap();
    symlink("nowhere", home.files.root().join("dangling")).unwrap();
    let listing = home.files.list("").unwrap();
    let told: Vec<_> = listing.entries.iter().map(|e| (e.name.as_str(), e.kind, e.bytes)).collect();
    assert_eq!(
        told,
        [
            ("dangling", EntryKind::Link, 0),
            ("deep", EntryKind::Folder, 0),
            ("deep/er", EntryKind::Folder, 0),
            ("deep/er/file.txt", EntryKind::File, 5),
            ("deep/loop", EntryKind::Link, 0),
        ]
    );
    assert_eq!(home.files.list("deep/er").unwrap().entries[0].name, "deep/er/file.txt");
    for number in 0..MAX_LISTED {
        fs::write(home.files.root().join(format!("n{number}")), "").unwrap();
    }
    let listing = home.files.list("").unwrap();
    assert!(listing.more && listing.entries.len() == MAX_LISTED);
}

#[test]
fn reader_sees_the_old_content_or_the_new_and_nothing_is_left() {
    let home = Home::new();
    let sizes = [10_000, 200_000];
    home.files.save("a", &vec![b'x'; sizes[0]]).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _over = Over(&over);
            for number in 1..200 {
                home.files.save("a", &vec![b'x'; sizes[number % 2]]).unwrap();
            }
        });
        while !over.load(Ordering::Relaxed) {
            let read = home.files.read("a", MAX_FILE).unwrap().len();
            assert!(sizes.contains(&read), "{read} bytes");
        }
    });
    let left: Vec<_> =
        fs::read_dir(home.files.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a"]);
}

#[test]
fn files_and_folders_are_private_and_old_leftovers_go() {
    let home = Home::new();
    let saved = home.files.save("a/b.txt", b"hello").unwrap();
    assert_eq!((saved.bytes, saved.path.clone()), (5, home.files.root().join("a/b.txt")));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&saved.path), 0o600);
    assert_eq!(mode(saved.path.parent().unwrap()), 0o700);
    assert_eq!(mode(home.files.root()), 0o700);
    // What a killed writer left: goes after an hour, and never counts.
    let left = home.files.root().join(".browy-0123");
    fs::write(&left, "half").unwrap();
    home.files.save("c", b"x").unwrap();
    assert!(left.exists());
    let long_ago = SystemTime::now() - ABANDONED - Duration::from_secs(60);
    fs::File::options().write(true).open(&left).unwrap().set_modified(long_ago).unwrap();
    home.files.save("c", b"x").unwrap();
    assert!(!left.exists());
    assert!(home.files.save(".browy-0123", b"x").is_err());
}

#[test]
fn writers_of_other_processes_are_waited_for() {
    let home = Home::new();
    home.files.save("a", b"x").unwrap();
    let other = fs::File::options().write(true).open(home.files.root().with_extension("lock")).unwrap();
    other.lock().unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| home.files.save("a", b"y"));
        other.unlock().unwrap();
        waits.join().unwrap().unwrap();
    });
    assert_eq!(home.files.read("a", 9).unwrap(), b"y");
}

#[test]
fn file_beside_others_replaces_none() {
    let home = tempfile::tempdir().unwrap();
    let files = Files::below(&Paths::below(home.path()));
    let names: Vec<String> = (0..3)
        .map(|turn| {
            let saved = files.save_beside("notes/a.pdf", format!("{turn}").as_bytes()).unwrap();
            saved.path.strip_prefix(files.root()).unwrap().to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["notes/a.pdf", "notes/a (2).pdf", "notes/a (3).pdf"]);
    assert_eq!(files.read("notes/a.pdf", 9).unwrap(), b"0");
    assert!(matches!(files.save_beside("../a.pdf", b""), Err(FilesError::Name(_))));
}

#[test]
fn words_of_a_page_become_a_plain_name() {
    for (words, name) in [
        ("Rechnung 7 – März", "Rechnung 7 März"),
        ("../../etc/passwd", "etc passwd"),
        ("\u{202e}fdp\u{0}", "fdp"),
        ("...", "page"),
        ("con", "page"),
    ] {
        assert_eq!(plain_name(words, "page"), name, "{words:?}");
    }
    assert!(plain_name(&"語".repeat(300), "page").len() <= 180);
}
