//! Identities: families of resources, and the keys of servers and sets.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};
use thiserror::Error;

/// The system whose resources a row comes from. Every key carries it: the three families share short names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// OpenKruiseGame, group `game.kruise.io`.
    Kruise,
    /// Minato, group `operator.minato.io`.
    Minato,
    /// Agones, group `agones.dev`.
    Agones,
}

impl Family {
    /// The word used in keys, URLs and the filter field `family`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kruise => "kruise",
            Self::Minato => "minato",
            Self::Agones => "agones",
        }
    }

    /// The full resource name of a game server, as `kubectl` takes it without ambiguity.
    #[must_use]
    pub fn server_resource(self) -> &'static str {
        match self {
            Self::Kruise => "gameservers.game.kruise.io",
            Self::Minato => "gameservers.operator.minato.io",
            Self::Agones => "gameservers.agones.dev",
        }
    }

    /// The full resource name of a set of game servers.
    #[must_use]
    pub fn set_resource(self) -> &'static str {
        match self {
            Self::Kruise => "gameserversets.game.kruise.io",
            Self::Minato => "gameserverfleets.operator.minato.io",
            Self::Agones => "fleets.agones.dev",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A key that is not `family/namespace/name`.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// The text does not have three parts, or one of them is empty.
    #[error("`{0}` is not family/namespace/name")]
    Shape(String),
    /// The first part names no family.
    #[error("`{0}` is not a family: kruise, minato or agones")]
    Family(String),
}

impl FromStr for Family {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        match text {
            "kruise" => Ok(Self::Kruise),
            "minato" => Ok(Self::Minato),
            "agones" => Ok(Self::Agones),
            other => Err(KeyError::Family(other.to_owned())),
        }
    }
}

macro_rules! key_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name {
            /// The system it belongs to.
            pub family: Family,
            /// Kubernetes namespace.
            pub namespace: String,
            /// Kubernetes object name.
            pub name: String,
        }

        impl $name {
            /// A key from its parts.
            pub fn new(family: Family, namespace: impl Into<String>, name: impl Into<String>) -> Self {
                Self { family, namespace: namespace.into(), name: name.into() }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}/{}", self.family, self.namespace, self.name)
            }
        }

        impl FromStr for $name {
            type Err = KeyError;

            fn from_str(text: &str) -> Result<Self, KeyError> {
                let mut parts = text.split('/');
                match (parts.next(), parts.next(), parts.next(), parts.next()) {
                    (Some(family), Some(namespace), Some(name), None) if !namespace.is_empty() && !name.is_empty() => {
                        Ok(Self::new(family.parse()?, namespace, name))
                    }
                    _ => Err(KeyError::Shape(text.to_owned())),
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

key_type!(
    /// One game server: `family/namespace/name`. Serialised as that text.
    ServerKey
);
key_type!(
    /// One set of game servers (GameServerSet, GameServerFleet, Fleet): `family/namespace/name`. Serialised as that text.
    SetKey
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_survive_the_round_trip() {
        let key: ServerKey = "kruise/prod/minecraft-3".parse().unwrap();
        assert_eq!(key, ServerKey::new(Family::Kruise, "prod", "minecraft-3"));
        let json = serde_json::to_string(&key).unwrap();
        assert_eq!(json, "\"kruise/prod/minecraft-3\"");
        assert_eq!(serde_json::from_str::<ServerKey>(&json).unwrap(), key);
    }

    #[test]
    fn odd_keys_are_refused_with_the_reason() {
        for text in ["", "kruise/a", "kruise//b", "kruise/a/", "kruise/a/b/c"] {
            assert_eq!(text.parse::<SetKey>(), Err(KeyError::Shape(text.to_owned())));
        }
        assert_eq!("okg/a/b".parse::<SetKey>(), Err(KeyError::Family("okg".to_owned())));
    }
}
