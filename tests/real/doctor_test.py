"""stoker doctor in places that nobody here made: a Debian that debootstrap made, with its own dpkg, and podman's containers.

The Debian is made once and kept in ~/.cache/stoker, as an archive.
"""
import json
import os
import shutil
import subprocess
from pathlib import Path

from harness import STOKER, scratch, skip

MIRROR = "http://deb.debian.org/debian"


def need(*programs):
    for program in programs:
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            skip(f"{program} is not installed (./dev setup real)")


def debian(folder):
    """A bookworm of minimal size in `folder`, with stoker and the libraries that it loads."""
    kept = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "stoker/bookworm-minbase.tar.zst"
    root = folder / "root"
    root.mkdir()
    if not kept.exists():
        made = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(root), MIRROR], capture_output=True, text=True)
        if made.returncode != 0:
            skip(f"debootstrap made no Debian: {made.stdout.splitlines()[-1:]}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        half = kept.with_suffix(f".{os.getpid()}")
        subprocess.run(["tar", "--zstd", "-C", str(root), "--exclude=./var/cache", "-cf", str(half), "."], check=True)
        half.rename(kept)
    else:
        subprocess.run(["tar", "--zstd", "-C", str(root), "-xf", str(kept)], check=True)
    shutil.copy(STOKER, root / "stoker")
    loaded = subprocess.run(["ldd", str(STOKER)], capture_output=True, text=True, check=True).stdout
    for word in loaded.split():
        if word.startswith("/") and not (root / word[1:]).exists():
            (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(word, root / word[1:])
    return root


def answer(command, status):
    done = subprocess.run([*command, "-o", "json"], capture_output=True, text=True)
    assert done.returncode == status, f"{command}: {done.returncode}, not {status}\n{done.stdout}{done.stderr}"
    return {check["id"]: check for check in json.loads(done.stdout)["doctor_checks"]}


def messages(check):
    return [finding["message"] for finding in check["findings"]]


def make_package(folder, name, version, script=""):
    """A .deb of that name with nothing in it; dpkg runs `script` as it configures it."""
    place = folder / name
    (place / "DEBIAN").mkdir(parents=True)
    (place / "DEBIAN/control").write_text(f"Package: {name}\nVersion: {version}\nArchitecture: all\n"
                                          "Maintainer: Nobody <nobody@example.org>\nDescription: empty\n")
    if script:
        (place / "DEBIAN/postinst").write_text(f"#!/bin/sh\n{script}\n")
        (place / "DEBIAN/postinst").chmod(0o755)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(place), str(folder / f"{name}.deb")], check=True, capture_output=True)
    return folder / f"{name}.deb"


def in_a_debootstrap_chroot(folder, root):
    doctor = ["chroot", str(root), "/stoker", "doctor", "--as", "node"]
    bare = answer(doctor, 0)
    # /proc and /sys are not mounted: nothing is said to be fine that rests on them.
    for check in ("driver-loaded", "gpu-count", "next-kernel", "pci-link", "time-sync", "shared-memory"):
        assert bare[check]["outcome"] == "not_looked", bare[check]
    assert bare["package-state"]["outcome"] == "not_here", bare["package-state"]
    unknown = subprocess.run([*doctor, "--before-reboot"], capture_output=True, text=True)
    assert unknown.returncode == 2, unknown.stdout

    for package in (make_package(folder, "nvidia-dkms-580-server", "580.95.05-0ubuntu1"),
                    make_package(folder, "libnvidia-compute-580-server", "580.82.07-0ubuntu1"),
                    make_package(folder, "nvidia-utils-580-server", "580.95.05-0ubuntu1", "exit 1")):
        shutil.copy(package, root / "tmp")
        subprocess.run(["chroot", str(root), "dpkg", "-i", f"/tmp/{package.name}"], capture_output=True)
    subprocess.run(["chroot", str(root), "apt-mark", "hold", "nvidia-dkms-580-server"], check=True, capture_output=True)
    broken = answer(doctor, 1)
    told = messages(broken["package-state"])
    assert "package nvidia-utils-580-server is half-configured" in told, told
    assert any("branch 580 are of 2 versions" in message for message in told), told
    assert messages(broken["package-holds"]) == ["1 of the driver's packages are on hold, 2 are not"], broken["package-holds"]


def in_podmans_containers(folder, root):
    (folder / "storage.conf").write_text(f'[storage]\ndriver = "vfs"\nrunroot = "{folder}/run"\ngraphroot = "{folder}/graph"\n')
    environment = dict(os.environ, CONTAINERS_STORAGE_CONF=str(folder / "storage.conf"))
    podman = ["env", f"CONTAINERS_STORAGE_CONF={environment['CONTAINERS_STORAGE_CONF']}", "podman", "--runtime=/usr/sbin/runc", "run",
              "--rm", "--network=none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]
    started = subprocess.run([*podman, "--rootfs", str(root), "/bin/true"], capture_output=True, text=True)
    if started.returncode != 0:
        skip(f"podman starts no container here: {started.stderr.strip()}")

    bare = answer([*podman, "--rootfs", str(root), "/stoker", "doctor"], 1)
    assert "dkms-build" not in bare, "the checks of a node were run in a container"
    assert messages(bare["container-gpu"]) == ["this container has no GPU"], bare["container-gpu"]
    assert "nvidia.com/gpu: 1" in bare["container-gpu"]["findings"][0]["fix"]
    (small,) = bare["shared-memory"]["findings"]
    assert "sizeLimit" in small["fix"] and "size=64000k" in small["evidence"][0], small

    devices = [word for name, file in (("nvidia0", "null"), ("nvidiactl", "null"), ("nvidia-uvm", "zero"))
               for word in ("--device", f"/dev/{file}:/dev/{name}")]
    asked = answer([*podman, *devices, "--shm-size=2g", "-e", "NVIDIA_VISIBLE_DEVICES=all", "-e", "NVIDIA_DRIVER_CAPABILITIES=utility",
                    "--rootfs", str(root), "/stoker", "doctor"], 1)
    assert asked["container-gpu"]["outcome"] == "fine", asked["container-gpu"]
    assert "NVIDIA_VISIBLE_DEVICES=all" in asked["container-gpu"]["seen"]
    assert asked["shared-memory"]["outcome"] == "fine", asked["shared-memory"]
    lacking = messages(asked["container-libraries"])
    assert lacking and lacking[0].startswith("libcuda is not in the container"), lacking
    assert "NVIDIA_DRIVER_CAPABILITIES=utility" in asked["container-libraries"]["findings"][0]["evidence"]


def main():
    if os.geteuid() != 0:
        skip("it takes root to change the root and to run containers")
    need("debootstrap", "podman", "runc", "zstd", "dpkg-deb", "chroot")
    with scratch() as folder:
        root = debian(Path(folder))
        in_a_debootstrap_chroot(Path(folder), root)
        in_podmans_containers(Path(folder), root)
    print("doctor_test: all is well")


main()
