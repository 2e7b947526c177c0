"""A kubelet of Kubernetes 1.20.2 with containerd and a device plugin: the agent tells which pod holds which GPU.

The plugin advertises the GPUs of a simulated node: whole ones, shares of one (`UUID::n`) and MIG instances. What a pod
really got is read from its process, which the plugin's environment variable tells, and compared with what the agent
says. Then the kubelet is ended ten times, half of them by SIGKILL: while it is away and until it knows its pods again,
every answer must be right or say that it is not known, and in the end every pod is named again.
"""
import os
import pwd
import signal
import subprocess
import threading
import time

from harness import STOKER, fetch, fetch_json, stoker_up, wait_for
from kubelet_node import CGROUP, KubeletNode, devices_of
from processes import with_environment
from sandbox import sandbox

RESTARTS = 10
WHOLE, SHARED, SLICED = (0, 1, 2), 4, 7  # GPUs by how they are given out
NOBODY = pwd.getpwnam("nobody").pw_uid


class Truth:
    """Which pod holds which device, as its own process says."""

    def __init__(self):
        self.holders = {}  # UUID of a GPU or MIG instance -> {(pod, replica)}
        self.pids = {}  # pod -> pid

    def add(self, pod, pid):
        self.pids[pod] = pid
        for device in devices_of(pid):
            uuid, _, replica = device.partition("::")
            self.holders.setdefault(uuid, set()).add((pod, replica))

    def forget(self, pod):
        del self.pids[pod]
        for held in self.holders.values():
            held -= {one for one in held if one[0] == pod}


class Agent:
    def __init__(self, url, data):
        self.url, self.data = url, data

    def inject(self, *arguments):
        subprocess.run([STOKER, "sim", "inject", "--data", self.data, *map(str, arguments)], check=True, capture_output=True)

    def gpus(self):
        return fetch_json(f"{self.url}/api/v1/gpus")["gpus"]


def told_holders(gpu):
    """UUID -> {(pod, replica)} of a GPU and its MIG instances; None where the agent says that it does not know."""
    told = {}
    for device in [gpu, *(gpu["mig_devices"] or [])]:
        held = device.get("holders")
        told[device["uuid"]] = None if held is None else {(one["pod"]["name"], one["replica"] or "") for one in held}
    return told


class Watcher:
    """Asks all the time; keeps what was wrong."""

    def __init__(self, agent, truth):
        self.agent, self.truth = agent, truth
        self.answers, self.unknown, self.wrong = 0, 0, []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _watch(self):
        while not self._end.wait(0.05):
            for gpu in self.agent.gpus():
                for uuid, told in told_holders(gpu).items():
                    self.answers += 1
                    if told is None:
                        self.unknown += 1
                    elif told != self.truth.holders.get(uuid, set()):
                        self.wrong.append((time.strftime("%T"), uuid, told))


def all_named(agent, truth):
    told = {}
    for gpu in agent.gpus():
        told.update(told_holders(gpu))
    return all(told.get(uuid) == held for uuid, held in truth.holders.items()) and told


def sliced_node(agent):
    """GPU 7 in MIG mode with three instances: their UUIDs."""
    agent.inject("mig-mode", "on", "--gpu", SLICED)
    for _ in range(3):
        agent.inject("mig-create", "1g.10gb", "--gpu", SLICED)

    def uuids():
        found = [one["uuid"] for one in agent.gpus()[SLICED]["mig_devices"] or []]
        return len(found) == 3 and found
    return wait_for("three MIG instances", uuids)


def start_pods(node, agent, truth):
    gpus = agent.gpus()
    slices = sliced_node(agent)
    node.start_kubelet()
    node.start_plugin({"nvidia.com/gpu": [gpus[n]["uuid"] for n in WHOLE],
                       "nvidia.com/gpu.shared": [f"{gpus[SHARED]['uuid']}::{n}" for n in range(4)],
                       "nvidia.com/mig-1g.10gb": slices})
    for pod, resource, count, user in (("train", "nvidia.com/gpu", 2, 0), ("share-a", "nvidia.com/gpu.shared", 1, NOBODY),
                                       ("share-b", "nvidia.com/gpu.shared", 1, 0), ("slice", "nvidia.com/mig-1g.10gb", 1, 0)):
        truth.add(f"{pod}-node1", node.add_pod(pod, resource, count, user))  # a static pod's name ends in its node's
    wait_for("every pod to be named", lambda: all_named(agent, truth))


