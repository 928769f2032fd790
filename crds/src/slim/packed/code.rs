//! The packed form of plain values: numbers in as few bytes as they need, texts as numbers of words, uids as 16 bytes.

use std::{
    collections::BTreeMap,
    sync::{Arc, RwLockReadGuard, RwLockWriteGuard},
};

use k8s_openapi::{
    apimachinery::pkg::{apis::meta::v1::Time, util::intstr::IntOrString},
    jiff::Timestamp,
};
use serde_json::Value;

use super::words::{self, Words};
use crate::slim::shared;

/// A value that can be packed: `take` reads exactly what `put` wrote.
///
/// Nothing but `put` of the same process makes the bytes. Reading beyond their end gives zeros and empty texts, so a mistake
/// here cannot panic in a watch.
pub trait Code: Sized {
    /// Writes it.
    fn put(&self, to: &mut Writer);
    /// Reads it.
    fn take(from: &mut Reader) -> Self;
}

/// How a text is written: the lowest two bits of its first number.
const PLAIN: u64 = 0;
const WORD: u64 = 1;
const UID: u64 = 2;

/// Takes bytes.
pub struct Writer {
    bytes: Vec<u8>,
    words: RwLockWriteGuard<'static, Words>,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::with_capacity(512), words: words::write() }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Seven bits a byte, the highest bit says that more follow.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        if let Some(uid) = uid_bytes(text) {
            self.number(UID);
            self.bytes.extend_from_slice(&uid);
        } else if let Some(number) = self.words.number(text) {
            self.number(u64::from(number) << 2 | WORD);
        } else {
            self.number((text.len() as u64) << 2 | PLAIN);
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }
}

/// Gives bytes.
pub struct Reader<'a> {
    bytes: &'a [u8],
    words: RwLockReadGuard<'static, Words>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, words: words::read() }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn some(&mut self, length: u64) -> &'a [u8] {
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(self.bytes.len());
        let (some, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        some
    }

    fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 63 {
                return number;
            }
        }
    }

    /// Hands the text over without a copy where it is one already.
    fn text<T>(&mut self, take: impl FnOnce(&str) -> T) -> T {
        let head = self.number();
        match head & 3 {
            UID => take(&uid_text(self.some(16))),
            WORD => take(self.words.word(head >> 2)),
            _ => take(&String::from_utf8_lossy(self.some(head >> 2))),
        }
    }
}

/// The 16 bytes of a uid in the form that the API server writes: small letters with dashes.
fn uid_bytes(text: &str) -> Option<[u8; 16]> {
    if text.len() != 36 {
        return None;
    }
    let mut uid = [0; 16];
    let mut digits = 0;
    for (at, byte) in text.bytes().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        uid[digits / 2] |= digit << if digits % 2 == 0 { 4 } else { 0 };
        digits += 1;
    }
    Some(uid)
}

fn uid_text(uid: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in uid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
    }
    text
}

impl Code for u64 {
    fn put(&self, to: &mut Writer) {
        to.number(*self);
    }
    fn take(from: &mut Reader) -> Self {
        from.number()
    }
}

impl Code for i64 {
    fn put(&self, to: &mut Writer) {
        // Small numbers of either sign are short.
        to.number(((self << 1) ^ (self >> 63)) as u64);
    }
    fn take(from: &mut Reader) -> Self {
        let number = from.number();
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }
}

impl Code for i32 {
    fn put(&self, to: &mut Writer) {
        i64::from(*self).put(to);
    }
    fn take(from: &mut Reader) -> Self {
        Self::try_from(i64::take(from)).unwrap_or_default()
    }
}

impl Code for bool {
    fn put(&self, to: &mut Writer) {
        to.number(u64::from(*self));
    }
    fn take(from: &mut Reader) -> Self {
        from.number() == 1
    }
}

impl Code for String {
    fn put(&self, to: &mut Writer) {
        to.text(self);
    }
    fn take(from: &mut Reader) -> Self {
        from.text(str::to_owned)
    }
}

