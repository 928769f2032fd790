//! Deleting a definition: first its objects, with their finalizers, then the definition itself.
use serde_json::Value;

use super::context::Context;
use super::delete::{DeleteOptions, delete_key};
use super::update;
use crate::api::Server;
use crate::api::http::route::Target;
use crate::api::special;
use crate::api::store::{Key, PageQuery};
use crate::api::value::text;

/// Deletes the objects of a kind whose definition is being deleted, and then the definition, if nothing holds them.
pub fn purge(server: &Server, crd: &Value) {
    let name = text(crd, &["metadata", "name"]);
    let kinds = server.registry().kinds();
    let kind =
        kinds.all().find(|kind| kind.custom.as_ref().is_some_and(|custom| custom.crd == name)).cloned();
    if let Some(kind) = kind {
        let page = kind.shelf.page(&PageQuery::default(), |_| true);
        for stored in page.map(|page| page.items).unwrap_or_default() {
            let context = Context::own(server, kind.clone(), Target::default(), "delete");
            if let Err(error) = delete_key(&context, &stored.key, &DeleteOptions::default()) {
                tracing::debug!(%error, name, "an object of a definition that goes was gone already");
            }
        }
    }
    finish_definition(server, name);
}

/// Lets a definition go that is being deleted, if it has no objects any more.
pub fn finish_definition(server: &Server, name: &str) {
    let kinds = server.registry().kinds();
    let Some(definitions) = kinds.find("apiextensions.k8s.io", "v1", "customresourcedefinitions").cloned()
    else {
        return;
    };
    let key = Key::new("", name);
    let waits = definitions.shelf.get(&key).is_some_and(|stored| special::is_terminating(&stored.value()));
    let empty = server.store().shelf(name).is_empty();
    if !waits || !empty {
        return;
    }
    let context = Context::own(server, definitions, Target::default(), "update");
    let released = update::change(&context, &key, false, |crd| {
        let mut crd = crd.clone();
        special::release(&mut crd);
        Ok(crd)
    });
    if let Err(error) = released {
        tracing::debug!(%error, name, "a definition that goes was gone already");
    }
}