def process_shown(agent, pid, index, *names):
    """What is said of a process that GPU `index` lists, once its pod is told with all of `names`."""
    def told():
        shown = next((one for one in agent.gpus()[index]["processes"] or [] if one["pid"] == pid), None)
        return shown and shown["pod"] and all(shown["pod"][name] for name in names) and shown
    return wait_for(f"the pod's {' and '.join(names)} of process {pid}", told)


def processes_are_the_pods(agent, truth):
    """A container's process has its user and container; its pod's names where it is the only pod on its GPU."""
    whole = next(gpu["index"] for gpu in agent.gpus() if ("train-node1", "") in truth.holders.get(gpu["uuid"], ()))
    for pod, index in (("train-node1", whole), ("share-a-node1", SHARED)):
        agent.inject("process", "add", truth.pids[pod], "busybox", 2048, "--gpu", index)

    shown = process_shown(agent, truth.pids["train-node1"], whole, "uid", "name")
    assert (shown["user"], len(shown["container_id"]), shown["job"]) == ("root", 64, None), shown
    pod = shown["pod"]
    assert (pod["namespace"], pod["name"], pod["container"]) == ("research", "train-node1", "work"), pod

    shown = process_shown(agent, truth.pids["share-a-node1"], SHARED, "uid")
    assert (shown["user"], len(shown["container_id"])) == ("nobody", 64), shown
    assert shown["pod"]["name"] in (None, "share-a-node1"), f"a stranger's name: {shown}"


def metrics_name_the_pods(agent, truth):
    text = fetch(f"{agent.url}/metrics")
    for pod in truth.pids:
        assert f'pod="{pod}"' in text, f"{pod} is not in /metrics"


def restart_again_and_again(node, agent, truth):
    registered = node.registrations()
    with Watcher(agent, truth) as watcher:
        for number in range(RESTARTS):
            node.stop_kubelet(signal.SIGKILL if number % 2 else signal.SIGTERM)
            node.start_kubelet()
            registered += 3
            node.wait_registered(registered)
            wait_for(f"every pod to be named after restart {number + 1}", lambda: all_named(agent, truth), 60)
        same = {pod: next(iter(with_environment(STOKER_TEST_POD=pod.removesuffix("-node1"))), None) for pod in truth.pids}
        assert same == truth.pids, f"the kubelet made containers anew: {same} after {truth.pids}"
    assert not watcher.wrong, f"{len(watcher.wrong)} wrong answers of {watcher.answers}, the first: {watcher.wrong[:3]}"
    print(f"{RESTARTS} restarts: {watcher.answers} answers, {watcher.unknown} of them not known, none wrong")


def a_pod_that_ended_is_no_longer_named(node, agent, truth):
    node.remove_pod("train")
    truth.forget("train-node1")
    # so soon after a restart the kubelet's list is not taken at its word
    wait_for("the GPUs of the pod that ended to be free", lambda: all_named(agent, truth), 120)


def main():
    with sandbox(CGROUP) as box:
        node, truth = KubeletNode(box), Truth()
        (box.folder / "agent").mkdir()
        os.environ.update(STOKER_ATTRIBUTION_KUBELET_SOCKET=str(node.pod_resources), STOKER_ATTRIBUTION_PERIOD="1s",
                          STOKER_SAMPLE_PERIOD_PROCESSES="1s")
        with stoker_up(box.folder / "agent") as (url, data):
            agent = Agent(url, data)
            subprocess.run([STOKER, "sim", "load", "--data", data, "idle"], check=True, capture_output=True)
            start_pods(node, agent, truth)
            processes_are_the_pods(agent, truth)
            metrics_name_the_pods(agent, truth)
            restart_again_and_again(node, agent, truth)
            a_pod_that_ended_is_no_longer_named(node, agent, truth)
    print("four pods on whole, shared and MIG devices are named, their processes too")


if __name__ == "__main__":
    main()
