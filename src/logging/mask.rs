//! Takes what looks like a secret out of text: by the name before it, by the form of a known token, and inside
//! base64. One pass, linear in the text's length.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// What stands where a secret was.
pub const MASKED: &str = "[masked]";

/// A name with one of these endings holds a secret; compared in lower case without `-` and `_`.
const SECRET_ENDINGS: [&str; 17] = [
    "authorization",
    "authtoken",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "credential",
    "credentials",
    "sessionid",
    "signature",
];

/// The same, but only as a whole name.
const SECRET_NAMES: [&str; 9] = ["pwd", "jwt", "otp", "sid", "sessid", "csrf", "xsrf", "tid", "phpsessid"];

/// Secret only as a parameter of an address: `?code=…`, `#key=…`.
const SECRET_PARAMETERS: [&str; 7] = ["code", "key", "auth", "sig", "session", "ticket", "assertion"];

/// How tokens of known services start, and the shortest length that counts.
const TOKEN_STARTS: [(&str, usize); 29] = [
    ("github_pat_", 20),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("glpat-", 16),
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    ("pk_live_", 16),
    ("whsec_", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("xoxr-", 16),
    ("xoxs-", 16),
    ("xapp-", 16),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 20),
    ("dop_v1_", 20),
    ("SG.", 30),
];

/// The text with [`MASKED`] in place of each secret.
pub fn mask(text: &str) -> Cow<'_, str> {
    mask_to_depth(text, 1)
}

/// Whether a field, header or parameter of this name holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect();
    SECRET_NAMES.contains(&plain.as_str()) || SECRET_ENDINGS.iter().any(|ending| plain.ends_with(ending))
}

/// The value of a header or a cookie as it may be shown: nothing of it when its name says that it is secret.
pub fn mask_header<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    // `x-auth` and `x-session` are secrets as header names, though not as words of a text.
    let plain = name.to_ascii_lowercase();
    let secret =
        is_secret_name(name) || ["auth", "session", "jwt", "-key"].iter().any(|end| plain.ends_with(end));
    if secret { Cow::Borrowed(MASKED) } else { mask(value) }
}

/// What a site keeps under this name, as it may be shown: nothing of it when its name says that it is secret, or when
/// it looks like an identifier that was made to be one.
pub fn mask_stored<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    if is_opaque(value.trim().trim_matches('"')) { Cow::Borrowed(MASKED) } else { mask_header(name, value) }
}

/// One long word of letters and digits that nobody would read aloud: a session's id, a device's, a key.
fn is_opaque(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.bytes().any(|byte| class(&byte));
    value.len() >= 20
        && value.bytes().all(is_token)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !value.starts_with("http")
        && !value.contains('/')
}

fn mask_to_depth(text: &str, depth: u8) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        if !is_name(bytes[at]) {
            // In `\nname`, as debug output and JSON write it, the `n` is no part of the name.
            let is_escape = bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't'));
            at += if is_escape { 2 } else { 1 };
            continue;
        }
        let word = at..run(bytes, at, is_name);
        match secret(text, word.clone(), depth) {
            Some(found) if found.start < found.end => {
                out.push_str(&text[copied..found.start]);
                out.push_str(MASKED);
                (copied, at) = (found.end, found.end);
            }
            _ => at = word.end,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The secret that begins with this word or is named by it.
fn secret(text: &str, word: Range<usize>, depth: u8) -> Option<Range<usize>> {
    if text[word.clone()].starts_with("-----BEGIN") {
        return private_key(text, word.start);
    }
    named(text, &word)
        .or_else(|| scheme(text, &word))
        .or_else(|| password_in_address(text, &word))
        .or_else(|| token(text, word.start))
        .or_else(|| (depth > 0).then(|| in_base64(text, word.start, depth)).flatten())
}

/// `name: value`, `name=value`, `"name":"value"`, also inside a JSON string.
fn named(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name = &text[word.clone()];
    let is_parameter = word.start > 0 && matches!(bytes[word.start - 1], b'?' | b'&' | b'#');
    let is_secret = is_secret_name(name)
        || is_parameter && SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str());
    if !is_secret {
        return None;
    }
    let closing_quote = run(bytes, word.end, |byte| matches!(byte, b'\\' | b'"' | b'\''));
    let separator = run(bytes, closing_quote, is_blank);
    if !matches!(bytes.get(separator), Some(b':' | b'=')) {
        return None;
    }
    let value = run(bytes, separator + 1, is_blank);
    if text[value..].starts_with(MASKED) {
        return None;
    }
    let escapes = run(bytes, value, |byte| byte == b'\\');
    if let Some(quote @ (b'"' | b'\'')) = bytes.get(escapes) {
        let start = escapes + 1;
        return Some(start..end_of_quoted(bytes, start, *quote, escapes - value));
    }
    let plain = name.to_ascii_lowercase();
    // A header's value is the rest of its line; any other value ends where its list goes on.
    let end = if plain.ends_with("authorization") || plain.ends_with("cookie") {
        run(bytes, value, |byte| !matches!(byte, b'\r' | b'\n' | b'"' | b'\''))
    } else {
        run(bytes, value, |byte| !byte.is_ascii_whitespace() && !b"\"'&,;)}]<>\\".contains(&byte))
    };
    Some(value..end)
}

