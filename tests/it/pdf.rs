//! The reader of PDF files, as the host starts it: honest files, odd ones and hostile ones.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const WORD: &str = "word";

fn run(content: &[u8], first: u32, only: bool) -> Output {
    run_as(content, first, only, std::process::id())
}

fn start(first: u32, only: bool, parent: u32) -> Child {
    Command::new(env!("CARGO_BIN_EXE_browy"))
        .args(["__read-pdf", WORD, &parent.to_string(), &first.to_string(), &only.to_string(), "12000"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn run_as(content: &[u8], first: u32, only: bool, parent: u32) -> Output {
    let mut child = start(first, only, parent);
    let mut stdin = child.stdin.take().unwrap();
    let content = content.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&content);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// What the reader said.
fn said(content: &[u8], first: u32, only: bool) -> Vec<Value> {
    let output = run(content, first, only);
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix(WORD))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A PDF of these objects, the first of which is number 1 and the catalog.
fn pdf(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let xref = out.len();
    out.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        out.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    let size = objects.len() + 1;
    out.extend_from_slice(
        format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{xref}\n%%EOF\n").as_bytes(),
    );
    out
}

fn stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let mut out = format!("<< {dictionary} /Length {} >>\nstream\n", content.len()).into_bytes();
    out.extend_from_slice(content);
    out.extend_from_slice(b"\nendstream");
    out
}

/// A file whose pages have these contents.
fn pages(contents: &[Vec<u8>]) -> Vec<u8> {
    let kids: Vec<String> = (0..contents.len()).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), contents.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    for (number, content) in contents.iter().enumerate() {
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
                5 + 2 * number
            )
            .into_bytes(),
        );
        objects.push(content.clone());
    }
    pdf(&objects, "")
}

fn text_page(lines: &[&str]) -> Vec<u8> {
    let shown: Vec<String> = lines.iter().map(|line| format!("({line}) Tj T*")).collect();
    stream("", format!("BT /F1 12 Tf 72 720 Td 16 TL {} ET", shown.join(" ")).as_bytes())
}

#[test]
fn pages_are_read_line_by_line_and_only_as_far_as_asked() {
    let file = pages(&[
        text_page(&["Bill 4711", "Total 48.20"]),
        text_page(&["Second page"]),
        text_page(&["Third"]),
    ]);
    assert_eq!(
        said(&file, 1, false),
        [
            json!({ "pages": 3 }),
            json!({ "page": { "number": 1, "text": "Bill 4711\nTotal 48.20" } }),
            json!({ "page": { "number": 2, "text": "Second page" } }),
            json!({ "page": { "number": 3, "text": "Third" } }),
            json!("over"),
        ]
    );
    assert_eq!(
        said(&file, 2, true)[1..],
        [json!({ "page": { "number": 2, "text": "Second page" } }), json!("over")]
    );
    assert_eq!(said(&file, 9, true), [json!({ "pages": 3 }), json!("over")]);
    // Something before the header, as some servers send it.
    assert_eq!(said(&[b"\xef\xbb\xbf\n", &file[..]].concat(), 1, true)[0], json!({ "pages": 3 }));
}

#[test]
fn page_without_text_is_told_as_such() {
    assert_eq!(
        said(&pages(&[stream("", b"0 0 100 100 re f")]), 1, false)[1],
        json!({ "page": { "number": 1, "text": "" } })
    );
}

#[test]
fn what_cannot_be_read_says_why() {
    for content in [&b""[..], b"<html>Sign in</html>", &[0xff; 5_000]] {
        assert_eq!(said(content, 1, false), [json!({ "fault": "no_pdf" })]);
    }
    let whole = pages(&[text_page(&["x"])]);
    for content in
        [&b"%PDF-1.7\n"[..], &whole[..40], b"%PDF-1.4\ntrailer << /Root 1 0 R >>\nstartxref\n0\n%%EOF"]
    {
        assert_eq!(
            said(content, 1, false),
            [json!({ "fault": "broken" })],
            "{:?}",
            String::from_utf8_lossy(content)
        );
    }
    // Standard security handler whose user password is not the empty one.
    let locked = pdf(
        &[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [] /Count 0 >>".to_vec(),
            format!(
                "<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <{0}> /U <{0}> >>",
                "5a".repeat(32)
            )
            .into_bytes(),
        ],
        &format!("/Encrypt 3 0 R /ID [<{0}> <{0}>]", "42".repeat(16)),
    );
    assert_eq!(said(&locked, 1, false), [json!({ "fault": "encrypted" })]);
}

