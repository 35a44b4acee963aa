//! What a script can reach, tried from the inside.
#![allow(clippy::unwrap_used, reason = "test code outside test functions")]

use super::*;

async fn run_for(code: &str, wall: Duration) -> Finished {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::below(home.path());
    run(&paths, code, Kind::CommonJs, wall, &CancellationToken::new()).await.unwrap()
}

async fn said(code: &str) -> String {
    let finished = run_for(code, WALL).await;
    assert!(finished.status.is_some_and(|status| status.success()), "{finished:?}");
    finished.stdout.trim().to_owned()
}

#[tokio::test]
async fn honest_scripts_are_run() {
    for (code, result) in [
        ("console.log(6 * 7)", "42"),
        (
            "const { createHash } = require('crypto'); console.log(createHash('md5').update('a').digest('hex').length)",
            "32",
        ),
        (
            "require('fs').writeFileSync('/tmp/a', 'x'); console.log(require('fs').readFileSync('/tmp/a', 'utf8'))",
            "x",
        ),
        ("console.log(require('child_process').execFileSync('/bin/echo', ['é']).toString())", "é"),
    ] {
        assert_eq!(said(code).await, result, "{code}");
    }
}

/// Every line is one way out; the script says which of them led somewhere.
const ESCAPES: &str = r#"
const fs = require('fs'), net = require('net'), dgram = require('dgram'), cp = require('child_process');
const out = [];
const attempt = (name, way) => { try { const got = way(); if (got !== false) out.push(name + ': ' + String(got).slice(0, 60)); } catch { } };
const sh = (line) => cp.execSync(line, { stdio: 'pipe', timeout: 5000 }).toString();
for (const path of [HOME, CANARY, '/home', '/root', '/etc/passwd', '/etc/shadow', '/var', '/run', '/sys', '/opt', '/work', '/mnt', '/old', '/boot', '/dev/sda', '/dev/mem', '/dev/shm', '/dev/pts', '/proc/1/root' + CANARY, '/proc/self/cwd/..' + CANARY, '/usr/..' + CANARY])
  attempt('read ' + path, () => fs.readFileSync(path)), attempt('list ' + path, () => fs.readdirSync(path).join());
for (const path of ['/x', '/usr/x', '/usr/bin/x', '/bin/x', '/interpreter', '/dev/x', '/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/self/oom_score_adj', CANARY])
  attempt('write ' + path, () => fs.writeFileSync(path, 'x') ?? 'written');
attempt('link', () => { fs.symlinkSync(CANARY, '/tmp/l'); return fs.readFileSync('/tmp/l'); });
attempt('mount', () => sh('mount -t tmpfs none /tmp'));
attempt('unmount', () => sh('umount -l /usr'));
attempt('namespace', () => sh('unshare --user --map-root-user --mount mount -t tmpfs none /usr'));
attempt('remount', () => sh('mount -o remount,rw,bind /usr && touch /usr/x'));
attempt('processes', () => fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== '1').join() || false);
attempt('kill', () => process.kill(PARENT, 0) && 'reached');
attempt('environment', () => Object.keys(process.env).filter((name) => !/^(PATH|HOME|TMPDIR|LANG|PWD|SHLVL|OLDPWD|_)$/.test(name)).join() || false);
attempt('capabilities', () => /CapEff:\s*0+$/m.test(fs.readFileSync('/proc/self/status', 'utf8')) ? false : 'some');
attempt('set uid', () => { process.setuid(12345); return 'changed'; });
attempt('big file', () => { fs.writeFileSync('/tmp/big', Buffer.alloc(70e6)); return 'kept'; });
attempt('descriptors', () => fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } }).filter((to) => to.startsWith('/') && !/^\/(dev|proc|usr)\b/.test(to)).join() || false);
const reach = (name, start) => new Promise((done) => { let socket; const end = (got) => { if (got) out.push(name + ': ' + got); done(); }; try { socket = start(end); socket.on('error', () => end()); } catch { end(); } setTimeout(end, 1500).unref(); });
(async () => {
  await reach('tcp', (end) => net.connect(PORT, '127.0.0.1', () => end('connected')));
  await reach('abstract', (end) => net.connect({ path: '\0browy-canary' }, () => end('connected')));
  await reach('socket', (end) => net.connect({ path: SOCKET }, () => end('connected')));
  await reach('udp', (end) => { const socket = dgram.createSocket('udp4'); socket.send('x', UDP, '127.0.0.1', (error) => { if (error) end(); }); return socket; });
  console.log(out.join('\n'));
  process.exit(0);
})();
"#;

#[tokio::test]
async fn no_way_out_leads_anywhere() {
    let home = tempfile::tempdir().unwrap();
    let canary = home.path().join("canary");
    std::fs::write(&canary, "CANARY").unwrap();
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let socket = home.path().join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let head = format!(
        "const HOME = {:?}, CANARY = {:?}, PARENT = {}, PORT = {}, SOCKET = {:?}, UDP = {};",
        home.path(),
        canary,
        std::process::id(),
        tcp.local_addr().unwrap().port(),
        socket,
        udp.local_addr().unwrap().port(),
    );
    let out = said(&format!("{head}{ESCAPES}")).await;
    assert_eq!(out, "", "these led somewhere");
    assert_eq!(std::fs::read_to_string(&canary).unwrap(), "CANARY");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a packet came out");
}

#[tokio::test]
async fn script_without_end_is_ended_with_all_it_started() {
    let code = "require('child_process').spawn('/bin/sh', ['-c', 'sleep 1000'], { detached: true, stdio: 'ignore' }).unref();
        console.log('started'); setInterval(() => {}, 1000)";
    let finished = run_for(code, Duration::from_secs(3)).await;
    assert!(finished.status.is_none(), "{finished:?}");
    assert_eq!(finished.stdout.trim(), "started");
}

#[tokio::test]
async fn memory_and_output_have_an_end() {
    let hungry = "const all = []; for (;;) all.push(Buffer.alloc(16e6, 1));";
    let finished = run_for(hungry, WALL).await;
    assert!(finished.status.is_some_and(|status| !status.success()), "{finished:?}");
    let loud = run_for(
        "const line = 'x'.repeat(1e5); for (let n = 0; n < 50; n++) process.stdout.write(line)",
        WALL,
    )
    .await;
    assert!(loud.cut && loud.stdout.len() == KEPT, "{}", loud.stdout.len());
}

#[tokio::test]
async fn stop_ends_it() {
    let home = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let (paths, inner) = (Paths::below(home.path()), cancel.clone());
    let running = run(&paths, "setInterval(() => {}, 1000)", Kind::Module, WALL, &inner);
    cancel.cancel();
    assert!(matches!(running.await, Err(ConfineError::Cancelled)));
}

#[tokio::test]
async fn nothing_is_run_where_the_system_does_not_confine() {
    let home = tempfile::tempdir().unwrap();
    // With a user namespace alone nothing may be mounted: the set-up ends before the script is started.
    let mut command = Command::new("unshare");
    command
        .args(["--user", "/bin/sh", "-c", CONFINE, "confine"])
        .arg(home.path())
        .args(["/bin/echo", "word", "ran"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let finished = finish(command.spawn().unwrap(), "", "word", WALL, &CancellationToken::new()).await;
    assert!(matches!(finished, Err(ConfineError::Unconfined(_))), "{finished:?}");
}
