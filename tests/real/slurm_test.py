"""Slurm 22.05 runs jobs on four nodes; each node's agent tells whose process is on its GPUs.

Four slurmd and four agents, each with a simulated node, share this machine. A job's process is listed by the GPUs that
Slurm gave it on that node, with its real pid; what the agent says about it is compared with what was submitted. Once
with proctrack/linuxproc, where only the environment tells of a job, and once with proctrack/cgroup, where the cgroup does.
"""
import contextlib
import os
import pwd
import subprocess

from harness import STOKER, fetch_json, stoker_up, wait_for
from processes import environment, with_environment
from sandbox import sandbox
from slurm_cluster import CGROUPS, NODES, SlurmCluster, can_track_by_cgroup

USER = "games"  # of every Debian, and nobody's


class Agents:
    """An agent a node, by the node's name."""

    def __init__(self, stack, folder):
        self.at = {}
        for node in NODES:
            (folder / f"agent-{node}").mkdir()
            url, data = stack.enter_context(stoker_up(folder / f"agent-{node}"))
            subprocess.run([STOKER, "sim", "load", "--data", data, "idle"], check=True, capture_output=True)
            self.at[node] = url, data

    def put_on_gpus(self, pid):
        """The simulated GPUs of its node list the process, as the driver would once it has opened them."""
        has = environment(pid)
        _, data = self.at[has["SLURMD_NODENAME"]]
        gpus = [int(index) for index in has["CUDA_VISIBLE_DEVICES"].split(",")]
        for gpu in gpus:
            subprocess.run([STOKER, "sim", "inject", "--data", data, "process", "add", str(pid), "train", "1024", "--gpu", str(gpu)],
                           check=True, capture_output=True)
        return has["SLURMD_NODENAME"], gpus

    def process(self, node, gpu, pid):
        url, _ = self.at[node]
        listed = fetch_json(f"{url}/api/v1/gpus")["gpus"][gpu]["processes"] or []
        return next((one for one in listed if one["pid"] == pid), None)


def expect_owner(agents, pid, job):
    """Every GPU of the process names user and job, and nothing but them on the way there."""
    node, gpus = agents.put_on_gpus(pid)

    def told(gpu):
        shown = agents.process(node, gpu, pid)
        if not shown or shown.get("job") is None:
            return None
        told_job = {key: shown["job"][key] for key in job}
        assert told_job == job, f"{node} GPU {gpu}, pid {pid}: {told_job}, not {job}"
        assert shown["user"] == USER, f"{node} GPU {gpu}, pid {pid}: user {shown['user']}"
        assert shown["pod"] is None, f"{node} GPU {gpu}: a pod {shown['pod']} without a kubelet"
        return shown
    for gpu in gpus:
        wait_for(f"the job of pid {pid} on GPU {gpu} of {node}", lambda gpu=gpu: told(gpu))
    return node, gpus


def a_step_on_four_nodes(cluster, agents):
    job = cluster.submit("--nodes=4", "--gres=gpu:h100:2", "--job-name=pretrain", "--wrap",
                         "srun --ntasks-per-node=1 sleep 100000", user=USER)
    tasks = wait_for("four tasks", lambda: (t := with_environment(SLURM_JOB_ID=job, SLURM_STEP_ID="0")) and len(t) == 4 and t)
    nodes = set()
    for pid in tasks:
        node, _ = expect_owner(agents, pid, {"id": job, "array": None, "step": "0", "name": "pretrain"})
        nodes.add(node)
    assert nodes == set(NODES), nodes
    cluster.run(["scancel", job])
    wait_for("the tasks to be gone", lambda: not any(environment(pid) for pid in tasks))


def tasks_of_an_array(cluster, agents, batch_step):
    """`batch_step`: what a batch script's step is called; its environment has no name for it."""
    array = cluster.submit("--array=3-6", "--gres=gpu:h100:1", "--job-name=sweep", "--wrap", "exec sleep 100000", user=USER)
    tasks = wait_for("four array tasks", lambda: (t := with_environment(SLURM_ARRAY_JOB_ID=array)) and len(t) == 4 and t)
    seen = set()
    for pid, has in tasks.items():
        task = f"{array}_{has['SLURM_ARRAY_TASK_ID']}"
        expect_owner(agents, pid, {"id": has["SLURM_JOB_ID"], "array": task, "step": batch_step, "name": "sweep"})
        seen.add(has["SLURM_JOB_ID"])
    assert len(seen) == 4, "array tasks are jobs of their own"
    cluster.run(["scancel", array])


def a_process_of_nobody_is_not_given_to_a_job(agents):
    with subprocess.Popen(["sleep", "100000"], env={}) as stranger:
        node = NODES[0]
        _, data = agents.at[node]
        subprocess.run([STOKER, "sim", "inject", "--data", data, "process", "add", str(stranger.pid), "train", "512", "--gpu", "7"],
                       check=True, capture_output=True)
        shown = wait_for("the stranger's user", lambda: (p := agents.process(node, 7, stranger.pid)) and p.get("user") and p)
        stranger.kill()
    assert shown["job"] is None and shown["pod"] is None, shown
    assert shown["user"] == pwd.getpwuid(0).pw_name, shown


def attributes(proctrack):
    with sandbox(*CGROUPS) as box, contextlib.ExitStack() as stack:
        cluster = SlurmCluster(box, proctrack)
        agents = Agents(stack, box.folder)
        a_step_on_four_nodes(cluster, agents)
        tasks_of_an_array(cluster, agents, "batch" if proctrack == "cgroup" else None)
        a_process_of_nobody_is_not_given_to_a_job(agents)
    print(f"proctrack/{proctrack}: a step's and an array's processes on four nodes have their job, step, name and user")


def main():
    os.environ["STOKER_SAMPLE_PERIOD_PROCESSES"] = "1s"
    attributes("linuxproc")
    if can_track_by_cgroup():
        attributes("cgroup")
    else:
        print("proctrack/cgroup was not tried: no freezer of cgroup v1 here to write to")


if __name__ == "__main__":
    main()