/// The end of a value opened by a quote behind so many backslashes: the next quote behind as many.
fn end_of_quoted(bytes: &[u8], start: usize, quote: u8, escapes: usize) -> usize {
    let mut backslashes = 0;
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'\\' => backslashes += 1,
            byte if *byte == quote && backslashes <= escapes => return at - backslashes,
            _ => backslashes = 0,
        }
    }
    bytes.len()
}

/// `Bearer …` without a name before it.
fn scheme(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    const SCHEMES: [&str; 3] = ["bearer", "basic", "digest"];
    if !SCHEMES.contains(&text[word.clone()].to_ascii_lowercase().as_str()) {
        return None;
    }
    let start = run(text.as_bytes(), word.end, is_blank);
    let end = run(text.as_bytes(), start, is_token);
    let value = &text[start..end];
    // "Basic authentication" is no secret.
    let telling = value.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    (start > word.end && value.len() >= 8 && telling).then_some(start..end)
}

/// `https://user:password@host`: all before the `@`.
fn password_in_address(text: &str, word: &Range<usize>) -> Option<Range<usize>> {
    let start = word.end + text[word.end..].strip_prefix("://").map(|_| 3)?;
    let end = run(text.as_bytes(), start, |byte| !byte.is_ascii_whitespace() && !b"/?#\"'<>".contains(&byte));
    let at = text[start..end].rfind('@')?;
    Some(start..start + at)
}

/// A token of a known form.
fn token(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let known = TOKEN_STARTS.iter().find(|(form, _)| rest.starts_with(form));
    let is_jwt = rest.starts_with("eyJ");
    if known.is_none() && !is_jwt {
        return None;
    }
    let end = run(text.as_bytes(), start, is_token);
    let word = &text[start..end];
    let long_enough = known.is_some_and(|(_, length)| word.len() >= *length);
    let is_secret = is_jwt && word.len() >= 20 && word.contains('.')
        || long_enough && word.bytes().any(|byte| byte.is_ascii_digit());
    is_secret.then_some(start..end)
}

/// A private key is masked to the end of its block, or of the text.
fn private_key(text: &str, start: usize) -> Option<Range<usize>> {
    const END_OF_HEAD: &str = "PRIVATE KEY-----";
    let head = run(text.as_bytes(), start, |byte| byte == b'-' || byte == b' ' || byte.is_ascii_uppercase());
    if !text[start..head].ends_with(END_OF_HEAD) {
        return None;
    }
    let end = text[head..].find(END_OF_HEAD).map_or(text.len(), |offset| head + offset + END_OF_HEAD.len());
    Some(start..end)
}

/// Base64 whose text holds a secret.
fn in_base64(text: &str, start: usize, depth: u8) -> Option<Range<usize>> {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    if start > 0 && is_base64(text.as_bytes()[start - 1]) {
        return None;
    }
    let end = run(text.as_bytes(), start, is_base64);
    let word = &text[start..end];
    if word.len() < 16 {
        return None;
    }
    let decoded = STANDARD_NO_PAD.decode(word).or_else(|_| URL_SAFE_NO_PAD.decode(word)).ok()?;
    let inner = String::from_utf8(decoded).ok()?;
    let holds_secret = matches!(mask_to_depth(&inner, depth - 1), Cow::Owned(_));
    let padding = run(text.as_bytes(), end, |byte| byte == b'=');
    holds_secret.then_some(start..padding)
}

