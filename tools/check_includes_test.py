#!/usr/bin/env python3
"""Shows that check_includes.py says no: each test builds a small tree with one violation."""
import pathlib
import tempfile
import unittest

import check_includes


class CheckIncludes(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_includes.check(root)

    def test_a_tree_in_the_right_direction_passes(self):
        self.assertEqual([], self.problems({
            "src/base/result.h": "#include <tl/expected.hpp>\n",
            "src/model/reading.h": '#include "base/result.h"\n',
            "src/health/check.cpp": '#include "model/reading.h"\n',
            "apps/stoker/main.cpp": '#include <CLI/CLI.hpp>\n#include "health/check.h"\n',
            "src/net/server.cpp": "#include <boost/beast.hpp>\n"}))

    def test_an_include_against_the_direction_fails_with_file_and_line(self):
        found = self.problems({"src/model/a.h": '\n#include "device/api.h"\n', "src/device/api.h": ""})
        self.assertEqual(['src/model/a.h:2: "device/api.h": src/model must not depend on src/device'], found)

    def test_pure_code_may_not_see_the_machine(self):
        for machine in ("os", "device", "net", "db"):
            for pure in ("health", "incident", "remedy", "nccl", "lint"):
                found = self.problems({f"src/{pure}/a.cpp": f'#include "{machine}/x.h"\n', f"src/{machine}/x.h": ""})
                self.assertEqual(1, len(found), (pure, machine))

    def test_nobody_includes_the_simulated_driver(self):
        files = {"src/device/probe/a.cpp": '#include "device/sim/state.h"\n', "src/device/sim/state.h": ""}
        self.assertEqual(1, len(self.problems(files)))

    def test_a_test_may_include_what_it_needs(self):
        self.assertEqual([], self.problems({
            "src/model/a_test.cpp": '#include <gtest/gtest.h>\n#include "store/x.h"\n', "src/store/x.h": ""}))

    def test_a_heavy_header_outside_its_folder_fails(self):
        for header in ("boost/asio.hpp", "nlohmann/json.hpp", "spdlog/spdlog.h", "CLI/CLI.hpp", "curl/curl.h"):
            self.assertEqual(1, len(self.problems({"src/store/a.cpp": f"#include <{header}>\n"})), header)

    def test_gtest_in_a_header_fails(self):
        self.assertEqual(1, len(self.problems({"src/base/a.h": "#include <gtest/gtest.h>\n"})))

    def test_a_folder_without_a_row_fails(self):
        files = {"src/misc/a.cpp": '#include "base/x.h"\n', "src/base/x.h": ""}
        self.assertEqual(1, len(self.problems(files)))

    def test_a_pure_module_has_no_threads(self):
        files = {"src/base/CMakeLists.txt": "stoker_module(base PURE LIBS fmt::fmt)\n", "src/base/a.cpp": "#include <map>\n#include <mutex>\n"}
        self.assertEqual(["src/base/a.cpp:2: <mutex>: src/base's CMakeLists.txt says that it is PURE"], self.problems(files))
        files["src/base/CMakeLists.txt"] = "stoker_module(base LIBS fmt::fmt)\n"
        self.assertEqual([], self.problems(files))

    def test_depends_in_cmake_is_held_to_the_same_table(self):
        self.assertEqual(1, len(self.problems({
            "src/base/CMakeLists.txt": "stoker_module(base DEPENDS model LIBS fmt::fmt)\n",
            "src/model/CMakeLists.txt": "stoker_module(model DEPENDS base)\n"})))

    def test_an_include_that_is_no_file_fails(self):
        self.assertEqual(1, len(self.problems({"src/base/a.cpp": '#include "fmt/format.h"\n'})))


if __name__ == "__main__":
    unittest.main()
