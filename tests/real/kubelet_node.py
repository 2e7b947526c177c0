"""containerd and a kubelet without an apiserver: pods come from a folder of manifests.

Everything runs in a sandbox (sandbox.py): the kubelet's fixed folder, /var/lib/kubelet, is one of the sandbox's folder
there, so that its sockets can be reached from outside.
"""
import hashlib
import io
import json
import os
import shutil
import signal
import tarfile
import urllib.request
from pathlib import Path

from harness import SOURCE_DIR, free_port, skip, wait_for
from processes import environment, with_environment
from sandbox import cgroup_mounts

IMAGE = "localhost/stoker-test:1"
CGROUP = "stoker-real-kubelet"

CONTAINERD = """version = 2
root = "{work}/containerd"
state = "{work}/containerd-state"
[grpc]
address = "{work}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{image}"
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
"""

# evictionHard: one limit in place of the defaults, which would throw pods off a machine whose disk is rather full.
KUBELET = """apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: {work}/manifests
address: 127.0.0.1
port: {port}
healthzBindAddress: 127.0.0.1
healthzPort: {health_port}
readOnlyPort: 0
authentication: {{anonymous: {{enabled: true}}, webhook: {{enabled: false}}}}
authorization: {{mode: AlwaysAllow}}
cgroupDriver: cgroupfs
cgroupRoot: /{cgroup}
failSwapOn: false
enforceNodeAllocatable: []
oomScoreAdj: 0
evictionHard: {{memory.available: "1Mi"}}
imageGCHighThresholdPercent: 100
fileCheckFrequency: 1s
resolvConf: ""
"""


def kubelet_program():
    """The kubelet that `./dev test --real` builds from Debian's source package (tools/dev/kubernetes.sh)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    program = cache / "stoker/kubelet-1.20.2/kubelet"
    if not program.exists():
        skip("no kubelet is built: ./dev test --real does it")
    return program


def write_image(path):
    """A docker archive of one layer with Debian's static busybox; its entry point sleeps."""
    def archive(files):
        whole = io.BytesIO()
        with tarfile.open(fileobj=whole, mode="w") as tar:
            for name, content, mode in files:
                info = tarfile.TarInfo(name)
                info.size, info.mode = len(content), mode
                tar.addfile(info, io.BytesIO(content))
        return whole.getvalue()
    layer = archive([("bin/busybox", Path("/bin/busybox").read_bytes(), 0o755)])
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {"Entrypoint": ["/bin/busybox", "sleep", "100000"]},
                         "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [IMAGE], "Layers": ["layer.tar"]}]).encode()
    path.write_bytes(archive([("config.json", config, 0o644), ("layer.tar", layer, 0o644), ("manifest.json", manifest, 0o644)]))


class KubeletNode:
    def __init__(self, box):
        self.box, self.work = box, box.folder
        self.folder = self.work / "kubelet"  # /var/lib/kubelet inside
        self.pod_resources = self.folder / "pod-resources/kubelet.sock"
        self.program = kubelet_program()
        for needed in ("containerd", "runc"):
            if not shutil.which(needed):
                skip(f"{needed} is not installed: ./dev setup real")
        for name in ("kubelet", "manifests", "etc"):
            (self.work / name).mkdir()
        for place, options in cgroup_mounts():
            self._make_cgroup(place / CGROUP, options)
        box.run(["sh", "-c", f"mkdir /var/lib/kubelet && mount --bind {self.folder} /var/lib/kubelet"])
        self._start_containerd()
        self.health_port = free_port()
        (self.work / "kubelet.yaml").write_text(KUBELET.format(work=self.work, cgroup=CGROUP, port=free_port(),
                                                               health_port=self.health_port))
        self.kubelet = None
        self.plugin = None

    @staticmethod
    def _make_cgroup(folder, options):
        folder.mkdir()
        if "cpuset" in options.split(","):
            for name in ("cpuset.cpus", "cpuset.mems"):  # a v1 cpuset begins empty, and nothing may enter it
                (folder / name).write_text((folder.parent / name).read_text())

    def _start_containerd(self):
        (self.work / "containerd.toml").write_text(CONTAINERD.format(work=self.work, image=IMAGE))
        socket = self.work / "containerd.sock"
        self.containerd = self.box.start(["containerd", "-c", self.work / "containerd.toml"], self.work / "containerd.log")
        wait_for("containerd", socket.exists)
        write_image(self.work / "image.tar")
        ctr = ["ctr", "-a", socket, "-n", "k8s.io"]
        wait_for("containerd to answer", lambda: self.box.run([*ctr, "version"]))
        self.box.run([*ctr, "images", "import", "--snapshotter", "native", self.work / "image.tar"])

    def start_kubelet(self):
        argv = [self.program, f"--config={self.work}/kubelet.yaml", "--hostname-override=node1", "--container-runtime=remote",
                f"--container-runtime-endpoint=unix://{self.work}/containerd.sock", "--cert-dir", self.work / "etc"]
        self.kubelet = self.box.start(argv, self.work / "kubelet.log")
        wait_for("the kubelet to be healthy", self.healthy, 60)

    def healthy(self):
        if not self.kubelet.running():
            raise AssertionError(f"the kubelet ended:\n{self.kubelet.tail()}")
        with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/healthz", timeout=2) as reply:
            return reply.status == 200

    def stop_kubelet(self, with_signal=signal.SIGTERM):
        self.kubelet.stop(with_signal)

    def start_plugin(self, resources):
        """`resources`: resource name -> device ids."""
        argv = ["/usr/bin/python3", SOURCE_DIR / "tests/real/device_plugin.py", "/var/lib/kubelet/device-plugins",
                *[f"{name}={','.join(ids)}" for name, ids in resources.items()]]
        self.plugin = self.box.start(argv, self.work / "plugin.log")
        self.wait_registered(len(resources))

    def registrations(self):
        return self.plugin.log.read_text().count("registered ")

    def wait_registered(self, at_least):
        wait_for("the plugin to be registered", lambda: self.registrations() >= at_least, 60)

    def add_pod(self, name, resource, count, user=0, namespace="research"):
        """A pod whose one container, `work`, holds `count` of `resource`; waits for its process and returns its pid."""
        (self.work / f"manifests/{name}.json").write_text(json.dumps({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": {"hostNetwork": True, "dnsPolicy": "Default", "restartPolicy": "Always", "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "work", "image": IMAGE, "imagePullPolicy": "Never",
                                     "env": [{"name": "STOKER_TEST_POD", "value": name}],
                                     "securityContext": {"runAsUser": user},
                                     "resources": {"limits": {resource: str(count)}}}]}}))
        return wait_for(f"the process of pod {name}", lambda: process_of(name), 60)

    def remove_pod(self, name):
        (self.work / f"manifests/{name}.json").unlink()
        wait_for(f"pod {name} to end", lambda: process_of(name) is None, 60)



def process_of(pod):
    """The pid, as the host counts, of a test pod's process; None where there is none."""
    return next(iter(with_environment(STOKER_TEST_POD=pod)), None)


def devices_of(pid):
    return environment(pid)["NVIDIA_VISIBLE_DEVICES"].split(",")