/// The first index from `start` on whose byte is not in the class.
fn run(bytes: &[u8], start: usize, class: impl Fn(u8) -> bool) -> usize {
    bytes[start..].iter().position(|byte| !class(*byte)).map_or(bytes.len(), |offset| start + offset)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_token(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b'.' | b'+' | b'/' | b'=' | b'~' | b'%')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_ends_where_its_carrier_goes_on() {
        for (text, masked) in [
            ("GET /a?x=1&token=abc&y=2#z", "GET /a?x=1&token=[masked]&y=2#z"),
            ("https://h/cb?code=4%2F0Ab&state=5", "https://h/cb?code=[masked]&state=5"),
            ("exit code=7", "exit code=7"),
            (r#"{"password":"a b\"c","n":1}"#, r#"{"password":"[masked]","n":1}"#),
            (
                r#"{"body":"{\"api_key\":\"a b\",\"n\":1}"}"#,
                r#"{"body":"{\"api_key\":\"[masked]\",\"n\":1}"}"#,
            ),
            ("Cookie: a=1; b=2\nAccept: */*", "Cookie: [masked]\nAccept: */*"),
            ("ftp://ana:pw@h/x", "ftp://[masked]@h/x"),
            ("mail ana@h.example", "mail ana@h.example"),
            ("Bearer abcdefgh1234, then", "Bearer [masked], then"),
            ("Basic authentication required", "Basic authentication required"),
        ] {
            assert_eq!(mask(text), masked);
        }
    }

    #[test]
    fn headers_that_hold_secrets_are_masked_whole() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "Set-Cookie",
            "X-Api-Key",
            "X-CSRF-Token",
            "x-auth",
        ] {
            assert_eq!(mask_header(name, "abc; def"), MASKED, "{name}");
        }
        assert_eq!(mask_header("Content-Type", "text/html"), "text/html");
        assert_eq!(mask_header("Location", "/cb?code=1234&x=2"), "/cb?code=[masked]&x=2");
        assert_eq!(mask_header("WWW-Authenticate", "Basic realm=vault"), "Basic realm=vault");
    }

    #[test]
    fn what_looks_like_an_identifier_is_not_shown_of_what_sites_keep() {
        for (name, value) in [
            ("token", "abc"),
            ("x", "9f86d081884c7d659a2feaa0c55ad015"),
            ("device", "\"3b2d8c1e-77aa-4f10-9a2e-0c1d2e3f4a5b\""),
            ("auth", "{\"id\":1}"),
        ] {
            assert_eq!(mask_stored(name, value), MASKED, "{name}");
        }
        for (name, value) in [
            ("theme", "dark"),
            ("lastVisit", "2031-04-09T12:03:04.123Z and later"),
            ("n", "12345678901234567890123"),
        ] {
            assert_eq!(mask_stored(name, value), value, "{name}");
        }
        assert_eq!(
            mask_stored("user", r#"{"name":"Ana","token":"abc"}"#),
            r#"{"name":"Ana","token":"[masked]"}"#
        );
    }

    #[test]
    fn private_key_is_masked_whole_or_cut() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        assert_eq!(mask(&format!("a {key} b")), "a [masked] b");
        assert_eq!(mask(&format!("a {}", &key[..36])), "a [masked]");
        let public = "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
        assert_eq!(mask(public), public);
    }

    #[test]
    fn what_is_masked_stays_as_it_is() {
        for text in ["token=[masked]", r#"{"token":"[masked]"}"#, "Cookie: [masked]", "Bearer [masked]"] {
            assert_eq!(mask(text), text);
        }
    }

    #[test]
    fn nothing_to_mask_copies_nothing() {
        assert!(matches!(mask("clicked “Submit” at 10,20"), Cow::Borrowed(_)));
    }

    mod properties {
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn masking_never_panics_and_masks_once(text in any::<String>()) {
                let once = super::mask(&text).into_owned();
                let twice = super::mask(&once);
                prop_assert_eq!(&once, &twice);
            }

            #[test]
            fn known_token_never_survives(before in "[ -~]{0,20}[ \"'=:,/(]", tail in "[a-z]{20}[0-9]{6}", after in "[ \"',)]") {
                let token = format!("ghp_{tail}");
                let masked = super::mask(&format!("{before}{token}{after}")).into_owned();
                prop_assert!(!masked.contains(&tail), "{}", masked);
            }
        }
    }
}
