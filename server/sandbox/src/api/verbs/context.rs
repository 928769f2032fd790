//! What a verb knows about its request, and how it answers with objects.
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::Body;
use bytes::Bytes;
use http::header::USER_AGENT;
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode, Uri};
use serde_json::Value;

use crate::api::Server;
use crate::api::commits::Commit;
use crate::api::error::{ApiError, Result};
use crate::api::http::answer;
use crate::api::http::negotiate::{self, Form};
use crate::api::http::query::{FieldValidation, Options};
use crate::api::http::route::Target;
use crate::api::kinds::{KindSchema, Resource};
use crate::api::schema::{apply_defaults, builtin, check_types, prune};
use crate::api::store::{Key, Stored};
use crate::api::value::{as_map, remove, set, text};
use crate::api::{special, table};

/// One request about objects of one kind.
pub struct Context<'a> {
    pub server: &'a Server,
    pub resource: Arc<Resource>,
    pub target: Target,
    pub options: Options,
    pub headers: &'a HeaderMap,
    pub form: Form,
    pub verb: &'static str,
    /// The URL, for options of a single subresource.
    pub uri: &'a Uri,
    /// Who asks, in its own words.
    pub user_agent: &'a str,
    /// Who is written into managedFields.
    pub manager: String,
    /// What the client is told although the request succeeds, found after the body was read.
    pub warnings: Mutex<Vec<String>>,
    /// The fields that were dropped while the body was read, for an answer that is a refusal.
    pub dropped: Mutex<Vec<String>>,
}

impl<'a> Context<'a> {
    pub fn new(
        server: &'a Server,
        resource: Arc<Resource>,
        target: Target,
        options: Options,
        parts: &'a Parts,
        verb: &'static str,
    ) -> Result<Self> {
        let form = negotiate::form(&parts.headers, verb == "list")?;
        let agent = parts.headers.get(USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let manager = match &options.field_manager {
            Some(manager) => manager.clone(),
            None => agent.split('/').next().filter(|name| !name.is_empty()).unwrap_or("unknown").to_owned(),
        };
        Ok(Self {
            server,
            resource,
            target,
            options,
            headers: &parts.headers,
            form,
            verb,
            uri: &parts.uri,
            user_agent: agent,
            manager,
            warnings: Mutex::default(),
            dropped: Mutex::default(),
        })
    }

    /// A request of the server's own.
    pub fn own(server: &'a Server, resource: Arc<Resource>, target: Target, verb: &'static str) -> Self {
        static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
        static NOWHERE: LazyLock<Uri> = LazyLock::new(Uri::default);
        let (options, manager) = (Options::default(), "kube-apiserver".to_owned());
        Self {
            server,
            resource,
            target,
            options,
            headers: &NONE,
            form: Form::Plain,
            verb,
            uri: &NOWHERE,
            user_agent: "",
            manager,
            warnings: Mutex::default(),
            dropped: Mutex::default(),
        }
    }

    /// Tells the client something although the request succeeds; the newest call counts, because a write may be tried again.
    pub fn warn(&self, warnings: Vec<String>) {
        *self.warnings.lock().unwrap_or_else(PoisonError::into_inner) = warnings;
    }

    /// The name in the URL.
    pub fn name(&self) -> &str {
        self.target.name.as_deref().unwrap_or_default()
    }

    /// The namespace in the URL; empty for cluster-wide kinds.
    pub fn namespace(&self) -> &str {
        self.target.namespace.as_deref().unwrap_or_default()
    }

    /// The key of the object in the URL.
    pub fn key(&self) -> Key {
        // A namespace is addressed by its name alone.
        Key::new(self.namespace(), self.name())
    }

    /// `status`, `scale` and the like.
    pub fn subresource(&self) -> Option<&str> {
        self.target.subresource.as_deref()
    }

    fn counted_as(&self) -> String {
        match self.subresource() {
            Some(subresource) => format!("{}/{subresource}", self.resource.full_name()),
            None => self.resource.full_name(),
        }
    }

    fn counted_verb(&self) -> Option<&'static str> {
        let apply =
            || negotiate::patch_type(self.headers).is_ok_and(|kind| kind == negotiate::PatchType::Apply);
        match self.verb {
            "get" | "list" | "watch" => None,
            "patch" if apply() => Some("apply"),
            verb => Some(verb),
        }
    }

