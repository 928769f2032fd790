//! Creating objects.
use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::context::Context;
use super::{prepare, update};
use crate::api::Server;
use crate::api::error::{ApiError, Result};
use crate::api::http::route::Target;
use crate::api::special;
use crate::api::store::{CommitError, Draft, Key};
use crate::api::value::{set, text};

/// POST to a collection.
pub fn create(context: &Context<'_>, body: &[u8]) -> Result<Response<Body>> {
    let object = context.read(body)?;
    create_object(context, object, false)
}

/// Creates an object; `applied` says that it comes from a server-side apply, whose fields are owned as such.
pub fn create_object(context: &Context<'_>, mut object: Value, applied: bool) -> Result<Response<Body>> {
    if context.resource.custom.as_ref().is_some_and(|custom| custom.terminating) {
        let why = "create not allowed while custom resource definition is terminating";
        let name = text(&object, &["metadata", "name"]);
        return Err(ApiError::forbidden(context.resource.named(), name, why));
    }
    let config = applied.then(|| object.clone());
    let warnings = context.normalise(&mut object)?;
    namespace_of(context, &mut object)?;
    context.check_namespace()?;
    let generated = text(&object, &["metadata", "name"]).is_empty() && !generate_name(&object).is_empty();
    // A generated name may be taken; a new one is drawn, as the real server does.
    for _ in 0..8 {
        let mut attempt = object.clone();
        if generated {
            let name = context.server.draw().name(generate_name(&object));
            set(&mut attempt, &["metadata", "name"], name);
        }
        prepare::clear(&mut attempt)?;
        match &config {
            Some(config) => update::track_applied(context, &mut attempt, config),
            None => update::track(context, None, &mut attempt),
        }
        prepare::for_create(context, &mut attempt)?;
        let name = text(&attempt, &["metadata", "name"]).to_owned();
        let key = Key::new(text(&attempt, &["metadata", "namespace"]), &name);
        let stored_form = special::to_storage_version(&context.resource, attempt);
        let draft = Draft::new(&stored_form, &context.resource.selectable);
        if context.options.dry_run {
            if context.resource.shelf.get(&key).is_some() {
                return Err(taken(context, &key));
            }
            let preview = serde_json::from_slice(&draft.preview(0)).unwrap_or_default();
            let mut preview = special::to_request_version(&context.resource, preview);
            crate::api::value::remove(&mut preview, &["metadata", "resourceVersion"]);
            return Ok(context.answer_value(StatusCode::CREATED, &preview, &warnings));
        }
        match context.resource.shelf.create(&key, draft) {
            Ok(stored) => {
                context.committed(None, &stored, false);
                special::after_write(context.server, &context.resource, &stored);
                return Ok(context.answer(StatusCode::CREATED, &stored, &warnings));
            }
            Err(_) if generated => {}
            Err(CommitError::Exists | CommitError::Missing | CommitError::Changed) => {
                return Err(taken(context, &key));
            }
        }
    }
    Err(ApiError::already_exists(context.resource.named(), generate_name(&object)))
}

/// The name is in use, perhaps by something that is going.
fn taken(context: &Context<'_>, key: &Key) -> ApiError {
    let deleting = |object: &Value| !text(object, &["metadata", "deletionTimestamp"]).is_empty();
    match context.resource.shelf.get(key) {
        Some(stored) if deleting(&stored.value()) => {
            ApiError::still_there(context.resource.named(), &key.name)
        }
        _ => ApiError::already_exists(context.resource.named(), &key.name),
    }
}

fn generate_name(object: &Value) -> &str {
    text(object, &["metadata", "generateName"])
}

/// The namespace of an object is that of its URL; another one in the body is refused.
fn namespace_of(context: &Context<'_>, object: &mut Value) -> Result<()> {
    let given = text(object, &["metadata", "namespace"]);
    if !given.is_empty() && given != context.namespace() {
        let message = if context.resource.namespaced {
            "the namespace of the provided object does not match the namespace sent on the request"
        } else {
            "namespace may not be set on a cluster-wide object"
        };
        return Err(ApiError::bad_request(message));
    }
    if context.resource.namespaced {
        set(object, &["metadata", "namespace"], context.namespace());
    }
    Ok(())
}

/// Creates a namespace on behalf of the server itself.
pub fn namespace(server: &Server, name: &str) -> Result<()> {
    let kinds = server.registry().kinds();
    let Some(resource) = kinds.find("", "v1", "namespaces").cloned() else {
        return Err(ApiError::internal("the recording has no namespaces"));
    };
    let target = Target { version: "v1".into(), resource: "namespaces".into(), ..Target::default() };
    let context = Context::own(server, resource, target, "create");
    create_object(&context, json!({ "metadata": { "name": name } }), false).map(drop)
}
