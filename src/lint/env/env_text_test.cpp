#include "lint/env/env_text.h"

#include <gtest/gtest.h>

namespace stoker::lint {
namespace {

// "line:column NAME=value" of each, "NAME" where its value is not known.
std::vector<std::string> read(std::string_view text, EnvReader reader = EnvReader::list) {
  std::vector<std::string> out;
  for (const auto& each : read_environment_text(text, "f", reader)) {
    out.push_back(std::to_string(each.place.line) + ":" + std::to_string(each.place.column) + " " +
                  each.name + (each.value ? "=" + *each.value : ""));
  }
  return out;
}

using Lines = std::vector<std::string>;

TEST(EnvText, IsReadAsShellsAndDotenvWriteIt) {
  EXPECT_EQ(read("export A=1 B='two words' # C=3\n"), (Lines{"1:8 A=1", "1:12 B=two words"}));
  EXPECT_EQ(read("A=\"x # y\"\r\nB=z\r\n"), (Lines{"1:1 A=x # y", "2:1 B=z"}));
  EXPECT_EQ(read("declare -x A=\"1\"\nenv B=2 python x.py C=3\n"), (Lines{"1:12 A=1", "2:5 B=2"}));
  EXPECT_EQ(read("export A\nA=\"open\n"), (Lines{"2:1 A"}))
      << "a value of several lines is not known";
  EXPECT_EQ(read("A= \nB=a\\ b"), (Lines{"1:1 A=", "2:1 B=a b"}));
}

TEST(EnvText, FindsWhatAScriptSetsBehindThenAndSemicolons) {
  EXPECT_EQ(read("if true; then export A=1; fi\nx && B=2 srun C=3\n# D=4\necho E=5\n"),
            (Lines{"1:22 A=1", "2:6 B=2"}));
}

TEST(EnvText, TakesLinesOfEnvAsTheyAre) {
  EXPECT_EQ(read("A=it's a b\nnot a line\nB=\"q\"", EnvReader::environment),
            (Lines{"1:1 A=it's a b", "3:1 B=\"q\""}));
}

TEST(EnvText, OfAProcessIsCutAtNul) {
  const auto variables =
      read_process_environment(std::string_view("A=1\0B=\0=x\0C", 11), "/proc/1/environ");
  ASSERT_EQ(variables.size(), 2U);
  EXPECT_EQ(variables[0].name, "A");
  EXPECT_EQ(variables[1].value, "");
}

TEST(EnvText, KnowsByNameAndContentHowItIsToBeRead) {
  EXPECT_EQ(reader_for("/etc/nccl.conf", "A=1"), EnvReader::nccl_conf);
  EXPECT_EQ(reader_for("job.sh", "#!/bin/bash\nA=1"), EnvReader::script);
  EXPECT_EQ(reader_for("job", "A=1\nsrun x\n"), EnvReader::script);
  EXPECT_EQ(reader_for(".env", "# c\n\nA=1\nexport B=2\n"), EnvReader::list);
}

}  // namespace
}  // namespace stoker::lint
