//! Step validate of a batch: turns a loose [`Change`] into one that every server can be asked for.

use crds::kruise::{OpsState, OpsStateError};
use thiserror::Error;
use wire::{batch::Change, error::Reason};

/// Longest image reference the API accepts in practice; longer ones are typing accidents.
const MAX_IMAGE: usize = 1024;

/// A change that no server could take.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ChangeError {
    /// Nothing to change.
    #[error("the change names no field: set opsState, deletionPriority or an image")]
    Empty,
    /// A known opsState, misspelt in case or blanks.
    #[error("opsState `{given}` is written `{known}`")]
    Misspelt {
        /// As sent.
        given: String,
        /// As it is known.
        known: &'static str,
    },
    /// The opsState is copied into a pod label, so it must be a legal label value.
    #[error(
        "opsState `{0}` is not a legal label value: up to 63 letters, digits, `-`, `_`, `.`, beginning and ending with a letter or digit"
    )]
    NotALabelValue(String),
    /// An empty opsState.
    #[error("opsState is empty; the quiet one is `None`")]
    EmptyOpsState,
    /// An image without a container name.
    #[error("an image needs the name of its container")]
    NoContainer,
    /// The same container twice.
    #[error("container `{0}` is named twice")]
    ContainerTwice(String),
    /// Not an image reference.
    #[error("`{0}` is not an image reference")]
    NotAnImage(String),
}

impl ChangeError {
    /// The error as a reason with a stable code.
    #[must_use]
    pub fn reason(&self) -> Reason {
        let message = self.to_string();
        match self {
            Self::Empty => Reason::new("change-empty", message),
            Self::Misspelt { given, known } => {
                Reason::new("ops-state-misspelt", message).with("given", given).with("known", known)
            }
            Self::NotALabelValue(given) => {
                Reason::new("ops-state-not-a-label-value", message).with("given", given)
            }
            Self::EmptyOpsState => Reason::new("ops-state-empty", message),
            Self::NoContainer => Reason::new("image-without-container", message),
            Self::ContainerTwice(name) => Reason::new("container-twice", message).with("container", name),
            Self::NotAnImage(image) => Reason::new("not-an-image", message).with("image", image),
        }
    }
}

/// Checks a change; what passes can be planned without further errors.
///
/// # Errors
/// The first rule that is broken.
pub fn validate(change: &Change) -> Result<(), ChangeError> {
    if change.ops_state.is_none() && change.deletion_priority.is_none() && change.images.is_empty() {
        return Err(ChangeError::Empty);
    }
    if let Some(ops) = &change.ops_state {
        validate_ops_state(ops)?;
    }
    for (at, image) in change.images.iter().enumerate() {
        if image.container.is_empty() {
            return Err(ChangeError::NoContainer);
        }
        if change.images[..at].iter().any(|other| other.container == image.container) {
            return Err(ChangeError::ContainerTwice(image.container.clone()));
        }
        let odd = |c: char| c.is_whitespace() || c.is_control() || c == '"' || c == '\'';
        if image.image.is_empty() || image.image.len() > MAX_IMAGE || image.image.contains(odd) {
            return Err(ChangeError::NotAnImage(image.image.clone()));
        }
    }
    Ok(())
}

fn validate_ops_state(ops: &str) -> Result<(), ChangeError> {
    if ops.trim().is_empty() {
        return Err(ChangeError::EmptyOpsState);
    }
    match OpsState::checked(ops) {
        Ok(_) => Ok(()),
        Err(OpsStateError::LooksLike { text, meant }) => {
            Err(ChangeError::Misspelt { given: text, known: meant })
        }
        Err(OpsStateError::NotALabelValue(text)) => Err(ChangeError::NotALabelValue(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::batch::ImageChange;

    fn ops(value: &str) -> Change {
        Change { ops_state: Some(value.into()), ..Change::default() }
    }

    fn image(container: &str, image: &str) -> ImageChange {
        ImageChange { container: container.into(), image: image.into() }
    }

    #[test]
    fn known_and_custom_states_pass() {
        for value in OpsState::KNOWN.into_iter().chain(["warmup", "a", "v1.2_x-3"]) {
            assert_eq!(validate(&ops(value)), Ok(()), "{value}");
        }
    }

    #[test]
    fn misspelt_known_states_name_the_right_one() {
        for value in ["maintaining", "Wait To Be Deleted", " Kill"] {
            assert!(matches!(validate(&ops(value)), Err(ChangeError::Misspelt { .. })), "{value}");
        }
    }

    #[test]
    fn what_no_label_may_hold_is_refused() {
        for value in ["-a", "a b", "a/b", "维护", &"x".repeat(64)] {
            assert!(matches!(validate(&ops(value)), Err(ChangeError::NotALabelValue(_))), "{value}");
        }
        assert_eq!(validate(&ops(" ")), Err(ChangeError::EmptyOpsState));
    }

    #[test]
    fn images_need_a_container_once_and_a_reference() {
        let change = |images| Change { images, ..Change::default() };
        assert_eq!(validate(&Change::default()), Err(ChangeError::Empty));
        assert_eq!(validate(&change(vec![image("", "a")])), Err(ChangeError::NoContainer));
        assert_eq!(
            validate(&change(vec![image("a", "x:1"), image("a", "x:2")])),
            Err(ChangeError::ContainerTwice("a".into()))
        );
        assert_eq!(validate(&change(vec![image("a", "x 1")])), Err(ChangeError::NotAnImage("x 1".into())));
        assert_eq!(validate(&change(vec![image("a", "reg:5000/x@sha256:ab")])), Ok(()));
    }
}
