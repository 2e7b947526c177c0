#!/usr/bin/env python3
"""Fails where an #include, or a DEPENDS of stoker_module(), goes against the direction of the design.

base <- model <- os, catalog <- device <- {sample, event} <- store <- health <- incident <- remedy; the edges
(metrics, HTTP, SQL, schedulers, cost, fleet) stand beside, and only apps puts them together. health, incident,
remedy and the analyzers are pure: they never see os, device, net or db.
"""
import argparse
import pathlib
import re
import sys

GROUND = {"base", "model"}
PURE = GROUND | {"catalog", "sample", "event", "store"}
# folder under src/ -> the folders that its files may include besides their own (and what lies below it)
MAY_INCLUDE = {
    "base": set(),
    "model": {"base"},
    "os": GROUND,
    "catalog": GROUND,
    "device": GROUND | {"os", "catalog"},
    "sample": GROUND | {"os", "catalog", "device"},
    "event": GROUND | {"os", "catalog", "device"},
    "store": GROUND | {"os", "catalog", "device", "sample", "event"},
    "history": GROUND | {"catalog", "device", "store"},
    "topology": PURE,
    "health": PURE | {"fabric"},
    "incident": PURE | {"fabric", "health"},
    "remedy": PURE | {"health", "incident"},
    "partition": GROUND | {"os", "catalog", "device", "store"},
    "diag": GROUND | {"os", "catalog", "device", "store"},
    "fabric": PURE,
    "nccl": PURE,
    "lint": PURE,
    "serve": PURE,
    "doctor": PURE,
    "cost": PURE,
    "export": PURE | {"fabric", "health", "incident", "cost"},
    "net": GROUND | {"os"},
    "db": GROUND | {"os"},
    "notify": GROUND | {"net"},
    "config": GROUND | {"os", "catalog"},
    "api": PURE | {"os", "history", "topology", "doctor", "health", "incident", "remedy", "export", "cost", "net",
                   "config"},
    "cluster": PURE | {"os", "device", "net", "health", "incident", "remedy", "partition"},
    "fleet": PURE | {"os", "net", "db", "health", "incident", "remedy", "cluster", "cost"},
}
# The simulated driver is a library of its own: others meet it through
# the driver's ABI; simnode, which writes its state file, alone knows the layout.
PRIVATE = {"device/sim": {"device/sim", "device/sim/library", "device/simnode"}}

# header prefix -> folders that may include it at all
OWNED = {
    "boost/asio": {"src/net"},
    "boost/beast": {"src/net"},
    "curl/": {"src/net"},
    "nlohmann/": {"src/api", "src/cluster/kubernetes/api", "src/device/record", "src/fabric", "src/nccl"},
    "infiniband/": {"src/fabric/subnet"},
    "spdlog/": {"src/base"},
    "libmnl/": {"src/os"},
    "systemd/": {"src/os"},
    "toml++/": {"src/doctor"},
    "CLI/": {"apps/stoker"},
    "ncurses.h": {"apps/stoker"},
    "sqlite3.h": {"src/db"},
    "SQLiteCpp/": {"src/db"},
    "pqxx/": {"src/db"},
    "grpcpp/": {"src/fleet", "src/cluster/kubernetes", "src/partition"},
    "absl/": {"src/cluster/kubernetes"},
    "grpc/": {"src/fleet", "src/cluster/kubernetes", "src/partition"},
    "google/protobuf": {"src/fleet", "src/cluster/kubernetes", "src/partition"},
}
# never in a header of ours, wherever it stands, except in the owner's folder and in tests' own support headers
HEAVY_IN_HEADERS = ("boost/", "nlohmann/", "spdlog/", "CLI/", "gtest/", "gmock/", "rapidcheck", "benchmark/")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
MODULE = re.compile(r"stoker_module\(\s*(\w+)([^)]*)\)")
KEYWORDS = {"LIBS", "TEST_DEPENDS", "TEST_LIBS", "TEST_LABELS", "PCH_OFF", "PURE"}
# what a module that calls itself PURE may not include: its tests are left out under the thread sanitizer
THREADS = {"atomic", "barrier", "condition_variable", "future", "latch", "mutex", "semaphore", "shared_mutex", "stop_token", "thread",
           "base/thread_safety.h"}
BESIDE = re.compile(r"(_test|_fuzz|_bench|_test_support)\.(cpp|h)$")


