"""`stoker lint --cluster` against a real apiserver (1.20.2): what it finds, what it asks for, and who it says it is.

Nodes, kinds of others and some 700 pods are put in through the API. The audit log tells what was asked: pages, and
nothing but reading.
"""
import contextlib
import json
import os
import subprocess
import threading
import time

from control_plane import ControlPlane
from harness import SOURCE_DIR, STOKER, scratch
from sandbox import sandbox

PODS_OF_A_DEPLOYMENT = 620  # more than a page of 500
READING = {"get", "list"}


def container(name="main", image="example.com/work:1.2", gpus=0, **more):
    limits = {"memory": "4Gi", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    return {"name": name, "image": image, "resources": {"requests": {"cpu": "1"}, "limits": limits}, **more}


def pod_spec(*containers, **more):
    return {"automountServiceAccountToken": False, "containers": list(containers), **more}


def template(app, spec):
    return {"metadata": {"labels": {"app": app}}, "spec": spec}


def owned_by(api, kind, name, uid="1"):
    return [{"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": True}]


def create_pod(plane, name, spec, labels=None, owner=None):
    plane.create("/api/v1/namespaces/ml/pods", {
        "apiVersion": "v1", "kind": "Pod", "spec": spec,
        "metadata": {"name": name, "labels": labels or {}, **({"ownerReferences": owner} if owner else {})}})


def create_node(plane, name, gpus=0, usable=None, labels=None, tainted=False):
    """A node as kubelet, device plugin and feature discovery would have written it."""
    plane.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}})

    def resources(count):
        return {"cpu": "96", "memory": "1024Gi", "pods": "2000", **({"nvidia.com/gpu": str(count)} if gpus else {})}
    # Admission gives every new node the taint of one that is not ready, which the controller takes off.
    plane.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}] if tainted else []}})
    plane.set_status(f"/api/v1/nodes/{name}", {
        "capacity": resources(gpus), "allocatable": resources(gpus if usable is None else usable),
        "conditions": [{"type": "Ready", "status": "True", "reason": "test", "message": "test"}]})


def ago(minutes):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60 * minutes))


def is_running(plane, name, minutes=60):
    plane.set_status(f"/api/v1/namespaces/ml/pods/{name}", {"phase": "Running", "startTime": ago(minutes),
                                                            "conditions": [{"type": "Ready", "status": "True"}]})


def waits(plane, name, minutes=60):
    plane.set_status(f"/api/v1/namespaces/ml/pods/{name}", {"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": ago(minutes)}]})


def allow(plane, user, role):
    plane.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": user},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]})


def set_rights(plane):
    """The role of the documentation for `linter`, `early` and `late`; one without pytorchjobs and nodes for `blind`."""
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    role = (SOURCE_DIR / "docs/kubernetes/lint-cluster-role.yaml").read_text()
    plane.create(roles, role)
    plane.create(roles, role.replace("name: stoker-lint", "name: blind").replace("pytorchjobs, ", "").replace("[nodes, ", "["))
    for user in ("linter", "early", "late"):
        allow(plane, user, "stoker-lint")
    allow(plane, "blind", "blind")
    allow(plane, "system:serviceaccount:ml:default", "stoker-lint")


