#!/usr/bin/env python3
"""Are SARIF, JUnit and JSON of `stoker lint` what their readers take?

SARIF by the requirements of its standard (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; the section
stands beside each), and by a schema where STOKER_SARIF_SCHEMA names one and jsonschema is installed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("STOKER_PROGRAM", str(ROOT / "build/release/bin/stoker"))
FIXTURE = "tests/fixtures/lint/server.yaml"


def lint(form):
    done = subprocess.run([PROGRAM, "lint", FIXTURE, "--all", "-o", form], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout


class Formats(unittest.TestCase):
    def test_sarif_is_what_the_standard_requires(self):
        log = json.loads(lint("sarif"))
        self.assertEqual(log["version"], "2.1.0")  # 3.13.2
        self.assertTrue(log["$schema"].startswith("https://"))  # 3.13.3
        self.assertEqual(len(log["runs"]), 1)  # 3.13.4
        driver = log["runs"][0]["tool"]["driver"]  # 3.14.6, 3.18.2
        self.assertEqual(driver["name"], "stoker")  # 3.19.8
        ids = [rule["id"] for rule in driver["rules"]]  # 3.49.3
        self.assertEqual(len(ids), len(set(ids)))
        for rule in driver["rules"]:
            self.assertRegex(rule["helpUri"], r"^https://\S+$")  # 3.49.12
        results = log["runs"][0]["results"]  # 3.14.23
        self.assertTrue(results)
        for result in results:
            self.assertEqual(ids[result["ruleIndex"]], result["ruleId"])  # 3.27.5, 3.27.6
            self.assertIn(result["level"], ("note", "warning", "error"))  # 3.27.10
            self.assertTrue(result["message"]["text"])  # 3.27.11
            place = result["locations"][0]["physicalLocation"]  # 3.28.3
            self.assertEqual(place["artifactLocation"]["uri"], FIXTURE)  # 3.4.3: relative, so that a viewer finds it
            self.assertGreaterEqual(place["region"]["startLine"], 1)  # 3.30.5
            self.assertGreaterEqual(place["region"]["startColumn"], 1)  # 3.30.6

    def test_sarif_keeps_to_a_schema(self):
        schema = os.environ.get("STOKER_SARIF_SCHEMA")
        if not schema:
            self.skipTest("STOKER_SARIF_SCHEMA names no schema")
        import jsonschema

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
