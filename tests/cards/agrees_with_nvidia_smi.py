#!/usr/bin/env python3
"""Real cards: what Stoker serves agrees with nvidia-smi taken at the same moment, idle and under load, and so does its topology
matrix; and what watching costs.

Usage: agrees_with_nvidia_smi.py STOKER_BINARY [SECONDS_OF_WATCHING]
Prints a record for docs/measurements.md; exit 1 if anything disagrees. Changes no setting of any card. The load needs PyTorch
and is left out, saying so, where there is none.
Limits: temperature +-2 C, power +-5 % (or 3 W), memory to the MiB when idle.
"""
import csv
import io
import itertools
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

QUERY = ["index", "temperature.gpu", "power.draw", "memory.used", "memory.free", "memory.reserved", "clocks.mem", "pcie.link.gen.current",
         "utilization.gpu", "temperature.memory", "ecc.errors.corrected.volatile.total", "uuid", "name", "driver_version"]
LOAD = """
import torch, time, sys
xs = [torch.randn(8192, 8192, device=f"cuda:{i}", dtype=torch.bfloat16) for i in range(torch.cuda.device_count())]
end = time.time() + float(sys.argv[1])
print("loaded", flush=True)
while time.time() < end:
    for x in xs:
        for _ in range(20): x @ x
    for i in range(len(xs)): torch.cuda.synchronize(i)
"""


def smi():
    out = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader,nounits"], check=True,
                         capture_output=True, text=True).stdout
    return [dict(zip(QUERY, (cell.strip() for cell in row))) for row in csv.reader(io.StringIO(out))]


def scrape(url):
    series = {}
    with urllib.request.urlopen(f"{url}/metrics", timeout=5) as reply:
        for line in reply.read().decode().splitlines():
            found = re.match(r'(\w+)\{.*?gpu="(\d+)".*\} (\S+)$', line)
            if found:
                series[found.group(1), int(found.group(2))] = float(found.group(3))
    return series


class Check:
    def __init__(self):
        self.rows = []
        self.wrong = 0

    def compare(self, phase, gpu, what, ours, theirs, allowed):
        """Rows without our value are wrong, unless nvidia-smi has none either."""
        if theirs in ("[N/A]", "N/A", "[Not Supported]"):
            good, difference = ours is None, "both have none" if ours is None else "nvidia-smi has none"
        elif ours is None:
            good, difference = False, "we have none"
        else:
            difference = ours - float(theirs)
            good = abs(difference) <= allowed(float(theirs))
        self.wrong += not good
        self.rows.append((phase, gpu, what, ours, theirs, difference, "ok" if good else "WRONG"))


def closest_pair(url):
    """Readings of both sides with nvidia-smi between two scrapes less than 3 s apart: the scrape after it is used."""
    theirs = smi()
    time.sleep(1.0)
    return theirs, scrape(url)


