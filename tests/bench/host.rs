//! What the host costs: start-up, memory, frames. `tests/run bench` prints the table; a missed target fails.
//!
//! Times are compared with a plain program in the same run wherever there is one that does the same, so that a
//! slow machine does not look like a slow host.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for the terminal"
)]

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use browy::chromium::EXTENSION_ID;
use browy::protocol::limits::MAX_INBOUND;
use browy::transport::frame::encode;

const HELLO: &[u8] = br#"{"type":"hello","client":"extension","protocol":1}"#;

fn main() -> ExitCode {
    // `cargo test --all-targets` starts it, too, and only wants to know that it builds.
    if !std::env::args().any(|arg| arg == "--bench") {
        return ExitCode::SUCCESS;
    }
    let mut table = Table::default();
    start_up(&mut table);
    idle(&mut table);
    pipelined(&mut table);
    big_frames(&mut table);
    table.print()
}

/// One line of the table for each measurement.
#[derive(Default)]
struct Table {
    rows: Vec<(String, String, String, Option<bool>)>,
}

impl Table {
    fn fact(&mut self, what: &str, measured: String) {
        self.rows.push((what.to_owned(), measured, String::new(), None));
    }

    fn target(&mut self, what: &str, measured: String, target: &str, met: bool) {
        self.rows.push((what.to_owned(), measured, target.to_owned(), Some(met)));
    }

    fn print(&self) -> ExitCode {
        for (what, measured, target, met) in &self.rows {
            let verdict = met.map_or("", |met| if met { "ok" } else { "MISSED" });
            println!("{what:<54} {measured:>16}  {target:<14} {verdict}");
        }
        let (passed, failed): (Vec<_>, Vec<_>) =
            self.rows.iter().filter_map(|row| row.3).partition(|met| *met);
        println!("{} passed, {} failed", passed.len(), failed.len());
        if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

struct Host {
    child: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
    _home: tempfile::TempDir,
}

impl Host {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_browy"));
        command.arg(format!("chrome-extension://{EXTENSION_ID}/"));
        command.env("HOME", home.path()).env("COPILOT_CLI_PATH", env!("CARGO_BIN_EXE_fake-copilot"));
        for secret in ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_HOME"] {
            command.env_remove(secret);
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, to, from, _home: home }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.to.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn recv(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.from.read_exact(&mut header).unwrap();
        let mut body = vec![0; u32::from_le_bytes(header) as usize];
        self.from.read_exact(&mut body).unwrap();
        body
    }

    /// Reads up to and with the answer to a `hello`.
    fn ack(&mut self) {
        while !self.recv().starts_with(br#"{"type":"hello.ack""#) {}
    }

    fn hello(&mut self) {
        self.send(&encode(HELLO).unwrap());
        self.ack();
    }

    /// A line of `/proc/PID/status`, in KiB.
    fn memory(&self, line: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')).unwrap();
        value.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Processor time so far.
    fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // Linux counts these in hundredths of a second.
        Duration::from_millis(ticks * 10)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.wait();
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn mebibytes(kib: u64) -> String {
    format!("{}.{} MiB", kib / 1024, kib % 1024 * 10 / 1024)
}

/// From the start of the process to its answer, and how much of that any start of this program takes.
fn start_up(table: &mut Table) {
    let (mut answered, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        let start = Instant::now();
        let mut host = Host::start();
        host.hello();
        answered.push(start.elapsed());
        drop(host);
        let start = Instant::now();
        let version =
            Command::new(env!("CARGO_BIN_EXE_browy")).arg("--version").stdout(Stdio::null()).status();
        assert!(version.unwrap().success());
        plain.push(start.elapsed());
    }
    let answered = median(answered);
    table.target(
        "start to hello.ack, median of 50",
        millis(answered),
        "≤ 10 ms",
        answered <= Duration::from_millis(10),
    );
    table.fact("  of which `browy --version`, start to end", millis(median(plain)));
}

fn idle(table: &mut Table) {
    let mut host = Host::start();
    host.hello();
    // The CLI is up when this says so; what start-up needs has been used then.
    while !host.recv().starts_with(br#"{"type":"sdk.ready""#) {}
    std::thread::sleep(Duration::from_secs(1));
    let resident = host.memory("VmRSS");
    table.target("idle host, resident", mebibytes(resident), "≤ 12 MiB", resident <= 12 * 1024);
    let before = host.cpu();
    std::thread::sleep(Duration::from_secs(3));
    let used = host.cpu() - before;
    table.target(
        "processor time in 3 idle seconds",
        millis(used),
        "≤ 10 ms",
        used <= Duration::from_millis(10),
    );
}

fn pipelined(table: &mut Table) {
    const COUNT: u32 = 10_000;
    let mut host = Host::start();
    host.hello();
    let mut to = host.to.take().unwrap();
    let start = Instant::now();
    // From a thread: both pipes are shorter than what goes through them.
    let writer = std::thread::spawn(move || {
        to.write_all(&encode(HELLO).unwrap().repeat(COUNT as usize)).unwrap();
        to
    });
    for _ in 0..COUNT {
        host.ack();
    }
    let each = start.elapsed() / COUNT;
    host.to = Some(writer.join().unwrap());
    table.target(
        "10,000 messages and answers, each",
        format!("{:.1} µs", each.as_secs_f64() * 1e6),
        "≤ 100 µs",
        each <= Duration::from_micros(100),
    );
}

/// A message of exactly `size` bytes that is answered.
fn big_hello(size: usize) -> Vec<u8> {
    let (start, end) = (&br#"{"type":"hello","client":""#[..], &br#"","protocol":1}"#[..]);
    let mut frame = u32::try_from(size).unwrap().to_le_bytes().to_vec();
    frame.extend_from_slice(start);
    frame.resize(4 + size - end.len(), b'x');
    frame.extend_from_slice(end);
    frame
}

/// The largest frame: against a program that only reads, against half of it, and what stays in memory.
fn big_frames(table: &mut Table) {
    let (whole, half) = (big_hello(MAX_INBOUND), big_hello(MAX_INBOUND / 2));
    let mut host = Host::start();
    host.hello();
    let (mut times, mut halves, mut copies, mut cpu) = (Vec::new(), Vec::new(), Vec::new(), Duration::ZERO);
    const ROUNDS: u32 = 5;
    for _ in 0..ROUNDS {
        let before = host.cpu();
        times.push(timed(&mut host, &whole));
        cpu += host.cpu() - before;
        halves.push(timed(&mut host, &half));
        let mut copy = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        copy.stdin.take().unwrap().write_all(&whole).unwrap();
        copy.wait().unwrap();
        copies.push(start.elapsed());
    }
    let (time, halved, copy, cpu) = (median(times), median(halves), median(copies), cpu / ROUNDS);
    table.target("frame of 64 MiB, processor time", millis(cpu), "< 1,000 ms", cpu < Duration::from_secs(1));
    table.fact("  sent to answered", millis(time));
    table.fact(
        "  against `cat` reading the same",
        format!("{:.1} ×", time.as_secs_f64() / copy.as_secs_f64()),
    );
    let ratio = time.as_secs_f64() / halved.as_secs_f64();
    table.target("  against a frame of 32 MiB", format!("{ratio:.2} ×"), "≤ 2.5 ×", ratio <= 2.5);
    table.fact("  highest resident", mebibytes(host.memory("VmHWM")));
    table.fact("  resident afterwards", mebibytes(host.memory("VmRSS")));
}

fn timed(host: &mut Host, frame: &[u8]) -> Duration {
    let start = Instant::now();
    host.send(frame);
    host.ack();
    start.elapsed()
}
