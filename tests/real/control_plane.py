"""etcd and a kube-apiserver of Kubernetes 1.20.2, without a controller, scheduler or kubelet: objects are as they are put in.

Every request is in the audit log, so that a test sees what a client asked for.
"""
import base64
import contextlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import urllib.parse
from pathlib import Path

from harness import free_port, program, skip, wait_for

AUDIT_POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
"""


def apiserver_program():
    """The apiserver that `./dev test --real` builds from Debian's source package (tools/dev/kubernetes.sh)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = cache / "stoker/kube-apiserver-1.20.2/kube-apiserver"
    if not found.exists():
        skip("no kube-apiserver is built: ./dev test --real does it")
    if not shutil.which("etcd") or not shutil.which("openssl"):
        skip("etcd is not installed: ./dev setup real")
    return found


class Authority:
    """Certificates below a folder, by openssl."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self._key("ca")
        self._openssl("req", "-x509", "-new", "-key", "ca.key", "-out", "ca.crt", "-days", "2", "-subj", "/CN=test-ca")

    def _openssl(self, *argv):
        subprocess.run(["openssl", *argv], cwd=self.folder, check=True, capture_output=True)

    def _key(self, name):
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")

    def issue(self, name, subject, names="IP:127.0.0.1,DNS:apiserver.test"):
        self._key(name)
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\n")
        self._openssl("req", "-new", "-key", f"{name}.key", "-out", f"{name}.csr", "-subj", subject)
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                      "-out", f"{name}.crt", "-extfile", f"{name}.ext")

    def inline(self, name):
        return base64.b64encode((self.folder / name).read_bytes()).decode()


class ControlPlane:
    """`tokens`: bearer token -> user, beside the certificates of `admin` and of the users in `certificates`."""

    def __init__(self, stack, folder, tokens, certificates):
        server = apiserver_program()
        self.folder = folder
        self.authority = Authority(folder / "pki")
        self.authority.issue("apiserver", "/CN=kube-apiserver")
        self.authority.issue("admin", "/O=system:masters/CN=admin")
        for user in certificates:
            self.authority.issue(user, f"/CN={user}")
        (folder / "tokens.csv").write_text("".join(f"{token},{user},{user}\n" for token, user in tokens.items()))
        (folder / "audit.yaml").write_text(AUDIT_POLICY)
        etcd_port, peer_port, self.port = free_port(), free_port(), free_port()
        etcd, peer = f"http://127.0.0.1:{etcd_port}", f"http://127.0.0.1:{peer_port}"
        stack.enter_context(program(
            ["etcd", f"--data-dir={folder}/etcd", f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}", f"--listen-peer-urls={peer}",
             f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}", "--unsafe-no-fsync"], folder / "etcd.log"))
        pki = self.authority.folder
        self.server = stack.enter_context(program(
            [server, f"--etcd-servers={etcd}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
             f"--secure-port={self.port}", "--insecure-port=0", f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
             f"--client-ca-file={pki}/ca.crt", f"--token-auth-file={folder}/tokens.csv", "--authorization-mode=RBAC",
             "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/admin.key",
             f"--service-account-signing-key-file={pki}/admin.key", "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
             f"--audit-policy-file={folder}/audit.yaml", f"--audit-log-path={folder}/audit.log"], folder / "apiserver.log"))
        context = ssl.create_default_context(cafile=pki / "ca.crt")
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self._connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=30)
        wait_for("the apiserver to be ready", self._ready, 60)

    def _ready(self):
        if self.server.poll() is not None:
            raise AssertionError(f"the apiserver ended:\n{(self.folder / 'apiserver.log').read_text()[-3000:]}")
        return self.ask("GET", "/readyz")[0] == 200

    def ask(self, method, path, body=None, kind="application/json"):
        """As admin: (status, text)."""
        try:
            self._connection.request(method, path, body, {"Content-Type": kind})
            reply = self._connection.getresponse()
            return reply.status, reply.read().decode()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0, ""

    def create(self, path, thing):
        """`thing`: an object, or YAML as text."""
        body, kind = (thing, "application/yaml") if isinstance(thing, str) else (json.dumps(thing), "application/json")
        status, text = self.ask("POST", path, body, kind)
        assert status == 201, f"POST {path}: {status} {text}"

    def patch(self, path, change):
        code, text = self.ask("PATCH", path, json.dumps(change), "application/merge-patch+json")
        assert code == 200, f"PATCH {path}: {code} {text}"

    def set_status(self, path, status):
        self.patch(f"{path}/status", {"status": status})

    def define(self, group, version, plural, kind):
        """A kind of its own with any content, served once this returns."""
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        self.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                    {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
                     "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                              "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})
        wait_for(f"kind {kind} to be served", lambda: self.ask("GET", f"/apis/{group}/{version}/{plural}")[0] == 200)

    def kubeconfig(self, name, user, cluster=None):
        """The path of a kubeconfig for `user` (what stands in users[].user)."""
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test", "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                   "certificate-authority-data": self.authority.inline("ca.crt"), **(cluster or {})}}]}))
        return path

    def requests_of(self, *users):
        """The audit log's (user, verb, path with query) of these users, in order."""
        found = []
        with open(self.folder / "audit.log", encoding="utf-8") as log:
            for line in log:
                with contextlib.suppress(ValueError):
                    event = json.loads(line)
                    if event["user"].get("username") in users:
                        found.append((event["user"]["username"], event["verb"], urllib.parse.unquote(event["requestURI"])))
        return found
