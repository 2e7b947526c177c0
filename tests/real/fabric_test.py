"""A fabric of ibsim with Debian's opensm: what `stoker fabric sweep` says of cables that are known to be wrong.

ibsim answers management datagrams as switches and adapters do; umad2sim, which is preloaded, stands for /dev/infiniband.
Errors are raised by its console, cables unplugged by it; what is slow or swapped is so in its description of the fabric,
which is ibnetdiscover's format.
"""
import contextlib
import glob
import http.server
import json
import os
import ssl
import subprocess
import threading
import time

from harness import STOKER, program, scratch, skip, wait_for

LEAF, SPINE, HOST = 0x200000, 0x300000, 0x100000
LIBRARIES = glob.glob("/usr/lib/*/umad2sim/libumad2sim.so")


class Plan:
    """Nodes and cables: (guid, port) -> (guid, port), each in both directions, with a rate as ibsim takes it."""

    def __init__(self):
        self.names, self.sizes, self.cables = {}, {}, {}

    def switch(self, guid, name, ports):
        self.names[guid], self.sizes[guid] = name, ports

    def host(self, guid, name):
        self.names[guid], self.sizes[guid] = name, 1

    def cable(self, one, other, rate="4xHDR"):
        self.cables[one], self.cables[other] = (other, rate), (one, rate)

    def is_switch(self, guid):
        return guid >= LEAF

    def id(self, guid):
        return f'"{"S" if self.is_switch(guid) else "H"}-{guid:016x}"'

    def text(self):
        lines = []
        for guid, name in self.names.items():
            lines.append(f'{"Switch" if self.is_switch(guid) else "Ca"}\t{self.sizes[guid]} {self.id(guid)}\t\t# "{name}"')
            for port in range(1, self.sizes[guid] + 1):
                if (guid, port) not in self.cables:
                    continue
                (peer, peer_port), rate = self.cables[guid, port]
                own = "" if self.is_switch(guid) else f"({guid + 1:x}) "
                lines.append(f'[{port}]{own}\t{self.id(peer)}[{peer_port}] \t\t# "{self.names[peer]}" lid 0 {rate}')
            lines.append("")
        return "\n".join(lines)


