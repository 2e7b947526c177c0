#!/usr/bin/env python3
"""How long `stoker lint` takes for 10,000 files, how much memory for one of 100 MB, and what linting costs beside parsing.

Budgets: 5 s; twice the CPU time of libfyaml's parse alone. The files are copies of tests/fixtures/lint/server.yaml, each with names of its
own. Arguments: BUILD_DIR [FILES].
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

FIXTURE = pathlib.Path(__file__).resolve().parents[1] / "fixtures/lint/server.yaml"


def measured(argv):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(argv, stdout=subprocess.DEVNULL, check=False)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode in (0, 1), done
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def cost_beside_parsing(build):
    """CPU time of linting over that of parsing, by lint_kubernetes_bench: the two in turn, thirty times, the fastest of each."""
    bench = build / "bin/lint_kubernetes_bench"
    argv = ["--benchmark_min_time=0.05", "--benchmark_repetitions=30", "--benchmark_enable_random_interleaving=true", "--benchmark_format=json"]
    done = subprocess.run([bench, *argv], check=True, capture_output=True, text=True)
    times = {}
    for run in json.loads(done.stdout)["benchmarks"]:
        if run["run_type"] == "iteration":
            times.setdefault(run["name"].split("/")[0], []).append(run["cpu_time"])
    return min(times["lint_files"]) / min(times["parse_alone"])


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
    program = build / "bin/stoker"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    text = FIXTURE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            (pathlib.Path(folder) / f"{number:05}.yaml").write_text(text.replace("name: llm", f"name: llm-{number}"))
        seconds, cpu, memory = measured([program, "lint", folder, "-o", "json"])
        print(f"{count} files of {len(text)} bytes: {seconds:.2f} s, {cpu:.2f} s of CPU, {memory:.0f} MiB")
        within = seconds <= 5 * max(count / 10000, 0.1)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as large:
        document = "---\n" + text
        for _ in range(100_000_000 // len(document)):
            large.write(document)
        large.flush()
        seconds, cpu, memory = measured([program, "lint", large.name, "-o", "json"])
        print(f"one file of 100 MB: {seconds:.2f} s, {cpu:.2f} s of CPU, {memory:.0f} MiB")
    ratio = cost_beside_parsing(build)
    print(f"CPU time over that of parsing alone: {ratio:.2f}, budget 2")
    return 0 if within and ratio <= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
