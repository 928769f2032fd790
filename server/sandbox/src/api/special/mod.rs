//! Behaviour that few kinds have and no data can say.
mod crd;
mod event;
mod pod;
pub mod quantity;
mod simple;

use bytes::Bytes;
use serde_json::Value;

use super::Server;
use super::error::{ApiError, FieldError, Result};
use super::kinds::{Behaviour, Resource};
use super::schema::Schema;
use super::store::Stored;
use super::value::{set, text};

pub use pod::bind;

/// An object as it is stored, in the version of a request.
pub fn to_request_version(resource: &Resource, mut object: Value) -> Value {
    if resource.behaviour == Behaviour::EventsGroupEvent {
        return event::from_core(object);
    }
    let wanted = resource.gvk.api_version();
    if text(&object, &["apiVersion"]) != wanted {
        set(&mut object, &["apiVersion"], wanted);
    }
    object
}

/// An object of a request in the version in which its kind is stored.
pub fn to_storage_version(resource: &Resource, mut object: Value) -> Value {
    if resource.behaviour == Behaviour::EventsGroupEvent {
        return event::to_core(object);
    }
    if let Some(version) = resource.custom.as_ref().and_then(|custom| custom.stored_as.clone()) {
        set(&mut object, &["apiVersion"], version);
    }
    object
}

/// The bytes of a stored object in the version of a request; shared, unless the version differs.
pub fn bytes_in_request_version(resource: &Resource, stored: &Stored) -> Bytes {
    let converts = resource.behaviour == Behaviour::EventsGroupEvent
        || resource.custom.as_ref().is_some_and(|custom| custom.stored_as.is_some());
    if converts {
        to_request_version(resource, stored.value()).to_string().into()
    } else {
        stored.bytes.clone()
    }
}

/// Drops nulls of custom objects where the schema has a default and does not allow null.
pub fn drop_defaulted_nulls(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, child| {
                let dropped = child.is_null()
                    && schema.properties.get(name).is_some_and(|p| !p.nullable && p.default.is_some());
                !dropped
            });
            for (name, child) in map.iter_mut() {
                if let Some(field) = schema.field(name).filter(|field| field.reference.is_none()) {
                    drop_defaulted_nulls(field, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(item_schema) = &schema.items {
                items.iter_mut().for_each(|item| drop_defaulted_nulls(item_schema, item));
            }
        }
        _ => {}
    }
}

/// Whether a status that comes with a new object is thrown away.
pub fn drops_status_on_create(resource: &Resource) -> bool {
    // A node registers itself with its status.
    resource.behaviour != Behaviour::Node
}

/// Defaults that depend on other fields. They count as given by the client; what `prepare_create` adds belongs to nobody.
pub fn fill_defaults(resource: &Resource, object: &mut Value) {
    match resource.behaviour {
        Behaviour::Pod => pod::fill_defaults(object),
        Behaviour::Namespace => simple::label_namespace(object),
        Behaviour::Service if resource.plural == "services" => simple::fill_ports(object),
        Behaviour::Workload => simple::fill_workload(object),
        Behaviour::Node => simple::fill_node(object),
        Behaviour::Crd => crd::fill_names(object),
        _ if resource.plural == "secrets" && resource.custom.is_none() => simple::merge_string_data(object),
        _ => {}
    }
}

/// What the server fills into a new object of a kind.
pub fn prepare_create(server: &Server, resource: &Resource, object: &mut Value) {
    match resource.behaviour {
        Behaviour::Pod => pod::prepare_create(object),
        Behaviour::Namespace => simple::prepare_namespace(object),
        Behaviour::Service if resource.plural == "services" => simple::prepare_service(server, object),
        Behaviour::PersistentVolumeClaim | Behaviour::PersistentVolume => {
            set(object, &["status", "phase"], "Pending");
        }
        Behaviour::Crd => crd::prepare(server, object),
        _ => {}
    }
}

/// What the server keeps or fills in when an object of a kind changes.
pub fn prepare_update(
    server: &Server,
    resource: &Resource,
    subresource: Option<&str>,
    old: &Value,
    new: &mut Value,
) {
    match (resource.behaviour, subresource) {
        (Behaviour::Pod, None) => pod::keep_qos(old, new),
        (Behaviour::Pod, Some("resize")) => pod::keep_all_but_resources(old, new),
        (Behaviour::Namespace, None) => simple::keep_namespace_finalizers(old, new),
        (Behaviour::Namespace, Some("finalize")) => simple::keep_all_but_finalizers(old, new),
        (Behaviour::Service, None) if resource.plural == "services" => {
            simple::keep_service_addresses(old, new);
        }
        (Behaviour::Crd, None) => crd::prepare(server, new),
        _ => {}
    }
}

/// What is wrong with an object of a built-in kind.
pub fn validate(
    resource: &Resource,
    subresource: Option<&str>,
    object: &Value,
    old: Option<&Value>,
) -> Vec<FieldError> {
    match (resource.behaviour, subresource, old) {
        (Behaviour::Pod, _, None) => pod::validate(object),
        (Behaviour::Pod, None, Some(old)) => pod::validate_update(object, old),
        (Behaviour::Pod, Some("resize"), Some(old)) => pod::validate_resize(object, old),
        (Behaviour::Crd, None, old) => crd::validate(object, old),
        (_, None, Some(old)) => simple::validate_update(resource, object, old),
        (_, None, None) => simple::validate(resource, object),
        _ => Vec::new(),
    }
}

/// Refuses deletions that must not be.
pub fn check_delete(resource: &Resource, name: &str) -> Result<()> {
    let kept = resource.behaviour == Behaviour::Namespace
        && matches!(name, "default" | "kube-system" | "kube-public");
    if kept {
        return Err(ApiError::forbidden(resource.named(), name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// What else changes when a deletion begins.
pub fn mark_deleting(resource: &Resource, object: &mut Value) {
    if resource.behaviour == Behaviour::Namespace {
        set(object, &["status", "phase"], "Terminating");
    }
}

/// What follows from a write.
pub fn after_write(server: &Server, resource: &Resource, stored: &Stored) {
    if resource.behaviour == Behaviour::Crd {
        crd::register(server, &stored.value());
    }
}

/// What follows from a removal.
pub fn after_removal(server: &Server, resource: &Resource, stored: &Stored) {
    if resource.behaviour == Behaviour::Crd {
        crd::unregister(server, &stored.value());
    }
}
