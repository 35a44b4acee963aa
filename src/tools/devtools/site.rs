//! What the tools that look into a site's own keeping share.

use url::Url;

use crate::browser::text::clean;
use crate::logging::{MASKED, mask};

/// Whether an address belongs to the page's site: its host, or a host below it.
pub(super) fn is_own_site(url: &Url, page: &Url) -> bool {
    let (Some(host), Some(own)) = (url.host_str(), page.host_str()) else { return false };
    // A host of one word is a whole top level.
    host == own || own.contains('.') && page.domain().is_some() && host.ends_with(&format!(".{own}"))
}

/// An address as it may be told.
pub(super) fn page_words(url: &Url) -> String {
    clean(&mask(url.as_str()), 300)
}

/// Whether a text is what stands for a secret: nobody can mean that.
pub(super) fn is_masked(text: &str) -> bool {
    text.contains(MASKED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_is_the_host_and_what_is_below_it() {
        let own =
            |one: &str, other: &str| is_own_site(&Url::parse(one).unwrap(), &Url::parse(other).unwrap());
        assert!(own("https://a.example.org/x", "https://a.example.org:8443/"));
        assert!(own("https://api.example.org/", "https://example.org/"));
        assert!(!own("https://example.org/", "https://shop.example.org/"));
        assert!(!own("https://other.example/", "https://example.org/"));
        assert!(!own("https://notexample.org/", "https://example.org/"));
        assert!(!own("https://example.org/", "https://org/"));
        assert!(!own("http://127.0.0.1/", "http://7.0.0.1/"));
    }
}
