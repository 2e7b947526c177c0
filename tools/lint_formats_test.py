#!/usr/bin/env python3
"""Are SARIF, JUnit and JSON of `stoker lint` what their readers take?

SARIF by tests/schemas/sarif.json, which is written from the standard (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html)
for what Stoker writes, and by OASIS's own schema where STOKER_SARIF_SCHEMA names it: its licence is not said to allow copies
(https://github.com/oasis-tcs/sarif-spec/issues/583), so none is here.
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("STOKER_PROGRAM", str(ROOT / "build/release/bin/stoker"))
FIXTURE = "tests/fixtures/lint/server.yaml"


SCHEMA = json.loads((ROOT / "tests/schemas/sarif.json").read_text())


def lint(form, path=FIXTURE):
    done = subprocess.run([PROGRAM, "lint", path, "--all", "-o", form], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


def changed(log, path, value):
    """A copy of `log` with `value` at `path`; None takes it away."""
    copied = copy.deepcopy(log)
    at = copied
    for step in path[:-1]:
        at = at[step]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return copied


class Formats(unittest.TestCase):
    def test_sarif_keeps_to_the_standard(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)
        jsonschema.validate(json.loads(lint("sarif")), SCHEMA)

    def test_sarif_of_nothing_found_and_of_odd_names_keeps_to_it_too(self):
        with tempfile.TemporaryDirectory() as folder:
            clean = pathlib.Path(folder) / "clean.yaml"
            clean.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: x}\n")
            log = json.loads(lint("sarif", str(clean)))
            jsonschema.validate(log, SCHEMA)
            self.assertEqual(log["runs"][0]["results"], [])
            odd = pathlib.Path(folder) / "a b\\c ü.yaml"
            odd.write_text("a: b\n}: c\n")
            log = json.loads(lint("sarif", str(odd)))
            jsonschema.validate(log, SCHEMA)
            self.assertTrue(log["runs"][0]["results"])

    def test_the_schema_refuses_what_the_standard_does(self):
        log = json.loads(lint("sarif"))
        result = ("runs", 0, "results", 0)
        region = (*result, "locations", 0, "physicalLocation", "region")
        for path, value in [
            (("version",), "2.0.0"), (("version",), None), (("runs",), []), (("runs", 0, "tool"), None), (("runs", 0, "results"), None),
            (("runs", 0, "tool", "driver", "name"), None), ((*result, "message"), None), ((*result, "message", "text"), ""),
            ((*result, "level"), "critical"), ((*result, "ruleIndex"), -2), ((*result, "severity"), "error"), ((*region, "startLine"), 0),
            ((*region, "startColumn"), 0), ((*result, "locations", 0, "physicalLocation", "artifactLocation", "uri"), "a b.yaml"),
            (("runs", 0, "tool", "driver", "rules", 0, "helpUri"), "docs/x.md"), (("runs", 0, "tool", "driver", "rules", 0, "id"), None),
        ]:
            with self.subTest(path=path, value=value), self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(changed(log, path, value), SCHEMA)

    def test_sarif_rules_are_there_once_and_results_name_them_by_their_place(self):
        run = json.loads(lint("sarif"))["runs"][0]
        ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual(len(ids), len(set(ids)))  # 3.19.23
        for result in run["results"]:
            self.assertEqual(ids[result["ruleIndex"]], result["ruleId"])  # 3.27.5, 3.27.6
            self.assertEqual(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], FIXTURE)  # 3.4.3: relative

    def test_sarif_keeps_to_the_schema_of_oasis(self):
        schema = os.environ.get("STOKER_SARIF_SCHEMA")
        if not schema:
            self.skipTest("STOKER_SARIF_SCHEMA names no schema")
        jsonschema.validate(json.loads(lint("sarif")), json.loads(pathlib.Path(schema).read_text()))

    def test_junit_counts_what_it_holds(self):
        suites = xml.etree.ElementTree.fromstring(lint("junit"))
        self.assertEqual(suites.tag, "testsuites")
        for suite in suites:
            cases = suite.findall("testcase")
            failures = [case for case in cases if case.find("failure") is not None]
            self.assertEqual(int(suite.get("tests")), len(cases))
            self.assertEqual(int(suite.get("failures")), len(failures))

    def test_every_place_is_in_the_file_and_says_what_stands_there(self):
        lines = (ROOT / FIXTURE).read_text().splitlines()
        for finding in json.loads(lint("json"))["findings"]:
            line = lines[finding["line"] - 1]
            self.assertLessEqual(finding["column"], len(line))
            self.assertTrue(line[finding["column"] - 1].strip(), finding)

    def test_github_has_a_command_a_finding(self):
        lines = lint("github").splitlines()
        self.assertEqual(len(lines), len(json.loads(lint("json"))["findings"]))
        for line in lines:
            self.assertTrue(re.match(r"^::(notice|warning|error) file=[^,]+,line=\d+,col=\d+,title=[a-z0-9-]+::\S", line), line)


if __name__ == "__main__":
    sys.exit(unittest.main())
