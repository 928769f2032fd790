//! The table of what our own kinds accept and refuse (`crds/tests/rules.yaml`) as requests: the sandbox must not only come to
//! the same verdict as the real server, it must give it in the same words.
use serde_json::{Value, json};

use crate::steps::{Group, Step};

pub fn group() -> Group {
    let mut steps = Vec::new();
    for crd in crds::all() {
        let name = crd.metadata.name.clone().unwrap_or_default();
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        let body = serde_json::to_value(&crd).unwrap();
        let apply = format!("PREPARE {path}?fieldManager=differential&force=true");
        steps.push(Step { request: apply, r#type: "apply".into(), body, ..Step::default() });
        let spec = &crd.spec;
        let served =
            format!("/apis/{}/{}/namespaces/{{ns}}/{}", spec.group, spec.versions[0].name, spec.names.plural);
        steps.push(Step { request: format!("WAIT {served}"), ..Step::default() });
    }
    // Definitions that were there before are replaced a moment after they are written.
    for row in crds::rules::table().unwrap() {
        let crd = crds::rules::definition(&row.kind).unwrap();
        let (spec, id) = (&crd.spec, &row.id);
        let list =
            format!("/apis/{}/{}/namespaces/{{ns}}/{}", spec.group, spec.versions[0].name, spec.names.plural);
        let step = |request: String, body: Value, code_only: bool| Step {
            request,
            body,
            code_only,
            ..Step::default()
        };
        if row.from.is_none() && !row.status {
            steps.push(step(format!("POST {list}?dryRun=All"), row.whole(&row.object, &crd), false));
            continue;
        }
        let before = row.whole(row.from.as_ref().unwrap_or(&Value::Null), &crd);
        steps.push(step(format!("POST {list}"), before, true));
        let mut after = row.whole(&row.object, &crd);
        after["metadata"]["resourceVersion"] = json!("{rv}");
        let part = if row.status { "/status" } else { "" };
        steps.push(step(format!("PUT {list}/{id}{part}?dryRun=All"), after, false));
    }
    Group { name: "our-rules".into(), steps }
}
