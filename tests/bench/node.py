#!/usr/bin/env python3
"""What watching a node of eight simulated H100s costs: CPU, memory, scrape times, also while a GPU hangs (budgets in docs/measurements.md).

Usage: node.py BUILD_DIR [SECONDS]. Figures of one machine and one run; the CPU overhead is a difference measured in this run:
agent + probe, minus the bare loop of the same calls on the same schedule (device_nvml_bench). Simulated calls cost nothing here.
"""
import http.client
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "real"))
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
os.environ["STOKER_BINARY_DIR"] = str(BUILD)
import harness  # noqa: E402  (reads STOKER_BINARY_DIR)
from processes import family, pss_mib  # noqa: E402

SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
GPUS = 8


def cpu_nanoseconds(pid):
    """From schedstat of every thread: finer than the clock tick of /proc/PID/stat."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def scrape_milliseconds(url, n=1000):
    host = url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=10)
    times = []
    for _ in range(n):
        start = time.perf_counter()
        connection.request("GET", "/metrics")
        connection.getresponse().read()
        times.append(1e3 * (time.perf_counter() - start))
    times.sort()
    return times[n // 2], times[int(0.99 * n)], times[-1]


def bare_loop(data):
    """µs of CPU a GPU a round of the same calls on the same schedule without Stoker."""
    bench = BUILD / "bin/device_nvml_bench"
    if not bench.exists():
        return None
    environment = harness.sim_environment(data)
    out = subprocess.run([bench, "--library", str(BUILD / "lib/libstoker_sim_nvml.so"), "--rounds", str(int(SECONDS))], env=environment,
                         check=True, capture_output=True, text=True).stdout
    return float(re.search(r"([\d.]+) us CPU a GPU a round", out).group(1))


def row(what, value, budget, good):
    print(f"{what:<58} {value:>16}   {budget:<22} {'within' if good else 'OVER'}")
    return good


def main():
    good = True
    with harness.scratch() as folder, harness.stoker_up(folder, "hgx-h100") as (url, data):
        harness.wait_for("rates", lambda: harness.fetch(f"{url}/metrics").count("DCGM_FI_PROF_DRAM_ACTIVE{") == GPUS)
        time.sleep(5)
        pids = family(data)
        before = sum(map(cpu_nanoseconds, pids))
        start = time.monotonic()
        time.sleep(SECONDS)
        rounds = time.monotonic() - start
        spent_us = (sum(map(cpu_nanoseconds, pids)) - before) / 1e3
        each = spent_us / rounds / GPUS
        bare = bare_loop(data)
        print(f"{'what':<58} {'measured':>16}   {'budget':<22}")
        if bare is None:
            good &= row("CPU, agent + probe, a GPU a round (no bare loop built)", f"{each:.1f} us", "-", True)
        else:
            row("CPU, agent + probe, a GPU a round", f"{each:.1f} us", "-", True)
            row("CPU, bare loop of the same calls, a GPU a round", f"{bare:.1f} us", "-", True)
            good &= row("CPU overhead, a GPU a round", f"{each - bare:.1f} us", "<= 60 us", each - bare <= 60)
        good &= row("CPU, agent + probe, of a core", f"{spent_us / rounds / 1e4:.3f} %", "<= 1 %", spent_us / rounds <= 1e4)
        memory = sum(map(pss_mib, pids))
        good &= row("memory, agent + probe (PSS)", f"{memory:.1f} MiB", "<= 40 MiB", memory <= 40)
        for name, prepare in (("scrape", None), ("scrape while GPU 3 hangs", ["hang", "--gpu", "3"])):
            if prepare:
                subprocess.run([harness.STOKER, "sim", "inject", "--data", data, *prepare], check=True, capture_output=True)
                time.sleep(2)
            p50, p99, worst = scrape_milliseconds(url)
            good &= row(f"{name}, p50", f"{p50:.3f} ms", "-", True)
            good &= row(f"{name}, p99 (longest {worst:.2f} ms)", f"{p99:.3f} ms", "<= 1 ms", p99 <= 1)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
