//! Network of game servers: what a set asks of a plugin, and what a server's status and the pod annotation report.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which plugin gives the servers of a set an address, and its parameters.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Network {
    /// Name of the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_type: Option<String>,
    /// Parameters in the plugin's own words.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub network_conf: Vec<NetworkConfParam>,
}

/// One parameter of a network plugin. The pod annotation holds a JSON list of these.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkConfParam {
    /// Name of the parameter.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub name: String,
    /// Its value as text.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub value: String,
}

/// Known texts of `desiredNetworkState` and `currentNetworkState`.
#[derive(Clone, Copy, Debug)]
pub struct NetworkState;

impl NetworkState {
    /// Reachable.
    pub const READY: &'static str = "Ready";
    /// The plugin is still at work.
    pub const WAITING: &'static str = "Waiting";
    /// Not reachable, or isolated on purpose.
    pub const NOT_READY: &'static str = "NotReady";
}

/// Addresses of a server and how far the network is.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkStatus {
    /// Name of the plugin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_type: Option<String>,
    /// Addresses inside the cluster.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub internal_addresses: Vec<NetworkAddress>,
    /// Addresses that players use.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub external_addresses: Vec<NetworkAddress>,
    /// What is wanted: Ready, or NotReady when the server is isolated on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_network_state: Option<String>,
    /// What is: Ready, Waiting or NotReady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_network_state: Option<String>,
    /// When the network was first asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_time: Option<Time>,
    /// When this status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
}

/// One address with its ports.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkAddress {
    /// IP address; always written, may be empty.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub ip: String,
    /// Single ports.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub ports: Vec<NetworkPort>,
    /// A contiguous range of ports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_range: Option<NetworkPortRange>,
    /// Host name or whole end point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_point: Option<String>,
}

/// One named port.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPort {
    /// Name of the port.
    #[serde(default, deserialize_with = "crate::lenient::null_is_default")]
    pub name: String,
    /// `TCP`, `UDP`, `SCTP`, or a plugin's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Number or name.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub port: Option<IntOrString>,
}

/// A range of ports as text, such as `500-502`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NetworkPortRange {
    /// `TCP`, `UDP`, `SCTP`, or a plugin's own word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_range: Option<String>,
}
