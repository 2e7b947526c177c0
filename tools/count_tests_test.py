#!/usr/bin/env python3
"""Shows that count_tests.py counts what ctest writes, and that nothing that failed goes unsaid."""
import pathlib
import tempfile
import unittest

import count_tests

PASSED = '<testcase name="{}" status="run"/>'
FAILED = '<testcase name="{}" status="fail"><failure message=""/></testcase>'
SKIPPED = '<testcase name="{}" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'
NOT_RUN = '<testcase name="{}" status="notrun"><skipped message="Unable to find executable"/></testcase>'


def results(*cases):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.xml"
        path.write_text("<testsuite>" + "".join(text.format(name) for text, name in cases) + "</testsuite>")
        return count_tests.outcomes(path)


class CountTests(unittest.TestCase):
    def test_what_could_not_be_run_has_failed(self):
        first = results((PASSED, "a"), (SKIPPED, "b"), (NOT_RUN, "c"))
        self.assertEqual(["1 1 1", "failed: c"], count_tests.report(first, {}))

    def test_what_passes_alone_is_counted_and_named(self):
        first = results((FAILED, "a"), (FAILED, "b"), (PASSED, "c"))
        self.assertEqual(["2 1 0", "unsteady: a", "failed: b"],
                         count_tests.report(first, results((PASSED, "a"), (FAILED, "b"))))

    def test_a_second_run_that_says_nothing_of_it_leaves_it_failed(self):
        self.assertEqual(["0 1 0", "failed: a"], count_tests.report(results((FAILED, "a")), {}))


if __name__ == "__main__":
    unittest.main()
