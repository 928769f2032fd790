//! One adapter per area: from a case's input to objects, through the planning code, to what is compared.

use super::{
    Case,
    fields::{Fields, same},
    objects::{World, pod},
    properties,
};
use controllers::kruise::{
    delete_order,
    observe::{pod_facts, state_of},
    ordinals::{Ordinal, OrdinalSet, split_entries},
    set_plan::{Acted, SetAction, choose_ids, plan},
    validate::ValidScale,
};
use crds::slim::SlimPod;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::{Value, json};

pub fn run(case: &Case) -> Result<(), String> {
    if case.area == "scale-id-property" {
        return properties::run(&case.id)
            .unwrap_or_else(|| Err("no property is bound to this id".to_owned()));
    }
    let mut input = Fields::new("input", &case.input)?;
    let mut expected = Fields::new("expected", &case.expected)?;
    let compared = match case.area.as_str() {
        "scale-id" => scale_id(&mut input, &mut expected),
        "scale-need" => scale_need(&mut input, &mut expected),
        "scale-apply" => scale_apply(&mut input, &mut expected),
        "delete-order" => delete_order(&mut input, &mut expected),
        "kill" => kill(&mut input, &mut expected),
        "ordinal" => ordinal(&mut input, &mut expected),
        "gs-state" => gs_state(&mut input, &mut expected),
        area => return Err(format!("no adapter understands the area {area}")),
    };
    input.done()?;
    expected.done()?;
    compared
}

fn set_of(ids: &[u32]) -> OrdinalSet {
    ids.iter().filter_map(|id| Ordinal::new(*id)).collect()
}

fn pods(input: &mut Fields) -> Result<Vec<SlimPod>, String> {
    input.take::<Vec<Value>>("pods")?.iter().map(pod).collect()
}

fn scale_id(input: &mut Fields, expected: &mut Fields) -> Result<(), String> {
    let wanted = ValidScale {
        replicas: input.take("expectedReplicas")?,
        reserve: set_of(&input.take::<Vec<u32>>("specReserveIds")?),
        ..ValidScale::default()
    };
    let acted = Acted {
        replicas: 0,
        reserve: set_of(&input.take::<Vec<u32>>("annotationReserveIds")?),
        implicit: set_of(&input.take::<Vec<u32>>("implicitReserveIds")?),
    };
    let pods: Vec<_> = pods(input)?.iter().map(|pod| pod_facts(pod, "g", "u", None)).collect();
    let choice = choose_ids(Some(&acted), None, &wanted, &pods);
    let reserve = choice.reserve(&wanted.reserve);
    let kept = expected.take::<Vec<u32>>("manageIds")?;
    let reserved = expected.take::<Vec<u32>>("newReserveIds")?;
    let workload = expected.take_optional::<Vec<u32>>("workloadOrdinals")?;
    same("manageIds", &set_of(&kept), &choice.keep)?;
    same("newReserveIds", &set_of(&reserved), &reserve)?;
    workload
        .map_or(Ok(()), |ids| same("workloadOrdinals", &set_of(&ids), &reserve.first_free(wanted.replicas)))
}

fn scale_need(input: &mut Fields, expected: &mut Fields) -> Result<(), String> {
    let reserve: Value = input.take("specReserveIds")?;
    let annotation: String = input.take("annotationReserveIds")?;
    let mut world = World::new(input.take("gssReplicas")?, &reserve, Vec::new());
    world.annotate(&annotation);
    world.acted(input.take("astsReplicas")?, &annotation, &OrdinalSet::new());
    let plan = plan(&world.observe()?);
    let due = plan.actions.iter().any(|a| matches!(a, SetAction::WriteActed(_) | SetAction::WriteReserve(_)));
    same("needScale", &expected.take("needScale")?, &due)
}

