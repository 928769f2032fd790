//! What few built-in kinds do differently from all others, as data where possible.
use crate::api::validate::metadata::NameRule;

/// A kind with a behaviour of its own; everything else is `Plain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names are the kinds")]
pub enum Behaviour {
    #[default]
    Plain,
    Pod,
    Namespace,
    Node,
    Service,
    ServiceAccount,
    PersistentVolumeClaim,
    PersistentVolume,
    Event,
    EventsGroupEvent,
    Lease,
    Rbac,
    /// Deployment and the like: a spec whose changes count as generations.
    Workload,
    Disruption,
    Crd,
    /// Answered, never stored: access reviews and the like.
    Review,
    /// Stored kinds with a `generation` but nothing else of their own.
    Generational,
    Limits,
}

impl Behaviour {
    /// The behaviour of a built-in kind.
    pub fn of(group: &str, plural: &str) -> Self {
        match (group, plural) {
            ("", "pods") => Self::Pod,
            ("", "namespaces") => Self::Namespace,
            ("", "nodes") => Self::Node,
            ("", "services" | "endpoints") => Self::Service,
            ("", "serviceaccounts") => Self::ServiceAccount,
            ("", "persistentvolumeclaims") => Self::PersistentVolumeClaim,
            ("", "persistentvolumes") => Self::PersistentVolume,
            ("", "resourcequotas" | "limitranges" | "podtemplates") => Self::Limits,
            ("", "events") => Self::Event,
            ("events.k8s.io", "events") => Self::EventsGroupEvent,
            ("", "bindings") | ("authentication.k8s.io" | "authorization.k8s.io", _) => Self::Review,
            ("", "replicationcontrollers")
            | ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets") => Self::Workload,
            ("batch", _) => Self::Workload,
            ("coordination.k8s.io", _) => Self::Lease,
            ("rbac.authorization.k8s.io", _) => Self::Rbac,
            ("policy", "poddisruptionbudgets") => Self::Disruption,
            ("apiextensions.k8s.io", _) => Self::Crd,
            (
                "networking.k8s.io"
                | "discovery.k8s.io"
                | "admissionregistration.k8s.io"
                | "scheduling.k8s.io",
                _,
            ) => Self::Generational,
            _ => Self::Plain,
        }
    }

    /// Paths for field selectors besides name and namespace.
    pub fn selectable(self) -> Vec<Vec<String>> {
        let paths: &[&str] = match self {
            Self::Pod => &[
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "spec.hostNetwork",
                "status.phase",
                "status.podIP",
                "status.nominatedNodeName",
            ],
            Self::Namespace => &["status.phase"],
            Self::Node => &["spec.unschedulable"],
            Self::Service => &["spec.clusterIP", "spec.type"],
            Self::Event | Self::EventsGroupEvent => &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
                "reason",
                "reportingComponent",
                "source",
                "type",
            ],
            _ => &[],
        };
        paths.iter().map(|path| path.split('.').map(str::to_owned).collect()).collect()
    }

    /// Which rule names follow.
    pub fn name_rule(self) -> NameRule {
        match self {
            Self::Namespace | Self::Service => NameRule::Label,
            Self::Rbac => NameRule::Path,
            _ => NameRule::Subdomain,
        }
    }

    /// Whether objects carry `metadata.generation`.
    pub fn has_generation(self) -> bool {
        matches!(self, Self::Pod | Self::Workload | Self::Disruption | Self::Crd | Self::Generational)
    }

    /// Whether a PUT to a name that does not exist creates it.
    pub fn create_on_update(self) -> bool {
        matches!(self, Self::Lease | Self::Rbac | Self::Service | Self::Event | Self::EventsGroupEvent)
    }

    /// Whether a PUT without resourceVersion overwrites whatever is there. Custom kinds never allow that.
    pub fn unconditional_update(self) -> bool {
        !matches!(self, Self::Lease | Self::Disruption)
    }

    /// Whether a delete answers with the object that it removed instead of a Status.
    pub fn returns_deleted(self) -> bool {
        matches!(
            self,
            Self::Pod
                | Self::Namespace
                | Self::Service
                | Self::ServiceAccount
                | Self::PersistentVolume
                | Self::PersistentVolumeClaim
                | Self::Limits
        )
    }
}
