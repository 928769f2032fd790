//! From a CustomResourceDefinition to the kinds that it serves.
use std::sync::Arc;

use serde_json::Value;

use super::{Behaviour, Custom, Gvk, KindSchema, Resource, ScalePaths, Subresource, texts};
use crate::api::schema::compile;
use crate::api::store::Store;
use crate::api::table::Column;
use crate::api::value::{at, list, text};

const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// One kind for every served version of a CRD.
pub fn resources(crd: &Value, store: &Store) -> Vec<Resource> {
    let name = text(crd, &["metadata", "name"]);
    let group = text(crd, &["spec", "group"]);
    let versions = list(crd, &["spec", "versions"]);
    let storage =
        versions.iter().find(|v| v["storage"] == true).map(|v| text(v, &["name"])).unwrap_or_default();
    let stored_as = (versions.len() > 1).then(|| format!("{group}/{storage}"));
    let names = &crd["spec"]["names"];
    let served = versions.iter().filter(|version| version["served"] == true);
    served
        .map(|version| {
            let gvk = Gvk {
                group: group.to_owned(),
                version: text(version, &["name"]).to_owned(),
                kind: text(names, &["kind"]).to_owned(),
            };
            let raw_schema = at(version, &["schema", "openAPIV3Schema"]).cloned().unwrap_or_default();
            let scale = at(version, &["subresources", "scale"]).map(scale_paths);
            Resource {
                plural: text(names, &["plural"]).to_owned(),
                singular: text(names, &["singular"]).to_owned(),
                list_kind: text(names, &["listKind"]).to_owned(),
                short_names: texts(names, "shortNames"),
                categories: texts(names, "categories"),
                namespaced: text(crd, &["spec", "scope"]) == "Namespaced",
                verbs: VERBS.map(str::to_owned).to_vec(),
                subresources: subresources(version, &gvk),
                selectable: list(version, &["selectableFields"])
                    .iter()
                    .map(|field| keys(text(field, &["jsonPath"])))
                    .collect(),
                schema: KindSchema::Custom(Arc::new(compile(&raw_schema))),
                columns: list(version, &["additionalPrinterColumns"]).iter().map(Column::of_crd).collect(),
                behaviour: Behaviour::Plain,
                custom: Some(Custom {
                    terminating: !text(crd, &["metadata", "deletionTimestamp"]).is_empty(),
                    crd: name.to_owned(),
                    scale,
                    stored_as: stored_as.clone(),
                    raw_schema,
                }),
                shelf: store.shelf(name),
                gvk,
            }
        })
        .collect()
}

fn subresources(version: &Value, gvk: &Gvk) -> Vec<Subresource> {
    let verbs: Vec<String> = ["get", "patch", "update"].map(str::to_owned).to_vec();
    let mut out = Vec::new();
    if at(version, &["subresources", "status"]).is_some() {
        out.push(Subresource { name: "status".into(), kind: gvk.clone(), verbs: verbs.clone() });
    }
    if at(version, &["subresources", "scale"]).is_some() {
        let kind = Gvk { group: "autoscaling".into(), version: "v1".into(), kind: "Scale".into() };
        out.push(Subresource { name: "scale".into(), kind, verbs });
    }
    out
}

fn scale_paths(scale: &Value) -> ScalePaths {
    ScalePaths {
        spec: keys(text(scale, &["specReplicasPath"])),
        status: keys(text(scale, &["statusReplicasPath"])),
        selector: Some(text(scale, &["labelSelectorPath"])).filter(|p| !p.is_empty()).map(keys),
    }
}

/// `.spec.replicas` as keys.
fn keys(path: &str) -> Vec<String> {
    path.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect()
}
