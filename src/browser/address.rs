//! Which addresses a tab is sent to.

use std::net::IpAddr;

use url::{Host, Url};

use super::refusal::{Class, Refusal};

/// Longest address, bytes.
const LONGEST: usize = 16 * 1024;

/// Reads an address as a person would type it: without a scheme too, or relative to the page at `base`.
///
/// # Errors
/// [`Class::NotAllowed`] for every scheme but `http:` and `https:` (and `about:blank`), and for addresses with
/// a user name in them; [`Class::BadArgument`] for what is no address.
pub fn address(text: &str, base: Option<&str>) -> Result<Url, Refusal> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST {
        return Err(Refusal::new(Class::BadArgument, "`url` is an address like https://example.org/page."));
    }
    let url = parse(text, base).ok_or_else(|| {
        Refusal::new(Class::BadArgument, "`url` is not an address. Give one like https://example.org/page.")
    })?;
    match url.scheme() {
        "http" | "https" => {}
        "about" if url.as_str() == "about:blank" => return Ok(url),
        other => {
            return Err(Refusal::new(
                Class::NotAllowed,
                format!("Addresses that begin with {other}: are not opened; only http: and https: are."),
            ));
        }
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::new(
            Class::NotAllowed,
            "Addresses with a user name or password in them are not opened. Leave out what stands before the @.",
        ));
    }
    Ok(url)
}

/// The origin of a page at this address, as `https://example.org`; `None` for addresses without one.
pub fn origin_of(address: &str) -> Option<String> {
    let origin = Url::parse(address).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

fn parse(text: &str, base: Option<&str>) -> Option<Url> {
    let relative = text.starts_with(['/', '?', '#']) || text.starts_with("./") || text.starts_with("../");
    if relative && let Some(base) = base.and_then(|base| Url::parse(base).ok()) {
        return base.join(text).ok();
    }
    match Url::parse(text) {
        // `localhost:3000` and `example.org:8080` look like a scheme.
        Ok(url) if url.cannot_be_a_base() && is_host_and_port(url.scheme(), url.path()) => guess(text),
        Ok(url) => Some(url),
        Err(url::ParseError::RelativeUrlWithoutBase) => guess(text.trim_start_matches('/')),
        Err(_) => None,
    }
}

fn is_host_and_port(scheme: &str, rest: &str) -> bool {
    let port = rest.split(['/', '?', '#']).next().unwrap_or_default();
    (scheme == "localhost" || scheme.contains('.')) && port.parse::<u16>().is_ok()
}

/// Machines at hand rarely have a certificate; everything else has.
fn guess(text: &str) -> Option<Url> {
    if text.contains(char::is_whitespace) {
        return None;
    }
    let url = Url::parse(&format!("https://{text}")).ok()?;
    let near = match url.host()? {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => is_near(address.into()),
        Host::Ipv6(address) => is_near(address.into()),
    };
    if near { Url::parse(&format!("http://{text}")).ok() } else { Some(url) }
}

fn is_near(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private(),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> Option<Class> {
        address(text, None).err().map(|refusal| refusal.class)
    }

    #[test]
    fn only_web_pages_are_opened() {
        for bad in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " \u{1}javascript:alert(1)",
            "java\tscript:alert(1)",
            "java\nscript:alert(1)",
            "javascript\r:alert(1)",
            "javascript:1",
            "data:text/html,hi",
            "DATA:text/html;base64,aGk=",
            "file:///etc/hostname",
            "file:etc",
            "file://localhost/etc/hostname",
            "filesystem:https://example.org/temporary/x",
            "blob:https://example.org/1",
            "view-source:https://example.org/",
            "chrome://settings",
            "chrome:settings",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop/options.html",
            "edge://settings",
            "brave://settings",
            "devtools://devtools/bundled/inspector.html",
            "ws://example.org/",
            "wss://example.org/",
            "ftp://example.org/",
            "mailto:ana@example.org",
            "tel:+15550100",
            "about:config",
            "about:srcdoc",
            "about:blank#x",
            "https://example.org@collector.test/",
            "https://ana:pw@example.org/",
        ] {
            assert_eq!(class(bad), Some(Class::NotAllowed), "{bad:?}");
        }
        assert_eq!(address("about:blank", None).unwrap().as_str(), "about:blank");
    }

    #[test]
    fn addresses_are_read_as_people_type_them() {
        for (typed, meant) in [
            ("https://Example.org", "https://example.org/"),
            ("example.org/a?b#c", "https://example.org/a?b#c"),
            ("www.example.org:8443/x", "https://www.example.org:8443/x"),
            ("localhost:3000/x", "http://localhost:3000/x"),
            ("127.0.0.1:80", "http://127.0.0.1/"),
            ("192.168.0.7/admin", "http://192.168.0.7/admin"),
            ("//example.org/x", "https://example.org/x"),
            ("HTTP://bücher.example/", "http://xn--bcher-kva.example/"),
        ] {
            assert_eq!(address(typed, None).map(|url| url.to_string()), Ok(meant.to_owned()), "{typed}");
        }
        let base = Some("https://example.org/shop/cart?x=1");
        assert_eq!(address("/help", base).unwrap().as_str(), "https://example.org/help");
        assert_eq!(address("?page=2", base).unwrap().as_str(), "https://example.org/shop/cart?page=2");
        assert_eq!(address("../top", base).unwrap().as_str(), "https://example.org/top");
    }

    #[test]
    fn a_relative_address_cannot_leave_the_web() {
        let base = Some("file:///home/me/page.html");
        assert_eq!(address("/etc/hostname", base).err().map(|r| r.class), Some(Class::NotAllowed));
    }

    #[test]
    fn what_is_no_address_is_told() {
        for bad in ["", "  ", "two words", "https://", "http://[::1", "https://exa mple.org"] {
            assert_eq!(class(bad), Some(Class::BadArgument), "{bad:?}");
        }
    }
}