#[test]
fn one_bad_page_does_not_cost_the_others() {
    let bad = stream("/Filter /FlateDecode", b"this is no zlib data at all");
    let said = said(&pages(&[text_page(&["Good"]), bad, text_page(&["Also good"])]), 1, false);
    assert_eq!(said[1], json!({ "page": { "number": 1, "text": "Good" } }));
    assert_eq!(said[3], json!({ "page": { "number": 3, "text": "Also good" } }));
    assert_eq!(said[4], json!("over"));
}

/// A zlib stream of so many mebibytes of one byte, a thousandth of that in size.
fn bomb(mebibytes: usize) -> Vec<u8> {
    let mut compress = flate2::Compress::new(flate2::Compression::fast(), true);
    let block = vec![b' '; 1 << 20];
    let mut first = Vec::with_capacity(1 << 20);
    compress.compress_vec(&block, &mut first, flate2::FlushCompress::Full).unwrap();
    let mut again = Vec::with_capacity(1 << 20);
    compress.compress_vec(&block, &mut again, flate2::FlushCompress::Full).unwrap();
    // A fully flushed block stands for itself, as often as it is repeated.
    [first, again.repeat(mebibytes - 1)].concat()
}

#[test]
fn hostile_files_end_within_their_limits() {
    let own = "/Type /Page /Parent 2 0 R /MediaBox [0 0 1 1]";
    let loops = |contents: &str| {
        pdf(
            &[
                b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
                b"<< /Type /Pages /Kids [2 0 R 3 0 R 2 0 R] /Count 99999999 >>".to_vec(),
                format!("<< {own} /Resources << /XObject << /X 4 0 R >> >> /Contents {contents} >>")
                    .into_bytes(),
                stream(
                    "/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X 4 0 R >> >>",
                    b"/X Do /X Do",
                ),
            ],
            "",
        )
    };
    let mut deep = b"%PDF-1.4\n1 0 obj\n".to_vec();
    deep.extend(std::iter::repeat_n(b'[', 3_000_000));
    let flate = "/Filter /FlateDecode";
    for (what, file) in [
        ("bomb", pages(&[stream(flate, &bomb(1_500))])),
        ("form that draws itself", loops("4 0 R")),
        ("content that is the page", loops("3 0 R")),
        ("brackets", deep),
        ("operators", pages(&[stream("", &b"q ".repeat(1_000_000))])),
    ] {
        let began = Instant::now();
        let output = run(&file, 1, false);
        // The processor's seconds are limited; on a busy machine they take longer by the clock.
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: {:?}", began.elapsed());
        assert!(output.stdout.len() < 1 << 20, "{what}");
    }
}

#[test]
fn reader_is_limited_before_it_reads_anything() {
    let mut child = start(1, false, std::process::id());
    // More than a pipe holds: this returns once the reader has begun to read.
    child.stdin.as_mut().unwrap().write_all(&vec![b' '; 1 << 20]).unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    for (what, most) in [
        ("Max cpu time", "10"),
        ("Max address space", "805306368"),
        ("Max file size", "0"),
        ("Max open files", "16"),
    ] {
        let line = limits.lines().find(|line| line.starts_with(what)).unwrap();
        let values: Vec<&str> = line[what.len()..].split_whitespace().collect();
        assert_eq!(values[..2], [most, most], "{line}");
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn reader_of_another_parent_reads_nothing() {
    let output = run_as(&pages(&[text_page(&["x"])]), 1, false, 1);
    assert!(!output.status.success() && output.stdout.is_empty());
}
