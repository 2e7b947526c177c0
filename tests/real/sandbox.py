"""Runs other people's daemons so that nothing of them outlives the test, whatever ends it.

A sandbox is a mount and a pid namespace in which /run, /var/lib and /var/log are empty and its own. Its first process
lives as long as the test holds a pipe open; when it goes, the kernel ends everything inside and forgets the mounts.
A guard outside waits for that and removes what is left on the host: the sandbox's folder and its cgroups.
Processes inside have ordinary pids outside, which is how an agent of the host sees them.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OWN_FOLDERS = ("/run", "/var/lib", "/var/log")


def cgroup_mounts():
    """Where cgroup v1's controllers and the v2 hierarchy are mounted, each with its name in /proc/PID/cgroup."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, options = line.split()[:4]
        if kind in ("cgroup", "cgroup2") and place.startswith("/sys/fs/cgroup"):
            yield Path(place), options


def remove_cgroups(name):
    for place, _ in cgroup_mounts():
        for folder, _, _ in os.walk(place / name, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def children(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def run_init():
    """Process 1 of the sandbox: makes its folders, says so, and reaps until the test lets go of the pipe."""
    for folder in OWN_FOLDERS:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "sandbox", folder], check=True)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    print("ready", flush=True)
    waker, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    import select
    while True:
        readable, _, _ = select.select([0, waker], [], [])
        if 0 in readable:
            return  # nothing is ever written: this is its end
        os.read(waker, 4096)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass


def run_guard(folder, cgroups):
    """Detached from whoever started it: a test that is killed with its children leaves the guard to tidy up."""
    if os.fork() != 0:
        os._exit(0)
    os.setsid()
    init = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__, "init"]
    with subprocess.Popen(init, stdout=subprocess.PIPE) as inside:
        first_line = inside.stdout.readline()
        if first_line:
            print(children(inside.pid)[0], flush=True)
        inside.wait()
    for name in cgroups:
        end = time.monotonic() + 10
        while time.monotonic() < end and any((place / name).exists() for place, _ in cgroup_mounts()):
            remove_cgroups(name)
            time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


class Sandbox:
    def __init__(self, folder, init):
        self.folder = folder
        self._init = init  # its pid on the host

    def command(self, argv):
        return ["nsenter", "-t", str(self._init), "-m", "-p", "--", *[str(a) for a in argv]]

    def run(self, argv, **kwargs):
        return subprocess.run(self.command(argv), check=True, capture_output=True, text=True, **kwargs)

    def start(self, argv, log, **kwargs):
        """Starts a program that stays; yields its pid on the host. Output goes to the end of the file `log`."""
        with open(log, "ab") as out:
            entered = subprocess.Popen(self.command(argv), stdin=subprocess.DEVNULL, stdout=out, stderr=out, **kwargs)
        return Daemon(entered, log)


class Daemon:
    def __init__(self, entered, log):
        self._entered = entered  # nsenter, which waits for it
        self.log = Path(log)
        end = time.monotonic() + 10
        while not (found := children(entered.pid)):
            if entered.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{entered.args} ended at once:\n{self.tail()}")
            time.sleep(0.01)
        self.pid = found[0]

    def tail(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-25:])

    def running(self):
        return self._entered.poll() is None

    def stop(self, with_signal=signal.SIGTERM):
        """Signals it and waits for its end; made to end after 20 s."""
        os.kill(self.pid, with_signal)
        try:
            self._entered.wait(20)
        except subprocess.TimeoutExpired:
            os.kill(self.pid, signal.SIGKILL)
            self._entered.wait()


@contextlib.contextmanager
def sandbox(*cgroups):
    """`cgroups`: names at the top of each hierarchy that belong to the sandbox and go with it."""
    for name in cgroups:
        remove_cgroups(name)
    folder = Path(tempfile.mkdtemp(prefix="stoker-real-"))
    folder.chmod(0o755)
    guard = subprocess.Popen([sys.executable, __file__, "guard", str(folder), *cgroups], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    guard.wait()
    try:
        said = guard.stdout.readline()
        if not said:
            raise AssertionError("no sandbox: it needs root and the right to make namespaces")
        yield Sandbox(folder, int(said))
    finally:
        guard.stdin.close()
        guard.stdout.read()  # its end is the guard's, when everything is tidy


if __name__ == "__main__":
    if sys.argv[1] == "init":
        run_init()
    else:
        run_guard(Path(sys.argv[2]), sys.argv[3:])
