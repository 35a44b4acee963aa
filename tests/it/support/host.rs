//! The real host over pipes, played against as a browser would: frames in, frames out, port closed.

use std::ffi::OsString;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use browy::chromium::EXTENSION_ID;
use browy::transport::frame::encode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::fake_cli::{FakeCli, LIMIT};
use super::processes::Mark;

/// Variables of a process; those without a value are taken away.
pub type Variables = [(OsString, Option<OsString>)];

/// A host whose CLI is the fake one.
pub struct Host {
    pub child: Child,
    pub cli: FakeCli,
    pub mark: Mark,
    pub home: Arc<TempDir>,
    /// `None`: the port is closed.
    pub to: Option<ChildStdin>,
    pub from: Option<ChildStdout>,
}

impl Host {
    /// Started by our extension.
    pub async fn start() -> Self {
        Self::start_with(FakeCli::listen().await)
    }

    /// Started by our extension, with a CLI that the test has prepared.
    pub fn start_with(cli: FakeCli) -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), cli)
    }

    /// Started in a home where others ran before, or run now.
    pub fn start_in(home: Arc<TempDir>, cli: FakeCli) -> Self {
        let variables = cli.environment();
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_browy")), &variables, home, cli)
    }

    /// Started with another CLI than the fake.
    pub async fn start_with_variables(variables: &Variables) -> Self {
        let (cli, home) = (FakeCli::listen().await, Arc::new(tempfile::tempdir().unwrap()));
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_browy")), variables, home, cli)
    }

    /// Started by a command that becomes the host.
    pub fn start_by(mut command: Command, variables: &Variables, home: Arc<TempDir>, cli: FakeCli) -> Self {
        let mark = Mark::new();
        command.arg(format!("chrome-extension://{EXTENSION_ID}/"));
        command.env("HOME", home.path()).env(Mark::NAME, mark.value()).env("RUST_LOG", "trace");
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), child.stdout.take());
        Self { child, cli, mark, home, to, from }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id().unwrap()).unwrap()
    }

    /// Bytes as they are. A host that has ended does not mind.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        if let Some(to) = &mut self.to {
            let _ = to.write_all(bytes).await;
        }
    }

    /// One frame with this body, of any length.
    pub async fn send_body(&mut self, body: &[u8]) {
        self.send_bytes(&u32::try_from(body.len()).unwrap().to_le_bytes()).await;
        self.send_bytes(body).await;
    }

    pub async fn send(&mut self, message: Value) {
        let frame = encode(message.to_string().as_bytes()).unwrap();
        self.send_bytes(&frame).await;
    }

    /// The next message; `None` at the end of what the host says.
    pub async fn recv(&mut self) -> Option<Value> {
        let from = self.from.as_mut()?;
        tokio::time::timeout(LIMIT, async {
            // A half header would be no clean end, and is caught by `rest`.
            let length = from.read_u32_le().await.ok()?;
            assert!(length <= 1_048_576, "a frame of {length} bytes");
            let mut body = vec![0; usize::try_from(length).unwrap()];
            from.read_exact(&mut body).await.unwrap();
            Some(serde_json::from_slice(&body).unwrap())
        })
        .await
        .unwrap()
    }

    /// The next message of this type; the others are dropped.
    pub async fn wait_for(&mut self, kind: &str) -> Value {
        loop {
            let message = self.recv().await.unwrap_or_else(|| panic!("the host ended before {kind}"));
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Shakes hands; gives what the host said before its answer.
    pub async fn hello(&mut self) -> Vec<Value> {
        self.send(
            json!({ "type": "hello", "client": "extension", "protocol": 1, "capabilities": ["queue"] }),
        )
        .await;
        let mut before = Vec::new();
        loop {
            let message = self.recv().await.expect("a living host");
            if message["type"] == "hello.ack" {
                return before;
            }
            before.push(message);
        }
    }

    /// Closes the host's input, as a browser does when its port goes.
    pub fn close(&mut self) {
        self.to = None;
    }

    /// The exit code; `None` when it still runs after `limit`, or was killed.
    pub async fn exit(&mut self, limit: Duration) -> Option<i32> {
        tokio::time::timeout(limit, self.child.wait()).await.ok()?.unwrap().code()
    }

    /// Everything the host still says, as bytes.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(from) = &mut self.from {
            tokio::time::timeout(LIMIT, from.read_to_end(&mut bytes)).await.unwrap().unwrap();
        }
        bytes
    }

    /// A line of `/proc/PID/status`, in KiB; `None` when the process is gone.
    pub fn memory(&self, line: &str) -> Option<u64> {
        memory_of(self.child.id()?, line)
    }
}

/// A line of `/proc/PID/status`, in KiB.
pub fn memory_of(pid: u32, line: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'))?;
    value.trim().strip_suffix(" kB")?.parse().ok()
}

/// The messages in what a host wrote; panics when any byte is no part of a frame.
pub fn messages(mut bytes: &[u8]) -> Vec<Value> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let (header, rest) = bytes.split_at(4);
        let length = usize::try_from(u32::from_le_bytes(header.try_into().unwrap())).unwrap();
        let (body, rest) = rest.split_at(length);
        messages.push(serde_json::from_slice(body).unwrap());
        bytes = rest;
    }
    messages
}
