#!/usr/bin/env python3
"""Writes docs/rules from the rules of the built program: a page a group, and a list of them.

With --check nothing is written; exit code 1 and the names of the pages that are not what they should be.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MADE = "<!-- Written by tools/lint_rules_doc.py from the rules.def tables; change those. -->\n"


def anchor(text):
    return f"<{text}>" if " " not in text else text


def page(about, rules):
    lines = [MADE, f"# Rules about {about}\n"]
    for rule in rules:
        lines.append(f"## {rule['rule']}\n")
        lines.append(f"{rule['title']}. Severity: {rule['severity']}." + (" `--fix` repairs it." if rule["fixable"] else "") + "\n")
        lines.append(f"Why: {rule['cause']}.\n")
        lines.append(f"What to do: {rule['fix']}.\n")
        lines.append(f"Source: {anchor(rule['source'])}\n")
    return "\n".join(lines)


def overview(groups):
    lines = [MADE, "# Rules of `stoker lint`\n"]
    lines.append("Severities: error, will not work or leaks a secret; warning, will cost a night; info, good to know (told with `--all`).\n")
    for name, rules in groups.items():
        lines += [f"## [{rules[0]['about']}]({name}.md)\n", "| rule | severity | what |", "|---|---|---|"]
        lines += [f"| [{rule['rule']}]({name}.md#{rule['rule']}) | {rule['severity']} | {rule['title']} |" for rule in rules]
        lines.append("")
    return "\n".join(lines)


def pages(program):
    said = subprocess.run([program, "lint", "--list-rules", "-o", "json"], capture_output=True, text=True, check=True).stdout
    groups = {}
    for rule in json.loads(said)["lint_rules"]:
        groups.setdefault(rule["group"], []).append(rule)
    made = {"README.md": overview(groups)}
    made.update({f"{name}.md": page(rules[0]["about"], rules) for name, rules in groups.items()})
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default=ROOT / "build/release/bin/stoker")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    folder = ROOT / "docs/rules"
    made = pages(arguments.program)
    if not arguments.check:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (folder / name).write_text(text)
        return 0
    old = [name for name, text in made.items() if not (folder / name).is_file() or (folder / name).read_text() != text]
    old += [path.name for path in folder.glob("*.md") if path.name not in made]
    for name in old:
        print(f"docs/rules/{name} is not what the rules say; run tools/lint_rules_doc.py")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
