//! Service qualities: probes whose results change the game server's own fields.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ExecAction, GRPCAction, HTTPGetAction, TCPSocketAction};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::GameServerContainer;
use super::ops_state::looks_like_rule;
use crate::schema::{LABEL_VALUE_MAX, LABEL_VALUE_PATTERN};

/// Longest opsState of an action, which may be a template.
const ACTION_TEXT_MAX: usize = 256;

/// A probe of one container and what its results do.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = [{
    "rule": "[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].filter(given, given).size() == 1",
    "message": "a service quality needs exactly one of exec, httpGet, tcpSocket, grpc",
}]))]
pub struct ServiceQuality {
    /// Name; the pod condition is called `game.kruise.io/<name>`.
    pub name: String,
    /// Container that the probe runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    /// Act once only.
    pub permanent: bool,
    /// Runs a command in the container; its exit code is the status, its output the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecAction>,
    /// Asks by HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_get: Option<HTTPGetAction>,
    /// Opens a TCP connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_socket: Option<TCPSocketAction>,
    /// Asks by the gRPC health protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<GRPCAction>,
    /// Seconds before the first probe; 10 when zero or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub initial_delay_seconds: Option<i32>,
    /// Seconds that one probe may take; 5 when zero or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub timeout_seconds: Option<i32>,
    /// Seconds between probes; 3 when zero or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub period_seconds: Option<i32>,
    /// Good probes in a row until the status is true; 1 when zero or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub success_threshold: Option<i32>,
    /// Bad probes in a row until the status is false; 3 when zero or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub failure_threshold: Option<i32>,
    /// Part of Kubernetes' probe; has no effect here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    /// What results do, in this order.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(length(max = 32))]
    pub service_quality_action: Vec<ServiceQualityAction>,
}

/// What one result does. Texts may be Go templates over `.Result`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceQualityAction {
    /// Status of the probe that this action is for.
    pub state: bool,
    /// Result that this action is for; any when empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// New opsState, literal or template; empty leaves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "action_ops_state")]
    pub ops_state: Option<String>,
    /// New update priority, literal or template.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub update_priority: Option<IntOrString>,
    /// New deletion priority, literal or template.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::lenient::optional_int_or_string"
    )]
    #[schemars(schema_with = "crate::schema::int_or_string")]
    pub deletion_priority: Option<IntOrString>,
    /// New value of `networkDisabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_disabled: Option<bool>,
    /// Accepted and not used.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub containers: Vec<GameServerContainer>,
    /// Annotations to set on the game server.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub annotations: BTreeMap<String, String>,
    /// Labels to set on the game server.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "crate::lenient::null_is_default"
    )]
    pub labels: BTreeMap<String, String>,
}

/// A literal must be a legal opsState; what a template gives is judged when it is known.
fn action_ops_state(_: &mut SchemaGenerator) -> Schema {
    let literal = LABEL_VALUE_PATTERN.trim_start_matches('^').trim_end_matches('$');
    json_schema!({
        "type": "string",
        "maxLength": ACTION_TEXT_MAX,
        "pattern": format!("^({literal}|.*\\{{\\{{.*)$"),
        "x-kubernetes-validations": [
            looks_like_rule("self.contains('{{') || "),
            {
                "rule": format!("self.contains('{{{{') || self.size() <= {LABEL_VALUE_MAX}"),
                "message": "opsState must be a legal label value: at most 63 bytes",
            },
        ],
    })
}
