//! Reading protobuf bodies of built-in kinds into JSON, by field numbers recorded from the Go types.
//!
//! Go clients write built-in kinds in protobuf only (`kubectl create`, informers' writes) and fall back to nothing, so the
//! sandbox reads it. It never writes protobuf: every such client takes JSON when it gets JSON.
use std::collections::HashMap;
use std::sync::LazyLock;

use k8s_openapi::ByteString;
use serde_json::{Map, Value};

use crate::api::error::{ApiError, Result};
use crate::api::schema::builtin;

/// What every body begins with.
const MAGIC: &[u8] = b"k8s\0";
/// Deeper than any built-in kind.
const MOST_DEPTH: usize = 40;

static MESSAGES: LazyLock<HashMap<&str, HashMap<u64, Field>>> = LazyLock::new(|| {
    let message = |(name, fields): (&'static String, &'static Value)| {
        let fields = fields.as_object().into_iter().flatten();
        let fields =
            fields.filter_map(|(number, code)| Some((number.parse().ok()?, Field::parse(code.as_str()?))));
        (name.as_str(), fields.collect())
    };
    builtin::wire().iter().map(message).collect()
});

/// A field of a message; the fields of one without a name belong to the message around it.
#[derive(Debug)]
struct Field {
    name: Option<&'static str>,
    /// Not written in JSON when empty.
    omit_zero: bool,
    code: &'static str,
}

impl Field {
    fn parse(code: &'static str) -> Self {
        let (name, code) = match code.split_once(':') {
            Some((name, code)) => (Some(name), code),
            None => (None, code.trim_start_matches('<')),
        };
        Self { name, omit_zero: code.starts_with('~'), code: code.trim_start_matches('~') }
    }
}

/// Reads a body.
pub fn read(body: &[u8]) -> Result<Value> {
    if !body.starts_with(MAGIC) {
        return Err(ApiError::bad_request("the body does not start as protobuf bodies of Kubernetes do"));
    }
    decode(body).ok_or_else(|| {
        ApiError::new(
            415,
            "UnsupportedMediaType",
            "the protobuf body cannot be read; only whole objects of built-in kinds are",
        )
    })
}

