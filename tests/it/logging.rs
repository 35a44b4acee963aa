//! The log: what it holds, what it must not hold, and two writers of one file.

use std::io::Write;
use std::path::Path;

use base64::Engine;
use browy::logging::{MASKED, RotatingFile, mask, non_blocking, subscriber};

/// What is in a log file after `act` logged at `levels`.
fn logged(levels: &str, act: impl FnOnce()) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/host.log");
    let (writer, worker) = non_blocking(RotatingFile::new(&path, 1 << 20));
    tracing::subscriber::with_default(subscriber(writer, levels), act);
    drop(worker);
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn event_is_one_line_with_time_level_process_module_and_fields() {
    let text = logged("", || tracing::info!(tab = 7, title = "a \"b\"\nc", "page\u{1b}[2J\r\nloaded"));
    assert_eq!(text.lines().count(), 1, "{text}");
    let pattern = format!(
        r#"^\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z INFO  {} it::logging: page\\u\{{1b\}}\[2J\\r\\nloaded tab=7 title="a \\"b\\"\\nc"\n$"#,
        std::process::id()
    );
    assert!(regex::Regex::new(&pattern).unwrap().is_match(&text), "{text}");
}

#[test]
fn level_is_info_unless_it_is_asked_for() {
    let act = || {
        tracing::debug!("fine");
        tracing::info!("normal");
        tracing::warn!("bad");
    };
    assert!(!logged("", act).contains("fine") && logged("", act).contains("normal"));
    assert!(logged("debug", act).contains("fine"));
    assert!(!logged("warn", act).contains("normal") && logged("warn", act).contains("bad"));
    assert_eq!(logged("off", act), "");
    assert!(logged("browy::runner=trace", act).contains("normal"));
    assert!(logged("no such level!!", act).contains("normal"));
}

#[test]
fn secrets_in_fields_and_messages_are_masked() {
    let text = logged("", || {
        tracing::info!(
            authorization = "Negotiate x",
            api_key = 12345,
            url = "https://h.example/?access_token=CANARY-1&x=1",
            headers = ?[("Cookie", "sid=CANARY-2")],
            "Authorization: Bearer CANARY-3"
        );
    });
    for canary in ["Negotiate", "12345", "CANARY-1", "CANARY-3"] {
        assert!(!text.contains(canary), "{text}");
    }
    assert!(text.contains("&x=1"), "{text}");
}

#[test]
fn long_values_are_cut() {
    let page = "The quick brown fox. ".repeat(500);
    let text = logged("", || tracing::info!(page, "read"));
    assert!(text.len() < 500, "{}", text.len());
    assert!(text.contains("…(+"), "{text}");
}

/// Tokens in the forms of the services that people use.
fn tokens() -> Vec<String> {
    let letters = "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG5hJ7kL9nP3rS1tV";
    let part = |seed: usize, length: usize| -> String {
        letters.chars().cycle().skip(seed * 7 % letters.len()).take(length).collect()
    };
    let upper = |seed, length| part(seed, length).to_uppercase();
    (0..10)
        .flat_map(|n| {
            vec![
                format!("ghp_{}", part(n, 36)),
                format!("gho_{}", part(n, 36)),
                format!("ghs_{}", part(n, 36)),
                format!("ghu_{}", part(n, 36)),
                format!("github_pat_{}_{}", part(n, 22), part(n + 1, 59)),
                format!("glpat-{}", part(n, 20)),
                format!("sk-{}", part(n, 48)),
                format!("sk-proj-{}", part(n, 48)),
                format!("sk-ant-api03-{}", part(n, 80)),
                format!("sk_live_{}", part(n, 24)),
                format!("rk_test_{}", part(n, 24)),
                format!("whsec_{}", part(n, 32)),
                format!("AKIA{}", upper(n, 16)),
                format!("ASIA{}", upper(n, 16)),
                format!("AIza{}", part(n, 35)),
                format!("ya29.{}", part(n, 60)),
                format!("xoxb-{}-{}", n + 1_000_000, part(n, 24)),
                format!("npm_{}", part(n, 36)),
                format!("hf_{}", part(n, 34)),
                format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{}.{}", part(n, 20), part(n + 2, 43)),
            ]
        })
        .collect()
}

