"""A job that hangs, the whole way on a live simulated node: three ranks wait in a kernel, the fourth rests and does nothing on the
host, whose /proc is looked at. Within some two minutes there is an incident that names who waits and who is missing, and none while
all four work.
"""
import subprocess

from harness import STOKER, fetch_json, scratch, stoker_up, wait_for

RANKS = range(4)


def load(data, kinds):
    for gpu, kind in enumerate(kinds):
        subprocess.run([STOKER, "sim", "load", kind, "--data", data, "--gpu", str(gpu)], check=True, stdout=subprocess.DEVNULL)


def hung(url):
    incidents = fetch_json(f"{url}/api/v1/incidents")["incidents"]
    return [one for one in incidents if "wait in a kernel for GPU 3 (rank 3" in one["message"] and one["severity"] == "error"]


def main():
    with scratch() as folder, stoker_up(folder) as (url, data):
        load(data, ["training" for _ in RANKS])
        assert hung(url) == []
        load(data, ["hung", "hung", "hung", "missing"])
        found = wait_for("an incident of the hung job", lambda: hung(url), seconds=180)
        assert len(found) == 1, found
        assert found[0]["action"] == "restart_job", found
        print(found[0]["message"])


if __name__ == "__main__":
    main()
