//! Reads JSON into our types by way of a small tree.
//!
//! A derived reader is compiled once for every way it is fed. Fed by `serde_json` itself, each of our types carries a
//! copy of the parser and of the wording of every error; fed by this tree it carries neither, which is a sixth of the
//! wasm. The parser is still `serde_json`'s, compiled once.

use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use std::fmt;

/// Any JSON value.
enum Json {
    Null,
    Bool(bool),
    Natural(u64),
    Negative(i64),
    Real(f64),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

/// Why a text could not be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// It is no JSON.
    Syntax(String),
    /// It is JSON, but not of the wanted shape.
    Shape,
    /// A field is missing.
    Missing(&'static str),
    /// A value is of the right kind, but not one of those allowed.
    Value(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) | Self::Value(message) => f.write_str(message),
            Self::Shape => f.write_str("a value is of another kind than expected"),
            Self::Missing(field) => {
                f.write_str("missing field ")?;
                f.write_str(field)
            }
        }
    }
}

impl std::error::Error for Error {}

// Only `custom` keeps words: the others are compiled into every type, and what they would say is seldom read.
impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Value(message.to_string())
    }
    fn invalid_type(_: Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self::Shape
    }
    fn invalid_value(_: Unexpected<'_>, _: &dyn serde::de::Expected) -> Self {
        Self::Shape
    }
    fn invalid_length(_: usize, _: &dyn serde::de::Expected) -> Self {
        Self::Shape
    }
    fn unknown_variant(variant: &str, _: &'static [&'static str]) -> Self {
        Self::Value(variant.to_owned())
    }
    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::Shape
    }
    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }
    fn duplicate_field(_: &'static str) -> Self {
        Self::Shape
    }
}

/// Reads a JSON text.
///
/// # Errors
/// It is no JSON, or of another shape than `T`.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    T::deserialize(parse(text)?)
}

/// Reads a JSON text that is an object with a `type` and perhaps `data`: `of` gets both.
///
/// # Errors
/// It is no such object, or `of` refuses it.
pub fn read_tagged<T>(text: &str, of: impl FnOnce(&str, Data) -> Result<T, Error>) -> Result<T, Error> {
    let Json::Map(fields) = parse(text)? else { return Err(Error::Shape) };
    let (mut kind, mut data) = (None, Json::Null);
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("type", Json::Text(text)) => kind = Some(text),
            ("data", value) => data = value,
            _ => {}
        }
    }
    of(&kind.ok_or(Error::Missing("type"))?, Data(data))
}

/// What a tagged object carries.
pub struct Data(Json);

impl Data {
    /// Reads it as one type.
    ///
    /// # Errors
    /// It is of another shape.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        T::deserialize(self.0)
    }
}

/// Reads the elements of a JSON list that have the wanted shape; none when it is no list.
pub fn read_each<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let Ok(Json::List(list)) = parse(text) else { return Vec::new() };
    list.into_iter().filter_map(|value| T::deserialize(value).ok()).collect()
}

/// The texts of nested objects, each with its path (`a.b.c`); values that are neither are passed over.
///
/// # Errors
/// It is no JSON.
pub fn read_texts(text: &str, mut each: impl FnMut(String, String)) -> Result<(), Error> {
    fn walk(path: &str, value: Json, each: &mut dyn FnMut(String, String)) {
        match value {
            Json::Text(text) => each(path.to_owned(), text),
            Json::Map(fields) => {
                for (name, value) in fields {
                    let path = if path.is_empty() { name } else { [path, ".", name.as_str()].concat() };
                    walk(&path, value, each);
                }
            }
            _ => {}
        }
    }
    walk("", parse(text)?, &mut each);
    Ok(())
}

fn parse(text: &str) -> Result<Json, Error> {
    serde_json::from_str(text).map_err(|error| Error::Syntax(error.to_string()))
}

struct Tree;

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Natural(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Negative(value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Real(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = map.next_entry()? {
            fields.push(entry);
        }
        Ok(Json::Map(fields))
    }
}

impl Json {
    /// Hands a number to a reader, whatever kind of number it wants; the reader refuses what does not fit.
    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Natural(n) => visitor.visit_u64(n),
            Self::Negative(n) => visitor.visit_i64(n),
            Self::Real(n) => visitor.visit_f64(n),
            _ => Err(Error::Shape),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.number(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Json {
    type Error = Error;

    numbers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64);

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Text(text) => visitor.visit_string(text),
            Self::List(list) => visitor.visit_seq(Elements(list.into_iter())),
            Self::Map(fields) => visitor.visit_map(Fields { rest: fields.into_iter(), value: None }),
            number => number.number(visitor),
        }
    }
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self::Bool(value) = self else { return Err(Error::Shape) };
        visitor.visit_bool(value)
    }
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self::Text(text) = self else { return Err(Error::Shape) };
        visitor.visit_string(text)
    }
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_string(visitor)
    }
    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::Shape)
    }
    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::Shape)
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self::Null = self else { return Err(Error::Shape) };
        visitor.visit_unit()
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self::List(list) = self else { return Err(Error::Shape) };
        visitor.visit_seq(Elements(list.into_iter()))
    }
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let Self::Map(fields) = self else { return Err(Error::Shape) };
        visitor.visit_map(Fields { rest: fields.into_iter(), value: None })
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Text(name) => visitor.visit_enum(Variant { name, value: Self::Null }),
            Self::Map(mut fields) if fields.len() == 1 => {
                let Some((name, value)) = fields.pop() else { return Err(Error::Shape) };
                visitor.visit_enum(Variant { name, value })
            }
            _ => Err(Error::Shape),
        }
    }
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

