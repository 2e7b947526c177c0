"""Debian's Prometheus scrapes Stoker, and the queries of Grafana dashboard 12239 return series.

The dashboard's variables and panels: docs/specs/metrics.md names the series; 12239 asks label_values() of
DCGM_FI_DEV_GPU_TEMP for `instance` and `gpu`, then each of the series below by both.
"""
import shutil
import subprocess
import urllib.parse

from harness import fetch, fetch_json, free_port, program, scratch, stoker_up, wait_for, skip

DASHBOARD_12239 = {
    "GPU temperature": 'DCGM_FI_DEV_GPU_TEMP{instance=~".+", gpu=~".+"}',
    "average temperature": 'avg(DCGM_FI_DEV_GPU_TEMP{instance=~".+", gpu=~".+"})',
    "GPU power usage": 'DCGM_FI_DEV_POWER_USAGE{instance=~".+", gpu=~".+"}',
    "power in all": 'sum(DCGM_FI_DEV_POWER_USAGE{instance=~".+", gpu=~".+"})',
    "SM clocks": 'DCGM_FI_DEV_SM_CLOCK{instance=~".+", gpu=~".+"} * 1000000',
    "utilisation": 'DCGM_FI_DEV_GPU_UTIL{instance=~".+", gpu=~".+"}',
    "framebuffer used": 'DCGM_FI_DEV_FB_USED{instance=~".+", gpu=~".+"}',
    "tensor core": 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~".+", gpu=~".+"}',
}


def promtool_finds_nothing_wrong_with_our_own_series(text):
    own = "".join(line + "\n" for line in text.splitlines()
                  if line.startswith(("stoker_", "# HELP stoker_", "# TYPE stoker_")))
    lint = subprocess.run(["promtool", "check", "metrics"], input=own, capture_output=True, text=True)
    assert lint.returncode == 0, f"promtool check metrics: {lint.stdout}{lint.stderr}"


def promtool_parses_all_of_it(text):
    lint = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    complaints = [line for line in (lint.stdout + lint.stderr).splitlines() if not line.startswith("DCGM_FI_")]
    assert not complaints, f"promtool complains about more than DCGM's own names: {complaints}"


def query(prometheus, expression):
    reply = fetch_json(f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
    assert reply["status"] == "success", reply
    return reply["data"]["result"]


def dashboard_queries_return_series(prometheus):
    for panel, expression in DASHBOARD_12239.items():
        found = query(prometheus, expression)
        want = 1 if expression.startswith(("avg", "sum")) else 8
        assert len(found) == want, f"{panel}: {expression} gave {len(found)} series, not {want}"
    gpus = fetch_json(f"{prometheus}/api/v1/label/gpu/values?match[]=DCGM_FI_DEV_GPU_TEMP")["data"]
    assert gpus == [str(n) for n in range(8)], gpus


def main():
    if not shutil.which("prometheus"):
        skip("Debian's prometheus is not installed (./dev setup real)")
    with scratch() as folder, stoker_up(folder) as (url, _data):
        wait_for("rates of all GPUs", lambda: fetch(f"{url}/metrics").count("\nDCGM_FI_PROF_PIPE_TENSOR_ACTIVE{") == 8)
        text = fetch(f"{url}/metrics")
        promtool_finds_nothing_wrong_with_our_own_series(text)
        promtool_parses_all_of_it(text)

        port = free_port()
        config = folder / "prometheus.yml"
        config.write_text("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: stoker\n  static_configs:\n"
                          f"  - targets: ['{url.removeprefix('http://')}']\n")
        argv = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb",
                f"--web.listen-address=127.0.0.1:{port}"]
        prometheus = f"http://127.0.0.1:{port}"
        with program(argv, folder / "prometheus.log"):
            wait_for("Prometheus to have scraped Stoker", lambda: query(prometheus, 'up{job="stoker"} == 1'))
            wait_for("eight temperatures in Prometheus", lambda: len(query(prometheus, "DCGM_FI_DEV_GPU_TEMP")) == 8)
            dashboard_queries_return_series(prometheus)
            assert query(prometheus, "stoker_simulated == 1"), "a simulated node must say so"
    print("Prometheus scraped Stoker; dashboard 12239's queries return series; promtool is content")


if __name__ == "__main__":
    main()
