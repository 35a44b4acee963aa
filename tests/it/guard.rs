//! The guard: nothing that the CLI started outlives the host.

#![cfg(target_os = "linux")]

use std::io::{PipeWriter, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal};

/// A guard with a shell script in the CLI's place.
struct Guarded {
    guard: Child,
    lifeline: Option<PipeWriter>,
    /// In the environment of everything that belongs to this test.
    mark: String,
}

impl Guarded {
    fn start(script: &str) -> Self {
        Self::program("sh", &["-c", script])
    }

    fn program(program: &str, args: &[&str]) -> Self {
        let mark = format!("BROWY_TEST_RUN={}", uuid::Uuid::new_v4());
        let (watched, held) = std::io::pipe().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_browy"));
        let (name, value) = mark.split_once('=').unwrap();
        command
            .arg("__guard")
            .arg(program)
            .args(args)
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.fd_mappings(vec![FdMapping { parent_fd: watched.into(), child_fd: 3 }]).unwrap();
        Self { guard: command.spawn().unwrap(), lifeline: Some(held), mark }
    }

    /// Reads the script's output up to this line.
    fn reads(&mut self, line: &str) {
        let wanted = format!("{line}\n");
        let stdout = self.guard.stdout.as_mut().unwrap();
        let (mut seen, mut byte) = (String::new(), [0]);
        while !seen.ends_with(&wanted) {
            assert_eq!(stdout.read(&mut byte).unwrap(), 1, "the script ended early: {seen}");
            seen.push(char::from(byte[0]));
        }
    }

    /// Every living process with the mark, apart from the guard.
    fn marked(&self) -> Vec<i32> {
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| u32::try_from(*pid) != Ok(self.guard.id()))
            .filter(|pid| {
                // A zombie has no environment.
                let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environ.split(|byte| *byte == 0).any(|var| var == self.mark.as_bytes())
            })
            .collect()
    }

    /// Like [`marked`](Self::marked), once there are so many: one that is just becoming another program has no
    /// environment for a moment.
    fn at_least(&self, count: usize) -> Vec<i32> {
        let give_up = Instant::now() + Duration::from_secs(20);
        loop {
            let marked = self.marked();
            if marked.len() >= count {
                return marked;
            }
            assert!(Instant::now() < give_up, "{marked:?} and no more");
            std::thread::yield_now();
        }
    }

    fn wait(&mut self) -> std::process::ExitStatus {
        let give_up = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.guard.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < give_up, "the guard does not end; left: {:?}", self.marked());
            std::thread::yield_now();
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.lifeline.take();
        for pid in self.marked() {
            let _ = Pid::from_raw(pid).map(|pid| rustix::process::kill_process(pid, Signal::KILL));
        }
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

/// Children in the group, children that left it, orphans, and one that ignores SIGTERM.
const TREE: &str = r#"
    sleep 1000 &
    setsid sleep 1000 &
    (setsid sh -c 'sleep 1000 & sleep 1000' &)
    setsid sh -c 'trap "" TERM; sleep 1000; sleep 1000' &
    (exec setsid sh -c 'kill -STOP $$; sleep 1000') &
    echo ready
    sleep 1000
"#;

#[test]
fn everything_ends_when_the_host_does() {
    let mut guarded = Guarded::start(TREE);
    guarded.reads("ready");
    guarded.at_least(5);
    drop(guarded.lifeline.take());
    guarded.wait();
    assert_eq!(guarded.marked(), [0; 0]);
}

#[test]
fn everything_ends_when_the_cli_does_and_its_exit_code_is_passed_on() {
    let mut guarded = Guarded::start(&TREE.replace("    sleep 1000\n", "    exit 7\n"));
    guarded.reads("ready");
    assert_eq!(guarded.wait().code(), Some(7));
    assert_eq!(guarded.marked(), [0; 0]);
    let mut guarded = Guarded::start("kill -KILL $$");
    assert_eq!(guarded.wait().code(), Some(128 + 9));
}

#[test]
fn cli_dies_with_a_killed_guard() {
    let mut guarded = Guarded::start("echo ready; exec sleep 1000");
    guarded.reads("ready");
    assert_eq!(guarded.at_least(1).len(), 1);
    guarded.guard.kill().unwrap();
    guarded.guard.wait().unwrap();
    let give_up = Instant::now() + Duration::from_secs(20);
    while !guarded.marked().is_empty() {
        assert!(Instant::now() < give_up);
        std::thread::yield_now();
    }
}

/// A process's open files: number and target.
fn open_files(pid: &str) -> Vec<(i32, String)> {
    let mut files: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let target = std::fs::read_link(entry.path()).ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, target.display().to_string()))
        })
        .collect();
    files.sort_unstable();
    files
}

#[test]
fn cli_has_its_pipes_and_nothing_else_of_the_host() {
    let mut guarded = Guarded::start("echo ready; exec sleep 1000");
    guarded.reads("ready");
    let pid = guarded.at_least(1)[0].to_string();
    let own = open_files("self");
    // A program that begins has its languages open for a moment.
    let give_up = Instant::now() + Duration::from_secs(20);
    let mut files = open_files(&pid);
    while files.iter().any(|(_, target)| target.starts_with("/usr/")) && Instant::now() < give_up {
        std::thread::yield_now();
        files = open_files(&pid);
    }
    let mut kinds = Vec::new();
    for (number, target) in &files {
        if *number <= 3 {
            kinds.push(target.split(':').next().unwrap());
            let standard = own.iter().any(|(own, name)| *own <= 2 && name == target);
            assert!(target == "/dev/null" || !standard, "{files:?}");
        } else {
            // What whoever started the tests left open for every child is none of the guard's doing.
            assert!(own.contains(&(*number, target.clone())), "{files:?}");
        }
    }
    assert_eq!(kinds, ["pipe", "pipe", "pipe", "/dev/null"], "{files:?}");
}

#[test]
fn end_of_the_cli_shows_at_its_pipes_while_the_guard_still_works() {
    // The one that ignores SIGTERM keeps the guard busy for a while, and holds no pipe.
    let mut guarded = Guarded::start(r#"setsid sh -c 'trap "" TERM; sleep 1000' <&- >&- 2>&- & exit 0"#);
    let mut text = String::new();
    guarded.guard.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(guarded.wait().code(), Some(0));
    assert_eq!(guarded.marked(), [0; 0]);
}

#[test]
fn program_that_is_not_there_is_reported() {
    let mut guarded = Guarded::program("/nonexistent/copilot", &["--server"]);
    let mut text = String::new();
    guarded.guard.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(guarded.wait().code(), Some(127));
    assert!(text.contains("/nonexistent/copilot"), "{text}");
}

#[test]
fn guard_has_less_than_two_mebibytes_of_its_own() {
    let mut guarded = Guarded::start("echo ready; exec sleep 1000");
    guarded.reads("ready");
    let status = std::fs::read_to_string(format!("/proc/{}/status", guarded.guard.id())).unwrap();
    // The program's own pages are the host's too and cost nothing twice; what counts is what is its alone.
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap().trim();
    let kib: u64 = own.split(' ').next().unwrap().parse().unwrap();
    assert!(kib < 2 * 1024, "{kib} KiB");
}