def fill(plane):
    plane.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
    plane.create("/api/v1/namespaces/ml/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
    plane.define("leaderworkerset.x-k8s.io", "v1", "leaderworkersets", "LeaderWorkerSet")
    plane.define("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob")
    spec = pod_spec(container(image="example.com/server", gpus=1))
    apps = "/apis/apps/v1/namespaces/ml"
    plane.create(f"{apps}/deployments", {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "server"},
        "spec": {"replicas": PODS_OF_A_DEPLOYMENT, "selector": {"matchLabels": {"app": "server"}}, "template": template("server", spec)}})
    plane.create(f"{apps}/replicasets", {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "server-1", "ownerReferences": owned_by("apps/v1", "Deployment", "server")},
        "spec": {"replicas": PODS_OF_A_DEPLOYMENT, "selector": {"matchLabels": {"app": "server"}}, "template": template("server", spec)}})
    for n in range(PODS_OF_A_DEPLOYMENT):
        create_pod(plane, f"server-1-{n}", spec, {"app": "server"}, owned_by("apps/v1", "ReplicaSet", "server-1"))
    create_pod(plane, "alone", pod_spec(container(image="example.com/alone:latest", gpus=1)))
    for n in range(3):
        create_pod(plane, f"thing-{n}", pod_spec(container(image="example.com/thing:latest", gpus=1)),
                   owner=owned_by("example.com/v1", "Thing", "thing"))
    plane.create("/apis/leaderworkerset.x-k8s.io/v1/namespaces/ml/leaderworkersets", {
        "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "group"},
        "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": pod_spec(container(image="example.com/group", gpus=8))}}}})
    plane.create("/apis/kubeflow.org/v1/namespaces/ml/pytorchjobs", {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "train"},
        "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": pod_spec(
            container("pytorch", "example.com/train", gpus=8, env=[{"name": "CUDA_LAUNCH_BLOCKING", "value": "1"}]))}}}}})


def fill_nodes(plane):
    """Two GPU nodes, one of them open and with a card that is not healthy, and one for other work."""
    h100 = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.replicas": "1"}
    create_node(plane, "gpu-1", 8, labels=h100, tainted=True)
    create_node(plane, "gpu-2", 8, usable=7, labels=h100)
    create_node(plane, "cpu-1")
    create_pod(plane, "exporter", pod_spec(container(image="nvcr.io/nvidia/k8s/dcgm-exporter:3.3.9-3.6.1-ubuntu22.04"), nodeName="gpu-1"))
    is_running(plane, "exporter")
    create_pod(plane, "web", pod_spec(container(), nodeName="gpu-2"))
    is_running(plane, "web")
    gang = {"leaderworkerset.sigs.k8s.io/name": "group", "leaderworkerset.sigs.k8s.io/group-index": "0"}
    owner = owned_by("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "group")
    worker = container(image="example.com/group", gpus=4)
    worker["resources"]["requests"]["cpu"] = "80"
    create_pod(plane, "group-0", pod_spec(worker, nodeName="gpu-1"), gang, owner)
    is_running(plane, "group-0")
    create_pod(plane, "group-1", pod_spec(worker, tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}]), gang, owner)
    waits(plane, "group-1")
    plane.define("monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule")
    plane.create("/apis/monitoring.coreos.com/v1/namespaces/ml/prometheusrules", {
        "apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "metadata": {"name": "gpus"},
        "spec": {"groups": [{"name": "gpus", "rules": [{"alert": "Hot", "expr": "increase(DCGM_FI_DEV_GPU_TEMP[5m]) > 10"}]}]}})
    plane.create("/api/v1/namespaces/ml/configmaps", {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plugin"},
        "data": {"config.yaml": "version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - {name: nvidia.com/gpu, replicas: 1}\n"}})


