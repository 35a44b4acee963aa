//! Processes of one test run, found by a mark in their environment (Linux).

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

/// A mark that everything the test starts inherits. Hosts hand only `COPILOT_…` on to a CLI, so it is called that.
pub struct Mark {
    value: String,
}

/// A living process with the mark.
#[derive(Debug, Clone)]
pub struct Marked {
    pub pid: i32,
    /// Its command line, blanks between the arguments.
    pub command: String,
}

impl Mark {
    pub const NAME: &'static str = "COPILOT_BROWY_TEST_RUN";

    pub fn new() -> Self {
        Self { value: uuid::Uuid::new_v4().to_string() }
    }

    pub fn value(&self) -> &str {
        &self.value
    }

    /// Everything that lives and carries the mark. A process that has ended and waits to be reaped has no
    /// environment any more, so it does not count.
    pub fn living(&self) -> Vec<Marked> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let folder = PathBuf::from("/proc").join(pid.to_string());
            let Ok(environ) = std::fs::read(folder.join("environ")) else { continue };
            if !environ.windows(self.value.len()).any(|window| window == self.value.as_bytes()) {
                continue;
            }
            let command = std::fs::read(folder.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push(Marked { pid, command });
        }
        found
    }

    /// Those that run a program of this name.
    pub fn running(&self, program: &str) -> Vec<Marked> {
        let is = |marked: &Marked| {
            let first = marked.command.split(' ').next().unwrap_or_default();
            first.rsplit('/').next() == Some(program)
        };
        self.living().into_iter().filter(is).collect()
    }

    /// The hosts: our program in the mode in which a browser starts it.
    pub fn hosts(&self) -> Vec<Marked> {
        self.running("browy")
            .into_iter()
            .filter(|marked| marked.command.contains("chrome-extension://"))
            .collect()
    }

    /// Waits until nothing with the mark lives.
    ///
    /// # Errors
    /// What is left when the time is up.
    pub async fn all_gone(&self, limit: Duration) -> Result<(), Vec<Marked>> {
        let end = Instant::now() + limit;
        loop {
            let living = self.living();
            if living.is_empty() {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(living);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// SIGKILL.
pub fn kill(pid: i32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}
