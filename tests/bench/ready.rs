//! From the host's start to `sdk.ready`, against the same real CLI started alone and asked to connect.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use crate::native::{Native, browy};
use crate::pairs::Pairs;
use crate::support::copilot::Home;
use crate::support::processes::Mark;
use crate::table::{Row, Table};

const LIGHT_STARTS: usize = 25;
const FULL_STARTS: usize = 7;

pub fn measure(table: &mut Table) {
    let runtime = Runtime::new().unwrap();
    // Unpacks the light runtime, if no test has done so yet.
    let light = runtime.block_on(Home::new());
    let pairs = starts(&light, "copilot-runtime", LIGHT_STARTS);
    let row = Row::of("start to `sdk.ready`, light runtime", &pairs, "that runtime, start to `connect`");
    // The light runtime is up in the time that the guard takes: what counts here is the time, not the ratio.
    table.push(row);
    table.push(Row::limit("the same, as time", &pairs, "≤ 80 ms", 80));

    let pairs = starts(&Home::full(), "copilot", FULL_STARTS);
    let row = Row::of("start to `sdk.ready`, full CLI", &pairs, "that CLI, start to `connect`");
    table.push(row.target("≤ 1.15 ×", pairs.ratio() <= 1.15));
}

/// Starts the host, and the CLI alone with the command line that the host gives it.
fn starts(home: &Home, program: &str, count: usize) -> Pairs {
    let variables = home.env().for_cli();
    let (_, command_line) = host_ready(&variables, Some(program));
    Pairs::of(count, || host_ready(&variables, None).0, || cli_connected(&variables, &command_line, home))
}

/// Until `sdk.ready`; and how the host started `program`.
fn host_ready(variables: &BTreeMap<OsString, OsString>, program: Option<&str>) -> (Duration, Vec<String>) {
    let mark = Mark::new();
    let mut command = browy();
    command.env_clear().envs(variables).env(Mark::NAME, mark.value());
    let start = Instant::now();
    let mut host = Native::start(command, None);
    host.hello();
    let answer = loop {
        let body = String::from_utf8(host.recv()).unwrap();
        if body.starts_with(r#"{"type":"sdk.ready""#) {
            break body;
        }
    };
    let elapsed = start.elapsed();
    assert!(answer.contains(r#""ok":true"#), "{answer}");
    let command_line = program.map_or_else(Vec::new, |program| {
        let running = mark.running(program);
        let cli = running.first().unwrap_or_else(|| panic!("{program} does not run: {:#?}", mark.living()));
        let line = std::fs::read_to_string(format!("/proc/{}/cmdline", cli.pid)).unwrap();
        line.trim_end_matches('\0').split('\0').map(str::to_owned).collect()
    });
    (elapsed, command_line)
}

/// Until the CLI answers `connect`.
fn cli_connected(variables: &BTreeMap<OsString, OsString>, command_line: &[String], home: &Home) -> Duration {
    let mut command = Command::new(&command_line[0]);
    command.args(&command_line[1..]).env_clear().envs(variables).current_dir(home.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut cli = command.spawn().unwrap();
    let (mut to, mut from) = (cli.stdin.take().unwrap(), BufReader::new(cli.stdout.take().unwrap()));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"connect","params":{"supportedTaskKinds":[]}}"#;
    to.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let answer = loop {
        let body = next_body(&mut from);
        if body.contains(r#""id":1"#) {
            break body;
        }
    };
    let elapsed = start.elapsed();
    assert!(answer.contains("protocolVersion"), "{answer}");
    drop(to);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    cli.wait().unwrap();
    elapsed
}

fn next_body(from: &mut impl BufRead) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert_ne!(from.read_line(&mut line).unwrap(), 0, "the CLI ended");
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse().unwrap(),
            None if line.trim_end().is_empty() && length > 0 => {
                let mut body = vec![0; length];
                from.read_exact(&mut body).unwrap();
                return String::from_utf8(body).unwrap();
            }
            None => {}
        }
    }
}