fn scale_apply(input: &mut Fields, expected: &mut Fields) -> Result<(), String> {
    let reserve: Value = input.take("specReserveIds")?;
    let annotation: String = input.take("annotationReserveIds")?;
    let workload: Vec<IntOrString> = input.take("astsReserveOrdinals")?;
    let mut world = World::new(input.take("replicas")?, &reserve, pods(input)?);
    world.set["spec"]["scaleStrategy"] =
        json!({ "scaleDownStrategyType": input.take::<String>("scaleDownStrategyType")? });
    world.annotate(&annotation);
    world.acted(input.take("astsReplicas")?, &annotation, &OrdinalSet::parse_own(&workload));
    let plan = world.settle()?;
    let acted = world.observe()?.acted.ok_or("nothing was acted on")?;
    same("astsReplicas", &expected.take("astsReplicas")?, &acted.replicas)?;
    let reserved = json!(acted.reserve.union(&acted.implicit).compress());
    same("astsReserveOrdinals", &expected.take::<Value>("astsReserveOrdinals")?, &reserved)?;
    let written = &world.set["metadata"]["annotations"]["game.kruise.io/reserve-ids"];
    same("annotationReserveIds", &expected.take::<Value>("annotationReserveIds")?, written)?;
    same("manageIds", &set_of(&expected.take::<Vec<u32>>("manageIds")?), &plan.desired)?;
    // Where the case says nothing of the user's list, the list has to stay as it is.
    let list = expected.take_optional::<Value>("specReserveIds")?.unwrap_or(reserve);
    same("specReserveIds", &list, &world.set["spec"]["reserveGameServerIds"])
}

fn delete_order(input: &mut Fields, expected: &mut Fields) -> Result<(), String> {
    let mut pods: Vec<_> = pods(input)?.iter().map(|pod| pod_facts(pod, "g", "u", None)).collect();
    pods.sort_by(delete_order::compare);
    let order: Vec<u32> = pods.iter().filter_map(|pod| pod.ordinal.map(Ordinal::get)).collect();
    same("order", &expected.take("order")?, &order)
}

fn kill(input: &mut Fields, expected: &mut Fields) -> Result<(), String> {
    let replicas: i64 = input.take("gssReplicas")?;
    let mut world = World::new(replicas, &json!([]), pods(input)?);
    world.acted(input.take("astsReplicas")?, "", &OrdinalSet::new());
    let plan = plan(&world.observe()?);
    let lowered = plan.actions.iter().find_map(|action| match action {
        SetAction::LowerReplicas { to, .. } => Some(i64::from(*to)),
        _ => None,
    });
    same("replicasAfterKill", &expected.take("replicasAfterKill")?, &lowered.unwrap_or(replicas))
}

fn ordinal(input: &mut Fields, expected: &mut Fields) -> Result<(), String> {
    if let Some(name) = input.take_optional::<String>("name")? {
        return same("index", &expected.take("index")?, &Ordinal::lenient(&name).get());
    }
    let operation: String = input.take("op")?;
    match operation.as_str() {
        "compress" => {
            let set = set_of(&input.take::<Vec<u32>>("set")?);
            same("list", &expected.take::<Value>("list")?, &json!(set.compress()))
        }
        "to-string" => {
            let set = set_of(&input.take::<Vec<u32>>("set")?);
            let text = set.to_text(&input.take::<String>("delimiter")?);
            same("text", &expected.take("text")?, &text)
        }
        "parse-lenient" => {
            let (text, delimiter): (String, String) = (input.take("text")?, input.take("delimiter")?);
            let ids = expected.take::<Vec<u32>>("set")?;
            same("set", &set_of(&ids), &OrdinalSet::parse_text(&text, &delimiter))
        }
        "split-int-or-string" => {
            let (text, delimiter): (String, String) = (input.take("text")?, input.take("delimiter")?);
            same("list", &expected.take::<Value>("list")?, &json!(split_entries(&text, &delimiter)))
        }
        "parse-strict" => {
            let list: Vec<IntOrString> = input.take("list")?;
            let ids = expected.take::<Option<Vec<u32>>>("set").or_else(|missing| {
                // A null expectation stands for upstream's nil.
                if missing.ends_with("is missing") { Ok(None) } else { Err(missing) }
            })?;
            same("set", &ids.map(|ids| set_of(&ids)), &OrdinalSet::parse_entries(&list).ok())
        }
        other => Err(format!("no adapter understands the operation {other}")),
    }
}

fn gs_state(input: &mut Fields, expected: &mut Fields) -> Result<(), String> {
    let mut metadata = json!({ "name": "g-0", "labels": {} });
    metadata["labels"]["lifecycle.apps.kruise.io/state"] = json!(input.take::<String>("lifecycleLabel")?);
    if input.take::<bool>("deletionTimestamp")? {
        metadata["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    let mut status = json!({ "phase": input.take::<String>("phase")? });
    if let Value::String(ready) = input.take::<Value>("readyCondition")? {
        status["conditions"] = json!([{ "type": "Ready", "status": ready }]);
    }
    let pod: SlimPod = serde_json::from_value(json!({ "metadata": metadata, "status": status }))
        .map_err(|e| e.to_string())?;
    same("gsState", &expected.take::<String>("gsState")?, &state_of(&pod).as_str().to_owned())
}