def lint(kubeconfig, *arguments, code=1, environment=None):
    """(findings, what was said on standard error); the exit code must be `code`."""
    done = subprocess.run([STOKER, "lint", "--cluster", "--kubeconfig", kubeconfig, "-o", "json", *arguments], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, f"exit code {done.returncode}: {done.stdout[:2000]}{done.stderr}"
    return (json.loads(done.stdout)["findings"] if done.stdout else []), done.stderr


def told(findings, rule):
    return {(one["entity"], one.get("field")) for one in findings if one["rule"] == rule}


def certificate_of(plane, user):
    return {"client-certificate-data": plane.authority.inline(f"{user}.crt"), "client-key-data": plane.authority.inline(f"{user}.key")}


def finds_what_is_wrong_once_each(plane):
    begin = time.monotonic()
    findings, said = lint(plane.kubeconfig("linter", certificate_of(plane, "linter")))
    print(f"a cluster of some {PODS_OF_A_DEPLOYMENT} pods is looked at in {time.monotonic() - begin:.2f} s")
    assert not said, said
    assert told(findings, "image-untagged") == {
        ("object:ml/Deployment/server", "spec.template.spec.containers[0].image"),
        ("object:ml/LeaderWorkerSet/group", "spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].image"),
        ("object:ml/PyTorchJob/train", "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image")}
    assert told(findings, "debug-left") == {
        ("object:ml/PyTorchJob/train", "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].env[0]")}
    latest = told(findings, "image-latest")
    assert ("object:ml/Pod/alone", "spec.containers[0].image") in latest, latest
    assert len(latest) == 2, f"three pods of one unknown controller count once: {latest}"
    assert all(one["file"] is None and one["source"] for one in findings)


def finds_what_only_the_cluster_shows(plane):
    findings, _ = lint(plane.kubeconfig("linter", certificate_of(plane, "linter")), "--all")
    said = {one["rule"]: one for one in findings if one["entity"].startswith(("node:", "cluster:")) or one["rule"].startswith("gang")}
    assert {rule: one["entity"] for rule, one in said.items()} == {
        "gpu-unhealthy": "node:gpu-2", "cpu-pods-on-gpu-node": "node:gpu-2", "gpus-stranded": "node:gpu-1",
        "exporter-missing": "cluster:test", "xid-alert-missing": "cluster:test",
        "gang-half-started": "object:ml/LeaderWorkerSet/group"}, said
    assert said["gpus-stranded"]["message"] == ("4 of 8 GPUs of node gpu-1 are free, beside 15 CPUs and 1016 GiB; "
                                                "pod ml/group-1 waits for 4 GPUs, 80 CPUs and 4 GiB"), said["gpus-stranded"]
    assert said["exporter-missing"]["message"].endswith("on 1 of 2 GPU nodes: gpu-2"), said["exporter-missing"]
    assert told(findings, "dcgm-rate-of-gauge") == {("object:ml/PrometheusRule/gpus", "spec.groups[0].rules[0].expr")}
    assert told(findings, "device-plugin-sharing") == {("object:ml/ConfigMap/plugin", "data[config.yaml]:5")}
    assert not told(findings, "gpu-selector-missing"), "there is one kind of GPU"
    junit = subprocess.run([STOKER, "lint", "--cluster", "--kubeconfig", plane.folder / "linter.kubeconfig", "-o", "junit"], capture_output=True, text=True, check=False)
    for suite in ('"node:gpu-2" tests="1" failures="1"', '"node:cpu-1" tests="1" failures="0"', '"cluster:test" tests="2" failures="2"'):
        assert f"<testsuite name={suite}" in junit.stdout, junit.stdout[:3000]
    of_namespace, _ = lint(plane.kubeconfig("linter", certificate_of(plane, "linter")), "--namespace", "ml")
    assert not [one for one in of_namespace if one["entity"].startswith(("node:", "cluster:"))], "nothing about nodes"


def reads_page_by_page_and_nothing_else(plane):
    asked = plane.requests_of("linter")
    assert {verb for _, verb, _ in asked} <= READING, asked
    pods = [path for _, _, path in asked if path.startswith("/api/v1/pods?")][:2]
    assert len(pods) == 2 and "limit=500" in pods[0] and "continue=" in pods[1], pods
    assert not [path for _, _, path in asked if "secrets" in path or "rayclusters" in path], "only kinds that are served, and no Secrets"


def says_what_it_may_not_see(plane):
    findings, said = lint(plane.kubeconfig("blind", {"token": "blind-token"}), code=2)
    assert "pytorchjobs.kubeflow.org: not looked at (forbidden:" in said, said
    assert '{apiGroups: ["kubeflow.org"], resources: ["pytorchjobs"], verbs: ["list"]}' in said, said
    assert told(findings, "image-untagged") >= {("object:ml/Deployment/server", "spec.template.spec.containers[0].image")}
    assert not told(findings, "debug-left")
    assert "the cluster as a whole: nodes were not seen to the end" in said, said
    assert not told(findings, "exporter-missing"), "what is missing is not known"


def refuses_to_guess(plane):
    _, said = lint(plane.kubeconfig("nobody", {"token": "unknown"}), code=2)
    assert "does not know who we are (401" in said, said
    other = plane.kubeconfig("other", {"token": "blind-token"}, {"certificate-authority-data": plane.authority.inline("linter.crt")})
    _, said = lint(other, code=2)
    assert "certificate" in said, said
    named = plane.kubeconfig("named", {"token": "blind-token"}, {"tls-server-name": "somebody.else"})
    _, said = lint(named, code=2)
    assert "somebody.else" in said or "certificate" in said, said
    lint(plane.kubeconfig("right-name", {"token": "blind-token"}, {"tls-server-name": "apiserver.test"}), code=2)
    assert [1 for user, _, path in plane.requests_of("blind") if path.startswith("/api/v1/pods")], "the right name was not let in"


def takes_a_token_that_is_renewed_meanwhile(plane):
    token = plane.folder / "token"
    token.write_text("early-token\n")

    log = plane.folder / "audit.log"
    before = log.stat().st_size

    def renew():  # as soon as the first request is in the log
        end = time.monotonic() + 20
        while log.stat().st_size == before and time.monotonic() < end:
            time.sleep(0.001)
        (plane.folder / "token.new").write_text("late-token\n")
        os.replace(plane.folder / "token.new", token)
    renewing = threading.Thread(target=renew)
    renewing.start()
    findings, said = lint(plane.kubeconfig("renewed", {"tokenFile": "token"}))
    renewing.join()
    assert not said and told(findings, "image-latest"), said
    assert plane.requests_of("early") and plane.requests_of("late"), "both tokens are used in one run"


def runs_an_exec_plugin(plane):
    plugin = plane.folder / "login"
    plugin.write_text("#!/bin/sh\necho asked >&2\nprintf '%s' '" + json.dumps({
        "apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": {"token": "late-token"}}) + "'\n")
    plugin.chmod(0o755)
    findings, said = lint(plane.kubeconfig("plugin", {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "./login"}}))
    assert said == "asked\n" and told(findings, "image-latest"), said