def fat_tree(leaves, hosts, spines, cables_to_spine=1):
    plan = Plan()
    for leaf in range(leaves):
        plan.switch(LEAF + leaf, f"leaf{leaf + 1}", hosts + spines * cables_to_spine + 2)
    for spine in range(spines):
        plan.switch(SPINE + spine, f"spine{spine + 1}", leaves * cables_to_spine + 2)
    for leaf in range(leaves):
        for host in range(hosts):
            guid = HOST + 2 * (leaf * hosts + host)
            plan.host(guid, f"gpu{leaf * hosts + host + 1:03} mlx5_0")
            plan.cable((LEAF + leaf, host + 1), (guid, 1))
        for up in range(spines * cables_to_spine):
            plan.cable((LEAF + leaf, hosts + 1 + up), (SPINE + up // cables_to_spine, leaf * cables_to_spine + up % cables_to_spine + 1))
    return plan


class Fabric:
    def __init__(self, folder, plan):
        self.folder, self.plan = folder, plan
        self.socket = f"stoker-{os.getpid()}-{folder.name}"
        self.console = None

    @contextlib.contextmanager
    def running(self):
        self.folder.mkdir()
        (self.folder / "fabric.net").write_text(self.plan.text())
        read, self.console = os.pipe()
        env = dict(os.environ, IBSIM_SOCKNAME=self.socket)
        with program(["ibsim", "-s", self.folder / "fabric.net"], self.folder / "ibsim.log", env=env, stdin=read):
            os.close(read)
            wait_for("ibsim", lambda: "Network simulator ready" in (self.folder / "ibsim.log").read_text())
            log = self.folder / "opensm.log"
            with program(["opensm", "-f", log, "-d", "2", "-s", "0"], self.folder / "opensm.out", env=self.environment()):
                wait_for("SUBNET UP of opensm", lambda: log.exists() and "SUBNET UP" in log.read_text(), seconds=120)
                yield self
        os.close(self.console)

    def environment(self):
        return dict(os.environ, IBSIM_SOCKNAME=self.socket, SIM_HOST=f"H-{HOST:016x}", LD_PRELOAD=LIBRARIES[0],
                    OSM_TMP_DIR=str(self.folder), OSM_CACHE_DIR=str(self.folder))

    def order(self, text):
        os.write(self.console, (text + "\n").encode())
        time.sleep(0.2)  # the console tells nothing that could be waited for

    def set_counter(self, end, name, value):
        self.order(f"PerformanceSet {self.plan.id(end[0])}[{end[1]}] PortCounters.{name}={value}")

    def sweep(self, *arguments):
        """The report and the exit code."""
        done = subprocess.run([STOKER, "fabric", "sweep", "-o", "json", *map(str, arguments)], env=self.environment(),
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.stdout, f"{arguments}: {done.stderr}"
        return json.loads(done.stdout), done.returncode


def told(report):
    """(rule, severity, ((node, port), (node, port))) of every link that is told."""
    found = []
    for link in report["links"]:
        finding = report["findings"][link["finding"]]
        ends = tuple((end["node"], end["port"]) for end in link["ends"])
        assert all(f"{node} port {port}" in finding["message"] or len(report["links"]) > len(report["findings"])
                   for node, port in ends if node), finding
        found.append((finding["rule"], finding["severity"], ends))
    return found


def expect(what, answer, code, *links):
    report, exit_code = answer
    assert (sorted(told(report)), exit_code) == (sorted(links), code), f"{what}: exit {exit_code}, {json.dumps(report, indent=1)}"
    print(f"{what}: {', '.join(rule for rule, *_ in links) or 'silent'}")


def wrong_cables_are_found(folder):
    plan = fat_tree(leaves=2, hosts=4, spines=2)
    good, last = folder / "good.json", folder / "last.json"
    with Fabric(folder / "one", plan).running() as fabric:
        expect("a clean fabric", fabric.sweep("--save", good), 0)
        expect("a clean fabric against itself", fabric.sweep("--previous", good, "--against", good), 0)

        leaf2, gpu4 = (LEAF, 2), (HOST + 6, 1)
        fabric.set_counter(leaf2, "SymbolErrorCounter", 4000)
        fabric.set_counter(leaf2, "PortRcvErrors", 70)
        fabric.set_counter(gpu4, "LinkDownedCounter", 3)
        errors = (("fabric-cable-bad", "error", (("leaf1", 2), ("gpu002 mlx5_0", 1))),
                  ("fabric-cable-flapping", "error", (("leaf1", 4), ("gpu004 mlx5_0", 1))))
        expect("raised counters and a flapping port", fabric.sweep("--previous", good, "--save", last), 1, *errors)
        expect("the same without new errors", fabric.sweep("--previous", last), 0)
        expect("the same without an earlier sweep", fabric.sweep(), 0,
               ("fabric-cable-counted", "info", errors[0][2]), ("fabric-cable-counted", "info", errors[1][2]))

        fabric.order(f"Unlink {plan.id(SPINE)}[2]")
        expect("an unlinked port", fabric.sweep("--previous", last), 1, ("fabric-cable-down", "error", (("leaf2", 5), ("spine1", 2))))
        fabric.order(f"Unlink {plan.id(HOST + 8)}[1]")
        expect("a host that is gone", fabric.sweep("--against", good, "--previous", last), 1,
               ("fabric-cable-down", "error", (("leaf2", 5), ("spine1", 2))),
               ("fabric-cable-down", "error", (("leaf2", 1), ("gpu005 mlx5_0", 1))))
    return good


def slow_and_swapped_cables_are_found(folder, good):
    plan = fat_tree(leaves=2, hosts=4, spines=2)
    plan.cable((LEAF, 3), (HOST + 4, 1), "4xSDR")
    plan.cable((LEAF + 1, 3), (HOST + 12, 1), "1xHDR")
    plan.cable((LEAF, 1), (HOST, 1))
    plan.cable((LEAF, 2), (HOST + 6, 1))
    plan.cable((LEAF, 4), (HOST + 2, 1))
    with Fabric(folder / "two", plan).running() as fabric:
        slow = ("fabric-link-slow", "error", (("leaf1", 3), ("gpu003 mlx5_0", 1)))
        narrow = ("fabric-link-narrow", "error", (("leaf2", 3), ("gpu007 mlx5_0", 1)))
        expect("slow and swapped cables", fabric.sweep("--against", good), 1, slow, narrow,
               ("fabric-cable-wrong-port", "error", (("leaf1", 2), ("gpu004 mlx5_0", 1))),
               ("fabric-cable-wrong-port", "error", (("leaf1", 4), ("gpu002 mlx5_0", 1))))
        expect("slow cables by what their ends support", fabric.sweep(), 1, (slow[0], "warning", slow[2]), (narrow[0], "warning", narrow[2]))


def ufm_ports(plan):
    """The plan as UFM's guide shows the answer of GET /resources/ports."""
    ports = []
    for (guid, number), ((peer, peer_number), rate) in plan.cables.items():
        width, speed = rate.split("x")
        switch = plan.is_switch(guid)
        ports.append({"name": f"{guid:016x}_{number}", "peer": f"{peer:016x}_{peer_number}", "number": number, "guid": f"{guid:016x}",
                      "node_description": f"{plan.names[guid]}:{number}", "description": "Switch IB Port" if switch else "Computer IB Port",
                      "logical_state": "Active", "physical_state": "Link Up", "severity": "Info", "lid": 1, "mtu": 4096,
                      "active_width": f"{width}x", "enabled_width": ["1x", "4x"], "supported_width": ["1x", "4x"],
                      "active_speed": speed, "enabled_speed": ["SDR", "HDR"], "supported_speed": ["SDR", "HDR"]})
    return ports


@contextlib.contextmanager
def ufm_stub(folder, plan, token):
    """A server of that answer under /ufmRestV3, by TLS and with a token, as the guide documents it."""
    answer = json.dumps(ufm_ports(plan)).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            taken = self.headers["Authorization"] == f"Basic {token}"
            self.send_response(200 if taken and self.path == "/ufmRestV3/resources/ports" else 401 if not taken else 404)
            self.end_headers()
            if taken:
                self.wfile.write(answer)

        def log_message(self, *_):
            pass

    key, cert = folder / "ufm.key", folder / "ufm.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-keyout", key,
                    "-out", cert, "-subj", "/CN=ufm", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}", cert
        server.shutdown()


def ufm_tells_places_and_rates(folder):
    plan = fat_tree(leaves=2, hosts=4, spines=2)
    saved, token = folder / "ufm.json", folder / "token"
    token.write_text("x7TwLvTmFkXyTkcs\n")

    def sweep(url, cert, *arguments):
        done = subprocess.run([STOKER, "fabric", "sweep", "-o", "json", "--ufm", url, "--ufm-token", token, "--ufm-ca", cert, *map(str, arguments)],
                              capture_output=True, text=True, timeout=60, check=False)
        return (json.loads(done.stdout) if done.stdout else done.stderr), done.returncode
    with ufm_stub(folder, plan, "x7TwLvTmFkXyTkcs") as (url, cert):
        answer = sweep(url, cert, "--save", saved)
        expect("a clean fabric by UFM", answer, 0)
        assert answer[0]["counters_reason"] == "UFM's list of ports has none", answer
    plan.cable((LEAF, 3), (HOST + 4, 1), "4xSDR")
    plan.cable((LEAF, 2), (HOST + 6, 1))
    plan.cable((LEAF, 4), (HOST + 2, 1))
    with ufm_stub(folder, plan, "x7TwLvTmFkXyTkcs") as (url, cert):
        expect("slow and swapped cables by UFM", sweep(url, cert, "--against", saved), 1,
               ("fabric-link-slow", "error", (("leaf1", 3), ("gpu003 mlx5_0", 1))),
               ("fabric-cable-wrong-port", "error", (("leaf1", 2), ("gpu004 mlx5_0", 1))),
               ("fabric-cable-wrong-port", "error", (("leaf1", 4), ("gpu002 mlx5_0", 1))))
        token.write_text("another")
        refused, code = sweep(url, cert)
        assert code == 2 and "does not take the token" in refused and "another" not in refused, refused


def nodes_that_do_not_answer_are_not_read(folder):
    plan = fat_tree(leaves=2, hosts=4, spines=2)
    with Fabric(folder / "deaf", plan).running() as fabric:
        good = folder / "deaf.json"
        expect("before", fabric.sweep("--save", good), 0)
        fabric.order(f"Error {plan.id(SPINE)}[0] 100 0x12")  # drops requests for PortCounters
        report, code = fabric.sweep("--previous", good)
        assert code == 2 and report["ports_not_read"] == 4, report
        assert [finding["rule"] for finding in report["findings"]] == ["fabric-node-not-read"], report
        print("a switch whose counters do not answer: fabric-node-not-read")


def two_thousand_ports(folder):
    plan = fat_tree(leaves=28, hosts=24, spines=12)
    with Fabric(folder / "large", plan).running() as fabric:
        begin = time.monotonic()
        report, code = fabric.sweep("--save", folder / "large.json")
        took = time.monotonic() - begin
        assert code == 0 and not report["findings"], (code, report["findings"])
        linked = report["ports"] - report["ports_without_cable"]
        assert (report["cables"], linked, report["ports_not_read"]) == (1008, 2016, 0), report
        fabric.set_counter((SPINE + 11, 28), "SymbolErrorCounter", 60000)
        expect("one bad cable among 1,008", fabric.sweep("--previous", folder / "large.json"), 1,
               ("fabric-cable-bad", "error", (("leaf28", 36), ("spine12", 28))))
        print(f"{linked} linked ports of {report['nodes']} nodes read in {report['took_seconds']:.2f} s, {took:.2f} s in all; "
              f"the file has {(folder / 'large.json').stat().st_size / 1e6:.1f} MB")


def main():
    if not LIBRARIES:
        skip("ibsim, umad2sim and opensm are not installed: ./dev setup real")
    with scratch() as folder:
        good = wrong_cables_are_found(folder)
        slow_and_swapped_cables_are_found(folder, good)
        nodes_that_do_not_answer_are_not_read(folder)
        ufm_tells_places_and_rates(folder)
        two_thousand_ports(folder)


if __name__ == "__main__":
    main()
