"""docs/how-to-add-a-field.md is true: doing what it says, in a copy of the source, adds its two fields."""
import os
import re
import shutil
import subprocess

import harness
from harness import SOURCE_DIR, fetch, fetch_json, scratch, wait_for


def copy_source(to):
    """All but what was built."""
    shutil.copytree(SOURCE_DIR, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", ".git"))


def do_what_the_page_says(source):
    page = (source / "docs/how-to-add-a-field.md").read_text()
    steps = re.findall(r"^```diff\n(.*?)^```", page, re.M | re.S)
    assert len(steps) == 2, "the page has two worked examples"
    for step in steps:
        done = subprocess.run(["patch", "-p1", "--no-backup-if-mismatch"], input=step, cwd=source, capture_output=True, text=True)
        assert done.returncode == 0, f"the page's diff no longer fits the source:\n{done.stdout}{done.stderr}"


def build(source):
    environment = dict(os.environ, CCACHE_BASEDIR=str(source))
    # nearly everything includes the field table: without the optimiser and in batches it is built in a third of the time
    for argv in (["cmake", "--preset", "dev", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8"],
                 ["cmake", "--build", "build/dev", "--target", "stoker", "stoker_sim_nvml"]):
        done = subprocess.run(argv, cwd=source, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return source / "build/dev"


def main():
    with scratch() as folder:
        source = folder / "source"
        copy_source(source)
        do_what_the_page_says(source)
        harness.STOKER = build(source) / "bin/stoker"
        with harness.stoker_up(folder) as (url, _data):
            names = [field["name"] for field in fetch_json(f"{url}/api/v1/fields")["fields"]]
            assert "nvlink_count" in names and "jpeg_utilization" in names, names
            wait_for("both fields of eight cards in /metrics",
                     lambda: (text := fetch(f"{url}/metrics")).count("\nstoker_gpu_nvlink_count{") == 8
                     and text.count("\nstoker_gpu_jpeg_utilization_ratio{") == 8)
            card = fetch_json(f"{url}/api/v1/gpus")["gpus"][0]
            assert card["nvlink_count"] == 18 and card["jpeg_utilization_percent"] == 0, card
    print("the two worked examples of docs/how-to-add-a-field.md add their fields")


if __name__ == "__main__":
    main()
