#!/usr/bin/env python3
"""How often `stoker lint` is right on real manifests: precision and recall against labels that people gave by reading.

Usage: score.py STOKER MANIFESTS_FOLDER [open|frozen] [-v]
MANIFESTS_FOLDER has the files that labels.tsv names; they are not part of this project. Every second shape group (files made from one
another) is frozen: rules are written without a look at it, and the figures that count are those of that half.
An item is a file and a label (rules_of_labels.tsv has the rules of each). What is below warning counts neither way, nor does a label that
is marked low. Files of one shape group count as one together: each has the weight of one over their number. Intervals: 95 % by bootstrap
over shape groups. -v lists what was missed and what was wrong. Exit 1 below the floors, 95 % and 90 %; 2 where the manifests are not there.
"""
import collections
import csv
import json
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FLOORS = {"precision": 0.95, "recall": 0.90}


def table(name):
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def severities(stoker):
    rules = json.loads(subprocess.run([stoker, "lint", "--list-rules", "-o", "json"], check=True, capture_output=True, text=True).stdout)
    return {rule["rule"]: rule["severity"] for rule in rules["lint_rules"]}


def found_in(stoker, path):
    """The ids of the rules that fire at warning or above."""
    run = subprocess.run([stoker, "lint", "-o", "json", path], capture_output=True, text=True, check=False)
    if run.returncode == 2:
        raise SystemExit(f"{path}: {run.stderr}")
    return {finding["rule"] for finding in json.loads(run.stdout)["findings"] if finding["severity"] != "info"}


def judged(stoker, folder, half):
    """(file, group, label or rule, "tp" | "fp" | "fn") of every item that counts."""
    labels = [row for row in table("labels.tsv") if row["half"] == half]
    rules_of = {row["label"]: row["rules"].split() for row in table("rules_of_labels.tsv")}
    severity = severities(stoker)
    counts = {label for label, rules in rules_of.items() if any(severity.get(rule, "info") != "info" for rule in rules)}
    label_of = {rule: label for label, rules in reversed(rules_of.items()) for rule in rules}
    files = collections.defaultdict(list)
    for row in labels:
        files[(row["file"], row["shape_group"])].append(row)
    items = []
    for (name, group), rows in sorted(files.items()):
        found = found_in(stoker, folder / name)
        sure = {row["label"] for row in rows if not row["low"] and row["label"] in counts}
        either = {row["label"] for row in rows if row["low"]} - sure
        for label in sure:
            hit = any(rule in found for rule in rules_of[label])
            items.append((name, group, label, "tp" if hit else "fn"))
        for rule in sorted(found):
            if not any(rule in rules_of[label] for label in (sure | either) if label in rules_of):
                items.append((name, group, f"{label_of.get(rule, '-')} ({rule})", "fp"))
    return items, {group: len({name for name, other in files if other == group}) for _, group in files}


def ratios(groups, weights):
    total = collections.Counter()
    for group in groups:
        total.update(weights[group])
    return {"precision": total["tp"] / ((total["tp"] + total["fp"]) or 1), "recall": total["tp"] / ((total["tp"] + total["fn"]) or 1)}


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    stoker, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    half = "open" if "open" in sys.argv[3:] else "frozen"
    if not folder.is_dir():
        print(f"{folder} is not there: the manifests are no part of this project", file=sys.stderr)
        sys.exit(2)
    items, sizes = judged(stoker, folder, half)
    weights = {group: collections.Counter() for group in sizes}
    for _, group, _, what in items:
        weights[group][what] += 1 / sizes[group]
    if "-v" in sys.argv:
        for name, group, label, what in items:
            if what != "tp":
                print(f"{what}\t{group}\t{label}\t{name}")
    plain = collections.Counter(what for *_, what in items)
    groups, dice = sorted(weights), random.Random(1)
    drawn = [ratios(dice.choices(groups, k=len(groups)), weights) for _ in range(4000)]
    print(f"{half} half: {sum(sizes.values())} files in {len(groups)} shape groups; items right {plain['tp']}, wrong {plain['fp']}, missed {plain['fn']}")
    good = True
    for name, value in ratios(groups, weights).items():
        values = sorted(one[name] for one in drawn)
        print(f"{name} by shape group {value:.3f} (95 % interval {values[100]:.3f} to {values[-101]:.3f}), floor {FLOORS[name]:.2f}")
        good = good and value >= FLOORS[name]
    sys.exit(0 if good else 1)


main()
