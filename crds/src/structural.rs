//! Last touches that turn what schemars derives into a schema like the ones people know from Kubernetes.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// Rewrites a derived schema in place, all the way down:
///
/// * `nullable` goes: without it the API server drops a null instead of storing it, as it does for upstream's kinds.
/// * `default` goes: schemars takes Rust's defaults for API defaults, and the API server would write them into objects.
/// * int-or-string nodes say so twice (`anyOf`), as older clients and offline checkers expect.
/// * links of rustdoc lose their brackets, since people read the descriptions in `kubectl explain`.
/// * widths that Kubernetes does not know, and titles, go.
pub(crate) fn finish(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    schema.default = None;
    schema.title = None;
    schema.description = schema.description.as_deref().map(without_links);
    if schema.x_kubernetes_int_or_string == Some(true) {
        schema.type_ = None;
        schema.format = None;
        schema.any_of = Some(["integer", "string"].map(of_type).to_vec());
    }
    if schema.format.as_deref().is_some_and(|format| format.starts_with("uint")) {
        schema.format = None;
    }
    if let Some(JSONSchemaPropsOrArray::Schema(items)) = &mut schema.items {
        finish(items);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        finish(values);
    }
    for property in schema.properties.iter_mut().flat_map(|properties| properties.values_mut()) {
        finish(property);
    }
}

/// "see [`super::Thing`]" becomes "see Thing".
fn without_links(text: &str) -> String {
    let mut parts = text.split("[`");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once("`]").unwrap_or((part, ""));
        plain.push_str(link.rsplit("::").next().unwrap_or(link));
        plain.push_str(rest);
    }
    plain
}

fn of_type(type_: &str) -> JSONSchemaProps {
    JSONSchemaProps { type_: Some(type_.to_owned()), ..JSONSchemaProps::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_plain_words() {
        assert_eq!(
            without_links("see [`super::Thing`] and [`Other`], or `code`."),
            "see Thing and Other, or `code`."
        );
        assert_eq!(without_links("nothing"), "nothing");
    }
}
