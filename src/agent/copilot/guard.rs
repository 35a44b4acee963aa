//! The guard: what outlives a killed host just long enough to end what the host had started.
//!
//! The host starts its own program again as `browy __guard PROGRAM ARGS…`; that process starts the CLI
//! and then only waits. It holds the read end of a pipe whose write end the host alone has, so the pipe
//! ends when the host does, however it dies. Then the guard ends the CLI and everything below it.
//!
//! Linux: the guard is a child subreaper, so processes that leave the CLI's process group, or lose their
//! parent, stay below it and are found through `/proc`. The CLI gets a parent-death signal besides, for
//! the case that the guard itself is killed; `browy __exec-cli` sets it on itself and then becomes the
//! CLI. The signal belongs to the thread that forked: the guard's main thread, which lives as long as
//! the guard.
//!
//! Other Unix systems: the guard ends the CLI's process group; what left the group is on its own.
//! Windows: there is no guard. The CLI is killed when the host drops it, and ends by itself within about
//! 2 s after its input ended (measured on Linux: 1.4 to 2.0 s).
//!
//! This runs before logging and the async runtime start, to stay small: below 2 MiB of memory of its own.

use std::process::ExitCode;

/// First argument that makes the program a guard.
pub const GUARD: &str = "__guard";

/// First argument that makes the program set its parent-death signal and become another program.
pub const EXEC: &str = "__exec-cli";

/// Runs the guard, or its second stage, if the program's arguments ask for it. `None`: they do not.
///
/// `main` calls this before anything else.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let stage = args.next()?;
    let rest: Vec<_> = args.collect();
    match stage.to_str()? {
        #[cfg(unix)]
        GUARD => Some(unix::guard_main(&rest)),
        #[cfg(unix)]
        EXEC => Some(unix::exec_main(&rest)),
        _ => None,
    }
}

#[cfg(unix)]
pub use unix::{LIFELINE, descendants, exit_of_signal, kill_tree, own_program};

#[cfg(unix)]
mod unix {
    use std::collections::HashMap;
    use std::ffi::OsString;
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::{Command, ExitCode};
    use std::thread;
    use std::time::{Duration, Instant};

    use command_fds::{CommandFdExt, FdMapping};
    use rustix::process::{Pid, Signal, WaitOptions};

    /// The guard's file descriptor for the host's pipe.
    pub const LIFELINE: i32 = 3;

    /// What the CLI gets between SIGTERM and SIGKILL, to end its own children. The whole must be over
    /// within 1 s of the host's end.
    const GRACE: Duration = Duration::from_millis(400);

    /// How long the kill loop looks for what is left.
    const LAST: Duration = Duration::from_secs(5);

    /// Exit code of a program that could not be started, as shells have it.
    const NOT_STARTED: u8 = 127;

    /// The exit code that reports the signal, as shells have it.
    pub const fn exit_of_signal(signal: i32) -> i32 {
        128 + signal
    }

    /// This very program, also after its file was replaced.
    pub fn own_program() -> std::io::Result<PathBuf> {
        if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
    }

    pub fn guard_main(args: &[OsString]) -> ExitCode {
        let Some((program, args)) = args.split_first() else { return ExitCode::from(NOT_STARTED) };
        match guard(program, args) {
            Ok(code) => code,
            Err(error) => {
                // The host reads this as the CLI's last words.
                use std::io::Write;
                let _ = writeln!(std::io::stderr(), "browy: cannot start {}: {error}", program.display());
                ExitCode::from(NOT_STARTED)
            }
        }
    }

    fn guard(program: &OsString, args: &[OsString]) -> std::io::Result<ExitCode> {
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        // Opened anew, because a number alone is no file that safe code may own.
        let mut lifeline = File::open(format!("/dev/fd/{LIFELINE}"))?;
        let cli = start(program, args)?;
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        // The CLI's pipes are the CLI's alone: their ends shall show its end.
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        rustix::stdio::dup2_stderr(&nothing)?;
        thread::Builder::new().stack_size(64 * 1024).spawn(move || {
            // Nothing is ever written; any return means that the host is gone or wants the end.
            let _ = lifeline.read(&mut [0]);
            end_everything(cli);
        })?;
        Ok(reap(cli))
    }

