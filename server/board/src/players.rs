//! Where the number of players comes from. OpenKruiseGame has no field for it.

use std::str::FromStr;

/// The source of the number of players of OpenKruiseGame servers. Without one the number is unknown, which is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PlayersFrom {
    /// Nobody tells it.
    #[default]
    Nowhere,
    /// `annotation:KEY`: an annotation of the GameServer, else of the pod, holds the number.
    Annotation(String),
    /// `quality:NAME`: the result of a service quality is the number.
    Quality(String),
}

/// A text that names no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither annotation:KEY nor quality:NAME")]
pub struct PlayersFromError(pub String);

impl FromStr for PlayersFrom {
    type Err = PlayersFromError;

    fn from_str(text: &str) -> Result<Self, PlayersFromError> {
        match text.split_once(':') {
            _ if text.is_empty() => Ok(Self::Nowhere),
            Some(("annotation", key)) if !key.is_empty() => Ok(Self::Annotation(key.to_owned())),
            Some(("quality", name)) if !name.is_empty() => Ok(Self::Quality(name.to_owned())),
            _ => Err(PlayersFromError(text.to_owned())),
        }
    }
}

/// The number in a text such as `12`; texts that are no whole number from 0 on tell nothing.
pub(crate) fn count(text: &str) -> Option<i64> {
    text.trim().parse().ok().filter(|players| *players >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read() {
        assert_eq!("".parse(), Ok(PlayersFrom::Nowhere));
        assert_eq!(
            "annotation:game.io/players".parse(),
            Ok(PlayersFrom::Annotation("game.io/players".to_owned()))
        );
        assert_eq!("quality:players".parse(), Ok(PlayersFrom::Quality("players".to_owned())));
        for odd in ["players", "annotation:", "quality:", "label:x"] {
            assert_eq!(odd.parse::<PlayersFrom>(), Err(PlayersFromError(odd.to_owned())));
        }
    }

    #[test]
    fn only_counts_are_counts() {
        let counts = ["12", " 0 ", "-1", "many", ""].map(count);
        assert_eq!(counts, [Some(12), Some(0), None, None, None]);
    }
}