    /// Counts the request, if it is one that writes.
    pub fn count_request(&self) {
        if let Some(verb) = self.counted_verb() {
            self.server.counts().request(verb, &self.counted_as());
        }
    }

    /// Counts a committed write and tells those who look on.
    pub fn committed(&self, before: Option<&Stored>, after: &Stored, removed: bool) {
        let verb = self.counted_verb().unwrap_or(self.verb);
        self.server.counts().commit(verb, &self.counted_as());
        self.server.observers().tell(&Commit {
            verb,
            resource: &self.resource.full_name(),
            subresource: self.subresource(),
            user_agent: self.user_agent,
            before,
            after,
            removed,
        });
    }

    /// The stored object, or 404.
    pub fn stored(&self, key: &Key) -> Result<Arc<Stored>> {
        self.resource.shelf.get(key).ok_or_else(|| ApiError::not_found(self.resource.named(), &key.name))
    }

    /// The object as the version in the URL shows it.
    pub fn show(&self, stored: &Stored) -> Value {
        special::to_request_version(&self.resource, stored.value())
    }

    /// Reads an object of this kind from a body, and checks that it is one.
    pub fn read(&self, body: &[u8]) -> Result<Value> {
        let object = negotiate::object(self.headers, body)?;
        self.check_kind(&object)?;
        Ok(object)
    }

    /// Refuses what is not an object of this kind.
    pub fn check_kind(&self, object: &Value) -> Result<()> {
        if !object.is_object() {
            return Err(ApiError::bad_request(
                "the object provided is unrecognized (must be of type object)",
            ));
        }
        let gvk = &self.resource.gvk;
        let (api_version, kind) = (text(object, &["apiVersion"]), text(object, &["kind"]));
        if kind.is_empty() && self.resource.custom.is_some() {
            return Err(ApiError::bad_request("Object 'Kind' is missing"));
        }
        if !kind.is_empty() && kind != gvk.kind {
            let message = format!("{kind} in version {api_version:?} cannot be handled as a {}", gvk.kind);
            return Err(ApiError::bad_request(message));
        }
        if !api_version.is_empty() && api_version != gvk.api_version() {
            let message = format!(
                "the API version in the data ({api_version}) does not match the expected API version ({})",
                gvk.api_version()
            );
            return Err(ApiError::bad_request(message));
        }
        Ok(())
    }

