//! A hash of JSON that depends on what it says and not on how it is written: names of revisions, and whether a copy is
//! current.
//!
//! 64-bit FNV-1a over the value with sorted keys. The result is stored in clusters (names of revisions), so it must never
//! change.

use serde_json::Value;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(FNV_PRIME);
        }
    }
}

/// Hash of a JSON value; the order of keys does not matter.
#[must_use]
pub fn hash_json(value: &Value) -> u64 {
    let mut hash = Fnv(FNV_OFFSET);
    feed(&mut hash, value);
    hash.0
}

fn feed(hash: &mut Fnv, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            hash.bytes(b"{");
            for (key, value) in entries {
                feed(hash, &Value::String(key.clone()));
                hash.bytes(b":");
                feed(hash, value);
                hash.bytes(b",");
            }
            hash.bytes(b"}");
        }
        Value::Array(list) => {
            hash.bytes(b"[");
            for value in list {
                feed(hash, value);
                hash.bytes(b",");
            }
            hash.bytes(b"]");
        }
        // The JSON text of a scalar is unambiguous: texts are quoted and escaped.
        scalar => hash.bytes(scalar.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let one = hash_json(&parse(r#"{"a": 1, "b": {"c": [1, 2], "d": "x"}}"#));
        assert_eq!(one, hash_json(&parse(r#"{"b": {"d": "x", "c": [1, 2]}, "a": 1}"#)));
        for other in [
            r#"{"a": 1, "b": {"c": [2, 1], "d": "x"}}"#,
            r#"{"a": "1", "b": {"c": [1, 2], "d": "x"}}"#,
            r#"{"a": 1, "b": {"c": [1, 2]}, "d": "x"}"#,
        ] {
            assert_ne!(one, hash_json(&parse(other)), "{other}");
        }
    }
}
