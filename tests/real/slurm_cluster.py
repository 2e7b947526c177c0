"""Slurm with four nodes on this machine: munged, slurmctld and four slurmd in a sandbox (sandbox.py)."""
import contextlib
import os
import shutil
import stat

from harness import free_port, skip, wait_for

NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
# Where slurmd, built to run more than once on a host, puts its cgroups (v1).
CGROUPS = tuple(f"slurm_{node}" for node in NODES)

CONF = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge/socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort={ctld_port}
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool.%n
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.%n.pid
ProctrackType=proctrack/{proctrack}
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
SlurmdParameters=config_overrides
KillWait=1
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def can_track_by_cgroup():
    """proctrack/cgroup of Slurm 22.05 wants the freezer of cgroup v1, or a v2 tree that systemd keeps."""
    return os.path.isdir("/sys/fs/cgroup/freezer") and os.access("/sys/fs/cgroup/freezer", os.W_OK)


class SlurmCluster:
    def __init__(self, box, proctrack):
        self.box, self.work = box, box.folder
        for needed in ("munged", "slurmctld", "slurmd", "sbatch"):
            if not shutil.which(needed, path="/usr/sbin:/usr/bin"):
                skip(f"{needed} is not installed: ./dev setup real")
        self.environment = dict(os.environ, SLURM_CONF=f"{self.work}/slurm.conf")
        self._start_munge()
        self._write_configuration(proctrack)
        self.daemons = [self._start("slurmctld", ["slurmctld", "-D"])]
        self.daemons += [self._start(f"slurmd.{node}", ["slurmd", "-D", "-N", node]) for node in NODES]
        wait_for("four idle nodes", self._all_idle, 60)

    def _start(self, name, argv):
        return self.box.start([f"/usr/sbin/{argv[0]}", *argv[1:]], self.work / f"{name}.log", env=self.environment)

    def _start_munge(self):
        folder = self.work / "munge"
        folder.mkdir()
        (folder / "key").write_bytes(os.urandom(1024))
        (folder / "key").chmod(0o400)
        for place in (folder, folder / "key"):
            shutil.chown(place, "munge", "munge")
        socket = folder / "socket"
        self.box.start(["runuser", "-u", "munge", "--", "/usr/sbin/munged", "--foreground", f"--key-file={folder}/key",
                        f"--socket={socket}", f"--pid-file={folder}/pid", f"--log-file={folder}/log",
                        f"--seed-file={folder}/seed"], self.work / "munged.log")
        wait_for("munge's socket", socket.exists)

    def _write_configuration(self, proctrack):
        host = os.uname().nodename
        nodes = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} CPUs=8 RealMemory=16000 "
                          "Gres=gpu:h100:8 State=UNKNOWN" for node in NODES)
        text = CONF.format(work=self.work, host=host, ctld_port=free_port(), proctrack=proctrack, nodes=nodes)
        (self.work / "slurm.conf").write_text(text)
        devices = self.work / "dev"
        devices.mkdir()
        for index in range(8):
            os.mknod(devices / f"gpu{index}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # as /dev/null
        (self.work / "gres.conf").write_text(f"NodeName={','.join(NODES)} Name=gpu Type=h100 File={devices}/gpu[0-7]\n")
        (self.work / "cgroup.conf").write_text("CgroupAutomount=no\nCgroupMountpoint=/sys/fs/cgroup\nCgroupPlugin=cgroup/v1\n")

    def run(self, argv, user="root"):
        if user != "root":
            argv = ["runuser", "-u", user, "--", *argv]
        return self.box.run(argv, env=self.environment, cwd="/")

    def _all_idle(self):
        for daemon in self.daemons:
            if not daemon.running():
                raise AssertionError(f"a daemon of Slurm ended:\n{daemon.tail()}")
        with contextlib.suppress(Exception):
            return self.run(["sinfo", "-h", "-N", "-o", "%t"]).stdout.split() == ["idle"] * len(NODES)
        return False

    def submit(self, *arguments, user="root"):
        """sbatch: returns the job's id."""
        out = self.run(["sbatch", "--parsable", "--output=/dev/null", "--chdir=/", *arguments], user).stdout
        return out.strip().split(";")[0]