def module_of(path):
    """src/device/nvml/x.h -> device/nvml; apps and tests have none."""
    parts = path.parts
    return "/".join(parts[1:-1]) if parts[0] == "src" else None


def within(folder, top):
    return folder == top or folder.startswith(top + "/")


def allowed(source, target):
    """May files of module `source` include module `target` (both like "device/nvml")?"""
    top, other = source.split("/")[0], target.split("/")[0]
    for private, friends in PRIVATE.items():
        if within(target, private) and not any(within(source, friend) for friend in friends):
            return False
    return top == other or other in MAY_INCLUDE.get(top, set())


class Checker:
    def __init__(self, root):
        self.root = root
        self.problems = []

    def say(self, path, line, text):
        self.problems.append(f"{path}:{line}: {text}")

    def check_ours(self, path, line, target):
        source, beside = module_of(path), bool(BESIDE.search(path.name))
        if target.startswith("embedded/") or (self.root / path.parent / target).is_file() and "/" not in target:
            if source is not None and not target.startswith("embedded/"):
                self.say(path, line, f'"{target}": write the path from src/, e.g. "{source}/{target}"')
            return
        parent = str(pathlib.PurePosixPath(target).parent)
        if (self.root / "src" / target).is_file():
            if source is None or beside:
                return
            if source.split("/")[0] not in MAY_INCLUDE:
                self.say(path, line, f"src/{source} has no row in the table of tools/check_includes.py")
            elif not allowed(source, parent):
                self.say(path, line, f'"{target}": src/{source} must not depend on src/{parent}')
        elif source is not None and target.endswith(".pb.h"):
            return
        elif source is not None:
            self.say(path, line, f'"{target}" is no file under src/ (system headers go in <>)')

    def check_foreign(self, path, line, target):
        folder, beside = str(path.parent), bool(BESIDE.search(path.name)) or path.parts[0] == "tests"
        if beside:
            return
        owners = next((o for prefix, o in OWNED.items() if target.startswith(prefix)), None)
        owned = owners is not None and any(within(folder, o) for o in owners)
        if owners is not None and not owned:
            self.say(path, line, f"<{target}> belongs to {', '.join(sorted(owners))} alone")
        elif path.suffix == ".h" and not owned and target.startswith(HEAVY_IN_HEADERS) \
                and target != "nlohmann/json_fwd.hpp":
            self.say(path, line, f"<{target}> is too heavy for a header of ours")

    def check_file(self, path):
        for number, text in enumerate((self.root / path).read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(text)
            if found and found[1] == '"':
                self.check_ours(path, number, found[2])
            if found:
                self.check_foreign(path, number, found[2])

    def check_no_threads(self, folder):
        for path in sorted((self.root / folder).iterdir()):
            if path.suffix not in (".h", ".cpp"):
                continue
            for number, text in enumerate(path.read_text(errors="replace").splitlines(), 1):
                found = INCLUDE.match(text)
                if found and found[2] in THREADS:
                    self.say(path.relative_to(self.root), number, f"<{found[2]}>: {folder}'s CMakeLists.txt says that it is PURE")

    def check_modules(self, lists):
        folders, wanted = {}, []
        for path in lists:
            for found in MODULE.finditer((self.root / path).read_text()):
                folder = module_of(path)
                folders[found[1]] = folder
                depends, inside = [], False
                for word in found[2].split():
                    inside = word == "DEPENDS" if word in KEYWORDS | {"DEPENDS"} else inside
                    if inside and word != "DEPENDS":
                        depends.append(word)
                wanted.append((path, folder, depends))
                if "PURE" in found[2].split():
                    self.check_no_threads(path.parent)
        for path, folder, depends in wanted:
            for name in depends:
                target = folders.get(name)
                if target is not None and folder is not None and not allowed(folder, target):
                    self.say(path, 1, f"DEPENDS {name}: src/{folder} must not depend on src/{target}")


def check(root):
    """The problems of the tree at `root`, as lines `file:line: text`."""
    checker = Checker(root)
    for top in ("src", "apps", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cpp", ".cu"):
                checker.check_file(path.relative_to(root))
    lists = [p.relative_to(root) for p in sorted((root / "src").rglob("CMakeLists.txt"))]
    checker.check_modules(lists)
    return checker.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    problems = check(parser.parse_args().root)
    print("\n".join(problems) if problems else "every include goes down the way of the data")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
