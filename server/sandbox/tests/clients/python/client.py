"""A script as people write them with the `kubernetes` package, against the API server of $KUBECONFIG: each step says `ok NAME`, or the
script ends with what went wrong. It expects our resource definitions and simulated nodes."""

import json
import sys

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException

NAMESPACE = "default"
GAME = {"group": "game.kruise.io", "version": "v1alpha1", "namespace": NAMESPACE, "plural": "gameservers"}


def ok(what):
    print("ok", what, flush=True)


def check(what, holds, seen):
    if not holds:
        sys.exit(f"FAILED {what}: {seen}")


def refused(what, code, reason, call):
    """Runs a call that must be refused; gives the Status."""
    try:
        answer = call()
    except ApiException as error:
        status = json.loads(error.body)
        check(what, error.status == code and status["reason"] == reason, f"{error.status} {status}")
        return status
    return check(what, False, f"it was not refused: {answer}")


def pods(core):
    manifest = {
        "metadata": {"name": "snake", "labels": {"app": "snake"}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "game", "image": "game:1"}]},
    }
    core.create_namespaced_pod(NAMESPACE, manifest)
    refused("already exists", 409, "AlreadyExists", lambda: core.create_namespaced_pod(NAMESPACE, manifest))
    phases = []
    watching = watch.Watch()
    for event in watching.stream(core.list_namespaced_pod, NAMESPACE, label_selector="app=snake", timeout_seconds=60):
        phases.append((event["type"], event["object"].status.phase))
        if event["object"].status.phase == "Running":
            watching.stop()
    check("watch", phases and phases[0][0] == "ADDED" and phases[-1][1] == "Running", phases)
    ok("watch until it runs")

    patched = core.patch_namespaced_pod("snake", NAMESPACE, {"metadata": {"labels": {"patched": "yes"}}})
    check("patch", patched.metadata.labels == {"app": "snake", "patched": "yes"}, patched.metadata.labels)
    ops = [{"op": "test", "path": "/metadata/labels/patched", "value": "no"}]
    refused("json patch", 422, "Invalid", lambda: core.patch_namespaced_pod("snake", NAMESPACE, ops))
    fixed = {"spec": {"nodeName": "elsewhere"}}
    refused("immutable", 422, "Invalid", lambda: core.patch_namespaced_pod("snake", NAMESPACE, fixed))
    ok("patches")

    log = core.read_namespaced_pod_log("snake", NAMESPACE, tail_lines=3, timestamps=True)
    check("log", 0 < len(log.splitlines()) <= 3, log)
    refused("log", 400, "BadRequest", lambda: core.read_namespaced_pod_log("snake", NAMESPACE, container="other"))
    ok("log")

    core.delete_namespaced_pod("snake", NAMESPACE, grace_period_seconds=0)
    refused("not found", 404, "NotFound", lambda: core.read_namespaced_pod("snake", NAMESPACE))
    ok("delete")


def pages(core):
    for at in range(7):
        core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": f"page-{at}", "labels": {"pages": "yes"}}})
    names, token = [], None
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="pages=yes", limit=3, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    check("pages", names == [f"page-{at}" for at in range(7)], names)
    call = lambda: core.list_namespaced_config_map(NAMESPACE, label_selector="a in (")
    refused("selector", 400, "BadRequest", call)
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="pages=yes")
    left = core.list_namespaced_config_map(NAMESPACE, label_selector="pages=yes").items
    check("delete collection", not left, left)
    ok("pages")


def custom(api):
    server = lambda name, ops: {
        "apiVersion": "game.kruise.io/v1alpha1",
        "kind": "GameServer",
        "metadata": {"name": name},
        "spec": {"opsState": ops},
    }
    status = refused("rule", 422, "Invalid", lambda: api.create_namespaced_custom_object(**GAME, body=server("a", "kill")))
    check("causes", any("opsState" in cause["field"] for cause in status["details"]["causes"]), status)
    api.create_namespaced_custom_object(**GAME, body=server("scripted", "None"))
    # This client sends a merge patch for objects.
    body = {"spec": {"opsState": "Maintaining"}}
    patched = api.patch_namespaced_custom_object(**GAME, name="scripted", body=body)
    check("patch", patched["spec"]["opsState"] == "Maintaining", patched)
    patched["spec"]["opsState"] = "Allocated"
    patched["metadata"]["resourceVersion"] = "1"
    refused("stale", 409, "Conflict", lambda: api.replace_namespaced_custom_object(**GAME, name="scripted", body=patched))
    listed = api.list_namespaced_custom_object(**GAME)
    check("list", [item["metadata"]["name"] for item in listed["items"]] == ["scripted"], listed)
    api.delete_namespaced_custom_object(**GAME, name="scripted")
    ok("custom objects")


def main():
    config.load_kube_config()
    check("version", client.VersionApi().get_code().major == "1", "no version")
    core = client.CoreV1Api()
    check("nodes", core.list_node().items, "no nodes")
    pods(core)
    pages(core)
    custom(client.CustomObjectsApi())


main()