fn carriers(token: &str) -> Vec<String> {
    let header = format!("Authorization: Bearer {token}");
    vec![
        format!("GET / HTTP/1.1\r\n{header}\r\nAccept: */*"),
        format!("https://api.example/v1/items?page=2&access_token={token}&sort=up#top"),
        format!(r#"{{"user":"ana","value":"{token}","n":1}}"#),
        format!("name=ana&field={token}&go=1"),
        format!("[console] got {token}, going on"),
        format!("request failed: 401 for {token}: try again"),
        base64::engine::general_purpose::STANDARD.encode(&header),
        format!("first line\n{token}\nlast line"),
        format!("{:?}", format!("first line\n{token}\nlast line")),
    ]
}

#[test]
fn known_tokens_are_masked_in_every_carrier() {
    let tokens = tokens();
    assert_eq!(tokens.len(), 200);
    for token in &tokens {
        for carrier in carriers(token) {
            let masked = mask(&carrier);
            let core = &token[token.len() - 12..];
            assert!(!masked.contains(core), "{carrier} -> {masked}");
            assert!(masked.contains(MASKED), "{carrier} -> {masked}");
        }
    }
}

#[test]
fn values_of_secret_names_are_masked_whatever_their_form() {
    for name in [
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
        "Set-Cookie",
        "X-Api-Key",
        "x-auth-token",
        "password",
        "passwd",
        "client_secret",
        "refresh_token",
        "id_token",
        "sessionId",
        "X-CSRF-Token",
        "private_key",
    ] {
        for carrier in [
            format!("{name}: correct-horse"),
            format!("{name}=correct-horse"),
            format!("?a=1&{name}=correct-horse"),
            format!(r#"{{"{name}":"correct-horse"}}"#),
            format!(r#"{{"{name}": "correct-horse battery"}}"#),
            format!("{:?}", format!(r#"{{"{name}":"correct-horse battery"}}"#)),
        ] {
            let masked = mask(&carrier);
            assert!(!masked.contains("correct") && !masked.contains("battery"), "{carrier} -> {masked}");
        }
    }
}

#[test]
fn ordinary_lines_are_left_alone() {
    let lines = [
        "clicked [N] button “Submit for approval”",
        "cdp.send Page.navigate to https://shop.example/items?page=N&sort=price&q=red+shoes",
        "turn N of sp-k3j9x2ab ended after N ms, inputTokens=N outputTokens=N",
        "tool fill_form: 26 of N fields, class=no_such_option",
        "CLI 1.0.102 started as process N, runtime /home/ana/.cache/copilot/pkg/linux-x64/1.0.102",
        "frame of N bytes dropped: unknown message type `chat.N`",
        "hello from extension 0.1.N, capabilities queue,ask,tabs.close,cdp.targets",
        "tab N: title \"Basic authentication required\", status 401",
        "select_index: options Alabama, Alaska, key N",
        "exit code=N after SIGTERM",
        "the session sp-N waits for the other chat, position=N",
        "risk-based pricing in sk-learn, version N.N",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12PN",
        "id=3f2504e0-4f89-11d3-9a0c-0305e82cN",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00aN",
        "element <input name=\"author\" autocomplete=\"family-name\"> index N",
        "http://127.0.0.1:N/s01.html#section-N",
        "mail to ana@paper.example, cc bo@paper.example, N recipients",
        "Secretary's passport and tokenizer: N pages",
        "bearer of bad news, basic troubleshooting N",
    ];
    let mut wrong = Vec::new();
    for n in 0..250 {
        for line in lines {
            let line = line.replace('N', &n.to_string());
            let masked = mask(&line).into_owned();
            if masked != line {
                wrong.push(masked);
            }
        }
    }
    assert!(wrong.is_empty(), "{} of 5000, first {:?}", wrong.len(), wrong.first());
}

/// Five megabytes, as the host's log has.
const LIMIT: u64 = 5_000_000;

/// What two hosts write in ten seconds at 20,000 lines a second.
const LINES: usize = 200_000;

fn write_lines(path: &Path, writer: usize, count: usize) {
    let mut log = RotatingFile::new(path, LIMIT);
    for line in 0..count {
        writeln!(log, "writer {writer} line {line:06} {} end", "x".repeat(60)).unwrap();
        if line % 7 == 0 {
            log.flush().unwrap();
        }
    }
}

#[test]
fn two_writers_share_one_file_and_tear_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.log");
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let path = &path;
            scope.spawn(move || write_lines(path, writer, LINES));
        }
    });
    let old = folder.path().join("host.log.1");
    let whole = regex::Regex::new(r"^writer [01] line \d{6} x{60} end$").unwrap();
    let mut newest = [0, 0];
    for file in [&old, &path] {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.len() as u64 <= LIMIT, "{} bytes", text.len());
        assert!(text.ends_with('\n'));
        for line in text.lines() {
            assert!(whole.is_match(line), "{line}");
            let (writer, number): (usize, usize) =
                (line[7..8].parse().unwrap(), line[14..20].parse().unwrap());
            assert!(number >= newest[writer], "{line} after {}", newest[writer]);
            newest[writer] = number;
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    assert!(newest.contains(&(LINES - 1)), "the last line is lost: {newest:?}");
}

#[test]
fn log_keeps_its_limit_at_run_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.log");
    let mut log = RotatingFile::new(&path, 10_000);
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).map_or(0, |found| found.len());
    for n in 0..5_000 {
        writeln!(log, "line {n}").unwrap();
        log.flush().unwrap();
        assert!(size("host.log") <= 10_000 && size("host.log.1") <= 10_000);
    }
    assert!(size("host.log.1") > 9_000);
}

