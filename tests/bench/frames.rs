//! Many small frames, and the largest one.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use browy::protocol::limits::MAX_INBOUND;
use browy::transport::frame::encode;

use crate::native::{HELLO, Native, mebibytes};
use crate::pairs::{Pairs, shown};
use crate::table::{Row, Table};

/// Messages that are sent without waiting for an answer.
const PIPELINED: usize = 10_000;

/// Rounds of each measurement.
const ROUNDS: usize = 5;

pub fn measure(table: &mut Table) {
    pipelined(table);
    big_frames(table);
}

fn pipelined(table: &mut Table) {
    let (mut host, mut echo) = (Native::browy(), Native::node_echo());
    host.hello();
    echo.exchange(&encode(HELLO).unwrap());
    let pairs =
        Pairs::of(ROUNDS, || flood(&mut host, Native::ack), || flood(&mut echo, |echo| drop(echo.recv())));
    let row = Row::of("10,000 pipelined `hello`, all answered", &pairs, "Node echo host, the same");
    table.push(row.target("≤ 1 s (100 µs each)", pairs.ours() <= Duration::from_secs(1)));
}

/// Sends all messages and takes all answers.
fn flood(host: &mut Native, answer: impl Fn(&mut Native)) -> Duration {
    let frames = encode(HELLO).unwrap().repeat(PIPELINED);
    let mut to = host.to.take().unwrap();
    let start = Instant::now();
    // From a thread: both pipes are shorter than what goes through them.
    let writer = std::thread::spawn(move || {
        to.write_all(&frames).unwrap();
        to
    });
    for _ in 0..PIPELINED {
        answer(host);
    }
    let elapsed = start.elapsed();
    host.to = Some(writer.join().unwrap());
    elapsed
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

/// The largest frame: against a plain copy, against half of it, and what stays in memory.
fn big_frames(table: &mut Table) {
    let (whole, half) = (big_hello(MAX_INBOUND), big_hello(MAX_INBOUND / 2));
    let mut host = Native::browy();
    host.hello();
    let (mut copies, mut halves) = (Pairs::default(), Pairs::default());
    let before = host.cpu();
    for _ in 0..ROUNDS {
        let time = answered(&mut host, &whole);
        copies.push(time, copied(&whole));
        halves.push(time, answered(&mut host, &half));
    }
    // A round is one and a half of the largest frame.
    let cpu = (host.cpu() - before).mul_f64(2.0 / 3.0 / ROUNDS as f64);
    let row = Row::of("frame of 64 MiB, sent to answered", &copies, "`cat` copying it");
    table.push(row.target("≤ 1 s", copies.ours() <= Duration::from_secs(1)));
    let row = Row::of("the same against half of it", &halves, "frame of 32 MiB");
    table.push(row.target("≤ 2.5 × (linear)", halves.ratio() <= 2.5));
    let row = Row { what: "frame of 64 MiB, processor time", ours: shown(cpu), ..Row::default() };
    table.push(row);
    let (most, left) = (host.memory("VmHWM"), host.memory("VmRSS"));
    let row = Row {
        what: "frame of 64 MiB, resident at most",
        ours: mebibytes(most),
        baseline: format!("{} afterwards", mebibytes(left)),
        ..Row::default()
    };
    table.push(row);
}

fn answered(host: &mut Native, frame: &[u8]) -> Duration {
    let start = Instant::now();
    host.send(frame);
    host.ack();
    start.elapsed()
}

/// The bytes through a pipe into a program that copies them to nowhere.
fn copied(bytes: &[u8]) -> Duration {
    let mut copy = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut to = copy.stdin.take().unwrap();
    let start = Instant::now();
    to.write_all(bytes).unwrap();
    drop(to);
    copy.wait().unwrap();
    start.elapsed()
}
