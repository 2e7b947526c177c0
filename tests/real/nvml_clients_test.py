"""Programs that nobody here wrote list the simulated cards: nvtop, Debian's python3-pynvml, and slurmd's gpu_nvml plugin."""
import os
import shutil
import subprocess
import sys

from harness import scratch, sim_environment, skip, stoker_up, unpacked_clients, wait_for

PYNVML_LISTS = """
import pynvml as n
n.nvmlInit()
print(n.nvmlSystemGetDriverVersion())
for i in range(n.nvmlDeviceGetCount()):
    h = n.nvmlDeviceGetHandleByIndex(i)
    m = n.nvmlDeviceGetMemoryInfo(h)
    print(i, n.nvmlDeviceGetName(h), n.nvmlDeviceGetUUID(h), m.total, n.nvmlDeviceGetTemperature(h, 0),
          n.nvmlDeviceGetPowerUsage(h) > 0, n.nvmlDeviceGetUtilizationRates(h).gpu)
n.nvmlShutdown()
"""


def pynvml_lists_eight_h100s(contrib, environment):
    environment = dict(environment, PYTHONPATH=str(contrib / "usr/lib/python3/dist-packages"))
    out = subprocess.run([sys.executable, "-c", PYNVML_LISTS], env=environment, check=True, capture_output=True,
                         text=True, timeout=60).stdout
    assert out.count("NVIDIA H100 80GB HBM3") == 8, out
    assert out.splitlines()[0] == "580.159.04", out


def nvtop_shows_eight_h100s(contrib, environment, folder):
    socket = ["tmux", "-S", str(folder / "tmux")]
    command = f"LD_LIBRARY_PATH={environment['LD_LIBRARY_PATH']} STOKER_SIM_STATE={environment['STOKER_SIM_STATE']} " \
              f"{contrib}/usr/bin/nvtop; sleep 5"
    subprocess.run([*socket, "-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "60", command], check=True)
    try:
        def screen():
            return subprocess.run([*socket, "capture-pane", "-p"], check=True, capture_output=True, text=True).stdout
        shown = wait_for("nvtop to show eight cards", lambda: (s := screen()).count("NVIDIA H100 80GB HBM3") == 8 and s)
        assert "POW" in shown and "TEMP" in shown, shown
    finally:
        subprocess.run([*socket, "kill-server"], check=False)


def slurmd_detects_eight_gpus(contrib, environment, folder):
    """slurmd looks for /dev/nvidia<minor>, so it runs in a mount namespace with a /dev of its own."""
    plugins = f"{contrib}/usr/lib/x86_64-linux-gnu/slurm-wlm:/usr/lib/x86_64-linux-gnu/slurm-wlm"
    host = os.uname().nodename
    (folder / "slurm.conf").write_text(
        f"ClusterName=sim\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\n"
        f"ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\nGresTypes=gpu\n"
        f"SlurmdSpoolDir={folder}/spool\nSlurmdPidFile={folder}/slurmd.pid\nPluginDir={plugins}\n"
        f"SlurmdParameters=config_overrides\n"
        f"NodeName=sim01 NodeHostname={host} NodeAddr=127.0.0.1 Port=17001 CPUs={os.cpu_count()} Gres=gpu:h100:8\n"
        "PartitionName=main Nodes=ALL Default=YES State=UP\n")
    (folder / "gres.conf").write_text("NodeName=sim01 AutoDetect=nvml Name=gpu Type=h100\n")
    (folder / "dev").mkdir()
    script = f"""set -e
mount -t tmpfs tmpfs {folder}/dev
for n in null zero random urandom; do cp -a /dev/$n {folder}/dev/; done
for n in 0 1 2 3 4 5 6 7; do mknod {folder}/dev/nvidia$n c 195 $n; done
mkdir {folder}/dev/shm
mount --bind {folder}/dev /dev
exec slurmd -f {folder}/slurm.conf -N sim01 -G"""
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=environment, capture_output=True, text=True,
                          timeout=60)
    said = done.stdout + done.stderr
    assert "8 GPU system device(s) detected" in said, said
    for n in range(8):
        assert f"/dev/nvidia{n}" in said, said


def main():
    for tool in ("tmux", "slurmd", "unshare"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed (./dev setup real)")
    contrib = unpacked_clients()
    with scratch() as folder, stoker_up(folder) as (_url, data):
        environment = sim_environment(data)
        pynvml_lists_eight_h100s(contrib, environment)
        nvtop_shows_eight_h100s(contrib, environment, folder)
        slurmd_detects_eight_gpus(contrib, environment, folder)
    print("nvtop, pynvml and slurmd list the eight simulated cards")


if __name__ == "__main__":
    main()
