//! The `format`s of texts that the API server checks in custom kinds.

/// Whether a text has a format. Formats that we do not know hold for every text, as in Kubernetes.
pub fn holds(format: &str, text: &str) -> bool {
    match format {
        "date-time" => text.parse::<jiff::Timestamp>().is_ok(),
        "date" => text.parse::<jiff::civil::Date>().is_ok() && text.len() == 10,
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => cidr(text),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => uuid::Uuid::parse_str(text).is_ok(),
        "byte" => base64(text),
        "uri" => text.parse::<http::Uri>().is_ok_and(|uri| uri.scheme().is_some()),
        "duration" => duration(text),
        "hostname" => super::names::subdomain(text).is_ok(),
        _ => true,
    }
}

fn cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    match (address.parse::<std::net::IpAddr>(), bits.parse::<u8>()) {
        (Ok(address), Ok(bits)) => bits <= if address.is_ipv4() { 32 } else { 128 },
        _ => false,
    }
}

fn base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

/// Go's durations: `1h30m`, `-2.5s`.
fn duration(text: &str) -> bool {
    let text = text.trim_start_matches(['-', '+']);
    if text == "0" {
        return true;
    }
    let mut rest = text;
    let mut any = false;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        if digits == 0 {
            return false;
        }
        rest = &rest[digits..];
        let Some(unit) = ["ns", "us", "µs", "ms", "h", "m", "s"].iter().find(|u| rest.starts_with(**u))
        else {
            return false;
        };
        rest = &rest[unit.len()..];
        any = true;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn formats_hold_or_not() {
        for (format, text, expected) in [
            ("date-time", "2026-01-02T03:04:05Z", true),
            ("date-time", "yesterday", false),
            ("cidr", "10.0.0.0/33", false),
            ("byte", "YWI=", true),
            ("byte", "YWI", false),
            ("duration", "1h30m", true),
            ("duration", "1x", false),
            ("something-new", "x", true),
        ] {
            assert_eq!(holds(format, text), expected, "{format} {text}");
        }
    }
}
