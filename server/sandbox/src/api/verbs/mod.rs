//! What each verb does to objects.
mod collection;
mod context;
mod create;
mod delete;
mod get;
mod list;
mod log;
mod patch;
mod prepare;
mod purge;
mod review;
mod scale;
mod subresource;
mod update;
mod watch;

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};

use super::Server;
use super::error::{ApiError, Result};
use super::http::route::Target;
use super::http::{Spared, not_found, query};
use super::kinds::Behaviour;
pub(super) use context::Context;
pub(super) use purge::{finish_definition, purge};

/// Makes the namespaces that every cluster has.
pub(super) fn bootstrap(server: &Server) {
    for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
        if let Err(error) = create::namespace(server, name) {
            tracing::error!(%error, name, "a namespace could not be made");
        }
    }
}

/// Answers a request about objects.
pub(super) fn handle(server: &Server, parts: &Parts, target: Target, body: &Bytes) -> Result<Response<Body>> {
    let options = query::Options::parse(&parts.uri)?;
    let kinds = server.registry().kinds();
    let Some(resource) = kinds.find(&target.group, &target.version, &target.resource).cloned() else {
        let group_exists = kinds.groups().iter().any(|(group, _)| *group == target.group);
        return if group_exists { Err(unknown_resource()) } else { Ok(not_found()) };
    };
    if target.namespace.is_some() && !resource.namespaced {
        return Err(unknown_resource());
    }
    let Some(verb) = verb(&parts.method, &target, options.watch || target.watch) else {
        return Err(refuse_method());
    };
    let verbs = match &target.subresource {
        None => &resource.verbs,
        Some(name) => match resource.subresource(name) {
            Some(subresource) => &subresource.verbs,
            None => return Err(unknown_resource()),
        },
    };
    if !verbs.iter().any(|v| v == verb) {
        return Err(refuse_method());
    }
    // Objects in namespaces are listed across all of them, but changed only inside one.
    let across = target.namespace.is_none() && resource.namespaced;
    if across && !matches!(verb, "list" | "watch") && resource.behaviour != Behaviour::Review {
        return Err(refuse_method());
    }
    let context = Context::new(server, resource, target, options, parts, verb)?;
    context.count_request();
    let spared = parts.extensions.get::<Spared>().is_some();
    if matches!(verb, "update" | "patch") && !spared && server.faults().conflict() {
        return Err(ApiError::stale(context.resource.named(), context.name()));
    }
    // A refusal carries the warnings too that were found on the way.
    run(&context, body).or_else(|error| Ok(context.refuse(&error)))
}

fn run(context: &Context<'_>, body: &Bytes) -> Result<Response<Body>> {
    let verb = context.verb;
    if context.target.subresource.is_some() {
        return subresource::handle(context, body);
    }
    if context.resource.behaviour == Behaviour::Review {
        return review::handle(context, body);
    }
    match verb {
        "get" => get::get(context),
        "list" => list::list(context),
        "watch" => watch::watch(context),
        "create" => create::create(context, body),
        "update" => update::put(context, body),
        "patch" => patch::patch(context, body),
        "delete" => delete::delete(context, body),
        "deletecollection" => collection::delete(context, body),
        _ => Err(refuse_method()),
    }
}

pub(super) fn unknown_resource() -> ApiError {
    let error = ApiError::new(404, "NotFound", "the server could not find the requested resource");
    ApiError { details: Some(serde_json::json!({})), ..error }
}

pub(super) fn refuse_method() -> ApiError {
    ApiError::method_not_allowed("the server does not allow this method on the requested resource")
}

fn verb(method: &Method, target: &Target, watch: bool) -> Option<&'static str> {
    let named = target.name.is_some();
    match *method {
        Method::GET if watch && target.subresource.is_none() => Some("watch"),
        Method::GET => Some(if named { "get" } else { "list" }),
        Method::POST if !named || target.subresource.is_some() => Some("create"),
        Method::PUT if named => Some("update"),
        Method::PATCH if named => Some("patch"),
        Method::DELETE => Some(if named { "delete" } else { "deletecollection" }),
        _ => None,
    }
}
