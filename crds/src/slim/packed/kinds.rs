//! The packed form of each kind, field by field in the order that is written here. Every field is named: one that is forgotten
//! does not compile.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use super::code::{Code, Reader, Writer};
use crate::kruise::{
    GameServerCondition, GameServerContainer, GameServerSpec, GameServerStatus, NetworkAddress, NetworkPort,
    NetworkPortRange, NetworkStatus, OpsState, Resources, ServiceQualityCondition,
};
use crate::slim::{
    SlimClaimSource, SlimCondition, SlimContainer, SlimContainerState, SlimContainerStatus, SlimGameServer,
    SlimPod, SlimPodSpec, SlimPodStatus, SlimRunning, SlimTerminated, SlimVolume, SlimWaiting,
};

macro_rules! coded {
    ($type:ident { $($field:ident),* } $(without { $($absent:ident),* })?) => {
        impl Code for $type {
            fn put(&self, to: &mut Writer) {
                let Self { $($field,)* $($($absent: _,)*)? } = self;
                $($field.put(to);)*
            }
            fn take(from: &mut Reader) -> Self {
                Self { $($field: Code::take(from),)* $($($absent: Default::default(),)*)? }
            }
        }
    };
}

coded!(ObjectMeta {
    name, generate_name, namespace, uid, resource_version, generation, creation_timestamp, deletion_timestamp,
    deletion_grace_period_seconds, labels, annotations, owner_references, finalizers
} without { managed_fields, self_link }); // slim_metadata drops these
coded!(OwnerReference { api_version, block_owner_deletion, controller, kind, name, uid });

coded!(SlimPod { metadata, spec, status });
coded!(SlimPodSpec { node_name, scheduler_name, containers, volumes });
coded!(SlimContainer { name, image, resources });
coded!(SlimVolume { name, persistent_volume_claim });
coded!(SlimClaimSource { claim_name });
coded!(SlimPodStatus {
    phase,
    reason,
    message,
    conditions,
    pod_ip,
    host_ip,
    start_time,
    init_container_statuses,
    container_statuses
});
coded!(SlimCondition { type_, status, reason, message, last_probe_time, last_transition_time });
coded!(SlimContainerStatus { name, image, image_id, ready, restart_count, state, last_state });
coded!(SlimContainerState { running, waiting, terminated });
coded!(SlimRunning { started_at });
coded!(SlimWaiting { reason, message });
coded!(SlimTerminated { exit_code, reason, message, finished_at });

coded!(SlimGameServer { metadata, spec, spec_error, status, pod_status_hash });
coded!(GameServerSpec { ops_state, update_priority, deletion_priority, network_disabled, containers });
coded!(GameServerContainer { name, image, resources });
coded!(GameServerStatus {
    desired_state, current_state, network_status, service_qualities_conditions, update_priority, deletion_priority,
    last_transition_time, conditions
} without { pod_status }); // only its hash is kept
coded!(GameServerCondition { type_, status, last_probe_time, last_transition_time, reason, message });
coded!(ServiceQualityCondition {
    name,
    status,
    result,
    last_probe_time,
    last_transition_time,
    last_action_transition_time
});
coded!(NetworkStatus {
    network_type,
    internal_addresses,
    external_addresses,
    desired_network_state,
    current_network_state,
    create_time,
    last_transition_time
});
coded!(NetworkAddress { ip, ports, port_range, end_point });
coded!(NetworkPort { name, protocol, port });
coded!(NetworkPortRange { protocol, port_range });

impl Code for OpsState {
    fn put(&self, to: &mut Writer) {
        self.as_str().to_owned().put(to);
    }
    fn take(from: &mut Reader) -> Self {
        String::take(from).into()
    }
}

/// As JSON: few servers have any.
impl Code for Resources {
    fn put(&self, to: &mut Writer) {
        serde_json::to_string(self).unwrap_or_default().put(to);
    }
    fn take(from: &mut Reader) -> Self {
        serde_json::from_str(&String::take(from)).unwrap_or_default()
    }
}