def memory_mib(url):
    """(gpu, used | free | reserved) -> MiB as nvidia-smi prints them, which is rounded up; DCGM's series round down."""
    with urllib.request.urlopen(f"{url}/api/v1/gpus", timeout=5) as reply:
        gpus = json.load(reply)["gpus"]
    return {(gpu["index"], part): None if gpu[f"memory_{part}_bytes"] is None else -(-gpu[f"memory_{part}_bytes"] // 2**20)
            for gpu in gpus for part in ("used", "free", "reserved")}


def compare_all(check, url, phase, idle):
    theirs, ours = closest_pair(url)
    memory = memory_mib(url)
    for row in theirs:
        gpu = int(row["index"])
        get = lambda name: ours.get((name, gpu))
        check.compare(phase, gpu, "temperature (C)", get("DCGM_FI_DEV_GPU_TEMP"), row["temperature.gpu"], lambda v: 2)
        check.compare(phase, gpu, "memory temperature (C)", get("DCGM_FI_DEV_MEMORY_TEMP"), row["temperature.memory"],
                      lambda v: 2)
        check.compare(phase, gpu, "power (W)", get("DCGM_FI_DEV_POWER_USAGE"), row["power.draw"],
                      lambda v: max(3.0, 0.05 * v))
        for part in ("used", "free", "reserved"):
            check.compare(phase, gpu, f"memory {part} (MiB)", memory[gpu, part], row[f"memory.{part}"],
                          lambda v: 0 if idle or part == "reserved" else 64)
        check.compare(phase, gpu, "memory clock (MHz)", get("DCGM_FI_DEV_MEM_CLOCK"), row["clocks.mem"], lambda v: 0)
        check.compare(phase, gpu, "utilisation (%)", get("DCGM_FI_DEV_GPU_UTIL"), row["utilization.gpu"],
                      lambda v: 5 if idle else 15)


def compare_topology(check, stoker, url):
    """The whole matrix, byte for byte; where it differs, the first line that does."""
    theirs = subprocess.run(["nvidia-smi", "topo", "-m"], check=True, capture_output=True).stdout
    ours = subprocess.run([stoker, "topo", "-m", "--agent", url], check=True, capture_output=True).stdout
    lines = [(a, b) for a, b in itertools.zip_longest(ours.splitlines(), theirs.splitlines()) if a != b]
    first = f"ours {lines[0][0]!r}, theirs {lines[0][1]!r}" if lines else "none" if ours == theirs else "line breaks at the end"
    check.wrong += ours != theirs
    check.rows.append(("once", "all", "topo -m (bytes)", len(ours), len(theirs), first, "ok" if ours == theirs else "WRONG"))


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pss_mib(pid):
    return int(re.search(r"^Pss:\s+(\d+)", open(f"/proc/{pid}/smaps_rollup").read(), re.M).group(1)) / 1024


def children(pid):
    return [int(p) for task in os.listdir(f"/proc/{pid}/task") for p in open(f"/proc/{pid}/task/{task}/children").read().split()]


def watching_costs(agent, seconds, gpus):
    pids = [agent, *children(agent)]
    before, start = sum(map(cpu_seconds, pids)), time.monotonic()
    time.sleep(seconds)
    spent, took = sum(map(cpu_seconds, pids)) - before, time.monotonic() - start
    print(f"agent + probe over {took:.0f} s, {gpus} GPUs: CPU {100 * spent / took:.3f} % of a core, "
          f"PSS {sum(map(pss_mib, pids)):.1f} MiB ({', '.join(f'{pss_mib(p):.1f}' for p in pids)})")


def scrape_times(url, n=300):
    times = []
    for _ in range(n):
        start = time.perf_counter()
        scrape(url)
        times.append(1e3 * (time.perf_counter() - start))
    times.sort()
    print(f"scrape from Python, with parsing, ms: p50 {statistics.median(times):.2f} p99 {times[int(0.99 * n)]:.2f}")


def main():
    stoker, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60
    folder = tempfile.mkdtemp()
    agent = subprocess.Popen([stoker, "up", "--data", folder, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    url = None
    for line in agent.stdout:
        print("stoker:", line, end="")
        if line.startswith("ready "):
            url = line.split()[1]
            break
    check = Check()
    try:
        time.sleep(15)
        cards = smi()
        print(f"date {time.strftime('%Y-%m-%d')}; {len(cards)} x {cards[0]['name']}; driver {cards[0]['driver_version']}")
        compare_topology(check, stoker, url)
        for turn in range(3):
            compare_all(check, url, f"idle {turn}", idle=True)
        watching_costs(agent.pid, seconds, len(cards))
        scrape_times(url)
        load = subprocess.Popen([sys.executable, "-c", LOAD, "30"], stdout=subprocess.PIPE, text=True)
        if load.stdout.readline().strip() == "loaded":
            time.sleep(12)
            for turn in range(3):
                compare_all(check, url, f"load {turn}", idle=False)
            ours = scrape(url)
            for (name, gpu), value in sorted(ours.items()):
                if name.startswith("DCGM_FI_PROF"):
                    print(f"under load, GPU {gpu}: {name} {value}")
        else:
            print("no load: PyTorch is not here")
        load.wait()
    finally:
        agent.send_signal(signal.SIGINT)
        print("stoker ended with", agent.wait(10))
    for row in check.rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(f"{len(check.rows) - check.wrong} comparisons agree, {check.wrong} do not")
    return 1 if check.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
