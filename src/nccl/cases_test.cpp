// The lines that public threads show, each with what is known of its cause: tests/nccl-cases. Their identifiers are
// replaced; what a case expects is what these lines allow, which is often less than the thread found in the end.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "nccl/log_reader.h"
#include "nccl/verdict.h"

namespace stoker::nccl {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::map<std::string, std::string> expected;
  std::string log;
};

Case read_case(const fs::path& path) {
  std::ifstream file(path);
  Case read;
  for (std::string line; std::getline(file, line) && line != "---";) {
    const auto colon = line.find(": ");
    read.expected[line.substr(0, colon)] = line.substr(colon + 2);
  }
  std::stringstream rest;
  rest << file.rdbuf();
  read.log = rest.str();
  return read;
}

template <typename T>
std::string joined(const std::vector<T>& list) {
  std::ostringstream out;
  for (const auto& each : list) out << (out.tellp() > 0 ? " " : "") << each;
  return out.str().empty() ? "-" : out.str();
}

std::vector<fs::path> case_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(STOKER_SOURCE_DIR "/tests/nccl-cases"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class PublicCase : public testing::TestWithParam<fs::path> {};

TEST_P(PublicCase, IsJudgedAsItsLinesAllow) {
  const auto read = read_case(GetParam());
  Facts facts;
  LogReader reader(facts, "log");
  reader.add(read.log);
  reader.finish();
  const auto verdicts = judge(facts);
  ASSERT_EQ(verdicts.size(), 1U);
  const auto& verdict = verdicts.front();
  EXPECT_EQ(to_string(verdict.verdict), read.expected.at("class")) << verdict.summary;
  EXPECT_EQ(joined(verdict.ranks), read.expected.at("ranks")) << verdict.summary;
  EXPECT_EQ(to_string(verdict.confidence), read.expected.at("confidence")) << verdict.summary;
  if (read.expected.contains("hosts")) {
    EXPECT_EQ(joined(verdict.hosts), read.expected.at("hosts"));
  }
  EXPECT_FALSE(verdict.summary.empty());
  EXPECT_FALSE(verdict.next_step.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Threads, PublicCase, testing::ValuesIn(case_files()), [](const auto& each) {
      std::string name = each.param.stem().string();
      std::replace_if(
          name.begin(), name.end(),
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace stoker::nccl