    /// Brings an object into the form that is stored: types checked, unknown fields dropped, defaults filled in.
    /// Returns warnings about what was dropped.
    pub fn normalise(&self, object: &mut Value) -> Result<Vec<String>> {
        let gvk = &self.resource.gvk;
        let metadata = object.get("metadata").cloned().unwrap_or_default();
        if !metadata.is_object() && !metadata.is_null() {
            return Err(ApiError::bad_request("metadata must be an object"));
        }
        as_map(object).insert("apiVersion".into(), gvk.api_version().into());
        as_map(object).insert("kind".into(), gvk.kind.clone().into());
        let typed = match &self.resource.schema {
            KindSchema::Builtin(schema) => check_types(schema, object),
            KindSchema::Custom(schema) => {
                special::drop_nulls(schema, object);
                let metadata = as_map(object).entry("metadata").or_insert_with(|| serde_json::json!({}));
                check_types(builtin::object_meta(), metadata)
            }
        };
        typed.map_err(|why| match self.verb {
            // What a patch leaves is judged as content, what a body holds as form.
            "patch" => ApiError::new(422, "Invalid", self.cannot_handle(&why)),
            _ => ApiError::bad_request(self.cannot_handle(&why)),
        })?;
        let unknown = prune(&self.resource.schema, object);
        for key in ["labels", "annotations", "finalizers", "ownerReferences", "managedFields"] {
            let empty = match object["metadata"].get(key) {
                Some(Value::Object(map)) => map.is_empty(),
                Some(Value::Array(items)) => items.is_empty(),
                _ => false,
            };
            if empty {
                remove(object, &["metadata", key]);
            }
        }
        apply_defaults(&self.resource.schema, object);
        special::fill_defaults(&self.resource, object);
        let warnings: Vec<String> = unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
        if self.options.field_validation == FieldValidation::Warn {
            self.dropped.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&warnings);
        }
        match self.options.field_validation {
            FieldValidation::Strict if !warnings.is_empty() => {
                let why = format!("strict decoding error: {}", warnings.join(", "));
                Err(ApiError::bad_request(self.cannot_handle(&why)))
            }
            FieldValidation::Ignore => Ok(Vec::new()),
            _ => Ok(warnings),
        }
    }

    fn cannot_handle(&self, why: &str) -> String {
        let gvk = &self.resource.gvk;
        format!("{} in version {:?} cannot be handled as a {}: {why}", gvk.kind, gvk.version, gvk.kind)
    }

    /// Answers with a stored object in the form that the client wants.
    pub fn answer(&self, code: StatusCode, stored: &Stored, warnings: &[String]) -> Response<Body> {
        let bytes = if self.form == Form::Plain {
            special::bytes_in_request_version(&self.resource, stored)
        } else {
            table::one(self, &self.show(stored)).to_string().into()
        };
        self.answer_bytes(code, bytes, warnings)
    }

    /// Answers with an object that was not stored.
    pub fn answer_value(&self, code: StatusCode, object: &Value, warnings: &[String]) -> Response<Body> {
        let bytes =
            if self.form == Form::Plain { object.to_string() } else { table::one(self, object).to_string() };
        self.answer_bytes(code, bytes.into(), warnings)
    }

    fn answer_bytes(&self, code: StatusCode, bytes: Bytes, warnings: &[String]) -> Response<Body> {
        let mut response = answer::raw(code, "application/json", bytes);
        answer::warn(&mut response, warnings);
        self.add_warnings(&mut response);
        response
    }

    /// The answer to a request that is refused, with the warnings that were found before.
    pub fn refuse(&self, error: &ApiError) -> Response<Body> {
        let mut response = answer::error(error);
        answer::warn(&mut response, &self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        self.add_warnings(&mut response);
        response
    }

    /// Adds what `warn` was told.
    fn add_warnings(&self, response: &mut Response<Body>) {
        answer::warn(response, &self.warnings.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Refuses writes into a namespace that does not exist.
    pub fn check_namespace(&self) -> Result<()> {
        if !self.resource.namespaced {
            return Ok(());
        }
        let kinds = self.server.registry().kinds();
        let Some(namespaces) = kinds.find("", "v1", "namespaces") else { return Ok(()) };
        let Some(namespace) = namespaces.shelf.get(&Key::new("", self.namespace())) else {
            return Err(ApiError::not_found(namespaces.named(), self.namespace()));
        };
        // Phase Terminating is set in the same write as the deletionTimestamp.
        if namespace.fields.first().is_some_and(|phase| &**phase == "Terminating") {
            let name = self.namespace();
            let why =
                format!("unable to create new content in namespace {name} because it is being terminated");
            let mut error = ApiError::forbidden(self.resource.named(), self.name(), &why);
            if let Some(details) = &mut error.details {
                set(
                    details,
                    &["causes"],
                    serde_json::json!([{
                        "reason": "NamespaceTerminating", "message": format!("namespace {name} is being terminated"),
                        "field": "metadata.namespace",
                    }]),
                );
            }
            return Err(error);
        }
        Ok(())
    }
}
