#!/usr/bin/env python3
"""A file past 500 lines is asking to be two; past 800 it fails. Data, lock files and builds are exempt."""
import argparse
import pathlib
import sys

WARN, FAIL = 500, 800
FOLDERS = ("src", "apps", "tests", "tools", "cmake", "web/src", "web/test")
CODE = {".h", ".cpp", ".c", ".cu", ".cmake", ".py", ".sh", ".proto", ".ts", ".tsx", ".css", ""}
EXEMPT = ("/generated/", "/golden/", "/captures/", "/data/", "/corpus/", "/node_modules/", "/__pycache__/")


def code_files(root):
    yield from (root / name for name in ("dev", "CMakeLists.txt") if (root / name).is_file())
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            wanted = path.suffix in CODE or path.name == "CMakeLists.txt"
            if wanted and path.is_file() and not any(part in str(path) for part in EXEMPT):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    root = parser.parse_args().root
    failed = 0
    sizes = []
    for path in code_files(root):
        lines = path.read_bytes().count(b"\n")
        sizes.append(lines)
        name = path.relative_to(root)
        if lines > FAIL:
            print(f"{name}: {lines} lines, more than {FAIL}: split it")
            failed += 1
        elif lines > WARN:
            print(f"{name}: {lines} lines: it is asking to be two (fails past {FAIL})")
    sizes.sort()
    if sizes:
        print(f"{len(sizes)} files, median {sizes[len(sizes) // 2]} lines, "
              f"nine in ten below {sizes[len(sizes) * 9 // 10]}, longest {sizes[-1]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
