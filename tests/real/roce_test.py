"""stoker fabric ports on this kernel: a real network device, real nftables and the old iptables, in namespaces of their own.

The kernel lends the network device, the filter and the answers; the RDMA port on it is made of files that are mounted over
/sys/class, for a machine without an adapter or rdma_rxe has none. So what is shown is the filter's rules as the kernel has
them, and that a device without flow control says so; not RoCE itself.
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

from harness import STOKER, scratch, skip

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def need(*programs):
    for program in programs:
        if shutil.which(program, path=PATH) is None:
            skip(f"{program} is not installed (./dev setup real)")


def make_port(folder, software):
    """/sys/class with one port of Ethernet on real0, as rdma_rxe shows itself, or an adapter."""
    shutil.rmtree(folder, ignore_errors=True)
    name = "rxe0" if software else "mlx5_0"
    port = folder / f"infiniband/{name}/ports/1"
    for path, text in {
        "state": "4: ACTIVE", "phys_state": "5: LinkUp", "link_layer": "Ethernet", "rate": "100 Gb/sec (4X EDR)",
        "gids/1": "0000:0000:0000:0000:0000:ffff:c000:0201", "gid_attrs/types/1": "RoCE v2", "gid_attrs/ndevs/1": "real0",
    }.items():
        (port / path).parent.mkdir(parents=True, exist_ok=True)
        (port / path).write_text(text + "\n")
    (folder / "net/real0").mkdir(parents=True)
    if software:
        (port.parent.parent / "parent").write_text("real0\n")
    else:
        (port.parent.parent / "device").mkdir()


def look(folder, rules, arguments="-o json --for 0s", runner=""):
    script = f"""set -e
mount --make-rprivate / && mount --bind {folder} /sys/class
ip link add real0 type veth peer name real1
{rules}
set +e
{runner} {STOKER} fabric ports {arguments}
echo "exit $?" >&2"""
    done = subprocess.run(["unshare", "-n", "-m", "sh", "-c", script], capture_output=True, text=True, env={"PATH": PATH, "LC_ALL": "C"})
    lines = done.stderr.strip().splitlines()
    if not lines or not lines[-1].startswith("exit "):
        skip(f"this kernel, or these rights, don't do that: {' '.join(lines[-2:])}")
    return int(lines[-1].split()[1]), done.stdout


def found(folder, rules):
    status, out = look(folder, rules)
    document = json.loads(out)
    return status, document, {finding["rule"]: finding for finding in document["findings"]}


POLICY = """nft add table inet f
nft 'add chain inet f input { type filter hook input priority 0; policy drop; }'
nft add rule inet f input ct state established,related accept
nft add rule inet f input iifname lo accept
nft add rule inet f input tcp dport '{22, 443}' accept"""


def software(folder):
    make_port(folder, software=True)
    status, document, rules = found(folder, "")
    assert (status, rules) == (0, {}), (status, rules)
    assert document["packet_filter"] == {"drops_roce": [], "names_roce": [], "unread": []}, document["packet_filter"]
    device = document["netdevs"][0]
    assert device["software"] and device["dcb"] is None and "no Data Center Bridging" in device["dcb_reason"], device

    status, _, rules = found(folder, POLICY)
    assert status == 1 and list(rules) == ["roce-packets-maybe-filtered"], rules
    finding = rules["roce-packets-maybe-filtered"]
    assert finding["state"] == "suspect" and "chain input of table inet f" in finding["message"], finding

    for accept in ("udp dport 4791 accept", "udp dport 4000-5000 accept", "iifname real0 accept", "meta l4proto udp accept",
                   "udp dport '{53, 4791}' accept", "ct state new accept"):
        status, _, rules = found(folder, f"{POLICY}\nnft add rule inet f input {accept}")
        assert (status, rules) == (0, {}), (accept, rules)

    drop = "nft add table ip f\nnft 'add chain ip f out { type filter hook output priority 0; }'\nnft add rule ip f out udp dport 4791 drop"
    status, _, rules = found(folder, drop)
    assert status == 1 and list(rules) == ["roce-packets-filtered"], rules
    assert "udp dport == 4791 drop" in rules["roce-packets-filtered"]["evidence"][0], rules


def by_iptables(folder):
    """The same of iptables, in nftables' words and in the old ones."""
    make_port(folder, software=True)
    for program in ("iptables-nft", "iptables-legacy"):
        if shutil.which(program, path=PATH) is None:
            print(f"{program} is not installed: not shown")
            continue
        rule = f"{program} -A INPUT -p udp -m udp --dport 4791 -m comment --comment 'no RoCE' -j REJECT"
        status, _, rules = found(folder, rule)
        assert status == 1 and list(rules) == ["roce-packets-filtered"], (program, rules)
        status, _, rules = found(folder, f"{program} -A INPUT -p udp --dport 4791 -j ACCEPT\n{program} -P INPUT DROP")
        assert (status, rules) == (0, {}), (program, rules)
        status, _, rules = found(folder, f"{program} -A INPUT -p tcp --dport 22 -j ACCEPT\n{program} -P INPUT DROP")
        assert list(rules) == ["roce-packets-maybe-filtered"], (program, rules)


def adapter(folder):
    make_port(folder, software=False)
    status, _, rules = found(folder, POLICY)
    assert (status, rules) == (0, {}), rules
    status, _, rules = found(folder, f"{POLICY}\nnft add rule inet f input udp dport 4791 drop")
    assert status == 0 and list(rules) == ["roce-filter-without-effect"], rules


def without_rights(folder):
    make_port(folder, software=True)
    need("setpriv")
    status, out = look(folder, POLICY, runner="setpriv --bounding-set -net_admin --inh-caps -net_admin")
    document = json.loads(out)
    assert status == 2 and document["findings"] == [], (status, document["findings"])
    assert "CAP_NET_ADMIN" in document["packet_filter"]["unread"][0], document["packet_filter"]


def main():
    need("unshare", "mount", "ip", "nft")
    with scratch() as folder:
        place = Path(folder) / "class"
        software(place)
        by_iptables(place)
        adapter(place)
        without_rights(place)
    print("packet filters are told as the kernel has them; flow control and rdma_rxe: not shown, no device here has them")


if __name__ == "__main__":
    sys.exit(main())
