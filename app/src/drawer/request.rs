//! From the form to a request. Pure.

use std::collections::BTreeMap;
use wire::{
    BatchRequest, BatchTarget, Change, PreviewRequest, ServerKey,
    batch::{ImageChange, Policy},
};

/// What the form holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entered {
    /// New opsState; empty keeps what is.
    pub ops: String,
    /// New images by container; empty keeps what is.
    pub images: BTreeMap<String, String>,
    /// New deletionPriority as typed; empty keeps what is.
    pub priority: String,
    /// Also what is in use.
    pub include_in_use: bool,
}

/// Why the form is no request yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotYet {
    /// Nothing is changed.
    Nothing,
    /// The priority is no whole number in range.
    Priority,
}

impl Entered {
    /// The change that it asks for.
    ///
    /// # Errors
    /// [`NotYet`] says what is missing.
    pub fn change(&self) -> Result<Change, NotYet> {
        let priority = match self.priority.trim() {
            "" => None,
            text => Some(text.parse().map_err(|_| NotYet::Priority)?),
        };
        let images: Vec<ImageChange> = self
            .images
            .iter()
            .filter(|(_, image)| !image.trim().is_empty())
            .map(|(container, image)| ImageChange {
                container: container.clone(),
                image: image.trim().to_owned(),
            })
            .collect();
        let ops = self.ops.trim();
        let change = Change {
            ops_state: (!ops.is_empty()).then(|| ops.to_owned()),
            deletion_priority: priority,
            images,
        };
        if change == Change::default() { Err(NotYet::Nothing) } else { Ok(change) }
    }

    /// Whether the change stops or restarts something, so that servers in use are protected.
    pub fn disturbs(&self) -> bool {
        self.ops.trim() == "Kill" || self.images.values().any(|image| !image.trim().is_empty())
    }

    /// The whole request.
    ///
    /// # Errors
    /// As [`Entered::change`].
    pub fn request(&self, targets: Vec<ServerKey>) -> Result<PreviewRequest, NotYet> {
        // The override is never sent where it is not offered: it must not stick from a change that was taken back.
        let policy = Policy { include_in_use: self.include_in_use && self.disturbs() };
        Ok(PreviewRequest {
            target: BatchTarget::Keys(targets),
            namespace: String::new(),
            change: self.change()?,
            policy,
        })
    }
}

/// The request that starts what was previewed.
pub fn start(preview: PreviewRequest, token: &str, idempotency_key: String) -> BatchRequest {
    BatchRequest { preview, token: Some(token.to_owned()), idempotency_key }
}

/// Sixteen random bytes as an idempotency key.
pub fn key_of(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One server of each set among the targets, at most `most`: their pods tell which containers there are. A set is
/// told by the name without its last number, as keys do not carry it.
pub fn samples(targets: &[ServerKey], most: usize) -> Vec<ServerKey> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut found = Vec::new();
    for key in targets {
        let set = key.name.rsplit_once('-').map_or(key.name.as_str(), |(set, _)| set);
        if found.len() < most && !seen.contains(&(key.namespace.as_str(), set)) {
            seen.push((&key.namespace, set));
            found.push(key.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Family;

    #[test]
    fn empty_fields_stay_as_they_are() {
        let mut entered = Entered::default();
        assert_eq!(entered.change(), Err(NotYet::Nothing));
        entered.images.insert("game".into(), "  ".into());
        assert_eq!(entered.change(), Err(NotYet::Nothing));
        entered.priority = " -3 ".into();
        entered.images.insert("side".into(), "x:2".into());
        let change = entered.change().unwrap();
        assert_eq!((change.ops_state, change.deletion_priority), (None, Some(-3)));
        assert_eq!(change.images, [ImageChange { container: "side".into(), image: "x:2".into() }]);
        entered.priority = "9999999999".into();
        assert_eq!(entered.change(), Err(NotYet::Priority));
    }

    #[test]
    fn the_override_goes_with_the_change_that_needs_it() {
        let mut entered = Entered { ops: "Kill".into(), include_in_use: true, ..Entered::default() };
        assert!(entered.request(Vec::new()).unwrap().policy.include_in_use);
        entered.ops = "Maintaining".into();
        assert!(!entered.request(Vec::new()).unwrap().policy.include_in_use);
    }

    #[test]
    fn one_server_of_each_set_is_looked_at() {
        let key = |ns: &str, name: &str| ServerKey::new(Family::Kruise, ns, name);
        let targets =
            [key("a", "x-1"), key("a", "x-2"), key("b", "x-1"), key("a", "y-z-1"), key("a", "solo")];
        assert_eq!(
            samples(&targets, 9),
            [key("a", "x-1"), key("b", "x-1"), key("a", "y-z-1"), key("a", "solo")]
        );
        assert_eq!(samples(&targets, 2).len(), 2);
    }

    #[test]
    fn a_key_is_32_hex_digits() {
        assert_eq!(key_of([0xab; 16]), "ab".repeat(16));
    }
}
