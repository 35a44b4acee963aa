//! Native-messaging hosts as processes: ours, a Node one that echoes, a Rust one that forwards. Their start,
//! and what ours takes when nothing happens.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use browy::chromium::EXTENSION_ID;
use browy::transport::frame::encode;

use crate::pairs::Pairs;
use crate::table::{Row, Table, ratio};

pub const HELLO: &[u8] = br#"{"type":"hello","client":"extension","protocol":1}"#;

/// Argument that makes this program the forwarding host.
pub const FORWARD: &str = "--forwarding-host";

/// Starts of each host.
const STARTS: usize = 50;

/// A host over pipes, as a browser starts it.
pub struct Native {
    child: Child,
    pub to: Option<ChildStdin>,
    from: ChildStdout,
    /// Removed after the process has ended.
    _home: Option<tempfile::TempDir>,
}

impl Native {
    pub fn start(mut command: Command, home: Option<tempfile::TempDir>) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, to, from, _home: home }
    }

    /// Our host in a home of its own, with the fake CLI.
    pub fn browy() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = browy();
        command.env("HOME", home.path()).env("COPILOT_CLI_PATH", env!("CARGO_BIN_EXE_fake-copilot"));
        for secret in ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_HOME"] {
            command.env_remove(secret);
        }
        Self::start(command, Some(home))
    }

    /// The least that a host in Node can be.
    pub fn node_echo() -> Self {
        let mut command = Command::new("node");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/echo_host.mjs"));
        Self::start(command, None)
    }

    /// The least that a host in Rust can be: this program again, in [`forward`].
    pub fn forwarding() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(FORWARD);
        Self::start(command, None)
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub fn recv(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.from.read_exact(&mut header).unwrap();
        let mut body = vec![0; u32::from_le_bytes(header) as usize];
        self.from.read_exact(&mut body).unwrap();
        body
    }

    /// Reads up to and with the message that begins so.
    pub fn until(&mut self, beginning: &str) {
        while !self.recv().starts_with(beginning.as_bytes()) {}
    }

    /// Reads up to and with the answer to a `hello`.
    pub fn ack(&mut self) {
        self.until(r#"{"type":"hello.ack""#);
    }

    pub fn hello(&mut self) {
        self.send(&encode(HELLO).unwrap());
        self.ack();
    }

    /// From a frame sent to a frame that comes back.
    pub fn exchange(&mut self, frame: &[u8]) -> Duration {
        let start = Instant::now();
        self.send(frame);
        self.recv();
        start.elapsed()
    }

    /// A line of `/proc/PID/status`, in KiB.
    pub fn memory(&self, line: &str) -> u64 {
        crate::support::host::memory_of(self.child.id(), line).unwrap()
    }

    /// Processor time so far.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // Linux counts these in hundredths of a second.
        Duration::from_millis(ticks * 10)
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.wait();
    }
}

/// Our program as the browser of our extension calls it.
pub fn browy() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_browy"));
    command.arg(format!("chrome-extension://{EXTENSION_ID}/"));
    command
}

/// Writes every frame that it reads.
pub fn forward() -> ExitCode {
    let (mut from, mut to) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut frame = vec![0; 4];
    loop {
        frame.truncate(4);
        if from.read_exact(&mut frame).is_err() {
            return ExitCode::SUCCESS;
        }
        let length = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
        frame.resize(4 + length, 0);
        if from.read_exact(&mut frame[4..]).is_err() || to.write_all(&frame).and(to.flush()).is_err() {
            return ExitCode::FAILURE;
        }
    }
}

pub fn mebibytes(kib: u64) -> String {
    format!("{}.{} MiB", kib / 1024, kib % 1024 * 10 / 1024)
}

/// From the start of the process to its first answer. An idle host of ours and of Node's live meanwhile.
pub fn start_up_and_idle(table: &mut Table) {
    let (mut idle, mut idle_echo) = (Native::browy(), Native::node_echo());
    idle.hello();
    // The CLI is up when this says so; what start-up needs has been used when the next answer comes.
    idle.until(r#"{"type":"sdk.ready""#);
    idle.hello();
    idle_echo.exchange(&encode(HELLO).unwrap());
    let (before, since) = (idle.cpu(), Instant::now());
    let started = || {
        let start = Instant::now();
        let mut host = Native::browy();
        host.hello();
        start.elapsed()
    };
    let echoed = || {
        let start = Instant::now();
        let mut host = Native::node_echo();
        host.exchange(&encode(HELLO).unwrap());
        start.elapsed()
    };
    let pairs = Pairs::of(STARTS, started, echoed);
    let row = Row::of("start to `hello.ack`", &pairs, "Node echo host, start to echo");
    table.push(row.target("≤ 0.1 ×", pairs.ratio() <= 0.1));
    table.push(Row::limit("the same, as time", &pairs, "≤ 10 ms", 10));

    let (resident, of_echo) = (idle.memory("VmRSS"), idle_echo.memory("VmRSS"));
    let row = Row {
        what: "idle host, resident",
        ours: mebibytes(resident),
        baseline: format!("{} Node echo host", mebibytes(of_echo)),
        ratio: ratio(resident as f64 / of_echo as f64),
        ..Row::default()
    };
    table.push(row.target("≤ 12 MiB", resident <= 12 * 1024));
    let share = (idle.cpu() - before).as_secs_f64() / since.elapsed().as_secs_f64();
    let row = Row {
        what: "idle host, processor time of each second",
        ours: format!("{:.1} ms", share * 1e3),
        ..Row::default()
    };
    table.push(row.target("≤ 3.3 ms", share <= 0.0033));
}
