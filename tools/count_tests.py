#!/usr/bin/env python3
"""Counts ctest's JUnit file: prints `passed failed skipped`. A test that could not be run has failed."""
import sys
import xml.etree.ElementTree as xml

SKIPPED = ("SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE")


def count(path):
    passed = failed = skipped = 0
    for case in xml.parse(path).getroot().iter("testcase"):
        skip = case.find("skipped")
        if case.get("status") == "run" and case.find("failure") is None and skip is None:
            passed += 1
        elif case.get("status") == "disabled" or skip is not None and skip.get("message", "").startswith(SKIPPED):
            skipped += 1
        else:
            failed += 1
    return passed, failed, skipped


if __name__ == "__main__":
    try:
        print(*count(sys.argv[1]))
    except (OSError, xml.ParseError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
