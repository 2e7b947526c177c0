#!/usr/bin/env python3
"""Counts ctest's JUnit files: prints `passed failed skipped`, then a line for each test that somebody should know of.

Usage: count_tests.py RESULTS [AGAIN]
AGAIN has the results of those that failed and ran once more, alone: `unsteady: NAME` passed then, `failed: NAME` did
not. A test that could not be run has failed.
"""
import sys
import xml.etree.ElementTree as xml

SKIPPED = ("SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE")


def outcomes(path):
    """Name -> passed, failed or skipped."""
    found = {}
    for case in xml.parse(path).getroot().iter("testcase"):
        skip = case.find("skipped")
        if case.get("status") == "run" and case.find("failure") is None and skip is None:
            outcome = "passed"
        elif case.get("status") == "disabled" or skip is not None and skip.get("message", "").startswith(SKIPPED):
            outcome = "skipped"
        else:
            outcome = "failed"
        found[case.get("name")] = outcome
    return found


def report(first, again):
    """The lines to print."""
    last = {name: again.get(name, outcome) if outcome == "failed" else outcome for name, outcome in first.items()}
    numbers = [list(last.values()).count(outcome) for outcome in ("passed", "failed", "skipped")]
    remarks = [f"{'failed' if last[name] == 'failed' else 'unsteady'}: {name}"
               for name, outcome in first.items() if outcome == "failed"]
    return [" ".join(map(str, numbers)), *remarks]


if __name__ == "__main__":
    try:
        runs = [outcomes(path) for path in sys.argv[1:]]
    except (OSError, xml.ParseError) as error:
        sys.exit(f"{sys.argv[0]}: {error}")
    print("\n".join(report(runs[0], runs[1] if len(runs) > 1 else {})))
