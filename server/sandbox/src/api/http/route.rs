//! What a URL path means.
use std::borrow::Cow;

/// A path of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// `/api`.
    CoreVersions,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/v1` or `/apis/GROUP/VERSION`: group (empty for core) and version.
    Resources(String, String),
    /// Objects.
    Objects(Target),
    /// `/openapi/v2`.
    OpenApiV2,
    /// `/openapi/v3`, or one of its documents.
    OpenApiV3(Option<String>),
    /// `/version`.
    Version,
    /// `/healthz`, `/livez`, `/readyz` and their parts.
    Health,
    /// Anything else.
    Unknown,
}

/// What of which objects a request is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Target {
    /// API group, empty for core.
    pub group: String,
    /// API version.
    pub version: String,
    /// Namespace in the path.
    pub namespace: Option<String>,
    /// Plural resource name.
    pub resource: String,
    /// Name of one object.
    pub name: Option<String>,
    /// Subresource, such as `status`.
    pub subresource: Option<String>,
    /// The old form `/watch/…` was used.
    pub watch: bool,
}

/// Reads a path.
pub fn parse(path: &str) -> Route {
    let Some(segments) = segments(path) else { return Route::Unknown };
    let segments: Vec<&str> = segments.iter().map(Cow::as_ref).collect();
    match segments.as_slice() {
        ["api"] => Route::CoreVersions,
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group((*group).into()),
        ["api", version] => Route::Resources(String::new(), (*version).into()),
        ["apis", group, version] => Route::Resources((*group).into(), (*version).into()),
        ["api", version, rest @ ..] => objects("", version, rest),
        ["apis", group, version, rest @ ..] => objects(group, version, rest),
        ["openapi", "v2"] => Route::OpenApiV2,
        ["openapi", "v3"] => Route::OpenApiV3(None),
        ["openapi", "v3", rest @ ..] => Route::OpenApiV3(Some(rest.join("/"))),
        ["version"] => Route::Version,
        ["healthz" | "livez" | "readyz", ..] => Route::Health,
        _ => Route::Unknown,
    }
}

/// The decoded segments; `None` when a segment is not valid text.
fn segments(path: &str) -> Option<Vec<Cow<'_, str>>> {
    path.split('/').filter(|s| !s.is_empty()).map(decode).collect()
}

fn decode(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('%') {
        return Some(segment.into());
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(b) = rest.next() {
        if b == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(b);
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn objects(group: &str, version: &str, rest: &[&str]) -> Route {
    let (watch, rest) = match rest {
        ["watch", rest @ ..] if !rest.is_empty() => (true, rest),
        rest => (false, rest),
    };
    let own = |s: &str| Some(s.to_owned());
    let (namespace, resource, name, subresource) = match rest {
        // A namespace is an object itself, with two subresources; everything else after it is inside the namespace.
        ["namespaces", name] => (None, "namespaces", own(name), None),
        ["namespaces", name, sub @ ("status" | "finalize")] => (None, "namespaces", own(name), own(sub)),
        ["namespaces", ns, resource] => (own(ns), *resource, None, None),
        ["namespaces", ns, resource, name] => (own(ns), *resource, own(name), None),
        ["namespaces", ns, resource, name, sub @ ..] => (own(ns), *resource, own(name), Some(sub.join("/"))),
        [resource] => (None, *resource, None, None),
        [resource, name] => (None, *resource, own(name), None),
        [resource, name, sub @ ..] => (None, *resource, own(name), Some(sub.join("/"))),
        [] => return Route::Unknown,
    };
    Route::Objects(Target {
        group: group.into(),
        version: version.into(),
        namespace,
        resource: resource.into(),
        name,
        subresource,
        watch,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> Target {
        match parse(path) {
            Route::Objects(target) => target,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn paths_of_objects() {
        let t = target("/api/v1/namespaces/a/pods/b/status");
        assert_eq!((t.namespace.as_deref(), t.name.as_deref()), (Some("a"), Some("b")));
        assert_eq!((t.resource.as_str(), t.subresource.as_deref()), ("pods", Some("status")));
        let t = target("/apis/game.kruise.io/v1alpha1/gameservers/");
        assert_eq!((t.group.as_str(), t.namespace, t.name), ("game.kruise.io", None, None));
        assert_eq!(target("/api/v1/namespaces/a/finalize").subresource.as_deref(), Some("finalize"));
        assert_eq!(target("/api/v1/namespaces/a/pods").resource, "pods");
        assert!(target("/api/v1/watch/namespaces/a/pods").watch);
        assert_eq!(target("/api/v1/namespaces/a/pods/b%2Fc").name.as_deref(), Some("b/c"));
    }

    #[test]
    fn odd_paths_are_unknown_and_never_a_panic() {
        for path in ["", "/", "/x", "/api/v1/watch", "/%", "/api/v1/%f", "/api/v1/%ff/%fe", "//"] {
            let _ = parse(path);
        }
        assert_eq!(parse("/%zz"), Route::Unknown);
    }
}
