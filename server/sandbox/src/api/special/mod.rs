//! Behaviour that few kinds have and no data can say.
mod crd;
mod definition;
mod event;
mod pod;
pub mod quantity;
mod resize;
mod service;
mod simple;

use bytes::Bytes;
use serde_json::Value;

use super::error::{ApiError, FieldError, Result};
use super::kinds::{Behaviour, Resource};
use super::schema::Schema;
use super::store::Stored;
use super::value::{set, text};
use super::{Clock, Server};

pub use crd::{is_terminating, release};
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

/// Drops nulls of custom objects where the schema does not allow null: there they mean that nothing is given.
pub fn drop_nulls(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, child| {
                let field = schema.field(name).filter(|field| field.reference.is_none());
                !(child.is_null() && field.is_some_and(|field| !field.nullable))
            });
            for (name, child) in map.iter_mut() {
                if let Some(field) = schema.field(name).filter(|field| field.reference.is_none()) {
                    drop_nulls(field, child);
                }
            }
        }
        Value::Array(items) => {
            if let Some(item_schema) = &schema.items {
                items.iter_mut().for_each(|item| drop_nulls(item_schema, item));
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
        Behaviour::Service if resource.plural == "services" => service::fill_defaults(object),
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
        Behaviour::Service if resource.plural == "services" => service::allocate(server, object),
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
        (Behaviour::Pod, None) => pod::keep_admitted(old, new),
        (Behaviour::Pod, Some("resize")) => pod::keep_all_but_resources(old, new),
        (Behaviour::Namespace, None) => simple::keep_namespace_finalizers(old, new),
        (Behaviour::Namespace, Some("finalize")) => simple::keep_all_but_finalizers(old, new),
        (Behaviour::Service, None) if resource.plural == "services" => {
            service::keep_addresses(server, old, new);
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
        (Behaviour::Crd, None, old) => definition::validate(object, old),
        (Behaviour::Service, Some("status"), _) if resource.plural == "services" => {
            service::validate_status(object)
        }
        (Behaviour::Service, None, old) if resource.plural == "services" => {
            let mut errors = service::validate(object);
            errors.extend(old.map(|old| service::validate_update(object, old)).unwrap_or_default());
            errors
        }
        (_, None, Some(old)) => simple::validate_update(resource, object, old),
        (_, None, None) => simple::validate(resource, object),
        _ => Vec::new(),
    }
}

/// Refuses what admission refuses after an object was found to be sound: resizes that no node could hold, ports that are taken.
pub fn admit(
    server: &Server,
    resource: &Resource,
    subresource: Option<&str>,
    object: &Value,
    old: Option<&Value>,
    dry_run: bool,
) -> Result<()> {
    match (resource.behaviour, subresource) {
        (Behaviour::Pod, Some("resize")) if old.is_some_and(|old| old["spec"] != object["spec"]) => {
            resize::admit(server, object)
        }
        (Behaviour::Service, None) if resource.plural == "services" && !dry_run => {
            match service::validate_node_ports(server, object).as_slice() {
                [] => Ok(()),
                errors => Err(resource.invalid(text(object, &["metadata", "name"]), errors)),
            }
        }
        _ => Ok(()),
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

/// What a deletion waits for, although no client said so.
pub fn hold_deletion(resource: &Resource, object: &mut Value) {
    if resource.behaviour == Behaviour::Crd {
        crd::hold_deletion(object);
    }
}

/// What else changes when a deletion begins.
pub fn mark_deleting(clock: &Clock, resource: &Resource, object: &mut Value) {
    match resource.behaviour {
        Behaviour::Namespace => set(object, &["status", "phase"], "Terminating"),
        Behaviour::Crd => crd::mark_deleting(clock, object),
        _ => {}
    }
}

/// What follows from a write.
pub fn after_write(server: &Server, resource: &Resource, stored: &Stored) {
    if resource.behaviour == Behaviour::Crd {
        let crd = stored.value();
        crd::register(server, &crd);
        if crd::is_terminating(&crd) {
            crate::api::verbs::purge(server, &crd);
        }
    }
}

/// What follows from a removal.
pub fn after_removal(server: &Server, resource: &Resource, stored: &Stored) {
    if resource.behaviour == Behaviour::Crd {
        crd::unregister(server, &stored.value());
    } else if let Some(custom) = &resource.custom
        && resource.shelf.is_empty()
    {
        // Its definition may have waited for the last object.
        crate::api::verbs::finish_definition(server, &custom.crd);
    }
}