    fn start(program: &OsString, args: &[OsString]) -> std::io::Result<Pid> {
        let mut command = if cfg!(target_os = "linux") {
            let mut command = Command::new(own_program()?);
            command.arg(super::EXEC).arg(std::process::id().to_string()).arg(program);
            command
        } else {
            Command::new(program)
        };
        // The lifeline is the guard's alone; its number would be inherited otherwise.
        let nothing = File::open("/dev/null")?.into();
        command
            .args(args)
            .process_group(0)
            .fd_mappings(vec![FdMapping { parent_fd: nothing, child_fd: LIFELINE }])
            .map_err(std::io::Error::other)?;
        let child = command.spawn()?;
        i32::try_from(child.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| std::io::Error::other("no process id"))
    }

    /// Collects ended children until none is left; gives the CLI's exit code.
    fn reap(cli: Pid) -> ExitCode {
        let mut code = ExitCode::SUCCESS;
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == cli => {
                    let number = status
                        .exit_status()
                        .or_else(|| status.terminating_signal().map(exit_of_signal))
                        .unwrap_or(1);
                    code = ExitCode::from(u8::try_from(number).unwrap_or(1));
                    let _ = thread::Builder::new().stack_size(64 * 1024).spawn(move || end_everything(cli));
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => {
                    // Without a subreaper, what the CLI left behind is nobody's child here.
                    if !cfg!(target_os = "linux") {
                        end_everything(cli);
                    }
                    return code;
                }
            }
        }
    }

    /// Ends the CLI, its group and every descendant: politely, then for certain.
    fn end_everything(cli: Pid) {
        let _ = rustix::process::kill_process_group(cli, Signal::TERM);
        let me = rustix::process::getpid();
        let polite_until = Instant::now() + GRACE;
        while Instant::now() < polite_until && !(descendants(me).is_empty() && group_is_gone(cli)) {
            thread::sleep(Duration::from_millis(10));
        }
        let give_up = Instant::now() + LAST;
        while Instant::now() < give_up {
            let _ = rustix::process::kill_process_group(cli, Signal::KILL);
            let left = descendants(me);
            if left.is_empty() && group_is_gone(cli) {
                return;
            }
            for pid in left {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn group_is_gone(cli: Pid) -> bool {
        // Where `/proc` tells the descendants, the group says nothing more: its zombies count as members.
        cfg!(target_os = "linux") || rustix::process::test_kill_process_group(cli).is_err()
    }

    /// Second stage: dies with the guard, then becomes the CLI.
    pub fn exec_main(args: &[OsString]) -> ExitCode {
        let [guard, program, args @ ..] = args else { return ExitCode::from(NOT_STARTED) };
        #[cfg(target_os = "linux")]
        {
            if rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
                return ExitCode::from(NOT_STARTED);
            }
            // The guard may have died before the signal was set.
            let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
            if parent.as_deref() != guard.to_str() {
                return ExitCode::from(NOT_STARTED);
            }
        }
        let _ = guard;
        let error = Command::new(program).args(args).exec();
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "browy: cannot start {}: {error}", program.display());
        ExitCode::from(NOT_STARTED)
    }

    /// Every living process below `root`. Empty where there is no `/proc`.
    pub fn descendants(root: Pid) -> Vec<Pid> {
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            // `pid (name) state ppid …`; the name may hold anything, also brackets.
            let Some((_, rest)) = stat.rsplit_once(')') else { continue };
            let mut fields = rest.split_whitespace();
            let (state, parent) = (fields.next(), fields.next());
            if state == Some("Z") || state == Some("X") {
                continue;
            }
            if let Some(parent) = parent.and_then(|parent| parent.parse().ok()) {
                children.entry(parent).or_default().push(pid);
            }
        }
        let mut found = Vec::new();
        let mut next = vec![root.as_raw_nonzero().get()];
        while let Some(parent) = next.pop() {
            for child in children.remove(&parent).unwrap_or_default() {
                next.push(child);
                found.extend(Pid::from_raw(child));
            }
        }
        found
    }

    /// Last resort: kills `root` and everything below it.
    pub fn kill_tree(root: u32) {
        let Some(root) = i32::try_from(root).ok().and_then(Pid::from_raw) else { return };
        let below = descendants(root);
        for pid in below.into_iter().chain([root]) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}
