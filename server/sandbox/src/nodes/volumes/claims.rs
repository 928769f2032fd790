//! What the simulated scheduler knows about claims: how each stands, and which pods wait for it. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Namespace and name of a claim.
pub type ClaimKey = (String, String);

/// How a claim stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has its volume.
    Bound,
    /// It has none. With `on_first_use` it gets one once a node is chosen for its first pod; this one was, if any.
    Unbound {
        /// True for a class with `volumeBindingMode: WaitForFirstConsumer`.
        on_first_use: bool,
        /// The node that was chosen.
        selected: Option<String>,
    },
    /// Somebody asked for its deletion.
    Deleting,
}

/// What the watch on claims tells the scheduler.
#[derive(Debug)]
pub enum News {
    /// A claim stands so; absent when it is gone.
    Stands(ClaimKey, Option<Standing>),
    /// All claims that exist were told; what was not, is not there.
    AllTold(BTreeSet<ClaimKey>),
}

/// What the claims of a pod mean for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nothing is in its way.
    Nothing,
    /// No node can take it: the words of the real scheduler.
    Refused(String),
    /// These claims need a node first; each with the node that was chosen before.
    FirstUse(Vec<(String, Option<String>)>),
}

/// All claims, and the pods that name them.
#[derive(Debug, Default)]
pub struct Claims {
    known: BTreeMap<ClaimKey, Standing>,
    users: HashMap<ClaimKey, BTreeSet<Arc<str>>>,
    complete: bool,
}

impl Claims {
    /// True once all claims were told; before that a claim that is not known may be there.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Remembers that a pod names these claims.
    pub fn add_user(&mut self, namespace: &str, claims: &[String], uid: &Arc<str>) {
        for claim in claims {
            let key = (namespace.to_owned(), claim.clone());
            self.users.entry(key).or_default().insert(uid.clone());
        }
    }

    /// Forgets a pod.
    pub fn remove_user(&mut self, namespace: &str, claims: &[String], uid: &str) {
        for claim in claims {
            let key = (namespace.to_owned(), claim.clone());
            if let Some(users) = self.users.get_mut(&key) {
                users.remove(uid);
                if users.is_empty() {
                    self.users.remove(&key);
                }
            }
        }
    }

    /// Takes in news; returns the pods that may go on now.
    pub fn learn(&mut self, news: News) -> Vec<Arc<str>> {
        let users = |key: &ClaimKey| self.users.get(key).into_iter().flatten().cloned();
        match news {
            News::Stands(key, standing) => {
                if self.known.get(&key) == standing.as_ref() {
                    return Vec::new();
                }
                let touched = users(&key).collect();
                match standing {
                    Some(standing) => self.known.insert(key, standing),
                    None => self.known.remove(&key),
                };
                touched
            }
            News::AllTold(all) => {
                let mut touched = BTreeSet::new();
                let lost: Vec<ClaimKey> =
                    self.known.keys().filter(|key| !all.contains(*key)).cloned().collect();
                for key in &lost {
                    touched.extend(users(key));
                }
                if !self.complete {
                    touched.extend(self.users.values().flatten().cloned());
                }
                for key in lost {
                    self.known.remove(&key);
                }
                self.complete = true;
                touched.into_iter().collect()
            }
        }
    }

    /// What the claims of a pod mean for it, in the words and the order of the real scheduler (`VolumeBinding` of
    /// Kubernetes 1.36): a claim that is not there or goes counts before one that is not bound.
    pub fn judge(&self, namespace: &str, claims: &[String]) -> Waits {
        let mut unbound = false;
        let mut first_use = Vec::new();
        for claim in claims {
            match self.known.get(&(namespace.to_owned(), claim.clone())) {
                None => return Waits::Refused(format!("persistentvolumeclaim \"{claim}\" not found")),
                Some(Standing::Deleting) => {
                    return Waits::Refused(format!("persistentvolumeclaim \"{claim}\" is being deleted"));
                }
                Some(Standing::Bound) => {}
                Some(Standing::Unbound { on_first_use: false, .. }) => unbound = true,
                Some(Standing::Unbound { selected, .. }) => first_use.push((claim.clone(), selected.clone())),
            }
        }
        if unbound {
            Waits::Refused("pod has unbound immediate PersistentVolumeClaims".into())
        } else if first_use.is_empty() {
            Waits::Nothing
        } else {
            Waits::FirstUse(first_use)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Claims, News, Standing, Waits};
    use std::collections::BTreeSet;
    use std::sync::Arc;

    fn key(name: &str) -> (String, String) {
        ("x".into(), name.into())
    }

    fn unbound(on_first_use: bool) -> Option<Standing> {
        Some(Standing::Unbound { on_first_use, selected: None })
    }

    #[test]
    fn claims_are_judged_as_the_real_scheduler_does() {
        let mut claims = Claims::default();
        claims.learn(News::Stands(key("bound"), Some(Standing::Bound)));
        claims.learn(News::Stands(key("now"), unbound(false)));
        claims.learn(News::Stands(key("later"), unbound(true)));
        claims.learn(News::Stands(key("goes"), Some(Standing::Deleting)));
        let judge = |names: &[&str]| {
            claims.judge("x", &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let refused = |text: &str| Waits::Refused(text.into());
        assert_eq!(judge(&[]), Waits::Nothing);
        assert_eq!(judge(&["bound"]), Waits::Nothing);
        assert_eq!(judge(&["bound", "later"]), Waits::FirstUse(vec![("later".into(), None)]));
        assert_eq!(judge(&["later", "now"]), refused("pod has unbound immediate PersistentVolumeClaims"));
        assert_eq!(judge(&["now", "none"]), refused("persistentvolumeclaim \"none\" not found"));
        assert_eq!(judge(&["goes"]), refused("persistentvolumeclaim \"goes\" is being deleted"));
        assert_eq!(
            claims.judge("y", &["bound".into()]),
            refused("persistentvolumeclaim \"bound\" not found")
        );
    }

    #[test]
    fn pods_are_woken_by_their_claims_and_only_by_changes() {
        let mut claims = Claims::default();
        let pod: Arc<str> = "u".into();
        claims.add_user("x", &["a".into(), "b".into()], &pod);
        assert!(!claims.is_complete());
        assert_eq!(
            claims.learn(News::AllTold(BTreeSet::new())),
            std::slice::from_ref(&pod),
            "now it is known to be absent"
        );
        assert!(claims.is_complete());
        assert_eq!(claims.learn(News::Stands(key("a"), unbound(true))), std::slice::from_ref(&pod));
        assert!(claims.learn(News::Stands(key("a"), unbound(true))).is_empty(), "nothing changed");
        assert!(claims.learn(News::Stands(key("other"), Some(Standing::Bound))).is_empty());
        assert_eq!(
            claims.learn(News::AllTold(BTreeSet::from([key("other")]))),
            std::slice::from_ref(&pod),
            "a is lost"
        );
        claims.remove_user("x", &["a".into(), "b".into()], &pod);
        assert!(claims.learn(News::Stands(key("a"), Some(Standing::Bound))).is_empty());
    }
}
