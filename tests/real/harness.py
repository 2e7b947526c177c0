"""Starts what the real-server tests need: Stoker on a simulated node, and other people's programs beside it.

Everything listens on loopback and ends with the test.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

BINARY_DIR = Path(os.environ.get("STOKER_BINARY_DIR", "build/release")).resolve()
SOURCE_DIR = Path(os.environ.get("STOKER_SOURCE_DIR", Path(__file__).resolve().parents[2]))
STOKER = BINARY_DIR / "bin/stoker"
SKIPPED = 77  # what ctest reads as "skipped"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, check, seconds=30.0):
    """Calls check() until it returns something true; the test fails, saying what was waited for, after `seconds`."""
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            found = check()
            if found:
                return found
        except (OSError, ValueError, KeyError) as error:
            last = error
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds:.0f} s in vain for {what}; last error: {last}")


def fetch(url, timeout=5.0, headers=None):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=timeout) as reply:
        return reply.read().decode()


def fetch_json(url):
    return json.loads(fetch(url))


@contextlib.contextmanager
def scratch():
    folder = Path(tempfile.mkdtemp(prefix="stoker-real-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def program(argv, log, **kwargs):
    """Runs argv for the length of the block, output in the file `log`; asked to end, then made to.

    It is asked to end too when the test is killed.
    """
    with open(log, "wb") as out:
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "--", *[str(a) for a in argv]], stdout=out, stderr=out, **kwargs)
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
                try:
                    child.wait(10)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()


@contextlib.contextmanager
def stoker_up(folder, profile="hgx-h100", *arguments):
    """`stoker up --sim PROFILE` on a free port: yields (base url, data folder) once it says that it serves."""
    data = folder / "data"
    log = folder / "stoker.log"
    argv = [STOKER, "up", "--sim", profile, "--data", data, "--listen", "127.0.0.1:0", *arguments]
    with program(argv, log) as child:
        def ready():
            if child.poll() is not None:
                raise AssertionError(f"stoker up ended with {child.returncode}:\n{log.read_text()}")
            found = re.search(r"^ready (http://\S+)$", log.read_text(), re.M)
            return found and found.group(1)
        yield wait_for("the ready line of stoker up", ready), data


def sim_environment(data):
    """What an outside NVML client needs to see the simulated cards under `data`: `stoker sim show` says it."""
    shown = json.loads(subprocess.run([STOKER, "sim", "show", "--data", data, "-o", "json"], check=True,
                                      capture_output=True, text=True).stdout)
    node = shown["simulations"][0]
    return dict(os.environ, STOKER_SIM_STATE=node["state_file"], LD_LIBRARY_PATH=node["library_folder"])


def unpacked_clients():
    """Folder with the Debian contrib packages that `./dev test --real` unpacks (tools/dev/clients.sh)."""
    if not (SOURCE_DIR / "build/clients/unpacked").exists():
        skip("nvtop, pynvml and Slurm's plugin are not unpacked: ./dev test --real does it")
    return SOURCE_DIR / "build/clients/root"
