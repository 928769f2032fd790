//! Rules for names, labels and their values, with Kubernetes' wording.

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const DNS1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// The reason for which a text breaks a rule.
pub type Rule = std::result::Result<(), String>;

fn no_more_than(most: usize) -> String {
    format!("must be no more than {most} bytes")
}

fn lower(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn dns_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    lower(*first) && lower(*last) && bytes.iter().all(|b| lower(*b) || *b == b'-')
}

/// RFC 1123 label: namespaces, containers, ports.
pub fn label(text: &str) -> Rule {
    if text.len() > 63 {
        Err(no_more_than(63))
    } else if dns_label(text) {
        Ok(())
    } else {
        Err(LABEL.into())
    }
}

/// RFC 1123 subdomain: most names.
pub fn subdomain(text: &str) -> Rule {
    if text.len() > 253 {
        Err(no_more_than(253))
    } else if text.split('.').all(dns_label) {
        Ok(())
    } else {
        Err(SUBDOMAIN.into())
    }
}

/// RFC 1035 label: services.
pub fn dns1035(text: &str) -> Rule {
    if text.len() > 63 {
        Err(no_more_than(63))
    } else if dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase()) {
        Ok(())
    } else {
        Err(DNS1035.into())
    }
}

/// Names that only have to fit into a path: RBAC kinds.
pub fn path_segment(text: &str) -> Rule {
    if matches!(text, "." | "..") {
        Err(format!("may not be '{text}'"))
    } else if let Some(bad) = text.chars().find(|c| matches!(c, '/' | '%')) {
        Err(format!("may not contain '{bad}'"))
    } else {
        Ok(())
    }
}

fn word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Keys of labels, annotations and finalizers: an optional domain and a name.
pub fn qualified_name(text: &str) -> Rule {
    let name = match text.split_once('/') {
        Some(("", _)) => return Err("prefix part must be non-empty".into()),
        Some((prefix, name)) => {
            subdomain(prefix).map_err(|why| format!("prefix part {why}"))?;
            name
        }
        None => text,
    };
    if name.is_empty() {
        Err("name part must be non-empty".into())
    } else if name.len() > 63 {
        Err(format!("name part {}", no_more_than(63)))
    } else if word(name) {
        Ok(())
    } else {
        Err(QUALIFIED.into())
    }
}

/// Values of labels.
pub fn label_value(text: &str) -> Rule {
    if text.len() > 63 {
        Err(no_more_than(63))
    } else if text.is_empty() || word(text) {
        Ok(())
    } else {
        Err(LABEL_VALUE.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules() {
        assert!(subdomain("a-0.b").is_ok());
        for bad in ["", "A", "-a", "a-", "a..b", "a_b", "ü"] {
            assert!(subdomain(bad).is_err(), "{bad}");
        }
        assert!(label("a.b").is_err() && label(&"a".repeat(64)).is_err() && label("0a").is_ok());
        assert!(dns1035("0a").is_err());
        assert!(qualified_name("game.kruise.io/State").is_ok());
        for bad in ["", "/a", "a/", "a/b/c", "A.B/c", "-a"] {
            assert!(qualified_name(bad).is_err(), "{bad}");
        }
        assert!(label_value("").is_ok() && label_value("a b").is_err() && label_value("-").is_err());
    }
}
