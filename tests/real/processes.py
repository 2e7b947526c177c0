"""What /proc tells of processes: a running agent's cost, the environment of a test's own."""
import re
from pathlib import Path


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def family(data):
    """The agent of a data folder and its children, whichever thread started them."""
    agent = next(int(entry.name) for entry in Path("/proc").glob("[0-9]*")
                 if command_line(entry.name)[1:2] == ["up"] and str(data) in command_line(entry.name))
    probes = [pid for task in Path(f"/proc/{agent}/task").iterdir() for pid in (task / "children").read_text().split()]
    return [agent, *map(int, probes)]


def rollup_mib(pid, key):
    return int(re.search(rf"^{key}:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M).group(1)) / 1024


def pss_mib(pid):
    return rollup_mib(pid, "Pss")


def anonymous_mib(pid):
    """Memory of its own, without files that are mapped."""
    return rollup_mib(pid, "Pss_Anon")


def environment(pid):
    try:
        pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return {}
    return dict(pair.decode(errors="replace").split("=", 1) for pair in pairs if b"=" in pair)


def with_environment(**wanted):
    """The processes, as pid -> environment, that have all these variables."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        has = environment(folder.name)
        if all(has.get(name) == value for name, value in wanted.items()):
            found[int(folder.name)] = has
    return found
