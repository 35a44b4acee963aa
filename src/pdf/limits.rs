//! What a reader may use.

/// The limits of a reader's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, the program itself included.
    pub memory: u64,
    /// Seconds of processor time.
    pub seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 768 * 1024 * 1024, seconds: 10 }
    }
}

impl Limits {
    /// Puts this process under the limits, for good: it can write no file either, and ends with `parent`.
    ///
    /// # Errors
    /// The system does not set one of them; nothing may be read then.
    #[cfg(unix)]
    pub fn take(self, parent: &str) -> std::io::Result<()> {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
        setrlimit(Resource::Cpu, at_most(self.seconds))?;
        setrlimit(Resource::Fsize, at_most(0))?;
        setrlimit(Resource::Core, at_most(0))?;
        // Not known to macOS.
        #[cfg(target_os = "linux")]
        {
            setrlimit(Resource::As, at_most(self.memory))?;
            setrlimit(Resource::Nofile, at_most(16))?;
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            // It may have died before the signal was set.
            let now = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
            if now.as_deref() != Some(parent) {
                return Err(std::io::Error::other("the host is gone"));
            }
        }
        let _ = parent;
        Ok(())
    }

    /// There are no such limits here: the host's deadline is the only one.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub fn take(self, _parent: &str) -> std::io::Result<()> {
        Ok(())
    }
}
