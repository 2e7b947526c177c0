#!/usr/bin/env python3
"""Runs clang-tidy on our translation units, two at a time, and remembers what was clean.

What was clean is remembered by a digest of the file, of every header of ours that it reaches, of .clang-tidy and
of the compile command, so a second run only looks at what changed. --changed-since REV keeps to the files that
differ from REV, and to those that include a header that does. A build in batches (build/tidy-batched) is looked
at batch by batch: each header is read once for eight sources.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ROOT = pathlib.Path(__file__).resolve().parent.parent
# A test reads as one story and may be longer than a screen; nor is its speed a matter.
TEST_CHECKS = "-readability-function-size,-performance-*"
# A batch is a list of sources; what one of them declares need not be what another defines, or hides. The builds see to
# shadows, in batches of eight.
BATCH_CHECKS = "-bugprone-suspicious-include,-bugprone-forward-declaration-namespace"
BATCH_FLAGS = ["--extra-arg=-Wno-shadow"]


def reached(path, known):
    """The headers of ours that `path` includes, directly or not, and itself."""
    todo, seen = [path], set()
    while todo:
        file = todo.pop()
        if file in seen:
            continue
        seen.add(file)
        if file not in known:
            found = INCLUDE.findall(file.read_text(errors="replace"))
            candidates = [place / name for name in found for place in (ROOT / "src", file.parent)]
            known[file] = [c for c in candidates if c.is_file()]
        todo.extend(known[file])
    return seen


def digest(files, command, version):
    state = hashlib.sha256(f"{version}\n{command}".encode())
    for file in sorted(files) + [ROOT / ".clang-tidy", pathlib.Path(__file__)]:
        state.update(file.read_bytes())
    return state.hexdigest()


def is_batch(file):
    return file.suffix == ".cxx" and file.parent.name == "Unity"


def is_test(file):
    place = str(file.relative_to(ROOT))
    return place.endswith(("_test.cpp", "_bench.cpp")) or re.search(r"(^|/)tests/|_(test|bench)\.dir/", place)


def is_ours(file):
    return is_batch(file) or (file.suffix == ".cpp" and "build" not in file.relative_to(ROOT).parts)


def changed_files(revision):
    lines = subprocess.run(["git", "diff", "--name-only", revision], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout
    return {ROOT / name for name in (lines + new).splitlines()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/tidy")
    parser.add_argument("--changed-since", metavar="REV")
    parser.add_argument("--at-most", type=int, metavar="N", help="look at nothing where more than N files are to be looked at")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="only these sources")
    arguments = parser.parse_args()
    tidy = shutil.which("clang-tidy-19")
    if tidy is None:
        sys.exit("clang-tidy-19 is not installed: ./dev setup check")

    version = subprocess.run([tidy, "--version"], capture_output=True, text=True, check=True).stdout
    stamps = arguments.build / "clean"
    stamps.mkdir(parents=True, exist_ok=True)
    only = {file.resolve() for file in arguments.files}
    changed = changed_files(arguments.changed_since) if arguments.changed_since else None
    known, todo, clean = {}, [], 0
    for row in json.loads((arguments.build / "compile_commands.json").read_text()):
        file = pathlib.Path(row["file"])
        if not is_ours(file) or (only and file not in only):
            continue
        headers = reached(file, known)
        if changed is not None and not headers & changed:
            continue
        stamp = stamps / digest(headers, row["command"], version)
        if stamp.exists():
            clean += 1
        else:
            todo.append((file, stamp))

    def look(job):
        file, stamp = job
        less = [TEST_CHECKS] * bool(is_test(file)) + [BATCH_CHECKS] * is_batch(file)
        command = [tidy, "--quiet", "-p", str(arguments.build), f"--checks={','.join(less)}"]
        command += BATCH_FLAGS * is_batch(file) + [str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            stamp.touch()
        return file, done

    if arguments.at_most is not None and len(todo) > arguments.at_most:
        print(f"{len(todo)} files to look at, too many for one by one: ./dev check looks at all of them in batches")
        return 0
    failed = 0
    print(f"{clean} files known to be clean, {len(todo)} to look at", flush=True)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for number, (file, done) in enumerate(pool.map(look, todo), 1):
            bad = done.returncode != 0
            failed += bad
            print(f"[{number}/{len(todo)}] {file.relative_to(ROOT)}{' FAILED' if bad else ''}", flush=True)
            if bad:
                print(done.stdout + (done.stderr if not done.stdout else ""), flush=True)
    print(f"clang-tidy: {failed} of {len(todo)} files with errors" if failed else "clang-tidy: nothing found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