#[test]
fn file_removed_while_running_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.log");
    let mut log = RotatingFile::new(&path, 10_000);
    writeln!(log, "one").unwrap();
    log.flush().unwrap();
    std::fs::remove_file(&path).unwrap();
    writeln!(log, "two").unwrap();
    log.flush().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
}

#[test]
fn log_that_cannot_be_written_stops_quietly() {
    let folder = tempfile::tempdir().unwrap();
    // A file in the folder's place fails for root as well.
    std::fs::write(folder.path().join("taken"), "").unwrap();
    let mut log = RotatingFile::new(folder.path().join("taken/host.log"), 10_000);
    for n in 0..10_000 {
        writeln!(log, "line {n}").unwrap();
    }
    log.flush().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_stops_the_log_and_not_its_writer() {
    let mut log = RotatingFile::new("/dev/full", u64::MAX);
    for _ in 0..3 {
        writeln!(log, "line").unwrap();
        log.flush().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn log_is_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/host.log");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let write = || {
        let mut log = RotatingFile::new(&path, 10_000);
        writeln!(log, "line").unwrap();
    };
    write();
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    write();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn lines_dropped_while_another_process_holds_the_log_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.log");
    std::fs::write(&path, "").unwrap();
    let holder = std::fs::File::open(&path).unwrap();
    holder.lock().unwrap();
    let mut log = RotatingFile::new(&path, 10_000);
    write!(log, "one\ntwo\n").unwrap();
    log.flush().unwrap();
    holder.unlock().unwrap();
    writeln!(log, "three").unwrap();
    log.flush().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("2 lines of process ") && text.ends_with("locked\nthree\n"), "{text}");
}

const PANICKING_HOME: &str = "BROWY_TEST_PANICKING_HOME";

/// What is logged when `test` panics. The hook belongs to the whole process, so the panic happens in one of its own:
/// the test, started again.
fn logged_panic(test: &str, panics: impl FnOnce()) -> Option<String> {
    if let Some(home) = std::env::var_os(PANICKING_HOME) {
        let _log = browy::logging::start(&browy::paths::Paths::below(home));
        panics();
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("logging::{test}")])
        .env(PANICKING_HOME, home.path())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = std::fs::read_to_string(browy::paths::Paths::below(home.path()).log()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("ERROR") && text.contains("tests/it/logging.rs:"), "{text}");
    Some(text)
}

#[test]
fn panic_is_logged_with_its_place() {
    let panics = || panic!("boom, password=CANARY\nnext");
    let Some(text) = logged_panic("panic_is_logged_with_its_place", panics) else { return };
    assert!(text.contains(r"panic: boom, password=[masked]\nnext"), "{text}");
}

#[test]
fn panic_is_logged_without_the_text_that_it_is_about() {
    let panics = || {
        let page = String::from("h\u{e9}llo, text of a page");
        assert!(page[..2].is_empty());
    };
    let Some(text) = logged_panic("panic_is_logged_without_the_text_that_it_is_about", panics) else {
        return;
    };
    assert!(text.contains("char boundary") && !text.contains("text of a page"), "{text}");
}
