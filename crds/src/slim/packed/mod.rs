//! How slim objects lie in a cache: as a run of bytes, unpacked when somebody looks.
//!
//! A pod as a Rust value is 6 kB, most of it empty fields, tree nodes and the headers of short strings. Packed it is about
//! 300 bytes, so 50,000 servers with their pods fit into the memory of a small container. Unpacking takes about two
//! microseconds.

mod code;
mod kinds;
mod words;

use std::{fmt, marker::PhantomData, sync::Arc};

use code::{Code, Reader, Writer};

/// A packed object. A clone shares the bytes.
pub struct Packed<T> {
    bytes: Arc<[u8]>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Packed<T> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), of: PhantomData }
    }
}

impl<T> fmt::Debug for Packed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packed({} bytes)", self.bytes.len())
    }
}

impl<T> Packed<T> {
    /// How many bytes it is.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// A type that has a packed form.
pub trait Pack: Sized {
    /// Packs.
    #[must_use]
    fn pack(&self) -> Packed<Self>;

    /// Unpacks: the same value again.
    #[must_use]
    fn unpack(packed: &Packed<Self>) -> Self;
}

impl<T: Code> Pack for T {
    fn pack(&self) -> Packed<Self> {
        let mut writer = Writer::new();
        self.put(&mut writer);
        Packed { bytes: writer.into_bytes().into(), of: PhantomData }
    }

    fn unpack(packed: &Packed<Self>) -> Self {
        let mut reader = Reader::new(&packed.bytes);
        let value = Self::take(&mut reader);
        debug_assert!(reader.is_at_end(), "what put wrote, take did not read");
        value
    }
}
