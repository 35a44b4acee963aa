//! Frames: `Content-Length: N`, an empty line, N bytes of JSON.

use std::io::{BufRead, Write};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::Input;

/// The version it claims to be.
pub const VERSION: &str = "1.0.102";

/// As the real one prints it.
#[allow(clippy::print_stdout, reason = "this is the whole program's answer")]
pub fn print_version() {
    println!("GitHub Copilot CLI {VERSION}");
}

/// What the system calls text need not be text.
pub fn lossy(text: &std::ffi::OsStr) -> String {
    text.to_string_lossy().into_owned()
}

/// Our side of the connection to the host.
pub struct Peer;

impl Peer {
    pub fn answer(&mut self, id: &Value, result: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub fn refuse(&mut self, id: &Value, error: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub fn write(&mut self, message: &Value) {
        let body = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Bytes as they are; a host that is gone is found out by its closed stdin.
    pub fn raw(&mut self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(bytes);
        let _ = out.flush();
    }
}

/// Reads until the end; what is no frame is skipped.
pub fn read_frames(mut from: impl BufRead, inputs: &mpsc::Sender<Input>) {
    loop {
        let Some(body) = next_body(&mut from) else {
            let _ = inputs.send(Input::Eof);
            return;
        };
        if let Ok(frame) = serde_json::from_slice(&body)
            && inputs.send(Input::Frame(frame)).is_err()
        {
            return;
        }
    }
}

fn next_body(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.parse().ok()?;
        } else if line.is_empty() && length > 0 {
            let mut body = vec![0; length];
            from.read_exact(&mut body).ok()?;
            return Some(body);
        }
    }
}