fn decode(body: &[u8]) -> Option<Value> {
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for (number, value) in fields(body.strip_prefix(MAGIC)?)? {
        match (number, value) {
            (1, Wire::Bytes(types)) => {
                for (number, value) in fields(types)? {
                    match number {
                        1 => api_version = value.text()?,
                        2 => kind = value.text()?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    // Options are registered under every group; one entry is recorded.
    let name =
        builtin::name_of_kind(group, version, &kind).or_else(|| builtin::name_of_kind("", "v1", &kind))?;
    let mut object = Map::new();
    message(name, raw, &mut object, MOST_DEPTH)?;
    object.insert("apiVersion".into(), api_version.into());
    object.insert("kind".into(), kind.into());
    Some(Value::Object(object))
}

/// One value as it travels.
#[derive(Debug, Clone, Copy)]
enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    fn text(self) -> Option<String> {
        std::str::from_utf8(self.bytes()?).ok().map(str::to_owned)
    }

    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A whole number; negative ones travel as two's complement.
    fn int(self) -> Option<i64> {
        match self {
            Self::Varint(n) => Some(n.cast_signed()),
            _ => None,
        }
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], count: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(count).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// The numbered values of a message.
fn fields(mut bytes: &[u8]) -> Option<Vec<(u64, Wire<'_>)>> {
    let mut out = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Wire::Varint(varint(&mut bytes)?),
            1 => Wire::Fixed64(u64::from_le_bytes(take(&mut bytes, 8)?.try_into().ok()?)),
            2 => {
                let length = varint(&mut bytes)?;
                Wire::Bytes(take(&mut bytes, length)?)
            }
            5 => {
                take(&mut bytes, 4)?;
                continue;
            }
            _ => return None,
        };
        out.push((key >> 3, value));
    }
    Some(out)
}

fn message(name: &str, bytes: &[u8], out: &mut Map<String, Value>, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let known = MESSAGES.get(name)?;
    for (number, wire) in fields(bytes)? {
        // Fields of a newer version are dropped, as the real server drops them.
        let Some(field) = known.get(&number) else { continue };
        let Some(json) = field.name else {
            message(field.code.strip_prefix('@')?, wire.bytes()?, out, depth)?;
            continue;
        };
        if let Some(item) = field.code.strip_prefix('[') {
            let place = out.entry(json).or_insert_with(|| Value::Array(Vec::new()));
            place.as_array_mut()?.push(value(item, wire, depth)?);
        } else if let Some(item) = field.code.strip_prefix('{') {
            let place = out.entry(json).or_insert_with(|| Value::Object(Map::new()));
            let (key, child) = entry(item, wire.bytes()?, depth)?;
            place.as_object_mut()?.insert(key, child);
        } else {
            let child = value(field.code, wire, depth)?;
            if !(field.omit_zero && (child == "" || child == 0 || child == false)) {
                out.insert(json.to_owned(), child);
            }
        }
    }
    Some(())
}

/// A map travels as messages of key and value.
fn entry(code: &str, bytes: &[u8], depth: usize) -> Option<(String, Value)> {
    let (mut key, mut child) = (String::new(), None);
    for (number, wire) in fields(bytes)? {
        match number {
            1 => key = wire.text()?,
            2 => child = Some(value(code, wire, depth)?),
            _ => {}
        }
    }
    // What is empty may be left out.
    let child = match child {
        Some(child) => child,
        None => value(code, Wire::Bytes(&[]), depth)?,
    };
    Some((key, child))
}

fn value(code: &str, wire: Wire<'_>, depth: usize) -> Option<Value> {
    if let Some(name) = code.strip_prefix('@') {
        let mut map = Map::new();
        message(name, wire.bytes()?, &mut map, depth)?;
        return Some(Value::Object(map));
    }
    if let Some(item) = code.strip_prefix('*') {
        let items = fields(wire.bytes()?)?.into_iter().filter(|(number, _)| *number == 1);
        return items
            .map(|(_, wire)| value(item, wire, depth))
            .collect::<Option<Vec<Value>>>()
            .map(Value::Array);
    }
    Some(match code {
        "s" => wire.text()?.into(),
        "i" => wire.int()?.into(),
        "b" => (wire.int()? != 0).into(),
        "d" => match wire {
            Wire::Fixed64(bits) => f64::from_bits(bits).into(),
            _ => return None,
        },
        "y" => serde_json::to_value(ByteString(wire.bytes()?.to_vec())).ok()?,
        "q" => inner(wire, 1)?.map_or(Some(String::new()), Wire::text)?.into(),
        "j" => match inner(wire, 1)? {
            Some(raw) => serde_json::from_slice(raw.bytes()?).ok()?,
            None => Value::Null,
        },
        "n" => int_or_string(wire)?,
        "t" | "u" => time(wire, code == "u")?,
        "D" => format!("{}ns", inner(wire, 1)?.map_or(Some(0), Wire::int)?).into(),
        _ => return None,
    })
}

/// The field of a small message.
fn inner<'a>(wire: Wire<'a>, number: u64) -> Option<Option<Wire<'a>>> {
    Some(fields(wire.bytes()?)?.into_iter().find(|(n, _)| *n == number).map(|(_, wire)| wire))
}

fn int_or_string(wire: Wire<'_>) -> Option<Value> {
    let is_text = inner(wire, 1)?.map_or(Some(0), Wire::int)? == 1;
    Some(if is_text {
        inner(wire, 3)?.map_or(Some(String::new()), Wire::text)?.into()
    } else {
        inner(wire, 2)?.map_or(Some(0), Wire::int)?.into()
    })
}

/// A time that was never set is an empty message.
fn time(wire: Wire<'_>, micros: bool) -> Option<Value> {
    let Some(seconds) = inner(wire, 1)? else { return Some(Value::Null) };
    let nanos = inner(wire, 2)?.map_or(Some(0), Wire::int)?;
    let time = jiff::Timestamp::new(seconds.int()?, i32::try_from(nanos).ok()?).ok()?;
    let format = if micros { "%Y-%m-%dT%H:%M:%S.%6fZ" } else { "%Y-%m-%dT%H:%M:%SZ" };
    Some(time.strftime(format).to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(bytes.len()).unwrap()];
        out.extend_from_slice(bytes);
        out
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let types = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &types), field(2, raw)].concat()
    }

    #[test]
    fn a_config_map_as_a_go_client_writes_it() {
        let meta = [field(1, b"a"), field(3, b""), field(8, b"")].concat();
        let data = [field(1, b"k"), field(2, b"v")].concat();
        let raw = [field(1, &meta), field(2, &data)].concat();
        let object = read(&body("v1", "ConfigMap", &raw)).unwrap();
        let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
            "metadata": {"name": "a", "creationTimestamp": null}});
        assert_eq!(object, expected);
    }

    #[test]
    fn parts_without_a_name_of_their_own_belong_to_what_is_around_them() {
        // A volume of a pod: name, and the source as fields of the volume.
        let source = field(2, b"");
        let volume = [field(1, b"v"), field(2, &source)].concat();
        let raw = field(2, &field(1, &volume));
        let object = read(&body("v1", "Pod", &raw)).unwrap();
        assert_eq!(object["spec"]["volumes"], json!([{"name": "v", "emptyDir": {}}]));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [
            &b""[..],
            b"k8s",
            b"k8s\0\xff\xff",
            b"{}",
            &body("v1", "Nothing", b""),
            &body("v1", "Pod", b"\x0a\x7f"),
        ] {
            let code = read(bad).unwrap_err().code;
            assert_eq!(code, if bad.starts_with(MAGIC) { 415 } else { 400 }, "{bad:?}");
        }
    }
}