struct Elements(std::vec::IntoIter<Json>);

impl<'de> SeqAccess<'de> for Elements {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|value| seed.deserialize(value)).transpose()
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Fields {
    rest: std::vec::IntoIter<(String, Json)>,
    value: Option<Json>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((name, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Json::Text(name)).map(Some)
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.value.take().ok_or(Error::Shape)?)
    }
}

struct Variant {
    name: String,
    value: Json,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Json;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Json), Error> {
        Ok((seed.deserialize(Json::Text(self.name))?, self.value))
    }
}

impl<'de> VariantAccess<'de> for Json {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        if let Self::Null = self { Ok(()) } else { Err(Error::Shape) }
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, read, read_each, read_texts};
    use serde::{Deserialize, Serialize, de::DeserializeOwned};
    use std::{collections::BTreeMap, fmt::Debug};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    enum Kind {
        Plain,
        One(u8),
        Two(i8, bool),
        Named { text: String },
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Whole {
        kinds: Vec<Kind>,
        map: BTreeMap<String, i64>,
        pair: (String, f64),
        #[serde(default)]
        absent: Option<u32>,
        boxed: Option<Box<Whole>>,
        unit: (),
    }

    fn whole(boxed: Option<Box<Whole>>) -> Whole {
        Whole {
            kinds: vec![
                Kind::Plain,
                Kind::One(7),
                Kind::Two(-7, true),
                Kind::Named { text: "\"é\u{1F3AE}".into() },
            ],
            map: [("a".to_owned(), i64::MIN), ("b".to_owned(), i64::MAX)].into(),
            pair: ("x".into(), 0.25),
            absent: None,
            boxed,
            unit: (),
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let value = whole(Some(Box::new(whole(None))));
        assert_eq!(read::<Whole>(&serde_json::to_string(&value).unwrap()), Ok(value));
    }

    /// Reads as `serde_json` does, in what it accepts.
    #[track_caller]
    fn agrees<T: DeserializeOwned + PartialEq + Debug>(text: &str) {
        assert_eq!(read::<T>(text).ok(), serde_json::from_str::<T>(text).ok(), "{text}");
    }

    #[test]
    fn it_accepts_and_refuses_what_serde_json_does() {
        for text in ["1", "-1", "256", "1.0", "1e300", "true", "null", "\"1\"", "[]", "{}", "", "[1", "1 2"] {
            agrees::<u8>(text);
            agrees::<i64>(text);
            agrees::<f64>(text);
            agrees::<bool>(text);
            agrees::<String>(text);
            agrees::<Option<u8>>(text);
            agrees::<Vec<u8>>(text);
            agrees::<()>(text);
            agrees::<BTreeMap<String, u8>>(text);
        }
        for text in [
            "\"plain\"",
            "\"one\"",
            "{\"one\":7}",
            "{\"one\":7,\"two\":8}",
            "{\"plain\":null}",
            "\"Plain\"",
            "{}",
        ] {
            agrees::<Kind>(text);
        }
        for text in ["[\"x\",1.5]", "[\"x\"]", "[1.5,\"x\"]"] {
            agrees::<(String, f64)>(text);
        }
    }

    #[test]
    fn the_error_says_which_field_is_missing() {
        let error = read::<Whole>(r#"{"kinds":[],"map":{}}"#).unwrap_err();
        assert_eq!(error, Error::Missing("pair"));
        assert_eq!(error.to_string(), "missing field pair");
        assert!(matches!(read::<u8>("{"), Err(Error::Syntax(_))));
    }

    #[test]
    fn elements_of_another_shape_are_passed_over() {
        assert_eq!(read_each::<u8>("[1,\"2\",3,256]"), [1, 3]);
        assert!(read_each::<u8>("{}").is_empty());
    }

    #[test]
    fn texts_come_with_their_paths() {
        let mut found = Vec::new();
        read_texts(r#"{"a":{"b":"1","c":{"d":"2"}},"n":3}"#, |path, text| found.push((path, text))).unwrap();
        assert_eq!(found, [("a.b".to_owned(), "1".to_owned()), ("a.c.d".to_owned(), "2".to_owned())]);
    }
}
