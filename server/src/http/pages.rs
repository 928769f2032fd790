//! Pages rendered on the server, files beside them, and the sandbox's kubeconfig.

use crate::{
    auth::Caller,
    http::{AppState, guard},
    reader::CallerReader,
};
use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use leptos::{
    config::LeptosOptions,
    prelude::{provide_context, use_context},
};
use std::sync::Arc;

/// Everything that is no API: a file of the site if there is one, else a page.
pub async fn page_or_file(State(state): State<AppState>, caller: Caller, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let path = request.uri().path().trim_start_matches('/').to_owned();
    // The body of a request cannot be shared between threads, so a reference to the request must not wait.
    let headers = request.headers().clone();
    if path.contains('.')
        && let Some(file) = state.site.answer(&path, &headers).await
    {
        return file;
    }
    page(state, caller, request).await
}

/// Renders the page that the path names.
async fn page(state: AppState, caller: Caller, request: Request<Body>) -> Response {
    let found = page_exists(&state, request.uri().path());
    let reader: Arc<dyn app::data::Reader> = Arc::new(CallerReader::new(state.reader.clone(), caller));
    let chunks = match app::chunk_name(below_base(&state, request.uri().path())) {
        Some(chunk) => state.site.chunk(chunk).await,
        None => Vec::new(),
    };
    let lang = language(request.headers(), request.uri());
    let shell = app::ShellEnv { lang, chunks, ..state.shell.clone() };
    let context_shell = shell.clone();
    let context = move || {
        provide_context(reader.clone());
        provide_context(context_shell.clone());
        let Some(response) = use_context::<leptos_axum::ResponseOptions>() else { return };
        if let Some(nonce) = leptos::nonce::use_nonce()
            && let Ok(policy) = HeaderValue::from_str(&guard::page_policy(&nonce.to_string()))
        {
            response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
        }
        response.insert_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response.insert_header(
            HeaderName::from_static("vary"),
            HeaderValue::from_static("accept-language, cookie"),
        );
        if !found {
            response.set_status(StatusCode::NOT_FOUND);
        }
    };
    let options = leptos_options();
    let request = with_base(request, &state.shell.base_path);
    let handler = leptos_axum::render_app_async_with_context(context, move || {
        app::shell(shell.clone(), options.clone())
    });
    handler(request).await
}

/// The language that a request asks for.
fn language(headers: &HeaderMap, uri: &Uri) -> app::Lang {
    let header = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let query = uri.query().unwrap_or_default();
    let lang = query.split('&').find_map(|pair| pair.strip_prefix("lang="));
    app::Lang::negotiate(lang, header(header::COOKIE), header(header::ACCEPT_LANGUAGE))
}

/// A path without the prefix of every URL.
fn below_base<'path>(state: &AppState, path: &'path str) -> &'path str {
    path.strip_prefix(state.shell.base_path.as_str()).unwrap_or(path)
}

/// Whether a path names a page and, where it names an object, whether that exists.
fn page_exists(state: &AppState, path: &str) -> bool {
    let path = below_base(state, path).trim_matches('/');
    let mut parts = path.splitn(2, '/');
    match (parts.next().unwrap_or_default(), parts.next()) {
        ("" | "servers" | "sets" | "batches", None) => true,
        ("sandbox", None) => state.sandbox.is_some(),
        ("servers", Some(key)) => key.parse().is_ok_and(|key| state.reader.server(&key).is_some()),
        ("sets", Some(key)) => key.parse().is_ok_and(|key| state.reader.set(&key).is_some()),
        ("batches", Some(name)) => state.reader.batch(name).is_some(),
        _ => false,
    }
}

/// The request as the pages' router knows it: with the prefix, which nesting (or a proxy) has taken off.
fn with_base(mut request: Request<Body>, base: &str) -> Request<Body> {
    let path = request.uri().path_and_query().map_or("/", |both| both.as_str());
    if !base.is_empty()
        && path.strip_prefix(base).is_none_or(|rest| !rest.starts_with('/'))
        && let Ok(uri) = format!("{base}{path}").parse()
    {
        *request.uri_mut() = uri;
    }
    request
}

/// What the document needs to name its script and style.
fn leptos_options() -> LeptosOptions {
    LeptosOptions::builder().output_name("pilothouse").site_pkg_dir("pkg").build()
}

/// The kubeconfig of the sandbox, to save and use with kubectl.
pub async fn sandbox_kubeconfig(State(state): State<AppState>, _caller: Caller) -> Response {
    let Some(kubeconfig) = &state.sandbox_kubeconfig else { return StatusCode::NOT_FOUND.into_response() };
    let headers = [
        (header::CONTENT_TYPE, "application/yaml"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"pilothouse-sandbox.kubeconfig\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, kubeconfig.to_string()).into_response()
}
