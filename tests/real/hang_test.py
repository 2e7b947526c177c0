"""A job that hangs, the whole way on a live simulated node: three ranks wait in a kernel, the fourth rests and does nothing on the
host, whose /proc is looked at. Within some two minutes there is an incident that names who waits and who is missing, and none while
all four work. NCCL's RAS, which the job's environment names, is asked then, and what it says is evidence of that incident.
"""
import subprocess

from fake_ras import answer_for, fake_ras
from harness import STOKER, fetch_json, scratch, stoker_up, wait_for

RANKS = range(4)


def load(data, kinds):
    for gpu, kind in enumerate(kinds):
        subprocess.run([STOKER, "sim", "load", kind, "--data", data, "--gpu", str(gpu)], check=True, stdout=subprocess.DEVNULL)


def hung(url):
    incidents = fetch_json(f"{url}/api/v1/incidents")["incidents"]
    return [one for one in incidents if "wait in a kernel for GPU 3 (rank 3" in one["message"] and one["severity"] == "error"]


def processes(data):
    """The simulated job's processes, by rank."""
    found = {}
    for environ in data.glob("sim/root/proc/*/environ"):
        pairs = dict(pair.split("=", 1) for pair in environ.read_text().split("\0") if "=" in pair)
        if "SLURM_PROCID" in pairs:
            found[int(pairs["SLURM_PROCID"])] = environ.parent
    return [found[rank] for rank in RANKS]


def accounts(url, incident):
    one = fetch_json(f"{url}/api/v1/incidents/{incident}")["incidents"][0]
    said = [each["text"] for each in one["evidence"] if each["text"].startswith("NCCL's account")]
    return said and (said, one)


def main():
    with scratch() as folder, stoker_up(folder) as (url, data):
        load(data, ["training" for _ in RANKS])
        assert hung(url) == []
        load(data, ["hung", "hung", "hung", "missing"])
        job = processes(data)
        with fake_ras(answer_for([int(each.name) for each in job], missing=[3])) as ras:
            for process in job:
                with open(process / "environ", "a") as environ:
                    environ.write(f"NCCL_RAS_ADDR=127.0.0.1:{ras.server_address[1]}\0")
            found = wait_for("an incident of the hung job", lambda: hung(url), seconds=180)
            assert len(found) == 1, found
            assert found[0]["action"] == "restart_job", found
            print(found[0]["message"])
            said, incident = wait_for("what NCCL says of it", lambda: accounts(url, found[0]["id"]), seconds=30)
            assert said[0].startswith("NCCL's account: missing-rank (likely), rank 3"), said
            assert "RAS at 127.0.0.1" in str(incident["evidence"]), incident["evidence"]
            assert incident["explanation"].startswith("By NCCL's account (missing-rank, likely)"), incident["explanation"]
            assert ras.asked == 2, ras.asked
            print("\n".join(each["text"] for each in incident["evidence"]))


if __name__ == "__main__":
    main()
