//! What a running host keeps to itself (Linux).

use crate::support::host::Host;

/// Nobody else reaches a host: it listens nowhere and asks nobody, so its pipes are the only way to it.
#[tokio::test]
async fn host_opens_no_port_and_no_connection() {
    let mut host = Host::start().await;
    host.hello().await;
    host.cli.started(1).await;
    let of_the_net: Vec<String> = ["tcp", "tcp6", "udp", "udp6", "raw"]
        .iter()
        .flat_map(|kind| {
            let table = std::fs::read_to_string(format!("/proc/net/{kind}")).unwrap_or_default();
            table
                .lines()
                .skip(1)
                .filter_map(|line| line.split_whitespace().nth(9).map(str::to_owned))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(!of_the_net.is_empty(), "the test's own listener for the CLI is there");
    for file in std::fs::read_dir(format!("/proc/{}/fd", host.pid())).unwrap().flatten() {
        let Ok(link) = std::fs::read_link(file.path()) else { continue };
        let link = link.to_string_lossy().into_owned();
        let inode = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
        assert!(inode.is_none_or(|inode| !of_the_net.iter().any(|one| one == inode)), "{link}");
    }
}

/// What a person typed is in a host's memory; a crash leaves no image of it, not even with a program that collects them.
#[tokio::test]
async fn crash_leaves_no_memory_image() {
    let mut host = Host::start().await;
    host.hello().await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", host.pid())).unwrap();
    let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).unwrap();
    let limits: Vec<_> = core.split_whitespace().take(2).collect();
    assert_eq!(
        limits,
        ["1", "1"],
        "one byte: too little for a file, and the kernel calls no collector for it"
    );
}