impl<T: Code> Code for Option<T> {
    fn put(&self, to: &mut Writer) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }
    fn take(from: &mut Reader) -> Self {
        bool::take(from).then(|| T::take(from))
    }
}

impl<T: Code> Code for Vec<T> {
    fn put(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        self.iter().for_each(|item| item.put(to));
    }
    fn take(from: &mut Reader) -> Self {
        (0..from.number()).map_while(|_| (!from.is_at_end()).then(|| T::take(from))).collect()
    }
}

impl<K: Code + Ord, V: Code> Code for BTreeMap<K, V> {
    fn put(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        for (key, value) in self {
            key.put(to);
            value.put(to);
        }
    }
    fn take(from: &mut Reader) -> Self {
        (0..from.number())
            .map_while(|_| (!from.is_at_end()).then(|| (K::take(from), V::take(from))))
            .collect()
    }
}

impl Code for Time {
    fn put(&self, to: &mut Writer) {
        self.0.as_second().put(to);
        self.0.subsec_nanosecond().put(to);
    }
    fn take(from: &mut Reader) -> Self {
        Self(Timestamp::new(i64::take(from), i32::take(from)).unwrap_or_default())
    }
}

impl Code for IntOrString {
    fn put(&self, to: &mut Writer) {
        match self {
            Self::Int(number) => {
                false.put(to);
                number.put(to);
            }
            Self::String(text) => {
                true.put(to);
                text.put(to);
            }
        }
    }
    fn take(from: &mut Reader) -> Self {
        if bool::take(from) { Self::String(String::take(from)) } else { Self::Int(i32::take(from)) }
    }
}

impl Code for Arc<Value> {
    fn put(&self, to: &mut Writer) {
        to.text(&self.to_string());
    }
    fn take(from: &mut Reader) -> Self {
        from.text(shared::share_text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pack;
    use super::*;
    use std::fmt::Debug;

    fn comes_back<T: Code + Debug + PartialEq>(value: T) {
        assert_eq!(T::unpack(&value.pack()), value);
    }

    #[test]
    fn numbers_of_every_size_come_back() {
        [0, 1, 127, 128, 16_383, 16_384, u64::MAX].into_iter().for_each(comes_back);
        [0, -1, 1, 63, -64, 64, i64::MIN, i64::MAX].into_iter().for_each(comes_back);
        [0, i32::MIN, i32::MAX].into_iter().for_each(comes_back);
        [true, false].into_iter().for_each(comes_back);
    }

    #[test]
    fn texts_come_back_the_first_time_and_the_second() {
        for text in [
            "",
            "Ready",
            "grün 🙂",
            "0f0e0d0c-0b0a-4999-8777-0123456789ab",
            "0F0E0D0C-0B0A-4999-8777-0123456789AB",
            "0f0e0d0c-0b0a-4999-8777x0123456789ab",
            &"long ".repeat(1000),
        ] {
            comes_back(text.to_owned());
            comes_back(text.to_owned());
            comes_back(vec![Some(text.to_owned()), None, Some(text.to_owned())]);
        }
        assert!("0f0e0d0c-0b0a-4999-8777-0123456789ac".to_owned().pack().size() <= 17);
    }

    #[test]
    fn times_and_odd_numbers_come_back() {
        comes_back(Time(Timestamp::UNIX_EPOCH));
        comes_back(Time("2026-01-02T03:04:05.678901Z".parse().unwrap()));
        comes_back(Time("1960-01-02T03:04:05.5Z".parse().unwrap()));
        comes_back(vec![IntOrString::Int(-7), IntOrString::String("7".into())]);
        comes_back(BTreeMap::from([("a".to_owned(), 1_i64), ("b".to_owned(), -1)]));
    }

    #[test]
    fn bytes_that_end_too_early_give_nothing_instead_of_a_panic() {
        let list = vec![Some("a text".to_owned()); 5].pack();
        for length in 0..list.size() {
            let mut reader = Reader::new(&list.bytes[..length]);
            assert!(Vec::<Option<String>>::take(&mut reader).len() <= 5);
        }
    }
}
