//! Reads server-sent events from chunks of bytes, however they are cut. Pure.

/// Collects bytes and gives the `data` of each event; comments, ids and unknown fields are passed over.
#[derive(Debug, Default)]
pub struct Reader {
    buffer: Vec<u8>,
    data: String,
    /// How far the buffer was searched for a line's end, so that a long event is not searched twice.
    searched: usize,
}

impl Reader {
    /// Adds a chunk; returns the events that it completes, in order. Bytes that are not UTF-8 become U+FFFD.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<String> {
        self.buffer.extend_from_slice(chunk);
        let mut events = Vec::new();
        let mut start = 0;
        while let Some(end) = self.buffer[self.searched.max(start)..].iter().position(|byte| *byte == b'\n') {
            let end = self.searched.max(start) + end;
            let line = self.buffer[start..end].strip_suffix(b"\r").unwrap_or(&self.buffer[start..end]);
            if line.is_empty() {
                if !self.data.is_empty() {
                    events.push(std::mem::take(&mut self.data));
                }
            } else if let Some(value) = line.strip_prefix(b"data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(&String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value)));
            }
            start = end + 1;
            self.searched = 0;
        }
        self.buffer.drain(..start);
        self.searched = self.buffer.len();
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        ": welcome\nid: 7\nevent: x\ndata: {\"a\":1}\n\ndata:one\r\ndata: two 日本\r\n\r\n\ndata: cut";

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        for size in 1..TEXT.len() {
            let mut reader = Reader::default();
            let events: Vec<String> =
                TEXT.as_bytes().chunks(size).flat_map(|chunk| reader.push(chunk)).collect();
            assert_eq!(events, vec!["{\"a\":1}".to_owned(), "one\ntwo 日本".to_owned()], "chunks of {size}");
        }
    }

    #[test]
    fn an_unfinished_event_waits_for_its_end() {
        let mut reader = Reader::default();
        assert!(reader.push(b"data: a\n").is_empty());
        assert_eq!(reader.push(b"\n"), vec!["a".to_owned()]);
    }
}