def knows_itself_in_a_pod(plane):
    """As a pod of a service account: the token that the API gives, where a kubelet would have put it."""
    status, text = plane.ask("POST", "/api/v1/namespaces/ml/serviceaccounts/default/token", json.dumps(
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}))
    assert status == 201, text
    mounted = plane.folder / "mounted"
    mounted.mkdir()
    (mounted / "token").write_text(json.loads(text)["status"]["token"])
    (mounted / "namespace").write_text("ml")
    (mounted / "ca.crt").write_bytes((plane.authority.folder / "ca.crt").read_bytes())
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "KUBERNETES_SERVICE_HOST": "127.0.0.1",
                   "KUBERNETES_SERVICE_PORT": str(plane.port)}
    with sandbox() as box:
        box.run(["sh", "-c", f"mkdir -p /run/secrets/kubernetes.io && cp -r {mounted} /run/secrets/kubernetes.io/serviceaccount"])
        done = subprocess.run(box.command([STOKER, "lint", "--cluster", "-o", "json"]), env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and not done.stderr, f"{done.returncode}: {done.stderr}"
    assert told(json.loads(done.stdout)["findings"], "exporter-missing") == {("cluster:in-cluster", None)}


def main():
    with scratch() as folder, contextlib.ExitStack() as stack:
        begin = time.monotonic()
        plane = ControlPlane(stack, folder, {"blind-token": "blind", "early-token": "early", "late-token": "late"}, ["linter"])
        print(f"etcd and the apiserver are ready after {time.monotonic() - begin:.1f} s")
        set_rights(plane)
        fill(plane)
        fill_nodes(plane)
        print(f"filled after {time.monotonic() - begin:.1f} s")
        finds_what_is_wrong_once_each(plane)
        finds_what_only_the_cluster_shows(plane)
        reads_page_by_page_and_nothing_else(plane)
        says_what_it_may_not_see(plane)
        refuses_to_guess(plane)
        takes_a_token_that_is_renewed_meanwhile(plane)
        runs_an_exec_plugin(plane)
        knows_itself_in_a_pod(plane)
        print(f"all of it took {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
