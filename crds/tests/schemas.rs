//! The schemas without a server: the table of rules as far as schemas and patterns judge, the bounds, the shape.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use crds::rules::{Judge, definition, table};
use serde_json::{Value, json};
use support::judge;

#[test]
fn the_table_comes_out_as_far_as_schemas_and_patterns_judge() {
    let mut wrong = Vec::new();
    for row in table().unwrap() {
        let crd = definition(&row.kind).unwrap();
        let errors = judge(&crd, &row.whole(&row.object, &crd));
        match &row.refuse {
            None if errors.is_empty() => {}
            None => wrong.push(format!("{}: refused with {errors:?}", row.id)),
            Some(_) if row.by == Judge::Cel => {}
            Some(part) if errors.iter().any(|error| error.contains(part)) => {}
            Some(part) => wrong.push(format!("{}: {part:?} is not in {errors:?}", row.id)),
        }
        if let Some(from) = &row.from {
            let errors = judge(&crd, &row.whole(from, &crd));
            assert!(errors.is_empty(), "{}: the object before is refused with {errors:?}", row.id);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_has_a_name_of_its_own() {
    let mut names: Vec<String> = table().unwrap().into_iter().map(|row| row.id).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn every_cel_rule_has_a_row_that_it_refuses() {
    let refusals: Vec<(String, String)> =
        table().unwrap().into_iter().filter_map(|row| Some((row.kind, row.refuse?))).collect();
    let mut rules = 0;
    for crd in crds::all() {
        let mut found = Vec::new();
        collect_rules(&serde_json::to_value(&crd).unwrap(), &mut found);
        for rule in found {
            rules += 1;
            let text = format!("{} {}", rule["message"], rule["messageExpression"]);
            let kind = &crd.spec.names.kind;
            assert!(
                refusals.iter().any(|(of, part)| of == kind
                    && (text.contains(part.as_str())
                        || text.contains("write ") && part.starts_with("write "))),
                "{kind}: no row shows {text}"
            );
        }
    }
    assert!(rules >= 10, "only {rules} rules were found");
}

fn collect_rules(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                if key == "x-kubernetes-validations" {
                    found.extend(field.as_array().cloned().unwrap_or_default());
                } else {
                    collect_rules(field, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_rules(item, found)),
        _ => {}
    }
}

#[test]
fn bounds_that_the_cost_of_rules_needs() {
    let set = definition("GameServerSet").unwrap();
    let with = |spec: Value| {
        let mut object = json!({ "spec": { "replicas": 1 } });
        object["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        judge(&set, &object)
    };
    let ids = |many: i32| json!({ "reserveGameServerIds": (0..many).collect::<Vec<_>>() });
    assert!(with(ids(1000)).is_empty());
    assert!(with(ids(1001))[0].contains("must have at most 1000 items"));

    let quality = |actions: usize| {
        let action = json!({ "state": true });
        json!({ "name": "a", "permanent": true, "exec": {}, "serviceQualityAction": vec![action; actions] })
    };
    assert!(with(json!({ "serviceQualities": vec![quality(32); 32] })).is_empty());
    assert!(with(json!({ "serviceQualities": vec![quality(0); 33] }))[0].contains("at most 32"));
    assert!(with(json!({ "serviceQualities": [quality(33)] }))[0].contains("at most 32"));
}

#[test]
fn nothing_in_a_status_of_upstreams_kinds_is_bounded_or_required() {
    for kind in ["GameServer", "GameServerSet"] {
        let crd = serde_json::to_value(definition(kind).unwrap()).unwrap();
        let status = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"];
        assert!(status.get("required").is_none(), "{kind}");
        let text = status.to_string();
        for bound in
            ["maxLength", "maxItems", "minimum", "maximum", "pattern", "enum", "x-kubernetes-validations"]
        {
            assert!(!text.contains(&format!("\"{bound}\":")), "{kind}: {bound}");
        }
    }
}

#[test]
fn no_api_defaults_and_no_nullable_fields_are_left_of_the_derived_schemas() {
    for (name, text) in crds::files().unwrap() {
        for word in ["nullable:", "default:", "[`"] {
            assert!(!text.contains(word), "{name} holds {word}");
        }
    }
}

#[test]
fn names_columns_and_subresources_are_upstreams() {
    let set = definition("GameServerSet").unwrap();
    let version = &set.spec.versions[0];
    let columns: Vec<&str> =
        version.additional_printer_columns.iter().flatten().map(|column| column.name.as_str()).collect();
    assert_eq!(
        columns,
        ["DESIRED", "CURRENT", "UPDATED", "READY", "Maintaining", "WaitToBeDeleted", "PreDelete", "AGE"]
    );
    let scale = version.subresources.as_ref().and_then(|all| all.scale.as_ref()).unwrap();
    assert_eq!(scale.label_selector_path.as_deref(), Some(".status.labelSelector"));
    assert_eq!(set.spec.names.short_names.as_deref(), Some(&["gss".to_owned()][..]));

    let server = definition("GameServer").unwrap();
    let version = &server.spec.versions[0];
    let columns: Vec<&str> =
        version.additional_printer_columns.iter().flatten().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["STATE", "OPSSTATE", "DP", "UP", "AGE"]);
    assert!(version.subresources.as_ref().is_some_and(|all| all.status.is_some() && all.scale.is_none()));
    assert_eq!(server.spec.names.short_names.as_deref(), Some(&["gs".to_owned()][..]));
}
