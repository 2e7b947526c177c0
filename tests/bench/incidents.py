#!/usr/bin/env python3
"""How fast a line of the kernel becomes an incident in the API, one by one and in a storm.

Usage: incidents.py BUILD_DIR [SECONDS]. A simulated node of eight H100s; lines go into its kernel log, and
/api/v1/incidents/ID is asked for the next id without pause over one connection.
One by one: the time from the write to the first answer that has it, so half an answer's time is the instrument's own.
Storm: 2,000 lines a second for SECONDS (60 if left out) on four GPUs; every line is counted in the end, each fifth
of a second one line's delay is measured, and the memory of agent and probe before and after.
"""
import http.client
import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
os.environ["STOKER_BINARY_DIR"] = str(BUILD)
sys.path.insert(0, str(SOURCE / "tests/real"))
import harness  # noqa: E402
from processes import family, pss_mib  # noqa: E402

LINES_A_SECOND = 2000
SINGLES = 200


class Log:
    """The simulated node's kernel log, in /dev/kmsg's record format."""

    def __init__(self, path):
        self.file, self.sequence = open(path, "ab", buffering=0), 1_000_000

    def write(self, *texts):
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        records = []
        for text in texts:
            self.sequence += 1
            records.append(f"4,{self.sequence},{now},-;{text}\n")
        self.file.write("".join(records).encode())


class Api:
    def __init__(self, url):
        self.connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)

    def get(self, page):
        self.connection.request("GET", "/api/v1/incidents" + page)
        reply = self.connection.getresponse()
        body = reply.read()
        return json.loads(body)["incidents"] if reply.status == 200 else []

    def occurrences(self, cause):
        return sum(one["occurrences"] for one in self.get("") if one["cause"] == cause)

    def last_id(self):
        return max((one["id"] for one in self.get("")), default=0)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def report(what, values, budget):
    p99 = percentile(values, 0.99) * 1e3
    print(f"{what}: p50 {statistics.median(values) * 1e3:.1f} ms, p99 {p99:.1f} ms of {budget} ms, "
          f"most {max(values) * 1e3:.1f} ms, {len(values)} lines{'' if p99 <= budget else '   MISSED'}")


def one_by_one(log, api, addresses):
    """Each line is a program's fault of another name, so each opens an incident of its own."""
    delays, last = [], api.last_id()
    for n in range(SINGLES):
        start = time.monotonic()
        log.write(f"NVRM: Xid ({addresses[4 + n % 4]}): 31, pid={5000 + n}, name=job{n}, Ch 00000008")
        while not api.get(f"/{last + 1 + n}"):
            pass
        delays.append(time.monotonic() - start)
        time.sleep(0.02)
    report("one line to its incident", delays, 20)


def storm(log, api, addresses, pids):
    before = sum(map(pss_mib, pids))
    written, delays, start = 0, [], time.monotonic()
    stop = threading.Event()

    def probe():
        other = Api(api.connection.host + ":" + str(api.connection.port))
        last = other.last_id()
        while not stop.wait(0.2):
            last, at = last + 1, time.monotonic()
            with lock:
                log.write(f"NVRM: Xid ({addresses[7]}): 13, pid={9000 + last}, name=storm{last}, Graphics Exception")
            while not other.get(f"/{last}"):
                pass
            delays.append(time.monotonic() - at)

    lock = threading.Lock()
    log.write(*(f"NVRM: Xid ({address}): 119, pid=20, name=x, Timeout" for address in addresses[:4]))
    written = harness.wait_for("the storm's incidents", lambda: api.occurrences("gpu-firmware") == 4) * 4
    watcher = threading.Thread(target=probe)
    watcher.start()
    while (elapsed := time.monotonic() - start) < SECONDS:
        due = int(elapsed * LINES_A_SECOND) + 4 - written
        lines = [f"NVRM: Xid ({addresses[(written + n) % 4]}): 119, pid=20, name=x, Timeout after 6s of waiting for RPC "
                 f"response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL), sequence {written + n}" for n in range(due)]
        if lines:
            with lock:
                log.write(*lines)
            written += due
        time.sleep(0.005)
    stop.set()
    watcher.join()
    harness.wait_for("every line", lambda: api.occurrences("gpu-firmware") >= written)
    heard = api.occurrences("gpu-firmware")
    report(f"in a storm of {LINES_A_SECOND} lines a second for {SECONDS:.0f} s", delays, 100)
    print(f"storm: {written} lines written, {heard} counted, {written - heard} lost"
          f"{'' if heard == written else '   MISSED'}; PSS of agent and probe {before:.1f} MiB before, {sum(map(pss_mib, pids)):.1f} after")


def main():
    with harness.scratch() as folder, harness.stoker_up(folder, "hgx-h100") as (url, data):
        gpus = harness.fetch_json(url + "/api/v1/gpus")["gpus"]
        addresses = ["PCI:" + gpu["pci"].rsplit(".", 1)[0] for gpu in gpus]  # 0000:61:00.0 -> PCI:0000:61:00
        log, api = Log(data / "sim/root/dev/kmsg"), Api(url)
        one_by_one(log, api, addresses)
        storm(log, api, addresses, family(data))


main()
