//! The `browy` program: what Chrome starts as a native-messaging host, and the command line.

fn main() -> std::process::ExitCode {
    browy::cli::main()
}
